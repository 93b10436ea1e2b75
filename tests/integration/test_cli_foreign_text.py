# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names, titles, file names and what sockets answer are data. Whatever is in them, each command prints, in each of
its formats, plain text that a terminal does not obey and a reader can read. The commands are those of
test_cli_statuses.py, which has runs of each, and their formats those that --help lists."""

import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import unicodedata
import xml.etree.ElementTree

import pytest

from cli_testing import BAD, CLEAN, FAULTS, HEDDLE, generate, heddle
from fabric_sim import PATIENCE
from fake_keyd import FakeKeyd
from test_cli_docs import COMMANDS, options_of
from test_cli_schemas import MORE, fixture_files, name_of  # noqa: F401
from test_cli_status import ANSWER, served
from test_cli_statuses import RUNS, fixture_folder  # noqa: F401

SEEN = "é日本"  # a reader reads these
# C0, DEL, C1 in UTF-8 and as a byte, a byte that is no UTF-8, directions, a separator of lines, no width, a tag
WORST = b"\x1b[2J\x08\x7f\xc2\x9b8m\xc2\x85\x9b\xff\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x80\x81"
HOSTILE = SEEN.encode() + WORST
ODD = HOSTILE + b"\r\tx"  # in names of files
LINES = HOSTILE + b"\nFORGED\r\tx"  # in answers
ESCAPED = r"\u001b[2J\u0008\u007f\u009b8m\u0085\x9b\xff\u202e\u2066\u2028\u200b\ufeff\udb40\udc01"
FORMATS = ("json", "csv", "nagios")
FILES = {"html": "html", "graph": "dot", "plot": "svg"}


def assert_plain(data, place):
    text = data.decode()  # valid UTF-8
    wrong = {hex(ord(one)) for one in text if one not in "\n\t" and
             (unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp", "Cs") or ord(one) & 0xFFFE == 0xFFFE)}
    assert not wrong, f"{place}: {wrong}\n{text[:2000]!r}"
    assert not re.search(r"(?m)^FORGED", text), f"{place}: a line of its own\n{text[:2000]!r}"
    return text


def written(folder):
    """The files that a run has made, which are removed."""
    for path in sorted(folder.glob("new*")):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                yield file.name, file.read_bytes()
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def run(words, folder):
    """Runs the command; all that it writes must be plain. Returns its status, stdout and files."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    done = subprocess.run([HEDDLE.encode(), *words], cwd=folder, capture_output=True, timeout=PATIENCE)
    files = dict(written(folder))
    said = assert_plain(done.stdout, f"stdout of {words}")
    assert_plain(done.stderr, f"stderr of {words}")
    return done.returncode, said, {name: assert_plain(data, f"{name} of {words}") for name, data in files.items()}


@functools.cache
def formats_of(command):
    """Options that make a command print or write in another format, as --help lists them."""
    words = command.split()
    options = options_of([*words, "torus"] if command == "topo generate" else words)
    return [[], *([f"--{name}"] for name in FORMATS if name in options),
            *([f"--{name}=new.{ending}"] for name, ending in FILES.items() if name in options and
              (ending != "svg" or shutil.which("gnuplot")))]


ALL = list(dict.fromkeys([text for _, text in RUNS] + MORE))
# A quarter of the commands, and in CI all.
SAMPLE = [pytest.param(text, marks=pytest.mark.alike) if number % 4 else text for number, text in enumerate(ALL)]
SLOW = ("reproduce",)  # its input is in the package


def test_each_command_is_run():
    words = [" ".join(one[:2] if one[0] in ("topo", "ar", "map", "key", "config") else one) for one in COMMANDS]
    assert {name_of(text) for text in ALL} >= set(words) - {"key propose"}


def rename(path):
    """Adds to the names of all nodes in a file of Heddle."""
    data = path.read_bytes()
    if b"guid=" in data:
        path.write_bytes(re.sub(rb'(# ")([^"]*)(")', rb"\1\2 " + HOSTILE.replace(b"\\", b"\\\\") + rb"\3", data))
    elif b"Unicast lids" in data:
        path.write_bytes(re.sub(rb"(\(')([^']*)('\))", rb"\1\2 " + HOSTILE + rb"\3", data))


@pytest.fixture(scope="module", name="site")
def fixture_site(files):
    """The folder of the runs with hostile names of nodes, a title, and files that have hostile names, too."""
    (files / "jobs").write_bytes(b"17" + HOSTILE.replace(b"\xe2\x80\xa8", b"") + b" H_[0-2]_0,H_3_[0,1]\n")
    for path in list(files.iterdir()):
        if path.is_file():
            rename(path)
    scenario = files / "flow.ini"
    scenario.write_bytes(b"[scenario]\ntitle = " + HOSTILE + b"\n" + scenario.read_bytes())
    shutil.copy(files / "careless", files / "odd.conf")
    with open(files / "odd.conf", "ab") as conf:
        conf.write(b"routing_engine dmodk," + HOSTILE + b"\n")
    for path in list(files.iterdir()):
        os.symlink(path.name, bytes(files) + b"/" + path.name.encode() + ODD)
    return files


def disguised(text, site):
    """The words of a run, with the hostile name of each file."""
    names, before = {path.name for path in site.iterdir()} | {"none"}, ""
    for word in text.split():
        head, mark, name = word.rpartition("=")
        hidden = name in names and before != "-p"
        yield (head + mark + name).encode() + (ODD if hidden else b"")
        before = word


@pytest.mark.parametrize("text", ALL)
def test_names_of_nodes_and_titles(site, text):
    """In all formats, each of which can be read. The status is that of the same run with other names."""
    statuses = {status for status, other in RUNS if other == text}
    for extra in formats_of(name_of(text)):
        status, said, files = run([*text.split(), *extra], site)
        assert extra or not statuses or status in statuses, said
        if extra == ["--json"] and status != BAD:
            json.loads(said)
        if extra == ["--csv"] and status != BAD:
            assert len({len(row) for row in csv.reader(io.StringIO(said))}) == 1
        for name, data in files.items():
            if name.endswith((".svg", ".html")):
                xml.etree.ElementTree.fromstring(data.replace("<!DOCTYPE html>", ""))


@pytest.mark.parametrize("text", SAMPLE)
def test_names_of_files(site, text):
    words = list(disguised(text, site))
    for extra in formats_of(name_of(text)) if name_of(text) not in SLOW else [[]]:
        run([*words, *extra], site)


def damaged(data, chance):
    """Foreign text in the place of a word, a number, or between two of them, on a few lines."""
    lines = data.split(b"\n")
    for _ in range(chance.randrange(1, 3)):
        at = chance.randrange(min(len(lines), 60))
        words = re.split(rb"(\s+|[=,\"'])", lines[at])
        words[chance.randrange(len(words))] = HOSTILE if chance.randrange(2) else WORST[chance.randrange(4):]
        lines[at] = b"".join(words)
    return b"\n".join(lines)


def test_a_file_whose_name_has_a_line_feed(site):
    """Is refused, because a report names its files on lines of its own."""
    for command in (["topo", "show"], ["check", "-e", "dmodk"], ["doctor", "--fabric"]):
        assert run([*command, b"tree\nFORGED"], site)[:2] == (BAD, "")


@pytest.mark.parametrize("text", SAMPLE)
def test_damaged_files(site, text):
    """What a command says of lines that it does not understand."""
    chance = random.Random(text)
    words = text.split()
    for place, word in enumerate(words):
        head, mark, name = word.rpartition("=")
        if not (site / name).is_file() or not (site / name).stat().st_size or name == "new" or "-p" in words[place - 1:place]:
            continue
        for _ in range(6):
            (site / "damaged").write_bytes(damaged((site / name).read_bytes(), chance))
            run([*words[:place], f"{head}{mark}damaged", *words[place + 1:]], site)


@pytest.mark.parametrize("text, shown", [
    ("check tree holes", "stdout"), ("sim flow.ini", "stdout"), ("paths tree tables H_3_0 H_0_0", "stdout"),
    ("drain --fabric tree --tables tables -n 5 S1_0", "stdout"), ("ebb tree tables -n 5 --hot 3", "stdout"),
    ("topo diff tree pieces", "stdout"), ("topo convert tree", "stdout"),
    ("topo convert tree --format graphml", "stdout"), ("topo convert tree --format dot", "dot"),
    ("paths tree tables H_3_0 H_0_0 --graph new.dot", "dot"), ("mcast tree H_0_0 H_3_0 --graph new.dot", "dot"),
    ("why tree tables incast --allocation jobs", "stdout"),
    ("doctor --opensm-conf odd.conf --config sound.conf --fabric tree --log empty --logrotate .", "stdout"),
    ("topo show --csv tree", "stdout"), ("topo diff --json tree pieces", "json"), ("route -e dmodk tree", "stdout"),
    ("ar fairness --json tree tables", "json"), ("mcast tree H_0_0 H_3_0", "stdout")])
def test_what_is_shown(site, text, shown):
    """Letters of all scripts, and of the rest what it is."""
    _, said, files = run(text.split(), site)
    said += "".join(files.values())
    escaped = ESCAPED if shown == "stdout" else ESCAPED.replace("\\", "\\\\")
    expected = SEEN + escaped
    if "jobs" in text:  # the separator would end the line
        expected = expected.replace(r"\u2028", "")
    assert expected[:40] in said, said[:3000]


def test_names_that_are_written(site):
    """What is read from a netlist is written the same again, and means the same node."""
    first = run(["topo", "convert", "tree"], site)[1]
    (site / "again").write_text(first)
    assert run(["topo", "convert", "again"], site)[1] == first
    assert run(["topo", "diff", "tree", "again"], site)[0] == CLEAN
    name = next(part for part in first.split('"') if part.startswith("H_0_0 "))
    assert run(["paths", "again", "tables", name, "H_3_0"], site)[0] == CLEAN
    raw = b"H_0_0 " + HOSTILE
    assert (b'"' + raw + b'"') in (site / "tree").read_bytes()
    assert run(["paths", "tree", "tables", raw, "H_3_0"], site)[0] == CLEAN


def test_pictures(site):
    """What Graphviz draws is well-formed."""
    if not shutil.which("dot"):
        pytest.skip("needs graphviz")
    for text in ("paths tree tables H_3_0 H_0_0", "mcast tree H_0_0 H_3_0"):
        files = run([*text.split(), "--graph=new.svg"], site)[2]
        xml.etree.ElementTree.fromstring(files["new.svg"])
        assert SEEN in files["new.svg"]


# Files of names that users give: options whose value is a file, with lines that they accept and with others.
LISTS = {"node-name-map": b'0x200000 "%s"\n', "aggregation-guid-file": b"%s\n", "root-guid-file": b"%s\n",
         "cn-guid-file": b"%s\n", "io-guid-file": b"0x%s\n", "guid-routing-order-file": b"%s\n",
         "hop-weights-file": b"%s 1 1\n", "port-prof-ignore-file": b"%s 1\n", "machines": b"%s H_0_0\n",
         "map": b"%s\n", "members": b"%s\n", "application": b"20%% %s 0.5\n", "config": b"[%s]\n%s = 1\n",
         "free": b"%s\n", "reorder": b"%s\n", "hosts": b"%s\n", "loads": b"%s 1 1\n", "trace": b"num_ranks 2\n%s\n",
         "allocation": b"%s H_0_0\n", "before": b"%s\n", "plan": b"Switch 0x200000 ('%s') table 0\n%s\n"}


@pytest.mark.parametrize("option", LISTS)
def test_lists(site, option):
    """Host lists, maps of GUIDs and names, plans and the like, in each command that takes them."""
    form = LISTS[option]
    (site / "list").write_bytes(form.replace(b"%s", HOSTILE).replace(b"%%", b"%"))
    taken = 0
    for text in dict.fromkeys(next(text for text in ALL if name_of(text) == name) for name in map(name_of, ALL)):
        words = name_of(text).split()
        if option in options_of([*words, "torus"] if words == ["topo", "generate"] else words):
            run([*text.split(), f"--{option}", "list"], site)
            taken += 1
    assert taken


# ---- sockets ----


def lie(value, text):
    """The same value with this text at the end of each of its strings and keys."""
    if isinstance(value, dict):
        return {key: lie(one, text) for key, one in value.items()} | {"later" + text: lie(ANSWER["parts"]["later"], text)
                                                                     } if "subnet" in value else {
            key: lie(one, text) for key, one in value.items()}
    if isinstance(value, list):
        return [lie(one, text) for one in value]
    return value + text if isinstance(value, str) else value


# Text can be any character in JSON, but no wrong byte.
LIE = SEEN + WORST.decode(errors="ignore") + "\nFORGED\r|"
PARTS = json.loads(json.dumps(ANSWER))
SOCKET_ANSWERS = [
    json.dumps(lie(PARTS, LIE)).encode(), json.dumps(lie(PARTS, LIE), ensure_ascii=False).encode(),
    json.dumps(PARTS).encode().replace(b"lost", b"lost" + WORST), LINES, b"0\n" + HOSTILE, b"1\n" + HOSTILE, b"2\n" + LINES,
    b'heddle_a{name="' + HOSTILE + b'"} 1\n# EOF\n']
SOCKET_RUNS = {"status": ["status"], "metrics": ["metrics"], "drain": ["drain --list", "drain --apply S1_0"],
               "topo diff": ["topo diff tree"], "why": ["why"], "reroute": ["reroute"]}


def with_socket(*names):
    found = {" ".join(one) for one in COMMANDS if "socket" in options_of(one)}
    return {one for one in found if (one.split()[0] in names)}


def test_each_command_with_a_socket_is_lied_to():
    assert with_socket("key") == {f"key {name}" for name in KEYD_RUNS}
    assert {" ".join(one) for one in COMMANDS if "socket" in options_of(one)} - with_socket("key") == set(SOCKET_RUNS)


@pytest.mark.parametrize("text", [text for texts in SOCKET_RUNS.values() for text in texts])
@pytest.mark.parametrize("answer", range(len(SOCKET_ANSWERS)))
def test_a_lying_plugin(site, tmp_path, text, answer):
    with served(tmp_path, SOCKET_ANSWERS[answer]) as (path, _):
        for extra in [one for one in formats_of(name_of(text)) if one != ["--html=new.html"]]:
            run([*text.split(), *extra, "--socket", path], site)


def test_a_status_is_readable(site, tmp_path):
    with served(tmp_path, SOCKET_ANSWERS[0]) as (path, _):
        said = run(["status", "--socket", path], site)[1]
        assert json.loads(run(["status", "--json", "--socket", path], site)[1])["parts"]["later"]["summary"].endswith(LIE)
    assert "switch 'a'" + SEEN + r"\u001b[2J" in said and r"\u000aFORGED\u000d|" in said


KEYD_RUNS = {"place": "-j 1 -w node[1-2] -p ring", "propose": "-n 2 --free hosts -p ring", "request": "-j 1",
             "done": "-j 1", "release": "-j 1", "list": "", "links": ""}


class Liar(FakeKeyd):
    """Says the truth with foreign text at the end of each string; or refuses all with such a reason."""

    def __init__(self, path, text, refuses=0):
        super().__init__(path)
        self.text, self.refuses = text, refuses

    def answer(self, method, path, body, uid):
        status, answer = super().answer(method, path, body, uid)
        if self.refuses:
            status, answer = self.refuses, {"title": "no", "detail": "no"}
        return status, lie(answer, self.text)


def propositions(path):
    return [["key", name, *words.split(), "--socket", path] for name, words in KEYD_RUNS.items()]


@pytest.mark.parametrize("text", [LIE, "\x1b[8m", "\x9b8m", "\u202e", "\nFORGED"], ids=ascii)
@pytest.mark.parametrize("refuses", [0, 404, 409, 503])
def test_a_lying_keyd(site, tmp_path, text, refuses):
    with Liar(tmp_path / "keyd", text, refuses) as keyd:
        for ready in (True, False):
            keyd.ready = ready
            for words in propositions(keyd.path):
                for extra in formats_of(" ".join(words[:2])):
                    if refuses != 503 or not extra:  # that is tried again and again
                        run([*words, *extra, *["--timeout", "300"] * (refuses == 503)], site)


@pytest.mark.parametrize("head", [b"HTTP/1.1 409 " + HOSTILE, HOSTILE, b"HTTP/1.1 200 OK\r\nX: " + HOSTILE])
def test_a_keyd_that_is_none(site, tmp_path, head):
    body = b'{"detail":"' + HOSTILE + b'"}'
    answer = head + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    with served(tmp_path, answer, hold=True) as (path, _):
        for words in propositions(path):
            run([*words, "--timeout", "300"], site)


# ---- programs beside the command ----

BUILD = pathlib.Path(HEDDLE).resolve().parents[1]
ROUTER = BUILD / "ir_router/agent/heddle-router"


def show(path, *more):
    done = subprocess.run([ROUTER, "show", "subnets", "--control", path, *more], capture_output=True, timeout=PATIENCE)
    said = assert_plain(done.stdout, "stdout of heddle-router")
    assert_plain(done.stderr, "stderr of heddle-router")
    return done.returncode, said


@pytest.mark.skipif(not ROUTER.exists(), reason="not built")
@pytest.mark.parametrize("answer, status", [
    (json.dumps([{"prefix" + LIE: LIE, "lid": 7}, {"other": 8}]), 0), (json.dumps({"error": LIE}), 1),
    (json.dumps([{"prefix": LIE}], ensure_ascii=False), 0), (json.dumps(LIE), 1), (LIE, 1), ("[" * 5000, 1),
    *[(json.dumps(rows), 1) for rows in ([LIE], [[LIE]], [7], {"error": [LIE]}, *[
        [{"lid": 7, "name": value}] for value in (None, True, 1.5, [LIE], {LIE: LIE})])]], ids=ascii)
def test_a_lying_router(tmp_path, answer, status):
    """A table has numbers and texts. Anything else that answers on the socket is refused."""
    with served(tmp_path, answer.encode()) as (path, _):
        assert [show(path, *more)[0] for more in ((), ("--json",))] == [status] * 2
        if answer.startswith("[{") and not status:
            assert SEEN + r"\u001b[2J" in show(path)[1]


@pytest.mark.skipif(not ROUTER.exists(), reason="not built")
def test_a_router_that_never_ends(tmp_path):
    with served(tmp_path, b"[" + b" " * (64 << 20)) as (path, _):
        done = subprocess.run([ROUTER, "show", "hosts", "--control", path], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 1 and "more than the 64 MiB" in done.stderr


@pytest.mark.parametrize("program", [BUILD / "keyd/daemon/heddle-keyd", ROUTER], ids=lambda path: path.name)
def test_daemons(tmp_path, program):
    """Their messages are about files and options, too."""
    if not program.exists():
        pytest.skip("not built")
    conf = bytes(tmp_path) + b"/conf" + LINES
    for content in (b"[" + HOSTILE + b"]\n", b"[keyd]\n" + HOSTILE + b" = 1\n", b"[keyd]\nlisten = " + HOSTILE + b"\n",
                    b"[keyd]\nhosts_file = /nowhere/" + HOSTILE + b"\n", b"[router]\nname = " + HOSTILE + b"\n", HOSTILE):
        with open(conf, "wb") as file:
            file.write(content)
        for words in (["--check", "--config", conf], ["--config", conf + b"none"], [b"--" + HOSTILE], [HOSTILE]):
            done = subprocess.run([program, *words], capture_output=True, timeout=PATIENCE)
            assert_plain(done.stdout + done.stderr, f"{program.name} {words}")
