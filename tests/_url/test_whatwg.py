"""The policy and the production "whatwg": rows of tests/data, the reference implementation, other parsers, WPT."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import whatwg as reference
from support.arrow_memory import Lent, rows_of
from support.tables import each_row
from support.timing import assert_linear
from support.vendored import cases, scalar

from uricodec import bulk, dedup, uri
from uricodec.errors import UriSyntaxError

DATA = Path(__file__).parent.parent / "data/whatwg.tsv"
ROWS = [
    [json.loads(field) for field in line.split("\t")]
    for line in DATA.read_text("utf-8").splitlines()
    if not line.startswith("# ")
]


def href(url, base=None):
    try:
        return uri.normalize(url, policy="whatwg", base=base)
    except UriSyntaxError as error:
        assert error.input is url
        return None


@each_row(("url", "base", "want"), ROWS)
def test_rows(url, base, want):
    assert href(url, base) == want
    assert href(url.encode(), base and base.encode()) == (want and want.encode())
    found = reference.href_or_fault(url.encode(), base and base.encode())
    diagnostic = uri.check(url.encode(), "whatwg", base=base)
    assert uri.is_valid(url, "whatwg", base=base) is (want is not None)
    if want is None:
        assert (diagnostic.code, diagnostic.offset) == found
        in_text = uri.check(url, "whatwg", base=base)
        assert len(url[: in_text.offset].encode()) == diagnostic.offset
        with pytest.raises(UriSyntaxError) as caught:
            uri.normalize(url, policy="whatwg", base=base)
        assert (caught.value.code, caught.value.offset) == ("whatwg", in_text.offset)
    else:
        assert (found, diagnostic) == (want.encode(), None)
        assert href(want) is want  # unchanged: the same object


def test_rows_of_columns(tier):
    """Rows that are copied, and rows that the row function reads, next to each other."""
    urls = [url.encode() for url, base, _ in ROWS if base is None]
    wanted = [want and want.encode() for _, base, want in ROWS if base is None]
    usual = [b"http://a.example/b?c#d"] * len(urls)
    mixed = [row for pair in zip(urls, usual, strict=True) for row in pair]
    want = [row for pair in zip(wanted, usual, strict=True) for row in pair]
    assert bulk.normalize_uri(mixed, policy="whatwg", errors="null") == want
    assert rows_of(bulk.normalize_uri(Lent(mixed, "z"), policy="whatwg", errors="null")) == want
    assert bulk.is_valid_uri(mixed, "whatwg") == [row is not None for row in want]
    texts = [row.decode() for row in mixed]
    assert bulk.normalize_uri(texts, policy="whatwg", errors="null") == [row and row.decode() for row in want]


# --- the reference implementation -------------------------------------------------------------------------------------

STARTS = st.sampled_from(
    ["http://", "https://", "http://a", "https://a/", "file:///", "foo://", "foo:", "file:", "//", "http:", "ws://", ""]
)
PIECES = st.sampled_from(
    [
        *("http", "ws", "file", "foo", ":", "/", "//", "\\", "?", "#", "@", "u:p@", "[", "]", "[::1]"),
        "[1::ffff:1.2.3.4]",
        *(".", "..", "%2e", "%2E%2e", "...", "a", "B.c", "example.com", "localhost", "1", "0x7f", "256", "08"),
        "1.2.3.4.",
        *(
            "C:",
            "c|",
            "/C:/",
            " ",
            "\t",
            "\n",
            "%",
            "%41",
            "%zz",
            "%00",
            "é",
            "ß",
            "。",
            "日本",
            "\u0338",
            "<",
            "xn--zca",
        ),
        *("\u094d\u200d", "א", "\u0660", "|", "^", "`", "{", "}", "'", '"', ">", "~", "_", "=", ":80", ":443"),
        *(":65536", ":x"),
        *["\0", "\x1f", "\x7f", "\ufeff", "\U0001f600", "%C3%A9", "%2F", "\uff05\uff14\uff11"],
    ]
)
TEXTS = st.builds(lambda start, pieces: start + "".join(pieces), STARTS, st.lists(PIECES, max_size=8))
ROUGH = st.builds(
    lambda text, at, cut: text[:at] + cut + text[at:], TEXTS.map(str.encode), st.integers(0, 20), st.binary()
)
BASES = st.sampled_from([None, *sorted({base.encode() for _, base, _ in ROWS if base})])


def expected(url, base=None):
    found = reference.href_or_fault(url, base)
    return None if isinstance(found, tuple) else found


@given(ROUGH, BASES)
def test_any_bytes(url, base):
    found, want = reference.href_or_fault(url, base), expected(url, base)
    assert href(url, base) == want
    if want is None:
        diagnostic = uri.check(url, "whatwg", base=base)
        assert (diagnostic.code, diagnostic.offset) == found
    else:
        assert expected(want) == want == href(want)
        assert href(url.decode("utf-8", "replace"), base) == want.decode()


@pytest.mark.slow
@given(st.lists(ROUGH, max_size=8))
def test_any_columns(rows):
    """Each row twice, and its href, which most often is copied."""
    want = [expected(row) for row in rows]
    rows = rows + rows + [row for row in want if row is not None]
    want = want + want + [row for row in want if row is not None]
    assert bulk.normalize_uri(rows, policy="whatwg", errors="null") == want
    assert rows_of(bulk.normalize_uri(Lent(rows, "z"), policy="whatwg", errors="null")) == want


@given(st.text("0123456789abcdefABCDEF:.[]", max_size=30))
def test_any_addresses(text):
    for url in f"http://[{text}]/", f"http://{text}/", f"foo://[{text}]":
        assert href(url.encode()) == expected(url.encode())


# --- inputs -----------------------------------------------------------------------------------------------------------


def test_surrogates():
    assert href("foo:\ud800\udc00a") == "foo:%EF%BF%BD%EF%BF%BDa"
    assert href("http://a.example/\ud800", "http://b/") == "http://a.example/%EF%BF%BD"
    assert uri.key("foo:\ud800", policy="whatwg") == "foo:%EF%BF%BD"
    assert uri.equivalent("foo:\ud800", "foo:\ufffd", policy="whatwg")
    assert bulk.normalize_uri(["foo:\ud800", "\ud800"], policy="whatwg", errors="null") == ["foo:%EF%BF%BD", None]
    assert bulk.normalize_uri(["foo:\ud800", "\ud800"], policy="whatwg") == ["foo:%EF%BF%BD", "\ud800"]
    found = uri.check("\ud800http://[/", "whatwg", base="http://a/"), uri.check("foo:a\ud800//", "whatwg")
    assert found == (None, None)
    assert uri.check("http://\ud800:x/", "whatwg").offset == 7


def test_no_utf_8():
    """U+FFFD for each maximal subpart, as bytes.decode() writes it."""
    url = b"foo:\xff\xe2\x82\xf0\x9fa\xc3"
    assert href(url) == href(url.decode("utf-8", "replace")).encode()
    assert href(b"http://a\xff/") is None


def test_bases():
    assert href("b", bytearray(b"http://a.example/c/")) == "http://a.example/c/b"
    assert href("b", "http://a.example/\ud800/") == "http://a.example/%EF%BF%BD/b"
    assert href("?" + "é" * 5000, "foo://" + "a" * 5000) == "foo://" + "a" * 5000 + "?" + "%C3%A9" * 5000
    assert href("#", "http://a/" + "é" * 600) == "http://a/" + "%C3%A9" * 600 + "#"


@pytest.mark.parametrize("base", ["b", "http://", b"\xff", ""])
def test_no_bases(base):
    for call in uri.normalize, uri.check:
        options = {"policy": "whatwg"} if call is uri.normalize else {"production": "whatwg"}
        with pytest.raises(UriSyntaxError, match="invalid base URL"):
            call("http://a/", **options, base=base)


def test_wrong_options():
    for options in {"policy": "crawl"}, {"level": "case"}, {}, {"policy": uri.Policy()}:
        with pytest.raises(ValueError, match="base is only supported with policy='whatwg'"):
            uri.normalize("a", **options, base="http://a/")
    for function in uri.check, uri.is_valid:
        with pytest.raises(ValueError, match="base is only supported with production='whatwg'"):
            function("a", base="http://a/")
    with pytest.raises(TypeError):
        uri.normalize("a", policy="whatwg", base=5)
    with pytest.raises(ValueError, match="level must not be given"):
        uri.normalize("a", "case", policy="whatwg", base="http://a/")
    with pytest.raises(ValueError, match="has no fields to change"):
        uri.Policy.ready("whatwg").replace(query="sort")


def test_the_other_calls():
    assert uri.equivalent("HTTP://a:80", "http:\\\\A/", policy="whatwg")
    assert bulk.equivalent(["HTTP://a:80", "http://b/"], "http://a/", policy="whatwg") == [True, False]
    assert bulk.equivalent([b"http://[/"], b"http://[/", policy="whatwg", errors="null") == [None]
    [step] = uri.Policy.ready("whatwg").explain("http:a")
    assert step == ("whatwg", "http:a", "http://a/")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_long_hosts_take_linear_time():
    ideographs = "".join(map(chr, range(0x4E00, 0x5E00)))
    for label in "é" * 2000, "日本語" * 1000, ideographs, "e" + "\u0301\u0316" * 1000:
        found = href(f"http://{label}/")
        assert found.startswith("http://xn--")
        assert href(found) is found
        domain = f"{found[7:-1]}.é"
        assert href(f"http://{domain}/") == f"http://{found[7:-1]}.xn--9ca/"
        assert_linear(href, lambda count, label=label: f"http://{label * count}/", 1)
    assert href("http://" + "1." * 5000 + "/") is None
    assert href("http://" + "a." * 5000 + "/") == "http://" + "a." * 5000 + "/"
    assert href("http://a/" + "b/../" * 5000) == "http://a/"
    assert href("http://" + "@" * 5000 + "a") == "http://" + "%40" * 4999 + "@a/"
    for part in "1.", "a.", "a/b/../", "@":
        assert_linear(href, lambda count, part=part: f"http://{part * count}a/", 5000)


def test_duplicates():
    rows = ["HTTP://a", "http:a", "http://b/\ud800", "http://b/\ufffd", "b", "http://["]
    assert dedup.unique(rows, "uri", policy="whatwg", errors="keep") == [*rows[:3:2], *rows[4:]]
    assert dedup.unique(rows, "uri", policy="whatwg", errors="drop") == rows[:3:2]
    octets = [row.replace("\ud800", "\ufffd").encode() for row in rows]
    assert rows_of(dedup.unique(Lent(octets, "z"), "uri", policy="whatwg", errors="drop")) == [octets[0], octets[2]]
    with pytest.raises(UriSyntaxError) as caught:
        dedup.unique(rows, "uri", policy="whatwg", errors="raise")
    assert (caught.value.row, caught.value.code) == (4, "whatwg")
    prints = bulk.fingerprint(rows, "uri", policy="whatwg", secret="a secret")
    assert prints[0] == prints[1] != prints[2] == prints[3]
    assert prints[4:] == [None, None]


# --- others -----------------------------------------------------------------------------------------------------------


def web_platform_tests():
    for test in cases("wpt/urltestdata"):
        yield scalar(test["input"]), test["base"], None if test.get("failure") else test["href"]
    for test in cases("wpt/percent-encoding"):
        yield f"https://a.invalid/?{scalar(test['input'])}", None, f"https://a.invalid/?{test['output']['utf-8']}"
    for test in [*cases("wpt/toascii"), *cases("idna/IdnaTestV2")]:
        if test["input"]:
            want = None if test["output"] is None else f"https://{test['output']}/x"
            yield f"https://{scalar(test['input'])}/x", None, want


def test_web_platform_tests():
    tests = [*web_platform_tests()]
    assert len(tests) > 3000
    for url, base, want in tests:
        found = href(url, base), expected(url.encode(), base and base.encode())
        assert found == (want, want and want.encode()), (url, base)
    alone = [(url, want) for url, base, want in tests if base is None]
    assert bulk.normalize_uri([url for url, _ in alone], policy="whatwg", errors="null") == [want for _, want in alone]


@pytest.mark.interop
@given(TEXTS, BASES)
def test_ada(url, base):
    """tools/differential.py compares more, and says where Ada is not the standard: right to left, and joiners."""
    ada_url = pytest.importorskip("ada_url", reason="ada-url is not installed")
    if any(c in url for c in "א\u0660\u200d"):
        return
    base = base and base.decode()
    try:
        want = ada_url.URL(url, base).href
    except ValueError:
        want = None
    assert href(url, base) == want


@pytest.mark.parametrize("error", [KeyError, RecursionError, KeyboardInterrupt, MemoryError])
def test_an_exception_in_the_base_is_passed_on(error, monkeypatch):
    """Hosts in doubt are mapped by Python code, whose exceptions are no lack of memory."""

    def fail(domain):
        raise error(domain)

    monkeypatch.setattr("uricodec._url._domains.domain_to_ascii", fail)
    for base in "http://\u05d0\u05b0.\U0001f469\u200d\U0001f680/", "http://xn--a\u0301\U0001f469\u200d/":
        with pytest.raises(error) as caught:
            uri.normalize("a", policy="whatwg", base=base)
        assert type(caught.value) is error
