# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Small pictures: PNG files read and compared without any library for pictures."""

import struct
import zlib


def unfilter(kind, line, above, size):
    """Undoes the filter of one line of a PNG; `size`: bytes of a pixel."""
    for i, byte in enumerate(line):
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        if kind == 1:
            add = left
        elif kind == 2:
            add = above[i]
        elif kind == 3:
            add = (left + above[i]) // 2
        elif kind == 4:
            guess = left + above[i] - corner
            add = min((left, above[i], corner), key=lambda value: abs(guess - value))
        else:
            add = 0
        line[i] = (byte + add) & 0xFF
    return line


def read(data):
    """Width, and lines of (red, green, blue), of a PNG with 8 bits a channel, not interlaced."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colours in (2, 6) and not interlaced
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    size = 3 if colours == 2 else 4
    raw, lines, above = zlib.decompress(packed), [], bytearray(width * size)
    for row in range(height):
        begin = row * (width * size + 1)
        above = unfilter(raw[begin], bytearray(raw[begin + 1:begin + 1 + width * size]), above, size)
        lines.append([tuple(above[i:i + 3]) for i in range(0, width * size, size)])
    return width, lines


def blocks(lines, side):
    """Mean colours of squares, so that a shift of a pixel or another edge of a letter is little."""
    found = []
    for top in range(0, len(lines) - side + 1, side):
        row = []
        for left in range(0, len(lines[0]) - side + 1, side):
            pixels = [lines[y][x] for y in range(top, top + side) for x in range(left, left + side)]
            row.append([sum(pixel[c] for pixel in pixels) / len(pixels) for c in range(3)])
        found.append(row)
    return found


def difference(one, other, side=2):
    """How far two PNGs differ: in height, as a share; on average over squares and channels, 0 to
    255; and the share of squares that differ much."""
    (width, lines), (other_width, other_lines) = read(one), read(other)
    assert width == other_width
    height = abs(len(lines) - len(other_lines)) / len(other_lines)
    far = [sum(abs(a - b) for a, b in zip(left, right)) / 3
           for row, other_row in zip(blocks(lines, side), blocks(other_lines, side))
           for left, right in zip(row, other_row)]
    return height, sum(far) / len(far), sum(each > 24 for each in far) / len(far)
