#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes into the man pages what the command knows: the tables of engines, generators and
patterns, the options and exit statuses of each command and the options of the daemons
(usage_sections.py), and what the facts of the engines decide (engine_tables.py), in README.md and
heddle.conf.example too.

usage: update_tables.py [--check] HEDDLE

HEDDLE is the built command, which knows what there is. With --check nothing is
written; the exit status is 1 when a page does not say what the command does.
"""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import engine_tables  # noqa: E402
import usage_sections  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def takes(option):
    words = []
    if "minimum" in option:
        each = " each" if option["type"] == "integer list" else ""
        words.append(f"{option['minimum']}..{option['maximum']}{each}")
    elif "choices" in option:
        words.append(option["choices"])
    elif option["type"] == "boolean":
        words.append("yes|no")
    fallback = option["default"]
    words.append("required" if fallback is None else f"default {fallback or 'none'}")
    return f"({', '.join(words)})"


def breakable(text):
    """Choices that do not fit on a line may be divided after a bar."""
    return text.replace("|", " | ") if len(text) > 60 else text


def placeholder(option):
    values = {"integer": "N", "integer list": "N,N...", "boolean": "yes|no"}
    return values.get(option["type"], "VALUE")


def generator_option(option):
    return f'.BI \\-\\-{escape(option["name"])} " {placeholder(option)}"'


def engine_option(option):
    return f'.BI "{escape(option["name"])}=" {placeholder(option)}'


def pattern_option(option):
    return engine_option(option)


def key_line(option):
    return f'.BI "{escape(option["name"])} = " {placeholder(option)}'


def table(described, option_line):
    lines = []
    for one in described:
        lines += [f".SS {escape(one['name'])}", escape(one["summary"])]
        if "needs_tree" in one:
            lines += engine_tables.fact_lines(one)
        for option in one["options"]:
            lines += [".TP", option_line(option), escape(option["summary"]),
                      breakable(escape(takes(option)))]
    return lines


def replaced(page, name, lines):
    before, rest = page.split(f'.\\" BEGIN {name}', 1)
    head, rest = rest.split("\n", 1)
    after = rest[rest.index(f'.\\" END {name}'):]
    return before + f'.\\" BEGIN {name}{head}\n' + "\n".join(lines) + "\n" + after


def main(arguments):
    check = arguments[:1] == ["--check"]
    heddle = arguments[-1]
    status = 0
    for name, file, command, option_line in (
        ("generators", "heddle-topo.1", ["topo", "generate"], generator_option),
        ("engines", "heddle-engines.1", ["engines"], engine_option),
        ("patterns", "heddle-ebb.1", ["ebb", "--patterns"], pattern_option),
        ("sections", "heddle-sim.1", ["sim", "--keys"], key_line),
        ("kinds", "heddle-sim.1", ["sim", "--kinds"], key_line),
    ):
        described = json.loads(subprocess.check_output([heddle, *command, "--json"]))
        path = HERE / file
        page = path.read_text()
        wanted = replaced(page, name, table(described, option_line))
        if page == wanted:
            continue
        if check:
            print(f"{file} is out of date: run doc/man/update_tables.py HEDDLE")
            status = 1
        else:
            path.write_text(wanted)
    return status | update_usage(heddle, check) | update_engine_tables(heddle, check)


def update_usage(heddle, check):
    """The sections that --help decides, in all pages of sections 1 and 8."""
    status = 0
    texts = usage_sections.read_texts(HERE / "options.man")
    for path in sorted(HERE.glob("*.[18]")):
        page = path.read_text()
        wanted = usage_sections.filled(heddle, page, texts)
        if page == wanted:
            continue
        if check:
            print(f"{path.name} is out of date: run doc/man/update_tables.py HEDDLE")
            status = 1
        else:
            path.write_text(wanted)
    return status


def update_engine_tables(heddle, check):
    """The tables that the facts of the engines decide, outside the man pages too."""
    status = 0
    root = HERE.parent.parent
    for path in (HERE / "heddle.conf.5", HERE / "heddle-route.1", root / "README.md",
                 root / "packaging" / "heddle.conf.example"):
        page = path.read_text()
        wanted = engine_tables.filled(heddle, page, path.name)
        if page == wanted:
            continue
        if check:
            print(f"{path.name} is out of date: run doc/man/update_tables.py HEDDLE")
            status = 1
        else:
            path.write_text(wanted)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
