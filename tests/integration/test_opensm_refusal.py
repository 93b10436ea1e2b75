# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""After an engine refuses the fabric, the log says what OpenSM does next, and OpenSM does that."""

import re
import signal

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, generate, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")
NONE_LEFT = "No routing engine able to successfully configure"


@pytest.fixture
def torus(tmp_path):
    return generate(tmp_path, "torus", "--dims", "5,5")


@pytest.fixture
def tree(tmp_path):
    return generate(tmp_path, "xgft", "--children", "3,3", "--parents", "1,3")


def refusals(log):
    """The engine and the announced next step of each refusal, in the order of the log."""
    return re.findall(r"ERR HD05: (\w+): no tables: .*; ((?:OpenSM|no engine).*)", log)


@pytest.mark.parametrize("engines", ["dmodk,updown", "dmodk,updown,no_fallback"])
def test_the_next_engine(torus, engines):
    """The message names the engine that OpenSM tries next, and that engine routes."""
    with Simulation(torus) as simulation:
        log = simulation.opensm(engines).once()
    assert refusals(log) == [("dmodk", "OpenSM tries the next engine, updown")]
    assert "updown tables configured on all switches" in log


def test_minhop_after_the_last_engine(torus):
    """After the last engine MinHop routes, and the message says so. Both spf and dmodk refuse."""
    with Simulation(torus) as simulation:
        log = simulation.opensm("spf,dmodk").once()
    assert refusals(log) == [("spf", "OpenSM tries the next engine, dmodk"),
                             ("dmodk", "no engine is left: OpenSM routes with its own MinHop")]
    assert "minhop tables configured on all switches" in log


def unplug_two_hosts(simulation, opensm, topology):
    """Unplugs one host of each of two leaves, and waits until the tables do not have them any more.
    Returns the free ports in the form of ibsim's console."""
    hosts = (topology.hosts[-1], topology.hosts[3])
    ends = [topology.peer[host, 1] for host in hosts]
    assert ends[0][0] != ends[1][0]
    names = [f'"S-{switch:016x}"[{port}]' for switch, port in ends]
    for name in names:
        simulation.command(f"Unlink {name}")
    opensm.sweep_until("dmodk: 6 switches, 13 LIDs; .* 0 entries changed")
    return names


@pytest.mark.parametrize("engines", ["dmodk,no_fallback", "no_fallback,dmodk"])
def test_no_fallback(tree, engines):
    """With no_fallback, wherever it is in the list, MinHop does not route. The message says so,
    and the switches keep their tables."""
    with Simulation(tree) as simulation:
        with simulation.opensm(engines) as opensm:
            assert "dmodk tables configured on all switches" in opensm.log()
            ends = unplug_two_hosts(simulation, opensm, Topology(simulation.discover()))
            before = tables(simulation.read_tables())
            since = len(opensm.log())
            # a cable between two leaves: this is no tree
            simulation.command(f"Link {' '.join(ends)}")
            opensm.process.send_signal(signal.SIGHUP)
            opensm.wait_for(NONE_LEFT, since)
            log = opensm.log()[since:]
            assert tables(simulation.read_tables()) == before
    assert set(refusals(log)) == {
        ("dmodk", "no engine is left and no_fallback forbids MinHop: OpenSM ends this sweep and "
                  "leaves the tables in the switches unchanged")}
    assert "tables configured" not in log
