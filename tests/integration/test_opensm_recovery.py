# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fast recovery of emulated switches, set up by OpenSM with the plugin."""

import json
import os

import pytest

import emulator
import fabric_sim
import recovery_sim
import schemas
from ar_sim import programmed, sweep
from emulator import KEY_INFO, NEIGHBORS_INFO, PFRN_CONFIG, Emulator
from fabric_sim import SURE, Simulation, generate, heddle

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=6,6,6", "--parents=1,6,6")  # 216 hosts
LINE = r"fast recovery: (\w+) wanted; (\d+) switches have notices, (\d+) local, (\d+) none"
LEVELS = ("off", "local", "notices")
OURS = (PFRN_CONFIG, KEY_INFO, NEIGHBORS_INFO)
# Losses of one and of two cables, for the campaign by hand.
LOSSES = int(os.environ.get("HEDDLE_RECOVERY_LOSSES", "8"))
FABRIC = os.environ.get("HEDDLE_RECOVERY_FABRIC", " ".join(TREE)).split()


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recovery")
    return lambda *fabric: generate(folder, *(fabric or TREE))


def conf(level, more=""):
    return f"[ar]\nfast_recovery = {level}\n{more}"


def said(opensm, since=0):
    """What the log says of fast recovery after a programming: {level: switches}."""
    found = opensm.wait_for_match(LINE, since)
    return dict(zip(("wanted", "notices", "local", "off"), (found.group(1), *map(int, found.groups()[1:]))))


def start(emulated, level="notices"):
    emulated.set("all", recovery=level)
    emulated.keep_tables()
    emulated.traps(False)


def expected(simulation, losses):
    """[(ends, {level: pairs})] of `heddle ar plan` for the tables in the switches: of one cable each, then of two, so many
    of each; and all pairs."""
    report = json.loads(heddle("ar", "plan", "--json", "--losses", losses, "--seed", 7, simulation.discover(),
                               simulation.read_tables()).stdout)["fast_recovery"]
    assert report["proved"]
    rows = []
    for kind in report["losses"]:
        step = max(1, len(kind["list"]) // losses)
        rows += [(recovery_sim.ends_of(loss), {level: loss[level] for level in LEVELS})
                 for loss in kind["list"][::step][:losses]]
    return rows, report["pairs"]


def check_status(simulation, leaf):
    """`heddle ar status` says of each switch what it supports and what it has, and counts them. Of `leaf` the first one has
    nothing, the second one no notices, and the two after it refuse notices."""
    inputs = simulation.discover(), simulation.read_tables()
    run = simulation.run(fabric_sim.HEDDLE, "ar", "status", "--json", "--timeout", 10000, *inputs, check=False)
    shown = {int(switch["guid"], 16): (switch["fast_recovery"]["supported"], switch["fast_recovery"]["enabled"])
             for switch in schemas.validate("ar status", json.loads(run))["switches"]}
    assert [shown[guid] for guid in leaf[:5]] == [("off", "off"), ("local", "local"), ("notices", "local"),
                                                  ("notices", "local"), ("notices", "notices")]
    text = simulation.run(fabric_sim.HEDDLE, "ar", "status", *inputs, check=False).splitlines()
    assert text[0].split()[-4:] == ["recovery", "supported", "differences", "name"]
    rows = [next(line for line in text if line.startswith(f"0x{guid:016x}")).split() for guid in leaf[:5]]
    assert [row[-4:-2] for row in rows] == [["off", "none"], ["local", "local"], ["local", "notices"],
                                            ["local", "notices"], ["notices", "notices"]]
    assert text[-2] == ("fast recovery: 104 switches have notices, 3 local, 1 none; 106 support notices, 1 local, "
                        "1 none"), text[-2]


def share(rows, pairs):
    return 100 * sum(rows) / len(rows) / pairs


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_delivered_right_after_a_loss(netlist, level):
    """Losses of one and of two cables, while OpenSM is frozen: the pairs that are delivered by what the switches hold and
    mask are those that `heddle ar plan` counts, loss by loss. No packet goes round, and no lane has a credit loop. No SMP
    was sent."""
    emulated = Emulator()
    with Simulation(netlist(*FABRIC), emulator=emulated) as simulation:
        start(emulated)
        with simulation.opensm("ar_dmodk", options=SURE, heddle_conf=conf(level)) as opensm:
            programmed(opensm)
            if level != "off":
                assert said(opensm)[level] > 0
            rows, pairs = expected(simulation, LOSSES)
            walk = recovery_sim.Walk(simulation, emulated)
            assert walk.pairs({}) == pairs
            counted = []
            with recovery_sim.frozen(opensm):
                requests = emulated.totals()
                for ends, wanted in rows:
                    with recovery_sim.dead(simulation, emulated, ends):
                        masked = emulated.masked()
                        counted.append(walk.pairs(walk.lost(set(ends), masked)))
                    assert counted[-1] == wanted[level], (ends, wanted)
                assert emulated.totals() == requests
        half = len(rows) - LOSSES
        print(f"{level}: one cable {share(counted[:half], pairs):.2f}%, two {share(counted[half:], pairs):.2f}% of "
              f"{pairs} pairs, {len(rows)} losses")


def test_switches_that_differ_or_refuse(netlist):
    """Switches without fast recovery, with a part of it, and such as refuse a MAD of it have what is left, keep their
    adaptive routing, and cost the others nothing. A sweep that changes nothing sets nothing. A switch that restarts gets
    all of it again."""
    emulated = Emulator()
    with Simulation(netlist(), emulator=emulated) as simulation:
        start(emulated)
        leaf = [guid for name, guid in sorted(recovery_sim.switches(simulation.netlist).items()) if name.startswith("S1_")]
        emulated.set(leaf[0], recovery="none")
        emulated.set(leaf[1], recovery="local")
        emulated.fault(leaf[2], "refuse=0x1c", attribute=PFRN_CONFIG)
        emulated.fault(leaf[3], "refuse=0x1c", attribute=NEIGHBORS_INFO)
        with simulation.opensm("ar_dmodk", heddle_conf=conf("notices", "notice_manager_key = 0x77\n")) as opensm:
            programmed(opensm)
            assert said(opensm) == {"wanted": "notices", "notices": 104, "local": 3, "off": 1}
            seen = emulated.masked()
            assert [(seen[guid]["local"], seen[guid]["notices"]) for guid in leaf[:5]] == [
                (False, False), (True, False), (True, False), (True, False), (True, True)]
            assert all(emulated.tables()[guid]["enabled"] for guid in leaf)
            assert opensm.log().count("refuses fast recovery") == 2
            check_status(simulation, leaf)
            emulated.zero()
            assert sweep(opensm)["sets"] == 0
            assert not any(emulated.totals().get((attribute, "set")) for attribute in OURS)
            emulated.reset(leaf[5])
            sweep(opensm)
            fabric_sim.wait_until(lambda: emulated.masked()[leaf[5]]["notices"], "notices of the switch that restarted")
            assert {guid for guid, counts in emulated.counters().items()
                    if counts.get((NEIGHBORS_INFO, "set"))} == {leaf[5]}
