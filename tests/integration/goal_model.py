# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""GOAL traces the slow way: reads one, and says when it would end if messages took no time. Knows nothing of the
simulator. It looks through all operations again and again, in order of time."""

import heapq
import re

LINE = re.compile(r"(?:(\w+): )?(calc|send|recv) (\d+)b?(?: (?:to|from) (-?\d+))?(?: tag (-?\d+))?(?: cpu (\d+))?$")
WAIT = re.compile(r"(\w+) (i?requires) (\w+)$")
TINY = 1e-6  # time of a message


class Operation:
    def __init__(self, rank, match):
        self.rank, self.label, self.action = rank, match[1], match[2]
        self.amount, self.peer = int(match[3]), int(match[4] or 0)
        self.tag, self.cpu = int(match[5] or 0), int(match[6] or 0)
        self.after_end, self.after_start = [], []
        self.queued = self.started = self.ended = False


def read(text):
    """The operations of all ranks, in the order of the file."""
    operations, labels, rank = [], {}, None
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("rank "):
            rank, labels = int(line.split()[1]), {}
        elif match := LINE.match(line):
            operations.append(Operation(rank, match))
            labels[match[1]] = operations[-1]
        elif match := WAIT.match(line):
            getattr(labels[match[1]], "after_end" if match[2] == "requires" else "after_start").append(labels[match[3]])
    return operations


def bytes_between(text):
    """{(source, destination): bytes}"""
    sums = {}
    for one in read(text):
        if one.action == "send":
            sums[one.rank, one.peer] = sums.get((one.rank, one.peer), 0) + one.amount
    return sums


class Run:
    def __init__(self, text, eager=65535):
        self.operations, self.eager = read(text), eager
        self.now, self.events, self.number = 0.0, [], 0
        self.busy, self.queues, self.waiting = set(), {}, []

    def later(self, time, what):
        self.number += 1
        heapq.heappush(self.events, (self.now + time, self.number, what))

    def take(self, operation):
        """What this message, or receive, meets: the first in the list of all that wait."""
        for other in self.waiting:
            send, receive = (operation, other) if operation.action == "send" else (other, operation)
            if (send.action, receive.action) == ("send", "recv") and send.peer == receive.rank and \
                    receive.peer in (-1, send.rank) and receive.tag in (-1, send.tag):
                self.waiting.remove(other)
                receive.ended = True
                send.ended = True
                return
        self.waiting.append(operation)

    def start(self, operation):
        operation.started = True
        if operation.action == "recv":
            self.take(operation)
        elif operation.action == "send":
            if operation.amount <= self.eager:
                self.later(TINY / 2, lambda: setattr(operation, "ended", True))
            self.later(TINY, lambda: self.take(operation))
        elif operation.amount:
            place = operation.rank, operation.cpu
            self.busy.add(place)
            self.later(operation.amount, lambda: (self.busy.remove(place), setattr(operation, "ended", True)))
        else:
            operation.ended = True

    def settle(self):
        """Starts all that may start now."""
        again = True
        while again:
            again = False
            for one in self.operations:
                if not one.queued and all(other.ended for other in one.after_end) and \
                        all(other.started for other in one.after_start):
                    one.queued = again = True
                    self.queues.setdefault((one.rank, one.cpu), []).append(one)
            for place, queue in self.queues.items():
                while queue and place not in self.busy:
                    self.start(queue.pop(0))
                    again = True

    def end(self):
        """The time at which the last operation ended, or None: some never do."""
        last = 0.0
        self.settle()
        while self.events:
            self.now, _, what = heapq.heappop(self.events)
            before = sum(one.ended for one in self.operations)
            what()
            self.settle()
            if sum(one.ended for one in self.operations) > before:
                last = self.now
        return last if all(one.ended for one in self.operations) else None
