# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""There is one version: the changelog, the documents, the programs and the tag have that of project() in CMakeLists.txt.
And the workflow of continuous integration runs what is in the repository."""

import datetime
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", ROOT / "build" / "check"))
VERSION = re.search(r"project\(heddle VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
PROGRAMS = {"heddle": "cli", "heddle-keyd": "keyd/daemon", "heddle-router": "ir_router/agent"}


def released():
    """[(version, day)] of the changelog, in its order."""
    return re.findall(r"(?m)^## \[(\d[\d.]*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text())


def test_changelog():
    """The newest version of the changelog is the project's; days are days, and the newest comes first."""
    assert released()[0][0] == VERSION
    numbers = [tuple(map(int, version.split("."))) for version, _ in released()]
    days = [datetime.date.fromisoformat(day) for _, day in released()]
    assert numbers == sorted(set(numbers), reverse=True)
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    """Each program prints the version."""
    program = BUILD / PROGRAMS[name] / name
    if not program.exists():
        pytest.skip(f"{name} is not built")
    assert subprocess.check_output([program, "--version"], text=True) == f"{name} {VERSION}\n"


def test_documents():
    """The log line of a good start has the version."""
    for path in (ROOT / "README.md", ROOT / "doc/guide/troubleshooting.md"):
        assert set(re.findall(r"Heddle (\d[\d.]*) is loaded", path.read_text())) == {VERSION}, path


def test_packages():
    """debian/changelog and the spec file are of the version."""
    assert (ROOT / "debian/changelog").read_text().startswith(f"heddle ({VERSION}-")
    spec = (ROOT / "packaging/heddle.spec").read_text()
    assert re.findall(r"(?m)^Version: (.*)$", spec) == [VERSION]
    assert re.search(rf"(?m)^\* .* - {re.escape(VERSION)}-1$", spec)


def test_one_component_a_package():
    """Each binary package of Debian is an install component of CMake and an RPM, with the same summary."""
    control = (ROOT / "debian/control").read_text()
    packages = dict(re.findall(r"(?m)^Package: (.*)\n(?:.+\n)*?Description: (.*)$", control))
    assert len(packages) > 7
    spec = (ROOT / "packaging/heddle.spec").read_text()
    named = {name: re.sub("-dev$", "-devel", re.sub(r"^(lib.*[^0-9])[0-9]+$", r"\1", name)) for name in packages}
    assert re.findall(r"(?m)^install_package (\S+) (\S+)$", spec) == list(named.items())
    for name, rpm in named.items():
        part = spec if name == "heddle" else spec.split(f"\n%package -n {rpm}\n")[1]
        summary = re.search(r"(?m)^Summary: (.*)$", part).group(1)
        assert summary[0].lower() + summary[1:] == packages[name]
        assert re.search(rf"(?m)^%files (-n {rpm} )?-f {rpm}\.files$", spec)
        assert name in components(), f"no install() has COMPONENT {name}"


def components():
    """The components of all calls of install()."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "*CMakeLists.txt"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git repository")
    texts = "".join((ROOT / name).read_text() for name in done.stdout.split())
    return {"heddle", *re.findall(r"COMPONENT ([\w-]+)", texts)}


def test_actions_are_pinned():
    """The workflow names each action by the whole hash of a commit, which nobody can move."""
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for action in re.findall(r"uses: (\S+)", path.read_text()):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action


def test_tag():
    """A commit with a tag of a version is of that version."""
    done = subprocess.run(["git", "-C", ROOT, "tag", "--points-at", "HEAD", "v*"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git repository")
    assert set(done.stdout.split()) <= {f"v{VERSION}"}


def test_opensm_prefix(tmp_path):
    """HEDDLE_OPENSM_PREFIX gives the version of OpenSM that the package of the plugin depends on."""
    headers = pathlib.Path("/usr/include/infiniband")
    library = next(pathlib.Path("/usr/lib").glob("*/libosmcomp.so"), None)
    if not library or not (headers / "opensm/osm_version.h").exists():
        pytest.skip("libopensm-dev is not installed")
    (tmp_path / "opensm/lib").mkdir(parents=True)
    (tmp_path / "opensm/lib/libosmcomp.so").symlink_to(library)
    shutil.copytree(headers / "opensm", tmp_path / "opensm/include/infiniband/opensm")
    (tmp_path / "opensm/include/infiniband/opensm/osm_version.h").write_text('#define OSM_VERSION "OpenSM 3.9.9"\n')
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "build",
                    f"-DHEDDLE_OPENSM_PREFIX={tmp_path / 'opensm'}"], check=True, capture_output=True)
    assert "opensm:Depends=opensm (>= 3.9.9), opensm (<< 3.9.9.)\n" in (tmp_path / "build/substvars").read_text()


def test_workflow():
    """The workflow's last step is .ci/run, in Debian 12, which the README requires."""
    job, = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"].values()
    assert job["container"]["image"] == "debian:12"
    assert job["steps"][-1] == {"run": ".ci/run"}
    assert os.access(ROOT / ".ci/run", os.X_OK)
