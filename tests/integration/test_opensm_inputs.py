# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Topologies as the tools of infiniband-diags print them: all show the same fabric."""

import re

import pytest

import fabric_sim

MISSING = [*fabric_sim.missing_tools(),
           *(tool for tool in ["iblinkinfo"] if not fabric_sim.shutil.which(tool, path=fabric_sim.sbin_path()))]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


@pytest.fixture(scope="module", name="seen")
def fixture_seen(tmp_path_factory):
    """A tree with LMC 1 that has lost a link, as each tool sees it."""
    folder = tmp_path_factory.mktemp("inputs")
    netlist = fabric_sim.generate(folder, "xgft", "--children=3,4", "--parents=1,2", "--aggregation-nodes")
    guids = re.findall(r'(?m)^(?:Switch|Ca)\s.*?"[SH]-(\w+)"', netlist.read_text())
    (folder / "map").write_text("".join(f'0x{guid} "rack {i} (new)"\n' for i, guid in enumerate(guids)))
    with fabric_sim.Simulation(netlist) as fabric:
        fabric.opensm("dmodk", options={"lmc": "1"}).once()
        leaf = re.search(r'(?m)^Switch\s.*?"(S-\w+)"', netlist.read_text()).group(1)
        fabric.command(f'Unlink "{leaf}"[4]')
        for name, words in (("plain", ["ibnetdiscover"]), ("ports", ["ibnetdiscover", "-p"]),
                            ("linkinfo", ["iblinkinfo"]), ("line", ["iblinkinfo", "-l"]),
                            ("named", ["ibnetdiscover", "--node-name-map", folder / "map"])):
            (folder / name).write_text(fabric.run(*map(str, words)))
        fabric.run("ibnetdiscover", "--cache", str(folder / "cache"))
    return folder


def netlist(path, *options):
    return fabric_sim.heddle("topo", "convert", *options, path).stdout


def cables(text):
    """{the two ends of a cable by name and port}, and {name: LID of each line that has one}."""
    names = dict(re.findall(r'(?m)^(?:Switch|Ca)\s.*?"([SH]-\w+)"\s+# "([^"]*)"', text))
    found, lids, here = set(), set(), None
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Ca)\s.*?"([SH]-\w+)"', line):
            here = names[head.group(1)]
        elif port := re.match(r'\[(\d+)\].*?"([SH]-\w+)"\[(\d+)\].* lid (\d+) (\S+)$', line):
            found.add(frozenset([(here, port[1]), (names[port[2]], port[3])]))
            lids.add((names[port[2]], port[4], port[5]))
    return found, lids


def test_a_cache_is_the_same_fabric_as_the_text(seen):
    """All of it: nodes, GUIDs, LIDs, LMCs, cables, widths and speeds."""
    assert netlist(seen / "cache") == netlist(seen / "plain")


def test_iblinkinfo_is_the_same_fabric_as_the_ports(seen):
    """All that ibnetdiscover -p has, which has no node GUIDs of adapters and no LMCs either."""
    assert netlist(seen / "linkinfo") == netlist(seen / "ports")


def test_iblinkinfo_has_the_cables_lids_and_rates_of_the_text(seen):
    found, lids = cables(netlist(seen / "linkinfo"))
    assert (found, lids) == cables(netlist(seen / "plain"))
    assert len(found) == 4 * 3 + 2 * 4 + 6 - 1


def test_iblinkinfo_in_lines_is_refused(seen):
    done = fabric_sim.heddle("topo", "show", seen / "line", check=False)
    assert done.returncode == 2 and "run it without -l" in done.stderr


def test_names_of_a_map_are_those_that_the_tool_prints(seen):
    """On the lines of ports: it keeps the descriptions of adapters on their own lines."""
    def names(text):
        return set(re.findall(r'(?m)^\[\d+\].*?"([SH]-\w+)".*?# .*?"([^"]*)"', text))
    named = names((seen / "named").read_text())
    assert names(netlist(seen / "plain", "--node-name-map", seen / "map")) == named
    assert all(name.startswith("rack ") for _, name in named)
