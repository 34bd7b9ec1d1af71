"""`uricodec.iri`: IRIs to URIs and back, against the reference, the documents and real data, on every CPU tier."""

import ast
import pickle
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import iri as naive_iri
from reference.errors import UriError as Invalid
from support.tables import each_row
from support.timing import assert_linear
from support.vendored import cases, scalar, web_inputs

from uricodec._url import _hosts
from uricodec.errors import IriError
from uricodec.iri import iri_to_uri, uri_to_iri

VECTORS = Path(__file__).parents[1] / "data" / "iri_vectors.tsv"
CHUNK = 4096  # octets that are worked on at once
OPTIONS = {"host": {"ToASCII": "idna"}}

# What has a meaning of its own, or nearly.
PIECES = (
    *("%", "%4", "%41", "%2F", "%2f", "%25", "%20", "%7e", "%00", "%7F", "%zz", "%u0041", ":", "/", "?", "#", "[", "@"),
    *("%C3", "%A9", "%c3%a9", "%E2%80%AE", "%e2%80%8e", "%EE%80%80", "%F4%8F%BF%BD", "%F3%A0%80%80", "%EF%BF%BF"),
    *("%F0%9F%98%80", "%F8%88%80%80%80", "%ED%A0%80", "%E0%80%AF", "%C0%AF", "%E3%81%82", "%EF%BC%81", "%F0%9F%BF%BE"),
    *("%C2%80", "a", "z", "~", "é", "あ", "\uff01", "😀", "\u202e", "\ue000", "\U000f0000", "\ufdd0", "\x80", "<", " "),
    *("\\", "\x01", "\x7f"),
)
REFERENCES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
ASCII_PIECES = st.sampled_from([piece for piece in PIECES if piece.isascii()])
URIS = st.lists(ASCII_PIECES | st.from_regex("%[0-9a-fA-F]{2}", fullmatch=True), max_size=30)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def outcome(function, *arguments, **options):
    """What a function returns, or where it rejects its input."""
    try:
        return function(*arguments, **options)
    except (IriError, Invalid) as error:
        assert error.input is arguments[0]
        return error.offset


def agree(text):
    """Both directions, as str and as octets."""
    for data in text, text.encode():
        assert outcome(uri_to_iri, data) == outcome(naive_iri.uri_to_iri, data)
        for disallowed in "raise", "encode":
            expected = outcome(naive_iri.iri_to_uri, data, disallowed)
            assert outcome(iri_to_uri, data, disallowed=disallowed) == expected


def rows():
    def field(text):
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")

    for line in VECTORS.read_text("utf-8").splitlines()[1:]:
        operation, options, given_, expected, _ = line.split("\t")
        options = {name: OPTIONS.get(name, {}).get(value, value) for name, value in ast.literal_eval(options).items()}
        yield iri_to_uri if operation == "i2u" else uri_to_iri, options, field(given_), field(expected)


@each_row(("function", "options", "data", "expected"), list(rows()))
def test_vectors(tier, function, options, data, expected):
    for value in data, data.encode():
        if expected == "ERROR":
            with pytest.raises(IriError):
                function(value, **options)
        else:
            assert function(value, **options) == (expected if value is data else expected.encode())


# --- RFC 3987 ---------------------------------------------------------------------------------------------------------


def test_section_3_2_1_example_1_utf_8_is_decoded():
    assert uri_to_iri("http://www.example.org/D%C3%BCrst") == "http://www.example.org/Dürst"


def test_section_3_2_1_example_2_what_is_no_utf_8_stays():
    assert uri_to_iri("http://www.example.org/D%FCrst") == "http://www.example.org/D%FCrst"


def test_section_3_2_1_example_3_bidi_controls_stay():
    uri = "http://xn--99zt52a.example.org/%e2%80%ae"
    assert uri_to_iri(uri) == "http://xn--99zt52a.example.org/%E2%80%AE"
    assert uri_to_iri(uri, host="unicode") == "http://納豆.example.org/%E2%80%AE"


def test_section_3_1_three_sources_of_an_iri():
    decomposed, composed = "http://example.org/Vi\xea\u0323t", "http://example.org/Vi%E1%BB%87t"
    assert iri_to_uri(decomposed) == "http://example.org/Vi%C3%AA%CC%A3t"
    assert iri_to_uri(decomposed, nfc=True) == composed
    assert iri_to_uri(b"http://example.org/Vi\xea\xf2t", encoding="windows-1258") == composed.encode()
    for encoding in "utf-8", "utf_8", "UTF-16", "utf-16-be", "utf-32-le":
        assert iri_to_uri(decomposed.encode(encoding), encoding) == iri_to_uri(decomposed).encode()
        assert iri_to_uri(decomposed.encode(encoding), encoding, nfc=True) == composed.encode()


@cache
def characters():
    """The first two planes, and the edges of the others: (triplets, character, allowed, allowed in a query)."""
    edges = [(plane << 16) + c for plane in range(2, 17) for c in (*range(64), *range(0, 0x10000, 997), *EDGES)]
    points = [*range(0x80, 0xD800), *range(0xE000, 0x20000), *edges]
    return [
        (naive_iri.triplets(c), c, naive_iri.allowed(c, False), naive_iri.allowed(c, True)) for c in map(chr, points)
    ]


EDGES = [*range(0xFFC0, 0x10000), *range(0xFC0, 0x1040)]


@pytest.mark.slow
@each_row(("where", "query"), [("", False), ("?", True)])
def test_every_character(tier, where, query):
    given_ = where + "/".join(row[0] for row in characters())
    decoded = uri_to_iri(given_).removeprefix(where).split("/")
    assert decoded == [c if allowed[query] else spelled for spelled, c, *allowed in characters()]
    assert iri_to_uri(where + "/".join(decoded)) == given_


@pytest.mark.slow
def test_every_character_to_a_uri(tier):
    rows = [(c, spelled) for spelled, c, _, allowed in characters() if allowed or c in naive_iri.BIDI]
    assert iri_to_uri("/".join(c for c, _ in rows)) == "/".join(spelled for _, spelled in rows)
    mapped = {c for c, _ in rows}
    others = {c for _, c, *_ in characters()} - mapped
    assert len(others) > 150
    for c in others:
        assert outcome(iri_to_uri, "a" + c) == outcome(uri_to_iri, "a" + c) == 1


@pytest.mark.slow
def test_every_lead_and_continuation(every_tier):
    """Overlong forms, surrogates, sequences of five and six octets, and what is cut: nothing is forged."""
    tails = [(), (0x80,), (0xBF,), (0x80, 0x80), (0xBF, 0xBE), (0x80, 0x80, 0x80), (0x80,) * 4]
    seconds = 0x2F, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF
    firsts = [(lead, second) for lead in range(0x80, 0x100) for second in seconds]
    given_ = ["".join(f"%{octet:02x}" for octet in (*first, *tail)) for first in firsts for tail in tails]
    expected = [naive_iri.uri_to_iri(uri) for uri in given_]
    for _ in every_tier():
        assert uri_to_iri("/".join(given_)) == "/".join(expected)
        assert list(map(uri_to_iri, given_)) == expected


@each_row("octets", [b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc3", b"\xf4\x90\x80\x80", b"\x80"])
def test_bytes_that_are_no_utf_8(tier, octets):
    for padding in b"", b"a" * 70, "é".encode() * 40:
        for function in iri_to_uri, uri_to_iri:
            assert outcome(function, padding + octets) == len(padding)
            assert outcome(function, padding + octets + b"a%zz<") == len(padding)
            assert outcome(function, b"<" + padding + octets) == 0


@each_row("uri", ["%%341", "%%32%65", "%u0041", "%", "a%4", "%C3%2F%BC%", "%4g", "%-1"])
def test_malformed_triplets_are_rejected(uri):
    assert outcome(uri_to_iri, uri) == outcome(naive_iri.uri_to_iri, uri) < len(uri)
    assert iri_to_uri(uri) is uri


def test_nothing_is_decoded_twice():
    for uri in "%2541", "%25%34%31", "%C3%2F%BC", "%2525%2541":
        assert uri_to_iri(uri_to_iri(uri)) == uri_to_iri(uri)
        assert naive_iri.same(iri_to_uri(uri_to_iri(uri)), uri)


@each_row(
    ("uri", "iri"),
    [
        *[("%61:b", "%61:b"), ("a%62:/", "a%62:/"), ("%61%62%63:", "%61bc:")],
        *[("%31:a", "1:a"), ("%61/:", "a/:"), ("a:%62:", "a:b:"), ("%61%2B%62:", "a%2Bb:")],
    ],
)
def test_no_scheme_is_forged(uri, iri):
    assert uri_to_iri(uri) == iri == naive_iri.uri_to_iri(uri)


# --- against the reference --------------------------------------------------------------------------------------------


@given(REFERENCES)
@example("")
def test_conversions_agree_with_their_reference(tier, text):
    agree(text)


@given(TEXTS)
def test_any_text(tier, text):
    agree(text)


@given(st.binary(max_size=30))
def test_any_bytes(tier, octets):
    assert outcome(uri_to_iri, octets) == outcome(naive_iri.uri_to_iri, octets)
    assert outcome(iri_to_uri, octets) == outcome(naive_iri.iri_to_uri, octets)


@given(REFERENCES)
def test_to_a_uri_is_idempotent_and_the_identity_on_uris(text):
    try:
        uri = iri_to_uri(text, disallowed="encode")
    except IriError:
        return
    assert uri.isascii() and iri_to_uri(uri) is uri


@given(URIS.map("".join))
def test_converting_back_gives_an_equivalent_uri(tier, uri):
    try:
        iri = uri_to_iri(uri)
    except IriError:
        return
    assert naive_iri.same(iri_to_uri(iri), uri)
    assert uri_to_iri(iri) == iri
    assert uri_to_iri(uri.encode()) == iri.encode()


SPECIAL = ("%E3%81%82", "%F0%9F%98%80", "%2F", "%41", "%E2%80%AE", "%C3", "%E9x", "é", "%EE%80%80", "あ%A9", "%")


cached_iri = cache(partial(outcome, naive_iri.uri_to_iri))  # every tier asks the same


@pytest.mark.slow
@each_row("special", SPECIAL)
def test_every_length_and_position(tier, special):
    for filler in "a", "é", "%c3%a9":
        for before in range(0, 66):
            for after in 0, 2, 63, 64:
                text = filler * (before if len(filler) == 1 else before // 3) + special + "b" * after
                for data in text, text.encode():
                    assert outcome(uri_to_iri, data) == cached_iri(data)


@pytest.mark.slow
@each_row("special", SPECIAL)
@each_row("filler", ["a", "/", "é", "%c3%a9", "%41", "%2f"])
def test_pieces_cut_nothing(tier, special, filler):
    width = len(filler.encode())
    text = filler * ((CHUNK - 20) // width)
    tail = "é%e3%81%82/" * 9
    expected = naive_iri.uri_to_iri(special * 2 + tail) if special != "%" else None
    start, start_of_uri = uri_to_iri(text), naive_iri.iri_to_uri(text)
    for shift in range(0, 24):
        data = text + "b" * shift + special * 2 + tail
        if expected is None:
            assert outcome(uri_to_iri, data) == len(text) + shift
        else:
            assert uri_to_iri(data) == start + "b" * shift + expected
            assert uri_to_iri(data.encode()) == uri_to_iri(data).encode()
        if filler == "é":
            wanted = start_of_uri + "b" * shift + naive_iri.iri_to_uri(special * 2 + tail)
            assert (iri_to_uri(data), iri_to_uri(data.encode())) == (wanted, wanted.encode())


@each_row("before", range(CHUNK - 9, CHUNK + 1))
def test_pieces_of_bytes_that_are_no_utf8(tier, before):
    """Where a piece ends inside of octets that continue nothing."""
    data = b"a" * before + b"\x80" * 9 + b"/"
    for function in iri_to_uri, uri_to_iri:
        assert outcome(function, data) == before


def test_the_place_of_a_character_is_known_across_pieces(tier):
    private, kept = "\ue000", "%EE%80%80"
    for filler in "a" * CHUNK, "%41" * CHUNK, "é" * CHUNK:
        uri = f"{kept}{filler}?{kept}{filler}{kept}?{kept}#{kept}{filler}?{kept}"
        plain = uri_to_iri(filler)
        assert uri_to_iri(uri) == f"{kept}{plain}?{private}{plain}{private}?{private}#{kept}{plain}?{kept}"
        assert outcome(uri_to_iri, f"?{private}{filler}{private}#{filler}{private}") == 2 * len(filler) + 4


@each_row("at", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_the_first_fault_is_reported(tier, at):
    for fault in "<", "\x00", "\ufdd0", "\x85", "\U0001ffff", "\ud800":
        text = "é" * at + fault + "%zz\x01\ufffe"
        assert outcome(iri_to_uri, text) == outcome(uri_to_iri, text) == at
        if fault != "\ud800":
            assert outcome(iri_to_uri, text.encode()) == outcome(uri_to_iri, text.encode()) == 2 * at
    text = "é" * at + "<é\ud800"
    assert outcome(iri_to_uri, text) == outcome(uri_to_iri, text) == at
    assert outcome(iri_to_uri, text, disallowed="encode") == at + 2
    text = "é" * at + "%zz<"
    assert outcome(uri_to_iri, text) == at and outcome(iri_to_uri, text) == at + 3


@each_row(
    ("text", "to_uri", "to_iri"),
    [
        ("a<", "invalid character in IRI", "invalid character in IRI"),
        ("a\ud800", "lone surrogate", "lone surrogate"),
        ("a%", None, '"%" not followed by two hexadecimal digits'),
        ("a\ue000", None, "private-use character outside the query"),
        ("a\u200f", None, "bidirectional formatting character"),
        (b"a\xff", "invalid UTF-8", "invalid UTF-8"),
    ],
)
def test_reasons(text, to_uri, to_iri):
    for function, reason in (iri_to_uri, to_uri), (uri_to_iri, to_iri):
        if reason is not None:
            with pytest.raises(IriError) as caught:
                function(text)
            assert (caught.value.reason, caught.value.offset, caught.value.input) == (reason, 1, text)


# --- objects and options ----------------------------------------------------------------------------------------------


class Text(str):
    def __str__(self):
        return "something else"


@pytest.mark.parametrize("function", [iri_to_uri, uri_to_iri])
def test_keeps_types_and_unchanged_objects(function):
    for text in "", "http://example.org/%2F?q#f", "a" * 1000, "%2f" * 1000:
        assert function(text) is text and function(text.encode()) == text.encode()
        octets = text.encode()
        assert function(octets) is octets
        for kind in bytearray, memoryview:
            assert function(kind(octets)) == octets and type(function(kind(octets))) is bytes
        assert function(Text(text)) == text and type(function(Text(text))) is str
    for nothing in None, 1, ["a"], object():
        with pytest.raises(TypeError):
            function(nothing)
    with pytest.raises(TypeError):
        function()
    with pytest.raises(ValueError, match="host must be"):
        function("a", host="x")
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__module__ == "uricodec.iri"


def test_options_of_iri_to_uri():
    for disallowed in "x", None, True:
        with pytest.raises(ValueError, match="disallowed must be"):
            iri_to_uri("a", disallowed=disallowed)
    assert iri_to_uri('<>" {}|\\^`', disallowed="encode") == "%3C%3E%22%20%7B%7D%7C%5C%5E%60"
    with pytest.raises(IriError):
        iri_to_uri("\t", disallowed="encode")
    with pytest.raises(TypeError):
        iri_to_uri("a", encoding="latin-1")
    with pytest.raises(LookupError):
        iri_to_uri(b"a", encoding="no such")


def test_other_encodings():
    assert iri_to_uri(b"/\xe9", "latin-1") == b"/%C3%A9"
    assert iri_to_uri("/日本".encode("euc-jp"), encoding="euc-jp") == b"/%E6%97%A5%E6%9C%AC"
    assert iri_to_uri(bytearray(b"/e\xcc\x81"), nfc=True) == b"/%C3%A9"
    # The position is that of what was given.
    for encoding in "euc-jp", "utf-16", "utf-16-be", "iso2022_jp", "utf-8":
        text = "/日本<"
        octets = text.encode(encoding)
        before = text[:-1].encode(encoding)
        assert octets[outcome(iri_to_uri, octets, encoding) :].decode("ascii", "ignore").replace("\0", "").endswith("<")
        if encoding != "iso2022_jp":
            assert outcome(iri_to_uri, octets, encoding) == len(before)
    assert outcome(iri_to_uri, b"ab+AHsAfA-c", "utf-7") == 2  # they come out together, behind the last of them
    assert outcome(iri_to_uri, b"ab+AHs", "utf-7") == 2  # and these at the end
    assert outcome(iri_to_uri, b"ab\x81\x00", "euc-jp") == 2
    assert outcome(iri_to_uri, b"ab\xff", nfc=True) == 2
    assert outcome(iri_to_uri, "e\u0301<", nfc=True) == 2
    assert outcome(iri_to_uri, "ab\u1fef", nfc=True) == 0  # composed to a backtick
    assert outcome(iri_to_uri, "ab\ud800", nfc=True) == 2


# --- hosts ------------------------------------------------------------------------------------------------------------


@each_row(
    ("iri", "uri"),
    [
        ("http://résumé.example.org/é", "http://xn--rsum-bpad.example.org/%C3%A9"),
        ("http://é@RÉSUMÉ.example.org:80?é", "http://%C3%A9@xn--rsum-bpad.example.org:80?%C3%A9"),
        ("http://r%C3%A9sum%C3%A9.example.org/", "http://xn--rsum-bpad.example.org/"),
        ("//納豆。example.org", "//xn--99zt52a.example.org"),
        ("http://EXAMPLE.org/é", "http://EXAMPLE.org/%C3%A9"),
        ("http://ex%61mple.org/", "http://ex%61mple.org/"),
        ("http://a_b.org/", "http://a_b.org/"),
        ("http://[::1]/é", "http://[::1]/%C3%A9"),
        ("http://é@é@b/", "http://%C3%A9@%C3%A9@b/"),
        ("http:///é", "http:///%C3%A9"),
        ("é", "%C3%A9"),
    ],
)
def test_hosts_to_ascii(iri, uri):
    assert iri_to_uri(iri, host="idna") == uri
    assert iri_to_uri(iri.encode(), host="idna") == uri.encode()
    assert iri_to_uri(uri, host="idna") is uri


@pytest.mark.parametrize(
    ("uri", "iri"),
    [
        ("http://xn--99zt52a.example.org/%C3%A9", "http://納豆.example.org/é"),
        ("http://u%40@XN--99ZT52A.Example.org:80/", "http://u%40@納豆.Example.org:80/"),
        ("http://%78n--99zt52a.example.org/", "http://納豆.example.org/"),
        ("http://example.org/xn--99zt52a", "http://example.org/xn--99zt52a"),
        ("http://a%2Fb.example.org/", "http://a%2Fb.example.org/"),
    ],
)
def test_hosts_to_unicode(uri, iri):
    assert uri_to_iri(uri, host="unicode") == iri
    assert uri_to_iri(uri.encode(), host="unicode") == iri.encode()


@each_row(
    "host",
    [
        *("é_b.org", "-é.org", "é..org", "é\u2260.org", "\u0301é.org", "é%2F.org", "é%zz", "xn--a.é", "a\uff01.é"),
        *("é" + "a" * 59, "é" + "a" * 63, "é." * 127 + "é", "é." * 600, "℀é", "é\u2024com\u2025"),
        "\u00adé\u3002\u3002",
    ],
)
def test_hosts_that_are_rejected(host):
    for before in "http://", "//é@":
        for text in f"{before}{host}/", f"{before}{host}:80/é":
            assert outcome(iri_to_uri, text, host="idna") == len(before)
            assert outcome(iri_to_uri, text.encode(), host="idna") == len(before.encode())


@each_row(
    "label", ["xn--a", "xn--", "xn--99zt52a-", "xn--example-", "xn--zzzzzzzzz", "xn--A-ecp", "xn--9ca." * 200 + "a"]
)
def test_labels_that_are_no_a_labels(label):
    assert outcome(uri_to_iri, f"http://{label}.org/", host="unicode") == len("http://")
    assert outcome(uri_to_iri, f"http://é@{label}.org/".encode(), host="unicode") == len("http://é@".encode())


@pytest.mark.parametrize("host", ["my_host.xn--9ca.org", "a%2Fb.xn--9ca", "xn--9ca..org", "-a.xn--9ca", "xn--9ca.a~b"])
def test_hosts_without_a_way_back(host):
    """Their labels have characters, but no host has such labels: what came out could not become a URI again."""
    assert outcome(uri_to_iri, f"http://{host}/", host="unicode") == len("http://")
    assert uri_to_iri(f"http://{host}/") == f"http://{host}/"
    assert uri_to_iri(f"http://{host}/".replace("xn--9ca", "e"), host="unicode")


@pytest.mark.parametrize("given", ["a_b.org", "", ".", "a..b", "a b", "A.org", "-a", "a.b-", "é.org", "a." * 128])
def test_rejects_results_of_idna_that_are_no_host(monkeypatch, given):
    """Whatever other versions of it let through."""
    monkeypatch.setattr("idna.encode", lambda *_, **__: given.encode())
    assert outcome(iri_to_uri, "http://l·l.org/", host="idna") == len("http://")


@pytest.mark.parametrize("given", ["l·la", "example", ""])
def test_rejects_results_of_idna_without_a_way_back(monkeypatch, given):
    monkeypatch.setattr("idna.ulabel", lambda _label: given)
    assert outcome(uri_to_iri, "http://xn--ll-0ea.org/", host="unicode") == len("http://")


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("unit", ["é", "a.", "a.é", "xn--", "xn--a.", "\u0378"])
@each_row("start", ["", "é", "xn--", "é" * 254, "xn--" + "b" * 60])
def test_long_hosts_take_linear_time(start, unit):
    """CVE-2022-45061, CVE-2024-3651: `idna`, which takes longer, does not see what no host can be."""

    def rejects(function, host):
        with pytest.raises(ValueError):
            function(host)

    for function in _hosts.to_ascii, _hosts.to_unicode:
        assert_linear(partial(rejects, function), lambda n: start + unit * n, 10_000)
    for function, options in (iri_to_uri, {"host": "idna"}), (uri_to_iri, {"host": "unicode"}):
        assert_linear(partial(outcome, function, **options), lambda n: f"http://{start}{unit * n}/", 10_000)


def test_idna_is_imported_when_it_is_needed():
    code = (
        "import sys; from uricodec.iri import iri_to_uri, uri_to_iri\n"
        "iri_to_uri('http://a.org/\\xe9', host='idna'); uri_to_iri('http://a.org/%C3%A9', host='unicode')\n"
        "assert not {'idna', 'unicodedata', 'uricodec._url._hosts'} & set(sys.modules) or print(*sys.modules)\n"
        "iri_to_uri('http://\\xe9.org/', host='idna'); assert 'idna' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "idna" not in done.stdout.split()


# --- URLs and hosts of others, and time -------------------------------------------------------------------------------


def hostile_texts():
    hosts = [scalar(case["input"]) for path in ("wpt/toascii", "idna/IdnaTestV2") for case in cases(path)]
    return [*web_inputs(), *hosts]


@pytest.mark.slow
@each_row("text", hostile_texts)
def test_hostile_texts(text):
    assert outcome(uri_to_iri, text) == outcome(naive_iri.uri_to_iri, text)
    assert outcome(iri_to_uri, text) == outcome(naive_iri.iri_to_uri, text)
    for host in text, f"http://{text}/":
        try:
            assert iri_to_uri(host, host="idna").isascii()
        except IriError as error:
            assert 0 <= error.offset <= len(host)
        outcome(uri_to_iri, host, host="unicode")
    try:
        ascii_host = _hosts.to_ascii(text)
    except ValueError:
        return
    assert set(ascii_host) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")


@given(
    st.lists(
        st.tuples(
            st.sampled_from("e\xe9\uac00\u1100\u0f73\u0344\u0301\u0323\u05b0\u3099\U0001d16e"), st.integers(0, 300)
        ),
        max_size=9,
    )
)
def test_any_number_of_marks_is_composed(runs):
    """Sorted before unicodedata sorts them, which would be quadratic."""
    text = "http://a/" + "".join(mark * count for mark, count in runs)
    assert iri_to_uri(text, nfc=True) == iri_to_uri(normalize("NFC", text))


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_marks_take_linear_time():
    assert_linear(lambda text: iri_to_uri(text, nfc=True), lambda n: "e" + "\u0323\u0301" * n, 20_000)
    assert_linear(lambda data: iri_to_uri(data, encoding="cp1258"), lambda n: b"e" + b"\xf2\xec" * n, 20_000)


def test_ascii_stays_the_same_object():
    for text in "http://a/b", b"http://a/b":
        assert iri_to_uri(text, nfc=True) is text


@pytest.mark.timeout(60)
@each_row("unit", ["%E9", "%C3%28", "%41", "%25", "%E9a", "?", "%", "é", "%EE%80%80", "%C3", "a"])
@each_row("function", [iri_to_uri, uri_to_iri])
def test_time_is_linear(function, unit):
    assert_linear(lambda text: outcome(function, text), lambda n: unit * n, 50_000)
