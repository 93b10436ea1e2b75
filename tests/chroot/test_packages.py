# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each Debian package is installed in a clean system, alone and with the others: it is used, upgraded over an edited
conffile, removed and purged, and nothing is left."""

import contextlib
import gzip
import os
import pathlib
import re
import subprocess
import time

import pytest

import clean_root
import deb_versions
import documented
from clean_root import enter, run

NAMES = ["heddle", "heddle-opensm", "heddle-router", "heddle-keyd", "heddle-slurm", "libheddle-key1",
         "libheddle-key-dev", "libheddle-dev", "heddle-mpi"]
NEEDED = {"libheddle-key-dev": "libheddle-key1", "heddle-mpi": "heddle"}  # one of ours that a package depends on
EDITED = {"heddle-opensm": "/etc/heddle/heddle.conf", "heddle-keyd": "/etc/default/heddle-keyd"}
# Links that systemctl enable makes. They go when the package is purged.
ENABLED = {"heddle-router": ["multi-user.target.wants/heddle-router.service"],
           "heddle-keyd": ["multi-user.target.wants/heddle-keyd.service", "sockets.target.wants/heddle-keyd.socket"]}
LEFT = {"_ssh", "rdma"}  # groups of packages that heddle-mpi and openmpi-bin need, which a purge leaves
EDIT = "# edited by an administrator\n"
TREE = """\
Switch 4 "leaf0"
[1] "host0"[1]
[2] "host1"[1]
[3] "spine0"[1]

Switch 4 "leaf1"
[1] "host2"[1]
[2] "host3"[1]
[3] "spine0"[2]

Switch 4 "spine0"
[1] "leaf0"[3]
[2] "leaf1"[3]
""" + "".join(f'\nHca 1 "host{i}"\n[1] "leaf{i // 2}"[{i % 2 + 1}]\n' for i in range(4))


@pytest.fixture(scope="module")
def root(clean, folder, packages):
    """A clean system, with the packages in /packages and their next versions in /later and /changed."""
    path = folder / "packages"
    clean_root.copy(clean, path)
    for name in ("packages", "later", "changed", "old"):
        (path / name).mkdir()
    for name in NAMES:
        deb, = packages.glob(f"{name}_*.deb")
        (path / "packages" / deb.name).write_bytes(deb.read_bytes())
        deb_versions.later(deb, path / "later")
        deb_versions.later(deb, path / "changed", "# a new default\n")
    deb_versions.old_single(*(next(packages.glob(f"{name}_*.deb")) for name in NAMES[:2]), path / "old")
    return path


def files(names, folder="/packages"):
    return " ".join(f"{folder}/{name}_*.deb" for name in names)


def apt(root, *words):
    enter(root, f"apt-get -qq -y --no-install-recommends {' '.join(words)} >/dev/null")


@contextlib.contextmanager
def simulated_fabric(root):
    """ibsim in the clean system, with a tree of three switches. Yields the environment of programs in it."""
    apt(root, "install", "ibsim-utils")
    (root / "tmp/tree.net").write_text(TREE)
    name = f"heddle-packages-{os.getpid()}"
    environment = {**clean_root.ENVIRONMENT, "IBSIM_SOCKNAME": name}
    process = subprocess.Popen(["chroot", str(root), "ibsim", "-s", "/tmp/tree.net"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        for _ in range(100):
            if name in pathlib.Path("/proc/net/unix").read_text():
                break
            time.sleep(0.1)
        library = next(root.glob("usr/lib/*/umad2sim/libumad2sim.so"))
        yield {"IBSIM_SOCKNAME": name, "SIM_HOST": "host0", "LIBRARY": "/" + str(library.relative_to(root))}
    finally:
        process.kill()
        process.wait()
        apt(root, "purge", "ibsim-utils")


def use_command(root):
    enter(root, "! command -v opensm; cd /tmp; heddle topo generate xgft --children 4,4 --parents 1,4 -o fabric.net;"
                "heddle route -e dmodk fabric.net -o tables.lfts; heddle check fabric.net tables.lfts;"
                "gzip -t /usr/share/man/man1/heddle.1.gz /usr/share/man/man1/heddle-route.1.gz")


def use_plugin(root):
    """OpenSM loads the plugin, with the options of the conffile, and routes a fabric with it. ibsim's library for umad
    cannot tell the plugin's answers from OpenSM's, so the plugin must not ask switches for adaptive routing."""
    enter(root, "sed 's/^\\[ar\\]$/&\\nforeign = yes/' /etc/heddle/heddle.conf >/tmp/heddle.conf")
    enter(root, "printf 'event_plugin_name heddle\\nevent_plugin_options heddle=/tmp/heddle.conf\\nrouting_engine auto,no_fallback\\nforce_log_flush TRUE\\n'"
                " >/tmp/opensm.conf")
    with simulated_fabric(root) as environment:
        enter(root, "cd /tmp; LD_PRELOAD=$LIBRARY timeout 60 opensm -o -F /tmp/opensm.conf -f /tmp/opensm.log"
                    " >/tmp/opensm.out 2>&1 || { tail /tmp/opensm.log /tmp/opensm.out >&2; exit 1; }", **environment)
    log = (root / "tmp/opensm.log").read_text(errors="replace")
    assert "is loaded; names for routing_engine" in log
    assert "auto tables configured on all switches" in log, log[-3000:]
    assert "heddle.conf" not in log, "the plugin complains of the conffile"
    assert (root / "var/cache/opensm/heddle-tables").exists()
    enter(root, "mkdir -p /run/heddle; touch /run/heddle/status.sock /run/heddle/drain.sock"
                "  /var/cache/opensm/heddle-drained")  # as an OpenSM that was killed leaves them


def use_router(root):
    enter(root, "getent passwd heddle-router >/dev/null; test -e /usr/lib/udev/rules.d/60-heddle-router.rules;"
                "grep -q ^User=heddle-router /usr/lib/systemd/system/heddle-router.service")
    enter(root, "heddle-router --version; gzip -t /usr/share/man/man8/heddle-router.8.gz; ! command -v opensm;"
                "grep -q ^ExecStart=/usr/sbin/heddle-router /usr/lib/systemd/system/heddle-router.service")


def use_keyd(root):
    """The server starts as its user, listens, and keeps its state."""
    enter(root, "gzip -t /usr/share/man/man8/heddle-keyd.8.gz; ! command -v opensm;"
                "grep -q ^ExecStart=/usr/sbin/heddle-keyd /usr/lib/systemd/system/heddle-keyd.service;"
                "test -e /usr/lib/systemd/system/heddle-keyd.socket; test -e /usr/lib/tmpfiles.d/heddle-keyd.conf;"
                "test $(stat -c %U:%a /var/lib/heddle/keyd) = heddle-keyd:750")
    enter(root, "mkdir -p /run/heddle; chown heddle-keyd /run/heddle;"
                "setpriv --reuid heddle-keyd --regid heddle-keyd --clear-groups heddle-keyd & keyd=$!;"
                "for i in 1 2 3 4 5 6 7 8 9 10; do test -S /run/heddle/keyd.sock && break; sleep 0.3; done;"
                "test -S /run/heddle/keyd.sock; test -e /var/lib/heddle/keyd/keyd.db; kill -KILL $keyd; wait $keyd || :;"
                "test -S /run/heddle/keyd.sock")  # which is left, to be purged


def use_slurm(root):
    """Slurm finds the plugin in its folder, and offers the option; prolog and epilog are there."""
    apt(root, "install", "slurm-client")
    enter(root, "cd /usr/share/doc/heddle-slurm/examples; cp plugstack.conf.d/heddle.conf /tmp/plugstack.conf;"
                "printf 'ClusterName=c\\nSlurmctldHost=localhost\\nNodeName=localhost\\nPartitionName=p Nodes=ALL\\n"
                "PlugStackConfig=/tmp/plugstack.conf\\n' >/tmp/slurm.conf;"
                "SLURM_CONF=/tmp/slurm.conf srun --help | grep -q -- --routing-pattern;"
                "for script in $(sed -n 's/^[EP].*logSlurmctld=//p' slurm.conf); do test -x $script; done")
    apt(root, "purge", "slurm-client")


def use_library(root):
    """The dynamic linker finds the library, and all that the library needs."""
    enter(root, "ldconfig -p | grep -q libheddle-key.so.1; ! ldd /usr/lib/*/libheddle-key.so.1 | grep 'not found'")


def use_library_files(root):
    enter(root, "test -e /usr/lib/*/libheddle-key.so; test -e /usr/include/heddle/keyd_client.h;"
                "grep -q ^prefix=/usr$ /usr/lib/*/pkgconfig/libheddle-key.pc")


def use_core_library(root):
    """The example of a program is built with the package alone, and routes a fabric."""
    apt(root, "install", "gcc", "pkgconf")
    (root / "tmp/tree.net").write_text(TREE)
    enter(root, "cd /tmp; examples=/usr/share/doc/libheddle-dev/examples;"
                "cc -std=c17 $(pkg-config --cflags heddle) $examples/largest_load.c -o load $(pkg-config --libs heddle);"
                "./load tree.net updown | grep clean")
    apt(root, "purge", "gcc", "pkgconf")


def use_mpi(root):
    """heddle loads the module when Debian's mpirun starts several of it: they print what one prints. It says what is
    missing where the package is not."""
    apt(root, "install", "openmpi-bin")
    clean_root.enter_mounted(root, """cd /tmp; heddle topo generate xgft --children 4,4 --parents 1,4 -o shared.net
        mpi() { mpirun --allow-run-as-root --oversubscribe -n 3 heddle "$@"; }
        heddle ebb -e dmodk shared.net >one; heddle survive -e dmodk -r 5,10 --trials 3 shared.net >>one || :
        mpi ebb -e dmodk shared.net >three; mpi survive -e dmodk -r 5,10 --trials 3 shared.net >>three || :
        cmp one three; heddle-measure --help >/dev/null; gzip -t /usr/share/man/man1/heddle-measure.1.gz
        folder=$(echo /usr/lib/*/heddle); mv $folder/mpi /tmp; ! mpi ebb -e dmodk shared.net 2>refused; mv /tmp/mpi $folder
        grep 'Install the package heddle-mpi on each host' refused""")
    apt(root, "purge", "openmpi-bin")


USES = dict(zip(NAMES, (use_command, use_plugin, use_router, use_keyd, use_slurm, use_library, use_library_files,
                        use_core_library, use_mpi)))


def live(root, names, leave_out=()):
    """Installs packages, uses them, upgrades them over edited conffiles, removes and purges them."""
    before = clean_root.contents(root)
    apt(root, "install", files(names))
    for name in names:
        if name not in leave_out:
            USES[name](root)
    for link in (root / "etc/systemd/system" / link for name in names for link in ENABLED.get(name, [])):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"/lib/systemd/system/{link.name}")
    edited = [root / EDITED[name].lstrip("/") for name in names if name in EDITED]
    for path in edited:
        path.write_text(path.read_text() + EDIT)
    # Without a new default dpkg has nothing to ask; with one it keeps what was edited.
    enter(root, f"dpkg -i {files(names, '/later')} </dev/null >/dev/null")
    enter(root, f"dpkg -i --force-confdef {files(names, '/changed')} </dev/null >/dev/null 2>&1")
    for path in edited:
        assert path.read_text().endswith(EDIT)
        assert pathlib.Path(f"{path}.dpkg-dist").exists()
    for name in names:
        assert enter(root, f"dpkg-query -W -f '${{Version}}' {name}") == "99"
    apt(root, "remove", *names)
    for path in edited:
        assert path.read_text().endswith(EDIT)
    enter(root, f"dpkg --purge {' '.join(names)} >/dev/null")
    apt(root, "autoremove", "--purge")
    assert clean_root.contents(root) - before - LEFT == set()


@pytest.mark.parametrize("name", NAMES)
def test_alone(root, name):
    """The package works with only what it depends on."""
    live(root, [name] + ([NEEDED[name]] if name in NEEDED else []))


def test_together(root):
    """All packages work on one machine."""
    live(root, NAMES, leave_out=["heddle", "heddle-router", "heddle-keyd", "libheddle-dev"])


def test_split(root):
    """The package heddle of version 0.1.0 contained the plugin. An upgrade gives its files to heddle-opensm, and keeps
    the heddle.conf that an administrator wrote. dpkg refuses heddle-opensm beside the old package."""
    before = clean_root.contents(root)
    apt(root, "install", "/old/heddle_0.1.0_*.deb")
    refused = subprocess.run(["chroot", str(root), "sh", "-c", f"dpkg -i {files(['heddle-opensm'])}"],
                             capture_output=True, text=True, env=clean_root.ENVIRONMENT)
    assert refused.returncode and "breaks heddle" in refused.stderr, refused.stderr
    conf = root / "etc/heddle/heddle.conf"
    conf.parent.mkdir(exist_ok=True)
    conf.write_text("[heddle]\nthreads = 1\n")
    apt(root, "install", "-o Dpkg::Options::=--force-confdef", files(["heddle", "heddle-opensm"]), "2>&1")
    assert conf.read_text() == "[heddle]\nthreads = 1\n"
    assert enter(root, "dpkg -S /usr/lib/*/libheddle.so").startswith("heddle-opensm:")
    use_plugin(root)
    apt(root, "purge", "heddle", "heddle-opensm")
    apt(root, "autoremove", "--purge")
    assert clean_root.contents(root) - before == set()


def test_all(packages):
    """No package that debian/ makes is left out here."""
    assert {path.name.split("_")[0] for path in packages.glob("*.deb")} == set(NAMES)
    control = (clean_root.SOURCE / "debian/control").read_text()
    assert set(re.findall(r"^Package: (.*)", control, re.M)) == set(NAMES)


def test_manuals(packages):
    """Each man page is in a package."""
    pages = {path.name for path in (clean_root.SOURCE / "doc/man").glob("*.[158]")}
    listed = "".join(run(["dpkg-deb", "-c", str(deb)]) for deb in packages.glob("*.deb"))
    assert {name for name in pages if f"/{name}.gz\n" not in listed} == set()


def test_hardening(packages, tmp_path):
    """Programs and libraries in the packages have full RELRO and stack protectors. Of a build tree,
    tests/integration/test_hardening.py looks at the rest, too."""
    for deb in packages.glob("*.deb"):
        run(["dpkg-deb", "-x", str(deb), str(tmp_path)])
    objects = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()
               and path.open("rb").read(4) == b"\x7fELF"]
    assert {"heddle", "libheddle.so", "heddle-router", "heddle-keyd"} <= {path.name for path in objects}
    for path in objects:
        shown = run(["readelf", "-W", "-l", "-d", "--dyn-syms", str(path)])
        assert "GNU_RELRO" in shown and re.search(r"FLAGS_1.* NOW", shown) and "__stack_chk_fail" in shown, path.name
        assert re.search(r"UND __(?!stack)\w+_chk", shown), path.name


def test_references(packages, tmp_path):
    """What documents link to, and the pages of Heddle that man pages name, are in a package."""
    for deb in packages.glob("*.deb"):
        run(["dpkg-deb", "-x", str(deb), str(tmp_path)])
    links = [(path, target) for path in tmp_path.rglob("usr/share/doc/**/*.md")
             for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()) if "://" not in target]
    assert len(links) > 100
    assert [(path.name, target) for path, target in links if not (path.parent / target).exists()] == []
    named = {(page.name, *found) for page in tmp_path.rglob("usr/share/man/**/*.gz")
             for found in re.findall(r"^\.BR (heddle[a-z_.-]*) \((\d)\)", gzip.decompress(page.read_bytes()).decode(), re.M)}
    assert len(named) > 20
    assert [name for name in named
            if not list(tmp_path.rglob(f"usr/share/man/**/{name[1]}.{name[2]}.gz"))] == []


def test_recommends(packages):
    """apt installs what draws the pictures beside the command, and the command beside the plugin."""
    deb, = packages.glob("heddle_*.deb")
    assert {"graphviz", "gnuplot"} <= set(run(["dpkg-deb", "-f", str(deb), "Recommends"]).replace(",", "").split())
    deb, = packages.glob("heddle-opensm_*.deb")
    assert run(["dpkg-deb", "-f", str(deb), "Recommends"]).strip() == "heddle"


def test_first_page(root):
    """The README's commands for offline work, and experiments by name, need the package heddle and nothing else."""
    apt(root, "install", files(["heddle"]))
    page = (clean_root.SOURCE / "README.md").read_text().split("## Check offline")[1].split("## Which engine")[0]
    commands = [command for command in documented.commands(page) if not command.text.startswith("mpirun ")]
    assert len(commands) > 12
    experiments = ["heddle sim --quick ar-fairness/c2-s5", "heddle reproduce bisection"]
    commands += [documented.Command(0, text, []) for text in experiments]
    (root / "tmp/reader").mkdir()
    documented.write_script(commands, root / "tmp/reader")
    enter(root, "cd /tmp/reader; bash commands")
    for command, (status, output) in zip(commands, documented.results(commands, root / "tmp/reader")):
        assert status == documented.status_of(command), f"{command.text}\nstatus {status}\n{output[-3000:]}"
    apt(root, "purge", "heddle")
    apt(root, "autoremove", "--purge")


def test_demo(root, installed):
    """The demonstration works with what the packages install. Only the emulator of its switches is in none of them."""
    names = ["heddle", "heddle-opensm", "heddle-keyd"]
    apt(root, "install", files(names), "ibsim-utils", "infiniband-diags", "python3")
    enter(installed, "cd /heddle; cmake -DHEDDLE_EMULATOR=ON build/release >/dev/null; ninja -C build/release >/dev/null")
    build = root / "demo"
    plugin = enter(root, "ls /usr/lib/*/libheddle.so").strip()
    for part, target in (("cli/heddle", "/usr/bin/heddle"), ("opensm/libheddle.so", plugin),
                         ("keyd/daemon/heddle-keyd", "/usr/sbin/heddle-keyd")):
        (build / part).parent.mkdir(parents=True)
        (build / part).symlink_to(target)
    clean_root.copy(installed / "heddle/build/release/tests", build / "tests")
    clean_root.copy(clean_root.SOURCE / "packaging", build / "packaging")
    printed = clean_root.enter_mounted(root, "HEDDLE_BUILD=/demo python3 -B /demo/packaging/demo.py")
    assert re.search(r"^Done in \d+ s", printed, re.M), printed[-3000:]
    clean_root.run(["rm", "-r", str(build)])
    apt(root, "purge", *names, "ibsim-utils", "infiniband-diags", "python3")
    apt(root, "autoremove", "--purge")


def test_own_engine(root):
    """An engine that is built with libheddle-dev routes in the command and in OpenSM, when its build tools are gone."""
    apt(root, "install", files(["libheddle-dev"]), "gcc", "pkgconf")
    enter(root, "cd /tmp; mkdir engines; cc -std=c17 -O2 -shared -fPIC -fvisibility=hidden $(pkg-config --cflags heddle)"
                " /usr/share/doc/libheddle-dev/examples/rotate.c -o engines/rotate.so $(pkg-config --libs heddle)")
    apt(root, "purge", "libheddle-dev", "gcc", "pkgconf")
    apt(root, "autoremove", "--purge")
    apt(root, "install", files(["heddle", "heddle-opensm"]))
    enter(root, "cd /tmp; heddle topo generate torus --dims 3,3 -o torus.net; HEDDLE_ENGINE_PATH=/tmp/engines heddle"
                " route -e rotate torus.net -o torus.lfts --sl torus.sl; heddle check torus.net torus.lfts torus.sl")
    (root / "tmp/own.conf").write_text("[heddle]\nengine_path = /tmp/engines\n")
    (root / "tmp/own.opensm").write_text("event_plugin_name heddle\nevent_plugin_options heddle=/tmp/own.conf\n"
                                         "routing_engine rotate,no_fallback\nforce_log_flush TRUE\n")
    with simulated_fabric(root) as environment:
        enter(root, "LD_PRELOAD=$LIBRARY timeout 60 opensm -o -F /tmp/own.opensm -f /tmp/own.log >/tmp/own.out 2>&1",
              **environment)
    assert "rotate tables configured on all switches" in (root / "tmp/own.log").read_text(errors="replace")
    apt(root, "purge", "heddle", "heddle-opensm")
    apt(root, "autoremove", "--purge")
