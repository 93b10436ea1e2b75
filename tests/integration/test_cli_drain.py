# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle drain from files: what it predicts, against packets that are followed by other code, on damaged fabrics."""

import itertools
import json
import random
import re

import pytest

import schemas
from cli_testing import BAD, CLEAN, FAULTS, generate, heddle, refused, route
from independent_check import follow, read_fabric, read_tables

# kind: how it is generated, and the engine
KINDS = {
    "tree": ("dmodk", "xgft", "--children=3,4,3", "--parents=1,2,2"),
    "torus": ("spf", "torus", "--dims=4,3", "--hosts=2"),
    "irregular": ("updown", "irregular", "--switches=12", "--radix=8"),
    "lmc": ("dmodk", "xgft", "--children=3,4", "--parents=1,3"),
}


def drain(fabric, *words, status=None):
    out, _ = heddle("drain", "--json", "--fabric", fabric, "-n", 20, *words, status=status)
    return schemas.validate("drain", json.loads(out))


def without(text, pulled):
    """The fabric as Heddle writes it, without the cables and switches: cables are those of an end (node, port)."""
    fabric = read_fabric(text)
    for thing in pulled:
        for near, far in list(fabric.cable.items()):
            if thing in (near, far) or thing in (near[0], far[0]):
                del fabric.cable[near]
    return fabric


def things_of(fabric, seed):
    """Cables between switches and switches at random: what is pulled, and how it is written."""
    chosen = random.Random(seed)
    cables = sorted(near for near, far in fabric.cable.items() if near[0] in fabric.switches and
                    far[0] in fabric.switches)
    switches = sorted(fabric.switches)
    things = chosen.sample(cables, chosen.randint(0, 3)) + chosen.sample(switches, chosen.randint(0, 1))
    things = things or [cables[0]]
    names = [f"0x{thing[0][2:]}[{thing[1]}]" if isinstance(thing, tuple) else f"0x{thing[2:]}" for thing in things]
    return things, names


def host_lids(fabric):
    """{host: its LIDs}"""
    lids = {}
    for lid in fabric.place:
        lids.setdefault(fabric.owner[lid], []).append(lid)
    return lids


def is_joined(fabric, gone, one, other):
    """Whether cables lead from one host's switch to the other's."""
    seen, queue = {one}, [one]
    while queue:
        switch = queue.pop()
        for near, far in fabric.cable.items():
            if near[0] == switch and far[0] in fabric.switches - gone and far[0] not in seen:
                seen.add(far[0])
                queue.append(far[0])
    return other in seen - gone


def passes(links, fabric, pulled):
    return any(link in pulled or link[0] in pulled or fabric.cable.get(link) in pulled or
               fabric.cable.get(link, (None,))[0] in pulled for link in links)


@pytest.mark.parametrize("name", KINDS)
def test_pairs_are_those_of_another_checker(tmp_path, name):
    """In use: pairs whose packets pass what is pulled. Not cabled: pairs that no cables join any more. If the engine
    leaves nobody out, just these are cut off."""
    engine, *kind = KINDS[name]
    told, seen = set(), 0
    for seed in range(12):
        whole = generate(tmp_path / "fabric", *kind, f"--remove-links={seed % 3 * 4}%", f"--seed={seed}")
        if name == "lmc":
            heddle("topo", "convert", "--lmc=1", whole, "-o", tmp_path / "lids")
            whole = tmp_path / "lids"
        heddle("route", "-e", engine, whole, "-o", tmp_path / "tables", "--sl", tmp_path / "levels", status=None)
        if not (tmp_path / "tables").exists():
            continue  # dmodk refuses what is no tree any more
        text = whole.read_text()
        fabric = read_fabric(text)
        tables = read_tables((tmp_path / "tables").read_text(), fabric)
        pulled, names = things_of(fabric, seed)
        report = drain(whole, "--tables", tmp_path / "tables", "--tables", tmp_path / "levels", "-e", engine, *names)
        rest = without(text, pulled)
        gone = {thing for thing in pulled if isinstance(thing, str)}
        lids, used, apart = host_lids(fabric), 0, 0
        ends = {host: fabric.place[own[0]][0] for host, own in lids.items()}
        joined = {pair: is_joined(rest, gone, *pair) for pair in itertools.product(set(ends.values()), repeat=2)}
        for source, target in itertools.permutations(lids, 2):
            apart += not joined[ends[source], ends[target]]
            lost = ends[source] in gone or ends[target] in gone
            used += lost or any(passes(follow(fabric, tables, ends[source], lid)[0], fabric, pulled)
                                for lid in lids[target])
        assert report["pairs"]["all"] == len(lids) * (len(lids) - 1)
        assert report["pairs"]["in_use"] == used, (seed, names)
        assert report["pairs"]["not_cabled"] == apart, (seed, names)
        if "refusal" not in report:
            assert report["pairs"]["cut_off"] == apart, (seed, names)
        assert report["safe"] <= (not apart)
        (tmp_path / "tables").unlink()
        told.add(report["safe"])
        seen += 1
    assert seen > 6 and told == {False, True}


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drain")
    generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,4")
    route("dmodk", folder / "tree", folder / "tables")
    heddle("ar", "plan", "-e", "dmodk", folder / "tree", "-o", folder / "plan")
    return folder


def test_what_a_spine_moves(folder):
    """The entries are those by which the tables of before and after differ."""
    report = drain(folder / "tree", "--tables", folder / "tables", "-e", "dmodk", "S2_0", status=CLEAN)
    assert report["safe"] and report["pairs"]["cut_off"] == 0 and report["pairs"]["hosts"] == []
    assert report["changes"]["loop_free"] and report["changes"]["unproved"] == report["changes"]["without_order"] == 0
    assert 0 < report["bandwidth_after"]["mean"] < report["bandwidth_before"]["mean"] <= 1
    assert report["bandwidth_after"]["minimum"] <= report["bandwidth_after"]["mean"]
    assert report["changes"]["entries"] > 0 < report["changes"]["blocks"]
    # without tables the engine makes those of before, too
    same = drain(folder / "tree", "-e", "dmodk", "S2_0", status=CLEAN)
    assert {**same, "tables": None} == {**report, "tables": None}


def test_a_leaf_cuts_its_hosts_off(folder):
    report = drain(folder / "tree", "--tables", folder / "tables", "S1_0", status=FAULTS)
    assert [host["node"] for host in report["pairs"]["hosts"]] == [f"H_0_{i}" for i in range(4)]
    assert report["pairs"]["cut_off"] == report["pairs"]["not_cabled"] == 16 * 15 - 12 * 11
    text = heddle("drain", "--fabric", folder / "tree", "-n", 5, "S1_0", status=FAULTS)[0]
    assert "no cable is left to 4 hosts: 'H_0_0', 'H_0_1', 'H_0_2', 'H_0_3'" in text and "Not safe." in text
    report = drain(folder / "tree", "S1_2[1]", status=FAULTS)
    assert [host["node"] for host in report["pairs"]["hosts"]] == ["H_2_0"] and report["pairs"]["cut_off"] == 30


def test_a_cut_is_told_from_hosts_without_a_cable(folder):
    """Without its spines the tree is four leaves, whose hosts keep their cables. What is left is no gain."""
    spines = [f"S2_{i}" for i in range(4)]
    report = drain(folder / "tree", "--tables", folder / "tables", "-e", "dmodk", *spines, status=FAULTS)
    pairs = report["pairs"]
    assert pairs["parts"] == 4 and len(pairs["hosts"]) == 12 and all(host["cabled"] for host in pairs["hosts"])
    words = ("drain", "--fabric", folder / "tree", "--tables", folder / "tables", "-e", "dmodk", "-n", 5)
    text = heddle(*words, *spines, status=FAULTS)[0]
    assert "the fabric falls into 4 parts with hosts; not in the largest are 12 hosts: 'H_" in text
    assert "no cable is left" not in text and "bandwidth  not compared" in text and "after;" not in text
    text = heddle(*words, *spines, "S1_0", status=FAULTS)[0]
    assert "no cable is left to 4 hosts: 'H_0_0'" in text and "falls into 3 parts" in text
    hosts = drain(folder / "tree", *spines, "S1_0", status=FAULTS)["pairs"]["hosts"]
    assert [(host["node"], host["switch"], host["port"]) for host in hosts if not host["cabled"]] == [
        (f"H_0_{i}", "S1_0", i + 1) for i in range(4)]


def test_hosts_that_share_a_name_have_their_guid_and_place(folder, tmp_path):
    same = tmp_path / "same"
    same.write_text(re.sub(r'"H_0_[01]"', '"MT25408"', (folder / "tree").read_text()))
    text = heddle("drain", "--fabric", same, "-n", 5, "S1_0", status=FAULTS)[0]
    assert re.search(r"to 4 hosts: 'MT25408' 0x[0-9a-f]{16} at 'S1_0'\[1\], "
                     r"'MT25408' 0x[0-9a-f]{16} at 'S1_0'\[2\], 'H_0_2', 'H_0_3'\n", text)


def test_pairs_that_do_not_arrive_today_are_told(folder, tmp_path):
    """A row of a leaf without an entry: the four hosts of the leaf do not reach that host."""
    tables, lines = tmp_path / "tables", (folder / "tables").read_text().splitlines(True)
    leaf = next(i for i, line in enumerate(lines) if "S1_3" in line)
    victim = next(i for i in range(leaf, len(lines)) if "H_0_0" in lines[i])
    tables.write_text("".join(lines[:victim] + lines[victim + 1:]))
    report = drain(folder / "tree", "--tables", tables, "-e", "dmodk", "S2_3")
    assert report["pairs"]["lost_today"] == 4 and report["pairs"]["cut_off"] == 0
    shown = heddle("drain", "--fabric", folder / "tree", "--tables", tables, "-e", "dmodk", "-n", 5, "S2_3",
                   status=None)[0]
    assert "today      4 pairs of hosts do not arrive, by the tables\n" in shown
    assert drain(folder / "tree", "--tables", folder / "tables", "S2_3")["pairs"]["lost_today"] == 0


def test_a_cable_is_taken_as_it_is_printed(folder, tmp_path):
    odd = tmp_path / "odd"
    odd.write_text((folder / "tree").read_text().replace('"S1_0"', '"Räck [3] - S2_0"').replace(
        '"S2_0"', '"Spine № 1"'))
    shown = heddle("drain", "--fabric", odd, "-n", 5, "Räck [3] - S2_0[5]", status=CLEAN)[0]
    cable = re.search(r"pull       cable (.*)\n", shown).group(1)
    assert cable == "'Räck [3] - S2_0'[5] - 'Spine № 1'[1]"
    for words in (cable, cable.replace("'", "")):
        assert heddle("drain", "--fabric", odd, "-n", 5, words, status=CLEAN)[0] == shown


def test_switches_that_share_a_name_are_no_ports(folder, tmp_path):
    same = tmp_path / "same"
    same.write_text(re.sub(r'"S2_[01]"', '"spine"', (folder / "tree").read_text()))
    message = refused("drain", "--fabric", same, "spine")
    assert "'spine' means 2 switches, give a GUID instead" in message and "[0]" not in message


def test_adaptive_routing(folder):
    """Of the pairs that groups send over four spines, without fast recovery all may lose packets, with notices none."""
    plan = folder / "plan" / "heddle.far"
    found = drain(folder / "tree", "--tables", folder / "tables", "-e", "dmodk", "--plan", plan, "S2_1")["adaptive"]
    assert found["pairs"] == 48 and found["off"] == 0 and found["local"] == found["notices"] == 48
    assert found["entries_before"] == found["entries_after"] == 48
    shown = heddle("drain", "--fabric", folder / "tree", "-e", "dmodk", "--plan", plan, "-n", 5, "S2_1")[0]
    assert "proved free of credit loops" in shown
    assert "with fast recovery off: 0 of 48 pairs of a switch and a LID arrive\n" in shown


def test_without_a_safe_order_it_is_not_safe(tmp_path):
    """Tables with a credit loop: no change of them can be proved."""
    ring = generate(tmp_path / "ring", "torus", "--dims=5")
    tables = route("spf:deadlock=off", ring, tmp_path / "tables")
    report = drain(ring, "--tables", tables, "-e", "spf:deadlock=off", "S_0[2]", status=FAULTS)
    assert not report["safe"] and report["changes"]["unproved"] == report["changes"]["entries"] > 0
    shown = heddle("drain", "--fabric", ring, "--tables", tables, "-e", "spf:deadlock=off", "-n", 5, "S_0[2]",
                   status=FAULTS)[0]
    assert "the tables have a credit loop now" in shown


def test_an_engine_that_refuses_makes_it_unsafe(tmp_path):
    grid = generate(tmp_path / "grid", "torus", "--dims=4,4")
    tables = route("updown", grid, tmp_path / "tables")
    report = drain(grid, "--tables", tables, "-e", "dmodk", "S_0_0[2]", status=FAULTS)
    assert "dmodk" in report["refusal"] and "changes" not in report and not report["safe"]
    assert "impossible" in heddle("drain", "--fabric", grid, "--tables", tables, "-e", "dmodk", "-n", 5, "S_0_0[2]",
                                  status=FAULTS)[0]


BAD_WORDS = [
    ("no CABLE", ["--fabric", "tree"], "expected a CABLE or SWITCH"),
    ("nothing", [], "expected --fabric"),
    ("no such switch", ["--fabric", "tree", "none"], "'none' is not a switch"),
    ("no such port", ["--fabric", "tree", "S1_0[99]"], "has ports 1 to 8"),
    ("two cables", ["--fabric", "tree", "S1_0[5] - S2_0[2]"], "no cable joins"),
    ("half a cable", ["--fabric", "tree", "S1_0["], "is no cable"),
    ("a host", ["--fabric", "tree", "H_0_0"], "is a host"),
    ("empty", ["--fabric", "tree", ""], "is no name"),
    ("both", ["--apply", "--undo", "S1_0"], "exclude one another"),
    ("files", ["--fabric", "tree", "--apply", "S1_0"], "OpenSM knows its fabric"),
    ("all of nothing", ["--fabric", "tree", "--all", "S1_0"], "--all goes with --undo"),
    ("a socket", ["--fabric", "tree", "--socket", "x", "S1_0"], "go with --apply"),
    ("list of", ["--list", "S1_0"], "expected no CABLE"),
    ("all and one", ["--undo", "--all", "S1_0"], "expected no CABLE"),
    ("bad tables", ["--fabric", "tree", "--tables", "tree", "S2_0"], "tree"),
    ("bad plan", ["--fabric", "tree", "--plan", "tables", "S2_0"], "tables"),
    ("no fabric", ["--fabric", "nowhere", "S2_0"], "nowhere"),
]


@pytest.mark.parametrize("words,message", [case[1:] for case in BAD_WORDS], ids=[case[0] for case in BAD_WORDS])
def test_bad_words(folder, words, message):
    assert message in refused("drain", *words, cwd=folder)


def test_nobody_answers(tmp_path):
    for words in (["--list"], ["--apply", "S1_0"], ["--undo", "--all"]):
        assert "no answer" in refused("drain", *words, "--socket", tmp_path / "none")
    assert heddle("drain", "--help", status=CLEAN)[0].startswith("Usage: heddle drain")
    assert heddle("drain", "--nonsense", status=BAD)[0] == ""
