"""Functions that read parts of any text, for single values: against urllib.parse, and what columns do not show.

tests/_rows/test_operations.py compares the same rows by all paths with the reference implementation.
"""

import pickle
from functools import partial
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import codec
from reference import urls as reference
from reference.rows import rows_of
from support.tables import each_row

from uricodec import bulk, percent_decode, uri
from uricodec.bulk._operations import OPERATIONS
from uricodec.errors import IriError, UriSyntaxError

ROWS = rows_of("urls")
TEXTS = [row.decode("utf-8", "replace") for row in ROWS]
ONE_BY_ONE = [
    (getattr(uri, row.name), tuple(row.required.values()))
    for row in OPERATIONS.values()
    if row.result == "component" and not row.needs
]
LISTS = [(getattr(uri, row.name), ()) for row in OPERATIONS.values() if row.result == "list"]


def octets_of(found):
    """Strings in lists and tuples as UTF-8."""
    return found.encode() if isinstance(found, str) else type(found)(map(octets_of, found))


def test_rows():
    for row, text in zip(ROWS, TEXTS, strict=True):
        for function, arguments in ONE_BY_ONE:
            want = getattr(reference, function.__name__)
            assert function(row, *arguments) == want(row, False, *arguments)
            made, found = want(text.encode(), True, *arguments), function(text, *arguments)
            assert found == (made if made is None else made.decode())
        for function, _ in LISTS:
            want = getattr(reference, function.__name__)
            assert function(row) == want(row, False)
            assert octets_of(function(text)) == want(text.encode(), True)
        names = ["page", "q", "é"]
        assert [*uri.query_value(row, names).values()] == [*reference.query_value(row, False, names)]


@given(st.text("?&=;#%+q4162Fé\ud800 \0", max_size=40))
def test_values_are_those_of_urllib(query):
    """A surrogate is U+FFFD here, and stays there."""
    pairs = parse_qsl(query.partition("#")[0], keep_blank_values=True)
    clean = [tuple(part.replace("\ud800", "\ufffd") for part in pair) for pair in pairs]
    for name in {"q", "", "é", "6", *(name for name, _ in clean)}:
        assert uri.query_value(f"?{query}", name) == dict(clean[::-1]).get(name)
    assert uri.query_pairs(f"?{query}") == clean
    assert bulk.query_pairs([f"?{query}"] * 20) == [clean] * 20


@each_row(
    "url",
    [
        *("mailto:a@b?q=%2B1+1&a+b=2", "sms:+1?q=%2B1+1&a+b=2", "SIP:a@b?q=%2B1+1&a+b=2", "xmpp:a@b?q=%2B1+1&a+b=2"),
        *("bitcoin:1A?q=%2B1+1&a+b=2", "otpauth://totp/a?q=%2B1+1&a+b=2", "ftp://h/?q=%2B1+1&a+b=2"),
        *(
            "w:?q=%2B1+1&a+b=2",
            "httpss://h?q=%2B1+1&a+b=2",
            "view-source:http://h?q=%2B1+1&a+b=2",
            "http+unix://h?q=%2B1+1&a+b=2",
        ),
    ],
)
def test_a_plus_sign_stays_where_no_form_is_sent_to(url):
    """RFC 6068 section 5: "+" is a plus sign, in names and values; in http it is a space."""
    for given_, texts in (url, str), (url.encode(), str.encode):
        assert uri.query_pairs(given_) == [(texts("q"), texts("+1+1")), (texts("a+b"), texts("2"))]
        assert uri.query_value(given_, "q") == texts("+1+1")
        assert uri.query_value(given_, ["a b", "a+b"]) == {"a b": None, "a+b": texts("2")}
        for form in "HTTP", "https", "ws", "wSs":
            sent = texts(form + "://h?") + given_.partition(texts("?"))[2]
            assert uri.query_pairs(sent) == [(texts("q"), texts("+1 1")), (texts("a b"), texts("2"))]
            assert uri.query_value(sent, "q") == texts("+1 1") and uri.query_value(sent, "a+b") is None


@given(st.text("/;=%+2F4é\ud800 \0", max_size=40).filter(lambda path: not path.startswith("//")))
def test_segments_are_those_of_urllib(path):
    segments = [unquote(part).replace("\ud800", "\ufffd") for part in path.removeprefix("/").split("/")]
    assert (
        uri.path_segments(f"{path}?q/r") == uri.path_segments(f"//h/{path.removeprefix('/')}#q") == segments or not path
    )


@given(st.text("ab.:80@[]/?#é", max_size=12))
def test_hosts_are_those_of_urllib(text):
    """urllib's hostname is in lower case, without brackets, and None if it is empty; it rejects some brackets."""
    url = f"http://{text}"
    try:
        want = urlsplit(url).hostname or ""
    except ValueError:
        return
    if not {*"[]"} & {*url}:
        assert uri.host(url) == want


def test_long_texts_and_buffers():
    host = "é" * 5000
    url = f"//u@{host}:{'8' * 700}/?{'x=1&' * 900}q={'%C3%A9+' * 3000}&q"
    for given_, kind in (
        (url, str),
        (url.encode(), bytes),
        (bytearray(url.encode()), bytes),
        (memoryview(url.encode()), bytes),
    ):
        found = [uri.host(given_), uri.port(given_), uri.query_value(given_, "q")]
        assert [type(each) for each in found] == [kind] * 3
        assert [each.decode() if kind is bytes else each for each in found] == [host, "8" * 700, "é " * 3000]


@pytest.mark.parametrize("size", [1, 254, 255, 256, 20_000])
def test_texts_of_items_of_any_size(size):
    """A text of 255 bytes or more is stored in another way; all that is invalid becomes three times as long."""
    for text, plain in ("a" * size, "a" * size), ("%FF" * size, "\ufffd" * size), ("é+" * size, None):
        name, part = (plain, plain) if plain else ("é " * size, text)
        url = f"/{text}/b/{text}?{text}&{text}={text}&c"
        segments, pairs = [part, "b", part], [(name, ""), (name, name), ("c", "")]
        assert uri.path_segments(url) == segments and uri.query_pairs(url) == pairs
        assert bulk.path_segments([url] * 20) == [segments] * 20 and bulk.query_pairs([url] * 20) == [pairs] * 20
    raw = b"\xff" * size
    line = b"/%b/b?%b=%b\n" % (raw, raw, raw)
    replaced = "\ufffd" * size
    assert list(bulk.path_segments(line)) == [[replaced, "b"]]
    assert list(bulk.query_pairs(line)) == [[{"name": replaced, "value": replaced}]]


def test_the_most_bytes_that_items_take():
    """Shortest texts, and the longest results, in memory of the size that the operation asks for."""
    for unit, want in (b"&\xff", ("\ufffd", "")), (b"&a", ("a", "")), (b"&=", ("", "")):
        for count in 1, 5, 8000, 70_000:
            assert bulk.query_pairs(b"?" + unit * count)[0] == [dict(zip(("name", "value"), want, strict=True))] * count
            assert uri.query_pairs("?" + unit.decode("utf-8", "replace") * count) == [want] * count
    assert uri.path_segments("//h" + "/" * 100_000) == [""] * 100_000


def test_bytes_stay_and_text_becomes_utf_8():
    assert uri.query_value(b"?q=%FF+\xff", "q") == b"\xff \xff" and uri.query_value("?q=%FF", "q") == "\ufffd"
    assert uri.host(b"//\xff") == b"\xff" and uri.host("//a\ud800") == "a\ufffd"
    assert list(bulk.host(b"//\xff\xc3\n")) == ["\ufffd\ufffd"] and bulk.host([b"//\xff\xc3"]) == [b"\xff\xc3"]
    assert bulk.host(["//a\ud800"]) == ["a\ufffd"] and bulk.host(["//a\ud800"], errors="null") == [None]
    assert bulk.query_value(["?q=\ud800"] * 30, ["q", "x"]) == [{"q": "\ufffd", "x": None}] * 30


def test_values_at_any_distance():
    queries = [
        f"{'n' * before}={'v' * before}&a%62+c=x{plus * after}%20y&q=&q=2#q=3"
        for before in range(0, 200, 7)
        for after in range(0, 140, 9)
        for plus in "+-"
    ]
    urls = [f"http://a/{'p' * (i % 70)}?{query}" if i % 3 else "http://a/p#?q=1" for i, query in enumerate(queries)]
    for name in "ab c", "q", "none":
        want = [dict(reversed(parse_qsl(urlsplit(url).query, keep_blank_values=True))).get(name) for url in urls]
        assert bulk.query_value(urls, name) == [uri.query_value(url, name) for url in urls] == want


def test_errors():
    for function, arguments in ONE_BY_ONE + LISTS:
        assert function("//a b?q", *arguments, errors="null") is None
        with pytest.raises(IriError, match="invalid character ' ' in host at offset 3") as caught:
            function("//a b?q", *arguments, errors="raise")
        assert caught.value.input == "//a b?q"
        with pytest.raises(IriError, match="lone surrogate at offset 2"):
            function("//\ud800", *arguments, errors="raise")
        with pytest.raises(ValueError, match="errors must be one of 'keep', 'null', 'raise', got 'drop'"):
            function("//a", *arguments, errors="drop")
        with pytest.raises(TypeError):
            function(5, *arguments)
        assert pickle.loads(pickle.dumps(function)) is function


def test_names():
    for function in uri.query_value, lambda url, name: bulk.query_value([url], name):
        with pytest.raises(TypeError, match="name must be a str"):
            function("?a", ["a", 5])
        with pytest.raises(TypeError):
            function("?a", b"a")
        with pytest.raises(ValueError, match="got 'a' twice"):
            function("?a", ["a", "b", "a"])
        for names in [], [str(i) for i in range(33)]:
            with pytest.raises(ValueError, match=f"expected 1 to 32 names, got {len(names)}"):
                function("?a", names)
    many = [str(i) for i in range(32)]
    url = "?" + "&".join(f"{name}={name * 2}" for name in many)
    assert uri.query_value(url, many) == {name: name * 2 for name in many} == bulk.query_value([url] * 99, many)[98]
    assert uri.query_value("?\ufffd=1", "\ud800") is None


@each_row("url", ["1A://H/%7e", "-a://H/x", "a_b://H/x", "é://H/x", "1:b", ":b", "://H/"])
def test_a_scheme_is_the_same_for_all_functions(url):
    """By the grammar: what does not begin with one is a path, for values and normal forms."""
    assert uri.host(url) is uri.port(url) is None
    assert uri.path_segments(url)[0] == url.partition("/")[0]
    for level in "case", "path", "scheme":
        assert "h" not in uri.normalize(url, level=level)
    parts = bulk.split_uri([url], errors="keep")[0]
    assert (parts["scheme"], parts["host"], parts["path"]) == (None, None, url)
    assert bulk.host([url, url.encode()]) == [None, None]


@given(
    st.text("?&=;#%+q41é ", max_size=30), st.sampled_from([None, False, True]), st.sampled_from(["", "mailto:", "ws:"])
)
def test_a_plus_sign_as_asked_for(query, plus, start):
    url = f"{start}?{query}"
    want = reference.query_pairs(url.encode(), True, plus)
    assert octets_of(uri.query_pairs(url, plus=plus)) == want
    assert bulk.query_pairs([url, url.encode()], plus=plus) == [uri.query_pairs(url, plus=plus), want]
    assert uri.query_value(url, "q", plus=plus) == dict(uri.query_pairs(url, plus=plus)[::-1]).get("q")


@given(
    st.lists(st.sampled_from(["%82%a0", "%CF", "%c3%a9", "é", "q", "=", "&", "+", "%81", "%"]), max_size=12).map(
        "".join
    )
)
def test_values_in_another_encoding(query):
    url = f"?{query}"
    for encoding in "cp1251", "shift_jis":
        want = reference.query_pairs(url.encode(), True, None, encoding)
        assert octets_of(uri.query_pairs(url, encoding=encoding)) == want
        assert uri.query_pairs(url.encode(), encoding=encoding) == want
        assert bulk.query_pairs([url], encoding=encoding) == [uri.query_pairs(url, encoding=encoding)]
        assert uri.query_value(url, "é", encoding=encoding) == bulk.query_value([url], "é", encoding=encoding)[0]


def test_options_of_reading():
    assert uri.query_value("?q=%CF%F0%E8&%EF=%D0%9F", ["q", "п"], encoding="cp1251") == {"q": "При", "п": "П"}
    for function in uri.query_pairs, partial(uri.query_value, name="q"), percent_decode:
        with pytest.raises(ValueError, match="unknown encoding 'no-such'"):
            function("?q", encoding="no-such")
    with pytest.raises(TypeError, match=r"^plus must be a bool or None, got 'yes'$"):
        uri.query_pairs("?q", plus="yes")


@given(st.text("%CF9fé+a", max_size=12), st.booleans())
def test_decoding_in_another_encoding(text, plus):
    for errors in "keep", "replace":
        want, fault = codec.decode_encoded_row(text.encode(), errors, "cp1251", plus, frozenset())
        assert percent_decode(text, plus, errors, "cp1251").encode() == want
        assert percent_decode(text.encode(), plus, errors, "cp1251") == want
        assert bulk.percent_decode([text], plus, "cp1251", errors=errors) == [want.decode()]
    if fault:
        with pytest.raises(UriSyntaxError) as caught:
            percent_decode(text, plus, "raise", "cp1251")
        assert len(text[: caught.value.offset].encode()) == fault[1]
    else:
        assert percent_decode(text, plus, "raise", "cp1251").encode() == want


BARE = [
    # text, host, registrable domain
    ("www.example.co.uk", "www.example.co.uk", "example.co.uk"),
    ("WWW.example.co.uk:8080/a?b#c", "WWW.example.co.uk", "example.co.uk"),
    ("localhost:80", "localhost", None),
    ("me:pw@www.example.com", None, None),
    ("me@www.example.com", "www.example.com", "example.com"),
    ("bücher.example?q", "bücher.example", "bücher.example"),
    ("192.0.2.1:80", "192.0.2.1", None),
    ("[::1]:80", "[::1]", None),
    ("fe80::1", "[fe80::1]", None),
    ("2001:db8::1", "[2001:db8::1]", None),
    ("https://www.example.co.uk/", "www.example.co.uk", "example.co.uk"),
    ("//a.example", "a.example", "a.example"),
    *((text, None, None) for text in ("", "/a.example", "?a.example", "#a.example", "mailto:me@a.example", "tel:80")),
    *((text, None, None) for text in ("a.example:b", "a.example:", "urn:isbn:0-395-36341-1")),
]


@each_row(("text", "host", "domain"), BARE)
def test_bare_hosts(text, host, domain):
    for errors in "keep", "null", "raise":
        assert uri.host(text, bare=True, errors=errors) == host
        assert uri.registrable_domain(text, bare=True, errors=errors) == domain
    assert reference.host(text.encode(), True, bare=True) == (None if host is None else host.encode())
    assert bulk.host([text], bare=True, errors="null") == [host]
    assert bulk.registrable_domain([text], bare=True) == [domain]


def test_faults_of_bare_hosts():
    for text, offset in ("a b", 1), ("bücher.example/a b", 16), ("a.example:80/{", 13), ("é:x", 2):
        with pytest.raises(IriError) as caught:
            uri.host(text, bare=True, errors="raise")
        assert caught.value.offset == offset
        invalid = bulk.InvalidRows()
        assert bulk.host([text], bare=True, errors="null", invalid=invalid) == [None]
        assert invalid.rows[0][2] == offset
