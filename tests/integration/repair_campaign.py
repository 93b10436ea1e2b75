# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random losses under a live OpenSM that repairs before the sweep: single ones, bursts, some while a sweep
runs, some with switches that answer late or not at all. Each block that a simulated switch takes is replayed,
and a checker that shares no code with Heddle looks at the tables after each block and each repair."""

import json
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter, namedtuple

import independent_check
import repair_record
from emulator import LFT, Emulator
from fabric_sim import BUILD, Simulation, heddle
from flaps import MINHOP, Damage, Flaps

SWEEP_ALONE = BUILD / "tests" / "flaps" / "heddle-sweep-alone"
CONF = "[repair]\nenable = yes\n"
MOST_DOWN = 24  # parts
BURST_MOST = 20
LANES = 8  # of ibsim's ports
# How often: one loss; several at once; a loss while a sweep runs; while switches take tables late; while one
# takes no tables; while one does not answer at all.
MODES = {"one": 6, "burst": 4, "sweep": 3, "late": 3, "silent": 1, "mute": 1}
SWEPT = r"heddle: (\w+): \d+ switches.* (\d+) entries changed"
WANTED = SWEPT + r"|heddle: (repaired|no repair) |SUBNET UP"

Outcome = namedtuple("Outcome", "mode parts faults notes")


class Cuts:
    """Which cables were dead when. A Set that comes while a command is under way finds them dead."""

    def __init__(self):
        self.list = [(0, frozenset())]

    def add(self, when, dead):
        self.list.append((when, frozenset(dead)))

    def at(self, when):
        return next(dead for since, dead in reversed(self.list) if since <= when)

    def last(self):
        return self.list[-1][0]


class Campaign:
    def __init__(self, simulation, opensm, emulated, seed):
        self.simulation, self.opensm, self.emulated = simulation, opensm, emulated
        self.random = random.Random(f"campaign {seed}")
        self.damage = Damage(simulation, seed)
        self.flaps = Flaps(simulation, opensm, self.damage)
        self.home = next(node for node, name in self.damage.intact.name.items() if simulation.host in (node, name))
        self.tally = Counter()
        self.clock = simulation.folder / "clock"
        self.rest()

    # ---- what happens ----

    def draw(self, mode):
        most = MOST_DOWN - len(self.damage.down)
        count = min(self.random.randint(2, BURST_MOST), most) if mode == "burst" else 1
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
        if lost:
            self.simulation.command(self.damage.commands("Unlink", lost))

    def restore(self):
        cables = sorted(self.damage.dead_cables())
        self.damage.down.clear()
        if cables:
            since = len(self.opensm.log())
            self.simulation.command(self.damage.commands("ReLink", cables))
            self.wait_for_sweep(since)
        self.rest()

    def rest(self):
        """Sweeps until all that is up is routed, and nothing goes on. Returns the faults."""
        for _ in range(10):
            self.wait_until_quiet()
            self.offset, since = self.clock.stat().st_size, len(self.opensm.log())
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
            self.opensm.process.send_signal(signal.SIGHUP)
            time.sleep(self.random.random() * 0.05)
        for guid in self.switches(self.random.randint(1, 6)) if mode == "late" else []:
            self.emulated.fault(guid, f"slow={self.random.randint(1, 60)}", attribute=LFT)
        for guid in self.switches(1) if mode in ("silent", "mute") else []:
            self.emulated.fault(guid, "silent", **({"attribute": LFT, "method": "set"} if mode == "silent"
                                                   else {"attribute": "all"}))

    def event(self):
        mode = self.random.choices(list(MODES), list(MODES.values()))[0]
        names = self.draw(mode)
        before, lanes = self.flaps.tables, self.flaps.lanes()
        shutil.copy(self.simulation.folder / "heddle-tables", self.simulation.folder / "before.state")
        self.cuts = Cuts()
        self.cuts.add(1, self.dead_ends())
        offset, since = self.offset, len(self.opensm.log())
        self.prepare(mode)
        pieces = self.random.randint(1, min(4, len(names) or 1))
        for i in range(pieces):
            self.cut(names[i::pieces])
            if i + 1 < pieces:
                time.sleep(self.random.random() * 0.03)
        self.wait_for_sweep(since)
        if mode in ("late", "silent", "mute"):
            self.emulated.heal()
        faults = self.rest()
        sets, _ = repair_record.read_sets(self.clock, offset)
        log = self.opensm.log()[since:]
        replay = Replay(self, before, lanes, sets, repair_record.read_lines(log, WANTED))
        faults += replay.run()
        self.count(mode, names, replay)
        return Outcome(mode, names, faults, replay.notes)

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


class Replay:
    """One event again, block by block."""

    def __init__(self, campaign, before, lanes, sets, lines):
        self.campaign, self.lanes = campaign, lanes
        self.intact = campaign.damage.intact
        self.state = repair_record.Switches(before, campaign.home)
        self.time_line = sorted([(one.when, 1, one) for one in sets] + [(line.when, 0, line) for line in lines],
                                key=lambda item: item[:2])
        self.fabrics, self.faults, self.notes, self.tally = {}, [], [], Counter()
        self.sweeping = False  # OpenSM sends tables
        self.whole = None  # the last repair, if it left nothing to the sweep
        self.touched = False  # a repair has begun
        self.settled = None  # the engine of the first sweep that saw the loss
        self.spoilt = False  # other sweeps saw more
        self.moved = False  # other sweeps changed entries
        self.after_first = None  # tables after that sweep; None: there was no other

    def fabric(self, when):
        dead = self.campaign.cuts.at(when)
        if dead not in self.fabrics:
            self.fabrics[dead] = self.campaign.alive(dead)
        return self.fabrics[dead]

    def run(self):
        for when, _, item in self.time_line:
            if isinstance(item, repair_record.Set):
                self.take(when, item)
            else:
                self.read(when, item.text)
        self.compare()
        return self.faults

    def take(self, when, one):
        fabric = self.fabric(when)
        changed = self.state.take(fabric, one)
        if changed and not self.sweeping:
            self.tally["blocks of repairs"] += 1
            loops = self.state.looping(fabric, changed)
            if loops:
                self.faults.append(f"loops after a block of a repair: LIDs {loops[:5]}, {one}")

    def read(self, when, text):
        if "SUBNET UP" in text:
            self.sweeping = False
        elif "heddle: repaired" in text:
            self.repaired(when, text)
        elif "heddle: no repair" in text:
            self.tally["stopped: " + generalise(text.split("does it instead: ")[-1])] += 1
            self.notes.append(text.split("heddle: ")[1])
            self.touched = True
        else:
            self.swept(text)

    def repaired(self, when, text):
        self.tally["repairs"] += 1
        self.notes.append(text.split("heddle: ")[1])
        self.touched = True
        self.spoilt |= self.settled is not None
        self.whole = text if "left to the sweep" not in text else None
        milliseconds = int(re.search(r"switches in (\d+) ms", text)[1])
        if not self.whole:
            self.tally["repairs with LIDs left"] += 1
        elif self.campaign.cuts.last() > when - (milliseconds + 1) * 10**6:
            self.tally["repairs while more is lost"] += 1
        else:
            self.tally["repairs checked"] += 1
            found = independent_check.check(self.fabric(when), self.state.tables, self.lanes)
            self.faults += [f"after a repair: {fault}" for fault in found[:4]]

    def swept(self, text):
        engine, changed = re.search(SWEPT, text).groups()
        differs = "lost " in text or "new " in text
        self.notes.append(text.split("heddle: ")[1])
        self.tally["sweeps"] += 1
        self.sweeping = True
        if "new " in text and self.touched:
            self.tally["sweeps with a fabric from before a repair"] += 1
        self.note_tables(engine, differs, changed != "0")
        if self.whole and not differs:
            self.tally["sweeps after whole repairs"] += 1
            if changed != "0":
                self.tally["of these: changed entries"] += 1
                self.faults.append(f"the sweep after a whole repair changed {changed} entries: {self.whole} / {text}")
        self.whole = None

    def note_tables(self, engine, differs, moves):
        """After the first sweep that saw the loss come others; its tables are there when the next one begins
        to change them."""
        if self.settled is None:
            self.settled = engine if self.touched or differs or moves else None
            return
        self.spoilt |= differs or engine != self.settled
        self.moved |= moves
        if self.after_first is None:
            self.after_first = {switch: dict(row) for switch, row in self.state.tables.items()}

    def compare(self):
        tables = self.campaign.flaps.tables
        unclear = [change for change in independent_check.changes(self.state.tables, tables)
                   if change[0] in self.campaign.flaps.fabric.switches]
        if unclear:
            self.tally["events whose record is not complete"] += 1
        if self.settled is None or self.spoilt or unclear or MINHOP == self.campaign.engine:
            self.tally["not compared"] += 1
            return
        wanted = self.campaign.expected(self.settled)
        if wanted is None:
            self.tally["not compared"] += 1
            return
        after = self.after_first if self.moved else self.state.tables
        unlike = [change for change in independent_check.changes(wanted, after)
                  if change[0] in self.campaign.flaps.fabric.switches and change[1] in self.campaign.flaps.fabric.owner]
        self.tally["compared with a sweep without repair"] += 1
        if unlike:
            self.tally["of these: unlike"] += 1
            self.faults.append(f"{len(unlike)} entries unlike those of a sweep without repair, such as {unlike[:3]}")


def generalise(text):
    return re.sub(r"'[^']*'", "X", re.sub(r"\d+", "N", text))


def longest_lock(opensm):
    """Microseconds for which repairs held OpenSM's lock at most, as Heddle says."""
    text = heddle("status", "--json", "--socket", opensm.status_socket(), check=False).stdout
    return json.loads(text)["parts"]["repair"]["longest_lock_us"]


def run(netlist, engine, seed, failures, report=None, options=None):
    """Loses parts until so many have failed. Returns the tally. report(Outcome) is called after each event."""
    settings = {"qos": "TRUE", "transaction_timeout": 100, "transaction_retries": 3, **(options or {})}
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated, clock=True) as simulation:
        with simulation.opensm(engine, options=settings, heddle_conf=CONF) as opensm:
            campaign = Campaign(simulation, opensm, emulated, seed)
            while campaign.tally["failures"] < failures:
                outcome = campaign.event()
                if report:
                    report(outcome)
                if len(campaign.damage.down) > MOST_DOWN // 2 or campaign.random.random() < 0.4:
                    campaign.restore()
            campaign.tally["longest lock us"] = longest_lock(opensm)
            return campaign.tally
