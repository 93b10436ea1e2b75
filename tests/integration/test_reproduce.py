# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The experiments of the papers in their short form, with all scenarios.

A run depends on nothing but the scenario and its seed, so each figure keeps its verdict until the
simulator, an engine or a scenario changes. reproduce_misses.txt lists the figures that do not agree
with the papers; doc/papers says why. To renew the list, run

    REPRODUCE_RENEW=1 HEDDLE_BIN=build/check/cli/heddle HEDDLE_SCENARIOS=sim/scenarios \\
        /usr/bin/python3 -m pytest tests/integration/test_reproduce.py
"""
import json
import os
import pathlib
import subprocess

import pytest
from cli_testing import HEDDLE
from fabric_sim import PATIENCE

MISSES = pathlib.Path(__file__).with_name("reproduce_misses.txt")


@pytest.fixture(scope="module")
def report():
    done = subprocess.run([HEDDLE, "reproduce", "all", "--quick", "--json"], capture_output=True,
                          text=True, timeout=4 * PATIENCE)  # it computes for minutes, on idle cores
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def misses(report):
    return [f"{expected['verdict']}: {scenario['scenario']}: {expected['name']}: {expected['point']}"
            for scenario in report["scenarios"] for expected in scenario["expectations"]
            if expected["verdict"] != "within"]


def test_every_run_is_complete(report):
    assert report["scenarios"] and not report["partial"]
    assert all(scenario["finished"] == scenario["runs"] > 0 for scenario in report["scenarios"])


def test_every_scenario_expects_something(report):
    assert [s["scenario"] for s in report["scenarios"] if not s["expectations"]] == []


def test_the_verdicts_are_the_known_ones(report):
    found = misses(report)
    if os.environ.get("REPRODUCE_RENEW"):
        MISSES.write_text("".join(f"{line}\n" for line in found))
    assert found == MISSES.read_text().splitlines()
    assert len(found) == report["outside"] + report["open"]
