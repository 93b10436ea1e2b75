# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs of a real Slurm get routing keys by the SPANK plugin and by the prolog of slurmctld. In place of
heddle-keyd there is a stand-in, so that the tests see every call, and can make it fail."""

import os
import pathlib
import pwd
import re
import shutil

import pytest

import slurm_sim
from fabric_sim import HEDDLE, PATIENCE, wait_until
from fake_keyd import FakeKeyd
from test_cli_foreign_text import LIE, SEEN, WORST, Liar, assert_plain

pytestmark = pytest.mark.skipif(bool(slurm_sim.missing_tools()),
                                reason=f"missing: {', '.join(slurm_sim.missing_tools())}")
USER = "nobody"
SHOW = ["sh", "-c", "echo rank $SLURM_PROCID $SLURMD_NODENAME offset $HEDDLE_OFFSET ucx $UCX_IB_LID_PATH_BITS "
                    "key $HEDDLE_KEY job $HEDDLE_JOB step $HEDDLE_STEP"]


@pytest.fixture(scope="module", name="slurm")
def slurm_fixture():
    with slurm_sim.Slurm(8, **slurm_sim.with_keys("{folder}/keyd.sock")) as slurm:
        yield slurm


@pytest.fixture(name="keyd")
def keyd_fixture(slurm):
    with FakeKeyd(slurm.folder / "keyd.sock") as keyd:
        yield keyd
        wait_until(lambda: not slurm.jobs(), "the end of all jobs")


def rows(text):
    """The lines of SHOW, by ascending rank: words after "rank N"."""
    return {int(line.split()[1]): line.split()[2:] for line in sorted(text.splitlines())
            if line.startswith("rank")}


def key_messages(done):
    return [line for line in done.stderr.splitlines() if "heddle" in line]


def wait_for_release(keyd, job):
    wait_until(lambda: keyd.called("DELETE", f"/v1/jobs/{job}"), f"the release of job {job}")


def is_late(keyd, job):
    """Whether someone has asked for the job after its release."""
    calls = [(call[0], call[1]) for call in list(keyd.calls)]
    released = ("DELETE", f"/v1/jobs/{job}")
    return released in calls and ("GET", f"/v1/jobs/{job}") in calls[calls.index(released):]


def test_a_job_is_placed_runs_with_its_offset_and_is_released(slurm, keyd):
    """The prolog places the job's hosts for its user; srun sends the node of each rank, begins and ends
    the phase; each node joins; the epilog releases."""
    done = slurm.run("srun", "-N4", "--ntasks-per-node=2", "-m", "cyclic", "--routing-pattern=stencil2d:2x4", *SHOW)
    found = rows(done.stdout)
    assert sorted(found) == list(range(8)) and key_messages(done) == []
    for rank, words in found.items():
        job = words[-3]
        assert words == [f"node{rank % 4 + 1}", "offset", "1", "ucx", "1", "key", f"{job}.0.0", "job", job,
                         "step", "0"]
    wait_for_release(keyd, job)
    wait_until(lambda: keyd.called("POST", ".*/done") or is_late(keyd, job),
               "the end of the phase, or a question about phases that came too late")
    (path, body, uid), = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert (path, uid) == (f"/v1/jobs/{job}", 0)
    assert body == {"hosts": ["node1", "node2", "node3", "node4"], "pattern": "stencil2d:2x4", "uid": 0,
                    "ranks": 8, "mode": "rewrite", "best_effort": True}
    (path, body, _), = keyd.called("PUT", ".*/layout")
    assert path == f"/v1/jobs/{job}/steps/0/layout"
    assert body == {"ranks": [f"node{rank % 4 + 1}" for rank in range(8)]}
    assert [body for _, body, _ in keyd.called("POST", ".*/request")] == [{"step": "0", "phase": 0, "turn": 0}]
    joined = [body for _, body, _ in keyd.called("POST", ".*/join")]
    assert sorted(joined, key=lambda body: body["rank"]) == [{"step": "0", "rank": rank} for rank in range(4)]
    # The epilog does not wait for srun, so the release may come before the end of the phase, or before srun asks
    # which phases there are.
    calls = [(call[0], call[1].rsplit("/", 1)[-1]) for call in keyd.calls]
    late = calls[calls.index(("DELETE", job)) + 1:]
    assert set(late) <= {("POST", "done"), ("GET", job)}
    ended = [body for _, body, _ in keyd.called("POST", ".*/done")]
    assert ended == ([] if ("GET", job) in late else [{"step": "0", "phase": 0}])


def test_a_job_of_a_user_asks_as_that_user(slurm, keyd):
    """The scheduler's calls are root's, for the user; those of the step are the user's own."""
    uid = pwd.getpwnam(USER).pw_uid
    done = slurm.run("srun", "-N2", "-n2", "--routing-pattern=ring", *SHOW, uid=uid)
    assert [words[2] for words in rows(done.stdout).values()] == ["1", "1"]
    wait_until(lambda: keyd.called("DELETE", ".*"), "the release")
    (_, body, placed_by), = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert (body["uid"], placed_by) == (uid, 0)
    assert {by for _, _, by in keyd.called("PUT", ".*/layout") + keyd.called("POST", ".*")} == {uid}


def test_a_step_that_exports_nothing_has_its_offset(slurm, keyd):
    """The nodes know by the option, not by the environment, that the step wants a key."""
    done = slurm.run("srun", "-N2", "-n2", "--export=NONE", "--routing-pattern=ring", "/bin/sh",
                     *SHOW[1:])
    assert [words[1:5] for words in rows(done.stdout).values()] == [["offset", "1", "ucx", "1"]] * 2
    assert keyd.called("POST", ".*/request")


def test_jobs_without_the_option_are_left_alone(slurm, keyd):
    """No call, no message, no environment."""
    done = slurm.run("srun", "-N2", "-n2", *SHOW)
    assert rows(done.stdout)[1] == ["node2", "offset", "ucx", "key", "job", "step"]
    assert key_messages(done) == [] and keyd.calls == []


@pytest.mark.parametrize("command", [["srun"], ["sbatch", "--wrap"], ["salloc"]], ids=lambda words: words[0])
@pytest.mark.parametrize("pattern, reason", [
    ("stencil9d", "unknown pattern 'stencil9d'"), ("stencil2d:0x4", "stencil2d"), ("shift", "shift"),
    ("file:/nowhere", "/nowhere"), ("", "pattern")])
def test_a_bad_pattern_is_refused_at_submission(slurm, keyd, command, pattern, reason):
    """No job comes into being, and the message names what is wrong."""
    done = slurm.run(command[0], "-N1", f"--routing-pattern={pattern}", *command[1:], "true", check=False)
    assert done.returncode != 0
    assert "--routing-pattern" in done.stderr and reason in done.stderr
    assert slurm.jobs() == [] and keyd.calls == []


def test_a_batch_job_with_several_steps(slurm, keyd):
    """Each srun in the script is a step with ranks of its own; the script itself can call keyd, too."""
    script = slurm.folder / "steps.sh"
    script.write_text(f"#!/bin/sh\nsrun -N2 -n2 {HEDDLE} key request --phase 1 -q\n"
                      f"srun -N1 -n1 {HEDDLE} key done --phase 1\n"
                      f"{HEDDLE} key request --phase 2 -q\n")
    done = slurm.run("sbatch", "--parsable", "-N2", "-n4", "-o", slurm.folder / "steps.out",
                     "--routing-pattern=ring", script)
    job = done.stdout.strip()
    wait_for_release(keyd, job)
    assert [path.split("/")[5] for path, _, _ in keyd.called("PUT", ".*/layout")] == ["0", "1"]
    wait_until(lambda: len(keyd.called("POST", ".*/done")) == 4, "the end of all phases")
    ended = [(body["step"], body["phase"]) for _, body, _ in keyd.called("POST", ".*/done")]
    assert ended == [("0", 0), ("0", 1), ("1", 1), ("1", 0)]  # the first step leaves phase 1 to srun
    asked = {(body["step"], body["phase"]) for _, body, _ in keyd.called("POST", ".*/request")}
    assert asked == {("0", 0), ("0", 1), ("1", 0), ("0", 2)}  # the script's own: step 0 by default
    text = (slurm.folder / "steps.out").read_text()
    assert text.split("\n")[0] == "1" and text.endswith("1\n")


def test_a_pattern_from_a_file(slurm, keyd):
    """The flows go to keyd as they are in the file at the start of the job; ranks fill the hosts evenly.
    The steps do not need the file any more."""
    path = slurm.folder / "flows.txt"
    path.write_text("phase\n0 1\n1 0\nphase\n2 0\n")
    done = slurm.run("sbatch", "--parsable", "-N2", "-n4", "--routing-pattern=file:flows.txt", "-o",
                     slurm.folder / "file.out", "--wrap", f"rm {path}; cd /; srun -N2 -n4 true; echo $?")
    wait_for_release(keyd, done.stdout.strip())
    (_, body, _), = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert body["phases"] == [[[0, 1], [1, 0]], [[2, 0]]] and body["ranks"] == 4 and "pattern" not in body
    assert (slurm.folder / "file.out").read_text() == "0\n"
    assert len(keyd.called("PUT", ".*/layout")) == 1


def test_the_prolog_reads_a_file_with_the_rights_of_the_user(slurm, keyd):
    """A file that is too large for the environment is read by the prolog. A user cannot have root read one for him:
    what he may not read when the job starts is refused, and the job runs."""
    uid = pwd.getpwnam(USER).pw_uid
    path = slurm.folder / "secret.txt"
    path.write_text("phase\n0 1\n" * 9000)
    path.chmod(0o644)
    slurm.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    try:
        done = slurm.run("sbatch", "--parsable", "-N2", f"--routing-pattern=file:{path}", "-o", "/dev/null",
                         "--wrap", "true", uid=uid)
        path.chmod(0o600)
    finally:
        slurm.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    wait_until(lambda: f"job {done.stdout.strip()} runs without" in slurm.prolog_log(), "the prolog")
    assert re.search(r"secret.txt: .*Permission denied", slurm.prolog_log())
    wait_until(lambda: not slurm.jobs(), "the end of the job")
    assert not keyd.called("PUT", "/v1/jobs/[0-9]+")


def test_a_private_file_comes_with_the_job(slurm, keyd):
    """The prolog need not be able to read a file: the user's own sbatch has sent the flows, as they were then. Tasks do
    not have them in their environment."""
    uid = pwd.getpwnam(USER).pw_uid
    folder = slurm.folder / "home"
    folder.mkdir()
    path = folder / "flows.txt"
    path.write_text("# a ring\nphase\n0 1\n1 0\n\nphase\n1 0\n")
    for one, mode in ((path, 0o600), (folder, 0o700)):
        shutil.chown(one, uid)
        one.chmod(mode)
    slurm.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    output = folder / "out"
    try:
        done = slurm.run("sbatch", "--parsable", "-N2", f"--routing-pattern=file:{path}", "-o", output,
                         "--wrap", "env | grep -c ROUTING_FLOWS; srun -N2 env | grep -c ROUTING_FLOWS; echo end",
                         uid=uid)
        path.write_text("phase\n1 0\n")
    finally:
        slurm.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    wait_for_release(keyd, done.stdout.strip())
    (_, body, _), = keyd.called("PUT", "/v1/jobs/[0-9]+")
    assert body["phases"] == [[[0, 1], [1, 0]], [[1, 0]]] and body["uid"] == uid and "pattern" not in body
    wait_until(lambda: output.exists() and output.read_text().endswith("end\n"), "the output")
    assert output.read_text() == "0\n0\nend\n"
    shell = slurm.run("salloc", "-N1", f"--routing-pattern=file:{path}", "env", uid=uid).stdout
    assert "SLURM_SPANK_HEDDLE_ROUTING_FLOWS=1>0\n" in shell


def test_a_step_keeps_the_pattern_of_its_job(slurm, keyd):
    """The keys of a job are made for one pattern; another one of a step is named and not used."""
    output = slurm.folder / "keeps.out"
    done = slurm.run("sbatch", "--parsable", "-N2", "-n2", "--routing-pattern=ring", "-o", output, "--wrap",
                     "srun --routing-pattern=stencil1d sh -c 'echo offset $HEDDLE_OFFSET'")
    wait_for_release(keyd, done.stdout.strip())
    text = output.read_text()
    assert "a step cannot have another" in text and text.count("offset 1\n") == 2
    assert keyd.called("PUT", "/v1/jobs/[0-9]+")[0][1]["pattern"] == "ring"


def test_a_cancelled_job_is_released(slurm, keyd):
    process = slurm.start("srun", "-N2", "-n2", "--routing-pattern=ring", "sleep", "60")
    wait_until(lambda: len(keyd.called("POST", ".*/join")) == 2, "the nodes")
    job, = slurm.jobs()
    slurm.run("scancel", job)
    wait_for_release(keyd, job)
    process.wait(PATIENCE)


def test_a_job_that_is_requeued_is_placed_again(slurm, keyd):
    """Also if keyd still has the placement of its first run."""
    done = slurm.run("sbatch", "--parsable", "-H", "-N2", "--routing-pattern=ring", "-o", "/dev/null", "--wrap", "true")
    job = done.stdout.strip()
    keyd.answer("PUT", f"/v1/jobs/{job}", {"hosts": ["node7", "node8"], "pattern": "ring", "uid": 0}, 0)
    slurm.run("scontrol", "release", job)
    wait_until(lambda: len(keyd.called("DELETE", ".*")) == 2, f"both releases\n{slurm.prolog_log()}")
    assert [call[0] for call in keyd.calls] == ["PUT", "DELETE", "PUT", "DELETE"]
    assert keyd.calls[2][2]["hosts"] == ["node1", "node2"]


def test_keyd_is_down(slurm):
    """The job runs, without an offset. Its user sees one line, the administrator one of the prolog and one
    of the epilog; the job is not put back into the queue."""
    before = slurm.prolog_log()
    done = slurm.run("srun", "-N2", "-n2", "--routing-pattern=ring", *SHOW,
                     environment={"UCX_IB_LID_PATH_BITS": ""})
    assert [words[1:4] for words in rows(done.stdout).values()] == [["offset", "0", "ucx"]] * 2
    line, = key_messages(done)
    assert "runs without a routing key" in line and "systemctl start heddle-keyd" in line
    assert str(slurm.folder / "keyd.sock") in line
    wait_until(lambda: "has ended, and its routing keys stay" in slurm.prolog_log()[len(before):], "the epilog")
    assert slurm.prolog_log()[len(before):].count("runs without a routing key") == 1
    assert "equeue" not in slurm.log()


def test_keyd_comes_back_while_a_job_runs(slurm):
    """A step that starts then says what happened to its job."""
    output = slurm.folder / "back.out"
    script = f"while [ ! -e {slurm.folder}/go ]; do sleep 0.05; done; srun -N2 -n2 true; echo $?"
    done = slurm.run("sbatch", "--parsable", "-N2", "-n2", "--routing-pattern=ring", "-o", output, "--wrap", script)
    wait_until(lambda: f"job {done.stdout.strip()} runs without" in slurm.prolog_log(), "the prolog")
    with FakeKeyd(slurm.folder / "keyd.sock"):
        (slurm.folder / "go").touch()
        wait_until(lambda: not slurm.jobs(), "the end of the job")
    text = output.read_text()
    assert "heddle-keyd does not know the job" in text and text.endswith("\n0\n")


def test_keyd_is_slow(slurm, keyd):
    """Prolog and plugin do not wait for an answer that comes much later than they are configured to wait."""
    keyd.delay = 2 * PATIENCE  # longer than the limit of slurm.run()
    done = slurm.run("srun", "-N2", "-n2", "--routing-pattern=ring", *SHOW)
    assert [call[0] for call in keyd.calls[:2]] == ["PUT", "PUT"] and not keyd.called("POST", ".*")  # nor the nodes
    line, = key_messages(done)
    assert "did not answer in time" in line and rows(done.stdout)[0][2] == "0"
    assert "did not answer in time" in slurm.prolog_log()
    keyd.delay = 0


def test_the_subnet_manager_is_away(slurm, keyd):
    """keyd has the key, but the switches do not: the tasks use offset 0, and the user reads why."""
    keyd.ready = False
    done = slurm.run("srun", "-N2", "-n2", "--routing-pattern=ring", *SHOW)
    line, = key_messages(done)
    assert "runs without a routing key: the subnet manager is away" in line
    assert {words[2] for words in rows(done.stdout).values()} == {"0"}
    assert all(words[4] == "key" for words in rows(done.stdout).values())  # no UCX_IB_LID_PATH_BITS


def plain_words(slurm, *command, **more):
    """Runs a command of Slurm. What it says is plain but for the line with which Slurm itself repeats a wrong option."""
    done = slurm.run(*command, check=False, **more)
    said = done.stderr.split("error: Invalid --routing-pattern argument")[0]
    assert "\ufffd" not in said, said
    return done, assert_plain(said.encode(), f"stderr of {command}")


@pytest.mark.parametrize("status, ready", [(0, True), (0, False), (403, True), (409, True)])
def test_a_lying_keyd(slurm, status, ready):
    """What keyd answers reaches users, logs and the environment of tasks in plain form only."""
    names = ["prolog", *(f"slurmd.node{node}" for node in (1, 2))]
    before = {name: len(slurm.log(name)) for name in names}
    with Liar(slurm.folder / "keyd.sock", LIE, status) as keyd:
        keyd.ready = ready
        done, said = plain_words(slurm, "srun", "-v", "-N2", "-n2", "--routing-pattern=ring", *SHOW)
        wait_until(lambda: not slurm.jobs(), "the end of the job")
    assert done.returncode == 0 and SEEN + r"\u001b[2J" in said
    assert_plain(done.stdout.encode(), "the environment of tasks")
    for name, size in before.items():
        assert "\ufffd" not in slurm.log(name)[size:]
        assert_plain(slurm.log(name)[size:].encode(), name)


def test_hostile_patterns(slurm, keyd):
    """What a user gives as a pattern, a file's name, a file, or the pattern of the job."""
    odd = os.fsdecode(SEEN.encode() + WORST) + "\nFORGED"
    file = slurm.folder / "odd.txt"
    file.write_bytes(b"phase\n0 " + WORST + b"\n")
    for pattern in (odd, f"stencil2d:{odd}", f"file:/nowhere/{odd}", "file:odd.txt", "ring:" + "\u202e" * 1500):
        done, _ = plain_words(slurm, "srun", "-N1", f"--routing-pattern={pattern}", "true")
        assert done.returncode and "--routing-pattern" in done.stderr
    keep = {"SLURM_JOB_ID": "1", "SLURM_SPANK_HEDDLE_ROUTING_PATTERN": odd}
    assert r"\u009b8m" in plain_words(slurm, "srun", "-N1", "--routing-pattern=ring", "true", environment=keep)[0].stderr
    for name, value in (("PATTERN", odd), ("FLOWS", odd), ("PATTERN", f"file:/nowhere/{odd}")):
        environment = {"SPANK_HEDDLE_ROUTING_PATTERN": "ring", f"SPANK_HEDDLE_ROUTING_{name}": value,
                       "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1-2]", "SLURM_JOB_UID": "0"}
        plain_words(slurm, HEDDLE, "key", "place", "--slurm-prolog", "--socket", keyd.path, environment=environment)
    keyd.jobs.clear()


def test_plugin_arguments_that_are_wrong_are_named(slurm):
    """A typing error in plugstack.conf does not stop jobs."""
    conf = slurm.folder / "plugstack.conf"
    before = conf.read_text()
    conf.write_text(before.replace("timeout=", "timeot="))
    done = slurm.run("srun", "-N1", "-n1", "true")
    conf.write_text(before)
    assert "'timeot=" in done.stderr and "timeout=1..60000" in done.stderr


def test_prolog_and_epilog_always_succeed(slurm):
    """Even if they are called wrongly: Slurm would put the job back into the queue without limit."""
    environment = {"SPANK_HEDDLE_ROUTING_PATTERN": "ring", "PATH": os.environ["PATH"]}
    for words in (["place", "--slurm-prolog"], ["release", "--slurm-epilog"],
                  ["place", "--slurm-prolog", "--nonsense"], ["release", "--slurm-epilog", "--timeout", "x"],
                  ["place", "--slurm-prolog", "--socket", "relative"]):
        for more in ({}, {"SLURM_JOB_ID": "7"}, {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1"},
                     {"SLURM_JOB_ID": "../7", "SLURM_JOB_NODELIST": "node[1-2]", "SLURM_JOB_UID": "x"}):
            done = slurm.run(HEDDLE, "key", *words, environment={**environment, **more}, check=False)
            assert done.returncode == 0 and "heddle: " in done.stderr


def test_the_packaged_scripts_are_those_commands():
    """What administrators copy calls the command as these tests do."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "slurm"
    assert "\nexec heddle key place --slurm-prolog" in (folder / "prolog").read_text()
    assert "\nexec heddle key release --slurm-epilog" in (folder / "epilog").read_text()
