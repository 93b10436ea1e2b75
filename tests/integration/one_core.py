# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One core for all processes of a test. Those of a simulated fabric wait for each other's messages: on one core they
take less time, because no message has to wake another core."""

import fcntl
import itertools
import os


def choose(folder):
    """Moves this process, and all that it starts, to one of its cores: one that the fewest tests have chosen. They show
    that by locks of files in the folder. Returns the locked file; close it to leave the core to others."""
    folder.mkdir(parents=True, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0))
    for place in itertools.count():
        for core in cores:
            file = open(folder / f"{core}-{place}", "wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                continue
            os.sched_setaffinity(0, {core})
            return file
