# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Rounds in the life of a fabric with adaptive routing: parts are lost and come back, OpenSM ends, is killed, gets
another engine or another heddle.conf, or another OpenSM takes over; switches are silent or refuse; cables and switches
are drained, and pulled as soon as `heddle drain` says so; routing keys come and go. heddle-replay looks at each Set, and
after each round what status, log, certificate and drain say is compared with what the switches hold."""

import contextlib
import json
import re
import signal
import subprocess
import time
from collections import Counter

import fabric_sim
import flaps
import replay_campaign
from emulator import LFT, Emulator
from fabric_sim import OpenSM, Simulation, heddle
from keys_sim import DONE, Client, Tree, key_of, random_flows, settings, socket_of
from replay_campaign import Campaign

CONFS = {"on": "[ar]\nenable = yes\n", "off": "[ar]\nenable = no\n", "broken": "[ar\nenable: yes\n"}
ENGINES = ("dmodk,updown", "dmodk,updown", "ar_dmodk,ar_updown", "updown", "minhop")
KEYED = ("nrk,updown", "ar_nrk,ar_updown")  # with routing keys, which have the second LID of a host
KEYS_LMC, KEYS, KEY_FLOWS, KEY_S = 1, range(1, 4), 64, 15
BRISK = {"transaction_timeout": 300, "sminfo_polling_timeout": 300, "polling_retry_number": 2}
MOST_DOWN = 4  # parts that are down at the same time
WEIGHTS = {"loss": 8, "return": 6, "end": 2, "kill": 2, "settings": 3, "takeover": 2, "silent": 2, "heal": 2, "pull": 3}
BEFORE_PULLS = ("nothing", "settings", "at once", "end", "kill", "takeover")  # "at once": settings a moment ago
SAID_S = 120  # how long an answer of drain is waited for: a silent switch is never safe

# What the log names before it happens. Packets that go round, and credit loops, which more lines name.
NAMED = {"loops": r"in an order of its own|OpenSM writes their tables|could not be changed or switched off within|"
                  r"can close a credit loop|does not hold for packets that such a switch sends",
         "credit": r"not proved free of credit loops"}
PACKETS = {"loops": "loop", "still": "still"}  # counts of packets that go round, and their findings
# What status or, where nobody answers, the log says while entries are missing or a credit loop stays.
STAYS = re.compile(r"missing in the switches|forwarding table|may have adaptive routing on|"
                   r"not have the adaptive routing|not known what the switches? |credit loop|"
                   r"has not confirmed|have not confirmed|ERR 3111")
STAMP = re.compile(r"^(\w{3} \d{2} \d\d:\d\d:\d\d) (\d{6}) ", re.M)


def lines_of(log):
    """[(ns, line)] of a log of OpenSM."""
    year = time.localtime().tm_year
    found = []
    for line in log.splitlines():
        stamp = STAMP.match(line)
        if stamp:
            second = time.mktime(time.strptime(f"{year} {stamp[1]}", "%Y %b %d %H:%M:%S"))
            found.append((int(second) * 10**9 + int(stamp[2]) * 1000, line))
    return found


class Other(OpenSM):
    """An OpenSM of its own at another host of the same leaf switch: from there directed routes are the same."""

    def __init__(self, simulation, host, number, engines, priority, conf, lmc=0):
        self.host = host
        self.place = simulation.folder / f"opensm-{number}"
        self.place.mkdir()
        super().__init__(simulation, engines, options={**BRISK, "sm_priority": priority, "lmc": lmc}, heddle_conf=None)
        self.folder = self.place
        self.log_file, self.conf = self.place / "osm.log", self.place / "heddle.conf"
        self.write_heddle_conf(conf)

    def write_heddle_conf(self, text):
        super().write_heddle_conf(settings(self.place) * (self.options["lmc"] > 0) + text)

    def _environment(self):
        return dict(super()._environment(), SIM_HOST=self.host, OSM_CACHE_DIR=str(self.place))

    def start(self, text):
        """Like __enter__, for one that waits for the line."""
        self.output = open(self.folder / "opensm.out", "ab")
        self.started = since = len(self.log())
        self.process = subprocess.Popen(self._command(), env=self._environment(), cwd=self.folder,
                                        stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT)
        self.wait_for_match(text, since)

    def end(self, number=signal.SIGTERM):
        if number == signal.SIGKILL:
            self.process.kill()
            self.process.wait()
        fabric_sim.stop(self.process)
        self.output.close()


class Life(Campaign):
    def __init__(self, simulation, emulated, seed, own, report, engines=ENGINES, confs=tuple(CONFS), keys=False):
        self.confs, self.lmc = confs, KEYS_LMC * keys
        self.number, self.conf, self.state = 1, "on", "on"
        self.engines_of, self.report = engines, report
        self.weights = {**WEIGHTS, "key": 6} if keys else WEIGHTS
        self.hosts = self.hosts_of_leaf(simulation)
        self.simulation, self.folder = simulation, simulation.folder
        opensm = Other(simulation, self.hosts[0], 0, self.engines_of[0], 8, self.text("on"), self.lmc)
        opensm.start("SUBNET UP")
        self.down, self.faulty, self.tally = [], set(), Counter()
        self.standing = False  # a credit loop was there after the last round, whose status had to name it
        super().__init__(simulation, opensm, emulated, seed, own)

    @staticmethod
    def hosts_of_leaf(simulation):
        """Two hosts of the leaf switch of the first one."""
        topology = fabric_sim.Topology(simulation.discover("first.topo"))
        named = simulation.host in topology.names  # else by GUID: names are shared
        first = topology.names[simulation.host] if named else int(simulation.host[2:], 16)
        leaf = topology.peer[first, 1][0]
        near = {far[0] for near, far in topology.peer.items() if near[0] == leaf} - topology.switches
        near -= {node for name, node in topology.names.items() if "ggregation" in name}
        names = {node: name for name, node in topology.names.items()} if named else \
            {node: f"H-{node:016x}" for node in near}
        return [names[first], next(names[node] for node in sorted(near) if node != first)]

    def text(self, conf):
        return f"{CONFS[conf]}[repair]\nenable = yes\n[sweep]\nordered = yes\n[certificate]\nfile = {self.folder}/fabric.cert\n"

    # ---- what is said ----

    def status(self):
        """None: nobody answers."""
        done = heddle("status", "-s", self.opensm.status_socket(), "--json", check=False)
        return json.loads(done.stdout)["parts"] if done.stdout.startswith("{") else None

    def promises(self):
        """Whether an engine of Heddle routed last, and sweeps are in order. With a heddle.conf that cannot be read at the
        start they are not, and nobody knows the socket."""
        lines, status = re.findall(r"(\w+) tables configured", self.opensm.log()), self.status()
        return bool(lines) and lines[-1] != "minhop" and bool(status) and status["sweep"]["ordered"]

    def rest(self):
        """Waits until OpenSM and the switches rest, and no job of adaptive routing is under way."""
        for _ in range(60):
            self.settle()
            part = self.opensm.log()
            last = re.split(fabric_sim.ENDS, part)[-1]
            status = self.status()
            if not re.search("log_trap_info|tables configured", last) and \
                    not (status and status["ar"]["summary"] == "not known yet"):
                return

    def settle(self):
        self.files_now = (self.opensm.log_file, self.simulation.folder / "clock", self.simulation.folder / "ar-record")
        before = None
        while before != (before := [path.stat().st_size if path.exists() else 0 for path in self.files_now]):
            time.sleep(replay_campaign.QUIET)

    def reachable(self):
        """GUIDs of switches that are up."""
        topology = fabric_sim.Topology(self.simulation.discover("now.topo"))
        return topology.switches

    def untruths(self, counts):
        """What status and certificate say, and what is not so."""
        status, wrong = self.status(), []
        if status is None:
            return wrong
        here = self.reachable()
        on = {guid for guid, held in self.emulated.tables().items() if held["enabled"]} & here
        ar = status["ar"]
        if on and not ar["wanted"] and not ar["faults"]:
            wrong.append(f"status says '{ar['summary']}', and {len(on)} switches have it on")
        if on and not ar["on"] and not ar["faults"]:
            wrong.append(f"status: off, and {len(on)} switches have it on")
        certificate = status.get("certificate")
        if certificate and certificate.get("current"):
            if on and not ar["on"]:
                wrong.append("the certificate is current, and adaptive routing is on where it is not known")
            if counts["missing"] or counts["loop"] != "none":
                wrong.append(f"the certificate is current: missing {counts['missing']}, loop {counts['loop']}")
        return wrong

    # ---- rounds ----

    def cut_ends(self):
        return [{*cables, *(self.fabric.cable[near] for near in cables)} for _, cables in self.down]

    def dead(self):
        return [end for _, cables in self.down for near in cables for end in (near, self.fabric.cable[near])]

    def cables_change(self, cables, lost):
        # each cable once: both ends of one may be in the list of a switch
        self.checker.cut(time.time_ns(), self.dead())
        command = "Unlink" if lost else "ReLink"
        self.simulation.command("\n".join(f'{command} "{node}"[{port}]' for node, port in cables))

    def sweep(self):
        since = len(self.opensm.log())
        self.opensm.process.send_signal(signal.SIGHUP)
        self.opensm.wait_for_match(fabric_sim.ENDS, since)

    def lose(self, kind, cables):
        name, since = f"{kind} {self.name(kind, cables)}", len(self.opensm.log())
        self.down.append((name, cables))
        self.cables_change(cables, True)
        self.wait_for_sweep(fabric_sim.ENDS, since, 10)
        return f"loss of {name}"

    def bring_back(self, which):
        (name, cables), since = self.down.pop(which), len(self.opensm.log())
        self.cables_change(cables, False)
        self.wait_for_sweep(fabric_sim.ENDS, since, 10)
        return f"return of {name}"

    def do_loss(self):
        kind = self.random.choice(self.kinds)
        taken = {end for ends in self.cut_ends() for end in ends}
        cables = [near for near in self.choose(kind) if near not in taken]
        return self.lose(kind, cables) if cables and len(self.down) < MOST_DOWN else self.do_return()

    def do_return(self):
        return self.bring_back(self.random.randrange(len(self.down))) if self.down else self.do_loss()

    def restart(self, number):
        self.opensm.end(number)
        engines, conf = self.random.choice(self.engines_of), self.random.choice(self.confs)
        self.opensm.engines, self.conf = engines, conf
        self.opensm.write_heddle_conf(self.text(conf))
        self.opensm.start("SUBNET UP|errors during initialization")
        return f"{'kill -9' if number == signal.SIGKILL else 'end'}, then {engines} with {conf}"

    def do_end(self):
        return self.restart(signal.SIGTERM)

    def do_kill(self):
        return self.restart(signal.SIGKILL)

    def change_settings(self):
        self.conf = self.random.choice([conf for conf in self.confs if conf != self.conf])
        self.opensm.write_heddle_conf(self.text(self.conf))

    def do_settings(self):
        self.change_settings()
        self.sweep()
        return f"settings: {self.conf}"

    def do_takeover(self):
        """One of higher priority takes over, and the first one ends; or the first one is killed, and the second one, of
        lower priority, takes over."""
        old, host = self.opensm, self.hosts[self.number % 2]
        higher = old.options["sm_priority"] < 8
        self.conf = self.random.choice(("on", "off"))
        engines = self.random.choice([one for one in self.engines_of if one != "minhop"])
        new = Other(self.simulation, host, self.number, engines, 8 if higher else 4, self.text(self.conf), self.lmc)
        self.number += 1
        if higher:
            new.start("SUBNET UP")
            old.end()
        else:
            new.start("Entering STANDBY state")
            old.end(signal.SIGKILL)
            new.wait_for("SUBNET UP")
        self.opensm = new
        return f"takeover by {'priority' if higher else 'death'}: {new.engines} with {self.conf}"

    def do_silent(self):
        guid = self.random.choice(sorted(self.reachable()))
        kind, *which = self.random.choice((("silent",), ("silent",), ("refuse=0x0c", "vendor", "set"),
                                           ("refuse=0x1c", LFT, "set")))
        self.emulated.fault(guid, kind, *which)
        self.faulty.add(guid)
        return f"0x{guid:x} {kind} {which}; " + self.random.choice((self.do_settings, self.do_loss, self.do_return))()

    def do_key(self):
        """A routing key comes, changes or goes."""
        number = self.random.choice(KEYS)
        tree = Tree(fabric_sim.Topology(self.simulation.discover("now.topo")))
        hosts = [host for host in tree.topology.hosts if host not in tree.aside]
        flows = [flow for flow in random_flows(hosts, self.random.random())[:KEY_FLOWS] if tree.ways(*flow)]
        entries = key_of(tree, flows, KEYS_LMC) if self.random.random() < 0.7 else []
        what = f"key {number} of {len(entries)} entries"
        try:
            # with an engine that takes no keys there is no greeting
            with Client(socket_of(self.opensm.place), KEY_S) as client:
                client.greeting()
                result = client.set_at_rest(number, entries)
        except OSError as error:  # that, or heddle.conf cannot be read
            return f"{what}: {error}"
        self.tally["keys in force" if result.status == DONE else "keys refused"] += 1
        return f"{what}: {result.status} {result.reason[:80]}"

    def do_heal(self):
        self.emulated.heal()
        self.faulty.clear()
        self.sweep()
        return "all switches answer"

    def undo(self):
        """Waits for its end, but not for switches that do not take their tables: what is undone is undone."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            heddle("drain", "-s", self.opensm.drain_socket(), "--undo", "--all", check=False,
                   timeout=10 if self.faulty else fabric_sim.PATIENCE)

    def do_pull(self, at_once=False):
        """Drains, and pulls what is drained in the moment in which it is said to be safe."""
        # with aggregation nodes a spine switch is always needed
        kind = self.random.choice(("leaf cable", "spine cable",
                                   *(() if flaps.aggregation_nodes(self.fabric) else ("spine switch",))))
        taken = {end for ends in self.cut_ends() for end in ends}
        parts = [part for part in self.parts[kind] if not taken & set(part)]
        if not parts:
            return self.do_return()
        cables = self.random.choice(parts)
        name = self.name(kind, cables)
        if at_once:
            self.change_settings()
            self.opensm.process.send_signal(signal.SIGHUP)
        asked = subprocess.Popen([fabric_sim.HEDDLE, "drain", "-s", self.opensm.drain_socket(), "--apply", name],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            answer, errors = asked.communicate(timeout=10 if self.faulty else SAID_S)
        except subprocess.TimeoutExpired:
            asked.kill()
            asked.communicate()
            self.undo()
            self.tally["pulls that were not said to be safe"] += 1
            return f"drain of {name}: no answer"
        if not answer.startswith("safe to pull"):
            self.undo()
            self.tally["pulls refused"] += 1
            return f"drain of {name}: refused: {errors.strip()[-300:]}"
        self.tally["pulls"] += 1
        self.before_pull, counts = self.checker.go()
        self.lose(kind, cables)
        self.rest()
        findings, _ = self.checker.go()
        lost = int(next(finding for finding in findings if finding.kind == "cut").words[1])
        if lost != counts["missing"]:  # which a switch that takes nothing had before
            self.faults.append(f"pull of {name}: {lost} entries led nowhere after it, {counts['missing']} before")
        self.bring_back(-1)
        self.rest()
        self.undo()
        return f"pull of {name}" + ", settings a moment ago" * at_once

    def round(self, kind, do=None):
        """One round, of do() or that of the kind. Returns its faults."""
        self.faults, self.before_pull = [], []
        old, since, own = self.opensm, len(self.opensm.log()), self.promises()
        begin = time.monotonic()
        # adaptive routing of the sweep before may have been programmed only now, after what was said then
        since = max(0, self.opensm.log().rfind("entries changed", 0, since))
        what = (do or getattr(self, f"do_{kind}"))()
        self.rest()
        findings, counts = self.replay(2 if self.faulty else replay_campaign.PATIENCE)
        findings = self.before_pull + findings
        log = (old.log()[since:] if old is self.opensm else old.log()[since:] + self.opensm.log())
        faults, own = list(self.faults), own and self.promises()
        lines = lines_of(log)
        for name in replay_campaign.LOOPS:
            if not counts[name]:
                continue
            kind_of = PACKETS.get(name, "credit")
            first = min((one.when for one in findings if one.kind == kind_of), default=0)
            patterns = [NAMED["loops"]] + [NAMED["credit"]] * (name not in PACKETS)
            if any(when <= first and re.search(pattern, line) for when, line in lines for pattern in patterns):
                self.tally[f"{name}, named"] += 1
            elif name not in PACKETS and self.standing:
                self.tally[f"{name}, from before"] += 1
            elif not own:
                self.tally[f"{name}, without a promise"] += 1
            else:
                faults.append(f"{name} {counts[name]}")
        status = self.status()
        # where heddle.conf cannot be read, nobody knows the socket, and the log alone can tell
        parts = [part for part in (status or {}).values() if isinstance(part, dict)]
        said = [fault for part in parts for fault in part.get("faults", ())] if status else \
            [self.opensm.log()[self.opensm.started:]]
        faulty = any(STAYS.search(text) for text in said)
        for stays in [f"missing {counts['missing']}"] * bool(counts["missing"]) + \
                [f"a credit loop stays: {counts['loop']}"] * (counts["loop"] != "none" and own):
            if faulty:
                self.tally["stays, named"] += 1
            elif not own:  # tables of OpenSM's own engine, which status says
                self.tally["stays, without a promise"] += 1
            else:
                faults.append(f"{stays}, and status says {said}")
        faults += self.untruths(counts)
        self.standing = counts["loop"] != "none"
        self.tally[kind] += 1
        shown = " ".join(f"{name} {counts[name]}" for name in ("lfts", "sets", "broken", *replay_campaign.FAULTS)
                         if counts[name])
        self.report(f"{what}: {time.monotonic() - begin:.1f} s; {shown}")
        for fault in faults:
            self.report(f"    FAULT {fault}")
        if faults:
            for finding in [one for one in findings if one.kind not in ("lost", "cut")][:8]:
                self.report(f"      {finding.kind} {finding.when} {' '.join(finding.words)[:200]}")
            for line in log.splitlines():
                if "heddle" in line and "status" not in line:
                    self.report(f"      {line[:260]}")
        return [f"{what}: {fault}" for fault in faults]

    def next_kind(self):
        return self.random.choices(list(self.weights), list(self.weights.values()))[0]


@contextlib.contextmanager
def living(netlist, seed, report, own=True, **chosen):
    """A Life that has begun."""
    emulated = Emulator()
    with Simulation(netlist, emulator=emulated, clock=True) as simulation:
        (simulation.folder / "ar-record").touch()
        emulated.record(simulation.folder / "ar-record")
        life = Life(simulation, emulated, seed, own, report, **chosen)
        try:
            with life.checker:
                loaded, counts = life.first()
                report(f"first programming: {loaded['lfts']} blocks, {loaded['sets']} AR Sets; then {counts}")
                yield life
        finally:
            life.opensm.end()


def run_rounds(netlist, seed, rounds, report, own=True, pulls=False, keys=False):
    """Returns ({name: count}, [fault]). pulls: rounds that drain and pull, each after something that BEFORE_PULLS names.
    keys: rounds with routing keys, in a tree."""
    faults, chosen = [], {"engines": ENGINES[:-1], "confs": ("on", "off")} if pulls else {}
    if keys:
        chosen = {**chosen, "engines": KEYED, "keys": True}
    with living(netlist, seed, report, own, **chosen) as life:
        for _ in range(rounds):
            before = life.random.choice(BEFORE_PULLS) if pulls else "nothing"
            if before not in ("nothing", "at once"):
                faults += life.round(before)
            life.tally[f"pulls after {before}"] += pulls
            faults += life.round("pull", lambda now=before == "at once": life.do_pull(now)) if pulls else \
                life.round(life.next_kind())
        return life.tally, faults
