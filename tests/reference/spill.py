"""The reference implementations of what spills names, and of the bits of first rows: lists, sets and struct."""

import struct
import sys

PENDING, SEEN, NEW, LATER = range(4)
MAGIC = {False: 0x6C6C697073697275, True: 0x6C6C697073697265}
HEADER = 48


def check(fields):
    value = 0
    for field in fields:
        value = (value ^ field) * 0x9E3779B97F4A7C15 % 2**64
        value ^= value >> 32
    return value


def header(magic, size, rows, base, octets):
    fields = magic, size, rows, base, octets
    return struct.pack("=6Q", *fields, check(fields))


def pack(rows, exact=False, base=None):
    """The block of rows, each a fingerprint, a number and a form."""
    if base is None:
        base = min((number for _, number, _ in rows), default=0)
    forms = [form for _, _, form in rows] if exact else []
    parts = [fingerprint for fingerprint, _, _ in rows]
    parts += [struct.pack("=I", number - base) for _, number, _ in rows]
    parts += [struct.pack("=I", len(form)) for form in forms]
    parts += reversed(forms)
    body = b"".join(parts)
    body += bytes(-len(body) % 8)
    return header(MAGIC[exact], HEADER + len(body), len(rows), base, sum(map(len, forms))) + body


def forms_of(block, rows):
    """The normal forms in a block of so many rows."""
    if int.from_bytes(block[:8], sys.byteorder) == MAGIC[False]:
        return [b""] * rows
    at, forms = HEADER + 24 * rows, []
    for size in reversed(struct.unpack_from(f"={rows}I", block, HEADER + 20 * rows)):
        forms.insert(0, bytes(block[at : at + size]))
        at += size
    return forms


def part_of(fingerprint, depth, parts):
    word = int.from_bytes(fingerprint[8:] if depth < 10 else fingerprint[:8], sys.byteorder)
    return word >> 6 * (depth % 10) & (parts - 1)


class Buffers:
    """SpillBuffers as lists of rows."""

    def __init__(self, depth, exact, room, parts):
        self.depth, self.exact, self.room = depth, exact, room // 8 * 8
        self.parts = [[] for _ in range(parts)]
        self.taken, self.full = set(), -1

    def add(self, rows, marks, start):
        self.full = -1
        for i in range(start, len(rows)):
            if marks[i] != LATER:
                continue
            fingerprint, number, _ = rows[i]
            part = part_of(fingerprint, self.depth, len(self.parts))
            held = self.parts[part]
            base = held[0][1] if held else number
            more = [*held, rows[i]]
            size = HEADER + sum(len(form) + 24 if self.exact else 20 for _, _, form in more)
            if part in self.taken or (held and (size > self.room or not 0 <= number - base < 2**32)):
                self.full = part
                return i
            self.parts[part] = more
            if size > self.room:
                self.taken.add(part)
        return len(rows)

    def take(self, part):
        if not self.parts[part]:
            return b""
        self.taken.add(part)
        return pack(self.parts[part], self.exact, self.parts[part][0][1])

    def clear(self, part):
        self.parts[part] = []
        self.taken.discard(part)


class Bits:
    """FirstRows as a set of the numbers of rows."""

    def __init__(self):
        self.rows = set()

    def set(self, numbers, marks):
        self.rows |= {number for number, mark in zip(numbers, marks, strict=True) if mark == NEW}

    def rank(self, row):
        return sum(other < row for other in self.rows)

    def marks(self, numbers, marks, counts=None, least=0):
        return bytes(
            NEW if number in self.rows and mark != SEEN and (not least or counts.get(number, 0) >= least) else SEEN
            for number, mark in zip(numbers, marks, strict=True)
        )
