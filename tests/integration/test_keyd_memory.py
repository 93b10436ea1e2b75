# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The memory of heddle-keyd: keys of steps that have ended are freed and come back as they were, and a user who takes
too much is refused without harm to others."""

import os
import random

import pytest

from keyd_testing import KEYD, FakeManager, Keyd, host_names, netlist, wait_for

ALICE, BOB = 12001, 12002
MB = 1 << 20


@pytest.fixture(name="start")
def make_start(tmp_path):
    """Starts daemons with options, each with a manager of its own."""
    started = []
    fabric = netlist(tmp_path, "--children=16,16", "--parents=1,16", lmc=3)

    def start(**options):
        folder = tmp_path / str(len(started))
        folder.mkdir()
        keyd = Keyd(folder, scheduler_uids=os.getuid(), answer_ms=60000, **options)
        keyd.manager, keyd.hosts = FakeManager(folder / "sm.sock", fabric), host_names(fabric)
        started.append(keyd)
        return keyd.start()

    yield start
    for keyd in started:
        assert keyd.stop() == 0, keyd.log()
        keyd.manager.stop()


def bytes_of(keyd, what, uid=os.getuid()):
    return keyd.metrics().get(f'{what}_bytes{{uid="{uid}"}}', 0)


def rss(keyd):
    with open(f"/proc/{keyd.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


def lay_out(keyd, job, step, hosts):
    return keyd.call("PUT", f"/v1/jobs/{job}/steps/{step}/layout", {"ranks": hosts})


def play(keyd, seed):
    """Jobs with random phases. Yields what keyd says after each call."""
    chance, active = random.Random(seed), set()
    jobs = {"a": ("rewrite", "alltoall", keyd.hosts[:40]), "b": ("offset", "stencil2d", keyd.hosts[24:72]),
            "c": ("rewrite", "halving-doubling", keyd.hosts[8:160:2])}
    for job, (mode, pattern, hosts) in jobs.items():
        answer = keyd.place(job, hosts, pattern, mode=mode)
        assert answer.status == 200, answer.text
        assert lay_out(keyd, job, "1", chance.sample(hosts, len(hosts))).status == 200
    for _ in range(60):
        job, step = chance.choice("abc"), chance.choice("01")
        phase = chance.randrange(4)
        if (job, step, phase) in active:
            answer = keyd.done(job, phase, step)
        else:
            answer = keyd.request(job, phase, step)
            active = {other for other in active if other[0] != job}
        assert answer.status == 200
        if answer.json.get("ready"):
            active.add((job, step, phase))
        else:
            active.discard((job, step, phase))
        yield answer.json, keyd.get("/v1/links").json


@pytest.mark.parametrize("seed", range(4))
def test_the_same_keys_come_back(start, seed):
    """A daemon that frees all keys as soon as it may does the same as one that keeps them."""
    frugal, lavish = start(idle_keys_mb=0), start(idle_keys_mb=1024)
    for one, other in zip(play(frugal, seed), play(lavish, seed)):
        assert one == other
        # keys that are no longer wanted are removed after the answer
        wait_for(lambda: frugal.manager.keys == lavish.manager.keys, "the same keys in the switches")
    assert frugal.metrics()["keys_total"] > lavish.metrics()["keys_total"]
    assert bytes_of(frugal, "key") < bytes_of(lavish, "key")


def test_steps_that_have_ended(start):
    """A job may run any number of steps: the daemon does not grow with their keys."""
    keyd = start(idle_keys_mb=4)
    assert keyd.place("a", keyd.hosts, "alltoall").status == 200
    for step in range(1, 61):
        assert lay_out(keyd, "a", step, keyd.hosts).status == 200
        assert keyd.request("a", 3, str(step)).json["ready"] and keyd.done("a", 3, str(step)).status == 200
        assert bytes_of(keyd, "key") <= 4 * MB
        if step == 20:
            before = rss(keyd)
    assert len(keyd.get("/v1/jobs/a").json["steps"]) == 61
    if b"__asan_init" not in KEYD.read_bytes():  # which frees late
        assert rss(keyd) - before < 30 * MB  # the keys of 40 steps have 70 MB
    sets = len(keyd.manager.sets)
    grant = keyd.request("a", 3, "1").json
    assert grant["ready"] and grant["contention"] >= 1 and len(keyd.manager.sets) > sets
    assert keyd.release("a").status == 200
    assert bytes_of(keyd, "key") == 0 and bytes_of(keyd, "user") == 0


def test_contention_of_an_ended_phase(start):
    """Who joins hears the contention of the key that is in the switches, also when its step has no keys any more."""
    keyd = start(idle_keys_mb=0)
    assert keyd.place("a", keyd.hosts, "alltoall").status == 200
    granted = keyd.request("a", 3).json
    assert granted["ready"] and granted["contention"] > 0 and keyd.done("a", 3).status == 200
    wait_for(lambda: bytes_of(keyd, "key") == 0, "no keys")
    assert keyd.call("POST", "/v1/jobs/a/join", {"step": "0"}).json == granted


def test_a_new_fabric(start):
    """Keys of ended steps do not keep the fabric of before, and are made for the new one."""
    keyd = start()
    assert keyd.place("a", keyd.hosts[:128], "alltoall").status == 200
    assert lay_out(keyd, "a", 1, keyd.hosts[:128]).status == 200
    assert keyd.request("a", 0, "1").json["ready"]
    both = bytes_of(keyd, "key")
    keyd.manager.change_fabric()
    wait_for(lambda: keyd.metrics()["remade_total"] == 1, "the keys of the new fabric")
    assert 0 < bytes_of(keyd, "key") <= both / 2
    assert keyd.done("a", 0, "1").status == 200 and keyd.request("a", 0, "0").json["ready"]


def test_budget_of_a_user(start):
    """Keys beyond the budget are refused, for this user alone, until he has released others."""
    keyd = start(user_memory_mb=5)
    for job in "ab":
        assert keyd.place(job, keyd.hosts, "alltoall", uid=ALICE).status == 200
        assert keyd.request(job).json["ready"]
    refused = keyd.place("c", keyd.hosts, "alltoall", uid=ALICE)
    assert refused.status == 429 and "user_memory_mb" in refused.json["detail"]
    assert bytes_of(keyd, "user", ALICE) <= 5 * MB
    assert keyd.get("/v1/jobs/c").status == 404
    assert lay_out(keyd, "a", 1, keyd.hosts).status == 429
    assert [entry["step"] for entry in keyd.get("/v1/jobs/a").json["steps"]] == ["0"]
    assert keyd.place("d", keyd.hosts, "alltoall", uid=BOB).status == 200
    assert keyd.request("d").json["ready"] and keyd.request("a", 1).json["ready"]
    assert keyd.done("b").status == 200  # now the keys of b may go
    assert keyd.place("c", keyd.hosts, "alltoall", uid=ALICE).status == 200
    assert keyd.request("c").json["ready"]
    late = keyd.request("b").json
    assert not late["ready"] and "user_memory_mb" in late["reason"]
    assert keyd.release("a").status == 200
    assert keyd.request("b").json["ready"]


def test_a_job_beyond_the_budget(start):
    """What can never be is refused for good."""
    keyd = start(user_memory_mb=1)
    refused = keyd.place("a", keyd.hosts, "alltoall")
    assert refused.status == 422 and "user_memory_mb" in refused.json["detail"]
    assert bytes_of(keyd, "user") == 0
    assert keyd.place("a", keyd.hosts, "ring").status == 200
    assert keyd.place("b", keyd.hosts[:1], "alltoall", ranks=64).status == 200  # without any flow on a link
    assert bytes_of(keyd, "key") < 20000


def test_steps_and_jobs_count(start):
    """Layouts take memory, too: the oldest steps are forgotten, and at last the user is refused."""
    keyd = start(user_memory_mb=1)
    assert keyd.place("a", keyd.hosts, "ring", uid=ALICE).status == 200
    for step in range(60):
        assert lay_out(keyd, "a", step, keyd.hosts).status == 200
    names = [entry["step"] for entry in keyd.get("/v1/jobs/a").json["steps"]]
    assert 16 <= len(names) < 60 and names[0] == "59"
    small = [f"small{number}" for number in range(3)]
    for job in small:
        assert keyd.place(job, keyd.hosts[:2], uid=ALICE).status == 200
    statuses = []
    while not statuses or statuses[-1] == 200:  # each answer to a placement has 0.4 MB
        statuses.append(keyd.place(f"j{len(statuses)}", keyd.hosts[:1], phases=[[]] * 4000, ranks=1, uid=ALICE).status)
    assert statuses[-1] == 429 and len(statuses) > 1
    statuses = [keyd.request(job, 0, f"x{step}").status for step in range(200) for job in small]
    assert set(statuses) == {200, 429} and statuses == sorted(statuses)
    assert bytes_of(keyd, "user", ALICE) < 1.1 * MB
    assert keyd.place("b", keyd.hosts, "ring", uid=BOB).status == 200
