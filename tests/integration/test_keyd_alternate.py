# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Mode alternate: the key of a phase is in the switches before that of the phase before it goes. Each answer is held to
doc/guide/keyd-api.yaml."""

import pytest

from keyd_testing import REFUSED, DONE, FakeManager, Keyd, host_names, netlist, wait_for

PHASES = [[[0, 5]], [[0, 6]], [[0, 7]], [[0, 9]]]


@pytest.fixture(name="keyd")
def start_keyd(tmp_path):
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, answer_ms=60000)
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    keyd.start()
    yield keyd
    assert keyd.stop() == 0, keyd.log()


def place(keyd, **more):
    answer = keyd.place("1", keyd.hosts, phases=PHASES, mode="alternate", **more)
    assert answer.status == 200, answer.text
    return answer.json


def grant(keyd, phase):
    answer = keyd.request("1", phase).json
    assert answer["ready"], answer
    return answer["offset"]


def active(keyd):
    return keyd.get("/v1/jobs/1").json["active"]


def lids(entries):
    return {lid for _, lid in entries}


def test_phases_change_places(keyd):
    """Each request writes to LIDs that the phase before does not use, whose key stays as it is until the next one."""
    assert (place(keyd)["offset"], place(keyd)["offsets"]) == (1, 2)
    offsets, before = [], None
    for phase in (0, 1, 2, 3, 0, 2):
        offsets.append(grant(keyd, phase))
        key, _, entries = keyd.manager.sets[-1]
        assert active(keyd) == [phase]
        if before:
            assert not lids(entries) & lids(before[1]) and keyd.manager.keys[before[0]] == before[1]
        before = key, entries
    assert offsets == [1, 2, 1, 2, 1, 2]
    assert keyd.get("/v1/links").json["most"] == 1  # of one phase
    keyd.release("1")
    wait_for(lambda: not keyd.manager.keys, "the removal")


def test_a_phase_that_is_there(keyd):
    """A phase whose key is in the switches keeps its offset when it begins again."""
    place(keyd)
    assert [grant(keyd, phase) for phase in (0, 1, 0, 0, 1)] == [1, 2, 1, 1, 2]
    assert keyd.done("1", 1).status == 200 and active(keyd) == []
    join = keyd.call("POST", "/v1/jobs/1/join", {}).json
    assert (join["phase"], join["offset"], join["ready"]) == (1, 2, True)
    assert grant(keyd, 1) == 2 and grant(keyd, 3) == 1


def test_a_key_that_is_refused_leaves_the_one_before(keyd):
    """Without a key for the new phase, the routes of the phase before are still there."""
    place(keyd)
    grant(keyd, 0)
    held = dict(keyd.manager.keys)
    keyd.manager.answer = lambda key, entries: (REFUSED, "it closes a credit loop")
    assert not keyd.request("1", 1).json["ready"]
    assert keyd.manager.keys == held
    keyd.manager.answer = lambda key, entries: (DONE, "")
    assert grant(keyd, 1) == 2


def test_one_offset_is_free(keyd):
    """Then it is as in mode rewrite: the routes of the one offset change, in steps that the subnet manager proves."""
    assert keyd.place("other", keyd.hosts[:2], phases=[[[0, 1]]] * 2, mode="offset").status == 200
    assert place(keyd)["offsets"] == 1
    assert [grant(keyd, phase) for phase in (0, 1, 2)] == [3, 3, 3] and active(keyd) == [2]


def test_one_key_is_allowed(keyd):
    assert place(keyd, keys=1)["offsets"] == 1


def test_a_rekey_keeps_the_offset(keyd):
    """Ranks have read it. A change of the fabric, or a restart, writes to the same LIDs."""
    place(keyd)
    assert [grant(keyd, phase) for phase in (0, 1)] == [1, 2]
    key, _, entries = keyd.manager.sets[-1]
    sets = len(keyd.manager.sets)
    keyd.manager.change_fabric()
    wait_for(lambda: len(keyd.manager.sets) > sets, "the key again")
    assert [(again[0], lids(again[2])) for again in keyd.manager.sets[sets:]] == [(key, lids(entries))]
    for _ in range(2):
        keyd.kill()
        keyd.start()
        wait_for(lambda: keyd.metrics()["phases_in_force"] == 1, "the key after a restart")
        assert lids(keyd.manager.keys[key]) == lids(entries) and active(keyd) == [1]
        assert keyd.call("POST", "/v1/jobs/1/join", {}).json["offset"] == 2
    assert grant(keyd, 2) == 1 and keyd.manager.keys[key] == keyd.manager.sets[-2][2]
