"""The inputs and the libraries of the benchmarks.

Inputs are made here, the same in every run. If URICODEC_CORPORA names a folder of real data (titles, URLs, query
strings; the names of the files are in `test_*.py`), rows for it are added.

    python -m pytest benchmarks
"""

import os
import random
import string
import urllib.parse
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import ada_url
import can_ada
import uritools
from corpus import WORDS
from fast_query_parsers import parse_query_string
from yarl import URL
from yarl._parse import query_to_pairs, split_url, unsplit_result
from yarl._query import get_str_query
from yarl._quoters import UNQUOTER_PLUS
from yarl._quoting_c import _Quoter, _Unquoter

import uricodec.parse

COUNT = 2000  # distinct inputs in a row: more than any cache of results holds
CORPORA = os.environ.get("URICODEC_CORPORA")

# --- inputs -----------------------------------------------------------------------------------------------------------


def many(make, *args, count=COUNT):
    """Return COUNT distinct results of make(rng, *args), the same in every run."""
    rng = random.Random(make.__name__)
    found = {}
    while len(found) < count:
        found[make(rng, *args)] = None
    return list(found)


def clean(rng):
    """Return 50 unreserved characters."""
    return "".join(rng.choices(string.ascii_letters + string.digits + "-._", k=50))


def english(rng, marks="?:"):
    """Return 61 characters, 12 of which are percent-encoded: spaces, and one or more of the marks."""
    while True:
        words = [rng.choice(WORDS) + rng.choice(("", "", "", "", *marks)) for _ in range(20)]
        text = " ".join(words)[:61]
        others = sum(not char.isalpha() for char in text)
        if text[-1] != " " and others == 12 and (not marks or text.count(" ") < 12):
            return text


def cjk(rng):
    """Return 20 ideographs: 60 bytes of UTF-8."""
    return "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(20))


def field(rng):
    """Return a name and a value: 22 bytes and 0.6 triplets on average (25 and 0.6 in real queries)."""
    number = f"{rng.getrandbits(rng.choice((16, 32, 128))):x}"
    forms = "{}", "{}-{}", "{}_{}_{}", "{}+{}", "https%3A%2F%2F{}.org%2F{}", "caf%C3%A9+{}", *[number] * 4
    value = rng.choice(forms).format(*rng.choices(WORDS, k=3))
    return f"{rng.choice(WORDS)}{rng.choice(('', '_id', '_type'))}={value}"


def query(rng, size):
    """Return a query string of `size` bytes."""
    while True:
        text = "&".join([field(rng) for _ in range(size // 8)])[:size]
        last = text.rpartition("=")[2]
        if last and "&" not in last and "%" not in text[-2:] and not text.endswith("%C3"):
            return text


def url(rng):
    """Return a URL. Most have a query, some a fragment."""
    host = f"{rng.choice(('www', 'docs', 'cdn'))}.{rng.choice(WORDS)}-{rng.choice(WORDS)}.{rng.choice(('com', 'org'))}"
    path = "/".join(rng.choices(WORDS, k=rng.randint(1, 5)))
    text = f"{rng.choice(('http', 'https', 'https'))}://{host}/{path}{rng.choice(('', '/', '.html', '%20x'))}"
    if rng.random() < 0.6:
        text += f"?{rng.choice(WORDS)}={rng.choice(WORDS)}&id={rng.randrange(10**6)}"
    return text + (f"#{rng.choice(WORDS)}" if rng.random() < 0.2 else "")


def reference(rng):
    """Return the URL of a page, and a reference in it."""
    forms = "../{}", "../../{}/{}", "/{}/{}.css", "{}.html", "./{}", "?{}={}", "#{}", "https://cdn.{}.org/{}"
    return url(rng).partition("?")[0], rng.choice(forms).format(*rng.choices(WORDS, k=2))


def pairs(rng, text):
    """Return four names and values."""
    names = "q", "page", "lang", "sort by"
    return tuple(zip(names, (text(rng), rng.randrange(1000), *rng.choices(WORDS, k=2)), strict=True))


def real(name):
    """Return COUNT distinct lines, evenly spaced, of a file of real data; none if URICODEC_CORPORA is not set."""
    if CORPORA is None:
        return []
    text = Path(CORPORA, name).read_text("utf-8", errors="replace")
    lines = list(dict.fromkeys(filter(None, text.split("\n"))))
    return lines[:: max(1, len(lines) // COUNT)][:COUNT]


def columns(rows):
    """Convert a list of tuples of arguments to lists of first, second ... arguments."""
    return [list(column) for column in zip(*rows, strict=True)]


# --- libraries --------------------------------------------------------------------------------------------------------


class Library(NamedTuple):
    """A function to measure, with conversions of its arguments from those of urllib.parse, and of its result back.

    Only the call is timed. A result of None: there is nothing to compare.
    """

    call: Callable
    arguments: Callable = list
    result: Callable | None = lambda output: output


def undefined(parts):
    """Convert components to those of uritools, with None for missing ones."""
    return [None if part == "" and i != 2 else part for i, part in enumerate(parts)]


def five(url):
    """Return the components of a WHATWG URL as urlsplit does."""
    return url.protocol[:-1], url.host, url.pathname, url.search[1:], url.hash[1:]


def encoded_args(args):
    """Convert a query and its separator to the arguments of fast-query-parsers."""
    return [list(map(str.encode, args[0])), repeat("&")]


def defined(parts):
    return tuple(part or "" for part in parts)


# Every function of the drop-in, and what else does the same work, on most input at least.
PEERS = {
    "quote": {
        "yarl": Library(_Quoter(safe="/", requote=False)),
        "uritools": Library(uritools.uriencode, lambda args: [*args, repeat("/")], bytes.decode),
    },
    "quote_plus": {"yarl": Library(_Quoter(qs=True, requote=False))},
    "quote_from_bytes": {"uritools": Library(uritools.uriencode, lambda args: [*args, repeat("/")], bytes.decode)},
    "unquote": {
        "yarl": Library(_Unquoter(replace_invalid=True)),
        "uritools": Library(uritools.uridecode, lambda args: [*args, repeat("utf-8"), repeat("replace")]),
    },
    "unquote_plus": {"yarl": Library(UNQUOTER_PLUS)},
    "unquote_to_bytes": {"uritools": Library(uritools.uridecode, lambda args: [*args, repeat(None)])},
    "urlencode": {"yarl": Library(get_str_query)},
    "parse_qsl": {
        "yarl": Library(query_to_pairs),
        "ada-url": Library(lambda query: list(ada_url.URLSearchParams(query).items())),
        "can_ada": Library(lambda query: list(can_ada.URLSearchParams(query))),
        "fast-query-parsers": Library(parse_query_string, encoded_args),
    },
    "parse_qs": {},
    "urlsplit": {
        "yarl": Library(split_url),
        "uritools": Library(uritools.urisplit, result=defined),
        "ada-url": Library(ada_url.URL, result=five),
        "can_ada": Library(can_ada.parse, result=five),
    },
    "urlparse": {},
    "urlunsplit": {
        "yarl": Library(unsplit_result, lambda args: columns(args[0])),
        "uritools": Library(uritools.uriunsplit, lambda args: [list(map(undefined, args[0]))]),
    },
    "urljoin": {
        "yarl": Library(lambda base, ref: URL(base, encoded=True).join(URL(ref, encoded=True)), result=str),
        "uritools": Library(uritools.urijoin),
        "ada-url": Library(ada_url.join_url),
    },
    "urldefrag": {"uritools": Library(uritools.uridefrag, result=defined)},
}
LIBRARIES = {
    name: {
        "urllib.parse": Library(getattr(urllib.parse, name)),
        "uricodec": Library(getattr(uricodec.parse, name)),
        **peers,
    }
    for name, peers in PEERS.items()
}


def cases(inputs, libraries=LIBRARIES):
    """Yield (function, kind, library) for each measurement. Each also measures urllib.parse."""
    return [
        (function, kind, library)
        for function, kinds in inputs.items()
        for kind, args in kinds.items()
        if any(args)
        for library in libraries[function]
        if library != "urllib.parse"
    ]


# --- by the megabyte --------------------------------------------------------------------------------------------------

SIZE = 1 << 20
COPY = Library(bytes, lambda args: [list(map(bytearray, args[0]))], None)

# glibc gives large blocks back to the system at once; when a larger one has been freed it keeps them.
bytes(16 * SIZE)


def megabyte(text):
    return (text * (SIZE // len(text) + 1))[:SIZE]
