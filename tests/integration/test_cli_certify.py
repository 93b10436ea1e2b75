# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle certify, and the program that verifies certificates, as a site uses both."""

import re
import subprocess

import pytest

from cli_testing import FAULTS, SOURCE, heddle, refused

TOOLS = SOURCE / "tools"


def build(folder, name):
    """Built alone, with nothing but a compiler."""
    subprocess.run(["cc", "-O2", "-std=c11", "-Wall", "-Werror", "-o", folder / name, TOOLS / f"{name}.c"], check=True)
    return folder / name


@pytest.fixture(scope="module", name="program")
def build_program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"), "verify_certificate")


@pytest.fixture(scope="module", name="adaptive")
def build_adaptive(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"), "verify_adaptive")


@pytest.fixture(scope="module", name="change")
def build_change(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"), "verify_change")


@pytest.fixture(scope="module", name="adaptive_change")
def build_adaptive_change(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"), "verify_adaptive_change")


def verify(program, *files, status=0):
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout or done.stderr


def routed(folder, engine, kind, *sizes):
    heddle("topo", "generate", kind, *sizes, "-o", folder / "fabric")
    heddle("route", "-e", engine, folder / "fabric", "-o", folder / "tables", "--sl", folder / "levels")
    return folder / "fabric", folder / "tables", folder / "levels"


def test_programs_are_short_and_need_no_room():
    """At most 400 lines, comments and blank lines included, and only headers of the system."""
    for path in TOOLS.glob("*.c"):
        assert len(path.read_text().splitlines()) <= 400, path
        included = set(re.findall(r'#include ["<](.*)[">]', path.read_text()))
        assert all("/" not in name for name in included)
        assert {name for name in included if not name.startswith("std")} <= {
            "string.h", "verify_files.c", "verify_levels.c", "verify_certificate.c", "verify_adaptive.c"}, path


def test_tree(tmp_path, program):
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "3,4", "--parents", "1,3")
    said = heddle("certify", fabric, tables, "-o", tmp_path / "proof")[1]
    assert said == "certificate: 7 switches, 1 lane with traffic between switches, 11 rows of distances\n"
    assert verify(program, tmp_path / "proof", fabric, tables) == (
        "proved; 0 pairs of a switch and a LID have no entry\n")
    # The certificate does not depend on where the tables come from.
    assert heddle("certify", "-e", "dmodk", fabric)[0] == (tmp_path / "proof").read_text()


def of_chassis(fabric):
    """Plain ibnetdiscover output as with -g: adapters with the system image GUID of a switch follow it."""
    records = fabric.strip().split("\n\n")
    systems = {record: re.search(r"sysimgguid=(\w+)", record)[1] for record in records[1:]}
    switches = [record for record in systems if "\nswitchguid=" in record]
    grouped, text = set(), records[0]
    for number, switch in enumerate(switches, start=1):
        inside = [record for record in systems if systems[record] == systems[switch] and record != switch]
        text += f"\n\nChassis {number} (guid {systems[switch]})\n\n# Spine Nodes\n# Line Nodes\n# Chassis Switches\n"
        text += "\n# Chassis CAs\n".join([switch, *inside])
        text = text.replace(f"sysimgguid={systems[switch]}\n", f"sysimgguid={systems[switch]}\t\t# Chassis {number}\n")
        grouped |= {switch, *inside}
    text = re.sub(r"(switchguid=\S+)", r"\1\t# ", text)
    return "\n\n".join([text, "Non-Chassis Nodes", *(record for record in systems if record not in grouped)]) + "\n"


def test_topology_of_chassis(tmp_path, program):
    """ibnetdiscover -g, where aggregation nodes come before other switches."""
    fabric, tables, levels = routed(tmp_path, "dmodk", "xgft", "--children", "2,2", "--parents", "1,2",
                                    "--aggregation-nodes")
    grouped = tmp_path / "grouped"
    grouped.write_text(of_chassis(fabric.read_text()))
    heddle("certify", fabric, tables, levels, "-o", tmp_path / "proof")
    assert "proved" in verify(program, tmp_path / "proof", grouped, tables, levels)
    grouped.write_text(grouped.read_text().replace("[1]\t\"S-", "[1][ext 5]\t\"S-", 1))
    assert "none of the forms" in verify(program, tmp_path / "proof", grouped, tables, levels, status=1)


def test_other_tables_are_refused(tmp_path, program):
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "3,4", "--parents", "1,3")
    heddle("certify", fabric, tables, "-o", tmp_path / "proof")
    rows = tables.read_text().splitlines(keepends=True)
    at = next(i for i, row in enumerate(rows) if row.startswith("0x0001 001"))
    rows[at] = rows[at].replace("001", "002", 2).replace("0x0002", "0x0001")
    (tmp_path / "other").write_text("".join(rows))
    said = verify(program, tmp_path / "proof", fabric, tmp_path / "other", status=1)
    assert re.search(r"^not proved: .*: switch \w+: LID 1 by port 2: no nearer, or no higher\n", said), said


def test_format_in_the_guide_is_what_is_written(tmp_path):
    heddle("topo", "generate", "xgft", "--children", "2,2", "--parents", "1,2", "-o", tmp_path / "fabric")
    shown = re.search(r"```\n(unreached 0\n.*?)```", (SOURCE / "doc/guide/certificates.md").read_text(), re.DOTALL).group(1)
    assert heddle("certify", "-e", "dmodk", tmp_path / "fabric")[0] == "heddle certificate 2\n" + shown


def test_lanes_need_their_service_levels(tmp_path, program):
    """The tables of a torus are proved with its service levels, and not on one lane."""
    fabric, tables, levels = routed(tmp_path, "spf", "torus", "--dims", "5,5", "--hosts", "1")
    heddle("certify", fabric, tables, levels, "-o", tmp_path / "proof")
    assert verify(program, tmp_path / "proof", fabric, tables, levels).startswith("proved; 0 ")
    assert "not proved" in verify(program, tmp_path / "proof", fabric, tables, status=1)
    assert "credit loop" in heddle("certify", fabric, tables, "-o", tmp_path / "none", status=FAULTS)[1]
    assert not (tmp_path / "none").exists()


def test_plan(tmp_path, program, adaptive):
    """A certificate with a plan proves the tables without it, too. A wrong plan has none."""
    fabric, tables, levels = routed(tmp_path, "updown", "xgft", "--children", "3,4,2", "--parents", "1,3,2")
    heddle("ar", "plan", fabric, tables, "-o", tmp_path)
    plan = tmp_path / "heddle.far"
    heddle("certify", "--plan", plan, fabric, tables, "-o", tmp_path / "proof")
    verify(adaptive, tmp_path / "proof", fabric, tables, levels, plan)
    verify(adaptive, tmp_path / "proof", fabric, tables, "-", plan)
    verify(program, tmp_path / "proof", fabric, tables)
    # Groups of a plan that is not that of the tables: port 1 of a leaf leads to a host.
    plan.write_text(plan.read_text().replace("0 - 0 : ", "0 - 0 : 1, ", 1))
    verify(adaptive, tmp_path / "proof", fabric, tables, "-", plan, status=1)
    said = heddle("certify", "--plan", plan, fabric, tables, "-o", tmp_path / "none", status=FAULTS)[1]
    assert "port 1: no cable leads from there to the LID" in said


def test_what_is_no_number(tmp_path, program, adaptive, change):
    """A row that lacks its number, or has it in another form, is not read as 0."""
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "2,3", "--parents", "1,3")
    heddle("ar", "plan", fabric, tables, "-o", tmp_path)
    plan, other, proof = tmp_path / "heddle.far", tmp_path / "other", tmp_path / "proof"
    heddle("certify", "--plan", plan, fabric, tables, "-o", proof)
    assert ": bounded : 0\n" in plan.read_text()
    other.write_text(plan.read_text().replace(": bounded : 0\n", ": bounded : \n", 1))
    assert "has none of the forms" in verify(adaptive, proof, fabric, tables, "-", other, status=1)
    # tables before that lose their row for a LID would seem to have no entry, which is no fault before a change
    heddle("certify", "--before", tables, fabric, tables, "-o", proof)
    verify(change, proof, fabric, tables, tables)
    other.write_text(re.sub("^0x000a ", "0x000A ", tables.read_text(), flags=re.MULTILINE))
    assert "has none of the forms" in verify(change, proof, fabric, other, tables, status=1)
    assert "has none of the forms" in verify(program, proof, fabric, other, status=1)


def test_switches_that_the_certificate_lacks(tmp_path, program):
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "2,2", "--parents", "1,2")
    heddle("certify", fabric, tables, "-o", tmp_path / "proof")
    lines = (tmp_path / "proof").read_text().splitlines(keepends=True)
    first = lines.index("switches 4\n") + 1
    lines[first + 1] = lines[first]
    (tmp_path / "proof").write_text("".join(lines))
    assert "the switch is there twice" in verify(program, tmp_path / "proof", fabric, tables, status=1)


def test_files_of_ibroute(tmp_path, program):
    """Tables as ibroute and dump_lfts print them, with CRs, in any order, and rows of no destination."""
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "2,2", "--parents", "1,2")
    heddle("certify", fabric, tables, "-o", tmp_path / "proof")
    dumps = re.findall(r"Unicast lids \[0-\d+\] of switch (Lid \d+) guid (0x\w+) \('(.*)'\):\n((?:0x.*\n)+)",
                       tables.read_text())
    text = ""
    for number, (lid, guid, name, rows) in enumerate(reversed(dumps)):
        rows = re.sub(r" # (.*)", r" : (\1)", rows) + "0x0100 001 : (unknown node and type)\n"
        place = lid if number else "DR path slid 0; dlid 0; 0,1,4"
        text += (f"Unicast lids [0x0-0x100] of switch {place} guid {guid} ({name}):\n  Lid  Out   Destination\n"
                 f"       Port     Info \n{rows}{rows.count(chr(10))} valid lids dumped \n")
    text += "\n*** WARNING ***: this command has been replaced by dump_fts\n\n\n"
    (tmp_path / "ibroute").write_text(text.replace("\n", "\r\n"))
    verify(program, tmp_path / "proof", fabric, tmp_path / "ibroute")


def test_names_are_data(tmp_path, program, adaptive):
    """What a node is called ends no file, begins no table and hides nothing."""
    fabric, tables, levels = routed(tmp_path, "spf", "torus", "--dims", "5", "--hosts", "1")
    proof, plan = tmp_path / "proof", tmp_path / "heddle.far"
    heddle("certify", fabric, tables, levels, "-o", proof)
    verify(program, proof, fabric, tables, levels)
    # The levels of hosts at one switch are others than those that were certified, behind a line that seems to end them.
    head, *blocks, last = re.split(r"(?=Service levels|5 switches)", levels.read_text())
    blocks[-1] = re.sub(r"\('.*'\)", "('spare, switches dumped')", blocks[-1])
    blocks[-1] = re.sub(r"(?m)^(0x\S+) \d+$", r"\1 7", blocks[-1])
    levels.write_text(head + "".join(blocks) + last)
    verify(program, proof, fabric, tables, levels, status=1)
    # A switch whose name looks like a private table changes nothing.
    fabric, tables, levels = routed(tmp_path, "updown", "xgft", "--children", "2,2", "--parents", "1,2")
    fabric.write_text(fabric.read_text().replace('"S2_0"', '"spine) table 1"'))
    heddle("ar", "plan", fabric, tables, "-o", tmp_path)
    heddle("certify", "--plan", plan, fabric, tables, "-o", proof)
    assert "('spine) table 1') table 0\n" in plan.read_text()
    verify(adaptive, proof, fabric, tables, levels, plan)
    text = proof.read_text().split("\n", 1)
    proof.write_text(f"{text[0]}\nmade today; 0 pairs\033[8m\n{text[1]}")
    assert "\033" not in verify(adaptive, proof, fabric, tables, levels, plan, status=1)


def test_lanes_by_ports(tmp_path, program):
    """The engine rings changes lanes on the way. On one lane its tables have a credit loop, and no certificate."""
    fabric, tables, levels = routed(tmp_path, "rings", "torus", "--dims", "5,5", "--hosts", "1")
    proof = tmp_path / "proof"
    assert "2 lanes" in heddle("certify", fabric, tables, levels, "-o", proof)[1]
    verify(program, proof, fabric, tables, levels)
    text = levels.read_text()
    assert "Virtual lanes at switch" in text
    levels.write_text(re.sub(r"(?m)^(\* \d+ :).*", r"\1" + 16 * " 0", text))
    assert "no higher" in verify(program, proof, fabric, tables, levels, status=1)
    assert "credit loop" in heddle("certify", fabric, tables, levels, "-o", tmp_path / "none", status=FAULTS)[1]
    block = re.search(r"Virtual lanes at switch.*?runs dumped\n", text, re.DOTALL).group(0)
    for other in (text.replace(block, ""), text.replace(block, 2 * block), re.sub(r"\n\* \d+ :.*", "", text, count=1)):
        levels.write_text(other)
        verify(program, proof, fabric, tables, levels, status=1)


def test_private_tables(tmp_path, program, adaptive):
    """DFP: the certificate says which ports come from above. It is none of the tables alone."""
    fabric, tables, levels = routed(tmp_path, "dfp", "dragonfly-plus", "--islands", "4", "--leaves", "3", "--spines",
                                    "3", "--hosts", "2", "--global-links", "2")
    heddle("ar", "plan", "--algorithm", "dfp", fabric, tables, levels, "-o", tmp_path)
    plan = tmp_path / "heddle.far"
    heddle("certify", "--plan", plan, fabric, tables, levels, "-o", tmp_path / "proof")
    verify(adaptive, tmp_path / "proof", fabric, tables, levels, plan)
    verify(program, tmp_path / "proof", fabric, tables, levels, status=1)
    text = (tmp_path / "proof").read_text()
    (tmp_path / "proof").write_text(text.replace("\n00111\n", "\n00101\n", 1))
    verify(adaptive, tmp_path / "proof", fabric, tables, levels, plan, status=1)


def test_change(tmp_path, program, change):
    """From the tables of one engine to those of another, in steps."""
    fabric, tables, _ = routed(tmp_path, "updown", "xgft", "--children", "3,4,2", "--parents", "1,3,2")
    before, proof = tmp_path / "before", tmp_path / "proof"
    heddle("route", "-e", "dmodk", fabric, "-o", before)
    said = heddle("certify", "--before", before, fabric, tables, "-o", proof)[1]
    steps = int(re.search(r", (\d+) steps?\n", said)[1])
    assert f"proved, steps: {steps}; 0 pairs" in verify(change, proof, fabric, before, tables)
    # with other tables before, an entry leads in a circle, or changes in no step
    rows = before.read_text().splitlines(keepends=True)
    at = next(i for i, row in enumerate(rows) if row.startswith("0x0001 00"))
    rows[at] = rows[at][:7] + ("001" if rows[at][7:10] != "001" else "002") + rows[at][10:]
    (tmp_path / "other").write_text("".join(rows))
    verify(change, proof, fabric, tmp_path / "other", tables, status=1)
    verify(program, proof, fabric, tables, status=1)  # its steps are not for this program


def planned(folder, name, fabric, *tables):
    (folder / name).mkdir()
    heddle("ar", "plan", fabric, *tables, "-o", folder / name)
    return folder / name / "heddle.far"


def test_change_of_groups(tmp_path, adaptive_change):
    """Tables and groups of one engine, and those of another; adaptive routing that is switched on, and off."""
    fabric, tables, _ = routed(tmp_path, "updown", "xgft", "--children", "3,4,2", "--parents", "1,3,2")
    before, proof = tmp_path / "before", tmp_path / "proof"
    heddle("route", "-e", "dmodk", fabric, "-o", before)
    plans = planned(tmp_path, "old", fabric, before), planned(tmp_path, "new", fabric, tables)
    for old, new in (plans, ("-", plans[1]), (plans[0], "-")):
        given = [word for option, plan in (("--plan-before", old), ("--plan", new)) if plan != "-"
                 for word in (option, plan)]
        heddle("certify", "--before", before, *given, fabric, tables, "-o", proof)
        assert "proved, steps: 1; 0 pairs" in verify(adaptive_change, proof, fabric, before, tables, "-", old, new)
    # the step says nothing of one entry
    text = proof.read_text()
    count = int(re.search(r"step 1 entries (\d+)\n", text)[1])
    proof.write_text(re.sub(r"step 1 entries \d+\n.*\n", f"step 1 entries {count - 1}\n", text))
    assert "changes in no step" in verify(adaptive_change, proof, fabric, before, tables, "-", plans[0], "-", status=1)
    assert "--plan-before needs --before" in refused("certify", "--plan-before", plans[0], fabric, tables)
    said = heddle("certify", "--before", before, "--plan-before", plans[1], fabric, tables, "-o", proof, status=FAULTS)[1]
    assert "the static port is not that of the tables" in said


def test_groups_are_narrow_while_tables_change(tmp_path, adaptive_change):
    """Old groups and new tables would close a credit loop: groups lose ports first."""
    small, fabric, tables, levels, before, proof = (
        tmp_path / name for name in ("small", "fabric", "tables", "levels", "before", "proof"))
    heddle("topo", "generate", "kary-ntree", "--k", "3", "--n", "2", "-o", small)
    heddle("topo", "convert", "--lmc", "3", small, "-o", fabric)
    heddle("route", "-e", "multipath", fabric, "-o", tables, "--sl", levels)
    heddle("route", "-e", "spf", fabric, "-o", before)
    old, new = planned(tmp_path, "old", fabric, before), planned(tmp_path, "new", fabric, tables, levels)
    heddle("certify", "--before", before, "--plan-before", old, "--plan", new, fabric, tables, levels, "-o", proof)
    text = proof.read_text()
    assert {" n", ""} == set(re.findall(r"^0x\w{4} \d+( [nt]|)$", text, re.MULTILINE))
    files = fabric, before, tables, levels, old, new
    assert "proved, steps: 5; 0 pairs" in verify(adaptive_change, proof, *files)
    proof.write_text(re.sub(r"^(0x\w+ \d+) n$", r"\1", text, count=1, flags=re.MULTILINE))
    verify(adaptive_change, proof, *files, status=1)


def test_bad_use(tmp_path, program):
    assert "usage:" in verify(program, "one", "two", status=2)
    assert "cannot be opened" in verify(program, tmp_path / "none", tmp_path / "none", tmp_path / "none", status=1)
    fabric, tables, _ = routed(tmp_path, "dmodk", "xgft", "--children", "2,2", "--parents", "1,2")
    for output in (fabric, tables):
        assert "which is an input" in refused("certify", fabric, tables, "-o", output)
