# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a Chakra execution trace, one file a rank: PREFIX.0.et, PREFIX.1.et ...

    make_chakra.py training PREFIX RANKS LAYERS BYTES MICROSECONDS [GROUP]

Data-parallel training, one step: each rank computes its layers forward and backward, each in so many microseconds. As
soon as the gradients of a layer are there, an all-reduce of so many bytes adds them up. With GROUP, ranks of a tensor
group of that size also gather the activations of each layer on the way forward, and a send hands the last ones to the
next group. A barrier ends the step.

The encoding of protocol buffers is written out here, so that Python alone is enough."""

import sys

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9


def varint(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(data + bytes([number]))


def number_field(field, number):
    return varint(field << 3) + varint(number & 0xFFFFFFFFFFFFFFFF)


def bytes_field(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    """Texts, truth values, and numbers as int64; comm_src, comm_dst and comm_tag as int32."""
    if isinstance(value, str):
        field = bytes_field(29, value.encode())
    elif isinstance(value, bool):
        field = number_field(27, value)
    else:
        field = number_field(7 if name in ("comm_src", "comm_dst", "comm_tag") else 9, value)
    return bytes_field(10, bytes_field(1, name.encode()) + field)


class Trace:
    """The file of a rank."""

    def __init__(self, first=0):
        self.messages, self.next = [bytes_field(1, b"0.0.4")], first

    def add(self, name, kind, waits=(), duration=0, **attributes):
        """Adds a node that waits for others; its id."""
        node = number_field(1, self.next) + bytes_field(2, name.encode()) + number_field(3, kind)
        if waits:
            node += bytes_field(5, b"".join(map(varint, waits)))
        if duration:
            node += number_field(7, duration)
        node += b"".join(attribute(key, value) for key, value in attributes.items())
        self.messages.append(node)
        self.next += 1
        return self.next - 1

    def collective(self, name, kind, size, waits=(), **attributes):
        return self.add(name, COLLECTIVE, waits, is_cpu_op=False, comm_type=kind, comm_size=size, **attributes)

    def data(self):
        return b"".join(varint(len(message)) + message for message in self.messages)


def training(ranks, layers, size, duration, group=1):
    traces = [Trace() for _ in range(ranks)]
    for rank, trace in enumerate(traces):
        last, reduced = [], []
        for layer in range(layers):
            last = [trace.add(f"forward {layer}", COMPUTE, last, duration)]
            if group > 1:
                last = [trace.collective(f"activations {layer}", ALL_GATHER, size // group, last,
                                         pg_name=f"tensor {rank // group}")]
        if group > 1 and rank + group < ranks:
            trace.add("to the next", SEND, last, comm_size=size, comm_src=rank, comm_dst=rank + group, comm_tag=1)
        if group > 1 and rank >= group:
            last.append(trace.add("from the one before", RECEIVE, (), comm_size=size, comm_src=rank - group, comm_dst=rank,
                                  comm_tag=1))
        for layer in reversed(range(layers)):
            last = [trace.add(f"backward {layer}", COMPUTE, last, 2 * duration)]
            reduced.append(trace.collective(f"gradients {layer}", ALL_REDUCE, size, last))
        trace.add("end of the step", COLLECTIVE, reduced, comm_type=BARRIER)
    return traces


def write(traces, prefix):
    for rank, trace in enumerate(traces):
        with open(f"{prefix}.{rank}.et", "wb") as stream:
            stream.write(trace.data())


def main(words):
    numbers = words[2:]
    if words[:1] != ["training"] or not 4 <= len(numbers) <= 5 or not all(word.isdigit() for word in numbers):
        sys.exit(__doc__)
    write(training(*map(int, numbers)), words[1])


if __name__ == "__main__":
    main(sys.argv[1:])
