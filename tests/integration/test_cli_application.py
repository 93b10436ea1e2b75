# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle ebb --application: how much of its run time an application would keep with full bandwidth."""

import csv
import io
import json

import pytest

from cli_testing import FAULTS, SOURCE, ebb, generate, heddle, refused, route

EXAMPLES = SOURCE / "doc" / "examples"


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("application") / "tree", "xgft", "--children=4,4", "--parents=1,2")


def written(folder, text):
    path = folder / "file"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name, time_left", [("pop", 80.89), ("mpqc", 96.08), ("milc", 94.81), ("octopus", 95.79)])
def test_the_examples_have_the_figures_of_the_paper(name, time_left):
    """The table of section 5.2 for Thunderbird, to all its digits."""
    path = EXAMPLES / f"{name}.application"
    assert round(100 * ebb("--application", path)["time_left"], 2) == time_left
    assert f"{time_left}% of today's" in heddle("ebb", "--application", path)[0]


def test_patterns_are_measured_where_there_is_a_fabric(tree, tmp_path):
    """Each bandwidth is the figure that ebb -p gives, divided by what a crossbar gives. The file's
    bandwidth does not count there."""
    path = written(tmp_path, "10% bisect 1%\n20% neighbours:grid=4,4\n0.3 tree\n5% gather\n")
    report = ebb("--application", path, "-n", 300, "-e", "dmodk", tree)
    crossbars = [1, 1 / 4, 1, 1 / 15]
    left = 1
    for part, crossbar, share in zip(report["parts"], crossbars, (0.1, 0.2, 0.3, 0.05)):
        alone = ebb("-p", part["pattern"], "-n", 300, "-e", "dmodk", tree)
        assert part["mean"] == alone["mean"] and part["patterns"] == alone["patterns"]
        assert part["crossbar"] == pytest.approx(crossbar)
        assert part["bandwidth"] == pytest.approx(alone["mean"] / crossbar)
        assert part["share"] == pytest.approx(share)
        left -= share * (1 - part["bandwidth"])
    assert report["time_left"] == pytest.approx(left) and report["speedup"] == pytest.approx(1 / left)
    assert 0.3 < report["parts"][0]["bandwidth"] < 0.9 and report["parts"][3]["bandwidth"] == pytest.approx(1)
    assert report["parts"][0]["bandwidth_in_file"] == 0.01
    text = heddle("ebb", "--application", path, "-n", 300, "-e", "dmodk", tree)[0]
    assert f"{100 * left:.2f}% of today's" in text and "0.0100  bisect" in text


def test_the_table_for_spreadsheets_has_the_figures(tree, tmp_path):
    path = written(tmp_path, "10% bisect\n20% ring 0.5\n")
    report = ebb("--application", path, "-n", 50, "-e", "spf", tree)
    text = heddle("ebb", "--application", path, "-n", 50, "-e", "spf", tree, "--csv")[0]
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert [float(row["bandwidth"]) for row in rows] == pytest.approx([p["bandwidth"] for p in report["parts"]])
    assert all(float(row["time_left"]) == pytest.approx(report["time_left"]) for row in rows)


def test_broken_routes_are_counted(tree, tmp_path):
    holed = route("dmodk", tree, tmp_path / "tables")
    lines = holed.read_text().splitlines()
    dropped = [i for i, line in enumerate(lines) if "'H" in line][:5]
    holed.write_text("\n".join(line for i, line in enumerate(lines) if i not in dropped) + "\n")
    path = written(tmp_path, "10% bisect\n")
    text = heddle("ebb", "--application", path, "-n", 50, tree, holed, status=FAULTS)[0]
    report = json.loads(heddle("ebb", "--application", path, "-n", 50, tree, holed, "--json", status=FAULTS)[0])
    assert report["broken_routes"] > 0 and f"{report['broken_routes']} routes between hosts are broken" in text


@pytest.mark.parametrize("text, message", [
    ("10% tree\n0% ring 1\n", ":2: share '0%' is not a number"),
    ("10% tree 0.5\n95% ring 1\n", ":2: the shares up to here add up to more than 1"),
    ("10% tree 1.5\n", ":1: bandwidth '1.5' is not a number"),
    ("10% rign 1\n", ":1: unknown pattern 'rign'; did you mean 'ring'?"),
    ("tree\n", ":1: expected SHARE PATTERN [BANDWIDTH]: 'tree'"),
    ("10% tree 0.5\n10% ring # no bandwidth\n", ":2: pattern ring has no bandwidth; without FABRIC each line needs one"),
    ("# nothing\n", ": the file has no pattern")])
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, message):
    path = written(tmp_path, text)
    assert f"{path}{message}" in refused("ebb", "--application", path)


def test_a_pattern_that_does_not_fit_the_fabric_is_refused_with_its_line(tree, tmp_path):
    path = written(tmp_path, "10% tree\n10% neighbours:grid=9,9\n")
    assert f"{path}:2: pattern neighbours: " in refused("ebb", "--application", path, "-e", "spf", tree)


@pytest.mark.parametrize("words, message", [
    (["-p", "tree"], "--application and --pattern do not work together"),
    (["--fair"], "does not work with --fair"), (["--weights", "rate"], "does not work with --fair or --weights rate"),
    (["--hot", "3"], "--hot, --plot, --plan and --ar do not work"),
    (["--ar", "auto"], "--hot, --plot, --plan and --ar do not work")])
def test_options_that_say_nothing_of_an_application_are_refused(tree, tmp_path, words, message):
    path = written(tmp_path, "10% tree 0.5\n")
    assert message in refused("ebb", "--application", path, "-e", "spf", tree, *words)
