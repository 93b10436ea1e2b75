# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The experiments of the papers. Runs are the short ones, without the scenarios that take longest; with
HEDDLE_LONG_SCENARIOS=1 (./check --papers) they are the complete ones, all of them. CI takes some more than ./check.

sim/scenarios/EXPERIMENT/figures.csv has the figures of both kinds of runs, with their intervals. A run depends on
nothing but the scenario and its seeds, so a figure outside its stored interval shows that the simulator, an engine or
a scenario has changed. To renew the figures:

    REPRODUCE_RENEW=1 HEDDLE_BIN=build/check/cli/heddle \\
        HEDDLE_SCENARIOS=sim/scenarios /usr/bin/python3 -m pytest tests/integration/test_reproduce.py

once as it is, and once with HEDDLE_LONG_SCENARIOS=1. That renews no verdict: reproduce_misses.txt has each figure that
is not within its tolerance, and is written by hand. Each of its entries has a line `VERDICT: SCENARIO: FIGURE: POINT`,
and below it the value, its cause, and what would decide it.
"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess

import pytest
from cli_testing import HEDDLE, THOROUGH
from fabric_sim import PATIENCE

MISSES = pathlib.Path(__file__).with_name("reproduce_misses.txt")
SCENARIOS = pathlib.Path(os.environ.get("HEDDLE_SCENARIOS", MISSES.parents[2] / "sim" / "scenarios"))
LONG = {"inter-subnet/figure-2-6", "inter-subnet/messages-6", "irregular/nodes-15-7030", "irregular/nodes-30-3070",
        "irregular/nodes-30-7030", "irregular/shares-15", "routing-keys/figure-7", "routing-keys/figure-8",
        "routing-keys/figure-9"}
SLOW = {"irregular/nodes-15-3070", "routing-keys/figure-4", "routing-keys/figure-6"}  # their short runs are for CI
COMPLETE = os.environ.get("HEDDLE_LONG_SCENARIOS") == "1"
RENEW = bool(os.environ.get("REPRODUCE_RENEW"))
COLUMNS = ["runs", "scenario", "figure", "point", "paper", "full", "seeds", "value", "low", "high"]
SIDES = {"above": "> ", "below": "< "}
KIND = "complete" if COMPLETE else "quick"
EQUAL = 1e-9  # of figures without an interval


def scenarios():
    listed = subprocess.run([HEDDLE, "reproduce", "--list"], capture_output=True, text=True, check=True)
    names = {line.strip() for line in listed.stdout.splitlines() if line.startswith(" ")}
    assert LONG | SLOW < names
    return sorted(names if COMPLETE else names - LONG if THOROUGH else names - LONG - SLOW)


@pytest.fixture(scope="module")
def report():
    state = os.environ.get("REPRODUCE_STATE")  # a folder with finished runs
    done = subprocess.run([HEDDLE, "reproduce", *scenarios(), *([] if COMPLETE else ["--quick"]), "--json",
                           *(["--state", state] if state else [])],
                          capture_output=True, text=True, timeout=(60 if COMPLETE else 4) * PATIENCE)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def rows_of(report):
    """All figures as rows of figures.csv."""
    return [{"runs": KIND, "scenario": scenario["scenario"], "figure": row["name"], "point": row["point"],
             "paper": SIDES.get(row["judge"], "") + f"{row['expected']:.4g}",
             "full": f"{100 * row['full']:.1f}%" if "full" in row else "", "seeds": str(row.get("seeds", 0)),
             **{key: f"{row[name]:.6g}" if name in row else ""
                for key, name in (("value", "measured"), ("low", "low"), ("high", "high"))}}
            for scenario in report["scenarios"] for row in scenario["expectations"]]


def verdicts_of(report):
    return {(scenario["scenario"], row["name"], row["point"]): row["verdict"]
            for scenario in report["scenarios"] for row in scenario["expectations"]}


def key_of(row):
    return row["runs"], row["scenario"], row["figure"], row["point"]


def stored(experiment):
    path = SCENARIOS / experiment / "figures.csv"
    return list(csv.DictReader(io.StringIO(path.read_text()))) if path.exists() else []


def renew(report):
    """Other kinds of runs keep their rows."""
    found = rows_of(report)
    for experiment in sorted({row["scenario"].split("/")[0] for row in found}):
        rows = [row for row in stored(experiment) if row["runs"] != KIND]
        rows += [row for row in found if row["scenario"].startswith(experiment + "/")]
        with open(SCENARIOS / experiment / "figures.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: row["runs"]))


def changed(before, now):
    """Whether a figure is outside of the interval that it had."""
    if not before["value"] or not now["value"]:
        return before["value"] != now["value"]
    value, low, high = float(now["value"]), float(before["low"]), float(before["high"])
    room = EQUAL * abs(value) + 1e-5 * abs(value)  # six digits are stored
    return not low - room <= value <= high + room


def known_misses():
    """{(scenario, figure, point): (verdict, words)}"""
    entries = {}
    for block in re.split(r"\n(?=\S)", MISSES.read_text()):
        head, *lines = block.rstrip().split("\n")
        if head.startswith("#"):
            continue
        verdict, scenario, figure, point = (head.split(": ", 3) + [""])[:4]
        words = {name: text for name, text in (line.strip().split(": ", 1) for line in lines)}
        assert (scenario, figure, point) not in entries, head
        entries[scenario, figure, point] = verdict, words
    return entries


def test_every_run_is_complete(report):
    assert [scenario["scenario"] for scenario in report["scenarios"]] == scenarios()
    assert not report["partial"]
    assert all(scenario["finished"] == scenario["runs"] > 0 for scenario in report["scenarios"])


def test_every_scenario_expects_something(report):
    assert [s["scenario"] for s in report["scenarios"] if not s["expectations"]] == []


def test_every_figure_has_a_value(report):
    assert report["open"] == 0
    assert [row for row in rows_of(report) if not row["value"]] == []


def test_no_figure_has_left_its_interval(report):
    if RENEW:
        renew(report)
    before = {key_of(row): row for experiment in {name.split("/")[0] for name in scenarios()}
              for row in stored(experiment)}
    found = rows_of(report)
    assert [key_of(row) for row in found if key_of(row) not in before] == []
    assert [(row, before[key_of(row)]) for row in found if changed(before[key_of(row)], row)] == []


def test_the_verdicts_are_the_known_ones(report):
    """Complete runs have exactly the known misses. Short runs have few seeds: most decide nothing."""
    known, found = known_misses(), verdicts_of(report)
    assert set(known) <= {(row["scenario"], row["figure"], row["point"]) for name in
                          {scenario for scenario, *_ in known} for row in stored(name.split("/")[0])
                          if row["runs"] == "complete"}
    if COMPLETE:
        assert {key: verdict for key, verdict in found.items() if verdict != "within"} == \
            {key: verdict for key, (verdict, _) in known.items()}
        return
    # without an interval a figure is exact: shorter runs have the same
    exact = {(scenario["scenario"], row["name"], row["point"]) for scenario in report["scenarios"]
             for row in scenario["expectations"] if row["verdict"] == "outside" and row["low"] == row["high"]}
    assert exact and all(known[key][0] == "outside" for key in exact & set(known))


def test_every_miss_is_explained():
    for key, (verdict, words) in known_misses().items():
        assert verdict in ("outside", "undecided"), key
        assert set(words) == {"value", "cause", "decides"}, key
        assert all(words.values()), key


def test_values_of_misses_are_the_stored_ones():
    for (scenario, figure, point), (_, words) in known_misses().items():
        row, = [row for row in stored(scenario.split("/")[0])
                if key_of(row) == ("complete", scenario, figure, point)]
        written = float(words["value"].split()[0])
        assert written == pytest.approx(float(row["value"]), rel=2e-3), (scenario, figure, point)
