# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM with adaptive routing in front of emulated switches, and what tests compare there."""

import json
import re
import time

from emulator import AR_INFO, AR_LFT, AR_LFT_OLD, GROUP_TABLE
from fabric_sim import heddle

LINE = re.compile(r"heddle: adaptive routing: (\w+), (\w+); (\d+) of (\d+) switches, (\d+) groups, "
                  r"(\d+) LIDs adaptive; SL mask (0x\w+), transports ([\w ]+); (\d+) MADs \((\d+) "
                  r"Gets, (\d+) Sets\)")
TABLES = (GROUP_TABLE, AR_LFT, AR_LFT_OLD)


def programmed(opensm, since=0, timeout=60):
    """Waits for the line of a programming in the log; its values."""
    deadline = time.monotonic() + timeout
    while True:
        found = LINE.search(opensm.log(), since)
        if found or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    assert found, opensm.log()[since:][-3000:]
    values = found.groups()
    return {"algorithm": values[0], "mode": values[1], "switches": int(values[2]),
            "of": int(values[3]), "groups": int(values[4]), "lids": int(values[5]),
            "mads": int(values[8]), "gets": int(values[9]), "sets": int(values[10])}


def sweep(opensm):
    """A heavy sweep, and the programming after it."""
    since = len(opensm.log())
    opensm.sweep()
    return programmed(opensm, since)


def plan_of(simulation, *options):
    """What `heddle ar plan` makes of the fabric and the tables as they are in the switches now."""
    fabric, tables = simulation.discover(), simulation.read_tables()
    done = heddle("ar", "plan", "--json", *options, fabric, tables)
    return {int(switch["guid"], 16): switch for switch in json.loads(done.stdout)["switches"]}


def entries_of(switch, numbers):
    """{LID: (state, static port, group)} of a switch of a plan; the group by its number or ports."""
    groups = {group["number"]: frozenset(group["ports"]) for group in switch["groups"]}
    return {lid["lid"]: (lid["state"], lid["port"], None if lid["group"] is None else
                         lid["group"] if numbers else groups[lid["group"]])
            for lid in switch["lids"]}


def held_entries(held, numbers):
    """The same of what a switch holds."""
    found = {}
    for (plft, lid), (state, port, table, group) in held["lft"].items():
        assert plft == table == 0
        if port == 0xFF and state == "static":
            continue
        ports = frozenset(held["groups"].get((0, 0, group, 0), ()))
        found[lid] = (state, port, None if state == "static" else group if numbers else ports)
    return found


def without_ports(entries):
    """In the old form, an entry that is adaptive has no static port."""
    return {lid: (state, port if state == "static" else None, group)
            for lid, (state, port, group) in entries.items()}


def differing(plan, tables, without=(), numbers=False, old=False):
    """The switches that do not hold the plan. Those `without` AR are to have it off."""
    wrong = []
    form = without_ports if old else dict
    for guid, switch in plan.items():
        held = tables.get(guid)
        wants = bool(switch["groups"]) and guid not in without
        if not wants:
            wrong += [guid] if held and held["enabled"] else []
        elif not held or not held["enabled"] or \
                form(held_entries(held, numbers)) != form(entries_of(switch, numbers)):
            wrong.append(guid)
    return wrong


def table_sets(emulated):
    """Sets of groups and entries that reached the switches, and those of their info."""
    totals = emulated.totals()
    return (sum(totals.get((attribute, "set"), 0) for attribute in TABLES),
            totals.get((AR_INFO, "set"), 0))


def missing_blocks(before, after):
    """Blocks of tables that differ between two states of the switches."""
    missing = 0
    for guid, held in after.items():
        was = before.get(guid, {"lft": {}, "groups": {}})
        blank = ("static", 0xFF, 0, 0)
        missing += len({lid // 16 for (_, lid), entry in held["lft"].items()
                        if was["lft"].get((0, lid), blank) != entry})
        missing += len({group // 2 for (_, _, group, _), ports in held["groups"].items()
                        if was["groups"].get((0, 0, group, 0), set()) != ports})
    return missing
