# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs of a real Slurm in the campaign tests/flaps/keyd. A runner is a process that starts one job after the other on
nodes of its own. Rank 0 of each is this file as a program: it goes through random phases, and notes each call in the
file of its runner. The other ranks stay until it ends.

    keyd_campaign_slurm.py FOLDER       in a task of Slurm; FOLDER: the runner's, with job.json
"""

import contextlib
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "packaging" / "testbed"), str(SOURCE / "tests" / "integration")]

from keyd_campaign_clients import PAUSE, Caller, Honest, Job  # noqa: E402

NODES = 6  # of each runner
PATTERNS = ("alltoall", "ring", "stencil1d")
SIZES = range(3, NODES + 1)
JOB_MOST = 40  # seconds; a job whose nodes have lost programs may hang
OVER_MOST = 40  # seconds until srun has ended after rank 0; only one that hangs takes so long
GONE_MOST = 40  # seconds until a job has ended after its srun
ACK_MOST = 40  # seconds until rank 0 pauses; only one that hangs takes so long
UP_MOST = 5  # seconds that rank 0 waits for the others before it pauses
LIVE = {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "STAGE_OUT"}
PROLOG_MOST = 10  # seconds until salloc has a job that runs
HELD_MOST = 5  # seconds that a slurmd stands still if no later phase begins
EPILOG_MOST = 20  # seconds after the end of a job until its epilog has released it

RANK = """echo $PPID $HEDDLE_OFFSET >up.new.$SLURM_PROCID; mv up.new.$SLURM_PROCID up.$SLURM_PROCID
[ $SLURM_PROCID != 0 ] || exec {python} {task} {folder}
while [ ! -e over ] && kill -0 $PPID; do sleep 0.1; done"""


class Rank0(Honest):
    """The first rank of a job: an honest client with one job, which Slurm has placed."""

    def __init__(self, folder):
        self.folder, self.acknowledged, self.parent = folder, 0, os.getppid()
        description = json.loads((folder / "job.json").read_text())
        site = dict(description["site"], folder=folder.parent)
        super().__init__(site, description["number"])
        self.late = description["late"]  # a rank will begin late
        self.job = Job(os.environ["SLURM_JOB_ID"], description["hosts"], description["phases"], "rewrite", os.getuid())
        self.job.unsure = True
        self.job.step = os.environ["SLURM_STEP_ID"]
        self.job.steps[self.job.step] = self.job.hosts
        self.random = random.Random(f"{site['seed']} slurm {self.number} {self.job.name}")
        self.caller = Caller(site, self.job.uid, remote=self.random.random() < 0.3)
        self.until = time.monotonic() + self.random.choice((0.5, 3, 8))
        self.known = False  # whether heddle-keyd has the job; if not, its prolog found no heddle-keyd
        self.plain = description["plain"]

    def ended(self):
        """Whether the job is to end, or its slurmstepd has gone."""
        return os.getppid() != self.parent or (self.folder / "over").exists()

    def wait(self, seconds):
        """Waits, and as long as all clients are to pause. A rank that begins asks for its key before it is up."""
        time.sleep(seconds)
        pause, since = self.folder / "pause", time.monotonic()
        while pause.exists() and not self.ended():
            time.sleep(PAUSE)
            with contextlib.suppress(FileNotFoundError):
                turn = int(pause.read_text())
                if turn != self.acknowledged and (self.up() == len(self.job.hosts)
                                                  or time.monotonic() > since + UP_MOST):
                    self.acknowledge(turn)

    def up(self):
        """How many ranks have begun."""
        return len(list(self.folder.glob("up.[0-9]*")))

    def acknowledge(self, turn):
        new = self.folder / "ack.new"
        new.write_text(json.dumps({self.job.name: self.job.belief()} if self.known else {}))
        new.rename(self.folder / f"ack.{turn}")
        self.acknowledged = turn

    def measured(self, *arguments, **more):
        status, content = super().measured(*arguments, **more)
        self.known |= status == 200
        if status == 404 and not self.known:
            self.until = 0
        return status, content

    def act(self):
        if self.job.unsure:
            self.learn(self.job, self.caller)
        elif self.job.active is not None and self.random.random() < 0.3:
            self.random.choice((self.done, self.learn))(self.job, self.caller)
        else:
            self.request(self.job, self.caller)
            if self.job.active:
                (self.folder / "later").touch()

    def run(self):
        ranks = len(self.job.hosts) if not self.late and self.random.random() < 0.5 else 1
        while self.up() < ranks and not self.ended():
            self.wait(0.05)
        while not self.ended() and time.monotonic() < self.until:
            if not self.plain:
                self.act()
            self.wait(self.random.choice((0, 0.01, 0.05, 0.3)))
        self.note(begins=time.time_ns(), kind="end", job=self.job.name)
        (self.folder / "over").touch()


class Runner(Honest):
    """Starts jobs of Slurm."""

    def __init__(self, site, number):
        super().__init__(site, number)
        self.nodes = site["nodes"][number]
        self.folder = site["folder"] / f"runner-{number}"
        self.turn, self.over = 0, set()
        self.held = None  # the slurmd that begins its rank late
        self.allocated = False  # whether the nodes were asked for without a step

    def slurm(self, *command):
        return subprocess.run(command, env=self.site["slurm"], text=True, capture_output=True, check=False,
                              timeout=600).stdout

    def describe(self, nodes, pattern, late):
        """For rank 0. Returns what each rank runs."""
        site = {name: str(self.site[name]) for name in ("socket", "tcp", "munge", "seed")}
        (self.folder / "job.json").write_text(json.dumps(
            {"number": self.number, "hosts": nodes, "phases": self.site["phases"][pattern, len(nodes)], "site": site,
             "late": late, "plain": self.site["plain"]}))
        return RANK.format(python=shlex.quote(sys.executable), task=shlex.quote(__file__),
                           folder=shlex.quote(str(self.folder)))

    def begin(self):
        """srun with a job of some nodes. Slurm may have drained some because programs on them were killed."""
        for path in self.folder.iterdir():
            path.unlink()
        self.slurm("scontrol", "update", f"nodename={','.join(self.nodes)}", "state=resume")
        nodes = sorted(self.random.sample(self.nodes, self.random.choice(SIZES)), key=lambda name: int(name[4:]))
        pattern, late = self.random.choice(PATTERNS), self.random.random() < 0.3
        script = self.describe(nodes, pattern, late)
        options = ["-J", f"runner-{self.number}", "-w", ",".join(nodes), f"-N{len(nodes)}", "--ntasks-per-node=1"]
        options += [] if self.site["plain"] else [f"--routing-pattern={pattern}"]
        self.allocated = late
        inside = self.allocate(options, nodes[-1]) if late else []
        with open(self.site["folder"] / f"slurm-{self.number}.out", "ab") as output:
            return subprocess.Popen(["srun", *inside, *options, "sh", "-c", script], env=self.site["slurm"],
                                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def allocate(self, options, node):
        """A job whose step begins late on a node, whose slurmd stands still. Options of srun for it."""
        self.slurm("salloc", "--no-shell", "--immediate=20", *options)
        until = time.monotonic() + PROLOG_MOST
        numbers = self.running()
        while not numbers and time.monotonic() < until:
            time.sleep(0.05)
            numbers = self.running()
        if not numbers:
            return []
        with contextlib.suppress(OSError, ValueError):
            self.held = int((self.site["slurm_folder"] / f"slurmd.{node}.pid").read_text())
            os.kill(self.held, signal.SIGSTOP)
        return ["--jobid", numbers[0]]

    def running(self):
        return [number for number, state in (self.job_states() or {}).items() if state == "RUNNING"]

    def let_go(self):
        if self.held:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.held, signal.SIGCONT)
        self.held = None

    def job_states(self):
        """Of this runner's jobs that heddle-keyd may still know, by number. None: Slurm does not say."""
        done = subprocess.run(["squeue", "-h", "-a", "-n", f"runner-{self.number}", "-t", "all", "-o", "%i %T"],
                              env=self.site["slurm"], text=True, capture_output=True, check=False, timeout=600)
        lines = [line.split() for line in done.stdout.splitlines()]
        return None if done.returncode else {number: state for number, state in lines if number not in self.over}

    def wait_for(self, process):
        """Until the job has ended. Pauses with it."""
        begin = time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            if (self.site["pause"].is_set() or (self.folder / "later").exists()
                    or time.monotonic() > begin + HELD_MOST):
                self.let_go()
            if self.site["end"].is_set():
                self.cancel("the campaign ends")
            elif time.monotonic() > begin + JOB_MOST:
                self.cancel(f"no end after {JOB_MOST} s")
            elif self.hangs():
                self.cancel(self.why_it_hangs())
            elif self.site["pause"].is_set():
                paused = time.monotonic()
                self.pause_with(process)
                begin += time.monotonic() - paused
        return self.end()

    def hangs(self):
        """Whether srun waits although rank 0 has ended: it does not miss a slurmstepd that was killed."""
        with contextlib.suppress(FileNotFoundError):
            return time.time() > (self.folder / "over").stat().st_mtime + OVER_MOST
        return False

    def why_it_hangs(self):
        """What has happened to the programs of this job, of which srun misses something."""
        met = sorted(path.name.partition(".")[2] for path in self.folder.glob("met.*"))
        living = any(folder == self.folder for folder, _ in step_daemons(self.site["folder"]))
        return (f"{'ranks run' if living else 'no rank is left'}, srun waits; in its time: "
                f"{', '.join(met) or 'nothing'}")

    def cancel(self, why):
        (self.folder / "over").touch()
        for number in self.job_states() or ():
            self.note(canceled=number, why=why)
        self.end_jobs()
        time.sleep(1)

    def end_jobs(self):
        for number in self.job_states() or ():
            self.note(begins=time.time_ns(), kind="cancel", job=number)
        self.slurm("scancel", "-n", f"runner-{self.number}")

    def pause_with(self, process):
        """Pauses once rank 0 does. If the job ends meanwhile, it pauses later, without a job."""
        self.turn += 1
        acknowledged = self.folder / f"ack.{self.turn}"
        (self.folder / "pause.new").write_text(str(self.turn))
        (self.folder / "pause.new").rename(self.folder / "pause")
        begin = time.monotonic()
        while process.poll() is None and not acknowledged.exists():
            time.sleep(PAUSE)
            if self.hangs():
                self.cancel(self.why_it_hangs())
            elif time.monotonic() > begin + ACK_MOST:
                self.cancel(f"no pause within {ACK_MOST} s")
        if acknowledged.exists() and process.poll() is None:
            self.pause(json.loads(acknowledged.read_text()))
        (self.folder / "pause").unlink()

    def end(self):
        """Waits until Slurm has ended all jobs of this runner, and heddle-keyd knows none of them. The nodes of salloc
        --no-shell are ours until scancel gives them back."""
        (self.folder / "over").touch()
        self.let_go()
        if self.allocated:
            self.end_jobs()
        begin, states = time.monotonic(), self.job_states()
        while states is None or LIVE & set(states.values()):
            if states and {"PENDING", "RUNNING"} & set(states.values()) and time.monotonic() > begin + GONE_MOST:
                self.cancel("srun has gone")
            time.sleep(0.1)
            states = self.job_states()
        self.note_ranks()
        for number in () if self.site["plain"] else states:
            self.wait_for_release(number)
        self.over.update(states)

    def wait_for_release(self, number):
        """The epilog does that, unless it finds no heddle-keyd."""
        until = time.monotonic() + EPILOG_MOST
        while True:
            try:
                status, _ = self.root.call("GET", f"/v1/jobs/{number}")
            except OSError:
                status = 0
            if status == 404:
                return
            if status and time.monotonic() > until:
                break
            time.sleep(0.05)
        self.note(left=number)
        job = Job(number, [], [], "rewrite", 0)
        self.jobs.append(job)
        self.release(job)

    def note_ranks(self):
        """How many ranks have seen which offset, and how many came after the first request of a later phase."""
        offsets, late = [], 0
        later = self.folder / "later"
        for path in self.folder.glob("up.[0-9]*"):
            offsets.append(int((path.read_text().split() + ["0", "0"])[1]))
            late += later.exists() and path.stat().st_mtime > later.stat().st_mtime
        self.note(ranks=offsets, late=late)

    def pause(self, jobs):
        self.note(paused=time.time_ns(), jobs=jobs)
        with self.site["paused"].get_lock():
            self.site["paused"].value += 1
        while self.site["pause"].is_set() and not self.site["end"].is_set():
            time.sleep(PAUSE)
        with self.site["paused"].get_lock():
            self.site["paused"].value -= 1

    def run(self):
        while not self.site["end"].is_set():
            self.wait_for(self.begin())
            self.wait(self.random.choice((0, 0.1, 1)))


def note_met(folders, event):
    """Something happens to programs of the jobs of these runners."""
    for folder in folders:
        (folder / f"met.{event}").touch()


def step_daemons(folder):
    """[(runner's folder, number)] of the slurmstepd of ranks that have begun."""
    found = []
    for path in sorted(folder.glob("runner-*/up.[0-9]*")):
        try:
            number = int(path.read_text().split()[0])
            if pathlib.Path(f"/proc/{number}/cmdline").read_bytes().startswith(b"slurmstepd"):
                found.append((path.parent, number))
        except (OSError, ValueError, IndexError):
            continue
    return found


if __name__ == "__main__":
    Rank0(pathlib.Path(sys.argv[1])).run()
