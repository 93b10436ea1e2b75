# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The fabrics of the benchmarks: by name, as arguments of `heddle topo generate`, or a file."""

import json
import pathlib
import subprocess

NAMED = {
    "small": "xgft --children 6,6,6 --parents 1,6,6",
    "medium": "xgft --children 12,12,12 --parents 1,12,12",
    "large": "xgft --children 18,18,36 --parents 1,18,18",
    "torus-4": "torus --dims 4,4,4",
    "torus-6": "torus --dims 6,6,6",
    "irregular-15": "irregular --switches 15 --radix 8 --cycles 9 --hosts 4",
    "irregular-30": "irregular --switches 30 --radix 12 --hosts 4",
    "irregular-100": "irregular --switches 100 --radix 16 --hosts 4",
    "irregular-300": "irregular --switches 300 --radix 16 --hosts 4",
    "dragonfly-plus": "dragonfly-plus --islands 9 --leaves 4 --spines 4 --hosts 4 --global-links 4",
}
TREES = ("small", "medium", "large")
CYCLIC = tuple(name for name in NAMED if name not in TREES)
# OpenSM's dfsssp keeps every pair of hosts in its dependency graph: 6 GB for 11,664 hosts.
DFSSSP_BYTES_A_PAIR = 44


class Unknown(Exception):
    """Neither a name nor a kind of fabric nor a file."""


class Fabric:
    """One fabric, with a netlist of it in a folder."""

    def __init__(self, text, heddle, folder):
        self.title = text
        self.arguments = NAMED.get(text, text).split()
        self.netlist = pathlib.Path(folder) / "fabric.net"
        command = ["convert", text] if pathlib.Path(text).is_file() else [
            "generate", *self.arguments]
        self.generated = command[0] == "generate"
        done = subprocess.run([heddle, "topo", *command, "-o", self.netlist], text=True,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise Unknown(f"fabric '{text}' is neither one of {', '.join(NAMED)}, nor a file, "
                          f"nor what `heddle topo generate` takes: {done.stderr.splitlines()[0]}")
        shown = subprocess.run([heddle, "topo", "show", "--json", self.netlist], text=True,
                               stdout=subprocess.PIPE, check=True)
        self.facts = json.loads(shown.stdout)

    def describe(self):
        """The arguments that make it where the title does not say."""
        if not self.generated:
            return pathlib.Path(self.title).name
        made = " ".join(self.arguments)
        return self.title if made == self.title else f"{self.title}: {made}"

    def dfsssp_gigabytes(self):
        return DFSSSP_BYTES_A_PAIR * self.facts["hosts"] ** 2 / 1e9
