# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle doctor on files: each check finds what it is for, and nothing in a sound site. test_opensm_doctor.py does the
same for what it asks switches."""

import json
import os
import re
import shutil
import subprocess

import pytest

import fabric_sim
from cli_testing import BAD, CLEAN, FAULTS, SOURCE, generate, heddle, refused

GUIDE = (SOURCE / "doc" / "guide" / "doctor.md").read_text()
SOUND = {"event_plugin_name": "heddle", "routing_engine": "dmodk,updown", "log_max_size": "100", "qos": "TRUE"}
VERSION = "Nov 27 12:00:00 000001 [A] 0x03 -> OpenSM 3.3.23\n"


class Site:
    """Files of a site, which is sound at first."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "logrotate").mkdir()
        generate(folder / "fabric", "xgft", "--children=4,4", "--parents=1,4")
        self.write("heddle.conf", "[updown]\npasses = 2\n")
        self.write("log", VERSION)
        self.program("opensm", "OpenSM 3.3.23")
        self.program("libheddle.so", "OpenSM 3.3.23")
        self.options()

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def program(self, name, version):
        (self.folder / name).write_bytes(b"\x7fELF OpenSM 1.0 \0OpenSM is not 3\0" + version.encode() + b"\0rest")

    def options(self, **changed):
        """An option that is None is left out."""
        options = {**SOUND, **changed}
        self.write("opensm.conf", "".join(f"{name} {value}\n" for name, value in options.items() if value is not None))

    def look(self, *more, status=None):
        return heddle("doctor", "--opensm-conf", "opensm.conf", "--config", "heddle.conf", "--fabric", "fabric", "--log",
                      "log", "--opensm", "opensm", "--plugin", "libheddle.so", "--logrotate", "logrotate", *more,
                      status=status, cwd=self.folder)[0]

    def found(self, *more):
        """[(severity, check, where, text, mend)] without notes; the status and the counts must say the same."""
        answer = json.loads(self.look("--json", *more))
        found = [tuple(one[key] for key in ("severity", "check", "where", "text", "mend")) for one in answer["findings"]
                 if one["severity"] != "note"]
        errors = sum(one[0] == "error" for one in found)
        assert (answer["errors"], answer["warnings"]) == (errors, len(found) - errors)
        assert all(one[4] for one in found)
        self.look(*more, status=BAD if errors else FAULTS if found else CLEAN)
        return found

    def only(self, check, severity, text, *more):
        """That there is one finding, of that check; returns it."""
        found = self.found(*more)
        assert len(found) == 1 and found[0][:2] == (severity, check) and text in found[0][3], found
        return found[0]

    def unmade(self, *more):
        """{check: why it was not made}"""
        return {one["name"]: one["reason"] for one in json.loads(self.look("--json", *more))["checks"]
                if not one["made"]}


@pytest.fixture(name="site")
def fixture_site(tmp_path):
    return Site(tmp_path)


def test_a_sound_site_has_no_finding(site):
    assert site.found() == []
    live = {"subnet-managers", "live-lids", "live-rates", "live-mtu", "abilities", "firmware"}
    assert set(site.unmade()) - {"virtual-ports"} == {"names", *live}
    assert re.search(r"(?m)^0 errors, 0 warnings; \d+ checks made, \d+ not made$", site.look())


def test_nothing_to_look_at_is_not_a_pass(tmp_path):
    """Checks without their files are not made, and say so."""
    assert "not a regular file" in refused("doctor", "--opensm-conf", "/dev/null")
    (tmp_path / "empty").write_text("")
    answer = json.loads(heddle("doctor", "--json", "--opensm-conf", "empty", "--opensm", "empty", status=None, cwd=tmp_path)[0])
    unmade = {one["name"]: one["reason"] for one in answer["checks"] if not one["made"]}
    assert "no fabric is given" in unmade["fabric"] and "it has no version" in unmade["versions"]
    assert unmade["lanes"] == unmade["lids"] == "the fabric was not read"


def test_the_guide_and_the_page_list_all_checks(site):
    names = [one["name"] for one in json.loads(site.look("--json"))["checks"]]
    assert len(set(names)) == len(names)
    assert re.findall(r"(?m)^\| `([\w.-]+)` \|", GUIDE.split("## Traps")[0]) == names
    page = (SOURCE / "doc/man/heddle-doctor.1").read_text().replace("\\-", "-").split(".SH CHECKS")[1].split(".SH")[0]
    assert re.findall(r"(?m)^\.B (\S+)$", page) == names


# ---- opensm.conf ----

@pytest.mark.parametrize("name, value, check, severity, text", [
    ("qos", "yes", "opensm.conf", "warning", "OpenSM takes 'qos yes' for FALSE"),
    ("routing_engin", "x", "opensm.conf", "warning", "OpenSM 3.3 knows no option 'routing_engin'"),
    ("event_plugin_name", None, "plugin", "error", "the plugin is not loaded"),
    ("event_plugin_name", "heddle2", "plugin", "error", "the plugin is not loaded"),
    ("routing_engine", "minhop", "plugin", "warning", "names no engine of Heddle"),
    ("use_ucast_cache", "TRUE", "ucast-cache", "warning", "no engine runs"),
    ("sm_priority", "16", "sm-priority", "error", "sm_priority 16 is no priority"),
    ("routing_engine", "dmodkk,updown", "routing-engine", "error", "there is no routing engine 'dmodkk'"),
    ("routing_engine", "minhop,dmodk", "routing-engine", "warning", "never comes to the engine dmodk"),
    ("routing_engine", "dmodk,lash", "routing-engine", "warning", "crash in lash"),
    ("lmc", "8", "lmc", "error", "lmc 8 is no LMC"),
    ("routing_engine", "multipath", "lmc", "warning", "one path to each host"),
    ("routing_engine", "ark", "lmc", "warning", "no LIDs for routing keys"),
    ("root_guid_file", "/nowhere/roots", "lanes", "error", "/nowhere/roots: cannot open"),
    ("routing_engine", "rings,updown", "lanes", "warning", "rings refuses this fabric"),
    ("max_op_vls", "77", "opensm.conf", "warning", "max_op_vls 77 means no number"),
    ("max_op_vls", "0", "opensm.conf", "warning", "max_op_vls 0 means no number"),
    ("lmc", "abc", "opensm.conf", "warning", "'abc' is no number that lmc can have: OpenSM ignores the line"),
    ("lmc", "3x", "opensm.conf", "warning", "'3x' is no number that lmc"),
    ("lmc", "-1", "opensm.conf", "warning", "'-1' is no number that lmc"),
    ("sm_priority", "abc", "opensm.conf", "warning", "'abc' is no number that sm_priority"),
    ("sm_priority", "256", "opensm.conf", "warning", "'256' is no number that sm_priority"),
    ("max_wire_smps", "abc", "opensm.conf", "warning", "'abc' is no number that max_wire_smps"),
    ("sweep_interval", "ten", "opensm.conf", "warning", "'ten' is no number that sweep_interval"),
    ("log_max_size", "0", "log-size", "warning", "nothing limits the size"),
])
def test_an_option_is_found(site, name, value, check, severity, text):
    site.options(**{name: value})
    site.only(check, severity, text)


def test_places_and_suggestions(site):
    site.write("opensm.conf", "# x\nevent_plugin_name heddle\nlog_max_size 1\nqos FALSE\nrouting_engin auto # engines\n"
                              "routing_engine auto\nqos TRUE\n")
    found = {(where, text): mend for _, _, where, text, mend in site.found()}
    assert found == {
        ("opensm.conf:4", "qos is given again in line 7, which counts"): "take one of the lines out",
        ("opensm.conf:5", "OpenSM 3.3 knows no option 'routing_engin' and ignores the line"): "write routing_engine"}


def test_heddle_conf_is_checked_and_found_by_opensm_conf(site):
    site.write("other.conf", "[repair]\nenable = yes\n[arr]\n")
    site.options(event_plugin_options=f"x heddle={site.folder}/other.conf y", sweep_on_trap="FALSE")
    answer = json.loads(heddle("doctor", "--json", "--opensm-conf", "opensm.conf", "--opensm", "opensm", status=BAD,
                               cwd=site.folder)[0])
    found = {(one["check"], one["where"]) for one in answer["findings"]}
    assert ("heddle.conf", f"{site.folder}/other.conf:3") in found and any(check == "repair" for check, _ in found)


def test_lanes_are_computed(site):
    """spf needs lanes on a ring; without qos there is one. With the options of heddle.conf it needs none."""
    generate(site.folder / "fabric", "torus", "--dims=6")
    site.options(routing_engine="spf", qos="FALSE")
    found = site.found()
    assert [one[:2] for one in found] == [("error", "lanes")] * 2
    assert "without qos TRUE there is one virtual lane" in found[0][3] and found[0][2] == "opensm.conf:4"
    assert "no engine of routing_engine routes this fabric: OpenSM routes with its own MinHop" in found[1][3]
    site.options(routing_engine="spf", qos="TRUE")
    assert site.found() == []
    site.options(routing_engine="spf", qos="TRUE", max_op_vls="1")
    assert {one[1] for one in site.found()} == {"lanes"}
    site.options(routing_engine="spf,updown", qos="FALSE")
    site.only("lanes", "error", "without qos TRUE")
    site.options(routing_engine="spf", qos="FALSE")
    site.write("heddle.conf", "[spf]\ndeadlock = off\n")
    assert site.found() == []


def test_few_smps_on_the_wire_matter_on_large_fabrics(site):
    generate(site.folder / "fabric", "xgft", "--children=12,12,12", "--parents=1,12,12")
    site.only("wire-smps", "warning", "at most 4 SMPs under way at a time, for 432 switches")
    site.options(max_wire_smps=64)
    assert site.found() == []


@pytest.mark.skipif(not shutil.which("opensm", path=fabric_sim.sbin_path()), reason="needs OpenSM")
def test_the_options_are_those_of_opensm(site):
    """What OpenSM writes as its options are options that are known here, with their kinds."""
    subprocess.run(["opensm", "-c", "template"], cwd=site.folder, capture_output=True, check=False,
                   env={"PATH": fabric_sim.sbin_path()})
    template = (site.folder / "template").read_text()
    values = dict(re.findall(r"(?m)^(\w+) ([^#\n]*)", template))
    assert len(values) > 100
    code = (SOURCE / "config" / "opensm_options.c").read_text()
    known = dict(re.findall(r'\{"(\w+)", (true|false)\}', code))
    assert {name: (value in ("TRUE", "FALSE")) for name, value in values.items()} == {
        name: known[name] == "true" for name in values}
    site.write("opensm.conf", template)
    assert [one for one in site.found() if one[1] == "opensm.conf"] == []


@pytest.mark.skipif(not shutil.which("opensm", path=fabric_sim.sbin_path()), reason="no opensm")
def test_numbers_are_those_of_opensm(site):
    """What the doctor warns of is what OpenSM itself refuses, and no more."""
    env = {"PATH": fabric_sim.sbin_path()}
    subprocess.run(["opensm", "-c", "template"], cwd=site.folder, check=True, capture_output=True, env=env)
    names = re.findall(r"(?m)^(\w+) (?:0x)?[0-9a-f]+$", (site.folder / "template").read_text())
    for value in ("12z", "300", "70000", "5000000000", "-1", "0x7", "017", "1e1"):
        site.write("opensm.conf", "".join(f"{name} {value}\n" for name in names))
        said = subprocess.run(["opensm", "-F", "opensm.conf", "-c", "template"], cwd=site.folder, capture_output=True,
                              text=True, env=env, check=False).stdout
        refused_there = set(re.findall(r"Parsing error in field (\w+),", said))
        found = {text.split(" that ")[1].split()[0] for _, _, _, text, _ in site.found() if " is no number " in text}
        assert found and found <= refused_there or value in ("0x7", "017") and not found, (value, said)
        others = {"guid", "m_key", "sm_key", "sa_key", "subnet_prefix", "cc_key"}
        assert {name for name in refused_there - found if not name.startswith("cc_")} <= others, refused_there - found


# ---- programs and logs ----

def test_versions(site):
    site.program("libheddle.so", "OpenSM 3.3.24")
    found = site.only("versions", "error", "the plugin is for OpenSM 3.3.24, but the program is OpenSM 3.3.23")
    assert found[2] == "libheddle.so"
    site.program("libheddle.so", "nothing")
    assert site.unmade()["versions"] == "libheddle.so: it has no version of OpenSM"


@pytest.mark.skipif(bool(fabric_sim.missing_tools()), reason=f"missing: {fabric_sim.missing_tools()}")
def test_versions_of_the_real_programs(site):
    """Those of the installed OpenSM and of the plugin as it was built."""
    real = ("--opensm", shutil.which("opensm", path=fabric_sim.sbin_path()), "--plugin", fabric_sim.PLUGIN)
    assert "versions" not in site.unmade(*real) and [one for one in site.found(*real) if one[1] == "versions"] == []


@pytest.mark.parametrize("line, severity", [
    ("x 0x01 -> osm_vendor_bind: ERR 5426: Unable to register class 129 version 1\n", "error"),
    ("x -> OpenSM version mismatch\n", "error"), ("x heddle: ERR HD02: conf:1: bad\n", "error"),
    ("x ->  Unrecognized token: \"qoss\"\n", "warning")])
def test_lines_of_the_log(site, line, severity):
    """Those since the last start count."""
    site.write("log", VERSION + line + line)
    assert "(lines with" in site.only("log", severity, ": 2)")[3]
    site.write("log", VERSION + line + VERSION)
    assert site.found() == []


@pytest.mark.parametrize("text", ["", "this is not a log\n", "\0\1\2 [\n] 0x\n"])
def test_a_file_that_is_no_log(site, text):
    site.write("log", text)
    assert site.unmade()["log"] == "log: it has no line of OpenSM"


@pytest.mark.skipif(subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode != 0,
                    reason="no namespaces of users")
def test_logs_of_debian(site):
    """Debian's service names the logs by the GUIDs of ports, whatever opensm.conf says. All of them are read, and named."""
    names = ("opensm.0x0002c9030002fb05.log", "opensm.0x0002c9030002fb06.log")
    folder = site.folder / "var-log"
    folder.mkdir()
    (folder / "opensm-subnet.lst").write_text(VERSION)

    def look():
        command = ('mount --bind "$1" /var/log && exec "$2" doctor --json --opensm-conf opensm.conf --opensm opensm'
                   " --plugin libheddle.so --fabric fabric")
        done = subprocess.run(["unshare", "-rm", "sh", "-c", command, "sh", folder, fabric_sim.HEDDLE], cwd=site.folder,
                              capture_output=True, text=True, check=False)
        answer = json.loads(done.stdout)
        reason = [one["reason"] for one in answer["checks"] if one["name"] == "log" and not one["made"]]
        return [(one["severity"], one["where"]) for one in answer["findings"] if one["check"] == "log"], reason

    assert look() == ([], ["/var/log/opensm.log: cannot open: No such file or directory, and there is no "
                           "/var/log/opensm.0x*.log"])
    for name in names:
        (folder / name).write_text(VERSION)
    assert look() == ([("note", f"/var/log/{name}") for name in names], [])
    site.options(log_file="/var/log/by-hand")
    (folder / names[1]).write_text(VERSION + "x heddle: ERR HD02: conf:1: bad\n")
    (folder / "by-hand").write_text(VERSION)
    assert look() == ([("note", f"/var/log/{names[0]}"), ("note", f"/var/log/{names[1]}"),
                       ("error", f"/var/log/{names[1]}"), ("note", "/var/log/by-hand")], [])
    site.options(log_file=f"/var/log/{names[0]}")
    assert look()[0].count(("note", f"/var/log/{names[0]}")) == 1


def test_log_of_another_version(site):
    site.write("log", VERSION.replace("3.3.23", "3.3.24"))
    site.only("log", "warning", "the log is of OpenSM 3.3.24, but the program is OpenSM 3.3.23")


def test_log_size(site):
    with open(site.folder / "log", "r+b") as log:
        log.truncate(600 << 20)
    site.only("log-size", "warning", "the log has 600 MB")
    site.write("log", VERSION)
    site.options(log_max_size="0")
    site.write("logrotate/opensm", "/var/log/opensm*.log {\n}\n")
    assert site.found() == []


# ---- the fabric ----

def rewrite(site, pattern, replacement):
    text, count = re.subn(pattern, replacement, (site.folder / "fabric").read_text(), count=1)
    assert count == 1
    site.write("fabric", text)


def test_cables(site):
    rewrite(site, r'(?m)^(\[5\]\t"S-.*)4xEDR', r"\g<1>4xQDR")
    site.only("cables", "error", "the cable has another width or speed at its other end, 'S")


def test_a_host_without_a_lid(site):
    rewrite(site, '"H_0_0" lid 1 ', '"H_0_0" lid 0 ')
    rewrite(site, "# lid 1 lmc 0", "# lid 0 lmc 0")
    assert site.only("lids", "error", "1 port has no LID: this")[2] == "'H_0_0' 0x0000000000100000[1]"
    site.write("fabric", re.sub(r"lid \d+", "lid 0", (site.folder / "fabric").read_text()))
    assert "the file has no LIDs" in site.unmade()["lids"]


def test_a_fabric_that_contradicts_itself(site):
    rewrite(site, "lid 18 ", "lid 17 ")
    found = site.only("fabric", "error", "LID 17")
    assert found[2] == "fabric" and site.unmade()["lids"] == "the fabric was not read"
    assert "two ports with one LID" in found[4]
    site.write("fabric", "")
    assert site.only("fabric", "error", "the fabric cannot be read")[4] == "give the output of ibnetdiscover"


def test_ndr(site):
    site.write("fabric", (site.folder / "fabric").read_text().replace("4xEDR", "4xNDR"))
    site.only("ndr", "error", "the fabric has NDR ports")
    for name in ("opensm", "libheddle.so"):
        site.program(name, "OpenSM 3.3.25")
    site.write("log", "")
    assert site.found() == []
    site.program("opensm", "nothing")
    assert site.unmade()["ndr"] == "the version of OpenSM is not known"


def test_names(site):
    site.write("names", "# map\n0x200000 \"leaf\"\n\n0x200000 \"again\"\n0x999999 \"gone\"\nleaf\n")
    found = {where: text for _, check, where, text, _ in site.found("--node-name-map", "names") if check == "names"}
    assert found == {"names:4": "0x0000000000200000 has a name already",
                     "names:5": "the fabric has no node 0x0000000000999999",
                     "names:6": "the line does not begin with a GUID"}
    site.options(node_name_map_name="/nowhere/names")
    site.only("names", "warning", "/nowhere/names: cannot open")


# ---- output ----

def test_nagios(site):
    line = site.look("--nagios", status=CLEAN)
    assert line.startswith("HEDDLE OK - nothing is wrong | errors=0;;0;0 warnings=0;0;;0 unmade=")
    site.options(log_max_size="0")
    assert site.look("--nagios", status=1).startswith("HEDDLE WARNING - nothing limits the size of OpenSM's log")
    site.options(event_plugin_name=None)
    assert site.look("--nagios", status=2).startswith("HEDDLE CRITICAL - routing_engine names an engine of Heddle")
    assert heddle("doctor", "--nagios", "--opensm-conf", "none", status=3, cwd=site.folder)[0].startswith(
        "HEDDLE UNKNOWN - none: cannot open")


def test_no_check_is_not_a_pass(tmp_path):
    """Without files in their usual places nothing is looked at."""
    if any(one["made"] for one in json.loads(heddle("doctor", "--json", status=None, cwd=tmp_path)[0])["checks"]):
        pytest.skip("this machine has OpenSM's files, or an adapter")
    heddle("doctor", "--json", status=BAD)
    assert "no check was made" in heddle("doctor", status=BAD)[1]
    assert heddle("doctor", "--nagios", status=3)[0].startswith("HEDDLE UNKNOWN - no check was made")


def test_one_is_no_plural(site):
    site.options(sm_priority="16")
    assert re.search(r"(?m)^1 error, 0 warnings; ", site.look())
    site.options(qos="yes")
    assert re.search(r"(?m)^0 errors, 1 warning; ", site.look())


def test_long_lists_are_cut(site):
    site.write("names", "".join(f"0x{number:x} \"n\"\n" for number in range(0x900000, 0x900019)))
    text = site.look("--node-name-map", "names")
    assert text.count("the fabric has no node") == 10 and "names: 15 more; --json lists all" in text


def test_bad_usage(site):
    assert "none: cannot open" in refused("doctor", "--opensm-conf", "none", cwd=site.folder)
    assert "none: cannot open" in refused("doctor", "--opensm-conf", "opensm.conf", "--config", "none", cwd=site.folder)
    assert "--nagios cannot be used with --json" in heddle("doctor", "--json", "--nagios", status=3)[1]
    assert "expected no operand" in refused("doctor", "site")
    for option in ("--log", "--node-name-map", "--opensm", "--plugin", "--logrotate"):
        assert "none: cannot open: No such file or directory" in refused("doctor", option, "none", cwd=site.folder)
    os.mkfifo(site.folder / "pipe")
    for path in ("pipe", "/dev/null", "."):
        assert f"{path}: cannot read: not a regular file" in refused("doctor", "--log", path, cwd=site.folder)
    assert heddle("doctor", "--nagios", "--log", "none", status=3, cwd=site.folder)[0].startswith("HEDDLE UNKNOWN - none")
    site.write("zero", "qos TRUE\0\n")
    assert "zero:1: zero byte" in refused("doctor", "--opensm-conf", "zero", cwd=site.folder)
