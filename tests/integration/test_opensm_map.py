# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Routing to other subnets in a running OpenSM: the SA answers path requests by the map, and by
OpenSM's own rules for everything that the map does not name."""

import contextlib
import ipaddress
import os

import fabric_sim
import pytest
import subnets_sim
from fabric_sim import PATIENT
from subnets_sim import (GET_TABLE, INVALID_GID, NO_RECORDS, Subnets, gid, gid_text,
                         multipath_request, path_request)

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")
ALL_PAIRS = bool(os.environ.get("HEDDLE_ALL_PAIRS"))
ENGINE = "isfr"
FOREIGN = 0xFEC0000000000777  # a prefix that no test gives to a subnet


def ports_in_order(subnet):
    """Router ports in the order of ISSR: one of each router, then the next one of each."""
    return [subnet.routers[key] for key in sorted(subnet.routers)]


def make_map(subnet, others, backups=1):
    """{GID: [router port GUIDs]}: the destinations of each subnet go round the router ports."""
    ports = ports_in_order(subnet)
    return {other.gid(host): [ports[(i + step) % len(ports)] for step in range(backups + 1)]
            for other in others for i, host in enumerate(other.hosts)}


def map_text(lines):
    return "".join(f"{':'.join(dgid.hex()[i:i + 4] for i in range(0, 32, 4))} "
                   f"{' '.join(f'0x{port:016x}' for port in ports)}\n"
                   for dgid, ports in lines.items())


def write_map(subnet, text):
    path = subnet.folder / "map"
    path.write_text(text if isinstance(text, str) else map_text(text))
    return path


def conf(path):
    return f"[map]\nfile = {path}\n"


def only(answer):
    """The record of an answer that can have only one."""
    assert answer.status == 0, hex(answer.status)
    return answer.paths[0]


def records(subnet, requests):
    return [only(answer) for answer in subnet.ask(requests)]


def to_router(subnet, source, dgid, lines, local):
    """The record for dgid by rights: that for its router port, with its GID and hop limit 255."""
    return local[source, lines[dgid][0]]._replace(dgid=dgid, hop_flow=255)


def local_records(subnet, sources):
    """{(source, router port): record} as OpenSM has them for the router ports themselves."""
    pairs = [(source, port) for source in sources for port in subnet.routers.values()]
    return dict(zip(pairs, records(subnet, [path_request(subnet.gid(source), subnet.gid(port))
                                            for source, port in pairs])))


def wanted_pairs(subnet, lines, share):
    """All pairs of a host and a destination, or one of `share` of them: of each host and of each
    destination equally many."""
    return [(source, dgid) for i, source in enumerate(subnet.hosts)
            for j, dgid in enumerate(lines) if (i + j) % share == 0]


def heddle_maps(folder, kind, count):
    """The maps that `heddle map` makes from the fabric of each subnet: paths by prefix."""
    words = []
    for number in range(1, count + 1):
        part = subnets_sim.generate(folder, count, "--part", number)
        words += ["--subnet", f"{subnets_sim.prefix(number):#x}={part}"]
    fabric_sim.heddle("map", kind, *words, "-o", folder / "maps")
    return {subnets_sim.prefix(number): folder / "maps" / f"{subnets_sim.prefix(number):016x}.map"
            for number in range(1, count + 1)}


def read_map(path):
    """{GID: [router port GUIDs]} of a map, without its `*` lines."""
    lines = {}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words and words[0] != "*":
            lines[ipaddress.IPv6Address(words[0]).packed] = [int(word, 16) for word in words[1:]]
    return lines


def check_subnet(subnet, others, path, engine, share):
    lines = read_map(path)
    assert lines.keys() == {other.gid(host) for other in others for host in other.hosts}
    with subnet.opensm(engine, heddle_conf=conf(path)) as opensm:
        assert "ERR HD" not in opensm.log()
        pairs = wanted_pairs(subnet, lines, share)
        local = local_records(subnet, subnet.hosts)
        expected = [to_router(subnet, *pair, lines, local) for pair in pairs]
        assert records(subnet, [path_request(subnet.gid(source), dgid)
                                for source, dgid in pairs]) == expected
        assert records(subnet, [multipath_request([subnet.gid(source)], [dgid])
                                for source, dgid in pairs]) == expected
        for source, dgid in pairs[::len(pairs) // 3]:
            text = subnet.run("saquery", *PATIENT, "-p", "--sgid", gid_text(subnet.prefix, source), "--dgid",
                              gid_text(*(int.from_bytes(dgid[i:i + 8], "big") for i in (0, 8))))
            assert f"dlid....................{local[source, lines[dgid][0]].dlid}\n" in text
            assert "hop_flow_raw............0xFF\n" in text
        used = {dgid[:8]: set() for dgid in lines}
        for (_, dgid), record in zip(pairs, expected):
            used[dgid[:8]].add(record.dlid)
        return [len(lids) for lids in used.values()]


@pytest.mark.parametrize("count, kind, share", [(2, "isfr", 1), (3, "issr", 4), (6, "isfr", 12)])
def test_paths_across(tmp_path, count, kind, share):
    """With the maps and engines of ISSR and ISFR, each host gets the router port that the map names
    for each destination in other subnets, by PathRecord, MultiPathRecord and saquery. MTU, rate, SL,
    lifetime and P_Key are those of the path to the router, and the hop limit is 255. The 72
    destinations of a subnet use 72 router ports."""
    maps = heddle_maps(tmp_path, kind, count)
    with Subnets(subnets_sim.generate(tmp_path, count), count) as whole:
        for subnet in whole.subnets:
            others = [other for other in whole.subnets if other is not subnet]
            assert check_subnet(subnet, others, maps[subnet.prefix], kind,
                                1 if ALL_PAIRS else share) == [72] * (count - 1)


def test_all_subnets_at_once(tmp_path):
    """One OpenSM in each of three subnets at the same time: each answers with its own router ports
    for the other two, and routes both directions of a pair."""
    with Subnets(subnets_sim.generate(tmp_path, 3), 3) as whole, contextlib.ExitStack() as stack:
        maps = []
        for subnet in whole.subnets:
            maps.append(make_map(subnet, [other for other in whole.subnets if other is not subnet]))
            path = write_map(subnet, maps[-1])
            stack.enter_context(subnet.opensm(ENGINE, heddle_conf=conf(path)))
        for subnet, lines in zip(whole.subnets, maps):
            source = subnet.hosts[5]
            local = local_records(subnet, [source])
            assert records(subnet, [path_request(subnet.gid(source), dgid) for dgid in lines]) == \
                [to_router(subnet, source, dgid, lines, local) for dgid in lines]


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    """Two small subnets: 2 leaves with 3 hosts, 2 middle switches, 3 routers, so 6 router ports."""
    return subnets_sim.generate(tmp_path_factory.mktemp("map"), 2, "--leaves", "2", "--hosts", "3",
                                "--middles", "2", "--routers", "3", "--sideways", "0")


@contextlib.contextmanager
def small(netlist, text=None, engine=ENGINE, options=None, log_flags=fabric_sim.LOG_DEFAULT):
    """The two subnets, and OpenSM in the first. text(subnet, other) makes the map; None: there is
    no map."""
    with Subnets(netlist, 2) as whole:
        subnet, other = whole.subnets
        path = write_map(subnet, text(subnet, other)) if text else None
        settings = conf(path) if path else ""
        with subnet.opensm(engine, heddle_conf=settings, options=options,
                           log_flags=log_flags) as opensm:
            yield subnet, other, opensm


def whole_map(subnet, other):
    return make_map(subnet, [other])


def lids(subnet, dgids):
    """The DLID for each GID from the subnet's first host."""
    return [path.dlid for path in records(
        subnet, [path_request(subnet.gid(subnet.hosts[0]), dgid) for dgid in dgids])]


def router_lids(subnet):
    ports = list(subnet.routers.values())
    return dict(zip(ports, lids(subnet, [subnet.gid(port) for port in ports])))


def sweep_after(opensm, subnet, command, pattern):
    """Changes a link at ibsim's console, and sweeps until the log has the pattern."""
    since = len(opensm.log())
    subnet.command(command)
    opensm.sweep_until(pattern, since=since)


def test_a_lost_router_port_moves_only_its_destinations(netlist):
    """The cable between a middle switch and a router fails: the destinations of that router port use
    their backup after the sweep, and all others stay. They return with the cable. Without any usable
    port there is no record."""
    with small(netlist, whole_map) as (subnet, other, opensm):
        lines = make_map(subnet, [other])
        by_port = router_lids(subnet)
        first = [by_port[ports[0]] for ports in lines.values()]
        assert lids(subnet, lines) == first
        lost = ports_in_order(subnet)[0]
        sweep_after(opensm, subnet, f"Unlink {subnet.cables[lost]}",
                    "5 of 6 router ports are usable; 1 lines use a backup, 0 lines have no")
        moved = [by_port[ports[1] if ports[0] == lost else ports[0]] for ports in lines.values()]
        assert sum(a != b for a, b in zip(moved, first)) == 1
        assert lids(subnet, lines) == moved
        sweep_after(opensm, subnet, f"ReLink {subnet.cables[lost]}",
                    "6 of 6 router ports are usable; 0 lines use a backup")
        assert lids(subnet, lines) == first


def test_without_a_usable_port_there_is_no_record(netlist):
    """A destination whose only router port is lost has no record, until the port comes back."""
    def text(subnet, other):
        return make_map(subnet, [other], backups=0)

    with small(netlist, text) as (subnet, other, opensm):
        lost = ports_in_order(subnet)[0]
        dgid = other.gid(other.hosts[0])
        request = path_request(subnet.gid(subnet.hosts[0]), dgid)
        multi = multipath_request([subnet.gid(subnet.hosts[0])], [dgid])
        before = only(subnet.ask([request])[0]).dlid
        sweep_after(opensm, subnet, f"Unlink {subnet.cables[lost]}", "1 lines have no usable port")
        answers = subnet.ask([request, multi])
        assert [answer.status for answer in answers] == [NO_RECORDS, INVALID_GID]
        sweep_after(opensm, subnet, f"ReLink {subnet.cables[lost]}", "0 lines have no usable port")
        assert only(subnet.ask([request])[0]).dlid == before


def test_order_of_resolution(netlist):
    """The line of a GID comes before blocks, the longer block before the shorter, blocks before the
    `*` lines, and these before OpenSM's prefix_routes_file."""
    def text(subnet, other):
        exact, longer, shorter, default = ports_in_order(subnet)[:4]
        prefix = gid_text(other.prefix, 0)
        return (f"* 0x{default:x}\n{prefix}/64 0x{shorter:x}\n"
                f"{gid_text(other.prefix, other.hosts[1] & ~0xF)}/124 0x{longer:x}\n"
                f"{gid_text(other.prefix, other.hosts[0])} 0x{exact:x}\n")

    with small(netlist, text) as (subnet, other, opensm):
        by_port = router_lids(subnet)
        dgids = [other.gid(host) for host in other.hosts[:3]] + [gid(FOREIGN, 1)]
        assert lids(subnet, dgids) == [by_port[port] for port in ports_in_order(subnet)[:4]]
        assert "ERR HD" not in opensm.log()


def test_prefix_routes_file_serves_the_rest(netlist):
    """Prefixes that the map does not name get OpenSM's router of prefix_routes_file; the map comes
    first where both name a prefix."""
    with Subnets(netlist, 2) as whole:
        subnet, other = whole.subnets
        port = ports_in_order(subnet)[4]
        path = write_map(subnet, f"{gid_text(other.prefix, 0)}/64 0x{port:x}\n")
        routes = subnet.folder / "prefix-routes"
        routes.write_text("* *\n")
        with subnet.opensm(ENGINE, heddle_conf=conf(path),
                           options={"prefix_routes_file": routes}):
            by_port = router_lids(subnet)
            named, rest = lids(subnet, [other.gid(other.hosts[0]), gid(FOREIGN, 1)])
            assert named == by_port[port]
            assert rest in by_port.values() and rest != named


def requests_of_all_kinds(subnet):
    """Requests that the map has nothing to do with, good and bad ones."""
    hosts = [subnet.gid(host) for host in subnet.hosts[:3]]
    lines = [path_request(a, b) for a in hosts for b in hosts]
    lines += [multipath_request([a], [b]) for a in hosts[:1] for b in hosts[:2]]
    lines += [path_request(None, hosts[0]), path_request(hosts[0], gid(FOREIGN, 7)),
              path_request(gid(FOREIGN, 7), hosts[0]), path_request(hosts[0], subnet.gid(7)),
              path_request(hosts[0], gid(0xFE80000000000000, subnet.hosts[1])),
              path_request(hosts[0], gid(0xFF12401BFFFF0000, 1)),
              path_request(hosts[0], hosts[1], method=GET_TABLE),
              path_request(hosts[0], hosts[1], slid=99), path_request(hosts[0], hosts[1], dlid=1),
              multipath_request(hosts[:2], hosts[1:], 2), multipath_request(hosts, [], 1),
              multipath_request([gid(FOREIGN, 7)], hosts), multipath_request(hosts, hosts, 0)]
    return lines


def test_everything_else_is_answered_as_before(netlist):
    """Requests that the map does not name get the same answers from an OpenSM with a map, with the
    plugin and no map, and without the plugin."""
    answers = []
    for text, options in ((whole_map, None), (None, None), (None, {"event_plugin_name": "(null)"})):
        with small(netlist, text, "minhop", options, subnets_sim.DEBUG) as (subnet, _, opensm):
            requests = requests_of_all_kinds(subnet)
            single = [request for request in requests if request.startswith("1 ")]
            answers.append(subnet.ask(single) + [subnet.ask_one(opensm, request)
                                                 for request in requests if request not in single])
    assert answers[0] == answers[1] == answers[2]
    assert {answer.status for answer in answers[0]} >= {0, NO_RECORDS, INVALID_GID}


def test_without_a_map_other_subnets_are_unknown(netlist):
    """No map: OpenSM refuses GIDs of other subnets, as ever. A map that comes with a SIGHUP serves
    them, and one that goes does not."""
    with small(netlist) as (subnet, other, opensm):
        source, dgid = subnet.gid(subnet.hosts[0]), other.gid(other.hosts[0])
        requests = [path_request(source, dgid), multipath_request([source], [dgid])]
        assert [answer.status for answer in subnet.ask(requests)] == [NO_RECORDS, INVALID_GID]
        opensm.write_heddle_conf(conf(write_map(subnet, whole_map(subnet, other))))
        opensm.sweep()
        assert [only(answer).hop_flow for answer in subnet.ask(requests)] == [255, 255]
        opensm.write_heddle_conf("")
        opensm.sweep()
        assert [answer.status for answer in subnet.ask(requests)] == [NO_RECORDS, INVALID_GID]


def test_requests_with_less_or_more(netlist):
    """A request may name its source by LID, or not at all; a LID that contradicts the rest is an
    error, as it is for local paths."""
    with small(netlist, whole_map) as (subnet, other, _):
        source, dgid = subnet.gid(subnet.hosts[0]), other.gid(other.hosts[0])
        record = only(subnet.ask([path_request(source, dgid)])[0])
        slid, dlid = record.slid, record.dlid
        by_lid, both, any_source, table = subnet.ask([
            path_request(None, dgid, slid=slid), path_request(source, dgid, slid=slid, dlid=dlid),
            path_request(None, dgid), path_request(source, dgid, method=GET_TABLE)])
        assert [only(answer) for answer in (by_lid, both)] == [record] * 2
        assert table.paths[0] == record
        assert only(any_source).dlid == dlid
        wrong = subnet.ask([path_request(source, dgid, slid=slid + 1),
                            path_request(source, dgid, dlid=slid)])
        local = subnet.ask([path_request(source, subnet.gid(subnet.hosts[1]), slid=slid + 1),
                            path_request(source, subnet.gid(subnet.hosts[1]), dlid=slid)])
        assert [answer.status for answer in wrong] == [answer.status for answer in local]
        assert all(answer.status for answer in wrong)


def test_multipath_requests(netlist):
    """Destinations of several subnets in one request, no more paths than asked for, and two paths
    without a common end where there are two sources and two destinations. One destination that no
    router port leads to makes OpenSM refuse the request."""
    with small(netlist, whole_map, log_flags=subnets_sim.DEBUG) as (subnet, other, opensm):
        sources = [subnet.gid(host) for host in subnet.hosts[:2]]
        near = subnet.gid(subnet.hosts[3])
        abroad = [other.gid(host) for host in other.hosts[:2]]
        pairs = [(a, b) for a in sources for b in abroad + [near]]
        single = dict(zip(pairs, records(subnet, [path_request(*pair) for pair in pairs])))

        def paths(*arguments):
            return subnet.ask_one(opensm, multipath_request(*arguments)).paths

        assert paths(sources[:1], [abroad[0], near], 2) == \
            [single[sources[0], abroad[0]], single[sources[0], near]]
        assert paths(sources[:1], abroad, 1) == [single[sources[0], abroad[0]]]
        assert paths(sources[:1], abroad, 0) == []
        assert paths(sources, abroad, 2) == \
            [single[sources[0], abroad[0]], single[sources[1], abroad[1]]]
        since = len(opensm.log())
        paths(sources, abroad + [near], 127)
        assert "Returning 6 records" in opensm.log()[since:]
        unknown = subnet.ask([multipath_request(sources, [abroad[0], gid(FOREIGN, 1)], 2)])[0]
        assert unknown.status == INVALID_GID


def test_several_lanes_are_logged(netlist):
    """An engine that spreads paths to routers over several lanes: the log warns, because packets keep
    their service level in other subnets. The engine isfr does not."""
    for engine, warns in (("dmodk", True), ("isfr", False)):
        with Subnets(netlist, 2) as whole:
            subnet, other = whole.subnets
            path = write_map(subnet, whole_map(subnet, other))
            settings = f"{conf(path)}[{engine}]\nspread = all\n"
            with subnet.opensm(engine, heddle_conf=settings, options={"qos": "TRUE"}) as opensm:
                opensm.sweep()
                assert opensm.log().count("to router ports use more than one virtual lane") == warns


BAD = {
    "no GID": ("fec0::zz 0x400001\n", ":1: "),
    "link-local": ("# map\nfe80::1 0x400001\n", ":2: "),
    "twice": ("fec0::5:0:0:0:1 0x400001\nfec0::5:0:0:0:1 0x400002\n", ":2: "),
    "no port": ("\n\nfec0::5:0:0:0:1\n", ":3: "),
    "cut": ("fec0::5:0:0:0:1 0x400001", ":1: "),
    "empty": ("# nothing\n", ": "),
    "an unknown router": ("* 0x400001\nfec0::5:0:0:0:1 0x999999\n", ":2: port GUID 0x"),
    "a host as router": ("* 0x400001\nfec0::5:0:0:0:1 0x400001 0x100001\n", ":2: port GUID 0x"),
}


def test_a_bad_map_leaves_the_last_good_one_in_force(netlist):
    """The log gives file, line and reason, and the answers stay the same. Nothing waits for a FIFO."""
    with small(netlist, whole_map) as (subnet, other, opensm):
        path = subnet.folder / "map"
        lines = make_map(subnet, [other])
        before = lids(subnet, lines)
        for name, (text, place) in BAD.items():
            path.write_text(text)
            log = opensm.sweep()
            assert f"ERR HD12: map: {path}{place}" in log, (name, log)
            assert "; the last good map stays in force" in log
            assert lids(subnet, lines) == before, name
        path.unlink()
        assert f"{path}: cannot open: No such file" in opensm.sweep()
        os.mkfifo(path)
        assert f"{path}: cannot read: not a regular file" in opensm.sweep()
        assert lids(subnet, lines) == before
        path.unlink()
        other_order = {dgid: ports[::-1] for dgid, ports in lines.items()}
        write_map(subnet, other_order)
        assert "ERR HD" not in opensm.sweep()
        by_port = router_lids(subnet)
        assert lids(subnet, lines) == [by_port[ports[1]] for ports in lines.values()]


def test_a_bad_map_at_the_start(netlist):
    """OpenSM starts, logs the error, and routes its own subnet. A map that names router ports which
    are down when OpenSM starts is in force."""
    def bad(subnet, other):
        return "fec0::zz 0x400001\n"

    def missing(subnet, other):
        return f"* 0x999999 0x{ports_in_order(subnet)[0]:x}\n"

    with small(netlist, bad) as (subnet, other, opensm):
        assert "; no map is in force" in opensm.log()
        assert only(subnet.ask([path_request(subnet.gid(subnet.hosts[0]),
                                             subnet.gid(subnet.hosts[1]))])[0]).hop_flow == 0
    with small(netlist, missing) as (subnet, other, opensm):
        assert "1 router ports are missing, the map is in force without them" in opensm.log()
        assert lids(subnet, [gid(FOREIGN, 1)]) == \
            [router_lids(subnet)[ports_in_order(subnet)[0]]]
