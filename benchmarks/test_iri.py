"""Convert IRIs to URIs and back: per call (60 bytes of several scripts, all distinct), and megabytes beside a copy.

The other libraries do more or less than this: yarl, werkzeug and hyperlink also split the URL, and differ in what they
decode. For urllib.parse, quote and unquote are measured, its closest functions.

python -m pytest benchmarks
"""

from urllib.parse import quote, quote_from_bytes, unquote, unquote_to_bytes

import ada_url
import can_ada
import hyperlink
import idna
import pytest
import werkzeug.urls
from data import WORDS, Library, cases, cjk, many, real
from rfc3986.iri import IRIReference
from test_buffers import COPY, megabyte
from yarl import URL

from uricodec import bytesets, iri

STAYS = bytes(bytesets.RFC3986_URI_CHAR).decode()
SCRIPTS = (
    (0x4E00, 0x9FA5),
    (0x3041, 0x3090),
    (0xAC00, 0xD7A3),
    (0x430, 0x44F),
    (0x3B1, 0x3C9),
    (0x5D0, 0x5EA),
    (0xE0, 0xFF),
)


def word(rng, most=4):
    first, last = rng.choice(SCRIPTS)
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(2, most)))


def mixed(rng):
    """Return an IRI of 58 to 62 bytes."""
    while True:
        path = "/".join(word(rng) for _ in range(rng.randint(2, 4)))
        text = f"http://www.{rng.choice(WORDS)}{rng.randrange(100)}.org/{path}?q={word(rng)}"
        if 58 <= len(text.encode()) <= 62:
            return text


def encoded(rng):
    """Return a URI of 58 to 62 bytes, about half of them in triplets, some of which encode ASCII."""
    while True:
        path = f"{quote(word(rng))}{rng.choice(('/', '%2F', '%20', '%2c'))}{rng.choice(WORDS)}"
        text = f"http://www.{rng.choice(WORDS)}.org/{path}?q={rng.randrange(100)}"
        if 58 <= len(text) <= 62:
            return text


def as_quote(text):
    return quote(text, safe=STAYS)


def internationalized(rng):
    """Return a URL with a host beyond ASCII, without characters that IDNA 2003 and 2008 convert differently."""
    while True:
        text = f"http://{word(rng, 12)}.{rng.choice(WORDS)}.org/"
        if not set(text) & set("\u03c2\u00f7"):
            return text


IRIS, URIS, PERCENT = many(mixed), many(encoded), real("urls_wikipedia_pct.txt")
TO_URI = {"IRIs of 60 bytes": [IRIS], "ASCII, 60 bytes": [[f"http://{i:053}" for i in range(2000)]]}
TO_IRI = {"URIs of 60 bytes": [URIS], "ASCII, 60 bytes": TO_URI["ASCII, 60 bytes"]}
HOSTS = many(internationalized)
CALLS = {
    "iri_to_uri": TO_URI | {"real IRIs": [real("iris_wikipedia.txt")]},
    "uri_to_iri": TO_IRI | {"real URLs": [PERCENT]},
    "iri_to_uri, host=idna": {"hosts of several scripts": [HOSTS]},
    "uri_to_iri, host=unicode": {"hosts of several scripts": [[iri.iri_to_uri(text, host="idna") for text in HOSTS]]},
}
CALL_LIBRARIES = {
    "iri_to_uri": {
        "urllib.parse": Library(as_quote),
        "uricodec": Library(iri.iri_to_uri),
        "yarl": Library(lambda text: str(URL(text))),
        "werkzeug": Library(werkzeug.urls.iri_to_uri),
        "hyperlink": Library(lambda text: hyperlink.URL.from_text(text).to_uri().to_text()),
        "rfc3986": Library(lambda text: IRIReference.from_string(text).encode(str).unsplit()),
    },
    # What urllib.parse decodes wrongly, a delimiter, is no error of the others.
    "uri_to_iri": {
        "urllib.parse": Library(lambda text: iri.iri_to_uri(unquote(text), disallowed="encode")),
        "uricodec": Library(iri.uri_to_iri, result=lambda text: iri.iri_to_uri(unquote(text), disallowed="encode")),
        "yarl": Library(lambda text: URL(text).human_repr(), result=None),
        "werkzeug": Library(werkzeug.urls.uri_to_iri, result=None),
        "hyperlink": Library(lambda text: hyperlink.URL.from_text(text).to_iri().to_text(), result=None),
    },
    # urllib.parse is Python's codec for IDNA 2003, of the host alone.
    "iri_to_uri, host=idna": {
        "urllib.parse": Library(lambda text: f"http://{text[7:-1].encode('idna').decode()}/"),
        "uricodec": Library(lambda text: iri.iri_to_uri(text, host="idna")),
        "idna": Library(lambda text: f"http://{idna.encode(text[7:-1], uts46=True, std3_rules=True).decode()}/"),
        "ada-url": Library(lambda text: ada_url.URL(text).href),
        "can_ada": Library(lambda text: can_ada.parse(text).href),
        "yarl": Library(lambda text: str(URL(text))),
    },
    "uri_to_iri, host=unicode": {
        "urllib.parse": Library(lambda text: f"http://{text[7:-1].encode().decode('idna')}/"),
        "uricodec": Library(lambda text: iri.uri_to_iri(text, host="unicode")),
        "idna": Library(lambda text: f"http://{idna.decode(text[7:-1])}/"),
        "yarl": Library(lambda text: URL(text).human_repr()),
    },
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(CALLS, CALL_LIBRARIES))
def test_iri(measure, function, kind, library):
    measure(function, kind, library, CALLS[function][kind], CALL_LIBRARIES[function])


# --- by the megabyte --------------------------------------------------------------------------------------------------


def whole(text, unit):
    """Return a megabyte of whole identifiers."""
    data = megabyte(text)
    return data[: len(data) // unit * unit]


CJK = "".join(many(cjk)).encode()
ASCII = "/".join(TO_URI["ASCII, 60 bytes"][0]).encode()
MIXED = "/".join(IRIS).encode()
BUFFERS = {
    "iri_to_uri": {
        "CJK, 1 MiB": [[whole(CJK, 3)]],
        "IRIs, 1 MiB": [[megabyte(MIXED).decode(errors="ignore").encode()]],
        "ASCII, 1 MiB": [[megabyte(ASCII)]],
    },
    "uri_to_iri": {
        "CJK, 1 MiB": [[whole(quote_from_bytes(CJK).encode(), 9)]],
        "URIs, 1 MiB": [[megabyte("/".join(URIS).encode()).rpartition(b"/")[0]]],
        "ASCII, 1 MiB": [[megabyte(ASCII)]],
    }
    | ({"real URLs, 1 MiB": [[megabyte("/".join(PERCENT * 20).encode()).rpartition(b"/")[0]]]} if PERCENT else {}),
}
BUFFER_LIBRARIES = {
    "iri_to_uri": {
        "urllib.parse": Library(lambda data: quote_from_bytes(data, safe=STAYS).encode()),
        "uricodec": Library(iri.iri_to_uri),
        "memcpy": COPY,
    },
    "uri_to_iri": {
        "urllib.parse": Library(lambda data: quote_from_bytes(unquote_to_bytes(data), safe=STAYS)),
        "uricodec": Library(iri.uri_to_iri, result=lambda data: quote_from_bytes(unquote_to_bytes(data), safe=STAYS)),
        "memcpy": COPY,
    },
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(BUFFERS, BUFFER_LIBRARIES))
def test_iri_buffers(benchmark, measure, function, kind, library):
    [[data]] = BUFFERS[function][kind]
    benchmark.extra_info["bytes"] = len(data)
    measure(function, kind, library, [[data]], BUFFER_LIBRARIES[function])
