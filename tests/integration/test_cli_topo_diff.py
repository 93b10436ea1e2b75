# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle topo diff: what it says of changed fabrics, in each form, and of bad input."""

import json
import os
import re
import stat
import xml.etree.ElementTree

import pytest

import schemas
from cli_testing import BAD, CLEAN, FABRICS, FAULTS, generate, heddle, refused

TREE = ("xgft", "--children=4,4", "--parents=1,4")
SPEC = "xgft:children=4,4,parents=1,4"
REAL = ["avakas/ibnetdiscover-p.txt", "chic-like/chic.net", "ib145/topo.ibnet", "psmn-x5/X5.topofile"]


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    return generate(tmp_path / "plan", *TREE)


class Net:
    """A netlist as nodes {key: [type, GUID, name, ports]} and cables [((key, port), (key, port), rate)], which a test
    changes and writes again. Keys are the GUIDs that nodes had at first."""

    def __init__(self, path):
        self.nodes, ends, here = {}, {}, None
        for line in path.read_text().splitlines():
            begins = re.match(r'(Switch|Ca|Rt)\s+(\d+) "[SHR]-([0-9a-f]+)"\s*# "([^"]*)"', line)
            if begins:
                here = int(begins.group(3), 16)
                self.nodes[here] = [begins.group(1), here, begins.group(4), int(begins.group(2))]
            port = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"[SHR]-([0-9a-f]+)"\[(\d+)\].*?(\d+x\w+)?$', line)
            if port:
                ends[here, int(port.group(1))] = ((int(port.group(2), 16), int(port.group(3))), port.group(4))
        self.cables = [(end, peer, rate) for end, (peer, rate) in ends.items() if end < peer]

    def key(self, name):
        return next(key for key, node in self.nodes.items() if node[2] == name)

    def cut(self, name, port):
        end = (self.key(name), port)
        self.cables = [cable for cable in self.cables if end not in cable[:2]]

    def swap(self, what, one, other):
        """What two nodes exchange: 1 their GUIDs, 2 their names."""
        one, other = self.nodes[self.key(one)], self.nodes[self.key(other)]
        one[what], other[what] = other[what], one[what]

    def write(self, path):
        letters = {"Switch": "S", "Ca": "H", "Rt": "R"}
        lines = []
        for key, (kind, guid, name, ports) in self.nodes.items():
            lines += ["", f"{ {'Switch': 'switch', 'Ca': 'ca', 'Rt': 'rt'}[kind]}guid=0x{guid:x}",
                      f'{kind} {ports} "{letters[kind]}-{guid:016x}" # "{name}"']
            for one, other, rate in self.cables:
                for (own, port), (peer, peer_port) in ((one, other), (other, one)):
                    if own == key:
                        to = self.nodes[peer]
                        far = f'"{letters[to[0]]}-{to[1]:016x}"[{peer_port}]'
                        lines.append(f'[{port}] {far} # "{to[2]}" lid 0 {rate or ""}')
        path.write_text("\n".join(lines) + "\n")
        return path


def diff(*arguments, status=FAULTS, **options):
    return json.loads(heddle("topo", "diff", "--json", *arguments, status=status, **options)[0])


def test_equal_fabrics_do_not_differ(tree):
    for match in ("auto", "guid", "name", "shape"):
        found = diff("--match", match, tree, tree, status=CLEAN)
        assert found["differences"] == [] and found["cables_in_place"] == found["planned_cables"] == 32
    assert heddle("topo", "diff", tree, tree)[0] == (
        "as planned; 32 of 32 planned cables are in place; matched by GUID\n")


def test_a_pulled_cable_is_named(tmp_path, tree):
    net = Net(tree)
    net.cut("S1_2", 6)
    live = net.write(tmp_path / "live")
    text = heddle("topo", "diff", tree, live, status=FAULTS)[0]
    assert text == ("the cable S1_2[6] - S2_1[3] is missing\n1 difference, which 1 step would mend; "
                    "31 of 32 planned cables are in place; matched by GUID\n")
    found = diff(tree, live)["differences"]
    assert [(one["kind"], one["found"]) for one in found] == [("cable missing", [])]
    assert {(end["name"], end["port"]) for end in found[0]["expected"][0]["ends"]} == {("S1_2", 6), ("S2_1", 3)}
    assert [one["kind"] for one in diff(live, tree)["differences"]] == ["cable extra"]
    text = heddle("topo", "diff", SPEC, live, "--match=shape", status=FAULTS)[0]
    assert re.match(r"the cable \S+ \(S1_\d\) - \S+ \(S2_\d\) is missing\n", text)


def test_swapped_hosts_are_one_difference_by_guid_and_none_by_shape(tmp_path, tree):
    net = Net(tree)
    net.swap(1, "H_0_1", "H_2_1")
    net.swap(2, "H_0_1", "H_2_1")
    live = net.write(tmp_path / "live")
    text = heddle("topo", "diff", tree, live, status=FAULTS)[0].splitlines()
    assert text[0] == "swapped: host H_0_1[1] belongs in S1_0[2], host H_2_1[1] in S1_2[2]"
    assert text[1].startswith("1 difference, which 1 step would mend; 30 of 32")
    assert diff("--match=shape", tree, live, status=CLEAN)["steps"] == 0


def test_a_host_in_another_port_is_moved(tmp_path, tree):
    net = Net(tree)
    net.cut("S1_0", 1)
    net.cut("S1_3", 2)
    net.cables.append(((net.key("S1_3"), 2), (net.key("H_0_0"), 1), "4xEDR"))
    live = net.write(tmp_path / "live")
    text = heddle("topo", "diff", tree, live, status=FAULTS)[0]
    assert "host H_0_0[1] belongs in S1_0[1] and is in S1_3[2]\n" in text


def test_swapped_leaves_are_one_difference(tmp_path, tree):
    net = Net(tree)
    net.swap(1, "S1_1", "S1_3")
    net.swap(2, "S1_1", "S1_3")
    live = net.write(tmp_path / "live")
    assert heddle("topo", "diff", tree, live, status=FAULTS)[0].startswith(
        "switch S1_1 and switch S1_3 are swapped, with all their cables\n1 difference")
    assert diff("--match=shape", SPEC, live, status=CLEAN)["match"] == "shape"


def test_a_replaced_switch_is_one_difference(tmp_path, tree):
    net = Net(tree)
    old = net.nodes[net.key("S1_2")][1]
    net.nodes[net.key("S1_2")][1] = 0xdeadbeef
    live = net.write(tmp_path / "live")
    assert heddle("topo", "diff", tree, live, status=FAULTS)[0].startswith(
        f"switch S1_2 0x{old:016x} is replaced by S1_2 0x00000000deadbeef\n1 difference")
    assert diff("--match=name", tree, live, status=CLEAN)["cables_in_place"] == 32


def test_a_renamed_switch_is_not_replaced(tmp_path, tree):
    net = Net(tree)
    guid = net.nodes[net.key("S1_2")][1]
    net.nodes[net.key("S1_2")][2] = "leaf-a"
    live = net.write(tmp_path / "live")
    assert heddle("topo", "diff", "--match=name", tree, live, status=FAULTS)[0].startswith(
        f"switch S1_2 0x{guid:016x} has the name leaf-a\n1 difference")
    assert schemas.validate("topo diff", diff("--match=name", tree, live))["counts"]["node renamed"] == 1
    assert diff(tree, live, status=CLEAN)["steps"] == 0


def test_hosts_have_their_place_and_a_guid_if_they_share_a_name(tmp_path, tree):
    net = Net(tree)
    for name in ("H_0_0", "H_0_1"):
        net.nodes[net.key(name)][2] = "MT25408"
    guid = net.nodes[net.key("MT25408")][1]
    plan = net.write(tmp_path / "plan2")
    net.cut("S1_0", 1)
    del net.nodes[guid]
    key = net.key("H_2_3")
    net.cut("S1_2", 4)
    del net.nodes[key]
    live = net.write(tmp_path / "live")
    text = heddle("topo", "diff", plan, live, status=FAULTS)[0]
    assert sorted(text.splitlines()[:2]) == ["host H_2_3 at S1_2[4] is missing",
                                             f"host MT25408 0x{guid:016x} at S1_0[1] is missing"]
    text = heddle("topo", "diff", live, plan, status=FAULTS)[0]
    assert f"host MT25408 0x{guid:016x} at S1_0[1] is not in the plan\n" in text


def test_a_cable_from_a_switch_to_itself_is_seen_by_shape(tmp_path, tree):
    net = Net(tree)
    for end in ((net.key("S1_1"), 9), (net.key("S1_1"), 10)):
        net.nodes[end[0]][3] = 10
    net.cables.append(((net.key("S1_1"), 9), (net.key("S1_1"), 10), "4xEDR"))
    live = net.write(tmp_path / "live")
    text = heddle("topo", "diff", "--match=shape", tree, live, status=FAULTS)[0]
    assert re.match(r"the cable S1_1\[9\] (\(S1_\d\) )?- S1_1\[10\] (\(S1_\d\) )?is not in the plan\n1 diff", text)
    assert [one["kind"] for one in diff("--match=shape", live, tree)["differences"]] == ["cable missing"]
    assert diff("--match=shape", live, live, status=CLEAN)["planned_cables"] == 33


def test_a_generated_plan_is_matched_by_shape(tmp_path):
    """Another size of the same generator has the same GUIDs and names, which mean nothing."""
    live = generate(tmp_path / "live", "xgft", "--children=4,3", "--parents=1,4")
    assert diff(SPEC, live)["match"] == "shape"
    assert diff("--match=guid", SPEC, live)["match"] == "GUID"


def test_a_name_map_gives_names_by_which_nodes_are_found(tmp_path, tree):
    """A plan with names only: GUIDs are others, and the map names those of the fabric."""
    net, names = Net(tree), tmp_path / "names"
    for node in net.nodes.values():
        node[1] += 0x5000000
    names.write_text("".join(f'0x{guid:x} "{name}"\n' for _, guid, name, _ in net.nodes.values()))
    for node in net.nodes.values():
        node[2] = "unnamed"
    other = net.write(tmp_path / "other")
    assert diff(tree, other, status=CLEAN)["match"] == "shape"
    assert diff("--node-name-map", names, tree, other, status=CLEAN)["match"] == "name"


def test_rates_are_those_of_the_plan_or_of_the_option(tmp_path, tree):
    live = tmp_path / "live"
    lines = tree.read_text().replace("4xEDR", "4xHDR")
    live.write_text(lines)
    assert lines != tree.read_text()
    found = diff(tree, live)
    assert found["counts"]["rate"] == 32 and found["cables_in_place"] == 32
    assert re.match(r"the cable \S+ - \S+ is 4x HDR and should be 4x EDR\n",
                    heddle("topo", "diff", tree, live, status=FAULTS)[0])
    for right in (("--rate", "any"), ("--rate", "4xHDR"), ("--rate=4xhdr",)):
        assert diff(*right, tree, live, status=CLEAN)["steps"] == 0
    assert diff(SPEC, live, status=CLEAN)["steps"] == 0  # a generated plan knows no rates
    assert diff("--rate=4xNDR", SPEC, live)["counts"]["rate"] == 32


def test_nagios_has_one_line_and_its_statuses(tmp_path, tree):
    net, live = Net(tree), tmp_path / "live"
    for count, begin in ((0, "OK"), (1, "WARNING")):
        line = heddle("topo", "diff", "--nagios", tree, net.write(live), status=count)[0]
        assert line.startswith(f"HEDDLE {begin} - ") and line.count("\n") == 1 and f"| differences={count};0;;0" in line
        net.cut("S1_2", 6)
    generate(live, "xgft", "--children=4,4", "--parents=1,3")
    assert heddle("topo", "diff", "--nagios", tree, live, status=2)[0].startswith("HEDDLE CRITICAL - ")
    stdout, stderr = heddle("topo", "diff", "--nagios", tree, tmp_path / "none", status=3)
    assert stdout.startswith("HEDDLE UNKNOWN - ") and "none" in stderr


def page_of(tmp_path, *fabrics, status=FAULTS):
    page = tmp_path / "page.html"
    heddle("topo", "diff", *fabrics, "--html", page, status=status)
    return xml.etree.ElementTree.fromstring(page.read_text().removeprefix("<!DOCTYPE html>\n"))


def test_the_page_has_all_differences_and_escapes_names(tmp_path, tree):
    net = Net(tree)
    net.cut("S1_2", 6)
    root = page_of(tmp_path, tree, net.write(tmp_path / "live"))
    rows = root.findall(".//table[@id='differences']/tbody/tr")
    assert ["".join(row.itertext()) for row in rows] == ["cable missingthe cable S1_2[6] - S2_1[3] is missing"]
    assert "1 difference" in "".join(root.find(".//div[@id='verdict']").itertext())
    node = net.nodes[net.key("H_0_0")]
    node[1], node[2] = 0xdeadbe0, "<b>&"
    assert "<b>&" in "".join(page_of(tmp_path, tree, net.write(tmp_path / "live")).itertext())
    assert page_of(tmp_path, tree, tree, status=CLEAN).find(".//table") is None


def test_one_of_the_two_may_be_standard_input(tree):
    text = tree.read_text()
    assert diff("-", tree, status=CLEAN, input=text) == diff(tree, "-", status=CLEAN, input=text)
    assert "only one of EXPECTED and LIVE" in refused("topo", "diff", "-", "-")


def test_bad_usage_is_refused(tmp_path, tree):
    for arguments, message in (
            ((tree,), "expected EXPECTED and LIVE"),
            ((tree, tree, tree), "expected EXPECTED and LIVE"),
            (("--live=opensm", tree, tree), "expected EXPECTED alone"),
            (("--live=router", tree), "option '--live': 'router' is not one of opensm|ibnetdiscover"),
            (("--match=best", tree, tree), "'best' is not one of auto|guid|name|shape"),
            (("--rate=fast", tree, tree), "option '--rate': 'fast' is neither"),
            (("--rate=3xHDR", tree, tree), "option '--rate': '3xHDR' is neither"),
            (("--rate=4xQQR", tree, tree), "option '--rate': '4xQQR' is neither"),
            (("--json", "--nagios", tree, tree), "--nagios cannot be used with --json"),
            (("xgft:children=4,4", tree), "parents"),
            (("xgft:childrn=4,4,parents=1,4", tree), "children"),
            (("xgt:children=4,4,parents=1,4", tree), "xgft"),
            (("xgft:children=400,4,parents=1,4", tree), "400"),
            ((tree, tmp_path / "none"), "No such file"),
            (("--live=opensm", "-s", tmp_path / "none.sock", tree), "no answer"),
            (("--html", tree, tree, tree), "would replace")):
        status = 3 if "--nagios" in arguments else BAD
        stderr = heddle("topo", "diff", *arguments, status=status)[1]
        assert message in stderr


def test_ibnetdiscover_is_run(tmp_path, tree):
    """A program of that name in the path of programs; one that fails; none."""
    program = tmp_path / "ibnetdiscover"
    for body, status in ((f"cat {tree}", CLEAN), ("exit 1", BAD)):
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(stat.S_IRWXU)
        environment = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
        stderr = heddle("topo", "diff", "--live=ibnetdiscover", tree, status=status, env=environment)[1]
        assert ("ibnetdiscover failed" in stderr) == (status == BAD)
    stderr = heddle("topo", "diff", "--live=ibnetdiscover", tree, status=BAD, env={**os.environ, "PATH": "/none"})[1]
    assert "ibnetdiscover is not installed" in stderr


def test_each_kind_of_difference_is_as_the_schema_says(tmp_path, tree):
    live = generate(tmp_path / "live", "xgft", "--children=4,3", "--parents=1,3")
    for arguments in ((tree, live), (live, tree), ("--match=shape", tree, live), ("--rate=1xSDR", tree, tree)):
        found = schemas.validate("topo diff", diff(*arguments))
        assert sum(found["counts"].values()) == len(found["differences"])
        assert sum(one["steps"] for one in found["differences"]) == found["steps"]


@pytest.mark.parametrize("name", REAL)
def test_real_fabrics_are_as_they_are_and_lack_what_is_taken_away(tmp_path, name):
    if not FABRICS.exists():
        pytest.skip(f"{FABRICS} is not there")
    path = FABRICS / name
    for match in ("guid", "name", "shape"):
        assert diff("--match", match, path, path, status=CLEAN)["steps"] == 0
    plan = tmp_path / "plan"
    heddle("topo", "convert", path, "-o", plan)
    net = Net(plan)
    between = [cable for cable in net.cables if all(net.nodes[end[0]][0] == "Switch" for end in cable[:2])]
    cut = between[::7][:5]
    net.cables = [cable for cable in net.cables if cable not in cut]
    live = net.write(tmp_path / "live")
    found = diff(plan, live)
    assert {one["kind"] for one in found["differences"]} == {"cable missing"}
    assert sorted(tuple(sorted((int(end["guid"], 16), end["port"]) for end in one["expected"][0]["ends"]))
                  for one in found["differences"]) == sorted(cable[:2] for cable in cut)
    by_shape = diff("--match=shape", plan, live)
    assert by_shape["steps"] == by_shape["counts"]["cable missing"] == len(cut)


def test_aggregation_nodes_are_no_hosts_by_shape(tmp_path, tree):
    live = generate(tmp_path / "live", *TREE, "--aggregation-nodes")
    found = diff("--match=shape", SPEC, live, status=CLEAN)
    assert found["cables_in_place"] == found["planned_cables"] == 32
    assert diff("--match=shape", live, live, status=CLEAN)["planned_cables"] == 32
    assert diff(tree, live)["counts"]["node extra"] == 8


def test_two_adapters_of_a_host_are_one_node_by_shape(tmp_path, tree):
    """A host with two cables is found by both of its leaves."""
    net = Net(tree)
    key = net.key("H_0_0")
    net.nodes[key][3] = 2
    net.cut("S1_3", 4)
    net.cables.append(((net.key("S1_3"), 4), (key, 2), "4xEDR"))
    plan = net.write(tmp_path / "dual")
    assert diff("--match=shape", plan, plan, status=CLEAN)["steps"] == 0
    net.cut("S1_3", 4)
    live = net.write(tmp_path / "live")
    for match in ("guid", "name"):
        assert diff("--match", match, plan, live)["counts"]["cable missing"] == 1
    assert [one["kind"] for one in diff("--match=shape", plan, live)["differences"]] == ["cable missing"]
