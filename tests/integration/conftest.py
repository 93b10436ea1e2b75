# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests find the modules by which the demo and the benches simulate a fabric, too."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging" / "testbed"))
