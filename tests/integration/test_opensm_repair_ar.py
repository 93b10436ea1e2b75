# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep with adaptive routing on, live on emulated switches: groups, entries and
forwarding tables are repaired together. The sweep that follows sets nothing, and packets arrive over all
ports that the switches may choose, by walks in what they hold."""

import re

import pytest

import emulator
import fabric_sim
from ar_sim import Walker, differing, plan_of, programmed, sweep, table_sets
from emulator import AR_INFO, Emulator
from fabric_sim import SURE, Simulation, Topology, generate, wait_until
from repair_sim import REPAIR, all_cables, cable, faults, restore, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")
REPAIRED = r"heddle: repaired lost .*?: (\d+) entries on (\d+) switches in (\d+) ms"


def lose(simulation, opensm, cables):
    """Unlinks the cables. The log up to the programming of adaptive routing after the sweep that follows the
    repair, and the values of its line."""
    wait_until_ready(opensm, adaptive=True)
    since = len(opensm.log())
    simulation.command("\n".join(f"Unlink {one}" for one in cables))
    repair = opensm.wait_for_match("heddle: repaired lost|no repair before the sweep", since)
    routed = opensm.wait_for_match("entries changed", repair.end())
    values = programmed(opensm, routed.end())
    return opensm.log()[since:], values


def entries_changed(log):
    return [int(number) for number in re.findall(r"(\d+) entries changed", log)]


LOSSES = {"leaf cable": lambda simulation: [cable(simulation, "S1_0_0", "S2_0_0")],
          "spine cable": lambda simulation: [cable(simulation, "S2_2_1", "S3_1_1")],
          "switch": lambda simulation: all_cables(simulation, "S2_1_2")}


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    emulated = Emulator()
    netlist = generate(tmp_path_factory.mktemp("repair"), *TREE)
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options=SURE, heddle_conf=REPAIR) as opensm:
            programmed(opensm)
            yield simulation, opensm, emulated


@pytest.mark.parametrize("what", LOSSES)
def test_a_loss_is_repaired_with_adaptive_routing(running, what):
    simulation, opensm, emulated = running
    cables = LOSSES[what](simulation)
    log, values = lose(simulation, opensm, cables)
    repaired = re.search(REPAIRED, log)
    assert repaired, log
    assert log.index("repaired lost") < log.index("entries changed")
    assert set(entries_changed(log)) == {0}, log
    assert values["sets"] == 0, log
    assert not Walker(simulation, emulated).lost()
    assert not faults(simulation)
    assert differing(plan_of(simulation), emulated.tables()) == []
    restore(simulation, opensm, cables)
    sweep(opensm)


def test_groups_lose_the_port_although_adaptive_routing_stays_on(running):
    """No switch has its adaptive routing switched off on the way."""
    simulation, opensm, emulated = running
    emulated.zero()
    cables = [cable(simulation, "S1_2_2", "S2_2_3")]
    log, _ = lose(simulation, opensm, cables)
    assert re.search(REPAIRED, log), log
    sent, infos = table_sets(emulated)
    assert sent > 0
    # an AdaptiveRoutingInfo is set once at most for each switch: for the number of its groups
    counters = emulated.counters()
    assert all(seen.get((AR_INFO, "set"), 0) <= 1 for seen in counters.values()), infos
    node = Topology(simulation.discover()).names["S1_2_2"]
    lost = int(cables[0].split("[")[1][:-1])
    assert all(lost not in ports for ports in emulated.tables()[node]["groups"].values())
    restore(simulation, opensm, cables)
    sweep(opensm)


def test_a_mixed_fabric(tmp_path):
    """Some switches have no adaptive routing, and use their forwarding tables. The others know only the
    old form of AR tables, where adaptive entries have no static port."""
    emulated = Emulator(setup=["set all form=old", "ar all share=0.6"])
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options=SURE, heddle_conf=REPAIR) as opensm:
            programmed(opensm)
            log, values = lose(simulation, opensm, [cable(simulation, "S1_3_0", "S2_3_1")])
            assert re.search(REPAIRED, log), log
            assert set(entries_changed(log)) == {0} and values["sets"] == 0, log
            assert not faults(simulation)


def test_a_switch_that_does_not_answer(tmp_path):
    """The repair stops, and the sweep does the rest. Nothing stays wrong when the switch answers again."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", heddle_conf=REPAIR) as opensm:
            programmed(opensm)
            silent = Topology(simulation.discover()).names["S1_3_1"]
            wait_until_ready(opensm, adaptive=True)
            emulated.fault(silent, "silent", method="set")
            since = len(opensm.log())
            simulation.command("Unlink " + cable(simulation, "S1_3_0", "S2_3_1"))
            log = opensm.wait_for("no repair before the sweep, which does it instead", since)
            emulated.heal()
            assert f"switch 0x{silent:016x} did not take its tables of adaptive routing" in log
            assert "repaired lost" not in log

            def is_mended():
                sweep(opensm)
                return not differing(plan_of(simulation), emulated.tables())

            wait_until(is_mended, "all switches to hold the plan")
            assert not Walker(simulation, emulated).lost()
            assert not faults(simulation)
