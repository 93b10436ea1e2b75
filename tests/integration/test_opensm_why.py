# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle why reads what Debian's perfquery, ibqueryerrors and OpenSM's performance manager print of ports whose counters
are known."""

import json
import re
import subprocess

import pytest

import fabric_sim
from fabric_sim import HEDDLE, PATIENCE, PATIENT, Simulation, Topology, generate, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"needs {fabric_sim.missing_tools()}")
SET = {(1, "PortCounters.SymbolErrorCounter"): 20, (4, "PortCounters.LinkDownedCounter"): 3,
       (4, "PortCounters.PortXmitWait"): 777, (4, "PortCounters.PortXmitData"): 123456,
       (4, "PortCountersExtended.PortXmitData"): 9123456789}
ERRORS = [(1, {"SymbolErrorCounter": 20}), (4, {"LinkDownedCounter": 3})]


@pytest.fixture(scope="module", name="dumps")
def fixture_dumps(tmp_path_factory):
    """{name: file} of what the tools print, with the fabric and its tables."""
    folder = tmp_path_factory.mktemp("why")
    found = {name: folder / name for name in (
        "fabric", "tables", "loop", "extended", "both", "errors", "data", "counters", "details", "people", "programs")}
    netlist = generate(folder, "xgft", "--children=3,4", "--parents=1,2")
    options = {"perfmgr": "TRUE", "perfmgr_sweep_time_s": 1, "console": "local"}
    with Simulation(netlist) as simulation:
        with simulation.opensm("minhop", options={**options, "event_db_dump_file": folder / "dump"}) as opensm:
            found["fabric"].write_text(simulation.discover().read_text())
            found["tables"].write_text(simulation.read_tables().read_text())
            topology = Topology(found["fabric"])
            leaf = topology.names["S1_0"]
            for (port, counter), value in SET.items():
                simulation.command(f'PerformanceSet "S-{leaf:016x}"[{port}] {counter}={value}')
            lid = topology.lids[leaf][0]
            for name, words in {"loop": ["perfquery", "-l"], "extended": ["perfquery", "-x", "-l"]}.items():
                found[name].write_text(simulation.run(*words, *PATIENT, lid, 255))
            found["both"].write_text(found["extended"].read_text() + found["loop"].read_text())
            for name, words in {"errors": [], "data": ["--data"], "counters": ["--counters"],
                                "details": ["--details", "--report-port"]}.items():
                found[name].write_text(simulation.run("ibqueryerrors", *words, *PATIENT, check=False))
            for name, form in (("people", ""), ("programs", "mach")):
                found[name].write_text(dump(opensm, folder / "dump", form, f"{leaf:x}"))
    return found


def dump(opensm, path, form, guid):
    """What the performance manager writes, as soon as it has read the ports twice."""
    def whole():
        opensm.console(f"perfmgr dump_counters {form}")
        text = path.read_text() if path.exists() else ""
        return text if re.search(rf"0x{guid}.*\b4\b", text) and re.search(r"777$|\t777\t", text, re.M) else None
    return wait_until(whole, "counters of OpenSM's performance manager")


def why(dumps, name, *more):
    done = subprocess.run([HEDDLE, "why", "--json", "--no-try", *more, dumps["fabric"], dumps["tables"], dumps[name]],
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def errors(report):
    return [(row["port"], row["counters"]) for row in sorted(report["errors"], key=lambda row: row["port"])]


@pytest.mark.parametrize("name, form, ports", [
    ("loop", "perfquery", 5), ("extended", "perfquery", 5), ("both", "perfquery", 5), ("errors", "ibqueryerrors", 2),
    ("data", "ibqueryerrors", 2), ("counters", "ibqueryerrors", 40), ("details", "ibqueryerrors", 2),
    ("people", "OpenSM's performance manager", 40), ("programs", "OpenSM's performance manager", 40)])
def test_what_tools_print_is_read(dumps, name, form, ports):
    """All ports that are there, and no sums over them."""
    report = why(dumps, name)
    assert (report["counters"]["form"], report["counters"]["ports"]) == (form, ports)
    assert errors(report) == ([] if name in ("extended", "counters") else ERRORS)


def test_bytes_are_those_that_were_set(dumps):
    """Some packets of management come on top."""
    report = why(dumps, "counters", "--hot", "100")
    found = [link["bytes"] for link in report["hot"] if (link["from"]["name"], link["from"]["port"]) == ("S1_0", 4)]
    assert len(found) == 1 and 0 <= found[0] - 4 * SET[4, "PortCountersExtended.PortXmitData"] < 4e6


@pytest.mark.parametrize("name", ["people", "programs"])
def test_the_performance_manager_says_in_which_time(dumps, name):
    assert why(dumps, name)["counters"]["seconds"] >= 1
