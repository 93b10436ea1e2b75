# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Multicast groups under a live OpenSM: ports join and leave through the real SA, and a walk over the
tables in the simulated switches tells who gets the packets."""

import collections
import random
import re

import fabric_sim
from fabric_sim import Topology, wait_until

CLIENT = fabric_sim.SOURCE / "tests" / "integration" / "multicast_client.py"
FULL, NON, SEND_ONLY = 1, 2, 4
FIRST_MLID, LAST_MLID = 0xC000, 0xC05F


class Fault(Exception):
    """An error in the tree of a group."""


class Groups:
    """The groups of a simulation and their members."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.members = collections.defaultdict(dict)  # group -> {host: join state}
        self.mlids = {}
        self.learn()

    def learn(self):
        """Looks at the fabric as it is now."""
        path = self.simulation.discover("groups.topo")
        self.topology = Topology(path)
        self.port_guids = {}
        node = None
        for line in path.read_text().splitlines():
            head = re.match(r'(?:Ca|Rt)\s+\d+ "\w-([0-9a-f]+)"', line)
            port = re.match(r"\[1\]\(([0-9a-f]+)\)", line)
            if head:
                node = int(head.group(1), 16)
            elif port and node is not None:
                self.port_guids.setdefault(node, int(port.group(1), 16))
        self.port_guids.update({switch: switch for switch in self.topology.switches})

    def ask(self, action, group, hosts, state=FULL):
        """Joins or removes hosts."""
        lid = re.search(r"sm lid (\d+)", self.simulation.run("sminfo")).group(1)
        output = self.simulation.run(
            "/usr/bin/python3", CLIENT, lid,
            *[f"{action}:{group:x}:{self.port_guids[host]:x}:{state:x}" for host in hosts])
        for line in output.splitlines():
            self.mlids[group] = int(line.split()[1], 16)
        for host in hosts:
            if action == "join":
                self.members[group][host] = state
            else:
                del self.members[group][host]

    def read(self):
        """{MLID: {switch: set of ports}} from the simulated switches."""
        tables = collections.defaultdict(dict)
        text = self.simulation.run("dump_fts", "-M", hex(FIRST_MLID), hex(LAST_MLID))
        switch = None
        for line in text.splitlines():
            head = re.match(r"Multicast mlids .* guid (0x[0-9a-f]+)", line)
            if head:
                switch = int(head.group(1), 16)
            elif line.startswith("0x"):
                columns = line[12::2]
                tables[int(line[:6], 16)][switch] = {
                    port for port, mark in enumerate(columns) if mark == "x"}
        return tables

    def check(self, tables):
        """Raises a Fault unless every group has a correct tree."""
        for group, members in self.members.items():
            entries = tables.get(self.mlids[group], {})
            if len(members) < 2:
                if entries:
                    raise Fault(f"group {group:x} has a tree for {len(members)} members")
                continue
            for sender in members:
                self._check_sender(group, entries, sender)

    def _check_sender(self, group, entries, sender):
        copies, depth = self.flood(entries, sender)
        expected = {host: 1 for host in self.members[group] if host != sender}
        if copies != expected:
            raise Fault(f"group {group:x} from {sender:x}: {copies} instead of {expected}")
        if depth.keys() != entries.keys():
            raise Fault(f"group {group:x} from {sender:x}: entries at switches without use")

    def flood(self, entries, sender):
        """Follows a packet. Returns the copies that each host or switch gets, and the hops to each switch."""
        copies = collections.Counter()
        depth = {}
        switch, port = (sender, 0) if sender in self.topology.switches \
            else self.topology.peer[sender, 1]
        waiting = [(switch, port, 0)]
        while waiting:
            switch, ingress, hops = waiting.pop()
            if switch in depth:
                raise Fault(f"a packet of {sender:x} comes twice to switch {switch:x}")
            depth[switch] = hops
            for port in entries.get(switch, set()) - {ingress}:
                if port == 0:
                    copies[switch] += 1
                    continue
                if (switch, port) not in self.topology.peer:
                    raise Fault(f"switch {switch:x} sends to port {port}")
                peer, peer_port = self.topology.peer[switch, port]
                if peer in self.topology.switches:
                    waiting.append((peer, peer_port, hops + 1))
                else:
                    copies[peer] += 1
        return dict(copies), depth

    def settle(self):
        """Waits until OpenSM has brought the switches up to date; returns their tables."""
        last = ["", {}]

        def is_right():
            last[1] = self.read()
            try:
                self.check(last[1])
            except Fault as fault:
                last[0] = str(fault)
                return False
            return True

        try:
            wait_until(is_right, "right multicast tables")
        except fabric_sim.Failure as failure:
            raise fabric_sim.Failure(f"{failure}: {last[0]}") from None
        return last[1]

    def link_loads(self, tables):
        """{(switch, port): number of groups} over links between switches."""
        loads = collections.Counter()
        for mlid in self.mlids.values():
            for switch, ports in tables.get(mlid, {}).items():
                for port in ports:
                    peer = self.topology.peer.get((switch, port))
                    if peer and peer[0] in self.topology.switches:
                        loads[switch, port] += 1
        return loads


def join_random(groups, count, seed):
    """Groups of different sizes; the same for the same hosts."""
    generator = random.Random(seed)
    hosts = groups.topology.hosts
    for group in range(1, count + 1):
        groups.ask("join", group, generator.sample(hosts, generator.choice((2, 3, 5, 9, 16))))
