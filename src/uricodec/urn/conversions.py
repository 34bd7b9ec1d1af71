"""Conversions between URNs and other identifiers: public identifiers, UUIDs, OIDs, ISBNs.

RFC 3151 (publicid), RFC 4122 and 9562 (uuid), RFC 3061 (oid), RFC 3187 and ISO 2108 (isbn).
Every function rejects input that could not be converted back, apart from white space, hyphens and case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from uricodec.errors import UrnError
from uricodec.urn import URN, parse
from uricodec.urn.namespaces import NAMESPACES

if TYPE_CHECKING:
    from uuid import UUID

__all__ = [
    "from_isbn",
    "from_oid",
    "from_public_id",
    "from_uuid",
    "isbn_10",
    "isbn_13",
    "to_isbn",
    "to_oid",
    "to_public_id",
    "to_uuid",
]


def __dir__() -> list[str]:
    return __all__


_Urn = str | bytes | bytearray | memoryview | URN


def _nss(urn: _Urn, nid: str) -> str:
    """Return the NSS of a well-formed URN of one namespace, without components."""
    name = parse(urn, "any")
    if name.nid.lower() != nid:
        raise UrnError(f"expected a URN of the namespace {nid!r}", urn, len("urn:"))
    start = len(f"urn:{nid}:")
    if (name.r_component, name.q_component, name.f_component) != (None, None, None):
        raise UrnError("URN has a component, which the conversion would lose", urn, start + len(name.nss))
    return _well_formed(name.nss, nid, urn, start)


def _well_formed(nss: str, nid: str, given: object, position: int = 0) -> str:
    if not isinstance(nss, str):
        raise TypeError(f"{nid} must be str, got {type(nss).__name__}")
    validate = NAMESPACES[nid].validate
    found = validate(nss) if validate else None
    if found is not True:
        raise UrnError(found if isinstance(found, str) else "not well formed", given, position)
    return nss


# --- public identifiers, RFC 3151 -------------------------------------------------------------------------------------

# Section 2, in the order of its list.
_TRANSCRIBED = {" ": "+", "//": ":", "::": ";"} | {
    character: f"%{ord(character):02X}" for character in ("+", ":", "/", ";", "'", "?", "#", "%")
}
_PUBLIC = {transcribed: plain for plain, transcribed in _TRANSCRIBED.items()}
# XML 1.0: PubidChar ::= #x20 | #xD | #xA | [a-zA-Z0-9] | [-'()+,./:=?;!*#@$_%]; and the tab, which RFC 3151 section 1.1
# has among white space.
_NO_PUBLIC_ID = r"[^ \t\r\na-zA-Z0-9'()+,./:=?;!*#@$_%-]"


def from_public_id(public_id: str) -> str:
    """Convert a public identifier of SGML or XML to a URN. White space is normalized first.

    Raises:
        UrnError: If it contains a character that public identifiers do not allow, or only white space.

    Source: RFC 3151 section 2.

    >>> from_public_id("-//ArborText::prod//DTD Help Document::19970708//EN")
    'urn:publicid:-:ArborText;prod:DTD+Help+Document;19970708:EN'
    """
    if not isinstance(public_id, str):
        raise TypeError(f"public_id must be str, got {type(public_id).__name__}")
    wrong = re.search(_NO_PUBLIC_ID, public_id)
    if wrong:
        raise UrnError("invalid character in public identifier", public_id, wrong.start())
    text = re.sub("[ \t\r\n]+", " ", public_id).strip(" ")
    if not text:
        raise UrnError("public identifier is empty", public_id, 0)
    return "urn:publicid:" + re.sub("//|::|[^0-9A-Za-z]", lambda found: _TRANSCRIBED.get(found[0], found[0]), text)


def to_public_id(urn: _Urn) -> str:
    """Convert a URN to the public identifier that it transcribes.

    Raises:
        UrnError: If the text is not a URN of the namespace publicid, its NSS is not a transcription, or it has
            components.

    Source: RFC 3151 section 2.

    >>> to_public_id("urn:publicid:%2B:IDN+example.org:DTD+XML+Bookmarks+1.0:EN:XML")
    '+//IDN example.org//DTD XML Bookmarks 1.0//EN//XML'
    """
    nss = _nss(urn, "publicid")
    text = re.sub("%..|[+:;]", lambda found: _PUBLIC[found[0].upper()], nss)
    # "%2F:" would decode to "///", whose first two characters transcribe as ":".
    again = from_public_id(text).removeprefix("urn:publicid:")
    if again != re.sub("%..", lambda triplet: triplet[0].upper(), nss):
        raise UrnError("not the transcription of a public identifier (RFC 3151 section 2)", urn, len("urn:publicid:"))
    return text


# --- UUIDs and OIDs ---------------------------------------------------------------------------------------------------


def from_uuid(uuid: UUID) -> str:
    """Convert a UUID to a URN.

    Raises:
        UrnError: If it is neither a UUID nor the text of one.

    Source: RFC 4122 section 3; RFC 9562 section 4.

    >>> from uuid import UUID
    >>> from_uuid(UUID(int=0))
    'urn:uuid:00000000-0000-0000-0000-000000000000'
    """
    return "urn:uuid:" + _well_formed(str(uuid), "uuid", str(uuid))


def to_uuid(urn: _Urn) -> UUID:
    """Convert a URN to the UUID that it contains.

    Raises:
        UrnError: If the text is not a URN of the namespace uuid, its NSS is not a UUID, or it has components.

    Source: RFC 4122 section 3; RFC 9562 section 4.

    >>> to_uuid("urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
    UUID('f81d4fae-7dec-11d0-a765-00a0c91e6bf6')
    """
    # Imported here because this import takes longer than that of the whole package.
    from uuid import UUID

    return UUID(_nss(urn, "uuid"))


def from_oid(oid: str | Iterable[int]) -> str:
    """Convert an object identifier to a URN.

    Args:
        oid (str | Iterable[int]): Its arcs: numbers separated by periods, or integers.

    Raises:
        UrnError: If it is not an object identifier.

    Source: RFC 3061 section 2.

    >>> from_oid((1, 3, 6, 1)), from_oid("0.9.2342")
    ('urn:oid:1.3.6.1', 'urn:oid:0.9.2342')
    """
    text = oid if isinstance(oid, str) else ".".join(map(str, oid))
    return "urn:oid:" + _well_formed(text, "oid", text)


def to_oid(urn: _Urn) -> tuple[int, ...]:
    """Return the arcs of the object identifier that a URN contains.

    Raises:
        UrnError: If the text is not a URN of the namespace oid, its NSS is not an object identifier, or it has
            components.
        ValueError: If an arc has more digits than int() accepts.

    Source: RFC 3061 section 2.

    >>> to_oid("urn:oid:1.3.6.1")
    (1, 3, 6, 1)
    """
    return tuple(map(int, _nss(urn, "oid").split(".")))


# --- ISBNs ------------------------------------------------------------------------------------------------------------


def from_isbn(isbn: str) -> str:
    """Convert an ISBN to a URN, without changing its spelling.

    Args:
        isbn (str): 10 or 13 digits, perhaps with hyphens; the check digit must be correct.

    Raises:
        UrnError: If it is not an ISBN.

    Source: RFC 3187 section 3; ISO 2108.

    >>> from_isbn("0-395-36341-1")
    'urn:isbn:0-395-36341-1'
    """
    return "urn:isbn:" + _well_formed(isbn, "isbn", isbn)


def to_isbn(urn: _Urn) -> str:
    """Return the ISBN that a URN contains, without hyphens.

    Raises:
        UrnError: If the text is not a URN of the namespace isbn, its NSS is not an ISBN, or it has components.

    Source: RFC 3187 section 3; ISO 2108.

    >>> to_isbn("urn:isbn:0-8044-2957-x"), isbn_13(to_isbn("urn:isbn:0-395-36341-1"))
    ('080442957X', '9780395363416')
    """
    return _nss(urn, "isbn").replace("-", "").upper()


def isbn_13(isbn: str) -> str:
    """Convert an ISBN to an ISBN-13, without hyphens.

    Raises:
        UrnError: If it is not an ISBN.

    Source: ISO 2108: 978, the first nine digits, and a check digit by the weights 1 and 3.

    >>> isbn_13("0-395-36341-1"), isbn_13("978-0-395-36341-6")
    ('9780395363416', '9780395363416')
    """
    digits = _well_formed(isbn, "isbn", isbn).replace("-", "")
    if len(digits) == 13:
        return digits
    body = "978" + digits[:9]
    total = sum(map(int, body[::2])) + 3 * sum(map(int, body[1::2]))
    return body + str(-total % 10)


def isbn_10(isbn: str) -> str:
    """Convert an ISBN to an ISBN-10, without hyphens.

    Raises:
        UrnError: If it is not an ISBN, or begins with 979 and so has no ISBN-10.

    Source: ISO 2108: a check digit modulo 11, weights 10 to 1, X for 10.

    >>> isbn_10("978-0-8044-2957-3")
    '080442957X'
    """
    digits = _well_formed(isbn, "isbn", isbn).replace("-", "").upper()
    if len(digits) == 10:
        return digits
    if not digits.startswith("978"):
        raise UrnError("an ISBN that begins with 979 has no ISBN-10", isbn, 0)
    body = digits[3:12]
    total = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), body, strict=True))
    return body + "0123456789X"[-total % 11]
