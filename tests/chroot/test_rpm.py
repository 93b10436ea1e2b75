# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The RPM packages: their names and dependencies, and that rpm installs, upgrades and removes them. The system they are
installed in is Debian: what they need from Fedora is not tested."""

import re

import pytest

import clean_root
from clean_root import enter, run

NAMES = ["heddle", "heddle-keyd", "heddle-mpi", "heddle-opensm", "heddle-router", "heddle-slurm", "libheddle-key",
         "libheddle-key-devel", "libheddle-devel"]
LIBRARIES = ("libjansson4 libinih1 libibmad5 libibumad3 libmunge2 zlib1g libevent-core-2.1-7 libevent-extra-2.1-7 "
             "libsqlite3-0 libmd0 libprotobuf-c1")

# Folders of other packages there.
FEDORA = {"/usr/lib64/pkgconfig", "/usr/lib64/slurm", "/usr/share/licenses", "/var/cache/opensm"}


@pytest.fixture(scope="module")
def files(rpms):
    """{name: file of the package}"""
    return {re.sub(r"-\d.*", "", path.name): path for path in rpms.glob("*.rpm")}


@pytest.fixture(scope="module")
def root(clean, folder):
    path = folder / "rpm"
    clean_root.copy(clean, path)
    enter(path, f"apt-get -qq install -y --no-install-recommends {LIBRARIES} >/dev/null")
    (path / "var/lib/rpm").mkdir(parents=True)
    return path


def ask(files, name, *query):
    return run(["rpm", "-qp", *query, str(files[name])]).splitlines()


def rpm(root, *words):
    run(["rpm", "--root", str(root), "--dbpath", "/var/lib/rpm", *map(str, words)])


def test_names(files):
    """There is one package for each Debian package, under the name that Fedora would give it."""
    assert set(NAMES) <= set(files)
    for name in files:
        facts = ask(files, name, "--qf", "%{NAME}|%{LICENSE}|%{VENDOR}|%{SUMMARY}|%{DESCRIPTION}")[0].split("|")
        assert facts[:3] == [name, "GPL-2.0-only OR BSD-2-Clause", "Heddle"]
        assert len(facts[3]) > 20 and len(facts[4]) > 20


def test_requires(files, packages):
    """The plugin needs exactly its OpenSM, and the command none."""
    assert not [line for line in ask(files, "heddle", "--requires") if "opensm" in line]
    version = opensm_version(packages)
    assert f"opensm = {version}" in ask(files, "heddle-opensm", "--requires")
    assert {"graphviz", "gnuplot"} <= set(ask(files, "heddle", "--recommends"))
    assert "heddle" in ask(files, "heddle-opensm", "--recommends")
    assert "shadow-utils" in ask(files, "heddle-keyd", "--requires")
    assert [line for line in ask(files, "libheddle-key-devel", "--requires") if line.startswith("libheddle-key = ")]
    assert [line for line in ask(files, "heddle-slurm", "--requires") if line.startswith("slurm < ")]
    assert [line for line in ask(files, "heddle-mpi", "--requires") if line.startswith("heddle = ")]


def opensm_version(packages):
    """The version of OpenSM that the Debian package depends on, which was built in the same release of Debian."""
    deb, = packages.glob("heddle-opensm_*.deb")
    return re.search(r"opensm \(>= ([0-9.]+)\)", run(["dpkg-deb", "-f", str(deb), "Depends"])).group(1)


def test_files(files):
    """Libraries are in lib64, licences where Fedora has them, and what an administrator edits is marked."""
    assert "/usr/lib64/libheddle.so" in ask(files, "heddle-opensm", "-l")
    assert ask(files, "heddle-opensm", "-c") == ["/etc/heddle/heddle.conf"]
    assert ask(files, "heddle-keyd", "-c") == ["/etc/default/heddle-keyd"]
    for name in NAMES:
        assert ask(files, name, "-L") == [f"/usr/share/licenses/{name}/LICENSE"]
        folders = [line.split()[-1] for line in ask(files, name, "-lv") if line.startswith("d")]
        assert [path for path in folders if "heddle" not in path] == [], "a folder of another package"


def test_life(root, rpms, files):
    """rpm installs all packages; the programs run; an upgrade keeps an edited file; nothing is left at the end."""
    before = clean_root.contents(root)
    rpm(root, "-i", "--nodeps", *(files[name] for name in NAMES))
    enter(root, "cd /tmp; heddle topo generate xgft --children 4,4 --parents 1,4 -o fabric.net; heddle-router --version;"
                "heddle route -e dmodk fabric.net -o tables.lfts; heddle check fabric.net tables.lfts;"
                "setpriv --reuid heddle-keyd --clear-groups heddle-keyd --version")
    enter(root, "mkdir -p /run/heddle /var/cache/opensm; touch /run/heddle/drain.sock /var/cache/opensm/heddle-drained")
    conf = root / "etc/heddle/heddle.conf"
    conf.write_text(conf.read_text() + "# edited\n")
    rpm(root, "-U", "--nodeps", *(next((rpms / "later").glob(f"{name}-[0-9]*.rpm")) for name in NAMES))
    assert conf.read_text().endswith("# edited\n")
    assert run(["rpm", "--root", str(root), "--dbpath", "/var/lib/rpm", "-q", "--qf", "%{RELEASE}", "heddle"]) == "2"
    rpm(root, "-e", "--nodeps", *NAMES)
    saved = root / "etc/heddle/heddle.conf.rpmsave"
    assert saved.read_text().endswith("# edited\n")
    # rpm has no purge: the user of a service stays, so that its number is not given to another.
    left = {path for path in clean_root.contents(root) - before if not path.startswith("/var/lib/rpm/")}
    assert left - FEDORA == {"/etc/heddle", "/etc/heddle/heddle.conf.rpmsave", "heddle-keyd", "heddle-router"}
