# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bench/run --lanes: what it removes of fabrics, what it tells torus-2QoS, its cells, and one row."""

import os
import subprocess
import sys

import pytest

from cli_testing import SOURCE, generate, show
from fabric_sim import BUILD, PATIENCE, missing_tools

sys.path.append(str(SOURCE / "bench"))
import lane_table  # noqa: E402
import netlist_damage  # noqa: E402


@pytest.mark.parametrize("kind", (("torus", "--dims=4,4", "--hosts=2"), ("slim-fly", "--q=3", "--hosts=1"),
                                  ("irregular", "--switches=20", "--radix=8", "--cycles=6", "--hosts=2")))
def test_damage_is_what_it_says(tmp_path, kind):
    whole = generate(tmp_path / "whole", *kind)
    before = show(whole)
    for cables, switches in ((0, 0), (1, 0), (5, 0), (0, 1), (2, 2)):
        path = tmp_path / "damaged.net"
        text = netlist_damage.damaged(whole.read_text(), cables, switches)
        assert text == netlist_damage.damaged(whole.read_text(), cables, switches)
        path.write_text(text)
        after = show(path)
        hosts = before["hosts"] // before["switches"]
        assert after["switches"] == before["switches"] - switches
        assert after["hosts"] == before["hosts"] - switches * hosts
        assert after["components"] == 1
        left = len(netlist_damage.Netlist(text).switch_cables())
        all_cables = len(netlist_damage.Netlist(whole.read_text()).switch_cables())
        assert left == all_cables - cables if not switches else left < all_cables - cables


def test_the_middle_has_the_fewest_hops(tmp_path):
    path = generate(tmp_path / "mesh", "mesh", "--dims=3,3")
    assert netlist_damage.middle(path.read_text()) == f"0x{0x200000 + 16 * 4:016x}"


def test_seeds_of_a_torus_are_its_neighbours(tmp_path):
    """Each link that torus-2QoS.conf names is a cable, from the seed's switch in both directions."""
    text = generate(tmp_path / "torus", "torus", "--dims=4,5,6").read_text()
    netlist = netlist_damage.Netlist(text)
    lines = lane_table.torus_conf([4, 5, 6]).splitlines()
    assert lines[0] == "torus 4 5 6"
    links = [line.split() for line in lines if "_link" in line]
    assert len(links) == 4 * 6 and sorted({link[0] for link in links}) == [
        f"{name}{sign}_link" for name in "xyz" for sign in "mp"]
    for _, near, far in links:
        names = [f"S-{int(guid, 16):016x}" for guid in (near, far)]
        assert names[1] in [cable[1] for cable in netlist.cables(names[0])]
    assert lane_table.torus_sizes("hypercube --dimensions 3") is None
    assert lane_table.torus_conf([8, 8]).startswith("torus 1 8 8\n")


def test_a_cell_takes_the_best_that_the_lanes_are_enough_for():
    figures = [lane_table.Figure("lash", .5, 3), lane_table.Figure("nue:vls=2", .4, 2),
               lane_table.Figure("dor", .6, None, "*"), lane_table.Figure("updn", None, None, "refused")]
    assert lane_table.cell(.45, figures, 1) == ("0.450", False)
    assert lane_table.cell(.45, figures, 2) == ("0.450 +0.050 nue", False)
    assert lane_table.cell(.45, figures, 3) == ("**0.450 \N{MINUS SIGN}0.050 lash**", True)
    assert lane_table.cell(.5, figures, 8) == ("0.500 +0.000 lash", False)
    assert lane_table.cell(None, figures, 2) == ("**refused \N{MINUS SIGN}0.400 nue**", True)
    assert lane_table.engine_cells(figures) == ["-", "refused", "-", "-", "0.600*", "-", "0.500 (3)", "-", "-", "0.400"]


@pytest.mark.skipif(bool(missing_tools()) or not (BUILD / "bench" / "libheddlebench.so").exists(),
                    reason="needs OpenSM, ibsim and the benchmarks")
def test_a_row_has_all_engines():
    done = subprocess.run([SOURCE / "bench" / "run", "--lanes", "1,8", "--ebb", "50", "--only", "torus 4x4x4"],
                          capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env=dict(os.environ, HEDDLE_BUILD=str(BUILD)))
    assert done.returncode == 0, done.stderr
    tables = [[line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
              for part in done.stdout.split("\n\n") if part.startswith("| ")]
    assert [[row[0] for row in table[1:]] for table in tables] == [list(lane_table.DAMAGES)] * 2
    assert all(len(row) == 3 for row in tables[0])
    whole = dict(zip(*tables[1][:2]))
    assert whole["minhop"].endswith("*") and float(whole["lash"].split()[0]) > .4
    assert float(whole["2QoS"].split()[0]) > .4 and float(whole["updn"].split()[0]) > .2
