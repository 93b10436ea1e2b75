# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Machines with several adapters: what heddle topo show says of them, and patterns by machine."""

import json
import re

import pytest

from cli_testing import FABRICS, generate, heddle, refused

RAILS = ["rail-tree", "--machines=6", "--adapters=4", "--spines=2"]


def machines(fabric, *options):
    return json.loads(heddle("topo", "show", "--json", *options, fabric)[0])["machines"]


def text(fabric, *options):
    return heddle("topo", "show", *options, fabric)[0]


@pytest.fixture(name="rails", scope="module")
def fixture_rails(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("rails") / "fabric", *RAILS)


# ---- heddle topo show ----

def test_topo_show_finds_the_machines_of_a_rail_tree(rails):
    assert machines(rails) == {"by": "system-guid", "count": 6, "by_ports": [{"ports": 4, "machines": 6}],
                               "why_not_others": ""}
    assert "machines     6, by system image GUIDs\n    4 ports  6\n" in text(rails)
    assert "machines     6, by names\n    4 ports  6\n" in text(rails, "--machines", "name")


def test_without_system_guids_names_count(tmp_path):
    fabric = generate(tmp_path / "fabric", *RAILS, "--system-guids=none", "--devices=hca")
    found = machines(fabric)
    assert (found["by"], found["count"]) == ("name", 6)
    assert found["why_not_others"] == "system image GUIDs: no adapter has a system image GUID"
    assert "no adapter has a system image GUID" in refused("topo", "show", "--machines=system-guid", fabric)


def test_aggregation_nodes_are_no_machines(tmp_path):
    fabric = generate(tmp_path / "fabric", *RAILS, "--aggregation-nodes")
    assert machines(fabric)["by_ports"] == [{"ports": 4, "machines": 6}]


def test_a_system_guid_that_all_adapters_share_is_refused(tmp_path, rails):
    wrong = tmp_path / "wrong"
    wrong.write_text(re.sub(r"(?m)^sysimgguid=.*(?=\ncaguid)", "sysimgguid=0x1234", rails.read_text()))
    assert "'gpu01 mlx5_0' and 'gpu02 mlx5_0' have the same system image GUID 0x1234" in refused(
        "topo", "show", "--machines=system-guid", wrong)
    assert machines(wrong)["by"] == "name"


def test_a_file_says_which_adapters_are_one_machine(tmp_path, rails):
    """Two machines of the file; the adapters that it does not name are machines of their own."""
    (tmp_path / "file").write_text('"gpu01 mlx5_0" a\n"gpu02 mlx5_3" a # both\n0x100000000 b\n'.replace(
        "0x100000000", "0x100010"))
    assert machines(rails, "--machines", tmp_path / "file") == {
        "by": "file", "count": 23, "by_ports": [{"ports": 1, "machines": 22}, {"ports": 2, "machines": 1}],
        "why_not_others": ""}


BAD_FILES = [("gpu01 mlx5_0 a\n", "file:1: expected `ADAPTER MACHINE`"),
             ('"gpu01 mlx5_0" a\n"gpu01 mlx5_0" b\n', "file:2: adapter 'gpu01 mlx5_0' is listed twice"),
             ("gpu01 a\n", "file:1: "), ("nobody a\n", "file:1: "), ("", "file"), ('"a b', "file:1: ")]


@pytest.mark.parametrize("content,message", BAD_FILES)
def test_bad_files_of_machines_are_refused_with_the_line(tmp_path, rails, content, message):
    (tmp_path / "file").write_text(content)
    assert message in refused("topo", "show", "--machines", tmp_path / "file", rails)


@pytest.mark.parametrize("path", ["avakas/ibnetdiscover-p.txt", "psmn-x5/X5.topofile", "ib145/topo.ibnet"])
def test_hosts_of_real_fabrics_with_one_adapter_each_are_no_machines(path):
    fabric = FABRICS / path
    if not fabric.exists():
        pytest.skip(f"no {fabric}: set HEDDLE_FABRICS to its folder")
    found = machines(fabric)
    assert (found["by"], found["count"], found["by_ports"]) == ("none", 0, [])
    assert found["why_not_others"].startswith("names: no two adapters have names of one machine")
    assert "machines     none is known to have several adapters\n" in text(fabric)
    assert "names: no two adapters" in text(fabric, "-v")
