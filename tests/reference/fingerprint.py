"""The reference implementation of fingerprints: docs/developing/fingerprint.md, word for word, in Python's integers."""

from hashlib import blake2b

P = 2**127 - 1


def derived(text):
    """The 64 octets that a given key stands for."""
    octets = text.encode("utf-8") if isinstance(text, str) else bytes(text)
    return blake2b(octets, digest_size=64, person=b"uricodec-finger1").digest()


def numbers(octets):
    """r, a, c, and the two words of the mixing."""
    r, a, c = (int.from_bytes(octets[i : i + 16], "little") % 2**127 % P for i in (0, 16, 32))
    return r, a or 1, c, int.from_bytes(octets[48:56], "little"), int.from_bytes(octets[56:64], "little")


def polynomial(octets, name):
    """f, before it is mixed."""
    r, a, c, _, _ = numbers(octets)
    words = [int.from_bytes(name[i : i + 8], "little") for i in range(0, len(name), 8)]
    total = len(name)
    for i, word in enumerate(reversed(words), 1):
        total += word * pow(r, i, P)
    return (c + a * total) % P


def folded(x, y):
    product = x * y
    return product % 2**64 ^ product >> 64


def mixed(octets, f):
    """The fingerprint that f becomes."""
    _, _, _, k, m = numbers(octets)
    low, high = f % 2**64, f >> 64
    for _ in range(2):
        high ^= folded(low, k) >> 1
        low ^= folded(high, m)
    bits = high << 64 | low
    return (bits | bin(bits).count("1") % 2 << 127).to_bytes(16, "little")


def fingerprint(octets, name):
    return mixed(octets, polynomial(octets, bytes(name)))
