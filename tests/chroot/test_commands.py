# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The README's two commands work in a Debian with nothing installed before: each installs all that it needs."""

import re

import pytest

import clean_root


@pytest.fixture
def nothing(clean, folder, request):
    """A clean Debian with a clone of Heddle in /heddle."""
    root = folder / request.node.name
    clean_root.copy(clean, root)
    clean_root.clone_sources(root / "heddle")
    clean_root.enter(root, "rm -r /var/lib/apt/lists; ! command -v git python3 cmake gcc opensm")
    yield root
    clean_root.run(["rm", "-rf", "--one-file-system", str(root)])


def test_demo(nothing):
    """It ends well, with the figures of all engines."""
    printed = clean_root.enter_mounted(nothing, "cd /heddle; ./demo")
    assert re.search(r"^Done in \d+ s", printed, re.M), printed[-3000:]
    assert re.search(r"^dmodk +Heddle +\d+ +0 +none", printed, re.M), printed[-3000:]


def test_a_benchmark_after_the_demo(nothing):
    """It builds what it measures."""
    printed = clean_root.enter_mounted(nothing, "cd /heddle; ./demo >/dev/null; bench/run --engines 'dmodk minhop'")
    assert re.search(r"^dmodk +[\d.]+", printed, re.M) and re.search(r"^minhop +[\d.]+", printed, re.M), printed[-3000:]


def test_check(nothing):
    """All tests pass, and none needs a package that ./check does not install."""
    printed = clean_root.enter_mounted(nothing, "cd /heddle; ./check")
    assert "100% tests passed" in printed, printed[-3000:]


def test_the_set_build_is_what_the_readme_names():
    """With the fixture `installed` that shows that the set is enough: only OpenSM itself is not needed to build."""
    readme = (clean_root.SOURCE / "README.md").read_text()
    block = "".join(clean_root.code_blocks(readme, "Requirements")).replace("\\\n", " ")
    named = set(block.split("--no-install-recommends")[1].split())
    setup = (clean_root.SOURCE / "packaging/setup").read_text()
    build = set(re.search(r'^build="(.*)"$', setup, re.M).group(1).split())
    assert named - build == {"opensm"} and build <= named
