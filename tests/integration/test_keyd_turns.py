# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a phase's beginning and end leave when the database refuses them, and ends of phases that come too late. Each
answer is held to doc/guide/keyd-api.yaml."""

import sqlite3

import pytest

from keyd_testing import FakeManager, Keyd, host_names, netlist, wait_for

PHASES = [[[0, 5]], [[0, 6]], [[0, 7]]]


@pytest.fixture(name="keyd")
def start_keyd(tmp_path):
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, answer_ms=60000)
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    keyd.start()
    yield keyd
    assert keyd.stop() == 0, keyd.log()


def place(keyd, mode="rewrite"):
    assert keyd.place("1", keyd.hosts, phases=PHASES, mode=mode).status == 200


def layout(keyd, step, hosts):
    assert keyd.call("PUT", f"/v1/jobs/1/steps/{step}/layout", {"ranks": hosts}).status == 200


def done(keyd, phase, step="0", **more):
    return keyd.call("POST", "/v1/jobs/1/done", {"step": step, "phase": phase, **more})


def join(keyd, step="0"):
    return keyd.call("POST", "/v1/jobs/1/join", {"step": step}).json


def steps(keyd):
    """Everything that is shown of the steps."""
    return {step["step"]: step for step in keyd.get("/v1/jobs/1").json["steps"]}


# ---- the database refuses ----

def refuse(keyd, condition):
    """From the next start of heddle-keyd on, the database takes no change of a step's phases for which that holds."""
    keyd.kill()
    with sqlite3.connect(keyd.state / "keyd.db") as database:
        database.execute("CREATE TRIGGER refuse BEFORE UPDATE OF active ON steps WHEN "
                         f"{condition} BEGIN SELECT RAISE(ABORT, 'refused'); END")
    database.close()
    keyd.start()


def take_again(keyd):
    keyd.kill()
    with sqlite3.connect(keyd.state / "keyd.db") as database:
        database.execute("DROP TRIGGER refuse")
    database.close()
    keyd.start()


def wait_for_phases(keyd, count):
    wait_for(lambda: keyd.metrics()["phases_in_force"] == count, "the keys")


@pytest.mark.parametrize("mode", ["rewrite", "offset"])
def test_a_phase_that_the_database_refuses(keyd, mode):
    """The answer says that nothing has changed, and nothing has: the phase before is active, its key is in force, its
    flows count, and its end is taken."""
    place(keyd, mode)
    assert keyd.request("1", 1).json["ready"]
    refuse(keyd, "NEW.active LIKE '%2%'")
    wait_for_phases(keyd, 1)
    wait_for(lambda: mode == "rewrite" or len(keyd.manager.keys) == 3, "the keys of all phases")
    before = steps(keyd), keyd.get("/v1/links").json, dict(keyd.manager.keys), join(keyd)
    sets = len(keyd.manager.sets)
    answer = keyd.request("1", 2)
    assert answer.status == 503 and "nothing has changed" in answer.json["detail"]
    assert (steps(keyd), keyd.get("/v1/links").json, dict(keyd.manager.keys), join(keyd)) == before
    assert keyd.request("1", 1).json["turn"] == before[3]["turn"] and len(keyd.manager.sets) == sets
    keyd.manager.change_fabric()  # its key is made again for another fabric
    wait_for(lambda: len(keyd.manager.sets) > sets, "the key again")
    wait_for_phases(keyd, 1)
    assert steps(keyd) == before[0]
    assert done(keyd, 1).status == 200 and keyd.get("/v1/links").json["most"] == 0


def test_a_step_whose_place_the_database_refuses_to_give_away(keyd):
    """The step that has the offset keeps it, also in the database."""
    place(keyd)
    layout(keyd, "4", keyd.hosts[:8])
    layout(keyd, "5", keyd.hosts[7::-1])
    assert keyd.request("1", 1, "4").json["ready"]
    refuse(keyd, "NEW.step = '5'")
    wait_for_phases(keyd, 1)
    before = steps(keyd), dict(keyd.manager.keys), join(keyd, "4")
    assert keyd.request("1", 0, "5").status == 503
    assert (steps(keyd), dict(keyd.manager.keys), join(keyd, "4")) == before
    take_again(keyd)
    wait_for_phases(keyd, 1)
    assert (join(keyd, "4"), steps(keyd)["4"]["active"], steps(keyd)["5"]["active"]) == (before[2], [1], [])
    assert keyd.request("1", 0, "5").json["ready"]
    assert (steps(keyd)["4"]["active"], steps(keyd)["5"]["active"]) == ([], [0])


def test_an_end_that_the_database_refuses(keyd):
    place(keyd)
    assert keyd.request("1", 1).json["ready"]
    refuse(keyd, "NEW.active LIKE '-%'")
    wait_for_phases(keyd, 1)
    before = steps(keyd), keyd.get("/v1/links").json
    assert done(keyd, 1).status == 503
    assert (steps(keyd), keyd.get("/v1/links").json) == before


# ---- ends that come too late ----

def test_an_end_of_an_earlier_turn(keyd):
    """A phase that has begun again is not ended by who knows only the time before."""
    place(keyd)
    first = keyd.request("1", 0).json["turn"]
    keyd.request("1", 1)
    third = keyd.request("1", 0).json["turn"]
    answer = done(keyd, 0, turn=first)
    assert answer.status == 409 and answer.json["type"] == "urn:heddle:turn" and answer.json["turn"] == third == 3
    assert "late" in answer.json["detail"] and steps(keyd)["0"]["active"] == [0]
    assert done(keyd, 0, turn=third - 1).status == 409
    assert done(keyd, 0, turn=third).status == 200 and steps(keyd)["0"]["active"] == []
    assert done(keyd, 0, turn=third).status == 409
    for turn in (-1, 4294967296, "1", 1.5, None):
        assert done(keyd, 0, turn=turn).status == 422


def test_an_end_without_a_turn(keyd):
    place(keyd)
    keyd.request("1", 0)
    keyd.request("1", 1)
    keyd.request("1", 0)
    assert done(keyd, 0).status == 200


def test_an_end_while_other_phases_begin(keyd):
    """In mode offset the step's turn grows with each phase. Only the turn in which the phase itself began counts."""
    place(keyd, "offset")
    turn = keyd.request("1", 0).json["turn"]
    keyd.request("1", 1)
    keyd.request("1", 2)
    assert done(keyd, 0, turn=turn).status == 200 and steps(keyd)["0"]["active"] == [1, 2]
    keyd.request("1", 0)
    assert done(keyd, 0, turn=turn).status == 409 and steps(keyd)["0"]["active"] == [0, 1, 2]


@pytest.mark.parametrize("mode", ["rewrite", "offset"])
def test_turns_after_a_restart(keyd, mode):
    """They are in the database: what was late before is late, and what was not is not."""
    place(keyd, mode)
    first = keyd.request("1", 0).json["turn"]
    done(keyd, 0)
    second = keyd.request("1", 0).json["turn"]
    third = keyd.request("1", 1).json["turn"] if mode == "offset" else second
    keyd.kill()
    keyd.start()
    wait_for_phases(keyd, 2 if mode == "offset" else 1)
    assert join(keyd)["turn"] == third and join(keyd)["phase"] == (1 if mode == "offset" else 0)
    assert done(keyd, 0, turn=first).status == 409
    assert done(keyd, 0, turn=second).status == 200
    keyd.kill()
    keyd.start()
    assert join(keyd)["turn"] == third
    assert keyd.request("1", 2).json["turn"] == third + 1


def test_turns_of_the_format_before(keyd):
    """A database of heddle-keyd without turns."""
    place(keyd)
    keyd.request("1", 1)
    layout(keyd, "4", keyd.hosts[8:])
    keyd.kill()
    with sqlite3.connect(keyd.state / "keyd.db") as database:
        database.execute("UPDATE steps SET active='1' WHERE step='0'")
        database.execute("UPDATE steps SET active='-2' WHERE step='4'")
    database.close()
    keyd.start()
    wait_for_phases(keyd, 1)
    assert (join(keyd)["turn"], join(keyd)["phase"]) == (1, 1)
    assert (join(keyd, "4")["turn"], join(keyd, "4")["phase"]) == (1, 2)
    assert done(keyd, 1, turn=7).status == 200  # of the time before
