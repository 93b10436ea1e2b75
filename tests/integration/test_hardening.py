# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""All programs and shared objects that are installed are hardened: the ELF files themselves say so."""

import os
import platform
import re
import shutil
import subprocess

import pytest

from fabric_sim import BUILD, PATIENCE

CACHE = (BUILD / "CMakeCache.txt").read_text()
SANITIZED = re.search(r"^HEDDLE_SANITIZE:\w+=(.+)$", CACHE, re.M) is not None
OPTIMIZED = re.search(r"^CMAKE_BUILD_TYPE:\w+=Debug$", CACHE, re.M) is None
pytestmark = pytest.mark.skipif(not shutil.which("readelf"), reason="missing: readelf")
# It calls no function of the C library that has a fortified form.
NOT_FORTIFIED = set()


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True,
                          timeout=PATIENCE, env={**os.environ, "LC_ALL": "C"}).stdout


@pytest.fixture(name="objects", scope="module")
def objects_fixture(tmp_path_factory):
    """All ELF files of an installation, with the modules and libraries."""
    prefix = tmp_path_factory.mktemp("hardening")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True, timeout=PATIENCE,
                   env={**os.environ, "DESTDIR": ""})
    found = [path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink()
             and path.open("rb").read(4) == b"\x7fELF"]
    assert {"heddle"} <= {path.name for path in found}
    return found


def failing(objects, good):
    return [path.name for path in objects if not good(path)]


def imports(path):
    return re.findall(r" UND (\w+)", readelf("--dyn-syms", path))


def test_position_independent(objects):
    """The kernel chooses the address of programs, too."""
    assert failing(objects, lambda path: "Type:                              DYN" in readelf("-h", path)) == []
    programs = [path for path in objects if "INTERP" in readelf("-l", path)]
    assert programs
    assert failing(programs, lambda path: re.search(r"FLAGS_1.* PIE", readelf("-d", path))) == []


def test_relocations(objects):
    """Full RELRO: what the linker has filled in is read-only afterwards."""
    assert failing(objects, lambda path: "GNU_RELRO" in readelf("-l", path)) == []
    assert failing(objects, lambda path: re.search(r"FLAGS_1.* NOW", readelf("-d", path))) == []


def test_stack(objects):
    """The stack is not executable, nor is any other writable segment, and functions guard their return addresses."""
    def segments(path):
        return re.findall(r"^  (\w+) .* ([R ][W ][E ]) 0x", readelf("-l", path), re.M)

    assert failing(objects, lambda path: any(name == "GNU_STACK" for name, _ in segments(path))) == []
    assert failing(objects, lambda path: not any("W" in rights and "E" in rights for _, rights in segments(path))) == []
    assert failing(objects, lambda path: "__stack_chk_fail" in imports(path)) == []


@pytest.mark.skipif(SANITIZED or not OPTIMIZED, reason="sanitizers and builds without optimization have no FORTIFY")
def test_fortify(objects):
    """Functions of the C library that write into buffers know how long these are."""
    some = [path for path in objects if path.name not in NOT_FORTIFIED]
    assert failing(some, lambda path: any(re.fullmatch(r"__\w+_chk", name) and name != "__stack_chk_fail"
                                          for name in imports(path))) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="CET is of x86")
def test_control_flow(objects):
    """CET: functions begin with ENDBR64. The mark that the linker gives to a whole file depends on the start files of
    the C library, which have none in Debian 12, so the code itself is looked at."""
    def entries(path):
        """[(name, first bytes)] of the functions that other files call."""
        sections = {int(number): (int(address, 16), int(offset, 16)) for number, address, offset in re.findall(
            r"^ +\[ *(\d+)\] \S+ +\w+ +([0-9a-f]{8,}) ([0-9a-f]{6,})", readelf("-S", path), re.M)}
        code = path.read_bytes()
        found = []
        for value, size, scope, section, name in re.findall(
                r"^ +\d+: ([0-9a-f]+) +(\d+) FUNC +(\w+) +\w+ +(\d+) (\w+)$", readelf("-s", path), re.M):
            address, offset = sections[int(section)]
            public = scope == "GLOBAL" or name.startswith("hd_")  # a library that hides its names makes them local
            if int(size) and public and name not in ("_start", "_init", "_fini"):
                start = int(value, 16) - address + offset
                found.append((name, code[start:start + 4]))
        return found

    for path in objects:
        starts = entries(path)
        assert starts, path.name
        assert [name for name, start in starts if start != b"\xf3\x0f\x1e\xfa"] == [], path.name
