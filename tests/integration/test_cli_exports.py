# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle topo convert --to slurm and --to graphml, for every kind of fabric."""

import re
import xml.etree.ElementTree

import pytest
import yaml

from cli_testing import generate, heddle, refused, show
from test_cli_topo import SAMPLES, TREE

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def expand(hostlist):
    """The names that a hostlist of Slurm stands for."""
    names = []
    for prefix, ranges in re.findall(r"([^,\[\]]*)(?:\[([^\]]*)\])?(?:,|$)", hostlist):
        if not ranges:
            names += [prefix] if prefix else []
            continue
        for one in ranges.split(","):
            first, last = (one.split("-") * 2)[:2]
            names += [f"{prefix}{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return names


def slurm_tree(path):
    """{switch: its nodes} of the leaves, and {switch: its switches} of the others."""
    leaves, blocks = {}, {}
    for line in heddle("topo", "convert", "--to", "slurm", path)[0].splitlines():
        if line.startswith("#"):
            continue
        name, kind, names = re.fullmatch(r"SwitchName=(\S+) (Nodes|Switches)=(\S+)", line).groups()
        assert name not in leaves and name not in blocks
        (leaves if kind == "Nodes" else blocks)[name] = expand(names)
    return leaves, blocks


@pytest.mark.parametrize("kind", SAMPLES)
def test_slurm_gets_a_tree_with_every_node_once(tmp_path, kind):
    """Every leaf is below one root, no switch has two parents, and no child is named in vain."""
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    leaves, blocks = slurm_tree(fabric)
    nodes = [name for names in leaves.values() for name in names]
    machines = set(re.findall(r'(?m)^Ca\s.*# "([^" ]+)', fabric.read_text()))
    assert sorted(nodes) == sorted(machines)
    children = [name for names in blocks.values() for name in names]
    assert len(children) == len(set(children))
    assert set(children) <= {*leaves, *blocks}
    assert len({*leaves, *blocks} - set(children)) == 1
    assert all(len(names) > 1 for names in blocks.values())


@pytest.mark.parametrize("kind", SAMPLES)
def test_weights_are_those_of_the_leaves(tmp_path, kind):
    """Each leaf of the topology has its own weight. Those of a block follow one another."""
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    leaves, blocks = slurm_tree(fabric)
    lines = heddle("topo", "convert", "--to", "slurm-weights", fabric)[0].splitlines()[1:]
    found = [re.fullmatch(r"NodeName=(\S+) Weight=(\d+)", line).groups() for line in lines]
    assert [int(weight) for _, weight in found] == list(range(1, len(leaves) + 1))
    of_leaf = {name: weight for names, weight in found for name in expand(names)}
    assert sorted(map(sorted, (expand(names) for names, _ in found))) == sorted(map(sorted, leaves.values()))
    for names in blocks.values():
        if set(names) <= set(leaves):
            weights = sorted(int(of_leaf[leaves[name][0]]) for name in names)
            assert weights[-1] - weights[0] == len(names) - 1


def leaf_below(name, leaves, blocks):
    """The leaves below a switch of the tree."""
    return {name} if name in leaves else {leaf for child in blocks[name] for leaf in leaf_below(child, leaves, blocks)}


@pytest.mark.parametrize("kind", SAMPLES)
def test_blocks_are_leaves_and_joined_ones_keep_to_the_tree(tmp_path, kind):
    """Slurm joins 2^k blocks from each multiple of 2^k on, if the size of k is listed: all or none of a switch."""
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    leaves, blocks = slurm_tree(fabric)
    lines = heddle("topo", "convert", "--to", "slurm-blocks", fabric)[0].splitlines()[1:]
    found = [re.fullmatch(r"BlockName=(\S+) Nodes=(\S+)", line).groups() for line in lines[:-1]]
    order = [name for name, _ in found]
    assert {name: expand(names) for name, names in found} == leaves
    sizes = list(map(int, re.fullmatch(r"BlockSizes=([\d,]+)", lines[-1])[1].split(",")))
    assert sizes[0] == min(map(len, leaves.values()))
    assert sizes == [sizes[0] << k for k in range(len(sizes))]
    kept = [k for k in range(16) if 1 << k <= len(order) and keeps_to_the_tree(order, 1 << k, leaves, blocks)]
    assert kept[:len(sizes)] == list(range(len(sizes)))
    assert len(sizes) not in kept


def keeps_to_the_tree(order, size, leaves, blocks):
    joined = [set(order[at:at + size]) for at in range(0, len(order), size)]
    below = [leaf_below(name, leaves, blocks) for name in [*leaves, *blocks]]
    return all(not one & some or one <= some or some <= one for one in joined for some in below)


@pytest.mark.parametrize("kind", SAMPLES)
def test_yaml_says_what_the_other_files_say(tmp_path, kind):
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    leaves, blocks = slurm_tree(fabric)
    tree, block = yaml.safe_load(heddle("topo", "convert", "--to", "slurm-yaml", fabric)[0])
    assert list(tree) == ["topology", "cluster_default", "tree"] and list(block) == ["topology", "cluster_default", "block"]
    assert (tree["topology"], tree["cluster_default"]) == ("tree", True)
    assert (block["topology"], block["cluster_default"]) == ("block", False)
    switches = tree["tree"]["switches"]
    assert {one["switch"]: expand(one["nodes"]) for one in switches if "nodes" in one} == leaves
    assert {one["switch"]: expand(one["children"]) for one in switches if "children" in one} == blocks
    assert all(len(one) == 2 for one in switches)
    lines = [f"BlockName={one['block']} Nodes={one['nodes']}" for one in block["block"]["blocks"]]
    lines.append(f"BlockSizes={','.join(map(str, block['block']['block_sizes']))}")
    assert heddle("topo", "convert", "--to", "slurm-blocks", fabric)[0].splitlines()[1:] == lines


def test_blocks_of_fabrics_apart_are_not_joined(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=2,2", "--remove-links=100%")
    assert heddle("topo", "convert", "--to", "slurm-blocks", fabric)[0].splitlines()[-1] == "BlockSizes=1"


def test_slurm_sees_the_levels_of_a_tree(tmp_path):
    """216 hosts: 36 leaves in 6 pods of 6, below one top."""
    leaves, blocks = slurm_tree(generate(tmp_path / "tree", *TREE))
    pods = [set(names) for names in blocks.values() if set(names) <= set(leaves)]
    assert len(leaves) == 36 and sorted(map(len, pods)) == [6] * 6 and len(blocks) == 7
    assert all(len({re.match(r"S1_(\d+)_", name).group(1) for name in pod}) == 1 for pod in pods)


def test_slurm_sees_components_apart(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=2,2", "--remove-links=100%")
    assert slurm_tree(fabric) == ({f"S_{a}_{b}": [f"H_{a}_{b}_0"] for a in (0, 1) for b in (0, 1)}, {})


@pytest.mark.parametrize("kind", SAMPLES)
def test_graphml_is_xml_with_all_nodes_and_cables(tmp_path, kind):
    fabric = generate(tmp_path / "fabric", kind, *SAMPLES[kind][0])
    graph = xml.etree.ElementTree.fromstring(heddle("topo", "convert", "--to=graphml", fabric)[0])
    keys = {key.get("id") for key in graph.iter(f"{GRAPHML}key")}
    nodes = {node.get("id"): {data.get("key"): data.text for data in node}
             for node in graph.iter(f"{GRAPHML}node")}
    edges = [(edge.get("source"), edge.get("target"), {data.get("key"): data.text for data in edge})
             for edge in graph.iter(f"{GRAPHML}edge")]
    facts, netlist = show(fabric), fabric.read_text()
    assert sum(node["type"] == "switch" for node in nodes.values()) == facts["switches"]
    by_level = facts["switches_by_level"]
    assert by_level == [sum(node.get("level") == str(level) for node in nodes.values())
                        for level in range(len(by_level))]
    assert len(edges) * 2 == len(re.findall(r"(?m)^\[\d+\]", netlist))
    assert {key for _, _, data in edges for key in data} | {
        key for node in nodes.values() for key in node} <= keys
    for source, target, data in edges:
        assert f'[{data["source_port"]}]' in netlist and source in nodes and target in nodes
        assert (data["width"], data["speed"], data["gbits"]) == ("4", "EDR", "100")
    names = {f'"{node["name"]}"' for node in nodes.values()}
    assert names == set(re.findall(r'(?m)^(?:Switch|Ca|Rt)\s.*?# ("[^"]*")', netlist))


def test_graphml_escapes_names(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=2")
    fabric.write_bytes(fabric.read_bytes().replace(b'"S_0"', b'"<a> & \xff\x01"'))
    graph = xml.etree.ElementTree.fromstring(heddle("topo", "convert", "--to=graphml", fabric)[0])
    assert r"<a> & \xff\u0001" in {data.text for data in graph.iter(f"{GRAPHML}data")}


def test_a_host_without_a_name_for_slurm_is_refused(tmp_path):
    fabric = generate(tmp_path / "fabric", "torus", "--dims=2")
    fabric.write_text(fabric.read_text().replace('"H_0_0"', '"a,b HCA-1"'))
    assert "is called 'a,b HCA-1', which is no name of a node in Slurm" in refused(
        "topo", "convert", "--to", "slurm", fabric)
