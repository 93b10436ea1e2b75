# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The plugin measures what its tables are worth beside a routing afresh, and heddle reroute routes afresh."""

import json
import os
import random
import re

import pytest

from fabric_sim import Topology, check, heddle, missing_tools, tables, wait_until
from test_opensm_growth import Site, inner_cables, worth

pytestmark = pytest.mark.skipif(bool(missing_tools()), reason=f"missing: {missing_tools()}")

TREE = ("xgft", "--children=4,4,4", "--parents=1,4,4")


def status(opensm):
    done = heddle("status", "-s", opensm.status_socket(), "--json", check=False)
    return json.loads(done.stdout), done.returncode


def balance(opensm):
    """What status says of the tables in force, when they have been measured."""
    def measured():
        return status(opensm)[0]["parts"]["balance"]["current"]
    wait_until(measured, f"{status(opensm)[0]['parts']['balance']}")
    return status(opensm)[0]["parts"]["balance"]


def reroute(opensm, *words, status=0):
    done = heddle("reroute", "-s", opensm.drain_socket(), *words, check=False)
    assert done.returncode == status, done
    return done.stderr if status else done.stdout


def age(site, opensm, share=.4):
    """So many cables go at once that the tables, which keep what they can, are worth less than others would be."""
    cables = inner_cables(Topology(site.simulation.discover()))
    gone = random.Random(2).sample(cables, round(share * len(cables)))
    site.simulation.command("\n".join(f'Unlink "{node}"[{port}]' for node, port in gone))
    opensm.sweep_until("; 0 entries changed")
    return next(cable for cable in cables if cable not in gone)


@pytest.mark.parametrize("drained", [False, True])
def test_aged_tables_are_told_and_mended(tmp_path, drained):
    """Tables that are worth less are a fault of status, which names the command that mends them. It moves entries in
    proved steps, and the tables are those of a routing afresh, without what is drained; a restart keeps them."""
    with Site(tmp_path, TREE, 0) as site:
        with site.simulation.opensm("updown") as opensm:
            assert balance(opensm)["share"] >= .99
            left, port = age(site, opensm)
            aged = balance(opensm)
            share = aged["bandwidth"] / aged["bandwidth_afresh"]
            assert aged["share"] == pytest.approx(share, abs=.01) and share < .95
            assert share == pytest.approx(worth(site.simulation, "updown"), abs=.03)
            text = heddle("status", "-s", opensm.status_socket(), check=False).stdout
            assert f"{share:.2f} of what routing afresh would give" in text
            assert re.search(r"Degraded:.*balance: .*heddle reroute", text, re.DOTALL), text
            metrics = heddle("metrics", "-s", opensm.status_socket()).stdout
            assert float(re.search(r"^heddle_balance (\S+)$", metrics, re.M).group(1)) == pytest.approx(share, abs=.001)

            if drained:
                heddle("drain", "-s", opensm.drain_socket(), "--apply", f"0x{left[2:]}[{port}]")
            before = tables(site.simulation.read_tables())
            refusal = reroute(opensm, status=1)
            assert re.search(r"no order of the changes is proved: [1-9]\d* entries could close a credit loop", refusal)
            assert tables(site.simulation.read_tables()) == before
            since = len(opensm.log())
            answer = reroute(opensm, "--unproved")
            assert re.match(r"routed afresh: [1-9]\d* entries were written in steps\n[1-9]\d* entries were written without "
                            "a proved order", answer), answer
            assert f"user {os.getuid()} asks to route afresh" in opensm.log()[since:]
            assert balance(opensm)["share"] == 1
            assert not any("reroute" in fault for fault in balance(opensm).get("faults", []))
            report = check(site.simulation.discover(), site.simulation.read_tables())
            assert not any(report[fault] for fault in ("credit_loops", "loop", "dead_end", "no_route"))
            if not drained:
                assert worth(site.simulation, "updown") == pytest.approx(1, abs=.001)
            before = tables(site.simulation.read_tables())
            reroute(opensm)
            assert tables(site.simulation.read_tables()) == before
        with site.simulation.opensm("updown") as opensm:
            assert "; 0 entries changed" in opensm.sweep()
            assert tables(site.simulation.read_tables()) == before
            assert reroute(opensm) == "routed afresh\n"


@pytest.mark.parametrize("most", [100, 0])
def test_all_is_proved_or_nothing_moves(tmp_path, most):
    """After few losses there is a proved order. It is not looked for if more entries would change than a sweep may order;
    0 is no limit."""
    with Site(tmp_path, TREE, 0) as site:
        with site.simulation.opensm("updown", heddle_conf=f"[sweep]\nmax_entries = {most}\n") as opensm:
            age(site, opensm, .1)
            before = tables(site.simulation.read_tables())
            if most:
                assert re.search(r"[1-9]\d\d+ entries would change, .* max_entries = 100 ", reroute(opensm, status=1))
                assert tables(site.simulation.read_tables()) == before
            else:
                assert re.fullmatch(r"routed afresh: [1-9]\d* entries were written in steps\n", reroute(opensm))
                assert tables(site.simulation.read_tables()) != before
                assert balance(opensm)["share"] == 1


def test_refuses_to_reroute(tmp_path):
    """Tables that are not Heddle's, nobody at the socket, and words that are none."""
    with Site(tmp_path, TREE, 0) as site:
        with site.simulation.opensm("minhop") as opensm:
            assert "the tables in force are not Heddle's" in reroute(opensm, status=1)
            assert status(opensm)[0]["parts"]["balance"]["summary"] == "the tables are not Heddle's"
        assert "heddle:" in reroute(opensm, "--timeout=1000", status=2)
        assert "expected no operand" in reroute(opensm, "now", status=2)
