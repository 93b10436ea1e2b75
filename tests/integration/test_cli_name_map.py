# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--node-name-map: every command that prints names prints those of the map."""

import re

import pytest

from cli_testing import generate, heddle, refused, route

LEAF, HOST = "rack 7 (leaf)", "node one"


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A tree, tables with a hole, and a map with new names of the first leaf and of the first host."""
    folder = tmp_path_factory.mktemp("names")
    netlist = generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,4").read_text()
    leaf = re.search(r'(?m)^Switch\s.*"S-(\w+)".*"S1_0"', netlist).group(1)
    host = re.search(r'(?m)^Ca\s.*"H-(\w+)".*"H_0_0"', netlist).group(1)
    (folder / "map").write_text(f'# ours\n0x{leaf} "{LEAF}"\n0x{host}\t"{HOST}" # new\n')
    text = route("dmodk", folder / "tree", folder / "tables").read_text()
    (folder / "holes").write_text(re.sub(r"(?m)^0x0001 .*\n", "", text))
    for part in (1, 2):
        generate(folder / f"part{part}", "interconnect", f"--part={part}")
    return folder


@pytest.mark.parametrize("typed, status, names", [
    (["topo", "convert", "tree"], 0, [LEAF, HOST]),
    (["check", "tree", "holes"], 1, [LEAF]),
    (["route", "-e", "dmodk", "tree"], 0, [LEAF, HOST]),
    (["paths", "-e", "dmodk", "tree", HOST, "H_3_0"], 0, [LEAF, HOST]),
    (["mcast", "tree", HOST, "H_3_0"], 0, [LEAF, HOST])], ids=lambda value: str(value))
def test_commands_print_the_names_of_the_map(folder, typed, status, names):
    """Names select nodes, too."""
    text = heddle(*typed[:1], *typed[1:2] * (typed[0] == "topo"), "--node-name-map", "map",
                  *typed[1 + (typed[0] == "topo"):], status=status, cwd=folder)[0]
    for name in names:
        assert name in text
    assert not re.search(r"\bS1_0\b", text) or LEAF not in names


def test_switches_that_share_a_name_get_their_guid(folder, tmp_path):
    """By their GUIDs, in reports. Files have the names of the fabric."""
    text = re.sub(r'"S[12]_\d"', '"MF0;switch"', (folder / "tree").read_text())
    (tmp_path / "shared").write_text(text)
    guid = re.search(r'(?m)^Switch\s.*"S-(\w+)"', text).group(1)
    assert f"'MF0;switch 0x{guid}'" in heddle("check", tmp_path / "shared", folder / "holes", status=1)[0]
    assert f"MF0;switch 0x{guid}" in heddle("paths", "-e", "dmodk", tmp_path / "shared", "H_0_0", "H_3_0")[0]
    assert re.search(r"MF0;switch 0x\w+\[", heddle("sim", "--quick", "--fabric", tmp_path / "shared", "-e", "dmodk")[0])
    assert "MF0;switch 0x" not in heddle("route", "-e", "dmodk", tmp_path / "shared")[0]
    assert heddle("topo", "convert", tmp_path / "shared")[0] == text


def test_the_old_name_finds_nothing(folder):
    assert "H_0_0" in refused("paths", "-e", "dmodk", "--node-name-map", folder / "map", folder / "tree",
                              "H_0_0", "H_3_0")


def test_subnets_share_a_map(folder):
    """The names of both subnets' hosts are the map's in heddle map walk."""
    guids = [re.search(r'(?m)^Ca\s.*"H-(\w+)"', (folder / f"part{part}").read_text()).group(1) for part in (1, 2)]
    (folder / "both").write_text("".join(f'0x{guid} "host {i}"\n' for i, guid in enumerate(guids)))
    subnets = [f"--subnet=fec0:0:0:{part}::={folder}/part{part}" for part in (1, 2)]
    heddle("map", "issr", *subnets, "-o", folder / "maps")
    text = heddle("map", "walk", *subnets, "--maps", folder / "maps", "--node-name-map", folder / "both",
                  "host 0", "host 1")[0]
    assert "host 0" in text and "host 1" in text


def test_a_wrong_map_is_refused_with_the_line(folder, tmp_path):
    (tmp_path / "bad").write_text("# names\n0x200000 leaf\n")
    for command in (["topo", "show"], ["check", "-e", "spf"], ["topo", "convert"]):
        message = refused(*command, "--node-name-map", tmp_path / "bad", folder / "tree")
        assert f"{tmp_path}/bad:2: expected a node's GUID and its name in quotes" in message
    assert "cannot open" in refused("topo", "show", "--node-name-map", tmp_path / "none", folder / "tree")


def test_the_map_is_not_overwritten(folder):
    assert "which is an input" in refused("topo", "convert", "--node-name-map", folder / "map", "-o",
                                          folder / "map", folder / "tree")
