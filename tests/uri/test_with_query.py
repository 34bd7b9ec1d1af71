"""Other parameters in a query; test_operations.py compares columns and lines with the same reference implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import urls
from support.tables import each_row

from uricodec import bulk, uri
from uricodec.errors import UriSyntaxError

FORMS = ("", "/", "//h", "HTTP://h", "https:", "Ws://h/", "wss://h", "1a://h", "é:")
OTHERS = ("mailto:a@b", "sms:+1", "sip:a@b", "xmpp:a@b", "bitcoin:1", "otpauth://totp/a", "ftp://h/", "FILE:", "w:")
OTHERS += ("httpss:", "htt://h", "https+unix://h/", "wssx:", "urn:a:b", "a:http://h/", "s:", "http-x:", "http.s:")

CASES = [
    # set
    ("/", {"set": {"a": "1"}}, "/?a=1"),
    ("/?", {"set": {"a": "1"}}, "/?a=1"),
    ("/?#f", {"set": {"a": "1"}}, "/?a=1#f"),
    ("/#?a=0", {"set": {"a": "1"}}, "/?a=1#?a=0"),
    ("?a=0&b&a=2&%61=3", {"set": {"a": "1"}}, "?a=1&b"),
    ("?b&&%61", {"set": {"a": "1"}}, "?b&&%61=1"),
    ("?b&", {"set": {"a": "1"}}, "?b&&a=1"),
    ("?a+b=1", {"set": {"a b": "x y"}}, "?a+b=x+y"),
    ("?a%20b=1", {"set": {"a b": "~*é&"}}, "?a%20b=~%2A%C3%A9%26"),
    ("?x", {"set": {"é =": ""}}, "?x&%C3%A9+%3D="),
    ("?=1", {"set": {"": "2"}}, "?=2"),
    ("?a=1", {"set": "b=2&c&b=3"}, "?a=1&b=2&c=&b=3"),
    ("http://a/?x", {"set": "a=1&a=2"}, "http://a/?x&a=1&a=2"),
    ("/?b&a=0&%61&c", {"set": "a=1&d=3&a=2"}, "/?b&a=1&a=2&c&d=3"),
    ("/?b&a=0", {"set": {"a": ["1", "2"], "c": ("3",)}}, "/?b&a=1&a=2&c=3"),
    ("/?b&%61=0", {"set": [("a", "1"), ("c", "3"), ["a", ["2", "é"]]]}, "/?b&%61=1&%61=2&%61=%C3%A9&c=3"),
    ("/?a=0&b&a", {"set": {"a": [], "c": []}}, "/?b"),
    ("/?a=0", {"set": {"a": ()}}, "/"),
    # A "+" is a space where forms write it so.
    *((f"{start}?a+b=1&c+d=2", {"set": {"a b": "x +"}, "drop": ["c d"]}, f"{start}?a+b=x+%2B") for start in FORMS),
    *(
        (f"{start}?a+b=1&c%20d=2", {"set": {"a b": "x +"}, "drop": ["c d"]}, f"{start}?a+b=1&a%20b=x%20%2B")
        for start in OTHERS
    ),
    *((f"{start}?a+b=1&c%20d=2", {"set": {"a+b": "2"}, "keep": "c d"}, f"{start}?a+b=2&c%20d=2") for start in OTHERS),
    ("?a=1", {"set": ""}, "?a=1"),
    # A space as it is asked for; names are compared as the query is spelled.
    *(
        (f"{start}?a+b=1", {"set": {"a b": "x +", "c d": ""}, "space": "%20"}, f"{start}?a+b=x%20%2B&c%20d=")
        for start in FORMS
    ),
    *((f"{start}?a+b=1", {"set": {"a b": "x +"}, "space": "+"}, f"{start}?a+b=1&a+b=x+%2B") for start in OTHERS),
    ("?A=1", {"set": {"a": "2"}}, "?A=1&a=2"),
    # drop
    ("/?a=1", {"drop": ["a"]}, "/"),
    ("/?a=1&b=2#f", {"drop": "a,b"}, "/#f"),
    ("/?a=1&&ab=2&b", {"drop": ["a*"]}, "/?&b"),
    ("/?%61%62=1&a%zz=2&a%=3", {"drop": ["ab", "a%"]}, "/?a%zz=2"),
    ("/?", {"drop": ["a"]}, "/?"),
    ("/?", {"drop": [""]}, "/"),
    ("/?a+b=1&a%2Bb=2&c=+", {"drop": ["a b"]}, "/?a%2Bb=2&c=+"),
    # keep
    ("/?a=1&b=%7e&c&b=3", {"keep": ["b"]}, "/?b=%7e&b=3"),
    ("/?a=1&b", {"keep": []}, "/"),
    ("/?a=1&b", {"keep": ""}, "/"),
    ("/?a=1&&b", {"keep": ["", "b"]}, "/?&b"),
    ("/?a=1&b=2&c=3", {"keep": ["a", "b"], "drop": ["b"], "set": {"d": "4"}}, "/?a=1&d=4"),
    ("?a=1&", {"set": {"b": "2"}, "drop": ["a"]}, "?&b=2"),
    ("?a=1&", {"set": {"b": "2", "": "3"}, "drop": ["a"]}, "?=3&b=2"),
    ("/?a=1", {"keep": [], "drop": ["a"], "set": {"a": "2"}}, "/?a=2"),
]


@each_row(("url", "options", "want"), CASES)
def test_examples(url, options, want):
    options = dict(options)
    given = options.pop("set", None)
    assert uri.with_query(url, given, **options) == want
    assert uri.with_query(bytearray(url.encode()), given, **options) == want.encode()
    assert urls.with_query(url.encode(), given, **options) == want.encode()
    assert bulk.with_query([url, url.encode()], given, **options) == [want, want.encode()]


NAMES = st.text("ab%6=é *", max_size=4)


@given(
    st.sampled_from(["", "ws:", "mailto:", "ftp://h/"]),
    st.text("ab%616=&&?#+é", max_size=30),
    st.dictionaries(NAMES, NAMES | st.lists(NAMES, max_size=3), max_size=3),
    st.lists(NAMES, max_size=3),
    st.none() | st.lists(NAMES, max_size=3),
)
def test_any(start, url, pairs, drop, keep):
    url = start + url
    made = uri.with_query(url, pairs, drop=drop, keep=keep)
    assert made.encode() == urls.with_query(url.encode(), pairs, drop, keep)
    assert uri.with_query(made, pairs, drop=drop, keep=keep) == made or keep is not None or drop
    for name, values in pairs.items():
        wanted = [values] if isinstance(values, str) else values
        assert [value for each, value in uri.query_pairs(made) if each == name] == wanted


def test_unchanged_input_is_the_same_object():
    for url in "http://é/?a=1#é", b"/?a":
        assert uri.with_query(url) is url
        assert uri.with_query(url, drop=["b"], keep=["a"]) is url
    assert uri.with_query(memoryview(b"/?a")) == b"/?a"


def test_wrong_arguments():
    with pytest.raises(UriSyntaxError, match=r"^lone surrogate at offset 1$"):
        uri.with_query("a\ud800")
    with pytest.raises(TypeError, match=r"^set must be a mapping .*, a list of pairs, or a query as str, not int$"):
        uri.with_query("a", 5)
    for pair in "ab", ("a",), ("a", "1", "2"), 5:
        with pytest.raises(TypeError, match=r"^set must have pairs of a name and a value, got "):
            uri.with_query("a", [pair])
    with pytest.raises(TypeError, match=r"^the value of 'q' must be str or bytes, not NoneType$"):
        uri.with_query("a", {"q": ["a", None]})
    with pytest.raises(TypeError, match=r"^the value of 'q' must be str or bytes, not int$"):
        uri.with_query("a", {"q": 5})
    with pytest.raises(TypeError, match=r"^a name of drop must be str or bytes, not int$"):
        uri.with_query("a", drop=[5])
    with pytest.raises(ValueError, match=r"^space must be '\+', '%20' or None, got '_'$"):
        uri.with_query("a", {"q": ""}, space="_")
    with pytest.raises(ValueError, match=r"^set must have at most 64 names, got '64' after them$"):
        uri.with_query("a", {str(name): "" for name in range(65)})
    assert len(bulk.with_query(["?"], {str(name): "" for name in range(64)})[0]) == 1 + 63 + 64 + 64 + 54
