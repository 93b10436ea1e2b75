# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A sweep that passed a cable or a switch before it died, live: it does not take back what a repair has
changed."""

import re

import fabric_sim
import independent_check
import pytest
import repair_record
from repair_sim import all_cables, cable, faults, restore, switches_of, wait_until_ready

MISSING = fabric_sim.missing_tools() + [str(path) for path in (fabric_sim.CLOCK,) if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")

# A repair waits for further traps so long that a test can lose more meanwhile; the sweep waits for the repair.
CONF = """[repair]
enable = yes
settle_ms = 500
log_ms = 0
[heddle]
leaf_hoq_lifetime_us = {lifetime}
"""
DISCOVERED = "head-of-queue lifetime of ports to hosts"  # with another lifetime than in the last sweep
ROUTED = r"heddle: \w+: \d+ switches.* (\d+) entries changed.*"
TRIES = 8


@pytest.fixture(scope="module", name="running")
def fixture_running(tmp_path_factory):
    netlist = fabric_sim.generate(tmp_path_factory.mktemp("stale"), "xgft", "--children=4,4", "--parents=1,4")
    with fabric_sim.Simulation(netlist, clock=True) as simulation:
        with fabric_sim.OpenSM(simulation, "dmodk", heddle_conf=CONF.format(lifetime=Stale.lifetime)) as opensm:
            yield simulation, opensm


class Stale:
    """A first cable is lost, and a second one or a switch when the sweep has passed it and waits for the repair."""

    lifetime = 1000

    def __init__(self, simulation, opensm, what, number):
        self.simulation, self.opensm = simulation, opensm
        leaf = sorted(name for name in switches_of(simulation) if re.match("S1_[123]", name))[number % 3]
        spines = sorted(set(switches_of(simulation)[leaf][1].values()) & set(switches_of(simulation)))
        self.cables = [cable(simulation, leaf, spines[0])]
        self.cables += [cable(simulation, leaf, spines[1])] if what == "cable" else all_cables(simulation, spines[1])
        self.intact = independent_check.read_fabric(simulation.discover().read_text())
        self.tables = independent_check.read_tables(simulation.read_tables().read_text(), self.intact)
        self.offset = self.clock().stat().st_size
        Stale.lifetime *= 2  # another one in each sweep that a test waits for
        opensm.write_heddle_conf(CONF.format(lifetime=Stale.lifetime))

    def clock(self):
        return self.simulation.folder / "clock"

    def run(self):
        """Returns the log from the loss of the first cable to the end of the sweep that follows the stale one."""
        since = len(self.opensm.log())
        self.simulation.command(f"Unlink {self.cables[0]}")
        self.opensm.wait_for(DISCOVERED, since)
        self.simulation.command("\n".join(f"Unlink {one}" for one in self.cables[1:]))
        log = self.opensm.wait_for("entries changed", since)
        self.opensm.wait_for("SUBNET UP", since)  # not of the stale sweep: that reaches no switch over a dead cable
        self.opensm.sweep()
        repaired = re.search("heddle: repaired lost [^:]*, cable ", log)  # both at once
        self.happened = bool(repaired) and repaired.start() < log.index("entries changed")
        return self.opensm.log()[since:]

    def changes_after(self, when):
        """The Sets after that time that changed entries in a switch."""
        home = next(node for node, name in self.intact.name.items()
                    if self.simulation.host in (node, name))
        ends = {end for one in self.cables for end in self.ends_of(one)}
        fabric = repair_record.alive_fabric(self.intact, ends, home)
        switches = repair_record.Switches(self.tables, home)
        sets, _ = repair_record.read_sets(self.clock(), self.offset)
        changing = [one for one in sets if switches.take(fabric, one)]
        assert changing  # those of the repair
        return [one for one in changing if one.when > when]

    def ends_of(self, text):
        node, port = re.match(r'"(.*)"\[(\d+)\]', text).groups()
        near = (node, int(port))
        return near, self.intact.cable[near]


@pytest.mark.parametrize("what", ["cable", "switch"])
def test_a_stale_sweep_keeps_what_was_repaired(running, what):
    """The stale sweep and the next one change no entry, and the tables in the switches are clean: so they
    have been since the repair."""
    simulation, opensm = running
    for number in range(TRIES):
        wait_until_ready(opensm)
        stale = Stale(simulation, opensm, what, number)
        log = stale.run()
        assert not faults(simulation)
        if stale.happened:
            break
        restore(simulation, opensm, stale.cables)  # the machine was too busy
    assert stale.happened, log
    assert f"heddle: left out 1 {what} that a repair found lost after this sweep had begun: lost {what}" in log, log
    assert log.count("heddle: left out") == 1
    assert log.index("heddle: left out") < log.index("entries changed")
    changed = re.findall(ROUTED, log)
    assert len(changed) > 1 and set(changed) == {"0"}, log
    line = next(one for one in repair_record.read_lines(log, "heddle: repaired"))
    assert stale.changes_after(line.when) == []
    restore(simulation, opensm, stale.cables)  # the next sweeps use them again
    assert not faults(simulation)
