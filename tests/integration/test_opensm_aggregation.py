# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Aggregation nodes in a live subnet: the plugin knows them by their device, not by their name."""

import json

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

FABRICS = [("xgft", "--children", "4,3,2", "--parents", "1,2,2"),
           ("directors", "--leaves", "4", "--hosts", "3", "--uplinks", "2", "--directors", "2",
            "--outside", "4", "--line-chips", "2", "--spine-chips", "2"),
           ("irregular", "--switches", "12", "--radix", "8", "--seed", "3")]


@pytest.mark.parametrize("engine", ["auto", "dmodk", "updown", "spf", "multipath"])
@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric[0])
def test_aggregation_nodes_are_reached_and_are_no_hosts(tmp_path, fabric, engine):
    """The engine routes the fabric (dmodk refuses the irregular one), the tables in the switches
    are clean."""
    if engine == "dmodk" and fabric[0] == "irregular":
        pytest.skip("no tree")
    netlist = generate(tmp_path, *fabric, "--aggregation-nodes")
    with Simulation(netlist) as simulation:
        simulation.opensm(engine, options={"qos": "TRUE"}, log_flags=LOG_DUMPS).once()
        live = simulation.discover("live.topo")
        facts = json.loads(fabric_sim.heddle("topo", "show", "--json", live).stdout)
        assert facts["aggregation_nodes"] == facts["switches"]
        files = [simulation.read_tables()]
        levels = simulation.folder / "heddle-sls.dump"
        if levels.exists():
            files.append(levels)
        done = fabric_sim.heddle("check", "--json", live, *files, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_listed_adapters_are_routed_last(tmp_path):
    """aggregation_guid_file of heddle.conf: a listed host makes no difference to the others."""
    netlist = generate(tmp_path, "xgft", "--children", "3,2", "--parents", "1,2")
    listed = tmp_path / "listed"
    listed.write_text("0x100010\n")
    with Simulation(netlist) as simulation:
        opensm = simulation.opensm("dmodk", heddle_conf=f"[heddle]\naggregation_guid_file = {listed}\n")
        opensm.once()
        live = simulation.discover("live.topo")
        tables = simulation.read_tables()
        assert fabric_sim.heddle("check", live, tables, check=False).returncode == 0
        ours = tmp_path / "ours"
        fabric_sim.heddle("route", "-e", "dmodk", "--aggregation-guid-file", listed, live, "-o", ours)
        assert fabric_sim.tables(ours) == fabric_sim.tables(tables)
