# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM sets up lanes only after it has written tables. Whenever and however often that happens,
more sweeps correct the maps of all ports, and then these sweeps end."""

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, generate, level_maps, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

TORUS = ("torus", "--dims", "5,5,5")
QOS = {"qos": "TRUE"}
OPENSM_MAP = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
LATE = "before it set up all virtual lanes there"
END = "heddle: OpenSM ends before the sweep that completes the tables of"


@pytest.fixture
def simulation(tmp_path):
    """A torus whose ports all have one operational lane, as after they come up."""
    with Simulation(generate(tmp_path, *TORUS)) as running:
        running.opensm("updown", options={"max_op_vls": 1}).once()
        yield running


def cables(topology, count):
    """Cables between switches, of which no two share a switch."""
    chosen, taken = [], set()
    for end in sorted(topology.peer):
        both = {end[0], topology.peer[end][0]}
        if both <= topology.switches and not both & taken and len(chosen) < count:
            chosen.append(end)
            taken |= both
    return chosen


def pull(simulation, end):
    simulation.command(f'Unlink "S-{end[0]:016x}"[{end[1]}]')


def plug(simulation, end):
    simulation.command(f'ReLink "S-{end[0]:016x}"[{end[1]}]')


def assert_map(simulation, topology, end):
    """At both ends of the cable, from every input port, each service level has its own lane."""
    for switch, port in (end, topology.peer[end]):
        for row in level_maps(simulation, topology.lids[switch][0], port):
            assert row == OPENSM_MAP, (switch, port)


def test_one_sweep_more(simulation):
    """If all links get their lanes at the end of the first sweep, exactly one more sweep corrects the
    maps."""
    with simulation.opensm("spf", options=QOS) as opensm:
        topology = Topology(simulation.discover())
        wait_until(lambda: opensm.log().count("SUBNET UP") == 3, "a second sweep")
        for end in cables(topology, 6):
            assert_map(simulation, topology, end)
        opensm.sweep()
        assert f"heddle: OpenSM wrote tables of 875 ports {LATE}; Heddle requests one more" in opensm.log()
        assert opensm.log().count(LATE) == 1, opensm.log()
        assert opensm.log().count("SUBNET UP") >= 4
    assert END not in opensm.log()


def test_without_the_sweep(simulation):
    """`opensm -o` ends before that sweep and says: run it again. The second run corrects the maps."""
    first = simulation.opensm("spf", options=QOS).once()
    assert f"{END} 875 ports" in first, first
    second = simulation.opensm("spf", options=QOS).once()
    assert LATE not in second and END not in second
    topology = Topology(simulation.discover())
    for end in cables(topology, 2):
        assert_map(simulation, topology, end)


@pytest.mark.parametrize("cache", ["FALSE", "TRUE"])
def test_a_cable_comes_back(simulation, cache):
    """The maps become right even if OpenSM routes from its unicast cache when a cable comes back,
    and the engine itself last routed in a sweep with late ports."""
    topology = Topology(simulation.discover())
    end = cables(topology, 1)[0]
    pull(simulation, end)
    with simulation.opensm("spf", options={**QOS, "use_ucast_cache": cache}) as opensm:
        wait_until(lambda: opensm.log().count("SUBNET UP") == 3, "a second sweep")
        since = len(opensm.log())
        plug(simulation, end)
        wait_until(lambda: opensm.log()[since:].count("SUBNET UP") >= 2, "sweeps")
        opensm.sweep()
        log = opensm.log()[since:]
        assert log.count(f"heddle: OpenSM wrote tables of 2 ports {LATE}") == 1, log
        assert ("using cached routing" in log) == (cache == "TRUE")
        assert_map(simulation, topology, end)


def test_two_sweeps_in_a_row(simulation):
    """If more ports are late in a requested sweep, Heddle requests one more sweep for them."""
    topology = Topology(simulation.discover())
    ends = cables(topology, 3)
    for end in ends:
        pull(simulation, end)
    opensm = simulation.opensm("spf", options=QOS)
    with opensm:
        for end in ends:
            since = len(opensm.log())
            plug(simulation, end)
            opensm.wait_for(LATE, since)
        opensm.sweep()
        opensm.sweep()
        assert "not as many virtual lanes operational" not in opensm.log()
        for end in ends:
            assert_map(simulation, topology, end)
