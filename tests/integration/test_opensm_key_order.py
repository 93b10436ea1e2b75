# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A key takes the place of another one in a live subnet: what the switches hold after each block that they take."""

import random

import emulator
import fabric_sim
import independent_check
import pytest
import repair_record
from emulator import LFT, Emulator
from fabric_sim import Simulation, generate
from keys_live import Live, by_valley, loop_through
from keys_sim import DONE, FAILED, REFUSED, Client, settings, socket_of

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
SMALL = ("xgft", "--children=3,3,3", "--parents=1,3,3")
KEY = 3


def by_node(tables):
    """The tables by names of nodes: {node: {LID: port}}."""
    return {f"S-{guid:016x}": {lid: port for lid, port in enumerate(row) if port != independent_check.NO_ENTRY}
            for guid, row in tables.items()}


class Replay:
    """The tables from block to block. Shares no code with Heddle."""

    def __init__(self, simulation, live):
        self.clock = simulation.folder / "clock"
        self.fabric = independent_check.read_fabric(simulation.discover().read_text())
        home = next(node for node, name in self.fabric.name.items() if simulation.host in (node, name))
        self.switches = repair_record.Switches(by_node(live.tables()), home)
        self.offset = repair_record.read_sets(self.clock, 0)[1]

    def take(self, held):
        """Follows the blocks of a key up to the tables `held`. Returns how many blocks changed something."""
        blocks = 0
        sets, offset = repair_record.read_sets(self.clock, self.offset)
        self.offset = offset or self.offset
        for one in sets:
            changed = self.switches.take(self.fabric, one)
            blocks += bool(changed)
            assert self.switches.looping(self.fabric, changed) == [], one
            for lid in changed:
                self.expect_arrival(lid, one)
        assert self.switches.tables == by_node(held)
        return blocks

    def expect_arrival(self, lid, one):
        for switch in self.fabric.switches:
            _, end = independent_check.follow(self.fabric, self.switches.tables, switch, lid)
            assert end == "arrives", (end, switch, lid, one)


def start(simulation, **options):
    return simulation.opensm("nrk", options={"lmc": 2, **options}, heddle_conf=settings(simulation.folder))


def random_key(live, host, rng):
    """Any cables of some switches, for one LID."""
    switches = rng.sample(sorted(live.topology.switches), rng.randint(1, 4))
    return [(switch, live.lid(host), rng.choice(live.tree.cables(switch))) for switch in switches]


def turn(live, host, before, leaf, after):
    """Entries for a host: down to a leaf from one switch, and up again to the other."""
    ports = live.tree.ports
    return [(before, live.lid(host), ports[before][leaf][0]), (leaf, live.lid(host), ports[leaf][after][0])]


def test_each_block_on_the_way_is_sound(tmp_path):
    """Keys that would close a circle while blocks of both are in the switches, keys that would close a credit loop
    with each other, and random ones that come, go and replace each other: after each block, packets arrive from all
    switches. OpenSM's tables stay those of the switches."""
    with Simulation(generate(tmp_path, *SMALL), clock=True) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        replay = Replay(simulation, live)
        first, second, (left, right), (_, hosts) = loop_through(live)
        host = hosts[1]
        replaced = [turn(live, host, left, first, right), turn(live, host, right, first, left),
                    turn(live, host, left, first, right), [],
                    by_valley(live, [first, left, second, right], host),
                    by_valley(live, [second, right, first, left], host), []]
        for entries in replaced:
            result = client.set_done(KEY, entries)
            assert replay.take(live.tables()) == result.blocks
        rng, statuses = random.Random(7), []
        for _ in range(160):
            entries = random_key(live, host, rng) if rng.random() < 0.7 else []
            statuses.append(client.set(KEY, entries).status)
            replay.take(live.tables())
            assert entries or live.tables() == live.base
        assert set(statuses) == {DONE, REFUSED}
        assert statuses.count(DONE) > 20, statuses
        client.set_done(KEY, [])
        assert live.tables() == live.base
        opensm.sweep()
        assert live.tables() == live.base


def test_the_way_back_is_sound_too(tmp_path):
    """The switch that is written last does not answer. The others get their old blocks again in the reverse order, and
    after each block packets arrive from all switches."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated, clock=True) as simulation, \
            start(simulation, transaction_timeout=500, transaction_retries=1) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        replay = Replay(simulation, live)
        first, _, (left, right), (_, hosts) = loop_through(live)
        client.set_done(KEY, turn(live, hosts[1], left, first, right))
        held = live.tables()
        replay.take(held)
        emulated.fault(right, "silent", attribute=LFT, method="set")
        result = client.set(KEY, turn(live, hosts[1], right, first, left))
        assert result.status == FAILED and f"0x{right:016x} does not answer" in result.reason, result
        assert live.tables() == held
        assert replay.take(held) == 4  # two switches there and back
        emulated.heal()
        opensm.sweep()  # the one that the manager has asked for may have met the silent switch
        client.set_done(KEY, turn(live, hosts[1], right, first, left))
        replay.take(live.tables())


def test_a_key_that_has_replaced_another_goes_in_steps(tmp_path):
    """The key in force could replace the one before in any order, but not the routes without keys, to which it goes
    back. A switch that must be written first is silent: the others keep their entries, and no packet circles."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated, clock=True) as simulation, \
            start(simulation, transaction_timeout=500, transaction_retries=1) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        live = Live(simulation)
        replay = Replay(simulation, live)
        first, second, _, (_, hosts) = loop_through(live)
        lid, ports, above = live.lid(hosts[1]), live.tree.ports, live.tree.parents(first)
        near = next(switch for switch in above if live.base[first][lid] in ports[first][switch])
        far = next(switch for switch in above if switch != near)
        aside = next(switch for switch in above if live.base[second][lid] not in ports[second][switch])
        turned = turn(live, hosts[1], near, first, far)
        for entries in ([*turned, (second, lid, ports[second][aside][0])], turned):
            client.set_done(KEY, entries)
            replay.take(live.tables())
        held = live.tables()
        emulated.fault(near, "silent", attribute=LFT, method="set")
        assert client.set(KEY, []).status == FAILED
        replay.take(live.tables())
        assert live.tables() == held
        emulated.heal()
        opensm.sweep()  # only that finds out what the silent switch holds
        client.set_done(KEY, [])
        replay.take(live.tables())
        assert live.tables() == live.base
