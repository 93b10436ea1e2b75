# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""spf compared with OpenSM's dfsssp on fabrics with cycles: no more lanes, and more bandwidth."""

import json
import re

import fabric_sim
import pytest
from fabric_sim import Simulation, generate, heddle

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

FABRICS = {
    "torus": ("torus", "--dims", "4,4,4"),
    "irregular-30": ("irregular", "--switches", "30", "--radix", "12", "--hosts", "4"),
    "irregular-100": ("irregular", "--switches", "100", "--radix", "16", "--hosts", "4"),
    "dragonfly-plus": ("dragonfly-plus", "--islands", "9", "--leaves", "4", "--spines", "4",
                       "--hosts", "4", "--global-links", "4"),
}
NEEDED = {
    "dfsssp": r"Virtual Lanes needed: (\d+)",
    "spf": r"free of credit loops on (\d+) virtual lane",
}


def bisect(simulation):
    """The report on the tables in the switches."""
    return json.loads(heddle("ebb", "--json", simulation.discover(), simulation.read_tables(),
                             "-n", 3000).stdout)


def measure(simulation, engine):
    """(lanes needed, report of the bisections) of an engine on a simulated fabric."""
    log = simulation.opensm(engine, options={"qos": "TRUE"}).once()
    assert engine == "dfsssp" or f"heddle: {engine}: " in log, "OpenSM took another engine"
    needed = re.findall(NEEDED[engine], log) or ["1"]  # spf does not say so of a single one
    return int(needed[-1]), bisect(simulation)


@pytest.fixture(scope="module", name="measured", params=FABRICS)
def fixture_measured(request, tmp_path_factory):
    """{engine: (lanes, report)} on one fabric; both have the same LIDs."""
    folder = tmp_path_factory.mktemp(request.param)
    with Simulation(generate(folder, *FABRICS[request.param])) as simulation:
        return {engine: measure(simulation, engine) for engine in ("dfsssp", "spf")}


def test_spf_needs_no_more_lanes_than_dfsssp(measured):
    assert measured["spf"][0] <= measured["dfsssp"][0]


def test_spf_is_worth_more_than_dfsssp(measured):
    ours, theirs = measured["spf"][1], measured["dfsssp"][1]
    assert ours["broken"] == theirs["broken"] == 0
    assert ours["mean"] > theirs["mean"]
