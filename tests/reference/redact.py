"""Redaction, slowly: what is secret in a URL or a text is listed as spans, which are then replaced.

Characters are found with one regular expression, names are compared as strings, and what a character means is asked
when it is reached.
"""

import re
from functools import cache
from urllib.parse import unquote_to_bytes

from reference.uri_find import ends

from uricodec.uri import SENSITIVE_NAMES

# A character as it is spelled: percent-encoded one to four times, an escape of JSON, a reference of HTML, or a byte.
SPELLED = re.compile(
    rb"%(?:25){0,3}(?P<encoded>[0-9A-Fa-f]{2})"
    rb"|\\{1,8}(?:(?P<slash>/)|u00(?P<json>[0-7][0-9A-Fa-f]))"
    rb"|&(?:(?P<amp>amp;)|(?P<equals>equals;)|#(?P<decimal>[0-9]{1,7});|#[xX](?P<hexadecimal>[0-9A-Fa-f]{1,7});)"
    rb"|(?P<byte>.)",
    re.DOTALL,
)
ENDS_OF_WORDS = bytes(range(33)) + b'"<>\x7f'
WORD = re.compile(rb'[^\0-\x20"<>\x7f]+')
JOINED = re.compile(rb'(?:[^\0-\x20"<>\x7f]|(?<==)\r?\n)+')
ENDS_OF_LINES = b"=\r", b"=\n"
JOINS = re.compile(rb"(?:[^=]|=[0-9A-Fa-f]{2}|=\r?\n)*=")  # quoted-printable up to the end of a line
BRACKETS = {b")": b"(", b"]": b"[", b"}": b"{"}


def char_at(text, i):
    """(the character, how often it is percent-encoded, the end of its spelling)."""
    if text[i] not in b"%\\&":  # the usual case: a byte
        return text[i : i + 1], 0, i + 1
    found = SPELLED.match(text, i)
    kind, spelled = next((kind, spelled) for kind, spelled in found.groupdict().items() if spelled is not None)
    base = {"encoded": 16, "json": 16, "hexadecimal": 16, "decimal": 10}.get(kind)
    code = int(spelled, base) if base else {"slash": 47, "amp": 38, "equals": 61}.get(kind)
    if kind in {"decimal", "hexadecimal"} and code >= 128:
        return text[i : i + 1], 0, i + 1
    char = spelled if code is None else bytes([code])
    return char, len(found[0]) // 2 if kind == "encoded" else 0, found.end()


def chars(text, i, depth):
    """The characters from i on, those of a greater depth as b""; with where they begin and end."""
    while i < len(text):
        char, deep, end = char_at(text, i)
        yield char if deep <= depth else b"", deep, i, end
        i = end


# --- names ------------------------------------------------------------------------------------------------------------


@cache
def patterns(names):
    wanted = names.split(",") if isinstance(names, str) else names
    listed = [each for name in wanted for each in SENSITIVE_NAMES.get(name.strip(), (name.strip(),))]
    return {each.encode("utf-8", "surrogatepass").lower() for each in listed}


def is_sensitive(spelled, names, nesting):
    """Whether a name in a URL nested so often is one of them, as a whole or a part of it in brackets."""
    decoded = b"".join(spelled[i:end] if depth else char for char, depth, i, end in chars(spelled, 0, 4))
    for _ in range(nesting):  # to the URL as it was written
        decoded = unquote_to_bytes(decoded.replace(b"+", b" "))
    decoded = unquote_to_bytes(unquote_to_bytes(decoded.replace(b"+", b" ")))
    blanks = bytes(range(33))
    # A name is cut where it cannot be one of them any more.
    decoded = decoded.lower().lstrip(blanks)
    whole, is_cut = decoded[:256].rstrip(blanks), bool(decoded[256:].rstrip(blanks))
    parts = [part.strip(blanks) for part in re.split(rb"[\[\]]", whole)] if b"[" in decoded else []
    for pattern in patterns(names if isinstance(names, str) else tuple(names)):
        head = pattern.removesuffix(b"*")
        if head == pattern and ((whole == pattern and not is_cut) or pattern in parts):
            return True
        if head != pattern and (whole.startswith(head) or any(part.startswith(head) for part in parts)):
            return True
    return False


# --- URLs -------------------------------------------------------------------------------------------------------------


def end_of_slashes(text, i, depth):
    """The end of two slashes at i, and the depth of the deeper one; (None, 0): there are none."""
    deepest = 0
    for _ in range(2):
        if i >= len(text):
            return None, 0
        char, deep, i = char_at(text, i)
        if char not in {b"/", b"\\"} or deep > depth:
            return None, 0
        deepest = max(deepest, deep)
    return i, deepest


def deep_enough(text, i, most):
    return char_at(text, i)[1] <= most


def userinfo(text, start, depth, most, in_query, in_text, active, every):  # noqa: PLR0913, PLR0917
    """The spans of the user and the password of the authority at `start`, and where the URL goes on."""
    stop, at, colon = len(text), None, None
    for char, deep, i, end in chars(text, start, depth):
        if char in {b"/", b"\\", b"?", b"#"} or (char in {b"&", b";"} and (in_query or deep < depth)):
            stop = i
            break
        if end == i + 1 and char and char in active:
            stop = i
            break
        real = char or char_at(text, i)[0] if deep_enough(text, i, most) else b""
        if real in {b"&", b";", b"?", b"#"} and is_pair(text, end, most + deep, most + deep, in_text, every):
            stop = i
            break
        at = i if char == b"@" else at
        colon = (i, end) if char == b":" and colon is None else colon
    port = [char for char, *_ in chars(text[:stop], colon[1], depth)] if colon else []
    if at is None and colon and text[start : start + 1] != b"[" and not all(char.isdigit() for char in port):
        for char, deep, i, _ in chars(text, stop, depth):
            if (in_query and char == b"&") or (deep < depth and char in {b"/", b"\\", b"?", b"#", b"&", b";"}):
                break
            at = i if char == b"@" else at
    if at is None:
        return [], start
    return ([(start, colon[0]), (colon[1], at)] if colon and colon[0] < at else [(start, at)]), at


def is_pair(text, start, depth, most, in_text, every):  # noqa: PLR0913, PLR0917
    for char, deep, i, end in chars(text, start, most):
        if char in {b"=", b":"}:
            return char == b"=" and (i > start or every) and deep <= depth
        if (char in {b"&", b";", b"#", b"?"} and deep <= depth) or (in_text and stops_word(char, deep, i, end)):
            return False
    return False


def stops_word(char, deep, i, end):
    return deep == 0 and end > i + 1 and char in {*(bytes([each]) for each in ENDS_OF_WORDS), b"'"}


def character_at(text, i):
    """The character beyond ASCII at i; "": it is not UTF-8."""
    for size in 2, 3, 4:
        try:
            return text[i : i + size].decode()
        except UnicodeDecodeError:
            continue
    return ""


def value_end(text, start, depth, most, in_path, in_text, active, every):  # noqa: PLR0912, PLR0913, PLR0917
    i, unclosed, least = start, [], start
    while i < len(text):
        char, deep, end = char_at(text, i)
        if deep <= depth:
            if char in {b"&", b"#"} or (char == b";" and is_pair(text, end, depth, most, in_text, every)):
                return i, i
            if in_path and char in {b"/", b"\\", b"?"}:
                return i, i
        if in_text and deep == 0:
            if stops_word(char, deep, i, end) or (
                text[i - 1 : i + 1] in ENDS_OF_LINES and not JOINS.fullmatch(text[:i])
            ):
                break
            if end == i + 1:
                if char >= b"\x80":
                    character = character_at(text, i)
                    if character and ends(character):
                        break
                    end = i + len((character or ".").encode())
                elif char == b"\\":
                    following = text[i + 1 : i + 2]
                    if following == b"\\":
                        end = i + 2
                    elif following and following in b"nrtbf":
                        break
                elif char in BRACKETS.values():
                    unclosed.append(char)
                elif BRACKETS.get(char) in unclosed:
                    unclosed.remove(BRACKETS[char])
                elif char in active:
                    break
        least = end if end > i + 1 and SPELLED.match(text, i).lastgroup != "byte" else least
        i = end
    value = text[start:i]
    while in_text and start + len(value) > least:
        last = value[-1:]
        if last in BRACKETS:
            if value.count(BRACKETS[last]) >= value.count(last):
                break
        elif last not in b".,:;!?'\\":
            break
        value = value[:-1]
    return start + len(value) if in_text else i, i


def secrets(text, names, nested, in_text=False, bare=False, active=()):  # noqa: PLR0912, PLR0913, PLR0917
    """The spans of what is secret in a URL, and its end."""
    most, spans, every = 2 if nested else 0, [], b"*" in patterns(names if isinstance(names, str) else tuple(names))
    start, is_name, depth, i = 0, bare or not in_text, 0, 0
    in_query = in_path = has_slash = False
    if in_text and text[:1] and text[:1] in b"'([{`|=,":
        start = 1
    first = start
    slashes, _ = end_of_slashes(text, start, 0)
    if slashes:
        found, i = userinfo(text, slashes, 0, most, False, in_text, active, every)
        spans, has_slash = [*found], True
    while i < len(text):
        char, deep, end = char_at(text, i)
        if deep > most + (depth if char == b"=" and is_name else 0):
            i = end
        elif char == b"=":
            if is_name and start == first:  # a query without "?", or a path
                is_name = not has_slash and b"/" not in text[start:i]
                in_query |= is_name
            is_secret = is_name and is_sensitive(text[start:i], names, depth)
            i = end
            if is_secret:
                stop, i = value_end(text, end, min(depth, deep), most, in_path, in_text, active, every)
                spans.append((end, stop))
                if in_text and text[i : i + 1] in {b"\r", b"\n"}:
                    return spans, i
            is_name = False
        elif char in {b"?", b"#", b"&", b";"}:
            if not in_query and char in {b"&", b";"}:
                has_slash |= b"/" in text[start:i]
            is_name = not in_text or bare or in_query or has_slash or char in {b"?", b"#"}
            in_query |= is_name and char != b";" and deep == 0
            in_path = not in_query and char == b";"
            start, depth, i = end, deep, end
        else:
            slashes, deeper = end_of_slashes(text, end, most) if char == b":" else (None, 0)
            if slashes:
                found, i = userinfo(text, slashes, max(deep, deeper), most, in_query, in_text, active, every)
                spans += found
                is_name, has_slash = False, True
            else:
                i = end
    return spans, i


# --- results ----------------------------------------------------------------------------------------------------------


def replaced(text, spans):
    for start, stop in reversed(spans):
        text = text[:start] + b"REDACTED" + text[stop:]
    return text


def redact(url, names="default", nested=True):
    """Redact a URL (bytes)."""
    return replaced(url, secrets(url, names, nested)[0])


def redact_text(text, names="default", nested=True, bare=False, joins=True):
    """Redact the URLs in a text (bytes)."""
    triggers = rb"[?#&;@=]" if bare else rb"[?#&;@]"

    def redacted(word):
        word = word[0]
        first = re.search(triggers, word)
        if not first:
            return word
        begin = word.rfind(b"\n", 0, first.start()) + 1  # the URL begins in the line in which it shows
        earlier, word, before = word[:begin], word[begin:], word[begin : first.start()]
        opening = before[:1] in {*map(bytes, zip(b"'([{`|=,"))}
        if end_of_slashes(before, opening, 0)[0]:
            before = before[:opening]
        for char, _, i, end in chars(before, 0, 2):
            if (char == b":" and end_of_slashes(before, end, 2)[0]) or (
                end > i + 1 and char in {b"?", b"&", b";", b"#"}
            ):
                before = before[:i]
                break
        active = {quote for quote in (b"'", b"`", b"|") if before.count(quote) % 2}
        for closing, opening in BRACKETS.items():
            if before.rfind(opening) > before.rfind(closing):
                active.add(closing)
        spans, stop = secrets(word, names, nested, True, bare, active)
        return earlier + replaced(word[:stop], spans) + redact_text(word[stop:], names, nested, bare, joins)

    return (JOINED if joins else WORD).sub(redacted, text)
