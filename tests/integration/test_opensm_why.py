# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle why reads what Debian's perfquery, ibqueryerrors and OpenSM's performance manager print of ports whose counters
are known."""

import csv
import json
import re
import socket
import subprocess

import cli_testing
import pytest
import schemas

import fabric_sim
from fabric_sim import HEDDLE, PATIENCE, PATIENT, Simulation, Topology, generate, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"needs {fabric_sim.missing_tools()}")
SET = {(1, "PortCounters.SymbolErrorCounter"): 20, (4, "PortCounters.LinkDownedCounter"): 3,
       (4, "PortCounters.PortXmitWait"): 777, (4, "PortCounters.PortXmitData"): 123456,
       (4, "PortCountersExtended.PortXmitData"): 9123456789}
PORTS = 40  # with a cable
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
                found[name].write_text(dump(opensm, folder / "dump", form))
    return found


def dump(opensm, path, form):
    """What the performance manager writes, as soon as it has read all ports, and what was set."""
    def whole():
        opensm.console(f"perfmgr dump_counters {form}")
        text = path.read_text() if path.exists() else ""
        return text if text.count("0x") == PORTS and re.search(r"777$|\t777\t", text, re.M) else None
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


# ---- a running OpenSM ----

DATA = {"PortCounters.SymbolErrorCounter": 20, "PortCounters.PortXmitWait": 777, "PortCounters.PortXmitData": 123456,
        "PortCountersExtended.PortXmitData": 9123456789}


def live(opensm, *more, status=None):
    return cli_testing.heddle("why", "--live", "-s", opensm.status_socket(), *more, status=status)


def live_report(opensm, *more):
    report = json.loads(live(opensm, "--json", "--no-try", *more)[0])
    schemas.validate("why", report)
    return report


def status_of(opensm):
    answer = json.loads(cli_testing.heddle("status", "--json", "-s", opensm.status_socket(), status=None)[0])
    schemas.validate("status", answer)
    return answer["parts"]["counters"]


def refused_live(opensm, *more):
    return cli_testing.refused("why", "--live", "-s", opensm.status_socket(), *more)


def set_counters(simulation, guid, port):
    for counter, value in DATA.items():
        simulation.command(f'PerformanceSet "S-{guid:016x}"[{port}] {counter}={value}')


def plugin_answer(opensm, request):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(opensm.status_socket()))
        client.sendall(f"{request}\n".encode())
        return client.makefile().read()


def words_sent(opensm, guid, port):
    """What the plugin answers to `counters`, of a port; None: it does not know it."""
    rows = csv.DictReader(line for line in plugin_answer(opensm, "counters").splitlines() if not line.startswith("#"))
    return next((int(row["PortXmitData"]) for row in rows if (int(row["guid"], 16), int(row["port"])) == (guid, port)),
                None)


def tables_in_blocks(text):
    """{switch GUID: ports by LID}, as fabric_sim.tables()"""
    found, row = {}, None
    for line in text.splitlines():
        if line.startswith("Blocks of switch"):
            guid = int(re.search(r"guid (0x\w+)", line).group(1), 16)
            row = found[guid] = bytearray([fabric_sim.NO_PORT]) * fabric_sim.LIDS
        elif line.startswith("block "):
            _, first, entries = line.split()
            ports = bytes.fromhex(entries)
            row[int(first, 16):int(first, 16) + len(ports)] = ports
    return found


def test_the_plugin_keeps_what_opensm_reads(tmp_path):
    """The performance manager's readings are in the answers for status, metrics and why, between the last two of them;
    errors since the first one. The tables and the fabric are those of the switches."""
    netlist = generate(tmp_path, "xgft", "--children=3,4", "--parents=1,2")
    options = {"perfmgr": "TRUE", "perfmgr_sweep_time_s": 1}
    with Simulation(netlist) as simulation, simulation.opensm("dmodk", options=options) as opensm:
        topology = Topology(simulation.discover())
        leaf = topology.names["S1_0"]
        wait_until(lambda: status_of(opensm).get("ports") == 40, "counters of all ports")
        report = live_report(opensm)
        assert (report["counters"]["ports"], report["errors"]) == (40, []) and report["counters"]["seconds"] > 0
        set_counters(simulation, leaf, 4)
        report = wait_until(lambda: (live_report(opensm, "--hot", "100")["errors"]
                                     and live_report(opensm, "--hot", "100")), "the errors that were set")
        assert errors(report) == [(4, {"SymbolErrorCounter": 20})]
        status = status_of(opensm)
        assert status["errors"] == [{"text": "'S1_0'[4]: 20 SymbolErrorCounter", "count": 20}]
        metrics = cli_testing.heddle("metrics", "-s", opensm.status_socket())[0]
        assert 'heddle_port_errors_total{counter="SymbolErrorCounter"} 20\n' in metrics
        assert "heddle_counted_ports 40\n" in metrics
        text = cli_testing.heddle("status", "-s", opensm.status_socket(), status=None)[0]
        assert "errors: 'S1_0'[4]: 20 SymbolErrorCounter\n" in text
        wait_until(lambda: words_sent(opensm, leaf, 4) < 1e6,
                   "a reading with packets of management alone")  # what was counted before counts no more
        dumped = tmp_path / "lfts"
        dumped.write_text(simulation.read_tables().read_text())
        assert tables_in_blocks(plugin_answer(opensm, "tables")) == fabric_sim.tables(dumped)
        for tables in ([], [dumped], ["-e", "dmodk"]):
            assert live_report(opensm, *tables)["counters"]["ports"] == 40


def test_live_says_what_is_missing(tmp_path):
    """Without the performance manager, without an engine of ours, and with operands that do not fit."""
    netlist = generate(tmp_path, "xgft", "--children=3,4", "--parents=1,2")
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk") as opensm:
            assert "'perfmgr TRUE' in opensm.conf" in refused_live(opensm)
            assert status_of(opensm)["summary"] == "not read: perfmgr in opensm.conf"
            assert "do not work together" in refused_live(opensm, "--before", netlist)
            assert "expected no operand" in refused_live(opensm, "-e", "dmodk", netlist)
        options = {"perfmgr": "TRUE", "perfmgr_sweep_time_s": 1}
        with simulation.opensm("minhop", options=options) as opensm:
            wait_until(lambda: status_of(opensm).get("ports") == 40, "counters of all ports")
            assert "no engine of Heddle routes" in refused_live(opensm)
            assert live_report(opensm, "-e", "dmodk")["counters"]["ports"] == 40
