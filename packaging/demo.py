# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demonstration: Heddle's dmodk beside OpenSM's minhop and ftree on a simulated fat tree. With --first it ends before
adaptive routing, and needs neither heddle-keyd nor the emulator of switches, which no package has."""

import argparse
import collections
import json
import pathlib
import random
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testbed"))
import emulator  # noqa: E402
import fabric_sim  # noqa: E402
import keyd_process  # noqa: E402
import subnets_sim  # noqa: E402

FABRIC = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")
DAMAGE = ("--remove-links", "5%", "--seed", "3")
PATTERNS = 10000
KEY_HOSTS, KEY_PATTERN, KEY_JOB = 64, "stencil3d", "demo"
ENGINES = (("dmodk", "Heddle"), ("minhop", "OpenSM"), ("ftree", "OpenSM"))


def step(text):
    print(f"-- {text}", flush=True)


def sweep_line(log, event):
    """Heddle's line in OpenSM's log about the first sweep that found an event, such as "lost cable". "": none did."""
    line = re.search(rf"-> heddle: (.* entries changed; {event} .*)", log)
    return line.group(1) if line else ""


def ask(*command):
    """The JSON report of a heddle command. Status 1 means that the report has findings."""
    done = fabric_sim.heddle(*command, "--json", check=False)
    if done.returncode == 2:
        sys.exit(f"demo: {done.stderr}")
    return json.loads(done.stdout)


def route(netlist, engine):
    """Routes the simulated fabric and reads the tables from its switches."""
    with fabric_sim.Simulation(netlist) as fabric:
        log = fabric.opensm(engine).once()
        topology = fabric.discover()
        tables = fabric.read_tables()
        report = ask("check", topology, tables)
        report["ebb"] = ask("ebb", topology, tables, "--count", PATTERNS)
    return report, log


def routed_by(engine, log):
    """The engine, with a star if it refused and OpenSM used its MinHop."""
    refused = engine != "minhop" and "minhop tables configured on all switches" in log
    return engine + "*" * refused


def row(engine, origin, report):
    flows, hops = report["flows"], report["hops"]
    unreachable = report["no_route"] + report["dead_end"] + report["loop"]
    return (f"{engine:8} {origin:8} {report['paths']:7} {unreachable:11} "
            f"{'none' if not report['credit_loops'] else report['credit_loops']:>12} "
            f"{hops['mean']:6.2f} {flows['min']:6} {flows['mean']:7.1f} {flows['max']:6} "
            f"{report['ebb']['mean']:9.3f}")


def table(netlist):
    """Routes a fabric with each engine and prints a line for each."""
    print("                           unreach-        credit   mean   routes over a link"
          "    bisection")
    print("engine   from       paths         able         loops   hops    min    mean    max"
          " bandwidth")
    for engine, origin in ENGINES:
        report, log = route(netlist, engine)
        print(row(routed_by(engine, log), origin, report), flush=True)
        if origin == "Heddle" and not report["clean"]:
            sys.exit(f"demo: the tables in the switches are not clean:\n{log[-2000:]}")


def lose_cable(netlist):
    """Takes a cable away from a running subnet and gives it back. Prints Heddle's line for each."""
    with fabric_sim.Simulation(netlist) as fabric, fabric.opensm("dmodk") as opensm:
        topology = fabric_sim.Topology(fabric.discover())
        guid, port = min(end for end, far in topology.peer.items()
                         if end[0] in topology.switches and far[0] in topology.switches)
        for command, event in (("Unlink", "lost cable"), ("ReLink", "new cable")):
            fabric.command(f'{command} "S-{guid:016x}"[{port}]')
            print("   " + sweep_line(opensm.sweep_until(f"entries changed; {event} "), event), flush=True)


def adaptive_routing(netlist):
    """Programs adaptive routing into emulated switches. Prints the plan, what OpenSM's log says, what
    the switches hold, and what it is worth."""
    with fabric_sim.Simulation(netlist, emulator=emulator.Emulator()) as fabric, \
            fabric.opensm("ar_dmodk") as opensm:
        done = opensm.wait_for_match(r"adaptive routing: \w+, \w+; (.* Sets\))")
        topology, tables = fabric.discover(), fabric.read_tables()
        plan = ask("ar", "plan", topology, tables)
        status = fabric.run(fabric_sim.HEDDLE, "ar", "status", topology, tables).splitlines()
        worth = ask("ebb", "--count", PATTERNS, "--ar", plan["algorithm"], topology, tables)
    print(f"   plan     {plan['algorithm']}: {plan['adaptive_share']:.0%} of the entries adaptive, no credit "
          f"loop over all ports of all groups")
    print("   program  " + done.group(1))
    print(f"   status   {status[-1]}")
    print(f"   worth    bisection bandwidth {worth['mean']:.3f} without, {worth['adaptive']['mean']:.3f} with an "
          f"even division over the groups")


def across_subnets(folder):
    """Joins two subnets by routers. Prints the maps, a path record across, and what a walk over all
    pairs finds."""
    netlist = subnets_sim.generate(folder, 2)
    parts = [subnets_sim.generate(folder, 2, "--part", number) for number in (1, 2)]
    words = [word for number, part in enumerate(parts, 1)
             for word in ("--subnet", f"{subnets_sim.prefix(number):#x}={part}")]
    maps = folder / "maps"
    for line in fabric_sim.heddle("map", "isfr", *words, "-o", maps).stdout.splitlines():
        print(f"   map      {line}")
    with subnets_sim.Subnets(netlist, 2) as both:
        here, there = both.subnets
        path = maps / f"{here.prefix:016x}.map"
        pair = [subnets_sim.gid_text(subnet.prefix, subnet.hosts[-1]) for subnet in (here, there)]
        with here.opensm("isfr", heddle_conf=f"[map]\nfile = {path}\n"):
            record = here.run("saquery", "-p", "--sgid", pair[0], "--dgid", pair[1])
    lid = int(re.search(r"dlid\.*(\w+)", record).group(1), 0)
    walk = ["map", "walk", *words, "--maps", maps, "--routers", "isfr"]
    hops = fabric_sim.heddle(*walk, *pair).stdout
    router = re.search(r"router .*", hops).group()
    if int(re.search(r"DLID (\d+)", hops).group(1)) != lid:
        sys.exit(f"demo: the SA answers DLID {lid}, but the map says:\n{hops}")
    everything = ask(*walk, "--all")
    worth = ask("ebb", *words, "--maps", maps, "--routers", "isfr", "--count", PATTERNS)
    print(f"   record   from {pair[0]}\n            to   {pair[1]}: DLID {lid}")
    print(f"   walk     {router}")
    print(f"            {everything['arrived']} of {everything['pairs']} pairs arrive, "
          f"credit loops: {'found' if everything['credit_loop_links'] else 'none'}; "
          f"bisection bandwidth {worth['mean']:.3f}")


def place(topology, folder):
    """A file with KEY_HOSTS hosts of the fabric in random order: those that a scheduler may give."""
    names = {node: name for name, node in topology.names.items()}
    hosts = random.Random(1).sample(topology.hosts, KEY_HOSTS)
    chosen = folder / "hosts"
    chosen.write_text("".join(f"{names[host]}\n" for host in hosts))
    return chosen


def walk(topology, held, flows, offset):
    """How many flows cross each link between switches, by the tables that the switches hold."""
    loads = collections.Counter()
    for source, destination in flows:
        path = topology.path(held, topology.peer[source, 1][0], topology.lids[destination][0] + offset)
        if topology.peer[path[-1]][0] != destination:
            sys.exit("demo: a flow does not arrive")
        loads.update(path[:-1])
    return loads


def show_path(topology, held, flow, offset):
    """One line: the switches and ports of a flow's path."""
    names = {node: name for name, node in topology.names.items()}
    lid = topology.lids[flow[1]][0] + offset
    hops = topology.path(held, topology.peer[flow[0], 1][0], lid)
    print(f"   path     {names[flow[0]]} to {names[flow[1]]}, LID {lid}: "
          + " ".join(f"{names[switch]}[{port}]" for switch, port in hops))


def show_bars(title, counts, most):
    print(f"   {title}")
    for flows, links in sorted(counts.items()):
        print(f"   {flows:>4} {'#' * -(-links * 40 // most):40} {links}")


def phases_of(fabric, hosts):
    """The flows of each phase: (source, destination)."""
    report = ask("key", "make", fabric, "--hosts", hosts, "--pattern", KEY_PATTERN)
    return [[tuple(int(flow[end]["guid"], 16) - 1 for end in ("source", "destination"))
             for flow in phase["flows"]] for phase in report["phases"]]


def run_phases(simulation, topology, keyd, phases):
    """Requests one phase after another. Prints what the switches then do with its flows, by the LIDs
    with the key and by the base LIDs."""
    before, after = collections.Counter(), collections.Counter()
    print("   phase  flows  offset   ready in  LFT blocks  contention: dmodk  key")
    for number, flows in enumerate(phases):
        began = time.monotonic()
        answer = keyd.request(KEY_JOB, phase=number).json
        taken = (time.monotonic() - began) * 1e3
        held = fabric_sim.tables(simulation.read_tables())
        base, mine = walk(topology, held, flows, 0), walk(topology, held, flows, answer["offset"])
        print(f"   {number:5} {len(flows):6} {answer['offset']:7} {taken:6.1f} ms {answer['blocks']:11} "
              f"{max(base.values()):18} {max(mine.values()):4}", flush=True)
        before.update(base.values())
        after.update(mine.values())
        if number + 1 < len(phases):
            keyd.done(KEY_JOB, phase=number)
    far = [flow for flow in phases[-1] if topology.peer[flow[0], 1][0] != topology.peer[flow[1], 1][0]]
    for flow in far[:3]:
        show_path(topology, held, flow, answer["offset"])
    most = max(*before.values(), *after.values())
    show_bars("links that carry 1, 2, 3 ... flows of a phase, dmodk:", before, most)
    show_bars("the same with the key:", after, most)


def routing_keys(netlist, folder):
    """A job without Slurm: heddle-keyd makes keys for a stencil on random hosts, and OpenSM's nrk puts
    them into the switches."""
    with fabric_sim.Simulation(netlist) as simulation, \
            simulation.opensm("nrk", options={"lmc": 1}, heddle_conf=keyd_process.settings(simulation.folder)):
        fabric = simulation.discover()
        topology = fabric_sim.Topology(fabric)
        hosts = place(topology, folder)
        keyd = keyd_process.Keyd(folder, keyd_process.socket_of(simulation.folder))
        try:
            keyd.start()
            done = fabric_sim.heddle("key", "place", "--socket", keyd.socket, "--job", KEY_JOB, "--hosts", hosts,
                                     "--pattern", KEY_PATTERN)
            print("   " + done.stdout.splitlines()[0])
            run_phases(simulation, topology, keyd, phases_of(fabric, hosts))
            fabric_sim.heddle("key", "release", "--socket", keyd.socket, "--job", KEY_JOB)
        finally:
            keyd.stop()


def sending(simulation, emulated):
    """What packets follow: the AR tables of switches that have AR on, else forwarding tables. 0xFE: the switch chooses.
    And the share of the entries of switches with AR at which it does."""
    rows, entries, chosen = fabric_sim.tables(simulation.read_tables()), 0, 0
    for switch, held in emulated.tables().items():
        for (_, lid), (state, port, _, _) in held["lft"].items() if held["enabled"] else ():
            rows[switch][lid] = port if state == "static" else 0xFE
            entries += port != fabric_sim.NO_PORT
            chosen += state != "static"
    return rows, chosen / entries


def keys_and_groups(netlist, folder):
    """The same job while adaptive routing is on. Prints the contention of its first phase by the tables of adaptive
    routing, and how many entries are adaptive without the key, with it, and afterwards."""
    emulated = emulator.Emulator()
    with fabric_sim.Simulation(netlist, emulator=emulated) as simulation, \
            simulation.opensm("ar_nrk", options={"lmc": 1},
                              heddle_conf=keyd_process.settings(simulation.folder)) as opensm:
        opensm.wait_for_match(r"adaptive routing: \w+, \w+; .* Sets\)")
        fabric = simulation.discover()
        topology = fabric_sim.Topology(fabric)
        hosts = place(topology, folder)
        flows = phases_of(fabric, hosts)[0]
        shares = [sending(simulation, emulated)[1]]
        keyd = keyd_process.Keyd(folder, keyd_process.socket_of(simulation.folder))
        try:
            keyd.start()
            fabric_sim.heddle("key", "place", "--socket", keyd.socket, "--job", KEY_JOB, "--hosts", hosts, "--pattern",
                              KEY_PATTERN)
            answer = keyd.request(KEY_JOB, phase=0).json
            held, share = sending(simulation, emulated)
            loads = walk(topology, held, flows, answer["offset"])
            status = simulation.run(fabric_sim.HEDDLE, "ar", "status", fabric, simulation.read_tables()).splitlines()
            fabric_sim.heddle("key", "release", "--socket", keyd.socket, "--job", KEY_JOB)
            shares += [share, sending(simulation, emulated)[1]]
        finally:
            keyd.stop()
    print(f"   key      {len(flows)} flows of phase 0, offset {answer['offset']}: contention {max(loads.values())} by "
          "the tables of adaptive routing")
    print("   adaptive " + ", ".join(f"{share:.2%} {when}" for share, when in
                                     zip(shares, ("of the entries before", "with the key", "after it"))))
    for line in status[-2:]:
        print(f"   status   {line}")


def first_part(whole, damaged):
    """Engines side by side, and a cable that fails."""
    step("a 216-host fat tree: heddle topo generate " + " ".join(FABRIC))
    fabric_sim.heddle("topo", "generate", *FABRIC, "-o", whole)
    step("for each engine: ibsim, OpenSM with `routing_engine ENGINE`, dump_fts, heddle check, "
         "heddle ebb\n")
    table(whole)
    print()
    step("the same tree with damage: " + " ".join(DAMAGE) + "\n")
    fabric_sim.heddle("topo", "generate", *FABRIC, *DAMAGE, "-o", damaged)
    table(damaged)
    print()
    step("a cable of the first tree is lost, and comes back; OpenSM's log:")
    lose_cable(whole)


def other_parts(whole, damaged, folder):
    """Adaptive routing, two subnets, and routing keys."""
    print()
    step("adaptive routing in the damaged tree: `routing_engine ar_dmodk`, switches by "
         "tests/emulator")
    adaptive_routing(damaged)
    print()
    step("two subnets of 72 hosts, joined by 12 routers: heddle map isfr, `routing_engine isfr`, "
         "saquery, heddle map walk")
    across_subnets(folder)
    print()
    step(f"routing keys in the first tree: a 3-D stencil on {KEY_HOSTS} random hosts; "
         "`routing_engine nrk`, heddle-keyd, heddle key place")
    routing_keys(whole, folder)
    print()
    step("the same job with adaptive routing: `routing_engine ar_nrk`, switches by tests/emulator")
    both = folder / "both"
    both.mkdir()
    keys_and_groups(whole, both)


def missing_parts(first):
    """What the demonstration needs and this machine lacks."""
    if first:
        return fabric_sim.missing_tools()
    return (fabric_sim.missing_tools() + emulator.missing()
            + [str(path) for path in (keyd_process.KEYD,) if not path.exists()])


def main():
    parser = argparse.ArgumentParser(description="Demonstrates Heddle on simulated fabrics.")
    parser.add_argument("--first", action="store_true", help="only compare engines, and lose a cable")
    first = parser.parse_args().first
    missing = missing_parts(first)
    if missing:
        sys.exit("demo: missing: " + ", ".join(missing))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heddle-demo-") as name:
        folder = pathlib.Path(name)
        first_part(folder / "whole.net", folder / "damaged.net")
        if not first:
            other_parts(folder / "whole.net", folder / "damaged.net", folder)
    print(f"\nDone in {time.monotonic() - started:.0f} s. Routes over a link: for all-to-all traffic; "
          "in the first tree a maximum of 210 is\noptimal (6 hosts send to 210 others over 6 links "
          "up). Bisection bandwidth: the mean share of its\nlink that a host gets, over "
          f"{PATTERNS} random bisections. Unreachable for ftree: paths from switch\nto switch. *: the engine refuses the fabric, and OpenSM uses its MinHop.\n"
          "Contention: the most flows of a phase on a link, by the tables in the switches; 1 is the best.\n"
          "Next: README.md, `heddle --help`.")


if __name__ == "__main__":
    main()
