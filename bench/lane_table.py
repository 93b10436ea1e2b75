# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Heddle's `auto` beside every routing engine of OpenSM, with few and many virtual lanes.

What `bench/run --lanes 1,2,4,8` prints: the effective bisection bandwidth on fabrics with cycles,
each whole and damaged. In a cell are `auto` with so many lanes, and by how much it is above or below
the best engine of OpenSM that these lanes are enough for. If it is below, the cell is bold. A second
table has each engine of OpenSM: the lanes that it took in parentheses, if not one, and * if there is
a credit loop. 2QoS is torus-2QoS.

An engine counts with so many lanes if it took no more by its log, and nue if it was allowed that
many. Tables on one lane count if `heddle check` finds no credit loop in them. Several lanes of lash,
dfsssp, torus-2QoS and nue are not checked: they are as these engines say.
torus-2QoS needs two lanes, and four with a switch missing (torus-2QoS(8)). OpenSM has eight, and as
root of updn and dnup the switch with the fewest hops to all others. lash has no part on the torus of
512 switches: on 264 it takes about 45 seconds of processor time.
"""

import collections
import json
import pathlib
import subprocess
import tempfile

import netlist_damage
import worth

Row = collections.namedtuple("Row", "title arguments slow lash", defaults=(False, True))
ROWS = (
    Row("torus 4x4x4, 4 hosts", "torus --dims 4,4,4 --hosts 4"),
    Row("torus 8x8, 4 hosts", "torus --dims 8,8 --hosts 4"),
    Row("torus 6x6x6, 2 hosts", "torus --dims 6,6,6 --hosts 2"),
    Row("torus 8x8x8, 2 hosts", "torus --dims 8,8,8 --hosts 2", True, False),
    Row("hypercube 6, 4 hosts", "hypercube --dimensions 6 --hosts 4"),
    Row("HyperX 6x6, 6 hosts", "hyperx --dims 6,6 --hosts 6"),
    Row("Jellyfish 64 of degree 8, 4 hosts", "jellyfish --switches 64 --degree 8 --hosts 4"),
    Row("Slim Fly 5, 4 hosts", "slim-fly --q 5 --hosts 4"),
    Row("Dragonfly of 36", "dragonfly --switches 4 --global-links 2 --hosts 2"),
    Row("Dragonfly of 264", "dragonfly --switches 8 --global-links 4 --hosts 4", True),
    Row("mesh 6x6, 4 hosts", "mesh --dims 6,6 --hosts 4"),
    Row("irregular, 30 switches", "irregular --switches 30 --radix 12 --hosts 4"),
    Row("irregular, 100 switches", "irregular --switches 100 --radix 16 --hosts 4"),
    Row("Dragonfly+", "dragonfly-plus --islands 9 --leaves 4 --spines 4 --hosts 4 --global-links 4"),
)
DAMAGES = {"whole": {}, "1 cable": {"cables": 1}, "5 cables": {"cables": 5}, "a switch": {"switches": 1}}
SHORT = {"torus-2QoS": "2QoS"}
ONE_LANE = ("minhop", "updn", "dnup", "ftree", "dor", "sssp")
LANES_MAX = 8
MAX_OP_VLS = 4  # of opensm.conf: 8 lanes
SWITCH_GUID = 0x200000
GUID_STEP = 16


class Figure:
    """What an engine of OpenSM gave: its bandwidth, or None, and the lanes that it took."""

    def __init__(self, name, mean, lanes, remark=""):
        self.name, self.mean, self.lanes, self.remark = name, mean, lanes, remark

    def counts(self, lanes):
        return self.mean is not None and self.lanes is not None and self.lanes <= lanes

    def text(self):
        if self.mean is None:
            return self.remark or "-"
        lanes = "" if self.lanes in (None, 1) else f" ({self.lanes})"
        return f"{self.mean:.3f}{lanes}{self.remark}"


# ---- torus-2QoS ----

def torus_sizes(arguments):
    """The sizes of a torus of two or three dimensions, else None."""
    kind, *options = arguments.split()
    sizes = [int(size) for size in dict(zip(options[::2], options[1::2])).get("--dims", "").split(",") if size]
    return sizes if kind == "torus" and len(sizes) in (2, 3) else None


def torus_seed(sizes, origin):
    """Lines that name the neighbours of a switch in both directions of each dimension."""
    def guid(place):
        index = 0
        for size, coordinate in zip(sizes, place):
            index = index * size + coordinate % size
        return f"0x{SWITCH_GUID + GUID_STEP * index:x}"

    lines = []
    for dimension, name in enumerate("xyz"[3 - len(sizes):]):
        for step, sign in ((1, "p"), (-1, "m")):
            far = list(origin)
            far[dimension] += step
            lines.append(f"{name}{sign}_link {guid(origin)} {guid(far)}")
    return lines


def torus_conf(sizes):
    """torus-2QoS.conf, with several seeds in case parts of one are missing."""
    radix = [1] * (3 - len(sizes)) + sizes
    lines = ["torus " + " ".join(map(str, radix)), "portgroup_max_ports 32"]
    places = [tuple(share * size // 4 for size in sizes) for share in (0, 2, 1, 3)]
    for number, place in enumerate(places):
        lines += (["next_seed"] if number else []) + torus_seed(sizes, place)
        lines += [f"{name}_dateline {-coordinate}"
                  for name, coordinate in zip("xyz"[3 - len(sizes):], place) if coordinate]
    return "\n".join(lines) + "\n"


# ---- figures ----

def heddle_auto(heddle, netlist, lanes, patterns):
    """auto's mean with so many lanes, or None if it refuses."""
    done = subprocess.run([heddle, "ebb", "--json", "-n", str(patterns), "-e", f"auto:vls={lanes}", netlist],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return None if done.returncode else json.loads(done.stdout)["mean"]


def has_credit_loop(heddle, topology, tables):
    done = subprocess.run([heddle, "check", "--json", topology, tables], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode > 1 or json.loads(done.stdout)["credit_loops"] > 0


def lanes_taken(engine, log, damage):
    if engine.name == "nue":
        return engine.lanes_allowed
    if engine.name == "torus-2QoS":
        return 4 if "switches" in damage else 2
    text = worth.lanes_needed(engine.name, log) or ""
    return int(text) if text.isdigit() else None


def figure_of(engine, heddle, topology, folder, log, damage, patterns):
    run = next((run for run in engine.runs if run.sweep == "first"), None)
    if not run or run.code:
        return Figure(engine.text, None, None, "refused")
    tables = folder / f"{engine.configuration}.lfts"
    found = worth.bisect(heddle, topology, tables, patterns)
    if not found:
        return Figure(engine.text, None, None, "holes")
    lanes = lanes_taken(engine, log, damage)
    if (engine.name in ONE_LANE or lanes == 1) and has_credit_loop(heddle, topology, tables):
        return Figure(engine.text, found[0], None, "*")
    return Figure(engine.text, found[0], lanes)


def names_of_engines(row, lanes):
    return [*ONE_LANE, *(["lash"] if row.lash else []), "dfsssp",
            *(["torus-2QoS"] if torus_sizes(row.arguments) else []), *(f"nue:vls={count}" for count in lanes)]


def cell(ours, figures, lanes):
    """(text, whether auto is below) of `auto` and the best engine of OpenSM with so many lanes."""
    best = max((figure for figure in figures if figure.counts(lanes)), key=lambda figure: figure.mean, default=None)
    own = "refused" if ours is None else f"{ours:.3f}"
    if best is None:
        return own, False
    more = round(ours or 0, 3) - round(best.mean, 3)
    name = SHORT.get(best.name, best.name.partition(":")[0])
    if more > -0.0005:
        return f"{own} +{abs(more):.3f} {name}", False
    return f"**{own} \N{MINUS SIGN}{-more:.3f} {name}**", True


def engine_cells(figures):
    """The texts of all engines of OpenSM, those of nue in one."""
    texts = {figure.name: figure.text() for figure in figures}
    nue = [texts[name].partition(" ")[0] for name in texts if name.startswith("nue")]
    return [*(texts.get(name, "-") for name in (*ONE_LANE, "lash", "dfsssp", "torus-2QoS")), " ".join(nue)]


def print_engines(header, rows):
    """A table without the engines that refuse all rows, and what these are."""
    refusing = [name for name, *cells in zip(header, *rows) if set(cells) <= {"refused"}]
    kept = [place for place, name in enumerate(header)
            if name not in refusing and any(row[place] != "-" for row in rows)]
    print(markdown([header[place] for place in kept], [[row[place] for place in kept] for row in rows]) + "\n")
    if refusing:
        print(f"Refused by {', '.join(refusing)}.\n", flush=True)


def markdown(header, rows):
    return "\n".join("| " + " | ".join(cells) + " |" if cells else "|" + "---|" * len(header)
                     for cells in (header, [], *rows))


class Table:
    """Makes the tables, and prints them. `bench` is the module bench/run."""

    def __init__(self, bench, sim, arguments):
        self.bench, self.sim, self.arguments = bench, sim, arguments
        self.heddle = arguments.build / "cli" / "heddle"
        self.lanes = arguments.lanes
        self.below = self.cells = 0

    def opensm_figures(self, netlist, row, damage):
        """Every engine of OpenSM, in one process of it."""
        engines = [self.bench.Engine(text, number)
                   for number, text in enumerate(names_of_engines(row, self.lanes))]
        sizes = torus_sizes(row.arguments)
        plan = argparse_like(seconds=0, ebb=1)  # one run of each
        more = {"max_op_vls": MAX_OP_VLS}
        with self.sim.Simulation(netlist) as simulation:
            if sizes:
                (simulation.folder / "torus-2QoS.conf").write_text(torus_conf(sizes))
            (simulation.folder / "roots").write_text(netlist_damage.middle(netlist.read_text()) + "\n")
            more["torus_config"] = simulation.folder / "torus-2QoS.conf"
            more["root_guid_file"] = simulation.folder / "roots"
            self.bench.write_plan(simulation.folder, engines, 1, plan)
            self.bench.run_opensm(self.sim, simulation, self.arguments.build, engines, [], more)
            self.bench.collect(simulation.folder, engines)
            log = (simulation.folder / "osm.log").read_text(errors="replace")
            topology = simulation.discover()
            return [figure_of(engine, self.heddle, topology, simulation.folder, log, damage,
                              self.arguments.ebb) for engine in engines]

    def measure(self, row, damage, folder):
        """(what auto has by lanes, figures of OpenSM's engines)"""
        whole = pathlib.Path(folder) / "whole.net"
        netlist = pathlib.Path(folder) / "fabric.net"
        subprocess.run([self.heddle, "topo", "generate", *row.arguments.split(), "-o", whole], check=True)
        netlist.write_text(netlist_damage.damaged(whole.read_text(), **DAMAGES[damage]))
        figures = self.opensm_figures(netlist, row, DAMAGES[damage])
        ours = [heddle_auto(self.heddle, netlist, count, self.arguments.ebb) for count in self.lanes]
        return ours, figures

    def print_fabric(self, row):
        autos, others = [], []
        for damage in DAMAGES:
            with tempfile.TemporaryDirectory(prefix="heddle-bench-") as folder:
                ours, figures = self.measure(row, damage, folder)
            cells = [cell(mean, figures, count) for mean, count in zip(ours, self.lanes)]
            self.cells += len(cells)
            self.below += sum(below for _, below in cells)
            autos.append([damage, *(text for text, _ in cells)])
            others.append([damage, *engine_cells(figures)])
        print(f"### {row.title}: `{row.arguments}`\n")
        print(markdown(["missing", *(f"{count} lane{'s' * (count > 1)}" for count in self.lanes)], autos) + "\n")
        print_engines(["missing", *ONE_LANE, "lash", "dfsssp", "2QoS", "nue " + " ".join(map(str, self.lanes))], others)

    def make(self):
        wanted = self.arguments.only
        for row in ROWS:
            if wanted and not any(text in row.title for text in wanted) or row.slow and not self.arguments.slow:
                continue
            self.print_fabric(row)
        print(f"`auto` is below in {self.below} of {self.cells} cells.")


def argparse_like(**values):
    """What write_plan() reads of the arguments."""
    return collections.namedtuple("Plan", values)(**values)


def lanes_of(text):
    """The argument of --lanes."""
    lanes = [int(word) for word in text.split(",")]
    if not lanes or any(count < 1 or count > LANES_MAX for count in lanes):
        raise ValueError(text)
    return lanes
