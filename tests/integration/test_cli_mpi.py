# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle as several processes: they print the same bytes as one, tell of what failed in any of them, and end when one of
them is killed; what is finished by then is kept."""

import fcntl
import json
import os
import subprocess

import pytest

import ranks
from cli_testing import BAD, CLEAN, FAULTS, HEDDLE, SOURCE, generate, heddle, refused
from fabric_sim import PATIENCE, wait_until

os.environ["HEDDLE_SCENARIOS"] = str(SOURCE / "sim" / "scenarios")
pytestmark = pytest.mark.skipif(bool(ranks.MISSING), reason=f"missing: {', '.join(ranks.MISSING)}")

SCENARIO = """[scenario]
title = trial
[fabric]
generator = xgft
children = 4,4
parents = 1,2
[routing]
engine = dmodk
[traffic a]
kind = poisson
rate = 30%
size = 2048
[run]
duration = 200 us
seeds = 5
[sweep load]
traffic.a.rate = 20% | 60%
[expect a]
figure = class.a.throughput
value = 0.2 | 0.6
"""


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mpi")


@pytest.fixture(scope="module", name="small")
def fixture_small(folder):
    return generate(folder / "small.net", "xgft", "--children=4,4", "--parents=1,2", "--parallel=1,2")


@pytest.fixture(scope="module", name="tree")
def fixture_tree(folder):
    return generate(folder / "tree.net", "kary-ntree", "--k=3", "--n=3")


@pytest.fixture(name="scenario")
def fixture_scenario(tmp_path):
    (tmp_path / "trial.ini").write_text(SCENARIO)
    return tmp_path / "trial.ini"


# ---- the same bytes ----

COUNTS = [(1, 2, 4), (3,)]  # processes for text, and for other forms
RUNS = {
    "ebb": ["-e", "dmodk", "--hot", 3, "--lmc", 2, "--lids", "rotate"],
    "ebb until it is precise": ["-e", "dmodk", "--precision", "0.002"],
    "compare": ["-e", "dmodk", "-e", "spf"],
    "survive": ["-e", "spf", "-r", "0..40/20", "--trials", 5],
}


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=["text", "json", "csv"])
@pytest.mark.parametrize("name", list(RUNS))
def test_reports_are_the_same_for_any_number_of_processes(small, name, form):
    arguments = [name.split()[0], small, *RUNS[name], *form]
    expected = heddle(*arguments)[0]
    for count in COUNTS[bool(form)]:
        done = ranks.run(count, *arguments)
        assert done.returncode == CLEAN and done.stdout == expected, done.stderr


@pytest.mark.parametrize("form", [pytest.param([], id="text", marks=pytest.mark.alike), pytest.param(["--json"], id="json"),
                                  pytest.param(["--csv"], id="csv", marks=pytest.mark.alike)])
def test_simulations_are_the_same_for_any_number_of_processes(small, scenario, form):
    """The scenario, a planner's question, and an experiment."""
    for arguments in (["sim", scenario], ["sim", "--fabric", small, "-e", "dmodk", "-e", "spf", "--ar"],
                      ["reproduce", "--quick", "bisection"]):
        expected = heddle(*arguments, *form, status=None)[0]
        for count in COUNTS[bool(form)]:
            done = ranks.run(count, *arguments, *form)
            assert done.stdout == expected and expected, done.stderr


def test_files_are_the_same_for_any_number_of_processes(small, scenario, tmp_path):
    """Pages, and the counters of a simulation, are those of one process, and one writes them."""
    for name, arguments in (("html", ["compare", small, "-e", "dmodk", "-e", "spf"]), ("html", ["sim", scenario]),
                            ("counters", ["sim", "--fabric", small, "-e", "dmodk"])):
        pages = []
        for count in (1, 3):
            path = tmp_path / f"{count}.{name}"
            assert ranks.run(count, *arguments, f"--{name}", path).returncode == CLEAN
            pages.append(path.read_text().replace(str(path), "PAGE"))
        assert pages[0] == pages[1]


def test_processes_tell_of_trials_that_others_could_not_route(tree):
    """Refused by some, with the reason of the last trial, whoever ran it; all of the report is there though the processes
    end with status 1."""
    arguments = ["survive", "--json", tree, "-e", "dmodk", "-r", "5..20/5", "--trials", 5]
    expected = heddle(*arguments, status=FAULTS)[0]
    rows = json.loads(expected)["shares_removed"]
    assert any("refusal" in row for row in rows) and any(0 < row["routed"] < 5 for row in rows)
    for count in (2, 3, 4):
        done = ranks.run(count, *arguments)
        assert done.returncode == FAULTS and done.stdout == expected


# ---- errors ----

@pytest.mark.parametrize("name", ["ebb", "compare", "survive", "sim"])
def test_bad_input_is_told_of_once(tmp_path, name):
    path = tmp_path / ("none.ini" if name == "sim" else "none.net")
    done = ranks.run(2, name, path, *{"ebb": ["-e", "spf"], "compare": ["-e", "spf", "-e", "dmodk"],
                                      "survive": ["-e", "spf"], "sim": []}[name])
    assert done.returncode == BAD and done.stdout == ""
    assert done.stderr.count("heddle: ") == 1 and f"{path.name}: cannot open" in done.stderr


def test_the_reason_of_another_process_is_told(small, tmp_path):
    """The second process cannot have its file of kept trials, because somebody else has it."""
    with open(tmp_path / "state.1", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = ranks.run(2, "survive", small, "-e", "spf", "--trials", 2, "--state", tmp_path / "state")
    assert done.returncode == BAD and done.stdout == ""
    assert f"heddle: process 1 of 2: {tmp_path}/state.1: another heddle keeps its work there" in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["ebb", "compare", "survive", "sim", "reproduce"])
def test_without_the_module_several_processes_are_refused(name):
    """They say which package is missing. Each would print the same report."""
    done = ranks.run(3, name, "--help", HEDDLE_MPI_MODULE="/nonexistent.so")
    assert done.returncode == BAD and done.stdout == ""
    assert done.stderr.count("heddle: ") == 1
    assert "mpirun started 3 processes of heddle" in done.stderr and "Install the package heddle-mpi" in done.stderr


@pytest.mark.parametrize("environment, said", [
    ({"OMPI_COMM_WORLD_SIZE": "2"}, "mpirun started 2 processes"),
    ({"PMI_SIZE": "2", "PMI_RANK": "0"}, "mpirun started 2 processes"),
    ({"SLURM_STEP_NUM_TASKS": "2", "PMIX_RANK": "0"}, "srun started 2 processes"),
])
def test_launchers_are_known_by_their_variables(small, environment, said):
    environment = {**os.environ, **environment, "HEDDLE_MPI_MODULE": "/nonexistent.so"}
    assert said in refused("ebb", small, "-e", "dmodk", env=environment)
    # A batch script of Slurm, and a process that is one of one, are alone.
    for alone in ({"SLURM_NTASKS": "2"}, {"OMPI_COMM_WORLD_SIZE": "1"}, {"SLURM_STEP_NUM_TASKS": "1", "PMIX_RANK": "0"}):
        heddle("ebb", small, "-e", "dmodk", "-n", 1, env={**os.environ, **alone, "HEDDLE_MPI_MODULE": "/nonexistent.so"})


def test_modules_of_others_are_refused(small, tmp_path):
    """A file that is no module, and a module that is not ours."""
    (tmp_path / "text.so").write_text("text")
    other = ranks.BUILD / "keyd/client/libheddle-key.so"
    for path, said in ((tmp_path / "text.so", "it cannot be loaded: "), (other, "it has no hd_mpi_module")):
        assert said in refused("ebb", small, "-e", "dmodk", env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2",
                                                                "HEDDLE_MPI_MODULE": str(path)})


def test_processes_can_work_alone(small):
    """HEDDLE_MPI=off: each prints its own report. Another value is refused."""
    alone = heddle("ebb", small, "-e", "dmodk", "--csv")[0]
    assert ranks.run(2, "ebb", small, "-e", "dmodk", "--csv", HEDDLE_MPI="off").stdout == alone * 2
    assert "HEDDLE_MPI in the environment is 'no'" in refused("ebb", small, "-e", "dmodk",
                                                              env={**os.environ, "HEDDLE_MPI": "no"})


def test_the_command_needs_no_mpi():
    listed = subprocess.run(["ldd", HEDDLE], capture_output=True, text=True, check=True).stdout
    assert "libmpi" not in listed and "libjansson" in listed


# ---- lost processes ----

def long_survive(tree, *options):
    return ["survive", tree, "-e", "dmodk", "-r", "1..20", "--trials", 8, "-n", 20000, "-t", 1, *options]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_killed_process_ends_the_others(tree, number):
    """Quickly: the run would last for hours. They say which one is lost, unless mpirun ends them before they can."""
    for _ in range(10):
        process = ranks.start(3, "ebb", tree, "-e", "dmodk", "-n", 4000000000, "-t", 1)
        ranks.kill(process, number, 3)
        out, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode not in (CLEAN, FAULTS) and out == ""
        if f"process {number} of 3 on" in errors:
            return
    raise AssertionError(errors)


@pytest.mark.parametrize("number", [0, 1])
def test_survive_goes_on_from_what_is_kept(tree, tmp_path, number):
    """A process is killed when both have kept a trial. Then one process, or three, go on."""
    kept = tmp_path / "kept"
    whole = heddle(*long_survive(tree), status=FAULTS)[0]
    process = ranks.start(2, *long_survive(tree, "--state", kept))
    files = [kept, tmp_path / "kept.1"]
    wait_until(lambda: all(path.exists() and path.read_text().count("\n") > 2 for path in files), "trials")
    ranks.kill(process, number, 2)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (CLEAN, FAULTS) and out == "", errors
    # mpirun may end the other one before it can say so
    assert (f"process {number} of 2 on" in errors) == (f"finished work is kept in {kept}" in errors), errors
    lines = sum(path.read_text().count("\n") - 1 for path in files)
    assert 4 <= lines < 160
    assert ranks.run(3, *long_survive(tree, "--state", kept)).stdout == whole
    assert sum(path.read_text().count("trial") for path in [*files, tmp_path / "kept.2"]) == 160 + 3
    before = os.stat(kept).st_size
    assert heddle(*long_survive(tree, "--state", kept), status=FAULTS)[0] == whole
    assert os.stat(kept).st_size == before


@pytest.mark.parametrize("name", ["sim", pytest.param("reproduce", marks=pytest.mark.alike)])
def test_simulations_go_on_from_what_is_kept(scenario, tmp_path, name):
    """One of two processes is killed when both have kept a run. Then one process goes on."""
    arguments = [name, scenario, "-O", "run.duration=10ms", "-t", 1, "--json"]
    whole = heddle(*arguments, status=None)[0]
    folder = tmp_path / "kept"
    folder.mkdir()
    options = ["--state", folder / "runs" if name == "sim" else folder]
    process = ranks.start(2, *arguments, *options)

    def kept():
        return [path.read_text().count("\nend complete\n") for path in folder.iterdir()]
    wait_until(lambda: len(kept()) == 2 and all(kept()), "runs of both processes")
    ranks.kill(process, 1, 2)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (CLEAN, FAULTS) and out == "", errors
    assert 2 <= sum(kept()) < 10
    assert heddle(*arguments, *options, status=None)[0] == whole
    assert sum(kept()) == 10
