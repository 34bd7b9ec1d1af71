"""The forms that registrations require of an NSS, as regular expressions: the reference of `urn.validate`.

Each returns True (well formed), what is wrong, or None (the registration does not decide).
"""

import re

from reference import urn as naive_urn


def form(pattern, wrong):
    # Where an NSS may be long, the pattern repeats single characters: repeating a group takes about 100 bytes for each
    # repetition until the match ends.
    return lambda nss: re.fullmatch(pattern, nss) is not None or wrong


# RFC 4122 section 3: UUID = time-low "-" time-mid "-" time-high-and-version "-" clock-seq-and-reserved
#                            clock-seq-low "-" node;   hexDigit in both cases. Any value: the Nil and Max UUID, too.
uuid = form("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "expected 8-4-4-4-12 hexadecimal digits")

# RFC 5031 section 3:
#   service      = top-level *("." sub-service)
#   top-level    = let-dig [ *25let-dig-hyp let-dig ]     sub-service  = let-dig [ *let-dig-hyp let-dig ]
service = form(
    "(?![^.]{28})(?![.-])(?!.*([.-][.]|[.]-))[0-9A-Za-z.-]*[0-9A-Za-z]",
    "expected labels of letters, digits and inner hyphens, separated by periods",
)

# RFC 5165 section 2: urn:ogc:{OGCresource}:{ResourceSpecificString}
ogc = form("[^:]+:.+", "expected a resource type, a colon and a name")

# RFC 6588: an underscore and 32 or more hexadecimal digits, A to F in upper case.
ucode = form("_[0-9A-F]{32,}", 'expected "_" and at least 32 hexadecimal digits in upper case')

# RFC 4179 section 2 (instance and qualifier; a "-" is in "other", too):
#   UCI = prefix "-" instance *1(":" qualifier)
#   prefix = 1*(alphaDigit) *1(":" 1*(alphaDigit)) *1("+" 1*(alphaDigit))
#   qualifier = head 1*(alphaDigit) *2("-" head 1*(alphaDigit))      head = "C" / "R" / "F"
uci = form(
    "(?!.*%(?![0-9A-Fa-f]{2}))[0-9A-Za-z]+(:[0-9A-Za-z]+)?([+][0-9A-Za-z]+)?-[0-9A-Za-z()+,.=@;$_!*'%-]+"
    "(:[CRFcrf][0-9A-Za-z]+(-[CRFcrf][0-9A-Za-z]+){0,2})?",
    "expected a prefix code, a hyphen and a content code",
)

# RFC 3085 section 2:
#   NSS = ProviderId ":" DateId ":" NewsItemId ":" RevisionId Update
#   Update = 0*1( "A" / "U" )        RevisionId = posint        "a date in ISO 8601 Basic Format (CCYYMMDD)"
newsml = form(
    "[^:]+:[0-9]{4}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01]):[^:]+:[1-9][0-9]*[AUau]?",
    "expected a provider, a date CCYYMMDD, an item and a positive revision, perhaps with A or U, separated by colons",
)

# RFC 3151 section 2: what a transcribed public identifier is made of. "whitespace normalization must be performed
# before": no "+" at the ends, none next to another. Only the characters of the list are written as triplets.
publicid = form(
    "(?![+])(?!.*([+][+]|%(?!2[BbFf573]|3[ABFabf])))[0-9A-Za-z()+,.:=;!*@$_%-]+(?<![+])",
    "not the transcription of a public identifier (RFC 3151 section 2)",
)

# RFC 5141 section 2.4.1, without the elements that it leaves open:
#   std-nss       = "std:" docidentifier *supplement *docelement [addition]
#   docidentifier = originator [":" type] ":" docnumber [":" partnumber] [[":" status] ":" edition]
#                   [":" docversion] [":" language]
# Everything after docnumber is optional and open at its end ("isodefined = <unspecified>").
iso = form(
    "(?i:std:(iso|iso-iec|iso-cie|iso-astm|iso-ieee|iec)(:(data|guide|isp|iwa|pas|r|tr|ts|tta))?:[0-9]+(:.+)?)",
    "expected std:, an originator, perhaps a type, and a document number",
)


def adid(nss):
    # RFC 8107: a company prefix of four alphanumerics, the first no "0"; seven more; perhaps "H" for the format.
    # Whether other letters may stand there was not read.
    if not re.fullmatch("(?!0)[0-9A-Za-z]{11}[A-Za-z]?", nss):
        return "expected 11 letters or digits, the first one not 0, and perhaps a letter for the format"
    return len(nss) == 11 or nss[-1] in "Hh" or None


def oid(nss):
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


def isbn(nss):
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


def issn(nss):
    # RFC 3044 section 2: seven digits and a check digit modulo 11, weights 8 to 2; "X" is 10.
    if not re.fullmatch("[0-9]{4}-?[0-9]{3}[0-9Xx]", nss):
        return "expected eight digits, the last one perhaps an X, with at most one hyphen in the middle"
    digits = [10 if digit in "Xx" else int(digit) for digit in nss.replace("-", "")]
    return sum(weight * digit for weight, digit in zip(range(8, 0, -1), digits, strict=True)) % 11 == 0 or (
        "wrong check digit"
    )


# The characters of ISO 7064, MOD 37,36, by their values.
ISO_7064 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def iso_7064_check(digits):
    """Return the check character of ISO 7064, MOD 37,36: the hybrid system that ISO 15706 prescribes for ISANs."""
    product = 36
    for digit in digits:
        product = 2 * ((product + int(digit, 36)) % 36 or 36) % 37
    return ISO_7064[(1 - product) % 36]


def isan(nss):
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
    if check != iso_7064_check(digits):
        return "wrong check character"
    if version is not None and version_check != iso_7064_check(digits + version.replace("-", "")):
        return "wrong check character of the version"
    return True


def ietf(nss):
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


def gsma(nss):
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


def smpte(nss):
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
DNB = dict(zip("0123456789", (1, 2, 3, 4, 5, 6, 7, 8, 9, 41), strict=True))
DNB |= dict(zip("abcdefghijklm", (18, 14, 19, 15, 16, 21, 22, 23, 24, 25, 42, 26, 27), strict=True))
DNB |= dict(zip("nopqrstuvwxyz", (13, 28, 29, 31, 12, 32, 33, 11, 34, 35, 36, 37, 38), strict=True))
DNB |= {"+": 49, ":": 17, "-": 39, "/": 45, "_": 43, ".": 47}
DNB_DIGITS = str.maketrans({character: str(number) for character, number in DNB.items()})


def dnb_check_digit(name):
    """Return the check digit that completes "urn:nbn:de:..."; None if a character has no number."""
    name = name.lower()
    if not DNB.keys() >= set(name):
        return None
    digits = name.translate(DNB_DIGITS)
    total = sum(position * int(digit) for position, digit in enumerate(digits, 1))
    return str(total // int(digits[-1]) % 10)


def nbn(nss):
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


FORMS = {
    **{"adid": adid, "gsma": gsma, "ietf": ietf, "isan": isan, "isbn": isbn, "iso": iso, "issn": issn, "nbn": nbn},
    **{"newsml": newsml, "ogc": ogc, "oid": oid, "publicid": publicid, "service": service, "smpte": smpte, "uci": uci},
    **{"ucode": ucode, "uuid": uuid},
}


def fault_of(urn, rfc="8141"):
    """Why a text is not a URN that is valid in its namespace, as far as the registrations say; None if it is."""
    fault = naive_urn.check(urn, rfc)
    if fault is not None:
        return fault
    found = naive_urn.parse(urn, rfc)
    nid, start = found.nid.lower(), len("urn:" + found.nid + ":")
    if re.match("urn-(?![1-9][0-9]*$)", nid):
        return naive_urn.Fault("nid-informal", 8)
    wrong = FORMS[nid](found.nss) if nid in FORMS else None
    if not isinstance(wrong, str):
        return None
    if not wrong.startswith("wrong check"):
        return naive_urn.Fault("form", start)
    place = 20 if wrong == "wrong check character" else len(found.nss) - 1
    return naive_urn.Fault("check-digit", start + place)
