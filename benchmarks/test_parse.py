"""The functions of urllib.parse, per call: short strings, URLs, query strings; and buffers of a megabyte.

python -m pytest benchmarks
"""

import random
from urllib.parse import parse_qsl, quote, quote_from_bytes, quote_plus, urlencode, urlsplit

import pytest
from data import (
    COPY,
    COUNT,
    LIBRARIES,
    SIZE,
    Library,
    cases,
    cjk,
    clean,
    columns,
    english,
    many,
    megabyte,
    pairs,
    query,
    real,
    reference,
    url,
)

import uricodec

TEXTS = {"clean, 50 B": [many(clean)], "English, 61 B": [many(english)], "CJK, 20 characters": [many(cjk)]}
WORDS = {"words, 61 B": [many(english, "")]}  # only spaces to escape
URLS = many(url)
DISTINCT = {"distinct URLs": [URLS], "real URLs": [real("urls_ada_node_files.txt")]}
SPLIT = DISTINCT | {"one URL": [many(url, count=1) * COUNT]}
PHRASES = [line.partition("\t")[2] for line in real("search_phrases_multilang.tsv")]
REAL_QUERIES = real("query_strings.txt")
QUERIES = {
    "60 B": [many(query, 60)],
    "2 KB": [many(query, 2048, count=200)],
    "CJK, 4 pairs": [list(map(urlencode, many(pairs, cjk)))],
    "real": [REAL_QUERIES],
}

INPUTS = {
    "quote": TEXTS
    | {
        "URLs": [URLS],
        "real titles": [[line.partition("\t")[2] for line in real("wiki_titles.tsv")]],
        "real URLs": [real("urls_ada_node_files.txt")],
    },
    "quote_plus": TEXTS | WORDS | {"real search phrases": [PHRASES]},
    "quote_from_bytes": {kind: [[text.encode() for text in texts]] for kind, [texts] in TEXTS.items()},
    "unquote": {kind: [list(map(quote, texts))] for kind, [texts] in TEXTS.items()}
    | {
        "URLs": [[quote(text, safe="") for text in URLS]],
        "real URLs": [real("urls_wikipedia_pct.txt")],
    },
    "unquote_plus": {kind: [list(map(quote_plus, texts))] for kind, [texts] in (TEXTS | WORDS).items()}
    | {"real query strings": [real("query_strings.txt")]},
    "unquote_to_bytes": {kind: [list(map(quote, texts))] for kind, [texts] in TEXTS.items()},
    "urlsplit": SPLIT,
    "urlparse": SPLIT,
    "urlunsplit": {kind: [list(map(urlsplit, urls))] for kind, [urls] in DISTINCT.items()},
    "urljoin": {
        "distinct": columns(many(reference)),
        "real": columns(line.split(",", 1) for line in real("urls_cc_base_relative.csv")),
    },
    "urldefrag": DISTINCT,
    "urlencode": {
        "4 pairs": [many(pairs, english)],
        "CJK, 4 pairs": [many(pairs, cjk)],
        "real": [list(filter(None, map(parse_qsl, REAL_QUERIES)))],
    },
    "parse_qsl": QUERIES,
    "parse_qs": QUERIES,
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS))
def test_parse(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])


# --- by the megabyte --------------------------------------------------------------------------------------------------

OUTPUT = bytearray(3 * SIZE)


RAW = {
    "clean": megabyte("".join(many(clean)).encode()),
    "English": megabyte(" ".join(many(english)).encode()),
    "CJK": megabyte("".join(many(cjk)).encode()),
    "URLs": megabyte("\n".join(many(url)).encode()),
    "random": random.Random(1).randbytes(SIZE),
}
BUFFERS = {
    "quote_from_bytes": {f"{kind}, 1 MiB": [[data]] for kind, data in RAW.items()},
    # Nothing to decode: up to 3.11 the result is the argument.
    "unquote_to_bytes": {
        f"{kind}, 1 MiB": [[megabyte(quote_from_bytes(data).encode())]] for kind, data in RAW.items() if kind != "clean"
    },
}


def into(name, result):
    """Return the function that writes into the caller's buffer."""
    function = getattr(uricodec, name)
    return Library(lambda data: function(data, OUTPUT), result=lambda size: result(OUTPUT[:size]))


BUFFER_LIBRARIES = {
    function: {**LIBRARIES[function], "uricodec into": into(*name_and_result), "memcpy": COPY}
    for function, *name_and_result in (
        ("quote_from_bytes", "quote_into", bytearray.decode),
        ("unquote_to_bytes", "unquote_into", bytes),
    )
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(BUFFERS, BUFFER_LIBRARIES))
def test_buffers(benchmark, measure, function, kind, library):
    benchmark.extra_info["bytes"] = SIZE
    measure(function, kind, library, BUFFERS[function][kind], BUFFER_LIBRARIES[function])
