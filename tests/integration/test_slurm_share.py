# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes of heddle that srun starts on the nodes of a real Slurm share their work, by PMIx. A lost one ends the others,
and the guide's script for a large study runs, in small."""

import re
import shutil
import subprocess

import pytest

import ranks
import slurm_sim
from cli_testing import HEDDLE, SOURCE, generate, heddle
from fabric_sim import PATIENCE, wait_until

MISSING = slurm_sim.missing_tools() + ranks.MISSING + [name for name, there in (
    ("Slurm's PMIx plugin", list(ranks.pathlib.Path("/usr/lib").glob("*/slurm*/mpi_pmix.so"))),) if not there]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")
GUIDE = (SOURCE / "doc/guide/cluster.md").read_text()
NODES = 2  # with four on one machine, Open MPI 4.1.4 itself crashes in some starts, where TCP connections cross


@pytest.fixture(scope="module", name="slurm")
def slurm_fixture():
    """All nodes are on this machine: each needs a folder of its own for PMIx."""
    with slurm_sim.Slurm(NODES, more="TmpFS={folder}/tmp.%n\n") as slurm:
        for node in range(1, NODES + 1):
            (slurm.folder / f"tmp.node{node}").mkdir()
        generate(slurm.folder / "fabric.txt", "kary-ntree", "--k=3", "--n=3")
        yield slurm


def survive(slurm, *options):
    return [HEDDLE, "survive", slurm.folder / "fabric.txt", "-e", "dmodk", "-r", "1..20", "--trials", 8, "-n", 20000, "-t", 1,
            *options]


@pytest.mark.parametrize("options", [["-N1", "-n1"], ["-N1", "-n2"], ["-N1", "-n4"], ["-N2", "-n2"]], ids=" ".join)
def test_nodes_print_what_one_process_prints(slurm, options):
    fabric = slurm.folder / "fabric.txt"
    for arguments in (["ebb", fabric, "-e", "dmodk"], ["survive", fabric, "-e", "dmodk", "-r", "5,20", "--trials", 3, "--csv"]):
        expected = heddle(*arguments, status=None)[0]
        assert slurm.run("srun", *options, "--mpi=pmix", HEDDLE, *arguments, check=False).stdout == expected


@pytest.mark.parametrize("mpi, said", [("none", "srun started 3 processes of heddle without PMIx"),
                                       ("pmi2", "Open MPI needs PMIx to join the processes of srun")])
def test_without_pmix_srun_is_refused(slurm, mpi, said):
    """Each would print the same report."""
    done = slurm.run("srun", "-N1", "-n3", f"--mpi={mpi}", HEDDLE, "ebb", slurm.folder / "fabric.txt", "-e", "dmodk",
                     check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.count("heddle: ") == 1 and "srun --mpi=pmix" in done.stderr


def test_scripts_give_each_its_own_work(slurm):
    """A shell that srun starts, and a batch script, are no processes that share anything."""
    fabric = slurm.folder / "fabric.txt"
    done = slurm.run("srun", "-N1", "-n2", "--mpi=none", "sh", "-c",
                     f"{HEDDLE} ebb {fabric} -e dmodk --csv -s $SLURM_PROCID; :")
    assert sorted(re.findall(r",bisect,(\d),", done.stdout)) == ["0", "1"]
    done = slurm.run("srun", "-N1", "-n2", "--mpi=pmix", "env", "HEDDLE_MPI=off", HEDDLE, "ebb", fabric, "-e", "dmodk", "--csv")
    assert done.stdout.count(",bisect,1,") == 2


@pytest.mark.parametrize("number", [0, 1])
def test_a_killed_process_ends_the_step(slurm, tmp_path, number):
    """At once, without --kill-on-bad-exit, on two nodes. Three processes go on from what was kept."""
    kept = tmp_path / "kept"
    whole = heddle(*survive(slurm)[1:], status=None)[0]
    step = slurm.start("srun", "-N2", "-n2", "--mpi=pmix", *survive(slurm, "--state", kept))
    files = [kept, tmp_path / "kept.1"]
    wait_until(lambda: all(path.exists() and path.read_text().count("\n") > 2 for path in files), "trials")
    ranks.kill(slurm, number, 2)
    out, errors = step.communicate(timeout=PATIENCE)
    assert step.returncode not in (0, 1) and out == ""
    # Slurm itself may end the step before the message is out.
    assert f"finished work is kept in {kept}" in errors or "Force Terminated" in errors, errors
    assert f"heddle: process {number} of 2 on" in errors or f"task {number}: Killed" in errors, errors
    done = slurm.run("srun", "-N1", "-n3", "--mpi=pmix", *survive(slurm, "--state", kept), check=False)
    assert done.stdout == whole, done.stderr


def test_the_script_of_the_guide(slurm):
    """In small: fewer seeds and trials, the nodes of this cluster. The second time, all is kept."""
    scenario, = re.findall(r"^```ini\n(.*?)^```", GUIDE, re.M | re.S)
    script, = re.findall(r"^```sh\n(#!/bin/bash.*?)^```", GUIDE, re.M | re.S)
    runs = int(re.search(r"seeds = (\d+)", scenario).group(1)) * (scenario.count("|") + 1)
    assert runs == 10000
    for old, new in (("--nodes=8", f"--nodes={NODES}"), ("--cpus-per-task=32", "--cpus-per-task=2"),
                     ("--time=12:00:00", "--time=10"), ("--trials 1000", "--trials 2"), ("reproduce bisection", "reproduce --quick bisection")):
        assert old in script
        script = script.replace(old, new)
    (slurm.folder / "study.ini").write_text(scenario.replace("seeds = 1000", "seeds = 2").replace("1 ms", "150 us"))
    (slurm.folder / "study.sbatch").write_text(script)
    path = f"{ranks.pathlib.Path(HEDDLE).parent}:{slurm.environment['PATH']}"
    environment = {"PATH": path, "HEDDLE_SCENARIOS": str(SOURCE / "sim/scenarios")}
    expected = {}
    for words, name in re.findall(r"^study (.*) >(\S+)$", script, re.M):
        alone = re.sub(r" --state \S+", "", words).split()
        expected[name] = subprocess.run([HEDDLE, *alone], cwd=slurm.folder, capture_output=True, text=True, check=False,
                                        env={**slurm.environment, **environment}, timeout=PATIENCE).stdout
    assert len(expected) == 3 and all(expected.values())
    for again in (False, True):
        done = slurm.run("sbatch", "--wait", "--output=%j.out", "study.sbatch", environment=environment, check=False)
        assert done.returncode == 0, "".join(path.read_text() for path in slurm.folder.glob("*.out"))
        for name, text in expected.items():
            assert (slurm.folder / name).read_text() == text, f"{name}, again: {again}"
    kept = slurm.folder / "kept"
    assert {"sim", "sim.1", "survive", "survive.1", "reproduce"} <= {path.name for path in kept.iterdir()}
    shutil.rmtree(kept)
