"""Check and split URIs and IRIs by their grammars, per call: all distinct, 60 bytes on average.

urllib.parse does not check a grammar: it splits any text.

python -m pytest benchmarks
"""

from urllib.parse import urlsplit

import ada_url
import can_ada
import pytest
import uritools
from data import WORDS, Library, cases, defined, five, many, real, url

from uricodec import iri, uri


def url_of_60(rng):
    """Return a URL of 58 to 62 bytes."""
    while True:
        text = url(rng)
        if 58 <= len(text) <= 62:
            return text


def mixed(rng):
    """Return an IRI of 56 to 64 bytes in Latin, Cyrillic and Chinese letters, with a few marks."""
    while True:
        text = f"https://{rng.choice(('пример', '例え', 'exämple'))}.org/"
        while len(text.encode()) < 54:
            text += rng.choice(("путь", "日本", "é", "-", "«", "/", "한국", rng.choice(WORDS)))
        text += f"?{rng.randrange(10**4)}"
        if 56 <= len(text.encode()) <= 64:
            return text


URIS = {
    "distinct URLs of 60 bytes": [many(url_of_60)],
    "real URLs": [[text for text in real("urls_ada_node_files.txt") if uri.is_valid(text, "URI")]],
}
IRIS = {
    "IRIs of 60 bytes": [many(mixed)],
    "real IRIs": [[text for text in real("iris_wikipedia.txt") if iri.is_valid(text, "IRI")]],
}
INPUTS = {"uri.split": URIS, "uri.is_valid": URIS, "iri.split": IRIS, "iri.is_valid": IRIS}


def has_scheme(text):
    return urlsplit(text).scheme != ""


SPLIT, IS = Library(urlsplit), Library(has_scheme)
WHATWG = {"ada-url": Library(ada_url.check_url), "can_ada": Library(can_ada.can_parse)}
LIBRARIES = {
    "uri.split": {
        "urllib.parse": SPLIT,
        "uricodec": Library(uri.split, result=defined),
        "uritools": Library(uritools.urisplit, result=defined),
        "ada-url": Library(ada_url.URL, result=five),
        "can_ada": Library(can_ada.parse, result=five),
    },
    "uri.is_valid": {"urllib.parse": IS, "uricodec": Library(uri.is_valid), **WHATWG},
    "iri.split": {
        "urllib.parse": SPLIT,
        "uricodec": Library(iri.split, result=defined),
        "uritools": Library(uritools.urisplit, result=defined),
    },
    "iri.is_valid": {"urllib.parse": IS, "uricodec": Library(iri.is_valid), **WHATWG},
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS, LIBRARIES))
def test_uri(measure, function, kind, library):
    measure(function, kind, library, INPUTS[function][kind], LIBRARIES[function])
