# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A short piece of the campaign tests/flaps/repairs: random losses, each block that a switch takes checked."""

import fabric_sim
import flaps
import pytest
import repair_campaign

MISSING = fabric_sim.missing_tools() + [str(path) for path in (fabric_sim.CLOCK, repair_campaign.SWEEP_ALONE)
                                        if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")


@pytest.mark.parametrize("fabric, engine, options", [("two-level-sharp", "dmodk", {"lmc": 2}), ("irregular", "updown", {})])
def test_random_losses(tmp_path, fabric, engine, options):
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    found = []
    tally = repair_campaign.run(netlist, engine, fabric, 10, lambda outcome: found.extend(outcome.faults), options)
    assert found == []
    assert tally["repairs"] and tally["sweeps"]
