# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Links go down and up while OpenSM runs: tables stay clean, and only few entries change."""

import json
import re

import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, Topology, changed, check, generate, heddle, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

TREE = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")
TORUS = ("torus", "--dims", "4,4,4")
QOS = {"qos": "TRUE"}  # or there are no virtual lanes
IRREGULAR = ("irregular", "--switches", "30", "--radix", "8", "--seed", "7")


def affected(topology, rows, dead):
    """{(switch, LID)} from which the path to that LID crosses a dead link: these may change."""
    lids = {base + i for base, lmc in topology.lids.values() for i in range(2 ** lmc)}
    return {(switch, lid) for switch in topology.switches for lid in lids
            if any(hop in dead for hop in topology.path(rows, switch, lid))}


def links_between_switches(topology, count):
    """Some cables between switches, spread over the fabric, as two ends each."""
    cables = sorted({tuple(sorted((near, far))) for near, far in topology.peer.items()
                     if near[0] in topology.switches and far[0] in topology.switches})
    return cables[:: max(1, len(cables) // count)][:count]


def settle(simulation, opensm):
    """Sweeps until a sweep changes nothing. Returns how many entries changed before."""
    total = 0
    for _ in range(10):
        log = opensm.sweep()
        last = [int(count) for count in re.findall(r"; (\d+) entries changed", log)]
        assert "ERR" not in log, log
        total += sum(last)
        if last and last[-1] == 0:
            return total
    raise AssertionError("tables do not come to rest")


def end_name(simulation, end):
    """The end of a cable in the form of ibsim's console."""
    return f'"S-{end[0]:016x}"[{end[1]}]'


def take_down(simulation, opensm, cable):
    simulation.command(f"Unlink {end_name(simulation, cable[0])}")
    settle(simulation, opensm)


@pytest.mark.parametrize("engine, kind", [("dmodk", TREE), ("updown", TREE), ("spf", TORUS)])
def test_links_down_and_up(tmp_path, engine, kind):
    """After each sweep the tables are clean. If cables go down, only entries change whose paths used
    them. When the cables are back, the tables are the first ones again."""
    with Simulation(generate(tmp_path, *kind)) as simulation:
        with simulation.opensm(engine, options=QOS, log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            first = before = tables(simulation.read_tables())
            down = links_between_switches(topology, 3)
            for cable in down:
                take_down(simulation, opensm, cable)
                now = simulation.discover()
                held = simulation.read_tables()
                after = tables(held)
                assert_clean(simulation, now, held)
                moved, may_move = changed(before, after), affected(topology, before, set(cable))
                print(f"{engine}: {cable} down: {len(moved)} entries changed, "
                      f"{len(may_move)} affected")
                assert moved and moved <= may_move
                before, topology = after, Topology(now)
            for cable in down:
                simulation.command(f"ReLink {end_name(simulation, cable[0])}")
            settle(simulation, opensm)
            again = tables(simulation.read_tables())
            print(f"{engine}: all up: {len(changed(before, again))} entries changed")
            assert again == first


@pytest.mark.parametrize("engine, kind", [("dmodk", TREE), ("updown", TREE), ("spf", TORUS)])
def test_up_while_another_is_down(tmp_path, engine, kind):
    """If a link comes up, or a host restarts, while the fabric is damaged elsewhere, the engine does
    not route afresh: the tables are those of before the link went down."""
    with Simulation(generate(tmp_path, *kind)) as simulation:
        with simulation.opensm(engine, options=QOS, log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            lasting, passing = links_between_switches(topology, 2)
            host = topology.hosts[-1]
            take_down(simulation, opensm, lasting)
            damaged = tables(simulation.read_tables())
            for end in (end_name(simulation, passing[0]), f'"H-{host:016x}"[1]'):
                simulation.command(f"Unlink {end}")
                settle(simulation, opensm)
                simulation.command(f"ReLink {end}")
                settle(simulation, opensm)
                held = simulation.read_tables()
                assert_clean(simulation, simulation.discover(), held)
                moved = changed(damaged, tables(held))
                print(f"{engine}: {end} down and up: {len(moved)} entries changed")
                assert not moved


def assert_clean(simulation, topology, held):
    """The tables are clean, without a credit loop on the lanes of the present service levels."""
    report = check(topology, held, simulation.folder / "heddle-sls.dump")
    assert report["clean"], report


def test_links_down_where_ranks_change(tmp_path):
    """On an irregular fabric a cable can change which direction climbs. Then entries that never used
    the cable may change too, but far fewer than if the engine routed afresh."""
    with Simulation(generate(tmp_path, *IRREGULAR)) as simulation:
        with simulation.opensm("updown", log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            before = tables(simulation.read_tables())
            for cable in links_between_switches(topology, 3):
                take_down(simulation, opensm, cable)
                now = simulation.discover()
                held = simulation.read_tables()
                assert_clean(simulation, now, held)
                scratch = simulation.folder / "scratch.lfts"
                heddle("route", "-e", "updown", now, "-o", scratch)
                moved = changed(before, tables(held))
                would_move = changed(before, tables(scratch))
                print(f"updown: {cable} down: {len(moved)} entries changed, "
                      f"{len(would_move)} from scratch")
                assert 0 < len(moved) < len(would_move)
                before = tables(held)


def test_reroute(tmp_path):
    """The console's `reroute` routes afresh, as `heddle route` does. Sweeps instead keep entries that
    are still valid. `heddle status` counts the loads of the tables in force."""
    def load():
        status = heddle("status", "--json", "-s", opensm.status_socket(), check=False).stdout
        return json.loads(status)["parts"]["load"]["largest"]

    with Simulation(generate(tmp_path, *TORUS)) as simulation:
        with simulation.opensm("spf", options={**QOS, "console": "local"}, log_flags=LOG_DUMPS) as opensm:
            cable = links_between_switches(Topology(simulation.discover()), 3)[1]
            take_down(simulation, opensm, cable)
            kept = tables(simulation.read_tables())
            scratch = simulation.folder / "scratch.lfts"
            heddle("route", "-e", "spf", simulation.discover(), "-o", scratch)
            assert changed(kept, tables(scratch))
            assert load() == check(simulation.discover(), simulation.read_tables())["flows"]["max"]
            since = len(opensm.log())
            opensm.console("reroute")
            opensm.wait_for("entries changed", since)
            fabric_sim.wait_until(lambda: tables(simulation.read_tables()) == tables(scratch),
                                  "tables from nothing")
            report = check(simulation.discover(), simulation.read_tables())["flows"]
            fabric_sim.wait_until(lambda: load() == report["max"], "the load of the new tables")
            assert_clean(simulation, simulation.discover(), simulation.read_tables())
            settle(simulation, opensm)
            assert tables(simulation.read_tables()) == tables(scratch)


def test_a_host_leaves(tmp_path):
    """If a host disappears, only the entries of its own LIDs change."""
    with Simulation(generate(tmp_path, *IRREGULAR)) as simulation:
        with simulation.opensm("updown", log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            before = tables(simulation.read_tables())
            host = topology.hosts[-1]
            simulation.command(f'Unlink "H-{host:016x}"[1]')
            settle(simulation, opensm)
            held = simulation.read_tables()
            assert check(simulation.discover(), held)["clean"]
            gone = topology.lids[host][0]
            assert {lid for _, lid in changed(before, tables(held))} <= {gone}


def test_sideways_cable_and_another_engine_in_between(tmp_path):
    """dmodk uses a cable between two leaves for the hosts of these leaves alone. When this cable
    is the only one of a leaf, dmodk refuses, and OpenSM goes on to its own MinHop. When the tree
    is whole again, the tables are the first ones."""
    netlist = generate(tmp_path, "xgft", "--children", "3,3,3", "--parents", "1,3,3")
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk,minhop") as opensm:
            topology = Topology(simulation.discover())
            first = tables(simulation.read_tables())
            # The last host of two leaves gives its place to a cable between them.
            ends = [topology.peer[host, 1] for host in (topology.hosts[-1], topology.hosts[5])]
            assert ends[0][0] != ends[1][0]
            names = [end_name(simulation, end) for end in ends]
            simulation.command("\n".join([*(f"Unlink {name}" for name in names), "Link " + " ".join(names)]))
            log = opensm.sweep()
            assert "dmodk tables configured" in log and "ERR" not in log, log
            held = simulation.read_tables()
            assert check(simulation.discover(), held)["clean"]
            near = {end[0]: topology.lids[host][0] for host in topology.hosts for end in ends
                    if topology.peer[host, 1][0] == end[0] and topology.peer[host, 1] != end}
            for end, far in (ends, ends[::-1]):
                crossing = {lid for lid, port in enumerate(tables(held)[end[0]])
                            if port == end[1]}
                assert near[far[0]] in crossing and len(crossing) == 2, crossing
            # The leaf loses its cables up. As all leaves have two hosts, no other tree is possible.
            last = {topology.peer[host, 1][0]: host for host in topology.hosts}
            others = [host for leaf, host in last.items() if leaf not in near]
            for host in others:
                simulation.command(f"Unlink {end_name(simulation, topology.peer[host, 1])}")
            ups = [near for near, far in topology.peer.items()
                   if near[0] == ends[0][0] and far[0] in topology.switches]
            for up in ups:
                simulation.command(f"Unlink {end_name(simulation, up)}")
            log = opensm.sweep_until("minhop tables configured")
            assert "ERR HD05: dmodk: no tables: not a fat tree: the link" in log, log
            for host in others:
                end = end_name(simulation, topology.peer[host, 1])
                simulation.command(f'Link {end} "H-{host:016x}"[1]')
            for up in ups:
                simulation.command(f"Link {end_name(simulation, up)} "
                                   f"{end_name(simulation, topology.peer[up])}")
            simulation.command(f"Unlink {end_name(simulation, ends[0])}")
            for host, end in zip((topology.hosts[-1], topology.hosts[5]), ends):
                simulation.command(f'Link {end_name(simulation, end)} "H-{host:016x}"[1]')
            opensm.sweep_until("dmodk tables configured")
            settle(simulation, opensm)
            assert tables(simulation.read_tables()) == first


def test_sweep_line_names_the_cable(tmp_path):
    """The line of a sweep names the cable that was lost, and the cable that is new."""
    with Simulation(generate(tmp_path, *TREE)) as simulation:
        with simulation.opensm("dmodk") as opensm:
            cable = links_between_switches(Topology(simulation.discover()), 1)[0]
            ports = [f"[{end[1]}]" for end in cable]
            for command, word in (("Unlink", "lost"), ("ReLink", "new")):
                since = len(opensm.log())
                simulation.command(f"{command} {end_name(simulation, cable[0])}")
                opensm.sweep()
                log = opensm.log()[since:]
                found = re.search(rf"entries changed; {word} cable '.*'(\[\d+\]) - '.*'(\[\d+\])\n", log)
                assert found and sorted(found.groups()) == sorted(ports), log
