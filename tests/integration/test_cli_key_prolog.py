# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle key place --slurm-prolog reads a pattern's file for the job's user: nobody gets at files of the prolog's user
or of root in this way, and no message has a word of a file."""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from cli_testing import HEDDLE
from fabric_sim import PATIENCE, wait_until
from fake_keyd import FakeKeyd

ALICE, SLURM = 12001, 12002
GOOD = "phase\n0 1\n"
SECRET = "StoragePass=hunter2\n"
NO_ROOT = "does not run as root"

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be other users")


@pytest.fixture(name="site")
def make_site():
    """A folder that all may search, a keyd, and the prolog as a user."""
    with tempfile.TemporaryDirectory(prefix="heddle-prolog-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with FakeKeyd(folder / "keyd.sock") as keyd:
            yield Site(folder, keyd)


class Site:
    def __init__(self, folder, keyd):
        self.folder, self.keyd = folder, keyd

    def file(self, name, text, owner, mode):
        path = self.folder / name
        path.write_text(text)
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    def prolog(self, path, runs_as=SLURM, **environment):
        """Whether keyd has got a job, and what was logged."""
        before = len(self.keyd.called("PUT", "/v1/jobs/.*"))
        settings = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": str(before + 7), "SLURM_JOB_NODELIST": "node[1-2]",
                    "SLURM_JOB_UID": str(ALICE), "SPANK_HEDDLE_ROUTING_PATTERN": f"file:{path}", **environment}
        done = subprocess.run(
            [HEDDLE, "key", "place", "--slurm-prolog", "--socket", self.keyd.path],
            env={name: value for name, value in settings.items() if value is not None}, cwd="/", capture_output=True,
            text=True, user=runs_as, group=runs_as, extra_groups=[], timeout=PATIENCE)
        assert done.returncode == 0
        assert "hunter2" not in done.stderr and "StoragePass" not in done.stderr
        return len(self.keyd.called("PUT", "/v1/jobs/.*")) > before, done.stderr


def test_files_of_the_prolog(site):
    """A file that only the prolog's user may read is not read, in whatever way the path names it."""
    private = site.file("slurmdbd.conf", SECRET, SLURM, 0o600)
    grouped = site.file("grouped.conf", SECRET, SLURM, 0o640)
    (site.folder / "link").symlink_to(private)
    closed = site.folder / "closed"
    closed.mkdir()
    readable = site.file("closed/readable", SECRET, SLURM, 0o644)
    os.chown(closed, SLURM, SLURM)
    closed.chmod(0o700)
    (site.folder / "way").symlink_to(closed)
    for path in (private, grouped, site.folder / "link", readable, site.folder / "way" / "readable",
                 f"{site.folder}/closed/../slurmdbd.conf", f"{site.folder}//slurmdbd.conf", "/proc/self/environ",
                 "slurmdbd.conf", f"{site.folder}/slurmdbd.conf/", site.folder, "/dev/null", "/"):
        placed, log = site.prolog(path)
        assert not placed and "runs without a routing key" in log, path
        assert "expected" not in log, path  # it was not read at all


def test_files_of_the_user(site):
    """What the user owns, and what everybody may read, is read, if the prolog may read it."""
    for number, (owner, mode) in enumerate(((ALICE, 0o644), (SLURM, 0o644), (0, 0o444))):
        placed, log = site.prolog(site.file(f"flows{number}", GOOD, owner, mode))
        assert placed, log
    placed, log = site.prolog(site.file("mine", GOOD, ALICE, 0o600))
    assert not placed and "Permission denied" in log
    placed, log = site.prolog(site.file("not-mine", GOOD, ALICE, 0o044))
    assert not placed and NO_ROOT in log
    placed, log = site.prolog(site.file("open.conf", SECRET, SLURM, 0o644))
    assert not placed and "open.conf:1: expected" in log
    placed, log = site.prolog(site.file("own", GOOD, SLURM, 0o600), SLURM_JOB_UID=str(SLURM))
    assert placed, log


@pytest.mark.parametrize("uid", [None, "", "-1", "x", "0x0", "4294967295", "4294967296", " 0", "99999999999999999999"])
@pytest.mark.parametrize("runs_as", [0, SLURM])
def test_no_user(site, runs_as, uid):
    """Without a user there is no file: root's rights are not the answer."""
    for path in (site.file("private", SECRET, runs_as, 0o600), site.file("flows", GOOD, ALICE, 0o644)):
        placed, log = site.prolog(path, runs_as, SLURM_JOB_UID=uid)
        assert not placed and "SLURM_JOB_UID does not say" in log


def test_root(site):
    """A prolog of root has the user's rights."""
    placed, log = site.prolog(site.file("private", SECRET, 0, 0o600), 0, SLURM_JOB_UID="65534")
    assert not placed and "Permission denied" in log
    placed, log = site.prolog(site.file("flows", GOOD, 65534, 0o600), 0, SLURM_JOB_UID="65534")
    assert placed, log
    placed, log = site.prolog(site.file("roots", GOOD, 0, 0o600), 0, SLURM_JOB_UID="0")
    assert placed, log
    placed, log = site.prolog(site.file("roots", GOOD, 0, 0o644), 0)
    assert not placed and "no such user here" in log


def sleeps(process):
    """How often it has waited."""
    return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def test_a_keyd_that_is_restarted(site):
    """One that stops says so. The prolog tries again, also while nobody listens, until it is there again."""
    site.keyd.stopping = True
    with subprocess.Popen(
            [HEDDLE, "key", "place", "--slurm-prolog", "--timeout", "60000", "--socket", site.keyd.path], text=True,
            stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", "SLURM_JOB_UID": "0",
                                         "SLURM_JOB_NODELIST": "node[1-2]", "SPANK_HEDDLE_ROUTING_PATTERN": "ring"}) as process:
        wait_until(lambda: site.keyd.called("PUT", "/v1/jobs/7"), "the first call")
        site.keyd.__exit__()
        before = sleeps(process)
        wait_until(lambda: sleeps(process) > before + 1, "two more attempts")
        site.keyd.stopping = False
        site.keyd.__enter__()
        assert process.communicate()[1] == "" and list(site.keyd.jobs) == ["7"]


def test_flows_that_come_with_the_job(site):
    """The flows of a file that the user's own process has read need no file. What is wrong with them is said without a
    word of them, and no file is read in their place."""
    private = site.file("private", GOOD, ALICE, 0o600)
    for runs_as in (0, SLURM):
        placed, log = site.prolog(private, runs_as, SPANK_HEDDLE_ROUTING_FLOWS="0>1,1>0/1>0")
        assert placed, log
        _, body, _ = site.keyd.called("PUT", "/v1/jobs/.*")[-1]
        assert body["phases"] == [[[0, 1], [1, 0]], [[1, 0]]]
        placed, log = site.prolog(site.folder / "gone", runs_as, SPANK_HEDDLE_ROUTING_FLOWS="0>1", SLURM_JOB_UID="x")
        assert placed, log
        for flows in ("", "0>65536", "0>0", SECRET, "0>1\n1>0", "0>1;touch x"):
            readable = site.file("readable", GOOD, ALICE, 0o644)
            placed, log = site.prolog(readable, runs_as, SPANK_HEDDLE_ROUTING_FLOWS=flows)
            assert placed == (flows == "") and (placed or "byte" in log), log
