# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""No room of the source tree reaches into one that it must not know.

A room is a top-level folder. What it may include says which libraries it links, so that the
pure part builds on a machine without OpenSM or rdma headers. Programs that run on their own lie in
sub-rooms, which may include other rooms than the room around them.
"""
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PURE_ROOMS = {"base", "fabric", "engines", "ar_manager", "ir_router", "keyd", "change", "analysis", "sim"}
DOMAINS = {"engines", "ar_manager", "ir_router", "keyd", "analysis"}

# Room: the public headers (include/heddle/NAME.h or NAME/...) of which rooms it may include.
MAY_USE = {
    "base": {"base"},
    "fabric": {"base", "fabric"},
    "config": {"base", "fabric", "config"},
    "config/sections": {"base", "fabric", "engines", "ar_manager", "config"},
    **{room: {"base", "fabric", room} for room in DOMAINS},
    "change": {"base", "fabric", "ar_manager", "change"},
    "sim": PURE_ROOMS,
    "mad": {"base", "fabric", "mad"},
    "cli": PURE_ROOMS | {"config", "mad", "keyd_client"},
    "opensm": PURE_ROOMS | {"config", "mad", "opensm"},
    "base/gzip": {"base"},
    "engines/modules": {"base", "fabric", "engines"},
    "ar_manager/live": {"base", "fabric", "ar_manager", "mad"},
    "ar_manager/site": {"base", "fabric", "ar_manager", "config"},
    "ir_router/firmware": set(),
    "ir_router/agent": {"base", "fabric", "ir_router", "config", "mad"},
    "keyd/daemon": {"base", "fabric", "engines", "keyd", "config"},
    "keyd/client": {"base", "keyd_client"},
    "keyd/slurm": {"base", "keyd", "keyd_client"},
}
ROOMS = sorted(MAY_USE)
# Sub-rooms whose quoted includes must lie in their own folder, and their only headers of the system.
FREESTANDING = {"ir_router/firmware": {"string.h", "stdint.h", "stddef.h", "stdbool.h"}}
# Freestanding sub-rooms have no public headers, so that they can be lifted out. These rooms may include their own.
LIFTED = {"ir_router/firmware": {"ir_router", "ir_router/agent", "opensm", "sim"}}

# Headers of the host, and the rooms that may see them.
HOST_HEADERS = re.compile(r"^(infiniband/)?(opensm|iba|complib|vendor)/")
HOST_ROOMS = {"opensm", "tests", "bench"}
MAD_HEADERS = re.compile(r"^(infiniband/(umad|mad|verbs)|umad|mad|ibnetdisc)(_\w+)?\.h$")
MAD_ROOMS = {"mad", "tests", "bench"}

LINES_MAX = 800
FILES_MAX = 30  # of a folder, unless doc/design.md says why it has more
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Paths that exist on one machine only.
MACHINE_PATH = re.compile(r"(?<![\w.$}])(/home/\w|/root/|/tmp/\w+/)")
SPDX = "/* SPDX-License-" + "Identifier: GPL-2.0-only OR BSD-2-Clause */"


def sources(root, *folders):
    for folder in folders:
        for pattern in ("*.c", "*.h"):
            yield from sorted((root / folder).rglob(pattern))


def includes(path):
    """(quoted, name) of each #include."""
    text = path.read_text(encoding="utf-8")
    return [(quote == '"', name) for quote, name in INCLUDE.findall(text)]


def used_room(name):
    """Room whose public header this is, or None."""
    match = re.match(r"heddle/(\w+)[./]", name)
    return match.group(1) if match else None


def room_of(root, path):
    """The innermost room or sub-room that has rules of its own."""
    folder = path.relative_to(root).as_posix()
    return max((room for room in ROOMS if folder.startswith(f"{room}/")), key=len)


def inner_headers(root):
    """Names of all headers that are not public. The compiler finds them in angle brackets, too."""
    return {path.name for path in sources(root, *ROOMS) if path.suffix == ".h"}


def forbidden_includes(root, room):
    """What files of a room include of other rooms against MAY_USE."""
    found, inner = [], inner_headers(root)
    for path in sources(root, room):
        if room_of(root, path) != room:
            continue
        for quoted, name in includes(path):
            used = used_room(name)
            foreign = used is not None and used not in MAY_USE[room]
            own = quoted or name.startswith(".") or name in inner
            outside = own and used is None and not inside(root, room, name)
            unknown = not own and used is None and name not in FREESTANDING.get(room, {name})
            if foreign or outside or unknown:
                found.append(f"{path.relative_to(root)} includes {name}")
    return found


def inside(root, room, name):
    """An inner header must lie in the room itself, in any folder, around the sub-room, or in a
    freestanding one that the room may use."""
    top = room if room in FREESTANDING else room.split("/")[0]
    lifted = [sub for sub, users in LIFTED.items() if room in users]
    return "/" not in name and (
        any(room_of(root, path) in (room, top) for path in (root / top).rglob(name))
        or any((root / sub / name).exists() for sub in lifted))


def forbidden_public_includes(root):
    """A public header sees its own room's, the fabric's and the base's, nothing else of ours."""
    found = []
    for path in sources(root, "include/heddle"):
        room = path.relative_to(root / "include/heddle").parts[0].removesuffix(".h")
        for quoted, name in includes(path):
            if quoted or used_room(name) not in (None, room, "base", *(["fabric"] if room != "base" else [])):
                found.append(f"{path.relative_to(root)} includes {name}")
    return found


def misplaced_headers(root, pattern, rooms):
    """Files outside `rooms` that include headers of the host."""
    found = []
    folders = sorted(p.name for p in root.iterdir() if p.is_dir() and p.name not in rooms)
    for path in sources(root, *(f for f in folders if not f.startswith((".", "build")))):
        for _, name in includes(path):
            if pattern.match(name):
                found.append(f"{path.relative_to(root)} includes {name}")
    return found


def shared_names(root):
    """Names without ending that files of several folders have: sources of rooms, and headers of tests. An include
    by name could find the wrong one, and archives may lose one of two objects. Public headers have folders."""
    folders = {}
    for path in sources(root, *ROOMS, *(name for name in ("tests", "bench") if (root / name).is_dir())):
        if path.suffix == ".h" or path.relative_to(root).parts[0] not in ("tests", "bench"):
            folders.setdefault(path.stem, set()).add(path.parent.relative_to(root).as_posix())
    return {name: sorted(found) for name, found in folders.items() if len(found) > 1}


# ---- what files use of each other ----

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
TAGGED = re.compile(r"^(?:typedef )?(?:struct|enum|union)\s+(\w+)\s*\{", re.MULTILINE)
ENUMERATION = re.compile(r"\benum\s*\w*\s*\{(.*?)\}", re.DOTALL)
MACRO = re.compile(r"^#\s*define\s+(\w+)", re.MULTILINE)
ALIAS = re.compile(r"^typedef[^;{]*?\(?\*?(\w+)\)?\s*(?:\([^;]*\))?;", re.MULTILINE)
FUNCTION = re.compile(r"^(?!static (?!inline)|typedef|return)[A-Za-z][\w \t*]*?[ *](\w+)\([^;{]*\)\s*\{", re.MULTILINE)
VARIABLE = re.compile(r"^(?!static|extern|typedef)[A-Za-z][\w \t*]*?[ *](\w+)(?:\[[^\]]*\])*\s*=", re.MULTILINE)
PROTOTYPE = re.compile(r"^(?!static|typedef|return)[A-Za-z][\w \t*]*?[ *](\w+)\([^;{]*\)[^;{]*;", re.MULTILINE)
EXTERN = re.compile(r"^extern ([^;(]*);", re.MULTILINE)
PRIVATE = re.compile(r"^static [\w \t*]*?[ *](\w+)\(", re.MULTILINE)
TAG_USE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\b(?!\s*;)")
WORD_USE = re.compile(r"(?<![\w.>])(?<!struct )(?<!enum )(?<!union )([A-Za-z]\w*_\w*)")


class Source:
    """A file of a room, or a public header: what it defines, and what its text mentions."""

    def __init__(self, root, path):
        text = path.read_text(encoding="utf-8")
        code = COMMENT_OR_TEXT.sub(" ", text)
        self.header = path.suffix == ".h"
        self.unit = path.relative_to(root).with_suffix("").as_posix()
        self.public = self.unit.startswith("include/")
        self.included = [name for _, name in INCLUDE.findall(text)]
        self.tags = set(TAGGED.findall(code))
        self.words = set(FUNCTION.findall(code))
        self.declared = set(PROTOTYPE.findall(code)) | set(re.findall(r"\w+", " ".join(EXTERN.findall(code))))
        if self.header:
            self.words |= {*MACRO.findall(code), *ALIAS.findall(code)}
            self.words |= set(re.findall(r"\b[A-Z]\w+", " ".join(ENUMERATION.findall(code))))
        else:
            self.words |= set(VARIABLE.findall(code))
        self.used_tags = set(TAG_USE.findall(code)) - self.tags
        self.used_words = set(WORD_USE.findall(code)) - set(PRIVATE.findall(code)) - self.words
        if self.header:  # to declare is not to use
            self.used_words -= self.declared


def seen_headers(source, by_name, memo):
    """All headers that a file includes, and that these include."""
    if source not in memo:
        memo[source] = set()
        found = {by_name[name] for name in source.included if name in by_name}
        memo[source] = found.union(*(seen_headers(header, by_name, memo) for header in found))
    return memo[source]


def uses(root):
    """{file without ending: {another one: names}}: the types, constants and functions that a file uses and that
    another one defines. x.c and x.h of a folder are one. Types of public headers belong to no file; functions belong
    to the one that defines them. A name counts only if a header that the file includes has it."""
    public = [Source(root, path) for path in sources(root, "include/heddle") if path.suffix == ".h"]
    rooms = [Source(root, path) for path in sources(root, *(room for room in MAY_USE if "/" not in room))]
    by_name = {source.unit.removeprefix("include/") + ".h": source for source in public}
    by_name |= {source.unit.rsplit("/", 1)[-1] + ".h": source for source in rooms if source.header}
    owner = {word: source.unit for source in rooms for word in source.words}
    found, memo = {}, {}
    for source in rooms:
        mine = found.setdefault(source.unit, {})
        headers = seen_headers(source, by_name, memo)
        for header in headers:
            if not header.public:
                for tag in source.used_tags & header.tags:
                    mine.setdefault(header.unit, set()).add(tag)
        known = set().union(*(header.words | header.declared for header in headers))
        for word in source.used_words & known:
            if word in owner:
                mine.setdefault(owner[word], set()).add(word)
        mine.pop(source.unit, None)
    return found


def reachable(used, start):
    found, left = set(), [start]
    while left:
        new = set(used.get(left.pop(), ())) - found
        found |= new
        left += new
    return found


def circles(used):
    """The sets of files of which each uses each other one, if only by way of others."""
    while True:  # what nobody uses, or uses nobody, is in no circle
        aims = set().union(*(set(others) for others in used.values()))
        kept = {unit: {other for other in others if other in used}
                for unit, others in used.items() if others and unit in aims}
        if kept.keys() == used.keys() and all(len(kept[unit]) == len(used[unit]) for unit in kept):
            break
        used = kept
    reach = {unit: reachable(used, unit) for unit in used}
    return sorted({tuple(sorted(other for other in reach[unit] if unit in reach[other]))
                   for unit in used if unit in reach[unit]})


# ---- the plugin ----

# Its parts. They never include one another, and nothing else of the plugin includes them, but the list of parts.
PARTS = ("ar", "certificate", "drain", "keys", "lanes", "map", "multicast", "repair", "status", "sweep")

# What sends a Set or changes OpenSM's copy of a table. Only the writer does, and the callbacks by which OpenSM itself
# routes in a sweep.
WRITING = re.compile(
    r"\b(?:hd_umad_port_open|hd_lft_set|hd_mft_set|osm_switch_set_\w+|osm_mcast_tbl_set\w*|osm_mcast_tbl_clear\w*)\s*\("
    r"|\bmem(?:cpy|set|move)\s*\(\s*\w+(?:->|\.)(?:new_)?lft\b|(?:->|\.)(?:new_)?lft\b(?:\[[^\]]*\])?\s*=(?!=)")
SWEEP_WRITERS = {"opensm/multicast/multicast_part.c", "opensm/subnet/switch_tables.c"}


def crossings(root):
    """(file of the plugin, header of a part that is not its own)."""
    home = {path.name: part for part in PARTS for path in (root / "opensm" / part).glob("*.h")}
    return [(path.relative_to(root).as_posix(), name) for path in sources(root, "opensm") for _, name in includes(path)
            if name in home and home[name] != path.parent.name]


def writers(root):
    """Files of the plugin that write, other than the writer."""
    return {path.relative_to(root).as_posix() for path in sources(root, "opensm")
            if path.parent.name != "writer"
            and WRITING.search(COMMENT_OR_TEXT.sub(" ", path.read_text(encoding="utf-8")))}


# Who registers sections of heddle.conf: the tables that all programs share.
REGISTERING = re.compile(r"\bhd_config_sections_add\s*\(|\bstruct hd_config_section\b(?!\s*;)")
REGISTRARS = ("config/", "ar_manager/site/", "include/heddle/config")


def registrars(root):
    """Files that describe or register sections of heddle.conf outside the shared tables."""
    return sorted({path.relative_to(root).as_posix() for path in sources(root, *ROOMS, "include")
                   if not path.relative_to(root).as_posix().startswith(REGISTRARS)
                   and REGISTERING.search(COMMENT_OR_TEXT.sub(" ", path.read_text(encoding="utf-8")))})


def own_folders(root):
    return [f for f in [*ROOMS, "include", "tests", "bench"] if (root / f).is_dir()]


def tracked_files(root):
    """Text files under version control; in an unpacked archive, those of our own folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0 and listed.stdout:
        paths = [root / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [p for folder in own_folders(root) for p in sorted((root / folder).rglob("*"))]
    return [p for p in paths if p.is_file() and b"\0" not in p.read_bytes()[:4096]]


def machine_paths(root, paths):
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MACHINE_PATH.search(line) and path != Path(__file__).resolve():
                found.append(f"{path.relative_to(root)}:{number}: {line.strip()}")
    return found


def overlong(root):
    return [
        f"{path.relative_to(root)} has {count} lines"
        for path in sources(root, *own_folders(root))
        if (count := path.read_text().count("\n")) > LINES_MAX
    ]


def unlicensed(root):
    return [
        str(path.relative_to(root))
        for path in sources(root, *own_folders(root))
        if path.read_text().split("\n", 1)[0] != SPDX
    ]


def test_rooms_exist():
    """The rules below are about folders that are really there."""
    assert list(sources(ROOT, "base")) and list(sources(ROOT, "engines"))
    assert list(sources(ROOT, "include/heddle"))


@pytest.mark.parametrize("room", [room for room in ROOMS if (ROOT / room).is_dir()])
def test_room_includes_only_what_it_may(room):
    """A room includes its own headers and those of the rooms that the design lets it use."""
    assert forbidden_includes(ROOT, room) == []


def described_rooms(text):
    """{room: rooms that it may include} of the table in doc/design.md. A room may always include itself."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE)
    named = {room: set(may.replace("pure rooms", ", ".join(PURE_ROOMS)).replace("nothing", "").split(", "))
             for room, may in rows}
    return {room: {name.strip() for name in may if name.strip()} | {room} for room, may in named.items()}


def test_the_design_tells_the_rooms():
    """The table in doc/design.md has the rooms of this test, in an order in which each stands below those that it
    may include."""
    text = (ROOT / "doc/design.md").read_text(encoding="utf-8")
    rooms = described_rooms(text)
    assert rooms == {room: used | {room} for room, used in MAY_USE.items() if "/" not in room}
    order = [room for room in rooms]
    assert [(room, used) for room in order for used in rooms[room] & set(order)
            if order.index(used) > order.index(room)] == []


def happenings(text):
    """(file or folder, names of functions) of each row of the tables in "Where things happen"."""
    section = text.split("\n## Where things happen\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!what \||---)[^|]+ \| `([^`|]+)` \| ?([^|]*)\|$", section, re.MULTILINE)
    return [(path, re.findall(r"`(\w+)\(\)`", functions)) for path, functions in rows]


def defines(path, function):
    """Whether a C or Python file has the body of a function."""
    if path.suffix == ".py":
        return re.search(rf"^def {function}\(", path.read_text(), re.MULTILINE) is not None
    return re.search(rf"^\w[^\n;=]*\b{function}\([^;{{]*\)\n{{$", path.read_text(), re.MULTILINE) is not None


def missing_happenings(root, text):
    """Rows that name a file or folder that is missing, or a function that its file does not define."""
    found = []
    for name, functions in happenings(text):
        if not (root / name).exists():
            found.append(name)
        found += [f"{name}: {function}()" for function in functions
                  if not (root / name).is_file() or not defines(root / name, function)]
    return found


def test_the_design_tells_where_things_happen():
    """What doc/design.md names in "Where things happen" exists, so that a reader finds it."""
    text = (ROOT / "doc/design.md").read_text(encoding="utf-8")
    assert len(happenings(text)) >= 40
    assert missing_happenings(ROOT, text) == []


def large_folders(root):
    """Folders of the product with more than FILES_MAX files."""
    counts = Counter(path.parent.relative_to(root).as_posix() for path in tracked_files(root))
    tops = {"include", *(room.split("/")[0] for room in ROOMS)}
    return sorted(folder for folder, count in counts.items() if count > FILES_MAX and folder.split("/")[0] in tops)


def test_folders_are_small():
    """A reader finds a file in a folder by looking at it."""
    assert large_folders(ROOT) == []


def test_public_headers_stand_alone():
    """A public header includes no other room than the fabric and the base."""
    assert forbidden_public_includes(ROOT) == []


def test_only_the_adapter_sees_opensm():
    """OpenSM's headers are included in opensm/, tests/ and bench/ only."""
    assert misplaced_headers(ROOT, HOST_HEADERS, HOST_ROOMS) == []


def test_only_the_adapter_sees_umad():
    """The headers of libibumad and libibmad are included in mad/, tests/ and bench/ only."""
    assert misplaced_headers(ROOT, MAD_HEADERS, MAD_ROOMS) == []


def test_names_are_of_one_folder():
    """No two source files of different rooms have the same name; a header and its source lie together."""
    assert shared_names(ROOT) == {}


def test_no_files_use_each_other():
    """No two files use each other, not even by way of others: what both need lies below both."""
    used = uses(ROOT)
    found = circles(used)
    assert {one: {other: used[one][other] for other in circle if other in used[one]}
            for circle in found for one in circle} == {}


def test_parts_of_the_plugin_are_apart():
    """No part of the plugin includes a header of another one; what does so today is listed."""
    assert crossings(ROOT) == []


def test_only_the_writer_writes():
    """Nothing but opensm/writer sends a Set or changes OpenSM's copy of a table; what does so today is listed."""
    assert writers(ROOT) == SWEEP_WRITERS


def test_sections_of_heddle_conf_are_in_one_place():
    """No program has a section of its own, which `heddle config check` would not know."""
    assert registrars(ROOT) == []


def test_files_are_short():
    """No source file is longer than 800 lines."""
    assert overlong(ROOT) == []


def test_files_name_their_licence():
    """Each C file begins with its licence."""
    assert unlicensed(ROOT) == []


def test_no_machine_paths():
    """No tracked file names a path of the machine it was written on."""
    assert machine_paths(ROOT, tracked_files(ROOT)) == []


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_finds_forbidden_includes(tmp_path):
    """Reaching into another room is found by public header, by path and by bare name."""
    plant(tmp_path, "engines/spf.h", "")
    plant(tmp_path, "fabric/graph.h", "")
    for line in ("<heddle/keyd.h>", "<heddle/analysis/ebb.h>", '"../fabric/graph.h"', '"graph.h"', "<graph.h>",
                 "<../fabric/graph.h>"):
        plant(tmp_path, "engines/spf.c", f"#include {line}\n")
        assert len(forbidden_includes(tmp_path, "engines")) == 1, line
    for line in ("<heddle/base.h>", "<heddle/engines.h>", '"spf.h"', "<stdio.h>"):
        plant(tmp_path, "engines/spf.c", f"#include {line}\n")
        assert forbidden_includes(tmp_path, "engines") == [], line


def test_finds_forbidden_includes_of_programs(tmp_path):
    """A program in a sub-room has its own rules, and the room around it does not get its rights."""
    plant(tmp_path, "keyd/key.h", "")
    plant(tmp_path, "keyd/daemon/store.h", "")
    plant(tmp_path, "ir_router/firmware/words.h", "")
    plant(tmp_path, "ir_router/map.h", "")
    for room, good, bad in (
            ("keyd/daemon", ("<heddle/config.h>", '"key.h"', '"store.h"'), ("<heddle/mad.h>", '"map.h"')),
            ("keyd", ('"key.h"', "<heddle/fabric.h>"), ("<heddle/config.h>", '"store.h"')),
            ("ir_router/agent", ('"words.h"', '"map.h"', "<heddle/mad.h>"), ("<heddle/engines.h>", '"key.h"')),
            ("keyd", (), ('"words.h"',)),
            ("ir_router/firmware", ("<stdint.h>", '"words.h"'), ("<stdio.h>", "<heddle/base.h>", '"map.h"'))):
        for line in good + bad:
            source = plant(tmp_path, f"{room}/file.c", f"#include {line}\n")
            assert len(forbidden_includes(tmp_path, room)) == (line in bad), (room, line)
            source.unlink()


def test_finds_host_headers(tmp_path):
    """Every way to spell a header of OpenSM or libibumad is found, in pure rooms only."""
    for line in ("<opensm/osm_opensm.h>", "<infiniband/iba/ib_types.h>", "<complib/cl_qmap.h>"):
        plant(tmp_path, "engines/spf.c", f"# include {line}\n")
        assert len(misplaced_headers(tmp_path, HOST_HEADERS, HOST_ROOMS)) == 1, line
    plant(tmp_path, "engines/spf.c", "#include <infiniband/umad.h>\n#include <infiniband/mad.h>\n")
    assert len(misplaced_headers(tmp_path, MAD_HEADERS, MAD_ROOMS)) == 2
    (tmp_path / "engines/spf.c").rename(plant(tmp_path, "mad/spf.c", ""))
    assert misplaced_headers(tmp_path, MAD_HEADERS, MAD_ROOMS) == []


# Prints the files of all modules that a script loads; without the packages that Debian or pip have added to Python.
LOADED = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="loaded")
print(*(module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)), sep="\\n")
"""


def test_the_demo_needs_only_python_and_its_testbed():
    """A user of ./demo has no package of the tests."""
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", LOADED, ROOT / "packaging/demo.py"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    own = {Path(name).relative_to(ROOT).parent for name in done.stdout.splitlines() if Path(name).is_relative_to(ROOT)}
    assert own == {Path("packaging/testbed")}


def test_finds_circles(tmp_path):
    """Two files use each other by a function, by a type of an inner header, by a constant or a table, and by way of a
    third one; not by a type of a public header, by a header that another file defines, by members and variables of
    the same name, or because one declares what the other defines."""
    plant(tmp_path, "include/heddle/base/ends.h", "struct ends { int a; };\nint hd_far(void);\n")
    plant(tmp_path, "base/far.h", "#include <heddle/base/ends.h>\nint far_one(struct ends *ends);\n")
    plant(tmp_path, "base/near.h", "struct near_state {\n};\nint near_one(void);\n")
    plant(tmp_path, "base/far.c", '#include "far.h"\nint far_one(struct ends *ends)\n{\n\treturn ends->near_one;\n}\n')
    near = '#include "near.h"\n#include "far.h"\nint near_one(void)\n{\n\treturn far_one(0);\n}\n'
    plant(tmp_path, "base/near.c", near)
    assert uses(tmp_path)["base/near"] == {"base/far": {"far_one"}}
    assert circles(uses(tmp_path)) == []
    middle = plant(tmp_path, "base/middle.c", "")
    plant(tmp_path, "base/middle.h", "int middle_one(void);\nextern const int middle_table[];\n#define MIDDLE_MOST 3\n")
    for text in ('#include "near.h"\nint far_one(struct ends *ends)\n{\n\treturn near_one();\n}\n',
                 '#include "near.h"\nint far_one(struct ends *ends)\n{\n\tstruct near_state state;\n}\n',
                 '#include "middle.h"\nint far_one(struct ends *ends)\n{\n\treturn middle_one();\n}\n',
                 '#include "middle.h"\nint far_one(struct ends *ends)\n{\n\treturn middle_table[0];\n}\n',
                 '#include "middle.h"\nint far_one(struct ends *ends)\n{\n\treturn MIDDLE_MOST;\n}\n'):
        plant(tmp_path, "base/far.c", '#include "far.h"\n' + text)
        middle.write_text('#include "near.h"\nint middle_one(void)\n{\n\treturn near_one();\n}\n'
                          "const int middle_table[] = {1};\n")
        circle = ("base/far", "base/middle", "base/near") if "middle" in text else ("base/far", "base/near")
        assert circles(uses(tmp_path)) == [circle], text
        plant(tmp_path, "base/near.c", near.replace("far_one(0)", "0"))
        assert circles(uses(tmp_path)) == [], text
        plant(tmp_path, "base/near.c", near)


def test_finds_crossings_and_writers(tmp_path):
    """A part that includes another one's header is found, and every form of writing."""
    plant(tmp_path, "opensm/ar/ar_part.h", "")
    plant(tmp_path, "opensm/log.h", "")
    plant(tmp_path, "opensm/keys/keys_part.c", '#include "ar_part.h"\n#include "log.h"\n#include "keys_part.h"\n')
    assert crossings(tmp_path) == [("opensm/keys/keys_part.c", "ar_part.h")]
    for text in ("hd_umad_port_open(&choice", "osm_switch_set_lft_block(sw, block", "osm_mcast_tbl_set(table, lid, 1)",
                 "memcpy(sw->new_lft, row, 64)", "sw->lft[lid] = port", "sw->new_lft = row"):
        path = plant(tmp_path, "opensm/keys/keys_part.c", f"\t{text};\n")
        plant(tmp_path, "opensm/writer/writer_tables.c", f"\t{text};\n")
        assert writers(tmp_path) == {"opensm/keys/keys_part.c"}, text
    path.write_text("/* memcpy(sw->lft, row, 64) */ if (sw->lft[lid] == port) memcpy(row, sw->lft, 64);\n")
    assert writers(tmp_path) == set()


def test_finds_registrars(tmp_path):
    """A section that a part or a daemon registers itself is found."""
    plant(tmp_path, "config/sections/sweep_section.c", "const struct hd_config_section section_sweep = {0};\n")
    plant(tmp_path, "opensm/plugin.c", "hd_config_sections_add_all(sections, HD_CONFIG_PLUGIN, err);\n")
    assert registrars(tmp_path) == []
    plant(tmp_path, "opensm/drain/drain_part.c", "\treturn hd_config_sections_add(all, &section, err);\n")
    plant(tmp_path, "keyd/daemon/keyd_config.c", "static const struct hd_config_section sections[] = {\n")
    assert registrars(tmp_path) == ["keyd/daemon/keyd_config.c", "opensm/drain/drain_part.c"]


def test_finds_shared_names(tmp_path):
    """A name is shared by files of different folders, whatever their endings; not by a pair, a public header or a
    unit test."""
    for name in ("engines/spf.c", "engines/spf.h", "include/heddle/engines/spf.h", "tests/unit/engines/spf.c",
                 "fabric/check/lanes.c", "tests/support/net.h"):
        plant(tmp_path, name, "")
    assert shared_names(tmp_path) == {}
    plant(tmp_path, "cli/lanes.h", "")
    plant(tmp_path, "bench/net.h", "")
    assert shared_names(tmp_path) == {"lanes": ["cli", "fabric/check"], "net": ["bench", "tests/support"]}


def test_finds_what_the_design_has_wrong(tmp_path):
    """Files, folders and functions that are not there are found; a declaration or a call is not a definition."""
    plant(tmp_path, "engines/spf.c",
          "int spf(void);\nstatic int route(struct a *a,\n\t\t int b)\n{\n\tspf(a);\n}\n")
    plant(tmp_path, "doc/tables.py", "def rows():\n    pass\n")
    rows = ("| routes | `engines/spf.c` | `route()` |", "| tables | `doc/tables.py` | `rows()` |", "| all | `engines/` | |",
            "| gone | `engines/updown.c` | |", "| paths | `engines/spf.c` | `spf()`, `route()` |",
            "| tables | `doc/tables.py` | `lines()` |")
    text = "\n".join(("", "## Where things happen", "", "| what | where | function |", "|---|---|---|", *rows, "", "## Names"))
    assert len(happenings(text)) == 6
    assert missing_happenings(tmp_path, text) == ["engines/updown.c", "engines/spf.c: spf()", "doc/tables.py: lines()"]
    for number in range(FILES_MAX + 1):
        plant(tmp_path, f"fabric/file{number}.c", "")
        plant(tmp_path, f"tests/unit/file{number}.c", "")
    assert large_folders(tmp_path) == ["fabric"]


def test_finds_the_rest(tmp_path):
    """Long files, missing licences, foreign public includes and machine paths are found."""
    plant(tmp_path, "include/heddle/keyd.h", "#include <heddle/engines.h>\n")
    assert len(forbidden_public_includes(tmp_path)) == 1
    assert unlicensed(tmp_path) == ["include/heddle/keyd.h"]
    plant(tmp_path, "fabric/long.c", SPDX + "\n" * 801)
    assert overlong(tmp_path) == ["fabric/long.c has 801 lines"]
    for text in ("/home/somebody/x", "/root/x", "/tmp/scratch/x"):
        path = plant(tmp_path, "fabric/path.c", f'open("{text}"); /* $x/home/y, a/root/z */\n')
        assert len(machine_paths(tmp_path, [path])) == 1, text
    path = plant(tmp_path, "fabric/path.c", "/* $x/home/y, a/tmp/y/z, ../root/z, /tmp/x-XXX */\n")
    assert machine_paths(tmp_path, [path]) == []
