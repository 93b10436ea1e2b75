# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep, live: a lost cable or switch is repaired between the trap and the sweep. The
sweep that follows changes no entry, and an independent checker finds no fault in the switches."""

import re
import time

import fabric_sim
import flaps
import independent_check
import pytest
from emulator import Emulator

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

REPAIRED = r"heddle: repaired lost .*?: (\d+) entries on (\d+) switches in (\d+) ms"
NO_CHANGE = " 0 entries changed"
LFT = 0x19  # attribute


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    netlist = fabric_sim.generate(tmp_path_factory.mktemp("repair"), "xgft", "--children=6,6,6", "--parents=1,6,6")
    # each umad port of a process needs its own answers, as the kernel gives them
    with fabric_sim.Simulation(netlist, agents=True) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", heddle_conf="[repair]\nenable = yes\n")
        with opensm:
            yield simulation, opensm


def switches_of(simulation):
    """{name: (node ID of ibsim, {port: name of the neighbour})} of the intact fabric."""
    text = simulation.netlist.read_text()
    found = {}
    for block in re.split(r"\n(?=Switch\s)", text):
        head = re.match(r'Switch\s+\d+\s+"(S-\w+)"\s+# "([^"]+)"', block)
        if head:
            found[head[2]] = (head[1], dict(re.findall(r'(?m)^\[(\d+)\].*# "([^"]+)"', block)))
    return found


def cable(simulation, near, far):
    """ibsim's name of the first cable from one switch to another."""
    node, ports = switches_of(simulation)[near]
    return f'"{node}"[{next(port for port, name in ports.items() if name == far)}]'


def all_cables(simulation, name):
    node, ports = switches_of(simulation)[name]
    return [f'"{node}"[{port}]' for port in ports]


def faults(simulation):
    """What the independent checker finds in the fabric and the tables that ibsim has now."""
    fabric = independent_check.read_fabric(simulation.discover().read_text())
    tables = independent_check.read_tables(simulation.read_tables().read_text(), fabric)
    return independent_check.check(fabric, tables)


def lose(simulation, opensm, cables):
    """Unlinks all cables. Returns the log up to the end of the sweeps."""
    since = len(opensm.log())
    simulation.command("\n".join(f"Unlink {one}" for one in cables))
    opensm.wait_for("SUBNET UP", since)
    time.sleep(0.5)  # traps during the sweep make another one
    return opensm.log()[since:]


def restore(simulation, opensm, cables):
    simulation.command("\n".join(f"ReLink {one}" for one in cables))
    since = len(opensm.log())
    opensm.sweep_until(r"new |0 entries changed", since=since)
    opensm.sweep()


def spine_of(simulation, leaf):
    return next(name for name in switches_of(simulation)[leaf][1].values() if name.startswith("S2"))


@pytest.mark.parametrize("what", ["leaf cable", "spine cable"])
def test_a_lost_cable_is_repaired_before_the_sweep(running, what):
    simulation, opensm = running
    near = "S1_3_0" if what == "leaf cable" else "S3_3_0"
    far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
    cables = [cable(simulation, near, far)]
    log = lose(simulation, opensm, cables)
    repaired = re.search(REPAIRED, log)
    assert repaired, log
    assert int(repaired[1]) > 0
    lines = [line for line in log.splitlines() if "entries changed" in line]
    assert lines and all(NO_CHANGE in line for line in lines), lines
    assert log.index("repaired lost") < log.index("entries changed")
    assert not faults(simulation)
    restore(simulation, opensm, cables)


def test_a_lost_spine_is_repaired_before_the_sweep(running):
    simulation, opensm = running
    spine = spine_of(simulation, "S1_3_0")
    cables = all_cables(simulation, spine)
    log = lose(simulation, opensm, cables)
    assert re.search(REPAIRED, log), log
    lines = [line for line in log.splitlines() if "entries changed" in line]
    assert lines and NO_CHANGE in lines[-1], lines
    assert not faults(simulation)
    restore(simulation, opensm, cables)


def test_a_host_that_goes_away_leaves_holes(running):
    simulation, opensm = running
    node, ports = switches_of(simulation)["S1_5_5"]
    port = next(port for port, name in ports.items() if name.startswith("H"))
    log = lose(simulation, opensm, [f'"{node}"[{port}]'])
    assert re.search(REPAIRED, log), log
    assert not faults(simulation)
    restore(simulation, opensm, [f'"{node}"[{port}]'])


def test_what_comes_up_is_left_to_the_sweep(running):
    simulation, opensm = running
    cables = [cable(simulation, "S1_3_0", spine_of(simulation, "S1_3_0"))]
    lose(simulation, opensm, cables)
    since = len(opensm.log())
    simulation.command(f"ReLink {cables[0]}")
    opensm.sweep_until("new cable|0 entries changed", since=since)
    assert "repaired" not in opensm.log()[since:]
    assert not faults(simulation)


def test_a_burst_of_changes_costs_few_lines_and_leaves_no_fault(running):
    """A cable that flaps sends hundreds of traps within a second; a second one is lost meanwhile."""
    simulation, opensm = running
    flapping, lost = cable(simulation, "S1_2_1", "S2_2_3"), cable(simulation, "S1_4_1", "S2_4_3")
    since = len(opensm.log())
    simulation.command("\n".join([f"Unlink {flapping}\nReLink {flapping}"] * 100 + [f"Unlink {lost}"]))
    opensm.wait_for("SUBNET UP", since)
    time.sleep(2)
    opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
    log = opensm.log()[since:]
    assert len(re.findall("no repair before the sweep", log)) <= 5
    assert not faults(simulation)
    restore(simulation, opensm, [lost])


@pytest.mark.parametrize("fabric, engine, options", [("irregular", "spf", {}), ("two-level-sharp", "dmodk", {"lmc": 2})])
def test_random_losses_are_repaired(tmp_path, fabric, engine, options):
    """Lanes, aggregation nodes and several LIDs: the independent checker looks after each event."""
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    notes = []
    done, _ = flaps.run(netlist, engine, f"repair {fabric}", 4, options=options, repair=True, notes=notes)
    assert [(event.what, event.faults[:3]) for event in done if event.faults] == []
    assert any(note.startswith("repaired") for note in notes), notes


def test_a_switch_that_takes_no_table_stops_the_repair(tmp_path):
    """What the others have taken stays, and the sweep completes it once the switch answers again."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    emulated = Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation:
        with fabric_sim.OpenSM(simulation, "dmodk", heddle_conf="[repair]\nenable = yes\n",
                               options={"transaction_timeout": 20, "transaction_retries": 1}) as opensm:
            time.sleep(0.3)
            near = next(name for name in switches_of(simulation) if name.startswith("S1_2"))
            far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
            mute = int(switches_of(simulation)[near][0].split("-")[1], 16)
            emulated.fault(mute, "silent", attribute=LFT, method="set")
            since = len(opensm.log())
            simulation.command(f"Unlink {cable(simulation, near, far)}")
            opensm.wait_for("no repair before the sweep", since)
            assert "did not answer" in opensm.log()[since:]
            emulated.heal()
            opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
            opensm.sweep()
            assert not faults(simulation)


def test_opensm_that_is_killed_during_a_repair_starts_again(tmp_path):
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    with fabric_sim.Simulation(netlist, agents=True) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", heddle_conf="[repair]\nenable = yes\n")
        with opensm:
            time.sleep(0.3)
            near = next(name for name in switches_of(simulation) if name.startswith("S1_2"))
            far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
            simulation.process.stdin.write(f"Unlink {cable(simulation, near, far)}\n".encode())
            simulation.process.stdin.flush()
            time.sleep(0.003)
            opensm.process.kill()
        opensm.once()
        assert not faults(simulation)
