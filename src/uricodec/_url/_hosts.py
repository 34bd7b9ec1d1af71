"""Hosts with labels beyond ASCII: ToASCII and ToUnicode (RFC 3490 section 4, as RFC 3987 section 3.1 requires).

The library `idna` (UTS 46, IDNA 2008) does the conversion; it is imported for the first such host. The length limits of
DNS (RFC 1035 section 2.3.4) are those of the mapped host. They are checked before the conversion, because some of its
steps take more than linear time.

_idna converts most hosts without these functions, by what `facts_about` and `compositions` return.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain

from uricodec.errors import IriError

_MOST, _MOST_OF_LABEL = 253, 63
_COMPOSED = 4  # characters, at most, that Normalization Form C makes one of
# RFC 1034 section 3.5, which STD 3 (RFC 1123 section 2.1) widens: letters, digits and inner hyphens.
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?", re.ASCII)
# A host whose last label is a number is an address, or is taken for one: decimal or octal digits, or hexadecimal ones
# after "0x" (WHATWG URL, "ends in a number"). That covers all that inet_aton() reads: each of its parts is a number.
_ADDRESS = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")
# UTS 46 maps these to "."; RFC 3490 section 3.1 has them as separators.
_DOTS = re.compile("[.\u3002\uff0e\uff61]")


def to_ascii(host: str) -> str:
    """Convert every label of a host that is not ASCII to an A-label.

    Args:
        host (str): A host name: labels separated by dots.

    Returns:
        str: The host in lower-case letters, digits, hyphens and dots.

    Raises:
        ValueError: If a label is invalid by IDNA 2008 or STD 3, if a label or the host is too long, or if the result is
            an IP address: code that checked the original host saw a name.

    Source: RFC 3987 section 3.1; UTS 46 with UseSTD3ASCIIRules, not transitional.

    >>> to_ascii("R\u00e9sum\u00e9.example.org")
    'xn--rsum-bpad.example.org'
    """
    import idna

    ascii_host = idna.encode(mapped(host)).decode("ascii")
    if len(ascii_host.rstrip(".")) > _MOST or not _HOST.fullmatch(ascii_host):
        raise ValueError("ToASCII result is not a host name")
    if _ADDRESS.fullmatch(ascii_host):
        raise ValueError("ToASCII result is an IP address")
    return ascii_host


def to_unicode(host: str) -> str:
    """Convert the A-labels of a host to the characters that they encode.

    Args:
        host (str): A host name: labels separated by dots.

    Returns:
        str: The host; all other labels are unchanged.

    Raises:
        ValueError: If a label that begins with "xn--" is not an A-label, if a label or the host is too long, or if
            to_ascii() rejects the result.

    Source: RFC 3987 section 3.2.1; RFC 5891 section 5.

    >>> to_unicode("XN--99zt52a.Example.org")
    '\u7d0d\u8c46.Example.org'
    """
    import idna

    mapped(host)
    labels = host.split(".")
    for i, label in enumerate(labels):
        if label[:4].lower() == "xn--":
            labels[i] = idna.ulabel(label.lower())
            if idna.alabel(labels[i]) != label.lower().encode("ascii"):
                raise ValueError(f"{label!r} is not an A-label")
    host = ".".join(labels)
    to_ascii(host)
    return host


def to_safe(host: str) -> str:
    """Convert the A-labels of a host as to_unicode() does, if all letters of a label are of one script.

    Args:
        host (str): A host name: labels separated by dots.

    Returns:
        str: The host. A-labels for the labels that mix scripts, whatever they were.

    Raises:
        ValueError: As to_unicode() does.

    Source: UTS 39 section 5.2, "Highly Restrictive".

    >>> to_safe("xn--99zt52a.xn--pple-43d.example")
    '\u7d0d\u8c46.xn--pple-43d.example'
    """
    import idna

    from uricodec._url._scripts import is_one_script

    # The labels, and the dots between them.
    parts = re.split(f"({_DOTS.pattern})", to_unicode(host))
    for i, label in enumerate(parts):
        if not label.isascii() and not is_one_script(idna.uts46_remap(label, std3_rules=True)):
            parts[i] = idna.encode(label, uts46=True, std3_rules=True).decode("ascii")
    return "".join(parts)


def to_mapped(host: str) -> str:
    """Map the characters of a host as UTS 46 does, but leave labels that are ASCII.

    Args:
        host (str): A host name: labels separated by dots.

    Returns:
        str: The host: lower case, NFC, and "." for the other full stops.

    Raises:
        ValueError: If a label has a character that is not allowed or becomes a delimiter.

    Source: UTS 46 section 4, step 1 and 2, not transitional.

    >>> to_mapped("BU\u0308CHER\u3002EXAMPLE")
    'b\xfccher.EXAMPLE'
    """
    import idna

    labels = _DOTS.split(host)
    for i, label in enumerate(labels):
        if not label.isascii():
            labels[i] = idna.uts46_remap(label, std3_rules=False)
            if re.search(r"[\0- /?#@:\[\]\\%]", labels[i]):
                raise ValueError(f"{label!r} becomes a delimiter")
    return ".".join(labels)


def mapped(host: str) -> str:
    """Return a host as UTS 46 maps it, in Normalization Form C.

    Raises:
        ValueError: If it has a character that is not allowed, or it or one of its labels is too long for DNS then.
    """
    import idna

    text = without_ignored(host)
    if len(text) <= _MOST * _COMPOSED:
        text = idna.uts46_remap(text, std3_rules=True)
    if len(text.removesuffix(".")) > _MOST:
        raise ValueError(f"host is longer than {_MOST} characters")
    if any(len(label) > _MOST_OF_LABEL for label in _DOTS.split(text)):
        raise ValueError(f"label is longer than {_MOST_OF_LABEL} characters")
    return text


def without_ignored(host: str) -> str:
    """Remove the characters of a host that UTS 46 maps to nothing.

    >>> without_ignored("ex\u00adam\u200bple.org")
    'example.org'
    """
    ignored = [each for each in {*host} if not each.isascii() and _is_ignored(each)]
    return host.translate(dict.fromkeys(map(ord, ignored))) if ignored else host


@lru_cache(4096)
def _is_ignored(character: str) -> bool:
    import idna

    try:
        return not idna.uts46_remap(character, std3_rules=True)
    except idna.IDNAError:
        return False


# --- facts for _idna --------------------------------------------------------------------------------------------------


def facts_about(character: str) -> tuple[int, int, str, bool, int] | None:
    """Return what UTS 46 maps a character to, its combining class, direction, whether it is a mark, and its script.

    A character that is ignored maps to 0. None if it is invalid in hosts, maps to several characters, or is only valid
    in some contexts.
    """
    import unicodedata

    import idna
    from idna.idnadata import codepoint_classes
    from idna.intranges import intranges_contain

    from uricodec._url._scripts import code_of

    try:
        mapped = idna.uts46_remap(character, std3_rules=True)
    except idna.IDNAError:
        return None
    if not mapped:
        return 0, 0, "", False, 0
    allowed = mapped != character or intranges_contain(ord(character), codepoint_classes["PVALID"])
    if len(mapped) != 1 or not allowed:
        return None
    mark = unicodedata.category(character).startswith("M")
    return ord(mapped), unicodedata.combining(character), unicodedata.bidirectional(character), mark, code_of(character)


def compositions() -> Iterator[tuple[int, int, int]]:
    """Iterate over composite characters, each with the two that it decomposes into.

    Hangul syllables are left out, because the letters that compose them are invalid in hosts. Ideographs and the
    characters of later planes do not decompose into two.
    """
    import unicodedata

    for code in chain(range(0xC0, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0x20000)):
        first, _, second = unicodedata.decomposition(chr(code)).partition(" ")
        if second and not first.startswith("<"):
            yield code, int(first, 16), int(second, 16)


def facts_of_2003(character: str) -> tuple[int, int, bool, bool] | None:
    """Return what IDNA 2003 maps a character to, its combining class, and whether it is written from right or left.

    A character that is ignored maps to 0. None if it is prohibited, maps to several characters or a delimiter, is
    a vowel or final consonant of Hangul, or is another one after the mapping of w3lib, which precedes IDNA.
    """
    from encodings.idna import nameprep
    from stringprep import in_table_d1, in_table_d2
    from unicodedata import combining, normalize, ucd_3_2_0

    text = normalize("NFKC", character.lower())
    try:
        mapped = nameprep(character)
        if nameprep(text) != mapped or len(mapped) > 1 or len(text) > 1:
            return None
    except UnicodeError:
        return None
    if not re.fullmatch("[a-z0-9-]?|[^\0-\x7f\u1161-\u11ff]", mapped):
        return None
    if not mapped:
        return None if combining(text) else (0, 0, False, False)
    mark = ucd_3_2_0.combining(mapped)
    if mark != combining(text) or (mark and not character == text == mapped):
        return None
    return ord(mapped), mark, in_table_d1(mapped), in_table_d2(mapped)


def returning_errors(function: Callable[[bytes], bytes]) -> Callable[[bytes], bytes | IriError]:
    """Return a function that returns the IriError which `function` raises.

    Compiled code could not catch it safely: docs/developing/recipes.md, "Faults of Cython 3.3".
    """

    def call(row: bytes) -> bytes | IriError:
        try:
            return function(row)
        except IriError as error:
            return error

    return call


# --- w3lib ------------------------------------------------------------------------------------------------------------

_LONGEST_OF_W3LIB = 1024  # bytes of a host that is converted to A-labels
_LONGEST_NAME_OF_W3LIB = 253  # bytes of a domain name


def w3lib_authority(authority: bytes) -> bytes | None:
    """Return an authority; None if w3lib rejects it, because it normalizes to another one with a delimiter."""
    from uricodec._url._characters import composed

    cleaned = re.sub("[@:#?]", "", _w3lib_text(authority))
    normal = composed(cleaned, compatible=True)
    return None if normal != cleaned and re.search(r"[/?#@:\\]", normal) else authority


def w3lib_host(host: bytes) -> bytes:
    """Return a host as w3lib writes it."""
    from uricodec._url._characters import composed

    name, percent, zone = _w3lib_text(host).partition("%")
    text = name.lower() + percent + zone
    if not text.isascii() and len(host) <= _LONGEST_OF_W3LIB:
        try:
            labels = composed(text, compatible=True).encode("idna")
        except UnicodeError:
            return text.lower().encode()
        if len(labels) <= _LONGEST_NAME_OF_W3LIB:
            return labels.lower()
    return text.lower().encode()


def _w3lib_text(part: bytes) -> str:
    """Decode UTF-8; triplets stand for other bytes."""
    escapes = part.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", escapes)


# --- answers to _idna, in UTF-8 ---------------------------------------------------------------------------------------


def answer(function: str, host: bytes) -> bytes | None:
    """Return what a function of ANSWERS makes of a host; None if the host is invalid.

    >>> answer("to_ascii", "r\u00e9sum\u00e9".encode()), answer("to_ascii", "r\u00e9 ".encode())
    (b'xn--rsum-bpad', None)
    """
    try:
        return ANSWERS[function](host)
    except ValueError:
        return None


def _domain_to_ascii(domain: bytes) -> bytes | None:
    from uricodec._url._domains import domain_to_ascii

    return domain_to_ascii(domain)


ANSWERS: dict[str, Callable[[bytes], bytes | None]] = {
    "to_ascii": lambda host: to_ascii(host.decode()).encode(),
    "to_unicode": lambda host: to_unicode(host.decode()).encode(),
    "to_mapped": lambda host: to_mapped(host.decode()).encode(),
    "domain_to_ascii": _domain_to_ascii,
    "idna_2003": lambda host: host.decode("utf-8", "ignore").encode("idna"),  # RFC 3490, by Python's codec
    "w3lib_authority": w3lib_authority,
    "w3lib_host": w3lib_host,
}
