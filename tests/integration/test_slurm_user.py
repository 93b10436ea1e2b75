# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A slurmctld that is not root, as SlurmUser=slurm is at most sites: patterns in private files of users."""

import pwd
import re
import shutil

import pytest

import slurm_sim
from fabric_sim import wait_until
from fake_keyd import FakeKeyd

SLURM_USER, USER = "slurm", "nobody"


def missing():
    found = slurm_sim.missing_tools()
    try:
        pwd.getpwnam(SLURM_USER)
    except KeyError:
        found.append(f"the user {SLURM_USER}")
    return found


pytestmark = pytest.mark.skipif(bool(missing()), reason=f"missing: {', '.join(missing())}")


@pytest.fixture(scope="module", name="slurm")
def slurm_fixture():
    with slurm_sim.Slurm(2, user=SLURM_USER, **slurm_sim.with_keys("{folder}/keyd.sock")) as slurm:
        yield slurm


@pytest.fixture(name="keyd")
def keyd_fixture(slurm):
    with FakeKeyd(slurm.folder / "keyd.sock") as keyd:
        yield keyd
        wait_until(lambda: not slurm.jobs(), "the end of all jobs")


def private(slurm, name, text):
    """A file that only the user may read, in a folder that only he may search."""
    folder = slurm.folder / f"home-{name}"
    folder.mkdir()
    path = folder / name
    path.write_text(text)
    for one, mode in ((path, 0o600), (folder, 0o700)):
        shutil.chown(one, USER)
        one.chmod(mode)
    return path


def test_private_files(slurm, keyd):
    """The prolog runs as slurm and cannot read the file. The flows are there all the same: the user's srun and sbatch
    have read it."""
    uid, path = pwd.getpwnam(USER).pw_uid, private(slurm, "flows.txt", "phase\n0 1\nphase\n1 0\n")
    slurm.run("srun", "-N2", f"--routing-pattern=file:{path}", "true", uid=uid)
    done = slurm.run("sbatch", "--parsable", "--wait", "-N2", f"--routing-pattern=file:{path}", "-o", "/dev/null",
                     "--wrap", "srun true", uid=uid)
    wait_until(lambda: keyd.called("DELETE", f"/v1/jobs/{done.stdout.strip()}"), "the release")
    placed = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert len(placed) == 2
    for _, body, caller in placed:
        assert body["phases"] == [[[0, 1]], [[1, 0]]] and body["uid"] == uid
        assert caller == pwd.getpwnam(SLURM_USER).pw_uid
    assert len(keyd.called("PUT", ".*/layout")) == 2


def test_large_private_files(slurm, keyd):
    """A file that is too large to come with the job has to be readable for the prolog. If it is not, the log says so,
    and the job runs without a key."""
    uid, path = pwd.getpwnam(USER).pw_uid, private(slurm, "large.txt", "phase\n0 1\n" * 9000)
    slurm.run("srun", "-N2", f"--routing-pattern=file:{path}", "true", uid=uid)
    wait_until(lambda: re.search(r"runs without a routing key: .*large.txt", slurm.prolog_log()), "the prolog")
    assert not keyd.called("PUT", "/v1/jobs/[0-9]+")
    path.chmod(0o644)
    for folder in (path, path.parent):
        folder.chmod(0o755)
    slurm.run("srun", "-N2", f"--routing-pattern=file:{path}", "true", uid=uid)
    (_, body, _), = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert len(body["phases"]) == 9000
