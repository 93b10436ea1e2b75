# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle survive --repair with multicast groups: random ones, and those of tables, on damaged fabrics."""

import csv
import io
import json
import re

import pytest

import schemas
from cli_testing import CLEAN, FAULTS, generate, heddle, refused
from test_cli_mcast import mcast, opensm_dump

DAMAGED = {
    "tree": ("dmodk", "xgft", "--children=4,4,4", "--parents=1,4,4", "--remove-links=8%"),
    "torus": ("spf:vls=2", "torus", "--dims=4,4", "--hosts=2", "--remove-links=5%"),
    "irregular": ("updown", "irregular", "--switches=20", "--radix=12"),
}


def survive(engine, fabric, *options, status=CLEAN):
    words = ["survive", "-e", engine, "-n", 5, *options, fabric]
    return schemas.validate("survive", json.loads(heddle(*words, "--json", status=status)[0]))


def without_times(report):
    for repair in report["repairs"]:
        del repair["plan_ms"]
        repair.get("multicast", {}).pop("plan_ms", None)
    return report


@pytest.mark.parametrize("name", DAMAGED)
def test_trees_are_repaired_on_damaged_fabrics(tmp_path, name):
    """Each repair reaches all members, no step loops, and groups that lose a cable are hit."""
    engine, *kind = DAMAGED[name]
    fabric = generate(tmp_path / "fabric", *kind)
    report = survive(engine, fabric, "--repair", 20, "--groups", 30)
    repairs = [repair["multicast"] for repair in report["repairs"] if "refusal" not in repair]
    assert report["groups"] == 30 and len(repairs) == len(report["repairs"]) > 20
    assert all(repair["loop_free"] and repair["delivers"] for repair in repairs)
    assert sum(repair["hit"] for repair in repairs) > 30 < sum(repair["moved"] for repair in repairs)
    for repair in repairs:
        assert (repair["blocks"] > 0) == (repair["steps"] > 0) == (repair["hit"] + repair["moved"] > 0)
        assert repair["steps"] <= 6


def test_unicast_repairs_are_the_same_with_and_without_groups(tmp_path):
    fabric = generate(tmp_path / "fabric", *DAMAGED["tree"][1:])
    with_groups = without_times(survive("dmodk", fabric, "--repair", 5, "--groups", 5))
    without = without_times(survive("dmodk", fabric, "--repair", 5))
    assert all("multicast" in repair for repair in with_groups["repairs"])
    assert "groups" not in without and "multicast" not in str(without)
    del with_groups["groups"]
    for repair in with_groups["repairs"]:
        del repair["multicast"]
    assert with_groups == without


def test_the_seed_draws_the_groups(tmp_path):
    fabric = generate(tmp_path / "fabric", *DAMAGED["tree"][1:])
    one, again, other = (without_times(survive("dmodk", fabric, "--repair", 5, "--groups", 9, "--size", 3,
                                               "--seed", seed)) for seed in (4, 4, 5))
    assert one == again != other


def test_groups_of_tables_are_hit_if_they_use_the_cable(tmp_path):
    """Of a chain of switches the loss of any cable cuts the group of its ends, and of a switch in the
    middle, too. A group at one switch is not hit."""
    fabric = generate(tmp_path / "fabric", "mesh", "--dims=4", "--hosts=2")
    groups = {0xC000: mcast(fabric, "H_0_0", "H_3_1"), 0xC021: mcast(fabric, "H_1_0", "H_1_1")}
    (tmp_path / "tables").write_text(opensm_dump(groups))
    report = survive("spf", fabric, "--repair", 9, "--mcfdbs", tmp_path / "tables", status=FAULTS)
    assert report["groups"] == 2
    for repair in report["repairs"]:
        assert repair["multicast"]["hit"] == 1, repair
        assert repair["multicast"]["loop_free"]
    end = [repair["multicast"]["delivers"] for repair in report["repairs"]
           if re.match(r"lost switch 'S_[03]'", repair["lost"])]
    middle = [repair["multicast"]["delivers"] for repair in report["repairs"]
              if not re.match(r"lost switch 'S_[03]'", repair["lost"])]
    assert end == [True, True] and middle == [False] * 5


def test_the_text_says_what_the_tables_say(tmp_path):
    fabric = generate(tmp_path / "fabric", "mesh", "--dims=4", "--hosts=2")
    words = ["survive", "-e", "spf", "-n", 5, "--repair", 9, "--groups", 6, "--size", 3, fabric]
    repairs = survive("spf", fabric, "--repair", 9, "--groups", 6, "--size", 3, status=FAULTS)["repairs"]
    text = heddle(*words, status=FAULTS)[0]
    sound = sum(repair["multicast"]["delivers"] for repair in repairs)
    assert 0 < sound < len(repairs)
    assert f"6 multicast groups: after {sound} of {len(repairs)} repairs they reach all members that are left" in text
    assert len(re.findall(r"MLID 0xC00\d does not reach all members", text)) == len(repairs) - sound
    rows = list(csv.DictReader(io.StringIO(heddle(*words[:-1], "--csv", fabric, status=FAULTS)[0]), strict=True))
    keys = {"hit": "trees_hit", "moved": "trees_moved", "blocks": "mft_blocks", "steps": "mft_steps"}
    for row, repair in zip(rows, repairs, strict=True):
        for key, column in keys.items():
            assert int(row[column]) == repair["multicast"][key]
        assert row["mft_delivers"] == ("yes" if repair["multicast"]["delivers"] else "no")
        assert row["mft_loop_free"] == "yes" and row["mft_refusal"] == ""


def test_options_that_do_not_go_together_are_refused(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=4")
    (tmp_path / "garbage").write_text("no tables\n")
    words = ["survive", "-e", "spf", fabric]
    assert "--groups and --mcfdbs are for --repair" in refused(*words, "--groups=2")
    assert "--groups and --mcfdbs are for --repair" in refused(*words, "--mcfdbs=garbage")
    assert "--size is for --groups" in refused(*words, "--repair=2", "--size=2")
    assert "give it no --mcfdbs" in refused(*words, "--repair=2", "--groups=2", "--mcfdbs=garbage")
    assert "5 members, but only 4 hosts" in refused(*words, "--repair=2", "--groups=2", "--size=5")
    assert "garbage" in refused(*words, "--repair=2", "--mcfdbs", tmp_path / "garbage")
    assert "none" in refused(*words, "--repair=2", "--mcfdbs", tmp_path / "none")
