# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A simulated InfiniBand fabric: ibsim, OpenSM and infiniband-diags, all of them Debian's own.

A simulation keeps its files in one temporary folder. At the end of the `with` block it removes the
folder and ends all its programs. The environment variable HEDDLE_BUILD names the build folder with
the plugin and the heddle command; HEDDLE_FABRICS names the folder of real fabrics.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", SOURCE / "build" / "release"))
FABRICS = pathlib.Path(os.environ.get("HEDDLE_FABRICS") or
                       SOURCE.parent / "shared" / "fabrics")
HEDDLE = BUILD / "cli" / "heddle"
PLUGIN = BUILD / "opensm" / "libheddle.so"
AGENTS = BUILD / "tests" / "emulator" / "libumad_agents.so"
CLOCK = BUILD / "bench" / "libheddlelftclock.so"
PATIENCE = 1800  # seconds; only what hangs takes so long
SURE = {"transaction_timeout": 1000 * PATIENCE}  # options: no MAD is sent twice, however busy the machine is
PATIENT = ("-t", str(1000 * PATIENCE))  # option of infiniband-diags: the same for their questions
LOG_DEFAULT, LOG_DUMPS = 0x03, 0x43  # what OpenSM logs by default; the same, and text files of all tables
ENDS = "SUBNET UP|(?i:errors during initialization)"  # of a sweep, in OpenSM's log
CHANGED = r"[1-9]\d* entries changed"  # in the line that the plugin logs for each routing
NEEDED = ("ibsim", "opensm", "ibnetdiscover", "dump_fts")


def sbin_path():
    """PATH with the folders in which Debian keeps opensm and infiniband-diags."""
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def missing_tools():
    """The tools that a simulation needs and this machine lacks."""
    missing = [tool for tool in NEEDED if not shutil.which(tool, path=sbin_path())]
    if not preload():
        missing.append("libumad2sim.so")
    missing += [str(path) for path in (HEDDLE, PLUGIN) if not path.exists()]
    return missing


def preload():
    """The library that redirects umad's traffic to ibsim, or None."""
    for folder in sorted(pathlib.Path("/usr/lib").glob("*/umad2sim")):
        if (folder / "libumad2sim.so").exists():
            return str(folder / "libumad2sim.so")
    return None


def heddle(*arguments, check=True, timeout=PATIENCE):
    """Runs the heddle command; returns the completed process with its text output."""
    done = subprocess.run([str(HEDDLE), *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout)
    if check and done.returncode:
        raise AssertionError(f"heddle {' '.join(map(str, arguments))}: exit {done.returncode}\n"
                             f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done


def generate(folder, *arguments):
    """A netlist made by `heddle topo generate`."""
    path = pathlib.Path(folder) / ("-".join(map(str, arguments)).replace("--", "") + ".net")
    heddle("topo", "generate", *arguments, "-o", path)
    return path


def check(topology, *tables_paths):
    """The report of `heddle check --json`."""
    done = heddle("check", "--json", topology, *tables_paths, check=False)
    if done.returncode not in (0, 1):
        raise Failure(f"heddle check: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


class Failure(AssertionError):
    """A tool failed. The message has the end of its output."""


def folder_in_memory():
    """A folder whose files are in memory, or None. Each process on the simulated fabric makes hundreds of small files
    in its folder, which takes most of the time on some disks."""
    memory, enough = "/dev/shm", 2 ** 30
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < enough:
        return None
    return memory


class Simulation:
    """A running ibsim. Use as a context manager; `folder` is gone afterwards. `emulator`, an
    emulator.Emulator, stands in front of it. `clock`: ibsim notes in the files `clock` and `mft-clock` of the folder
    each block of unicast and multicast tables that it takes."""

    def __init__(self, netlist, host=None, emulator=None, clock=False):
        self.netlist = pathlib.Path(netlist).resolve()
        self.emulator = emulator
        self.clock = clock
        self.host = host or first_host(self.netlist)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="heddle-sim-", dir=folder_in_memory())))
        # ibsim's sockets are visible on the entire machine: each run has a name of its own.
        self.environment = dict(os.environ, IBSIM_SOCKNAME=self.folder.name, SIM_HOST=self.host,
                                OSM_CACHE_DIR=str(self.folder), OSM_TMP_DIR=str(self.folder),
                                PATH=sbin_path())
        if not self.emulator:
            self.environment["UMAD_AGENTS_REFUSE"] = "1"  # what ibsim does not know, as a switch does
        self.output = open(self.folder / "ibsim.out", "wb")
        self.stack.callback(self.output.close)
        self.process = subprocess.Popen(
            ["ibsim", "-s", "-N", "20000", "-S", "4000", "-P", "200000", "-L", "49152",
             str(self.netlist)],
            stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT,
            env=self._ibsim_environment(), cwd=self.folder)
        self.stack.callback(stop, self.process)
        self._wait_until_up()
        if self.emulator:
            self.stack.callback(self.emulator.start(
                self.folder, self.environment["IBSIM_SOCKNAME"], self._ibsim_name()))
        return self

    def _ibsim_environment(self):
        found = dict(self.environment, IBSIM_SOCKNAME=self._ibsim_name())
        if self.clock:
            found.update(LD_PRELOAD=str(CLOCK), LFT_CLOCK=str(self.folder / "clock"),
                         MFT_CLOCK=str(self.folder / "mft-clock"))
        return found

    def _ibsim_name(self):
        return self.environment["IBSIM_SOCKNAME"] + ("-ibsim" if self.emulator else "")

    def preload(self):
        """What a process in the fabric preloads. OpenSM and the plugin open the device, and only with the agents each
        gets its own answers; a package does not have them."""
        return f"{AGENTS}:{preload()}" if AGENTS.exists() else preload()

    def __exit__(self, *exception):
        self.stack.close()
        return False

    def _wait_until_up(self):
        wait_until(lambda: self.process.poll() is not None or
                   self._ibsim_name() in unix_sockets(), "ibsim's socket")
        if self.process.poll() is not None:
            raise Failure("ibsim did not come up:\n" + tail(self.folder / "ibsim.out"))

    def command(self, line):
        """Types a line at ibsim's console ('Unlink "S1"[3]', 'ReLink "S1"[3]' ...), waits
        until it is done, and returns ibsim's answer."""
        path = self.folder / "ibsim.out"
        since = path.stat().st_size
        self.process.stdin.write(f"{line}\nVerbose\n".encode())
        self.process.stdin.flush()
        done = "simulator verbose level"
        wait_until(lambda: done in path.read_text()[since:], f"ibsim's answer to {line}")
        answer = path.read_text()[since:].split(done)[0]
        if line != "Dump" and re.search(r"^(sim> )?#", answer, re.M):
            raise Failure(f"ibsim: {line}: {answer}")
        return answer

    def run(self, *command, timeout=PATIENCE, check=True):
        """Runs a tool inside the simulated fabric and returns what it printed."""
        done = subprocess.run([str(word) for word in command], text=True, timeout=timeout,
                              env=dict(self.environment, LD_PRELOAD=self.preload()),
                              cwd=self.folder, capture_output=True, errors="replace")
        if check and done.returncode:
            raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                          f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def discover(self, name="fabric.topo"):
        """The fabric as ibnetdiscover sees it now, in a file of that name."""
        path = self.folder / name
        path.write_text(self.run("ibnetdiscover"))
        return path

    def read_tables(self, name="switches.lfts"):
        """The tables that the simulated switches hold now, in a file of that name."""
        path = self.folder / name
        text = self.run("dump_fts", "-n")
        # infiniband-diags leave out the last block if it contains only the highest LID.
        top = int(re.search(r"Unicast lids \[0x0-(0x[0-9a-f]+)\]", text).group(1), 16)
        if top % 64 == 0:
            text = self._add_lid(text, top)
        path.write_text(text)
        return path

    def _add_lid(self, text, lid):
        ports = self._ports_of_lid(lid)

        def with_entry(table):
            head, guid, rows, count = table.groups()
            port = ports[int(guid, 16)]
            if port == 0xFF:
                return table.group(0)
            return f"{head}0x{lid:04x} {port:03}\n{rows}{int(count) + 1} valid lids dumped"

        return re.sub(r"(Unicast lids .* guid (0x[0-9a-f]+).*\n.*\n.*\n)((?:0x.*\n)*)"
                      r"(\d+) valid lids dumped", with_entry, text)

    def _ports_of_lid(self, lid):
        """{switch GUID: port} for one LID, from ibsim's own console."""
        ports = {}
        for node in self.command("Dump").split("\nSwitch ")[1:]:
            guid = int(re.search(r"nodeguid ([0-9a-f]+)", node).group(1), 16)
            ports[guid] = int(re.search(rf"\[{lid}\]([0-9A-F]+)", node).group(1), 16)
        return ports

    def opensm(self, engines, **settings):
        return OpenSM(self, engines, **settings)


class OpenSM:
    """OpenSM with the plugin. As a context manager it runs until the end of the block."""

    def __init__(self, simulation, engines, options=None, heddle_conf=None, log_flags=LOG_DEFAULT,
                 plugin=PLUGIN, wrapper=()):
        self.simulation = simulation
        self.folder = simulation.folder
        self.engines = engines
        self.options = dict(options or {})
        self.conf = self.folder / "heddle.conf"
        self.log_flags = log_flags
        self.plugin = pathlib.Path(plugin)
        self.wrapper = list(wrapper)
        self.log_file = self.folder / "osm.log"
        self._log_read, self._log_bytes = "", 0  # what log() has read already
        self.process = None
        self.write_heddle_conf(heddle_conf if heddle_conf is not None else "")

    def write_heddle_conf(self, text):
        """Runs on one machine do not share the default sockets of `heddle status` and `heddle drain`. Without the agents
        the plugin must not open the device, as it does to ask switches for adaptive routing."""
        more = "" if "[status]" in text else f"\n[status]\nsocket = {self.status_socket()}\n"
        more += "" if "[drain]" in text else f"\n[drain]\nsocket = {self.drain_socket()}\n"
        more += "" if "[ar]" in text or AGENTS.exists() else "\n[ar]\nforeign = yes\n"
        self.conf.write_text(text + more)

    def status_socket(self):
        return self.folder / "status.sock"

    def drain_socket(self):
        return self.folder / "drain.sock"

    def rewrite_options(self, **options):
        """Changes opensm.conf, which OpenSM reads again in a heavy sweep."""
        self.options.update(options)
        self._write_conf()

    def _write_conf(self):
        lines = {"event_plugin_name": "heddle", "event_plugin_options": f"heddle={self.conf}",
                 "routing_engine": self.engines, "dump_files_dir": self.folder,
                 "log_max_size": 0, "max_wire_smps": 64, "sweep_interval": 0,
                 "force_log_flush": "TRUE", **self.options}
        path = self.folder / "opensm.conf"
        path.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
        return path

    def _command(self, *more):
        return [*self.wrapper, "opensm", "-F", str(self._write_conf()), "-D",
                hex(self.log_flags), "-f", str(self.log_file), *more]

    def _environment(self):
        return dict(self.simulation.environment, LD_PRELOAD=self.simulation.preload(),
                    LD_LIBRARY_PATH=str(self.plugin.parent))

    def once(self, timeout=PATIENCE):
        """Runs OpenSM for one sweep. Returns its log."""
        since = len(self.log())
        with open(self.folder / "opensm.out", "wb") as output:
            process = subprocess.Popen(self._command("-o"), env=self._environment(),
                                       cwd=self.folder, stdout=output, stderr=subprocess.STDOUT)
            try:
                code = process.wait(timeout)
            finally:
                stop(process)
        if code:
            raise Failure(f"opensm: exit {code}\n{tail(self.folder / 'opensm.out')}\n"
                          f"{tail(self.log_file)}")
        return self.log()[since:]

    def __enter__(self):
        since = len(self.log())
        self.output = open(self.folder / "opensm.out", "wb")
        self.process = subprocess.Popen(self._command(), env=self._environment(),
                                        cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=self.output, stderr=subprocess.STDOUT)
        try:
            self.wait_for("SUBNET UP", since)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        stop(self.process)
        self.output.close()
        return False

    def log(self):
        """All of it. Only what is new is read: tests ask often, and logs are long."""
        if not self.log_file.exists():
            return ""
        with open(self.log_file, "rb") as file:
            if file.seek(0, os.SEEK_END) < self._log_bytes:  # somebody has begun it anew
                self._log_read, self._log_bytes = "", 0
            file.seek(self._log_bytes)
            new = file.read()
        new = new[:new.rfind(b"\n") + 1]
        self._log_read += new.decode(errors="replace")
        self._log_bytes += len(new)
        return self._log_read

    def wait_for(self, text, since=0, timeout=PATIENCE):
        """Waits until the log, from offset `since` on, holds text; returns the log from there."""
        self.wait_for_match(re.escape(text), since, timeout)
        return self.log()[since:]

    def wait_for_match(self, pattern, since=0, timeout=PATIENCE):
        """The first match of a pattern in the log from offset `since` on, as soon as there is one."""
        def found():
            ended = self.process.poll() is not None
            match = re.compile(pattern).search(self.log(), since)
            if ended and not match:
                raise Failure(f"opensm ended with {self.process.returncode}\n{self.log()[-3000:]}")
            return match

        return wait_until(found, lambda: f"no '{pattern}' in OpenSM's log:\n{self.log()[-3000:]}", timeout)

    def console(self, line):
        """Types a line at OpenSM's console, which the option `console local` gives it."""
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def _wait_for_own_sweeps(self, longest=10):
        """Waits while a sweep is under way that a trap began: since the last end of one, the log has traps or tables.
        Not every trap brings a sweep."""
        deadline = time.monotonic() + longest
        while time.monotonic() < deadline and re.search(
                "log_trap_info|tables configured|no tables", re.split(ENDS, self.log())[-1]):
            time.sleep(0.02)

    def sweep(self):
        """Makes OpenSM do a heavy sweep. Returns its log, after that of a sweep which is under way."""
        begin = len(self.log())
        self._wait_for_own_sweeps()
        for _ in range(5):
            since = len(self.log())
            self.process.send_signal(signal.SIGHUP)
            log = self.wait_for("SUBNET UP", since)
            done = log[:log.index("SUBNET UP")]
            if "tables configured" in done and "log_trap_info" not in done:
                break
            # Perhaps this was the end of a sweep that was under way when the signal came, or a trap brings another.
        return self.log()[begin:]

    def sweep_until(self, pattern, most=10, since=None):
        """Does heavy sweeps until the log, from offset `since` on, matches the pattern. One sweep is
        not always enough: it may begin before a change is complete. Returns the log from there."""
        since = len(self.log()) if since is None else since
        for _ in range(most):
            self.sweep()
            log = self.log()[since:]
            if re.search(pattern, log[:log.rfind("SUBNET UP")]):  # of a sweep that has ended
                return log
        raise Failure(f"no '{pattern}' in {most} sweeps:\n{log[-3000:]}")


def first_host(netlist):
    """Name of the first channel adapter in a netlist: where OpenSM runs."""
    match = re.search(r'^(?:Ca|Hca)\s+\d+\s+"([^"]+)"', netlist.read_text(errors="replace"), re.M)
    if not match:
        raise Failure(f"{netlist}: no channel adapter to run OpenSM on")
    return match.group(1)


NO_PORT = 0xFF
LIDS = 0xC000


def tables(path):
    """{switch GUID: ports by LID} of a table dump in any of OpenSM's and ibroute's forms."""
    rows = {}
    row = None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("0x"):
                row[int(line[:6], 16)] = int(line[7:10])
            elif line.startswith("Unicast lids"):
                guid = int(re.search(r" guid (0x[0-9a-f]+)", line).group(1), 16)
                row = rows[guid] = bytearray([NO_PORT]) * LIDS
    return rows


def changed(before, after):
    """{(switch, LID)} at which two tables of the same switches differ."""
    assert before.keys() == after.keys()
    return {(switch, lid) for switch, row in before.items() if row != after[switch]
            for lid in range(LIDS) if row[lid] != after[switch][lid]}


class Topology:
    """The content of an ibnetdiscover file."""

    def __init__(self, path):
        self.peer = {}  # (node, port) -> (node, port); nodes by their GUID
        self.lids = {}  # node -> (base LID, LMC), hosts by their first port
        self.names = {}  # node description -> node
        self.switches = set()
        node = None
        for line in path.read_text().splitlines():
            head = re.match(r'(Switch|Ca|Rt)\s+\d+ "\w-([0-9a-f]+)"\s+# "([^"]*)"(.*)', line)
            port = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"\w-([0-9a-f]+)"\[(\d+)\]', line)
            if head:
                node = int(head.group(2), 16)
                self.names[head.group(3)] = node
                if head.group(1) == "Switch":
                    self.switches.add(node)
                    self._note_lid(node, head.group(4))
            elif port:
                self.peer[node, int(port.group(1))] = (int(port.group(2), 16), int(port.group(3)))
                if node not in self.switches:
                    self._note_lid(node, line)
        self.hosts = sorted(node for node in self.lids if node not in self.switches)

    def _note_lid(self, node, text):
        found = re.search(r"lid (\d+) lmc (\d+)", text)
        if found and node not in self.lids:
            self.lids[node] = (int(found.group(1)), int(found.group(2)))

    def leaf(self, host):
        """The switch to which a host is cabled."""
        return next(peer for (node, _), (peer, _) in self.peer.items() if node == host)

    def path(self, entries, switch, lid):
        """[(switch, port)] that a packet to lid takes from switch on."""
        path = []
        while switch in self.switches and len(path) < 64:
            port = entries[switch][lid]
            path.append((switch, port))
            if port == 0 or (switch, port) not in self.peer:
                break
            switch = self.peer[switch, port][0]
        return path


def level_maps(simulation, lid, port=None):
    """The rows of an SL2VL map. For a switch: those of one output port, one for each input port."""
    text = simulation.run("smpquery", "sl2vl", lid, *([] if port is None else [port]))
    return [[int(lane) for lane in line.split(":")[2].strip("| \n").split("|")]
            for line in text.splitlines() if line.startswith("ports:")]


def wait_until(condition, what, timeout=PATIENCE):
    """Waits for condition() to be true; returns its value. `what`: a text, or a function that makes it."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"{what() if callable(what) else what}: not within {timeout} s")
        time.sleep(0.02)
    return value


def unix_sockets():
    return pathlib.Path("/proc/net/unix").read_text()


def waits(pid):
    """What each thread of a process waits for, as the kernel says it: its name, state, place and system call."""
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            state = re.search(r"State:\s*(.*)", (thread / "status").read_text()).group(1)
            yield " ".join((thread / name).read_text().strip() for name in ("comm", "wchan", "syscall")) + f" ({state})"
        except OSError:  # it has ended, or the kernel does not tell
            continue


def stop(process):
    """Ends a process that we started: with SIGTERM, and with SIGKILL if that does not help."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            print(f"{process.args} does not end:", *waits(process.pid), sep="\n  ")
            process.kill()
            process.wait()
    if process.stdin:
        process.stdin.close()


def tail(path, size=3000):
    return path.read_text(errors="replace")[-size:] if path.exists() else ""
