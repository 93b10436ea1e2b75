# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which phase a step has: who joins changes none, and calls that are late or whose clients have gone change none. Each
answer is held to doc/guide/keyd-api.yaml."""

import contextlib
import json
import signal
import socket
import threading

import pytest

from fabric_sim import PATIENCE
from keyd_testing import DONE, FakeManager, Keyd, host_names, netlist, wait_for

PHASES = [[[0, 5]], [[0, 6]], [[0, 7]]]
RANKS = 512  # of a pattern whose keys take some time
TRIES = 50


@pytest.fixture(name="keyd")
def start_keyd(tmp_path):
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, answer_ms=60000)
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    keyd.start()
    assert keyd.place("1", keyd.hosts, phases=PHASES).status == 200
    yield keyd
    assert keyd.stop() == 0, keyd.log()


def join(keyd, step="0", job="1"):
    return keyd.call("POST", f"/v1/jobs/{job}/join", {"step": step})


def ask(keyd, phase, turn, step="0"):
    return keyd.call("POST", "/v1/jobs/1/request", {"step": step, "phase": phase, "turn": turn})


def active(keyd):
    return keyd.get("/v1/jobs/1").json["active"]


def layout(keyd, step, hosts):
    assert keyd.call("PUT", f"/v1/jobs/1/steps/{step}/layout", {"ranks": hosts}).status == 200


# ---- join ----

def test_join_begins_the_first_phase_and_no_other(keyd):
    """The first one that joins begins phase 0. Those that join later get the grant of the phase that the step has, and
    nothing is sent to the switches for them."""
    first = join(keyd).json
    assert (first["phase"], first["ready"], first["offset"], first["turn"]) == (0, True, 1, 1)
    assert active(keyd) == [0]
    begun = keyd.request("1", 2).json
    sets = list(keyd.manager.sets)
    for _ in range(3):
        assert join(keyd).json == begun
    assert active(keyd) == [2] and keyd.manager.sets == sets


def test_join_between_two_phases(keyd):
    """A phase that has ended does not begin again. Its key is in the switches still, so its offset is that of the job."""
    keyd.request("1", 1)
    keyd.done("1", 1)
    grant = join(keyd).json
    assert (grant["phase"], grant["offset"], grant["ready"]) == (1, 1, True)
    assert active(keyd) == []


def test_join_of_a_step_whose_place_another_has(keyd):
    """Steps on the same hosts share an offset. A late node of the first one does not take it from the second one."""
    for step in "45":
        layout(keyd, step, keyd.hosts[:8])
        assert keyd.request("1", 0, step).json["ready"]
    held = dict(keyd.manager.keys)
    grant = join(keyd, "4").json
    assert not grant["ready"] and grant["offset"] == 0 and "has ended" in grant["reason"]
    assert keyd.manager.keys == held and active(keyd) == [0]
    assert join(keyd, "5").json["ready"]


def test_join_with_an_offset_for_each_phase(keyd):
    """In mode offset it is the phase that began last, if that is active, or else another one that is."""
    keyd.release("1")
    keyd.place("1", keyd.hosts, phases=PHASES, mode="offset")
    keyd.request("1", 2)
    keyd.request("1", 1)
    assert (join(keyd).json["phase"], join(keyd).json["offset"]) == (1, 2)
    keyd.done("1", 1)
    assert (join(keyd).json["phase"], join(keyd).json["offset"]) == (2, 3)
    assert active(keyd) == [2]


def test_join_waits_for_the_key(keyd):
    """A key that the subnet manager has not taken yet is waited for, and one that it refuses is not ready."""
    keyd.manager.answer = lambda key, entries: (2, "the switch is away")
    grant = join(keyd).json
    assert not grant["ready"] and grant["offset"] == 0 and "is away" in grant["reason"]
    keyd.manager.answer = lambda key, entries: (DONE, "")
    assert join(keyd).json["ready"] and active(keyd) == [0]


def test_join_after_a_restart(keyd):
    """A heddle-keyd that starts again knows which steps have begun: with an active phase, without one, and one whose
    place another step has taken."""
    layout(keyd, "2", keyd.hosts[:8])
    layout(keyd, "3", keyd.hosts[:8])
    layout(keyd, "4", keyd.hosts[8:])
    keyd.request("1", 1, "2")
    keyd.request("1", 1, "3")
    keyd.request("1", 2, "4")
    keyd.done("1", 2, "4")
    keyd.kill()
    keyd.start()
    wait_for(lambda: keyd.metrics()["phases_in_force"] == 1, "the key")
    assert (join(keyd, "3").json["phase"], join(keyd, "3").json["ready"]) == (1, True)
    grant = join(keyd, "4").json
    assert (grant["phase"], grant["ready"], grant["offset"]) == (2, False, 0)
    assert not join(keyd, "2").json["ready"] and active(keyd) == [1]
    assert join(keyd, "3").json["ready"]


def test_join_is_refused(keyd):
    assert join(keyd, job="2").status == 404
    assert keyd.call("POST", "/v1/jobs/1/join", {"phase": 1}).status == 422
    assert keyd.call("POST", "/v1/jobs/1/join", {"turn": 1}).status == 422


# ---- a phase that begins again ----

def begin(keyd, job):
    """The entries of the key of phase 0, which is in the switches."""
    assert keyd.request(job, 0).json["ready"]
    key, _, entries = keyd.manager.sets[-1]
    assert keyd.manager.keys[key] == entries
    return entries


def test_key_stays_where_its_links_are_as_empty(keyd):
    """A phase that begins again keeps its routes, unless others have fewer flows on their most loaded link."""
    keyd.release("1")
    near, far = keyd.hosts[:4], keyd.hosts[4:8]
    for number, hosts in enumerate(zip(near, far)):
        assert keyd.place(str(number), list(hosts), phases=[[[0, 1]]]).status == 200
    begin(keyd, "0")
    second = begin(keyd, "1")
    for job in "01":
        keyd.done(job, 0)
    for _ in range(3):
        assert begin(keyd, "1") == second  # though the links of the first one are as empty now
        keyd.done("1", 0)
    begin(keyd, "0")
    begin(keyd, "2")
    assert keyd.get("/v1/links").json["most"] == 1
    begin(keyd, "1")  # the third one may have its links
    assert keyd.get("/v1/links").json["most"] == 1
    begin(keyd, "3")
    assert keyd.get("/v1/links").json["most"] == 1


def test_key_moves_if_its_links_are_fuller(keyd):
    """With the flows of another job on its links, a phase that begins again gets other routes."""
    keyd.release("1")
    for number, hosts in enumerate(zip(keyd.hosts[:2], keyd.hosts[4:6])):
        assert keyd.place(str(number), list(hosts), phases=[[[0, 1]]]).status == 200
    first = begin(keyd, "0")
    keyd.done("0", 0)
    begin(keyd, "1")  # the same links are the first ones that are free
    assert begin(keyd, "0") != first
    assert keyd.get("/v1/links").json["most"] == 1


# ---- late requests ----

def test_request_with_an_old_turn(keyd):
    """It says which turn it knows. With another one it is refused, and changes nothing."""
    assert ask(keyd, 0, 0).json["turn"] == 1
    assert ask(keyd, 1, 1).json["turn"] == 2
    sets = list(keyd.manager.sets)
    for turn in (0, 1, 3, 4294967295):
        answer = ask(keyd, 0, turn)
        assert answer.status == 409 and answer.json["type"] == "urn:heddle:turn" and answer.json["turn"] == 2
        assert "late" in answer.json["detail"]
    assert active(keyd) == [1] and keyd.manager.sets == sets
    assert ask(keyd, 1, 0).json["turn"] == 2  # it has this phase already
    assert ask(keyd, 0, 2).json["turn"] == 3  # a job may go back
    assert keyd.request("1", 2).json["turn"] == 4  # without a turn, as before
    for turn in (-1, 4294967296, "1", 1.5, None):
        assert ask(keyd, 0, turn).status == 422


def test_request_with_an_old_turn_of_a_step_whose_place_another_has(keyd):
    """Taking the place of a step ends its turn, so no late request of it takes the place back."""
    for step in "45":
        layout(keyd, step, keyd.hosts[:8])
    assert ask(keyd, 0, 0, "4").json["turn"] == 1
    assert ask(keyd, 0, 0, "5").json["turn"] == 1
    assert ask(keyd, 1, 1, "4").status == 409
    steps = {step["step"]: step["active"] for step in keyd.get("/v1/jobs/1").json["steps"]}
    assert (steps["4"], steps["5"]) == ([], [0])


def test_a_layout_keeps_the_turn(keyd):
    layout(keyd, "4", keyd.hosts[:8])
    assert ask(keyd, 0, 0, "4").json["turn"] == 1
    keyd.done("1", 0, "4")
    layout(keyd, "4", keyd.hosts[7::-1])
    assert ask(keyd, 1, 0, "4").status == 409
    assert join(keyd, "4").json["turn"] == 2 and active(keyd) == [0]


# ---- clients that have gone ----

@contextlib.contextmanager
def held_manager(keyd):
    """The subnet manager answers no key within the block. Without a block of its own the queue would be empty."""
    begun, end = threading.Event(), threading.Event()

    def answer(key, entries):
        begun.set()
        end.wait(PATIENCE)
        return DONE, ""

    keyd.manager.answer = answer
    waiting = threading.Thread(target=keyd.request, args=("1", 1))
    waiting.start()
    assert begun.wait(PATIENCE)
    try:
        yield
    finally:
        end.set()
        waiting.join(PATIENCE)


def send(keyd, method, path, body):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(str(keyd.socket))
    stream.sendall(f"{method} {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    return stream


def call_for_nobody(keyd, *call):
    """A call that is queued behind another one of its job, and whose client leaves then."""
    stream = send(keyd, *call)
    assert keyd.get("/healthz").status == 200
    stream.close()


@pytest.mark.parametrize("call", [
    ("POST", "/v1/jobs/1/request", '{"phase": 0}'), ("POST", "/v1/jobs/1/done", '{"phase": 1}'),
    ("POST", "/v1/jobs/1/join", '{"step": "9"}'), ("PUT", "/v1/jobs/1/steps/9/layout", '{"ranks": ["H_0_0", "H_1_1"]}')],
    ids=lambda call: call[1].rsplit("/", 1)[1])
def test_client_that_leaves_while_its_call_waits(keyd, call):
    """Its call is not carried out, and counted."""
    with held_manager(keyd):
        call_for_nobody(keyd, *call)
    assert join(keyd).json["phase"] == 1  # the next one in the queue of the job
    assert keyd.metrics()["abandoned_total"] == 1
    assert active(keyd) == [1] and [step["step"] for step in keyd.get("/v1/jobs/1").json["steps"]] == ["0"]


def test_half_of_a_connection(keyd):
    """Who ends the sending half of a connection has gone, too, and is told so."""
    with held_manager(keyd):
        stream = send(keyd, "POST", "/v1/jobs/1/request", '{"phase": 0}')
        stream.shutdown(socket.SHUT_WR)
    assert stream.recv(4096).startswith(b"HTTP/1.1 408 ") and active(keyd) == [1]
    stream.close()


def test_release_that_waits_is_carried_out(keyd):
    """Nobody would repeat it, and what comes later for this job comes after it in any case."""
    with held_manager(keyd):
        call_for_nobody(keyd, "DELETE", "/v1/jobs/1", "")
    assert join(keyd).status == 404 and keyd.get("/v1/jobs").json["jobs"] == []


def leave_while_keys_are_made(keyd, path, body):
    """Makes a call for whose keys heddle-keyd needs some time, and leaves. heddle-keyd stands still meanwhile, but its
    keys may be ready before. Whether they were not."""
    before = keyd.metrics()
    stream = send(keyd, "PUT", path, body)
    keyd.process.send_signal(signal.SIGSTOP)
    stream.close()
    keyd.process.send_signal(signal.SIGCONT)
    call = "layout" if path.endswith("layout") else "place"

    def answered():
        now = keyd.metrics()
        return sum(now[name] - before.get(name, 0) for name in now if name.startswith(f'answers_total{{call="{call}"'))

    wait_for(lambda: answered() == 1, "the end of the call")
    return keyd.metrics()["abandoned_total"] > before["abandoned_total"]


def test_placement_that_nobody_waits_for(keyd):
    """A scheduler that has gone does not release the job, so it is not placed, and its offsets are free."""
    body = json.dumps({"hosts": keyd.hosts, "pattern": "alltoall", "ranks": RANKS})
    for _ in range(TRIES):
        if leave_while_keys_are_made(keyd, "/v1/jobs/2", body):
            break
        assert keyd.release("2").status == 200
    else:
        pytest.fail("all were placed")
    assert [job["job"] for job in keyd.get("/v1/jobs").json["jobs"]] == ["1"]
    assert keyd.place("2", keyd.hosts).json["offset"] == 2


def test_placement_that_another_one_waits_for(keyd):
    """The same placement of two clients, of whom the first one leaves: the other one gets its answer."""
    body = json.dumps({"hosts": keyd.hosts, "pattern": "alltoall", "ranks": RANKS})
    streams = [send(keyd, "PUT", "/v1/jobs/2", body) for _ in range(2)]
    assert keyd.get("/healthz").status == 200
    streams[0].close()
    assert streams[1].recv(4096).startswith(b"HTTP/1.1 200 ")
    streams[1].close()


def test_layout_that_nobody_waits_for(keyd):
    """The step is as before."""
    keyd.release("1")
    assert keyd.place("1", keyd.hosts, "alltoall").status == 200
    for number in range(TRIES):
        body = json.dumps({"ranks": [keyd.hosts[rank % 16] for rank in range(RANKS)]})
        if leave_while_keys_are_made(keyd, f"/v1/jobs/1/steps/{number + 1}/layout", body):
            break
    else:
        pytest.fail("all were taken")
    assert len(keyd.get("/v1/jobs/1").json["steps"]) == 1 + number
