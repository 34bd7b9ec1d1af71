"""The reference implementation of repairing URLs: the first fault that `reference.uri.check` finds becomes a triplet,
again and again, until there is none. Each octet knows where it came from."""

import re

from reference import uri_forms
from reference.uri import check

ENDS = bytes(range(0x21)) + b"\x7f"
UNCLEAR = {*b":/?#[]@\\ \x7f", *range(0x20)}


def around(row, start, end):
    """Where a part of the row begins and ends without blanks and controls."""
    part = row[start:end]
    return end - len(part.lstrip(ENDS)), start + len(part.rstrip(ENDS))


def ends(row):
    """Where the URL in the row begins and ends."""
    start, end = around(row, 0, len(row))
    if re.fullmatch(rb"<.+>|\".+\"", row[start:end], re.DOTALL):
        first, last = around(row, start + 1, end - 1)
        if uri_forms.parse(row[first:last].decode("latin-1")).scheme is not None:
            return first, last
    return start, max(start, end)


def with_slashes(text, at):
    """The text as browsers read its backslashes, with the places of its octets."""
    head = re.match(rb"(https?|wss?|ftp|(file)):([/\\]*)[^?#]*", text, re.IGNORECASE)
    if head is None or b"\\" not in head[0]:
        return text, at
    start, end = head.span(3)
    if b"\\" in head[3] and not head[2]:
        text, at = text[:start] + b"//" + text[end:], at[:start] + at[start:][:1] * 2 + at[end:]
        end += len(text) - len(head.string)
    stop = len(re.match(rb"[^?#]*", text)[0])
    return text[:stop].replace(b"\\", b"/") + text[stop:], at


def replaced(text, at, start, end, new):
    return text[:start] + new + text[end:], at[:start] + [at[start]] * len(new) + at[end:]


def with_one_at(text, at, start, end):
    """The text whose authority, text[start:end], has an "@" only after its userinfo."""
    while text.count(b"@", start, end) > 1:
        first = text.index(b"@", start)
        text, at = replaced(text, at, first, first + 1, b"%40")
        end += 2
    return text, at


def with_name(text, at, scheme, start, end):
    """The text with the A-labels of its host, or why nobody knows what was meant: a code and a place."""
    start = text.rfind(b"@", start, end) + 1 or start
    host = text[start:end] if text[start : start + 1] == b"[" else text[start:end].partition(b":")[0]
    if host[:1] == b"[":
        return text, at
    unclear = [i for i, octet in enumerate(host) if octet in UNCLEAR]
    if unclear:
        return "host", at[start + unclear[0]]
    if scheme is not None and scheme.lower() not in uri_forms.DNS:
        return text, at
    try:
        host.decode()
    except UnicodeDecodeError as error:
        return "utf-8", at[start + error.start]
    if host.isascii():
        return text, at
    return replaced(text, at, start, start + len(host), uri_forms.name_of(host.decode("latin-1")).encode("latin-1"))


def repaired(row):
    """A URI reference, or a code and an offset."""
    if check(row) is None:
        return row
    start, end = ends(row)
    if start == end:
        return "path", 0
    at = [i for i in range(start, end) if row[i] not in b"\t\n\r"]
    text, at = with_slashes(bytes(row[i] for i in at), [*at, end])
    scheme, authority, *_ = uri_forms.parse(text.decode("latin-1"))
    if authority is not None:
        first = text.index(b"//") + 2
        size = len(authority)
        before = len(text)
        text, at = with_one_at(text, at, first, first + size)
        size += len(text) - before
        text, at = with_name(text, at, scheme, first, first + size)
        if isinstance(text, str):
            return text, at
    while fault := check(text):
        if fault.code in {"ip-literal", "port", "path-colon"}:
            return fault.code, at[fault.offset]
        text, at = replaced(text, at, fault.offset, fault.offset + 1, b"%%%02X" % text[fault.offset])
    return text
