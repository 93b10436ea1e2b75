# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several LID offsets in a phase, where one does not separate the flows of a leaf to one host: which flows use which, who
is told, and what is claimed. Each answer is held to doc/guide/keyd-api.yaml, and each claim to a walk in the entries that
the subnet manager holds."""

import collections
import random

import pytest

from fabric_sim import Topology
from keyd_testing import REFUSED, DONE, FakeManager, Keyd, host_names, netlist, wait_for

LEAF = 8  # hosts of a leaf, and its cables upwards


class Site:
    def __init__(self, folder, lmc):
        fabric = netlist(folder, "--children", f"{LEAF},4", "--parents", f"1,{LEAF}", lmc=lmc)
        self.topology = Topology(folder / "fabric.net")
        self.hosts = host_names(fabric)
        self.node = [self.topology.names[name] for name in self.hosts]
        text = fabric.decode()
        (folder / "spread.net").write_text(text)
        self.topology = Topology(folder / "spread.net")
        self.manager = FakeManager(folder / "sm.sock", fabric)
        self.keyd = Keyd(folder, answer_ms=60000)
        self.keyd.start()

    def restart(self):
        self.keyd.kill()
        self.keyd.start()

    def walk(self, source, destination, offset):
        """The links between switches of a flow, in what the manager holds."""
        rows = collections.defaultdict(dict)
        for entries in self.manager.keys.values():
            for (guid, lid), port in entries.items():
                rows[guid][lid] = port
        switch, end = self.topology.leaf(self.node[source]), self.topology.leaf(self.node[destination])
        lid, path = self.topology.lids[self.node[destination]][0] + offset, []
        while switch != end:
            path.append((switch, rows[switch][lid]))
            switch = self.topology.peer[path[-1]][0]
            assert len(path) < 9
        return path

    def contention(self, flows):
        """flows: source and destination hosts, offset. The most of them on a link; flows of a pair of hosts are one."""
        load = collections.Counter(link for flow in set(flows) for link in self.walk(*flow))
        return max(load.values(), default=0)

    def free(self, hosts):
        """How many offsets in a row another job can have on these hosts."""
        count = 0
        while True:
            answer = self.keyd.place("probe", [self.hosts[host] for host in hosts], mode="offset",
                                     phases=[[[0, 1]]] * (count + 1), ranks=2)
            if answer.status != 200:
                return count
            count += 1
            self.keyd.release("probe")


@pytest.fixture(name="site", params=[3], ids=lambda lmc: f"lmc{lmc}")
def site_fixture(tmp_path, request):
    site = Site(tmp_path, request.param)
    yield site
    assert site.keyd.stop() == 0, site.keyd.log()


def offsets_of(answer, phase, flows):
    """The offset of each flow, source and destination rank, as an answer to a placement or layout says."""
    key = answer["keys"][phase]
    ranks = {rank: offset for rank, offset in answer.get("rank_offsets", [])} if "offsets" in key else {}
    paths = {(source, destination): offset for source, destination, offset in key.get("paths", [])}
    assert not (ranks and paths) and (key.get("offsets", 1) > 1 or not paths)
    found = [paths.get((source, destination), ranks.get(source, key["offset"])) for source, destination in flows]
    assert all(key["offset"] <= offset < key["offset"] + key.get("offsets", 1) for offset in found)
    return found


def told(site, answer, phase, flows, rank_host=None):
    """The flows of a phase between hosts, with their offsets. rank_host: of each rank; None: rank i is on host i."""
    host = rank_host or list(range(len(site.hosts)))
    return [(host[source], host[destination], offset)
            for (source, destination), offset in zip(flows, offsets_of(answer, phase, flows))
            if host[source] != host[destination]]


FAN_IN = [[0, 9], [1, 9], [2, 9], [3, 10]]


def test_flows_of_a_leaf_to_one_host(site):
    """Three hosts of a leaf send to one: three offsets, one for each, and no two flows share a link. All offsets are
    claimed together, and free after the job."""
    placed = site.keyd.place("1", site.hosts, phases=[FAN_IN]).json
    assert (placed["offset"], placed["offsets"], placed["keys"][0]["offsets"]) == (1, 3, 3)
    assert placed["keys"][0]["contention"] == 1 and "reason" not in placed["keys"][0]
    assert placed["rank_offsets"] == [[1, 2], [2, 3]]
    assert site.free([0, 1]) == 4
    grant = site.keyd.request("1").json
    assert (grant["ready"], grant["offset"], grant["offsets"], grant["contention"]) == (True, 1, 3, 1)
    assert site.contention(told(site, placed, 0, FAN_IN)) == 1
    shown = site.keyd.get("/v1/jobs/1").json
    assert shown["claimed"] == 3 and shown["rank_offsets"] == placed["rank_offsets"]
    assert shown["steps"][0]["slots"][0]["offsets"] == 3
    site.keyd.release("1")
    assert site.free([0, 1]) == 7
    wait_for(lambda: not site.manager.keys, "the removal")


def test_a_rank_is_told_its_offset(site):
    site.keyd.place("1", site.hosts, phases=[FAN_IN])
    for call in ("request", "join"):
        offsets = [site.keyd.call("POST", f"/v1/jobs/1/{call}", {"rank": rank}).json["offset"] for rank in range(5)]
        assert offsets == [1, 2, 3, 1, 1]
        answer = site.keyd.call("POST", f"/v1/jobs/1/{call}", {"rank": len(site.hosts)})
        assert answer.status == 422 and "rank" in answer.json["detail"]
    for rank in (-1, 65536, "1", None):
        assert site.keyd.call("POST", "/v1/jobs/1/join", {"rank": rank}).status == 422
    assert site.keyd.call("POST", "/v1/jobs/1/done", {"rank": 1}).status == 422


def test_a_rank_keeps_its_offset_in_all_phases(site):
    """Programs read their offset once. So hosts that send to one host in any phase differ in all of them."""
    phases = [[[0, 9]], [[0, 9], [1, 9]], [[2, 9]], [[1, 10], [2, 10]], [[8, 1]]]
    placed = site.keyd.place("1", site.hosts, phases=phases).json
    assert placed["rank_offsets"] == [[1, 2]]
    for phase, flows in enumerate(phases):
        grants = [site.keyd.call("POST", "/v1/jobs/1/request", {"phase": phase, "rank": rank}).json for rank in range(3)]
        assert [grant["offset"] for grant in grants] == [1, 2, 1]
        assert site.contention(told(site, placed, phase, flows)) == 1 == placed["keys"][phase]["contention"]


def test_patterns_that_one_offset_separates(site):
    """They take one, and answers are as before."""
    placed = site.keyd.place("1", site.hosts, "alltoall").json
    assert placed["offsets"] == 1 and "rank_offsets" not in placed
    assert all("offsets" not in key and "paths" not in key for key in placed["keys"])
    assert "offsets" not in site.keyd.request("1").json


def test_more_offsets_are_no_use(site):
    """Nine flows cannot leave a leaf by eight cables, whatever their LIDs are."""
    flows = [[source, 8] for source in range(8)] + [[0, 9]]
    placed = site.keyd.place("1", site.hosts, phases=[flows]).json
    assert placed["keys"][0]["contention"] > 1
    site.keyd.request("1")
    assert site.contention(told(site, placed, 0, flows)) == placed["keys"][0]["contention"]


@pytest.mark.parametrize("limit", ["keys", "others", "lmc"])
def test_too_few_offsets(site, tmp_path, limit):
    """The phase has one offset, as without further ones, and the reason."""
    more = {"keys": 2} if limit == "keys" else {}
    flows = FAN_IN
    if limit == "others":
        assert site.keyd.place("other", site.hosts[:2], mode="offset", phases=[[[0, 1]]] * 5).status == 200
    if limit == "lmc":
        flows = [[source, 9] for source in range(8)]
    placed = site.keyd.place("1", site.hosts, phases=[flows], **more).json
    key = placed["keys"][0]
    assert placed["offsets"] == 1 and key["contention"] > 1 and "offsets" not in key
    assert f"{8 if limit == 'lmc' else 3} flows from one leaf go to one host" in key["reason"]
    grant = site.keyd.request("1").json
    assert grant["ready"] and grant["reason"] == key["reason"] and grant["offset"] == placed["offset"]
    assert site.contention(told(site, placed, 0, flows)) == key["contention"]
    assert site.keyd.place("2", site.hosts, phases=[flows], best_effort=False, **more).status == 422


def test_offsets_for_flows_where_ranks_would_take_too_many(site):
    """Of three hosts each two send to one host. Ranks would take three offsets, flows take two: a rank is told which of
    its flows do not use the first one."""
    flows = [[0, 8], [1, 8], [1, 9], [2, 9], [0, 10], [2, 10]]
    placed = site.keyd.place("1", site.hosts, phases=[flows, [[0, 9]]], keys=2).json
    assert placed["offsets"] == 2 and "rank_offsets" not in placed
    assert [key.get("offsets", 1) for key in placed["keys"]] == [2, 1]
    assert len(placed["keys"][0]["paths"]) == 3 and placed["keys"][0]["contention"] == 1
    listed = []
    for rank in range(4):
        grant = site.keyd.call("POST", "/v1/jobs/1/request", {"rank": rank}).json
        assert grant["offset"] == 1 and all(path[0] == rank for path in grant["paths"])
        listed += grant["paths"]
    assert listed == placed["keys"][0]["paths"]
    assert site.keyd.get("/v1/jobs/1").json["steps"][0]["slots"][0]["paths"] == listed
    assert site.contention(told(site, placed, 0, flows)) == 1
    site.restart()
    wait_for(lambda: site.keyd.metrics()["phases_in_force"] == 1, "the key")
    assert site.keyd.get("/v1/jobs/1").json["steps"][0]["slots"][0]["paths"] == listed
    assert site.contention(told(site, placed, 0, flows)) == 1


def test_mode_offset(site):
    """Each phase has offsets of its own, and as many as it takes; the phase for which none are left has one."""
    phases = [[[0, 8], [1, 8]], [[0, 9]], [[0, 8], [1, 8], [2, 8], [3, 8]], [[4, 8], [5, 8]]]
    placed = site.keyd.place("1", site.hosts, phases=phases, mode="offset").json
    assert [(key["offset"], key.get("offsets", 1)) for key in placed["keys"]] == [(1, 2), (3, 1), (4, 1), (5, 2)]
    assert placed["offsets"] == 6 and "reason" in placed["keys"][2]
    for phase, flows in enumerate(phases):
        assert site.keyd.request("1", phase).json["offset"] == placed["keys"][phase]["offset"]
        assert site.contention(told(site, placed, phase, flows)) == placed["keys"][phase]["contention"]
    held = dict(site.manager.keys)
    site.restart()
    wait_for(lambda: site.keyd.metrics()["phases_in_force"] == 4, "the keys")
    assert site.manager.keys == held
    sets = len(site.manager.sets)
    site.manager.change_fabric()  # other shifts are possible then
    wait_for(lambda: len(site.manager.sets) == sets + 4 and site.keyd.metrics()["phases_in_force"] == 4, "the keys")
    for phase, flows in enumerate(phases):
        assert site.contention(told(site, placed, phase, flows)) == placed["keys"][phase]["contention"]


def test_a_layout_takes_further_offsets(site):
    """The ranks of a step are on other hosts than those of the placement, so that it takes more offsets: those behind
    the job's. They are in the database, and go with the job."""
    phases = [[[0, 2], [1, 2]]]
    placed = site.keyd.place("1", [site.hosts[i] for i in (0, 8, 16, 1)], phases=phases).json
    assert placed["offsets"] == 1
    body = {"ranks": [site.hosts[i] for i in (0, 1, 16)]}
    laid = site.keyd.call("PUT", "/v1/jobs/1/steps/4/layout", body).json
    assert laid["rank_offsets"] == [[1, 2]] and laid["keys"][0]["offsets"] == 2 and laid["keys"][0]["contention"] == 1
    assert site.keyd.call("PUT", "/v1/jobs/1/steps/4/layout", body).json == laid
    assert site.keyd.request("1", 0, "4").json["ready"]
    for _ in range(2):
        shown = site.keyd.get("/v1/jobs/1").json
        step, = (step for step in shown["steps"] if step["step"] == "4")
        assert (shown["claimed"], shown["offsets"], step["rank_offsets"]) == (2, 1, [[1, 2]])
        assert site.contention(told(site, laid, 0, phases[0], [0, 1, 16])) == 1
        assert site.free([0, 16]) == 5
        site.restart()
        wait_for(lambda: site.keyd.metrics()["phases_in_force"] == 1, "the key")
    assert site.keyd.place("2", site.hosts[:2], phases=[[[0, 1]]]).json["offset"] == 3
    crowded = {"ranks": [site.hosts[i] for i in (1, 0, 16)]}
    assert site.keyd.call("PUT", "/v1/jobs/1/steps/5/layout", crowded).json["keys"][0]["offsets"] == 2
    site.keyd.release("1")
    assert site.free([0, 16]) == 4  # behind job 2


def test_a_layout_for_which_no_offset_is_free(site):
    phases = [[[0, 2], [1, 2]]]
    site.keyd.place("1", [site.hosts[i] for i in (0, 8, 16, 1)], phases=phases)
    assert site.keyd.place("2", site.hosts[:2], phases=[[[0, 1]]]).json["offset"] == 2
    laid = site.keyd.call("PUT", "/v1/jobs/1/steps/4/layout", {"ranks": [site.hosts[i] for i in (0, 1, 16)]}).json
    assert "offsets" not in laid["keys"][0] and "2 flows from one leaf" in laid["keys"][0]["reason"]
    assert site.keyd.get("/v1/jobs/1").json["claimed"] == 1


def test_offsets_stay_when_the_fabric_changes(site):
    """Ranks have read their offsets. A cable is lost: the flows keep them, and the key is made again."""
    site.keyd.place("1", site.hosts, phases=[FAN_IN])
    site.keyd.request("1")
    before = {lid for entries in site.manager.keys.values() for _, lid in entries}
    answer = site.keyd.get("/v1/jobs/1").json
    used = site.walk(1, 9, 2)[0]
    peer = site.topology.peer[used]
    lines = site.manager.fabric.decode().splitlines(keepends=True)
    switch, kept = None, []
    for line in lines:
        if line.startswith("Switch"):
            switch = int(line.split('"S-')[1].split('"')[0], 16)
        elif not line.startswith("["):
            switch = None if not line.strip() else switch
        if line.startswith("[") and (switch, int(line[1:line.index("]")])) in (used, peer):
            continue
        kept.append(line)
    assert len(kept) == len(lines) - 2
    site.manager.change_fabric("".join(kept).encode(), broken=list(site.manager.keys))
    wait_for(lambda: site.manager.keys and site.keyd.metrics()["phases_in_force"] == 1, "the key again")
    assert {lid for entries in site.manager.keys.values() for _, lid in entries} == before
    site.restart()
    wait_for(lambda: site.keyd.metrics()["phases_in_force"] == 1, "the key after a restart")
    assert used not in site.walk(1, 9, 2) and site.contention(told(site, answer, 0, FAN_IN)) == 1


def test_a_key_that_is_refused(site):
    """Attempts at other keys of the phase keep the offsets."""
    site.keyd.place("1", site.hosts, phases=[FAN_IN])
    refusals = iter([REFUSED] * 3)
    site.manager.answer = lambda key, entries: (next(refusals, DONE), "it closes a credit loop")
    assert site.keyd.request("1").json["ready"]
    assert site.contention(told(site, site.keyd.get("/v1/jobs/1").json, 0, FAN_IN)) == 1


def draw_phases(source, ranks):
    """Random phases in which some hosts get flows of several."""
    return [[list(pair) for pair in {tuple(source.sample(range(ranks), 2)) if source.random() < 0.5
                                     else (source.randrange(ranks // 2), source.randrange(ranks // 2, ranks))
                                     for _ in range(source.randint(1, 14))}]
            for _ in range(source.randint(1, 4))]


def check_separated(site, flows, key):
    """If a phase has several offsets, no two hosts of a leaf send to one host with the same one."""
    seen = {}
    for source, destination, offset in flows:
        leaf = site.topology.leaf(site.node[source])
        if "offsets" in key and leaf != site.topology.leaf(site.node[destination]):
            assert seen.setdefault((leaf, destination, offset), source) == source


@pytest.mark.parametrize("seed", range(40))
def test_random_patterns(site, seed):
    """By a walk, each phase has the contention that its answer claims, which is never more than with one offset; after a
    restart, too."""
    source = random.Random(seed)
    ranks = source.choice([8, 16, 24])
    host = [source.randrange(len(site.hosts)) for _ in range(ranks)]
    phases = draw_phases(source, ranks)
    body = {"ranks": [site.hosts[at] for at in host]}
    mode = source.choice(["rewrite", "offset"])
    site.keyd.place("one", site.hosts, phases=phases, ranks=ranks, keys=1)
    single = site.keyd.call("PUT", "/v1/jobs/one/steps/1/layout", body).json
    site.keyd.release("one")
    assert site.keyd.place("1", site.hosts, phases=phases, ranks=ranks, mode=mode).status == 200
    laid = site.keyd.call("PUT", "/v1/jobs/1/steps/1/layout", body).json
    taken = site.keyd.get("/v1/jobs/1").json["claimed"]
    assert taken + site.free(host[:1] + [host[0] ^ 1]) == 7
    claims = []
    for phase, flows in enumerate(phases):
        key = laid["keys"][phase]
        assert key["contention"] <= single["keys"][phase]["contention"]
        assert site.keyd.request("1", phase, "1").json["ready"]
        claims.append(told(site, laid, phase, flows, host))
        check_separated(site, claims[-1], key)
        assert site.contention(claims[-1]) == key["contention"]
    held = dict(site.manager.keys)
    active = len(phases) if mode == "offset" else 1
    site.restart()
    wait_for(lambda: site.keyd.metrics()["phases_in_force"] == active, "the keys")
    assert site.manager.keys == held
    for phase in range(len(phases) - active, len(phases)):
        assert site.contention(claims[phase]) == laid["keys"][phase]["contention"]
