"""Naive references of `iri`'s conversions: one character after the other, slow and obviously right."""

import re

from reference.errors import IriError

UNRESERVED = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
URI_ASCII = UNRESERVED | set(":/?#[]@!$&'()*+,;=%")
OPTIONAL = set('<>" {}|\\^`')
TRIPLET = re.compile("%[0-9A-Fa-f]{2}")
SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
LITERAL = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^@/?#]*@)?(\[[^\]@/?#]*\])(?::[0-9]*)?(?=[/?#]|\Z)", re.DOTALL
)

# RFC 3987 section 2.2
UCSCHAR = [(0xA0, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFEF), (0x10000, 0x1FFFD), (0x20000, 0x2FFFD)]
UCSCHAR += [(0x30000, 0x3FFFD), (0x40000, 0x4FFFD), (0x50000, 0x5FFFD), (0x60000, 0x6FFFD), (0x70000, 0x7FFFD)]
UCSCHAR += [(0x80000, 0x8FFFD), (0x90000, 0x9FFFD), (0xA0000, 0xAFFFD), (0xB0000, 0xBFFFD), (0xC0000, 0xCFFFD)]
UCSCHAR += [(0xD0000, 0xDFFFD), (0xE1000, 0xEFFFD)]
IPRIVATE = [(0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)]
# Section 4.1: LRM, RLM, LRE, RLE, PDF, LRO, RLO
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e"


def within(character, ranges):
    return any(first <= ord(character) <= last for first, last in ranges)


def reject(data, position, what):
    """An error at a character of the text that `data` is, or is the UTF-8 of."""
    if not isinstance(data, str):
        position = len(bytes(data).decode("utf-8", "surrogateescape")[:position].encode("utf-8", "surrogateescape"))
    raise IriError(what, data, position)


def characters(data):
    """The characters; what is ill-formed in bytes, and lone in a str, is a surrogate in either case."""
    return data if isinstance(data, str) else bytes(data).decode("utf-8", "surrogateescape")


def triplets(character):
    return "".join(f"%{octet:02X}" for octet in character.encode())


def kind_of(result, data):
    return result if isinstance(data, str) else result.encode()


def iri_to_uri(data, disallowed="raise"):
    """RFC 3987 section 3.1, step 2."""
    result = ""
    for position, character in enumerate(characters(data)):
        if character in URI_ASCII:
            result += character
        elif within(character, UCSCHAR + IPRIVATE) or (character in OPTIONAL and disallowed == "encode"):
            result += triplets(character)
        else:
            reject(data, position, "character")
    return kind_of(result, data)


def allowed(character, query):
    """Sections 2.2 and 4.1."""
    return character not in BIDI and (within(character, UCSCHAR) or (query and within(character, IPRIVATE)))


def check_raw(data):
    text = characters(data)
    for position, character in enumerate(text):
        if character == "%" and not TRIPLET.match(text, position):
            reject(data, position, "percent")
        if character < "\x80" and character not in URI_ASCII:
            reject(data, position, "character")
        if character >= "\x80" and not allowed(character, is_query(text, position)):
            reject(data, position, "character")


def is_query(text, position):
    return "?" in text[:position].partition("#")[0] and "#" not in text[:position]


def uri_to_iri(data):
    """RFC 3987 section 3.2."""
    check_raw(data)
    text = characters(data)
    literal = LITERAL.match(text)
    if literal:  # it has no triplets (RFC 3986 section 3.2.2)
        before, after = decoded(text[: literal.start(1)], 0), decoded(text, literal.end(1))
        return kind_of(before + literal[1] + after, data)
    result = decoded(text, 0)
    if SCHEME.match(result) and not SCHEME.match(text):
        first = text.index("%") + 3
        result = text[:first] + decoded(text, first)
    return kind_of(result, data)


def decoded(text, position):
    result = ""
    while position < len(text):
        spelling, position = next_characters(text, position)
        result += spelling
    return result


def next_characters(text, position):
    """The result for the character or the triplets at a position, and where they end."""
    match = TRIPLET.match(text, position)
    if not match:
        return text[position], position + 1
    octet = int(match[0][1:], 16)
    if octet < 0x80:
        return chr(octet) if chr(octet) in UNRESERVED else match[0], match.end()
    for length in 2, 3, 4:
        run = re.compile(f"(?:%[89A-Fa-f][0-9A-Fa-f]){{{length}}}").match(text, position)
        if run:
            try:
                character = bytes.fromhex(run[0].replace("%", "")).decode()
            except UnicodeDecodeError:
                continue
            if len(character) == 1:
                return character if allowed(character, is_query(text, position)) else run[0].upper(), run.end()
    return match[0].upper(), match.end()


def same(uri, other):
    """Whether URIs are equivalent, by RFC 3986 section 6.2.2.1 and 6.2.2.2 for triplets alone."""
    return plain(uri) == plain(other)


def plain(uri):
    def one(triplet):
        character = chr(int(triplet[0][1:], 16))
        return character if character in UNRESERVED else triplet[0].upper()

    return TRIPLET.sub(one, uri)
