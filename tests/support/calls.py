"""Calls of everything that is public: a table, name -> calls without arguments.

Sweeps, soaks and threads go through it. What a call takes is made here, once, and long enough that it needs memory;
some calls are rejected. A call gives the same whenever it is made, also beside others on other threads. test_calls.py
sees that nothing public lacks a row.
"""

import atexit
import gzip
import importlib
import importlib.util
import io
import logging
import operator
import os
import pickle
import shutil
import sys
import tempfile
import uuid
from copy import copy, deepcopy
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from support.arrow_memory import Lent, rows_of

import uricodec
from uricodec import bulk, bytesets, dedup, iri, logs, parse, uri, urn
from uricodec.bulk._operations import OPERATIONS
from uricodec.uri import legacy_schemes
from uricodec.urn import conversions, namespaces

# Calls that touch what all threads share: not to be made while others run.
ALONE = {"uricodec.install", "uricodec.uninstall"}

# What needs a library that need not be there, which does the work.
FOREIGN = {"uricodec.logs.to_arrow", "uricodec.dedup.unique_dataset"}


def outcome(call):
    """What a call gives, or how it rejects, as something that can be compared. What no call may do is raised."""
    try:
        return plain(call())
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, ImportError) as error:
        return type(error), str(error)


def plain(value):
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if hasattr(value, "__arrow_c_array__"):
        return type(value), rows_of(value)
    if type(value).__name__ == "PyCapsule":
        return "capsule"
    return value


def _each(function, *inputs, **options):
    """A call for each input: a tuple of arguments, or the only one."""
    return [partial(function, *(each if type(each) is tuple else (each,)), **options) for each in inputs]


# --- percent-encoding -------------------------------------------------------------------------------------------------

_RAW = "/café ☕?q=a&b~" * 300
_ENCODED = "/caf%C3%A9%20%e2%98%95?q=a+%26b" * 300
_ILL = "%FF%C3%28" * 300
_LONE = "a b" * 700 + "\ud800"
_TEXTS = (
    *("", "plain", "a b%41é", "/" * 3000, _RAW, _ENCODED, _ILL, _LONE, "%" * 700, "☕%zz" * 40),
    *(
        _RAW.encode(),
        _ENCODED.encode(),
        b"a b%41",
        bytearray(b"%C3%A9 " * 400),
        memoryview(b"%C3%A9 " * 4),
        b"%FF" * 400,
    ),
    *(None, 5),
)


def _into(function, source, size, *arguments):
    room = bytearray(size)
    written = function(source, room, *arguments)
    return written, bytes(room[:written])


CALLS = {
    "uricodec.quote": [
        *_each(uricodec.quote, *_TEXTS, (_RAW, "☕"), (_RAW, b"?&"), (_RAW, "/", "latin-1", "replace")),
        *_each(uricodec.quote, ("a", "/", "no-such"), ("é", "", "ascii")),
    ],
    "uricodec.quote_from_bytes": _each(uricodec.quote_from_bytes, *_TEXTS),
    "uricodec.quote_plus": _each(uricodec.quote_plus, *_TEXTS, ("a b" * 400, " /")),
    "uricodec.unquote": _each(
        uricodec.unquote, *_TEXTS, (_ILL, "utf-8", "strict"), (_ILL, "latin-1"), (_ILL, "utf-8", "surrogateescape")
    ),
    "uricodec.unquote_plus": _each(uricodec.unquote_plus, *_TEXTS),
    "uricodec.unquote_to_bytes": _each(uricodec.unquote_to_bytes, *_TEXTS),
    "uricodec.percent_encode": _each(
        uricodec.percent_encode,
        *(*_TEXTS, (_RAW, "é"), (_RAW, bytesets.RFC3986_PCHAR, True), (_RAW, ~bytesets.WHATWG_PATH)),
    ),
    "uricodec.percent_decode": [
        *_each(uricodec.percent_decode, *_TEXTS, (_ENCODED, True), (_ENCODED, False, "no-such")),
        *_each(uricodec.percent_decode, *_TEXTS, errors="raise"),
        *_each(uricodec.percent_decode, *_TEXTS, errors="replace"),
    ],
    "uricodec.requote": [
        *_each(uricodec.requote, *_TEXTS),
        *_each(uricodec.requote, *_TEXTS, errors="replace"),
        *_each(uricodec.requote, *_TEXTS, errors="raise"),
    ],
    "uricodec.quote_into": _each(
        partial(_into, uricodec.quote_into),
        (_RAW.encode(), 9000),
        (_RAW.encode(), 9),
        (b"a b", 9, bytesets.RFC3986_PCHAR),
    ),
    "uricodec.unquote_into": _each(
        partial(_into, uricodec.unquote_into), (_ENCODED.encode(), 9000), (_ENCODED.encode(), 9)
    ),
    "uricodec.cpu_tier": [uricodec.cpu_tier],
    "uricodec.cpu_tiers": [uricodec.cpu_tiers],
}


def _installed():
    with uricodec.install():
        return importlib.import_module("urllib.parse").quote(_RAW)


CALLS["uricodec.install"] = [_installed]
CALLS["uricodec.uninstall"] = [uricodec.uninstall]


# --- errors, sets -----------------------------------------------------------------------------------------------------


def _raised(kind):
    return str(kind("reason", "input", 3))


for _kind in uricodec.UriError, uricodec.UriSyntaxError, uricodec.IriError, uricodec.UrnError:
    CALLS[f"uricodec.{_kind.__name__}"] = [partial(_raised, _kind)]
CALLS["uricodec.AmbiguousUrlError"] = [lambda: str(uricodec.AmbiguousUrlError("reason", "input", 3, "code"))]
CALLS["uricodec.UriError.__str__"] = [partial(_raised, uricodec.UriError)]
CALLS["uricodec.UnknownNamespaceError"] = [lambda: str(uricodec.UnknownNamespaceError("x"))]


def _copy(value):
    """As pickle does it."""
    make, arguments = value.__reduce__()
    return make(*arguments)


_SET = bytesets.RFC3986_PCHAR
CALLS |= {
    "uricodec.ByteSet": _each(
        uricodec.ByteSet, "abc", b"\xff" * 2000, _SET, (range(256),), ([1, 300],), "é", 5, (["x"],)
    ),
    "uricodec.ByteSet.__repr__": [partial(repr, _SET)],
    "uricodec.ByteSet.__hash__": [lambda: hash(_SET) == hash(_copy(_SET))],
    "uricodec.ByteSet.__iter__": [partial(list, _SET)],
    "uricodec.ByteSet.__len__": [partial(len, _SET)],
    "uricodec.ByteSet.__bytes__": [partial(bytes, _SET)],
    "uricodec.ByteSet.__contains__": _each(partial(operator.contains, _SET), 65, 300, "x"),
    "uricodec.ByteSet.__invert__": [partial(operator.invert, _SET)],
    "uricodec.ByteSet.__reduce__": [partial(_copy, _SET)],
}
for _name in "lt", "le", "eq", "ne", "gt", "ge", "or", "and", "sub", "xor":
    _call = getattr(operator, f"__{_name}__")
    CALLS[f"uricodec.ByteSet.__{_name}__"] = _each(_call, (_SET, ~_SET), (_SET, "abc"), (_SET, 5), (_SET, range(300)))
    if _name in ("or", "and", "sub", "xor"):
        CALLS[f"uricodec.ByteSet.__r{_name}__"] = _each(_call, ("abc", _SET), (b"\xff", _SET), (5, _SET))


# --- the drop-in ------------------------------------------------------------------------------------------------------

_URLS = (
    *("http://h/a;p?b#c", "http://user:pw@Example.org:80/" + "a/" * 900 + "?q=1#f", "//é/p", "http://[x/", "x" * 3000),
    *("HTTP://h/\t☕" * 300, b"http://h/a?b#c", "", 5, "http://℀/"),
)
_QUERIES = ("a=%41&b=+" * 90, "☕=%E2%98%95&b;c" * 20, b"a=%41&a=2", "a=" + "%C3" * 90, "", 5, None)
_FIVE = ("http", "h", "/p/" * 800, "é", "f")
CALLS |= {
    "uricodec.parse.urlsplit": _each(parse.urlsplit, *_URLS, ("a?b#c", "ftp", False)),
    "uricodec.parse.urlparse": _each(parse.urlparse, *_URLS, ("a;x?b#c", "ftp", False)),
    "uricodec.parse.urldefrag": _each(parse.urldefrag, *_URLS),
    "uricodec.parse.urlunsplit": _each(parse.urlunsplit, (_FIVE,), (("http", "h", "p", 5, ""),), "ab", (_FIVE[:3],)),
    "uricodec.parse.urlunparse": _each(parse.urlunparse, ((*_FIVE, "g"),), (("", "", "p" * 3000, "x", "", ""),), 5),
    "uricodec.parse.urljoin": _each(
        parse.urljoin,
        *[("http://h/" + "a/" * 600 + "☕", url) for url in (*_URLS, "../" * 300 + "d", "?q", b"b")],
        *[("x:a", "../d"), ("", "d"), ("http://[/", "a"), (b"http://h/a", b"../d")],
    ),
    "uricodec.parse.parse_qsl": [
        *_each(parse.parse_qsl, *_QUERIES, ("a=&b", True), ("a&b", False, True)),
        *_each(parse.parse_qsl, *_QUERIES, max_num_fields=3),
    ],
    "uricodec.parse.parse_qs": _each(parse.parse_qs, *_QUERIES, ("a=&b", True), ("a&b", False, True)),
    "uricodec.parse.urlencode": _each(
        parse.urlencode,
        *({"a" * 3000: "b"}, {"a b": "é" * 900, "n": 5}, {"a": "\ud800"}, ([("a", 1), 5],), 5),
        *(({"a": [1, "b" * 5000, b"c"]}, True), ({"a": ["b", object]}, True), ([("a", b"\xff" * 900)] * 20,)),
    ),
    "uricodec.parse.clear_cache": [parse.clear_cache],
}


# --- URIs and IRIs ----------------------------------------------------------------------------------------------------

_URIS = (
    *("http://user@Example.org:80/a/./b/../%7ec%c3%a9?q#f", "HTTP://h/" + "a/../%41/" * 400 + "?q=" + "x" * 900),
    *("//[2001:DB8::1]:80", "a:b" * 900, "/a b", "http://[::1]evil/", "%zz", "x://%2F/", "", _LONE, 5),
    *(b"HTTP://Example.org/%7ea/../b", bytearray(b"s:a" * 900), b"/\xff"),
)
_IRIS = (
    *("http://Café.example/☕/" + "é/%c3%a9" * 300, "http://exämple.org/a?q#\ue000", "http://bücher.example", "é b"),
    *("http://" + "é" * 300 + ".org/", "//\u200b\u202e/", "http://例え.テスト/%E2%80%AE", "/é".encode() * 600),
)
_BASE = "http://a/" + "b/c/" * 300 + "d;p?q"
_REFERENCES = (
    *("?y", "#s", "g;x=1/../y", "http:g", "%zz", "../" * 200 + "g", "//g/" + "x" * 2000, "é☕" * 400, "", 5, b"g"),
)
_TRACKED = (
    *(
        "http://u@www.h.example/a;jsessionid=1/index.html/?utm_a=1&b=2&a#f",
        "http://h?" + "&".join(map(str, range(300))),
    ),
    *(b"http://h/?b&a&" + b"utm_a=1&" * 300, "mailto:a@b?c", "http://u@h@i/?b&a#f"),
)
_SECRETS = (
    *("https://me:pw@h/?sig=a&Code=b#sig=c", "/?" + "&sig=x&a=%41" * 400, "?next=https%3A%2F%2Fu%40h%2F%3Fsig%3Dx"),
    *("https://u:p/w@h", b"?sig=\xff'" * 90, bytearray(b'"?sig=x"'), "?sig=☕é" * 200, "\ud800?sig=\ud800"),
)


def _filtered(message, *arguments):
    record = logging.LogRecord("a", 20, "a.py", 1, message, arguments, None)
    record.url = "?sig=x"
    uri.RedactingFilter().filter(record)
    return record.msg, record.args, record.url


_POLICIES = (
    *("tracking", "crawl"),
    uri.Policy(
        level="iri",
        http_is_https=True,
        userinfo="drop",
        strip_www=True,
        session_ids="drop",
        lower_case_path=True,
        default_documents=("index.html",),
        trailing_slash="drop",
        drop_parameters=("utm_*", "é"),
        query="sort",
        fragment="drop",
    ),
)


def _policy_of_file(text, read=uri.Policy.from_toml):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.toml")
        path.write_text(text, "utf-8")
        try:
            return read(path)
        except ValueError as error:
            return str(error).replace(folder, "")


_COMPONENTS = (
    *(uri.split(_URIS[0]), (None, None, "/p" * 900, "q", None), (None, None, "//", None, None), (1, 2), None),
    *((b"s", b"a", b"/" * 900, None, b""), ("s", b"a", "", None, None)),
)
_WEB = (
    *(
        "HTTPS://Example.org:8443/" + "p" * 900,
        "http://[2001:DB8::1]/",
        b"http://10.0.0.1/",
        "http://a/\ud800" + "é" * 900,
    ),
    *("http://xn--bcher-kva.example/", "http://xn--a-ecp.ru/", "http://a\\@b/", "http://a:0/", "é" * 900, 5),
)
_ESCAPED = rb'{"a":"http:\/\/a.example\/?b\u0026c&amp;d","b":"\u00e9://\ud83d"}' * 40
_HOSTS = [uri.agreed_host(url) for url in ("http://[::1]:80/", "wss://a:1", "http://1.1.1.1/")]
CALLS |= {
    "uricodec.uri.agreed_host": [
        *_each(uri.agreed_host, *_WEB),
        *_each(
            uri.agreed_host, *_WEB, "http://u@a./", schemes=["http"], userinfo="allow", trailing_dot="allow", ports=[80]
        ),
        *_each(uri.agreed_host, "http://a/", userinfo="no-such"),
        *_each(uri.agreed_host, "http://a/", schemes=["no-such"]),
    ],
    "uricodec.uri.address_category": _each(
        uri.address_category, "10.0.0.1", "::ffff:1.2.3.4", "fe80::1%eth0", "no-such"
    ),
    "uricodec.uri.Host": [uri.Host],
    "uricodec.uri.Host.as_url": [each.as_url for each in _HOSTS],
    "uricodec.uri.Host.__repr__": _each(repr, *_HOSTS),
    "uricodec.uri.Host.__hash__": [lambda: [hash(each) == hash(_copy(each)) for each in _HOSTS]],
    "uricodec.uri.Host.__reduce__": _each(_copy, *_HOSTS),
    **{
        f"uricodec.uri.Host.{name}": _each(operator.attrgetter(name), *_HOSTS)
        for name in ("scheme", "host", "port", "kind", "category", "is_global")
    },
    **{
        f"uricodec.uri.Host.__{name}__": _each(getattr(operator, name), *((each, _HOSTS[0]) for each in (*_HOSTS, "a")))
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    },
    "uricodec.uri.check": [
        *_each(uri.check, *_URIS, ("/a", "URI"), ("/a", "no-such"), (_LONE, "whatwg"), ("http://é:x" * 900, "whatwg")),
        *[partial(uri.check, each, "whatwg", base=base) for each in _URIS for base in ("http://h/é", b"a:", "a", 5)],
    ],
    "uricodec.uri.find": _each(
        uri.find,
        *[b"(http://a/b_(c)), <https://\xc3\xa9/>." * 300, bytearray(b"a://b"), "x"],
        *[(_ESCAPED, content) for content in ("plain", "json", "html", "auto", "no-such")],
    ),
    "uricodec.uri.extract": _each(
        uri.extract,
        b"a://b",
        "x",
        "é http://é/\ud800",
        *[(_ESCAPED, content) for content in ("plain", "json", "html", "auto", "no-such")],
    ),
    **{
        f"uricodec.uri.{function.__name__}": [
            *_each(function, *_URIS, *_SECRETS),
            *_each(function, *_SECRETS, names="extended", nested=False),
            *_each(function, *_SECRETS, names=["code", "x-*"]),
            *_each(function, *_SECRETS, '/a/x?d={"token":"x"}', names="token", paths=["/a/{*}", "tokens"]),
            *_each(function, "/a", paths="a"),
            *_each(function, "/a", paths=[5]),
            *_each(function, ("", [5]), ("", "a*b"), ("", ""), ("", b"a"), ("", "x" * 300)),
        ]
        for function in (uri.redact, uri.redact_text)
    },
    "uricodec.uri.RedactingFilter": [
        partial(lambda *given: uri.RedactingFilter(*given).names, *given)
        for given in (("extended",), (["a", "b"], False, "/a/*"), (5,), ([5],), ("",), ("a", True, "a"))
    ],
    "uricodec.uri.RedactingFilter.filter": [
        partial(_filtered, *arguments)
        for arguments in (("%s", *_SECRETS[:2]), ("?sig=%s", "x"), ("%d", "?sig=x"), ("%(a)s", {"a": _SECRETS[0]}))
    ],
    "uricodec.uri.is_valid": _each(uri.is_valid, *_URIS, ("/a", "relative-ref")),
    "uricodec.uri.split": _each(uri.split, *_URIS),
    "uricodec.uri.relation": [
        *_each(
            uri.relation, *pairwise(_URIS), *pairwise(_IRIS), ("http://a/%zz", "HTTP://a/b" * 200), (_URIS[0], _LONE)
        ),
        *_each(uri.relation, (b"//a", "//a#b", "simple"), ("%", "%", "rfc1630"), ("a", "a", "no"), ("a", 5), (5, "a")),
    ],
    **{
        f"uricodec.uri.{function.__name__}": _each(
            function,
            *_URIS,
            *_IRIS,
            " http:\\\\u s@b\u00fccher.de\\a\tb c?[#[#",
            "http://a b",
            b"//\xff",
            "%" * 2000,
            5,
            _LONE,
        )
        for function in (uri.repair, uri.explain_repair)
    },
    "uricodec.uri.with_query": [
        partial(uri.with_query, each, *given, **names)
        for each in (*_URIS, *_IRIS, "?q=1&b=%62&b" * 40, b"?\xff=1", 5, _LONE)
        for given in ((), ({"q": "é", "": "&"},), ("b=2&c",), (5,), ({"q": 5},))
        for names in ({}, {"drop": "b*"}, {"keep": ["q"]}, {"drop": 5}, {"keep": [5]})
    ],
    "uricodec.uri.shape": [
        partial(uri.shape, each, *given)
        for each in (*_URIS, *_IRIS, "/1" * 900, "/a/%7Bint%7D/jo%40a.example?b=1&a&b#c", b"/1/\xff?b&a=1", 5, _LONE)
        for given in ((), ("keep",), ("drop",), ("sort",), (5,))
    ],
    "uricodec.uri.unsplit": [partial(uri.unsplit, parts) for parts in _COMPONENTS],
    "uricodec.uri.normalize": [
        partial(uri.normalize, each, level)
        for each in (*_URIS, *_IRIS)
        for level in ("simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630", "no-such")
    ]
    + [
        partial(uri.normalize, each, policy="whatwg", base=base)
        for each in (*_URIS, *_IRIS, _LONE, "\t//é\u0338ß/" * 900, b"//\xff")
        for base in (None, "http://h/é", b"a://\xff" * 900, "a", 5)
    ],
    "uricodec.uri.key": _each(uri.key, *_URIS, *_IRIS, (_URIS[1], "scheme")),
    "uricodec.uri.Policy": [
        *[partial(uri.normalize, each, policy=policy) for each in (*_URIS, *_IRIS, *_TRACKED) for policy in _POLICIES],
        *[
            partial(uri.Policy, **{name: value})
            for name in ("level", "query", "drop_parameters")
            for value in ("no", 5)
        ],
        lambda: plain(uri.Policy(default_documents=["a", "b"]).default_documents),
    ],
    "uricodec.uri.Policy.ready": _each(uri.Policy.ready, "crawl", "tracking", "surt", "w3lib", "whatwg", "no"),
    "uricodec.uri.Policy.from_clearurls": [
        partial(_policy_of_file, text, uri.Policy.from_clearurls)
        for text in ('{"providers": {"a": {"urlPattern": ".*", "rules": ["utm_[a-z]*", "b?c"]}}}', "{}", "")
    ],
    "uricodec.uri.Policy.from_toml": [partial(_policy_of_file, text) for text in ("", 'base = "crawl"', "a = 1", "=")],
    "uricodec.uri.Policy.replace": [lambda: _POLICIES[2].replace(query="drop"), lambda: _POLICIES[2].replace(no=1)],
    "uricodec.uri.Policy.explain": [
        partial(policy.explain, each) for each in (*_URIS, *_TRACKED) for policy in _POLICIES[2:]
    ],
    "uricodec.uri.Policy.__eq__": [lambda: [_POLICIES[2] == each for each in (_copy(_POLICIES[2]), uri.Policy(), "a")]],
    "uricodec.uri.Policy.__hash__": [lambda: hash(_POLICIES[2]) == hash(_copy(_POLICIES[2]))],
    "uricodec.uri.Policy.__reduce__": [lambda: _copy(_POLICIES[2])],
    "uricodec.uri.Policy.__repr__": [lambda: repr(_POLICIES[2])],
    "uricodec.uri.Policy.__setattr__": [lambda: setattr(_POLICIES[2], "level", "case")],
    "uricodec.uri.Policy.__delattr__": [lambda: delattr(_POLICIES[2], "level")],
    "uricodec.uri.equivalent": _each(uri.equivalent, *pairwise(_URIS), (_URIS[1], _URIS[1] + "/")),
    **{
        f"uricodec.uri.{row.name}": [
            partial(getattr(uri, row.name), each, errors=errors)
            for each in _URIS
            for errors in ("keep", "null", "raise", "no-such")
        ]
        for row in OPERATIONS.values()
        if row.result in {"component", "list"} and not row.required
    },
    "uricodec.uri.query_value": [
        *_each(
            uri.query_value, *((each, "q") for each in _URIS), (_URIS[0], _LONE), (_URIS[0], 5), (_URIS[0], ["q", "q"])
        ),
        *_each(
            uri.query_value, *((each, ["q", "é"]) for each in (*_URIS, *_IRIS)), ("?q=%FF+%C3%A9", "q"), errors="raise"
        ),
    ],
    "uricodec.uri.resolve": [
        *_each(uri.resolve, *((_BASE, each) for each in _REFERENCES), (_BASE, "http:g", False), (5, "a")),
        *_each(uri.resolve, (_BASE.encode(), b"../g" * 300), ("urn:a:b", "#c"), ("é:", "a")),
    ],
    "uricodec.uri.relativize": [
        *_each(uri.relativize, *((_BASE, each) for each in (*_REFERENCES, _BASE + "#s", "http://a/b/e"))),
        *_each(uri.relativize, (_BASE.encode(), b"http://a/g" * 300), ("x:a", "y:b"), ("http://a/é", "http://a/é/☕")),
    ],
    "uricodec.iri.check": _each(iri.check, *_URIS, *_IRIS, ("/é", "irelative-ref")),
    "uricodec.iri.is_valid": _each(iri.is_valid, *_URIS, *_IRIS),
    "uricodec.iri.split": _each(iri.split, *_URIS, *_IRIS),
    "uricodec.iri.unsplit": _each(iri.unsplit, *((iri.split(each),) for each in (_URIS[0], _IRIS[0])), ((None,),)),
    "uricodec.iri.iri_to_uri": [
        *_each(iri.iri_to_uri, *_URIS, *_IRIS, ("\xe9".encode("latin-1") * 900, "latin-1"), ("é", "no-such")),
        *_each(iri.iri_to_uri, *_URIS, *_IRIS, disallowed="encode", host="idna"),
        *_each(iri.iri_to_uri, "e\u0301" * 900, nfc=True),
    ],
    "uricodec.iri.uri_to_iri": [
        *_each(iri.uri_to_iri, *_URIS, *_IRIS, "http://h/" + "%C3%A9%E2%80%AE%2F" * 300, b"%C3%A9" * 600),
        *_each(iri.uri_to_iri, "http://xn--bcher-kva.example/%C3%A9", "http://xn--a-ecp.ru/", *_URIS, host="unicode"),
    ],
}
CALLS["uricodec.uri.query_pairs"] += _each(uri.query_pairs, f"?{'é' * 200}=%FF+%C3%A9&&b", "?\ud800", 5)
CALLS["uricodec.uri.path_segments"] += _each(uri.path_segments, f"//h/{'é' * 200}/%FF+%2F//?", b"a/\xff")
CALLS["uricodec.uri.registrable_domain"] += [
    partial(uri.registrable_domain, "//a.github.io", private=True, suffixes=5),
    partial(uri.public_suffix, b"//a.b.ck", private=True),
]
_PARTS = [uri.split("http://me@h:80/p"), uri.split(b"//[::1]:8/" + b"p" * 900), iri.split("é"), iri.split("//é:1")]
for _name in uri.Policy.__slots__[2:]:
    CALLS[f"uricodec.uri.Policy.{_name}"] = [partial(getattr, _POLICIES[2], _name)]
for _name in "userinfo", "host", "port", "host_kind":
    CALLS[f"uricodec.uri.Components.{_name}"] = _each(operator.attrgetter(_name), *((parts,) for parts in _PARTS))


def _register(*arguments, **options):
    return namespaces.register_namespace(*arguments, **options)[:3]


_SCHEMES = """
    http://info.cern.ch:8000/imaginary/test?a+b url:ftp://me:x@h/a/b;type=i gopher://h/1a%09b mailto:a@b?c=d
    news:comp.infosystems.www nntp://h/a.b/5 telnet://me@h:5/ wais://h/db/t/1=a;2=b; prospero://h:1/a%00v1
    file://h/a/b mid:a%40@b afs://cell/a/b http://h/%FF
"""
CALLS["uricodec.uri.legacy_schemes.parse"] = _each(
    legacy_schemes.parse, *_SCHEMES.split(), "x:é", "urn:x:y" * 600, b"http://h/%FF", 5
)


# --- URNs -------------------------------------------------------------------------------------------------------------

_URNS = (
    *("URN:ISBN:0-395-36341-1", "urn:example:" + "a%c3%a9b/" * 400 + "?+r?=q#f", "urn:x:a", "urn:uuid:" + "F" * 32),
    *("urn:", "urn:example:a b", "URN:Example:" + "%2F" * 900, "urn:ietf:params:XML", b"URN:NBN:de:101%c3", _LONE, 5),
    *(bytearray(b"urn:example:A" * 200), "urn:de-x:a", "urn:urn-07:a", "urn:issn:1046-8189", "urn:newsml:a:b:c:1U"),
)
_NAMES = [urn.parse(each, "any") for each in (_URNS[0], _URNS[1], "URN:Example:A", "urn:x:a#b")]
_LINES = b"URN:ISBN:0-395-36341-1\nurl:x\r\nurn:example:%c3%a9?=q#f\n\nurn:x:a b\n" * 40


CALLS |= {
    "uricodec.urn.check": _each(urn.check, *_URNS, *_NAMES, ("urn:ab:", "2141"), ("urn:ab:c", "no-such")),
    "uricodec.urn.is_valid": _each(urn.is_valid, *_URNS, *_NAMES),
    "uricodec.urn.rfcs": _each(urn.rfcs, *_URNS, *_NAMES),
    "uricodec.urn.parse": _each(urn.parse, *_URNS, *_NAMES, ("urn:ab:c", "2141")),
    "uricodec.urn.URN": _each(urn.URN, *_URNS, *_NAMES),
    "uricodec.urn.normalize": [
        partial(urn.normalize, each, level)
        for each in (*_URNS, *_NAMES)
        for level in ("bytes", "2141", "8141", "namespace", "functional", "no-such")
    ],
    "uricodec.urn.key": [
        *_each(urn.key, *_URNS, *_NAMES),
        *_each(urn.key, *_URNS, *_NAMES, level="namespace", rfc="any"),
    ],
    "uricodec.urn.equivalent": [
        *_each(urn.equivalent, *pairwise(_URNS), (_NAMES[0], _URNS[0])),
        *_each(urn.equivalent, ("urn:isbn:0395363411", "URN:ISBN:0-395-36341-1", "namespace")),
    ],
    "uricodec.urn.find": _each(urn.find, _LINES, b"see <urn:a:b> urn:c:d%zz" * 300, (_LINES, ".,"), "x", (b"", "é")),
    "uricodec.urn.encode_nss": _each(urn.encode_nss, *_TEXTS, ("a:b", ":"), ("a", "é"), "a\0"),
    "uricodec.urn.decode_nss": _each(urn.decode_nss, *_TEXTS, "100%20K%C3%A4se" * 300, b"a%00"),
    "uricodec.urn.display": [*_each(urn.display, *_URNS, *_NAMES), *_each(urn.display, *_URNS, canonical=True)],
    "uricodec.urn.validate": _each(urn.validate, *_URNS, *_NAMES),
    "uricodec.urn.namespaces.lookup": _each(namespaces.lookup, "ISBN", "no-such", "é"),
    "uricodec.urn.namespaces.nid_class": _each(
        namespaces.nid_class, "uuid", "urn-7", "x-mine", "urn-07", "de-x", "mine", "\u212a"
    ),
    "uricodec.urn.namespaces.register_namespace": [
        partial(_register, "x-calls", "nss", replace=True),
        *_each(_register, "isbn", "é", ("x-calls", "no-such")),
    ],
}
for _name in "nid", "nss", "r_component", "q_component", "f_component", "rfc", "rfcs", "normalized":
    CALLS[f"uricodec.urn.URN.{_name}"] = _each(operator.attrgetter(_name), *_NAMES)
for _name in "lt", "le", "eq", "ne", "gt", "ge":
    CALLS[f"uricodec.urn.URN.__{_name}__"] = _each(
        getattr(operator, _name), *((_NAMES[1], each) for each in (*_NAMES, "urn:x:a"))
    )
CALLS |= {
    "uricodec.urn.URN.__str__": _each(str, *_NAMES),
    "uricodec.urn.URN.__repr__": _each(repr, *_NAMES),
    "uricodec.urn.URN.__hash__": [lambda: [hash(each) == hash(_copy(each)) for each in _NAMES]],
    "uricodec.urn.URN.__reduce__": _each(_copy, *_NAMES),
}

_UUID = uuid.UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
_BOTH_WAYS = {
    "from_public_id": ("-//ArborText::prod//DTD Help Document::19970708//EN", "a b" * 700, "é", " "),
    "to_public_id": ("urn:publicid:%2B:IDN+example.org:DTD+XML+Bookmarks+1.0:EN:XML", "urn:publicid:%2F:", "urn:x:a"),
    "from_uuid": (_UUID,),
    "to_uuid": (f"urn:uuid:{_UUID}", "urn:uuid:1", "urn:x:a"),
    "from_oid": (((1, 3, 6, 1),), "1.3.6." + "1." * 600 + "1", "1.x"),
    "to_oid": ("urn:oid:1.3.6.1", "urn:oid:1..2", b"urn:oid:1"),
    "from_isbn": ("0-395-36341-1", "0-395-36341-2"),
    "to_isbn": ("urn:isbn:0-8044-2957-x", "urn:isbn:1"),
    "isbn_13": ("0-395-36341-1", "x"),
    "isbn_10": ("978-0-8044-2957-3", "979-10-90636-07-1", "x"),
}
for _name, _inputs in _BOTH_WAYS.items():
    CALLS[f"uricodec.urn.conversions.{_name}"] = _each(getattr(conversions, _name), *_inputs)


# --- columns ----------------------------------------------------------------------------------------------------------

# Rows that a function changes, leaves, and rejects.
_CODEC_ROWS = ["/a b%20c" + "é" * 40, "plain", "%zz%FF" * 9, "/longer than a view%C3%A9/" * 5, ""] * 12
_IRI_ROWS = ["HTTP://Exämple.org/a/../é%c3%a9", "http://h/%7Ea b", "/é/./", "%zz", "x" * 99, "//[::1]:8/?q#f"] * 10
_URN_ROWS = ["URN:ISBN:0-395-36341-1", "urn:example:%c3%a9?=q#f", "url:x", "URN:Example:" + "a" * 50, "urn:x:a"] * 12
_URL_ROWS = ["http://u@h.example:80/a?q=%C3%A9+b&page", "//é.example?%71=%FF", "a b", "?" + "x=1&" * 50 + "q=", ""] * 12
_WEB_ROWS = ["http://[2001:DB8::1]:8/", "https://xn--bcher-kva.example/é", "http://a\\@b/", "ws://u@10.0.0.1", ""] * 12
_HOST_ROWS = [
    "http://www.a.example/b",
    "https://b\u00fccher.example./",
    "//[::1]:8",
    "org",
    "http://" + "x." * 200 + "org",
] * 12
_SECRET_ROWS = ["https://u:p@h/?sig=é&code=b", "(?sig=x)", "plain", "?q=1" * 40, "x" * 20, ""] * 10
_ROWS = {
    "hosts": _HOST_ROWS,
    "percent": _CODEC_ROWS,
    "redact": _SECRET_ROWS,
    "repair": _URL_ROWS,
    "uris": _IRI_ROWS,
    "urls": _URL_ROWS,
    "urns": _URN_ROWS,
    "web": _WEB_ROWS,
}


def _ways(operation):
    """Arguments of an operation: none, others than the defaults, one that is wrong."""
    others = {
        each.name: (each.choices or each.examples)[-1] for each in operation.parameters if each.choices or each.examples
    }
    ways = [operation.required, others, *[{name: "no-such"} for name in others]]
    return [{"secret": "k", **way} for way in ways] if operation.result == "fingerprint" else ways


def _with_faults(function, column, **options):
    faults = bulk.InvalidRows(limit=5)
    return function(column, invalid=faults, **options), faults.count, faults.rows


def _file(function, lines, **options):
    output = io.BytesIO()
    return function(io.BytesIO(lines), output=output, threads=1, **options), output.getvalue()


_LENT = []
_ALL = uricodec.ByteSet(range(256))


def _column(*arguments):
    """A column of that layout, which is one of ours, so that calls need nothing but us."""
    _LENT.append(Lent(*arguments))
    return bulk.requote(_LENT[-1], _ALL)


def _stream(column):
    """What has no array, but a stream of two of them."""
    return SimpleNamespace(__arrow_c_stream__=bulk.Column(column.type, column.arrays * 2).__arrow_c_stream__)


def _columns(rows):
    octets = [row.encode() for row in rows] + [None]
    return [
        *([*rows, None], tuple(octets), [b"\xff a", bytearray(b"%41"), "\ud800"], b"\n".join(octets[:-1])),
        *(
            bytearray(b"\r\n".join(octets[:-1]) + b"\n"),
            *[_column(octets, each) for each in ("u", "U", "z", "vu", "vz")],
        ),
        *(_column([*octets[:6], None], "u", [0, 5, 4, 3, 6, 2, 1] * 9), _stream(_column(octets))),
    ]


# What starts threads, of the same shape: more than a thread is worth.
THREADED = {}
for _operation in OPERATIONS.values():
    _name, _rows, (_first, *_others) = _operation.name, _ROWS[_operation.rows], _ways(_operation)
    _function = getattr(bulk, _name)
    _all = _columns(_rows)
    _given = [partial(_with_faults, _function, column, **way) for way in (_first, *_others) for column in _all]
    for _errors in _operation.policies:
        _given += [partial(_function, column, **{**_first, "errors": _errors}) for column in _all[::3]]
    _given += _each(_function, 5, [5])
    for _parameter in _operation.parameters:
        if _parameter.column:  # a column of the same kind, and a list beside other kinds
            _pairs = [(_column, _column) for _column in (*_all[:3], *_all[5:11])] + [
                (_all[5], [*_rows, None]),
                (["a"], [5]),
            ]
            _given += [
                partial(_with_faults, _function, column, **{**_first, _parameter.name: other})
                for column, other in _pairs
            ]
    if _operation.result == "text":
        _given += [partial(_file, _function, each) for each in (_all[3], b"", b"x" * 3000)]
    CALLS[f"uricodec.bulk.{_name}"] = _given
    _long = "\n".join(_rows * 200).encode()
    THREADED[f"uricodec.bulk.{_name}"] = [
        partial(_function, column, threads=3, **_first)
        for column in (_long, bytearray(_long), _column(_long.split(b"\n")))
    ]

_COLUMN = bulk.split_urn(_all[3])
_READ = [_COLUMN, bulk.is_valid_urn(_all[3]), bulk.check_urn(_all[3]), bulk.fingerprint(_all[3], secret="k")]
_READ += [column for column in _all if isinstance(column, bulk.Column)]


_HAS_NUMPY = importlib.util.find_spec("numpy") is not None


def _as_array():
    """NumPy is not what the package needs, and has caches of its own."""
    if not _HAS_NUMPY:
        sys.modules["numpy"] = None  # a search would keep the names of files that appear in the folders of the path
    try:
        _COLUMN.__array__(copy=False)
    except (ModuleNotFoundError, ValueError) as error:
        return type(error).__name__
    finally:
        if not _HAS_NUMPY:
            sys.modules.pop("numpy", None)
    return None


CALLS |= {
    "uricodec.bulk.InvalidRows": [lambda: repr(bulk.InvalidRows(7))],
    "uricodec.bulk.InvalidRows.__repr__": [lambda: repr(bulk.InvalidRows())],
    "uricodec.bulk.Column": [lambda: bulk.Column(_COLUMN.type, _COLUMN.arrays * 3)],
    "uricodec.bulk.Column.type": [lambda: repr(_COLUMN.type)],
    "uricodec.bulk.Column.arrays": [lambda: len(_COLUMN.arrays)],
    "uricodec.bulk.Column.__len__": [partial(len, _COLUMN)],
    "uricodec.bulk.Column.__iter__": [partial(list, column) for column in _READ],
    "uricodec.bulk.Column.__getitem__": [
        *[partial(lambda column, row: column[row], column, row) for column in _READ for row in (0, -1, 99, "a")],
        *[partial(lambda column, rows: list(column[rows]), column, slice(1, 4)) for column in _READ],
        partial(lambda column: column[::2], _COLUMN),
    ],
    "uricodec.bulk.Column.to_pylist": [column.to_pylist for column in _READ],
    "uricodec.bulk.Column.__repr__": [partial(repr, column) for column in _READ],
    "uricodec.bulk.Column.__array__": [_as_array],
    "uricodec.bulk.Column.__copy__": [lambda: copy(_COLUMN) is _COLUMN],
    "uricodec.bulk.Column.__deepcopy__": [lambda: deepcopy(_COLUMN) is _COLUMN],
    "uricodec.bulk.Column.__reduce__": [
        partial(lambda column: pickle.loads(pickle.dumps(column)).to_pylist(), column) for column in _READ
    ],
    "uricodec.bulk.Column.__arrow_c_schema__": [_COLUMN.__arrow_c_schema__],
    "uricodec.bulk.Column.__arrow_c_stream__": [_COLUMN.__arrow_c_stream__],
    "uricodec.bulk.Column.__arrow_c_array__": [_COLUMN.__arrow_c_array__],
}


# --- logs -------------------------------------------------------------------------------------------------------------

_COMMON = (
    b'192.0.2.1 - alice [21/Mar/2025:08:00:11 +0000] "GET /%C3%A9/%zz?q=a+b&token=x HTTP/1.1" 200 512 "-" "x\\"\\xc3"\n'
    b"no line of a log\n"
    b'2001:db8::1 - - [01/Jan/2025:12:00:00 +0000] "\\x16\\x03" 400 0\n'
) * 15
_JSON = b'{"remote_addr":"192.0.2.20","request":"GET /a\\"b?l=\\u00e9 HTTP/2.0","status":"200","http_referer":""}'
_CLOUDFRONT = b"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs-uri-stem sc-status\n"
_IIS = b"#Software: Microsoft Internet Information Services 10.0\n#Fields: date time c-ip cs-method cs-uri-stem\n"
_OTHERS = [
    (_JSON + b"\n{\n") * 15,
    _CLOUDFRONT + b"2025-03-21\t08:00:11\tFRA56-P3\t5120\t192.0.2.30\tGET\t/caf%25C3%25A9\t200\nbad\n" * 15,
    _IIS + b"2025-03-21 08:00:11 192.0.2.1 GET /a+b%41\n" * 15,
]


def _parsed(*arguments, **options):
    invalid = []
    return list(logs.parse(*arguments, invalid=invalid, **options)), invalid


_FORMATS = [
    logs.Format(text) for text in ("combined", "haproxy", "iis", "caddy", '%h %{X-Forwarded-For}i [%t] "%r" %q %D')
]
_FORMATS.append(logs.Format(map={"target": "request.uri | url", "duration.ms": "took", "extra.a": "a"}))
_LINE = _COMMON.partition(b"\n")[0]


CALLS |= {
    "uricodec.logs.detect": _each(logs.detect, _COMMON, *_OTHERS, b"https a", b""),
    "uricodec.logs.parse": [
        *_each(_parsed, _COMMON, *_OTHERS, bytearray(_COMMON), gzip.compress(_COMMON), (_COMMON, "no-such"), 5),
        *_each(_parsed, _COMMON, *_OTHERS, mask=["token"], flags=True, replace_invalid_utf8=True, params=["q"]),
        *_each(_parsed, _COMMON, _OTHERS[0], errors="raise"),
        *_each(_parsed, *((_COMMON, format) for format in _FORMATS), client="forwarded", encoding="latin-1"),
        partial(_parsed, b'{"url":"/a?b","took":5,"a":"x"}', _FORMATS[-1]),
        lambda: _parsed(io.BytesIO(_COMMON)),
    ],
    "uricodec.logs.columns": _each(logs.columns, _COMMON, (_COMMON, "iis"), b""),
    "uricodec.logs.count": [
        lambda: list(logs.count(_COMMON, ["status", "time:hour"], sums=["bytes_sent"], quantiles=["bytes_sent"])),
        lambda: list(logs.count(_COMMON, ["client"], "common", top=1, where=["status<500"], memory="1M")),
    ],
    "uricodec.logs.to_arrow": [lambda: logs.to_arrow(_COMMON, flags=True).read_all().to_pylist()],
    "uricodec.logs.presets": [logs.presets],
    "uricodec.logs.InvalidLine.row": [logs.InvalidLine("a.log", 1, 2, "time", b"\t\xff").row],
    "uricodec.logs.Format": [
        *_each(
            logs.Format, "combined", "no-such", "$status $a", "%h %z", "%h%u", "log_format a escape=json '$uri';", None
        ),
        *(partial(logs.Format, map=map) for map in ({"status": "a.b"}, {"x": "a"}, {}, 5)),
    ],
    "uricodec.logs.Format.__repr__": [partial(repr, format) for format in _FORMATS],
    "uricodec.logs.Format.__str__": [partial(str, format) for format in _FORMATS],
    "uricodec.logs.Format.__eq__": [partial(_FORMATS[0].__eq__, format) for format in _FORMATS],
    "uricodec.logs.Format.__hash__": [partial(hash, format) for format in _FORMATS],
    "uricodec.logs.Format.__reduce__": [format.__reduce__ for format in _FORMATS],
    "uricodec.logs.Format.is_json": [partial(getattr, format, "is_json") for format in _FORMATS],
    "uricodec.logs.Format.explain": [
        partial(format.explain, line) for format in _FORMATS for line in (_LINE, _JSON, b"")
    ],
    "uricodec.logs.Format.message": [lambda: _FORMATS[0].message(0, "status", 3, _LINE)],
    "uricodec.logs.FormatError": [lambda: str(logs.FormatError("no format"))],
    "uricodec.logs.Format.programs": [lambda: len(logs.Format("haproxy").programs)],
    "uricodec.logs.Format.fields": [lambda: logs.Format("%h %{a}i").fields],
}


# --- deduplication ----------------------------------------------------------------------------------------------------

_FOLDER = tempfile.mkdtemp(prefix="uricodec-calls-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_DOUBLE_ROWS = [*_URN_ROWS[:9], None, *(f"urn:example:{i % 700}" for i in range(1000))]
_DOUBLES = b"\n".join(row.encode() for row in _DOUBLE_ROWS if row) + b"\n"
_INPUT = os.path.join(_FOLDER, "input")
Path(_INPUT).write_bytes(_DOUBLES)
_DOUBLE_COLUMNS = [_column([row and row.encode() for row in _DOUBLE_ROWS], each) for each in ("u", "vz")]


def _deduplicated(*columns, kind="urn", **options):
    with dedup.Deduplicator(kind, **options) as names:
        return [names.add(column) for column in columns], names.finish(), names.count, names.rows, names.invalid


def _deduplicator(use, *columns, **options):
    names = dedup.Deduplicator("urn", memory=1 << 20, **options)
    try:
        for column in columns:
            names.add(column)
        return use(names)
    finally:
        names.close()


def _dedup_file(kind="urn", **options):
    """The output, what the groups are, and the statistics but for octets on the disk."""
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        output, groups = os.path.join(folder, "output"), os.path.join(folder, "groups")
        if options.pop("groups", False):
            options["groups"] = groups
        done = dedup.dedup_files(_INPUT, output, kind=kind, secret="k", **options)
        found = [Path(name).read_bytes() if os.path.exists(name) else None for name in (output, groups)]
        return found, {**done.as_dict(), "spilled": done.spilled > 0}


def _dedup_dataset(**options):
    """The statistics but for bytes on the disk, and the rows that are written."""
    import pyarrow.parquet

    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        source, output = os.path.join(folder, "input"), os.path.join(folder, "output")
        pyarrow.parquet.write_table(pyarrow.table({"url": _DOUBLE_ROWS, "n": range(len(_DOUBLE_ROWS))}), source)
        done = dedup.unique_dataset(source, "url", output, **options)
        return {**done.as_dict(), "spilled": done.spilled > 0}, pyarrow.parquet.read_table(output).to_pylist()


def _rejected():
    rejected = []
    _dedup_file(on_invalid=lambda *line: rejected.append(line), threads=1, memory=1 << 20)
    return rejected


def _reported():
    told = []
    dedup.estimate_files(_INPUT, kind="urn", on_progress=told.append, threads=1)
    return [type(each) is dedup.Progress for each in told]


def _seen(use, *arguments, saved=False, **options):
    """What `use` returns for a set of some names, opened from its file if `saved`."""
    seen = dedup.SeenSet.build(_DOUBLE_ROWS, "urn", secret="k", memory=1 << 20, **options)
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        if saved:
            seen.save(os.path.join(folder, "seen"))
            seen = dedup.SeenSet.open(os.path.join(folder, "seen"), "k")
        with seen:
            return use(seen, *arguments)


def _loaded(use):
    """What `use` returns for a deduplicator that continues another one."""
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder, dedup.Deduplicator("urn", memory=_SMALL) as names:
        names.add(_DOUBLES)
        path = os.path.join(folder, "seen")
        names.save(path)
        with dedup.Deduplicator.load(path, memory=_SMALL) as again:
            return use(names, again, path)


_LISTED = ["a.example", "*.B\u00fccher.example", "::1", b"org", "x" * 60 + ".example"]
_LISTED_PAGES = ["http://a.example/b/", "com,example)/b", "//org:8", "http://a.example/" + "b/" * 900]
_LIST = b"# c\n0.0.0.0 a.example localhost\n||org^\na b\n\n" * 20
_MATCHED = [
    *_HOST_ROWS[:5],
    b"//a.example/b",
    bytearray(b"http://www.example.com/b"),
    memoryview(b"org"),
    "\ud800",
    5,
    None,
]
_MATCHED += ["http://a.example:8/" + "b/" * 900]


def _entries(kind, entries, use):
    """What `use` returns for a set of hosts or prefixes."""
    return use(kind.read(entries) if isinstance(entries, bytes) else kind(entries))


@cache
def _set_file(kind):
    """The file of a set of hosts or prefixes."""
    path = os.path.join(_FOLDER, kind.__name__)
    kind(_LISTED if kind is uri.HostSet else _LISTED_PAGES).save(path)
    return path


def _opened(kind, use):
    """What `use` returns for a set of hosts or prefixes that is opened from its file."""
    return use(kind.open(_set_file(kind)))


def _sets(kind, entries):
    """Calls of a class of sets, and of its methods."""
    uses = [
        *(
            lambda made, url=url, exact=exact: made.match(url, exact=exact)
            for url in _MATCHED
            for exact in (False, True)
        ),
        *(lambda made, url=url: url in made for url in _MATCHED),
        *(lambda made, column=column: rows_of(bulk.match(column, made)) for column in (Lent([b"//a.example/b"], "u"),)),
        *(list, len, repr, lambda made: made == _copy(made), lambda made: made != kind([]), lambda made: made.report),
        *(lambda made: made.save(5), hash, lambda made: _copy(made).match(_MATCHED[0])),
        lambda made: made.save(os.path.join(_FOLDER, "again")),
    ]
    return [
        *[partial(_entries, kind, entries, use) for use in uses],
        *[partial(_opened, kind, use) for use in [*uses, lambda made: made.verify()]],
        *[partial(_entries, kind, _LIST, use) for use in (list, lambda made: made.report)],
        *_each(kind, [], None, 5, "a.example", [None], ["a b"], [b"a.example/" * 300], (entries, 5)),
        *_each(kind.open, _INPUT, None),
        *_each(kind.read, None, 5),
        *[partial(lambda data: list(kind.read(data)), data) for data in (_LIST, bytearray(_LIST), b"")],
        *[partial(lambda data: list(kind([data])), data) for data in (b"a.example/", b"a.example", bytearray(b"::1"))],
    ]


CALLS["uricodec.uri.HostSet"] = _sets(uri.HostSet, _LISTED)
CALLS["uricodec.uri.PrefixSet"] = _sets(uri.PrefixSet, _LISTED_PAGES)


def _small_set(rows=("urn:a1:b",), secret="k"):
    return dedup.SeenSet.build(list(rows), "urn", secret=secret, memory=1 << 20)


_SMALL = 4096
_KEY = dedup.FingerprintKey("k")
for _name in "lt", "le", "eq", "ne", "gt", "ge":
    _call = getattr(operator, f"__{_name}__")
    CALLS[f"uricodec.dedup.FingerprintKey.__{_name}__"] = _each(_call, (_KEY, dedup.FingerprintKey("l")), (_KEY, "k"))
CALLS |= {
    "uricodec.dedup.FingerprintKey": _each(dedup.FingerprintKey, "k", b"k", "\ud800", 5),
    "uricodec.dedup.FingerprintKey.__hash__": [lambda: hash(_KEY) == hash(_copy(_KEY))],
    "uricodec.dedup.FingerprintKey.__reduce__": [partial(_copy, _KEY)],
    "uricodec.dedup.FingerprintKey.__repr__": [partial(repr, _KEY)],
    "uricodec.dedup.FingerprintKey.fingerprint": _each(_KEY.fingerprint, "urn:a1:b", b"urn:a1:b", "\ud800", 5),
    "uricodec.dedup.rules_of": _each(dedup.rules_of, "urn", "uri", ("uri", "rfc2396"), "no-such", ("bytes", "x")),
    "uricodec.dedup.unique": [
        *[
            partial(dedup.unique, column, "urn", memory=memory, exact=exact)
            for column in (_DOUBLE_ROWS, _DOUBLES, *_DOUBLE_COLUMNS)
            for memory in (1 << 20, _SMALL)
            for exact in (False, True)
        ],
        *[partial(dedup.unique, _DOUBLES, "urn", errors=each, memory=1 << 20) for each in ("drop", "raise", "no-such")],
        *[
            partial(dedup.unique, column, "urn", keep="newest", by=range(len(_DOUBLE_ROWS)), memory=memory)
            for column in (_DOUBLE_ROWS, *_DOUBLE_COLUMNS)
            for memory in (1 << 20, _SMALL)
        ],
        partial(dedup.unique, _DOUBLES, "urn", keep="last", memory=_SMALL),
        *_each(dedup.unique, (5, "urn"), ([5], "urn"), (_DOUBLES, "no-such"), _DOUBLES, memory=1 << 20),
        partial(dedup.unique, _DOUBLES, "urn", memory="x"),
    ],
    "uricodec.dedup.Deduplicator": [
        partial(_deduplicated, _DOUBLE_ROWS, _DOUBLES, *_DOUBLE_COLUMNS, memory=memory, exact=exact)
        for memory in (1 << 20, _SMALL)
        for exact in (False, True)
    ],
    "uricodec.dedup.Deduplicator.__enter__": [partial(_deduplicated, _DOUBLE_ROWS[:3], kind="bytes", memory=1 << 20)],
    "uricodec.dedup.Deduplicator.__exit__": [partial(_deduplicated, _DOUBLE_ROWS[:3], kind="uri", memory=1 << 20)],
    "uricodec.dedup.Deduplicator.add": _each(
        partial(_deduplicator, lambda names: names.rows), _DOUBLES, (_DOUBLE_ROWS,), *_DOUBLE_COLUMNS, 5, ([5],)
    ),
    "uricodec.dedup.Deduplicator.finish": [partial(_deduplicator, dedup.Deduplicator.finish, _DOUBLES)],
    "uricodec.dedup.Deduplicator.close": [partial(_deduplicator, dedup.Deduplicator.close, _DOUBLES)],
    "uricodec.dedup.Deduplicator.invalid": [partial(_deduplicator, lambda names: names.invalid, _DOUBLES)],
    "uricodec.dedup.Deduplicator.count": [partial(_deduplicator, lambda names: names.count, _DOUBLES)],
    "uricodec.dedup.Deduplicator.estimate": [
        partial(_deduplicator, lambda names: names.estimate, _DOUBLES, key="k"),
        partial(_deduplicator, lambda names: names.estimate),
    ],
    "uricodec.dedup.Deduplicator.save": [
        partial(_loaded, lambda names, _, path: os.path.getsize(path)),
        partial(_deduplicator, lambda names: names.save(5), _DOUBLES),
    ],
    "uricodec.dedup.Deduplicator.load": [
        partial(_loaded, lambda _, again, path: (again.add(_DOUBLE_ROWS), again.count)),
        partial(dedup.Deduplicator.load, _INPUT),
    ],
    "uricodec.dedup.Deduplicator.__reduce__": [
        partial(_deduplicator, lambda names: _copy(names).count, _DOUBLE_ROWS[:5]),
        partial(_deduplicator, _copy, exact=True),
    ],
    "uricodec.dedup.SetError": [lambda: str(dedup.SetError("a"))],
    "uricodec.dedup.SeenSet": [dedup.SeenSet],
    "uricodec.dedup.SeenSet.build": [
        *[partial(_seen, len, saved=saved) for saved in (False, True)],
        partial(dedup.SeenSet.build, _DOUBLES, "no-such"),
        partial(dedup.SeenSet.build, 5, "urn", memory=1 << 20),
    ],
    "uricodec.dedup.SeenSet.open": [partial(_seen, len, saved=True), partial(dedup.SeenSet.open, _INPUT)],
    "uricodec.dedup.SeenSet.contains": [
        *[
            partial(_seen, dedup.SeenSet.contains, column, saved=saved)
            for column in (_DOUBLES, _DOUBLE_ROWS, *_DOUBLE_COLUMNS, 5, [5])
            for saved in (False, True)
        ],
        partial(_seen, lambda seen: seen.contains(_DOUBLES, errors="raise")),
    ],
    "uricodec.dedup.SeenSet.__contains__": [partial(_seen, lambda seen: "urn:a1:b" in seen)],
    "uricodec.dedup.SeenSet.__len__": [partial(_seen, len)],
    "uricodec.dedup.SeenSet.__bool__": [partial(_seen, bool)],
    "uricodec.dedup.SeenSet.__repr__": [partial(_seen, repr)],
    "uricodec.dedup.SeenSet.__hash__": [partial(_seen, lambda seen: hash(seen) == hash(_copy(seen)))],
    "uricodec.dedup.SeenSet.__reduce__": [
        partial(_seen, lambda seen: len(_copy(seen)), saved=saved) for saved in (False, True)
    ],
    "uricodec.dedup.SeenSet.__enter__": [partial(_seen, lambda seen: seen.__enter__() is seen)],
    "uricodec.dedup.SeenSet.__exit__": [partial(_seen, lambda seen: seen.__exit__(None, None, None))],
    "uricodec.dedup.SeenSet.close": [partial(_seen, lambda seen: (seen.close(), seen.contains(["a"])), saved=True)],
    "uricodec.dedup.SeenSet.save": [partial(_seen, len, saved=True), partial(_seen, lambda seen: seen.save(5))],
    "uricodec.dedup.SeenSet.verify": [partial(_seen, dedup.SeenSet.verify, saved=True)],
    "uricodec.dedup.SeenSet.fingerprints": [partial(_seen, lambda seen: [len(each) for each in seen.fingerprints()])],
    "uricodec.dedup.SeenSet.__arrow_c_stream__": [
        partial(_seen, lambda seen: len(importlib.import_module("pyarrow").table(seen))),
    ],
    "uricodec.dedup.SeenSet.split": [
        partial(_seen, lambda seen, shards: [len(each) for each in seen.split(shards)], shards) for shards in (1, 4, 3)
    ],
    "uricodec.dedup.SeenSet.merge": [
        partial(_seen, lambda seen: len(dedup.SeenSet.merge([*seen.split(2)]))),
        partial(dedup.SeenSet.merge, []),
        partial(_seen, lambda seen: dedup.SeenSet.merge([seen, _small_set(secret="l")])),
    ],
    **{
        f"uricodec.dedup.SeenSet.{name}": [partial(_seen, lambda seen, name=name: str(getattr(seen, name)))]
        for name in ("kind", "level", "policy", "key", "shard")
    },
    **{
        f"uricodec.dedup.SeenSet.{name}": [
            partial(_seen, lambda seen, name=name: str(getattr(seen, name)(_small_set()))),
            partial(_seen, lambda seen, name=name: str(getattr(seen, name)(5))),
        ]
        for name in ("__or__", "__and__", "__sub__")
    },
    "uricodec.dedup.SeenSet.__eq__": [
        partial(_seen, lambda seen: (seen == _copy(seen), seen == _small_set(), seen == 5))
    ],
    "uricodec.dedup.dedup_files": [
        *[partial(_dedup_file, memory=memory, threads=1) for memory in (1 << 20, _SMALL)],
        *[
            partial(_dedup_file, memory=_SMALL, threads=1, report=report)
            for report in ("counts", "repeated", "no-such")
        ],
        *[partial(_dedup_file, memory=_SMALL, threads=1, report="counts", top=top) for top in (3, 2000, 0)],
        *[partial(_dedup_file, memory=1 << 20, threads=1, errors=errors) for errors in ("drop", "raise")],
        partial(_dedup_file, memory=_SMALL, threads=1, exact=True, groups=True, merged=True, exclude=[_INPUT]),
        partial(_dedup_file, memory=1 << 20, threads=1, groups=True),
        partial(_dedup_file, memory=_SMALL, threads=1, field=3, format="delimited", delimiter=b":", groups=True),
        partial(_dedup_file, memory=1 << 20, threads=1, field="no-such", header=True),
        partial(_dedup_file, memory=_SMALL, threads=1, keep="last", exact=True),
        partial(
            _dedup_file, memory=_SMALL, threads=1, field=3, format="delimited", delimiter=b":", keep="newest", by=3
        ),
        _rejected,
    ],
    "uricodec.dedup.unique_dataset": [
        *[
            partial(_dedup_dataset, kind="urn", memory=memory, **options)
            for memory in (1 << 20, _SMALL)
            for options in ({"keep": "last", "report": "repeated"}, {"keep": "newest", "by": "n", "report": "counts"})
        ],
        *[partial(_dedup_dataset, kind="urn", memory=memory) for memory in (1 << 20, _SMALL)],
        partial(_dedup_dataset, kind="no-such"),
    ],
    "uricodec.dedup.estimate_files": [
        partial(dedup.estimate_files, _INPUT, key="k", threads=1),
        partial(dedup.estimate_files, _INPUT, key="k", threads=1, errors="raise"),
        _reported,
    ],
    "uricodec.dedup.DedupStats": [lambda: dedup.DedupStats().as_dict()],
    "uricodec.dedup.DedupStats.as_dict": [lambda: dedup.DedupStats().as_dict()],
    "uricodec.dedup.DedupStats.__repr__": [lambda: repr(dedup.DedupStats())],
}
THREADED |= {
    "uricodec.dedup.dedup_files": [
        partial(_dedup_file, memory=_SMALL, threads=3),
        partial(_dedup_file, memory=1 << 20, threads=3),
    ],
    "uricodec.dedup.estimate_files": [partial(dedup.estimate_files, _INPUT, key="k", threads=3)],
}
