# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Multicast in the campaign of losses with repair: members join and leave through the real SA, and a walk
over the multicast tables, block by block, tells who gets the packets. Shares no code with Heddle."""

import re
import struct
from collections import defaultdict

from multicast_groups import FIRST_MLID, LAST_MLID, Groups

BLOCK, PORTS = 32, 16  # MLIDs and ports of a block
SIZES = (2, 3, 5, 9, 16)
REMOVED = r"Removed port with GUID:0x([0-9a-f]+)"


class Members:
    """The groups and who is in them, as OpenSM must know it when nothing goes on."""

    def __init__(self, simulation, home, generator, count):
        self.simulation, self.home, self.random, self.count = simulation, home, generator, count
        self.groups = Groups(simulation)
        self.hosts = {f"H-{guid:016x}": guid for guid in self.groups.topology.hosts}
        self.by_port = {port: f"H-{node:016x}" for node, port in self.groups.port_guids.items()
                        if node not in self.groups.topology.switches}
        self.joined = defaultdict(set)  # number of the group -> names of nodes

    def fill(self, fabric):
        """Joins hosts that are there until each group has its size."""
        present = sorted(set(fabric.owner.values()) & set(self.hosts) - {self.home})
        for number in range(1, self.count + 1):
            size = min(SIZES[number % len(SIZES)], len(present))
            absent = sorted(set(present) - self.joined[number])
            wanted = self.random.sample(absent, min(max(0, size - len(self.joined[number])), len(absent)))
            if wanted:
                self.groups.ask("join", number, [self.hosts[name] for name in wanted])
                self.joined[number].update(wanted)

    def forget_all(self):
        """Another OpenSM has no groups."""
        self.joined.clear()

    def remove(self, log):
        """Takes out ports that OpenSM has removed."""
        for port in re.findall(REMOVED, log):
            name = self.by_port.get(int(port, 16))
            for members in self.joined.values():
                members.discard(name)

    def by_mlid(self):
        return {self.groups.mlids[number]: set(members) for number, members in self.joined.items() if members}

    def read(self):
        """{MLID: {switch: ports}} in the switches."""
        return {mlid: {f"S-{switch:016x}": set(ports) for switch, ports in rows.items() if ports}
                for mlid, rows in self.groups.read().items()}


class Trees:
    """Multicast tables that Sets change."""

    def __init__(self, tables, members):
        self.tables = defaultdict(dict, {mlid: {switch: set(ports) for switch, ports in rows.items()}
                                         for mlid, rows in tables.items()})
        self.left_over = set()  # MLIDs
        self.members = {mlid: set(names) for mlid, names in members.items()}

    def take(self, switch, modifier, data):
        """Applies a Set. Returns the MLIDs whose entries it changes."""
        block, position, changed = modifier & 0x1FF, modifier >> 28, []
        for index, mask in enumerate(struct.unpack(">32H", data)):
            mlid = FIRST_MLID + BLOCK * block + index
            if mlid > LAST_MLID:
                break
            old = self.tables[mlid].get(switch, set())
            new = {port for port in old if port // PORTS != position}
            new |= {PORTS * position + bit for bit in range(PORTS) if mask >> bit & 1}
            if new != old:
                changed.append(mlid)
                self.tables[mlid][switch] = new
        return changed

    def remove(self, name):
        for members in self.members.values():
            members.discard(name)

    def note_left_over(self, fabric):
        """At rest, notes the groups of which switches have ports that are in no tree. OpenSM does not clear the
        entries of a switch that comes back, and one that starts again does not know what is in the switches.
        Then packets of members must be right, but those of other hosts may go round."""
        self.left_over = {mlid for mlid, table in self.tables.items() for switch, ports in table.items()
                          if ports and switch in fabric.switches and not self.is_joined(fabric, table, switch)}

    @staticmethod
    def is_joined(fabric, table, switch):
        """Each switch to which it sends sends back."""
        ends = [fabric.cable.get((switch, port)) for port in table[switch] if port]
        return all(end and (end[0] not in fabric.switches or end[1] in table.get(end[0], ())) for end in ends)

    def circles(self, fabric, mlids, everywhere=False):
        """[(MLID, start)]: a packet of a host at the switch `start` comes to a switch twice. everywhere: also where
        entries are left over."""
        return [(mlid, start) for mlid in mlids for start, ports in self.tables[mlid].items()
                if ports and fabric.hosts_of(start)
                and (everywhere or mlid not in self.left_over or start in self.switches_of_members(fabric, mlid))
                and flood(fabric, self.tables[mlid], start, None) is None]

    def switches_of_members(self, fabric, mlid):
        return {fabric.cable[name, 1][0] for name in self.members.get(mlid, ()) if (name, 1) in fabric.cable}

    def misses(self, fabric):
        """[(MLID, sender, what is wrong)]: members that do not get a packet once."""
        found = []
        for mlid, members in self.members.items():
            here = {name: fabric.cable[name, 1] for name in members if (name, 1) in fabric.cable}
            for sender, (switch, port) in here.items() if len(here) > 1 else ():
                got = flood(fabric, self.tables[mlid], switch, port)
                if got is None:
                    found.append((hex(mlid), sender, "a circle"))
                elif sorted(got) != sorted(set(here) - {sender}):
                    found.append((hex(mlid), sender, f"reaches {sorted(got)} of {sorted(here)}"))
        return found


def flood(fabric, table, switch, ingress):
    """The hosts that get a packet, as often as they get it; None: it comes to a switch twice."""
    got, seen, waiting = [], set(), [(switch, ingress)]
    while waiting:
        switch, ingress = waiting.pop()
        if switch in seen:
            return None
        seen.add(switch)
        for port in table.get(switch, set()) - {ingress, 0}:
            far = fabric.cable.get((switch, port))
            if far is None:
                continue
            if far[0] in fabric.switches:
                waiting.append(far)
            else:
                got.append(far[0])
    return got


def unlike(one, other, switches):
    """MLIDs whose entries at these switches differ."""
    def of(tables, mlid):
        return {switch: ports for switch, ports in tables.get(mlid, {}).items() if ports and switch in switches}

    return [mlid for mlid in sorted(set(one) | set(other)) if of(one, mlid) != of(other, mlid)]
