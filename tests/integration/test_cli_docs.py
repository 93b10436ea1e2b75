# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Help, version, man pages and shell completion say what the command does."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from fabric_sim import PATIENCE
from cli_testing import HEDDLE, SOURCE, engines, heddle, kinds, refused, unwrapped

MAN = SOURCE / "doc" / "man"
COMPLETION = SOURCE / "packaging" / "heddle.bash-completion"


def section(command, title):
    """The lines of a section of --help."""
    text = heddle(*command, "--help")[0]
    return text.split(f"{title}:\n", 1)[1].split("\n\n", 1)[0].splitlines()


def commands_of(*path):
    return [line.split()[0] for line in section(path, "Commands")]


def options_of(command):
    """Long options that --help lists."""
    rows = (re.match(r"  (?:-., |    )--([a-z-]+)", row) for row in section(command, "Options"))
    return [row.group(1) for row in rows if row]


# Every command but help, as words; of topo generate once without a kind and once with one.
COMMANDS = [[name] for name in commands_of() if name not in ("topo", "ar", "map", "key", "config", "help")] + [
    ["topo", name] for name in commands_of("topo")] + [["topo", "generate", "torus"]] + [
    ["ar", name] for name in commands_of("ar")] + [["map", name] for name in commands_of("map")] + [
    ["key", name] for name in commands_of("key")] + [["config", name] for name in commands_of("config")]
# Programs of their own with a page in section 1.
PROGRAMS = ["heddle-measure"]
PAGES = ["heddle", *(f"heddle-{name}" for name in commands_of() if name != "help"), *PROGRAMS]


def test_version():
    assert re.fullmatch(r"heddle \d+\.\d+\.\d+\n", heddle("--version")[0])


@pytest.mark.parametrize("command", [[], ["topo"], ["ar"], ["map"], ["key"], ["config"], *COMMANDS], ids=" ".join)
def test_help_is_everywhere(command):
    """As an option in its short and long form, and as a command."""
    for option in ("--help", "-h"):
        stdout, stderr = heddle(*command, option)
        assert stdout.startswith("Usage: heddle") and stderr == ""
    assert heddle("help", *command) == (stdout, "")


def test_help_of_what_there_is_not_is_refused():
    assert "unknown command 'fly'" in refused("help", "fly")
    assert "unknown command 'fly'" in refused("help", "topo", "fly")
    assert "unknown kind of fabric 'fly'" in refused("help", "topo", "generate", "fly")


@pytest.mark.parametrize("typed, meant", [
    (["rout"], "route"), (["enignes"], "engines"), (["topo", "genrate"], "generate"),
    (["help", "mcst"], "mcast"), (["topo", "generate", "hypercub"], "hypercube"),
    (["topo", "generate", "torus", "--dimms=3"], "--dims"),
    (["check", "--swtich-traffic"], "--switch-traffic"), (["ebb", "--hots=3"], "--hot"),
    (["engines", "dmdok"], "dmodk"), (["route", "-e", "updwn", "x"], "updown"),
    (["route", "-e", "spf:pases=3", "x"], "passes"), (["ebb", "-p", "bisct"], "bisect"),
    (["ebb", "-p", "incast:sender=3"], "senders")])
def test_a_mistyped_name_gets_a_suggestion(typed, meant):
    assert f"; did you mean '{meant}'?" in refused(*typed)


@pytest.mark.parametrize("typed", [["fly"], ["route", "--fly"], ["engines", "fly"],
                                   ["route", "-e", "spf:fly=1", "x"], ["ebb", "-p", "fly"],
                                   ["topo", "generate", "fly"]])
def test_a_name_that_is_near_to_none_gets_no_suggestion(typed):
    assert "did you mean" not in refused(*typed)


@pytest.mark.parametrize("kind", [kind["name"] for kind in kinds()])
def test_help_of_a_kind_lists_its_options(kind):
    (described,) = [one for one in kinds() if one["name"] == kind]
    text = unwrapped(heddle("topo", "generate", kind, "--help")[0])
    for option in described["options"]:
        value = {"boolean": "yes|no", "choice": "VALUE"}.get(option["type"], "N")
        assert f"--{option['name']} {value}" in text and option["summary"] in text
    names = heddle("topo", "generate", kind, "--names")[0].split()
    assert names == [option["name"] for option in described["options"]]


def test_tables_in_the_man_pages_are_those_of_the_command():
    done = subprocess.run([MAN / "update_tables.py", "--check", HEDDLE], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def page_text(page):
    return (MAN / f"{page}.1").read_text().replace("\\-", "-")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_man_page_has_the_options_of_its_command_and_no_others(command):
    """Those that several kinds of fabrics share are described once."""
    text = page_text(f"heddle-{command[0]}")
    written = set(re.findall(r"(?m)^\.B[RI]? (?:-\w \", \" )?--([a-z-]+)", text))
    options = set(options_of(command))
    assert options <= written
    if command[0] not in ("topo", "ar", "map", "key", "config"):
        assert written <= options


def test_each_command_has_a_page_and_a_line_in_the_overview():
    overview = page_text("heddle")
    for command in commands_of():
        assert f'"heddle {command}"' in overview or f".B heddle {command}\n" in overview
    assert {path.stem for path in MAN.glob("*.1")} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_see_also_lists_the_pages_that_a_page_names(page):
    """All of ours are there that it names, and of others too; those of ours exist."""
    body, also = page_text(page).split("\n.SH SEE ALSO\n")
    reference = re.compile(r'(?m)^\.BR (?:"[^"]*" ", see " )?([a-z_.-]+) \((\d)\)')
    named, listed = set(reference.findall(body)), set(reference.findall(also))
    assert named - {(page, "1")} <= listed
    assert {f"{name}.{number}" for name, number in listed if name.startswith("heddle")} <= {
        path.name for path in MAN.iterdir()}
    assert page == "heddle" or ("heddle", "1") in listed
    assert page != "heddle" or {(name, "1") for name in PAGES[1:]} <= listed


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
    """What completion offers for the last word. bash cuts words at colons and equals signs, and
    what is offered replaces the last piece."""
    script = """
        source "$1"; COMP_LINE=$2; shift 2
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _heddle
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    pieces = [piece for word in words for piece in re.findall(r"[:=]+|[^:=]+", word) or [""]]
    done = subprocess.run(["bash", "--norc", "-c", script, "-", COMPLETION,
                           " ".join([HEDDLE, *words]), HEDDLE, *pieces],
                          capture_output=True, text=True, check=True, cwd=MAN)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_completion_offers_commands():
    assert complete("") == {*commands_of(), "--help", "--version"}
    assert complete("ro") == {"route"}
    assert complete("topo", "") == {"generate", "show", "convert", "diff", "--help"}
    assert complete("help", "topo", "s") == {"show"}
    assert complete("topo", "diff", "--match", "") == {"auto", "guid", "name", "shape"}
    assert complete("topo", "diff", "--live=") == {"opensm", "ibnetdiscover"}
    assert complete("topo", "diff", "heddle-ch") == {"heddle-check.1"}


def test_completion_offers_kinds_and_their_options():
    names = {kind["name"] for kind in kinds()}
    assert complete("topo", "generate", "") == names | {"--help", "--names", "--json"}
    assert complete("topo", "generate", "to") == {"torus"}
    assert complete("topo", "generate", "torus", "--d") == {"--dims"}
    assert {"--dims", "--hosts", "--remove-links", "--format", "-o"} <= complete(
        "topo", "generate", "torus", "-")
    assert complete("topo", "generate", "torus", "--format", "") == {"netlist", "dot", "slurm", "slurm-weights",
                                                                   "slurm-blocks", "slurm-yaml", "graphml"}
    assert complete("topo", "generate", "torus", "--dims", "") == set()


@pytest.mark.parametrize("command", ["route", "check", "paths", "ebb", "compare", "survive"])
def test_completion_offers_engines_their_options_and_values(command):
    """Of all engines with one command; the others complete by the same function."""
    assert complete(command, "-e", "") == {engine["name"] for engine in engines()}
    assert complete(command, "--engine", "dm") == complete(command, "--engine=dm") == {"dmodk"}
    for engine in engines() if command == "route" else engines()[:1]:
        name, keys = engine["name"], {f"{option['name']}=" for option in engine["options"]}
        assert complete(command, "-e", f"{name}:") == keys
        assert complete(command, f"--engine={name}:") == keys
        # What follows the last equals sign is replaced, the value before the comma with it.
        assert complete(command, "-e", f"{name}:passes=3,") == {f"3,{key}" for key in keys}
        assert complete(command, "-e", f"{name}:passes=3,deadlock=") == {"vl", "drop", "off"}
        assert complete(command, "-e", f"{name}:passes=") == set()


def test_completion_offers_patterns_and_their_options():
    names = set(re.findall(r"(?m)^[a-z]\S+", heddle("ebb", "--patterns")[0]))
    for command in ("ebb", "compare", "survive"):
        assert complete(command, "-p", "") == names
        assert complete(command, "--pattern", "neighbours:") == {"dimensions=", "grid=",
                                                                 "periodic="}
        assert complete(command, "-p", "neighbours:periodic=") == {"yes", "no"}


def test_completion_offers_the_words_that_an_option_takes():
    for command in ("ebb", "compare", "survive"):
        lids = {"base", "source", "random", "rotate", "spread", "parallel"}
        assert complete(command, "--lids", "") == lids
        assert complete(command, "--lids=ro") == {"rotate"}
        assert complete(command, "--weights", "") == {"none", "rate"}
        assert complete(command, "--map", "i") == {"identity"}
        assert complete(command, "--map", "heddle-t") == {"heddle-topo.1"}


def test_completion_offers_scenarios_and_their_keys():
    for command in ("sim", "reproduce"):
        assert complete(command, "routing-keys/figure-4") == {"routing-keys/figure-4"}
        assert {"model.mtu=", "fabric.remove_links=", "run.seeds="} < complete(command, "-O", "")
        assert complete(command, "--set", "model.fo") == {"model.forced_rate="}
    assert complete("reproduce", "al") == {"all"}
    assert {"all-to-all", "barrier", "stencil3d"} < complete("sim", "--pattern", "")
    assert complete("sim", "--pattern", "all-") >= {"all-to-all"}


@pytest.mark.parametrize("command", [one for one in COMMANDS if one[0] != "topo"], ids=" ".join)
def test_completion_offers_options_and_files(command):
    offered = complete(*command, "--")
    assert offered == {f"--{option}" for option in options_of(command)}
    nothing = command in (["engines"], ["reproduce"])
    assert nothing or complete(*command, "heddle-ch") == {"heddle-check.1"}


def test_completion_offers_files_after_options_that_take_one():
    for option in ("--root-guid-file", "--previous", "-o"):
        assert complete("route", option, "heddle-rout") == {"heddle-route.1", "heddle-router.8"}
    assert complete("route", "--lmc", "") == set()


@pytest.mark.parametrize("typed, shown", [
    ("heddle route -e dmodk:deadlock=d", "drop"), ("heddle ebb -p neighbours:gr", "grid="),
    ("heddle route --engine=upd", "updown"), ("heddle check heddle-ch", "heddle-check.1 "),
    ("heddle route -e dmodk:passes=3,de", "3,deadlock=")])
def test_completion_works_in_a_shell(tmp_path, typed, shown):
    """With the tabulator key in bash: what is offered stands in its place and is not quoted."""
    (tmp_path / "heddle").symlink_to(HEDDLE)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb",
                   "INPUTRC": "/dev/null"}
    shell, terminal = pty.openpty()
    with subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=terminal, stdout=terminal,
                          stderr=terminal, cwd=MAN, env=environment, start_new_session=True) as bash:
        os.close(terminal)
        os.write(shell, f"PS1=; source '{COMPLETION}'; echo rea''dy\n".encode())
        seen = read_until(shell, "ready")
        os.write(shell, f"{typed}\t".encode())
        wanted = typed[:max(typed.rfind(sign) for sign in " :=") + 1] + shown
        seen = read_until(shell, wanted)
        bash.kill()
    os.close(shell)
    assert wanted in seen, repr(seen)


def read_until(terminal, text):
    """What a terminal shows until the text is there, or PATIENCE has run out; backspaces taken out."""
    shown, end = "", time.monotonic() + PATIENCE
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096).decode()
        while re.search("[^\b]\b", shown):
            shown = re.sub("[^\b]\b", "", shown)
    return shown
