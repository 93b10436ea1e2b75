# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`auto` under OpenSM on one fabric of each kind with cycles, with two virtual lanes and parts missing. Paths by the tables
that the switches hold, service levels as the SA answers them and lanes by the SL2VL tables that switches and hosts hold
have no credit loop, by a proof of its own; also after one more cable is lost, and when it is back."""

import fabric_sim
import independent_check
import pytest
from fabric_sim import LOG_DUMPS, Simulation, Topology, check, generate
from test_opensm_lanes import SLS, read_levels
from test_opensm_rings import change, compare_path_levels, prove, read_maps

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

DAMAGE = ("--remove-links", "4%", "--seed", "3")
KINDS = {
    "torus": ("torus", "--dims", "5,4"),
    "torus-3": ("torus", "--dims", "3,3,3"),
    "mesh": ("mesh", "--dims", "4,5"),
    "hypercube": ("hypercube", "--dimensions", "4"),
    "hyperx": ("hyperx", "--dims", "4,3"),
    "slim-fly": ("slim-fly", "--q", "3"),
    "dragonfly": ("dragonfly", "--switches", "3", "--global-links", "1", "--hosts", "1"),
    "dragonfly-plus": ("dragonfly-plus", "--islands", "4", "--leaves", "2", "--spines", "2", "--hosts", "1",
                       "--global-links", "2"),
    "jellyfish": ("jellyfish", "--switches", "18", "--degree", "4"),
    "irregular": ("irregular", "--switches", "15", "--radix", "5", "--cycles", "9", "--hosts", "1"),
    "tree": ("xgft", "--children", "3,3,3", "--parents", "1,3,3"),
}
LANES = 2
OPTIONS = {"qos": "TRUE", "max_op_vls": 2}


def assert_sound(simulation):
    file = simulation.discover()
    held = simulation.read_tables()
    dump = simulation.folder / SLS
    assert check(file, held, dump)["clean"]
    fabric = independent_check.read_fabric(file.read_text())
    topology = Topology(file)
    levels, _ = read_levels(dump)
    lanes = prove(fabric, independent_check.read_tables(held.read_text(), fabric), levels,
                  read_maps(simulation, fabric, topology))
    assert lanes <= set(range(LANES))
    compare_path_levels(simulation, topology, {switch: levels.get(switch, {}) for switch in topology.switches})
    return fabric


def redundant_cable(fabric):
    """One end of a cable between two switches that have others as well."""
    cables = [end for end, far in sorted(fabric.cable.items()) if {end[0], far[0]} <= fabric.switches]
    degree = {switch: sum(end[0] == switch for end in cables) for switch in fabric.switches}
    return next(end for end in cables if min(degree[end[0]], degree[fabric.cable[end][0]]) > 2)


@pytest.mark.parametrize("kind", KINDS)
def test_kind(tmp_path, kind):
    netlist = generate(tmp_path, *KINDS[kind], *(DAMAGE if kind != "slim-fly" else ()))
    with Simulation(netlist) as simulation:
        with simulation.opensm("auto,updown", options=OPTIONS, log_flags=LOG_DUMPS) as opensm:
            assert "auto tables configured on all switches" in opensm.log(), opensm.log()
            node, port = redundant_cable(assert_sound(simulation))
            first = simulation.read_tables().read_bytes()
            change(simulation, opensm, f'Unlink "{node}"[{port}]', "lost cable")
            assert_sound(simulation)
            change(simulation, opensm, f'ReLink "{node}"[{port}]', "new cable")
            assert_sound(simulation)
            assert simulation.read_tables().read_bytes() == first
            assert "ERR" not in opensm.log(), opensm.log()
