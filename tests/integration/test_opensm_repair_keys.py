# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep with routing keys in force, live: keys that do not cross the lost cable stay,
the LIDs of the others get their routes without keys, and heddle-keyd is told. The sweep that follows
changes no entry of the switches."""

import re

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, generate, tables
from keys_sim import BROKEN, FABRIC, Client, Tree, key_of, settings, socket_of
from repair_sim import REPAIR, cable, faults, lose, restore, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

REPAIRED = r"heddle: repaired lost .*?: (\d+) entries on (\d+) switches in (\d+) ms"


@pytest.fixture(name="running")
def fixture_running(tmp_path):
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4")
    with Simulation(netlist) as simulation:
        conf = settings(simulation.folder) + REPAIR
        with simulation.opensm("nrk", options={"lmc": 1}, heddle_conf=conf) as opensm, \
                Client(socket_of(simulation.folder)) as client:
            client.greeting()
            yield simulation, opensm, client


def key_by(tree, source, destination, switch, avoid=False):
    """A key of one path for a flow, which passes the switch or avoids it."""
    lid = tree.topology.lids[destination][0] + 1
    way = next(way for way in tree.ways(source, destination) if (switch in [hop for hop, _ in way]) != avoid)
    return [(hop, lid, port) for hop, port in way]


def hosts_of(topology, leaf):
    return [host for host in topology.hosts if topology.leaf(host) == topology.names[leaf]]


def holds(simulation, entries):
    held = tables(simulation.read_tables())
    return all(held[switch][lid] == port for switch, lid, port in entries)


def no_entry_changed(log):
    lines = [line for line in log.splitlines() if "entries changed" in line]
    return lines and all(" 0 entries changed" in line for line in lines)


def test_a_key_that_crosses_the_lost_cable_falls_back(running):
    simulation, opensm, client = running
    topology = Topology(simulation.discover())
    tree = Tree(topology)
    base = tables(simulation.read_tables())
    lost = topology.names["S2_1_2"]
    source, (first, second) = hosts_of(topology, "S1_3_3")[0], hosts_of(topology, "S1_1_1")[:2]
    crossing, other = key_by(tree, source, first, lost), key_by(tree, source, second, lost, avoid=True)
    # the key leads another way than the engine
    assert any(base[switch][lid] != port for switch, lid, port in crossing)
    client.set_done(1, crossing)
    client.set_done(2, other)
    cables = [cable(simulation, "S1_1_1", "S2_1_2")]
    wait_until_ready(opensm)
    log = lose(simulation, opensm, cables)
    repaired = re.search(REPAIRED, log)
    assert repaired, log
    assert no_entry_changed(log[repaired.start():]), log
    assert log.index("repaired lost") < log.index("entries changed")
    broken = client.next(BROKEN)
    assert broken.key == 1 and f"key 1 is not in force any more: {broken.reason}" in log[:log.index("entries changed")]
    assert holds(simulation, other)
    assert not faults(simulation)
    restore(simulation, opensm, cables)
    client.until_answered()
    client.set_done(1, crossing)
    assert holds(simulation, crossing) and holds(simulation, other)


def test_keys_set_between_sweeps_take_part(running):
    """Keys come and go between sweeps, and a loss that touches none leaves all in force."""
    simulation, opensm, client = running
    topology = Topology(simulation.discover())
    tree = Tree(topology)
    source, destination = hosts_of(topology, "S1_3_3")[0], hosts_of(topology, "S1_1_1")[0]
    for seed in range(3):
        client.set_done(1, key_of(tree, [(source, destination)], 1, seed))
    client.set_done(2, key_of(tree, [(destination, source)], 1))
    client.set_done(2, [])
    entries = key_by(tree, source, destination, topology.names["S2_3_1"])
    client.set_done(1, entries)
    cables = [cable(simulation, "S1_0_2", "S2_0_3")]
    wait_until_ready(opensm)
    log = lose(simulation, opensm, cables)
    repaired = re.search(REPAIRED, log)
    assert repaired, log
    assert no_entry_changed(log[repaired.start():]), log
    assert client.next(FABRIC).epoch > 1
    assert not [message for kind, message in client.until_answered() if kind == BROKEN]
    assert holds(simulation, entries)
    assert not faults(simulation)
