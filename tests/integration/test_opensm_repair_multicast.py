# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair of multicast trees before the sweep, live. The sweep is held while a walk over the tables in the
switches shows who gets the packets; then it goes on, and changes no entry."""

import collections
import re
import struct

import fabric_sim
import pytest
from emulator import SWITCH_INFO, Emulator
from multicast_groups import FIRST_MLID, Groups, join_random
from raw_smp import RawClient
from repair_sim import REPAIR, directed_routes, restore

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

MFT = 0x1B  # attribute
REPAIRED = r"heddle: repaired lost .*; (\d+) multicast groups, (\d+) of them on a lost cable, in (\d+) blocks"
# a request that is held is repeated after a second
OPTIONS = {"transaction_timeout": 1000, "transaction_retries": 20}


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    netlist = fabric_sim.generate(tmp_path_factory.mktemp("trees"), "xgft", "--children=4,4,4", "--parents=1,4,4")
    emulated = Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", heddle_conf=REPAIR, options=OPTIONS,
                                   log_flags=0x03)
        with opensm:
            groups = Groups(simulation)
            join_random(groups, 12, 1)
            groups.settle()
            yield simulation, opensm, emulated, groups


def find_paths(groups):
    """{switch: ports of a directed route to it} from OpenSM's host, in the fabric as the groups know it."""
    home = int(groups.simulation.host.split("-")[1], 16), 1
    return directed_routes(groups.topology.peer, home, groups.topology.switches)


def read_tables(simulation, groups):
    """{MLID: {switch: set of ports}}, read by directed routes without a discovery, which would wait for a
    switch that is silent."""
    tables = collections.defaultdict(dict)
    with RawClient(simulation) as client:
        for switch, path in find_paths(groups).items():
            for position in (0, 1):
                masks = struct.unpack(">32H", client.get(MFT, position << 28, path=path))
                for index, mask in enumerate(masks):
                    ports = {16 * position + bit for bit in range(16) if mask >> bit & 1}
                    if ports:
                        tables[FIRST_MLID + index].setdefault(switch, set()).update(ports)
    return tables


def without(groups, ends):
    """Removes cables from the fabric that the groups know, and switches that are cut off."""
    peers = groups.topology.peer
    for end in ends:
        other = peers.pop(end)
        peers.pop(other)
    groups.topology.switches &= set(find_paths(groups))


def end_name(end):
    return f'"S-{end[0]:016x}"[{end[1]}]'


def lose_and_check(running, ends):
    """Loses cables while the sweep is held. Returns what the log says."""
    simulation, opensm, emulated, groups = running
    lost = {end[0] for end in ends} | {groups.topology.peer[end][0] for end in ends}
    held = next(switch for switch in sorted(groups.topology.switches) if switch not in lost)
    since = len(opensm.log())
    emulated.fault(held, "silent", attribute=SWITCH_INFO, method="get")
    simulation.command("\n".join(f"Unlink {end_name(end)}" for end in ends))
    log = opensm.wait_for("repaired lost", since)
    line = re.search(REPAIRED, opensm.wait_for("sweep follows", since))
    assert line, log
    without(groups, ends)
    early = read_tables(simulation, groups)
    groups.check(early)
    log = opensm.log()[since:]
    assert "entries changed" not in log and "SUBNET UP" not in log  # the sweep is still held
    emulated.heal()
    opensm.wait_for("SUBNET UP", since)
    assert " 0 entries changed" in opensm.log()[since:]
    assert read_tables(simulation, groups) == early
    groups.check(early)
    assert "ERR HD08" not in opensm.log()[since:]
    return [int(number) for number in line.groups()]


def bring_back(running, ends):
    simulation, opensm, _, groups = running
    restore(simulation, opensm, [end_name(end) for end in ends])
    groups.learn()
    groups.settle()


def test_trees_over_a_lost_cable_are_repaired_before_the_sweep(running):
    groups = running[3]
    end, load = groups.link_loads(groups.read()).most_common(1)[0]
    changed, hit, blocks = lose_and_check(running, [end])
    print(f"{changed} groups change, {hit} of them hit, {blocks} blocks")
    assert hit == load and changed >= hit and blocks > 0
    bring_back(running, [end])


def test_trees_over_a_lost_switch_are_repaired_before_the_sweep(running):
    groups = running[3]
    tables = groups.read()
    topology = groups.topology
    leaves = {topology.leaf(host) for host in topology.hosts}
    inner = collections.Counter(switch for entries in tables.values() for switch in entries
                                if switch not in leaves)
    switch = inner.most_common(1)[0][0]
    ends = [end for end in sorted(topology.peer) if end[0] == switch]
    _, hit, _ = lose_and_check(running, ends)
    assert hit == inner[switch]
    bring_back(running, ends)


def test_a_member_that_goes_away(running):
    """Its groups have the trees without it at once, as OpenSM will see them after it has removed it."""
    groups = running[3]
    home = int(running[0].host.split("-")[1], 16)
    joined = collections.Counter(host for members in groups.members.values() for host in members if host != home)
    host, count = joined.most_common(1)[0]
    for members in groups.members.values():
        members.pop(host, None)
    end = groups.topology.peer[host, 1]
    changed, _, _ = lose_and_check(running, [end])
    assert changed >= count
    bring_back(running, [end])


def test_a_switch_that_takes_no_multicast_table(running):
    """The others get their old ports back, the log says why, and the sweep repairs the trees."""
    simulation, opensm, emulated, groups = running
    before = groups.read()
    end = groups.link_loads(before).most_common(1)[0][0]
    emulated.fault(end[0], "silent", attribute=MFT, method="set")
    since = len(opensm.log())
    simulation.command(f"Unlink {end_name(end)}")
    opensm.wait_for("multicast is left to the sweep: switch ", since)
    assert "did not answer; sweep follows" in opensm.log()[since:]
    emulated.heal()
    opensm.sweep()  # the one under way may have sent the table too soon
    without(groups, [end])
    groups.settle()
    bring_back(running, [end])
