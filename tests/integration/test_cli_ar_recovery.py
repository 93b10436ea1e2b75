# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What heddle ar plan and heddle survive --ar say of fast recovery, against packets that are followed here by the plan
and the topology that the command wrote: the rules of include/heddle/ar_manager/fast_recovery.h, once more."""

import csv
import io
import json
import random
import re

import pytest

from cli_testing import generate, heddle, refused

LEVELS = ("off", "local", "notices")


class Fabric:
    """Cables between switches, and where adapters are."""

    def __init__(self, path):
        self.cables, self.hosts, node = {}, {}, None
        for line in path.read_text().splitlines():
            if found := re.match(r'(Switch|Ca)\s+\d+ "[SH]-([0-9a-f]+)"', line):
                node = int(found.group(2), 16)
                is_switch = found.group(1) == "Switch"
            elif found := re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([SH])-([0-9a-f]+)"\[(\d+)\].*', line):
                far = int(found.group(3), 16), int(found.group(4))
                if is_switch and found.group(2) == "S":
                    self.cables[node, int(found.group(1))] = far
                elif not is_switch:
                    lid, lmc = map(int, re.search(r"# lid (\d+) lmc (\d+)", line).groups())
                    for offset in range(1 << lmc):
                        self.hosts[lid + offset] = far[0]
        self.sources = set(self.hosts.values())


def entries_of(plan):
    """{(switch, LID): (ports, whether it is static)}"""
    entries = {}
    for switch in plan["switches"]:
        groups = {group["number"]: group["ports"] for group in switch["groups"]}
        for entry in switch["lids"]:
            static = entry["group"] is None
            entries[int(switch["guid"], 16), entry["lid"]] = (
                {entry["port"]} if static else {entry["port"], *groups[entry["group"]]}, static)
    return entries


class Walks:
    """All packets to one LID after a loss, with one level in force."""

    def __init__(self, fabric, entries, dead, level, silent):
        self.fabric, self.entries, self.dead, self.level, self.silent = fabric, entries, dead, level, silent

    def left(self, switch, lid, told):
        ports, static = self.entries[switch, lid]
        if self.level != "off":
            ports = {port for port in ports if (switch, port) not in self.dead}
        if self.level == "notices" and not (static and self.silent):
            ports = {port for port in ports if self.fabric.cables.get((switch, port), (None,))[0] not in told}
        return ports

    def told(self, lid):
        """The switches that have told their neighbours, when no notice is new."""
        told = set()
        while self.level == "notices":
            new = {switch for switch, other in self.entries if other == lid and switch not in told
                   and switch != self.fabric.hosts[lid] and not (self.silent and self.entries[switch, lid][1])
                   and not self.left(switch, lid, told)}
            if not new:
                break
            told |= new
        return told

    def delivered(self, lid):
        """The switches from which every packet arrives."""
        told, known = self.told(lid), {self.fabric.hosts[lid]: True}

        def arrives(switch):
            if switch not in known:
                ports = self.left(switch, lid, told)
                known[switch] = bool(ports) and all(
                    (switch, port) not in self.dead and (switch, port) in self.fabric.cables
                    and arrives(self.fabric.cables[switch, port][0]) for port in ports)
            return known[switch]
        return {switch for switch in self.fabric.sources
                if switch != self.fabric.hosts[lid] and (switch, lid) in self.entries and arrives(switch)}


def pairs_of(fabric, entries, dead, level, silent=False):
    walks = Walks(fabric, entries, dead, level, silent)
    return {(switch, lid) for lid in fabric.hosts for switch in walks.delivered(lid)}


def ends_of(cables):
    return {(int(end["guid"], 16), end["port"]) for cable in cables for end in cable.values()}


@pytest.mark.parametrize("kind, lmc, engine, options", [
    (("--children=3,3,2", "--parents=1,2,3"), 1, "dmodk", []),
    (("--children=3,3,3", "--parents=1,3,3", "--remove-links=8%", "--aggregation-nodes"), 0, "dmodk", []),
    (("--children=3,3", "--parents=1,3"), 0, "updown", ["--silent-statics"]),
    (("--children=4,4", "--parents=1,2", "--parallel=1,2"), 0, "spf", ["--algorithm=lag"])])
def test_the_shares_are_those_of_walks(tmp_path, kind, lmc, engine, options):
    path = tmp_path / "fabric"
    heddle("topo", "convert", "--lmc", lmc, generate(tmp_path / "generated", "xgft", *kind), "-o", path)
    words, silent = ["-e", engine, *options], bool(options) and "silent" in options[0]
    plan = json.loads(heddle("ar", "plan", "--json", "--losses=40", "--seed=5", *words, path)[0])
    fabric, entries, recovery = Fabric(path), entries_of(plan), plan["fast_recovery"]
    before = pairs_of(fabric, entries, set(), "off")
    assert recovery["proved"] and recovery["pairs"] == len(before)
    single, double = recovery["losses"]
    assert single["cables"] == 1 and single["count"] == len(single["list"]) == len(fabric.cables) / 2
    assert double["cables"] == 2 and double["count"] == len(double["list"]) == 40
    assert {frozenset(ends_of(loss["cables"])) for loss in single["list"]} == {
        frozenset(cable) for cable in fabric.cables.items()}
    draw = random.Random(1)
    for loss in draw.sample(single["list"], min(15, single["count"])) + draw.sample(double["list"], 15):
        dead = ends_of(loss["cables"])
        assert len(dead) == 2 * len(loss["cables"])
        for level in LEVELS:
            assert loss[level] == len(before & pairs_of(fabric, entries, dead, level, silent)), (loss, level)
    for losses in recovery["losses"]:
        for level in LEVELS:
            parts = [loss[level] / len(before) for loss in losses["list"]]
            assert losses[level]["mean"] == pytest.approx(sum(parts) / len(parts))
            assert losses[level]["least"] == pytest.approx(min(parts))
            assert losses[level]["whole"] == pytest.approx(parts.count(1) / len(parts))


def test_survive_counts_the_same(tmp_path):
    """Without loss all pairs are delivered, and a share of two cables is a loss of two cables."""
    path = generate(tmp_path / "fabric", "xgft", "--children=3,3", "--parents=1,3")
    words = ["survive", "--ar", "-e", "dmodk", "-r", "0,22", "--trials", 4, "-n", 5, path]
    none, some = json.loads(heddle(*words, "--json", status=None)[0])["shares_removed"]
    assert none["fast_recovery"] == {level: {"mean": 1, "least": 1} for level in LEVELS}
    recovery = json.loads(heddle("ar", "plan", "--json", "-e", "dmodk", "--losses=500", path)[0])["fast_recovery"]
    possible = {tuple(loss[level] for level in LEVELS) for loss in recovery["losses"][1]["list"]}
    worst = tuple(round(some["fast_recovery"][level]["least"] * recovery["pairs"]) for level in LEVELS)
    assert all(any(loss[i] == worst[i] for loss in possible) for i in range(3))
    rows = list(csv.DictReader(io.StringIO(heddle(*words, "--csv", status=None)[0])))
    assert float(rows[1]["local"]) == pytest.approx(some["fast_recovery"]["local"]["mean"])
    assert float(rows[1]["notices_least"]) == pytest.approx(some["fast_recovery"]["notices"]["least"])
    text = heddle(*words, status=None)[0]
    assert f"{100 * some['fast_recovery']['local']['mean']:.4f}%" in text
    assert "off" not in heddle("survive", "-e", "dmodk", "-r", 0, "--trials", 1, "-n", 5, path)[0]
    assert "needs shares" in refused("survive", "--ar", "-e", "dmodk", "--repair", 1, path)


def test_fast_recovery_is_refused_with_a_place(tmp_path):
    """In this tree packets of a switch above the leaves would come back to it."""
    for seed in range(1, 200):
        path = generate(tmp_path / "fabric", "xgft", "--children=1,2,2", "--parents=1,2,2", "--remove-links=12%",
                        f"--seed={seed}")
        text = heddle("ar", "plan", "-e", "updown", path, status=None)[0]
        if line := re.search(r"(?m)^fast recovery   refused: (.*)", text):
            assert re.fullmatch(r"switch '\S+' 0x[0-9a-f]{16}\[0\], LID \d+: packets can come back to the switch", line[1])
            assert "after a loss" not in text
            return
    pytest.fail("no such tree")


def test_private_tables_are_not_counted(tmp_path):
    path = generate(tmp_path / "fabric", "dragonfly-plus", "--islands=4", "--leaves=3", "--spines=3", "--hosts=3",
                    "--global-links=3")
    words = ["ar", "plan", "-e", "spf", "--algorithm=dfp", path]
    assert "after a loss    not counted: a plan with private tables" in heddle(*words)[0]
    assert json.loads(heddle(*words, "--json")[0])["fast_recovery"]["losses"] == []
