# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One dialect of C: .clang-format decides layout, and a few rules that it cannot express. Documents
are checked for line length, and for links and quotes that are out of date; documents, comments and
messages for phrases that read badly.

`python3 tests/style_test.py --fix` mends what can be mended by itself.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

NOT_A_TYPE = r"(?!(?:return|if|for|while|do|switch|case|default|goto|break|continue|else|sizeof)\b)"
DECLARATION = re.compile(
    r"^\t" + NOT_A_TYPE + r"(?:(?:static|const|struct|enum|union|unsigned|volatile|_Atomic)\s+)*"
    r"[A-Za-z_]\w*(?:\s+const\b)?(?:\s|\*)(?:\s|\*|const\b)*\w+\s*(?:[;=,\[]|$)|^\t\w[\w\s*]*\(\*\w+\)\("
)
ERROR_VARIABLE = re.compile(r"^\s+(?:const )?int (code|ret|retval)\b(?= ?[=;,])")
BARE_SIZEOF = re.compile(r"\bsizeof (?!\()")

# Phrases that readers stumble over; doc/glossary.md says what to write instead.
BANNED = re.compile(r"\b(do(es)? not do|there is none|ways? to|gives? no meaning|has no meaning|anew|from nothing|"
                    r"parts of (the|a) fabric|is told|are told|(is|was|were|not) said|whoever|nobody's|of one another|"
                    r"stands? further|further up|hangs? on)\b", re.IGNORECASE)
# Rooms whose comments and string literals are checked for the phrases, as documents are.
PLAIN_ROOMS = {"analysis", "base", "bench", "change", "cli", "config", "engines", "fabric", "include", "ir_router", "keyd", "mad",
               "opensm", "sim", "tests"}
LINE_MAX = 120
QUOTED_CODE = re.compile(r"(?m)^`([\w/.]+)`:\n\n```\w*\n((?s:.*?))```")
LINK = re.compile(r"\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)")


def sources():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
        capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else []
    paths = [ROOT / name for name in names] or [
        p for p in [*ROOT.rglob("*.c"), *ROOT.rglob("*.h")] if "build" not in p.parts]
    return [p for p in paths if p.exists()]


def statement_end(lines, at):
    """The line that ends the statement that begins at `at`."""
    depth = 0
    while at < len(lines):
        text = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/', "", lines[at])
        depth += sum(text.count(c) for c in "({[") - sum(text.count(c) for c in ")}]")
        if depth <= 0 and text.rstrip().endswith(";"):
            return at
        at += 1
    return at


def missing_blanks(lines):
    """Lines, from 0, before which a blank one is missing: the first after the declarations with
    which a function begins."""
    found = []
    for number, line in enumerate(lines):
        if line != "{":
            continue
        at, declared = number + 1, False
        while at < len(lines) and DECLARATION.match(lines[at]):
            at, declared = statement_end(lines, at) + 1, True
        if declared and at < len(lines) and lines[at] not in ("", "}"):
            found.append(at)
    return found


def faults(path):
    lines = path.read_text().split("\n")
    where = path.relative_to(ROOT)
    found = [f"{where}:{at + 1}: no blank line after the declarations" for at in missing_blanks(lines)]
    for number, line in enumerate(lines, 1):
        if ERROR_VARIABLE.match(line):
            found.append(f"{where}:{number}: an error number is called rc")
        if BARE_SIZEOF.search(line) and not line.lstrip().startswith(("*", "/*")):
            found.append(f"{where}:{number}: sizeof takes parentheses")
    return found


def test_dialect():
    """Declarations at a function's beginning are followed by a blank line, errors are called rc,
    sizeof has parentheses."""
    assert [fault for path in sources() for fault in faults(path)] == []


def test_layout():
    """clang-format would change nothing."""
    program = shutil.which("clang-format")
    assert program, "clang-format is missing: packaging/setup test installs it"
    names = [str(path) for path in sources()]
    run = subprocess.run([program, "--dry-run", "-Werror", *names], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:4000]


def test_finds_faults():
    """What the rules are about is found, and what is right is left alone."""
    good = ["{", "\tint rc = f(a,", "\t\t   b);", "\tconst struct x *p;", "", "\tg();", "}"]
    assert missing_blanks(good) == []
    assert missing_blanks(good[:4] + good[5:]) == [4]
    assert missing_blanks(["{", "\tuint8_t *p = q;", "}"]) == []
    assert missing_blanks(["{", "\tint n;", "\tconst struct x *const *all = list(&n);", "", "\tg();", "}"]) == []
    assert missing_blanks(["{", "\tcall(a, b);", "\tp->x = 1;", "\treturn x;", "}"]) == []
    assert ERROR_VARIABLE.match("\tint code = f();") and not ERROR_VARIABLE.match("\tint rc = f();")


def documents():
    paths = [*ROOT.glob("*.md"), *(ROOT / "doc").rglob("*.md")]
    return {path: path.read_text().split("## Words not to use")[0] for path in paths}


def banned_phrases(text):
    """Such phrases, also where a line ends within one."""
    return [" ".join(found.group(0).split()) for found in BANNED.finditer(" ".join(text.split()))]


def anchors(text):
    """Anchors of the headings of a Markdown file, as GitHub makes them."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"(?m)^#+ (.*)$", text)}


def broken_links(path, text):
    found = []
    for file, anchor in LINK.findall(text):
        target = (path.parent / file) if file else path
        if not target.exists() or anchor and anchor not in anchors(target.read_text()):
            found.append(f"{path.relative_to(ROOT)}: {file}#{anchor}")
    return found


# Names of files in documents, with their folders; not those of examples, such as tests/unit/ROOM/NAME_test.c.
NAMED_FILE = re.compile(r"`((?:[a-z_][\w-]*/)+[\w.-]+\.(?:c|h|py|md|txt|ini|man))`")
PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|ROOM|FOLDER)(?![A-Z])")


def missing_files(path, text, root):
    """Files that a document names in backquotes, and that are neither in the sources nor among the headers."""
    return [name for name in NAMED_FILE.findall(text) if not PLACEHOLDER.search(name)
            and not any((folder / name).exists() for folder in (root, root / "include", path.parent))]


CODE_TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
COMMENT_MARKS = re.compile(r"^/\*|\*/$|^[ \t]*\*(?!/)", re.MULTILINE)


def code_texts(code):
    """The comments of C code, and its string literals with neighbours joined."""
    for found in CODE_TEXT.finditer(re.sub(r'"\s*"', "", code)):
        text = found.group(0)
        if text.startswith("/*"):
            yield COMMENT_MARKS.sub("", text)
        elif text.startswith('"'):
            yield text.strip('"')


def literals():
    """The string literals of the C sources, one a line, with neighbours joined."""
    code = "\n".join(path.read_text() for path in sources() if "tests" not in path.parts)
    joined = re.sub(r'"\s*"', "", code)
    return "\n".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', joined))


def quoted(text):
    """The fixed parts of messages of the plugin that a document quotes: `heddle: ... words ...`."""
    for quote in re.findall(r"`heddle: (?:ERR HD\d\d: |WRN: )?([^`]*)`", text):
        yield from (part.strip() for part in quote.split("...") if part.strip())


def test_documents_are_in_plain_english():
    found = {path.name: banned_phrases(text) for path, text in documents().items()}
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_code_is_in_plain_english():
    """Comments and messages of the rooms that were rewritten have none of the phrases."""
    found = {str(path.relative_to(ROOT)): [phrase for text in code_texts(path.read_text())
                                           for phrase in banned_phrases(text)]
             for path in sources() if path.relative_to(ROOT).parts[0] in PLAIN_ROOMS}
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_documents_have_short_lines():
    assert [f"{path.relative_to(ROOT)}: {line}" for path, text in documents().items()
            for line in text.split("\n") if len(line) > LINE_MAX] == []


def test_links_lead_somewhere():
    """Links between documents name files and headings that exist."""
    assert [link for path, text in documents().items() for link in broken_links(path, text)] == []


def test_man_pages_begin_with_their_licence():
    pages = sorted((ROOT / "doc/man").glob("*.[1-9]"))
    assert pages and [page.name for page in pages if not page.read_text().startswith('.\\" SPDX-License')] == []


def keyd_options():
    """{name: default} of the section [keyd], from the table of heddle-keyd."""
    code = (ROOT / "config/sections/keyd_section.c").read_text()
    macros = dict(re.findall(r'#define (HD_KEYD_\w+) "([^"]*)"', (ROOT / "include/heddle/config/sections.h").read_text()))
    rows = re.findall(r'(?:TEXT|NUMBER)\("(\w+)", (?:"([^"]*)"|(HD_KEYD_\w+))', code)
    rows += re.findall(r'\.name = "(\w+)",\s+\.summary[^}]*?\.fallback = "(\w+)"()', code)
    return {name: default or macros.get(macro, "") for name, default, macro in rows if name != "keyd"}


def test_the_page_of_heddle_keyd_has_its_options():
    """heddle-keyd(8) has each option of heddle.conf with its default."""
    page, options = (ROOT / "doc/man/heddle-keyd.8").read_text(), keyd_options()
    assert len(options) > 10
    assert [name for name, default in options.items() if f'{name} " ({default})' not in page] == []


# Where the options of each section of heddle.conf are defined that OpenSM reads, besides those of engines.
SECTIONS = {"heddle": "config/sections/heddle_section.c", "ar": "ar_manager/wire/ar_config.c",
            "ar.quirks": "ar_manager/wire/codec.c", "drain": "config/sections/drain_section.c",
            "map": "config/sections/map_section.c", "keys": "config/sections/keys_section.c",
            "repair": "config/sections/repair_section.c", "status": "config/sections/status_section.c",
            "certificate": "config/sections/certificate_section.c", "sweep": "config/sections/sweep_section.c"}
OPTION = re.compile(r'\.name = "(\w+)",\s+\.summary\s*=[^{}]*?\.fallback = (?:"([^"]*)"|\w+)')


def options_of(code):
    """[(name, default, or "" if it is a constant)]"""
    return OPTION.findall((ROOT / code).read_text())


def test_the_page_of_heddle_conf_has_its_options():
    """heddle.conf(5) has each option in its section, with its default, and no other option."""
    page = (ROOT / "doc/man/heddle.conf.5").read_text().replace("\\-", "-")
    parts = dict(re.findall(r"(?ms)^\.SS \[([a-z.]+)[^\n]*\n(.*?)(?=^\.S[SH] )", page))
    parts["ar"] += parts["ar.switch"]
    parts["status"] += parts["metrics"]
    for section, code in SECTIONS.items():
        options = options_of(code)
        assert options, code
        assert [name for name, _ in options if not re.search(rf'^\.BR .*\b{name}\b', parts[section], re.M)] == [], section
        shown = re.findall(r'[ "](\w+) " = ([^"]*)"', re.sub(r"(?m)^\.BR ", ".BR  ", parts[section]))
        assert {name for name, _ in shown} <= {name for name, _ in options}, section
        wrong = [name for name, default in options for other, text in shown
                 if name == other and default and f"({default})" not in text and "(" in text]
        assert [name for name in wrong if name not in ("enable", "ageing_time_us")] == [], section


def test_all_options_of_heddle_conf_are_known_here():
    """A file of the plugin or of a section that defines options is one of those that the tests above read, or that of
    the router."""
    files = {str(path.relative_to(ROOT)) for folder in ("opensm", "config") for path in (ROOT / folder).rglob("*.c")
             if OPTION.search(path.read_text())}
    assert files <= {*SECTIONS.values(), "config/sections/keyd_section.c", "config/sections/router_section.c"}


def test_pages_of_daemons_have_their_options():
    """What --help of a daemon lists is in its page, with the texts of options.man."""
    folder = ROOT / "doc/man"
    sys.path.insert(0, str(folder))
    import usage_sections  # pylint: disable=import-outside-toplevel
    texts = usage_sections.read_texts(folder / "options.man")
    pages = {name: (folder / f"{name}.8").read_text() for name in usage_sections.DAEMONS}
    assert [name for name, page in pages.items() if usage_sections.filled(None, page, texts) != page] == []
    assert [name for name, page in pages.items() if f'.\\" BEGIN options {name}:' not in page] == []


def test_named_files_exist():
    """Source files that documents name are there."""
    found = {str(path.relative_to(ROOT)): missing_files(path, text, ROOT) for path, text in documents().items()
             if path.name != "CHANGELOG.md"}  # which names what is gone, too
    assert {name: files for name, files in found.items() if files} == {}


def test_readme_names_all_packages_of_the_build():
    """Who installs what README names can build all of Heddle: the packages of packaging/setup."""
    block = re.search(r"(?s)^## Requirements\n.*?install ([^`]*)```", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = {word for word in block.group(1).split() if not word.startswith(("-", "\\"))}
    needed = re.search(r'(?m)^build="(.*)"$', (ROOT / "packaging" / "setup").read_text()).group(1).split()
    assert named == {*needed, "opensm"}


def test_quoted_messages_exist():
    """Messages that documents quote are in the code, word by word."""
    known = literals()
    assert [(path.name, part) for path, text in documents().items() for part in quoted(text)
            if part not in known] == []


def wrong_quotes(text, root):
    """Pieces of code that a document quotes from a file, `path`: and a block, and that the file does
    not have. A line of three dots leaves something out."""
    found = []
    for path, block in QUOTED_CODE.findall(text):
        source = (root / path).read_text() if (root / path).exists() else ""
        found += [f"{path}: {piece}" for piece in block.split("...\n") if piece not in source]
    return found


def test_quoted_code_exists():
    """Code that documents quote is in the files that they name, line by line."""
    assert [quote for text in documents().values() for quote in wrong_quotes(text, ROOT)] == []


def test_finds_faults_in_documents():
    """Phrases are found across lines, and words that only look like them are not."""
    assert banned_phrases("that does\nnot do") == ["does not do"]
    assert banned_phrases("a gateway to it does not door") == []
    code = '/*\n * There is\n * none.\n */\nint a = \'"\'; puts("one way "\n     "to go"); /* anew */\n'
    assert [phrase for text in code_texts(code) for phrase in banned_phrases(text)] == [
        "There is none", "way to", "anew"]
    assert list(quoted("`heddle: WRN: ... lanes, spread ...` and `heddle: x`")) == ["lanes, spread", "x"]
    assert broken_links(ROOT / "README.md", "[a](none.md) [b](doc) [c](http://x)") == ["README.md: none.md#"]
    assert anchors("## Lanes: `a`, b\n# ERR HD05") == {"lanes-a-b", "err-hd05"}
    names = "`tests/style_test.py`, `heddle/base.h`, `tests/none.c`, `tests/unit/ROOM/NAME_test.c`, `a/b_NAME.py`"
    assert missing_files(ROOT / "README.md", names, ROOT) == ["tests/none.c"]
    quote = "`tests/style_test.py`:\n\n```py\nimport re\n...\nimport {}\n```\n"
    assert wrong_quotes(quote.format("sys"), ROOT) == []
    assert wrong_quotes(quote.format("syx"), ROOT) == ["tests/style_test.py: import syx\n"]


def fix():
    names = [str(path) for path in sources()]
    subprocess.run(["clang-format", "-i", *names], check=True)
    for path in sources():
        lines = path.read_text().split("\n")
        for at in reversed(missing_blanks(lines)):
            lines.insert(at, "")
        path.write_text("\n".join(lines))


if __name__ == "__main__" and "--fix" in sys.argv:
    fix()
