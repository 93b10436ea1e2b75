# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive routing on a Dragonfly+, with private forwarding tables, from OpenSM into emulated switches."""

import json

import pytest

import emulator
import fabric_sim
from ar_sim import CAN_PRIVATE, mode_of, plan_of, private_faults, programmed, sweep
from emulator import AR_LFT, PLFT_INFO, SL_TO_PLFT, Emulator
from fabric_sim import Simulation, Topology, generate
from repair_sim import REPAIR, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
DFP = "[ar]\nalgorithm = dfp\n"


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("dfp"), "dragonfly-plus", "--islands=4", "--leaves=3",
                    "--spines=3", "--hosts=3", "--global-links=3")


def status_of(simulation, *options, command="status"):
    return json.loads(simulation.run(
        fabric_sim.HEDDLE, "ar", command, "--json", "--timeout", 10000, "--algorithm=dfp", *options,
        simulation.discover(), simulation.read_tables(), check=False))


def faults(simulation, emulated):
    return private_faults(simulation.discover(), plan_of(simulation, "--algorithm=dfp"),
                          emulated.tables())


def test_switches_hold_the_private_tables(netlist):
    """Four islands: what the switches hold equals `heddle ar plan` from dumps, all three tables of
    each; status says so, and says otherwise when an entry of a private table, or the choice among
    the tables, is changed behind its back. The next sweep mends both."""
    emulated = Emulator(setup=[CAN_PRIVATE])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dfp", heddle_conf=DFP) as opensm:
            said = programmed(opensm)
            assert (said["algorithm"], said["switches"], said["of"]) == ("dfp", 24, 24)
            assert faults(simulation, emulated) == []
            assert status_of(simulation, "-o", "held.far")["differences"] == 0
            simulation.run(fabric_sim.HEDDLE, "ar", "plan", "--algorithm=dfp", "-o", "planned",
                           simulation.discover(), simulation.read_tables())
            assert ((simulation.folder / "held.far").read_text() ==
                    (simulation.folder / "planned" / "heddle.far").read_text())
            assert sweep(opensm)["sets"] == 0

            guid = min(emulated.tables())
            lid = next(lid for (plft, lid), entry in emulated.tables()[guid]["lft"].items()
                       if plft == 2 and entry[0] == "bounded")
            emulated.poke(guid, AR_LFT, 2 << 24 | lid // 16, 4 * (lid % 16), b"\x80")
            assert status_of(simulation)["differences"] == 1
            difference, = status_of(simulation, command="diff")
            assert (int(difference["guid"], 16), difference["table"], difference["lid"]) == (guid, 2, lid)
            emulated.poke(guid, SL_TO_PLFT, 0, 16, b"\x02")
            assert status_of(simulation)["differences"] == 2
            assert sweep(opensm)["sets"] == 4  # AR off, the two blocks, AR on
            assert faults(simulation, emulated) == []
            assert status_of(simulation)["differences"] == 0


def test_another_algorithm_ends_their_use(netlist):
    """After DFP, with another algorithm or without AR, no switch uses private tables."""
    emulated = Emulator(setup=[CAN_PRIVATE])
    with Simulation(netlist, emulator=emulated) as simulation:
        enabled = "[ar]\nenable = yes\nalgorithm = "
        with simulation.opensm("dfp", heddle_conf=enabled + "dfp\n") as opensm:
            programmed(opensm)
            conf = simulation.folder / "heddle.conf"
            for algorithm in ("tree", "dfp"):
                conf.write_text(f"{enabled}{algorithm}\n")
                sweep(opensm)
                held = emulated.tables().values()
                assert {mode_of(switch) for switch in held} == {algorithm == "dfp"}
                assert any(switch["enabled"] for switch in held)
            conf.write_text("[ar]\nenable = no\n")
            opensm.sweep()
            fabric_sim.wait_until(
                lambda: not any(held["enabled"] or mode_of(held)
                                for held in emulated.tables().values()), "AR to be off")


def test_links_fail_and_return(netlist):
    """After a link fails, and returns, the switches hold the plan for the routes as they are then."""
    emulated = Emulator(setup=[CAN_PRIVATE])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dfp", heddle_conf=DFP) as opensm:
            programmed(opensm)
            topology = fabric_sim.Topology(simulation.discover())
            guid, port = min(end for end, far in topology.peer.items()
                             if end[0] in topology.switches and far[0] in topology.switches)
            for command in ("Unlink", "ReLink"):
                simulation.command(f'{command} "S-{guid:016x}"[{port}]')
                sweep(opensm)
                sweep(opensm)
                assert faults(simulation, emulated) == []
                assert status_of(simulation)["differences"] == 0


@pytest.mark.parametrize("setup", ([], [CAN_PRIVATE, "set all plfts=2"]))
def test_switches_without_room_are_refused(netlist, setup):
    """DFP with switches that have no private tables, or too few: the log says so, and nothing is
    programmed. With the algorithm auto such a fabric has adaptive routing, and nobody is asked for
    private tables."""
    emulated = Emulator(setup=setup)
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dfp", heddle_conf=DFP) as opensm:
            opensm.wait_for("DFP needs two sub-groups and private forwarding tables in every switch")
            assert not any(held["enabled"] for held in emulated.tables().values())
    emulated = Emulator(setup=setup)
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dfp") as opensm:
            assert programmed(opensm)["algorithm"] != "dfp"
            assert (PLFT_INFO, "get") not in emulated.totals()


def a_cable(simulation):
    """ibsim's name of a cable between two switches."""
    fabric = Topology(simulation.discover())
    node, port = min((node, port) for (node, port), far in fabric.peer.items()
                     if node in fabric.switches and far[0] in fabric.switches)
    return f'"S-{node:016x}"[{port}]'


def test_a_repair_leaves_the_private_tables(netlist):
    """A cable is lost: before the forwarding tables change, no switch uses private tables. After the sweep all hold
    the plan again."""
    emulated = Emulator(setup=[CAN_PRIVATE])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dfp", heddle_conf=DFP + REPAIR) as opensm:
            programmed(opensm)
            wait_until_ready(opensm, adaptive=True)
            since = len(opensm.log())
            simulation.command("Unlink " + a_cable(simulation))
            opensm.wait_for("repaired lost cable", since)
            programmed(opensm, since)
            assert faults(simulation, emulated) == []
            assert "ERR HD11" not in opensm.log()
