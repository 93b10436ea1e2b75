# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Multicast under the plugin: ports join groups through the real SA. The tables in the switches carry
a packet of any member to each other member once, and to no other port."""

import collections

import fabric_sim
import pytest
from fabric_sim import CHANGED, Simulation, generate
from multicast_groups import NON, SEND_ONLY, Groups, join_random

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

TREE = ("xgft", "--children", "4,4,4", "--parents", "1,4,4")
FLAT_TREE = ("xgft", "--children", "4,6", "--parents", "1,4")
TORUS = ("torus", "--dims", "4,4,4")
IRREGULAR = ("irregular", "--switches", "30", "--radix", "8", "--seed", "7")
QOS = {"qos": "TRUE"}  # or there are no virtual lanes, and spf refuses fabrics with cycles
QUIET = 0x03  # without OpenSM's dumps, because the plugin fills hop counts for them


def distances(topology, start):
    hops = {start: 0}
    queue = collections.deque([start])
    while queue:
        switch = queue.popleft()
        for (node, _), (peer, _) in topology.peer.items():
            if node == switch and peer in topology.switches and peer not in hops:
                hops[peer] = hops[switch] + 1
                queue.append(peer)
    return hops


def end_name(end):
    return f'"S-{end[0]:016x}"[{end[1]}]'


@pytest.mark.parametrize("engine, kind, flags", [
    ("dmodk", TREE, QUIET), ("spf", TORUS, QUIET), ("updown", IRREGULAR, fabric_sim.LOG_DUMPS)])
def test_groups(tmp_path, engine, kind, flags):
    """Groups come, grow, shrink and go, and their busiest cables go down and come back. After each step
    the trees are correct, with hop counts and without."""
    with Simulation(generate(tmp_path, *kind)) as simulation:
        with simulation.opensm(engine, log_flags=flags, options=QOS) as opensm:
            groups = Groups(simulation)
            join_random(groups, 12, 1)
            loads = groups.link_loads(groups.settle())
            for group in (1, 2, 3):
                members = list(groups.members[group])
                groups.ask("leave", group, members[1:] if group == 3 else members[:1])
                newcomers = [host for host in groups.topology.hosts if host not in members]
                if group != 3:
                    groups.ask("join", group, newcomers[:4], NON)
            groups.settle()
            busiest = [end for end, _ in loads.most_common()][:8:4]
            since = len(opensm.log())
            for end in busiest:
                simulation.command(f"Unlink {end_name(end)}")
            opensm.sweep_until(CHANGED, since=since)
            opensm.sweep()
            groups.learn()
            groups.settle()
            since = len(opensm.log())
            for end in busiest:
                simulation.command(f"ReLink {end_name(end)}")
            opensm.sweep_until(CHANGED, since=since)
            opensm.sweep()
            groups.learn()
            groups.settle()
            assert "ERR HD08" not in opensm.log() and "ERR 0A" not in opensm.log()


def loads_of(netlist, engine):
    """Returns the loads of the links after a sweep with all groups, and whether the trees are the same
    as when the groups came one by one."""
    with Simulation(netlist) as simulation, \
            simulation.opensm(engine, log_flags=QUIET, options=QOS) as opensm:
        groups = Groups(simulation)
        join_random(groups, 60, 5)
        grown = groups.settle()
        opensm.sweep()
        swept = groups.settle()
        return groups.link_loads(swept), grown == swept


@pytest.mark.parametrize("engine, kind", [
    pytest.param("dmodk", TREE, marks=pytest.mark.alike), ("dmodk", FLAT_TREE), ("spf", TORUS), pytest.param("spf", IRREGULAR, marks=pytest.mark.alike)])
def test_spread(tmp_path, engine, kind):
    """Sixty groups load the busiest link less than with OpenSM's own trees, and all links together not
    more. A sweep without a change keeps all trees."""
    netlist = generate(tmp_path, *kind)
    ours, same = loads_of(netlist, engine)
    theirs, _ = loads_of(netlist, "minhop")
    for name, loads in ((engine, ours), ("minhop", theirs)):
        print(f"{' '.join(kind)}: {name}: most groups on a link {max(loads.values())}, "
              f"links used {len(loads)}, sum {sum(loads.values())}")
    assert same
    assert max(ours.values()) < max(theirs.values())
    assert sum(ours.values()) <= sum(theirs.values()) * 1.05


def test_source(tmp_path):
    """If only one member sends, the tree has shortest paths from that member. The same holds if the
    creator of a group is its only full member."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        with simulation.opensm("spf", log_flags=QUIET, options=QOS):
            groups = Groups(simulation)
            hosts = groups.topology.hosts
            receivers = [hosts[i] for i in (3, 17, 22, 40, 41, 63)]
            groups.ask("join", 1, receivers)
            groups.ask("join", 1, hosts[:1], SEND_ONLY)
            groups.ask("join", 2, hosts[:1])
            groups.ask("join", 2, receivers, NON)
            tables = groups.settle()
            leaf = groups.topology.leaf(hosts[0])
            shortest = distances(groups.topology, leaf)
            for group in (1, 2):
                _, depth = groups.flood(tables[groups.mlids[group]], hosts[0])
                assert depth == {switch: shortest[switch] for switch in depth}


def test_unicast_cache(tmp_path):
    """If OpenSM restores tables from its unicast cache and does not ask the engine, the trees still
    suit the present fabric."""
    with Simulation(generate(tmp_path, *FLAT_TREE)) as simulation:
        options = {"use_ucast_cache": "TRUE"}
        with simulation.opensm("dmodk", log_flags=QUIET, options=options) as opensm:
            groups = Groups(simulation)
            join_random(groups, 8, 2)
            loads = groups.link_loads(groups.settle())
            end = loads.most_common(1)[0][0]
            since = len(opensm.log())
            simulation.command(f"Unlink {end_name(end)}")
            opensm.sweep_until(f"cached routing|{CHANGED}", since=since)
            opensm.sweep()
            assert "using cached routing" in opensm.log()[since:]
            groups.learn()
            groups.settle()
            groups.ask("join", 99, groups.topology.hosts[::3])
            groups.settle()


NOT_QUITE_A_TREE = """
Switch 5 "S1"
[1] "H1"[1]
[2] "H2"[1]
[3] "T1"[1]
[4] "T2"[1]
[5] "S2"[5]

Switch 5 "S2"
[1] "H3"[1]
[2] "H4"[1]
[3] "T1"[2]
[4] "T2"[2]
[5] "S1"[5]

Switch 2 "T1"
[1] "S1"[3]
[2] "S2"[3]

Switch 2 "T2"
[1] "S1"[4]
[2] "S2"[4]

Hca 1 "H1"
[1] "S1"[1]

Hca 1 "H2"
[1] "S1"[2]

Hca 1 "H3"
[1] "S2"[1]

Hca 1 "H4"
[1] "S2"[2]
"""


def test_switches_and_routers(tmp_path):
    """Switches' own ports and ports of routers are members like any other."""
    netlist = tmp_path / "routed.net"
    square = NOT_QUITE_A_TREE.replace('[5] "S1"[5]\n', "").replace('[5] "S2"[5]', '[5] "R1"[1]')
    netlist.write_text(square + '\nrtguid=0x300000\nRt 1 "R1"\n[1] "S1"[5]\n')
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk", log_flags=QUIET) as opensm:
            groups = Groups(simulation)
            names = groups.topology.names
            # the first member sets the rate of the group, and a switch's own port is slow
            for group, members in ((1, ("S2", "H1", "R1")), (2, ("S1", "T2", "R1", "H4")),
                                   (3, ("T1", "T2")), (4, ("S1", "H1"))):
                groups.ask("join", group, [names[name] for name in members])
            groups.settle()
            assert "ERR" not in opensm.log()


def test_other_engine_takes_over(tmp_path):
    """If our engine refuses a changed fabric, OpenSM's own trees are correct, though our engine never
    filled the hop counts for them. Afterwards our trees are correct again."""
    netlist = tmp_path / "square.net"
    netlist.write_text(NOT_QUITE_A_TREE)
    cut = ('"S1"[3]', '"S2"[4]')
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk", log_flags=QUIET) as opensm:
            groups = Groups(simulation)
            groups.ask("join", 1, groups.topology.hosts)
            groups.ask("join", 2, groups.topology.hosts[1:3])
            groups.settle()
            for end in cut:  # only the cable between the leaves joins them now
                simulation.command(f"Unlink {end}")
            opensm.sweep_until("ERR HD05")
            opensm.sweep()
            groups.learn()
            groups.settle()
            since = len(opensm.log())
            for end in cut:
                simulation.command(f"ReLink {end}")
            opensm.sweep_until(f"dmodk: .* {CHANGED}", since=since)
            groups.learn()
            groups.settle()
