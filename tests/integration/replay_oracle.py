# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What heddle-replay says of each Set, the slow way: all that is looked at is computed again each time. For small
fabrics. Shares no code with heddle-replay and none with Heddle."""

import flaps
import independent_check
import repair_adaptive
import repair_record
from independent_check import NO_ENTRY


class Ports(repair_adaptive.Adaptive):
    """own: a switch with adaptive routing sends by its AR table alone."""

    own = False

    def ports(self, switch, lid):
        held = self.held.get(switch)
        if self.own and held and held.enabled:
            return held.ports(lid)
        return super().ports(switch, lid)

    def static_ports(self, switch, lid):
        held = self.held.get(switch)
        plain = {self.plain.get(switch, {}).get(lid, NO_ENTRY)}
        if held and held.enabled:
            plain = {held.entries.get(lid, (None, NO_ENTRY))[1]} | (set() if self.own else plain)
        return plain - {NO_ENTRY}


class Static(repair_adaptive.Adaptive):
    """The same without groups."""

    def __init__(self, ports):
        self.of = ports

    def ports(self, switch, lid):
        return self.of.static_ports(switch, lid)


def dependencies(fabric, ports, lids):
    """{link: set of links}, a link being (switch, port), of packets from all adapters to the LIDs."""
    graph = {}
    sources = [switch for switch in fabric.switches if fabric.hosts_of(switch)]
    for lid in lids:
        links = {switch: [port for port in ports.ports(switch, lid) if port and
                          fabric.cable.get((switch, port), (None,))[0] in fabric.switches]
                 for switch in ports.reached(fabric, sources, lid)}
        for switch in links:
            for port in links[switch]:
                far = fabric.cable[switch, port][0]
                graph.setdefault((switch, port), set()).update((far, after) for after in links[far])
    return graph


def loops(fabric, ports, lids):
    return bool(independent_check.find_cycle(dependencies(fabric, ports, lids)))


class Oracle:
    """Switches as they are at power-on, and the Sets that they take. intact: an independent_check.Fabric."""

    def __init__(self, intact, home, own):
        self.intact, self.home = intact, home
        self.inside = flaps.aggregation_nodes(intact)
        self.switches = repair_record.Switches({switch: {} for switch in intact.switches}, home)
        blank = {"enabled": False, "subgroups": 1, "groups": {}, "lft": {}}
        guids = {int(switch.split("-")[1], 16): blank for switch in intact.switches}
        self.ports = Ports(guids, self.switches.tables)
        self.ports.own = own
        self.cut(())

    def cut(self, dead):
        self.fabric = repair_record.alive_fabric(self.intact, set(dead), self.home)

    def loop(self):
        everything = list(self.fabric.place)
        hosts = [lid for lid in everything if self.fabric.owner[lid] not in self.inside]
        if not loops(self.fabric, self.ports, everything):
            return "none"
        lids, names = (hosts, ("hosts", "static-hosts")) if loops(self.fabric, self.ports, hosts) else (
            everything, ("groups", "static"))
        return names[loops(self.fabric, Static(self.ports), lids)]

    def missing(self):
        """Switches and LIDs: packets of adapters come, and may be lost."""
        return len({(switch, lid) for switch, lid, _ in self.ports.lost(self.fabric)})

    def all_ports(self, switch):
        return {lid: self.ports.ports(switch, lid) for lid in self.intact.owner}

    def take(self, one):
        """(switch, LIDs that go by other ports, those of them that can come back to the switch by groups only, and by
        static ports alone); None: no Set."""
        plain = isinstance(one, repair_record.Set)
        switch = self.switches.target(self.fabric, one.path) if plain else one.switch
        if switch not in self.intact.switches:
            return None
        before = self.all_ports(switch)
        if plain:
            self.switches.take(self.fabric, one)
        else:
            self.ports.take(one)
        after = self.all_ports(switch)
        changed = [lid for lid in sorted(before) if before[lid] != after[lid]]
        here = switch in self.fabric.switches
        back = self.ports.looping(self.fabric, switch, changed) if here else []
        still = Static(self.ports).looping(self.fabric, switch, back)
        return switch, changed, [lid for lid in back if lid not in still], still
