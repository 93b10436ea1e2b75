# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libheddle-dev in a folder, as its package installs it, and modules that are built with nothing else."""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess

from fabric_sim import BUILD, PATIENCE

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
MISSING = [tool for tool in ("cc", "c++", "pkg-config", "cmake") if not shutil.which(tool)]
CACHE = BUILD / "CMakeCache.txt"
if not CACHE.exists() or "HEDDLE_SANITIZE:STRING=\n" not in CACHE.read_text():
    MISSING.append("a build without sanitizers")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


class Stage:
    """The files of the component, below `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        # the installation writes the pkg-config file in the build folder first
        with open(BUILD / "stage.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            run("cmake", "--install", BUILD, "--component", "libheddle-dev", "--prefix", self.folder)
        self.include = self.folder / "include"
        self.examples = next(self.folder.rglob("examples"))
        description = next(self.folder.rglob("heddle.pc"))
        self.environment = dict(os.environ, PKG_CONFIG_PATH=str(description.parent))

    def flags(self, kind):
        return run("pkg-config", kind, "heddle", env=self.environment).split()

    def program(self, source, path):
        """Builds a program, by pkg-config only."""
        run("cc", "-std=c17", *WARNINGS, *self.flags("--cflags"), source, "-o", path, *self.flags("--libs"))
        return path

    def module(self, source, folder, name=None):
        """Builds a module in a folder, by pkg-config only. `source` is a path or a text."""
        folder.mkdir(exist_ok=True)
        if not isinstance(source, pathlib.Path):
            text, source = source, folder / f"{name}.c"
            source.write_text(text)
        path = folder / f"{name or source.stem}.so"
        run("cc", "-std=c17", "-O2", *WARNINGS, "-shared", "-fPIC", "-fvisibility=hidden", *self.flags("--cflags"),
            source, "-o", path, *self.flags("--libs"))
        return path


def foreign():
    """A module of a later ABI."""
    return ("#include <heddle/engines/module.h>\n"
            "const struct hd_engine_module hd_engine_module = {HD_ENGINE_ABI + 1, HD_ENGINE_SIZES_OF, 0};\n")


def renamed(stage, name):
    """The example under another name."""
    return (stage.examples / "rotate.c").read_text().replace('"rotate"', f'"{name}"')


def looping(stage, name):
    """The example with a mistake: each switch sends what is for others by its last link to a switch."""
    text = renamed(stage, name)
    spoiled = re.sub(r"near\[lid % count\]", "fabric->isl_port[fabric->isl_base[sw + 1] - 1]", text)
    assert spoiled != text
    return spoiled
