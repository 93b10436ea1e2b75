# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An installation in any folder has all that its commands and documents name, with nothing from the sources."""

import os
import re
import subprocess

import pytest

from cli_testing import SOURCE
from fabric_sim import BUILD, PATIENCE

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
# What users see at an installed heddle that is not in its package, and where it is.
OTHER_PACKAGES = {"opensm(8)", "heddle-measure(1)"}


@pytest.fixture(name="prefix", scope="module")
def prefix_fixture(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installation") / "any where"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True, timeout=PATIENCE,
                   env={**os.environ, "DESTDIR": ""})
    return prefix


def run(prefix, folder, *words):
    """A command that knows nothing of the sources."""
    done = subprocess.run([prefix / "bin" / "heddle", *words], cwd=folder, env={"PATH": "/usr/bin:/bin"},
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scenarios(prefix, tmp_path):
    """They are found from where the command is."""
    names = run(prefix, tmp_path, "reproduce", "--list").split()
    assert "bisection" in names
    assert "0 outside" in run(prefix, tmp_path, "reproduce", "bisection/figure-1", "--quick")
    run(prefix, tmp_path, "topo", "generate", "xgft", "--children=4,4", "--parents=1,4", "-o", "fabric")
    run(prefix, tmp_path, "sim", "--fabric", "fabric", "-e", "dmodk")


def test_without_scenarios(prefix, tmp_path):
    """The message says where they should be, and what to do."""
    (tmp_path / "bin").mkdir()
    alone = tmp_path / "bin" / "heddle"
    alone.write_bytes((prefix / "bin" / "heddle").read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone, "reproduce", "bisection"], env={}, capture_output=True, text=True, check=False,
                          timeout=PATIENCE)
    assert done.returncode == 2
    assert f"{tmp_path}/bin/../share/heddle/scenarios: no such folder" in done.stderr
    assert "set HEDDLE_SCENARIOS" in done.stderr


def test_examples(prefix, tmp_path):
    """They are found by their names, but a file of the user comes first."""
    shipped = run(prefix, tmp_path, "ebb", "--application", "pop.application")
    (tmp_path / "pop.application").write_bytes((SOURCE / "doc/examples/milc.application").read_bytes())
    own = run(prefix, tmp_path, "ebb", "--application", "pop.application")
    assert own != shipped
    (tmp_path / "pop.application").write_bytes((SOURCE / "doc/examples/pop.application").read_bytes())
    assert run(prefix, tmp_path, "ebb", "--application", "pop.application") == shipped


def test_links_of_documents(prefix):
    """Each leads to a file that is installed."""
    documents = list((prefix / "share/doc").rglob("*.md"))
    assert len(documents) > 30
    links = [(path, target) for path in documents for target in LINK.findall(path.read_text())
             if "://" not in target]
    assert len(links) > 100
    assert [(path.name, target) for path, target in links if not (path.parent / target).exists()] == []


def test_references_of_man_pages(prefix):
    """Each page of heddle that a page names is installed."""
    pages = {path.name for path in (prefix / "share/man").rglob("heddle*.[158]")}
    assert "heddle.1" in pages and "heddle.conf.5" in pages
    for path in (prefix / "share/man").rglob("heddle*.[158]"):
        named = re.findall(r"^\.BR (heddle[a-z_.-]*) \((\d)\)", path.read_text(), re.M)
        missing = {f"{name}.{number}" for name, number in named} - pages
        assert {name for name in missing if f"{name[:-2]}({name[-1]})" not in OTHER_PACKAGES} == set(), path.name
