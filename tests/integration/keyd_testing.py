# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heddle-keyd and a fake subnet manager that speaks the key channel, for tests."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import threading
import time

import jsonschema
import yaml

from cli_testing import SOURCE, heddle

BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build" / "check"))
KEYD = BUILD / "keyd" / "daemon" / "heddle-keyd"

API = yaml.safe_load((SOURCE / "doc" / "guide" / "keyd-api.yaml").read_text())

HELLO, FABRIC, HELD, SET, RESULT, BROKEN = range(1, 7)
DONE, STALE, REFUSED, FAILED, BUSY = range(5)
PATIENCE = 10  # seconds until a test gives up


def wait_for(condition, what, seconds=PATIENCE):
    """The first true value of condition()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited {seconds} s for {what}")


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
            pass

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


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=PATIENCE):
        super().__init__("keyd", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


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
    if answer.status in (429, 503):
        assert int(answer.headers["Retry-After"]) > 0
    assert int(answer.headers["Content-Length"]) == len(answer.text.encode())


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        self.type = response.headers.get("Content-Type")

    @property
    def json(self):
        return json.loads(self.text)


class Keyd:
    """A heddle-keyd of its own in a folder."""

    def __init__(self, folder, managers=None, **options):
        self.folder = folder
        self.socket = folder / "keyd.sock"
        self.state = folder / "state"
        self.log_path = folder / "keyd.log"
        self.config = folder / "heddle.conf"
        self.options = {"socket": self.socket, "state": self.state,
                        "sm_sockets": managers or folder / "sm.sock", **options}
        self.process = None
        self.prefix = []
        self.preexec = None

    def write_config(self):
        lines = "".join(f"{name} = {value}\n" for name, value in self.options.items())
        self.config.write_text("[keyd]\n" + lines)

    def spawn(self):
        self.write_config()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([*self.prefix, KEYD, "--config", self.config], stderr=log, stdout=log,
                                            preexec_fn=self.preexec)
        return self

    def start(self, ready=True):
        """ready: also wait until it has a fabric."""
        self.spawn()
        wait_for(self.answers, f"heddle-keyd\n{self.log()}")
        if ready:
            self.wait_ready()
        return self

    def answers(self):
        assert self.process.poll() is None, self.log()
        try:
            return self.get("/healthz").status == 200
        except OSError:
            return False

    def wait_ready(self):
        wait_for(lambda: self.get("/v1/fabric").json["state"] == "ready", f"a fabric\n{self.log()}")

    def log(self):
        return self.log_path.read_text() if self.log_path.exists() else ""

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it. Its exit status."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        return self.process.returncode if self.process else 0

    def connect(self):
        return UnixConnection(self.socket)

    def call(self, method, path, body=None, headers=None, connection=None):
        """One call; body: an object for JSON, or bytes."""
        own = connection or self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is None and method in ("PUT", "POST"):
            body = "{}"
        own.request(method, path, body=body, headers=headers or {})
        answer = Answer(own.getresponse())
        check_answer(method, path, answer)
        if not connection:
            own.close()
        return answer

    def get(self, path, **options):
        return self.call("GET", path, **options)

    def place(self, job, hosts, pattern="ring", **members):
        body = {"hosts": hosts, **members}
        if "phases" not in members:
            body["pattern"] = pattern
        return self.call("PUT", f"/v1/jobs/{job}", body)

    def request(self, job, phase=0, step="0", **options):
        return self.call("POST", f"/v1/jobs/{job}/request", {"step": step, "phase": phase}, **options)

    def done(self, job, phase=0, step="0", **options):
        return self.call("POST", f"/v1/jobs/{job}/done", {"step": step, "phase": phase}, **options)

    def release(self, job):
        return self.call("DELETE", f"/v1/jobs/{job}")

    def metrics(self):
        found = {}
        for line in self.get("/metrics").text.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                found[name.removeprefix("heddle_keyd_")] = float(value)
        return found

