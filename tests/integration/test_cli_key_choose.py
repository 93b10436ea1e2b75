# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle key place --choose and --reorder: what is proposed is worth what walks in the tables say, and
Open MPI maps ranks as the files say; refusals."""

import collections
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from cli_testing import CLEAN, generate, heddle, refused, route
from test_cli_key import entries_of, link_loads, peers_of


def place(*arguments, **options):
    return json.loads(heddle("key", "place", "--json", *arguments, **options)[0])


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A tree of 216 hosts and its tables; 120 of its hosts are free, in random order; 24 are a job's."""
    folder = tmp_path_factory.mktemp("choose")
    generate(folder / "tree", "xgft", "--children=6,6,6", "--parents=1,6,6")
    route("dmodk", folder / "tree", folder / "tables")
    names = sorted(set(re.findall(r'"(H_\d+_\d+_\d+)"', (folder / "tree").read_text())))
    random.Random(3).shuffle(names)
    (folder / "free").write_text("# free\n" + "".join(f"{name}\n" for name in names[:120]))
    (folder / "job").write_text(",".join(names[:24]) + "\n")
    return folder


def listed(path):
    return re.findall(r"H_\d+_\d+_\d+", path.read_text())


def guids(fabric):
    """{name: (node GUID, base LID)} of hosts."""
    return {name: (int(guid, 16), int(lid)) for guid, name, lid in re.findall(
        r'(?m)^Ca\s+\d+ "H-([0-9a-f]+)"\s+# "(\S+)"\n\[1\]\([0-9a-f]+\)\s.*?# lid (\d+)', fabric.read_text())}


def phases_of(pattern, ranks):
    if pattern == "ring":
        return [[(rank, (rank + 1) % ranks) for rank in range(ranks)]]
    return [[(rank, (rank + by) % ranks) for rank in range(ranks)] for by in range(1, ranks)]


def worth(folder, pattern, host_of):
    """By walks: phases whose flows share links, the most flows on a link, links that are shared, leaves."""
    heddle("topo", "convert", "--lmc=0", folder / "tree", "-o", folder / "lids")
    ends, peers, tables = guids(folder / "lids"), peers_of(folder / "tree"), entries_of(folder / "tables")
    loads = [link_loads(peers, tables, [(ends[host_of[source]][0], *ends[host_of[destination]])
                                        for source, destination in phase if host_of[source] != host_of[destination]])
             for phase in phases_of(pattern, len(host_of))]
    most = [max(load.values(), default=0) for load in loads]
    return {"lost": 0, "keys": sum(one > 1 for one in most), "contention": max(most),
            "shared_links": sum(flows > 1 for load in loads for flows in load.values()),
            "leaves": len({name.rsplit("_", 1)[0] for name in host_of}),
            "pods": len({name.split("_")[1] for name in host_of})}


def order(found):
    return [found[name] for name in ("lost", "keys", "contention", "shared_links", "leaves", "pods")]


@pytest.mark.parametrize("pattern, hosts, each", [("ring", 30, 1), ("alltoall", 24, 1), ("ring", 12, 2),
                                                  ("alltoall", 8, 2)])
def test_chosen_hosts_are_worth_what_walks_say(folder, pattern, hosts, each):
    """The hosts are free ones, each has equally many ranks, and no choice is worse than the list."""
    shown = place("--choose", hosts, "--free", folder / "free", "-p", pattern, "-r", hosts * each,
                  folder / "tree", folder / "tables")
    host_of, free = shown["host_of_rank"], listed(folder / "free")
    assert (shown["free"], shown["hosts"], shown["ranks"]) == (120, hosts, hosts * each)
    assert set(host_of) <= set(free)
    assert set(collections.Counter(host_of).values()) == {each} and len(set(host_of)) == hosts
    assert shown["proposed"] == worth(folder, pattern, host_of)
    assert shown["listed"] == worth(folder, pattern, [free[rank // each] for rank in range(hosts * each)])
    assert order(shown["proposed"]) < order(shown["listed"])


def test_a_job_keeps_its_hosts_in_another_order(folder):
    shown = place("--reorder", folder / "job", "-p", "alltoall", folder / "tree")
    assert sorted(shown["host_of_rank"]) == sorted(listed(folder / "job"))
    assert shown["proposed"] == worth(folder, "alltoall", shown["host_of_rank"])
    assert shown["proposed"]["leaves"] == shown["listed"]["leaves"]
    assert shown["proposed"]["keys"] < shown["listed"]["keys"]


def test_tables_come_from_files_or_an_engine(folder):
    """dmodk is the default. Free hosts may come from standard input, as ranges, too."""
    command = ("--choose", 16, "-p", "alltoall", folder / "tree")
    expected = place(*command, "--free", folder / "free")
    assert place(*command, folder / "tables", "--free", folder / "free") == expected
    assert place(*command, "-e", "dmodk", "--free", folder / "free") == expected
    assert place(*command, "--free", "-", input=(folder / "free").read_text()) == expected
    ranges = place("--choose", 6, "-p", "ring", folder / "tree", "--free", "-",
                   input="H_0_0_[0-1]\nH_1_[1-2]_[0-5], H_2_3_5\n")
    assert ranges["free"] == 15 and len({name[:5] for name in ranges["host_of_rank"]}) == 1


def test_files_have_the_host_of_each_rank(folder, tmp_path):
    """With a file, the text has no list of ranks. A file on standard output is alone there."""
    command = ("key", "place", "--choose", 6, "--free", folder / "free", "-p", "alltoall", "-r", 12, folder / "tree")
    host_of = place(*command[2:])["host_of_rank"]
    text = heddle(*command, "--host-file", tmp_path / "hosts", "--rankfile", tmp_path / "ranks")[0]
    assert (tmp_path / "hosts").read_text().splitlines() == host_of
    slots, lines = collections.Counter(), []
    for rank, host in enumerate(host_of):
        lines.append(f"rank {rank}={host} slot={slots[host]}")
        slots[host] += 1
    assert (tmp_path / "ranks").read_text().splitlines() == lines
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["HOSTS", "as", "proposed"]
    assert heddle(*command, "--host-file", "-")[0].splitlines() == host_of
    assert heddle(*command)[0].splitlines()[-12:] == [f"{rank:6}  {host}" for rank, host in enumerate(host_of)]
    again = place("--reorder", folder / "job", "-p", "ring", folder / "tree")
    assert len(again["host_of_rank"]) == 24


def mapped(folder, *options):
    """The node of each rank, as Open MPI maps them. All nodes are this machine."""
    agent = folder / "agent"
    # the daemons of all nodes are here, and each makes a folder of the same name
    agent.write_text(f'#!/bin/sh\nshift\nexport TMPDIR=$(mktemp -d {folder}/node-XXXXXX)\nexec sh -c "$*"\n')
    agent.chmod(0o755)
    (folder / "mpirun").mkdir(exist_ok=True)
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent,
                           # other tests make and remove interfaces meanwhile
                           "--mca", "oob_tcp_if_include", "lo", "--display-map", *options, "true"],
                          capture_output=True, text=True, timeout=300, check=False,
                          env={"TMPDIR": str(folder / "mpirun"), **{name: value for name, value in os.environ.items()
                               if not name.startswith(("SLURM", "OMPI", "PMIX", "TMPDIR"))}})
    shown = done.stdout.split("=====\n Data for JOB")[0]  # each daemon shows the map
    nodes = re.findall(r"Data for node: (\S+)|Process rank: (\d+)", shown)
    found, node = {}, None
    for name, rank in nodes:
        node = name or node
        if rank:
            found.setdefault(int(rank), node)
    assert found, done.stdout + done.stderr
    return [found[rank] for rank in sorted(found)]


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")
def test_open_mpi_maps_ranks_as_the_files_say(folder, tmp_path):
    """Open MPI wants names without underscores."""
    for name in ("tree", "free"):
        (tmp_path / name).write_text(re.sub(r"H_(\d+)_(\d+)_(\d+)", r"node\1-\2-\3", (folder / name).read_text()))
    heddle("key", "place", "--choose", 4, "--free", tmp_path / "free", "-p", "alltoall", tmp_path / "tree",
           "--host-file", tmp_path / "hosts", "--rankfile", tmp_path / "ranks")
    expected = (tmp_path / "hosts").read_text().split()
    assert mapped(tmp_path, "-n", "4", "--hostfile", tmp_path / "hosts", "--map-by", "seq") == expected
    assert mapped(tmp_path, "--host", ",".join(sorted(expected)), "-n", "4",
                  "--rankfile", tmp_path / "ranks") == expected


@pytest.mark.parametrize("arguments, reason", [
    ("--choose 4", "--choose N and --free FILE need each other"),
    ("--free free", "expected either --choose N or --reorder FILE"),
    ("--choose 4 --reorder job --free free", "expected either --choose N or --reorder FILE"),
    ("--host-file new", "expected either --choose N or --reorder FILE"),
    ("--choose 121 --free free", "121 hosts are wanted, and 120 are free"),
    ("--choose 5 --free free -r 12", "5 hosts cannot share 12 ranks evenly"),
    ("--choose 4 --free free -w H_0_0_0", "--nodelist and --hosts have no effect"),
    ("--choose 4 --free twice", "twice: host 'H_0_0_1' is in the list twice"),
    ("--choose 4 --free strange", "strange: 'nobody' is not a host of the fabric"),
    ("--choose 4 --free nowhere", "nowhere: No such file or directory"),
    ("--choose 4 --free empty", "empty: there is no host in it"),
    ("--choose 4 --free free --host-file free", "--host-file"),
    ("--choose 4 --free free --host-file - --rankfile -", "cannot both go to standard output"),
    ("--choose 4 --free free --host-file - --json", "--json and a file on standard output"),
])
def test_refusals(folder, arguments, reason):
    (folder / "twice").write_text("H_0_0_[0-1]\nH_0_0_1\n")
    (folder / "strange").write_text("H_0_0_0\nnobody\n")
    (folder / "empty").write_text("# nobody\n")
    assert reason in refused("key", "place", *arguments.split(), "-p", "ring", "tree", cwd=folder)


def test_a_pattern_and_a_fabric_are_needed(folder):
    assert "no pattern given" in refused("key", "place", "--choose", 4, "--free", folder / "free", folder / "tree")
    assert "expected FABRIC" in refused("key", "place", "--choose", 4, "--free", folder / "free", "-p", "ring")
    assert "with --engine no tables are read" in refused(
        "key", "place", "--choose", 4, "--free", folder / "free", "-p", "ring", folder / "tree", folder / "tables",
        "-e", "dmodk")


def test_the_prolog_takes_no_notice(folder):
    """--slurm-prolog succeeds whatever else is typed."""
    heddle("key", "place", "--slurm-prolog", "--choose", 4, "--free", folder / "free", status=CLEAN,
           env={"PATH": os.environ["PATH"]})
