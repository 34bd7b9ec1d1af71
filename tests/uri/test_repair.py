"""Repairs; test_operations.py compares columns and lines with the same reference implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import repair as naive
from support.tables import each_row

from uricodec import bulk, iri, uri
from uricodec.errors import UriSyntaxError

CASES = [
    # text, repaired, steps
    ("http://a.example/b%20c?d#e", "http://a.example/b%20c?d#e", ""),
    (" \x00\thttp://a.example/\x7f\r\n", "http://a.example/", "ends"),
    ("<http://a.example/>", "http://a.example/", "ends"),
    ('" http://a.example/ "', "http://a.example/", "ends"),
    ("<a>", "%3Ca%3E", "path"),
    ("http://a.exam\nple/b\tc", "http://a.example/bc", "breaks"),
    ("java\nscript:a", "javascript:a", "breaks"),
    ("HTTP:\\\\\\A.example\\b?c\\d#e\\f", "HTTP://A.example/b?c%5Cd#e%5Cf", "slashes query fragment"),
    ("https:\\a.example", "https://a.example", "slashes"),
    ("https://a.example\\@b.example", "https://a.example/@b.example", "slashes"),
    ("file:\\\\\\C:\\a", "file:///C:/a", "slashes"),
    ("git://a/b\\c", "git://a/b%5Cc", "path"),
    ("\\a\\b", "%5Ca%5Cb", "path"),
    ("ftp://me@b:p@ss[1]@a.example/", "ftp://me%40b:p%40ss%5B1%5D@a.example/", "userinfo"),
    ("http://b\u00fccher.example:80/", "http://xn--bcher-kva.example:80/", "host"),
    ("http://\u201d.example/", "http://%E2%80%9D.example/", "host"),
    ("s3://b\u00fccher/\u00e9", "s3://b%C3%BCcher/%C3%A9", "host path"),
    ("http://%HOST/%", "http://%25HOST/%25", "host path"),
    (
        "http://[::1]:8/a[1]?b[2]=%&c|#d[3]#e",
        "http://[::1]:8/a%5B1%5D?b%5B2%5D=%25&c%7C#d%5B3%5D%23e",
        "path query fragment",
    ),
    ("http://a/%41%4g%zz", "http://a/%41%254g%25zz", "path"),
    ("mailto:a b@example.org?subject=1 + 1", "mailto:a%20b@example.org?subject=1%20+%201", "path query"),
]


@each_row(("text", "want", "steps"), CASES)
def test_examples(text, want, steps):
    assert uri.repair(text) == want
    assert uri.repair(bytearray(text.encode())) == want.encode()
    assert bulk.repair([text, text.encode()]) == [want, want.encode()]
    assert naive.repaired(text.encode()) == want.encode()
    found = uri.explain_repair(text)
    assert " ".join(step.step for step in found) == steps
    before = text
    for step in found:
        assert step.before == before
        before = step.after
    assert before == want


FAULTS = [
    ("http://exa mple.org/", "host", 10),
    (" \u00e9://a", "path-colon", 2),
    ("http://a\tb c/", "host", 10),
    ("http://\u00e9@a[b]/", "host", 10),
    ("git://a\\b/", "host", 7),
    ("http://[::1/", "ip-literal", 11),
    ("http://[::1]x/", "ip-literal", 12),
    ("http:/\\/\u00e9:80x/", "port", 12),
    ("http://::1/", "port", 8),
    ("ht tp://a/", "path-colon", 5),
    ("http://a/b c\ud800", "surrogate", 12),
    (" \n", "path", 0),
]


@each_row(("text", "code", "offset"), FAULTS)
def test_what_nobody_can_know(text, code, offset):
    for function in uri.repair, uri.explain_repair:
        with pytest.raises(UriSyntaxError) as caught:
            function(text)
        assert (caught.value.code, caught.value.offset) == (code, offset)
    invalid = bulk.InvalidRows()
    assert bulk.repair([text], errors="null", invalid=invalid) == [None]
    assert invalid.rows == [(0, code, offset)]


PIECES = [
    "http:",
    "s3:",
    "file:",
    "//",
    "\\",
    "/",
    "?",
    "#",
    "@",
    ":",
    "[",
    "]",
    "[::1]",
    "%",
    "41",
    " ",
    "\t",
    "\x01",
    '"',
    "<",
    ">",
]
PIECES += ["\u00e9", "\uff0f", "\u200b", "8", "x", "a.b", "%c3%a9", "HTTPS://a", "\ue000"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=12).map("".join))
def test_any(text):
    want = naive.repaired(text.encode("utf-8", "surrogatepass"))
    if not isinstance(want, bytes):
        with pytest.raises(UriSyntaxError):
            uri.repair(text)
        return
    made = uri.repair(text)
    assert made.encode() == want
    assert uri.is_valid(made)
    assert uri.repair(made) is made
    if iri.is_valid(text) and uri.host(text) in {None, ""}:
        assert made == iri.iri_to_uri(text)


def test_long_text_takes_linear_time():
    for piece in "%", "[", "\\", "@", "#", " ", "\t", "\u00e9", '"':
        made = uri.repair(f"http://a/{piece * 200_000}x")
        assert uri.is_valid(made)
    assert uri.is_valid(uri.repair(f"http://{'@' * 200_000}a/"))
    assert uri.repair(f"http:{chr(92) * 200_000}a") == "http://a"
