# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Heterogeneous jobs of a real Slurm: each component is placed, laid out and released on its own. In place of
heddle-keyd there is a stand-in, so that the tests see every call."""

import re

import pytest

import slurm_sim
from fabric_sim import PATIENCE, wait_until
from fake_keyd import FakeKeyd

pytestmark = pytest.mark.skipif(bool(slurm_sim.missing_tools()),
                                reason=f"missing: {', '.join(slurm_sim.missing_tools())}")
SHOW = "echo rank $SLURM_PROCID $SLURMD_NODENAME job $HEDDLE_JOB offset $HEDDLE_OFFSET"
FIRST, SECOND = ["-N2", "-n2"], ["-N3", "-n6", "--ntasks-per-node=2"]
HOSTS = [["node1", "node2"], ["node3", "node4", "node5"]]
RANKS = [["node1", "node2"], ["node3", "node3", "node4", "node4", "node5", "node5"]]


@pytest.fixture(scope="module", name="slurm")
def slurm_fixture():
    with slurm_sim.Slurm(6, **slurm_sim.with_keys("{folder}/keyd.sock")) as slurm:
        yield slurm


@pytest.fixture(name="keyd")
def keyd_fixture(slurm):
    with FakeKeyd(slurm.folder / "keyd.sock") as keyd:
        yield keyd
        wait_until(lambda: not slurm.jobs(), "the end of all jobs")


def placements(keyd):
    """(hosts, pattern) of each job, ascending by its number."""
    calls = sorted((int(path.rsplit("/", 1)[1]), body) for path, body, _ in keyd.called("PUT", "/v1/jobs/[0-9]+"))
    return [number for number, _ in calls], [(body["hosts"], body["pattern"]) for _, body in calls]


def layouts(keyd):
    """The hosts of the ranks by job and step."""
    return {tuple(re.findall(r"\d+", path)[1:]): body["ranks"] for path, body, _ in keyd.called("PUT", ".*/layout")}


def check_whole(slurm, keyd):
    """Both components were placed, and a step in both has a layout and a phase for each, which end."""
    jobs, placed = placements(keyd)
    assert placed == [(HOSTS[0], "ring"), (HOSTS[1], "alltoall")] and jobs[1] == jobs[0] + 1
    assert layouts(keyd) == {(str(job), "0"): RANKS[i] for i, job in enumerate(jobs)}
    for job in jobs:
        assert [body for _, body, _ in keyd.called("POST", f"/v1/jobs/{job}/request")] == [
            {"step": "0", "phase": 0, "turn": 0}]
        ranks = {body["rank"] for _, body, _ in keyd.called("POST", f"/v1/jobs/{job}/join")}
        assert ranks == ({0, 1} if job == jobs[0] else {0, 2, 4})  # of its own component
        wait_until(lambda: keyd.called("DELETE", f"/v1/jobs/{job}"), f"the release of job {job}")  # noqa: B023
    wait_until(lambda: not slurm.jobs(), "the end of the job")
    return jobs


def check_tasks(text, jobs):
    rows = sorted(line.split() for line in text.splitlines() if line.startswith("rank"))
    assert [row[1:] for row in rows] == [
        [str(rank), node, "job", str(jobs[rank >= 2]), "offset", "1"] for rank, node in enumerate(RANKS[0] + RANKS[1])]


def test_srun(slurm, keyd):
    done = slurm.run("srun", *FIRST, "--routing-pattern=ring", "sh", "-c", SHOW, ":", *SECOND,
                     "--routing-pattern=alltoall", "sh", "-c", SHOW)
    assert "heddle" not in done.stderr
    check_tasks(done.stdout, check_whole(slurm, keyd))


def test_salloc(slurm, keyd):
    """The phases of both components end with the step, while the job goes on."""
    script = f"srun --het-group=0,1 sh -c '{SHOW}'; while [ ! -e {slurm.folder}/over ]; do sleep 0.05; done"
    job = slurm.start("salloc", *FIRST, "--routing-pattern=ring", ":", *SECOND, "--routing-pattern=alltoall", "sh",
                      "-c", script)
    wait_until(lambda: len(keyd.called("POST", ".*/done")) == 2 or job.poll() is not None, "the end of the phases")
    (slurm.folder / "over").touch()
    out, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 0 and "heddle" not in err, err
    jobs = check_whole(slurm, keyd)
    check_tasks(out, jobs)
    assert sorted((path, body["step"]) for path, body, _ in keyd.called("POST", ".*/done")) == [
        (f"/v1/jobs/{number}/done", "0") for number in jobs]


@pytest.mark.parametrize("in_script", [False, True], ids=["options", "script"])
def test_sbatch(slurm, keyd, in_script):
    """The options of a component count, whether they are in the script or not."""
    words = [*FIRST, "--routing-pattern=ring"], [*SECOND, "--routing-pattern=alltoall"]
    head = "".join(f"#SBATCH {line}\n" for line in (" ".join(words[0]), "hetjob", " ".join(words[1])))
    script = slurm.folder / "batch.sh"
    script.write_text(f"#!/bin/sh\n{head if in_script else ''}srun --het-group=0,1 sh -c '{SHOW}'\n")
    slurm.run("sbatch", "-W", "-o", "batch.out", *([] if in_script else [*words[0], ":", *words[1]]), script)
    check_tasks((slurm.folder / "batch.out").read_text(), check_whole(slurm, keyd))


def test_a_component_without_a_pattern(slurm, keyd):
    """A component has no pattern if none before it has one. Its tasks run without a key, and the user is told."""
    done = slurm.run("srun", *FIRST, "sh", "-c", SHOW, ":", *SECOND, "--routing-pattern=alltoall", "sh", "-c", SHOW)
    (job,), placed = placements(keyd)
    assert placed == [(HOSTS[1], "alltoall")]
    assert done.stdout.count("offset 0") == 2 and done.stdout.count(f"job {job} offset 1") == 6
    assert done.stderr.count("runs without a routing key") == 1 and f"job {job - 1} " in done.stderr


def test_a_step_in_one_component(slurm, keyd):
    """Two sruns run at once, each in its own component. The end of one ends no phase of the other."""
    folder = slurm.folder
    script = (f"srun --het-group=0 sh -c 'touch {folder}/up; while [ ! -e {folder}/go ]; do sleep 0.05; done' & "
              f"while [ ! -e {folder}/up ]; do sleep 0.05; done; srun --het-group=1 true; touch {folder}/go; wait")
    slurm.run("salloc", *FIRST, "--routing-pattern=ring", ":", *SECOND, "--routing-pattern=alltoall", "sh", "-c", script)
    jobs, _ = placements(keyd)
    assert layouts(keyd) == {(str(job), str(i)): RANKS[i] for i, job in enumerate(jobs)}
    requests = [path for path, _, _ in keyd.called("POST", ".*/request")]
    assert requests == [f"/v1/jobs/{job}/request" for job in jobs]
    ends = [path for path, _, _ in keyd.called("POST", ".*/done")]
    assert ends[0] == f"/v1/jobs/{jobs[1]}/done" and len(ends) == len(set(ends))
