# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bench/multipath_table accepts the same engine names as bench/run."""

import subprocess

from cli_testing import SOURCE
from fabric_sim import PATIENCE


def table(*engines):
    return subprocess.run([SOURCE / "bench" / "multipath_table", "-n", "20", "--lmc", "1",
                           "--engines", *engines, "--", "irregular-15"], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)


def test_engines_are_words_or_one_list():
    """The figures depend on the options, not on the form in which they are written."""
    by_words = table("multipath:mode=offsets,passes=2", "spf")
    by_list = table("multipath:mode=offsets,passes=2 spf")
    assert by_words.returncode == 0 and by_words.stdout.count("irregular-15") == 2, by_words.stderr
    assert by_list.stdout == by_words.stdout, by_list.stderr
    assert "has no engine nope" in table("spf nope").stderr
