# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tables of simulated switches during sweeps that write in order, block by block: what ibsim took, and what
OpenSM's log says of it. Shares no code with Heddle."""

import re
from collections import Counter, defaultdict

import independent_check
import repair_record
import repair_trees
from independent_check import NO_ENTRY
from repair_trees import REMOVED

ORDERED = (r"heddle: in order: (\d+) entries on (\d+) switches, (\d+) blocks in (\d+) steps, (\d+) ms .*"
           r"OpenSM has (\d+) entries left")
LOOSE = r"ERR HD16: (\d+) entries are written without loops"
ROUTED = r"heddle: \w+: \d+ switches, .* (\d+) entries changed"
TREES = r"heddle: in order: the trees of (\d+) multicast groups, (\d+) blocks in (\d+) steps"
WANTED = "|".join((ORDERED, LOOSE, ROUTED, TREES, REMOVED, "ERR HD16", "SUBNET UP"))


class Waits:
    """What packets on each lane wait for: {lane: {(link, next link): number of LIDs}}."""

    def __init__(self, fabric, lane_of):
        self.fabric, self.lane_of = fabric, lane_of
        self.count = defaultdict(Counter)
        self.of_lid = {}

    def of(self, lid, entries):
        """{(lane, link, next link)} of packets to a LID. entries(switch) are the ports that it may have."""
        found, seen = set(), set()
        stack = [(source, lane, None) for source in self.fabric.switches if self.fabric.hosts_of(source)
                 for lane in self.lane_of(source, lid)]
        while stack:
            switch, lane, before = stack.pop()
            if (switch, lane, before) in seen:
                continue
            seen.add((switch, lane, before))
            for port in entries(switch):
                far = self.fabric.cable.get((switch, port)) if port else None
                if far is None or far[0] not in self.fabric.switches:
                    continue
                if before:
                    found.add((lane, before, (switch, port)))
                stack.append((far[0], lane, (switch, port)))
        return found

    def put(self, lid, waits):
        for lane, before, after in self.of_lid.get(lid, ()):
            self.count[lane][before, after] -= 1
            if not self.count[lane][before, after]:
                del self.count[lane][before, after]
        self.of_lid[lid] = waits
        for lane, before, after in waits:
            self.count[lane][before, after] += 1

    def cycle(self):
        for lane, waits in self.count.items():
            graph = defaultdict(set)
            for before, after in waits:
                graph[before].add(after)
            found = independent_check.find_cycle(graph)
            if found:
                return lane, found
        return None


class Replay:
    """What happens between two moments at rest. `state`: repair_record.Switches, which goes on; `fabric`: after the
    event; lane_of: the lanes in force before it; trees: repair_trees.Trees, which go on, or None; by_port: {GUID of a
    port: name of its node}."""

    def __init__(self, state, fabric, lane_of, steps, trees=None, by_port=None):
        self.state, self.fabric, self.lane_of, self.trees, self.by_port = state, fabric, lane_of, trees, by_port
        self.time_line = sorted(steps, key=lambda item: item[:2])
        self.faults, self.tally = [], Counter()
        self.left = None  # entries that OpenSM has to write, as far as the log of the sweep says
        self.alone = True  # OpenSM has no tree to write

    def run(self):
        """Heddle's blocks come between the line about the new tables and that about their order; others are OpenSM's."""
        waiting, loose = [], False
        for _, _, item in self.time_line:
            if isinstance(item, repair_record.Set):
                waiting += [] if item.multicast else [item]
                continue
            ordered = re.search(ORDERED, item.text)
            loose |= bool(re.search(LOOSE, item.text))
            if ordered:
                self.take_ours(waiting, loose)
                self.left = int(ordered[6])
                waiting = []
            elif re.search(ROUTED, item.text):
                self.take_theirs(waiting)
                waiting, loose, self.left = [], False, None
            self.note(item.text)
        self.take_theirs(waiting)
        if self.trees:
            self.run_trees()
        return self.faults

    # ---- multicast ----

    def run_trees(self):
        """The blocks just before a line about trees are Heddle's, as many as it says. The others are OpenSM's."""
        # A switch that comes back has its old entries, with which packets may go round until they are taken away.
        self.circling = set(self.trees.circles(self.fabric, list(self.trees.tables), everywhere=True))
        waiting = []
        for _, _, item in self.time_line:
            if isinstance(item, repair_record.Set):
                waiting += [item] if item.multicast else []
                continue
            found, removed = re.search(TREES, item.text), re.search(REMOVED, item.text)
            if found:
                self.tally["changes of trees in order"] += 1
                first = self.first_of_ours(waiting, int(found[2]))
                self.take_trees(waiting[:first], theirs=True)
                self.take_trees(waiting[first:], theirs=False)
                waiting, self.alone = [], True
            elif "writes the trees" in item.text:
                self.take_trees(waiting, theirs=True)
                waiting, self.alone = [], False
            elif removed:
                self.trees.remove(self.by_port.get(int(removed[1], 16)))
        self.take_trees(waiting, theirs=True)
        self.expect_all_taken_away()

    def expect_all_taken_away(self):
        """The blocks of groups are read in switches that come back. OpenSM itself writes no block without a tree."""
        blocks = {mlid // repair_trees.BLOCK for mlid, names in self.trees.members.items()
                  if any((name, 1) in self.fabric.cable for name in names)}
        left = [one for one in sorted(self.circling) if one[0] // repair_trees.BLOCK in blocks]
        self.tally["starts of packets that went round at first"] += len(self.circling)
        if left and self.alone:
            self.faults.append(f"old entries of a switch that came back make packets go round: {left[:4]}")

    @staticmethod
    def first_of_ours(sets, count):
        """So many of the last ones are different. A block whose answer came late was sent again."""
        first, different = len(sets), set()
        while first and len(different | {sets[first - 1][1:]}) <= count:
            first -= 1
            different.add(sets[first][1:])
        return first

    def take_trees(self, sets, theirs):
        for one in sets:
            switch = self.state.target(self.fabric, one.path)
            if switch not in self.fabric.switches:
                continue
            changed = self.trees.take(switch, one.block, one.ports)
            self.tally["multicast blocks in order"] += bool(changed and not theirs)
            found = set(self.trees.circles(self.fabric, changed, everywhere=True))
            circles = sorted(found - self.circling)
            self.circling -= {one for one in self.circling if one[0] in changed} - found
            if circles:
                self.faults.append(f"a packet comes twice after a multicast block: {circles[:4]}, {one}")
            if changed and theirs:
                self.expect_alone(switch, changed)

    def expect_alone(self, switch, changed):
        """OpenSM asks for no trees of groups that have gone, and takes them away."""
        members = {mlid: [name for name in names if (name, 1) in self.fabric.cable]
                   for mlid, names in self.trees.members.items()}
        found = [mlid for mlid in changed if self.trees.tables[mlid][switch] or members.get(mlid)]
        self.tally["multicast entries that OpenSM changed"] += len(changed)
        if found and self.alone:
            self.faults.append(f"OpenSM changes trees: {[hex(mlid) for mlid in found[:4]]} at {switch}")

    # ---- unicast ----

    def take_theirs(self, sets):
        changed = sum(len(self.state.take(self.fabric, one)) for one in sets)
        self.tally["entries that OpenSM changed"] += changed
        if self.left == 0 and changed:
            self.faults.append(f"OpenSM changed {changed} entries after all were written in order")

    def note(self, text):
        ordered, loose = re.search(ORDERED, text), re.search(LOOSE, text)
        self.tally["sweeps"] += bool(re.search(ROUTED, text))
        self.tally["sweeps in order"] += bool(ordered)
        self.tally["sweeps in order, not all proved"] += bool(loose)
        self.tally["entries in order"] += int(ordered[1]) if ordered else 0
        self.tally["entries left to OpenSM"] += int(ordered[6]) if ordered else 0
        self.tally["entries not proved"] += int(loose[1]) if loose else 0
        if "in an order of its own" in text:
            self.tally["not in order: " + re.sub(r"\d+", "N", text.split("of its own: ")[-1])] += 1

    def take_ours(self, sets, loose):
        waits = None
        for one in sets:
            switch = self.state.target(self.fabric, one.path)
            before = dict(self.state.tables.get(switch, {}))
            first = {name: dict(row) for name, row in self.state.tables.items()} if waits is None else None
            changed = self.state.take(self.fabric, one)
            if not changed:
                continue
            if waits is None:
                waits = self.all_waits(first)
            self.tally["blocks in order"] += 1
            loops = self.state.looping(self.fabric, changed)
            if loops:
                self.faults.append(f"packets go round after a block: LIDs {loops[:5]}, {one}")
            self.expect_no_credit_loop(waits, switch, before, changed, loose)

    def all_waits(self, tables):
        waits = Waits(self.fabric, self.lane_of)
        for lid in self.fabric.place:
            waits.put(lid, waits.of(lid, lambda switch, lid=lid: {tables.get(switch, {}).get(lid, NO_ENTRY)}))
        return waits

    def expect_no_credit_loop(self, waits, switch, before, changed, loose):
        """With both entries at the switch: packets are under way that met the old one."""
        def either(node, lid):
            now = {self.state.tables.get(node, {}).get(lid, NO_ENTRY)}
            return now | {before.get(lid, NO_ENTRY)} if node == switch else now

        hosts = [lid for lid in changed if lid in self.fabric.place]
        for lid in hosts:
            waits.put(lid, waits.of(lid, lambda node, lid=lid: either(node, lid)))
        cycle = waits.cycle()
        if cycle and not loose:
            self.faults.append(f"a credit loop on lane {cycle[0]} after a block: {cycle[1]}")
        self.tally["moments with a credit loop that was announced"] += bool(cycle and loose)
        for lid in hosts:
            waits.put(lid, waits.of(
                lid, lambda node, lid=lid: {self.state.tables.get(node, {}).get(lid, NO_ENTRY)}))
