# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hostile names in node descriptions, and a live OpenSM: what the plugin writes of them is plain text."""

import pathlib

import pytest

import cli_testing
import fabric_sim
from fabric_sim import Simulation, generate
from test_cli_foreign_text import assert_plain

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"needs {fabric_sim.missing_tools()}")

# ibsim's netlist takes all bytes but quotes and line feeds. A description has room for 64 bytes.
WORST = b"\x1b[2J\x08\x7f\xc2\x9b8m\xc2\x85\x9b\xff\xe2\x80\xae\r"


@pytest.fixture(scope="module", name="hostile")
def fixture_hostile(tmp_path_factory):
    path = generate(tmp_path_factory.mktemp("names"), "xgft", "--children=3,3", "--parents=1,3")
    text = path.read_bytes()
    for name in (b"S1_0", b"S2_1", b"H_1_1"):
        assert b'"%s"' % name in text
        text = text.replace(b'"%s"' % name, b'"%s%s"' % (name, WORST))
    path.write_bytes(text)
    return path


def plain_lines(opensm):
    """Heddle's own lines of the log. Those of OpenSM have names as they are."""
    lines = [line for line in pathlib.Path(opensm.log_file).read_bytes().split(b"\n") if b"heddle: " in line]
    return assert_plain(b"\n".join(lines), "OpenSM's log")


def test_what_the_plugin_says(hostile):
    """A cable is lost, and comes back: the log, the status, the metrics and the files name the switch, and no byte of
    its name reaches a terminal as it is."""
    with Simulation(hostile, host="H_0_0") as simulation, simulation.opensm("dmodk") as opensm:
        since = len(opensm.log())
        simulation.command('Unlink "S-0000000000200000"[4]')
        opensm.sweep_until("lost cable", since=since)
        assert "lost cable 'S1_0" in plain_lines(opensm)
        for command in (["status"], ["status", "--json"], ["metrics"]):
            done = cli_testing.heddle(*command, "--socket", opensm.status_socket(), status=None)[0]
            assert_plain(done.encode("utf-8", "surrogateescape"), command)
        for path in pathlib.Path(simulation.folder).glob("heddle*"):
            if path.is_file() and path.name != "heddle-tables":  # which is binary
                assert_plain(path.read_bytes(), path)
        simulation.command('ReLink "S-0000000000200000"[4]')
        opensm.sweep()
        plain_lines(opensm)
