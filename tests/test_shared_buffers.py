"""Buffers that another thread changes while a call reads them: wrong text or a rejection, and nothing worse."""

import contextlib
import threading

import pytest

import uricodec
from uricodec import bulk, dedup, iri, logs, uri, urn

TEXT = b"/a%20b%C3%A9\nurn:example:%2f\nHTTP://Ex%c3%a4mple.org/a/../b\n"
PATTERNS = b"%41", b"\n\n\n", b"abc", b"%zz", b"\xc3\xa9x", b"   "

# What takes any buffer. Lines without end would make of the others one row only.
CALLS = {
    **{f"bulk.{name}": getattr(bulk, name) for name in bulk.__all__ if name not in ("Column", "InvalidRows")},
    "bulk.unquote, 2 threads": lambda buffer: bulk.unquote(buffer, threads=2),
    "bulk.normalize_uri, 2 threads": lambda buffer: bulk.normalize_uri(buffer, threads=2),
    "bulk.fingerprint, 2 threads": lambda buffer: bulk.fingerprint(buffer, kind="uri", threads=2),
    "dedup.unique": lambda buffer: dedup.unique(buffer, "urn", memory=1 << 16),
    "dedup.unique, exact": lambda buffer: dedup.unique(buffer, memory=1 << 20, exact=True, kind="uri"),
    "uri.find": uri.find,
    "urn.find": urn.find,
    "logs.parse": lambda buffer: list(logs.parse(buffer)),
    "quote_into": lambda buffer: uricodec.quote_into(buffer, bytearray(3 * len(buffer))),
    "quote_into, in place": lambda buffer: uricodec.quote_into(buffer, buffer),
    "unquote_into": lambda buffer: uricodec.unquote_into(buffer, bytearray(len(buffer))),
    "unquote_into, in place": lambda buffer: uricodec.unquote_into(buffer, buffer),
    **{
        function.__name__: function
        for function in (
            *(uricodec.percent_encode, uricodec.percent_decode, uricodec.requote, uricodec.quote_from_bytes),
            *(uricodec.unquote, uricodec.unquote_to_bytes, iri.iri_to_uri, iri.uri_to_iri, uri.normalize, uri.check),
            *(iri.check, uri.split, urn.normalize, urn.check),
        )
    },
    "resolve": lambda buffer: uri.resolve(buffer, buffer),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_wrong_text_at_worst(name):
    buffer = bytearray(TEXT * 5000)
    stop, begun = threading.Event(), threading.Event()

    def scribble():
        i = 0
        while not stop.is_set():
            octet = PATTERNS[i % 6][:1]
            buffer[i % 1000 :: 1000] = octet * len(buffer[i % 1000 :: 1000])
            i += 1
            begun.set()

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        begun.wait()
        for _ in range(2):
            with contextlib.suppress(ValueError, TypeError, BufferError):
                CALLS[name](buffer)
    finally:
        stop.set()
        thread.join()
