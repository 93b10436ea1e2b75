# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle paths: each LID's path as the tables have it, what paths share, where they fail."""

import json
import re
import shutil

import pytest

from cli_testing import CLEAN, FAULTS, generate, heddle, refused, route


def paths(*arguments, status=CLEAN):
    return json.loads(heddle("paths", "--json", *arguments, status=status)[0])


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,4")
    generate(folder / "torus", "torus", "--dims=5,5")
    heddle("topo", "convert", "--lmc=2", folder / "tree", "-o", folder / "tree4")
    route("dmodk", folder / "tree4", folder / "tree4.lfts")
    heddle("route", "-e", "spf", folder / "torus", "-o", folder / "torus.lfts", "--sl",
           folder / "torus.sl")
    return folder


def lid_of(fabric, name):
    node = re.search(rf'(?ms)^Ca\s.*# "{name}"\n.*?# lid (\d+)', fabric.read_text())
    return int(node.group(1))


def entries_of(tables):
    """{(switch GUID, LID): port}"""
    entries = {}
    for line in tables.read_text().splitlines():
        if line.startswith("Unicast"):
            switch = re.search(r"guid (0x[0-9a-f]+)", line).group(1)
        elif row := re.match(r"(0x[0-9a-f]{4}) (\d{3})", line):
            entries[switch, int(row.group(1), 16)] = int(row.group(2))
    return entries


def test_each_lid_goes_as_the_tables_say(folder):
    entries = entries_of(folder / "tree4.lfts")
    shown = paths(folder / "tree4", folder / "tree4.lfts", "H_0_0", "H_3_2")
    base = lid_of(folder / "tree4", "H_3_2")
    assert [path["lid"] for path in shown["paths"]] == [base, base + 1, base + 2, base + 3]
    for path in shown["paths"]:
        assert path["arrives"] and len(path["hops"]) == 3
        for hop in path["hops"]:
            assert entries[hop["guid"], path["lid"]] == hop["out_port"]
    tops = {path["hops"][1]["guid"] for path in shown["paths"]}
    assert shown["distinct"] == len(tops)
    assert shown["links"] == 2 * len(tops) and shown["shared"] == 0


def test_sl_and_vl_are_those_of_the_dump(folder, tmp_path):
    text = (folder / "torus.sl").read_text()
    (tmp_path / "moved").write_text(re.sub(r"SL to VL: .*", "SL to VL: 7 6 5 4 3 2 1 0" +
                                           8 * " 0", text))
    source, lid = "H_0_0_0", lid_of(folder / "torus", "H_2_1_0")
    runs = text.split("('S_0_0'):\n")[1].split(" runs dumped")[0]
    (level,) = [int(level) for first, last, level in
                re.findall(r"0x(\w{4})(?:-0x(\w{4}))? (\d+)\n", runs)
                if int(first, 16) <= lid <= int(last or first, 16)]
    (path,) = paths(folder / "torus", folder / "torus.lfts", folder / "torus.sl", source,
                    lid)["paths"]
    assert (path["sl"], path["vl"]) == (level, level)
    (path,) = paths(folder / "torus", folder / "torus.lfts", tmp_path / "moved", source,
                    lid)["paths"]
    assert (path["sl"], path["vl"]) == (level, 7 - level)


def test_an_engine_in_place_of_files(folder):
    by_file = paths(folder / "torus", folder / "torus.lfts", folder / "torus.sl", "H_0_0_0", 5)
    by_engine = paths("-e", "spf", folder / "torus", "H_0_0_0", 5)
    assert by_engine.pop("tables") == "spf" and by_file.pop("tables")
    assert by_engine == by_file


def test_ends_by_lid_guid_and_name_are_the_same(folder):
    lid = lid_of(folder / "torus", "H_1_1_0")
    guid = re.search(r'^Ca.*"H-(\w+)".*"H_1_1_0"', (folder / "torus").read_text(), re.M).group(1)
    shown = [paths(folder / "torus", folder / "torus.lfts", "H_0_0_0", end)
             for end in (lid, f"0x{guid}", f"0x{int(guid, 16) + 1:x}", "H_1_1_0")]
    assert all(one == shown[0] for one in shown)


def test_the_text_goes_from_port_to_port(folder):
    text = heddle("paths", "-e", "updown", folder / "torus", "H_0_0_0", "S_0_1")[0]
    lines = text.splitlines()
    assert lines[0].startswith("From ca {0x") and lines[0].endswith('"H_0_0_0"')
    assert re.fullmatch(r"To switch \{0x\w+\}\[0\] lid \d+ \"S_0_1\"", lines[1])
    assert re.fullmatch(r"LID \d+, SL 0, VL 0:", lines[2])
    assert re.fullmatch(r'  \[1\] -> switch \{0x\w+\}\[1\] lid \d+ "S_0_0" VL 0', lines[3])
    assert lines[-1] == "1 LID by 1 distinct path over 1 link between switches, 0 shared"


def test_several_lids_are_a_range_and_none_is_said(folder, tmp_path):
    """The switches hang between hosts of four LIDs; one of them has lost its own."""
    base = lid_of(folder / "tree4", "H_3_2")
    lines = heddle("paths", folder / "tree4", folder / "tree4.lfts", "H_0_0",
                   "H_3_2")[0].splitlines()
    assert lines[1].endswith(f' lid {base}-{base + 3} "H_3_2"')
    assert re.match(r"4 LIDs by \d distinct paths? over \d links between switches, \d shared$",
                    lines[-1])
    text = re.sub(r'("S1_0"(?: base port 0)?) lid \d+', r"\1 lid 0", (folder / "tree4").read_text())
    (tmp_path / "tree4").write_text(text)
    shown = heddle("paths", tmp_path / "tree4", "H_0_0", "H_3_2", "-e", "updown")[0]
    assert re.search(r'-> switch \{0x\w+\}\[1\] no lid "S1_0" VL 0\n', shown)


def test_shared_links_are_marked(folder):
    """Where two different paths leave a switch by the same port; LIDs that have one path between
    them share nothing."""
    shown = paths("--lmc=1", folder / "torus", "-e", "spf", "H_0_0_0", "H_0_1_0")
    distinct = [path for path in shown["paths"] if path["same_as"] == path["lid"]]
    used = [(hop["guid"], hop["out_port"]) for path in distinct for hop in path["hops"][:-1]]
    assert shown["distinct"] == len(distinct)
    assert shown["links"] == len(set(used))
    assert shown["shared"] == len({link for link in used if used.count(link) > 1})
    for path in distinct:
        for hop in path["hops"][:-1]:
            assert hop["shared"] == (used.count((hop["guid"], hop["out_port"])) > 1)


def broken(folder, tmp_path, switch, lid, port):
    """The torus tables with one entry changed; port None: taken out."""
    out, here = [], False
    for line in (folder / "torus.lfts").read_text().splitlines():
        if line.startswith("Unicast"):
            here = f"('{switch}')" in line
        if here and line.startswith(f"0x{lid:04x} "):
            if port is None:
                continue
            line = f"0x{lid:04x} {port:03d}"
        out.append(line)
    (tmp_path / "broken").write_text("\n".join(out) + "\n")
    return tmp_path / "broken"


def test_where_a_path_fails_is_said(folder, tmp_path):
    """The host hangs on S_0_1; its neighbour S_0_0 has it by port 4 (one step along dimension 1)."""
    lid = lid_of(folder / "torus", "H_0_1_0")
    ways = paths(folder / "torus", folder / "torus.lfts", "H_0_0_0", "H_0_1_0")["paths"][0]["hops"]
    assert [hop["name"] for hop in ways] == ["S_0_0", "S_0_1"]
    back = ways[1]["in_port"]
    for switch, port, fault, said in (
            ("S_0_1", back, "loop", 'loop: "S_0_0" again'),
            ("S_0_1", None, "no route", f'no route: "S_0_1" has no entry for LID {lid}'),
            ("S_0_0", 1, "dead end", f"sends LID {lid} to port 1, -> 'H_0_0_0', which is not "
                                     "the destination"),
            ("S_0_0", 0, "dead end", "which is the switch itself")):
        tables = broken(folder, tmp_path, switch, lid, port)
        arguments = [folder / "torus", tables, "H_0_0_0", "H_0_1_0"]
        shown = paths(*arguments, status=FAULTS)
        assert shown["arrived"] == 0 and shown["paths"][0]["fault"] == fault
        text = heddle("paths", *arguments, status=FAULTS)[0]
        assert said in text, text
        assert "1 of 1 LID does not arrive; 0 LIDs by 0 distinct paths over 0 links" in text
        heddle("paths", "--graph", tmp_path / "a.dot", *arguments, status=FAULTS)
        assert "->" in (tmp_path / "a.dot").read_text()


def test_the_graph_has_an_edge_for_each_link(folder, tmp_path):
    arguments = [folder / "tree4", folder / "tree4.lfts", "H_0_0", "H_3_2"]
    shown = paths("--graph", tmp_path / "paths.dot", *arguments)
    text = (tmp_path / "paths.dot").read_text()
    assert text.count(" -> ") == shown["links"] + 2  # and the hosts' cables
    assert text.count("penwidth=4") == shown["shared"]


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_draws_it(folder, tmp_path):
    arguments = [folder / "tree4", folder / "tree4.lfts", "H_0_0", "H_3_2"]
    heddle("paths", "--graph", tmp_path / "a b'.svg", *arguments)
    heddle("paths", "--graph", tmp_path / "paths.png", *arguments)
    assert "<svg" in (tmp_path / "a b'.svg").read_text()
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_without_graphviz_nothing_is_written(folder, tmp_path):
    message = refused("paths", "--graph", tmp_path / "a.svg", folder / "torus", "-e", "spf",
                      "H_0_0_0", "H_0_1_0", env={"PATH": "/nowhere"})
    assert "cannot draw: dot is not installed; install Graphviz" in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["svg", "png", "dot"])
def test_a_folder_that_is_missing_is_not_laid_on_graphviz(folder, tmp_path, ending):
    path = tmp_path / "none" / f"a.{ending}"
    message = refused("paths", "--graph", path, folder / "torus", "-e", "spf", "H_0_0_0",
                      "H_0_1_0")
    assert message == f"heddle: cannot write {path}: No such file or directory\n"


@pytest.mark.parametrize("ends,message", [
    (("H_0_0_0", "H_9"), "'H_9' is not a host or switch of the fabric"),
    (("H_0_0_0", "0x99"), "'0x99' is not a host or switch of the fabric"),
    (("H_0_0_0", "999"), "'999' is not a host or switch of the fabric"),
    (("H_0_0_0", "H_0_0_0"), "are the same port"),
    (("H_0_0_0",), "expected FABRIC, TABLES, SRC and DST (with -e: FABRIC, SRC and DST), got 2 with -e"),
])
def test_ends_that_cannot_be_are_refused(folder, ends, message):
    assert message in refused("paths", folder / "torus", "-e", "spf", *ends)


def test_an_ambiguous_name_is_refused_with_a_list(folder, tmp_path):
    text = (folder / "torus").read_text().replace("H_0_1_0", "node").replace("H_1_1_0", "node")
    (tmp_path / "torus").write_text(text)
    message = refused("paths", tmp_path / "torus", "-e", "spf", "H_0_0_0", "node")
    assert re.search(r"'node' means 2 ports, give a GUID instead: 'node'\[1\] GUID 0x\w+ LID \d+, "
                     r"'node'\[1\] GUID 0x\w+ LID \d+", message)


def test_bad_usage(folder):
    torus = folder / "torus"
    for arguments, message in (
            (["--graph=a.pdf", torus, "-e", "spf", "1", "2"], "'a.pdf' does not end in .svg, .png"),
            (["--lmc=8", torus, "-e", "spf", "1", "2"], "'8' is not a whole number 0..7"),
            ([torus, "-e", "spf", torus, "1", "2"], "got 4 with -e"),
            (["-e", "spf", "-e", "updown", torus, "1", "2"], "option '--engine' is given twice"),
            ([torus, "-e", "best", "1", "2"], "unknown engine 'best'"),
            ([torus, folder / "torus.sl", "1", "2"], "only service levels were given")):
        assert message in refused("paths", *arguments)
