# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The key channel of a live subnet manager: restarts, a second manager, second clients, clients that
send nonsense or do not read, and keys that come while OpenSM sweeps."""

import os
import pathlib
import random
import resource
import signal
import socket
import struct
import threading
import time

import emulator
import fabric_sim
import pytest
from emulator import LFT, Emulator
from fabric_sim import PATIENCE, SURE, OpenSM, Simulation, Topology, generate, stop, tables, wait_until
from keys_sim import (BROKEN, BUSY, DONE, FABRIC, FAILED, HELD, HELLO, REFUSED, RESULT, SET, STALE, Client, Tree,
                      contention, encode_set, flows_of, frame, key_of, made_keys, random_flows, settings, socket_of)

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
SMALL = ("xgft", "--children=3,3,3", "--parents=1,3,3")
LARGE = ("xgft", "--children=12,12,12", "--parents=1,12,12")


def start(simulation, engine="nrk", **options):
    return simulation.opensm(engine, options={"lmc": 2, **options}, heddle_conf=settings(simulation.folder))


def look(simulation):
    topology = Topology(simulation.discover())
    return topology, Tree(topology)


def held_by(simulation):
    return tables(simulation.read_tables())


def holds(held, entries):
    return all(held[switch][lid] == port for switch, lid, port in entries)


@pytest.mark.parametrize("killed", (False, True))
def test_restart(tmp_path, killed):
    """OpenSM ends, or is killed: the connection ends. The next OpenSM is another instance and has no
    keys; the switches have the routes without keys until the client sends its keys again."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        with start(simulation) as opensm, Client(socket_of(simulation.folder)) as client:
            first, _, _ = client.greeting()
            topology, tree = look(simulation)
            base = held_by(simulation)
            keys = {key: key_of(tree, random_flows(topology.hosts, key), key) for key in (1, 2)}
            for key, entries in keys.items():
                client.set_done(key, entries)
            held = held_by(simulation)
            if killed:
                os.kill(opensm.process.pid, signal.SIGKILL)
            else:
                opensm.process.terminate()
            with pytest.raises((EOFError, ConnectionError)):
                client.next(RESULT)
            opensm.process.wait(PATIENCE)
        assert held_by(simulation) == held
        with start(simulation), Client(socket_of(simulation.folder)) as client:
            second, _, in_force = client.greeting()
            assert second.instance != first.instance and in_force == []
            assert held_by(simulation) == base
            for key, entries in keys.items():
                client.set_done(key, entries)
            assert held_by(simulation) == held


def refused_at_once(path):
    """Whether a connection is closed before anything comes."""
    with socket.socket(socket.AF_UNIX) as other:
        other.settimeout(PATIENCE)
        other.connect(str(path))
        return other.recv(1) == b""


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_clients_that_misbehave(tmp_path):
    """A second client is refused while the first is served. One that sends what is no message, or what
    only a manager sends, is disconnected with a reason in the log; half a message does no harm. The keys
    stay, and the next client is served."""
    nonsense = [b"GET / HTTP/1.1\r\n\r\n", bytes(64), frame(SET, b""), frame(SET, bytes(28)),
                frame(99, b""), frame(HELLO, struct.pack(">QII", 1, 1, 0)), frame(SET, bytes(28), version=2),
                struct.pack(">4sHHI", b"HKEY", 1, SET, 0xFFFFFFFF),
                encode_set(1, 1, 1, [(0x200000, 9, 1), (0x200000, 9, 2)]),
                encode_set(1, 1, 1, [(0x200000, 0xC000, 1)]), encode_set(1, 1, 1, [(0, 9, 1)])]
    with Simulation(generate(tmp_path, *SMALL)) as simulation, start(simulation) as opensm:
        path = socket_of(simulation.folder)
        assert path.stat().st_mode & 0o777 == 0o660
        topology, tree = look(simulation)
        entries = key_of(tree, random_flows(topology.hosts, 1), 1)
        with Client(path) as client:
            client.greeting()
            assert refused_at_once(path) and "a second connection" in opensm.log()
            client.set_done(1, entries)
        for number, data in enumerate(nonsense):
            with Client(path) as client:
                assert client.greeting()[2] == [1]
                client.send(data)
                with pytest.raises((EOFError, ConnectionError)):
                    client.next(RESULT)
            wait_until(lambda: opensm.log().count("the connection of heddle-keyd is closed") > number,
                       f"the log line for {data!r}")
        with Client(path) as client:
            client.greeting()
            whole = encode_set(7, 2, client.epoch, key_of(tree, random_flows(topology.hosts, 2), 2))
            for at in range(0, 200, 20):
                client.send(whole[at:at + 20])
            opensm.sweep()
            client.send(whole[200:])
            assert client.next(RESULT).status == DONE
            client.send(whole[:50])
        with Client(path) as client:
            assert client.greeting()[2] == [1, 2]
        assert holds(held_by(simulation), entries)


def rests(pid):
    """Whether a process needs hardly any time of a processor for a while, also if it does not get much of it. Work of
    its own may need more."""
    before = processor_seconds(pid)
    time.sleep(1)
    return processor_seconds(pid) - before < 0.05


def test_no_descriptor_for_a_client(tmp_path):
    """If OpenSM has no descriptor left for a client that connects, it does not spin. The client is served
    as soon as there is one."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, start(simulation) as opensm:
        pid = opensm.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        descriptors = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
        least = next(number for number in range(len(descriptors) + 1) if number not in descriptors)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (least, limits[1]))
        with Client(socket_of(simulation.folder)) as client:
            wait_until(lambda: rests(pid), "an OpenSM that does not spin")
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
            assert client.greeting()[2] == []


def test_a_client_that_does_not_read(tmp_path):
    """OpenSM sweeps on while nobody reads what the changes of the fabric bring; then all is there."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, start(simulation) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        requests = [client.post(key, [], 1) for key in range(1, 8001)]
        for _ in range(4):
            for change in ("Unlink", "ReLink"):
                simulation.command(f'{change} "S-0000000000200000"[4]')
                opensm.sweep()
        messages = client.until_answered()
        assert [message.request for kind, message in messages if kind == RESULT] == requests
        epochs = [message.epoch for kind, message in messages if kind == FABRIC]
        assert epochs == sorted(set(epochs)) and len(epochs) >= 2


@pytest.mark.parametrize("count, slow", ((400, False), (25, True)))
def test_keys_while_opensm_sweeps(tmp_path, count, slow):
    """SETs and sweeps at the same time: every SET is done or is answered busy, and the switches hold the
    last keys that were done; OpenSM agrees, because its next sweep sends nothing. Switches that are slow
    make sweeps begin while blocks are under way."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, start(simulation, **SURE) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        topology, tree = look(simulation)
        base, over = held_by(simulation), threading.Event()

        def sweep_on():
            while not over.is_set():
                opensm.sweep()
                over.wait(random.random() * 0.3 if slow else 0)

        choices = [[key_of(tree, random_flows(topology.hosts, seed), key, seed) for seed in range(8)]
                   for key in (1, 2, 3)]
        sweeping = threading.Thread(target=sweep_on)
        sweeping.start()
        try:
            done, succeeded = {}, 0
            if slow:
                emulated.fault("all", "slow=25", attribute=LFT, method="set")
            choose = random.Random(1)
            for _ in range(count):
                key = choose.randint(1, 3)
                entries = choose.choice([*choices[key - 1], []])
                result = client.set(key, entries)
                assert result.status in (DONE, BUSY), result
                if result.status == DONE:
                    done[key] = entries
                    succeeded += 1
        finally:
            over.set()
            sweeping.join()
        assert succeeded > 0.2 * count
        emulated.heal()
        wanted = {switch: bytearray(row) for switch, row in base.items()}
        for entries in done.values():
            for switch, lid, port in entries:
                wanted[switch][lid] = port
        assert held_by(simulation) == wanted and client.others == []
        sent = emulated.totals()[LFT, "set"]
        opensm.sweep()
        assert emulated.totals()[LFT, "set"] == sent and opensm.log().count("SUBNET UP") > 5


def loop_of(tree):
    """Two keys that would close a credit loop together: packets for two hosts of a leaf turn at the two
    leaves beside it, in opposite directions."""
    leaves = sorted(switch for switch, level in tree.level.items() if level == 0)[:3]
    above, topology = tree.parents(leaves[0])[:2], tree.topology
    hosts = [host for host in topology.hosts if topology.leaf(host) == leaves[2]]
    keys = []
    for host, turns in zip(hosts, ((0, 0, 1, 1), (1, 1, 0, 0))):
        hops = [leaves[turns[0]], above[turns[1]], leaves[turns[2]], above[turns[3]], leaves[2], host]
        keys.append([(switch, topology.lids[host][0] + 1, tree.ports[switch][behind][0])
                     for switch, behind in zip(hops, hops[1:])])
    return keys


class AtHost(OpenSM):
    """An OpenSM of its own at another host, with a key channel of its own."""

    def __init__(self, simulation, host, **settings_):
        folder = simulation.folder / host
        folder.mkdir()
        super().__init__(simulation, "nrk", heddle_conf=settings(folder), **settings_)
        self.host, self.folder = host, folder
        self.log_file = folder / "osm.log"
        self.conf = folder / "heddle.conf"
        self.conf.write_text(settings(folder))

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.folder))


def test_a_second_manager(tmp_path):
    """A second OpenSM takes over: the client of the first is told that it is not the master, and gets
    busy. When the first is master again, it says so, and has no keys: one that would close a credit loop
    with the key before is in force."""
    options = {"lmc": 2, "sminfo_polling_timeout": 200, "polling_retry_number": 2}
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        with AtHost(simulation, "H_0_0_0", options={**options, "sm_priority": 3}) as one, \
                Client(socket_of(one.folder)) as client:
            first, _, _ = client.greeting()
            topology, tree = look(simulation)
            base = held_by(simulation)
            before, entries = loop_of(tree)
            client.set_done(1, before)
            assert client.set(2, entries).status == REFUSED
            with AtHost(simulation, "H_0_0_1", options={**options, "sm_priority": 9}) as two:
                hello = client.next(HELLO)
                assert not hello.master and hello.instance == first.instance
                assert client.set(1, []).status == BUSY
                with Client(socket_of(two.folder)) as other:
                    assert other.greeting()[0].master
                    assert held_by(simulation) == base
                    other.set_done(5, entries)
                    assert holds(held_by(simulation), entries)
            again = client.next(HELLO)
            while not again.master:
                again = client.next(HELLO)
            client.next(FABRIC)
            assert client.next(HELD) in ([], [1])
            wait_until(lambda: held_by(simulation) == base, "tables without keys")
            client.until_answered()
            client.set_done(2, entries)
            assert holds(held_by(simulation), entries)


def test_the_same_sockets(tmp_path):
    """A second OpenSM with the sockets of the first one says that they are taken, and goes on without. heddle-keyd
    still reaches the first one, also after the second has ended. If the first one ends, the second takes them."""
    options = {"lmc": 2, "sminfo_polling_timeout": 200, "polling_retry_number": 2,
               "subnet_prefix": "0xfec0000000000001"}
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        one, two = (AtHost(simulation, host, options={**options, "sm_priority": priority})
                    for host, priority in (("H_0_0_0", 3), ("H_0_0_1", 9)))
        path, routers = socket_of(one.folder), one.folder / "router.sock"
        conf = settings(one.folder) + f"[map]\nrouter_socket = {routers}\n"
        one.conf.write_text(conf)
        two.conf.write_text(conf.replace(str(one.status_socket()), str(two.status_socket())))
        taken = [f"keys: heddle-keyd cannot connect: {path}: another process has this socket",
                 f"map: routers cannot connect: {routers}: another process has this socket"]
        with one:
            with Client(path) as client:
                first = client.greeting()[0].instance
                with two:
                    for line in taken:
                        two.wait_for(line)
                    assert not client.next(HELLO).master
            assert routers.is_socket()
            with Client(path) as client:
                assert client.next(HELLO).instance == first
            assert not any(line in one.log() for line in taken)
            with two:
                since = len(two.log())
                stop(one.process)
                for part in ("keys: heddle-keyd", "map: routers"):
                    two.wait_for(f"{part} can connect", since)
                with Client(path) as client:
                    assert client.next(HELLO).instance != first
            assert not path.exists() and not routers.exists()


def test_settings(tmp_path):
    """A folder or a group that does not exist is said in the log, and OpenSM routes on. When heddle.conf
    names another socket, the next sweep moves it; keys stay."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        missing = simulation.folder / "missing" / "sm.sock"
        with simulation.opensm("nrk", options={"lmc": 2}, heddle_conf=f"[keys]\nsocket = {missing}\n") as opensm:
            assert f"keys: heddle-keyd cannot connect: {missing}: cannot bind" in opensm.log()
            path = socket_of(simulation.folder)
            opensm.write_heddle_conf(f"[keys]\nsocket = {path}\ngroup = no-such-group\n")
            assert "there is no group 'no-such-group'" in opensm.sweep()
            opensm.write_heddle_conf(f"[keys]\nsocket = {path}\ngroup = nogroup\n")
            opensm.sweep()
            topology, tree = look(simulation)
            entries = key_of(tree, random_flows(topology.hosts, 1), 1)
            with Client(path) as client:
                client.greeting()
                client.set_done(1, entries)
                other = simulation.folder / "other.sock"
                opensm.write_heddle_conf(f"[keys]\nsocket = {other}\n")
                opensm.sweep()
                with pytest.raises((EOFError, ConnectionError)):
                    client.next(RESULT)
            assert not path.exists()
            with Client(other) as client:
                assert client.greeting()[2] == [1] and holds(held_by(simulation), entries)
                assert client.set(1, entries, epoch=99).status == STALE
                client.set_done(1, [])


@pytest.mark.skipif(not os.environ.get("HEDDLE_SLOW"), reason="HEDDLE_SLOW is not set")
def test_a_fabric_of_1728_hosts(tmp_path):
    """Keys of heddle key make for a stencil of 432 randomly placed hosts, by walks in the tables of the
    switches: no two flows of a phase share a link."""
    with Simulation(generate(tmp_path, *LARGE)) as simulation, start(simulation), \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        path = simulation.discover()
        topology = Topology(path)
        hosts = random.Random(3).sample(topology.hosts, 432)
        for entries, phase in made_keys(topology, path, hosts, "stencil3d:12x6x6"):
            client.set_done(1, entries)
            assert contention(topology, held_by(simulation), flows_of(phase), 1) == 1


def test_another_engine_takes_over(tmp_path):
    """Two leaves lose different switches above them, so nrk refuses and the next engine of the list routes:
    the key is broken, and HELLO names the engine. When the cables are back, nrk routes and takes keys."""
    netlist = generate(tmp_path, "xgft", "--children=4,8", "--parents=1,2")
    with Simulation(netlist) as simulation, start(simulation, "nrk,updown") as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        topology, tree = look(simulation)
        base, hosts = held_by(simulation), topology.hosts
        first, second = (topology.leaf(hosts[at]) for at in (8, 12))
        entries = key_of(tree, [(hosts[16], hosts[20])], 1)
        client.set_done(1, entries)
        cuts = [f'"S-{leaf:016x}"[{tree.cables(leaf)[side]}]' for leaf, side in ((first, 0), (second, 1))]
        since = len(opensm.log())
        for cut in cuts:
            simulation.command(f"Unlink {cut}")
        log = opensm.sweep_until("updown: .* entries changed", since=since)
        assert "key 1 is not in force any more: the routing engine updown takes no keys" in opensm.log(), log
        assert client.next(HELLO).engine == "updown" and client.next(BROKEN).key == 1
        refused = client.set_at_rest(2, entries)
        assert refused.status == REFUSED and "updown takes no keys" in refused.reason
        since = len(opensm.log())
        for cut in cuts:
            simulation.command(f"ReLink {cut}")
        opensm.sweep_until("nrk: .* entries changed", since=since)
        opensm.sweep()
        client.others.clear()
        client.until_answered()
        client.set_done(1, entries)
        client.set_done(1, [])
        assert held_by(simulation) == base


def test_reroute_and_cache(tmp_path):
    """The console's `reroute` keeps keys, and SETs work after it. With OpenSM's unicast cache a link that
    fails breaks the key all the same."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, \
            start(simulation, console="local", use_ucast_cache="TRUE") as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        topology, tree = look(simulation)
        keys = {key: key_of(tree, [(topology.hosts[key], topology.hosts[-key])], 1) for key in (1, 2)}
        for key, entries in keys.items():
            client.set_done(key, entries)
        held = held_by(simulation)
        since = len(opensm.log())
        opensm.console("reroute")
        opensm.wait_for("entries changed", since)
        client.set_done(3, [])
        client.set_done(1, keys[1][:0])
        client.set_done(1, keys[1])
        assert held_by(simulation) == held
        switch, _, port = keys[1][1]
        since = len(opensm.log())
        simulation.command(f'Unlink "S-{switch:016x}"[{port}]')
        opensm.sweep_until("key 1 is not in force any more", since=since)
        assert 1 in {message.key for kind, message in client.until_answered() if kind == BROKEN}


def test_a_switch_without_its_table(tmp_path):
    """A switch has not acknowledged its table in the last sweep: a key that needs it fails and names it,
    and the next sweep completes the table."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            start(simulation, transaction_timeout=1000, transaction_retries=1) as opensm, \
            Client(socket_of(simulation.folder)) as client:
        client.greeting()
        topology, tree = look(simulation)
        leaf = topology.leaf(topology.hosts[0])
        emulated.fault(leaf, "silent", attribute=LFT, method="set")
        since = len(opensm.log())
        simulation.command(f'Unlink "S-{leaf:016x}"[{tree.cables(leaf)[0]}]')
        opensm.process.send_signal(signal.SIGHUP)
        opensm.wait_for("ERRORS DURING INITIALIZATION", since)
        client.until_answered()
        topology, tree = look(simulation)
        near, far = topology.hosts[0], topology.hosts[-1]
        flows = [(near, far), (far, near)]
        for seed in range(8):  # until the leaf's own entry is to change
            result = client.set_at_rest(1, key_of(tree, flows, 1, seed))
            if result.status != DONE:
                break
        assert result.status == FAILED and f"0x{leaf:016x} has not acknowledged" in result.reason, result
        emulated.heal()
        opensm.sweep()
        client.until_answered()
        client.set_done(1, key_of(tree, flows, 1))
        assert holds(held_by(simulation), key_of(tree, flows, 1))
