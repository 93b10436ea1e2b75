# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A checker of forwarding tables that shares no code with Heddle, nor with the other tests: its own
readers and its own algorithms. Only the standard library.

    fabric = read_fabric(ibnetdiscover output, or an ibsim netlist with LIDs)
    tables = read_tables(dump_lfts.sh output or opensm-lfts.dump)
    faults = check(fabric, tables)                     # every LID, from every switch
    needless = needless_changes(...)                   # between the tables of two sweeps

As a command: independent_check.py FABRIC TABLES [--levels heddle-sls.dump]
"""

import argparse
import collections
import re
import sys

NO_ENTRY = 255


# ---- reading ----

class Fabric:
    """Cables, LIDs and kinds of nodes. Nodes are their GUIDs."""

    def __init__(self):
        self.cable = {}  # (node, port) -> (node, port) at the other end
        self.switches = set()
        self.owner = {}  # LID -> node; a switch's own LIDs too
        self.place = {}  # host LID -> (switch, port) to which the host is cabled
        self.base_lids = set()
        self.name = {}
        self.system = {}  # node -> its system image GUID

    def add_lids(self, node, port, base, lmc):
        for lid in range(base, base + (1 << lmc)):
            self.owner[lid] = node
            if node not in self.switches and (node, port) in self.cable:
                far = self.cable[node, port]
                if far[0] in self.switches:
                    self.place[lid] = far
        self.base_lids.add(base)

    def hosts_of(self, switch):
        return self._hosts().get(switch, ())

    def _hosts(self):
        if not hasattr(self, "_host_cache"):
            cache = collections.defaultdict(set)
            for lid, (switch, port) in self.place.items():
                cache[switch].add(self.owner[lid])
            self._host_cache = dict(cache)
        return self._host_cache


NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]*)"(?:\s*#\s*"([^"]*)")?(.*)$')
PORT = re.compile(r'^\[(\d+)\](?:\(([0-9a-fA-F]+)\))?\s+"([^"]*)"\[(\d+)\](?:\([0-9a-fA-F]+\))?(.*)$')


def read_fabric(text):
    """The fabric of an ibnetdiscover file."""
    fabric = Fabric()
    pending = []  # LIDs are given to hosts once all cables are known
    node = None
    system = None
    for line in text.splitlines():
        if line.startswith("sysimgguid="):
            system = int(line.split("=")[1], 16)
        head = NODE.match(line)
        if head:
            node = head.group(3)
            fabric.system[node], system = system, None
            fabric.name[node] = head.group(4) or node
            if head.group(1) == "Switch":
                fabric.switches.add(node)
                lid = re.search(r"lid (\d+) lmc (\d+)", head.group(5))
                if lid:
                    pending.append((node, 0, int(lid.group(1)), int(lid.group(2))))
            continue
        port = PORT.match(line)
        if port and node:
            here = (node, int(port.group(1)))
            fabric.cable[here] = (port.group(3), int(port.group(4)))
            lid = re.search(r"# lid (\d+) lmc (\d+)", port.group(5))
            if lid and node not in fabric.switches:
                pending.append((*here, int(lid.group(1)), int(lid.group(2))))
    for (near, far) in list(fabric.cable.items()):
        fabric.cable.setdefault(far, near)
    for node, port, base, lmc in pending:
        if base:
            fabric.add_lids(node, port, base, lmc)
    return fabric


def read_tables(text, fabric):
    """{switch: {LID: port}}. Switches are found by the number in their names, their GUID."""
    by_guid = {int(node.split("-")[-1], 16): node for node in fabric.switches}
    tables = {}
    row = None
    for line in text.splitlines():
        if line.startswith("Unicast lids"):
            guid = int(re.search(r"guid 0x([0-9a-fA-F]+)", line).group(1), 16)
            row = tables.setdefault(by_guid.get(guid, f"unknown {guid:#x}"), {})
        elif line.startswith("0x") and row is not None:
            lid, port = int(line[2:6], 16), int(line[7:10])
            if port != NO_ENTRY:
                row[lid] = port
        elif line.startswith("Multicast"):
            row = None
    return tables


def read_lanes(text, fabric):
    """lane_of(switch, LID) of a dump of service levels (heddle-sls.dump): the lanes of the packets
    that the hosts of a switch send to a LID."""
    by_guid = {int(node.split("-")[-1], 16): node for node in fabric.switches}
    lane = list(range(16))
    levels = {}
    row = None
    for line in text.splitlines():
        run = re.match(r"0x([0-9a-f]+)(?:-0x([0-9a-f]+))? (\d+)$", line)
        if line.startswith("SL to VL:"):
            lane = [int(word) for word in line.split(":")[1].split()]
        elif line.startswith("Service levels at switch guid"):
            guid = int(re.search(r"guid 0x([0-9a-fA-F]+)", line).group(1), 16)
            row = levels.setdefault(by_guid.get(guid), {})
        elif run and row is not None:
            first = int(run.group(1), 16)
            for lid in range(first, int(run.group(2) or run.group(1), 16) + 1):
                row[lid] = int(run.group(3))
    return lambda switch, lid: (lane[levels.get(switch, {}).get(lid, 0)],)


# ---- faults ----

def follow(fabric, tables, switch, lid):
    """(links, end): the (switch, port) of each hop, and "arrives" or what is wrong."""
    links = []
    seen = set()
    while True:
        if switch in seen:
            return links, "loop"
        seen.add(switch)
        port = tables.get(switch, {}).get(lid, NO_ENTRY)
        if port == NO_ENTRY:
            return links, "no entry"
        links.append((switch, port))
        if port == 0:
            return links, "arrives" if fabric.owner.get(lid) == switch else "wrong port 0"
        far = fabric.cable.get((switch, port))
        if far is None:
            return links, "dead port"
        if far[0] not in fabric.switches:
            return links, "arrives" if fabric.place.get(lid) == (switch, port) else "wrong host"
        switch = far[0]


def unreachable(fabric, tables):
    """[(switch, LID, why)] for each switch from which a LID is not reached. Every LID is looked at
    from every switch, in trees: what is known of the next switch is not followed again."""
    faults = []
    switches = [switch for switch in fabric.switches if reached(fabric, switch)]
    for lid in fabric.owner:
        ends = {}
        for start in switches:
            path = []
            switch = start
            while switch not in ends:
                path.append(switch)
                ends[switch] = "loop"  # if it is met again before its end is known
                port = tables.get(switch, {}).get(lid, NO_ENTRY)
                far = fabric.cable.get((switch, port))
                if port == NO_ENTRY:
                    ends[switch] = "no entry"
                elif port == 0:
                    ends[switch] = "arrives" if fabric.owner[lid] == switch else "wrong port 0"
                elif far is None:
                    ends[switch] = "dead port"
                elif far[0] not in fabric.switches:
                    right = fabric.place.get(lid) == (switch, port)
                    ends[switch] = "arrives" if right else "wrong host"
                else:
                    switch = far[0]
                    continue
                break
            end = ends[switch]
            for passed in path:
                ends[passed] = end
        faults += [(switch, lid, end) for switch, end in ends.items()
                   if end != "arrives" and wanted(fabric, switch, lid)]
    return faults


def components(fabric):
    """{node: number of its component}."""
    if not hasattr(fabric, "_components"):
        neighbours = collections.defaultdict(set)
        for (near, _), (far, _) in fabric.cable.items():
            neighbours[near].add(far)
        number = {}
        for start in sorted(fabric.switches):
            if start in number:
                continue
            queue = [start]
            number[start] = start
            while queue:
                for far in neighbours[queue.pop()]:
                    if far not in number:
                        number[far] = start
                        queue.append(far)
        fabric._components = number
    return fabric._components


def reached(fabric, switch):
    return switch in components(fabric)


def wanted(fabric, switch, lid):
    """Whether any path leads from the switch to the LID's owner."""
    number = components(fabric)
    return number.get(switch) == number.get(fabric.owner[lid], None)


def dependencies(fabric, tables, lane_of, broken=()):
    """{lane: {link: set of links}} of the paths from switches with hosts to hosts' LIDs; `broken`
    has the (switch, LID) from which no path arrives."""
    graphs = collections.defaultdict(lambda: collections.defaultdict(set))
    sources = [switch for switch in fabric.switches if fabric.hosts_of(switch)]
    for lid in fabric.place:
        passed = collections.defaultdict(set)  # lane -> switches whose onward path is in the graph
        for source in sources:
            if (source, lid) in broken:
                continue
            for lane in lane_of(source, lid):
                switch, before = source, None
                while True:
                    port = tables.get(switch, {}).get(lid, NO_ENTRY)
                    far = fabric.cable.get((switch, port))
                    if far is None or far[0] not in fabric.switches:
                        break
                    link = (switch, port)
                    if before is not None:
                        graphs[lane][before].add(link)
                    if switch in passed[lane]:
                        break
                    passed[lane].add(switch)
                    before = link
                    switch = far[0]
    return graphs


def find_cycle(graph):
    """A list of links, each of which waits for the next; [] if there is no cycle."""
    state = {}
    for start in graph:
        if start in state:
            continue
        stack = [(start, iter(graph[start]))]
        state[start] = "open"
        while stack:
            link, following = stack[-1]
            for after in following:
                if state.get(after) == "open":
                    links = [entry[0] for entry in stack]
                    return links[links.index(after):]
                if after not in state:
                    state[after] = "open"
                    stack.append((after, iter(graph.get(after, ()))))
                    break
            else:
                state[link] = "done"
                stack.pop()
    return []


def one_lane(_source, _lid):
    return (0,)


def check(fabric, tables, lane_of=one_lane):
    """All that is wrong, a line each."""
    ends = unreachable(fabric, tables)
    broken = {(switch, lid) for switch, lid, _ in ends}
    faults = [f"{fabric.name.get(switch, switch)} to LID {lid}: {why}"
              for switch, lid, why in ends]
    for lane, graph in sorted(dependencies(fabric, tables, lane_of, broken).items()):
        cycle = find_cycle(graph)
        if cycle:
            faults.append(f"credit loop on lane {lane}: " + " -> ".join(
                f"{fabric.name.get(switch, switch)}[{port}]" for switch, port in cycle))
    return faults


# ---- changes ----

def changes(before, after):
    """[(switch, LID, old port, new port)] for switches that both have."""
    found = []
    for switch in before.keys() & after.keys():
        old, new = before[switch], after[switch]
        if old == new:
            continue
        for lid in old.keys() | new.keys():
            if old.get(lid, NO_ENTRY) != new.get(lid, NO_ENTRY):
                found.append((switch, lid, old.get(lid, NO_ENTRY), new.get(lid, NO_ENTRY)))
    return found


def dead_links(before, after):
    """(switch, port) ends of cables that were there and are gone."""
    return {near for near, far in before.cable.items() if after.cable.get(near) != far}


class History:
    """The ports that each entry has had so far."""

    def __init__(self):
        self.ports = collections.defaultdict(set)  # (switch, LID) -> ports

    def note(self, before, after):
        """Takes the tables of a sweep; `before` are those of the sweep before, {} at first."""
        for switch, row in after.items():
            old = before.get(switch, {})
            if row is not old:
                for lid, port in row.items():
                    if old.get(lid) != port:
                        self.ports[switch, lid].add(port)

    def has(self, switch, lid, port):
        return port in self.ports.get((switch, lid), ())


def needless_changes(fabric_before, before, fabric_after, after, history):
    """
    Changes without a reason: [(switch, LID, old port, new port)]. An entry may change if its old
    path, from that switch to the destination, used a link or switch that has failed. If something
    returned, it may go back to a port that it has had before, or move to a shorter path. Entries
    for LIDs that are new, gone or at another place do not count.
    """
    dead = dead_links(fabric_before, fabric_after)
    returned = dead_links(fabric_after, fabric_before)
    needless = []
    for switch, lid, old, new in changes(before, after):
        if fabric_before.owner.get(lid) != fabric_after.owner.get(lid):
            continue
        if fabric_before.place.get(lid) != fabric_after.place.get(lid):
            continue
        if returned and history.has(switch, lid, new):
            continue
        path, end = follow(fabric_before, before, switch, lid)
        new_path, new_end = follow(fabric_after, after, switch, lid)
        if returned and new_end == "arrives" and len(new_path) < len(path):
            continue
        if end == "arrives" and not dead.intersection(path):
            needless.append((switch, lid, old, new))
    return needless


def main():
    parser = argparse.ArgumentParser(description="Checks forwarding tables.")
    parser.add_argument("fabric", help="output of ibnetdiscover")
    parser.add_argument("tables", help="output of dump_lfts.sh, or opensm-lfts.dump")
    parser.add_argument("--levels", help="heddle-sls.dump; without it all packets share a lane")
    arguments = parser.parse_args()
    with open(arguments.fabric, encoding="utf-8", errors="replace") as file:
        fabric = read_fabric(file.read())
    with open(arguments.tables, encoding="utf-8", errors="replace") as file:
        tables = read_tables(file.read(), fabric)
    lane_of = one_lane
    if arguments.levels:
        with open(arguments.levels, encoding="utf-8", errors="replace") as file:
            lane_of = read_lanes(file.read(), fabric)
    faults = check(fabric, tables, lane_of)
    for fault in faults[:50]:
        print(fault)
    print(f"{len(fabric.switches)} switches, {len(fabric.owner)} LIDs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
