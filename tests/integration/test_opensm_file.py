# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM without the plugin loads the tables of heddle route: `routing_engine file`. This is the
recipe of doc/guide/without-plugin.md. HEDDLE_LARGE=1 runs it on 1,728 hosts, too."""

import os
import re

import pytest

import fabric_sim
from fabric_sim import PATIENCE

MISSING = fabric_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")

LARGE = pytest.mark.skipif(not os.environ.get("HEDDLE_LARGE"), reason="HEDDLE_LARGE is not set")
TREES = {216: ("--children=6,6,6", "--parents=1,6,6"), 1728: ("--children=12,12,12", "--parents=1,12,12")}
PLAIN = {"event_plugin_name": "(null)", "event_plugin_options": "(null)"}


def plain_opensm(fabric, engine, **options):
    """An OpenSM that does not load the plugin."""
    return fabric.opensm(engine, options={**PLAIN, **options})


def route(fabric, *options):
    """Steps 1 and 2 of the guide: the tables for what the fabric is now."""
    topology, lfts = fabric.discover(), fabric.folder / "heddle.lfts"
    fabric_sim.heddle("route", "-e", "dmodk", *options, topology, "-o", lfts)
    assert fabric_sim.check(topology, lfts)["clean"]
    return lfts


def assert_switches_hold(fabric, lfts):
    wanted, held = fabric_sim.tables(lfts), fabric_sim.tables(fabric.read_tables())
    assert len(wanted) > 1 and fabric_sim.changed(wanted, held) == set()


@pytest.mark.parametrize("hosts", [216, pytest.param(1728, marks=LARGE)])
def test_switches_hold_the_tables_of_the_file(tmp_path, hosts):
    """They do not hold them before, and they hold the repaired tables after a link is lost."""
    netlist = fabric_sim.generate(tmp_path, "xgft", *TREES[hosts])
    with fabric_sim.Simulation(netlist) as fabric:
        plain_opensm(fabric, "minhop").once(timeout=PATIENCE)
        lfts = route(fabric)
        before = fabric_sim.tables(fabric.read_tables())
        assert fabric_sim.changed(fabric_sim.tables(lfts), before)
        with plain_opensm(fabric, "file", lfts_file=lfts) as opensm:
            assert_switches_hold(fabric, lfts)
            assert "heddle: " not in opensm.log()

            top = re.findall(r'(?m)^Switch\s.*?"(S-\w+)"', netlist.read_text())[-1]
            fabric.command(f'Unlink "{top}"[1]')
            old = lfts.rename(fabric.folder / "old.lfts")
            lfts = route(fabric, "--previous", old)
            assert fabric_sim.changed(fabric_sim.tables(old), fabric_sim.tables(lfts))
            opensm.sweep()
            assert_switches_hold(fabric, lfts)


def test_opensm_routes_itself_if_the_file_is_missing(tmp_path):
    """The next engine of the list takes its place, and the log says why."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=2,2", "--parents=1,2")
    with fabric_sim.Simulation(netlist) as fabric:
        log = plain_opensm(fabric, "file,minhop", lfts_file=tmp_path / "none").once()
        assert f"Can't open ucast dump file '{tmp_path}/none'" in log
        assert fabric_sim.check(fabric.discover(), fabric.read_tables())["clean"]
