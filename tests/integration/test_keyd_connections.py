# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd with many, slow and half-open clients; and over TCP with MUNGE and tokens."""

import contextlib
import hashlib
import http.client
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

import pytest

import slurm_sim
import test_keyd_hostile as hostile
from fabric_sim import PATIENCE
from keyd_testing import Answer, FakeManager, Keyd, check_answer, host_names, netlist, wait_for

IMPATIENT = 2  # seconds, in place of the default of 30
SENT_MOST = 256e6  # bytes, many times what the buffers of sockets hold
ROUNDS_AT_REST = 20
LOOKS = 10


@pytest.fixture(name="keyd")
def start_keyd(tmp_path):
    """One that drops no client for being slow: the machine may be busy."""
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, patience_s=PATIENCE, max_connections=1200)
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    keyd.start()
    yield keyd
    assert keyd.stop() == 0, keyd.log()


@pytest.fixture(name="impatient")
def start_impatient(keyd):
    """One that drops clients soon."""
    keyd.stop()
    keyd.options["patience_s"] = IMPATIENT
    keyd.start()
    return keyd


def opened(keyd, data=b""):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(PATIENCE)
    stream.connect(str(keyd.socket))
    stream.sendall(data)
    return stream


def read_all(stream):
    received = b""
    try:
        while more := stream.recv(65536):
            received += more
    except ConnectionResetError:
        pass
    return received


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_thousand_connections():
    """1,000 connections at the same time are all served, several times; more than the limit get 503 and
    may send little, except for schedulers, who may be named while heddle-keyd runs."""
    with hostile.running(max_connections=1200, max_user_connections=1200, scheduler_uids=12345) as keyd:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        streams = [hostile.opened(keyd, hostile.OTHER) for _ in range(1000)]
        for _ in range(3):
            for stream in streams:
                stream.sendall(request)
            for stream in streams:
                assert stream.recv(4096).startswith(b"HTTP/1.1 200 OK")
        assert keyd.metrics()["connections"] == 1001
        more = [hostile.opened(keyd, hostile.OTHER) for _ in range(200)]
        wait_for(lambda: keyd.metrics()["connections"] == 1201, "all connections")
        answer = read_all(hostile.opened(keyd, hostile.OTHER, request))
        assert answer.startswith(b"HTTP/1.1 503 ") and b"Retry-After" in answer and b"_connections" in answer
        long = b"PUT /v1/jobs/1 HTTP/1.1\r\nContent-Length: 100000\r\n\r\n"
        assert read_all(hostile.opened(keyd, hostile.OTHER, long)).startswith(b"HTTP/1.1 413 ")
        keyd.options["scheduler_uids"] = hostile.OTHER
        keyd.write_config()
        keyd.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "scheduler_uids and hosts_file again" in keyd.log(), "the new schedulers")
        extra = hostile.opened(keyd, hostile.OTHER, request)
        assert extra.recv(4096).startswith(b"HTTP/1.1 200 OK")
        for stream in [extra, *streams, *more]:
            stream.close()
        wait_for(lambda: keyd.metrics()["connections"] == 1, "the end of all connections")
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_slow_and_half_open_clients(impatient):
    """Clients that send nothing, half a request, or a byte now and then are dropped after the time, not before;
    others are served meanwhile."""
    keyd, begin = impatient, time.monotonic()
    silent = [opened(keyd) for _ in range(5)]
    half = [opened(keyd, b"PUT /v1/jobs/1 HTTP/1.1\r\nContent-Length: 100\r\n\r\n{") for _ in range(5)]
    head = [opened(keyd, b"GET /healthz HT") for _ in range(5)]
    slow = opened(keyd, b"GET /healthz HTTP/1.1\r\nX: ")
    with pytest.raises(OSError):  # the end of the connection
        for _ in range(100000):
            slow.sendall(b"y")
            assert keyd.get("/healthz").status == 200
            time.sleep(0.1)
    assert time.monotonic() - begin >= IMPATIENT
    for stream in silent + half + head:
        assert read_all(stream) == b""
    assert keyd.metrics()['dropped_total{status="408"}'] >= 1
    assert keyd.metrics()["connections"] == 1


def test_client_that_does_not_read(impatient):
    """A client that does not read its answers is dropped after the time."""
    keyd = impatient
    keyd.place("1", keyd.hosts, "alltoall")
    stream = opened(keyd)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.settimeout(0.2)
    try:
        while True:
            stream.sendall(b"GET /v1/jobs/1 HTTP/1.1\r\n\r\n" * 100)
    except OSError:
        pass
    wait_for(lambda: keyd.metrics()["connections"] == 1, "the end of the connection")
    stream.close()


# ---- TCP ----

@pytest.fixture(name="munge", scope="module")
def start_munge(tmp_path_factory):
    """A munged of its own. Its socket."""
    if not shutil.which("munged") and not os.path.exists("/usr/sbin/munged"):
        pytest.skip("munged is not installed")
    folder = tmp_path_factory.mktemp("munge")
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    process = subprocess.Popen(
        [shutil.which("munged") or "/usr/sbin/munged", "--foreground", "--force", f"--socket={folder}/s",
         f"--key-file={key}", f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for((folder / "s").exists, "munged")
    yield folder / "s"
    process.terminate()
    process.wait(PATIENCE)


class Remote:
    """A client of keyd over TCP."""

    def __init__(self, keyd, munge):
        self.port = int(keyd.options["tcp"].rsplit(":", 1)[1])
        self.munge = munge

    def digest(self, method, path, body):
        return hashlib.sha256(f"{method} {path}\n{body}".encode()).hexdigest()

    def credential(self, payload, *options):
        done = subprocess.run(["munge", f"--socket={self.munge}", "--string", payload, *options], capture_output=True,
                              text=True, check=True)
        return done.stdout.strip()

    def call(self, method, path, body="", authorization=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": authorization} if authorization else {}
        connection.request(method, path, body=body if method in ("PUT", "POST") else None, headers=headers)
        answer = Answer(connection.getresponse())
        check_answer(method, path, answer)
        connection.close()
        return answer

    def sign(self, method, path, body="", *options):
        body = body if method in ("PUT", "POST") else ""
        return "MUNGE " + self.credential(self.digest(method, path, body), *options)

    def signed(self, method, path, body="", *options):
        return self.call(method, path, body, self.sign(method, path, body, *options))


@pytest.fixture(name="remote")
def start_remote(tmp_path, munge):
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, tcp=f"127.0.0.1:{slurm_sim.free_ports(1)}", munge_socket=munge, scheduler_uids=os.getuid())
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    keyd.start()
    remote = Remote(keyd, munge)
    remote.keyd = keyd
    yield remote
    assert keyd.stop() == 0, keyd.log()


PLACE = '{"hosts": ["H_0_0", "H_1_0"], "pattern": "ring"}'


def test_munge(remote):
    """Over TCP, calls need a credential for this very request, or a token; reading needs none."""
    assert remote.call("GET", "/v1/jobs").status == 200
    assert remote.call("PUT", "/v1/jobs/1", PLACE).status == 401
    assert "MUNGE" in remote.call("PUT", "/v1/jobs/1", PLACE).headers["WWW-Authenticate"]
    assert remote.signed("PUT", "/v1/jobs/1", PLACE).status == 200
    assert remote.signed("POST", "/v1/jobs/1/request", "{}").json["ready"]
    assert remote.signed("POST", "/v1/jobs/1/done", "{}").status == 200
    assert remote.signed("DELETE", "/v1/jobs/1").status == 200


def test_bad_credentials(remote):
    """Replayed, expired, foreign and damaged credentials, and those for other requests, are refused."""
    sign = remote.sign("PUT", "/v1/jobs/1", PLACE)
    for method, path, body in (("PUT", "/v1/jobs/2", PLACE), ("PUT", "/v1/jobs/1", PLACE + " "),
                               ("DELETE", "/v1/jobs/1", "")):
        fresh = remote.sign("PUT", "/v1/jobs/1", PLACE)
        answer = remote.call(method, path, body, fresh)
        assert answer.status == 401 and "another request" in answer.json["detail"]
    assert remote.call("PUT", "/v1/jobs/1", PLACE, sign).status == 200
    answer = remote.call("PUT", "/v1/jobs/1", PLACE, sign)
    assert answer.status == 401 and "eplay" in answer.json["detail"]
    expired = remote.sign("PUT", "/v1/jobs/1", PLACE, "--ttl=1")
    time.sleep(2.1)
    answer = remote.call("PUT", "/v1/jobs/1", PLACE, expired)
    assert answer.status == 401 and "xpired" in answer.json["detail"]
    for header in ("MUNGE nonsense", "MUNGE ", "Basic cm9vdDo=", "Bearer ", "Bearer " + "0" * 64, "MUNGE MUNGE:AAAA:",
                   "MUNGE:" + "x" * 8000):
        assert remote.call("PUT", "/v1/jobs/1", PLACE, header).status == 401, header


def test_credential_of_a_foreign_realm(remote, tmp_path):
    """A credential that another munged with another key has made is refused."""
    key = tmp_path / "foreign.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    process = subprocess.Popen(
        [shutil.which("munged") or "/usr/sbin/munged", "--foreground", "--force", f"--socket={tmp_path}/fs",
         f"--key-file={key}", f"--pid-file={tmp_path}/fpid", f"--log-file={tmp_path}/flog", f"--seed-file={tmp_path}/fseed"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for((tmp_path / "fs").exists, "the other munged")
        remote.munge = tmp_path / "fs"
        assert remote.signed("PUT", "/v1/jobs/1", PLACE).status == 401
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_token(remote):
    """A token is for the hot calls of its job, and for nothing else; it ends with the job."""
    for job in "12":
        assert remote.signed("PUT", f"/v1/jobs/{job}", PLACE).status == 200
    granted = remote.signed("POST", "/v1/jobs/1/token", "{}").json
    assert granted["expires"] > 80000  # token_s is 86400 by default
    bearer = "Bearer " + granted["token"]
    for status, method, path, body in (
            (200, "POST", "/v1/jobs/1/request", "{}"), (200, "POST", "/v1/jobs/1/done", "{}"),
            (200, "PUT", "/v1/jobs/1/steps/4/layout", '{"ranks": ["H_1_0", "H_0_0"]}'), (200, "GET", "/v1/jobs/1", ""),
            (403, "POST", "/v1/jobs/2/request", "{}"), (403, "DELETE", "/v1/jobs/1", ""),
            (403, "PUT", "/v1/jobs/1", PLACE), (403, "POST", "/v1/jobs/1/token", "{}")):
        assert remote.call(method, path, body, bearer).status == status, (method, path)
    assert remote.call("POST", "/v1/jobs/1/request", "{}", bearer[:-1]).status == 401
    bearer = "Bearer " + remote.signed("POST", "/v1/jobs/1/token", "{}").json["token"]
    remote.signed("DELETE", "/v1/jobs/1")
    assert remote.call("POST", "/v1/jobs/1/request", "{}", bearer).status == 401


def test_token_expires(remote):
    """A token is refused when its time is over."""
    remote.keyd.stop()
    remote.keyd.options["token_s"] = 1
    remote.keyd.start()
    assert remote.signed("PUT", "/v1/jobs/1", PLACE).status == 200
    bearer = "Bearer " + remote.signed("POST", "/v1/jobs/1/token", "{}").json["token"]
    time.sleep(2.1)
    assert remote.call("POST", "/v1/jobs/1/request", "{}", bearer).status == 401


def resident_bytes(keyd):
    pages = pathlib.Path(f"/proc/{keyd.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def send_round(keyd, streams):
    """Sends until all streams refuse more, and lets heddle-keyd serve another client. Returns the bytes sent."""
    requests = b"GET /metrics HTTP/1.1\r\n\r\n" * 1000
    total = 0
    for stream in streams:
        with contextlib.suppress(BlockingIOError):
            while total < SENT_MOST:
                total += stream.send(requests)
    assert keyd.get("/healthz").status == 200
    return total


def test_client_that_sends_without_reading(keyd):
    """What a client sends while its answers wait for it stays in its own socket: memory stops growing."""
    streams = [opened(keyd) for _ in range(4)]
    for stream in streams:
        stream.setblocking(False)
    sent, at_rest = 0, 0
    while at_rest < ROUNDS_AT_REST:
        more = send_round(keyd, streams)
        sent += more
        at_rest = 0 if more else at_rest + 1
        assert sent < SENT_MOST, "heddle-keyd reads on, though its answers are not read"
    before = resident_bytes(keyd)
    for _ in range(ROUNDS_AT_REST):
        send_round(keyd, streams)
    assert resident_bytes(keyd) - before < 2e6
    for stream in streams:
        stream.close()


def test_no_descriptors_left(tmp_path):
    """While heddle-keyd has no descriptor for another connection, it neither spins nor fills the disk with
    messages, and it still serves those that it has; afterwards all are served."""
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    manager, keyd = FakeManager(tmp_path / "sm.sock", fabric), Keyd(tmp_path)
    keyd.preexec = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
    keyd.start()
    first = keyd.connect()
    assert keyd.get("/healthz", connection=first).status == 200
    streams = [opened(keyd) for _ in range(60)]
    wait_for(lambda: len(os.listdir(f"/proc/{keyd.process.pid}/fd")) == 48, "all descriptors")
    before = len(keyd.log())
    time.sleep(0.5)
    assert len(keyd.log()) - before < 1000
    assert keyd.get("/v1/fabric", connection=first).json["state"] == "ready"
    for stream in streams:
        stream.close()
    wait_for(lambda: keyd.get("/healthz").status == 200, "a connection")
    assert keyd.stop() == 0 and manager


def test_tokens_for_all(keyd):
    """Whoever asks for a token again and again gets the same one, so that there are tokens for others."""
    for job, hosts in (("1", keyd.hosts[:2]), ("2", keyd.hosts[2:4])):
        assert keyd.place(job, hosts).status == 200
    first = {keyd.call("POST", "/v1/jobs/1/token").json["token"] for _ in range(50)}
    second = {keyd.call("POST", "/v1/jobs/2/token").json["token"] for _ in range(50)}
    assert (len(first), len(second)) == (1, 1) and first != second


@contextlib.contextmanager
def held_call(remote, method, path, body=None):
    """A call whose credential waits for munged, which stands still within the block. Yields its connection."""
    munge, headers = remote.munge, {"Authorization": remote.sign(method, path, body or "")}

    def connections():
        return sum(line.endswith(f" {munge}\n") for line in open("/proc/net/unix", encoding="utf-8"))

    process = int((munge.parent / "pid").read_text())
    os.kill(process, signal.SIGSTOP)
    try:
        wait_for(lambda: "\nState:\tT" in pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8"),
                 "munged to stand still")
        before = connections()
        connection = http.client.HTTPConnection("127.0.0.1", remote.port, timeout=PATIENCE)
        connection.request(method, path, body=body, headers=headers)
        wait_for(lambda: connections() > before, "the question to munged")
        yield connection
    finally:
        os.kill(process, signal.SIGCONT)


def looks(keyd):
    """How often heddle-keyd's event thread has gone to sleep, and so how often it has looked at what there is to do."""
    status = pathlib.Path(f"/proc/{keyd.process.pid}/task/{keyd.process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])


def answered(keyd, call):
    return sum(value for name, value in keyd.metrics().items() if name.startswith(f'answers_total{{call="{call}"'))


def prepare_job(remote):
    """A job with several phases, which has begun none. The key of a phase has an entry of its own."""
    assert remote.keyd.place("1", remote.keyd.hosts[:8], "alltoall").status == 200


def test_abandoned_request(remote):
    """A client gives up its request for phase 0 while munged stands still, and the next phase begins. When munged goes
    on, phase 1 stays."""
    prepare_job(remote)
    with held_call(remote, "POST", "/v1/jobs/1/request", '{"phase": 0}') as connection:
        connection.close()
        assert remote.keyd.request("1", 1).json["ready"]
        held = dict(remote.keyd.manager.keys)
    wait_for(lambda: answered(remote.keyd, "request") == 2, "the end of both requests")
    assert remote.keyd.get("/v1/jobs/1").json["active"] == [1] and remote.keyd.manager.keys == held
    assert remote.keyd.metrics()["abandoned_total"] == 1


def test_late_request(remote):
    """The same while the client still waits, as it seems: the end of a connection may be lost, too. The request names
    the turn that it knows, and is refused."""
    prepare_job(remote)
    with held_call(remote, "POST", "/v1/jobs/1/request", '{"phase": 0, "turn": 0}') as connection:
        assert remote.keyd.request("1", 1).json["ready"]
    answer = Answer(connection.getresponse())
    connection.close()
    check_answer("POST", "/v1/jobs/1/request", answer)
    assert answer.status == 409 and answer.json["turn"] == 1
    assert remote.keyd.get("/v1/jobs/1").json["active"] == [1]


def test_stop_while_a_credential_is_checked(remote):
    """heddle-keyd answers the call before it ends. Without that, its event thread would wait for the threads that check
    credentials, and look at nothing any more."""
    prepare_job(remote)
    with held_call(remote, "POST", "/v1/jobs/1/request", '{"phase": 0}') as connection:
        remote.keyd.process.terminate()
        wait_for(lambda: "stopping" in remote.keyd.log(), "the signal")
        before = looks(remote.keyd)
        wait_for(lambda: looks(remote.keyd) >= before + LOOKS, "looks at what is under way")
    answer = Answer(connection.getresponse())
    connection.close()
    assert answer.status == 200 and answer.json["ready"]
    assert remote.keyd.process.wait(PATIENCE) == 0


def test_abandoned_release(remote):
    """A job that is placed again meanwhile stays, as when Slurm runs a job a second time."""
    prepare_job(remote)
    with held_call(remote, "DELETE", "/v1/jobs/1") as connection:
        connection.close()
        assert remote.keyd.release("1").status == 200
        prepare_job(remote)
    wait_for(lambda: answered(remote.keyd, "release") == 2, "the end of both calls")
    assert remote.keyd.request("1", 1).json["ready"]


def test_munged_is_away(remote):
    """Without munged, a credential cannot be checked: 503 with Retry-After, and no loss of service."""
    remote.keyd.stop()
    remote.keyd.options["munge_socket"] = "/nonexistent/munge"
    sign = remote.sign("PUT", "/v1/jobs/1", PLACE)
    remote.keyd.start()
    assert remote.call("PUT", "/v1/jobs/1", PLACE, sign).status == 503
    assert remote.keyd.get("/healthz").status == 200
