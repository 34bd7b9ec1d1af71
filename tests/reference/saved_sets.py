"""Saved sets, from docs/developing/fingerprint.md alone: read and written with struct and sorted()."""

import json
from hashlib import blake2b

MAGIC = b"\x89SEEN\r\n\x1a"
WORD = (1 << 64) - 1
FIRST, SECOND = 0x243F6A8885A308D3, 0x13198A2E03707344


def little(octets):
    return int.from_bytes(octets, "little")


def stored(fingerprint):
    """Return a fingerprint as it is in the file."""
    return fingerprint if any(fingerprint[8:]) else fingerprint[:15] + b"\x80"


def order(fingerprint):
    return little(fingerprint[:8]), little(fingerprint[8:])


def check(fingerprints):
    """Return the checksum of a bucket."""
    total = 0
    for fingerprint in fingerprints:
        low, high = order(fingerprint)
        product = (low ^ FIRST) * (high ^ SECOND)
        total += (product & WORD) ^ (product >> 64)
    return total & WORD


def bits_of(count):
    return max(0, count.bit_length() - 7)


def write(fingerprints, rules, material, empty, shard_bits=0, shard=0):  # noqa: PLR0913, PLR0917
    """Return the bytes of a set.

    Args:
        fingerprints (set[bytes]): The fingerprints.
        rules (dict): The description.
        material (bytes): The 64 bytes of the key, or zeros.
        empty (bytes): The fingerprint of the empty identifier.
    """
    rows = sorted(map(stored, fingerprints), key=order)
    text = json.dumps(rules, sort_keys=True, separators=(",", ":")).encode()
    digest = blake2b(text, digest_size=16).digest()
    while len(text) % 16 != 15:
        text += b" "
    text += b"\n"
    bits = bits_of(len(rows))
    buckets = [[] for _ in range(1 << bits)]
    for row in rows:
        high = order(row)[0] << shard_bits & WORD
        buckets[high >> (64 - bits)].append(row)
    directory, start = b"", 0
    for bucket in buckets:
        directory += start.to_bytes(8, "little") + check(bucket).to_bytes(8, "little")
        start += len(bucket)
    numbers = [(1, 4), (len(text), 4), (len(rows), 8), (bits, 4), (shard_bits, 4), (shard, 8)]
    header = MAGIC + b"".join(number.to_bytes(size, "little") for number, size in numbers)
    header += material + empty + digest + bytes(8)
    header += blake2b(header + text + directory, digest_size=16).digest()
    return header + text + b"".join(rows) + directory


def read(octets):
    """Return the fingerprints of a file (list[bytes])."""
    size, count = little(octets[12:16]), little(octets[16:24])
    rows = octets[160 + size : 160 + size + 16 * count]
    return [rows[i : i + 16] for i in range(0, len(rows), 16)]
