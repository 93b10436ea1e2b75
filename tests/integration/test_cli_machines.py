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


# ---- heddle ebb and others, by machine ----

GROUPS = ["rail-tree", "--groups=4", "--machines=4", "--adapters=4", "--spines=2"]


@pytest.fixture(name="groups", scope="module")
def fixture_groups(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("groups") / "fabric", *GROUPS)


def ebb(fabric, *options, status=0):
    return json.loads(heddle("ebb", "--json", "-n", 50, *options, fabric, status=status)[0])


def test_a_bisection_of_machines_has_a_flow_of_every_rail(groups):
    report = ebb(groups, "-e", "dmodk", "--by-machine")
    assert report["machines"] == {"count": 16, "adapters": 4, "by": "system-guid", "left_out": 0}
    assert report["routes"] == 50 * 8 * 4 and report["by_machine"]["transfers"] == 50 * 8
    assert 0 < report["by_machine"]["mean"] < report["mean"] + 1e-9 < 1
    lines = heddle("ebb", "-n", 50, "-e", "dmodk", "--by-machine", groups)[0]
    assert "pattern     bisect among 16 machines, map random, seed 1\n" in lines
    assert "machines    16 of 4 adapters each, by system image GUIDs\n" in lines
    assert re.search(r"(?m)^by machine  0\.\d{4} \+- .* over 400 transfers of machines$", lines)


def test_within_one_group_rails_never_meet(rails):
    """All adapters of a rail are on one leaf, so nothing between rails of one name crosses a spine."""
    for pattern in ("bisect", "nccl-ring", "nccl-all-to-all"):
        report = ebb(rails, "-e", "spf", "--by-machine", "-p", pattern)
        assert report["mean"] == report["by_machine"]["mean"] == 1


def test_without_pxn_an_all_to_all_crosses_rails(rails):
    words = ["-e", "dmodk", "--hot", 99, "--map", "identity", "-n", 1]
    for pxn, crosses in (("yes", False), ("no", True)):
        hottest = ebb(rails, *words, "-p", f"nccl-all-to-all:pxn={pxn}")["hottest"]
        assert any(link["to"]["node"].startswith("S2_") for link in hottest) == crosses


def test_trees_have_what_four_flows_of_an_adapter_leave(rails):
    report = ebb(rails, "-e", "dmodk", "-p", "nccl-tree")
    assert report["routes"] == 50 * 4 * 4 * 5 and report["mean"] == 0.25
    assert ebb(rails, "-e", "dmodk", "-p", "nccl-tree:phase=reduce")["mean"] > 0.25


def test_a_machine_that_lacks_an_adapter_is_left_out(tmp_path, groups):
    names = re.findall(r'# "(gpu\d+ mlx5_\d)" lid', groups.read_text())
    (tmp_path / "hosts").write_text("".join(f'"{name}"\n' for name in names if name != "gpu03 mlx5_2"))
    report = ebb(groups, "-e", "dmodk", "--by-machine", "--map", tmp_path / "hosts")
    assert report["machines"] == {"count": 15, "adapters": 4, "by": "system-guid", "left_out": 1}
    assert "; 1 with another number left out" in heddle(
        "ebb", "-n", 5, "-e", "dmodk", "--by-machine", "--map", tmp_path / "hosts", groups)[0]
    assert "an odd number of machines: one sits out" in heddle(
        "ebb", "-n", 5, "-e", "dmodk", "--by-machine", "--map", tmp_path / "hosts", groups)[0]


def test_compare_and_survive_work_by_machine(groups):
    words = ["-n", 20, "-e", "dmodk", "--by-machine"]
    report = json.loads(heddle("compare", "--json", "-e", "spf", *words, groups)[0])
    assert report["machines"]["count"] == 16
    assert all(side["by_machine"]["transfers"] == 160 for side in report["compared"])
    assert " by machine\n" in heddle("compare", "-e", "spf", *words, groups)[0]
    report = json.loads(heddle("survive", "--json", "-r", 5, "--trials", 1, *words, groups, status=None)[0])
    assert report["machines"]["adapters"] == 4
    assert "\nmachines 16 of 4 adapters each, by system image GUIDs\n" in heddle(
        "survive", "-r", 5, "--trials", 1, *words, groups, status=None)[0]


def test_the_table_for_spreadsheets_has_machines(groups):
    head, row = heddle("ebb", "--csv", "-n", 20, "-e", "dmodk", "--by-machine", groups)[0].splitlines()
    report = ebb(groups, "-e", "dmodk", "--by-machine", "-n", 20)
    assert float(dict(zip(head.split(","), row.split(",")))["machine_mean"]) == pytest.approx(
        report["by_machine"]["mean"])


def test_the_number_of_threads_changes_nothing(groups):
    words = ["ebb", "--json", "-n", 100, "-e", "spf", "--by-machine", groups]
    assert heddle(*words, "-t", 1)[0] == heddle(*words, "-t", 2)[0]


def test_hosts_of_one_adapter_are_no_machines(tmp_path):
    tree = generate(tmp_path / "tree", "xgft", "--children=4,3", "--parents=1,2")
    assert "option '--by-machine': no machine is known to have several adapters (names: " in refused(
        "ebb", "-e", "dmodk", "--by-machine", tree)
    report = ebb(tree, "-e", "dmodk", "-p", "nccl-ring")
    assert report["machines"] is None and report["by_machine"] is None and report["ranks"] == 12


BAD_OPTIONS = [
    (["--machines=name"], "option '--machines' needs --by-machine or a pattern of machines"),
    (["--by-machine", "--machines=/none"], "/none: "),
    (["-p", "nccl-tree:phase=up"], "phase"), (["-p", "nccl-all-to-all:pxn=2"], "pxn"),
    (["--by-machine", "-p", "pairs:file=/none"], "its flows name hosts, so it is none of machines")]


@pytest.mark.parametrize("options,message", BAD_OPTIONS)
def test_bad_options_of_machines_are_refused(groups, options, message):
    assert message in refused("ebb", "-e", "dmodk", *options, groups)


# ---- heddle sim ----

def test_sim_sends_the_rounds_of_nccl(groups):
    """Under each table the messages of the pattern, with a title that names it."""
    report = json.loads(heddle("sim", "--json", "-e", "dmodk", "--ar", "--pattern", "nccl-all-to-all:pxn=no",
                               "--size", "4KiB", groups)[0])
    assert report["title"].startswith("nccl-all-to-all,pxn=no of 4KiB between 64 hosts")
    for point in report["points"]:
        means = {one["name"]: one["mean"] for one in point["figures"]}
        assert means["rounds.rounds"] == 15 * 4 and means["rounds.messages"] == 15 * 4 * 64
        assert means["class.rounds.delivered"] == 15 * 4 * 64
    assert "no such pattern; did you mean" in refused("sim", "-e", "dmodk", "--pattern", "alltoal", groups)
    assert "phase" in refused("sim", "-e", "dmodk", "--pattern", "nccl-tree:phase=up", groups)


def test_a_scenario_counts_what_nccl_sends(tmp_path, groups):
    """[ebb] takes machines as heddle ebb does; so does traffic to = pattern:..."""
    (tmp_path / "s.ini").write_text(
        f"[fabric]\nfile = {groups}\n[routing]\nengine = dmodk\n[ebb e]\npattern = nccl-tree\nmap = identity\n"
        "[traffic t]\nkind = constant\nto = pattern:nccl-ring\n[run]\nduration = 5 us\n")
    report = json.loads(heddle("sim", "--json", tmp_path / "s.ini")[0])
    means = {one["name"]: one["mean"] for one in report["points"][0]["figures"]}
    assert means["ebb.e.mean"] == ebb(groups, "-e", "dmodk", "-p", "nccl-tree", "--map", "identity")["mean"] == 0.25
