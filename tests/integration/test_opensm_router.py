# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-router between two subnets: it asks the switches of one of them through libibumad, and
finds the egress ports that the tables say; it gets on with plugins that come, go and lie."""

import json
import re
import subprocess
from types import SimpleNamespace

import emulator
import fabric_sim
import pytest
import router_plugin
from emulator import LFT, Emulator
from fabric_sim import BUILD, Simulation, Topology, stop, tables, wait_until
from raw_smp import RawClient
from router_plugin import ACCEPTED, FOREIGN, HOSTS, MAP, PORTS, PREFIXES, REFUSED, Plugin

AGENT = BUILD / "ir_router" / "agent" / "heddle-router"
missing = fabric_sim.missing_tools() + emulator.missing() + ([] if AGENT.exists() else [str(AGENT)])
pytestmark = pytest.mark.skipif(bool(missing), reason=f"missing: {missing}")

NEAR, FAR, BEYOND = 0xFEC0000000000001, 0xFEC0000000000002, 0xFEC0000000000003
LEAVES, HOSTS_A_LEAF, SPINES, ROUTERS = 6, 12, 3, 3
ROUTER = 0x300000


def netlist():
    """Two trees of two levels with routers on top: each router has a port to each spine of each."""
    links = {}

    def join(a, i, b, j):
        links[a, i], links[b, j] = (b, j), (a, i)

    for s in range(2):
        for leaf in range(LEAVES):
            for h in range(HOSTS_A_LEAF):
                join(f"S{s}-leaf{leaf}", h + 1, f"S{s}-H{leaf * HOSTS_A_LEAF + h}", 1)
            for k in range(SPINES):
                join(f"S{s}-leaf{leaf}", HOSTS_A_LEAF + k + 1, f"S{s}-spine{k}", leaf + 1)
        for r in range(ROUTERS):
            for k in range(SPINES):
                join(f"R{r}", s * SPINES + k + 1, f"S{s}-spine{k}", LEAVES + r + 1)
    lines = []

    def node(kind, ports, name):
        lines.append(f'{kind} {ports} "{name}"')
        lines.extend('[{}] "{}"[{}]'.format(i, *links[name, i]) for i in range(1, ports + 1) if (name, i) in links)
        lines.append("")

    for s in range(2):
        for k in range(SPINES):
            node("Switch", LEAVES + ROUTERS, f"S{s}-spine{k}")
        for leaf in range(LEAVES):
            node("Switch", HOSTS_A_LEAF + SPINES, f"S{s}-leaf{leaf}")
        for h in range(LEAVES * HOSTS_A_LEAF):
            node("Hca", 1, f"S{s}-H{h}")
    lines.append("rtguid=0x300000")
    for r in range(ROUTERS):
        node("Rt", 2 * SPINES, f"R{r}")
    return "\n".join(lines)


class Far:
    """The subnet whose switches are asked, as its plugin would see it."""

    def __init__(self, simulation):
        self.simulation = simulation
        text = simulation.discover().read_text()
        self.topology = Topology(simulation.folder / "fabric.topo")
        self.spines = sorted(node for name, node in self.topology.names.items() if "spine" in name)
        section = re.search(r'^Rt.*# "R0"\n((?:\[.*\n)*)', text, re.M).group(1)
        self.ports = []  # as send_epoch() wants them
        for guid, switch, port, lid, switch_lid in re.findall(
                r'\((\w+)\)\s+"S-(\w+)"\[(\d+)\]\s+# lid (\d+) lmc 0 "[^"]*" lid (\d+)', section):
            down = sum(1 << p for p in range(1, LEAVES + 1))
            self.ports.append((int(guid, 16), int(switch, 16), int(lid), int(switch_lid), int(port), down))
        self.hosts = []
        for name, node in self.topology.names.items():
            found = re.fullmatch(r"S1-H(\d+)", name)
            if found:
                place = int(found.group(1))
                self.hosts.append((node, self.spines[place % SPINES], place, self.topology.lids[node][0]))
        assert len(self.ports) == SPINES and len(self.hosts) == LEAVES * HOSTS_A_LEAF

    def expected(self):
        """{host GUID: router port GUID} from the tables that the switches hold now."""
        entries = tables(self.simulation.read_tables())
        port_of = {port[1]: port[0] for port in self.ports}
        return {guid: port_of[top] for guid, top, _, lid in self.hosts
                if 1 <= entries[top][lid] <= LEAVES}


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    path = tmp_path_factory.mktemp("routers") / "two.net"
    path.write_text(netlist())
    with Simulation(path, host="S1-H0", emulator=Emulator(seed=3)) as simulation:
        simulation.opensm("minhop").once()
        yield Far(simulation)


class Agent:
    """A running heddle-router. As a context manager."""

    def __init__(self, simulation, folder, socket=None, **settings):
        self.simulation, self.folder = simulation, folder
        self.control = folder / "control"
        self.conf = folder / "heddle.conf"
        values = {"timeout_ms": 1000, "retries": 1, "settle_ms": 150, "retry_ms": 400, "refresh_ms": 2000,
                  "advertise_ms": 300, "control": self.control, "node_guid": hex(ROUTER), **settings}
        self.conf.write_text("[dmodk]\nmethod = auto\n[router]\n" +
                             "".join(f"{key} = {value}\n" for key, value in values.items()) +
                             f"[router.subnet {NEAR:#x}]\nsocket = {folder}/near\nsmp = no\n"
                             f"[router.subnet {FAR:#x}]\nsocket = {socket or folder / 'far'}\n")

    def __enter__(self):
        self.output = open(self.folder / "agent.log", "ab")
        environment = dict(self.simulation.environment, LD_PRELOAD=self.simulation.preload())
        self.process = subprocess.Popen([AGENT, "--config", self.conf], env=environment,
                                        cwd=self.folder, stderr=self.output)
        wait_until(lambda: self.control.exists() or self.process.poll() is not None, "the control socket")
        assert self.process.poll() is None, self.log()
        return self

    def __exit__(self, *exception):
        stop(self.process)
        self.output.close()
        assert exception[0] or self.process.returncode == 0
        return False

    def log(self):
        return (self.folder / "agent.log").read_text()

    def show(self, table):
        return json.loads(subprocess.run([AGENT, "show", table, "--json", "--control", self.control],
                                         capture_output=True, text=True, check=True).stdout)

    def confirmed(self):
        """{host GUID: router port GUID} of the far subnet's hosts that ISFR routes."""
        return {int("".join(part.zfill(4) for part in row["gid"].split(":")[4:]), 16): int(row["port"], 16)
                for row in self.show("hosts") if row["gid"].startswith("fec0:0:0:2") and row["egress"] == "isfr"}

    def count(self, counter):
        return next(row["value"] for row in self.show("counters") if row["counter"] == counter)

    def subnet(self, prefix):
        return next(row for row in self.show("subnets") if int(row["prefix"], 16) == prefix)


@pytest.fixture
def setting(far, tmp_path):
    """The agent with both plugins connected."""
    far.simulation.emulator.heal()
    with Plugin(tmp_path / "near", NEAR) as near, Plugin(tmp_path / "far", FAR) as far_plugin:
        with Agent(far.simulation, tmp_path) as agent:
            wait_until(lambda: near.client and far_plugin.client, "the agent to connect")
            wait_until(lambda: near.greetings and far_plugin.greetings, "greetings")
            yield SimpleNamespace(far=far, agent=agent, near=near, far_plugin=far_plugin,
                                  switches=far.simulation.emulator)
    far.simulation.emulator.heal()


def far_epoch(setting):
    setting.far_plugin.send_epoch(setting.far.ports, setting.far.hosts)
    assert setting.far_plugin.next(ACCEPTED, REFUSED).kind == ACCEPTED


def wait_for(setting, expected):
    wait_until(lambda: setting.agent.confirmed() == expected, f"{len(expected)} egress ports")


NEAR_PORTS = [(0x300001 + k, 0, 5 + k, 0, 4, 0) for k in range(SPINES)]


def test_finds_the_egress_ports(setting):
    """After READY, not before, the switches are asked over real MADs; the egress ports of all hosts
    are those that the tables say, one port for each spine."""
    setting.switches.zero()
    setting.switches.watch()
    far_plugin, far = setting.far_plugin, setting.far
    assert far_plugin.router == ROUTER
    setting.agent.show("subnets")  # it has done what it had to do before
    assert setting.switches.totals().get((LFT, "get"), 0) == 0
    far_epoch(setting)
    expected = far.expected()
    assert len(expected) == 72 and len(set(expected.values())) == SPINES
    wait_for(setting, expected)
    setting.switches.watch(False)
    row = setting.agent.subnet(FAR)
    assert (row["isfr"], row["hosts"], row["epoch"], row["session"]) == (72, 72, 1, "open")
    text = subprocess.run([AGENT, "show", "subnets", "--control", setting.agent.control],
                          capture_output=True, text=True, check=True).stdout
    assert f"{FAR:#018x}" in text and text.startswith("prefix")


def test_silent_switch(setting):
    """The hosts of a spine that does not answer fall back, for as long as it is silent; the others
    have their ports."""
    victim = setting.far.spines[1]
    setting.switches.fault(victim, "silent", attribute="all")
    far_epoch(setting)
    wait_for(setting, {g: p for g, p in everything(setting).items() if top_of(setting, g) != victim})
    setting.switches.heal()
    wait_for(setting, everything(setting))


def everything(setting):
    """The egress ports by name alone: OpenSM's minhop routes all spines straight down."""
    port_of = {port[1]: port[0] for port in setting.far.ports}
    return {guid: port_of[top] for guid, top, _, _ in setting.far.hosts}


def top_of(setting, guid):
    return next(top for host, top, _, _ in setting.far.hosts if host == guid)


def test_late_switch(setting):
    """A spine that answers after the time-out counts as silent. Its answers come while it is asked again, and
    change nothing."""
    victim = setting.far.spines[2]
    unanswered = setting.agent.count("unanswered")
    setting.switches.fault(victim, "slow=4000", attribute=LFT)
    far_epoch(setting)
    wait_for(setting, {g: p for g, p in everything(setting).items() if top_of(setting, g) != victim})
    wait_until(lambda: setting.agent.count("unanswered") >= unanswered + 3, "two questions after the first")
    assert len(setting.agent.confirmed()) == 48
    setting.switches.heal()
    wait_for(setting, everything(setting))


def test_changing_table(setting):
    """A host whose entry turns up instead of down falls back alone; the refresh finds it, and finds
    it again when the entry is right."""
    far_epoch(setting)
    wait_for(setting, everything(setting))
    guid, top, _, lid = setting.far.hosts[20]
    with RawClient(setting.far.simulation, host="S1-H5") as client:
        switch_lid = setting.far.topology.lids[top][0]
        block = client.get(LFT, lid // 64, lid=switch_lid)
        changed = bytearray(block)
        changed[lid % 64] = LEAVES + 2
        client.set(LFT, lid // 64, changed, lid=switch_lid)
        expected = everything(setting)
        del expected[guid]
        assert setting.far.expected() == expected
        wait_for(setting, expected)
        client.set(LFT, lid // 64, block, lid=switch_lid)
    wait_for(setting, everything(setting))


def test_lists_are_handed_over(setting):
    """Each plugin gets the hosts of the other subnet, without LIDs, and what the router's ports lead
    to; a list of a third subnet is passed on one hop further."""
    far_epoch(setting)
    setting.near.send_epoch(NEAR_PORTS, [(7, 0, 0, 9)], [(FAR, guid, 0x300001) for guid, *_ in setting.far.hosts])
    assert setting.near.next(ACCEPTED).body[1:4] == (3, 1, 72)
    message = setting.near.next(FOREIGN)
    assert message.body == (FAR, 72, 0, 72, 1) and message.epoch == 1
    assert message.entries == [(FAR, guid, top, place, 0) for guid, top, place, _ in sorted(setting.far.hosts)]
    assert setting.far_plugin.next(FOREIGN).entries == [(NEAR, 7, 0, 0, 0)]
    assert {setting.near.next(PREFIXES).body[:2] for _ in range(3)} == {(0x300001 + k, 5 + k) for k in range(3)}
    assert setting.near.next(PREFIXES).entries == [(FAR, 1)]
    assert len(setting.agent.show("map")) == 72
    # from another router beyond the far subnet
    setting.far_plugin.send(FOREIGN, (BEYOND, 1, 0, 1, 1), [(BEYOND, 5, 0, 0, 0)], epoch=44)
    passed = setting.near.next(FOREIGN)
    while passed.body[0] == FAR:  # lists are repeated
        passed = setting.near.next(FOREIGN)
    assert passed.body == (BEYOND, 1, 0, 1, 2) and passed.epoch == 44
    setting.far_plugin.send(PREFIXES, (0x999, 77, 0, 1), [(BEYOND, 1)])
    wait_until(lambda: any(row["source"] == "learned" for row in setting.agent.show("prefixes")), "the prefix")
    while [(BEYOND, 2)] != [e for e in setting.near.next(PREFIXES).entries if e[0] == BEYOND]:
        pass
    # nobody repeats it: it is forgotten after three times advertise_ms
    wait_until(lambda: not any(row["source"] == "learned" for row in setting.agent.show("prefixes")), "forgetting")


def test_lying_plugin(setting):
    """GIDs of another prefix, a replayed message and an oversized one are refused with the reason;
    what was in use stays in use."""
    far_epoch(setting)
    wait_for(setting, everything(setting))
    plugin = setting.far_plugin
    plugin.epoch += 1
    ports = plugin.stamp(PORTS, (FAR, 0, 0))
    plugin.send_bytes(ports)
    plugin.send(HOSTS, (FAR, 1, 0, 1, 0), [(NEAR, 5, 0, 0, 9)])
    refused = plugin.next(REFUSED)
    assert refused.body[0] == plugin.sent and "another prefix than its list" in setting.agent.log()
    plugin.send(MAP, (FAR, 1, 0, 1, 0), [(FAR, 5, 0x300001)])
    assert plugin.next(REFUSED).body[0] == plugin.sent
    assert "GIDs of the receiver's own subnet" in setting.agent.log()
    plugin.send_bytes(ports)
    plugin.next(REFUSED)
    assert "was received before" in setting.agent.log()
    assert setting.agent.confirmed() == everything(setting)
    greetings = plugin.greetings
    oversized = bytearray(plugin.stamp(PORTS, (FAR, 0, 0)))
    oversized[8:12] = (70000).to_bytes(4, "big")
    plugin.send_bytes(bytes(oversized))
    wait_until(lambda: plugin.greetings > greetings, "another connection")
    assert "longer than allowed" in setting.agent.log()
    assert setting.agent.confirmed() == everything(setting)
    assert setting.agent.subnet(FAR)["refused"] >= 4


def test_plugin_restarts(setting):
    """While a plugin is away the tables stay; after it is back, its next epoch counts, whatever its
    number, and ports that are as before stay confirmed."""
    far_epoch(setting)
    wait_for(setting, everything(setting))
    plugin = setting.far_plugin
    greetings = plugin.greetings
    plugin.drop()
    wait_until(lambda: plugin.greetings > greetings, "another connection")
    assert setting.agent.confirmed() == everything(setting)
    plugin.epoch = 0
    far_epoch(setting)
    assert len(setting.agent.confirmed()) == 72
    assert setting.agent.subnet(FAR)["connections"] == 2


def test_tcp(far, tmp_path):
    """A plugin can listen at a TCP port, and come later than the agent."""
    with Plugin(("127.0.0.1", 0), FAR) as plugin:
        port = plugin.port
    with Agent(far.simulation, tmp_path, socket=f"127.0.0.1:{port}") as agent:
        wait_until(lambda: "next try in 1 s" in agent.log(), "the first try")
        with Plugin(("127.0.0.1", port), FAR) as plugin:
            wait_until(lambda: plugin.greetings, "a connection")
            plugin.send_epoch(far.ports, far.hosts)
            wait_until(lambda: agent.confirmed() == far.expected(), "egress ports")


def test_configuration(far, tmp_path):
    """--check finds mistakes in its own sections only, with file and line."""
    agent = Agent(far.simulation, tmp_path)

    def check(text):
        agent.conf.write_text(text)
        done = subprocess.run([AGENT, "--check", "--config", agent.conf], capture_output=True, text=True)
        return done.returncode, done.stderr

    good = agent.conf.read_text()
    assert check(good) == (0, "")
    assert check(good + "[any]\nx = 1\n")[0] == 0
    for text, reason in ((good + "[router.subnt 0x1]\n", "did you mean [router.subnet GUID]"),
                         (good.replace("retries = 1", "retries = 11"), "retries"),
                         (good + "[router.subnet 0xfe80000000000000]\n", "forwards nothing to this prefix"),
                         (good + "[router.prefix 0x5]\nvia = 0x1\n", "lid"),
                         (good.replace("node_guid", "#"), "node_guid"),
                         ("[router.subnet 0xfec0000000000001]\n", "'node_guid' is missing"),
                         (good + "[router.subnet 0xfec0000000000077]\nsocket = 192.0.2.1:99999\n",
                          "neither a path nor ADDRESS:PORT"),
                         ("[router]\nnode_guid = 1\n", "the router needs 1 to")):
        code, error = check(text)
        assert code == 1 and reason in error and str(agent.conf) in error, error


def test_manual_page():
    """heddle-router(8) has every option of heddle.conf and every table."""
    page = (fabric_sim.SOURCE / "doc" / "man" / "heddle-router.8").read_text()
    sections = fabric_sim.SOURCE / "config" / "sections" / "router_section.c"
    options = re.findall(r'(?:\.name = |NUMBER\()"([\w.]+)"', sections.read_text())
    assert len(options) > 20
    assert [name for name in options if not re.search(rf"\b{re.escape(name)}\b", page)] == []
    shown = subprocess.run([AGENT, "--help"], capture_output=True, text=True, check=True).stdout
    tables = re.findall(r"^  (\w+) ", shown, re.M)
    assert len(tables) == 6 and [name for name in tables if f".B {name}\n" not in page] == []
