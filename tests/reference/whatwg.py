"""The reference implementation of the policy "whatwg": the URL Standard's URL parser and serializer, state by state.

The states are those of the Standard, section 4.4; a URL is a record. Hosts beyond ASCII: section 3.3 and UTS 46.
"""

import codecs
import re
import unicodedata
from collections import deque

import idna
from idna import idnadata

PORTS = {"ftp": 21, "file": None, "http": 80, "https": 443, "ws": 80, "wss": 443}

# Section 1.3. Each set has also what is not ASCII.
C0 = {*map(chr, range(32)), "\x7f"}
FRAGMENT = C0 | set(' "<>`')
QUERY = C0 | set(' "#<>')
SPECIAL_QUERY = QUERY | {"'"}
PATH = QUERY | set("?^`{}")
USERINFO = PATH | set("/:;=@[\\]|")

FORBIDDEN_HOST = set("\0\t\n\r #/:<>?@[\\]^|")
FORBIDDEN_DOMAIN = FORBIDDEN_HOST | C0 | {"%"}
END = ""
BLANKS = "".join(map(chr, range(33)))


class Failure(Exception):
    """A URL is rejected. Its argument, where parse() raises it, is the index in the clean URL."""


class Url:
    """A URL record. `path` is a str if it is opaque."""

    def __init__(self, scheme=""):
        self.scheme, self.username, self.password, self.host, self.port = scheme, "", "", None, None
        self.path, self.query, self.fragment = [], None, None

    @property
    def special(self):
        return self.scheme in PORTS

    def take(self, base, *names):
        for name in names:
            value = getattr(base, name)
            setattr(self, name, [*value] if isinstance(value, list) else value)

    def shorten(self):
        if self.scheme == "file" and len(self.path) == 1 and re.fullmatch("[A-Za-z]:", self.path[0]):
            return
        del self.path[-1:]

    def href(self):
        text = self.scheme + ":"
        if self.host is not None:
            text += "//"
            if self.username or self.password:
                text += self.username + (":" + self.password if self.password else "") + "@"
            text += self.host + (f":{self.port}" if self.port is not None else "")
        elif not isinstance(self.path, str) and len(self.path) > 1 and self.path[0] == "":
            text += "/."
        text += self.path if isinstance(self.path, str) else "".join("/" + segment for segment in self.path)
        text += "" if self.query is None else "?" + self.query
        return text + ("" if self.fragment is None else "#" + self.fragment)


def encode(text, members):
    return "".join(
        "".join(f"%{byte:02X}" for byte in c.encode()) if c in members or not c.isascii() else c for c in text
    )


def percent_decode(text):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())


def is_drive(text):
    return re.fullmatch("[A-Za-z][:|]", text) is not None


def begins_with_drive(text):
    return re.match(r"[A-Za-z][:|](?:[/\\?#]|\Z)", text) is not None


def is_single_dot(segment):
    return segment.lower() in (".", "%2e")


def is_double_dot(segment):
    return segment.lower() in ("..", ".%2e", "%2e.", "%2e%2e")


# --- hosts (section 3.5) ----------------------------------------------------------------------------------------------


def parse_host(text, opaque):
    if text.startswith("["):
        if not text.endswith("]"):
            raise Failure
        return f"[{write_ipv6(parse_ipv6(text[1:-1]))}]"
    if opaque:
        if FORBIDDEN_HOST & {*text}:
            raise Failure
        return encode(text, C0)
    domain = percent_decode(text).decode("utf-8", "replace")
    ascii_domain = domain_to_ascii(domain)
    if ends_in_a_number(ascii_domain):
        return parse_ipv4(ascii_domain)
    return ascii_domain


def domain_to_ascii(domain):
    # Whatever ToASCII would say about A-labels in an ASCII domain.
    result = domain.lower() if domain.isascii() else ".".join(map(a_label, to_labels(domain)))
    if not result or FORBIDDEN_DOMAIN & {*result}:
        raise Failure
    return result


def to_labels(domain):
    """UTS 46 section 4: the labels of a domain, mapped, with A-labels decoded."""
    try:
        mapped = "".join(idna.uts46_remap(character, std3_rules=False) for character in domain)
    except idna.IDNAError:
        raise Failure from None
    labels = unicodedata.normalize("NFC", mapped).split(".")
    for i, label in enumerate(labels):
        decoded = label
        if label.startswith("xn--"):
            try:
                decoded = label[4:].encode("ascii").decode("punycode")
            except UnicodeError:
                raise Failure from None
            # RFC 3492 section 6.2: a delimiter is consumed if characters precede it. Python consumes any.
            if label.rfind("-") == 4 or decoded.isascii() or any(0xD800 <= ord(c) < 0xE000 for c in decoded):
                raise Failure
            labels[i] = decoded
        check_label(decoded)
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for label in labels for c in label):
        for label in labels:
            if label and not has_good_directions(label):
                raise Failure
    return labels


def check_label(label):
    """UTS 46 section 4.1, with CheckHyphens false and CheckJoiners true."""
    if not label:
        return
    if label != unicodedata.normalize("NFC", label) or label.startswith("xn--") or "." in label:
        raise Failure
    if unicodedata.category(label[0]).startswith("M"):
        raise Failure
    for i, c in enumerate(label):
        try:
            valid = idna.uts46_remap(c, std3_rules=False) == c
        except idna.IDNAError:
            valid = False
        if not valid or (c in "\u200c\u200d" and not may_join(label, i)):
            raise Failure


def joining_type(c):
    for name, ranges in idnadata.joining_types.items():
        if any(span >> 32 <= ord(c) < span & 0xFFFFFFFF for span in ranges):
            return name
    return None


def may_join(label, i):
    """RFC 5892 appendices A.1 and A.2."""
    if i and unicodedata.combining(label[i - 1]) == 9:
        return True
    if label[i] == "\u200d":
        return False
    before = next((kind for kind in map(joining_type, reversed(label[:i])) if kind != "T"), None)
    after = next((kind for kind in map(joining_type, label[i + 1 :]) if kind != "T"), None)
    return before in ("L", "D") and after in ("R", "D")


def has_good_directions(label):
    """RFC 5893 section 2."""
    classes = [unicodedata.bidirectional(c) for c in label]
    last = next((kind for kind in reversed(classes) if kind != "NSM"), None)
    if classes[0] in ("R", "AL"):
        return (
            {*classes} <= {"R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"}
            and last in ("R", "AL", "EN", "AN")
            and not {"EN", "AN"} <= {*classes}
        )
    if classes[0] == "L":
        return {*classes} <= {"L", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"} and last in ("L", "EN")
    return False


def a_label(label):
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def ends_in_a_number(domain):
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    return re.fullmatch(r"[0-9]+|0[Xx][0-9A-Fa-f]*", parts[-1]) is not None


def parse_ipv4(domain):
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        raise Failure
    numbers = []
    for part in parts:
        if re.fullmatch("0[Xx][0-9A-Fa-f]*", part):
            numbers.append(int(part[2:] or "0", 16))
        elif re.fullmatch("0[0-7]+", part):
            numbers.append(int(part, 8))
        elif re.fullmatch("0|[1-9][0-9]*", part) and len(part) < 4000:
            numbers.append(int(part))
        else:
            raise Failure
    *firsts, last = numbers
    if any(number > 255 for number in firsts) or last >= 256 ** (5 - len(numbers)):
        raise Failure
    for i, number in enumerate(firsts):
        last += number * 256 ** (3 - i)
    return ".".join(str(last >> shift & 255) for shift in (24, 16, 8, 0))


def parse_ipv6(text):  # noqa: PLR0912
    pieces, index, compress, at = [0] * 8, 0, None, 0

    def c(ahead=0):
        return text[at + ahead : at + ahead + 1]

    def is_hex(c):
        return c != END and c in "0123456789abcdefABCDEF"

    if c() == ":":
        if c(1) != ":":
            raise Failure
        at += 2
        index = compress = 1
    while c() != END:
        if index == 8:
            raise Failure
        if c() == ":":
            if compress is not None:
                raise Failure
            at += 1
            index += 1
            compress = index
            continue
        value = length = 0
        while length < 4 and is_hex(c()):
            value = value * 16 + int(c(), 16)
            at += 1
            length += 1
        if c() == ".":
            if length == 0 or index > 6:
                raise Failure
            at -= length
            if not re.fullmatch(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}", text[at:], re.ASCII):
                raise Failure
            numbers = [int(number) for number in text[at:].split(".")]
            if max(numbers) > 255:
                raise Failure
            pieces[index : index + 2] = numbers[0] * 256 + numbers[1], numbers[2] * 256 + numbers[3]
            index += 2
            break
        if c() == ":":
            at += 1
            if c() == END:
                raise Failure
        elif c() != END:
            raise Failure
        pieces[index] = value
        index += 1
    if compress is not None:
        moved = pieces[compress:index]
        pieces[compress:] = [0] * (8 - compress - len(moved)) + moved
    elif index != 8:
        raise Failure
    return pieces


def write_ipv6(pieces):
    text = ":" + ":".join(f"{piece:x}" for piece in pieces) + ":"
    runs = re.findall("(?::0)+(?=:)", text)
    longest = max(runs, key=len, default="")
    if len(longest) <= 2:
        return text[1:-1]
    # The first of the longest runs; its text may begin a longer one nowhere before it.
    start = next(found.start() for found in re.finditer("(?::0)+(?=:)", text) if found[0] == longest)
    return f"{text[1:start]}::{text[start + len(longest) + 1 : -1]}"


# --- URLs (section 4.4) -----------------------------------------------------------------------------------------------


def host_at(index, text, opaque):
    try:
        return parse_host(text, opaque)
    except Failure:
        raise Failure(index) from None


def parse(text, base=None):  # noqa: PLR0912, PLR0915
    """Return the record of a scalar value string; raise Failure."""
    text = re.sub("[\t\n\r]", "", text.strip(BLANKS))
    url, state, buffer, at = Url(), "scheme start", deque(), 0
    saw_at = in_brackets = saw_password = False

    def taken():
        result = "".join(buffer)
        buffer.clear()
        return result

    def ends():
        return c == END or c in "/?#" or (c == "\\" and url.special)

    while True:
        c, rest = text[at : at + 1], text[at + 1 :]
        if state == "scheme start":
            if c != END and c.isascii() and c.isalpha():
                buffer.append(c.lower())
                state = "scheme"
            else:
                state, at = "no scheme", at - 1
        elif state == "scheme":
            if c != END and c.isascii() and (c.isalnum() or c in "+-."):
                buffer.append(c.lower())
            elif c == ":":
                url.scheme = taken()
                if url.scheme == "file":
                    state = "file"
                elif url.special and base is not None and base.scheme == url.scheme:
                    state = "special relative or authority"
                elif url.special:
                    state = "special authority slashes"
                elif rest.startswith("/"):
                    state, at = "path or authority", at + 1
                else:
                    url.path, state = "", "opaque path"
            else:
                buffer.clear()
                state, at = "no scheme", -1
        elif state == "no scheme":
            if base is None or (isinstance(base.path, str) and c != "#"):
                raise Failure(0)
            if isinstance(base.path, str):
                url.take(base, "scheme", "path", "query")
                url.fragment, state = "", "fragment"
            else:
                state, at = "relative" if base.scheme != "file" else "file", at - 1
        elif state == "special relative or authority":
            if c == "/" and rest.startswith("/"):
                state, at = "special authority ignore slashes", at + 1
            else:
                state, at = "relative", at - 1
        elif state == "path or authority":
            if c == "/":
                state = "authority"
            else:
                state, at = "path", at - 1
        elif state == "relative":
            url.scheme = base.scheme
            if c == "/" or (url.special and c == "\\"):
                state = "relative slash"
            else:
                url.take(base, "username", "password", "host", "port", "path", "query")
                if c == "?":
                    url.query, state = "", "query"
                elif c == "#":
                    url.fragment, state = "", "fragment"
                elif c != END:
                    url.query = None
                    url.shorten()
                    state, at = "path", at - 1
        elif state == "relative slash":
            if url.special and c != END and c in "/\\":
                state = "special authority ignore slashes"
            elif c == "/":
                state = "authority"
            else:
                url.take(base, "username", "password", "host", "port")
                state, at = "path", at - 1
        elif state == "special authority slashes":
            if c == "/" and rest.startswith("/"):
                at += 1
            else:
                at -= 1
            state = "special authority ignore slashes"
        elif state == "special authority ignore slashes":
            if c == END or c not in "/\\":
                state, at = "authority", at - 1
        elif state == "authority":
            if c == "@":
                if saw_at:
                    buffer.extendleft("04%")
                saw_at = True
                for character in taken():
                    if character == ":" and not saw_password:
                        saw_password = True
                    elif saw_password:
                        url.password += encode(character, USERINFO)
                    else:
                        url.username += encode(character, USERINFO)
            elif ends():
                if saw_at and not buffer:
                    raise Failure(at)
                at -= len(buffer) + 1
                buffer.clear()
                state = "host"
            else:
                buffer.append(c)
        elif state == "host":
            if (c == ":" and not in_brackets) or ends():
                if not buffer and (c == ":" or url.special):
                    raise Failure(at)
                start = at - len(buffer)
                url.host = host_at(start, taken(), not url.special)
                if c == ":" and not ends():
                    state = "port"
                else:
                    state, at = "path start", at - 1
            else:
                in_brackets = c == "[" or (in_brackets and c != "]")
                buffer.append(c)
        elif state == "port":
            if c != END and c in "0123456789":
                buffer.append(c)
            elif ends():
                if buffer:
                    start = at - len(buffer)
                    digits = taken().lstrip("0") or "0"
                    if len(digits) > 5 or int(digits) > 65535:
                        raise Failure(start)
                    url.port = int(digits) if int(digits) != PORTS.get(url.scheme) else None
                state, at = "path start", at - 1
            else:
                raise Failure(at)
        elif state == "file":
            url.scheme, url.host = "file", ""
            if c != END and c in "/\\":
                state = "file slash"
            elif base is not None and base.scheme == "file":
                url.take(base, "host", "path", "query")
                if c == "?":
                    url.query, state = "", "query"
                elif c == "#":
                    url.fragment, state = "", "fragment"
                elif c != END:
                    url.query = None
                    if begins_with_drive(text[at:]):
                        url.path = []
                    else:
                        url.shorten()
                    state, at = "path", at - 1
            else:
                state, at = "path", at - 1
        elif state == "file slash":
            if c != END and c in "/\\":
                state = "file host"
            else:
                if base is not None and base.scheme == "file":
                    url.host = base.host
                    if not begins_with_drive(text[at:]) and base.path and re.fullmatch("[A-Za-z]:", base.path[0]):
                        url.path.append(base.path[0])
                state, at = "path", at - 1
        elif state == "file host":
            if c == END or c in "/\\?#":
                at -= 1
                host = "".join(buffer)
                if is_drive(host):
                    state = "path"
                else:
                    buffer.clear()
                    url.host = host_at(at + 1 - len(host), host, False) if host else ""
                    if url.host == "localhost":
                        url.host = ""
                    state = "path start"
            else:
                buffer.append(c)
        elif state == "path start":
            if url.special:
                state = "path"
                if c == END or c not in "/\\":
                    at -= 1
            elif c == "?":
                url.query, state = "", "query"
            elif c == "#":
                url.fragment, state = "", "fragment"
            elif c != END:
                state = "path"
                if c != "/":
                    at -= 1
        elif state == "path":
            if ends():
                slash = c == "/" or (c == "\\" and url.special)
                segment = taken()
                if is_double_dot(segment):
                    url.shorten()
                    if not slash:
                        url.path.append("")
                elif is_single_dot(segment):
                    if not slash:
                        url.path.append("")
                else:
                    if url.scheme == "file" and not url.path and is_drive(segment):
                        segment = segment[0] + ":"
                    url.path.append(segment)
                if c == "?":
                    url.query, state = "", "query"
                elif c == "#":
                    url.fragment, state = "", "fragment"
            else:
                buffer.append(encode(c, PATH))
        elif state == "opaque path":
            if c == "?":
                url.query, state = "", "query"
            elif c == "#":
                url.fragment, state = "", "fragment"
            elif c == " ":
                url.path += "%20" if rest[:1] in ("?", "#") and rest else " "
            elif c != END:
                url.path += encode(c, C0)
        elif state == "query":
            if c in ("#", END):
                url.query += encode(taken(), SPECIAL_QUERY if url.special else QUERY)
                if c == "#":
                    url.fragment, state = "", "fragment"
            else:
                buffer.append(c)
        elif state == "fragment":
            url.fragment += encode(text[at:], FRAGMENT)
            return url
        if c == END and at >= len(text):
            return url
        at += 1


def normalize(text, base=None):
    """Return the href of bytes; raise Failure.

    >>> normalize(b"HTTP://EX%41MPLE.org:80/a/../b c")
    b'http://example.org/b%20c'
    """
    record = None if base is None else parse(base.decode("utf-8", "replace"))
    return parse(text.decode("utf-8", "replace"), record).href().encode()


def offset_of(text, index):
    """Return the offset in bytes of a character of the clean URL."""
    starts, at, ill_formed = [], 0, {}

    def replace(error):
        ill_formed[error.start] = error.end
        return "\ufffd", error.end

    codecs.register_error("reference.whatwg", replace)
    decoded = text.decode("utf-8", "reference.whatwg")
    for c in decoded:
        starts.append(at)
        at = ill_formed[at] if at in ill_formed else at + len(c.encode())
    first = len(decoded) - len(decoded.lstrip(BLANKS)) if decoded.strip(BLANKS) else 0
    last = len(decoded.rstrip(BLANKS))
    kept = [starts[i] for i in range(first, last) if decoded[i] not in "\t\n\r"]
    end = starts[last] if last < len(decoded) else len(text)
    return kept[index] if index < len(kept) else end


def href_or_fault(text, base=None):
    """Return the href of bytes, or the code and the offset of a fault."""
    try:
        return normalize(text, base)
    except Failure as failure:
        return "whatwg", offset_of(text, failure.args[0])


def check(text):
    """Return the code and the offset of a fault, or None."""
    found = href_or_fault(text)
    return found if isinstance(found, tuple) else None
