# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands of README.md and of the guides work as printed, in order, in a clean folder. Those that ask a live fabric
ask a simulated one, with OpenSM and switches that have adaptive routing."""

import os
import re
import subprocess

import pytest

import documented
import fabric_sim
import keyd_process
from emulator import Emulator
from fabric_sim import BUILD, HEDDLE, LOG_DUMPS, PATIENCE, SOURCE, Simulation, generate, heddle
from multicast_groups import Groups
from staged_dev import Stage

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "bench/README.md",
             *sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "doc/guide").glob("*.md"))]
TREE = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")
KEYS = "doc/guide/routing-keys.md"

# Which commands are not run here, and why: (document or None for all, what matches the command, reason).
OTHERS = [
    (None, r"sudo |cmake |cc |mkdir engines|\./largest_load", "tests/chroot installs and builds, as root in a clean system"),
    (None, r"systemctl |journalctl ", "there is no systemd; the units are compared in tests/chroot"),
    (None, r"curl |echo .*>job.json", "integration/keyd_api makes these calls, at a socket of its own"),
    (None, r"heddle status|echo status", "integration/opensm_status runs these, at a socket of its own"),
    (None, r"mpirun ", "integration/cli_measure runs it; the hosts of a simulated fabric cannot measure"),
    (None, r"heddle reproduce ", "minutes each; integration/reproduce runs every experiment"),
    (None, r"bench/|(chrt -f 1 )?build/bench/", "minutes each; test_options_of_benchmarks, tests/chroot and bench_multipath"),
    (None, r"tests/flaps/", "campaigns, minutes to hours each"),
    (None, r"packaging/", "./check and the benchmarks run these"),
    ("CONTRIBUTING.md", r"ctest ", "these run this test"),
    ("CONTRIBUTING.md", r"build/check/.*golden|HEDDLE_PICTURES|export HEDDLE_BIN", "they write into the sources"),
    ("doc/guide/opensm-versions.md", r"", "it builds another OpenSM"),
    ("doc/guide/slurm.md", r"", "integration/slurm_live runs a cluster"),
    ("doc/guide/cluster.md", r"", "integration/slurm_share runs a cluster"),
    ("doc/guide/inter-subnet-opensm.md", r"saquery ", "integration/opensm_map_routers asks, in two subnets"),
    ("doc/guide/lanes.md", r"heddle check /var/log/", "integration/opensm_lanes checks the dumps, in a folder of its own"),
    ("doc/guide/placement.md", r"heddle key propose |export SLURM_|srun ",
     "integration/keyd_propose and slurm_propose ask, with a heddle-keyd and a cluster"),
    ("doc/guide/workloads.md", r"", "integration/goal runs these, with traces of their own"),
    ("doc/guide/why.md", r"heddle why fabric|squeue ", "integration/opensm_why reads what the tools print"),
    ("doc/guide/topo-diff.md", r"heddle topo diff --nagios --live", "integration/opensm_topo_diff asks a live OpenSM"),
    ("doc/guide/why.md", r"heddle why --live", "integration/opensm_why asks a live OpenSM"),
    ("doc/guide/doctor.md", r"heddle doctor --live", "integration/opensm_doctor; the files in /etc are the machine's"),
    (KEYS, r"heddle-keyd --check", "integration/keyd_api; the file /etc/heddle/heddle.conf is the machine's"),
]
TOOLS = ("ibnetdiscover", "dump_fts", "smpdump", "saquery", "ibqueryerrors")


def reason_of(document, command):
    """Why a command is not run here, or None."""
    return next((reason for name, pattern, reason in OTHERS
                 if name in (None, document) and re.match(pattern, command.text)), None)


def to_run(document):
    return [command for command in documented.commands((SOURCE / document).read_text())
            if not reason_of(document, command)]


def named(netlist, path):
    """The same fabric, with hosts that are called as in the documents."""
    text = netlist.read_text()
    for number, host in enumerate(re.findall(r'^Ca\s.*# "([^"]+)"', text, re.M), 1):
        text = text.replace(f'"{host}"', f'"node{number:03}"')
    path.write_text(text)
    return path


class World:
    """A live fabric, and a PATH whose tools are in it."""

    def __init__(self, simulation, folder, **environment):
        self.simulation = simulation
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        preload = f"LD_PRELOAD={simulation.preload()}"
        for name in TOOLS:
            write_wrapper(bin_folder / name, f'exec env {preload} /usr/sbin/{name} "$@"')
        write_wrapper(bin_folder / "heddle", f'exec env {preload} {HEDDLE} "$@"')
        self.environment = {**simulation.environment, "PATH": f"{bin_folder}:{os.environ['PATH']}", "LC_ALL": "C",
                            **environment}

    def run(self, commands, folder):
        """Runs the commands in one shell. Returns [(status, stdout and stderr)]."""
        script = documented.write_script(commands, folder)
        subprocess.run(["bash", script], cwd=folder, env=self.environment, check=True, timeout=PATIENCE)
        return documented.results(commands, folder)


def write_wrapper(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@pytest.fixture(name="world", scope="module")
def world_fixture(tmp_path_factory):
    """Adaptive routing on a tree of 216 hosts, with a multicast group."""
    folder = tmp_path_factory.mktemp("world")
    netlist = named(generate(folder, *TREE), folder / "named.net")
    with Simulation(netlist, emulator=Emulator()) as simulation, \
            simulation.opensm("ar_dmodk", log_flags=LOG_DUMPS, heddle_conf="[ar]\nenable = yes\n") as opensm:
        opensm.wait_for("heddle: adaptive routing: tree")
        groups = Groups(simulation)
        groups.ask("join", 0x1234, sorted(groups.topology.hosts)[:6])
        opensm.sweep()
        yield World(simulation, folder)


@pytest.fixture(name="key_world", scope="module")
def key_world_fixture(tmp_path_factory):
    """OpenSM with nrk, and a heddle-keyd."""
    folder = tmp_path_factory.mktemp("keys")
    netlist = generate(folder, "xgft", "--children", "4,4", "--parents", "1,4")
    netlist.write_text(re.sub(r"H_0_(\d)", lambda host: f"node{int(host.group(1)) + 1}", netlist.read_text()))
    with Simulation(netlist) as simulation, \
            simulation.opensm("nrk", options={"lmc": 1}, heddle_conf=keyd_process.settings(simulation.folder)):
        keyd = keyd_process.Keyd(simulation.folder, answer_ms=60000).start()
        yield World(simulation, folder, HEDDLE_KEYD=str(keyd.socket))
        keyd.stop()


@pytest.fixture(name="rotate", scope="module")
def rotate_fixture(tmp_path_factory):
    """The folder with the module that own-engine.md builds."""
    folder = tmp_path_factory.mktemp("stage")
    stage = Stage(folder / "dev")
    stage.module(stage.examples / "rotate.c", folder / "engines")
    return folder / "engines"


def place_files(document, folder, world):
    """What a reader has who comes to this document."""
    live = world.simulation.folder
    tree = live / "tree.topo"
    if not tree.exists():
        tree.write_text(world.simulation.discover("tree.topo").read_text())
    files = {
        "doc/guide/adaptive-routing.md": {"fabric.topo": tree, "opensm-lfts.dump": live / "opensm-lfts.dump"},
        "doc/guide/certificates.md": {"fabric.topo": tree, "fabric.lfts": live / "opensm-lfts.dump"},
        "doc/guide/doctor.md": {"fabric.topo": tree, "opensm.log": live / "osm.log"},
        "doc/guide/ebb.md": {"FABRIC": tree, "TABLES": live / "opensm-lfts.dump"},
        "doc/guide/fast_recovery.md": {"fabric.topo": tree},
        "doc/guide/first-day.md": {"opensm.log": live / "osm.log"},
        "doc/guide/lanes.md": {"fabric.topo": tree},
        "doc/guide/placement.md": {"fabric.topo": tree, "opensm-lfts.dump": live / "opensm-lfts.dump"},
        "doc/guide/repair.md": {"fabric.topo": tree},
        "doc/guide/topo-diff.md": {"handover.topo": tree},
        "doc/guide/simulator.md": {"fabric.txt": tree, "live.lfts": live / "opensm-lfts.dump"},
    }
    for name, source in files.get(document, {}).items():
        (folder / name).write_bytes(source.read_bytes())
    if document == "doc/guide/adaptive-routing.md":
        heddle("ar", "plan", "-o", folder, folder / "fabric.topo", folder / "opensm-lfts.dump")
    if document == "doc/guide/certificates.md":
        heddle("ar", "plan", "-o", folder, folder / "fabric.topo", folder / "fabric.lfts")
    if document == "doc/guide/doctor.md":
        (folder / "opensm.conf").write_text("event_plugin_name heddle\nrouting_engine auto,updown\nlog_max_size 100\n")
        (folder / "heddle.conf").write_text("[updown]\npasses = 2\n")
    if document == "doc/guide/first-day.md":
        (folder / "opensm.conf").write_text("event_plugin_name heddle\nrouting_engine auto,updown\nlog_max_size 100\n")
    if document == "doc/guide/simulator.md":
        (folder / "nodes.txt").write_text("".join(f"node{number:03}\n" for number in range(1, 25)))
    if document == "doc/guide/placement.md":
        (folder / "free.txt").write_text("".join(f"node{number:03}\n" for number in range(1, 217, 2)))
        (folder / "mine.txt").write_text("".join(f"node{number:03}\n" for number in range(3, 40, 7)))
    if document == "doc/guide/inter-subnet-opensm.md":
        for number, name in enumerate(("a.topo", "b.topo"), 1):
            heddle("topo", "generate", "interconnect", "--subnets", 2, "--part", number, "-o", folder / name)
    (folder / "build").mkdir()
    (folder / "build" / "check").symlink_to(BUILD)


def as_written(lines):
    """Without the folding of the document and the spaces that align columns."""
    return " ".join(" ".join(lines).split())


def test_each_command_is_known():
    """Documents have commands, and what is left out here has a reason that is needed."""
    found = [(document, command) for document in DOCUMENTS
             for command in documented.commands((SOURCE / document).read_text())]
    assert len(found) > 120
    assert sum(not reason_of(document, command) for document, command in found) > 60
    for name, pattern, reason in OTHERS:
        assert any(name in (None, document) and re.match(pattern, command.text) for document, command in found), reason


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if to_run(document)])
def test_commands(document, tmp_path, request):
    """Each ends well, and prints what the document shows."""
    world = request.getfixturevalue("key_world" if document == KEYS else "world")
    place_files(document, tmp_path, world)
    if document == "doc/guide/own-engine.md":
        (tmp_path / "engines").symlink_to(request.getfixturevalue("rotate"))
    commands = to_run(document)
    for command, (status, output) in zip(commands, world.run(commands, tmp_path)):
        assert status == documented.status_of(command), f"{document}:{command.line}: {command.text}\nstatus {status}\n{output[-3000:]}"
        assert as_written(command.answer) in as_written(output.splitlines()), f"{document}:{command.line}\n{output}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_options_of_benchmarks(document, tmp_path):
    """Each script takes the options that documents give it: an empty build folder is all that it complains of."""
    environment = {**os.environ, "HEDDLE_BUILD": str(tmp_path)}
    for command in documented.commands((SOURCE / document).read_text()):
        if command.text.startswith("bench/"):
            done = subprocess.run(["bash", "-c", command.text], cwd=SOURCE, env=environment, capture_output=True, text=True,
                                  check=False, timeout=PATIENCE)
            assert done.returncode == 1 and str(tmp_path) in done.stderr, f"{document}:{command.line}\n{done.stderr}"
