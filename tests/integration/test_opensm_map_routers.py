# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The plugin and heddle-router: OpenSM in each of two subnets tells the router its ports, hosts and
map when the switches have their tables, and the router finds the egress ports of ISFR."""

import contextlib
import json
import subprocess

import fabric_sim
import pytest
import subnets_sim
from fabric_sim import BUILD, stop, wait_until
from subnets_sim import Subnets
from test_opensm_map import heddle_maps, lids, read_map

AGENT = BUILD / "ir_router" / "agent" / "heddle-router"
missing = fabric_sim.missing_tools() + ([] if AGENT.exists() else [str(AGENT)])
pytestmark = pytest.mark.skipif(bool(missing), reason=f"missing: {missing}")
ROUTER = 0x400000


class Agent:
    """heddle-router on a host of the second subnet. As a context manager."""

    def __init__(self, near, far):
        self.far = far
        self.folder = far.folder
        self.control = far.folder / "control"
        self.conf = far.folder / "router.conf"
        self.conf.write_text(
            f"[router]\nnode_guid = {ROUTER:#x}\ncontrol = {self.control}\nsettle_ms = 150\n"
            f"advertise_ms = 300\nretry_ms = 400\n"
            f"[router.subnet {near.prefix:#x}]\nsocket = {near.folder}/router.sock\nsmp = no\n"
            f"[router.subnet {far.prefix:#x}]\nsocket = {far.folder}/router.sock\n")

    def __enter__(self):
        self.output = open(self.folder / "agent.log", "ab")
        environment = dict(self.far.environment, SIM_HOST=f"S{self.far.number}-H_5",
                           LD_PRELOAD=self.far.preload())
        self.process = subprocess.Popen([AGENT, "--config", self.conf], env=environment,
                                        cwd=self.folder, stderr=self.output)
        wait_until(lambda: self.control.exists() or self.process.poll() is not None, "the agent")
        assert self.process.poll() is None, (self.folder / "agent.log").read_text()
        return self

    def __exit__(self, *exception):
        stop(self.process)
        self.output.close()
        return False

    def show(self, table):
        return json.loads(subprocess.run([AGENT, "show", table, "--json", "--control", self.control],
                                         capture_output=True, text=True, check=True).stdout)

    def subnet(self, prefix):
        return next((row for row in self.show("subnets") if int(row["prefix"], 16) == prefix), {})


def start(stack, subnet, *settings):
    lines = ["[map]", f"router_socket = {subnet.folder}/router.sock", *settings, ""]
    return stack.enter_context(subnet.opensm("isfr", heddle_conf="\n".join(lines)))


def test_two_opensm_and_a_router(tmp_path):
    """The router accepts what both OpenSM tell it, and finds an egress port for each of the 72 hosts,
    12 for each of its 6 ports. Each OpenSM gets the hosts of the other subnet through the router. When
    a table changes, a new epoch follows; a sweep that changes nothing is no new epoch."""
    maps = heddle_maps(tmp_path, "isfr", 2)
    with Subnets(subnets_sim.generate(tmp_path, 2), 2) as whole, contextlib.ExitStack() as stack:
        near, far = whole.subnets
        first, second = [start(stack, subnet, f"file = {maps[subnet.prefix]}")
                         for subnet in (near, far)]
        with Agent(near, far) as agent:
            first.wait_for(f"router {ROUTER:#018x} uses the lists of epoch")
            second.wait_for(f"router {ROUTER:#018x} uses the lists of epoch")
            first.wait_for(f"hand over 72 hosts of subnet {far.prefix:#018x}")
            second.wait_for(f"hand over 72 hosts of subnet {near.prefix:#018x}")
            wait_until(lambda: agent.subnet(far.prefix).get("isfr") == 72, "72 egress ports")
            rows = [row for row in agent.show("hosts")
                    if row["gid"].startswith("fec0:0:0:2") and row["egress"] == "isfr"]
            ports = [row["port"] for row in rows]
            assert len(ports) == 72 and {ports.count(port) for port in ports} == {12}
            epoch = agent.subnet(far.prefix)["epoch"]
            second.sweep()
            since = len(second.log())
            whole.command('Unlink "S-0000000000200120"[1]')
            second.sweep_until(fabric_sim.CHANGED, since=since)
            second.wait_for("uses the lists of epoch", since=since)
            assert agent.subnet(far.prefix)["epoch"] == epoch + 1
            assert "ERR HD" not in first.log() + second.log()


@pytest.mark.parametrize("kind", ["issr", "isfr"])
def test_maps_without_a_file(tmp_path, kind):
    """With algorithm = issr or isfr each OpenSM makes its map from what the router hands over: the same
    that `heddle map` makes from the dumps of all subnets. Until then there is none."""
    maps = heddle_maps(tmp_path, kind, 2)
    with Subnets(subnets_sim.generate(tmp_path, 2), 2) as whole, contextlib.ExitStack() as stack:
        near, far = whole.subnets
        running = [start(stack, subnet, f"algorithm = {kind}") for subnet in (near, far)]
        assert not any("usable" in opensm.log() for opensm in running)
        with Agent(near, far):
            for opensm in running:
                by_isfr = 72 if kind == "isfr" else 0
                opensm.wait_for(f"map: 72 hosts of other subnets, {by_isfr} of them by ISFR")
                opensm.wait_for("72 GIDs, 0 blocks, 72 default lines; 72 of 72 router ports are usable")
            for subnet, other in ((near, far), (far, near)):
                lines = read_map(maps[subnet.prefix])
                ports = list(subnet.routers.values())
                by_port = dict(zip(ports, lids(subnet, [subnet.gid(port) for port in ports])))
                dgids = [other.gid(host) for host in other.hosts]
                assert lids(subnet, dgids) == [by_port[lines[dgid][0]] for dgid in dgids]
            assert not any("ERR HD" in opensm.log() for opensm in running)


def test_an_algorithm_needs_a_socket(tmp_path):
    """algorithm = issr without router_socket is an error in heddle.conf."""
    with Subnets(subnets_sim.generate(tmp_path, 2), 2) as whole:
        subnet = whole.subnets[0]
        with subnet.opensm("isfr", heddle_conf="[map]\nalgorithm = issr\n") as opensm:
            assert ":2: [map]: algorithm = issr and isfr need router_socket" in opensm.log()
