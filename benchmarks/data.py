"""The inputs and the libraries of the benchmarks.

Inputs are made here, the same in every run. If URICODEC_CORPORA names a folder of real data (titles, URLs, query
strings; the names of the files are in `test_*.py`), rows for it are added.

    python -m pytest benchmarks --benchmark-json=bench.json && python benchmarks/report.py bench.json
"""

import os
import random
import string
import urllib.parse
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import uritools
from yarl import URL
from yarl._parse import query_to_pairs, split_url, unsplit_result
from yarl._query import get_str_query
from yarl._quoters import UNQUOTER_PLUS
from yarl._quoting_c import _Quoter, _Unquoter

import uricodec.parse

COUNT = 2000  # distinct inputs in a row: more than any cache of results holds
CORPORA = os.environ.get("URICODEC_CORPORA")

# --- inputs -----------------------------------------------------------------------------------------------------------

WORDS = (  # noqa: SIM905
    "the of and to in is for on with at by from have this that they which were time year people way day man thing "
    "world life hand part child eye place work week case point company number group problem fact good new first last"
).split()


def many(make, *args, count=COUNT):
    """Distinct results of make(rng, *args), the same in every run."""
    rng = random.Random(make.__name__)
    found = {}
    while len(found) < count:
        found[make(rng, *args)] = None
    return list(found)


def clean(rng):
    """50 unreserved characters."""
    return "".join(rng.choices(string.ascii_letters + string.digits + "-._", k=50))


def english(rng):
    """61 characters, 12 of which are escaped: spaces, and a few of '?' and ':'."""
    while True:
        words = [rng.choice(WORDS) + rng.choice(("", "", "", "", "?", ":")) for _ in range(20)]
        text = " ".join(words)[:61]
        if text[-1] != " " and sum(not char.isalpha() for char in text) == 12 > text.count(" "):
            return text


def cjk(rng):
    """20 ideographs: 60 octets of UTF-8."""
    return "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(20))


def query(rng, size):
    """A query string of `size` octets: a few triplets and '+' in it, and a long number at its end."""
    fields = []
    while len("&".join(fields)) < size - 32:
        value = rng.choice(("{}", "{}+{}", "%22{}%22", "{}%2F{}", "caf%C3%A9+{}", str(rng.randrange(10**6))))
        fields.append(f"{rng.choice(WORDS)}={value.format(*rng.choices(WORDS, k=2))}")
    text = "&".join([*fields, "id="])
    return text + "".join(rng.choices(string.digits, k=size - len(text)))


def url(rng):
    """A web address: most have a query, some a fragment."""
    host = f"{rng.choice(('www', 'docs', 'cdn'))}.{rng.choice(WORDS)}-{rng.choice(WORDS)}.{rng.choice(('com', 'org'))}"
    path = "/".join(rng.choices(WORDS, k=rng.randint(1, 5)))
    text = f"{rng.choice(('http', 'https', 'https'))}://{host}/{path}{rng.choice(('', '/', '.html', '%20x'))}"
    if rng.random() < 0.6:
        text += f"?{rng.choice(WORDS)}={rng.choice(WORDS)}&id={rng.randrange(10**6)}"
    return text + (f"#{rng.choice(WORDS)}" if rng.random() < 0.2 else "")


def reference(rng):
    """What stands in a link, beside the address of its page."""
    form = rng.choice(("../{}", "../../{}/{}", "/{}/{}.css", "{}.html", "./{}", "?{}={}", "#{}", "https://cdn.{}.org/{}"))
    return url(rng).partition("?")[0], form.format(*rng.choices(WORDS, k=2))


def pairs(rng, text):
    """Four names and values."""
    names = "q", "page", "lang", "sort by"
    return tuple(zip(names, (text(rng), rng.randrange(1000), *rng.choices(WORDS, k=2)), strict=True))


def real(name):
    """COUNT distinct lines, taken evenly, of a file of real data; none without the folder."""
    if CORPORA is None:
        return []
    text = Path(CORPORA, name).read_text("utf-8", errors="replace")
    lines = list(dict.fromkeys(filter(None, text.split("\n"))))
    return lines[:: max(1, len(lines) // COUNT)][:COUNT]


def columns(rows):
    """Lists of first, second ... arguments from a list of tuples of arguments."""
    return [list(column) for column in zip(*rows, strict=True)]


# --- libraries --------------------------------------------------------------------------------------------------------


class Library(NamedTuple):
    """A function to measure, how it takes urllib.parse's columns of arguments, and its result as urllib.parse gives it.

    Only the call is timed. A result of None: there is nothing to compare.
    """

    call: Callable
    arguments: Callable = list
    result: Callable | None = lambda output: output


def undefined(parts):
    """Components as uritools has them: None where there is none."""
    return [None if part == "" and i != 2 else part for i, part in enumerate(parts)]


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
    "parse_qsl": {"yarl": Library(query_to_pairs)},
    "parse_qs": {},
    "urlsplit": {"yarl": Library(split_url), "uritools": Library(uritools.urisplit, result=defined)},
    "urlparse": {},
    "urlunsplit": {
        "yarl": Library(unsplit_result, lambda args: columns(args[0])),
        "uritools": Library(uritools.uriunsplit, lambda args: [list(map(undefined, args[0]))]),
    },
    "urljoin": {
        "yarl": Library(lambda base, ref: URL(base, encoded=True).join(URL(ref, encoded=True)), result=str),
        "uritools": Library(uritools.urijoin),
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
    """(function, kind, library) of every row, the libraries of a row one after another."""
    return [
        (function, kind, library)
        for function, kinds in inputs.items()
        for kind, args in kinds.items()
        if any(args)
        for library in libraries[function]
    ]
