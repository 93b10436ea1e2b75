# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A simulated fabric, its OpenSM, heddle-keyd and a Slurm cluster, and what tests ask them."""

import collections
import contextlib
import json
import random
import re

import keyd_testing
import slurm_sim
from fabric_sim import PATIENCE, Simulation, Topology, generate, heddle, tables, wait_until

NODES = 16
LMC = 2


def named(folder):
    """A tree of 16 hosts, named node1 .. node16 in an order in which D-mod-K's routes collide."""
    path = generate(folder, "xgft", "--children=4,4", "--parents=1,4")
    text = path.read_text()
    hosts = sorted(set(re.findall(r'"(H_\d_\d)"', text)))
    random.Random(5).shuffle(hosts)
    for number, host in enumerate(hosts, 1):
        text = text.replace(f'"{host}"', f'"node{number}"')
    path.write_text(text)
    return path


class Site:
    """The fabric, its manager, heddle-keyd and the cluster."""

    def __init__(self, folder, engine="nrk", emulated=None):
        self.stack = contextlib.ExitStack()
        self.simulation = self.stack.enter_context(Simulation(named(folder), emulator=emulated))
        self.opensm = self.simulation.opensm(
            engine, options={"lmc": LMC}, heddle_conf=f"[keys]\nsocket = {self.simulation.folder}/sm.sock\n")
        self.opensm.__enter__()
        self.stack.callback(lambda: self.opensm.__exit__())
        port = slurm_sim.free_ports(NODES + 2)  # keyd's, and then those of the cluster
        self.slurm = self.stack.enter_context(slurm_sim.Slurm(
            NODES, port=port + 1, **slurm_sim.with_keys(f"127.0.0.1:{port}", timeout=60000)))
        folder = self.slurm.folder / "keyd"
        folder.mkdir()
        self.keyd = keyd_testing.Keyd(folder, managers=self.simulation.folder / "sm.sock",
                                      tcp=f"127.0.0.1:{port}", munge_socket=self.slurm.munge_socket, answer_ms=60000)
        self.stack.callback(self.keyd.stop)
        self.keyd.start()
        self.topology = Topology(self.simulation.discover())
        self.hosts = [self.topology.names[f"node{i}"] for i in range(1, NODES + 1)]
        self.base = self.tables()

    def tables(self):
        return tables(self.simulation.read_tables())

    def contention(self, held, flows, offset):
        """The most flows on a link between switches, by walks in the switches' tables. flows: between
        ranks, of which rank i runs on node i + 1."""
        load = collections.Counter()
        for source, destination in flows:
            source, destination = self.hosts[source], self.hosts[destination]
            lid = self.topology.lids[destination][0] + offset
            path = self.topology.path(held, self.topology.leaf(source), lid)
            assert self.topology.peer[path[-1]][0] == destination
            load.update(path[:-1])
        return max(load.values(), default=0)

    def lids(self, nodes):
        """Those that keys of jobs on these nodes may use."""
        return {self.topology.lids[self.hosts[node - 1]][0] + offset
                for node in nodes for offset in range(1, 1 << LMC)}

    def job_ids(self):
        return [job["job"] for job in self.keyd.get("/v1/jobs").json["jobs"]]

    def wait_for_base(self):
        """Until all jobs have ended, and the switches hold what they held before them."""
        wait_until(lambda: not self.slurm.jobs() and not self.job_ids(), "the end of all jobs")
        wait_until(lambda: self.tables() == self.base, "the tables without keys")

    def start(self, name, *options, nodes, command="true"):
        """A job whose tasks tell their offset, and end when `name`.go exists. `nodes`: as in Slurm."""
        folder = self.slurm.folder
        script = (f"echo rank $SLURM_PROCID offset $HEDDLE_OFFSET ucx $UCX_IB_LID_PATH_BITS; {command}; "
                  f"while [ ! -e {folder}/{name}.go ]; do sleep 0.05; done")
        return self.slurm.start("srun", "-w", nodes, "--ntasks-per-node=1", *options, "sh", "-c", script)

    def go(self, name, process):
        """Lets such a job end. (stdout, stderr)"""
        (self.slurm.folder / f"{name}.go").touch()
        output = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        return output

    def in_force(self):
        """How many jobs have a key that the switches have acknowledged."""
        jobs = [self.keyd.get(f"/v1/jobs/{job}").json for job in self.job_ids()]
        return sum(any(slot["in_force"] for step in job.get("steps", []) for slot in step["slots"]) for job in jobs)

    def wait_for_keys(self, count=1):
        wait_until(lambda: self.in_force() == count, f"{count} jobs with a key")


def phases(site, pattern, ranks):
    """The flows of each phase, by `heddle key make`."""
    folder = site.slurm.folder
    (folder / "hosts").write_text("".join(f"node{i + 1}\n" for i in range(ranks)))
    report = json.loads(heddle("key", "make", site.simulation.discover(), "--hosts", folder / "hosts", "-p", pattern,
                               "--json").stdout)
    return [[(flow["source_rank"], flow["destination_rank"]) for flow in phase["flows"]]
            for phase in report["phases"]]
