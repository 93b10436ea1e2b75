# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests find the modules by which the demo and the benches simulate a fabric, too. Those that simulate one run on one
core, unless their module says ALL_CORES = True."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging" / "testbed"))

import fabric_sim  # noqa: E402
import one_core  # noqa: E402
from cli_testing import THOROUGH  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "alike: hardly differs from another case; ./check without options leaves it to CI")


def pytest_collection_modifyitems(config, items):
    alike = [] if THOROUGH else [item for item in items if item.get_closest_marker("alike")]
    if alike:
        config.hook.pytest_deselected(items=alike)
        items[:] = [item for item in items if item not in alike]


@pytest.fixture(scope="module", autouse=True)
def cores_of_module(request):
    """Programs that a test starts have the cores of the test."""
    if not hasattr(request.module, "Simulation") or getattr(request.module, "ALL_CORES", False):
        yield
        return
    before = os.sched_getaffinity(0)
    with one_core.choose(fabric_sim.BUILD / "cores"):
        yield
        os.sched_setaffinity(0, before)
