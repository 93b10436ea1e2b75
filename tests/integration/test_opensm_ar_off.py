# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive routing that is not wanted: what an earlier run has left on, and switches that do not switch it off. Until a
switch has said that it is off, everything that Heddle says counts it as on."""

import json
import re
import signal
import subprocess

import pytest

import emulator
import fabric_sim
from ar_sim import programmed
from emulator import AR_INFO, GENERAL_INFO, LFT, Emulator
from fabric_sim import Simulation, Topology, generate, heddle, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")
LEAF = 0x200000
FOUND = r"adaptive routing is on in (\d+) switches, with tables that are not known, and is switched off(, after OpenSM's own)?"
ON = "[ar]\nenable = yes\n"
BRISK = {"transaction_timeout": 100}  # a silent switch costs little


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("ar_off"), *TREE)


def on(emulated):
    """The switches that send by their AR tables."""
    return {guid for guid, held in emulated.tables().items() if held["enabled"]}


def status(opensm):
    return json.loads(heddle("status", "-s", opensm.status_socket(), "--json", check=False).stdout)["parts"]


def run_before(simulation, emulated, stop):
    """OpenSM has adaptive routing on, and ends. Returns the switches that have it."""
    with simulation.opensm("dmodk", heddle_conf=ON, options=BRISK) as opensm:
        programmed(opensm)
        found = on(emulated)
        if stop == "kill":
            opensm.process.send_signal(signal.SIGKILL)
            opensm.process.wait()
    assert len(found) == 32 and on(emulated) == found
    return found


@pytest.mark.parametrize("stop", ("end", "kill"))
@pytest.mark.parametrize("engine, conf", (("dmodk", ""), ("dmodk", "[ar]\nenable = no\n"), ("dmodk", "[ar\nenable: yes\n"),
                                          ("minhop", "")), ids=("engine", "no", "broken", "minhop"))
def test_restart_without(netlist, stop, engine, conf):
    """A run that does not want adaptive routing finds it on, and switches it off before a switch gets a table of Heddle's.
    OpenSM's own engine writes its first tables before anybody may ask."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        found = run_before(simulation, emulated, stop)
        simulation.folder.joinpath("osm.log").write_text("")
        for file in simulation.folder.glob("heddle-tables*"):  # so that the switches get other tables
            file.unlink()
        trace = simulation.folder / "trace"
        emulated.watch()
        emulated.trace(trace)
        with simulation.opensm(engine, heddle_conf=conf) as opensm:
            emulated.trace(None)
            wait_until(lambda: on(emulated) == set(), "all to be off")
            said = re.search(FOUND, opensm.log())
            assert said[1] == str(len(found)) and bool(said[2]) == (engine == "minhop")
            sets = [(int(row.split()[0], 16), int(row.split()[2], 0)) for row in trace.read_text().splitlines()
                    if row.split()[1] == "set"]
            first = next((place for place, (_, attribute) in enumerate(sets) if attribute == LFT), len(sets))
            assert engine == "minhop" or found <= {guid for guid, attribute in sets[:first] if attribute == AR_INFO}
            assert "ERR HD11" not in opensm.log()
            if "enable:" not in conf:  # with a heddle.conf that cannot be read, nobody knows the socket
                wait_until(lambda: status(opensm)["ar"]["summary"] == "off", "the state")
                assert not status(opensm)["ar"]["faults"]


def is_named(opensm, guid):
    ar = status(opensm)["ar"]
    return [one["guid"] for one in ar["pending_switches"]] == [f"0x{guid:016x}"] and \
        any("may have adaptive routing on" in fault for fault in ar["faults"])


@pytest.mark.parametrize("restarted", (False, True), ids=("running", "restarted"))
def test_a_silent_leaf(netlist, restarted):
    """A leaf ignores the vendor's MADs when adaptive routing goes off, or from the start of a new OpenSM on, and answers
    later. Until then it is named by status, log, certificate and drain; each sweep tries again."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        conf = f"[ar]\nenable = no\n[certificate]\nfile = {simulation.folder}/fabric.cert\n"
        if restarted:
            run_before(simulation, emulated, "kill")
            emulated.fault(LEAF, "silent")
        with simulation.opensm("dmodk", heddle_conf=conf if restarted else ON, options=BRISK) as opensm:
            if not restarted:
                programmed(opensm)
                emulated.fault(LEAF, "silent")
                opensm.write_heddle_conf(conf)
                opensm.sweep()
            wait_until(lambda: on(emulated) == {LEAF}, "the others to be off")
            wait_until(lambda: is_named(opensm, LEAF), lambda: f"the fault\n{status(opensm)['ar']}")
            for _ in range(3):
                opensm.sweep()
            wait_until(lambda: is_named(opensm, LEAF), "the fault, still")
            assert on(emulated) == {LEAF}
            opensm.wait_for_match(rf"ERR HD11: switch 0x{LEAF:016x} does")
            wait_until(lambda: "not known what the switches hold" in status(opensm)["certificate"]["reason"],
                       lambda: f"the reason\n{status(opensm)['certificate']}")
            assert not (simulation.folder / "fabric.cert").exists()
            since = len(opensm.log())
            said = heddle("drain", "-s", opensm.drain_socket(), "--apply", "S1_1_1[5]").stdout
            assert said.startswith("safe to pull: S1_1_1[5]")  # no cable of the leaf
            assert re.search(rf"ERR HD11: 1 switch has not confirmed .* 0x{LEAF:016x}: what is proved.*(?s:.)*in order:",
                             opensm.log()[since:])
            drained = subprocess.Popen([fabric_sim.HEDDLE, "drain", "-s", opensm.drain_socket(), "--apply", "S1_0_0[5]"],
                                       stdout=subprocess.PIPE, text=True)
            reason = f"it is not known what switch 0x{LEAF:016x} holds of adaptive routing, and its port 5 leads there"
            try:
                wait_until(lambda: f"NOT SAFE TO PULL YET: {reason}" in heddle(
                    "drain", "-s", opensm.drain_socket(), "--list").stdout, "the drain")
                assert any(reason in fault for fault in status(opensm)["drain"]["faults"])
                for _ in range(2):
                    opensm.sweep()
                assert drained.poll() is None
                emulated.heal()
                assert drained.communicate()[0].startswith("safe to pull: S1_0_0[5]")
            finally:
                drained.kill()
                drained.wait()
            assert on(emulated) == set()
            wait_until(lambda: not status(opensm)["ar"]["faults"], "no fault")
            wait_until(lambda: status(opensm)["certificate"]["current"], "the certificate")


@pytest.mark.parametrize("refused", (False, True), ids=("not wanted", "refused"))
def test_a_dead_leaf_is_not_waited_for(netlist, refused):
    """All links of a leaf are down when adaptive routing goes off: nothing is sent to it. Here a MAD without an answer
    would hold OpenSM for half an hour."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("dmodk", heddle_conf=ON, options=fabric_sim.SURE) as opensm:
            programmed(opensm)
            topology = Topology(simulation.discover())
            ends = {name: sorted(port for node, port in topology.peer if node == topology.names[name])
                    for name in ("S1_1_0", "S1_2_0", "S1_2_1")}
            since = len(opensm.log())
            dead = [("S1_1_0", port) for port in ends["S1_1_0"]]
            if refused:  # two leaves without a switch above in common, so that minhop routes
                dead += [("S1_2_0", port) for port in ends["S1_2_0"][4:7]] + [("S1_2_1", ends["S1_2_1"][7])]
            else:
                opensm.write_heddle_conf("[ar]\nenable = no\n")
            simulation.command("\n".join(f'Unlink "S-{topology.names[name]:016x}"[{port}]' for name, port in dead))
            opensm.sweep_until("minhop tables configured" if refused else "dmodk: 47 switches", since=since)
            wait_until(lambda: on(emulated) == {topology.names["S1_1_0"]}, lambda: f"the others\n{opensm.log()[-3000:]}")


@pytest.mark.parametrize("able", (False, True))
def test_sweeps_go_in_order_while_it_is_on(netlist, able):
    """Without `ordered = yes`; not where it is wanted, but no switch has it."""
    emulated = Emulator(setup=[] if able else ["ar all share=0", "ar all refuse"])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("dmodk", heddle_conf=ON, options=BRISK) as opensm:
            wait_until(lambda: status(opensm)["ar"]["summary"].startswith("on" if able else "off"), "the state")
            since = len(opensm.log())
            simulation.command(f'Unlink "S-{Topology(simulation.discover()).names["S1_1_0"]:016x}"[5]')
            log = opensm.sweep_until(fabric_sim.CHANGED, since=since)
            assert ("heddle: in order" in log) == able, log


def test_no_certificate_of_a_table_that_was_refused(netlist):
    """A switch refuses its forwarding table: the tables in force are not those of the routing until it takes it."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        conf = f"[certificate]\nfile = {simulation.folder}/fabric.cert\n"
        with simulation.opensm("dmodk", heddle_conf=conf, options=BRISK) as opensm:
            wait_until(lambda: status(opensm)["certificate"]["current"], "the certificate")
            emulated.fault(LEAF, "refuse=0x1c", LFT, "set")
            simulation.command(f'Unlink "S-{LEAF:016x}"[5]')
            opensm.sweep_until("dmodk: .* entries changed")
            wait_until(lambda: f"switch 0x{LEAF:016x} has not got its forwarding table" in
                       status(opensm)["certificate"]["reason"], lambda: status(opensm)["certificate"], 60)
            emulated.heal()
            opensm.sweep()
            wait_until(lambda: status(opensm)["certificate"]["current"], "the certificate")


def test_over_a_path_of_now(netlist):
    """dmodk refuses after losses and minhop routes: adaptive routing goes off everywhere, also at switches to which the
    paths of the last routing are dead."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options=BRISK) as opensm:
            programmed(opensm)
            topology = Topology(simulation.discover())
            up = lambda name: [port for port in range(5, 9) if (topology.names[name], port) in topology.peer]
            first, second = topology.names["S1_0_0"], topology.names["S1_1_0"]
            since = len(opensm.log())
            lost = [f'Unlink "S-{first:016x}"[{port}]' for port in up("S1_0_0")[:3]]
            lost.append(f'Unlink "S-{second:016x}"[{up("S1_0_0")[3]}]')
            simulation.command("\n".join(lost))
            opensm.sweep_until("minhop tables configured", since=since)
            wait_until(lambda: on(emulated) == set(), lambda: f"all to be off\n{opensm.log()[-3000:]}")


def test_costs_one_get(netlist):
    """A switch without adaptive routing is asked once, one with it twice, at the start; none later."""
    emulated = Emulator(setup=["ar all share=0.67", "ar all refuse"])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm("dmodk", options=fabric_sim.SURE) as opensm:
            for _ in range(3):
                opensm.sweep()
            asked = emulated.counters()
            assert len(asked) == 48
            able = {(GENERAL_INFO, "get"): 1, (AR_INFO, "get"): 1}
            assert all(counts in (able, {(GENERAL_INFO, "get"): 1}) for counts in asked.values()), asked
            assert {len(counts) for counts in asked.values()} == {1, 2}
            assert status(opensm)["ar"]["summary"] == "off" and not status(opensm)["ar"]["faults"]


def test_another_manager(netlist):
    """With `foreign = yes` nothing is asked, and what Heddle says names that."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        found = run_before(simulation, emulated, "end")
        emulated.zero()
        conf = f"[ar]\nforeign = yes\n[certificate]\nfile = {simulation.folder}/fabric.cert\n"
        with simulation.opensm("ar_dmodk", heddle_conf=conf) as opensm:
            assert emulated.counters() == {} and on(emulated) == found
            assert status(opensm)["ar"]["summary"].startswith("left to another manager")
            wait_until(lambda: status(opensm)["certificate"]["current"], "the certificate")
            said = heddle("drain", "-s", opensm.drain_socket(), "--apply", "S1_1_1[5]").stdout.splitlines()
            assert said[0].startswith("safe to pull: S1_1_1[5]") and said[1].startswith("adaptive routing is another")
            opensm.write_heddle_conf("")  # the engine's name asks for it
            opensm.sweep()
            programmed(opensm, opensm.log().index("heddle: drain: user"))
            opensm.wait_for_match(FOUND)


def test_a_switch_that_is_left_alone(netlist):
    """[ar.switch GUID] says of one switch that it has another manager: the others get the plan, and it is asked nothing."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated) as simulation:
        emulated.fault(LEAF, "silent")
        conf = f"{ON}[ar.switch 0x{LEAF:x}]\nforeign = yes\n"
        with simulation.opensm("dmodk", heddle_conf=conf, options=BRISK) as opensm:
            assert programmed(opensm)["switches"] == 31
            assert LEAF not in emulated.counters() and not status(opensm)["ar"]["faults"]


def test_one_port_for_two(netlist):
    """With ibsim's own library alone a second umad port would get the answers to OpenSM's questions. The plugin opens none,
    and says so."""
    with Simulation(netlist) as simulation:
        simulation.preload = fabric_sim.preload
        with simulation.opensm("dmodk") as opensm:
            opensm.wait_for("SUBNET UP")
            assert "switches are not asked for adaptive routing" in opensm.log()
            assert status(opensm)["ar"]["summary"].startswith("left to another manager")
