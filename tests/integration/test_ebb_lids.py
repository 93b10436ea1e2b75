# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle ebb, compare and survive with several LIDs a port: which of them flows go to."""

import re

import pytest

from cli_testing import ebb, generate, heddle, refused


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lids")


@pytest.fixture(scope="module", name="small")
def fixture_small(folder):
    return generate(folder / "small.net", "xgft", "--children=4,4", "--parents=1,2",
                    "--parallel=1,2")


def test_every_lid_can_be_used(folder):
    tree = generate(folder / "lmc.net", "kary-ntree", "--k=4", "--n=2")
    several = ["-p", "neighbours:grid=4,4", "-n", 500]  # flows a source at once
    means = {lids: ebb(tree, "-e", "dmodk", "--lmc", 2, *several, "--lids", lids)["mean"]
             for lids in ("base", "source", "random", "rotate", "spread")}
    assert len(set(means.values())) == 5
    waits, goes_on = (ebb(tree, "-e", "dmodk", "--lmc", 1, "-n", 500, "--lids", lids)["mean"]
                      for lids in ("spread", "parallel"))
    assert goes_on > waits + 0.01


@pytest.mark.parametrize("lids, remark", [
    ("base", ""), ("source", ", LIDs by source"), ("random", ", LIDs at random"),
    ("rotate", ", LIDs round robin"), ("spread", ", spread over all LIDs"),
    ("parallel", ", over all LIDs in parallel")])
def test_reports_name_the_choice_of_lids(folder, small, lids, remark):
    page = folder / "lids.html"
    chosen = ["--lmc", 1, "--lids", lids, "-n", 20]
    line = re.compile(f"(?m)^pattern .*, seed 1{remark}$")
    assert line.search(heddle("ebb", small, "-e", "dmodk", *chosen)[0])
    assert line.search(heddle("compare", small, "-e", "dmodk", "-e", "spf", *chosen, "--html",
                              page)[0])
    assert f", seed 1{remark}.</p>" in page.read_text()
    assert line.search(heddle("survive", small, "-e", "spf", "-r", "0", "--trials", 1, *chosen)[0])
    assert ebb(small, "-e", "dmodk", *chosen)["lids"] == lids


def test_congestion_in_parts_is_said_to_be_rounded_up(folder, small):
    """Over the histogram's whole numbers the mean of 1/pi is less than the headline then, and the
    same for flows that do not divide."""
    page = folder / "parts.html"
    for lids, remark in (("spread", ", pi rounded up"), ("base", "")):
        chosen = ["--lmc", 1, "--lids", lids, "-n", 20]
        report = ebb(small, "-e", "spf", *chosen)
        rounded = sum(routes / pi for pi, routes in report["histogram"]) / report["routes"]
        assert (rounded < report["mean"] - 0.01) == (lids == "spread")
        text = heddle("ebb", small, "-e", "spf", *chosen)[0]
        assert f"\n     pi         routes   share{remark}\n" in text
        heddle("compare", small, "-e", "dmodk", "-e", "spf", *chosen, "--html", page)
        assert f"<h2>Routes by their congestion{remark}</h2>" in page.read_text()


def test_flows_that_divide_have_no_other_shares(small):
    for shares in (["--fair"], ["--weights", "rate"]):
        message = refused("ebb", small, "-e", "dmodk", "--lids", "spread", *shares)
        assert "flows spread over all LIDs have only shares of 1/pi" in message


def test_a_pattern_that_does_not_vary_is_run_once_a_turn(folder):
    """In turn its flows can go to 2^LMC sets of LIDs, and the figure is the mean over these."""
    tree = generate(folder / "turns.net", "kary-ntree", "--k=4", "--n=2")
    fixed = ["-e", "dmodk", "--lmc", 2, "-p", "complement", "--map", "identity"]
    assert ebb(tree, *fixed, "--lids", "source")["patterns"] == 1
    assert ebb(tree, *fixed, "--lids", "rotate")["patterns"] == 4
    assert ebb(tree, *fixed, "--lids", "rotate", "-n", 3)["patterns"] == 3
    assert "differ by their LIDs alone: 4 are run" in heddle("ebb", tree, *fixed, "--lids",
                                                             "rotate")[0]
