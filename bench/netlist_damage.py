# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Netlists of ibnetdiscover without some cables, or without a switch and its hosts."""

import collections
import random
import re

HEADER = re.compile(r'^(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"', re.MULTILINE)
CABLE = re.compile(r'^\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')
SEED = 28


class Netlist:
    """The blocks of a netlist, one for each node."""

    def __init__(self, text):
        self.head, *blocks = text.split("\n\n")
        self.blocks = {}
        self.switches = []
        for block in blocks:
            kind, name = HEADER.search(block).groups()
            self.blocks[name] = block.splitlines()
            if kind == "Switch":
                self.switches.append(name)

    def cables(self, name):
        """(port, name of the other node, its port) of each cable of a node."""
        found = (CABLE.match(line) for line in self.blocks[name])
        return [(int(cable[1]), cable[2], int(cable[3])) for cable in found if cable]

    def switch_cables(self):
        """Each cable between switches once: (switch, port, switch, port)."""
        known = set(self.switches)
        return [(name, port, far, far_port) for name in self.switches
                for port, far, far_port in self.cables(name)
                if far in known and (name, port) < (far, far_port)]

    def hops(self, start):
        """{switch: hops} of all that can be reached from a switch."""
        known, hops, waiting = set(self.switches), {start: 0}, collections.deque([start])
        while waiting:
            near = waiting.popleft()
            for _, far, _ in self.cables(near):
                if far in known and far not in hops:
                    hops[far] = hops[near] + 1
                    waiting.append(far)
        return hops

    def connected(self):
        return len(self.hops(self.switches[0])) == len(self.switches)

    def without_cables(self, cables):
        """A copy that lacks them."""
        gone = {(name, port) for near, near_port, far, far_port in cables
                for name, port in ((near, near_port), (far, far_port))}
        blocks = []
        for name, lines in self.blocks.items():
            kept = [line for line in lines
                    if not (CABLE.match(line) and (name, int(CABLE.match(line)[1])) in gone)]
            blocks.append("\n".join(kept))
        return Netlist("\n\n".join([self.head, *blocks]) + "\n")

    def without_switch(self, name):
        """A copy that lacks it and its hosts."""
        gone = {name} | {far for _, far, _ in self.cables(name) if far not in self.switches}
        blocks = ["\n".join(line for line in lines
                            if not (CABLE.match(line) and CABLE.match(line)[2] in gone))
                  for node, lines in self.blocks.items() if node not in gone]
        return Netlist("\n\n".join([self.head, *blocks]) + "\n")

    def text(self):
        return "\n\n".join([self.head, *("\n".join(lines) for lines in self.blocks.values())]) + "\n"


def middle(text):
    """GUID of the switch that has the fewest hops to all others."""
    netlist = Netlist(text)
    name = min(netlist.switches, key=lambda switch: (sum(netlist.hops(switch).values()), switch))
    return "0x" + name.rpartition("-")[2]


def damaged(text, cables=0, switches=0):
    """The text without that many cables between switches, and switches with their hosts, which a
    seed chooses. What is left is connected."""
    whole = Netlist(text)
    choice = random.Random(SEED)
    for _ in range(1000):
        left = whole.without_cables(choice.sample(whole.switch_cables(), cables))
        for name in choice.sample(left.switches, switches):
            left = left.without_switch(name)
        if left.connected():
            return left.text()
    raise ValueError(f"no {cables} cables and {switches} switches were found whose loss leaves all connected")
