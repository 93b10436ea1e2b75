# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands that documents show, as a reader copies them."""

import collections
import re

# What a block without a language has to begin a line with, to be a command and not a file or a log.
PROGRAMS = ("bench/", "build/", "cc ", "chrt ", "comm ", "ctest ", "curl ", "doc/man/", "dump_fts", "echo ", "export ",
            "heddle ", "heddle-keyd ", "ibnetdiscover", "ibqueryerrors", "journalctl ", "mkdir ", "mpirun ", "packaging/", "saquery ",
            "smpdump ", "squeue ", "srun ", "subnets=", "sudo ", "systemctl ", "ucx_info ", "HEDDLE_", "./")
# Commands that end with another status than 0 where they are shown, and why.
STATUSES = [("heddle key make --best-effort ", 1, "some flows share a link, as the document says"),
            ("heddle why fabric.topo live.lfts counters ", 1, "there is a bottleneck"),
            ("heddle why small.topo ", 1, "there is a bottleneck, as the document says"),
            ("heddle drain --fabric fabric.topo --tables opensm-lfts.dump S1_0", 1, "hosts would be cut off")]
OPENS = re.compile(r"( *)```(\w*)$")

Command = collections.namedtuple("Command", "line text answer")  # answer: what the document prints below "$ ..."


def blocks(text):
    """[(number of the first line, language or None, lines)] of fenced and of indented blocks."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        fence = OPENS.match(lines[at])
        if fence:
            end = lines.index(f"{fence.group(1)}```", at + 1)
            found.append((at + 2, fence.group(2) or None, lines[at + 1:end]))
            at = end + 1
        elif re.match(r" {4,}\S", lines[at]) and (not at or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
                end += 1
            found.append((at + 1, None, lines[at:end]))
            at = end
        else:
            at += 1
    return found


def commands(text):
    """The commands of a document, in order; lines that end with a backslash are joined."""
    return [command for number, language, lines in blocks(text) if language in (None, "sh")
            for command in of_block(number, language, lines)]


def of_block(number, language, lines):
    found, at = [], 0
    while at < len(lines):
        first, text = number + at, lines[at].strip()
        at += 1
        shown = text.startswith("$ ")
        text = text.removeprefix("$ ")
        while text.endswith("\\") and at < len(lines):
            text = f"{text[:-1].rstrip()} {lines[at].strip()}"
            at += 1
        if not text or not (language == "sh" or shown or text.startswith(PROGRAMS)):
            continue
        answer = []
        while shown and at < len(lines) and not lines[at].strip().startswith("$ "):
            answer.append(lines[at].strip())
            at += 1
        found.append(Command(first, text, answer))
    return found


def status_of(command):
    """With which status a command is to end."""
    return next((status for text, status, _ in STATUSES if command.text.startswith(text)), 0)


def write_script(commands, folder):
    """A script for bash that runs the commands in its own shell, in this folder. Returns its path."""
    (folder / "results").mkdir()
    path = folder / "commands"
    path.write_text("".join(f"{{ {command.text}\n}} >results/{number} 2>&1\necho $? >results/{number}.status\n"
                            for number, command in enumerate(commands)))
    return path


def results(commands, folder):
    """[(status, stdout and stderr)] of a script that has ended."""
    return [(int((folder / f"results/{number}.status").read_text()),
             (folder / f"results/{number}").read_text(errors="replace")) for number in range(len(commands))]
