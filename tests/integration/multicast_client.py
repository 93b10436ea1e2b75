#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Joins ports to multicast groups and removes them, with requests to the real SA.

Arguments: requests ACTION:GROUP:PORT_GUID:JOIN_STATE[:SL]. The local port sends them in this order;
the SA lets a port send requests for other ports of its partition. GROUP is the low part of the MGID.
SL is 0 by default. Prints `GROUP MLID` in hexadecimal for each request. Stops at an error of the SA.
"""

import ctypes
import struct
import sys

SA_CLASS, SA_CLASS_VERSION = 3, 2
METHODS = {"join": 0x02, "leave": 0x15}
MC_MEMBER_RECORD = 0x38
SUBNET_PREFIX = 0xFE80000000000000
PKEY = 0xFFFF
QKEY = 0x0B1B
GSI_QP, GSI_QKEY = 1, 0x80010000
# MGID, port GID, Q_Key, traffic class, P_Key, SL, flow label, join state
COMPONENTS = sum(1 << bit for bit in (0, 1, 2, 6, 7, 12, 13, 16))
JOIN_COMPONENTS = sum(1 << bit for bit in (0, 1, 16))
HEADER = struct.Struct(">BBBBHHQHHI" "BBBBII" "QHHQ")
RECORD = struct.Struct(">QQQQ" "IHBBHBBIB3x")
MAD_SIZE = 256


def record(group, port_guid, join_state, level):
    mgid = 0xFF12401BFFFF0000
    scope = 2
    return RECORD.pack(mgid, group, SUBNET_PREFIX, port_guid, QKEY, 0, 0, 0, PKEY, 0, 0,
                       level << 28, scope << 4 | join_state)


class Client:
    """The connection of the local port to the SA."""

    def __init__(self):
        self.umad = ctypes.CDLL("libibumad.so.3", use_errno=True)
        self.umad.umad_get_mad.restype = ctypes.c_void_p
        self.umad.umad_get_mad.argtypes = [ctypes.c_void_p]
        self.umad.umad_init()
        self.port = self.umad.umad_open_port(None, 0)
        self.agent = self.umad.umad_register(self.port, SA_CLASS, SA_CLASS_VERSION, 0, None)
        if self.port < 0 or self.agent < 0:
            sys.exit(f"no umad port ({self.port}) or agent ({self.agent})")
        self.size = self.umad.umad_size() + MAD_SIZE
        self.transaction = 0

    def ask(self, sm_lid, method, data):
        """Sends a request and returns the record in the SA's answer."""
        self.transaction += 1
        header = HEADER.pack(1, SA_CLASS, SA_CLASS_VERSION, method, 0, 0, self.transaction,
                             MC_MEMBER_RECORD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                             COMPONENTS if method == METHODS["join"] else JOIN_COMPONENTS)
        buffer = ctypes.create_string_buffer(self.size)
        mad = self.umad.umad_get_mad(buffer)
        ctypes.memmove(mad, header + data, len(header + data))
        self.umad.umad_set_addr(buffer, sm_lid, GSI_QP, 0, ctypes.c_uint(GSI_QKEY))
        if self.umad.umad_send(self.port, self.agent, buffer, MAD_SIZE, 60000, 3):
            sys.exit("umad_send failed")
        length = ctypes.c_int(MAD_SIZE)
        if self.umad.umad_recv(self.port, buffer, ctypes.byref(length), 600000) < 0:
            sys.exit("no answer from the SA")
        answer = ctypes.string_at(mad, MAD_SIZE)
        status = HEADER.unpack(answer[:HEADER.size])[4]
        if self.umad.umad_status(buffer) or status:
            sys.exit(f"the SA refuses: status 0x{status:x}")
        return RECORD.unpack(answer[HEADER.size:HEADER.size + RECORD.size])


def main():
    client = Client()
    sm_lid = int(sys.argv[1])
    for request in sys.argv[2:]:
        action, group, port_guid, join_state, *level = request.split(":")
        answer = client.ask(sm_lid, METHODS[action],
                            record(int(group, 16), int(port_guid, 16), int(join_state, 16),
                                   int(level[0], 16) if level else 0))
        print(f"{int(group, 16):x} {answer[5]:x}")


if __name__ == "__main__":
    main()
