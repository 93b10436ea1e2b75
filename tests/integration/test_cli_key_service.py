# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands that ask heddle-keyd send what they should, and show what it answers. A stand-in
answers in its place."""

import json
import os
import subprocess

import pytest

from cli_testing import HEDDLE, heddle
from fake_keyd import FakeKeyd


@pytest.fixture(name="keyd")
def keyd_fixture(tmp_path):
    with FakeKeyd(tmp_path / "keyd.sock") as keyd:
        yield keyd


def ask(keyd, *words, status=0):
    """(stdout, stderr) of a command that asks this keyd."""
    return heddle("key", *words, "--socket", str(keyd.path), status=status)


def place(keyd, *words, status=0, nodes="node[1-4]", pattern="ring"):
    return ask(keyd, "place", "-j", "17", "-w", nodes, "-p", pattern, *words, status=status)


def test_a_job_from_beginning_to_end(keyd):
    """Each command makes its call, and says in words what came of it."""
    assert "job 17 is placed: 4 ranks on 4 hosts" in place(keyd)[0]
    out = ask(keyd, "request", "-j", "17", "-n", "2")[0]
    assert "key 17.2.0 is in force: LID offset 1" in out
    assert ask(keyd, "done", "-j", "17", "--phase", "2")[0] == "phase 2 of job 17 has ended\n"
    assert ask(keyd, "release", "-j", "17")[0] == "job 17 is released\n"
    assert [call[:3] for call in keyd.calls] == [
        ("PUT", "/v1/jobs/17", {"hosts": ["node1", "node2", "node3", "node4"], "pattern": "ring",
                                "mode": "rewrite", "best_effort": True}),
        ("POST", "/v1/jobs/17/request", {"step": "0", "phase": 2, "turn": 0}),
        ("POST", "/v1/jobs/17/done", {"step": "0", "phase": 2}),
        ("DELETE", "/v1/jobs/17", None)]


def test_options_of_place(keyd):
    place(keyd, "-r", "8", "-u", "1000", "-m", "offset", "-k", "3", "--strict")
    assert keyd.calls[0][2] == {
        "hosts": [f"node{i}" for i in range(1, 5)], "pattern": "ring", "uid": 1000, "ranks": 8,
        "mode": "offset", "keys": 3, "best_effort": False}


def test_alternate_phases(keyd):
    assert "mode alternate" in place(keyd, "--mode", "alternate")[0]
    assert keyd.calls[0][2]["mode"] == "alternate"
    assert "rewrite" in place(keyd, "--mode", "other", status=2)[1]


def test_several_offsets_in_a_phase(keyd):
    """Which flows, and which ranks, do not use the first one."""
    keyd.paths = {"offsets": 3, "paths": [[1, 4, 2], [2, 5, 3]]}
    keyd.rank_offsets = {"rank_offsets": [[2, 3], [3, 2]]}
    lines = [line.split() for line in place(keyd)[0].splitlines()]
    assert ["17.0", "0", "1", "3", "8", "1"] in lines
    for line in (["RANK", "OFFSET"], ["2", "3"], ["3", "2"], ["PHASE", "FROM", "TO", "OFFSET"], ["0", "1", "4", "2"],
                 ["0", "2", "5", "3"]):
        assert line in lines
    placed = json.loads(place(keyd, "--json")[0])
    assert placed["rank_offsets"] == [[2, 3], [3, 2]] and placed["keys"][0]["offsets"] == 3
    assert placed["keys"][0]["paths"] == keyd.paths["paths"]
    out = ask(keyd, "request", "-j", "17", "--rank", "1")[0]
    assert "LID offset 1 (the phase has 3), " in out and "\nto rank 5: LID offset 3\n" in out
    grant = json.loads(ask(keyd, "request", "-j", "17", "--json")[0])
    assert grant["offsets"] == 3 and grant["paths"] == keyd.paths["paths"]
    assert ask(keyd, "request", "-j", "17", "-q")[0] == "1\n"
    keyd.paths = {"offsets": 3, "paths": [[1, 4]]}
    assert "lacks a member" in ask(keyd, "request", "-j", "17", status=2)[1]


def test_one_offset_in_a_phase(keyd):
    """The usual answer has no word of it."""
    assert "RANK" not in place(keyd)[0]
    placed = json.loads(place(keyd, "--json")[0])
    assert (placed["rank_offsets"], placed["keys"][0]["offsets"], placed["keys"][0]["paths"]) == ([], 1, [])
    assert "the phase has" not in ask(keyd, "request", "-j", "17")[0]


@pytest.mark.parametrize("text, names", [
    ("a,b c", "a b c"), ("node[1-3,7]", "node1 node2 node3 node7"), ("n[08-11]", "n08 n09 n10 n11"),
    ("r[1-2]n[1-2]x", "r1n1x r1n2x r2n1x r2n2x"), ("0x0002c903000e0b72,b[5]", "0x0002c903000e0b72 b5"),
    ("b,a,,b2,", "b a b2")])
def test_lists_of_hosts(keyd, tmp_path, text, names):
    """As Slurm writes them, on the command line and in a file, in the order that is given."""
    place(keyd, nodes=text)
    path = tmp_path / "hosts"
    path.write_text(f"# hosts\n{text}  # these\n\n")
    ask(keyd, "place", "-j", "18", "--hosts", path, "-p", "ring")
    assert [call[2]["hosts"] for call in keyd.calls] == [names.split()] * 2


@pytest.mark.parametrize("text, says", [
    ("node[1-3", "'[' has no ']'"), ("node1-3]", "']' has no '['"), ("n[3-1]", "range is empty"),
    ("n[a]", "expected a number"), ("n[1-]", "number after '-'"), ("n[1;2]", "expected ',' or ']'"),
    ("n[]", "expected a number"), ("", "list of hosts is empty"), ("n[0-99999]", "too long"),
    ("n[1-300]m[1-300]", "more than 65536"), ("x" * 300, "too long"), ("n[9999999999]", "expected a number")])
def test_lists_of_hosts_that_are_wrong(keyd, text, says):
    assert says in place(keyd, nodes=text, status=2)[1] and keyd.calls == []


def test_ranks_of_a_grid_and_of_a_file(keyd, tmp_path):
    """A grid says its ranks. A file's flows are sent; its ranks fill the hosts evenly."""
    place(keyd, pattern="stencil2d:4x8")
    assert keyd.calls[-1][2]["ranks"] == 32 and keyd.calls[-1][2]["pattern"] == "stencil2d:4x8"
    (tmp_path / "flows").write_text("phase\n0 5\nphase\n1 2\n2 1\n")
    ask(keyd, "place", "-j", "18", "-w", "node[1-4]", "-p", f"file:{tmp_path}/flows")
    assert keyd.calls[-1][2]["phases"] == [[[0, 5]], [[1, 2], [2, 1]]] and keyd.calls[-1][2]["ranks"] == 8


def test_what_is_wrong_with_a_placement_is_keyds_to_say(keyd):
    place(keyd)
    out, err = place(keyd, pattern="stencil1d", status=2)
    assert out == "" and "heddle-keyd: job 17 is placed otherwise (status 409)" in err
    assert "job 99 is not placed" in ask(keyd, "request", "-j", "99", status=2)[1]
    assert "the phase is not active" in ask(keyd, "done", "-j", "17", status=2)[1]


def test_a_key_that_is_not_in_force(keyd):
    """Status 1, the reason on standard error, and offset 0 for scripts."""
    place(keyd)
    keyd.ready = False
    out, err = ask(keyd, "request", "-j", "17", "-q", status=1)
    assert out == "0\n" and "the subnet manager is away" in err
    keyd.ready = True
    assert ask(keyd, "request", "-j", "17", "-q")[0] == "1\n"


def test_the_environment_names_job_step_and_keyd(keyd):
    """As the plugin for Slurm sets it."""
    place(keyd)
    environment = {**os.environ, "HEDDLE_JOB": "17", "HEDDLE_STEP": "3", "HEDDLE_KEYD": str(keyd.path)}
    done = subprocess.run([HEDDLE, "key", "request", "-q"], env=environment, text=True, capture_output=True,
                          check=True)
    assert done.stdout == "1\n" and keyd.calls[-1][1:3] == ("/v1/jobs/17/request",
                                                             {"step": "3", "phase": 0, "turn": 0})
    assert "no job given" in ask(keyd, "request", status=2)[1]


def test_lists(keyd):
    """Tables for people, JSON for programs."""
    place(keyd)
    ask(keyd, "request", "-j", "17")
    out = ask(keyd, "list")[0]
    assert "fabric: ready, engine nrk, 12 switches, 16 hosts, LMC 2" in out
    assert out.splitlines()[-1].split() == ["17", "placed", str(os.getuid()), "4", "rewrite", "1"]
    listed = json.loads(ask(keyd, "list", "--json")[0])
    assert listed["fabric"]["epoch"] == 7 and listed["jobs"][0]["active_phases"] == 1


def test_links_are_a_bar_chart(keyd):
    """The most loaded link comes first and has the longest bar."""
    lines = ask(keyd, "links")[0].splitlines()
    assert lines[0] == "3 links carry flows of keys, at most 3 on one link"
    bars = [line.count("#") for line in lines[3:]]
    assert bars == [40, 26, 13] and lines[3].split()[:2] == ["leaf", "3"]
    assert len(ask(keyd, "links", "--top", "1")[0].splitlines()) == 5
    links = json.loads(ask(keyd, "links", "--json")[0])
    assert [link["flows"] for link in links["links"]] == [3, 2, 1] and links["most"] == 3


def test_json_of_each_command(keyd):
    assert json.loads(place(keyd, "--json")[0])["keys"][0]["contention"] == 1
    assert json.loads(ask(keyd, "request", "-j", "17", "--json")[0])["ready"] is True
    assert json.loads(ask(keyd, "done", "-j", "17", "--json")[0]) == {"phase": 0}
    assert json.loads(ask(keyd, "release", "-j", "17", "--json")[0]) == {"job": "17"}


@pytest.mark.parametrize("words, says", [
    (["--socket", "/nowhere/keyd.sock"], "systemctl start heddle-keyd"),
    (["--socket", "keyd.sock"], "begins with '/'"), (["--host", "nowhere"], "HOST:PORT"),
    (["--socket", "/a", "--host", "b:1"], "exclude each other"), (["--timeout", "0"], "timeout")])
def test_where_keyd_is(words, says):
    """A message says which socket it is, or what is wrong with the option."""
    err = heddle("key", "list", *words, status=2)[1]
    assert says in err and (words[1] != "/nowhere/keyd.sock" or words[1] in err)
