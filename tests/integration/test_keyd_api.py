# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The calls of heddle-keyd, against a fake subnet manager. Keyd.call() holds each answer to
doc/guide/keyd-api.yaml."""

import json
import os
import pathlib
import socket
import tempfile
import threading

import pytest
from fabric_sim import PATIENCE

from keyd_testing import API, REFUSED, FakeManager, Keyd, host_names, netlist, wait_for

NOBODY = 65534


@pytest.fixture(name="keyd", scope="module")
def start_keyd():
    # not among the folders of pytest: each pytest that starts closes all of them to other users
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        fabric = netlist(folder, "--children", "4,4", "--parents", "1,4")
        manager = FakeManager(folder / "sm.sock", fabric)
        keyd = Keyd(folder, max_jobs=6, scheduler_uids=os.getuid()).start()
        keyd.manager, keyd.hosts = manager, host_names(fabric)
        yield keyd
        assert keyd.stop() == 0, keyd.log()


@pytest.fixture(autouse=True)
def no_jobs(keyd):
    """Each test begins without jobs, and ends without keys in the switches."""
    yield
    for job in keyd.get("/v1/jobs").json["jobs"]:
        assert keyd.release(job["job"]).status == 200
    assert keyd.get("/v1/jobs").json == {"jobs": []}
    assert keyd.get("/v1/links").json == {"links": [], "most": 0}
    wait_for(lambda: not keyd.manager.keys, "the removal of the keys")


def refused(answer, status, *words):
    assert answer.status == status, answer.text
    for word in words:
        assert word in answer.json["detail"], answer.text
    return answer


def as_user(uid, function):
    """The result of a function in a process of another user."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setuid(uid)
            os.write(writer, str(function()).encode())
        finally:
            os._exit(0)  # also after an error, which then is an empty result
    os.close(writer)
    with os.fdopen(reader) as stream:
        result = stream.read()
    assert os.waitpid(child, 0)[1] == 0
    return int(result)


# ---- the life of a job ----

def test_job(keyd):
    """Place, request, done, release: the key is in the switches from the first request to the release."""
    placed = keyd.place("17", keyd.hosts, "stencil2d")
    assert placed.status == 200
    assert [key["contention"] for key in placed.json["keys"]] == [1, 1, 0, 0]
    before = set(keyd.manager.keys)
    for phase in range(4):
        granted = keyd.request("17", phase).json
        assert granted["ready"] and granted["offset"] == placed.json["offset"] == 1
        assert granted["key"] == f"17.0.{phase}"
        assert keyd.done("17", phase).json == {"phase": phase}
    key, = set(keyd.manager.keys) - before
    assert keyd.release("17").json == {"job": "17"}
    refused(keyd.get("/v1/jobs/17"), 404)
    wait_for(lambda: key not in keyd.manager.keys, "the removal")


def test_loads_follow_phases(keyd):
    """Flows count on links from request to done, and two jobs avoid each other's links."""
    keyd.place("1", keyd.hosts[0:2] + keyd.hosts[4:6], phases=[[[0, 2], [1, 3]]])
    keyd.place("2", keyd.hosts[2:4] + keyd.hosts[6:8], phases=[[[0, 2], [1, 3]]])
    assert keyd.request("1").json["ready"] and keyd.request("2").json["ready"]
    links = keyd.get("/v1/links").json
    assert links["most"] == 1 and sum(link["flows"] for link in links["links"]) == 8
    keyd.done("1")
    assert sum(link["flows"] for link in keyd.get("/v1/links").json["links"]) == 4
    keyd.done("2")
    assert len(keyd.get("/v1/links?all=1").json["links"]) == 32


def test_mode_offset(keyd):
    """Each phase has an offset of its own; all keys go to the switches with the first request."""
    placed = keyd.place("5", keyd.hosts, phases=[[[0, 15]], [[0, 10]], [[1, 12]]], mode="offset").json
    assert [key["offset"] for key in placed["keys"]] == [1, 2, 3]
    sets = len(keyd.manager.sets)
    assert keyd.request("5", 1).json["offset"] == 2
    assert keyd.request("5", 2).json["offset"] == 3
    assert keyd.get("/v1/jobs").json["jobs"][0]["active"] == [1, 2]
    assert len(keyd.manager.sets) == sets + 3
    keyd.done("5", 1)
    assert len(keyd.manager.sets) == sets + 3
    assert keyd.get("/v1/jobs").json["jobs"][0]["active"] == [2]


def test_offsets_of_disjoint_jobs(keyd):
    """Jobs on other hosts reuse the same offset; jobs on the same hosts get others, below 2^LMC."""
    assert keyd.place("a", keyd.hosts[:8]).json["offset"] == 1
    assert keyd.place("b", keyd.hosts[8:]).json["offset"] == 1
    assert keyd.place("c", keyd.hosts[4:12]).json["offset"] == 2
    assert keyd.place("d", keyd.hosts).json["offset"] == 3
    refused(keyd.place("e", keyd.hosts[:4]), 200)
    assert keyd.get("/v1/jobs/e").json["offset"] == 2
    refused(keyd.place("f", keyd.hosts[:2]), 503, "other jobs")
    keyd.release("e")
    assert keyd.place("f", keyd.hosts[:2]).json["offset"] == 2


def test_layout(keyd):
    """A layout makes the keys again for the hosts of the ranks; ranks of one host need no key."""
    keyd.place("9", keyd.hosts[:8], "ring")
    ranks = [keyd.hosts[i // 2] for i in range(8)]
    answer = keyd.call("PUT", "/v1/jobs/9/steps/3/layout", {"ranks": ranks})
    assert answer.json["ranks"] == 8 and answer.json["keys"][0]["flows"] == 4
    assert keyd.call("PUT", "/v1/jobs/9/steps/3/layout", {"ranks": ranks}).text == answer.text
    assert keyd.request("9", 0, "3").json["key"] == "9.3.0"
    refused(keyd.call("PUT", "/v1/jobs/9/steps/3/layout", {"ranks": ranks[::-1]}), 409, "active")
    keyd.done("9", 0, "3")
    assert keyd.call("PUT", "/v1/jobs/9/steps/3/layout", {"ranks": ranks[::-1]}).status == 200
    refused(keyd.call("PUT", "/v1/jobs/9/steps/4/layout", {"ranks": ["H_3_3"]}), 422, "H_3_3", "job's hosts")
    refused(keyd.call("PUT", "/v1/jobs/none/steps/4/layout", {"ranks": ranks}), 404)


def test_steps_share_the_offset(keyd):
    """A step that asks ends the phases of steps on the same hosts; steps on other hosts stay."""
    keyd.place("9", keyd.hosts, "ring")
    for step, hosts in (("0", keyd.hosts[:8]), ("1", keyd.hosts[8:]), ("2", keyd.hosts[4:8])):
        keyd.call("PUT", f"/v1/jobs/9/steps/{step}/layout", {"ranks": hosts})
    assert keyd.request("9", 0, "0").json["ready"] and keyd.request("9", 0, "1").json["ready"]
    assert keyd.request("9", 0, "2").json["ready"]
    active = {step["step"]: step["active"] for step in keyd.get("/v1/jobs/9").json["steps"]}
    assert active == {"0": [], "1": [0], "2": [0]}
    refused(keyd.done("9", 0, "0"), 409)


def test_guids_are_hosts(keyd):
    """A host is a node's name, or a GUID of its node or port."""
    assert keyd.place("3", ["0x100000", "0x100011", "H_0_2"], "ring").status == 200
    refused(keyd.place("4", ["0x100000", "0x100001"], "ring"), 422, "one host")


def test_idempotent(keyd):
    """The same placement again gets the same bytes; another content is a conflict."""
    first = keyd.call("PUT", "/v1/jobs/1", '{"hosts": ["H_0_0", "H_1_0"], "pattern": "ring"}')
    again = keyd.call("PUT", "/v1/jobs/1", '{"pattern":"ring",  "hosts":["H_0_0","H_1_0"]}')
    assert first.status == again.status == 200 and first.text == again.text
    refused(keyd.place("1", ["H_0_0", "H_1_0"], "shift:1"), 409, "release it first")
    refused(keyd.place("1", ["H_0_0", "H_1_0"], "ring", uid=7), 409)
    granted = keyd.request("1")
    sets = len(keyd.manager.sets)
    assert keyd.request("1").text == granted.text and len(keyd.manager.sets) == sets


def test_same_job_at_the_same_time(keyd):
    """Of many clients that place one job, all get the same answer, and it is placed once."""
    answers, body = [], {"hosts": keyd.hosts, "pattern": "alltoall"}

    def place():
        answers.append(keyd.call("PUT", "/v1/jobs/same", body).text)

    threads = [threading.Thread(target=place) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16 and len(set(answers)) == 1
    assert len(keyd.get("/v1/jobs").json["jobs"]) == 1


# ---- errors ----

@pytest.mark.parametrize("body, offset", [
    ("", 0), ("{", 1), ('{"hosts": [}', 11), ("nonsense", 8), ('{"hosts": ["a"], "hosts": []}', None),
    ('{"ranks": 99999999999999999999}', None), ('{"pattern": "\\u0000"}', None), (b'{"pattern": "\xff"}', None),
    ("[" * 3000, None)], ids=lambda value: str(value)[:20])
def test_malformed(keyd, body, offset):
    """What is no JSON is 400 with the byte at which it ends to be JSON; duplicate names are no JSON."""
    answer = refused(keyd.call("PUT", "/v1/jobs/1", body), 400)
    assert "offset" in answer.json
    if offset is not None:
        assert abs(answer.json["offset"] - offset) <= 1


HOSTS = ["H_0_0", "H_1_0"]


@pytest.mark.parametrize("body, words", [
    ([], "object"), ({}, "hosts"), ({"hosts": []}, "hosts"), ({"hosts": [7], "pattern": "ring"}, "hosts[0]"),
    ({"hosts": HOSTS}, "either"), ({"hosts": HOSTS, "pattern": "ring", "phases": [[]]}, "either"),
    ({"hosts": HOSTS, "pattern": 1}, "text"), ({"hosts": HOSTS, "pattern": "file:/etc/shadow"}, "phases"),
    ({"hosts": HOSTS, "pattern": "rings"}, "ring"), ({"hosts": HOSTS, "pattern": "stencil2d:9x9"}, "9x9"),
    ({"hosts": HOSTS, "phases": [[[0, 2]]]}, "out of range"), ({"hosts": HOSTS, "phases": [[[1, 1]]]}, "itself"),
    ({"hosts": HOSTS, "phases": [[[0]]]}, "pair"), ({"hosts": HOSTS, "phases": [7]}, "phases[0]"),
    ({"hosts": HOSTS, "phases": []}, "phases"), ({"hosts": HOSTS, "pattern": "ring", "mode": "both"}, "mode"),
    ({"hosts": HOSTS, "pattern": "ring", "keys": -1}, "keys"), ({"hosts": HOSTS, "pattern": "ring", "keys": 1.5}, "keys"),
    ({"hosts": HOSTS, "pattern": "ring", "ranks": 65537}, "ranks"), ({"hosts": HOSTS, "pattern": "ring", "uid": "me"}, "uid"),
    ({"hosts": HOSTS, "pattern": "ring", "best_effort": 1}, "best_effort"),
    ({"hosts": HOSTS, "pattern": "ring", "colour": 1}, "colour"),
    ({"hosts": ["H_0_0", "nowhere"], "pattern": "ring"}, "nowhere"),
    ({"hosts": ["H_0_0", "0xabc"], "pattern": "ring"}, "0xabc"),
    ({"hosts": ["H_0_0", "H_0_0"], "pattern": "ring"}, "one host")])
def test_unprocessable(keyd, body, words):
    """JSON that cannot be placed is 422 and says what is wrong; no job is left."""
    refused(keyd.call("PUT", "/v1/jobs/1", body), 422, words)


def test_infeasible_pattern(keyd):
    """A phase that must have contention is refused with switch, demand and cables, if asked for."""
    phases = [[[0, 8]], [[0, 8], [1, 8], [2, 8], [4, 8], [5, 8]]]
    assert keyd.place("1", keyd.hosts, phases=phases).json["keys"][1]["contention"] > 1
    answer = refused(keyd.place("2", keyd.hosts, phases=phases, best_effort=False), 422, "phase 1")
    assert answer.json["type"] == "urn:heddle:contention"
    assert answer.json["phase"] == 1 and answer.json["demand"] > answer.json["usable"]
    same = [[[0, 8], [1, 8]]]  # the leaf has cables enough, but one LID leads over one of them
    answer = refused(keyd.place("3", keyd.hosts, phases=same, best_effort=False), 422, "2 flows from one leaf go to one")
    assert answer.json["demand"] <= answer.json["usable"]


def test_too_many_phases_for_offsets(keyd):
    """Mode offset needs an offset for each phase, and says how many there are."""
    refused(keyd.place("1", keyd.hosts, "stencil2d", mode="offset"), 422, "4 LID offsets", "leaves 3")
    refused(keyd.place("1", keyd.hosts, phases=[[[0, 1]], [[1, 0]]], mode="offset", keys=1), 422, "'keys' allows 1")


def test_phases(keyd):
    """Phases that do not exist are 422, phases that are not active 409, and jobs that do not exist 404."""
    keyd.place("1", HOSTS)
    refused(keyd.request("1", 1), 422, "no phase 1")
    refused(keyd.done("1", 0), 409)
    refused(keyd.done("1", 7), 409)
    refused(keyd.done("1", 0, "no-such-step"), 409)
    refused(keyd.request("2"), 404)
    refused(keyd.done("2"), 404)
    refused(keyd.release("2"), 404)
    refused(keyd.call("POST", "/v1/jobs/1/request", {"step": "a b"}), 422, "step")
    refused(keyd.call("POST", "/v1/jobs/1/request", {"phase": -1}), 422, "phase")
    refused(keyd.call("POST", "/v1/jobs/1/request", "{"), 400)


@pytest.mark.parametrize("method, path, allowed", [
    ("POST", "/v1/jobs/1", "PUT, DELETE, GET"), ("DELETE", "/v1/jobs", "GET"), ("GET", "/v1/jobs/1/request", "POST"),
    ("PUT", "/metrics", "GET"), ("PATCH", "/v1/links", "GET"), ("HEAD", "/healthz", "GET"),
    ("OPTIONS", "/v1/jobs/1/steps/0/layout", "PUT")])
def test_wrong_method(keyd, method, path, allowed):
    """405 says which methods a path takes."""
    connection = keyd.connect()
    connection.request(method, path, body="{}" if method in ("PUT", "POST", "PATCH") else None)
    response = connection.getresponse()
    assert response.status == 405
    assert set(response.headers["Allow"].split(", ")) == set(allowed.split(", "))
    connection.close()


def test_every_documented_method_and_no_other(keyd):
    """The server knows the paths and methods of the API's document, and no others."""
    for form, entry in API["paths"].items():
        path = form.replace("{job}", "7").replace("{step}", "7")
        for method in ("GET", "PUT", "POST", "DELETE"):
            status = keyd.call(method, path).status
            assert (status == 405) == (method.lower() not in entry), (method, path, status)


@pytest.mark.parametrize("path", [
    "/", "/v1", "/v1/", "/v1/jobs/", "/v1/jobs/a%20b", "/v1/jobs/" + "x" * 65, "/v2/jobs", "/v1/jobs/1/", "/v1/jobs/%c3%bc",
    "/v1/jobs/1/steps//layout", "/healthz/x", "//v1/jobs", "/v1/jobs/../jobs"])
def test_unknown_path(keyd, path):
    refused(keyd.get(path), 404)


def test_too_many_jobs(keyd):
    """More jobs than max_jobs are 429 with Retry-After."""
    for job in range(6):
        assert keyd.place(f"j{job}", keyd.hosts[2 * job:2 * job + 2]).status == 200
    refused(keyd.place("j6", keyd.hosts[12:14]), 429, "max_jobs")


def test_pattern_without_phases(keyd):
    """Some patterns have no phase for one rank: they are refused in both modes, with the reason."""
    for mode in ("rewrite", "offset"):
        refused(keyd.place("1", keyd.hosts[:1], "alltoall", mode=mode), 422, "no phase", "1 rank")


def test_other_users(keyd):
    """Only schedulers place and release; an owner calls for its job, and for no other."""
    if os.getuid():
        pytest.skip("needs root to become another user")
    keyd.place("mine", keyd.hosts[:4], uid=NOBODY)
    keyd.place("other", keyd.hosts[4:8])
    assert keyd.get("/v1/jobs/mine").json["uid"] == NOBODY
    body = {"ranks": keyd.hosts[:4]}
    for status, call in (
            (200, lambda: keyd.get("/v1/jobs/other")), (200, lambda: keyd.request("mine")),
            (200, lambda: keyd.done("mine")), (403, lambda: keyd.request("other")), (403, lambda: keyd.done("other")),
            (403, lambda: keyd.release("mine")), (403, lambda: keyd.place("new", keyd.hosts[8:])),
            (403, lambda: keyd.place("mine", keyd.hosts[:4], uid=NOBODY)),
            (200, lambda: keyd.call("PUT", "/v1/jobs/mine/steps/0/layout", body)),
            (403, lambda: keyd.call("PUT", "/v1/jobs/other/steps/0/layout", body)),
            (200, lambda: keyd.call("POST", "/v1/jobs/mine/token")),
            (403, lambda: keyd.call("POST", "/v1/jobs/other/token")), (404, lambda: keyd.request("none"))):
        assert as_user(NOBODY, lambda: call().status) == status


def test_refused_key(keyd):
    """If the subnet manager refuses a key, the application gets offset 0 and the reason; done works."""
    keyd.place("1", HOSTS)
    answer, keyd.manager.answer = keyd.manager.answer, lambda key, entries: (REFUSED, "it would loop")
    granted = keyd.request("1").json
    keyd.manager.answer = answer
    assert not granted["ready"] and granted["offset"] == 0 and granted["reason"] == "it would loop"
    assert keyd.get("/v1/links").json["most"] == 0
    assert keyd.done("1").status == 200


def test_metrics(keyd):
    """Metrics count what has happened, in Prometheus' format."""
    before = keyd.metrics()
    keyd.place("1", HOSTS)
    keyd.request("1")
    wait_for(lambda: keyd.metrics()["phases_in_force"] == 1, "the next count")
    after = keyd.metrics()
    assert after["jobs"] == 1 and after["active_phases"] == 1 and after["phases_in_force"] == 1
    assert after["sets_total"] == before["sets_total"] + 1
    assert after['answers_total{call="request",status="2xx"}'] \
        == before.get('answers_total{call="request",status="2xx"}', 0) + 1
    assert after["manager_connected"] == 1 and after["fabric_epoch"] == 1


# ---- HTTP ----

def raw(keyd, data):
    """What the server sends before it closes the connection."""
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(PATIENCE)
    stream.connect(str(keyd.socket))
    try:
        stream.sendall(data)
    except OSError:
        pass
    received = b""
    try:
        while more := stream.recv(65536):
            received += more
    except ConnectionResetError:
        pass
    stream.close()
    return received


PUT, GET = b"PUT /v1/jobs/1 HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\n"


def bad_http(*requests):
    return pytest.mark.parametrize("data, status", requests, ids=lambda value: repr(value)[:40])


def refused_once(keyd, data, status):
    """The server answers with the status once, though another request follows, and closes the connection."""
    answer = raw(keyd, data + GET + b"\r\n")
    head, body = answer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 %d " % status) and b"HTTP/1.1" not in body, answer
    assert keyd.get("/healthz").status == 200
    return head, body


@bad_http(
    (b"BREW /healthz HTTP/1.1\r\n\r\n", 501), (b"GET /" + b"x" * 2000 + b" HTTP/1.1\r\n\r\n", 414),
    (GET + b"X: y\r\n" * 200 + b"\r\n", 431), (GET + b": x\r\n\r\n", 400), (GET + b"X: \x01\r\n\r\n", 400),
    (GET + b"X\x01: x\r\n\r\n", 400), (PUT + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{", 400),
    (PUT + b"Content-Length: 1\r\nContent-Length : 2\r\n\r\n{", 400), (PUT + b"Content-Length: +1\r\n\r\n{", 400),
    (PUT + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n", 411),
    (PUT + b"\r\n", 411), (GET + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (GET + b"Content-Length: 5\r\n\r\nhello", 400),
    (b"HEAD /healthz HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 400))
def test_refused_http(keyd, data, status):
    """A request that can be read in two ways, or is out of bounds, gets a problem. What follows it is not read."""
    head, body = refused_once(keyd, data, status)
    assert b"application/problem+json" in head
    assert b'"status":%d' % status in body or data.startswith(b"HEAD")


@pytest.mark.parametrize("headers", [
    b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\n{\r\n0\r\n\r\n",
    b"Content-Length: 1\r\nTransfer-Encoding: xchunked\r\n\r\n{",
    b"Content-Length: 1\r\nTransfer-Encoding:\r\n chunked\r\n\r\n{"])
def test_two_framings(keyd, headers):
    """A body with a length and an encoding is refused: by libevent if it is new enough, and else by heddle-keyd."""
    answer = raw(keyd, PUT + headers + GET + b"\r\n")
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 411") and answer.count(b"HTTP/1.1") == 1


def test_connect(keyd):
    """No call is made with CONNECT: the connection ends without an answer."""
    assert raw(keyd, b"CONNECT x:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n{" + GET + b"\r\n") == b""
    assert keyd.get("/healthz").status == 200


@bad_http(
    (b"\r\n\r\n", 400), (b"nonsense\r\n\r\n", 400), (b"GET / HTTP/2.0\r\n\r\n", 400),
    (GET + b"no colon\r\n\r\n", 400), (GET + b" folded: x\r\n\r\n", 400),
    (GET + b"Transfer-Encoding\0: chunked\r\n\r\n", 400), (GET + b"X: " + b"y" * 20000 + b"\r\n\r\n", 400),
    (GET + b"X: " + b"y" * 20000, 400), (GET + b"X: y\r\n" * 20000, 400), (b"GET /" + b"x" * 20000, 400),
    (PUT + b"Content-Length: 1048577\r\n\r\n", 413),
    (PUT + b"Content-Length: 99999999999999999999999\r\n\r\n", 413),
    (PUT + b"Content-Length: 18446744073709551617\r\n\r\n", 413), (PUT + b"Content-Length: -1\r\n\r\n", 400),
    (PUT + b"Content-Length: 5,5\r\n\r\n", 400), (PUT + b"Content-Length:\r\n\r\n", 400),
    (PUT + b"Transfer-Encoding: chunked\r\n\r\n100001\r\n", 413),
    (PUT + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", 413))
def test_no_http(keyd, data, status):
    """What libevent cannot read as HTTP, or is too large, gets a page of libevent."""
    refused_once(keyd, data, status)


def test_large_body_is_read_to_its_answer(keyd):
    """A client that sends too much still gets 413, not only a reset connection."""
    answer = raw(keyd, b"PUT /v1/jobs/1 HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3000000)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_body_of_one_mebibyte(keyd):
    """A body of exactly 1 MiB is taken."""
    body = b'{"hosts": ["a"], "pattern": "' + b"x" * (1 << 20)
    body = body[:(1 << 20) - 2] + b'"}'
    refused(keyd.call("PUT", "/v1/jobs/1", body), 422, "host 'a'")


def test_long_bodies(keyd):
    """Long bodies get the same answers as short ones, with the place of a fault."""
    phases = [[[0, 1]]] * 20000
    long = json.dumps({"hosts": HOSTS[:2], "phases": phases})
    assert keyd.call("PUT", "/v1/jobs/1", long).status == 200
    assert keyd.call("PUT", "/v1/jobs/1", long).status == 200
    refused(keyd.call("PUT", "/v1/jobs/1", json.dumps({"hosts": HOSTS[:2], "phases": phases[1:]})), 409, "job 1")
    answer = keyd.call("PUT", "/v1/jobs/2", long[:-1])
    assert answer.status == 400 and answer.json["offset"] == len(long) - 1
    refused(keyd.call("PUT", "/v1/jobs/2", json.dumps({"hosts": HOSTS[:2], "phases": [*phases, [[0, 2]]]})), 422,
            "phases[20000][0]")
    assert keyd.place("3", HOSTS[:2], "ring").status == 200
    ranks = {"ranks": HOSTS[:2] * 2000}
    assert keyd.call("PUT", "/v1/jobs/3/steps/1/layout", ranks).json["ranks"] == 4000
    assert keyd.call("PUT", "/v1/jobs/3/steps/1/layout", ranks).status == 200
    refused(keyd.call("PUT", "/v1/jobs/3/steps/2/layout", {"ranks": HOSTS[:2] * 2000 + ["nobody"]}), 422, "nobody")
    assert [step["step"] for step in keyd.get("/v1/jobs/3").json["steps"]] == ["1", "0"]


def test_long_body_of_a_job_that_goes(keyd):
    """A layout that is read while its job goes, and another user gets one of this name, is not that job's."""
    body = json.dumps({"ranks": HOSTS[:2] * 20000})
    head = f"PUT /v1/jobs/1/steps/mine/layout HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    for _ in range(10):
        assert keyd.place("1", HOSTS[:2], "ring", uid=1).status == 200
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(keyd.socket))
        stream.sendall((head + body).encode())
        assert keyd.release("1").status == 200
        assert keyd.place("1", HOSTS[:2], "ring", uid=2).status == 200
        status = stream.recv(12)
        stream.close()
        assert status == b"HTTP/1.1 404" or status == b"HTTP/1.1 200"
        if status.endswith(b"404"):
            assert [step["step"] for step in keyd.get("/v1/jobs/1").json["steps"]] == ["0"]
        keyd.release("1")


def test_long_body_of_a_request(keyd):
    """A request needs a few bytes. Parsing more would keep others waiting."""
    keyd.place("1", HOSTS)
    for call in ("request", "join", "done"):
        refused(keyd.call("POST", f"/v1/jobs/1/{call}", json.dumps({"step": "0"}) + " " * 4096), 413, "4096")


def test_several_requests_on_one_connection(keyd):
    """Keep-alive, and requests that are sent before the answers of earlier ones came."""
    connection = keyd.connect()
    for _ in range(3):
        assert keyd.get("/healthz", connection=connection).status == 200
    connection.close()
    request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert raw(keyd, 3 * request + last).count(b"HTTP/1.1 200 OK") == 4
    assert raw(keyd, 2 * request + b"nonsense\r\n\r\n").count(b"HTTP/1.1 200 OK") >= 1


def test_client_that_leaves(keyd):
    """A client that closes before its answer comes harms nobody, whether its call takes effect or not."""
    keyd.place("1", HOSTS)
    for _ in range(20):
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(keyd.socket))
        stream.sendall(b"POST /v1/jobs/1/request HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        stream.close()
    assert keyd.request("1").json["ready"]
    assert keyd.get("/v1/jobs").json["jobs"][0]["active"] == [0]
