# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several processes of heddle that Debian's mpirun starts on this machine."""

import os
import pathlib
import shutil
import signal
import subprocess

from cli_testing import HEDDLE
from fabric_sim import PATIENCE, wait_until

BUILD = pathlib.Path(HEDDLE).parent.parent
MODULE = next(iter(sorted(BUILD.glob("lib*/**/heddle/heddle-mpi.so"))), None)
MISSING = [name for name, there in (("heddle-mpi.so", MODULE), ("mpirun", shutil.which("mpirun"))) if not there]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]


def command(count, *arguments):
    return [*MPIRUN, "-n", str(count), HEDDLE, *map(str, arguments)]


def run(count, *arguments, **environment):
    return subprocess.run(command(count, *arguments), capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env={**os.environ, **environment})


def start(count, *arguments):
    return subprocess.Popen(command(count, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def processes(parent):
    """{number: process id} of the processes of heddle below another one."""
    children = pathlib.Path(f"/proc/{parent}/task").glob("*/children")
    found = {}
    for child in " ".join(path.read_text() for path in children).split():
        folder = pathlib.Path("/proc") / child
        try:
            if (folder / "comm").read_text() != "heddle\n":
                found.update(processes(child))
                continue
            variables = dict(pair.partition(b"=")[::2] for pair in (folder / "environ").read_bytes().split(b"\0"))
        except FileNotFoundError:
            continue
        number = variables.get(b"OMPI_COMM_WORLD_RANK") or variables.get(b"PMIX_RANK") or variables[b"SLURM_PROCID"]
        found[int(number)] = int(child)
    return found


def watches(process):
    """It has joined the others, and notices if one is lost."""
    return any(path.read_text() == "heddle-watch\n" for path in pathlib.Path(f"/proc/{process}/task").glob("*/comm"))


def kill(parent, number, count):
    """Kills one of the `count` processes that `parent` started, when all have joined."""
    def joined():
        found = processes(parent)
        return len(found) == count and all(map(watches, found.values()))
    wait_until(joined, "the processes")
    os.kill(processes(parent)[number], signal.SIGKILL)
