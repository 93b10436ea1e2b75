# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The experiments of the papers in their short form. The scenarios that take longest are only run
with HEDDLE_LONG_SCENARIOS=1 (./check --papers).

A run depends on nothing but the scenario and its seed, so each figure keeps its verdict until the
simulator, an engine or a scenario changes. reproduce_misses.txt lists the figures that do not agree
with the papers; doc/papers says why. To renew the list, run

    REPRODUCE_RENEW=1 HEDDLE_LONG_SCENARIOS=1 HEDDLE_BIN=build/check/cli/heddle \\
        HEDDLE_SCENARIOS=sim/scenarios /usr/bin/python3 -m pytest tests/integration/test_reproduce.py
"""
import json
import os
import pathlib
import subprocess

import pytest
from cli_testing import HEDDLE
from fabric_sim import PATIENCE

MISSES = pathlib.Path(__file__).with_name("reproduce_misses.txt")
LONG = {"inter-subnet/figure-2-6", "inter-subnet/messages-6", "irregular/nodes-15-7030", "irregular/nodes-30-3070",
        "irregular/nodes-30-7030", "irregular/shares-15", "routing-keys/figure-7", "routing-keys/figure-8",
        "routing-keys/figure-9"}
ALL = os.environ.get("HEDDLE_LONG_SCENARIOS") == "1"


def scenarios():
    listed = subprocess.run([HEDDLE, "reproduce", "--list"], capture_output=True, text=True, check=True)
    names = {line.strip() for line in listed.stdout.splitlines() if line.startswith(" ")}
    assert LONG < names
    return sorted(names if ALL else names - LONG)


@pytest.fixture(scope="module")
def report():
    done = subprocess.run([HEDDLE, "reproduce", *scenarios(), "--quick", "--json"], capture_output=True,
                          text=True, timeout=4 * PATIENCE)  # it computes for minutes, on idle cores
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def misses(report):
    return [f"{expected['verdict']}: {scenario['scenario']}: {expected['name']}: {expected['point']}"
            for scenario in report["scenarios"] for expected in scenario["expectations"]
            if expected["verdict"] != "within"]


def test_every_run_is_complete(report):
    assert [scenario["scenario"] for scenario in report["scenarios"]] == scenarios()
    assert not report["partial"]
    assert all(scenario["finished"] == scenario["runs"] > 0 for scenario in report["scenarios"])


def test_every_scenario_expects_something(report):
    assert [s["scenario"] for s in report["scenarios"] if not s["expectations"]] == []


def test_the_verdicts_are_the_known_ones(report):
    found, known = misses(report), MISSES.read_text().splitlines()
    if os.environ.get("REPRODUCE_RENEW"):
        assert ALL
        MISSES.write_text("".join(f"{line}\n" for line in found))
        return
    assert found == [line for line in known if ALL or line.split(": ")[1] not in LONG]
    assert len(found) == report["outside"] + report["open"]
