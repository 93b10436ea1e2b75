# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demonstration shows what it announces."""

import re
import subprocess
import sys

import pytest

from cli_testing import SOURCE
from fabric_sim import missing_tools

sys.path.insert(0, str(SOURCE / "packaging"))

import demo  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing_tools()), reason=f"missing: {missing_tools()}")
BEGIN = "Nov 28 12:00:00 000001 [A] 0x02 -> "
SWEEP = "dmodk: 2 switches, 4 LIDs; snapshot 0.1 ms, hop counts 0.0 ms, tables 0.1 ms; "
LOST = SWEEP + "3 entries changed; lost cable 'A'[1] - 'B'[2]"
NEW = SWEEP + "3 entries changed; new cable 'A'[1] - 'B'[2]"
QUIET = SWEEP + "0 entries changed"


def log_of(*lines):
    return "".join(f"{BEGIN}{line}\n" for line in lines)


@pytest.mark.parametrize("event, line", [("lost cable", LOST), ("new cable", NEW)])
def test_the_line_is_the_one_of_the_event(event, line):
    """Not that of a sweep before or after it, whatever these say."""
    quiet, other = f"heddle: {QUIET}", f"heddle: {NEW if line is LOST else LOST}"
    for before in ((), (quiet,), (other, quiet)):
        for after in ((), ("SUBNET UP", quiet, "SUBNET UP"), ("SUBNET UP", other)):
            assert demo.sweep_line(log_of(*before, f"heddle: {line}", *after), event) == line


def test_no_line_of_the_event():
    for lines in ((), ("SUBNET UP",), (f"heddle: {QUIET}",), (f"heddle: {NEW}",), ("osm_x: entries changed; lost cable x",)):
        assert demo.sweep_line(log_of(*lines), "lost cable") == ""


def test_its_first_part():
    """All engines route, and the log has the loss of the cable and its return."""
    printed = subprocess.run([sys.executable, SOURCE / "packaging/demo.py", "--first"], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    for engine in ("dmodk", "minhop"):
        assert len(re.findall(rf"(?m)^{engine} .* none ", printed)) == 2, printed
    lines = printed.split("OpenSM's log:\n")[1].split("\n\n")[0].splitlines()
    found = [re.fullmatch(r"   dmodk: .*; ([1-9]\d*) entries changed; (lost|new) cable (.*)", line) for line in lines]
    assert [match and match[2] for match in found] == ["lost", "new"], lines
    assert found[0][3] == found[1][3] and found[0][1] == found[1][1], lines
