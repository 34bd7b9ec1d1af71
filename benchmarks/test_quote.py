"""Percent-encode and decode short strings, per call.

python -m pytest benchmarks
"""

from urllib.parse import quote, quote_plus

import pytest
from data import LIBRARIES, cases, cjk, clean, english, many, real, url

TEXTS = {"clean, 50 B": [many(clean)], "English, 61 B": [many(english)], "CJK, 20 characters": [many(cjk)]}
WORDS = {"words, 61 B": [many(english, "")]}  # only spaces to escape
URLS = many(url)
PHRASES = [line.partition("\t")[2] for line in real("search_phrases_multilang.tsv")]

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
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS))
def test_quote(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
