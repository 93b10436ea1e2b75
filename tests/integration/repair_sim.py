# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Losses under a live OpenSM that repairs before the sweep: helpers of its tests."""

import collections
import json
import re

import independent_check
from fabric_sim import heddle, wait_until

# Each repair has its line in the log, and switches have time to answer on busy machines.
REPAIR = "[repair]\nenable = yes\nlog_ms = 0\ntimeout_ms = 200\n"


def switches_of(simulation):
    """{name: (node ID of ibsim, {port: name of the neighbour})} of the intact fabric."""
    text = simulation.netlist.read_text()
    found = {}
    for block in re.split(r"\n(?=Switch\s)", text):
        head = re.match(r'Switch\s+\d+\s+"(S-\w+)"\s+# "([^"]+)"', block)
        if head:
            found[head[2]] = (head[1], dict(re.findall(r'(?m)^\[(\d+)\].*# "([^"]+)"', block)))
    return found


def cable(simulation, near, far):
    """ibsim's name of the first cable from one switch to another."""
    node, ports = switches_of(simulation)[near]
    return f'"{node}"[{next(port for port, name in ports.items() if name == far)}]'


def all_cables(simulation, name):
    node, ports = switches_of(simulation)[name]
    return [f'"{node}"[{port}]' for port in ports]


def directed_routes(peer, home, switches):
    """{switch: ports of a shortest directed route to it} from a host's port. peer: {(node, port): (node, port)}."""
    start, _ = peer[home]
    routes = {start: [home[1]]}
    queue = collections.deque([start])
    while queue:
        switch = queue.popleft()
        for (node, port), (far, _) in sorted(peer.items()):
            if node == switch and far in switches and far not in routes:
                routes[far] = routes[switch] + [port]
                queue.append(far)
    return routes


def faults(simulation):
    """What the independent checker finds in the fabric and the tables that ibsim has now."""
    fabric = independent_check.read_fabric(simulation.discover().read_text())
    tables = independent_check.read_tables(simulation.read_tables().read_text(), fabric)
    return independent_check.check(fabric, tables)


def wait_until_ready(opensm, adaptive=False):
    """Waits until a loss would be repaired: some moments after a sweep. `adaptive`: and after the programming that
    follows it."""
    def is_ready():
        done = heddle("status", "--json", "-s", opensm.status_socket(), check=False)
        parts = json.loads(done.stdout)["parts"] if done.stdout else None
        programmed = re.search(r"adaptive routing: \w+, \w+; ", opensm.log().rpartition("entries changed")[2])
        return parts and parts["repair"]["ready"] and not parts["subnet"]["sweeping"] and (programmed or not adaptive)

    wait_until(is_ready, "the thread that repairs")


def lose(simulation, opensm, cables):
    """Unlinks all cables. Returns the log up to the end of the sweeps: traps during one make another one."""
    wait_until_ready(opensm)
    since = len(opensm.log())
    simulation.command("\n".join(f"Unlink {one}" for one in cables))
    trap = opensm.wait_for_match("log_trap_info: Received", since)
    opensm.wait_for("SUBNET UP", trap.end())
    opensm.sweep_until(r"heddle: .* 0 entries changed", since=since)
    return opensm.log()[since:]


def restore(simulation, opensm, cables):
    simulation.command("\n".join(f"ReLink {one}" for one in cables))
    since = len(opensm.log())
    opensm.sweep_until(r"new |0 entries changed", since=since)
    opensm.sweep()


def spine_of(simulation, leaf):
    return next(name for name in switches_of(simulation)[leaf][1].values() if name.startswith("S2"))
