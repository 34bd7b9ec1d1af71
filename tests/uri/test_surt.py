"""The policy "surt": what the package surt 0.3.1 returns for these URLs, and the reference implementation."""

import contextlib
import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import surt as reference
from support.tables import each_row

from uricodec import bulk, uri
from uricodec.uri import Policy

ID, ASP = "0123456789abcdefghijklmnopqrstuv", "0123456789abcdefghijklmn"
KEYS = [
    ("http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"),
    ("HTTPS://u:p@WWW2.Example.org:443/A/#c", "org,example)/a"),
    ("http://example.org:443", "org,example:443)/"),
    ("http://a:00080/", "a)/"),
    ("ftp://www.a.example:21/A?b&a", "example,a:21)/a?a&b"),
    *[("a.example/b:c", "example,a)/b:c"), ("http:a.example", "example,a)/")],
    ("http:/a.example:81/", "example:81,a)/"),
    ("http://http://a.example/b", "example,a)/b"),
    ("mailto:a@b.example", "mailto:a@b.example"),
    ("Mailto:A%2542/#c", "Mailto:ab"),
    ("urn:A/../B?b=%20&A", "urn:a/../b?a&b=%20"),
    *[("file:///A/./b//", "file:/a/./b/"), ("file:////", "file:/"), ("dns:?B", "dns:/?b"), ("data:?#", "data:")],
    ("a:?sid=0123456789abcdefghijklmnopqrstuv", "a:"),
    *[(f"a:b/(S({ASP}))/c.aspx/", "a:b/c.aspx"), ("", "-"), ("http://", "http:"), ("http://?a", "http:/?a")],
    (" http://a.ex\tample/b\n ", "example,a)/b"),
    ("http://www.www.a.example/", "example,a,www)/"),
    ("http://www.a/", "a)/"),
    ("http://www-2.a.example/", "example,a,www-2)/"),
    ("http://%77ww.a.example/", "example,a)/"),
    ("http://.a..b...example./", "example,,b,a)/"),
    ("http://bücher.example/é", "example,xn--bcher-kva)/%c3%a9"),
    *[("http://faß.example/", "example,fass)/"), ("http://.ü.example/", "example,%c3%bc)/")],
    *[("http://a%FC.example/", "example,a)/"), ("http://127.1/", "1,0,0,127)/"), ("http://010.0.0.1/", "1,0,0,8)/")],
    *[("http://1.256/", "0,1,0,1)/"), ("http://1.2.3.256/", "256,3,2,1)/"), ("http://4294967296/", "0,0,0,0)/")],
    ("http://0x7f.1/", "1,0x7f)/"),
    ("http://[2001:db8::1]:81/a", "2001:db8::1:81)/a"),
    *[("http://a:80::/b", "a)/b"), ("http://[a:b::/c", "a:b)/c")],
    ("http://a/%2541%252e/%2F/b%3Fc%23", "a)/a./b?c%23"),
    *[("http://a/%%34%31%zz%", "a)/a%25zz%25"), ("http://a//b/./c/..//d/", "a)/b/d"), ("http://a/b//../c", "a)/b/c")],
    ("http://a/Products/Index.HTML", "a)/products/index.html"),
    ("http://a/b/./.c/..d/e.", "a)/b/.c/..d/e."),
    *[("http://a/../b", "a)/../b"), ("http://a/b/../../../c", "a)/c"), ("http://a?", "a)/")],
    ("http://a/?b=1&b&b=&B+c&b-c", "a)/?b&b=&b=1&b+c&b-c"),
    *[("http://a/?b&&a=%26", "a)/?&&a=&b"), (f"http://a/?b&sid={ID}&a", "a)/?a&b")],
    (f"http://a/?xsid={ID}&b", "a)/?xb"),
    (f"http://a/?sid={ID}&sid={ID}", f"a)/?&sid={ID}"),
    (f"http://a/?sid={ID}x", f"a)/?sid={ID}x"),
    (f"http://a/?PHPSESSID={ID.upper()}&jsessionid={ID}", "a)/"),
    ("http://a/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&b", "a)/?b"),
    ("http://a/?b&cfid=1&cftoken=2&c", "a)/?b&c"),
    # What has no host in the authority, or loses it; records about files of an archive
    ("filedesc://A.arc.gz", "filedesc://A.arc.gz"),
    *[("filedesc #%41\t", "filedesc #%41\t"), ("Filedesc:A", "Filedesc:a"), (" filedesc:A", "filedesc:a")],
    *[("://h", "h)/"), ("://h:b/c", "h:b)/c"), ("/", "http:/"), ("?", "http:"), ("?b", "http:/?b")],
    *[("//?b", "http:/?b"), ("//a/B", "a)/b"), ("http://@:8080/B/../c", "b:8080)/../c"), ("http://:8080/", "http:/")],
    *[("http://./B/../c/", "http:/b/../c"), ("http:.", "http:/"), ("http:.?", "http:/"), ("http:.?b", "http:/?b")],
    *[("http:a:81@b", "a:81@b)/"), ("HTTP:/A", "HTTP:/a"), ("httpx:a/B", "a)/b"), ("httpx://a:80/", "a:80)/")],
    *[("http://https://a:443/", "a)/"), ("https://http://a:443", "a:443)/"), ("http:////http://a", "http:)/a")],
    *[("HTTP://http://a", "http)/a"), ("dns://@/B/../c", "dns:/b/../c"), ("a://:81/B/../c?", "a:/b/../c")],
    ("http://a/?cfid=&cftoken=2", "a)/?cfid=&cftoken=2"),
    (f"http://a/b;jsessionid={ID}", f"a)/b;jsessionid={ID}"),
    (f"http://a/(S({ASP})f({ASP}))/b.aspx", "a)/b.aspx"),
    (f"http://a/({ASP})/({ASP})/b.aspx/c", f"a)/({ASP})/b.aspx/c"),
    (f"http://a/({ASP})/(s({ASP}))/b.aspx", "a)/b.aspx"),
    (f"http://a/({ASP})/.aspx", f"a)/({ASP})/.aspx"),
    (f"http://a/({ASP})/b%3Fc.aspx", f"a)/({ASP})/b?c.aspx"),
]
# Where the package raises ValueError, and what we return.
OURS = [("http://a:b/c", "a:b)/c"), ("http://a:65536/c", "a:65536)/c"), ("http://a:80:81/", "a:80:81)/"), (" ", "-")]
OURS += [("http://:b/c", "c:b)/")]
PIECES = [
    *("http://", "https://", "http:", "ftp://", "/", "//", "?", "#", "@", ":", ":80", ":81", ":8%", ":99999", "[", "]"),
    *("%", "%2", "%25", "%2e", "%2F", "%3F", "%23", "%41", "%C3%A9", "é", "ü", "ß", "\u3002", "%ff"),
    *(" ", "\t", "\x0b", "\x00"),
    *(".", "..", "/./", "/../", "www.", "WWW2.", "a.example", "B", "1", "256", "010", "09", "1.2.3.4", "4294967297"),
    *("&", "=", "&b=1", "&a", "sid=", f"sid={ID}", f"&jsessionid={ID}&", f"PHPSESSID={ID}", "cfid=1&cftoken=2"),
    *("filedesc", "://", "httpx:", "HTTP:", "dns:"),
    *("cfid=", "aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx", f"/({ASP})/", f"(s({ASP}))/", "b.aspx", "(", ")"),
]  # fmt: skip


@each_row(("url", "key"), KEYS + OURS)
def test_keys(url, key):
    assert uri.normalize(url, policy="surt") == uri.key(url, policy="surt") == reference.key(url) == key
    assert uri.normalize(url.encode(), policy="surt") == key.encode()
    assert bulk.normalize_uri([url], policy="surt") == [key]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.booleans())
def test_any_url(text, has_host):
    for url in text, "http://a" + text, "http:" + text:
        assert uri.normalize(url, policy="surt") == reference.key(url)


@each_row(
    "part", ["%25", "%", "/..", "/a/..", f"/({ASP})/", "cfid=", "&b&a", "ü", "ﷺ.", "1", "1.", ".", "http://", "[", "@"]
)
def test_long_urls(part):
    for start in "http://", "http://a/", "http://a/?":
        url = start + part * 99
        assert uri.normalize(url, policy="surt") == reference.key(url)


def test_the_policy_is_a_value_without_fields():
    policy = Policy.ready("surt")
    assert eval(repr(policy), {"Policy": Policy}) is policy and repr(policy) == "Policy.ready('surt')"
    assert policy == pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy.replace() != Policy()
    assert hash(policy) == hash(policy.replace()) != hash(Policy())
    assert [step.step for step in policy.explain("http://a")] == ["surt"]
    with pytest.raises(ValueError, match="the policy 'surt' has no fields to change, got level, query"):
        policy.replace(level="case", query="sort")


STARTS = (
    *("", "http://", "http:", "http://a", "HTTPS://u:p@a", "http://[2001:DB8::1]", "ftp://a", "mailto:A", "file:///A"),
    *("Urn:%", "data:?"),
)


@pytest.mark.interop
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")  # of its source, when compiled
@settings(max_examples=500)
@given(st.sampled_from(STARTS), st.lists(st.sampled_from(PIECES), max_size=12))
def test_the_package(start, pieces):
    package, url = pytest.importorskip("surt", reason="surt is not installed"), "".join([start, *pieces])
    # A port that is not a number up to 65535, and blanks alone
    with contextlib.suppress(ValueError, AttributeError):
        assert uri.normalize(url, policy="surt") == package.surt(url)
