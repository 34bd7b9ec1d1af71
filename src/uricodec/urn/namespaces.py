"""URN namespaces, in one table: which URNs of a namespace are equivalent, and which are well formed.

A *rule* states how level "namespace" normalizes the NSS (`RULES`). It only merges URNs that level "8141" distinguishes
(RFC 2141 section 5, RFC 8141 section 3.1). A *validator* checks the form that the registration requires. It is taken
from the text of the registration and absent where that text was not available. A validator returns True (well formed),
a str (what is wrong) or None (the registration does not decide).

The rows are in the order of the IANA registry of REGISTRY_DATE. `read` is false if the registration was not read; such
a row has the rule "base" and no validator.

`register_namespace` adds rows at run time. The compiled loops have a copy of the rules (`_syntax.set_rule`).
"""

import re
from _thread import allocate_lock
from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

from uricodec.errors import UnknownNamespaceError, UrnError
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


# --- validators -------------------------------------------------------------------------------------------------------


def _form(pattern: str, wrong: str) -> Validator:
    # Compiled on first use, so that imports stay fast. Where an NSS may be long, the pattern repeats single characters:
    # repeating a group takes about 100 bytes for each repetition until the match ends.
    return lambda nss: re.fullmatch(pattern, nss) is not None or wrong


# RFC 4122 section 3: UUID = time-low "-" time-mid "-" time-high-and-version "-" clock-seq-and-reserved
#                            clock-seq-low "-" node;   hexDigit in both cases. Any value: the Nil and Max UUID, too.
_uuid = _form("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "expected 8-4-4-4-12 hexadecimal digits")

# RFC 5031 section 3:
#   service      = top-level *("." sub-service)
#   top-level    = let-dig [ *25let-dig-hyp let-dig ]     sub-service  = let-dig [ *let-dig-hyp let-dig ]
_service = _form(
    "(?![^.]{28})(?![.-])(?!.*([.-][.]|[.]-))[0-9A-Za-z.-]*[0-9A-Za-z]",
    "expected labels of letters, digits and inner hyphens, separated by periods",
)

# RFC 5165 section 2: urn:ogc:{OGCresource}:{ResourceSpecificString}
_ogc = _form("[^:]+:.+", "expected a resource type, a colon and a name")

# RFC 6588: an underscore and 32 or more hexadecimal digits, A to F in upper case.
_ucode = _form("_[0-9A-F]{32,}", 'expected "_" and at least 32 hexadecimal digits in upper case')

# RFC 4179 section 2 (instance and qualifier; a "-" is in "other", too):
#   UCI = prefix "-" instance *1(":" qualifier)
#   prefix = 1*(alphaDigit) *1(":" 1*(alphaDigit)) *1("+" 1*(alphaDigit))
#   qualifier = head 1*(alphaDigit) *2("-" head 1*(alphaDigit))      head = "C" / "R" / "F"
_uci = _form(
    "(?!.*%(?![0-9A-Fa-f]{2}))[0-9A-Za-z]+(:[0-9A-Za-z]+)?([+][0-9A-Za-z]+)?-[0-9A-Za-z()+,.=@;$_!*'%-]+"
    "(:[CRFcrf][0-9A-Za-z]+(-[CRFcrf][0-9A-Za-z]+){0,2})?",
    "expected a prefix code, a hyphen and a content code",
)

# RFC 3085 section 2:
#   NSS = ProviderId ":" DateId ":" NewsItemId ":" RevisionId Update
#   Update = 0*1( "A" / "U" )        RevisionId = posint        "a date in ISO 8601 Basic Format (CCYYMMDD)"
_newsml = _form(
    "[^:]+:[0-9]{4}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01]):[^:]+:[1-9][0-9]*[AUau]?",
    "expected a provider, a date CCYYMMDD, an item and a positive revision, perhaps with A or U, separated by colons",
)

# RFC 3151 section 2: what a transcribed public identifier is made of. "whitespace normalization must be performed
# before": no "+" at the ends, none next to another. Only the characters of the list are written as triplets.
_publicid = _form(
    "(?![+])(?!.*([+][+]|%(?!2[BbFf573]|3[ABFabf])))[0-9A-Za-z()+,.:=;!*@$_%-]+(?<![+])",
    "not the transcription of a public identifier (RFC 3151 section 2)",
)

# RFC 5141 section 2.4.1, without the elements that it leaves open:
#   std-nss       = "std:" docidentifier *supplement *docelement [addition]
#   docidentifier = originator [":" type] ":" docnumber [":" partnumber] [[":" status] ":" edition]
#                   [":" docversion] [":" language]
# Everything after docnumber is optional and open at its end ("isodefined = <unspecified>").
_iso = _form(
    "(?i:std:(iso|iso-iec|iso-cie|iso-astm|iso-ieee|iec)(:(data|guide|isp|iwa|pas|r|tr|ts|tta))?:[0-9]+(:.+)?)",
    "expected std:, an originator, perhaps a type, and a document number",
)


def _adid(nss: str) -> bool | str | None:
    # RFC 8107: a company prefix of four alphanumerics, the first no "0"; seven more; perhaps "H" for the format.
    # Whether other letters may stand there was not read.
    if not re.fullmatch("(?!0)[0-9A-Za-z]{11}[A-Za-z]?", nss):
        return "expected 11 letters or digits, the first one not 0, and perhaps a letter for the format"
    return len(nss) == 11 or nss[-1] in "Hh" or None


def _oid(nss: str) -> bool | str:
    # RFC 3061 section 2:
    #   oid             = number *( DOT number )
    #   number          = DIGIT / ( LEADDIGIT 1*DIGIT )
    if not re.fullmatch(r"(?!0[0-9])(?![.])(?!.*[.]([.]|0[0-9]|\Z))[0-9.]+", nss):
        return "expected numbers without leading zeros, separated by periods"
    # "The top three levels are pre-assigned" 0, 1 and 2; below 0 and 1 stand at most 40 arcs (X.660).
    first, _, rest = nss.partition(".")
    if first not in {"0", "1", "2"}:
        return "the first arc must be 0, 1 or 2"
    second = rest.partition(".")[0]
    if first != "2" and (len(second) > 2 or (second and int(second) > 39)):
        return "the second arc below 0 and 1 must be at most 39"
    return True


def _isbn(nss: str) -> bool | str:
    # RFC 3187 section 3: ten digits, the last one perhaps X, modulus 11; ISO 2108 since 2005: 13 digits, modulus 10.
    # The International ISBN Agency's range message has no group in 979-0: these are ISMNs (ISO 10957:2009).
    if not re.fullmatch("(?!.*--)[0-9]([0-9-]*[0-9])?(-?[Xx])?", nss):
        return "expected digits, perhaps an X at the end, with single hyphens between them"
    digits = [10 if digit in "Xx" else int(digit) for digit in nss.replace("-", "")[:14]]
    if len(digits) == 10:
        right = sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11 == 0
    elif len(digits) == 13 and digits[:4] == [9, 7, 9, 0]:
        return "979-0 is reserved for music (ISMN, ISO 10957); expected 978, or 979 and another digit than 0"
    elif len(digits) == 13 and digits[:3] in ([9, 7, 8], [9, 7, 9]) and digits[-1] < 10:
        right = (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0
    else:
        return "expected 10 digits, or 13 that begin with 978 or 979"
    return right or "wrong check digit"


def _issn(nss: str) -> bool | str:
    # RFC 3044 section 2: seven digits and a check digit modulo 11, weights 8 to 2; "X" is 10.
    if not re.fullmatch("[0-9]{4}-?[0-9]{3}[0-9Xx]", nss):
        return "expected eight digits, the last one perhaps an X, with at most one hyphen in the middle"
    digits = [10 if digit in "Xx" else int(digit) for digit in nss.replace("-", "")]
    return sum(weight * digit for weight, digit in zip(range(8, 0, -1), digits, strict=True)) % 11 == 0 or (
        "wrong check digit"
    )


# The characters of ISO 7064, MOD 37,36, by their values.
_ISO_7064 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _iso_7064_check(digits: str) -> str:
    """Return the check character of ISO 7064, MOD 37,36: the hybrid system that ISO 15706 prescribes for ISANs."""
    product = 36
    for digit in digits:
        product = 2 * ((product + int(digit, 36)) % 36 or 36) % 37
    return _ISO_7064[(1 - product) % 36]


def _isan(nss: str) -> bool | str:
    # RFC 4246 section 3:
    #   <ISAN-NSS>     ::= <root> <episode> [version]
    #   <root>         ::= 3*(<hexnum> "-")              <episode>      ::= <hexnum> "-" <check>
    #   <version>      ::= 2*("-" <hexnum>) "-" <check>  <hexnum>       ::= 4*(<hex>)
    # where, as its examples show, "n*" means exactly n. The second check character is of all 24 digits, without the
    # first one. The check characters of the examples are not those of ISO 15706: 1881-66C7-3420-6541 has Y, with the
    # version 9F3A-0245 then O.
    found = re.fullmatch(
        "((?:[0-9A-Fa-f]{4}-){4})([0-9A-Za-z])(?:-([0-9A-Fa-f]{4}-[0-9A-Fa-f]{4})-([0-9A-Za-z]))?", nss.upper()
    )
    if found is None:
        return "expected four groups of four hexadecimal digits and a check character, perhaps with a version"
    work, check, version, version_check = found.groups()
    digits = work.replace("-", "")
    if check != _iso_7064_check(digits):
        return "wrong check character"
    if version is not None and version_check != _iso_7064_check(digits + version.replace("-", "")):
        return "wrong check character of the version"
    return True


def _ietf(nss: str) -> bool | str | None:
    # RFC 2648 section 2:
    #   NSS = rfc-nss / fyi-nss / std-nss / bcp-nss / draft-nss / mtg-nss / other-nss
    #   rfc-nss = "rfc:" 1*DIGIT      (fyi, std and bcp alike)
    #   draft-nss = "id:" string      mtg-nss = "mtg:" string      string = 1*(DIGIT / ALPHA / "-")
    series, _, name = nss.partition(":")
    series = series.lower()
    if series in {"rfc", "fyi", "std", "bcp"}:
        return re.fullmatch("[0-9]+", name) is not None or f"expected digits after {series}:"
    if series in {"id", "mtg"}:
        return (
            re.fullmatch("[0-9A-Za-z-]+", name) is not None or f"expected letters, digits and hyphens after {series}:"
        )
    return None


def _gsma(nss: str) -> bool | str | None:
    # RFC 7254 section 3 and 4.2:
    #   imei-specifier        = "imei:" ( imeival / ext-imei ) [ ";" sw-version-param ] [ ";" imei-version-param ]
    #   imeival               = tac "-" snr "-" spare        8, 6 and 1 digits
    # "The Spare is always set to zero [...] (including when in the IMEI URN format)". ext-imei is for other versions
    # than 0.
    if not nss.lower().startswith("imei:"):
        return None
    found = re.fullmatch("(?i:imei:([^;]*)(;svn=[0-9]{2})?(;vers=([0-9]))?)", nss)
    if found is None:
        return "expected an IMEI, perhaps ;svn= and two digits, perhaps ;vers= and a digit"
    if found[4] not in {None, "0"}:
        return None
    imei = re.fullmatch("[0-9]{8}-[0-9]{6}-([0-9])", found[1])
    if imei is None:
        return "expected 8, 6 and 1 digits, separated by hyphens"
    return imei[1] == "0" or "the spare digit must be 0"


def _smpte(nss: str) -> bool | str | None:
    # RFC 5119 section 2:
    #   UL-NSS = "ul:" UL     UL = QUADBYTE *(DOT QUADBYTE)     QUADBYTE = 4BYTE     BYTE = 2HEXDIG
    first, _, label = nss.partition(":")
    if first.lower() != "ul":
        return None
    return all(re.fullmatch("[0-9A-Fa-f]{8}", group) for group in label.split(".")) or (
        "expected groups of eight hexadecimal digits, separated by periods"
    )


# The German National Library's check digit: every character of "urn:nbn:de:..." but the last stands for its number, the
# digits of all numbers are weighted by their positions from 1, the sum is divided by the last of the digits, and the
# last digit of the quotient is the check digit.
_DNB = dict(zip("0123456789", (1, 2, 3, 4, 5, 6, 7, 8, 9, 41), strict=True))
_DNB |= dict(zip("abcdefghijklm", (18, 14, 19, 15, 16, 21, 22, 23, 24, 25, 42, 26, 27), strict=True))
_DNB |= dict(zip("nopqrstuvwxyz", (13, 28, 29, 31, 12, 32, 33, 11, 34, 35, 36, 37, 38), strict=True))
_DNB |= {"+": 49, ":": 17, "-": 39, "/": 45, "_": 43, ".": 47}
_DNB_DIGITS = str.maketrans({character: str(number) for character, number in _DNB.items()})


def dnb_check_digit(name: str) -> str | None:
    """Return the check digit that completes "urn:nbn:de:..."; None if a character has no number.

    >>> dnb_check_digit("urn:nbn:de:gbv:089-332175294")
    '5'
    """
    name = name.lower()
    if not _DNB.keys() >= set(name):
        return None
    digits = name.translate(_DNB_DIGITS)
    total = sum(position * int(digit) for position, digit in enumerate(digits, 1))
    return str(total // int(digits[-1]) % 10)


def _nbn(nss: str) -> bool | str | None:
    # RFC 8458 section 4.2:
    #   nbn-nss     = prefix "-" nbn-string       prefix      = iso-cc *( ":" subspc )
    #   iso-cc      = 2ALPHA                      subspc      = 1*(ALPHA / DIGIT)
    #   nbn-string  = path-rootless               (not empty, no "/" first)
    if not re.fullmatch("[A-Za-z]{2}(?![^-]*:[:-])(:[0-9A-Za-z:]+)?-[^/?#][^?#]*", nss):
        return "expected a country code, perhaps sub-namespaces after colons, a hyphen and a name"
    if nss[:3].lower() not in {"de:", "de-"}:
        return True
    # The German National Library gives its own network publications names of 22 digits, without a check digit.
    if re.fullmatch("(?i:de:101:1-)[0-9]{22}", nss):
        return None
    digit = dnb_check_digit("urn:nbn:" + nss[:-1])
    if digit is None:
        return None
    return digit == nss[-1] or "wrong check digit of the German National Library"


# --- the table --------------------------------------------------------------------------------------------------------


def _row(nid: str, references: str, rule: str = "base", validate: Validator | None = None) -> Namespace:
    return Namespace(nid, tuple(references.split()), rule, validate)


def _unread(nid: str) -> Namespace:
    return Namespace(nid, ("template",), read=False)


_ROWS = (
    _row("3gpp", "RFC5279"),
    _row("3gpp2", "RFC8464"),
    _row("adid", "RFC8107", "nss", _adid),
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
    _row("gsma", "RFC7254", "imei", _gsma),
    _unread("gvat"),
    _row("hbbtv", "RFC7528", "nss"),
    _row("ieee", "RFC8069", "nss"),
    # RFC 2648: "The entire URN is case-insensitive."  RFC 3553, of urn:ietf:params: "exact string match".
    _row("ietf", "RFC2648 RFC3553", "except-params", _ietf),
    _row("iptc", "RFC3937"),
    # 2: "The ISAN-NSS is case-insensitive."
    _row("isan", "RFC4246", "nss", _isan),
    # RFC 3187 section 3.2: "remove all hyphens, and [...] convert any occurrences of the letter X to upper case". The
    # template of 2017 was not at hand.
    _row("isbn", "template RFC8254 RFC3187", "drop-hyphens", _isbn),
    # 2.9: "normalize the case of all elements"
    _row("iso", "RFC5141", "nss", _iso),
    # RFC 3044 section 3.1: "hyphens should be dropped prior to comparison and occurrences of 'x' normalised to
    # uppercase". The template of 2017 was not at hand.
    _row("issn", "template RFC8254 RFC3044", "drop-hyphens", _issn),
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
    _row("nbn", "RFC8458", "hyphen", _nbn),
    _row("nena", "RFC6061"),
    # 2: "if the ProviderId, DateId, NewsItemId, and RevisionId are all identical (case-insensitive comparison)".
    _row("newsml", "RFC3085", "newsml", _newsml),
    _row("nfc", "RFC4729"),
    _row("nzl", "RFC4350", "nss"),
    _row("oasis", "RFC3121"),
    # 2: ""OGCresource" is case sensitive."
    _row("ogc", "RFC5165", "base", _ogc),
    _row("ogf", "RFC6453", "segment"),
    # 2: "Lexical equivalence is achieved by exact string match."
    _row("oid", "RFC3061", "base", _oid),
    _row("oipf", "RFC6893", "nss"),
    _row("oma", "RFC4358"),
    _unread("onem2m"),
    _unread("onf"),
    _row("pin", "RFC3043", "nss"),
    _unread("pno"),
    # 2: "lexically equivalent if and only if they are lexically identical"
    _row("publicid", "RFC3151", "base", _publicid),
    _unread("pwid"),
    _unread("reso"),
    _row("s1000d", "RFC4688", "nss"),
    _row("schac", "RFC6338"),
    # 3: "Labels are case-insensitive".
    _row("service", "RFC5031", "nss", _service),
    # 2: "equivalence of URNs in the "urn:smpte:ul" subnamespace is defined by case-insensitive string match", outside
    # of it "by exact string match".
    _row("smpte", "RFC5119", "only-ul", _smpte),
    _unread("stalwart"),
    # 2: "No special consideration."
    _row("swift", "RFC3615"),
    _unread("thread"),
    _row("tva", "RFC4195", "segment"),
    # 2: "The "prefix" is case-insensitive. [...] Remainder of the identifier is case-sensitive."
    _row("uci", "RFC4179", "hyphen", _uci),
    _row("ucode", "RFC6588", "base", _ucode),
    _unread("uic"),
    # RFC 4122 section 3: "output as lower case characters and are case insensitive on input".
    _row("uuid", "RFC9562 RFC4122", "nss", _uuid),
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
    set_rule(_each.nid, _each.rule)


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
        set_rule(row.nid, rule)
        _namespaces[row.nid] = row
    finally:
        _lock.release()  # `with` could fail to allocate memory
    return row
