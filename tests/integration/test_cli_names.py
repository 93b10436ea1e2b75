# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A text that names a host means the same port in every command and in every file of names."""

import re

import pytest

from cli_testing import generate, heddle, refused, route

OTHER = "H_0_0"  # a second end, rank or member


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    """A fabric in which one host is called like another's LID, and one like nobody's."""
    folder = tmp_path_factory.mktemp("names")
    fabric = generate(folder / "fabric", "xgft", "--children=4,4", "--parents=1,2")
    text = fabric.read_text()
    text = text.replace('"H_3_2"', f'"{lid_of(text, "H_0_1")}"').replace('"H_2_2"', '"900"')
    fabric.write_text(text)
    route("dmodk", fabric, folder / "tables")
    return folder


def lid_of(text, name):
    return int(re.search(rf'(?ms)^Ca\s[^\n]*# "{name}"\n.*?# lid (\d+)', text).group(1))


def port_guid_of(text, name):
    return int(re.search(rf'(?m)^Ca\s[^\n]*# "{name}"\n\[1\]\((\w+)\)', text).group(1), 16)


def listed(folder, content):
    (folder / "list").write_text(content)
    return folder / "list"


def paths_from(folder, name):
    return ["paths", folder / "fabric", folder / "tables", name, OTHER]


def paths_to(folder, name):
    return ["paths", folder / "fabric", folder / "tables", OTHER, name]


def mcast_member(folder, name):
    return ["mcast", folder / "fabric", name, OTHER]


def mcast_members(folder, name):
    return ["mcast", "--members", listed(folder, f"{OTHER}\n{name}\n"), folder / "fabric"]


def mcast_source(folder, name):
    return ["mcast", "--source", name, folder / "fabric", OTHER, "H_1_1"]


def ebb_map(folder, name):
    hosts = listed(folder, f"{OTHER}\n{name}\n")
    return ["ebb", "--hot=9", "-p", "ring", "--map", hosts, folder / "fabric", folder / "tables"]


def ebb_pairs(folder, name):
    pairs = listed(folder, f"{OTHER} {name}\n")
    return ["ebb", "--hot=9", "-p", f"pairs:file={pairs}", folder / "fabric", folder / "tables"]


def compare_map(folder, name):
    hosts = listed(folder, f"{OTHER}\n{name}\n")
    return ["compare", "-n", 10, "--map", hosts, folder / "fabric", folder / "tables",
            folder / "tables"]


def survive_map(folder, name):
    hosts = listed(folder, f"{OTHER}\n{name}\n")
    return ["survive", "-n", 10, "-e", "dmodk", "--remove=0", "--map", hosts, folder / "fabric"]


COMMANDS = [paths_from, paths_to, mcast_member, mcast_members, mcast_source, ebb_map, ebb_pairs,
            compare_map, survive_map]


def said(arguments):
    """What a command prints, without the time it took."""
    return re.sub(r"\d+(\.\d+)? ?s\b", "", heddle(*arguments)[0])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_is_a_number_is_that_host(folder, command):
    """Where no port has that LID."""
    guid = port_guid_of((folder / "fabric").read_text(), "900")
    assert said(command(folder, "900")) == said(command(folder, hex(guid)))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_is_the_lid_of_another_is_refused(folder, command):
    """With both ports, and the GUIDs by which either can be named."""
    text = (folder / "fabric").read_text()
    lid = lid_of(text, "H_0_1")
    message = refused(*command(folder, lid))
    assert (f"'{lid}' means 2 ports, give a GUID instead: "
            f"'H_0_1'[1] GUID 0x{port_guid_of(text, 'H_0_1'):016x} LID {lid}, "
            f"'{lid}'[1] GUID 0x{port_guid_of(text, str(lid)):016x} LID {lid_of(text, str(lid))}"
            ) in message
    for name in ("H_0_1", str(lid)):
        heddle(*command(folder, hex(port_guid_of(text, name))))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_nobody_has_is_refused(folder, command):
    assert re.search(r"'H_9' is not a host (or switch )?of the fabric: expected a LID, a GUID with 0x, "
                     "a node's description, or the first word of it", refused(*command(folder, "H_9")))


@pytest.mark.parametrize("command", [mcast_members, ebb_map, compare_map, survive_map])
def test_files_of_names_have_one_form(folder, command):
    """Blanks, comments and quotes are the same to all of them, and so is the place of an error."""
    plain, dressed = "H_1_1", '  "H_1_1"\t# a comment\n\n# another'
    assert said(command(folder, plain)) == said(command(folder, dressed))
    assert "list:2: more than one word, expected one name a line" in refused(
        *command(folder, "H_1_1 H_1_2"))
    assert "list:2: 'H_9' is not a host" in refused(*command(folder, "H_9"))
    assert "list:2: a quote is not closed" in refused(*command(folder, '"H_1_1'))
