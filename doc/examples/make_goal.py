# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a trace in the text form of GOAL to standard output: what MPI ranks do in a well-known operation.

    make_goal.py ring RANKS BYTES [CALC]        all-reduce on a ring, of a vector of so many bytes
    make_goal.py doubling RANKS BYTES [CALC]    all-reduce by recursive doubling, 2^n ranks
    make_goal.py dissemination RANKS [CALC]     barrier
    make_goal.py linear RANKS BYTES [CALC]      all-to-all, all messages at once
    make_goal.py stencil X Y BYTES TURNS CALC   each rank of a torus sends to its four neighbours, again and again

CALC is the time of a calculation before each step, in ns.
"""

import sys


class Rank:
    """The operations of a rank; each has a label l1, l2, ..."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text, after=(), started=()):
        """Adds an operation that waits for the ends of some others, and for the starts of some; its label."""
        self.count += 1
        label = f"l{self.count}"
        self.lines.append(f"{label}: {text}")
        self.lines += [f"{label} requires {other}" for other in after]
        self.lines += [f"{label} irequires {other}" for other in started]
        return label

    def send(self, to, size, tag, after=(), started=()):
        return self.add(f"send {size}b to {to} tag {tag}", after, started)

    def receive(self, source, size, tag, after=(), started=()):
        return self.add(f"recv {size}b from {source} tag {tag}", after, started)

    def calculate(self, time, after=()):
        return [self.add(f"calc {time}", after)] if time else list(after)


def exchange(rank, to, source, size, tag, after):
    """A send and a receive at the same time; both labels."""
    return [rank.send(to, size, tag, after), rank.receive(source, size, tag, after)]


def ring(count, size, calc=0):
    part = max(1, (size + count - 1) // count)
    ranks = [Rank() for _ in range(count)]
    for r, rank in enumerate(ranks):
        last = []
        for step in range(2 * (count - 1)):
            reduces = step < count - 1
            last = rank.calculate(calc if reduces else 0, last)
            last = exchange(rank, (r + 1) % count, (r - 1) % count, part, step, last)
    return ranks


def doubling(count, size, calc=0):
    if count & (count - 1):
        sys.exit("make_goal.py: doubling needs 2^n ranks")
    ranks = [Rank() for _ in range(count)]
    for r, rank in enumerate(ranks):
        last = []
        for step in range(count.bit_length() - 1):
            last = rank.calculate(calc, last)
            last = exchange(rank, r ^ 1 << step, r ^ 1 << step, size, step, last)
    return ranks


def dissemination(count, calc=0):
    ranks = [Rank() for _ in range(count)]
    for r, rank in enumerate(ranks):
        last = rank.calculate(calc)
        for step in range((count - 1).bit_length()):
            last = exchange(rank, (r + (1 << step)) % count, (r - (1 << step)) % count, 8, step, last)
    return ranks


def linear(count, size, calc=0):
    ranks = [Rank() for _ in range(count)]
    for r, rank in enumerate(ranks):
        last = rank.calculate(calc)
        for distance in range(1, count):
            rank.receive((r - distance) % count, size, 0, last)
        for distance in range(1, count):
            rank.send((r + distance) % count, size, 0, last)
    return ranks


def stencil(width, height, size, turns, calc):
    ranks = [Rank() for _ in range(width * height)]
    for r, rank in enumerate(ranks):
        x, y, last = r % width, r // width, []
        sides = [((x + 1) % width + y * width, 0), ((x - 1) % width + y * width, 1),
                 (x + (y + 1) % height * width, 2), (x + (y - 1) % height * width, 3)]
        for _ in range(turns):
            last = rank.calculate(calc, last)
            now = [rank.receive(peer, size, side ^ 1, last) for peer, side in sides]
            last = now + [rank.send(peer, size, side, last) for peer, side in sides]
    return ranks


KINDS = {"ring": (ring, 2, 3), "doubling": (doubling, 2, 3), "dissemination": (dissemination, 1, 2),
         "linear": (linear, 2, 3), "stencil": (stencil, 5, 5)}


def write(ranks, stream):
    stream.write(f"num_ranks {len(ranks)}\n")
    for r, rank in enumerate(ranks):
        stream.write(f"\nrank {r} {{\n" + "\n".join(rank.lines) + "\n}\n")


def main(words):
    kind, least, most = KINDS.get(words[0] if words else None, (None, 0, 0))
    if not kind or not least <= len(words) - 1 <= most or not all(word.isdigit() for word in words[1:]):
        sys.exit(__doc__)
    write(kind(*map(int, words[1:])), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
