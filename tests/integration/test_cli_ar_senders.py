# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plans of adaptive routing on fabrics with aggregation nodes, proved with all senders by a checker that
shares no code with heddle (independent_adaptive.py).

HEDDLE_SENDER_FABRICS is the number of fabrics: 24 by default; a campaign takes 500.
"""

import json
import os
import random

import pytest

import independent_adaptive as adaptive
import independent_check as plain
from cli_testing import CLEAN, FAULTS, generate, heddle

FABRICS = int(os.environ.get("HEDDLE_SENDER_FABRICS", "24"))
MUTANTS = 3


# ---- fabrics ----

def tree(chance):
    levels = [chance.randint(2, 5) for _ in range(chance.choice((2, 2, 3)))]
    parents = [1] + [chance.randint(2, 5) for _ in levels[1:]]
    return ("xgft", "--children=" + ",".join(map(str, levels)),
            "--parents=" + ",".join(map(str, parents)))


def cables(chance):
    return ("xgft", f"--children={chance.randint(2, 4)},{chance.randint(3, 6)}",
            f"--parents=1,{chance.randint(2, 3)}", f"--parallel=1,{chance.randint(2, 3)}")


def real_tree(chance):
    return ("rlft", "--radix=6", *chance.choice((("--levels=2", "--hosts=18"),
                                                 ("--levels=3", "--hosts=18"),
                                                 ("--levels=3", "--hosts=54"))))


def directors(chance):
    return ("directors", f"--leaves={chance.randint(4, 6)}", "--hosts=3", "--directors=2",
            "--uplinks=2", "--line-chips=3", "--outside=4",
            f"--spine-chips={chance.choice((2, 4))}")


def torus(chance):
    return ("torus", f"--dims={chance.randint(2, 4)},{chance.randint(2, 4)}", "--hosts=2",
            f"--parallel={chance.randint(1, 3)}")


def irregular(chance):
    return ("irregular", f"--switches={chance.randint(6, 14)}", "--radix=10", "--hosts=3",
            f"--seed={chance.randint(1, 999)}")


KINDS = (tree, tree, tree, cables, real_tree, directors, torus, irregular)


# ---- tables and plans ----

class Scene:
    """A fabric with aggregation nodes, and its tables."""

    def __init__(self, folder, kind, damage, seed, routings):
        self.folder = folder
        self.files = [folder / name for name in ("fabric", "tables", "levels")]
        generate(folder / "fabric", *kind, "--aggregation-nodes", f"--remove-links={damage}%",
                 f"--seed={seed}")
        for routing in routings:
            heddle("route", "-e", routing, folder / "fabric", "-o", folder / "tables", "--sl",
                   folder / "levels", status=None)
            if self.files[1].exists():
                break
        fabric, tables, levels = (file.read_text() for file in self.files)
        self.fabric = plain.read_fabric(fabric)
        self.tables = plain.read_tables(tables, self.fabric)
        self.lane_of = plain.read_lanes(levels, self.fabric)

    def plan(self, *options, status=CLEAN):
        """The text of heddle.far, or None if the plan is refused."""
        heddle("ar", "plan", *options, "-o", self.folder, *self.files, status=status)
        file = self.folder / "heddle.far"
        return file.read_text() if file.exists() else None

    def refused(self, text):
        """Whether heddle check finds a credit loop in a plan."""
        (self.folder / "plan.far").write_text(text)
        stdout, _ = heddle("check", "--json", "--plan", self.folder / "plan.far", *self.files,
                           status=None)
        report = json.loads(stdout)["adaptive"]
        return not report["clean"] and "credit loop" in report["reason"]

    def loops(self, plan, hosts_only=False):
        if isinstance(plan, str):
            plan = adaptive.read_plan(plan, self.fabric)
        return adaptive.credit_loops(self.fabric, self.tables, plan, self.lane_of, hosts_only)

    def next_switch(self, switch, lid):
        """The switch to which the static port leads, or None."""
        far = self.fabric.cable.get((switch, self.tables[switch].get(lid)))
        return far[0] if far and far[0] in self.fabric.switches else None


def random_scene(folder, number):
    """One in two has tables on one lane; one in three is whole."""
    chance = random.Random(number)
    kind = KINDS[number % len(KINDS)](chance)
    lanes = 1 + number // len(KINDS) % 2
    engines = chance.sample(("dmodk", "updown", "spf"), 3)
    return Scene(folder, kind, chance.choice((0, 0, 1, 3, 8, 15)), number,
                 [f"{engine}:vls={lanes}" for engine in engines] + ["spf:vls=8"])


# ---- plans by definition ----

def host_lids(fabric):
    systems = {fabric.system[switch] for switch in fabric.switches}
    return [lid for lid in fabric.place if fabric.system[fabric.owner[lid]] not in systems]


def neighbours(fabric, switch):
    """{port: switch at the far end}."""
    return {port: far[0] for (near, port), far in fabric.cable.items()
            if near == switch and far[0] in fabric.switches and far[0] != switch}


def distances(around, destination):
    hops = {destination: 0}
    queue = [destination]
    for switch in queue:
        for far in around[switch].values():
            if far not in hops:
                hops[far] = hops[switch] + 1
                queue.append(far)
    return hops


def plan_by_definition(scene, tree_groups):
    """{switch: {LID: ports}} of the algorithm tree, or else lag, without regard to loops."""
    fabric = scene.fabric
    around = {switch: neighbours(fabric, switch) for switch in fabric.switches}
    plan = {switch: {} for switch in fabric.switches}
    hops = {}
    for lid in host_lids(fabric):
        destination = fabric.place[lid][0]
        hops.setdefault(destination, distances(around, destination))
        for switch in fabric.switches:
            onward = scene.next_switch(switch, lid)
            if onward is None:
                continue
            ports = {port for port, far in around[switch].items()
                     if (hops[destination][far] + 1 == hops[destination][switch] if tree_groups
                         else far == onward)}
            if len(ports) > 1 and scene.tables[switch][lid] in ports:
                plan[switch][lid] = frozenset(ports)
    return plan


def entries(plan):
    return {(switch, lid): ports for switch, row in plan.items() for lid, ports in row.items()}


# ---- tests ----

def mutant(scene, plan, chance):
    """{(switch, LID): ports}: an entry gets a port to another neighbour, or {}."""
    switch = chance.choice(sorted(scene.fabric.switches))
    lid = chance.choice(sorted(host_lids(scene.fabric)))
    if scene.next_switch(switch, lid) is None:
        return {}
    ports = adaptive.ports_of(scene.tables, plan, switch, lid)
    others = [port for port, far in sorted(neighbours(scene.fabric, switch).items())
              if port not in ports and lid in scene.tables.get(far, {})]
    return {(switch, lid): ports | {chance.choice(others)}} if others else {}


def try_mutants(scene, text, number):
    """Both say the same of each. Returns how many are refused."""
    chance = random.Random(f"mutants {number}")
    plan = adaptive.read_plan(text, scene.fabric)
    refused = 0
    for _ in range(MUTANTS):
        changes = mutant(scene, plan, chance)
        changed = adaptive.write_plan(text, scene.fabric, changes)
        assert entries(adaptive.read_plan(changed, scene.fabric)) == entries(plan) | changes
        loops = scene.loops(changed)
        assert scene.refused(changed) == bool(loops), (changes, loops)
        refused += bool(loops)
    return refused


@pytest.fixture(scope="module", name="tally")
def fixture_tally():
    counts = {"plans": 0, "refused mutants": 0}
    yield counts
    print(f"\n{FABRICS} fabrics: {counts}")


@pytest.mark.parametrize("number", range(FABRICS))
def test_no_sender_closes_a_loop(tmp_path, number, tally):
    """A plan has no credit loop of any senders, and heddle check agrees. Only if hosts alone would close
    one in the groups of the algorithm, there is no plan. Mutants are refused where they close a loop."""
    scene = random_scene(tmp_path, number)
    assert not scene.loops({})
    text = scene.plan(status=None)
    if text is None:
        assert scene.loops(plan_by_definition(scene, False), hosts_only=True)
        return
    assert not scene.loops(text)
    assert not scene.refused(text)
    tally["plans"] += 1
    tally["refused mutants"] += try_mutants(scene, text, number)


def test_mutants_were_refused(tally):
    """The test above has proved plans, and has seen mutants of them with loops."""
    assert tally["plans"] > FABRICS * 2 / 3
    assert tally["refused mutants"] > FABRICS / 4


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_a_large_tree_that_has_lost_few_cables(tmp_path, seed):
    """Without aggregation nodes as senders the groups of the algorithm tree have no loop, with them they
    have one. heddle check refuses these groups. heddle ar plan makes smaller ones, and the share of
    adaptive entries stays within a point."""
    scene = Scene(tmp_path, ("xgft", "--children=6,6,6", "--parents=1,6,6"), 1, seed, ["dmodk"])
    text = scene.plan("--algorithm=tree")
    wide = plan_by_definition(scene, True)
    assert not scene.loops(wide, hosts_only=True) and scene.loops(wide)
    plan = adaptive.read_plan(text, scene.fabric)
    count = sum(len(row) for row in scene.tables.values())
    share, wide_share = (len(entries(groups)) / count for groups in (plan, wide))
    assert wide_share - 0.01 < share < wide_share
    assert not scene.loops(plan) and not scene.refused(text)
    kept = entries(plan)
    lost = {key: ports for key, ports in entries(wide).items() if kept.get(key) != ports}
    changed = adaptive.write_plan(text, scene.fabric, lost)
    assert entries(adaptive.read_plan(changed, scene.fabric)) == entries(wide)
    assert scene.refused(changed)


def test_the_command_finds_what_heddle_finds(tmp_path):
    """The checker as a command, on a plan and on one with a loop."""
    scene = Scene(tmp_path, ("xgft", "--children=2,4", "--parents=1,3"), 0, 1, ["dmodk"])
    text = scene.plan()
    arguments = [str(file) for file in scene.files[:2]] + [str(tmp_path / "plan.far")]
    assert not scene.refused(text)
    assert adaptive.main(arguments) == CLEAN
    leaf, lid = next((switch, lid) for switch, lid in
                     entries(adaptive.read_plan(text, scene.fabric)) if scene.fabric.hosts_of(switch))
    spine = scene.next_switch(leaf, lid)
    down = set(neighbours(scene.fabric, spine))
    assert scene.refused(adaptive.write_plan(text, scene.fabric, {(spine, lid): down}))
    assert adaptive.main(arguments) == FAULTS
