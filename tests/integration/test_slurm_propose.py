# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hosts that heddle-keyd proposes, of those that are idle, go to a real Slurm by --nodelist: a job keeps off the links
of another one whose key is in the switches."""

import collections

import pytest

import fabric_sim
import slurm_sim
from fabric_sim import HEDDLE
from slurm_site import NODES, Site

MISSING = fabric_sim.missing_tools() + slurm_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    site = Site(tmp_path)
    try:
        yield site
        for job in site.slurm.jobs():
            site.slurm.run("scancel", job)
        site.wait_for_base()
    finally:
        site.stack.close()


def leaves_of(site):
    """[the nodes of each leaf]"""
    leaves = collections.defaultdict(list)
    for node in range(1, NODES + 1):
        leaves[site.topology.leaf(site.hosts[node - 1])].append(f"node{node}")
    return list(leaves.values())


def links(site, flows, offset):
    """The links between switches of flows between nodes, by walks in the switches' tables."""
    held, found = site.tables(), collections.Counter()
    for source, destination in flows:
        source, destination = site.topology.names[source], site.topology.names[destination]
        path = site.topology.path(held, site.topology.leaf(source), site.topology.lids[destination][0] + offset)
        found.update(path[:-1])
    return found


def shared(site, nodes, busy):
    """How many links a ring of nodes without a key shares with flows."""
    mine = links(site, zip(nodes, nodes[1:] + nodes[:1]), 0)
    assert mine
    return sum((busy + mine)[link] > 1 for link in mine)


def idle(site):
    return site.slurm.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").stdout.split()


def test_a_job_runs_where_keyd_proposes(site, tmp_path):
    """One node of each leaf is idle. The key of the first job, between two leaves, takes links that another job between
    these leaves would cross without a key; the offline command, which knows of no keys, proposes just that. By the
    commands of the guide, the second job gets hosts from heddle-keyd, runs its ranks in the order proposed, and shares
    no link although it has no key."""
    leaves = sorted(leaves_of(site))  # idle nodes of the first two have the lowest names
    first = leaves[0][1:] + leaves[1][1:]
    job = site.start("first", "--routing-pattern=shift:3", nodes=",".join(first))
    site.wait_for_keys()
    other = site.slurm.start("srun", "-w", ",".join(leaves[2][:3] + leaves[3][:3]), "--ntasks-per-node=1",
                             "sleep", "600")
    fabric_sim.wait_until(lambda: len(idle(site)) == 4, "two running jobs")

    script = tmp_path / "submit"
    script.write_text(f"""#!/bin/sh
        nodes=$(sinfo -h -N -t idle -o %N |
            {HEDDLE} key propose --socket {site.keyd.socket} --choose 2 --free - -p ring --list \\
                --host-file {tmp_path}/hosts) || exit
        SLURM_HOSTFILE={tmp_path}/hosts srun -n 2 --distribution=arbitrary sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'
        echo list $nodes
        sbatch --wait -N 2 --nodelist "$nodes" -o {tmp_path}/out --wrap 'scontrol show hostnames' >&2
        """)
    script.chmod(0o755)
    (tmp_path / "free").write_text("\n".join(idle(site)))
    lines = dict(line.split() for line in site.slurm.run(script).stdout.splitlines())
    placed = [lines["0"], lines["1"]]
    assert placed == (tmp_path / "hosts").read_text().split() == lines["list"].split(",")
    assert sorted((tmp_path / "out").read_text().split()) == sorted(placed)

    busy = links(site, [(first[i], first[(i + 3) % 6]) for i in range(6)], 1)
    assert max(busy.values()) == 1 and shared(site, placed, busy) == 0
    naive = fabric_sim.heddle("key", "place", "--choose", 2, "--free", tmp_path / "free", "-p", "ring",
                              site.simulation.discover(), "--host-file", "-").stdout.split()
    assert shared(site, naive, busy) > 0
    other.terminate()
    site.go("first", job)
    other.communicate()
