"""Redaction, slowly: what is secret in a URL or a text is listed as spans, which are then replaced.

Characters are found with one regular expression, names are compared as strings, and what a character means is asked
when it is reached.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from reference.uri_find import ends

SIGNATURES = ("sig", "Signature", "AWSAccessKeyId", "X-Amz-Credential", "X-Amz-Security-Token", "X-Amz-Signature")
SIGNATURES += ("X-Goog-Signature",)
# Not the list of the package: a name that is lost there is missed here.
SENSITIVE_NAMES = {
    "default": SIGNATURES,
    "extended": (
        *SIGNATURES,
        *("*accesskey*", "*apikey*", "*authcode*", "*authkey*", "*credential*", "*csrf*", "*encryptionkey*", "*jwt*"),
        *("*masterkey*", "*otp*", "*passcode*", "*passphrase*", "*passwd*", "*password*", "*privatekey*", "*pwd*"),
        *("*secret*", "*sessid*", "*session*", "*sharedkey*", "*signature*", "*signingkey*", "*subscriptionkey*"),
        *("*token*", "*xsrf*", "GoogleAccessId", "Key-Pair-Id", "OSSAccessKeyId", "Policy", "RelayState"),
        *("SAMLRequest", "SAMLResponse", "SAMLart", "account_key", "activation_code", "activation_key", "app_key"),
        *("assertion", "auth", "authorization", "bearer", "cfid", "client_assertion", "code", "code_verifier"),
        *("confirmation_code", "connect.sid", "consumer_key", "device_code", "hash", "hmac", "invitation_code"),
        *("invite", "invite_code", "key", "license_key", "login_code", "magic_link", "nonce", "oauth"),
        *("oauth_consumer_key", "oauth_verifier", "pass", "passkey", "pgtId", "pgtIou", "pin", "pw", "recovery_code"),
        *("request_uri", "reset_code", "reset_key", "sess", "sid", "sign", "sso", "state", "stream_key", "ticket"),
        *("user_code", "user_key", "user_pass", "user_pw", "verification_code", "verification_key", "verify_code"),
        *("x-amz-*", "x-cos-*", "x-goog-*", "x-obs-*", "x-oss-*"),
    ),
}

# A character as it is spelled: percent-encoded one to four times, an escape of JSON, a reference of HTML, or a byte.
SPELLED = re.compile(
    rb"%(?:25){0,3}(?P<encoded>[0-9A-Fa-f]{2})"
    rb"|\\{1,8}(?P<slash>/|u002[fF])|(?:\\|(?:\\\\){1,4})u00(?P<json>[0-7][0-9A-Fa-f])"
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


def chars_and_pairs(text, i, depth):
    """The same, but two backslashes that begin no escape are one character: the second one begins none, either."""
    while i < len(text):
        char, deep, end = char_at(text, i)
        if text[i : i + 2] == b"\\\\" and end == i + 1:
            end += 1
        yield char if deep <= depth else b"", deep, i, end
        i = end


# --- names ------------------------------------------------------------------------------------------------------------


@cache
def patterns(names):
    """What the names mean: (has it a "*" before it, its text as it is compared, has it one after it)."""
    wanted = names.split(",") if isinstance(names, str) else names
    listed = [each for name in wanted for each in SENSITIVE_NAMES.get(name.strip(), (name.strip(),))]
    found = set()
    for each in listed:
        text = each.encode("utf-8", "surrogatepass")
        found.add((text != b"*" and text[:1] == b"*", comparable(text.strip(b"*")), text[-1:] == b"*"))
    return found


def comparable(name):
    return name.lower().translate(None, b"-_.")


def matches(name, names):
    """Whether a name, as it is compared, is one of these."""
    for any_before, text, any_after in patterns(names if isinstance(names, str) else tuple(names)):
        if any_before or any_after:
            found = text in name if any_before and any_after else name[-len(text) :] == text if any_before else None
            if found or (found is None and name.startswith(text)):
                return True
        elif name == text:
            return True
    return False


def is_sensitive(spelled, names, nesting):
    """Whether a name in a URL nested so often is one of them, as a whole or a part of it in brackets."""
    decoded = b"".join(spelled[i:end] if depth else char for char, depth, i, end in chars(spelled, 0, 4))
    for _ in range(nesting):  # to the URL as it was written
        decoded = unquote_to_bytes(decoded.replace(b"+", b" "))
    decoded = unquote_to_bytes(unquote_to_bytes(decoded.replace(b"+", b" ")))
    blanks = bytes(range(33))
    whole = comparable(decoded).strip(blanks)
    parts = re.split(rb"[\[\]]", whole)
    return any(matches(part.strip(blanks), names) for part in (whole, *parts))


# --- URLs -------------------------------------------------------------------------------------------------------------


class Slashes(NamedTuple):
    end: int
    depth: int = 0
    has_backslash: bool = False
    is_escaped: bool = False


NO_SLASHES = Slashes(0)


def slashes_at(text, i, depth):
    """The two slashes at i."""
    found = []
    for _ in range(2):
        if i >= len(text):
            return NO_SLASHES
        char, deep, end = char_at(text, i)
        if char not in {b"/", b"\\"} or deep > depth:
            return NO_SLASHES
        found.append((char, deep, end - i))
        i = end
    depths = [deep for _, deep, _ in found]
    return Slashes(i, max(depths), b"\\" in [char for char, *_ in found], all(size > 1 for *_, size in found))


class Around(NamedTuple):
    """What a URL is in."""

    in_text: bool
    active: Collection[bytes]


def is_line_escape(text, i):
    return text[i : i + 1] == b"\\" and text[i + 1 : i + 2] in {b"n", b"r", b"t", b"b", b"f"}


def authority(text, start, slashes, depth, around):
    """The characters of an authority up to where all readers end it, the delimiter there, and where that is."""
    found = []
    for char, deep, i, end in chars_and_pairs(text, start, depth):
        is_byte = end == i + 1
        if char in {b"/", b"?", b"#"} and (slashes.is_escaped or is_byte or text[end - 1 : end] == b"/"):
            return found, char, i
        if char == b"\\" and (slashes.has_backslash or (around.in_text and is_line_escape(text, i))):
            return found, char, i
        if char == b"&" and deep < depth:  # the URL is encoded in a value, which ends here
            return found, b"", i
        if around.in_text and is_byte and char in around.active:
            return found, b"", i
        found.append((char or b"x", i, end))
    return found, b"", len(text)


def port_of(host):
    """What follows the ":" of a host; None: it has none."""
    host = host.rpartition(b"]")[2] if host[:1] == b"[" else host
    host = re.sub(rb"(?:[^:]*:[0-9]+&)+", b"", host, count=1)  # ports of hosts in a query
    return host.partition(b":")[2] if b":" in host else None


def begins_reference(text, i, depth):
    """Whether there are two slashes: two backslashes may be one in JSON."""
    found = slashes_at(text, i, depth)
    return found.end and not found.has_backslash


def later_at(text, start, slashes, depth, around, is_empty, is_path, is_after_colon):  # noqa: PLR0913, PLR0917
    """The last "@" of a password that goes on at `start`."""
    at, is_name = None, False
    if is_after_colon and (around.in_text or is_path) and begins_reference(text, start, depth):
        return None
    for char, deep, i, end in chars_and_pairs(text, start, depth):
        if (deep < depth and char in {b"&", b"?", b"#"}) or (deep < slashes.depth and char in {b"/", b"\\"}):
            break
        is_end = char in around.active or (i > start and is_line_escape(text, i))
        if around.in_text and is_empty and end == i + 1 and is_end:
            break
        if char in {b":", b"="} and (around.in_text or is_path) and begins_reference(text, end, depth):
            break
        if char == b"@":
            at, is_name = (i, end), False
        elif char in {b"?", b"#"}:
            is_name = is_path
        elif char == b"=" and is_name:
            break
    return at


def userinfo(text, slashes, depth, around, has_port=True):
    """The spans of the user and the password of the authority after these slashes, and where the URL goes on."""
    at, begin = None, slashes.end
    while True:
        found, delimiter, stop = authority(text, begin, slashes, depth, around)
        ats = [k for k, (char, *_) in enumerate(found) if char == b"@"]
        if ats:
            at, found = found[ats[-1]][1:], found[ats[-1] + 1 :]
        # Some readers end it before, at a backslash or at a delimiter that is escaped.
        doubtful = next((k for k, (char, *_) in enumerate(found) if char in {b"/", b"?", b"#", b"\\"}), None)
        host = b"".join(char for char, *_ in found[:doubtful])
        port = port_of(host)
        if doubtful is not None:
            if port is not None and not port.isdigit():
                delimiter, stop = found[doubtful][:2]
            else:
                rest = b"".join(char for char, *_ in found[doubtful:])
                port = port_of(b"[" + rest if host[:1] == b"[" else rest)
        if port is None or port.isdigit():
            break
        if at and (port or delimiter == b"/"):
            break
        if not port and not (has_port and delimiter):
            break
        is_after_colon = (b":", stop) in [(char, end) for char, _, end in found]
        later = later_at(text, stop, slashes, depth, around, not port, not port and delimiter == b"/", is_after_colon)
        if not later:
            break
        at, begin = later, later[1]
    start = slashes.end
    if not at:
        return [], start
    for char, _, i, end in chars_and_pairs(text[: at[0]], start, depth):
        if char == b":":
            return [(start, i), (end, at[0])], at[0]
    return [(start, at[0])], at[0]


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


def extended(spans, start, text, at, names, most, in_text, active, every):  # noqa: PLR0913, PLR0917
    """Where the value ends that userinfo, the last span, ends in if a parameter with such a name begins in it."""
    name = text.rfind(b"&", start, at) + 1
    equals = text.find(b"=", name, at)
    if not name or equals < 0 or not is_sensitive(text[name:equals], names, 0):
        return at
    stop, _ = value_end(text, at, 0, most, False, in_text, active, every)
    spans[-1] = spans[-1][0], stop
    return stop


def secrets(text, names, nested, in_text=False, bare=False, active=()):  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    """The spans of what is secret in a URL, and its end."""
    most, spans, every = 2 if nested else 0, [], matches(b"", names)
    start, is_name, depth, i = 0, bare or not in_text, 0, 0
    in_query = in_path = has_slash = False
    if in_text and text[:1] and text[:1] in b"'([{`|=,":
        start = 1
    first = start
    slashes = slashes_at(text, start, 0)
    if slashes.end:
        spans, i = userinfo(text, slashes, 0, Around(in_text, active))
        has_slash = True
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
            else:
                slashes = slashes_at(text, end, most)
                if begins_reference(text, end, most):
                    found, i = userinfo(text, slashes, slashes.depth, Around(in_text, active))
                    spans += found
                    if found and in_query:
                        i = extended(spans, found[0][0], text, i, names, most, in_text, active, every)
            is_name = False
        elif char in {b"?", b"#", b"&", b";"}:
            if not in_query and char in {b"&", b";"}:
                has_slash |= b"/" in text[start:i]
            is_name = not in_text or bare or in_query or has_slash or char in {b"?", b"#"}
            in_query |= is_name and char != b";" and deep == 0
            in_path = not in_query and char == b";"
            start, depth, i = end, deep, end
        else:
            slashes = slashes_at(text, end, most) if char == b":" else NO_SLASHES
            if slashes.end:
                has_port = text[max(0, i - 4) : i].lower() != b"file"
                around = Around(in_text, active)
                found, i = userinfo(text, slashes, max(deep, slashes.depth), around, has_port)
                spans += found
                if found and in_query:
                    i = extended(spans, found[0][0], text, i, names, most, in_text, active, every)
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
    triggers = b"?#&;@=" if bare else b"?#&;@"

    def first_trigger(word):
        """Where a word shows that it may be a URL: a delimiter, or the "://" of an encoded one."""
        for i, byte in enumerate(word):
            if byte in triggers:
                return i
            char, _, end = char_at(word, i)
            if byte == ord("\\") and char[0] in triggers:
                return i
            if byte == ord("%") and char == b":" and slashes_at(word, end, 2).end:
                return i
        return None

    def redacted(word):
        word = word[0]
        first = first_trigger(word)
        if first is None:
            return word
        begin = word.rfind(b"\n", 0, first) + 1  # the URL begins in the line in which it shows
        earlier, word, before = word[:begin], word[begin:], word[begin:first]
        opening = before[:1] in {*map(bytes, zip(b"'([{`|=,"))}
        if slashes_at(before, opening, 0).end:
            before = before[:opening]
        for char, _, i, end in chars(before, 0, 2):
            if char == b"=" and end == i + 1 and begins_reference(before, end, 2):
                before = before[:i]
                break
            if (char == b":" and slashes_at(before, end, 2).end) or (end > i + 1 and char in {b"?", b"&", b";", b"#"}):
                before = before[:i]
                break
        active = {quote for quote in (b"'", b"`", b"|") if before.count(quote) % 2}
        for closing, opening in BRACKETS.items():
            if before.rfind(opening) > before.rfind(closing):
                active.add(closing)
        spans, stop = secrets(word, names, nested, True, bare, active)
        return earlier + replaced(word[:stop], spans) + redact_text(word[stop:], names, nested, bare, joins)

    return (JOINED if joins else WORD).sub(redacted, text)
