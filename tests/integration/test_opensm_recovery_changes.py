# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Routing keys and repairs while switches have fast recovery: it stays on, since each plan is proved for it before
switches get it."""

import re

import pytest

import emulator
import fabric_sim
import independent_check
import recovery_sim
import repair_adaptive
from ar_sim import programmed, sweep
from emulator import AR_INFO, Emulator
from fabric_sim import SURE, Simulation, generate
from keys_live import Live, holds
from keys_sim import BROKEN, Client, key_of, random_flows, settings, socket_of
from repair_sim import REPAIR, cable, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=3,3,3", "--parents=1,3,3")
CONF = "[ar]\nalgorithm = tree\nfast_recovery = notices\n"
NOTICES = r"fast recovery: notices wanted; (\d+) switches have notices, 0 local, 0 none"
RECOVERY = 0x10  # of the bytes 3 (local) and 22 (notices) of AdaptiveRoutingInfo


def start(simulation, conf=""):
    return simulation.opensm("ar_nrk", options={"lmc": 1, **SURE},
                             heddle_conf=settings(simulation.folder) + CONF + conf)


def recovering(opensm, emulated):
    """Waits until all switches have notices."""
    programmed(opensm)
    count = int(opensm.wait_for_match(NOTICES).group(1))
    assert count == len(emulated.masked()) and has_notices(emulated)


def has_notices(emulated):
    return all(switch["notices"] for switch in emulated.masked().values())


def check_masks(simulation, emulated):
    """Whatever cable is lost and masked next: no packet goes round, and no lane has a credit loop; the walk fails
    otherwise. Each loss masks something."""
    walk = recovery_sim.Walk(simulation, emulated)
    cables = sorted({tuple(sorted(pair)) for pair in walk.topology.peer.items()
                     if pair[0][0] in walk.own and pair[1][0] in walk.own})
    assert cables
    for ends in cables:
        for guid, port in ends:
            emulated.port(guid, port)
        masked = emulated.masked()
        assert all(port in masked[guid]["down"] for guid, port in ends)
        walk.lost(set(ends), masked)
        for guid, port in ends:
            emulated.port(guid, port, down=False)
        emulated.passes(100000)


def infos_without(sets):
    """Sets of AdaptiveRoutingInfo that leave a switch without notices, or with groups and without local masks."""
    return [one for one in sets if one.attribute == AR_INFO and
            (not one.data[22] & RECOVERY or one.data[3] & 1 and not one.data[3] & RECOVERY)]


def lose(simulation, opensm, one):
    """The log from a loss to the programming after its sweep."""
    wait_until_ready(opensm, adaptive=True)
    since = len(opensm.log())
    simulation.command(f"Unlink {one}")
    repair = opensm.wait_for_match("heddle: repaired lost|no repair before the sweep", since)
    routed = opensm.wait_for_match("entries changed", repair.end())
    programmed(opensm, routed.end())
    return opensm.log()[since:]


def test_a_key_and_the_loss_of_its_cable(tmp_path):
    """A key comes, and a cable of it is lost and repaired. Switches have notices all the time: no Set of their info is
    without, and the log has no ERR HD11. What they hold before, with the key and after the repair is safe with the masks of
    each further loss."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        emulated.set("all", recovery="notices")
        emulated.keep_tables()
        with start(simulation, REPAIR) as opensm, Client(socket_of(simulation.folder)) as client:
            client.greeting()
            recovering(opensm, emulated)
            live = Live(simulation)
            record = simulation.folder / "record"
            emulated.record(record)
            check_masks(simulation, emulated)
            hosts = live.topology.hosts
            crossing = key_of(live.tree, [(hosts[26], hosts[0])], 1)
            client.set_done(1, crossing)
            assert holds(live.tables(), crossing)
            check_masks(simulation, emulated)
            near = live.topology.leaf(hosts[0])
            above = next(switch for switch, _, port in crossing
                         if live.topology.peer.get((switch, port), (None,))[0] == near)
            names = {node: name for name, node in live.topology.names.items()}
            log = lose(simulation, opensm, cable(simulation, names[near], names[above]))
            assert "heddle: repaired lost" in log, log
            assert client.next(BROKEN).key == 1
            check_masks(simulation, emulated)
            assert sweep(opensm)["sets"] == 0
            assert has_notices(emulated)
            sets, _ = repair_adaptive.read_sets(record, 0)
            assert sets and infos_without(sets) == []
            assert "ERR HD11" not in opensm.log() and "fast recovery is off" not in opensm.log()


def test_no_mixture_loops(tmp_path):
    """Set by Set, as switches do them while a key comes, changes and goes: whatever ports switches choose or mask, and
    whichever of both tables they use, no packet of a host comes back to a switch."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        emulated.set("all", recovery="notices")
        emulated.keep_tables()
        with start(simulation) as opensm, Client(socket_of(simulation.folder)) as client:
            client.greeting()
            recovering(opensm, emulated)
            live = Live(simulation)
            fabric = independent_check.read_fabric(simulation.discover().read_text())
            for seed in (1, 2, None):
                record = simulation.folder / f"record-{seed}"
                emulated.record(record)
                plain = [independent_check.read_tables(simulation.read_tables().read_text(), fabric)]
                held = emulated.tables()
                client.set_done(1, key_of(live.tree, random_flows(live.topology.hosts, seed) if seed else [], 1))
                plain.append(independent_check.read_tables(simulation.read_tables().read_text(), fabric))
                emulated.record(None)
                sets, _ = repair_adaptive.read_sets(record, 0)
                assert sets and infos_without(sets) == [] and has_notices(emulated)
                for tables in plain:
                    mixture = repair_adaptive.Adaptive(held, tables)
                    for one in sets:
                        assert mixture.looping(fabric, one.switch, mixture.take(one)) == []
            assert re.search("fast recovery is off|ERR HD11", opensm.log()) is None


def idle_circle(simulation, live, emulated):
    """A key of one entry. In a pod without hosts it leads from a switch down to a leaf whose group leads up to it again,
    though its static port does not. No packet of a host comes there."""
    names, lid = live.topology.names, live.lid(live.topology.hosts[0])
    leaf = next(switch for name, switch in sorted(names.items()) if name.startswith("S1_2_"))
    ports = {port: peer for (node, port), (peer, _) in live.topology.peer.items() if node == leaf}
    state, static, _, group = emulated.tables()[leaf]["lft"][0, lid]
    assert state != "static"
    above = next(ports[port] for port in sorted(emulated.tables()[leaf]["groups"][0, 0, group, 0]) if port != static)
    down = next(port for (node, port), (peer, _) in live.topology.peer.items() if (node, peer) == (above, leaf))
    return [(above, lid, down)]


def test_a_key_that_allows_no_masks(tmp_path):
    """A key is proved beside adaptive routing, by the packets of hosts. But a packet of a switch itself could come back, so
    the plan with it allows no masks: fast recovery is off first, and the log says why. After the key the next sweep
    switches it on again."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        emulated.set("all", recovery="notices")
        emulated.keep_tables()
        names = recovery_sim.switches(simulation.netlist)
        simulation.command("\n".join(f'Unlink "S-{guid:016x}"[{port}]' for name, guid in names.items()
                                     if name.startswith("S1_2_") for port in (1, 2, 3)))
        with start(simulation) as opensm, Client(socket_of(simulation.folder)) as client:
            client.greeting()
            recovering(opensm, emulated)
            live = Live(simulation)
            key = idle_circle(simulation, live, emulated)
            record = simulation.folder / "record"
            emulated.record(record)
            since = len(opensm.log())
            client.set_done(1, key)
            assert holds(live.tables(), key)
            assert not any(switch["notices"] or switch["local"] for switch in emulated.masked().values())
            reason = opensm.wait_for_match(r"ERR HD11: fast recovery is off: (.*)", since).group(1)
            assert "packets can come back to the switch" in reason and f"LID {key[0][1]}:" in reason, reason
            emulated.record(None)
            sets, _ = repair_adaptive.read_sets(record, 0)
            off = infos_without(sets)
            first = min(i for i, one in enumerate(sets) if one.attribute != AR_INFO)
            assert off and all(one in sets[:first] for one in off)
            assert any(held["enabled"] for held in emulated.tables().values())
            client.set_done(1, [])
            sweep(opensm)
            fabric_sim.wait_until(lambda: has_notices(emulated), "notices after the key")
            assert opensm.log().count("ERR HD11") == 1
