# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One event of the campaign of losses with repair once more, block by block: what OpenSM's log says and what
the switches took, in the order of time. Shares no code with Heddle."""

import re
from collections import Counter, defaultdict

import independent_check
import repair_adaptive
import repair_record
import repair_trees
from flaps import MINHOP

SWEPT = r"heddle: (\w+): \d+ switches.* (\d+) entries changed"
TRAP = r"num:128 .* from LID:(\d+)"
LEFT_OUT = "left out|does not leave out"  # what a sweep says that began before a loss which a repair has found
WANTED = "|".join((SWEPT, TRAP, repair_trees.REMOVED, r"heddle: (repaired|no repair) ", "SUBNET UP", "ERR HD05",
                   r"heddle: adaptive routing: \w+, ", LEFT_OUT))
KILLED = "OpenSM is killed"
MILLISECOND = 10**6
SLACK = 3 * MILLISECOND  # for what the log does not say: rounding, and the time until a trap is read


class Cuts:
    """Which cables were dead when. A Set that comes while a command is under way finds the cables dead that it
    unlinks or brings back."""

    def __init__(self, dead):
        self.list = [(0, frozenset(dead))]

    def add(self, when, dead):
        self.list.append((when, frozenset(dead)))

    def at(self, when):
        return next(dead for since, dead in reversed(self.list) if since <= max(when, 0))

    def between(self, begin, end):
        """What was dead at `begin`, and what at each change from then on."""
        return [self.at(begin)] + [dead for since, dead in self.list if begin < since <= end]

    def last(self):
        return self.list[-1][0]

    def silent(self, when, traps, intact, alive):
        """Ends of cables at switches which are there, that died without a trap of a switch at their ends until
        then: a switch whose path to OpenSM is lost, too, cannot report."""
        found = set()
        for (_, before), (since, dead) in zip(self.list, self.list[1:]):
            told = {node for trapped, node in traps if since <= trapped <= when}
            found |= {near for near in (dead - before if since <= when else ())
                      if near[0] in alive.switches and not {near[0], intact.cable[near][0]} & told}
        return found


class Before:
    """What was known before an event: tables, lanes, and if they are there, trees and adaptive routing."""

    def __init__(self, tables, lanes, trees=None, members=None, adaptive=None):
        self.tables, self.lanes, self.trees, self.members, self.adaptive = tables, lanes, trees, members, adaptive


class Replay:
    """`steps`: [(when, rank, Set or Line)]. campaign: see repair_campaign. quick: what heddle-replay has found of the
    same Sets, or None."""

    def __init__(self, campaign, before, steps, mode, quick=None):
        self.campaign, self.lanes, self.mode = campaign, before.lanes, mode
        self.intact = campaign.damage.intact
        self.state = repair_record.Switches(before.tables, campaign.home)
        self.trees = repair_trees.Trees(before.trees, before.members) if before.trees is not None else None
        self.adaptive = (repair_adaptive.Adaptive(before.adaptive, self.state.tables)
                         if before.adaptive is not None else None)
        self.time_line = sorted(steps, key=lambda item: item[:2])
        self.traps = self.find_traps()
        self.fabrics, self.faults, self.notes, self.tally = {}, [], [], Counter()
        self.quick = None if quick is None else defaultdict(set)  # time of a Set -> LIDs that go in a circle
        for finding in quick or ():
            if finding.kind in ("loop", "still"):
                self.quick[finding.when].update(int(lid) for lid in finding.words[2:])
        self.unclear = []  # entries that are not what the record says
        self.later = []  # faults that count only if the record is complete
        self.sweeping = False  # OpenSM sends tables
        self.adapting = False  # ... or its thread of adaptive routing does, for a sweep
        self.rested = self.copy()  # the tables before the repair that may be under way
        self.reported = 0  # when the log told of the last repair
        self.old_lanes = True  # no sweep has changed them
        self.up = 0  # when the last sweep ended
        self.whole = None  # the last repair, if it left nothing to the sweep
        self.touched = False  # a repair has begun
        self.settled = None  # the engine of the first sweep that saw the loss
        self.spoilt = mode in ("flap", "kill")  # other sweeps saw more
        self.moved = False  # other sweeps changed entries
        self.after_first = None  # tables after that sweep; None: there was no other

    def find_traps(self):
        found = []
        for when, _, item in self.time_line:
            trap = re.search(TRAP, item.text) if isinstance(item, repair_record.Line) else None
            if trap:
                found.append((when, self.intact.owner.get(int(trap[1]))))
        return found

    def note_left_over(self, dead):
        self.trees.note_left_over(self.fabric_without(dead))
        if self.trees.left_over:
            self.tally["moments with groups that have entries left over"] += 1

    def copy(self):
        return {switch: dict(row) for switch, row in self.state.tables.items()}

    def fabric_without(self, dead):
        if dead not in self.fabrics:
            self.fabrics[dead] = self.campaign.alive(dead)
        return self.fabrics[dead]

    def fabric(self, when):
        return self.fabric_without(self.campaign.cuts.at(when))

    def run(self):
        if self.trees:
            self.note_left_over(self.campaign.cuts.list[0][1])
        for when, _, item in self.time_line:
            if isinstance(item, repair_record.Set):
                self.take(when, item)
            elif isinstance(item, repair_adaptive.Set):
                self.take_adaptive(when, item)
            else:
                self.read(when, item.text)
        self.compare()
        return self.faults

    # ---- blocks ----

    def take(self, when, one):
        fabric = self.fabric(when)
        if one.multicast:
            self.take_multicast(fabric, one)
            return
        changed = self.state.take(fabric, one)
        if changed and not self.sweeping:
            self.tally["blocks of repairs"] += 1
            loops = self.state.looping(fabric, changed)
            if loops:
                way = repair_record.circle(fabric, self.state.tables, loops[0])
                self.faults.append(f"loops after a block of a repair: LIDs {loops[:5]}, circle {way}, {one}")
            if self.adaptive:
                self.expect_no_circle(when, fabric, self.state.target(fabric, one.path), changed)

    def take_multicast(self, fabric, one):
        switch = self.state.target(fabric, one.path)
        if self.trees is None or switch not in fabric.switches:
            return
        changed = self.trees.take(switch, one.block, one.ports)
        if changed and not self.sweeping:
            self.tally["multicast blocks of repairs"] += 1
            circles = self.trees.circles(fabric, changed)
            if circles:
                self.faults.append(f"a packet comes twice after a multicast block of a repair: {circles[:4]}, {one}")

    def take_adaptive(self, when, one):
        changed = self.adaptive.take(one)
        if changed and not self.sweeping and not self.adapting:
            self.tally["AR Sets of repairs"] += 1
            self.expect_no_circle(when, self.fabric(when), one.switch, changed)

    def expect_no_circle(self, when, fabric, switch, lids):
        loops = self.adaptive.looping(fabric, switch, lids) if switch in fabric.switches else []
        if self.quick is not None and self.mode != "flap" and self.campaign.quick_is_whole:
            self.tally["Sets compared with heddle-replay"] += 1
            quickly = self.quick.get(when, set())
            if quickly != set(loops):
                self.later.append(f"heddle-replay at {when}: LIDs {sorted(quickly)} go in a circle, not {loops}")
        if loops:
            self.faults.append(f"packets may go in a circle after a Set of a repair: {switch}, LIDs {loops[:5]}")

    # ---- lines ----

    def read(self, when, text):
        removed = re.search(repair_trees.REMOVED, text)
        if re.search(TRAP, text):
            return
        if removed:
            name = self.campaign.members and self.campaign.members.by_port.get(int(removed[1], 16))
            if name and self.trees:
                self.trees.remove(name)
        elif "SUBNET UP" in text:
            self.come_up(when)
        elif "heddle: repaired" in text:
            self.repaired(when, text)
        elif "heddle: no repair" in text:
            self.tally["stopped: " + generalise(text.split("does it instead: ")[-1])] += 1
            self.notes.append(text.split("heddle: ")[1])
            self.touched = True
            self.expect_no_worse(when, self.rested)
            self.rested = self.copy()
        elif re.search(LEFT_OUT, text):
            self.tally["sweeps that " + re.search(LEFT_OUT, text)[0]] += 1
            self.notes.append(text.split("heddle: ")[1])
        elif "adaptive routing: " in text:
            self.adapting = False
        elif KILLED in text:
            self.killed()
        elif "ERR HD05" in text:
            self.sweeping = self.spoilt = True
        else:
            self.swept(text)

    def killed(self):
        """The next OpenSM knows no groups, and compares with tables from before a repair."""
        self.sweeping = self.adapting = self.spoilt = True
        self.whole = None
        if self.trees:
            self.trees.members.clear()

    def repaired(self, when, text):
        self.tally["repairs"] += 1
        self.notes.append(text.split("heddle: ")[1])
        self.touched = True
        self.spoilt |= self.settled is not None
        self.whole = text if "left to the sweep, such" not in text else None
        milliseconds = 1 + sum(int(number) for number in re.findall(r"(?:switches in|blocks and) (\d+) ms", text))
        begun = self.reported if "multicast is left" in text else when - milliseconds * MILLISECOND
        self.reported = when
        cuts = self.campaign.cuts
        if len(cuts.list) > 2 and cuts.last() > begun:
            self.repaired_meanwhile(cuts.between(begun - SLACK, when))
        elif cuts.silent(begun + SLACK, self.traps, self.intact, self.fabric(when)):
            self.tally["repairs that no trap told of all losses"] += 1
        elif not self.whole:
            self.tally["repairs with LIDs left, checked"] += 1
            self.expect_no_worse(when, self.rested)
            self.expect_trees(when, text)
        else:
            self.tally["repairs checked"] += 1
            found = self.find_faults(self.fabric(when))
            self.faults += [f"after a repair: {fault}" for fault in found[:4]]
            self.expect_trees(when, text)
            self.expect_keys("repair", self.state.tables)
            if self.adaptive:
                self.faults += [f"after a repair, with adaptive routing: {fault} leads to no switch and not to the host"
                                for fault in self.adaptive.lost(self.fabric(when))[:4]]
        self.rested = self.copy()

    def find_faults(self, fabric):
        """The levels of later sweeps are not known: then credit loops are not looked for."""
        if self.old_lanes:
            return independent_check.check(fabric, self.state.tables, self.lanes)
        return independent_check.unreachable(fabric, self.state.tables)

    def repaired_meanwhile(self, states):
        """What the repair has seen of several losses is not known: mostly one of these states."""
        self.tally["repairs while more is lost"] += 1
        if self.whole and not any(not self.find_faults(self.fabric_without(dead)) for dead in states):
            self.tally["of these: clean for no state of that time"] += 1

    def expect_trees(self, when, text):
        if self.trees is None or "multicast is left" in text:
            return
        self.tally["repairs with trees checked"] += 1
        self.faults += [f"after a repair: multicast {fault}" for fault in self.trees.misses(self.fabric(when))[:4]]

    def expect_keys(self, what, tables):
        """Keys that are in force at the end of the event were so all the time."""
        for number, entries in self.campaign.keys.items():
            lost = [entry for entry in entries if tables.get(entry[0], {}).get(entry[1]) != entry[2]]
            if lost:
                self.faults.append(f"after a {what}: key {number} is said to be in force, but not {lost[:3]}")

    def expect_no_worse(self, when, before):
        """Whatever a repair does: what arrived without it arrives, and no credits go round."""
        fabric = self.fabric(when)
        if len(self.campaign.cuts.list) > 2 and self.campaign.cuts.last() > self.up:
            self.tally["partial repairs while more is lost"] += 1
            return
        if self.campaign.cuts.silent(when, self.traps, self.intact, fabric):
            return
        was = {item[:2] for item in independent_check.unreachable(fabric, before)}
        now = independent_check.unreachable(fabric, self.state.tables)
        worse = [item for item in now if item[:2] not in was]
        if worse:
            self.faults.append(f"worse after a repair than before: {worse[:4]}")
        if not worse and not self.sweeping and self.old_lanes:
            self.tally["partial repairs without credit loops"] += 1
            broken = {item[:2] for item in now}
            graphs = independent_check.dependencies(fabric, self.state.tables, self.lanes, broken)
            self.faults += [f"credit loop after a repair, on lane {lane}" for lane, graph in graphs.items()
                            if independent_check.find_cycle(graph)]

    def come_up(self, when):
        """A sweep has ended. If it began after the last loss, its tables are right."""
        self.sweeping = False
        quiet = self.campaign.calm
        if self.up > quiet or (not self.up and quiet and self.mode == "one"):
            self.tally["ends of sweeps checked"] += 1
            found = independent_check.unreachable(self.fabric(when), self.state.tables)
            self.later += [f"after a sweep: {fault}" for fault in found[:4]]
            if self.trees:
                self.later += [f"after a sweep: multicast {fault}" for fault in self.trees.misses(self.fabric(when))[:4]]
        if self.trees:
            self.note_left_over(self.campaign.cuts.at(when))
        self.up = when
        self.rested = self.copy()

    def swept(self, text):
        engine, changed = re.search(SWEPT, text).groups()
        differs = "lost " in text or "new " in text
        self.notes.append(text.split("heddle: ")[1])
        self.tally["sweeps"] += 1
        self.sweeping = self.adapting = True
        self.old_lanes &= not (self.touched or differs or changed != "0")
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
            self.after_first = self.copy()

    # ---- the end ----

    def compare(self):
        campaign = self.campaign
        tables, switches = campaign.flaps.tables, campaign.flaps.fabric.switches
        unclear = [change for change in independent_check.changes(self.state.tables, tables) if change[0] in switches]
        if self.trees and campaign.trees_now is not None:
            unclear += repair_trees.unlike(self.trees.tables, campaign.trees_now, switches)
        self.unclear = unclear
        if unclear:
            self.tally["events whose record is not complete"] += 1
        else:
            self.faults += self.later
        self.expect_keys("sweep", tables)
        if self.settled is None or self.spoilt or unclear or MINHOP == campaign.engine or campaign.client:
            self.tally["not compared"] += 1
            return
        wanted = campaign.expected(self.settled)
        if wanted is None:
            self.tally["not compared"] += 1
            return
        after = self.after_first if self.moved else self.state.tables
        unlike = [change for change in independent_check.changes(wanted, after)
                  if change[0] in switches and change[1] in campaign.flaps.fabric.owner]
        self.tally["compared with a sweep without repair"] += 1
        if unlike:
            self.tally["of these: unlike"] += 1
            self.faults.append(f"{len(unlike)} entries unlike those of a sweep without repair, such as {unlike[:3]}")


def generalise(text):
    return re.sub(r"'[^']*'", "X", re.sub(r"\d+", "N", text))
