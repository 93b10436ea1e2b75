# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""SMPs to many switches at once, through libibumad: tables are read back as they are, whatever the
window, and switches that do not answer hold nobody up."""

import errno
import subprocess
import time

import emulator
import fabric_sim
import pytest
from emulator import LFT, Emulator
from fabric_sim import BUILD, PATIENCE, Simulation, Topology, generate, tables

CLIENT = BUILD / "tests" / "integration" / "smp_client"
missing = fabric_sim.missing_tools() + emulator.missing() + ([] if CLIENT.exists() else [str(CLIENT)])
pytestmark = pytest.mark.skipif(bool(missing), reason=f"missing: {missing}")

SURE = f"timeout={1000 * PATIENCE}"  # no SMP is repeated because the machine is busy
TREE = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")  # 108 switches, 216 hosts


class Fabric:
    """A routed fabric, its switches, and what dump_fts says of their tables."""

    def __init__(self, simulation):
        self.simulation = simulation
        simulation.opensm("minhop").once()
        self.topology = Topology(simulation.discover())
        self.switches = sorted(self.topology.switches)
        self.entries = tables(simulation.read_tables())
        host = int(simulation.host.removeprefix("H-"), 16)
        self.paths = {host: ()}
        waiting = [host]
        for node in waiting:
            for (near, port), (far, _) in sorted(self.topology.peer.items()):
                if near == node and far not in self.paths and (node == host or node in self.topology.switches):
                    self.paths[far] = (*self.paths[node], port)
                    waiting.append(far)

    def addresses(self, directed):
        if directed:
            return [f"path {','.join(map(str, self.paths[guid]))}" for guid in self.switches]
        return [f"lid {self.topology.lids[guid][0]}" for guid in self.switches]

    def begin(self, directed, *options, preload=None):
        """A running client."""
        process = subprocess.Popen(
            [CLIENT, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.simulation.folder, env=dict(
                self.simulation.environment, LD_PRELOAD=preload or self.simulation.preload()))
        process.stdin.write("\n".join(self.addresses(directed)) + "\n\n")
        process.stdin.flush()
        return process

    def end(self, process):
        """{GUID: (result, table)} by place, and [sent, repeated, late] of each port."""
        output = process.communicate("go\n", timeout=PATIENCE)[0]
        assert process.returncode == 0
        lines = output.replace("stopped\n", "").splitlines()
        counts = [list(map(int, line.split()[1:])) for line in lines if line.startswith("counts")]
        rows = {}
        for line in lines[:len(self.switches)]:
            place, guid, _, result, *table = line.split()
            assert int(result) or int(guid, 16) == self.switches[int(place)]
            rows[self.switches[int(place)]] = (int(result), bytes.fromhex("".join(table)))
        return rows, counts

    def read(self, directed, *options, preload=None):
        return self.end(self.begin(directed, *options, preload=preload))

    def assert_whole(self, rows, without=()):
        """The tables are those of dump_fts."""
        assert len(rows) == 108
        for guid, (result, table) in rows.items():
            if guid in without:
                continue
            assert result == 0 and len(table) > 216
            assert bytes(self.entries[guid][:len(table)]) == table


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    with Simulation(generate(tmp_path_factory.mktemp("tree"), *TREE), emulator=Emulator(seed=9)) as simulation:
        yield Fabric(simulation)


@pytest.fixture
def switches(fabric):
    """Without faults."""
    fabric.simulation.emulator.heal()
    yield fabric.simulation.emulator
    fabric.simulation.emulator.heal()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("window, each", [(1, 1), (16, 2), (64, 4), (512, 8)])
def test_reads_all_tables(fabric, switches, directed, window, each):
    """All tables of 108 switches, by LID and by directed route, with one SMP for each block and two
    for each switch."""
    switches.zero()
    rows, counts = fabric.read(directed, f"window={window}", f"each={each}", SURE)
    fabric.assert_whole(rows)
    assert counts == [[108 * (2 + 6), 0, 0]]
    assert switches.totals()[LFT, "get"] == 108 * 6


def test_reads_without_emulator(tmp_path):
    """The same with ibsim alone and its own libumad2sim.so, whose descriptors poll() knows."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        fabric = Fabric(simulation)
        rows, counts = fabric.read(True, SURE)
        fabric.assert_whole(rows)
        assert counts == [[108 * 8, 0, 0]]


def test_two_ports_in_a_process(fabric, switches):
    """Two ports of one process get each its own answers."""
    rows, counts = fabric.read(True, "ports=2", SURE)
    fabric.assert_whole(rows)
    assert counts == [[54 * 8, 0, 0], [54 * 8, 0, 0]]


def test_chooses_the_port(fabric, switches):
    """A port is found by its GUID; one that is not there is refused."""
    fabric.assert_whole(fabric.read(True, "guid=0x100001", SURE)[0])
    process = fabric.begin(True, "guid=0x123")
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 1


def test_losses_are_repeated(fabric, switches):
    """With 5% of the SMPs lost all tables are read. Some SMPs may also be late."""
    switches.zero()
    switches.fault("all", "lose=5", attribute=LFT)
    rows, [[sent, repeated, _]] = fabric.read(True, "timeout=100", "retries=10")
    fabric.assert_whole(rows)
    assert repeated >= switches.lost() >= 10 and sent == 108 * 8 + repeated


def test_silent_switches(fabric, switches):
    """A third of the switches does not answer: they get four SMPs each, and the others are read."""
    silent = fabric.switches[::3]
    for guid in silent:
        switches.fault(guid, "silent", attribute="all")
    switches.zero()
    switches.watch()
    begin = time.monotonic()
    rows, _ = fabric.read(True, "timeout=200", "retries=3")
    assert time.monotonic() - begin >= 3
    switches.watch(False)
    fabric.assert_whole(rows, without=silent)
    assert {rows[guid][0] for guid in silent} == {-errno.ETIMEDOUT}
    seen = switches.counters()
    assert {sum(seen[guid].values()) for guid in silent} == {4}


def test_refusing_switches(fabric, switches):
    """A refusal comes back as such, at once."""
    refusing = fabric.switches[5]
    switches.fault(refusing, "refuse=0x1c", attribute=LFT)
    rows, counts = fabric.read(True, SURE)
    fabric.assert_whole(rows, without=[refusing])
    assert rows[refusing][0] == -errno.EREMOTEIO and counts == [[108 * 8, 0, 0]]


def test_switch_goes_down_half_way(fabric, switches):
    """A switch that dies while tables are read: its row fails, the others are whole."""
    victim = fabric.switches[-1]
    name = f"S-{victim:016x}"
    process = fabric.begin(True, "window=4", "stop=300", "timeout=300", "retries=3")
    assert process.stdout.readline() == "stopped\n"
    ports = [port for node, port in fabric.topology.peer if node == victim]
    for port in ports:
        fabric.simulation.command(f'Unlink "{name}"[{port}]')
    rows, _ = fabric.end(process)
    for port in ports:
        fabric.simulation.command(f'ReLink "{name}"[{port}]')
    lost = {guid for guid, (result, _) in rows.items() if result}
    assert victim in lost
    assert all(rows[guid][0] in (-errno.ETIMEDOUT, -errno.EHOSTDOWN) for guid in lost)
    # besides the victim only switches whose directed route led through it
    assert len(lost) < 20
    fabric.assert_whole(rows, without=lost)


def test_opensm_beside_us(fabric, switches):
    """OpenSM sweeps while tables are read: neither disturbs the other."""
    with fabric.simulation.opensm("minhop", options=fabric_sim.SURE) as opensm:
        process = fabric.begin(False, "window=2", "each=1", SURE)
        opensm.sweep()
        rows, _ = fabric.end(process)
        fabric.assert_whole(rows)
        assert "ERR" not in opensm.log()
