# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-replay as a process: what simulated switches took, looked at Set by Set. tests/flaps/replay/replay.c says
what it does. Shares no code with Heddle."""

import re
import subprocess
from collections import namedtuple

from fabric_sim import BUILD

REPLAY = BUILD / "tests" / "flaps" / "heddle-replay"

# kind: "loop", "credit", "lost", "set" or "cut"; words: what follows the time in its line
Finding = namedtuple("Finding", "kind when words")


class Checker:
    """topology: an ibnetdiscover file of the intact fabric with LIDs; home: the node in which OpenSM runs; clock and
    record: files with all that switches took since power-on. own: a switch with adaptive routing sends by its AR table
    alone. each: a line for each Set."""

    def __init__(self, topology, home, clock, record, own=False, each=False):
        words = [REPLAY, topology, home, clock, record, *(["own"] if own else []), *(["each"] if each else [])]
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False

    def _command(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"heddle-replay ended with {self.process.wait()}")
        return line.split()

    def cut(self, when, ends):
        """From then on these ends of cables, (node, port), are dead, and no others."""
        self._command(" ".join([f"dead {when}", *(f"{node}[{port}]" for node, port in sorted(ends))]))

    def load(self):
        """Takes what the records have, without a look. Returns counts."""
        return self._run("load")[1]

    def go(self):
        """([Finding], {name: count}) of what came since."""
        return self._run("go")

    def _run(self, command):
        self._command(command)
        found = []
        while True:
            kind, *words = self._read()
            if kind == "end":
                return found, {name: int(number) if number.isdigit() else number
                               for name, number in zip(words[::2], words[1::2])}
            found.append(Finding(kind, int(words[0]), words[1:]))

    def row(self, node):
        """(AR is on, [(LFT port, AR port, group or None, ports)] by LID) of what a switch holds."""
        self._command(f"row {node}")
        _, enabled, text = self._read()
        rows = []
        for lft, port, group, ports in re.findall(r"(..)(..)(....)(.{16})", text):
            rows.append((int(lft, 16), int(port, 16), None if group == "ffff" else int(group, 16), int(ports, 16)))
        return enabled == "1", rows
