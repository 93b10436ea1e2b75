# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd and subnet managers that go, come back, change their mind, or change the fabric."""

import os
import subprocess
import time

import pytest

from cli_testing import HEDDLE, SOURCE
from keyd_testing import BUSY, DONE, FAILED, REFUSED, STALE, FakeManager, Keyd, host_names, netlist, wait_for

TREE = ("--children", "4,4", "--parents", "1,4")


@pytest.fixture(name="site")
def make_site(tmp_path):
    class Site:
        folder = tmp_path
        fabric = netlist(tmp_path, *TREE)
        hosts = host_names(fabric)
        managers = []

        def manager(self, name="sm.sock", **options):
            self.managers.append(FakeManager(tmp_path / name, self.fabric, **options))
            return self.managers[-1]

        def daemon(self, **options):
            self.keyd = Keyd(tmp_path, **options)
            return self.keyd

    site = Site()
    yield site
    assert site.keyd.stop() == 0, site.keyd.log()


def ready_job(site, keyd, job="1"):
    assert keyd.place(job, site.hosts, "shift:5").status == 200
    granted = keyd.request(job).json
    assert granted["ready"], granted
    return granted


def active_in_force(keyd, job="1"):
    return [slot["in_force"] for step in keyd.get(f"/v1/jobs/{job}").json["steps"] for slot in step["slots"]
            if slot["active"]]


def test_no_manager(site):
    """Without a subnet manager keyd runs, says so, and places nothing; it connects when one comes."""
    keyd = site.daemon().start(ready=False)
    assert keyd.get("/healthz").json["manager"] == "away"
    assert keyd.get("/v1/fabric").json["state"] == "none"
    assert keyd.place("1", site.hosts).status == 503
    site.manager()
    keyd.wait_ready()
    ready_job(site, keyd)


def test_manager_leaves_and_returns(site):
    """While the manager is away, a request answers ready=false; when another process is back, active
    keys are in the switches again, and the log says so once."""
    manager = site.manager()
    keyd = site.daemon().start()
    granted = ready_job(site, keyd)
    keys = dict(manager.keys)
    manager.stop()
    wait_for(lambda: keyd.get("/healthz").json["manager"] == "away", "the loss of the manager")
    assert keyd.request("1").text != "" and keyd.request("1").json["ready"]  # nothing has changed in the switches
    keyd.place("2", site.hosts, "shift:3")
    answer = keyd.request("2").json
    assert not answer["ready"] and answer["offset"] == 0 and "master" in answer["reason"]
    manager.restart()
    wait_for(lambda: len(manager.keys) == 2, "both keys")
    assert keys.keys() < manager.keys.keys()
    wait_for(lambda: keyd.request("2").json["ready"], "the key of job 2")
    assert keyd.request("1").json["key"] == granted["key"]
    assert keyd.log().count("are in force again") == 1, keyd.log()
    assert keyd.log().count("no subnet manager:") == 1, keyd.log()


def test_epochs_of_another_manager(site):
    """A manager that has restarted counts its epochs from 1 again. Before its fabric has come, it gets no key that it
    could take for one of that fabric."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=1000).start()
    manager.send_fabric, send_fabric = lambda connection: None, manager.send_fabric
    manager.stop()
    wait_for(lambda: keyd.get("/healthz").json["manager"] == "away", "the loss of the manager")
    manager.restart()
    wait_for(lambda: keyd.get("/healthz").json["manager"] != "away", "the manager")
    assert keyd.place("1", site.hosts, "shift:5").status == 200
    assert not keyd.request("1").json["ready"]
    assert manager.sets and all(status == STALE for _, status, _ in manager.sets)
    manager.send_fabric = send_fabric
    manager.change_fabric()
    wait_for(lambda: keyd.request("1").json["ready"], "the key")


def test_unknown_keys_are_removed(site):
    """At connect, keyd removes keys from the manager that belong to no job."""
    manager = site.manager()
    manager.keys = {77: {(0x200000, 5): 1}, 99: {(0x200000, 6): 1}}
    site.daemon().start()
    wait_for(lambda: not manager.keys, "the removal")


def test_release_while_the_manager_is_away(site):
    """A job that is released meanwhile has no key in the switches when the manager is back."""
    manager = site.manager()
    keyd = site.daemon().start()
    ready_job(site, keyd)
    keys = dict(manager.keys)
    manager.stop()
    wait_for(lambda: keyd.get("/healthz").json["manager"] == "away", "the loss of the manager")
    assert keyd.release("1").status == 200
    assert manager.keys == keys
    manager.start()
    wait_for(lambda: not manager.keys, "the removal")


def test_failed_removal_is_tried_again(site):
    """A removal that a switch does not answer is sent again until it succeeds."""
    manager = site.manager()
    keyd = site.daemon().start()
    ready_job(site, keyd)
    answers = [(FAILED, "a switch does not answer"), (DONE, "")]
    manager.answer = lambda key, entries: answers.pop(0)
    assert keyd.release("1").status == 200
    wait_for(lambda: not manager.keys, "the removal")
    assert not answers


def test_offset_of_a_released_job(site):
    """During a sweep, a job is released and another one gets its offset: the new key waits for the
    removal of the old one."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=60000).start()
    ready_job(site, keyd)
    busy = [(BUSY, "a sweep")] * 4

    def answer(key, entries):
        if busy:
            return busy.pop()
        taken = {lid for other, held in manager.keys.items() if other != key for _, lid in held}
        return (REFUSED, "a LID of another key") if taken & {lid for _, lid in entries} else (DONE, "")

    manager.answer = answer
    assert keyd.release("1").status == 200
    assert keyd.place("2", site.hosts, "shift:3").json["offset"] == 1
    granted = keyd.request("2").json
    assert granted["ready"], granted


def test_standby(site):
    """Of two managers, the master gets the keys; after a failover the other one gets them all."""
    first = site.manager("a.sock")
    second = site.manager("b.sock", master=False)
    keyd = site.daemon(managers=f"{first.path}, {second.path}").start()
    ready_job(site, keyd)
    assert first.keys and not second.keys
    first.stop()
    second.become(True)
    wait_for(lambda: second.keys, "the key at the new master")
    assert keyd.request("1").json["ready"]
    assert second.keys.keys() == first.keys.keys()


@pytest.mark.parametrize("status, times, ready", [
    (BUSY, 3, True), (STALE, 2, True), (BUSY, 10**6, False), (REFUSED, 1, True), (REFUSED, 10**6, False),
    (FAILED, 1, False)])
def test_refusals(site, status, times, ready):
    """BUSY and STALE are tried again within the time for an answer; other refusals are answered."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=6000).start()
    keyd.place("1", site.hosts, "shift:5")
    answers = [(status, "not now")] * times
    manager.answer = lambda key, entries: answers.pop() if answers else (DONE, "")
    granted = keyd.request("1").json
    assert granted["ready"] == ready
    assert ready or (granted["offset"] == 0 and granted["reason"] == "not now")
    if status in (BUSY, FAILED) and not ready:
        answers.clear()
        wait_for(lambda: active_in_force(keyd) == [True], "the key, tried again later")


def test_no_answer(site):
    """A manager that does not answer delays a request only until answer_ms."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=200).start()
    keyd.place("1", site.hosts, "shift:5")
    manager.answer = lambda key, entries: None
    granted = keyd.request("1").json
    assert not granted["ready"] and "in time" in granted["reason"]
    assert keyd.done("1").status == 200


def test_new_fabric(site):
    """A new fabric: active keys are made again for its epoch; the log has one line for all jobs."""
    manager = site.manager()
    keyd = site.daemon().start()
    for job, shift in (("1", 5), ("2", 3), ("3", 7)):
        keyd.place(job, site.hosts, f"shift:{shift}")
        assert keyd.request(job).json["ready"]
    lines = site.fabric.decode().split("\n\n")
    spine = next(i for i, node in enumerate(lines) if '"S2_3" base' in node)
    dead = [node for i, node in enumerate(lines) if i != spine]
    fabric = "\n\n".join("\n".join(line for line in node.split("\n") if '"S2_3"' not in line) for node in dead)
    before = len(manager.sets)
    manager.change_fabric(fabric.encode(), broken=[1])
    wait_for(lambda: len([entry for entry in manager.sets[before:] if entry[1] == DONE]) >= 3, "three keys")
    wait_for(lambda: keyd.get("/v1/fabric").json["switches"] == 7, "the new fabric")
    for job in "123":
        assert keyd.request(job).json["ready"]
    assert all(guid != 0x200070 for key in manager.keys.values() for guid, _ in key)
    assert keyd.log().count("fabric of epoch 2: 3 keys of 3 jobs are in force again") == 1, keyd.log()


def test_broken_keys_of_a_new_fabric(site):
    """As OpenSM does: FABRIC and BROKEN come together, and SETs are answered after the sweep, later than
    keyd waits for more broken keys. Each key is sent once, and the log has one line."""
    manager = site.manager()
    keyd = site.daemon().start()
    ready_job(site, keyd)
    before, broken = len(manager.sets), list(manager.keys)
    manager.answer = lambda key, entries: time.sleep(0.3) or (DONE, "")
    manager.change_fabric(broken=broken)
    wait_for(lambda: "in force again" in keyd.log(), "the log")
    assert keyd.release(next(iter(keyd.get("/v1/jobs").json["jobs"]))["job"]).status == 200
    wait_for(lambda: not manager.keys, "the end of the keys, the manager's last call")
    assert keyd.log().count("in force again") == 1, keyd.log()
    assert len([key for key, _, entries in manager.sets[before:] if key in broken and entries]) == 1


def test_broken_keys(site):
    """Keys that broke without another fabric are made again together; one line in the log."""
    manager = site.manager()
    keyd = site.daemon().start()
    for job, shift in (("1", 5), ("2", 3)):
        keyd.place(job, site.hosts, f"shift:{shift}")
        assert keyd.request(job).json["ready"]
    for connection in manager.connections:
        for key in list(manager.keys):
            manager.send(connection, 6, key.to_bytes(8, "big") + (1).to_bytes(8, "big") + b"\0\0\0\4gone")
    wait_for(lambda: "2 keys broke" in keyd.log(), "the log")
    wait_for(lambda: active_in_force(keyd, "1") + active_in_force(keyd, "2") == [True, True], "the keys")


def test_missing_host(site):
    """If a host leaves the fabric, its job's keys cannot be made; they come back with the host."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=3000).start()
    ready_job(site, keyd)
    nodes = site.fabric.decode().split("\n\n")
    smaller = "\n\n".join("\n".join(line for line in node.split("\n") if '"H_3_3"' not in line) for node in nodes
                          if "caguid=0x1000f0" not in node)
    manager.change_fabric(smaller.encode(), broken=[1])
    wait_for(lambda: keyd.get("/v1/fabric").json["hosts"] == 15, "the new fabric")
    answer = keyd.request("1").json
    assert not answer["ready"] and "H_3_3" in answer["reason"]
    manager.change_fabric(site.fabric)
    wait_for(lambda: active_in_force(keyd) == [True], "the key")


def test_other_engine(site):
    """An engine that takes no keys: keyd says which one, and what to set."""
    site.manager(engine="minhop")
    keyd = site.daemon().start(ready=False)
    wait_for(lambda: keyd.get("/v1/fabric").json["state"] == "unsupported", "the state")
    answer = keyd.place("1", site.hosts)
    assert answer.status == 503 and "minhop" in answer.text and "nrk" in answer.text


def test_engine_changes(site):
    """A manager that has not routed the fabric yet is no fault. When it says its engine, keyd takes
    that; when it goes on with an engine that takes no keys, jobs have none, and keyd says why."""
    manager = site.manager(engine="")
    keyd = site.daemon(answer_ms=3000).start(ready=False)
    wait_for(lambda: keyd.get("/v1/fabric").json["state"] == "waiting", "the state")
    assert "has not routed" in keyd.get("/v1/fabric").json["reason"] and "warning" not in keyd.log()
    manager.route_with("nrk")
    keyd.wait_ready()
    ready_job(site, keyd)
    manager.route_with("minhop")
    wait_for(lambda: keyd.get("/v1/fabric").json["state"] == "unsupported", "the state")
    answer = keyd.request("1").json
    assert not answer["ready"] and answer["offset"] == 0 and "minhop" in answer["reason"], answer
    assert keyd.log().count("'minhop', which takes no keys") == 1
    manager.route_with("nrk")
    wait_for(lambda: keyd.request("1").json["ready"], "a key")


def test_engine_changes_while_a_fabric_is_read(site):
    """The fabric that is read meanwhile is not taken: there are no keys for it."""
    manager = site.manager()
    keyd = site.daemon().start()
    with manager.lock:
        manager.epoch = 7
        with manager.together() as connection:
            manager.send_fabric(connection)
            manager.engine = "dmodk"
            manager.greet(connection)
    wait_for(lambda: "engine 'dmodk'" in keyd.log(), "the other engine")
    for _ in range(50):  # as long as the fabric is read
        assert keyd.get("/v1/fabric").json["state"] == "unsupported"
    manager.epoch = 8
    manager.route_with("nrk")
    wait_for(lambda: keyd.get("/v1/fabric").json["epoch"] == 8, "the fabric after that")
    assert "fabric of epoch 7" not in keyd.log()


def prolog(site, job, wait=True):
    """The prolog of slurmctld for a job on all hosts, with the longest time-out. What it logs."""
    process = subprocess.Popen([HEDDLE, "key", "place", "--slurm-prolog", "--timeout", "60000", "--socket",
                                site.keyd.socket], stderr=subprocess.PIPE, text=True, env={
                                    "PATH": os.environ["PATH"], "SLURM_JOB_ID": job, "SLURM_JOB_UID": "0",
                                    "SLURM_JOB_NODELIST": ",".join(site.hosts), "SPANK_HEDDLE_ROUTING_PATTERN": "ring"})
    return process.communicate()[1] if wait else process


def test_the_prolog_says_at_once_what_lasts(site):
    """Reasons that a retry does not cure reach the log of the prolog, not its time-out. Each is one that the guide has."""
    manager = site.manager()
    keyd = site.daemon().start()
    for job in range(3):
        assert keyd.place(f"job{job}", site.hosts).status == 200
    answer = keyd.place("4", site.hosts)
    assert answer.status == 503 and not answer.headers["Retry-After"]
    log = prolog(site, "4")
    assert "job 4 runs without a routing key: other jobs on the same hosts use too many of the 3 LID offsets" in log
    assert "time-out" not in log
    keyd.release("job0")
    assert prolog(site, "4") == "" and keyd.get("/v1/jobs/4").status == 200
    manager.route_with("minhop")
    wait_for(lambda: keyd.get("/v1/fabric").json["state"] == "unsupported", "the state")
    log = prolog(site, "5")
    assert "job 5 runs without a routing key: the subnet manager routes with engine 'minhop'" in log
    guide = (SOURCE / "doc" / "guide" / "routing-keys.md").read_text()
    assert "other jobs on the same hosts use too many" in guide and "takes no keys" in guide


def test_the_prolog_waits_for_a_fabric(site):
    """A fabric that is not known yet comes soon."""
    keyd = site.daemon().start(ready=False)
    waiting = prolog(site, "1", wait=False)
    wait_for(lambda: keyd.metrics().get('answers_total{call="place",status="5xx"}'), "the call")
    site.manager()
    assert waiting.communicate()[1] == "" and keyd.get("/v1/jobs/1").status == 200


def test_no_fat_tree(site):
    """A fabric that is no fat tree: the reason is told, and nothing is placed."""
    site.fabric = netlist(site.folder, "--dims", "3,3", kind="mesh")
    site.manager()
    keyd = site.daemon().start(ready=False)
    wait_for(lambda: keyd.get("/v1/fabric").json["state"] == "unsupported", "the state")
    assert keyd.get("/v1/fabric").json["reason"] != ""
    assert keyd.place("1", site.hosts).status == 503


def test_lmc_zero(site):
    """LMC 0 leaves no offset for keys; placement says what to set. Offset 2^LMC is never given."""
    site.fabric = netlist(site.folder, *TREE, lmc=0)
    site.manager()
    keyd = site.daemon().start()
    answer = keyd.place("1", site.hosts)
    assert answer.status == 422 and answer.json["detail"].endswith("raise lmc in opensm.conf")
    assert "set lmc in opensm.conf" in keyd.log()


def test_smaller_lmc(site):
    """If a new fabric has a smaller LMC, an offset beyond it is not handed out any more."""
    manager = site.manager()
    keyd = site.daemon(answer_ms=3000).start()
    for job in "123":
        assert keyd.place(job, site.hosts, "shift:5").json["offset"] == int(job)
    manager.change_fabric(netlist(site.folder, *TREE, lmc=1))
    wait_for(lambda: keyd.get("/v1/fabric").json["lmc"] == 1, "the new fabric")
    assert keyd.request("1").json["offset"] == 1
    answer = keyd.request("3").json
    assert answer["offset"] == 0 and not answer["ready"]


@pytest.mark.parametrize("data", [
    b"GET / HTTP/1.1\r\n\r\n", b"HKEY\0\1\0\1\xff\xff\xff\xff", b"HKEY\0\2\0\1\0\0\0\0", b"HKEY\0\1\0\5\0\0\0\0",
    b"HKEY\0\1\0\2\0\0\0\4abcd", b""], ids=range(6))
def test_damaged_channel(site, data):
    """A manager that sends nonsense is dropped, and connected to again."""
    manager = site.manager()
    greet, manager.greet = manager.greet, lambda connection: (connection.sendall(data), connection.shutdown(1))
    keyd = site.daemon().start(ready=False)
    wait_for(lambda: "no subnet manager" in keyd.log(), "the log")
    manager.greet = greet
    keyd.wait_ready()
    ready_job(site, keyd)


def test_hosts_file(site):
    """hosts_file gives names of the scheduler to ports; SIGHUP reads it again."""
    names = site.folder / "hosts"
    names.write_text("# scheduler's names\nnode1 0x100001\nnode2 0x100041 # second\n")
    site.manager()
    keyd = site.daemon(hosts_file=names).start()
    assert keyd.place("1", ["node1", "node2"]).status == 200
    assert keyd.place("2", ["node1", "node3"]).status == 422
    names.write_text("node1 0x100001\nnode2 0x100041\nnode3 0x100051\n")
    keyd.process.send_signal(1)
    wait_for(lambda: "3 hosts" in keyd.log(), "the log")
    assert keyd.place("2", ["node1", "node3"]).status == 200
    names.write_text("node1\n")
    keyd.process.send_signal(1)
    wait_for(lambda: "hosts:1" in keyd.log(), "the refusal")
    assert keyd.place("3", ["node1", "node3"]).status == 200


@pytest.mark.parametrize("engine, moves", [("nrk", True), ("ark", False)])
def test_engines(site, engine, moves):
    """With nrk, the second of two equal jobs avoids the first one's links; with ark it does not."""
    site.manager(engine=engine)
    keyd = site.daemon().start()
    for job in "12":
        keyd.place(job, [site.hosts[0 + int(job)], site.hosts[4 + int(job)]], phases=[[[0, 1]]])
        keyd.request(job)
    assert keyd.get("/v1/links").json["most"] == (1 if moves else 2)
