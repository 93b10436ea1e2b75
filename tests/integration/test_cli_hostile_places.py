# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Another user has put something where root lets a command write, in a folder such as /tmp: nothing of root's is lost or
given away, whatever fs.protected_* of the kernel says."""

import contextlib
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

import pytest

from cli_testing import BAD, HEDDLE, generate, heddle
from fabric_sim import PATIENCE

NOBODY = 65534
TRIALS = ["-e", "updown", "-r", "5", "--trials", "2"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user, too; CI runs as root")


@contextlib.contextmanager
def nobody():
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture(name="open_path")
def make_open_path():
    """A folder to which nobody comes, too. Each pytest that begins closes those of all others."""
    with tempfile.TemporaryDirectory(prefix="heddle-places-") as name:
        os.chmod(name, 0o711)
        yield pathlib.Path(name)


@pytest.fixture(scope="module", name="folder")
def folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    generate(folder / "torus", "torus", "--dims", "3,3")
    generate(folder / "tree", "kary-ntree", "--k=2", "--n=2")
    heddle("survive", *TRIALS, folder / "tree", "--state", folder / "kept")
    lines = (folder / "kept").read_text().splitlines(keepends=True)
    (folder / "begun").write_text("".join(lines[:-1]))
    assert len(lines) > 2
    return folder


# The words of a command that writes `place`, and where a folder is written, the name of the file in it.
WRITERS = {
    "generate": lambda folder, place: ["topo", "generate", "torus", "--dims", "3,3", "-o", place],
    "convert": lambda folder, place: ["topo", "convert", folder / "torus", "-o", place],
    "route": lambda folder, place: ["route", "-e", "spf", folder / "torus", "-o", place],
    "levels": lambda folder, place: ["route", "-e", "turns", folder / "torus", "--sl", place, "-o", "/dev/null"],
    "certify": lambda folder, place: ["certify", "-e", "updown", folder / "torus", "-o", place],
    "diff": lambda folder, place: ["topo", "diff", folder / "torus", folder / "torus", "--html", place],
    "compare": lambda folder, place: ["compare", "-n", "10", folder / "torus", "-e", "spf", "-e", "updown", "--html",
                                      place],
    "sim": lambda folder, place: ["sim", "-e", "updown", folder / "tree", "--counters", place],
    "paths": lambda folder, place: ["paths", "-e", "spf", folder / "torus", "H_0_0_0", "H_1_1_0", "--graph", place],
    "mcast": lambda folder, place: ["mcast", folder / "torus", "H_0_0_0", "H_1_1_0", "--graph", place],
    "plan": lambda folder, place: ["ar", "plan", "-e", "updown", folder / "tree", "-o", place.parent],
    "survive": lambda folder, place: ["survive", *TRIALS, folder / "tree", "--state", place],
}
NAMES = {"plan": "heddle.far", "paths": "out.dot", "mcast": "out.dot"}


class Trap:
    """A folder of root where all may write, as /tmp, and one that only root may enter."""

    def __init__(self, path, name, text):
        self.text = text  # of all files
        self.safe, self.sticky = path / "safe", path / "sticky"
        self.safe.mkdir(mode=0o755)
        self.sticky.mkdir()
        self.sticky.chmod(0o1777)
        self.secret = self.safe / "secret"
        self.secret.write_text(text)
        self.secret.chmod(0o600)
        self.place = self.sticky / name

    def setuid(self):
        with nobody():
            self.place.write_text(self.text)
            self.place.chmod(0o4777)

    def fifo(self):
        with nobody():
            os.mkfifo(self.place)
            self.place.chmod(0o666)

    def link(self):
        with nobody():
            self.place.symlink_to(self.secret)

    def link_to_nothing(self):
        with nobody():
            self.place.symlink_to(self.safe / "new")

    def link_to_setuid(self):
        with nobody():
            own = self.sticky / "own"
            own.write_text(self.text)
            own.chmod(0o4777)
            self.place.symlink_to(own)

    def device(self):
        os.mknod(self.place, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chown(self.place, NOBODY, NOBODY)

    def hard_link(self):
        self.secret.chmod(0o4755)
        os.link(self.secret, self.place)  # as others can with fs.protected_hardlinks = 0

    def hard_fifo(self):
        os.mkfifo(self.safe / "pipe")
        os.link(self.safe / "pipe", self.place)

    def link_between(self):
        with nobody():
            (self.sticky / "folder").symlink_to(self.safe)
        self.place = self.sticky / "folder" / self.place.name


REFUSED = {"fifo", "device", "hard_fifo", "link_between"}
REPLACED = {"setuid", "link", "link_to_nothing", "link_to_setuid", "hard_link"}


@pytest.mark.parametrize("kind", sorted(REFUSED | REPLACED))
@pytest.mark.parametrize("writer", WRITERS)
def test_root_writes(writer, kind, folder, open_path):
    """What can be replaced is, by a file of root without rights for others. The rest is refused at once, and stays."""
    if writer in ("paths", "mcast") and not shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    # state that is kept must be right, or heddle would not go on with it
    trap = Trap(open_path, NAMES.get(writer, "out"), (folder / "begun").read_text() if writer == "survive" else "secret\n")
    getattr(trap, kind)()
    before, mode = [set(os.listdir(place)) for place in (trap.safe, trap.sticky)], trap.secret.stat().st_mode
    done = subprocess.run([HEDDLE, *map(str, WRITERS[writer](folder, trap.place))], capture_output=True, text=True,
                          timeout=PATIENCE, umask=0o022)
    assert trap.secret.read_text() == trap.text and trap.secret.stat().st_mode == mode
    made = {"heddle-ar-info.csv"} if writer == "plan" and kind in REPLACED else set()
    assert [set(os.listdir(trap.safe)), set(os.listdir(trap.sticky)) - made] == before, done.stderr
    if writer == "survive":  # goes on with a file, and replaces none
        assert done.returncode == BAD and str(trap.place) in done.stderr, done.stderr
    elif kind in REFUSED:
        assert done.returncode == BAD and f"cannot write {trap.place}: " in done.stderr, done.stderr
    else:
        assert done.returncode != BAD, done.stderr
        facts = trap.place.lstat()
        assert stat.S_ISREG(facts.st_mode) and facts.st_uid == 0 and facts.st_nlink == 1 and facts.st_size
        assert facts.st_mode & 0o7022 == 0, oct(facts.st_mode)


def test_rights_of_the_callers_own_file(tmp_path):
    """They stay, but for those that the umask takes away, and those that give the caller's own rights to others."""
    place = tmp_path / "out"
    for mode, expected in ((0o600, 0o600), (0o640, 0o640), (0o755, 0o755), (0o6777, 0o755), (0o666, 0o644)):
        place.write_text("")
        place.chmod(mode)
        heddle("topo", "generate", "torus", "--dims", "3,3", "-o", place, umask=0o022)
        assert oct(place.stat().st_mode & 0o7777) == oct(expected)
    assert os.listdir(tmp_path) == ["out"]


def test_links_of_the_caller_and_of_root(tmp_path):
    """They are followed, also in folders where others may write; a target that is missing is made."""
    tmp_path.chmod(0o1777)
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far")
    (tmp_path / "link").symlink_to("near/target")
    expected = heddle("topo", "generate", "torus", "--dims", "3,3")[0]
    for _ in range(2):
        generate(tmp_path / "link", "torus", "--dims", "3,3")
        assert (tmp_path / "far" / "target").read_text() == expected
        assert (tmp_path / "link").is_symlink() and os.listdir(tmp_path / "far") == ["target"]


def test_what_the_caller_has_open(tmp_path):
    """/dev/stdout, /dev/stderr, the shell's >(...), pipes of the caller and /dev/null work as ever, also if the one who
    opened them is another user, as with sudo."""
    words = f"{HEDDLE} topo generate torus --dims 3,3"
    expected = heddle("topo", "generate", "torus", "--dims", "3,3")[0]

    def bash(script):
        return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path,
                              check=True).stdout

    assert bash(f"{words} -o /dev/stdout") == expected
    assert bash(f"{words} -o /dev/stdout | cat") == expected
    assert bash(f"{words} -o /dev/stderr 2>&1 | cat") == expected
    assert bash(f"{words} -o /dev/fd/7 7>&1 | cat") == expected
    assert bash(f"{words} -o >(cat >got.new; mv got.new got); while [ ! -e got ]; do :; done; cat got") == expected
    assert bash(f"mkfifo pipe; cat pipe & {words} -o pipe; wait") == expected
    assert bash(f"{words} -o /dev/null; test -c /dev/null; {words} -o out; cat out") == expected
    assert bash(f"{words} -o /dev/stdout >file; cat file") == expected
    ends = os.pipe()
    os.fchown(ends[1], NOBODY, NOBODY)
    done = subprocess.Popen([*words.split(), "-o", "/dev/stdout"], stdout=ends[1])
    os.close(ends[1])
    with os.fdopen(ends[0]) as stream:
        assert stream.read() == expected
    assert done.wait(PATIENCE) == 0


def test_root_runs_nothing_of_others(folder, tmp_path):
    """Root loads no engine by a link of another user, nor by one in a folder of his: neither his file nor root's."""
    engines = tmp_path / "engines"
    engines.mkdir()
    os.chown(engines, NOBODY, NOBODY)
    (tmp_path / "root.so").write_text("no library, but root's\n")
    (engines / "own.so").symlink_to(tmp_path / "root.so")
    environment = {**os.environ, "HEDDLE_ENGINE_PATH": str(engines)}
    done = subprocess.run([HEDDLE, "engines"], capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert (f"engine module {engines}/own.so is not loaded: users other than root can change "
            f"{engines} (owner {NOBODY}, mode 755)") in done.stderr
