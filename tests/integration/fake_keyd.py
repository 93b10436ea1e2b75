# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A stand-in for heddle-keyd: it answers the calls of the API from a few lines of state, and writes
down who has called what. Tests of its clients can make it slow, or let it refuse."""

import http.server
import json
import os
import pathlib
import re
import socket
import socketserver
import struct
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def address_string(self):
        return "local"

    def _handle(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pid, uid, _ = struct.unpack("3i", self.connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        del pid
        keyd = self.server.keyd
        content = json.loads(body) if body else None
        with keyd.lock:  # calls are in the order of their answers, unless these are slow
            keyd.calls.append((self.command, self.path, content, uid))
            status, answer = keyd.answer(self.command, self.path, content, uid) if not keyd.delay else (None, None)
        if status is None:
            time.sleep(keyd.delay)
            with keyd.lock:
                status, answer = keyd.answer(self.command, self.path, content, uid)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
        self.send_header("Content-Length", str(len(text)))
        if status == 503:
            self.send_header("Retry-After", "1")
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = _handle


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


def problem(status, detail):
    return status, {"type": "about:blank", "title": detail, "status": status, "detail": detail}


class FakeKeyd:
    """Use as a context manager. `ready` False: no key can be programmed; `stopping` True: it answers so; `delay`: seconds before each
    answer; `paths`: members of keys and grants, and `rank_offsets`: of jobs, where a phase has several offsets."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lock = threading.Lock()
        self.calls = []  # (method, path, body, uid)
        self.jobs = {}
        self.ready, self.stopping, self.delay = True, False, 0
        self.paths, self.rank_offsets = {}, {}
        self.reason = "the subnet manager is away"
        self.server = None

    def __enter__(self):
        self.server = Server(str(self.path), Handler)
        self.server.keyd = self
        os.chmod(self.path, 0o666)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.server.server_close()
        self.path.unlink(missing_ok=True)
        return False

    def called(self, method, pattern):
        """(path, body, uid) of the calls of this method whose paths match."""
        with self.lock:
            return [call[1:] for call in self.calls if call[0] == method and re.fullmatch(pattern, call[1])]

    def answer(self, method, path, body, uid):
        words = path.split("?")[0].strip("/").split("/")
        if self.stopping:
            return problem(503, "heddle-keyd is stopping")
        if words == ["v1", "jobs"]:
            return 200, {"jobs": [{"job": name, "state": "placed", "uid": job["uid"], "hosts": job["hosts"],
                                   "mode": "rewrite", "active": sorted(job["active"])}
                                  for name, job in self.jobs.items()]}
        if words == ["v1", "links"]:
            return 200, {"links": [{"from": f"0x{i:x}", "from_name": f"leaf {i}", "port": i, "to": "0x99",
                                    "to_name": "spine", "flows": i} for i in range(1, 4)], "most": 3}
        if words == ["v1", "fabric"]:
            return 200, {"state": "ready", "reason": "", "epoch": 7, "engine": "nrk", "switches": 12,
                         "hosts": 16, "lmc": 2}
        if words[:2] != ["v1", "jobs"]:
            return problem(404, f"nothing is at {path}")
        return self.answer_job(method, words[2], "/".join(words[3:]), body, uid)

    def whole(self, name):
        job = self.jobs[name]
        return {"job": name, "state": "placed", "mode": job["body"].get("mode", "rewrite"), "hosts": job["hosts"],
                "ranks": job["ranks"], **self.rank_offsets,
                "uid": job["uid"], "active": sorted(job["active"]), "offset": 1, "offsets": 3, "lmc": 2,
                "keys": [{"key": f"{name}.0", "phase": 0, "offset": 1, "flows": 8, "contention": 1,
                          "demand": 2, "usable": 4, **self.paths}]}

    def answer_job(self, method, name, rest, body, uid):
        if method == "PUT" and not rest:
            if self.jobs.get(name, {"body": body})["body"] != body:
                return problem(409, f"job {name} is placed otherwise")
            hosts = len(body["hosts"])
            self.jobs[name] = {"body": body, "uid": body.get("uid", uid), "hosts": hosts,
                               "ranks": body.get("ranks", hosts), "active": set()}
            return 200, self.whole(name)
        if name not in self.jobs:
            return problem(404, f"job {name} is not placed")
        job = self.jobs[name]
        if uid not in (0, job["uid"]):
            return problem(403, f"job {name} belongs to uid {job['uid']}")
        if method == "GET":
            return 200, self.whole(name)
        if method == "DELETE":
            del self.jobs[name]
            return 200, {"job": name}
        if rest.endswith("/layout"):
            return 200, dict(self.whole(name), ranks=len(body["ranks"]))
        if rest == "done":
            if body["phase"] not in job["active"]:
                return problem(409, "the phase is not active")
            job["active"].discard(body["phase"])
            return 200, {"phase": body["phase"]}
        phase = body["phase"] if rest == "request" else max(job["active"], default=0)
        job["turn"] = job.get("turn", 0) + (phase not in job["active"])
        job["active"].add(phase)
        return 200, {"key": f"{name}.{phase}.{body['step']}", "phase": phase, "turn": job["turn"],
                     "offset": 1 if self.ready else 0, "sl": 0, "ready": self.ready, "contention": 1,
                     "blocks": 2, "changed": 9, "reason": "" if self.ready else self.reason, **self.paths}
