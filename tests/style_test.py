# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One dialect of C: .clang-format decides layout, and a few rules that it cannot express.

`python3 tests/style_test.py --fix` mends what can be mended by itself.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

NOT_A_TYPE = r"(?!(?:return|if|for|while|do|switch|case|default|goto|break|continue|else|sizeof)\b)"
DECLARATION = re.compile(
    r"^\t" + NOT_A_TYPE + r"(?:(?:static|const|struct|enum|union|unsigned|volatile|_Atomic)\s+)*"
    r"[A-Za-z_]\w*\s*(?:\bconst\b\s*)?(?:\s|\*+)\**(?:const\s+)?\w+\s*(?:[;=,\[]|$)|^\t\w[\w\s*]*\(\*\w+\)\("
)
ERROR_VARIABLE = re.compile(r"^\s+(?:const )?int (code|ret|retval)\b(?= ?[=;,])")
BARE_SIZEOF = re.compile(r"\bsizeof (?!\()")


def sources():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
        capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else []
    paths = [ROOT / name for name in names] or [
        p for p in [*ROOT.rglob("*.c"), *ROOT.rglob("*.h")] if "build" not in p.parts]
    return [p for p in paths if p.exists()]


def statement_end(lines, at):
    """The line that ends the statement that begins at `at`."""
    depth = 0
    while at < len(lines):
        text = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/', "", lines[at])
        depth += sum(text.count(c) for c in "({[") - sum(text.count(c) for c in ")}]")
        if depth <= 0 and text.rstrip().endswith(";"):
            return at
        at += 1
    return at


def missing_blanks(lines):
    """Lines, from 0, before which a blank one is missing: the first after the declarations with
    which a function begins."""
    found = []
    for number, line in enumerate(lines):
        if line != "{":
            continue
        at, declared = number + 1, False
        while at < len(lines) and DECLARATION.match(lines[at]):
            at, declared = statement_end(lines, at) + 1, True
        if declared and at < len(lines) and lines[at] not in ("", "}"):
            found.append(at)
    return found


def faults(path):
    lines = path.read_text().split("\n")
    where = path.relative_to(ROOT)
    found = [f"{where}:{at + 1}: no blank line after the declarations" for at in missing_blanks(lines)]
    for number, line in enumerate(lines, 1):
        if ERROR_VARIABLE.match(line):
            found.append(f"{where}:{number}: an error number is called rc")
        if BARE_SIZEOF.search(line) and not line.lstrip().startswith(("*", "/*")):
            found.append(f"{where}:{number}: sizeof takes parentheses")
    return found


def test_dialect():
    """Declarations at a function's beginning are followed by a blank line, errors are called rc,
    sizeof has parentheses."""
    assert [fault for path in sources() for fault in faults(path)] == []


def test_layout():
    """clang-format would change nothing."""
    program = shutil.which("clang-format")
    assert program, "clang-format is missing: packaging/setup test installs it"
    names = [str(path) for path in sources()]
    run = subprocess.run([program, "--dry-run", "-Werror", *names], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:4000]


def test_finds_faults():
    """What the rules are about is found, and what is right is left alone."""
    good = ["{", "\tint rc = f(a,", "\t\t   b);", "\tconst struct x *p;", "", "\tg();", "}"]
    assert missing_blanks(good) == []
    assert missing_blanks(good[:4] + good[5:]) == [4]
    assert missing_blanks(["{", "\tuint8_t *p = q;", "}"]) == []
    assert missing_blanks(["{", "\tcall(a, b);", "\tp->x = 1;", "\treturn x;", "}"]) == []
    assert ERROR_VARIABLE.match("\tint code = f();") and not ERROR_VARIABLE.match("\tint rc = f();")


def fix():
    names = [str(path) for path in sources()]
    subprocess.run(["clang-format", "-i", *names], check=True)
    for path in sources():
        lines = path.read_text().split("\n")
        for at in reversed(missing_blanks(lines)):
            lines.insert(at, "")
        path.write_text("\n".join(lines))


if __name__ == "__main__" and "--fix" in sys.argv:
    fix()
