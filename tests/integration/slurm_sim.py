# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A Slurm cluster on this machine: munged, slurmctld and one slurmd for each virtual node, all of
them Debian's own, with private sockets, ports and files. Needs root, not systemd.

A cluster keeps its files in one temporary folder. At the end of the `with` block it ends all its
programs and removes the folder.
"""

import contextlib
import fcntl
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import tempfile

from fabric_sim import BUILD, HEDDLE, PATIENCE, Failure, sbin_path, stop, tail, wait_until

SPANK = BUILD / "keyd" / "slurm" / "heddle_spank.so"
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol")

CONF = """\
ClusterName=heddle
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser={user}
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/s
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldDebug=verbose
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
PrologFlags=Alloc
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
KillWait=2
MessageTimeout=300
PlugStackConfig={folder}/plugstack.conf
{more}
NodeName=node[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{port}-{last_port}] CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""


def missing_tools():
    """The tools that a cluster needs and this machine lacks."""
    missing = [tool for tool in NEEDED if not shutil.which(tool, path=sbin_path())]
    if os.geteuid():
        missing.append("root")
    return missing


PORTS = 20  # in a block, which one process has
TAKEN = []  # locked files


def free_ports(count):
    """The first of `count` consecutive ports of which nobody listens on one now. No other test gets them before this
    process ends."""
    assert count <= PORTS
    folder = pathlib.Path(tempfile.gettempdir()) / f"heddle-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for _ in range(100):
        first = 20000 + PORTS * secrets.randbelow(10000 // PORTS)
        lock = open(folder / str(first), "wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        TAKEN.append(lock)
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    one = stack.enter_context(socket.socket())
                    one.bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise Failure(f"no {count} consecutive ports are free")


def with_keys(address, timeout=10000):
    """Arguments of Slurm for a cluster with the plugin, prolog and epilog. `address`: where keyd
    listens, the path of a socket or HOST:PORT. `timeout`: in milliseconds."""
    option = "--socket" if address[0] in "/{" else "--host"
    command = f"HEDDLE_MUNGE_SOCKET={{folder}}/munge/s {HEDDLE} key"
    return {"plugstack": f"required {SPANK} keyd={address} timeout={timeout} munge={{folder}}/munge/s\n",
            "scripts": {"prolog": f"{command} place --slurm-prolog --timeout {timeout} {option} {address}",
                        "epilog": f"{command} release --slurm-epilog --timeout {timeout} {option} {address}"},
            "more": "PrologSlurmctld={folder}/prolog\nEpilogSlurmctld={folder}/epilog\n"}


class Slurm:
    """A running cluster of node1 .. nodeN. `plugstack`: lines of plugstack.conf; `more`: lines of
    slurm.conf; `scripts`: commands by the name of the script that runs them. All may contain
    {folder}. The scripts write what they say to prolog.log. `port`: the first of nodes + 1 free ports. `user`: of
    slurmctld, and so of the scripts."""

    def __init__(self, nodes=8, plugstack="", more="", scripts=None, environment=None, port=None, user="root"):
        self.nodes = nodes
        self.user = user
        self.port = port
        self.plugstack = plugstack
        self.more = more
        self.scripts = scripts or {}
        self.extra = environment or {}
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="heddle-slurm-", ignore_cleanup_errors=True)))
        self.folder.chmod(0o755)  # jobs of other users reach munged's socket
        self.environment = dict(os.environ, PATH=sbin_path(), SLURM_CONF=str(self.folder / "slurm.conf"),
                                **self.extra)
        for name in ("SLURM_JOB_ID", "HEDDLE_KEYD"):
            self.environment.pop(name, None)
        try:
            self._make_munged()
            self._write_conf()
            for path in (self.folder, self.folder / "state"):
                shutil.chown(path, self.user)
            self._start("slurmctld", "slurmctld", "-D", "-c", "-i")
            self.daemons = {}  # slurmd by the name of its node
            for node in range(1, self.nodes + 1):
                self.start_node(f"node{node}")
            wait_until(self._ready, "the nodes of Slurm")
        except BaseException as error:
            logs = self.logs()
            self.stack.close()
            raise Failure(f"{error}\n{logs}") from error
        return self

    def __exit__(self, *exception):
        self.stack.close()
        return False

    def _start(self, name, *command):
        output = self.stack.enter_context(open(self.folder / f"{name}.out", "wb"))
        process = subprocess.Popen(command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        self.stack.callback(stop, process)
        return process

    def _make_munged(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        self.munge_socket = folder / "s"
        self.start_munged()

    def start_munged(self):
        """Also after its end."""
        folder = self.folder / "munge"
        self.munged = self._start("munged", "munged", "-F", "--force", f"--socket={self.munge_socket}",
                                  f"--key-file={folder}/key", f"--pid-file={folder}/pid",
                                  f"--log-file={folder}/log", f"--seed-file={folder}/seed")
        wait_until(lambda: self.munge_socket.exists() or self.munged.poll() is not None, "munged")
        if self.munged.poll() is not None:
            raise Failure("munged ended:\n" + tail(self.folder / "munged.out"))

    def start_node(self, name):
        """The slurmd of a node, also after its end."""
        self.daemons[name] = self._start(name, "slurmd", "-D", "-N", name)

    def _write_conf(self):
        port = self.port or free_ports(self.nodes + 1)
        text = CONF.format(folder=self.folder, user=self.user, more=self.more.format(folder=self.folder), nodes=self.nodes,
                           ctld_port=port, port=port + 1, last_port=port + self.nodes)
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "plugstack.conf").write_text(self.plugstack.format(folder=self.folder))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.folder / "state").mkdir()
        for name, command in self.scripts.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{command} >>{{folder}}/prolog.log 2>&1\n".format(folder=self.folder))
            path.chmod(0o755)
        for node in range(1, self.nodes + 1):
            (self.folder / f"spool.node{node}").mkdir()

    def _ready(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, text=True,
                              capture_output=True, check=False)
        return done.stdout.split() == ["idle"] * self.nodes

    def run(self, *command, check=True, timeout=PATIENCE, uid=None, environment=None):
        """Runs a command of Slurm; the completed process. uid: as this user."""
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              timeout=timeout, env=dict(self.environment, **(environment or {})),
                              cwd=self.folder, check=False, errors="replace",
                              **({"user": uid, "group": uid, "extra_groups": []} if uid else {}))
        if check and done.returncode:
            raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}"
                          f"{done.stderr[-2000:]}\n{self.logs()}")
        return done

    def start(self, *command, environment=None):
        """Starts a command of Slurm; the process, with pipes of text."""
        process = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                   env=dict(self.environment, **(environment or {})))
        self.stack.callback(stop, process)
        return process

    def log(self, name="slurmctld"):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def prolog_log(self):
        return self.log("prolog")

    def logs(self):
        """The ends of all logs, for messages."""
        paths = [self.folder / f"{name}.log" for name in ("prolog", "slurmctld", "slurmd.node1")]
        return "\n".join(f"== {path.name}\n{tail(path, 1500)}" for path in paths if path.exists())

    def wait_for_log(self, text, name="slurmctld"):
        wait_until(lambda: text in self.log(name), f"'{text}' in {name}.log")

    def jobs(self):
        """The ids of all jobs that have not ended."""
        return self.run("squeue", "-h", "-o", "%i").stdout.split()
