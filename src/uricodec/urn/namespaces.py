"""URN namespaces, in one table: which URNs of a namespace are equivalent, and which are well formed.

A *rule* states how level "namespace" normalizes the NSS (`RULES`). It only merges URNs that level "8141" distinguishes
(RFC 2141 section 5, RFC 8141 section 3.1). A *validator* checks the form that the registration requires. It is taken
from the text of the registration and absent where that text was not available. A validator returns True (well formed),
a str (what is wrong) or None (the registration does not decide). Those of the registry are compiled (`_forms`).

The rows are in the order of the IANA registry of REGISTRY_DATE. `read` is false if the registration was not read; such
a row has the rule "base" and no validator.

`register_namespace` adds rows at run time. The compiled loops have a copy of the rules and validators
(`_syntax.set_rule`).
"""

import re
from _thread import allocate_lock
from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

from uricodec.errors import UnknownNamespaceError, UrnError
from uricodec.urn._forms import Form
from uricodec.urn._syntax import set_rule

__all__ = [
    "NAMESPACES",
    "REGISTRY_DATE",
    "RULES",
    "Namespace",
    "Validator",
    "lookup",
    "nid_class",
    "register_namespace",
]


def __dir__() -> list[str]:
    return __all__


# The IANA registry "Uniform Resource Names (URN) Namespaces", its <updated>.
REGISTRY_DATE = "2026-03-18"

# Name -> what the rule does to the NSS. To fold is to lower-case ASCII letters; the digits of triplets stay upper case,
# and nothing is decoded.
RULES = MappingProxyType(
    {
        "base": "nothing",
        "nss": "fold all of it",
        "segment": "fold the part before the first colon, or all of it if there is none",
        "hyphen": "fold the part before the first hyphen; nothing if there is none",
        "drop-hyphens": "drop all hyphens except a leading one; x becomes X",
        "except-params": "fold all of it unless it begins with params: in any case",
        "only-ul": "fold all of it if its first segment is ul in any case",
        "imei": "where it begins with imei: in any case, fold all of it and drop parameters ;vers=0",
        "newsml": "fold all of it; drop the Update letter after the RevisionId",
    }
)

Validator = Callable[[str], bool | str | None]


class Namespace(NamedTuple):
    """A row of the table: a namespace and what is known about it."""

    nid: str  # in lower case
    references: tuple[str, ...]  # RFCs; "template": the registration is a page at IANA
    rule: str = "base"  # a key of RULES
    validate: Validator | None = None  # called with the NSS
    read: bool = True  # whether the registration was read


# --- the table --------------------------------------------------------------------------------------------------------


def _row(nid: str, references: str, rule: str = "base", form: bool = False) -> Namespace:
    return Namespace(nid, tuple(references.split()), rule, Form(nid) if form else None)


def _unread(nid: str) -> Namespace:
    return Namespace(nid, ("template",), read=False)


_ROWS = (
    _row("3gpp", "RFC5279"),
    _row("3gpp2", "RFC8464"),
    _row("adid", "RFC8107", "nss", form=True),
    _row("alert", "RFC7462", "nss"),
    _row("bbf", "RFC8057"),
    _row("broadband-forum-org", "RFC8057"),
    _unread("c2pa"),
    _row("cablelabs", "RFC6289"),
    _row("ccsds", "RFC7738", "segment"),
    _unread("cdx"),
    _row("cgi", "RFC5138"),
    _row("clei", "RFC4152", "nss"),
    _unread("csa"),
    _unread("cta"),
    # 3.1: the agency identifier is case-insensitive.
    _row("ddi", "RFC9517", "segment"),
    # 3.2.1: case-sensitive, although two cases of a MAC address are the same device.
    _row("dev", "RFC9039"),
    _row("dgiwg", "RFC6288"),
    _unread("doi"),
    _row("dslforum-org", "RFC8057"),
    _row("dvb", "RFC5328 RFC7354", "nss"),
    _row("ebu", "RFC5174", "segment"),
    _unread("eic"),
    _row("eidr", "RFC7972", "nss"),
    # Called case-sensitive as a whole, which cannot undo that "urn" and the NID are not (RFC 8141 section 3.1).
    _row("epc", "RFC5134"),
    _row("epcglobal", "RFC5134"),
    _row("etsi", "RFC8515", "nss"),
    _row("eurosystem", "RFC7207"),
    _row("example", "RFC6963"),
    _row("fdc", "RFC4198", "segment"),
    _row("fipa", "RFC3616"),
    _unread("gdst"),
    _row("geant", "RFC4926"),
    _row("globus", "RFC7853"),
    # 3: "Two GSMA IMEI URNs are equivalent if [...] the 'vers=0' parameter is to be ignored [...]. All of these
    # comparisons are to be case insensitive." "Only URNs with the 'imei' NSS are considered to be "GSMA IMEI URNs"".
    _row("gsma", "RFC7254", "imei", form=True),
    _unread("gvat"),
    _row("hbbtv", "RFC7528", "nss"),
    _row("ieee", "RFC8069", "nss"),
    # RFC 2648: "The entire URN is case-insensitive."  RFC 3553, of urn:ietf:params: "exact string match".
    _row("ietf", "RFC2648 RFC3553", "except-params", form=True),
    _row("iptc", "RFC3937"),
    # 2: "The ISAN-NSS is case-insensitive."
    _row("isan", "RFC4246", "nss", form=True),
    # RFC 3187 section 3.2: "remove all hyphens, and [...] convert any occurrences of the letter X to upper case". The
    # template of 2017 was not at hand.
    _row("isbn", "template RFC8254 RFC3187", "drop-hyphens", form=True),
    # 2.9: "normalize the case of all elements"
    _row("iso", "RFC5141", "nss", form=True),
    # RFC 3044 section 3.1: "hyphens should be dropped prior to comparison and occurrences of 'x' normalised to
    # uppercase". The template of 2017 was not at hand.
    _row("issn", "template RFC8254 RFC3044", "drop-hyphens", form=True),
    _unread("itu"),
    _row("ivis", "RFC4617", "nss"),
    _unread("knx"),
    _unread("lei"),
    _row("lex", "RFC9676", "nss"),
    _row("liberty", "RFC3622"),
    _row("mace", "RFC3613"),
    _row("mef", "RFC7818", "nss"),
    _unread("meta"),
    _row("mpeg", "RFC3614", "segment"),
    _unread("mrn"),
    _unread("nan"),
    _row("nato", "RFC7467"),
    # 4.2: "The entire prefix is case insensitive", the NBN string: "parsers [...] MUST treat these as case sensitive".
    # Real names without a hyphen (urn:nbn:fi:au:...) do not show where theirs ends.
    _row("nbn", "RFC8458", "hyphen", form=True),
    _row("nena", "RFC6061"),
    # 2: "if the ProviderId, DateId, NewsItemId, and RevisionId are all identical (case-insensitive comparison)".
    _row("newsml", "RFC3085", "newsml", form=True),
    _row("nfc", "RFC4729"),
    _row("nzl", "RFC4350", "nss"),
    _row("oasis", "RFC3121"),
    # 2: ""OGCresource" is case sensitive."
    _row("ogc", "RFC5165", "base", form=True),
    _row("ogf", "RFC6453", "segment"),
    # 2: "Lexical equivalence is achieved by exact string match."
    _row("oid", "RFC3061", "base", form=True),
    _row("oipf", "RFC6893", "nss"),
    _row("oma", "RFC4358"),
    _unread("onem2m"),
    _unread("onf"),
    _row("pin", "RFC3043", "nss"),
    _unread("pno"),
    # 2: "lexically equivalent if and only if they are lexically identical"
    _row("publicid", "RFC3151", "base", form=True),
    _unread("pwid"),
    _unread("reso"),
    _row("s1000d", "RFC4688", "nss"),
    _row("schac", "RFC6338"),
    # 3: "Labels are case-insensitive".
    _row("service", "RFC5031", "nss", form=True),
    # 2: "equivalence of URNs in the "urn:smpte:ul" subnamespace is defined by case-insensitive string match", outside
    # of it "by exact string match".
    _row("smpte", "RFC5119", "only-ul", form=True),
    _unread("stalwart"),
    # 2: "No special consideration."
    _row("swift", "RFC3615"),
    _unread("thread"),
    _row("tva", "RFC4195", "segment"),
    # 2: "The "prefix" is case-insensitive. [...] Remainder of the identifier is case-sensitive."
    _row("uci", "RFC4179", "hyphen", form=True),
    _row("ucode", "RFC6588", "base", form=True),
    _unread("uic"),
    # RFC 4122 section 3: "output as lower case characters and are case insensitive on input".
    _row("uuid", "RFC9562 RFC4122", "nss", form=True),
    _row("web3d", "RFC3541"),
    _unread("wmo"),
    _row("xmlorg", "RFC3120"),
    _row("xmpp", "RFC4854"),
    # Informal.
    _row("urn-7", "RFC6050", "nss"),
)

_namespaces = {row.nid: row for row in _ROWS}
NAMESPACES = MappingProxyType(_namespaces)

_lock = allocate_lock()
for _each in _ROWS:
    set_rule(_each.nid, _each.rule, _each.validate)


# --- lookup and registration ------------------------------------------------------------------------------------


def _lower(nid: str) -> str:
    if not isinstance(nid, str):
        raise TypeError(f"expected str, got {type(nid).__name__}")
    # The Kelvin sign lower-cases to ASCII "k", but it is not allowed in a NID.
    return nid.lower() if nid.isascii() else nid


def lookup(nid: str) -> Namespace:
    """Return what is known about a namespace.

    Args:
        nid (str): The namespace identifier, in any case.

    Returns:
        Namespace: Its row.

    Raises:
        UnknownNamespaceError: If the namespace is unknown.

    >>> lookup("ISBN").references
    ('template', 'RFC8254', 'RFC3187')
    """
    try:
        return _namespaces[_lower(nid)]
    except KeyError:
        raise UnknownNamespaceError(f"unknown URN namespace {nid!r}") from None


def nid_class(nid: str) -> str:
    """Return the kind of a namespace, by the form of its NID and the table.

    Args:
        nid (str): The namespace identifier, in any case.

    Returns:
        str: "informal" (`urn-` and a number), "experimental" (`X-`), "formal" (in the table), "reserved" (RFC 8141 does
            not allow its registration), or "unknown".

    Source: RFC 8141 sections 5.1 and 5.2; RFC 3406 section 3.1.

    >>> [nid_class(nid) for nid in ("uuid", "urn-7", "x-mine", "urn-07", "de-dnb", "mine")]
    ['formal', 'informal', 'experimental', 'reserved', 'reserved', 'unknown']
    """
    nid = _lower(nid)
    if re.fullmatch("urn-[1-9][0-9]*", nid):
        return "informal"
    if nid.startswith("x-"):
        return "experimental"
    if nid in _namespaces:
        return "formal"
    # "It MUST NOT start with "urn-"", "MUST be more than two characters long", and not start "with ALPHA ALPHA "-"";
    # "urn" itself is RFC 2141's.
    return "reserved" if nid == "urn" or re.match(r"urn-|[0-9a-z]{1,2}\Z|[a-z]{2}-", nid) else "unknown"


def register_namespace(
    nid: str,
    rule: str = "base",
    validate: Validator | None = None,
    *,
    references: tuple[str, ...] = (),
    replace: bool = False,
) -> Namespace:
    """Add a namespace at run time.

    It takes effect in all threads for calls that begin later. Keys computed before and after a change of a rule are not
    comparable, so register namespaces first.

    Args:
        nid (str): The namespace identifier.
        rule (str): A key of RULES: which differences are ignored.
        validate (callable): Maps an NSS to True (well formed), a str (what is wrong) or None (unknown).
        references (tuple[str, ...]): Documents that describe the namespace.
        replace (bool): Whether a known namespace may be replaced.

    Raises:
        UrnError: If `nid` is not a NID by RFC 2141 or RFC 8141.
        ValueError: If the rule is unknown, or the namespace is known and `replace` is false.

    Source: RFC 8141 section 3.1: a rule only merges what would be two names without it, which those of RULES do.

    >>> register_namespace("x-doc", "nss", replace=True).rule
    'nss'
    >>> register_namespace("isbn")
    Traceback (most recent call last):
    ...
    ValueError: URN namespace 'isbn' is already registered; pass replace=True to replace it
    """
    accepted = re.match("[0-9A-Za-z][0-9A-Za-z-]{0,31}", nid)
    if accepted is None or accepted.end() < len(nid):
        raise UrnError("invalid NID", nid, accepted.end() if accepted else 0)
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; choose from {', '.join(RULES)}")
    row = Namespace(nid.lower(), tuple(references), rule, validate)
    _lock.acquire()
    try:
        if row.nid in _namespaces and not replace:
            raise ValueError(f"URN namespace {nid!r} is already registered; pass replace=True to replace it")
        set_rule(row.nid, rule, validate)
        _namespaces[row.nid] = row
    finally:
        _lock.release()  # `with` could fail to allocate memory
    return row
