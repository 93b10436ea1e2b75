# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""SMPs byte by byte, straight into ibsim's socket: for tests of what a switch answers."""

import itertools
import os
import socket
import struct

from fabric_sim import PATIENCE

GET, SET = 1, 2
MAGIC, CONNECT, DISCONNECT = 0xDEADBEEF, 1, 2
DATAGRAM = struct.Struct("@5IQ256s")
CONTROL = struct.Struct("@4I64s")
TIMED_OUT = 110
places = itertools.count(1)


class Lost(Exception):
    """No answer came in time."""


class Unreachable(Exception):
    """ibsim knows no node there."""


class RawClient:
    """A client at one node of a simulation. As a context manager."""

    def __init__(self, simulation, host=None):
        self.name = simulation.environment["IBSIM_SOCKNAME"]
        self.host = host or simulation.host
        self.transaction = 0

    def __enter__(self):
        number = os.getpid() * 1000 + next(places)
        self.control = self._socket("ctl", number)
        self.data = self._socket("in", number)
        self.control.connect(f"\0{self.name}:ctl\0")
        info = struct.pack("@3I32s", number, 0, 0, self.host.encode()).ljust(64, b"\0")
        self.place = struct.unpack_from("@I", self._ask(CONNECT, info))[0]
        self.data.connect(f"\0{self.name}:out{self.place}\0")
        return self

    def __exit__(self, *exception):
        self._ask(DISCONNECT, bytes(64))
        self.abandon()
        return False

    def abandon(self):
        """Goes without a word, as a killed process does."""
        self.control.close()
        self.data.close()

    def _socket(self, kind, number):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        made.bind(f"\0{self.name}:{kind}{number}\0")
        made.settimeout(PATIENCE)
        return made

    def _ask(self, kind, data):
        self.control.send(CONTROL.pack(MAGIC, getattr(self, "place", 0), kind, len(data), data))
        _, _, kind, _, data = CONTROL.unpack(self.control.recv(CONTROL.size))
        assert kind, "ibsim refuses"
        return data

    def send(self, method, attribute, modifier, data=b"", path=(), lid=0xFFFF):
        """Sends an SMP along a directed route, the ports to leave by, or to a LID."""
        self.transaction += 1
        directed = lid == 0xFFFF
        hops = len(path) if directed else 0
        mad = struct.pack(">4B2H2IHHI", 1, 0x81 if directed else 1, 1, method, 0, hops, 0,
                          self.transaction, attribute, 0, modifier).ljust(32, b"\0")
        mad += (b"\xff" * 4).ljust(32, b"\0") + bytes(data).ljust(64, b"\0")
        mad += (bytes([0, *path]) if directed else b"").ljust(128, b"\0")
        self.data.send(DATAGRAM.pack(socket.htons(lid), 0xFFFF if directed else 0, 0, 0, 0, 256,
                                     mad))
        return self.transaction

    def receive(self, timeout=PATIENCE):
        """(transaction, status, data) of the next answer."""
        self.data.settimeout(timeout)
        try:
            packet = self.data.recv(DATAGRAM.size)
        except TimeoutError:
            raise Lost from None
        *_, status, _, mad = DATAGRAM.unpack(packet)
        transaction = struct.unpack_from(">I", mad, 12)[0]
        if socket.ntohl(status) == TIMED_OUT:
            raise Unreachable
        return transaction, struct.unpack_from(">H", mad, 4)[0] & 0x7FFF, mad[64:128]

    def ask(self, method, attribute, modifier, data=b"", path=(), lid=0xFFFF, timeout=PATIENCE):
        """(status, data) of the answer to one SMP."""
        sent = self.send(method, attribute, modifier, data, path, lid)
        transaction, status, data = self.receive(timeout)
        assert transaction == sent
        return status, data

    def get(self, attribute, modifier=0, **address):
        """The data of an attribute that the node has."""
        status, data = self.ask(GET, attribute, modifier, **address)
        assert status == 0, f"status 0x{status:04x}"
        return data

    def set(self, attribute, modifier, data, **address):
        status, data = self.ask(SET, attribute, modifier, data, **address)
        assert status == 0, f"status 0x{status:04x}"
        return data
