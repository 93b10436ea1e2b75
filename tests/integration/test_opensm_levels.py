# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Virtual lanes of a live subnet: heddle check reads OpenSM's dumps of them with its tables."""

import json
import re

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")


def check(*files, clean):
    done = fabric_sim.heddle("check", "--json", *files, check=False)
    assert done.returncode == (0 if clean else 1), done.stderr
    return json.loads(done.stdout)


def test_opensms_dump_of_lanes_is_read(tmp_path):
    """With the levels of the same routes there is no credit loop. If all levels are on one lane, there
    is one. One pair of ports may have other lanes, as with torus-2QoS."""
    netlist = generate(tmp_path, "torus", "--dims", "5,5")
    with Simulation(netlist) as simulation:
        simulation.opensm("spf", options={"qos": "TRUE"}, log_flags=LOG_DUMPS).once()
        fabric, folder = simulation.discover("live.topo"), simulation.folder
        tables, lanes, paths = folder / "opensm-lfts.dump", folder / "opensm-sl2vl.dump", tmp_path / "p"
        fabric_sim.heddle("route", "-e", "spf", fabric, "-o", tmp_path / "ours", "--psl", paths)
        whole = check(fabric, tables, lanes, paths, clean=True)["lanes"]
        assert whole > 1
        row = re.compile(r"(?m)^(\d+ +\d+ +:)( \d+ *){16}$")
        text = lanes.read_text()
        (tmp_path / "one").write_text(row.sub(r"\1" + " 0" * 16, text))
        assert check(fabric, tables, tmp_path / "one", paths, clean=False)["lanes"] == 1
        pair = re.search(r"(?m)^2 +3 +:.*$", text).group()
        changed = row.sub(r"\1" + " 9" * 16, pair)
        (tmp_path / "two").write_text(text.replace(pair, changed, 1))
        assert check(fabric, tables, tmp_path / "two", paths, clean=True)["lanes"] == whole + 1
