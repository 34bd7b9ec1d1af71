"""URIs and IRIs: check, split, normalize, resolve and convert them, per call; and conversions by the megabyte.

All inputs are distinct, of 60 bytes. urllib.parse does not check a grammar: it splits any text. It has no normal form:
`normalize` is compared with a combination of its functions, on well-formed input. For conversions, quote and unquote
are measured, its closest functions. yarl, werkzeug and hyperlink also split the URL, and differ in what they decode.

python -m pytest benchmarks
"""

import re
from urllib.parse import quote, quote_from_bytes, unquote, unquote_to_bytes, urljoin, urlsplit, urlunsplit

import ada_url
import can_ada
import hyperlink
import idna
import pytest
import uritools
import werkzeug.urls
from data import COPY, WORDS, Library, cases, cjk, columns, defined, five, many, megabyte, real, reference, url
from rfc3986.iri import IRIReference
from yarl import URL

from uricodec import bytesets, iri, uri

# --- grammars ---------------------------------------------------------------------------------------------------------


def url_of_60(rng):
    """Return a URL of 58 to 62 bytes."""
    while True:
        text = url(rng)
        if 58 <= len(text) <= 62:
            return text


def iri_of_60(rng):
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
    "IRIs of 60 bytes": [many(iri_of_60)],
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


# --- normal forms -----------------------------------------------------------------------------------------------------


def untidy(rng):
    """Return a URL that every level changes."""
    scheme, _, rest = url(rng).partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme.upper()}://{host.title()}/./%7e{rng.randrange(1000)}/../{path.replace('%20', '%2d')}"


UNRESERVED = re.compile("%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE)


def normal(text):
    parts = urlsplit(UNRESERVED.sub(lambda triplet: unquote(triplet[0]), text))
    return urlunsplit(parts._replace(netloc=parts.netloc.lower(), path=urljoin("/", parts.path)))


FORM_LIBRARIES = {
    "normalize": {
        "urllib.parse": Library(normal),
        "uricodec": Library(uri.normalize),
        "uricodec, level scheme": Library(lambda text: uri.normalize(text, "scheme")),
        "uricodec, level iri": Library(lambda text: uri.normalize(text, "iri")),
        "yarl": Library(URL, result=str),
        "ada-url": Library(ada_url.normalize_url),
        "can_ada": Library(lambda text: can_ada.parse(text).href),
    },
    "resolve": {
        "urllib.parse": Library(urljoin),
        "uricodec": Library(uri.resolve),
        "uritools": Library(uritools.urijoin),
        "ada-url": Library(ada_url.join_url),
    },
}
FORMS = {
    "normalize": {"distinct URLs": [many(url)], "untidy URLs": [many(untidy)]},
    "resolve": {"distinct": columns(many(reference))},
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(FORMS, FORM_LIBRARIES))
def test_uri_forms(measure, function, kind, library):
    measure(function, kind, library, FORMS[function][kind], FORM_LIBRARIES[function])


# --- conversions ------------------------------------------------------------------------------------------------------

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


SOME_IRIS, SOME_URIS, PERCENT = many(mixed), many(encoded), real("urls_wikipedia_pct.txt")
TO_URI = {"IRIs of 60 bytes": [SOME_IRIS], "ASCII, 60 bytes": [[f"http://{i:053}" for i in range(2000)]]}
TO_IRI = {"URIs of 60 bytes": [SOME_URIS], "ASCII, 60 bytes": TO_URI["ASCII, 60 bytes"]}
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
MIXED = "/".join(SOME_IRIS).encode()
BUFFERS = {
    "iri_to_uri": {
        "CJK, 1 MiB": [[whole(CJK, 3)]],
        "IRIs, 1 MiB": [[megabyte(MIXED).decode(errors="ignore").encode()]],
        "ASCII, 1 MiB": [[megabyte(ASCII)]],
    },
    "uri_to_iri": {
        "CJK, 1 MiB": [[whole(quote_from_bytes(CJK).encode(), 9)]],
        "URIs, 1 MiB": [[megabyte("/".join(SOME_URIS).encode()).rpartition(b"/")[0]]],
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
