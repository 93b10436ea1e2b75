# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several processes of heddle that Debian's mpirun starts on this machine."""

import atexit
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from cli_testing import HEDDLE
from fabric_sim import PATIENCE, wait_until

BUILD = pathlib.Path(HEDDLE).parent.parent
MODULE = next(iter(sorted(BUILD.glob("lib*/**/heddle-mpi.so"))), None)
MISSING = [name for name, there in (("heddle-mpi.so", MODULE), ("mpirun", shutil.which("mpirun"))) if not there]
# Open MPI's processes share a folder there. The last to end removes it, also if another one has just begun.
FOLDER = tempfile.mkdtemp(prefix="mpi-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]


def command(count, *arguments):
    return [*MPIRUN, "-n", str(count), HEDDLE, *map(str, arguments)]


def run(count, *arguments, **environment):
    return subprocess.run(command(count, *arguments), capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env={**os.environ, "TMPDIR": FOLDER, **environment})


def start(count, *arguments):
    return subprocess.Popen(command(count, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": FOLDER})


NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def variables(process):
    """The environment of a process of heddle; nothing for another one, or one that has ended."""
    folder = pathlib.Path("/proc") / str(process)
    try:
        if (folder / "comm").read_text() != "heddle\n":
            return {}
        pairs = (folder / "environ").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(pair.partition("=")[::2] for pair in pairs)


def started_by(program):
    """{number: process id} of the processes of heddle that this mpirun started, or that the srun of this Slurm did."""
    key, ending = ("SLURM_CONF", program.environment["SLURM_CONF"]) if hasattr(program, "environment") else \
        ("OMPI_MCA_orte_jobfam_session_dir", f"/pid.{program.pid}")
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        environment = variables(folder.name)
        number = next((environment[name] for name in NUMBERS if name in environment), None)
        if number and environment.get(key, "").endswith(ending):
            found[int(number)] = int(folder.name)
    return found


def watches(process):
    """It has joined the others, and notices if one is lost."""
    try:
        return any(path.read_text() == "heddle-watch\n" for path in pathlib.Path(f"/proc/{process}/task").glob("*/comm"))
    except (FileNotFoundError, ProcessLookupError):
        return False  # a thread has just ended


def kill(program, number, count):
    """Kills one of the `count` processes that mpirun or Slurm started, when all have joined."""
    def joined():
        found = started_by(program)
        return len(found) == count and all(map(watches, found.values()))
    wait_until(joined, "the processes")
    os.kill(started_by(program)[number], signal.SIGKILL)
