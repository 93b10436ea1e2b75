# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The checker of the live tests finds each kind of fault in tables made by hand."""

import pytest

from independent_check import (History, changes, check, dead_links, needless_changes, read_fabric,
                               read_lanes, read_tables)

# A ring of four switches, each with one host: switch i has LID i, its host LID 10 + i. Port 1 leads
# to the host, port 2 to the next switch, port 3 to the one before.
SWITCHES = range(1, 5)


def after(switch, steps=1):
    return (switch - 1 + steps) % 4 + 1


def topology(without=()):
    text = ""
    for switch in SWITCHES:
        text += f'Switch 4 "S-{switch:016x}" # "sw{switch}" base port 0 lid {switch} lmc 0\n'
        text += f'[1] "H-{switch + 16:016x}"[1](0) # "h{switch}" lid {switch + 10} 4xEDR\n'
        if switch not in without:
            text += f'[2] "S-{after(switch):016x}"[3] # "sw{after(switch)}" lid 1 4xEDR\n'
        if after(switch, -1) not in without:
            text += f'[3] "S-{after(switch, -1):016x}"[2] # "sw" lid 1 4xEDR\n'
    for switch in SWITCHES:
        text += f'Ca 1 "H-{switch + 16:016x}" # "h{switch}"\n'
        text += (f'[1](0) "S-{switch:016x}"[1] # lid {switch + 10} lmc 0 "sw{switch}" lid 1 '
                 "4xEDR\n")
    return read_fabric(text)


def node(switch):
    return f"S-{switch:016x}"


def line_tables():
    """Packets never use the cable between switches 4 and 1: no credit loop."""
    tables = {}
    for switch in SWITCHES:
        row = tables[node(switch)] = {}
        for other in SWITCHES:
            port = 2 if other > switch else 3
            row[other] = 0 if other == switch else port
            row[other + 10] = 1 if other == switch else port
    return tables


def ring_tables():
    """All packets go round the ring the same way."""
    return {node(switch): {lid: port for other in SWITCHES for lid, port in
                           ((other, 0 if other == switch else 2),
                            (other + 10, 1 if other == switch else 2))}
            for switch in SWITCHES}


def test_right_tables_have_no_fault():
    assert check(topology(), line_tables()) == []


@pytest.mark.parametrize("switch, lid, port, why", [
    (1, 12, None, "no entry"),
    (1, 12, 4, "dead port"),
    (1, 12, 9, "dead port"),
    (1, 12, 1, "wrong host"),
    (1, 12, 0, "wrong port 0"),
    (1, 2, 1, "wrong host"),
    (2, 13, 3, "loop"),
])
def test_each_kind_of_broken_path_is_found(switch, lid, port, why):
    tables = line_tables()
    if port is None:
        del tables[node(switch)][lid]
    else:
        tables[node(switch)][lid] = port
    faults = check(topology(), tables)
    assert f"sw{switch} to LID {lid}: {why}" in faults
    assert all(f"LID {lid}: {why}" in fault for fault in faults)


def test_a_fault_is_found_from_every_switch_behind_it():
    tables = line_tables()
    del tables[node(3)][14]
    assert sorted(check(topology(), tables)) == [f"sw{i} to LID 14: no entry" for i in (1, 2, 3)]


def test_a_credit_loop_is_found_and_only_on_its_lane():
    (fault,) = check(topology(), ring_tables())
    assert fault.startswith("credit loop on lane 0: ")
    assert fault.count(" -> ") == 3
    # three hops from switches 1 and 2 do not close the ring, nor do those from 3 and 4
    assert check(topology(), ring_tables(), lambda source, _lid: (source > node(2),)) == []


def test_lanes_of_a_dump():
    fabric = topology()
    lane_of = read_lanes("SL to VL: 0 3 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                         "Service levels at switch guid 0x0000000000000002 ('sw2'):\n"
                         "0x000b-0x000c 1\n0x000d 2\n2 runs dumped\n1 switches dumped\n", fabric)
    assert [lane_of(node(2), lid) for lid in (11, 12, 13, 14)] == [(3,), (3,), (2,), (0,)]
    assert lane_of(node(1), 11) == (0,)


def test_switches_that_are_cut_off_are_not_expected():
    fabric = topology(without=(1, 4))
    tables = {switch: {lid: port for lid, port in row.items()
                       if (switch == node(1)) == (lid in (1, 11))}
              for switch, row in line_tables().items()}
    assert check(fabric, tables) == []


def test_tables_are_read_in_both_forms():
    fabric = topology()
    opensm = ("Unicast lids [0-14] of switch Lid 1 guid 0x0000000000000001 ('sw1'):\n"
              "0x0001 000 # Switch portguid 0x1: 'sw1'\n0x000c 002 # Channel Adapter\n"
              "14 lids dumped\n")
    ibroute = ("Unicast lids [0x0-0xe] of switch Lid 1 guid 0x0000000000000001 (sw1):\n"
               "  Lid  Out   Destination\n       Port     Info\n"
               "0x0001 000 : (Switch)\n0x0002 255 : (illegal port)\n0x000c 002 : (Channel)\n"
               "2 valid lids dumped\n")
    expected = {node(1): {1: 0, 12: 2}}
    assert read_tables(opensm, fabric) == expected
    assert read_tables(ibroute, fabric) == expected


# ---- changes ----

def around():
    """line_tables() without the cable between 1 and 2: what crossed it goes round by 4."""
    tables = line_tables()
    for lid in (2, 12, 3, 13, 4, 14):
        tables[node(1)][lid] = 3
    for switch in (2, 3, 4):
        for lid in (1, 11):
            tables[node(switch)][lid] = 2
    for lid in (2, 12, 3, 13):
        tables[node(4)][lid] = 3
    return tables


def test_changes_on_paths_over_a_dead_cable_are_needed():
    history = History()
    history.note({}, line_tables())
    whole, broken = topology(), topology(without=(1,))
    assert dead_links(whole, broken) == {(node(1), 2), (node(2), 3)}
    assert check(broken, around()) == []
    assert len(changes(line_tables(), around())) == 12
    assert needless_changes(whole, line_tables(), broken, around(), history) == []


def test_a_change_elsewhere_is_needless():
    history = History()
    history.note({}, line_tables())
    tables = around()
    tables[node(3)][14] = 3
    assert needless_changes(topology(), line_tables(), topology(without=(1,)), tables, history) == \
        [(node(3), 14, 2, 3)]


def test_a_return_may_bring_shorter_paths():
    whole, broken = topology(), topology(without=(1,))
    moved = (node(1), 12, 3, 2)
    assert moved in changes(around(), line_tables())
    assert moved not in needless_changes(broken, around(), whole, line_tables(), History())
    assert moved in needless_changes(broken, around(), broken, line_tables(), History())


def test_a_return_may_only_bring_back_what_was_before():
    history = History()
    history.note({}, line_tables())
    history.note(line_tables(), around())
    whole, broken = topology(), topology(without=(1,))
    assert needless_changes(broken, around(), whole, line_tables(), history) == []
    other = line_tables()
    other[node(2)][14] = 3
    assert needless_changes(broken, around(), whole, other, history) == [(node(2), 14, 2, 3)]
    # without a return even an old port is needless
    assert len(needless_changes(whole, around(), whole, line_tables(), history)) == 12
