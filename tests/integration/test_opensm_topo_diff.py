# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`heddle topo diff --live` asks a live OpenSM, and runs ibnetdiscover: a cable that is pulled is missing, and when it
is back nothing differs."""

import json
import os

import cli_testing
import fabric_sim
import pytest
from cli_testing import CLEAN, FAULTS
from fabric_sim import Simulation, generate, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"needs {fabric_sim.missing_tools()}")
TREE = ("xgft", "--children=3,3,3", "--parents=1,3,3")
CABLE = '"S-0000000000200000"[4]'


def diff(plan, *options, status=None, **more):
    return json.loads(cli_testing.heddle("topo", "diff", "--json", *options, plan, status=status, **more)[0])


def test_the_fabric_of_a_running_opensm(tmp_path):
    plan = generate(tmp_path, *TREE)
    with Simulation(plan) as simulation, simulation.opensm("dmodk") as opensm:
        opensm.sweep()

        def live():
            return diff(plan, "--live=opensm", "--socket", opensm.status_socket())

        def discovered(status):
            tools = tmp_path / "bin"
            tools.mkdir(exist_ok=True)
            (tools / "ibnetdiscover").write_text(
                f'#!/bin/sh\nexec env LD_PRELOAD={simulation.preload()} /usr/sbin/ibnetdiscover "$@"\n')
            (tools / "ibnetdiscover").chmod(0o755)
            environment = {**simulation.environment, "PATH": f"{tools}:{os.environ['PATH']}"}
            return diff(plan, "--live=ibnetdiscover", status=status, env=environment)

        wait_until(lambda: not live()["differences"], "the fabric as planned")
        assert live()["match"] == "GUID" and live()["cables_in_place"] == 81
        assert discovered(CLEAN)["cables_in_place"] == 81
        simulation.command(f"Unlink {CABLE}")
        opensm.sweep()
        wait_until(lambda: live()["differences"], "a difference")
        for found in (live(), discovered(FAULTS)):
            assert [one["text"] for one in found["differences"]] == ["the cable S1_0_0[4] - S2_0_0[1] is missing"]
        simulation.command(f"ReLink {CABLE}")
        opensm.sweep()
        wait_until(lambda: not live()["differences"], "the fabric as planned again")
