# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle mcast: planned trees, and trees in the switches' tables, right and wrong ones."""

import json
import re
import shutil

import pytest

from cli_testing import CLEAN, FAULTS, generate, heddle, refused

MEMBERS = ["H_0_0_0", "H_2_2_0", "H_1_3_0", "H_3_1_0"]


def mcast(*arguments, status=CLEAN):
    return json.loads(heddle("mcast", "--json", *arguments, status=status)[0])


@pytest.fixture(scope="module", name="torus")
def fixture_torus(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("mcast") / "torus", "torus", "--dims=4,4")


def opensm_dump(groups):
    """opensm.mcfdbs of {MLID: tree as JSON}."""
    switches = {}
    for mlid, tree in groups.items():
        for entry in tree["switches"]:
            ports = "".join(f" 0x{port:03X} " for port in entry["ports"])
            switches.setdefault(entry["guid"], []).append(f"0x{mlid:04X} :{ports}\n")
    return "".join(f"\nSwitch {guid}\nLID    : Out Port(s)\n" + "".join(rows)
                   for guid, rows in switches.items())


def ibroute_dump(groups):
    """What dump_fts -M prints of the same, for switches of up to nine ports."""
    switches = {}
    for mlid, tree in groups.items():
        for entry in tree["switches"]:
            columns = "".join("x " if port in entry["ports"] else "  " for port in range(6))
            switches.setdefault(entry["guid"], []).append(f"0x{mlid:04x}      {columns}\n")
    return "".join(f"Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0 guid {guid} "
                   f"(name):\n     Ports: 0 1 2 3 4 5 \n MLid\n" + "".join(rows) +
                   f"{len(rows)} valid mlids dumped \n" for guid, rows in switches.items())


def test_a_planned_tree_has_all_members_and_no_more_links_than_switches(torus):
    tree = mcast(torus, *MEMBERS)
    assert tree["faults"] == []
    assert {member["name"] for member in tree["members"]} == set(MEMBERS)
    assert tree["links"] == len(tree["switches"]) - 1
    text = heddle("mcast", torus, *MEMBERS)[0]
    assert re.search(rf"planned: 4 members, {len(tree['switches'])} switches, {tree['links']} "
                     rf"links, {tree['depth']} hops deep: right\n$", text)
    for name in MEMBERS:
        assert len(re.findall(rf'\[1\] host 0x\w+ "{name}"', text)) == 1
    assert text.startswith(f"switch {tree['root']} ")


def test_members_may_come_from_a_file_in_any_order(torus, tmp_path):
    listed = tmp_path / "members"
    listed.write_text("# half of them\n\n  H_3_1_0\nH_1_3_0 \r\n")
    assert mcast("--members", listed, torus, "H_2_2_0", "H_0_0_0") == mcast(torus, *MEMBERS)


def test_a_source_is_the_root(torus):
    tree = mcast("--source", "H_0_3_0", torus, *MEMBERS)
    assert tree["root"] == next(entry["guid"] for entry in tree["switches"]
                                if entry["name"] == "S_0_3")
    assert tree["depth"] <= 4


def test_a_member_that_cannot_be_reached_is_a_fault(torus, tmp_path):
    text = torus.read_text()
    for port in range(2, 6):  # S_2_2 with its host is cut off
        near = re.search(rf'(?ms)^Switch[^\n]*# "S_2_2".*?^(\[{port}\]\t"S-(\w+)"\[(\d+)\][^\n]*\n)',
                         text)
        far = re.search(rf'(?ms)^Switch\s+5 "S-{near.group(2)}".*?^(\[{near.group(3)}\][^\n]*\n)',
                        text)
        text = text.replace(near.group(1), "", 1).replace(far.group(1), "", 1)
    (tmp_path / "cut").write_text(text)
    tree = mcast(tmp_path / "cut", *MEMBERS, status=FAULTS)
    assert [fault["member"]["name"] for fault in tree["faults"]
            if fault["kind"] == "not reached" and fault["senders"] == 3] == ["H_2_2_0"]


def test_random_groups_are_counted(torus):
    figures = mcast("--groups", 60, "--size", 5, torus)
    again = mcast("--groups", 60, "--size", 5, "--seed", 1, torus)
    assert figures == again != mcast("--groups", 60, "--size", 5, "--seed", 2, torus)
    loads, trees = figures["trees_a_link"], figures["links_a_tree"]
    assert loads["links"] == 64 and loads["used"] <= 64
    assert loads["min"] <= loads["mean"] <= loads["max"]
    assert abs(loads["mean"] * 64 - 2 * trees["mean"] * 60) < 1e-6
    text = heddle("mcast", "--groups", 60, "--size", 5, torus)[0]
    assert f"max {loads['max']}" in text and "groups          60 of 5 hosts each" in text
    near, far = loads["busiest"]["from"], loads["busiest"]["to"]
    label = r"'{name}' {guid}\[{port}\]"
    assert re.search(rf"(?m)^busiest link    {label.format(**near)} -> {label.format(**far)}$", text)


def test_random_groups_at_one_switch_have_no_busiest_link(tmp_path):
    fabric = generate(tmp_path / "fabric", "xgft", "--children=4", "--parents=1")
    figures = mcast("--groups=3", "--size=2", fabric)
    assert figures["trees_a_link"]["links"] == 0 and figures["trees_a_link"]["busiest"] is None
    assert "busiest" not in heddle("mcast", "--groups=3", "--size=2", fabric)[0]


@pytest.mark.parametrize("dump", [opensm_dump, ibroute_dump])
def test_trees_in_tables_are_shown_and_right(torus, tmp_path, dump):
    trees = {0xC000: mcast(torus, *MEMBERS), 0xC005: mcast(torus, "H_0_0_0", "S_3_3")}
    (tmp_path / "tables").write_text(dump(trees))
    groups = mcast("--mcfdbs", tmp_path / "tables", torus)["groups"]
    for (mlid, tree), group in zip(trees.items(), groups, strict=True):
        assert group["mlid"] == mlid and group["faults"] == []
        for key in ("members", "switches", "links"):
            assert group[key] == tree[key]
        one = mcast("--mcfdbs", tmp_path / "tables", "--mlid", hex(mlid), torus)
        assert one == group
    text = heddle("mcast", "--mcfdbs", tmp_path / "tables", torus)[0]
    assert re.fullmatch(r"0xC000: 4 members, .*: right\n0xC005: 2 members, .*: right\n", text)
    assert mcast("--mcfdbs", tmp_path / "tables", "--mlid", "0xC000", torus,
                 *MEMBERS)["faults"] == []


def test_a_subnet_without_groups_is_right(torus, tmp_path):
    """In OpenSM's file, which is empty then, and in the output of dump_fts, which is not."""
    guids = re.findall(r'(?m)^Switch\s+5 "S-(\w+)"', torus.read_text())
    empty, dumped = tmp_path / "opensm.mcfdbs", tmp_path / "dump_fts"
    empty.write_text("")
    dumped.write_text("".join(
        f"Multicast mlids [0xc000-0xbfff] of switch DR path slid 0; dlid 0; 0 guid 0x{guid} (s):\n"
        "     Ports: 0 1 2 3 4 5 \n MLid\n0 valid mlids dumped \n" for guid in guids))
    for tables in (empty, dumped):
        said, remarks = heddle("mcast", "--mcfdbs", tables, torus)
        assert said == "no multicast groups\n"
        assert mcast("--mcfdbs", tables, torus) == {"groups": []}
        assert ("opensm.mcfdbs: the file is empty; OpenSM leaves it empty" in remarks) == (tables == empty)
        assert "no switch has an entry for 0xC000" in refused("mcast", "--mcfdbs", tables,
                                                              "--mlid=0xC000", torus)


def test_a_dump_that_was_cut_is_warned_of(torus, tmp_path):
    """Whatever its switches are then said to lack may be in the part that is missing."""
    whole = ibroute_dump({0xC000: mcast(torus, *MEMBERS)})
    tables = tmp_path / "tables"
    tables.write_text(whole[:whole.index("1 valid mlids", len(whole) // 2)])
    remarks = heddle("mcast", "--mcfdbs", tables, torus, status=FAULTS)[1]
    assert re.search(r"warning: \d+ of 16 switches have no table, the first is 'S_\d_\d'", remarks)
    assert re.search(r"warning: 1 tables have no last line", remarks)


def change(tree, switch, add=(), remove=()):
    changed = json.loads(json.dumps(tree))
    entry = next(entry for entry in changed["switches"] if entry["name"] == switch)
    entry["ports"] = sorted((set(entry["ports"]) | set(add)) - set(remove))
    return changed


def test_wrong_trees_are_found(torus, tmp_path):
    """Two switches side by side with a host each, the second of them wrong."""
    tree = mcast(torus, "H_0_0_0", "H_0_1_0")
    (up,) = [port for port in tree["switches"][1]["ports"] if port != 1]
    tables = tmp_path / "tables"
    for change_of, kinds, said in (
            ({"add": [0]}, {"no member"}, "sends to port 0, but no member is behind it"),
            ({"add": [2]}, {"no entry"}, "has no entry and drops what it gets"),
            ({"remove": [1]}, {"not reached"}, "'H_0_1_0' gets nothing from 1 sender, 'H_0_0_0'"),
            ({"remove": [up]}, {"not reached"}, "'H_0_0_0' gets nothing from 1 sender"),
            ({"remove": [1, up]}, {"no entry", "not reached"}, "3 faults")):
        tables.write_text(opensm_dump({0xC000: change(tree, "S_0_1", **change_of)}))
        arguments = ["--mcfdbs", tables, "--mlid", "0xC000", torus, "H_0_0_0", "H_0_1_0"]
        assert {fault["kind"] for fault in mcast(*arguments, status=FAULTS)["faults"]} >= kinds
        assert said in heddle("mcast", *arguments, status=FAULTS)[0]
        heddle("mcast", "--graph", tmp_path / "a.dot", *arguments, status=FAULTS)


def test_a_ring_is_a_loop(torus, tmp_path):
    """Around the four switches of one row, all cables of the row in the tree."""
    row = [f"S_0_{i}" for i in range(4)]
    whole = mcast(torus, *[f"H_0_{i}_0" for i in range(4)])
    for switch in row:
        whole = change(whole, switch, add=[4, 5])
    (tmp_path / "tables").write_text(opensm_dump({0xC000: whole}))
    group = mcast("--mcfdbs", tmp_path / "tables", "--mlid", "49152", torus, status=FAULTS)
    assert [fault["kind"] for fault in group["faults"]] == ["loop"]
    assert group["links"] == 4
    text = heddle("mcast", "--mcfdbs", tmp_path / "tables", "--mlid", "49152", torus,
                  status=FAULTS)[0]
    assert ", again\n" in text and "reaches 'S_0_" in text
    listed = heddle("mcast", "--mcfdbs", tmp_path / "tables", torus, status=FAULTS)[0]
    assert re.match(r"0xC000: 4 members, 4 switches, 4 links, \d hops deep: 1 fault\n  loop: ", listed)


def test_the_graph_has_the_tree(torus, tmp_path):
    tree = mcast("--graph", tmp_path / "tree.dot", torus, *MEMBERS)
    text = (tmp_path / "tree.dot").read_text()
    assert text.count(" -> ") == tree["links"] + len(MEMBERS)
    assert text.count("shape=ellipse") == len(MEMBERS)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_draws_it(torus, tmp_path):
    heddle("mcast", "--graph", tmp_path / "tree.svg", torus, *MEMBERS)
    assert "<svg" in (tmp_path / "tree.svg").read_text()


def test_bad_usage(torus, tmp_path):
    tables = tmp_path / "tables"
    tables.write_text(opensm_dump({0xC000: mcast(torus, *MEMBERS)}))
    for arguments, message in (
            ([], "expected FABRIC and members, got 0"),
            ([torus], "no member given"),
            ([torus, "H_9"], "'H_9' is not a host or switch"),
            (["--members", tmp_path / "none", torus], "none: cannot open: No such file"),
            (["--members", "/dev/null", torus], "/dev/null: the file is empty"),
            (["--members", tables, torus], "tables:2: more than one word"),
            (["--groups=3", torus, "H_0_0_0"], "--groups draws its members"),
            (["--groups=3", "--size=17", torus], "17 members, but only 16 hosts"),
            (["--groups=0", torus], "'0' is not a whole number 1..16383"),
            (["--groups=3", "--graph=a.svg", torus], "--graph draws one tree"),
            (["--seed=3", torus, "H_0_0_0"], "--size and --seed are for --groups"),
            (["--mlid=0xC000", torus, "H_0_0_0"], "--mlid is for --mcfdbs"),
            (["--mlid=5", "--mcfdbs", tables, torus], "'5' is not a multicast LID"),
            (["--mlid=0xC0FF", "--mcfdbs", tables, torus], "no switch has an entry for 0xC0FF"),
            (["--mcfdbs", tables, "--graph=a.svg", torus], "give --mlid"),
            (["--mcfdbs", tables, torus, "H_0_0_0"], "give --mlid"),
            (["--mcfdbs", torus, torus], "no multicast table found"),
            (["--graph=a.gif", torus, "H_0_0_0"], "'a.gif' does not end in .svg")):
        assert message in refused("mcast", *arguments)
