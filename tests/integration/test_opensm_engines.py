# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The engines inside a real OpenSM: it writes into the switches the tables that `heddle route`
computes offline for the same fabric, and they are correct."""

import re
import subprocess

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, PATIENCE, Simulation, Topology, check, generate, heddle, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

KINDS = {
    "xgft-64": ("xgft", "--children", "4,4,4", "--parents", "1,4,4"),
    "xgft-216": ("xgft", "--children", "6,6,6", "--parents", "1,6,6"),
    "torus-4x4x4": ("torus", "--dims", "4,4,4"),
    "torus-5x5x5": ("torus", "--dims", "5,5,5"),
    "irregular-30": ("irregular", "--switches", "30", "--radix", "8", "--seed", "7"),
    "8-ary-3-tree": ("kary-ntree", "--k", "8", "--n", "3"),
}
DUMPS = {"psmn-x5": "psmn-x5/X5.topofile", "ib145": "ib145/topo.ibnet"}
QOS = {"qos": "TRUE"}  # or there are no virtual lanes


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    """Makes the netlist of a fabric by its name, once."""
    folder = tmp_path_factory.mktemp("netlists")
    made = {}

    def make(name):
        if name in DUMPS and name not in made:
            dump = fabric_sim.FABRICS / DUMPS[name]
            if not dump.exists():
                pytest.skip(f"{dump} is not there")
            made[name] = folder / f"{name}.net"
            heddle("topo", "convert", dump, "-o", made[name])
        if name not in made:
            made[name] = generate(folder, *KINDS[name])
        return made[name]

    return make


def offline(simulation, topology, engine, *options):
    path = simulation.folder / "offline.lfts"
    heddle("route", "-e", engine, *options, topology, "-o", path)
    return path


CASES = [("xgft-216", "dmodk"), ("xgft-216", "updown"), ("xgft-216", "spf"),
         ("torus-4x4x4", "updown"), ("torus-4x4x4", "spf"),
         ("irregular-30", "updown"), ("irregular-30", "spf"),
         ("psmn-x5", "dmodk"), ("psmn-x5", "updown"), ("psmn-x5", "spf"),
         ("ib145", "dmodk"), ("ib145", "updown"), ("ib145", "spf"),
         ("8-ary-3-tree", "dmodk"), ("8-ary-3-tree", "updown"), ("8-ary-3-tree", "spf")]


@pytest.mark.parametrize("fabric, engine", CASES)
def test_switches_hold_what_is_computed_offline(netlist, fabric, engine):
    """The tables in the switches are those of `heddle route`. heddle check finds no fault in them,
    on the lanes of their service levels."""
    with Simulation(netlist(fabric)) as simulation:
        # a large tree needs no lanes, and OpenSM takes long to set them up
        lanes = engine == "spf" and fabric != "8-ary-3-tree"
        log = simulation.opensm(engine, options=QOS if lanes else None, log_flags=LOG_DUMPS).once()
        assert f"{engine} tables configured on all switches" in log
        assert "ERR" not in log, log
        topology = simulation.discover()
        held = simulation.read_tables()
        assert tables(held) == tables(offline(simulation, topology, engine))
        report = check(topology, held, simulation.folder / "heddle-sls.dump")
        assert report["clean"]
        if fabric == "8-ary-3-tree":
            # Optimal: the 8 hosts of a leaf send to 504 other hosts by 8 links.
            assert report["flows"]["max"] == 504


def ibdmchk(simulation):
    """ibdmchk's report on OpenSM's own dumps. It crashes at the end, after its verdict."""
    done = subprocess.run(["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs",
                           "-m", "opensm.mcfdbs"], cwd=simulation.folder, capture_output=True,
                          text=True, timeout=PATIENCE)
    assert "Verifying all CA to CA paths" in done.stdout, done.stderr
    return done.stdout


@pytest.mark.parametrize("fabric, engine, loops", [("xgft-216", "dmodk", False),
                                                   ("torus-4x4x4", "updown", False),
                                                   ("torus-5x5x5", "spf", True)])
def test_ibdmchk_agrees(netlist, fabric, engine, loops):
    """ibutils' checker finds all paths, and finds credit loops if and only if `heddle check` does.
    Neither gets service levels, so both assume one lane."""
    with Simulation(netlist(fabric)) as simulation:
        simulation.opensm(engine, heddle_conf="[spf]\ndeadlock = off\n", log_flags=LOG_DUMPS).once()
        verdict = ibdmchk(simulation)
        report = check(simulation.discover(), simulation.read_tables())
    hosts = {"xgft-216": 216, "torus-4x4x4": 64, "torus-5x5x5": 125}[fabric]
    assert f"Scanned:{hosts * (hosts - 1)} CA to CA paths" in verdict
    assert ("no credit loops found" in verdict) == (not loops)
    assert bool(report["credit_loops"]) == loops
    errors = [line for line in verdict.splitlines() if line.startswith("-E-")]
    assert errors == (["-E- credit loops in routing"] if loops else [])


@pytest.mark.parametrize("fabric", ["xgft-216", "irregular-30"])
def test_lid_matrices_are_minhops(netlist, fabric):
    """The hop counts in OpenSM's dumps are those that its MinHop computes."""
    dumps = []
    for engine in ("minhop", "updown"):
        with Simulation(netlist(fabric)) as simulation:
            simulation.opensm(engine, log_flags=LOG_DUMPS).once()
            dumps.append((simulation.folder / "opensm-lid-matrix.dump").read_text())
    assert len(dumps[0]) > 1000
    assert dumps[0] == dumps[1]


def test_dumps_check_clean(netlist):
    """With the log flag for dumps the plugin writes files that `heddle check` reads. They have the
    same tables as OpenSM's own dump."""
    with Simulation(netlist("irregular-30")) as simulation:
        simulation.opensm("updown", log_flags=LOG_DUMPS).once()
        folder = simulation.folder
        assert check(folder / "heddle-fabric.topo", folder / "heddle-lfts.dump",
                     folder / "heddle-sls.dump")["clean"]
        assert tables(folder / "heddle-lfts.dump") == tables(folder / "opensm-lfts.dump")


def top_switches(topology, entries, source, host):
    """The top switches of the paths from host `source` to each LID of another host."""
    base, lmc = topology.lids[host]
    tops = set()
    for lid in range(base, base + 2 ** lmc):
        path = topology.path(entries, topology.leaf(source), lid)
        assert len(path) == 5, "up two levels and down two"
        tops.add(path[2][0])
    return tops


@pytest.mark.parametrize("lmc", [0, 1, 3, 7])
def test_lmc(netlist, lmc):
    """All paths to each of a host's 2^LMC LIDs are clean. The LIDs of a host in another pod use
    different top switches, up to the 16 of this tree."""
    with Simulation(netlist("xgft-64")) as simulation:
        # No text dumps: they would have 48 times 12,000 entries.
        log = simulation.opensm("dmodk", options={"lmc": lmc}, log_flags=0x3).once()
        assert "dmodk tables configured on all switches" in log and "ERR" not in log, log
        topology_file = simulation.discover()
        held = simulation.read_tables()
        assert tables(held) == tables(offline(simulation, topology_file, "dmodk"))
        assert check(topology_file, held)["clean"]
        topology, entries = Topology(topology_file), tables(held)
    assert all(topology.lids[host][1] == lmc for host in topology.hosts)
    source, far = topology.hosts[0], topology.hosts[-1]
    assert len(top_switches(topology, entries, source, far)) == min(2 ** lmc, 16)


def test_lmc_of_enhanced_port_0(netlist, tmp_path):
    """With lmc_esp0 switches with an enhanced port 0 have 2^LMC LIDs too, and all are routed."""
    enhanced = tmp_path / "enhanced.net"
    enhanced.write_text(netlist("irregular-30").read_text().replace("base port 0",
                                                                    "enhanced port 0"))
    with Simulation(enhanced) as simulation:
        options = {"lmc": 2, "lmc_esp0": "TRUE"}
        log = simulation.opensm("updown", options=options).once()
        assert "updown tables configured on all switches" in log and "ERR" not in log, log
        topology = simulation.discover()
        known = Topology(topology)
        assert {known.lids[switch][1] for switch in known.switches} == {2}
        held = simulation.read_tables()
        assert tables(held) == tables(offline(simulation, topology, "updown"))
        assert check(topology, held)["clean"]


def test_refusing_engine_gives_way_to_the_next(netlist):
    """dmodk refuses a torus and names the offending link; updown routes it."""
    with Simulation(netlist("torus-4x4x4")) as simulation:
        log = simulation.opensm("dmodk,updown").once()
        refusal = re.search(r"ERR HD05: dmodk: .*not a fat tree: the link '(\w+)' .*'(\w+)'", log)
        assert refusal and refusal.group(1) != refusal.group(2), log
        assert "updown tables configured on all switches" in log
        topology = simulation.discover()
        held = simulation.read_tables()
        assert check(topology, held)["clean"]
        assert tables(held) == tables(offline(simulation, topology, "updown"))


def test_nothing_is_left_for_the_engine_after_a_refusal(netlist):
    """After our engine refuses, OpenSM's own updn makes the same tables as without our engine."""
    dumps = []
    for engines in ("updn", "dmodk,updn"):
        with Simulation(netlist("irregular-30")) as simulation:
            roots = simulation.folder / "roots"
            roots.write_text("0x0000000000200000\n")
            log = simulation.opensm(engines, options={"root_guid_file": roots}).once()
            assert ("ERR HD05: dmodk" in log) == ("dmodk" in engines)
            assert "updn tables configured on all switches" in log
            dumps.append(tables(simulation.read_tables()))
    assert dumps[0] == dumps[1]


def test_each_routing_leaves_one_line(netlist):
    """The start leaves a line with the names for routing_engine. Each sweep leaves one INFO line with
    engine, switches, LIDs, times and changes. The second sweep changes 0 entries."""
    with Simulation(netlist("xgft-216")) as simulation:
        with simulation.opensm("dmodk") as opensm:
            opensm.sweep()
            lines = re.findall(r"0x02 -> heddle: (.*)", opensm.log())
    assert lines[0].endswith("is loaded; names for routing_engine: dmodk updown spf turns rings multipath dfp auto issr isfr ark nrk"), lines
    pattern = (r"dmodk: 108 switches, 324 LIDs; snapshot \d+\.\d ms, hop counts \d+\.\d ms, "
               r"tables \d+\.\d ms; (\d+) entries changed")
    changes = [re.fullmatch(pattern, line).group(1) for line in lines[1:]]
    assert changes[0] == str(108 * 324) and set(changes[1:]) == {"0"}, lines
