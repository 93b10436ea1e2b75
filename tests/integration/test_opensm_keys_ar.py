# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Routing keys and adaptive routing at once, on emulated switches: the entries of a key are static in both tables of a
switch, and all else stays adaptive, also while sweeps and losses come."""

import collections
import json
import re
import threading

import emulator
import fabric_sim
import independent_check
import pytest
import repair_adaptive
import schemas
from ar_sim import Walker, adaptive_entries, programmed, sending, sweep, table_sets
from emulator import AR_LFT, Emulator
from fabric_sim import SURE, Simulation, check, generate, heddle, wait_until
from keys_live import Live, by_valley, holds, loop_through
from keys_sim import (BROKEN, DONE, FAILED, REFUSED, Client, contention, free_key, key_of, random_flows, settings,
                      socket_of)
from repair_sim import REPAIR, cable, restore, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")
SMALL = ("xgft", "--children=3,3,3", "--parents=1,3,3")


class Both(Live):
    """A subnet with keys and adaptive routing, and what its switches held before there were keys."""

    def __init__(self, simulation, opensm):
        self.opensm = opensm
        programmed(opensm)
        super().__init__(simulation)
        self.groups = adaptive_entries(self.held())

    def held(self):
        return self.simulation.emulator.tables()

    def sending(self):
        return sending(self.held(), self.tables())

    def check_entries(self, entries):
        """Entries of keys are static in both tables of each switch, and all else has the groups of before."""
        held, plain = self.held(), self.tables()
        assert holds(plain, entries) and holds(sending(held, plain), entries)
        mine = {(switch, lid) for switch, lid, _ in entries}
        found = adaptive_entries(held)
        assert found == {place: ports for place, ports in self.groups.items() if place not in mine}
        for switch, tables in held.items():  # the static port is that of the forwarding table, everywhere
            for (_, lid), (_, port, _, _) in tables["lft"].items() if tables["enabled"] else ():
                assert port == plain[switch][lid], (hex(switch), lid)

    def lost(self):
        """[(leaf, LID)]: packets may be lost or go in a circle between them, by all ports that switches may choose."""
        walker = Walker(self.simulation, self.simulation.emulator)
        leaves = {self.topology.leaf(host) for host in self.topology.hosts}
        found = []
        for host in self.topology.hosts:
            base, lmc = self.topology.lids[host]
            for lid in range(base, base + (1 << lmc)):
                known = {}
                found += [(leaf, lid) for leaf in leaves if not walker.arrives(leaf, lid, host, known)]
        return found


def start(simulation, conf="", lmc=2, **options):
    return simulation.opensm("ar_nrk", options={"lmc": lmc, **SURE, **options},
                             heddle_conf=settings(simulation.folder) + "[ar]\nalgorithm = tree\n" + conf)


def ar_status(simulation):
    report = json.loads(simulation.run(fabric_sim.HEDDLE, "ar", "status", "--json", "--timeout", 10000, simulation.discover(),
                                       simulation.read_tables(), check=False))
    return schemas.validate("ar status", report)


def test_a_key_has_its_links_and_all_else_its_groups(tmp_path):
    """A random permutation of all hosts has contention 1 by what the switches send by, AR tables included. All entries
    that are not the key's are as adaptive as before. A sweep sends nothing again. Without the key all is as before."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        hello, _, _ = client.greeting()
        assert hello.engine == "nrk"
        both = Both(simulation, opensm)
        before = both.held()
        flows = random_flows(both.topology.hosts, 1)
        entries = free_key(both.tree, flows, 1)
        assert contention(both.topology, both.base, flows, 0) > 1
        emulated.zero()
        client.set_done(1, entries)
        tables, infos = table_sets(emulated)
        assert 0 < tables <= len({(switch, lid // 16) for switch, lid, _ in entries}) and infos == 0
        assert contention(both.topology, both.sending(), flows, 1) == 1
        assert contention(both.topology, both.tables(), flows, 1) == 1
        both.check_entries(entries)
        assert both.is_clean() and both.lost() == []
        status = ar_status(simulation)
        assert status["differences"] == status["unread"] == 0 and 0 < status["keyed"] <= len(entries)
        parts = json.loads(heddle("status", "--json", "-s", opensm.status_socket()).stdout)["parts"]
        assert parts["keys"]["count"] == 1 and parts["keys"]["refusal"] == "" and parts["ar"]["on"]
        assert sweep(opensm)["sets"] == 0 and sweep(opensm)["sets"] == 0
        both.check_entries(entries)
        client.set_done(1, [])
        assert both.held() == before and both.tables() == both.base
        assert "ERR" not in opensm.log()


def test_keys_change_and_go_one_by_one(tmp_path):
    """Keys of several offsets come, change and go. After each change both tables have exactly the keys in force."""
    with Simulation(generate(tmp_path, *SMALL), emulator=Emulator()) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        keys = {}
        for number, (key, seed) in enumerate(((1, 1), (2, 2), (1, 3), (3, 4), (2, None), (1, 5), (1, None), (3, None))):
            entries = [] if seed is None else key_of(both.tree, random_flows(both.topology.hosts, seed), key)
            client.set_done(key, entries)
            keys[key] = entries
            both.check_entries([entry for each in keys.values() for entry in each])
            if number % 3 == 2:
                opensm.sweep()
                both.check_entries([entry for each in keys.values() for entry in each])
        assert both.tables() == both.base and both.lost() == []


def test_no_mixture_loops(tmp_path):
    """Set by Set, as the switches do them: whatever they choose, and whichever of both tables they use, no packet of a
    host comes back to a switch while a key comes, changes and goes."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        fabric = independent_check.read_fabric(simulation.discover().read_text())
        for seed in (1, 2, None):
            record = simulation.folder / f"record-{seed}"
            emulated.record(record)
            plain = [independent_check.read_tables(simulation.read_tables().read_text(), fabric)]
            held = both.held()
            flows = random_flows(both.topology.hosts, seed) if seed else []
            client.set_done(1, key_of(both.tree, flows, 1))
            plain.append(independent_check.read_tables(simulation.read_tables().read_text(), fabric))
            emulated.record(None)
            sets, _ = repair_adaptive.read_sets(record, 0)
            assert sets
            for tables in plain:
                mixture = repair_adaptive.Adaptive(held, tables)
                for one in sets:
                    assert mixture.looping(fabric, one.switch, mixture.take(one)) == []


def test_groups_count_in_proofs(tmp_path):
    """A key that turns upwards after it has come down is sound by itself, but could close a credit loop with groups. It is
    refused, the switches keep what they hold, and another key still works."""
    with Simulation(generate(tmp_path, *SMALL), emulator=Emulator()) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        before = both.held()
        first, second, above, (_, hosts) = loop_through(both)
        result = client.set(3, by_valley(both, [first, above[0], second, above[1]], hosts[1]))
        assert result.status == REFUSED and "close a credit loop with adaptive routing" in result.reason, result
        assert both.held() == before and both.tables() == both.base
        client.set_done(4, key_of(both.tree, random_flows(both.topology.hosts, 4), 1))
        assert both.lost() == []


def test_a_switch_that_refuses_takes_the_key_back(tmp_path):
    """A switch takes the forwarding entries, but not those of its AR table: neither table of any switch has the key."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            start(simulation) as opensm, Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        before = both.held()
        entries = key_of(both.tree, random_flows(both.topology.hosts, 1), 1)
        switch, lid, _ = next(entry for entry in entries if both.groups.get(entry[:2]))
        emulated.fault(switch, "refuse=0x1c", attribute=AR_LFT, method="set")
        since = len(opensm.log())
        result = client.set(1, entries)
        assert result.status == FAILED and f"0x{switch:016x}" in result.reason, result
        emulated.heal()
        programmed(opensm, since)  # the sweep for which the key has asked
        assert both.tables() == both.base and not adaptive_entries(both.held()).keys() - both.groups.keys()
        # the switch stays without adaptive routing for a while
        wait_until(lambda: sweep(opensm) and both.held() == before, "the tables without the key")
        client.until_answered()
        client.set_done(1, entries)
        both.check_entries(entries)


def test_keys_while_sweeps_come(tmp_path):
    """Keys change while OpenSM sweeps again and again. In the end both tables have the keys in force, and nothing else."""
    with Simulation(generate(tmp_path, *SMALL), emulator=Emulator()) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        done = threading.Event()

        def sweeps():
            while not done.is_set():
                opensm.sweep()

        thread = threading.Thread(target=sweeps)
        thread.start()
        keys, states = {}, collections.Counter()
        try:
            for turn in range(30):
                key = 1 + turn % 3
                entries = key_of(both.tree, random_flows(both.topology.hosts, turn), key) if turn % 5 else []
                result = client.set(key, entries)
                states[result.status, result.reason] += 1
                keys[key] = entries if result.status == DONE else keys.get(key, [])
        finally:
            done.set()
            thread.join()
        sweep(opensm)
        assert states[DONE, ""] and not {status for status, _ in states} & {REFUSED, FAILED}, states
        both.check_entries([entry for each in keys.values() for entry in each])
        assert both.lost() == []


def test_a_cable_is_lost_with_both(tmp_path):
    """A cable of a key is lost, with repair before the sweep: the key is out of force, its LIDs have routes without it in
    both tables, and another key and the groups elsewhere stay. When the cable is back, the key can be set again."""
    with Simulation(generate(tmp_path, *TREE), emulator=Emulator()) as simulation, \
            start(simulation, conf=REPAIR, lmc=1) as opensm, Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        names = {node: name for name, node in both.topology.names.items()}
        hosts = both.topology.hosts
        crossing = key_of(both.tree, [(hosts[60], hosts[0])], 1)
        other = key_of(both.tree, [(hosts[59], hosts[21])], 1)
        client.set_done(1, crossing)
        client.set_done(2, other)
        both.check_entries([*crossing, *other])
        near = both.topology.leaf(hosts[0])
        above = next(switch for switch, _, port in crossing
                     if both.topology.peer.get((switch, port), (None,))[0] == near)
        cables = [cable(simulation, names[near], names[above])]
        wait_until_ready(opensm, adaptive=True)
        since = len(opensm.log())
        simulation.command(f"Unlink {cables[0]}")
        repair = opensm.wait_for_match("heddle: repaired lost|no repair before the sweep", since)
        routed = opensm.wait_for_match("entries changed", repair.end())
        programmed(opensm, routed.end())
        log = opensm.log()[since:]
        assert "heddle: repaired lost" in log, log
        assert "adaptive routing is off" not in log and "heddle: ERR HD11" not in log, log
        broken = client.next(BROKEN)
        assert broken.key == 1
        held, plain = both.held(), both.tables()
        assert holds(plain, other) and holds(sending(held, plain), other)
        crossing_places = {(switch, lid) for switch, lid, _ in crossing}
        assert both.lost() == [] and crossing_places & set(adaptive_entries(held))
        restore(simulation, opensm, cables)
        client.until_answered()
        client.set_done(1, crossing)
        both.check_entries([*crossing, *other])
        assert both.lost() == []


def test_adaptive_routing_comes_and_goes_with_keys_in_force(tmp_path):
    """heddle.conf switches adaptive routing on and off while a key is in force: its entries are static all the time."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            simulation.opensm("nrk", options={"lmc": 2, **SURE}, heddle_conf=settings(simulation.folder)) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        entries = key_of(live.tree, random_flows(live.topology.hosts, 1), 1)
        client.set_done(1, entries)
        conf = opensm.conf.read_text()
        for enable in ("yes", "no", "yes"):
            opensm.write_heddle_conf(conf + f"[ar]\nenable = {enable}\nalgorithm = tree\n")
            since = len(opensm.log())
            opensm.sweep()
            if enable == "yes":
                programmed(opensm, since)
                held = emulated.tables()
                found = adaptive_entries(held)
                assert found and not {(switch, lid) for switch, lid, _ in entries} & set(found)
                assert holds(sending(held, live.tables()), entries)
            else:
                wait_until(lambda: not adaptive_entries(emulated.tables()), "no adaptive routing")
            client.until_answered()
            for seed in (7, 8):
                client.set_done(2, key_of(live.tree, random_flows(live.topology.hosts, seed), 2))
            client.set_done(2, [])
            assert holds(live.tables(), entries)
        client.set_done(1, [])
        assert live.tables() == live.base


def test_private_tables_take_no_keys(tmp_path):
    """With the algorithm dfp the client is told ar_nrk, and a key is refused with the reason."""
    with Simulation(generate(tmp_path, *SMALL), emulator=Emulator()) as simulation:
        conf = settings(simulation.folder) + "[ar]\nenable = yes\nalgorithm = dfp\n"
        with simulation.opensm("nrk", options={"lmc": 2}, heddle_conf=conf), \
                Client(socket_of(simulation.folder)) as client:
            _, hello = client.receive()
            while not hello.engine:
                _, hello = client.receive()
            assert hello.engine == "ar_nrk"
            client.epoch = 1
            live = Live(simulation)
            result = client.set(1, key_of(live.tree, random_flows(live.topology.hosts, 1), 1))
            assert result.status == REFUSED and "private tables" in result.reason, result
            assert live.tables() == live.base and client.set(1, []).status == DONE


def test_damaged_trees(tmp_path):
    """Aggregation nodes in all switches and missing links: the entries of keys are static, and packets arrive whatever
    the switches choose."""
    netlist = generate(tmp_path, *SMALL, "--aggregation-nodes", "--remove-links", "8%")
    with Simulation(netlist, emulator=Emulator()) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        both = Both(simulation, opensm)
        hosts = [host for host in both.topology.hosts if host not in both.tree.aside]
        accepted = []
        for key in (1, 2, 3):
            flows = [flow for flow in random_flows(hosts, key) if both.tree.ways(*flow)]
            entries = key_of(both.tree, flows, key)
            result = client.set(key, entries)
            assert result.status == DONE or "credit loop" in result.reason, result
            accepted += entries if result.status == DONE else []
        both.check_entries(accepted)
        assert accepted and both.lost() == [] and both.is_clean()
        report = check(simulation.discover(), simulation.read_tables())
        assert not report["credit_loops"] and not re.search(r"ERR HD11", opensm.log())
