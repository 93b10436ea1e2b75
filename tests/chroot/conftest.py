# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Clean systems that the tests share: one is made, the others are copies."""

import os
import pathlib
import re
import shutil
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import clean_root  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def may_run():
    """The tests need root, because they enter a file system of their own."""
    assert os.geteuid() == 0, "run as root"
    for tool in ("mmdebstrap", "lintian", "rpm"):
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
    readme = (clean_root.SOURCE / "README.md").read_text()
    requirements = "".join(clean_root.code_blocks(readme, "Requirements"))
    for block in (re.sub(r" opensm$", "", requirements, flags=re.M), *clean_root.code_blocks(readme, "Install"),
                  requirements):
        clean_root.enter(root, f"cd /heddle; {block}")
    return root


@pytest.fixture(scope="session")
def packages(request):
    """The folder of the Debian packages that cpack makes. HEDDLE_PACKAGES names one that was made before; for the tests
    of RPMs it must have what the fixture `rpms` makes, too."""
    if "HEDDLE_PACKAGES" in os.environ:
        return pathlib.Path(os.environ["HEDDLE_PACKAGES"]).resolve()
    root = request.getfixturevalue("installed")
    clean_root.enter(root, "apt-get -qq install -y --no-install-recommends dpkg-dev file libopenmpi-dev >/dev/null;"
                           "cd /heddle; cmake --preset release >/dev/null; ninja -C build/release >/dev/null;"
                           "cd build/release; cpack -G DEB >/dev/null")
    return root / "heddle/build/release"


@pytest.fixture(scope="session")
def rpms(request, packages):
    """The folder of the RPM packages that cpack makes, with those of the next release in its folder `later`."""
    if "HEDDLE_PACKAGES" not in os.environ:
        root = request.getfixturevalue("installed")
        clean_root.enter(root, "apt-get -qq install -y --no-install-recommends rpm >/dev/null; cd /heddle/build/release;"
                               "cmake -DCMAKE_INSTALL_LIBDIR=lib64 -DHEDDLE_SLURM_PLUGIN_DIR=lib64/slurm . >/dev/null;"
                               "ninja >/dev/null; cpack -G RPM >/dev/null 2>&1;"
                               "cpack -G RPM -D CPACK_RPM_PACKAGE_RELEASE=2 -B later >/dev/null 2>&1")
    return packages
