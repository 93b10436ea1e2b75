# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Virtual lanes under the plugin, with any LMC: the SA answers with the service levels of the lane
assignment, and the SL2VL maps in switches and hosts put these on their lanes."""

import re
import subprocess

import fabric_sim
import pytest
from fabric_sim import (CHANGED, LOG_DUMPS, Simulation, Topology, check, generate, heddle, level_maps,
                        tables)
from fabric_sim import PATIENCE, PATIENT

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

KINDS = {
    "nine-cycles": ("irregular", "--switches", "15", "--radix", "5", "--cycles", "9", "--hosts",
                    "1", "--seed", "2"),
    "torus-4x4x4": ("torus", "--dims", "4,4,4"),
    "xgft-64": ("xgft", "--children", "4,4,4", "--parents", "1,4,4"),
}
DIRECT = {
    "hyperx": ("hyperx", "--dims", "4,3", "--hosts", "2"),
    "slim-fly": ("slim-fly", "--q", "4", "--hosts", "2"),
    "dragonfly": ("dragonfly", "--switches", "4", "--global-links", "2", "--hosts", "2"),
    "jellyfish": ("jellyfish", "--switches", "20", "--degree", "4", "--hosts", "2"),
}
TORUS = ("torus", "--dims", "5,5,5")  # shortest paths need three lanes
TREE = ("xgft", "--children", "3,3,3", "--parents", "1,3,3")
QOS = {"qos": "TRUE"}
# An OpenSM map that does not suit the routes, and its default, which does.
FOREIGN_QOS = {**QOS, "qos_sl2vl": ",".join(["0"] * 16)}
OPENSM_MAP = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
QUIET = 0x03  # without OpenSM's dumps
SLS = "heddle-sls.dump"
MOVED_MOST = 0.05  # of all routes, to other lanes


def read_levels(path):
    """{switch GUID: {LID: service level}}, and the lane of each level."""
    levels, row = {}, None
    for line in path.read_text().splitlines():
        head = re.match(r"Service levels at switch guid (0x[0-9a-f]+)", line)
        run = re.match(r"(0x[0-9a-f]{4})(?:-(0x[0-9a-f]{4}))? (\d+)", line)
        if line.startswith("SL to VL:"):
            lanes = [int(lane) for lane in line.split(":")[1].split()]
        elif head:
            row = levels[int(head.group(1), 16)] = {}
        elif run:
            first = int(run.group(1), 16)
            for lid in range(first, int(run.group(2) or run.group(1), 16) + 1):
                row[lid] = int(run.group(3))
    return levels, lanes


def path_level(simulation, source, destination):
    """The service level that the SA answers with."""
    text = simulation.run("saquery", *PATIENT, "-p", "--slid", source, "--dlid", destination)
    assert f"dlid....................{destination}\n" in text, text
    return int(re.search(r"\bsl\.+(0x[0-9a-fA-F]+)", text).group(1), 16)


def some(items, count):
    """About that many of the items, evenly spread, with the first and the last."""
    items = list(items)
    return sorted({items[i * (len(items) - 1) // (count - 1)] for i in range(count)})


def ends(topology):
    """Switch ports that are cabled, one to a host and others to switches."""
    return sorted(end for end in topology.peer if end[0] in topology.switches)


def compare_levels(simulation, topology, levels):
    """Path records between a few hosts have the service levels of the dump, for each LID of a host."""
    seen = set()
    hosts = some(topology.hosts, 3 if topology.lids[topology.hosts[0]][1] else 4)
    for source in hosts:
        for destination in hosts:
            if source == destination:
                continue
            base, lmc = topology.lids[destination]
            first, _ = topology.lids[source]
            leaf = topology.leaf(source)
            for lid in some(range(base, base + 2 ** lmc), 3 if lmc else 2):
                answer = path_level(simulation, first + (lid - base), lid)
                assert answer == levels[leaf].get(lid, 0), (source, lid)
                seen.add(answer)
    return seen


def compare_maps(simulation, topology, lanes):
    """Switches, at every input port, and hosts have the map."""
    for switch, port in some(ends(topology), 4):
        for row in level_maps(simulation, topology.lids[switch][0], port):
            assert row == lanes
    for host in some(topology.hosts, 3):
        assert level_maps(simulation, topology.lids[host][0]) == [lanes]


CASES = [(fabric, lmc, "spf") for fabric in KINDS for lmc in (0, 1, 2, 4, 7)] + \
    [("nine-cycles", lmc, "multipath") for lmc in range(8)] + \
    [(fabric, lmc, "multipath") for fabric in ("torus-4x4x4", "xgft-64") for lmc in (2, 5)] + \
    [(fabric, lmc, "spf") for fabric in DIRECT for lmc in (0, 1)]


@pytest.mark.parametrize("fabric, lmc, engine", [
    pytest.param(*case, marks=[pytest.mark.alike] if 2 < case[1] < 7 or case[1] == 1 else []) for case in CASES])
def test_any_lmc(tmp_path, fabric, lmc, engine):
    """The switches have the tables of `heddle route`, without a credit loop on their lanes. The SA
    answers with the service levels of the lanes, and the maps put these on the lanes."""
    qos = FOREIGN_QOS if lmc % 2 else QOS
    with Simulation(generate(tmp_path, *{**KINDS, **DIRECT}[fabric])) as simulation:
        with simulation.opensm(engine, options={"lmc": lmc, **qos}, log_flags=QUIET,
                               heddle_conf=f"[{engine}]\nspread = all\n") as opensm:
            assert f"{engine} tables configured on all switches" in opensm.log(), opensm.log()
            assert "ERR" not in opensm.log(), opensm.log()
            file = simulation.discover()
            held = simulation.read_tables()
            offline, levels_file = simulation.folder / "lfts", simulation.folder / "sls"
            heddle("route", "-e", f"{engine}:spread=all", file, "-o", offline, "--sl",
                   levels_file)
            assert tables(held) == tables(offline)
            assert check(file, held, levels_file)["clean"]
            topology = Topology(file)
            levels, lanes = read_levels(levels_file)
            assert len(compare_levels(simulation, topology, levels)) > 1
            assert lanes[:8] == OPENSM_MAP[:8]
            compare_maps(simulation, topology, lanes if lmc % 2 else OPENSM_MAP)


def test_one_lane(tmp_path):
    """If the routes need one lane and are not spread, the maps and levels of opensm.conf stay."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        options = {**QOS, "qos_sl2vl": "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3"}
        with simulation.opensm("updown", options=options, log_flags=LOG_DUMPS) as opensm:
            assert "ERR" not in opensm.log()
            topology = Topology(simulation.discover())
            compare_maps(simulation, topology, [0, 1, 2, 3] * 4)
            levels, _ = read_levels(simulation.folder / SLS)
            assert not levels
            assert compare_levels(simulation, topology, {switch: {}
                                                         for switch in topology.switches}) == {0}


def lanes_in_use(simulation):
    levels, lanes = read_levels(simulation.folder / SLS)
    return {lanes[level] for row in levels.values() for level in row.values()}


def test_too_few_lanes(tmp_path):
    """spf refuses a torus without QoS or with too few lanes, and says what to do. With enough lanes
    it routes, and uses no more lanes than the administrator allows."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        advice = "1 is available; instead use turns, which takes any number, or deadlock=drop; "
        one = "[spf]\nvls = 1\n"
        share = "[heddle]\nmulticast_share = log\nmulticast_sl = 9\n"
        for conf, options, reason in (
                ("", {}, "opensm.conf has `qos FALSE`, so OpenSM sets up no lanes; set "
                         "`qos TRUE`"),
                ("", {**QOS, "max_op_vls": 1}, "max_op_vls 1 in opensm.conf allows no more"),
                (one, QOS, "vls = 1 in section [spf] of heddle.conf allows no more"),
                (share + one, QOS, "vls = 1 in section [spf] of heddle.conf allows no more"),
                (share, {**QOS, "max_op_vls": 2}, "max_op_vls 2 in opensm.conf allows no more; "
                                                  "multicast_share reserves one for multicast")):
            log = simulation.opensm("spf,updown", options=options, heddle_conf=conf).once()
            refusal = re.search(r"ERR HD05: spf: .* need \d+ virtual lanes\b.*", log).group(0)
            assert f"{advice}{reason}; OpenSM tries the next engine, updown" in refusal, refusal
            assert "updown tables configured on all switches" in log
        log = simulation.opensm("spf", options={**QOS, "max_op_vls": 3}, log_flags=LOG_DUMPS).once()
        assert "spf tables configured on all switches" in log
        assert lanes_in_use(simulation) == {0, 1, 2, 3}
        held = simulation.read_tables()
        assert check(simulation.discover(), held, simulation.folder / SLS)["clean"]


def test_without_lanes(tmp_path):
    """deadlock=drop and deadlock=off need no QoS. After each routing the log shows the lifetime on
    which drop relies, warns if that is infinite, and warns of off."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        drop = "[heddle]\nhoq_lifetime_us = 1000\n[spf]\ndeadlock = drop\n"
        log = simulation.opensm("spf", heddle_conf=drop).once()
        assert "spf tables configured on all switches" in log
        assert log.count("credit loops are left to head-of-queue lifetimes (deadlock=drop)") == 1
        assert log.count("spf: the head-of-queue lifetime between switches is 1.049 ms "
                         "(HOQLife 8)") == 1, log
        assert log.count("deadlock") == 1
        assert "ERR" not in log and "WRN" not in log
        never = simulation.opensm("spf", heddle_conf="[spf]\ndeadlock = drop\n",
                                  options={"head_of_queue_lifetime": 20}).once()
        assert re.search(r"WRN: spf: packets that wait for each other are never dropped: .*no limit",
                         never), never
        off = simulation.opensm("spf", heddle_conf="[spf]\ndeadlock = off\n").once()
        assert len(re.findall("(?i)deadlock", off)) == 2, off
        assert off.count("WRN: NOTHING IS DONE AGAINST DEADLOCK (deadlock=off)") == 1
        assert "spf tables configured on all switches" in off
        held = simulation.read_tables()
        assert check(simulation.discover(), held)["credit_loops"] == 1


def test_lanes_come_and_go(tmp_path):
    """Service levels and maps follow heddle.conf from sweep to sweep. The map of opensm.conf returns
    if the routes no longer have service levels."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        with simulation.opensm("spf", options=FOREIGN_QOS, log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            layered = tables(simulation.read_tables())
            levels, lanes = read_levels(simulation.folder / SLS)
            compare_maps(simulation, topology, lanes)
            opensm.write_heddle_conf("[spf]\ndeadlock = drop\n")
            opensm.sweep()
            compare_maps(simulation, topology, [0] * 16)
            assert compare_levels(simulation, topology, {switch: {}
                                                         for switch in topology.switches}) == {0}
            opensm.write_heddle_conf("")
            opensm.sweep()
            compare_maps(simulation, topology, lanes)
            compare_levels(simulation, topology, levels)
            assert tables(simulation.read_tables()) == layered


def follow(simulation, opensm, command):
    """Changes a cable and sweeps until the routes have followed. The tables in the switches have no
    credit loop on the lanes of the dump; the SA and the maps agree with the dump. Returns the
    service levels."""
    since = len(opensm.log())
    simulation.command(command)
    opensm.sweep_until(CHANGED, since=since)
    opensm.sweep()
    now = simulation.discover()
    assert check(now, simulation.read_tables(), simulation.folder / SLS)["clean"]
    levels, lanes = read_levels(simulation.folder / SLS)
    compare_levels(simulation, Topology(now), levels)
    compare_maps(simulation, Topology(now), lanes)
    return levels


def moved(before, after):
    """How many of the earlier routes have another service level."""
    return sum(after[leaf].get(lid) != level for leaf, row in before.items()
               for lid, level in row.items())


def test_links_down(tmp_path):
    """While cables go down and come back, the lanes stay free of credit loops, few service levels
    change with each cable, and the SA answers with the new ones. At the end few differ from the
    first ones."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        with simulation.opensm("spf", options=FOREIGN_QOS, log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            first, _ = read_levels(simulation.folder / SLS)
            routes = sum(map(len, first.values()))
            cables = [end for end in ends(topology)
                      if topology.peer[end][0] in topology.switches][5:200:90]
            before = first
            for command in ("Unlink", "ReLink"):
                for switch, port in cables:
                    after = follow(simulation, opensm, f'{command} "S-{switch:016x}"[{port}]')
                    count = moved(before, after)
                    print(f"{command} {switch:x}[{port}]: {count} of {routes} levels changed")
                    assert count < routes * MOVED_MOST
                    before = after
            print(f"in the end {moved(first, after)}")
            assert moved(first, after) < routes * MOVED_MOST


def test_ibdmchk_agrees(tmp_path):
    """ibutils' checker finds no credit loop with the service levels and OpenSM's own dump of the
    SLtoVL tables."""
    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        simulation.opensm("spf", options=QOS, log_flags=LOG_DUMPS).once()
        heddle("route", "-e", "spf", simulation.discover(), "-o", simulation.folder / "lfts",
               "--psl", simulation.folder / "psl")
        done = subprocess.run(
            ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs",
             "-c", "psl", "-d", "opensm-sl2vl.dump"], cwd=simulation.folder, capture_output=True,
            text=True, timeout=PATIENCE)
    assert "Scanned:15500 CA to CA paths" in done.stdout, done.stdout
    assert "no credit loops found" in done.stdout, done.stdout
    assert "-E-" not in done.stdout
