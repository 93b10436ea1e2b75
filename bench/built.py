# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The build that benchmarks measure: the one in HEDDLE_BUILD, or a build of their own, which they make.

Import this before fabric_sim, which looks at HEDDLE_BUILD.
"""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
OWN = SOURCE / "build" / "bench"
FOLDER = pathlib.Path(os.environ.setdefault("HEDDLE_BUILD", str(OWN))).resolve()


def make(folder=FOLDER):
    """Brings the benchmarks' own build up to date, with the packages that it needs. Another folder is as it is."""
    if folder != OWN:
        return
    for command in (("setup", "build", "simulate"), ("build", "bench")):
        done = subprocess.run([SOURCE / "packaging" / command[0], *command[1:]], stdout=sys.stderr, check=False)
        if done.returncode:
            sys.exit(f"bench: packaging/{' '.join(command)} failed; HEDDLE_BUILD can name another build folder")
