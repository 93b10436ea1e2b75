#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes into the pages of this folder what the simulator prints.

usage: update_tables.py [--threads N] [--state FOLDER] HEDDLE [PAGE...]

HEDDLE is the built command. With --state, tables made by `run` keep their finished runs in the
folder, and go on where they were ended. Each table of a page stands between two comments. The first one
says what makes it:

    <!-- run: reproduce --quick ar-fairness -->         what `heddle` prints
    <!-- vary: SCENARIO; KEY; VALUE | VALUE...;         figures with other values of a key
         NAME, POINT | NAME, POINT... -->
    <!-- end -->

With `SCENARIO --quick` the runs are the short ones; other options may follow it. Columns of `vary`
are values of one key, and rows are expectations. (=) marks the value that the scenario has: its
column is the scenario as it is. With more than one seed, cells also have the least and the greatest
value of the seeds. Values that are lists have || between them, and may have a short name:
`NAME := VALUE || NAME := VALUE`. Figures depend on scenarios and seeds alone, not on the machine.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parents[1] / "sim" / "scenarios"
WIDTH = 120
BLOCK = re.compile(r"<!-- (run|vary): (.*?) -->\n.*?<!-- end -->", re.S)
OUTSIDE = 1  # the exit status of `heddle reproduce` if figures are outside their tolerances


class Tables:
    def __init__(self, heddle, threads, state):
        self.heddle, self.threads, self.state = heddle, threads, state
        self.found = {}  # what expectations() found before

    def run(self, *words):
        done = subprocess.run([self.heddle, words[0], "-t", str(self.threads), *words[1:]], text=True,
                              capture_output=True,
                              env=dict(os.environ, HEDDLE_SCENARIOS=str(SCENARIOS)))
        if done.returncode not in (0, OUTSIDE):
            sys.exit(f"heddle {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def printed(self, command):
        words = command.split()
        text = self.run(words[0], *(("--state", self.state) if self.state else ()), *words[1:]).strip("\n")
        lines = [row for line in text.split("\n") for row in textwrap.wrap(
            line, WIDTH, subsequent_indent="    ", drop_whitespace=len(line) > WIDTH) or [""]]
        return "\n".join(["```", f"$ heddle {command}", "", *lines, "```"])

    def varied(self, text):
        head, key, values, names = (part.strip() for part in text.split(";"))
        names = [name.strip() for name in names.split("|")]
        columns = []
        separator = "||" if "||" in values else "|"
        for value in (value.strip() for value in values.split(separator)):
            same = value.startswith("(=)")
            label, named, value = value.removeprefix("(=)").strip().partition(" := ")
            change = [] if same else ["-O", f"{key}={value if named else label}"]
            found = self.expectations(*change, *shlex.split(head))
            columns.append([label + " (=)" * same, "---", *(cell(found, name) for name in names)])
        first = [f"`{key}`", "---", *names]
        second = ["expected", "---", *(wanted(found, name) for name in names)]
        return "\n".join("| " + " | ".join(row) + " |" for row in zip(first, second, *columns))

    def expectations(self, *words):
        """{"NAME, POINT": expectation}"""
        if words not in self.found:
            report = json.loads(self.run("reproduce", "--json", *words))
            self.found[words] = {", ".join(filter(None, (row["name"], row["point"]))): row
                                 for scenario in report["scenarios"]
                                 for row in scenario["expectations"]}
        return self.found[words]

    def replacement(self, match):
        kind, what = match.groups()
        what = " ".join(what.split())
        print(f"  {kind}: {what}", file=sys.stderr, flush=True)
        table = self.printed(what) if kind == "run" else self.varied(what)
        return f"{match.group(0).split('-->')[0]}-->\n{table}\n<!-- end -->"


def cell(found, column):
    row = found[column]
    if row.get("measured") is None:
        return "-"
    text = f"{row['measured']:.4g}"
    if row["least"] != row["greatest"]:
        text += f" [{row['least']:.3g} to {row['greatest']:.3g}]"
    return text + ("" if row["verdict"] == "within" else " (outside)")


def wanted(found, column):
    row = found[column]
    sides = {"above": "> ", "below": "< "}
    return sides.get(row.get("judge"), "") + f"{row['expected']:.4g}"


def main(words):
    options = {"--threads": "2", "--state": None}
    while len(words) > 1 and words[0] in options:
        options[words[0]], words = words[1], words[2:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    tables = Tables(words[0], options["--threads"], options["--state"])
    for path in map(pathlib.Path, words[1:] or sorted(HERE.glob("*.md"))):
        print(path.name, file=sys.stderr)
        text = path.read_text()
        new = BLOCK.sub(tables.replacement, text)
        if new != text:
            path.write_text(new)


if __name__ == "__main__":
    main(sys.argv[1:])
