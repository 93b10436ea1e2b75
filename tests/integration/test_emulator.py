# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The emulator of adaptive-routing switches: what its switches answer, byte by byte, how its faults
show, and that everything else passes as if it were not there."""

import subprocess
import time

import emulator
import fabric_sim
import pytest
from emulator import (AR_INFO, AR_LFT, AR_LFT_OLD, GENERAL_INFO, GROUP_COPY, GROUP_TABLE, LFT, NODE_INFO,
                      PLFT_DEFINITION, PLFT_INFO, PLFT_MAP, PORT_INFO, PORT_STATES, SL_TO_PLFT, Emulator)
from fabric_sim import Simulation, generate, tables
from raw_smp import GET, SET, Lost, RawClient, Unreachable

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"missing: {fabric_sim.missing_tools() + emulator.missing()}")

INVALID, UNSUPPORTED, UNSUPPORTED_METHOD = 0x1C, 0x0C, 0x08
TREE = ("xgft", "--children", "6,6,6", "--parents", "1,6,6")
LEAF = (1,)  # the switch next to the client, whose GUID is FIRST; it has 12 ports
FIRST = 0x200000
HOST = (1, 2)  # a host at that switch
SPINE = (1, 7)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("tree"), *TREE)


@pytest.fixture(scope="module")
def running(tree):
    with Simulation(tree, emulator=Emulator(seed=5)) as simulation:
        with RawClient(simulation) as client:
            yield simulation, client


@pytest.fixture
def client(running):
    """A client beside switches after power-on, with default capabilities and without faults."""
    simulation, client = running
    simulation.emulator.heal()
    simulation.emulator.ar("all", "yes")
    simulation.emulator.ar("all", "refuse")
    simulation.emulator.set("all", mask="00000004", group_cap=1024, subgroups=2, plfts=0,
                            record="28" + 63 * "00")
    simulation.emulator.watch(False)
    simulation.emulator.zero()
    return client


@pytest.fixture
def switches(running):
    return running[0].emulator


def mask(*ports):
    """A port mask as it travels: port p is bit p mod 8 of byte 31 - p/8."""
    return sum(1 << port for port in ports).to_bytes(32, "big")


def block(*entries, fill="80ff0000"):
    """An AR LFT block of these entries, in hexadecimal, and unreachable LIDs."""
    data = b"".join(bytes.fromhex(entry) for entry in entries)
    return data + bytes.fromhex(fill) * ((64 - len(data)) // len(bytes.fromhex(fill)))


@pytest.mark.parametrize("form, head", [("rev1", "00000004"), ("old", "00000002"), ("both", "00000006")])
def test_general_info(client, switches, form, head):
    """Capability N is bit N mod 32 of the big-endian word N/32."""
    switches.set(form=form)
    assert client.get(GENERAL_INFO, 4, path=LEAF) == bytes.fromhex(head).ljust(64, b"\0")
    switches.set(mask="00000004" "00100000")  # fast recovery is 52
    assert client.get(GENERAL_INFO, 4, path=LEAF)[:8].hex() == "0000000400100000"
    assert client.ask(GET, GENERAL_INFO, 0, path=LEAF)[0] == INVALID


def test_information_record(client, switches):
    """A Set of the whole record changes the writable fields and no other."""
    before = client.get(AR_INFO, path=LEAF)
    assert before[:16].hex() == "28000100" "00000400" "00000200" "00000000"
    answer = client.set(AR_INFO, 0, bytes.fromhex(
        "d7" "ff" "f2" "21" "ff3ffaaa" "1234" "ff" "ff" "0000000e" "00000258"), path=LEAF)
    assert answer == client.get(AR_INFO, path=LEAF)
    # by_sl_en and no_fallback, 2 sub-groups, the enable bits, group_top 0x3ff, masks, ageing time
    assert answer[:20].hex() == "39000221" "003ff400" "12340200" "0000000e" "00000258"
    held = switches.tables(FIRST)[FIRST]
    assert (held["enabled"], held["subgroups"], held["group_top"], held["group_cap"]) == (True, 2, 0x3FF, 1024)
    assert (held["by_sl"], held["sl_mask"], held["transport_disable"]) == (True, 0x1234, 0xE)
    assert held["ageing_time"] == 600


@pytest.mark.parametrize("offset, value", [(2, "03"), (4, "00400000"), (22, "80")])
def test_information_record_refuses(client, offset, value):
    """More sub-groups than supported, a group_top of group_cap, an unsupported hash: refused, and the
    switch stays as it was."""
    before = client.get(AR_INFO, path=LEAF)
    data = before[:offset] + bytes.fromhex(value) + before[offset + len(value) // 2:]
    assert client.ask(SET, AR_INFO, 0, data, path=LEAF)[0] == INVALID
    assert client.get(AR_INFO, path=LEAF) == before


def test_group_table(client, switches):
    """Two masks a block; element i is sub-group i mod S of group i / S."""
    client.set(GROUP_TABLE, 0, mask(1, 8) + mask(12), path=LEAF)
    client.set(GROUP_TABLE, 1023, mask(7) + mask(9), path=LEAF)
    data = client.get(GROUP_TABLE, 0, path=LEAF)
    assert (data[30], data[31], data[62], data[63]) == (0x01, 0x02, 0x10, 0x00)
    assert switches.tables(FIRST)[FIRST]["groups"] == {
        (0, 0, 0, 0): {1, 8}, (0, 0, 1, 0): {12}, (0, 0, 2046, 0): {7}, (0, 0, 2047, 0): {9}}
    record = client.get(AR_INFO, path=LEAF)
    client.set(AR_INFO, 0, record[:2] + b"\2" + record[3:], path=LEAF)
    assert switches.tables(FIRST)[FIRST]["groups"] == {
        (0, 0, 0, 0): {1, 8}, (0, 0, 0, 1): {12}, (0, 0, 1023, 0): {7}, (0, 0, 1023, 1): {9}}


@pytest.mark.parametrize("modifier, data", [
    (1024, mask(1)), (0, mask(13)), (0, mask(0)), (1 << 24, mask(1)), (1 << 16, mask(1))])
def test_group_table_refuses(client, modifier, data):
    """A block beyond group_cap, ports that the switch lacks, tables that it lacks."""
    assert client.ask(SET, GROUP_TABLE, modifier, data, path=LEAF)[0] == INVALID


def test_forwarding_table_vectors(client, switches):
    """The examples of the wire format, to the last LID."""
    switches.set(record="2800000002")  # group tables up to 2
    data = block("40070012", "80030000", "02010005")
    assert client.set(AR_LFT, 0, data, path=LEAF) == data
    client.set(AR_LFT, 3071, block(*15 * ["80ff0000"], "000103ff"), path=LEAF)
    lft = switches.tables(FIRST)[FIRST]["lft"]
    assert [lft[0, lid] for lid in range(4)] == [
        ("free", 7, 0, 0x12), ("static", 3, 0, 0), ("bounded", 1, 2, 5), ("static", 0xFF, 0, 0)]
    assert lft[0, 0xBFFF] == ("bounded", 1, 0, 0x3FF) and len(lft) == 32
    assert client.get(AR_LFT, 1, path=LEAF) == block()  # never set


@pytest.mark.parametrize("modifier, entry", [
    (3072, "80010000"), (0, "c0010000"), (0, "800d0000"), (0, "40010400"), (0, "41010001"), (1 << 24, "80010000")])
def test_forwarding_table_refuses(client, modifier, entry):
    """A block beyond the LIDs, hash-based entries, a port, group or table that the switch lacks; none
    of the block's entries changes."""
    assert client.ask(SET, AR_LFT, modifier, block("80020000", entry), path=LEAF)[0] == INVALID
    assert client.get(AR_LFT, 0, path=LEAF) == block()


def test_old_form(client, switches):
    """32 entries of 16 bits; the other form is not there unless the capability says so."""
    assert client.ask(GET, AR_LFT_OLD, 0, path=LEAF)[0] == UNSUPPORTED
    switches.set(form="old", record="2800000001")
    assert client.ask(GET, AR_LFT, 0, path=LEAF)[0] == UNSUPPORTED
    data = block("4012", "8003", "0105", fill="80ff")
    assert client.set(AR_LFT_OLD, 1, data, path=LEAF) == data
    lft = switches.tables(FIRST)[FIRST]["lft"]
    assert [lft[0, lid] for lid in range(32, 36)] == [
        ("free", 0xFF, 0, 0x12), ("static", 3, 0, 0), ("bounded", 0xFF, 1, 5), ("static", 0xFF, 0, 0)]


def test_group_copy(client, switches):
    """Off unless the record says so; then a Set copies a group with all its sub-groups to ranges."""
    ranges = bytes.fromhex("00050003" "000a000a") + 14 * bytes.fromhex("00010001")
    client.set(GROUP_TABLE, 1, mask(3) + mask(4), path=LEAF)
    assert client.ask(SET, GROUP_COPY, 2, ranges, path=LEAF)[0] == INVALID
    switches.set(record="280010")
    client.set(GROUP_TABLE, 1, mask(3) + mask(4), path=LEAF)
    client.set(GROUP_COPY, 2, ranges, path=LEAF)
    groups = switches.tables(FIRST)[FIRST]["groups"]
    assert {group for (_, _, group, _), ports in groups.items() if ports == {3}} == {1, 2, 3, 4, 5, 10}
    assert client.ask(GET, GROUP_COPY, 2, path=LEAF)[0] == UNSUPPORTED_METHOD


def test_private_tables(client, switches):
    """Private LFTs: information, definitions, maps, and the LFT of each port and SL."""
    assert client.ask(GET, PLFT_INFO, 0, path=LEAF)[0] == UNSUPPORTED
    switches.set(plfts=3, modes=1)
    assert client.get(PLFT_INFO, path=LEAF)[:6].hex() == "000301003003"
    client.set(PLFT_INFO, 0, bytes.fromhex("00030101").ljust(64, b"\0"), path=LEAF)
    assert client.get(PLFT_INFO, path=LEAF)[3] == 1
    assert client.ask(SET, PLFT_INFO, 0, b"\0\0\0\2", path=LEAF)[0] == INVALID
    client.set(PLFT_DEFINITION, 0, bytes.fromhex("00600000" "01600000" "02600000"), path=LEAF)
    assert client.get(PLFT_DEFINITION, 0, path=LEAF)[:12].hex() == "006000000160000002600000"
    client.set(PLFT_MAP, 2, bytes.fromhex("00000001") + mask(1, 2), path=LEAF)
    assert client.get(PLFT_MAP, 2, path=LEAF)[:36] == bytes.fromhex("00000001") + mask(1, 2)
    client.set(SL_TO_PLFT, 1, bytes(16) + bytes([1] * 16) + bytes(31) + b"\2", path=LEAF)
    held = switches.tables(FIRST)[FIRST]
    assert held["sl_to_plft"][5] == 16 * [1] and held["sl_to_plft"][7][15] == 2
    assert client.ask(SET, SL_TO_PLFT, 1, b"\3", path=LEAF)[0] == INVALID
    client.set(AR_LFT, 2 << 24, block("80030000"), path=LEAF)
    assert switches.tables(FIRST)[FIRST]["lft"][2, 0] == ("static", 3, 0, 0)
    assert client.ask(GET, AR_LFT, 3 << 24, path=LEAF)[0] == INVALID


def states_of(client, path, ports):
    """By PortInfo: state of each port, the low four bits of byte 32."""
    return [client.get(PORT_INFO, port, path=path)[32] & 0x0F for port in range(ports + 1)]


def test_port_states(running, client, switches):
    """Two ports in a byte, the even one in the high four bits; switches that have the table say so in the PortInfo of
    port 0: bit 3 of bytes 60 and 61, which counts with bit 15 of bytes 20 to 23."""
    simulation, _ = running
    switches.states("all", "no")
    plain = client.get(PORT_INFO, 0, path=LEAF)
    assert client.ask(GET, PORT_STATES, 0, path=LEAF)[0] == UNSUPPORTED
    switches.states(FIRST, "yes")
    told = client.get(PORT_INFO, 0, path=LEAF)
    assert told[20:24] == (int.from_bytes(plain[20:24], "big") | 1 << 15).to_bytes(4, "big")
    assert told[60:62] == (int.from_bytes(plain[60:62], "big") | 1 << 3).to_bytes(2, "big")
    assert told[:20] + told[24:60] + told[62:] == plain[:20] + plain[24:60] + plain[62:]
    assert not client.get(PORT_INFO, 1, path=LEAF)[61] & 1 << 3
    for command in "Unlink", "ReLink":
        simulation.command(f'{command} "S-{FIRST:016x}"[8]')
        states = states_of(client, LEAF, 12)
        assert (states[8] == 1) == (command == "Unlink")
        table = client.get(PORT_STATES, 0, path=LEAF)
        assert [table[port // 2] >> 4 * (1 - port % 2) & 15 for port in range(128)] == states + [0] * 115
    assert client.ask(GET, PORT_STATES, 1, path=LEAF)[0] == INVALID
    assert client.ask(SET, PORT_STATES, 0, bytes(64), path=LEAF)[0] == UNSUPPORTED_METHOD
    assert client.ask(GET, PORT_STATES, 0, path=SPINE)[0] == UNSUPPORTED
    assert client.ask(GET, PORT_STATES, 0, path=HOST)[0] == UNSUPPORTED
    switches.states(FIRST, "default")


def test_counters(client, switches):
    """MADs are counted for the node that they address, standard attributes only when watched."""
    client.get(AR_INFO, path=LEAF)
    client.set(GROUP_TABLE, 0, mask(1), path=SPINE)
    client.get(PORT_INFO, 1, path=SPINE)
    spine = next(guid for guid in switches.counters() if guid != FIRST)
    assert switches.counters() == {FIRST: {(AR_INFO, "get"): 1}, spine: {(GROUP_TABLE, "set"): 1}}
    switches.watch()
    client.get(PORT_INFO, 1, path=SPINE)
    client.get(NODE_INFO, path=HOST)
    client.get(AR_INFO, path=LEAF)  # the counts of watched MADs come a moment later than their answers
    counters = switches.counters()
    assert counters.pop(spine) == {(GROUP_TABLE, "set"): 1, (PORT_INFO, "get"): 1}
    assert counters.pop(FIRST) == {(AR_INFO, "get"): 2}
    assert list(counters.values()) == [{(NODE_INFO, "get"): 1}]
    assert switches.totals()[PORT_INFO, "get"] == 2


def test_who_has_adaptive_routing(client, switches):
    """Hosts have none. A share of the switches has it, always the same for a seed; the others refuse
    or are silent."""
    assert client.ask(GET, GENERAL_INFO, 4, path=HOST)[0] == UNSUPPORTED
    assert client.ask(GET, GENERAL_INFO, 4, path=())[0] == UNSUPPORTED
    assert client.get(NODE_INFO, path=HOST)[2] == 1
    switches.ar("all", "share=0.5")
    spines = [(1, up, down) for up in range(7, 13) for down in range(7, 13)]
    capable = [client.ask(GET, GENERAL_INFO, 4, path=path)[0] == 0 for path in spines]
    assert 8 <= sum(capable) <= 28
    assert capable == [client.ask(GET, GENERAL_INFO, 4, path=path)[0] == 0 for path in spines]
    switches.ar("all", "silent")
    client.send(GET, GENERAL_INFO, 4, path=spines[capable.index(False)])
    assert client.ask(GET, NODE_INFO, 0, path=LEAF)[0] == 0  # the only answer
    switches.ar("all", "no")
    switches.ar(FIRST, "yes")
    assert client.ask(GET, GENERAL_INFO, 4, path=LEAF)[0] == 0
    switches.ar(FIRST, "default")


def test_silent_and_refusing(client, switches):
    """A silent or refusing switch does nothing of what it is sent; others are as ever."""
    switches.fault(FIRST, "silent")
    client.send(SET, GROUP_TABLE, 0, mask(1), path=LEAF)
    assert client.ask(GET, GENERAL_INFO, 4, path=SPINE)[0] == 0  # the only answer
    assert client.ask(GET, NODE_INFO, 0, path=LEAF)[0] == 0  # a fault of vendor attributes only
    switches.heal(FIRST)
    switches.fault("all", "refuse=0x1c", method="set")
    assert client.ask(SET, GROUP_TABLE, 0, mask(1), path=LEAF)[0] == INVALID
    assert client.get(GROUP_TABLE, 0, path=LEAF) == bytes(64)
    switches.heal()
    client.set(GROUP_TABLE, 0, mask(1), path=LEAF)


def test_slow(client, switches):
    """A slow switch does things late, in order, and holds nobody else up."""
    switches.fault(FIRST, "slow=2000")
    begin = time.monotonic()
    late = [client.send(GET, AR_INFO, 0, path=LEAF), client.send(GET, GENERAL_INFO, 4, path=LEAF)]
    soon = client.send(GET, AR_INFO, 0, path=SPINE)
    order = [client.receive()[0] for _ in range(3)]
    assert order == [soon, *late] and time.monotonic() - begin >= 2


def lost_of(client, switches, count):
    """Which of so many MADs are lost."""
    switches.fault(FIRST, "lose=5")
    sent = []
    got = set()
    for index in range(count):  # a MAD to a sound switch after each says when to stop waiting
        sent.append(client.send(SET, GROUP_TABLE, index, mask(1), path=LEAF))
        last = client.send(GET, AR_INFO, 0, path=SPINE)
        while (transaction := client.receive()[0]) != last:
            got.add(transaction)
    return [index for index, transaction in enumerate(sent) if transaction not in got]


def test_loses_five_percent(client, switches):
    """About 5% of MADs get no answer, by seed; half of them have been done all the same."""
    lost = lost_of(client, switches, 1000)
    assert 30 <= len(lost) <= 75 and switches.lost() == len(lost)
    switches.heal()
    done = [index for index in lost if client.get(GROUP_TABLE, index, path=LEAF) != bytes(64)]
    assert 0.25 * len(lost) < len(done) < 0.75 * len(lost)


def test_reset_and_poke(client, switches):
    """A reset takes all tables; a poke changes one entry without a MAD being counted."""
    client.set(GROUP_TABLE, 0, mask(1), path=LEAF)
    client.set(AR_LFT, 0, block("40070000"), path=LEAF)
    switches.poke(FIRST, AR_LFT, 0, 1, b"\x08")
    assert client.get(AR_LFT, 0, path=LEAF) == block("40080000")
    assert switches.counters()[FIRST] == {(GROUP_TABLE, "set"): 1, (AR_LFT, "set"): 1, (AR_LFT, "get"): 1}
    switches.reset(FIRST)
    held = switches.tables(FIRST)[FIRST]
    assert (held["groups"], held["lft"], held["enabled"]) == ({}, {}, False)


def test_faults_of_standard_attributes(client, switches):
    """Forwarding tables and the like pass to ibsim, or not, by fault; ibsim never sees what a fault
    takes, and its answers can be lost."""
    before = client.get(LFT, 0, path=LEAF)
    switches.fault(FIRST, "refuse=0x1c", attribute=LFT, method="set")
    assert client.ask(SET, LFT, 0, bytes(64), path=LEAF)[0] == INVALID
    assert client.get(LFT, 0, path=LEAF) == before
    switches.heal()
    switches.fault(FIRST, "lose=100", attribute=LFT, method="set")
    for _ in range(20):
        client.send(SET, LFT, 0, bytes(64), path=LEAF)
    last = client.send(GET, LFT, 0, path=SPINE)
    assert client.receive()[0] == last  # the only answer
    switches.heal()
    assert client.get(LFT, 0, path=LEAF) == bytes(64)
    client.set(LFT, 0, before, path=LEAF)


def test_follows_the_fabric(running, client, switches):
    """A path leads to the node that is there now: a cable goes, and comes back to another port."""
    simulation, _ = running
    client.set(GROUP_TABLE, 0, mask(5), path=SPINE)
    simulation.command('Unlink "S-0000000000200000"[7]')
    with pytest.raises(Unreachable):
        client.ask(GET, GROUP_TABLE, 0, path=SPINE)
    simulation.command('Unlink "S-0000000000200000"[8]')
    simulation.command('Link "S-0000000000200000"[8] "S-0000000000200240"[1]')
    assert client.get(GROUP_TABLE, 0, path=(1, 8)) == mask(5).ljust(64, b"\0")
    simulation.command('Unlink "S-0000000000200000"[8]')
    simulation.command('Link "S-0000000000200000"[7] "S-0000000000200240"[1]')
    simulation.command('Link "S-0000000000200000"[8] "S-0000000000200250"[1]')
    assert client.get(GROUP_TABLE, 0, path=SPINE) == mask(5).ljust(64, b"\0")


def test_clients_that_die(running, client):
    """Killed clients do not use up ibsim's places for clients, of which there are ten."""
    simulation, _ = running
    for _ in range(25):
        RawClient(simulation).__enter__().abandon()
    with RawClient(simulation, host="H_0_0_3") as other:
        assert other.get(NODE_INFO, path=LEAF)[12:20] == FIRST.to_bytes(8, "big")


def bring_up(tree, emulated, prepare=lambda emulated: None, **options):
    """{switch: ports} after OpenSM's bring-up."""
    with Simulation(tree, emulator=emulated) as simulation:
        if emulated:
            prepare(emulated)
        log = simulation.opensm("minhop", options=options).once()
        assert "SUBNET UP" in log
        if emulated:
            emulated.heal()
        return tables(simulation.read_tables())


def test_opensm_sees_no_difference(tree):
    """OpenSM programs the same tables with the emulator in front, and the emulator sees each block
    of each switch once."""
    emulated = Emulator(setup=["watch on"])
    with Simulation(tree, emulator=emulated) as simulation:
        simulation.opensm("minhop", options=fabric_sim.SURE).once()
        seen = emulated.counters()
        found = tables(simulation.read_tables())
        assert "2800" in simulation.run("smpdump", 217, "0xff20").replace(" ", "")
    assert found == bring_up(tree, None)
    switches = {guid: counts for guid, counts in seen.items() if (LFT, "set") in counts}
    assert len(switches) == 108 and {counts[LFT, "set"] for counts in switches.values()} == {6}


def test_opensm_survives_losses(tree):
    """With 2% of all MADs lost at every switch, requests are repeated and the subnet comes up."""
    emulated = Emulator(seed=3)
    found = bring_up(tree, emulated, lambda switches: switches.fault("all", "lose=2", attribute="all"),
                     transaction_timeout=1000, transaction_retries=10)
    assert found == bring_up(tree, None)


QUESTIONS = """
import ctypes
umad = ctypes.CDLL("libibumad.so.3")
umad.umad_get_mad.restype = ctypes.c_void_p
port = umad.umad_open_port(None, 1)
agent = umad.umad_register(port, 0x81, 1, 0, None)
assert port >= 0 and agent >= 0
for number in range(200):
    packet = (ctypes.c_ubyte * (umad.umad_size() + 256))()
    umad.umad_set_addr(packet, 0xffff, 0, 0, 0)
    mad = bytearray(256)  # Get NodeInfo of the switch next to it, by a directed route
    mad[0:8] = bytes((1, 0x81, 1, 1, 0, 0, 0, 1))
    mad[8:16] = number.to_bytes(8, "big")
    mad[16:18] = (0x11).to_bytes(2, "big")
    mad[32:36] = b"\\xff" * 4
    mad[129] = 1
    ctypes.memmove(umad.umad_get_mad(packet), bytes(mad), 256)
    assert umad.umad_send(port, agent, packet, 256, 5000, 0) == 0
"""


def test_a_process_ends_while_answers_come(running, switches):
    """Answers come while a process ends: it does end."""
    switches.fault(FIRST, "slow=20", attribute=NODE_INFO)
    environment = dict(running[0].environment, LD_PRELOAD=running[0].preload())
    for _ in range(20):
        subprocess.run(["/usr/bin/python3", "-c", QUESTIONS], env=environment, check=True, timeout=fabric_sim.PATIENCE)
    switches.heal()
