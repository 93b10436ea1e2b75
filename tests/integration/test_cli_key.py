# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle key make: keys whose entries, laid over forwarding tables, keep flows apart; refusals."""

import collections
import json
import random
import re

import pytest

from cli_testing import CLEAN, FAULTS, generate, heddle, refused, route


def make(*arguments, status=CLEAN):
    return json.loads(heddle("key", "make", "--json", *arguments, status=status)[0])


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A tree of 216 hosts with LMC 2 and its tables, 64 of its hosts in random order, the same tree
    without LIDs for keys, a torus."""
    folder = tmp_path_factory.mktemp("key")
    generate(folder / "plain", "xgft", "--children=6,6,6", "--parents=1,6,6")
    generate(folder / "torus", "torus", "--dims=4,4")
    heddle("topo", "convert", "--lmc=2", folder / "plain", "-o", folder / "tree")
    route("dmodk", folder / "tree", folder / "tables")
    names = sorted(set(re.findall(r'"(H_\d+_\d+_\d+)"', (folder / "plain").read_text())))
    random.Random(3).shuffle(names)
    (folder / "hosts").write_text("".join(f"{name}\n" for name in names[:64]))
    return folder


def peers_of(fabric):
    """{(GUID of a switch, port): (GUID of its neighbour, port there)}; keys of nodes are ids."""
    peers = {}
    for line in fabric.read_text().splitlines():
        if node := re.match(r'(?:Switch|Ca)\s+\d+ "[SH]-([0-9a-f]+)"', line):
            guid = int(node.group(1), 16)
        elif cable := re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"[SH]-([0-9a-f]+)"\[(\d+)\]', line):
            peers[guid, int(cable.group(1))] = int(cable.group(2), 16), int(cable.group(3))
    return peers


def entries_of(tables):
    """{(switch GUID, LID): port}"""
    entries = {}
    for line in tables.read_text().splitlines():
        if line.startswith("Unicast"):
            switch = int(re.search(r"guid (0x[0-9a-f]+)", line).group(1), 16)
        elif row := re.match(r"(0x[0-9a-f]{4}) (\d{3})", line):
            entries[switch, int(row.group(1), 16)] = int(row.group(2))
    return entries


def overlaid(tables, phase):
    """The tables with the entries of a phase; each pair of switch and LID comes once."""
    entries = dict(tables)
    laid = {(int(entry["switch"], 16), entry["lid"]): entry["port"] for entry in phase["entries"]}
    assert len(laid) == len(phase["entries"])
    entries.update(laid)
    return entries


def link_loads(peers, entries, flows):
    """Flows on each link between switches, found by walks; all must arrive."""
    loads = collections.Counter()
    switches = {switch for switch, _ in entries}
    for source, destination, lid in flows:
        at, _ = peers[source, 1]
        for _ in range(10):
            port = entries[at, lid]
            far, _ = peers[at, port]
            if far not in switches:
                break
            loads[at, port] += 1
            at = far
        assert far == destination
    return loads


def ends(flow):
    """Node GUIDs: a host's port has the next number."""
    return int(flow["source"]["guid"], 16) - 1, int(flow["destination"]["guid"], 16) - 1


@pytest.mark.parametrize("pattern", ["stencil3d", "stencil2d:8x8", "shift:5", "random:7"])
@pytest.mark.parametrize("mode", ["rewrite", "offset"])
def test_flows_of_a_phase_share_no_link(folder, pattern, mode):
    """By walks in the tables of dmodk with the entries of the key."""
    few = pattern if mode == "rewrite" or pattern != "stencil3d" else "ring"
    options = ("--mode", mode, "--lmc", 3 if mode == "offset" else 2)
    shown = make(folder / "tree", "--hosts", folder / "hosts", "-p", few, *options)
    heddle("topo", "convert", "--lmc", options[3], folder / "tree", "-o", folder / "now")
    peers = peers_of(folder / "now")
    tables = entries_of(route("dmodk", folder / "now", folder / "now.lfts"))
    for phase in shown["phases"]:
        entries = overlaid(tables, phase)
        flows = [(*ends(flow), flow["lid"]) for flow in phase["flows"]]
        loads = link_loads(peers, entries, flows)
        assert phase["contention"] == max(loads.values()) == 1
        assert phase["demand"] <= phase["usable"] == 6
        for flow in phase["flows"]:
            assert len(flow["up"]) == len(flow["down"])
            assert all(loads[int(hop["switch"], 16), hop["port"]] == 1
                       for hop in flow["up"] + flow["down"])
    offsets = [phase["offset"] for phase in shown["phases"]]
    assert offsets == [1 + number * (mode == "offset") for number in range(len(offsets))]


def test_the_comparison_is_what_walks_in_the_tables_find(folder):
    given = make(folder / "tree", folder / "tables", "--hosts", folder / "hosts", "-p", "stencil3d")
    computed = make(folder / "tree", "-e", "dmodk", "--hosts", folder / "hosts", "-p", "stencil3d")
    assert given["phases"] == computed["phases"]
    assert given["links_by_flows_without_keys"] == computed["links_by_flows_without_keys"]
    peers, tables = peers_of(folder / "tree"), entries_of(folder / "tables")
    counts = collections.Counter()
    for phase in given["phases"]:
        flows = [(*ends(flow), flow["lid"] - flow["offset"]) for flow in phase["flows"]]
        loads = link_loads(peers, tables, flows)
        assert phase["contention_without_keys"] == max(loads.values()) > 1
        assert phase["lost_without_keys"] == 0
        counts.update(loads.values())
    assert given["links_by_flows_without_keys"] == [counts[flows] for flows in range(1, 17)]
    assert given["links_by_flows"][0] > 0 and not any(given["links_by_flows"][1:])


def test_loads_move_a_key_away(folder):
    """A key of one host of each leaf, whose links all carry a flow already, moves to others."""
    few = folder / "few"
    few.write_text("".join(f"H_{pod}_{leaf}_0\n" for pod in range(6) for leaf in range(6)))
    pattern = ("--hosts", few, "-p", "random:1", "--offset", 2)
    first = make(folder / "tree", *pattern)["phases"][0]
    loads = folder / "loads"
    loads.write_text("# a key\n" + "".join(
        f"{hop['switch']} {hop['port']} 1\n" for flow in first["flows"]
        for hop in flow["up"] + flow["down"]))
    (stays,) = make(folder / "tree", *pattern, "--shift", "links")["phases"]
    (moved,) = make(folder / "tree", *pattern, "--shift", "links", "--loads", loads)["phases"]
    assert stays["contention"] == moved["contention"] == 1
    assert moved["contention_with_others"] == 1
    (paper,) = make(folder / "tree", *pattern, "--shift", "paper", "--loads", loads)["phases"]
    assert paper["contention"] == 1


def test_text_has_a_line_for_each_phase(folder):
    command = ("key", "make", folder / "tree", "--hosts", folder / "hosts", "-p", "stencil2d")
    lines = heddle(*command)[0].splitlines()
    assert lines[0] == "pattern  stencil2d, 64 hosts, 4 phases"
    assert [line.split()[0] for line in lines[3:7]] == ["0", "1", "2", "3"]
    assert lines[7:] == ["", "flows with links of their own: 256 of 256"]
    assert all(line.split()[-1] == "1" for line in lines[3:7])
    text = heddle(*command, "-e", "dmodk", "--chart")[0]
    assert "Links by their flows, dmodk:\n    1  ####" in text
    assert "Links by their flows, with the key:\n    1  ####" in text
    paths = [line for line in heddle(*command, "--verbose")[0].splitlines()
             if line.startswith("      H_")]
    assert len(paths) == 4 * 64


def test_patterns_are_listed():
    names = [line.split()[0] for line in heddle("key", "make", "--patterns")[0].splitlines()]
    assert {"stencil3d", "alltoall", "file"} <= set(names)
    assert "takes no files" in refused("key", "make", "--patterns", "x")


def test_a_phase_that_does_not_fit_names_the_switch(folder):
    """12 hosts of two leaves, each sends to the other leaf twice: twelve flows, six cables."""
    hosts = folder / "two-leaves"
    hosts.write_text("".join(f"H_{leaf}_0_{host}\n" for leaf in (0, 1) for host in range(6)))
    pattern = folder / "twice"
    pattern.write_text("phase\n" + "".join(
        f"{rank} {6 + (rank + more) % 6}\n" for rank in range(6) for more in (0, 1)))
    command = (folder / "tree", "--hosts", hosts, "-p", f"file:{pattern}", "--offsets", 2)
    message = refused("key", "make", *command)
    assert re.fullmatch(
        r"heddle: phase 0: no key is free of contention: 12 flows must leave or enter switch "
        r"'S1_[01]_0' 0x[0-9a-f]{16} upwards, and it has 6 usable cables upwards\n", message)
    (phase,) = make(*command, "--best-effort", status=FAULTS)["phases"]
    assert (phase["contention"], phase["demand"], phase["usable"]) == (2, 12, 6)
    assert re.match(r"S1_[01]_0", phase["tightest"]["name"])


def test_several_flows_to_one_host_take_several_offsets(folder):
    hosts = folder / "some"
    hosts.write_text("H_0_0_0\nH_0_0_1\nH_0_0_2\nH_3_0_0\n")
    pattern = folder / "gather"
    pattern.write_text("phase\n0 3\n1 3\n2 3\n")
    command = (folder / "tree", "--hosts", hosts, "-p", f"file:{pattern}")
    assert ("3 flows from one leaf go to one host; that takes as many LID offsets, and the key may "
            "use 1") in refused("key", "make", *command)
    (phase,) = make(*command, "--offsets", 3)["phases"]
    assert (phase["offsets"], phase["wanted_offsets"], phase["contention"]) == (3, 3, 1)
    assert sorted(flow["offset"] for flow in phase["flows"]) == [1, 2, 3]
    assert "the key needs LID offset 4, and the largest offset of LMC 2 is 3" in refused(
        "key", "make", *command, "--offsets", 3, "--offset", 2)


@pytest.mark.parametrize("arguments, message", [
    (["tree"], "no pattern is given"),
    (["tree", "-p", "stencl3d"], "did you mean 'stencil3d'?"),
    (["tree", "-p", "shift"], "shift"),
    (["-p", "ring"], "FABRIC"),
    (["none", "-p", "ring"], "none"),
    (["plain", "-p", "ring"], "the largest offset of LMC 0 is 0: give the hosts more LIDs"),
    (["tree", "-p", "alltoall", "--mode", "offset"], "or use --mode rewrite"),
    (["torus", "--lmc=1", "-p", "ring"], "heddle: "),
    (["tree", "-p", "ring", "--hosts", "nobody"], "nobody:2: "),
    (["tree", "-p", "ring", "--hosts", "twice-there"], "twice-there:2: "),
    (["tree", "-p", "ring", "--loads", "bad-loads"], "no effect without --shift"),
    (["tree", "-p", "ring", "--loads", "bad-loads", "--shift=links"], "bad-loads:2: expected the "
     "GUID of a switch, a port and a number of flows"),
    (["tree", "-p", "ring", "--loads", "far-loads", "--shift=links"], "no link to another switch"),
    (["tree", "tables", "-e", "dmodk", "-p", "ring"], "with --engine no tables are read"),
    (["tree", "-p", "ring", "--json", "--chart"], "exclude each other"),
    (["tree", "-p", "ring", "--offsets=0"], "--offsets"),
    (["tree", "-p", "ring", "--shift=far"], "--shift"),
    (["tree", "-p", "file:none"], "none"),
])
def test_bad_input_is_refused(folder, arguments, message):
    (folder / "nobody").write_text("H_0_0_0\nH_9_9_9\n")
    (folder / "twice-there").write_text("H_0_0_0\nH_0_0_0\n")
    (folder / "bad-loads").write_text("0x200000 7 1\n0x200000 seven 1\n")
    (folder / "far-loads").write_text("0x200000 1 1\n")
    assert message in refused("key", "make", *arguments, cwd=folder)
