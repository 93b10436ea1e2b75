# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Routing keys in a live subnet: what the switches hold while keys come and go, what is refused, and
what is not touched."""

import random
import re

import emulator
import fabric_sim
import pytest
from emulator import LFT, Emulator
from fabric_sim import LOG_DUMPS, SURE, Simulation, Topology, changed, generate, tables
from keys_live import Live, by_valley, holds, loop_through
from keys_sim import (BROKEN, DONE, FABRIC, FAILED, REFUSED, STALE, Client, Tree, blocks_of, contention, free_key, key_of,
                      random_flows, settings, socket_of, stencil)

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=6,6,6", "--parents=1,6,6")
SMALL = ("xgft", "--children=3,3,3", "--parents=1,3,3")


def start(simulation, engine="nrk", **options):
    return simulation.opensm(engine, options={"lmc": 2, **options}, log_flags=LOG_DUMPS,
                             heddle_conf=settings(simulation.folder))


@pytest.mark.parametrize("engine", ("ark", "nrk"))
def test_phases_share_no_link(tmp_path, engine):
    """A random permutation, and phases of a stencil of randomly placed ranks: no two flows share a
    link between switches, by walks in the tables of the switches. Nothing else changes; the switches
    get the changed blocks and no more; afterwards they hold what they held before."""
    with Simulation(generate(tmp_path, *TREE)) as simulation, start(simulation, engine), \
            Client(socket_of(simulation.folder)) as client:
        hello, fabric, held = client.greeting()
        assert (hello.master, hello.engine, held) == (True, engine, [])
        live = Live(simulation)
        placed = random.Random(1).sample(live.topology.hosts, 36)
        phases = [random_flows(live.topology.hosts, 1)]
        phases += stencil(placed, (4, 3, 3))[::2] if engine == "nrk" else []
        before = live.base
        for phase, flows in enumerate(phases):
            entries = free_key(live.tree, flows, 1 + phase % 3)
            result = client.set_done(1 + phase % 3, entries)
            held = live.tables()
            assert contention(live.topology, held, flows, 1 + phase % 3) == 1
            assert (result.blocks, result.changed) == blocks_of(before, held)
            before = held
        mine = {live.lid(host, offset) for host in live.topology.hosts for offset in (1, 2, 3)}
        assert {lid for _, lid in changed(live.base, before)} <= mine
        assert live.is_clean()
        for key in (1, 2, 3):
            client.set_done(key, [])
        assert live.tables() == live.base
        names = simulation.folder / "fabric.net"
        names.write_text(fabric.netlist)
        assert len(Topology(names).peer) == len(live.topology.peer)


def test_unsound_keys_are_refused(tmp_path):
    """Each kind of mistake, with its reason; the switches keep what they hold. A key in force stays when
    its replacement is refused. Two keys that would close a credit loop together are in force one after
    the other, but not at the same time."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        first, second, above, (third, hosts) = loop_through(live)
        host, other = hosts[:2]
        good = key_of(live.tree, [(live.leaf_hosts(8)[1][0], host)], 1)
        client.set_done(1, good)
        held = live.tables()
        lid, up = live.lid(host), live.tree.ports[first][above[0]][0]
        down = live.tree.ports[above[0]][first][0]
        mistakes = [
            ([(0xBAD, lid, 1)], "switch 0x0000000000000bad is not in the fabric"),
            ([(first, lid, 200)], "port 200 of switch"),
            ([(first, live.lid(host, 0), up)], "is a base LID"),
            ([(first, live.topology.lids[first][0], up)], "is not one of a host"),
            ([(first, 0xBFFF, up)], "LID 49151 is not one of a host"),
            ([(first, live.lid(other), up), (above[0], live.lid(other), down)], "go in a loop through"),
            ([(third, live.lid(other), live.tree.ports[third][host][0])], "do not get beyond"),
        ]
        for entries, reason in mistakes:
            for key in (1, 2):
                result = client.set(key, entries)
                assert result.status == REFUSED and reason in result.reason, (entries, result)
        result = client.set(2, good)
        assert result.status == REFUSED and f"LID {lid} is in use by key 1" in result.reason
        result = client.set(2, key_of(live.tree, [(host, live.leaf_hosts(8)[1][0])], 1), epoch=77)
        assert result.status == STALE, result
        assert live.tables() == held
        round_one = by_valley(live, [first, above[0], second, above[1]], other)
        round_two = by_valley(live, [second, above[1], first, above[0]], hosts[2])
        client.set_done(3, round_one)
        result = client.set(4, round_two)
        assert result.status == REFUSED and "would close a credit loop" in result.reason, result
        client.set_done(3, [])
        client.set_done(4, round_two)
        assert holds(live.tables(), [*good, *round_two]) and live.is_clean()
        assert "keys: key 4 is refused: the routes for LID" in opensm.log()


def test_sweeps_keep_keys_and_send_nothing_again(tmp_path):
    """The switches get as many blocks as change, by the count of the switches themselves. A sweep of an
    unchanged fabric sends no block, and the keys stay; OpenSM's dump shows them. When
    the client goes they stay, too, and the next client is told of them."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            start(simulation, **SURE) as opensm:
        with Client(socket_of(simulation.folder)) as client:
            first, _, _ = client.greeting()
            live = Live(simulation)
            keys = {5: key_of(live.tree, random_flows(live.topology.hosts, 5), 1),
                    9: key_of(live.tree, random_flows(live.topology.hosts, 9), 3)}
            held, sent = live.base, emulated.totals()[LFT, "set"]
            for key, entries in keys.items():
                result, before = client.set_done(key, entries), held
                held, sent_before = live.tables(), sent
                sent = emulated.totals()[LFT, "set"]
                assert sent - sent_before == result.blocks == blocks_of(before, held)[0] > 0
            opensm.sweep()
            opensm.sweep()
            assert emulated.totals()[LFT, "set"] == sent
            assert live.tables() == held == tables(simulation.folder / "opensm-lfts.dump")
        opensm.wait_for("heddle-keyd has hung up; its keys stay in force")
        opensm.sweep()
        assert live.tables() == held
        with Client(socket_of(simulation.folder)) as client:
            second, fabric, in_force = client.greeting()
            assert (second, in_force, fabric.epoch) == (first, [5, 9], 1)
            client.set_done(5, [])
            client.set_done(9, [])
            assert live.tables() == live.base


def test_a_silent_switch_takes_a_key_back(tmp_path):
    """One switch does not answer: the others get their old tables again, the result names the switch, and
    other keys still work. After the switch is healed, it holds what it should."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            start(simulation, transaction_timeout=1000, transaction_retries=1) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        entries = key_of(live.tree, random_flows(live.topology.hosts, 1), 1)
        client.set_done(1, entries)
        held = live.tables()
        other = key_of(live.tree, random_flows(live.topology.hosts, 2), 1)
        silent = next(switch for switch, lid, port in other if held[switch][lid] != port)
        emulated.fault(silent, "silent", attribute=LFT, method="set")
        result = client.set(1, other)
        assert result.status == FAILED and f"0x{silent:016x} does not answer" in result.reason, result
        assert live.tables() == held
        emulated.heal()
        client.set_done(2, key_of(live.tree, random_flows(live.topology.hosts, 3), 2))
        opensm.sweep()
        assert holds(live.tables(), entries)
        client.set_done(1, other)
        assert holds(live.tables(), other) and live.is_clean()
        assert client.set_done(1, []) and client.set_done(2, [])
        assert live.tables() == live.base
        emulated.fault(silent, "refuse=0x1c", attribute=LFT, method="set")
        result = client.set(1, other)
        assert result.status == FAILED and "with status 0x001c" in result.reason, result


def test_a_key_that_stays_still_counts_in_proofs(tmp_path):
    """A key is to be replaced by one that would close a credit loop with it, and a switch refuses. The
    key before stays in force, and so another key that closes a loop with it is refused, too."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, start(simulation), \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        first, second, above, (_, hosts) = loop_through(live)
        round_one = by_valley(live, [first, above[0], second, above[1]], hosts[1])
        round_two = by_valley(live, [second, above[1], first, above[0]], hosts[2])
        client.set_done(1, round_one)
        held = live.tables()
        emulated.fault(second, "refuse=0x1c", attribute=LFT, method="set")
        assert client.set(1, round_two).status == FAILED
        emulated.heal()
        result = client.set(2, round_two)
        assert result.status == REFUSED and "would close a credit loop" in result.reason, result
        assert live.tables() == held
        client.set_done(1, round_two)


@pytest.mark.parametrize("engine", ("dmodk", "minhop"))
def test_engines_without_keys(tmp_path, engine):
    """The client is told the engine, and a key is refused with the reason; base tables stay."""
    with Simulation(generate(tmp_path, *SMALL), emulator=Emulator()) as simulation:
        with simulation.opensm(engine, options={"lmc": 2}, heddle_conf=settings(simulation.folder)):
            with Client(socket_of(simulation.folder)) as client:
                _, hello = client.receive()
                while not hello.engine:  # it has not routed the fabric yet
                    _, hello = client.receive()
                assert (hello.master, hello.engine) == (True, engine)
                client.epoch = 1
                live = Live(simulation)
                result = client.set(1, key_of(live.tree, random_flows(live.topology.hosts, 1), 1))
                assert result.status == REFUSED and f"engine {engine} takes no keys" in result.reason, result
                assert live.tables() == live.base and not client.others
                assert client.set(1, []).status == DONE


def test_broken_keys_fall_back(tmp_path):
    """A link, a top switch and a leaf fail while keys are active. The next sweep is clean and keeps what
    is sound; what is not is reported once, with the reason, and its LIDs have the routes without keys."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        hosts = live.topology.hosts
        keys = {number: key_of(live.tree, [(hosts[number], hosts[number - 11])], 1, number)
                for number in range(1, 25)}
        for number, entries in keys.items():
            client.set_done(number, entries)
        for damage in ("link", "top", "leaf"):
            victim = next(iter(keys))
            switch, lid, port = keys[victim][-1 if damage == "leaf" else 1 if damage == "link" else 2]
            since = len(opensm.log())
            for one in live.tree.cables(switch) if damage != "link" else [port]:
                simulation.command(f'Unlink "S-{switch:016x}"[{one}]')
            log = opensm.sweep_until(r"keys: key \d+ is not in force any more", since=since)
            messages = client.until_answered()
            broken = {message.key for kind, message in messages if kind == BROKEN}
            epochs = [message.epoch for kind, message in messages if kind == FABRIC]
            assert victim in broken and epochs == sorted(set(epochs))
            assert len(broken) == sum(kind == BROKEN and bool(message.reason) for kind, message in messages)
            assert all(message.epoch in epochs for _, message in messages)
            assert broken < set(keys)
            said = re.findall(r"keys: key (\d+) is not in force any more", opensm.log()[since:])
            assert len(said) == len(set(said)) == min(len(broken), 8) and {*map(int, said)} <= broken
            keys = {number: entries for number, entries in keys.items() if number not in broken}
            held = live.tables()
            assert all(holds(held, entries) for entries in keys.values())
            assert client.set(victim, [(switch, lid, port)], epochs[-1] - 1).status == STALE
            assert live.is_clean() and "heddle: ERR HD05" not in log
        opensm.sweep()
        assert client.until_answered() == []


@pytest.mark.parametrize("lost", ("1%", "8%"))
def test_trees_with_holes(tmp_path, lost):
    """Aggregation nodes in all switches, links missing, one top switch gone: keys for what is there, in
    force as made, and the tables stay clean."""
    netlist = generate(tmp_path, *SMALL, "--aggregation-nodes", "--remove-links", lost)
    with Simulation(netlist) as simulation:
        top = max(Tree(Topology(netlist)).level.items(), key=lambda item: item[1])[0]
        for port in range(1, 4):
            simulation.command(f'Unlink "S-{top:016x}"[{port}]')
        with start(simulation), Client(socket_of(simulation.folder)) as client:
            _, fabric, _ = client.greeting()
            live = Live(simulation)
            assert set(fabric.aside) == {node + 1 for node in live.tree.aside}
            hosts = [host for host in live.topology.hosts if host not in live.tree.aside]
            flows = [flow for flow in random_flows(hosts, 1) if live.tree.ways(*flow)]
            entries = key_of(live.tree, flows, 1)
            client.set_done(1, entries)
            assert holds(live.tables(), entries) and live.is_clean()

