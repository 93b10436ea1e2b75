# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A short piece of the campaign tests/flaps/repairs: random losses, each block that a switch takes checked."""

import fabric_sim
import flaps
import pytest
import repair_campaign

MISSING = fabric_sim.missing_tools() + [str(path) for path in (fabric_sim.CLOCK, repair_campaign.SWEEP_ALONE)
                                        if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")


@pytest.mark.parametrize("fabric, engine, options, groups",
                         [("two-level-sharp", "dmodk", {"lmc": 2}, 3), ("irregular", "updown", {}, 0)])
def test_random_losses(tmp_path, fabric, engine, options, groups):
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    found, repairs, sweeps = [], 0, 0
    for part in range(5):  # a busy machine may be too slow for the first repairs, which then leave all to the sweep
        tally = repair_campaign.run(netlist, engine, f"{fabric}-{part}", 6 if not part else 3,
                                    lambda outcome, _: found.extend(outcome.faults), options, groups=groups)
        assert found == []
        repairs += tally["repairs"]
        sweeps += tally["sweeps"]
        if repairs and sweeps:
            return
    assert repairs and sweeps
