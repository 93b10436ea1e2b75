# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs of a real Slurm on a simulated fabric that a real OpenSM manages: what their tasks see, and what
the switches hold while they run and afterwards. Slurm asks heddle-keyd over TCP, with MUNGE."""

import pwd
import re
import signal

import pytest

import fabric_sim
import slurm_sim
from fabric_sim import PATIENCE, changed, check, heddle, wait_until
from slurm_site import LMC, NODES, Site, phases

MISSING = fabric_sim.missing_tools() + slurm_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


@pytest.fixture(scope="module", name="site")
def site_fixture(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("fabric"))
    yield site
    site.stack.close()


@pytest.fixture(autouse=True)
def clean_fixture(site):
    """What a test that fails has left must not fail the next."""
    yield
    for job in site.slurm.jobs():
        site.slurm.run("scancel", job)
    wait_until(lambda: not site.slurm.jobs(), "the end of all jobs")


def test_a_stencil_has_its_own_links_while_it_runs(site):
    """The tasks see the offset. To it, no two flows of the phase share a link, although they do on the
    routes without keys. Nobody else's entries change, and afterwards nothing is left."""
    flows = phases(site, "stencil2d:4x4", NODES)[0]
    assert site.contention(site.base, flows, 0) > 1
    job = site.start("stencil", "--routing-pattern=stencil2d:4x4", nodes=f"node[1-{NODES}]")
    site.wait_for_keys()
    held = site.tables()
    assert site.contention(held, flows, 1) == 1 and site.contention(held, flows, 0) > 1
    report = check(site.simulation.discover(), site.simulation.read_tables())
    assert not report["loop"] and not report["no_route"] and not report["credit_loops"]
    assert {lid for _, lid in changed(site.base, held)} <= {lids[0] + 1 for lids in site.topology.lids.values()}
    out, err = site.go("stencil", job)
    assert sorted(out.split("\n"))[1:] == sorted(f"rank {i} offset 1 ucx 1" for i in range(NODES))
    assert "heddle" not in err
    site.wait_for_base()


def test_two_jobs_at_once(site):
    """Each has contention 1 among its own flows. The end of one gives its entries back, and leaves those
    of the other as they are."""
    first = phases(site, "ring", 8)[0]
    second = [(source + 8, destination + 8) for source, destination in first]
    one = site.start("one", "--routing-pattern=ring", nodes="node[1-8]")
    two = site.start("two", "--routing-pattern=ring", nodes="node[9-16]")
    site.wait_for_keys(2)
    held = site.tables()
    assert site.contention(held, first, 1) == site.contention(held, second, 1) == 1
    assert site.contention(held, first + second, 1) <= 2
    site.go("one", one)
    wait_until(lambda: len(site.job_ids()) == 1, "the end of the first job")
    wait_until(lambda: not {lid for _, lid in changed(site.base, site.tables())} & site.lids(range(1, 9)),
               "the tables without the key of the first job")
    assert not {lid for _, lid in changed(held, site.tables())} & site.lids(range(9, 17))
    site.go("two", two)
    site.wait_for_base()


def phase_script(folder):
    """A script that goes through seven phases. In each it makes the file phase.N, waits for next.N, and ends the
    phase."""
    script = folder / "phases.sh"
    script.write_text(f"""#!/bin/sh
        for phase in 0 1 2 3 4 5 6; do
            {fabric_sim.HEDDLE} key request --phase $phase -q || exit 1
            touch {folder}/phase.$phase
            while [ ! -e {folder}/next.$phase ]; do sleep 0.02; done
            {fabric_sim.HEDDLE} key done --phase $phase >&2 || exit 2
        done""")
    script.chmod(0o755)
    return script


def wait_for_mark(site, job, name):
    """Until a task of the job has made that file."""
    mark = site.slurm.folder / name
    wait_until(lambda: mark.exists() or job.poll() is not None, lambda: f"{name}\n{site.slurm.logs()}")
    assert mark.exists(), (job.communicate(), site.slurm.logs())


def go_through(site, job, flows, numbers):
    """Looks at the routes of these phases as each of them has begun."""
    folder = site.slurm.folder
    for phase in numbers:
        wait_for_mark(site, job, f"phase.{phase}")
        assert site.contention(site.tables(), flows[phase], 1) == 1
        (folder / f"next.{phase}").touch()


@pytest.fixture(name="no_marks")
def no_marks_fixture(site):
    yield
    for name in ("phase.*", "next.*", "up.*"):
        for path in site.slurm.folder.glob(name):
            path.unlink()


def test_more_phases_than_offsets(site, no_marks):
    """Seven phases, three offsets: the job has one offset, and the switches have the routes of the phase
    that has begun. It begins phases when all nodes have asked for their key."""
    flows = phases(site, "alltoall", 8)
    assert len(flows) == 7 > (1 << LMC) - 1
    folder = site.slurm.folder
    script = (f"touch {folder}/up.$SLURM_PROCID; [ $SLURM_PROCID != 0 ] || "
              f"{{ while [ $(ls {folder}/up.* | wc -l) != 8 ]; do sleep 0.02; done; exec {phase_script(folder)}; }}")
    job = site.slurm.start("srun", "-w", "node[1-8]", "--ntasks-per-node=1", "--routing-pattern=alltoall", "sh",
                           "-c", script)
    go_through(site, job, flows, range(7))
    out, err = job.communicate(timeout=PATIENCE)
    assert (job.returncode, out) == (0, "1\n" * 7), err
    site.wait_for_base()


def test_a_node_that_begins_late(site, no_marks):
    """The slurmd of a node stands still until the job is in its third phase. When the node then begins its part of
    the job, the routes of that phase stay."""
    flows, folder = phases(site, "alltoall", 8), site.slurm.folder
    site.slurm.run("salloc", "--no-shell", "-J", "late", "-w", "node[1-8]", "--ntasks-per-node=1",
                   "--routing-pattern=alltoall")
    job_id = site.slurm.run("squeue", "-h", "-n", "late", "-o", "%i").stdout.strip()
    late = site.slurm.daemons["node8"]
    late.send_signal(signal.SIGSTOP)
    try:
        script = f"touch {folder}/up.$SLURM_PROCID; [ $SLURM_PROCID != 0 ] || exec {phase_script(folder)}"
        job = site.slurm.start("srun", "--jobid", job_id, "-N8", "-n8", "--routing-pattern=alltoall", "sh", "-c", script)
        go_through(site, job, flows, range(2))
        wait_for_mark(site, job, "phase.2")
    finally:
        late.send_signal(signal.SIGCONT)
    try:
        wait_for_mark(site, job, "up.7")
        go_through(site, job, flows, [2])
    finally:
        for phase in range(2, 7):
            (folder / f"next.{phase}").touch()
        job.communicate(timeout=PATIENCE)
        site.slurm.run("scancel", job_id)
        site.wait_for_base()


def test_an_offset_for_each_phase_if_there_are_enough(site):
    """A job with more phases than offsets that wants one for each is refused with both numbers."""
    place = ["key", "place", "-j", "offsets", "-w", "node[1-8]", "--mode", "offset", "--socket", site.keyd.socket]
    done = heddle(*place, "-p", "alltoall", check=False)
    assert done.returncode == 2 and "7" in done.stderr and "3" in done.stderr
    done = heddle(*place, "-p", "stencil1d")
    assert re.findall(r"offsets\.\d\s+(\d)\s+(\d)", done.stdout) == [("0", "1"), ("1", "2")]
    heddle("key", "release", "-j", "offsets", "--socket", site.keyd.socket)
    site.wait_for_base()


def test_a_job_of_a_user(site):
    """MUNGE proves who asks; nobody else may touch the job."""
    uid = pwd.getpwnam("nobody").pw_uid
    done = site.slurm.run("srun", "-w", "node[1-2]", "--routing-pattern=ring", "sh", "-c",
                          f"echo offset $HEDDLE_OFFSET; {fabric_sim.HEDDLE} key release 2>&1 | sed 's/^/release /'",
                          uid=uid)
    assert "offset 1" in done.stdout and re.search(r"release heddle: heddle-keyd: .*status 403", done.stdout)
    site.wait_for_base()


def test_a_bad_pattern_is_refused_at_submission(site):
    done = site.slurm.run("srun", "-w", "node[1-8]", "--routing-pattern=stencil2d:3x", "true", check=False)
    assert done.returncode and "stencil2d" in done.stderr
    assert site.job_ids() == [] and site.tables() == site.base


def test_a_grid_that_does_not_fit_the_job(site):
    """keyd knows the job's hosts, and the prolog logs its reason; the job runs."""
    done = site.slurm.run("srun", "-w", "node[1-8]", "--ntasks-per-node=1", "--routing-pattern=stencil2d:3x3",
                          "sh", "-c", "echo offset $HEDDLE_OFFSET")
    assert done.stdout == "offset 0\n" * 8 and "runs without a routing key" in done.stderr
    site.wait_for_base()


def test_opensm_starts_again_while_a_job_runs(site):
    """The switches get the job's routes back without anybody's doing. A job that starts while OpenSM is
    down runs, and says why it has no key."""
    flows = phases(site, "ring", 8)[0]
    job = site.start("restart", "--routing-pattern=ring", nodes="node[1-8]")
    site.wait_for_keys()
    site.opensm.__exit__()
    done = site.slurm.run("srun", "-w", "node[9-10]", "--routing-pattern=ring", "sh", "-c",
                          "echo offset $HEDDLE_OFFSET")
    assert done.stdout == "offset 0\n" * 2 and done.stderr.count("runs without a routing key") == 1
    site.opensm.__enter__()
    wait_until(lambda: site.contention(site.tables(), flows, 1) == 1, "the routes of the job's key")
    site.go("restart", job)
    site.wait_for_base()


def test_keyd_starts_again_while_a_job_runs(site):
    """The switches keep the routes of the running job. A job that starts meanwhile runs without a key.
    The end of the first job reaches the next heddle-keyd, which knows it."""
    flows = phases(site, "ring", 8)[0]
    job = site.start("again", "--routing-pattern=ring", nodes="node[1-8]")
    site.wait_for_keys()
    held = site.tables()
    site.keyd.kill()
    done = site.slurm.run("srun", "-w", "node[9-10]", "--routing-pattern=ring", "sh", "-c",
                          "echo offset $HEDDLE_OFFSET")
    assert done.stdout == "offset 0\n" * 2 and "is it running" in done.stderr
    assert site.tables() == held
    site.keyd.start()
    assert site.contention(site.tables(), flows, 1) == 1
    site.go("again", job)
    site.wait_for_base()
