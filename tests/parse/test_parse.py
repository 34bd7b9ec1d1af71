"""`uricodec.parse` is `urllib.parse`: for every input the same value of the same types, the same error and warning.

Every test compares with the functions of the running interpreter, whatever its version and patch level.
The differential tests are short by default. Ten minutes of them:

    URICODEC_EXAMPLES=12000 python -m pytest tests/parse/test_parse.py -k differential
"""

import codecs
import collections.abc
import contextlib
import copy
import enum
import functools
import gc
import inspect
import itertools
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import urllib.parse
import warnings
from array import array
from encodings.aliases import aliases

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.tables import each_row

from uricodec import parse
from uricodec.parse import _stdlib as stdlib

FUNCTIONS = stdlib.FAST
EXAMPLES = int(os.environ.get("URICODEC_EXAMPLES", "50"))


# --- what is compared -------------------------------------------------------------------------------------------------


def exact(value):
    """A value with the types of all its parts, so that == tells whether two values are alike."""
    if isinstance(value, tuple | list):
        return type(value), [exact(item) for item in value], repr(getattr(value, "_keep_empty", None))
    if isinstance(value, dict):
        return type(value), [(exact(k), exact(v)) for k, v in value.items()]
    if isinstance(value, str):
        return type(value), str.encode(value, "utf-8", "surrogatepass")
    if isinstance(value, bytes | bytearray):
        return type(value), bytes(value)
    return type(value), repr(value)


def described(error):
    if isinstance(error, UnicodeError):
        return type(error), [exact(argument) for argument in error.args]
    # The texts of argument errors are nobody's promise.
    return type(error), None if isinstance(error, TypeError | AttributeError) else [exact(x) for x in error.args]


class Fresh:
    """An argument that a call uses up: each side gets one of its own."""

    def __init__(self, make):
        self.make = make

    def __repr__(self):
        return f"Fresh({self.make})"


def fresh(argument):
    if isinstance(argument, Fresh):
        return fresh(argument.make())
    if type(argument) is bytearray:
        return bytearray(argument)
    if type(argument) is dict:
        return {fresh(k): fresh(v) for k, v in argument.items()}
    if type(argument) in (list, tuple):
        return type(argument)(map(fresh, argument))
    return argument


def outcome(function, arguments, keywords):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arguments, keywords = fresh(arguments), {name: fresh(value) for name, value in keywords.items()}
        try:
            result = "value", exact(function(*arguments, **keywords))
        except Exception as error:
            result = "error", described(error)
    return *result, [(w.category, w.filename, w.lineno) for w in caught]


def check(name, *arguments, **keywords):
    pair = getattr(parse, name), getattr(stdlib, name)
    ours, theirs = [outcome(function, arguments, keywords) for function in pair]
    assert ours == theirs, f"{name} {arguments!r:.500} {keywords!r:.500}"


# --- odd arguments ----------------------------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()


class LoudText(str):
    __slots__ = ()

    def encode(self, *_):
        return b"en%41coded +"

    def replace(self, *_):
        return "re%41placed +"

    def split(self, *_):
        return ["sp%41lit=+"]

    def partition(self, *_):
        return "part", "=", "ition"

    def find(self, *_):
        return 1

    def lower(self):
        return "LOWER"

    def __str__(self):
        return "s t%41r"

    def __contains__(self, _):
        return True

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Owner(str):
    """Its instances have attributes of their own, which go before methods."""

    def __init__(self, *_):
        self.note = "not a method"


def shadowed(text, name):
    owner = Owner(text)
    setattr(owner, name, lambda *_: b"shadow%41" if name == "encode" else "shadow%41")
    return owner


class Octets(bytes):
    pass


class LoudOctets(bytes):
    def decode(self, *_):
        return "de%41coded +"

    def split(self, *_):
        return [b"sp", b"41lit"]

    def replace(self, *_):
        return b"re%41placed"

    def rstrip(self, *_):
        return b""

    def __iter__(self):
        return iter(b" loud")


class Buffer(bytearray):
    pass


class Number(int):
    def __str__(self):
        return "a number"


class Real(float):
    def __repr__(self):
        return "a real"


class Colour(enum.IntEnum):
    RED = 1


class Named(str, enum.Enum):
    A = "a b"


class Evil:
    """Minds being looked at."""

    def __eq__(self, other):
        raise KeyError("eq")

    __hash__ = object.__hash__

    def __str__(self):
        raise LookupError("str")

    def __bool__(self):
        raise OverflowError("bool")

    def __repr__(self):
        return "Evil()"


class Pretender:
    """Says that it is a str."""

    __class__ = str

    def __repr__(self):
        return "Pretender()"


class Falsy:
    def __bool__(self):
        return False

    def __repr__(self):
        return "Falsy()"


class Counter:
    """Says another thing each time it is asked."""

    count = 0

    def __str__(self):
        self.count += 1
        return f"count {self.count}"

    __repr__ = __str__


class Sequence:
    """A sequence by its methods only."""

    def __init__(self, items):
        self.data = list(items)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]

    def __repr__(self):
        return f"Sequence({self.data})"


class Mapping(Sequence):
    def items(self):
        return self.data


class Mapped(collections.abc.Mapping):
    """A mapping that is no dict."""

    def __init__(self, data):
        self.data = data

    def __getitem__(self, name):
        return self.data[name]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        return f"Mapped({self.data})"


class Once:
    """An iterator whose repr has no address."""

    def __init__(self, items):
        self.rest = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.rest)

    def __repr__(self):
        return "Once()"


class List(list):
    def __iter__(self):
        return iter([("l", "1")])


class Tuple(tuple):
    __slots__ = ()

    def __iter__(self):
        return iter(("t", "2"))


class Dict(dict):
    def items(self):
        return [("d", "3")]


class Huge:
    """Makes an integer too long to become a str, where that has a limit."""

    def __call__(self):
        return 10**5000


HUGE = Fresh(Huge())
ODD = [
    None, True, False, 0, 1, -1, HUGE, 1.5, float("nan"), 1j, (), [], {}, set(), object, Ellipsis, Number(5), Real(2),
    Colour.RED, Named.A, Text("a b%41"), Text(""), LoudText("a b%41"), LoudText("http://h/p;x?q#f"), LoudText(""),
    Octets(b"a b%41"),
    LoudOctets(b"a b%41"), Buffer(b"a b%41"), Evil(), Pretender(), Falsy(), memoryview(b"a b%41=1&"), memoryview(b""),
    memoryview(b"a=b&c=d")[::2], b"", "", bytearray(), bytearray(b"a b%41=1"), array("B", b"a%41=1"), array("I", [1,
                                                                                                                  2]),
                                                                                                                  [97,
                                                                                                                   300],
    (65, 66), ["a", "b"], {"a": "b"}, range(3), Sequence("ab"), Fresh(Counter), Fresh(lambda: Once("ab")),
]  # fmt: skip
odd = st.sampled_from(ODD)


def mostly(usual, other=odd, times=7):
    """The usual strategy, and one time in `times` + 1 the other."""
    return st.integers(0, times).flatmap(lambda n: other if n == times else usual)


PIECES = [
    *"aZ9~_.-/:@?#[]!$&'()*+,;=% \0\n\x1f\x7f\x80\xe9\xff\u0130\u20ac\u2100\U0001f600\ud800\udcff\udfff",
    "%%", "%4", "%41", "%7E", "%e9", "%C3%A9", "%c3%a9", "%C3", "%F0%9F%98%80", "%F0%9F%98", "%ED%A0%80", "%C0%AF",
    "%E0%80%AF",
    "%F4%90%80%80", "%F8%88%80%80%80", "%FF", "%80", "%zz", "%4g", "%g4", "%%34%31", "%%341", "%2541", "%u0041", "%00",
    "%2B", "%20",
    "%26", "%3D", "%25", "a=1", "b=2&", ";c=", "&&",
]  # fmt: skip
sizes = st.sampled_from([*range(20), *range(28, 36), *range(60, 70), *range(124, 132), 170, 255, *range(508, 516), 1023,
                         1024, 1025,
                         2047, 2048, 2049])  # fmt: skip


@st.composite
def texts(draw, pieces=PIECES):
    some = draw(st.lists(st.sampled_from(pieces), max_size=8))
    if draw(st.integers(0, 3)) == 0:
        filler, size = draw(st.sampled_from(pieces)), draw(sizes)
        some.insert(draw(st.integers(0, len(some))), (filler * size)[:size])
    return "".join(some)


def octets_of(text):
    return text.encode("utf-8", "surrogatepass")


@st.composite
def kinds(draw, source):
    """A text as an object of some kind."""
    text, kind = draw(source), draw(st.integers(0, 16))
    if kind < 9:
        return text
    octets = octets_of(text)
    if kind < 12:
        return octets
    return (bytearray(octets), Text(text), LoudText(text), Octets(octets), Owner(text))[kind - 12]


strings = mostly(kinds(texts()), times=15)
safes = mostly(
    st.sampled_from(["", "/", " ", "+", "%", "~", "/:", b"", b"/", b" +%", "\xe9/", "\u20ac", "\ud800", "&=", b"\xff/",
                     "\0", "a",
                     "!$&'()*+,;=:@/?", [47, 32], (47, 200), bytearray(b"/"), None, Text("/"), LoudText("/"),
                     Octets(b"/")])
)  # fmt: skip
encodings = mostly(
    st.sampled_from([None, "utf-8", "UTF-8", "utf8", "latin-1", "utf-16", "ascii", "cp1252", "rot13", "no-such", "",
                     Text("utf-8"),
                     LoudText("utf-8"), b"utf-8", "utf\x00", "utf-8-sig", "idna", "punycode", "hex",
                     "iso-8859-1", "L1", "Windows-1252", "us-ascii",
                     "U8", "utf_8", "utf-8 ", "latin_1\xe9"])
)  # fmt: skip
handlers = mostly(
    st.sampled_from([None, "strict", "replace", "ignore", "surrogateescape", "surrogatepass", "backslashreplace",
                     "xmlcharrefreplace",
                     "namereplace", "no-such", "", Text("replace"), LoudText("strict"), b"replace"])
)  # fmt: skip
defaults_mostly = functools.partial(mostly, times=3)
flags = mostly(st.booleans(), st.one_of(st.sampled_from([0, 1, 2, None, "", "x", Falsy()]), odd), times=5)

SCHEMES = ["", "", "", "http:", "https:", "HTTPS:", "hTtP:", "ftp:", "file:", "mailto:", "urn:", "svn+ssh:", "x:",
           "1a:", "+x:", ".:", ":", "a b:",
           "\xe9:", "\u212a:", "http\xe9:", "javascript:", "tel:", "sip:", "itms-services:", "rtsps:", "http",
           "h\tttp:", "a-b.c+d:", "http::",
           "http:x:", "8080:", "localhost:80"]  # fmt: skip
AUTHORITIES = ["//[2001:db8::1]", "//u@[FE80::1%e]:8", "//[::ffff:1.2.3.4]", "//[vF.a:b]:1", "//[1::2::3]", "//[::1]]",
               "//b\xfccher.example", "//\U0001f600:80", "//\u212a", "//a\u0338", "//[\xe9]", "//u[@h]",
               "", "", "", "//", "//h", "//example.com", "//u:p@H:80", "//h:", "//@", "//[::1]", "//[::1]:80", "//[",
               "//]", "//][", "//[v1.x]",
               "//[::1]x", "//x[::1]", "//[1.2.3.4]", "//[x]", "//u@[::1]@h", "//\xe9", "//\u2100", "//a\uff0fb",
               "//\ufe68", "//\u2488com",
               "//h\\x", "//h%2Fx", "///", "////", "//h\t", "//a b", "//\u3000", "//h;p", "//[::1%25e]", "/\\h",
               "//\ud800"]  # fmt: skip
SEGMENTS = ["", "", ".", "..", "...", "a", "b", "c", "b;p", ";", ";p;q", "..;p", ".;", "%2e", "%2E%2e", "\xe9",
            "\u20ac", "a:b", ":", "x\ty", "\\", "..\\",
            " ", "@", "[", "a b", "\U0001f600", "a=1", "&", "a\r", "//"]  # fmt: skip
QUERIES = ["", "", "", "?", "?q", "?a=1&b=2", "?a?b", "??", "?;", "?\n", "?\xe9", "?/../", "?a:b//c"]
FRAGMENTS = ["", "", "", "#", "#f", "#a#b", "##", "#?", "#\r", "#/", "#\u20ac", "# "]
ENDS = ["", "", "", "", "", "", " ", "\0", "\x1f ", "\t", "\r\n", "\xa0", "\u3000", "\x85", "\ufeff"]
REAL = [
    "https://www.example.com:8080/a/b/c.html;jsessionid=1?q=a+b&lang=%C3%A9#top",
    "mailto:someone@example.com?subject=x", "urn:isbn:0451450523",
    "ftp://ftp.example.org/pub/file.txt;type=a", "file:///etc/passwd", "//cdn.example.net/x.js",
    "data:text/plain;base64,SGk=",
    "javascript:alert(1)", "http://user:pass@[2001:db8::1]:443/", "tel:+1-816-555-1212", "svn+ssh://svn@host/repo",
    "../../g;x=1/../y?z#w",
    "sip:alice@atlanta.com;transport=tcp", "news:comp.infosystems.www.servers.unix", "http://a/b/c/d;p?q",
    "path/to/file", "?x=1", "#frag", "g?y/./x",
]  # fmt: skip


@st.composite
def urls(draw):
    if draw(st.integers(0, 5)) == 0:
        url = draw(st.sampled_from(REAL))
    else:
        path = "/".join(draw(st.lists(st.sampled_from(SEGMENTS), max_size=6)))
        url = "".join(
            [draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(AUTHORITIES)), draw(st.sampled_from(["", "/"])), path,
             draw(st.sampled_from(QUERIES)), draw(st.sampled_from(FRAGMENTS))]
        )  # fmt: skip
    for _ in range(max(0, draw(st.integers(-3, 2)))):
        at = draw(st.integers(0, len(url)))
        new = draw(st.sampled_from(["", *":/?#;[]@.\t\n \0%\\aZ\xe9\u2100"]))
        url = url[:at] + new + url[at + draw(st.integers(0, 2)) :]
    if draw(st.integers(0, 30)) == 0:
        url += draw(st.sampled_from("a/;#?\xe9")) * draw(sizes)
    return draw(st.sampled_from(ENDS)) + url + draw(st.sampled_from(ENDS))


url_kinds = mostly(kinds(urls()), times=15)
scheme_arguments = mostly(
    st.sampled_from(["", "", "http", "HTTP", "ftp", " http\n", "h\tttp", "x", "\xe9", b"", b"http", None, Text("http"),
                     Text(""), LoudText("")])
)  # fmt: skip
parts = mostly(
    st.sampled_from(["", "", "", "http", "https", "file", "x", "example.com", "h:80", "/", "//", "///a", "a", "/a",
                     "//a/b", "a;b", "q=1", "\xe9",
                     "\u20ac", "\U0001f600", "HTTP", "mailto", "a/../b", "?", "#", "f", None, b"", b"a", Text("a"),
                     Text(""), LoudText("a")]),
    times=11,
)  # fmt: skip
plain_parts = st.sampled_from(
    [
        "", "", "", "http", "x", "mailto", "svn+ssh", "h", "\xe9", "/", "//", "/a", "a", "//a", "///", "q", "\u20ac",
        "\U0001f600",
    ]
)  # fmt: skip


@st.composite
def component_lists(draw, count):
    items = draw(st.lists(plain_parts if draw(st.integers(0, 2)) else parts, min_size=count, max_size=count))
    kind = draw(st.integers(0, 19))
    if kind == 0:
        items = items[:-1] if draw(st.booleans()) else [*items, ""]
    elif kind == 1:
        items = [octets_of(x) if type(x) is str else x for x in items]
    make = [tuple, tuple, tuple, list, list, List, Tuple, lambda items: Fresh(functools.partial(Once, items))]
    if all(type(x) is str for x in items) and len(items) == count:
        make += [(urllib.parse.SplitResult if count == 5 else urllib.parse.ParseResult)._make] * 3
    return draw(st.sampled_from(make))(items)


@st.composite
def results(draw):
    """Of any function, with or without missing components."""
    function = getattr(stdlib, draw(st.sampled_from(["urlsplit", "urlparse", "urldefrag"])))
    keywords = {}
    if "missing_as_none" in inspect.signature(function).parameters:
        keywords["missing_as_none"] = draw(st.booleans())
    try:
        return function(draw(urls()), **keywords)
    except ValueError:
        return ()


scalars = st.one_of(
    texts(), texts().map(octets_of), st.integers(), st.floats(), st.booleans(), st.none(), odd,
    st.sampled_from([HUGE, 10**18, 2**64, "\ud800", b"\xff", "", b"", Text("a b"), Named.A]),
)  # fmt: skip
values = st.one_of(
    scalars, scalars, st.lists(scalars, max_size=3), st.tuples(scalars, scalars), st.just(()), st.just([]),
    st.just([["a", "b"]]),
)  # fmt: skip
plain = st.one_of(texts(), texts().map(octets_of), st.integers(), st.floats(), st.booleans(), st.none())
plain_values = st.one_of(plain, st.lists(plain, max_size=3), st.tuples(plain, plain))
pairs = st.lists(st.tuples(scalars, values), max_size=4)


def hashable(value):
    try:
        hash(value)
    except Exception:
        return False
    return not isinstance(value, Fresh) and type(value) not in (Evil, LoudText)


queries = mostly(
    st.one_of(
        st.dictionaries(plain, plain_values, max_size=5), st.lists(st.tuples(plain, plain_values), max_size=5),
        st.dictionaries(scalars.filter(hashable), values, max_size=4), pairs, pairs.map(tuple),
    ),
    st.one_of(
        odd, pairs.map(lambda items: Fresh(lambda: Once(items))), pairs.map(Sequence), pairs.map(Mapping),
        pairs.map(List), pairs.map(Tuple), st.dictionaries(texts(), values, max_size=3).map(Dict),
        st.dictionaries(texts(), values, max_size=3).map(collections.OrderedDict),
        st.dictionaries(texts(), values, max_size=3).map(Mapped),
        st.lists(st.sampled_from([Text(""), Owner("a b"), LoudText("a"), Named.A, "\xe9", "a"]), min_size=2, max_size=2)
        .map(lambda pair: [tuple(pair), (pair[1], [pair[0]])]),
        st.lists(
            st.one_of(st.lists(scalars, max_size=3), st.tuples(scalars), st.just("ab"), st.tuples(scalars, scalars)),
            max_size=3,
        ),
        st.lists(st.tuples(plain, plain).map(Tuple), max_size=2),
    ),
    times=3,
)  # fmt: skip


def shouting(string, safe="", encoding=None, errors=None):
    return f"<{string!r} {safe!r} {encoding!r} {errors!r}>"


def no_text(*arguments):
    return b"bytes"


vias = mostly(
    st.sampled_from(
        [
            urllib.parse.quote, urllib.parse.quote_plus, parse.quote, parse.quote_plus, shouting, no_text,
            parse.quote_from_bytes,
        ]
    ),
    times=15,
)  # fmt: skip
query_texts = st.one_of(
    texts(
        [
            "a", "b", "=", "=", "&", "&", ";", "+", "%41", "%C3%A9", "%zz", "%", "\xe9", "\u20ac", "\U0001f600", " ",
            "%26", "%3D", "%2B", "\udc80",
        ]
    ),
    texts(),
)  # fmt: skip

PARAMETERS = {
    "quote": {"string": strings, "safe": safes, "encoding": encodings, "errors": handlers},
    "quote_plus": {"string": strings, "safe": safes, "encoding": encodings, "errors": handlers},
    "quote_from_bytes": {"bs": mostly(kinds(texts()).map(lambda x: octets_of(x) if type(x) is str else x)),
                         "safe": safes},
    "unquote": {"string": strings, "encoding": encodings, "errors": handlers},
    "unquote_plus": {"string": strings, "encoding": encodings, "errors": handlers},
    "unquote_to_bytes": {"string": strings},
    "urlencode": {
        "query": queries, "doseq": flags, "safe": safes, "encoding": defaults_mostly(st.none(), encodings),
        "errors": defaults_mostly(st.none(), handlers), "quote_via": vias,
    },
    "parse_qsl": {
        "qs": mostly(kinds(query_texts), times=15), "keep_blank_values": flags, "strict_parsing": flags,
        "encoding": defaults_mostly(st.just("utf-8"), encodings), "errors": defaults_mostly(st.just("replace"),
                                                                                            handlers),
        "max_num_fields": mostly(st.sampled_from([None, None, 0, 1, 2, 3, 5, True, False, -1, HUGE, 2.0, 2.5]),
                                 times=15),
        "separator": mostly(st.sampled_from("&;=+%a") | st.just("&"), st.one_of(
            st.sampled_from(["", "&&", "&;", b"&", b";", b"", "\xe9", "\u20ac", "\udc80", Text("&"), LoudText("&"),
                             bytearray(b"&"), None]), odd),
            times=5),
        "_stacklevel": st.integers(1, 2),
    },
    "urlsplit": {"url": url_kinds, "scheme": scheme_arguments, "allow_fragments": flags, "missing_as_none": flags},
    "urlunsplit": {"components": mostly(component_lists(5), st.one_of(odd, results())), "keep_empty": flags},
    "urlunparse": {"components": mostly(component_lists(6), st.one_of(odd, results())), "keep_empty": flags},
    "urljoin": {"base": url_kinds, "url": url_kinds, "allow_fragments": flags},
    "urldefrag": {"url": url_kinds, "missing_as_none": flags},
}  # fmt: skip
PARAMETERS["parse_qs"] = PARAMETERS["parse_qsl"]
PARAMETERS["urlparse"] = PARAMETERS["urlsplit"]


@st.composite
def calls(draw, name):
    """Arguments for a function, by position and by name; now and then too few or too many."""
    signature = inspect.signature(getattr(stdlib, name)).parameters.values()
    given_ = PARAMETERS[name]
    arguments, keywords = [], {}
    positional = True
    for parameter in signature:
        if parameter.name not in given_:
            continue
        required = parameter.default is parameter.empty
        if not draw(st.integers(0, 60) if required else st.integers(0, 1)):
            positional = False
            continue
        value = draw(given_[parameter.name])
        positional = positional and parameter.kind is not parameter.KEYWORD_ONLY and draw(st.integers(0, 3)) > 0
        if positional:
            arguments.append(value)
        else:
            keywords[parameter.name] = value
    if draw(st.integers(0, 60)) == 0:
        if draw(st.booleans()):
            arguments += draw(st.lists(odd, min_size=1, max_size=4))
        else:
            keywords[draw(st.sampled_from(["no_such", "string", "url", "safe"]))] = draw(odd)
    return arguments, keywords


@pytest.mark.slow
@each_row("name", FUNCTIONS)
def test_differential(name):
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(calls(name))
    def run(call):
        check(name, *call[0], **call[1])

    run()


SHORT_QUERIES = (
    *("", "a", "a=", "a=1&b", "a=%C3%A9&a=1", "\xe9=1&&b=+", b"", b"a=%41&b", bytearray(b""), bytearray(b"a=1")),
)
# Options that callers give to parse_qsl and parse_qs. Some queries of a str are passed on: those that are errors.
USUAL_OPTIONS = [
    {},
    {"max_num_fields": 1000},
    {"keep_blank_values": True, "max_num_fields": 1000, "encoding": "utf-8"},
    {"keep_blank_values": 1, "max_num_fields": 3},
    {"keep_blank_values": True, "encoding": None, "errors": None},
    {"encoding": "UTF-8", "errors": "strict", "max_num_fields": 1000},
    {"encoding": "latin-1", "errors": "ignore"},
    {"separator": "&&"},
    {"separator": "\xe9", "keep_blank_values": True},
    {"separator": b"&", "max_num_fields": 1000},
]


@pytest.mark.parametrize("name", ["parse_qsl", "parse_qs"])
@pytest.mark.parametrize("options", USUAL_OPTIONS, ids=str)
def test_short_queries_with_usual_options(name, options, monkeypatch):
    """The same as the interpreter's, and not by a call of it, which costs more than it alone."""
    for query in SHORT_QUERIES:
        for more in {}, {"max_num_fields": 0}, {"max_num_fields": 1}, {"strict_parsing": True}:
            check(name, query, **options | more)
    monkeypatch.setattr(stdlib, name, None)
    for query in SHORT_QUERIES:
        if isinstance(query, str) or "separator" not in options:
            getattr(parse, name)(query, **options)


FORMS = {
    "str": str,
    "bytes": octets_of,
    "bytearray": lambda text: bytearray(octets_of(text)),
    "Text": Text,
    "Owner": Owner,
}


RANDOM = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@RANDOM
@given(urls(), urls())
def test_differential_of_plain_urls(url, other):
    """Arguments as they usually are, of each type, so that the fast paths are taken."""
    for form in FORMS.values():
        for name in "urlsplit", "urlparse", "urldefrag":
            check(name, form(url))
        check("urljoin", form(url), form(other))


@pytest.mark.slow
@RANDOM
@given(st.one_of(texts(), query_texts, st.text()))
def test_differential_of_plain_texts(text):
    for form in FORMS.values():
        for name in "quote", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes", "parse_qs", "parse_qsl":
            check(name, form(text))


NAMED = ["utf-8", "UTF8", "latin-1", "ISO-8859-1", "ascii", "US-ASCII", "cp1252", "windows-1252", "koi8-r",
         "ISO-8859-5", "cp437", "shift_jis", "EUC-JP", "gbk", "gb18030", "big5"]  # fmt: skip
HANDLERS = ["strict", "ignore", "replace", "backslashreplace", "surrogateescape", "surrogatepass", "xmlcharrefreplace",
            "namereplace", "uricodec.triplets"]  # fmt: skip


def as_triplets(error):
    """An error handler of a program, as Werkzeug has one."""
    if isinstance(error, UnicodeDecodeError):
        return urllib.parse.quote_from_bytes(error.object[error.start : error.end]), error.end
    return "?", error.end


codecs.register_error("uricodec.triplets", as_triplets)


@pytest.mark.slow
@RANDOM
@given(st.one_of(texts(), query_texts, st.text()), st.sampled_from(NAMED), st.sampled_from(HANDLERS))
def test_differential_of_encodings(text, encoding, errors):
    """Each encoding that is compiled, by several names, with each error handler of the interpreter's, and another."""
    for name in "quote", "quote_plus", "unquote", "unquote_plus", "parse_qs", "parse_qsl", "urlencode":
        arguments = ([("k", text), (text, text.title())],) if name == "urlencode" else (text,)
        check(name, *arguments, encoding=encoding)
        check(name, *arguments, encoding=encoding, errors=errors)


UNUSUAL_HANDLERS = [
    *("", " ", "no such", "Strict", "REPLACE", "uricodec.triplets", "stri\0ct", "\xe9", *HANDLERS, None, 5, b"strict"),
]
UNUSUAL_TEXTS = [
    *("", "a", "%", "%4", "a%zz", "a=%", "a=b", "%41", "a=%41+&b", "%FF%FE", "\xe9%", "a.b%2E", "xn--%41", "+")
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::BytesWarning")
@pytest.mark.parametrize("name", ["quote", "unquote", "unquote_plus", "parse_qs", "parse_qsl"])
def test_every_encoding_with_unusual_error_handlers(name):
    """Some codecs look at the name of the handler although nothing is wrong, or accept "strict" alone."""
    # A part of the codecs, which are much alike, and those that are special.
    names = {*sorted(set(aliases.values()))[::20], *NAMED, "idna", "punycode", "undefined", "unicode_escape"}
    for encoding in [*sorted(names), "utf-8-sig", "no such", "", "\xe9", "utf\0", None, 5, b"utf-8"]:
        for errors in UNUSUAL_HANDLERS:
            for text in UNUSUAL_TEXTS:
                check(name, text, encoding=encoding, errors=errors)
                check(name, text.encode("latin-1"), encoding=encoding, errors=errors)


# --- what random calls have found -------------------------------------------------------------------------------------


class RightAdding(str):
    __slots__ = ()

    def __radd__(self, other):
        return f"{other}<"


class Adding(str):
    __slots__ = ()

    def __add__(self, other):
        return f">{other}"


class Closed(str):
    __slots__ = ()

    def __getattribute__(self, name):
        raise AttributeError(name)


class Endless:
    def __len__(self):
        raise ValueError("endless")


class Printing:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


FOUND = [
    ("unquote", ["%C3%A9%FF"], {"encoding": "U8", "errors": "xmlcharrefreplace"}),
    ("unquote_plus", ["%A9"], {"encoding": "utf_8", "errors": "namereplace"}),
    ("unquote", ["%A9"], {"encoding": "us-ascii", "errors": "namereplace"}),
    ("unquote", ["%81"], {"encoding": "windows-1252", "errors": "xmlcharrefreplace"}),
    ("unquote", [b"%A9"], {"encoding": "UTF8", "errors": "xmlcharrefreplace"}),
    ("parse_qs", ["a=%83%58"], {"encoding": "U8", "errors": "xmlcharrefreplace"}),
    ("parse_qsl", [b"a=%83%58"], {"encoding": "U8", "errors": "namereplace"}),
    *(("urlencode", [pairs], {"doseq": doseq}) for doseq in (True, False) for pairs in [
        [("q", RightAdding(""))], [("q", [RightAdding(""), RightAdding("x")])], [(Adding(""), "v")],
        [(Adding("x"), "v")], {Adding(""): RightAdding("")},
        [("a", Printing(RightAdding("")))], [(Printing(Adding("")), b"v"), ("b", "c")],
        [(Closed("\xe9"), Endless())], [("a", Closed("\xe9")), ("b", Endless())],
    ]),
]  # fmt: skip


@each_row(("name", "arguments", "options"), FOUND)
def test_found(name, arguments, options):
    check(name, *arguments, **options)


# --- subclasses of str ------------------------------------------------------------------------------------------------

METHODS = sorted(
    {*dir(str), "__bool__", "__radd__", "__getattr__"} - {"__new__", "__init__", "__class__", "__init_subclass__"}
)
OF_METHODS = ["a b%41", "http://h/a;b?c#d", "../g;x", "a=1&b=%41", "plain", "", "\xe9%41", "//b\xfccher/\u20ac#"]


def loud(name):
    """A subclass of str with one method of its own, which says something else; and one with another's."""

    def method(self, *arguments):
        found = getattr(str, name)(self, *arguments) if hasattr(str, name) else NotImplemented
        if isinstance(found, str) and name != "__getattribute__":
            return found.swapcase() + "%42"
        if isinstance(found, list | tuple):
            return type(found)(item.swapcase() for item in found)
        return not found if isinstance(found, bool) else found + 1 if isinstance(found, int) else found

    def attribute(self, wanted):
        if wanted == "encode":
            return lambda *_: b"attribute %41"
        return str.__getattribute__(self, wanted)

    body = attribute if name == "__getattribute__" else (lambda self: False) if name == "__bool__" else method
    return type("Loud", (str,), {name: body, **({"__hash__": str.__hash__} if name == "__eq__" else {})})


@pytest.mark.slow
@each_row("method", METHODS)
def test_subclass_with_one_method_of_its_own(method):
    """Whatever the stdlib calls, of which NAMES in parse/_arguments.pyx has to know."""
    kind = loud(method)
    for text in OF_METHODS:
        for name in FUNCTIONS:
            if name not in ("urlunsplit", "urlunparse", "urlencode"):
                check(name, kind(text))
        check("urljoin", "http://h/a/b;c", kind(text))
        check("urljoin", kind(text), "../d#")
        check("urlencode", {"k": kind(text)})
        check("urlencode", [(kind(text), kind(text))], True)
        check("urlencode", [("k", [kind(text)])], True)
        check("quote_plus", kind(text), "", "latin-1", "ignore")
        check("unquote", kind(text), "latin-1")


@pytest.mark.parametrize("method", ["encode", "replace", "lstrip", "count", "split"])
def test_attribute_of_an_object_in_place_of_a_method(method):
    stdlib.clear_cache()  # it may have the result of an equal object with another attribute
    for text in OF_METHODS:
        for name in FUNCTIONS:
            check(name, shadowed(text, method))


def test_a_class_that_changes():
    """What a class overrides is looked at again when it has changed."""

    class Changing(str):
        __slots__ = ()

    for _ in range(3):
        check("quote", Changing("a b"))
        assert parse.quote(Changing("a b")) == "a%20b"
        Changing.encode = lambda *_: b"changed "
        check("quote", Changing("a b"))
        assert parse.quote(Changing("a b")) == "changed%20"
        del Changing.encode


def test_bracketed_hosts():
    """What ipaddress and the patterns of all versions take, and what some of them do not."""
    pieces = [
        *(":", "::", "1", "fF0", "12345", "1.2.3.4", "1.2.3", "01.2.3.4", "1.2.3.256", "%", "%e", "v1.a", "V1.a", "v."),
        *("g", "]", "["),
    ]
    for n in range(4):
        for host in map("".join, itertools.product(pieces, repeat=n)):
            check("urlsplit", f"http://[{host}]:8/")
    for groups in range(10):
        for gap in range(10):
            address = ":".join(["a"] * groups)
            for tail in ("", ":1.2.3.4"):
                text = address[: 2 * gap] + "::" + address[2 * gap :] + tail
                check("urlsplit", f"//[{text}]")
                check("urlsplit", f"//u@[{address}{tail}%1]")
    for netloc in (
        *("[::1]x", "x[::1]", "[::1][::1]", "u[@[::1]", "u]@[::1]", "@[::1]", "[::1]:", "[::1]:@", "[::1]@h", "[\xe9]"),
    ):
        check("urlparse", f"s://{netloc}/p")


@pytest.mark.slow
def test_every_character_of_a_host():
    """NFKC, character by character: which of them make a delimiter."""
    for start in range(0x80, 0x110000, 17 if EXAMPLES <= 100 else 1):
        url = f"//h{chr(start)}"
        try:
            expected = stdlib.urlsplit(url)
        except ValueError:
            expected = None
        if expected is None:
            check("urlsplit", url)
        else:
            assert parse.urlsplit(url) == expected
    for code in (
        *(0x2048, 0x2100, 0x2101, 0x2105, 0x2A74, 0xFE13, 0xFE55, 0xFE56, 0xFE5F, 0xFE6B, 0xFF03, 0xFF0F, 0xFF1A),
        0xFF20,
    ):
        check("urlsplit", f"//h{chr(code)}:80/a")


# --- every combination of a few pieces --------------------------------------------------------------------------------


def all_urls():
    pieces = (
        ["", "http:", "HTTP:", "x:", "1a:", "mailto:", ":", "svn+ssh:"],
        ["", "//", "//h", "//u@h:1", "///", "//[::1]", "//\xe9", "/", "/\t/"],
        ["", "a", "/a", "/", "//", "a/b;p", ";", "/;p/q;r", "/\xe9"],
        ["", "?", "?q", "?;?"],
        ["", "#", "#f", "#\u20ac"],
    )
    return map("".join, itertools.product(*pieces))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["urlsplit", "urlparse", "urldefrag"])
def test_all_urls(name):
    ours, theirs = getattr(parse, name), getattr(stdlib, name)
    for url in all_urls():
        try:
            expected = theirs(url)
        except ValueError:
            check(name, url)
            continue
        result = ours(url)
        assert result == expected and type(result) is type(expected) and hash(result) == hash(expected), url
        assert result.geturl() == expected.geturl(), url
    for url, fragments in itertools.product(all_urls(), [False] if name != "urldefrag" else []):
        check(name, url, allow_fragments=fragments)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["urlsplit", "urlparse", "urldefrag"])
def test_all_short_urls(name):
    ours, theirs = getattr(parse, name), getattr(stdlib, name)
    for n in range(6):
        for url in map("".join, itertools.product("Aa:/?#;", repeat=n)):
            result, expected = ours(url), theirs(url)
            assert result == expected and type(result) is type(expected), url


@pytest.mark.parametrize(("name", "count"), [("urlunsplit", 5), ("urlunparse", 6)])
def test_all_components(name, count):
    schemes, netlocs = ["", "http", "x", "HTTP", "mailto", "\xe9"], ["", "h", "\u20ac"]
    paths, others = ["", "/", "//", "///", "a", "/a", "//a", "//a/b", "\xe9", "/\U0001f600"], ["", "q", "?", "\xe9"]
    ours, theirs = getattr(parse, name), getattr(stdlib, name)
    for items in itertools.product(schemes, netlocs, paths, *[others] * (count - 3)):
        assert ours(items) == theirs(items), items
        assert ours(list(items)) == theirs(items), items


REFERENCES = [
    "g", "./g", "g/", "/g", "//g", "///g", "//", "?y", "g?y", "#s", "g#s", "g?y#s", ";x", "g;x", "g;x?y#s", "", ".",
    "./", "..", "../", "../g",
    "../..", "../../", "../../g", "../../../g", "../../../../g", "/./g", "/../g", "g.", ".g", "g..", "..g", "./../g",
    "./g/.", "g/./h", "g/../h",
    "g;x=1/./y", "g;x=1/../y", "g?y/./x", "g?y/../x", "g#s/./x", "g#s/../x", "http:g", "http:", "http:?q", "http:#f",
    "http:/g", "http://", "http:///g",
    "HTTP:g", "https:g", "x:g", "x:", "mailto:a@b", "a:b/../c", "g//h", "//h//g", "/a//b", "..//g", ".//g", "./a:b",
    "?", "#", "?#", "g?", "g#", "g?#",
    "/", "//h", "//h/", "//h?q", "//h/../..", "....", "./.", "../.", "/..", "/.", "a/..", "a/../", "a/.", "..?q", ".#f",
    "\xe9", "../\xe9", "\\g", " g",
    "g ", "\tg", "g\n", "//[::1]/g", "//[/g", "1:2", ":", "::", "/:", "//:80", "//@/",
]  # fmt: skip
BASES = [
    "http://a/b/c/d;p?q", "http://a/b/c/d;p?q=1/2", "http://a/b/c/d/", "http://a", "http://a/", "http://a?q",
    "http://a#f", "http:", "http:///b/c",
    "http://", "http:/b", "http:b", "file:///etc/passwd", "mailto:x@y", "x:a/b", "x://h/p", "svn+ssh://h/p/q", "a/b/c",
    "/a/b/c", "//h/a/b", "///a",
    "", "?q", "#f", ".", "..", "a", "a/", "a/../b", "http://a/..", "http://a/b/../c", "http://a/./b", "http://a//b//c",
    "http://a/b?", "http://a/b#",
    "http://\xe9/a", "urn:x:y", "HTTP://A/b", " http://a/b", "rtsp://a/b/c", "sip:a@b", "itms-services://a/b",
    "ftp://u:p@h/d/e;type=a", "1:2", ":",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fragments", [True, False])
def test_all_joins(fragments):
    for base, url in itertools.product(BASES, REFERENCES + BASES):
        check("urljoin", base, url, fragments)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", "http://h", "x:", "http:"])
def test_all_short_joins(start):
    """References of up to three pieces beside bases of as many, or of two after a start."""
    short = ["".join(p) for n in range(4) for p in itertools.product(["a", "..", ";", "/", "?", "#"], repeat=n)]
    bases = short[: 1 + 6 + 36] if start else short
    for base, url in itertools.product(bases, short):
        assert parse.urljoin(start + base, url) == stdlib.urljoin(start + base, url), (start + base, url)


def test_joins_of_deep_paths():
    for n in (60, 63, 64, 126, 127, 128, 129, 130, 500, 1100):
        for base, url in [("http://h/" + "a/" * n, "../" * n + "g"), ("http://h/a", "b/" * n), ("http://h/" + "a/" * n,
                                                                                                "/x/" + "../" * n),
                          ("http://h/" + "a" * n, "b" * n), ("http://h/a?" + "q" * n, "#" + "f" * n)]:  # fmt: skip
            check("urljoin", base, url)


# --- cases known to be hard -------------------------------------------------------------------------------------------

HOSTILE = {
    "CVE-2016-0772": ["http://h/\r\nX: y", "http://h\r\n/x"],
    "CVE-2019-9636": [
        "http://netloc\u2100.example", "https://example.com\uff03@bing.com", "http://a\uff0fb/", "http://\ufe55h",
        "http://h\ufe68x",
    ],
    "CVE-2019-10160": ["http://user@example.com\uff03@h", "http://a:\uff03@b", "http://\u2488com", "http://a\u2048b@c"],
    "CVE-2021-23336": ["a=1;b=2&c=3", "a=1;b;c"],
    "CVE-2022-0391": [
        "java\nscript:alert(1)", "http://h/\tpath", "ht\rtp://h", "\njavascript:x", "http://www.python.org\x00@x",
    ],
    "CVE-2023-24329": [
        " https://h", "\x00\x01 http://h/ ", "\x1fftp://h", "\u3000http://h", "\xa0http://h", "http://h \x00",
    ],
    "CVE-2024-11168": [
        "http://[::1]evil.com/", "http://[1.2.3.4]/", "http://[v1.a]/", "http://[x]/", "http://[v1]/", "http://[]/",
    ],
    "CVE-2025-0938": [
        "http://prefix.[v6a.ip]", "http://[::1].example", "http://a[::1]", "http://[::1]:80x", "http://[[::1]]",
        "http://][",
    ],
    "CVE-2021-41773": ["%%341", "%2541", "%%32%65", "%25%34%31", ".%2e/.%%32%65/"],
    "CVE-2022-27780": ["http://example.com%2F10.0.0.1/", "http://a%40b/", "http://a%00b/"],
    "overlong": [
        "%C0%AF", "%E0%80%AF", "%F0%80%80%AF", "%F8%80%80%80%AF", "%FC%80%80%80%80%AF", "%ED%A0%80", "%F4%90%80%80",
        "%C3", "%E2%82",
    ],
    "nul": ["%00", "\0", "%u002f", "%u0041", "%", "%4", "%%"],
    "ports": [
        "http://h:/", "http://h:-1/", "http://h:65536/", "http://h:\u0660/", "http://h:1_0/", "http://h: 80/",
        "http://u:p@h:80:90/",
    ],
}  # fmt: skip


@each_row("reason", HOSTILE)
def test_hostile(reason):
    for text in HOSTILE[reason]:
        for name in FUNCTIONS:
            for argument in (text, octets_of(text), Text(text)):
                check(name, argument)
        for base in BASES:
            check("urljoin", base, text)
            check("urljoin", text, base)


TRAPS = {
    # The argument itself comes back, or bytes; by version.
    "unquote_to_bytes": [(x,) for x in (bytearray(b"a"), bytearray(b"a%41"), Octets(b"a"), Octets(b"%41"), "", None,
                                        0)],
    "unquote": [
        *[(x,) for x in (bytearray(b"%41"), [1], {"%": 1}, memoryview(b"%"), 0, None, b"", b"\xff%41", b"%FF",
                         "\ud800%41")],
        *[(x, "utf-8", None) for x in (b"%FF", "%FF", b"a")],
        *[(x, None, "strict") for x in (b"%FF", "%FF", "a")],
        (b"%41", Evil()), (b"%41", "utf-8", Evil()), ("%41", Evil()), ("a", Evil(), Evil()),
        ("%E9\u20ac%C3", "latin-1"), ("%FE%FF%00%41", "utf-16"), ("%ED%A0%80", "utf-8", "surrogatepass"),
        ("%41", "rot13"), ("%41", "hex"),       # encodings, not of text
    ],
    "quote": [
        ("a", "/", "rot13"), ("a b", "+", "latin_1\xe9"),
        ("\xe9", "", "latin_1\xe9"), ("", object(), object(), object()), ("\ud800",), ("a\udc80b", "", "utf-8",
                                                                               "surrogateescape"),
        ("\ud800", "", None, "surrogatepass"), (b"a", "/", "utf-8"), (b"a", "/", None, "strict"), ("a b", None),
        ("a b", [32]), ("a b", 5), ("\xe9" * 511 + "\ud800",), ("a" * 512 + "\ud800",), ("x" * 600 + "\ud800y", "/",
                                                                                         "utf-8"),
    ],
    "quote_plus": [("a b", None), ("a b", [32]), ("ab", [32]), (bytearray(b"a b"), b"+"), (memoryview(b"a"),)],
    # Bytes go through ASCII up to 3.12; empty queries; false values warn from 3.14.
    "parse_qsl": [
        *[(x,) for x in (b"a=%E9&b=\xff", b"a=%FF", b"a+b=c+d", bytearray(b"a=1"), memoryview(b"a=1"),
                         memoryview(b"ab")[::2])],
        *[(x,) for x in (None, 0, 0.0, (), [], {}, Falsy(), 1, [1], "", b"", "&", "a", "a=", "=", "=a", "&&a=1&&",
                         "a=1&a=2")],
        *[(x,) for x in ("a=b=c", "\xe9=%E9", "%zz=%", "a=1;b=2&c=3")],
        *[("", keep, strict) for keep in (True, False) for strict in (True, False)],
        *[(x, True, True) for x in ("a", "a=1&", "&a=1", "a=1&&b=2", "=", "a=")],
        *[(x, False, False, "utf-8", "replace", n) for x in ("a=1&b=2", "", "\xe9=1&b=2", b"a=1&b=2")
          for n in (0, 1, 2, -1, True, 2.0, 1.5, HUGE, None, "2", Number(2), Evil())],
        *[(x, False, False, "utf-8", "replace", None, separator)
          for x in ("a=1;b=2&c=3", b"a=1;b=2&c=3", "a=1\xe9b=2", b"a=1\xe9b=2", "")
          for separator in (";", "&", "", "&;", b";", b"\xff", None, "=", "+", "%", "\xe9", 5, Text(";"), Falsy(), "1;",
                            "\0")],
    ],
    "urlencode": [
        # With doseq: what may be asked for once only, keys of nothing, and what is no sequence.
        *[(x, True) for x in (
            {"\ud800": []}, {HUGE: ()}, {"a": []}, {"a": [[1, 2], "b", b"c", None]}, {"a": {"b": 1}}, {"a": range(2)},
            {"a": "\xe9"}, {"a": Sequence("ab")}, {"a": Fresh(lambda: Once("ab"))}, {"a": Fresh(Counter)},
            {"\ud800": "a"},
            [("a", (1, Fresh(Counter)))], [("a", [1]), ("b", Fresh(Counter))], [(("a",), 1)], {"a": bytearray(b"b")},
            [(["k"], [])],
        )],
        *[(x,) for x in (
            {}, [], (), "", b"", None, 0, "ab", ["ab"], [("a",)], [("a", 1, 2)], [["a", 1]], [("a", 1), ["b", 2]],
            [("a", 1), "cd"], {"a": HUGE}, [("a", 1), None], {"a": True, "b": None, "c": 1.0, "d": float("inf"),
                                                              "e": 1j},
            {b"\xff": b"\xff"}, {"a": "\ud800"}, Dict(a=1), List([("a", 1)]), Tuple((("a", 1),)), {"a": Text("b")},
            Fresh(lambda: Once([("a", 1)])), [Tuple(("a", 1))], {"a": Named.A}, {"a": Colour.RED}, {"a": Number(1)},
            {"a": Real(1)}, [("a", Evil())], [(Evil(), "a")], [("k", "v"), (HUGE, Evil())],
        )],
        ({"a": "b c"}, False, " "), ({"a": "b+c"}, False, "+"), ({"a": "\xe9"}, False, "", "latin-1"), ({}, Evil()),
        ({"a": b"b"}, False, "", "latin-1"), ({"a b": "c d"}, False, "/", None, None, parse.quote),
        ({"a b": "c d"}, False, "/", None, None, urllib.parse.quote), ({"a": "b"}, False, "", None, None, None),
    ],
    "urlunsplit": [(x,) for x in (
        ("", "", None, "", ""), (None,) * 5, ("http", None, "//a", None, None), ("a", b"", "", "", ""), (b"", "", "",
                                                                                                         "", ""),
        (b"a", "b", "", "", ""), "abcde", b"abcde", None, dict(zip("abcde", "fghij", strict=True)), ([],) * 5, (0,) * 5,
        (Evil(),) * 5,
    )],
    "urlunparse": [("abcdef",), (b"abcdef",), ("abcde",)],
    "urlsplit": [
        (None,), (0,), ([],), (Evil(),), ("a", Evil()), ("a", "", Evil()), ("a", "", 0), ("a", 0), (b"a", ""), (b"a",
                                                                                                                "b"),
        ("a", b"b"), (b"\xff",), (bytearray(b"a"),),
    ],
    "urlparse": [(bytearray(b"a:b"),)],
    "urldefrag": [(x,) for x in (None, 0, bytearray(b"a#b"), memoryview(b"a"), b"\xe9#")],
    "urljoin": [
        ("a", b"b"), (b"a", ""), ("", b"b"), (None, None), (None, "a"), ("a", None), (0, 5), (Evil(), "a"), ("a",
                                                                                                             Evil()),
        ("a", "b", Evil()), (b"http://a/b", b"../c"), ("http://a", bytearray(b"")),
    ],
}  # fmt: skip
TRAPS["parse_qs"] = TRAPS["parse_qsl"]


@each_row("name", FUNCTIONS)
def test_traps(name):
    for arguments in TRAPS.get(name, ()):
        check(name, *arguments)
    for argument in ODD:
        check(name, argument)
        check(name, argument, argument)
        check(name, "a%41 b", argument)
        check(name, b"a%41 b", argument)
        check(name, "http://h/a;b?c#d", "", argument)
    check(name)
    check(name, "a", no_such=1)
    check(name, *"abcdefghij")


@pytest.mark.slow
def test_every_byte_and_triplet():
    for n in range(256):
        for name in FUNCTIONS:
            check(name, chr(n))
            check(name, bytes([n]))
        for text in (
            *(f"%{n:02x}", f"%{n:02X}", f"\xe9%{n:02X}", f"%C3%{n:02X}%A9", f"%{n:02X}%80%80", chr(n) + "%41"),
            *("%4" + chr(n), "%" + chr(n) + "1"),
        ):
            for name in ("unquote", "unquote_plus", "unquote_to_bytes", "parse_qsl"):
                check(name, text)
        check("quote", "/a b\xe9", chr(n))
        check("quote_plus", "/a b\xe9" + chr(n), bytes([n]))


@pytest.mark.slow
@each_row("filler", ["a", " ", "%", "%41", "\xe9", "\u20ac", "\U0001f600", "a%zz", "+", "&a=1"])
def test_lengths(filler):
    for n in [*range(130), 255, 256, *range(505, 520), 1023, 1024, 1025, 2047, 2048, 2049, 5000]:
        text = (filler * n)[:n]
        for argument in (text, text + "\xe9", text.encode()):
            for name in ("quote", "quote_plus", "unquote", "unquote_to_bytes", "parse_qsl"):
                check(name, argument)
        check("unquote_plus", text)
        check("quote_from_bytes", text.encode())
        check("urlencode", {"a": text, text: "b"})
        check("urlencode", [("a" * 1300, b"\xff" * 240), ("k", text)])
        check("urlsplit", "http://h/" + text)
        check("urlunsplit", ("http", "h", text, text, ""))
        check("urldefrag", text + "#" + text)


@pytest.mark.slow
def test_long_texts():
    for text in (
        *("a" * 100_000, "a b\xe9" * 25_000, "%C3%A9" * 16_000, "&a=%41" * 16_000, "../" * 33_000, "//" * 50_000),
        *("%" * 100_000, "[" * 9),
    ):
        for name in FUNCTIONS:
            check(name, text)
        check("urljoin", "http://h/a/b", text)


class Sizes:
    def __len__(self):
        raise ValueError("no size")


def test_values_of_which_nothing_is_usual():
    for value in Sizes(), LoudOctets(b"a b"), Octets(b"a b"):
        check("urlencode", {"a": value})
        check("urlencode", {"a": value, value: value}, True)
    check("urlsplit", "//h/a", "")
    check("urlsplit", b"//h/a", b"")


def test_development_mode():
    """There, Python looks up an error handler that decoding does not need."""
    code = (
        "from uricodec import parse\n"
        "try:\n    parse.unquote('%41', errors='no such')\n"
        "except LookupError:\n    print(parse.unquote('%41', errors='strict'))\n"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "A\n"


def test_an_encoding_of_many_names():
    for number in range(200):
        name = "".join(c.upper() if number >> i & 1 else c for i, c in enumerate("iso-8859-1"))
        check("unquote", "%e9", encoding=name)


def test_huge_integers():
    """Nothing is written of what came before the error."""
    for value in (10**4299, 10**4300, -(10**4300), 10**5000):
        check("urlencode", {"a": 1, "b": value})
        check("urlencode", {value: 1})
        check("urlencode", {"a": [value]}, True)


# --- the module -------------------------------------------------------------------------------------------------------


def test_names():
    assert parse.__all__ == urllib.parse.__all__
    assert set(dir(urllib.parse)) <= set(dir(parse))
    own = {*FUNCTIONS, "clear_cache"}
    for name in dir(urllib.parse):
        value = getattr(parse, name)
        if name not in own and not name.startswith("__"):
            assert value is getattr(urllib.parse, name), name
    with pytest.raises(AttributeError):
        parse.no_such_name  # noqa: B018  (it raises)


def test_star_import():
    ours, theirs = {}, {}
    exec("from uricodec.parse import *", ours)
    exec("from urllib.parse import *", theirs)
    assert ours.keys() == theirs.keys()
    exec("from uricodec.parse import scheme_chars, _coerce_args, _splituser, uses_netloc, SplitResult", ours)


@each_row("name", FUNCTIONS)
def test_signature(name):
    ours, theirs = getattr(parse, name), getattr(stdlib, name)
    expected = inspect.signature(theirs)
    if name == "urlencode":
        *others, last = expected.parameters.values()
        expected = expected.replace(parameters=[*others, last.replace(default=parse.quote_plus)])
    assert inspect.signature(ours) == expected
    # urlsplit is an lru_cache object in most versions, which has no defaults of its own.
    function = inspect.unwrap(theirs)
    defaults = (*function.__defaults__[:-1], parse.quote_plus) if name == "urlencode" else function.__defaults__
    assert exact(ours.__defaults__ or ()) == exact(defaults or ())
    assert (ours.__kwdefaults__ or {}) == (function.__kwdefaults__ or {})
    assert ours.__name__ == ours.__qualname__ == name
    assert ours.__module__ == "uricodec.parse"
    assert ours.__doc__.strip()


@each_row("name", [*FUNCTIONS, "clear_cache"])
@each_row("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_functions_pickle(name, protocol):
    function = getattr(parse, name)
    data = pickle.dumps(function, protocol)
    assert pickle.loads(data) is function
    assert b"parse._" not in data
    assert copy.copy(function) is function
    assert copy.deepcopy(function) is function


def test_warnings_point_at_the_caller():
    def lines(module, action):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            action(module)
        return [(w.category, w.filename, w.lineno) for w in caught]

    actions = [
        lambda m: m.parse_qsl(()), lambda m: m.parse_qs(()), lambda m: m.parse_qsl(qs=[]), lambda m: m.splittype("a:b"),
        lambda m: m.to_bytes("a"),
        lambda m: getattr(m, "Quoter", None), lambda m: m.splitquery("a?b"),
    ]  # fmt: skip
    for action in actions:
        try:
            expected = lines(urllib.parse, action)
        except (TypeError, AttributeError):
            continue
        assert lines(parse, action) == expected
        assert {filename for _, filename, _ in expected} <= {__file__}


def test_quoter():
    """Deprecated since 3.11, by a module __getattr__ of the stdlib's."""
    if "Quoter" in vars(urllib.parse) or not hasattr(urllib.parse, "__getattr__"):
        pytest.skip("this Python's Quoter is no deprecated name")
    with pytest.warns(DeprecationWarning, match="Quoter") as caught:
        assert parse.Quoter is urllib.parse._Quoter
    assert [w.filename for w in caught] == [__file__]


def test_unchanged_input_is_the_same_object():
    for text in ("".join(["pla", "in"]), "x" * 600, "x" * 100_000):
        for function in (parse.quote, parse.quote_plus, parse.unquote, parse.unquote_plus):
            assert function(text) is text
        assert parse.urldefrag(text).url is text
        assert parse.urljoin("", text) is text
        assert parse.urljoin(text, "") is text
    for text in ("\xe9" * 5, "\u20ac" * 600):
        assert parse.unquote(text) is text
        assert parse.unquote_plus(text) is text
    data = bytes(bytearray(b"plain"))
    assert parse.unquote_to_bytes(data) is data


def test_integers_and_floats_are_written_as_str_writes_them():
    values = [0, -1, 2**63, 1e16, 1e-7, -0.0, float("nan"), float("-inf"), True, None]
    assert parse.urlencode([("v", v) for v in values]) == "&".join("v=" + stdlib.quote_plus(str(v)) for v in values)


# --- results ----------------------------------------------------------------------------------------------------------

RESULTS = [
    (name, url)
    for name in ("urlsplit", "urlparse", "urldefrag")
    for url in [*REAL, "", "http://U:P@Host:80/a;b?c#d", "http://h:x/", "http://h:99999/",
                "http://\xe9/\u20ac?\U0001f600#\xff", "http://u@h?#", b"http://h/a;b?c#d"]
]  # fmt: skip
ATTRIBUTES = ["scheme", "netloc", "path", "params", "query", "fragment", "url", "username", "password", "hostname",
              "port", "_fields", "__match_args__", "_userinfo",
              "_hostinfo", "_keep_empty", "__dict__"]  # fmt: skip


def attributes(result):
    for name in ATTRIBUTES:
        try:
            yield name, exact(getattr(result, name))
        except (AttributeError, ValueError) as error:
            yield name, type(error)


@each_row(("name", "url"), RESULTS)
def test_results(name, url):
    parse.clear_cache()
    ours, theirs = getattr(parse, name)(url), getattr(stdlib, name)(url)
    assert type(ours) is type(theirs)
    assert ours == theirs and theirs == ours and not ours < theirs
    assert hash(ours) == hash(theirs) == hash(tuple(theirs)) == hash(ours)
    assert {ours: 1}[theirs] == {theirs: 1}[ours] == 1
    assert repr(ours) == repr(theirs) and str(ours) == str(theirs)
    assert dict(attributes(ours)) == dict(attributes(theirs))
    assert ours.geturl() == theirs.geturl()
    assert exact(ours._asdict()) == exact(theirs._asdict())
    last = type(theirs)._fields[-1]
    assert exact(ours._replace(**{last: theirs[0]})) == exact(theirs._replace(**{last: theirs[0]}))
    assert exact(tuple(ours)) == exact(tuple(theirs)) and exact(ours[1:]) == exact(theirs[1:])
    assert sys.getsizeof(ours) == sys.getsizeof(theirs)
    assert gc.is_tracked(ours) == gc.is_tracked(theirs)
    assert exact(copy.copy(ours)) == exact(theirs) == exact(copy.deepcopy(ours))
    assert (copy.deepcopy(ours) is ours) == (copy.deepcopy(theirs) is theirs)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        loaded, expected = [pickle.loads(pickle.dumps(result, protocol)) for result in (ours, theirs)]
        assert dict(attributes(loaded)) == dict(attributes(expected)) and exact(loaded) == exact(expected)
        assert loaded == theirs and hash(loaded) == hash(theirs)
    assert [type(item) for item in ours] == [type(item) for item in theirs]
    if isinstance(url, str) and url.isascii():
        assert exact(ours.encode()) == exact(theirs.encode())
        assert exact(ours.encode().decode()) == exact(theirs.encode().decode())
    assert sorted(map(id, gc.get_referents(ours, type(ours)))) == sorted(map(id, gc.get_referents(ours, type(theirs))))
    with pytest.raises(AttributeError):
        ours.no_such_attribute = 1
    if len(ours) > 2:
        whole = "urlunsplit" if name == "urlsplit" else "urlunparse"
        assert exact(getattr(parse, whole)(ours)) == exact(getattr(stdlib, whole)(theirs))


def test_results_of_missing_components():
    if "missing_as_none" not in inspect.signature(stdlib.urlsplit).parameters:
        pytest.skip("this Python's results do not know what is missing")
    for url in ["http://h", "http://h?#", "//h/p;?q#", "", "#", "?", "a;", "x:", "http:///", *REAL]:
        for name in ("urlsplit", "urlparse", "urldefrag"):
            for missing in (True, False, 1, 0, None, "x"):
                check(name, url, missing_as_none=missing)
                result, expected = [
                    f(url, missing_as_none=missing) for f in (getattr(parse, name), getattr(stdlib, name))
                ]
                assert dict(attributes(result)) == dict(attributes(expected))
                assert pickle.dumps(result, 2) == pickle.dumps(expected, 2)
                assert result.geturl() == expected.geturl()
                whole = {"urlsplit": "urlunsplit", "urlparse": "urlunparse"}.get(name)
                if whole:
                    check(whole, expected)
                    for keep in (True, False, None, 1, 0):
                        check(whole, expected, keep_empty=keep)
                        check(whole, tuple(expected), keep_empty=keep)


@pytest.mark.slow
def test_results_are_collected():
    """The garbage collector knows the tuples made by hand, and they hold each item once."""
    for function in (parse.urlsplit, parse.urlparse, parse.urldefrag):
        url = "http://" + "h" * 40 + "/" + "p" * 1500 + "?q#f"
        before = sys.getrefcount(url)
        result = function(url)
        items = list(result)
        del result
        gc.collect()
        assert sys.getrefcount(url) == before
        long = next(item for item in items if len(item) > 1000)
        assert sys.getrefcount(long) <= 3  # the list, the name, the argument


def test_a_result_in_a_cycle_is_freed():
    class Item(str):
        pass

    for result in (parse.urlsplit("http://h/x"), parse.urlparse("http://h/x"), parse.urldefrag("http://h/x")):
        item = Item("x")
        item.owner = result._replace(**{result._fields[0]: item})
        del item
    assert gc.collect() >= 3


# --- the lists of schemes ---------------------------------------------------------------------------------------------


@pytest.fixture
def schemes():
    names = "uses_relative", "uses_netloc", "uses_params"
    saved = {name: list(getattr(urllib.parse, name)) for name in names}
    yield
    for name in names:
        getattr(urllib.parse, name)[:] = saved[name]
    parse.clear_cache()


def try_schemes():
    for scheme in ("foo", "http", "mailto", ""):
        colon = scheme + ":" if scheme else ""
        for url in (colon + x for x in ["", "//h/a;b?c#d", "/a;b", "a;b#c", "///a#b", "//#", "a#b", "//h"]):
            for name in ("urlsplit", "urlparse", "urldefrag"):
                check(name, url)
            for reference in ("g", "../g;x", "//i/g", colon + "g", "?q", "#f", ""):
                check("urljoin", url, reference)
        for netloc, path in itertools.product(["", "h"], ["", "a", "/a", "//a"]):
            check("urlunsplit", (scheme, netloc, path, "q", "f"))
            check("urlunparse", (scheme, netloc, path, "p", "q", "f"))


@pytest.mark.usefixtures("schemes")
@pytest.mark.parametrize(
    "names", [["uses_relative"], ["uses_netloc"], ["uses_params"], ["uses_relative", "uses_netloc", "uses_params"]]
)
def test_schemes_appended(names):
    for name in names:
        assert getattr(parse, name) is getattr(urllib.parse, name)
        getattr(parse, name).append("foo")
    try_schemes()
    if len(names) == 3:
        assert parse.urljoin("foo://h/a/b", "../c") == "foo://h/c"
        assert parse.urlparse("foo://h/a;b").params == "b"


@pytest.mark.usefixtures("schemes")
@each_row("name", ["uses_relative", "uses_netloc", "uses_params"])
@each_row("scheme", ["http", "", None])
def test_schemes_removed(name, scheme):
    if scheme is None:
        getattr(urllib.parse, name).clear()
    else:
        getattr(urllib.parse, name).remove(scheme)
    try_schemes()


@pytest.mark.parametrize("name", ["uses_relative", "uses_netloc", "uses_params"])
def test_schemes_replaced(name, monkeypatch):
    monkeypatch.setattr(urllib.parse, name, ["", "foo"])
    try_schemes()


# --- caches -----------------------------------------------------------------------------------------------------------


def test_caches():
    parse.clear_cache()
    url = "http://example.com/caches?q"
    first = parse.urlsplit(url)
    assert parse.urlsplit(url) is first
    assert parse.urlsplit("http://example.com/" + "".join(["caches", "?q"])) is first
    assert parse.urlsplit(url, "") == parse.urlsplit(url, allow_fragments=True) == first
    parse.clear_cache()
    assert parse.urlsplit(url) == first and parse.urlsplit(url) is not first
    if not hasattr(stdlib.urlsplit, "cache_info"):
        assert not hasattr(parse.urlsplit, "cache_info")
        return
    parse.urlsplit.cache_clear()
    info = parse.urlsplit.cache_info()
    assert type(info) is type(stdlib.urlsplit.cache_info())
    assert (info.hits, info.misses, info.currsize) == (0, 0, 0)
    parse.urlsplit(url)
    parse.urlsplit(url)
    parse.urlsplit("0http://example.com/")
    info = parse.urlsplit.cache_info()
    assert (info.hits, info.misses, info.currsize) == (1, 2, 2)
    assert info.maxsize >= info.currsize
    assert parse.urlsplit.cache_parameters() == stdlib.urlsplit.cache_parameters()
    assert parse.urlsplit.__wrapped__ is stdlib.urlsplit.__wrapped__


def test_thousands_of_urls():
    parse.clear_cache()
    many = [f"http://h{i}.example/{i % 7}?{i}#{i}" for i in range(5000)]
    for _ in range(2):
        for i, url in enumerate(many):
            assert parse.urlsplit(url) == (("http", f"h{i}.example", f"/{i % 7}", str(i), str(i)))
    if hasattr(parse.urlsplit, "cache_info"):
        info = parse.urlsplit.cache_info()
        assert info.currsize <= info.maxsize <= 1024


def test_colliding_urls():
    """URLs that differ only where the place in the cache is not computed from."""
    long = [f"http://{i:03}.example.com/{'x' * 200}end-of-url" for i in range(300)]
    short = ["http://" + "".join(letters) for letters in itertools.product("abcXYZ", repeat=3)]
    for many in (long, short, [u[:-1] + c for u in long for c in "ab"]):
        for _ in range(3):
            for url in many:
                assert parse.urlsplit(url) == stdlib.urlsplit(url)
    for n in range(20):
        check("urlsplit", "http://h/"[:n])
        check("urlsplit", "x" * (1016 + n))


def test_keys_are_not_confused():
    """1 == True == 1.0, '' == Text(''), and b'' is false as None is: types are part of the key."""
    for url, scheme, fragments in itertools.product(
        ["http://h/#f", b"http://h/#f", Text("http://h/#f"), Octets(b"http://h/#f")],
        ["", b"", None, Text(""), "x"],
        [True, 1, 1.0, False, 0, None],
    ):
        for name in ("urlsplit", "urlparse"):
            check(name, url, scheme, fragments)


# --- threads and leaks ------------------------------------------------------------------------------------------------


def test_threads():
    many = [(f"http://h{i}/{'p' * (i % 50)};x?a=%C3%A9&b={i}#f%20", f"v {i}\xe9") for i in range(400)]
    expected = [(stdlib.urlsplit(u), stdlib.urlparse(u), stdlib.unquote(u), stdlib.quote(u), stdlib.parse_qsl(u),
                 stdlib.urljoin(u, v), stdlib.urlencode({u: v}))
                for u, v in many]  # fmt: skip
    failures = []

    def work(step):
        for i in [*range(0, 400 * step, step)] * 3:
            url, value = many[i % 400]
            result = (parse.urlsplit(url), parse.urlparse(url), parse.unquote(url), parse.quote(url),
                      parse.parse_qsl(url), parse.urljoin(url, value),
                      parse.urlencode({url: value}))  # fmt: skip
            if result != expected[i % 400]:
                failures.append((url, result))
            if i % 100 == 0:
                parse.clear_cache()

    threads = [threading.Thread(target=work, args=(step,)) for step in (1, 7, 399)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


LEAKS = {
    "quote": [
        ("\ud800",), ("\xe9" * 600,), ("\xe9" * 600 + "\ud800",), ("a b", "no-cache \u20ac"), (None,), (b"a b" * 400,),
        ("a", "/", "no-such"),
    ],
    "quote_plus": [("a b" * 400,)],
    "unquote": [("%41" * 600,), ("\u20ac%C3" * 300,), (b"%FF", "utf-8", "strict"), (5,)],
    "unquote_to_bytes": [("\ud800",), (b"%41" * 600,), ("\xe9%41" * 600,), (5,)],
    "urlencode": [
        ({"a" * 3000: "b"},), ({"a" * 3000: "\ud800"},), ({"a" * 3000: 10**5000},), ([("a" * 3000, 1), 5],), (5,),
        ({"a": [1, "b" * 5000, object]}, True),
    ],
    "parse_qsl": [("a=%41&b" * 200, True), ("a=1&b", True, True), ("\u20ac=%41&b", True, True), (5,)],
    "parse_qs": [("a=%41&a=2&b=" * 100,), (b"a=%41",), ("a&b", False, True)],
    "urlsplit": [("http://h/a?b#c",), ("http://[x/",), ("http://\xe9/a",), (5,)],
    "urlparse": [("http://H/a;b?c#d",), ("http://\u2100/",)],
    "urlunsplit": [(("http", "h", "p", "\xe9", ""),), (("http", "h", "p", 5, ""),), ("ab",)],
    "urlunparse": [(("http", "h", "p", "x", "q", "f"),)],
    "urldefrag": [("HTTP://h/a#b",), ("http://h/a#b",), ("http://]/a#b",)],
    "urljoin": [
        ("http://h/a/b/c", "../d"), ("http://h/" + "a/" * 600, "../d"), ("http://h/" + "a/" * 100 + "x" * 2000,
                                                                         "../d?q"),
        ("http://[/", "a"), ("a", b"b"),
    ],
}  # fmt: skip


@pytest.mark.slow
@each_row("name", LEAKS)
def test_leaks(name):
    """Neither memory nor references stay behind, on the fast paths, on errors and on the way to the stdlib."""
    function = getattr(parse, name)
    gc.freeze()  # what other tests left is not to be searched in each collection

    def run(arguments, times):
        for _ in range(times):
            with contextlib.suppress(TypeError, ValueError, AttributeError, LookupError):
                function(*arguments)

    for arguments in LEAKS[name]:
        run(arguments, 20)
        gc.collect()
        references = [sys.getrefcount(argument) for argument in arguments]
        grown = []
        tracemalloc.start()
        try:
            for _ in range(4):  # the interpreter itself allocates now and then
                run(arguments, 20)
                before = tracemalloc.get_traced_memory()[0]
                run(arguments, 150)
                gc.collect()
                grown.append(tracemalloc.get_traced_memory()[0] - before)
                if grown[-1] < 150 * 24:
                    break
        finally:
            tracemalloc.stop()
        assert grown[-1] < 150 * 24, (name, arguments, grown)
        for argument, old in zip(arguments, references, strict=True):
            assert abs(sys.getrefcount(argument) - old) < 20, (name, arguments)
