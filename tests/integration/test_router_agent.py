# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-router without a fabric: what it does with files at the path of its control socket, and how it repeats
lists to the plugins."""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess

import pytest

from fabric_sim import BUILD, PATIENCE, stop, wait_until
from router_plugin import ACCEPTED, FOREIGN, Plugin

AGENT = BUILD / "ir_router" / "agent" / "heddle-router"
pytestmark = pytest.mark.skipif(not AGENT.exists(), reason=f"missing: {AGENT}")
NEAR, FAR = 0xFEC0000000000001, 0xFEC0000000000002


def configure(folder, control=None, **more):
    values = {"node_guid": "0x300000", "control": control or folder / "control", "advertise_ms": 200, **more}
    conf = folder / "heddle.conf"
    subnets = [f"[router.subnet {prefix:#x}]\nsocket = {folder}/{name}\nsmp = no\n"
               for prefix, name in ((NEAR, "near"), (FAR, "far"))]
    conf.write_text("[router]\n" + "".join([f"{key} = {value}\n" for key, value in values.items()] + subnets), errors="surrogateescape")
    return conf


@contextlib.contextmanager
def running(folder, control, **more):
    log = folder / "agent.log"
    with log.open("ab") as output:
        process = subprocess.Popen([AGENT, "--config", configure(folder, control, **more)], stderr=output, cwd=folder)
    try:
        wait_until(lambda: answers(control) or process.poll() is not None, "the control socket")
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        stop(process)


def answers(control):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(control))
        except OSError:
            return False
    return True


def refused(folder, control):
    done = subprocess.run([AGENT, "--config", configure(folder, control)], capture_output=True, text=True,
                          timeout=PATIENCE, cwd=folder, check=False)
    assert done.returncode == 1
    return done.stderr


def test_files_stay(tmp_path):
    """What is no socket stays, and so does the file that a link leads to."""
    control, victim = tmp_path / "control", tmp_path / "victim"
    control.write_text("precious")
    assert f"{control}: there is a file that is no socket; it stays" in refused(tmp_path, control)
    assert control.read_text() == "precious"
    control.rename(victim)
    control.symlink_to(victim)
    assert "no socket; it stays" in refused(tmp_path, control)
    assert control.is_symlink() and victim.read_text() == "precious"
    assert "is no absolute path" in refused(tmp_path, "127.0.0.1:80")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_sockets_of_others_stay(tmp_path):
    """A dead socket of another user is not removed, not even by root."""
    control = tmp_path / "control"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(control))
    os.chown(control, 65534, 65534)
    assert f"{control}: there is a socket of another user; it stays" in refused(tmp_path, control)
    assert control.is_socket()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away; CI runs as root")
@pytest.mark.parametrize("mode, owner", [(0o777, 0), (0o755, 65534)])
def test_folders_of_others(tmp_path, mode, owner):
    """No socket is where other users can exchange it."""
    control = tmp_path / "place" / "control"
    control.parent.mkdir()
    os.chown(control.parent, owner, owner)
    control.parent.chmod(mode)
    assert f"{control}: users other than root can change {control.parent}" in refused(tmp_path, control)
    assert not control.exists()


def test_own_sockets(tmp_path):
    """Its own socket of a run that was killed is replaced, that of a running agent is not. At the end it removes its
    socket, and nothing that somebody has put in its place. It makes the folder."""
    control = tmp_path / "made" / "control"
    with running(tmp_path, control) as process:
        assert control.stat().st_mode & 0o777 == 0o660
        assert f"{control}: another heddle-router is running" in refused(tmp_path, control)
        assert answers(control)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    assert control.is_socket()
    with running(tmp_path, control):
        pass
    assert not control.exists()
    with running(tmp_path, control):
        control.unlink()
        control.write_text("precious")
    assert control.read_text() == "precious"


def test_names_that_are_no_text(tmp_path):
    """A table has all subnets, also one whose socket has a name that no JSON can have."""
    folder = tmp_path / os.fsdecode(b"odd\x1b[2J\x9b\xff")
    folder.mkdir()
    with running(folder, tmp_path / "control"):
        done = subprocess.run([AGENT, "show", "subnets", "--json", "--control", tmp_path / "control"], capture_output=True,
                              text=True, timeout=PATIENCE, check=True)
    assert [row["socket"] for row in json.loads(done.stdout)] == [
        rf"{tmp_path}/odd\u001b[2J\x9b\xff/{name}" for name in ("near", "far")]


def test_idle_clients_keep_nobody_out(tmp_path):
    """Of many clients that say nothing the oldest ones make room, though the agent has few descriptors; others have
    their answers."""
    control = tmp_path / "control"
    with running(tmp_path, control) as process, contextlib.ExitStack() as stack:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (100, 100))
        idle = []
        for _ in range(200):
            idle.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            idle[-1].settimeout(PATIENCE)
            wait_until(lambda: not idle[-1].connect_ex(str(control)), "a connection")
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(control))
            client.sendall(b"subnets\n")
            assert client.recv(65536).startswith(b"[")
        for client in idle[:200 - 63]:
            assert client.recv(1) == b""


def test_lists_are_repeated(tmp_path):
    """Plugins forget lists that nobody repeats, so the agent hands the hosts of each subnet over again and again, also
    when nothing changes."""
    control = tmp_path / "control"
    with Plugin(tmp_path / "near", NEAR) as near, Plugin(tmp_path / "far", FAR) as far, running(tmp_path, control):
        wait_until(lambda: near.greetings and far.greetings, "greetings")
        far.send_epoch([], [(5, 0, 0, 9), (6, 0, 1, 10)])
        near.send_epoch([], [(7, 0, 0, 9)])
        for _ in range(4):
            message = near.next(FOREIGN)
            assert message.body == (FAR, 2, 0, 2, 1) and message.epoch == 1
            assert far.next(FOREIGN).body == (NEAR, 1, 0, 1, 1)


def test_an_epoch_goes_back(tmp_path):
    """A plugin whose clock was set back begins with a lower epoch: its lists count, and the log says so."""
    control = tmp_path / "control"
    with Plugin(tmp_path / "near", NEAR) as near, Plugin(tmp_path / "far", FAR) as far, \
            running(tmp_path, control, advertise_ms=20000):
        wait_until(lambda: near.greetings and far.greetings, "greetings")
        near.send_epoch([], [(7, 0, 0, 9)])
        far.epoch = 900
        far.send_epoch([], [(5, 0, 0, 9)])
        assert far.next(ACCEPTED).epoch == 901
        far.drop()
        wait_until(lambda: far.greetings == 2, "another connection")
        far.epoch = 19
        far.send_epoch([], [(5, 0, 0, 9), (6, 0, 1, 10)])
        assert far.next(ACCEPTED).epoch == 20
        wait_until(lambda: near.next(FOREIGN).epoch == 20, "the new list")
        log = (tmp_path / "agent.log").read_text()
        assert re.search(r"subnet 0xfec0000000000002: its epochs have gone back from 901 to 20", log), log
