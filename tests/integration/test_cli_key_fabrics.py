# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle key make on real fabrics and on trees that are not regular, against walks in the tables of dmodk with the
entries of the keys, which heddle check proves free of deadlock."""

import collections
import json
import re

import pytest

from cli_testing import FABRICS, check, generate, heddle, refused, route

REAL = {"avakas": "ibnetdiscover-p.txt", "psmn-x5": "X5.topofile", "ib145": "topo.ibnet", "chic-like": "chic.net"}
PATTERNS = ["ring", "shift:7", "random:3", "halving-doubling"]
COUNTS = ("flows", "own", "base_own", "most", "base_most", "left_out")


def make(*arguments):
    return json.loads(heddle("key", "make", "--json", *arguments, status=None)[0])


def cables_of(fabric):
    """{(node, port): (node, port)}, {port GUID of an adapter: (node, port)}, the switches; nodes by their GUIDs."""
    cables, ports, switches = {}, {}, set()
    for line in fabric.read_text().splitlines():
        if node := re.match(r'(Switch|Ca|Rt)\s+\d+ "[SHR]-([0-9a-f]+)"', line):
            guid = int(node.group(2), 16)
            if node.group(1) == "Switch":
                switches.add(guid)
        elif cable := re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"[SHR]-([0-9a-f]+)"\[(\d+)\]', line):
            end = guid, int(cable.group(1))
            cables[end] = int(cable.group(3), 16), int(cable.group(4))
            if cable.group(2):
                ports[int(cable.group(2), 16)] = end
    return cables, ports, switches


def walk(cables, switches, entries, source, destination, lid):
    """The links between switches from one port of an adapter to another."""
    at, _ = cables[source]
    links = []
    for _ in range(20):
        end = at, entries[at, lid]
        if cables[end][0] not in switches:
            assert cables[end] == destination
            return links
        links.append(end)
        at = cables[end][0]
    raise AssertionError("a loop")


def entries_of(text):
    entries = {}
    for line in text.splitlines():
        if line.startswith("Unicast"):
            switch = int(re.search(r"guid (0x[0-9a-f]+)", line).group(1), 16)
        elif row := re.match(r"(0x[0-9a-f]{4}) (\d{3})", line):
            entries[switch, int(row.group(1), 16)] = int(row.group(2))
    return entries


def lay_over(text, phase):
    """The tables with the entries of a phase, as text."""
    laid = {(int(entry["switch"], 16), entry["lid"]): entry["port"] for entry in phase["entries"]}
    lines = []
    for line in text.splitlines():
        if line.startswith("Unicast"):
            switch = int(re.search(r"guid (0x[0-9a-f]+)", line).group(1), 16)
        elif row := re.match(r"(0x[0-9a-f]{4}) (\d{3})", line):
            port = laid.pop((switch, int(row.group(1), 16)), None)
            if port is not None:
                line = f"{row.group(1)} {port:03}{line[10:]}"
        lines.append(line)
    assert not laid
    return "\n".join(lines) + "\n"


def share(paths):
    """(most flows on a link, paths that have all their links for themselves)"""
    loads = collections.Counter(link for path in paths for link in path)
    return max(loads.values(), default=0), sum(all(loads[link] == 1 for link in path) for path in paths)


def compare_phase(fabric, tables, phase, folder):
    """Sums of a phase, when all that it says is what the walks find."""
    cables, ports, switches = cables_of(fabric)
    plain = tables.read_text()
    laid = folder / "laid"
    laid.write_text(lay_over(plain, phase))
    report = check(fabric, laid)
    assert not report["credit_loops"]
    flows = [(ports[int(flow["source"]["guid"], 16)], ports[int(flow["destination"]["guid"], 16)], flow)
             for flow in phase["flows"]]
    with_key, without = entries_of(laid.read_text()), entries_of(plain)
    keyed = [walk(cables, switches, with_key, source, destination, flow["lid"])
             for source, destination, flow in flows if "left_out" not in flow]
    most, own = share(keyed)
    assert (phase["contention"], phase["sharing"], phase["left_out"]) == (most, len(keyed) - own,
                                                                         len(flows) - len(keyed))
    for flow in phase["flows"]:
        assert "left_out" not in flow or "no path from" in flow["left_out"]
    base_most, base_own = share([walk(cables, switches, without, source, destination, flow["lid"] - flow["offset"])
                                 for source, destination, flow in flows])
    assert (phase["contention_without_keys"], phase["sharing_without_keys"]) == (base_most, len(flows) - base_own)
    return dict(zip(COUNTS, (len(flows), own, base_own, most, base_most, phase["left_out"])))


def compare(source, pattern, folder):
    fabric, tables = folder / "fabric", folder / "tables"
    heddle("topo", "convert", "--lmc", 1, source, "-o", fabric)
    route("dmodk", fabric, tables)
    shown = make("-p", pattern, "--best-effort", fabric, tables)
    sums = collections.Counter()
    for phase in shown["phases"][:4]:
        found = compare_phase(fabric, tables, phase, folder)
        most, base_most = max(sums["most"], found["most"]), max(sums["base_most"], found["base_most"])
        sums.update(found)
        sums["most"], sums["base_most"] = most, base_most
    return sums


def report_line(name, pattern, sums):
    percent = 100 / max(sums["flows"], 1)
    print(f"{name:14} {pattern:18} flows {sums['flows']:5} left out {sums['left_out']:3}  most on a link: {sums['most']} "
          f"with keys, {sums['base_most']} by dmodk  own links: "
          f"{sums['own'] * percent:5.1f}% with keys, {sums['base_own'] * percent:5.1f}% by dmodk")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", REAL)
def test_real_fabrics_have_keys(name, pattern, tmp_path):
    source = FABRICS / name / REAL[name]
    if not source.exists():
        pytest.skip(f"no {source}: set HEDDLE_FABRICS to its folder")
    sums = compare(source, pattern, tmp_path)
    report_line(name, pattern, sums)
    assert sums["left_out"] == 0
    # the least contention comes first: with it a few flows more can share links
    assert sums["own"] >= sums["base_own"] - sums["flows"] // 100


@pytest.mark.parametrize("missing", [0, 8, 15])
def test_trees_with_many_cables_missing_have_keys(missing, tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=4,4,4", "--parents=1,6,6", f"--remove-links={missing}")
    sums = compare(tmp_path / "tree", "random:5", tmp_path)
    report_line(f"{missing}% missing", "random:5", sums)
    assert sums["own"] >= sums["base_own"]


def node(kind, guid, ports):
    """A node of a topology file: ports[number] is what the cable leads to."""
    lines = [f'{kind} {max(ports)} "{kind[0].replace("C", "H")}-{guid:016x}" # "{guid:x}"']
    lines += [f'[{port}] "{far}"[{far_port}]' for port, (far, far_port) in ports.items()]
    return "\n".join(lines) + "\n\n"


def small_tree():
    """Leaf 0x21 has the spine 0x31, leaf 0x22 the spine 0x32, and leaf 0x23 both."""
    up = {0x21: [0x31], 0x22: [0x32], 0x23: [0x31, 0x32]}
    text = ""
    for leaf, spines in up.items():
        ports = {1: (f"H-{leaf - 0x10:016x}", 1)}
        ports.update({spine - 0x2F: (f"S-{spine:016x}", leaf - 0x20) for spine in spines})
        text += node("Switch", leaf, ports) + node("Ca", leaf - 0x10, {1: (f"S-{leaf:016x}", 1)})
    for spine in (0x31, 0x32):
        text += node("Switch", spine, {leaf - 0x20: (f"S-{leaf:016x}", spine - 0x2F)
                                       for leaf, spines in up.items() if spine in spines})
    return text


def test_a_host_without_a_path_is_named(tmp_path):
    """Without --best-effort the first flow without a path is an error. With it the others have keys."""
    tree = tmp_path / "tree"
    tree.write_text(small_tree())
    message = refused("key", "make", "-p", "ring", "--lmc", 1, tree)
    assert re.search(r"no path from '11' 0x0*11\[1\] climbs and then descends to '12'", message)
    (phase,) = make("-p", "ring", "--best-effort", "--lmc", 1, tree)["phases"]
    left_out = [flow for flow in phase["flows"] if "left_out" in flow]
    assert [(flow["source"]["name"], flow["destination"]["name"]) for flow in left_out] == [("11", "12")]
    assert phase["left_out"] == 1 and phase["contention"] == 1
    assert "no path from" in left_out[0]["left_out"]
    text = heddle("key", "make", "-p", "ring", "--best-effort", "--lmc", 1, tree, status=None)[0]
    assert "phase 0: 11 to 12 has no route in the key: no path from" in text
