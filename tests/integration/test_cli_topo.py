# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle topo: generate, show, convert."""

import json
import re
import shutil
import subprocess

import pytest

from cli_testing import (FABRICS, check, ebb, generate, heddle, kinds, refused, route, show)

TREE = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")

SAMPLES = {
    "xgft": (["--children", "4,3,2", "--parents=1,2,3"], 24, 16),
    "kary-ntree": (["--k=4", "--n=3"], 64, 48),
    "rlft": (["--radix=8", "--levels=3", "--hosts=64"], 64, 40),
    "torus": (["--dims", "4,4,4"], 64, 64),
    "mesh": (["--dims=3,4", "--hosts=2"], 24, 12),
    "hypercube": (["--dimensions=4"], 16, 16),
    "hyperx": (["--dims=4,3", "--hosts=2"], 24, 12),
    "slim-fly": (["--q=5"], 200, 50),
    "dragonfly": (["--switches=4", "--global-links=2", "--hosts=2"], 72, 36),
    "jellyfish": (["--switches=20", "--degree=4", "--hosts=3"], 60, 20),
    "irregular": (["--switches", "30", "--radix", "8", "--seed", "7"], 120, 30),
    "dragonfly-plus": (["--islands=5", "--leaves=2", "--spines=2", "--hosts=2",
                        "--global-links=2"], 20, 20),
    "directors": ([], 528, 116),
    "rail-tree": (["--groups=2", "--spines=8"], 512, 24),
    "interconnect": (["--switches=yes"], 144, 36),
}


def test_every_kind_of_fabric_has_a_sample():
    assert {kind["name"] for kind in kinds()} == set(SAMPLES)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_generated_fabric_reads_back_whole(tmp_path, kind):
    options, hosts, switches = SAMPLES[kind]
    facts = show(generate(tmp_path / "fabric", kind, *options))
    assert (facts["hosts"], facts["switches"]) == (hosts, switches)
    assert facts["components"] == 1
    assert facts["lids"]["in_use"] == hosts + switches


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_same_options_write_the_same_bytes(tmp_path, kind):
    options = SAMPLES[kind][0]
    first = generate(tmp_path / "first", kind, *options).read_bytes()
    assert first == generate(tmp_path / "second", kind, *options).read_bytes()


@pytest.mark.parametrize("kind", SAMPLES)
def test_converting_a_netlist_changes_nothing(tmp_path, kind):
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    assert heddle("topo", "convert", fabric)[0] == fabric.read_text()


def test_options_are_taken_in_either_form_and_order(tmp_path):
    first = generate(tmp_path / "a", "torus", "--dims", "3,3", "--hosts", "2")
    second = generate(tmp_path / "b", "torus", "--hosts=2", "--dims=3,3")
    assert first.read_bytes() == second.read_bytes()


def test_removed_links_are_a_share_and_follow_the_seed(tmp_path):
    whole = show(generate(tmp_path / "whole", *TREE))["cables_between_switches"]
    texts = set()
    for seed in (1, 2, 2):
        less = generate(tmp_path / "less", *TREE, "--remove-links", "10%", "--seed", seed)
        assert show(less)["cables_between_switches"] == whole - round(whole / 10)
        texts.add(less.read_text())
    assert len(texts) == 2


def test_show_tells_levels_radixes_links_and_lids(tmp_path):
    facts = show(generate(tmp_path / "tree", *TREE))
    assert facts["switches_by_level"] == [36, 36, 36]
    assert facts["switches_by_radix"] == [{"ports": 6, "switches": 36},
                                          {"ports": 12, "switches": 72}]
    assert facts["links"] == [{"width": 4, "speed": "EDR", "between_switches": 432,
                               "to_hosts": 216}]
    assert facts["lids"]["hosts_by_lmc"] == [216] + 7 * [0]
    assert facts["lids"]["largest_lmc"] == 7
    text = heddle("topo", "show", tmp_path / "tree")[0]
    for line in ("hosts        216 ports", "level 2    36", "connected    yes",
                 "4x EDR     432 between switches, 216 to hosts", "largest LMC  7"):
        assert line in text


def test_show_counts_the_parts_of_a_broken_fabric(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=2,2", "--remove-links=100%")
    assert show(fabric)["components"] == 4
    assert "connected    no, 4 components" in heddle("topo", "show", fabric)[0]


def test_the_largest_lmc_is_the_one_that_can_be_assigned(tmp_path):
    fabric = generate(tmp_path / "fabric", "xgft", "--children=16,16,16", "--parents=1,4,2")
    largest = show(fabric)["lids"]["largest_lmc"]
    assert 0 < largest < 7
    heddle("topo", "convert", "--lmc", largest, fabric)
    assert f"the largest LMC that fits is {largest}" in refused(
        "topo", "convert", "--lmc", largest + 1, fabric)


def test_convert_gives_lids_of_the_lmc_asked_for(tmp_path):
    fabric = generate(tmp_path / "fabric", *TREE)
    heddle("topo", "convert", "--lmc", 3, fabric, "-o", tmp_path / "lmc3")
    assert show(tmp_path / "lmc3")["lids"]["hosts_by_lmc"][3] == 216


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_draws_what_is_written(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=3,3", "--format=dot")
    drawn = subprocess.run(["dot", "-Tsvg", fabric], capture_output=True, text=True, check=True)
    assert "S_0_0" in drawn.stdout and "</svg>" in drawn.stdout


def cables_drawn(path):
    """Cables between switches by name, as the Graphviz form lists them."""
    dot = heddle("topo", "convert", path, "--format=dot")[0]
    names = dict(re.findall(r'(?m)^\t(s\d+) \[label="(S[^\\"]*)', dot))
    return sorted((names[a], names[b], label)
                  for a, b, label in re.findall(r"(?m)^\t(s\d+) -- (s\d+)(.*);$", dot))


def test_the_directors_are_the_reference_fabric(tmp_path):
    reference = FABRICS / "chic-like" / "chic.net"
    if not reference.exists():
        pytest.skip(f"no {reference}: set HEDDLE_FABRICS to its folder")
    ours = cables_drawn(generate(tmp_path / "fabric", "directors"))
    assert len(ours) == 44 * 2 + 2 * 24 * 12 and ours == cables_drawn(reference)


BAD_GENERATE = [
    ([], "no kind of fabric given"),
    (["klein-bottle"], "unknown kind of fabric 'klein-bottle'; there are: xgft, "),
    (["torsu"], "unknown kind of fabric 'torsu'; did you mean 'torus'?"),
    (["xgft"], "option 'children' is missing"),
    (["xgft", "--children=6,6", "--parents=1"], "1 levels given, 'children' has 2"),
    (["xgft", "--children=6,6", "--parents=2,6"], "a host has one port"),
    (["xgft", "--children=200,2", "--parents=1,100"], "would need 300 ports, expected 254 or fewer"),
    (["xgft", "--children=6,six", "--parents=1,6"], "'6,six' is not a list"),
    (["kary-ntree", "--k=36", "--n=3"], "more than 49151 unicast LIDs"),
    (["rlft", "--radix=36", "--hosts=100"], "the nearest numbers that fill them are 72 and 108"),
    (["torus", "--dims=3,3", "--hosts=251"], "would need 255 ports"),
    (["torus", "--dims"], "option '--dims' needs a value"),
    (["torus", "--dims=3,3", "--colour=red"], "unknown option '--colour=red'"),
    (["torus", "--dims=3,3", "more"], "'more' is one argument too many"),
    (["torus", "--dims=3,3", "--format=png"], "'png' is not one of netlist|dot|slurm|slurm-weights|slurm-blocks|slurm-yaml|graphml"),
    (["torus", "--dims=3,3", "--remove-links=110%"], "'110%' is not a share 0%..100%"),
    (["torus", "--dims=3,3", "--seed=x"], "'x' is not a whole number"),
    (["irregular", "--switches=9", "--radix=4", "--hosts=3"], "more ports than the radix 4"),
    (["dragonfly-plus", "--islands=9", "--leaves=2", "--spines=2", "--hosts=2"],
     "2 global ports (2 spines x 1 global-links), fewer than the 8 other islands"),
    (["slim-fly", "--q=6"], "6 is no power of a prime"),
    (["dragonfly", "--switches=2", "--global-links=1", "--hosts=1", "--groups=4"],
     "2 global ports (2 switches x 1 global-links), fewer than the 3 other groups"),
    (["jellyfish", "--switches=9", "--degree=3"], "the links of 9 switches have 9 x 3 ends, an odd number"),
    (["rail-tree", "--uplinks=30"], "30 cables of a leaf do not divide evenly among 4 spines"),
    (["directors", "--leaves=49"], "294 outside ports of every director, but a director has only 288"),
]


@pytest.mark.parametrize("arguments,message", BAD_GENERATE)
def test_what_cannot_be_generated_is_refused_with_the_reason(arguments, message):
    assert message in refused("topo", "generate", *arguments)


def test_topo_refuses_bad_usage(tmp_path):
    assert "no command given" in refused("topo")
    assert "unknown command 'shrink'" in refused("topo", "shrink")
    assert "expected one FABRIC, got 0" in refused("topo", "show")
    assert "expected one FABRIC, got 2" in refused("topo", "convert", "a", "b")
    fabric = generate(tmp_path / "fabric", "torus", "--dims=3,3")
    assert "'8' is not a whole number 0..7" in refused("topo", "convert", "--lmc=8", fabric)


def test_listed_adapters_are_no_hosts_to_any_command(tmp_path):
    """An adapter on every switch hides the tree. With their GUIDs in --aggregation-guid-file every
    command sees it again, and sends no traffic to them; with tables from files as well."""
    netlist = generate(tmp_path / "known", *TREE, "--aggregation-nodes").read_text()
    unknown = re.sub(r"(?m)^(sysimgguid|vendid|devid)=.*\n", "", netlist)
    (tmp_path / "unknown").write_text(unknown)
    guids = re.findall(r'(?m)^Ca\s+1 "H-([0-9a-f]+)"\s+# "A_', netlist)
    (tmp_path / "listed").write_text("".join(f"0x{guid}\n" for guid in guids))
    policy = ("--aggregation-guid-file", tmp_path / "listed")
    tables = route("dmodk", tmp_path / "unknown", tmp_path / "tables", *policy)

    plain = show(tmp_path / "unknown")
    assert plain["hosts"] == 216 + len(guids) and len(plain["switches_by_level"]) == 1
    facts = json.loads(heddle("topo", "show", "--json", *policy, tmp_path / "unknown")[0])
    assert facts["hosts"] == 216 and facts["aggregation_nodes"] == len(guids) == 108
    assert facts["switches_by_level"] == [36, 36, 36]

    assert check(*policy, tmp_path / "unknown", tables)["clean"]
    for words in ((tables,), ("-e", "dmodk")):
        report = ebb("-n", 20, *policy, tmp_path / "unknown", *words)
        assert report["hosts"] == 216 and report["aggregation_nodes_left_out"] == 108
    heddle("survive", "-e", "dmodk", "-r", 1, "--trials", 1, "-n", 5, *policy, tmp_path / "unknown")
    compared = json.loads(heddle("compare", "--json", "-n", 20, *policy, tmp_path / "unknown",
                                 tables, "-e", "dmodk")[0])["compared"]
    assert compared[0]["mean"] == compared[1]["mean"] == report["mean"]
