# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle config check: all faults of a heddle.conf, each with its line, as the programs find them."""

import json
import os
import re
import subprocess

import pytest

import fabric_sim
from cli_testing import BAD, CLEAN, FAULTS, HEDDLE, SOURCE, engines, heddle, refused
from fabric_sim import PATIENCE, Simulation, generate
from test_opensm_config import BAD as FILES_REFUSED

EXAMPLE = SOURCE / "packaging" / "heddle.conf.example"
ROUTER = "[router]\nnode_guid = 0x1\n[router.subnet 0xfec0000000000001]\n"


def faults(folder, text, name="heddle.conf"):
    """Lines that the command prints for a file, without its name; it must say the same by its status and in JSON."""
    (folder / name).write_text(text)
    stdout, stderr = heddle("config", "check", name, status=None, cwd=folder)
    assert stderr == ""
    lines = stdout.splitlines()
    clean = lines == [f"{name}: no fault"]
    answer = json.loads(heddle("config", "check", "--json", name, status=CLEAN if clean else FAULTS, cwd=folder)[0])
    assert answer["file"] == name and answer["clean"] == clean
    spelled = [f"{name}:{fault['line']}: {fault['reason']}" if "line" in fault else f"{name}: {fault['reason']}"
               for fault in answer["faults"]]
    assert spelled == ([] if clean else lines)
    return [line.removeprefix(name) for line in spelled]


def test_all_faults_are_listed(tmp_path):
    found = faults(tmp_path, "[arr]\nenable = yes\n[updown]\npasses = 0\n[ar.swich 0x1]\n[heddle]\nthredas = 4\n"
                             "multicast_share = log\n[keyd]\ntcp = 2001:db8::1\n[spf\npasses = 0\n")
    assert [line.split(": ", 1) for line in found] == [
        [":1", "unknown section [arr]; did you mean [ar]?"],
        [":4", "[updown]: option 'passes': '0' is not a whole number 1..16"],
        [":5", "unknown section [ar.swich]; did you mean [ar.switch GUID]?"],
        [":7", "[heddle]: unknown option 'thredas'; did you mean 'threads'?"],
        [":10", "[keyd]: option 'tcp': '2001:db8::1' is neither 'off' nor ADDRESS:PORT, such as 192.0.2.1:7472 or "
                "[2001:db8::1]:7472"],
        [":11", "expected [section], key = value or # comment"],
        [":8", "[heddle]: multicast_share = log needs multicast_sl, the service level 1..15 that the groups have (sl= "
               "in OpenSM's partitions.conf)"]]


@pytest.mark.parametrize("text", [
    "", "# nothing\n", EXAMPLE.read_text(), re.sub(r"(?m)^#(\w+ = )", r"\1", EXAMPLE.read_text()),
    ROUTER, "[keyd]\ntcp = [2001:db8::1]:7472\nscheduler_uids = root, 0\n", "[keyd]\ntcp = 192.0.2.1:1\n"],
                         ids=["empty", "comment", "example", "all options", "router", "keyd", "address"])
def test_a_sound_file_has_no_fault(tmp_path, text):
    assert faults(tmp_path, text) == []


@pytest.mark.parametrize("text, fault", [
    ("[keyd]\nscheduler_uids = nobody-here\n", ":2: [keyd]: option 'scheduler_uids': this machine has no user "),
    ("[keyd]\ntcp = 192.0.2.1:70000\n", ":2: [keyd]: option 'tcp': "),
    ("[keyd]\ntcp = 192.0.2.1:\n", ":2: [keyd]: option 'tcp': "),
    ("[keyd]\ntcp = 192.0.2:7472\n", ":2: [keyd]: option 'tcp': "),
    ("[keyd]\ntcp = [2001:db8::1:7472\n", ":2: [keyd]: option 'tcp': "),
    ("[keyd]\nsm_sockets = ,\n", ":2: [keyd]: option 'sm_sockets': no socket"),
    ("[router.subnet 0xfec0000000000001]\n", ": [router]: option 'node_guid' is missing"),
    ("[router]\nnode_guid = 0x1\n", ": 0 sections [router.subnet PREFIX]; the router needs 1 to 64"),
    (ROUTER.replace("0xfec", "0xfe8"), ": [router.subnet 0xfe80000000000001]: a router forwards nothing"),
    (ROUTER.replace("0x1\n", "0x0\n"), ": node_guid is 0"),
    ("[ar]\nlegacy_conf = /nowhere/ar_mgr.conf\n", ": /nowhere/ar_mgr.conf: cannot open: No such file"),
    ("[heddle]\nengine_path = /nowhere\n[mine]\n", ":2: no engine modules are loaded from /nowhere: ")])
def test_what_is_found_beyond_the_plugin(tmp_path, text, fault):
    """Sections of the daemons, and what sections mean together. A module that is missing makes its section no second
    fault."""
    found = faults(tmp_path, text)
    assert len(found) == 1 and found[0].startswith(fault), found


@pytest.mark.parametrize("text, fault", [
    ("[status]\nsocket = /run/x\n[drain]\n\nsocket = /run/x\n", ":5: [status] and [drain] have the same socket, /run/x; "),
    ("[drain]\nsocket = /run/x\n[status]\nsocket = /run/x\n", ":4: [status] and [drain] have the same socket, /run/x; "),
    ("[drain]\nsocket = /run/heddle/status.sock\n", ":2: [status] and [drain] have the same socket, "),
    ("[keys]\nsocket = /run/x\n[keyd]\nsocket = /run/x\n", ":4: [keys] and [keyd] have the same socket, ")])
def test_two_sections_with_one_socket(tmp_path, text, fault):
    found = faults(tmp_path, text)
    assert len(found) == 1 and found[0].startswith(fault), found
    assert faults(tmp_path, "[status]\nsocket =\n[drain]\nsocket =\n") == []


def test_a_cut_list_says_so(tmp_path):
    for text in ("[zzzzzzzzzzzzzzzzzz]\n", "x = 1\n"):
        assert re.search(r"; the sections are \[.*[^ ]\] \.\.\.$", faults(tmp_path, text)[0])


def test_each_engine_has_its_section(tmp_path):
    for engine in engines():
        for option in engine["options"]:
            text = f"[{engine['name']}]\n{option['name']} = {option['default']}\n"
            assert faults(tmp_path, text) == [], text
            assert len(faults(tmp_path, text.replace(option["name"], "no" + option["name"], 1))) >= 1


def test_standard_input_and_bad_usage(tmp_path):
    (tmp_path / "heddle.conf").write_text("[arr]\n")
    with open(tmp_path / "heddle.conf", encoding="utf-8") as file:
        assert heddle("config", "check", "-", status=FAULTS, stdin=file)[0].startswith("-:1: unknown section [arr]")
    os.mkfifo(tmp_path / "pipe")
    for path, command in ((tmp_path / "pipe", f"echo '[arr]' >{tmp_path}/pipe & '{HEDDLE}' config check {tmp_path}/pipe"),
                          ("/dev/stdin", f"echo '[arr]' | '{HEDDLE}' config check /dev/stdin")):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == FAULTS and done.stdout.startswith(f"{path}:1: unknown section [arr]"), done
    assert "expected at most one FILE" in refused("config", "check", "one", "two")
    assert "none: cannot open: No such file or directory" in refused("config", "check", tmp_path / "none")
    assert "not a regular file" in refused("config", "check", "/dev/null")
    heddle("config", "check", tmp_path, status=BAD)
    (tmp_path / "large").write_bytes(b"#" * 100 + b"\n" * (1 << 20))
    heddle("config", "check", tmp_path / "large", status=BAD)


@pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"missing: {fabric_sim.missing_tools()}")
def test_the_plugin_says_the_same(tmp_path):
    """OpenSM's log has the first fault of each bad file, in the words of the command, and none of a sound one; and the
    plugin takes sections of the daemons."""
    netlist = generate(tmp_path, "irregular", "--switches", "4", "--radix", "6", "--seed", "3")
    with Simulation(netlist) as simulation:
        for text, fault in FILES_REFUSED.values():
            first = faults(tmp_path, text)[0]
            assert first.startswith(fault[:120])
        for text in (FILES_REFUSED["another's section"][0], "[sweep]\nwindow = 0\n", "[status]\nsocket = x\n",
                     "[certificate]\nfile = x\n", "[map]\nalgorithm = issr\n", "[keys]\nsocket = x\n"):
            log = simulation.opensm("updown", heddle_conf=text).once()
            first = faults(tmp_path, text)[0].split(" [router.subnet")[0]
            assert first in log, (first, log)
        log = simulation.opensm("updown", heddle_conf=EXAMPLE.read_text() + ROUTER + "[keyd]\ntcp = no\n").once()
        assert "ERR HD02" not in log, log
