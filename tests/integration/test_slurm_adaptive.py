# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs of a real Slurm with routing keys in a fabric with adaptive routing: a job has its links to itself, and all other
traffic its groups, before, meanwhile and afterwards."""

import pytest

import emulator
import fabric_sim
import slurm_sim
from ar_sim import Walker, adaptive_entries, programmed, sending, sweep
from emulator import Emulator
from fabric_sim import wait_until
from slurm_site import NODES, Site, phases

MISSING = fabric_sim.missing_tools() + slurm_sim.missing_tools() + emulator.missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    site = Site(tmp_path, engine="ar_nrk", emulated=Emulator())
    try:
        programmed(site.opensm)
        yield site
        for job in site.slurm.jobs():
            site.slurm.run("scancel", job)
        wait_until(lambda: not site.slurm.jobs(), "the end of all jobs")
    finally:
        site.stack.close()


def test_jobs_have_their_links_and_others_their_groups(site):
    """While a job runs, no two flows of its phase share a link, by what switches send by, adaptive routing included.
    Entries of other LIDs, and of the job's LIDs off its paths, are as adaptive as before; so are all when it has ended.
    The same for two jobs of which one ends, and for a job that lives through a sweep."""
    groups = adaptive_entries(site.simulation.emulator.tables())
    assert groups and any(lid in site.lids(range(1, NODES + 1)) for _, lid in groups)

    def static():
        """LIDs whose entries are static, but are not without keys."""
        return {lid for _, lid in groups.keys() - adaptive_entries(site.simulation.emulator.tables()).keys()}

    def check(flows, nodes):
        held = site.simulation.emulator.tables()
        assert site.contention(sending(held, site.tables()), flows, 1) == 1
        found = adaptive_entries(held)
        lost = groups.keys() - found.keys()
        assert found == {place: groups[place] for place in found} and lost
        assert {lid for _, lid in lost} <= site.lids(nodes)
        assert Walker(site.simulation, site.simulation.emulator).lost() == []

    stencil = phases(site, "stencil2d:4x4", NODES)[0]
    job = site.start("stencil", "--routing-pattern=stencil2d:4x4", nodes=f"node[1-{NODES}]")
    site.wait_for_keys()
    check(stencil, range(1, NODES + 1))
    assert sweep(site.opensm)["sets"] == 0
    check(stencil, range(1, NODES + 1))
    site.go("stencil", job)
    site.wait_for_base()
    assert adaptive_entries(site.simulation.emulator.tables()) == groups

    first = phases(site, "ring", 8)[0]
    second = [(source + 8, destination + 8) for source, destination in first]
    one = site.start("one", "--routing-pattern=ring", nodes="node[1-8]")
    two = site.start("two", "--routing-pattern=ring", nodes="node[9-16]")
    site.wait_for_keys(2)
    check(first, range(1, 17))
    check(second, range(1, 17))
    site.go("one", one)
    wait_until(lambda: len(site.job_ids()) == 1, "the end of the first job")
    # heddle-keyd answers before the plugin has taken the key out of the switches
    wait_until(lambda: static() <= site.lids(range(9, 17)), "the end of the first job's key")
    check(second, range(9, 17))
    site.go("two", two)
    site.wait_for_base()
    assert adaptive_entries(site.simulation.emulator.tables()) == groups
