# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd proposes hosts: POST /v1/propose, against a fake subnet manager. What a proposal says is held to walks
through the tables that share no code with Heddle."""

import collections
import json
import os
import pathlib
import socket
import tempfile
import threading

import pytest

import independent_check
from cli_testing import heddle
from fabric_sim import wait_until
from keyd_testing import FakeManager, Keyd, host_names, netlist
from test_keyd_api import NOBODY, as_user, refused

# Much work, whatever the machine. Code with sanitizers is ten times as slow: there a tenth of the flows is as much.
HEAVY = {"pattern": "alltoall", "ranks": 160 if os.environ.get("HEDDLE_SANITIZE") else 512, "tries": 0}


@pytest.fixture(name="site", scope="module")
def start_site():
    """A keyd with a tree of 64 hosts: 4 pods of 4 leaves of 4 hosts."""
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        text = netlist(folder, "--children", "4,4,4", "--parents", "1,4,4", lmc=1)
        manager = FakeManager(folder / "sm.sock", text)
        keyd = Keyd(folder, scheduler_uids=os.getuid(), proposal_ms=60000).start()
        keyd.manager, keyd.hosts = manager, host_names(text)
        (folder / "tree").write_bytes(text)
        heddle("route", "-e", "nrk", folder / "tree", "-o", folder / "tables")
        keyd.fabric = independent_check.read_fabric(text.decode())
        keyd.tables = independent_check.read_tables((folder / "tables").read_text(), keyd.fabric)
        yield keyd
        assert keyd.stop() == 0, keyd.log()


@pytest.fixture(autouse=True)
def no_jobs(site):
    yield
    for job in site.get("/v1/jobs").json["jobs"]:
        assert site.release(job["job"]).status == 200


def propose(keyd, **body):
    return keyd.call("POST", "/v1/propose", body)


def proposed(keyd, **body):
    answer = propose(keyd, **body)
    assert answer.status == 200, answer.text
    return answer.json


# ---- the slow worth ----

def path(keyd, source, destination):
    """The links of a flow between two hosts, as (switch, port)."""
    guids = {name: guid for guid, name in keyd.fabric.name.items()}
    base = {keyd.fabric.owner[lid]: lid for lid in keyd.fabric.base_lids}
    lid, links = base[guids[destination]], []
    switch = keyd.fabric.place[base[guids[source]]][0]
    while switch != keyd.fabric.place[lid][0]:
        port = keyd.tables[switch][lid]
        links.append((switch, port))
        switch = keyd.fabric.cable[switch, port][0]
    return links


def others(keyd):
    """Flows of keys on links, as keyd shows them."""
    return {(link["from"].removeprefix("0x"), link["port"]): link["flows"]
            for link in keyd.get("/v1/links").json["links"]}


def worth(keyd, phases, host_of):
    busy = {(int(switch, 16), port): flows for (switch, port), flows in others(keyd).items()}
    most, shared = [], 0
    for phase in phases:
        loads = collections.Counter()
        for source, destination in phase:
            if host_of[source] != host_of[destination]:
                loads.update(path(keyd, host_of[source], host_of[destination]))
        loads = {link: flows + busy.get((int(str(link[0]).split("-")[-1], 16), link[1]), 0)
                 for link, flows in loads.items()}
        most.append(max(loads.values(), default=0))
        shared += sum(flows > 1 for flows in loads.values())
    return {"lost": 0, "keys": sum(one > 1 for one in most), "contention": max(most), "shared_links": shared,
            "leaves": len({name.rsplit("_", 1)[0] for name in host_of}),
            "pods": len({name.split("_")[1] for name in host_of})}


def ring(ranks):
    return [[[rank, (rank + 1) % ranks] for rank in range(ranks)]]


# ---- proposals ----

def test_same_as_offline_without_keys(site):
    """Without keys in force, keyd proposes what the command proposes for the same tables."""
    free = site.hosts[::3] + site.hosts[1::3]
    (site.folder / "free").write_text("\n".join(free))
    shown = json.loads(heddle("key", "place", "--json", "--choose", 10, "--free", site.folder / "free",
                              "-p", "alltoall", site.folder / "tree", site.folder / "tables")[0])
    answer = proposed(site, hosts=free, choose=10, pattern="alltoall")
    assert answer["busy_links"] == 0 and not answer["stopped"] and answer["unknown"] == []
    assert {name: answer[name] for name in shown} == shown
    assert answer["listed"] == worth(site, [[[r, (r + by) % 10] for r in range(10)] for by in range(1, 10)], free[:10])


def load_leaf(keyd, hosts, far):
    """A job whose key takes all links upwards of a leaf."""
    flows = [[i, 4 + i] for i in range(4)]
    assert keyd.place("busy", hosts + far, phases=[flows]).status == 200
    assert keyd.request("busy").json["ready"]


def test_keeps_off_links_of_keys(site):
    """While a key is in force, its links count: the hosts of the list are worth less, and others are proposed. When its
    phase ends, the first answer is back."""
    flows, free = ring(6), site.hosts[:4] + site.hosts[8:20]
    before = proposed(site, hosts=free, choose=6, phases=flows)
    assert before["proposed"]["keys"] == 0 and "H_0_0_0" in before["host_of_rank"]
    load_leaf(site, site.hosts[:4], site.hosts[32:36])
    after = proposed(site, hosts=free, choose=6, phases=flows)
    assert after["busy_links"] == len(others(site)) > 0
    assert after["listed"] == worth(site, flows, free[:6]) and after["listed"]["keys"] == 1
    assert after["proposed"] == worth(site, flows, after["host_of_rank"]) and after["proposed"]["keys"] == 0
    assert not set(after["host_of_rank"]) & set(site.hosts[:4])
    assert site.done("busy").status == 200
    assert proposed(site, hosts=free, choose=6, phases=flows) == before


def test_reorder(site):
    """Without `choose`, a job keeps its hosts, and each gets equally many ranks."""
    hosts = [site.hosts[number * 5 % 64] for number in range(16)]
    answer = proposed(site, hosts=hosts, pattern="alltoall", ranks=2 * len(hosts))
    assert sorted(answer["host_of_rank"]) == sorted(2 * hosts)
    assert answer["hosts"] == answer["free"] == len(hosts) and answer["ranks"] == 2 * len(hosts)
    before, after = ([worth[name] for name in ("keys", "contention", "shared_links")]
                     for worth in (answer["listed"], answer["proposed"]))
    assert after < before


def test_names_and_unknown_hosts(site):
    """The answer has the names of the call. Hosts that the fabric does not have cannot be chosen, and cannot be
    reordered."""
    hosts = ["0x100000", "down1", "H_0_0_1", "down2", "H_0_0_2"]
    answer = proposed(site, hosts=hosts, choose=3, pattern="ring")
    assert sorted(answer["host_of_rank"]) == ["0x100000", "H_0_0_1", "H_0_0_2"]
    assert answer["unknown"] == ["down1", "down2"] and answer["free"] == 3
    refused(propose(site, hosts=hosts, choose=4, pattern="ring"), 422, "4 hosts are wanted, and 3 are free")
    refused(propose(site, hosts=hosts, pattern="ring"), 422, "down1")
    refused(propose(site, hosts=["0x100000", "H_0_0_0"], pattern="ring"), 422, "hosts[0]", "hosts[1]", "one host")


@pytest.mark.parametrize("body, words", [
    ({}, "hosts"), ({"hosts": []}, "hosts"), ({"hosts": ["H_0_0_0"]}, "either"),
    ({"hosts": ["H_0_0_0"], "pattern": "rings"}, "ring"),
    ({"hosts": ["H_0_0_0"], "pattern": "file:/etc/shadow"}, "phases"),
    ({"hosts": ["H_0_0_0"], "choose": 2, "pattern": "ring"}, "choose"),
    ({"hosts": ["H_0_0_0"], "choose": 0, "pattern": "ring"}, "choose"),
    ({"hosts": ["H_0_0_0", "H_0_0_1"], "pattern": "ring", "ranks": 3}, "evenly"),
    ({"hosts": ["H_0_0_0"], "pattern": "ring", "tries": 100001}, "tries"),
    ({"hosts": ["H_0_0_0"], "pattern": "alltoall", "ranks": 2048}, "max_flows"),
    ({"hosts": ["H_0_0_0"], "phases": [[[0, 1]]]}, "out of range"),
    ({"hosts": ["H_0_0_0"], "pattern": "ring", "uid": 1}, "uid")], ids=lambda value: str(value)[:30])
def test_unprocessable(site, body, words):
    refused(site.call("POST", "/v1/propose", body), 422, words)


# ---- limits ----

def send(keyd, body):
    """A call whose answer nobody has read yet."""
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(str(keyd.socket))
    text = json.dumps(body).encode()
    stream.sendall(b"POST /v1/propose HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
    return stream


def status_of(stream):
    data = b""
    while more := stream.recv(65536):
        data += more
    stream.close()
    return int(data.split()[1])


def heavy(keyd):
    return {"hosts": keyd.hosts, "choose": 32, **HEAVY}


def test_others_are_served_meanwhile(site):
    """Proposals are one after the other, and keep no job from its keys: a whole job is placed, has its phase and is
    released before the last of 12 long ones is answered."""
    streams, ended = [send(site, heavy(site)) for _ in range(12)], threading.Event()
    reader = threading.Thread(target=lambda: [status_of(stream) for stream in streams] and ended.set())
    reader.start()
    assert site.place("quick", site.hosts[:8]).status == 200 and site.request("quick").json["ready"]
    assert site.done("quick").status == 200 and site.release("quick").status == 200
    assert not ended.is_set()
    reader.join()


def test_deadline(site):
    """A search that takes too long ends with what it has found."""
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        keyd = Keyd(pathlib.Path(name), managers=site.folder / "sm.sock", proposal_ms=10).start()
        answer = proposed(keyd, **heavy(site))
        assert answer["stopped"] and len(answer["host_of_rank"]) == HEAVY["ranks"]
        assert keyd.stop() == 0
    assert not proposed(site, hosts=site.hosts[:2], pattern="ring")["stopped"]


def refusals(keyd, count):
    """How many of some calls at the same time are refused with 429; all others get a proposal."""
    found = collections.Counter(map(status_of, [send(keyd, heavy(keyd)) for _ in range(count)]))
    assert set(found) <= {200, 429}
    return found[429]


def test_calls_of_one_user(site):
    """Of a user who is no scheduler four calls wait at most. Users who are not known get nothing."""
    if os.getuid():
        pytest.skip("needs root to become another user")
    body = {"hosts": site.hosts[:4], "pattern": "ring"}
    assert as_user(NOBODY, lambda: propose(site, **body).status) == 200
    assert 0 < as_user(NOBODY, lambda: refusals(site, 12)) <= 8
    assert refusals(site, 12) == 0


def test_gone_clients(site):
    """Nothing is done for a client that has gone while its call waited."""
    before = site.metrics()["abandoned_total"]
    streams = [send(site, heavy(site)) for _ in range(4)]
    for stream in streams[2:]:
        stream.close()
    assert [status_of(stream) for stream in streams[:2]] == [200, 200]
    wait_until(lambda: site.metrics()["abandoned_total"] == before + 2, "two calls are abandoned")


def test_without_a_fabric(site):
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        keyd = Keyd(pathlib.Path(name)).start(ready=False)
        refused(propose(keyd, hosts=site.hosts[:2], pattern="ring"), 503, "subnet manager")
        assert keyd.stop() == 0


def test_end_with_calls(site):
    """A keyd that ends answers the calls that wait, or drops them, and leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        keyd = Keyd(pathlib.Path(name), managers=site.folder / "sm.sock", proposal_ms=100).start()
        streams = [send(keyd, heavy(site)) for _ in range(5)]
        assert keyd.stop() == 0, keyd.log()
        for stream in streams:
            stream.close()


def test_tables_follow_the_fabric(site):
    """Another fabric has other hosts and tables."""
    with tempfile.TemporaryDirectory(prefix="heddle-keyd-") as name:
        folder = pathlib.Path(name)
        manager = FakeManager(folder / "sm.sock", site.manager.fabric)
        keyd = Keyd(folder).start()
        assert proposed(keyd, hosts=site.hosts, choose=2, pattern="ring")["epoch"] == 1
        manager.change_fabric(netlist(folder, "--children", "4,4", "--parents", "1,4", lmc=1))
        wait_until(lambda: keyd.get("/v1/fabric").json["hosts"] == 16, "the small fabric is there")
        answer = proposed(keyd, hosts=["H_0_0", "H_1_0", "H_1_1"], choose=2, pattern="ring")
        assert answer["proposed"]["leaves"] == 1 and answer["epoch"] == 2
        refused(propose(keyd, hosts=["H_0_0_0"], pattern="ring"), 422, "H_0_0_0")
        assert keyd.stop() == 0


# ---- the command ----

def ask(keyd, *words, text=None, status=0):
    """heddle key propose: (stdout, stderr)."""
    return heddle("key", "propose", "--socket", keyd.socket, *words, status=status, input=text)


def test_command(site, tmp_path):
    """The command proposes what the call does, writes the files, and names hosts that the fabric does not have."""
    free = "H_0_[0-1]_[0-3] # two leaves\nH_1_0_[0-3],down[1-7]\n"
    names = [f"H_0_{leaf}_{host}" for leaf in range(2) for host in range(4)] + [f"H_1_0_{host}" for host in range(4)]
    expected = proposed(site, hosts=names, choose=6, pattern="alltoall", ranks=12)
    words = ["--choose", 6, "--free", "-", "-p", "alltoall", "-r", 12]
    shown = json.loads(ask(site, "--json", *words, text=free)[0])
    assert shown.pop("unknown") == [f"down{i}" for i in range(1, 8)]
    assert shown == {name: value for name, value in expected.items() if name not in ("epoch", "unknown")}
    output, warnings = ask(site, *words, "--list", "--host-file", tmp_path / "hosts", "--rankfile", tmp_path / "ranks",
                           text=free)
    assert output.strip().split(",") == list(dict.fromkeys(expected["host_of_rank"]))
    assert (tmp_path / "hosts").read_text().split() == expected["host_of_rank"]
    ranks = [line.split() for line in (tmp_path / "ranks").read_text().splitlines()]
    assert [line[1].split("=")[1] for line in ranks] == expected["host_of_rank"]
    assert collections.Counter(line[2] for line in ranks) == {"slot=0": 6, "slot=1": 6}
    assert "down5 is left out" in warnings and "2 more hosts" in warnings and "down6" not in warnings
    load_leaf(site, site.hosts[:4], site.hosts[32:36])
    assert "Flows of keys in force cross 16 links" in ask(site, *words, text=free)[0]


def test_command_reads_patterns_of_files(site, tmp_path):
    """A file has as many ranks as its flows and the hosts of the job need."""
    (tmp_path / "pattern").write_text("phase\n0 1\n1 2\n2 0\n")
    words = ["-p", f"file:{tmp_path}/pattern", "--json"]
    shown = json.loads(ask(site, "--choose", 2, "--free", "-", *words, text="\n".join(site.hosts))[0])
    assert shown["ranks"] == 4 and shown["hosts"] == 2
    (tmp_path / "mine").write_text("\n".join(site.hosts[:4]))
    assert json.loads(ask(site, "--reorder", tmp_path / "mine", *words)[0])["ranks"] == 4


@pytest.mark.parametrize("words, says", [
    (["--choose", 2, "-p", "ring"], "--free"), (["-p", "ring"], "either --choose"),
    (["--choose", 2, "--reorder", "x", "-p", "ring"], "either --choose"), (["--choose", 2, "--free", "-"], "pattern"),
    (["--choose", 3, "--free", "-", "-p", "ring"], "3 hosts are wanted, and 2 listed"),
    (["--choose", 2, "--free", "-", "-p", "ring", "--list", "--json"], "exclude"),
    (["--choose", 2, "--free", "-", "-p", "ring", "--json", "--host-file", "-"], "exclude"),
    (["--choose", 2, "--free", "-", "-p", "rings"], "ring"),
    (["--choose", 2, "--free", "-", "-p", "ring", "-r", 3], "evenly")], ids=lambda value: " ".join(map(str, value)))
def test_command_refuses(site, words, says):
    assert says in ask(site, *words, text="H_0_0_0,H_0_0_1", status=2)[1]
