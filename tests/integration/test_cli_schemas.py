# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What --json prints is what the schemas in doc/schemas say. test_opensm_ar.py does the same for
heddle ar status and heddle ar diff, which need switches, test_opensm_status.py for heddle status, and
test_cli_measure.py for heddle-measure."""

import copy
import functools
import json
import re

import pytest

jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema")

import schemas  # noqa: E402
from cli_testing import BAD, generate, heddle  # noqa: E402
from test_cli_docs import COMMANDS, options_of  # noqa: E402
from test_cli_statuses import RUNS, SUBNETS, fixture_folder  # noqa: E402,F401

LIVE = {"ar status", "ar diff", "ar probe", "status"}
DAEMON = {f"key {name}" for name in ("place", "propose", "request", "done", "release", "list", "links")}
MORE = [
    "engines", "topo generate", "topo show tree", "check tree tables --plan plan/heddle.far",
    "check tree contradicting", "check -e dmodk tree --switch-traffic", "ebb tree tables -n 5 --hot 3",
    "ebb --application shares", "ebb --application shares tree tables -n 5",
    "ebb tree tables -n 5 --ar tree", "ebb tree tables -n 5 --plan plan/heddle.far",
    "ebb rails -e dmodk --by-machine -n 5", "compare rails -e dmodk -e spf --by-machine -n 5",
    "route -e dmodk tree --previous tables -o new", "route -e spf ring --sl sl -o new",
    "ar plan --algorithm=dfp -e spf dragonfly", "compare tree tables holes -e spf -n 5",
    "compare tree one=tables two=tables -n 5",
    "map show maps/fec0000000000001.map fec0:0:0:2::1", "paths -e spf ring --lmc 1 H_0_0 H_3_0",
    "drain --fabric tree -e dmodk --plan plan/heddle.far -n 5 S2_0",
    "mcast tree H_0_0 H_3_0 --source H_1_0", "key make tree --lmc 1 -p ring --shift links"]


def name_of(command):
    words = command.split()
    return " ".join(words[:2 if words[0] in ("topo", "ar", "map", "key", "config") else 1])


@functools.cache
def commands():
    """Those with --json, as their schemas are named. Some print what heddle-keyd answers."""
    return {" ".join(one[:2]) for one in COMMANDS if "json" in options_of(one)} - DAEMON | {"topo generate"}


def runs():
    found = [*(run for status, run in RUNS if status != BAD), *MORE]
    return [run for run in found if name_of(run) in commands() - LIVE and (
        name_of(run) != "topo generate" or run == "topo generate")]


@pytest.fixture(scope="module", name="files")
def fixture_files(folder):
    """The folder of test_cli_statuses.py with a plan, a Dragonfly+, and tables that contradict
    themselves."""
    heddle("ar", "plan", "-e", "dmodk", "tree", "-o", "plan", cwd=folder)
    generate(folder / "rails", "rail-tree", "--machines=3", "--adapters=2", "--spines=1")
    (folder / "shares").write_text("20% ring 0.5\n10% tree 0.25\n")
    generate(folder / "dragonfly", "dragonfly-plus", "--islands=4", "--leaves=3", "--spines=3", "--hosts=3",
             "--global-links=3")
    text = (folder / "tables").read_text()
    (folder / "contradicting").write_text(re.sub(r"(?m)^(0x0001 )\d{3}( .*\n)", r"\g<0>\g<1>000\2", text, count=1))
    return folder


def test_each_command_with_json_has_a_schema():
    for path in schemas.FOLDER.glob("*.json"):
        jsonschema.Draft7Validator.check_schema(json.loads(path.read_text()))
    assert {path.name for path in schemas.FOLDER.glob("*.json")} == {
        f"heddle-{command.replace(' ', '-')}.json" for command in commands() | {"measure"}}
    assert {name_of(run) for run in runs()} == commands() - LIVE


@pytest.mark.parametrize("run", runs())
def test_json_is_as_the_schema_says(files, run):
    """All of it, and with every key that it requires taken away it is not."""
    words = run.split()
    text = heddle(*words, *["--json"] * ("--json" not in words), status=None, cwd=files)[0]
    document = schemas.validate(name_of(run), json.loads(text))
    schema = schemas.branch_of(schemas.schema_of(name_of(run)), document)
    for key in schema.get("required", []):
        damaged = copy.deepcopy(document)
        del damaged[key]
        assert not jsonschema.Draft7Validator(schema).is_valid(damaged)
