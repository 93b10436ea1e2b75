# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle engines, route and check on generated fabrics."""

import json
import os
import re

import pytest

from cli_testing import (CLEAN, FABRICS, FAULTS, check, engines, generate, heddle, refused, route,
                         show, unwrapped)


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("tree") / "tree.net", "xgft", "--children=6,6,6",
                    "--parents=1,6,6")


@pytest.fixture(scope="module", name="torus")
def fixture_torus(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("torus") / "torus.net", "torus", "--dims=5,5,5")


ENGINES = [engine["name"] for engine in engines()]


def test_engines_are_listed_as_text_names_and_json():
    text = unwrapped(heddle("engines")[0])
    names = heddle("engines", "--names")[0].split()
    assert names == ENGINES and {"dmodk", "updown", "spf"} <= set(names)
    for engine in engines():
        assert f"{engine['name']}\n" in text and engine["summary"] in text
        options = heddle("engines", "--names", engine["name"])[0].split()
        assert options == [option["name"] for option in engine["options"]]
        for option in engine["options"]:
            assert f"    {option['name']}=" in text and option["summary"] in text
    assert [one["name"] for one in json.loads(heddle("engines", "--json", "spf")[0])] == ["spf"]


def test_engines_refuses_what_there_is_not():
    assert "unknown engine 'best'; there are: " in refused("engines", "best")
    assert "expected at most one ENGINE, got 2" in refused("engines", "dmodk", "spf")


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "rings"])  # it refuses trees
def test_routed_trees_check_clean(tmp_path, tree, engine):
    report = check(tree, route(engine, tree, tmp_path / "tables"))
    assert report["clean"] and report["faults"] == []
    assert report["paths"] == 108 * 324
    assert report["hops"]["max_stretch"] == 1
    # Hosts behind other leaves, times hosts below the link, over the ways up: 6 * 210 / 6.
    assert report["flows"]["max"] == 210 or engine == "turns"  # it balances what bisections send


@pytest.mark.parametrize("lmc", [0, 1, 3, 7])
def test_every_lid_of_an_lmc_is_routed(tmp_path, tree, lmc):
    tables = route("dmodk", tree, tmp_path / "tables", "--lmc", lmc)
    report = check("--lmc", lmc, tree, tables)
    assert report["clean"] and report["lids"] == 216 * 2 ** lmc + 108


def test_tables_are_the_same_for_any_number_of_threads(tmp_path, tree):
    texts = {route("spf", tree, tmp_path / "tables", "--threads", threads).read_bytes()
             for threads in (1, 2, 5)}
    assert len(texts) == 1


def test_lids_of_the_file_are_kept(tmp_path, tree):
    """A fabric with LIDs in another order than ours keeps them; without LIDs it gets ours."""
    bare = tmp_path / "bare"
    text = re.sub(r" lid \d+( lmc \d+)?", "", tree.read_text())
    bare.write_text(text)
    assert show(bare)["lids"]["in_use"] == 0
    ours = route("dmodk", tree, tmp_path / "ours").read_bytes()
    assert route("dmodk", bare, tmp_path / "fresh").read_bytes() == ours
    heddle("topo", "convert", "--lmc", 2, tree, "-o", tmp_path / "lmc2")
    route("dmodk", tmp_path / "lmc2", tmp_path / "kept")
    assert check(tmp_path / "lmc2", tmp_path / "kept")["lids"] == 216 * 4 + 108


def test_tables_go_to_stdout_and_the_summary_to_stderr(tmp_path, tree):
    stdout, stderr = heddle("route", "-e", "dmodk", tree)
    assert stdout == route("dmodk", tree, tmp_path / "tables").read_text()
    assert heddle("route", "-e", "dmodk", tree, "-o", "-")[0] == stdout
    assert re.fullmatch(r"dmodk: 108 switches, 324 LIDs, [0-9.]+ ms\n", stderr)


@pytest.mark.parametrize("children,lost,said", [
    ("6,9", 64, True), ("6,9", 63, False), ("5,9", 55, False), ("6,9", None, False)])
def test_a_last_block_that_the_dump_left_out_is_told(tmp_path, children, lost, said):
    """54 hosts, 9 leaves and one spine: 64 LIDs, the last of them alone in its block. Other LIDs
    that are missing are missing for other reasons."""
    fabric = generate(tmp_path / "fabric", "xgft", f"--children={children}", "--parents=1,1")
    tables = route("updown", fabric, tmp_path / "tables")
    if lost:
        text = re.sub(rf"(?m)^0x{lost:04x} .*\n", "", tables.read_text())
        tables.write_text(text)
    out = heddle("check", fabric, tables, status=FAULTS if lost else CLEAN)[0]
    assert ("No switch has an entry for the highest LID, 64. dump_fts" in out) == said


def test_the_summary_counts_changed_entries(tmp_path, tree):
    tables = route("dmodk", tree, tmp_path / "tables")
    done = heddle("route", "-e", "dmodk", "--previous", tables, "--json", tree, "-o",
                  tmp_path / "again")
    summary = json.loads(done[0])
    assert summary["engine"] == "dmodk" and summary["changed_entries"] == 0
    assert summary["switches"] == 108 and summary["lids"] == 324
    assert (tmp_path / "again").read_bytes() == tables.read_bytes()
    stderr = heddle("route", "-e", "dmodk", "--previous", tables, tree, "-o", os.devnull)[1]
    assert stderr.endswith("ms, 0 entries changed\n")


def test_an_engine_option_changes_the_summary_and_is_checked(tmp_path, torus):
    summary = json.loads(heddle("route", "-e", "spf:passes=1", "--json", torus, "-o",
                                tmp_path / "tables")[0])
    assert summary["options"] == "passes=1"
    assert "'99' is not a whole number 1..16" in refused(
        "route", "-e", "spf:passes=99", torus)
    assert "engine 'spf': unknown option 'weight'; there are: " in refused(
        "route", "-e", "spf:weight=9", torus)
    assert "'passes' is not of the form KEY=VALUE" in refused("route", "-e", "spf:passes", torus)


def test_an_engine_that_refuses_a_fabric_writes_nothing(tmp_path, torus):
    tables = tmp_path / "tables"
    message = refused("route", "-e", "dmodk", torus, "-o", tables)
    assert "engine 'dmodk': " in message and "'S_0_0_0'" in message
    assert list(tmp_path.iterdir()) == []


def test_spf_on_a_torus_has_a_credit_loop_printed_as_a_cycle(tmp_path, torus):
    tables = route("spf", torus, tmp_path / "tables")
    report = check(torus, tables, status=FAULTS)
    assert not report["clean"] and report["credit_loops"] == 1
    assert report["no_route"] == report["dead_end"] == report["loop"] == 0
    (loop,) = report["faults"]
    ends = loop["links"]
    for link, following in zip(ends, ends[1:] + ends[:1]):
        assert link["to"]["guid"] == following["from"]["guid"]
    text = heddle("check", torus, tables, status=FAULTS)[0]
    assert f"credit loop on VL 0, a cycle of {len(ends)} links:" in text
    assert f"    '{ends[0]['from']['name']}'[{ends[0]['from']['port']}] -> " in text
    assert text.endswith("faults found\n")


def without_hosts(text, kept):
    """A netlist less all hosts but one."""
    stanzas = [stanza for stanza in text.split("\n\n")
               if not re.search(r"(?m)^Ca\t", stanza) or f'"{kept}"' in stanza]
    return "\n".join(line for line in "\n\n".join(stanzas).split("\n")
                     if not re.search(r'"H-.*# "H', line) or f'"{kept}"' in line)


def test_switch_traffic_counts_when_asked_for(tmp_path):
    """One host on a ring: paths to and from it close no cycle, those between switches do."""
    generate(tmp_path / "full", "torus", "--dims=8", "--hosts=1")
    ring = tmp_path / "ring"
    ring.write_text(without_hosts((tmp_path / "full").read_text(), "H_0_0"))
    assert show(ring)["hosts"] == 1 and show(ring)["components"] == 1
    tables = route("spf", ring, tmp_path / "tables")
    assert check(ring, tables)["clean"]
    assert check("--switch-traffic", ring, tables, status=FAULTS)["credit_loops"] == 1


def test_tables_may_be_split_over_files_and_a_folder(tmp_path, tree):
    text = route("dmodk", tree, tmp_path / "tables").read_text()
    parts = re.split(r"(?m)^(?=Unicast lids)", text)[1:]
    assert len(parts) == 108
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, part in enumerate(parts):
        (folder / f"switch{number}").write_text(part)
    whole = check(tree, tmp_path / "tables")
    assert check(tree, folder) == whole
    assert check(tree, *sorted(folder.iterdir())) == whole


def rows_of(text):
    return [match.start() for match in re.finditer(r"(?m)^0x[0-9A-Fa-f]{4} ", text)]


def with_entry(text, row, port):
    at = rows_of(text)[row]
    return text[:at + 7] + f"{port:03d}" + text[at + 10:]


def test_faults_are_shown_with_their_path(tmp_path, tree):
    """Leaf S1_0_0 sends LID 7, a host of S1_0_1, to a host of its own: a dead end."""
    text = route("dmodk", tree, tmp_path / "tables").read_text()
    broken = tmp_path / "broken"
    broken.write_text(with_entry(text, 6, 1))
    report = check(tree, broken, status=FAULTS)
    assert report["dead_end"] >= 1 and report["loop"] == 0
    fault = report["faults"][0]
    assert fault["kind"] == "dead end" and fault["lid"] == 7
    assert fault["hops"][-1]["name"] == "S1_0_0" and fault["hops"][-1]["port"] == 1
    shown = heddle("check", tree, broken, status=FAULTS)[0]
    assert "dead end: from 'S1_0_0' to LID 7 ('H_0_1_0')\n" in shown
    assert "'S1_0_0'[1] -> 'H_0_0_0', which is not the destination" in shown


def test_a_loop_is_shown_with_its_path(tmp_path):
    """Two switches that send a third one's host to each other."""
    ring = generate(tmp_path / "ring", "torus", "--dims=3")
    text = route("spf", ring, tmp_path / "tables").read_text()
    parts = re.split(r"(?m)^(?=Unicast lids)", text)
    for part, port in ((1, 2), (2, 3)):  # S_0 forwards to S_1, S_1 back to S_0
        parts[part] = with_entry(parts[part], 2, port)
    (tmp_path / "broken").write_text("".join(parts))
    report = check(ring, tmp_path / "broken", status=FAULTS)
    assert report["loop"] == 2
    shown = heddle("check", ring, tmp_path / "broken", status=FAULTS)[0]
    assert "loop: from 'S_0' to LID 3 ('H_2_0')\n    'S_0'[2] -> 'S_1'[3] -> 'S_0' again" in shown


def test_missing_entries_are_counted_and_the_list_is_cut(tmp_path, tree):
    text = route("dmodk", tree, tmp_path / "tables").read_text()
    (tmp_path / "part").write_text(re.split(r"(?m)^(?=Unicast lids)", text)[1])
    report = check("--max-faults=3", tree, tmp_path / "part", status=FAULTS)
    assert report["no_route"] > 107 * 300
    assert len(report["faults"]) == 3
    shown = heddle("check", "--max-faults=3", tree, tmp_path / "part", status=FAULTS)[0]
    assert "which has no entry" in shown
    assert re.search(r"\.\.\. and \d+ more faults", shown)


@pytest.mark.parametrize("name,file", [("avakas", "ibnetdiscover-p.txt"), ("ib145", "topo.ibnet"),
                                       ("psmn-x5", "X5.topofile")])
def test_real_fabrics_are_routed(tmp_path, name, file):
    fabric = FABRICS / name / file
    if not fabric.exists():
        pytest.skip(f"no {fabric}: set HEDDLE_FABRICS to its folder")
    assert check(fabric, route("updown", fabric, tmp_path / "updown"))["clean"]
    done = heddle("check", "--json", fabric, route("spf", fabric, tmp_path / "spf"), status=None)
    report = json.loads(done[0])
    assert report["no_route"] == report["dead_end"] == report["loop"] == 0
    assert report["hops"]["max_stretch"] == 1


def test_live_tables_of_a_real_fabric_are_clean():
    fabric = FABRICS / "avakas" / "ibnetdiscover-p.txt"
    if not fabric.exists():
        pytest.skip(f"no {fabric}: set HEDDLE_FABRICS to its folder")
    report = check(fabric, FABRICS / "avakas" / "ibroute")
    assert report["hosts"] == 281 and report["paths"] == 25 * 306


GUIDS = {"root": [f"0x{0x200000 + 16 * i:x}" for i in range(72, 108)],
         "host": [f"0x{0x100000 + 16 * i:x}" for i in range(216)]}


def test_files_of_the_administrator_are_read(tmp_path, tree):
    """Each file is taken, and one with a line that is no GUID is refused with its line."""
    (tmp_path / "roots").write_text("\n".join(GUIDS["root"]) + "\n")
    (tmp_path / "hosts").write_text("\n".join(GUIDS["host"][::2]) + "\n")
    (tmp_path / "order").write_text("\n".join(reversed(GUIDS["host"])) + "\n")
    (tmp_path / "weights").write_text("0x200000 7 3\n")
    (tmp_path / "ignored").write_text("0x200000 7\n")
    tables = route("updown", tree, tmp_path / "tables", "--root-guid-file", tmp_path / "roots",
                   "--cn-guid-file", tmp_path / "hosts", "--io-guid-file", tmp_path / "hosts",
                   "--max-reverse-hops=1", "--guid-routing-order-file", tmp_path / "order",
                   "--hop-weights-file", tmp_path / "weights", "--port-prof-ignore-file",
                   tmp_path / "ignored", "--connect-roots")
    assert check(tree, tables)["clean"]
    (tmp_path / "bad").write_text("0x200000\nnonsense\n")
    for option in ("root-guid-file", "cn-guid-file", "io-guid-file", "guid-routing-order-file",
                   "hop-weights-file", "port-prof-ignore-file"):
        message = refused("route", "-e", "updown", f"--{option}", tmp_path / "bad", tree)
        assert "/bad:" in message
        message = refused("route", "-e", "updown", f"--{option}", tmp_path / "none", tree)
        assert "/none: cannot open: No such file or directory" in message


def test_every_command_with_an_engine_takes_the_policy(tmp_path, tree):
    """Its engine then computes the tables that `heddle route` computes with the same files."""
    (tmp_path / "order").write_text("\n".join(reversed(GUIDS["host"])) + "\n")
    engine = ["-e", "dmodk:method=balanced", "--guid-routing-order-file", tmp_path / "order"]
    heddle("route", *engine, tree, "-o", tmp_path / "tables")
    for command, ends in ((["check"], []), (["paths"], ["H_0_0_0", "H_5_5_5"]),
                          (["ebb", "-n", 50], [])):
        read, computed = (json.loads(heddle(*command, "--json", *words, *ends)[0])
                          for words in ([tree, tmp_path / "tables"], [*engine, tree]))
        read.pop("tables", None), computed.pop("tables", None)
        assert read == computed
        message = refused(*command, *engine[2:], tree, tmp_path / "tables", *ends)
        assert "--root-guid-file and the other options of the policy are for an engine" in message
    compared = json.loads(heddle("compare", "--json", "-n", 50, tree, tmp_path / "tables",
                                 *engine)[0])["compared"]
    assert compared[0]["mean"] == compared[1]["mean"]
    heddle("survive", *engine, "-r", 0, "--trials", 1, "-n", 5, tree)
    for command in ("check", "ebb", "survive"):
        assert "/none: cannot open" in refused(command, "-e", "dmodk", "--root-guid-file",
                                               tmp_path / "none", tree)


def test_the_routing_order_decides(tmp_path, tree):
    """Hosts listed in reverse are balanced in reverse: the tables are others."""
    plain = route("dmodk:method=balanced", tree, tmp_path / "plain").read_bytes()
    (tmp_path / "order").write_text("\n".join(reversed(GUIDS["host"])) + "\n")
    other = route("dmodk:method=balanced", tree, tmp_path / "other",
                  "--guid-routing-order-file", tmp_path / "order").read_bytes()
    assert plain != other
    assert check(tree, tmp_path / "other")["clean"]
