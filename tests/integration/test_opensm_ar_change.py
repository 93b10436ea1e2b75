# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive routing while forwarding tables change: switches that do not answer then, and what a
change costs in a fabric of 512 hosts."""

import re

import pytest

import emulator
import fabric_sim
from ar_sim import differing, missing_blocks, plan_of, programmed, sweep, table_sets
from cli_testing import THOROUGH
from emulator import AR_LFT, AR_LFT_OLD, Emulator
from fabric_sim import Simulation, Topology, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
SMALL = ("xgft", "--children=6,6,6", "--parents=1,6,6")
LARGE = ("xgft", "--children=8,8,8", "--parents=1,8,8")
HUGE = ("xgft", "--children=9,9,9", "--parents=1,9,9")
BELOW = '"S-0000000000200120"[12]'  # leaf 0 of pod 3 to the last switch above it
STUCK = "switch 0x{:016x} does not answer and keeps its old adaptive routing"
OLD_WAY_ROUND, OLD_WAY_SAFE = 0x200000, 0x200010  # leaves 0 and 1 of pod 0


def wait_for_routing(opensm):
    """Sweeps until tables have changed; the log of that."""
    since = len(opensm.log())
    return opensm.sweep_until(fabric_sim.CHANGED, since=since)


@pytest.mark.parametrize("guid, unsafe", ((OLD_WAY_SAFE, False), (OLD_WAY_ROUND, True)))
def test_silent_while_tables_change(tmp_path, guid, unsafe):
    """A leaf does not answer when a cable elsewhere fails. The new tables wait 5 s at most. The log
    names the leaf once, and says whether its old groups can close a credit loop: the switch above
    that has lost the way now leads down by leaf 0, so only the groups of leaf 0 lead in a circle. All
    others hold the plan; the leaf does after it is healed."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            emulated.fault(guid, "silent")
            since = len(opensm.log())
            simulation.command("Unlink " + BELOW)
            wait_for_routing(opensm)
            log = opensm.wait_for(STUCK.format(guid), since)
            assert log.count(STUCK.format(guid)) == 1, log[-3000:]
            assert ("can close a credit loop with the new tables" in log) == unsafe
            assert ("proved to be safe with the new tables" in log) != unsafe
            emulated.heal()

            def is_programmed():  # a switch that was left is tried again after 5 s
                sweep(opensm)
                return not differing(plan_of(simulation), emulated.tables())

            fabric_sim.wait_until(is_programmed, lambda: f"the plan in all switches\n{opensm.log()[-3000:]}")


def test_old_form(tmp_path):
    """Switches that know only the old form of the tables get those: the plan, a changed entry mended,
    and a cable that fails."""
    emulated = Emulator(setup=["set all form=old"])
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            held, seen = emulated.tables(), emulated.totals()
            assert (AR_LFT_OLD, "set") in seen and (AR_LFT, "set") not in seen
            assert differing(plan_of(simulation), held, old=True) == []
            emulated.poke(OLD_WAY_SAFE, AR_LFT_OLD, 1, 0, b"\x80\x03")
            assert differing(plan_of(simulation), emulated.tables(), old=True) == [OLD_WAY_SAFE]
            assert sweep(opensm)["sets"] == 1
            assert differing(plan_of(simulation), emulated.tables(), old=True) == []
            simulation.command("Unlink " + BELOW)
            wait_for_routing(opensm)
            sweep(opensm)
            assert differing(plan_of(simulation), emulated.tables(), old=True) == []


def test_large_tree(tmp_path):
    """192 switches and 512 hosts: the switches hold the plan of TREE, with 5% more MADs than needed
    at most. After a cable has failed, what is set are the blocks that differ, and those with entries
    that were static meanwhile."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *LARGE), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", heddle_conf="[ar]\nalgorithm = tree\n") as opensm:
            said = programmed(opensm)
            plan, held = plan_of(simulation, "--algorithm", "tree"), emulated.tables()
            assert said["of"] == 192 and differing(plan, held, numbers=True) == []
            lids = 1 + max(lid["lid"] for switch in plan.values() for lid in switch["lids"])
            blocks = sum(-(-len(switch["groups"]) // 2) + -(-lids // 16)
                         for switch in plan.values() if switch["groups"])
            needed = blocks + said["switches"]  # set; enabled
            print(f"{said['mads']} MADs, {needed} needed")
            assert needed <= said["mads"] <= 1.05 * needed
            emulated.zero()
            since = len(opensm.log())
            simulation.command('Unlink "S-0000000000200000"[9]')
            wait_for_routing(opensm)
            programmed(opensm, since)
            found = re.findall(r"while the tables change, (\d+) of (\d+)", opensm.log())
            static = sum(int(few) for few, _ in found)
            missing, (sent, _) = missing_blocks(held, emulated.tables()), table_sets(emulated)
            print(f"one cable: {missing} blocks differ, {sent} set, {found} static meanwhile")
            assert missing <= sent <= 3 * (missing + static)


def losses(simulation):
    """ibsim's names of a cable at a leaf, one at a spine, a spine, a leaf, and another cable at a leaf."""
    names = {guid: name for name, guid in Topology(simulation.discover()).names.items()}
    node = {name: f'"S-{guid:016x}"' for guid, name in names.items() if name.startswith("S")}
    return [node["S1_3_4"] + "[15]", node["S3_2_5"] + "[7]", node["S3_6_6"], node["S1_8_2"], node["S1_7_1"] + "[17]"]


def test_losses_in_a_large_fabric(tmp_path):
    """729 hosts: all entries stay adaptive while tables change, in each loss and each return. After each all
    switches hold the plan."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *HUGE), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options=fabric_sim.SURE) as opensm:
            programmed(opensm)
            chosen = losses(simulation)[slice(0, 5) if THOROUGH else slice(1, 3)]
            for lost in chosen:
                for command in ("Unlink", "ReLink"):
                    simulation.command(f"{command} {lost}")
                    sweep(opensm)
                    sweep(opensm)  # the first one may have begun before the command
            log = opensm.log()
            assert differing(plan_of(simulation), emulated.tables()) == []
        # where only LIDs are lost, no table changes before the next plan
        assert log.count("all entries stay adaptive while the tables change") >= 2 * len(chosen) - 2
        assert "is off while" not in log and "are static" not in log and "ERR HD11" not in log
