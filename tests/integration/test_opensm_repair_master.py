# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repair before the sweep, live, when another OpenSM takes over: only the master repairs."""

import itertools
import re
import time

import fabric_sim
import pytest
from repair_sim import REPAIR, cable, faults, lose, switches_of

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

OPTIONS = {"sminfo_polling_timeout": 200, "polling_retry_number": 2}


class AtHost(fabric_sim.OpenSM):
    """An OpenSM of its own at another host."""

    def __init__(self, simulation, host, priority):
        super().__init__(simulation, "dmodk", options={**OPTIONS, "sm_priority": priority})
        self.host, self.folder = host, simulation.folder / host
        self.folder.mkdir()
        self.log_file, self.conf = self.folder / "osm.log", self.folder / "heddle.conf"
        self.write_heddle_conf(REPAIR)

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.folder))


def flap_until(simulation, cables, condition):
    """Loses cables and gives them back, one after the other, until the condition is true."""
    for one in itertools.cycle(cables):
        simulation.command(f"Unlink {one}")
        time.sleep(0.03)
        simulation.command(f"ReLink {one}")
        time.sleep(0.03)
        if condition():
            return


def is_repaired(simulation, opensm, cables):
    """Loses one cable after the other until there is a repair: none comes while a sweep is at its end. Then
    all are back."""
    lost = []
    for one in cables:
        lost.append(one)
        if "repaired lost cable" in lose(simulation, opensm, [one]):
            break
    else:
        return False
    assert not faults(simulation)
    simulation.command("\n".join(f"ReLink {one}" for one in lost))
    rest(opensm)
    return True


def rest(opensm):
    opensm.sweep_until(r"heddle: dmodk.* 0 entries changed")
    opensm.sweep()


def test_another_opensm_takes_over_during_repairs(tmp_path):
    """One of higher priority takes over while cables flap, and ends. In between the first repairs
    nothing, and the other does. No tables have a fault after that."""
    netlist = fabric_sim.generate(tmp_path, "xgft", "--children=4,4", "--parents=1,4")
    with fabric_sim.Simulation(netlist) as simulation:
        leaves = [name for name in switches_of(simulation) if re.match("S1_[123]", name)]
        spines = [name for name in switches_of(simulation) if name.startswith("S2")]
        cables = [cable(simulation, leaf, spine) for leaf in leaves for spine in spines]
        with AtHost(simulation, "H_0_0", 3) as one:
            rest(one)
            assert is_repaired(simulation, one, cables[0:3])
            since = len(one.log())
            with AtHost(simulation, "H_0_1", 9) as two:
                flap_until(simulation, cables, lambda: "Entering STANDBY state" in one.log()[since:])
                stopped = len(one.log())
                rest(two)
                assert not faults(simulation)
                assert is_repaired(simulation, two, cables[0:3])
                assert "heddle: repaired" not in one.log()[stopped:]
                simulation.command(f"Unlink {cables[4]}")  # the end of OpenSM stops this repair, or comes after it
                since = len(one.log())
            one.wait_for("SUBNET UP", since)
            rest(one)
            assert not faults(simulation)
            assert is_repaired(simulation, one, cables[8:11])
            assert not faults(simulation)
