# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Changes of all kinds under a live OpenSM that writes sweeps in order: parts are lost and come back, OpenSM is started
again with another engine or without what it knew. Each block is replayed: sweep_replay.py."""

import random
import re
from collections import Counter

import flaps
import independent_check
import repair_record
from fabric_sim import LOG_DUMPS, OpenSM, Simulation, heddle, stop
from flaps import Damage
from repair_trees import Members, Trees
from sweep_replay import WANTED, Replay

SWEEP = "[sweep]\nordered = yes\ntimeout_ms = 200\nlimit_ms = 20000\n"
# How often: a part is lost; all that is lost comes back; OpenSM starts again with another engine, with the same one,
# and without its state file; it is killed, and a standby takes over, perhaps with another engine; hosts join groups,
# and leave them; cables and switches are drained, and all of them are used again.
KINDS = {"lost": 6, "back": 4, "engine": 2, "again": 1, "forgotten": 1, "takeover": 2, "join": 3, "leave": 2,
         "drain": 3, "undo": 2}
ANOTHER = ("engine", "again", "forgotten", "takeover")  # kinds after which another OpenSM is the master
MOST_DOWN = 6
SWEEPS_TO_REST = 8


HIGHEST = 14  # priority of an OpenSM that starts alone; each that takes over has one less


class Standby(OpenSM):
    """An OpenSM at another host with all files in a folder of its own; it runs when it waits for the master's end."""

    def __init__(self, master, host, engines, folder):
        super().__init__(master.simulation, engines, options=master.options, heddle_conf=SWEEP,
                         log_flags=master.log_flags)
        self.options["sm_priority"] = master.options["sm_priority"] - 1
        self.host, self.folder = host, folder
        folder.mkdir()
        self.conf, self.log_file = folder / "heddle.conf", folder / "osm.log"
        self.write_heddle_conf(SWEEP)
        self.waits = True

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.folder))

    def wait_for(self, text, since=0, timeout=None):
        text = "Entering STANDBY" if self.waits else text
        self.waits = False
        return super().wait_for(text, since) if timeout is None else super().wait_for(text, since, timeout)


class Campaign:
    """groups: of multicast; 0: none."""

    def __init__(self, simulation, opensm, engines, seed, groups=0):
        self.simulation, self.opensm, self.engines = simulation, opensm, engines
        self.random = random.Random(f"sweeps {seed}")
        self.damage = Damage(simulation, seed)
        self.clock = simulation.folder / "clock"
        self.home = next(node for node, name in self.damage.intact.name.items() if simulation.host in (node, name))
        self.places = self.hosts_beside(self.home)
        self.spare(self.places[1:])
        self.fabric, self.tally = self.damage.intact, Counter()
        self.state = repair_record.Switches({}, self.home)
        self.rest()
        self.offset = self.mft_offset = 0
        self.catch_up()
        self.members = self.trees = None
        if groups:
            self.members = Members(simulation, self.home, self.random, groups)
            for node in self.places[1:]:
                self.members.hosts.pop(node, None)
            self.trees = Trees({}, {})
            self.event("fill")

    def lanes(self):
        dump = self.opensm.folder / "heddle-sls.dump"
        return (independent_check.read_lanes(dump.read_text(), self.fabric) if dump.exists()
                else independent_check.one_lane)

    def rest(self):
        """Sweeps until one changes nothing."""
        for _ in range(SWEEPS_TO_REST):
            log = self.opensm.sweep()
            counts = re.findall(r"(\d+) entries changed", log)
            if counts and counts[-1] == "0":
                return
        raise AssertionError(f"tables do not come to rest\n{log[-2000:]}")

    def catch_up(self):
        """Takes the blocks until now, unchecked: the first tables."""
        sets, self.offset = repair_record.read_sets(self.clock, self.offset)
        for one in sets:
            self.state.take(self.fabric, one)
        self.known, self.levels = self.fabric, self.lanes()
        return self.differences()

    # ---- events ----

    def lose(self):
        name = self.damage.choose_failure()
        self.damage.apply(name, True)
        return name

    def bring_back(self):
        names = sorted(self.damage.down)
        for name in names[:self.random.randint(1, len(names))]:
            self.damage.apply(name, False)
        return ", ".join(names[:3])

    def hosts_beside(self, home):
        """Where OpenSM can run: the home, and another host of its switch, if it has one that is no aggregation node."""
        fabric = self.damage.intact
        leaf = next(far[0] for near, far in fabric.cable.items() if near[0] == home)
        aside = flaps.aggregation_nodes(fabric)
        others = sorted({far[0] for near, far in fabric.cable.items() if near[0] == leaf and far[0] != home and
                         far[0] not in fabric.switches and far[0] not in aside})
        return [home, *others[:1]]

    def spare(self, hosts):
        """OpenSM runs there later: their own cables are not lost."""
        cable = self.damage.intact.cable
        for name, part in list(self.damage.parts.items()):
            if len(part) == 1 and {part[0][0], cable[part[0]][0]} & set(hosts):
                del self.damage.parts[name]

    def take_over(self):
        """The master is killed; the standby, which has started before, is the master then."""
        master, here = self.opensm, self.places.index(self.state.home)
        self.tally["take-overs"] += 1
        host = self.places[1 - here]
        standby = Standby(master, host, self.random.choice(self.engines),
                          self.simulation.folder / f"standby-{self.tally['take-overs']}")
        standby.__enter__()
        master.process.kill()
        stop(master.process)
        master.output.close()
        standby.wait_for("SUBNET UP")
        self.opensm, self.state.home = standby, host
        return f"from {master.engines} to {standby.engines}"

    def end(self):
        """The first OpenSM ends by itself."""
        if isinstance(self.opensm, Standby):
            self.opensm.__exit__()

    def start_again(self, kind):
        self.opensm.__exit__()
        self.opensm.options["sm_priority"] = HIGHEST
        if kind == "engine":
            self.opensm.engines = self.random.choice([one for one in self.engines if one != self.opensm.engines])
        if kind == "forgotten":
            (self.opensm.folder / "heddle-tables").unlink(missing_ok=True)
        self.opensm.__enter__()
        return self.opensm.engines

    def choose(self):
        kinds = dict(KINDS)
        if not self.damage.down:
            del kinds["back"]
        if len(self.damage.down) >= MOST_DOWN or len(self.damage.down) + 2 >= len(self.damage.parts):
            kinds.pop("lost")
        if len(self.engines) < 2:
            kinds.pop("engine")
        if not self.members:
            del kinds["join"], kinds["leave"]
        if len(self.places) < 2 or self.opensm.options["sm_priority"] < 2:
            del kinds["takeover"]
        return self.random.choices(list(kinds), list(kinds.values()))[0]

    def event(self, kind=None):
        """(kind, what, faults)."""
        kind = kind or self.choose()
        since = len(self.opensm.log())
        what = self.happen(kind)
        self.rest()
        log = self.opensm.log()[0 if kind == "takeover" else since:]
        self.fabric = independent_check.read_fabric(self.simulation.run("ibnetdiscover"))
        replay = Replay(self.state, self.fabric, self.lane_before(kind), self.steps(log), self.trees,
                        self.members and self.members.by_port)
        faults = replay.run() + self.differences() + self.after_members(log, kind)
        self.tally.update(replay.tally)
        self.tally["events"] += 1
        self.tally[f"kind {kind}"] += 1
        self.known, self.levels = self.fabric, self.lanes()
        return kind, what, faults

    def happen(self, kind):
        if kind in ("join", "leave", "fill"):
            return self.change_members(kind)
        if kind == "takeover":
            return self.take_over()
        if kind in ("drain", "undo"):
            return self.drain() if kind == "drain" else self.ask_drain("--undo", "--all")
        return self.lose() if kind == "lost" else self.bring_back() if kind == "back" else self.start_again(kind)

    def drain(self):
        """A cable between switches or a switch, and up to two more. It may be refused, but only for those who would be
        cut off."""
        fabric = self.fabric
        cables = sorted(near for near, far in fabric.cable.items() if {near[0], far[0]} <= fabric.switches)
        spines = sorted(switch for switch in fabric.switches if not fabric.hosts_of(switch))
        things = [f"0x{node[2:]}[{port}]" for node, port in self.random.sample(cables, self.random.randint(1, 3))]
        if spines and self.random.random() < 0.4:
            things = [f"0x{self.random.choice(spines)[2:]}"]
        return self.ask_drain("--apply", *things)

    def ask_drain(self, *words):
        done = heddle("drain", "-s", self.opensm.drain_socket(), *words, check=False)
        reasons = "cut off|would lack|no order of the changes is proved|engine|no path|not a "
        assert done.returncode == 0 or re.search(reasons, done.stderr), done
        assert "--undo" in words or "without a proved order" not in done.stdout, done
        self.tally["drains that were refused"] += done.returncode
        return " ".join(words) + ": " + (done.stdout + done.stderr).strip().replace("\n", ", ")

    def steps(self, log):
        """[(when, rank, Set or Line)] since the last event."""
        sets, self.offset = repair_record.read_sets(self.clock, self.offset)
        if self.members:
            more, self.mft_offset = repair_record.read_sets(self.simulation.folder / "mft-clock", self.mft_offset,
                                                            multicast=True)
            sets += more
        lines = repair_record.read_lines(log, WANTED)
        return [(one.when, 1, one) for one in sets] + [(line.when, 2, line) for line in lines]

    # ---- groups ----

    def change_members(self, kind):
        if kind == "fill":
            self.members.fill(self.fabric)
            self.trees.members = self.members.by_mlid()
            return "all groups"
        here = set(self.fabric.owner.values()) & set(self.members.hosts) - {self.home}
        number = self.random.randint(1, self.members.count)
        joined = self.members.joined[number] & here
        names = sorted(joined if kind == "leave" else here - joined)
        names = self.random.sample(names, min(len(names), self.random.randint(1, 3)))
        if names:
            mlids = dict(self.members.groups.mlids)  # the answer to a leave has none
            self.members.groups.ask(kind, number, [self.members.hosts[name] for name in names])
            self.members.groups.mlids.update(mlids if kind == "leave" else {})
        joined = self.members.joined[number]
        self.members.joined[number] = joined - set(names) if kind == "leave" else joined | set(names)
        before = dict(self.trees.members)
        self.trees.members = self.members.by_mlid()
        for mlid in before.keys() - self.trees.members.keys():
            self.trees.members[mlid] = set()
        return f"{names} of {number}"

    def after_members(self, log, kind):
        """Another OpenSM knows no groups. Returns faults of the trees at rest."""
        if not self.members:
            return []
        faults = []
        if kind in ANOTHER:
            faults = self.join_again()
        self.members.remove(log)
        self.trees.members = self.members.by_mlid()
        self.trees.note_left_over(self.fabric)
        return faults + [f"after {kind}: {miss}" for miss in self.trees.misses(self.fabric)[:3]]

    def join_again(self):
        self.trees.members = {}
        self.trees.note_left_over(self.fabric)
        self.members.forget_all()
        since = len(self.opensm.log())
        self.members.fill(self.fabric)
        self.rest()
        self.trees.members = self.members.by_mlid()
        replay = Replay(self.state, self.fabric, self.levels, self.steps(self.opensm.log()[since:]), self.trees, {})
        replay.run()
        self.tally.update(replay.tally)
        return replay.faults

    def lane_before(self, kind):
        """The lanes in force; of what was not there, those that come. Without the state file nobody knows the former; a
        standby has none of the master's."""
        known, before, after = self.known, self.levels, self.lanes()
        if kind in ("forgotten", "takeover"):
            return after
        return lambda switch, lid: (before if lid in known.place and switch in known.switches else after)(switch, lid)

    def differences(self):
        """The replayed tables must be those that are there."""
        text = self.simulation.read_tables("sweeps.lfts").read_text()
        tables = independent_check.read_tables(text, self.fabric)
        found = independent_check.changes(
            {switch: row for switch, row in self.state.tables.items() if switch in tables}, tables)
        found = [change for change in found if change[1] in self.fabric.owner]
        return [f"the record lacks {len(found)} changes, such as {found[0]}"] if found else []


def run(netlist, engines, seed, events, report=None, options=None, groups=0, conf=SWEEP):
    """Returns the tally. report(kind, what, faults) is called after each event."""
    with Simulation(netlist, clock=True) as simulation:
        settings = {"qos": "TRUE", "transaction_timeout": 200, "transaction_retries": 3, "sm_priority": HIGHEST,
                    "sminfo_polling_timeout": 200, "polling_retry_number": 2, **(options or {})}
        with simulation.opensm(engines[0], options=settings, heddle_conf=conf, log_flags=LOG_DUMPS) as opensm:
            campaign = Campaign(simulation, opensm, engines, seed, groups)
            kinds = list(events) if not isinstance(events, int) else [None] * events
            try:
                for kind in kinds:
                    outcome = campaign.event(kind)
                    if report:
                        report(*outcome, campaign)
            finally:
                campaign.end()
            return campaign.tally
