# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Keys of heddle key make in a live subnet: OpenSM's nrk takes them, and by the tables that the
switches then hold no two flows of a phase share a link."""

import collections
import json
import random

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, check, generate, heddle, tables
from keys_sim import Client, settings, socket_of

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"needs {fabric_sim.missing_tools()}")
SMALL = ("xgft", "--children=6,6,6", "--parents=1,6,6")
LARGE = ("xgft", "--children=8,8,8", "--parents=1,8,8")


def place(folder, topology, count):
    """A file of randomly placed hosts."""
    chosen = random.Random(count).sample(sorted(topology.hosts), count)
    path = folder / f"hosts-{count}"
    path.write_text("".join(f"0x{host:016x}\n" for host in chosen))
    return path


def phases_of(fabric, hosts, pattern, offset):
    """Each phase with an offset of its own, from that one on."""
    done = heddle("key", "make", fabric, "--hosts", hosts, "-p", pattern, "--offset", offset, "--mode", "offset",
                  "--json")
    return json.loads(done.stdout)["phases"]


def program(client, phase):
    client.set_done(phase["offset"], [(int(entry["switch"], 16), entry["lid"], entry["port"])
                                      for entry in phase["entries"]])


def contention(topology, held, flows):
    """The most flows, (source, destination, LID), on a link between switches, by walks; all arrive."""
    loads = collections.Counter()
    for source, destination, lid in flows:
        path = topology.path(held, topology.peer[source, 1][0], lid)
        assert topology.peer[path[-1]][0] == destination
        loads.update(path[:-1])
    return max(loads.values())


def contention_in_switches(topology, held, phase):
    """With the key, and by the base LIDs. The report has GUIDs of ports: those of nodes, plus 1."""
    flows = [(int(flow["source"]["guid"], 16) - 1, int(flow["destination"]["guid"], 16) - 1, flow["lid"])
             for flow in phase["flows"]]
    assert all(lid == topology.lids[destination][0] + phase["offset"] for _, destination, lid in flows)
    return contention(topology, held, flows), contention(topology, held, [
        (source, destination, lid - phase["offset"]) for source, destination, lid in flows])


def run(tmp_path, kind, lmc, cases):
    """All phases are in the switches at the same time, each with an offset of its own. By walks in the
    tables of the switches, none has two flows on a link; by the base LIDs some do."""
    with Simulation(generate(tmp_path, *kind)) as simulation, \
            simulation.opensm("nrk", options={"lmc": lmc}, heddle_conf=settings(simulation.folder)), \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        fabric = simulation.discover()
        topology = Topology(fabric)
        phases = []
        for count, pattern in cases:
            phases += phases_of(fabric, place(tmp_path, topology, count), pattern, len(phases) + 1)
        for phase in phases:
            program(client, phase)
        read = simulation.read_tables()
        report, held = check(fabric, read), tables(read)
    found = [contention_in_switches(topology, held, phase) for phase in phases]
    assert [now for now, _ in found] == [phase["contention"] for phase in phases] == [1] * len(phases)
    assert max(before for _, before in found) > 1
    assert not report["credit_loops"] and not report["no_route"] + report["dead_end"] + report["loop"]


def test_phases_of_216_hosts(tmp_path):
    """Ten phases."""
    run(tmp_path, SMALL, 4, [(36, "stencil3d:4x3x3"), (64, "stencil1d"), (216, "shift:7"), (216, "random:3")])


def test_phases_of_512_hosts(tmp_path):
    """Three phases, as LMC 2 has them."""
    run(tmp_path, LARGE, 2, [(256, "ring"), (512, "shift:100"), (512, "random:5")])
