"""The kernels of UTF-8 (RFC 3629) on every CPU tier against reference implementations and Python's own codec.

_base/test_kernel_bounds.py checks what they load and store.
"""

import itertools
import random
import sys
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import codec as naive
from support.kernels import run_kernel
from support.marks import long

# Around the ends of words and of blocks of 16, 32 and 64 bytes, of which there are two.
LENGTHS = [*range(20), *range(30, 35), *range(46, 50), *range(62, 68), 95, 96, 97, 127, 128, 129]
SOME_LENGTHS = [*LENGTHS, 191, 192, 193, 255, 256, 257, 1000]
CANARY = b"\xee" * 64
ORDER = "le" if sys.byteorder == "little" else "be"
CODECS = {1: "latin-1", 2: f"utf-16-{ORDER}", 4: f"utf-32-{ORDER}"}
OCTETS_OF_A_UNIT = {1: 2, 2: 3, 4: 4}

# Where lengths and leads change, for each width of a code unit.
EDGES = "\0\x7f\x80\xbf\xc0\xff\u0100\u07ff\u0800\u0fff\u1000\ud7ff\ue000\uffff\U00010000\U0003ffff\U00040000\U0010ffff"
WIDTHS = [1, 2, 4]
WIDEST = {1: 0xFF, 2: 0xFFFF, 4: sys.maxunicode}

ILL_FORMED = [
    *[b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf\xbf", b"\x80\x80\x80\x80"],  # continuations of nothing
    *[b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf"],  # overlong
    *[b"\xed\xa0\x80", b"\xed\xbf\xbf"],  # surrogates
    *[b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80", b"\xfe", b"\xff\xbf"],  # above U+10FFFF
    *[b"\xc2", b"\xdf", b"\xe0", b"\xe0\xa0", b"\xe4\xb8", b"\xed\x9f", b"\xf0\x90", b"\xf0\x9f\x98", b"\xf4\x8f\xbf"],
]
WELL_FORMED = [c.encode() for c in EDGES]

characters = st.characters(exclude_categories=["Cs"])
runs = st.builds(str.__mul__, st.sampled_from("aéж中😀"), st.integers(0, 70))
random_texts = st.lists(st.one_of(st.text(characters, max_size=8), runs), max_size=20).map("".join)
pieces = st.one_of(st.binary(max_size=3), random_texts.map(str.encode), st.sampled_from(ILL_FORMED))
random_octets = st.lists(pieces, max_size=20).map(b"".join)


# Helpers


scanned = lru_cache(1 << 17)(naive.scan_utf8)  # it is the same on each tier


def check_scan(src):
    assert run_kernel("scan_utf8", src) == scanned(src), src


def check_codes(text, width):
    """to_utf8 and from_utf8, each between canaries, with the room that the contract says."""
    units, octets = text.encode(CODECS[width]), text.encode()
    room = len(text) * OCTETS_OF_A_UNIT[width]
    buffer = bytearray(CANARY + bytes(room) + CANARY)
    written = run_kernel("to_utf8", units, memoryview(buffer)[64 : 64 + room], width=width)
    assert buffer.startswith(CANARY), f"to_utf8 wrote before dst: {text!r}"
    assert buffer.endswith(CANARY), f"to_utf8 wrote behind dst: {text!r}"
    assert buffer[64 : 64 + written] == octets, f"{text!r}, width {width}"
    buffer = bytearray(CANARY + bytes(len(units)) + CANARY)
    run_kernel("from_utf8", octets, memoryview(buffer)[64 : 64 + len(units)], width=width)
    assert buffer == CANARY + units + CANARY, f"{text!r}, width {width}"


def all_widths(text):
    """The widths of code units that a text has room in."""
    return [width for width in WIDTHS if ord(max(text, default="\0")) <= WIDEST[width]]


def placed(special, length, fill):
    """`special` (cut off at the end) at every position of `length` octets or characters of `fill`."""
    for position in range(length):
        before = (fill * length)[:position]
        yield (before + special)[:length] + (fill * length)[: max(length - position - len(special), 0)]


def mixtures(length, width=4):
    """Texts of a length that make the kernels take each of their paths."""
    chance = random.Random(length)
    characters = [c for c in EDGES + "aaaa ééß Жж 中中文字 😀" if ord(c) <= WIDEST[width]]
    for one in "a", "é", "ж", "中", "😀":
        if ord(one) <= WIDEST[width]:
            yield one * length
    for some in range(2, 6):
        yield "".join(chance.choices(chance.sample(characters, some), k=length))
    yield "".join(chance.choices(characters, k=length))


# scan_utf8


@pytest.mark.slow
def test_scan_finds_one_sequence_anywhere(tier):
    """Among ASCII, and cut off at every place by the end."""
    for special, length in itertools.product([*ILL_FORMED, *WELL_FORMED], LENGTHS):
        for src in placed(special, length, b"a"):
            check_scan(src)


@pytest.mark.parametrize("fill", ["é", "中", "😀", "aж中😀"])
def test_scan_finds_a_fault_among_others(tier, fill):
    around = fill.encode() * 130
    for special, position, length in itertools.product(ILL_FORMED, LENGTHS, (0, 3, 64)):
        check_scan(around[:position] + special + around[:length])
        check_scan(fill.encode() * (position // len(fill.encode())) + special + around[:length])


@pytest.mark.slow
def test_scan_of_every_pair(tier):
    for first in range(256):
        for second in range(256):
            pair = bytes([first, second])
            check_scan(pair)
            check_scan(b"a" * 15 + pair + b"\x80\x80a")
        for shift in 30, 62, 126:
            for second in range(0, 256, 15):
                check_scan(b"a" * shift + bytes([first, second]) + b"\xbf" * 70)


@pytest.mark.slow
def test_scan_of_three_and_four_bytes(tier):
    edges = bytes.fromhex("007f808f909fa0bfc0ff")
    for shift, lead in itertools.product([0, 13, 30, 62], range(0xE0, 0x100)):
        for second in range(256) if lead < 0xF0 and not shift else edges:
            for third in edges:
                check_scan(b"a" * shift + bytes([lead, second, third]))
                for fourth in edges if lead >= 0xF0 else ():
                    check_scan(b"a" * shift + bytes([lead, second, third, fourth]))


@pytest.mark.parametrize("fill", [b"a", "é".encode(), "中".encode()], ids=bytes.hex)
def test_scan_ignores_the_lead_of_a_sequence_that_fails(tier, fill):
    """The highest octet is the prefix's, wherever the blocks are cut."""
    for size in LENGTHS:
        for special in b"\xf4\x90", b"\xf1\x80\x80", b"\xef", b"\xff":
            check_scan(fill * size + special)
            check_scan(fill * size + special + b"a" * 200)
            check_scan(fill * size + special + "中".encode() * 70)


def test_scan_again_and_again(tier):
    """From behind every fault to the end of the input, as a caller does that replaces them."""
    chance = random.Random(3629)
    for pieces in (
        ILL_FORMED,
        ILL_FORMED + WELL_FORMED,
        [b"\x80"],
        [b"\xe4"],
        [*ILL_FORMED, b"a" * 40, b"\xc3\xa9" * 30],
    ):
        src = b"".join(chance.choices(pieces, k=200))
        start = 0
        while start < len(src):
            check_scan(src[start:])
            start += run_kernel("scan_utf8", src[start:])[0] + 1


@given(src=random_octets)
def test_scan_of_random_bytes(tier, src):
    check_scan(src)


def test_scan_of_long_texts(tier):
    for character in "a", "é", "中", "😀":
        octets = character.encode() * 70_000
        assert run_kernel("scan_utf8", octets) == (len(octets), 70_000, max(octets))
        for cut in range(1, len(character.encode())):
            assert run_kernel("scan_utf8", octets[:-cut])[:2] == (
                len(octets) - len(character.encode()),
                69_999,
            )


# to_utf8 and from_utf8


@pytest.mark.slow
@pytest.mark.parametrize("fill", ["a", "aж中😀", *long("é", "中")])
def test_code_one_character_anywhere(tier, fill):
    for special in [*EDGES, "\x80" * 16, "\u0800" * 16, "\U00010000" * 4]:
        widths = all_widths(special + fill)
        for length in LENGTHS:
            for text in placed(special, length, fill) if length % 8 in (0, 1, 7) else [(fill * length)[:length]]:
                for width in widths:
                    check_codes(text, width)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_code_every_character(tier, width):
    text = "".join(map(chr, [c for c in range(WIDEST[width] + 1) if not 0xD800 <= c < 0xE000]))
    assert width < 4 or len(text) == 1_112_064
    octets = text.encode()
    assert run_kernel("scan_utf8", octets) == (len(octets), len(text), max(octets))
    for shift in 0, 1, 2, 3, 7, 8, 13, 15:
        check_codes(text[shift:], width)
        check_codes(text[-shift:] + text[: 3 * shift], width)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_code_every_pattern_of_lengths(tier, width):
    """Eight characters of every combination of two lengths, six of three, four of four."""
    characters = [c for c in "aé中😀" if ord(c) <= WIDEST[width]]
    for size, count in (8, 2), (6, 3), (4, 4):
        for pattern in range(count**size):
            text = "".join(characters[pattern // count**i % count % len(characters)] for i in range(size))
            check_codes(text, width)
            if pattern % 7 == 0:
                check_codes(text * 9, width)


@pytest.mark.parametrize("width", [2, 4])
def test_code_surrogates_anywhere(tier, width):
    for length in range(1, 131):
        for text in "a" * length, "中" * length, ("aé中" * length)[:length]:
            room = bytearray(length * OCTETS_OF_A_UNIT[width])
            for position in range(length):
                surrogate = ("\ud800", "\udbff", "\udc00", "\udfff")[position % 4]
                units = (text[:position] + surrogate + text[position + 1 :]).encode(CODECS[width], "surrogatepass")
                assert run_kernel("to_utf8", units, room, width=width) == -1


@pytest.mark.parametrize("width", WIDTHS)
def test_code_mixtures_of_every_length(tier, width):
    for length in SOME_LENGTHS:
        for text in mixtures(length, width):
            check_codes(text, width)


@given(text=random_texts)
def test_code_random_texts(tier, text):
    check_scan(text.encode())
    for width in all_widths(text):
        check_codes(text, width)


@given(text=st.text(st.characters(max_codepoint=0xFF), max_size=200))
def test_code_random_latin_texts(tier, text):
    for width in WIDTHS:
        check_codes(text, width)
