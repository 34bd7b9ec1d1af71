"""The two promises of simd/kernels.h, for every kernel on every CPU tier: no load outside src, no store outside dst.

A source lies directly before a page that must not be touched, or directly after one, and so does a destination. On its
other side, a source has neighbors that change the result if a kernel reads them, and a destination has canaries.
"""

import random
import re
import sys
from array import array
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from reference import codec as naive
from support.kernels import run_kernel
from support.marks import tier_fixture

from uricodec import ByteSet
from uricodec.bytesets import RFC8141_NSS

ROOT = Path(__file__).parents[2]
UNRESERVED = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
ALL = ByteSet(range(256))
NID = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")
ORDER = "le" if sys.byteorder == "little" else "be"
CODECS = {1: "latin-1", 2: f"utf-16-{ORDER}", 4: f"utf-32-{ORDER}"}
BYTES_OF_A_UNIT = {1: 2, 2: 3, 4: 4}

# All of a block of 64 bytes, then the borders of more of them.
LENGTHS = [*range(68), *range(94, 98), *range(126, 131), *range(190, 194), *range(254, 259), 300, 319, 320, 513, 1000]
tier = tier_fixture(all_tiers=True)
NEAR = 128  # bytes of neighbors and canaries: two blocks
CANARY_BYTE = b"\xee"
CANARY = CANARY_BYTE * NEAR
SPARE = [0, 1, 64, 200]  # how much larger than needed a destination is
STEP = 220  # more than the stores of one step of any tier reach


class Case(NamedTuple):
    """A kernel with its options, and what is expected of it."""

    kernel: str
    options: dict[str, Any]
    expected: Callable  # src -> the returned value, and the output or None
    samples: Callable  # length -> sources
    neighbors: list[bytes]  # of a source
    capacity: Callable | None = None  # the bytes of dst that the contract asks for; None: those of the output
    bounded: bool = False  # the kernel knows the capacity of dst, may use all of it, and says if it is too small


# --- sources ----------------------------------------------------------------------------------------------------------


def codec_sources(length):
    """Sources that take each path of a kernel, and those that end in the middle of a triplet."""
    chance = random.Random(length)
    pieces = [b"a", b"bc", b" ", b"+", b"%", b"%4", b"%41", b"%%4a", b"%zz", b"\xc3\xa9"]
    yield b"a" * length
    yield b" " * length
    yield b" " * (length * 3 // 4) + b"a" * (length - length * 3 // 4)
    yield (b"%4a%Fb" * length)[:length]
    yield b"".join(chance.choices(pieces, k=length))[:length]
    yield chance.randbytes(length)
    if length > 130:
        few = (b"%41".ljust(62, b"a") + b"%41").ljust(100, b"a") + b"%41"  # two in 64 bytes, one in the next
        yield (few.ljust(128, b"a") * length)[:length]
    for end in b"%", b"%4", b"%41%4":
        yield (b"a" * length + end)[-length:] if length else b""


def urn_sources(length):
    """Lines that end anywhere in a URN."""
    for line in b"URN:Nid:a%4a\n", b"\n", b"urn:ab:c%4a\n":
        yield (line * length)[:length]
    for end in b"u", b"ur", b"urn", b"urn:", b"urn:a", b"urn:ab:", b"urn:ab:%", b"urn:aB:%a":
        rest = length - len(end)
        yield (b"urn:ab:" + b"x" * (rest - 8) + b"\n" if rest > 8 else b"") + end


@cache
def texts(length, widest):
    """Texts of characters up to the widest."""
    edges = "a \x7f\x80é\xff\u0100ж\u07ff\u0800中\uffff\U00010000😀\U0010ffff"
    characters = [c for c in edges if ord(c) <= widest]
    chance = random.Random(length)
    found = [c * length for c in "aéж中😀" if ord(c) <= widest]
    return [*found, *("".join(chance.choices(characters[:some], k=length)) for some in (4, len(characters)))]


def utf8_sources(length):
    """Well-formed UTF-8, and what ends in the middle of a character."""
    for text in texts(length, sys.maxunicode):
        yield text.encode()
        yield text.encode()[:length]
    yield b"a" * length + b"\xc3"
    yield b"a" * length + b"\xf0\x9f\x98"


WIDEST = {1: 0xFF, 2: 0xFFFF, 4: sys.maxunicode}


def units_of(width):
    """Code units, and in those of 2 and 4 bytes a surrogate at the end."""
    lone = ["\ud800"] if width > 1 else []

    def sources(length):
        found = [*texts(length, WIDEST[width]), *("a" * length + each for each in lone)]
        return [text.encode(CODECS[width], "surrogatepass") for text in found]

    return sources


def utf8_of(width):
    return lambda length: [text.encode() for text in texts(length, WIDEST[width])]


# --- kernels ----------------------------------------------------------------------------------------------------------


def sized(output):
    return len(output), output


def to_utf8(src, codec):
    try:
        return sized(src.decode(codec).encode())
    except UnicodeError:
        return -1, b""


def marks(src, members):
    words = naive.mark_outside(src, members)
    return 0, b"".join(word.to_bytes(8, sys.byteorder) for word in words)


CLASSES = bytes(range(1, 33)) + b"\x01\x02\x04\x18"


def classes(src):
    words = naive.mark_classes(src, CLASSES[:16], CLASSES[16:32], CLASSES[32:])
    return 0, b"".join(word.to_bytes(8, sys.byteorder) for word in words)


def triplets(src):
    words = [word for words in naive.mark_triplets(src) for word in words]
    return int(b"%" in src), b"".join(word.to_bytes(8, sys.byteorder) for word in words)


def cases():
    """All kernels, by a name for each way to call them."""
    codec = codec_sources, [b"%41", b"41", b" ", b"a"]
    for name, members in ("some", UNRESERVED), ("all", ALL), ("wide", ~UNRESERVED):
        set_of = {"byte_set": members}
        yield f"span {name}", Case("span", set_of, lambda src, m=members: (naive.span(src, m), None), *codec)
        yield (
            f"count_outside {name}",
            Case("count_outside", set_of, lambda src, m=members: (naive.count_outside(src, m), None), *codec),
        )
        yield f"mark_outside {name}", Case("mark_outside", set_of, lambda src, m=members: marks(src, m), *codec)
    yield "mark_classes", Case("mark_classes", {"classes": CLASSES}, classes, *codec)
    for name, members, plus in (
        ("some", UNRESERVED, False),
        ("plus", UNRESERVED | " ", True),
        ("wide", UNRESERVED | b"\xc3", False),
    ):
        yield (
            f"encode {name}",
            Case(
                "encode",
                {"byte_set": members, "plus": plus},
                lambda src, m=members, plus=plus: sized(naive.encode(src, m, plus)),
                *codec,
                bounded=True,
            ),
        )
    for name, plus in ("plain", False), ("plus", True):
        yield (
            f"decode {name}",
            Case(
                "decode",
                {"plus": plus},
                lambda src, plus=plus: sized(naive.decode(src, plus)),
                codec_sources,
                [b"41", b"%41", b"%4", b"+a"],
                bounded=True,
            ),
        )
    yield "mark_triplets", Case("mark_triplets", {}, triplets, codec_sources, [b"aa", b"%", b"%aa"])
    yield (
        "upper_triplets",
        Case("upper_triplets", {}, lambda src: (0, naive.upper_triplets(src)), codec_sources, [b"aa", b"%", b"%aa"]),
    )
    urns = urn_sources, [b"rn:A:%aa\n", b"n:ab:c\n", b":ab:c", b"b:c", b"a", b"\n", b"%a"]
    yield "normalize_urns", Case("normalize_urns", {}, lambda src: (0, naive.normalize_urns(src)), *urns)
    yield (
        "span_urns",
        Case(
            "span_urns",
            {"byte_set": RFC8141_NSS, "nid": NID},
            lambda src: (naive.span_urns(src, NID, RFC8141_NSS), None),
            *urns,
        ),
    )
    yield (
        "scan_utf8",
        Case(
            "scan_utf8",
            {},
            lambda src: (naive.scan_utf8(src), None),
            utf8_sources,
            [b"\x80", b"\xbf\xbf", b"\xff", b"a", b"\xf0\x9f\x98\x80"],
        ),
    )
    for width, name in CODECS.items():
        yield (
            f"to_utf8 {width}",
            Case(
                "to_utf8",
                {"width": width},
                lambda src, name=name: to_utf8(src, name),
                units_of(width),
                [b"a\0\0\0", "\ud800".encode(CODECS[max(width, 2)], "surrogatepass"), b"\xff"],
                lambda src, width=width: len(src) // width * BYTES_OF_A_UNIT[width],
            ),
        )
        yield (
            f"from_utf8 {width}",
            Case(
                "from_utf8",
                {"width": width},
                lambda src, name=name: (0, src.decode().encode(name)),
                utf8_of(width),
                [b"\x80", b"a", b"\xff"],
            ),
        )


CASES = dict(cases())
READING = [name for name, case in CASES.items() if case.expected(b"")[1] is None]
WRITING = [name for name in CASES if name not in READING]


# --- tests ------------------------------------------------------------------------------------------------------------


def placed(fence, octets, *neighbors):
    """The bytes at both ends of a fence, with each of the neighbors on the other side, and a view of these."""
    n = len(octets)
    for near in neighbors:
        yield fence.at_start(octets, after=(near * NEAR)[:NEAR]), fence.view[n : n + NEAR]
        yield fence.at_end(octets, before=(near * NEAR)[-NEAR:]), fence.view[fence.size - n - NEAR : fence.size - n]


@cache
def expectations(name):
    """Each source of a case with what is expected; they are the same on each tier."""
    case = CASES[name]
    return [(src, *case.expected(src)) for length in LENGTHS for src in dict.fromkeys(case.samples(length))]


@pytest.mark.parametrize("name", READING)
def test_reads_nothing_but_src(tier, fences, name):
    case = CASES[name]
    for src, want, _ in expectations(name):
        for view, _ in placed(fences[0], src, *case.neighbors):
            assert run_kernel(case.kernel, view, **case.options) == want, f"{name}({src!r})"


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_writes_nothing_but_dst(tier, fences, name):
    case, (source, target) = CASES[name], fences
    spares = SPARE
    if case.kernel == "from_utf8":
        spares = [0]  # its dst is all code units that there are
    elif case.kernel.startswith("mark_"):
        spares = [8 * spare for spare in SPARE]  # its dst is words, which are aligned
    for src, want, output in expectations(name):
        need = case.capacity(src) if case.capacity else len(output)
        for place, (view, _) in enumerate(placed(source, src, *case.neighbors)):
            for spare in spares if place < 2 else spares[-1:]:  # other neighbors, and plenty of room
                for dst, canary in placed(target, CANARY_BYTE * (need + spare), CANARY_BYTE):
                    got = run_kernel(case.kernel, view, dst, **case.options)
                    assert got == want, f"{name}({src!r}) into {need} + {spare} bytes"
                    assert bytes(dst[: len(output)]) == output, f"{name}({src!r}) into {need} + {spare} bytes"
                    assert bytes(canary) == CANARY, f"{name}({src!r}) writes outside of {need} + {spare} bytes"
                    if not case.bounded:
                        beyond = bytes(dst[need:])
                        assert beyond == CANARY_BYTE * spare, f"{name}({src!r}) writes more than {need} bytes"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.bounded])
def test_every_capacity(tier, fences, name):
    """From none to more than a step needs: too small a destination is reported, and never written past."""
    case, (source, target) = CASES[name], fences
    lengths = {0, 1, 16, 17, 32, 33, 63, 64, 65, 67, 96, 128, 130, 193}
    for src, want, output in expectations(name):
        for place in (source.at_start, source.at_end) if len(src) in lengths else ():
            view = place(src)
            for capacity in [*range(len(output) + STEP), target.size]:
                dst = target.view[target.size - capacity :]
                got = run_kernel(case.kernel, view, dst, **case.options)
                assert got == (want if capacity >= len(output) else -1), f"{name}({src!r}) into {capacity} bytes"
                if got == want:
                    assert bytes(dst[: len(output)]) == output, f"{name}({src!r}) into {capacity} bytes"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["decode plain", "decode plus", "upper_triplets", "normalize_urns"])
def test_in_place(tier, fences, name):
    case = CASES[name]
    for src, want, output in expectations(name):
        for buffer, beside in placed(fences[0], src, *case.neighbors):
            before = bytes(beside)
            assert run_kernel(case.kernel, buffer, buffer, **case.options) == want, f"{name}({src!r})"
            assert bytes(buffer[: len(output)]) == output, f"{name}({src!r}) in place"
            assert bytes(beside) == before, f"{name}({src!r}) in place writes outside"


def test_move_ends(tier, fences):
    """Its marks, and its ends and working memory in one destination, lie at both ends of fences."""
    chance = random.Random(8141)
    for words in range(1, 20):
        marks = [chance.getrandbits(64) for _ in range(words)]
        for count in 0, 1, 2, 3, 64, 255:
            ends = sorted(chance.choices(range(64 * words), k=count))
            want, at_end = naive.move_ends(marks, ends, 2)
            for view, _ in placed(fences[0], array("Q", marks).tobytes(), CANARY_BYTE):
                for dst, canary in placed(fences[1], array("I", [*ends, *[0] * words]).tobytes(), CANARY_BYTE):
                    assert run_kernel("move_ends", view, dst, width=2) == at_end
                    assert list(memoryview(dst).cast("I"))[:count] == want
                    assert bytes(canary) == CANARY


def test_every_kernel_has_a_case():
    header = (ROOT / "src/uricodec/_base/simd/kernels.h").read_text("utf-8")
    kernels = set(re.findall(r"\(\*(\w+)\)\(", header)) - {"prepare"}
    assert {case.kernel for case in CASES.values()} | {"move_ends"} == kernels
