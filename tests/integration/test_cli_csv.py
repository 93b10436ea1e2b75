# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--csv: tables that a spreadsheet reads, with the figures of --json."""

import csv
import io
import json

import pytest

from cli_testing import FAULTS, check, generate, heddle, refused, route, show


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    netlist = generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,4").read_text()
    (folder / "tree").write_text(netlist.replace('"S1_0"', '"leaf, the \'first\'"'))
    route("dmodk", folder / "tree", folder / "tables")
    generate(folder / "ring", "torus", "--dims=5")
    route("spf:deadlock=off", folder / "ring", folder / "looped")
    return folder


def table(*arguments, status=0):
    """The rows by the names of the columns."""
    text = heddle(*arguments[:-1], "--csv", arguments[-1], status=status)[0]
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert rows and all(None not in row and None not in row.values() for row in rows)
    return rows


def test_check_lists_the_load_of_every_link(folder):
    report = check(folder / "tree", folder / "tables")
    rows = table("check", folder / "tree", folder / "tables")
    loads = [int(row["load"]) for row in rows]
    assert len(rows) == 2 * 16 and {"leaf, the 'first'"} < {row["from"] for row in rows}
    assert (min(loads), max(loads)) == (report["flows"]["min"], report["flows"]["max"])
    assert sum(loads) / len(loads) == report["flows"]["mean"]
    busiest = report["flows"]["busiest"]
    assert any((row["from"], int(row["from_port"]), row["to_guid"]) == (
        busiest["from"]["name"], busiest["from"]["port"], busiest["to"]["guid"])
        and int(row["load"]) == max(loads) for row in rows)
    assert table("check", folder / "ring", folder / "looped", status=FAULTS)


def test_topo_show_lists_the_switches(folder):
    rows, facts = table("topo", "show", folder / "tree"), show(folder / "tree")
    assert [sum(row["level"] == str(level) for row in rows) for level in (0, 1)] == facts["switches_by_level"]
    assert sum(int(row["hosts"]) for row in rows) == facts["hosts"]
    assert sum(int(row["links"]) for row in rows) == 2 * facts["cables_between_switches"]


def test_figures_of_bandwidth_are_those_of_json(folder):
    words = ["-n", 20, "-e", "dmodk"]
    (row,) = table("ebb", *words, folder / "tree")
    report = json.loads(heddle("ebb", "--json", *words, folder / "tree")[0])
    for name in ("mean", "half_width_99", "minimum", "deviation", "pi_sum_max", "pi_sum_avg"):
        assert float(row[name]) == pytest.approx(report[name])
    rows = table("compare", *words, "-e", "spf", folder / "tree")
    report = json.loads(heddle("compare", "--json", *words, "-e", "spf", folder / "tree")[0])["compared"]
    assert [row["tables"] for row in rows] == ["dmodk", "spf"]
    assert rows[0]["difference"] == rows[0]["same"] == ""
    assert float(rows[1]["difference"]) == pytest.approx(report[1]["difference"]["mean"])


def test_survive_has_a_row_for_each_share(folder):
    words = ["-e", "dmodk", "-r", "5", "--trials", 2, "-n", 5]
    rows = table("survive", *words, folder / "tree", status=None)
    report = json.loads(heddle("survive", "--json", *words, folder / "tree", status=None)[0])["shares_removed"]
    assert [float(row["removed_percent"]) for row in rows] == [one["removed_percent"] for one in report]
    assert [int(row["routed"]) for row in rows] == [one["routed"] for one in report]


def test_csv_and_json_exclude_each_other(folder):
    for command in (["topo", "show"], ["check", "-e", "spf"], ["ebb", "-e", "spf"], ["survive", "-e", "spf"]):
        assert "cannot be used together" in refused(*command, "--csv", "--json", folder / "tree")
