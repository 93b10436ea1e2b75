# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle ar plan and fairness, and heddle check with a plan."""

import csv
import json
import re

import pytest

from cli_testing import BAD, CLEAN, FABRICS, FAULTS, ebb, generate, heddle, refused, route
from fairness_table import competing


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ar")
    generate(folder / "tree", "xgft", "--children=4,4,4", "--parents=1,4,4", "--remove-links=8%")
    route("dmodk", folder / "tree", folder / "tables")
    return folder


def plan_of(*arguments, status=CLEAN):
    return json.loads(heddle("ar", "plan", "--json", *arguments, status=status)[0])


def test_a_plan_adds_up(tree):
    """The share is that of the entries, each adaptive entry has a group of two ports or more, and the
    static port is in it."""
    plan = plan_of(tree / "tree", tree / "tables")
    assert plan["algorithm"] == "tree" and plan["proof"]["clean"]
    entries = adaptive = 0
    for switch in plan["switches"]:
        groups = {group["number"]: group["ports"] for group in switch["groups"]}
        assert len(groups) == switch["group_count"]
        for entry in switch["lids"]:
            entries += 1
            if entry["state"] == "static":
                assert entry["group"] is None
                continue
            adaptive += 1
            assert entry["state"] == "bounded"
            assert entry["port"] in groups[entry["group"]] and len(groups[entry["group"]]) > 1
    assert plan["adaptive_share"] == pytest.approx(adaptive / entries)
    assert 0 < plan["adaptive_share"] == plan["possible_share"]


def test_the_json_has_its_names(tree):
    """Programs rely on these names."""
    plan = plan_of(tree / "tree", tree / "tables")
    assert {"algorithm", "switches", "adaptive_share", "proof"} <= plan.keys()
    for switch in plan["switches"]:
        assert {"guid", "group_count", "groups", "lids"} <= switch.keys()
        for group in switch["groups"]:
            assert group.keys() == {"number", "ports", "subgroups"}
            assert sorted(sum(group["subgroups"], [])) == group["ports"]
        for lid in switch["lids"]:
            assert lid.keys() == {"lid", "state", "port", "group"}


def test_the_files_say_what_the_plan_says(tree):
    """AR_INFO has a row for each switch with groups, with its highest group; the .far file has the
    groups and entries of the JSON, and all of them."""
    plan = plan_of("-o", tree, tree / "tree", tree / "tables")
    rows = list(csv.DictReader((tree / "heddle-ar-info.csv").read_text().splitlines()[1:-1]))
    info = {row["NodeGUID"]: row for row in rows}
    assert len(rows) == len(info)
    far = (tree / "heddle.far").read_text()
    sections = {text.split()[0]: text.splitlines()[1:] for text in far.split("Switch ")[1:]}
    for switch in plan["switches"]:
        numbers = [group["number"] for group in switch["groups"]]
        row = info.get(switch["guid"])
        assert (row is None or row["e"] == "0") == (not numbers)
        if numbers:
            assert (row["group_top"], row["ageing_time_value"]) == (str(max(numbers)), "30")
        lines = [" ".join(line.split()) for line in sections[switch["guid"]] if line]
        groups = [f"{group['number']} - 0 : {' '.join(f'{port},' for port in group['ports'])}"
                  for group in switch["groups"]]
        lids = [f"0x{lid['lid']:04x} : {lid['port']} : {lid['state']} : "
                f"{'-' if lid['group'] is None else lid['group']}" for lid in switch["lids"]]
        assert lines == ["(Group - Sub-group) : Ports", *groups,
                         "LID : Static port : State : Group", *lids]


@pytest.mark.parametrize("algorithm", ("lag", "tree", "dfp", "auto"))
def test_each_algorithm_can_be_chosen(tmp_path, algorithm):
    fabric = generate(tmp_path / "df", "dragonfly-plus", "--islands=3", "--leaves=2", "--spines=2",
                      "--hosts=1", "--global-links=2")
    plan = plan_of("--algorithm", algorithm, "-e", "dfp", fabric)
    assert plan["algorithm"] == {"auto": "dfp"}.get(algorithm, algorithm)


def test_check_proves_plans_with_aggregation_nodes(tmp_path):
    """On a damaged tree with aggregation nodes, whose LIDs stay static: the plan is proved over all
    ports; an entry that leads back up is found."""
    fabric = generate(tmp_path / "tree", "xgft", "--children=3,4,3", "--parents=1,4,3",
                      "--aggregation-nodes", "--remove-links=4%")
    route("dmodk", fabric, tmp_path / "tables")
    heddle("ar", "plan", "-o", tmp_path, fabric, tmp_path / "tables")
    check = ("check", "--json", "--plan")
    report = json.loads(heddle(*check, tmp_path / "heddle.far", fabric, tmp_path / "tables")[0])
    assert report["clean"] and report["adaptive"]["clean"] and report["adaptive"]["adaptive"] > 100
    text = (tmp_path / "heddle.far").read_text()
    spine = next(part for part in text.split("Switch ") if "'S2_" in part and "\n0 - 0 : " in part)
    wider = re.sub(r"\n0 - 0 : .*", "\n0 - 0 : 1, 2, 3, 4, 5, 6, 7,", spine)
    (tmp_path / "wide.far").write_text(text.replace(spine, wider))
    report = json.loads(heddle(*check, tmp_path / "wide.far", fabric, tmp_path / "tables",
                               status=FAULTS)[0])
    assert not report["adaptive"]["clean"] and "credit loop" in report["adaptive"]["reason"]


def test_group_cap_limits_each_switch(tree):
    """With fewer groups fewer entries are adaptive, and the plan says how many could be."""
    shares = []
    for cap in (1, 2, 64):
        plan = plan_of("--group-cap", cap, tree / "tree", tree / "tables")
        assert all(switch["group_count"] <= cap for switch in plan["switches"])
        shares.append(plan["adaptive_share"])
    assert shares[0] < shares[1] < shares[2] == plan["possible_share"]


def test_check_proves_a_plan_that_was_written(tree):
    """A plan that was written to files can be proved from there."""
    heddle("ar", "plan", "-o", tree, tree / "tree", tree / "tables")
    info = (tree / "heddle-ar-info.csv").read_text().splitlines()
    assert info[0] == "START_AR_INFO" and info[-1] == "END_AR_INFO"
    assert len({line.count(",") for line in info[1:-1]}) == 1
    report = json.loads(heddle("check", "--json", "--plan", tree / "heddle.far", tree / "tree",
                               tree / "tables")[0])
    assert report["clean"] and report["adaptive"]["clean"] and report["adaptive"]["adaptive"] > 0


def test_check_finds_entries_that_lose_packets(tree, tmp_path):
    """A group with a port that has no cable to the LID, another static port than that of the tables, an
    entry that is missing, and a plan of other tables."""
    heddle("ar", "plan", "-o", tmp_path / "new", tree / "tree", tree / "tables")
    far = (tmp_path / "new" / "heddle.far").read_text()
    group = re.search(r"(?m)^\d+ - 0 : .*$", far).group()
    static = re.findall(r"(?m)^.* : \d+ : static : -$", far)[-1]
    other = re.sub(r": (\d+) : static", lambda row: f": {1 + int(row[1]) % 4} : static", static)
    route("updown", tree / "tree", tmp_path / "others")
    wrong = tmp_path / "wrong.far"
    for text, tables in ((far.replace(group, group + " 1,", 1), tree / "tables"),
                         (far.replace(static, other, 1), tree / "tables"),
                         (far.replace(static + "\n", "", 1), tree / "tables"),
                         (far, tmp_path / "others")):
        wrong.write_text(text)
        report = json.loads(heddle("check", "--json", "--plan", wrong, tree / "tree", tables,
                                   status=FAULTS)[0])
        assert not report["adaptive"]["clean"] and report["adaptive"]["wrong"] > 0
        assert re.match(r"switch 0x[0-9a-f]{16}, LID \d+, port \d+: ", report["adaptive"]["reason"])
        for command in (("ebb", "-n", 1), ("sim", "--quick", "--fabric")):
            message = refused(*command, tree / "tree", tables, "--plan", wrong)
            assert f"{wrong}: {report['adaptive']['reason']}" in message


def test_check_finds_the_loop_of_a_plan(tmp_path):
    """On a ring whose entries may all go either way round."""
    generate(tmp_path / "ring", "torus", "--dims=5", "--hosts=1")
    route("updown", tmp_path / "ring", tmp_path / "tables")
    heddle("ar", "plan", "-o", tmp_path, tmp_path / "ring", tmp_path / "tables")
    text = (tmp_path / "heddle.far").read_text()
    text = text.replace(" : Ports\n", " : Ports\n0 - 0 : 2, 3,\n")
    for port in (2, 3):
        text = text.replace(f" : {port} : static : -", f" : {port} : free : 0")
    (tmp_path / "round.far").write_text(text)
    report = heddle("check", "--plan", tmp_path / "round.far", tmp_path / "ring",
                    tmp_path / "tables", status=FAULTS)[0]
    assert "credit loops    none" in report
    assert "over all ports of their groups: credit loop of" in report
    for command in (("ebb", "-n", 1), ("sim", "--quick", "--fabric")):
        assert "round.far: credit loop of" in refused(*command, tmp_path / "ring", tmp_path / "tables", "--plan",
                                                      tmp_path / "round.far")


def test_a_plan_with_a_credit_loop_is_refused(tmp_path):
    """TREE on a torus: the loop is printed, and nothing is written."""
    generate(tmp_path / "torus", "torus", "--dims=4,4", "--hosts=1")
    plan = plan_of("--algorithm=tree", "-o", tmp_path, "-e", "spf", tmp_path / "torus",
                   status=FAULTS)
    links = plan["proof"]["loop"]["links"]
    assert not plan["proof"]["clean"] and len(links) >= 2 and plan["switches"] == []
    for link, following in zip(links, links[1:] + links[:1]):
        assert link["to"]["guid"] == following["from"]["guid"]
    assert not (tmp_path / "heddle.far").exists()
    assert plan["proof"]["reason"].startswith("the groups of algorithm tree can deadlock: ")


def test_tables_without_their_service_levels(tmp_path):
    """Tables that need lanes have a loop without the file of levels. Each command that proves tables says that they have
    it, not the groups, and names the file; with the file there is neither."""
    fabric, tables, levels = (tmp_path / name for name in ("torus", "tables", "levels"))
    generate(fabric, "torus", "--dims=5,5", "--hosts=1")
    heddle("route", "-e", "spf", "-o", tables, "--sl", levels, fabric)
    advice, alone = "give its service levels\nbeside the tables: ", "the tables alone can deadlock, so no plan can be right: "
    for command, status in ((("ar", "plan"), FAULTS), (("ebb", "-n", 1, "--ar", "auto"), BAD), (("check",), FAULTS),
                            (("certify", "-o", tmp_path / "certificate"), FAULTS)):
        said = "".join(heddle(*command, fabric, tables, status=status))
        assert advice in said and (alone in said or "credit loop" in said and command[0] in ("check", "certify")), said
        said = "".join(heddle(*command, fabric, tables, levels))
        assert advice not in said and alone not in said
    assert plan_of(fabric, tables, status=FAULTS)["proof"]["reason"].startswith(alone)


DIRECTORS = ("directors", "--leaves=20", "--hosts=4", "--uplinks=5", "--line-chips=10", "--outside=12", "--spine-chips=6")


@pytest.mark.parametrize("engine", ("dmodk", "updown"))
def test_directors_are_trees(tmp_path, engine):
    """Leaves that share line chips offer paths down and up again. The groups do without, and nothing is lost; from
    tables in a file as from the engine."""
    fabric = generate(tmp_path / "directors", *DIRECTORS)
    plan = plan_of("-e", engine, fabric)
    assert plan["algorithm"] == "tree" and plan["notes"] == [] and plan["adaptive_share"] > 0.49
    route(engine, fabric, tmp_path / "tables")
    assert plan_of(fabric, tmp_path / "tables") == plan
    heddle("ar", "plan", "-o", tmp_path, fabric, tmp_path / "tables")
    heddle("check", "--plan", tmp_path / "heddle.far", fabric, tmp_path / "tables")


@pytest.mark.parametrize("name, file, share", (
    ("avakas", "ibnetdiscover-p.txt", 0.8815), ("chic-like", "chic.net", 0.6431), ("ib145", "topo.ibnet", 0.8292),
    ("psmn-x5", "X5.topofile", 0.7872)))
@pytest.mark.parametrize("engine", ("dmodk", "updown", "spf"))
def test_real_fabrics_have_groups_of_tree(name, file, share, engine):
    fabric = FABRICS / name / file
    if not fabric.exists():
        pytest.skip(f"no {fabric}: set HEDDLE_FABRICS to its folder")
    plan = plan_of("-e", engine, fabric)
    assert plan["algorithm"] == "tree" and plan["notes"] == []
    assert plan["adaptive_share"] == pytest.approx(share, abs=0.0001)


def test_what_is_in_the_way_is_said(tmp_path):
    """Without a tree and without parallel cables nothing is adaptive: the text and the JSON name a cable, a warning
    says so, and the status is 0."""
    fabric = generate(tmp_path / "torus", "torus", "--dims=4,4", "--hosts=1")
    text, warning = heddle("ar", "plan", "-e", "spf", fabric)
    cable = "the link 'S_0_0' 0x0000000000200000[2] - 'S_1_0' 0x0000000000200040[3]"
    remedy = "a fabric in which each cable joins neighbouring levels"
    assert "(0.00%)" in text
    assert f"why not more    algorithm tree is not possible: not a fat tree: {cable}" in text
    assert f"                what would allow it: {remedy}\n" in text
    assert "heddle: warning: no entry is adaptive: algorithm tree is not possible: " in warning and cable in warning
    note, = plan_of("-e", "spf", fabric)["notes"]
    assert (note["kind"], note["algorithm"], note["entries"], note["remedy"]) == ("refused", "tree", 0, remedy)
    assert cable in note["cause"]


def with_swapped_cables(text, one, other):
    """The cables of two switch ports (GUID in hexadecimal, port) join these two ports, and their far ends each other."""
    lines, places, switch = text.splitlines(), {}, None
    for number, line in enumerate(lines):
        if line.startswith("Switch"):
            switch = line.split('"')[1][2:]
        elif found := re.match(r'\[(\d+)\]\t"S-(\w+)"\[(\d+)\]', line):
            places[switch, int(found[1])] = number, (found[2], int(found[3]))
    far, far_other = places[one][1], places[other][1]
    for near, (guid, port) in ((one, other), (other, one), (far, far_other), (far_other, far)):
        lines[places[near][0]] = f'[{near[1]}]\t"S-{guid}"[{port}]'
    return "\n".join(lines) + "\n"


def test_a_part_that_is_no_tree_is_static(tmp_path):
    """A leaf is cabled to a switch at the top, and two in the middle to each other: a cable is named, and most entries
    stay adaptive."""
    fabric = generate(tmp_path / "tree", "xgft", "--children=4,4,4", "--parents=1,4,4")
    (tmp_path / "swapped").write_text(with_swapped_cables(fabric.read_text(), (f"{0x200000:016x}", 5),
                                                          (f"{0x200200:016x}", 4)))
    whole, plan = plan_of("-e", "updown", fabric), plan_of("-e", "updown", tmp_path / "swapped")
    assert plan["algorithm"] == "tree" and plan["adaptive_share"] > 0.5 * whole["adaptive_share"]
    note, = plan["notes"]
    assert note["kind"] == "static" and note["entries"] > 0
    assert note["cause"] == ("the cable 'S1_0_0' 0x0000000000200000[5] - 'S3_0_0' 0x0000000000200200[4] joins levels 0 "
                             "and 2; 2 of 128 cables do not join neighbouring levels of a tree")


@pytest.mark.parametrize("k", range(2, 21))
def test_fairness_is_table_two(tmp_path, k):
    """K hosts and K up ports at each of 2K leaves; the figures come from the tables."""
    figures, ports = competing(tmp_path, k)
    assert figures == {
        (0, "up", "deterministic"): (k, 0, k), (0, "up", "adaptive"): (k, 0, k),
        (1, "down", "deterministic"): (2 * k - 1, 0, 2 * k - 1),
        (1, "down", "adaptive"): (2 * k - 1, 0, 2 * k - 1),
        (0, "down", "deterministic"): (k, 1, k - 1),
        (0, "down", "adaptive"): (2 * k - 1, k, k - 1),
    }
    at_risk = [port for port in ports if port["reverse_parking_lot"]]
    assert len(at_risk) == 2 * k * k and all(port["to_host"] for port in at_risk)


def test_a_tree_is_worth_its_full_bandwidth_with_ar(tmp_path):
    """On an intact tree of full bisection bandwidth even spreading reaches 1 and so does the bound,
    where the tables alone reach less; a plan from a file has the same worth as one made now."""
    fabric = generate(tmp_path / "tree", "xgft", "--children=4,4,4", "--parents=1,4,4")
    route("dmodk", fabric, tmp_path / "tables")
    made = ebb("-n", 200, "--ar=tree", fabric, tmp_path / "tables")
    heddle("ar", "plan", "-o", tmp_path, fabric, tmp_path / "tables")
    read = ebb("-n", 200, "--plan", tmp_path / "heddle.far", fabric, tmp_path / "tables")
    assert made["mean"] == read["mean"] < 0.85
    assert made["adaptive"]["mean"] == made["adaptive"]["bound"] == 1
    for key in ("mean", "bound", "histogram", "pattern_means", "adaptive_share"):
        assert made["adaptive"][key] == read["adaptive"][key]
    assert (made["adaptive"]["algorithm"], read["adaptive"]["algorithm"]) == ("tree", None)
    text = heddle("ebb", "-n", 20, "--ar=auto", fabric, tmp_path / "tables")[0]
    assert "each switch spreads evenly" in text and "can exceed it" in text


def test_damage_and_full_switches_cost_bandwidth(tree):
    """Damage and too few groups leave less than 1; the tables alone are below the bound in any case."""
    heddle("ar", "plan", "--group-cap=1", "-o", tree, tree / "tree", tree / "tables")
    few = ebb("-n", 200, "--plan", tree / "heddle.far", tree / "tree", tree / "tables")
    all_groups = ebb("-n", 200, "--ar=auto", tree / "tree", tree / "tables")
    assert few["mean"] < few["adaptive"]["mean"] < all_groups["adaptive"]["mean"] < 1
    assert all_groups["adaptive"]["mean"] <= all_groups["adaptive"]["bound"] < 1
    assert few["adaptive"]["bound"] <= all_groups["adaptive"]["bound"]


def test_dragonfly_is_worth_the_same_from_a_file(tmp_path):
    """A plan with private tables, whose file does not say which ports lead up."""
    fabric = generate(tmp_path / "df", "dragonfly-plus", "--islands=4", "--leaves=2", "--spines=3",
                      "--hosts=2", "--global-links=2")
    route("dfp", fabric, tmp_path / "tables")
    made = ebb("-n", 200, "--ar=dfp", fabric, tmp_path / "tables")
    heddle("ar", "plan", "-o", tmp_path, fabric, tmp_path / "tables")
    read = ebb("-n", 200, "--plan", tmp_path / "heddle.far", fabric, tmp_path / "tables")
    assert made["adaptive"]["mean"] == read["adaptive"]["mean"] >= made["mean"]
    assert made["adaptive"]["bound"] == read["adaptive"]["bound"] >= made["adaptive"]["mean"]
    heddle("check", "--plan", tmp_path / "heddle.far", fabric, tmp_path / "tables")


def test_a_plan_and_other_shares_are_refused(tree):
    for options in (("--fair",), ("--weights=rate",), ("--lids=spread",), ("--plan=x",), ("--ar=both",)):
        message = heddle("ebb", "-n", 5, "--ar=tree", *options, tree / "tree", tree / "tables",
                         status=BAD)[1]
        assert "--plan and --ar" in message or "adaptive routing has only" in message or \
            "none of auto" in message
