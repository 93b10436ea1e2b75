# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demonstration: Heddle's dmodk beside OpenSM's minhop and ftree on a simulated fat tree."""

import json
import pathlib
import re
import sys
import tempfile
import time

import fabric_sim

FABRIC = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")
PATTERNS = 10000
ENGINES = (("dmodk", "Heddle"), ("minhop", "OpenSM"), ("ftree", "OpenSM"))


def step(text):
    print(f"-- {text}", flush=True)


def sweep_line(log):
    """Heddle's line about the last sweep in OpenSM's log."""
    lines = [line for line in log.splitlines() if "heddle" in line and "switches" in line]
    return re.sub(r"^.*?-> [\w ]+: ", "", lines[-1]) if lines else ""


def ask(*command):
    """The JSON report of a heddle command. Status 1 means that the report has findings."""
    done = fabric_sim.heddle(*command, "--json", check=False)
    if done.returncode == 2:
        sys.exit(f"demo: {done.stderr}")
    return json.loads(done.stdout)


def route(netlist, engine):
    """Routes the simulated fabric and reads the tables from its switches."""
    with fabric_sim.Simulation(netlist) as fabric:
        log = fabric.opensm(engine).once()
        topology = fabric.discover()
        tables = fabric.folder / "switches.lfts"
        tables.write_text(fabric.run("dump_fts"))
        report = ask("check", topology, tables)
        report["ebb"] = ask("ebb", topology, tables, "--count", PATTERNS)
    return report, log


def row(engine, origin, report):
    flows, hops = report["flows"], report["hops"]
    unreachable = report["no_route"] + report["dead_end"] + report["loop"]
    return (f"{engine:8} {origin:8} {report['paths']:7} {unreachable:11} "
            f"{'none' if not report['credit_loops'] else report['credit_loops']:>12} "
            f"{hops['mean']:6.2f} {flows['min']:6} {flows['mean']:7.1f} {flows['max']:6} "
            f"{report['ebb']['mean']:9.3f}")


def main():
    missing = fabric_sim.missing_tools()
    if missing:
        sys.exit("demo: missing: " + ", ".join(missing))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heddle-demo-") as folder:
        netlist = pathlib.Path(folder) / "fabric.net"
        step("a 216-host fat tree, XGFT(3;6,6,6;1,6,6): heddle topo generate " + " ".join(FABRIC))
        fabric_sim.heddle("topo", "generate", *FABRIC, "-o", netlist)
        rows = []
        for engine, origin in ENGINES:
            step(f"ibsim, OpenSM with `routing_engine {engine}`, dump_fts reads the tables, "
                 "heddle check, heddle ebb")
            report, log = route(netlist, engine)
            if origin == "Heddle":
                print(f"   OpenSM's log: {sweep_line(log)}")
                if not report["clean"]:
                    sys.exit("demo: the tables in the switches are not clean")
            rows.append(row(engine, origin, report))
    print()
    print("                           unreach-        credit   mean   routes over a link"
          "    bisection")
    print("engine   from       paths         able         loops   hops    min    mean    max"
          " bandwidth")
    print("\n".join(rows))
    print(f"\nDone in {time.monotonic() - started:.0f} s. Routes over a link: for all-to-all traffic; "
          "a maximum of 210 is optimal\n(6 hosts send to 210 others over 6 links up). Bisection "
          f"bandwidth: the mean share of its link that\na host gets, over {PATTERNS} random "
          "bisections. Unreachable for ftree: paths from switch to switch.\n"
          "Next: README.md, `heddle --help`.")



if __name__ == "__main__":
    main()
