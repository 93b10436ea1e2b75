# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle survive --state: trials are kept, taken again, and refused if they are of something else."""

import random

import pytest

from cli_testing import FAULTS, generate, heddle, refused

RUN = ["-e", "dmodk", "-r", "5..20/5", "--trials", 5, "-n", 50]


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("survive") / "tree.net", "kary-ntree", "--k=3", "--n=3")


@pytest.fixture(scope="module", name="whole")
def fixture_whole(tree):
    """What a run without a file prints: there are refusals in it, with their reasons."""
    text = heddle("survive", tree, *RUN, status=FAULTS)[0]
    assert "refused: engine 'dmodk'" in text
    return text


@pytest.fixture(name="kept")
def fixture_kept(tree, whole, tmp_path):
    path = tmp_path / "kept"
    assert heddle("survive", tree, *RUN, "--state", path, status=FAULTS)[0] == whole
    assert len(path.read_text().splitlines()) == 1 + 20
    return path


def test_any_rest_is_done(tree, whole, kept):
    """Whatever trials are kept, and wherever the last line is cut off, the report is that of one run."""
    text = kept.read_text()
    numbers = random.Random(1)
    for _ in range(12):
        head, *lines = text.splitlines(keepends=True)
        some = head + "".join(line for line in lines if numbers.random() < 0.6)
        kept.write_text(some[:numbers.randrange(len(some))])
        assert heddle("survive", tree, *RUN, "--state", kept, status=FAULTS)[0] == whole
        assert sorted(kept.read_text().splitlines()) == sorted(text.splitlines())


def test_other_shares_and_counts_take_what_fits(tree, kept):
    """A share that was measured before costs nothing; the others are added."""
    before = len(kept.read_text().splitlines())
    other = ["-e", "dmodk", "-r", "10,12", "--trials", 7, "-n", 50]
    expected = heddle("survive", tree, *other, status=FAULTS)[0]
    assert heddle("survive", tree, *other, "--state", kept, status=FAULTS)[0] == expected
    assert len(kept.read_text().splitlines()) == before + 2 + 7


@pytest.mark.parametrize("change", [["-s", 2], ["-n", 51], ["-p", "ring"], ["-e", "spf"], ["--map", "identity"], ["--fair"],
                                    ["--ar"], ["--lmc", 1], ["--weights", "rate"], ["--max-reverse-hops", 1]])
def test_other_work_is_refused(tree, kept, change):
    options = [word for word in RUN if "-e" not in change or word not in ("-e", "dmodk")]
    assert "kept keeps work on other input" in refused("survive", tree, *options, *change, "--state", kept)


def test_another_fabric_is_refused(tree, kept, tmp_path):
    """Also one with a cable less."""
    other = generate(tmp_path / "other.net", "kary-ntree", "--k=3", "--n=3", "--remove-links", "1%", "--seed", 1)
    assert "kept keeps work on other input" in refused("survive", other, *RUN, "--state", kept)


def test_policy_files_count_by_their_content(tree, tmp_path):
    guids, kept = tmp_path / "guids", tmp_path / "kept"
    guids.write_text("")
    run = ["survive", tree, "-e", "updown", "-r", 5, "--trials", 2, "-n", 5, "--guid-routing-order-file", guids,
           "--state", kept]
    heddle(*run, status=None)
    guids.write_text("# the same, but who knows\n")
    assert "keeps work on other input" in refused(*run)


@pytest.mark.parametrize("line", ["", "trial", "trial 1", "trail 4014000000000000 1 1 0 1 1 89 0 0 0 0 3fe97818c93aa826",
                                  "trial 4014000000000000 1 1 0 1 1 89 0 0 0 0", "trial x 1 1 0 1 1 89 0 0 0 0 3f",
                                  "trial 4014000000000000 1 0 0 1 1 89 0 0 0 0 3fe97818c93aa826",
                                  "trial 40140000000000001 1 1 0 1 1 89 0 0 0 0 3fe97818c93aa826",
                                  "trial 4014000000000000 1 1 0 1 1 89 0 0 0 0 3fe97818c93aa826x",
                                  "trial 4014000000000000 -1 1 0 1 1 89 0 0 0 0 3fe97818c93aa826", "trial " + "1 " * 2000])
def test_damaged_files_are_refused_with_their_line(tree, kept, line):
    with open(kept, "a") as file:
        file.write(line + "\n")
    before = kept.read_text()
    assert f"{kept}:22: expected the outcome of a trial" in refused("survive", tree, *RUN, "--state", kept)
    assert kept.read_text() == before


def test_bad_options(tree, tmp_path):
    assert "option '--state' needs shares of links" in refused("survive", tree, "-e", "dmodk", "--repair", 1, "--state",
                                                                tmp_path / "kept")
    assert "tree.net" in refused("survive", tree, "-e", "dmodk", "--state", tree)
    assert "cannot" in refused("survive", tree, "-e", "dmodk", "--state", tmp_path / "none" / "kept")
