# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd, whose answers are compared with the document of its API, and a fake subnet manager that speaks the key
channel."""

import contextlib
import os
import re
import socket
import struct
import threading

import jsonschema
import yaml

import keyd_process
from cli_testing import SOURCE, heddle
from fabric_sim import wait_until as wait_for  # noqa: F401
from keyd_process import KEYD, Answer  # noqa: F401

API = yaml.safe_load((SOURCE / "doc" / "guide" / "keyd-api.yaml").read_text())

HELLO, FABRIC, HELD, SET, RESULT, BROKEN = range(1, 7)
DONE, STALE, REFUSED, FAILED, BUSY = range(5)


def netlist(folder, *options, kind="xgft", lmc=2):
    """The text of a generated fabric whose hosts have that LMC."""
    path = folder / "fabric.net"
    heddle("topo", "generate", kind, *options, "-o", path)
    spread = re.sub(r"\blid (\d+)", lambda match: f"lid {int(match[1]) << lmc}", path.read_text())
    return re.sub(r"# lid (\d+) lmc 0 ", rf"# lid \1 lmc {lmc} ", spread).encode()


def host_names(fabric):
    """The names of the hosts, in the order of the file."""
    return re.findall(r'^Ca\s.*# "(\S+?)[ "]', fabric.decode(), re.MULTILINE)


def text(value):
    return struct.pack("!I", len(value)) + value.encode()


class FakeManager:
    """A subnet manager that answers each SET at once, as `answer` says: (status, reason), or None for
    no answer. `keys` has what it holds: {key: {(switch GUID, LID): port}}."""

    def __init__(self, path, fabric, engine="nrk", master=True):
        self.path, self.fabric, self.engine, self.master = str(path), fabric, engine, master
        self.instance, self.epoch = int.from_bytes(os.urandom(7), "big") + 1, 1
        self.keys, self.sets, self.aside = {}, [], []
        self.answer = lambda key, entries: (DONE, "")
        self.check_epoch = True
        self.lock = threading.Lock()
        self.connections = []
        self.listener = None
        self.start()

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        """Goes away, as when OpenSM ends."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
        with self.lock:
            connections, self.connections = self.connections, []
        for connection in connections:
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def restart(self):
        """Another process takes over, which holds no keys."""
        self.instance += 1
        self.keys = {}
        self.start()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections.append(connection)
                self.greet(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def send(connection, kind, body):
        connection.sendall(struct.pack("!4sHHI", b"HKEY", 1, kind, len(body)) + body)

    def greet(self, connection):
        self.send(connection, HELLO, struct.pack("!QI", self.instance, self.master) + text(self.engine))
        if self.master and self.engine in ("ark", "nrk"):
            self.send_fabric(connection)
            keys = sorted(self.keys)
            self.send(connection, HELD, struct.pack(f"!I{len(keys)}Q", len(keys), *keys))

    def send_fabric(self, connection):
        self.send(connection, FABRIC, struct.pack(f"!QII{len(self.aside)}Q", self.epoch, len(self.aside),
                                                  len(self.fabric), *self.aside) + self.fabric)

    @contextlib.contextmanager
    def together(self):
        """What takes messages and sends them as one piece."""
        class Collector:
            data = b""

            def sendall(self, more):
                self.data += more
        collector = Collector()
        yield collector
        self.connections[0].sendall(collector.data)

    def change_fabric(self, fabric=None, broken=()):
        """A new epoch. broken: keys that fall back."""
        with self.lock:
            self.epoch += 1
            self.fabric = fabric or self.fabric
            for connection in self.connections:
                self.send_fabric(connection)
                for key in broken:
                    self.keys.pop(key, None)
                    self.send(connection, BROKEN, struct.pack("!QQ", key, self.epoch) + text("a cable is gone"))

    def become(self, master):
        """Becomes master or standby."""
        with self.lock:
            self.master = master
            for connection in self.connections:
                self.greet(connection)

    def route_with(self, engine):
        """Goes on with another engine. No key is in force then."""
        with self.lock:
            self.engine, self.keys = engine, {}
            for connection in self.connections:
                self.greet(connection)

    def read(self, connection, count):
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise OSError("closed")
            data += more
        return data

    def serve(self, connection):
        try:
            while True:
                magic, version, kind, length = struct.unpack("!4sHHI", self.read(connection, 12))
                assert (magic, version, kind) == (b"HKEY", 1, SET)
                self.take(connection, self.read(connection, length))
        except OSError:
            with self.lock:
                self.connections = [other for other in self.connections if other is not connection]

    def take(self, connection, body):
        request, key, epoch, count = struct.unpack_from("!QQQI", body)
        entries = {}
        for guid, lid, port in struct.iter_unpack("!QHBx", body[28:]):
            entries[guid, lid] = port
        assert len(entries) == count
        with self.lock:
            if entries and self.check_epoch and epoch != self.epoch:
                status, reason = STALE, "another epoch"
            else:
                answer = self.answer(key, entries)
                if answer is None:
                    return
                status, reason = answer
            before = self.keys.get(key, {})
            changed = len(set(before.items()) ^ set(entries.items()))
            if status == DONE:
                self.keys[key] = entries
                if not entries:
                    del self.keys[key]
            self.sets.append((key, status, entries))
            blocks = len({(guid, lid // 64) for guid, lid in entries})
            try:
                self.send(connection, RESULT,
                          struct.pack("!QQIII", request, key, status, blocks, changed) + text(reason))
            except OSError:
                pass


def operation(method, path):
    """What the API's document says about a call, or None."""
    for form, entry in API["paths"].items():
        pattern = re.sub(r"\{\w+\}", "[A-Za-z0-9._-]{1,64}", form)
        if re.fullmatch(pattern, path.split("?")[0]) and method.lower() in entry:
            return entry[method.lower()]
    return None


def check_answer(method, path, answer):
    """An answer has a status, a type and a content that the API's document allows."""
    described = operation(method, path)
    if described is None:
        response = API["components"]["responses"]["Problem"]
    else:
        responses = described["responses"]
        response = responses.get(str(answer.status), responses["default"])
    if "$ref" in response:
        response = API["components"]["responses"]["Problem"]
    (kind, media), = response["content"].items()
    assert answer.type.split(";")[0] == kind, (method, path, answer.status, answer.type, answer.text)
    if kind != "text/plain":
        schema = {**media["schema"], "components": API["components"]}
        jsonschema.Draft4Validator(schema).validate(answer.json)
    if kind == "application/problem+json":
        assert answer.json["status"] == answer.status
    if answer.status == 429 or answer.headers["Retry-After"]:
        assert int(answer.headers["Retry-After"]) > 0
    assert int(answer.headers["Content-Length"]) == len(answer.text.encode())


class Keyd(keyd_process.Keyd):
    """Each answer has to be one that the document allows. Keys have time to come on a busy machine."""

    def __init__(self, folder, managers=None, **options):
        super().__init__(folder, managers, **{"answer_ms": 60000, **options})

    def check(self, method, path, answer):
        check_answer(method, path, answer)
