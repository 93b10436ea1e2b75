# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep, live: a lost cable or switch is repaired between the trap and the sweep. The
sweep that follows changes no entry, and an independent checker finds no fault in the switches."""

import re

import fabric_sim
import pytest
from repair_sim import REPAIR, all_cables, cable, faults, lose, restore, spine_of, switches_of

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

REPAIRED = r"heddle: repaired lost .*?: (\d+) entries on (\d+) switches in (\d+) ms"
NO_CHANGE = " 0 entries changed"


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    netlist = fabric_sim.generate(tmp_path_factory.mktemp("repair"), "xgft", "--children=6,6,6", "--parents=1,6,6")
    # each umad port of a process needs its own answers, as the kernel gives them
    with fabric_sim.Simulation(netlist) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", heddle_conf=REPAIR)
        with opensm:
            yield simulation, opensm


@pytest.mark.parametrize("what", ["leaf cable", "spine cable"])
def test_a_lost_cable_is_repaired_before_the_sweep(running, what):
    simulation, opensm = running
    near = "S1_3_0" if what == "leaf cable" else "S3_3_0"
    far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
    cables = [cable(simulation, near, far)]
    log = lose(simulation, opensm, cables)
    repaired = re.search(REPAIRED, log)
    assert repaired, log
    assert int(repaired[1]) > 0
    lines = [line for line in log.splitlines() if "entries changed" in line]
    assert lines and all(NO_CHANGE in line for line in lines), lines
    assert log.index("repaired lost") < log.index("entries changed")
    assert not faults(simulation)
    restore(simulation, opensm, cables)


def test_a_lost_spine_is_repaired_before_the_sweep(running):
    simulation, opensm = running
    spine = spine_of(simulation, "S1_3_0")
    cables = all_cables(simulation, spine)
    log = lose(simulation, opensm, cables)
    assert re.search(REPAIRED, log), log
    lines = [line for line in log.splitlines() if "entries changed" in line]
    assert lines and NO_CHANGE in lines[-1], lines
    assert not faults(simulation)
    restore(simulation, opensm, cables)


def test_a_host_that_goes_away_leaves_holes(running):
    simulation, opensm = running
    node, ports = switches_of(simulation)["S1_5_5"]
    port = next(port for port, name in ports.items() if name.startswith("H"))
    log = lose(simulation, opensm, [f'"{node}"[{port}]'])
    assert re.search(REPAIRED, log), log
    assert not faults(simulation)
    restore(simulation, opensm, [f'"{node}"[{port}]'])


def test_what_comes_up_is_left_to_the_sweep(running):
    simulation, opensm = running
    cables = [cable(simulation, "S1_3_0", spine_of(simulation, "S1_3_0"))]
    lose(simulation, opensm, cables)
    since = len(opensm.log())
    simulation.command(f"ReLink {cables[0]}")
    opensm.sweep_until("new cable|0 entries changed", since=since)
    assert "repaired" not in opensm.log()[since:]
    assert not faults(simulation)


def test_a_burst_of_changes_leaves_no_fault(running):
    """A cable that flaps sends hundreds of traps within a second; a second one is lost meanwhile."""
    simulation, opensm = running
    flapping, lost = cable(simulation, "S1_2_1", "S2_2_3"), cable(simulation, "S1_4_1", "S2_4_3")
    since = len(opensm.log())
    simulation.command("\n".join([f"Unlink {flapping}\nReLink {flapping}"] * 100 + [f"Unlink {lost}"]))
    opensm.wait_for("SUBNET UP", since)
    opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
    opensm.sweep()
    assert not faults(simulation)
    restore(simulation, opensm, [lost])
