"""Naive references of the kernels and of the functions built on them: slow, short and obviously right.

A set of octets is anything with `in`; positions and policies are those of the functions of the same name.
"""

import re

from reference.errors import UriError, UriSyntaxError

TRIPLET = re.compile(rb"%([0-9A-Fa-f]{2})")
TEXT_TOKEN = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)
TOKEN = re.compile(rb"%[0-9A-Fa-f]{2}|.", re.DOTALL)
REPLACEMENT = "\ufffd".encode()
# What no triplet in a line becomes: C0, DEL and, in UTF-8, C1.
CONTROLS = frozenset(chr(code).encode() for code in [*range(0x20), *range(0x7F, 0xA0)])


# --- the kernels of simd/kernels.h ------------------------------------------------------------------------------------


def span(src, members):
    """The length of the longest prefix of members only."""
    return next((i for i, octet in enumerate(src) if octet not in members), len(src))


def count_outside(src, members):
    """The number of octets that are no members."""
    return sum(octet not in members for octet in src)


def mark_outside(src, members):
    """A bit for every octet, 64 to a word, the first one lowest: 1 if the octet is no member."""
    blocks = [src[start : start + 64] for start in range(0, len(src), 64)]
    return [sum((octet not in members) << i for i, octet in enumerate(block)) for block in blocks]


def mark_classes(src, low, high, mask):
    """Four times the same words: 1 if the octet has one of the bits of mask[k] in low[c & 15] & high[c >> 4]."""
    sets = [{c for c in range(256) if low[c & 15] & high[c >> 4] & bits} for bits in mask]
    return [word for members in sets for word in mark_outside(src, set(range(256)) - members)]


def encode(src, safe, plus=False):
    """RFC 3986 section 2.1, digits in upper case as in 6.2.2.1; with plus, a space that is safe becomes '+'."""
    result = b""
    for octet in src:
        if octet not in safe:
            result += b"%%%02X" % octet
        else:
            result += b"+" if plus and octet == ord(" ") else bytes([octet])
    return result


def decode(src, plus=False):
    """RFC 3986 section 2.1: every triplet becomes its octet, from left to right, once."""
    src = bytes(src).replace(b"+", b" ") if plus else bytes(src)
    return TRIPLET.sub(lambda triplet: bytes.fromhex(triplet[1].decode()), src)


def mark_triplets(src):
    """The same words for each "%" that is not the start of a triplet, and for the digits of triplets."""
    digits = {i for triplet in TRIPLET.finditer(bytes(src)) for i in range(triplet.start() + 1, triplet.end())}
    malformed = {i for i, octet in enumerate(src) if octet == ord("%") and i + 1 not in digits}
    words = range(0, len(src), 64)
    return [
        [sum(1 << i for i in range(64) if start + i in places) for start in words] for places in (malformed, digits)
    ]


def move_ends(marks, ends, by):
    """Each end with `by` added for every bit before it, and whether a bit is at an end."""
    bits = sum(word << 64 * i for i, word in enumerate(marks))
    moved = [end + by * (bits & ((1 << end) - 1)).bit_count() & 0xFFFFFFFF for end in ends]
    return moved, any(bits >> end & 1 for end in ends)


def upper_triplets(src):
    """RFC 3986 section 6.2.2.1."""
    return TRIPLET.sub(lambda triplet: triplet[0].upper(), bytes(src))


def normalize_urns(src, end=b"\n"):
    """RFC 2141 section 5, line by line: what stands before the second colon, and the triplets after it."""

    def normalize(line):
        if line[:4].lower() != b"urn:":
            return line
        nid, colon, nss = line[4:].partition(b":")
        return b"urn:" + nid.lower() + colon + upper_triplets(nss)

    return end.join(map(normalize, bytes(src).split(end)))


def span_urns(src, nid, nss, end=b"\n"):
    """The first line that is no URN, or one with components, with "%00", or of the NID "urn"."""

    def is_plain(line):
        scheme, name, rest = [*line.split(b":", 2), b"", b"", b""][:3]
        octets = re.sub(b"%(?!00)[0-9A-Fa-f]{2}", b"", rest)
        return (
            line.count(b":") >= 2
            and scheme.lower() == b"urn"
            and 2 <= len(name) <= 32
            and all(octet in nid for octet in name)
            and not name.startswith(b"-")
            and not name.endswith(b"-")
            and name.lower() != b"urn"
            and rest != b""
            and not rest.startswith(b"/")
            and all(octet in nss for octet in octets)
        )

    start = 0
    for line in bytes(src).split(end):
        if start < len(src) and not is_plain(line):
            return start
        start += len(line) + len(end)
    return len(src)


def scan_utf8(src):
    """RFC 3629 section 4: the length of the longest well-formed prefix, its characters, its highest octet."""
    try:
        length = len(src)
        text = bytes(src).decode()
    except UnicodeDecodeError as error:
        length = error.start
        text = bytes(src[:length]).decode()
    return length, len(text), max(src[:length], default=0)


# --- percent_encode, requote ------------------------------------------------------------------------------------------


def form_set(safe):
    """What stays with plus=True: the space, which becomes '+', but no '+'."""
    return {*safe, ord(" ")} - {ord("+")}


def encode_character(text, position, safe, plus):
    """RFC 3986 section 2.5: a character is encoded as the octets of its UTF-8."""
    try:
        octets = text[position].encode()
    except UnicodeEncodeError:
        raise UriError("surrogate", text, position) from None
    if octets[0] >= 0x80:
        if all(octet in safe for octet in octets):
            return text[position]
        if any(octet in safe for octet in octets):
            raise ValueError("a part of a character is safe")
    return encode(octets, safe, plus).decode()


def percent_encode(data, safe, plus=False):
    """RFC 3986 section 2.1; `safe` is the exact set of octets that stay."""
    safe = form_set(safe) if plus else safe
    if isinstance(data, str):
        return "".join(encode_character(data, i, safe, plus) for i in range(len(data)))
    return encode(data, safe, plus)


def requote(data, safe, errors="keep"):
    """RFC 3986 section 2.4: what is a triplet already is never encoded again."""
    text = isinstance(data, str)
    result = []
    for token in (TEXT_TOKEN if text else TOKEN).finditer(data):
        spelling = token[0]
        if spelling in ("%", b"%"):
            if errors == "raise":
                raise UriSyntaxError('"%" not followed by two hexadecimal digits', data, token.start())
            if errors == "replace":
                spelling = "%25" if text else b"%25"
        elif len(spelling) == 1:
            spelling = encode_character(data, token.start(), safe, False) if text else encode(spelling, safe)
        result.append(spelling)
    return ("" if text else b"").join(result)


# --- percent_decode, decode_lines -------------------------------------------------------------------------------------


def ill_formed(octets):
    """The maximal subparts of octets that are not UTF-8 (RFC 3629), as (start, end): Python's own decoder tells."""
    parts, end = [], 0
    while True:
        try:
            octets[end:].decode()
            return parts
        except UnicodeDecodeError as error:
            parts.append((end + error.start, end + error.end))
            end += error.end


def decode_row(src, errors, malformed=None, plus=False, utf8=True, stay=CONTROLS):  # noqa: PLR0913, PLR0917
    """A row of text or, without utf8, of bytes, decoded once: the result and the first fault, (code, offset) or None.

    A policy, "keep" or "replace", is for bytes that are not UTF-8, and for a malformed triplet unless that has one of
    its own, `malformed`. Triplets of the controls `stay` do so.
    """
    tokens = list(TOKEN.finditer(src))
    octets = [int(token[0][1:], 16) if len(token[0]) == 3 else token[0][0] for token in tokens]
    out = [b" " if plus and token[0] == b"+" else bytes([octet]) for token, octet in zip(tokens, octets, strict=True)]
    faults = [(i, i + 1, "percent", malformed or errors) for i, token in enumerate(tokens) if token[0] == b"%"]
    if utf8:
        faults += [(start, end, "utf-8", errors) for start, end in ill_formed(bytes(octets))]
    for start, end, _, policy in faults:
        for i in range(start, end):
            out[i] = tokens[i][0] if policy == "keep" else REPLACEMENT if i == start else b""
    for i in range(len(octets)):
        if bytes(octets[i : i + 1]) in stay:
            out[i] = tokens[i][0]
        elif bytes(octets[i : i + 2]) in stay:
            out[i : i + 2] = tokens[i][0], tokens[i + 1][0]
    first = min(faults, default=None)
    return b"".join(out), first and (first[2], tokens[first[0]].start())


def encode_row(src, errors, safe, triplets=False, plus=False, utf8=True):  # noqa: PLR0913, PLR0917
    """The same, encoded: with `triplets`, those stay, and a malformed one is a fault."""
    tokens = TOKEN.finditer(src) if triplets else re.finditer(b".", src, re.DOTALL)
    out, faults = {}, []
    for token in tokens:
        spelling, start = token[0], token.start()
        if spelling == b"%" and triplets:
            faults.append((start, "percent"))
            out[start] = b"%" if errors == "keep" else b"%25"
        else:
            out[start] = spelling if len(spelling) == 3 else encode(spelling, safe, plus)
    for start, end in ill_formed(src) if utf8 else []:
        faults.append((start, "utf-8"))
        if errors == "replace":
            out |= {i: encode(REPLACEMENT, safe) if i == start else b"" for i in range(start, end)}
    first = min(faults, default=None)
    return b"".join(out[i] for i in sorted(out)), first and (first[1], first[0])


def careful(src, plus, policy, utf8, controls):
    """Decode once, and treat three things specially: malformed triplets and, on demand, what is not UTF-8 (a policy:
    "keep", "replace", or "raise" with the position as a UriSyntaxError), and triplets of controls, which stay."""
    result, fault = decode_row(src, policy, plus=plus, utf8=utf8, stay=frozenset() if controls else CONTROLS)
    if policy == "raise" and fault:
        raise UriSyntaxError("malformed or ill-formed", src, fault[1])
    return result


def percent_decode(data, plus=False, errors="keep"):
    """RFC 3986 section 2.1, and RFC 3629 for a str, each run of ASCII by itself."""
    if not isinstance(data, str):
        return careful(bytes(data), plus, errors, utf8=False, controls=True)

    def decode_run(run):
        try:
            return careful(run[0].encode(), plus, errors, utf8=True, controls=True).decode()
        except UriSyntaxError as error:
            raise UriSyntaxError(error.reason, data, run.start() + error.offset) from None

    return re.sub("[\x00-\x7f]+", decode_run, data)


def lines_of(src, end=b"\n"):
    """Pairs of the text of a line and its end; a "\\r" before "\\n" belongs to that."""
    *parts, last = bytes(src).split(end)
    lines = [(part[:-1], b"\r\n") if end == b"\n" and part[-1:] == b"\r" else (part, end) for part in parts]
    return lines + ([(last, b"")] if last else [])


def decode_lines(src, plus=False, raw=False, errors="keep"):
    """RFC 3986 section 2.1 for lines. A newline neither belongs to a triplet nor to a UTF-8 sequence, so the lines need
    not be taken apart."""
    return careful(bytes(src), plus, errors, utf8=not raw, controls=raw)


def encode_lines(src, safe, plus=False):
    """RFC 3986 section 2.1 for lines, whose ends are LF or CR LF."""
    return b"".join(percent_encode(line, safe, plus) + end for line, end in lines_of(src))


# --- encodings other than UTF-8 ---------------------------------------------------------------------------------------


def characters(data, encoding):
    """The characters of bytes in an encoding as (start, end, text): for a byte that begins none, text is None."""
    start = 0
    while start < len(data):
        for end in range(start + 1, min(start + 3, len(data)) + 1):
            try:
                text = data[start:end].decode(encoding)
                break
            except UnicodeDecodeError:
                pass
        else:
            end, text = start + 1, None
        yield start, end, text
        start = end


def decode_charset(data, encoding):
    """Bytes in an encoding as UTF-8, with U+FFFD for each byte that begins no character; and whether there is none."""
    texts = [text for _, _, text in characters(data, encoding)]
    return b"".join(REPLACEMENT if text is None else text.encode() for text in texts), None not in texts


def decode_encoded_row(src, errors, encoding, plus=False, stay=CONTROLS):
    """Like decode_row() for text, but what is not UTF-8 once it is decoded is in another encoding."""
    tokens = [token[0] for token in TOKEN.finditer(src)]
    octets = decode(src)
    if not ill_formed(octets):
        return decode_row(src, errors, plus=plus, stay=stay)
    out, faults, offset = [], [], 0
    for start, end, text in characters(octets, encoding):
        written = b"".join(tokens[start:end])
        if text is None or written == b"%":
            faults.append(("utf-8" if text is None else "percent", offset))
            out.append(written if errors == "keep" else REPLACEMENT)
        elif plus and written == b"+":
            out.append(b" ")
        else:
            out.append(written if text.encode() in stay and len(written) > end - start else text.encode())
        offset += len(written)
    if errors == "keep" and ill_formed(b"".join(out)) and not ill_formed(src):  # text stays text
        out = [decode_row(src, errors, plus=plus, stay=stay)[0]]
    return b"".join(out), next(iter(faults), None)
