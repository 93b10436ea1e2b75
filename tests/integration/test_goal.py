# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""GOAL traces in heddle sim and heddle ebb: against a slow model, the examples, errors, and a trace of 1,000 ranks in
bounded memory."""

import gzip
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys

import pytest

import goal_model
from cli_testing import BAD, HEDDLE, SOURCE, ebb, generate, heddle, refused, route
from fabric_sim import PATIENCE

EXAMPLES = SOURCE / "doc" / "examples"
os.environ["HEDDLE_SCENARIOS"] = str(SOURCE / "sim" / "scenarios")

SPEC = importlib.util.spec_from_file_location("make_goal", EXAMPLES / "make_goal.py")
make_goal = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_goal)

SCENARIO = """[scenario]
title = traces
[fabric]
generator = xgft
children = 4,4
parents = 1,4
[routing]
engine = dmodk
[model]
forced_rate = 10000 Gb/s
link_latency = 0
switch_latency = 0
[traffic g]
kind = goal
placement = contiguous
trace = file:t.goal
[run]
duration = never
"""


@pytest.fixture(name="scenario")
def fixture_scenario(tmp_path):
    path = tmp_path / "t.ini"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(name="fabric", scope="module")
def fixture_fabric(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("fabric") / "f.net", "xgft", "--children", "4,4", "--parents", "1,2")


def text_of(ranks, path):
    with open(path, "w", encoding="ascii") as stream:
        make_goal.write(ranks, stream)
    return path.read_text()


def figures(*arguments):
    report = json.loads(heddle("sim", "--json", *arguments)[0])
    return {one["name"].split("@")[0]: one["mean"] for one in report["points"][0]["figures"]}


def random_ranks(seed):
    """Ranks that calculate on two cpus and send to each other. What a receive waits for has been sent before, in the
    order in which the trace was made, so the trace ends."""
    dice = random.Random(seed)
    ranks = [make_goal.Rank() for _ in range(dice.randint(2, 8))]
    # at first all cpus are busy, each for another time: no two messages come at the same time
    made = [[rank.add(f"calc {dice.randint(1, 10 ** 6)} cpu {cpu}") for cpu in (0, 1)] for rank in ranks]

    def pick(rank):
        some = dice.sample(made[rank], min(len(made[rank]), dice.randint(0, 3)))
        cut = dice.randint(0, len(some))
        return (some[:cut], some[cut:]) if dice.random() < 0.3 else (some, ())

    for _ in range(dice.randint(5, 60)):
        rank, peer = dice.randrange(len(ranks)), dice.randrange(len(ranks))
        if dice.random() < 0.5:
            text = f"calc {dice.randint(1, 10 ** 6)} cpu {dice.randint(0, 1)}"
            made[rank].append(ranks[rank].add(text, *pick(rank)))
            continue
        if rank == peer: # both ends of such a message end at the same time, and the order is nobody's business
            continue
        size, tag = dice.choice([1, 4096]), dice.randint(0, 1)
        made[rank].append(ranks[rank].send(peer, size, tag, *pick(rank)))
        any_source, any_tag = dice.random() < 0.2, dice.random() < 0.2
        made[peer].append(ranks[peer].receive(-1 if any_source else rank, size, -1 if any_tag else tag, *pick(peer)))
    return ranks


@pytest.mark.parametrize("seed", range(80))
def test_ends_when_the_model_says(scenario, tmp_path, seed):
    text = text_of(random_ranks(seed), tmp_path / "t.goal")
    for eager in (4095, 65535):
        expected = goal_model.Run(text, eager).end()
        option = ["-O", f"traffic.g.eager={eager}"]
        if expected is None:
            assert "deadlock: " in refused("sim", scenario, *option)
            continue
        check_end(text, expected, figures(scenario, *option))


def check_end(text, expected, found):
    # a message of 4,096 bytes takes 4 ns on each of four hops, and there are 60 messages at the most
    assert expected <= found["g.completion"] * 1e9 + 1e-3
    assert found["g.completion"] * 1e9 <= expected + 60 * 16
    assert found["g.messages"] == text.count(": send")
    assert found["g.waiting"] == 0


def test_most_random_traces_end():
    ends = [goal_model.Run("".join(lines)).end() for lines in
            (["".join(f"rank {r}\n" + "\n".join(rank.lines) + "\n" for r, rank in enumerate(random_ranks(seed)))]
             for seed in range(60))]
    assert sum(end is not None for end in ends) >= 20
    assert sum(end is None for end in ends) >= 1


# ---- the examples ----

KINDS = {"ring-8": ("ring", 8, 1048576), "linear-8": ("linear", 8, 65536), "stencil-8": ("stencil", 4, 2, 32768, 2, 50000)}


@pytest.mark.parametrize("name", KINDS)
def test_examples(fabric, tmp_path, name):
    path, words = EXAMPLES / f"{name}.goal", list(map(str, KINDS[name]))
    made = subprocess.run([sys.executable, EXAMPLES / "make_goal.py", *words], capture_output=True, text=True, check=True).stdout
    assert made == path.read_text()
    sums = goal_model.bytes_between(made)
    report = json.loads(heddle("sim", "--json", "-e", "dmodk", fabric, "--trace", path)[0])
    found = {one["name"].split("@")[0]: one["mean"] for one in report["points"][0]["figures"]}
    assert found["goal.messages"] == made.count(": send") == found["class.goal.delivered"]
    assert found["goal.untaken"] == found["goal.waiting"] == 0
    moved = found["class.goal.throughput"] * found["run.time"] / 8
    assert moved == pytest.approx(sum(sums.values()), rel=1e-6)
    packed = tmp_path / "t.goal.gz"
    packed.write_bytes(gzip.compress(made.encode()))
    again = json.loads(heddle("sim", "--json", "-e", "dmodk", fabric, "--trace", packed)[0])
    assert again["points"] == report["points"]


def test_rounds_of_ebb(fabric, tmp_path):
    tables = route("dmodk", fabric, tmp_path / "t")
    for name, rounds, flows in [("ring-8", 14, 14 * 8), ("linear-8", 1, 56), ("stencil-8", 2, 2 * 24)]:
        found = ebb(fabric, tables, "--map", "identity", "--pattern", f"goal:file={EXAMPLES / name}.goal")
        assert (found["rounds"], found["routes"]) == (rounds, flows), found


def test_doubling_and_dissemination(tmp_path):
    for kind, rounds in [(make_goal.doubling(8, 64), 3), (make_goal.dissemination(7, 5), 3)]:
        text = text_of(kind, tmp_path / "t.goal")
        assert goal_model.Run(text).end() == pytest.approx(5 if "calc" in text else 0, abs=1e-4)
        assert text.count(": send") == rounds * len(kind)


def test_several_applications(scenario, tmp_path):
    text_of(make_goal.ring(4, 4096, 1000), tmp_path / "t.goal")
    report = json.loads(heddle("sim", "--json", scenario, "-O", "traffic.g.applications=4")[0])
    ends = [one["mean"] for one in report["points"][0]["figures"] if one["name"].startswith("g.completion")]
    assert len(ends) == 4
    assert all(end == pytest.approx(3e-6, rel=0.1) for end in ends)


def test_time_of_calc_and_eager(scenario, tmp_path):
    (tmp_path / "t.goal").write_text("num_ranks 2\nrank 0 {\na: send 100b to 1\nb: calc 1000\nb requires a\n}\n"
                                     "rank 1 {\na: calc 5000\nb: recv 100b from 0\nb requires a\n}\n")
    assert figures(scenario)["g.completion"] == pytest.approx(5e-6, rel=1e-3)
    assert figures(scenario, "-O", "traffic.g.calc=1us")["g.completion"] == pytest.approx(5e-3, rel=1e-3)
    assert figures(scenario, "-O", "traffic.g.calc=0")["g.completion"] < 1e-6
    late = figures(scenario, "-O", "traffic.g.eager=99")
    assert late["g.completion"] == pytest.approx(6e-6, rel=1e-3)


def test_a_message_to_oneself(scenario, tmp_path):
    (tmp_path / "t.goal").write_text("num_ranks 1\nrank 0 {\na: calc 1000\nb: send 70000b to 0 tag 3\nb requires a\n"
                                     "c: recv 70000b from -1 tag 3\nd: calc 1000\nd requires b\nd requires c\n}\n")
    assert figures(scenario)["g.completion"] == pytest.approx(2e-6)


# ---- errors ----

@pytest.mark.parametrize("text, said", [
    ("num_ranks 2\nrank 0 {\nl1: send 1b to 7\n}\n", "t.goal:3: expected a rank 0 .. 1: 'l1: send 1b to 7'"),
    ("num_ranks 2\nrank 0 {\nl1: recv 1b from 1\n}\n",
     "traffic g: deadlock: 1 operations do not end; the first is rank 0, l1 ("),
    ("num_ranks 17\nrank 0 {\ncalc 1\n}\n", "t.goal has 17 ranks, but each application has 16 hosts"),
    ("num_ranks 2\nrank 0 {\nl4: calc 1152921504606847\n}\n", "t.goal:3): a calculation of more than"),
    ("", "t.goal: the file is empty"),
])
def test_errors(scenario, tmp_path, text, said):
    (tmp_path / "t.goal").write_text(text)
    assert said in refused("sim", scenario)


def test_errors_of_the_command(fabric, tmp_path):
    assert "--pattern and --size do not go with it" in refused("sim", "-e", "dmodk", fabric, "--trace", "t", "--size", 3)
    assert "--trace need --fabric" in refused("sim", "question", "--trace", "t")
    assert "nobody.goal: cannot open" in refused("sim", "-e", "dmodk", fabric, "--trace", tmp_path / "nobody.goal")
    assert "expected file:PATH" in refused("sim", "questions/trace", "-O", f"fabric.file={fabric}", "-O", "traffic.goal.trace=x")


# ---- a large trace ----

def test_a_thousand_ranks_in_bounded_memory(tmp_path):
    """An operation takes 48 bytes and an edge 4; 100 MiB are for the command, the fabric and its packets."""
    trace, operations, edges = tmp_path / "large.goal", 0, 0
    with open(trace, "w", encoding="ascii") as stream:
        stream.write("num_ranks 1000\n")
        for rank in range(1000):
            stream.write(f"rank {rank} {{\nl1: calc 1000\n")
            for turn in range(1, 401):
                stream.write(f"l{2 * turn}: send 256b to {(rank + turn % 7 + 1) % 1000} tag {turn}\n"
                             f"l{2 * turn + 1}: recv 256b from {(rank - turn % 7 - 1) % 1000} tag {turn}\n"
                             f"l{2 * turn} requires l{2 * turn - 1}\nl{2 * turn + 1} requires l{2 * turn - 1}\n")
                operations, edges = operations + 2, edges + 2
            stream.write("}\n")
    fabric = generate(tmp_path / "f.net", "xgft", "--children", "32,32", "--parents", "1,32")
    limit = 100 * 2 ** 20 + 48 * operations + 8 * edges + 2 * trace.stat().st_size
    done = subprocess.run([HEDDLE, "sim", "--json", "-t", "1", "-e", "dmodk", fabric, "--trace", trace], capture_output=True,
                          text=True, timeout=PATIENCE, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 0, done.stderr
    found = {one["name"].split("@")[0]: one["mean"] for one in json.loads(done.stdout)["points"][0]["figures"]}
    assert found["goal.messages"] == operations / 2
    assert found["goal.waiting"] == 0
