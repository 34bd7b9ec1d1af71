"""IRIs that are not Unicode text yet: variants a and b of step 1 of RFC 3987 section 3.1.

Variant a: text that was read from paper or typed in is put into Normalization Form C. Variant b: so are bytes in an
encoding that is not a Unicode encoding. Bytes in a Unicode encoding (variant c) are never normalized.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

from uricodec._url._characters import composed
from uricodec.errors import IriError

_OF_UNICODE = ("utf-7", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


def convert(
    iri: object, encoding: str | None, nfc: bool, iri_to_uri: Callable[..., str], options: dict[str, str]
) -> str | bytes:
    """Decode and normalize an IRI, and apply a conversion function with its options."""
    if isinstance(iri, str):
        if encoding is not None:
            raise TypeError("encoding applies to bytes only, got a str")
        data, text = None, iri if type(iri) is str else "".join(iri)
    else:
        data = iri if type(iri) is bytes else bytes(memoryview(iri))  # type: ignore[arg-type]
        try:
            text = data.decode(encoding or "utf-8")
        except UnicodeDecodeError as error:
            raise IriError(f"invalid {encoding or 'utf-8'}", iri, error.start) from None
    compose = nfc or (encoding is not None and codecs.lookup(encoding).name not in _OF_UNICODE)
    try:
        uri = iri_to_uri(composed(text) if compose else text, **options)
    except IriError as error:
        position = _first_fault(text, iri_to_uri, options) if compose else error.offset
        if data is not None:
            position = _byte_of(data, encoding or "utf-8", position)
        raise IriError(error.reason, iri, position) from None
    if data is None:
        return uri
    made = uri.encode("ascii")
    return data if made == data else made


def _first_fault(text: str, iri_to_uri: Callable[..., str], options: dict[str, str]) -> int:
    """Return where the text is invalid before composition; 0 if only the composed text is (U+1FEF becomes "`")."""
    try:
        iri_to_uri(text, **options)
    except IriError as error:
        return error.offset
    return 0


def _byte_of(data: bytes, encoding: str, position: int) -> int:
    """Return the offset in the bytes at which the character with that index begins."""
    decoder = codecs.getincrementaldecoder(encoding)()
    characters = start = 0
    for i in range(len(data)):
        more = len(decoder.decode(data[i : i + 1]))
        if more and characters + more > position:
            return start
        characters += more
        start = i + 1 if more else start
    return start
