"""The drop-in: every function of `uricodec.parse` against the urllib.parse of the interpreter, errors and all."""

from collections import ChainMap, OrderedDict
from types import MappingProxyType

from common import GIVEN, behaviour, exact, run

from uricodec import parse
from uricodec.parse import _split, _stdlib

DICTIONARIES = "percent uri"
COVERS = {
    "uricodec.parse": [
        *["urlparse", "urlunparse", "urljoin", "urldefrag", "urlsplit", "urlunsplit", "urlencode", "parse_qs"],
        *["parse_qsl", "quote", "quote_plus", "quote_from_bytes", "unquote", "unquote_plus", "unquote_to_bytes"],
    ],
}

SCHEMES = ("", "http", "HTTP", "ftp", "x y", "\t")
SEPARATORS = ("&", ";", "", "&&", b"&", "é", None)
ENCODINGS = ("utf-8", "latin-1", "ascii", "utf-16", "no-such-encoding", "cp1252", "UTF8", "iso-8859-1")
ERRORS = ("replace", "strict", "ignore", "surrogateescape", "backslashreplace", "namereplace", "no-such-handler")
ATTRIBUTES = ("hostname", "port", "username", "password", "geturl", "encode", "decode")


class Text(str):
    """A subclass of str that overrides nothing."""

    __slots__ = ()


MADE = (*GIVEN, lambda octets: Text(GIVEN[0](octets)))
MAPPINGS = (list, dict, OrderedDict, ChainMap, MappingProxyType)


def compare(name, *arguments, **options):
    ours = behaviour(getattr(parse, name), *arguments, **options)
    assert ours == behaviour(getattr(_stdlib, name), *arguments, **options), (name, arguments, options)


def attribute(result, name):
    """Return the value; if it is callable, its result."""
    value = getattr(result, name)
    return value() if callable(value) else value


def taken_apart(draw):
    """urlsplit, urlparse, urldefrag, and the attributes of their results."""
    name, make = draw.one(("urlsplit", "urlparse", "urldefrag")), draw.one(MADE)
    options = {"scheme": draw.one(SCHEMES), "allow_fragments": draw.flag()}
    if draw.flag():
        options["scheme"] = options["scheme"].encode()
    if name == "urldefrag" or draw.flag():
        options = {}
    url = make(draw.octets())
    for _ in range(2):  # the second one is in the cache
        compare(name, url, **options)
    try:
        found, want = getattr(parse, name)(url, **options), getattr(_stdlib, name)(url, **options)
    except (ValueError, TypeError, AttributeError):
        return
    for name in ATTRIBUTES:
        if hasattr(type(want), name):
            assert behaviour(attribute, found, name) == behaviour(attribute, want, name)
    for name in ATTRIBUTES[:4]:  # as install() puts them there
        if hasattr(type(want), name):
            assert behaviour(getattr(_split, name), want) == behaviour(attribute, want, name)


def put_together(draw):
    """urlunsplit and urlunparse: of any components, and of those of a URL."""
    name, make, missing = draw.one(("urlunsplit", "urlunparse")), draw.one(MADE), draw.number(256)
    parts = [make(part) for part in draw.parts(6)]
    compare(name, parts)
    parts = [None if missing >> i & 1 else part for i, part in enumerate(parts)]
    compare(name, parts)
    compare(name, parts[:5])
    compare(name, tuple(parts[1:]))
    try:
        apart = (_stdlib.urlsplit if name == "urlunsplit" else _stdlib.urlparse)(parts[-1])
    except (ValueError, TypeError, AttributeError):
        return
    compare(name, apart)


def joined(draw):
    make, fragments = draw.one(MADE), draw.flag()
    base, url = draw.parts(2)
    compare("urljoin", make(base), make(url), fragments)
    compare("urljoin", make(base), url)
    compare("urljoin", b"http://a/b/c/d;p?q" if make is not GIVEN[0] else "http://a/b/c/d;p?q", make(base))


def queries(draw):
    """parse_qs and parse_qsl."""
    name, make = draw.one(("parse_qs", "parse_qsl")), draw.one(MADE)
    arguments = [draw.flag(), draw.flag(), draw.one(ENCODINGS), draw.one(ERRORS)]
    options = {"max_num_fields": draw.one((None, 0, 1, 3)), "separator": draw.one(SEPARATORS)}
    if draw.flag():
        options = {}
    query = make(draw.octets())
    compare(name, query, *arguments, **options)
    compare(name, query)


def encoded_query(draw):
    """urlencode: pairs and dicts of texts, bytes, numbers and lists."""
    doseq, made_of, make = draw.flag(), draw.one(MAPPINGS), draw.one(MADE)
    options = {"safe": draw.one(("", "/", "%+", b"&", "é"))}
    if draw.flag():
        options |= {"encoding": draw.one(ENCODINGS), "errors": draw.one(ERRORS)}
    if draw.flag():
        options["quote_via"] = draw.one((parse.quote, parse.quote_plus))
    theirs = dict(options)
    if "quote_via" in options:
        theirs["quote_via"] = getattr(_stdlib, options["quote_via"].__name__)
    pairs = []
    for i, field in enumerate(draw.octets().split(b"&")):
        name, _, value = field.partition(b"=")
        values = [make(part) for part in value.split(b",")]
        pairs.append(
            (make(name) if make in GIVEN[:2] else name, (values, values[0], tuple(values), i, None, 0.5)[i % 6])
        )
    query = pairs if made_of is list else made_of(dict(pairs))
    ours = behaviour(parse.urlencode, query, doseq, **options)
    assert ours == behaviour(_stdlib.urlencode, query, doseq, **theirs)
    compare("urlencode", draw.octets())


def quoted(draw):
    """The quoting functions are those of `uricodec`, which the target codec compares."""
    make = draw.one(MADE)
    data = make(draw.octets())
    for name in COVERS["uricodec.parse"][-6:]:
        compare(name, data)
    assert exact(parse.quote("ä /")) == exact("%C3%A4%20/")


OPERATIONS = (taken_apart, put_together, joined, queries, encoded_query, quoted)


def target(data):
    run(OPERATIONS, data)
