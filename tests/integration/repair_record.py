# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tables of simulated switches at each moment, from what libheddlelftclock.so notes inside ibsim.
Shares no code with Heddle."""

import re
import struct
import time
from collections import defaultdict, namedtuple

import independent_check
from independent_check import NO_ENTRY

RECORD = struct.Struct("=Q4sB67s64s")
BLOCK = 64
LOG_TIME = re.compile(r"^(\w{3} \d\d \d\d:\d\d:\d\d) (\d{6}) ", re.M)

# when: nanoseconds since 1970; multicast: a block of a multicast table, whose modifier is `block`
Set = namedtuple("Set", "when block path ports multicast", defaults=(False,))
Line = namedtuple("Line", "when text")


def read_sets(path, offset, multicast=False):
    """([Set], offset of what comes later)."""
    if not path.exists():
        return [], 0
    data = path.read_bytes()[offset:]
    data = data[:len(data) - len(data) % RECORD.size]
    sets = [Set(when, int.from_bytes(block, "big"), tuple(route[1:hops + 1]), ports, multicast)
            for when, block, hops, route, ports in RECORD.iter_unpack(data)]
    return sets, offset + len(data)


def read_lines(log, wanted):
    """[Line] of OpenSM's log that match `wanted`."""
    lines = []
    for text in log.splitlines():
        stamp = LOG_TIME.match(text)
        if stamp and re.search(wanted, text):
            seconds = time.mktime(time.strptime(f"{time.localtime().tm_year} {stamp[1]}", "%Y %b %d %H:%M:%S"))
            lines.append(Line(int(seconds) * 10**9 + int(stamp[2]) * 1000, text))
    return lines


def alive_fabric(intact, dead, home):
    """What `home` sees when the ends of dead cables are in `dead`."""
    fabric = independent_check.Fabric()
    fabric.name, fabric.system, fabric.base_lids = intact.name, intact.system, intact.base_lids
    alive = {near: far for near, far in intact.cable.items() if near not in dead and far not in dead}
    neighbours = defaultdict(set)
    for near, far in alive.items():
        neighbours[near[0]].add(far[0])
    seen, queue = {home}, [home]
    for node in queue:
        queue += sorted(neighbours[node] - seen)
        seen |= neighbours[node]
    fabric.switches = intact.switches & seen
    fabric.cable = {near: far for near, far in alive.items() if near[0] in seen}
    fabric.owner = {lid: node for lid, node in intact.owner.items() if node in seen}
    fabric.place = {lid: near for lid, near in intact.place.items() if lid in fabric.owner and near in fabric.cable}
    return fabric


class Switches:
    """Tables that Sets change. `home` is the node in which OpenSM runs."""

    def __init__(self, tables, home):
        self.tables = {switch: dict(row) for switch, row in tables.items()}
        self.home = home

    def target(self, fabric, path):
        """The switch to which a directed route leads now; None: it breaks."""
        node = self.home
        for port in path:
            far = fabric.cable.get((node, port))
            if far is None:
                return None
            node = far[0]
        return node

    def take(self, fabric, one):
        """Applies a Set. Returns the LIDs whose entries it changes."""
        switch = self.target(fabric, one.path)
        if switch not in fabric.switches:
            return []
        row = self.tables.setdefault(switch, {})
        changed = []
        for i, port in enumerate(one.ports):
            lid = one.block * BLOCK + i
            if lid and row.get(lid, NO_ENTRY) != port:
                changed.append(lid)
                row[lid] = port
                if port == NO_ENTRY:
                    del row[lid]
        return changed

    def looping(self, fabric, lids):
        """Those of the LIDs for which packets can go round in a circle now."""
        return [lid for lid in lids if circle(fabric, self.tables, lid)]


def circle(fabric, tables, lid):
    """[(switch, port)] of a circle in which packets for the LID go round; None: there is none."""
    seen = {}
    for start in tables:
        way, switch = [], start
        while switch is not None and switch not in seen:
            seen[switch] = start
            port = tables.get(switch, {}).get(lid, NO_ENTRY)
            far = fabric.cable.get((switch, port)) if port else None
            way.append((switch, port))
            switch = far[0] if far and far[0] in fabric.switches else None
        if switch is not None and seen[switch] == start:
            return way[next(i for i, (node, _) in enumerate(way) if node == switch):]
    return None
