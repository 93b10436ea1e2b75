# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle sim and heddle reproduce: errors of scenarios, figures that do not depend on threads and
processes, runs that are ended and go on, and the shares of flows that a paper measured."""

import fcntl
import json
import pathlib
import re
import os
import resource
import shutil
import signal
import subprocess
import xml.dom.minidom
import xml.etree.ElementTree

import pytest

import browser
import schemas
from cli_testing import BAD, CLEAN, FAULTS, HEDDLE, SOURCE, generate, heddle, refused, route
from fabric_sim import PATIENCE, wait_until

os.environ["HEDDLE_SCENARIOS"] = str(SOURCE / "sim" / "scenarios")

SCENARIO = """[scenario]
title = trial
[fabric]
generator = xgft
children = 4,4
parents = 1,2
[routing]
engine = dmodk
[model]
forced_rate = 40 Gb/s
[traffic a]
kind = poisson
rate = 30%
size = 2048
[run]
duration = 200 us
warm_up = 20 us
seeds = 3
[sweep load]
traffic.a.rate = 20% | 60%
[quick]
run.seeds = 1
sweep.load.traffic.a.rate = 20% | 40%
"""


@pytest.fixture(name="scenario")
def fixture_scenario(tmp_path):
    path = tmp_path / "trial.ini"
    path.write_text(SCENARIO)
    return path


def figures(report):
    return {(tuple(point["labels"]), one["name"]): one["mean"]
            for point in report["points"] for one in point["figures"]}


# ---- errors: place, value, and what is allowed ----

@pytest.mark.parametrize("old, new, said", [
    ("[model]", "[modle]", "trial.ini:9: unknown section [modle]; did you mean [model]?"),
    ("forced_rate = 40 Gb/s", "forced_rate = 40 Gp/s", "trial.ini:10: [model] forced_rate = 40 Gp/s: option "
                                                      "'forced_rate'"),
    ("forced_rate", "forced_rat", "did you mean 'forced_rate'?"),
    ("kind = poisson", "kind = poison", "trial.ini:12: [traffic a] kind = poison: unknown kind; did you mean poisson"),
    ("engine = dmodk", "engine = dmdok", "trial.ini:8: [routing] engine = dmdok: unknown engine 'dmdok'; did you mean "
                                         "'dmodk'?"),
    ("generator = xgft", "generator = xgf", "trial.ini:4: [fabric] generator = xgf: unknown generator; did you mean "
                                            "xgft?"),
    ("children = 4,4\n", "", "trial.ini:3: [fabric]: option 'children' is missing"),
    ("title = trial", "title", "trial.ini:2: expected [section], key = value or # comment"),
    ("[routing]", "[fabric]", "trial.ini:7: section [fabric] is there already, in line 3"),
    ("size = 2048", "rate = 1%", "trial.ini:14: key 'rate' is there already, in line 13"),
    ("seeds = 3", "seeds = x", "trial.ini:18: [run] seeds = x: expected the number of seeds"),
    ("traffic.a.rate =", "traffic.b.rate =", "has no section [traffic b]"),
    ("[traffic a]", "[traffic]", "[traffic] needs a name"),
    ("size = 2048", "hosts = H_0_0,nobody", "'nobody'"),
    ("engine = dmodk", "engine = dmodk\nentries = S1_0 H_1_0 99", "switch 'S1_0' has no cable at port 99"),
    ("warm_up = 20 us", "warm_up = 1 ms", "trial.ini:15: [run]: nothing counts: duration is no longer than warm_up"),
    ("engine = dmodk", "ar = trie", "expected off, auto, lag, tree, dfp or file:PATH"),
    ("traffic.a.rate = 20% |", "sweep.load.rate = 20% |", "trial.ini:20: [sweep load] sweep.load.rate = 20% | 60%: "
                                                          "'sweep.load.rate' is the same for all points"),
    ("traffic.a.rate = 20% | 60%", "run.seeds = 2 | 3", "'run.seeds' is the same for all points"),
    ("traffic.a.rate = 20% |", "traffic.a.rate = x |", "trial.ini:20: sweep traffic.a.rate=x: option 'rate'"),
    # [quick], also without --quick
    ("run.seeds = 1", "run.seed = 1", "trial.ini:22: [quick] run.seed = 1: unknown option 'seed'; did you mean 'seeds'?"),
    ("run.seeds = 1", "traffic.a.size = 4 XB", "trial.ini:22: [quick] traffic.a.size = 4 XB: option 'size'"),
    ("run.seeds = 1", "traffic.b.size = 4", "has no section [traffic b]"),
    ("run.seeds = 1", "fabric.childen = 4", "did you mean 'children'?"),
    ("run.seeds = 1", "quick.run.seeds = 1", "trial.ini:22: [quick] quick.run.seeds = 1"),
    ("sweep.load.traffic.a.rate", "sweep.load.traffic.a.rat", "trial.ini:23: [quick] sweep.load.traffic.a.rat = 20% | 40%: "
                                                              "unknown option 'rat'; did you mean 'rate'?"),
    ("run.seeds = 1", "sweep.load.model.mtu = 512", "trial.ini:22: quick sweep.load.model.mtu=512: "
                                                           "1 values; the lines above have 2"),
])
def test_a_mistake_is_refused_with_its_place(scenario, old, new, said):
    assert old in SCENARIO
    scenario.write_text(SCENARIO.replace(old, new, 1))
    assert said in refused("sim", scenario)


def test_an_override_is_named_as_it_was_typed(scenario):
    assert "-O traffic.a.size=200x: option 'size'" in refused("sim", scenario, "-O", "traffic.size=200x")
    assert "-O model.mtu=x: option 'mtu'" in refused("sim", scenario, "-O", "model.mtu=x")
    assert "is not SECTION[.NAME].KEY=VALUE" in refused("sim", scenario, "-O", "model")
    scenario.write_text(SCENARIO.replace("[model]\nforced_rate = 40 Gb/s\n", ""))
    for mtu in (0, 1, 1500, 8192):
        assert "256, 512, 1024, 2048 or 4096" in refused("sim", scenario, "-O", f"model.mtu={mtu}")
    assert "trial.ini: [model]: header is" in refused("sim", scenario, "-O", "model.header=1000000")
    assert "above 0 and at most 100%" in refused("sim", scenario, "-O", "sweep.load.traffic.a.rate=20% | 101%")


def test_quick_takes_its_own_values(scenario):
    assert json.loads(heddle("sim", scenario, "--quick", "--json")[0])["runs"] == 2
    assert "-O quick.run.seeds=2 has no effect" in refused("sim", scenario, "-O", "quick.run.seeds=2")


@pytest.mark.parametrize("text, size", [("2 KiB", 2048), ("2 kB", 2000), ("2KB", 2000)])
def test_thousands_and_1024_are_different_units(scenario, text, size):
    told = figures(json.loads(heddle("sim", scenario, "--quick", "--json", "-O", f"traffic.size={text}")[0]))
    packets, seconds = told[("20%",), "class.a.delivered"], 180e-6
    assert told[("20%",), "class.a.throughput"] == pytest.approx(packets * size * 8 / seconds, rel=0.02)


@pytest.mark.parametrize("options, said", [
    (["-e", "dmdok"], "-e dmdok: unknown engine 'dmdok'; did you mean 'dmodk'?"),
    (["-e", "dmodk:foo=1"], "-e dmodk:foo=1: unknown option 'foo'"),
    (["--hosts", "hosts"], "--hosts hosts:2: 'nobody' is not a host of the fabric"),
    (["--hosts", "none"], "--hosts none: cannot open: No such file or directory"),
    (["--pattern", "foo"], "--pattern foo: no such pattern; there are barrier|all-to-all|"),
    (["--pattern", "all-to-al"], "--pattern all-to-al: no such pattern; did you mean all-to-all?"),
    (["--pattern", "stencil3d:9x9x9"], "--pattern stencil3d:9x9x9: pattern 'stencil3d:9x9x9' is for 729 ranks"),
    (["--size", "4QB"], "--size 4QB: option 'size': '4QB': expected a size"),
    (["--fabric", "none"], "--fabric none: cannot open: No such file or directory"),
    (["--plan", "none"], "--plan none: cannot open: No such file or directory"),
    (["--plan", "hosts", "--ar"], "options --ar and --plan do not work together"),
    (["none"], "heddle: none: cannot open: No such file or directory"),
])
def test_a_question_names_the_option_that_was_typed(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
    (tmp_path / "hosts").write_text("H_0_0\nnobody\n")
    message = refused("sim", "--fabric", "tree", *options)
    assert said in message and "question.ini" not in message, message


def test_missing_scenarios_are_explained(tmp_path, monkeypatch):
    assert "'nosuch' is no file" in refused("sim", "nosuch")
    monkeypatch.setenv("HEDDLE_SCENARIOS", str(tmp_path / "none"))
    for command in ("sim", "--fabric", "tree"), ("sim", "nosuch"), ("reproduce", "all"), ("reproduce", "irregular"):
        message = refused(*command)
        assert f"{tmp_path}/none: no such folder" in message and "HEDDLE_SCENARIOS" in message


def test_a_hole_in_the_tables_is_refused_before_the_run(tmp_path, scenario):
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
    heddle("route", "-e", "dmodk", tmp_path / "tree", "-o", tmp_path / "tables")
    lines = (tmp_path / "tables").read_text().splitlines(keepends=True)
    holes = [line for line in lines if not line.startswith("0x0001 ")]
    assert len(holes) < len(lines)
    (tmp_path / "tables").write_text("".join(holes))
    text = SCENARIO.replace("generator = xgft\nchildren = 4,4\nparents = 1,2", "file = tree").replace(
        "engine = dmodk", "tables = tables")
    scenario.write_text(text)
    message = refused("sim", scenario)
    assert "no entry" in message and "LID 1" in message.replace("LID 0x0001", "LID 1"), message


def test_an_override_that_a_sweep_undoes_is_refused(scenario):
    assert "traffic.rate=5% has no effect" in refused("sim", scenario, "-O", "traffic.rate=5%")
    heddle("sim", scenario, "-O", "sweep.load.traffic.a.rate=5%")


# ---- the same figures ----

def test_figures_do_not_depend_on_threads(scenario):
    alone = heddle("sim", scenario, "--json", "-t", 1)[0]
    assert heddle("sim", scenario, "--json", "-t", 2)[0] == alone
    report = schemas.validate("sim", json.loads(alone))
    assert report["runs"] == report["finished"] == 6 and not report["partial"]
    loads = figures(report)
    assert loads[("60%",), "class.a.throughput"] > 2 * loads[("20%",), "class.a.throughput"]


def test_a_figure_that_some_seeds_lack_says_so(scenario):
    """So rare are the messages that none comes in some of the runs."""
    scenario.write_text(SCENARIO.replace("rate = 30%", "rate = 0.01%").replace("seeds = 3", "seeds = 8")
                        .split("[sweep load]")[0] + "[expect a]\nfigure = class.a.latency.mean\nvalue = 1\n")
    report = json.loads(heddle("sim", scenario, "--json", status=CLEAN)[0])
    row, = schemas.validate("sim", report)["expectations"]
    assert 0 < row["seeds"] < 8
    assert f"({row['seeds']} of 8 seeds)" in heddle("sim", scenario, status=CLEAN)[0]


def test_seeds_decide(scenario):
    one = figures(json.loads(heddle("sim", scenario, "--json")[0]))
    other = figures(json.loads(heddle("sim", scenario, "--json", "--seed", 7)[0]))
    assert one != other and one.keys() == other.keys()


# ---- runs that are ended ----

def is_at_work(pid):
    """The process handles SIGINT, and has worked for a second."""
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1)
    times = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(caught, 16) >> (signal.SIGINT - 1) & 1 and int(times[11]) >= os.sysconf("SC_CLK_TCK")


def interrupted(scenario, *options):
    """Starts runs that would take long, ends them by SIGINT, and returns the report."""
    with subprocess.Popen([HEDDLE, "sim", scenario, "--json", "-t", "1", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: is_at_work(process.pid), "the run")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == FAULTS, errors
    return json.loads(out)


def test_sigint_ends_with_the_figures_so_far(scenario):
    report = interrupted(scenario, "-O", "run.duration=10s")
    assert report["partial"] and report["finished"] == 0
    assert figures(report)[("20%",), "class.a.delivered"] > 0


def test_ended_runs_go_on_with_equal_figures(scenario, tmp_path):
    state = tmp_path / "state"
    heddle("sim", scenario, "--state", state)
    whole = heddle("sim", scenario, "--json")[0]
    text = state.read_text()
    # Half of the runs, and a record that was cut off.
    runs = text.split("run ")
    state.write_text("run ".join(runs[:4]) + "run 5\nclass.a.thr")
    assert heddle("sim", scenario, "--json", "--state", state)[0] == whole
    assert sorted(state.read_text().split("run ")[1:]) == sorted(runs[1:])
    assert "5 of them kept" not in heddle("sim", scenario, "--state", state)[0]
    assert "6 of them kept" in heddle("sim", scenario, "--state", state)[0]


def test_a_file_of_other_runs_is_refused(scenario, tmp_path):
    state = tmp_path / "state"
    heddle("sim", scenario, "--state", state)
    assert "keeps work on other input" in refused("sim", scenario, "--state", state, "--seed", 5)
    assert "keeps work on other input" in refused("sim", scenario, "--state", state, "-O",
                                                       "model.mtu=1024")


# ---- a disk that is full ----

def limited(kibibytes, *arguments):
    """The command while no file may become longer: its status, output and messages."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * kibibytes, 1024 * kibibytes))
    done = subprocess.run([HEDDLE, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                          preexec_fn=limit)
    return done.returncode, done.stdout, done.stderr


def test_runs_before_a_full_disk_are_kept(scenario, tmp_path):
    """The run that finds no room fails with the file's name; the runs before it count afterwards, and
    the figures are those of a run that was not ended."""
    whole = heddle("sim", scenario, "--json")[0]
    status, output, message = limited(4, "sim", scenario, "-t", 1, "--state", tmp_path / "kept")
    assert status == BAD and not output
    assert message == f"heddle: cannot write {tmp_path}/kept: File too large; it keeps what was finished before\n"
    assert "of them kept from before" in heddle("sim", scenario, "--state", tmp_path / "kept")[0]
    assert heddle("sim", scenario, "--json", "--state", tmp_path / "kept")[0] == whole


@pytest.mark.parametrize("option, name", [("--html", "page.html"), ("--plot", "plot.svg")])
def test_a_full_disk_leaves_the_file_of_before(scenario, tmp_path, option, name):
    if option == "--plot" and not shutil.which("gnuplot"):
        pytest.skip("gnuplot is not installed")
    path = tmp_path / name
    path.write_text("before")
    status, output, message = limited(1, "sim", scenario, option, path)
    assert status == BAD and message.count("\n") == 1 and str(path) in message
    assert path.read_text() == "before" and sorted(os.listdir(tmp_path)) == [name, "trial.ini"]
    assert "class.a.throughput" in output  # the runs may have been long


@pytest.mark.parametrize("options", [["--html", "FULL"], ["--plot", "FULL.svg"], ["--state", "FULL"]])
def test_devices_without_room(scenario, tmp_path, options):
    if "--plot" in options and not shutil.which("gnuplot"):
        pytest.skip("gnuplot is not installed")
    path = tmp_path / options[1]
    path.symlink_to("/dev/full")
    message = heddle("sim", scenario, options[0], path, status=BAD)[1]
    assert "No space left on device" in message or "not a regular file" in message


@pytest.mark.parametrize("command", [["sim", "trial.ini"], ["sim", "trial.ini", "--csv"], ["sim", "trial.ini", "--json"],
                                     ["reproduce", "ar-fairness/c2-s5", "--quick", "--csv"], ["sim", "--kinds"]])
def test_output_without_room(scenario, command):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([HEDDLE, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                              check=False, cwd=scenario.parent)
    assert done.returncode == BAD
    assert done.stderr == "heddle: cannot write standard output: No space left on device\n"


def test_a_page_of_papers_without_room(tmp_path):
    path = tmp_path / "page.html"
    path.symlink_to("/dev/full")
    text, message = heddle("reproduce", "ar-fairness/c2-s5", "--quick", "--html", path, status=BAD)
    assert "No space left on device" in message and "within their tolerances" in text


# ---- reports ----

def test_runs_of_a_changed_fabric_are_refused(scenario, tmp_path):
    scenario.write_text(SCENARIO.replace("generator = xgft\nchildren = 4,4\nparents = 1,2", "file = tree.net"))
    generate(tmp_path / "tree.net", "xgft", "--children=4,4", "--parents=1,2")
    heddle("sim", scenario, "--state", tmp_path / "kept")
    generate(tmp_path / "tree.net", "xgft", "--children=4,4", "--parents=1,1")
    assert "keeps work on other input" in refused("sim", scenario, "--state", tmp_path / "kept")


def test_runs_of_a_changed_list_of_hosts_are_refused(scenario, tmp_path):
    hosts = tmp_path / "hosts"
    arguments = "sim", scenario, "--state", tmp_path / "kept", "-O", f"traffic.a.hosts=file:{hosts}"
    hosts.write_text("H_0_0\nH_1_0\nH_2_0\n")
    heddle(*arguments)
    hosts.write_text("H_0_0\nH_1_0\nH_3_0\n")
    assert "keeps work on other input" in refused(*arguments)


def test_a_file_of_runs_that_was_only_begun_is_used(scenario, tmp_path):
    state = tmp_path / "kept"
    heddle("sim", scenario, "--state", state)
    state.write_text(state.read_text()[:10])
    assert "kept" not in heddle("sim", scenario, "--state", state)[0].splitlines()[-1]
    assert "6 of them kept" in heddle("sim", scenario, "--state", state)[0]


def test_two_processes_do_not_write_the_same_file_of_runs(scenario, tmp_path):
    with open(tmp_path / "kept", "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another heddle keeps its work there" in refused("sim", scenario, "--state", tmp_path / "kept")


def test_the_page_is_well_formed_and_complete(scenario, tmp_path):
    page = tmp_path / "page.html"
    heddle("sim", scenario, "--html", page)
    document = xml.dom.minidom.parse(str(page))
    assert len(document.getElementsByTagName("svg")) > 4
    assert "60%" in page.read_text() and "http" not in page.read_text().split("</style>")[1].replace(
        "http://www.w3.org", "")


@pytest.mark.skipif(not browser.CHROMIUM, reason="Chromium is not installed")
def test_the_page_fits_a_telephone(tmp_path):
    """The page is no wider than the screen; names of engines stay on one line where they fit, and long
    ones break only behind their separators; the first column stays in sight in a table that scrolls."""
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
    heddle("sim", "--fabric", tmp_path / "tree", "-e", "dmodk", "-e", "updown:links=tree,passes=2,vls=1,spread=needed",
           "--size", "8 KiB", "--html", tmp_path / "page.html")
    with browser.Browser(tmp_path) as chromium:
        for width in 390, 1280:
            chromium.open(tmp_path / "page.html", width)
            assert chromium.run("document.documentElement.scrollWidth") <= width
            names = chromium.run("""[...document.querySelectorAll('.points th[scope=row] bdi')].map(name => {
                const line = parseFloat(getComputedStyle(name).lineHeight), words = name.textContent.split(/[,:]/);
                return [name.textContent, Math.round(name.offsetHeight / line), words.length]})""")
            assert {name for name, _, _ in names} >= {"dmodk"}
            for name, lines, words in names:
                if name == "dmodk" or ":" in name:
                    assert lines <= words, (width, name, lines)
        chromium.open(tmp_path / "page.html", 390)
        assert chromium.run("""(() => {
            const box = [...document.querySelectorAll('.wide')].find(one => one.scrollWidth > one.clientWidth);
            box.scrollLeft = 100;
            return box.querySelector('tbody th').getBoundingClientRect().left >= box.getBoundingClientRect().left})()""")


def test_csv_has_a_row_for_each_figure(scenario):
    rows = heddle("sim", scenario, "--csv")[0].splitlines()
    assert rows[0] == "scenario,point,figure,unit,runs,mean,least,greatest,deviation"
    assert all(len(row.split(",")) == 9 for row in rows)
    assert {row.split(",")[3] for row in rows[1:]} >= {"-", "s", "bit/s"}
    assert len(rows) == 1 + len(figures(json.loads(heddle("sim", scenario, "--json")[0])))


# ---- a planner's question ----

def test_one_command_compares_engines_and_adaptive_routing(tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2", "--remove-links=10%",
             "--aggregation-nodes")
    hosts = [f"H_{leaf}_{host}" for leaf in range(4) for host in range(3)]
    (tmp_path / "hosts").write_text("\n".join(hosts) + "\n")
    report = json.loads(heddle("sim", "--fabric", tmp_path / "tree", "-e", "spf", "-e", "updown", "--ar",
                               "--hosts", tmp_path / "hosts", "--size", "8 KiB", "--json",
                               "--html", tmp_path / "page.html")[0])
    assert [point["labels"] for point in report["points"]] == [["spf"], ["updown"], ["spf with AR"]]
    assert {point["figures"][1]["mean"] for point in report["points"]} >= {12 * 11}
    assert (tmp_path / "page.html").exists()


def test_the_fabric_may_be_an_operand(tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=3,2", "--parents=1,2")
    route("updown", tmp_path / "tree", tmp_path / "tables")
    end = ["--size", "2 KiB", "--csv"]
    first = heddle("sim", "--fabric", tmp_path / "tree", "-e", "dmodk", tmp_path / "tables", "--ar", *end)[0]
    assert heddle("sim", "-e", "dmodk", tmp_path / "tree", tmp_path / "tables", "--ar", *end)[0] == first
    assert "tables" in first and "dmodk" in first
    assert "need --fabric" in refused("sim", "--ar", tmp_path / "tree")


def test_the_answer_to_a_question_comes_first(tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
    long = "updown:links=tree,passes=2,vls=1,spread=needed"
    question = ["sim", "--fabric", tmp_path / "tree", "-e", "dmodk", "-e", long, "--size", "8 KiB"]
    title, _, text = heddle(*question, "--html", tmp_path / "page.html")[0].partition("\n")
    assert title == "all-to-all of 8 KiB between 16 hosts of tree"
    assert f"<h1>{title}</h1>" in (tmp_path / "page.html").read_text()
    points = json.loads(heddle(*question, "--json")[0])["points"]
    first, second = ({one["name"]: one["mean"] for one in point["figures"]}["run.time"] for point in points)
    answer, _, head, *rows = text.split("\n")[:5]
    assert answer == f"'dmodk' is fastest; '{long}' is slowest and takes {100 * (second / first - 1):.1f}% longer."
    assert head.split()[0] == "tables"
    assert [row.split()[0] for row in rows] == ["dmodk", long]
    assert f" {second / first:.3f} " in rows[1]
    assert " ...vls=1,spread=needed\n" in text  # a column's head keeps the end of a long name
    assert answer in (tmp_path / "page.html").read_text()


def test_tables_that_deadlock_are_not_called_fast(tmp_path):
    generate(tmp_path / "ring", "torus", "--dims=6", "--hosts=2")
    text = heddle("sim", "--fabric", tmp_path / "ring", "-e", "spf:deadlock=off", "-e", "updown", "--size", "64 KiB",
                  "-O", "model.buffer=4 KiB", "-O", "model.mtu=2048", status=FAULTS)[0]
    assert text.split("\n")[1].startswith("Do not use 'spf:deadlock=off': its packets meet a deadlock.")


@pytest.mark.skipif(not os.path.isdir(os.environ.get("HEDDLE_FABRICS", "")), reason="no real fabrics here")
def test_live_tables_of_a_real_fabric_carry_an_all_to_all(tmp_path):
    folder = os.path.join(os.environ["HEDDLE_FABRICS"], "avakas")
    report = json.loads(heddle("sim", "--fabric", os.path.join(folder, "ibnetdiscover-p.txt"),
                               os.path.join(folder, "ibroute"), "-O", "traffic.hosts=0-59", "-O",
                               "traffic.size=2 KiB", "--json")[0])
    (point,) = report["points"]
    assert {one["name"]: one["mean"] for one in point["figures"]}["class.collective.delivered"] == 60 * 59


def test_json_has_the_answer(tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
    (tmp_path / "hosts").write_text("H_0_0\nH_1_0\nH_2_0\n")
    report = schemas.validate("sim", json.loads(heddle(
        "sim", "--fabric", tmp_path / "tree", "-e", "dmodk", "-e", "updown:links=tree", "--hosts", tmp_path / "hosts",
        "--pattern", "all-gather", "--size", "8KB", "--json")[0]))
    times = [{one["name"]: one["mean"] for one in point["figures"]}["run.time"] for point in report["points"]]
    answer = report["answer"]
    assert report["title"] == "all-gather of 8KB between 3 hosts of tree"
    assert [row["seconds"] for row in answer["tables"]] == pytest.approx(times)
    assert answer["ratio"] == pytest.approx(max(times) / min(times))
    assert answer["best"] == ["dmodk", "updown:links=tree"][times.index(min(times))]
    assert answer["tables"][0]["ratio"] == 1


def test_an_answer_that_is_not_known_is_null(tmp_path):
    generate(tmp_path / "ring", "torus", "--dims=6", "--hosts=2")
    report = schemas.validate("sim", json.loads(heddle(
        "sim", "--fabric", tmp_path / "ring", "-e", "spf:deadlock=off", "-e", "updown", "-O", "model.buffer=4 KiB",
        "-O", "model.mtu=2048", "--json", status=FAULTS)[0]))
    answer = report["answer"]
    assert answer["best"] is answer["ratio"] is answer["tables"][0]["seconds"] is None
    assert answer["tables"][1]["seconds"] > 0 and "deadlock" in answer["sentence"]


# ---- plots ----

@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
class TestPlots:
    @staticmethod
    def texts(path):
        root = xml.etree.ElementTree.parse(path).getroot()
        return " ".join(text.strip() for text in root.itertext())

    def test_a_figure_against_the_sweep(self, scenario, tmp_path):
        heddle("sim", scenario, "--plot", tmp_path / "throughput.svg")
        assert "throughput of a, Gb/s" in self.texts(tmp_path / "throughput.svg")
        assert "load, %" in self.texts(tmp_path / "throughput.svg")
        heddle("sim", scenario, "--plot", tmp_path / "latency.svg", "--figure", "class.a.latency.mean")
        assert "mean latency of a, us" in self.texts(tmp_path / "latency.svg")
        heddle("sim", scenario, "--plot", tmp_path / "plot.png")
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")

    def test_the_times_of_a_question(self, tmp_path):
        generate(tmp_path / "tree", "xgft", "--children=4,4", "--parents=1,2")
        heddle("sim", "--fabric", tmp_path / "tree", "-e", "dmodk", "-e", "updown", "--size", "2 KiB", "--plot",
               tmp_path / "times.svg")
        texts = self.texts(tmp_path / "times.svg")
        assert "all-to-all of 2 KiB between 16 hosts of tree" in texts and "updown" in texts and "time, us" in texts

    def test_an_unknown_figure_is_refused(self, scenario, tmp_path):
        (tmp_path / "kept.svg").write_text("before")
        text, message = heddle("sim", scenario, "--plot", tmp_path / "kept.svg", "--figure", "nothing", status=BAD)
        assert "no run has a figure 'nothing'" in message and "class.a.throughput" in text
        assert (tmp_path / "kept.svg").read_text() == "before"
        assert "option '--figure' needs --plot" in refused("sim", scenario, "--figure", "run.time")

    def test_reproduce_draws_each_scenario(self, tmp_path):
        heddle("reproduce", "ar-fairness/c2-s5", "--quick", "--plot", tmp_path / "plots", status=FAULTS)
        assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
            "ar-fairness-c2-s5-expected.svg", "ar-fairness-c2-s5.svg"]
        texts = self.texts(tmp_path / "plots" / "ar-fairness-c2-s5-expected.svg")
        assert "victim, adaptive" in texts and "here, divided by what was expected" in texts


def test_without_gnuplot_no_run_begins(scenario, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments in (("sim", scenario, "-O", "run.duration=100s", "--plot", tmp_path / "plot.svg"),
                      ("reproduce", "all", "--plot", tmp_path / "plots")):
        assert "gnuplot is not installed" in refused(*arguments, env={**os.environ, "PATH": str(empty)})
    assert not (tmp_path / "plot.svg").exists()


# ---- papers ----

def test_the_shares_of_adaptive_routing_are_those_of_the_paper():
    report = schemas.validate("reproduce", json.loads(heddle("reproduce", "ar-fairness", "--quick", "--json",
                                                             status=FAULTS)[0]))
    assert report["within"] > 80 and report["open"] == 0
    outside = [(scenario["scenario"], row["name"]) for scenario in report["scenarios"]
               for row in scenario["expectations"] if row["verdict"] == "outside"]
    assert outside == [("ar-fairness/c1-s3", "A-D"), ("ar-fairness/c2-collectives", "all-to-all"),
                       ("ar-fairness/c2-s5", "victim"), ("ar-fairness/c2-s5", "total"), ("ar-fairness/c2-s6", "victim")]


def test_no_output_replaces_what_the_scenario_names(tmp_path):
    generate(tmp_path / "tree", "xgft", "--children=3,2", "--parents=1,2")
    route("dmodk", tmp_path / "tree", tmp_path / "tables")
    (tmp_path / "nodes").write_text("H_0_0\nH_1_0\n")
    text = "[fabric]\nfile = tree\n[routing]\nengine = dmodk\n[traffic a]\nkind = constant\nhosts = file:nodes\n" \
           "[run]\nduration = 10 us\n[sweep t]\nlabels = a | b\nrouting.tables = tables | other\n"
    (tmp_path / "s.ini").write_text(text)
    before = {name: (tmp_path / name).read_text() for name in ("tree", "tables", "nodes", "s.ini")}
    for option in ("--html", "--counters", "--state"):
        for name in before:
            message = refused("sim", tmp_path / "s.ini", option, tmp_path / name)
            assert f"option '{option}' would replace" in message and name in message
    assert {name: (tmp_path / name).read_text() for name in before} == before
    assert "'--counters' needs a file" in refused("sim", tmp_path / "s.ini", "--counters", "-")
