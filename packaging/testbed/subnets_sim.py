# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several subnets that routers join: one ibsim, and in each subnet an OpenSM with its own prefix.

ibsim has no RMPP. Of an answer with several records it delivers the first two, and bytes of other
answers where there are fewer; the number of records is in OpenSM's log (DEBUG).
"""

import collections
import re
import struct
import subprocess

import fabric_sim
from fabric_sim import BUILD, Failure, Simulation

CLIENT = BUILD / "tests" / "integration" / "sa_client"
PATH_RECORD, MULTIPATH_RECORD = 0x35, 0x3A
GET, GET_TABLE, GET_MULTI = 0x01, 0x12, 0x14
DGID, SGID, DLID, SLID = 1 << 2, 1 << 3, 1 << 4, 1 << 5
MULTI_NUMBER, MULTI_SGIDS, MULTI_DGIDS = 1 << 6, 1 << 19, 1 << 20
RMPP_ACTIVE = 1
NO_RECORDS, INVALID_GID = 0x0300, 0x0500

Path = collections.namedtuple("Path", "service dgid sgid dlid slid hop_flow tclass reversible pkey "
                                      "qos_sl mtu rate life preference")
Answer = collections.namedtuple("Answer", "method attribute status paths")
DEBUG = 0x4B  # log flags
SEEN_MOST = 2  # records of one answer
RECORD = struct.Struct(">Q16s16sHHIBBHHBBBB6x")


def gid(prefix, guid):
    return struct.pack(">QQ", prefix, guid)


def gid_text(prefix, guid):
    number = f"{prefix:016x}{guid:016x}"
    return ":".join(number[i:i + 4] for i in range(0, 32, 4))


def path_request(sgid, dgid, method=GET, **lids):
    """A line for sa_client. sgid None: of any source."""
    mask = DGID | (SGID if sgid else 0) | (SLID if "slid" in lids else 0) | \
        (DLID if "dlid" in lids else 0)
    record = RECORD.pack(0, dgid, sgid or bytes(16), lids.get("dlid", 0), lids.get("slid", 0), 0, 0,
                         0x81 if method == GET else 0x7F, 0, 0, 0, 0, 0, 0)
    return f"{method:x} {PATH_RECORD:x} 0 {mask:x} {record.hex()}"


def multipath_request(sgids, dgids, most=1):
    head = struct.pack(">IBBHHBBBBBBB7x", 0, 0, most, 0, 0, 0, 0, 0, 0, 0, len(sgids), len(dgids))
    mask = MULTI_NUMBER | MULTI_SGIDS | MULTI_DGIDS
    record = head + b"".join(sgids) + b"".join(dgids)
    return f"{GET_MULTI:x} {MULTIPATH_RECORD:x} {RMPP_ACTIVE:x} {mask:x} {record.hex()}"


def _answer(line):
    if line == "lost":
        raise Failure("the SA does not answer")
    method, attribute, status, offset, data = line.split()
    data = bytes.fromhex(data)
    size = int(offset, 16) * 8
    paths = []
    if size and not int(status, 16):
        most = 1 if int(method, 16) == GET | 0x80 else SEEN_MOST
        paths = [Path(*RECORD.unpack(data[place:place + RECORD.size]))
                 for place in range(0, most * size, size)]
    return Answer(int(method, 16), int(attribute, 16), int(status, 16), paths)


def prefix(number):
    """The prefix of subnet number 1, 2 .."""
    return 0xFEC0000000000000 + number


class Subnet(Simulation):
    """One subnet of an ibsim that belongs to `whole`. Its OpenSM runs on its first host."""

    def __init__(self, whole, number):
        super().__init__(whole.netlist, host=f"S{number}-H_0")
        self.whole = whole
        self.number = number
        self.prefix = prefix(number)
        self.folder = whole.folder / f"subnet{number}"
        self.folder.mkdir()
        self.process = whole.process
        self.environment = dict(whole.environment, SIM_HOST=self.host,
                                OSM_CACHE_DIR=str(self.folder), OSM_TMP_DIR=str(self.folder))
        self.hosts, self.routers = [], {}  # port GUIDs; of routers (middle, router): GUID
        self.cables = {}  # router port: its end at the switch, as ibsim's console names it
        self._read_netlist(whole.netlist.read_text())

    def _read_netlist(self, text):
        node = None
        for line in text.splitlines():
            head = re.match(r'(Switch|Ca|Rt)\s+\d+ ("\w-[0-9a-f]+")\s+# "([^"]*)"', line)
            port = re.match(r'\[(\d+)\]\s+"(\w)-([0-9a-f]+)"\[(\d+)\]\(([0-9a-f]+)\)', line)
            if head:
                name, node = head.group(2, 3)
            elif port and node.startswith(f"S{self.number}-S"):
                guid = int(port.group(5), 16)
                if port.group(2) == "R":
                    self.routers[node, int(port.group(3), 16)] = guid
                    self.cables[guid] = f"{name}[{port.group(1)}]"
                elif port.group(2) == "H":
                    self.hosts.append(guid)

    def command(self, line):
        return self.whole.command(line)

    def gid(self, guid):
        return gid(self.prefix, guid)

    def ask(self, requests):
        """Asks this subnet's SA; the answers in the order of the requests."""
        done = subprocess.run([str(CLIENT), str(self.sm_lid())], text=True, timeout=600,
                              input="".join(f"{line}\n" for line in requests),
                              capture_output=True, cwd=self.folder,
                              env=dict(self.environment, LD_PRELOAD=self.preload()))
        if done.returncode:
            raise Failure(f"sa_client: {done.stderr}")
        answers = [_answer(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(requests)
        return answers

    def ask_one(self, opensm, request):
        """One answer, with only the records that OpenSM sent. OpenSM's log must have DEBUG."""
        since = len(opensm.log())
        answer = self.ask([request])[0]
        sent = re.findall(r"osm_sa_respond: Returning (\d+) records", opensm.log()[since:])
        assert len(sent) <= 1
        return answer._replace(paths=answer.paths[:int(sent[0])]) if sent else answer

    def sm_lid(self):
        return int(re.search(r"sm lid (\d+)", self.run("sminfo")).group(1))

    def opensm(self, engines, options=None, **settings):
        return super().opensm(engines, options={"subnet_prefix": hex(self.prefix),
                                                **(options or {})}, **settings)


class Subnets(Simulation):
    """ibsim with several subnets, subnets[0] .. As a context manager."""

    def __init__(self, netlist, count):
        super().__init__(netlist)
        self.count = count

    def __enter__(self):
        super().__enter__()
        self.subnets = [Subnet(self, number)
                        for number in range(1, self.count + 1)]
        return self


def generate(folder, count, *more):
    return fabric_sim.generate(folder, "interconnect", "--subnets", count, *more)
