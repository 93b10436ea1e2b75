# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`heddle status` and `heddle metrics` ask a live OpenSM: after the start, after losses, while engines
refuse, with routing keys and adaptive routing, and beside clients that misbehave."""

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import socket
import stat
import time

import cli_testing
import emulator
import fabric_sim
import pytest
import schemas
from ar_sim import programmed, sweep
from cli_testing import BAD, CLEAN, FAULTS
from emulator import AR_LFT, Emulator
from fabric_sim import PATIENCE, OpenSM, Simulation, Topology, check, generate, wait_until
from keys_sim import DONE, Client, Tree, key_of, random_flows, settings, socket_of

parser = pytest.importorskip("prometheus_client.parser", reason="needs python3-prometheus-client")
pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
SMALL = ("xgft", "--children=3,3,3", "--parents=1,3,3")
RING = ("torus", "--dims=5")
CABLE = '"S-0000000000200000"[4]'


def run(opensm, command, *options, status=CLEAN):
    return cli_testing.heddle(command, "--socket", opensm.status_socket(), *options, status=status)[0]


def ask_quietly(opensm):
    return json.loads(run(opensm, "status", "--json", status=None))


def ask(opensm, status=CLEAN):
    """The answer as JSON, held against its schema. The thread may see a sweep a little later than the log."""
    wait_until(lambda: bool(ask_quietly(opensm)["fault_count"]) == (status == FAULTS), f"status {status}")
    answer = json.loads(run(opensm, "status", "--json", status=status))
    schemas.validate("status", answer)
    assert answer["fault_count"] == sum(len(part["faults"]) for part in answer["parts"].values())
    return answer


def ask_after(opensm, sweeps, status=CLEAN):
    wait_until(lambda: ask_quietly(opensm)["parts"]["subnet"]["heavy_sweeps"] >= sweeps, f"{sweeps} sweeps")
    return ask(opensm, status)["parts"]


def metrics_of(text):
    """{name or (name, label): value}, by Prometheus's own parser. Names, types and helps are as its
    linter wants them."""
    found = {}
    for family in parser.text_string_to_metric_families(text):
        assert family.documentation and family.samples, family
        for sample in family.samples:
            assert re.fullmatch(r"heddle_[a-z_]+", sample.name)
            assert (family.type == "counter") == sample.name.endswith("_total")
            assert family.type in ("counter", "gauge"), family
            found[(sample.name, *sample.labels.values()) if sample.labels else sample.name] = sample.value
    assert text.endswith("# EOF\n") and found
    return found


def metrics(opensm):
    return metrics_of(run(opensm, "metrics"))


def test_a_cable_and_a_switch_are_lost(tmp_path):
    """After the start all is well, and the figures are those of `heddle check`. A cable and a switch that
    are lost are named; when they are back, all is well again."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, simulation.opensm("dmodk") as opensm:
        parts = ask_after(opensm, 1)
        report = check(simulation.discover(), simulation.read_tables())
        names = Topology(simulation.discover()).names
        assert parts["subnet"]["state"] == "master" and parts["subnet"]["heavy_sweeps"] == 1
        assert parts["subnet"]["pid"] == opensm.process.pid
        assert parts["engines"]["in_force"] == parts["engines"]["first"] == "dmodk"
        assert parts["engines"]["line"] in opensm.log()
        assert (parts["fabric"]["switches"], parts["fabric"]["hosts"], parts["fabric"]["cables"]) == (27, 27, 81)
        assert parts["load"]["largest"] == report["flows"]["max"]
        assert abs(parts["load"]["mean"] - report["flows"]["mean"]) < 0.01
        assert "All is well." in run(opensm, "status")
        simulation.command(f"Unlink {CABLE}")
        opensm.sweep()
        parts = ask(opensm, FAULTS)["parts"]
        assert parts["fabric"]["lost"] == [{"text": "cable 'S1_0_0'[4] - 'S2_0_0'[1]"}]
        assert run(opensm, "status", "--nagios", status=1).startswith("HEDDLE WARNING - master, dmodk")
        assert metrics(opensm)["heddle_lost_cables"] == 1
        spine = f"S-{names['S2_1_1']:016x}"
        simulation.command(f'Unlink "{spine}"')
        opensm.sweep()
        wait_until(lambda: ask(opensm, FAULTS)["parts"]["fabric"]["lost_switches"] == 1, "the lost switch")
        text = run(opensm, "status", status=FAULTS)
        assert "lost: switch 'S2_1_1'" in text and "lost: cable 'S1_0_0'[4]" in text
        assert "Degraded:\n" in text and "fabric: 1 switch was lost" in text
        assert len(ask(opensm, FAULTS)["parts"]["fabric"]["lost"]) == 2
        for line in (f"ReLink {CABLE}", f'ReLink "{spine}"'):
            simulation.command(line)
        opensm.sweep()
        wait_until(lambda: not ask_quietly(opensm)["fault_count"], "a whole fabric")
        figures = metrics(opensm)
        assert figures["heddle_faults"] == figures["heddle_lost_switches"] == figures["heddle_lost_cables"] == 0
        assert figures["heddle_sweeps_total"] >= 4 and figures["heddle_changed_entries_total"] > 1458
        assert figures["heddle_engine_info", "dmodk"] == 1


def test_aggregation_nodes_on_one_lane(tmp_path):
    """A badly damaged tree, one lane, and a file of roots that spf does not use: no switch lacks an entry. The next
    sweep changes nothing, and says nothing of it."""
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4", "--remove-links=25%",
                       "--aggregation-nodes")
    roots = tmp_path / "roots"
    roots.write_text("0x" + re.findall(r'"S-([0-9a-f]{16})"', netlist.read_text())[-1] + "\n")
    with Simulation(netlist) as simulation, \
            simulation.opensm("spf", options={"root_guid_file": str(roots)}) as opensm:
        load = ask_after(opensm, 1)["load"]
        report = check(simulation.discover(), simulation.read_tables())
        assert load["missing_entries"] == report["no_route"] == 0
        assert metrics(opensm)["heddle_missing_entries"] == 0
        assert re.search(r"heddle: \d+ entries for hosts moved", opensm.log())
        before = len(opensm.log())
        opensm.sweep()
        log = opensm.log()[before:]
        assert "; 0 entries changed" in log
        assert "aggregation nodes" not in log and "afresh" not in log


@pytest.mark.parametrize("engines, in_force, refused", (
    ("dmodk,updown", "updown", ["dmodk"]), ("dmodk", "minhop", ["dmodk"]), ("minhop", "minhop", []),
    ("ftree,dmodk,spf", "spf", ["dmodk", "ftree"])))
def test_engines_that_refuse(tmp_path, engines, in_force, refused):
    """The engine in force and the reasons of those before it; lost cables are known whatever engine routes."""
    with Simulation(generate(tmp_path, *RING)) as simulation, \
            simulation.opensm(engines, options={"qos": "TRUE"}) as opensm:
        parts = ask_after(opensm, 1, FAULTS if refused else CLEAN)
        assert parts["engines"]["in_force"] == in_force
        reasons = {one["engine"]: one["reason"] for one in parts["engines"]["refused"]}
        assert sorted(reasons) == refused
        assert "dmodk" not in refused or reasons["dmodk"] in opensm.log()
        assert ("load" in parts) == parts["engines"]["heddle"] == (in_force != "minhop")
        assert run(opensm, "status", "--nagios", status=2 if refused else 0).startswith(
            "HEDDLE CRITICAL" if refused else "HEDDLE OK")
        simulation.command('Unlink "S-0000000000200000"[2]')
        opensm.sweep()
        wait_until(lambda: ask_quietly(opensm)["parts"]["fabric"]["lost_cables"] == 1, "the lost cable")


@pytest.mark.parametrize("engines, unknown, in_force", (
    ("dmodkk,updown", "dmodkk", "updown"), ("no_fallback, updwn updown", "updwn", "updown"),
    ("best", "best", "minhop"), ("no_fallback,updown", "", "updown"), ("(null)", "", "minhop")))
def test_engines_that_opensm_does_not_know(tmp_path, engines, unknown, in_force):
    """A name that is misspelt is a fault. No name at all is none."""
    with Simulation(generate(tmp_path, *RING)) as simulation, simulation.opensm(engines) as opensm:
        part = ask_after(opensm, 1, FAULTS if unknown else CLEAN)["engines"]
        assert part["unknown"] == unknown and part["in_force"] == in_force
        assert not unknown or part["faults"] == [f"OpenSM does not know the engine '{unknown}' of routing_engine"]
        assert metrics(opensm)["heddle_engine_fallback"] == bool(unknown)


def test_no_engine_routes(tmp_path):
    """no_fallback: the sweep has no tables, and status says so, though OpenSM is never up."""

    class Stranded(OpenSM):
        def wait_for(self, text, since=0, timeout=PATIENCE):
            return super().wait_for("no engine is left", since, timeout)

    with Simulation(generate(tmp_path, *RING)) as simulation, \
            Stranded(simulation, "dmodk,no_fallback") as opensm:
        wait_until(lambda: ask_quietly(opensm)["fault_count"] == 2, "the faults")
        faults = ask_quietly(opensm)["parts"]["engines"]["faults"]
        assert faults[0] == "no engine routes this fabric" and faults[1].startswith("dmodk refuses: no tables")
        assert metrics(opensm)["heddle_engine_fallback"] == 1


def test_routing_keys(tmp_path):
    """Status beside a client of the key channel: keys in force, one that a sweep breaks, and one that is
    removed."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, simulation.opensm(
            "nrk", options={"lmc": 2}, heddle_conf=settings(simulation.folder)) as opensm:
        assert ask(opensm)["parts"]["keys"] | {"summary": ""} == {
            "summary": "", "listening": True, "connected": False, "refusal": "", "count": 0, "broken": 0,
            "broken_keys": [], "faults": []}
        message = cli_testing.refused("status", "-s", socket_of(simulation.folder))
        assert "this is no answer of Heddle's plugin; is it the socket of [status]?" in message
        with Client(socket_of(simulation.folder)) as client:
            client.greeting()
            topology = Topology(simulation.discover())
            entries = key_of(Tree(topology), random_flows(topology.hosts, 1), 1)
            client.set_done(1, entries)
            keys = ask(opensm)["parts"]["keys"]
            assert keys["connected"] and keys["count"] == 1
            switch, port = next((switch, port) for switch, _, port in entries
                                if topology.peer[switch, port][0] in topology.switches)
            simulation.command(f'Unlink "S-{switch:016x}"[{port}]')
            opensm.sweep()
            wait_until(lambda: ask_quietly(opensm)["parts"]["keys"]["broken"] == 1, "the broken key")
            keys = ask(opensm, FAULTS)["parts"]["keys"]
            assert keys["count"] == 0 and keys["broken_keys"][0]["key"] == 1
            assert metrics(opensm)["heddle_keys_broken"] == 1
            client.set_done(1, [])
            assert ask(opensm, FAULTS)["parts"]["keys"]["broken"] == 0
        wait_until(lambda: not ask_quietly(opensm)["parts"]["keys"]["connected"], "the end of the client")


def test_adaptive_routing(tmp_path):
    """Groups in the switches; a switch that does not take its table is pending."""
    emulated = Emulator()
    with Simulation(generate(tmp_path, *SMALL), emulator=emulated) as simulation, \
            simulation.opensm("ar_dmodk") as opensm:
        said = programmed(opensm)
        wait_until(lambda: ask_quietly(opensm)["parts"]["ar"]["on"], "adaptive routing")
        ar = ask(opensm)["parts"]["ar"]
        assert (ar["switches"], ar["groups"], ar["pending"]) == (said["switches"], said["groups"], 0)
        assert metrics(opensm)["heddle_adaptive_groups"] == said["groups"]
        victim = 0x200000
        emulated.fault(victim, "refuse=0x1c", attribute=AR_LFT)
        simulation.command(f'Unlink "S-{victim:016x}"[5]')
        opensm.sweep()
        wait_until(lambda: ask_quietly(opensm)["parts"]["ar"]["pending"] > 0, "a pending switch")
        ar = ask(opensm, FAULTS)["parts"]["ar"]
        assert f"0x{victim:016x}" in [one["guid"] for one in ar["pending_switches"]]


def test_nothing_is_adaptive(tmp_path):
    """Adaptive routing on a fabric that is no tree and has no parallel cables: the log names a cable once, and the
    state is degraded with the reason, for Nagios, too. With parallel cables all is well."""
    torus = ("torus", "--dims=3,3", "--hosts=1")
    with Simulation(generate(tmp_path, *torus), emulator=Emulator()) as simulation, \
            simulation.opensm("ar_spf") as opensm:
        assert programmed(opensm)["groups"] == 0
        wait_until(lambda: ask_quietly(opensm)["parts"]["ar"]["faults"], "the fault")
        ar = ask(opensm, FAULTS)["parts"]["ar"]
        cable = re.search(r"'S_\w+' 0x[0-9a-f]{16}\[\d+\] - 'S_\w+' 0x[0-9a-f]{16}\[\d+\]", ar["reason"])[0]
        assert ar["adaptive_entries"] == 0 < ar["entries"]
        assert ar["faults"] == [f"adaptive routing is wanted, but no entry is adaptive: {ar['reason']}"]
        assert "; what would allow it: " in ar["reason"]
        nagios = run(opensm, "status", "--nagios", status=FAULTS)
        assert nagios.startswith("HEDDLE WARNING - ") and cable in nagios
        found = metrics(opensm)
        assert found["heddle_adaptive_entries"] == 0 < found["heddle_adaptive_plan_entries"]
        sweep(opensm)
        lines = [line for line in opensm.log().splitlines() if "WRN: adaptive routing: " in line]
        assert len(lines) == 1 and cable in lines[0]
    with Simulation(generate(tmp_path, *torus, "--parallel=2"), emulator=Emulator()) as simulation, \
            simulation.opensm("ar_spf") as opensm:
        wait_until(lambda: ask_quietly(opensm)["parts"]["ar"]["on"], "adaptive routing")
        ar = ask(opensm)["parts"]["ar"]
        assert ar["algorithm"] == "lag" and 0 < ar["adaptive_entries"] <= ar["entries"] and not ar["faults"]


def connect(opensm):
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(opensm.status_socket()))
    client.settimeout(PATIENCE)
    return client


def answer_to(opensm, data):
    """What comes for these bytes; an end without an answer is b""."""
    with connect(opensm) as client:
        got = b""
        try:
            client.sendall(data)
            while piece := client.recv(65536):
                got += piece
        except ConnectionError:
            pass
        return got


def test_many_clients_and_bad_ones(tmp_path):
    """50 clients at once are served while OpenSM sweeps and others send nothing, send garbage, send half a
    line, or read nothing. OpenSM keeps no connection."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, simulation.opensm("dmodk") as opensm:
        ask_after(opensm, 1)
        mode = opensm.status_socket().stat().st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
        for garbage in (b"GET / HTTP/1.0\r\n\r\n", bytes(31), b"x" * 4096, b"status", b"\n", b"status json\n",
                        b"\xff\xfe\n", b"s\0tatus\n"):
            with connect(opensm) as client:
                client.sendall(garbage)
                client.shutdown(socket.SHUT_WR)
                try:
                    assert client.recv(1) == b""
                except ConnectionError:
                    pass
        assert json.loads(answer_to(opensm, b"status\r\n"))["format"] == 1
        assert json.loads(answer_to(opensm, b"status\nmetrics\n"))["format"] == 1
        descriptors = len(os.listdir(f"/proc/{opensm.process.pid}/fd"))
        idle = [connect(opensm) for _ in range(20)]
        for number, client in enumerate(idle):
            client.sendall((b"", b"stat", b"status\n")[number % 3])
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            answers = [pool.submit(answer_to, opensm, (b"status\n", b"metrics\n")[i % 2]) for i in range(50)]
            for _ in range(5):
                opensm.sweep()
            for number, answer in enumerate(answers):
                if number % 2:
                    assert metrics_of(answer.result().decode())["heddle_switches"] == 27
                else:
                    schemas.validate("status", json.loads(answer.result()))
        for client in idle:
            client.close()
        wait_until(lambda: len(os.listdir(f"/proc/{opensm.process.pid}/fd")) <= descriptors,
                   "the end of idle connections")


def test_more_idle_clients_than_there_are_places(tmp_path):
    """Idle clients make room for others, the oldest first. OpenSM sweeps on."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, simulation.opensm("dmodk") as opensm:
        ask_after(opensm, 1)
        idle = [connect(opensm) for _ in range(200)]
        assert json.loads(answer_to(opensm, b"status\n"))["format"] == 1
        for client in idle[:200 - 64]:
            assert client.recv(1) == b""
        opensm.sweep()
        assert ask_after(opensm, 2)
        for client in idle:
            client.close()


def test_restarts_and_a_second_opensm(tmp_path):
    """A socket that a killed OpenSM leaves is replaced. A second OpenSM does not take the path of the first,
    and does not remove its socket. Without an OpenSM the commands say that nobody answers."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        with simulation.opensm("dmodk") as opensm:
            first = ask(opensm)["parts"]["subnet"]["pid"]
            os.kill(opensm.process.pid, signal.SIGKILL)
            opensm.process.wait(PATIENCE)
        assert opensm.status_socket().exists()
        for command in ("status", "metrics"):
            message = cli_testing.refused(command, "--socket", opensm.status_socket())
            assert "no answer: Connection refused; is OpenSM running" in message
        assert run(opensm, "status", "--nagios", status=3).startswith("HEDDLE UNKNOWN - ")
        with simulation.opensm("dmodk") as opensm:
            second = ask(opensm)["parts"]["subnet"]["pid"]
            assert second != first
            rival = Rival(simulation)
            assert f"{rival.status_socket()}: another process has this socket" in rival.once()
            assert ask(opensm)["parts"]["subnet"]["pid"] == second
        assert not opensm.status_socket().exists()
        run(opensm, "status", status=BAD)


class Rival(OpenSM):
    """At another host of the fabric, with the same path for its socket."""

    def __init__(self, simulation):
        super().__init__(simulation, "dmodk", options={"sm_priority": 15})
        self.log_file = simulation.folder / "rival.log"

    def _environment(self):
        return dict(super()._environment(), SIM_HOST="H_0_0_1", OSM_CACHE_DIR=str(self.folder / "rival"))


def test_settings(tmp_path):
    """The socket moves, goes and comes with heddle.conf. A group that does not exist is an error in the log."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation, simulation.opensm("dmodk") as opensm:
        path, other = opensm.status_socket(), simulation.folder / "made" / "other.sock"
        opensm.write_heddle_conf(f"[status]\nsocket = {other}\n")
        opensm.sweep()
        assert not path.exists() and json.loads(
            cli_testing.heddle("status", "--json", "-s", other)[0])["fault_count"] == 0
        opensm.write_heddle_conf("[status]\nsocket =\n")
        opensm.sweep()
        assert not other.exists()
        opensm.write_heddle_conf(f"[status]\nsocket = {path}\ngroup = no-such-group\n")
        assert f"ERR HD14: heddle status cannot ask this OpenSM: {path}: there is no group" in opensm.sweep()
        assert "ERR HD14" not in opensm.sweep()
        opensm.write_heddle_conf(f"[status]\nsocket = {path}\n")
        opensm.sweep()
        assert ask(opensm)["parts"]["subnet"]["state"] == "master"
        opensm.write_heddle_conf("[status]\nsocket = relative\n")
        assert "ERR HD02" in opensm.sweep() and ask(opensm)


def test_the_port_in_a_path(tmp_path):
    """%g is the GUID of the port that opensm.conf names. A path that gets too long is an error."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        guid = simulation.run("ibstat", "-p").split()[0]
        path = simulation.folder / "status-%g.sock"
        conf = f"[status]\nsocket = {path}\n[metrics]\ntextfile = {simulation.folder}/%g.prom\n"
        for number, options in (("default", {}), (guid, {"guid": guid})):
            with simulation.opensm("dmodk", heddle_conf=conf, options=options):
                cli_testing.heddle("status", "-s", str(path).replace("%g", number))
                wait_until((simulation.folder / f"{number}.prom").exists, "the file of metrics")
        long = f"{simulation.folder}/{'x' * (103 - len(str(simulation.folder)))}%g"
        with simulation.opensm("dmodk", heddle_conf=f"[status]\nsocket = {long}\n", options={"guid": guid}) as opensm:
            assert "ERR HD14: heddle status cannot ask this OpenSM: the path is too long for a socket" in opensm.log()


def test_the_file_for_the_node_exporter(tmp_path):
    """It is as what `heddle metrics` prints, for all to read, and new after each sweep. A folder that is
    missing is one line in the log."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        path = simulation.folder / "exporter" / "heddle.prom"
        with simulation.opensm("dmodk", heddle_conf=f"[metrics]\ntextfile = {path}\n") as opensm:
            wait_until(lambda: "ERR HD14: metrics: " in opensm.log(), "the error")
            opensm.sweep()
            assert opensm.log().count("ERR HD14") == 1
            path.parent.mkdir()
            for sweeps in (3, 4):
                opensm.sweep()
                wait_until(lambda: path.exists() and metrics_of(path.read_text())["heddle_sweeps_total"] >= sweeps,
                           "the file")
            assert metrics_of(path.read_text()) == metrics(opensm)
            assert stat.S_IMODE(path.stat().st_mode) == 0o644 and os.listdir(path.parent) == [path.name]
            assert opensm.log().count("ERR HD14") == 1


def test_the_file_goes_with_its_option(tmp_path):
    """A collector would go on with it. A file that somebody else has put there stays."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        first, second = simulation.folder / "first.prom", simulation.folder / "second.prom"
        with simulation.opensm("dmodk", heddle_conf=f"[metrics]\ntextfile = {first}\n") as opensm:
            wait_until(first.exists, "the file")
            opensm.write_heddle_conf(f"[metrics]\ntextfile = {second}\n")
            opensm.sweep()
            wait_until(lambda: second.exists() and not first.exists(), "the other file")
            assert f"metrics: removed {first}, which heddle.conf does not name any more" in opensm.log()
            opensm.write_heddle_conf("[heddle]\n")
            opensm.sweep()
            wait_until(lambda: not second.exists(), "no file")
            opensm.write_heddle_conf(f"[metrics]\ntextfile = {first}\n")
            opensm.sweep()
            wait_until(first.exists, "the file")
            (simulation.folder / "other").write_text("of another program")
            (simulation.folder / "other").rename(first)
            opensm.write_heddle_conf(f"[metrics]\ntextfile = {second}\n")
            opensm.sweep()
            wait_until(second.exists, "the other file")
            assert first.read_text() == "of another program"


def test_a_file_that_could_not_be_replaced_stays(tmp_path):
    """Heddle has not written it, so it does not remove it when the option goes."""
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        first, second = simulation.folder / "first.prom", simulation.folder / "second.prom"
        first.write_text("of another program")
        (simulation.folder / "first.prom.new").mkdir()
        with simulation.opensm("dmodk", heddle_conf=f"[metrics]\ntextfile = {first}\n") as opensm:
            wait_until(lambda: "ERR HD14: metrics: " in opensm.log(), "the error")
            opensm.write_heddle_conf(f"[metrics]\ntextfile = {second}\n")
            opensm.sweep()
            wait_until(second.exists, "the other file")
            assert first.read_text() == "of another program"


def test_routing_engine_that_waits_for_a_restart(tmp_path):
    """OpenSM reads routing_engine only when it starts: the log and status say so, once, until it is as before."""
    def engines():
        shown = cli_testing.heddle("status", "--json", "-s", opensm.status_socket(), status=None)[0]
        return schemas.validate("status", json.loads(shown))["parts"]["engines"]

    said = "is now updown,minhop, but OpenSM reads it only when it starts: it goes on with dmodk until it restarts"
    with Simulation(generate(tmp_path, *SMALL)) as simulation:
        with simulation.opensm("dmodk") as opensm:
            assert engines()["pending"] == ""
            opensm.engines = "updown,minhop\t # soon"
            opensm.rewrite_options()
            for _ in range(2):
                opensm.sweep()
            assert opensm.log().count(said) == 1
            shown = engines()
            assert shown["pending"] == "updown,minhop" and shown["in_force"] == "dmodk" and shown["faults"] == []
            assert shown["summary"] == ("dmodk, the first of routing_engine; routing_engine in opensm.conf is now "
                                        "updown,minhop; it takes effect when OpenSM restarts")
            opensm.engines = "'dmodk'"
            opensm.rewrite_options()
            opensm.sweep()
            assert engines()["pending"] == "" and engines()["summary"] == "dmodk, the first of routing_engine"
            assert opensm.log().count("routing_engine in ") == 1


def test_a_standby_lists_no_faults(tmp_path):
    """A second OpenSM with a lower priority is a standby. It answers, and nothing is its fault."""

    class Standby(OpenSM):
        def __init__(self, simulation):
            super().__init__(simulation, "dmodk", options={"sm_priority": 0})
            self.folder = simulation.folder / "standby"
            self.folder.mkdir()
            self.conf, self.log_file = self.folder / "heddle.conf", self.folder / "osm.log"
            self.write_heddle_conf("")

        def _environment(self):
            return dict(super()._environment(), SIM_HOST="H_0_0_1", OSM_CACHE_DIR=str(self.folder))

        def wait_for(self, text, since=0, timeout=PATIENCE):
            return super().wait_for("Entering STANDBY", since, timeout)

    with Simulation(generate(tmp_path, *SMALL)) as simulation, \
            simulation.opensm("dmodk", options={"sm_priority": 9}) as opensm, Standby(simulation) as other:
        wait_until(lambda: ask_quietly(other)["parts"]["subnet"]["state"] == "standby", "the standby")
        assert not ask_quietly(other)["parts"]["subnet"]["sweeping"]
        assert "This OpenSM is not the master" in run(other, "status")
        assert metrics(other)["heddle_master"] == 0 and metrics(opensm)["heddle_master"] == 1
