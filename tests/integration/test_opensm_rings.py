# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The engine rings under OpenSM: the SL2VL tables that switches and hosts hold put the paths on two lanes without a
credit loop, by a proof of its own: paths by the tables in the switches, service levels by the SA, lanes by smpquery."""

import collections
import re

import fabric_sim
import independent_check
import pytest
from fabric_sim import LOG_DUMPS, Simulation, Topology, check, generate, heddle
from test_opensm_lanes import SLS, path_level, read_levels

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

QOS = {"qos": "TRUE"}


def held_maps(simulation, lid):
    """{(port in, port out): lanes of SL 0 to 15} that a switch holds, or a host for its only port."""
    text = simulation.run("smpquery", "sl2vl", lid)
    maps = {}
    for line in text.splitlines():
        if line.startswith("ports:"):
            ports = [int(number) for number in re.findall(r"\d+", line.split("|")[0])]
            maps[tuple(ports)] = [int(lane) for lane in line.split("|")[1:] if lane.strip()]
    return maps


def maps_of_ports(simulation, lid, ports):
    """As held_maps(), for some output ports: smpquery shows one at a time."""
    maps = {}
    for out in ports:
        text = simulation.run("smpquery", "sl2vl", lid, out)
        for line in text.splitlines():
            if not line.startswith("ports:"):
                continue
            into, port = (int(number) for number in re.findall(r"\d+", line[:line.index("|")])[:2])
            maps[into, port] = [int(lane) for lane in line[line.index("|"):].strip("| \n").split("|")]
    return maps


def prove(fabric, tables, levels, maps):
    """Lanes in use. Fails if a path does not arrive, or if channels wait for one another in a circle."""
    graph, lanes = collections.defaultdict(set), set()
    by_name = {int(node.split("-")[-1], 16): node for node in fabric.switches}
    level_of = {by_name[guid]: row for guid, row in levels.items()}
    for lid in fabric.place:
        for source in fabric.switches:
            links, end = independent_check.follow(fabric, tables, source, lid)
            assert end == "arrives", (source, lid, end)
            for host in fabric.hosts_of(source):
                entry = next(place for place in fabric.place.values()
                             if place[0] == source and fabric.cable[place][0] == host)
                add_path(fabric, maps, level_of.get(source, {}).get(lid, 0), entry[1], links, graph, lanes)
    assert not independent_check.find_cycle(graph)
    return lanes


def add_path(fabric, maps, level, came_by, links, graph, lanes):
    before = None
    for switch, port in links:
        far = fabric.cable.get((switch, port))
        if far is None or far[0] not in fabric.switches:
            return
        channel = (switch, port, maps[switch][came_by, port][level])
        lanes.add(channel[2])
        if before:
            graph[before].add(channel)
        before, came_by = channel, far[1]


def read_maps(simulation, fabric, topology):
    """The SL2VL tables of all switches, for their ports to other switches."""
    guids = {node: int(node.split("-")[-1], 16) for node in fabric.switches}
    lids = {int(switch, 16) if isinstance(switch, str) else switch: lid for switch, lid in
            ((switch, topology.lids[switch][0]) for switch in topology.switches)}
    maps = {}
    for node in fabric.switches:
        ports = sorted(port for (switch, port), far in fabric.cable.items()
                       if switch == node and far[0] in fabric.switches)
        maps[node] = maps_of_ports(simulation, lids[guids[node]], ports)
    return maps


def assert_sound(simulation, lanes):
    """What the switches hold, proved in two ways."""
    file = simulation.discover()
    held = simulation.read_tables()
    dump = simulation.folder / SLS
    assert check(file, held, dump)["clean"]
    assert check(file, held, dump)["lanes"] == lanes
    fabric = independent_check.read_fabric(file.read_text())
    tables = independent_check.read_tables(held.read_text(), fabric)
    levels, _ = read_levels(dump)
    maps = read_maps(simulation, fabric, Topology(file))
    assert prove(fabric, tables, levels, maps) == set(range(lanes))
    return fabric, levels, maps


def compare_path_levels(simulation, topology, levels):
    hosts = topology.hosts[:2] + topology.hosts[-2:]
    for source in hosts:
        for destination in hosts:
            if source != destination:
                lid = topology.lids[destination][0]
                answer = path_level(simulation, topology.lids[source][0], lid)
                assert answer == levels[topology.leaf(source)].get(lid, 0)


def change(simulation, opensm, command, pattern):
    """Changes the fabric, and waits for a sweep that has found it."""
    since = len(opensm.log())
    simulation.command(command)
    opensm.sweep_until(pattern, since=since)


def test_whole_torus(tmp_path):
    """Two lanes are enough; SL2VL tables depend on the output port; the SA has the service levels."""
    with Simulation(generate(tmp_path, "torus", "--dims", "5,6")) as simulation:
        with simulation.opensm("rings", options={**QOS, "max_op_vls": 2}, log_flags=LOG_DUMPS) as opensm:
            assert "rings tables configured on all switches" in opensm.log(), opensm.log()
            assert "ERR" not in opensm.log(), opensm.log()
            _, levels, maps = assert_sound(simulation, 2)
            assert len({tuple(lanes) for held in maps.values() for lanes in held.values()}) == 2
            topology = Topology(simulation.folder / "fabric.topo")
            compare_path_levels(simulation, topology, levels)


def test_holes_while_it_runs(tmp_path):
    """A cable and a switch go, and come back: each state that OpenSM leaves is sound on two lanes."""
    with Simulation(generate(tmp_path, "torus", "--dims", "5,5")) as simulation:
        with simulation.opensm("rings", options={**QOS, "max_op_vls": 2}, log_flags=LOG_DUMPS) as opensm:
            first = simulation.read_tables().read_bytes()
            fabric = independent_check.read_fabric(simulation.discover().read_text())
            node, port = next(end for end in sorted(fabric.cable) if end[0].endswith("200040")
                              and fabric.cable[end][0] in fabric.switches)
            change(simulation, opensm, f'Unlink "{node}"[{port}]', "lost cable")
            assert_sound(simulation, 2)
            change(simulation, opensm, f'ReLink "{node}"[{port}]', "new cable")
            assert_sound(simulation, 2)
            assert simulation.read_tables().read_bytes() == first
            change(simulation, opensm, f'Unlink "{node}"', "lost .*switch")
            assert_sound(simulation, 2)
            assert "ERR" not in opensm.log(), opensm.log()


def test_one_lane(tmp_path):
    """Without qos there is one lane: the engine refuses, says why, and the next one routes."""
    with Simulation(generate(tmp_path, "torus", "--dims", "5,5")) as simulation:
        with simulation.opensm("rings,turns", log_flags=LOG_DUMPS) as opensm:
            log = opensm.log()
            assert re.search("rings: .*its rings of 5 switches need two virtual lanes", log), log
            assert "turns tables configured on all switches" in log, log
            assert check(simulation.discover(), simulation.read_tables())["clean"]
