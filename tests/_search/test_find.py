"""URLs in text: `uricodec.uri.find` and what it finds part by part, against the reference implementation."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import uri_find as naive
from support.tables import each_row
from support.timing import assert_linear

from uricodec import uri
from uricodec._search._find import content_of, copy_urls, find_part

PARTS = [b"://"] * 3 + [bytes([byte]) for byte in b"://a1+.-()[]{}< \\\"'|_Z\0\xff"]
PARTS += [character.encode() for character in "é例😀。々\u200d\u2014\u00a0\uff0c\uff1d\uff17\u2013"]
PARTS += [b"http", b"x" * 63, b"x" * 64, b"\xe2\x80", b"\xed\xa0\x80", b"\xc1\x81", b"\xf4\x90\x80\x80"]
URLS = [b" http://a.example/", b"(a://b", b"a://\xc3\xa9"]
TEXTS = st.lists(st.one_of(st.sampled_from(URLS), st.sampled_from(PARTS)), max_size=20).map(b"".join)

copy_plain = partial(copy_urls, "plain")


def find_plain(*arguments):
    spans, urls, rest = find_part("plain", *arguments)
    assert urls == [bytes(arguments[0][start:stop]) for start, stop in spans]
    return spans, rest


# Opening and closing brackets, punctuation, and what ends any URL, beyond ASCII.
PARTS += [character.encode() for character in "⟦⟧⁽⁾」。؟”«…\u200b\ue000\u2029\ufffe\u0964\U0001f676"]
PARTS += [b"/", b"?", b"#", b"=", b"&", b":~:"]

EXAMPLES = {
    "see http://a.example/, then": ["http://a.example/"],
    "<a href='http://a.example/?x=1&y'>b</a>": ["http://a.example/?x=1&y"],
    "[a](http://a.example/b_(c)) (http://b.example)": ["http://a.example/b_(c)", "http://b.example"],
    "http://a.example(see http://b.example/{id})": ["http://a.example", "http://b.example/{id}"],
    "http://a.example/(b[c http://a.example/[b(": ["http://a.example/(b[c", "http://a.example/[b"],
    "http://a.example/[b(c] http://a.example/(b)[c(d]{e[f}": ["http://a.example/[b(c", "http://a.example/(b)[c(d"],
    "http://a.example(b/c) http://a.example[b http://a.example/b⟦c⟧d⟧": [
        "http://a.example",
        "http://a.example",
        "http://a.example/b⟦c⟧d",
    ],
    "http://a.example/a(b)/?c=(d)&(e)#(f)": ["http://a.example/a(b)/?c=(d)&(e)#(f)"],
    "http://a.example/#/g?_a=(b:!(c,d),e:(f)) http://a.example/?q=(a=b)": [
        "http://a.example/#/g?_a=(b:!(c,d),e:(f))",
        "http://a.example/?q=(a=b",
    ],
    "«http://a.example/b» \u2039http://a.example/c\u203a، http://a.example/د؟ http://a.example/क। ": [
        "http://a.example/b",
        "http://a.example/c",
        "http://a.example/د",
        "http://a.example/क",
    ],
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


@each_row("text", EXAMPLES)
def test_examples(text):
    data = text.encode()
    assert [data[start:stop].decode() for start, stop in uri.find(data)] == EXAMPLES[text]


@given(TEXTS, st.integers(1, 20))
def test_find(tier, text, size):
    found = naive.find(text)
    assert uri.find(text) == found
    assert naive.by_parts(find_plain, text, size) == found


@given(TEXTS, st.integers(0, 99))
def test_copy_urls(tier, text, more):
    """Whatever fits at a time."""
    lines = naive.lines(text, b"in:", 7)
    capacity = max(map(len, lines), default=0) + 20 + more
    assert naive.by_copies(copy_plain, text, capacity, b"in:", 7) == lines
    assert naive.by_copies(copy_plain, text, capacity) == naive.lines(text)


def test_a_delimiter_decides_where_a_copied_url_ends_that_did_not_fit_before():
    text = b'"http://a.example/" "http://a.example/Yahoo!"'
    for capacity in range(24, 50):
        assert b"".join(naive.by_copies(copy_plain, text, capacity)) == b"http://a.example/\nhttp://a.example/Yahoo!\n"


# What is no link at all: initiation without a scheme, mail, userinfo, names that DNS does not allow.
NO_LINK = re.compile(r"http://(?:[.-]|foo[.][.]|john)|@(?!ruby)")


def link_tests():
    for line in (naive.DATA / "LinkDetectionTest.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def test_detection_of_links_by_unicode():
    """The test data of UTS 58, with a scheme before each link. Found otherwise: a quotation mark of ASCII, which no URI
    contains, and an ideographic full stop."""
    others, tested = [], 0
    for line in link_tests():
        if NO_LINK.search(line):
            continue
        marked = re.sub("⸠(?!https?:)", "⸠https://", line)
        text, links = re.sub("[⸠⸡]", "", marked), re.findall("⸠(.*?)⸡", marked)
        tested += 1
        if [text[start:stop] for start, stop in uri.find(text)] != links:
            others.append(links[0].rpartition("/")[2])
    assert others == ["Wikipedia:Lista_d\"e_vvoce_ca_tutt'_'e_Wikipedie_aveno_a_avé", "普遍适用测试。我爱你"]
    assert tested > 140


@given(TEXTS)
def test_find_in_text(text):
    """Offsets count characters, and URLs are text; half of a surrogate pair ends a URL."""
    text = (
        text.decode("utf-8", "surrogatepass" if b"\xed\xa0" in text else "replace")
        if is_text(text)
        else text.decode("latin-1")
    )
    data = text.encode("utf-8", "surrogatepass")
    spans = uri.find(text)
    assert [len(text[:place].encode("utf-8", "surrogatepass")) for span in spans for place in span] == [
        place for span in naive.find(data) for place in span
    ]
    urls = [text[start:stop].encode("utf-8", "surrogatepass").decode("utf-8", "replace") for start, stop in spans]
    assert uri.extract(text, "plain") == urls


def is_text(data):
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("content", ["json", "html"])
def test_find_in_text_with_escapes(content):
    text = {
        "json": '{"é":"http:\\/\\/a.example\\/é?b\\u0026c","d":"\\"http://b.example/\\ud83d\\""}',
        "html": '<p title="é">😀<a href="http://a.example/é?b&amp;c">“http://b.example/”',
    }[content]
    data = text.encode()
    assert uri.find(text, "auto") == [
        (len(data[:start].decode()), len(data[:stop].decode())) for start, stop in uri.find(data, content)
    ]
    assert uri.extract(text) == [url.decode("utf-8", "replace") for url in uri.extract(data)]
    assert uri.extract(text)[0] == "http://a.example/é?b&c"


def test_copies_of_many_urls():
    text = b" http://a.example/b" * 1000
    whole = b"".join(naive.lines(text))
    for size in 19, 20, 256 * 19, 257 * 19 - 1, 19_000:
        assert b"".join(naive.by_copies(copy_plain, text, size)) == whole
    dst = bytearray(18)
    assert copy_urls("plain", text, dst) == (1, 0) and dst == bytes(18)
    with pytest.raises(BufferError):
        copy_urls("plain", text, bytes(99))
    with pytest.raises(TypeError):
        copy_urls("plain", text, dst, "in:")


def test_characters():
    """Whether a character ends a URL, in all blocks with characters that do, and at the borders of lengths."""
    borders = [
        *range(0xE0000, 0xE0200),
        *range(0xEFF00, 0xF0100),
        0x10FFFF,
        *(i | 0xFFFE for i in range(0, 0x110000, 0x10000)),
    ]
    for code in [
        *range(0xD800),
        *range(0xE000, 0x12500),
        *range(0x16A00, 0x17000),
        *range(0x1BC00, 0x1DC00),
        *borders,
        0x1F676,
    ]:
        text = f"a://b{chr(code)}c a://b{chr(code)} a://b/{chr(code)}c)".encode()
        assert uri.find(text) == naive.find(text), hex(code)


def test_many_urls_and_any_buffer():
    text = b" http://a.example/b" * 1000
    found = [(19 * i + 1, 19 * i + 19) for i in range(1000)]
    assert uri.find(text) == uri.find(bytearray(text)) == uri.find(memoryview(text)) == found
    assert find_plain(text + b" ", 128, False) == (found, len(text) + 1)
    assert uri.find(b"") == uri.find("") == []
    for wrong in None, 5, ["http://a.example/"]:
        with pytest.raises(TypeError):
            uri.find(wrong)


@pytest.mark.parametrize("size", [1, 7, 200, 2000])
def test_a_long_url_ends(size):
    """After 128 bytes, or before the character that they would cut, wherever the parts end."""
    text = b"(aa://" + "é".encode() * 200 + b"b://c/" + b"d" * 200
    assert naive.by_parts(find_plain, text, size, 128) == [(1, 128), (406, 534)]


HOSTILE = ["a://" + "(" * 9999, "a://" + "([{" * 3333, "a://" + "é" * 5000, "http://" * 2000, "a://." * 2000]
HOSTILE += [
    *("a://" + "([)(])" * 1666, "a.1" * 3333 + "://", "a." * 5000, "://" * 3333, ":" * 9999, "a:/" * 3333),
    ("1" * 63 + "://") * 150,
]


@pytest.mark.timeout(60)
@each_row("text", HOSTILE)
def test_hostile_texts(text):
    data = text.encode()
    assert uri.find(data) == naive.find(data)
    assert_linear(uri.find, data.__mul__, 4)


@each_row(
    "url",
    [
        *("http://a.example/Yahoo!", "http:///", "http://a/b_(c", "http://a/?q=1,", "x://a/;", "http://a/\u3002"),
        *("http://a/|^`{", "a://é."),
    ],
)
@each_row(("opening", "close"), ["<>", '""', "''", ('\\"', '\\"'), ("\\'", "\\'")])
def test_finds_urls_between_delimiters_whole(url, opening, close):
    """RFC 3986 appendix C."""
    for before, after in ("", ""), ("see ", "."), ('{"a":"b","c":', "}"), ("<a href=", ">x</a>"), ("it's ", "'s"):
        text = before + opening + url + close + after
        found = uri.find(text.encode())
        assert [text.encode()[start:stop].decode() for start, stop in found] == [url], text
        assert found == naive.find(text.encode())
        for size in 1, 2, 7:
            assert naive.by_parts(find_plain, text.encode(), size) == found


@pytest.mark.parametrize(
    ("text", "url"),
    [('"http://a.example is', "http://a.example"), ('"http://a.example.', "http://a.example"), ("<http://a, b>", "http://a"),
     ('"http://a.example!\\n"', "http://a.example"), ("'http://a.example!\"", "http://a.example")],
)  # fmt: skip
def test_delimiters_that_are_not_closed(text, url):
    assert [text[start:stop] for start, stop in uri.find(text.encode())] == [url]


# --- text with escapes ------------------------------------------------------------------------------------------------

BOTH = [b'"', b"'", b"<", b">", b" ", b"!", b".", b"(", b")", b"://", b"x://y", b"http://a/b", b"a"]
BOTH += [b"\xc3\xa9", b"\xff", b"\xf8"]
JSON = r"http:\/\/a/b \/ \u002f \u002F \u0026 \u00e9 \ud83d\ude00 \ud83d \ude00 \u3002 \\ \n \u00 \u"
JSON += r" \" \u0022 \u0027 \u003c \u003E \u0020" + " \\"
HTML = "&amp; &amp &#38; &#x26; &#X2F; &sol; &colon; &copy= &copy; &copy &notit; &eacute; &#233 &#150; &#129; &#0;"
HTML += " &#xD800; &#1114112; &nGt; &# &#x & ; = 1 &lt; &gt; &apos; &quot; &quot &#39; &#x3c; &fjlig;"
HTML += " &CounterClockwiseContourIntegral;" + "".join(f" &#{'0' * zeros}65;" for zeros in (35, 36))
HTML += "".join(f" &#x{'0' * zeros}41;" for zeros in (34, 35))
ESCAPES = {"json": JSON.encode().split(), "html": HTML.encode().split()}


def by_parts_with_escapes(content, text, size):
    """Return what find_part() finds if `size` more bytes are known with each call."""
    found, urls, part, before = [], [], b"", 0
    for end in range(size, len(text) + size + 1, size):
        part += text[end - size : end]
        spans, more, rest = find_part(content, part, 1 << 20, end > len(text))
        found += [(before + start, before + stop) for start, stop in spans]
        urls += more
        part, before = part[rest:], before + rest
    return found, urls


@pytest.mark.parametrize("content", ESCAPES)
def test_find_and_extract_with_escapes(tier, content):
    @given(
        st.lists(st.sampled_from([*BOTH, *ESCAPES[content]]), max_size=14).map(b"".join),
        st.integers(1, 20),
        st.integers(0, 99),
    )
    def run(text, size, more):
        spans, urls = naive.find_with_escapes(text, content)
        assert uri.find(text, content) == spans
        assert uri.extract(text, content) == urls
        assert by_parts_with_escapes(content, text, size) == (spans, urls)
        lines = [b"in:%d\t%s\n" % (start, url) for (start, _), url in zip(spans, urls, strict=True)]

        capacity = max(map(len, lines), default=0) + 20 + more
        assert naive.by_copies(partial(copy_urls, content), text, capacity, b"in:") == lines

    run()


@each_row(
    ("content", "text", "urls"),
    [
        ("json", r'{"a":"http:\/\/a.example\/?b\u0026c"}', ["http://a.example/?b&c"]),
        ("json", r'["http://a.example/?q=\"b\"","see http://a.example/\"."]', ['http://a.example/?q="b"', "http://a.example/"]),
        ("json", r'{"a":"<a href=\"http://a.example/b!\">"}', ["http://a.example/b!"]),
        ("json", r'{"a":"\u003ca href=\u0022http://a.example/b!\u0022\u003e"}', ["http://a.example/b!"]),
        ("json", r'{"a":"\u003chttp://a.example/b!\u003e http://a.example/\n"}', ["http://a.example/b!", "http://a.example/"]),
        ("json", r'{"a":"http://a.example/\u00e9\ud83d\ude00 http://a.example/\ud83d"}', ["http://a.example/é😀", "http://a.example/"]),
        ("json", r'{"a":"{\"b\":\"{\\\"c\\\":\\\"http://a.example/b!\\\"}\"}"}', ["http://a.example/b!"]),
        ("html", '<a href="http://a.example/?b&amp;c">', ["http://a.example/?b&c"]),
        ("html", "<a href='http://a.example/?b=&#39;c&#x27;&copy=1&gt;'>", ["http://a.example/?b='c'&copy=1>"]),
        ("html", "&lt;http://a.example/b!&gt; &quot;http://a.example/b!&quot;", 2 * ["http://a.example/b!"]),
        ("html", "http://a.example/b&nbsp;c http://a.example/&eacute;&NotALetter;", ["http://a.example/b", "http://a.example/é&NotALetter"]),
        ("plain", r'"http://a.example/?b&amp;c" http:\/\/a.example', ["http://a.example/?b&amp;c"]),
    ],
)  # fmt: skip
def test_examples_with_escapes(content, text, urls):
    assert [url.decode() for url in uri.extract(text.encode(), content)] == urls
    assert len(uri.find(text.encode(), content=content)) == len(urls)


@each_row("content", ["json", "html"])
@each_row("url", ["http://a.example/Yahoo!", "http:///", "http://a/b_(c", "http://a/?q=1,&b", "x://é;"])
def test_the_start_decides_what_a_text_is(content, url):
    texts = {
        "json": ['{"a":"%s"}\n', ' [{"a":"%s"}]', '["%s"]', '\ufeff{\n  "a": "%s"}', '[[\n{"a":"%s"}]]'],
        "html": ['<a href="%s">', "\ufeff<!DOCTYPE html><a href='%s'>", '<!-- --> "%s"', '<br/>"%s"', '<?xml ?>"%s"'],
    }  # fmt: skip
    escaped = url.replace("/", "\\/").replace("&", "\\u0026") if content == "json" else url.replace("&", "&amp;")
    for text in texts[content]:
        data = (text % escaped).encode()
        assert content_of(data) == content
        assert uri.extract(data) == [url.encode()]
        assert uri.find(data, "auto") == uri.find(data, content) == naive.find_with_escapes(data, content)[0]


PLAIN = [
    *("", "{a", "[a](http://a.example/)", "[1] http://a", '"a"', "<http://a.example/>", "<34>1 2003-10-11", "a <b>"),
    *("<", "{{a}}"),
]


@each_row("text", PLAIN)
def test_other_texts_are_plain(text):
    assert content_of(text.encode()) == "plain"
    data = text.encode() + b' "http://a.example/?b&amp;c\\/!"'
    assert uri.find(data, "auto") == uri.find(data)
    assert uri.extract(data) == [data[start:stop] for start, stop in uri.find(data)]


def test_content_and_buffers():
    assert content_of(b"{") == content_of(b"[{\n") == "json"  # the start of a line that is written later
    data = b'{"a":"http://a.example/"}'
    assert uri.extract(bytearray(data)) == uri.extract(memoryview(data)) == [b"http://a.example/"]
    assert uri.extract(b"") == uri.extract(b"", "json") == uri.extract(b"", "html") == []
    for function in uri.find, uri.extract:
        with pytest.raises(ValueError, match="unknown content 'xml'; choose from plain, json, html, auto"):
            function(data, "xml")
        with pytest.raises(ValueError, match="unknown content 'xml'"):
            function(data.decode(), "xml")


HOSTILE_ESCAPES = ["a://b\\", "a://\\/", "\\ud83d", "a://&", "a://&amp;", "&#", "&#x0", "&copy", '"a://\\"']
HOSTILE_ESCAPES += ["&quot;a://", "&nGt;"]


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("content", ["json", "html"])
@each_row("unit", HOSTILE_ESCAPES)
def test_hostile_escapes(content, unit):
    data = unit.encode() * 500
    assert uri.find(data, content) == naive.find_with_escapes(data, content)[0]
    for many in data.__mul__, lambda count: b"http://a.example " * 1000 * count + data * count:
        assert_linear(lambda text: uri.find(text, content), many, 4)
