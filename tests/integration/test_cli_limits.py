# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A few bytes of input take no memory without limit: each is refused, or served in the memory that a process may have."""

import pathlib
import resource
import subprocess

import pytest

from cli_testing import HEDDLE, generate, refused

pytestmark = pytest.mark.skipif(b"__asan_init" in pathlib.Path(HEDDLE).read_bytes(),
                                reason="it needs more address space")
MEMORY = 1 << 30


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


SCENARIO = """[fabric]
generator = xgft
children = 4,4
parents = 1,2
[traffic a]
kind = constant
size = 1
rate = every 1 ps
"""


def test_traffic_that_never_ends(tmp_path):
    """Without an end the run is refused. With one the messages that wait are limited, whatever their size and rate."""
    path = tmp_path / "often.ini"
    path.write_text(SCENARIO)
    assert "never end: set duration in [run], or stop" in refused("sim", path, preexec_fn=limit)
    path.write_text(SCENARIO + "[run]\nduration = 2 us\n")
    done = subprocess.run([HEDDLE, "sim", path], preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind, options, reason", [
    ("xgft", ["--children=254,254,254,254", "--parents=1,254,254,254"], "508 ports, expected 254"),
    ("torus", ["--dims=1000,1000,1000"], "need more than 49151 unicast LIDs"),
    ("kary-ntree", ["--k=100", "--n=9"], "need more than 49151 unicast LIDs"),
    ("hypercube", ["--dim=30"], "not a whole number 0..16"),
    ("jellyfish", ["--switches=1000000000"], "not a whole number 1..49151")])
def test_sizes_that_no_subnet_has(kind, options, reason):
    assert reason in refused("topo", "generate", kind, *options, "-o", "/dev/null", preexec_fn=limit)


@pytest.mark.parametrize("nodes, reason", [
    ("host[1-999999999]", "the range is empty or too long"), ("h[0-9999][0-9999][0-9999]", "more than 65536 hosts"),
    ("a[1-60000],b[1-60000]", "more than 65536 hosts")])
def test_lists_of_hosts(nodes, reason):
    assert reason in refused("key", "place", "-j", "1", "-p", "ring", "--socket", "/nowhere", "--nodelist", nodes,
                             preexec_fn=limit)


@pytest.mark.parametrize("pattern, reason", [
    ("stencil3d:65535x65535x65535", "is for 281462092005375 ranks, but there are 16"),
    ("shift:4294967295", "expected a number below the 16 ranks")])
def test_patterns(tmp_path, pattern, reason):
    generate(tmp_path / "fabric", "xgft", "--children=4,4", "--parents=1,2")
    assert reason in refused("key", "make", "-p", pattern, tmp_path / "fabric", preexec_fn=limit)


def test_jobs_with_more_hosts_than_there_are(tmp_path):
    generate(tmp_path / "fabric", "xgft", "--children=4", "--parents=1")
    (tmp_path / "counters").write_text("guid,port,PortXmitData\n0x200000,1,5\n")
    (tmp_path / "jobs").write_text("1 host[1-65536]\n" * 20_000)
    assert "jobs:257: all lists together have more than 16777216 hosts" in refused(
        "why", "-e", "dmodk", tmp_path / "fabric", tmp_path / "counters", "--allocation", tmp_path / "jobs")


def test_messages_that_nobody_takes(tmp_path):
    """Their number makes a trace no slower than its length does."""
    generate(tmp_path / "fabric", "xgft", "--children=4", "--parents=1")
    (tmp_path / "trace").write_text("num_ranks 2\nrank 0 {\n" + "send 0b to 1\n" * 250_000 + "}\n")
    for words in (["ebb", "-e", "dmodk", "--pattern", f"goal:file={tmp_path}/trace"], ["sim", "-e", "dmodk", "--trace", tmp_path / "trace"]):
        done = subprocess.run([HEDDLE, *words, tmp_path / "fabric"], capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (15, 15)))
        assert done.returncode == 0, done.stderr


def test_ports_that_no_switch_has(tmp_path):
    (tmp_path / "fabric").write_text('switchguid=0x1(1)\nSwitch\t4000000000 "S-0000000000000001"\t\t# "a" port 0 lid 1 lmc 0\n')
    assert "4000000000 ports, expected 1..254" in refused("topo", "show", tmp_path / "fabric", preexec_fn=limit)
