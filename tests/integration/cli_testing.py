# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Helpers that the tests of the heddle command share."""

import json
import os
import pathlib
import re
import subprocess
from fabric_sim import PATIENCE

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE_BIN", str(SOURCE / "build" / "release" / "cli" / "heddle"))
FABRICS = pathlib.Path(os.environ.get("HEDDLE_FABRICS", SOURCE.parent / "shared" / "fabrics"))

# Tests take all of what is alike: by hand, and in ./check --fabrics with more than 100, as in CI.
THOROUGH = int(os.environ.get("HEDDLE_RANDOM_FABRICS", 1000)) > 100

CLEAN, FAULTS, BAD = 0, 1, 2


def heddle(*arguments, status=CLEAN, **options):
    """Runs the command, which must end with that status (None: any). Returns stdout, stderr."""
    done = subprocess.run([HEDDLE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE, **options)
    shown = f"heddle {' '.join(map(str, arguments))}\n{done.stdout[:4000]}\n{done.stderr[:4000]}"
    assert status is None or done.returncode == status, shown
    return done.stdout, done.stderr


def refused(*arguments, **options):
    """The one message of a run that must end with status 2 and write nothing to stdout."""
    stdout, stderr = heddle(*arguments, status=BAD, **options)
    assert stdout == ""
    assert stderr.startswith("heddle: "), stderr
    return stderr


def unwrapped(text):
    """Text in two columns with each row on one line, as before the lines were wrapped."""
    return re.sub(r"(?m)\n {30}(?=\S)", " ", text)


def generate(path, kind, *options):
    heddle("topo", "generate", kind, *options, "-o", path)
    return path


def show(path):
    return json.loads(heddle("topo", "show", "--json", path)[0])


def check(*arguments, status=CLEAN):
    return json.loads(heddle("check", "--json", *arguments, status=status)[0])


def route(engine, fabric, tables, *options):
    heddle("route", "-e", engine, *options, fabric, "-o", tables)
    return tables


def ebb(*arguments, status=CLEAN):
    return json.loads(heddle("ebb", "--json", *arguments, status=status)[0])


def kinds():
    return json.loads(heddle("topo", "generate", "--json")[0])


def engines():
    return json.loads(heddle("engines", "--json")[0])
