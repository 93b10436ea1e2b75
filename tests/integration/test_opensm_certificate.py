# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Certificates that the plugin writes, live: programs that share no code with it verify them against the topology and
the tables that ibsim has, after a sweep, a loss that is repaired, a return, and a lost switch."""

import json
import re
import subprocess
import time

import pytest

import cli_testing
import emulator
import fabric_sim
import schemas
from ar_sim import differing, plan_of, programmed, sweep
from cli_testing import SOURCE
from emulator import Emulator
from fabric_sim import SURE, Simulation, generate, wait_until
from repair_sim import REPAIR, all_cables, cable, lose, restore, spine_of

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

LINE = r"heddle: certificate: \S+ is that of (\S+ sweep (\d+) change (\d+))"


@pytest.fixture(scope="module", name="programs")
def build_programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name in ("verify_certificate", "verify_adaptive"):
        subprocess.run(["cc", "-O2", "-o", folder / name, SOURCE / "tools" / f"{name}.c"], check=True)
    return folder


def verify(program, *files):
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def proof_of_last(simulation, opensm, since=0):
    """Waits for the certificate of the last change; its file."""
    path = simulation.folder / "fabric.cert"

    def is_written():
        said = re.findall(LINE, opensm.log()[since:])
        return said and path.exists() and said[-1][0] in path.read_text().splitlines()[1]

    wait_until(is_written, "a certificate")
    return path


def accepted(simulation, opensm, program, since=0):
    """The words of the program about the certificate and the tables that ibsim has. A sweep may come between."""
    said = []

    def is_proved():
        proof = proof_of_last(simulation, opensm, since)
        said[:] = verify(program, proof, simulation.discover(), simulation.read_tables())
        return said[0] == 0

    wait_until(is_proved, "a certificate of the tables in the switches")
    return said[1]


def status_of(opensm):
    """What `heddle status` says of certificates, when none is being made."""
    answers = []

    def is_settled():
        text = cli_testing.heddle("status", "--socket", opensm.status_socket(), "--json", status=None)[0]
        answers.append(json.loads(text))
        said = answers[-1]["parts"]["certificate"]
        return said["current"] or said["reason"]

    wait_until(is_settled, "a certificate, or a reason")
    schemas.validate("status", answers[-1])
    return answers[-1]["parts"]["certificate"]


def test_each_change_has_its_certificate(tmp_path, programs):
    program = programs / "verify_certificate"
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4")
    with Simulation(netlist) as simulation:
        conf = f"{REPAIR}[certificate]\nfile = {simulation.folder}/fabric.cert\n"
        with simulation.opensm("dmodk", heddle_conf=conf) as opensm:
            said = accepted(simulation, opensm, program)
            assert re.match(r"proved, made 20\d\d-\d\d-\d\dT[\d:.]+Z sweep \d+ change 0; 0 pairs", said), said
            shown, path = status_of(opensm), str(simulation.folder / "fabric.cert")
            assert shown["summary"] == f"{path} is that of {shown['made']}" and shown["file"] == path
            assert f"made {shown['made']}\n" in (simulation.folder / "fabric.cert").read_text()
            assert 0 <= time.time() - shown["written"] < 3600 and shown["wanted"] and not shown["faults"]
            for cables in ([cable(simulation, "S1_3_0", spine_of(simulation, "S1_3_0"))],
                           all_cables(simulation, spine_of(simulation, "S1_2_1"))):
                since = len(opensm.log())
                assert "repaired lost" in lose(simulation, opensm, cables)
                accepted(simulation, opensm, program, since)
                since = len(opensm.log())
                restore(simulation, opensm, cables)
                accepted(simulation, opensm, program, since)
            # That of a repair is left out if the sweep is over before the thread takes it. OpenSM ignores a switch that
            # sends more than ten traps one soon after the other, so each round has another one.
            for number in range(10):
                leaf = f"S1_{number % 4}_{number // 4}"
                cables = [cable(simulation, leaf, spine_of(simulation, leaf))]
                lose(simulation, opensm, cables)
                restore(simulation, opensm, cables)
                if "1" in {change for _, _, change in re.findall(LINE, opensm.log())}:
                    break
            else:
                pytest.fail("no repair has a certificate")
            numbers = [int(sweep) for _, sweep, _ in re.findall(LINE, opensm.log())]
            assert numbers == sorted(numbers) and "ERR HD15" not in opensm.log()
        assert sorted(path.name for path in simulation.folder.glob("fabric.cert*")) == ["fabric.cert"]


def test_service_levels_and_tables_beside_it(tmp_path, programs):
    """A torus needs its service levels, which only the subnet manager knows."""
    netlist = generate(tmp_path, "torus", "--dims=5,5", "--hosts=1")
    with Simulation(netlist) as simulation:
        path = simulation.folder / "fabric.cert"
        with simulation.opensm("spf", heddle_conf=f"[certificate]\nfile = {path}\ntables = yes\n",
                               options={"qos": "TRUE"}) as opensm:
            proof_of_last(simulation, opensm)
            files = [path] + [path.with_suffix(f".cert.{name}") for name in ("topo", "lfts", "sls")]
            assert verify(programs / "verify_certificate", *files)[0] == 0
            assert verify(programs / "verify_certificate", path, simulation.discover(), simulation.read_tables(),
                          files[3])[0] == 0
            assert verify(programs / "verify_certificate", *files[:3])[0] == 1
            assert oct(path.stat().st_mode & 0o777) == "0o644" and not list(simulation.folder.glob("*.new"))


def test_a_file_that_cannot_be_written(tmp_path):
    """The log says why, once. A link that another user has put there is not followed; the old file stays."""
    netlist = generate(tmp_path, "xgft", "--children=2,2", "--parents=1,2")
    with Simulation(netlist) as simulation:
        path, other = simulation.folder / "fabric.cert", simulation.folder / "other"
        other.write_text("of another user")
        (simulation.folder / "fabric.cert.new").symlink_to(other)
        with simulation.opensm("dmodk", heddle_conf=f"[certificate]\nfile = {path}\n") as opensm:
            proof_of_last(simulation, opensm)
            assert other.read_text() == "of another user" and not path.is_symlink()
            old = path.read_text()
            opensm.write_heddle_conf(f"[certificate]\nfile = {simulation.folder}/none/fabric.cert\n")
            for _ in range(2):
                opensm.sweep()
                wait_until(lambda: "ERR HD15: certificate: none of " in opensm.log(), "the error")
            assert "No such file or directory; the file of an earlier one stays" in opensm.log()
            shown = status_of(opensm)
            assert not shown["current"] and "No such file or directory" in shown["reason"]
            assert shown["summary"] == f"{path} is that of {shown['made']}, not of the tables in force"
            assert shown["faults"] == [f"the tables in force have none: {shown['reason']}"]
            opensm.write_heddle_conf("[heddle]\n")
            opensm.sweep()
            text = cli_testing.heddle("status", "--socket", opensm.status_socket(), status=None)[0]
            assert re.search(r"^certificate off$", text, re.MULTILINE), text
            wait_until(lambda: not path.exists(), "no certificate")
            assert f"certificate: removed files of {path}, which heddle.conf does not name any more" in opensm.log()
            opensm.write_heddle_conf("[certificate]\nfile = relative\n")
            assert "expected an absolute path" in opensm.sweep()
            assert opensm.log().count("ERR HD15") == 1 and not path.exists()


def test_files_go_with_their_option(tmp_path):
    """When another place has a certificate, or the tables are not wanted any more: what is not kept would look current.
    Files that somebody else has put there stay."""
    with Simulation(generate(tmp_path, "xgft", "--children=2,2", "--parents=1,2")) as simulation:
        first, second = simulation.folder / "first" / "cert", simulation.folder / "second" / "cert"
        for path in (first, second):
            path.parent.mkdir()

        def names(path):
            return sorted(one.name for one in path.parent.iterdir())

        with simulation.opensm("dmodk", heddle_conf=f"[certificate]\nfile = {first}\ntables = yes\n") as opensm:
            wait_until(lambda: status_of(opensm)["current"], "the certificate")
            assert names(first) == ["cert", "cert.lfts", "cert.topo"]
            (simulation.folder / "other").write_text("of another program")
            (simulation.folder / "other").rename(first.parent / "cert.topo")
            opensm.write_heddle_conf(f"[certificate]\nfile = {second}\ntables = yes\n")
            opensm.sweep()
            wait_until(lambda: names(first) == ["cert.topo"], "the files at the first place to be gone")
            assert names(second) == ["cert", "cert.lfts", "cert.topo"]
            opensm.write_heddle_conf(f"[certificate]\nfile = {second}\n")
            opensm.sweep()
            wait_until(lambda: names(second) == ["cert"], "the tables to be gone")


@pytest.mark.skipif(bool(emulator.missing()), reason=f"needs {emulator.missing()}")
def test_groups_of_adaptive_routing(tmp_path, programs):
    """Tables and groups, after the first programming, a loss that is repaired, and a return."""
    emulated = Emulator()
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4")
    with Simulation(netlist, emulator=emulated) as simulation:
        path = simulation.folder / "fabric.cert"
        conf = f"{REPAIR}[certificate]\nfile = {path}\ntables = yes\n"

        def is_proved():
            proof = proof_of_last(simulation, opensm)
            return verify(programs / "verify_adaptive", proof, simulation.discover(), simulation.read_tables(), "-",
                          f"{path}.far")[0] == 0

        with simulation.opensm("ar_dmodk", options=SURE, heddle_conf=conf) as opensm:
            programmed(opensm)
            wait_until(is_proved, "a certificate with groups")
            assert differing(plan_of(simulation), emulated.tables()) == []
            for command in ("Unlink", "ReLink"):
                since = len(opensm.log())
                simulation.command(f"{command} {cable(simulation, 'S1_0_0', 'S2_0_0')}")
                sweep(opensm)
                sweep(opensm)
                proof_of_last(simulation, opensm, since)
                wait_until(is_proved, "a certificate with groups")
            assert "ERR HD15" not in opensm.log()
