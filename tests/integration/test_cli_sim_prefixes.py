# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle sim: which router ports stand for the prefixes of other subnets."""
import json
import os

from cli_testing import SOURCE, heddle

os.environ["HEDDLE_SCENARIOS"] = str(SOURCE / "sim" / "scenarios")


def throughput(scenario, prefixes):
    report = json.loads(heddle("sim", "--json", "--quick", "-O", "run.seeds=1", "-O",
                               f"sweep.routing.routing.map={prefixes} | issr | isfr", scenario)[0])
    return {point["labels"][0]: figure["mean"] for point in report["points"]
            for figure in point["figures"] if figure["name"] == "class.ring.throughput"}


def test_with_one_other_subnet_there_is_one_port():
    """Both maps begin with the first port of the first router."""
    assert throughput("inter-subnet/rings-2", "prefix-one-router") == throughput("inter-subnet/rings-2", "prefix")


def test_with_two_other_subnets_the_second_port_is_another_one():
    several = throughput("inter-subnet/rings-3", "prefix")
    one = throughput("inter-subnet/rings-3", "prefix-one-router")
    assert one.pop("OpenSM") != several.pop("OpenSM")
    assert one == several
