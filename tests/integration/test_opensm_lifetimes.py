# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Head-of-queue lifetimes of heddle.conf, as the ports of the simulated switches have them."""

import re

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

TREE = ("xgft", "--children", "3,3", "--parents", "1,2")
OPENSM_BETWEEN, OPENSM_LEAF = 18, 16


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("lifetimes"), *TREE)


def lifetimes(simulation):
    """(between switches, to hosts): HOQLife, the same at every second port."""
    topology = Topology(simulation.discover())
    found = (set(), set())
    for (switch, port), (peer, _) in list(topology.peer.items())[::2]:
        if switch in topology.switches:
            text = simulation.run("smpquery", "portinfo", topology.lids[switch][0], port)
            life = int(re.search(r"HoqLife:\.+(\d+)", text).group(1))
            found[peer not in topology.switches].add(life)
    between, leaf = found
    assert len(between) == len(leaf) == 1, found
    return between.pop(), leaf.pop()


def conf(between=None, leaf=None):
    lines = ["[heddle]"]
    lines += [f"hoq_lifetime_us = {between}"] if between is not None else []
    lines += [f"leaf_hoq_lifetime_us = {leaf}"] if leaf is not None else []
    return "\n".join(lines) + "\n"


# (between, leaf) in heddle.conf, and HOQLife of both kinds of port
CASES = [((100, None), (5, 5)), ((None, None), (OPENSM_BETWEEN, OPENSM_LEAF)),
         ((4, 5), (0, 1)), ((None, 2000), (OPENSM_BETWEEN, 9)), ((0, "infinite"),
                                                                (OPENSM_BETWEEN, 20)),
         (("infinite", None), (20, 20)), ((2147483, 0), (19, OPENSM_LEAF)),
         ((65, "same"), (4, 4)), ((0, 0), (OPENSM_BETWEEN, OPENSM_LEAF))]


def test_lifetimes_follow_the_file(netlist):
    """Each sweep sets the shortest lifetime that is long enough, or OpenSM's own if heddle.conf has no
    lifetime any more."""
    with Simulation(netlist) as simulation:
        with simulation.opensm("updown", heddle_conf=conf(*CASES[0][0])) as opensm:
            assert lifetimes(simulation) == CASES[0][1]
            for wanted, given in CASES[1:]:
                opensm.write_heddle_conf(conf(*wanted))
                opensm.sweep()
                assert lifetimes(simulation) == given, wanted
            assert "ERR" not in opensm.log()


def test_the_log_says_what_is_given(netlist):
    """The log has one line for each kind of port, and another one when the lifetime changes."""
    with Simulation(netlist) as simulation:
        with simulation.opensm("updown", heddle_conf=conf(100, 3000)) as opensm:
            line = "heddle: head-of-queue lifetime of ports "
            assert f"{line}between switches: 131.072 us (HOQLife 5)" in opensm.log()
            assert f"{line}to hosts and of routers: 4.194 ms (HOQLife 10)" in opensm.log()
            assert line not in opensm.sweep()
            opensm.write_heddle_conf(conf(None, 3000))
            log = opensm.sweep()
            assert log.count(line) == 1
            assert "between switches: 1.074 s (HOQLife 18), OpenSM's own value" in log


def test_opensms_own_options(netlist):
    """If heddle.conf has no lifetime any more, that of opensm.conf returns, even if opensm.conf changed
    meanwhile. If heddle.conf never had a lifetime, the plugin changes nothing."""
    with Simulation(netlist) as simulation:
        own = {"head_of_queue_lifetime": 12, "leaf_head_of_queue_lifetime": 11}
        with simulation.opensm("updown", options=own) as opensm:
            assert lifetimes(simulation) == (12, 11)
            assert "head-of-queue" not in opensm.log()
            opensm.write_heddle_conf(conf(100))
            opensm.sweep()
            assert lifetimes(simulation) == (5, 5)
            opensm.rewrite_options(head_of_queue_lifetime=13)
            opensm.sweep()
            assert lifetimes(simulation) == (5, 5)
            opensm.write_heddle_conf("")
            opensm.sweep()
            assert lifetimes(simulation) == (13, 11)


def test_whatever_engine_routes(netlist):
    """The lifetimes do not depend on the engine."""
    with Simulation(netlist) as simulation:
        simulation.opensm("minhop", heddle_conf=conf(100, 200)).once()
        assert lifetimes(simulation) == (5, 6)
