# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compressed files: every reader of topologies and tables takes what gzip makes of them."""

import gzip
import pathlib
import resource
import subprocess

import pytest

from cli_testing import HEDDLE, check, generate, heddle, refused, route


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gzip")
    generate(folder / "tree", "xgft", "--children=6,6", "--parents=1,6")
    route("dmodk", folder / "tree", folder / "tables", "--sl", folder / "levels")
    heddle("ar", "plan", folder / "tree", folder / "tables", "-o", folder / "plan")
    for path in (folder / "tree", folder / "tables", folder / "levels", folder / "plan" / "heddle.far"):
        subprocess.run(["gzip", "-k", path], check=True)
    (folder / "packed").mkdir()
    for name in ("tables.gz", "levels.gz"):
        (folder / name).rename(folder / "packed" / name)
    return folder


def test_a_compressed_topology_is_the_same_fabric(folder):
    assert heddle("topo", "convert", folder / "tree.gz") == heddle("topo", "convert", folder / "tree")
    with open(folder / "tree.gz", "rb") as packed:
        assert subprocess.run([HEDDLE, "topo", "convert", "-"], stdin=packed, check=True,
                              capture_output=True).stdout == (folder / "tree").read_bytes()


def test_compressed_tables_are_the_same_tables(folder):
    """Alone, with service levels, as a folder, and with a plan."""
    plain = check(folder / "tree", folder / "tables", folder / "levels", "--plan", folder / "plan/heddle.far")
    for tables in ([folder / "packed" / "tables.gz", folder / "packed" / "levels.gz"], [folder / "packed"]):
        packed = check(folder / "tree.gz", *tables, "--plan", folder / "plan/heddle.far.gz")
        assert {**packed, "fabric": ""} == {**plain, "fabric": ""}


@pytest.mark.skipif(b"__asan_init" in pathlib.Path(HEDDLE).read_bytes(), reason="it needs more address space")
def test_a_bomb_is_refused_before_it_fills_the_memory(folder):
    """8 GiB of blanks in 8 MB, where a process may have 1 GiB: the message has the limit and what to do."""
    (folder / "bomb.gz").write_bytes(gzip.compress(b" " * (1 << 24)) * 512)
    limit = (1 << 30, 1 << 30)
    message = refused("topo", "show", folder / "bomb.gz",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
    size = (folder / "bomb.gz").stat().st_size
    assert f"more than {64 * size} bytes when it is unpacked, the most allowed for {size}; " in message
    assert "unpack it with gunzip first" in message


def test_what_is_written_into_a_compressed_name_is_compressed(folder, tmp_path):
    heddle("topo", "convert", folder / "tree", "-o", tmp_path / "tree.gz")
    route("dmodk", tmp_path / "tree.gz", tmp_path / "tables.gz")
    for name in ("tree", "tables"):
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == (folder / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tables.gz", "tree.gz"]


def test_tables_and_plans_come_from_a_pipe(folder):
    """- is standard input, compressed or not."""
    plain = heddle("check", folder / "tree", folder / "tables", "--plan", folder / "plan/heddle.far")
    with open(folder / "packed" / "tables.gz", "rb") as packed:
        assert heddle("check", folder / "tree", "-", "--plan", folder / "plan/heddle.far", stdin=packed) == plain
    with open(folder / "plan" / "heddle.far", "rb") as plan:
        assert heddle("check", folder / "tree", folder / "tables", "--plan", "-", stdin=plan) == plain


@pytest.mark.parametrize("edit, reason", [
    (lambda packed: packed[:-1], "end too early; is the file complete?"),
    (lambda packed: packed[:len(packed) // 2], "end too early"),
    (lambda packed: packed + b"Switch 36\n", "other data follow the compressed data"),
    (lambda packed: packed[:-8] + b"\0\0\0\0" + packed[-4:], "the compressed data are damaged")])
def test_damaged_files_are_refused(folder, tmp_path, edit, reason):
    for name, words in (("tree.gz", ["topo", "show"]), ("packed/tables.gz", ["check", folder / "tree"])):
        (tmp_path / "bad.gz").write_bytes(edit((folder / name).read_bytes()))
        assert f"{tmp_path}/bad.gz: cannot unpack: " in refused(*words, tmp_path / "bad.gz")
        assert reason in refused(*words, tmp_path / "bad.gz")


def test_two_streams_are_one_file(folder, tmp_path):
    text = (folder / "tree").read_bytes()
    (tmp_path / "two.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))
    assert heddle("topo", "convert", tmp_path / "two.gz")[0].encode() == text
