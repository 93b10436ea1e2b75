# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle doctor --live: it asks the switches and hosts that a real OpenSM has brought up, by Gets alone."""

import json
import re
import subprocess

import pytest

import emulator
import fabric_sim
import schemas
from emulator import Emulator
from fabric_sim import HEDDLE, PATIENCE, PLUGIN, OpenSM, Simulation, generate, sbin_path

missing = fabric_sim.missing_tools() + emulator.missing()
pytestmark = pytest.mark.skipif(bool(missing), reason=f"missing: {missing}")

TREE = ("xgft", "--children", "4,4", "--parents", "1,4")
AR = "[ar]\nenable = yes\n"


def look(simulation, *more, fabric=True, timeout=10000, log=("--log", "osm.log")):
    """The answer of the command, in JSON."""
    arguments = ["--fabric", simulation.discover()] if fabric else []
    done = subprocess.run(
        [HEDDLE, "doctor", "--live", "--json", "--timeout", str(timeout), *arguments, "--opensm-conf", "opensm.conf", "--plugin", PLUGIN,
         *log, *more],
        cwd=simulation.folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=dict(simulation.environment, LD_PRELOAD=simulation.preload(), PATH=sbin_path()))
    assert done.returncode in (0, 1, 2) and done.stdout, done.stderr
    return schemas.validate("doctor", json.loads(done.stdout))


def found(answer, check=None):
    """Findings, without notes and without what the test rig does on purpose: a log without a limit."""
    return [one for one in answer["findings"] if one["severity"] != "note" and one["check"] != "log-size" and
            check in (None, one["check"])]


def unmade(answer):
    return {one["name"]: one["reason"] for one in answer["checks"] if not one["made"]}


def note(answer):
    (text,) = [one["text"] for one in answer["findings"] if one["check"] == "abilities" and one["severity"] == "note"]
    return text


@pytest.fixture(scope="module", name="netlist")
def fixture_netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("doctor"), *TREE)


def test_a_sound_site(netlist):
    """With the file of the fabric, and with ibnetdiscover that the command runs."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        with simulation.opensm("ar_dmodk", heddle_conf=AR):
            for fabric in (True, False):
                answer = look(simulation, fabric=fabric)
                assert found(answer) == []
                assert set(unmade(answer)) - {"virtual-ports"} == {"names", "firmware"}
                assert "of 8 switches that answered, 8 have adaptive routing" in note(answer)


@pytest.mark.parametrize("form, recovery, text", [
    ("none", "none", "0 have adaptive routing, 0 go round dead ports by themselves, 0 send notices"),
    ("old", "none", "8 have adaptive routing, 0 go round dead ports by themselves, 0 send notices"),
    ("rev1", "local", "8 have adaptive routing, 8 go round dead ports by themselves, 0 send notices"),
    ("both", "notices", "8 have adaptive routing, 8 go round dead ports by themselves, 8 send notices")])
def test_abilities(netlist, form, recovery, text):
    """Switches that can do nothing, old ones, and new ones. What is wanted and cannot be had is a finding."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.emulator.set(form=form, recovery=recovery)
        simulation.opensm("ar_dmodk", heddle_conf=AR + "fast_recovery = notices\n").once()
        answer = look(simulation)
        assert text in note(answer)
        wrong = [one["text"] for one in found(answer, "abilities")]
        if form == "none":
            assert wrong == ["adaptive routing is wanted, but no switch has it"]
        elif recovery != "notices":
            assert wrong == ["[ar] fast_recovery = notices, but 8 switches with adaptive routing send none"]
        else:
            assert wrong == []


def test_logs_of_running_opensms(netlist):
    """Those that two OpenSMs write, wherever they are, without an option. Each is named with its process, and a line that
    only one has is found in that one."""
    with Simulation(netlist, emulator=Emulator()) as simulation, Simulation(netlist) as other:
        with simulation.opensm("dmodk") as here, other.opensm("dmodk", heddle_conf="[arr]\n") as there:
            answer = look(simulation, log=())
    said = {one["where"]: one["text"] for one in answer["findings"] if one["check"] == "log" and one["severity"] == "note"}
    for opensm in (here, there):
        assert said[str(opensm.log_file)] == f"this log was read: OpenSM, process {opensm.process.pid}, writes it"
    faults = [one["where"] for one in found(answer, "log") if "heddle.conf has a fault" in one["text"]]
    assert str(there.log_file) in faults and str(here.log_file) not in faults


def test_it_sends_no_set(netlist):
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.opensm("dmodk").once()
        simulation.emulator.watch()
        simulation.emulator.zero()
        look(simulation)
        sent = {method for (_, method), count in simulation.emulator.totals().items() if count}
        assert sent == {"get"}


def test_switches_that_do_not_answer(netlist):
    """One silent switch is named, and the checks of the others are made."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.opensm("dmodk").once()
        fabric = simulation.discover()
        guid = re.search(r"switchguid=(0x[0-9a-f]+)", fabric.read_text()).group(1)
        simulation.emulator.fault(int(guid, 16), "silent", "all")
        answer = look(simulation, "--fabric", fabric, fabric=False, timeout=1000)
        (one,) = found(answer, "live-lids")
        assert f"{int(guid, 16):016x}" in one["where"] and "does not answer" in one["text"]
        assert "1 did not answer" in note(answer)


def test_a_fabric_of_before(netlist):
    """LIDs that have changed since."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        simulation.opensm("dmodk").once()
        fabric = simulation.discover("old")
        text = fabric.read_text()
        fabric.write_text(re.sub(r"lid ([12]) ", lambda lid: f"lid {3 - int(lid.group(1))} ", text))
        answer = look(simulation, "--fabric", "old", fabric=False)
        assert {one["check"] for one in found(answer)} == {"live-lids"}
        assert [re.sub(r"0x.*", "", one["text"]) for one in found(answer)] in (
            [f"at LID {lid} another node answers, " for lid in lids] for lids in ((1, 2), (2, 1)))


def test_two_subnet_managers(netlist):
    """A second one of the same priority at another host."""
    with Simulation(netlist, emulator=Emulator()) as simulation:
        with simulation.opensm("dmodk") as first:
            assert "SUBNET UP" in first.log()
            names = re.findall(r'(?m)^Ca\s+\d+\s+"(H-[0-9a-f]+)"', simulation.discover().read_text())
            other = [name for name in names if name != simulation.host][-1]
            with Second(simulation, other):
                answer = look(simulation)
                texts = [one["text"] for one in found(answer, "subnet-managers")]
                assert len(texts) == 1 and "have the same priority 0" in texts[0], answer["findings"]


class Second(OpenSM):
    """An OpenSM at another host, which becomes standby."""

    def __init__(self, simulation, host):
        super().__init__(simulation, "dmodk")
        self.host = host
        self.log_file = self.folder / "second.log"
        self.conf = self.folder / "second-heddle.conf"
        self.write_heddle_conf("[status]\nsocket =\n[heddle]\nstate = off\n")

    def _write_conf(self):
        path = super()._write_conf()
        return path.rename(self.folder / "second.conf")

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.folder / "second"),
                    OSM_TMP_DIR=str(self.folder / "second"))

    def __enter__(self):
        (self.folder / "second").mkdir()
        kept = (self.folder / "opensm.conf").read_text()
        self.output = open(self.folder / "second.out", "wb")
        self.process = subprocess.Popen(self._command(), env=self._environment(), cwd=self.folder,
                                        stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT)
        (self.folder / "opensm.conf").write_text(kept)
        self.wait_for("Entering STANDBY state", 0)
        return self
