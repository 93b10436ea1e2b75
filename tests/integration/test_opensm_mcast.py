# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle mcast on a live subnet: it reads the trees that OpenSM wrote into the switches from OpenSM's
own dump and from both forms of dump_fts."""

import json

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, generate, wait_until
from test_opensm_multicast import QOS, Groups

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

RANGE = ("0xc000", "0xc00f")


def groups_of(fabric, tables):
    """The tools print everything, and heddle mcast reports nothing as missing."""
    done = fabric_sim.heddle("mcast", "--json", "--mcfdbs", tables, fabric)
    assert "warning" not in done.stderr
    return json.loads(done.stdout)["groups"]


@pytest.mark.parametrize("engine", ["minhop", "dmodk"])
def test_live_trees_are_right_in_every_form(tmp_path, engine):
    """Switches of 24 ports, so that masks and columns have a second part."""
    netlist = generate(tmp_path, "xgft", "--children", "22,3", "--parents", "1,2")
    with Simulation(netlist) as simulation, \
            simulation.opensm(engine, options=QOS, log_flags=LOG_DUMPS) as opensm:
        groups = Groups(simulation)
        hosts = groups.topology.hosts
        groups.ask("join", 1, [hosts[0], hosts[23], hosts[50], hosts[5]])
        groups.ask("join", 2, [hosts[21], hosts[65]])
        groups.settle()
        fabric = simulation.discover("live.topo")
        columns, masks = tmp_path / "columns", tmp_path / "masks"
        columns.write_text(simulation.run("dump_fts", "-M", *RANGE))
        masks.write_text(simulation.run("dump_fts", "-M", "-n", *RANGE))
        shown = groups_of(fabric, columns)
        assert [len(group["members"]) for group in shown] == [4, 2]
        assert all(not group["faults"] for group in shown)
        assert groups_of(fabric, masks) == shown
        opensm.sweep()
        (dump,) = simulation.folder.glob("**/opensm.mcfdbs")
        wait_until(lambda: "0xC002" in dump.read_text(), "OpenSM's dump of multicast tables")
        assert groups_of(fabric, dump) == shown
