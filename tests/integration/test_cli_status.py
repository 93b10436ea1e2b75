# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`heddle status` and `heddle metrics` at sockets where no plugin, or another version of it, answers."""

import contextlib
import copy
import json
import socket
import threading
import time

import pytest

from cli_testing import CLEAN, FAULTS, heddle, refused

NOW = int(time.time())
ANSWER = {"format": 1, "parts": {
    "keys": {"summary": "off", "faults": []},
    "later": {"summary": "what a later version says", "faults": ["a fault"], "more": {"x": [1]}},
    "engines": {"summary": "dmodk", "line": "a line", "time": NOW - 7300, "faults": []},
    "fabric": {"summary": "1 switch", "lost_switches": 3, "lost_cables": 1,
               "lost": [{"text": "switch 'a'"}, {"text": "cable \x1b[2J|"}], "faults": []},
    "subnet": {"summary": "master", "state": "master", "opensm": "3", "heddle": "4", "pid": 5,
               "started": NOW - 200000, "last_sweep": NOW - 3 * 3660, "faults": []}}, "fault_count": 1}


@contextlib.contextmanager
def served(folder, data, hold=False):
    """A socket that answers each line with these bytes, and then hangs up; hold: once the client has hung up."""
    path, asked = folder / "socket", []

    def serve():
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            with client:
                asked.append(client.recv(64))
                with contextlib.suppress(OSError):
                    client.sendall(data)
                    while hold and client.recv(64):
                        pass

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        threading.Thread(target=serve, daemon=True).start()
        yield path, asked
        listener.shutdown(socket.SHUT_RDWR)


def changed(**keys):
    return json.dumps({**copy.deepcopy(ANSWER), **keys}).encode()


def test_text(tmp_path):
    """Parts in their order, also those of a later version; times as ages; nothing that a terminal obeys."""
    with served(tmp_path, changed()) as (path, asked):
        lines = heddle("status", "-s", path, status=FAULTS)[0].splitlines()
    assert asked == [b"status\n"]
    assert lines == [
        "OpenSM 3 with Heddle 4, process 5, running for 2 days", "",
        "subnet    master, 3 hours ago",
        "engines   dmodk",
        "          a line, 2 hours ago",
        "fabric    1 switch",
        "          lost: switch 'a'",
        r"          lost: cable \u001b[2J|",
        "          lost: 2 more",
        "keys      off",
        "later     what a later version says", "",
        "Degraded:",
        "  later: a fault"]


def test_statuses(tmp_path):
    """The exit status and the line for Nagios: OK, a warning, critical if it is the engine."""
    with served(tmp_path, changed(fault_count=0)) as (path, _):
        assert heddle("status", "-s", path, status=CLEAN)[0].endswith("\nAll is well.\n")
    (tmp_path / "socket").unlink()
    with served(tmp_path, changed()) as (path, _):
        line = heddle("status", "--nagios", "-s", path, status=1)[0]
        assert line.startswith("HEDDLE WARNING - master, dmodk; a fault | faults=1;0;;0 ") and line.count("|") == 1
    (tmp_path / "socket").unlink()
    parts = copy.deepcopy(ANSWER["parts"])
    parts["engines"]["faults"] = ["a | b"]
    with served(tmp_path, changed(parts=parts)) as (path, _):
        line = heddle("status", "--nagios", "-s", path, status=2)[0]
        assert line.startswith("HEDDLE CRITICAL - ") and line.count("|") == 1


@pytest.mark.parametrize("data, reason", (
    (b"", "the connection was closed without an answer"), (b"HKEY\0\1\0\1", "is no answer of Heddle's plugin"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not one that this version"), (b"[]", "not one that this version"),
    (changed()[:-10], "not one that this version"), (changed(format=2), "not one that this version"),
    (changed(parts={}), "not one that this version"), (changed(fault_count="1"), "not one that this version"),
    (b"[" * 100000, "not one that this version"), (b'{"format":1,"format":1}', "not one that this version")))
def test_answers_that_are_none(tmp_path, data, reason):
    with served(tmp_path, data) as (path, _):
        assert reason in refused("status", "--socket", path)
        stdout = heddle("status", "--socket", path, "--nagios", status=3)[0]
        assert stdout.startswith("HEDDLE UNKNOWN - ") and reason in stdout
        assert str(path) in refused("metrics", "--socket", path)


def test_odd_types_do_no_harm(tmp_path):
    """A value of another type is as if it were missing."""
    parts = {"subnet": {"summary": 3, "state": [], "faults": {}, "last_sweep": "x"},
             "engines": {"line": {}, "faults": [1, {}]}, "fabric": {"lost": [1, {"text": 2}], "summary": "s"}, "x": 7}
    with served(tmp_path, changed(parts=parts)) as (path, _):
        for more in ([], ["--nagios"], ["--json"]):
            heddle("status", "-s", path, *more, status=None)
        assert "not the master" in heddle("status", "-s", path, status=FAULTS)[0]


def test_metrics_are_complete(tmp_path):
    with served(tmp_path, b"heddle_x 1\n# EOF\n") as (path, asked):
        assert heddle("metrics", "-s", path)[0] == "heddle_x 1\n# EOF\n"
    assert asked == [b"metrics\n"]
    (tmp_path / "socket").unlink()
    with served(tmp_path, b"heddle_x 1\nheddle_y") as (path, _):
        assert "the answer is not complete" in refused("metrics", "-s", path)


def test_patience(tmp_path):
    """A server that does not answer, or never ends, is left after the time-out."""
    for data in (b"", changed()):
        with served(tmp_path, data, hold=True) as (path, _):
            begun = time.monotonic()
            assert "no answer: Connection timed out" in refused("status", "-s", path, "--timeout", 300)
            assert time.monotonic() - begun >= 0.3
        path.unlink()


def test_paths(tmp_path):
    """What is no socket, or cannot be one."""
    plain = tmp_path / "file"
    plain.write_text("")
    assert "no answer: Connection refused; is OpenSM running" in refused("status", "-s", plain)
    assert "the path is too long for a socket" in refused("metrics", "-s", "/" + "x" * 200)
    stdout, stderr = heddle("status", "--nagios", "--json", "-s", plain, status=3)
    assert stdout.startswith("HEDDLE UNKNOWN - bad usage") and "--nagios cannot be used with --json" in stderr
