# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The fat tree C2 of doc/papers/ar-fairness.md end to end: OpenSM routes it with dmodk and programs adaptive
routing; what the switches then hold is read back, and simulated with the scenarios of the paper."""

import json
import os
import subprocess

import pytest

import emulator
import fabric_sim
from ar_sim import programmed
from emulator import Emulator
from fabric_sim import HEDDLE, NO_PORT, PATIENCE, SOURCE, Simulation, Topology, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
SCENARIOS = SOURCE / "sim" / "scenarios"
SHARES = [f"ar-fairness/c2-s{number}" for number in range(1, 7)]
FIGURES = 62  # of those scenarios
FAULTS = 1


class State:
    """What was read back from the switches, in files: the fabric, the tables, and the plan."""

    def __init__(self, folder):
        self.fabric, self.tables, self.plan = (folder / name for name in
                                               ("fabric.topo", "switches.lfts", "held.far"))

    def simulate(self, *scenarios, entries="", check=True):
        """{(scenario, figure, point): (verdict, paper, here)}. `entries` replace some of the tables. Ports take
        turns: by grades of load victims get more than in the paper, as doc/papers/ar-fairness.md says."""
        done = run("reproduce", "--json", *scenarios, "-O", f"fabric.file={self.fabric}",
                   "-O", "model.selection=round-robin", "-O", f"routing.tables={self.tables}", "-O", f"routing.entries={entries}",
                   "-O", f"sweep.routing.routing.ar=off | file:{self.plan}", check=check)
        return {(scenario["scenario"], row["name"], row["point"]):
                (row["verdict"], row["expected"], row["measured"])
                for scenario in json.loads(done)["scenarios"] for row in scenario["expectations"]}


def run(*arguments, check=True):
    done = subprocess.run([str(HEDDLE), *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE, env=dict(os.environ, HEDDLE_SCENARIOS=str(SCENARIOS)))
    assert done.returncode in ((0,) if check else (0, FAULTS)), done.stdout[-3000:] + done.stderr
    return done.stdout


def held_text(fabric, tables, held):
    """What the emulated switches hold, in the form of a .far file, without any code of heddle: the
    adaptive entries and groups of those that have adaptive routing on, the forwarding table of the
    others."""
    names = {node: name for name, node in Topology(fabric).names.items()}
    lines = []
    for guid, row in sorted(fabric_sim.tables(tables).items()):
        switch = held[guid]
        entries = {lid: ("static", port, None) for lid, port in enumerate(row) if port != NO_PORT}
        groups = {}
        if switch["enabled"]:
            groups = {group: ports for (_, _, group, _), ports in switch["groups"].items() if ports}
            entries = {lid: entry[:2] + (entry[3],) for (_, lid), entry in switch["lft"].items()
                       if entry[:2] != ("static", NO_PORT)}
        lines += [f"Switch 0x{guid:016x} ('{names[guid]}') table 0", "(Group - Sub-group) : Ports"]
        lines += [f"{group} - 0 : " + " ".join(f"{port}," for port in sorted(ports))
                  for group, ports in sorted(groups.items())]
        lines += ["LID : Static port : State : Group"]
        lines += [f"0x{lid:04x} : {port} : {state} : {'-' if state == 'static' else group}"
                  for lid, (state, port, group) in sorted(entries.items())]
        lines += [""]
    return "\n".join(lines) + "\n"


def bring_up(folder, mode):
    """OpenSM with dmodk and adaptive routing, until the switches hold the plan."""
    emulated, state = Emulator(), State(folder)
    netlist = generate(folder, "xgft", "--children=3,4", "--parents=1,2")
    with Simulation(netlist, emulator=emulated) as simulation:
        conf = f"[ar]\nalgorithm = tree\nmode = {mode}\n"
        with simulation.opensm("ar_dmodk", heddle_conf=conf) as opensm:
            programmed(opensm)
            state.fabric.write_text(simulation.discover().read_text())
            state.tables.write_text(simulation.read_tables().read_text())
            status = json.loads(simulation.run(HEDDLE, "ar", "status", "--json", "--timeout", 10000, "--config", opensm.conf,
                                               "-o", state.plan, state.fabric, state.tables))
            held = emulated.tables()
    assert status["differences"] == status["unread"] == 0
    assert [switch["adaptive"] for switch in status["switches"]] == [9, 9, 9, 9, 0, 0]
    assert state.plan.read_text() == held_text(state.fabric, state.tables, held)
    return state


@pytest.fixture(scope="module", name="free")
def fixture_free(tmp_path_factory):
    return bring_up(tmp_path_factory.mktemp("free"), "free")


def test_what_was_read_back_is_the_plan(free, tmp_path):
    """The file that `heddle ar status` wrote of what the switches hold is, byte for byte, the one that
    `heddle ar plan` writes for the tables that were read back. `heddle check` proves it, and
    `heddle ebb` counts flows on it as on the plan."""
    run("ar", "plan", "--algorithm", "tree", "--mode", "free", "-o", tmp_path, free.fabric, free.tables)
    assert free.plan.read_text() == (tmp_path / "heddle.far").read_text()
    run("check", "--plan", free.plan, free.fabric, free.tables)
    ours, held = (run("ebb", "--json", "-n", 200, "--plan", plan, free.fabric, free.tables).replace(str(plan), "")
                  for plan in (tmp_path / "heddle.far", free.plan))
    assert ours == held


def test_shares_are_those_of_the_paper(free):
    """All shares of the scenarios C2 S1 to S6 come out within the paper's tolerance of 3%."""
    rows = free.simulate(*SHARES)
    assert len(rows) == FIGURES
    for row, (verdict, paper, here) in rows.items():
        assert verdict == "within" and abs(here / paper - 1) <= 0.03, (row, paper, here)


def test_only_shares_without_adaptive_routing_depend_on_the_tables(free):
    """The paper fixes the tables: here one leaf sends to the hot host by the other root switch than
    dmodk. Deterministic shares of all scenarios but S1 then are others, that of the victim, too; those
    with adaptive routing stay."""
    told = free.simulate(*SHARES)
    other = free.simulate(*SHARES, entries="S1_1 H_0_0 5", check=False)
    changed = {row for row in told if abs(other[row][2] / told[row][2] - 1) > 0.03}
    assert {point.split(",")[0] for _, _, point in changed} == {"deterministic"}
    assert {scenario[-2:] for scenario, _, _ in changed} == {"s2", "s3", "s4", "s5", "s6"}
    assert ("ar-fairness/c2-s5", "victim", "deterministic") in changed


def test_bounded_entries_keep_the_path_of_a_flow_that_does_not_pause(tmp_path):
    """With bounded entries, the default of heddle.conf, the same flows never pause for the ageing time:
    none of them moves, and all shares are those of the deterministic tables."""
    rows = bring_up(tmp_path, "bounded").simulate(*SHARES, check=False)
    pairs = 0
    for (scenario, name, point), (_, _, here) in rows.items():
        if point.startswith("adaptive"):
            twin = rows[scenario, name, point.replace("adaptive", "deterministic")]
            assert abs(here / twin[2] - 1) <= 0.03, (scenario, name, point)
            pairs += 1
    assert pairs == FIGURES // 2


def test_a_planners_question(free):
    """One command answers how long an all-to-all takes on the fabric as it was read back: with its
    tables as with those of dmodk computed here, with the plan that was read back as with the one
    that `--ar` makes, and shorter with adaptive routing than without."""
    question = ("sim", "--json", "--fabric", free.fabric, free.tables, "--size", "1MiB")
    tables, adaptive = times(run(*question, "--ar"))
    ours, _, held = times(run(*question, "-e", "dmodk", "--plan", free.plan))
    assert ours == tables and held == adaptive
    assert adaptive < 0.9 * tables


def times(report):
    """The time of the all-to-all at each point."""
    return [figure["mean"] for point in json.loads(report)["points"]
            for figure in point["figures"] if figure["name"].startswith("collective.time@")]
