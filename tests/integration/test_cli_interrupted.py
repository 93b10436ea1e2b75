# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ctrl-C ends ebb, compare and survive early, and they report what they have done. On a terminal the line of progress says
when the work has begun."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess

import pytest
from cli_testing import FAULTS, HEDDLE, generate
from fabric_sim import PATIENCE, wait_until

NOTHING = "ended early, before there was anything to report"
ENDLESS = ["-n", "4000000000"]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("interrupted") / "tree.topo", "kary-ntree", "--k=4", "--n=3")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """So large that each phase of work on all pairs of hosts takes minutes."""
    return generate(tmp_path_factory.mktemp("large") / "tree.topo", "xgft", "--children=18,18,36", "--parents=1,18,18")


def interrupted(*arguments, sign, number=signal.SIGINT, said="", status=FAULTS):
    """Sends the signal once the line of progress has `sign`; stdout. The last words on the terminal have `said`."""
    terminal, stderr = pty.openpty()
    with subprocess.Popen([HEDDLE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        os.close(stderr)
        seen = ""
        while not re.search(sign, seen):
            seen += os.read(terminal, 4096).decode()
        process.send_signal(number)
        try:
            while more := os.read(terminal, 4096).decode():
                seen += more
        except OSError:  # the last process has closed the terminal
            pass
        stdout = process.communicate(timeout=PATIENCE)[0]
    os.close(terminal)
    assert process.returncode == status and said in seen, (stdout, seen)
    return stdout


def catches_sigint(pid):
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1)
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


def test_sim_before_the_first_run(large):
    """While files are read, or tables and paths made: it ends at once, without a report."""
    assert interrupted("sim", "--fabric", large, "-e", "dmodk", sign="tables and paths", status=-signal.SIGINT) == ""


@pytest.mark.parametrize("more", ([], ["--fair"], ["--json"]))
def test_ebb_before_the_first_patterns(large, more):
    """One pattern takes seconds, and many are counted together: it ends within them."""
    with subprocess.Popen([HEDDLE, "ebb", "-e", "dmodk", "--pattern", "all-to-all", *more, large], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: catches_sigint(process.pid), "the work")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == FAULTS and out == "" and NOTHING in errors


def test_ebb(fabric):
    text = interrupted("ebb", *ENDLESS, "-e", "dmodk", fabric, sign=r"\d+ of \d+ patterns")
    done = int(re.search(r"^PARTIAL: ended early, after (\d+) of 4000000000 patterns$", text, re.M)[1])
    assert 0 < done < 4000000000 and f"of {done} patterns in" in text


def test_ebb_of_an_application(fabric, tmp_path):
    patterns = tmp_path / "application"
    patterns.write_text("50% neighbours:dimensions=2\n")
    assert interrupted("ebb", *ENDLESS, "-e", "dmodk", "--application", patterns, fabric, sign=r"\d+ of \d+ patterns",
                       said="ended before all patterns were measured") == ""


def test_ebb_as_json(fabric):
    found = json.loads(interrupted("ebb", "--json", *ENDLESS, "-e", "dmodk", fabric, sign=r"\d+ of \d+ patterns",
                                   number=signal.SIGTERM))
    assert found["partial"] and 0 < found["patterns"] < 4000000000 and 0.3 < found["mean"] < 1


def test_compare_by_the_patterns_of_the_second(fabric):
    # the first tables need far fewer patterns than the second do before they are interrupted
    text = interrupted("compare", "-n", 1000000, "-e", "dmodk", "-e", "updown", "-e", "spf", fabric,
                       sign=r"updown: \d+ of \d+ patterns")
    done = re.search(r"^PARTIAL: ended early, after (\d+) of 1000000 patterns of 'updown'; 1 not begun$", text, re.M)
    assert 0 < int(done[1]) < 1000000
    assert re.search(r"'(dmodk|updown)'", text)


def test_compare_before_the_second(fabric):
    assert interrupted("compare", *ENDLESS[:1], 1000000000, "-e", "dmodk", "-e", "updown", fabric,
                       sign=r"dmodk: \d+ of \d+ patterns") == ""


def test_survive(fabric):
    text = interrupted("survive", "-r", 5, "--trials", 100000, "-n", 10, "-e", "updown", fabric,
                       sign=r"5% of the links removed, trial \d+ of 100000")
    done = re.search(r"^PARTIAL: ended early, after (\d+) of 100000 trials$", text, re.M)
    assert 0 < int(done[1]) < 100000
    assert re.search(rf"^ +5% +{done[1]} ", text, re.M), text


def test_survive_before_the_first_trial(fabric):
    found = json.loads(interrupted("survive", "--json", "--ar", "-r", 5, *ENDLESS, "-e", "updown", fabric,
                                   sign="without a loss"))
    assert found["partial"] and found["shares_removed"][0]["trials"] == 0 and 0.3 < found["intact"] < 1
