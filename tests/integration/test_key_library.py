# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libheddle-key.so as programs load it, against a real heddle-keyd: over its socket and, with MUNGE,
over TCP."""

import ctypes
import errno
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest

import keyd_testing
import slurm_sim
from cli_testing import HEDDLE
from fabric_sim import BUILD, PATIENCE, sbin_path
from keyd_testing import FakeManager, Keyd, host_names, netlist, wait_for

LIBRARY = BUILD / "keyd" / "client" / "libheddle-key.so.1"
MISSING = [str(path) for path in (LIBRARY, keyd_testing.KEYD) if not path.exists()] + [
    tool for tool in ("munged",) if not shutil.which(tool, path=sbin_path())]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")


class Problem(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("retry_after", ctypes.c_uint), ("detail", ctypes.c_char * 512)]


class Grant(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char * 160), *((name, ctypes.c_uint32) for name in (
        "phase", "offset", "sl", "contention", "blocks", "changed")),
                ("ready", ctypes.c_bool), ("reason", ctypes.c_char * 512)]


class Client:
    """The functions of the library, with a client of this address."""

    def __init__(self, address, munge=None):
        self.functions = ctypes.CDLL(LIBRARY)
        self.pointer, self.problem = ctypes.c_void_p(), Problem()
        assert self.call("new", None, address, 5000, ctypes.byref(self.pointer)) == 0, self.problem.detail
        if munge:
            assert self.call("use_munge", self.pointer, str(munge)) == 0

    def call(self, name, client, *arguments):
        """The result: 0 or a negative errno, with the reason in self.problem."""
        words = [word.encode() if isinstance(word, str) else word for word in arguments]
        first = [] if name == "new" else [client]
        return getattr(self.functions, f"hd_key_client_{name}")(*first, *words, ctypes.byref(self.problem))

    def request(self, job, phase=0):
        grant = Grant()
        assert self.call("request", self.pointer, job, "0", phase, ctypes.byref(grant)) == 0, self.problem.detail
        return grant

    def join(self, job):
        grant = Grant()
        assert self.call("join", self.pointer, job, "0", ctypes.byref(grant)) == 0, self.problem.detail
        return grant

    def done(self, job, phase=0):
        return self.call("done", self.pointer, job, "0", phase)


@pytest.fixture(name="munged", scope="module")
def munged_fixture(tmp_path_factory):
    """The process, and its socket."""
    folder = tmp_path_factory.mktemp("munge")
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o400)
    process = subprocess.Popen(
        [shutil.which("munged", path=sbin_path()), "-F", "--force", f"--socket={folder}/s", f"--key-file={folder}/key",
         f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for((folder / "s").exists, "munged")
    yield process, folder / "s"
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture(name="munge", scope="module")
def munge_fixture(munged):
    return munged[1]


@pytest.fixture(name="keyd")
def keyd_fixture(tmp_path, munge):
    fabric = netlist(tmp_path, "--children=4,4", "--parents=1,4")
    manager = FakeManager(tmp_path / "sm.sock", fabric)
    keyd = Keyd(tmp_path, tcp=f"127.0.0.1:{slurm_sim.free_ports(1)}", munge_socket=munge, token_s=600,
                scheduler_uids=os.getuid())
    keyd.start()
    keyd.hosts = host_names(fabric)
    yield keyd
    keyd.stop()
    manager.stop()


def test_a_late_end(keyd):
    """The library names the turn of its grant, so that it does not end the phase after others have begun it again. A
    client without a grant ends it."""
    assert keyd.place("a", keyd.hosts[:8], "alltoall").status == 200
    early, late = Client(str(keyd.socket)), Client(str(keyd.socket))
    early.request("a", 0)
    for phase in (1, 0):
        late.request("a", phase)
    assert early.done("a", 0) == -errno.EEXIST and b"late" in early.problem.detail
    assert keyd.get("/v1/jobs/a").json["active"] == [0]
    assert late.done("a", 0) == 0
    late.request("a", 0)
    assert Client(str(keyd.socket)).done("a", 0) == 0


def test_the_offset_of_a_rank(keyd):
    assert keyd.place("a", keyd.hosts, phases=[[[0, 5], [1, 5], [2, 5]]]).status == 200
    client = Client(str(keyd.socket))
    assert client.request("a").offset == 1
    for rank in range(3):
        client.functions.hd_key_client_use_rank(client.pointer, rank)
        assert client.request("a").offset == client.join("a").offset == rank + 1


def test_over_the_socket(keyd):
    """A phase from its beginning to its end, on one connection."""
    assert keyd.place("a", keyd.hosts[:8]).status == 200
    client = Client(str(keyd.socket))
    grant = client.request("a")
    assert (grant.key[:2], grant.offset, grant.ready, grant.contention) == (b"a.", 1, True, 1)
    assert client.done("a") == 0
    assert client.done("a") < 0 and client.problem.status == 409


def test_phases_of_several_clients(keyd):
    """Each process of a job may ask for the next phase, and for an earlier one, although it does not know what others
    have asked for. Who joins gets the phase that the step has."""
    assert keyd.place("a", keyd.hosts[:8], "alltoall").status == 200
    clients = [Client(str(keyd.socket)) for _ in range(3)]
    for number in range(8):
        grant = clients[number % 3].request("a", number % 4)
        assert (grant.phase, grant.ready, grant.offset) == (number % 4, True, 1)
        for client in clients + [Client(str(keyd.socket))]:
            assert (client.join("a").phase, client.join("a").offset) == (number % 4, 1)
    assert clients[0].request("a", 2).phase == 2 and Client(str(keyd.socket)).request("a", 0).phase == 0
    assert clients[0].request("a", 1).ready and keyd.get("/v1/jobs/a").json["active"] == [1]


def test_over_the_network_with_tokens_that_expire(keyd, munge):
    """The library gets a new token when the old one has expired, and when another heddle-keyd knows
    nothing of it. The caller sees none of this."""
    assert keyd.place("a", keyd.hosts[:8]).status == 200
    client = Client(keyd.options["tcp"], munge)
    for _ in range(3):
        assert client.request("a").offset == 1
    assert keyd.metrics()['answers_total{call="token",status="2xx"}'] == 1  # from the second call on
    keyd.kill()
    keyd.options["token_s"] = 1
    keyd.start()
    assert client.request("a").ready
    time.sleep(2.1)
    assert client.done("a") == 0, client.problem.detail
    assert keyd.metrics()['answers_total{call="token",status="2xx"}'] >= 2


def test_a_keyd_that_starts_again(keyd):
    """A client that has a connection makes another one."""
    assert keyd.place("a", keyd.hosts[:8]).status == 200
    client = Client(str(keyd.socket))
    assert client.request("a").ready
    keyd.kill()
    assert client.done("a") < 0 and b"systemctl start heddle-keyd" in client.problem.detail
    keyd.start()
    assert client.request("a").ready


def test_no_credential(keyd, tmp_path):
    """Without munged there is a reason, and no call."""
    client = Client(keyd.options["tcp"], tmp_path / "nothing")
    assert client.done("a") < 0
    assert b"is munged running?" in client.problem.detail


def timed_out(munge, host, *prefix, **environment):
    """The command ends at its time-out. That comes before what MUNGE and the resolver do themselves about a peer that
    stays silent: after ten seconds they give up with reasons of their own."""
    done = subprocess.run(
        [*prefix, HEDDLE, "key", "done", "-j", "1", "--host", host, "--timeout", "1000"], capture_output=True,
        text=True, timeout=PATIENCE, env={**os.environ, "HEDDLE_MUNGE_SOCKET": str(munge), **environment})
    assert done.returncode == 2 and "in time" in done.stderr, done.stderr
    return done.stderr


def test_silent_munged(keyd, munged):
    """A munged that has stopped keeps nobody beyond the time-out."""
    process, path = munged
    process.send_signal(signal.SIGSTOP)
    try:
        assert "munged did not answer in time" in timed_out(path, keyd.options["tcp"])
    finally:
        process.send_signal(signal.SIGCONT)


def test_silent_name_server(munge, tmp_path):
    """Nor does a name server."""
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.97\noptions timeout:5 attempts:2\n")
    (tmp_path / "nsswitch.conf").write_text("hosts: files dns\n")
    mounts = " && ".join(f"mount --bind {tmp_path}/{name} /etc/{name}" for name in ("resolv.conf", "nsswitch.conf"))
    inside = ["unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of its own for a process")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.97", 53))
        assert "cannot find the host" in timed_out(munge, "head.example:7472", *inside)
        assert server.recv(512)  # it was asked
