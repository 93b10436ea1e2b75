# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive-routing switches in front of ibsim: tests/emulator/README.md says what they can do.

`Simulation(netlist, emulator=Emulator(...))` puts one in front; its methods change faults and
capabilities, and read counters and tables, at any time while the simulation runs.
"""

import json
import socket
import subprocess

from fabric_sim import AGENTS, BUILD, Failure, stop, wait_until

EMULATOR = BUILD / "tests" / "emulator" / "heddle-emulator"

# Attributes by name, as counters and faults use them.
NODE_INFO, SWITCH_INFO, PORT_INFO, LFT, MFT, PORT_STATES = 0x11, 0x12, 0x15, 0x19, 0x1B, 0x34
GENERAL_INFO, AR_INFO, GROUP_TABLE, AR_LFT_OLD, AR_LFT, GROUP_COPY = (
    0xFF17, 0xFF20, 0xFF21, 0xFF22, 0xFF23, 0xFFBD)
EXT_PORT_INFO, PFRN_CONFIG = 0xFF90, 0xFF61
KEY_INFO, NEIGHBORS_INFO = 0x0C0F, 0x0C10  # of the class N2N; no SMPs
PLFT_INFO, PLFT_DEFINITION, PLFT_MAP, SL_TO_PLFT = 0xFF10, 0xFF11, 0xFF12, 0xFF14
STATES = ("bounded", "free", "static", "hash")


def missing():
    """What of the emulator this build lacks."""
    return [str(path) for path in (EMULATOR, AGENTS) if not path.exists()]


class Emulator:
    """Runs while its simulation does. `who` is a switch's GUID, or "all"."""

    def __init__(self, seed=1, setup=()):
        self.seed = seed
        self.setup = list(setup)  # commands before the first client

    def start(self, folder, front, back):
        """Returns what ends it."""
        path = folder / "emulator.ctl"
        self.output = open(folder / "emulator.out", "wb")
        self.process = subprocess.Popen([str(EMULATOR), front, back, str(path), str(self.seed)],
                                        stdout=self.output, stderr=subprocess.STDOUT, cwd=folder)
        self.channel = socket.socket(socket.AF_UNIX)
        wait_until(lambda: self._connect(path), "the emulator's control channel")
        self.lines = self.channel.makefile("rw")
        for line in self.setup:
            self.command(line)
        return self.end

    def _connect(self, path):
        if self.process.poll() is not None:
            raise Failure(f"the emulator ended with {self.process.returncode}")
        try:
            self.channel.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def end(self):
        self.lines.close()
        self.channel.close()
        stop(self.process)
        self.output.close()

    def command(self, line):
        """Does one command of the control channel; returns its answer."""
        self.lines.write(f"{line}\n")
        self.lines.flush()
        text = self.lines.readline()
        if not text:
            raise Failure(f"the emulator ended at: {line}")
        answer = json.loads(text)
        if isinstance(answer, dict) and "error" in answer:
            raise Failure(f"emulator: {line}: {answer['error']}")
        return answer

    def hosts(self):
        """{(GUID, port): MlnxExtPortInfo} of the ports of channel adapters that were asked; only after
        the command "hosts yes"."""
        answer = self.command("hosts")
        return {(int(end.split("/")[0], 16), int(end.split("/")[1])): bytes.fromhex(record)
                for end, record in answer.items()}

    def set(self, who="all", **capabilities):
        """Changes capabilities and resets the switch: form="rev1"|"old"|"both"|"none", group_cap,
        subgroups, plfts, modes, ageing_time, active_minus_one, recovery="none"|"local"|"notices", mask and record
        (hexadecimal)."""
        words = " ".join(f"{key}={value}" for key, value in capabilities.items())
        self.command(f"set {guid_text(who)} {words}")

    def ar(self, who, choice):
        """Which switches have adaptive routing: "yes", "no", "default"; for all of them also
        "share=0.67" by seed; and "refuse" or "silent" for how the others answer."""
        self.command(f"ar {guid_text(who)} {choice}")

    def fault(self, who, kind, attribute="vendor", method=None):
        """kind: "silent", "refuse=STATUS", "slow=MS", "lose=PERCENT"; attribute: "vendor", "all" or
        a number; method: "get" or "set". The newest fault that fits a MAD counts."""
        method = f" method={method}" if method else ""
        self.command(f"fault {guid_text(who)} {kind} attribute={attribute}{method}")

    def states(self, who, choice):
        """Which switches have the table of port states, and say so: "yes", "no", "default"; for all of them also
        "share=0.67" by seed."""
        self.command(f"states {guid_text(who)} {choice}")

    def traps(self, pass_on):
        """Whether traps reach the subnet manager."""
        self.command(f"traps {'yes' if pass_on else 'no'}")

    def traps_lost(self):
        return self.command("counters")["traps_lost"]

    def heal(self, who="all"):
        self.command(f"heal {guid_text(who)}")

    def reset(self, who="all"):
        """Switches lose their adaptive-routing tables, as after a power cycle."""
        self.command(f"reset {guid_text(who)}")

    def watch(self, on=True):
        """Counts MADs of standard attributes for each node too; costs a second MAD for each."""
        self.command(f"watch {'on' if on else 'off'}")

    def trace(self, path):
        """Writes a line for each MAD whose node is known: GUID, method, attribute, modifier."""
        self.command(f"trace {path or 'off'}")

    def totals(self):
        """{(attribute, "get" or "set"): MADs} of all nodes, standard attributes always too."""
        return counts(self.command("counters")["total"])

    def counters(self, who="all"):
        """{GUID: {(attribute, "get" or "set"): MADs that reached it}}."""
        answer = self.command(f"counters {guid_text(who)}")["nodes"]
        return {int(guid, 16): counts(rows) for guid, rows in answer.items()}

    def lost(self):
        """MADs that faults have swallowed."""
        return self.command("counters")["lost"]

    def waiting(self):
        """MADs that slow switches have not done yet."""
        return self.command("counters")["waiting"]

    def zero(self):
        self.command("zero")

    def tables(self, who="all"):
        """{GUID: what the switch holds}: "enabled", "subgroups", "group_top", "group_cap", "by_sl",
        "sl_mask", "transport_disable", "ageing_time", "info" (bytes); "groups": {(pLFT, table,
        group, sub-group): ports}; "lft": {(pLFT, LID): (state, port, table, group)}, only LIDs of
        blocks that were set; and "plft_info", "plft_definition", "plft_map", "sl_to_plft"."""
        answer = self.command(f"tables {guid_text(who)}")
        return {int(guid, 16): readable(tables) for guid, tables in answer.items()}

    def keep_tables(self):
        """From now on the emulator keeps forwarding tables that are set: switches without groups tell of lost ports, too."""
        self.command("lfts on")

    def port(self, guid, port, down=True):
        """A port goes down or comes up, for fast recovery; ibsim has to be told, too. Then notices travel."""
        self.command(f"port {guid_text(guid)} {port} {'down' if down else 'up'}")

    def passes(self, seconds):
        """So much time passes, for the times of notices."""
        self.command(f"pass {seconds}")

    def masked(self):
        """{GUID: what fast recovery makes of the tables of a switch}: "local" and "notices": whether it has them enabled;
        "down": ports; "told": {port: LIDs for which it is left out}; "violations": MADs with wrong keys, of managers and
        of other switches."""
        answer = self.command("masked")
        for switch in answer.values():
            switch["down"] = set(switch["down"])
            switch["told"] = {int(port): set(lids) for port, lids in switch["told"].items()}
        return {int(guid, 16): switch for guid, switch in answer.items()}

    def choices(self, guid, lid):
        """The ports that a switch may take for a packet to the LID."""
        return set(self.command(f"choices {guid_text(guid)} {lid}"))

    def poke(self, guid, attribute, modifier, offset, data):
        """Changes bytes of what a switch holds, behind everybody's back."""
        self.command(f"poke {guid_text(guid)} {attribute} {modifier} {offset} {data.hex()}")

    def record(self, path):
        """Writes a line for each Set of adaptive routing that a switch has done: nanoseconds since 1970, GUID,
        attribute, modifier, data."""
        self.command(f"record {path or 'off'}")


def guid_text(who):
    return who if isinstance(who, str) else f"0x{who:016x}"


def counts(rows):
    return {(attribute, method): seen for attribute, method, seen in rows}


def readable(tables):
    tables["info"] = bytes.fromhex(tables["info"])
    tables["groups"] = {tuple(row[:4]): set(row[4]) for row in tables["groups"]}
    tables["lft"] = {(plft, lid): (STATES[state], port, table, group)
                     for plft, lid, state, port, table, group in tables["lft"]}
    return tables
