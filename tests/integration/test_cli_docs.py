# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Help, version, man pages and shell completion say what the command does."""

import re
import shutil
import subprocess

import pytest

from cli_testing import HEDDLE, SOURCE, engines, heddle, kinds

MAN = SOURCE / "doc" / "man"
PAGES = ["heddle", "heddle-topo", "heddle-engines", "heddle-route", "heddle-check", "heddle-paths",
         "heddle-mcast", "heddle-ebb", "heddle-compare", "heddle-survive"]
COMMANDS = {
    "heddle-topo": [["topo", "show"], ["topo", "convert"], ["topo", "generate", "torus"]],
    "heddle-engines": [["engines"]],
    "heddle-route": [["route"]],
    "heddle-check": [["check"]],
    "heddle-paths": [["paths"]],
    "heddle-mcast": [["mcast"]],
    "heddle-ebb": [["ebb"]],
    "heddle-compare": [["compare"]],
    "heddle-survive": [["survive"]],
}


def options_of(command):
    """Long options that --help lists before the values of a generator."""
    text = heddle(*command, "--help")[0]
    table = text.split("Options:\n", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"(?m)^  (?:-., |    )--([a-z-]+)", table)


def test_version():
    assert re.fullmatch(r"heddle \d+\.\d+\.\d+\n", heddle("--version")[0])


@pytest.mark.parametrize("command", [[], ["topo"], ["topo", "generate"], ["topo", "show"],
                                     ["topo", "convert"], ["engines"], ["route"], ["check"],
                                     ["paths"], ["mcast"], ["ebb"], ["compare"], ["survive"]])
def test_help_is_everywhere(command):
    for option in ("--help", "-h"):
        stdout, stderr = heddle(*command, option)
        assert stdout.startswith("Usage: heddle") and stderr == ""
    assert heddle("help", *command) == (stdout, "")


@pytest.mark.parametrize("kind", [kind["name"] for kind in kinds()])
def test_help_of_a_kind_lists_its_options(kind):
    (described,) = [one for one in kinds() if one["name"] == kind]
    text = heddle("topo", "generate", kind, "--help")[0]
    for option in described["options"]:
        assert f"--{option['name']} N" in text and option["summary"] in text
    names = heddle("topo", "generate", kind, "--names")[0].split()
    assert names == [option["name"] for option in described["options"]]


def test_tables_in_the_man_pages_are_those_of_the_command():
    done = subprocess.run([MAN / "update_tables.py", "--check", HEDDLE], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", COMMANDS)
def test_a_man_page_has_every_option_of_its_commands(page):
    text = (MAN / f"{page}.1").read_text().replace("\\-", "-")
    for command in COMMANDS[page]:
        for option in options_of(command):
            assert f"--{option}" in text, f"{page}: --{option}"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("page", PAGES)
def test_a_man_page_is_set_without_warnings(page):
    done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", MAN / f"{page}.1"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_the_rendered_page_names_every_engine():
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", MAN / "heddle-engines.1"],
                          capture_output=True, text=True, check=False)
    if "This system has been minimized" in done.stdout:
        pytest.skip("this man is a stand-in")
    assert done.stderr == ""
    for engine in engines():
        assert re.search(rf"(?m)^ +{engine['name']}$", re.sub(".\b", "", done.stdout))


def complete(*words):
    """What completion offers for the last word."""
    script = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _heddle
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script, "-",
                           SOURCE / "packaging" / "heddle.bash-completion", HEDDLE, *words],
                          capture_output=True, text=True, check=True, cwd=MAN)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_completion_offers_commands():
    assert complete("") == {"topo", "engines", "route", "check", "paths", "mcast", "ebb",
                            "compare", "survive", "help", "--help", "--version"}
    assert complete("ro") == {"route"}
    assert complete("topo", "") == {"generate", "show", "convert", "--help"}


def test_completion_offers_kinds_and_their_options():
    names = {kind["name"] for kind in kinds()}
    assert complete("topo", "generate", "") == names | {"--help", "--names", "--json"}
    assert complete("topo", "generate", "to") == {"torus"}
    assert complete("topo", "generate", "torus", "--d") == {"--dims"}
    assert {"--dims", "--hosts", "--remove-links", "--format", "-o"} <= complete(
        "topo", "generate", "torus", "-")
    assert complete("topo", "generate", "torus", "--format", "") == {"netlist", "dot"}
    assert complete("topo", "generate", "torus", "--dims", "") == set()


def test_completion_offers_engines_and_their_options():
    names = {engine["name"] for engine in engines()}
    assert complete("route", "-e", "") == names
    assert complete("route", "--engine", "dm") == {"dmodk"}
    assert complete("engines", "sp") == {"spf"}
    for engine in engines():
        assert complete("route", "-e", engine["name"], "-O", "") == {
            option["name"] + "=" for option in engine["options"]}


def test_completion_offers_options_and_files():
    for command in ("route", "check", "paths", "mcast"):
        offered = complete(command, "--")
        assert offered == {f"--{option}" for option in options_of([command])}
    assert complete("route", "--root-guid-file", "heddle-r") == {"heddle-route.1"}
    assert complete("check", "heddle-ch") == {"heddle-check.1"}
    assert complete("route", "--lmc", "") == set()
