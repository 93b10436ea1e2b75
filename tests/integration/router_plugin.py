# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The subnet manager's end of the router protocol, for tests of the agent.

Written from doc/guide/router-protocol.md alone: it shares no code with Heddle, so that a mistake on
one side shows.
"""

import queue
import secrets
import socket
import struct
import threading
import time
from fabric_sim import PATIENCE

HELLO, PORTS, HOSTS, MAP, READY, ACCEPTED, FOREIGN, PREFIXES, REFUSED, ALIVE = range(1, 11)
MAGIC, VERSION = 0x48445254, 1
ALIVE_S = .1  # the router closes a connection on which nothing has come for three times its advertise_ms
HEADER = struct.Struct(">IHHIIQQQ")
BODIES = {HELLO: ">B7xQQQ", PORTS: ">QII", HOSTS: ">QIIII", MAP: ">QIIII", READY: ">QIIII", ACCEPTED: ">QIIII",
          FOREIGN: ">QIIII", PREFIXES: ">QHHI", REFUSED: ">QIHH", ALIVE: ">"}
ENTRIES = {PORTS: ">QQHHB3x32s", HOSTS: ">QQQIH2x", MAP: ">QQQ", FOREIGN: ">QQQIH2x", PREFIXES: ">QB7x"}


def crc32c(data):
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def pack(kind, session, sequence, epoch, body, entries=()):
    rest = struct.pack(BODIES[kind], *body)
    rest += b"".join(struct.pack(ENTRIES[kind], *entry) for entry in entries)
    length = HEADER.size + len(rest)
    message = HEADER.pack(MAGIC, VERSION, kind, length, 0, session, sequence, epoch) + rest
    return message[:12] + struct.pack(">I", crc32c(message)) + message[16:]


class Message:
    def __init__(self, data):
        magic, version, self.kind, length, checksum, self.session, self.sequence, self.epoch = HEADER.unpack_from(data)
        assert (magic, version, length) == (MAGIC, VERSION, len(data))
        assert checksum == crc32c(data[:12] + bytes(4) + data[16:])
        form = struct.Struct(BODIES[self.kind])
        self.body = form.unpack_from(data, HEADER.size)
        self.entries = []
        if self.kind in ENTRIES:
            self.entries = list(struct.iter_unpack(ENTRIES[self.kind], data[HEADER.size + form.size:]))


class Plugin:
    """Listens for one router, at a path or, for TCP, at an (address, port). A context manager. Messages of the router that are not
    HELLO or ALIVE come out of `next`. To what the router sends it answers ALIVE if it has said nothing for a while."""

    def __init__(self, path, prefix):
        self.path, self.prefix = path, prefix
        self.epoch = 0
        self.client = None
        self.greetings = 0
        self.sending = threading.Lock()

    def __enter__(self):
        if isinstance(self.path, tuple):
            self.listener = socket.create_server(self.path)
            self.port = self.listener.getsockname()[1]
        else:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(self.path))
        self.listener.listen()
        self.listening = True
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.listening = False
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if not isinstance(self.path, tuple):
            self.path.unlink()
        self.drop()
        return False

    def drop(self):
        if self.client:
            self.client.shutdown(socket.SHUT_RDWR)

    def _serve(self):
        while self.listening:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            self.messages = queue.Queue()
            try:
                self._read(client)
            except (EOFError, OSError):
                pass
            self.client = None
            client.close()

    def _exactly(self, client, size):
        data = b""
        while len(data) < size:
            piece = client.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _read(self, client):
        self.nonce, self.sent = secrets.randbits(63) | 1, 0
        expected = 1
        while True:
            header = self._exactly(client, HEADER.size)
            length = struct.unpack_from(">I", header, 8)[0]
            message = Message(header + self._exactly(client, length - HEADER.size))
            assert message.sequence == expected
            expected += 1
            if message.kind == HELLO:
                self.role, self.peer, _, self.router = message.body
                assert message.session == 0 and self.role == 2
                self.client = client
                self.send(HELLO, (1, self.nonce, self.prefix, 0))
                self.greetings += 1
            else:
                assert message.session == self.nonce
                if message.kind != ALIVE:
                    self.messages.put(message)
                if time.monotonic() > self.last + ALIVE_S:
                    self.send(ALIVE, ())

    def send_bytes(self, data):
        self.client.sendall(data)

    def stamp(self, kind, body, entries=(), epoch=None):
        """A message that is the next one of the session."""
        self.sent += 1
        self.last = time.monotonic()
        return pack(kind, self.peer, self.sent, self.epoch if epoch is None else epoch, body, entries)

    def send(self, *message, **options):
        with self.sending:
            self.send_bytes(self.stamp(*message, **options))

    def next(self, *kinds, timeout=PATIENCE):
        """The next message of one of these kinds; others are dropped."""
        while True:
            message = self.messages.get(timeout=timeout)
            if not kinds or message.kind in kinds:
                return message

    def send_epoch(self, ports, hosts, mapped=(), part=20):
        """A whole epoch: ports (GUID, switch GUID, LID, switch LID, switch port, bits of ports that
        lead down), hosts (GUID, top switch, place, LID), mapped (prefix, GUID, port GUID)."""
        self.epoch += 1
        ports = [(guid, switch, lid, switch_lid, port, down.to_bytes(32, "little"))
                 for guid, switch, lid, switch_lid, port, down in sorted(ports)]
        self.send(PORTS, (self.prefix, len(ports), 0), ports)
        hosts = [(self.prefix, *host) for host in sorted(hosts)]
        for kind, entries in ((HOSTS, hosts), (MAP, sorted(mapped))):
            for first in range(0, len(entries), part):
                some = entries[first:first + part]
                self.send(kind, (self.prefix, len(entries), first, len(some), 0), some)
        self.send(READY, (self.prefix, len(ports), len(hosts), len(mapped), 0))
