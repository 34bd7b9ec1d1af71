"""The reference implementations of `urn`: grammars as regular expressions, the rest as str methods.

Octets are looked at as text of one character each (Latin-1), so that a position is an index in both.
"""

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from reference.errors import UrnError

LEVELS = ["bytes", "2141", "8141", "namespace", "functional"]
RFCS = ["2141", "8141"]


class Fault(NamedTuple):
    code: str
    offset: int


class Parts(NamedTuple):
    nid: str
    nss: str
    r: str | None
    q: str | None
    f: str | None
    rfc: str


# --- grammar ----------------------------------------------------------------------------------------------------------

# "urn" is case-insensitive in both (RFC 2141 section 2; RFC 8141 section 2, over RFC 3986 section 3.1).
SCHEME = "[Uu][Rr][Nn]:"
LET_NUM = "[A-Za-z0-9]"
LET_NUM_HYP = "[A-Za-z0-9-]"
HEX = "[0-9A-Fa-f]"

# RFC 2141 section 2:
#   <URN> ::= "urn:" <NID> ":" <NSS>
#   <NID>         ::= <let-num> [ 1,31<let-num-hyp> ]       "the NID "urn" is reserved and MUST NOT be used"
#   <NSS>         ::= 1*<URN chars>
#   <URN chars>   ::= <trans> | "%" <hex> <hex>
#   <trans>       ::= <upper> | <lower> | <number> | <other> | <reserved>
#   <other>       ::= "(" | ")" | "+" | "," | "-" | "." | ":" | "=" | "@" | ";" | "$" | "_" | "!" | "*" | "'"
#   <reserved>    ::= '%" | "/" | "?" | "#"                 "%" "MUST be followed by two characters from the <hex>"
# 2.4: "octet 0 (0 hex) should NEVER be used, in either unencoded or %-encoded form."
URN_CHARS = rf"(?:[A-Za-z0-9()+,\-.:=@;$_!*'/?#]|%(?!00){HEX}{{2}})"
RFC2141 = rf"{SCHEME}(?!{SCHEME})(?P<nid>{LET_NUM}{LET_NUM_HYP}{{0,31}}):(?P<nss>{URN_CHARS}+)"

# RFC 8141 section 2:
#   namestring    = assigned-name [ rq-components ] [ "#" f-component ]
#   assigned-name = "urn" ":" NID ":" NSS
#   NID           = (alphanum) 0*30(ldh) (alphanum)
#   NSS           = pchar *(pchar / "/")
#   rq-components = [ "?+" r-component ] [ "?=" q-component ]
#   r-component   = pchar *( pchar / "/" / "?" )            2.3.1: it "ends with a "?=" sequence [...] or a "#""
#   q-component   = pchar *( pchar / "/" / "?" )
#   f-component   = fragment
# RFC 3986:
#   fragment      = *( pchar / "/" / "?" )
#   pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
PCHAR = rf"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%{HEX}{{2}})"
NSS = rf"(?:{PCHAR}|/)*"
R_COMPONENT = rf"(?:{PCHAR}|/|\?(?!=))*"
Q_COMPONENT = rf"(?:{PCHAR}|[/?])*"
F_COMPONENT = Q_COMPONENT
FIRST = f"(?={PCHAR})"
RFC8141 = (
    rf"{SCHEME}(?P<nid>{LET_NUM}{LET_NUM_HYP}{{0,30}}{LET_NUM}):(?P<nss>{FIRST}{NSS})"
    rf"(?:\?\+(?P<r>{FIRST}{R_COMPONENT}))?(?:\?=(?P<q>{FIRST}{Q_COMPONENT}))?(?:#(?P<f>{F_COMPONENT}))?"
)
GRAMMAR = {"2141": re.compile(RFC2141), "8141": re.compile(RFC8141)}


def as_text(urn):
    return urn if isinstance(urn, str) else bytes(urn).decode("latin-1")


def is_valid(urn, rfc="8141"):
    return bool(rfcs(urn)) if rfc == "any" else GRAMMAR[rfc].fullmatch(as_text(urn)) is not None


def rfcs(urn):
    return tuple(rfc for rfc in RFCS if is_valid(urn, rfc))


def parse(urn, rfc="8141"):
    if rfc == "any":
        rfc = "8141" if is_valid(urn, "8141") or not is_valid(urn, "2141") else "2141"
    match = GRAMMAR[rfc].fullmatch(as_text(urn))
    if match is None:
        raise UrnError(*rejection(urn, rfc))
    found = match.groupdict()
    return Parts(found["nid"], found["nss"], found.get("r"), found.get("q"), found.get("f"), rfc)


def rejection(urn, rfc):
    code, offset = check(urn, rfc)
    return code, urn, offset


# --- the first fault --------------------------------------------------------------------------------------------------


def check(urn, rfc="8141"):
    """The first fault, from left to right, None if there is none. A NID begins with a hyphen, is too long, ends with
    what is no octet of one or with a hyphen, or is too short: of these, whatever comes first."""
    if rfc == "any":
        return None if is_valid(urn, "any") else check(urn, "8141")
    text = as_text(urn)
    for i, letters in enumerate(["uU", "rR", "nN", ":"]):
        if i == len(text) or text[i] not in letters:
            return Fault("scheme", i)
    end = end_of(f"{LET_NUM_HYP}*", text, 4)
    fault = check_nid(text[4:end], text[end : end + 1], rfc)
    if fault is not None:
        return fault
    return check_nss_2141(text, end + 1) if rfc == "2141" else check_nss_8141(text, end + 1)


def check_nid(nid, behind, rfc):
    end = 4 + len(nid)
    faults = [
        (nid.startswith("-"), "nid-hyphen", 4),
        (len(nid) > 32, "nid-length", 4 + 32),
        (behind != ":", "nid", end),
        (nid.endswith("-") and rfc == "8141", "nid-hyphen", end - 1),
        (len(nid) < {"2141": 1, "8141": 2}[rfc], "nid-length", end),
        (nid.lower() == "urn" and rfc == "2141", "nid-urn", 4),
    ]
    return next((Fault(code, offset) for applies, code, offset in faults if applies), None)


def end_of(pattern, text, start):
    return re.compile(pattern).match(text, start).end()


def bad_octet(code, text, position, rfc):
    if text[position] != "%":
        return Fault(code, position)
    null = rfc == "2141" and text[position + 1 : position + 3] == "00"
    return Fault("percent-null" if null else "percent", position)


def check_nss_2141(text, start):
    end = end_of(f"{URN_CHARS}*", text, start)
    if start == len(text):
        return Fault("nss-empty", start)
    return None if end == len(text) else bad_octet("nss", text, end, "2141")


def check_nss_8141(text, start):
    """The NSS, then the components; each ends where one of its own octets cannot stand."""
    if text[start : start + 1] in {"", "?", "#"}:
        return Fault("nss-empty", start)
    if text[start] == "/":
        return Fault("nss", start)
    end = end_of(NSS, text, start)
    if end < len(text) and text[end] not in "?#":
        return bad_octet("nss", text, end, "8141")
    for introducer, component in ("?+", R_COMPONENT), ("?=", Q_COMPONENT):
        if text.startswith(introducer, end):
            start = end + 2
            if text[start : start + 1] in {"", "#"} or (introducer == "?+" and text.startswith("?=", start)):
                return Fault("component-empty", start)
            if text[start] in "/?":
                return Fault("component", start)
            end = end_of(component, text, start)
    if text.startswith("#", end):
        end = end_of(F_COMPONENT, text, end + 1)
    return None if end == len(text) else bad_octet("component", text, end, "8141")


# --- normal forms -----------------------------------------------------------------------------------------------------


def rules():
    """NID -> rule, by the table of the registrations (tests/data/urn_namespaces.tsv)."""
    lines = Path(__file__).parents[1].joinpath("data", "urn_namespaces.tsv").read_text("utf-8").splitlines()
    return {row[0]: row[2] for row in (line.split("\t") for line in lines[1:])}


RULES = rules()


def upper_triplets(text):
    return re.sub(f"%{HEX}{{2}}", lambda triplet: triplet[0].upper(), text)


def fold(text):
    """ASCII letters to lower case, but for the digits of triplets."""
    return re.sub("%..|[A-Z]", lambda found: found[0] if found[0][0] == "%" else found[0].lower(), text)


def fold_to(delimiter, nss):
    """Fold what stands before the first delimiter; without one, everything."""
    head, found, tail = nss.partition(delimiter)
    return fold(head) + found + tail


def fold_prefix(nss):
    """RFC 8458, RFC 4179: a prefix, a hyphen and the rest; without a hyphen nobody says where the prefix ends."""
    return fold_to("-", nss) if "-" in nss else nss


def drop_hyphens(nss):
    """RFC 3187, RFC 3044. The first octet stays, even a hyphen: without it the NSS could be empty or begin with "/"."""
    return nss[0].replace("x", "X") + re.sub("%..|[-x]", lambda f: {"-": "", "x": "X"}.get(f[0], f[0]), nss[1:])


def fold_but_params(nss):
    """RFC 2648 section 2 folds everything, RFC 3553 section 3 nothing."""
    return nss if nss.lower().startswith("params:") else fold(nss)


def fold_ul(nss):
    """RFC 5119: only universal labels, "urn:smpte:ul:"."""
    return fold(nss) if nss.partition(":")[0].lower() == "ul" else nss


def drop_version_0(nss):
    """RFC 7254, of "GSMA IMEI URNs" alone: case-insensitive, and "the 'vers=0' parameter is to be ignored"."""
    if not nss.lower().startswith("imei:"):
        return nss
    first, *parameters = fold(nss).split(";")
    return ";".join([first, *(parameter for parameter in parameters if parameter != "vers=0")])


def drop_update(nss):
    """RFC 3085: of ProviderId:DateId:NewsItemId:RevisionId, Update, the last is not compared."""
    return re.sub("^([^:]*:[^:]*:[^:]*:[1-9][0-9]*)[au]$", r"\1", fold(nss))


RULE = {
    "base": lambda nss: nss,
    "nss-fold": fold,
    "uuid": fold,
    "seg1-fold": lambda nss: fold_to(":", nss),
    "nbn": fold_prefix,
    "uci": fold_prefix,
    "isbn": drop_hyphens,
    "issn": drop_hyphens,
    "ietf": fold_but_params,
    "smpte": fold_ul,
    "imei": drop_version_0,
    "newsml": drop_update,
}


def isbn_13(nss):
    """ISO 2108: the first nine digits of a right ISBN-10 behind 978, and a check digit by weights 1 and 3."""
    if not re.fullmatch("[0-9]{9}[0-9X]", nss):
        return nss
    digits = [10 if digit == "X" else int(digit) for digit in nss]
    if sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11:
        return nss
    body = "978" + nss[:9]
    total = sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(body))
    return body + str(-total % 10)


def normalize(urn, level="8141", rfc=None):
    nid, nss, *_, rfc = parse(urn, rfc or ("2141" if level == "2141" else "8141"))
    text = as_text(urn)
    if level != "bytes":
        behind_nid = text[len("urn:") + len(nid) + 1 :]
        text = f"urn:{nid.lower()}:{upper_triplets(behind_nid)}"
    if level in LEVELS[2:]:
        nss = upper_triplets(nss)
        if level in LEVELS[3:]:
            nss = RULE[RULES.get(nid.lower(), "base")](nss)
        if level == "functional" and nid.lower() == "isbn":
            nss = isbn_13(nss)
        text = f"urn:{nid.lower()}:{nss}"
    return text if isinstance(urn, str) else text.encode("ascii")


key = normalize


def equivalent(a, b, level="8141", rfc=None):
    return as_text(key(a, level, rfc)) == as_text(key(b, level, rfc))


# --- the octets of names ----------------------------------------------------------------------------------------------

UNRESERVED = {octet for octet in range(256) if re.fullmatch(r"[A-Za-z0-9()+,\-.:=@;$_!*']", chr(octet))}


def encode_nss(text, reserved=""):
    """RFC 2141 section 2.2; "%", "/", "?" and "#" by 2.3, as are the namespace's own reserved characters."""
    octets = text.encode() if isinstance(text, str) else bytes(text)
    if 0 in octets:
        raise UrnError("null", text, text.index("\0" if isinstance(text, str) else 0))
    kept = UNRESERVED - set(reserved.encode())
    nss = "".join(chr(octet) if octet in kept else f"%{octet:02X}" for octet in octets)
    return nss if isinstance(text, str) else nss.encode()


def decode_nss(nss):
    text = as_text(nss)
    malformed = re.search(rf"[^A-Za-z0-9()+,\-.:=@;$_!*'/?#~&%]|%(?!{HEX}{{2}})|%00", text)
    if malformed:
        raise UrnError("no NSS", nss, malformed.start())
    octets = re.sub(rb"%(..)", lambda triplet: bytes.fromhex(triplet[1].decode()), text.encode("ascii"))
    return octets.decode() if isinstance(nss, str) else octets


def display(urn):
    """RFC 8141 section 4.4: printable characters beyond ASCII in place of their triplets; the rest by level 2141."""
    text = as_text(normalize(urn, "2141", "any"))
    return re.sub(f"(?:%[89A-F]{HEX})+", lambda triplets: shown(triplets[0]), text)


def shown(triplets):
    octets = bytes.fromhex(triplets.replace("%", ""))
    text = ""
    while octets:
        # At most one of the lengths is that of a character in UTF-8.
        for size in 2, 3, 4:
            try:
                character = octets[:size].decode()
            except UnicodeDecodeError:
                continue
            if len(character) == 1 and unicodedata.category(character)[0] not in "CZ":
                text += character
                octets = octets[size:]
                break
        else:
            text += f"%{octets[0]:02X}"
            octets = octets[1:]
    return text


# --- scanning ---------------------------------------------------------------------------------------------------------

# RFC 2141 section 2.4:
#   <excluded> ::= octets 1-32 (1-20 hex) | "\" | """ | "&" | "<" | ">" | "[" | "]" | "^" | "`" | "{" | "|" | "}" | "~"
#                  | octets 127-255 (7F-FF hex)
# "In addition, octet 0 (0 hex) should NEVER be used".
TERMINATORS = bytes([*range(33), *b'\\"&<>[]^`{|}~', *range(127, 256)])


def find(buffer, terminators=TERMINATORS):
    """RFC 2141 section 2.4: "An URN ends when an octet/character from the excluded character set [...] is encountered."

    It also ends before a "%" that no two hex digits follow, and before "%00". It does not begin behind a letter or a
    digit ("sideburn:" is no "urn:").
    """
    ends = b"".join(b"\\x%02x" % octet for octet in {*terminators, ord("%")})
    triplet = b"" if b"%" in bytes(terminators) else b"|%(?!00)[0-9A-Fa-f]{2}"
    name = rf"(?<!{LET_NUM}){SCHEME}(?!{SCHEME}){LET_NUM}{LET_NUM_HYP}{{0,31}}:".encode()
    return [found.span() for found in re.finditer(name + b"(?:[^" + ends + b"]" + triplet + b")+", bytes(buffer))]
