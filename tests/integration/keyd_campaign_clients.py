# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Clients of heddle-keyd for the campaign tests/flaps/keyd, each a process of its own. Honest ones run jobs
and note each call with its answer. Hostile ones want to keep heddle-keyd from serving others."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

from keyd_process import Answer, UnixConnection

USERS = (12001, 12002, 12003, 12004)  # owners of jobs
HOSTILE = (65533, 65534, 12666)
CALL_MOST = 60  # seconds; an honest client gives up then, and asks what has become of its call
PAUSE = 0.02  # seconds between two looks of a paused client


def run_delay(pid):
    """Nanoseconds that all threads of a process have waited for a processor."""
    waited = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            waited += int(path.read_text().split()[1])
    return waited


def become(uid):
    """Another user for connections to unix sockets."""
    os.seteuid(0)
    if uid:
        os.seteuid(uid)


class Caller:
    """Calls of one user: on the unix socket, or over TCP with a MUNGE credential."""

    def __init__(self, site, uid, remote=False):
        self.site, self.uid, self.remote = site, uid, remote

    def connection(self):
        if self.remote:
            return http.client.HTTPConnection("127.0.0.1", self.site["tcp"], timeout=CALL_MOST)
        connection = UnixConnection(self.site["socket"], CALL_MOST)
        become(self.uid)
        try:
            connection.connect()
        finally:
            become(0)
        return connection

    def headers(self, method, path, body):
        if not self.remote:
            return {}
        payload = hashlib.sha256(f"{method} {path}\n{body or ''}".encode()).hexdigest()
        done = subprocess.run(["munge", f"--socket={self.site['munge']}", "--string", payload], text=True, check=True,
                              capture_output=True, user=self.uid, timeout=CALL_MOST)
        return {"Authorization": f"MUNGE {done.stdout.strip()}"}

    def call(self, method, path, body=None):
        """(status, content). OSError if there is no answer."""
        text = None if body is None else json.dumps(body)
        try:
            headers = self.headers(method, path, text)
            connection = self.connection()
            with contextlib.closing(connection):
                connection.request(method, path, body=text, headers=headers)
                answer = Answer(connection.getresponse())
                return answer.status, answer.json if "json" in (answer.type or "") else None
        except (http.client.HTTPException, subprocess.SubprocessError) as error:
            raise OSError(str(error)) from error

    def leave(self, method, path, body):
        """Makes a call and goes away before the answer. munged may stop before it is asked about the credential."""
        text = json.dumps(body)
        try:
            headers = self.headers(method, path, text)
        except subprocess.SubprocessError as error:
            raise OSError(str(error)) from error
        if self.remote:
            time.sleep(random.uniform(0, 1))
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body=text, headers=headers)

    def drip(self, method, path, body):
        """The same as call() on the unix socket, in small pieces."""
        text = json.dumps(body)
        whole = f"{method} {path} HTTP/1.1\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        connection = self.connection()
        with contextlib.closing(connection):
            for i in range(0, len(whole), 12):
                connection.sock.sendall(whole[i:i + 12])
                time.sleep(0.02)
            response = http.client.HTTPResponse(connection.sock, method=method)
            try:
                response.begin()
            except http.client.HTTPException as error:
                raise OSError(str(error)) from error
            answer = Answer(response)
            return answer.status, answer.json


def random_phases(chance, ranks):
    """Flows of each phase: permutations, and flows with common ends."""
    phases = []
    for _ in range(chance.randint(1, 5)):
        if chance.random() < 0.7:
            to = list(range(ranks))
            chance.shuffle(to)
            flows = [[i, j] for i, j in enumerate(to) if i != j]
        else:
            flows = [chance.sample(range(ranks), 2) for _ in range(chance.randint(1, ranks))]
        phases.append(sorted(map(list, {tuple(flow) for flow in flows})))
    return phases


def named_flows(hosts, flows, more):
    """(source, destination, offset above the first one) of the flows of a phase; more: these offsets, or None."""
    return [(hosts[one], hosts[other], above) for (one, other), above in zip(flows, more or [0] * len(flows))]


class Job:
    """What its client knows of a job. `unsure`: a call without an answer may have changed the phase."""

    def __init__(self, name, hosts, phases, mode, uid):
        self.name, self.hosts, self.phases, self.mode, self.uid = name, hosts, phases, mode, uid
        self.steps = {"0": hosts}
        self.more = {}  # step -> for each phase and flow, its LID offset above the first one of the phase
        self.step, self.active, self.turn, self.unsure = "0", None, None, False
        self.sure = None  # [phases] that are active for sure in the step, None if that is not known

    def belief(self):
        return {"phases": self.phases, "steps": self.steps, "step": self.step, "mode": self.mode, "sure": self.sure,
                "more": self.more}

    def take_offsets(self, step, answer):
        """Which offsets the flows of a step use, as a placement or a layout says."""
        ranks = {rank: offset - answer["keys"][0]["offset"] for rank, offset in answer.get("rank_offsets", [])}
        self.more[step] = []
        for key, flows in zip(answer["keys"], self.phases):
            paths = {(one, other): offset - key["offset"] for one, other, offset in key.get("paths", [])}
            self.more[step].append([paths.get((one, other), ranks.get(one, 0)) for one, other in flows])

    def flows(self, step, phase):
        """(source, destination, offset above the first one of the phase), with names of hosts."""
        return named_flows(self.steps[step], self.phases[phase], self.more[step][phase] if self.more else None)

    def placement(self):
        return {"hosts": self.hosts, "phases": self.phases, "mode": self.mode, "uid": self.uid}


class Honest:
    """Runs jobs one after the other, each with random phases, layouts and ways to call."""

    def __init__(self, site, number):
        self.site, self.number = site, number
        self.random = random.Random(f"{site['seed']} honest {number}")
        self.root = Caller(site, 0)
        self.remote = number % 3 == 2
        self.jobs, self.made = [], 0
        self.file = open(site["folder"] / f"client-{number}.jsonl", "a", buffering=1, encoding="ascii")

    def note(self, **members):
        self.file.write(json.dumps(members) + "\n")

    def measured(self, caller, kind, job, method, path, body=None, way="call", **more):
        """A call that is noted. (status, content); status 0: no answer."""
        waited = run_delay(os.getpid()) + run_delay(self.pid()) if kind == "place" else 0
        begin = time.time_ns()
        self.note(begins=begin, kind=kind, job=job.name)
        try:
            status, content = getattr(caller, way)(method, path, body) or (0, "left")
        except OSError as error:
            status, content = 0, f"{type(error).__name__}: {error}"
        waited = run_delay(os.getpid()) + run_delay(self.pid()) - waited if kind == "place" else 0
        self.note(sent=begin, answered=time.time_ns(), kind=kind, job=job.name, status=status, content=content,
                  way=way, uid=caller.uid, remote=caller.remote, waited=max(waited, 0), **more)
        return status, content

    def pid(self):
        return self.site["keyd"].value

    def place(self):
        hosts = self.random.sample(self.site["hosts"], self.random.randint(4, 16))
        self.made += 1
        job = Job(f"c{self.number}-{self.made}", hosts, random_phases(self.random, len(hosts)),
                  "offset" if self.random.random() < 0.2 else "rewrite", self.random.choice(USERS))
        while True:
            status, answer = self.measured(self.root, "place", job, "PUT", f"/v1/jobs/{job.name}", job.placement())
            if status or self.site["end"].is_set():
                break
            self.wait(0.2)
        if status == 200:
            job.take_offsets("0", answer)
            self.jobs.append(job)

    def release(self, job):
        while True:
            status, _ = self.measured(self.root, "release", job, "DELETE", f"/v1/jobs/{job.name}")
            if status in (200, 404) or self.site["end"].is_set():
                break
            self.wait(0.2)
        self.jobs.remove(job)

    def lay_out(self, job, caller):
        step, ranks = f"s{len(job.steps)}", self.random.sample(job.hosts, len(job.hosts))
        status, answer = self.measured(caller, "layout", job, "PUT", f"/v1/jobs/{job.name}/steps/{step}/layout",
                                       {"ranks": ranks})
        if status == 200:
            job.steps[step] = ranks
            job.take_offsets(step, answer)
            job.step, job.active, job.turn, job.sure = step, None, None, []

    def learn(self, job, caller):
        """Joins: an unsure job learns which phase and turn there are."""
        known = not job.unsure
        status, grant = self.measured(caller, "join", job, "POST", f"/v1/jobs/{job.name}/join", {"step": job.step},
                                      step=job.step, flows=[job.flows(job.step, phase)
                                                            for phase in range(len(job.phases))])
        if status == 200:
            job.turn, job.unsure = grant["turn"], False
            job.active = grant["phase"]
            job.sure = job.sure if job.sure and known else None

    def request(self, job, caller):
        phase = self.random.randrange(len(job.phases))
        body = {"step": job.step, "phase": phase}
        if job.turn is not None and self.random.random() < 0.5:
            body["turn"] = job.turn
        path = f"/v1/jobs/{job.name}/request"
        way = self.random.choices(("call", "drip", "leave"), (8, 0 if caller.remote else 1, 1))[0]
        status, grant = self.measured(caller, "request", job, "POST", path, body, way, step=job.step, phase=phase,
                                      flows=job.flows(job.step, phase))
        if status == 200:
            job.active, job.turn, job.sure = phase, grant["turn"], [phase]
        elif status != 409:
            job.unsure, job.sure = True, None

    def done(self, job, caller):
        status, _ = self.measured(caller, "done", job, "POST", f"/v1/jobs/{job.name}/done",
                                  {"step": job.step, "phase": job.active})
        if status == 200:
            job.active, job.sure = None, [] if job.mode == "rewrite" else None
        else:
            job.unsure, job.sure = True, None

    def act(self):
        if not self.jobs or (len(self.jobs) < 2 and self.random.random() < 0.1):
            return self.place()
        job = self.random.choice(self.jobs)
        caller = Caller(self.site, job.uid, self.remote and self.random.random() < 0.5)
        if job.unsure:
            return self.learn(job, caller)
        if self.random.random() < 0.06:
            return self.release(job)
        if self.random.random() < 0.08 and len(job.steps) < 6:
            return self.lay_out(job, caller)
        if job.active is not None and self.random.random() < 0.3:
            return self.random.choice((self.done, self.learn))(job, caller)
        return self.request(job, caller)

    def wait(self, seconds):
        """Waits, and as long as all clients are to pause."""
        time.sleep(seconds)
        if self.site["pause"].is_set():
            self.note(paused=time.time_ns(), jobs={job.name: job.belief() for job in self.jobs})
            with self.site["paused"].get_lock():
                self.site["paused"].value += 1
            while self.site["pause"].is_set() and not self.site["end"].is_set():
                time.sleep(PAUSE)
            with self.site["paused"].get_lock():
                self.site["paused"].value -= 1

    def run(self):
        while not self.site["end"].is_set():
            self.act()
            self.wait(self.random.choice((0, 0.01, 0.05, 0.3)))


class Hostile:
    """A user who is no scheduler and has no job."""

    def __init__(self, site, number):
        self.site = site
        self.random = random.Random(f"{site['seed']} hostile {number}")
        self.uid = HOSTILE[number % len(HOSTILE)]
        self.file = open(site["folder"] / f"hostile-{number}.jsonl", "a", buffering=1, encoding="ascii")

    def opened(self, data=b"", tcp=False):
        become(self.uid)
        try:
            if tcp:
                stream = socket.create_connection(("127.0.0.1", self.site["tcp"]), 5)
            else:
                stream = socket.socket(socket.AF_UNIX)
                stream.settimeout(5)
                stream.connect(str(self.site["socket"]))
        finally:
            become(0)
        stream.sendall(data)
        return stream

    def many(self, data, count, tcp=False):
        """Many connections with the same bytes, whose answers nobody reads."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                for _ in range(count):
                    stack.enter_context(self.opened(data, tcp))
            time.sleep(self.random.uniform(0, 1))

    def links(self):
        self.many(b"GET /v1/links?all=1 HTTP/1.1\r\nHost: x\r\n\r\n" * self.random.randint(1, 20), 60)

    def half_open(self):
        self.many(b"POST /v1/jobs/c0-1/request HTTP/1.1\r\nContent-Le", 400, self.random.random() < 0.3)

    def bad_credentials(self):
        self.many(b"PUT /v1/jobs/1 HTTP/1.1\r\nAuthorization: MUNGE MUNGE:AAAA:\r\nContent-Length: 2\r\n\r\n{}", 60,
                  True)

    def garbage(self):
        self.many(self.random.randbytes(self.random.randint(1, 30000)), 20, self.random.random() < 0.5)

    def large(self):
        body = b"[" * self.random.choice((1000, 1000000))
        self.many(b"PUT /v1/jobs/big HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body, 20)

    def foreign(self):
        """Calls for jobs of others. One that is carried out is a fault."""
        caller = Caller(self.site, self.uid)
        for _ in range(100):
            job = f"c{self.random.randrange(self.site['honest'])}-{self.random.randint(1, 200)}"
            method, path, body = self.random.choice((
                ("POST", f"/v1/jobs/{job}/request", {"phase": 0}), ("POST", f"/v1/jobs/{job}/done", {"phase": 0}),
                ("POST", f"/v1/jobs/{job}/join", {}), ("POST", f"/v1/jobs/{job}/token", {}),
                ("DELETE", f"/v1/jobs/{job}", None), ("PUT", "/v1/jobs/h", {"hosts": self.site["hosts"][:4]}),
                ("PUT", f"/v1/jobs/{job}/steps/h/layout", {"ranks": self.site["hosts"][:4]})))
            status, _ = caller.call(method, path, body)
            if status == 200:
                self.file.write(json.dumps({"fault": f"user {self.uid} may {method} {path}"}) + "\n")

    def views(self):
        caller = Caller(self.site, self.uid)
        for _ in range(200):
            caller.call("GET", self.random.choice(("/v1/jobs", "/v1/links", "/metrics", "/v1/fabric", "/healthz")))

    def run(self):
        kinds = (self.links, self.half_open, self.bad_credentials, self.garbage, self.large, self.foreign, self.views)
        while not self.site["end"].is_set():
            kind = self.random.choice(kinds)
            self.file.write(json.dumps({"kind": kind.__name__}) + "\n")
            with contextlib.suppress(OSError):
                kind()
            time.sleep(0.05)


class Spender(Honest):
    """The owner of a job who takes as much memory as he may: many steps of many flows."""

    def run(self):
        caller, number = Caller(self.site, USERS[0]), 0
        job = Job("spender", self.site["hosts"], [[[0, 1]]], "rewrite", USERS[0])
        body = {"hosts": job.hosts, "pattern": "alltoall", "uid": USERS[0]}
        while not self.site["end"].is_set():
            number += 1
            ranks = self.random.sample(job.hosts, len(job.hosts))
            with contextlib.suppress(OSError):
                status, _ = caller.call("PUT", f"/v1/jobs/spender/steps/{number}/layout", {"ranks": ranks})
                if status == 404:
                    self.root.call("PUT", "/v1/jobs/spender", body)
            time.sleep(0.2)


def start(kind, site, number):
    """What a process of a client does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kind(site, number).run()
