# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Slurm takes the weights of heddle topo convert --to slurm-weights, and starts the ranks of a step on the
hosts in the order of heddle key place."""

import re

import pytest

import fabric_sim
import slurm_sim

MISSING = slurm_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")

NODES = 8
SHOW = ["sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME"]


class WeightedSlurm(slurm_sim.Slurm):
    """A cluster whose nodes have the weights of a file."""

    def __init__(self, weights, **options):
        super().__init__(**options)
        self.weights = weights

    def _write_conf(self):
        super()._write_conf()
        path = self.folder / "slurm.conf"
        conf = path.read_text()
        nodes = re.search(r"(?m)^NodeName=node.* Port=\[(\d+)-.*$", conf)
        first, lines = int(nodes.group(1)) - 1, ["NodeName=DEFAULT CPUs=4 RealMemory=1000"]
        for line in self.weights.splitlines():  # ports are what only a test needs
            if not line.startswith("#"):
                low, high = re.search(r"\[(\d+)-(\d+)\]", line).groups()
                line += (f" NodeHostname=localhost NodeAddr=127.0.0.1 "
                         f"Port=[{first + int(low)}-{first + int(high)}]")
            lines.append(line)
        path.write_text(conf.replace(nodes.group(0), "\n".join(lines)))


@pytest.fixture(scope="module", name="fabric")
def fixture_fabric(tmp_path_factory):
    """Two pods of two leaves of two nodes. The nodes of the first leaf have the highest numbers."""
    fabric = fabric_sim.generate(tmp_path_factory.mktemp("fabric"), "xgft", "--children=2,2,2", "--parents=1,2,2")
    netlist = fabric.read_text()
    for number, name in enumerate(re.findall(r'(?m)^Ca\s.*# "(\S+)"', netlist)):
        netlist = netlist.replace(f'"{name}"', f'"node{NODES - number} HCA-1"')
    fabric.write_text(netlist)
    return fabric


@pytest.fixture(scope="module", name="slurm")
def fixture_slurm(fabric):
    weights = fabric_sim.heddle("topo", "convert", "--to", "slurm-weights", fabric).stdout
    with WeightedSlurm(weights, nodes=NODES) as slurm:
        yield slurm


def placed(done):
    return [node for _, node in sorted(line.split() for line in done.stdout.splitlines())]


def wait_until_free(slurm):
    """A node that ends a job is not free for a moment."""
    fabric_sim.wait_until(lambda: set(slurm.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()) == {"idle"}, "free nodes")


def test_slurm_fills_leaves_in_the_order_of_the_weights(slurm):
    """Without weights, node1 would be the first. A job of three nodes gets the first leaf and a node of
    the next one."""
    shown = slurm.run("sinfo", "-h", "-N", "-o", "%N %w").stdout.split()
    assert dict(zip(shown[::2], shown[1::2])) == {f"node{i}": str((NODES - i) // 2 + 1) for i in range(1, NODES + 1)}
    assert set(placed(slurm.run("srun", "-N2", *SHOW))) == {"node7", "node8"}
    wait_until_free(slurm)
    three = set(placed(slurm.run("srun", "-N3", *SHOW)))
    assert {"node7", "node8"} < three and three < {"node5", "node6", "node7", "node8"}


def test_ranks_run_where_the_host_file_says(slurm, fabric, tmp_path):
    """SLURM_HOSTFILE and --distribution=arbitrary, with hosts that sinfo lists as free; also with two
    ranks on each."""
    wait_until_free(slurm)
    free = tmp_path / "free"
    free.write_text(slurm.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").stdout)
    for hosts, ranks in ((6, 6), (4, 8)):
        chosen = tmp_path / f"hosts{ranks}"
        fabric_sim.heddle("key", "place", "--choose", hosts, "--free", free, "-p", "alltoall", "-r", ranks, fabric,
                          "--host-file", chosen)
        names = chosen.read_text().split()
        assert len(names) == ranks and len(set(names)) == hosts
        done = slurm.run("srun", "-n", ranks, "--distribution=arbitrary", *SHOW,
                         environment={"SLURM_HOSTFILE": str(chosen)})
        assert placed(done) == names


def test_a_running_job_is_reordered(slurm, fabric, tmp_path):
    """In an allocation, the order is made for the hosts that it has."""
    script = tmp_path / "script"
    script.write_text(f"""#!/bin/sh
        scontrol show hostnames >{tmp_path}/mine
        {fabric_sim.HEDDLE} key place --reorder {tmp_path}/mine -p alltoall {fabric} \\
            --host-file {tmp_path}/order >&2 || exit
        SLURM_HOSTFILE={tmp_path}/order srun -n 5 --distribution=arbitrary sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'
        """)
    script.chmod(0o755)
    done = slurm.run("salloc", "-N5", "-w", "node[1,3-6]", script)
    assert placed(done) == (tmp_path / "order").read_text().split()
    assert sorted(placed(done)) == ["node1", "node3", "node4", "node5", "node6"]
