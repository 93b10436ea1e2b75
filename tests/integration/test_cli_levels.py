# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Service levels in files: route writes them, check and ibdmchk find no credit loop with them and
one without them."""

import re
import shutil
import subprocess

import pytest

from cli_testing import FAULTS, HEDDLE, check, generate, heddle, refused
from fabric_sim import PATIENCE

RING = 6


@pytest.fixture(scope="module", name="ring")
def fixture_ring(tmp_path_factory):
    """A ring whose shortest paths have a credit loop on one lane, and service levels made by hand:
    paths that cross the cable between the last and the first switch have SL 1."""
    folder = tmp_path_factory.mktemp("levels")
    generate(folder / "fabric", "torus", f"--dims={RING}")
    heddle("route", "-e", "spf:deadlock=off", folder / "fabric", "-o", folder / "lfts")
    tables = Tables(folder / "fabric", folder / "lfts")
    levels = ["SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"]
    paths = []
    for switch in sorted(tables.hosts):
        levels.append(f"Service levels at switch guid 0x{switch:016x} ('x'):")
        for lid in tables.host_lids:
            level = int(tables.crosses(switch, lid))
            levels.append(f"0x{lid:04x} {level}")
            paths += [f"0x{host:016x} {lid} {level}" for host in tables.hosts[switch]]
        levels.append(f"{len(tables.host_lids)} runs dumped")
    levels.append(f"{RING} switches dumped")
    (folder / "levels").write_text("\n".join(levels) + "\n")
    (folder / "paths").write_text("\n".join(paths) + "\n")
    return folder


class Tables:
    """Walks each path of a ring hop by hop in the dump of its tables."""

    def __init__(self, fabric, lfts):
        self.entries, self.peer, self.hosts, self.host_lids = {}, {}, {}, []
        node = None
        for line in fabric.read_text().splitlines():
            if head := re.match(r'(Switch|Ca)\s+\d+ "\w-([0-9a-f]+)"', line):
                kind, node = head.group(1), int(head.group(2), 16)
            elif port := re.match(r'\[(\d+)\]\S*\s+"(\w)-([0-9a-f]+)"', line):
                far = int(port.group(3), 16)
                if kind == "Switch" and port.group(2) == "H":
                    self.hosts.setdefault(node, []).append(far)
                elif kind == "Switch":
                    self.peer[node, int(port.group(1))] = far
                else:
                    self.host_lids.append(int(re.search(r"# lid (\d+)", line).group(1)))
        for line in lfts.read_text().splitlines():
            if head := re.search(r"guid 0x([0-9a-f]+)", line) if "Unicast" in line else None:
                switch = int(head.group(1), 16)
            elif row := re.match(r"0x([0-9a-f]{4}) (\d{3})", line):
                self.entries[switch, int(row.group(1), 16)] = int(row.group(2))
        self.host_lids.sort()

    def crosses(self, switch, lid):
        first, last = min(self.hosts), max(self.hosts)
        while (switch, self.entries[switch, lid]) in self.peer:
            near, switch = switch, self.peer[switch, self.entries[switch, lid]]
            if {near, switch} == {first, last}:
                return True
        return False


def test_levels_free_a_ring_of_its_credit_loops(ring):
    alone = check(ring / "fabric", ring / "lfts", status=FAULTS)
    assert alone["vls"] == [{"vl": 0, "credit_loop": True}]
    for levels in ("levels", "paths"):
        report = check(ring / "fabric", ring / "lfts", ring / levels)
        assert report["clean"] and report["lanes"] == 2
        assert report["vls"] == [{"vl": 0, "credit_loop": False}, {"vl": 1, "credit_loop": False}]
    text = heddle("check", ring / "fabric", ring / "levels", ring / "lfts")[0]
    assert re.search(r"credit loops +none \(2 virtual lanes in use\)\n  VL 0 +none\n  VL 1 +none\n",
                     text)


def test_a_credit_loop_without_levels_asks_for_them(ring):
    """The lanes of the levels alone are none; where levels are given the loop is a fault."""
    asked = "All traffic is on SL 0 here. If the routing uses virtual lanes, give its service levels"
    (ring / "lanes").write_text("SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n0 switches dumped\n")
    (ring / "looped").write_text((ring / "levels").read_text().replace("SL to VL: 0 1",
                                                                      "SL to VL: 3 3"))
    for levels, given in (([], False), (["lanes"], False), (["looped"], True)):
        tables = [ring / "lfts", *(ring / name for name in levels)]
        assert (asked in heddle("check", ring / "fabric", *tables, status=FAULTS)[0]) != given
        assert check(ring / "fabric", *tables, status=FAULTS)["service_levels"] == given
    assert asked not in heddle("check", ring / "fabric", ring / "lfts", ring / "levels")[0]


def test_levels_on_the_same_lane_free_nothing(ring, tmp_path):
    text = (ring / "levels").read_text()
    (tmp_path / "one").write_text(text.replace("SL to VL: 0 1", "SL to VL: 3 3"))
    report = check(ring / "fabric", ring / "lfts", tmp_path / "one", status=FAULTS)
    assert report["vls"] == [{"vl": 3, "credit_loop": True}]


def test_levels_alone_are_refused(ring):
    message = refused("check", ring / "fabric", ring / "levels")
    assert "only service levels were given" in message


def test_levels_of_another_fabric_are_refused(ring, tmp_path):
    other = generate(tmp_path / "other", "torus", f"--dims={RING + 1}")
    lfts = tmp_path / "other.lfts"
    heddle("route", "-e", "updown", other, "-o", lfts)
    text = (ring / "levels").read_text().replace("0000000000200000", "0000000000777777")
    (tmp_path / "levels").write_text(text)
    message = refused("check", other, lfts, tmp_path / "levels")
    assert re.search(r"levels:2: switch 'x' 0x0000000000777777 is not in the fabric", message)


def ibdmchk(folder, *options):
    """True if ibdmchk finds credit loops."""
    done = subprocess.run(["ibdmchk", "-s", folder / "subnet.lst", "-f", folder / "fdbs", "-m",
                           folder / "mcfdbs", *options], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, cwd=folder)
    found = re.search(r"no credit loops|Found credit loop|[Cc]redit loop", done.stdout)
    assert found, done.stdout
    return "no credit loops" not in done.stdout


def write_for_ibdmchk(folder, fabric, lfts):
    """The subnet and the tables in the forms that ibdmchk reads."""
    nodes, fdbs = {}, []
    text = fabric.read_text()
    node = None
    for line in text.splitlines():
        if head := re.match(r'(Switch|Ca)\s+(\d+) "\w-([0-9a-f]+)"\s+# "([^"]*)"', line):
            node = int(head.group(3), 16)
            lid = re.search(r"lid (\d+) lmc", line)
            nodes[node] = {"kind": "SW" if head.group(1) == "Switch" else "CA",
                           "ports": int(head.group(2)), "name": head.group(4), "links": {},
                           "lid": int(lid.group(1)) if lid else 0}
        elif port := re.match(r'\[(\d+)\]\S*\s+"\w-([0-9a-f]+)"\[(\d+)\]', line):
            nodes[node]["links"][int(port.group(1))] = (int(port.group(2), 16),
                                                        int(port.group(3)))
            if own := re.search(r"# lid (\d+) lmc", line):
                nodes[node]["lid"] = int(own.group(1))

    def end(guid, port):
        one = nodes[guid]
        port_guid = guid + port if one["kind"] == "CA" else guid
        return (f"{{ {one['kind']} Ports:{one['ports']:02X} SystemGUID:{guid:016X} "
                f"NodeGUID:{guid:016X} PortGUID:{port_guid:016X} VenID:0002C9 DevID:5A44 "
                f"Rev:000000A1 {{{one['name']}}} LID:{one['lid']:04X} PN:{port:02X} }}")

    (folder / "subnet.lst").write_text("".join(
        f"{end(guid, port)} {end(*far)} PHY=4x LOG=ACT SPD=10\n"
        for guid, one in nodes.items() for port, far in sorted(one["links"].items())))
    for line in lfts.read_text().splitlines():
        if "Unicast" in line:
            guid = re.search(r"guid (0x[0-9a-f]+)", line).group(1)
            fdbs += ["", f"dump_ucast_routes: Switch {guid}", "LID    : Port : Hops : Optimal"]
        elif row := re.match(r"(0x[0-9a-f]{4}) (\d{3})", line):
            fdbs.append(f"{row.group(1)} : {row.group(2)}  : 01   : yes")
    (folder / "fdbs").write_text("\n".join(fdbs) + "\n")
    (folder / "mcfdbs").write_text("")


@pytest.mark.skipif(not shutil.which("ibdmchk"), reason="ibdmchk (ibutils) is not installed")
def test_ibdmchk_agrees_on_a_ring(ring):
    """A file in ibdmchk's form, read by both."""
    write_for_ibdmchk(ring, ring / "fabric", ring / "lfts")
    assert ibdmchk(ring)
    assert not ibdmchk(ring, "-c", ring / "paths")


@pytest.mark.skipif(not shutil.which("ibdmchk"), reason="ibdmchk (ibutils) is not installed")
def test_what_route_writes_is_clean_for_check_and_ibdmchk(tmp_path):
    """spf on a torus needs lanes. heddle check and ibdmchk agree: no credit loop with the levels of
    any of the files, and a credit loop without them."""
    fabric = generate(tmp_path / "fabric", "torus", "--dims=5,5")
    lfts = tmp_path / "lfts"
    files = {name: tmp_path / name for name in ("sl", "psl", "slvl")}
    _, remarks = heddle("route", "-e", "spf", fabric, "-o", lfts,
                        *[f"--{name}={path}" for name, path in files.items()])
    assert "warning" not in remarks and "virtual lanes" in remarks
    alone = check(fabric, lfts, status=FAULTS)
    assert alone["credit_loops"] == 1
    by_dump = check(fabric, lfts, files["sl"])
    by_ibdmchk = check(fabric, lfts, files["psl"], files["slvl"])
    assert by_dump == by_ibdmchk
    assert by_dump["clean"] and by_dump["lanes"] > 1
    write_for_ibdmchk(tmp_path, fabric, lfts)
    assert ibdmchk(tmp_path)
    assert not ibdmchk(tmp_path, "-c", files["psl"], "-d", files["slvl"])


def test_route_warns_of_levels_that_are_not_written(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=5,5")
    _, remarks = heddle("route", "-e", "spf", fabric, "-o", tmp_path / "lfts")
    assert re.search(r"warning: these routes use \d virtual lanes.*--sl FILE", remarks)
    _, remarks = heddle("route", "-e", "updown", fabric, "-o", tmp_path / "lfts")
    assert "lanes" not in remarks


def test_files_that_would_replace_each_other_are_refused(tmp_path):
    """By one name, by two names of one place, and by a link; a device takes all."""
    fabric = generate(tmp_path / "fabric", "torus", "--dims=5,5")
    (tmp_path / "there").write_text("kept\n")
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "folder").mkdir()
    for one, other in (("new", "new"), ("./new", "new"), ("folder/../new", tmp_path / "new"),
                       ("there", "there"), ("link", "there"), ("there", "./there")):
        message = refused("route", "-e", "spf", fabric, "-o", one, "--sl", other, cwd=tmp_path)
        assert f"options '--output' and '--sl' both write {other}" in message
    message = refused("route", "-e", "spf", fabric, "--psl", "new", "--slvl", "new", cwd=tmp_path)
    assert "options '--psl' and '--slvl' both write new" in message
    assert (tmp_path / "there").read_text() == "kept\n" and not (tmp_path / "new").exists()
    heddle("route", "-e", "spf", fabric, "-o", "new", "--sl", "folder/new", cwd=tmp_path)
    assert check(fabric, tmp_path / "new", tmp_path / "folder" / "new")["clean"]
    heddle("route", "-e", "spf", fabric, "-o", "/dev/null", "--sl", "/dev/null")
    heddle("route", "-e", "spf", fabric, "-o", "-", "--sl", "./-", cwd=tmp_path)


def test_files_appear_together_or_not_at_all(tmp_path):
    """Tables beside service levels that cannot be written keep what was there, and leave nothing."""
    fabric = generate(tmp_path / "fabric", "torus", "--dims=5,5")
    (tmp_path / "lfts").write_text("kept\n")
    for levels, reason in (("none/sl", "No such file or directory"), (".", "Is a directory"),
                           ("/dev/full", "No space left on device")):
        message = refused("route", "-e", "spf", fabric, "-o", "lfts", "--sl", levels, "--psl", "psl",
                          cwd=tmp_path)
        assert f"{reason}\n" in message and "cannot write " in message
        assert (tmp_path / "lfts").read_text() == "kept\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fabric", "lfts"]


def test_only_one_file_goes_to_standard_output(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=5,5")
    message = refused("route", "-e", "spf", fabric, "--sl=-")
    assert "only one of tables and service levels" in message
    message = refused("route", "-e", "spf", fabric, "-o", tmp_path / "lfts", "--sl=-", "--json")
    assert "--json needs -o FILE" in message
    levels = heddle("route", "-e", "spf", fabric, "-o", tmp_path / "lfts", "--sl=-")[0]
    assert levels.startswith("SL to VL: ") and levels.endswith("25 switches dumped\n")
    done = subprocess.run([HEDDLE, "check", fabric, tmp_path / "lfts", "/dev/stdin"], input=levels,
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
