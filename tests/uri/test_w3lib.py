"""The policy "w3lib": what w3lib 2.5.0 returns for these URLs, and the reference implementation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import w3lib as reference
from support.tables import each_row
from support.timing import assert_linear

from uricodec import bulk, uri
from uricodec.errors import UriSyntaxError

KEYS = [
    *[("", "/"), ("#a", "/"), ("?a", "/?a="), ("a", "a"), ("a?b#c?d", "a?b="), ("//h", "//h/"), ("///a", "/a")],
    *[("/.//a", "////a"), ("../a", "../a"), ("mailto:", "mailto:/")],
    ("mailto:a/../b?subject=B C&cc", "mailto:a/../b?cc=&subject=B+C"),
    *[("http:", "http:///"), ("http:a", "http:a"), ("http:/a", "http:///a"), ("http:///a/", "http:///a/")],
    ("http://a", "http://a/"),
    ("HTTP://U%7e:p%2f:@A.Example:0080?", "http://U~:p%2F%3A@a.example:80/"),
    *[("http://@/", "http://@/"), ("http://:/", "http:///"), ("file:/a", "file:///a"), ("x:/a//b/../c", "x:/a//c")],
    *[("x:", "x:/"), ("x://a\\b", "x://a\\b/"), ("http:\\\\a\\b?\\#\\", "http://a/b?%5C=")],
    *[("tel:a;b=%7e", "tel:a;b=%7e"), ("x:a;b=%7e", "x:a;b=~")],
    (" \x00http://a/ b\tc\n\x1f", "http://a/%20bc"),
    *[("http://a:", "http://a/"), ("http://a:0", "http://a:0/"), ("http://a:65535", "http://a:65535/")],
    ("http://a/%2541%252e/%2F/b%3Fc%23%3b", "http://a/%2541%252e/%2F/b%3Fc%23%3B"),
    ("http://a/%%34%31%zz%", "http://a/%41%zz%"),
    ("http://a/b/../../c/./d/..", "http://a/c/"),
    *[("http://a/b/%2e%2E/c", "http://a/c"), ("http://a//../b/.", "http://a/b/")],
    ("http://a/.b/..c", "http://a/.b/..c"),
    ("http://a/[|]%5b%7C;[|]%5b%7C", "http://a/[|][|;%5B%7C%5D%5b%7C"),
    *[("http://a/b;c/d;;e", "http://a/b;c/d;;e"), ("http://a/b;", "http://a/b"), ("http://a;b", "http://a;b/")],
    ("http://a/é\"<>^`{}\x7f'!$&()*+,=:@", "http://a/%C3%A9%22%3C%3E%5E%60%7B%7D%7F'!$&()*+,=:@"),
    ("http://a/?b=2&a&b=1&&a=", "http://a/?a=&a=&b=1&b=2"),
    ("http://a/?b+c%20d e=%2B&b-c", "http://a/?b+c+d+e=%2B&b-c="),
    ("http://a/?a==&a=%3d%26%41%zz%", "http://a/?a=%3D&a=%3D%26A%25zz%25"),
    *[("http://a/?&", "http://a/"), ("http://a/?=", "http://a/?=")],
    ("http://a/?b=1&B=1&a%00&a&a%FF=é'~", "http://a/?B=1&a=&a%00=&a%FF=%C3%A9%27~&b=1"),
    ("http://a/?a&%61=1&a=0", "http://a/?a=&a=0&a=1"),
    ("http://a/?b#a?c", "http://a/?b="),
    ("http://bücher.Example/", "http://xn--bcher-kva.example/"),
    *[("http://faß/", "http://fass/"), ("http://.ü.a/", "http://.ü.a/"), ("http://İ.a/", "http://xn--i-9bb.a/")],
    ("http://a。é/", "http://a.xn--9ca/"),
    ("http://%C3%A9É/", "http://xn--%c3%a9-gva/"),
    *[("http://é%Zz/", "http://xn--%zz-9la/"), ("http://%ZZ/", "http://%zz/")],
    ("http://[2001:DB8:0:0:0::1]:81/a", "http://[2001:db8::1]:81/a"),
    ("http://u@[FE80::1%Eth0]/", "http://u@[fe80::1%eth0]/"),
    *[("http://[v1.A]/", "http://v1.a/"), ("http://[vF.A:B]:1", "http://[vf.a:b]:1/")],
    *[("http://[]@v1.a/", "http://%5B%5D@/"), ("http://]@[::1/", "http://%5D@[::1]/")],
]
REJECTED = [
    *[("http://a:b/c", "port", 9), (" http://a\t:65536/c", "port", 11), ("http://a:80:81/", "port", 9)],
    *[("http://[::1", "IP literal", 7), ("http://u@a[::1]/", "IP literal", 9), ("http://[::1]a/", "IP literal", 7)],
    *[("http://[1.2.3.4]/", "IP literal", 7), ("http://[V1.a]/", "IP literal", 7)],
    *[("http://[v.a:b]/", "IP literal", 7), ("http://[::1%]/", "IP literal", 7)],
    *[("http://[::1%a%b]/", "IP literal", 7), ("http://[::1%é]/", "IP literal", 7), ("http://[]@a/", "IP literal", 10)],
    ("http://a\uff0fb/", "normalizes to a delimiter", 7),
    ("http://\u2100@b/", "normalizes to a delimiter", 9),
]
PIECES = [
    *("http://", "https://", "http:", "ftp:", "x-a://", "sip:", "/", "//", "?", "#", "@", ":", ":80", ":0443", ":x"),
    "\\",
    *("[", "]", "[::1]", "[::FFFF:1.2.3.4]", "[fe80::1%Eth0]", "[v1.a]", "[v1.a:B]", "[1.2.3.4]", "1.2.3.4"),
    *("%", "%2", "%25", "%2e", "%2F", "%3b", "%3F", "%23", "%26", "%3D", "%20", "%2B", "%41", "%5B", "%C3%A9", "%ff"),
    *("é", "ü", "ß", "ﬀ", "\u3002", "\uff20", "\u2100", "İ", "Ⱥ", "ﷺ", "\u00ad"),
    *("\\", " ", "\t", "\n", "\x0b", "\x00", "'", '"', "|", "~", "+", ";", ";p=1%7e"),
    *(".", "..", "/./", "/../", "/.", "/..", "a.example", "B", "&", "=", "&b=1", "&a", "&A="),
]


def outcome(function, url):
    try:
        return function(url)
    except ValueError:
        return ValueError


def normal(url):
    return uri.normalize(url, policy="w3lib")


@each_row(("url", "key"), KEYS)
def test_keys(url, key):
    assert normal(url) == uri.key(url, policy="w3lib") == reference.key(url) == key
    assert normal(url.encode()) == key.encode()
    assert bulk.normalize_uri([url], policy="w3lib") == [key]


@each_row(("url", "reason", "offset"), REJECTED)
def test_rejected(url, reason, offset):
    """These are the URLs for which w3lib raises ValueError."""
    with pytest.raises(UriSyntaxError) as found:
        normal(url)
    assert (reason in found.value.reason, found.value.offset) == (True, offset)
    assert outcome(reference.key, url) is ValueError
    assert bulk.normalize_uri([url], policy="w3lib", errors="null") == [None]


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from([b"", b"\xff", b"\xc3", b"\xe2\x80"])
)
def test_any_url(text, tail):
    for url in text, "http://a" + text, b"http://" + tail + text.encode(), text.encode() + tail:
        assert outcome(normal, url) == outcome(reference.key, url)


@each_row("part", ["%25", "%", "/..", "/a/..", "&b&a", "é", "ﷺ.", "1.", " ", "\\", "a\t", ";", "[", "@"])
def test_long_urls(part):
    for start in "http://", "http://a/", "http://a/?":
        url = start + part * 199
        assert outcome(normal, url) == outcome(reference.key, url)


@given(
    st.lists(
        st.tuples(st.sampled_from("aé\uac00\u0344\u0301\u0316\uff9e\u3099\ufc5e\uff0f\u00ad."), st.integers(0, 300)),
        max_size=6,
    )
)
def test_any_number_of_marks(runs):
    """They are put in order before unicodedata does it, which would be quadratic."""
    url = "http://a" + "".join(mark * count for mark, count in runs)
    assert outcome(normal, url) == outcome(reference.key, url)


@pytest.mark.timeout(60)
def test_marks_take_linear_time():
    assert_linear(normal, lambda count: "http://a" + "\u0301\u0316" * count, 5000)
    assert_linear(normal, lambda count: "http://" + "\u0301\u0316" * count + "@a", 5000)


# IPv4-mapped addresses are written in another form by the ipaddress of older Pythons.
LIKE_ANY_VERSION = [piece for piece in PIECES if "1.2.3.4" not in piece]


@pytest.mark.interop
@settings(max_examples=500)
@given(st.lists(st.sampled_from(LIKE_ANY_VERSION), max_size=12).map("".join))
def test_the_package(text):
    w3lib = pytest.importorskip("w3lib.url", reason="w3lib is not installed")
    for url in text, "http://a" + text:
        assert outcome(normal, url) == outcome(w3lib.canonicalize_url, url)
