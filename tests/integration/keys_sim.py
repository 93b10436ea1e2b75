# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client of the key channel, and keys made by hand.

Written from doc/guide/key-channel.md alone: it shares no code with Heddle, so that a mistake on one
side shows.
"""

import collections
import json
import pathlib
import random
import socket
import struct
import time

from fabric_sim import PATIENCE, heddle
from keyd_process import settings, socket_of  # noqa: F401

HELLO, FABRIC, HELD, SET, RESULT, BROKEN = range(1, 7)
DONE, STALE, REFUSED, FAILED, BUSY = range(5)
MAGIC, VERSION = b"HKEY", 1
UNUSED = 2 ** 63  # a key that no test makes
HEADER = struct.Struct(">4sHHI")

Hello = collections.namedtuple("Hello", "instance master engine")
Fabric = collections.namedtuple("Fabric", "epoch aside netlist")
Result = collections.namedtuple("Result", "request key status blocks changed reason")
Broken = collections.namedtuple("Broken", "key epoch reason")


def frame(kind, body, version=VERSION):
    return HEADER.pack(MAGIC, version, kind, len(body)) + body


def text_at(body, offset):
    (length,) = struct.unpack_from(">I", body, offset)
    assert len(body) == offset + 4 + length
    return body[offset + 4:].decode()


def decode(kind, body):
    if kind == HELLO:
        instance, master = struct.unpack_from(">QI", body)
        return Hello(instance, bool(master), text_at(body, 12))
    if kind == FABRIC:
        epoch, aside, length = struct.unpack_from(">QII", body)
        assert len(body) == 16 + 8 * aside + length
        return Fabric(epoch, struct.unpack_from(f">{aside}Q", body, 16), body[16 + 8 * aside:].decode())
    if kind == HELD:
        (count,) = struct.unpack_from(">I", body)
        return list(struct.unpack_from(f">{count}Q", body, 4))
    if kind == RESULT:
        return Result(*struct.unpack_from(">QQIII", body), text_at(body, 28))
    assert kind == BROKEN
    return Broken(*struct.unpack_from(">QQ", body), text_at(body, 16))


def encode_set(request, key, epoch, entries):
    """entries: (switch GUID, LID, port)."""
    body = struct.pack(">QQQI", request, key, epoch, len(entries))
    return frame(SET, body + b"".join(struct.pack(">QHBB", *entry, 0) for entry in sorted(entries)))


class Client:
    """A connection to the manager. Messages that are not asked for wait in `others`."""

    def __init__(self, path, timeout=PATIENCE):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.requests = 0
        self.others = []
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()
        return False

    def _exactly(self, size):
        while len(self.data) < size:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise EOFError
            self.data += piece
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def receive(self):
        magic, version, kind, length = HEADER.unpack(self._exactly(HEADER.size))
        assert (magic, version) == (MAGIC, VERSION)
        return kind, decode(kind, self._exactly(length))

    def next(self, kind):
        """The next message of this kind."""
        for i, (found, message) in enumerate(self.others):
            if found == kind:
                del self.others[i]
                return message
        while True:
            found, message = self.receive()
            if found == kind:
                return message
            self.others.append((found, message))

    def greeting(self):
        """HELLO, FABRIC and HELD as they come first. A manager that has just started says HELLO once
        more when it has routed the fabric."""
        kind, hello = self.receive()
        while kind == HELLO:
            latest = hello
            kind, hello = self.receive()
        assert kind == FABRIC
        self.epoch = hello.epoch
        held, keys = self.receive()
        assert held == HELD
        return latest, hello, keys

    def until_answered(self):
        """All messages that the manager sends before it answers a SET of no entries: (kind, message)."""
        messages, self.others = self.others, []
        request = self.post(UNUSED, [])
        while True:
            kind, message = self.receive()
            if kind == RESULT and message.request == request:
                break
            messages.append((kind, message))
        self.epoch = max([message.epoch for kind, message in messages if kind == FABRIC] + [self.epoch])
        return messages

    def send(self, data):
        self.socket.sendall(data)

    def post(self, key, entries, epoch=None):
        self.requests += 1
        self.send(encode_set(self.requests, key, self.epoch if epoch is None else epoch, entries))
        return self.requests

    def set(self, key, entries, epoch=None):
        """Sends a SET and returns its RESULT."""
        request = self.post(key, entries, epoch)
        result = self.next(RESULT)
        assert (result.request, result.key) == (request, key)
        return result

    def set_at_rest(self, key, entries, until=lambda result: result.status != BUSY):
        """The same, made again while a sweep is under way."""
        end = time.monotonic() + PATIENCE
        while not until(result := self.set(key, entries)) and time.monotonic() < end:
            time.sleep(0.2)
        return result

    def set_done(self, key, entries):
        """The same, if it must succeed: also when a sweep has still to send what was lost."""
        result = self.set_at_rest(key, entries, lambda result: result.status != BUSY and
                                  "has not acknowledged" not in result.reason)
        assert result.status == DONE, result
        return result


# ---- keys by hand ----

class Tree:
    """The switches of a tree by levels, from a topology: what lies above and below each. `aside`:
    aggregation nodes, which are no hosts."""

    def __init__(self, topology):
        self.topology = topology
        cabled = {node for node, _ in topology.peer} - topology.switches
        self.aside = {node for name, node in topology.names.items() if name.startswith("A_")}
        self.level = {topology.leaf(host): 0 for host in cabled - self.aside}
        self.ports = collections.defaultdict(dict)  # switch -> {neighbour: [ports]}
        for (node, port), (peer, _) in topology.peer.items():
            if node in topology.switches:
                self.ports[node].setdefault(peer, []).append(port)
        queue = collections.deque(self.level)
        while queue:
            switch = queue.popleft()
            for peer in self.ports[switch]:
                if peer in topology.switches and peer not in self.level:
                    self.level[peer] = self.level[switch] + 1
                    queue.append(peer)

    def parents(self, switch):
        return sorted(peer for peer in self.ports[switch]
                      if self.level.get(peer, -1) == self.level[switch] + 1)

    def children(self, switch):
        return [peer for peer in self.ports[switch] if self.level.get(peer, 99) == self.level[switch] - 1]

    def cables(self, switch):
        """The ports that lead to other switches."""
        return [port for peer, ports in self.ports[switch].items() for port in ports
                if peer in self.topology.switches]

    def way_down(self, switch, host, leaf):
        """[(switch, port)] from a switch down to a host, or None."""
        if switch == leaf:
            return [(switch, self.ports[switch][host][0])]
        for child in self.children(switch):
            rest = self.way_down(child, host, leaf)
            if rest is not None:
                return [(switch, self.ports[switch][child][0]), *rest]
        return None

    def ways(self, source, destination):
        """All paths that climb no higher than they must, as lists of (switch, port)."""
        topology, first, last = self.topology, self.topology.leaf(source), self.topology.leaf(destination)
        level = [([], first)]
        while level:
            found = [way + down for way, switch in level
                     for down in [self.way_down(switch, destination, last)] if down is not None]
            if found:
                return found
            level = [([*way, (switch, port)], parent) for way, switch in level
                     for parent in self.parents(switch) for port in self.ports[switch][parent]]
        return []


def random_flows(hosts, seed):
    """A random permutation without fixed points: (source, destination) pairs."""
    shuffled = list(hosts)
    random.Random(seed).shuffle(shuffled)
    return list(zip(shuffled, shuffled[1:] + shuffled[:1]))


def key_of(tree, flows, offset, seed=0):
    """Entries of random paths for flows that go to different hosts: {(switch, LID): port}."""
    choice, entries = random.Random(seed), {}
    for source, destination in flows:
        lid = tree.topology.lids[destination][0] + offset
        for switch, port in choice.choice(tree.ways(source, destination)):
            entries[switch, lid] = port
    return [(switch, lid, port) for (switch, lid), port in entries.items()]


def blocks_of(before, after):
    """(blocks, entries) in which two tables of switches differ."""
    changed = {(switch, lid) for switch, row in before.items() for lid, port in enumerate(row)
               if after[switch][lid] != port}
    return len({(switch, lid // 64) for switch, lid in changed}), len(changed)


def contention(topology, tables, flows, offset):
    """The most flows on a directed link between switches, by walks in the switches' own tables."""
    load = collections.Counter()
    for source, destination in flows:
        lid = topology.lids[destination][0] + offset
        path = topology.path(tables, topology.leaf(source), lid)
        assert topology.peer[path[-1]][0] == destination, (source, destination, path)
        load.update(path[:-1])
    return max(load.values(), default=0)


# ---- keys without contention, for whole trees of three levels ----

def colour(edges):
    """Colours of (left, right) edges, so that no two of a node are the same: König's alternating
    paths, with as many colours as the largest degree."""
    degree = collections.Counter(("left", edge[0]) for edge in edges)
    degree.update(("right", edge[1]) for edge in edges)
    count, at = max(degree.values(), default=0), {}  # (side, node, colour) -> edge
    colours = [None] * len(edges)

    def free(node):
        return next(colour for colour in range(count) if (*node, colour) not in at)

    def flip(node, one, other):
        """Exchanges two colours along the path that begins at a node with an edge of `one`."""
        path, wanted = [], one
        while (*node, wanted) in at:
            path.append(at[(*node, wanted)])
            ends = [("left", edges[path[-1]][0]), ("right", edges[path[-1]][1])]
            node = ends[1 - ends.index(node)]
            wanted = other if wanted == one else one
        for edge in path:
            for end in (("left", edges[edge][0]), ("right", edges[edge][1])):
                if at.get((*end, colours[edge])) == edge:
                    del at[(*end, colours[edge])]
            colours[edge] = other if colours[edge] == one else one
        for edge in path:
            for end in (("left", edges[edge][0]), ("right", edges[edge][1])):
                at[(*end, colours[edge])] = edge

    for number, (left, right) in enumerate(edges):
        near, far = ("left", left), ("right", right)
        one, other = free(near), free(far)
        if one != other and (*far, one) in at:
            flip(far, one, other)
        colours[number] = one
        at[(*near, one)] = at[(*far, one)] = number
    return colours


def free_key(tree, flows, offset):
    """Entries of a key whose flows share no link between switches, in a whole XGFT of three levels:
    first colours of leaves choose the plane, then colours of pods choose the top switch."""
    topology, entries = tree.topology, {}
    flows = [(source, destination) for source, destination in flows
             if topology.leaf(source) != topology.leaf(destination)]
    tops = sorted({tuple(tree.parents(middle)) for leaf in tree.level if tree.level[leaf] == 0
                   for middle in tree.parents(leaf)})
    plane = {middle: tops.index(tuple(tree.parents(middle)))
             for middle in tree.level if tree.level[middle] == 1}
    planes = colour([(topology.leaf(source), topology.leaf(destination)) for source, destination in flows])
    for chosen in set(planes):
        part = [flow for flow, its in zip(flows, planes) if its == chosen]
        middles = [tuple(next(middle for middle in tree.parents(topology.leaf(host))
                              if plane[middle] == chosen) for host in flow) for flow in part]
        far = [(flow, ends) for flow, ends in zip(part, middles) if ends[0] != ends[1]]
        spines = dict(zip((flow for flow, _ in far), colour([ends for _, ends in far])))
        for flow, ends in zip(part, middles):
            top = tops[chosen][spines[flow]] if flow in spines else None
            hops = [topology.leaf(flow[0]), ends[0], *([top, ends[1]] if top else []),
                    topology.leaf(flow[1]), flow[1]]
            for switch, behind in zip(hops, hops[1:]):
                entries[switch, topology.lids[flow[1]][0] + offset] = tree.ports[switch][behind][0]
    return [(switch, lid, port) for (switch, lid), port in entries.items()]


def stencil(hosts, sizes):
    """The phases of a periodic stencil: for each axis a flow of each rank up it, and one down it."""
    ranks, phases = range(len(hosts)), []
    step = 1
    for size in sizes:
        for direction in (1, -1):
            move = [rank + (((rank // step) % size + direction) % size - (rank // step) % size) * step
                    for rank in ranks]
            phases.append([(hosts[rank], hosts[move[rank]]) for rank in ranks])
        step *= size
    return phases


# ---- keys of `heddle key make` ----

def made_keys(topology, path, hosts, pattern, *options):
    """One list of entries for each phase of a pattern, for the ranks on these hosts."""
    names = {node: name for name, node in topology.names.items()}
    ranks = pathlib.Path(path).with_suffix(".hosts")
    ranks.write_text("".join(f"{names[host]}\n" for host in hosts))
    done = heddle("key", "make", "--json", "--hosts", ranks, "-p", pattern, *options, path, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [([(int(entry["switch"], 16), entry["lid"], entry["port"]) for entry in phase["entries"]], phase)
            for phase in json.loads(done.stdout)["phases"]]


def flows_of(phase):
    """(source, destination) nodes of the flows of a phase that heddle has made; ports are number 1."""
    return [tuple(int(flow[end]["guid"], 16) - 1 for end in ("source", "destination"))
            for flow in phase["flows"]]
