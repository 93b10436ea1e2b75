# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What fast recovery makes of packets right after a loss: a walk over what emulated switches hold.

It knows nothing of Heddle's code: only what the switches say, and which ports are dead. Sets of LIDs are integers, bit
n for LID n.
"""

import re
import signal
from contextlib import contextmanager

from fabric_sim import Topology, tables


def bits_of(lids):
    return sum(1 << lid for lid in lids)


class Walk:
    """The tables of the switches, as `emulated` and the simulator hold them before a loss."""

    def __init__(self, simulation, emulated):
        self.emulated = emulated
        self.topology = Topology(simulation.discover())
        self.own = {switch: 0 for switch in self.topology.switches}  # LIDs of its adapters
        self.exit = {}  # (switch, port) -> LIDs of the adapter there
        for host in self.topology.hosts:
            lid, lmc = self.topology.lids[host]
            lids = bits_of(range(lid, lid + (1 << lmc)))
            for (node, port), (peer, _) in self.topology.peer.items():
                if peer == host and node in self.own:
                    self.own[node] |= lids
                    self.exit[node, port] = lids
        self.all = 0
        for lids in self.own.values():
            self.all |= lids
        self.links = {(node, port): peer for (node, port), (peer, _) in self.topology.peer.items()
                      if node in self.own and peer in self.own}
        self.chosen = {}  # (switch, port) -> LIDs of entries in a group with the port
        self.fixed = {}  # (switch, port) -> LIDs of static entries
        held, forwarding = emulated.tables(), tables(simulation.read_tables())
        for switch in self.own:
            self._read(switch, held.get(switch), forwarding[switch])
        assert self.pairs(self.lost(set(), {})) == self.pairs({})

    def _read(self, switch, held, row):
        groups = {}
        if held and held["enabled"]:
            for (plft, lid), (state, port, _, group) in held["lft"].items():
                if plft or not self.all >> lid & 1:
                    continue
                if state == "static":
                    self._add(self.fixed, switch, port, 1 << lid)
                else:
                    groups[group] = groups.get(group, 0) | 1 << lid
            for group, lids in groups.items():
                for (_, _, number, _), ports in held["groups"].items():
                    for port in ports if number == group else ():
                        self._add(self.chosen, switch, port, lids)
        else:
            for lid, port in enumerate(row):
                if self.all >> lid & 1:
                    self._add(self.fixed, switch, port, 1 << lid)

    @staticmethod
    def _add(where, switch, port, lids):
        if port != 0xFF:
            where[switch, port] = where.get((switch, port), 0) | lids

    def left(self, dead, masked):
        """({(switch, port): LIDs that may leave there}, {switch: LIDs for which no port is left})."""
        use, none = {}, {}
        for (switch, port), lids in self.chosen.items():
            seen = masked.get(switch, {"local": False, "notices": False})
            if seen["local"] and (switch, port) in dead:
                lids = 0
            if seen["notices"]:
                lids &= ~self.told.get((switch, port), 0)
            use[switch, port] = use.get((switch, port), 0) | lids
        had, has = {}, {}
        for (switch, port), lids in self.chosen.items():
            had[switch] = had.get(switch, 0) | lids
            has[switch] = has.get(switch, 0) | use[switch, port]
        for switch, lids in had.items():
            none[switch] = lids & ~has[switch]
        for end, lids in self.fixed.items():
            use[end] = use.get(end, 0) | lids
        return use, none

    def lost(self, dead, masked):
        """{switch: LIDs of which a packet there can be lost}. Fails if one could go round, or a lane has a credit
        loop."""
        self.told = {(switch, port): bits_of(lids) for switch, seen in masked.items()
                     for port, lids in seen["told"].items()}
        use, lost = self.left(dead, masked)
        for end, lids in use.items():
            if end in dead:
                lost[end[0]] = lost.get(end[0], 0) | lids
            elif end not in self.links:
                lost[end[0]] = lost.get(end[0], 0) | lids & ~self.exit.get(end, 0)
        self._check_rounds(use, dead)
        self._check_credits(use, dead)
        before = {}
        for (switch, port), peer in self.links.items():
            if (switch, port) not in dead and (switch, port) in use:
                before.setdefault(peer, []).append((switch, use[switch, port]))
        waiting = [switch for switch, lids in lost.items() if lids]
        while waiting:
            switch = waiting.pop()
            for other, lids in before.get(switch, ()):
                more = lids & lost[switch] & ~lost.get(other, 0)
                if more:
                    lost[other] = lost.get(other, 0) | more
                    waiting.append(other)
        return lost

    def _check_rounds(self, use, dead):
        """For each LID the switches can be put in an order in which packets go."""
        ways = {}
        for (switch, port), lids in use.items():
            if (switch, port) in self.links and (switch, port) not in dead:
                ways.setdefault(switch, []).append((self.links[switch, port], lids))
        ended = {switch: 0 for switch in self.own}
        changed = True
        while changed:
            changed = False
            for switch in self.own:
                open_ways = 0
                for peer, lids in ways.get(switch, ()):
                    open_ways |= lids & ~ended[peer]
                now = self.all & ~open_ways
                changed |= now != ended[switch]
                ended[switch] = now
        assert all(lids == self.all for lids in ended.values()), "a packet can go round"

    def _check_credits(self, use, dead):
        """The channels have an order that all dependencies follow."""
        channels = [end for end in self.links if end not in dead and use.get(end)]
        out = {}
        for end in channels:
            out.setdefault(end[0], []).append(end)
        waits = {end: [other for other in out.get(self.links[end], ()) if use[end] & use[other]] for end in channels}
        count = {end: 0 for end in channels}
        for others in waits.values():
            for other in others:
                count[other] += 1
        free = [end for end in channels if not count[end]]
        for end in free:
            for other in waits[end]:
                count[other] -= 1
                if not count[other]:
                    free.append(other)
        assert len(free) == len(channels), "a credit loop"

    def pairs(self, lost):
        """Pairs of a switch with adapters and a LID elsewhere that are delivered."""
        return sum((self.all & ~own & ~lost.get(switch, 0)).bit_count()
                   for switch, own in self.own.items() if own)


def ends_of(loss):
    """Both ends of each cable of a loss as `heddle ar plan --json` lists it: (GUID, port)."""
    return [(int(cable[end]["guid"], 16), cable[end]["port"]) for cable in loss["cables"] for end in ("from", "to")]


@contextmanager
def frozen(opensm):
    """OpenSM does nothing meanwhile."""
    opensm.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        opensm.process.send_signal(signal.SIGCONT)


@contextmanager
def dead(simulation, emulated, ends):
    """The cables between the ends 0 and 1, 2 and 3 ... are lost meanwhile, and all notices have been sent. Afterwards they
    are back, and the notices forgotten."""
    def console(verb):
        simulation.command("\n".join(f'{verb} "S-{guid:016x}"[{port}]' for guid, port in ends[::2]))

    console("Unlink")
    for guid, port in ends:
        emulated.port(guid, port)
    try:
        yield
    finally:
        console("ReLink")
        for guid, port in ends:
            emulated.port(guid, port, down=False)
        emulated.passes(100000)


def switches(netlist):
    """{name: GUID} of the switches of a netlist of `heddle topo generate`."""
    return {name: int(guid, 16) for guid, name in re.findall(r'^Switch\s+\d+ "S-(\w+)"\s+# "([^"]+)"',
                                                             netlist.read_text(), re.M)}
