#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The ingress ports that compete for one egress port, without and with adaptive routing, for 2-level
fat trees with K hosts and K up ports at each of 2K leaves: from the tables of generated fabrics, by
`heddle ar fairness`.

usage: fairness_table.py [FIRST [LAST]]    (2 20)
"""

import json
import pathlib
import sys
import tempfile

from cli_testing import generate, heddle

ROWS = ((0, "up"), (1, "down"), (0, "down"))
KINDS = ("deterministic", "adaptive")


def competing(folder, k):
    """{(level, direction, kind): (ports, of these from above, from below)} and the ports at risk. All
    ports of a row must have the same figures."""
    fabric = generate(folder / f"tree{k}", "xgft", f"--children={k},{2 * k}", f"--parents=1,{k}")
    report = json.loads(heddle("ar", "fairness", "--json", "-e", "dmodk", fabric)[0])
    assert {(row["level"], row["direction"]) for row in report["rows"]} == set(ROWS)
    figures = {}
    for row in report["rows"]:
        for kind in KINDS:
            values = [row[kind][name] for name in ("total", "uplinks", "downlinks")]
            assert all(value["min"] == value["max"] for value in values), (k, row)
            figures[row["level"], row["direction"], kind] = tuple(value["min"] for value in values)
    return figures, report["ports"]


def main(arguments):
    first, last = (int(arguments[i]) if i < len(arguments) else (2, 20)[i] for i in (0, 1))
    print("       leaf, up         spine, down      leaf, down")
    print("   K   determ.  adapt.  determ.  adapt.  determ.  adapt.")
    with tempfile.TemporaryDirectory() as folder:
        for k in range(first, last + 1):
            figures, _ = competing(pathlib.Path(folder), k)
            totals = (figures[(*row, kind)][0] for row in ROWS for kind in KINDS)
            print(f"{k:4} " + " ".join(f"{total:7}" for total in totals))


if __name__ == "__main__":
    main(sys.argv[1:])
