# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bad input: the command refuses each case with status 2 and a message that says where and why."""

import contextlib
import os
import pty
import re
import stat
import subprocess
import time

import pytest

from cli_testing import HEDDLE, generate, heddle, refused, route


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    generate(folder / "tree", "xgft", "--children=4,4", "--parents=1,4")
    generate(folder / "torus", "torus", "--dims=3,3")
    route("dmodk", folder / "tree", folder / "tree.lft")
    route("updown", folder / "torus", folder / "torus.lft")
    return folder


def changed(folder, name, pattern, replacement):
    """The tree with the first match of a pattern replaced."""
    text, count = re.subn(pattern, replacement, (folder / "tree").read_text(), count=1)
    assert count == 1
    (folder / name).write_text(text)
    return folder / name


def test_a_file_that_is_not_there(folder):
    assert "none: cannot open: No such file or directory" in refused("topo", "show", folder / "none")
    assert "none: cannot open: No such file or directory" in refused("check", folder / "tree", folder / "none")


def test_a_truncated_file(folder):
    text = (folder / "tree").read_text()
    (folder / "truncated").write_text(text[:len(text) // 2])
    message = refused("topo", "show", folder / "truncated")
    assert re.search(r"truncated(:\d+)?: ", message)


def test_an_empty_file(folder):
    (folder / "empty").write_text("")
    assert "empty" in refused("topo", "show", folder / "empty")
    assert "empty" in refused("check", folder / "tree", folder / "empty")


def test_a_one_sided_link(folder):
    path = changed(folder, "onesided", r'(?m)^\[5\]\t"S-.*\n', "")
    message = refused("topo", "show", path)
    assert "one-sided link" in message and "which does not list this cable" in message
    assert "'S2_0'" in message and "'S1_0'" in message


def test_a_duplicate_guid(folder):
    text = (folder / "tree").read_text()
    stanza = re.search(r"(?ms)^vendid.*?^switchguid=0x200000\(.*?\n\n", text).group()
    (folder / "twice").write_text(text + "\n" + stanza)
    message = refused("topo", "show", folder / "twice")
    assert re.search(r"twice:\d+: duplicate GUID: .*0000000000200000", message)


def test_a_port_out_of_range(folder):
    path = changed(folder, "port", r'(?m)^\[8\]\t"S-', '[9]\t"S-')
    message = refused("topo", "show", path)
    assert re.search(r"port:\d+: .*port 9 of 'S1_0'.*expected 1..8", message)


def test_two_switches_that_claim_a_lid(folder):
    text = (folder / "tree").read_text()
    text = text.replace("lid 18 ", "lid 17 ")
    (folder / "claimed").write_text(text)
    message = refused("topo", "show", folder / "claimed")
    assert "LID 17" in message and "'S1_1'" in message and "'S1_0'" in message


def test_tables_of_another_fabric(folder):
    message = refused("check", folder / "tree", folder / "torus.lft")
    assert re.search(r"torus\.lft:\d+: ", message)


def test_a_large_file_of_garbage_is_refused(folder):
    with open(folder / "garbage", "wb") as file:
        for _ in range(50):
            file.write(os.urandom(1 << 20))
    assert "garbage" in refused("topo", "show", folder / "garbage")
    assert "garbage" in refused("check", folder / "tree", folder / "garbage")
    (folder / "garbage").unlink()


def test_a_large_text_of_nothing_is_refused(folder):
    (folder / "prose").write_text("nothing that routes\n" * (50 * (1 << 20) // 20))
    assert "prose" in refused("topo", "show", folder / "prose")
    (folder / "prose").unlink()


def test_a_message_does_not_steer_the_terminal(folder, tmp_path):
    """Whatever file it quotes; letters beyond ASCII stay."""
    listed = tmp_path / "listed"
    listed.write_bytes(b'"Kn\xc3\xb6ten\t\x1b[2J\x1b]0;title\x07\x7f"\n')
    quoted = "Kn\u00f6ten " + r"\u001b[2J\u001b]0;title\u0007\u007f"
    assert f"listed:1: '{quoted}' is not a host" in refused("mcast", "--members", listed, folder / "tree")
    message = refused("ebb", folder / "tree", "-e", "dmodk", "--map", listed)
    assert "listed:1: " in message and message.rstrip("\n").isprintable(), ascii(message)
    message = refused("paths", folder / "tree", folder / "tree.lft", listed.read_text(), "1")
    assert r"\u001b[2J" in message and "\x1b" not in message


def test_a_folder_for_a_fabric(folder):
    assert "Is a directory" in refused("topo", "show", folder)


def test_an_lmc_for_which_the_lids_do_not_suffice(tmp_path):
    fabric = generate(tmp_path / "big", "xgft", "--children=16,16,16", "--parents=1,4,2")
    message = refused("route", "-e", "dmodk", "--lmc=7", fabric)
    assert "4096 hosts with LMC 7" in message
    assert "the last unicast LID is 49151; the largest LMC that fits is 3" in message


USAGE = [
    (["fly"], "unknown command 'fly'"),
    (["--vresion"], "unknown option '--vresion'; did you mean '--version'?"),
    (["topo", "--hlep"], "unknown option '--hlep'; did you mean '--help'?"),
    (["-e", "dmodk", "route"], "unknown option '-e'; options of a command follow its name"),
    (["route", "TREE"], "no engine given"),
    (["route", "-e", "best", "TREE"], "unknown engine 'best'; there are: "),
    (["route", "-e"], "option '-e' needs a value"),
    (["route", "-e", "dmodk"], "expected one FABRIC, got 0"),
    (["route", "-e", "dmodk", "TREE", "TREE"], "expected one FABRIC, got 2"),
    (["route", "-e", "dmodk", "--lmc=8", "TREE"], "'8' is not a whole number 0..7"),
    (["route", "-e", "dmodk", "--threads=0", "TREE"], "'0' is not a whole number 1..64"),
    (["route", "-e", "dmodk", "--json", "TREE"], "--json needs -o FILE"),
    (["route", "-e", "dmodk", "--json=yes", "TREE"], "option '--json=yes' takes no value"),
    (["route", "-xe", "dmodk", "TREE"], "unknown option '-x'"),
    (["check", "TREE"], "expected FABRIC and TABLES (with -e: FABRIC), got 1"),
    (["check", "--max-faults=none", "TREE", "TREE"], "'none' is not a whole number 1..1000000"),
    (["engines", "--colour"], "unknown option '--colour'"),
    (["mcast", "TREE"], "no member given\nUsage: heddle mcast [OPTION]... FABRIC MEMBER...\n   or: "),
    (["sim", "TREE"], "a scenario begins with a [section]"),
]


@pytest.mark.parametrize("arguments,message", USAGE)
def test_bad_usage(folder, arguments, message):
    arguments = [str(folder / "tree") if word == "TREE" else word for word in arguments]
    said = refused(*arguments)
    assert message in said and "\\u000a" not in said


def test_without_a_command_the_commands_are_listed():
    message = refused()
    assert "no command given" in message
    for command in ("topo", "engines", "route", "check"):
        assert f"  {command} " in message


def test_a_full_disk_is_reported(folder):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    message = "heddle: cannot write /dev/full: No space left on device\n"
    assert refused("route", "-e", "dmodk", folder / "tree", "-o", "/dev/full") == message
    assert refused("topo", "convert", folder / "tree", "-o", "/dev/full") == message
    with open("/dev/full", "w") as full:
        for command in (["topo", "show", folder / "tree"], ["topo", "convert", folder / "tree"],
                        ["check", folder / "tree", folder / "tree.lft"], ["--version"]):
            done = subprocess.run([HEDDLE, *command], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
            assert done.returncode == 2
            assert done.stderr == \
                "heddle: cannot write standard output: No space left on device\n"


def test_a_failed_write_leaves_the_old_file(folder, tmp_path):
    """A file size limit cuts the write short: the old tables stay, no temporary file does."""
    old = tmp_path / "tables"
    old.write_text("old tables\n")
    done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "-", HEDDLE,
                           "route", "-e", "dmodk", folder / "tree", "-o", old],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "tables: File too large" in done.stderr
    assert old.read_text() == "old tables\n"
    assert list(tmp_path.iterdir()) == [old]


def test_a_file_that_cannot_be_made(folder, tmp_path):
    message = refused("topo", "convert", folder / "tree", "-o", tmp_path / "none" / "file")
    assert message.endswith("none/file: No such file or directory\n")


@pytest.mark.parametrize("option,replaced,arguments", [
    ("output", "in", ["route", "-e", "dmodk", "in", "-o", "in"]),
    ("output", "in", ["route", "-e", "dmodk", "in", "-o", "link"]),
    ("slvl", "in", ["route", "-e", "dmodk", "./in", "--slvl", "in"]),
    ("output", "tables", ["route", "-e", "dmodk", "in", "--previous=tables", "-o", "tables"]),
    ("sl", "list", ["route", "-e", "dmodk", "in", "--root-guid-file=list", "--sl=list"]),
    ("output", "in", ["topo", "convert", "in", "-o", "./in"]),
    ("graph", "in.dot", ["mcast", "--members=in.dot", "--graph=in.dot", "in", "2"]),
    ("graph", "in.dot", ["mcast", "--mcfdbs=in.dot", "--mlid=0xC000", "--graph=in.dot", "in"]),
    ("graph", "in.dot", ["paths", "--graph=in.dot", "in", "tables", "in.dot", "1", "2"]),
    ("html", "tables", ["compare", "--html=tables", "in", "-e", "spf", "tables"]),
    ("html", "list", ["compare", "--html=list", "--map=list", "in", "tables", "-e", "spf"]),
    ("html", "list", ["compare", "--html=list", "-p", "pairs:file=list", "in", "tables", "tables"]),
    ("plot", "in.svg", ["ebb", "--plot=in.svg", "in.svg", "tables"]),
    ("counters", "in", ["sim", "--counters=in", "--fabric", "in"]),
])
def test_an_output_that_is_an_input_is_refused(folder, tmp_path, option, replaced, arguments):
    """Whatever the file is named by, and it stays as it was."""
    for name in ("in", "in.dot", "in.svg", "tables", "list"):
        (tmp_path / name).write_bytes((folder / "tree").read_bytes())
    (tmp_path / "link").symlink_to("in")
    message = refused(*arguments, cwd=tmp_path)
    assert re.search(rf"option '--{option}' would replace \S+, which is an input", message), message
    assert (tmp_path / replaced).read_bytes() == (folder / "tree").read_bytes()


def test_output_replaces_a_file_and_keeps_its_mode(folder, tmp_path):
    """Followed through a symbolic link, which stays one."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    heddle("topo", "convert", folder / "tree", "-o", link)
    assert link.is_symlink() and real.read_text() == (folder / "tree").read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    heddle("topo", "convert", folder / "tree", "-o", tmp_path / "new", umask=0o027)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_fabric_may_come_through_a_pipe(folder):
    text = (folder / "tree").read_text()
    assert heddle("topo", "convert", "/dev/stdin", input=text)[0] == text


def read_all(terminal):
    """What a terminal shows until nobody has it open any more."""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 4096):
            yield chunk.decode()
    os.close(terminal)


def test_a_terminal_sees_progress_after_a_second():
    """The fabric comes when the terminal has shown that the command waits for it."""
    reader, writer = pty.openpty()
    with subprocess.Popen([HEDDLE, "topo", "show", "/dev/stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=writer) as process:
        os.close(writer)
        shown, output = "", read_all(reader)
        while "reading /dev/stdin ... 1 s" not in shown:
            shown += next(output)
        process.stdin.close()
        process.stdout.read()
        shown += "".join(output)
    assert shown.index("\r\x1b[K") < shown.rindex("\r\x1b[K") < shown.index("heddle: ")


def test_a_terminal_sees_no_progress_of_what_is_quick():
    """Of nothing that takes less than a second, start and end included."""
    reader, writer = pty.openpty()
    begin = time.monotonic()
    with subprocess.Popen([HEDDLE, "topo", "show", "/dev/stdin"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=writer) as process:
        os.close(writer)
        process.stdout.read()
    took, shown = time.monotonic() - begin, "".join(read_all(reader))
    assert "heddle: " in shown and ("..." not in shown or took >= 1)
