# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the symbols of the built libraries tell: no circles inside a room, and names that say where
they live.

A circle is a set of files each of which needs the others: none of them can be understood, tested or
moved alone. HEDDLE_BUILD is the folder of the build to look at.
"""
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("HEDDLE_BUILD", ROOT / "build" / "release"))

# Rooms without circles, and rooms whose names say their file.
ACYCLIC = ["base", "config", "fabric", "engines", "analysis", "ir_router", "keyd", "mad", "cli", "opensm"]
OPTIONAL = {"config", "cli", "opensm"}  # not in every build
PREFIXED = ["base", "fabric", "engines", "analysis", "ir_router", "keyd", "mad"]

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def archives(build, room):
    """Static libraries of a room, without those of folders that are no more."""
    return [path for path in sorted((build / room).rglob("libheddle_*.a"))
            if (ROOT / path.parent.relative_to(build)).is_dir()]


def symbols(archive):
    """(file, name, defined) of each symbol that the files of a static library share."""
    listed = subprocess.run(["nm", "-A", "-P", "-g", archive], capture_output=True, text=True,
                            check=True)
    for line in listed.stdout.splitlines():
        member, name, kind, *_ = re.match(r".*\[(.*)\]: (.*)", line).expand(r"\1 \2").split()
        if not name.startswith("__"):  # the compiler's own
            yield member.removesuffix(".o"), name, kind != "U"


def definitions(paths):
    """File of each shared symbol that these libraries define."""
    return {name: file for path in paths for file, name, defined in symbols(path) if defined}


def uses(paths):
    """Graph of these libraries' files: each with those whose symbols it uses."""
    owner = definitions(paths)
    graph = {file: set() for file in owner.values()}
    for path in paths:
        for file, name, defined in symbols(path):
            if not defined and owner.get(name, file) != file:
                graph.setdefault(file, set()).add(owner[name])
    return graph


def headers(root, room):
    """Graph of a room's headers, public ones and its own: each with those that it includes."""
    found = {path.relative_to(root).as_posix(): path
             for folder in (root / room, root / "include" / "heddle" / room)
             for path in sorted(folder.rglob("*.h"))}
    by_name = defaultdict(set)
    for name in found:
        by_name[name.removeprefix("include/")].add(name)
        by_name[name.rsplit("/", 1)[1]].add(name)
    return {name: {used for included in INCLUDE.findall(path.read_text(encoding="utf-8"))
                   for used in by_name[included]}
            for name, path in found.items()}


def circles(graph):
    """The sets of nodes that reach each other, each sorted."""
    reached = {}
    for start in graph:
        seen, waiting = set(), [start]
        while waiting:
            for following in graph.get(waiting.pop(), ()):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        reached[start] = seen
    found = {tuple(sorted(n for n in reached[start] if start in reached.get(n, ())))
             for start in graph if start in reached[start]}
    return sorted(found)


def misnamed(paths):
    """Shared names that do not begin with hd_, their file's name, or the first word of it."""
    found = []
    for name, file in sorted(definitions(paths).items()):
        base = file.removesuffix(".c")
        prefixes = {"hd", base, base.split("_")[0]}
        if not any(name == prefix or name.startswith(f"{prefix}_") for prefix in prefixes):
            found.append(f"{file}: {name}")
    return found


@pytest.mark.parametrize("room", ACYCLIC)
def test_no_circle_between_files(room):
    """No two files of a room use each other's functions or objects, directly or by others."""
    built = archives(BUILD, room)
    if not built and room in OPTIONAL:
        pytest.skip(f"{room} is not in this build")
    assert built, f"{BUILD} has no libraries of {room}: build first, or set HEDDLE_BUILD"
    assert circles(uses(built)) == []


@pytest.mark.parametrize("room", ACYCLIC)
def test_no_circle_between_headers(room):
    """No two headers of a room include each other, directly or by others."""
    graph = headers(ROOT, room)
    assert graph
    assert circles(graph) == []


@pytest.mark.parametrize("room", PREFIXED)
def test_shared_names_say_where_they_live(room):
    """A name that other files can use is public, hd_..., or begins with its file's or family's."""
    built = archives(BUILD, room)
    assert built, f"{BUILD} has no libraries of {room}: build first, or set HEDDLE_BUILD"
    assert misnamed(built) == []


def test_the_client_library_exports_what_its_header_has():
    """libheddle-key.so has the functions of its public header, with a version, and no others."""
    built = BUILD / "keyd" / "client" / "libheddle-key.so.1"
    if not built.exists():
        pytest.skip("libheddle-key is not in this build")
    header = (ROOT / "include" / "heddle" / "keyd_client.h").read_text(encoding="utf-8")
    listed = subprocess.run(["nm", "-D", "--defined-only", built], capture_output=True, text=True,
                            check=True).stdout
    exported = re.findall(r"^[0-9a-f]+ T (\S+)$", listed, re.MULTILINE)
    declared = re.findall(r"\b(hd_key_client_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL))
    assert sorted(exported) == sorted(f"{name}@@HEDDLE_KEY_1" for name in declared)
    needed = subprocess.run(["readelf", "-d", built], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"NEEDED.*\[(\w+)", needed))
    assert libraries - {"libc", "libjansson", "libmd", "libmunge", "libasan", "libubsan", "libtsan"} == set()


def library(folder, **files):
    """A static library of these C files."""
    objects = []
    for name, text in files.items():
        (folder / f"{name}.c").write_text(text)
        objects.append(folder / f"{name}.c.o")
        subprocess.run(["cc", "-c", folder / f"{name}.c", "-o", objects[-1]], check=True)
    archive = folder / "libheddle_room.a"
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    return archive


def test_finds_a_circle_of_files(tmp_path):
    """A circle over three files is found, whichever libraries they are in; a line of them is none."""
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
    first = library(tmp_path / "one", a="void b(void); void a(void) { b(); }",
                    d="void a(void); void d(void) { a(); }")
    line = library(tmp_path / "two", b="extern int c; int b(void) { return c; }", c="int c = 1;")
    assert circles(uses([first, line])) == []
    circle = library(tmp_path / "two", b="extern int c; int b(void) { return c; }",
                     c="void a(void); int c = 1; void e(void) { a(); }")
    assert circles(uses([first, circle])) == [("a.c", "b.c", "c.c")]


def test_finds_a_circle_of_headers(tmp_path):
    """Between a room's own headers and its public ones, by whichever name they are included."""
    room, public = tmp_path / "engines", tmp_path / "include" / "heddle" / "engines"
    for folder in (room / "part", public):
        folder.mkdir(parents=True)
    (room / "part" / "a.h").write_text("#include <heddle/engines/b.h>\n")
    (public / "b.h").write_text("#include <heddle/fabric/a.h>\n#include <stdio.h>\n")
    assert circles(headers(tmp_path, "engines")) == []
    (public / "b.h").write_text('# include "a.h"\n')
    assert circles(headers(tmp_path, "engines")) == [
        ("engines/part/a.h", "include/heddle/engines/b.h")]


def test_finds_names_that_do_not_say_their_file(tmp_path):
    """Functions and objects alike; file names of several words give two prefixes."""
    archive = library(tmp_path, read_lft="int hd_a, read_b, read_lft_c, read_lft; static int d;"
                                         "int readable; void e(void) { d = 1; }")
    assert misnamed([archive]) == ["read_lft.c: e", "read_lft.c: readable"]
