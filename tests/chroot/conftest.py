# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Clean systems that the tests share: one is made, the others are copies."""

import os
import pathlib
import re
import shutil
import signal
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import clean_root  # noqa: E402

README = clean_root.SOURCE / "README.md"
signal.signal(signal.SIGTERM, signal.default_int_handler)  # ./check ends: the systems are removed, as after Ctrl-C


@pytest.fixture(scope="session", autouse=True)
def may_run():
    """The tests need root, because they enter a file system of their own."""
    assert os.geteuid() == 0, "run as root"
    for tool in ("mmdebstrap", "rpm"):
        assert shutil.which(tool), f"{tool} is missing: packaging/setup chroot installs it"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("roots")
    yield path
    clean_root.run(["rm", "-rf", str(path)])


@pytest.fixture(scope="session")
def clean(folder):
    """A Debian without anything that is not essential."""
    clean_root.make(folder / "clean")
    return folder / "clean"


@pytest.fixture(scope="session")
def installed(clean, folder):
    """One with Heddle's sources in /heddle, after the commands of the README's sections on requirements and
    installation. OpenSM comes last: no step needs it."""
    root = folder / "installed"
    clean_root.copy(clean, root)
    clean_root.copy_sources(root / "heddle")
    readme = README.read_text()
    requirements = "".join(clean_root.code_blocks(readme, "Requirements"))
    for block in (re.sub(r" opensm$", "", requirements, flags=re.M), *clean_root.code_blocks(readme, "Install"),
                  requirements):
        clean_root.enter(root, f"cd /heddle; {block}")
    return root


@pytest.fixture(scope="session")
def builders(clean, folder):
    """A function of the suite: a clean system with the sources in /heddle, the packages that debian/control names, and in
    /first what packaging/debs makes, without the packages of debugging symbols in /packages. Each is made once."""
    made = {}

    def builder(suite):
        if suite not in made:
            base, root = folder / f"{suite}-build-clean", folder / f"{suite}-build"
            if suite == clean_root.SUITE:
                clean_root.copy(clean, base)
            else:
                clean_root.make(base, suite)
            clean_root.copy(base, root)
            clean_root.copy_sources(root / "heddle")
            clean_root.enter(root, f"cd /heddle; {clean_root.code_blocks(README.read_text(), 'Debian packages')[0]}")
            clean_root.enter(root, "mv /heddle/build/debian /first; mkdir /packages;"
                                   "cp $(ls -d /first/*.deb | grep -v -e -dbgsym_) /packages")
            made[suite] = root
        return made[suite]

    return builder


@pytest.fixture(scope="session")
def packages(request):
    """The folder of the Debian packages of this release. HEDDLE_PACKAGES names one that was made before; for the tests
    of RPMs it must have what the fixture `rpms` makes, too."""
    if "HEDDLE_PACKAGES" in os.environ:
        return pathlib.Path(os.environ["HEDDLE_PACKAGES"]).resolve()
    return request.getfixturevalue("builders")(clean_root.SUITE) / "packages"


@pytest.fixture(scope="session")
def rpms(request, packages):
    """The folder of the RPM packages that packaging/rpms makes, with those of the next release in its folder `later`."""
    if "HEDDLE_PACKAGES" in os.environ:
        return packages
    root = request.getfixturevalue("installed")
    clean_root.enter(root, "apt-get -qq install -y --no-install-recommends rpm xz-utils libopenmpi-dev >/dev/null;"
                           "cd /heddle;"
                           "packaging/rpms /rpms --nodeps --noclean >/dev/null;"
                           "packaging/rpms /rpms --nodeps --noprep --define 'heddle_release 2' >/dev/null;"
                           "mkdir /rpms/later; mv /rpms/*-2.*.rpm /rpms/later; rm /rpms/*.src.rpm")
    return root / "rpms"
