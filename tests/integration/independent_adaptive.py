# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A checker of plans of adaptive routing that shares no code with Heddle: it follows packets from all
senders, by each port that an entry may use. Only the standard library and independent_check.py.

    plan = read_plan(heddle.far, fabric)
    loops = credit_loops(fabric, tables, plan)         # {lane: links, each waits for the next}

Senders are the switches to which an adapter is cabled: a host, an aggregation node, a management
adapter. A sender without a complete static path to a LID sends nothing there.

As a command: independent_adaptive.py FABRIC TABLES PLAN
"""

import argparse
import collections
import re
import sys

import independent_check as plain


def read_plan(text, fabric):
    """{switch: {LID: ports}} of the adaptive entries of a file heddle.far, without private tables."""
    by_guid = {int(node.split("-")[-1], 16): node for node in fabric.switches}
    plan = {}
    for section in re.split(r"(?m)^Switch ", text)[1:]:
        head, *lines = section.splitlines()
        guid, table = re.match(r"0x([0-9a-fA-F]+).* table (\d+)$", head).groups()
        if table != "0":
            raise ValueError("a plan with private tables")
        entries = plan.setdefault(by_guid[int(guid, 16)], {})
        groups = collections.defaultdict(set)
        for line in lines:
            group = re.match(r"\s*(\d+)\s+-\s+\d+\s+:(.*)$", line)
            entry = re.match(r"\s*0x([0-9a-fA-F]+)\s+:\s+\d+\s+:\s+\w+\s+:\s+(\d+)\s*$", line)
            if group:
                groups[group[1]].update(int(port) for port in re.findall(r"\d+", group[2]))
            elif entry:
                entries[int(entry[1], 16)] = frozenset(groups[entry[2]])
    return plan


def write_plan(text, fabric, changes):
    """The text of a plan, in which the entries {(switch, LID): ports} have groups of their own."""
    by_guid = {int(node.split("-")[-1], 16): node for node in fabric.switches}
    sections = re.split(r"(?m)^(?=Switch )", text)
    for index, section in enumerate(sections[1:], 1):
        node = by_guid[int(re.match(r"Switch 0x([0-9a-fA-F]+)", section)[1], 16)]
        wanted = {lid: ports for (switch, lid), ports in changes.items() if switch == node}
        used = [int(number) for number in re.findall(r"(?m)^\s*(\d+)\s+-\s+0\s+:", section)]
        rows = []
        for number, (lid, ports) in enumerate(sorted(wanted.items()), max(used, default=-1) + 1):
            rows.append(f"{number} - 0 : " + " ".join(f"{port}," for port in sorted(ports)) + "\n")
            section = re.sub(rf"(?m)^(\s*0x0*{lid:x}\s+:\s+\d+\s+:) .*$",
                             rf"\1 bounded : {number}", section)
        sections[index] = re.sub(r"(?m)^(?=LID : )", "".join(rows), section)
    return "".join(sections)


def ports_of(tables, plan, switch, lid):
    """The ports by which a switch may send packets to a LID."""
    port = tables.get(switch, {}).get(lid, plain.NO_ENTRY)
    group = plan.get(switch, {}).get(lid, frozenset())
    return group if port == plain.NO_ENTRY else group | {port}


def links_of(fabric, tables, plan, switch, lid):
    """The same, without those that lead to no switch: (port, switch at the far end)."""
    links = []
    for port in ports_of(tables, plan, switch, lid):
        far = fabric.cable.get((switch, port))
        if far is not None and far[0] in fabric.switches:
            links.append((port, far[0]))
    return links


def sources(fabric, hosts_only):
    """The switches to which adapters are cabled."""
    systems = {fabric.system.get(switch) for switch in fabric.switches} if hosts_only else ()
    return [switch for switch in fabric.switches
            if any(fabric.system.get(node) not in systems for node in fabric.hosts_of(switch))]


def senders(fabric, tables, lane_of, lid, switches):
    """{lane: switches whose adapters send to the LID}."""
    lanes = collections.defaultdict(set)
    for switch in switches:
        if plain.follow(fabric, tables, switch, lid)[1] == "arrives":
            for lane in lane_of(switch, lid):
                lanes[lane].add(switch)
    return lanes


def dependencies(fabric, tables, plan, lane_of=plain.one_lane, hosts_only=False):
    """{lane: {link: set of links}} of packets to all adapters, a link being (switch, port)."""
    graphs = collections.defaultdict(lambda: collections.defaultdict(set))
    switches = sources(fabric, hosts_only)
    for lid in fabric.place:
        for lane, first in senders(fabric, tables, lane_of, lid, switches).items():
            reached = set(first)
            queue = list(first)
            while queue:
                switch = queue.pop()
                for port, far in links_of(fabric, tables, plan, switch, lid):
                    following = graphs[lane][switch, port]
                    for after, _ in links_of(fabric, tables, plan, far, lid):
                        following.add((far, after))
                    if far not in reached:
                        reached.add(far)
                        queue.append(far)
    return graphs


def credit_loops(fabric, tables, plan, lane_of=plain.one_lane, hosts_only=False):
    """{lane: links on a loop, each of which waits for the next}."""
    loops = {}
    graphs = dependencies(fabric, tables, plan, lane_of, hosts_only)
    for lane, graph in sorted(graphs.items()):
        cycle = plain.find_cycle(graph)
        if cycle:
            loops[lane] = cycle
    return loops


def main(words=None):
    parser = argparse.ArgumentParser(description="Looks for credit loops in plans.")
    parser.add_argument("fabric", help="output of ibnetdiscover")
    parser.add_argument("tables", help="forwarding tables and service levels")
    parser.add_argument("plan", help="heddle.far")
    parser.add_argument("--hosts-only", action="store_true", help="aggregation nodes do not send")
    arguments = parser.parse_args(words)
    texts = []
    for name in (arguments.fabric, arguments.tables, arguments.plan):
        with open(name, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    fabric = plain.read_fabric(texts[0])
    tables = plain.read_tables(texts[1], fabric)
    loops = credit_loops(fabric, tables, read_plan(texts[2], fabric),
                         plain.read_lanes(texts[1], fabric), arguments.hosts_only)
    for lane, links in loops.items():
        print(f"credit loop on lane {lane}: " + " -> ".join(
            f"{fabric.name.get(switch, switch)}[{port}]" for switch, port in links))
    return 1 if loops else 0


if __name__ == "__main__":
    sys.exit(main())
