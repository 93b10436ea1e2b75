# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle.conf inside a running OpenSM: the log reports an error with file, line and reason, and the
configuration in force does not change."""

import configparser
import json
import os
import re

import fabric_sim
import pytest
from fabric_sim import Simulation, check, generate, heddle, tables

pytestmark = pytest.mark.skipif(bool(fabric_sim.missing_tools()),
                                reason=f"missing: {fabric_sim.missing_tools()}")

QOS = {"qos": "TRUE"}  # spf wants virtual lanes here
BAD = {
    "unknown section": ("\n[sfp]\npasses = 1\n", ":2: unknown section [sfp]; did you mean [spf]?"),
    "empty section": ("[spf]\npasses = 2\n[updwn]\n",
                      ":3: unknown section [updwn]; did you mean [updown]?"),
    "section of comments": ("[updwn]\n# root = auto\n",
                            ":1: unknown section [updwn]; did you mean [updown]?"),
    "another's section": ("[ftree]\n", ":1: unknown section [ftree]; the sections are [heddle] ["),
    "text behind a section": ("[spf] passes = 2\n", ":1: 'passes = 2' after [spf]: "),
    "no name": ("[]\n", ":1: section without a name"),
    "section for something": ("[spf 0x1]\n", ":1: section [spf] takes no name or GUID: '0x1'"),
    "no section": ("passes = 1\n", ":1: key before the first section; the sections are [heddle] ["),
    "unknown key": ("[spf]\npases = 1\n",
                    ":2: [spf]: unknown option 'pases'; did you mean 'passes'?"),
    "out of range": ("[spf]\n\npasses = 0\n",
                     ":3: [spf]: option 'passes': '0' is not a whole number 1..16"),
    "not a number": ("[heddle]\nthreads = many\n",
                     ":2: [heddle]: option 'threads': 'many' is not a whole number 0..64"),
    "not a choice": ("[dmodk]\nmethod = fast\n",
                     ":2: [dmodk]: option 'method': 'fast' is not one of auto|balanced"),
    "no lifetime": ("[heddle]\nhoq_lifetime_us = 1.5\n",
                    ":2: [heddle]: option 'hoq_lifetime_us': '1.5' is not a lifetime: "),
    "too long a lifetime": ("[heddle]\n\nleaf_hoq_lifetime_us = 2147484\n",
                            ":3: [heddle]: option 'leaf_hoq_lifetime_us': '2147484' is longer "),
    "no share": ("[heddle]\nmulticast_share = most\n", ":2: [heddle]: option 'multicast_share': "
                 "'most' is not one of same|equal|linear|log"),
    "no service level": ("[heddle]\nmulticast_sl = 16\n",
                         ":2: [heddle]: option 'multicast_sl': '16' is not a whole number 0..15"),
    "a share of nothing": ("[heddle]\n\nmulticast_share = log\nthreads = 1\n",
                           ":3: [heddle]: multicast_share = log needs multicast_sl, "),
    "no root": ("[updown]\nroot = top\n", ":2: [updown]: option 'root': 'top' is neither auto, "),
    "too many roots": ("[updown]\nroot = best:999\n", ":2: [updown]: option 'root': 'best:999' "),
    "twice": ("[spf]\npasses = 1\n[heddle]\n[spf]\npasses = 2\n",
              ":5: [spf]: option 'passes' is given twice, first in line 2"),
    "no INI": ("[spf]\npasses 1\n", ":2: expected [section], key = value"),
    "open bracket": ("[spf\npasses = 1\n", ":1: expected [section], key = value"),
    "long line": ("[spf]\n#" + "x" * 198 + "\n", ":2: line is longer than 198 characters"),
    "binary": ("[spf]\n\0\0\0\n", ":2: zero byte"),
}


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("config"), "irregular", "--switches", "12", "--radix",
                    "8", "--seed", "3")


def offline(simulation, engine="spf"):
    path = simulation.folder / "offline.lfts"
    heddle("route", "-e", engine, simulation.discover(), "-o", path)
    return tables(path)


def test_options_reach_the_engine(netlist):
    """A change in heddle.conf takes effect at the next heavy sweep. The tables are those of
    `heddle route -e` with the same option."""
    with Simulation(netlist) as simulation:
        with simulation.opensm("spf", options=QOS,
                               heddle_conf="[spf]\npasses = 1\n") as opensm:
            one = tables(simulation.read_tables())
            assert one == offline(simulation, "spf:passes=1")
            opensm.write_heddle_conf("# three passes\n[spf]\npasses = 3 ; as by default\n")
            log = opensm.sweep()
            assert "ERR" not in log, log
            three = tables(simulation.read_tables())
            assert three == offline(simulation, "spf:passes=3")
            assert one != three


def test_the_last_good_configuration_is_kept(netlist):
    """The log reports each kind of mistake with file, line and reason, and OpenSM routes as before.
    A line may have 198 characters."""
    with Simulation(netlist) as simulation:
        with simulation.opensm("spf", options=QOS,
                               heddle_conf="[spf]\npasses = 1\n") as opensm:
            expected = tables(simulation.read_tables())
            for name, (text, message) in BAD.items():
                opensm.write_heddle_conf(text)
                log = opensm.sweep()
                assert f"ERR HD02: {opensm.conf}{message}" in log, (name, log)
                assert "going on with the last good configuration" in log
                assert "0 entries changed" in log
            opensm.conf.unlink()
            log = opensm.sweep()
            assert f"ERR HD02: {opensm.conf}: cannot open: No such file or directory" in log, log
            opensm.conf.mkdir()
            log = opensm.sweep()
            assert f"ERR HD02: {opensm.conf}: cannot read: not a regular file" in log, log
            opensm.conf.rmdir()
            opensm.write_heddle_conf("# ten characters\n" * 70000)
            assert "the file is larger than 1048576 bytes" in opensm.sweep()
            assert tables(simulation.read_tables()) == expected
            opensm.write_heddle_conf("#" + "x" * 197 + "\n[spf]\npasses = 1\n")
            assert "ERR" not in opensm.sweep()


def test_nothing_makes_a_sweep_wait(netlist):
    """A FIFO that nobody writes to, in place of heddle.conf and of a policy file: the log says so,
    and OpenSM sweeps on."""
    with Simulation(netlist) as simulation:
        roots = simulation.folder / "roots"
        os.mkfifo(roots)
        with simulation.opensm("spf", options={**QOS, "root_guid_file": roots},
                               heddle_conf="[spf]\npasses = 1\n") as opensm:
            expected = tables(simulation.read_tables())
            opensm.conf.unlink()
            os.mkfifo(opensm.conf)
            log = opensm.sweep()
            assert f"ERR HD02: {opensm.conf}: cannot read: not a regular file" in log, log
            assert f"ERR HD03: root_guid_file: {roots}: cannot read: not a regular file" in log, log
            assert tables(simulation.read_tables()) == expected


def test_a_bad_file_at_the_start_means_the_defaults(netlist):
    """OpenSM starts, logs the error and routes with the defaults."""
    with Simulation(netlist) as simulation:
        log = simulation.opensm("spf", options=QOS, heddle_conf="[spf]\npasses = 17\n").once()
        assert "'17' is not a whole number 1..16 (going on with the defaults)" in log
        assert "spf tables configured on all switches" in log
        assert tables(simulation.read_tables()) == offline(simulation)


def test_a_missing_file(netlist):
    """A named file must exist. The default one need not."""
    with Simulation(netlist) as simulation:
        named = {**QOS, "event_plugin_options": "armgr --conf x, heddle=/nonexistent/heddle.conf"}
        log = simulation.opensm("spf", options=named).once()
        assert "ERR HD02: /nonexistent/heddle.conf: cannot open: No such file or directory" in log
        alone = {**QOS, "event_plugin_options": "/nonexistent/other.conf"}
        log = simulation.opensm("spf", options=alone).once()
        assert "ERR HD02: /nonexistent/other.conf: cannot open: No such file or directory" in log
        if not fabric_sim.pathlib.Path("/etc/heddle/heddle.conf").exists():
            log = simulation.opensm("spf", options={**QOS, "event_plugin_options": "(null)"}).once()
            assert "ERR" not in log, log


def test_the_example_is_valid(netlist):
    """packaging/heddle.conf.example shows all options of all engines with their defaults. Heddle
    accepts it as it is and with its lines uncommented."""
    example = (fabric_sim.SOURCE / "packaging" / "heddle.conf.example").read_text()
    uncommented = re.sub(r"^#(\w+ = )", r"\1", example, flags=re.M)
    shown = configparser.ConfigParser()
    shown.read_string(uncommented)
    for engine in json.loads(heddle("engines", "--json").stdout):
        defaults = {option["name"]: option["default"] for option in engine["options"]}
        assert dict(shown[engine["name"]]) == defaults, engine["name"]
    with Simulation(netlist) as simulation:
        for text in (example, uncommented):
            log = simulation.opensm("spf", options=QOS, heddle_conf=text).once()
            assert "ERR" not in log, log
            assert check(simulation.discover(), simulation.read_tables())["no_route"] == 0
            assert tables(simulation.read_tables()) == offline(simulation)
