"""Redaction, slowly: what is secret in a URL or a text is listed as spans, which are then replaced.

Characters are found with one regular expression, names are compared as strings, and what a character means is asked
when it is reached.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from reference.shapes import class_of

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
    rb"(?P<once>(?:%5[Cc]){1,8}(?:/|%2[Ff]|u002[fF])|(?:%5[Cc]|(?:%5[Cc]%5[Cc]){1,4})u00[0-7][0-9A-Fa-f])"
    rb"|(?P<twice>(?:%255[Cc]){1,8}(?:/|%252[Ff]|u002[fF])|(?:%255[Cc]|(?:%255[Cc]%255[Cc]){1,4})u00[0-7][0-9A-Fa-f])"
    rb"|%(?:25){0,3}(?P<encoded>[0-9A-Fa-f]{2})"
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


def ends(character):
    """Whether a character ends a value in a text wherever it stands."""
    code = ord(character)
    if code < 0x80:
        return code <= 0x20 or code == 0x7F or character in '"<>\\^`|'
    if character in "\u200c\u200d\u2010\u2011\u2012\u2013\u3005\u3006\u3007":
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


def char_at(text, i):
    """(the character, how often it is percent-encoded, the end of its spelling)."""
    if text[i] not in b"%\\&":  # the usual case: a byte
        return text[i : i + 1], 0, i + 1
    found = SPELLED.match(text, i)
    kind, spelled = next((kind, spelled) for kind, spelled in found.groupdict().items() if spelled is not None)
    if kind in {"once", "twice"}:  # an escape of JSON in a URL that is percent-encoded
        code = re.search(rb"u00(..)$", spelled)
        return bytes([int(code[1], 16)]) if code else b"/", 1 + (kind == "twice"), found.end()
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
            after, deep_of_value, _ = char_at(text, end) if end < len(text) else (b"=", 0, 0)
            is_value = after not in {b"=", b"&", b"#"} or deep_of_value > depth
            return char == b"=" and (i > start or every) and deep <= depth and is_value
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


def value_end(text, start, depth, most, in_path, in_text, active, every, path=-1):  # noqa: PLR0912, PLR0913, PLR0917
    i, unclosed, least = start, [], start
    while i < len(text):
        char, deep, end = char_at(text, i)
        if deep <= depth:
            if char in {b"&", b"#"} or (char == b";" and is_pair(text, end, depth, most, in_text, every)):
                return i, i
            if in_path and char in {b"/", b"\\", b"?"}:
                return i, i
        if deep <= path and char in {b"/", b"?", b"#"}:
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


def extended(spans, start, text, at, depth, names, most, in_query, in_text, active, every):  # noqa: PLR0913, PLR0917
    """Where the value ends that userinfo, the last span, ends in if a parameter with such a name begins in it."""
    name, found, after_host, in_query = None, None, False, in_query and depth == 0
    for char, deep, i, end in chars(text[:at], start, 4):
        if char == b"=" and name and deep <= max(depth, most):
            found = min(name[1], deep) if is_sensitive(text[name[0] : i], names, name[1]) else None
            name = None
        if deep > depth:
            continue
        after_host |= char == b"@"
        is_value = found is not None and not is_pair(text, end, depth, max(depth, most), in_text, every)
        in_query |= after_host and char in {b"?", b"#"}
        if (after_host and (char == b"#" or (char == b"?" and found is None))) or (
            in_query and (char == b"&" or (after_host and char == b";" and not is_value))
        ):
            name, found = (end, deep), None
    if found is None:
        return at
    stop, _ = value_end(text, at, found, most, False, in_text, active, every)
    spans[-1] = spans[-1][0], stop
    return stop


# --- JSON in parameters -----------------------------------------------------------------------------------------------


class Char(NamedTuple):
    char: bytes
    depth: int
    begin: int
    end: int

    @property
    def spelling(self):
        return self.char, self.depth, self.end - self.begin


def json_chars(text, begin):
    """The characters of a text; quotes may be spelled as in HTML, and as in logs of nginx."""
    found = []
    while begin < len(text):
        spelled = next((each for each in (b"&quot;", b"\\x22") if text.startswith(each, begin)), None)
        char, depth, end = (b'"', 0, begin + len(spelled)) if spelled else char_at(text, begin)
        found.append(Char(char, depth, begin, end))
        begin = end
    return found


def blanks_after(given, k):
    while k < len(given) and (given[k].char <= b" " or given[k].char == b"+"):
        k += 1
    return k


def quote_at(given, k):
    """Where the quote of a string at k is, after backslashes; None: there is none."""
    quote = k
    while quote < len(given) and given[quote].char == b"\\":
        quote += 1
    return quote if quote < len(given) and quote - k < 8 and given[quote].char == b'"' else None


def looks_like_json(text, begin):
    given = json_chars(text, begin)
    if not given or (text[begin] > 32 and text[begin] not in b'{["%+'):
        return False
    start = blanks_after(given, 0)
    if start < len(given) and given[start].char == b'"':
        start = blanks_after(given, start + 1)
    k = start
    while k < len(given) and given[k].char in {b"{", b"["}:
        k = blanks_after(given, k + 1)
    return k > start and quote_at(given, k) is not None


class JsonString(NamedTuple):
    begin: int
    end: int
    after: int
    is_closed: bool


class Json:
    """JSON that begins at `begin` and is the value of a parameter whose delimiter has this depth."""

    def __init__(self, text, begin, depth, level, find):
        self.text, self.depth, self.level, self.find = text, depth, level, find
        self.given = json_chars(text, begin)
        self.given = self.given[blanks_after(self.given, 0) :]
        self.is_raw = self.given[0].depth <= depth
        self.spans, self.unclosed = [], 0

    def at(self, k):
        return self.given[k].begin if k < len(self.given) else len(self.text)

    def ends(self, k):
        return self.given[k].char in {b"&", b"#"} and self.given[k].depth <= self.depth

    def string(self, k, quote):
        """The string whose first backslash is at k, or its quote."""
        backslashes, crossed, before = quote - k, None, 0
        is_escaped = self.text[self.at(k) : self.at(k) + 1] == b"\\"
        given, j = self.given, quote + 1
        while j < len(given):
            if given[j].spelling == given[quote].spelling and before % (2 * backslashes + 2) == backslashes:
                after = blanks_after(given, j + 1)
                closing = {b",", b"}", b"]"} if crossed else {b",", b"}", b"]", b":"}
                if after == len(given) or given[after].char in closing or (not crossed and self.ends(after)):
                    return JsonString(quote + 1, j - backslashes, j + 1, True)
            elif self.ends(j) and (is_escaped or self.text[self.at(j) : self.at(j) + 1] != b"\\"):
                crossed = crossed or j
                if not self.is_raw:
                    break
            before = before + 1 if given[j].char == b"\\" else 0
            j += 1
        self.unclosed = self.at(j)
        return JsonString(quote + 1, crossed or j, crossed or j, False)

    def container(self, k):
        """Where a value that is no string ends."""
        unclosed = 0
        while k < len(self.given) and not self.ends(k):
            char = self.given[k].char
            quote = quote_at(self.given, k)
            if unclosed and quote is not None:
                k = self.string(k, quote).after
                continue
            if not unclosed and char in {b",", b"}", b"]"}:
                break
            unclosed += (char in {b"{", b"["}) - (char in {b"}", b"]"})
            k += 1
            if char in {b"}", b"]"} and not unclosed:
                break
        return k

    def member(self, k, in_text):
        """Where the value of a secret member ends."""
        k = blanks_after(self.given, k)
        quote = quote_at(self.given, k)
        if quote is None:
            after = self.container(k)
            begin, end = self.at(k), self.at(after)
            if after > k:
                is_cut = in_text and after == len(self.given)
                self.spans.append((begin, trimmed_end(self.text, begin, begin + 1, end) if is_cut else end))
            return after
        found = self.string(k, quote)
        begin, end = self.at(found.begin), self.at(found.end)
        if in_text and not found.is_closed and found.end == len(self.given):
            end = trimmed_end(self.text, begin, begin, end)
        self.spans.append((begin, end))
        return found.after

    def read(self, is_secret, in_text):
        """The spans of what is secret in it, and where the URL goes on."""
        k, resume, unclosed = 0, 0, 0
        while k < len(self.given):
            quote = quote_at(self.given, k)
            if quote is not None:
                found = self.string(k, quote)
                if not found.is_closed:
                    if not unclosed and looks_like_json(self.text, self.at(quote + 1)):
                        k = resume = quote + 1
                        continue
                    return self.spans, self.at(quote + 1)
                begin, end, after = self.at(found.begin), self.at(found.end), blanks_after(self.given, found.after)
                if after < len(self.given) and self.given[after].char == b":":
                    is_secret_name = is_secret(self.text[begin:end], max(self.depth, 0))
                    k = resume = self.member(after + 1, in_text) if is_secret_name else after + 1
                else:
                    self.spans += self.find(self.text[:end], begin, self.given[quote].depth, self.level + 1)
                    k = resume = found.after
                    if not unclosed:
                        break
                continue
            char = self.given[k].char
            if self.ends(k):
                return self.spans, self.at(k)
            k += 1
            unclosed += (char in {b"{", b"["}) - (char in {b"}", b"]"})
            if char in {b"{", b"[", b"}", b"]", b","}:
                resume = k
                if not unclosed and char != b",":
                    break
            elif not re.fullmatch(rb"[+\-._ \t\r\n:0-9A-Za-z]", char):
                return self.spans, self.at(resume)
        return self.spans, self.at(k)


def trimmed_end(text, begin, least, end):
    """The end of a value without final punctuation, and without brackets that are not its own."""
    while end > least:
        last, value = text[end - 1 : end], text[begin:end]
        if last in BRACKETS:
            if value.count(BRACKETS[last]) >= value.count(last):
                break
        elif last not in b".,:;!?'\\":
            break
        end -= 1
    return end


# --- paths ------------------------------------------------------------------------------------------------------------


@cache
def path_patterns(paths):
    """For each pattern its segments, as expressions with a group for what is secret, and whether "/" follows."""
    found = []
    for pattern in paths.split(",") if isinstance(paths, str) else paths:
        text = pattern.strip().lower()
        if text != "tokens":
            text = text if "{*}" in text else text.replace("*", "{*}")
            parts = [part for part in text.split("/") if part]
            kinds = {"{*}": rb"(?P<secret>.+)", "*": rb".+"}
            globs = [
                re.compile(
                    b"".join(kinds.get(each, re.escape(each.encode())) for each in re.split(r"(\{\*\}|\*)", part)),
                    re.DOTALL,
                )
                for part in parts
            ]
            found.append((globs, text.endswith("/")))
    return found


def decoded_chars(spelled, times):
    """The bytes that a text means, decoded so many times: [(byte, begin, end)]."""
    found = [
        each
        for char, depth, i, end in chars(spelled, 0, 4)
        for each in ([(spelled[k : k + 1], k, k + 1) for k in range(i, end)] if depth else [(char, i, end)])
    ]
    for _ in range(times):
        earlier, found = found, []
        while earlier:
            digits = b"".join(char for char, *_ in earlier[1:3])
            size = 3 if earlier[0][0] == b"%" and re.fullmatch(rb"[0-9A-Fa-f]{2}", digits) else 1
            byte = bytes([int(digits, 16)]) if size == 3 else earlier[0][0]
            found.append((byte, earlier[0][1], earlier[size - 1][2]))
            earlier = earlier[size:]
    return found


def secret_of_segment(text, segments, k, depth, paths, has_slash_after):  # noqa: PLR0913, PLR0917
    """The span of what is secret in segment k of a path, whose segments are these; None: nothing."""
    spans = []
    begin, end = segments[k]

    def match(glob, segment):
        given = decoded_chars(text[segment[0] : segment[1]], depth + 2)
        found = glob.fullmatch(b"".join(char for char, *_ in given).lower())
        return found and (given, found)

    for globs, has_slash in path_patterns(paths if isinstance(paths, str) else tuple(paths)):
        for place, glob in enumerate(globs):
            first = k - place
            if "secret" not in glob.groupindex or first < 0 or first + len(globs) > len(segments):
                continue
            if has_slash and not has_slash_after(first + len(globs) - 1):
                continue
            if all(match(each, segments[first + at]) for at, each in enumerate(globs)):
                given, found = match(glob, segments[k])
                spans.append((begin + given[found.start("secret")][1], begin + given[found.end("secret") - 1][2]))
    if has_tokens(paths) and is_token(text[begin:end], depth):
        spans.append((begin, end))
    return (min(spans)[0], max(end for _, end in spans)) if spans else None


def has_tokens(paths):
    return "tokens" in [each.strip() for each in (paths.split(",") if isinstance(paths, str) else paths)]


def is_token(spelled, depth):
    return class_of(b"".join(char for char, *_ in decoded_chars(spelled, depth + 1)))[0] == "token"


# --- URLs, in one pass ------------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """The arguments of redact()."""

    names: object
    nested: bool
    paths: object


def secrets(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    text, how, in_text=False, bare=False, active=(), origin=0, outer=0, level=0
):
    """The spans of what is secret in the URL from `origin` on, and its end."""
    names = how.names
    most, spans, every = 2 if how.nested else 0, [], matches(b"", names)
    start, is_name, depth, i = origin, (bare or not in_text) and not level, 0, origin
    in_query = in_path = has_slash = False
    parameter, path, segments, unclosed = -1, outer, [], 0
    if in_text and text[:1] and text[:1] in b"'([{`|=,":
        start = 1
    first = start

    def userinfo_at(slashes, depth, *more):
        found, end = userinfo(text, slashes, depth, Around(in_text, active), *more)
        spans.extend(found)
        if found:
            end = extended(spans, found[0][0], text, end, depth, names, most, in_query, in_text, active, every)
        return end

    def inner(text, begin, depth, level):
        if level > 3:
            return []
        found = []
        if looks_like_json(text, begin):
            found, begin = Json(text, begin, -1, level, inner).read(is_listed, False)
        return found + secrets(text, how, False, False, (), begin, depth, level)[0]

    def is_listed(spelled, nesting):
        return is_sensitive(spelled, names, nesting)

    def json_at(begin, depth):
        """Where the URL goes on after JSON; None: there is none."""
        nonlocal unclosed
        if not most or begin < unclosed or not looks_like_json(text, begin):
            return None
        read = Json(text, begin, depth, level, inner)
        found, end = read.read(is_listed, in_text)
        spans.extend(found)
        unclosed = max(unclosed, read.unclosed)
        return end

    def path_from(begin, most):
        """The depth of the slash that begins a path; -1: there is none."""
        char, deep, _ = char_at(text, begin) if begin < len(text) else (b"", 0, 0)
        return deep if char == b"/" and deep <= most else -1

    def segments_from(begin):
        """The spans of the segments after a slash, and where the last one ends."""
        found = []
        while True:
            end, _ = value_end(text, begin, parameter, most, False, in_text, active, every, path)
            found.append((begin, end))
            if path_from(end, path) < 0:
                return found
            begin = char_at(text, end)[2]

    slashes = slashes_at(text, start, outer)
    if slashes.end:
        i = userinfo_at(slashes, slashes.depth)
        has_slash = True
    while i < len(text):
        char, deep, end = char_at(text, i)
        if deep > most + (depth if char == b"=" and is_name else 0):
            i = end
        elif char == b"=":
            if is_name and start == first:  # a query without "?", or a path
                is_name = not has_slash and b"/" not in text[start:i]
                in_query |= is_name
                parameter = 0 if is_name else -1
            is_secret = is_name and is_sensitive(text[start:i], names, depth)
            i = end
            if is_secret:
                stop, i = value_end(text, end, min(depth, deep), most, in_path, in_text, active, every)
                spans.append((end, stop))
                if in_text and text[i : i + 1] in {b"\r", b"\n"}:
                    return spans, i
                path = -1 if parameter >= 0 else path
            else:
                if parameter >= 0:
                    path, segments = path_from(end, most), []
                slashes = slashes_at(text, end, most)
                if begins_reference(text, end, most):
                    i = userinfo_at(slashes, slashes.depth)
                    path, segments = slashes.depth, []
                if i == end:
                    after = json_at(end, min(depth, deep))
                    i = i if after is None else after
            is_name = False
        elif char in {b"?", b"#", b"&", b";"}:
            if not in_query and char in {b"&", b";"}:
                has_slash |= b"/" in text[start:i]
            is_name = not in_text or bare or in_query or has_slash or char in {b"?", b"#"}
            in_query |= is_name and char != b";" and deep == 0
            in_path = not in_query and char == b";"
            start, depth, i = end, deep, end
            if char == b"#":
                path, segments = path_from(end + (text[end : end + 1] == b"!"), most), []
            elif char == b"?" or parameter >= depth:
                path = -1
            parameter = depth if parameter >= 0 or char in {b"?", b"#"} else -1
            after = json_at(start, depth)
            if after is not None:
                i, is_name = after, False
        elif char == b"/" and how.paths and deep <= path:
            later = segments_from(end)
            segments.append(later[0])
            known = segments[:-1] + later

            def has_slash_after(k, known=known, path=path):
                return path_from(known[k][1], path) >= 0

            found = secret_of_segment(text, known, len(segments) - 1, path, how.paths, has_slash_after)
            i = end
            if found:
                spans.append(found)
                i = found[1]
            if in_text and text[i : i + 1] in {b"\r", b"\n"}:
                return spans, i
        else:
            slashes = slashes_at(text, end, most) if char == b":" else NO_SLASHES
            if slashes.end:
                has_port = text[max(0, i - 4) : i].lower() != b"file"
                nesting = max(deep, slashes.depth)
                i = userinfo_at(slashes, nesting, has_port)
                path, segments = nesting, []
                is_name, has_slash = False, True
            else:
                i = end
    return spans, i


# --- results ----------------------------------------------------------------------------------------------------------


def replaced(text, spans):
    for start, stop in reversed(spans):
        text = text[:start] + b"REDACTED" + text[stop:]
    return text


def redact(url, names="default", nested=True, paths=()):
    """Redact a URL (bytes)."""
    return replaced(url, secrets(url, Given(names, nested, paths))[0])


def first_trigger(word, triggers):
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


def object_end(text, least, quote):
    """Where an object in the row ends, whose first quote is there, in a parameter; and up to where there is none."""
    name = quote
    while name > least and text[name - 1 : name] == b"\\":
        name -= 1
    if name - least < 2 or text[name - 1 : name] != b"{" or text[name - 2] not in b"=[?&#":
        return None, quote
    row = re.match(rb"[^\r\n]*", text[quote:])[0]
    read = Json(text[: quote + len(row)], name - 1, -1, 0, None)
    read.is_raw = True
    k = unclosed = 0
    while k < len(read.given):
        found = quote_at(read.given, k)
        if found is not None:
            string = read.string(k, found)
            if found - k != quote - name or not string.is_closed:
                break
            after = blanks_after(read.given, string.after)
            if k == 1 and (after == len(read.given) or text[read.at(after) : read.at(after) + 1] != b":"):
                return None, read.at(string.after)
            k = string.after
            continue
        char = read.given[k].char
        unclosed += (char in {b"{", b"["}) - (char in {b"}", b"]"})
        k += 1
        if char in {b"}", b"]"} and not unclosed:
            return read.at(k), quote
    return None, len(read.text)


def redact_text(text, names="default", nested=True, paths=(), bare=False, joins=True):  # noqa: PLR0913, PLR0917
    """Redact the URLs in a text (bytes)."""
    triggers = b"?#&;@" + b"=" * bare + b"/" * bool(paths)
    how = Given(names, nested, paths)

    def redacted(word):
        first = first_trigger(word, triggers)
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
        spans, stop = secrets(word, how, True, bare, active)
        return earlier + replaced(word[:stop], spans) + redact_text(word[stop:], names, nested, paths, bare, joins)

    words, done, result, unclosed = JOINED if joins else WORD, 0, b"", 0
    while found := words.search(text, done):
        begin, end = found.span()
        # A word that a parameter with JSON is in goes on after its quotes.
        while nested and text[end : end + 1] == b'"' and end >= unclosed:
            first = first_trigger(text[begin:end], triggers)
            line = begin + text[begin : begin + first].rfind(b"\n") + 1 if first is not None else end
            stop, unclosed = object_end(text, line, end)
            if not stop:
                break
            more = words.match(text, stop)
            end = more.end() if more else stop
        result += text[done:begin] + redacted(text[begin:end])
        done = end
    return result + text[done:]
