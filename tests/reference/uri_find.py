"""Find URLs in text, character by character: the reference of `uri.find`."""

import json
import re
import unicodedata
from html.entities import html5
from pathlib import Path

LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
DIGITS = frozenset("0123456789")
SCHEME = LETTERS | DIGITS | frozenset("+-.")
LONGEST_SCHEME = 64
# The properties of UTS 58.
DATA = Path(__file__).parents[1] / "data" / "linkification"


def lines_of(name):
    lines = (line.partition("#")[0].strip() for line in DATA.joinpath(name).read_text("utf-8").splitlines())
    return [[cell.strip() for cell in line.split(";")] for line in lines if line]


def link_terms():
    """Character -> Soft, Open or Close."""
    found = {}
    for codes, term in lines_of("LinkTerm.txt"):
        first, _, last = codes.partition("..")
        found |= {chr(code): term for code in range(int(first, 16), int(last or first, 16) + 1)}
    return found


TERMS = link_terms()
PARTNERS = {chr(int(closing, 16)): chr(int(opening, 16)) for closing, opening in lines_of("LinkBracket.txt")}
DEPRECATED = "\u0149\u0673\u0f77\u0f79\u17a3\u17a4\u206a\u206b\u206c\u206d\u206e\u206f\u2329\u232a\U000e0001"
TRIMMED = "?!.,:*_~';"


def term(character):
    """Return the Link_Term of a character, but for ASCII that no URI contains, and Chinese and Japanese punctuation."""
    code = ord(character)
    if code < 0x80:
        if code <= 0x20 or code == 0x7F or character in '"<>\\^`|':
            return "Hard"
        return (
            "Soft"
            if character in TRIMMED
            else {**dict.fromkeys("([{", "Open"), **dict.fromkeys(")]}", "Close")}.get(character)
        )
    if 0x3000 <= code <= 0x303F:
        return None if character in "\u3005\u3006\u3007" else "Hard"
    if 0xFF00 <= code < 0xFF66:  # fullwidth ASCII, and halfwidth punctuation
        return None if unicodedata.normalize("NFKC", character).isalnum() else "Hard"
    no_character = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    if (
        no_character
        or unicodedata.category(character) in {"Zs", "Zl", "Zp", "Cc", "Co", "Cs"}
        or character in DEPRECATED
    ):
        return "Hard"
    return TERMS.get(character)


def start_of_scheme(text, done, colon):
    """Return the first start of a scheme in text[done:colon] that reaches the colon; None if there is none."""
    first = colon
    while first > max(done, colon - LONGEST_SCHEME) and text[first - 1] in SCHEME:
        first -= 1
    for start in range(first, colon):
        before = text[start - 1] if start > done else ""
        if text[start] in LETTERS and before not in LETTERS | DIGITS:
            return start
    return None


# Delimiters that were escaped, as find() of a decoded text sees them: none of the bytes is UTF-8.
ESCAPED = dict(zip("\udcf8\udcf9\udcfa\udcfb", "\"'<>", strict=True))


def between(text, start, body, decoded):
    """Return the end of a URL between quotes or angle brackets; None if it is not."""
    opening = text[start - 1 : start]
    escaped = decoded and opening in ESCAPED
    close = {"<": ">", '"': '"', "'": "'"}.get(ESCAPED[opening] if escaped else opening)
    if close is None:
        return None
    excluded = '\x00- \x7f"<>\\\\' + ("\udcf8\udcfa\udcfb" if escaped else "")
    if close == "'":
        excluded += "\udcf9" if escaped else "'"
    end = {character: escape for escape, character in ESCAPED.items()}[close] if escaped else close
    found = re.compile(f"([^{excluded}]*)" + ("" if close == ">" else r"\\?") + end).match(text, body)
    return found.end(1) if found and found.end(1) > body else None


def stop_of(text, body):
    """Return where a URL stops: before a character that ends any, or a closing bracket without its partner."""
    opened, part, i = [], "authority", body
    while i < len(text) and (kind := term(text[i])) != "Hard":
        parts = {"authority": "/?#", "path": "/?#", "query": "#=&", "fragment": ""}[part]
        if text[i] in parts or (part == "fragment" and text.startswith(":~:", i)):
            if part == "authority" and opened:
                return skip_plain(text, i)
            opened = []
            part = {"/": "path", "?": "query", "#": "fragment"}.get(text[i], part)
        if kind == "Open":
            if len(opened) == 125:
                break
            opened.append(text[i])
        elif kind == "Close" and (not opened or opened.pop() != PARTNERS[text[i]]):
            break
        i += 1
    return i


def skip_plain(text, i):
    """Return the next character that ends any URL, or bracket."""
    while i < len(text) and term(text[i]) not in {"Hard", "Open", "Close"}:
        i += 1
    return i


def alone_in_authority(url):
    """Return where the first bracket of the authority is that nothing closes there; None if there is none."""
    authority = re.match("[^/?#]*", url)[0]
    opened = []
    for i, character in enumerate(authority):
        if term(character) == "Open":
            opened.append(i)
        elif term(character) == "Close":
            opened.pop()
    return opened[0] if opened else None


def find(data, decoded=False):
    """Return the start and end, in bytes, of each URL; `decoded`: ESCAPED are delimiters."""
    text = data.decode("utf-8", "surrogateescape")
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + len(character.encode("utf-8", "surrogateescape")))
    found, done = [], 0
    while (colon := text.find("://", done)) >= 0:
        start = start_of_scheme(text, done, colon)
        i = body = stop = colon + 3
        if start is None:
            done = body
            continue
        inside = between(text, start, body, decoded)
        if inside is not None:
            found.append((offsets[start], offsets[inside]))
            done = inside
            continue
        done = stop = i = stop_of(text, body)
        if (alone := alone_in_authority(text[body:i])) is not None:
            stop = body + alone
        while stop > body and term(text[stop - 1]) in {"Soft", "Open"}:
            stop -= 1
        if stop > body:
            found.append((offsets[start], offsets[stop]))
    return found


MARKS = {character.encode(): mark.encode("utf-8", "surrogateescape") for mark, character in ESCAPED.items()}
JSON_ESCAPE = re.compile(rb'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])')
REFERENCE = re.compile(rb"&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([0-9A-Za-z]+)(?![0-9A-Za-z])(;?))")


def json_value(escape):
    """Return what an escape stands for; a lone surrogate becomes a byte that is no UTF-8."""
    try:
        return json.loads(b'"' + escape + b'"').encode()
    except UnicodeEncodeError:
        return b"\xff"


def html_value(match, following):
    """Return what a character reference stands for, in an attribute; None if it is none."""
    hexadecimal, decimal, name, end = match.groups()
    if name is None:
        if match.end(1 if hexadecimal else 2) - match.start() >= 40:
            return None
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        if 0x80 <= code < 0xA0:
            try:
                return bytes([code]).decode("cp1252").encode()
            except UnicodeDecodeError:
                return chr(code).encode()
        if 0xD800 <= code < 0xE000:
            return b"\xff"
        return (chr(code) if 0 < code <= 0x10FFFF else "\ufffd").encode()
    value = html5.get((name + end).decode())
    return None if value is None or (not end and following == b"=") else value.encode()


def decode(data, content, marks=MARKS):
    """Return a text without escapes, but marked delimiters; for each of its bytes and its end, where it comes from."""
    pattern = JSON_ESCAPE if content == "json" else REFERENCE
    decoded, origins, i = b"", [], 0
    while i < len(data):
        match, value = pattern.match(data, i), None
        if match:
            value = (
                json_value(match[0]) if content == "json" else html_value(match, data[match.end() : match.end() + 1])
            )
        end = i + 1 if value is None else match.end()
        value = data[i : i + 1] if value is None else marks.get(value, value)
        decoded += value
        origins += [i] * len(value)
        i = end
    return decoded, [*origins, len(data)]


def find_with_escapes(data, content):
    """Return where the URLs of a text with escapes are, and the URLs."""
    decoded, origins = decode(data, content)
    spans = [(origins[start], origins[stop]) for start, stop in find(decoded, True)]
    return spans, [decode(data[start:stop], content, {})[0] for start, stop in spans]


def by_parts(find_part, data, size, longest=1 << 20):
    """Return what find_part() finds if `size` more bytes are known with each call."""
    found, part, before = [], b"", 0
    for end in range(size, len(data) + size + 1, size):
        part += data[end - size : end]
        spans, rest = find_part(part, longest, end > len(data))
        found += [(before + start, before + stop) for start, stop in spans]
        part, before = part[rest:], before + rest
    return found


def lines(data, prefix=None, before=0, found=None):
    """Return the lines that the command `extract` writes for URLs, or for the spans that are given."""
    spans = find(data) if found is None else found
    offsets = [b"" if prefix is None else b"%s%d\t" % (prefix, before + start) for start, _ in spans]
    return [offset + data[start:stop] + b"\n" for offset, (start, stop) in zip(offsets, spans, strict=True)]


def by_copies(copy, data, capacity, prefix=None, before=0):
    """Return the lines that copy_urls() or copy_urns() writes if its buffer has a capacity."""
    found, at = b"", 0
    while at < len(data):
        buffer = bytearray(capacity)
        read, written = copy(memoryview(data)[at:], buffer, prefix, before + at)
        assert read
        found += buffer[:written]
        at += read
    return found.splitlines(keepends=True)
