# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""packaging/build says what it does before it does it, and shows the errors of the step that failed."""

import shutil
import subprocess

import pytest

from cli_testing import SOURCE

CONFIGURING, BUILDING = "-- configuring build/x", "-- building build/x"


@pytest.mark.parametrize("fails, status, steps", [
    ("never", 0, [CONFIGURING, BUILDING, "done"]), ("--preset", 1, [CONFIGURING]), ("--build", 1, [CONFIGURING, BUILDING])])
def test_a_line_for_each_step(tmp_path, fails, status, steps):
    (tmp_path / "packaging").mkdir()
    shutil.copy(SOURCE / "packaging/build", tmp_path / "packaging/build")
    cmake = tmp_path / "cmake"
    cmake.write_text(f'#!/bin/sh\n[ "$1" != "{fails}" ] || {{ echo "CMake Error: as told"; exit 1; }}\necho done\n')
    cmake.chmod(0o755)
    done = subprocess.run([tmp_path / "packaging/build", "x"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False,
                          capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == status and len(lines) == len(steps), done
    assert all(line.startswith(step) for line, step in zip(lines, steps)), lines
    assert ("CMake Error: as told" in done.stderr) == bool(status)
