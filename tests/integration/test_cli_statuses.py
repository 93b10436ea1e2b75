# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each command ends with each status that its --help lists, when --help says so."""

import re

import pytest

from cli_testing import BAD, CLEAN, FAULTS, generate, heddle, route
from test_cli_docs import COMMANDS, section


def subnets(folder):
    return [f"--subnet=fec0:0:0:{part}::={folder}/part{part}" for part in (1, 2)]


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A tree with its tables and with tables that lack the entries for one host, a ring, tables of
    the ring with a credit loop, and a tree in pieces."""
    folder = tmp_path_factory.mktemp("statuses")
    generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,2")
    generate(folder / "ring", "torus", "--dims=5")
    generate(folder / "pieces", "xgft", "--children=4,4", "--parents=1,2", "--remove-links=100%")
    text = route("dmodk", folder / "tree", folder / "tables").read_text()
    (folder / "holes").write_text(re.sub(r"(?m)^0x0001 .*\n", "", text))
    route("spf:deadlock=off", folder / "ring", folder / "looped")
    (folder / "members").write_text("H_0_0\nH_3_0\n")
    for part in (1, 2):
        generate(folder / f"part{part}", "interconnect", f"--part={part}")
    heddle("map", "issr", *subnets(folder), "-o", folder / "maps")
    (folder / "far.map").write_text("fec0:0:0:9::1 0x400001\n")
    (folder / "other").mkdir()
    for number in (1, 2):
        (folder / "other" / f"fec000000000000{number}.map").write_text("fec0:0:0:9::1 0x400001\n")
    (folder / "garbage").write_text("no fabric\n")
    (folder / "flow.ini").write_text(FLOW)
    (folder / "errors").write_text("guid,port,LinkDownedCounter\n0x200000,1,5\n")
    heddle("sim", "flow.ini", "--counters", "calm", cwd=folder)
    heddle("sim", "flow.ini", "-O", "traffic.a.flows=H_0_0>H_1_0,H_2_0>H_1_0", "--counters", "incast", cwd=folder)
    (folder / "empty").write_text("")
    (folder / "careful").write_text("event_plugin_name heddle\nrouting_engine dmodk\nlog_max_size 100\n")
    (folder / "careless").write_text("event_plugin_name heddle\nrouting_engine dmodk\nqos yes\n")
    (folder / "sound.conf").write_text("[updown]\npasses = 2\n")
    (folder / "faulty.conf").write_text("[arr]\n[updown]\npasses = 0\n")
    (folder / "hosts").write_text("".join(f"H_{leaf}_{host}\n" for host in range(4) for leaf in range(4)))
    return folder


FLOW = """
[fabric]
file = tree
[routing]
engine = dmodk
[traffic a]
kind = flows
flows = H_0_0>H_1_0
[run]
duration = 20 us
"""

SUBNETS = "--subnet fec0:0:0:1::=part1 --subnet fec0:0:0:2::=part2"

SITE = "--opensm-conf careful --config sound.conf --fabric tree --log empty --logrotate ."

# Arguments are files in the folder or themselves. dmodk refuses the ring.
RUNS = [
    (CLEAN, "topo generate torus --dims=3 -o new"),
    (BAD, "topo generate torus"),
    (BAD, "topo generate torus --dims=1000,1000"),
    (CLEAN, "topo generate --names"),
    (BAD, "topo generate"),
    (CLEAN, "topo show pieces"),
    (BAD, "topo show garbage"),
    (BAD, "topo show none"),
    (CLEAN, "topo convert tree -o new"),
    (BAD, "topo convert tree -o none/new"),
    (CLEAN, "topo diff tree tree"),
    (CLEAN, "topo diff xgft:children=4,4,parents=1,2 tree"),
    (FAULTS, "topo diff tree pieces"),
    (FAULTS, "topo diff --match=shape ring tree"),
    (BAD, "topo diff tree garbage"),
    (BAD, "topo diff torus tree"),
    (CLEAN, "engines dmodk"),
    (BAD, "engines best"),
    (CLEAN, "route -e spf pieces -o new"),
    (BAD, "route -e dmodk ring -o new"),
    (BAD, "route -e dmodk garbage -o new"),
    (BAD, "route -e dmodk:passes=0 tree -o new"),
    (BAD, "route -e dmodk tree -o none/new"),
    (CLEAN, "check tree tables"),
    (CLEAN, "check -e dmodk tree"),
    (FAULTS, "check tree holes"),
    (FAULTS, "check ring looped"),
    (FAULTS, "check -e spf:deadlock=off ring"),
    (FAULTS, "check -e spf pieces"),
    (BAD, "check -e dmodk ring"),
    (BAD, "check tree garbage"),
    (BAD, "check ring tables"),
    (CLEAN, "certify tree tables -o new"),
    (CLEAN, "certify -e dmodk tree -o new"),
    (CLEAN, "certify tree holes -o new"),
    (FAULTS, "certify ring looped -o new"),
    (FAULTS, "certify -e spf:deadlock=off ring -o new"),
    (BAD, "certify -e dmodk ring -o new"),
    (BAD, "certify tree garbage -o new"),
    (BAD, "certify --plan=garbage tree tables -o new"),
    (BAD, "certify tree tables -o none/new"),
    (CLEAN, "paths tree tables H_3_0 H_0_0"),
    (CLEAN, "paths -e dmodk tree H_3_0 H_0_0"),
    (FAULTS, "paths tree holes H_3_0 H_0_0"),
    (FAULTS, "paths -e spf pieces H_3_0 H_0_0"),
    (BAD, "paths -e dmodk ring H_3_0 H_0_0"),
    (BAD, "paths tree tables H_3_0 H_9_9"),
    (CLEAN, "mcast tree H_0_0 H_3_0"),
    (CLEAN, "mcast --groups=3 --size=4 tree"),
    (CLEAN, "mcast --mcfdbs=empty tree"),
    (FAULTS, "mcast pieces H_0_0 H_3_0"),
    (FAULTS, "mcast --groups=3 --size=8 pieces"),
    (BAD, "mcast tree H_9_9"),
    (BAD, "mcast --mcfdbs=garbage tree"),
    (CLEAN, "ebb tree tables -n 5"),
    (CLEAN, "ebb -e dmodk tree -n 5"),
    (CLEAN, "ebb ring looped -n 5"),
    (FAULTS, "ebb tree holes -n 5"),
    (FAULTS, "ebb -e spf pieces -n 5"),
    (BAD, "ebb -e dmodk ring -n 5"),
    (BAD, "ebb tree garbage -n 5"),
    (BAD, "ebb tree tables -p ranks:file=garbage"),
    (CLEAN, "compare tree tables -e dmodk -n 5"),
    (FAULTS, "compare tree tables holes -n 5"),
    (FAULTS, "compare tree holes tables -n 5"),
    (BAD, "compare ring looped -e dmodk -n 5"),
    (BAD, "compare tree tables garbage -n 5"),
    (CLEAN, "survive -e spf ring -r 0 --trials 2 -n 5"),
    (CLEAN, "survive -e dmodk tree --repair 3 -n 5"),
    (CLEAN, "survive -e dmodk tree --repair 3 -n 5 --groups 4"),
    (FAULTS, "survive -e spf:deadlock=off ring -r 0 --trials 2 -n 5"),
    (FAULTS, "survive -e spf ring -r 60 --trials 2 -n 5"),
    (FAULTS, "survive -e dmodk tree -r 60 --trials 2 -n 5"),
    (BAD, "survive -e dmodk ring -r 0 --trials 2 -n 5"),
    (BAD, "survive -e dmodk tree -r 0 -n 5 --groups 4"),
    (BAD, "survive -e spf garbage -r 0"),
    (CLEAN, "survive --ar -e dmodk tree -r 0 --trials 2 -n 5"),
    (BAD, "survive --ar -e dmodk tree --repair 1 -n 5"),
    (CLEAN, "drain --fabric tree --tables tables -n 5 S1_0[5]"),
    (CLEAN, "drain --fabric tree -e dmodk -n 5 S2_0"),
    (FAULTS, "drain --fabric tree --tables tables -n 5 S1_0"),
    (FAULTS, "drain --fabric ring --tables looped -e dmodk -n 5 S_0[2]"),
    (BAD, "drain --fabric tree S1_9"),
    (BAD, "drain --fabric garbage S1_0"),
    (BAD, "drain --list --socket none"),
    (BAD, "check --plan=garbage tree tables"),
    (CLEAN, "ar plan tree tables"),
    (CLEAN, "ar plan --json --algorithm=lag -e spf ring"),
    (FAULTS, "ar plan --algorithm=lag ring looped"),
    (FAULTS, "ar plan --json --algorithm=tree ring looped"),
    (BAD, "ar plan --algorithm=dfp tree tables"),
    (BAD, "ar plan tree garbage"),
    (CLEAN, "ar fairness tree tables"),
    (CLEAN, "ar fairness --json tree tables"),
    (FAULTS, "ar fairness --algorithm=lag ring looped"),
    (FAULTS, "ar fairness --json --algorithm=lag ring looped"),
    (BAD, "ar fairness tree garbage"),
    (BAD, "ar status tree garbage"),
    (BAD, "ar diff tree garbage"),
    (BAD, "ar probe garbage"),
    (CLEAN, f"map issr {SUBNETS} -o new-maps"),
    (CLEAN, f"map issr {SUBNETS} --by-prefix --json"),
    (BAD, "map issr"),
    (BAD, "map issr --subnet fe80::=part1"),
    (BAD, "map issr --subnet fec0:0:0:1::=garbage"),
    (CLEAN, f"map isfr {SUBNETS} --keep maps"),
    (BAD, "map isfr --subnet fec0:0:0:1::=tree --subnet fec0:0:0:2::=tree"),
    (CLEAN, "map show far.map"),
    (CLEAN, "map show --json far.map fec0:0:0:9::1"),
    (FAULTS, "map show far.map fec0:0:0:9::2"),
    (BAD, "map show garbage"),
    (BAD, "map show far.map host"),
    (CLEAN, "map check far.map"),
    (CLEAN, f"map check {SUBNETS} --maps maps"),
    (FAULTS, "map check far.map garbage"),
    (FAULTS, f"map check --json {SUBNETS} --maps other"),
    (BAD, "map check"),
    (BAD, "map check none"),
    (CLEAN, "map diff far.map far.map"),
    (FAULTS, "map diff far.map maps/fec0000000000001.map"),
    (BAD, "map diff far.map none"),
    (CLEAN, f"map walk {SUBNETS} --maps maps S1-H_0 S2-H_7"),
    (CLEAN, f"map walk --json {SUBNETS} --maps maps --all"),
    (FAULTS, f"map walk {SUBNETS} --maps other S1-H_0 S2-H_7"),
    (FAULTS, f"map walk {SUBNETS} --maps other --all"),
    (BAD, f"map walk {SUBNETS} S1-H_0 S2-H_7"),
    (BAD, f"map walk {SUBNETS} --maps maps S1-H_0 nobody"),
    (CLEAN, f"ebb {SUBNETS} --maps maps -n 20"),
    (BAD, f"ebb {SUBNETS} -n 20"),
    (CLEAN, "sim flow.ini"),
    (CLEAN, "sim flow.ini --json"),
    (FAULTS, "sim flow.ini -O fabric.file=ring -O routing.engine=spf:deadlock=off -O run.duration=300us "
             "-O model.buffer=2100 -O model.deadlock_check=1us -O traffic.flows=H_0_0>H_2_0,H_1_0>H_3_0,H_2_0>H_4_0,"
             "H_3_0>H_0_0,H_4_0>H_1_0"),
    (BAD, "sim flow.ini -O traffic.a.flows=H_0_0>nobody"),
    (BAD, "sim none.ini"),
    (CLEAN, "why tree tables calm"),
    (CLEAN, "why -e dmodk tree calm --no-try"),
    (FAULTS, "why tree tables incast"),
    (FAULTS, "why tree tables errors"),
    (BAD, "why -e dmodk ring calm"),
    (BAD, "why tree tables garbage"),
    (BAD, "why tree garbage calm"),
    (BAD, "why tree tables calm --before garbage"),
    (CLEAN, "reproduce ar-fairness/c1-s1"),
    (CLEAN, "reproduce ar-fairness/c1-s1 --json"),
    (FAULTS, "reproduce ar-fairness/c1-s1 -O model.queueing=fifo -O expect.A-D.value=2"),
    (BAD, "reproduce nothing"),
    (CLEAN, "key make tree --lmc 1 -p ring"),
    (CLEAN, "key make tree --lmc 1 -p ring --json -e dmodk"),
    (FAULTS, "key make tree --lmc 1 -p shift:4 --best-effort"),
    (FAULTS, "key make tree --lmc 1 -p shift:4 --best-effort --json"),
    (BAD, "key make tree --lmc 1 -p shift:4"),
    (BAD, "key make tree -p ring"),
    (BAD, "key make ring --lmc 1 -p ring"),
    (BAD, "key make garbage -p ring"),
    (BAD, "key place -j 1 -w node[1-2] -p ring --socket /nowhere/keyd.sock"),
    (BAD, "key place -j 1 -w node[1-2 -p ring"),
    (BAD, "key place -j 1 -p ring"),
    (CLEAN, "key place --choose 4 --free hosts -p ring tree"),
    (CLEAN, "key place --reorder hosts -p alltoall tree --json"),
    (BAD, "key place --choose 4 -p ring tree"),
    (BAD, "key request -j 1 --socket /nowhere/keyd.sock"),
    (BAD, "key done -j 1 --host nowhere"),
    (BAD, "key release -j 1 --socket relative"),
    (BAD, "key list --socket /nowhere/keyd.sock"),
    (BAD, "key links --socket /nowhere/keyd.sock"),
    (CLEAN, f"doctor {SITE}"),
    (CLEAN, f"doctor {SITE} --json"),
    (FAULTS, f"doctor {SITE} --opensm-conf careless"),
    (FAULTS, f"doctor {SITE} --opensm-conf careless --json"),
    (BAD, f"doctor {SITE} --opensm-conf none"),
    (CLEAN, "config check sound.conf"),
    (CLEAN, "config check sound.conf --json"),
    (FAULTS, "config check faulty.conf"),
    (FAULTS, "config check faulty.conf --json"),
    (BAD, "config check none.conf"),
    (BAD, "status --socket /nowhere/status.sock"),
    (BAD, "metrics --socket /nowhere/status.sock"),
    (BAD, "reroute --socket /nowhere/drain.sock"),
]

# Statuses that need switches, or an OpenSM or heddle-keyd that answers: integration/opensm_ar,
# integration/opensm_status and integration/cli_key_service see them.
LIVE = {("ar", "probe"): {CLEAN, FAULTS}, ("ar", "status"): {CLEAN, FAULTS}, ("ar", "diff"): {CLEAN, FAULTS},
        ("key", "request"): {CLEAN, FAULTS}, ("status",): {CLEAN, FAULTS}, ("reroute",): {CLEAN, FAULTS},
        ("metrics",): {CLEAN}, ("key", "propose"): {CLEAN, BAD},
        **{("key", name): {CLEAN} for name in ("place", "done", "release", "list", "links")}}


@pytest.mark.parametrize("status, command", RUNS)
def test_a_run_ends_with_its_status(folder, status, command):
    """2 is the only status with a message for a failure, and then there is one."""
    errors = heddle(*command.split(), status=status, cwd=folder)[1]
    failures = [line for line in errors.splitlines() if line.startswith("heddle: ")
                and not line.startswith("heddle: warning: ")]
    assert bool(failures) == (status == BAD), errors


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_lists_the_statuses_that_occur(command):
    """All that are seen above, and no others."""
    listed = {int(row.split()[0]) for row in section(command, "Exit status")}
    words = command[:2] if command[0] in ("topo", "ar", "map", "key", "config") else command
    seen = {status for status, run in RUNS if run.split()[:len(words)] == words}
    assert listed == seen | LIVE.get(tuple(words), set())
