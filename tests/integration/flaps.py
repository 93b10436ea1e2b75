# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random failures and returns under a live OpenSM. After each event the tables are read back from
the simulated switches and go to a checker that shares no code with Heddle."""

import random
import re
from collections import Counter, defaultdict, namedtuple

import independent_check
from fabric_sim import LOG_DUMPS, Simulation, heddle
from repair_sim import REPAIR

MOST_DOWN = 4  # parts that are down at the same time
DOWN_AT_START = 3  # in a run that begins damaged
SWEEPS_TO_REST = 8
MINHOP = "minhop"  # routes where all our engines refuse: then only reachability is checked
# What fails: a cable three times as often as a spine. A fabric need not have every kind.
KINDS = {"cable": 6, "spine": 2, "leaf": 2, "pod": 1, "host": 2, "aggregation": 1}

# needless: changed entries that had no reason to; aside: those of them for aggregation nodes; late: faults after the
# first sweep (with `prompt`).
Event = namedtuple("Event", "number what kind faults changed needless aside sweeps engine late")

# Fabrics of the test, and the engines that route them.
TREE_ENGINES = ("dmodk", "updown", "spf", "auto")
FABRICS = {
    "two-level": (("xgft", "--children", "6,6", "--parents", "1,6"), TREE_ENGINES),
    "three-level": (("xgft", "--children", "6,6,6", "--parents", "1,6,6"), TREE_ENGINES),
    "irregular": (("irregular", "--switches", "24", "--radix", "10", "--seed", "7"),
                  ("updown", "spf", "auto", "dmodk,updown")),
    "two-level-sharp": (("xgft", "--children", "6,6", "--parents", "1,6",
                         "--aggregation-nodes"), TREE_ENGINES),
    "three-level-sharp": (("xgft", "--children", "4,4,4", "--parents", "1,4,4",
                           "--aggregation-nodes"), TREE_ENGINES),
    "torus": (("torus", "--dims", "4,4,3", "--hosts", "2"), ("spf", "updown")),
}


def list_parts(fabric, home_name):
    """({name: [cables]}, guarded switches): what can fail, each with its cables as ends (node,
    port). The host in which OpenSM runs stays, and so do its switches, which are guarded."""
    cable, switches = fabric.cable, fabric.switches
    home = next(node for node, name in fabric.name.items() if home_name in (node, name))
    guarded = {near[0] for near, far in cable.items() if far[0] == home}
    inside = aggregation_nodes(fabric)
    leaves = {near[0] for near, far in cable.items()
              if far[0] not in switches and far[0] not in inside}
    parts = {}
    for near, far in cable.items():
        if near[0] in switches and far[0] in switches and near < far:
            parts[f"cable {end_name(fabric, near)}"] = [near]
        if near[0] not in switches and near[0] != home and far[0] in switches:
            kind = "aggregation" if near[0] in inside else "host"
            parts[f"{kind} {end_name(fabric, near)}"] = [near]
    for switch in switches - guarded:
        kind = "leaf" if switch in leaves else "spine"
        parts[f"{kind} {fabric.name[switch]}"] = cables_of(fabric, {switch})
    for pod in list_pods(fabric, leaves):
        if not pod & guarded:
            parts[f"pod of {min(fabric.name[switch] for switch in pod)}"] = cables_of(fabric, pod)
    return parts, guarded


def end_name(fabric, end):
    return f"{fabric.name.get(end[0], end[0])}[{end[1]}]"


def cables_of(fabric, switches):
    """Every cable with an end in the switches, once."""
    return [near for near, far in fabric.cable.items()
            if near[0] in switches and not (far[0] in switches and far < near)]


def aggregation_nodes(fabric):
    """Adapters whose system image GUID is that of a switch."""
    systems = {fabric.system.get(switch) for switch in fabric.switches} - {None, 0}
    return {node for node in fabric.name
            if node not in fabric.switches and fabric.system.get(node) in systems}


def list_pods(fabric, leaves):
    """What the switches farthest from the leaves join, if that is several switches each."""
    neighbours = defaultdict(set)
    for near, far in fabric.cable.items():
        if near[0] in fabric.switches and far[0] in fabric.switches:
            neighbours[near[0]].add(far[0])
    distance = dict.fromkeys(leaves, 0)
    queue = sorted(leaves)
    for switch in queue:
        for far in sorted(neighbours[switch]):
            if far not in distance:
                distance[far] = distance[switch] + 1
                queue.append(far)
    below = {switch for switch in distance if distance[switch] < max(distance.values())}
    pods = []
    while below:
        pod, queue = set(), [min(below)]
        while queue:
            switch = queue.pop()
            if switch in below:
                below.remove(switch)
                pod.add(switch)
                queue += neighbours[switch]
        if len(pod) > 1:
            pods.append(pod)
    return pods if len(pods) > 1 else []


class Damage:
    """What is down in a running Simulation, and the next random event."""

    def __init__(self, simulation, seed):
        self.simulation = simulation
        self.random = random.Random(seed)
        self.intact = independent_check.read_fabric(simulation.run("ibnetdiscover"))
        self.parts, self.guarded = list_parts(self.intact, simulation.host)
        self.down = {}  # name of a part -> its cables

    def dead_cables(self):
        return {min(near, self.intact.cable[near]) for part in self.down.values() for near in part}

    def choose(self):
        """(name, True: it fails)."""
        if self.down and (len(self.down) >= MOST_DOWN or self.random.random() < 0.45):
            return self.random.choice(sorted(self.down)), False
        return self.choose_failure(), True

    def choose_failure(self):
        names = defaultdict(list)
        for name in sorted(self.parts):
            if name not in self.down:
                names[name.split()[0]].append(name)
        kinds = sorted(names)
        while True:
            kind = self.random.choices(kinds, [KINDS[kind] for kind in kinds])[0]
            name = self.random.choice(names[kind])
            if not self.would_cut_off_opensm(name):
                return name

    def would_cut_off_opensm(self, name):
        dead = self.dead_cables() | {min(near, self.intact.cable[near])
                                     for near in self.parts[name]}
        alive = [near for near, far in self.intact.cable.items()
                 if near[0] in self.guarded and far[0] in self.intact.switches
                 and min(near, far) not in dead]
        return not alive

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


class Flaps:
    """Events on one fabric under one routing engine. `whole` are the tables of the intact fabric,
    None if it is intact now. `prompt`: the tables are also checked after the first sweep."""

    def __init__(self, simulation, opensm, damage, whole=None, prompt=False):
        self.prompt = prompt
        self.simulation = simulation
        self.opensm = opensm
        self.damage = damage
        self.number = 0
        _, self.engine = self.settle()
        self.fabric = self.read_fabric()
        self.tables = self.read_tables()
        self.first = whole or self.tables
        self.history = independent_check.History()
        self.history.note({}, self.tables)
        self.history.note({}, self.first)

    # ---- one event ----

    def settle(self):
        """Sweeps until one changes nothing. Returns how many it took and the engine that routed."""
        for sweeps in range(1, SWEEPS_TO_REST + 1):
            log = self.opensm.sweep()
            counts = re.findall(r"heddle: (\w+).*; (\d+) entries changed", log)
            if counts and counts[-1][1] == "0":
                return sweeps, counts[-1][0]
            if sweeps > 1 and "ERR HD05" in log and "minhop tables configured" in log:
                return sweeps, MINHOP
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

    def sweep_once(self):
        """Faults after a sweep that began after the event."""
        names = re.findall(r"heddle: (\w+).*; \d+ entries changed", self.opensm.sweep())
        return self.read_and_check(names[-1] if names else MINHOP)

    def read_and_check(self, engine):
        self.fabric = self.read_fabric()
        self.tables = self.read_tables()
        if engine == MINHOP:
            return independent_check.unreachable(self.fabric, self.tables)
        return independent_check.check(self.fabric, self.tables, self.lanes())

    def step(self, name=None, fails=None):
        """One event, checked. Returns an Event; its faults are texts."""
        if name is None:
            name, fails = self.damage.choose()
        self.number += 1
        self.damage.apply(name, fails)
        before_fabric, before = self.fabric, self.tables
        late = self.sweep_once() if self.prompt else []
        sweeps, engine = self.settle()
        faults = self.read_and_check(engine)
        if faults:  # the event may have come in the middle of the last sweep
            sweeps, engine = self.settle()
            faults = self.read_and_check(engine)
        changed = independent_check.changes(before, self.tables)
        needless = []
        if MINHOP not in (engine, self.engine):
            needless = independent_check.needless_changes(before_fabric, before, self.fabric,
                                                          self.tables, self.history)
        self.engine = engine
        self.history.note(before, self.tables)
        what = f"{name} {'down' if fails else 'up'}"
        inside = aggregation_nodes(self.fabric)
        aside = sum(1 for _, lid, _, _ in needless if self.fabric.owner.get(lid) in inside)
        return Event(self.number, what, name.split()[0], faults, len(changed), len(needless),
                     aside, sweeps, engine, late)

    def events(self, count):
        """`count` random events, then everything returns, one part after the other."""
        while self.number < count:
            yield self.step()
        for name in sorted(self.damage.down):
            yield self.step(name, False)

    def unlike_first(self):
        """Entries that differ from those of the intact fabric in the beginning."""
        return len(independent_check.changes(self.first, self.tables))


def give_lids(simulation, engine, options):
    """Every port gets its LIDs, while all are up. Returns what the engine's tables are then."""
    simulation.opensm("minhop", options=options).once()
    topology = simulation.discover("whole.topo")
    tables = simulation.folder / "whole.lfts"
    for name in engine.split(","):
        if not heddle("route", "-e", name, topology, "-o", tables, check=False).returncode:
            break
    fabric = independent_check.read_fabric(topology.read_text())
    return independent_check.read_tables(tables.read_text(), fabric)


def run(netlist, engine, seed, events, report=None, options=None, damaged=False, repair=False, notes=None,
        prompt=False):
    """Random events, then everything returns. Returns ([Event], entries unlike those of the intact
    fabric). report(Event) is called after each event. `damaged`: OpenSM starts when parts are down
    already. `repair`: Heddle repairs before the sweep; notes, a list, gets the lines about that and
    about sweeps. `prompt`: the tables are also checked after the first sweep of an event, and the run ends where they
    are wrong."""
    settings = {"qos": "TRUE", **(options or {})}  # without qos there are no virtual lanes
    with Simulation(netlist) as simulation:
        damage = Damage(simulation, seed)
        whole = None
        if damaged:
            whole = give_lids(simulation, engine, settings)
            for _ in range(DOWN_AT_START):
                damage.apply(damage.choose_failure(), True)
        with simulation.opensm(engine, options=settings, log_flags=LOG_DUMPS,
                               heddle_conf=REPAIR if repair else None) as opensm:
            flaps = Flaps(simulation, opensm, damage, whole, prompt)
            done = []
            for event in flaps.events(events):
                done.append(event)
                if report:
                    report(event)
                if event.late:
                    raise AssertionError(f"{event.what}: wrong after the first sweep: {event.late[:3]}\n"
                                         f"{opensm.log()[-20000:]}")
            if notes is not None:
                notes += re.findall(r"heddle: ((?:repaired|no repair) .*|.* \d+ entries changed.*)", opensm.log())
            return done, flaps.unlike_first()


def repair_summary(notes):
    """How many repairs there were, and after how many complete ones the next sweep changed entries."""
    pairs = [(a, b) for a, b in zip(notes, notes[1:]) if a.startswith("repaired")]
    followed = [(a, b) for a, b in pairs if "entries changed" in b]
    whole = [pair for pair in followed if "left to the sweep" not in pair[0]]
    changed = [pair for pair in whole if " 0 entries changed" not in pair[1]]
    stopped = Counter(note.split(": ", 1)[-1] for note in notes if note.startswith("no repair"))
    return (f"{sum(note.startswith('repaired') for note in notes)} repairs, {len(followed)} of them followed by a "
            f"sweep; {len(whole)} left no LID to it, and it changed entries after {len(changed)} of these "
            f"{changed[:3] or ''}; stopped: {dict(stopped)}")


def summary(done, unlike):
    """One line for a run."""
    kinds = Counter(event.kind for event in done)
    return (f"{len(done)} events ({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}): "
            f"{sum(len(event.faults) for event in done)} faults; "
            f"{sum(event.changed for event in done)} entries changed, "
            f"{sum(event.needless for event in done)} of them without need "
            f"({sum(event.aside for event in done)} for aggregation nodes), in "
            f"{sum(1 for event in done if event.needless)} events; "
            f"when all was up again, {unlike} were unlike the first ones")
