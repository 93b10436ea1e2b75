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


def cables_to_cut(topology):
    """Cables of two leaves, in the form of ibsim's console. Without them each leaf has one cable, and the
    two lead to different spines: no path climbs and then descends between these leaves."""
    ends = []
    for leaf, kept in ((topology.leaf(topology.hosts[-1]), 0), (topology.leaf(topology.hosts[3]), 1)):
        up = sorted((far[0], near[1]) for near, far in topology.peer.items()
                    if near[0] == leaf and far[0] in topology.switches)
        del up[kept]
        ends += [f'"S-{leaf:016x}"[{port}]' for _, port in reversed(up)]
    return ends


@pytest.mark.parametrize("engines", ["dmodk,no_fallback", "no_fallback,dmodk"])
def test_no_fallback(tree, engines):
    """With no_fallback, wherever it is in the list, MinHop does not route. The message says so,
    and the switches keep their tables."""
    with Simulation(tree) as simulation:
        with simulation.opensm(engines) as opensm:
            assert "dmodk tables configured on all switches" in opensm.log()
            *first, last = cables_to_cut(Topology(simulation.discover()))
            for end in first:
                simulation.command(f"Unlink {end}")
            opensm.sweep_until("dmodk: .* 0 entries changed")
            before = tables(simulation.read_tables())
            since = len(opensm.log())
            simulation.command(f"Unlink {last}")
            opensm.process.send_signal(signal.SIGHUP)
            opensm.wait_for(NONE_LEFT, since)
            log = opensm.log()[since:]
            assert tables(simulation.read_tables()) == before
    assert set(refusals(log)) == {
        ("dmodk", "no engine is left and no_fallback forbids MinHop: OpenSM ends this sweep and "
                  "leaves the tables in the switches unchanged")}
    assert "tables configured" not in log
