# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What heddle-keyd has answered survives its end at any moment; a full disk changes nothing.

HEDDLE_KEYD_KILLS: how many times the daemon is killed (default 10)."""

import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from keyd_testing import KEYD, FakeManager, Keyd, host_names, netlist, wait_for
from fabric_sim import PATIENCE

KILLS = int(os.environ.get("HEDDLE_KEYD_KILLS", "10"))
TREE = ("--children", "8,8", "--parents", "1,8")


@pytest.fixture(name="site")
def make_site(tmp_path):
    fabric = netlist(tmp_path, *TREE, lmc=4)
    keyd = Keyd(tmp_path)
    keyd.manager = FakeManager(tmp_path / "sm.sock", fabric)
    keyd.hosts = host_names(fabric)
    yield keyd
    assert keyd.stop() in (0, -signal.SIGKILL), keyd.log()


class Client(threading.Thread):
    """Places, requests, ends and releases jobs of its own, and notes what was answered."""

    def __init__(self, keyd, number):
        super().__init__(daemon=True)
        self.keyd, self.random = keyd, random.Random(number)
        self.names = [f"c{number}-{i}" for i in range(6)]
        self.hosts = keyd.hosts[8 * number:8 * number + 8]
        self.jobs = {}  # what was answered 200: {job: answer}
        self.active = {}  # phases that were answered: {job: phase}, not set while a call is open
        self.unknown = {}  # of a call without an answer: {job: what it was}
        self.stop, self.answered, self.wrong = False, 0, []

    def run(self):
        while not self.stop:
            job = self.random.choice(self.names)
            try:
                self.step(job)
            except OSError:
                return

    def expect(self, answer, *statuses):
        self.answered += 1
        if answer.status not in statuses:
            self.wrong.append(answer.text)

    def step(self, job):
        if job not in self.jobs:
            self.unknown[job] = "place"
            answer = self.keyd.place(job, self.hosts, "stencil2d")
            self.expect(answer, 200)
            self.jobs[job] = answer.text
        elif self.random.random() < 0.2:
            self.unknown[job] = "release"
            self.expect(self.keyd.release(job), 200)
            del self.jobs[job]
            self.active.pop(job, None)
        elif job in self.active:
            self.unknown[job] = "done"
            self.expect(self.keyd.done(job, self.active[job]), 200)
            del self.active[job]
        else:
            phase = self.random.randrange(4)
            self.unknown[job] = "request"
            answer = self.keyd.request(job, phase)
            self.expect(answer, 200)
            self.active[job] = phase
        del self.unknown[job]


def verify(keyd, clients):
    """Everything that was answered is there; what is open has happened or has not."""
    jobs = {entry["job"]: entry for entry in keyd.get("/v1/jobs").json["jobs"]}
    for client in clients:
        assert client.wrong == []
        for job in client.names:
            call = client.unknown.get(job)
            if job in client.jobs and call != "release":
                assert job in jobs
                answer = keyd.place(job, client.hosts, "stencil2d")
                assert answer.text == client.jobs[job]
            if job not in client.jobs and call != "place":
                assert job not in jobs
            if job in jobs and call not in ("request", "done", "place", "release"):
                assert jobs[job]["active"] == ([client.active[job]] if job in client.active else []), (job, call)
    known = {slot["number"] for job in jobs for step in keyd.get(f"/v1/jobs/{job}").json["steps"]
             for slot in step["slots"]}
    wait_for(lambda: keyd.manager.keys.keys() <= known, f"only known keys: {keyd.manager.keys.keys() - known}")
    wait_for(lambda: keyd.metrics()["phases_in_force"] == keyd.metrics()["active_phases"], "active phases in force")


def test_kill(site):
    """Killed at random moments under load: every answered call survives, and no key is in the
    switches that keyd does not know."""
    moments, answered, used = random.Random(1), 0, set()
    for _ in range(KILLS):
        site.start()
        clients = [Client(site, number) for number in range(8)]
        for entry in site.get("/v1/jobs").json["jobs"]:
            assert site.release(entry["job"]).status == 200
        for client in clients:
            client.start()
        wait_for(lambda: sum(client.answered for client in clients) > 10, "answered calls")
        time.sleep(moments.uniform(0.02, 0.3))
        site.kill()
        for client in clients:
            client.join(PATIENCE)
        used |= {key for key, _, entries in site.manager.sets if entries}
        site.start()
        verify(site, clients)
        answered += sum(client.answered for client in clients)
        assert site.stop() == 0
    assert answered > 10 * KILLS
    print(f"{KILLS} kills, {answered} answered calls, {len(used)} keys")


def test_restart(site):
    """A restarted keyd knows jobs, layouts and active phases, and never uses a key's number again."""
    site.start()
    placed = site.place("a", site.hosts[:8], "stencil2d")
    ranks = site.hosts[:8][::-1]
    layout = site.call("PUT", "/v1/jobs/a/steps/7/layout", {"ranks": ranks})
    assert site.request("a", 2, "7").json["ready"]
    site.place("b", site.hosts[:8], phases=[[[0, 1]], [[1, 7]]], mode="offset")
    assert site.request("b", 1).json["offset"] == 3
    before, links = site.get("/v1/jobs/a").json, site.get("/v1/links").json
    numbers = max(site.manager.keys)
    site.kill()
    site.start()
    wait_for(lambda: site.metrics()["phases_in_force"] == 2, "the keys")
    assert site.get("/v1/jobs/a").json.keys() == before.keys()
    assert site.get("/v1/jobs/a").json["active"] == [2] and site.get("/v1/jobs/b").json["active"] == [1]
    assert site.get("/v1/links").json["most"] == links["most"]
    assert site.place("a", site.hosts[:8], "stencil2d").text == placed.text
    assert site.done("a", 2, "7").status == 200
    assert site.call("PUT", "/v1/jobs/a/steps/7/layout", {"ranks": ranks}).text == layout.text
    assert site.place("c", site.hosts[8:16]).status == 200 and site.request("c").json["ready"]
    assert site.get("/v1/jobs/c").json["steps"][0]["slots"][0]["number"] > numbers


DAMAGES = {
    "UPDATE jobs SET body='{\"hosts\":' WHERE id='b'": "",
    "UPDATE jobs SET body='' WHERE id='b'": "",
    "UPDATE jobs SET body=replace(body, 'stencil2d', 'stencil9d') WHERE id='b'": "unknown pattern 'stencil9d'",
    "UPDATE jobs SET body=replace(body, 'stencil2d', 'file:/etc/shadow') WHERE id='b'": "file",
    "UPDATE jobs SET body=replace(body, 'stencil2d', 'stencil2d:3x3') WHERE id='b'": "is for 9 ranks",
    "UPDATE jobs SET body=replace(body, 'H_', 'h\"') WHERE id='b'": "",
    "UPDATE jobs SET answer='' WHERE id='b'": "the answer is not JSON",
    "UPDATE jobs SET first_offset=4000000000 WHERE id='b'": "bad LID offsets",
    "UPDATE jobs SET offsets=0 WHERE id='b'": "bad LID offsets",
    "UPDATE jobs SET answer=replace(answer, '\"keys\"', '\"rank_offsets\":[[0,100]],\"keys\"') WHERE id='b'":
        "bad LID offsets of flows",
    "UPDATE jobs SET uid=-1 WHERE id='b'": "bad uid",
    "UPDATE steps SET body='[]' WHERE job='b' AND step='7'": "step 7: ",
    "UPDATE steps SET body='{\"ranks\": [\"nowhere\"]}' WHERE job='b' AND step='7'": "'nowhere'",
    "UPDATE steps SET first_key=(SELECT first_key FROM steps WHERE job='a') WHERE job='b'": "bad key number",
    "DELETE FROM jobs WHERE id='b'": "there is no such job"}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_job(site, damage):
    """A damaged job is set aside: the others keep their keys, its own leave the switches, the log says
    so once, its rows stay for inspection, and it can be placed again."""
    site.start()
    for number, job in enumerate("abc"):
        assert site.place(job, site.hosts[8 * number:8 * number + 8], "stencil2d").status == 200
        assert site.request(job, 1).json["ready"]
    assert site.call("PUT", "/v1/jobs/b/steps/7/layout", {"ranks": site.hosts[8:16]}).status == 200
    own = {slot["number"] for step in site.get("/v1/jobs/b").json["steps"] for slot in step["slots"]}
    kept = site.manager.keys.keys() - own
    assert site.stop() == 0
    with sqlite3.connect(site.state / "keyd.db") as database:
        database.execute(damage)
        rows = sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                   for table in ("jobs WHERE id='b'", "steps WHERE job='b'"))
    database.close()
    for _ in range(2):
        site.start()
        assert {entry["job"] for entry in site.get("/v1/jobs").json["jobs"]} == {"a", "c"}
        wait_for(lambda: site.metrics()["phases_in_force"] == 2, "the keys of the others")
        wait_for(lambda: site.manager.keys.keys() == kept, "no keys of the damaged job")
        assert site.log().count("job b is damaged in ") == 1 and DAMAGES[damage] in site.log()
        assert site.stop() == 0
    with sqlite3.connect(site.state / "keyd.db") as database:
        aside = [why for table in ("jobs_aside WHERE id='b'", "steps_aside WHERE job='b'")
                 for why, in database.execute(f"SELECT why FROM {table}")]
        assert len(aside) == rows and all(aside)
    database.close()
    site.start()
    assert site.place("b", site.hosts[8:16], "stencil2d").status == 200 and site.request("b", 1).json["ready"]


def test_disk_before_answer(site, monkeypatch):
    """A placement, a layout and a release are on the disk before they are answered; a phase is only
    with the operating system."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # it cannot look for leaks below strace
    trace = site.folder / "trace"
    site.prefix = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync"]
    site.start()

    def syncs(call):
        before = len(trace.read_text().splitlines())
        assert call().status == 200
        return len(trace.read_text().splitlines()) - before

    assert syncs(lambda: site.place("a", site.hosts[:8], "stencil2d")) > 0
    assert syncs(lambda: site.request("a", 1)) == 0
    assert syncs(lambda: site.done("a", 1)) == 0
    assert syncs(lambda: site.call("PUT", "/v1/jobs/a/steps/7/layout", {"ranks": site.hosts[:8]})) > 0
    assert syncs(lambda: site.release("a")) > 0
    child = int(subprocess.run(["pgrep", "-P", str(site.process.pid)], capture_output=True, text=True).stdout)
    os.kill(child, signal.SIGTERM)
    assert site.process.wait(PATIENCE) == 0


def test_many_steps(site):
    """A job with many steps keeps the newest 256 and those that are active, also after a restart."""
    site.start()
    site.place("a", site.hosts[:8], "stencil2d")
    assert site.request("a", 0, "old").json["ready"]
    connection = site.connect()
    for step in range(300):
        answer = site.call("PUT", f"/v1/jobs/a/steps/{step}/layout", {"ranks": site.hosts[:7]}, connection=connection)
        assert answer.status == 200
    connection.close()
    steps = {entry["step"]: entry["active"] for entry in site.get("/v1/jobs/a").json["steps"]}
    assert len(steps) == 256 and steps["old"] == [0] and "299" in steps and "10" not in steps
    site.kill()
    site.start()
    assert steps == {entry["step"]: entry["active"] for entry in site.get("/v1/jobs/a").json["steps"]}


def test_second_keyd(site):
    """Another keyd on the same state, or at the same socket, does not start and says why."""
    site.start()
    done = subprocess.run([KEYD, "--config", site.config], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "another heddle-keyd uses this state" in done.stderr
    other = site.folder / "other.conf"
    other.write_text(f"[keyd]\nsocket = {site.socket}\nstate = {site.folder}/other\n")
    done = subprocess.run([KEYD, "--config", other], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "another heddle-keyd is running" in done.stderr
    kept = site.folder / "kept"
    kept.write_text("a file that 'socket' names by mistake")
    other.write_text(f"[keyd]\nsocket = {kept}\nstate = {site.folder}/other\n")
    done = subprocess.run([KEYD, "--config", other], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "not a socket" in done.stderr and kept.is_file()
    assert site.get("/healthz").status == 200


def fill(site):
    """Places and releases jobs until the disk is full. The jobs that are placed, and the refusal."""
    placed = []
    for number in range(2000):
        answer = site.place(f"j{number}", site.hosts, phases=[[[a, b] for a in range(64) for b in range(64) if a != b]])
        if answer.status != 200:
            return placed, answer
        placed.append(f"j{number}")
        if number % 10 == 0:
            assert site.request(placed[-1]).status == 200
        if number >= 14:  # all offsets are in use: on other hosts
            answer = site.release(placed[0])
            if answer.status != 200:
                return placed, answer
            placed.pop(0)
    raise AssertionError("the disk did not become full")


def check_full_disk(site, make_room, reason):
    """The refusal says what is not stored, where, and why."""
    placed, answer = fill(site)
    assert answer.status == 503 and not answer.headers["Retry-After"]
    assert re.fullmatch(f"heddle-keyd cannot store (the|the end of) job j\\d+ in {site.state}/keyd.db: {reason}; nothing has "
                        "changed", answer.json["detail"]), answer.text
    assert {entry["job"] for entry in site.get("/v1/jobs").json["jobs"]} == set(placed)
    site.kill()
    make_room()
    site.start()
    assert {entry["job"] for entry in site.get("/v1/jobs").json["jobs"]} == set(placed)
    again = site.place("again", site.hosts[:2])
    assert again.status == 200, again.text
    for job in placed:
        assert site.release(job).status == 200
    assert site.place("last", site.hosts[:2]).status == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away; CI runs as root")
@pytest.mark.parametrize("mode, owner", [(0o1777, 0), (0o777, 0), (0o770, 0), (0o755, 65534)])
def test_folders_of_others(tmp_path, mode, owner):
    """A state in which other users can put files is not used, and no file is made there. No socket is where they can
    exchange it; in a folder such as /tmp they cannot."""
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, owner, owner)
    place.chmod(mode)
    keyd = Keyd(tmp_path, state=place).spawn()
    assert keyd.process.wait(PATIENCE) == 1 and f"{place}" in keyd.log()
    assert not list(place.iterdir())
    keyd = Keyd(tmp_path, socket=place / "keyd.sock")
    keyd.socket = place / "keyd.sock"
    if mode == 0o1777:
        keyd.start(ready=False).stop()
    else:
        assert keyd.spawn().process.wait(PATIENCE) == 1
        assert f"{place}/keyd.sock: users other than root can change {place}" in keyd.log()


def test_file_size_limit(site):
    """At a limit of file sizes, placement is 503 and leaves nothing; what was placed before stays."""
    site.preexec = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    def make_room():
        site.preexec = None

    site.start()
    check_full_disk(site, make_room, "Input/output error")


def test_full_disk(site):
    """The same on a small disk that is full."""
    if os.getuid():
        pytest.skip("needs root to mount a disk")
    site.state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", site.state], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        site.start()
        check_full_disk(site, lambda: subprocess.run(["mount", "-o", "remount,size=16m", site.state], check=True),
                        "No space left on device")
        site.stop()
    finally:
        site.stop()
        subprocess.run(["umount", site.state], check=True)


def test_full_disk_at_the_start(site):
    """A daemon that cannot make its tables says so, with the file and the reason, and without SQL."""
    if os.getuid():
        pytest.skip("needs root to mount a disk")
    site.state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", site.state], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        site.spawn()
        assert site.process.wait(PATIENCE) == 1
        site.process = None
    finally:
        subprocess.run(["umount", site.state], check=True)
    assert f"{site.state}/keyd.db: cannot " in site.log() and "No space left on device" in site.log()
    assert "CREATE" not in site.log() and "PRAGMA" not in site.log()


def test_sigterm_drains(site):
    """A call that is under way at SIGTERM is answered; the exit status is 0 and the socket is gone."""
    site.options["answer_ms"] = 1500  # no answer comes
    site.start()
    site.place("1", site.hosts, "shift:9")
    site.manager.answer = lambda key, entries: None
    answers = []
    thread = threading.Thread(target=lambda: answers.append(site.request("1")))
    thread.start()
    wait_for(lambda: site.metrics()["sets_total"] == 1, "the request")
    assert site.stop() == 0
    thread.join(10)
    assert answers[0].status == 200 and not answers[0].json["ready"]
    assert not site.socket.exists()


@pytest.mark.parametrize("text, words", [
    ("[keyd]\nsocket = relative\n", "heddle.conf:2: "), ("[keyd]\nshift = up\n", "heddle.conf:2: "),
    ("[keyd]\nscheduler_uids = no-such-user\n", "no-such-user"), ("[keyd]\ntcp = nowhere\n", "nowhere"),
    ("[keyd]\ncolour = red\n", "colour"), ("[keyd]\nhosts_file = /no/such\n", "/no/such"),
    ("[keyd]\nthreads = 1000\n", "threads"), ("[keyd\n", "heddle.conf:1: ")])
def test_check(tmp_path, text, words):
    """--check refuses a bad configuration with file and line, and takes a good one."""
    config = tmp_path / "heddle.conf"
    config.write_text("[keyd]\nscheduler_uids = root, 12\n[map]\nfile = x\n")
    assert subprocess.run([KEYD, "--check", "--config", config], timeout=PATIENCE).returncode == 0
    config.write_text(text)
    done = subprocess.run([KEYD, "--check", "--config", config], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_arguments():
    """--help and --version print to stdout; unknown options are a bad usage."""
    for option, status in (("--help", 0), ("--version", 0), ("--nonsense", 2), ("word", 2)):
        done = subprocess.run([KEYD, option], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == status and bool(done.stdout) == (status == 0), option


def test_systemd(site):
    """keyd takes the socket that it is given, and says READY and STOPPING."""
    import socket as sockets
    notify = sockets.socket(sockets.AF_UNIX, sockets.SOCK_DGRAM)
    notify.bind(str(site.folder / "notify"))
    notify.settimeout(PATIENCE)
    listener = sockets.socket(sockets.AF_UNIX)
    listener.bind(str(site.folder / "given.sock"))
    listener.listen(8)
    site.write_config()
    script = 'exec 3<&0; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" --config "$1"'
    with open(site.log_path, "ab") as log:
        site.process = subprocess.Popen(["sh", "-c", script, KEYD, site.config], stdin=listener.fileno(), stderr=log,
                                        env={"NOTIFY_SOCKET": str(site.folder / "notify")})
    assert notify.recv(100) == b"READY=1"
    assert not site.socket.exists()
    site.socket = site.folder / "given.sock"
    assert site.get("/healthz").status == 200
    assert site.stop() == 0
    assert notify.recv(100) == b"STOPPING=1"
    notify.close()
    listener.close()
