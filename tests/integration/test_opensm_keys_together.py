# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""SETs that come together: the manager may put them in force together, and nobody sees a difference but in the number
of blocks that are sent."""

import random

import emulator
import fabric_sim
import pytest
from emulator import LFT, Emulator
from fabric_sim import SURE, Simulation, generate
from keys_live import Live, by_valley, loop_through
from keys_sim import (DONE, FAILED, REFUSED, RESULT, STALE, Client, blocks_of, encode_set, key_of, random_flows, settings,
                      socket_of)

ALL_CORES = True  # what happens together is the point
pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=3,3,3", "--parents=1,3,3")
KEYS, SETS, BURST = 9, 240, 40


def start(simulation, **options):
    return simulation.opensm("nrk", options={"lmc": 2, **SURE, **options}, heddle_conf=settings(simulation.folder))


def burst(client, sets):
    """Sends all of the SETs [(key, entries, epoch)] before it reads a RESULT; their results."""
    client.send(b"".join(encode_set(number, key, epoch, entries) for number, (key, entries, epoch) in enumerate(sets)))
    results = [client.next(RESULT) for _ in sets]
    assert [result.request for result in results] == list(range(len(sets)))
    assert [result.key for result in results] == [key for key, _, _ in sets]
    return results


def flows_of_some(topology, choice):
    """Flows of some hosts to others."""
    hosts = choice.sample(topology.hosts, choice.randint(2, 9))
    return list(zip(hosts, hosts[1:]))


def some_sets(live, epoch, seed):
    """Keys of any LIDs, so that some want those of others; keys that go; and keys with mistakes: no cable, an old epoch,
    a way round that closes a credit loop with that of another key."""
    choice, sets = random.Random(seed), []
    first, second, above, (_, hosts) = loop_through(live)
    rounds = [by_valley(live, [first, above[0], second, above[1]], hosts[1]),
              by_valley(live, [second, above[1], first, above[0]], hosts[2])]
    for _ in range(SETS):
        entries = key_of(live.tree, flows_of_some(live.topology, choice), choice.randint(1, 3), choice.random())
        kind = choice.randrange(12)
        if kind == 0:
            entries[0] = (entries[0][0], entries[0][1], 200)
        elif kind < 3:
            entries = []
        elif kind < 5:
            entries = rounds[kind - 3]
        sets.append((choice.randint(1, KEYS), entries, epoch + (kind == 5)))
    return sets


@pytest.mark.parametrize("seed", (1, 2))
def test_as_if_one_by_one(tmp_path, seed):
    """Random SETs that come 40 at a time have the results, and leave the tables, that they have one by one. All kinds of
    results occur."""
    held, outcomes = {}, {}
    netlist = generate(tmp_path, *TREE)
    for together in (1, BURST):
        with Simulation(netlist) as simulation, start(simulation), \
                Client(socket_of(simulation.folder)) as client:
            client.greeting()
            live = Live(simulation)
            sets = some_sets(live, client.epoch, seed)
            held[together], outcomes[together] = [], []
            for begin in range(0, SETS, together):
                outcomes[together] += [(result.status, result.changed, result.reason)
                                       for result in burst(client, sets[begin:begin + together])]
                if (begin + together) % BURST == 0:
                    held[together].append(live.tables())
            assert live.is_clean()
    assert outcomes[1] == outcomes[BURST]
    assert held[1] == held[BURST]
    statuses = {status for status, _, _ in outcomes[1]}
    reasons = " ".join(reason for _, _, reason in outcomes[1])
    assert statuses == {DONE, STALE, REFUSED}
    assert all(text in reasons for text in ("is in use by key", "has no cable", "would close a credit loop"))


def test_blocks_of_several_keys_are_sent_once(tmp_path):
    """Keys of which each changes an entry in the same blocks: each block is sent once, by the count of the switches."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation, start(simulation), \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        (_, sources), (_, hosts) = live.leaf_hosts(0), live.leaf_hosts(8)
        sent = emulated.totals()[LFT, "set"]
        keys = [(1 + number, key_of(live.tree, [(sources[number], host)], 1, 1), client.epoch)
                for number, host in enumerate(hosts)]
        results = burst(client, keys)
        assert all(result.status == DONE for result in results)
        blocks, changed = blocks_of(live.base, live.tables())
        assert emulated.totals()[LFT, "set"] - sent == blocks
        assert sum(result.changed for result in results) == changed
        assert sum(result.blocks for result in results) > blocks


@pytest.mark.parametrize("fault", ("silent", "refuse=0x1c"))
def test_only_keys_of_a_faulty_switch_fail(tmp_path, fault):
    """A leaf does not take blocks: of keys that come together, those that change its entries fail, and the others are in
    force. When it is healed, all are."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation, \
            start(simulation, transaction_timeout=1500, transaction_retries=1) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        leaf, _ = live.leaf_hosts(0)
        ends = [live.leaf_hosts(number)[1] for number in range(9)]
        # each host sends one leaf further, by a way that the engine does not use
        keys = []
        for number in range(9):
            host = ends[(number + 1) % 9][1]
            seed = next(seed for seed in range(99) if any(
                switch == live.leaf_hosts(number)[0] and live.base[switch][lid] != port
                for switch, lid, port in key_of(live.tree, [(ends[number][0], host)], 1, seed)))
            keys.append((1 + number, key_of(live.tree, [(ends[number][0], host)], 1, seed), client.epoch))
        emulated.fault(leaf, fault, attribute=LFT, method="set")
        results = burst(client, keys)
        fails = [any(switch == leaf and live.base[switch][lid] != port for switch, lid, port in entries)
                 for _, entries, _ in keys]
        assert 0 < sum(fails) < 9
        assert [result.status for result in results] == [FAILED if it_fails else DONE for it_fails in fails]
        assert all(f"0x{leaf:016x}" in result.reason for result in results if result.status == FAILED)
        emulated.heal()
        opensm.sweep()
        for key, entries, _ in keys:
            client.set_done(key, entries)
        assert all(live.tables()[switch][lid] == port for _, entries, _ in keys for switch, lid, port in entries)
        assert live.is_clean()
