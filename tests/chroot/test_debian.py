# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The source package of Debian, in clean systems of the releases that it is for: it builds with what debian/control
names, lintian accepts it, a second build gives the same bytes, and its own tests pass on the installed packages."""

import filecmp

import pytest

import clean_root
from clean_root import enter

SUITES = ["bookworm", "trixie"]


@pytest.fixture(scope="module", params=SUITES)
def built(request, builders):
    """A clean system with a source package and its binary packages in /first."""
    return builders(request.param)


def test_lintian(built):
    """lintian, Debian's checker of packages, finds no error and nothing to warn of, in sources and packages."""
    enter(built, "apt-get -qq install -y --no-install-recommends lintian >/dev/null;"
                 "lintian --allow-root --fail-on error,warning /first/*.changes")


def test_reproducible(built):
    """A build in another folder, at another time, with another time zone, language and mask, gives the same bytes."""
    enter(built, "umask 027; cp -R /heddle /another-folder; cd /another-folder; packaging/debs /second/below >/dev/null",
          TZ="Pacific/Kiritimati", LC_ALL="C", LANG="C")
    names = [path.name for path in (built / "first").iterdir() if path.suffix in (".deb", ".dsc", ".xz")]
    assert len(names) > 10
    different = filecmp.cmpfiles(built / "first", built / "second/below", names, shallow=False)[1:]
    assert different == ([], [])


def test_autopkgtest(built, folder):
    """The tests of debian/tests pass in a clean system with the packages, and only what they depend on."""
    root = folder / f"{built.name}-autopkgtest"
    clean_root.copy(folder / f"{built.name}-clean", root)
    clean_root.copy(built / "first", root / "first")
    enter(root, "apt-get -qq install -y --no-install-recommends autopkgtest dpkg-dev >/dev/null")
    clean_root.enter_mounted(root, "autopkgtest --no-built-binaries /first/*.deb /first/*.dsc -- null")
    clean_root.run(["rm", "-rf", "--one-file-system", str(root)])
