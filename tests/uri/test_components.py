"""`uricodec.uri` and `uricodec.iri`: what is read, on every tier, by the grammars (reference/uri.py) and by name."""

import copy
import csv
import functools
import inspect
import io
import json
import pickle
import re
import subprocess
import sys
import unicodedata
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import uri as naive
from support.diagnostics import brief
from support.marks import long
from support.tables import each_row
from support.timing import assert_linear
from support.uri_lines import csv_cell

from uricodec import bulk, iri, uri
from uricodec._rows._tasks import transform_lines
from uricodec.errors import IriError, UriSyntaxError
from uricodec.uri._rows import CheckRows, SplitRows

REFERENCES = [
    *("http://me:pw@example.org:8042/over/there?name=ferret#nose", "ftp://[2001:db8::7]:21/a%2Fb;type=a"),
    *("ldap://[v1.fe:~]/c=GB?objectClass?one", "urn:example:animal:ferret:nose?+r?=q"),
    *("mailto:John.Doe%40x@example.com", "//192.0.2.255/?#", "a_b/c:d@e!$&'()*+,;=", "./a:b/../c#/?", "%41b-%7E/c"),
    *("tel:+1-816-555-1212", "x+y-z.1:/a//b", "s://[::ffff:192.0.2.1]?a"),
]
IRIS = ["http://résumé.example.org/Käse/日本語?и=\ue000й#한국어", "//u\u00a0ü@джй。рф:80/𠮷\U000e1000/“”…", "é:ü"]
MARKS = ":/?#[]@%!$&'()*+,;= \"<>\\^`{|}~-._09azAZ\0\n\r\t\x7f\x80\x85\xa0\xff"
BEYOND = (
    "éà中€\u200e\u202e\u2028\u2100\uff0f\ue000\uf8ff\ufdd0\ufffd\uffff\U0001f600\U0001ffff\U000e0001\U000f0000\ud800"
)

cached_check = functools.cache(naive.check)  # every tier asks the same
cached_check_safe = functools.cache(naive.check_safe)


def compare(text, iri_too=True):
    """Everything that is said about a str, or about octets, under every production."""
    for production in naive.PRODUCTIONS:
        want = cached_check(text, production)
        assert brief(uri.check(text, production)) == want, f"check({text!r}, {production!r})"
        assert uri.is_valid(text, production) is (want is None)
        safe = cached_check_safe(text, production)
        assert brief(uri.check(text, production, safe_host=True)) == safe, (
            f"check({text!r}, {production!r}, safe_host=True)"
        )
        assert uri.is_valid(text, production, safe_host=True) is (safe is None)
    for production in naive.IRI_PRODUCTIONS if iri_too else ():
        want = cached_check(text, production, True)
        assert brief(iri.check(text, production)) == want, f"check_iri({text!r}, {production!r})"
        assert iri.is_valid(text, production) is (want is None)
        safe = cached_check_safe(text, production, True)
        assert brief(iri.check(text, production, safe_host=True)) == safe, f"check_iri({text!r}, {production!r}, True)"
        assert iri.is_valid(text, production, safe_host=True) is (safe is None)
    compare_split(text, uri, cached_check(text), UriSyntaxError)
    if iri_too:
        compare_split(text, iri, cached_check(text, "IRI-reference", True), IriError)


def compare_split(text, module, fault, error):
    if fault is not None:
        with pytest.raises(error) as caught:
            module.split(text)
        assert (caught.value.offset, caught.value.input) == (fault.offset, text)
        return
    parts, want = module.split(text), text if isinstance(text, str) else text.decode()
    if isinstance(text, bytes):
        assert all(part is None or type(part) is bytes for part in parts)
        assert module.unsplit(parts) == text
        assert parts.authority is None or type(parts.host) is bytes
        parts = module.split(want)
    assert parts == naive.split(want) and module.unsplit(parts) == want
    if parts.authority is None:
        assert parts.userinfo is parts.host is parts.port is parts.host_kind is None
    else:
        assert (parts.userinfo, parts.host, parts.port) == naive.split_authority(parts.authority)
        assert parts.host_kind == naive.host_kind(parts.host)


# --- the grammars -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("reference", [REFERENCES[0], REFERENCES[-1], *long(*REFERENCES[1:-1])])
def test_every_byte_at_every_place(tier, reference):
    """In place of each octet, and some before it; the components below a quarter of them."""
    codes = [*range(0x81), 0x9F, 0xA0, 0xC3, 0xE2, 0xED, 0xF4, 0xFF]
    for place, code in product(range(len(reference) + 1), codes):
        for skipped in (1,) if (place + code) % 3 else (0, 1):
            text = reference[:place] + chr(code) + reference[place + skipped :]
            octets = text.encode("latin-1")
            want = cached_check(text)
            assert brief(uri.check(text)) == brief(uri.check(octets)) == want, text
            assert uri.is_valid(octets, "URI-reference") is (want is None)
            assert brief(iri.check(text, "IRI-reference")) == cached_check(text, "IRI-reference", True), text
    for place in range(len(reference) + 1):
        compare(reference[:place])
        compare(reference[:place] + reference[place + 1 :])


@each_row("text", [*REFERENCES, *IRIS])
def test_references(tier, text):
    compare(text)
    if "\xe9:" not in text:
        assert iri.is_valid(text, "IRI-reference") and naive.IRI.is_valid(text, "IRI-reference")
    for end in range(len(text.encode()) + 1):
        compare(text.encode()[:end])


PIECES = [
    *("http:", "S:", "//", "/", "a", "0", "..", "%41", "%2f", "%C3%A9", "%", "@", ":", "[", "]", "[::1]", "80"),
    "1.2.3.4",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(MARKS + BEYOND)), max_size=12).map("".join)


@st.composite
def mutated(draw):
    """A reference with a few characters changed, left out or put in."""
    text = draw(st.sampled_from(REFERENCES + IRIS))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        piece = draw(st.one_of(st.sampled_from([*MARKS, *BEYOND, *PIECES, ""]), st.characters()))
        text = text[:place] + piece + text[place + draw(st.integers(0, 2)) :]
    return text


@given(text=st.one_of(mutated(), TEXTS, st.text(max_size=30)))
@example(text="")
@example(text=":")
@example(text="1a:b")
@example(text="é:ü")
@example(text="//a@b@c:d:e")
@example(text="http://a:b")
def test_random_texts(tier, text):
    compare(text)
    compare(text.encode("utf-8", "surrogatepass"))


@given(text=st.one_of(mutated(), TEXTS))
def test_the_first_fault_is_there_exactly_where_the_grammar_does_not_match(text):
    """The reference's two halves agree, so that what the others compare with is right."""
    for production in naive.PRODUCTIONS:
        assert (naive.check(text, production) is None) == naive.URI.is_valid(text, production)
    for production in naive.IRI_PRODUCTIONS:
        assert (naive.check(text, production, True) is None) == naive.IRI.is_valid(text, production)


@given(octets=st.one_of(st.binary(max_size=40), st.binary(max_size=20).map("http://é/".encode().__add__)))
def test_random_bytes(tier, octets):
    compare(octets)


@pytest.mark.slow
@each_row("length", [63, 64, 65, 513])
@each_row("end", ["", "%", "%4", "%4g", "?q", "#f", "#f#", " ", "é", "\ue000", "?\ue000", "\ud800", "𠮷"])
def test_long_texts(tier, length, end):
    for start, filling in [*product(["s:", "//h/", "", "é/", "//u@h:1?"], ["a", "日", "%c3"])][::2]:
        text = start + filling * (length // len(filling))
        compare(text + end)
        compare(text[: length - 2] + end + "a" * 70)


@pytest.mark.slow
@each_row("length", [2047, 4095, 4096, 4097])
@each_row("end", ["", "%4g", "?q", "#f#", "é", "?\ue000", "\ud800"])
def test_texts_of_many_chunks(tier, length, end):
    for filling in "a", "日", "%c3":
        compare("s:" + filling * (length // len(filling)) + end)


# --- characters -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("before", ["//", "//u", "//h", "/p", "?q", "#f", ""])
def test_every_edge_of_a_class_of_characters(tier, before):
    for code in naive.EDGES:
        for after in "", "x@h", "/":
            text = before + chr(code) + after
            compare(text)
            compare(text.encode("utf-8", "surrogatepass"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("before", "allowed"), [("//", "reg_name"), ("p", "path"), ("?", "query"), ("#", "fragment")])
def test_every_character(before, allowed):
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    want = set(re.findall(getattr(naive.IRI, allowed), every))
    if before == "//":
        want |= set(":/?#@")  # what may follow
    elif before == "p":
        want |= set("?#:")
    elif before == "?":
        want.add("#")
    found = {c for c in every if iri.is_valid(before + c, "IRI-reference")}
    assert found == want


def test_cve_2019_9636_characters_like_delimiters_are_all_known():
    """Also CVE-2019-10160: all that the Unicode of this Python makes a delimiter of, "\\" and "%" included."""
    for code in [*range(0x80, 0xD800), *range(0xE000, 0x30000)]:
        if naive.is_delimiter_like(chr(code)):
            name = unicodedata.name(chr(code))
            for text in f"http://a{chr(code)}b/", f"http://a{chr(code)}@b/":
                assert brief(iri.check(text, safe_host=True)) == ("host-delimiter", 8), name
                assert iri.is_valid(text) and iri.split(text).host in {f"a{chr(code)}b", "b"}, name
            assert iri.is_valid(f"http://a@b/{chr(code)}?{chr(code)}#{chr(code)}")
    for text in "http://example.com\uff03@bing.com", "http://user@example.com\uff0fpath", "http://a\ufe68b":
        assert iri.check(text, safe_host=True).code == "host-delimiter" and uri.check(text).code in {"host", "userinfo"}


ILL_FORMED = [
    b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x80\xaf", b"\xe2\x82", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\xaf", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfc\x84",
    b"\xfe", b"\xff",
]  # fmt: skip


@each_row("octets", ILL_FORMED)
def test_ill_formed_utf8(tier, octets):
    for before in b"", b"/p", b"//", b"//u", b"//[", b"?", "é/#é".encode(), b"a b/":
        for after in b"", b"@h", b"/", b"x", "é".encode(), b":":
            compare(before + octets + after)
    assert brief(iri.check(b"s:" + octets)) == ("utf-8", 2)


# --- hosts ------------------------------------------------------------------------------------------------------------

IPV4 = ["0.0.0.0", "1.2.3.4", "9.10.99.100", "199.200.249.255", "255.255.255.255"]
NO_IPV4 = [
    *("", "1", "1.2", "1.2.3", "1.2.3.", ".1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "01.2.3.4", "1.02.3.4"),
    "00.0.0.0",
]
NO_IPV4 += ["1.2.3.4a", "1..2.3", "0x1.2.3.4", "1.2.3.260", "1.2.3.300", "1.2.3.1000", "%31.2.3.4"]


@each_row("host", IPV4 + NO_IPV4)
def test_ipv4(host):
    kind = "IPv4address" if host in IPV4 else "reg-name"
    for text in f"//{host}", f"http://u@{host}:80/", f"//{host}?":
        compare(text)
        assert uri.split(text).host_kind == uri.split(text.encode()).host_kind == kind


def groups(n):
    return ":".join("0123456789abcdefABCDEF"[i : i + 1 + i % 4] for i in range(n))


IPV6 = [
    *("::", "::1", "1::", "::1.2.3.4", "::ffff:255.255.255.255", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"),
    "1:2:3:4:5:6:7:8",
]
IPV6 += [
    *("1::3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::3:4:5:6:7:1.2.3.4", "1:2:3:4:5::1.2.3.4", "2001:db8::7"),
    "fE80::aBcD",
]
IPV6 += ["0000::0001", "::3:4:5:6:1.2.3.4"]
NO_IPV6 = [
    *("", ":", ":::", "1", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::"),
    "1:2:3:4:5:6:7:8::",
]
NO_IPV6 += [
    *("::1:2:3:4:5:6:7:8", "1::2:3:4:5:6:7:8", "1.2.3.4", "::1.2.3", "::1.2.3.256", "::01.2.3.4", "::1.2.3.4.5"),
    "::1.2.3.4:5",
]
NO_IPV6 += [
    *("1:2:3:4:5:6:7:1.2.3.4", "::2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:1.2.3.4", "1:2:3:4:5:6::1.2.3.4", "::1%25eth0"),
    "::1%eth0",
]
NO_IPV6 += [
    *("fe80::a%en1", "::1 ", " ::1", "::1\n", "[::1]", "::1:", ":1::", "1:::2", "::.1.2.3", "::256.1.1.1", "::a.1.1.1")
]
IPVFUTURE = ["v1.a", "V1.a", "vF0.a:b", "v1.-._~!$&'()*+,;=:0Az"]
NO_IPVFUTURE = ["v", "v1", "v.a", "v1.", "vg.a", "v1a", "v1.@", "v1.%41", "v1.a/b", "v1.[", "w1.a", "v1.é"]


@pytest.mark.slow
@each_row("address", IPV6 + IPVFUTURE + NO_IPV6 + NO_IPVFUTURE)
def test_ip_literals(address):
    good = address in IPV6 + IPVFUTURE
    for text in f"//[{address}]", f"//[{address}]:?", f"//[{address}]a", f"//[{address}", f"//{address}]":
        compare(text)
    text = f"http://u@[{address}]:80/"
    for end in range(len(text) + 1):
        compare(text[:end])
    assert (uri.check(f"//[{address}]") is None) is good
    if good:
        parts = uri.split(f"//[{address}]:80")
        assert (parts.host, parts.port, parts.host_kind) == (f"[{address}]", "80", "IP-literal")


@given(
    address=st.lists(
        st.sampled_from(["::", ":", ":", "0", "1", "fF", "12ab", "1.2.3.4", ".", "255", "256"]), max_size=17
    ).map("".join)
)
def test_random_ip_literals(address):
    compare(f"//[{address}]", iri_too=False)


def test_triplets_in_hosts():
    """CVE-2022-27780: what a triplet of a host stands for is no delimiter and no control."""
    for octet in range(256):
        text = f"http://example.com%{octet:02x}.example/"
        hostile = octet <= 0x20 or octet == 0x7F or chr(octet) in ":/?#[]@%\\"
        assert uri.is_valid(text) and iri.is_valid(text) and uri.split(text).host == f"example.com%{octet:02x}.example"
        for check in uri.check, iri.check:
            assert brief(check(text, safe_host=True)) == (("host-delimiter", 18) if hostile else None)
        assert uri.is_valid(f"http://u%{octet:02X}@h/%{octet:02X}?%{octet:02X}#%{octet:02X}")
    assert brief(uri.check("http://example.com%2F10.0.0.1/", safe_host=True)) == ("host-delimiter", 18)
    for text in (
        "postgresql://%2Fvar%2Frun/db",
        "http+unix://%2Fvar%2Frun%2Fx.sock/path",
        "//%5B::1%5D:8%40",
        "http://%25",
    ):
        compare(text)
        if ":8%40" not in text:
            assert uri.is_valid(text) and not uri.is_valid(text, safe_host=True)


# --- what hostile texts get -------------------------------------------------------------------------------------------

HOSTILE = {
    "CVE-2022-27780: an encoded delimiter in a host": ("http://example.com%2F10.0.0.1/", "host-delimiter", 18),
    "CVE-2023-24329: a blank before the scheme": (" https://example.com", "path", 0),
    "CVE-2023-24329: a control before the scheme": ("\x0bhttps://example.com", "path", 0),
    "CVE-2022-0391: a newline in the scheme": ("ht\ntp://example.com/", "path", 2),
    "CVE-2022-0391: a tab in the host": ("http://exam\tple.com/", "host", 11),
    "CVE-2022-0391: a CR LF in the path": ("http://example.com/\r\nX: y", "path", 19),
    "CVE-2024-11168: no address in brackets": ("http://[127.0.0.1]/", "ip-literal", 11),
    "CVE-2024-11168: a name in brackets": ("http://[localhost]/", "ip-literal", 8),
    "CVE-2025-0938: a name behind brackets": ("http://[::1]evil.com/", "ip-literal", 12),
    "CVE-2025-0938: a name before brackets": ("http://evil.com[::1]/", "host", 15),
    "CVE-2025-0938: brackets in a userinfo": ("http://[::1]@evil.com/", "userinfo", 7),
    "two authorities": ("http://a@b@c/", "host", 10),
    "a backslash for a slash": ("http://example.com\\@evil.com/", "userinfo", 18),
    "a zone": ("http://[fe80::1%25eth0]/", "ip-literal", 15),
    "a port that is no number": ("http://example.com:80evil/", "port", 21),
    "U+0000": ("http://example.com\0.evil.com/", "host", 18),
    "%00 in a host": ("http://example.com%00.evil.com/", "host-delimiter", 18),
    "%u002f": ("http://example.com/%u002f", "percent", 19),
    "a triplet in a triplet": ("http://example.com/%%341", "percent", 19),
    "a triplet that ends too early": ("http://example.com/%4", "percent", 19),
}


@each_row("name", HOSTILE)
def test_hostile_texts(tier, name):
    text, code, offset = HOSTILE[name]
    for safe_host in {True, code == "host-delimiter"}:
        assert (
            brief(uri.check(text, safe_host=safe_host))
            == brief(uri.check(text.encode(), safe_host=safe_host))
            == (code, offset)
        )
        assert brief(iri.check(text, "IRI-reference", safe_host=safe_host)) == (code, offset)
    compare(text)


@pytest.mark.parametrize("text", ["http://a\u3000.b/", "http://a/\u2028", "http://\uff0e/"])
def test_blanks_beyond_ascii_are_not_stripped(text):
    assert iri.split(text)[:3] == naive.split(text)[:3]


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("unit", ["[", "@", ":", "%41", "?", "#", "../", "/", "&", "0:", "1.", "//", "é", "\u2028", "a"])
@each_row("start", ["", "//", "//[", "s:"])
def test_cve_2025_67899_time_is_linear(unit, start):
    assert_linear(iri.check, lambda size: start + unit * (size // len(unit)), 1 << 16)


# --- components -------------------------------------------------------------------------------------------------------


def test_rfc_3986_section_3():
    parts = uri.split("foo://example.com:8042/over/there?name=ferret#nose")
    assert parts == ("foo", "example.com:8042", "/over/there", "name=ferret", "nose")
    assert (parts.scheme, parts.authority, parts.path, parts.query, parts.fragment) == parts
    assert (parts.userinfo, parts.host, parts.port, parts.host_kind) == (None, "example.com", "8042", "reg-name")
    assert uri.split("urn:example:animal:ferret:nose") == ("urn", None, "example:animal:ferret:nose", None, None)


def test_rfc_3986_section_1_1_2():
    """The examples, as they are printed."""
    for text in (
        *("ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt"),
        *("ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com"),
        *("news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "telnet://192.0.2.16:80/"),
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    ):
        assert uri.is_valid(text) and uri.is_valid(text, "absolute-URI") and not uri.is_valid(text, "relative-ref")
        assert iri.is_valid(text) and uri.unsplit(uri.split(text)) == text


def test_undefined_is_not_empty():
    for text in "", "?", "#", "?#", "//", "///", "//?", "//:", "//@", "//@:", "s:", "s:?", "s://", "s:#":
        parts = uri.split(text)
        assert parts == naive.split(text) and uri.unsplit(parts) == text
        assert uri.split(text.encode()) == tuple(part if part is None else part.encode() for part in parts)
    assert uri.split("//@:").userinfo == uri.split("//@:").host == uri.split("//@:").port == ""


def test_components_are_tuples():
    parts = iri.split("s://ü@é:1/a?b#c")
    assert (
        parts == ("s", "ü@é:1", "/a", "b", "c") and hash(parts) == hash(tuple(parts)) and type(parts) is uri.Components
    )
    assert repr(parts) == "Components(scheme='s', authority='ü@é:1', path='/a', query='b', fragment='c')"
    for again in pickle.loads(pickle.dumps(parts)), copy.copy(parts), copy.deepcopy(parts), uri.Components(*parts):
        assert again == parts and type(again) is uri.Components
    assert parts._asdict() == dict(zip(parts._fields, parts, strict=True))
    other = parts._replace(authority="h")
    assert type(other) is uri.Components and iri.unsplit(other) == "s://h/a?b#c"
    assert (parts.userinfo, parts.host, parts.port) == ("ü", "é", "1") and (other.userinfo, other.host) == (None, "h")
    with pytest.raises(AttributeError):
        parts.other = 1


def test_an_authority_that_is_none_has_no_parts():
    authorities = {"a@b@c": 3, "[::1": 4, "a:b": 2, "a[": 1, "[::1]a": 5, b"a:b": 2, "u@[a@b]": 4, "é:b": 0, "a/b": 1}
    for authority, position in authorities.items():
        parts = uri.Components(None, authority, "", None, None)
        for name in "userinfo", "host", "port", "host_kind":
            with pytest.raises(UriSyntaxError) as caught:
                getattr(parts, name)
            assert (caught.value.offset, caught.value.input) == (position, authority)
    with pytest.raises(UriSyntaxError, match="surrogate at offset 1"):
        _ = uri.Components(None, "a\ud800", "", None, None).host


def test_schemes_are_shared():
    assert uri.split("https://a/").scheme is uri.split("https://b/").scheme
    for scheme in "HTTP", "httpx", "htt", "http", "httpS":
        assert uri.split(f"{scheme}:").scheme == scheme


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "other"


class Octets(bytes):
    __slots__ = ()


def test_types():
    text = "http://u@h:1/a?b#c"
    for kind in bytes, bytearray, memoryview, Octets:
        octets = kind(text.encode())
        assert uri.check(octets) is uri.check(octets, "URI") is None and uri.is_valid(octets) and iri.is_valid(octets)
        assert all(type(part) is bytes for part in uri.split(octets) + iri.split(octets))
        with pytest.raises(UriSyntaxError) as caught:
            uri.split(bad := kind(b"a b"))
        assert caught.value.input is bad and caught.value.offset == 1
    assert all(type(part) is str for part in uri.split(Text(text)))
    assert iri.split(Text("é?ü")) == (None, None, "é", "ü", None)
    for function in uri.check, uri.is_valid, uri.split, iri.check, iri.is_valid, iri.split:
        for wrong in None, 1, ["a"]:
            with pytest.raises(TypeError):
                function(wrong)
    with pytest.raises(TypeError):
        uri.split()


def test_every_check_takes_references():
    """All functions that check have the same default, whatever they are called."""
    for text, found in ("/a", None), ("http://e/", None), ("", None), ("a b", ("path", 1)):
        for value in text, text.encode():
            assert brief(uri.check(value)) == brief(uri.check(value, "URI-reference")) == found
            assert brief(iri.check(value)) == brief(iri.check(value, "IRI-reference")) == found
            valid = found is None
            assert uri.is_valid(value) is uri.is_valid(value, "URI-reference") is valid
            assert iri.is_valid(value) is iri.is_valid(value, "IRI-reference") is valid
            for row in bulk.is_valid_uri([value]), bulk.is_valid_iri([value]):
                assert row == [valid]
            for row in bulk.check_uri([value]), bulk.check_iri([value]):
                assert row == [None if valid else {"code": found[0], "offset": found[1]}]
    for function in uri.check, uri.is_valid, bulk.is_valid_uri, bulk.check_uri:
        assert inspect.signature(function).parameters["production"].default == "URI-reference"
    for function in iri.check, iri.is_valid, bulk.is_valid_iri, bulk.check_iri:
        assert inspect.signature(function).parameters["production"].default == "IRI-reference"
    assert bulk.is_valid_uri(["/a"], "URI") == [uri.is_valid("/a", "URI")] == [False]
    assert bulk.is_valid_iri(["/é"], production="IRI") == [iri.is_valid("/é", production="IRI")] == [False]


def test_productions():
    for function in uri.check, uri.is_valid:
        with pytest.raises(
            ValueError, match="unknown production 'IRI'; choose from URI-reference, URI, absolute-URI, relative-ref"
        ):
            function("a", "IRI")
    for function in iri.check, iri.is_valid:
        with pytest.raises(ValueError, match="unknown production 'URI'"):
            function("a", production="URI")
    assert brief(uri.check("a", production="URI")) == ("scheme", 1) == brief(uri.check(uri="a", production="URI"))
    assert brief(uri.check("s:a#", production="absolute-URI")) == ("fragment", 3)
    assert brief(uri.check("s:a", production="relative-ref")) == ("path-colon", 1)
    assert brief(uri.check("1:a", production="URI")) == ("scheme", 0) and brief(uri.check("1:a")) == ("path-colon", 1)
    fault = uri.check("%")
    assert (fault.code, fault.offset) == ("percent", 0) and type(fault) is uri.Diagnostic is iri.Diagnostic


def test_functions_have_names():
    for module, names in (
        (uri, ["check", "is_valid", "split", "unsplit"]),
        (iri, ["check", "is_valid", "split", "unsplit"]),
    ):
        for name in names:
            function = getattr(module, name)
            assert (function.__module__, function.__name__, function.__qualname__) == (module.__name__, name, name)
            assert pickle.loads(pickle.dumps(function)) is function
        assert module.__all__ == sorted(module.__all__) and all(hasattr(module, name) for name in module.__all__)


@pytest.mark.process
def test_nothing_else_is_imported():
    code = (
        "import sys, uricodec.uri, uricodec.iri; print({'urllib', 'idna', 'inspect', 'ipaddress'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == set()


# --- putting together -------------------------------------------------------------------------------------------------

SOME = st.one_of(
    st.none(), st.text("ab:/?#@[]%é\ue000 0", max_size=4), st.sampled_from(["s", "http", "h", "//a", "a:b"])
)


@given(components=st.tuples(SOME, SOME, SOME.map(lambda path: path or ""), SOME, SOME))
@example(components=(None, None, "//a", None, None))
@example(components=(None, None, "a:b", None, None))
@example(components=("", None, "a", None, None))
@example(components=("a:b", None, "c", None, None))
@example(components=("a/b", None, "c", None, None))
@example(components=("s", "h", "p", None, None))
@example(components=("s", "h/p", "", None, None))
@example(components=("s", None, "p?q", "r", None))
@example(components=("s", None, "p", "q#r", None))
@example(components=("s", "é/é", "/é", "é?#", "é"))
def test_unsplit(components):
    """What comes out is read as what went in, or nothing comes out."""
    for module, production, error, checked in (
        (uri, "URI-reference", UriSyntaxError, naive.check),
        (iri, "IRI-reference", IriError, lambda text, production: naive.check(text, production, True)),
    ):
        text = naive.unsplit(components)
        fault = checked(text, production)
        octets = [part if part is None else part.encode() for part in components]
        if fault is None and naive.split(text) == components:
            assert module.unsplit(components) == text == module.unsplit(list(components))
            assert module.unsplit(octets) == text.encode()
            assert module.split(text) == components
            continue
        for given_, whole in (components, text), (octets, text.encode()):
            with pytest.raises(error) as caught:
                module.unsplit(given_)
            assert caught.value.input == whole
            if fault is not None:
                assert caught.value.offset == (fault.offset if whole is text else len(text[: fault.offset].encode()))
            else:
                assert 0 <= caught.value.offset < len(whole) and "different components" in caught.value.reason


@each_row(
    ("components", "position"),
    [
        *[((None, None, "//a", None, None), 0), (("s", None, "//a", None, None), 2)],
        *[((None, None, "a:b", None, None), 1), (("a:b", None, "", None, None), 1), (("s", "a/b", "", None, None), 5)],
        *[(("s", "h", "p", None, None), 5), (("s", None, "p?", "q", None), 3), (("s", None, "", "q#", None), 4)],
        (("s", "é", "é/é", "é", "é"), 5),
    ],
)
def test_rejects_components_that_would_be_read_otherwise(components, position):
    with pytest.raises(IriError, match="different components") as caught:
        iri.unsplit(components)
    assert caught.value.offset == position


def test_unsplit_takes_components_of_one_type():
    assert uri.unsplit(["s", None, "", None, None]) == "s:"
    assert uri.unsplit((b"s", memoryview(b"h"), bytearray(b"/"), None, b"")) == b"s://h/#"
    for wrong in (
        ("s", None, b"", None, None),
        (None, None, None, None, None),
        (b"s", None, "", None, None),
        (1, 2, "", 4, 5),
    ):
        with pytest.raises(TypeError):
            uri.unsplit(wrong)
    with pytest.raises(ValueError):
        uri.unsplit(("s", None, "", None))


# --- rows -------------------------------------------------------------------------------------------------------------

COLUMNS = ["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"]
ROWS = {
    (kind, name): rows
    for kind in ("uri", "iri")
    for name, rows in {
        "check": CheckRows(kind, f"{kind.upper()}-reference"),
        "jsonl": SplitRows(kind, "jsonl"),
        "csv": SplitRows(kind, "csv"),
        "safe csv": SplitRows(kind, "csv", csv_safe=True),
    }.items()
}


def fenced_row(fences, rows, octets):
    """The output, all of it between guard pages, or the fault."""
    results = set()
    for place in "at_start", "at_end":
        src = getattr(fences[0], place)(octets + b"\0")
        dst = getattr(fences[1], place)(bytes(rows.capacity(len(src))))
        read, found = transform_lines(src, dst, rows, b"\0")
        assert read == len(src)
        results.add(found.faults[0][3:] if found.faults else bytes(dst[: max(found.written - 1, 0)]))
    assert len(results) == 1
    return results.pop()


@pytest.mark.slow
@each_row("text", [*REFERENCES, *IRIS, "", "?", "//", "//@:", "s:" + "a" * 63, "s:?" + "日" * 600, "//" + "[" * 60])
def test_rows_between_guard_pages(tier, fences, text):
    for iri_syntax in False, True:
        for end in range(len(text.encode()) + 1):
            octets = text.encode()[:end]
            fault = cached_check(octets, "IRI-reference" if iri_syntax else "URI-reference", iri_syntax)
            kind = "iri" if iri_syntax else "uri"
            found = {name: fenced_row(fences, rows, octets) for (each, name), rows in ROWS.items() if each == kind}
            if fault is not None:
                assert set(found.values()) == {fault}
                continue
            parts = (iri if iri_syntax else uri).split(octets.decode())
            row = {name: getattr(parts, name) for name in COLUMNS}
            assert found["check"] == b""
            assert found["jsonl"].decode() == json.dumps(row, ensure_ascii=False, separators=(",", ":"))
            values = [*row.values(), None, None]  # no error, no offset
            assert found["csv"].decode() == ",".join(map(csv_cell, values))
            cells = [value or "" for value in values]
            assert list(csv.reader(io.StringIO(found["csv"].decode()), strict=True)) == [cells]
            cells = [re.sub("^(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])", "'", cell) for cell in cells]
            assert list(csv.reader(io.StringIO(found["safe csv"].decode()), strict=True)) == [cells]
