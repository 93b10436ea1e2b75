# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle ebb, compare and survive: figures, reports, pictures, splitting, bad input."""

import json
import os
import re
import shutil
import xml.etree.ElementTree

import pytest

from cli_testing import (BAD, CLEAN, FABRICS, FAULTS, HEDDLE, ebb, generate, heddle, refused,
                         route)
from fabric_sim import PATIENCE

BISECT_10_ARY, DISSEMINATION_10_ARY = 0.710, 0.541


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ebb")


@pytest.fixture(scope="module", name="tree")
def fixture_tree(folder):
    return generate(folder / "tree.net", "kary-ntree", "--k=10", "--n=3")


@pytest.fixture(scope="module", name="small")
def fixture_small(folder):
    return generate(folder / "small.net", "xgft", "--children=4,4", "--parents=1,2",
                    "--parallel=1,2")


def dump(name):
    path = FABRICS / name
    if not path.exists():
        pytest.skip(f"no {path}: set HEDDLE_FABRICS to its folder")
    return path


# ---- figures ----


@pytest.mark.parametrize("engine", ["dmodk", "spf", "updown"])
def test_ten_ary_tree_has_its_figures(tree, engine):
    bisect = ebb(tree, "-e", engine, "-n", 3000)
    assert bisect["mean"] == pytest.approx(BISECT_10_ARY, abs=0.003)
    assert bisect["routes"] == 3000 * 500 and bisect["broken"] == 0
    dissemination = ebb(tree, "-e", engine, "-n", 300, "-p", "dissemination")
    assert dissemination["mean"] == pytest.approx(DISSEMINATION_10_ARY, abs=0.003)
    assert dissemination["rounds"] == 300 * 10


def test_values_may_have_colons_and_commas(folder, small):
    """A comma ends a value only before KEY=; a colon never does."""
    named = ebb(small, "-e", "updown:root=best:3", "-n", 50)
    listed = json.loads(heddle("compare", "--json", "-n", 50, small, "-e", "updown:root=best:3",
                               "-e", "updown:passes=1,root=best:3")[0])
    assert named["tables"] == "updown root=best:3"
    assert listed["compared"][0]["mean"] == named["mean"]
    assert listed["compared"][1]["tables"] == "updown passes=1 root=best:3"
    grid = ["--map", "identity", "-e", "dmodk", "-p"]
    shapes = [ebb(small, *grid, f"neighbours:{options}")["mean"] for options in (
        "grid=4,4,periodic=no", "periodic=no,grid=4,4", "grid=4,4", "grid=2,8,periodic=no")]
    assert shapes[0] == shapes[1] and len(set(shapes)) == 3
    ranks = folder / "odd: name, with a comma"
    ranks.write_text("0 5\n")
    assert ebb(small, *grid, f"ranks:file={ranks}")["routes"] == 1


@pytest.mark.parametrize("pattern, mean", [("bisect", 0.721), ("tree", 0.830),
                                           ("dissemination", 0.560)])
def test_avakas_under_its_live_tables_has_its_figures(pattern, mean):
    report = ebb(dump("avakas/ibnetdiscover-p.txt"), dump("avakas/ibroute"), "-p", pattern)
    assert report["mean"] == pytest.approx(mean, abs=0.003)
    assert report["ranks"] == 281


def test_the_example_of_sixteen_hosts(folder, small):
    pairs = folder / "pairs"
    names = [f"H_{i // 4}_{i % 4}" for i in range(16)]
    flows = [(1, 5), (2, 9), (3, 13), (4, 6), (7, 8), (10, 11), (12, 14), (15, 16)]
    pairs.write_text("".join(f"{names[a - 1]} {names[b - 1]}\n" for a, b in flows))
    report = ebb(small, "-e", "dmodk", "-p", f"pairs:file={pairs}")
    assert report["patterns"] == 1 and report["mean"] == 0.75
    assert report["histogram"] == [[1, 5], [3, 3]]
    assert report["pi_sum_max"] == 3


def test_tables_read_and_computed_are_worth_the_same(folder, small):
    tables = route("spf", small, folder / "small.lft")
    read, computed = ebb(small, tables), ebb(small, "-e", "spf")
    for report in read, computed:
        del report["tables"]
    assert read == computed


def test_threads_change_nothing_and_seeds_do(small):
    reports = [ebb(small, "-e", "dmodk", "-t", threads, "--hot", 5) for threads in (1, 2, 3)]
    assert reports[0] == reports[1] == reports[2]
    assert ebb(small, "-e", "dmodk", "-s", 2)["mean"] != reports[0]["mean"]


def test_it_stops_at_a_precision(tree):
    report = ebb(tree, "-e", "dmodk", "--precision", "0.0005")
    assert 0 < report["half_width_99"] <= 0.0005 and 1000 < report["patterns"] < 100000
    capped = ebb(tree, "-e", "dmodk", "--precision", "0.0000001", "-n", 50)
    assert capped["patterns"] == 50


def test_every_listed_pattern_runs(folder, small):
    ranks = folder / "ranks"
    ranks.write_text("0 5\nround\n5 0\n1 2\n")
    pairs = folder / "hosts"
    pairs.write_text("H_0_0 H_1_0\n")
    kinds = json.loads(heddle("ebb", "--patterns", "--json")[0])
    text = heddle("ebb", "--patterns")[0]
    assert {"bisect", "dissemination", "tree", "neighbours", "pairs"} <= {k["name"] for k in kinds}
    trace = folder / "trace"
    trace.write_text("num_ranks 2\nrank 0 {\nsend 9b to 1\n}\n")
    files = {"ranks": f":file={ranks}", "pairs": f":file={pairs}", "goal": f":file={trace}"}
    for kind in kinds:
        assert f"\n{kind['name']}\n" in "\n" + text and kind["summary"] in text
        report = ebb(small, "-e", "dmodk", "-n", 20, "-p", kind["name"] + files.get(kind["name"], ""))
        assert 0 < report["mean"] <= 1 and report["broken"] == 0


def test_maps(folder, small):
    ring = ebb(small, "-e", "dmodk", "-p", "ring", "--map", "identity")
    assert ring["patterns"] == 1 and ring["mean"] == 1
    hosts = folder / "host-file"
    hosts.write_text("H_0_0\nH_1_0\nH_2_0 # three leaves\n")
    report = ebb(small, "-e", "dmodk", "-p", "ring", "--map", hosts)
    assert report["ranks"] == 3 and report["routes"] == 3


def test_fair_shares_are_no_less_than_congestion(small):
    congestion = ebb(small, "-e", "dmodk", "-p", "uniform", "-n", 200)
    fair = ebb(small, "-e", "dmodk", "-p", "uniform", "-n", 200, "--fair")
    assert fair["mean"] > congestion["mean"] and fair["shares"] == "max-min"


# ---- the report ----


def test_a_person_can_read_it(small):
    text = heddle("ebb", small, "-e", "dmodk:passes=3", "--hot", 2, "-n", 100)[0]
    assert re.search(r"(?m)^bandwidth +0\.\d{4} \+- 0\.\d{4} \(99%\)", text)
    assert "dmodk passes=3" in text and "pi sum max" in text and "pi sum avg" in text
    assert len(re.findall(r"'S?H?\w+'\[\d+\] -> '\w+'\[\d+\]", text)) == 2


def test_an_odd_rank_sits_out(folder):
    odd = generate(folder / "odd.net", "kary-ntree", "--k=5", "--n=1")
    text = heddle("ebb", odd, "-e", "dmodk", "-n", 10)[0]
    assert "an odd number of ranks: one sits out of each bisection" in text
    assert ebb(odd, "-e", "dmodk", "-n", 10)["routes"] == 20


def test_hottest_links_are_named_by_switch_and_port(small):
    report = ebb(small, "-e", "dmodk", "-p", "gather", "--map", "identity", "--hot", 1)
    (link,) = report["hottest"]
    assert link["to"]["node"] == "H_0_0" and link["from"]["node"] == "S1_0"
    assert link["flows"] == link["most"] == 15


def test_holes_are_counted_and_listed_and_the_rest_is_measured(folder, small):
    tables = route("dmodk", small, folder / "holes.lft")
    lines = tables.read_text().split("\n")
    row = next(i for i, line in enumerate(lines) if re.match(r"0x0001 ", line))
    del lines[row]
    holes = folder / "holes"
    holes.write_text("\n".join(lines))
    report = ebb(small, holes, status=FAULTS)
    assert report["broken"] > 0 and 0 < report["mean"] < 1
    assert report["broken_routes"]["no_entry"] > 0 and report["broken_routes"]["first"]
    text = heddle("ebb", small, holes, status=FAULTS)[0]
    assert "routes between hosts are broken" in text and "no entry: from '" in text


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
def test_plots_are_drawn(folder, small):
    svg, png = folder / "a b'.svg", folder / "plot.png"
    heddle("ebb", small, "-e", "dmodk", "-n", 500, "--plot", svg)
    heddle("ebb", small, "-e", "dmodk", "-n", 500, "--plot", png)
    root = xml.etree.ElementTree.parse(svg).getroot()
    assert root.tag.endswith("svg")
    texts = " ".join(t.strip() for t in root.itertext())
    assert "share of patterns" in texts and "mean 0." in texts
    assert len(root.findall(".//{http://www.w3.org/2000/svg}polygon")) > 3
    assert png.read_bytes().startswith(b"\x89PNG")


def test_without_gnuplot_nothing_is_written(folder, small):
    path = folder / "none.svg"
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    message = refused("ebb", small, "-e", "dmodk", "-n", 5, "--plot", path,
                      env={**os.environ, "PATH": str(empty)})
    assert "gnuplot is not installed" in message and not path.exists()


# ---- compare ----


def test_compare_gives_paired_differences(folder, small):
    tables = route("dmodk", small, folder / "compare.lft")
    done = heddle("compare", "--json", small, tables, "-e", "dmodk", "-e", "spf:passes=1")
    first, same, other = json.loads(done[0])["compared"]
    assert first["mean"] == same["mean"] == ebb(small, tables)["mean"]
    assert same["difference"] == {"mean": 0, "half_width_99": 0, "better": 0, "worse": 0,
                                  "same": 10000}
    assert same["worse_links"] == []
    assert other["difference"]["mean"] == pytest.approx(other["mean"] - first["mean"], abs=1e-6)
    assert other["tables"] == "spf passes=1"
    text = heddle("compare", small, tables, "-e", "spf")[0]
    assert "against the first" in text and re.search(r"(?m)^spf +[+-]0\.\d{4}", text)


@pytest.mark.parametrize("arguments, names", [
    (["FABRIC", "old", "-e", "dmodk", "new"], ["old", "dmodk", "new"]),
    (["-e", "dmodk", "FABRIC", "old", "-e", "spf"], ["dmodk", "old", "spf"]),
    (["-e", "dmodk", "-e", "spf", "FABRIC"], ["dmodk", "spf"]),
    (["FABRIC", "old", "new", "--", "old"], ["old", "new", "old"]),
    (["-e", "spf:passes=1", "FABRIC", "-e", "spf", "old", "-e", "updown"],
     ["spf passes=1", "spf", "old", "updown"])])
def test_files_and_engines_are_compared_in_the_order_in_which_they_are_given(
        folder, small, arguments, names):
    for name in "old", "new":
        route("dmodk", small, folder / name)
    words = [small if word == "FABRIC" else word for word in arguments]
    compared = json.loads(heddle("compare", "--json", "-n", 5, *words, cwd=folder)[0])["compared"]
    assert [side["tables"] for side in compared] == names


def test_more_tables_than_can_be_compared_are_refused(small):
    engines = ["-e", "spf"]
    heddle("compare", "-n", 2, small, *(16 * engines))
    assert "got 17 tables" in refused("compare", "-n", 2, small, *(17 * engines))
    assert "got 17 tables" in refused("compare", "-n", 2, small, *(16 * engines), "tables")


def test_tables_that_lose_routes_are_not_called_better(small, folder):
    """The report says which routes are broken and colours no such tables as an improvement."""
    whole, holed, page = folder / "whole.lft", folder / "holed.lft", folder / "holed.html"
    route("dmodk", small, whole)
    lines = whole.read_text().splitlines()
    rows = [i for i, line in enumerate(lines) if "'H" in line][:20]
    kept = [line for i, line in enumerate(lines) if i not in rows]
    holed.write_text("\n".join(kept) + "\n")
    text = heddle("compare", small, whole, holed, "--html", page, "-n", 200, status=FAULTS)[0]
    assert "figures are for the other routes" in text and "no entry: from " in text
    assert 'class="better"' not in page.read_text()


def test_compare_finds_the_links_that_get_worse(folder, small):
    tables = route("dmodk", small, folder / "good.lft")
    worse = folder / "worse.lft"
    # Leaf S1_0 sends all it has for leaf S1_1 by one way up.
    text = tables.read_text()
    begin = text.index("('S1_0'):")
    end = text.index("('S1_1'):", begin)
    changed = re.sub(r"(?m)^(0x\w{4}) \d{3} (#.*'H_1_)", r"\1 005 \2", text[begin:end])
    assert changed != text[begin:end]
    worse.write_text(text[:begin] + changed + text[end:])
    report = json.loads(heddle("compare", "--json", small, tables, worse)[0])["compared"][1]
    assert report["difference"]["mean"] < -report["difference"]["half_width_99"]
    assert report["worse_links"][0]["link"].startswith("'S1_0'[5] -> ")


# ---- survive ----


def test_survive_tells_what_failures_cost(small):
    report = json.loads(heddle("survive", small, "-e", "spf", "--remove", "0..20%/10", "--trials",
                               4, "--json")[0])
    rows = report["shares_removed"]
    assert [row["removed_percent"] for row in rows] == [0, 10, 20]
    assert all(row["trials"] == row["routed"] == row["deadlock_free"] == 4 for row in rows)
    assert rows[0]["mean"] == rows[0]["worst"] == report["intact"]
    assert rows[0]["changed_entries"] == 0 < rows[1]["changed_entries"]
    assert rows[2]["mean"] < rows[1]["mean"] < rows[0]["mean"]
    assert all(row["worst"] <= row["mean"] for row in rows)


def test_survive_counts_what_does_not(folder, small):
    tree = generate(folder / "levels.net", "kary-ntree", "--k=4", "--n=3")
    text = heddle("survive", tree, "-e", "dmodk", "--remove", 60, "--trials", 2, status=FAULTS)[0]
    assert re.search(r"(?m)^ +60% +2 +0 +0 +- +- +-$", text) and "refused: engine 'dmodk'" in text
    torus = generate(folder / "torus.net", "torus", "--dims=5,5")
    for status, lanes, free in ((FAULTS, "off", 0), (CLEAN, "vl", 1)):
        report = json.loads(heddle("survive", torus, "-e", f"spf:deadlock={lanes}", "--remove", "0",
                                   "--trials", 1, "--json", status=status)[0])
        assert report["shares_removed"][0]["routed"] == 1
        assert report["shares_removed"][0]["deadlock_free"] == free


# ---- bad input ----


@pytest.mark.parametrize("arguments, message", [
    (["-p", "best"], "unknown pattern 'best'; there are: bisect, "),
    (["-p", "ring:x=1"], "pattern 'ring': unknown option 'x'"),
    (["-p", "pairs"], "pattern 'pairs': option 'file' is missing"),
    (["-p", "gather:root=16"], "rank 16 is out of range, expected 0..15"),
    (["-p", "incast:senders=16"], "more than 16 ranks"),
    (["-p", "ranks:file=/nowhere/ranks"], "/nowhere/ranks: cannot open: No such file"),
    (["--map", "/nowhere/hosts"], "/nowhere/hosts: cannot open: No such file"),
    (["--lids", "all"], "'all' is not one of base|source|random|rotate|spread|parallel"),
    (["--weights", "speed"], "'speed' is not one of none|rate"),
    (["-n", "0"], "'0' is not a whole number 1.."),
    (["--precision", "2"], "'2' is not a number between 0 and 1"),
    (["--plot", "a.pdf"], "'a.pdf' ends neither in .svg nor in .png"),
    (["-t", "65"], "'65' is not a whole number 1..64"),
])
def test_bad_options_are_refused(small, arguments, message):
    assert message in refused("ebb", small, "-e", "dmodk", *arguments)


@pytest.mark.parametrize("engine, message", [
    ("dmodk:root=0:1", "engine 'dmodk': unknown option 'root'"),
    ("dmodk:passes=0", "engine 'dmodk': option 'passes': '0' is not"),
    ("dmodk:passes", "engine 'dmodk': 'passes' is not of the form KEY=VALUE"),
    ("dmodk:", "engine 'dmodk': '' is not of the form KEY=VALUE"),
    ("dmodc", "unknown engine 'dmodc'; did you mean 'dmodk'?"),
])
def test_bad_engines_are_refused(small, engine, message):
    for command in (["ebb", small], ["survive", small], ["check", small], ["route", small],
                    ["paths", small, 1, 2], ["compare", small, small]):
        assert message in refused(*command, "-e", engine)


@pytest.mark.parametrize("text, message", [
    ("H_0_0 H_9_9\n", "1: 'H_9_9' is not a host of the fabric"),
    ("H_0_0\n", "1: expected `SOURCE DESTINATION` or `round`"),
    ("", "the file is empty"),
    ("# none\n", "the file has no flow"),
])
def test_bad_pattern_files_are_refused(folder, small, text, message):
    pairs = folder / "bad-pairs"
    pairs.write_text(text)
    assert message in refused("ebb", small, "-e", "dmodk", "-p", f"pairs:file={pairs}")


def test_a_rank_out_of_range_is_refused(folder, small):
    ranks = folder / "bad-ranks"
    ranks.write_text("0 1\n3 16\n")
    message = refused("ebb", small, "-e", "dmodk", "-p", f"ranks:file={ranks}")
    assert "bad-ranks:2: rank '16' is out of range, expected 0..15" in message


def test_a_host_file_with_an_unknown_host_is_refused(folder, small):
    hosts = folder / "bad-hosts"
    hosts.write_text("H_0_0\nH_4_0\n")
    assert "bad-hosts:2: 'H_4_0' is not a host of the fabric" in refused("ebb", small, "-e", "dmodk", "--map", hosts)


def test_a_fabric_in_two_pieces_is_told_of(folder):
    """Hosts that cannot reach one another are counted; the rest has its figures."""
    pieces = folder / "pieces.net"
    generate(pieces, "xgft", "--children=4,4", "--parents=1,2", "--remove-links=100%")
    report = ebb(pieces, "-e", "spf", status=FAULTS)
    assert sum(report["broken_routes"][kind] for kind in ("no_entry", "dead_end", "loop")) == 192
    assert report["mean"] == 1 and report["routes"] + report["broken"] == 80000
    assert "flows that do not arrive" in heddle("ebb", pieces, "-e", "spf", status=FAULTS)[0]


def test_what_is_missing_or_too_much_is_refused(small):
    expected = "expected FABRIC and TABLES (with -e: FABRIC), got"
    assert f"{expected} 1\nUsage: " in refused("ebb", small)
    assert f"{expected} 2 with -e\nUsage: " in refused("ebb", small, "x", "-e", "spf")
    assert "expected FABRIC and 2 to 16 tables to compare, got 1 table" in refused(
        "compare", small, "-e", "spf")
    assert "unknown engine 'best'" in refused("compare", small, "-e", "spf", "-e", "best")
    assert "no engine given" in refused("survive", small)
    assert "expected one FABRIC, got 0" in refused("survive", "-e", "spf")
    for shares in ("101", "x", "5..1", "1,,2", "0..100/0.1", "-1", "1..", ""):
        assert "'--remove'" in refused("survive", small, "-e", "spf", f"--remove={shares}")


def test_ar_needs_no_value(tmp_path):
    tree = generate(tmp_path / "small.net", "xgft", "--children=4,4", "--parents=1,2")
    found = [ebb("-n", 50, "-e", "dmodk", *words)["adaptive"]["mean"]
             for words in (["--ar", "auto", tree], ["--ar", tree], [tree, "--ar"], ["--ar=auto", tree])]
    assert len(set(found)) == 1
    assert "none of auto, lag, tree, dfp" in refused("ebb", "-e", "dmodk", "--ar=best", tree)
