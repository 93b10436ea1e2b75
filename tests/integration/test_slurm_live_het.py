# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A heterogeneous job of a real Slurm on a simulated fabric that a real OpenSM manages: each component has keys for its
own pattern and its own ranks, which heddle-keyd stores, shows and releases."""

import pytest

import fabric_sim
import slurm_sim
from fabric_sim import PATIENCE, heddle, wait_until
from slurm_site import Site, phases

MISSING = fabric_sim.missing_tools() + slurm_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


@pytest.fixture(scope="module", name="site")
def site_fixture(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("fabric"))
    yield site
    site.stack.close()


def test_a_job_of_two_components(site):
    """In the tables of the switches no two flows of a component share a link. A restart of heddle-keyd keeps both, and
    the end of the job takes both away."""
    ring, stencil = phases(site, "ring", 8)[0], phases(site, "stencil2d:2x4", 8)[0]
    second = [(source + 8, destination + 8) for source, destination in reversed(stencil)]
    folder = site.slurm.folder
    script = f"echo $HEDDLE_JOB $HEDDLE_OFFSET; touch {folder}/up.$SLURM_PROCID; while [ ! -e {folder}/het.go ]; do sleep 0.05; done"
    job = site.slurm.start(
        "srun", "-w", "node[1-8]", "--ntasks-per-node=1", "--routing-pattern=ring", "sh", "-c", script, ":",
        "-w", "node[9-16]", "--ntasks-per-node=1", "--routing-pattern=stencil2d:2x4", "sh", "-c", script)
    site.wait_for_keys(2)
    wait_until(lambda: len(list(folder.glob("up.*"))) == 16, "the tasks")
    first_id, second_id = sorted(site.job_ids(), key=int)
    for number, pattern, nodes in ((first_id, "ring", range(1, 9)), (second_id, "stencil2d:2x4", range(9, 17))):
        shown = site.keyd.get(f"/v1/jobs/{number}").json
        assert (shown["pattern"], shown["host_names"]) == (pattern, [f"node{node}" for node in nodes])
        assert [(step["step"], step["layout"], step["ranks"], step["active"]) for step in shown["steps"]] == [
            ("0", True, 8, [0])]
    listed = heddle("key", "list", "--socket", site.keyd.socket).stdout
    assert first_id in listed and second_id in listed
    held = site.tables()
    assert site.contention(held, ring, 1) == site.contention(held, second, 1) == 1
    site.keyd.kill()
    site.keyd.start()
    site.wait_for_keys(2)
    assert site.tables() == held
    (folder / "het.go").touch()
    out, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 0 and "heddle" not in err, err
    assert sorted(out.split("\n"))[1:] == sorted([f"{first_id} 1"] * 8 + [f"{second_id} 1"] * 8)
    wait_until(lambda: site.job_ids() == [], "the release of both components")
    site.wait_for_base()
