# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A clean Debian in a folder, what runs in it, and the sources of Heddle for it."""

import pathlib
import re
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SUITE = "bookworm"
# The clean system has no sudo, and its user is root.
SHELL = ["sh", "-eu", "-c"]
PRELUDE = 'sudo() { "$@"; }; '
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
# What the package system, and not a package, changes.
BOOKKEEPING = re.compile(r"/(var/(cache/(apt|debconf|ldconfig)|lib/(apt|dpkg)|log)/|etc/ld\.so\.cache$|tmp/|"
                         r"etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|run/adduser$)")
# What OpenSM itself writes in a sweep, and does not remove when its package is purged.
OPENSM = re.compile(r"/var/cache/opensm(/(guid2lid|guid2mkey|neighbors))?$")


# Only a command that hangs takes so long, in seconds.
PATIENCE = 3 * 3600


def run(command, timeout=PATIENCE, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def enter(root, script, **environment):
    """Runs a shell script inside the clean system."""
    return run(["chroot", str(root), *SHELL, PRELUDE + script], env={**ENVIRONMENT, **environment})


def enter_mounted(root, script, **environment):
    """The same with the file systems that programs expect of a running machine. They and all processes end with the
    script."""
    mounts = ("mount -t proc proc $1/proc; mount -t sysfs -o ro sysfs $1/sys; mount --rbind /dev $1/dev;"
              "exec chroot $1 sh -eu -c \"$2\"")
    return run(["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", *SHELL, mounts,
                "sh", str(root), PRELUDE + script], env={**ENVIRONMENT, **environment})


def make(root, suite=SUITE):
    """A Debian without anything that is not essential, whose packages can be installed."""
    run(["mmdebstrap", "--variant=minbase", "--quiet", suite, str(root)])
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        if pathlib.Path(name).exists():
            shutil.copy(name, str(root) + name)
    (root / "etc/dpkg/dpkg.cfg.d/fast").write_text("force-unsafe-io\n")
    (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")  # no package starts a service
    (root / "usr/sbin/policy-rc.d").chmod(0o755)
    enter(root, "apt-get -qq update")


def copy(root, target):
    run(["cp", "-a", "--reflink=auto", str(root), str(target)])


def copy_sources(destination):
    """The files under version control, as a fresh clone has them."""
    names = run(["git", "-C", str(SOURCE), "ls-files", "-z"]).split("\0")
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            target = destination / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, target)


def clone_sources(destination):
    """A fresh clone of what is committed."""
    run(["git", "clone", "-q", "--no-hardlinks", str(SOURCE), str(destination)])


def contents(root):
    """All paths of a clean system that belong to no other package, and its users and groups."""
    paths = set(run(["find", str(root), "-xdev", "-printf", "/%P\n"]).splitlines())
    for listing in (root / "var/lib/dpkg/info").glob("*.list"):
        if "heddle" not in listing.name:
            paths.difference_update(listing.read_text().splitlines())
    people = [line.split(":")[0] for name in ("passwd", "group")
              for line in (root / "etc" / name).read_text().splitlines()]
    return {path for path in paths if not BOOKKEEPING.match(path) and not OPENSM.match(path)} | set(people)


def code_blocks(text, heading):
    """The shell commands of a section of the README, block by block."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"README has no section '{heading}'"
    return re.findall(r"^```sh\n(.*?)^```", section.group(1), re.MULTILINE | re.DOTALL)
