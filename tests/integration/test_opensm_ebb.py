# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Effective bisection bandwidth of OpenSM's engines and ours, from the tables in the switches."""

import json

import fabric_sim
import pytest
from fabric_sim import Simulation, generate, heddle

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

# Bisect of OpenSM's engines as published or measured before, by another program.
GOLDEN = {
    "psmn-x5": {"minhop": 0.724, "dfsssp": 0.740},
    "ib145": {"minhop": 0.554},
    "chic-like": {"minhop": 0.576, "ftree": 0.739, "dfsssp": 0.633, "nue": 0.635},
    "10-ary-3-tree": {"minhop": 0.238, "ftree": 0.710, "dfsssp": 0.625, "nue": 0.623},
    "12-ary-3-tree": {"ftree": 0.701},
}
DUMPS = {"psmn-x5": "psmn-x5/X5.topofile", "ib145": "ib145/topo.ibnet",
         "chic-like": "chic-like/chic.net"}
TREES = ("chic-like", "10-ary-3-tree", "12-ary-3-tree")
CASES = [(fabric, engine) for fabric, engines in GOLDEN.items() for engine in engines]
LONGEST = [("12-ary-3-tree", "ftree"), ("10-ary-3-tree", "dfsssp"), ("10-ary-3-tree", "nue")]
WITHIN = 0.005


@pytest.fixture(scope="module", name="measured")
def fixture_measured(tmp_path_factory):
    """Bisect and dissemination of an engine on a fabric, measured once."""
    folder = tmp_path_factory.mktemp("ebb")
    netlists, simulations, figures = {}, {}, {}

    def netlist(fabric):
        if fabric in DUMPS:
            dump = fabric_sim.FABRICS / DUMPS[fabric]
            if not dump.exists():
                pytest.skip(f"{dump} is not there")
            path = folder / f"{fabric}.net"
            heddle("topo", "convert", dump, "-o", path)
            return path
        return generate(folder, "kary-ntree", "--k", fabric.split("-")[0], "--n", 3)

    def ebb(fabric, *files):
        return {pattern: json.loads(heddle("ebb", "--json", *files, "-p", pattern, "-n", count).stdout)
                for pattern, count in (("bisect", 2000), ("dissemination", 500), ("tree", 1000))
                if pattern != "tree" or fabric == "chic-like"}

    def opensm(fabric, engine):
        if fabric not in simulations:
            netlists.setdefault(fabric, netlist(fabric))
            simulations[fabric] = Simulation(netlists[fabric]).__enter__()
        simulation = simulations[fabric]
        simulation.opensm(engine).once()
        return ebb(fabric, simulation.discover(), simulation.read_tables())

    def measure(fabric, engine, ours=False):
        if (fabric, engine) not in figures:
            if ours:
                netlists.setdefault(fabric, netlist(fabric))
                figures[fabric, engine] = ebb(fabric, netlists[fabric], "-e", engine)
            else:
                figures[fabric, engine] = opensm(fabric, engine)
        return figures[fabric, engine]

    yield measure
    for simulation in simulations.values():
        simulation.__exit__(None, None, None)


@pytest.mark.parametrize("fabric, engine", [
    pytest.param(*case, marks=[pytest.mark.alike] if case in LONGEST else []) for case in CASES])
def test_engines_of_opensm_have_their_figures(measured, fabric, engine):
    report = measured(fabric, engine)["bisect"]
    assert report["broken"] == 0
    assert report["mean"] == pytest.approx(GOLDEN[fabric][engine], abs=WITHIN)


def test_chic_like_has_its_figures_for_other_patterns(measured):
    report = measured("chic-like", "minhop")
    assert report["dissemination"]["mean"] == pytest.approx(0.403, abs=WITHIN)
    assert report["tree"]["mean"] == pytest.approx(0.712, abs=WITHIN)


@pytest.mark.parametrize("fabric", TREES)
@pytest.mark.parametrize("engine", ["dmodk", "spf", "updown"])
def test_ours_are_not_below_ftree_on_trees(measured, fabric, engine):
    for pattern in ("bisect", "dissemination"):
        ours = measured(fabric, engine, ours=True)[pattern]
        theirs = measured(fabric, "ftree")[pattern]
        assert ours["mean"] >= theirs["mean"] - ours["half_width_99"]


@pytest.mark.parametrize("fabric", ["psmn-x5", "ib145"])
@pytest.mark.parametrize("engine", ["spf", "updown"])
def test_ours_are_above_dfsssp_where_the_tree_is_not_perfect(measured, fabric, engine):
    for pattern in ("bisect", "dissemination"):
        ours = measured(fabric, engine, ours=True)[pattern]
        assert ours["mean"] > measured(fabric, "dfsssp")[pattern]["mean"]
