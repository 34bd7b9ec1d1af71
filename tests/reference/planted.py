"""URLs with planted userinfo, and what must be left of them: a judge of redaction that knows none of its rules.

A URL is put together from a scheme, a user, a password, a host and a rest, so that it is known which bytes are secret,
then encoded byte by byte and put into a text. Nothing is found by reading: what must be left is put together from the
same parts, with REDACTED for the user and for the password. That `uri.userinfo` finds the same userinfo is
tested in tests/uri/test_redacted_userinfo.py.
"""

import json
from functools import cache
from typing import NamedTuple
from urllib.parse import quote_from_bytes

SCHEMES = (
    *("http", "https", "HTTPS", "ws", "wss", "ftp", "sftp", "ssh", "git+ssh", "svn+ssh", "smb", "ldap", "ldaps"),
    "imap",
    *("postgres", "postgresql", "mysql", "mariadb", "redis", "rediss", "amqp", "amqps", "mongodb", "mongodb+srv"),
    "nats",
    *("jdbc:postgresql", "jdbc:mysql", "sqlalchemy+x", "view-source:https", "git+https", "socks5", "smtp", "x-y.z+1"),
    "s3",
)
HOSTS = (
    *("h", "db.example", "a.b.c.example", "192.0.2.7", "[2001:db8::1]", "xn--bcher-kva.example", "b\u00fccher.example"),
    *("h:6379", "db.example:5432", "[::1]:80", "h:", ""),
)
# "@" after the first "/" is none of userinfo. `ends` are for URLs whose password has a delimiter, which cannot be told
# from what follows if there is an "@" in a path.
RESTS = (
    *("", "/", "/db", "/a/b;c=1", "/x@y", "/@scope/p", "?q=1", "/?a=b&c=d;e=f", "#f", "/a?email=me@a.example", "/#a@b"),
)
ENDS = ("", "/", "/db", "/a/b;c=1", "?q=1", "/?a=b&c=d;e=f", "#f")
DELIMITERS = b"#/?\\"

ANY = bytes(range(256))
IN_URL = bytes(byte for byte in ANY if byte not in b"/?# \t\n\v\f\r")
# In a text, these end a word as it is spelled.
IN_TEXT = bytes(byte for byte in IN_URL if byte > 32 and byte not in b'"<>\x7f')
PAIRS = (
    *(b";a=", b"&a=", b";", b"&", b"=", b"@", b":", b"%3B", b"%26x%3D", b"%40", b"&amp;q=", b"&#59;", b"\\u0026"),
    b"\\u003b",
    *(b"token=", b";token=", b"&sig=", b"%2F", b"%253B", b"12", b"80", b"[", b"]", b"\\", b"'", b"|"),
)


class Planted(NamedTuple):
    """A URL or text, what must be left of it, and what must not be; and the URL as it was before it was encoded."""

    text: bytes
    redacted: bytes
    secret: bytes
    url: bytes
    userinfo: bytes
    encoding: str


def plain(text):
    return text


def quoted(text):
    return quote_from_bytes(text, safe=b"").encode()


def quoted_lower(text):
    """Percent-encoded as some do: lower case, and with "/" as it is."""
    return b"".join(
        b"%%%02x" % byte if quoted(bytes([byte])) != bytes([byte]) and byte != 47 else bytes([byte]) for byte in text
    )


def quoted_twice(text):
    return quoted(quoted(text))


JSON = {**{byte: b"\\u%04x" % byte for byte in (*range(32), *b"&<>';")}, 47: b"\\/", 34: b'\\"', 92: b"\\\\"}
HTML = {38: b"&amp;", 60: b"&lt;", 62: b"&gt;", 34: b"&quot;", 39: b"&#x27;", 59: b"&#59;"}


def in_json(text):
    return b"".join(JSON.get(byte, bytes([byte])) for byte in text)


def in_json_of_go(text):
    """Go and Ruby on Rails escape "&" and the angle brackets, not "/"."""
    return b"".join(JSON[byte] if byte in b'&<>"\\' else bytes([byte]) for byte in text)


def in_json_with_at(text):
    """Some escape "@", too."""
    return in_json(text).replace(b"@", b"\\u0040")


def in_json_of_symbols(text):
    """Others escape all but letters and digits, with upper case; "/" stays here."""
    return b"".join(
        b"\\u%04X" % byte
        if byte < 128 and byte not in b"/\\" and not chr(byte).isalnum()
        else JSON[92]
        if byte == 92
        else bytes([byte])
        for byte in text
    )


def in_html(text):
    return b"".join(HTML.get(byte, bytes([byte])) for byte in text)


# How a URL is encoded, and what is around it then.
ENCODINGS = {
    "plain": (plain, b"", b""),
    "json": (in_json, b"", b""),
    "json of Go": (in_json_of_go, b"", b""),
    "json with @": (in_json_with_at, b"", b""),
    "json of symbols": (in_json_of_symbols, b"", b""),
    "html": (in_html, b"", b""),
    "encoded": (quoted, b"", b""),
    "encoded, lower case": (quoted_lower, b"", b""),
    "encoded twice": (quoted_twice, b"", b""),
    "raw parameter": (plain, b"https://o.example/cb?x=1&next=", b"&c=3#f"),
    "parameter": (quoted, b"https://o.example/cb?x=1&next=", b"&c=3#f"),
    "parameter, encoded twice": (quoted_twice, b"/cb?next=", b"&c=3"),
    "parameter of a parameter": (
        quoted_twice,
        b"/?u=" + quoted(b"https://o.example/?a=b&next="),
        quoted(b"&d=4") + b"&e=5",
    ),
    "path": (quoted, b"https://o.example/r/", b"/x"),
    "parameter in JSON": (quoted, b"https:\\/\\/o.example\\/?a=1\\u0026next=", b"\\u0026c=3"),
    "parameter in HTML": (quoted, b"https://o.example/?a=1&amp;next=", b"&amp;c=3"),
    "fragment": (quoted, b"#next=", b"&c=3"),
}
# What is around a URL in a text, and which bytes end it then.
TEXTS = (
    *((b"", b"", b""), (b"see ", b" now", b""), (b'{"u":"', b'","v":"a@b"}', b""), (b"<", b"> me@a.example", b"")),
    *((b"(", b") me@a.example", b")"), (b"['", b"', 'a@b']", b"']"), (b"[a](", b") b@c", b")]"), (b"`", b"`", b"`")),
    *(
        (b"DATABASE_URL=", b"\n", b""),
        (b"url='", b"' x", b"'"),
        (b"<a href='", b"'>a@b</a>", b"'"),
        (b"a,", b" b@c", b""),
    ),
    *((b"to\t", b"\tme@a.example", b""), (b"\xe8\xa7\x81 ", b" \xe3\x80\x82", b""), (b"|", b"| a@b |", b"|")),
)


def draw_part(source, alphabet, most):
    """Random bytes, or readable ones, or delimiters and escapes between letters."""
    kind = source.randrange(4)
    count = source.randrange(1, most)
    if kind == 0:
        return bytes(source.choices(alphabet, k=count))
    if kind == 1:
        return bytes(source.choices([byte for byte in alphabet if 32 < byte < 127], k=count))
    if kind == 2:
        pieces = source.choices((*PAIRS, b"a", b"Zq", b"7"), k=count // 3 + 1)
        return b"".join(piece for piece in pieces if not {*piece} - {*alphabet}) or b"p"
    return (
        "".join(source.choices("aB3-._~!$'()*+,;=:@\u00e9\u4e2d", k=count))
        .encode()
        .translate(None, bytes(byte for byte in ANY if byte not in alphabet))
        or b"p"
    )


@cache
def allowed_in(text, name):
    """The bytes of userinfo that do not end a URL with this encoding in this text."""
    encode = ENCODINGS[name][0]
    allowed = []
    for byte in IN_URL:
        is_hidden = encode(bytes([byte]))[:1] == b"%"
        is_end = byte not in IN_TEXT or byte in text[2] or (byte == 34 and "json" in name)
        if is_hidden or not is_end:
            allowed.append(byte)
    return bytes(allowed)


def has_line_escape(userinfo):
    r"""Whether userinfo has an end of line, as JSON spells it, \n: in a text, it ends a URL."""
    return any(b"\\" + bytes([byte]) in userinfo for byte in b"nrtbf")


def draw_userinfo(source, alphabet, is_special):
    """A user and a password (bytes), either of which may be empty; no password: None."""
    user = b"" if source.randrange(4) == 0 else draw_part(source, alphabet, 9).replace(b":", b"")
    password = draw_part(source, alphabet, 20) if source.randrange(8) else None
    if is_special:
        # With "@" in the user, ":/" is that of ssh://git@host:/path@1.
        return user.replace(b"@", b""), bytes([source.choice(DELIMITERS)]) + (password or b"")
    return user, password


def draw(source, in_text):
    """A URL, or a text with one."""
    name, is_special = source.choice([*ENCODINGS]), source.randrange(4) == 0
    encode, before, after = ENCODINGS[name]
    around = source.choice(TEXTS) if in_text else (b"", b"", b"")
    user, password = draw_userinfo(source, allowed_in(around, name) if in_text else IN_URL, is_special)
    userinfo = user if password is None else user + b":" + password
    if name == "raw parameter" and b"&" in userinfo and (b"sig=" in userinfo or b"token=" in userinfo):
        # "&sig=x@h" may also be a parameter of the URL around, whose value is secret up to its end.
        user, password, userinfo = b"user", b"pass&word", b"user:pass&word"
    if in_text and name in {"plain", "html", "raw parameter"} and has_line_escape(userinfo):
        user, password, userinfo = b"user", b"password", b"user:password"
    start = source.choice(SCHEMES).encode() + b"://"
    # Without a scheme, a URL is found in the beginning of a text, after a blank and after "=".
    if name == "plain" and around[0][-1:] in {b"", b" ", b"="} and source.randrange(12) == 0:
        start = b"//"
    end = b"@" + source.choice(HOSTS[:-2] if is_special else HOSTS).encode()
    end += source.choice(ENDS if is_special else RESTS).encode()
    left = b"REDACTED" if password is None else b"REDACTED:REDACTED"
    text, redacted = (around[0] + before + encode(start + each + end) + after + around[1] for each in (userinfo, left))
    return Planted(
        text, redacted, encode(user if password is None else password), start + userinfo + end, userinfo, name
    )


def draw_many(source, count, in_text):
    return [draw(source, in_text) for _ in range(count)]


# --- secrets in queries, fragments, nested URLs, JSON and paths -------------------------------------------------------

NAMES = "token", "x-a*"  # what is redacted
PATHS = "/reset/{*}", "/bot*/", "tokens"
SPELLED_NAMES = (
    *(b"token", b"TOKEN", b"tok%65n", b"%74oken", b"tok%2565n", b"+token", b"token[]", b"user[token]", b"t.o-ken"),
    *(b"x-a", b"X-Amz-A"),
)
# Names, values and segments that stay, and what they may have in them.
OTHER_NAMES = b"q", b"a", b"stoken", b"tokens", b"next_page", b"%C3%A9", b"tok%20en", b"\xc3\xa9", b"a[b]", b"%zz", b""
OTHER_BYTES = bytes(byte for byte in ANY if byte not in b'%&#;=?:/\\@{["')
OTHER_PIECES = b"a", b"7", b"token", b"%20", b"%C3%A9", b"%2B", b"%", b"%2", b"%zz", b"a:b", b"a/b", b"a=", b"REDACTED"
SEGMENTS = b"a", b"users", b"42", b"%C3%A9", b"\xe8\xa7\x81", b"index.html", b"b%20c", b"resets", b"2024-10-21", b"~me"
# A value ends at "&", "#" and at ";" before another pair, as they are, in JSON and in HTML.
IN_VALUE = bytes(byte for byte in ANY if byte not in b"&#;\\")
PIECES_OF_VALUES = (
    b"%26",
    b"%23",
    b"%3D",
    b"%2F",
    b"://u:p@h",
    b"=",
    b"==",
    b"?",
    b"/",
    b"+",
    b"%25",
    b"%",
    b"%zz",
    b"@",
)
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
MOST_NESTED = 2


class Pair(NamedTuple):
    """The bytes with the secrets, and with REDACTED for each."""

    with_secrets: bytes
    redacted: bytes

    def __add__(self, other):
        return Pair(*map(bytes.__add__, self, other))

    def mapped(self, function):
        return Pair(*map(function, self))


def same(text):
    return Pair(text, text)


def unique(source):
    """What shows that a secret is left."""
    return b"SECRET%06d" % source.randrange(10**6)


def draw_other(source, in_text):
    """A value that stays."""
    value = b"".join(source.choices(OTHER_PIECES, k=source.randrange(4)))
    if not in_text and source.randrange(2):
        value += bytes(source.choices(OTHER_BYTES, k=source.randrange(6)))
    return b"v" + value


def draw_value(source, in_text):
    """A secret value."""
    parts = [unique(source)]
    if in_text:
        parts += source.choices((*PIECES_OF_VALUES, b"a"), k=source.randrange(3))
        return b"".join((*parts, b"z"))  # no punctuation at its end
    parts += source.choices(PIECES_OF_VALUES, k=source.randrange(4))
    parts.append(bytes(source.choices(IN_VALUE, k=source.randrange(6))))
    source.shuffle(parts)
    return b"".join(parts)


def draw_json(source, depth, nesting):
    """An object or an array with secret members, as it is spelled."""
    kinds = "object", "array", "text", "number", "secret", "secret", "url"
    found = same(b"")
    is_array, count = depth > 0 and source.randrange(3) == 0, source.randrange(1, 4)
    for at in range(count):
        kind = source.choice(kinds[2:] if depth == 2 else kinds)
        kind = "text" if at == 0 and is_array else kind  # which shows that it is JSON
        name = source.choice(("a", "id", "tokens", "\u00e9", "b c"))
        if kind == "secret" and not is_array:
            name = source.choice(("token", "Token", "x-a", "X_Amz_B", "to-ken"))
            secret = unique(source).decode()
            value = source.choice((secret, secret + '"', secret + "\u00e9\\/&#;", [secret, 1], {"a": secret}))
            left = b'"REDACTED"' if isinstance(value, str) else b"REDACTED"
            value = Pair(spelled_in_json(source, value), left)
        elif kind in {"object", "array"}:
            value = draw_json(source, depth + 1, nesting)
        elif kind == "url" and nesting < MOST_NESTED:
            value = draw_url(source, False, nesting + 1, "query").mapped(ascii_only).mapped(json_string)
        elif kind == "number":
            value = same(source.choice((b"1", b"-2.5e3", b"true", b"null")))
        else:
            value = same(spelled_in_json(source, source.choice(("x", "a b", "\u00e9", 'say "x"', ""))))
        found += same(b"," * (at > 0) + source.choice((b"", b" ")) * (at > 0))
        found += value if is_array else same(spelled_in_json(source, name) + source.choice((b":", b": "))) + value
    return same(b"[" if is_array else b"{") + found + same(b"]" if is_array else b"}")


def spelled_in_json(source, value):
    return json.dumps(value, ensure_ascii=source.randrange(2) == 0).encode()


def json_string(text):
    return json.dumps(text.decode()).encode()


def ascii_only(text):
    return b"".join(bytes([byte]) if 32 < byte < 127 else b"%%%02X" % byte for byte in text)


def draw_parameter(source, in_text, nesting, kind):
    """A parameter with a secret: its value, JSON with members, or a URL."""
    if kind == "JSON":
        value = draw_json(source, 0, nesting)
        if source.randrange(4) == 0:
            value = value.mapped(json_string)
        return same(source.choice((b"a=", b"q=", b"filter="))) + value.mapped(source.choice((quoted, quoted_twice)))
    if kind == "nested" and nesting < MOST_NESTED:
        inner = draw_url(source, in_text, nesting + 1, source.choice(("query", "fragment", "path", "userinfo")))
        return same(source.choice((b"next=", b"u=", b"a[b]="))) + inner.mapped(quoted)
    return same(source.choice(SPELLED_NAMES) + b"=") + Pair(draw_value(source, in_text), b"REDACTED")


def draw_pairs(source, in_text, nesting, kind):
    """Parameters, one of which has a secret."""
    pairs = [same(source.choice(OTHER_NAMES) + b"=" + draw_other(source, in_text)) for _ in range(source.randrange(3))]
    pairs.insert(source.randrange(len(pairs) + 1), draw_parameter(source, in_text, nesting, kind))
    if source.randrange(4) == 0:
        pairs.append(draw_parameter(source, in_text, nesting, "query"))
    found = pairs[0]
    for each in pairs[1:]:
        found += same(b"&") + each
    return found


def draw_path(source, is_secret):
    """A path, perhaps with a secret segment."""
    segments = [same(each) for each in source.choices(SEGMENTS, k=source.randrange(4))]
    if is_secret:
        token = unique(source) + b"aB3" + bytes(source.choices(LETTERS, k=8))
        secret = source.choice(
            (
                Pair(b"reset/" + token, b"reset/REDACTED"),
                Pair(b"r%65set/" + token[:12] + b"%20x", b"r%65set/REDACTED"),
                Pair(b"bot" + token[:12] + b"/send", b"botREDACTED/send"),
                Pair(token, b"REDACTED"),
            )
        )
        segments.insert(source.randrange(len(segments) + 1), secret)
    found = same(b"")
    for each in segments:
        found += same(b"/") + each
    return found + same(source.choice((b"/", b"/last")))


def draw_url(source, in_text, nesting, kind):
    """A URL with secrets."""
    found = same(source.choice((b"https://h.example", b"http://h:80", b"HTTPS://[::1]", b"ftp://h", b"//h")))
    if nesting or in_text:
        found = same(b"https://h.example")
    if kind == "userinfo":
        found = same(b"https://") + Pair(b"me:" + unique(source) + b"@", b"REDACTED:REDACTED@") + same(b"h")
    found += draw_path(source, kind == "path")
    if kind in {"query", "nested", "JSON"}:
        found += same(b"?") + draw_pairs(source, in_text, nesting, kind)
    elif source.randrange(2):
        found += same(b"?q=" + draw_other(source, in_text))
    if kind == "fragment":
        found += same(source.choice((b"#", b"#/a?"))) + draw_pairs(source, in_text, nesting, "query")
    elif source.randrange(4) == 0:
        found += same(source.choice((b"#f", b"#/a", b"#")))
    return found


KINDS = "userinfo", "query", "fragment", "nested", "JSON", "path"


def draw_secrets(source, in_text):
    """A URL with secrets of one kind, or a text with one: (its kind, the Pair)."""
    kind = source.choice(KINDS)
    found = draw_url(source, in_text, 0, kind)
    if in_text:
        before, after, _ = source.choice(TEXTS)
        found = same(before) + found + same(after)
    return kind, found
