# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Cables, switches and hosts fail and return at random under a live OpenSM. After each event an
independent checker finds no fault in the switches' tables. tests/flaps/run does the same for hours.
"""

import fabric_sim
import flaps
import pytest

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

EVENTS = 6
RUNS = [("two-level", "dmodk"), ("two-level", "updown"), ("three-level", "dmodk"),
        ("irregular", "spf"), ("irregular", "updown"), ("two-level-sharp", "dmodk"),
        ("three-level-sharp", "dmodk")]
# Engines whose tables do not depend on what happened before, once everything is up again.
RETURNS = {"dmodk"}


@pytest.mark.parametrize("fabric, engine", RUNS)
def test_random_events_leave_no_fault(tmp_path, fabric, engine):
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    done, unlike = flaps.run(netlist, engine, f"{fabric} {engine}", EVENTS)
    print(f"{fabric}, {engine}: {flaps.summary(done, unlike)}")
    assert [(event.what, event.faults[:3]) for event in done if event.faults] == []
    assert len(done) >= EVENTS
    if engine in RETURNS:
        assert unlike == 0


def test_a_damaged_start_leaves_no_fault(tmp_path):
    """Parts are missing when OpenSM starts and come back later; hosts have two LIDs."""
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS["two-level-sharp"][0])
    done, _ = flaps.run(netlist, "auto", "damaged", EVENTS, options={"lmc": 1}, damaged=True)
    assert [(event.what, event.faults[:3]) for event in done if event.faults] == []
    assert len(done) >= EVENTS
