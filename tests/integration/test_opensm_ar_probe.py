# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle ar probe on emulated switches that OpenSM has programmed: switches that can do nothing, old ones and new ones,
and some that deviate. It sends no Set."""

import json
import subprocess

import pytest

import emulator
import fabric_sim
import schemas
from ar_sim import programmed
from emulator import Emulator
from fabric_sim import HEDDLE, PATIENCE, Simulation, generate

missing = fabric_sim.missing_tools() + emulator.missing()
pytestmark = pytest.mark.skipif(bool(missing), reason=f"missing: {missing}")

AR = "[ar]\nenable = yes\n"
RECORDS = {"capability-mask", "ar-info", "table-shift"}
TABLES = {"group-ports", "static-port"}


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("probe"), "xgft", "--children", "4,4", "--parents", "1,4")


def run(simulation, *arguments, status=None):
    done = subprocess.run([HEDDLE, "ar", *map(str, arguments)], cwd=simulation.folder, capture_output=True, text=True,
                          timeout=PATIENCE, check=False,
                          env=dict(simulation.environment, LD_PRELOAD=simulation.preload()))
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done.stdout


def probe(simulation, *more, status=None):
    """(the answer, {verdict: names of facts})"""
    answer = schemas.validate("ar probe", json.loads(
        run(simulation, "probe", "--json", "--timeout", "10000", *more, simulation.discover(), status=status)))
    verdicts = {}
    for fact in answer["facts"]:
        verdicts.setdefault(fact["verdict"], set()).add(fact["name"])
    return answer, verdicts


def program(simulation, conf=AR, line=None):
    with simulation.opensm("ar_dmodk", heddle_conf=conf) as opensm:
        programmed(opensm)
        if line:
            opensm.wait_for_match(line)


@pytest.mark.parametrize("form, confirmed", [
    ("none", {"capability-mask"}), ("old", RECORDS | TABLES | {"old-block"}), ("rev1", RECORDS | TABLES),
    ("both", RECORDS | TABLES)])
def test_kinds_of_switches(netlist, form, confirmed):
    """Nothing is contradicted; what switches cannot show is undecided."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form=form)
        simulation.opensm("ar_dmodk", heddle_conf=AR).once()
        answer, verdicts = probe(simulation, status=1 if form == "none" else 0)
        assert "contradicted" not in verdicts and verdicts["confirmed"] == confirmed
        assert answer["switches"] == answer["answered"] == 8 and answer["adaptive"] == (0 if form == "none" else 8)
        assert verdicts["not by Gets"] >= {"dead-ports", "notices-static", "static-by-ar-lft"}


def test_notices_and_neighbours(netlist):
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form="rev1", recovery="notices")
        program(simulation, AR + "fast_recovery = notices\n", "fast recovery: notices wanted; 8 switches have notices")
        verdicts = probe(simulation, status=0)[1]
        assert verdicts["confirmed"] == RECORDS | TABLES | {"pfrn-config", "first-neighbour"}


def test_a_count_less_one(netlist):
    """A switch that counts its sub-groups from 0 contradicts, and the option is named."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form="rev1", active_minus_one=1)
        program(simulation, AR + "[ar.quirks]\nactive_sub_groups = less-one\n")
        answer, verdicts = probe(simulation, status=1)
        assert verdicts["contradicted"] == {"active-sub-groups"}
        (fact,) = [fact for fact in answer["facts"] if fact["verdict"] == "contradicted"]
        assert fact["option"] == "active_sub_groups" and fact["first"].startswith("0x")


def test_bits_that_nobody_knows(netlist):
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form="rev1", record="00" * 40 + "80" + "00" * 23)
        simulation.opensm("ar_dmodk", heddle_conf=AR).once()
        answer, verdicts = probe(simulation, status=1)
        assert verdicts["contradicted"] == {"ar-info"}
        assert any("byte 40 has 0x80, known of it is 0x00" in fact["evidence"] for fact in answer["facts"])


def test_a_dump_is_compared(netlist):
    """What heddle ar status -o writes of the same switches agrees; a changed entry does not."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        program(simulation)
        run(simulation, "status", simulation.discover(), simulation.read_tables(), "-o", "held.far")
        assert "dump" in probe(simulation, "--far", "held.far", status=0)[1]["confirmed"]
        text = (simulation.folder / "held.far").read_text()
        lines = text.splitlines(keepends=True)
        number = next(i for i, line in enumerate(lines) if line.startswith("0x") and ": static :" in line)
        lid, port, rest = lines[number].split(" : ", 2)
        lines[number] = f"{lid} : {int(port) % 4 + 1} : {rest}"
        (simulation.folder / "held.far").write_text("".join(lines))
        answer, verdicts = probe(simulation, "--far", "held.far", status=1)
        assert verdicts["contradicted"] == {"dump"}
        (fact,) = [fact for fact in answer["facts"] if fact["name"] == "dump"]
        assert fact["disagree"] == 1


def test_a_report_to_send_has_no_names(netlist):
    """Neither GUIDs nor names of nodes; the records stand there once."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form="rev1", active_minus_one=1)
        program(simulation, AR + "[ar.quirks]\nactive_sub_groups = less-one\n")
        text = run(simulation, "probe", "--anonymous", simulation.discover(), status=1)
        assert "the first switch that disagrees: switch 0\n" in text and "[ar.quirks] active_sub_groups changes it" in text
        assert "S1_0" not in text and "0x00" not in text.replace("0x0000", "") and "200000" not in text
        assert text.count("GeneralInfo, switches 8:") == 1


def test_it_sends_no_set_and_reads_few_switches_in_full(netlist):
    with Simulation(netlist, emulator=Emulator()) as simulation:
        program(simulation)
        simulation.emulator.watch()
        fabric = simulation.discover()
        simulation.emulator.zero()
        answer = json.loads(run(simulation, "probe", "--json", "--switches", "3", fabric, status=0))
        assert answer["full"] == 3 and answer["adaptive"] == 8
        assert {method for (_, method), count in simulation.emulator.totals().items() if count} == {"get"}
        read = [guid for guid, counts in simulation.emulator.counters().items() if counts.get((emulator.AR_LFT, "get"))]
        assert len(read) == 3


def test_silent_switches(netlist):
    """They do not hold up the others, and decide nothing."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        program(simulation)
        fabric = simulation.discover()
        simulation.emulator.fault("all", "silent")
        answer = json.loads(run(simulation, "probe", "--json", "--timeout", "20", fabric, status=1))
        assert answer["answered"] == 0 and answer["records"] == []
        assert {fact["verdict"] for fact in answer["facts"]} == {"undecided", "not by Gets"}
