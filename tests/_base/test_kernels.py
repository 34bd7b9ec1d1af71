"""Every kernel against its reference implementation, on the portable tier and on the best that this CPU has.

_base/test_kernel_bounds.py checks what a kernel loads and stores, on every tier.
"""

import itertools
import os
import random
import shutil
import subprocess
import sys
from array import array
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import codec as naive
from support.kernels import run_kernel

import uricodec
from uricodec import ByteSet
from uricodec._base import _kernels

LETTERS = ByteSet("abcdefghijklmnopqrstuvwxyz")
UNRESERVED = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
ALL = ByteSet(range(256))
SETS = [ByteSet(), ALL, UNRESERVED, ~UNRESERVED, ByteSet(range(128)), ByteSet(range(128, 256)), LETTERS | b" \x00\xff"]
SETS += [ByteSet(random.Random(seed).sample(range(256), size)) for seed, size in enumerate((1, 16, 128, 128, 240, 255))]

# Around the ends of words and of blocks of 16, 32 and 64 bytes, of which there are two.
LENGTHS = [*range(20), *range(30, 35), *range(46, 50), *range(62, 68), 95, 96, 97, 127, 128, 129]
CANARY = b"\xee" * 48
ONES = 2**64 - 1
CODES = ["encode", "decode"]


# Helpers


def guarded_run(name, src, octets, plus, capacity):
    """What the kernel writes into `capacity` bytes between canaries; None if it says that they are too few."""
    buffer = bytearray(CANARY + bytes(capacity) + CANARY)
    dst = memoryview(buffer)[len(CANARY) : len(CANARY) + capacity]
    written = run_kernel(name, src, dst, octets, plus)
    assert buffer.startswith(CANARY), f"{name} wrote before dst: {bytes(src)!r}"
    assert buffer.endswith(CANARY), f"{name} wrote behind dst: {bytes(src)!r}"
    return None if written < 0 else bytes(dst[:written])


@lru_cache(1 << 17)  # it is the same on each tier
def known(name, *arguments):
    return getattr(naive, name)(*arguments)


def reference(name, src, octets, plus):
    src = bytes(src)
    return known("encode", src, octets, plus) if name == "encode" else known("decode", src, plus)


def check_scan(src, octets):
    """span, count_outside and mark_outside."""
    for name in "span", "count_outside":
        made = run_kernel(name, src, byte_set=octets)
        assert made == known(name, src, octets), f"{name}({bytes(src)!r}, {octets!r})"
    want = known("mark_outside", src, octets)
    # Every bit is set before, and a word more than there is to write.
    words = array("Q", [ONES] * (len(want) + 1))
    assert run_kernel("mark_outside", src, words, octets) == 0
    assert words.tolist() == [*want, ONES], f"mark_outside({bytes(src)!r}, {octets!r})"


def check_triplets(src):
    """mark_triplets, with every bit set before and a word more than there is to write."""
    want = [word for words in known("mark_triplets", bytes(src)) for word in words]
    words = array("Q", [ONES] * (len(want) + 1))
    assert run_kernel("mark_triplets", src, words) == (b"%" in src), f"mark_triplets({bytes(src)!r})"
    assert words.tolist() == [*want, ONES], f"mark_triplets({bytes(src)!r})"


def check_code(name, src, octets=ALL, plus=False):
    """encode or decode: with plenty of room, with exactly enough, and with one byte less. decode also marks."""
    if name == "decode":
        check_triplets(src)
    want = reference(name, src, octets, plus)
    case = f"{name}({bytes(src)!r}, {octets!r}, plus={plus})"
    assert guarded_run(name, src, octets, plus, len(want) + 200) == want, case
    assert guarded_run(name, src, octets, plus, len(want)) == want, f"{case} with exact room"
    if want:
        assert guarded_run(name, src, octets, plus, len(want) - 1) is None, f"{case} with one byte too few"


def placed(special, length, fill=b"a"):
    """`special` (cut off at the end) at every position of `length` bytes of `fill`."""
    for position in range(length):
        yield (fill * position + special)[:length] + fill * (length - position - len(special))


# span, count_outside and mark_outside


def test_scan_finds_one_byte_anywhere(tier):
    for inverted, length in itertools.product((False, True), LENGTHS):
        for special in (b"\x00", b"\xff") if length else ():
            octets = ~ByteSet(special) if inverted else LETTERS
            for src in placed(special, length):
                check_scan(src, octets)


def test_scan_looks_up_every_byte_in_every_lane(tier):
    octets = bytes(range(256))
    for members in SETS:
        for shift in range(34):
            check_scan(octets[shift:] + octets[:shift], members)
        for octet in range(256):
            check_scan(bytes([octet]), members)
            check_scan(bytes([octet]) * 33, members)


@given(src=st.binary(max_size=300), members=st.frozensets(st.integers(0, 255)))
def test_scan_of_random_sets(tier, src, members):
    check_scan(src, ByteSet(members))
    check_scan(src, ~ByteSet(members))


@given(src=st.binary(max_size=300), classes=st.binary(min_size=36, max_size=36))
def test_classes(tier, src, classes):
    want = naive.mark_classes(src, classes[:16], classes[16:32], classes[32:])
    words = array("Q", [ONES] * (len(want) + 1))
    assert run_kernel("mark_classes", src, words, classes=classes) == 0
    assert words.tolist() == [*want, ONES]


def test_classes_look_up_every_byte_in_every_lane(tier):
    low, high = bytes(1 << i % 8 for i in range(16)), bytes(0xFF - i for i in range(16))
    for shift in range(256):
        src = bytes((shift + i) % 256 for i in range(shift))
        want = naive.mark_classes(src, low, high, b"\x01\x12\x80\xff")
        words = array("Q", [ONES] * len(want))
        assert run_kernel("mark_classes", src, words, classes=low + high + b"\x01\x12\x80\xff") == 0
        assert words.tolist() == want


# encode


@pytest.mark.slow
def test_encode_one_byte_anywhere(tier):
    pairs = (b"a", b" "), (b" ", b"a"), (b"a", b"\xff"), (b"\x80", b"~")
    for (fill, special), length in itertools.product(pairs, LENGTHS):
        for src in placed(special, length, fill):
            check_code("encode", src, UNRESERVED)


def test_encode_every_byte_in_every_lane(tier):
    octets = bytes(range(256))
    for safe in SETS:
        for shift in range(34):
            for plus in False, True:
                check_code("encode", octets[shift:] + octets[:shift], safe, plus)


def test_encode_every_pattern_of_a_group(tier):
    """All combinations of safe and unsafe in 8 bytes, at the places of a block."""
    for pattern in range(256):
        eight = bytes(0x20 if pattern >> i & 1 else 0x61 + i for i in range(8))
        for place in range(5):
            check_code("encode", b"." * 8 * place + eight + b" " * 8 * (4 - place), UNRESERVED)


def test_encode_plus(tier):
    """A space becomes '+' only if it is safe; what happens to '+' is up to the set alone."""
    sets = UNRESERVED, UNRESERVED | " ", UNRESERVED | "+", UNRESERVED | " +", ByteSet(" "), ALL
    for safe, plus, length in itertools.product(sets, (False, True), LENGTHS):
        check_code("encode", (b"a + b" * length)[:length], safe, plus)
        check_code("encode", b" " * length, safe, plus)


def test_encode_runs_of_escapes(tier):
    """What begins and ends inside of a vector, and what fills vectors."""
    for shift, length in itertools.product([0, 15, 16, 17, 31], range(0, 100, 3)):
        src = b"a" * shift + b"\xe3" * length + b"b" * (100 - length)
        for safe in UNRESERVED, UNRESERVED | b" \xff":
            check_code("encode", src, safe)
            check_code("encode", src[::-1], safe)


@given(
    src=st.one_of(st.binary(max_size=400), st.text("ab /%+é", max_size=400).map(str.encode)),
    members=st.frozensets(st.integers(0, 255)),
    complement=st.booleans(),
    plus=st.booleans(),
)
def test_encode_random_sets(tier, src, members, complement, plus):
    check_code("encode", src, ~ByteSet(members) if complement else ByteSet(members), plus)


# decode


@pytest.mark.slow
def test_decode_one_triplet_anywhere(tier):
    specials = b"%41", b"%", b"%4", b"%4g", b"%g4", b"%%41", b"%4%41", b"%%%", b"+"
    for special, length in itertools.product(specials, LENGTHS):
        for src in placed(special, length):
            check_code("decode", src)


@pytest.mark.slow
def test_decode_among_digits(tier):
    """Hexadecimal digits all around: none of them belongs to a '%' that is further away."""
    for special, length in itertools.product([b"%41", b"%", b"%4g", b"%%", b"+"], LENGTHS):
        for src in placed(special, length, b"4"):
            check_code("decode", src, plus=True)


@pytest.mark.slow
def test_decode_every_pair_after_a_percent_sign(tier):
    for shift, first in itertools.product([0, 1, 2, 31], range(256)):
        check_code("decode", b"." * shift + b"".join(b"%%%c%c." % (first, second) for second in range(256)))


def tilings(length):
    """All that `length` bytes can be made of, if the last triplet may go beyond them: bytes and triplets."""
    if length <= 0:
        yield b""
        return
    for rest in tilings(length - 1):
        yield b"5" + rest
    for rest in tilings(length - 3):
        yield b"%4a" + rest


def test_decode_every_pattern_of_sixteen(tier):
    """Every combination of digits to drop in 16 bytes, at the places of a step, and those behind it."""
    for pattern in tilings(16):
        for shift in 0, 14, 15, 16, 32, 48:
            check_copy("upper_triplets", b"." * shift + pattern + b"e" * 70)
            src = b"." * shift + pattern + b"e" * 80
            dst = bytearray(len(src))
            written = run_kernel("decode", src, dst)
            assert dst[:written] == naive.decode(src), src


@pytest.mark.slow
def test_decode_runs_of_triplets(tier):
    for offset, length in itertools.product(range(41), [*range(20), 31, 32, 42, 43, 60]):
        triplets = b"".join(b"%%%02x" % (offset + 3 * i & 0xFF) for i in range(length))
        for tail in b"", b"%", b"%4", b"b" * 40:
            check_code("decode", b"a" * offset + triplets + tail)


@pytest.mark.parametrize("digits", ["%%%02x", "%%%02X"])
def test_decode_run_of_all_bytes(tier, digits):
    triplets = "".join(digits % octet for octet in range(256)).encode()
    for offset in range(49):
        check_code("decode", b"a" * offset + triplets)


@pytest.mark.slow
def test_decode_runs_with_a_fault(tier):
    run = b"%4a%B5" * 16
    faults = b"%", b"g", b"G", b"/", b":", b"@", b"`", b"0", b"\xb4", b"\xc1", b"\x00"
    for offset, fault, position in itertools.product([0, 1, 2, 31], faults, range(len(run))):
        check_code("decode", b"a" * offset + run[:position] + fault + run[position + 1 :])


ONCE = [(b"%%41", b"%A"), (b"%4%41", b"%4A"), (b"%%%", b"%%%"), (b"%%%41", b"%%A"), (b"%%341", b"%41")]
ONCE += [(b"%2541", b"%41"), (b"%%32%65", b"%2e"), (b"%25%34%31", b"%41"), (b"%u002f", b"%u002f"), (b"%00", b"\x00")]
ONCE += [(b"%+41%2B+", b"%+41++")]


def test_decode_decodes_once(tier):
    """What is decoded never becomes a part of a triplet."""
    for (src, want), offset, tail in itertools.product(ONCE, range(70), (b"", b"." * 64)):
        assert guarded_run("decode", b"." * offset + src + tail, ALL, False, 200) == b"." * offset + want + tail


def test_decode_plus(tier):
    for plus, length in itertools.product((False, True), LENGTHS):
        check_code("decode", (b"+" * length), plus=plus)
        check_code("decode", (b"a+%2b%2B+" * length)[:length], plus=plus)


PIECES = [b"%41", b"%e2%82%AC", b"%", b"%%", b"%4", b"%zz", b"%2", b"5", b"+", b" ", b"\x00", b"\xff"]
mixes = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.binary(max_size=8),
        st.builds(bytes.__mul__, st.sampled_from([b"a", b"%4a", b"%", b"4"]), st.integers(0, 70)),
    ),
    max_size=60,
).map(b"".join)


@given(src=mixes, plus=st.booleans())
def test_decode_random_mixes(tier, src, plus):
    check_code("decode", src, plus=plus)


@given(src=mixes, plus=st.booleans())
def test_decode_in_place(tier, src, plus):
    check_in_place(src, plus)


def test_decode_in_place_between_runs(tier):
    """A run's bytes take no place that is still to be read, however it is reached and left."""
    for length, offset in itertools.product([1, 5, 6, 7, 15, 16, 17, 33], range(20)):
        for gap in b"", b"a", b"%", b"%4", b"%zz", b"aa%4":
            check_in_place(b"a" * offset + (b"%4a" * length + gap) * 6, False)


def check_in_place(src, plus):
    buffer = bytearray(src)
    written = run_kernel("decode", buffer, buffer, plus=plus)
    assert bytes(buffer[:written]) == naive.decode(src, plus), f"decode in place: {src!r}, plus={plus}"


def test_decode_in_place_at_every_offset(tier):
    for offset in range(70):
        for src in b"%41", b"%4a" * 40, b"%%41", b"%4", b"%" * 50, b"%41a" * 30, b"a" * 50 + b"%41" * 3:
            check_in_place(b"a" * offset + src, False)
            check_in_place(b"a" * offset + src + b"b" * 40, True)


# upper_triplets and normalize_urns


def check_copy(name, src, end=b"\n"):
    """From src to elsewhere, and in place."""
    want = known(name, src) if name == "upper_triplets" else known(name, src, end)
    buffer = bytearray(CANARY + bytes(len(src)) + CANARY)
    dst = memoryview(buffer)[len(CANARY) : len(CANARY) + len(src)]
    assert run_kernel(name, src, dst, end=end[0]) == 0
    assert buffer == CANARY + want + CANARY, f"{name}({bytes(src)!r})"
    buffer = bytearray(src)
    assert run_kernel(name, buffer, buffer, end=end[0]) == 0
    assert buffer == want, f"{name}({bytes(src)!r}) in place"


COPIES = ["upper_triplets", "normalize_urns"]


@pytest.mark.slow
@pytest.mark.parametrize("fill", [b"a", b"g", b"%"])
def test_upper_one_triplet_anywhere(tier, fill):
    specials = b"%4a", b"%", b"%4", b"%ag", b"%ga", b"%%aa", b"%a%aa", b"%%%", b"%fF"
    for special, length in itertools.product(specials, LENGTHS):
        for src in placed(special, length, fill):
            check_copy("upper_triplets", src)


@pytest.mark.slow
def test_upper_every_pair_after_a_percent_sign(tier):
    for shift, first in itertools.product([0, 1, 2, 31, 62], range(256)):
        src = b"." * shift + b"".join(b"%%%c%c." % (first, second) for second in range(256))
        check_copy("upper_triplets", src)
        check_copy("normalize_urns", b"urn:a:" + src)


@pytest.mark.slow
@pytest.mark.parametrize("fill", [b"A", b":", b"\n", b"%aa"])
def test_normalize_one_urn_anywhere(tier, fill):
    specials = b"urn:", b"URN:A:%aA", b"\nUrN:B:B", b"\nurn::%aa", b"\nurn:A\n", b"urn:%aA:%aA"
    for special, length in itertools.product(specials, LENGTHS):
        for src in placed(special, length, fill):
            check_copy("normalize_urns", src[:length])


def test_normalize_a_nid_of_every_length(tier):
    """The second colon is in any later block, or there is none."""
    for length in range(300):
        for before in b"", b"URN:a:%aa\n", b"." * 61 + b"\n":
            for after in b":%aAbB", b":", b"", b"\nURN:A", b"\nurm:A:%aa":
                check_copy("normalize_urns", before + b"URN:" + b"A" * length + after)


def test_normalize_every_byte_in_every_place(tier):
    for octet in range(256):
        if octet != ord("\n"):
            for template in (
                b"?rn:A:%aa",
                b"u?n:A:%aa",
                b"ur?:A:%aa",
                b"urn?A:%aa",
                b"urn:A?%aa",
                b"urn:?A:%aa",
                b"urn:A:?aa",
            ):
                for shift in 0, 27, 58:
                    check_copy("normalize_urns", b"." * shift + b"\n" + template.replace(b"?", bytes([octet])))


urn_lines = st.lists(
    st.one_of(
        st.sampled_from(
            [b"urn:", b"URN:ISBN:", b"\n", b":", b"%", b"%aA", b"%4", b"uRn", b"\nurn:x:", b"\x00", b"\x80K"]
        ),
        st.binary(max_size=4),
        st.builds(bytes.__mul__, st.sampled_from([b"a", b"%4a", b"A", b":"]), st.integers(0, 70)),
    ),
    max_size=60,
).map(b"".join)


@given(src=urn_lines)
def test_normalize_random_lines(tier, src):
    check_copy("normalize_urns", src)
    check_copy("normalize_urns", src.replace(b"\n", b"\0"), b"\0")
    check_copy("upper_triplets", src)


# What wide blocks make special: positions in 64 bytes, runs of clean blocks, carries between blocks


def test_scan_of_every_set_of_one_byte(tier):
    """Each byte, from 0x80 on as well, alone in a set and alone outside of it."""
    octets = bytes(range(256))
    for octet in octets:
        for members in ByteSet([octet]), ~ByteSet([octet]):
            check_scan(octets[octet:] + octets[:octet], members)
            check_code("encode", octets, members, plus=True)


@pytest.mark.parametrize("fill", [b"a", b" "])
def test_encode_every_pair_of_bytes_in_a_block(tier, fill):
    """Two escapes (or two bytes that stay) at all places of 64 bytes; the same with a third one at a block's end."""
    other = b" " if fill == b"a" else b"a"
    for first in range(64):
        for second in range(first, 64):
            for last in () if second % 8 else (31, 63):
                block = bytearray(fill * 200)
                block[first], block[second], block[last] = other * 3
                assert guarded_run("encode", block, UNRESERVED, False, 800) == reference(
                    "encode", block, UNRESERVED, False
                )
            block = bytearray(fill * 135)
            block[first], block[second] = other * 2
            assert guarded_run("encode", block, UNRESERVED, False, 600) == reference("encode", block, UNRESERVED, False)


def check_both(src, plus):
    """decode, and encode with exact room."""
    assert guarded_run("decode", src, ALL, plus, len(src)) == reference("decode", src, ALL, plus), f"{src!r}"
    safe = UNRESERVED | " +"
    want = reference("encode", src, safe, plus)
    assert guarded_run("encode", src, safe, plus, len(want)) == want, f"{src!r}"


@pytest.mark.slow
@pytest.mark.parametrize("special", [b" ", b"%41", b"%zz", b"%4"])
def test_codes_of_few_escapes(tier, special):
    """One, two or three at all places of 64 bytes and over their end, with and without one just before them."""
    others = itertools.cycle([(b"", b""), (b"%41", b""), (b"", b"%42")])
    for second, first in itertools.product((0, 3, 4, 31, 32, 61, 62, 63, 64, 65, 66, 67, 130), range(67)):
        before, third = next(others)
        src = bytearray(b"+b" * 180)
        for place, octets in (66 - len(before), before), (64 + first, special), (64 + first + second, special):
            src[place : place + len(octets)] = octets
        src[180 : 180 + len(third)] = third
        check_both(bytes(src), bool(first % 2))


@pytest.mark.slow
@pytest.mark.parametrize("special", [b"%41", b"%", b"\xff", b" +", b"%4a%4B%4"])
def test_codes_of_clean_runs(tier, special):
    """Blocks with work, then none for long, then again: what is carried over neither stays nor gets lost."""
    for before, position in itertools.product(
        [0, 1, 63, 150], [*LENGTHS, *range(190, 194), *range(254, 259), 320, 419]
    ):
        src = (b"%41 b" * before)[:before] + b"a" * position + special + b"+" * (430 - position)
        for plus in False, True:
            check_both(src, plus)


@pytest.mark.parametrize("octets", [b"\x80", b"\xff", b"\xc3\xa9", bytes(range(128, 256))])
def test_encode_clean_runs_of_high_bytes(tier, octets):
    for length in 1, 31, 64, 127, 128, 129, 300, 700:
        for fill in octets, b"a":
            src = (fill * length)[:length]
            check_code("encode", src, UNRESERVED | octets)
            check_code("encode", src + b" ", UNRESERVED | octets | " ", plus=True)


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_every_length_and_start(tier, name):
    """Triplets and lines across every edge of two blocks of 64."""
    pieces = b"URN:Nid:%4a%B5%cD\nuRn:A%aA:%aA\nurl:A:%aa\nurn:" + b"B" * 60 + b":%aa%a\n"
    for start in range(len(pieces)):
        text = (pieces[start:] + pieces * 3)[:200]
        for length in 1, 2, 3, 4, 62, 63, 64, 65, 66, 67, 68, 126, 127, 128, 129, 130, 131, 132, 190, 191, 192, 200:
            check_copy(name, text[:length])


@given(src=urn_lines, end=st.sampled_from([b"\n", b"\0", b" ", b"\xff", b"/"]))
def test_normalize_other_line_ends(tier, src, end):
    check_copy("normalize_urns", src.replace(b"\n", end), end)


# move_ends


def check_ends(marks, ends, by):
    words = array("I", [*ends, *[0] * len(marks)])
    moved, at_end = naive.move_ends(marks, ends, by)
    case = f"move_ends({marks}, {ends}, {by})"
    assert run_kernel("move_ends", array("Q", marks), words, width=by) == at_end, case
    assert words.tolist()[: len(ends)] == moved, case


@pytest.mark.parametrize("by", [0, 2, 2**32 - 1])
def test_ends_at_every_bit(tier, by):
    for marks in [ONES] * 3, [0] * 3, [1, 1 << 63, 0], [1 << 63, 1, 5 << 31]:
        check_ends(marks, list(range(192)), by)
        for end in range(192):
            check_ends(marks, [end], by)
    check_ends([], [], by)


@given(st.lists(st.integers(0, ONES), min_size=1, max_size=9), st.data(), st.sampled_from([1, 2, 2**32 - 1]))
def test_ends_anywhere(tier, marks, data, by):
    check_ends(marks, sorted(data.draw(st.lists(st.integers(0, 64 * len(marks) - 1), max_size=60))), by)


# All tiers are one


@pytest.mark.parametrize("name", ["span", "count_outside", "mark_outside", "encode", "decode"])
def test_tiers_agree_on_long_inputs(tier, name):
    chance = random.Random(3986)
    parts = [b"/path/of%20some/length", b"%e3%81%82" * 9, b"\x00\xff", b"%", b"%4", b"+", b" ", b"%%41"]
    long = b"".join(chance.choices(parts, k=40_000))
    for src in long, chance.randbytes(300_000), b"a" * 300_000 + b"%", b"%41" * 100_000:
        for octets in UNRESERVED, ALL - "%", ~UNRESERVED:
            for plus in False, True:
                got = []
                for each in "portable", tier:
                    _kernels.use_tier(each)
                    dst = bytearray(3 * len(src))
                    written = run_kernel(name, src, dst, octets, plus)
                    got.append((written, dst if name == "mark_outside" else dst[:written] if name in CODES else None))
                # Not compared by assert: its report of half a megabyte would take minutes.
                if got[0] != got[1]:
                    pytest.fail(f"{name} with {octets!r}, plus={plus}, differs from portable")


# The choice of a tier


def test_fixture_chooses_the_tier(tier):
    assert uricodec.cpu_tier() == tier


def test_tier_is_the_best_by_default():
    assert uricodec.cpu_tiers()[0] == "portable"
    assert len(set(uricodec.cpu_tiers())) == len(uricodec.cpu_tiers())
    assert reported_tier("") == uricodec.cpu_tiers()[-1]


def reported_tier(value):
    code = "import uricodec; print(uricodec.cpu_tier())"
    environment = os.environ | {"URICODEC_TIER": value}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@pytest.mark.parametrize("name", uricodec.cpu_tiers())
def test_environment_forces_a_tier(name):
    assert reported_tier(name) == name


@pytest.mark.parametrize("name", ["mmx", "AVX2 ", "0"])
def test_environment_with_an_unknown_tier_fails_at_import(name):
    assert f"ValueError: kernel tier {name!r} is not available" in reported_tier(name)


def run_with_an_unknown_tier(*arguments, folder=None):
    environment = os.environ | {"URICODEC_TIER": "foo"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_line_rejects_an_unknown_tier(tmp_path):
    script = tmp_path / "uricodec"  # as installers write it
    script.write_text("import sys\nfrom uricodec.cli import main\nsys.exit(main())\n")
    tiers = ", ".join(uricodec.cpu_tiers())
    said = f"uricodec: URICODEC_TIER: kernel tier 'foo' is not available on this CPU; choose from {tiers}\n"
    for program in (["-m", "uricodec"], ["-muricodec"], ["-Bm", "uricodec"], [str(script)]):
        assert run_with_an_unknown_tier(*program, "decode", "-o", "no-such-folder/out") == (2, "", said)


def test_other_programs_raise_for_an_unknown_tier(tmp_path):
    """A package that runs as python -m is imported while sys.argv[0] is "-m"."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import uricodec\n")
    (tmp_path / "package" / "__main__.py").write_text("")
    for program in (["-m", "package"], ["-m", "package", "uricodec"], ["-c", "import uricodec", "uricodec"]):
        status, _, said = run_with_an_unknown_tier(*program, folder=tmp_path)
        assert status == 1 and "ValueError: kernel tier 'foo' is not available" in said


QEMU = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")


def is_for_x86_64(path):
    """An ELF file whose e_machine says so."""
    header = Path(path).read_bytes()[:20]
    return header[:4] == b"\x7fELF" and header[18:] == b"\x3e\0"


@pytest.mark.skipif(
    not QEMU or not is_for_x86_64(sys.executable) or "LD_PRELOAD" in os.environ,
    reason="needs QEMU and a Python for x86-64",
)
@pytest.mark.parametrize(
    ("cpu", "tiers"),
    [("qemu64,-ssse3", ["portable"]), ("core2duo", ["portable", "ssse3"]), ("Nehalem", ["portable", "ssse3"])],
)
def test_older_cpus_have_their_tiers(cpu, tiers):
    """Those without AVX, and without the register that says what the operating system saves."""
    code = "import uricodec; print(uricodec.cpu_tier(), *uricodec.cpu_tiers())"
    command = [QEMU, "-cpu", cpu, sys.executable, "-c", code]
    environment = {key: value for key, value in os.environ.items() if key != "URICODEC_TIER"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [tiers[-1], *tiers], done.stderr


def test_use_tier_rejects_an_unknown_one(tier):
    for name in "mmx", "", None, 0:
        with pytest.raises(ValueError, match=r"kernel tier .* is not available"):
            _kernels.use_tier(name)
    assert uricodec.cpu_tier() == tier
