# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The firmware module of the router builds for small processors, without a C library.

Each compiler gets its own headers and a string.h with two functions, nothing else. The program
tests/firmware/start.c must link with the module alone. `python3 -m pytest -s tests/firmware_test.py`
prints how much stack each public function needs, with all functions that it calls.
"""
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIRMWARE = ROOT / "ir_router" / "firmware"
TESTS = ROOT / "tests" / "firmware"
STACK_MOST = 512  # bytes, on any of the processors
LIBRARY = {"memcpy", "memset"}

TARGETS = {
    "host": ["gcc"],
    "cortex-m0plus": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0plus"],
    "cortex-m4": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"],
    "rv32imac": ["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"],
    "rv64imac": ["riscv64-unknown-elf-gcc", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"],
}
FLAGS = ["-std=c17", "-Os", "-ffreestanding", "-fno-stack-protector", "-Wall", "-Wextra", "-Wshadow", "-Wconversion",
         "-Wvla", "-Werror"]


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stderr[-3000:]}"
    return done.stdout


def sources():
    return sorted(FIRMWARE.glob("*.c"))


@pytest.fixture(scope="module", params=TARGETS)
def built(request, tmp_path_factory):
    """(compiler, folder with objects and call graphs)."""
    compiler = TARGETS[request.param]
    if not shutil.which(compiler[0]):
        pytest.skip(f"{compiler[0]} is missing: packaging/setup test installs it")
    folder = tmp_path_factory.mktemp(request.param)
    own = run(*compiler, "-print-file-name=include").strip()
    for source in [*sources(), TESTS / "start.c"]:
        run(*compiler, *FLAGS, "-nostdinc", "-isystem", own, "-I", TESTS / "include", "-I", FIRMWARE,
            "-fcallgraph-info=su", "-c", source, "-o", folder / f"{source.stem}.o")
    return compiler, folder


def undefined(folder, names):
    """Symbols that these objects need and do not have."""
    needed, defined = set(), set()
    for name in names:
        for line in run("readelf", "-sW", folder / f"{name}.o").splitlines():
            words = line.split()
            if len(words) == 8 and words[4] in ("GLOBAL", "WEAK"):
                (needed if words[6] == "UND" else defined).add(words[7])
    return needed - defined


def test_needs_no_library(built):
    """The module uses two functions of string.h; all else comes from the compiler's own library."""
    compiler, folder = built
    needed = undefined(folder, [source.stem for source in sources()])
    assert {name for name in needed if not name.startswith("__")} <= LIBRARY
    run(*compiler, "-nostdlib", "-Wl,-e,start", *folder.glob("*.o"), "-lgcc", "-o", folder / "start")


class Calls:
    """The call graph that the compiler wrote, and the stack of each function."""

    def __init__(self, folder, names):
        self.stack, self.calls, self.dynamic = {}, defaultdict(set), set()
        for name in names:
            for line in (folder / f"{name}.ci").read_text().splitlines():
                self._take(line)

    def _take(self, line):
        node = re.match(r'node: \{ title: "([^"]+)" label: "[^"]*\\n(\d+) bytes \((\w+)[^"]*"', line)
        if node:
            self.stack[node.group(1)] = int(node.group(2))
            if node.group(3) != "static":
                self.dynamic.add(node.group(1))
        edge = re.match(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', line)
        if edge:
            self.calls[edge.group(1)].add(edge.group(2))

    def deepest(self, name, above=()):
        """(bytes, chain of calls) of the path that needs most stack. Callbacks are not counted."""
        assert name not in above, f"{name} calls itself: {above}"
        inner = [self.deepest(callee, (*above, name)) for callee in sorted(self.calls[name])]
        most, chain = max(inner, default=(0, ()))
        return self.stack.get(name, 0) + most, (name, *chain)


def test_stack_is_bounded(built):
    """No function calls itself, none takes stack by the size of its input, and no chain of calls
    needs more than STACK_MOST bytes."""
    compiler, folder = built
    calls = Calls(folder, [source.stem for source in sources()])
    assert calls.dynamic == set()
    public = sorted(name for name in calls.stack if name.startswith("hd_router_"))
    assert len(public) > 30
    depths = {name: calls.deepest(name) for name in public}
    print(f"\nstack on {folder.name.rstrip('0')}: bytes, function")
    for name, (size, chain) in sorted(depths.items(), key=lambda item: -item[1][0])[:6]:
        print(f"  {size:5} {' > '.join(call.split(':')[-1] for call in chain)}")
    assert max(depths.values())[0] <= STACK_MOST


def test_finds_recursion(tmp_path):
    """A function that calls itself through another one is found, and so is a stack that grows."""
    source = tmp_path / "loop.c"
    source.write_text("int a(int); int b(int x) { return x ? a(x - 1) * 3 : 0; } int a(int x) { return b(x) + x; }\n"
                      "void use(char *); void c(int n) { char grows[n]; use(grows); }\n")
    run("gcc", "-O0", "-fcallgraph-info=su", "-c", source, "-o", tmp_path / "loop.o")
    calls = Calls(tmp_path, ["loop"])
    with pytest.raises(AssertionError, match="calls itself"):
        calls.deepest("a")
    assert calls.dynamic == {"c"}
