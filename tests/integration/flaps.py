# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random failures and returns under a live OpenSM. After each event the tables are read back from
the simulated switches and go to a checker that shares no code with Heddle."""

import random
import re
from collections import Counter, namedtuple

import independent_check
from fabric_sim import Simulation, heddle

MOST_DOWN = 4  # parts that are down at the same time
SWEEPS_TO_REST = 8

Event = namedtuple("Event", "number what kind faults changed needless sweeps engine")

# Fabrics of the test, and the engines that route them.
FABRICS = {
    "two-level": (("xgft", "--children", "6,6", "--parents", "1,6"), ("dmodk", "updown")),
    "three-level": (("xgft", "--children", "6,6,6", "--parents", "1,6,6"), ("dmodk", "spf")),
    "irregular": (("irregular", "--switches", "24", "--radix", "10", "--seed", "7"),
                  ("updown", "spf")),
}
NODES_INSIDE = {
    "two-level-sharp": (("xgft", "--children", "6,6", "--parents", "1,6",
                         "--aggregation-nodes"), ("dmodk", "updown")),
    "three-level-sharp": (("xgft", "--children", "4,4,4", "--parents", "1,4,4",
                           "--aggregation-nodes"), ("dmodk", "spf")),
}


class Flaps:
    """Events on one fabric under one routing engine. Needs a running Simulation and OpenSM."""

    def __init__(self, simulation, opensm, seed):
        self.simulation = simulation
        self.opensm = opensm
        self.random = random.Random(seed)
        self.number = 0
        self.down = {}  # name of a part -> its cables, each an end as (node, port)
        self.settle()
        self.intact = self.fabric = self.read_fabric()
        self.tables = self.read_tables()
        self.first = self.tables
        self.history = independent_check.History()
        self.history.note({}, self.tables)
        self.parts = self.list_parts()

    # ---- what can fail ----

    def list_parts(self):
        """{name: [cables]}: cables between switches, switches, hosts; not what holds OpenSM."""
        cable, switches = self.intact.cable, self.intact.switches
        home = next(node for node, name in self.intact.name.items()
                    if self.simulation.host in (node, name))
        own = {near[0] for near, far in cable.items() if far[0] == home}
        parts = {}
        for near, far in cable.items():
            if near[0] in switches and far[0] in switches and near < far:
                parts[f"cable {self.end(near)}"] = [near]
            if near[0] not in switches and near[0] != home and far[0] in switches:
                parts[f"host {self.end(near)}"] = [near]
        for switch in switches - own:
            parts[f"switch {self.intact.name[switch]}"] = [
                near for near in cable if near[0] == switch]
        self.guarded = own
        return parts

    def end(self, end):
        return f"{self.intact.name.get(end[0], end[0])}[{end[1]}]"

    def dead_cables(self):
        return {min(near, self.intact.cable[near]) for part in self.down.values() for near in part}

    def choose(self):
        """(name, True: it fails)."""
        if self.down and (len(self.down) >= MOST_DOWN or self.random.random() < 0.45):
            return self.random.choice(sorted(self.down)), False
        kind = self.random.choice(["cable", "cable", "cable", "switch", "host"])
        names = sorted(name for name in self.parts
                       if name.startswith(kind) and name not in self.down)
        name = self.random.choice(names)
        return name, True

    def would_cut_off_opensm(self, name):
        dead = self.dead_cables() | {min(near, self.intact.cable[near])
                                     for near in self.parts[name]}
        alive = [near for near, far in self.intact.cable.items()
                 if near[0] in self.guarded and far[0] in self.intact.switches
                 and min(near, far) not in dead]
        return not alive

    # ---- one event ----

    def commands(self, verb, cables):
        """ibsim's names of nodes are those of the netlist: S-<GUID>, H-<GUID>."""
        return "\n".join(f'{verb} "{node}"[{port}]' for node, port in cables)

    def apply(self, name, fails):
        if fails:
            dead = self.dead_cables()
            cables = [near for near in self.parts[name]
                      if min(near, self.intact.cable[near]) not in dead]
            self.down[name] = self.parts[name]
            self.simulation.command(self.commands("Unlink", cables))
            return
        part = self.down.pop(name)
        dead = self.dead_cables()
        cables = [near for near in part if min(near, self.intact.cable[near]) not in dead]
        self.simulation.command(self.commands("ReLink", cables))

    def settle(self):
        """Sweeps until one changes nothing. Returns how many it took and the engine that routed."""
        for sweeps in range(1, SWEEPS_TO_REST + 1):
            log = self.opensm.sweep()
            counts = re.findall(r"heddle: (\w+).*; (\d+) entries changed", log)
            if counts and counts[-1][1] == "0":
                return sweeps, counts[-1][0]
        raise AssertionError(f"tables do not come to rest in {SWEEPS_TO_REST} sweeps\n{log[-3000:]}")

    def read_fabric(self):
        return independent_check.read_fabric(self.simulation.run("ibnetdiscover"))

    def read_tables(self):
        text = self.simulation.read_tables("flaps.lfts").read_text()
        return independent_check.read_tables(text, self.fabric)

    def lanes(self):
        dump = self.simulation.folder / "heddle-sls.dump"
        if not dump.exists():
            return independent_check.one_lane
        return independent_check.read_lanes(dump.read_text(), self.fabric)

    def read_and_check(self):
        self.fabric = self.read_fabric()
        self.tables = self.read_tables()
        return independent_check.check(self.fabric, self.tables, self.lanes())

    def step(self, name=None, fails=None):
        """One event, checked. Returns an Event; its faults are texts."""
        while name is None or (fails and self.would_cut_off_opensm(name)):
            name, fails = self.choose()
        self.number += 1
        self.apply(name, fails)
        sweeps, engine = self.settle()
        before_fabric, before = self.fabric, self.tables
        faults = self.read_and_check()
        if faults:  # the event may have come in the middle of the last sweep
            sweeps, engine = self.settle()
            faults = self.read_and_check()
        changed = independent_check.changes(before, self.tables)
        needless = independent_check.needless_changes(before_fabric, before, self.fabric,
                                                      self.tables, self.history)
        self.history.note(before, self.tables)
        what = f"{name} {'down' if fails else 'up'}"
        return Event(self.number, what, name.split()[0], faults, len(changed), len(needless),
                     sweeps, engine)

    def heal(self):
        """Everything returns, one part after the other. Returns the events."""
        return [self.step(name, False) for name in sorted(self.down)]

    def unlike_first(self):
        """Entries that differ from those of the intact fabric in the beginning."""
        return len(independent_check.changes(self.first, self.tables))


def can_have_nodes_inside():
    """Whether the generator makes aggregation nodes."""
    return "--aggregation-nodes" in heddle("topo", "generate", "xgft", "--help").stdout


def fabrics():
    """{name: (arguments of the generator, engines)}."""
    return {**FABRICS, **(NODES_INSIDE if can_have_nodes_inside() else {})}


def run(netlist, engine, seed, events, report=None, options=None):
    """Random events, then everything returns. Returns ([Event], entries unlike the first ones).
    report(Event) is called after each event."""
    settings = {"qos": "TRUE", **(options or {})}  # without qos there are no virtual lanes
    with Simulation(netlist) as simulation:
        with simulation.opensm(engine, options=settings) as opensm:
            flaps = Flaps(simulation, opensm, seed)
            done = []
            while flaps.number < events:
                done.append(flaps.step())
                if report:
                    report(done[-1])
            done += flaps.heal()
            return done, flaps.unlike_first()


def summary(done, unlike):
    """One line for a run."""
    kinds = Counter(event.kind for event in done)
    return (f"{len(done)} events ({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}): "
            f"{sum(len(event.faults) for event in done)} faults; "
            f"{sum(event.changed for event in done)} entries changed, "
            f"{sum(event.needless for event in done)} of them without need, in "
            f"{sum(1 for event in done if event.needless)} events; "
            f"when all was up again, {unlike} were unlike the first ones")
