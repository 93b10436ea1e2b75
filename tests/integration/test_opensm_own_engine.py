# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Engines of modules inside a real OpenSM, built only with what libheddle-dev installs."""

import os
import shutil

import fabric_sim
import pytest
import staged_dev
from fabric_sim import HEDDLE, Simulation, check, generate, tables
from staged_dev import MISSING, Stage, run

MISSING = MISSING + fabric_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")


@pytest.fixture(name="netlist", scope="module")
def netlist_fixture(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("fabric"), "xgft", "--children", "4,4", "--parents", "1,4")


@pytest.fixture(name="engines", scope="module")
def engines_fixture(tmp_path_factory):
    """A folder with a good module, and with several that are not."""
    folder = tmp_path_factory.mktemp("engines")
    stage = Stage(folder / "dev")
    stage.module(stage.examples / "rotate.c", folder)
    stage.module(staged_dev.foreign(), folder, "later")
    stage.module(staged_dev.renamed(stage, "minhop"), folder, "minhop")  # OpenSM's own
    stage.module(staged_dev.renamed(stage, "map"), folder, "map")  # a section of heddle.conf
    stage.module(staged_dev.looping(stage, "rubbish"), folder, "rubbish")
    (folder / "text.so").write_text("no module\n")
    return folder


def configuration(folder, more=""):
    return f"[heddle]\nengine_path = {folder}\n{more}"


def test_the_engine_routes(netlist, engines):
    """OpenSM routes with the engine: the switches hold what `heddle route` computes, and the tables are
    clean. Its options are those of its section in heddle.conf."""
    with Simulation(netlist) as simulation:
        log = simulation.opensm("rotate", heddle_conf=configuration(engines, "[rotate]\nspread = needed\n")).once()
        assert "rotate tables configured on all switches" in log
        assert f"engine 'rotate' is loaded from {engines}/rotate.so" in log
        assert "rotate" in log.split("names for routing_engine:")[1].split("\n")[0].split()
        topology, held = simulation.discover(), simulation.read_tables()
        offline = simulation.folder / "offline.lfts"
        run(HEDDLE, "route", "-e", "rotate", topology, "-o", offline,
            env=dict(os.environ, HEDDLE_ENGINE_PATH=str(engines)))
        assert tables(held) == tables(offline)
        assert check(topology, held)["clean"]


def test_refusals(netlist, engines):
    """The log names each module that is not loaded, with the reason."""
    with Simulation(netlist) as simulation:
        log = simulation.opensm("rotate", heddle_conf=configuration(f"/nothing:{engines}")).once()
    head = f"heddle: ERR HD01: engine module {engines}/"
    assert f"{head}later.so is not loaded: it was built for ABI 5 of engines, and this Heddle has ABI 4; " in log
    assert f"{head}text.so is not loaded: the dynamic linker says: " in log
    assert f"{head}map.so is not loaded: two sections of heddle.conf have the name [map]" in log
    assert "ERR HD01: no engine modules are loaded from /nothing: No such file" in log
    assert "ERR HD01: OpenSM did not register the engine 'minhop'" in log
    assert "rotate tables configured on all switches" in log


def test_rubbish_gives_way_to_the_next(netlist, engines):
    """Tables with loops never reach the switches: the next engine of the list routes."""
    with Simulation(netlist) as simulation:
        log = simulation.opensm("rubbish,updown", heddle_conf=configuration(engines)).once()
        assert "ERR HD05: rubbish: no tables: its tables are wrong: " in log
        assert "updown tables configured on all switches" in log
        assert check(simulation.discover(), simulation.read_tables())["clean"]


def test_a_module_that_is_gone(netlist, engines, tmp_path):
    """Without its module OpenSM starts all the same, other sections of heddle.conf count, and OpenSM itself
    says that it does not know the engine. Root loads no module that others can write."""
    folder = tmp_path / "open"
    folder.mkdir()
    shutil.copy(engines / "rotate.so", folder)
    (folder / "rotate.so").chmod(0o666)
    if os.geteuid():
        pytest.skip("needs root")
    with Simulation(netlist) as simulation:
        more = "[rotate]\nspread = needed\n[updown]\nroot = best:2\n"
        log = simulation.opensm("rotate,updown", heddle_conf=configuration(folder, more)).once()
        assert f"ERR HD01: engine module {folder}/rotate.so is not loaded: users other than root can change " in log
        assert "ERR HD02" not in log and "updown tables configured on all switches" in log


def test_a_change_of_the_path_needs_a_restart(netlist, engines):
    """The log says once that engine_path has changed, and the engine of the old path still routes."""
    with Simulation(netlist) as simulation:
        with simulation.opensm("rotate", heddle_conf=configuration(engines)) as opensm:
            opensm.write_heddle_conf("[heddle]\nengine_path = /elsewhere\n")
            log = opensm.sweep() + opensm.sweep()
    assert log.count("ERR HD01: engine_path has changed; OpenSM must be restarted to load engine modules from "
                     "'/elsewhere'") == 1
    assert log.count("heddle: rotate: ") == 2, log


def test_relative_path(netlist):
    """A relative path is an error of heddle.conf, because OpenSM's working directory can be any."""
    with Simulation(netlist) as simulation:
        log = simulation.opensm("updown", heddle_conf=configuration("engines")).once()
    assert ":2: [heddle]: option 'engine_path'" in log and "expected absolute paths" in log
    assert "updown tables configured on all switches" in log
