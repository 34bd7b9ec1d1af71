"""The kernel span_urns on every CPU tier against its reference implementation."""

import random

from hypothesis import given
from hypothesis import strategies as st
from reference import codec as naive
from support.kernels import run_kernel

from uricodec import ByteSet
from uricodec.bytesets import RFC2141_TRANS, RFC8141_NSS

NID = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")
NSS = {"2141": RFC2141_TRANS - "%", "8141": RFC8141_NSS, "few": ByteSet("ab:"), "wide": ~ByteSet("\n%\0a")}

LINES = [
    *(b"urn:isbn:0451450523", b"URN:EXAMPLE-1:a%2Fb/c?d#e~f&g", b"uRn:ab:c", b"urn:" + b"a" * 32 + b":x"),
    *(b"urn:ab:%FF%ff%0a%10", b"urn:urn-7:" + b"long" * 40),
]
# Each of them is not plain, for a reason of its own.
OTHERS = [
    *(b"", b"u", b"urn", b"urn:", b"urm:ab:c", b"xurn:ab:c", b"urn;ab:c", b"urn:ab", b"urn:ab:", b"urn::x", b"urn:a:x"),
    *(b"urn:" + b"a" * 33 + b":x", b"urn:" + b"a" * 100 + b":x", b"urn:-ab:x", b"urn:ab-:x", b"urn:a_b:x"),
    *(b"urn:a\x80b:x", b"urn:urn:x", b"urn:URN:x", b"urn:ab:/x", b"urn:ab:x%", b"urn:ab:x%4", b"urn:ab:x%4g"),
    *(b"urn:ab:x%g4", b"urn:ab:x%00", b"urn:ab:%%41", b"urn:ab:x y", b"urn:ab:x\x00", b"urn:ab:\xc3\xa9"),
]


def check(src, nss="8141", end=b"\n"):
    want = naive.span_urns(src, NID, NSS[nss], end)
    got = run_kernel("span_urns", src, byte_set=NSS[nss], nid=NID, end=end[0])
    assert got == want, f"span_urns({bytes(src)!r}, {nss}, {end!r})"


def test_plain_lines_and_others(tier):
    for line in LINES + OTHERS:
        for other in LINES + OTHERS:
            for tail in b"", b"\n", b"\n\n":
                check(line + b"\n" + other + tail)
                check(line + b"\n" + other + tail, "2141")


def test_every_line_at_every_place(tier):
    """A line that starts at any octet of a block, after lines of any length."""
    for before in range(140):
        start = b"urn:ab:" + b"x" * (before - 8) + b"\n" if before > 8 else b"urn:ab:c\n" * 9
        for line in LINES + OTHERS:
            for tail in b"", b"\n", b"\nurn:ab:c\n", b"\nx":
                check(start + line + tail)


def test_nids_of_every_length(tier):
    for length in range(200):
        for before in b"", b"urn:ab:cd\n", b"urn:ab:" + b"c" * 20 + b"\n", b"urn:ab:" + b"c" * 50 + b"\n":
            for after in b":x", b":x\nurn:ab:c", b":", b"", b"\n", b"\nurn:ab:c\n", b"-:x":
                check(before + b"urn:" + b"a" * length + after)


def test_every_byte_at_every_place(tier):
    line = b"urn:ab-c:d%4Ae%fFg:h"
    for shift in 0, 1, 30, 50, 57:
        start = b"urn:ab:" + b"x" * shift + b"\n"
        for place in range(len(line)):
            for octet in range(256):
                check(start + line[:place] + bytes([octet]) + line[place + 1 :] + b"\nurn:ab:c")


def test_sets_and_ends(tier):
    for nss, octets in NSS.items():
        for line in LINES + OTHERS:
            for end in b"\n", b"\0":
                if end[0] not in octets:
                    check(end.join([*LINES[:3], line, b"urn:ab:a"]), nss, end)


def test_many_lines(tier):
    """One line that is not plain among many that are."""
    chance = random.Random(8141)
    for other in OTHERS:
        for count in 1, 10, 100:
            lines = chance.choices(LINES, k=count)
            lines.insert(chance.randrange(count + 1), other)
            check(b"\n".join(lines))
            check(b"\n".join(lines) + b"\n")


pieces = st.sampled_from(
    [b"urn:", b"URN:ab:", b"\n", b":", b"%", b"%4a", b"%00", b"-", b"/", b"x", b"a" * 33, b"\nurn:x1:"]
)


@given(src=st.lists(st.one_of(st.sampled_from([line + b"\n" for line in LINES]), pieces), max_size=40).map(b"".join))
def test_random_lines(tier, src):
    check(src)
    check(src, "2141")
    check(src.replace(b"\n", b"\0"), "8141", b"\0")
