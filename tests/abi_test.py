# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that were built with libheddle-key, and engines that were built as modules, still work with this build:
abidiff compares both ABIs with those of the last release. Functions may be added. Anything else needs a new number."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", ROOT / "build" / "check"))
STORED = "packaging/abi"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the stored ABIs are those of x86-64")


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def released(name, folder):
    """The stored ABI of that name: of the newest version that has a tag, else of this tree. None: that version had
    another number."""
    tags = git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname").split()
    if not tags:
        return ROOT / STORED / name
    content = git("show", f"{tags[0]}:{STORED}/{name}")
    if not content:
        return None
    (folder / "released.abi").write_text(content)
    return folder / "released.abi"


def dump(folder, headers=ROOT / "include"):
    """{name of a dump: its path} of this build."""
    assert shutil.which("abidw"), "abidw is missing: packaging/setup test installs it"
    subprocess.run([ROOT / "packaging/abi/dump", BUILD, folder], check=True,
                   env={**os.environ, "HEDDLE_ABI_HEADERS": str(headers)})
    return {path.name: path for path in folder.glob("*.abi")}


def changes(old, new):
    """What abidiff says if the ABI has changed otherwise than by new functions, else ""."""
    done = subprocess.run(["abidiff", "--no-added-syms", old, new], capture_output=True, text=True)
    assert not done.returncode & 3, done.stderr
    return done.stdout if done.returncode else ""


@pytest.mark.parametrize("kind, number", [("libheddle-key.so.", "SOVERSION in keyd/client/CMakeLists.txt"),
                                          ("engine-", "HD_ENGINE_ABI")])
def test_as_released(tmp_path, kind, number):
    """The ABI is that of the last release, or it has a new number, and packaging/abi has the new one."""
    (tmp_path / "now").mkdir()
    name, new = next((name, path) for name, path in dump(tmp_path / "now").items() if name.startswith(kind))
    assert (ROOT / STORED / name).exists(), f"run packaging/abi/dump {BUILD} {STORED}"
    old = released(name, tmp_path)
    if old:
        found = changes(old, new)
        assert not found, f"the ABI has changed, so {number} has to grow:\n{found}"


@pytest.mark.parametrize("file, before, after", [
    ("engines.h", r"(?m)^struct hd_engine \{\n", "struct hd_engine {\n\tconst char *another;\n"),
    ("fabric/graph.h", r"(?m)^struct hd_fabric \{\n", "struct hd_fabric {\n\tconst char *another;\n"),
])
def test_notices(tmp_path, file, before, after):
    """A member more in a struct that modules share is found."""
    shutil.copytree(ROOT / "include", tmp_path / "include")
    header = tmp_path / "include/heddle" / file
    text = header.read_text()
    header.write_text(re.sub(before, after, text, count=1))
    assert header.read_text() != text
    old, new = ({name: path for name, path in dump(tmp_path / sub, headers).items() if name.startswith("engine-")}
                for sub, headers in made(tmp_path))
    assert [name for name in new if changes(old[name], new[name])] == list(new)


def made(tmp_path):
    """The folders of dumps without the change and with it, and their headers."""
    for sub in ("old", "new"):
        (tmp_path / sub).mkdir()
    return ("old", ROOT / "include"), ("new", tmp_path / "include")
