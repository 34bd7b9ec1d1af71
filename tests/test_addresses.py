"""Hosts that are IP addresses: those that IDNA mapping must not produce."""

import re
import socket

import pytest
from command import run
from hypothesis import example, given
from hypothesis import strategies as st

from uricodec import bulk, iri, uri
from uricodec.errors import IriError

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
                with pytest.raises(IriError, match="an address") as caught:
                    function(value, **options)
                assert caught.value.position == len("http://")
            for rows in [text], [text.encode()]:
                assert getattr(bulk, function.__name__)(rows, errors="null", **options) == [None]
        for value in text, text.encode():
            form = uri.normalize(value, level="iri")
            assert uri.normalize(form, level="iri") == form
            assert b"%" in (form if isinstance(form, bytes) else form.encode())


@given(disguised(ADDRESSES))
@example(("0x7f000001", "\uff10x\uff17f\uff10\uff10\uff10\uff10\uff10\uff11"))
@example(("0X7F.1", "0\uff38\uff17F\u30021"))
@example(("127.1", "\u00ad127.1"))
def test_disguised_addresses_are_rejected(case):
    host, written = case
    assert is_read_by_inet_aton(host)
    assert ends_in_a_number(host)
    assert_rejected(written)


@pytest.mark.parametrize("host", ["0x.", "1.2.3.4.", "256.256", "1.2.3.4.5", "08", "example.0x7F", "99999999999", "0x"])
def test_hosts_that_end_in_a_number_are_rejected(host):
    """Not all implementations of inet_aton() read them; the WHATWG URL standard does, or rejects them."""
    assert ends_in_a_number(host)
    assert_rejected("\u00ad" + host)
    assert_rejected(host.replace("0", "\uff10").replace("1", "\uff11").replace("256", "25\uff16") + "\u00ad")
    assert_rejected("\xe9." + host)


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


@pytest.mark.parametrize("host", ["0x7f.1", "127.1", "0177.0.0.1", "2130706433", "0X7F000001", "%30x7f.1"])
def test_numeric_hosts_in_ascii_stay(host):
    """They are reg-names (RFC 3986 section 3.2.2), and nothing was mapped."""
    text = f"http://{host}/"
    assert iri.iri_to_uri(text, host="idna") == text
    assert iri.uri_to_iri(text, host="unicode") == text.replace("%30", "0")
    assert uri.normalize(text, level="iri") == text.replace("%30", "0").lower()


def test_command_line_rejects_disguised_addresses():
    for host in "０x７f０００００１", "０ｘ７ｆ。１", "%EF%BC%90x7f.1":
        text = f"http://{host}/"
        for command in ["encode", "--iri", "--host", "idna"], ["decode", "--iri", "--host", "unicode"]:
            status, output, complaint = run(*command, "--errors", "fail", stdin=text.encode())
            assert (status, output) == (1, b"")
            assert "host" in complaint
