# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""multipath:mode=layers in OpenSM: longer paths for further LIDs, with service levels by source switch and LID."""

import re

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, Topology, check, generate, heddle, tables
from test_opensm_lanes import (DIRECT, FOREIGN_QOS, compare_levels, compare_maps, ends, follow, read_levels)

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

LAYERS = "[multipath]\nmode = layers\n"


@pytest.mark.parametrize("fabric", DIRECT)
def test_switches_and_sa_have_them(tmp_path, fabric):
    """The switches have the tables of `heddle route`: some paths are longer, none closes a credit loop on its lane, by
    the levels with which the SA answers. The next sweep changes nothing."""
    with Simulation(generate(tmp_path, *DIRECT[fabric])) as simulation:
        with simulation.opensm("multipath", options={"lmc": 3, **FOREIGN_QOS}, log_flags=LOG_DUMPS,
                               heddle_conf=LAYERS) as opensm:
            assert "multipath tables configured on all switches" in opensm.log(), opensm.log()
            assert "ERR" not in opensm.log(), opensm.log()
            file, held = simulation.discover(), simulation.read_tables()
            offline, levels_file = simulation.folder / "lfts", simulation.folder / "sls"
            heddle("route", "-e", "multipath:mode=layers", file, "-o", offline, "--sl", levels_file)
            assert tables(held) == tables(offline)
            report = check(file, held, levels_file)
            assert report["clean"]
            assert report["hops"]["longer_routes"] > 0
            levels, lanes = read_levels(levels_file)
            assert len(compare_levels(simulation, Topology(file), levels)) > 1
            compare_maps(simulation, Topology(file), lanes)
            assert re.findall(r"heddle: multipath.*; (\d+) entries changed", opensm.sweep())[-1] == "0"


def test_cables_go_and_come_back(tmp_path):
    """After each change the lanes are free of credit loops by the levels of the SA, and at the end all entries are
    those of the beginning."""
    with Simulation(generate(tmp_path, *DIRECT["jellyfish"])) as simulation:
        with simulation.opensm("multipath", options={"lmc": 2, **FOREIGN_QOS}, log_flags=LOG_DUMPS,
                               heddle_conf=LAYERS) as opensm:
            first = tables(simulation.read_tables())
            topology = Topology(simulation.discover())
            cables = [end for end in ends(topology) if topology.peer[end][0] in topology.switches][3:60:25]
            for command in ("Unlink", "ReLink"):
                for switch, port in cables:
                    follow(simulation, opensm, f'{command} "S-{switch:016x}"[{port}]')
            assert tables(simulation.read_tables()) == first


def test_one_lane(tmp_path):
    """With `qos FALSE` there is one lane. Where base LIDs need more, the engine refuses and says what to do. Where they
    do not, it routes, and further LIDs have longer paths, too."""
    with Simulation(generate(tmp_path, *DIRECT["slim-fly"])) as simulation:
        log = simulation.opensm("multipath,updown", options={"lmc": 1}, heddle_conf=LAYERS).once()
        refusal = re.search(r"ERR HD05: multipath: .* need \d+ virtual lanes\b.*", log).group(0)
        assert "instead use turns" in refusal and "set `qos TRUE`" in refusal, refusal
        assert "updown tables configured on all switches" in log
    with Simulation(generate(tmp_path, *DIRECT["hyperx"])) as simulation:
        log = simulation.opensm("multipath", options={"lmc": 1}, heddle_conf=LAYERS).once()
        assert "multipath tables configured on all switches" in log, log
        report = check(simulation.discover(), simulation.read_tables())
        assert report["clean"] and report["hops"]["longer_routes"] > 0
