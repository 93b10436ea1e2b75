# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Keys that the subnet manager refuses, or that cannot be made for all flows."""

import re
import time

import pytest

from cli_testing import heddle
from keyd_testing import DONE, REFUSED, FakeManager, Keyd, host_names, netlist, wait_for

TREE = ("--children", "4,4", "--parents", "1,4")
LOOP = "a credit loop"


@pytest.fixture(name="site")
def make_site(tmp_path):
    class Site:
        fabric = netlist(tmp_path, *TREE)
        hosts = host_names(fabric)

        def start(self, **options):
            self.manager = FakeManager(tmp_path / "sm.sock", self.fabric)
            self.keyd = Keyd(tmp_path, **options).start()
            return self.keyd

        def refuse(self, is_refused):
            """Answers SETs for which the function holds with a refusal."""
            self.manager.answer = lambda key, entries: (
                (REFUSED, LOOP) if entries and is_refused(entries) else (DONE, ""))

        def listed(self):
            return self.keyd.get("/v1/jobs").json["jobs"][0]

        def lids(self):
            return {lid for entries in self.manager.keys.values() for _, lid in entries}

    site = Site()
    yield site
    assert site.keyd.stop() == 0, site.keyd.log()


def cut_leaf(fabric, leaf):
    """The fabric without the cables upwards of a leaf."""
    def is_cut(node, line):
        return line.startswith("[") and (('"S2_' in line and f'"{leaf}" base' in node) or
                                         (f'"{leaf}"' in line and re.search('"S2_.*" base', node)))

    nodes = fabric.decode().split("\n\n")
    return "\n\n".join("\n".join(line for line in node.split("\n") if not is_cut(node, line))
                       for node in nodes).encode()


@pytest.mark.parametrize("mode", ["rewrite", "offset"])
def test_other_keys(site, mode):
    """Of a key that is refused, other shifts and other keys are tried; the job runs with one of all flows."""
    keyd = site.start(answer_ms=60000)
    assert keyd.place("1", site.hosts, "shift:5", mode=mode).status == 200
    seen = []

    def is_refused(entries):
        seen.append(entries)
        return len(seen) < 6

    site.refuse(is_refused)
    granted = keyd.request("1").json
    assert granted["ready"] and "reason" not in granted, granted
    assert granted["flows"] == granted["flows_with_key"] == 16
    assert len(seen) == 6 and len({frozenset(entries.items()) for entries in seen}) > 3
    assert list(site.manager.keys.values()) == [seen[-1]]
    assert "takes another one of the same flows" in keyd.log()
    assert keyd.get("/v1/links").json["most"] == 1
    assert "without_key" not in site.listed()


def test_part(site):
    """If keys of all flows are refused, the flows that make them so use the routes without keys, and no others."""
    keyd = site.start(answer_ms=60000)
    placed = keyd.place("1", site.hosts, "shift:5").json
    site.refuse(lambda entries: False)
    assert keyd.request("1").json["ready"]
    lids = site.lids()
    assert keyd.release("1").status == 200
    wait_for(lambda: not site.manager.keys, "the removal")
    bad = set(sorted(lids)[3:5])
    site.refuse(lambda entries: bad & {lid for _, lid in entries})
    assert keyd.place("1", site.hosts, "shift:5").json["offset"] == placed["offset"]
    granted = keyd.request("1").json
    assert granted["ready"] and granted["reason"] == LOOP, granted
    assert (granted["flows"], granted["flows_with_key"]) == (16, 14)
    assert site.lids() == lids - bad
    assert "2 of 16 flows have no key" in keyd.log()
    assert (site.listed()["without_key"], site.listed()["reason"]) == (2, LOOP)
    slot = keyd.get("/v1/jobs/1").json["steps"][0]["slots"][0]
    assert slot["in_force"] and slot["left_out"] == 2 and slot["reason"] == LOOP
    assert sum(link["flows"] for link in keyd.get("/v1/links").json["links"]) == 28
    shown = "".join(heddle("key", call, "-s", keyd.folder / "keyd.sock")[0] for call in ("list", "links"))
    assert shown.count(f"job 1: 2 flows have no key: {LOOP}") == 2, shown
    # the same phase again: nothing is tried again
    assert keyd.done("1").status == 200
    before = len(site.manager.sets)
    assert keyd.request("1").json["flows_with_key"] == 14
    assert [status for _, status, _ in site.manager.sets[before:]] == [DONE]


def test_no_key(site):
    """If everything is refused, attempts end, the job runs without a key, and they are not made again and again."""
    keyd = site.start(answer_ms=60000)
    assert keyd.place("1", site.hosts, "shift:5").status == 200
    site.refuse(lambda entries: True)
    granted = keyd.request("1").json
    assert not granted["ready"] and granted["reason"] == LOOP and granted["offset"] == 0
    assert (granted["flows"], granted["flows_with_key"]) == (16, 0)
    tried = len(site.manager.sets)
    assert 16 < tried < 100
    assert (site.listed()["without_key"], site.listed()["reason"]) == (16, LOOP)
    wait_for(lambda: len(site.manager.sets) > tried + 1, "the same key, sent again later")
    assert len(site.manager.sets) < tried + 10
    site.refuse(lambda entries: False)
    wait_for(lambda: "without_key" not in site.listed(), "the key")


def test_time_is_over(site):
    """Attempts take no longer than the request may."""
    keyd = site.start(answer_ms=4000)
    assert keyd.place("1", site.hosts, "shift:5").status == 200
    slow = []

    def answer(key, entries):
        slow.append(key)
        time.sleep(0.5)  # the manager proves it
        return (REFUSED, LOOP)

    site.manager.answer = answer
    granted = keyd.request("1").json
    assert not granted["ready"] and granted["reason"] == LOOP
    assert 1 < len(slow) < 17


def test_strict_job(site):
    """A job that allows no contention gets a key of all flows, or none."""
    keyd = site.start(answer_ms=60000)
    assert keyd.place("1", site.hosts, "shift:5", best_effort=False).status == 200
    site.refuse(lambda entries: True)
    assert not keyd.request("1").json["ready"]
    assert len(site.manager.sets) <= 18


def test_new_fabric(site):
    """Keys that are made again for a new fabric are tried like those of a request."""
    keyd = site.start(answer_ms=60000)
    assert keyd.place("1", site.hosts, "shift:5").status == 200
    assert keyd.request("1").json["ready"]
    bad = {sorted(site.lids())[3]}
    site.refuse(lambda entries: bad & {lid for _, lid in entries})
    site.manager.change_fabric(broken=list(site.manager.keys))
    wait_for(lambda: site.listed().get("without_key") == 1, "the key of a part")
    assert keyd.request("1").json["flows_with_key"] == 15


def test_no_path(site):
    """Flows without a path have no key, and the reason names the switch; the others have one."""
    site.fabric = cut_leaf(site.fabric, "S1_3")
    keyd = site.start()
    placed = keyd.place("1", site.hosts, "shift:5")
    assert placed.status == 200, placed.text
    granted = keyd.request("1").json
    assert granted["ready"] and granted["flows_with_key"] == 8, granted
    assert "S1_3" in granted["reason"]
    assert site.listed()["without_key"] == 8 and "S1_3" in site.listed()["reason"]
    assert keyd.place("2", site.hosts, "shift:5", best_effort=False).status == 422


def paths(manager):
    return {key: dict(entries) for key, entries in manager.keys.items()}


@pytest.mark.parametrize("same_manager", [True, False])
def test_restart(site, same_manager):
    """After kill -9 the daemon gives the same keys: with the shifts of that time, also those that attempts found."""
    keyd = site.start(answer_ms=60000)
    pairs = [(0, 4), (1, 5), (2, 6), (3, 7)]
    for number, (one, other) in enumerate(pairs):
        job = f"p{number}"
        assert keyd.place(job, [site.hosts[one], site.hosts[other]], phases=[[[0, 1]]]).status == 200
        assert keyd.request(job).json["ready"]
    for job in ("p0", "p2"):  # so that the loads of the restart are others
        assert keyd.release(job).status == 200
    wait_for(lambda: len(site.manager.keys) == 2, "the removal")
    assert keyd.place("part", site.hosts, "shift:5").status == 200
    site.refuse(lambda entries: len(entries) > 40)
    granted = keyd.request("part").json
    assert granted["ready"] and granted["flows_with_key"] < 16, granted
    assert keyd.place("last", site.hosts[:8], "shift:4").status == 200
    assert keyd.request("last").json["ready"]
    before, sets = paths(site.manager), len(site.manager.sets)
    links = keyd.get("/v1/links").json
    keyd.process.kill()
    keyd.process.wait()
    if not same_manager:
        site.manager.keys = {}
    keyd.start()
    wait_for(lambda: paths(site.manager) == before and len(site.manager.sets) >= sets + 4, "the same keys")
    wait_for(lambda: "in force again" in keyd.log(), "the log")
    assert {status for _, status, _ in site.manager.sets[sets:]} == {DONE} and len(site.manager.sets) == sets + 4
    assert keyd.get("/v1/links").json == links
    again = keyd.request("part").json
    assert (again["flows_with_key"], again["reason"]) == (granted["flows_with_key"], LOOP)
