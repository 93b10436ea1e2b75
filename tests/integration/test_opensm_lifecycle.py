# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Loading, odd subnets, unloading: OpenSM never crashes, and the plugin leaves nothing behind."""

import re
import shutil
import subprocess

import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, check, generate, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

ENGINES = "dmodk,updown,spf"
LONE_SWITCH = 'Switch 4 "s"\n[1] "h"[1]\n\nCa 1 "h"\n[1] "s"[1]\n'
BACK_TO_BACK = 'Ca 1 "a"\n[1] "b"[1]\n\nCa 1 "b"\n[1] "a"[1]\n'
TWO_PORTED = """Switch 4 "s"
[1] "a"[1]
[2] "a"[2]
[3] "b"[1]
[4] "t"[4]

Switch 4 "t"
[1] "t"[2]
[2] "t"[1]
[4] "s"[4]

Ca 2 "a"
[1] "s"[1]
[2] "s"[2]

Ca 2 "b"
[1] "s"[3]
"""


def simulate(tmp_path, text):
    netlist = tmp_path / "odd.net"
    netlist.write_text(text)
    return Simulation(netlist)


def test_one_symbol_is_exported():
    """The library exports osm_event_plugin and nothing that could clash with another library."""
    done = subprocess.run(["nm", "-D", "--defined-only", str(fabric_sim.PLUGIN)], check=True,
                          capture_output=True, text=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["osm_event_plugin"]


@pytest.mark.parametrize("engine", ENGINES.split(","))
def test_a_lone_switch(tmp_path, engine):
    with simulate(tmp_path, LONE_SWITCH) as simulation:
        log = simulation.opensm(engine).once()
        assert f"{engine} tables configured on all switches" in log and "ERR" not in log, log
        assert check(simulation.discover(), simulation.read_tables())["clean"]


def test_no_switch_at_all(tmp_path):
    """Two hosts back to back: OpenSM brings the link up without any engine."""
    with simulate(tmp_path, BACK_TO_BACK) as simulation:
        log = simulation.opensm(ENGINES).once()
        assert "SUBNET UP" in log and "ERR HD" not in log, log


@pytest.mark.parametrize("engine", ENGINES.split(","))
def test_odd_cables(tmp_path, engine):
    """A host with both ports at one switch, one with an unused port, and a switch cabled to
    itself without any host."""
    with simulate(tmp_path, TWO_PORTED) as simulation:
        log = simulation.opensm(engine).once()
        assert f"{engine} tables configured on all switches" in log and "ERR HD" not in log, log
        assert check(simulation.discover(), simulation.read_tables())["clean"]


def test_a_switch_that_stops_answering(tmp_path):
    """If a switch stops answering, OpenSM drops it and paths go round it. When it is back, it is
    routed again."""
    netlist = generate(tmp_path, "xgft", "--children", "3,3,3", "--parents", "1,3,3")
    with Simulation(netlist) as simulation:
        settings = {"transaction_timeout": 500, "transaction_retries": 1}
        with simulation.opensm("dmodk,updown", options=settings) as opensm:
            topology = Topology(simulation.discover())
            first = tables(simulation.read_tables())
            silent = next(switch for switch in sorted(topology.switches)
                          if not any(topology.leaf(host) == switch for host in topology.hosts))
            simulation.command(f'Error "S-{silent:016x}" 100')
            opensm.sweep_until(r"heddle: dmodk: 26 switches, 53 LIDs;")
            simulation.command(f'Error "S-{silent:016x}" 0')
            opensm.sweep_until(r"heddle: dmodk: 27 switches, 54 LIDs;")
            held = simulation.read_tables()
            assert check(simulation.discover(), held)["clean"]
            assert tables(held) == first


def test_switches_that_tell_nothing_of_their_tables(tmp_path):
    """While SwitchInfo (attribute 18) of one switch is lost, OpenSM keeps running and routes the rest."""
    netlist = generate(tmp_path, "xgft", "--children", "3,3,3", "--parents", "1,3,3")
    with Simulation(netlist) as simulation:
        topology = Topology(netlist)
        silent = max(topology.switches)
        simulation.command(f'Error "S-{silent:016x}" 100 18')
        settings = {"transaction_timeout": 500, "transaction_retries": 1}
        log = simulation.opensm("dmodk,updown", options=settings).once()
        assert re.search(r"heddle: (dmodk|updown): 26 switches", log), log


def test_many_sweeps(tmp_path):
    """Sweep after sweep of an unchanged fabric changes nothing and takes no more memory."""
    netlist = generate(tmp_path, "irregular", "--switches", "30", "--radix", "8", "--seed", "7")
    with Simulation(netlist) as simulation:
        with simulation.opensm("updown") as opensm:
            for _ in range(5):
                opensm.sweep()
            early = resident(opensm.process.pid)
            log = "".join(opensm.sweep() for _ in range(15))
            assert set(re.findall(r"; (\d+) entries changed", log)) == {"0"}
            assert resident(opensm.process.pid) - early < 2000


def resident(pid):
    """Resident memory of a process in kB."""
    status = fabric_sim.pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_unload_is_clean(tmp_path):
    """Under valgrind a routing, a refusal and the unloading make no invalid access and leak no memory
    of ours."""
    netlist = generate(tmp_path, "irregular", "--switches", "6", "--radix", "6", "--seed", "1")
    with Simulation(netlist) as simulation:
        report = simulation.folder / "valgrind.txt"
        wrapper = ["valgrind", "--leak-check=full", "--show-leak-kinds=all",
                   "--keep-debuginfo=yes", "--num-callers=40", f"--log-file={report}"]
        log = simulation.opensm(ENGINES, wrapper=wrapper).once()
        assert "ERR HD05: dmodk" in log and "updown tables configured" in log, log
        blocks = re.split(r"^==\d+== $", report.read_text(), flags=re.M)
        ours = [block for block in blocks if "libheddle" in block]
    assert len(blocks) > 3, "valgrind said nothing"
    assert not ours, "\n".join(ours)
