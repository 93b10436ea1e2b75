# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM's default options, so one virtual lane, on damaged fabrics where each switch has an aggregation node. While
cables fail and return, no entry moves whose path is whole, but for those of aggregation nodes that make way."""

import random

import pytest

from fabric_sim import NO_PORT, Simulation, Topology, changed, check, generate, missing_tools, tables

pytestmark = pytest.mark.skipif(bool(missing_tools()), reason=f"missing: {missing_tools()}")

FABRICS = {
    "tree": ("xgft", "--children=4,4,4", "--parents=1,4,4", "--remove-links=25%", "--seed=1"),
    "directors": ("directors", "--leaves=12", "--hosts=3", "--uplinks=2", "--directors=2", "--outside=6",
                  "--line-chips=4", "--spine-chips=3", "--remove-links=15%", "--seed=3")}
EVENTS = 3


def hops(topology, rows, switch, lid):
    """The length of the path from a switch to the LID; 0 if it does not arrive."""
    for length in range(1, len(rows) + 1):
        port = rows[switch][lid]
        if port == 0:
            return length if topology.lids.get(switch, (0, 0))[0] == lid else 0
        node, _ = topology.peer.get((switch, port), (None, None))
        if port == NO_PORT or node is None:
            return 0
        if node not in topology.switches:
            base, lmc = topology.lids[node]
            return length if base <= lid < base + 2 ** lmc else 0
        switch = node
    return 0


def needless_moves(topology, first, before, after):
    """{(switch, LID)} that have left the first tables though their paths are whole, for no shorter ones."""
    return {entry for entry in changed(before, after) - changed(first, before)
            if hops(topology, before, *entry) and hops(topology, after, *entry) >= hops(topology, before, *entry)}


def aggregation_lids(topology):
    nodes = [node for name, node in topology.names.items() if name.startswith("A_")]
    return {topology.lids[node][0] for node in nodes}


def inner_cables(topology):
    """Cables between switches: one end of each, as ibsim names it."""
    return sorted((f"S-{node:016x}", port) for (node, port), (peer, _) in topology.peer.items()
                  if {node, peer} <= topology.switches and node < peer)


def event(simulation, opensm, command, cable):
    """Types the command at ibsim's console. Returns the fabric and the tables after the sweep."""
    since = len(opensm.log())
    simulation.command('{} "{}"[{}]'.format(command, *cable))
    opensm.sweep_until(r"[1-9]\d* entries changed", since=since)
    return simulation.discover(), simulation.read_tables()


def assert_clean_and_at_rest(opensm, fabric, switches):
    """Only entries may be missing, and the next sweep changes nothing and warns of nothing."""
    report = check(fabric, switches)
    assert not report["credit_loops"] and not report["loop"] and not report["dead_end"]
    log = opensm.sweep()
    assert "; 0 entries changed" in log and "WRN" not in log


@pytest.mark.parametrize("name", FABRICS)
def test_whole_paths_stay(tmp_path, name):
    netlist = generate(tmp_path, *FABRICS[name], "--aggregation-nodes")
    with Simulation(netlist) as simulation, simulation.opensm("auto,updown") as opensm:
        whole = Topology(simulation.discover())
        aside = aggregation_lids(whole)
        assert len(aside) == len(whole.switches)
        cables = random.Random(7).sample(inner_cables(whole), EVENTS)
        before = first = tables(simulation.read_tables())
        for command, cable in [("Unlink", cable) for cable in cables] + [("ReLink", cable) for cable in cables]:
            fabric, switches = event(simulation, opensm, command, cable)
            topology, after = Topology(fabric), tables(switches)
            needless = needless_moves(topology, first, before, after)
            assert {entry for entry in needless if entry[1] not in aside} == set()
            assert_clean_and_at_rest(opensm, fabric, switches)
            before = after
        assert "ERR HD" not in opensm.log()
