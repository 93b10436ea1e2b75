# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Machines with several adapters in a live subnet: what ibnetdiscover prints has their system image GUIDs and names,
and the tables in the switches carry patterns of machines."""

import json
import socket

import fabric_sim
import pytest
from fabric_sim import Simulation, generate, heddle

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

UNIT = ("rail-tree",)  # 32 machines of 8 adapters
GROUPS = ("rail-tree", "--groups=4", "--machines=8", "--spines=4")  # as many


def ebb(topology, tables, *options):
    return json.loads(heddle("ebb", "--json", "-n", 500, *options, topology, *tables).stdout)


def ask_plugin(path, question):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(f"{question}\n".encode())
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    return answer.decode()


@pytest.fixture(scope="module", params=[UNIT, GROUPS], ids=["unit", "groups"], name="simulation")
def fixture_simulation(request, tmp_path_factory):
    with Simulation(generate(tmp_path_factory.mktemp("machines"), *request.param)) as simulation:
        simulation.one_unit = request.param == UNIT
        yield simulation


@pytest.mark.parametrize("engine", ["auto", "dmodk", "spf", "updown", "minhop", "ftree"])
def test_machines_of_a_live_subnet(simulation, engine):
    """Both sources find the 32 machines, and every transfer between them arrives. In one scalable unit adapters of one
    rail meet at a leaf, so no engine can be better or worse."""
    simulation.opensm(engine).once()
    live, tables = simulation.discover(), [simulation.read_tables()]
    for source in ("system-guid", "name"):
        facts = json.loads(heddle("topo", "show", "--json", "--machines", source, live).stdout)["machines"]
        assert facts == {"by": source, "count": 32, "by_ports": [{"ports": 8, "machines": 32}], "why_not_others": ""}
    report = ebb(live, tables, "--by-machine")
    assert report["broken"] == 0 and report["by_machine"]["transfers"] == 500 * 16
    if simulation.one_unit:
        assert report["mean"] == report["by_machine"]["mean"] == 1
    for pattern in ("nccl-ring", "nccl-tree", "nccl-all-to-all"):
        report = ebb(live, tables, "-p", pattern, "-n", 20)
        assert report["machines"]["count"] == 32 and report["broken"] == 0
        if simulation.one_unit:
            assert report["mean"] == (0.25 if pattern == "nccl-tree" else 1)


def test_the_plugin_has_the_machines_too(tmp_path):
    """What the status socket of a running OpenSM answers to `fabric`."""
    with Simulation(generate(tmp_path, *UNIT)) as simulation, simulation.opensm("dmodk") as opensm:
        opensm.sweep()
        live = tmp_path / "plugin.topo"
        live.write_text(ask_plugin(opensm.status_socket(), "fabric"))
        for source in ("system-guid", "name"):
            found = json.loads(heddle("topo", "show", "--json", "--machines", source, live).stdout)["machines"]
            assert (found["count"], found["by_ports"]) == (32, [{"ports": 8, "machines": 32}])
