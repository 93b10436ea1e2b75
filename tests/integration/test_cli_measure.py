# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-measure with a few ranks on this machine: what it sends, counts, predicts and refuses. This
says nothing of the bandwidth of a network."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import schemas
from cli_testing import BAD, CLEAN, FAULTS, HEDDLE, SOURCE, ebb, generate, route
from ranks import FOLDER, MPIRUN

MEASURE = pathlib.Path(HEDDLE).parent / "measure" / "heddle-measure"
SECONDS = 600  # the longest that a run may take before it counts as hanging
QUICK = ["-n", "12", "--packets", "3", "--size", "4096"]

pytestmark = pytest.mark.skipif(not MEASURE.exists() or not shutil.which("mpirun"),
                                reason="not built with MPI, or no mpirun")


def mpirun(*words):
    return subprocess.run([*MPIRUN, *map(str, words)], env={**os.environ, "TMPDIR": FOLDER},
                          capture_output=True, text=True, timeout=SECONDS, check=False)


def measure(ranks, *arguments, status=CLEAN):
    done = mpirun("-n", ranks, MEASURE, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def report_of(ranks, *arguments, status=CLEAN):
    return schemas.validate("measure", json.loads(measure(ranks, *arguments, "--json", status=status).stdout))


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measure")
    generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,2")
    route("dmodk", folder / "tree", folder / "tables")
    (folder / "hosts").write_text("H_0_0\nH_0_1\nH_1_0\nH_2_0\n")
    return folder


def test_each_pair_of_each_bisection_counts_once():
    """Twelve bisections of four ranks are 24 pairs, and each is in one bin."""
    report = report_of(4, *QUICK, "--bins", 7, "-s", 5)
    assert (report["ranks"], report["hosts"], report["patterns"], report["seed"]) == (4, 1, 12, 5)
    assert (report["packets"], report["packet_bytes"], report["bins"]) == (3, 4096, 7)
    assert report["measured"]["pairs"] == sum(row["measured"] for row in report["histogram"]) == 24
    assert all(row["to"] - row["from"] == pytest.approx(1 / 7) for row in report["histogram"])
    assert report["full"]["pairs_alone"] == 2 and "predicted" not in report
    full = report["full"]
    assert full["least"] <= full["mib_per_s"] <= full["most"]
    measured = report["measured"]
    assert 0 < measured["clock_error_us"] < 1e6
    assert 0 < measured["least_mib_per_s"] <= measured["mean"] * full["mib_per_s"] <= measured["most_mib_per_s"]


def test_full_bandwidth_can_be_given():
    """All shares are in units of it: a hundred million MiB/s is more than any memory has. Two ranks are
    one pair."""
    report = report_of(2, *QUICK, "--full", 100000000)
    assert report["measured"]["pairs"] == 12
    assert report["full"] == {"mib_per_s": 100000000, "pairs_alone": 0}
    assert [row["from"] for row in report["histogram"]] == [0]
    assert report["measured"]["mean"] == pytest.approx(
        report["measured"]["most_mib_per_s"] / 100000000, abs=report["measured"]["most_mib_per_s"] / 100000000)


def test_the_prediction_is_that_of_ebb(folder):
    """To the last digit, with the same hosts, seed and bisections, from files and from an engine."""
    expected = ebb("--map", folder / "hosts", "-n", 12, "-s", 9, folder / "tree", folder / "tables")
    report = report_of(4, *QUICK, "-s", 9, "--map", folder / "hosts", folder / "tree", folder / "tables")
    predicted = report["predicted"]
    assert predicted["mean"] == expected["mean"] and predicted["half_width_99"] == expected["half_width_99"]
    assert predicted["pairs"] == 24 == sum(row["predicted"] for row in report["histogram"])
    by_pi = dict(expected["histogram"])
    in_bins = {round(row["from"], 2): row["predicted"] for row in report["histogram"] if row["predicted"]}
    assert in_bins == {round(min(int(50 / pi + 1e-9), 49) / 50, 2): count for pi, count in by_pi.items()}
    text = measure(4, *QUICK, "-s", 9, "--map", folder / "hosts", "-e", "dmodk", folder / "tree").stdout
    assert f"predicted   {expected['mean']:.4f} +- " in text and re.search(r"difference  [+-]\d+\.\d{4}", text)


def test_ranks_are_found_by_the_names_of_their_hosts(folder):
    """Two ranks on this machine are one host twice, which the prediction cannot take."""
    name = subprocess.run(["uname", "-n"], capture_output=True, text=True, check=True).stdout.strip().split(".")[0]
    named = folder / "named"
    named.write_text((folder / "tree").read_text().replace('"H_0_0"', f'"{name}"'))
    done = measure(2, *QUICK, "-e", "dmodk", named, status=BAD)
    assert f"hosts of the ranks:2: host '{name}' is listed twice" in done.stderr


def test_broken_routes_are_faults(folder):
    text = (folder / "tables").read_text().splitlines()
    holed = folder / "holed"
    holed.write_text("\n".join(line for line in text if "'H_1_0'" not in line) + "\n")
    done = measure(4, *QUICK, "--map", folder / "hosts", folder / "tree", holed, status=FAULTS)
    assert "flows that do not arrive by these tables" in done.stdout


# ---- bad input ----


def bad_input(folder):
    few, strange = folder / "few", folder / "strange"
    few.write_text("H_0_0\nH_0_1\n")
    strange.write_text("H_0_0\nH_0_1\nH_7_7\nH_1_1\n")
    tree = ["-e", "dmodk", folder / "tree"]
    return {
        "one rank": (1, [], "one rank has nobody to send to"),
        "odd": (3, [], "3 ranks: an odd number cannot be cut into halves"),
        "names": (2, tree, "hosts of the ranks:1: "),
        "a name": (4, ["--map", strange, *tree], f"{strange}:3: "),
        "number of hosts": (4, ["--map", few, *tree], f"{few}: 2 hosts, but there are 4 ranks"),
        "no fabric": (4, ["-e", "dmodk", folder / "none"], "none: cannot open"),
        "no tables": (4, [folder / "tree"], "expected nothing, or FABRIC and TABLES"),
        "engine": (4, ["--map", folder / "hosts", "-e", "dmodk:fly=1", folder / "tree"], "fly"),
        "option": (4, ["--fly"], "unknown option '--fly'"),
    }


@pytest.mark.parametrize("case", ["one rank", "odd", "names", "a name", "number of hosts", "no fabric", "no tables",
                                  "engine", "option"])
def test_bad_input_is_told_of_once_and_ends_all_ranks(folder, case):
    """The first rank says what is wrong, and all ranks end with status 2; none waits."""
    ranks, arguments, message = bad_input(folder)[case]
    words = " ".join(f"'{word}'" for word in [MEASURE, *QUICK, *arguments])
    done = mpirun("-n", ranks, "sh", "-c", f"{words}; echo ended with $?")
    assert done.stdout.count("ended with 2\n") == ranks == done.stdout.count("ended with"), done.stdout
    assert message in done.stderr and done.stderr.count("heddle: ") == 1, done.stderr
    assert done.stdout.replace("ended with 2\n", "") == ""


def test_ranks_with_other_options_do_not_hang():
    """mpirun can give each rank a command line of its own. Numbers are those of the first rank."""
    done = mpirun("-n", 1, MEASURE, *QUICK, "--json", ":", "-n", 1, MEASURE, "-n", 99999, "--size", 1)
    assert done.returncode == CLEAN and json.loads(done.stdout)["patterns"] == 12
    for first, second in ([[], ["--fly"]], [["--help"], []]):
        assert mpirun("-n", 1, MEASURE, *QUICK, *first, ":", "-n", 1, MEASURE, *QUICK, *second).returncode == BAD


# ---- documents ----


def test_the_man_page_has_the_options_of_the_help():
    done = measure(2, "--help")
    assert done.stdout.count("Usage: ") == 1 and done.stderr == ""
    options = set(re.findall(r"(?m)^  (?:-., |    )--([a-z-]+)", done.stdout))
    page = (SOURCE / "doc" / "man" / "heddle-measure.1").read_text().replace("\\-", "-")
    assert options == set(re.findall(r"(?m)^\.B[RI]? (?:-\w \", \" )?--([a-z-]+)", page.split(".SH OPTIONS")[1]))
