"""Find URLs in text, character by character: the reference of `uri.find`."""

import json
import re
import unicodedata
from html.entities import html5

LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
DIGITS = frozenset("0123456789")
SCHEME = LETTERS | DIGITS | frozenset("+-.")
LONGEST_SCHEME = 64
TRIMMED = "?!.,:*_~';"
PARTNERS = {")": "(", "]": "[", "}": "{"}
PARTS_OF_WORDS = "\u200c\u200d\u2010\u2011\u2012\u2013\u3005\u3006\u3007"


def ends(character):
    """Return whether a character ends a URL wherever it stands."""
    code = ord(character)
    if code < 0x80:
        return code <= 0x20 or code == 0x7F or character in '"<>\\^`|'
    if character in PARTS_OF_WORDS:
        return False
    if 0xFF00 <= code < 0xFF66:  # fullwidth ASCII, and halfwidth punctuation
        return not unicodedata.normalize("NFKC", character).isalnum()
    return (
        code <= 0xA0  # controls, no-break space
        or character in "\u00ab\u00bb\u1680\ufeff"
        or 0x2000 <= code <= 0x206F
        or 0x3000 <= code <= 0x303F
        or 0xD800 <= code <= 0xDFFF  # a byte that is not UTF-8
        or 0xFFF0 <= code <= 0xFFFF
    )


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
        opened = dict.fromkeys("([{", 0)
        while i < len(text) and not ends(text[i]):
            if text[i] in opened:
                opened[text[i]] += 1
            elif text[i] in PARTNERS:
                if not opened[PARTNERS[text[i]]]:
                    break
                opened[PARTNERS[text[i]]] -= 1
            i += 1
            if not any(opened.values()):
                stop = i
        done = i
        stop = body + len(text[body:stop].rstrip(TRIMMED))
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
