"""docs/guides/porting.md: both columns of its tables, run on the same inputs, with the libraries that it compares.

`CASES` has an entry for each row whose cells are Python. An entry has inputs with the same result in both columns, and
inputs with both results, which are what the third column and the list after the table say. Commands have tests of
their own.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from support.command import process

import uricodec
from uricodec import bulk, iri, uri

# Each release of nine libraries may need a change here.
pytestmark = [pytest.mark.interop, pytest.mark.long]

ROOT = Path(__file__).parent.parent
IMPORTS = {
    "urllib": "from urllib.parse import parse_qsl, unquote, urljoin, urlsplit",
    "yarl": "from yarl import URL",
    "rfc3986": "import rfc3986; from rfc3986 import is_valid_uri, uri_reference",
    "hyperlink": "import hyperlink; from hyperlink import URL",
    "surt": "import surt",
    "w3lib": "import w3lib.url",
    "furl": "from furl import furl",
    "url_normalize": "from url_normalize import url_normalize",
    "tldextract": "import tldextract; from tldextract import extract",
}


class Case(NamedTuple):
    """A row. In its expressions, "{}" is the code of the cell; an exception is the name of its class and "!"."""

    library: str
    same: list
    different: dict
    left: str = "{}"
    right: str = "{}"
    fields: str = ""  # what the page writes as "..."


URLS = [
    *("http://example.org/", "http://example.org/a?b=c", "http://example.org/a/b#c", "http://example.org:8080/a/b"),
    *("https://example.org/?a=1&b=%26", "http://127.0.0.1/", "http://[::1]/", "http://xn--bcher-kva.example/"),
    *("http://example.org/a%2Fb", "http://example.org/caf%C3%A9", "ftp://example.org/a"),
]
REFERENCES = [
    *("g", "./g", "g/", "/g", "//g/", "g?y", "#s", "g#s", "g?y#s", "g;x", ".", "./", "..", "../", "../g", "../.."),
    *("../../g", "../../../g", "/./g", "g.", "..g", "./../g", "g/./h", "g/../h", "g?y/../x", "mailto:a@example.org"),
]
COMPONENTS = "scheme", "userinfo", "host", "port", "path", "query", "fragment"
CASES = {
    "from urllib.parse import quote": Case(
        "urllib",
        ["", "a b", "é", "%41", "100%", "/a?b#c", "~", "\x00", "a+b", "http://[::1]/", "\ud800"],
        {},
        "run('{}', 'quote(text)', text)",
        "run('{}', 'quote(text)', text)",
    ),
    "unquote(text)": Case(
        "urllib",
        ["", "a b", "%41", "caf%C3%A9", "%E2%82%AC", "100%", "%zz", "%u0041", "a+b", "%2541", "%0A", "é%20", "%00"],
        {
            "caf%E9": ("caf\ufffd", "caf%E9"),
            "%C3%A9%c3": ("é\ufffd", "é%c3"),
            "%C0%AF": ("\ufffd\ufffd", "%C0%AF"),
            "%ED%A0%80": ("\ufffd\ufffd\ufffd", "%ED%A0%80"),
        },
    ),
    "urlsplit(url).hostname in allowed": Case(
        "urllib",
        [*(url for url in URLS if url[0] == "h" and "[" not in url), "HTTP://Example.ORG:80/", "http://example.com/"],
        {
            "http://example.com\\@example.org/": (True, "AmbiguousUrlError!"),
            "http://me@example.org/": (True, "AmbiguousUrlError!"),
            "http://bücher.example/": (True, "AmbiguousUrlError!"),
            "ftp://example.org/": (True, "AmbiguousUrlError!"),
            "//example.org/": (True, "AmbiguousUrlError!"),
            "example.org": (False, "AmbiguousUrlError!"),
            "http://[::1": ("ValueError!", "AmbiguousUrlError!"),
        },
    ),
    "urljoin(base, text)": Case(
        "urllib",
        [*URLS, *REFERENCES, "http://h", "//h", "?y#z", "http://h:x/", "g h"],
        {
            "": ("http://h/a/b/c?d#e", "http://h/a/b/c?d"),
            "http:g": ("http://h/a/b/g", "http:g"),
            "g?": ("http://h/a/b/g", "http://h/a/b/g?"),
            "g#": ("http://h/a/b/g", "http://h/a/b/g#"),
        },
    ),
    "parse_qsl(urlsplit(url).query, keep_blank_values=True)": Case(
        "urllib",
        [
            *("?q=1", "?a=b&q=c", "?q", "?q=", "?q=a+b", "?q=a%20b%2Bc", "?q=caf%C3%A9", "?q=ü", "?a=1&a=2", "?%71=1"),
            *("", "?", "?q=%E9", "?a;b=1", "?a=1;b=2", "?=1", "?&&a=1", "?a=100%", "http://h/?a=b#c"),
        ],
        {},
    ),
    "urlsplit(url)": Case(
        "urllib",
        [*URLS, "http://example.org", "mailto:me@example.org", "urn:isbn:0451450523", "http://h:99999/"],
        {
            "http://a b/": (True, False),
            "http://h/%zz": (True, False),
            "http://h/ü": (True, False),
            "http://h:x/": (True, False),
            "//example.org": (True, False),
            "": (True, False),
            "http://[::1": ("ValueError!", False),
        },
        left="{} is not None",
    ),
    "URL(text)": Case(
        "yarl",
        [*URLS, "mailto:me@example.org", "/a/b?c", "//example.org/a", "http://u:p@h/", "a%20b", ""],
        {
            "HTTP://Example.org:80": (("http", "example.org:80", "/", "", ""), ("HTTP", "Example.org:80", "", "", "")),
            "http://h/a/../%7e": (("http", "h", "/~", "", ""), ("http", "h", "/a/../%7e", "", "")),
            "http://h/a b": (("http", "h", "/a%20b", "", ""), "UriSyntaxError!"),
            "http://h/100%": (("http", "h", "/100%25", "", ""), "UriSyntaxError!"),
            "http://h/ü": (("http", "h", "/%C3%BC", "", ""), "UriSyntaxError!"),
            "http://h:x/": ("ValueError!", "UriSyntaxError!"),
            "http://[::1": ("ValueError!", "UriSyntaxError!"),
        },
        left="[(u.scheme, u.raw_authority, u.raw_path, u.raw_query_string, u.raw_fragment) for u in [{}]][0]",
        right="tuple(part or '' for part in {})",
    ),
    "str(URL(text))": Case(
        "yarl",
        [*URLS, "http://h/a b", "http://h/ü?ä=ö#ß", "a b%20c", "/a|b^c", "?q=x+y", '"<>', ""],
        {
            "HTTP://Example.org:80/a/../b?#": ("http://example.org/b", "HTTP://Example.org:80/a/../b?#"),
            "http://h/%7eb": ("http://h/~b", "http://h/%7eb"),
            "http://h/100%": ("http://h/100%25", "http://h/100%"),
            "http://bücher.example/": ("http://xn--bcher-kva.example/", "http://b%C3%BCcher.example/"),
            "http://h/\na": ("http://h/a", "http://h/%0Aa"),
            "?q=x y": ("?q=x+y", "?q=x%20y"),
            "?[q]": ("?%5Bq%5D", "?[q]"),
            "/a%26b?": ("/a&b", "/a%26b?"),
            "http://h:x/": ("ValueError!", "http://h:x/"),
        },
    ),
    "URL(text).host": Case(
        "yarl",
        [
            *(url for url in URLS if "[" not in url and "xn--" not in url),
            *("//example.org", "http://me@bücher.example:80/", "/a", "mailto:me@example.org", "a b", ""),
        ],
        {
            "http://Example.org/": ("example.org", "Example.org"),
            "http://xn--bcher-kva.example/": ("bücher.example", "xn--bcher-kva.example"),
            "http://[::1]:80/": ("::1", "[::1]"),
            "file:///etc": (None, ""),
            "http://h:x/": ("ValueError!", "h"),
        },
    ),
    'URL(text).query["q"]': Case(
        "yarl",
        [
            *("?q=1", "http://h/?a=b&q=c", "?q", "?q=", "?q=a+b", "?q=a%20b%2Bc", "?q=caf%C3%A9", "?q=ü", "?q=1&q=2"),
            "?%71=1",
        ],
        {"http://h/": ("KeyError!", None), "?Q=1": ("KeyError!", None), "?a;q=1": ("KeyError!", None)},
    ),
    "URL(base).join(URL(text))": Case(
        "yarl",
        [*URLS, *REFERENCES],
        {
            "": ("http://h/a/b/c?d#e", "http://h/a/b/c?d"),
            "?y": ("http://h/a/b/c?y#e", "http://h/a/b/c?y"),
            "http:g": ("http://h/a/b/g", "http:g"),
            "HTTP://Example.org:80": ("http://example.org", "HTTP://Example.org:80"),
            "g h": ("http://h/a/b/g%20h", "http://h/a/b/g h"),
            "http://h:x/": ("ValueError!", "http://h:x/"),
        },
        left="str({})",
    ),
    "rfc3986.is_valid_uri(text)": Case(
        "rfc3986",
        [
            *(*URLS, "/a", "?a", "", "a:b", "http://", "http://h:/", "http://h:99999/", "http://u:p@h/"),
            "http://h/'()",
            *("http://h:x/", "http://[::1", "http://a b/", "http://bücher.example/", "http://h/#a#b", "http://h/[a]"),
        ],
        {
            "http://h/a b": (True, False),
            "http://h/ü": (True, False),
            "http://h/100%": (True, False),
            "http://h/a\n": (True, False),
            "1a:b": (True, False),
            "http://[fe80::1%25eth0]/": (True, False),
            "http://256.1.1.1/": (False, True),
            "http://@h/": (False, True),
        },
    ),
    "is_valid_uri(text, require_scheme=True)": Case(
        "rfc3986",
        [*URLS, "/a", "?a", "", "//example.org", "example.org", "a:b", "mailto:me@example.org", "http://h:x/"],
        {"http://h/a b": (True, False), "http://h/ü": (True, False), "http://h/100%": (True, False)},
    ),
    "rfc3986.validators.Validator()...": Case(
        "rfc3986",
        [*URLS, "/a", "?a", "", "mailto:me@example.org", "http://h:80/", "http://a b/", "http://[::1", "http://h/[a]"],
        {
            "http://h:99999/": (False, True),
            "http://h/a b": (True, False),
            "http://h/ü": (True, False),
            "http://h/100%": (True, False),
        },
        left="is_valid({}, rfc3986.uri_reference(text))",
        right="{} is None",
        fields=f".check_validity_of{COMPONENTS}",
    ),
    "rfc3986.normalize_uri(text)": Case(
        "rfc3986",
        [*URLS, "HTTP://Example.org:80/a/../b", "http://h/%2f%c3%a9", "/a/./b", "http://U@H", "http://h?", ""],
        {
            "http://h/%7eb": ("http://h/%7Eb", "http://h/~b"),
            "http://h/a b": ("http://h/a%20b", "http://h/a b"),
            "http://h/%2f%zz": ("http://h/%252f%25zz", "http://h/%2F%zz"),
            "http://bücher.example/a": ("http:/a", "http://bücher.example/a"),
            "http://h:x/a": ("http:/a", "http://h:x/a"),
            "../a": ("a", "../a"),
            "s:a/../b": ("s:b", "s:a/../b"),
            "http://h:/": ("http://h/", "http://h:/"),
            "file:///a": ("file:/a", "file:///a"),
        },
    ),
    "uri_reference(a).normalized_equality(uri_reference(b))": Case(
        "rfc3986",
        [
            ("HTTP://H/a", "http://h/a"),
            ("http://h/%c3%a9", "http://h/%C3%A9"),
            ("http://h/a/../b", "http://h/./b"),
            ("http://h", "http://h/"),
            ("http://h:80/", "http://h/"),
            ("http://h?", "http://h"),
            ("http://h/a", "http://h/A"),
            ("http://h/a%2Fb", "http://h/a/b"),
            ("http://[::1]/", "http://[0::1]/"),
            ("/a/b/..", "/a/"),
        ],
        {
            ("http://h/%7Ea", "http://h/~a"): (False, True),
            ("../a", "a"): (True, False),
            ("http://h:/", "http://h/"): (True, False),
            ("http://bücher.example/", "http://é.example/"): (True, False),
        },
    ),
    "hyperlink.parse(text).normalize().to_text()": Case(
        "hyperlink",
        [*URLS, "HTTP://Example.org:80", "http://h/a/../b", "http://h/%7eb%2f", "http://h/ü", "/a/./b", "http://h/a b"],
        {
            "http://u:p@h/": ("http://u:@h/", "http://u:p@h/"),
            "http://h/?#": ("http://h/", "http://h/?#"),
            "http://h/100%": ("http://h/100%25", "http://h/100%"),
            "http://ex%41mple.org/": ("http://ex%41mple.org/", "http://example.org/"),
            "../a": ("a", "../a"),
            "http://h:/": ("URLParseError!", "http://h/"),
            "http://h:x/": ("URLParseError!", "http://h:x/"),
        },
    ),
    "URL.from_text(text).to_uri().to_text()": Case(
        "hyperlink",
        [
            *(url for url in URLS if "[" not in url),
            *("http://bücher.example/ü?ä=ö#ß", "http://h/a b", "/a|b", "http://h/a/../%7e", "http://faß.example/"),
            *("/100%", ""),
        ],
        {
            "http://Example.org:80/": ("http://example.org/", "http://Example.org:80/"),
            "http://h/e\u0301": ("http://h/%C3%A9", "http://h/e%CC%81"),
            "http://[2001:db8::1]/": ("InvalidCodepoint!", "http://[2001:db8::1]/"),
            "http://a_b.example/": ("InvalidCodepoint!", "http://a_b.example/"),
            "http://%61/": ("InvalidCodepoint!", "http://%61/"),
            "http://h:/": ("URLParseError!", "http://h:/"),
        },
    ),
    "URL.from_text(text).to_iri().to_text()": Case(
        "hyperlink",
        [
            *(url for url in URLS if "[" not in url),
            *("http://h/%C3%BC?%C3%A4#%C3%9F", "http://h/%7ea%2f", "http://h/%E9", "/%e2%82%ac", "http://h/ü", ""),
        ],
        {
            "http://h/100%": ("http://h/100%", "IriError!"),
            "http://h/a b": ("http://h/a b", "IriError!"),
            "http://h/?a=%2B": ("http://h/?a=+", "http://h/?a=%2B"),
            "/a%20b": ("/a b", "/a%20b"),
            "http://h:/": ("URLParseError!", "http://h:/"),
        },
    ),
    "surt.surt(url)": Case(
        "surt",
        [
            *(*URLS, "HTTP://me@WWW2.Example.org:80/A//../b/?b=1&a#c", "http://bücher.example/ü", "http://h/%2541", ""),
            *("mailto:A@b", "file:///A", "www.example.org/a", "//example.org", "http://h/a b", "http://h/100%"),
            *(" http://h/\n", "http://h/../a"),
        ],
        {"http://h:x/": ("ValueError!", "h:x)/"), "http://h:99999/": ("ValueError!", "h:99999)/")},
    ),
    "surt.surt(url, surt=False, with_scheme=True)": Case(
        "surt",
        [
            *("http://example.org", "http://example.org/", "https://www.Example.org:443/News/?b=2&a=1#top"),
            *("http://me@example.org/a/", "http://h/a/../b", "http://h/?", "http://127.0.0.1/", "http://h/?b&a=1"),
            *("http://h:8080/", "http://h/a?b", f"http://h/?PHPSESSID={'a1' * 16}&b"),
        ],
        {
            "http://www2.example.org/": ("http://example.org/", "http://www2.example.org/"),
            "http://h/?B": ("http://h/?b", "http://h/?B"),
            "http://h/%2541": ("http://h/a", "http://h/%2541"),
            "http://h//a": ("http://h/a", "http://h//a"),
            "http://bücher.example/": ("http://xn--bcher-kva.example/", "http://bücher.example/"),
        },
        fields="strip_www=True, query='sort', fragment='drop', trailing_slash='drop', lower_case_path=True,"
        " session_ids='drop', userinfo='drop'",
    ),
    'surt.surt(url).partition(")")[0]': Case(
        "surt",
        [url for url in URLS if ":8080" not in url and "[" not in url],
        {
            "http://www.example.org/": ("example.org", "www.example.org"),
            "http://Example.org:8080/": ("example.org:8080", "Example.org"),
            "http://bücher.example/": ("xn--bcher-kva.example", "bücher.example"),
            "example.org/a": ("example.org", None),
        },
        left="[reverse(key) for key in [{}]][0]",
    ),
    "w3lib.url.canonicalize_url(url)": Case(
        "w3lib",
        [
            *(*URLS, "HTTP://Example.org:80/a/../~b%7e?q=x y&a#top", "http://bücher.example/ü", "http://h/100%"),
            "../a",
            *("example.org", "mailto:A@b", "http://h/a\nb", " http://h\\a ", "http://h?&&b&a=", "http://h/?q=%E9", ""),
        ],
        {
            "http://h:x/": ("ValueError!", "UriSyntaxError!"),
            "http://h:99999/": ("ValueError!", "UriSyntaxError!"),
            "http://[::1": ("ValueError!", "UriSyntaxError!"),
        },
    ),
    'w3lib.url.url_query_parameter(url, "q")': Case(
        "w3lib",
        [
            *("http://h/?q=1", "http://h/?a=b&q=c", "http://h/", "http://h/?q=a+b", "http://h/?q=%C3%A9"),
            *("http://h/?q=%E9", "http://h/?q=1&q=2", "/?q=ü", "http://h/?Q=1", ""),
        ],
        {"?q=": (None, ""), "?q": (None, "")},
    ),
    'w3lib.url.add_or_replace_parameter(url, "a", "1")': Case(
        "w3lib",
        [
            *("http://h/", "http://h/?a=2", "http://h/?b=1&a=2", "http://h/?a=1&a=2", "http://h/?b=+", "http://h/?b="),
            *("/x", ""),
            *("http://h/?A=2", "http://h/a b", "http://h/p;x?b=1"),
            *("http://h/#f", "http://h/?a=2#f", "http://h?"),
        ],
        {
            "http://h/?b=%20": ("http://h/?b=+&a=1", "http://h/?b=%20&a=1"),
            "http://h/?b": ("http://h/?b=&a=1", "http://h/?b&a=1"),
            "http://h/?b=x/y": ("http://h/?b=x%2Fy&a=1", "http://h/?b=x/y&a=1"),
            "http://h/?%61=3": ("http://h/?a=1", "http://h/?%61=1"),
        },
    ),
    'w3lib.url.url_query_cleaner(url, ("a",), remove=True)': Case(
        "w3lib",
        [
            *("http://h/", "http://h/?a=2", "http://h/?b=1&a=2", "http://h/?a=1&a=2", "http://h/?b=+", "http://h/?b="),
            *("/x", ""),
            *("http://h/?A=2", "http://h/a b", "http://h/p;x?b=1"),
            *("http://h/?b=%20", "http://h/?b", "http://h/?a=1&c=2&b=3&d"),
        ],
        {
            "http://h/#f": ("http://h/", "http://h/#f"),
            "http://h/?a=2#f": ("http://h/", "http://h/#f"),
            "http://h?": ("http://h", "http://h?"),
            "http://h/?%61=3": ("http://h/?%61=3", "http://h/"),
        },
    ),
    "w3lib.url.safe_url_string(text)": Case(
        "w3lib",
        [
            *(*URLS, "http://h/a b", "http://h/ü?ä=ö#ß", "http://h/100%", "a b%20%zz", '/"<>^`{}|', "../a"),
            *("mailto:A@b", ""),
        ],
        {
            "http://bücher.example/": ("http://xn--bcher-kva.example/", "http://b%C3%BCcher.example/"),
            "HTTP://Example.org?": ("http://example.org", "HTTP://Example.org?"),
            " http://h/a ": ("http://h/a", "%20http://h/a%20"),
            "http://h/a\\b": ("http://h/a/b", "http://h/a%5Cb"),
            "/[a]": ("/%5Ba%5D", "/[a]"),
            "http://h:x/": ("ValueError!", "http://h:x/"),
        },
    ),
    "url_normalize(text)": Case(
        "url_normalize",
        [
            *(*URLS, "HTTP://Example.org:80", "http://h/a/../%7eb%2f", "http://bücher.example/ü?ä=ö"),
            "http://h/%c3%bc",
            *("http://h:/", "http://faß.example/", "http://u@h/", "http://h?b&a=1"),
        ],
        {
            "example.org": ("https://example.org/", "example.org"),
            "//example.org/": ("https://example.org/", "//example.org/"),
            "http://h/a b": ("http://h/a%20b", "http://h/a b"),
            "http://h/100%": ("http://h/100%25", "http://h/100%"),
            "http://h/?": ("http://h/", "http://h/?"),
            "http://h/#": ("http://h/", "http://h/#"),
            "http://h/?a=b=": ("http://h/?a=b%3D", "http://h/?a=b="),
            "http://h//a": ("http://h/a", "http://h//a"),
            "http://h./": ("http://h/", "http://h./"),
            "http://[::1": ("ValueError!", "http://[::1/"),
        },
    ),
    'furl(text).remove(args=["a"]).url': Case(
        "furl",
        [
            *(*URLS[:4], *URLS[5:], "http://h/?a=1", "http://h/?a&b=1&a=2", "http://h/?b=caf%C3%A9&a"),
            "http://h/?%61=1",
            *("http://h/?b=x+y&a=1#c", "/x?a=1&b=2", "http://h:80/?b&a", "HTTP://H/?a", "?c&a"),
        ],
        {
            "http://h/?A=1&b": ("http://h/?A=1&b", "http://h/?b"),
            "http://h": ("http://h", "http://h/"),
            "http://h/../b": ("http://h/../b", "http://h/b"),
            "http://h/?b=%20&c=x/y": ("http://h/?b=+&c=x%2Fy", "http://h/?b=%20&c=x/y"),
            "http://h/?c=b=": ("http://h/?c=b%3D", "http://h/?c=b="),
            "http://h/ü": ("http://h/%C3%BC", "http://h/ü"),
            "http://h:x/": ("ValueError!", "http://h:x/"),
        },
    ),
}
HOSTS = [
    *("http://example.org/", "http://www.example.co.uk/a?b", "//a.b.example.org:80", "http://me@www.example.com#x"),
    *("http://a.b.kobe.jp/", "http://x.city.kobe.jp/", "http://me.github.io/", "http://www.bücher.de/"),
    *("http://www。example。org/", "http://-a.com/"),
    *("http://www.xn--bcher-kva.de/", "http://www.食狮.公司.cn/", "http://a_b.example.com/", "ftp://www.example.org."),
]
NONE = ["http://127.0.0.1/", "http://[::1]/", "/a", "", "http://", "file:///etc", "urn:isbn:1.com"]
UNLIKE = {  # as (domain, suffix) of both
    "http://kobe.jp/": ("kobe.jp", "jp", None, "kobe.jp"),
    "http://a.b.invalid/": (None, None, "b.invalid", "invalid"),
    "http://localhost/": (None, None, None, "localhost"),
    "www.example.org": ("example.org", "org", None, None),
    "mailto:me@example.org": ("example.org", "org", None, None),
    "http://WWW.Example.ORG/": ("Example.ORG", "ORG", "example.org", "org"),
    "http://a..example.org/": ("example.org", "org", None, None),
}
DOMAINS = {text: (row[0], row[2]) for text, row in UNLIKE.items() if row[0] != row[2]}
SUFFIXES = {text: (row[1], row[3]) for text, row in UNLIKE.items()}
PRIVATE = ["http://a.me.github.io/", "http://github.io/"]
NO_DOMAIN = [*NONE, "http://co.uk/", "http://com/"]
CASES |= {
    "tldextract.extract(url).top_domain_under_public_suffix": Case(
        "tldextract", HOSTS + NO_DOMAIN, DOMAINS, left="{} or None"
    ),
    "tldextract.extract(url).suffix": Case("tldextract", HOSTS + NO_DOMAIN[:-2], SUFFIXES, left="{} or None"),
    "extract(url, include_psl_private_domains=True).suffix": Case(
        "tldextract", HOSTS + NONE + PRIVATE, SUFFIXES, left="{} or None"
    ),
    "Series.map": Case(
        "tldextract",
        HOSTS + NO_DOMAIN,
        DOMAINS,
        left="[extract(url).top_domain_under_public_suffix or None for url in column][0]",
        right="{}[0]",
    ),
}
# These have tests of their own, below.
COMMANDS = [
    "a loop over the lines of a file",
    "python -c '...unquote(line)...'",
    "awk '{print $7}' access.log",
    "sort -u",
]


def rows():
    """The first code of both cells of each row, or the text of a cell without code."""
    for line in (ROOT / "docs/guides/porting.md").read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| you write |"):
            cells = line[2:].split(" | ")[:2]
            yield tuple((re.findall("`(.*?)`", cell) or [cell])[0] for cell in cells)


ROWS = dict(rows())


def run(imports, expression, text):
    names = {"text": text}
    exec(imports, names)
    return eval(expression, names)


def is_valid(validator, reference):
    import rfc3986

    try:
        validator.validate(reference)
    except rfc3986.exceptions.ValidationError:
        return False
    return True


def reverse(key):
    host, _, port = key.partition(":")
    return ".".join(host.split(",")[::-1]) + (port and ":" + port)


NAMES = {
    "uricodec": uricodec,
    "bulk": bulk,
    "iri": iri,
    "uri": uri,
    "run": run,
    "is_valid": is_valid,
    "reverse": reverse,
    "base": "http://h/a/b/c?d#e",
    "allowed": {"example.org", "127.0.0.1", "bücher.example"},
}


def outcome(expression, names):
    try:
        return eval(expression, names)
    except Exception as error:
        return f"{type(error).__name__}!"


def test_every_row_has_inputs():
    assert {*CASES, *COMMANDS} < {*ROWS}  # all but those of goaccess
    for left, case in CASES.items():
        assert len({*case.same, *case.different}) == len(case.same) + len(case.different) >= 10, left


def load(library, names):
    if not find_spec(library):
        pytest.skip(f"{library} is not installed")
    exec(IMPORTS[library], names)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")  # of surt and rfc3986
@pytest.mark.parametrize("row", CASES)
def test_row(row, monkeypatch):
    case, names = CASES[row], dict(NAMES)
    load(case.library, names)
    if case.library == "tldextract":  # the list that it contains, not the one of the web
        extractor = names["tldextract"].TLDExtract(suffix_list_urls=(), cache_dir=None)
        monkeypatch.setattr("tldextract.tldextract.TLD_EXTRACTOR", extractor)
    cells = zip((case.left, case.right), (row, ROWS[row]), strict=True)
    left, right = (side.replace("{}", code.replace("...", case.fields)) for side, code in cells)
    wrong = {}
    for value in [*case.same, *case.different]:
        names |= {"text": value, "url": value, "column": [value]}
        if isinstance(value, tuple):
            names["a"], names["b"] = value
        found = outcome(left, names), outcome(right, names)
        if case.different.get(value, found) != found or (value in case.different) == (found[0] == found[1]):
            wrong[value] = found
    assert wrong == {}


def both(row, folder, *, stdin=None, program=None):
    """Run the command of each cell in a folder, or a program in place of the first, and return what both print."""
    program = program or row
    if sys.platform == "win32" or not shutil.which(shlex.split(program)[0]):
        pytest.skip(f"{row.split()[0]} is not installed")
    theirs = subprocess.run(program, shell=True, cwd=folder, input=stdin, capture_output=True, check=True)
    return theirs.stdout, ours(row, folder, stdin)


def ours(row, folder, stdin=None):
    name, *arguments = shlex.split(ROWS[row])
    assert name == "uricodec"
    done = process(*arguments, cwd=folder, input=stdin)
    assert done.returncode == 0
    return done.stdout


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_keys_of_a_file(tmp_path):
    names = {}
    load("surt", names)
    lines = [line for line in CASES["surt.surt(url)"].same if "\n" not in line]
    (tmp_path / "urls.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    found = ours("a loop over the lines of a file", tmp_path).decode()
    assert found.splitlines() == [names["surt"].surt(line) for line in lines]


def test_decoded_lines(tmp_path):
    program = "import sys\nfrom urllib.parse import unquote\nfor line in sys.stdin: print(unquote(line), end='')"
    row = "python -c '...unquote(line)...'"
    command = shlex.join([sys.executable, "-X", "utf8", "-c", program])
    for same in b"a\n\nb c\n", b"/%41+%20\n", b"caf%C3%A9\n100%\n%zz\n", "é\n".encode(), b"%2541\n":
        theirs, found = both(row, tmp_path, stdin=same, program=command)
        assert theirs == found
    assert both(row, tmp_path, stdin=b"a%0Ab\n", program=command) == (b"a\nb\n", b"a%0Ab\n")
    assert both(row, tmp_path, stdin=b"%E9\n", program=command) == ("\ufffd\n".encode(), b"%E9\n")


def test_targets_of_a_log(tmp_path):
    row = "awk '{print $7}' access.log"
    lines = (ROOT / "examples/access.log").read_bytes()
    escaped = rb"""192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /%61?\"b HTTP/1.1" 200 1 "-" "-"
192.0.2.1 - john doe [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 200 1 "-" "-"
"""
    (tmp_path / "access.log").write_bytes(lines + escaped)
    theirs, records = both(row, tmp_path)
    found = [json.loads(line) for line in records.splitlines()]
    *same, quoted, spaced = theirs.decode().splitlines()
    assert [record["target"] for record in found[:-2]] == same
    assert (quoted, spaced) == ('/%61?\\"b', '"GET')
    assert [(record["target"], record["path"]) for record in found[-2:]] == [('/%61?"b', "/a"), ("/a", "/a")]


def test_different_lines(tmp_path):
    for lines in b"b\na\nb\nc\n", b"", b"a\n", b"\n\na\n", "é\ne\né\n".encode(), b"b\na", b"http://H\nhttp://h\n":
        theirs, found = both("sort -u", tmp_path, stdin=lines)
        assert sorted(theirs.splitlines()) == sorted(found.splitlines())
        assert found.splitlines() == list(dict.fromkeys(lines.splitlines()))
