"""Attacks that parsers of URLs fell for, by the number under which they are known.

The strict functions (`uricodec.uri`, `uricodec.iri`) reject, and say why and where. The drop-in (`uricodec.parse`) does
what the urllib.parse of the running interpreter does, mended or not. At the end, long inputs for all functions.
"""

import functools
import subprocess
import sys
import unicodedata
import urllib.parse
from pathlib import Path

import pytest
from support.diagnostics import brief
from support.tables import each_row

import uricodec
from uricodec import iri, parse, uri
from uricodec.errors import IriError, UriSyntaxError
from uricodec.uri import legacy_schemes

DELIMITERS = "/?#@:[]\\%"


# --- what is done with an input ---------------------------------------------------------------------------------------


def assert_refused(text, code, offset, iri_code=None):
    """Every strict function rejects it, as text and as octets."""
    octets = text.encode()
    before = len(text[:offset].encode())
    for given, at in (text, offset), (octets, before), (memoryview(octets), before):
        assert brief(uri.check(given)) == (code, at)
        assert not uri.is_valid(given)
        assert brief(iri.check(given)) == (iri_code or code, at)
        assert not iri.is_valid(given)
        for split, error in (uri.split, UriSyntaxError), (iri.split, IriError):
            with pytest.raises(error) as caught:
                split(given)
            assert (caught.value.offset, caught.value.input) == (at, given)


def outcome(function, *args, **options):
    try:
        result = function(*args, **options)
    except Exception as error:
        return type(error)
    if isinstance(result, tuple) and hasattr(result, "netloc"):
        attributes = ["scheme", "netloc", "username", "password", "hostname", "port"]
        return type(result), tuple(result), result.geturl(), [outcome(getattr, result, name) for name in attributes]
    return type(result), result


def assert_like_urllib(name, *args, **options):
    ours, theirs = getattr(parse, name), getattr(urllib.parse, name)
    assert outcome(ours, *args, **options) == outcome(theirs, *args, **options)


def assert_dropped_in(text):
    """The drop-in reads it as urllib.parse does."""
    for given, base in (text, "http://base.example/a/b"), (text.encode(), b"http://base.example/a/b"):
        for name in "urlsplit", "urlparse", "urldefrag", "unquote", "unquote_plus":
            assert_like_urllib(name, given)
        assert_like_urllib("urljoin", base, given)
        assert_like_urllib("urljoin", given, given)
        assert_like_urllib("parse_qsl", given)


# --- by number --------------------------------------------------------------------------------------------------------

# Blanks and controls: at the start, where a block list of schemes was passed; within, where they were dropped, and what
# was around them came together; at the end.
BLANKS = [
    *[(" http://evil.example/", "path", 0), ("\thttp://evil.example/", "path", 0)],
    *[("\nhttp://evil.example/", "path", 0), ("\x00http://evil.example/", "path", 0)],
    *[("\x1bhttp://evil.example/", "path", 0), ("\x1f http://evil.example/", "path", 0)],
    ("\x7fhttp://evil.example/", "path", 0),
    (" \x0b\x0c\r\n file:///etc/passwd", "path", 0),
    *[(" javascript:alert(1)", "path", 0), ("http ://evil.example/", "path", 4), ("java\nscript:alert(1)", "path", 4)],
    *[("java\tscript:alert(1)", "path", 4), ("java\rscript:alert(1)", "path", 4)],
    *[("java\x00script:alert(1)", "path", 4), ("javascript:\nalert(1)", "path", 11)],
    *[("http:\n//evil.example/", "path", 5), ("http:/\t/evil.example/", "path", 6)],
    *[("http:/\n/evil.example/", "path", 6), ("http://\nevil.example/", "host", 7)],
    *[("http:// evil.example/", "host", 7), ("http://evil\t.example/", "host", 11)],
    ("http://evil.exam\r\nple/", "host", 16),
    ("http://user\n@evil.example/", "userinfo", 11),
    *[("http://evil.example\n:80/", "host", 19), ("http://evil.example:8\t0/", "port", 21)],
    ("http://evil.example:\x0080/", "port", 20),
    ("http://evil.example/\r\nX-Header: 1", "path", 20),
    ("http://evil.example/ HTTP/1.1\r\n", "path", 20),
    ("http://evil.example/?a\nb", "query", 22),
    ("http://evil.example/?a#\x1b[2J", "fragment", 23),
    *[("http://evil.example/\x00", "path", 20), ("http://evil.example/ ", "path", 20)],
    ("http://evil.example/\n", "path", 20),
    ("//evil.example\\@good.example/", "userinfo", 14),
]


@each_row(("text", "code", "offset"), [row for row in BLANKS if row[2] == 0])
def test_cve_2023_24329_blanks_before_a_url(text, code, offset):
    """ " http://..." had no scheme for whoever looked, and one for whoever stripped it."""
    assert_refused(text, code, offset)
    assert brief(uri.check(text, production="URI")) == ("scheme", 0)
    assert brief(iri.check(text, production="IRI")) == ("scheme", 0)
    assert_dropped_in(text)
    with pytest.raises(UriSyntaxError):
        legacy_schemes.parse(text)
    with pytest.raises(IriError):
        iri.iri_to_uri(text)


@each_row(("text", "code", "offset"), [row for row in BLANKS if row[2] > 0])
def test_cve_2022_0391_blanks_and_controls_within_a_url(text, code, offset):
    assert_refused(text, code, offset)
    assert_dropped_in(text)
    with pytest.raises(UriSyntaxError):
        legacy_schemes.parse(text)
    with pytest.raises(IriError) as caught:
        iri.iri_to_uri(text)
    assert caught.value.offset <= offset


@each_row("blank", ["\x85", "\xa0", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\ufeff"])
def test_cve_2023_24329_blanks_beyond_ascii_are_not_stripped(blank):
    text = f"{blank}http://evil.example/"
    assert brief(uri.check(text)) == ("path", 0)
    # U+0085 is in no IRI. The others are like any letter there: what begins with one has no scheme.
    assert brief(iri.check(text)) == (("character", 0) if blank == "\x85" else ("path-colon", 5))
    assert brief(iri.check(text, production="IRI")) == ("scheme", 0)
    assert_dropped_in(text)


BRACKETS = [
    # what is no address
    *[("http://[]/", "ip-literal", 8), ("http://[evil.example]/", "ip-literal", 9)],
    *[("http://[127.0.0.1]/", "ip-literal", 11), ("http://[1.2.3.4]/", "ip-literal", 9)],
    *[("http://[v.evil]/", "ip-literal", 9), ("http://[v1]/", "ip-literal", 10), ("http://[v1.]/", "ip-literal", 11)],
    ("http://[vz.evil.example]/", "ip-literal", 9),
    *[("http://[::1%25eth0]/", "ip-literal", 11), ("http://[::1%eth0]/", "ip-literal", 11)],
    ("http://[fe80::1::2]/", "ip-literal", 16),
    ("http://[1:2:3:4:5:6:7:8:9]/", "ip-literal", 23),
    *[("http://[12345::]/", "ip-literal", 12), ("http://[::256.0.0.1]/", "ip-literal", 13)],
    *[("http://[::1/", "ip-literal", 11), ("http://[::1", "ip-literal", 11)],
    ("http://[/evil.example]/", "ip-literal", 8),
]
PLACES = [
    # what is around one
    ("http://[::1]evil.example/", "ip-literal", 12),
    ("http://[::1].evil.example/", "ip-literal", 12),
    ("http://[::1][::2]/", "ip-literal", 12),
    ("http://prefix.[::1]/", "host", 14),
    ("http://prefix.[v6a.ip]/", "host", 14),
    ("http://prefix.[v6a.ip].suffix:80/", "host", 14),
    ("http://good.example[/", "host", 19),
    ("http://good.example]/", "host", 19),
    ("http://]good.example[/", "host", 7),
    ("http://[[::1]]/", "ip-literal", 8),
    ("http://[::1]]/", "ip-literal", 12),
    ("http://user[x]@good.example/", "userinfo", 11),
    ("http://[::1]@good.example/", "userinfo", 7),
    ("http://good.example:[80]/", "port", 20),
    ("http://good.example/[::1]", "path", 20),
    ("http://[::1]:80x/", "port", 15),
]


@each_row(("text", "code", "offset"), BRACKETS)
def test_cve_2024_11168_what_is_in_brackets(text, code, offset):
    assert_refused(text, code, offset)
    assert_dropped_in(text)
    with pytest.raises(UriSyntaxError):
        legacy_schemes.parse(text)


@each_row(("text", "code", "offset"), PLACES)
def test_cve_2025_0938_brackets_out_of_place(text, code, offset):
    assert_refused(text, code, offset)
    assert_dropped_in(text)
    with pytest.raises(UriSyntaxError):
        legacy_schemes.parse(text)


def test_cve_2024_11168_addresses_that_are_some():
    for host in "[::1]", "[1:2:3:4:5:6:7:8]", "[::ffff:127.0.0.1]", "[v1.a:b]", "[fe80::]":
        parts = uri.split(f"http://u@{host}:80/")
        assert (parts.host, parts.port, parts.host_kind) == (host, "80", "IP-literal")
        assert iri.split(f"http://u@{host}:80/") == parts


@functools.cache
def alike():
    """The characters whose compatibility form holds a delimiter."""
    found = []
    for code in range(0x80, sys.maxunicode + 1):
        form = unicodedata.normalize("NFKC", chr(code)) if not 0xD800 <= code <= 0xDFFF else ""
        if any(delimiter in form for delimiter in DELIMITERS):
            found.append(chr(code))
    return found


@pytest.mark.slow
def test_cve_2019_9636_exactly_the_characters_that_hold_a_delimiter():
    """Of all characters, in a host. What a newer Unicode adds is unassigned here."""
    rejected = [
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if not 0xD800 <= code <= 0xDFFF
        and brief(iri.check(f"http://a{chr(code)}b/", safe_host=True)) == ("host-delimiter", 8)
    ]
    assert set(alike()) <= set(rejected)
    assert {unicodedata.category(character) for character in set(rejected) - set(alike())} <= {"Cn"}


@pytest.mark.slow
@each_row("character", alike)
def test_cve_2019_9636_delimiters_that_normalisation_makes_of_a_host(character):
    """What is one host for who looks is another for who connects: IDNA works on compatibility forms."""
    text = f"http://good.example{character}.evil.example/"
    assert brief(iri.check(text, safe_host=True)) == ("host-delimiter", 19)
    assert brief(iri.check(text.encode(), safe_host=True)) == ("host-delimiter", 19)
    assert brief(uri.check(text)) == ("host", 19)
    assert iri.split(text).host == text[7:-1]
    with pytest.raises(UriSyntaxError) as caught:
        uri.split(text)
    assert caught.value.offset == 19
    for given in text, f"http://good.example{urllib.parse.quote(character)}.evil.example/":
        with pytest.raises(IriError) as caught:
            iri.iri_to_uri(given, host="idna")
        assert caught.value.offset == 7
        # Without IDNA, and in a normal form, the host has triplets, and IRIs do not get it back.
        assert urllib.parse.quote(character) in iri.iri_to_uri(given)
        assert urllib.parse.quote(character) in uri.normalize(given, level="iri")
    assert_dropped_in(text)


@each_row("character", alike)
def test_cve_2019_10160_delimiters_that_normalisation_makes_of_a_userinfo(character):
    """The "@" or "#" of the user's name decides what the host is."""
    for text in f"http://good.example{character}@evil.example/", f"http://user:good.example{character}@evil.example":
        at = text.index(character)
        assert brief(iri.check(text, safe_host=True)) == ("host-delimiter", at)
        assert brief(uri.check(text)) == ("userinfo", at)
        assert iri.split(text).host == "evil.example"
        with pytest.raises(UriSyntaxError) as caught:
            uri.split(text)
        assert caught.value.offset == at
        assert_dropped_in(text)


def test_cve_2021_23336_one_separator():
    """A ";" separated parameters for some, and belonged to a value for others: caches were poisoned."""
    query = "a=1;b=2&c=3"
    assert parse.parse_qsl("a=1;b=2") == urllib.parse.parse_qsl("a=1;b=2")
    for options in {}, {"separator": ";"}, {"separator": ""}, {"separator": b"&"}, {"max_num_fields": 1}:
        for given in query, query.encode():
            assert_like_urllib("parse_qsl", given, **options)
            assert_like_urllib("parse_qs", given, **options)
    # The strict functions give the query as it is: nobody has split it.
    assert uri.split(f"?{query}").query == query
    assert uri.normalize(f"?{query}", level="scheme") == f"?{query}"
    assert legacy_schemes.parse(f"http://h/?{query}")["search"] == [query]


@pytest.mark.parametrize("level", ["percent", "path", "scheme", "iri"])
def test_cve_2021_41773_dots_after_triplets(level):
    """The server looked for "../" first and decoded "%2e" then. The grammar has no fault here: dots are dots."""
    text = "/cgi-bin/.%2e/%2E%2e/.%2e/etc/passwd"
    assert uri.check(text) is None
    assert uri.normalize(text, level=level) == {"percent": "/cgi-bin/../../../etc/passwd"}.get(level, "/etc/passwd")
    assert uri.resolve("http://h/a", text) in {"http://h/etc/passwd", f"http://h{text}"}
    assert legacy_schemes.parse(f"file://{text}")["path"] == ["cgi-bin", "..", "..", "..", "etc", "passwd"]
    assert_dropped_in(text)


@pytest.mark.parametrize(
    ("text", "offset"),
    [("/cgi-bin/%%32%65%%32%65/etc/passwd", 9), ("/.%%32e/", 2), ("/%2%65", 1), ("/%%341", 1), ("/%u002e%u002e/", 1)],
)
def test_cve_2021_42013_triplets_made_of_triplets(text, offset):
    assert_refused(text, "percent", offset)
    assert_dropped_in(text)
    with pytest.raises(IriError) as caught:
        iri.uri_to_iri(text)
    assert caught.value.offset == offset
    with pytest.raises(UriSyntaxError) as caught:
        uri.normalize(text, level="rfc1630")
    assert caught.value.offset == offset


@each_row("text", ["/%252e%252E/x", "/%25%32%65/", "/%25%34%31", "/%2541", "/%25252e"])
@each_row("level", ["simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396"])
def test_cve_2021_42013_nothing_is_decoded_twice(text, level):
    """Each function decodes once, and a "%" that comes out of a triplet stays one."""
    assert uri.check(text) is None
    once = uri.normalize(text, level=level)
    assert uri.normalize(once, level=level) == once
    assert uricodec.percent_decode(once) == uricodec.percent_decode(text)
    assert ".." not in once
    again = iri.uri_to_iri(text)
    assert iri.uri_to_iri(again) == again
    assert uricodec.percent_decode(again) == uricodec.percent_decode(text)
    assert_dropped_in(text)


HOSTS = [f"%{code:02X}" for code in [*range(0x21), 0x7F, *map(ord, "/?#@:[]\\%")]]


@each_row("triplet", HOSTS)
def test_cve_2022_27780_delimiters_after_triplets_in_a_host(triplet):
    """ "good.example%2Fevil.example" was checked as one host, decoded, and read again."""
    for given in triplet, triplet.lower():
        for text in f"http://good.example{given}.evil.example/", f"//u@{given}:80", f"http://127.0.0.1{given}":
            for check in uri.check, iri.check:
                assert brief(check(text, safe_host=True)) == ("host-delimiter", text.index("%"))
                assert brief(check(text.encode(), safe_host=True)) == ("host-delimiter", text.index("%"))
            assert uri.is_valid(text) and not uri.is_valid(text, safe_host=True)
            assert uri.split(text).host in text and given in uri.split(text).host
            assert_dropped_in(text)
            # A normal form keeps it as it is: nobody is led elsewhere.
            assert triplet in uri.normalize(text, level="iri")
    with pytest.raises(UriSyntaxError):
        legacy_schemes.parse(f"ftp://good.example{triplet}.evil.example/")
    # Elsewhere it is data.
    assert uri.check(f"http://u{triplet}@h/{triplet}?{triplet}#{triplet}") is None


class Counted:
    """How long a text `idna` gets to see at most: to convert, and to map, which takes linear time."""

    def __init__(self, monkeypatch):
        self.longest = self.mapped = 0
        idna = pytest.importorskip("idna")
        for name in "encode", "decode", "alabel", "ulabel", "check_label":
            monkeypatch.setattr(idna, name, self.counting(getattr(idna, name), "longest"))
        monkeypatch.setattr(idna, "uts46_remap", self.counting(idna.uts46_remap, "mapped"))

    def counting(self, function, what):
        def counted(text, *args, **options):
            setattr(self, what, max(getattr(self, what), len(text)))
            return function(text, *args, **options)

        return counted


@pytest.mark.slow
@pytest.mark.parametrize(
    "host",
    ["é" * 64, "é" * 100_000, "é." * 100_000, "\u0300" * 1000, "\ufdfa" * 5000, "\u0661a" * 2000, "xn--é" * 20_000],
    ids=lambda host: f"{host[:2]!a}x{len(host)}",
)
def test_cve_2022_45061_long_hosts_are_rejected_before_any_work(monkeypatch, host):
    """To decode one took quadratic time."""
    counted = Counted(monkeypatch)
    for given in f"http://{host}/", f"http://{urllib.parse.quote(host)}/":
        with pytest.raises(IriError) as caught:
            iri.iri_to_uri(given, host="idna")
        assert caught.value.offset == 7
        # What has no A-labels keeps its triplets in a normal form.
        assert uri.normalize(given, level="iri") == f"http://{urllib.parse.quote(host)}/"
        assert_dropped_in(given)
    assert counted.longest == 0
    assert counted.mapped <= 4 * 253


@pytest.mark.parametrize("host", ["xn--" + "a" * 100_000, "xn--a." * 50_000, "xn--" + "9" * 60, "a" * 64 + ".xn--a"])
def test_cve_2022_45061_long_a_labels_are_rejected_before_any_work(monkeypatch, host):
    counted = Counted(monkeypatch)
    with pytest.raises(IriError) as caught:
        iri.uri_to_iri(f"http://{host}/", host="unicode")
    assert caught.value.offset == 7
    assert uri.normalize(f"http://{host}/", level="iri") == f"http://{host}/"
    assert_dropped_in(f"http://{host}/")
    assert counted.longest == 0
    assert counted.mapped <= 4 * 253


def test_cve_2024_3651_idna_gets_no_more_than_a_host(monkeypatch):
    """To encode one took quadratic time: what `idna` gets has a limit, that of DNS."""
    counted = Counted(monkeypatch)
    longest = ".".join(["é" * 40] * 6)
    assert len(longest) <= 253
    for host in longest, "é" * 50, "\u0300" * 63, "a" * 63 + ".é", "xn--" + "a" * 59:
        for function, options in (iri.iri_to_uri, {"host": "idna"}), (iri.uri_to_iri, {"host": "unicode"}):
            try:
                function(f"http://{host}/", **options)
            except IriError as error:
                assert error.offset == 7
        uri.normalize(f"http://{host}/", level="iri")
    assert 0 < counted.longest <= 253


def test_cve_2024_3651_idna_is_not_there_for_other_hosts():
    code = (
        "import sys; from uricodec import iri, uri; iri.iri_to_uri('http://example.org/é', host='idna'); "
        "iri.uri_to_iri('http://example.org/', host='unicode'); uri.normalize('http://example.org/', level='iri'); "
        "print('idna' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- long inputs ------------------------------------------------------------------------------------------------------

LONG = 1 << 20
UNITS = ["../", "%41", "/", "[", "&"]


def expected_of(unit, n):
    """The result for "http://h/" and n units, and of the units where they are a reference to "http://h/a/b"."""
    text = unit * n
    valid = unit != "["
    return {
        "fault": None if valid else ("path", 9),
        "percent": "A" * n if unit == "%41" else text,
        "path": {"../": "", "%41": "A" * n}.get(unit, text),
        "resolved": {"../": "http://h/", "/": f"http:{text}"}.get(unit, f"http://h/a/{text}"),
    }


def long_calls(unit, size):
    """(what was called, what came out, what should)"""
    n = size // len(unit)
    text = unit * n
    long, base = f"http://h/{text}", "http://h/a/b"
    expected = expected_of(unit, n)
    for given in long, long.encode():
        like = (lambda result: result) if given is long else (lambda result: result.encode())
        yield "check", brief(uri.check(given)), expected["fault"]
        yield "check of iri", brief(iri.check(given)), expected["fault"]
        yield "is_valid of uri", uri.is_valid(given), expected["fault"] is None
        yield "is_valid of iri", iri.is_valid(given), expected["fault"] is None
        if not expected["fault"]:
            parts = tuple(like(part) for part in ("http", "h", f"/{text}"))
            for module in uri, iri:
                split = module.split(given)
                yield "split", (split[:3], split.query, split.fragment), (parts, None, None)
                yield "unsplit", module.unsplit(split), given
        for level in "simple", "case":
            yield level, uri.normalize(given, level=level), given
        yield "percent", uri.normalize(given, level="percent"), like("http://h/" + expected["percent"])
        for level in "path", "scheme", "iri":
            yield level, uri.normalize(given, level=level), like("http://h/" + expected["path"])
        yield "rfc2396", uri.normalize(given, level="rfc2396"), like("http://h/" + expected["percent"])
        yield "key", uri.key(given, level="path") == uri.key(like(f"http://h/{expected['path']}"), level="path"), True
        yield "equivalent", uri.equivalent(given, like(f"http://h/{expected['path']}"), level="path"), True
        yield "resolve", uri.resolve(like(base), like(text)), like(expected["resolved"])
        yield "resolve from", uri.resolve(given, like("/x")), like("http://h/x")
        yield "iri_to_uri", iri.iri_to_uri(given), given
        yield "uri_to_iri", iri.uri_to_iri(given), like("http://h/" + expected["percent"])
        yield "schemes", given if expected["fault"] else legacy_schemes.parse(like("x:") + given)["opaque"], given
        yield "requote", uricodec.requote(given), given
        yield "percent_decode", uricodec.percent_decode(given), like("http://h/" + expected["percent"])
        yield "unquote", parse.unquote(given), "http://h/" + expected["percent"]
        for name in "urlsplit", "urlparse", "parse_qsl", "quote":
            yield name, outcome(getattr(parse, name), given), outcome(getattr(urllib.parse, name), given)
    if unit in {"%41", "&"}:
        yield "relativize", uri.relativize(base, f"http://h/a/{text}"), text
    if unit == "/":
        yield "relativize", uri.resolve(base, uri.relativize(base, long)), long
    # The same where the host would be: nested and unbalanced brackets, above all.
    hosts = {"[": ("ip-literal", 8), "../": None, "/": None, "%41": None, "&": None}
    yield "host", brief(uri.check(f"http://{text}")), hosts[unit]
    yield "host of iri", brief(iri.check(f"http://{text}")), hosts[unit]
    yield "normal host", uri.normalize(f"http://{text}", level="case"), f"http://{text}"


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_long_inputs(unit):
    for name, got, expected in long_calls(unit, LONG):
        assert got == expected, name


@pytest.mark.slow
def test_cve_2025_67899_no_recursion():
    """Deeply nested input, on a thread whose stack holds no more than a few hundred calls."""
    code = f"""
import sys, threading
sys.path[:0] = [{str(Path(__file__).parent)!r}]
import test_security
errors = set()
def run():
    for unit in [*test_security.UNITS, "[[", "a[", "%5B", "(", "a:", "@", "./", "a/../"]:
        found = test_security.errors_of_nesting(unit * {1 << 16})
        errors.update(error.__name__ for error in found if isinstance(error, type))
    errors.add("end")
threading.stack_size(256 << 10)
sys.setrecursionlimit(120)
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(*sorted(errors))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "IriError UriSyntaxError ValueError end\n"), done.stderr


def errors_of_nesting(text):
    """Which errors all that reads raises, with the text wherever it can be."""
    reading = [uri.check, uri.split, uri.normalize, uri.key, iri.check, iri.split, iri.iri_to_uri, iri.uri_to_iri]
    reading += [
        *(legacy_schemes.parse, parse.urlsplit, parse.unquote, parse.parse_qsl, uricodec.percent_decode),
        uricodec.requote,
    ]
    for given in (
        *(text, f"x:{text}", f"//{text}", f"//{text}@h", f"//h:{text}", f"http://h/{text}", f"?{text}", f"#{text}"),
    ):
        for function in reading:
            yield outcome(function, given)
        for base in "http://h/a/b", f"x:{text}", f"http://h/{text}":
            yield outcome(uri.resolve, base, given)
            yield outcome(uri.relativize, base, given)


def test_every_number_has_a_test():
    numbers = [
        *("2023_24329", "2022_0391", "2024_11168", "2025_0938", "2019_9636", "2019_10160", "2021_23336", "2021_41773")
    ]
    numbers += ["2021_42013", "2022_27780", "2022_45061", "2024_3651", "2025_67899"]
    for number in numbers:
        assert any(name.startswith(f"test_cve_{number}_") for name in globals())
