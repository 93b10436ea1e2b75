# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd with a real OpenSM: keys of jobs are in the switches, by walks in their tables."""

import os
import random

import emulator
import fabric_sim
import pytest
from fabric_sim import Simulation, Topology, check, generate, tables, wait_until
from keys_sim import Tree, contention, random_flows, settings, socket_of, stencil
from keyd_testing import KEYD, Keyd

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing() or not KEYD.exists()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()} {KEYD}")
TREE = ("xgft", "--children=6,6,6", "--parents=1,6,6")
HOLES = ("xgft", "--children=4,4,4", "--parents=1,4,4", "--aggregation-nodes", "--remove-links", "1%")


class Site:
    """A fabric and a daemon; OpenSM comes and goes."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.folder = simulation.folder / "keyd"
        self.folder.mkdir()
        self.keyd = Keyd(self.folder, managers=socket_of(simulation.folder), scheduler_uids=os.getuid(),
                         answer_ms=60000)

    def opensm(self, engine="nrk"):
        return self.simulation.opensm(engine, options={"lmc": 2}, heddle_conf=settings(self.simulation.folder))

    def tables(self):
        return tables(self.simulation.read_tables())

    def look(self):
        self.topology = Topology(self.simulation.discover())
        return self.tables()

    def place(self, job, hosts, phases):
        """Places a job whose phases are flows between hosts."""
        names = {node: name for name, node in self.topology.names.items()}
        rank = {host: number for number, host in enumerate(hosts)}
        placed = self.keyd.place(job, [names[host] for host in hosts],
                                 phases=[[[rank[one], rank[other]] for one, other in flows] for flows in phases])
        assert placed.status == 200, placed.text

    def is_free(self, flows, offset):
        """Whether the flows share no link between switches."""
        return contention(self.topology, self.tables(), flows, offset) == 1


def granted(keyd, job, phase=0):
    answer = keyd.request(job, phase)
    assert answer.status == 200 and answer.json["ready"], answer.text
    return answer.json["offset"]


def test_several_offsets_in_a_phase_and_alternate_phases(tmp_path):
    """Hosts of a leaf that send to one host have different offsets, and in the switches no two flows share a link. In mode
    alternate the routes of the phase before are in the switches when those of the next one are."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        site = Site(simulation)
        keyd = site.keyd
        try:
            with site.opensm():
                keyd.start()
                base = site.look()
                hosts, names = site.topology.hosts, {node: name for name, node in site.topology.names.items()}
                leaf = site.topology.leaf(hosts[0])
                near = [host for host in hosts if site.topology.leaf(host) == leaf][:3]
                far = [host for host in hosts if site.topology.leaf(host) != leaf][7]
                placed = keyd.place("9", [names[host] for host in [*near, far]], phases=[[[0, 3], [1, 3], [2, 3]]]).json
                assert (placed["offset"], placed["offsets"], placed["keys"][0]["contention"]) == (1, 3, 1)
                links = []
                for rank, host in enumerate(near):
                    grant = keyd.call("POST", "/v1/jobs/9/request", {"rank": rank}).json
                    assert grant["ready"] and grant["offset"] == rank + 1
                    links += site.topology.path(site.tables(), leaf, site.topology.lids[far][0] + grant["offset"])[:-1]
                assert len(links) == len(set(links))
                assert not site.is_free([(host, far) for host in near], 1)
                keyd.release("9")
                wait_until(lambda: site.tables() == base, "the tables without keys")
                hosts = random.Random(1).sample(hosts, 36)
                phases, rank = stencil(hosts, (4, 3, 3)), {host: number for number, host in enumerate(hosts)}
                keyd.place("7", [names[host] for host in hosts], mode="alternate",
                           phases=[[[rank[one], rank[other]] for one, other in flows] for flows in phases])
                before = None
                for phase in (0, 3, 5, 0):
                    offset = granted(keyd, "7", phase)
                    assert site.is_free(phases[phase], offset)
                    assert before is None or (before[1] != offset and site.is_free(*before))
                    before = phases[phase], offset
                keyd.release("7")
                wait_until(lambda: site.tables() == base, "the tables without keys")
        finally:
            keyd.stop()


@pytest.mark.parametrize("engine", ("ark", "nrk"))
def test_a_job_from_its_place_to_its_release(tmp_path, engine):
    """Each phase of a stencil has contention 1 in the switches while it runs, and the tables without
    keys are back after the release. A link fails meanwhile: the daemon makes the key again. OpenSM is
    away: the job runs without a key. OpenSM is back: the next request has a key."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        site = Site(simulation)
        keyd = site.keyd
        try:
            with site.opensm(engine) as opensm:
                keyd.start()
                base = site.look()
                hosts = random.Random(1).sample(site.topology.hosts, 36)
                phases = stencil(hosts, (4, 3, 3))
                site.place("7", hosts, phases)
                for phase in (0, 3, 5):
                    assert site.is_free(phases[phase], granted(keyd, "7", phase))
                    assert keyd.done("7", phase).status == 200
                offset = granted(keyd, "7", 0)
                keyd.done("7", 0)
                again = keyd.request("7", 0).json
                assert again["ready"] and (again["blocks"], again["changed"]) == (0, 0)  # nothing is written
                assert site.is_free(phases[0], offset)
                leaf = site.topology.leaf(hosts[0])
                port = Tree(site.topology).cables(leaf)[0]
                since = len(opensm.log())
                simulation.command(f'Unlink "S-{leaf:016x}"[{port}]')
                opensm.sweep_until("lost cable", since=since)
                site.look()
                wait_until(lambda: site.is_free(phases[0], offset), "a key for what is left")
                since = len(opensm.log())
                simulation.command(f'ReLink "S-{leaf:016x}"[{port}]')
                opensm.sweep_until("new cable", since=since)
                assert keyd.done("7", 0).status == 200
            away = keyd.request("7", 0)
            assert away.status == 200 and not away.json["ready"] and away.json["offset"] == 0, away.text
            with site.opensm(engine):
                keyd.wait_ready()
                keyd.done("7", 0)
                site.look()
                assert site.is_free(phases[0], granted(keyd, "7", 0))
                assert keyd.release("7").status == 200
                wait_until(lambda: site.tables() == base, "the tables without keys")
        finally:
            keyd.stop()


def test_restarts_with_keys_in_force(tmp_path):
    """OpenSM is restarted, then the daemon is killed, while two jobs have keys: both keys are in the
    switches again, and each job can be released."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        site = Site(simulation)
        keyd = site.keyd
        try:
            with site.opensm():
                keyd.start()
                base = site.look()
                mixed = random.Random(2).sample(site.topology.hosts, 40)
                flows = {job: random_flows(hosts, 1) for job, hosts in (("1", mixed[:20]), ("2", mixed[20:]))}
                for job in flows:
                    site.place(job, mixed[:20] if job == "1" else mixed[20:], [flows[job]])
                    assert site.is_free(flows[job], granted(keyd, job))
            with site.opensm():
                wait_until(lambda: all(site.is_free(each, 1) for each in flows.values()),
                           "both keys after a restart of OpenSM")
                held = site.tables()
                keyd.kill()
                keyd.start()
                assert site.tables() == held != base
                assert keyd.release("1").status == keyd.release("2").status == 200
                wait_until(lambda: site.tables() == base, "the tables without keys")
        finally:
            keyd.stop()


class Damage:
    """A job of 16 hosts that has a key, while parts of the fabric fail."""

    def __init__(self, site, opensm):
        self.site, self.opensm = site, opensm
        tree = Tree(site.topology)
        self.hosts = random.Random(4).sample([host for host in site.topology.hosts if host not in tree.aside], 16)
        self.flows = random_flows(self.hosts, 1)
        site.place("1", self.hosts, [self.flows])
        self.offset = granted(site.keyd, "1")

    def contention(self):
        """By walks in the switches. Their tables have no fault, and the daemon knows the contention."""
        simulation = self.site.simulation
        held = self.site.look()
        report = check(simulation.discover(), simulation.read_tables())
        assert not (report["loop"] or report["no_route"] or report["dead_end"] or report["credit_loops"])
        found = contention(self.site.topology, held, self.flows, self.offset)
        granted = self.site.keyd.request("1").json
        assert granted["ready"] and (granted["offset"], granted["contention"]) == (self.offset, found), \
            (granted, self.site.keyd.log())
        return found

    def way(self):
        """[(switch, port)] of the first flow over a top switch, in the tables of the switches."""
        topology, held = self.site.topology, self.site.tables()
        ways = [topology.path(held, topology.leaf(source), topology.lids[destination][0] + self.offset)
                for source, destination in self.flows]
        return next(way for way in ways if len(way) == 5)

    def cut(self, switch, ports, command="Unlink"):
        for port in ports:
            self.site.simulation.command(f'{command} "S-{switch:016x}"[{port}]')

    def made_again(self):
        """What the daemon has logged of keys that it has made again."""
        return [line for line in self.site.keyd.log().splitlines() if "are in force again" in line]

    def fails(self, switch, ports, most=1):
        """What a failure brings: the key falls back, and is made again, once for each state of the fabric
        that OpenSM has seen."""
        since, before = len(self.opensm.log()), len(self.made_again())
        self.cut(switch, ports)
        self.opensm.sweep_until(r"keys: key \d+ is not in force any more", since=since)
        self.opensm.sweep()
        wait_until(lambda: len(self.made_again()) > before, "a key for what is left")
        assert self.contention() <= most
        lines, fell = self.made_again(), self.opensm.log()[since:].count("is not in force any more")
        assert len(set(lines)) == len(lines) and 1 <= fell <= len(lines) - before <= len(ports), lines


def test_failures_in_a_fabric_with_holes(tmp_path):
    """Aggregation nodes, and a cable and a top switch are missing: the job's key has contention 1, by
    walks in the switches. A cable of the key, then a top switch of it fail: the key is made again for
    what is left. A leaf of the job fails: the job has no key until the leaf is back."""
    netlist = generate(tmp_path, *HOLES)
    with Simulation(netlist) as simulation:
        site = Site(simulation)
        tree = Tree(Topology(netlist))
        top = max(tree.level, key=tree.level.get)
        for port in tree.cables(top):
            simulation.command(f'Unlink "S-{top:016x}"[{port}]')
        try:
            with site.opensm() as opensm:
                site.keyd.start()
                site.look()
                job = Damage(site, opensm)
                assert job.contention() == 1
                switch, port = job.way()[1]
                job.fails(switch, [port])
                switch = job.way()[2][0]
                job.fails(switch, Tree(site.topology).cables(switch), most=2)
                leaf = site.topology.leaf(job.hosts[0])
                ports = Tree(site.topology).cables(leaf)
                since = len(opensm.log())
                job.cut(leaf, ports)
                opensm.sweep_until("keys: key", since=since)
                wait_until(lambda: not site.keyd.request("1").json["ready"], "a job without a host")
                job.cut(leaf, ports, "ReLink")
                for _ in range(10):
                    opensm.sweep()
                    if site.keyd.request("1").json["ready"]:
                        break
                assert job.contention() <= 2
                assert site.keyd.release("1").status == 200
        finally:
            site.keyd.stop()
