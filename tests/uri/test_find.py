"""URLs in text: `uricodec.uri.find` and what it finds part by part, against the reference implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import uri_find as naive

from uricodec import uri
from uricodec.uri._components import copy_urls, find_part

PARTS = [b"://"] * 3 + [bytes([byte]) for byte in b"://a1+.-()[]{}< \\\"'|_Z\0\xff"]
PARTS += [character.encode() for character in "é例😀。々\u200d\u2014\u00a0\uff0c\uff1d\uff17\u2013"]
PARTS += [b"http", b"x" * 63, b"x" * 64, b"\xe2\x80", b"\xed\xa0\x80", b"\xc1\x81", b"\xf4\x90\x80\x80"]
URLS = [b" http://a.example/", b"(a://b", b"a://\xc3\xa9"]
TEXTS = st.lists(st.one_of(st.sampled_from(URLS), st.sampled_from(PARTS)), max_size=20).map(b"".join)

EXAMPLES = {
    "see http://a.example/, then": ["http://a.example/"],
    "<a href='http://a.example/?x=1&y'>b</a>": ["http://a.example/?x=1&y"],
    "[a](http://a.example/b_(c)) (http://b.example)": ["http://a.example/b_(c)", "http://b.example"],
    "http://a.example(see http://b.example/{id})": ["http://a.example", "http://b.example/{id}"],
    "http://a.example/(b[c http://a.example/[b(c": ["http://a.example/", "http://a.example/"],
    "http://a.example/[b(c] http://a.example/(b)[c(d]{e[f}": ["http://a.example/", "http://a.example/(b)"],
    "{http://www.w3.org/2000/svg}svg": ["http://www.w3.org/2000/svg"],
    "http://[2001:db8::1]:80/ http://[::1": ["http://[2001:db8::1]:80/"],
    r'{"a": "http://a.example\n", "b": 1}': ["http://a.example"],
    "a|ftp://a.example|svn+ssh://me@b.example/c": ["ftp://a.example", "svn+ssh://me@b.example/c"],
    "访问http://a.example/例子\uff0c然后\uff08http://b.example/人々\uff09。": [
        "http://a.example/例子",
        "http://b.example/人々",
    ],
    "“http://bücher.example/1968\u201369”": ["http://bücher.example/1968\u201369"],
    "*http://a.example/x...* http://! a:// ://b 1http://c": ["http://a.example/x"],
    "https://web.archive.org/web/2020/http://a.example/?": ["https://web.archive.org/web/2020/http://a.example/"],
    "mailto:a@b.example www.a.example urn:a:b http:/a": [],
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(text):
    data = text.encode()
    assert [data[start:stop].decode() for start, stop in uri.find(data)] == EXAMPLES[text]


@given(TEXTS, st.integers(1, 20))
def test_find(tier, text, size):
    found = naive.find(text)
    assert uri.find(text) == found
    assert naive.by_parts(find_part, text, size) == found


@given(TEXTS, st.integers(0, 99))
def test_copy_urls(tier, text, more):
    """Whatever fits at a time."""
    lines = naive.lines(text, b"in:", 7)
    capacity = max(map(len, lines), default=0) + 20 + more
    assert naive.by_copies(copy_urls, text, capacity, b"in:", 7) == lines
    assert naive.by_copies(copy_urls, text, capacity) == naive.lines(text)


def test_copies_of_many_urls():
    text = b" http://a.example/b" * 1000
    whole = b"".join(naive.lines(text))
    for size in 19, 20, 256 * 19, 257 * 19 - 1, 19_000:
        assert b"".join(naive.by_copies(copy_urls, text, size)) == whole
    dst = bytearray(18)
    assert copy_urls(text, dst) == (1, 0) and dst == bytes(18)
    with pytest.raises(BufferError):
        copy_urls(text, bytes(99))
    with pytest.raises(TypeError):
        copy_urls(text, dst, "in:")


def test_characters():
    """Whether a character ends a URL, in all blocks with characters that do, and at the borders of lengths."""
    for code in [*range(0x3100), *range(0xD780, 0xD800), *range(0xE000, 0xE080), *range(0xFE00, 0x10100), 0x10FFFF]:
        text = f"a://b{chr(code)}c".encode()
        assert uri.find(text) == naive.find(text), hex(code)


def test_many_urls_and_any_buffer():
    text = b" http://a.example/b" * 1000
    found = [(19 * i + 1, 19 * i + 19) for i in range(1000)]
    assert uri.find(text) == uri.find(bytearray(text)) == uri.find(memoryview(text)) == found
    assert find_part(text + b" ", 128, False) == (found, len(text) + 1)
    assert uri.find(b"") == []
    with pytest.raises(TypeError):
        uri.find("http://a.example/")


@pytest.mark.parametrize("size", [1, 7, 200, 2000])
def test_a_long_url_ends(size):
    """After 128 bytes, or before the character that they would cut, wherever the parts end."""
    text = b"(aa://" + "é".encode() * 200 + b"b://c/" + b"d" * 200
    assert naive.by_parts(find_part, text, size, 128) == [(1, 128), (406, 534)]


HOSTILE = ["a://" + "(" * 9999, "a://" + "([{" * 3333, "a://" + "é" * 5000, "http://" * 2000, "a://." * 2000]
HOSTILE += [
    "a://" + "([)(])" * 1666,
    "a.1" * 3333 + "://",
    "a." * 5000,
    "://" * 3333,
    ":" * 9999,
    "a:/" * 3333,
    ("1" * 63 + "://") * 150,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text):
    """Also a hundred times as long: in linear time, a moment."""
    data = text.encode()
    assert uri.find(data) == naive.find(data)
    uri.find(data * 100)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/Yahoo!",
        "http:///",
        "http://a/b_(c",
        "http://a/?q=1,",
        "x://a/;",
        "http://a/\u3002",
        "http://a/|^`{",
        "a://é.",
    ],
)
@pytest.mark.parametrize(("opening", "close"), ["<>", '""', "''", ('\\"', '\\"'), ("\\'", "\\'")])
def test_what_is_between_delimiters_is_found_whole(url, opening, close):
    """RFC 3986 appendix C."""
    for before, after in ("", ""), ("see ", "."), ('{"a":"b","c":', "}"), ("<a href=", ">x</a>"), ("it's ", "'s"):
        text = before + opening + url + close + after
        found = uri.find(text.encode())
        assert [text.encode()[start:stop].decode() for start, stop in found] == [url], text
        assert found == naive.find(text.encode())
        for size in 1, 2, 7:
            assert naive.by_parts(find_part, text.encode(), size) == found


@pytest.mark.parametrize(
    ("text", "url"),
    [('"http://a.example is', "http://a.example"), ('"http://a.example.', "http://a.example"), ("<http://a, b>", "http://a"),
     ('"http://a.example!\\n"', "http://a.example"), ("'http://a.example!\"", "http://a.example")],
)  # fmt: skip
def test_delimiters_that_are_not_closed(text, url):
    assert [text[start:stop] for start, stop in uri.find(text.encode())] == [url]
