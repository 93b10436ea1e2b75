# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A heddle-keyd of its own, calls to its API, and the settings of OpenSM that it needs."""

import http.client
import json
import pathlib
import signal
import socket
import subprocess

from fabric_sim import BUILD, PATIENCE, wait_until

KEYD = BUILD / "keyd" / "daemon" / "heddle-keyd"


def socket_of(folder):
    """The key channel of an OpenSM with settings(folder)."""
    return pathlib.Path(folder) / "sm.sock"


def settings(folder):
    """heddle.conf with a key channel in the folder."""
    return f"[keys]\nsocket = {socket_of(folder)}\n"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=PATIENCE):
        super().__init__("keyd", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


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
        wait_until(self.answers, lambda: f"heddle-keyd\n{self.log()}")
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
        wait_until(lambda: self.get("/v1/fabric").json["state"] == "ready",
                   lambda: f"heddle-keyd has a fabric\n{self.log()}")

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
        self.check(method, path, answer)
        if not connection:
            own.close()
        return answer

    def check(self, method, path, answer):
        """Tests compare each answer with the document of the API here."""

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

