# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle map, and heddle ebb across subnets, on the fabrics of the paper on inter-subnet routing."""

import json

import pytest

from cli_testing import BAD, CLEAN, FAULTS, generate, heddle, refused, route


def subnets(folder, count, tables=""):
    return [f"--subnet=fec0:0:0:{part}::={folder}/{count}-{part}{tables.format(part)}"
            for part in range(1, count + 1)]


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    for count in (2, 3):
        for part in range(1, count + 1):
            generate(folder / f"{count}-{part}", "interconnect", f"--subnets={count}", f"--part={part}")
        generate(folder / f"{count}-whole", "interconnect", f"--subnets={count}", "--switches=yes")
        for kind in ("issr", "isfr"):
            heddle("map", kind, *subnets(folder, count), "-o", folder / f"{kind}{count}")
        heddle("map", "issr", "--by-prefix", *subnets(folder, count), "-o", folder / f"one{count}")
    return folder


def walk(folder, count, maps, routers, *arguments, status=CLEAN):
    output = heddle("map", "walk", "--json", *subnets(folder, count), "--maps", folder / f"{maps}{count}",
                    "--routers", routers, *arguments, status=status)[0]
    return json.loads(output)


@pytest.mark.parametrize("count", [2, 3])
def test_all_pairs_arrive(folder, count):
    """By ISSR and ISFR, without a credit loop, over all router links; by prefix over few of them."""
    hosts = 72 * count
    for maps in ("issr", "isfr", "one"):
        report = walk(folder, count, maps, "isfr" if maps == "isfr" else "issr", "--all")
        assert report["pairs"] == report["arrived"] == hosts * (hosts - 1)
        assert report["credit_loop_links"] == 0 and report["faults"] == []
        used = report["to_routers"]["used"]
        assert used == (count * (count - 1) if maps == "one" else report["to_routers"]["links"])


def test_a_path_is_shown_hop_by_hop(folder):
    """The legs join at a router, and each has the addresses of its subnet."""
    path = walk(folder, 2, "isfr", "isfr", "S1-H_5", "fec0::2:0:0:10:701")
    first, last = path["legs"]
    assert path["arrived"] and path["destination"]["node"] == "S2-H_40"
    assert first["prefix"] == "0xfec0000000000001" and last["prefix"] == "0xfec0000000000002"
    assert first["from"] is None and last["to"] is None
    assert first["to"]["guid"] == last["from"]["guid"]
    assert [len(leg["hops"]) for leg in (first, last)] == [2, 2]
    shown = heddle("map", "show", "--json", folder / "isfr2" / "fec0000000000001.map",
                   path["destination"]["gid"])[0]
    assert json.loads(shown)[0]["line"]["ports"][0] == first["to"]["port_guid"]


def test_tables_of_files_count(folder):
    """Paths follow the tables that are given; with holes they end there."""
    for part in (1, 2):
        route("dmodk", folder / f"2-{part}", folder / f"2-{part}.lft")
    arguments = [*subnets(folder, 2, ":" + str(folder) + "/2-{}.lft"), "--maps", folder / "issr2"]
    assert "the packet arrives" in heddle("map", "walk", *arguments, "S1-H_5", "S2-H_40")[0]
    lines = (folder / "2-2.lft").read_text().splitlines(keepends=True)
    (folder / "2-2.lft").write_text("".join(line for line in lines if not line.startswith("0x0029 ")))
    assert "no entry for the LID" in heddle("map", "walk", *arguments, "S1-H_5", "S2-H_40",
                                            status=FAULTS)[0]


def test_isfr_is_worth_what_one_fat_tree_is(folder):
    """The bandwidth across subnets is that of D-mod-K with switches in the place of the routers, and
    more than that of ISSR, which is more than that of one router port for each subnet."""
    def measure(*arguments):
        return json.loads(heddle("ebb", "--json", "-n", "300", *arguments)[0])["mean"]

    whole = measure("-e", "dmodk", folder / "2-whole")
    isfr = measure(*subnets(folder, 2), "--maps", folder / "isfr2", "--routers", "isfr")
    issr = measure(*subnets(folder, 2), "--maps", folder / "issr2")
    one = measure(*subnets(folder, 2), "--maps", folder / "one2")
    assert isfr == whole
    assert one < 0.5 < issr < 0.8 < isfr


def test_options_that_would_have_no_effect_are_refused(folder):
    """Neither a crash nor a figure for something else."""
    across = ("ebb", *subnets(folder, 2), "--maps", folder / "isfr2")
    for options, reason in ((("--ar", "auto"), "--plan and --ar do not work with --subnet"),
                            (("-e", "updown", "--connect-roots"), "do not work with --subnet"),
                            (("--lmc", "1"), "do not work with --subnet")):
        assert reason in heddle(*across, *options, status=BAD)[1]
    assert "need --subnet" in heddle("ebb", "-e", "dmodk", "--routers", "isfr", folder / "2-whole",
                                     status=BAD)[1]


def test_a_folder_that_is_not_there(folder, tmp_path):
    """A mistyped folder of --keep would let all destinations move."""
    assert "No such file" in heddle("map", "issr", *subnets(folder, 2), "--keep", tmp_path / "none", "-o",
                                    tmp_path / "new", status=BAD)[1]
    assert not (tmp_path / "new").exists()


def test_one_subnet_has_nothing_to_map(folder, tmp_path):
    """Who forgets the other subnets gets an empty map, and a warning."""
    one = heddle("map", "issr", *subnets(folder, 2)[:1], "-o", tmp_path)[1]
    assert "only one subnet is given" in one
    assert "only one subnet" not in heddle("map", "issr", *subnets(folder, 2), "-o", tmp_path)[1]


def test_kept_lines_do_not_move(folder, tmp_path):
    """With --keep a new map has all lines of the one before."""
    heddle("map", "issr", *subnets(folder, 2), "--keep", folder / "isfr2", "-o", tmp_path)
    name = "fec0000000000001.map"
    assert (tmp_path / name).read_text() == (folder / "isfr2" / name).read_text()


def test_differences_are_listed(folder):
    """ISSR and ISFR of the same subnets differ in the order of the ports."""
    name = "fec0000000000001.map"
    found = json.loads(heddle("map", "diff", "--json", folder / "issr2" / name, folder / "isfr2" / name,
                              status=FAULTS)[0])
    assert found and all(one["before"] != one["after"] for one in found)


def test_a_map_that_does_not_fit_is_named(folder):
    """Maps of another interconnect: ports that the subnet does not have."""
    output = heddle("map", "check", *subnets(folder, 3), "--maps", folder / "issr3")[0]
    assert output.count("144 GIDs") == 3
    text = (folder / "issr3" / "fec0000000000001.map").read_text()
    (folder / "bad3").mkdir()
    for part in (1, 2, 3):
        (folder / "bad3" / f"fec000000000000{part}.map").write_text(text)
    output = heddle("map", "check", *subnets(folder, 3), "--maps", folder / "bad3", status=FAULTS)[0]
    assert "is no router port of the subnet" in output


@pytest.mark.parametrize("arguments, message", [
    (["--subnet=x"], "is not PREFIX=FABRIC"),
    (["--subnet=fec0:0:0:1::1=x"], "is no subnet prefix"),
    (["--subnet=0xfe80000000000000=x"], "link-local"),
    ([], "no subnet given")])
def test_bad_subnets_are_refused(arguments, message):
    assert message in refused("map", "issr", *arguments)
