"""URNs (RFC 2141, RFC 8141): check, parse, normalize, compare, find, encode and display them.

Rules and validators of namespaces are in `uricodec.urn.namespaces`, conversions (of public identifiers, UUIDs, OIDs and
ISBNs) in `uricodec.urn.conversions`.

>>> from uricodec import urn
>>> urn.equivalent("URN:ISBN:0-395-36341-1", "urn:isbn:0395363411", level="namespace")
True
>>> urn.validate("urn:isbn:0-395-36341-2")
Verdict(ok=False, reason='wrong check digit', nid_class='formal', known=True)
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, overload

from uricodec._base.diagnostics import Diagnostic
from uricodec._codec._triplets import percent_decode, percent_encode
from uricodec.bytesets import RFC2141_NSS
from uricodec.errors import UriError, UrnError
from uricodec.urn._parse import TERMINATORS, URN, check, equivalent, find, is_valid, key, normalize, parse, rfcs
from uricodec.urn.namespaces import NAMESPACES, lookup, nid_class, register_namespace

if TYPE_CHECKING:
    from uricodec.typing import UrnRfc
    from uricodec.urn import conversions as conversions

__all__ = [
    "NAMESPACES",
    "TERMINATORS",
    "URN",
    "Diagnostic",
    "Verdict",
    "check",
    "decode_nss",
    "display",
    "encode_nss",
    "equivalent",
    "find",
    "is_valid",
    "key",
    "lookup",
    "nid_class",
    "normalize",
    "parse",
    "register_namespace",
    "rfcs",
    "validate",
]


if not TYPE_CHECKING:

    def __getattr__(name):
        if name == "conversions":  # imported on first use
            return import_module("uricodec.urn.conversions")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "conversions", "namespaces"]


_BytesLike = bytes | bytearray | memoryview
_Urn = str | _BytesLike | URN


# --- encoding an NSS ---------------------------------------------------------------------------------------


@overload
def encode_nss(text: str, reserved: str = "") -> str: ...
@overload
def encode_nss(text: _BytesLike, reserved: str = "") -> bytes: ...
def encode_nss(text: str | _BytesLike, reserved: str = "") -> str | bytes:
    """Encode an identifier of another naming system as a Namespace Specific String (NSS).

    Args:
        text (str | bytes-like): The identifier; a str is encoded as UTF-8.
        reserved (str): ASCII characters that are delimiters in the namespace, but data in this identifier.

    Returns:
        str | bytes: The NSS, bytes for a bytes-like object. Percent-encoded are all bytes outside the URN character
            set, "%", "/", "?" and "#", which RFC 2141 reserves, and `reserved`. Empty text gives an empty result, which
            is not a valid NSS.

    Raises:
        UrnError: If the text contains U+0000 ("should NEVER be used") or a lone surrogate.
        ValueError: If `reserved` is not ASCII.

    Source: RFC 2141 sections 2.2 to 2.4.

    >>> encode_nss("100 % Käse"), encode_nss("a:b", reserved=":")
    ('100%20%25%20K%C3%A4se', 'a%3Ab')
    """
    name = text if isinstance(text, str) else bytes(memoryview(text))
    zero = name.find("\0") if isinstance(name, str) else name.find(b"\0")
    if zero >= 0:
        raise UrnError("invalid character in text", text, zero)
    try:
        return percent_encode(name, safe=RFC2141_NSS - reserved)
    except UriError as error:
        raise UrnError(error.reason, text, error.offset) from None


# What neither RFC allows in an NSS (RFC 2141's <URN chars>, RFC 8141's NSS), and "%00".
_NO_NSS = r"[^0-9A-Za-z()+,\-.:=@;$_!*'/?#~&%]|%(?![0-9A-Fa-f]{2})|%00"


@overload
def decode_nss(nss: str) -> str: ...
@overload
def decode_nss(nss: _BytesLike) -> bytes: ...
def decode_nss(nss: str | _BytesLike) -> str | bytes:
    """Decode a Namespace Specific String (NSS). Do not compare URNs by it: different URNs may decode to the same text.

    Args:
        nss (str | bytes-like): The NSS.

    Returns:
        str | bytes: The text, decoded once; bytes for a bytes-like object. Empty text gives an empty result.

    Raises:
        UrnError: If the text is not an NSS, contains "%00", or, for a str, does not decode to UTF-8.

    Source: RFC 2141 section 2.2; RFC 8141 section 2.2.

    >>> decode_nss("100%20%25%20K%C3%A4se")
    '100 % Käse'
    >>> decode_nss("%C3")
    Traceback (most recent call last):
    uricodec.errors.UrnError: invalid UTF-8 at offset 0
    """
    fault = re.search(_NO_NSS, nss) if isinstance(nss, str) else re.search(_NO_NSS.encode(), nss)
    if fault:
        reasons = {"%00": '"%00" is not allowed', "%": '"%" not followed by two hexadecimal digits'}
        wrong = fault[0] if isinstance(fault[0], str) else fault[0].decode("latin-1")
        raise UrnError(reasons.get(wrong, "invalid character in NSS"), nss, fault.start())
    try:
        return percent_decode(nss, errors="raise")
    except UriError as error:
        raise UrnError("invalid UTF-8", nss, error.offset) from None


# --- display ---------------------------------------------------------------------------------------------------


def display(urn: _Urn, canonical: bool = False) -> str:
    """Return a URN as text for people to read, including its components.

    Triplets of printable characters beyond ASCII are decoded: not those of controls, blanks, and characters that change
    the direction of text. All other triplets stay, so percent-encoding all non-ASCII characters gives the canonical
    form again. If one was decoded, the result is not a URN.

    Args:
        urn (str | bytes-like | URN): The URN, valid by RFC 8141 or by RFC 2141.
        canonical (bool): Return the form that can be transcribed, with all triplets.

    Raises:
        UrnError: If the text is not a URN.

    Source: RFC 8141 section 4.4; RFC 2141 section 4.

    >>> display("URN:Example:K%c3%a4se%2c%20%E2%80%AE")
    'urn:example:Käse%2C%20%E2%80%AE'
    >>> display("URN:Example:K%c3%a4se%2c%20%E2%80%AE", canonical=True)
    'urn:example:K%C3%A4se%2C%20%E2%80%AE'
    """
    form = key(urn, "2141", "any")
    text = form if isinstance(form, str) else form.decode("ascii")
    return text if canonical else re.sub("(?:%[89A-F][0-9A-F])+", _shown, text)


def _shown(triplets: re.Match[str]) -> str:
    text = bytes.fromhex(triplets[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        character if character.isprintable() else percent_encode(character.encode("utf-8", "surrogateescape")).decode()
        for character in text
    )


# --- validation by namespace ------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """The result of checking a URN by the rules of its namespace."""

    ok: bool | None  # None: unknown
    reason: str  # why ok is not True; "" if it is
    nid_class: str  # "formal", "informal", "experimental", "reserved" or "unknown"
    known: bool  # whether the namespace is in NAMESPACES


def validate(urn: _Urn, rfc: UrnRfc = "8141") -> Verdict:
    """Check a URN by the registration of its namespace, beyond its syntax.

    Args:
        urn (str | bytes-like | URN): The URN.
        rfc (str): The RFC by which it is a URN: "2141", "8141", or "any", as in `check`.

    Returns:
        Verdict: ok is True if the URN has the form that the registration requires, including its check digit; False if
            it does not, with the fault as `reason`; None if that is unknown, with the cause as `reason`.

    Raises:
        UrnError: If the text is not a URN by that RFC: if `check` finds a fault.
        ValueError: If the RFC is unknown.

    Source: the registrations, RFC 8141 section 5; see `uricodec.urn.namespaces`.

    >>> validate("urn:issn:1046-8188").ok, validate("urn:issn:1046-8189").ok, validate("urn:swift:a").ok
    (True, False, None)
    >>> validate("urn:de-x:a")  # doctest: +NORMALIZE_WHITESPACE
    Verdict(ok=None, reason='a NID reserved for country codes (RFC 8141 section 5.1)',
            nid_class='reserved', known=False)
    """
    name = parse(urn, rfc)
    nid = name.nid.lower()
    kind = nid_class(nid)
    row = NAMESPACES.get(nid)
    if row is None:
        ok, reason = _of_unknown(nid, kind)
    elif row.validate is None:
        ok, reason = None, "the registration defines no form" if row.read else "the registration was not read"
    else:
        found = row.validate(name.nss)
        if isinstance(found, str):
            ok, reason = False, found
        else:
            ok, reason = found, {True: "", False: "not well formed", None: "the registration does not decide"}[found]
    return Verdict(ok, reason, kind, row is not None)


def _of_unknown(nid: str, kind: str) -> tuple[bool | None, str]:
    if kind == "informal":
        return None, "an informal namespace without known rules"
    if kind != "reserved":
        return None, f"an {kind} namespace"
    if nid.startswith("urn-"):
        return False, 'expected a number without leading zeros after "urn-" (RFC 8141 section 5.2)'
    if nid == "urn":
        return None, 'the NID "urn" is reserved (RFC 2141 section 2.1)'
    if len(nid) <= 2:
        return None, "NIDs of fewer than three characters cannot be registered (RFC 8141 section 5.1)"
    what = "strings like A-labels" if nid[3:4] == "-" else "country codes"
    return None, f"a NID reserved for {what} (RFC 8141 section 5.1)"
