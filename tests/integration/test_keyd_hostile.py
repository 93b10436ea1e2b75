# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd with clients that want to keep it from serving others: what they get, and that others are served
before."""

import contextlib
import json
import os
import pathlib
import select
import socket
import tempfile

import pytest

import slurm_sim
from fabric_sim import PATIENCE
from keyd_testing import FakeManager, Keyd, host_names, netlist, wait_for

HOSTILE, OTHER = 65533, 65534  # users who are no schedulers
LINKS = b"GET /v1/links?all=1 HTTP/1.1\r\nHost: x\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
AUTHENTICATED = b"PUT /v1/jobs/1 HTTP/1.1\r\nAuthorization: MUNGE MUNGE:AAAA:\r\nContent-Length: 2\r\n\r\n{}"
SURPLUS_MOST = 64  # of keyd_http.c

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="becomes other users")


@contextlib.contextmanager
def running(children="4,4", parents="1,4", **options):
    # not among the folders of pytest: other users have to reach the socket
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        fabric = netlist(folder, "--children", children, "--parents", parents)
        manager = FakeManager(folder / "sm.sock", fabric)
        keyd = Keyd(folder, patience_s=PATIENCE, **options).start()
        keyd.manager, keyd.hosts = manager, host_names(fabric)
        try:
            yield keyd
        finally:
            status = keyd.stop()
        assert status == 0, keyd.log()


def opened(keyd, uid, data=b""):
    """A connection of another user."""
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(PATIENCE)
    os.seteuid(uid)
    try:
        stream.connect(str(keyd.socket))
    finally:
        os.seteuid(0)
    with contextlib.suppress(BrokenPipeError):  # one too many
        stream.sendall(data)
    return stream


def tcp(keyd, address, data=b""):
    port = int(keyd.options["tcp"].rsplit(":", 1)[1])
    stream = socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0))
    stream.sendall(data)
    return stream


def read_answer(stream):
    """(status, head, body); status 0: the connection ended without an answer."""
    received = b""
    try:
        while b"\r\n\r\n" not in received:
            more = stream.recv(65536)
            if not more:
                return 0, b"", b""
            received += more
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += stream.recv(65536)
    except (ConnectionResetError, BrokenPipeError):
        return 0, b"", b""
    return int(head.split()[1]), head, body


def is_answered(stream):
    return bool(select.select([stream], [], [], 0)[0])


# ---- long answers ----

def test_long_answers():
    """At most four long answers are under way, two of one user. All others get 503 at once, schedulers have places of
    their own, and a placement is answered while those answers are not read."""
    with running("12,12,12", "1,12,12") as keyd:
        hostile = [opened(keyd, HOSTILE, LINKS) for _ in range(40)]
        statuses = [read_answer(stream) for stream in hostile[2:]]
        assert {status for status, _, _ in statuses} == {503}
        assert all(b"Retry-After: 1" in head and b"max_large_answers" in body for _, head, body in statuses)
        assert keyd.place("1", keyd.hosts[:12]).status == 200
        other = [opened(keyd, OTHER, LINKS) for _ in range(3)]
        assert read_answer(other[2])[0] == 503
        assert len(keyd.get("/v1/links?all=1").json["links"]) == 6912
        for stream in hostile[:2] + other[:2]:
            status, _, body = read_answer(stream)
            assert status == 200 and len(json.loads(body)["links"]) == 6912
        hostile[0].sendall(LINKS)
        assert read_answer(hostile[0])[0] == 200
        metrics = keyd.metrics()
        assert metrics['answers_total{call="links",status="2xx"}'] == 6
        assert metrics['answers_total{call="links",status="5xx"}'] == 39


def test_long_answers_follow_changes():
    """A text that is sent again is the present one: after a request, a done, and a new fabric."""
    with running() as keyd:
        sums = []
        keyd.place("1", keyd.hosts)
        for call in (keyd.request, keyd.done, keyd.request):
            call("1")
            for _ in range(2):
                answers = [keyd.get(path).json for path in ("/v1/links", "/v1/links?all=1")]
                flows = {sum(link["flows"] for link in answer["links"]) for answer in answers}
                active = keyd.get("/v1/jobs").json["jobs"][0]["active"]
                assert keyd.get("/v1/jobs/1").json["active"] == active
                assert len(answers[1]["links"]) == 32 and len(flows) == 1
                sums.append((*flows, active))
        assert sums[0][0] > 0 and sums == [sums[0]] * 2 + [(0, [])] * 2 + [sums[0]] * 2
        keyd.release("1")
        assert keyd.get("/v1/links").json == {"links": [], "most": 0}
        assert keyd.get("/v1/jobs").json == {"jobs": []}
        larger = netlist(keyd.folder, "--children", "4,8", "--parents", "1,4")
        keyd.manager.change_fabric(larger)
        wait_for(lambda: len(keyd.get("/v1/links?all=1").json["links"]) == 64, "the new fabric")


def test_long_answers_asked_while_made():
    """A call that comes while the text of another is made gets its answer, though no later call wakes the daemon."""
    with running("12,12,12", "1,12,12") as keyd:
        first, second = opened(keyd, 0), opened(keyd, 0)
        keyd.place("1", keyd.hosts[:144])
        for turn in range(60):
            (keyd.done if turn % 2 else keyd.request)("1")  # a new text is due
            first.sendall(LINKS)
            select.select([], [], [], turn % 20 * 1e-4)  # another moment of the making in each turn
            second.sendall(LINKS)
            assert [read_answer(stream)[0] for stream in (first, second)] == [200, 200]


def test_slow_reader_loses_its_place():
    """Who does not read a long answer is dropped after patience_s, and others get the place."""
    with running("12,12,12", "1,12,12", max_large_answers=1) as keyd:
        keyd.stop()
        keyd.options["patience_s"] = 6
        keyd.start()
        slow = opened(keyd, HOSTILE, LINKS)
        wait_for(lambda: is_answered(slow), "the beginning of the answer")
        other = opened(keyd, OTHER, LINKS)
        assert read_answer(other)[0] == 503

        def is_served():
            with opened(keyd, OTHER, LINKS) as stream:
                return read_answer(stream)[0] == 200
        wait_for(is_served, "the place")
        slow.close()
        other.close()


def test_job_of_many_phases():
    """A job whose answer is long: the text is right, and long answers about it are few at a time."""
    with running("12,12", "1,12") as keyd:
        phases = [[[0, 1 + phase % 20]] for phase in range(20000)]
        placed = keyd.place("1", keyd.hosts[:24], phases=phases)
        assert placed.status == 200 and [key["phase"] for key in placed.json["keys"]] == list(range(20000))
        request = b"GET /v1/jobs/1 HTTP/1.1\r\nHost: x\r\n\r\n"
        hostile = [opened(keyd, HOSTILE, request) for _ in range(20)]
        assert {read_answer(stream)[0] for stream in hostile[2:]} == {503}
        assert keyd.request("1", 7).json["ready"]
        whole = keyd.get("/v1/jobs/1").json
        assert whole["keys"] == placed.json["keys"] and whole["active"] == [7]
        assert whole["host_names"] == keyd.hosts[:24] and whole["steps"][0]["phases"] == 20000
        assert keyd.place("1", keyd.hosts[:24], phases=phases).json == placed.json
        keyd.stop()
        keyd.start()
        assert keyd.get("/v1/jobs/1").json["keys"] == placed.json["keys"]
        for stream in hostile:
            stream.close()


# ---- connections ----

def test_half_open_connections_of_a_user():
    """A user gets max_user_connections, and 503 or the end of the connection beyond. Other users and schedulers are
    served meanwhile."""
    with running(max_user_connections=20) as keyd:
        half = [opened(keyd, HOSTILE, b"GET /healthz HT") for _ in range(20)]
        wait_for(lambda: keyd.metrics()["connections"] == 21, "all connections")
        half += [opened(keyd, HOSTILE) for _ in range(300)]
        assert read_answer(opened(keyd, OTHER, HEALTH))[0] == 200
        assert keyd.place("1", keyd.hosts).status == 200
        assert keyd.metrics()["connections"] <= 20 + SURPLUS_MOST + 2
        wait_for(lambda: keyd.metrics()["connections"] <= 22, "the end of those beyond the limit")
        refused = opened(keyd, HOSTILE, HEALTH)
        status, head, body = read_answer(refused)
        assert status == 503 and b"Retry-After" in head and b"max_user_connections" in body
        half[0].sendall(b"TP/1.1\r\nHost: x\r\n\r\n")
        assert read_answer(half[0])[0] == 200  # those within the limit are served
        half.pop(0).close()
        wait_for(lambda: read_answer(opened(keyd, HOSTILE, HEALTH))[0] == 200, "room for another one")
        wait_for(lambda: keyd.metrics()['dropped_total{status="503"}'] >= 300 - SURPLUS_MOST, "the last of the 300")
        for stream in half:
            stream.close()


def test_half_open_connections_of_an_address():
    """The same for an address over TCP."""
    with running(max_address_connections=20, tcp=f"127.0.0.1:{slurm_sim.free_ports(1)}") as keyd:
        half = [tcp(keyd, "127.0.0.2") for _ in range(20)]
        wait_for(lambda: keyd.metrics()["connections"] == 21, "all connections")
        status, head, body = read_answer(tcp(keyd, "127.0.0.2", HEALTH))
        assert status == 503 and b"Retry-After" in head and b"max_address_connections" in body
        assert read_answer(tcp(keyd, "127.0.0.3", HEALTH))[0] == 200
        assert keyd.get("/healthz").status == 200
        for stream in half:
            stream.close()


def test_room_for_schedulers():
    """Several users together get max_connections; root is served beyond."""
    with running(max_connections=30, max_user_connections=20) as keyd:
        half = [opened(keyd, uid) for uid in (HOSTILE, OTHER) for _ in range(15)]
        wait_for(lambda: keyd.metrics()["connections"] == 31, "all connections")
        status, _, body = read_answer(opened(keyd, OTHER, HEALTH))
        assert status == 503 and b"max_connections" in body
        mine = [keyd.connect() for _ in range(40)]
        assert all(keyd.get("/healthz", connection=own).status == 200 for own in mine)
        assert keyd.place("1", keyd.hosts).status == 200
        for own in [*half, *mine]:
            own.close()


# ---- MUNGE ----

def test_hung_munged():
    """While munged hangs and clients over TCP wait for it, calls on the unix socket are answered."""
    with running(tcp=f"127.0.0.1:{slurm_sim.free_ports(1)}", threads=2) as keyd:
        keyd.stop()
        keyd.options["munge_socket"] = keyd.folder / "munge"
        with socket.socket(socket.AF_UNIX) as munged:
            munged.bind(str(keyd.options["munge_socket"]))
            munged.listen(64)
            keyd.start()
            hostile = [tcp(keyd, "127.0.0.1", AUTHENTICATED) for _ in range(8)]
            wait_for(lambda: is_answered(munged), "a question for munged")
            assert keyd.place("1", keyd.hosts).status == 200
            assert keyd.request("1").json["ready"] and keyd.release("1").status == 200
            assert not any(is_answered(stream) for stream in hostile)
        (keyd.folder / "munge").unlink()
        for stream in hostile:
            status, head, _ = read_answer(stream)
            assert status == 503 and b"Retry-After" in head
