# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The README's installation works on a clean Debian 12 with only the packages that it names."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SUITE = "bookworm"
# The clean system has no sudo, and its user is root.
SHELL = ["sh", "-eu", "-c"]
PRELUDE = 'sudo() { "$@"; }; export DEBIAN_FRONTEND=noninteractive; '


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def enter(root, script):
    """Runs a shell script inside the clean system."""
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", "LC_ALL": "C.UTF-8"}
    return run(["chroot", str(root), *SHELL, PRELUDE + script], env=environment)


def code_blocks(text, heading):
    """The shell commands of a section of the README, block by block."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"README has no section '{heading}'"
    return re.findall(r"^```sh\n(.*?)^```", section.group(1), re.MULTILINE | re.DOTALL)


def copy_sources(destination):
    """The files under version control, as a fresh clone has them."""
    names = run(["git", "-C", str(SOURCE), "ls-files", "-z"]).split("\0")
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            target = destination / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, target)


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A Debian without anything that is not essential, and Heddle's sources in /heddle."""
    root = tmp_path_factory.mktemp("clean") / "root"
    run(["mmdebstrap", "--variant=minbase", "--quiet", SUITE, str(root)])
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        if pathlib.Path(name).exists():
            shutil.copy(name, str(root) + name)
    copy_sources(root / "heddle")
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def installed(clean):
    """The same after the commands of the README's section on requirements and installation."""
    readme = (SOURCE / "README.md").read_text()
    for block in code_blocks(readme, "Requirements") + code_blocks(readme, "Install"):
        enter(clean, f"cd /heddle; {block}")
    return clean


def test_may_run():
    """The tests below need root: they enter a file system of their own."""
    assert os.geteuid() == 0, "run as root"
    assert shutil.which("mmdebstrap"), "mmdebstrap is missing: packaging/setup chroot installs it"


def test_command_works(installed):
    """The installed command generates, routes and checks a fabric."""
    enter(installed, "cd /tmp; heddle topo generate xgft --children 4,4 --parents 1,4 -o fabric.net;"
                     "heddle route -e dmodk fabric.net -o tables.lfts; heddle check fabric.net tables.lfts")


def test_plugin_is_found(installed):
    """The dynamic linker finds the plugin, and OpenSM's version is the one it was built for."""
    assert "libheddle.so" in enter(installed, "ldconfig -p")
    symbols = enter(installed, "opensm --version; grep -c osm_event_plugin $(ldconfig -p | "
                               "sed -n 's/.*libheddle.so.* => //p')")
    assert "OpenSM" in symbols


def test_manual_pages_are_installed(installed):
    """Man pages lie where man looks for them."""
    pages = enter(installed, "ls /usr/local/share/man/man1 /usr/local/share/man/man5")
    assert "heddle.1" in pages and "heddle-route.1" in pages and "heddle.conf.5" in pages


def test_package(installed):
    """cpack makes a Debian package that a clean system installs and removes again."""
    enter(installed, "xargs rm -f < /heddle/build/release/install_manifest.txt; ldconfig;"
                     "cd /heddle/build/release; apt-get -qq install -y --no-install-recommends dpkg-dev file >/dev/null;"
                     "cpack -G DEB >/dev/null; apt-get -qq install -y --no-install-recommends ./heddle_*.deb ./heddle-opensm_*.deb >/dev/null;"
                     "heddle engines --names; apt-get -qq purge -y heddle heddle-opensm >/dev/null;"
                     "test ! -e /usr/bin/heddle")


def test_router_package(installed):
    """The agent of a router has a package of its own, which needs no OpenSM, with unit and man page."""
    enter(installed, "cd /heddle/build/release; test ! -e /usr/sbin/heddle-router;"
                     "dpkg-deb -f heddle-router_*.deb Depends | grep -q libevent;"
                     "! dpkg-deb -f heddle-router_*.deb Depends | grep -q opensm;"
                     "apt-get -qq install -y --no-install-recommends ./heddle-router_*.deb >/dev/null;"
                     "heddle-router --version; test -e /usr/share/man/man8/heddle-router.8;"
                     "grep -q ^ExecStart=/usr/sbin/heddle-router /usr/lib/systemd/system/heddle-router.service;"
                     "apt-get -qq remove -y heddle-router >/dev/null; test ! -e /usr/sbin/heddle-router")


def test_keyd_package(installed):
    """heddle-keyd has a package with units, a user, a conffile and state, which purge removes."""
    enter(installed, "cd /heddle/build/release; test ! -e /usr/sbin/heddle-keyd;"
                     "dpkg-deb -f heddle-keyd_*.deb Depends | grep -q libsqlite3;"
                     "! dpkg-deb -f heddle-keyd_*.deb Depends | grep -q opensm;"
                     "apt-get -qq install -y --no-install-recommends ./heddle-keyd_*.deb >/dev/null;"
                     "heddle-keyd --version; test -e /usr/share/man/man8/heddle-keyd.8;"
                     "grep -q ^ExecStart=/usr/sbin/heddle-keyd /usr/lib/systemd/system/heddle-keyd.service;"
                     "test -e /usr/lib/systemd/system/heddle-keyd.socket; test -e /usr/lib/tmpfiles.d/heddle-keyd.conf;"
                     "dpkg-query -W -f '${Conffiles}' heddle-keyd | grep -q /etc/default/heddle-keyd;"
                     "test $(stat -c %U:%a /var/lib/heddle/keyd) = heddle-keyd:750")
    enter(installed, "mkdir -p /run/heddle; chown heddle-keyd /run/heddle;"
                     "setpriv --reuid heddle-keyd --regid heddle-keyd --clear-groups heddle-keyd & keyd=$!;"
                     "sleep 2; test -S /run/heddle/keyd.sock; kill $keyd; wait $keyd; test -e /var/lib/heddle/keyd/keyd.db")
    enter(installed, "echo '# changed' >> /etc/default/heddle-keyd; apt-get -qq remove -y heddle-keyd >/dev/null;"
                     "test ! -e /usr/sbin/heddle-keyd; grep -q changed /etc/default/heddle-keyd;"
                     "test -e /var/lib/heddle/keyd/keyd.db; apt-get -qq purge -y heddle-keyd >/dev/null;"
                     "test ! -e /var/lib/heddle; test ! -e /etc/default/heddle-keyd; ! getent passwd heddle-keyd")


def test_slurm_package(installed):
    """Slurm finds the plugin in its folder, and offers the option; prolog and epilog are there."""
    enter(installed, "cd /heddle/build/release; apt-get -qq install -y --no-install-recommends slurm-client >/dev/null;"
                     "apt-get -qq install -y --no-install-recommends ./heddle-slurm_*.deb >/dev/null;"
                     "cd /usr/share/doc/heddle-slurm/examples; cp plugstack.conf.d/heddle.conf /tmp/plugstack.conf;"
                     "printf 'ClusterName=c\\nSlurmctldHost=localhost\\nNodeName=localhost\\nPartitionName=p Nodes=ALL\\n"
                     "PlugStackConfig=/tmp/plugstack.conf\\n' >/tmp/slurm.conf;"
                     "SLURM_CONF=/tmp/slurm.conf srun --help | grep -q -- --routing-pattern;"
                     "for script in $(sed -n 's/^[EP].*logSlurmctld=//p' slurm.conf); do test -x $script; done;"
                     "apt-get -qq remove -y heddle-slurm >/dev/null; test ! -e /usr/lib/heddle/slurm/prolog")


def test_library_packages(installed):
    """A program builds with the library by pkg-config, and runs with the library's package alone."""
    enter(installed, "cd /heddle/build/release;"
                     "apt-get -qq install -y --no-install-recommends ./libheddle-key1_*.deb ./libheddle-key-dev_*.deb "
                     ">/dev/null;"
                     "printf '#include <heddle/keyd_client.h>\\nint main(void) { struct hd_key_client *client; return "
                     "hd_key_client_new(NULL, 1, &client, NULL); }\\n' >/tmp/p.c;"
                     "cc /tmp/p.c -o /tmp/p $(pkg-config --cflags --libs libheddle-key);"
                     "apt-get -qq remove -y libheddle-key-dev >/dev/null; /tmp/p; test ! -e /usr/lib/libheddle-key.so")
