# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sweeps that write in order, live: each block is replayed, and OpenSM's own blocks change nothing afterwards. A short
piece of tests/flaps/sweeps, and what bounds it."""

import json
import re
import signal

import fabric_sim
import flaps
import pytest
import sweep_campaign
from emulator import LFT, Emulator
from fabric_sim import heddle, wait_until
from repair_sim import cable, faults, switches_of
from sweep_replay import ORDERED

MISSING = fabric_sim.missing_tools() + [str(path) for path in (fabric_sim.CLOCK,) if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")

EVENTS = ["lost", "back", "engine", "lost", "again", "back", "forgotten"]
WITH_GROUPS = ["lost", "join", "back", "leave", "engine", "join", "lost", "back"]
TAKE_OVERS = ["takeover", "lost", "takeover", "back", "join", "takeover", "again"]


@pytest.mark.parametrize("fabric, engines, options, groups", [
    ("two-level-sharp", ("dmodk", "updown"), {"lmc": 2}, 0), ("torus", ("spf", "updown"), {}, 0),
    ("two-level", ("dmodk", "spf"), {}, 4)])
def test_changes(tmp_path, fabric, engines, options, groups):
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    found = []
    tally = sweep_campaign.run(netlist, engines, "short", WITH_GROUPS if groups else EVENTS,
                               lambda kind, what, faults, _: found.extend(f"{kind} {what}: {one}" for one in faults),
                               options, groups=groups)
    assert found == []
    assert tally["sweeps in order"] and tally["blocks in order"]
    assert bool(tally["multicast blocks in order"]) == bool(groups)


@pytest.mark.parametrize("fabric, engines, groups", [
    pytest.param("two-level", ("dmodk", "updown"), 0, marks=pytest.mark.alike), ("two-level-sharp", ("dmodk", "updown"), 0),
    pytest.param("two-level", ("spf", "dmodk"), 4, marks=pytest.mark.alike)])
def test_a_standby_takes_over(tmp_path, fabric, engines, groups):
    """The master is killed at rest. The standby has other tables where its engine differs, and writes them in order."""
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    found, done = [], [(None, None, 0)]

    def report(kind, what, faults, campaign):
        done.append((kind, set(what.split()) & set(engines), campaign.tally["entries in order"]))
        found.extend(f"{kind} {what}: {one}" for one in faults)

    kinds = [kind for kind in TAKE_OVERS if groups or kind != "join"]
    tally = sweep_campaign.run(netlist, engines, "standby", kinds, report, groups=groups)
    assert found == []
    assert tally["kind takeover"] == 3
    ordered = [(len(both), after - before) for (_, _, before), (kind, both, after) in zip(done, done[1:])
               if kind == "takeover"]
    assert any(count == 2 and entries for count, entries in ordered), ordered


def run_tree(folder, options):
    netlist = fabric_sim.generate(folder, "xgft", "--children=4,4,4", "--parents=1,4,4")
    emulated = Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", heddle_conf=sweep_campaign.SWEEP, options=options)
        with opensm:
            opensm.sweep_until(" 0 entries changed")
            yield simulation, opensm, emulated


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    yield from run_tree(tmp_path_factory.mktemp("sweeps"), {})


@pytest.fixture(name="patient")
def fixture_patient(tmp_path):
    """OpenSM waits for slow switches."""
    yield from run_tree(tmp_path, {"transaction_timeout": 20000})


CHANGED = r"heddle: dmodk.* [1-9]\d* entries changed"


def lose_and_restore(running, conf, prepare=None, until=CHANGED, routed=None):
    """Returns the log of a cable that is lost under other settings, from that on to the end of a sweep. It is back
    afterwards. routed() is called when there are new tables."""
    simulation, opensm, emulated = running
    one = cable(simulation, "S1_1_1", next(name for name in switches_of(simulation)["S1_1_1"][1].values()
                                           if name.startswith("S2")))
    opensm.write_heddle_conf(conf)
    opensm.sweep()
    since = len(opensm.log())
    if prepare:
        prepare(emulated)
    simulation.command(f"Unlink {one}")
    opensm.process.send_signal(signal.SIGHUP)
    if routed:
        opensm.wait_for_match(CHANGED, since)
        routed()
    opensm.wait_for_match(until, since)
    wait_until(lambda: not emulated.waiting(), "slow switches")  # what is healed overtakes
    emulated.heal()
    opensm.sweep_until(" 0 entries changed")
    log = opensm.log()[since:]
    assert not faults(simulation)
    opensm.write_heddle_conf(sweep_campaign.SWEEP)
    since = len(opensm.log())
    simulation.command(f"ReLink {one}")
    opensm.sweep_until("new cable", since=since)
    opensm.sweep_until(" 0 entries changed")
    return log


def test_it_is_off_by_default(running):
    assert "in order" not in lose_and_restore(running, "")


def test_too_many_entries_are_left_to_opensm(running):
    log = lose_and_restore(running, sweep_campaign.SWEEP + "max_entries = 3\n")
    assert re.search(r"ERR HD16: OpenSM writes \d+ entries on \d+ switches in an order of its own: more than "
                     r"max_entries = 3", log), log


def test_a_silent_switch_costs_only_itself(running):
    """It takes no block for a while. The others have theirs, and the sweep ends in time."""
    simulation = running[0]
    spine = next(name for name in switches_of(simulation)["S1_2_1"][1].values() if name.startswith("S2"))
    guid = int(switches_of(simulation)[spine][0].split("-")[1], 16)
    log = lose_and_restore(running, sweep_campaign.SWEEP,
                           lambda emulated: emulated.fault(guid, "silent", attribute=LFT, method="set"), ORDERED)
    done = re.search(ORDERED, log)
    assert done and int(done[1]) > 0, log
    assert int(done[6]) == 0 or "ERR HD16: OpenSM writes" in log, log


def test_status_counts(running):
    opensm = running[1]
    part = json.loads(heddle("status", "--json", "-s", opensm.status_socket(), check=False).stdout)["parts"]["sweep"]
    assert part["ordered"] and part["sweeps"] > 0 and part["entries"] > 0


def test_limit_ms_ends_it(patient):
    """Switches take blocks late. OpenSM writes the rest, and the sweep goes on."""
    log = lose_and_restore(patient, sweep_campaign.SWEEP.replace("limit_ms = 20000", "limit_ms = 150"),
                           lambda emulated: emulated.fault("all", "slow=1000", attribute=LFT, method="set"),
                           until="ERR HD16")
    assert re.search(r"ERR HD16: OpenSM writes \d+ entries on \d+ switches in an order of its own: limit_ms is over",
                     log), log
    done = re.search(ORDERED, log)
    assert not done or int(done[5]) < 1000, log


def test_a_trap_ends_it(patient):
    """Another cable is lost while blocks are under way. The next sweep has both losses."""
    simulation = patient[0]
    spine = next(name for name in switches_of(simulation)["S1_2_1"][1].values() if name.startswith("S2"))
    other = cable(simulation, "S1_2_1", spine)

    def lose_another():
        simulation.command(f"Unlink {other}")

    log = lose_and_restore(patient, sweep_campaign.SWEEP.replace("timeout_ms = 200", "timeout_ms = 9000"),
                           lambda emulated: emulated.fault("all", "slow=2000", attribute=LFT, method="set"),
                           until="ERR HD16", routed=lose_another)
    assert re.search(r"ERR HD16: OpenSM writes \d+ entries on \d+ switches in an order of its own: a trap came, and "
                     r"another sweep follows", log), log
    since = len(patient[1].log())
    simulation.command(f"ReLink {other}")
    patient[1].sweep_until("new cable", since=since)  # its trap may have begun a sweep already
    patient[1].sweep_until(" 0 entries changed")


@pytest.mark.parametrize("lmc", [1, 6])
def test_the_highest_lids_go(tmp_path, lmc):
    """With LMC 6 a host has a whole block. OpenSM's tables do not get shorter, but it has no entry to clear."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=3,3", "--parents=1,3")
    with fabric_sim.Simulation(netlist, clock=True) as simulation:
        options = {"lmc": lmc, "transaction_timeout": 1000}
        with simulation.opensm("dmodk", options=options, heddle_conf=sweep_campaign.SWEEP) as opensm:
            campaign = sweep_campaign.Campaign(simulation, opensm, ("dmodk",), "highest")
            owner = campaign.fabric.owner
            highest = owner[max(lid for lid, node in owner.items() if node.startswith("H-"))]
            part = next(name for name, cables in campaign.damage.parts.items() if cables == [(highest, 1)])
            campaign.damage.choose_failure = lambda: part
            for kind in ("lost", "back", "lost"):
                assert campaign.event(kind)[2] == [], kind
                assert campaign.tally["entries left to OpenSM"] == campaign.tally["entries that OpenSM changed"] == 0
            gone = sum(node == highest for node in owner.values())
            assert gone == 1 << lmc
            assert campaign.tally["entries in order"] == 3 * gone * len(campaign.fabric.switches)
