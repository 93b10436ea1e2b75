# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each file says under which licences it is, by its first lines or in .reuse/dep5, as the REUSE specification asks."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = "SPDX-License-" + "Identifier: GPL-2.0-only OR BSD-2-Clause"
# Those that .reuse/dep5 speaks for: documents, data, and files whose format has no comments.
WITHOUT = re.compile(r"\.(md|json|png|ini|csv|net|pairs|application|trace|goal|et|txt|abi)$|^tests/fuzz/corpus/|^LICENSE|^\.reuse/|"
                     r"^debian/(changelog|clean|copyright|source/format|.*\.symbols)$")


def tracked():
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git repository")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_reuse():
    """reuse, the checker of the specification, finds a licence for each file, and the text of each licence."""
    program = shutil.which("reuse")
    assert program, "reuse is missing: packaging/setup test installs it"
    done = subprocess.run([program, "--root", ROOT, "lint"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "cannot be parsed" not in done.stderr, done.stderr


def test_headers():
    """Programs, scripts and settings name their licences in their first three lines."""
    names = [name for name in tracked() if not WITHOUT.search(name) or name.endswith("CMakeLists.txt")]
    assert len(names) > 1500
    assert [name for name in names if HEADER not in "".join(open(ROOT / name).readlines()[:3])] == []
