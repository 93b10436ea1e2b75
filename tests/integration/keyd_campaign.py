# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The campaign tests/flaps/keyd: a site with OpenSM, heddle-keyd and Slurm, what happens to it, and the
checks.
The tables of the switches at each moment are those that ibsim has taken."""

import bisect
import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

import fabric_sim
import keyd_campaign_clients as clients
import keyd_campaign_slurm
import slurm_sim
from fabric_sim import Simulation, Topology, sbin_path, stop, tables, wait_until
from keyd_process import KEYD, Keyd, settings, socket_of
from repair_record import read_sets

FABRIC = ("xgft", "--children", "4,4,4", "--parents", "1,4,4")
LMC = 3
MOST_DOWN = 3  # cables; a switch has four of each kind
BUDGETS = {"user_memory_mb": 16, "idle_keys_mb": 4, "max_user_connections": 32, "max_address_connections": 32,
           "max_large_answers": 4, "max_connections": 512, "max_jobs": 200, "answer_ms": 5000}
BODY_MB = 1.1  # of a request, at most, with its head
SLACK_MB = 16  # for the allocator
SWEEPS_TO_REST = 12
REST = 240  # seconds until the switches have what heddle-keyd says; only what hangs takes so long
AWAY = "no connection to a subnet manager"  # in a reason
PLACE_MOST = 10.0  # seconds; only what hangs takes so long
STALE_MOST = 10.0  # seconds after OpenSM has taken a key back within which heddle-keyd may not know it
MB = 1 << 20


def missing():
    """What the campaign needs besides a simulation, and this machine lacks."""
    tools = [] if shutil.which("munge", path=sbin_path()) else ["munge"]
    return tools + slurm_sim.missing_tools() + [str(path) for path in (KEYD, fabric_sim.CLOCK) if not path.exists()]


def named(folder, seed, nodes):
    """The fabric, with names of Slurm's nodes for some hosts."""
    path = fabric_sim.generate(folder, *FABRIC)
    text = path.read_text()
    hosts = sorted(set(re.findall(r'^Ca\s.*# "(\S+?)[ "]', text, re.MULTILINE)))
    for number, host in enumerate(random.Random(f"{seed} nodes").sample(hosts, nodes), 1):
        text = text.replace(f'"{host}"', f'"node{number}"').replace(f'"{host} ', f'"node{number} ')
    path.write_text(text)
    return path


def slurm_phases(simulation, folder):
    """Flows of the phases of jobs that Slurm starts, by pattern and ranks."""
    topology, found = simulation.discover(), {}
    for pattern in keyd_campaign_slurm.PATTERNS:
        for ranks in keyd_campaign_slurm.SIZES:
            (folder / "hosts").write_text("".join(f"node{i + 1}\n" for i in range(ranks)))
            report = json.loads(fabric_sim.heddle("key", "make", topology, "--hosts", folder / "hosts", "-p", pattern,
                                                  "--best-effort", "--json").stdout)
            found[pattern, ranks] = [[[flow["source_rank"], flow["destination_rank"]] for flow in phase["flows"]]
                                     for phase in report["phases"]]
    return found


class Record:
    """The tables of the switches at each moment since they were read last. Times are in nanoseconds."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.topology = Topology(simulation.discover())
        self.home = int(simulation.host.split("-")[1], 16)
        self.leaf = {host: self.topology.leaf(host) for host in self.topology.hosts}
        self.node = dict(self.topology.names)
        self.offset = 0
        self.dead = set()  # ends of cables
        self.restart()

    def restart(self):
        """Begins anew with the tables that the switches have. Nothing may change them meanwhile."""
        self.tables = tables(self.simulation.read_tables())
        _, self.offset = read_sets(self.simulation.folder / "clock", self.offset)
        self.before, self.cuts = set(self.dead), []  # dead ends; (begin, end, dead ends from then on)
        self.times, self.ports = collections.defaultdict(list), collections.defaultdict(list)  # by switch and LID
        self.changes = collections.defaultdict(list)  # LID -> moments
        self.unclear = False  # whether a block came over a cable at the moment of its loss

    def cut(self, end, dead):
        """A cable is lost or comes back."""
        begin = time.time_ns()
        switch, port = end
        self.simulation.command(f'{"Unlink" if dead else "ReLink"} "S-{switch:016x}"[{port}]')
        ends = {end, self.topology.peer[end]}
        self.dead = self.dead | ends if dead else self.dead - ends
        self.cuts.append((begin, time.time_ns(), self.dead))

    def follow(self):
        """Takes what ibsim has noted since."""
        sets, self.offset = read_sets(self.simulation.folder / "clock", self.offset)
        for one in sets:
            switch = self.target(one)
            for i, port in enumerate(one.ports if switch else ()):
                lid = one.block * 64 + i
                if lid < fabric_sim.LIDS and self.at(switch, lid, one.when) != port:
                    self.times[switch, lid].append(one.when)
                    self.ports[switch, lid].append(port)
                    self.changes[lid].append(one.when)

    def target(self, one):
        """The switch to which a block came; None: it did not arrive."""
        node, dead, now = self.home, self.before, set()
        for begin, end, ends in self.cuts:
            if one.when >= begin:
                now = now | (dead ^ ends) if one.when <= end else now
                dead = ends
        for port in one.path:
            self.unclear |= (node, port) in now
            if (node, port) in dead or (node, port) not in self.topology.peer:
                return None
            node = self.topology.peer[node, port][0]
        return node if node in self.topology.switches else None

    def at(self, switch, lid, when):
        """The port of an entry at a moment."""
        number = bisect.bisect_right(self.times[switch, lid], when) if (switch, lid) in self.times else 0
        return self.ports[switch, lid][number - 1] if number else self.tables[switch][lid]

    def contention(self, flows, offset, when):
        """The most flows between names on a directed link between switches, by walks; None: one does not arrive."""
        load, peer = collections.Counter(), self.topology.peer
        for source, destination, more in flows:
            target = self.node[destination]
            lid, switch = self.topology.lids[target][0] + offset + more, self.leaf[self.node[source]]
            for _ in range(16):
                port = self.at(switch, lid, when)
                node = peer.get((switch, port), (None,))[0]
                if node not in self.topology.switches:
                    break
                load[switch, port] += 1
                switch = node
            if node != target:
                return None
        return max(load.values(), default=0)

    def moments(self, flows, offset, begin, end):
        """When entries for the flows have changed, from begin on and before end."""
        lids = {self.topology.lids[self.node[destination]][0] + offset + more for _, destination, more in flows}
        return sorted({when for lid in lids for when in self.changes.get(lid, ()) if begin < when < end})


class Site:
    """Programs on a simulated fabric, and clients."""

    def __init__(self, stack, seed, honest, hostile, runners, plain=False):
        self.random, self.seed = random.Random(f"{seed} events"), seed
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heddle-keyd-")))
        self.folder.chmod(0o755)
        nodes = max(runners, 1) * keyd_campaign_slurm.NODES
        self.simulation = stack.enter_context(Simulation(named(self.folder, seed, nodes), clock=True))
        ports = slurm_sim.free_ports(nodes + 2)
        with_keys = slurm_sim.with_keys(str(self.folder / "keyd.sock"))
        if plain:
            with_keys = {"more": ""}
        with_keys["more"] += "MessageTimeout=20\n"
        self.slurm = stack.enter_context(slurm_sim.Slurm(nodes, port=ports + 1, **with_keys))
        self.opensm = self.make_opensm()
        self.opensm.__enter__()
        stack.callback(lambda: self.opensm.__exit__())
        self.record = Record(self.simulation)
        self.port = ports
        self.keyd = Keyd(self.folder, managers=socket_of(self.simulation.folder), tcp=f"127.0.0.1:{self.port}",
                         munge_socket=self.slurm.munge_socket, scheduler_uids=0, **BUDGETS)
        self.number = multiprocessing.Value("i", 0)
        self.rss_base = self.rss_most = 0
        stack.callback(self.keyd.stop)
        self.start_keyd()
        self.rss_base = self.rss()
        self.ends = sorted(end for end, far in self.record.topology.peer.items()
                           if {end[0], far[0]} <= self.record.topology.switches and end < far)
        self.start_clients(stack, honest, hostile, runners, plain)

    def make_opensm(self):
        return self.simulation.opensm("nrk", options={"lmc": LMC}, heddle_conf=settings(self.simulation.folder))

    def start_keyd(self):
        self.keyd.spawn()
        self.number.value = self.keyd.process.pid
        wait_until(self.keyd.answers, lambda: f"heddle-keyd\n{self.keyd.log()}")
        self.keyd.wait_ready()

    def start_clients(self, stack, honest, hostile, runners, plain):
        topology = self.record.topology
        hosts = sorted(name for name, node in topology.names.items()
                       if node in self.record.leaf and not name.startswith("node"))
        self.pause, self.end = multiprocessing.Event(), multiprocessing.Event()
        self.paused, self.pausing = multiprocessing.Value("i", 0), honest + runners
        self.shared = {"socket": self.keyd.socket, "tcp": self.port, "munge": self.slurm.munge_socket, "hosts": hosts,
                       "folder": self.folder, "seed": self.seed, "pause": self.pause, "paused": self.paused,
                       "end": self.end, "keyd": self.number, "honest": honest, "plain": plain}
        kinds = ([clients.Honest] * honest + [keyd_campaign_slurm.Runner] * runners + [clients.Hostile] * hostile
                 + [clients.Spender] * bool(hostile))
        self.share_slurm([number for number, kind in enumerate(kinds) if kind is keyd_campaign_slurm.Runner])
        self.processes = [multiprocessing.Process(target=clients.start, args=(kind, self.shared, number), daemon=True)
                          for number, kind in enumerate(kinds)]
        stack.callback(self.stop_clients)
        for process in self.processes:
            process.start()

    def share_slurm(self, numbers):
        """What runners of Slurm's jobs with these numbers need."""
        size = keyd_campaign_slurm.NODES
        self.shared |= {"slurm": self.slurm.environment, "slurm_folder": self.slurm.folder,
                        "phases": slurm_phases(self.simulation, self.folder),
                        "nodes": {number: [f"node{i}" for i in range(part * size + 1, (part + 1) * size + 1)]
                                  for part, number in enumerate(numbers)}}
        for number in numbers:
            (self.folder / f"runner-{number}").mkdir()

    def stop_clients(self):
        self.end.set()
        self.slurm.munged.send_signal(signal.SIGCONT)
        for process in self.processes:
            process.join(clients.CALL_MOST + 60)
            if process.is_alive():
                process.kill()

    def check_clients(self):
        ended = [process.name for process in self.processes if not process.is_alive()]
        assert not ended, f"clients have ended: {ended}"

    def rss(self):
        try:
            text = pathlib.Path(f"/proc/{self.number.value}/status").read_text()
            return max(int(found) << 10 for found in re.findall(r"Vm(?:HWM):\s+(\d+)", text))
        except (OSError, ValueError):  # it has ended
            return 0

    def note_rss(self):
        self.rss_most = max(self.rss_most, self.rss())

    # ---- what happens ----

    def flap(self):
        down = [end for end in self.ends if end in self.record.dead]
        if len(down) >= MOST_DOWN or (down and self.random.random() < 0.4):
            self.record.cut(self.random.choice(down), False)
        else:
            self.record.cut(self.random.choice([end for end in self.ends if end not in down]), True)
        if self.random.random() < 0.7:
            self.opensm.process.send_signal(signal.SIGHUP)

    def kill_keyd(self):
        self.note_rss()
        self.keyd.kill()
        self.start_keyd()

    def end_opensm(self):
        """Kills it. ibsim has few places for programs, and misses one that has gone when it sends it a trap."""
        self.opensm.process.kill()
        self.opensm.process.wait()
        end = self.random.choice([end for end in self.ends if end not in self.record.dead])
        self.record.cut(end, True)
        self.record.cut(end, False)

    def kill_opensm(self):
        self.end_opensm()
        time.sleep(self.random.choice((0, 0.5, 2, 8)))
        self.opensm.__exit__()
        self.opensm.__enter__()

    def kill_both(self):
        self.note_rss()
        self.end_opensm()
        self.keyd.kill()
        self.opensm.__exit__()
        self.opensm.__enter__()
        self.start_keyd()

    def stop_for_a_while(self, *numbers):
        """Processes; some may have ended."""
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGSTOP)
        time.sleep(self.random.uniform(0.2, 4))
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)

    def stop_munged(self):
        self.stop_for_a_while(self.slurm.munged.pid)

    def kill_munged(self):
        self.slurm.munged.kill()
        self.slurm.munged.wait()
        time.sleep(self.random.choice((0, 0.5, 2)))
        self.slurm.start_munged()

    def stop_opensm(self):
        self.stop_for_a_while(self.opensm.process.pid)

    def some_nodes(self):
        return self.random.sample(sorted(self.slurm.daemons), self.random.randint(1, len(self.slurm.daemons) // 2))

    def note_nodes(self, nodes, event):
        """Something happens to slurmd of these nodes."""
        runners = {number for number, own in self.shared["nodes"].items() if set(own) & set(nodes)}
        keyd_campaign_slurm.note_met([self.folder / f"runner-{number}" for number in runners], event)

    def stop_slurmd(self):
        nodes = self.some_nodes()
        self.note_nodes(nodes, "slurmd stopped")
        self.stop_for_a_while(*(self.slurm.daemons[node].pid for node in nodes))

    def kill_slurmd(self):
        """Tasks and their slurmstepd go on."""
        nodes = self.some_nodes()
        self.note_nodes(nodes, "slurmd killed")
        for node in nodes:
            self.slurm.daemons[node].kill()
            self.slurm.daemons[node].wait()
        time.sleep(self.random.choice((0, 0.5, 2)))
        for node in nodes:
            self.slurm.start_node(node)

    def stop_slurmstepd(self):
        found = keyd_campaign_slurm.step_daemons(self.folder)
        keyd_campaign_slurm.note_met({folder for folder, _ in found}, "slurmstepd stopped")
        self.stop_for_a_while(*(number for _, number in found))

    def kill_slurmstepd(self):
        """One of a job, which ends with that, the sooner the better."""
        for folder, number in keyd_campaign_slurm.step_daemons(self.folder)[:1]:
            keyd_campaign_slurm.note_met([folder], "slurmstepd killed")
            (folder / "over").touch()
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    EVENTS = {"flap": 8, "kill_keyd": 3, "kill_opensm": 2, "kill_both": 1, "stop_munged": 3, "stop_opensm": 2,
              "kill_munged": 1, "stop_slurmd": 5, "kill_slurmd": 2, "stop_slurmstepd": 2, "kill_slurmstepd": 1}

    def events(self):
        """Some random events in a row; their names."""
        names = self.random.choices(list(self.EVENTS), list(self.EVENTS.values()), k=self.random.choice((1, 1, 2, 4)))
        for name in names:
            getattr(self, name)()
            time.sleep(self.random.choice((0, 0.1, 1)))
        return names

    # ---- rest ----

    def rest(self):
        """Clients pause, and OpenSM sweeps until a sweep changes nothing."""
        self.pause.set()
        wait_until(lambda: self.paused.value == self.pausing or self.check_clients(), "a pause of the clients", 600)
        self.rest_alone()

    def rest_alone(self):
        """The same without clients."""
        for _ in range(SWEEPS_TO_REST):
            counts = re.findall(r"heddle: \w+.*; (\d+) entries changed", self.opensm.sweep())
            if counts and counts[-1] == "0":
                return
        raise AssertionError("tables do not come to rest")

    def resume(self):
        self.record.restart()
        self.pause.clear()
        wait_until(lambda: self.paused.value == 0 or self.check_clients(), "the end of a pause", 600)


class Campaign:
    """Rounds of events, and what is wrong after each."""

    def __init__(self, site):
        self.site, self.faults, self.tally = site, [], collections.Counter()
        self.read = collections.Counter()  # bytes of clients' notes
        self.turns = {}  # (job, step) -> its turn as its client heard it last
        self.longest = 0  # seconds until all was well, once OpenSM had come to rest
        self.stalest = 0  # seconds between the loss of a key in the switches and a grant that did not know of it
        self.places = []  # (seconds, seconds of it without a processor)
        self.beliefs = {}  # of clients in the pause: {job: what its client knows}
        self.canceled = set()  # jobs of Slurm that hung
        self.released = set()  # jobs with a release that had no answer

    def fault(self, text):
        self.faults.append(f"round {self.tally['rounds']}: {text}")

    def round(self):
        site = self.site
        self.tally["rounds"] += 1
        time.sleep(site.random.uniform(1, 5))
        first = time.time_ns()
        names = site.events()
        self.tally.update(names)
        time.sleep(site.random.uniform(0.2, 3))
        site.note_rss()
        site.rest()
        site.record.follow()
        self.read_notes(first)
        self.check_rest()
        site.check_clients()
        site.resume()
        return names

    # ---- calls ----

    def read_notes(self, first):
        """What the clients have noted in this round. first: the first event; no tables change before but for keys."""
        for path in sorted(self.site.folder.glob("*.jsonl")):
            with open(path, encoding="ascii") as file:
                file.seek(self.read[path])
                notes = [json.loads(line) for line in iter(file.readline, "") if line.endswith("\n")]
                self.read[path] = file.tell()
            if path.name.startswith("hostile"):
                for note in notes:
                    self.tally["hostile"] += "kind" in note
                    if "fault" in note:
                        self.fault(note["fault"])
            elif path.name.startswith("client"):
                self.check_notes(path.name, notes, first)

    def check_notes(self, client, notes, first):
        for i, note in enumerate(notes):
            if "paused" in note:
                self.beliefs[client] = note["jobs"]
                continue
            self.count_slurm(note)
            if "sent" not in note:
                continue
            self.tally["calls"] += 1
            self.tally[f"{note['kind']} {note['status']}"] += 1
            if note["kind"] == "release" and not note["status"]:
                self.released.add(note["job"])
            if note["kind"] == "place" and note["status"] == 200:
                self.check_place(note)
            elif note["status"] == 404 and note["kind"] == "release" and note["job"] in self.released:
                self.tally["releases without an answer"] += 1  # the one before was carried out
            elif note["status"] == 404 and note["job"].isdigit():
                self.tally["slurm without a place"] += 1  # its prolog found no heddle-keyd, or it has ended
            elif note["status"] == 404 or note["status"] >= 500 and note["status"] != 503:
                self.fault(f"{note['kind']} of {note['job']}: {note['status']} {note['content']}")
            elif note["kind"] in ("request", "join") and note["status"] == 200:
                later = next((other["begins"] for other in notes[i + 1:]
                              if "begins" in other and other["job"] == note["job"]), first)
                self.check_grant(note, min(later, first))
                self.turns[note["job"], note["step"]] = note["content"]["turn"]

    def count_slurm(self, note):
        if "ranks" in note:
            self.tally["slurm jobs"] += 1
            self.tally["slurm ranks"] += len(note["ranks"])
            self.tally["slurm ranks with an offset"] += sum(map(bool, note["ranks"]))
            self.tally["slurm ranks after a later phase"] += note["late"]
            if len(set(note["ranks"]) - {0}) > 1:
                self.fault(f"ranks of a job have the offsets {note['ranks']}")
        self.tally["slurm jobs without an epilog"] += "left" in note
        if "canceled" in note and note["canceled"] not in self.canceled:
            self.canceled.add(note["canceled"])
            self.tally["slurm jobs canceled"] += 1
            self.tally[f"slurm jobs canceled: {note['why']}"] += 1

    def check_place(self, note):
        seconds, waited = (note["answered"] - note["sent"]) / 1e9, note["waited"] / 1e9
        self.places.append((seconds, waited))
        if seconds > PLACE_MOST:
            self.tally["slow places"] += 1
            if seconds - waited > PLACE_MOST:
                self.fault(f"place of {note['job']} took {seconds:.2f} s, {waited:.2f} s of it without a processor")

    def check_grant(self, note, until):
        grant, record = note["content"], self.site.record
        if not grant["ready"]:
            self.tally["not ready"] += 1
            return
        flows = note["flows"] if note["kind"] == "request" else note["flows"][grant["phase"]]
        said, offset, sent, answered = grant["contention"], grant["offset"], note["sent"], note["answered"]
        found = [record.contention(flows, offset, when)
                 for when in (sent, *record.moments(flows, offset, sent, answered), answered)]
        self.tally["ready"] += 1
        what = (f"{note['kind']} of {note['job']} step {note['step']} phase {grant['phase']}, sent {sent}, answered "
                f"{answered}, said {said} with offset {offset} and {grant['blocks']} blocks")
        if said not in found:
            self.check_stale(what, found, flows, note, until)
        elif answered < until:
            self.tally["held"] += 1
            later = [(when, record.contention(flows, offset, when))
                     for when in (answered, *record.moments(flows, offset, answered, until), until)]
            wrong = [entry for entry in later if entry[1] != said]
            if wrong:
                self.fault(f"{what}; switches had {wrong[:3]} before the next call or event at {until}")

    def begins(self, note):
        """Whether a phase began with this grant, whose key was sent then."""
        return note["kind"] == "request" and self.turns.get((note["job"], note["step"])) != note["content"]["turn"]

    def check_stale(self, what, found, flows, note, until):
        """A grant that is not in the switches. heddle-keyd may not have heard yet that OpenSM took the key back."""
        grant, record = note["content"], self.site.record
        before = record.moments(flows, grant["offset"], until, note["answered"] + 1)
        agreed = [until] + [later for when, later in zip([until, *before], before)
                            if record.contention(flows, grant["offset"], when) == grant["contention"]]
        if note["answered"] > until and before and not self.begins(note):
            self.tally["stale grants"] += 1
            seconds = (note["answered"] - agreed[-1]) / 1e9
            self.stalest = max(self.stalest, seconds)
            if seconds <= STALE_MOST:
                return
        if record.unclear:
            self.tally["unclear"] += 1
        else:
            self.fault(f"{what}; switches had {found}, and changed at {before[-3:]}")

    # ---- at rest ----

    def check_rest(self):
        """All phases that are active are in the switches, and the active ones are those that clients know."""
        beliefs = {job: belief for jobs in self.beliefs.values() for job, belief in jobs.items()}
        self.beliefs = {}
        begin = time.monotonic()
        while True:
            problems, reasons, checked = self.look(beliefs, tables(self.site.simulation.read_tables()))
            away = any(AWAY in reason for reason in reasons)
            if not (problems or away) or time.monotonic() > begin + REST:
                break
        self.longest = max(self.longest, time.monotonic() - begin)
        for problem in problems:
            self.fault(f"at rest: {problem}")
        self.tally["active at rest"] += checked
        for reason in reasons:
            self.tally[f"not ready at rest: {reason[:90]}"] += 1
        budget = BUDGETS["user_memory_mb"] * MB
        for name, value in self.site.keyd.metrics().items():
            if name.startswith("user_bytes") and value > 1.1 * budget:
                self.fault(f"{name} is {value:.0f}, above the budget of {budget}")

    def look(self, beliefs, now):
        """([problem], [reason why a phase is not ready], phases that were checked)."""
        keyd, problems, reasons, checked = self.site.keyd, [], [], 0
        record = self.site.record
        record.tables, record.times = now, collections.defaultdict(list)
        names = {job["job"] for job in keyd.get("/v1/jobs").json["jobs"]}
        problems += [f"job {job} is lost" for job in beliefs.keys() - names]
        for job in sorted(beliefs.keys() & names):
            belief = beliefs[job]
            for step in keyd.get(f"/v1/jobs/{job}").json["steps"]:
                if step["step"] == belief["step"] and belief["sure"] is not None and (
                        step["active"] != belief["sure"] if belief["mode"] == "rewrite"
                        else not set(belief["sure"]) <= set(step["active"])):
                    problems.append(f"job {job} step {step['step']} has {step['active']}, its client {belief['sure']}")
                if not step["active"]:
                    continue
                grant = keyd.call("POST", f"/v1/jobs/{job}/join", {"step": step["step"]}).json
                if not grant["ready"]:
                    reasons.append(grant["reason"])
                    continue
                checked += 1
                ranks = belief["steps"].get(step["step"], belief["steps"]["0"])
                more = belief["more"].get(step["step"], belief["more"].get("0"))
                flows = clients.named_flows(ranks, belief["phases"][grant["phase"]], more and more[grant["phase"]])
                self.tally["with several offsets"] += any(above for _, _, above in flows)
                found = record.contention(flows, grant["offset"], 0)
                if found != grant["contention"]:
                    problems.append(f"job {job} step {step['step']} phase {grant['phase']}: said "
                                    f"{grant['contention']} with offset {grant['offset']}, switches have {found}")
        return problems, reasons, checked

    # ---- the end ----

    def finish(self):
        """All jobs are released: the switches have what an OpenSM that knows no keys makes."""
        site = self.site
        site.rest()
        site.stop_clients()
        for end in [end for end in site.ends if end in site.record.dead]:
            site.record.cut(end, False)
        for job in site.keyd.get("/v1/jobs").json["jobs"]:
            site.keyd.release(job["job"])
        site.rest_alone()
        with_keys = tables(site.simulation.read_tables())
        site.kill_opensm()
        site.rest_alone()
        left = fabric_sim.changed(with_keys, tables(site.simulation.read_tables()))
        if left:
            self.fault(f"{len(left)} entries of keys are left after the release of all jobs: {sorted(left)[:5]}")
        self.check_rss()

    def check_rss(self):
        site = self.site
        site.note_rss()
        others = len(clients.HOSTILE) + 1  # and one address
        bound = site.rss_base + MB * ((len(clients.USERS) + 1) * BUDGETS["user_memory_mb"] + SLACK_MB
                                      + others * BUDGETS["max_user_connections"] * BODY_MB)
        self.rss_line = (f"RSS at most {site.rss_most / MB:.0f} MB, {site.rss_base / MB:.0f} MB in the beginning, "
                         f"budgets allow {bound / MB:.0f} MB")
        if b"__asan_init" not in KEYD.read_bytes() and site.rss_most > bound:
            self.fault(self.rss_line)

    def place_line(self):
        times = sorted(seconds for seconds, _ in self.places) or [0]
        alone = sorted(max(seconds - waited, 0) for seconds, waited in self.places) or [0]
        parts = [f"{name} {times[int(part * (len(times) - 1))]:.3f} s ({alone[int(part * (len(alone) - 1))]:.3f} s)"
                 for name, part in (("median", 0.5), ("90%", 0.9), ("99%", 0.99), ("longest", 1))]
        return f"{len(self.places)} places: {', '.join(parts)}; in brackets without the wait for a processor"

    def summary(self):
        return (f"{len(self.faults)} faults; {self.place_line()}; {self.rss_line}; stale grants up to "
                f"{self.stalest:.3f} s after a loss; all was well up to {self.longest:.1f} s after a rest; "
                f"{dict(sorted(self.tally.items()))}")


def run(seed, minutes, honest, hostile, runners=2, keep=None, report=None, plain=False):
    """A campaign. plain: Slurm has no plugin of ours, and no prolog. report(round names, new faults) is called after each
    round. Returns the Campaign."""
    with contextlib.ExitStack() as stack:
        site = Site(stack, seed, honest, hostile, runners, plain)
        if keep:
            stack.callback(keep_logs, site, keep)  # before the folder goes, and while the programs run
        campaign = Campaign(site)
        campaign.rss_line = "RSS unknown"
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            before = len(campaign.faults)
            names = campaign.round()
            if report:
                report(names, campaign.faults[before:])
        campaign.finish()
        return campaign


def keep_logs(site, keep):
    keep.mkdir(parents=True, exist_ok=True)
    for path in (site.keyd.log_path, site.opensm.log_file, *site.folder.glob("*.jsonl"),
                 *site.folder.glob("slurm-*.out"), *site.slurm.folder.glob("*.log")):
        if path.exists():
            shutil.copy(path, keep / path.name)
