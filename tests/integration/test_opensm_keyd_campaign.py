# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A short piece of the campaign tests/flaps/keyd: random clients, losses, kills and stops, each grant checked."""

import os

import fabric_sim
import keyd_campaign
import pytest

pytestmark = [pytest.mark.skipif(os.getuid() != 0, reason="becomes other users"),
              pytest.mark.skipif(bool(fabric_sim.missing_tools() + keyd_campaign.missing()),
                                 reason=f"missing: {fabric_sim.missing_tools() + keyd_campaign.missing()}")]


def test_campaign():
    campaign = keyd_campaign.run("short", 0.3, honest=3, hostile=2, runners=1)
    print(campaign.summary())
    assert campaign.faults == []
    assert campaign.tally["held"] and campaign.tally["active at rest"]
    hung = [name for name in campaign.tally if "canceled: " in name]
    assert all("killed" in name or "the campaign ends" in name for name in hung), hung
