# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Slurm's own slurmctld loads what heddle topo convert --to slurm writes."""

import re

import pytest

import fabric_sim
import slurm_sim

MISSING = slurm_sim.missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")


class TreeSlurm(slurm_sim.Slurm):
    """A cluster with a topology.conf."""

    def __init__(self, topology, **options):
        super().__init__(more="TopologyPlugin=topology/tree", **options)
        self.topology = topology

    def _write_conf(self):
        super()._write_conf()
        (self.folder / "topology.conf").write_text(self.topology)


def test_slurmctld_has_the_switches_of_the_file(tmp_path):
    """Two pods of two leaves of two nodes. The scheduler honours them: a job on one switch gets the
    two nodes of one leaf."""
    fabric = fabric_sim.generate(tmp_path, "xgft", "--children=2,2,2", "--parents=1,2,2")
    netlist = fabric.read_text()
    for number, name in enumerate(re.findall(r'(?m)^Ca\s.*# "(\S+)"', netlist), 1):
        netlist = netlist.replace(f'"{name}"', f'"node{number} HCA-1"')
    fabric.write_text(netlist)
    topology = fabric_sim.heddle("topo", "convert", "--to", "slurm", fabric).stdout
    with TreeSlurm(topology, nodes=8) as slurm:
        shown = slurm.run("scontrol", "show", "topology").stdout
        rows = {name: (level, nodes) for name, level, nodes in
                re.findall(r"SwitchName=(\S+) Level=(\d+) LinkSpeed=\d+ Nodes=(\S+)", shown)}
        assert rows == {"S1_0_0": ("0", "node[1-2]"), "S1_0_1": ("0", "node[3-4]"),
                        "S1_1_0": ("0", "node[5-6]"), "S1_1_1": ("0", "node[7-8]"),
                        "level1-1": ("1", "node[1-4]"), "level1-2": ("1", "node[5-8]"),
                        "level2-1": ("2", "node[1-8]")}
        nodes = slurm.run("srun", "-N2", "-w", "node4", "--switches=1", "sh", "-c",
                          "echo $SLURMD_NODENAME").stdout.split()
        assert sorted(nodes) == ["node3", "node4"]
        assert "error:" not in "\n".join(line for line in slurm.log().splitlines() if "topology" in line)
