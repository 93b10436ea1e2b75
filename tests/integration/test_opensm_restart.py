# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenSM ends or is killed and starts again: the switches keep their entries."""

import re

import fabric_sim
import pytest
from fabric_sim import Simulation, generate, tables, wait_until

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

TREE = ("xgft", "--children", "4,4,4", "--parents", "1,4,4")
IRREGULAR = ("irregular", "--switches", "24", "--radix", "10", "--seed", "7")
RUNS = [("auto", TREE), ("auto", IRREGULAR), ("dmodk", TREE), ("updown", TREE), ("spf", TREE), ("multipath", TREE),
        ("updown", IRREGULAR), ("spf", IRREGULAR), ("multipath", IRREGULAR)]
SETTINGS = {"qos": "TRUE"}


def counts(log):
    return [int(count) for count in re.findall(r"; (\d+) entries changed", log)]


def state_of(simulation):
    return simulation.folder / "heddle-tables"


def port_guid(simulation):
    """The GUID of the first port of the host on which OpenSM runs."""
    text = simulation.netlist.read_text()
    return int(re.search(r"\[1\]\(([0-9a-f]+)\)", text.partition(f'"{simulation.host}"')[2]).group(1), 16)


def kill(opensm):
    opensm.process.kill()
    opensm.process.wait()


def cables(netlist):
    """[(node, port)] of cables between switches, one end each."""
    ends, node = [], None
    for line in netlist.read_text().splitlines():
        head = re.match(r'(Switch|Ca|Rt)\s+\d+ "([^"]+)"', line)
        port = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]', line)
        if head:
            node = head.group(2) if head.group(1) == "Switch" else None
        elif port and node and port.group(2).startswith("S-") and node < port.group(2):
            ends.append((node, port.group(1)))
    return ends


def unlink(simulation, ends):
    simulation.command("\n".join(f'Unlink "{node}"[{port}]' for node, port in ends))


def relink(simulation, ends):
    simulation.command("\n".join(f'ReLink "{node}"[{port}]' for node, port in ends))


def settle(opensm):
    """Sweeps until nothing changes. OpenSM stores tables before the next sweep."""
    for _ in range(8):
        if counts(opensm.sweep())[-1:] == [0]:
            return
    raise fabric_sim.Failure("tables do not come to rest")


@pytest.mark.parametrize("engine, fabric, killed", [(*run, True) for run in RUNS] + [(*run, False) for run in RUNS[::4]])
def test_a_restart_changes_no_entry(tmp_path, engine, fabric, killed):
    """Neither on an intact fabric, nor on a damaged one, nor on one first routed damaged and then
    healed. Each later routing counts from what the switches have."""
    netlist = generate(tmp_path, *fabric)
    some = cables(netlist)[::9][:2]
    with Simulation(netlist) as simulation:
        def run(before=None, change=None):
            with simulation.opensm(engine, options=SETTINGS) as opensm:
                first = counts(opensm.log())
                settle(opensm)
                held = tables(simulation.read_tables())
                if before is not None:
                    assert first[run.sweeps] == 0, opensm.log()[-2000:]
                    assert held == before
                if change:
                    change(simulation, some)
                    settle(opensm)
                    held = tables(simulation.read_tables())
                run.sweeps = len(counts(opensm.log()))
                if killed:
                    kill(opensm)
            return held

        run.sweeps = 0
        unlink(simulation, some)
        damaged = run()
        healed = run(damaged, relink)
        run(run(healed, unlink))
        assert "HD10" not in (simulation.folder / "osm.log").read_text()


def test_entries_go_back_after_a_restart(tmp_path):
    """What an engine goes back to is stored too: a repair after a restart restores all entries."""
    netlist = generate(tmp_path, *IRREGULAR)
    some = cables(netlist)[::9][:2]
    with Simulation(netlist) as simulation:
        with simulation.opensm("spf", options=SETTINGS) as opensm:
            settle(opensm)
            intact = tables(simulation.read_tables())
            unlink(simulation, some)
            settle(opensm)
            assert tables(simulation.read_tables()) != intact
            kill(opensm)
        with simulation.opensm("spf", options=SETTINGS) as opensm:
            relink(simulation, some)
            settle(opensm)
            assert tables(simulation.read_tables()) == intact


def damage(path, how):
    data = bytearray(path.read_bytes())
    if how == "cut":
        del data[len(data) // 2:]
    elif how == "flipped":
        data[len(data) // 2] ^= 4
    elif how == "older":
        data[8] = 0
    elif how == "empty":
        data.clear()
    else:
        data[:] = b"0x0000000000000001 0x1\n" * 100
    path.write_bytes(data)


@pytest.mark.parametrize("how, reason", [
    ("cut", "it is cut short, or bytes were added"), ("flipped", "its checksum is wrong"),
    ("older", "its format has version 0, and this Heddle reads versions 1 to 3"), ("empty", "it is cut short"),
    ("other", "it is not a file of Heddle's tables")])
def test_a_bad_file_is_one_warning(tmp_path, how, reason):
    netlist = generate(tmp_path, *TREE)
    with Simulation(netlist) as simulation:
        log = simulation.opensm("dmodk").once()
        damage(state_of(simulation), how)
        log = simulation.opensm("dmodk").once()
        assert log.count(str(state_of(simulation))) == 1, log
        assert re.search(rf"heddle: .*{re.escape(reason)}; .*routes afresh", log), log
        assert counts(log) == [int(re.search(r"(\d+) switches", log).group(1)) *
                               int(re.search(r"(\d+) LIDs", log).group(1))]
        assert counts(simulation.opensm("dmodk").once()) == [0]


def test_another_subnet_is_one_warning(tmp_path):
    netlist = generate(tmp_path, *TREE)
    other = generate(tmp_path, "xgft", "--children", "2,2", "--parents", "1,2")
    text = re.sub(r"S-(\w+)", lambda match: f"S-{int(match.group(1), 16) + 0x5000000:016x}",
                  other.read_text())
    text = re.sub(r"(switchguid=0x)(\w+)",
                  lambda match: f"{match.group(1)}{int(match.group(2), 16) + 0x5000000:x}", text)
    other.write_text(text)
    with Simulation(other) as simulation:
        simulation.opensm("dmodk").once()
        kept = state_of(simulation).read_bytes()
    with Simulation(netlist) as simulation:
        state_of(simulation).write_bytes(kept)
        log = simulation.opensm("dmodk").once()
        assert log.count("of another subnet") == 1 and "ERR HD" not in log, log
        assert counts(simulation.opensm("dmodk").once()) == [0]


def test_a_file_that_cannot_be_written_is_one_error(tmp_path):
    """The error appears once, and the old file stays."""
    netlist = generate(tmp_path, *TREE)
    end = cables(netlist)[:1]
    with Simulation(netlist) as simulation:
        target = simulation.folder / "kept" / "tables"
        target.parent.mkdir()
        conf = f"[heddle]\nstate = {target}\n"
        with simulation.opensm("dmodk", heddle_conf=conf) as opensm:
            settle(opensm)
            old = target.read_bytes()
            assert not state_of(simulation).exists()
            (target.parent / "tables.new").mkdir()  # cannot be opened as a file
            unlink(simulation, end)
            settle(opensm)
            opensm.sweep()
            wait_until(lambda: "ERR HD10" in opensm.log(), "the error")
            opensm.sweep()
            assert opensm.log().count("ERR HD10") == 1, opensm.log()
            assert target.read_bytes() == old
            (target.parent / "tables.new").rmdir()
            opensm.sweep()
            wait_until(lambda: target.read_bytes() != old, "the new file")


def test_another_place_is_used_at_once(tmp_path):
    """When heddle.conf names another file, a sweep that changes nothing writes it, and removes the old one. So a restart moves
    nothing. Without a file, none is left."""
    netlist = generate(tmp_path, *IRREGULAR)
    with Simulation(netlist) as simulation:
        first, second = simulation.folder / "first", simulation.folder / "second"
        with simulation.opensm("updown", heddle_conf=f"[heddle]\nstate = {first}\n") as opensm:
            settle(opensm)
            for end in cables(netlist)[:2]:
                unlink(simulation, [end])
                settle(opensm)
                relink(simulation, [end])
                settle(opensm)
            opensm.write_heddle_conf(f"[heddle]\nstate = {second}\n")
            assert counts(opensm.sweep()) == [0]
            wait_until(lambda: second.exists() and not first.exists(), "the file at its new place")
            kill(opensm)
        with simulation.opensm("updown", heddle_conf=f"[heddle]\nstate = {second}\n") as opensm:
            log = opensm.log()[opensm.log().rindex("is loaded"):]
            assert f"says {second}\n" in log and counts(log) == [0]
            opensm.write_heddle_conf("[heddle]\nstate = off\n")
            opensm.sweep()
            wait_until(lambda: not second.exists(), "no file")


def test_off_stores_nothing(tmp_path):
    netlist = generate(tmp_path, *TREE)
    with Simulation(netlist) as simulation:
        for _ in range(2):
            log = simulation.opensm("dmodk", heddle_conf="[heddle]\nstate = off\n").once()
            assert counts(log)[0] > 0 and not state_of(simulation).exists()


def test_other_options_route_afresh(tmp_path):
    """Otherwise the option would have no effect."""
    netlist = generate(tmp_path, *IRREGULAR)
    with Simulation(netlist) as simulation:
        simulation.opensm("spf", options=SETTINGS).once()
        log = simulation.opensm("spf", options=SETTINGS,
                                heddle_conf="[spf]\npasses = 1\n").once()
        afresh = tables(simulation.read_tables())
        state_of(simulation).unlink()
        simulation.opensm("spf", options=SETTINGS, heddle_conf="[spf]\npasses = 1\n").once()
        assert tables(simulation.read_tables()) == afresh, log


def test_each_port_has_its_file_and_socket(tmp_path):
    """An OpenSM whose port is named keeps its tables under the GUID of that port. At first it reads the file
    without a GUID. %g in the path of a socket is that GUID, too."""
    netlist = generate(tmp_path, *TREE)
    with Simulation(netlist) as simulation:
        with simulation.opensm("dmodk") as opensm:
            settle(opensm)
        assert state_of(simulation).exists()
        guid = f"0x{port_guid(simulation):016x}"
        own = simulation.folder / f"heddle-tables-{guid}"
        conf = f"[keys]\nsocket = {simulation.folder}/sm-%g.sock\n"
        for source in (state_of(simulation), own):
            with simulation.opensm("dmodk", options={"guid": guid}, heddle_conf=conf) as opensm:
                log = opensm.log()
                assert f"says {source}\n" in log[log.rindex("is loaded"):]
                assert counts(log)[-1] == 0
                assert (simulation.folder / f"sm-{guid}.sock").is_socket()
            assert own.exists()


def test_two_subnets_from_one_machine(tmp_path):
    """Two OpenSMs share all folders and run at the same time. Each finds its own tables after a restart."""
    netlists = [generate(tmp_path, "interconnect", "--subnets", 2, "--part", part) for part in (1, 2)]
    with Simulation(netlists[0]) as one, Simulation(netlists[1]) as two:
        two.environment["OSM_CACHE_DIR"] = one.environment["OSM_CACHE_DIR"]
        guids = [f"0x{port_guid(subnet):016x}" for subnet in (one, two)]
        assert guids[0] != guids[1]
        for start in range(2):
            with one.opensm("updown", options={"guid": guids[0]}) as first, \
                    two.opensm("updown", options={"guid": guids[1]}) as second:
                for opensm, guid in ((first, guids[0]), (second, guids[1])):
                    settle(opensm)
                    log = opensm.log()[opensm.log().rindex("is loaded"):]
                    assert "another subnet" not in log
                    if start:
                        assert f"heddle-tables-{guid}\n" in log
                        assert counts(log)[0] == 0, log
        assert {path.name for path in one.folder.glob("heddle-tables*")} == {f"heddle-tables-{guid}" for guid in guids}
