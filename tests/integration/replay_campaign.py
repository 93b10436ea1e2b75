# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Losses and returns in large fabrics with adaptive routing under a live OpenSM that repairs before the sweep, one
after the other: cables at leaves and at spines, spine switches, leaf switches, several cables together, and two leaves
that have no switch above in common any more, so that `dmodk` gives way to the next engine. heddle-replay looks at each
Set that the switches take, those of sweeps and of the first programming too, and says what is on a loop. Python keeps
no tables."""

import random
import re
import signal
import time
from collections import Counter, namedtuple

import fabric_sim
import flaps
import independent_check
from emulator import Emulator
from fabric_sim import SURE, Simulation
from replay_checker import Checker

KINDS = ("leaf cable", "spine cable", "spine switch", "leaf switch")
TOGETHER = ("cables", "leaves apart")  # kinds of losses of several cables at once
PROGRAMMED = r"heddle: adaptive routing: \w+, .*?MADs \(\d+ Gets, (\d+) Sets\)"
REMARKS = r"ERR HD1[16]|is off while|are static|repaired lost|no repair before|entries changed|steps|in order"
# What counts as a fault of Heddle: loops, whichever tables close them, and what is lost at the end. A static port is that
# of an AR table where adaptive routing is on, and no switch but those without it sends by its forwarding table.
LOOPS = ("loops", "still", "hosts", "static-hosts", "groups", "static")
FAULTS = (*LOOPS, "missing")
ANNOUNCED = re.compile(r"ERR HD16: adaptive routing|ERR HD16: .* credit loop")  # the log says so, with a number
QUIET = 0.5  # seconds in which nothing is written
PATIENCE = 20  # times that OpenSM may seem to rest

Outcome = namedtuple("Outcome", "what way seconds counts findings remarks faults")


def list_parts(fabric, home):
    """{kind: [cables of one part]}; a cable is one of its ends. What OpenSM's host is cabled to stays."""
    guarded = {near[0] for near, far in fabric.cable.items() if far[0] == home}
    inside = flaps.aggregation_nodes(fabric)
    level = {near[0]: 0 for near, far in fabric.cable.items() if far[0] not in fabric.switches and far[0] not in inside}
    queue = sorted(level)
    links = [near for near, far in fabric.cable.items() if near[0] in fabric.switches and far[0] in fabric.switches]
    neighbours = {}
    for near in links:
        neighbours.setdefault(near[0], set()).add(fabric.cable[near][0])
    for switch in queue:
        for far in sorted(neighbours[switch] - level.keys()):
            level[far] = level[switch] + 1
            queue.append(far)
    top = max(level.values())
    cables = [near for near in sorted(links)
              if level[near[0]] < level[fabric.cable[near][0]] and near[0] not in guarded]
    of = {switch: [near for near in fabric.cable if near[0] == switch] for switch in sorted(fabric.switches - guarded)}
    return {"leaf cable": [[near] for near in cables if level[near[0]] == 0],
            "spine cable": [[near] for near in cables if level[fabric.cable[near][0]] == top],
            "spine switch": [of[switch] for switch in of if level[switch] == top],
            "leaf switch": [of[switch] for switch in of if level[switch] == 0],
            "leaves apart": list_pairs(fabric, [near for near in cables if level[near[0]] == 0])}


def list_pairs(fabric, cables):
    """Of two leaves below the same switches: all cables of one but the last, and that of the other to the same switch."""
    up = {}
    for near in cables:
        up.setdefault(near[0], {})[fabric.cable[near][0]] = near
    return [[*list(up[one].values())[:-1], up[other][list(up[one])[-1]]]
            for one in up for other in up if one != other and up[one].keys() == up[other].keys()]


class Campaign:
    """own: see Checker. among: a part of the names of all that is lost."""

    def __init__(self, simulation, opensm, emulated, seed, own, among=""):
        self.simulation, self.opensm, self.emulated = simulation, opensm, emulated
        self.random = random.Random(f"replay {seed}")
        opensm.wait_for_match(PROGRAMMED)
        self.settle()
        topology = simulation.discover("replay.topo")
        self.fabric = independent_check.read_fabric(topology.read_text())
        self.home = next(node for node, name in self.fabric.name.items() if simulation.host in (node, name))
        self.parts = {kind: [part for part in parts if among in self.name(kind, part)]
                      for kind, parts in list_parts(self.fabric, self.home).items()}
        self.kinds = [kind for kind in (*KINDS, *TOGETHER) if self.parts.get(kind, True)]  # that the fabric has
        self.files = (simulation.folder / "clock", simulation.folder / "ar-record")
        self.checker = Checker(topology, self.home, *self.files, own=own)

    def settle(self):
        """Waits until OpenSM and the switches rest."""
        files = (self.opensm.log_file, self.simulation.folder / "clock", self.simulation.folder / "ar-record")
        before = None
        while before != (before := [path.stat().st_size for path in files]):
            time.sleep(QUIET)

    def first(self):
        """The Sets since power-on, without a look, and the counts of the tables that they have made."""
        loaded = self.checker.load()
        return loaded, self.checker.go()[1]

    def replay(self, patience=PATIENCE):
        """What the Sets have done. On a busy machine OpenSM may seem to rest before it does: while packets may be lost,
        it has something to do."""
        findings, counts = self.checker.go()
        for _ in range(patience):
            if not counts["missing"]:
                break
            time.sleep(1)
            self.settle()
            more, after = self.checker.go()
            findings += more
            counts = {name: after[name] if name in ("missing", "loop") else counts[name] + after[name] for name in after}
        return findings, counts

    def wait_for_sweep(self, text, since, patience=30):
        """OpenSM at times does nothing after a trap: then it is a periodic sweep that finds the change."""
        try:
            return self.opensm.wait_for_match(text, since, patience)
        except fabric_sim.Failure:
            self.opensm.process.send_signal(signal.SIGHUP)
            return self.opensm.wait_for_match(text, since)

    def change(self, what, cables, lost):
        """One loss or return. A cable counts as alive again when its return begins: OpenSM may find it at once."""
        since, begin = len(self.opensm.log()), time.monotonic()
        ends = [end for near in cables for end in (near, self.fabric.cable[near])] if lost else []
        self.checker.cut(time.time_ns(), ends)
        command = "Unlink" if lost else "ReLink"
        self.simulation.command("\n".join(f'{command} "{node}"[{port}]' for node, port in cables))
        routed = self.wait_for_sweep("entries changed", since)
        self.opensm.wait_for_match(PROGRAMMED, routed.end())
        self.settle()
        seconds = time.monotonic() - begin
        findings, counts = self.replay()
        remarks = [line.split("heddle: ")[-1] for line in self.opensm.log()[since:].splitlines()
                   if re.search(REMARKS, line)]
        announced = any(ANNOUNCED.search(line) for line in self.opensm.log()[since:].splitlines())
        faults = [f"{name} {counts[name]}" for name in FAULTS if counts[name] and not (announced and name in LOOPS)]
        return Outcome(what, command, seconds, counts, findings, remarks, faults)

    def name(self, kind, cables):
        if kind in TOGETHER:
            return ", ".join(flaps.end_name(self.fabric, near) for near in cables)
        return flaps.end_name(self.fabric, cables[0]) if "cable" in kind else self.fabric.name[cables[0][0]]

    def choose(self, kind):
        if kind != "cables":
            return self.random.choice(self.parts[kind])
        some = [*self.parts["leaf cable"], *self.parts["spine cable"]]
        return [near for part in self.random.sample(some, min(self.random.randint(2, 8), len(some))) for near in part]

    def event(self, kind):
        cables = self.choose(kind)
        for lost in (True, False):
            yield self.change(f"{kind} {self.name(kind, cables)}", cables, lost)

    def unlike(self, count):
        """Switches, some of all, whose AR table or forwarding table is not what the Sets have made of it."""
        wrong = []
        for switch in self.random.sample(sorted(self.fabric.switches), min(count, len(self.fabric.switches))):
            guid = int(switch.split("-")[1], 16)
            enabled, rows = self.checker.row(switch)
            held = self.emulated.tables(f"0x{guid:x}")[guid]
            entries = {lid: (port, None if state == "static" else group)
                       for (_, lid), (state, port, _, group) in held["lft"].items()}
            lid = next(lid for lid, node in self.fabric.owner.items() if node == switch)
            plain = {int(lid, 16): int(port) for lid, port in
                     re.findall(r"(?m)^0x(\w+) (\d+) ", self.simulation.run("ibroute", "-n", lid))}
            if enabled != bool(held["enabled"]) or any(
                    rows[lid][1:3] != entries.get(lid, (independent_check.NO_ENTRY, None)) or
                    rows[lid][0] != plain.get(lid, independent_check.NO_ENTRY) for lid in self.fabric.owner):
                wrong.append(switch)
        return wrong


def run(netlist, seed, events, report, kinds=KINDS, own=True, repair=True, compare=20, among="", engines="ar_dmodk",
        more_conf=""):
    """`events` losses and as many returns of each kind, of what has `among` in its name. report(text or Outcome) is called
    as things go on. more_conf: for heddle.conf. Returns ({name: count}, [fault])."""
    emulated, tally, faults = Emulator(), Counter(), []
    with Simulation(netlist, emulator=emulated, clock=True) as simulation:
        (simulation.folder / "ar-record").touch()
        emulated.record(simulation.folder / "ar-record")
        conf = ("[repair]\nenable = yes\n" if repair else "") + "[ar]\nenable = yes\n" + more_conf
        with simulation.opensm(engines, options=SURE, heddle_conf=conf) as opensm:
            campaign = Campaign(simulation, opensm, emulated, seed, own, among)
            with campaign.checker:
                loaded, counts = campaign.first()
                report(f"first programming: {loaded['lfts']} blocks, {loaded['sets']} AR Sets; then {counts}")
                faults += [f"after the first programming: {name}" for name in FAULTS if counts[name]]
                for number in range(events):
                    for kind in kinds:
                        for outcome in campaign.event(kind):
                            report(outcome)
                            tally["events"] += 1
                            tally.update({name: value for name, value in outcome.counts.items()
                                          if isinstance(value, int)})
                            faults += [f"{outcome.what} {outcome.way}: {fault}" for fault in outcome.faults]
                wrong = campaign.unlike(compare)
                faults += [f"tables unlike those of the record: {switch}" for switch in wrong]
                tally["switches compared"] += compare
    return tally, faults
