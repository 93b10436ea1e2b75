# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive routing in the campaign of losses with repair: groups and entries of emulated switches, Set by
Set, with all ports that a packet may take. Shares no code with Heddle."""

from collections import namedtuple

from emulator import AR_INFO, AR_LFT, GROUP_TABLE
from independent_check import NO_ENTRY

Set = namedtuple("Set", "when switch attribute modifier data")
STATIC = 2
LIDS, GROUPS = 16, 2  # of a block


def read_sets(path, offset):
    """([Set], offset of what comes later) of the emulator's record."""
    text = path.read_text()[offset:]
    text = text[:text.rfind("\n") + 1]
    sets = []
    for line in text.splitlines():
        when, guid, attribute, modifier, data = line.split()
        sets.append(Set(int(when), f"S-{int(guid, 16):016x}", int(attribute, 16), int(modifier, 16),
                        bytes.fromhex(data)))
    return sets, offset + len(text)


class Held:
    """What a switch holds. Elements of the group table: group * sub-groups + sub-group."""

    def __init__(self, tables):
        self.enabled, self.subgroups = bool(tables["enabled"]), tables["subgroups"]
        self.elements = {group * self.subgroups + sub: set(ports)
                         for (_, _, group, sub), ports in tables["groups"].items()}
        self.entries = {lid: (None if state == "static" else group, port)
                        for (_, lid), (state, port, _, group) in tables["lft"].items()}

    def ports(self, lid):
        group, port = self.entries.get(lid, (None, NO_ENTRY))
        found = {port} - {NO_ENTRY}
        for sub in range(self.subgroups) if group is not None else ():
            found |= self.elements.get(group * self.subgroups + sub, set())
        return found


class Adaptive:
    """All switches, while Sets change them. `plain` are the forwarding tables, which change too."""

    def __init__(self, tables, plain):
        self.held = {f"S-{guid:016x}": Held(found) for guid, found in tables.items()}
        self.plain = plain

    def ports(self, switch, lid):
        """All by which a packet may leave: with adaptive routing, or by the forwarding table."""
        found = {self.plain.get(switch, {}).get(lid, NO_ENTRY)} - {NO_ENTRY}
        held = self.held.get(switch)
        return found | held.ports(lid) if held and held.enabled else found

    def take(self, one):
        """Applies a Set. Returns the LIDs whose ports at that switch it changes."""
        held = self.held.get(one.switch)
        if held is None:
            return []
        lids = sorted(held.entries)
        before = {lid: self.ports(one.switch, lid) for lid in lids}
        if one.attribute == AR_INFO:
            held.enabled = bool(one.data[3] & 1)
            held.subgroups = (one.data[2] & 0x0F) or 1
        elif one.attribute == GROUP_TABLE:
            for i in range(GROUPS):
                mask = int.from_bytes(one.data[32 * i:32 * i + 32], "big")
                held.elements[GROUPS * (one.modifier & 0xFFFF) + i] = {bit for bit in range(256) if mask >> bit & 1}
        elif one.attribute == AR_LFT:
            for i in range(LIDS):
                state, port = one.data[4 * i] >> 6, one.data[4 * i + 1]
                group = int.from_bytes(one.data[4 * i + 2:4 * i + 4], "big") & 0xFFF
                held.entries[LIDS * one.modifier + i] = (None if state == STATIC else group, port)
        return [lid for lid in sorted(held.entries) if self.ports(one.switch, lid) != before.get(lid, set())]

    def looping(self, fabric, switch, lids):
        """Those of the LIDs for which packets of hosts can come back to the switch."""
        sources = [start for start in fabric.switches if fabric.hosts_of(start)]
        return [lid for lid in lids if lid in fabric.owner and self.returns(fabric, switch, lid)
                and switch in self.reached(fabric, sources, lid)]

    def returns(self, fabric, switch, lid):
        return switch in self.reached(fabric, self.following(fabric, switch, lid), lid)

    def following(self, fabric, switch, lid):
        """The switches that a packet may come to next."""
        ends = (fabric.cable.get((switch, port)) for port in self.ports(switch, lid) if port)
        return [end[0] for end in ends if end and end[0] in fabric.switches]

    def reached(self, fabric, starts, lid):
        """The switches that packets may pass from these on."""
        seen, waiting = set(starts), list(starts)
        while waiting:
            for far in self.following(fabric, waiting.pop(), lid):
                if far not in seen:
                    seen.add(far)
                    waiting.append(far)
        return seen

    def lost(self, fabric):
        """[(switch, LID, port)] at which packets of hosts for hosts may be lost."""
        found = []
        sources = [switch for switch in fabric.switches if fabric.hosts_of(switch)]
        for lid, place in fabric.place.items():
            for switch in sorted(self.reached(fabric, sources, lid)):
                ports = self.ports(switch, lid)
                found += [(switch, lid, port) for port in ports or {NO_ENTRY}
                          if fabric.cable.get((switch, port), (None,))[0] not in fabric.switches
                          and (switch, port) != place]
        return found
