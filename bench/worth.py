# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tables of a benchmark's engines are worth, and how many virtual lanes they take."""

import json
import re
import subprocess

# What engines log after each routing, and what they log where the fabric has too few lanes: they
# do not go on to find out how many they need.
NEEDED = {"dfsssp": re.compile(r"Virtual Lanes needed: (\d+)"),
          "lash": re.compile(r"Lanes needed: (\d+), Balancing")}
TOO_FEW = {"dfsssp": re.compile(r"Not enough VLs available \(avail=(\d+), needed=\d+\)"),
           "lash": re.compile(r"Lane requirements \(\d+\) exceed available lanes \((\d+)\)")}
OURS_NEEDS = re.compile(r"(\w+): no tables: its paths need ((?:more than )?\d+) virtual lanes")
# OpenSM's other engines either take one lane or choose them otherwise.
ONE_LANE = {"minhop", "updn", "dnup", "ftree", "sssp", "dor"}


def lanes_needed(engine, log):
    """Virtual lanes that the engine's last routing took, as text: "3", ">8"; None: nobody says."""
    if engine in ONE_LANE:
        return "1"
    ours = [lanes for name, lanes in OURS_NEEDS.findall(log) if name == engine]
    if ours:
        return ours[-1].replace("more than ", ">")
    for pattern, sign in ((TOO_FEW, ">"), (NEEDED, "")):
        found = pattern[engine].findall(log) if engine in pattern else []
        if found:
            return sign + found[-1]
    return None


class Remarks:
    """What Heddle's engines log on lanes, line by line, before the line that ends a routing."""

    ON_LANES = re.compile(r"free of credit loops on (\d+) virtual lane")
    NOT_ON_LANES = re.compile(r"credit loops are left to|NOTHING IS DONE AGAINST DEADLOCK")

    def __init__(self):
        self.lanes = "1"

    def read(self, line):
        found = self.ON_LANES.search(line)
        if found:
            self.lanes = found.group(1)
        elif self.NOT_ON_LANES.search(line):
            self.lanes = None

    def take(self):
        """The lanes of the routing that ends here; one is not worth a remark."""
        lanes, self.lanes = self.lanes, "1"
        return lanes


def bisect(heddle, fabric, tables, patterns):
    """(mean, half width of its 99% confidence interval) of the tables' effective bisection
    bandwidth, or None where they do not carry all flows."""
    done = subprocess.run([heddle, "ebb", "--json", "-n", str(patterns), fabric, tables],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None
    report = json.loads(done.stdout)
    return report["mean"], report["half_width_99"]
