# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle drain with a live OpenSM: each block that switches take is replayed, what is drained may be pulled, and undo
restores all."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

import emulator
import fabric_sim
import flaps
import independent_check
import repair_adaptive
import repair_record
import sweep_campaign
from ar_sim import LINE
from emulator import LFT, Emulator
from fabric_sim import Simulation, Topology, changed, generate, heddle, tables, wait_until
from repair_sim import REPAIR, faults, switches_of, wait_until_ready

MISSING = fabric_sim.missing_tools() + [str(path) for path in (fabric_sim.CLOCK,) if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")

TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")
CONF = "[sweep]\ntimeout_ms = 200\nlimit_ms = 20000\n"
CABLE, LABEL = "S1_0_0[5]", "S1_0_0[5] - S2_0_0[1] (0x0000000000200000[5] - 0x0000000000200100[1])"


def drain(opensm, *words, status=0):
    """What it prints, or the message of one that is refused."""
    done = heddle("drain", "-s", opensm.drain_socket(), *words, check=False)
    assert done.returncode == status, done
    return done.stderr if status else done.stdout


def held(simulation):
    """{switch GUID: ports by LID}"""
    return tables(simulation.read_tables())


def faults_of_hosts(simulation):
    """Pairs of hosts that do not reach each other, and credit loops."""
    fabric = independent_check.read_fabric(simulation.discover().read_text())
    rows = independent_check.read_tables(simulation.read_tables().read_text(), fabric)
    starts = {place[0] for place in fabric.place.values()}
    return [(start, lid) for start in starts for lid in fabric.place
            if independent_check.follow(fabric, rows, start, lid)[1] != "arrives"]


def ibsim_port(simulation, end):
    name, port = re.match(r"(.*)\[(\d+)\]", end).groups()
    return f'"{switches_of(simulation)[name][0]}"[{port}]'


def unlink(simulation, opensm, *ends):
    """Returns OpenSM's log of the sweeps that follow."""
    since = len(opensm.log())
    simulation.command("\n".join(f"Unlink {ibsim_port(simulation, end)}" for end in ends))
    opensm.wait_for("SUBNET UP", since)
    opensm.sweep_until(" 0 entries changed")
    return opensm.log()[since:]


def relink(simulation, opensm, *ends):
    since = len(opensm.log())
    simulation.command("\n".join(f"ReLink {ibsim_port(simulation, end)}" for end in ends))
    opensm.wait_for("SUBNET UP", since)
    opensm.sweep_until(" 0 entries changed")
    return opensm.log()[since:]


@pytest.fixture(name="running")
def fixture_running(tmp_path):
    with Simulation(generate(tmp_path, *TREE), clock=True) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF) as opensm:
            opensm.sweep_until(" 0 entries changed")
            yield simulation, opensm
            assert "ERR HD" not in re.sub(r".*ERR HD17.*", "", opensm.log())


class Reader:
    """What the simulated switches take, block by block, and whether all hosts reach each other at each moment."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.fabric = independent_check.read_fabric(simulation.discover().read_text())
        self.state = repair_record.Switches(
            independent_check.read_tables(simulation.read_tables().read_text(), self.fabric),
            next(node for node, name in self.fabric.name.items() if simulation.host in (node, name)))
        self.starts = {place[0] for place in self.fabric.place.values()}
        self.offset = (simulation.folder / "clock").stat().st_size

    def follow(self):
        """(blocks that change something, faults) since the last call."""
        sets, self.offset = repair_record.read_sets(self.simulation.folder / "clock", self.offset)
        count, found = 0, []
        for one in sets:
            lids = [lid for lid in self.state.take(self.fabric, one) if lid in self.fabric.place]
            count += bool(lids)
            found += [(start, lid) for lid in lids for start in self.starts if independent_check.follow(
                self.fabric, self.state.tables, start, lid)[1] != "arrives"]
        return count, found


@pytest.mark.parametrize("names, ends", [
    ([CABLE], [CABLE]),
    (["S2_0_1"], ["S2_0_1[1]", "S2_0_1[2]", "S2_0_1[3]", "S2_0_1[4]", "S2_0_1[5]", "S2_0_1[6]", "S2_0_1[7]",
                  "S2_0_1[8]"]),
    ([CABLE, "S2_1_1[5]", "S1_3_0[6] - S2_3_1[1]"], [CABLE, "S2_1_1[5]", "S1_3_0[6]"])], ids=["cable", "switch", "three"])
def test_what_is_drained_is_pulled(running, names, ends):
    """No packet is lost at any moment. When it is pulled nothing moves, nor when it comes back. Undo restores all."""
    simulation, opensm = running
    before, reader = held(simulation), Reader(simulation)
    answer = drain(opensm, "--apply", *names)
    assert answer.count("safe to pull: ") == len(names) == len(answer.splitlines())
    blocks, lost = reader.follow()
    assert blocks and lost == []
    drained = held(simulation)
    assert drained != before and faults_of_hosts(simulation) == []
    for end in ends:  # nobody sends there any more
        guid, port = Topology(simulation.discover()).names[end.split("[")[0]], int(end.split("[")[1][:-1])
        assert port not in drained[guid] or names == ["S2_0_1"]
    assert "entries changed; lost" not in opensm.log()
    log = unlink(simulation, opensm, *ends)
    assert set(re.findall(r"(\d+) entries changed", log)) == {"0"} and faults_of_hosts(simulation) == []
    here = held(simulation)
    assert {guid: drained[guid] for guid in here} == here
    log = relink(simulation, opensm, *ends)
    assert set(re.findall(r"(\d+) entries changed", log)) == {"0"}
    assert held(simulation) == drained
    assert f"{len(names)} thing" not in log and "drained: heddle drain --list names what is" in log
    reader.follow()
    answer = drain(opensm, "--undo", *names)
    assert answer.count("in use again: ") == len(names)
    blocks, lost = reader.follow()
    assert blocks and lost == [] and held(simulation) == before
    assert drain(opensm, "--list") == "" and not faults(simulation)


def test_it_survives_a_restart(running):
    """A drained cable stays drained, also after OpenSM was killed, and undo restores the tables of before."""
    simulation, opensm = running
    before = held(simulation)
    drain(opensm, "--apply", CABLE)
    drained = held(simulation)
    for number in (signal.SIGTERM, signal.SIGKILL):
        since = restart(opensm, number)
        log = opensm.wait_for("drained: " + LABEL, since)
        assert "1 cable drained" in log and held(simulation) == drained
        assert drain(opensm, "--list") == LABEL + "\n"
    opensm.sweep_until(" 0 entries changed")
    drain(opensm, "--undo", "--all")
    assert held(simulation) == before
    assert not (simulation.folder / "heddle-drained").exists()


@pytest.mark.parametrize("full", ["no folder", "a folder in the way"])
def test_what_could_not_be_stored_is_said(tmp_path, full):
    """Such as on a full disk: the answer, --list and status say that a restarted OpenSM uses it again; until it is
    stored. After kill -9 it does."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        state = simulation.folder / "state" / "drained"
        way = state.parent if full == "no folder" else state.with_name("drained.new") / "in the way"
        conf = CONF + f"[drain]\nsocket = {simulation.folder / 'drain.sock'}\nstate = {state}\n"
        if full != "no folder":
            way.mkdir(parents=True)
        with simulation.opensm("dmodk", heddle_conf=conf) as opensm:
            opensm.sweep_until(" 0 entries changed")
            before = held(simulation)
            message = drain(opensm, "--apply", CABLE, status=1)
            assert f"safe to pull until OpenSM restarts: {LABEL}\n" in message and "safe to pull: " not in message
            assert "NOT STORED, a restarted OpenSM will not know this: " + str(state) in message
            assert "NOT STORED" in drain(opensm, "--list")
            assert "a restarted OpenSM will not know what is drained now" in heddle(
                "status", "-s", opensm.status_socket(), check=False).stdout
            restart(opensm, signal.SIGKILL)
            assert drain(opensm, "--list") == ""
            opensm.sweep_until(" 0 entries changed")
            assert held(simulation) == before
            message = drain(opensm, "--apply", CABLE, status=1)
            assert "NOT STORED" in message
            if full == "no folder":
                way.mkdir()
            else:
                way.rmdir()
                way.parent.rmdir()
            assert drain(opensm, "--apply", CABLE) == f"safe to pull: {LABEL}\n"
            assert "NOT STORED" not in drain(opensm, "--list")
            restart(opensm, signal.SIGKILL)
            assert drain(opensm, "--list") == LABEL + "\n"
            assert drain(opensm, "--undo", "--all") == f"in use again: {LABEL}\n" and not state.exists()


def test_another_place_is_used_at_once(running):
    """When heddle.conf names another file for what is drained, it is there after a sweep, and the old one is gone."""
    simulation, opensm = running
    old, new = simulation.folder / "heddle-drained", simulation.folder / "other"
    drain(opensm, "--apply", CABLE)
    assert old.exists()
    opensm.write_heddle_conf(CONF + f"[drain]\nsocket = {opensm.drain_socket()}\nstate = {new}\n")
    opensm.sweep()
    assert new.exists() and not old.exists()
    restart(opensm, signal.SIGKILL)
    assert drain(opensm, "--list") == LABEL + "\n"
    opensm.write_heddle_conf(CONF + f"[drain]\nsocket = {opensm.drain_socket()}\nstate = none\n")
    opensm.sweep()
    assert not new.exists() and drain(opensm, "--list") == LABEL + "\n"


def restart(opensm, number=signal.SIGTERM):
    """The log since then begins here."""
    opensm.process.send_signal(number)
    opensm.process.wait()
    opensm.output.close()
    since = len(opensm.log())
    opensm.__enter__()
    return since


def test_who_asks_may_hang_up(running):
    """What was asked for goes on, and a restarted OpenSM knows it: drained, and used again."""
    simulation, opensm = running
    state = simulation.folder / "heddle-drained"
    since = len(opensm.log())
    ask_and_leave(opensm, f"apply\n{CABLE}\n\n")
    opensm.wait_for("drained: " + LABEL, since)
    fabric_sim.wait_until(state.exists, "the file of what is drained")
    since = restart(opensm)
    opensm.wait_for("drained: " + LABEL, since)
    ask_and_leave(opensm, "undo-all\n\n")
    fabric_sim.wait_until(lambda: not state.exists(), "no file of what is drained")
    since = restart(opensm)
    opensm.sweep_until(" 0 entries changed")
    assert "drained: " not in opensm.log()[since:] and drain(opensm, "--list") == ""


@pytest.mark.parametrize("text, message", [
    ("", "bad file"), ("heddle-drained 2\n", "expected 'heddle-drained 1'"),
    ("heddle-drained 1\ncable 0x1 2\n", "expected a cable or a switch"),
    ("heddle-drained 1\nswitch 0x0\tx\n", "expected a cable or a switch"),
    ("heddle-drained 1\ncable 0x1 0 0x2 0\ta\tb\n", "expected a cable or a switch"),
    ("heddle-drained 1\nswitch 0x1\t" + "x" * 70 + "\n", "expected a cable or a switch"),
    ("\0\1\2", ""), ("heddle-drained 1\n" + "y" * 70000, "bytes")], ids=range(8))
def test_a_bad_file_is_said(tmp_path, text, message):
    with Simulation(generate(tmp_path, "xgft", "--children=2,2", "--parents=1,2")) as simulation:
        (simulation.folder / "heddle-drained").write_text(text)
        with simulation.opensm("dmodk", heddle_conf=CONF) as opensm:
            assert "ERR HD17" in opensm.log() and "is used again" in opensm.log()
            assert message in opensm.log() or message == "bad file"
            assert drain(opensm, "--list") == "" and not faults(simulation)


def test_who_would_be_cut_off_is_named(running):
    simulation, opensm = running
    before = held(simulation)
    assert "would cut off 4 hosts: 'H_0_0_0', 'H_0_0_1', 'H_0_0_2', 'H_0_0_3'" in drain(
        opensm, "--apply", "S1_0_0", status=1)
    assert "would cut off 1 host: 'H_0_0_2'" in drain(opensm, "--apply", "S1_0_0[3]", status=1)
    assert "would cut off 1 host: 'H_0_0_2'" in drain(opensm, "--apply", "H_0_0_2[1]", status=1)
    three = [f"S1_0_0[{port}]" for port in (5, 6, 7)]
    assert drain(opensm, "--apply", *three).count("safe to pull") == 3
    # the fourth is the last one
    assert "would cut off 4 hosts" in drain(opensm, "--apply", "S1_0_0[8]", status=1)
    assert len(drain(opensm, "--list").splitlines()) == 3
    drain(opensm, "--undo", three[1])
    assert "safe to pull: S1_0_0[8]" in drain(opensm, "--apply", "S1_0_0[8]")
    drain(opensm, "--undo", "--all")
    assert held(simulation) == before


def test_bad_names(running):
    _, opensm = running
    for words, message in ((["none"], "'none' is not a switch"), (["S1_0_0[99]"], "has ports 1 to 8"),
                           (["S1_0_0[5] - S2_0_0[2]"], "no cable joins"), (["S1_0_0["], "is no cable"),
                           (["x" * 5000], "xxx"), (["H_0_0_0"], "is a host"), (["S2_0_0", "none"], "none"),
                           (["\xff\xfe"], "is not a switch")):
        assert message in drain(opensm, "--apply", *words, status=2), words
    for words in (["none"], [CABLE], ["S2_0_0"]):
        assert "is not drained" in drain(opensm, "--undo", *words, status=2)
    assert drain(opensm, "--undo", "--all") == "nothing is drained\n"
    assert "drain: user" not in opensm.log() and drain(opensm, "--list") == ""


def talk(opensm, data, until=b"never"):
    """What the socket answers to any bytes, or the first of it."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(fabric_sim.PATIENCE)
        client.connect(str(opensm.drain_socket()))
        answer = b""
        try:
            client.sendall(data)
            if until == b"never":
                client.shutdown(socket.SHUT_WR)
            while until not in answer and (more := client.recv(65536)):
                answer += more
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def ask_and_leave(opensm, text):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(opensm.drain_socket()))
        client.sendall(text.encode())


def test_any_bytes(running):
    """What is no request is refused, and changes nothing. Others have their answers meanwhile."""
    simulation, opensm = running
    before = held(simulation)
    for data in (b"\n", b"\n\n", b"pull\n\n", b"apply\n\n", b"list\nx\n\n", b"undo-all\nx\n\n", b"apply\n\0\n\n",
                 b"undo\n\n", b"apply\n" + b"S2_0_0\n" * 2000 + b"\n"):
        assert talk(opensm, data).startswith(b"2\n"), data[:40]
    for data in (b"", b"list", b"list\n", b"apply\nS2_0_0", b"apply\nS2_0_0\n", b"x" * 70000):
        assert talk(opensm, data) == b"", data[:40]
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(opensm.drain_socket()))
        assert drain(opensm, "--list") == ""
    assert held(simulation) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_only_root_and_the_group_may_ask(running):
    simulation, opensm = running
    words = [fabric_sim.HEDDLE, "drain", "-s", opensm.drain_socket(), "--apply", "S2_0_0"]
    os.chmod(simulation.folder, 0o755)

    def ask(group):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, user=65534, group=group,
                              extra_groups=[], check=False)
        return done.returncode, done.stderr

    status, message = ask(65534)
    assert status == 2 and "only root and the group of [drain]" in message
    # the group of OpenSM's process may open the socket, but is not named in heddle.conf
    status, message = ask(0)
    assert status == 2 and "only root and the group of [drain]" in message
    assert drain(opensm, "--list") == "" and "drain: user" not in opensm.log()
    opensm.write_heddle_conf(CONF + f"[drain]\nsocket = {opensm.drain_socket()}\ngroup = daemon\n")
    opensm.sweep()
    wait_until(lambda: ask(1)[0] == 0, "the group")
    assert "drain: user 65534 asks to drain S2_0_0 (0x0000000000200100)" in opensm.log()
    assert drain(opensm, "--list") == "S2_0_0 (0x0000000000200100)\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("count", [16, 200])
def test_idle_clients_keep_nobody_out(running, count):
    """Connections of a member of the group that say nothing, or half a request. Root has its answers, and so
    has the group."""
    simulation, opensm = running
    os.chmod(simulation.folder, 0o755)
    opensm.write_heddle_conf(CONF + f"[drain]\nsocket = {opensm.drain_socket()}\ngroup = daemon\n")
    opensm.sweep()
    wait_until(lambda: opensm.drain_socket().stat().st_gid == 1, "the group")
    program = ("import socket, sys\nclients = []\n"
               f"for number in range({count}):\n"
               "    clients.append(socket.socket(socket.AF_UNIX))\n"
               "    clients[-1].settimeout(60)\n"
               f"    clients[-1].connect({str(opensm.drain_socket())!r})\n"
               "    clients[-1].sendall((b'', b'apply\\nS2')[number % 2])\n"
               "print('there', flush=True)\nsys.stdin.read()\n")
    with subprocess.Popen([sys.executable, "-c", program], user=65534, group=1, extra_groups=[], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as idle:
        assert idle.stdout.readline() == "there\n"
        for _ in range(3):
            assert drain(opensm, "--list") == ""
        done = subprocess.run([fabric_sim.HEDDLE, "drain", "-s", opensm.drain_socket(), "--list"], user=65534, group=1,
                              extra_groups=[], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "safe to pull" in drain(opensm, "--apply", "S2_0_0")
        idle.communicate("")


def test_several_at_once(running):
    """One after the other. The one that would cut off hosts, or for which there are no tables then, is refused."""
    simulation, opensm = running
    before = held(simulation)
    names = [f"S1_0_0[{port}]" for port in (5, 6, 7, 8)] + ["S1_1_1[5]", "S2_2_2"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda name: heddle("drain", "-s", opensm.drain_socket(), "--apply", name, check=False),
                             names))
    refused = [one for one in done if one.returncode]
    assert 1 <= len(refused) <= 3 and all("cut off 4 hosts" in one.stderr or "fat tree" in one.stderr
                                          for one in refused), done
    assert len(drain(opensm, "--list").splitlines()) == len(names) - len(refused)
    assert not faults_of_hosts(simulation)
    drain(opensm, "--undo", "--all")
    assert held(simulation) == before


def test_a_cable_that_is_down(running):
    """It stays out when it comes back, until it is used again."""
    simulation, opensm = running
    before = held(simulation)
    unlink(simulation, opensm, CABLE)
    lost = held(simulation)
    assert drain(opensm, "--apply", CABLE) == "safe to pull: S1_0_0[5] (0x0000000000200000[5])\n"
    assert held(simulation) == lost
    log = relink(simulation, opensm, CABLE)
    assert set(re.findall(r"(\d+) entries changed", log)) == {"0"} and held(simulation) == lost
    assert drain(opensm, "--list") == "S1_0_0[5] (0x0000000000200000[5])\n"
    drain(opensm, "--undo", CABLE)
    assert held(simulation) == before


def test_hosts_are_not_cut_off_by_later_losses(running):
    """What is drained is used again while it is the last way, and then drained again. A restart changes nothing."""
    simulation, opensm = running
    ends = [f"S1_0_0[{port}]" for port in (5, 6, 7, 8)]
    drain(opensm, "--apply", *ends[:2])
    log = unlink(simulation, opensm, *ends[2:])
    assert "what is drained is used again until that does no harm: 4 hosts would be cut off" in log
    assert not faults_of_hosts(simulation)
    assert "NOT SAFE TO PULL" in drain(opensm, "--list")
    done = heddle("status", "-s", opensm.status_socket(), check=False)
    assert done.returncode == 1 and "is used again, do not pull it" in done.stdout
    opensm.wait_for("is used again until that does no harm: 4 hosts would be cut off", restart(opensm))
    assert drain(opensm, "--list").count("\n") == 3 and not faults_of_hosts(simulation)
    relink(simulation, opensm, *ends[2:])
    assert drain(opensm, "--list").count("\n") == 2 and not faults_of_hosts(simulation)
    node = Topology(simulation.discover()).names["S1_0_0"]
    assert not {5, 6} & set(held(simulation)[node][1:200])


def test_undo_is_never_refused(running):
    """Less drained is never worse. Also if what is left drained would still cut hosts off: that stays in use."""
    simulation, opensm = running
    ends = [f"S1_0_0[{port}]" for port in (5, 6, 7, 8)]
    drain(opensm, "--apply", *ends[:2], "S2_3_3")
    unlink(simulation, opensm, *ends[2:])
    assert "NOT SAFE TO PULL" in drain(opensm, "--list")
    answer = drain(opensm, "--undo", "S2_3_3")
    assert "in use again: S2_3_3" in answer and answer.count("NOT SAFE TO PULL, routing uses it: S1_0_0[") == 2
    assert "the reason: 4 hosts would be cut off" in answer
    answer = drain(opensm, "--undo", ends[0])
    assert f"in use again: {ends[0]}" in answer and "NOT SAFE" not in answer
    assert drain(opensm, "--list").count("\n") == 1 and not faults_of_hosts(simulation)
    assert "a drain is refused" not in opensm.log()


def test_undo_while_no_engine_of_heddle_routes(tmp_path):
    """It is not drained any more, but the answer does not say that it is in use."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF) as opensm:
            opensm.sweep_until(" 0 entries changed")
            before = held(simulation)
            drain(opensm, "--apply", "S2_3_3")
            since = len(opensm.log())
            lost = ["S1_0_0[5]", "S1_0_0[6]", "S1_0_0[7]", "S1_1_1[5]", "S1_2_2[6]", "S1_0_1[8]"]
            simulation.command("\n".join(f"Unlink {ibsim_port(simulation, end)}" for end in lost))
            opensm.wait_for("SUBNET UP", since)
            wait_until(lambda: "not of Heddle" in heddle("status", "-s", opensm.status_socket(), check=False).stdout,
                       "an engine of OpenSM")
            assert drain(opensm, "--undo", "--all").startswith(
                "not drained any more, used when an engine of Heddle routes: S2_3_3")
            assert drain(opensm, "--list") == ""
            assert "the tables in force are not Heddle's" in drain(opensm, "--apply", "S2_3_3", status=1)
            relink(simulation, opensm, *lost)
            assert held(simulation) == before


@pytest.mark.skipif(bool(emulator.missing()), reason=f"needs {emulator.missing()}")
def test_somebody_else_undoes_it(tmp_path):
    """Who waits until it is safe to pull hears that it will not be."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF, options={"transaction_timeout": 100}) as opensm:
            opensm.sweep_until(" 0 entries changed")
            emulated.fault(Topology(simulation.discover()).names["S1_0_0"], "silent", attribute=LFT, method="set")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                waits = pool.submit(heddle, "drain", "-s", opensm.drain_socket(), "--apply", CABLE, check=False)
                opensm.wait_for("what is drained is not safe to pull yet: ")
                assert "in use again: " + CABLE in drain(opensm, "--undo", CABLE)
                done = waits.result()
            assert done.returncode == 1 and "safe to pull: " not in done.stdout
            assert "NOT SAFE TO PULL, somebody else has undone it meanwhile: " + CABLE in done.stderr


def test_a_name_that_two_have(tmp_path):
    """Such as a description of a vendor: it is refused and never printed. GUIDs take what is drained back, in any form, also
    after the pull."""
    netlist = generate(tmp_path, *TREE)
    netlist.write_text(re.sub('"S2_0_[01]"', '"Quantum Mellanox Technologies"', netlist.read_text()))
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF) as opensm:
            opensm.sweep_until(" 0 entries changed")
            before, guids = held(simulation), ("0x0000000000200100", "0x0000000000200110")
            for name in ("Quantum Mellanox Technologies", "Quantum Mellanox Technologies[1]"):
                message = drain(opensm, "--apply", name, status=2)
                assert "means 2 switches, give a GUID instead" in message and all(guid in message for guid in guids)
            assert drain(opensm, "--apply", "0x200100") == f"safe to pull: {guids[0]}\n"
            assert drain(opensm, "--apply", "0x200110[2]") == (
                f"safe to pull: {guids[1]}[2] - S1_0_1[6] ({guids[1]}[2] - 0x0000000000200010[6])\n")
            assert "Quantum" not in drain(opensm, "--list") + opensm.log()[opensm.log().index("drain: user"):]
            assert "means 2 switches" in drain(opensm, "--undo", "Quantum Mellanox Technologies", status=2)
            ends = [f"S1_0_{leaf}[5]" for leaf in range(4)] + [f"S3_0_{top}[1]" for top in range(4)]
            unlink(simulation, opensm, *ends)
            restart(opensm, signal.SIGKILL)
            assert guids[0] in drain(opensm, "--list") and "Quantum" not in drain(opensm, "--list")
            assert "means 2 switches" in drain(opensm, "--undo", "Quantum Mellanox Technologies", status=2)
            assert drain(opensm, "--undo", "0x200100", "0x0200110[2]").count("in use again: 0x") == 2
            relink(simulation, opensm, *ends)
            assert held(simulation) == before


def test_an_engine_that_refuses(running):
    """dmodk needs a tree. A drain that leaves none is refused, and all stays as it is; less is drained."""
    simulation, opensm = running
    before = held(simulation)
    names = ["S1_0_0[5]", "S1_0_0[6]", "S1_0_0[7]", "S1_1_1[5]", "S2_2_2", "S1_0_1[8]"]
    assert "not a fat tree" in drain(opensm, "--apply", *names, status=1)
    assert "ERR HD17: a drain is refused" in opensm.log()
    assert drain(opensm, "--list") == "" and held(simulation) == before and not faults(simulation)
    assert drain(opensm, "--apply", *names[:3]).count("safe to pull") == 3
    drain(opensm, "--undo", "--all")
    assert held(simulation) == before


def test_without_a_proved_order(tmp_path):
    """On tori not each change has one. Such a drain is refused, and done if that is asked for."""
    netlist = generate(tmp_path, *flaps.FABRICS["torus"][0])
    with Simulation(netlist) as simulation:
        with simulation.opensm("spf", heddle_conf=CONF, options={"qos": "TRUE"}) as opensm:
            opensm.sweep_until(" 0 entries changed")
            before = held(simulation)
            fabric = independent_check.read_fabric(simulation.discover().read_text())
            cables = sorted(near for near, far in fabric.cable.items() if {near[0], far[0]} <= fabric.switches)
            for first, second, third in zip(cables, cables[7:], cables[19:]):
                words = [f"0x{node[2:]}[{port}]" for node, port in (first, second, third)]
                done = heddle("drain", "-s", opensm.drain_socket(), "--apply", *words, check=False)
                if "no order of the changes is proved" in done.stderr:
                    break
                drain(opensm, "--undo", "--all")
            else:
                pytest.fail("each change has a proved order")
            assert done.returncode == 1 and drain(opensm, "--list") == ""
            answer = drain(opensm, "--apply", "--unproved", *words)
            assert answer.count("safe to pull") == 3
            assert re.search(r"\d+ entries were written without a proved order; the log says why", answer)
            assert "ERR HD16" in opensm.log() and not faults_of_hosts(simulation)
            drain(opensm, "--undo", "--all")
            assert held(simulation) == before


def test_status_and_metrics(running):
    _, opensm = running

    def part():
        done = heddle("status", "--json", "-s", opensm.status_socket(), check=False)
        return json.loads(done.stdout)["parts"]

    assert part()["drain"] == {"summary": "nothing", "count": 0, "drained": [], "faults": []}
    drain(opensm, "--apply", CABLE, "S2_3_3")
    found = part()
    assert found["drain"]["summary"] == "1 cable and 1 switch" and found["drain"]["count"] == 2
    assert [one["text"] for one in found["drain"]["drained"]] == [LABEL, "S2_3_3 (0x00000000002001f0)"]
    assert found["fabric"]["lost_cables"] == found["fabric"]["lost_switches"] == 0
    shown = heddle("status", "-s", opensm.status_socket()).stdout
    assert f"drained: {LABEL}" in shown and "All is well." in shown
    assert "heddle_drained 2" in heddle("metrics", "-s", opensm.status_socket()).stdout


EVENTS = ["drain", "undo", "drain", "drain", "lost", "undo", "back", "drain", "again", "drain", "engine", "undo", "lost",
          "drain", "back", "undo"]


@pytest.mark.parametrize("fabric, engines, groups", [
    ("two-level-sharp", ("dmodk", "updown"), 0), ("torus", ("spf", "updown"), 0), ("two-level", ("dmodk", "spf"), 4),
    ("irregular", ("updown", "spf"), 0)])
def test_each_block_is_safe(tmp_path, fabric, engines, groups):
    """Although sweeps are not ordered otherwise: with what is drained as part of the fabric, no block closes a loop or a
    credit loop with what the switches hold, and OpenSM writes nothing afterwards."""
    netlist = generate(tmp_path, *flaps.FABRICS[fabric][0])
    found = []
    tally = sweep_campaign.run(netlist, engines, "drains", EVENTS, lambda kind, what, faults, _: found.extend(
        f"{kind} {what}: {one}" for one in faults if kind in ("drain", "undo")), groups=groups, conf=CONF)
    assert found == []
    assert tally["sweeps in order"] > 3 and tally["blocks in order"] > 20, tally
    assert tally["drains that were refused"] < 5, tally
    assert "level" not in fabric or not tally["entries not proved"], tally


class Apart(repair_adaptive.Adaptive):
    """Switches with adaptive routing send by their tables of it alone, on all service levels and transports."""

    def ports(self, switch, lid):
        entry = self.held.get(switch)
        if entry and entry.enabled and lid in entry.entries:
            return entry.ports(lid)
        return {self.plain.get(switch, {}).get(lid, independent_check.NO_ENTRY)} - {independent_check.NO_ENTRY}


class AdaptiveReader(Reader):
    """The same with adaptive routing: over all ports that a switch may choose, no packet goes round or is lost."""

    def __init__(self, simulation, emulated):
        super().__init__(simulation)
        self.record = simulation.folder / "ar-record"
        emulated.record(self.record)
        self.adaptive = Apart(emulated.tables(), self.state.tables)
        self.record_offset = 0

    def follow(self):
        self.mixed = False  # adaptive routing was on while forwarding tables changed
        plain, self.offset = repair_record.read_sets(self.simulation.folder / "clock", self.offset)
        groups, self.record_offset = repair_adaptive.read_sets(self.record, self.record_offset)
        count, found = 0, []
        for one in sorted(plain + groups, key=lambda item: item.when):
            is_plain = isinstance(one, repair_record.Set)
            switch = self.state.target(self.fabric, one.path) if is_plain else one.switch
            lids = self.state.take(self.fabric, one) if is_plain else self.adaptive.take(one)
            count += bool(lids)
            self.mixed |= bool(is_plain and lids and any(held.enabled for held in self.adaptive.held.values()))
            hosts = [lid for lid in lids if lid in self.fabric.place]
            found += [("round", switch, lid) for lid in self.adaptive.looping(self.fabric, switch, hosts)]
            found += [("lost", *lost) for lost in (self.adaptive.lost(self.fabric) if lids else ())]
        return count, found


@pytest.mark.skipif(bool(emulator.missing()), reason=f"needs {emulator.missing()}")
def test_adaptive_routing(tmp_path):
    """No packet is lost or goes round, whatever switches choose at any moment. Then no group has a port that leads to what
    is drained."""
    emulated = Emulator()
    netlist = generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    with Simulation(netlist, emulator=emulated, clock=True) as simulation:
        with simulation.opensm("ar_dmodk", heddle_conf=CONF) as opensm:
            opensm.wait_for_match(LINE)
            opensm.sweep_until(" 0 entries changed")
            before, groups = held(simulation), emulated.tables()
            leaf = Topology(simulation.discover()).names["S1_0"]
            assert any(5 in ports for ports in groups[leaf]["groups"].values())
            reader = AdaptiveReader(simulation, emulated)
            for name, label in (("S1_0[5]", "S1_0[5] - S2_0[1] (0x0000000000200000[5] - 0x0000000000200040[1])"),
                                ("S2_0", "S2_0 (0x0000000000200040)")):
                since = len(opensm.log())
                assert drain(opensm, "--apply", name) == f"safe to pull: {label}\n"
                now = emulated.tables()[leaf]
                assert now["enabled"] and not any(5 in ports for ports in now["groups"].values())
                assert re.search(LINE, opensm.log()[since:]) and not faults_of_hosts(simulation)
                blocks, wrong = reader.follow()
                assert blocks and wrong == [] and not reader.mixed
                drain(opensm, "--undo", "--all")
                opensm.wait_for_match(LINE, since)
                wait_until(lambda: any(5 in ports for ports in emulated.tables()[leaf]["groups"].values()), "the groups")
                blocks, wrong = reader.follow()
                assert blocks and wrong == [] and held(simulation) == before


@pytest.mark.skipif(bool(emulator.missing()), reason=f"needs {emulator.missing()}")
def test_a_switch_that_takes_no_table(tmp_path):
    """Nothing is said to be safe before it has taken it."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *TREE), emulator=emulated) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF, options={"transaction_timeout": 100}) as opensm:
            opensm.sweep_until(" 0 entries changed")
            leaf = Topology(simulation.discover()).names["S1_0_0"]
            emulated.fault(leaf, "silent", attribute=LFT, method="set")
            done = talk(opensm, b"progress\napply\n" + CABLE.encode() + b"\n\n", b"forwarding table\n").decode()
            assert f"wait: switch {leaf:#018x} has not got its forwarding table\n" in done and "safe to" not in done
            words = [fabric_sim.HEDDLE, "drain", "-s", opensm.drain_socket(), "--apply", CABLE]
            with subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True) as waits:
                assert any(f"heddle: waiting: switch {leaf:#018x} has not got its" in line for line in waits.stderr)
                waits.terminate()
            assert 5 in held(simulation)[leaf]
            done = heddle("status", "-s", opensm.status_socket(), check=False)
            assert done.returncode == 1 and "not safe to pull yet" in done.stdout
            assert f"switch {leaf:#018x} has not got its forwarding table: it keeps older entries" in done.stdout
            assert drain(opensm, "--list").startswith(f"{LABEL}\nNOT SAFE TO PULL YET: ")
            emulated.heal()
            assert "safe to pull: " + LABEL in drain(opensm, "--apply", CABLE)
            assert 5 not in held(simulation)[leaf] and not faults_of_hosts(simulation)
            assert "forwarding table" not in heddle("status", "-s", opensm.status_socket(), check=False).stdout


def test_a_repair_does_not_see_what_is_drained(tmp_path):
    """With repairs before the sweep, too, nothing happens when it is pulled."""
    with Simulation(generate(tmp_path, *TREE), clock=True) as simulation:
        with simulation.opensm("dmodk", heddle_conf=CONF + REPAIR) as opensm:
            opensm.sweep_until(" 0 entries changed")
            drain(opensm, "--apply", CABLE, "S2_3_3")
            wait_until_ready(opensm)
            before, reader = held(simulation), Reader(simulation)
            log = unlink(simulation, opensm, CABLE, *(f"S2_3_3[{port}]" for port in range(1, 9)))
            assert "repaired" not in log and set(re.findall(r"(\d+) entries changed", log)) == {"0"}
            blocks, lost = reader.follow()
            assert not blocks and lost == [] and not faults_of_hosts(simulation)
            here = held(simulation)
            assert {guid: before[guid] for guid in here} == here
