#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes into the pages of this folder what the simulator prints.

usage: update_tables.py [--threads N] HEDDLE [PAGE...]

HEDDLE is the built command. Each table of a page stands between two comments. The first one
says what makes it:

    <!-- run: reproduce --quick ar-fairness -->         what `heddle` prints
    <!-- vary: SCENARIO; KEY; VALUE | VALUE...; NAME, POINT | NAME, POINT... -->
                                                        figures with other values of a key
    <!-- end -->

With `SCENARIO --quick` the runs are the short ones. Rows of `vary` are values of one key, and
columns are expectations; (=) marks the value that the scenario has. Figures depend on
scenarios and seeds alone, not on the machine.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parents[1] / "sim" / "scenarios"
BLOCK = re.compile(r"<!-- (run|vary): (.*?) -->\n.*?<!-- end -->", re.S)
OUTSIDE = 1  # the exit status of `heddle reproduce` if figures are outside their tolerances


class Tables:
    def __init__(self, heddle, threads):
        self.heddle, self.threads = heddle, threads

    def run(self, *words):
        done = subprocess.run([self.heddle, words[0], "-t", str(self.threads), *words[1:]], text=True,
                              capture_output=True,
                              env=dict(os.environ, HEDDLE_SCENARIOS=str(SCENARIOS)))
        if done.returncode not in (0, OUTSIDE):
            sys.exit(f"heddle {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def printed(self, command):
        text = self.run(*command.split()).strip("\n")
        return f"```\n$ heddle {command}\n\n{text}\n```"

    def varied(self, text):
        head, key, values, columns = (part.strip() for part in text.split(";"))
        columns = [column.strip() for column in columns.split("|")]
        rows = []
        for value in (value.strip() for value in values.split("|")):
            same = value.startswith("(=)")
            value = value.removeprefix("(=)").strip()
            found = self.expectations(head.split(), f"{key}={value}")
            rows.append([value + " (=)" * same, *(cell(found, column) for column in columns)])
        first = ["expected", *(wanted(found, column) for column in columns)]
        lines = [[f"`{key}`", *columns], ["---"] * (1 + len(columns)), first, *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def expectations(self, words, assignment):
        """{"NAME, POINT": expectation}"""
        report = json.loads(self.run("reproduce", "--json", "-O", assignment, *words))
        return {", ".join(filter(None, (row["name"], row["point"]))): row
                for scenario in report["scenarios"] for row in scenario["expectations"]}

    def replacement(self, match):
        kind, what = match.groups()
        print(f"  {kind}: {what}", file=sys.stderr, flush=True)
        what_now = self.printed(what) if kind == "run" else self.varied(what)
        return f"<!-- {kind}: {what} -->\n{what_now}\n<!-- end -->"


def cell(found, column):
    row = found[column]
    if row.get("measured") is None:
        return "-"
    return f"{row['measured']:.4g}" + ("" if row["verdict"] == "within" else " (outside)")


def wanted(found, column):
    row = found[column]
    sides = {"above": "> ", "below": "< "}
    return sides.get(row.get("judge"), "") + f"{row['expected']:.4g}"


def main(words):
    threads = 2
    if words and words[0] == "--threads":
        threads, words = int(words[1]), words[2:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    tables = Tables(words[0], threads)
    for path in map(pathlib.Path, words[1:] or sorted(HERE.glob("*.md"))):
        print(path.name, file=sys.stderr)
        text = path.read_text()
        new = BLOCK.sub(tables.replacement, text)
        if new != text:
            path.write_text(new)


if __name__ == "__main__":
    main(sys.argv[1:])
