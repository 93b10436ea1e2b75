# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libheddle-dev as it is installed: programs and engines outside this tree build with it alone."""

import json
import os
import re
import subprocess

import pytest
import staged_dev
from fabric_sim import BUILD, HEDDLE, PATIENCE, SOURCE, check, generate
from staged_dev import MISSING, Stage, run

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")


@pytest.fixture(name="stage", scope="module")
def stage_fixture(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("dev"))


@pytest.fixture(name="fabric", scope="module")
def fabric_fixture(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("fabric"), "torus", "--dims", "4,4,4")


@pytest.fixture(name="engines", scope="module")
def engines_fixture(stage, tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    stage.module(stage.examples / "rotate.c", folder)
    return folder


def heddle(*words, path=None):
    environment = {key: value for key, value in os.environ.items() if key != "HEDDLE_ENGINE_PATH"}
    if path:
        environment["HEDDLE_ENGINE_PATH"] = str(path)
    return subprocess.run([str(HEDDLE), *map(str, words)], env=environment, capture_output=True, text=True,
                          timeout=PATIENCE)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_each_header_compiles_alone(stage, language):
    """Each installed header compiles by itself, in C and in C++, with the installed ones only."""
    headers = sorted(path.relative_to(stage.include) for path in stage.include.rglob("*.h"))
    assert len(headers) > 30
    for header in headers:
        run("cc", "-x", language, *staged_dev.WARNINGS, "-fsyntax-only", f"-I{stage.include}", "-",
            input=f"#include <{header}>\n")


def test_a_cxx_program_links(stage, tmp_path):
    """C++ programs find the functions of the library."""
    source = tmp_path / "program.cpp"
    source.write_text("#include <heddle/engines/engine_list.h>\n#include <heddle/analysis.h>\n"
                      "int main() { return !hd_engine_find(\"spf\") || !hd_engine_list_find(nullptr, \"spf\"); }\n")
    run("c++", *stage.flags("--cflags"), source, "-o", tmp_path / "program", *stage.flags("--libs"))
    run(tmp_path / "program")


def test_a_program_runs(stage, fabric, tmp_path):
    """The example of a program computes what the command computes."""
    program = stage.program(stage.examples / "largest_load.c", tmp_path / "largest_load")
    heddle("route", "-e", "updown", fabric, "-o", tmp_path / "tables")
    largest = check(fabric, tmp_path / "tables")["flows"]["max"]
    assert run(program, fabric, "updown") == f"updown: largest load {largest}, clean\n"


def test_names_of_programs_are_free(stage):
    """All names that the library defines begin with hd_, and none that begins so is renamed."""
    library = next(stage.folder.rglob("libheddle-core.a"))
    listed = run("nm", "-g", "--defined-only", library).split("\n")
    names = [line.split()[2] for line in listed if len(line.split()) == 3]
    assert len(names) > 500 and [name for name in names if not name.startswith("hd_")] == []
    assert [name for name in names if name.startswith("hd_internal_hd_")] == []


def test_the_example_is_short(stage):
    """An engine needs about 50 lines."""
    lines = (stage.examples / "rotate.c").read_text().split("\n")
    assert len([line for line in lines if line.strip()]) <= 50


def test_a_module_exports_its_table_only(engines):
    """A module has no other name that could be in the way of its host."""
    listed = run("nm", "-D", "--defined-only", engines / "rotate.so").split("\n")
    assert [line.split()[2] for line in listed if line] == ["hd_engine_module"]


def test_commands_know_the_engine(engines, fabric, tmp_path):
    """`heddle engines`, `route` and `compare` take the engine as one of their own. Without HEDDLE_ENGINE_PATH
    they do not know it."""
    listed = json.loads(heddle("engines", "--json", path=engines).stdout)
    assert [engine["shortest_paths"] for engine in listed if engine["name"] == "rotate"] == [True]
    done = heddle("route", "-e", "rotate:vls=4", fabric, "-o", tmp_path / "tables", "--sl", tmp_path / "levels",
                  path=engines)
    assert done.stderr.startswith("rotate vls=4: 64 switches"), done.stderr
    report = check(fabric, tmp_path / "tables", tmp_path / "levels")
    assert report["clean"] and report["hops"]["longer_routes"] == 0
    compared = heddle("compare", fabric, "-e", "rotate", "-e", "spf", "-n", "10", path=engines)
    assert compared.returncode == 0 and "\nrotate " in compared.stdout, compared.stderr
    alone = heddle("route", "-e", "rotate", fabric)
    assert alone.returncode == 2 and "unknown engine 'rotate'" in alone.stderr


def test_refusals(stage, engines, fabric, tmp_path):
    """What cannot be loaded is named with the reason, and the rest is loaded."""
    stage.module(staged_dev.foreign(), tmp_path, "later")
    stage.module(staged_dev.renamed(stage, "updown"), tmp_path, "twin")
    stage.module("int number(void);\nint number(void) { return 1; }\n", tmp_path, "stranger")
    (tmp_path / "text.so").write_text("no module\n")
    done = heddle("route", "-e", "rotate", fabric, path=f"{tmp_path}:{tmp_path / 'nothing'}:{engines}")
    assert done.returncode == 0
    head = f"heddle: warning: engine module {tmp_path}/"
    assert (f"{head}later.so is not loaded: it was built for ABI 5 of engines, and this Heddle has ABI 4; build it "
            "again with the libheddle-dev of this Heddle\n") in done.stderr
    assert f"{head}twin.so is not loaded: another engine has the name 'updown'\n" in done.stderr
    assert f"{head}stranger.so is not loaded: it has no symbol hd_engine_module, " in done.stderr
    assert f"{head}text.so is not loaded: the dynamic linker says: " in done.stderr
    assert f"heddle: warning: no engine modules are loaded from {tmp_path}/nothing: No such file" in done.stderr


def test_rubbish_is_no_routing(stage, fabric, tmp_path):
    """Tables with loops are refused, and nothing is written."""
    stage.module(staged_dev.looping(stage, "rubbish"), tmp_path, "rubbish")
    done = heddle("route", "-e", "rubbish", fabric, "-o", tmp_path / "tables", path=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "tables").exists()
    assert "engine 'rubbish': its tables are wrong: " in done.stderr and " paths never end" in done.stderr


def test_conformance(engines):
    """The example meets the demands on every engine, on fabrics of every kind."""
    program = BUILD / "tests" / "conformance" / "random_fabrics"
    output = run(program, 150, 0, "rotate", env=dict(os.environ, HEDDLE_ENGINE_PATH=str(engines)))
    assert output.endswith("150 fabrics, 0 demands not met\n"), output[-2000:]


def test_the_guide(stage, tmp_path):
    """The commands of the guide work, except for the installation of the package."""
    guide = (SOURCE / "doc" / "guide" / "own-engine.md").read_text()
    section = re.search(r"^## Build and try.*?^## ", guide, re.M | re.S).group(0)
    lines = [line.strip() for line in section.split("\n") if line.startswith("    ")]
    script = "\n".join(line for line in lines if not line.startswith("sudo "))
    assert script.count("heddle ") > 4
    environment = dict(stage.environment, PATH=f"{HEDDLE.parent}:{os.environ['PATH']}")
    output = run("sh", "-eu", "-c", script.replace("/usr/share/doc/libheddle-dev/examples", str(stage.examples)),
                 env=environment, cwd=tmp_path)
    assert "\nclean\n" in output and "\nrotate " in output
