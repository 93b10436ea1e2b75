# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random fabrics, some of them damaged, with known flows that are simulated. Which link holds them up most is said here
without the code of `heddle why`: by the paths of the flows, which that does not know, and by how long each port had to
wait."""

import collections
import csv
import random

from cli_testing import generate, heddle
from fabric_sim import Topology, tables

KINDS = [
    ("dmodk", "xgft", lambda draw: [f"--children={draw(4, 8)},{draw(4, 8)}", f"--parents=1,{draw(2, 4)}"]),
    ("updown", "xgft", lambda draw: [f"--children={draw(3, 6)},{draw(3, 6)}", f"--parents=1,{draw(2, 3)}"]),
    ("dmodk", "xgft", lambda draw: [f"--children={draw(2, 4)},{draw(2, 4)},{draw(2, 4)}",
                                    f"--parents=1,{draw(2, 3)},{draw(2, 3)}"]),
    ("spf", "torus", lambda draw: [f"--dims={draw(3, 5)},{draw(3, 4)}", f"--hosts={draw(1, 3)}"]),
    ("spf", "hypercube", lambda draw: ["--dim=4", f"--hosts={draw(1, 3)}"]),
]
RATE = 12.121e9  # bytes/s of 4xEDR
FULL = 0.97  # of the time: a link that holds others up
LEAST = 0.4  # hosts that wait all the time for the bottleneck
CLEARLY = 1.5  # times as long as for any other link
TIME = ("duration = 400 us", "warm_up = 100 us")


class Case:
    """A fabric, its tables, and flows of hosts that send all they can."""

    def __init__(self, folder, seed):
        self.random, self.folder = random.Random(seed), folder
        self.fabric, self.tables = folder / "fabric", folder / "tables"
        while not self.tables.exists():  # dmodk refuses trees that have lost too much
            self.make(seed)
        self.topology, self.entries = Topology(self.fabric), tables(self.tables)
        self.name = {node: name for name, node in self.topology.names.items()}
        self.leaf = {node: peer for (node, _), (peer, _) in self.topology.peer.items() if node in self.topology.hosts}
        self.draw_until_one()

    def make(self, seed):
        engine, kind, options = self.random.choice(KINDS)
        words = options(self.random.randint)
        if kind == "xgft" and self.random.random() < 0.6:
            words += [f"--remove-links={self.random.randint(3, 12)}%", f"--seed={seed}"]
        self.description = f"seed {seed}: {kind} {' '.join(words)}, {engine}"
        generate(self.fabric, kind, *words)
        heddle("route", "-e", engine, self.fabric, "-o", self.tables, status=None)

    def draw_until_one(self):
        """Flows that are simulated, and of which one link holds up clearly more than any other."""
        while True:
            self.pattern, self.flows = self.random.choice(PATTERNS)(self)
            if not self.flows:
                continue
            self.counters = self.simulate()
            lost = sorted(self.lost_time().items(), key=lambda item: -item[1])
            if lost and lost[0][1] > LEAST and (len(lost) == 1 or lost[0][1] > CLEARLY * lost[1][1]):
                self.truth = lost[0][0]
                return

    def path(self, source, destination):
        return self.topology.path(self.entries, self.leaf[source], self.topology.lids[destination][0])

    def lost_time(self):
        """{link: hosts that wait for it all the time}. A flow is held up by the first link of its path that sends
        nearly all the time; the host's own port says how long it has waited."""
        rows, lost = self.rows(), collections.Counter()
        for source, destination in self.flows if rows else []:
            full = [link for link in self.path(source, destination) if rows[link][0] > FULL]
            if full:
                lost[full[0]] += rows[source, 1][1]
        return lost

    def rows(self):
        """{port: (share of the time in which it sent, share in which it waited)}, from the simulator's table."""
        if not self.counters.exists():  # hosts are cut off
            return None
        lines = self.counters.read_text().splitlines()
        if not lines[0].startswith("# seconds"):  # a deadlock before anything counted
            return None
        seconds, tick = (float(line.split()[2]) for line in lines[:2])
        found = {}
        for row in csv.DictReader(lines[2:]):
            found[int(row["guid"], 16), int(row["port"])] = (
                4 * int(row["PortXmitData"]) / RATE / seconds, int(row["PortXmitWait"]) * tick / seconds)
        return found

    def simulate(self):
        """The counters of all ports, in a file."""
        text = ", ".join(f"{self.name[source]}>{self.name[destination]}" for source, destination in self.flows)
        scenario = self.folder / "flows.ini"
        scenario.write_text("\n".join(["[fabric]", "file = fabric", "[routing]", "tables = tables", "[traffic a]",
                                       "kind = flows", f"flows = {text}", "[run]", *TIME]) + "\n")
        (self.folder / "counters").unlink(missing_ok=True)
        heddle("sim", scenario, "--counters", self.folder / "counters", "--csv", status=None)
        return self.folder / "counters"


def incast(case):
    """Some hosts send to one, and others to one another."""
    hosts = case.random.sample(case.topology.hosts, len(case.topology.hosts))
    senders = case.random.randint(3, max(3, len(hosts) // 2))
    rest = hosts[senders + 1:]
    half = len(rest) // 2
    return "incast", [(one, hosts[0]) for one in hosts[1:senders + 1]] + list(zip(rest[:half], rest[half:2 * half]))


def shift(case):
    """Each host sends to the one so many places on."""
    hosts = case.topology.hosts
    by = case.random.randrange(1, len(hosts))
    return f"shift {by}", list(zip(hosts, hosts[by:] + hosts[:by]))


def permutation(case):
    hosts = case.topology.hosts
    others = case.random.sample(hosts, len(hosts))
    return "permutation", [(one, other) for one, other in zip(hosts, others) if one != other]


def hot_link(case):
    """Pairs of hosts, each in one pair, whose paths cross one link; and a few others."""
    hosts = case.random.sample(case.topology.hosts, len(case.topology.hosts))
    link, used, flows = None, set(), []
    for source in hosts:
        for destination in hosts:
            if destination in used or source in used or source == destination:
                continue
            path = case.path(source, destination)
            if link is None and len(path) > 1:
                link = case.random.choice(path[:-1])
            if link in path or (not flows and link is None):
                flows.append((source, destination))
                used |= {source, destination}
    rest = [host for host in hosts if host not in used]
    half = min(len(rest) // 2, 4)
    return "hot link", flows + list(zip(rest[:half], rest[half:2 * half]))


PATTERNS = [incast, shift, hot_link]
