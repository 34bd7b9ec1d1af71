"""URNs (RFC 2141, RFC 8141): checked, read, compared, found, encoded, displayed.

    from uricodec import urn

What is named here and not defined here is compiled, or lies in `uricodec.urn.namespaces` (rules and validators) or in
`uricodec.urn.conversions` (public identifiers, UUIDs, OIDs, ISBNs, resolver URLs).

>>> equivalent("URN:ISBN:0-395-36341-1", "urn:isbn:0395363411", level="namespace")
True
>>> validate("urn:isbn:0-395-36341-2")
Verdict(ok=False, reason='wrong check digit', nid_class='formal', known=True)
"""

import re
from typing import NamedTuple, overload

from uricodec._codec._triplets import percent_decode, percent_encode
from uricodec.bytesets import RFC2141_NSS
from uricodec.errors import UriError, UrnError
from uricodec.urn import _parse, namespaces
from uricodec.urn._find import TERMINATORS, find
from uricodec.urn._parse import URN, Fault, check, equivalent, is_valid, key, normalize, parse, specs
from uricodec.urn.namespaces import NAMESPACES, lookup, nid_class, register_namespace

__all__ = [
    "NAMESPACES",
    "TERMINATORS",
    "URN",
    "Fault",
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
    "specs",
    "validate",
]

namespaces.subscribe(lambda row: _parse.set_rule(row.nid, _parse.RULE_NUMBERS[row.rule]))

_Octets = bytes | bytearray | memoryview
_Urn = str | _Octets | URN


# --- from names to NSS and back ---------------------------------------------------------------------------------------


@overload
def encode_nss(text: str, reserved: str = "") -> str: ...
@overload
def encode_nss(text: _Octets, reserved: str = "") -> bytes: ...
def encode_nss(text: str | _Octets, reserved: str = "") -> str | bytes:
    """Make the name of some other naming system a Namespace Specific String.

    Args:
        text (str | bytes-like): The name; of a str, its UTF-8.
        reserved (str): ASCII characters that mean something in the namespace and stand in this name for themselves.

    Returns:
        str | bytes: With triplets for everything that is not in the URN character set, for "%", "/", "?" and "#", which
            RFC 2141 reserves, and for `reserved`; bytes for a bytes-like. An empty name gives no NSS.

    Raises:
        UrnError: An byte 0 ("should NEVER be used") or a lone surrogate.
        ValueError: `reserved` is not ASCII.

    Source: RFC 2141 sections 2.2 to 2.4.

    >>> encode_nss("100 % Käse"), encode_nss("a:b", reserved=":")
    ('100%20%25%20K%C3%A4se', 'a%3Ab')
    """
    name = text if isinstance(text, str) else bytes(text)
    zero = name.find("\0") if isinstance(name, str) else name.find(b"\0")
    if zero >= 0:
        raise UrnError("invalid character in text", text, zero)
    try:
        return percent_encode(name, safe=RFC2141_NSS - reserved)
    except UriError as error:
        raise UrnError(error.reason, text, error.position) from None


# What is no part of a NSS in either RFC: RFC 2141's <URN chars> and RFC 8141's NSS, triplets of byte 0 apart.
_NO_NSS = r"[^0-9A-Za-z()+,\-.:=@;$_!*'/?#~&%]|%(?![0-9A-Fa-f]{2})|%00"


@overload
def decode_nss(nss: str) -> str: ...
@overload
def decode_nss(nss: _Octets) -> bytes: ...
def decode_nss(nss: str | _Octets) -> str | bytes:
    """Read the name that a Namespace Specific String stands for. No key: what differs may decode to the same.

    Args:
        nss (str | bytes-like): The NSS.

    Returns:
        str | bytes: The name, decoded once; bytes for a bytes-like.

    Raises:
        UrnError: What is no NSS, a triplet of byte 0, or, in a str, bytes that are not UTF-8.

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
        return percent_decode(nss, invalid="error")
    except UriError as error:
        raise UrnError("invalid UTF-8", nss, error.position) from None


# --- for human eyes ---------------------------------------------------------------------------------------------------


def display(urn: _Urn, canonical: bool = False) -> str:
    """The whole URN for people to read, components included.

    Triplets give way to the characters beyond ASCII for which they stand, if these can be seen: no controls, no blanks,
    nothing that turns the direction of the text. All others stay, so that percent-encoding what is not ASCII gives the
    canonical form again. What is displayed is not a URN.

    Args:
        urn (str | bytes-like | URN): The URN, by RFC 8141 or else by RFC 2141.
        canonical (bool): Give the form that can be transcribed: all triplets stay.

    Raises:
        UrnError: It is no URN.

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


# --- what a namespace says --------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What is known of a name beyond its syntax."""

    ok: bool | None  # None: nobody can say
    reason: str  # why not True; "" if it is
    nid_class: str  # "formal", "informal", "experimental", "reserved" or "unknown"
    known: bool  # whether the namespace is in NAMESPACES


def validate(urn: _Urn) -> Verdict:
    """What the registration of its namespace says of a URN, apart from syntax.

    Args:
        urn (str | bytes-like | URN): The URN, by RFC 8141 or else by RFC 2141.

    Returns:
        Verdict: ok is True if the name has the form that the registration demands, its check digit included; False if
            not, `reason` being the fault; None if nothing is known, `reason` being why.

    Raises:
        UrnError: It is no URN.

    Source: the registrations, RFC 8141 section 5; see `uricodec.urn.namespaces`.

    >>> validate("urn:issn:1046-8188").ok, validate("urn:issn:1046-8189").ok, validate("urn:swift:a").ok
    (True, False, None)
    >>> validate("urn:de-x:a")  # doctest: +NORMALIZE_WHITESPACE
    Verdict(ok=None, reason='a NID reserved for country codes (RFC 8141 section 5.1)',
            nid_class='reserved', known=False)
    """
    name = parse(urn, "any")
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
