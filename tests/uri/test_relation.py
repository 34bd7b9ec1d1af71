"""How two references are related; test_operations.py and test_tuples.py compare columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import uri_forms as forms
from support.tables import each_row

from uricodec import bulk, uri
from uricodec.errors import UriSyntaxError

CASES = [
    ("http://a/b", "http://a/b", "equal"),
    ("http://a/b", "HTTP://A:80/./b", "equivalent"),
    ("http://a/b", "http://a/b#", "same-document"),
    ("http://a/b#c", "http://A/b#d", "same-document"),
    ("http://a/b?c", "http://a/b#d", "same-path"),
    *[("http://a/b?", "http://a/b", "same-path"), ("http://a/b", "http://a/c", "same-origin")],
    ("http://me@a/", "http://a:80/c", "same-origin"),
    *[("http://a:1/", "http://a:2/", "same-host"), ("http://a/", "https://a/", "same-host")],
    *[("//a/", "//a/b", "same-host"), ("http://a/", "//a/", "same-host"), ("http://a/", "http://b/", "different")],
    *[("/a", "/b", "different"), ("urn:a:b", "urn:a:c", "different")],
    ("http://a@b@c/", "http://a@b@c/d", "same-origin"),
    ("http://[a@b/", "http://b/c", "same-origin"),
    ("http://[::1]@", "http:///", "same-origin"),
]


@each_row(("a", "b", "want"), CASES)
def test_examples(a, b, want):
    for x, y in (a, b), (b, a), (a.encode(), b), (a, bytearray(b.encode())):
        assert uri.relation(x, y) == want
    assert forms.relation(a, b) == want
    assert bulk.relation([a, None], b) == bulk.relation([a, None], [b, b]) == [want, None]
    assert bulk.equivalent([a], b, "scheme") == [want in {"equal", "equivalent"}]


PIECES = st.lists(
    st.sampled_from(["http:", "s:", "//", "a", "A", "@", ":8", "[::1]", "[", "]", "/", "%61", "?q", "#f", "é"]),
    max_size=8,
)


@given(PIECES, PIECES, st.sampled_from(forms.LADDER))
def test_any(a, b, level):
    a, b = "".join(a), "".join(b)
    found = uri.relation(a, b, level)
    assert found == uri.relation(b, a, level) == forms.relation(a, b, level)
    assert (found in {"equal", "equivalent"}) == uri.equivalent(a, b, level)
    assert bulk.relation([a], [b], level) == [found]


def test_long_references():
    a, b = "http://a/" + "%61" * 3000, "http://a/" + "a" * 3000
    assert uri.relation(a, b) == "equivalent" and bulk.relation([a], [b]) == bulk.relation([a], b) == ["equivalent"]
    assert bulk.equivalent([a, a + "b"], b) == [True, False]


def test_invalid_rows():
    invalid = bulk.InvalidRows()
    assert bulk.equivalent(["%41", "%", "b"], "A", "rfc1630", errors="null", invalid=invalid) == [True, None, False]
    assert invalid.rows == [(1, "percent", 0)]
    invalid = bulk.InvalidRows()
    assert bulk.equivalent(["A", "A", "b"], ["%41", "a%", "a"], "rfc1630", invalid=invalid) == [True, False, False]
    assert invalid.rows == [(1, "percent", 1)]
    with pytest.raises(UriSyntaxError, match=r"^row 1: "):
        bulk.equivalent(["A", "A", "b"], ["%41", "a%", "a"], "rfc1630", errors="raise")
    assert bulk.equivalent(["A", "b"], "A", errors="raise") == [True, False]
    assert bulk.equivalent(["A", b"A"], [b"A", "A"]) == [True, True]
    assert bulk.equivalent(["http://a?utm_source=x"] * 2, ["http://a", "http://a?b"], policy="crawl") == [True, False]
    with pytest.raises(UriSyntaxError):
        uri.relation("a", "\ud800")
    with pytest.raises(ValueError, match="unknown"):
        uri.relation("a", "b", "no-such")
