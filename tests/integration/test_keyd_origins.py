# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who is a scheduler over the network: root of a node has the key of MUNGE, and is none for that. Nodes are network
namespaces here, each with a munged of its own and the same key."""

import ctypes
import hashlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import pytest

import slurm_sim
from fabric_sim import PATIENCE, sbin_path
from keyd_testing import FakeManager, Keyd, check_answer, host_names, netlist, wait_for
from keyd_process import Answer

HERE, THERE = "10.213.77.1", "10.213.77.2"
NODE = "heddle-node"
CLONE_NEWNET = 0x40000000

pytestmark = [pytest.mark.skipif(os.getuid() != 0, reason="only root makes network namespaces"),
              pytest.mark.skipif(not shutil.which("munged", path=sbin_path()), reason="munged is not installed")]


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


@pytest.fixture(name="node", scope="module")
def make_node():
    """Another machine on a cable to this one."""
    ip("netns", "del", NODE, check=False)
    try:
        ip("netns", "add", NODE)
        ip("link", "add", "heddle0", "type", "veth", "peer", "name", "heddle1", "netns", NODE)
        ip("address", "add", f"{HERE}/24", "dev", "heddle0")
        ip("link", "set", "heddle0", "up")
        for words in (["address", "add", f"{THERE}/24", "dev", "heddle1"], ["link", "set", "heddle1", "up"],
                      ["link", "set", "lo", "up"]):
            ip("-n", NODE, *words)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces: {error}")
    yield NODE
    ip("netns", "del", NODE)
    ip("link", "del", "heddle0", check=False)  # it goes with its other end, but later


@pytest.fixture(name="munged", scope="module")
def make_munged(node):
    """Starts munged with an origin, here or on the node. Its socket."""
    # not among the folders of pytest, which other users may not search
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-munge-"))
    folder.chmod(0o755)
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o600)
    running = {}

    def start(origin, there=False):
        name = f"{origin}{there}"
        if name not in running:
            inside = ["ip", "netns", "exec", node] if there else []
            running[name] = subprocess.Popen(
                [*inside, shutil.which("munged", path=sbin_path()), "--foreground", "--force", f"--origin={origin}",
                 f"--socket={folder}/{name}", f"--key-file={folder}/key", f"--pid-file={folder}/{name}.pid",
                 f"--log-file={folder}/{name}.log", f"--seed-file={folder}/seed"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for((folder / name).exists, "munged")
        return folder / name

    yield start
    for process in running.values():
        process.terminate()
        process.wait(PATIENCE)
    shutil.rmtree(folder)


@pytest.fixture(name="keyd")
def make_keyd(tmp_path, munged):
    fabric = netlist(tmp_path, "--children", "4,4", "--parents", "1,4")
    keyd = Keyd(tmp_path, tcp=f"0.0.0.0:{slurm_sim.free_ports(1)}", munge_socket=munged("127.0.0.1"),
                scheduler_uids="0,12001")
    keyd.manager, keyd.hosts = FakeManager(tmp_path / "sm.sock", fabric), host_names(fabric)
    yield keyd
    assert keyd.stop() == 0, keyd.log()
    keyd.manager.stop()


def connect_from(node, address):
    """A socket of the node, connected to the address."""
    made = []

    def work():
        with open(f"/var/run/netns/{node}", "rb") as name:
            assert not ctypes.CDLL(None, use_errno=True).setns(name.fileno(), CLONE_NEWNET)
        made.append(socket.create_connection(address, PATIENCE))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return made[0]


class Caller:
    """Makes calls with credentials of a munged, from this machine or from the node."""

    def __init__(self, keyd, munge, there=False, uid=0):
        self.keyd, self.munge, self.there, self.uid = keyd, munge, there, uid
        self.port = int(keyd.options["tcp"].rsplit(":", 1)[1])

    def call(self, method, path, body=""):
        payload = hashlib.sha256(f"{method} {path}\n{body}".encode()).hexdigest()
        credential = subprocess.run(["munge", f"--socket={self.munge}", "--string", payload], capture_output=True,
                                    text=True, check=True, user=self.uid).stdout.strip()
        connection = http.client.HTTPConnection(HERE if self.there else "127.0.0.1", self.port, timeout=PATIENCE)
        if self.there:
            connection.sock = connect_from(NODE, (HERE, self.port))
        connection.request(method, path, body=body or None, headers={"Authorization": f"MUNGE {credential}"})
        answer = Answer(connection.getresponse())
        check_answer(method, path, answer)
        connection.close()
        return answer

    def place(self, job):
        return self.call("PUT", f"/v1/jobs/{job}", '{"hosts": ["H_0_0", "H_1_0"], "pattern": "ring", "uid": 12003}')


def refused(keyd, answer):
    assert answer.status == 403 and "scheduler_hosts" in answer.json["detail"], answer.text
    assert "user 0 has not the rights of a scheduler on host" in keyd.log()


def test_root_of_a_node_is_no_scheduler(keyd, munged):
    """By default only this machine has schedulers, whatever origin a node gives its credentials."""
    keyd.start()
    here = Caller(keyd, munged("127.0.0.1"))
    assert here.place("a").status == 200
    for origin in (THERE, "127.0.0.1"):
        node = Caller(keyd, munged(origin, there=True), there=True)
        refused(keyd, node.place("b"))
        refused(keyd, node.call("DELETE", "/v1/jobs/a"))
        refused(keyd, node.call("POST", "/v1/jobs/a/token", "{}"))
    stolen = Caller(keyd, munged(THERE, there=True))  # a credential of the node that is sent from here
    refused(keyd, stolen.place("b"))
    assert f"host {THERE} (connection from {THERE})" in keyd.log()
    assert keyd.metrics()["foreign_schedulers_total"] > 4
    assert {entry["job"] for entry in keyd.get("/v1/jobs").json["jobs"]} == {"a"}
    assert here.call("DELETE", "/v1/jobs/a").status == 200


def test_listed_hosts(keyd, munged):
    """A host of the list has schedulers, this machine's socket always; SIGHUP reads the list again."""
    keyd.options["scheduler_hosts"] = THERE
    keyd.start()
    node, here = Caller(keyd, munged(THERE, there=True), there=True), Caller(keyd, munged("127.0.0.1"))
    assert node.place("a").status == 200
    refused(keyd, here.place("b"))
    refused(keyd, Caller(keyd, munged("127.0.0.1", there=True), there=True).place("b"))
    assert keyd.place("b", keyd.hosts[:2]).status == 200
    for hosts, here_may, node_may in (("local", True, False), (f"{THERE}, localhost", True, True),
                                      ("any", True, True), ("192.0.2.250", False, False)):
        keyd.options["scheduler_hosts"] = hosts
        keyd.write_config()
        before = len(keyd.log())
        keyd.process.send_signal(signal.SIGHUP)
        wait_for(lambda: f"read scheduler_hosts again: {hosts}\n" in keyd.log()[before:], "the new list")
        assert (here.place("c").status, node.place("c").status) == (200 if here_may else 403, 200 if node_may else 403)
        assert keyd.call("DELETE", "/v1/jobs/c").status in (200, 404)
    keyd.options["scheduler_hosts"] = "any, head.invalid"
    keyd.write_config()
    keyd.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "the hosts of schedulers stay as they were" in keyd.log(), "the bad list")
    assert here.place("c").status == 403


def test_users_of_nodes(keyd, munged):
    """Owners of jobs call from all nodes, as before."""
    keyd.start()
    assert keyd.place("a", keyd.hosts[:4], uid=12003).status == 200
    owner = Caller(keyd, munged(THERE, there=True), there=True, uid=12003)
    assert owner.call("POST", "/v1/jobs/a/request", "{}").json["ready"]
    assert owner.call("POST", "/v1/jobs/a/done", "{}").status == 200
    refused(keyd, Caller(keyd, munged(THERE, there=True), there=True).call("POST", "/v1/jobs/a/request", "{}"))
    other = Caller(keyd, munged(THERE, there=True), there=True, uid=12001).place("b")
    assert other.status == 403 and "user 12001" in other.json["detail"]
    assert keyd.log().count("has not the rights") <= 2  # at most one line in a second
    assert keyd.metrics()["foreign_schedulers_total"] == 2


def test_unknown_host(keyd):
    """A name that nobody knows is an error at the start, not a list that is empty."""
    keyd.options["scheduler_hosts"] = "head.invalid"
    keyd.spawn()
    assert keyd.process.wait(PATIENCE) == 1
    assert "scheduler_hosts in [keyd]: cannot find the host 'head.invalid'" in keyd.log()
    keyd.process = None
