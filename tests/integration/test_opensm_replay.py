# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-replay says of each Set that switches took what the slow checker says, for losses and returns under a live
OpenSM with adaptive routing, and for the same records with entries and groups that nobody sent."""

import random
import time
from collections import Counter, namedtuple

import emulator
import fabric_sim
import flaps
import independent_check
import pytest
import repair_adaptive
import repair_record
import replay_campaign
from ar_sim import programmed, sweep
from cli_testing import THOROUGH
from emulator import AR_LFT, GROUP_TABLE, Emulator
from fabric_sim import SURE, Simulation, generate
from repair_sim import REPAIR
from replay_checker import REPLAY, Checker
from replay_oracle import Oracle

MISSING = fabric_sim.missing_tools() + emulator.missing() + [str(path) for path in (fabric_sim.CLOCK, REPLAY)
                                                             if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")
TREES = {"two levels, aggregation nodes": ("--children=4,4", "--parents=1,4", "--aggregation-nodes"),
         "three levels": ("--children=3,3,3", "--parents=1,3,3"),
         "three levels, aggregation nodes": ("--children=2,3,3", "--parents=1,3,3", "--aggregation-nodes")}
CHANGES = 8
SEEDS = (0, 1) if THOROUGH else (1,)  # of damaged records; an odd one goes by AR tables

# plain, adaptive: Sets; cuts: [(when, dead ends)]
Record = namedtuple("Record", "topology home fabric plain adaptive cuts")


def ends_without(damage, name, fails):
    """The dead ends of cables once a part has failed or returned."""
    down = dict(damage.down)
    if fails:
        down[name] = damage.parts[name]
    else:
        del down[name]
    return {end for part in down.values() for near in part for end in (near, damage.intact.cable[near])}


@pytest.fixture(scope="module", name="record", params=TREES)
def fixture_record(request, tmp_path_factory):
    folder, emulated, cuts = tmp_path_factory.mktemp("replay"), Emulator(), []
    with Simulation(generate(folder, "xgft", *TREES[request.param]), emulator=emulated, clock=True) as simulation:
        emulated.record(simulation.folder / "ar-record")
        with simulation.opensm("ar_dmodk", options=SURE, heddle_conf=REPAIR) as opensm:
            programmed(opensm)
            damage = flaps.Damage(simulation, request.param)
            (folder / "fabric.topo").write_text(simulation.run("ibnetdiscover"))
            home = next(node for node, name in damage.intact.name.items() if simulation.host in (node, name))
            for _ in range(CHANGES):
                name, fails = damage.choose()
                cuts.append((time.time_ns(), ends_without(damage, name, fails)))
                damage.apply(name, fails)
                sweep(opensm)
        plain = repair_record.read_sets(simulation.folder / "clock", 0)[0]
        adaptive = repair_adaptive.read_sets(simulation.folder / "ar-record", 0)[0]
    return Record(folder / "fabric.topo", home, damage.intact, plain, adaptive, cuts)


def slowly(record, own):
    """[(kind, when, ...)] of the oracle."""
    oracle, found = Oracle(record.fabric, record.home, own), []
    steps = [(when, 0, dead) for when, dead in record.cuts] + [(one.when, 1, one) for one in record.plain]
    for when, kind, item in sorted(steps + [(one.when, 2, one) for one in record.adaptive], key=lambda step: step[:2]):
        if not kind:
            oracle.cut(item)
            found.append(("cut", when, oracle.loop(), oracle.missing()))
            continue
        taken = oracle.take(item)
        if taken is None:
            continue
        switch, changed, loop, still = taken
        found += [("loop", when, switch, loop)] * bool(loop) + [("still", when, switch, still)] * bool(still)
        found.append(("set", when, switch, len(changed), oracle.loop(), oracle.missing()))
    return found


def quickly(record, own, folder):
    """The same of heddle-replay."""
    (folder / "clock").write_bytes(b"".join(
        repair_record.RECORD.pack(one.when, one.block.to_bytes(4, "big"), len(one.path), bytes([0, *one.path]), one.ports)
        for one in record.plain))
    (folder / "sets").write_text("".join(
        f"{one.when} 0x{one.switch.split('-')[1]} 0x{one.attribute:x} 0x{one.modifier:x} {one.data.hex()}\n"
        for one in record.adaptive))
    with Checker(record.topology, record.home, folder / "clock", folder / "sets", own, each=True) as checker:
        for when, dead in record.cuts:
            checker.cut(when, dead)
        findings, _ = checker.go()
    found = []
    for kind, when, words in findings:
        if kind == "cut":
            found.append((kind, when, words[0], int(words[1])))
        elif kind in ("loop", "still"):
            found.append((kind, when, words[1], [int(word) for word in words[2:]]))
        elif kind == "set":
            found.append((kind, when, words[1], int(words[3]), words[4], int(words[5])))
    return found


def damage_set(one, rng):
    """Another port, entry or group."""
    if isinstance(one, repair_record.Set):
        ports = bytearray(one.ports)
        used = [i for i, port in enumerate(ports) if port != independent_check.NO_ENTRY]
        for i in rng.sample(used, min(3, len(used))):
            ports[i] = rng.randint(1, 8)
        return one._replace(ports=bytes(ports))
    data = bytearray(one.data)
    if one.attribute == AR_LFT:
        at = 4 * rng.randrange(16)
        data[at:at + 4] = bytes([rng.choice((0x00, 0x40, 0x80)), rng.randint(1, 8), 0, rng.randrange(4)])
    elif one.attribute == GROUP_TABLE:
        data[31 + 32 * rng.randrange(2)] ^= rng.randrange(1, 256)
    return one._replace(data=bytes(data))


@pytest.mark.parametrize("own", (False, True), ids=("by both tables", "by AR tables"))
def test_of_a_live_record(record, own, tmp_path):
    assert len(record.adaptive) > 50 and len(record.plain) > 50
    found = quickly(record, own, tmp_path)
    assert found == slowly(record, own)
    if own:
        assert not [line for line in found if line[0] == "loop" or line[0] == "set" and line[4] in ("hosts", "groups")]


def test_of_damaged_records(record, tmp_path):
    seen = Counter()
    for seed in SEEDS:
        rng = random.Random(f"damage {seed}")
        plain, adaptive = ([damage_set(one, rng) if rng.random() < 0.05 * (1 + seed) else one for one in sets]
                           for sets in (record.plain, record.adaptive))
        damaged = record._replace(plain=plain, adaptive=adaptive)
        found = quickly(damaged, bool(seed % 2), tmp_path)
        assert found == slowly(damaged, bool(seed % 2)), f"seed {seed}"
        seen.update(line[0] for line in found)
        seen.update(line[4] for line in found if line[0] == "set")
    print(dict(seen))
    assert seen["loop"] and seen["still"] and seen["none"] and seen["hosts"] + seen["static-hosts"]


def test_a_campaign(tmp_path):
    """Losses and returns of each kind: nothing loops, and the switches hold what the record says."""
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4", "--aggregation-nodes")
    tally, faults = replay_campaign.run(netlist, 1, 1, print, compare=8)
    assert faults == []
    assert tally["events"] == 8 and tally["sets"] > 100 and tally["lfts"] > 100


@pytest.mark.parametrize("nodes", ((), ("--aggregation-nodes",)), ids=("hosts", "aggregation nodes"))
def test_losses_together(tmp_path, nodes):
    """Several cables at once, and two leaves without a switch in common, so that dmodk gives way to updown and comes
    back: no packet loops and no credit loop forms that the log has not announced with its number. Hosts alone have none."""
    netlist = generate(tmp_path, "xgft", "--children=4,4,4", "--parents=1,4,4", *nodes)
    tally, faults = replay_campaign.run(netlist, 1, 2, print, replay_campaign.TOGETHER, engines="dmodk,updown", compare=8)
    assert faults == []
    assert tally["events"] == 8 and tally["sets"] > 100
    assert nodes or not any(tally[name] for name in replay_campaign.LOOPS)
