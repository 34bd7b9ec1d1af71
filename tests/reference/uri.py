"""Naive twins of the grammars of URIs and IRIs: regular expressions in the words of RFC 3986 appendix A and RFC 3987
section 2.2, once as a whole, to say what is valid, and once component by component, to say where the first fault is.
"""

import re
import unicodedata
from typing import NamedTuple

PRODUCTIONS = ["URI-reference", "URI", "absolute-URI", "relative-ref"]
IRI_PRODUCTIONS = ["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"]


class Fault(NamedTuple):
    code: str
    offset: int


# --- characters -------------------------------------------------------------------------------------------------------


def characters(ranges):
    """What stands in a class of characters for ranges in ABNF."""
    numbers = [re.fullmatch(r"%x([0-9A-F]+)-([0-9A-F]+)", part).groups() for part in ranges.split(" / ")]
    return "".join(f"\\U{int(first, 16):08x}-\\U{int(last, 16):08x}" for first, last in numbers)


UCSCHAR_RANGES = (
    "%xA0-D7FF / %xF900-FDCF / %xFDF0-FFEF / %x10000-1FFFD / %x20000-2FFFD / %x30000-3FFFD / %x40000-4FFFD"
    " / %x50000-5FFFD / %x60000-6FFFD / %x70000-7FFFD / %x80000-8FFFD / %x90000-9FFFD / %xA0000-AFFFD / %xB0000-BFFFD"
    " / %xC0000-CFFFD / %xD0000-DFFFD / %xE1000-EFFFD"
)
IPRIVATE_RANGES = "%xE000-F8FF / %xF0000-FFFFD / %x100000-10FFFD"
# Section 4.1: LRM, RLM, LRE, RLE, PDF, LRO, and RLO.
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
UCSCHAR = [f"(?![{BIDI}])[{characters(UCSCHAR_RANGES)}]"]
EDGES = sorted(
    {
        int(number, 16) + step
        for number in re.findall("[0-9A-F]{2,}", UCSCHAR_RANGES + IPRIVATE_RANGES)
        for step in (-1, 0, 1)
    }
    | {ord(c) + step for c in BIDI for step in (-1, 0, 1)}
)
DELIMITERS = set("/?#@:[]\\%")


def is_delimiter_like(character):
    """Whether it becomes a delimiter, or what begins a triplet, by compatibility mappings."""
    return not character.isascii() and bool(DELIMITERS & set(unicodedata.normalize("NFKC", character)))


# --- grammar ----------------------------------------------------------------------------------------------------------

HEXDIG = "[0-9A-Fa-f]"
PCT_ENCODED = f"%{HEXDIG}{HEXDIG}"
SUB_DELIMS = "[!$&'()*+,;=]"
SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*"

DEC_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]|[0-9])"
IPV4 = rf"{DEC_OCTET}\.{DEC_OCTET}\.{DEC_OCTET}\.{DEC_OCTET}"
H16 = f"{HEXDIG}{{1,4}}"
LS32 = f"(?:{H16}:{H16}|{IPV4})"
IPV6 = "|".join(
    [
        *(f"(?:{H16}:){{6}}{LS32}", f"::(?:{H16}:){{5}}{LS32}", f"(?:{H16})?::(?:{H16}:){{4}}{LS32}"),
        *(f"(?:(?:{H16}:){{0,1}}{H16})?::(?:{H16}:){{3}}{LS32}", f"(?:(?:{H16}:){{0,2}}{H16})?::(?:{H16}:){{2}}{LS32}"),
        *(f"(?:(?:{H16}:){{0,3}}{H16})?::{H16}:{LS32}", f"(?:(?:{H16}:){{0,4}}{H16})?::{LS32}"),
        *(f"(?:(?:{H16}:){{0,5}}{H16})?::{H16}", f"(?:(?:{H16}:){{0,6}}{H16})?::"),
    ]
)
IPVFUTURE = rf"[Vv]{HEXDIG}+\.(?:[A-Za-z0-9\-._~]|{SUB_DELIMS}|:)+"
IP_LITERAL = rf"\[(?:{IPV6}|{IPVFUTURE})\]"
# What may be missing of an IP literal of which the rest is there.
TAILS = ["]", "0]", ":]", "::]", ":0]", "0.0]", ".0]", ".0.0]", ".0.0.0]", "0.0.0]"]


class Grammar:
    """The productions, by name, of URIs, or of IRIs whose names are without their "i"."""

    def __init__(self, iri):
        unreserved = "|".join([r"[A-Za-z0-9\-._~]", *(UCSCHAR if iri else [])])
        private = f"|[{characters(IPRIVATE_RANGES)}]" if iri else ""
        self.iri = iri
        self.reg_name = f"{unreserved}|{SUB_DELIMS}"  # pct-encoded apart, here and below
        self.userinfo = f"{self.reg_name}|:"
        self.pchar = f"{self.reg_name}|[:@]"
        self.path = f"{self.pchar}|/"
        self.fragment = f"{self.pchar}|[/?]"
        self.query = f"{self.fragment}{private}"
        pchar = f"(?:{self.pchar}|{PCT_ENCODED})"
        segment_nz_nc = f"(?:{self.reg_name}|@|{PCT_ENCODED})+"
        host = f"(?:{IP_LITERAL}|{IPV4}|(?:{self.reg_name}|{PCT_ENCODED})*)"
        authority = f"(?:(?:{self.userinfo}|{PCT_ENCODED})*@)?{host}(?::[0-9]*)?"
        abempty, rootless = f"(?:/{pchar}*)*", f"{pchar}+(?:/{pchar}*)*"
        absolute, noscheme = f"/(?:{rootless})?", f"{segment_nz_nc}(?:/{pchar}*)*"
        query, fragment = f"(?:{self.query}|{PCT_ENCODED})*", f"(?:{self.fragment}|{PCT_ENCODED})*"
        hier_part = f"(?://{authority}{abempty}|{absolute}|{rootless}|)"
        relative_part = f"(?://{authority}{abempty}|{absolute}|{noscheme}|)"
        absolute_uri = rf"{SCHEME}:{hier_part}(?:\?{query})?"
        uri = f"{absolute_uri}(?:#{fragment})?"
        relative_ref = rf"{relative_part}(?:\?{query})?(?:#{fragment})?"
        productions = [[uri, relative_ref], [uri], [absolute_uri], [relative_ref]]
        names = IRI_PRODUCTIONS if iri else PRODUCTIONS
        self.productions = {
            name: [re.compile(each) for each in production] for name, production in zip(names, productions, strict=True)
        }

    def is_valid(self, text, production):
        return any(each.fullmatch(text) for each in self.productions[production])


URI, IRI = Grammar(False), Grammar(True)


def is_hostile(character):
    """Whether no triplet of a safe host stands for it."""
    return character in DELIMITERS or character <= " " or character == "\x7f"


# --- components -------------------------------------------------------------------------------------------------------

# Appendix B, with what section 3.1 says of a scheme.
COMPONENTS = re.compile(rf"(?:({SCHEME}):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def split(text):
    return COMPONENTS.fullmatch(text).groups()


def unsplit(components):
    """Section 5.3."""
    scheme, authority, path, query, fragment = components
    result = ""
    if scheme is not None:
        result += scheme + ":"
    if authority is not None:
        result += "//" + authority
    result += path
    if query is not None:
        result += "?" + query
    if fragment is not None:
        result += "#" + fragment
    return result


def misread(whole, parts):
    """Where parsing joined components begins to differ from them."""
    ends = []
    for scheme, authority, path, query, fragment in (parts, split(whole)):
        start = 0 if scheme is None else len(scheme) + 1
        at = start + (0 if authority is None else 2 + len(authority))
        path_end = at + len(path)
        query_end = path_end + (0 if query is None else 1 + len(query))
        ends.append(
            (
                -1 if scheme is None else start - 1,
                -1 if authority is None else start,
                *(at, path_end, query_end),
                -1 if fragment is None else query_end + 1,
            )
        )
    for wanted, found in zip(*ends, strict=True):
        if wanted != found:
            return found if wanted < 0 else wanted if found < 0 else min(wanted, found)
    return None


def split_authority(authority):
    """userinfo, host, port."""
    userinfo, at, rest = authority.partition("@")
    if not at:
        userinfo, rest = None, authority
    end = rest.find(":", rest.find("]") + 1)
    return userinfo, rest if end < 0 else rest[:end], None if end < 0 else rest[end + 1 :]


def host_kind(host):
    if host.startswith("["):
        return "IP-literal"
    return "IPv4address" if re.fullmatch(IPV4, host) else "reg-name"


# --- the first fault --------------------------------------------------------------------------------------------------


def check(text, production="URI-reference", iri=False):
    """Of a str or of bytes, in which the offset of a fault is counted."""
    if isinstance(text, str):
        lone = re.search("[\ud800-\udfff]", text) if iri else None
        return check_whole(text, production, iri, "surrogate", lone.start() if lone else len(text))
    if not iri:
        return check_text(text.decode("latin-1"), production, URI)
    try:
        whole = text.decode()
    except UnicodeDecodeError as error:
        whole = text[: error.start].decode() + "\ud800"
    fault = check_whole(whole, production, iri, "utf-8", len(whole.rstrip("\ud800")))
    return fault and Fault(fault.code, len(whole[: fault.offset].encode()))


def check_safe(text, production="URI-reference", iri=False):
    """The same, with safe_host=True."""
    fault = check(text, production, iri)
    if fault:
        return fault
    characters = text if isinstance(text, str) else text.decode("utf-8" if iri else "latin-1")
    authority = split(characters)[1]
    if authority is None:
        return None
    host = split_authority(authority)[1]
    start = characters.index("//") + 2
    at = start + authority.index("@") + 1 if "@" in authority else start
    found = [match.start() for match in re.finditer("%..", characters) if at <= match.start() < at + len(host)]
    found = [i for i in found if is_hostile(chr(int(characters[i + 1 : i + 3], 16)))]
    found += [i for i in range(start, start + len(authority)) if iri and is_delimiter_like(characters[i])]
    if not found:
        return None
    return Fault("host-delimiter", min(found) if isinstance(text, str) else len(characters[: min(found)].encode()))


def check_whole(text, production, iri, code, end):
    """What ends too early is read as if that were its end."""
    fault = check_text(text[:end], production, IRI if iri else URI)
    if end < len(text) and (fault is None or fault.offset >= end):
        return Fault(code, end)
    return fault


def check_text(text, production, grammar):
    scheme, authority, path, query, fragment = split(text)
    kind = (IRI_PRODUCTIONS if grammar.iri else PRODUCTIONS).index(production)
    at = 0
    if scheme is None and kind in {1, 2}:
        return Fault("scheme", re.match(f"(?:{SCHEME})?", text).end())
    if scheme is not None:
        at = len(scheme) + 1
        if kind == 3:
            return Fault("path-colon", at - 1)
    if authority is not None:
        fault = check_authority(authority, at + 2, grammar)
        if fault:
            return fault
        at += 2 + len(authority)
    faults = [check_component(path, at, "path", grammar.path, grammar)]
    if scheme is None and authority is None and ":" in path.partition("/")[0]:
        faults.append(Fault("path-colon", path.index(":")))
    at += len(path) + 1
    if query is not None:
        faults.append(check_component(query, at, "query", grammar.query, grammar))
        at += len(query) + 1
    if fragment is not None:
        if kind == 2:
            faults.append(Fault("fragment", at - 1))
        faults.append(check_component(fragment, at, "fragment", grammar.fragment, grammar))
    return min(filter(None, faults), key=lambda fault: fault.offset, default=None)


def check_authority(authority, at, grammar):
    userinfo, at_sign, rest = authority.partition("@")
    if at_sign:
        fault = check_component(userinfo, at, "userinfo", grammar.userinfo, grammar)
        if fault:
            return fault
        at += len(userinfo) + 1
    else:
        rest = authority
    if rest.startswith("["):
        literal = re.match(IP_LITERAL, rest)
        if literal is None:
            return Fault("ip-literal", at + max(i for i in range(1, len(rest) + 1) if begins_literal(rest[:i])))
        host = literal[0]
        if rest[len(host) : len(host) + 1] not in {"", ":"}:
            return Fault("ip-literal", at + len(host))
    else:
        host = rest.partition(":")[0]
        fault = check_component(host, at, "host", grammar.reg_name, grammar)
        if fault:
            return fault
    port = rest[len(host) + 1 :]
    digits = re.match("[0-9]*", port).end()
    return Fault("port", at + len(host) + 1 + digits) if digits < len(port) else None


def begins_literal(text):
    return any(re.fullmatch(IP_LITERAL, text + tail) for tail in TAILS)


def check_component(component, at, code, allowed, grammar):
    valid = re.match(f"(?:{PCT_ENCODED}|{allowed})*", component).end()
    if valid == len(component):
        return None
    character = component[valid]
    return Fault("percent" if character == "%" else code_of(character, code, grammar), at + valid)


def code_of(character, code, grammar):
    if character.isascii() or not grammar.iri:
        return code
    if character in BIDI:
        return "bidi"
    return "private" if re.fullmatch(f"[{characters(IPRIVATE_RANGES)}]", character) else "character"
