"""Hosts that are IP addresses: those that IDNA mapping must not produce, and the one spelling of IPv6 addresses."""

import re
import socket
from ipaddress import IPv6Address
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.command import run
from support.tables import each_row

from uricodec import bulk, dedup, iri, uri
from uricodec.errors import IriError
from uricodec.uri._rows import NormalizeRows

# --- IPv4: hosts whose mapped form is numeric -------------------------------------------------------------------------


def ends_in_a_number(host):
    """The WHATWG URL standard's "ends in a number" checker, step by step; `host` is ASCII."""
    parts = host.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    last = parts[-1]
    return re.fullmatch("[0-9]+", last) is not None or parse_ipv4_number(last) is not None


def parse_ipv4_number(text):
    """The WHATWG URL standard's IPv4 number parser; None for failure."""
    if text == "":
        return None
    base = 10
    if text[:2] in {"0x", "0X"}:
        text, base = text[2:], 16
    elif len(text) >= 2 and text[0] == "0":
        text, base = text[1:], 8
    if text == "":
        return 0
    digits = {8: "0-7", 10: "0-9", 16: "0-9A-Fa-f"}[base]
    return int(text, base) if re.fullmatch(f"[{digits}]+", text) else None


def is_read_by_inet_aton(host):
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


def notations(numbers):
    """Each number in decimal, octal and hexadecimal."""
    return st.tuples(*[st.sampled_from([f"{n}", f"0{n:o}", f"0x{n:x}", f"0X{n:X}", f"000{n:o}"]) for n in numbers])


# inet_aton() reads one to four parts; the last one fills the bytes that are left.
ADDRESSES = (
    st.integers(1, 4)
    .flatmap(lambda count: st.tuples(*[st.integers(0, 255)] * (count - 1), st.integers(0, 256 ** (5 - count) - 1)))
    .flatmap(notations)
    .map(".".join)
)

# Characters that UTS 46 maps to an ASCII character, by that character, and those that it drops.
DISGUISES = {
    **{str(digit): [chr(0xFF10 + digit), chr(0x1D7CE + digit), chr(0x1D7D8 + digit)] for digit in range(10)},
    **{letter: [chr(0xFEE0 + ord(letter)), chr(0xFEE0 + ord(letter.upper()))] for letter in "xabcdef"},
    ".": ["\u3002", "\uff0e", "\uff61"],
}
DROPPED = ["\u00ad", "\u200b", "\u2060", "\ufe0f"]


@st.composite
def disguised(draw, hosts):
    """A host, and a spelling of it with at least one character that is not ASCII."""
    host = draw(hosts)
    written = [draw(st.sampled_from([character, *DISGUISES.get(character.lower(), [])])) for character in host]
    if "".join(written).isascii():
        written.insert(draw(st.integers(0, len(written))), draw(st.sampled_from(DROPPED)))
    return host, "".join(written)


def percent_encoded(host):
    return "".join(c if c.isascii() else "".join(f"%{byte:02x}" for byte in c.encode()) for c in host)


def assert_rejected(host):
    """No function maps the host, however it is called; a normal form keeps it percent-encoded."""
    for spelling in host, percent_encoded(host):
        text = f"http://{spelling}/a"
        for function, options in (iri.iri_to_uri, {"host": "idna"}), (iri.uri_to_iri, {"host": "unicode"}):
            for value in text, text.encode():
                with pytest.raises(IriError, match="an IP address") as caught:
                    function(value, **options)
                assert caught.value.offset == len("http://")
            for rows in [text], [text.encode()]:
                assert getattr(bulk, function.__name__)(rows, errors="null", **options) == [None]
        for value in text, text.encode():
            form = uri.normalize(value, level="iri")
            assert uri.normalize(form, level="iri") == form
            assert b"%" in (form if isinstance(form, bytes) else form.encode())


@pytest.mark.slow
@given(disguised(ADDRESSES))
@example(("0x7f000001", "\uff10x\uff17f\uff10\uff10\uff10\uff10\uff10\uff11"))
@example(("0X7F.1", "0\uff38\uff17F\u30021"))
@example(("127.1", "\u00ad127.1"))
def test_disguised_addresses_are_rejected(case):
    host, written = case
    assert is_read_by_inet_aton(host)
    assert ends_in_a_number(host)
    assert_rejected(written)


@each_row("host", ["0x.", "1.2.3.4.", "256.256", "1.2.3.4.5", "08", "example.0x7F", "99999999999", "0x"])
def test_hosts_that_end_in_a_number_are_rejected(host):
    """Not all implementations of inet_aton() read them; the WHATWG URL standard does, or rejects them."""
    assert ends_in_a_number(host)
    assert_rejected("\u00ad" + host)
    assert_rejected(host.replace("0", "\uff10").replace("1", "\uff11").replace("256", "25\uff16") + "\u00ad")
    assert_rejected("\xe9." + host)


@pytest.mark.slow
@given(disguised(st.from_regex(r"[0-9a-fx]{1,8}(\.[0-9a-gx]{1,8}){0,3}\.?", fullmatch=True)))
def test_exactly_hosts_that_end_in_a_number_are_rejected(case):
    host, written = case
    try:
        mapped = iri.iri_to_uri(f"http://{written}/", host="idna")
    except IriError:
        assert ends_in_a_number(host)
    else:
        assert not ends_in_a_number(host)
        assert not is_read_by_inet_aton(host)
        assert mapped == f"http://{host.lower()}/"


@each_row("host", ["0x7f.1", "127.1", "0177.0.0.1", "2130706433", "0X7F000001", "%30x7f.1"])
def test_numeric_hosts_in_ascii_stay(host):
    """They are reg-names (RFC 3986 section 3.2.2), and nothing was mapped."""
    text = f"http://{host}/"
    assert iri.iri_to_uri(text, host="idna") == text
    assert iri.uri_to_iri(text, host="unicode") == text.replace("%30", "0")
    assert uri.normalize(text, level="iri") == text.replace("%30", "0").lower()


def test_command_line_rejects_disguised_addresses():
    for host in "\uff10x7f000001", "\uff10\uff58\uff17\uff46\u3002\uff11", "%EF%BC%90x7f.1":
        text = f"http://{host}/"
        for command in ["encode", "--iri", "--host", "idna"], ["decode", "--iri", "--host", "unicode"]:
            status, output, complaint = run(*command, "--errors", "raise", stdin=text.encode())
            assert (status, output) == (1, b"")
            assert "host" in complaint


# --- IPv6: one spelling from level "scheme" on ------------------------------------------------------------------------


def expected_spelling(address):
    """RFC 5952 by the standard library; section 5 by us: up to Python 3.12 it writes IPv4-mapped addresses in hex."""
    judged = IPv6Address(address)
    return judged.compressed if judged.ipv4_mapped is None else f"::ffff:{judged.ipv4_mapped}"


def all_spellings(groups):
    """The ways to write eight groups: with "::" for any run of zeros, or the last two groups as an IPv4 address."""
    decimal = ".".join(str(group >> shift & 255) for group in groups[6:] for shift in (8, 0))
    for tail in [f"{group:x}" for group in groups[6:]], [decimal]:
        texts = [f"{group:x}" for group in groups[:6]] + tail
        yield ":".join(texts)
        for start in range(len(texts)):
            for end in range(start + 1, len(texts) + 1):
                if all(text == "0" for text in texts[start:end]):
                    yield ":".join(texts[:start]) + "::" + ":".join(texts[end:])


def assert_one_spelling(groups):
    expected = expected_spelling(":".join(f"{group:x}" for group in groups))
    for text in all_spellings(groups):
        assert expected_spelling(text) == expected
        assert uri.is_valid(f"x://[{text}]")
        for level in "scheme", "iri":
            assert uri.normalize(f"x://[{text}]", level) == f"x://[{expected}]/"
        assert uri.normalize(f"x://[{text}]", "path") == f"x://[{text}]"


@pytest.mark.parametrize("value", [1, 0xFFFF])
def test_every_pattern_of_zeros(value):
    for groups in product([0, value], repeat=8):
        assert_one_spelling(groups)


@given(st.lists(st.integers(0, 0xFFFF) | st.sampled_from([0, 0, 0xFFFF, 10]), min_size=8, max_size=8))
@example([0, 0, 0, 0, 0, 0xFFFF, 10, 10])
@example([0x64, 0xFF9B, 0, 0, 0, 0, 0xC000, 0x201])
def test_spellings_of_an_address(groups):
    assert_one_spelling(groups)
    text = ":".join(f"{group:04X}" for group in groups)
    assert uri.normalize(f"//[{text}]:", "scheme") == f"//[{expected_spelling(text)}]:"
    assert uri.normalize(f"x://u@[{text}%25En0]:80", "scheme") == f"x://u@[{expected_spelling(text)}%25En0]:80/"


@given(st.text("0123456789abcdefABCDEF:::::.", max_size=45) | st.text("01f:.", max_size=20))
@example("1:2:3:4:5:6:7::")
@example("::1:2:3:4:5:6:7:8")
@example("1:2:3:4:5:6:7:1.2.3.4")
@example("::1.2.3.4:5")
@example("1::2::3")
@example("12345::")
@example("::01.2.3.4")
@example("::1.2.3")
@example(":")
@example("")
def test_only_addresses_are_respelled(text):
    try:
        expected = expected_spelling(text)
    except ValueError:
        expected = text.lower()
        assert not uri.is_valid(f"x://[{text}]")
    else:
        assert uri.is_valid(f"x://[{text}]")
    before = f"x://[{text}]"
    form = uri.normalize(before, "scheme")
    assert form == f"x://[{expected}]/"
    # The room that the operation asks for, but for the end of a line.
    assert len(form) <= NormalizeRows("scheme").capacity(len(before)) - 2


def test_mapped_addresses_are_not_ipv4():
    assert uri.normalize("http://[::ffff:192.0.2.1]/", "iri") == "http://[::ffff:192.0.2.1]/"
    assert not uri.equivalent("http://[::ffff:192.0.2.1]/", "http://192.0.2.1/", "iri")
    # Other addresses with an IPv4 address in them are written as any other.
    assert uri.normalize("http://[::192.0.2.1]/", "scheme") == "http://[::c000:201]/"
    assert uri.normalize("http://[64:ff9b::192.0.2.1]/", "scheme") == "http://[64:ff9b::c000:201]/"


def test_columns_and_lines_have_one_spelling(tier):
    hosts = [f"{group:x}::{number}" for group in (0, 1, 0x10) for number in range(300)] + ["::ffff:a:a"] * 3000
    rows = [f"http://[{host.upper()}]" for host in hosts]
    expected = [f"http://[{expected_spelling(host)}]/" for host in hosts]
    assert bulk.normalize_uri(rows, level="scheme") == expected
    lines = "\n".join(rows).encode()
    assert bulk.normalize_uri(lines, level="scheme") == "\n".join(expected).encode()
    assert run("normalize", "--kind", "uri", "--level", "scheme", stdin=lines)[1] == "\n".join(expected).encode()
    assert bulk.normalize_uri(lines, level="path") == lines.lower()
    assert [uri.key(row, "scheme") for row in rows[:300]] == [uri.key(row, "scheme") for row in expected[:300]]
    assert list(dedup.unique(rows + expected, kind="uri", level="scheme")) == list(dict.fromkeys(rows))
