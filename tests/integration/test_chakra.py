# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Chakra execution traces in heddle sim: against a slow model, the bytes of collective operations, and errors."""

import gzip
import importlib.util
import json
import os
import random

import pytest

import goal_model
from cli_testing import SOURCE, generate, heddle, refused
from test_goal import SCENARIO

EXAMPLES = SOURCE / "doc" / "examples"
os.environ["HEDDLE_SCENARIOS"] = str(SOURCE / "sim" / "scenarios")

SPEC = importlib.util.spec_from_file_location("make_chakra", EXAMPLES / "make_chakra.py")
chakra = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(chakra)


@pytest.fixture(name="scenario")
def fixture_scenario(tmp_path):
    path = tmp_path / "t.ini"
    path.write_text(SCENARIO.replace("kind = goal", "kind = chakra").replace("t.goal", "t"))
    return path


def figures(scenario, *options):
    report = json.loads(heddle("sim", "--json", scenario, *options)[0])
    return {one["name"].split("@")[0]: one["mean"] for one in report["points"][0]["figures"]}


class Model:
    """Ranks with nodes, as a Chakra trace and, the slow way, as a GOAL trace for the model: a collective operation is a
    message from each rank of the group to each other one. If messages take no time, it ends at the same moment."""

    def __init__(self, count):
        self.traces = [chakra.Trace(first=10 * rank) for rank in range(count)]
        self.goal = [[] for _ in range(count)]
        self.tag = 1000

    def nodes(self, rank):
        return range(10 * rank, self.traces[rank].next)

    def waits(self, node, waits):
        return [f"b{node} requires e{other}" for other in waits]

    def compute(self, rank, duration, waits, host):
        node = self.traces[rank].add("c", chakra.COMPUTE, waits, duration, is_cpu_op=host)
        self.goal[rank] += [f"b{node}: calc 0 cpu 9", *self.waits(node, waits), f"e{node}: calc {duration * 1000} cpu {int(host)}",
                            f"e{node} requires b{node}"]

    def message(self, source, destination, tag, waits, waits_there):
        ends = dict(comm_size=4096, comm_src=source, comm_dst=destination, comm_tag=tag)
        sent = self.traces[source].add("s", chakra.SEND, waits, **ends)
        come = self.traces[destination].add("r", chakra.RECEIVE, waits_there, **ends)
        for rank, node, some, text in [(source, sent, waits, f"send 4096b to {destination}"),
                                       (destination, come, waits_there, f"recv 4096b from {source}")]:
            self.goal[rank] += [f"b{node}: calc 0 cpu 9", *self.waits(node, some), f"e{node}: {text} tag {tag} cpu 9",
                                f"e{node} requires b{node}"]

    def collective(self, kind, ranks, group, waits):
        self.tag += 1
        for rank in ranks:
            name = {"pg_name": group} if group else {}
            node = self.traces[rank].collective("k", kind, 256, waits[rank], **name)
            lines = [f"b{node}: calc 0 cpu 9", *self.waits(node, waits[rank]), f"e{node}: calc 0 cpu 9"]
            for peer in ranks:
                lines += [f"s{node}x{peer}: send 1b to {peer} tag {self.tag} cpu 9", f"s{node}x{peer} requires b{node}",
                          f"r{node}x{peer}: recv 1b from {peer} tag {self.tag} cpu 9", f"e{node} requires r{node}x{peer}"]
            # an operation may be named only behind it
            self.goal[rank] += sorted(lines, key=lambda line: "requires" in line)

    def text(self):
        return "".join(f"rank {rank}\n" + "\n".join(lines) + "\n" for rank, lines in enumerate(self.goal))


def random_model(seed):
    dice = random.Random(seed)
    count = dice.randint(2, 8)
    model, half = Model(count), count // 2
    groups = {"": range(count), "low": range(half), "high": range(half, count)}
    for rank in range(count): # no two things happen at the same time
        model.compute(rank, dice.randint(1, 1000), (), False)

    def pick(rank):
        return dice.sample(model.nodes(rank), min(len(model.nodes(rank)), dice.randint(0, 2)))

    for _ in range(dice.randint(3, 30)):
        choice = dice.random()
        if choice < 0.5:
            rank = dice.randrange(count)
            model.compute(rank, dice.randint(1, 1000), pick(rank), dice.random() < 0.3)
        elif choice < 0.7:
            source, destination = dice.sample(range(count), 2)
            model.message(source, destination, dice.randint(0, 3), pick(source), pick(destination))
        else:
            group = dice.choice(list(groups))
            kind = dice.choice([chakra.ALL_REDUCE, chakra.ALL_GATHER, chakra.ALL_TO_ALL, chakra.REDUCE_SCATTER, chakra.BARRIER])
            model.collective(kind, groups[group], group, {rank: pick(rank) for rank in groups[group]})
    return model


@pytest.mark.parametrize("seed", range(60))
def test_ends_when_the_model_says(scenario, tmp_path, seed):
    model = random_model(seed)
    chakra.write(model.traces, tmp_path / "t")
    expected = goal_model.Run(model.text()).end()
    assert expected is not None
    found = figures(scenario)["g.completion"] * 1e9
    assert expected <= found + 1e-2 <= expected + 2000


# ---- messages of collective operations ----

@pytest.mark.parametrize("kind, size, ranks, messages, moved", [
    (chakra.ALL_REDUCE, 10000, 5, 40, 40 * 2000),  # ring: twice around, of a fifth
    (chakra.ALL_REDUCE, 1024, 4, 8, 8 * 1024),  # recursive doubling
    (chakra.ALL_GATHER, 200000, 5, 20, 20 * 200000),
    (chakra.REDUCE_SCATTER, 9999, 5, 20, 20 * 2000),
    (chakra.ALL_TO_ALL, 5000, 5, 20, 20 * 1000),
    (chakra.BROADCAST, 3000, 6, 5, 5 * 3000),
    (chakra.BARRIER, 0, 6, 18, 18 * 8),
])
def test_messages_of_collectives(scenario, tmp_path, kind, size, ranks, messages, moved):
    traces = [chakra.Trace() for _ in range(ranks)]
    for trace in traces:
        trace.collective("k", kind, size)
    chakra.write(traces, tmp_path / "t")
    found = figures(scenario, "-O", "model.forced_rate=40 Gb/s")
    assert found["g.messages"] == found["class.g.delivered"] == messages
    assert found["class.g.throughput"] * found["run.time"] / 8 == pytest.approx(moved, rel=1e-6)


def test_the_example(tmp_path):
    fabric = generate(tmp_path / "f.net", "xgft", "--children", "4,4", "--parents", "1,2")
    traces = chakra.training(8, 3, 1048576, 100, 2)
    chakra.write(traces, tmp_path / "llm")
    report = json.loads(heddle("sim", "--json", "-e", "dmodk", fabric, "--trace", tmp_path / "llm")[0])
    found = {one["name"].split("@")[0]: one["mean"] for one in report["points"][0]["figures"]}
    assert found["chakra.waiting"] == found["chakra.untaken"] == 0
    assert found["chakra.completion"] > 3 * 300e-6
    # 3 all-gathers of 2 ranks in 4 groups, 6 messages to the next group, 3 all-reduces on a ring of 8, the barrier
    assert found["chakra.messages"] == 3 * 2 * 4 + 6 + 3 * 8 * 14 + 8 * 3
    for rank in range(8):
        path = tmp_path / f"llm.{rank}.et"
        path.write_bytes(gzip.compress(path.read_bytes()))
    again = json.loads(heddle("sim", "--json", "-e", "dmodk", fabric, "--trace", tmp_path / "llm")[0])
    assert again["points"] == report["points"]


# ---- errors ----

def write_with(tmp_path, change):
    """Two ranks, of which `change` may add to the second."""
    traces = [chakra.Trace(), chakra.Trace()]
    for trace in traces:
        trace.collective("k", chakra.ALL_REDUCE, 100)
    change(traces[1])
    chakra.write(traces, tmp_path / "t")


def same_id(trace):
    trace.next = 0
    trace.add("c", chakra.COMPUTE)


def far_id(trace):
    trace.next = 1 << 32
    trace.add("c", chakra.COMPUTE)


@pytest.mark.parametrize("change, said", [
    (lambda trace: trace.add("x", 8), "t.1.et: node 1: unknown type 8, expected 1 .. 7"),
    (lambda trace: trace.add("x", 0), "t.1.et: node 1: unknown type 0"),
    (lambda trace: trace.add("s", chakra.SEND, comm_dst=0), "t.1.et: node 1: attribute comm_size is missing"),
    (lambda trace: trace.add("s", chakra.SEND, comm_size=1), "t.1.et: node 1: attribute comm_dst is missing"),
    (lambda trace: trace.add("s", chakra.SEND, comm_size=1, comm_dst=2),
     "t.1.et: node 1: attribute comm_dst is 2, expected at most 1"),
    (lambda trace: trace.add("s", chakra.SEND, comm_size=-1, comm_dst=0), "t.1.et: node 1: attribute comm_size is below 0"),
    (lambda trace: trace.add("s", chakra.SEND, comm_size="x", comm_dst=0),
     "t.1.et: node 1: attribute comm_size is no whole number"),
    (lambda trace: trace.add("s", chakra.SEND, comm_size=1 << 32, comm_dst=0), "expected at most 4294967295"),
    (lambda trace: trace.add("k", chakra.COLLECTIVE, pg_name="alone", comm_size=1), "node 1: attribute comm_type is missing"),
    (lambda trace: trace.collective("k", 10, 1, pg_name="alone"), "node 1: attribute comm_type is 10, expected 0 .. 9"),
    (lambda trace: trace.collective("k", 0, 1), "t: process group '': rank 0 has 1 collective operations, but rank 1 has 2"),
    (lambda trace: trace.add("c", chakra.COMPUTE, [77]), "t.1.et: node 1: it waits for node 77, which does not exist"),
    (lambda trace: trace.add("c", chakra.COMPUTE, [1]), "t.1.et: node 1: operations wait for each other in a circle"),
    (same_id, "t.1.et: node 0: a node before has the same id"),
    (far_id, "t.1.et: node 4294967296: expected an id below 2^32"),
    (lambda trace: trace.messages.append(b"\xff"), "t.1.et: message 3 is no node of a Chakra trace"),
    (lambda trace: trace.messages.__setitem__(0, b"\xff"), "t.1.et: message 1 is no metadata of a Chakra trace"),
    (lambda trace: trace.messages.clear(), "t.1.et: the file is empty"),
    (lambda trace: trace.add("r", chakra.RECEIVE, comm_size=1, comm_src=0, comm_tag=4),
     "deadlock: 1 operations do not end; the first is rank 1 ("),
    (lambda trace: trace.add("r", chakra.RECEIVE, comm_size=1, comm_src=0, comm_tag=4),
     "t.1.et: node 1): recv from 0 tag 4 has no message"),
])
def test_errors(scenario, tmp_path, change, said):
    write_with(tmp_path, change)
    assert said in refused("sim", scenario)


def test_a_file_that_is_cut_off(scenario, tmp_path):
    write_with(tmp_path, lambda trace: trace.add("c", chakra.COMPUTE, duration=5))
    path = tmp_path / "t.1.et"
    path.write_bytes(path.read_bytes()[:-1])
    assert "t.1.et: message 3 is cut off" in refused("sim", scenario)


def test_collectives_of_a_few_bytes(scenario, tmp_path):
    """Each collective operation stands for many messages. How many a trace may have is an option, which the message names."""
    model = Model(2)
    for _ in range(50):
        model.collective(chakra.ALL_REDUCE, (0, 1), "", [[], []])
    chakra.write(model.traces, tmp_path / "t")
    text = scenario.read_text()
    scenario.write_text(text.replace("kind = chakra", "kind = chakra\noperations = 300"))
    message = refused("sim", scenario, cwd=tmp_path)
    assert "more than 300 operations" in message and "the option 'operations' raises this limit" in message
    scenario.write_text(text)
    heddle("sim", scenario, cwd=tmp_path)


def test_dependencies_of_a_few_bytes(scenario, tmp_path):
    """A dependency can be a byte of the file, and less with gzip. How many there are is limited as operations are."""
    write_with(tmp_path, lambda trace: trace.add("w", chakra.COMPUTE, [trace.next - 1] * 1300, 1))
    text = scenario.read_text()
    scenario.write_text(text.replace("kind = chakra", "kind = chakra\noperations = 300"))
    message = refused("sim", scenario, cwd=tmp_path)
    assert "more than 1200 dependencies" in message and "the option 'operations' raises this limit" in message
    scenario.write_text(text)
    heddle("sim", scenario, cwd=tmp_path)


@pytest.mark.parametrize("field", [chakra.bytes_field(5, b"\0" * (1 << 20)), b"\x52\0" * (1 << 19)], ids=["waits", "attributes"])
def test_a_message_of_many_parts(scenario, tmp_path, field):
    """Parts of two bytes take fifty times the memory while a message is unpacked."""
    write_with(tmp_path, lambda trace: trace.messages.append(chakra.number_field(1, 99) + field))
    assert "the most allowed are 1048576" in refused("sim", scenario)


def test_no_file(scenario):
    assert "t.0.et: cannot open" in refused("sim", scenario)


def test_groups_of_one_rank_do_nothing(scenario, tmp_path):
    write_with(tmp_path, lambda trace: trace.collective("k", chakra.ALL_TO_ALL, 100, pg_name="alone"))
    assert figures(scenario)["g.messages"] == 2


def test_unknown_fields_and_forward_dependencies(scenario, tmp_path):
    """A node may wait for one that comes later in the file."""
    def change(trace):
        trace.add("late", chakra.COMPUTE, [2], 1000)
        trace.add("first", chakra.COMPUTE, (), 500)
        trace.messages[-1] += chakra.number_field(6, 12345) + chakra.bytes_field(8, b"\x0a\x01[")
    write_with(tmp_path, change)
    assert figures(scenario)["g.completion"] == pytest.approx(1.5e-3, rel=1e-3)
