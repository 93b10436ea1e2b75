# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep, live, with random losses, switches that take no table, and an OpenSM that is
killed."""

import json
import re
import time

import fabric_sim
import flaps
import pytest
from emulator import Emulator
from repair_sim import cable, faults, switches_of, wait_until_ready

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

LFT = 0x19  # attribute


def status(opensm):
    """What `heddle status` says about repairs."""
    text = fabric_sim.heddle("status", "--json", "--socket", opensm.status_socket(), check=False).stdout
    return json.loads(text)["parts"]["repair"]


@pytest.mark.parametrize("fabric, engine, options", [("irregular", "spf", {}), ("two-level-sharp", "dmodk", {"lmc": 2})])
def test_random_losses_are_repaired(tmp_path, fabric, engine, options):
    """Lanes, aggregation nodes and several LIDs: the independent checker looks after each event."""
    netlist = fabric_sim.generate(tmp_path, *flaps.FABRICS[fabric][0])
    notes = []
    done, _ = flaps.run(netlist, engine, f"repair {fabric}", 4, options=options, repair=True, notes=notes)
    assert [(event.what, event.faults[:3]) for event in done if event.faults] == []
    assert any(note.startswith("repaired") for note in notes), notes


def test_a_switch_that_takes_no_table_stops_the_repair(tmp_path):
    """What the others have taken stays. The sweep cannot write its table either, so there is no repair after it.
    The sweep completes all once the switch answers again."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    emulated = Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation:
        with fabric_sim.OpenSM(simulation, "dmodk", heddle_conf="[repair]\nenable = yes\n",
                               options={"transaction_timeout": 500, "transaction_retries": 1}) as opensm:
            wait_until_ready(opensm)
            near = next(name for name in switches_of(simulation) if name.startswith("S1_2"))
            far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
            mute = int(switches_of(simulation)[near][0].split("-")[1], 16)
            emulated.fault(mute, "silent", attribute=LFT, method="set")
            since = len(opensm.log())
            simulation.command(f"Unlink {cable(simulation, near, far)}")
            opensm.wait_for("no repair before the sweep", since)
            assert "did not answer" in opensm.log()[since:]
            opensm.wait_for("Errors during initialization", since)
            fabric_sim.wait_until(lambda: status(opensm)["ready"], "the end of that sweep")
            since, other = len(opensm.log()), next(name for name in switches_of(simulation) if name.startswith("S1_1"))
            simulation.command(f"Unlink {cable(simulation, other, far)}")
            opensm.wait_for(f"no repair before the sweep, which does it instead: switch '{near}' has not "
                            "acknowledged its forwarding table", since)
            emulated.heal()
            opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
            opensm.sweep()
            assert not faults(simulation)


def test_opensm_that_is_killed_during_a_repair_starts_again(tmp_path):
    """A switch that takes no table keeps the repair under way until OpenSM is killed."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    emulated = Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation:
        opensm = fabric_sim.OpenSM(simulation, "dmodk", options=fabric_sim.SURE,
                                   heddle_conf="[repair]\nenable = yes\ntimeout_ms = 10000\n")
        with opensm:
            wait_until_ready(opensm)
            near = next(name for name in switches_of(simulation) if name.startswith("S1_2"))
            far = next(name for name in switches_of(simulation)[near][1].values() if name.startswith("S2"))
            emulated.fault(int(switches_of(simulation)[near][0].split("-")[1], 16), "silent", attribute=LFT,
                           method="set")
            lost, since = emulated.lost(), len(opensm.log())
            simulation.command(f"Unlink {cable(simulation, near, far)}")
            fabric_sim.wait_until(lambda: emulated.lost() > lost, "a block of the repair")
            opensm.process.kill()
            assert not re.search("repaired lost|no repair before|entries changed", opensm.log()[since:])
        emulated.heal()
        opensm.once()
        assert not faults(simulation)


def lines_about_repairs(log):
    """(number of lines, repairs and times without one that they count)."""
    lines = re.findall("heddle: (?:repaired lost|no repair before).*", log)
    more = [int(number) for line in lines
            for found in re.findall(r"; in the last [\d.]+ s also (\d+) other repairs, and (\d+) without repair", line)
            for number in found]
    return len(lines), len(lines) + sum(more)


def test_a_storm_of_traps(tmp_path):
    """Many cables flap. OpenSM passes on ten equal traps of each switch. There is a line a second at most, and
    the lines together count all that the thread did."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=6,6,6", "--parents=1,6,6")
    with fabric_sim.Simulation(netlist) as simulation:
        with fabric_sim.OpenSM(simulation, "dmodk", heddle_conf="[repair]\nenable = yes\n") as opensm:
            wait_until_ready(opensm)
            leaves = [name for name in switches_of(simulation) if re.match("S1_[1-5]", name)]
            # packets to the subnet manager, and so traps, take the first cable of a leaf
            cables = [f'"{node}"[{max(ports, key=int)}]' for node, ports in map(switches_of(simulation).get, leaves)]
            since, begin = len(opensm.log()), time.monotonic()
            for _ in range(20):
                simulation.command("\n".join(f"Unlink {one}\nReLink {one}" for one in cables))
            opensm.wait_for("SUBNET UP", since)
            opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
            seconds = time.monotonic() - begin
            traps = status(opensm)["traps"]
            print(f"{20 * 4 * len(cables)} traps, {traps} reached the plugin, {seconds:.1f} s")
            assert len(leaves) < traps <= 10 * (len(leaves) + len(switches_of(simulation)))
            fabric_sim.wait_until(lambda: lines_about_repairs(opensm.log())[1] ==
                                  sum(map(status(opensm).get, ("repairs", "stopped"))), "the last line")
            lines = lines_about_repairs(opensm.log()[since:])
            print(f"{lines[0]} lines about {lines[1]} repairs")
            assert lines[0] <= time.monotonic() - begin + 1
            assert not faults(simulation)
