# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Path records while a loss is repaired, live: a client asks the real SA for all pairs of LIDs without a
pause, before a cable is lost, during the repair, while the sweep is held, and after it."""

import collections
import re
import subprocess
import threading

import fabric_sim
import independent_check
import pytest
import subnets_sim
from emulator import SWITCH_INFO, Emulator
from raw_smp import RawClient
from repair_sim import REPAIR, directed_routes
from fabric_sim import PATIENCE

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

LFT, SL2VL = 0x19, 0x17  # attributes
PREFIX = 0xFE80000000000000
RATES = {"4xEDR": 16, "4xQDR": 7}  # as path records give them
GBITS = {16: 100, 7: 40}
SLOW = "S_1_1"  # all cables of this switch are slow
LMC = 1
OPTIONS = {"qos": "TRUE", "lmc": LMC, "transaction_timeout": 1000, "transaction_retries": 120}


class Fabric:
    """The fabric as it was discovered, without the cables that are lost since."""

    def __init__(self, text, home):
        self.fabric = independent_check.read_fabric(text)
        self.home = home
        self.rate, self.guid = {}, {}  # of a cable's end; of a host's port
        node = None
        for line in text.splitlines():
            head = independent_check.NODE.match(line)
            port = independent_check.PORT.match(line)
            if head:
                node = head.group(3)
            elif port:
                self.rate[node, int(port.group(1))] = RATES[line.split()[-1]]
                if node not in self.fabric.switches:
                    self.guid[node] = int(port.group(2), 16)
        self.lids = collections.defaultdict(list)  # of a host
        for lid in sorted(self.fabric.place):
            self.lids[self.fabric.owner[lid]].append(lid)

    def lose(self, end):
        other = self.fabric.cable.pop(end)
        self.fabric.cable.pop(other)

    def requests(self):
        """(source LID, destination LID, line for sa_client) of all pairs of hosts, offset by offset."""
        def gid(host):
            return subnets_sim.gid(PREFIX, self.guid[host])

        return [(source, target, subnets_sim.path_request(gid(near), gid(far), slid=source, dlid=target))
                for near in self.lids for far in self.lids if near != far
                for source, target in zip(self.lids[near], self.lids[far])]


class Tables:
    """What the switches hold: forwarding tables, and lanes by (switch, port in, port out)."""

    def __init__(self, simulation, fabric):
        self.entries, self.lanes = {}, {}
        ports = collections.defaultdict(list)
        for node, port in fabric.rate:
            ports[node].append(port)
        blocks = max(fabric.fabric.owner) // 64 + 1
        with RawClient(simulation) as client:
            routes = directed_routes(fabric.fabric.cable, (fabric.home, 1), fabric.fabric.switches)
            for switch, path in routes.items():
                data = b"".join(client.get(LFT, block, path=path) for block in range(blocks))
                self.entries[switch] = {lid: port for lid, port in enumerate(data) if lid and port != 255}
                for into in ports[switch]:
                    for out in ports[switch]:
                        data = client.get(SL2VL, into << 8 | out, path=path)
                        self.lanes[switch, into, out] = [half for byte in data[:8] for half in (byte >> 4, byte & 15)]

    def follow(self, fabric, source, target):
        """[(switch, port in, port out)] from a LID to another."""
        switch, into = fabric.fabric.place[source]
        links, end = independent_check.follow(fabric.fabric, self.entries, switch, target)
        assert end == "arrives", f"LID {source} to {target}: {end}"
        hops = []
        for switch, out in links:
            hops.append((switch, into, out))
            into = fabric.fabric.cable[switch, out][1]
        return hops


class Asking(threading.Thread):
    """Asks for all pairs again and again until stop()."""

    def __init__(self, simulation, fabric):
        super().__init__()
        self.simulation, self.fabric = simulation, fabric
        self.requests = fabric.requests()
        lid = re.search(r"sm lid (\d+)", simulation.run("sminfo")).group(1)
        self.command = [str(subnets_sim.CLIENT), lid]
        self.stopping = False
        self.rounds = []  # {(source LID, destination LID): record}

    def ask(self):
        done = subprocess.run(self.command, text=True, timeout=PATIENCE, capture_output=True, cwd=self.simulation.folder,
                              input="".join(f"{line}\n" for _, _, line in self.requests),
                              env=dict(self.simulation.environment, LD_PRELOAD=self.simulation.preload()), check=True)
        answers = [subnets_sim._answer(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(self.requests)
        records = {}
        for (source, target, _), answer in zip(self.requests, answers):
            assert answer.status == 0, (source, target, hex(answer.status))
            record = answer.paths[0]
            assert (record.slid, record.dlid) == (source, target)
            records[source, target] = record
        return records

    def run(self):
        while not self.stopping:
            self.rounds.append(self.ask())

    def wait_for_round(self):
        """Returns a round that began after this call."""
        seen = len(self.rounds)
        fabric_sim.wait_until(lambda: len(self.rounds) > seen + 1 or not self.is_alive(), "answers of the SA")
        return self.rounds[-1]

    def stop(self):
        self.stopping = True
        self.join()


def levels(records):
    return {pair: record.qos_sl & 15 for pair, record in records.items()}


def check_rates(fabric, tables, records):
    """A record names the rate of the slowest cable of its path, and all have one MTU. Returns the slow paths."""
    slow = set()
    for (source, target), record in records.items():
        hops = tables.follow(fabric, source, target)
        rates = [fabric.rate[switch, port] for switch, into, out in hops for port in (into, out) if port]
        assert record.rate & 63 == min(rates, key=GBITS.get), (source, target)
        if record.rate & 63 == RATES["4xQDR"]:
            slow.add((source, target))
    assert len({record.mtu & 63 for record in records.values()}) == 1
    return slow


def check_lanes(fabric, tables, handed_out):
    """Packets with any service level that the SA has handed out for a pair close no credit loop. Returns the
    lanes in use."""
    graph, one_lane = collections.defaultdict(set), collections.defaultdict(set)
    for (source, target), sls in handed_out.items():
        hops = tables.follow(fabric, source, target)
        for level in sls:
            channels = [(switch, out, tables.lanes[switch, into, out][level]) for switch, into, out in hops]
            for before, after in zip(channels, channels[1:]):
                graph[before].add(after)
                one_lane[before[:2]].add(after[:2])
    assert independent_check.find_cycle(graph) == []
    assert independent_check.find_cycle(one_lane)  # so lanes matter here
    return {channel[2] for channel in graph}


def make_netlist(folder):
    """A torus. The cables of one switch are slow."""
    netlist = fabric_sim.generate(folder, "torus", "--dims", "5,5")
    lines, name = [], None
    for line in netlist.read_text().splitlines():
        head = independent_check.NODE.match(line)
        name = head.group(4) if head else name
        slow = "S-" in line and not head and (name == SLOW or f'"{SLOW}"' in line)
        lines.append(line.replace("4xEDR", "4xQDR") if slow else line)
    netlist.write_text("\n".join(lines) + "\n")
    return netlist


def test_path_records_stay_right(tmp_path):
    emulated = Emulator()
    with fabric_sim.Simulation(make_netlist(tmp_path), emulator=emulated) as simulation:
        with fabric_sim.OpenSM(simulation, "spf", heddle_conf=REPAIR, options=OPTIONS,
                               log_flags=0x03) as opensm:
            fabric = Fabric(simulation.discover().read_text(), simulation.host)
            before = Tables(simulation, fabric)
            asking = Asking(simulation, fabric)
            first = asking.ask()
            slow_before = check_rates(fabric, before, first)
            lost = find_busy_cable(fabric, before, first)
            other = fabric.fabric.cable[lost]
            held = next(switch for switch in sorted(fabric.fabric.switches) if switch not in (lost[0], other[0]))
            asking.start()
            since = len(opensm.log())
            emulated.fault(int(held.split("-")[1], 16), "silent", attribute=SWITCH_INFO, method="get")
            simulation.command(f'Unlink "{lost[0]}"[{lost[1]}]')
            opensm.wait_for("repaired lost", since)
            fabric.lose(lost)
            repaired = Tables(simulation, fabric)
            second = asking.wait_for_round()
            assert "entries changed" not in opensm.log()[since:]  # the sweep is held
            emulated.heal()
            opensm.wait_for("SUBNET UP", since)
            assert " 0 entries changed" in opensm.log()[since:]
            third = asking.wait_for_round()
            asking.stop()
            swept = Tables(simulation, fabric)
    assert swept.entries == repaired.entries != before.entries and swept.lanes == repaired.lanes == before.lanes
    slow = [slow_before] + [check_rates(fabric, repaired, records) for records in (second, third)]
    assert levels(first) == levels(second) == levels(third)
    handed_out = {pair: {levels(records)[pair] for records in [first, *asking.rounds]} for pair in first}
    lanes = check_lanes(fabric, repaired, handed_out)
    assert len(lanes) > 1
    assert slow[0] != slow[1] == slow[2]
    for records in asking.rounds:  # while tables change, a record is the one before or the one after
        assert all(record in (first[pair], second[pair]) for pair, record in records.items())
    print(f"{len(first)} pairs, {len(asking.rounds)} rounds, lanes {sorted(lanes)}, "
          f"{len(slow[0] ^ slow[1])} paths have another rate")


def find_busy_cable(fabric, tables, records):
    """Of the slow cables between switches the one that carries most paths."""
    loads = collections.Counter()
    for source, target in records:
        for switch, _, out in tables.follow(fabric, source, target)[:-1]:
            if fabric.rate[switch, out] == RATES["4xQDR"]:
                loads[switch, out] += 1
    return max(sorted(loads), key=loads.get)
