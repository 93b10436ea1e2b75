# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random losses under a live OpenSM that repairs before the sweep: single ones, bursts, one during the repair
of another, cables that come back at once, some while a sweep runs, some with switches that answer late or not
at all, some where OpenSM is killed and starts again. Each block of unicast and multicast tables and each Set of
adaptive routing that a simulated switch takes is replayed, and checkers that share no code with Heddle look at
the tables after each of them, each repair and each sweep: repair_replay.py."""

import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter, namedtuple

import independent_check
import keys_sim
import repair_adaptive
import repair_record
from emulator import LFT, MFT, SWITCH_INFO, Emulator
from fabric_sim import BUILD, LOG_DUMPS, Simulation, Topology, heddle
from flaps import Damage, Flaps
from repair_replay import KILLED, WANTED, Before, Cuts, Replay, generalise
from repair_sim import REPAIR
from repair_trees import Members
from replay_checker import REPLAY, Checker

SWEEP_ALONE = BUILD / "tests" / "flaps" / "heddle-sweep-alone"
MOST_DOWN = 24  # parts
BURST_MOST = 20
LANES = 8  # of ibsim's ports
# How often: one loss; several at once; one some ms after another; a cable that comes back at once; a loss while
# a sweep runs; while switches take tables of some kind late; while one takes none of a kind; while one does not
# answer at all; and OpenSM is killed then.
MODES = {"one": 6, "burst": 4, "second": 3, "flap": 2, "sweep": 3, "late": 3, "silent": 1, "mute": 1, "kill": 1}
KEYS = 12

Outcome = namedtuple("Outcome", "mode parts faults notes")


class Campaign:
    """members: Members of multicast groups, or None. client: a keys_sim.Client, or None."""

    def __init__(self, simulation, opensm, emulated, seed, adaptive=False):
        self.simulation, self.opensm, self.emulated, self.adaptive = simulation, opensm, emulated, adaptive
        self.members = self.client = self.trees_now = None
        self.keys = {}  # number -> [(switch, LID, port)]
        self.random = random.Random(f"campaign {seed}")
        self.damage = Damage(simulation, seed)
        self.flaps = Flaps(simulation, opensm, self.damage)
        self.home = next(node for node, name in self.damage.intact.name.items() if simulation.host in (node, name))
        self.tally = Counter()
        self.clock, self.mft_clock, self.ar_record = (simulation.folder / name
                                                      for name in ("clock", "mft-clock", "ar-record"))
        self.quick = self.start_quick() if adaptive and REPLAY.exists() else None
        self.rest()

    def start_quick(self):
        """heddle-replay, which looks at the same Sets beside repair_replay.py."""
        quick = Checker(self.simulation.discover("quick.topo"), self.home, self.clock, self.ar_record)
        quick.load()
        self.quick_is_whole = True  # no Set was missing in its records
        return quick

    def join_groups(self, count):
        self.members = Members(self.simulation, self.home, self.random, count)
        self.members.fill(self.flaps.fabric)
        self.rest()

    def connect(self):
        """As heddle-keyd: puts keys in force."""
        self.client = keys_sim.Client(keys_sim.socket_of(self.simulation.folder))
        self.client.greeting()
        self.tree = keys_sim.Tree(Topology(self.simulation.discover("keys.topo")))
        self.set_keys()

    def set_keys(self):
        """Keys of flows to different hosts, all in the whole fabric."""
        self.client.until_answered()
        hosts = self.random.sample(self.tree.topology.hosts, 2 * KEYS)
        flows = list(zip(hosts[:KEYS], hosts[KEYS:]))
        for number in range(KEYS):
            self.client.set_done(number + 1, [])
        self.keys = {}
        for number, flow in enumerate(flows, 1):
            entries = keys_sim.key_of(self.tree, [flow], 1, self.random.random())
            self.client.set_done(number, entries)
            self.keys[number] = [(f"S-{switch:016x}", lid, port) for switch, lid, port in entries]
        self.tally["keys set"] += KEYS
        self.rest()

    # ---- what happens ----

    def hear_of_keys(self):
        """Forgets the keys that are not in force any more."""
        for kind, message in self.client.until_answered():
            if kind == keys_sim.BROKEN:
                self.tally["keys broken"] += self.keys.pop(message.key, None) is not None

    def draw(self, mode):
        most = MOST_DOWN - len(self.damage.down)
        count = {"burst": self.random.randint(2, BURST_MOST), "second": 2}.get(mode, 1)
        count = max(1, min(count, most))
        names = []
        for _ in range(count):
            if len(self.damage.down) + 2 < len(self.damage.parts):
                name = self.damage.choose_failure()
                self.damage.down[name] = self.damage.parts[name]  # no part is drawn twice
                names.append(name)
        for name in names:
            del self.damage.down[name]
        return names

    def cut(self, names):
        """All at once, as far as ibsim does that."""
        dead = self.damage.dead_cables()
        for name in names:
            self.damage.down[name] = self.damage.parts[name]
        lost = sorted(self.damage.dead_cables() - dead)
        self.cuts.add(time.time_ns(), self.dead_ends())
        if self.quick:
            self.quick.cut(*self.cuts.list[-1])
        if lost:
            self.simulation.command(self.damage.commands("Unlink", lost))

    def bring_back(self, names):
        dead = self.damage.dead_cables()
        for name in names:
            self.damage.down.pop(name)
        cables = sorted(dead - self.damage.dead_cables())
        if self.quick:
            self.quick.cut(time.time_ns(), self.dead_ends())  # OpenSM may find them while the command is under way
        if cables:
            self.simulation.command(self.damage.commands("ReLink", cables))
        self.cuts.add(time.time_ns(), self.dead_ends())

    def restore(self):
        since = len(self.opensm.log())
        self.bring_back(list(self.damage.down))
        self.wait_for_sweep(since)
        self.rest()
        if self.members:
            self.members.remove(self.opensm.log()[since:])
            self.members.fill(self.flaps.fabric)
            self.rest()
        if self.client:
            self.set_keys()

    def rest(self):
        """Sweeps until all that is up is routed, and nothing goes on. Returns the faults."""
        for _ in range(10):
            self.wait_until_quiet()
            self.offset, since = self.clock.stat().st_size, len(self.opensm.log())
            self.mft_offset = self.mft_clock.stat().st_size if self.mft_clock.exists() else 0
            self.ar_offset = self.ar_record.stat().st_size if self.adaptive else 0
            engine = self.flaps.settle()[1]
            faults = self.flaps.read_and_check(engine)
            self.wait_until_quiet()
            log = self.opensm.log()[since:]
            expected = self.alive(frozenset(self.dead_ends()))
            if (not faults and log.count("entries changed") == log.count(" 0 entries changed")
                    and expected.switches == self.flaps.fabric.switches and self.clock.stat().st_size == self.offset):
                break
        self.engine = engine
        return faults

    def wait_until_quiet(self):
        length = -1
        while len(self.opensm.log()) != length:
            length = len(self.opensm.log())
            time.sleep(0.1)

    def dead_ends(self):
        return {end for near in self.damage.dead_cables() for end in (near, self.damage.intact.cable[near])}

    def alive(self, dead):
        return repair_record.alive_fabric(self.damage.intact, dead, self.home)

    def wait_for_sweep(self, since, seconds=2):
        """A loss that cuts off its own switches sends no trap."""
        end = time.monotonic() + seconds
        while "SUBNET UP" not in self.opensm.log()[since:] and time.monotonic() < end:
            time.sleep(0.02)

    def switches(self, count):
        names = sorted(self.damage.intact.switches - self.damage.guarded)
        return [int(name.split("-")[1], 16) for name in self.random.sample(names, min(count, len(names)))]

    def prepare(self, mode):
        if mode == "sweep":
            for guid in self.switches(self.random.randint(0, 1)):  # then the sweep has passed most cables before
                self.emulated.fault(guid, f"slow={self.random.randint(50, 200)}", attribute=SWITCH_INFO, method="get")
            self.opensm.process.send_signal(signal.SIGHUP)
            time.sleep(self.random.random() * 0.05)
        tables = self.random.choice([LFT] + ([MFT] if self.members else []) + (["vendor"] if self.adaptive else []))
        for guid in self.switches(self.random.randint(1, 6)) if mode == "late" else []:
            self.emulated.fault(guid, f"slow={self.random.randint(1, 60)}", attribute=tables)
        for guid in self.switches(1) if mode in ("silent", "mute") else []:
            self.emulated.fault(guid, "silent", **({"attribute": tables, "method": "set"} if mode == "silent"
                                                   else {"attribute": "all"}))

    def before(self):
        return Before(self.flaps.tables, self.flaps.lanes(), *((self.members.read(), self.members.by_mlid())
                      if self.members else (None, None)), self.emulated.tables() if self.adaptive else None)

    def lose(self, mode, names):
        """Returns moments to be known: [Line]."""
        pieces = 2 if mode == "second" else self.random.randint(1, min(4, len(names) or 1))
        for i in range(pieces):
            self.cut(names[i::pieces])
            if i + 1 < pieces:
                time.sleep(self.random.random() * (0.012 if mode == "second" else 0.03))
        if mode == "flap":
            time.sleep(self.random.random() * 0.025)
            self.bring_back(names)
        return [self.kill()] if mode == "kill" else []

    def kill(self):
        """And starts it again. Another OpenSM knows no groups and no keys."""
        time.sleep(self.random.random() * 0.06)
        self.opensm.process.kill()
        self.opensm.process.wait()
        moment = repair_record.Line(time.time_ns(), KILLED)
        self.opensm.output.close()
        self.opensm.__enter__()
        if self.members:
            self.members.forget_all()
        if self.client:
            self.keys = {}
            self.client.socket.close()
            self.client = keys_sim.Client(keys_sim.socket_of(self.simulation.folder))
            self.client.greeting()
        return moment

    def event(self):
        mode = self.random.choices(list(MODES), list(MODES.values()))[0]
        names = self.draw(mode)
        before = self.before()
        if self.quick:
            self.quick.go()  # what came since the last event
        shutil.copy(self.simulation.folder / "heddle-tables", self.simulation.folder / "before.state")
        self.cuts = Cuts(self.dead_ends())
        offsets, since = (self.offset, self.mft_offset, self.ar_offset), len(self.opensm.log())
        self.prepare(mode)
        moments = self.lose(mode, names)
        self.wait_for_sweep(since)
        if mode in ("sweep", "late", "silent", "mute"):
            self.emulated.heal()
        self.calm = time.time_ns() if mode != "one" else self.cuts.last()
        faults = self.rest()
        if self.members:
            self.members.remove(self.opensm.log()[since:])
            self.trees_now = self.members.read()
        if self.client:
            self.hear_of_keys()
        self.event_log = self.opensm.log()[since:]
        replay = Replay(self, before, self.steps(offsets, moments), mode, self.quick and self.quick.go()[0])
        faults += replay.run()
        if replay.unclear and self.quick:
            self.quick_is_whole = False
        if mode == "kill" and self.members:
            self.members.fill(self.flaps.fabric)
            self.rest()
        self.count(mode, names, replay)
        return Outcome(mode, names, faults, replay.notes)

    def steps(self, offsets, moments):
        """[(when, rank, Set or Line)] since the offsets in the records."""
        sets = repair_record.read_sets(self.clock, offsets[0])[0]
        if self.members:
            sets += repair_record.read_sets(self.mft_clock, offsets[1], multicast=True)[0]
        if self.adaptive:
            sets += repair_adaptive.read_sets(self.ar_record, offsets[2])[0]
        lines = repair_record.read_lines(self.event_log, WANTED) + moments
        return [(one.when, 1, one) for one in sets] + [(line.when, 0, line) for line in lines]

    def count(self, mode, names, replay):
        self.tally.update(replay.tally)
        self.tally["events"] += 1
        self.tally["failures"] += len(names)
        self.tally[f"mode {mode}"] += 1

    def expected(self, engine):
        """The tables that the engine makes for the present fabric from those before the loss; None: it refuses."""
        topology = self.simulation.folder / "after.topo"
        topology.write_text(self.simulation.run("ibnetdiscover"))
        done = subprocess.run([SWEEP_ALONE, self.simulation.folder / "before.state", topology, engine, str(LANES)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            self.tally["refused offline: " + generalise(done.stderr.strip())] += 1
            return None
        return independent_check.read_tables(done.stdout, self.flaps.fabric)


def longest_lock(opensm):
    """Microseconds for which repairs held OpenSM's lock at most, as Heddle says."""
    text = heddle("status", "--json", "--socket", opensm.status_socket(), check=False).stdout
    return json.loads(text)["parts"]["repair"]["longest_lock_us"]


def run(netlist, engine, seed, failures, report=None, options=None, groups=0, keys=False,
        more_conf=""):
    """Loses parts until so many have failed. Returns the tally. report(Outcome, Campaign) is called after each
    event. groups: so many multicast groups have members; keys: some are in force, in a tree with LMC 1; more_conf:
    sections of heddle.conf."""
    settings = {"qos": "TRUE", "transaction_timeout": 200, "transaction_retries": 3, **(options or {})}
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated, clock=True) as simulation:
        (simulation.folder / "ar-record").touch()
        if engine.startswith("ar_"):
            emulated.record(simulation.folder / "ar-record")
        conf = REPAIR + more_conf + (keys_sim.settings(simulation.folder) if keys else "")
        with simulation.opensm(engine, options=settings, heddle_conf=conf, log_flags=LOG_DUMPS) as opensm:
            campaign = Campaign(simulation, opensm, emulated, seed, adaptive=engine.startswith("ar_"))
            if groups:
                campaign.join_groups(groups)
            if keys:
                campaign.connect()
            while campaign.tally["failures"] < failures:
                outcome = campaign.event()
                if report:
                    report(outcome, campaign)
                if len(campaign.damage.down) > MOST_DOWN // 2 or campaign.random.random() < 0.4:
                    campaign.restore()
            campaign.tally["longest lock us"] = longest_lock(opensm)
            if campaign.quick:
                campaign.quick.close()
            return campaign.tally
