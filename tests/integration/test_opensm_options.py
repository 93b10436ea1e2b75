# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM's own options in opensm.conf: each has its documented effect on the tables, and `heddle
route` makes the same tables with the same files."""

import re
import fabric_sim
import pytest
from fabric_sim import LOG_DUMPS, Simulation, Topology, changed, check, generate, heddle, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("tree"), "xgft", "--children", "3,3,3",
                    "--parents", "1,3,3")


@pytest.fixture(scope="module")
def irregular(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("irregular"), "irregular", "--switches", "30",
                    "--radix", "8", "--seed", "7")


@pytest.fixture(scope="module")
def two_levels(tmp_path_factory):
    """Four leaves with three hosts (ports 1 to 3) under two spines (ports 4 and 5)."""
    return generate(tmp_path_factory.mktemp("two-levels"), "xgft", "--children", "3,4",
                    "--parents", "1,2")


def two_level_netlist():
    """Four leaves with three hosts each under two spines with one I/O host each."""
    lines = []
    for leaf in range(4):
        lines.append(f'Switch 5 "leaf{leaf}"')
        lines += [f'[{host + 1}] "cn{leaf}{host}"[1]' for host in range(3)]
        lines += [f'[{4 + spine}] "spine{spine}"[{leaf + 1}]' for spine in range(2)]
    for spine in range(2):
        lines.append(f'Switch 5 "spine{spine}"')
        lines += [f'[{leaf + 1}] "leaf{leaf}"[{4 + spine}]' for leaf in range(4)]
        lines.append(f'[5] "io{spine}"[1]')
    for leaf in range(4):
        for host in range(3):
            lines += [f'Ca 1 "cn{leaf}{host}"', f'[1] "leaf{leaf}"[{host + 1}]']
    for spine in range(2):
        lines += [f'Ca 1 "io{spine}"', f'[1] "spine{spine}"[5]']
    return "\n".join(lines) + "\n"


def guid_file(folder, name, guids):
    path = folder / name
    path.write_text("".join(f"{guid:#018x}\n" for guid in guids))
    return path


def route(simulation, engine, **options):
    """Tables in the switches after one sweep with those options, and OpenSM's log."""
    log = simulation.opensm(engine, options={"qos": "TRUE", **options}).once()
    assert f"{engine.split(',')[0]} tables configured on all switches" in log, log
    return tables(simulation.read_tables()), log


def offline(simulation, engine, **options):
    """The tables of `heddle route`, whose options have the same names."""
    path = simulation.folder / "offline.lfts"
    words = [word for key, value in options.items()
             for word in ("--" + key.replace("_", "-"), value)]
    heddle("route", "-e", engine, *words, simulation.discover(), "-o", path)
    return tables(path)


def assert_takes_effect(simulation, engine, **options):
    """With the options the tables differ from those without, are clean, and are what
    `heddle route` makes with them. Returns the tables without and with."""
    without, _ = route(simulation, engine)
    with_options, _ = route(simulation, engine, **options)
    assert changed(without, with_options)
    assert with_options == offline(simulation, engine, **options)
    assert check(simulation.discover(), simulation.read_tables())["clean"]
    return without, with_options


def known(simulation):
    """The topology with the LIDs that OpenSM assigns."""
    simulation.opensm("minhop").once()
    return Topology(simulation.discover())


def test_root_guid_file(irregular):
    """updown climbs to the root in root_guid_file."""
    with Simulation(irregular) as simulation:
        topology = known(simulation)
        root = max(topology.switches)
        roots = guid_file(simulation.folder, "roots", [root])
        _, rooted = assert_takes_effect(simulation, "updown", root_guid_file=roots)
    # From the root all paths descend, so they are shortest paths.
    distance = {root: 0}
    queue = [root]
    for switch in queue:
        for (near, _), (far, _) in topology.peer.items():
            if near == switch and far in topology.switches and far not in distance:
                distance[far] = distance[switch] + 1
                queue.append(far)
    for switch in topology.switches:
        path = topology.path(rooted, root, topology.lids[switch][0])
        assert len(path) - 1 == distance[switch]


def used_ports(topology, rows, leaf, hosts):
    """The number of `hosts` to which `leaf` sends by each port, without its own hosts."""
    used = {}
    for host in hosts:
        if topology.leaf(host) != leaf:
            port = rows[leaf][topology.lids[host][0]]
            used[port] = used.get(port, 0) + 1
    return used


def test_cn_guid_file(tree):
    """dmodk balances compute nodes separately. The first host of each leaf is a compute node. D-mod-K
    over all hosts would send to all of these by the same port up; over compute nodes it uses all
    ports up evenly."""
    with Simulation(tree) as simulation:
        topology = known(simulation)
        compute = topology.hosts[::3]
        nodes = guid_file(simulation.folder, "compute", compute)
        plain, apart = assert_takes_effect(simulation, "dmodk", cn_guid_file=nodes)
    leaves = {topology.leaf(host) for host in topology.hosts}
    assert len(leaves) == 9
    for leaf in leaves:
        assert len(used_ports(topology, plain, leaf, compute)) == 1
        assert sorted(used_ports(topology, apart, leaf, compute).values()) == [2, 3, 3]


def test_io_guid_file_with_max_reverse_hops(tmp_path):
    """I/O nodes on spines reach one another only if a path descends and climbs again. Without
    max_reverse_hops dmodk refuses and names one of them; with 1 the path crosses one leaf."""
    netlist = tmp_path / "two-level.net"
    netlist.write_text(two_level_netlist())
    with Simulation(netlist) as simulation:
        topology = known(simulation)
        io = [topology.names["io0"], topology.names["io1"]]
        files = {"io_guid_file": guid_file(simulation.folder, "io", io)}
        log = simulation.opensm("dmodk", options={"qos": "TRUE", **files}).once()
        assert "dmodk tables configured" not in log
        assert re.search(r"io_guid_file lists 0x\w+, but max_reverse_hops is too small", log), log
        files["max_reverse_hops"] = 1
        allowed, _ = route(simulation, "dmodk", **files)
        assert allowed == offline(simulation, "dmodk", **files)
        assert check(simulation.discover(), simulation.read_tables())["clean"]
    path = topology.path(allowed, topology.leaf(io[0]), topology.lids[io[1]][0])
    assert len(path) == 3 and path[-1] == (topology.leaf(io[1]), 5)


def up_links(topology, rows, host):
    """Ports by which the other leaves send to a host."""
    leaves = {topology.leaf(other) for other in topology.hosts}
    return {rows[leaf][topology.lids[host][0]] for leaf in leaves - {topology.leaf(host)}}


@pytest.mark.parametrize("engine", ["dmodk", "updown", "spf"])
def test_guid_routing_order_file(two_levels, engine):
    """The engine routes listed hosts first, in the order of the file. A leaf has three hosts and two
    links up, so by default the first and the third host share a spine. If these two are listed,
    the first of them has the first spine and the other the second, from every leaf."""
    with Simulation(two_levels) as simulation:
        topology = known(simulation)
        on_leaf = {}
        for host in topology.hosts:
            on_leaf.setdefault(topology.leaf(host), []).append(host)
        pairs = [(hosts[0], hosts[2]) for hosts in on_leaf.values()]
        assert len(pairs) == 4
        plain, _ = route(simulation, engine)
        for first, third in pairs:
            assert up_links(topology, plain, first) & up_links(topology, plain, third)
        for listed in (pairs, [(third, first) for first, third in pairs]):
            order = guid_file(simulation.folder, "order", [host for pair in listed
                                                           for host in pair])
            rows, _ = route(simulation, engine, guid_routing_order_file=order)
            assert rows == offline(simulation, engine, guid_routing_order_file=order)
            for earlier, later in listed:
                assert up_links(topology, rows, earlier) == {4}
                assert up_links(topology, rows, later) == {5}


def test_hop_weights_file(irregular):
    """spf avoids a link with a weight wherever another path has fewer hops than that weight."""
    with Simulation(irregular) as simulation:
        topology = known(simulation)
        plain, _ = route(simulation, "spf")
        counts = {}
        for switch in topology.switches:
            for port in plain[switch]:
                if topology.peer.get((switch, port), (None,))[0] in topology.switches:
                    counts[switch, port] = counts.get((switch, port), 0) + 1
        switch, port = max(counts, key=lambda link: (counts[link], link))
        weights = simulation.folder / "weights"
        weights.write_text(f"{switch:#x} {port} 200\n")
        weighted, _ = route(simulation, "spf", hop_weights_file=weights)
        assert weighted == offline(simulation, "spf", hop_weights_file=weights)
    assert port in plain[switch] and port not in weighted[switch]


def test_port_prof_ignore_file(tree):
    """A port that does not count in the balance carries more traffic."""
    with Simulation(tree) as simulation:
        topology = known(simulation)
        leaf = min(topology.switches)
        ignored = simulation.folder / "ignored"
        ignored.write_text(f"{leaf:#x} 4\n")
        without, _ = route(simulation, "spf")
        uncounted, _ = route(simulation, "spf", port_prof_ignore_file=ignored)
        assert uncounted == offline(simulation, "spf", port_prof_ignore_file=ignored)
    assert uncounted[leaf].count(4) > without[leaf].count(4)


def test_an_edited_file_takes_effect_in_the_next_sweep(irregular):
    """Each routing reads the files again, and keeps no tables of another policy."""
    with Simulation(irregular) as simulation:
        topology = known(simulation)
        first, second = min(topology.switches), max(topology.switches)
        roots = guid_file(simulation.folder, "roots", [first])
        with simulation.opensm("updown", options={"root_guid_file": roots}) as opensm:
            guid_file(simulation.folder, "roots", [second])
            opensm.sweep()
            assert (tables(simulation.read_tables())
                    == offline(simulation, "updown", root_guid_file=roots))
            expected = tables(simulation.read_tables())
            roots.unlink()
            log = opensm.sweep()
            assert f"ERR HD03: root_guid_file: {roots}" in log
            assert "going on with the 1 GUIDs known before" in log
            assert tables(simulation.read_tables()) == expected


def test_ignored_options_are_logged(irregular):
    """The log has one line for each option that is set and that the engine, or each of ours, ignores."""
    with Simulation(irregular) as simulation:
        weights = simulation.folder / "weights"
        weights.write_text("0x200000 1 2\n")
        ids = simulation.folder / "ids"
        ids.write_text("")
        log = simulation.opensm("updown", options={
            "hop_weights_file": weights, "ids_guid_file": ids, "scatter_ports": 7}).once()
    assert log.count("ids_guid_file has no effect on Heddle's engines") == 1
    assert log.count("scatter_ports has no effect on Heddle's engines") == 1
    assert log.count("updown ignores hop_weights_file") == 1


def test_use_ucast_cache(tree):
    """While a leaf switch is missing, OpenSM routes from its unicast cache. When the switch is back,
    OpenSM restores our tables."""
    with Simulation(tree) as simulation:
        options = {"use_ucast_cache": "TRUE", "transaction_timeout": 500, "transaction_retries": 1}
        with simulation.opensm("dmodk", options=options) as opensm:
            topology = Topology(simulation.discover())
            before = tables(simulation.read_tables())
            leaf = topology.leaf(topology.hosts[-1])
            simulation.command(f'Error "S-{leaf:016x}" 100')
            opensm.sweep_until("Configuring switch tables using cached routing")
            simulation.command(f'Error "S-{leaf:016x}" 0')
            opensm.sweep_until("Configuring switch tables using cached routing")
            opensm.sweep()
            held = simulation.read_tables()
            assert check(simulation.discover(), held)["clean"]
            assert tables(held) == before


def test_dumps_of_cached_routing(tree):
    """While OpenSM routes from its unicast cache, Heddle's dumps show the subnet as it is: they name no LID
    that is gone, and fit one another."""
    with Simulation(tree) as simulation:
        options = {"use_ucast_cache": "TRUE", "transaction_timeout": 500, "transaction_retries": 1}
        with simulation.opensm("spf", options={"qos": "TRUE", **options}, log_flags=LOG_DUMPS) as opensm:
            topology = Topology(simulation.discover())
            leaf = topology.leaf(topology.hosts[-1])
            dumps = [simulation.folder / name
                     for name in ("heddle-fabric.topo", "heddle-lfts.dump", "heddle-sls.dump")]
            assert f"{leaf:016x}" in dumps[0].read_text()
            simulation.command(f'Error "S-{leaf:016x}" 100')
            opensm.sweep_until("Configuring switch tables using cached routing")
            assert f"{leaf:016x}" not in dumps[0].read_text() + dumps[1].read_text()
            report = check(*dumps)
            assert report["no_route"] == report["loop"] == report["credit_loops"] == 0, report
