# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The watcher, live: a loss whose trap is lost at both ends is found by a poll, and repaired. And: a repair asks for
the states of all ports in one SMP where a switch has that table. With sweep_interval 0 OpenSM does not look by
itself."""

import json
import re

import emulator
import fabric_sim
import pytest
from emulator import PORT_INFO, PORT_STATES, Emulator
from fabric_sim import OpenSM, Simulation, generate, heddle, wait_until
from repair_sim import REPAIR, all_cables, cable, faults, lose, spine_of, switches_of, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"missing: {fabric_sim.missing_tools() + emulator.missing()}")

WATCH = REPAIR + "watch_ms = 300\n"
FOUND = r"heddle: poll (\d+): port (\d+) of switch '(.*)' is down, and no trap has told of it"


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("watch"), "xgft", "--children=4,4,4", "--parents=1,4,4")


def status(opensm):
    return json.loads(heddle("status", "--json", "-s", opensm.status_socket(), check=False).stdout)["parts"]["repair"]


def wait_for_polls(opensm, count):
    """Waits for the ends of so many polls; the first one may have begun before."""
    enough = status(opensm)["watch_polls"] + count
    wait_until(lambda: status(opensm)["watch_polls"] >= enough, "polls")


def lose_unnoticed(simulation, opensm, cables):
    """Unlinks cables, and no trap tells of it. Returns the log up to the end of the sweep."""
    wait_until_ready(opensm)
    wait_for_polls(opensm, 1)
    since, polls = len(opensm.log()), None
    lost = simulation.emulator.traps_lost()
    simulation.command("\n".join(f"Unlink {one}" for one in cables))
    polls = status(opensm)["watch_polls"]
    found = opensm.wait_for_match(FOUND, since)
    # a poll may have been under way when the cable was lost; the next one finds it
    assert int(found[1]) <= polls + 2
    opensm.wait_for("SUBNET UP", found.end())
    log = opensm.log()[since:]
    assert simulation.emulator.traps_lost() > lost and "log_trap_info" not in log
    return log


def check_repaired(simulation, log):
    """The repair comes before the routing of the sweep, which changes nothing."""
    assert re.search(r"heddle: repaired lost .*?: \d+ entries", log), log
    lines = [line for line in log.splitlines() if "entries changed" in line]
    assert lines and all(" 0 entries changed" in line for line in lines), lines
    assert log.index("no trap has told") < log.index("repaired lost") < log.index("entries changed")
    assert not faults(simulation)


@pytest.mark.parametrize("which, lost", [("yes", "cable"), ("no", "cable"), ("share=0.5", "cable"),
                                         ("share=0.5", "spine"), ("no", "host"), ("yes", "host")])
def test_a_loss_without_traps_is_found_and_repaired(tree, which, lost):
    emulated = Emulator(setup=[f"states all {which}"])
    with Simulation(tree, emulator=emulated) as simulation:
        with OpenSM(simulation, "dmodk", heddle_conf=WATCH) as opensm:
            line = opensm.wait_for_match(r"heddle: watching 48 switches every 300 ms: (\d+) SMPs, (\d+) switches by "
                                         r"SwitchPortStateTable, (\d+) by PortInfo")
            smps, tables, singly = map(int, line.groups())
            ends = sum(len(ports) for _, ports in switches_of(simulation).values())
            assert tables + singly == 48
            assert (smps, tables) == {"yes": (48, 48), "no": (ends, 0)}.get(which, (smps, tables))
            assert which != "share=0.5" or (10 < tables < 38 and 48 < smps < ends)
            emulated.traps(False)
            node, ports = switches_of(simulation)["S1_2_2"]
            cables = {"cable": [cable(simulation, "S1_2_2", spine_of(simulation, "S1_2_2"))],
                      "spine": all_cables(simulation, spine_of(simulation, "S1_2_2")),
                      "host": [f'"{node}"[{next(port for port, name in ports.items() if name.startswith("H"))}]']}[lost]
            check_repaired(simulation, lose_unnoticed(simulation, opensm, cables))
            assert status(opensm)["watch_found"] == 1 and status(opensm)["traps"] == 0


def test_a_silent_switch_is_no_loss(tree):
    emulated = Emulator(setup=["states all yes"])
    with Simulation(tree, emulator=emulated) as simulation:
        with OpenSM(simulation, "dmodk", heddle_conf=WATCH + "watch_mads = 500\n") as opensm:
            wait_for_polls(opensm, 1)
            since = len(opensm.log())
            guid = int(switches_of(simulation)["S1_2_2"][0].split("-")[1], 16)
            emulated.fault(guid, "silent", attribute=PORT_STATES)
            wait_until(lambda: status(opensm)["watch_silent"] == 1, "a poll with a silent switch")
            wait_for_polls(opensm, 2)
            emulated.heal()
            wait_until(lambda: status(opensm)["watch_silent"] == 0, "a poll in which all switches answer")
            assert status(opensm)["watch_found"] == 0
            assert opensm.log()[since:] == ""


def test_a_switch_that_has_no_table_after_all(tree):
    """It says that it has the table, and refuses it: it is asked for each port."""
    emulated = Emulator(setup=["states all yes", f"fault all refuse=0x0c attribute={PORT_STATES}"])
    with Simulation(tree, emulator=emulated) as simulation:
        with OpenSM(simulation, "dmodk", heddle_conf=WATCH) as opensm:
            wait_for_polls(opensm, 2)
            emulated.traps(False)
            log = lose_unnoticed(simulation, opensm, [cable(simulation, "S1_2_2", spine_of(simulation, "S1_2_2"))])
            check_repaired(simulation, log)


def test_no_polls_unless_wanted(tree):
    """By default nothing is polled: a loss without a trap is not found. With a trap, a repair asks each switch once."""
    emulated = Emulator(setup=["states all yes"])
    with Simulation(tree, emulator=emulated) as simulation:
        with OpenSM(simulation, "dmodk", heddle_conf=REPAIR) as opensm:
            wait_until_ready(opensm)
            emulated.zero()
            one = cable(simulation, "S1_2_2", spine_of(simulation, "S1_2_2"))
            log = lose(simulation, opensm, [one])
            assert "repaired lost cable" in log and "watching" not in opensm.log()
            assert not faults(simulation)
            assert 1 <= emulated.totals()[PORT_STATES, "get"] <= 8
            assert status(opensm)["watch_polls"] == 0
            assert (PORT_INFO, "get") in emulated.totals()  # of the sweeps
