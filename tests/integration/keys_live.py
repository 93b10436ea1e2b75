# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A live subnet with routing keys, and keys that go astray."""

from fabric_sim import Topology, check, tables
from keys_sim import Tree


class Live:
    """A subnet with keys, and what its switches held before there were any."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.look()

    def look(self):
        self.topology = Topology(self.simulation.discover())
        self.tree = Tree(self.topology)
        self.base = self.tables()

    def tables(self):
        return tables(self.simulation.read_tables())

    def leaf_hosts(self, number):
        """The hosts of a leaf, by the order of GUIDs of leaves."""
        leaf = sorted({self.topology.leaf(host) for host in self.topology.hosts})[number]
        return leaf, [host for host in self.topology.hosts if self.topology.leaf(host) == leaf]

    def lid(self, host, offset=1):
        return self.topology.lids[host][0] + offset

    def is_clean(self):
        report = check(self.simulation.discover(), self.simulation.read_tables())
        return not (report["loop"] or report["no_route"] or report["dead_end"] or report["credit_loops"])


def holds(held, entries):
    return all(held[switch][lid] == port for switch, lid, port in entries)


def loop_through(live):
    """Two leaves and two switches above both, and the hosts of a third leaf below them."""
    first, second, third = (live.leaf_hosts(number)[0] for number in (0, 1, 2))
    above = live.tree.parents(first)[:2]
    assert set(above) <= set(live.tree.parents(second)) & set(live.tree.parents(third))
    return first, second, above, live.leaf_hosts(2)


def by_valley(live, path, host):
    """Entries of a path over these switches to a host."""
    hops = [*path, live.topology.leaf(host), host]
    return [(switch, live.lid(host), live.tree.ports[switch][behind][0])
            for switch, behind in zip(hops, hops[1:])]
