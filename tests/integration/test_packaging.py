# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The systemd units let the daemons do little else than their work, and the daemons get on with that."""

import os
import re
import shutil
import socket
import subprocess
import time

import pytest

from cli_testing import SOURCE
from fabric_sim import BUILD, PATIENCE, stop

PACKAGING = SOURCE / "packaging"
UNITS = {"heddle-router": PACKAGING / "heddle-router.service.in",
         "heddle-keyd": PACKAGING / "heddle-keyd" / "heddle-keyd.service.in"}
EXPOSURE = 2.5


def settings(name):
    """{key: [values]} of the section [Service]."""
    section = UNITS[name].read_text().split("[Service]\n")[1].split("\n[")[0]
    found = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", section, re.M):
        found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("name", UNITS)
def test_units(name):
    """No rights, no more devices than needed, system calls of services only, and a limit of memory."""
    unit = settings(name)
    assert unit["User"] == unit["Group"] == [name]
    assert unit["CapabilityBoundingSet"] == [""] and unit["NoNewPrivileges"] == ["yes"]
    assert unit["SystemCallFilter"] == ["@system-service", "~@privileged @resources"]
    assert re.fullmatch(r"\d+G", unit["MemoryMax"][0])
    if name == "heddle-router":
        assert unit["DevicePolicy"] == ["closed"] and unit["DeviceAllow"] == ["char-infiniband_mad rw"]
        rule = (PACKAGING / name / "60-heddle-router.rules").read_text()
        assert 'SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="heddle-router", MODE="0660"' in rule
    else:
        assert unit["PrivateDevices"] == ["yes"]
        assert "PrivateUsers" not in unit  # all users that ask would be nobody


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="missing: systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
def test_exposure(name, tmp_path):
    """systemd's own judgement. It knows all keys of the units, too."""
    unit = tmp_path / f"{name}.service"
    unit.write_text(UNITS[name].read_text().replace("@SBINDIR@", "/usr/sbin"))
    shown = subprocess.run(["systemd-analyze", "security", "--offline=yes", unit], capture_output=True, text=True,
                           check=True, timeout=PATIENCE, env={**os.environ, "LC_ALL": "C"})
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", shown.stdout)
    assert float(level.group(1)) <= EXPOSURE, shown.stdout
    assert "Unknown key" not in shown.stderr, shown.stderr


def removal(kind):
    """The script that runs when heddle-opensm is gone for good, for the system below the folder $DPKG_ROOT."""
    if kind == "deb":
        return (SOURCE / "debian" / "heddle-opensm.postrm").read_text(), "purge"
    script = (PACKAGING / "heddle.spec").read_text().split("%postun -n heddle-opensm\n")[1].split("\n%")[0]
    return re.sub(r"(/run/|/var/)", r"$DPKG_ROOT\1", script.replace("/sbin/ldconfig", ":")), "0"


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_nothing_is_left_for_a_later_installation(kind, tmp_path):
    """What is drained, tables and sockets go with the plugin, for one OpenSM and for several; files of others stay."""
    headers = "".join((SOURCE / "include" / "heddle" / name).read_text()
                      for name in ("config.h", "config/sections.h"))
    sockets = set(re.findall(r'"(/run/heddle/(?!keyd)[a-z]+\.sock)"', headers))
    assert {"/run/heddle/status.sock", "/run/heddle/drain.sock", "/run/heddle/sm.sock"} <= sockets
    kept = ["/run/heddle/keyd.sock", "/var/cache/opensm/guid2lid"]
    gone = [path for socket in sockets for path in (socket, socket.replace(".", "-0x2c9.", 1))]
    for source in ("drain/drain_file.c", "engine/state_file.c"):
        name = re.search(r'define FILE_NAME "(.*)"', (SOURCE / "opensm" / source).read_text()).group(1)
        gone += [f"/var/cache/opensm/{name}{end}" for end in ("", "-0x2c9", ".new", "-0x2c9.new")]
    for path in (tmp_path / name.lstrip("/") for name in kept + gone):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    script, word = removal(kind)
    subprocess.run(["sh", "-eu", "-c", script, "script", word], check=True, timeout=PATIENCE,
                   env={**os.environ, "DPKG_ROOT": str(tmp_path)})
    left = {f"/{path.relative_to(tmp_path)}" for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(kept)
    (tmp_path / "run/heddle/keyd.sock").unlink()
    subprocess.run(["sh", "-eu", "-c", script, "script", word], check=True, timeout=PATIENCE,
                   env={**os.environ, "DPKG_ROOT": str(tmp_path)})
    assert not (tmp_path / "run/heddle").exists()


def allowed_calls():
    """The system calls that the filter of the units lets through."""
    def names(group):
        shown = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True,
                               timeout=PATIENCE).stdout
        found = set()
        for line in shown.splitlines()[1:]:
            word = line.strip()
            if word.startswith("@"):
                found |= names(word)
            elif word and not word.startswith("#"):
                found.add(word)
        return found

    return names("@system-service") - names("@privileged") - names("@resources")


def answers(path):
    """A socket is there a moment before its process listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return not probe.connect_ex(str(path))


def traced(tmp_path, command, ready, work):
    """The system calls of a daemon from its start, without its exec, to its end by SIGTERM."""
    log = tmp_path / "calls"
    process = subprocess.Popen(["strace", "-f", "-qq", "-o", log, *command], stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        for _ in range(600 * PATIENCE):
            if answers(ready) or process.poll() is not None:
                break
            time.sleep(0.01)
        assert process.poll() is None
        work()
    finally:
        pid = int(log.read_text().split(maxsplit=1)[0])
        os.kill(pid, 15)
        process.wait(PATIENCE)
        stop(process)
    return set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)[( ]", log.read_text(), re.M))


needs_tools = pytest.mark.skipif(not (shutil.which("strace") and shutil.which("systemd-analyze")),
                                 reason="missing: strace or systemd-analyze")


@needs_tools
@pytest.mark.skipif(not (BUILD / "ir_router/agent/heddle-router").exists(), reason="missing: heddle-router")
def test_system_calls_of_the_router(tmp_path):
    """heddle-router needs only those that its unit allows."""
    agent, control = BUILD / "ir_router/agent/heddle-router", tmp_path / "run" / "control"
    conf = tmp_path / "heddle.conf"
    conf.write_text(f"[router]\nnode_guid = 0x5\ncontrol = {control}\n"
                    f"[router.subnet 0xfec0000000000001]\nsocket = {tmp_path}/none\nsmp = no\n")
    calls = traced(tmp_path, [agent, "--config", conf], control, lambda: subprocess.run(
        [agent, "show", "subnets", "--control", control], check=True, capture_output=True, timeout=PATIENCE))
    assert "accept4" in calls
    assert calls - allowed_calls() == set()
    assert not control.exists()


@needs_tools
@pytest.mark.skipif(not (BUILD / "keyd/daemon/heddle-keyd").exists(), reason="missing: heddle-keyd")
def test_system_calls_of_keyd(tmp_path):
    """heddle-keyd needs only those that its unit allows."""
    listening, conf = tmp_path / "keyd.sock", tmp_path / "heddle.conf"
    conf.write_text(f"[keyd]\nsocket = {listening}\nstate = {tmp_path}/state\nsm_sockets = {tmp_path}/none\n")
    (tmp_path / "state").mkdir()
    ask = [BUILD / "cli/heddle", "key", "list", "--socket", listening]
    calls = traced(tmp_path, [BUILD / "keyd/daemon/heddle-keyd", "--config", conf], listening,
                   lambda: subprocess.run(ask, check=False, capture_output=True, timeout=PATIENCE))
    spared = {"setrlimit"}  # the unit gives it the limit that it asks for
    if not os.geteuid():
        spared.add("fchown")  # SQLite calls it as root only
    assert "accept4" in calls
    assert calls - allowed_calls() - spared == set()


SCRIPTS = [path for pattern in ("*.p*rm", "*.postinst") for path in sorted((SOURCE / "debian").glob(pattern))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts(script):
    """The shell can read them."""
    subprocess.run(["sh", "-n", script], check=True, timeout=PATIENCE)
