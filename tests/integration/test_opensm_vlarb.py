# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Multicast on a virtual lane of its own: groups join through the real SA with the service level
that heddle.conf names, and the arbitration tables in switches and hosts give it the
configured share."""

import math
import re

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, PATIENT, Simulation, Topology, check, generate

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

CLIENT = fabric_sim.SOURCE / "tests" / "integration" / "multicast_client.py"
TREE = ("xgft", "--children", "4,4", "--parents", "1,2")
CYCLE = ("torus", "--dims", "5", "--hosts", "2")
FULL = 1
QOS = {"qos": "TRUE"}
LEVEL, LANES = 9, 8  # ibsim's ports have eight
OPENSM_LOW = [(0, 0)] + [(lane, 4) for lane in range(1, 8)]


def heddle_conf(share, level=LEVEL, more=""):
    return f"[heddle]\nmulticast_share = {share}\nmulticast_sl = {level}\n{more}"


def arbitration(simulation, lid, port=None):
    """(low, high): the tables of a port as (lane, weight) in their order."""
    text = simulation.run("smpquery", "vlarb", lid, *([] if port is None else [port]))
    rows = [[int(cell, 16) for cell in line.split(":")[1].strip("| \n").split("|")]
            for line in text.splitlines() if line.startswith(("VL ", "WEIGHT"))]
    return list(zip(rows[0], rows[1])), list(zip(rows[2], rows[3]))


def all_arbitration(simulation, topology):
    """The pair of tables that all ports of switches and hosts have in common."""
    places = [(topology.lids[switch][0], port) for switch, port in sorted(topology.peer)
              if switch in topology.switches][::3]
    places += [(topology.lids[host][0], None) for host in topology.hosts[::5]]
    found = {repr(arbitration(simulation, *place)) for place in places}
    assert len(found) == 1, found
    return arbitration(simulation, *places[0])


def level_map(simulation, lid):
    text = simulation.run("smpquery", "sl2vl", lid)
    row = next(line for line in text.splitlines() if line.startswith("ports:"))
    return [int(lane) for lane in row.split(":")[2].strip("| \n").split("|")]


def port_guids(path):
    """{host: port GUID} of an ibnetdiscover file."""
    return {int(ca, 16): int(port, 16) for ca, port in re.findall(
        r'^Ca\s+\d+ "H-([0-9a-f]+)".*\n\[1\]\(([0-9a-f]+)\)', path.read_text(), re.M)}


def partitions(folder, levels, own=0):
    """A partitions.conf in which the groups 1, 2, ... have those service levels, and unicast and
    the broadcast group have `own`. Returns the settings that name it."""
    path = folder / "partitions.conf"
    groups = "".join(f"  mgid=ff12:401b:ffff::{group},sl={level}\n"
                     for group, level in enumerate(levels, 1))
    path.write_text(f"Default=0x7fff,ipoib,sl={own}:\n{groups}  ALL=full;\n")
    return {"partition_config_file": path}


def join(simulation, group, hosts, level):
    guids = port_guids(simulation.discover())
    lid = re.search(r"sm lid (\d+)", simulation.run("sminfo")).group(1)
    simulation.run("/usr/bin/python3", CLIENT, lid,
                   *[f"join:{group:x}:{guids[host]:x}:{FULL:x}:{level:x}" for host in hosts])


def ratio(share, destinations):
    return {"equal": 1, "linear": destinations, "log": 1 + math.log(destinations)}[share]


def assert_share(low, unicast_lanes, wanted):
    """The weight of multicast has the expected ratio to that of all unicast lanes, the weights are as
    large as a byte allows, and every lane has a weight."""
    weights = dict(low)
    assert sorted(weights) == list(range(LANES))
    unicast = {weights[lane] for lane in range(LANES - 1)}
    assert len(unicast) == 1 and 0 not in unicast
    each = unicast.pop()
    assert abs(weights[LANES - 1] - wanted * unicast_lanes * each) <= 0.5
    assert wanted * unicast_lanes * (each + 1) > 255


@pytest.mark.parametrize("share", ["equal", "linear", "log"])
def test_shares(tmp_path, share):
    """At every port multicast has its share beside the lane of unicast. Without groups the share is
    that of unicast. With groups it follows the mean number of destinations over the groups on that
    service level; other groups do not count."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        options = {**QOS, **partitions(simulation.folder, [LEVEL, LEVEL, 0])}
        with simulation.opensm("updown", heddle_conf=heddle_conf(share),
                               options=options) as opensm:
            topology = Topology(simulation.discover())
            low, high = all_arbitration(simulation, topology)
            assert_share(low, 1, 1)
            assert all(weight == 0 for _, weight in high)
            lanes = level_map(simulation, topology.lids[topology.hosts[0]][0])
            assert lanes[LEVEL] == LANES - 1
            assert lanes.count(LANES - 1) == 1
            join(simulation, 1, topology.hosts[:11], LEVEL)
            join(simulation, 2, topology.hosts[:3], LEVEL)
            join(simulation, 3, topology.hosts, 0)
            opensm.sweep()
            low, _ = all_arbitration(simulation, topology)
            assert_share(low, 1, ratio(share, (10 + 2) / 2))
            assert "; 6.0 destinations per packet" in opensm.log() or share == "equal"
            assert "ERR" not in opensm.log(), opensm.log()


def test_beside_layers(tmp_path):
    """Unicast uses one lane less and has no credit loop on its lanes. Multicast's share is relative to
    all unicast lanes together."""
    with Simulation(generate(tmp_path, *CYCLE)) as simulation:
        with simulation.opensm("spf", options=QOS, log_flags=LOG_DUMPS) as opensm:
            assert "spread over 8" in opensm.log()
            opensm.write_heddle_conf(heddle_conf("equal"))
            log = opensm.sweep()
            assert "ERR" not in log, log
            topology_file = simulation.discover()
            topology = Topology(topology_file)
            levels = simulation.folder / "heddle-sls.dump"
            assert " 7\n" not in levels.read_text()
            assert check(topology_file, simulation.read_tables(), levels)["clean"]
            lanes = level_map(simulation, topology.lids[topology.hosts[0]][0])
            assert lanes[:7] == list(range(7)) and lanes[LEVEL] == 7
            low, _ = all_arbitration(simulation, topology)
            assert_share(low, 7, 1)
            assert (7, 252) in low and (0, 36) in low


def test_a_low_service_level(tmp_path):
    """Routes use only lanes below the service level of multicast. An engine that needs more lanes
    refuses and says so."""
    with Simulation(generate(tmp_path, *CYCLE)) as simulation:
        with simulation.opensm("spf,updown", options=QOS, log_flags=LOG_DUMPS,
                               heddle_conf=heddle_conf("equal", 2)) as opensm:
            assert "ERR" not in opensm.log(), opensm.log()
            topology_file = simulation.discover()
            topology = Topology(topology_file)
            levels = simulation.folder / "heddle-sls.dump"
            assert set(re.findall(r" (\d+)$", levels.read_text(), re.M)) <= {"0", "1", "2"}
            assert check(topology_file, simulation.read_tables(), levels)["lanes"] == 2
            assert level_map(simulation, topology.lids[topology.hosts[0]][0])[:3] == [0, 1, 7]
            low, _ = all_arbitration(simulation, topology)
            assert_share(low, 2, 1)
            opensm.write_heddle_conf(heddle_conf("equal", 1))
            assert re.search(r"ERR HD05: spf: .* of which 1 is available; .*; multicast_sl = 1 in "
                             r"section \[heddle\] leaves unicast no more; ", opensm.sweep())


def test_unicast_keeps_off(tmp_path):
    """If a partition has the service level of multicast, its path records for unicast have 0."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        options = {**QOS, **partitions(simulation.folder, [], LEVEL)}
        with simulation.opensm("updown", heddle_conf="", options=options) as opensm:
            topology = Topology(simulation.discover())
            source, destination = (topology.lids[topology.hosts[i]][0] for i in (0, -1))

            def level():
                text = simulation.run("saquery", *PATIENT, "-p", "--slid", source, "--dlid", destination)
                return int(re.search(r"\bsl\.+(0x[0-9a-fA-F]+)", text).group(1), 16)

            assert level() == LEVEL
            opensm.write_heddle_conf(heddle_conf("equal"))
            opensm.sweep()
            assert level() == 0


def test_the_administrators_high_table(tmp_path):
    """A high-priority table of opensm.conf stays unchanged. With `same` all tables do, before and
    after."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        high = [(3, 8), (0, 1)] + [(0, 0)] * 6
        options = {**QOS, "qos_vlarb_high": ",".join(f"{lane}:{weight}" for lane, weight in high)}
        with simulation.opensm("updown", heddle_conf="", options=options) as opensm:
            topology = Topology(simulation.discover())
            assert all_arbitration(simulation, topology) == (OPENSM_LOW, high)
            opensm.write_heddle_conf(heddle_conf("equal"))
            opensm.sweep()
            low, now = all_arbitration(simulation, topology)
            assert_share(low, 1, 1)
            assert now == high
            opensm.write_heddle_conf(heddle_conf("same"))
            opensm.sweep()
            assert all_arbitration(simulation, topology) == (OPENSM_LOW, high)


def test_a_service_level_without_a_share(tmp_path):
    """The log says once that it has no effect, and again if it changes or comes back."""
    said = "multicast_sl = 9 in section [heddle] has no effect without multicast_share"
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        with simulation.opensm("updown", heddle_conf=heddle_conf("same"), options=QOS) as opensm:
            assert opensm.log().count(said) == 1
            assert said not in opensm.sweep()
            opensm.write_heddle_conf(heddle_conf("equal"))
            assert "has no effect" not in opensm.sweep()
            opensm.write_heddle_conf(heddle_conf("same"))
            assert said in opensm.sweep()


def test_what_cannot_be(tmp_path):
    """Without lanes multicast shares the lane of unicast. The log says why, once, and routing works."""
    with Simulation(generate(tmp_path, *CYCLE)) as simulation:
        fault = "ERR HD09: multicast gets no virtual lane of its own, because there is only one: "
        no_qos, one_lane = "opensm.conf has `qos FALSE`", "max_op_vls 1 in opensm.conf allows"
        with simulation.opensm("updown", heddle_conf=heddle_conf("log")) as opensm:
            assert f"{fault}{no_qos}" in opensm.log(), opensm.log()
            assert "multicast stays on the lanes of unicast" in opensm.log()
            assert "updown tables configured on all switches" in opensm.log()
            assert fault not in opensm.sweep()
            opensm.write_heddle_conf(heddle_conf("same"))
            assert fault not in opensm.sweep()
            opensm.write_heddle_conf(heddle_conf("log"))
            assert f"{fault}{no_qos}" in opensm.sweep()
        options = {**QOS, "max_op_vls": 1}
        with simulation.opensm("updown", options=options) as opensm:
            opensm.sweep()
            topology = Topology(simulation.discover())
            before = all_arbitration(simulation, topology)
            opensm.write_heddle_conf(heddle_conf("log"))
            assert f"{fault}{one_lane}" in opensm.sweep()
            assert all_arbitration(simulation, topology) == before
