# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adaptive routing, from OpenSM into emulated switches."""

import json
import re
import signal
from random import Random

import pytest

import emulator
import fabric_sim
import schemas
from ar_sim import differing, missing_blocks, plan_of, programmed, sweep, table_sets
from emulator import AR_INFO, AR_LFT, EXT_PORT_INFO, GENERAL_INFO, GROUP_TABLE, Emulator
from fabric_sim import Simulation, Topology, generate, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools() or emulator.missing()),
                                reason=f"needs {fabric_sim.missing_tools()} {emulator.missing()}")
FABRICS = {
    "xgft": ("xgft", "--children=4,4,4", "--parents=1,4,4"),
    "damaged": ("xgft", "--children=4,32", "--parents=1,16", "--remove-links=15"),
    "pair": ("xgft", "--children=3,2", "--parents=1,1", "--parallel=1,2"),
    "torus": ("torus", "--dims=4,4", "--hosts=2", "--parallel=2"),
    "hypercube": ("torus", "--dims=2,2,2,2", "--hosts=2", "--parallel=2"),
}


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ar")
    return lambda name: generate(folder, *FABRICS[name])


@pytest.mark.parametrize("fabric, engine, algorithm", (
    ("xgft", "ar_dmodk", "tree"), ("pair", "ar_updown", "lag"), ("torus", "ar_updown", "lag"),
    ("hypercube", "ar_updown", "lag")))
def test_switches_hold_the_plan(netlist, fabric, engine, algorithm):
    """What the switches hold equals `heddle ar plan` from dumps, number by number; each block that
    the plan has is set at most once, and none is read."""
    emulated = Emulator()
    with Simulation(netlist(fabric), emulator=emulated) as simulation:
        conf = f"[ar]\nalgorithm = {algorithm}\n"
        with simulation.opensm(engine, options=fabric_sim.SURE, heddle_conf=conf) as opensm:
            said = programmed(opensm)
            seen, held = emulated.counters(), emulated.tables()
            plan = plan_of(simulation, "--algorithm", algorithm)
        assert said["algorithm"] == algorithm and said["lids"] > 0
        assert differing(plan, held, numbers=True) == []
        used = [guid for guid, switch in plan.items() if switch["groups"]]
        assert len(used) == said["switches"] > 0
        lids = 1 + max(lid["lid"] for switch in plan.values() for lid in switch["lids"])
        for guid, switch in plan.items():
            groups = max((group["number"] for group in switch["groups"]), default=-1) + 1
            blocks = {(GENERAL_INFO, "get"): 1, (AR_INFO, "get"): 1}
            if guid in used:
                blocks |= {(GROUP_TABLE, "set"): -(-groups // 2), (AR_LFT, "set"): -(-lids // 16),
                           (AR_INFO, "set"): 1}
            assert all(seen[guid].get(key, 0) <= count for key, count in blocks.items()), guid
            assert seen[guid].keys() <= blocks.keys()
        needed = said["gets"] + said["sets"]
        assert needed <= said["mads"] <= 1.05 * needed


def test_switches_with_few_groups(netlist):
    """A damaged tree that needs 29 groups in a switch, and switches with room for 4, 16 and 64: they
    hold the plan for so many groups, number by number, and status agrees. More room makes more
    entries adaptive, until there is enough."""
    adaptive, groups = [], []
    emulated = Emulator()
    with Simulation(netlist("damaged"), emulator=emulated) as simulation:
        for cap in (4, 16, 64):
            emulated.set("all", group_cap=cap)
            log = simulation.folder / "osm.log"
            since = len(log.read_text()) if log.exists() else 0
            with simulation.opensm("ar_dmodk") as opensm:
                said = programmed(opensm, since)
                plan, held = plan_of(simulation, "--group-cap", cap), emulated.tables()
                status = status_of(simulation, simulation.discover(), simulation.read_tables())
            assert differing(plan, held, numbers=True) == [] and status["differences"] == 0
            groups.append(max(len(switch["groups"]) for switch in plan.values()))
            adaptive.append(sum(entry[0] != "static" for switch in held.values()
                                for entry in switch["lft"].values()))
            assert said["groups"] == sum(len(switch["groups"]) for switch in plan.values())
    print(f"most groups of a switch {groups}, adaptive entries {adaptive}")
    assert groups == [4, 16, 29] and adaptive[0] < adaptive[1] < adaptive[2]


def test_resync_mends_a_changed_entry(netlist):
    """A sweep that changes no route reads the tables back, and mends what somebody has changed with
    as many Sets as blocks differ."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            before = emulated.tables()
            some = [guid for guid, held in before.items() if held["enabled"]][:2]
            emulated.poke(some[0], AR_LFT, 3, 1, b"\x05")
            emulated.poke(some[1], GROUP_TABLE, 0, 31, b"\x02")
            assert emulated.tables() != before
            assert sweep(opensm)["sets"] == 2
            assert emulated.tables() == before
            assert sweep(opensm)["sets"] == 0


def adaptive_beyond(emulated, last):
    """Switches with adaptive entries for LIDs above this one."""
    return {guid for guid, held in emulated.tables().items()
            for (_, lid), (state, port, _, _) in held["lft"].items()
            if lid > last and (state != "static" or port != 0xFF)}


def test_lids_above_the_highest_one_have_gone(netlist):
    """The host with the highest LIDs goes: no switch keeps an entry for them. It comes back, and has its entries."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options={**fabric_sim.SURE, "lmc": 4}) as opensm:
            programmed(opensm)
            before = emulated.tables()
            fabric = Topology(simulation.discover())
            host = max(fabric.hosts, key=fabric.lids.get)
            last = fabric.lids[host][0] - 1
            wants = adaptive_beyond(emulated, last)
            assert len(wants) > 10
            end = next(end for end, peer in fabric.peer.items() if peer[0] == host)
            simulation.command(f'Unlink "S-{end[0]:016x}"[{end[1]}]')
            sweep(opensm)
            wait_until(lambda: not adaptive_beyond(emulated, last), "entries for LIDs that have gone")
            assert differing(plan_of(simulation), emulated.tables()) == []
            simulation.command(f'ReLink "S-{end[0]:016x}"[{end[1]}]')
            sweep(opensm)
            wait_until(lambda: adaptive_beyond(emulated, last) == wants, "entries of a host that came back")
            wait_until(lambda: emulated.tables() == before, "the tables of before")


# Options of `heddle ar` on a busy machine.
PATIENT = ("--timeout", 10000)


def status_of(simulation, fabric, tables, *options, command="status"):
    report = json.loads(simulation.run(fabric_sim.HEDDLE, "ar", command, "--json", *PATIENT, *options, fabric, tables,
                                       check=False))
    return schemas.validate(f"ar {command}", report)


def test_status_tells_the_truth(netlist):
    """`heddle ar status` says that the switches hold the plan. After one entry is changed behind its
    back, status and diff name the switch, the LID and both states; after the next sweep all is well.
    A switch that is silent does not count as holding the plan."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            fabric, tables = simulation.discover(), simulation.read_tables()
            status = status_of(simulation, fabric, tables, "--raw")
            held = emulated.tables()
            assert status["planned"] and status["differences"] == 0 and len(status["switches"]) == 48
            for switch in status["switches"]:
                seen = held[int(switch["guid"], 16)]
                assert switch["state"] == ("on" if seen["enabled"] else "off")
                assert bytes.fromhex(switch["adaptive_routing_info"]) == seen["info"]
                assert switch["transports"] == ["UD", "RC", "UC", "DC"]
                assert switch["groups"] == len(seen["groups"]) * seen["enabled"]
            guid = next(guid for guid in held if held[guid]["enabled"])
            lid = next(lid for (_, lid), entry in held[guid]["lft"].items() if entry[0] == "bounded")
            planned = held[guid]["lft"][0, lid]
            emulated.poke(guid, AR_LFT, lid // 16, 4 * (lid % 16), b"\x80")
            assert status_of(simulation, fabric, tables)["differences"] == 1
            difference, = status_of(simulation, fabric, tables, command="diff")
            assert (int(difference["guid"], 16), difference["lid"]) == (guid, lid)
            assert difference["planned"]["state"] == "bounded"
            assert difference["held"] == {"state": "static", "port": planned[1], "ports": []}
            text = simulation.run(fabric_sim.HEDDLE, "ar", "status", *PATIENT, fabric, tables, check=False)
            assert text.endswith("1 entries differ from the plan\n"), text
            sweep(opensm)
            status = status_of(simulation, fabric, tables)
            assert status["differences"] == status["unread"] == 0
            emulated.fault(guid, "silent")
            status = status_of(simulation, "--timeout", 400, fabric, tables)
            assert status["differences"] == 0 and status["unread"] == 1
            with pytest.raises(fabric_sim.Failure, match="(?s)exit 1.*\n1 switches could not be read; "
                                                         "all others hold the plan\n"):
                simulation.run(fabric_sim.HEDDLE, "ar", "status", "--timeout", 400, fabric, tables)
            with pytest.raises(fabric_sim.Failure, match=f"switch 0x{guid:016x} could not be read"):
                simulation.run(fabric_sim.HEDDLE, "ar", "status", "--timeout", 400, "-o", "held.far", fabric, tables)
            assert not (simulation.folder / "held.far").exists()


def test_status_and_plan_follow_the_configuration(netlist):
    """heddle.conf excludes a switch, limits the groups, and says how switches count sub-groups. With
    that file status and diff find nothing, and the offline plan has the same; without it they take
    the site's wishes for differences. Sections of engines in the file are none of their business."""
    conf = "[ar]\nalgorithm = tree\ngroup_cap = 1\n\n[ar.switch 0x200000]\nenable = no\n\n" \
           "[ar.quirks]\nactive_sub_groups = less-one\n\n[dmodk]\n"
    emulated = Emulator(setup=["set all active_minus_one=1"])
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", heddle_conf=conf) as opensm:
            programmed(opensm)
            fabric, tables, held = simulation.discover(), simulation.read_tables(), emulated.tables()
            assert not held[0x200000]["enabled"] and sum(row["enabled"] for row in held.values()) == 31
            given = ("--config", opensm.conf)
            assert status_of(simulation, fabric, tables, *given)["differences"] == 0
            assert status_of(simulation, fabric, tables, *given, command="diff") == []
            assert differing(plan_of(simulation, *given), held) == []
            different = {int(row["guid"], 16)
                         for row in status_of(simulation, fabric, tables, command="diff")}
            assert 0x200000 in different
            assert differing(plan_of(simulation), held) == [0x200000]


def test_links_fail_and_return(netlist):
    """24 random sweeps of links that fail and return. After each the switches hold the plan, status
    agrees, and no block was set but those that differ, those with entries that were static
    meanwhile, twice as many at most, all in all. Nine tenths of the adaptive entries stay adaptive all the time."""
    random = Random(5)
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            cables = inter_switch_cables(simulation)
            down, surplus, sent, static, shares = [], 0, 0, 0, []
            after = emulated.tables()
            for turn in range(24):
                since = len(opensm.log())
                emulated.zero()
                for _ in range(random.randint(1, 3)):
                    if down and random.random() < 0.5:
                        simulation.command("ReLink " + down.pop(random.randrange(len(down))))
                    else:
                        cable = cables.pop(random.randrange(len(cables)))
                        simulation.command("Unlink " + cable)
                        down.append(cable)
                needed = 0
                for _ in range(2):  # the first one may have begun before the last command
                    before = after
                    sweep(opensm)
                    after = emulated.tables()
                    needed += missing_blocks(before, after)
                tables, infos = table_sets(emulated)
                assert differing(plan_of(simulation), after) == [], turn
                surplus, sent = surplus + tables - needed, sent + tables
                narrowed = narrowed_entries(opensm.log()[since:])
                static += sum(entries for entries, _ in narrowed)
                shares += [1] * opensm.log()[since:].count("all entries stay adaptive while the tables change")
                shares += [1 - entries / of for entries, of in narrowed]
                # how many sweeps the losses come in is up to the machine, and some pairs of tables have no step between
                shares += [0] * opensm.log()[since:].count("is off while the tables change: credit loop")
                # where a cable dies while a sweep is under way, silent switches are asked several times
                assert infos <= 12 * len(after)
            status = status_of(simulation, simulation.discover(), simulation.read_tables())
            assert status["differences"] == 0
            assert "ERR HD11" not in opensm.log()
        print(f"{sent} blocks set, {surplus} more than differ; at least {min(shares):.1%} and on the "
              f"mean {sum(shares) / len(shares):.1%} of the entries stayed adaptive")
        assert sum(shares) >= 0.9 * len(shares) and len(shares) > 12
        # entries become static, and adaptive again; a block can have entries of several steps, and sweeps of which the
        # test knows nothing may come between
        assert sent <= 2 * (sent - surplus + static)


def narrowed_entries(log):
    """[(entries that are static while tables change, of so many adaptive ones)]."""
    return [(int(few), int(of)) for few, of in
            re.findall(r"while the tables change, (\d+) of (\d+) adaptive entries", log)]


def inter_switch_cables(simulation):
    """The near ends of the cables between switches, as ibsim's console names them."""
    topology = fabric_sim.Topology(simulation.discover("cables.topo"))
    return [f'"S-{node:016x}"[{port}]' for (node, port), (peer, _) in sorted(topology.peer.items())
            if node in topology.switches and peer in topology.switches and node < peer]


def bring_up(netlist, folder, engine, setup):
    """Brings a fabric up. What reached the switches until then, in order: [(GUID, method, attribute,
    modifier)]; the emulator as it is when adaptive routing is programmed, and the plan for it."""
    trace = folder / engine
    emulated = Emulator(setup=[*setup, "watch on", f"trace {trace}"])
    with Simulation(netlist, emulator=emulated) as simulation:
        with simulation.opensm(engine, options={"transaction_timeout": 600}) as opensm:
            emulated.trace(None)  # it is complete when it is closed
            rows = [line.split()[:4] for line in trace.read_text().splitlines()]
            said = programmed(opensm) if engine.startswith("ar_") else None
            held, seen, plan = emulated.tables(), emulated.counters(), plan_of(simulation)
    return [(int(row[0], 16), row[1], int(row[2], 0), int(row[3], 0)) for row in rows], said, held, seen, plan


def test_mixed_fabric(netlist, tmp_path):
    """A third of the switches has no AR, and does not even answer: the others hold the plan. OpenSM's
    bring-up sends the same as without AR, and waits for one window of MADs without an answer: before
    the first forwarding table goes out, each silent switch is only asked what it can do, three times
    at most. Nothing else of AR comes before that but what switches it off."""
    plain, *_ = bring_up(netlist("xgft"), tmp_path, "dmodk", [])
    mixed, said, held, seen, plan = bring_up(netlist("xgft"), tmp_path, "ar_dmodk",
                                             ["ar all share=0.67", "ar all silent"])
    able = {guid for guid, counts in seen.items() if (AR_INFO, "get") in counts}
    without = plan.keys() - able
    assert 8 < len(without) < 24 and said["switches"] > 8
    assert differing(plan, held, without) == []
    assert {row for row in mixed if row[2] < 0xFF00} == {row for row in plain if row[2] < 0xFF00}
    first = next(place for place, row in enumerate(mixed) if row[1:3] == ("set", emulator.LFT))
    before = [row for row in mixed[:first] if row[2] >= 0xFF00]
    asked = [row[0] for row in before if row[0] in without]
    assert {row[1:3] for row in before} <= {("get", GENERAL_INFO), ("get", AR_INFO), ("set", AR_INFO)}
    assert {row[1:3] for row in before if row[0] in without} == {("get", GENERAL_INFO)}
    assert set(asked) == without and max(map(asked.count, without)) <= 3  # after 1 and 3 of the 3 time-outs
    print(f"{len(without)} silent switches, {len(asked)} MADs to them before the first table")


@pytest.mark.parametrize("kind, attribute, method, left", (
    ("silent", "vendor", None, False), ("silent", AR_LFT, "set", True), ("refuse=0x1c", AR_LFT, "set", True),
    ("refuse=0x1c", AR_INFO, "set", True), ("slow=150", "vendor", None, None), ("lose=5", "vendor", None, None)))
def test_faults(netlist, kind, attribute, method, left):
    """One switch has a fault. All others hold the plan; it holds the plan or has no AR, and the log
    names it once. After it is healed, it gets the plan."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        guid = 0x200000
        emulated.fault(guid, kind, attribute, method)
        conf = "[ar]\nerror_window_s = 600\n" if left and kind != "silent" else ""
        options = {"transaction_timeout": 600}
        with simulation.opensm("ar_dmodk", heddle_conf=conf, options=options) as opensm:
            programmed(opensm)
            plan, held = plan_of(simulation), emulated.tables()
            if left is None:
                assert differing(plan, held) == []
                return
            assert differing(plan, held) == [guid] and not held.get(guid, {}).get("enabled")
            name = f"switch 0x{guid:016x}"
            assert opensm.log().count(f"{name} has too many errors" if left else
                                      f"{name} does not say") == 1
            sweep(opensm)
            assert opensm.log().count(name) == 1 or not conf
            emulated.heal()
            opensm.simulation.folder.joinpath("heddle.conf").write_text("[ar]\nerror_window_s = 0\n")
            sweep(opensm)
            assert differing(plan, emulated.tables()) == []


def test_a_switch_loses_its_tables(netlist):
    """After a reset of its tables a switch gets them again with the next sweep."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk") as opensm:
            programmed(opensm)
            plan = plan_of(simulation)
            emulated.reset(0x200000)
            assert differing(plan, emulated.tables()) == [0x200000]
            sweep(opensm)
            assert differing(plan, emulated.tables()) == []


class AtHost(fabric_sim.OpenSM):
    """An OpenSM of its own at another host."""

    def __init__(self, simulation, host, name, **settings):
        super().__init__(simulation, "ar_dmodk", **settings)
        self.host = host
        self.folder = simulation.folder / name
        self.folder.mkdir()
        self.log_file = self.folder / "osm.log"

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.folder))


def test_two_subnet_managers(netlist):
    """A second OpenSM of higher priority takes over, and ends; the first takes over again. After each
    the switches hold the plan. Adaptive routing was off before, so no block is read, and each is set once."""
    # no Set is repeated, and a manager that has gone is not waited for too long
    options = {"sminfo_polling_timeout": 200, "polling_retry_number": 2, "transaction_timeout": 2000}
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with AtHost(simulation, "H_0_0_0", "one", options={**options, "sm_priority": 3}) as one:
            programmed(one)
            plan, first = plan_of(simulation), emulated.tables()
            assert differing(plan, first) == []
            emulated.zero()
            since = len(one.log())
            with AtHost(simulation, "H_0_0_1", "two", options={**options, "sm_priority": 9}) as two:
                programmed(two)
                plan, second = plan_of(simulation), emulated.tables()
                assert differing(plan, second) == []
                tables, infos = table_sets(emulated)
                assert tables == missing_blocks({}, second) and infos <= 2 * len(second)
                assert "Entering STANDBY state" in one.log()[since:]
                emulated.zero()
                since = len(one.log())
            programmed(one, since)
            plan, third = plan_of(simulation), emulated.tables()
            assert differing(plan, third) == []
            tables, infos = table_sets(emulated)
            assert tables == missing_blocks(second, third) and infos <= 2 * len(third)


def order_of(trace, attributes):
    """What was sent to each switch, in order: [(method, attribute, modifier)]."""
    sent = {}
    for line in trace.read_text().splitlines():
        guid, method, attribute, modifier = line.split()[:4]
        if method.lower() in ("set", "2") and int(attribute, 0) in attributes:
            sent.setdefault(int(guid, 16), []).append(int(attribute, 0))
    return sent


def test_unknown_tables_are_switched_off_first(netlist):
    """A new OpenSM does not know what the switches hold: it switches AR off at each before the switch
    gets a forwarding table, and enables it after all other Sets."""
    emulated = Emulator(setup=["watch on"])
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("ar_dmodk", options=fabric_sim.SURE) as opensm:
            programmed(opensm)
        on = {guid for guid, held in emulated.tables().items() if held["enabled"]}
        for guid in on:
            emulated.poke(guid, AR_LFT, 3, 1, b"\x05")
        trace = simulation.folder / "trace"
        emulated.trace(trace)
        since = len(opensm.log())
        with simulation.opensm("ar_dmodk", options=fabric_sim.SURE, heddle_conf="") as opensm:
            programmed(opensm, since)
            emulated.trace(None)
        sent = order_of(trace, {emulator.LFT, AR_INFO, AR_LFT, GROUP_TABLE})
        assert on and on <= sent.keys()
        for guid in on:
            infos = [place for place, attribute in enumerate(sent[guid]) if attribute == AR_INFO]
            others = [place for place, attribute in enumerate(sent[guid]) if attribute != AR_INFO]
            assert AR_LFT in sent[guid] and emulator.LFT in sent[guid]
            assert infos[0] < min(others) and infos[-1] > max(others) and len(infos) == 2, sent[guid]


def test_killed_while_programming(netlist):
    """OpenSM is killed with SIGKILL in the middle. The next one sets all blocks, once each, where adaptive routing is
    off."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        emulated.fault("all", "slow=1000")
        with simulation.opensm("ar_dmodk", options=fabric_sim.SURE) as opensm:
            fabric_sim.wait_until(lambda: table_sets(emulated)[0] > 100, "some Sets")
            opensm.process.send_signal(signal.SIGKILL)
            opensm.process.wait()
        fabric_sim.wait_until(lambda: emulated.waiting() == 0, "the switches to do what they were sent")
        emulated.heal()
        before = emulated.tables()
        emulated.zero()
        since = len(opensm.log())
        with simulation.opensm("ar_dmodk", options=fabric_sim.SURE) as opensm:
            programmed(opensm, since)
            tables, infos = table_sets(emulated)
            after = emulated.tables()
            assert differing(plan_of(simulation), after) == []
        assert 0 < missing_blocks(before, after) < missing_blocks({}, after)
        assert tables == missing_blocks({}, after)
        assert infos <= 2 * len(after)


def test_refused_plan(netlist):
    """TREE on a torus closes a credit loop: the log names it, once, and nothing is programmed."""
    emulated = Emulator()
    with Simulation(netlist("torus"), emulator=emulated) as simulation:
        with simulation.opensm("ar_updown", heddle_conf="[ar]\nalgorithm = tree\n") as opensm:
            opensm.wait_for("ERR HD11: adaptive routing: it is off: no plan: ")
            for _ in range(3):
                opensm.sweep()
            errors = re.findall(r"ERR HD11: (.*)", opensm.log())
        assert len(errors) == 1 and " -> " in errors[0] and "on VL" in errors[0]
        assert table_sets(emulated) == (0, 0)


@pytest.mark.parametrize("name, engine, fabric", (
    ("ar_updn", "updown", "xgft"), ("ar_ftree", "dmodk", "pair"), ("ar_dor", "spf", "torus"), ("ar_auto", None, "xgft")))
def test_names_of_the_vendor(netlist, name, engine, fabric):
    """The vendor's names route with our nearest engine and have AR, and the log says so. ar_auto is
    our engine auto with AR."""
    emulated = Emulator()
    with Simulation(netlist(fabric), emulator=emulated) as simulation:
        with simulation.opensm(name, options={"qos": "TRUE"}) as opensm:
            assert programmed(opensm)["switches"] > 0
            log = opensm.log()
    said = re.findall(rf"routing_engine {name}: Heddle routes with its engine (\w+)", log)
    assert said == [engine] if engine else not said


def test_without_the_name(netlist):
    """Without ar_ and without `enable` no vendor MAD is sent but what asks at the start; `enable = no` later switches AR
    off."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        with simulation.opensm("dmodk") as opensm:
            for _ in range(2):
                opensm.sweep()
            assert set(emulated.totals().items()) >= {((GENERAL_INFO, "get"), 48), ((AR_INFO, "get"), 48)}
            assert table_sets(emulated) == (0, 0)
            conf = simulation.folder / "heddle.conf"
            conf.write_text("[ar]\nenable = yes\nsl_mask = 0x00F0\ntransport_mask = 0x2\n")
            sweep(opensm)
            held = [switch for switch in emulated.tables().values() if switch["enabled"]]
            assert len(held) == 32 and all(
                switch["by_sl"] and switch["sl_mask"] == 0xF0 and switch["transport_disable"] == 0xD
                for switch in held)
            conf.write_text("[ar]\nenable = no\n")
            opensm.sweep()
            fabric_sim.wait_until(lambda: not any(switch["enabled"] for switch in
                                                  emulated.tables().values()), "AR to be off")


def ooo_masks(emulated):
    """{(GUID, port): the SLs on which packets may come out of order}; all else is as at power-on."""
    records = emulated.hosts()
    assert all(record[:54] == b"\xa5" * 52 + bytes(2) and record[56:] == b"\xa5" * 8
               for record in records.values())
    return {end: int.from_bytes(record[54:56], "big") for end, record in records.items()}


def test_hosts_know_the_service_levels(netlist):
    """Hosts with MlnxExtPortInfo get the SL mask, each by one Set, and a silent one costs nobody
    anything. Nothing is sent to them after a link fails. A sweep that changes nothing asks them
    again, and tells those that have lost it; another SL mask reaches all."""
    emulated = Emulator(setup=["hosts yes"])
    with Simulation(netlist("pair"), emulator=emulated) as simulation:
        emulated.fault(0x100050, "silent")
        conf, options = "[ar]\nsl_mask = 0x00F0\n", {"transaction_timeout": 3000, "transaction_retries": 1}
        with simulation.opensm("ar_updown", heddle_conf=conf, options=options) as opensm:
            opensm.wait_for("5 host ports got the mask 0x00F0 of SLs out of order, 0 have refused "
                            "it, 0 had it, 0 do not have MlnxExtPortInfo, 1 do not answer")
            masks = ooo_masks(emulated)
            assert len(masks) == 5 and set(masks.values()) == {0x00F0}
            assert 0x100050 not in {guid for guid, _ in masks}
            totals = emulated.totals()
            assert (totals[EXT_PORT_INFO, "get"], totals[EXT_PORT_INFO, "set"]) == (5, 5)
            emulated.heal()
            since = len(opensm.log())
            sweep(opensm)
            opensm.wait_for("1 host ports got", since)
            assert set(ooo_masks(emulated).values()) == {0x00F0} and len(emulated.hosts()) == 6
            opensm.write_heddle_conf("[ar]\nsl_mask = 0xFFFF\n")
            since = len(opensm.log())
            sweep(opensm)
            opensm.wait_for("6 host ports got", since)
            assert set(ooo_masks(emulated).values()) == {0xFFFF}
            emulated.zero()
            simulation.command("Unlink " + inter_switch_cables(simulation)[0])
            assert sweep(opensm)["groups"] < 4
            assert (EXT_PORT_INFO, "set") not in emulated.totals()


def test_file_of_the_vendor(netlist):
    """The vendor's file is read again in each sweep; a bad one is named with its line, and the last
    good values stay."""
    emulated = Emulator()
    with Simulation(netlist("xgft"), emulator=emulated) as simulation:
        legacy = simulation.folder / "ar_mgr.conf"
        legacy.write_text("ENABLE: true;\nAR_ALGORITHM: LAG;\nAGEING_TIME: 77;\nSWITCH 0x200000 {\nENABLE: false;\n}\n")
        conf = f"[ar]\nlegacy_conf = {legacy}\n"
        with simulation.opensm("dmodk", heddle_conf=conf) as opensm:
            said = programmed(opensm)
            assert said["algorithm"] == "lag"
            legacy.write_text("ENABLE: true;\nAR_ALGORITHM: TREE;\nAGEING_TIME: 77;\nSWITCH 0x200000 {\nENABLE: false;\n}\n")
            assert sweep(opensm)["algorithm"] == "tree"
            held = emulated.tables()
            assert not held[0x200000]["enabled"]
            assert {switch["ageing_time"] for switch in held.values() if switch["enabled"]} == {77}
            legacy.write_text("ENABLE: true;\nAR_MODE: sometimes;\n")
            assert sweep(opensm)["algorithm"] == "tree"
            sweep(opensm)
            assert len(re.findall(r"ERR HD11: .*ar_mgr.conf:2.*last good", opensm.log())) == 1
            assert emulated.tables() == held
