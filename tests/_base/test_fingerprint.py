"""Fingerprints: what docs/developing/fingerprint.md defines, by its reference implementation, and what follows."""

import copy
import os
import pickle
import random
from math import sqrt
from pathlib import Path
from threading import Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import fingerprint as naive

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import KeyBatch

EXAMPLES = int(os.environ.get("URICODEC_EXAMPLES", "50"))
DATA = Path(__file__).parents[1] / "data" / "fingerprints.tsv"
PAGE = Path(__file__).parents[2] / "docs/developing/fingerprint.md"
KEY = FingerprintKey("of the tests")
OCTETS = naive.derived("of the tests")
ZERO, P = bytes(16), naive.P.to_bytes(16, "little")
PATCHING = Lock()


def made_of(octets):
    """The key that os.urandom would have to give these octets for."""
    with PATCHING, pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.urandom", lambda size: octets[:size])
        return FingerprintKey()


def test_a_random_key_has_all_its_bytes():
    with pytest.raises(ValueError, match="64 bytes"):
        made_of(bytes(63))


def rows(key, names):
    """The fingerprints of many names, one by one."""
    return b"".join(map(key.fingerprint, names))


def batch(lines):
    """The fingerprints of lines, in one call."""
    keys = KeyBatch(KEY)
    keys.read(lines)
    return separate(keys.fingerprints)


def some_names(chance, lengths):
    """Random names that can be lines."""
    return [chance.randbytes(length).replace(b"\n", b"\r") for length in lengths]


def separate(dst):
    return [bytes(dst[i : i + 16]) for i in range(0, len(dst), 16)]


# --- what it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fill", [b"\x00", b"\xff", None])
def test_every_length(fill):
    for length in [*range(301), 383, 384, 385, 511, 512, 513, 1000, 4095, 4096, 4097]:
        name = fill * length if fill else random.Random(length).randbytes(length)
        assert KEY.fingerprint(name) == naive.fingerprint(OCTETS, name), length


def test_every_alignment():
    octets = random.Random(1).randbytes(400)
    for start in range(64):
        for length in 0, 1, 7, 8, 9, 40, 127, 128, 129, 300:
            name = memoryview(octets)[start : start + length]
            assert KEY.fingerprint(name) == naive.fingerprint(OCTETS, name)


def test_stays_inside_the_input(fences):
    for octets in some_names(random.Random(2), range(301)):
        want = naive.fingerprint(OCTETS, octets)
        for place in fences[0].at_start, fences[0].at_end:
            assert KEY.fingerprint(place(octets)) == want
            assert batch(place(octets)) == ([want] if octets else [])


def test_batches_stay_inside_the_input(fences):
    """Lines of each length where the buffer starts and ends, so many that they are sorted."""
    chance = random.Random(7)
    for length in range(1, 140):
        names = some_names(chance, [length, *range(20), length])
        for place in fences[0].at_start, fences[0].at_end:
            assert batch(place(b"\n".join(names))) == [naive.fingerprint(OCTETS, name) for name in names]


def test_every_number_of_rows(tier):
    """Batches are sorted in parts, by their numbers of words; a few rows are not."""
    chance = random.Random(8)
    lengths = [*range(20), 40, 64, 65, 127, 128, 129, 300]
    mixed = some_names(chance, chance.choices(lengths, k=2000))
    want = [naive.fingerprint(OCTETS, name) for name in mixed]
    for count in [*range(20), *range(120, 140), *range(250, 262), 400, 2000]:
        assert batch(b"".join(name + b"\n" for name in mixed[:count])) == want[:count]
    for length in range(0, 140, 3):
        names = some_names(chance, [length] * 130)
        assert batch(b"".join(name + b"\n" for name in names)) == [naive.fingerprint(OCTETS, name) for name in names]


@pytest.mark.parametrize(
    "octets",
    [
        bytes(64),
        b"\xff" * 64,
        P * 4,
        (naive.P - 1).to_bytes(16, "little") * 4,
        b"\1" + bytes(15) + P + ZERO + b"\xff" * 16,
        ZERO + (naive.P - 1).to_bytes(16, "little") * 2 + bytes(16),
        b"\xff" * 7 + bytes(8) + b"\x7f" + b"\xff" * 15 + b"\x7f" + P + b"\1" + bytes(15),
        b"\2" + bytes(15) + b"\1" + bytes(15) + (naive.P - 300).to_bytes(16, "little") + b"\xff" * 16,
    ],
    ids=range(8),
)
def test_extreme_keys(octets):
    """Carries where random numbers have none."""
    key = made_of(octets)
    for length in range(301):
        for name in b"\xff" * length, bytes(length), bytes(length // 2) + b"\xff" * (length - length // 2):
            assert key.fingerprint(name) == naive.fingerprint(octets, name), length


def test_f_at_the_ends_of_the_field():
    """c + a n for every n around p: what is p itself becomes 0."""
    for f in range(-20, 20):
        octets = ZERO + b"\1" + bytes(15) + (f % naive.P).to_bytes(16, "little") + bytes(range(16))
        key = made_of(octets)
        for length in range(21):
            assert key.fingerprint(bytes(length)) == naive.mixed(octets, (f + length) % naive.P)


def test_sums_at_the_ends_of_limbs():
    """With r = 1, a and the sum of length and words are multiplied: sums next to powers of two, and a that are some."""
    for a in *(1 << bit for bit in (0, 1, 61, 62, 63, 64, 65, 124, 125, 126)), naive.P - 1, naive.P - 2**64:
        for c in 0, 2**64 - 1, 2**126, naive.P - 1:
            octets = b"\1".ljust(16, b"\0") + a.to_bytes(16, "little") + c.to_bytes(16, "little") + bytes(16)
            key = made_of(octets)
            for words in 1, 2, 4, 8, 15, 16:
                for less in 0, 1, 2, 3, 4, 5:
                    rest = words * 2**64 - 8 * (words + 1) - less - (words - 1) * (2**64 - 1)
                    name = b"\xff" * (8 * words - 8) + rest.to_bytes(8, "little") + bytes(8)
                    assert key.fingerprint(name) == naive.fingerprint(octets, name), (a, c, words, less)


@given(key=st.binary(min_size=64, max_size=64), name=st.binary(max_size=600))
def test_random_keys_and_names(key, name):
    assert made_of(key).fingerprint(name) == naive.fingerprint(key, name)


@given(text=st.text(min_size=1), name=st.text())
def test_text_is_its_utf8(tier, text, name):
    key, octets = FingerprintKey(text), name.encode()
    assert key.fingerprint(name) == key.fingerprint(octets) == naive.fingerprint(naive.derived(text), octets)


def test_long_text(tier):
    for text in "a" * 10_000, "é" * 10_000, "\U00020000" * 10_000:
        assert KEY.fingerprint(text) == naive.fingerprint(OCTETS, text.encode())


def test_vectors():
    for line in DATA.read_text("ascii").splitlines()[1:]:
        key, name, want = (bytes.fromhex(field) for field in line.split("\t"))
        assert FingerprintKey(key).fingerprint(name) == want, line
    assert naive.fingerprint(naive.derived(key), name) == want


# --- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_of_any_kind():
    for key in b"secret", bytearray(b"secret"), memoryview(b"xsecret")[1:], memoryview(b"s.e.c.r.e.t.")[::2]:
        assert FingerprintKey(key) == FingerprintKey("secret") == FingerprintKey(secret=key)
    assert FingerprintKey("é") == FingerprintKey(b"\xc3\xa9")
    long = FingerprintKey("x" * 100_000)
    assert long.fingerprint("a") == naive.fingerprint(naive.derived("x" * 100_000), b"a")


def test_random_keys_differ():
    keys = {FingerprintKey() for _ in range(100)}
    assert len(keys) == len({key.fingerprint("a") for key in keys}) == 100


def test_equality():
    assert made_of(bytes(range(64))) == made_of(bytes(range(64))) != FingerprintKey()
    assert FingerprintKey("a") == FingerprintKey("a") != FingerprintKey("b")
    assert hash(FingerprintKey("a")) == hash(FingerprintKey("a"))
    assert FingerprintKey("a") != "a"


@pytest.mark.parametrize("shown", [repr, str, "{}".format])
def test_a_key_is_not_shown(shown):
    assert shown(FingerprintKey("secret")) == "FingerprintKey(secret=...)"
    assert shown(FingerprintKey()) == "FingerprintKey()"


def test_a_given_key_can_be_pickled():
    key = FingerprintKey("é")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(key, protocol))
        assert again == key
        assert again.fingerprint("a") == key.fingerprint("a")
    assert copy.deepcopy(key) == key


def test_a_random_key_cannot_be_pickled():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="random"):
            pickle.dumps(FingerprintKey(), protocol)


@pytest.mark.parametrize("key", ["", b"", bytearray()])
def test_an_empty_key_is_rejected(key):
    with pytest.raises(ValueError, match="empty"):
        FingerprintKey(key)


def test_rejects_other_types():
    for wrong in 1, 1.5, ["a"], object():
        with pytest.raises(TypeError):
            FingerprintKey(wrong)
        with pytest.raises(TypeError):
            KEY.fingerprint(wrong)
    with pytest.raises(TypeError):
        KEY.fingerprint(None)
    with pytest.raises(ValueError, match="lone surrogate in the secret"):
        FingerprintKey("\ud800")
    with pytest.raises(UnicodeEncodeError):
        KEY.fingerprint("a" * 1000 + "\ud800")


# --- how good it is ---------------------------------------------------------------------------------------------------
# Keys, seeds and so all counts are fixed. Bounds are six standard deviations of what chance would give.


def flipped(dst, other):
    """How often each of the 128 bits differs."""
    differ = (int.from_bytes(dst, "little") ^ int.from_bytes(other, "little")).to_bytes(len(dst), "little")
    columns = [int.from_bytes(differ[octet::16], "little") for octet in range(16)]
    ones = int.from_bytes(b"\1" * (len(dst) // 16), "little")
    return [bin(columns[bit // 8] >> bit % 8 & ones).count("1") for bit in range(128)]


def about_half(counts, trials):
    """Every count is what coins give, and so is their spread."""
    deviations = [(count - trials / 2) / (sqrt(trials) / 2) for count in counts]
    assert max(map(abs, deviations)) < 6
    assert abs(sum(deviations)) < 6 * sqrt(len(counts))
    spread = sum(deviation**2 for deviation in deviations)
    assert spread < len(counts) + 6 * sqrt(2 * len(counts))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 8, 20, 40, 130])
def test_every_bit_of_a_name_flips_half_of_the_bits(length):
    trials = 512
    chance = random.Random(length)
    names = [chance.randbytes(length) for _ in range(trials)]
    before, counts = rows(KEY, names), []
    for bit in range(0, 8 * length, 1 if length < 100 else 5):
        octet, flip = bit // 8, 1 << bit % 8
        others = [b"%b%c%b" % (name[:octet], name[octet] ^ flip, name[octet + 1 :]) for name in names]
        counts += flipped(before, rows(KEY, others))
    if length == 1:  # 256 names only, in pairs
        assert max(abs(count - trials / 2) for count in counts) < 6 * sqrt(trials * trials / 256)
    else:
        about_half(counts, trials)


@pytest.mark.slow
def test_every_bit_of_a_key_flips_half_of_the_bits():
    trials = 128
    chance = random.Random(64)
    keys = [chance.randbytes(64) for _ in range(trials)]
    names = [chance.randbytes(chance.randrange(1, 80)) for _ in range(trials)]
    before = b"".join(made_of(key).fingerprint(name) for key, name in zip(keys, names, strict=True))
    counts = []
    for bit in range(512):
        mask = 1 << bit
        others = [(int.from_bytes(key, "little") ^ mask).to_bytes(64, "little") for key in keys]
        after = b"".join(made_of(key).fingerprint(name) for key, name in zip(others, names, strict=True))
        if bit in {127, 255, 383}:  # the ignored ones
            assert after == before
        else:
            counts += flipped(before, after)
    about_half(counts, trials)


def test_every_bit_of_a_given_key_flips_half_of_the_bits():
    trials = 256
    names = [b"%d" % i for i in range(trials)]
    before = rows(FingerprintKey(b"a key of some octets"), names)
    counts = []
    for bit in range(160):
        key = (int.from_bytes(b"a key of some octets", "little") ^ 1 << bit).to_bytes(20, "little")
        counts += flipped(before, rows(FingerprintKey(key), names))
    about_half(counts, trials)


def urns_with_one_other_digit(count):
    """Each of them differs from the first in one digit, or in two."""
    first = "urn:uuid:00000000-0000-0000-0000-000000000000:00000000000000000000"
    places = [i for i, c in enumerate(first) if c == "0"]
    yield first.encode()
    made = 1
    for i, one in enumerate(places):
        for digit in "123456789":
            name = f"{first[:one]}{digit}{first[one + 1 :]}"
            yield name.encode()
            for two in places[i + 1 :]:
                for other in "123456789":
                    yield f"{name[:two]}{other}{name[two + 1 :]}".encode()
                    made += 1
                    if made == count:
                        return


STRUCTURED = {
    "counters": lambda count: (b"urn:example:%d" % i for i in range(count)),
    "padded counters": lambda count: (b"urn:example:item:%024d" % i for i in range(count)),
    "binary counters": lambda count: (i.to_bytes(8, "little") for i in range(count)),
    "counters of the second word": lambda count: (bytes(8) + i.to_bytes(8, "little") for i in range(count)),
    "counters of high octets": lambda count: (i.to_bytes(40, "big") for i in range(count)),
    "steps": lambda count: ((i << 40).to_bytes(8, "little") for i in range(count)),
    "one other digit": urns_with_one_other_digit,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*STRUCTURED, "lengths"])
@pytest.mark.parametrize("bits", [1, 6, 10])
def test_partitions_of_structured_names_are_even(kind, bits):
    """By any bits: the lowest, the highest, and some in the middle."""
    count = 20_000
    if kind == "lengths":
        count = 5000
        names = [b"\0" * i for i in range(count)]
    else:
        names = list(STRUCTURED[kind](count))
    count = len(names)
    prints = [int.from_bytes(dst, "little") for dst in separate(rows(KEY, names))]
    parts = 1 << bits
    for shift in 0, 31, 60, 64, 100, 127 - bits, 128 - bits:
        sizes = [0] * parts
        for bits_of_name in prints:
            sizes[bits_of_name >> shift & (parts - 1)] += 1
        chi = sum((size - count / parts) ** 2 for size in sizes) / (count / parts)
        assert chi < parts - 1 + 6 * sqrt(2 * (parts - 1)) + 12, (shift, chi)


@pytest.mark.slow
def test_structured_names_do_not_collide():
    """Neither in 128 bits nor, more often than by chance, in 40 of them."""
    count = 10_000 * EXAMPLES // len(STRUCTURED) + 1
    names = {name for kind in STRUCTURED.values() for name in kind(count)}
    prints = separate(rows(KEY, list(names)))
    assert len(set(prints)) == len(names)
    for shift in 0, 5, 11:
        same = len(names) - len({name[shift : shift + 5] for name in prints})
        expected = len(names) ** 2 / 2**41
        assert same <= expected + 6 * sqrt(expected) + 6


def crafted():
    """Names that simple hashes give the same value."""
    word = b"urn:ex:a"
    yield from (b"\0" * length for length in range(300))
    yield from (word + b"\0" * length for length in range(200))
    yield from (b"\0" * length + word for length in range(1, 200))
    yield from (word * times for times in range(2, 60))
    for blocks in 2, 3, 15, 16, 17, 32, 33:  # words swapped, and chunks of 16 words
        words = [b"%08d" % i for i in range(blocks)]
        for i in range(blocks):
            for j in range(i):
                swapped = words.copy()
                swapped[i], swapped[j] = words[j], words[i]
                yield b"".join(swapped)
        yield b"".join(words)
        yield b"".join(reversed(words))
    # Words that are 0 in a smaller ring, at one place or at all but one.
    for value in 0, 1, 2**63, 2**63 - 1, 2**64 - 2, 2**64 - 1:
        for place in range(20):
            yield bytes(8 * place) + value.to_bytes(8, "little") + bytes(8 * (40 - place))
            yield b"\xff" * 8 * place + value.to_bytes(8, "little") + b"\xff" * 8 * (40 - place)
    # The length against the words: lengths of 8 and 9 whose sums with words are equal.
    yield from ((100 - length).to_bytes(8, "little") + b"\0" * (length - 8) for length in range(8, 60))


def test_crafted_names_differ():
    names = set(crafted())
    for key in KEY, FingerprintKey("x"), made_of(random.Random(5).randbytes(64)):
        assert len({key.fingerprint(name) for name in names}) == len(names)


@pytest.mark.parametrize("r", [0, 1, naive.P - 1])
def test_the_bound_is_of_roots(r):
    """Under the few r that are roots of a difference, names do collide: the proof needs the key to be random."""
    key = made_of(r.to_bytes(16, "little") + random.Random(6).randbytes(48))
    a, b, zero = b"urn:ex:a", b"urn:ex:b", bytes(8)
    same = {0: [a, b], 1: [a + b, b + a], naive.P - 1: [a + zero + b, b + zero + a]}[r]
    assert key.fingerprint(same[0]) == key.fingerprint(same[1])
    assert KEY.fingerprint(same[0]) != KEY.fingerprint(same[1])
