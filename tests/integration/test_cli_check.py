# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle check: faults in tables are findings, all of them reported, and files that lost a part
are never called clean."""

import re

import pytest

from cli_testing import BAD, FAULTS, check, generate, heddle, refused, route


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("check")
    generate(path / "tree", "xgft", "--children", "4,4", "--parents", "1,4")
    route("dmodk", path / "tree", path / "lft")
    return path


def edited(folder, name, edit):
    """The tables with `edit` applied to their lines."""
    path = folder / name
    path.write_text("".join(edit((folder / "lft").read_text().splitlines(keepends=True))))
    return path


def rows_of(lines):
    return [i for i, line in enumerate(lines) if line.startswith("0x") and "Channel" in line]


def test_contradictions_and_broken_paths_are_reported_together(folder):
    """Two rows contradict others, one leads to a port that no switch has, one is missing: all of
    that is in one report, with exit status 1."""
    def edit(lines):
        rows = rows_of(lines)
        lines[rows[0]] += re.sub(r" \d{3} ", " 004 ", lines[rows[0]])
        lines[rows[1]] += re.sub(r" \d{3} ", " 004 ", lines[rows[1]])
        lines[rows[20]] = re.sub(r" \d{3} ", " 099 ", lines[rows[20]])
        del lines[rows[21]]
        return lines
    tables = edited(folder, "faulty", edit)
    report = check(folder / "tree", tables, status=FAULTS)
    assert not report["clean"]
    assert report["defect_count"] == len(report["defects"])
    assert {defect["kind"] for defect in report["defects"]} == {"contradiction"}
    assert report["dead_end"] >= 1 and report["no_route"] >= 1
    dead = next(fault for fault in report["faults"] if fault["kind"] == "dead end")
    assert dead["hops"][-1]["port"] == 99
    text = heddle("check", folder / "tree", tables, status=FAULTS)[0]
    assert "contradiction: " in text and "on an earlier line" in text
    assert "[99] which is no port of the switch" in text
    assert text.endswith("faults found\n")


def test_all_faults_are_counted_and_max_faults_are_shown(folder):
    def edit(lines):
        for row in rows_of(lines):
            lines[row] += re.sub(r" \d{3} ", " 000 ", lines[row])
        return lines
    tables = edited(folder, "many", edit)
    report = check("--max-faults", 3, folder / "tree", tables, status=FAULTS)
    assert report["defect_count"] == len(rows_of((folder / "lft").read_text().splitlines()))
    assert len(report["defects"]) == 3
    assert "more defects of the files" in heddle("check", folder / "tree", tables, status=FAULTS)[0]


def test_a_table_that_ends_with_another_number_is_not_clean(folder):
    tables = edited(folder, "cut", lambda lines: lines[:-1] + ["3 lids dumped\n"])
    report = check(folder / "tree", tables, status=FAULTS)
    assert "begins with last LID" in report["defects"][0]["text"]
    assert report["defects"][0]["kind"] == "incomplete"


def test_a_table_that_lost_its_end_lacks_paths(folder):
    tables = edited(folder, "end", lambda lines: lines[:-3])
    assert check(folder / "tree", tables, status=FAULTS)["no_route"] > 0


def test_unreadable_rows_are_bad_input(folder):
    def edit(lines):
        lines[rows_of(lines)[0]] = "0x0001 zzz\n"
        return lines
    assert "expected LID and port" in refused("check", folder / "tree", edited(folder, "bad", edit))


def test_tables_without_defects_have_no_word_of_them(folder):
    report = check(folder / "tree", folder / "lft")
    assert report["clean"] and "defects" not in report


def test_missing_maps_of_virtual_lanes_are_not_clean(folder):
    """A file of ibdmchk -d with 3 rows is no map of the whole fabric."""
    tables = folder / "slvl.lft"
    heddle("route", "-e", "dmodk", folder / "tree", "-o", tables, "--slvl", folder / "slvl",
           "--psl", folder / "psl")
    rows = (folder / "slvl").read_text().splitlines(keepends=True)
    assert check(folder / "tree", tables, folder / "psl", folder / "slvl")["clean"]
    (folder / "some").write_text("".join(rows[:3]))
    report = check(folder / "tree", tables, folder / "psl", folder / "some", status=FAULTS)
    assert "maps from SLs to VLs are missing" in report["defects"][0]["text"]
    (folder / "some").write_text("".join(rows[:3]) + " ".join(rows[3].split()[:3]))
    message = heddle("check", folder / "tree", tables, folder / "some", status=BAD)[1]
    assert "is this row cut short?" in message


def nagios(*arguments, status):
    """The one line: its words before the data, and the data as {label: (value, warning, critical)}."""
    (line,) = heddle("check", "--nagios", *arguments, status=status)[0].splitlines()
    text, _, data = line.partition(" | ")
    fields = [re.fullmatch(r"([a-z_]+)=(\d+);(\d*);(\d*);(\d+)", field) for field in data.split()]
    return text, {field[1]: (int(field[2]), field[3], field[4]) for field in fields}


def test_nagios_gets_one_line_with_the_figures_of_the_report(folder):
    report = check(folder / "tree", folder / "lft")
    text, data = nagios(folder / "tree", folder / "lft", status=0)
    assert text == f"HEDDLE OK - {folder}/tree: {report['paths']} paths checked"
    assert data["no_route"] == data["loops"] == (0, "", "0") and data["defects"] == (0, "0", "")
    assert data["hosts"][0] == 16 and data["largest_load"][0] == report["flows"]["max"]


def test_nagios_warns_of_defects_and_calls_faults_critical(folder):
    def contradict(lines):
        row = rows_of(lines)[0]
        return [*lines[:row + 1], re.sub(r" \d{3} ", " 004 ", lines[row]), *lines[row + 1:]]

    def cut(lines):
        del lines[rows_of(lines)[0]]
        return lines
    text, data = nagios(folder / "tree", edited(folder, "defect", contradict), status=1)
    assert text.startswith("HEDDLE WARNING - ") and data["defects"][0] > 0 == data["no_route"][0]
    hole = edited(folder, "hole", cut)
    text, data = nagios(folder / "tree", hole, status=2)
    lost = check(folder / "tree", hole, status=FAULTS)["no_route"]
    assert text.startswith("HEDDLE CRITICAL - ") and f"{lost} paths without route" in text
    assert data["no_route"][0] == lost > 0


def test_nagios_is_told_when_nothing_can_be_said(folder):
    for arguments in ((folder / "none", folder / "lft"), (folder / "tree",), (folder / "lft", folder / "lft"),
                      ("--json", folder / "tree", folder / "lft")):
        text, data = nagios(*arguments, status=3)
        assert text.startswith("HEDDLE UNKNOWN - ") and not data
