# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fabric with adaptive routing lives: losses, restarts, takeovers, settings, silent switches and pulls. After each Set no
packet circles and no credit loop is closed that log and status do not name, what is safe to pull is not in use, and
status and certificate say what the switches hold. tests/flaps/replays --rounds takes more of it."""

import emulator
import fabric_sim
import pytest
import repair_adaptive
import repair_record
import replay_life
from emulator import AR_INFO
from fabric_sim import generate
from replay_checker import REPLAY

MISSING = fabric_sim.missing_tools() + emulator.missing() + [str(path) for path in (fabric_sim.CLOCK, REPLAY)
                                                             if not path.exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"missing: {MISSING}")
TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")


def test_rounds(tmp_path):
    tally, faults = replay_life.run_rounds(generate(tmp_path, *TREE, "--aggregation-nodes"), 202, 12, print)
    assert faults == [] and sum(tally[kind] for kind in replay_life.WEIGHTS) == 12


def test_pulls(tmp_path):
    tally, faults = replay_life.run_rounds(generate(tmp_path, *TREE), 22, 5, print, pulls=True)
    assert faults == [] and tally["pulls"] == 5


def test_a_switch_that_returns(tmp_path):
    """While it was away others have got other tables, and it still has its old adaptive routing on. That goes off before
    any switch gets another forwarding table."""
    with replay_life.living(generate(tmp_path, *TREE), 1, print, engines=("dmodk,updown",)) as life:
        switch = next(part for part in life.parts["leaf switch"])
        name = life.fabric.name[switch[0][0]]
        guid = int(switch[0][0].split("-")[1], 16)
        cables = [part[0] for part in life.parts["leaf cable"] if part[0][0] != switch[0][0]][:6:5]
        faults = life.round("loss", lambda: life.lose("leaf switch", switch))
        faults += life.round("loss", lambda: life.lose("cables", cables))
        assert life.emulated.tables(f"0x{guid:x}")[guid]["enabled"]
        record, clock = (life.folder / "ar-record").stat().st_size, (life.folder / "clock").stat().st_size
        faults += life.round("return", lambda: life.bring_back(0))
        assert faults == []
        own = [one for one in repair_adaptive.read_sets(life.folder / "ar-record", record)[0]
               if one.switch == switch[0][0]]
        assert own[0].attribute == AR_INFO and not own[0].data[3] & 1, f"{name}: {own[0]}"
        assert own[0].when < repair_record.read_sets(life.folder / "clock", clock)[0][0].when
        assert life.emulated.tables(f"0x{guid:x}")[guid]["enabled"]  # again
