# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM with adaptive routing in front of emulated switches, and what tests compare there."""

import json

from emulator import AR_INFO, AR_LFT, AR_LFT_OLD, GROUP_TABLE
from fabric_sim import Topology, heddle, tables

LINE = (r"heddle: adaptive routing: (\w+), (\w+); (\d+) of (\d+) switches, (\d+) groups, "
        r"(\d+) LIDs adaptive; SL mask (0x\w+), transports ([\w ]+); (\d+) MADs \((\d+) "
        r"Gets, (\d+) Sets\)")
TABLES = (GROUP_TABLE, AR_LFT, AR_LFT_OLD)


def programmed(opensm, since=0):
    """Waits for the line of a programming in the log; its values."""
    found = opensm.wait_for_match(LINE, since)
    values = found.groups()
    return {"algorithm": values[0], "mode": values[1], "switches": int(values[2]),
            "of": int(values[3]), "groups": int(values[4]), "lids": int(values[5]),
            "mads": int(values[8]), "gets": int(values[9]), "sets": int(values[10])}


def sweep(opensm):
    """A heavy sweep, and the programming after it. The line of an earlier sweep may come late, but not after the
    tables of this one."""
    since = len(opensm.log())
    opensm.sweep()
    return programmed(opensm, max(since, opensm.log().rfind("entries changed")))


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


# ---- private forwarding tables ----

CAN_PRIVATE = "set all mask=00001005" + "0" * 24  # private LFTs, AR Rev1, PortSLToPrivateLFTMap


def private_table_of(above, port, lane):
    """Which table a packet uses that comes by a port on a lane."""
    return 0 if port in above else 2 if lane == 1 else 1


def mode_of(held):
    """The mode of private tables that is in use; 0: none."""
    return bytes.fromhex(held["plft_info"])[3]


def sub_groups_of(groups, group):
    """The ports of each sub-group, whatever the number of the group is."""
    return None if group is None else tuple(tuple(ports) for ports in groups[group])


def private_faults(fabric, plan, tables):
    """What switches hold otherwise than the plan says, with private tables: (GUID, what). Numbers of
    groups may differ."""
    topology, wrong = Topology(fabric), []
    spines = {guid for guid in topology.switches
              if not any(topology.peer[end][0] not in topology.switches
                         for end in topology.peer if end[0] == guid)}
    for guid, switch in plan.items():
        held = tables[guid]
        above = {port for (node, port), (peer, _) in topology.peer.items()
                 if node == guid and peer in spines}
        planned = {group["number"]: group["subgroups"] for group in switch["groups"]}
        wrong += [(guid, "off")] if not held["enabled"] or held["subgroups"] != 2 else []
        wrong += [(guid, "mode")] if mode_of(held) != 1 else []
        for table, lids in enumerate(switch["tables"]):
            groups = {group: [sorted(held["groups"].get((table, 0, group, sub), ())) for sub in (0, 1)]
                      for group in range(held["group_top"] + 1)}
            wanted = {lid["lid"]: (lid["state"], lid["port"], sub_groups_of(planned, lid["group"]))
                      for lid in lids}
            found = {lid: (state, port, None if state == "static" else sub_groups_of(groups, group))
                     for (plft, lid), (state, port, _, group) in held["lft"].items()
                     if plft == table and not (state == "static" and port == 0xFF)}
            wrong += [(guid, "entries", table)] if found != wanted else []
            definition = bytes.fromhex(held["plft_definition"])
            bank, space, offset = (definition[4 * table + i] for i in (0, 1, 3))
            if (bank, offset) != (table, 0) or 512 * space <= max(wanted):
                wrong.append((guid, "bank", table))
        wrong += [(guid, "port map", port, lane) for port in range(1, len(held["sl_to_plft"]))
                  for lane in (0, 1) if held["sl_to_plft"][port][lane]
                  != private_table_of(above, port, lane)]
    return wrong


class Walker:
    """Follows packets through what the switches hold, by every port that they may choose."""

    def __init__(self, simulation, emulated):
        self.topology = Topology(simulation.discover())
        self.plain = tables(simulation.read_tables())
        self.adaptive = emulated.tables()

    def ports(self, switch, lid):
        """A switch with AR has the entries of its AR table; packets without AR take its static port."""
        held = self.adaptive.get(switch)
        if not held or not held["enabled"]:
            return {self.plain[switch][lid]}
        state, port, _, group = held["lft"][0, lid]
        return {port} | (set() if state == "static" else held["groups"][0, 0, group, 0])

    def arrives(self, switch, lid, host, known):
        if switch == host:
            return True
        if switch not in self.topology.switches:
            return False
        if switch not in known:
            known[switch] = False  # for those that come here again: a circle
            ends = [self.topology.peer.get((switch, port)) for port in self.ports(switch, lid)]
            known[switch] = bool(ends) and all(end and self.arrives(end[0], lid, host, known) for end in ends)
        return known[switch]

    def lost(self):
        """[(leaf, host)]: packets may be lost between them."""
        leaves = {self.topology.leaf(host) for host in self.topology.hosts}
        found = []
        for host in self.topology.hosts:
            known = {}
            found += [(leaf, host) for leaf in leaves
                      if not self.arrives(leaf, self.topology.lids[host][0], host, known)]
        return found


# ---- routing keys beside groups ----

NO_PATH = 0xFE  # a port that no switch has: the switch chooses


def sending(held, plain):
    """{switch: ports by LID} of what packets with adaptive routing follow: the AR table of a switch that has it on, else
    its forwarding table. NO_PATH where the switch chooses among several ports."""
    rows = {switch: bytearray(row) for switch, row in plain.items()}
    for switch, found in held.items():
        for (_, lid), (state, port, _, _) in found["lft"].items() if found["enabled"] else ():
            rows[switch][lid] = port if state == "static" else NO_PATH
    return rows


def adaptive_entries(held):
    """{(switch, LID): ports among which the switch chooses}"""
    return {(switch, lid): frozenset(found["groups"][0, 0, group, 0])
            for switch, found in held.items() if found["enabled"]
            for (_, lid), (state, _, _, group) in found["lft"].items() if state != "static"}
