# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The sections of the man pages that `heddle COMMAND --help` decides: options, exit statuses; and the options of the
daemons.

In a page, `.\\" BEGIN options COMMAND` and `.\\" BEGIN status COMMAND, COMMAND...` mark their places.
The texts of the options are in options.man, those of the statuses in --help itself.
"""
import json
import pathlib
import re
import subprocess

# Daemons, and the files with what their --help prints: not every build has them.
DAEMONS = {"heddle-keyd": "keyd/daemon/keyd_main.c", "heddle-router": "ir_router/agent/agent_main.c"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTION = re.compile(r"  (?:-(\w), |    |)--([a-z-]+)(?: (\S*(?:[A-Z]|[a-z]\|)\S*))?")
MARK = re.compile(r'\.\\" BEGIN (options|status) ([^:\n]*)')
TEXT = re.compile(r'(?m)^\.\\" ((?:[a-z-]+ )*(?:KIND )?--[a-z-]+)\n')


class Missing(Exception):
    """An option or a command of which nobody has written."""


def roman(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def daemon_help(name):
    """The lines that --help of a daemon prints, from its function usage()."""
    code = (ROOT / DAEMONS[name]).read_text()
    body = re.search(r"(?ms)^static void usage\(FILE \*out\)\n\{(.*?)^\}", code).group(1)
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', body)).split("\\n")


class Usage:
    """What the built command says of its commands."""

    def __init__(self, heddle):
        self.heddle = heddle

    def ask(self, *arguments):
        return subprocess.check_output([self.heddle, *arguments], text=True)

    def section(self, command, title):
        """The lines of a section of --help."""
        text = self.ask(*command.split(), "--help")
        found = re.search(rf"(?ms)^{title}:\n(.*?)(?:\n\n|\Z)", text)
        if not found:
            raise Missing(f"heddle {command} --help has no section '{title}'")
        return found.group(1).splitlines()

    def commands(self):
        """All commands but help, with those of topo, ar, map and key."""
        for line in self.section("", "Commands"):
            name = line.split()[0]
            if name in ("topo", "ar", "map", "key", "config"):
                yield from (f"{name} {sub.split()[0]}" for sub in self.section(name, "Commands"))
            elif name != "help":
                yield name

    def options(self, command):
        """(letter, name, value) of each option; of KIND those that all kinds of fabrics have."""
        left_out = set()
        if command in DAEMONS:
            return [row.groups() for row in map(OPTION.match, daemon_help(command)) if row]
        if command.endswith(" KIND"):
            kinds = json.loads(self.ask("topo", "generate", "--json"))
            kind = next(one for one in kinds
                        if "seed" not in (option["name"] for option in one["options"]))
            left_out = {option["name"] for option in kind["options"]}
            command = command.replace("KIND", kind["name"])
        rows = [OPTION.match(line) for line in self.section(command, "Options")]
        found = [row.groups() for row in rows if row]
        return [row for row in found if row[1] not in left_out]

    def statuses(self, command):
        """{status: when the command ends with it}"""
        rows = [line.split(None, 1) for line in self.section(command, "Exit status")]
        return {int(status): text for status, text in rows}


def read_texts(path):
    """{"--lmc" or "route --json": lines} of options.man."""
    parts = TEXT.split(path.read_text())[1:]
    return {key: text.rstrip("\n").split("\n") for key, text in zip(parts[::2], parts[1::2])}


def in_font(word):
    """Words in capitals stand for something else, the others for themselves."""
    return f"\\f{'I' if word.group().isupper() else 'B'}{word.group()}\\fR"


def header(letter, name, value):
    """The line that names an option."""
    words = [f"\\-{letter}", '", "'] if letter else []
    words.append(f"\\-\\-{roman(name)}")
    if value:
        value = re.sub(r"[A-Za-z]+", in_font, value)
        words.append(f'" {value}"')
    return (".BR " if len(words) > 1 else ".B ") + " ".join(words)


def options_lines(usage, texts, command):
    lines = []
    for letter, name, value in usage.options(command):
        text = texts.get(f"{command} --{name}") or texts.get(f"--{name}")
        if not text:
            raise Missing(f"options.man has no text for --{name} of heddle {command}")
        lines += [".TP", header(letter, name, value), *text]
    return lines


def sentence(text):
    return roman(text[0].upper() + text[1:]) + "."


def status_lines(usage, command):
    lines = []
    for status, text in usage.statuses(command).items():
        lines += [".TP", f".B {status}", sentence(text)]
    return lines


def overview_lines(usage):
    """Of all commands together: what 1 means is different for each."""
    lines = [".TP", ".B 0", "The command did its work, and what it looked at is right.",
             ".TP", ".B 1", "The command did its work, and what it looked at is not right:", ".RS"]
    for command in usage.commands():
        statuses = usage.statuses(command)
        if 1 in statuses:
            lines += [".TP", f".B heddle {roman(command)}", sentence(statuses[1])]
    return lines + [".RE", ".TP", ".B 2", "The command did not do its work, and a message says "
                    "why: bad input or usage,", "an engine that refuses the fabric, or a file "
                    "that cannot be read or written."]


def lines_for(usage, texts, what, commands):
    if what == "options":
        return options_lines(usage, texts, commands)
    if commands == "of all commands":
        return overview_lines(usage)
    names = commands.split(", ")
    if len(names) == 1:
        return status_lines(usage, commands)
    return [line for name in names
            for line in (f".SS heddle {roman(name)}", *status_lines(usage, name))]


def filled(heddle, page, texts):
    """A page with all its marked places written afresh."""
    usage = Usage(heddle)
    for what, commands in MARK.findall(page):
        begin = f'.\\" BEGIN {what} {commands}'
        before, rest = page.split(begin, 1)
        head, rest = rest.split("\n", 1)
        after = rest[rest.index(f'.\\" END {what} {commands}'):]
        page = "\n".join([before + begin + head, *lines_for(usage, texts, what, commands), after])
    return page
