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
    <!-- figures: SCENARIO...; NAME := OPTIONS ||       all figures of complete runs, and which of
         NAME := OPTIONS ... -->                        these changes each of them depends on
    <!-- end -->

With `SCENARIO --quick` the runs are the short ones; other options may follow it. Columns of `vary`
are values of one key, and rows are expectations. (=) marks the value that the scenario has: its
column is the scenario as it is. With more than one seed, cells also have the interval of 95% confidence. Values that are lists have || between them, and may have a short name:
`NAME := VALUE || NAME := VALUE`. `figures` takes the figures of complete runs from sim/scenarios and verdicts other than
`within` from tests/integration/reproduce_misses.txt. It makes short runs with each change: a figure depends on those that
move it by more than a tenth. Figures depend on scenarios and seeds alone, not on the machine.
"""
import csv
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
MISSES = HERE.parents[1] / "tests" / "integration" / "reproduce_misses.txt"
BLOCK = re.compile(r"<!-- (run|vary|figures): (.*?) -->\n(.*?)<!-- end -->", re.S)
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

    def figures(self, text):
        scenarios, changes = (part.strip() for part in (text + ";").split(";")[:2])
        changes = [tuple(map(str.strip, change.split(":="))) for change in changes.split("||") if change.strip()]
        lines = []
        for scenario in scenarios.split():
            base = self.expectations("--quick", scenario) if changes else {}
            complete, verdicts = stored(scenario), misses(scenario)
            varied = {name: self.expectations("--quick", scenario, *shlex.split(options))
                      for name, options in changes}
            full = any(row["full"] != "-" for row in complete.values())
            lines += ["", f"`{scenario}`:", "", "| figure | paper | ours |" + " full at |" * full + " verdict |"
                      + " depends on |" * bool(changes), "|---|---|---|---|" + "---|" * full + "---|" * bool(changes)]
            for name, row in complete.items():
                needs = [change for change, found in varied.items()
                         if name in base and moved(base[name], found.get(name))]
                depends = ", ".join(needs) or ("none of them" if name in base else "not tried")
                lines.append(f"| {name} | {row['paper']} | {row['ours']} |" + f" {row['full']} |" * full +
                             f" {verdicts.get(name, 'within')} |" + f" {depends} |" * bool(changes))
        return "\n".join(lines[1:] + [""])

    def replacement(self, match):
        kind, what, _ = match.groups()
        what = " ".join(what.split())
        print(f"  {kind}: {what}", file=sys.stderr, flush=True)
        table = {"run": self.printed, "vary": self.varied, "figures": self.figures}[kind](what)
        return f"{match.group(0).split('-->')[0]}-->\n{table}\n<!-- end -->"


def cell(found, column):
    row = found[column]
    if row.get("measured") is None:
        return "-"
    text = f"{row['measured']:.4g}"
    if row["low"] != row["high"]:
        text += f" [{row['low']:.3g} to {row['high']:.3g}]"
    return text + (" (outside)" if row["verdict"] == "outside" else "")


def stored(scenario):
    """{"NAME, POINT": what the complete runs have found}"""
    experiment = SCENARIOS / scenario.split("/")[0]
    with open(experiment / "figures.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["runs"] == "complete" and row["scenario"] == scenario]
    return {", ".join(filter(None, (row["figure"], row["point"]))): {
        "paper": row["paper"], "full": row["full"] or "-",
        "ours": f"{float(row['value']):.4g}" + (f" [{float(row['low']):.3g} to {float(row['high']):.3g}]"
                                                if row["low"] != row["high"] else "")} for row in rows}


def misses(scenario):
    """{"NAME, POINT": verdict}"""
    heads = [line.split(": ", 3) for line in MISSES.read_text().split("\n") if line[:1] not in ("", " ", "#")]
    return {", ".join(filter(None, head[2:])): head[0] for head in heads if head[1] == scenario}


def moved(before, now):
    if now is None or now.get("measured") is None or before.get("measured") is None:
        return True
    return abs(now["measured"] - before["measured"]) > 0.1 * abs(before["measured"])


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
