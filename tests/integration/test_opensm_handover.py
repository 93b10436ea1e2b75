# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The first engine of a list refuses, the next one takes over, and the first one comes back: only
the entries change whose paths used what failed, and they go back."""

import re

import emulator
import fabric_sim
import flaps
import pytest
from ar_sim import programmed, sweep
from emulator import AR_INFO, Emulator
from fabric_sim import Simulation, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

# Two leaf switches that lose different spines have no path that climbs and then descends. The number
# says how many entries updown moves because they break its rules: in the second tree it can only
# route such hosts if some leaf switches are above spines.
TREES = [(("xgft", "--children", "4,8", "--parents", "1,2"), 0),
         (("xgft", "--children", "4,3,4", "--parents", "1,2,2"), 63)]


def crossed(damage):
    """Two cables: after both of them dmodk refuses."""
    fabric = damage.intact
    leaves = {fabric.cable[near][0] for near in fabric.cable if near[0] not in fabric.switches}
    for first in sorted(leaves - damage.guarded):
        for second in sorted(leaves - damage.guarded - {first}):
            ups = [{fabric.cable[near][0]: near for near in sorted(fabric.cable)
                    if near[0] == leaf and fabric.cable[near][0] in fabric.switches}
                   for leaf in (first, second)]
            if ups[0].keys() == ups[1].keys():
                one, other = sorted(ups[0])
                return [f"cable {flaps.end_name(fabric, end)}" for end in (ups[0][one], ups[1][other])]
    raise AssertionError("no such leaves")


@pytest.mark.parametrize("engines", ("dmodk,updown", "ar_ftree,ar_updown"))
@pytest.mark.parametrize("tree, moved", TREES, ids=["two-level", "three-level"])
def test_hand_over_moves_nothing_without_need(tmp_path, tree, moved, engines):
    """Also under names that stand for these engines with adaptive routing."""
    netlist = generate(tmp_path, *tree)
    emulated = Emulator(setup=["ar all share=0"]) if engines.startswith("ar_") else None
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm(engines, options={"qos": "TRUE"}) as opensm:
            damage = flaps.Damage(simulation, "hand-over")
            events = flaps.Flaps(simulation, opensm, damage)
            cables = crossed(damage)
            done = [events.step(cables[0], True)]
            before = events.tables
            for _ in range(3):
                done.append(events.step(cables[1], True))
                done.append(events.step(cables[1], False))
                assert events.tables == before
            done.append(events.step(cables[0], False))
            print([(event.what, event.engine, event.changed, event.needless) for event in done])
            assert [event.engine for event in done] == \
                ["dmodk"] + 3 * ["updown", "dmodk"] + ["dmodk"]
            assert [event.faults for event in done] == [[]] * len(done)
            assert [event.needless for event in done] == [0] + 3 * [moved, 0] + [0]
            assert events.unlike_first() == 0


def test_an_engine_that_refuses_goes_on_refusing(tmp_path):
    """Without a change of the fabric no sweep and no restart makes another engine route: tables of
    the second engine do not help the first one to accept."""
    netlist = generate(tmp_path, "torus", "--dims", "5,5", "--hosts", "1")
    with Simulation(netlist) as simulation:  # qos FALSE: there is one lane, and spf needs more
        for first in (None, "0"):
            since = len(simulation.opensm("spf,updown").log())
            with simulation.opensm("spf,updown") as opensm:
                opensm.sweep()
                opensm.sweep()
                lines = re.findall(r"heddle: (\w+): .*; (\d+) entries changed", opensm.log()[since:])
            assert len(lines) >= 3 and {engine for engine, _ in lines} == {"updown"}
            assert {count for _, count in lines[0 if first else 1:]} == {"0"}


@pytest.mark.skipif(bool(emulator.missing()), reason=f"missing: {emulator.missing()}")
def test_adaptive_routing_stays_on_after_a_refusal(tmp_path):
    """The first engine refuses in each sweep, and the second one, which is ours, too, routes as before:
    AR is not switched off for that."""
    emulated = Emulator()
    netlist = generate(tmp_path, "torus", "--dims", "4,4", "--hosts", "1", "--parallel", "2")
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk,ar_updown") as opensm:
            assert programmed(opensm)["lids"] > 0
            held = emulated.tables()
            for _ in range(2):
                emulated.zero()
                sweep(opensm)
                assert "ERR HD05" in opensm.log()
                assert (AR_INFO, "set") not in emulated.totals()
            assert emulated.tables() == held
