"""Redaction: uri.redact, redact_text and RedactingFilter, against what attackers try and against the slow reference."""

import itertools
import json
import logging
import pickle
import random
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import planted
from reference import redact as naive
from support.tables import each_row
from support.timing import assert_linear

import uricodec
from uricodec import bulk, logs, uri
from uricodec._base import _kernels
from uricodec.uri import _redact

SECRET = "c2VjcmV0"

# --- what attackers try, and what others write ------------------------------------------------------------------------

# How a secret is spelled, and what it is replaced by: in one URL, and in a text.
SPELLINGS = {
    "case": "/?TOKEN={}&Token={}",
    "encoded name": "/?tok%65n={}&%74%6f%6B%65%6E={}",
    "name encoded twice": "/?tok%2565n={}",
    "semicolon": "/?a=1;token={};b=2",
    "plus": "/?+token={}&token+={}&%20token%09={}",
    "repeated names": "/?token={}&token={}&a=1&token={}",
    "empty names": "/?&&=1&=&token={}&;",
    "brackets": "/?token[]={}&token[0]={}&user[token]={}&a[b][token]={}",
    "equals in the value": "/?token={}",
    "encoded equals": "/?token%3D{}&token%253d{}",
    "URL encoded once": "/?next=https%3A%2F%2Fa.example%2F%3Ftoken%3D{}%26b%3D1&c=2",
    "URL encoded twice": "/?next=https%253A%252F%252Fa.example%252F%253Ftoken%253D{}%2526b%253D1&c=2",
    "URL that is not encoded": "/?next=https://{}:{}@a.example/?token={}&c=2",
    "userinfo of an encoded URL": "/?next=https%3A%2F%2F{}%3A{}%40a.example%2F&c=2",
    "user without password": "https://{}@a.example/",
    "empty user": "https://{}:{}@a.example/",
    "IPv6": "https://{}:{}@[2001:db8::1]:80/a@b?token={}",
    "missing scheme": "//{}:{}@a.example/?token={}",
    "only a host": "a.example?token={}",
    "backslashes": "https:\\\\{}:{}@a.example\\?token={}",
    "escapes of JSON": "https:\\/\\/{}:{}@a.example\\/?a=1\\u0026token={}\\u0026b\\u003d2",
    "equals in JSON": "/?token\\u003d{}\\u0026b=2",
    "JSON in JSON": "/?a=1\\\\u0026token={}\\\\u0026b=2",
    "references of HTML": "/?a=1&amp;token={}&amp;b=2&#38;token&#61;{}&#x26;token&#x3D;{}&amp;amp;token={}",
    "fragment": "/#access_token={}&token={}",
    "fragment with a route": "/#/route?token={}",
    "path": "/a;token={}/b;token={}?c",
    "two question marks": "/?a=1?token={}",
    "ampersand instead of a question mark": "https://a.example&token={}&b=c",
    "name without a value": "/?token&token={}",
}


@each_row("spelling", SPELLINGS.values())
@each_row("function", [uri.redact, uri.redact_text])
def test_spellings(function, spelling):
    names = ["token", "access_token"]
    url, redacted = spelling.replace("{}", SECRET), spelling.replace("{}", "REDACTED")
    assert function(url, names) == redacted
    assert function(url.encode(), names) == redacted.encode()
    assert function(redacted, names) is redacted
    assert function(url, "extended") == redacted


# Each of them in a URL, and in a URL whose value that URL is, percent-encoded once and twice.
NAME_SPELLINGS = (
    *("token", "ToKeN", "tok%65n", "TOK%45N", "tok%2565n", "%74%6f%6B%65%6E", "%2574%256f%256B%2565%256E"),
    *("tok%25%36%35n", "+token", "token+", "++token++", "%20token", "token%20", "%2520token", "%09token%0A"),
    "+tok%2565n+",
    *("token[]", "user[token]", "+user%5Btoken%5D+", "a%255B+tok%65n%255D"),
)
EQUALS = "=", "%3D", "%253D"


def nested_urls(nesting):
    """URLs with each spelling, nested so often: [(with the secret, with REDACTED)]."""
    urls = []
    for name, equals, end in itertools.product(NAME_SPELLINGS, EQUALS, ("", "&b=2", "#f")):
        url = f"https://a.example/é?a=1&{name}{equals}{{}}{end}"
        pair = [url.replace("{}", value) for value in (SECRET, "REDACTED")]
        for _ in range(nesting):
            pair = [f"https://o.example/?x=%C3%A9+&next={quote(url, safe='')}&c=%263" for url in pair]
        urls.append(tuple(pair))
    return urls


@pytest.mark.slow
@each_row("name", ["redact", "redact_text"])
@each_row("nesting", [0, 1, 2])
def test_names_in_nested_urls(name, nesting):
    """What is found in a URL is found in a URL in it, and no other byte changes."""
    urls, redacted = zip(*nested_urls(nesting), strict=True)
    function, rows, reference, names = getattr(uri, name), getattr(bulk, name), getattr(naive, name), ["token"]
    assert [function(url, names) for url in urls] == [*redacted]
    assert [function(url.encode(), names).decode() for url in urls] == [*redacted]
    assert [reference(url.encode(), names).decode() for url in urls] == [*redacted]
    assert rows([*urls], names=names) == [*redacted]
    lines, lines_redacted = ("".join(f"{url}\n" for url in each).encode() for each in (urls, redacted))
    assert bytes(rows(lines, names=names)) == lines_redacted


@each_row("name", ["redact", "redact_text"])
@each_row("nesting", [0, 1, 2])
def test_names_in_nested_urls_of_columns(name, nesting):
    pa = pytest.importorskip("pyarrow")
    urls, redacted = zip(*nested_urls(nesting), strict=True)
    for kind in pa.string(), pa.large_string():
        assert getattr(bulk, name)(pa.array(urls, kind), names=["token"]).to_pylist() == [*redacted]


def test_names_that_are_encoded_more_often():
    """Decoding stops after twice more than the URL is encoded: what is left is another name."""
    for nesting in range(3):
        for name in "tok%252565n", "%2Btoken", "x%20token", "tok%65n%2500x", "token%25253D":
            url = f"/?a=1&{name}=2"
            for _ in range(nesting):
                url = f"/?next={quote(url, safe='')}"
            assert uri.redact(url, ["token"]) is url
            assert naive.redact(url.encode(), ["token"]) == url.encode()


@each_row(
    ("url", "redacted"),
    [
        ("http://a@b:c@d:e@h/", "http://REDACTED:REDACTED@h/"),
        ("https://u:p/w@h/a", "https://REDACTED:REDACTED@h/a"),
        ("https://u:p?w#x@h/a", "https://REDACTED:REDACTED@h/a"),
        ("https://@h/", "https://REDACTED@h/"),
        ("https://:@h/", "https://REDACTED:REDACTED@h/"),
        ("https://u%3Ap%40w:x@h/", "https://REDACTED:REDACTED@h/"),
        ("/?token=a;b&c=1", "/?token=REDACTED&c=1"),
        ("/?token=a;b==&c=1", "/?token=REDACTED&c=1"),
        ("/?token=a;b=", "/?token=REDACTED"),
        ("/?token=a;b=c", "/?token=REDACTED;b=c"),
        ("/?token=a b\"c<d>'e\n", "/?token=REDACTED"),
        ("/?token=a/b?c:d@e", "/?token=REDACTED"),
        ("token=a/b&c=1", "token=REDACTED&c=1"),
        ("https://h&token=a/b?c#d", "https://h&token=REDACTED#d"),
        ("https://u:p&a=b@h&token=x/y", "https://REDACTED:REDACTED@h&token=REDACTED"),
        ("/a;token=b/c&token=d/e", "/a;token=REDACTED/c&token=REDACTED"),
        ("/?token=", "/?token=REDACTED"),
        ("/?token=" + 100_000 * "x" + "&a=1", "/?token=REDACTED&a=1"),
        ("/?" + 300 * "token=a&", "/?" + 300 * "token=REDACTED&"),
        ("/?token=%FF%", "/?token=REDACTED"),
        ("/?token=é\ud800", "/?token=REDACTED"),
        ("\ud800?token=é#\udfff", "\ud800?token=REDACTED#\udfff"),
    ],
)
def test_urls(url, redacted):
    assert uri.redact(url, "token") == redacted
    assert uri.redact(redacted, "token") is redacted


@each_row(
    "url",
    [
        *("https://a.example:80/a@b", "https://[::1]:80/a@b", "/users/@me", "mailto:me@a.example", "git@h:a/b"),
        "h:80/a@b",
        *("/?tokens=1&xtoken=2&a=token", "/token=1", "/a/token=1?b", "?token", "?a=1", "", "?", "=", "%", "://", "//"),
        *("?token%=1", "?to ken=1", "?token%00x=1", "/?q=token%2Cx"),
    ],
)
@each_row("function", [uri.redact, uri.redact_text])
def test_keeps_urls_without_secrets(function, url):
    assert function(url, ["token"]) is url


TEXTS = {
    "see (https://h/?token={}). Next": "see (https://h/?token=REDACTED). Next",
    "https://h/?token={}, https://h/?token={};": "https://h/?token=REDACTED, https://h/?token=REDACTED;",
    '"GET /a?token={} HTTP/1.1" 200 "https://u:{}@h/"': (
        '"GET /a?token=REDACTED HTTP/1.1" 200 "https://REDACTED:REDACTED@h/"'
    ),
    "{'u': 'https://h/?token={}', 'b': b'?token={}'}": "{'u': 'https://h/?token=REDACTED', 'b': b'?token=REDACTED'}",
    '{"m":"{\\"u\\":\\"/?token={}\\"}","n":"/?token={}\\nx"}': (
        '{"m":"{\\"u\\":\\"/?token=REDACTED\\"}","n":"/?token=REDACTED\\nx"}'
    ),
    "[a](/b?token={})[c](/d?token={})": "[a](/b?token=REDACTED)[c](/d?token=REDACTED)",
    "`/?token={}` and |/?token={}|": "`/?token=REDACTED` and |/?token=REDACTED|",
    "<a href=/?token={}>": "<a href=/?token=REDACTED>",
    "<a href='/?a=1&amp;token={}'>&#39;?token={}&#39;": "<a href='/?a=1&amp;token=REDACTED'>&#39;?token=REDACTED&#39;",
    "\\u003chttps://h/?token={}\\u003e": "\\u003chttps://h/?token=REDACTED\\u003e",
    "请看 https://h/?token={}。谢谢 “/?token={}”": "请看 https://h/?token=REDACTED。谢谢 “/?token=REDACTED”",
    "/?token={}(a)[b]!": "/?token=REDACTED!",
    "/?token=({}": "/?token=REDACTED",
    "/?token=3D{}=\r\n{}&b=3D1 =\nx": "/?token=REDACTED&b=3D1 =\nx",
    "/?a=3D=\n=\r\n1&token=3D{}=": "/?a=3D=\n=\r\n1&token=REDACTED",
    "U=/?token={}=\nV=/?a=1&token=3D{}=\r\nW=1": "U=/?token=REDACTED\nV=/?a=1&token=REDACTED\r\nW=1",
    "/?a=3D1&token=3D{}==\nx": "/?a=3D1&token=REDACTED\nx",
    "token=1 &token=2 f(a;token=3) Cookie: a;token=4": "token=1 &token=2 f(a;token=3) Cookie: a;token=4",
    "/?token={}\t/?token={}\v/?token={}\0": "/?token=REDACTED\t/?token=REDACTED\v/?token=REDACTED\0",
}


@each_row(("text", "redacted"), TEXTS.items())
def test_texts(text, redacted):
    text = text.replace("{}", SECRET)
    assert uri.redact_text(text, "token") == redacted
    assert uri.redact_text(text.encode(), "token") == redacted.encode()
    assert uri.redact_text(redacted, "token") is redacted


def test_a_value_that_is_not_utf_8():
    assert uri.redact_text(b"/?token=a\xffb\xc3 c", "token") == b"/?token=REDACTED c"
    assert uri.redact(b"/?token=a\xffb\xc3 c", "token") == b"/?token=REDACTED"


# --- names ------------------------------------------------------------------------------------------------------------


def test_names():
    assert uri.redact("?sig=1&X-AMZ-signature=2&token=3") == "?sig=REDACTED&X-AMZ-signature=REDACTED&token=3"
    for names, listed in naive.SENSITIVE_NAMES.items():
        assert sorted(uri.SENSITIVE_NAMES[names]) == sorted(listed)
        for name in (each.replace("*", "x") for each in listed):
            assert uri.redact(f"?{name}=1&b=2", names) == f"?{name}=REDACTED&b=2"
    url = "?a=1&x-b=2&sig=3&é=4"
    assert uri.redact(url, "a, X-*") == uri.redact(url, {"a", "x-*"}) == "?a=REDACTED&x-b=REDACTED&sig=3&é=4"
    assert uri.redact(url, ["default", "é"]) == "?a=1&x-b=2&sig=REDACTED&é=REDACTED"
    assert uri.redact(url.replace("é", "%C3%A9"), ["é"]) == "?a=1&x-b=2&sig=3&%C3%A9=REDACTED"
    assert uri.redact(url, "*") == "?a=REDACTED&x-b=REDACTED&sig=REDACTED&é=REDACTED"
    assert uri.redact(url, []) is url
    long = "x" * 255
    assert uri.redact(f"?{long}=1&{long}x=2", [long]) == f"?{long}=REDACTED&{long}x=2"
    assert uri.redact(f"?{long}=1&{long}x=2", [long[1:] + "*"]) == f"?{long}=REDACTED&{long}x=REDACTED"


# What a name of the list matches, and what it does not; those as long as it is and those one byte longer and shorter.
MATCHES = {
    "pin": (
        ["pin", "PIN", "p-i-n", "p_i.n", "-pin", "pin_", "a[pin]", "a[p_in][]"],
        ["pi", "in", "pinx", "xpin", "p+in", "pin0"],
    ),
    "pi*": (["pi", "pin", "pi-", "P.I", "pi" + "x" * 600, "a[pix]"], ["p", "i", "api", "xpi", "p"]),
    "*in": (["in", "pin", "IN", "i-n", "x" * 600 + "in", "a[pin]b"], ["i", "n", "inx", "pins", "x" * 600 + "inx"]),
    "*i-n*": (
        ["in", "pin", "inx", "p_i_n_s", "x" * 254 + "in", "x" * 600 + "in" + "x" * 600],
        ["i", "n", "ixn", "x" * 600],
    ),
    "*a*": (["a", "xa", "ax", "-a", "xax", "x" * 509 + "a"], ["b", "xb", "-b", "x" * 600]),
    "a*": (["a", "ax", "a[b]", "-a"], ["xa", "b", "xax"]),
    "a": (["a", "A", "-a-", "x[a]"], ["aa", "xa", "ax", "b"]),
    "x-amz-*": (["x-amz-", "xamz", "X_AMZ_Signature", "xAmzDate", "x.amz"], ["x-am", "ax-amz-a", "xmz"]),
    "*é": (["é", "caf%C3%A9", "x-é"], ["e", "éx"]),
    "*": (["a", "", "-", "x" * 600], []),
}


@each_row("name", MATCHES)
def test_names_match(name):
    for listed in [name], ["unlisted", name, "*not-this*", "nor-this*"]:
        for spelled in MATCHES[name][0]:
            assert uri.redact(f"/?b&{spelled}=1&c", listed) == f"/?b&{spelled}=REDACTED&c"
        for spelled in MATCHES[name][1]:
            assert uri.redact(f"/?b&{spelled}=1&c", listed) == f"/?b&{spelled}=1&c"
    url = "/?" + "&".join(f"{spelled}=1" for spelled in MATCHES[name][0] + MATCHES[name][1])
    assert uri.redact(url, [name]).encode() == naive.redact(url.encode(), [name])


@each_row("size", [*range(250, 260), *range(505, 515), 765, 1020])
def test_long_names(size):
    for at in range(max(0, size - 270), size):
        name = "x" * at + "token" + "y" * (size - at)
        assert uri.redact(f"?{name}=1", ["*token*"]) == f"?{name}=REDACTED"
        assert uri.redact(f"?{name}[pin]=1", ["pin", "*no*"]) == f"?{name}[pin]=REDACTED"
    # What goes on after a name is another name.
    for name in f"{'x' * size}tokens", f"{'x' * size}[pint]":
        assert uri.redact(f"?{name}=1", ["*token", "pin"]) == f"?{name}=1"


# Names of public reports of leaks, as their applications spell them.
REPORTED = (
    *("client_secret", "client-secret", "clientSecret", "CLIENT.SECRET", "access_token", "access-token", "accessToken"),
    *("x_amz_signature", "X-Amz-Signature", "xAmzSecurityToken", "refreshToken", "id-token", "apiKey", "X-API-KEY"),
    "api.key",
    *("user_password", "newPassword", "passwd1", "old_pwd", "sessionToken", "session-id", "PHPSESSID", "JSESSIONID"),
    "sessid",
    *("otp_code", "totp", "one_time_otp", "credentials", "aws_credential", "hmacSignature", "secretKey", "app-secret"),
    *("csrfmiddlewaretoken", "_csrf", "authCode", "authorization", "Ocp-Apim-Subscription-Key", "private_key"),
    "accessKeyId",
    *("resetPasswordToken", "verification-code", "connect.sid", "jwtToken", "sso_token", "user[passwordConfirmation]"),
)


def test_names_of_reports():
    for name in REPORTED:
        assert uri.redact(f"/?a=1&{name}=x&b=2", "extended") == f"/?a=1&{name}=REDACTED&b=2"
    for name in "x_amz_signature", "xAmzCredential", "awsAccessKeyId", "SIG", "x-goog-signature":
        assert uri.redact(f"/?a=1&{name}=x&b=2") == f"/?a=1&{name}=REDACTED&b=2"
    for name in "page", "q", "id", "lang", "utm_source", "sort", "user", "email", "client_id", "redirect_uri", "scope":
        assert uri.redact(f"/?a=1&{name}=x&b=2", "extended") == f"/?a=1&{name}=x&b=2"


@each_row("names", ["", "a,,b", "a*b", "*a*b", "**", "***", "-", "_", "-*", "*._*", "a**", "x" * 256, ["a", ""]])
def test_wrong_names(names):
    with pytest.raises(ValueError, match="name"):
        uri.redact("", names)


@pytest.mark.parametrize("names", [b"a", [b"a"], [None], 5])
def test_names_of_wrong_types(names):
    with pytest.raises(TypeError):
        uri.redact("", names)


def test_many_sets_of_names():
    for number in range(200):
        assert uri.redact(f"?a{number}=1&a=2", [f"a{number}"]) == f"?a{number}=REDACTED&a=2"


def test_without_nested():
    url = "?next=https%3A%2F%2Fu%40h%2F%3Fsig%3Dx%26b&sig=x%26y#https://u@h"
    redacted = "?next=https%3A%2F%2Fu%40h%2F%3Fsig%3Dx%26b&sig=REDACTED#https://REDACTED@h"
    assert uri.redact(url, nested=False) == redacted


# --- JSON -------------------------------------------------------------------------------------------------------------

JSON = {
    # a value is a string, a number, a container; the same name deeper, and in an array
    '{"token":"{}"}': '{"token":"REDACTED"}',
    '{"a":"b","token":"{}","c":1}': '{"a":"b","token":"REDACTED","c":1}',
    '{"token":12345}': '{"token":REDACTED}',
    '{"a":[1,{"token":"{}"}],"b":2}': '{"a":[1,{"token":"REDACTED"}],"b":2}',
    '{"token":["{}",{"a":"{}"}],"b":2}': '{"token":REDACTED,"b":2}',
    '[{"Tok-en":"{}"},{"token":"{}"}]': '[{"Tok-en":"REDACTED"},{"token":"REDACTED"}]',
    '{"token":""}': '{"token":"REDACTED"}',
    '{"token":"{}': '{"token":"REDACTED',
    '{"token" : "{}" }': '{"token" : "REDACTED" }',
    '{"token":"a\\"b{}\\\\"}': '{"token":"REDACTED"}',
    '{"token":"a"b{}"}': '{"token":"REDACTED"}',
    # a string is a URL, with an end of its own
    '{"u":"http://u:{}@h/","e":"a@b"}': '{"u":"http://REDACTED:REDACTED@h/","e":"a@b"}',
    '{"u":"http://h","e":"a@b"}': '{"u":"http://h","e":"a@b"}',
    '{"u":"/?token={}","e":"a"}': '{"u":"/?token=REDACTED","e":"a"}',
    '{"u":"https:\\/\\/u:{}@h\\/"}': '{"u":"https:\\/\\/REDACTED:REDACTED@h\\/"}',
    # JSON in JSON
    '{"a":"{\\"token\\":\\"{}\\"}"}': '{"a":"{\\"token\\":\\"REDACTED\\"}"}',
    # none
    '{"a":"token"}': '{"a":"token"}',
    "{token}": "{token}",
    '["token","a"]': '["token","a"]',
}
SPELLED_JSON = {
    "raw": str,
    "encoded": lambda text: quote(text, safe=""),
    "form": lambda text: quote(text, safe="").replace("%20", "+"),
    "browser": lambda text: text.replace('"', "%22").replace(" ", "%20"),
    "HTML": lambda text: text.replace('"', "&quot;"),
    "nginx": lambda text: text.replace('"', "\\x22"),
}


@each_row(("text", "redacted"), JSON.items())
@each_row("spelling", SPELLED_JSON)
def test_json(text, redacted, spelling):
    spell = SPELLED_JSON[spelling]
    text, redacted = spell(text.replace("{}", SECRET)), spell(redacted)
    for before, after in ("/?a=1&d=", "&b=2"), ("?d=", ""), ("#d=", "#e"), ("/?", "&a=1"), ("?d=+%20", "&b=2"):
        assert uri.redact(before + text + after, "token") == before + redacted + after
        assert naive.redact((before + text + after).encode(), "token").decode() == before + redacted + after
    if spelling not in {"HTML", "nginx"}:
        inner, inner_redacted = (quote(f"https://h/?d={each}&b=1", safe="") for each in (text, redacted))
        assert uri.redact(f"/?next={inner}&c=1", "token") == f"/?next={inner_redacted}&c=1"
    assert uri.redact("/?d=" + spell('{"token":"x"}'), "token", nested=False) == "/?d=" + spell('{"token":"x"}')


TEXTS_WITH_JSON = {
    'GET /?d={"token":"{} x","b":1}&c=2 HTTP/1.1': 'GET /?d={"token":"REDACTED","b":1}&c=2 HTTP/1.1',
    '{"url":"/?d={\\"token\\":\\"{}\\"}","m":"a@b"}': '{"url":"/?d={\\"token\\":\\"REDACTED\\"}","m":"a@b"}',
    '"/?d={\\u0022token\\u0022:\\u0022{}\\u0022}"': '"/?d={\\u0022token\\u0022:\\u0022REDACTED\\u0022}"',
    "see (/?d=%7B%22token%22:1%7D).": "see (/?d=%7B%22token%22:REDACTED%7D).",
    "see (/?d=%7B%22token%22:%22{}).": "see (/?d=%7B%22token%22:%22REDACTED).",
    'f("/?d={","token":"a b") /?token={}': 'f("/?d={","token":"a b") /?token=REDACTED',
    '/?d={"a":1\n/?token={} "}"': '/?d={"a":1\n/?token=REDACTED "}"',
}


@each_row(("text", "redacted"), TEXTS_WITH_JSON.items())
def test_json_in_texts(text, redacted):
    text = text.replace("{}", SECRET)
    assert uri.redact_text(text, "token") == redacted
    assert naive.redact_text(text.encode(), "token").decode() == redacted
    lines = text.encode() + b"\n"
    assert bytes(bulk.redact_text(lines, "token")) == redacted.encode() + b"\n"
    assert bytes(_redact.redact_lines(lines, _redact.RedactTextRows("token"))) == redacted.encode() + b"\n"


def test_strings_in_strings():
    """What is too deep is a string that is no JSON."""
    for text, redacted in ('{"token":"x"}', '{"token":"REDACTED"}'), ('[{"token":12}]', '[{"token":REDACTED}]'):
        for spell in str, quote:
            twice = spell(json.dumps(text))
            assert uri.redact(f"?d={twice}&b=1", "token") == f"?d={spell(json.dumps(redacted))}&b=1"
    text, redacted, found = '{"token":"x"}', '{"token":"REDACTED"}', []
    for _ in range(6):
        found.append(uri.redact(f"?d={text}", "token") == f"?d={redacted}")
        text, redacted = (json.dumps({"a": each}, separators=(",", ":")) for each in (text, redacted))
    assert found == [True, True, True, True, False, False]


# --- paths ------------------------------------------------------------------------------------------------------------

IN_PATHS = [
    ("/reset/{*}", "https://h/reset/{}?x=1", "https://h/reset/REDACTED?x=1"),
    ("/reset/{*}", "https://h/app/RES%65T/{}/y;z=1#f", "https://h/app/RES%65T/REDACTED/y;z=1#f"),
    ("/reset/{*}", "/reset/{};v=1&w@a=b:c!/d", "/reset/REDACTED/d"),
    ("/reset/{*}", "/?next=/reset/{}&b=1", "/?next=/reset/REDACTED&b=1"),
    (
        "/reset/{*}",
        "/?next=https%3A%2F%2Fh%2Freset%2F{}%26c%3Fx&b=1",
        "/?next=https%3A%2F%2Fh%2Freset%2FREDACTED%3Fx&b=1",
    ),
    ("/reset/{*}", "https://h/#/reset/{}&a=1", "https://h/#/reset/REDACTED&a=1"),
    ("/reset/{*}", "https://h/#!/reset/{}", "https://h/#!/reset/REDACTED"),
    ("/reset/{*}", "https:\\/\\/h\\/reset\\/{}\\/x", "https:\\/\\/h\\/reset\\/REDACTED\\/x"),
    ("/reset/{*}", '?d={"u":"https://h/reset/{}"}', '?d={"u":"https://h/reset/REDACTED"}'),
    ("/reset/{*}", "https://u:{}@h/reset/{}?sig={}", "https://REDACTED:REDACTED@h/reset/REDACTED?sig=REDACTED"),
    ("/bot*/", "https://api.telegram.org/bot12:{}/getMe", "https://api.telegram.org/botREDACTED/getMe"),
    ("/user/*/reset/{*}", "/user/7/reset/{}", "/user/7/reset/REDACTED"),
    ("/user/*/reset/*", "/user/{}/reset/{}", "/user/REDACTED/reset/REDACTED"),
    ("/{*}/confirm", "/{}/confirm/x", "/REDACTED/confirm/x"),
    ("/get/{*}.zip", "/get/{}.ZIP", "/get/REDACTED.ZIP"),
    ("/é*/", "/%C3%A9{}/", "/%C3%A9REDACTED/"),
    ("/a/{*},/{*}/b", "/a/{}/b", "/a/REDACTED/b"),
    ("tokens", "/s/V1StGXR8_Z5jdHi6B-myT/a?b", "/s/REDACTED/a?b"),
    ("tokens", "/?a=%2Fs%2FV1StGXR8%255FZ5jdHi6B-myT%2Fa", "/?a=%2Fs%2FREDACTED%2Fa"),
    (["tokens", "/s/{*}"], "/s/a/s/V1StGXR8_Z5jdHi6B-myT.pdf", "/s/REDACTED/s/REDACTED"),
]
NOT_IN_PATHS = [
    ("/reset/{*}", "https://reset/x"),
    ("/reset/{*}", "/reset/"),
    ("/reset/{*}", "/reset//"),
    ("/reset/{*}", "/resets/x/reset"),
    ("/reset/{*}", "/?a=b/reset/x"),
    ("/reset/{*}", "/?/reset/x"),
    ("/reset/{*}", "/reset%2Fx"),
    ("/bot*/", "/bottle"),
    ("/bot*/", "/bot/x"),
    ("/get/*.zip", "/get/.zip"),
    ("tokens", "/wiki/Main_Page/0192aa6e-7b1c-7cc0-8d3f-1b2c3d4e5f60/20241021/REDACTED"),
]


@each_row(("paths", "url", "redacted"), IN_PATHS)
def test_paths(paths, url, redacted):
    url = url.replace("{}", SECRET)
    assert uri.redact(url, paths=paths) == redacted
    assert uri.redact(redacted, paths=paths) is redacted
    assert naive.redact(url.encode(), paths=paths).decode() == redacted
    if '"' not in url:
        assert uri.redact_text(f"x ({url}). y", paths=paths) == f"x ({redacted}). y"
    assert bulk.redact([url, None], paths=paths) == [redacted, None]
    assert bytes(bulk.redact_text(f"{url}\n".encode(), paths=paths)) == f"{redacted}\n".encode()
    record = logging.makeLogRecord({"msg": url, "args": None})
    uri.RedactingFilter(paths=paths).filter(record)
    assert record.msg == redacted


@each_row(("paths", "url"), NOT_IN_PATHS)
def test_paths_without_secrets(paths, url):
    assert uri.redact(url, paths=paths) is url
    assert uri.redact_text(url, paths=paths) is url


@each_row("place", range(8))
def test_long_patterns(place):
    segments = [*"abcdefgh"]
    pattern = "/" + "/".join([*segments[:place], "{*}", *segments[place + 1 :]])
    for before, after in ("", ""), ("/x" * 20, "/y" * 20), ("/a/b/c", "/g/h"):
        redacted = "/".join([*segments[:place], "REDACTED", *segments[place + 1 :]])
        url = f"{before}/{'/'.join(segments)}{after}"
        assert uri.redact(url, paths=pattern) == f"{before}/{redacted}{after}"
        assert (
            uri.redact(url.replace("/h", "/i"), paths=pattern) == f"{before}/{redacted}{after}".replace("/h", "/i")
            or place < 7
        )


@each_row(
    "paths",
    ["", "a", "/", "/a", "/a/**", "/a*b*", "/{x}", "/*}", "//*", "/a//{*}", "/*" * 9, "/*" + 256 * "x", ["/*", ""]],
)
def test_wrong_paths(paths):
    with pytest.raises(ValueError, match="pattern of paths"):
        uri.redact("", paths=paths)
    with pytest.raises(ValueError, match="pattern of paths"):
        uri.RedactingFilter(paths=paths)


@pytest.mark.parametrize("paths", [b"/a*", [b"/a*"], [None], 5])
def test_paths_of_wrong_types(paths):
    with pytest.raises(TypeError):
        uri.redact("", paths=paths)


# --- the reference ----------------------------------------------------------------------------------------------------

PIECES = (
    *(b"https://", b"http:", b"//", b"/", b"\\/", b"?", b"&", b"#", b";", b"=", b"@", b":", b"%3D", b"%26", b"%3F"),
    *(b"%3A%2F%2F", b"%253D", b"%2526", b"%253A%252F%252f", b"%40", b"%2540", b"%252525", b"%25253d", b"%2B", b"65"),
    *(b"token", b"sig", b"s%69g", b"TOKEN", b"a"),
    *(b"&amp;", b"\\u0026", b"\\u003d", b"&#61;", b"&#x3D;", b"&#39;", b"&quot;", b"'", b'"', b"(", b")", b"[", b"]"),
    *(b"{", b"}", b"`", b"|", b" ", b"\n", b"=\n", b"=\r\n", b"=3D", b"\\n", b"\\\\", b"\\", b"\xff", b"\xe3\x80\x82"),
    b"\xc3\xa9",
    *(b"\xe2\x80\x9c", b"+", b"%20", b".", b",", b"!", b"x-q", b"u[sig]", b"[::1]", b":80", b"host", b"\0", b"%"),
    b"%2",
    *(b"&#", b"*", b"<", b">", b"%25", b"\\u0022", b"\\\\u0026", b"\\u0040", b"\\\\\\u003f", b"REDACTED", b"?sig="),
    *(b"&token=", b"://u:p@h"),
)
OF_JSON = (
    *(
        b'={"token":"',
        b'={"a":"',
        b'"a":',
        b'"token":',
        b'"}',
        b',"',
        b'\\"',
        b'\\\\\\"',
        b"\\x22",
        b"&quot;",
        b"%22",
        b"%2522",
    ),
    *(
        b"=%7B%22a%22%3A%22",
        b"%22sig%22%3A",
        b"%22%7D",
        b"%2C",
        b"%5C",
        b"%5C%22",
        b"%5c%2f",
        b"%5C/",
        b"%5Cu0026",
        b"%255C",
    ),
    *(b"1", b"[{", b"}]", b"[", b"/", b"&", b"?", b"://u:p@h", b"a", b" ", b"+", b"sig", b"="),
)
OF_PATHS = (
    *(
        b"/",
        b"/",
        b"\\/",
        b"%2F",
        b"%252F",
        b"/reset/",
        b"/a/",
        b"%2Freset%2F",
        b"r%65set",
        b"bot",
        b".zip",
        b"x",
        b"?",
        b"#",
    ),
    *(
        b"&",
        b";",
        b"=",
        b"!",
        b"://h",
        b"https%3A%2F%2Fh",
        b"/V1StGXR8%5FZ5jdHi6B-myT",
        b"'",
        b")",
        b".",
        b"\n",
        b"%",
        b"%25",
    ),
    *(b"&amp;", b"sig=", b"token", b"\xc3\xa9"),
)
PATHS = st.sampled_from(["tokens", ("/reset/{*}",), ("/bot*/", "/*.zip", "/reset/*"), "/a/*/reset/{*},/{*}/x", "/*"])
NAMES = st.sampled_from(["default", "extended", ("token", "x-*"), "*", "a,sig", "*o*,*q", "*ke*"])


@given(st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join) | st.binary(max_size=40), NAMES, st.booleans())
def test_the_reference(text, names, nested):
    for name in "redact", "redact_text":
        function = getattr(uri, name)
        want = getattr(naive, name)(text, names, nested)
        for tier in uricodec.cpu_tiers():
            before = uricodec.cpu_tier()
            _kernels.use_tier(tier)
            try:
                found = function(text, names, nested)
            finally:
                _kernels.use_tier(before)
            assert found == want
        # What is redacted of JSON may be what ended it.
        assert b'"' in text or b"&quot;" in text or function(found, names, nested) is found


@given(st.lists(st.sampled_from(OF_JSON), max_size=24).map(b"".join), st.sampled_from(["token,sig", "*", "*o*"]))
def test_the_reference_on_json(rest, names):
    for before in b"", b'/?a={"b":"', b"/?a=%7B%22b%22:", b"(/?a=%22%7B%22":
        for name in "redact", "redact_text":
            assert getattr(uri, name)(before + rest, names) == getattr(naive, name)(before + rest, names)


@given(st.lists(st.sampled_from(OF_PATHS), max_size=24).map(b"".join), PATHS, st.booleans())
def test_the_reference_on_paths(text, paths, nested):
    for name in "redact", "redact_text":
        function = getattr(uri, name)
        found = function(text, "token", nested, paths)
        assert found == getattr(naive, name)(text, "token", nested, paths)


@given(st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join), NAMES, st.booleans())
def test_lines(text, names, nested):
    """Lines of logs: their number stays, and with `bare`, words begin with names."""
    rows = _redact.RedactTextRows(names, nested, bare=True)
    found = bytes(_redact.redact_lines(text, rows))
    assert found == naive.redact_text(text, names, nested, bare=True, joins=False)
    assert found.count(b"\n") == text.count(b"\n")


def test_planted_secrets():
    """A secret that is planted into a URL is gone, and all bytes around it are still there."""
    source = random.Random(61)
    for at in range(20_000):
        in_text = at % 4 == 0
        kind, drawn = planted.draw_secrets(source, in_text)
        function = uri.redact_text if in_text else uri.redact
        assert function(drawn.with_secrets, planted.NAMES, True, planted.PATHS) == drawn.redacted, kind


@each_row(
    ("text", "redacted"),
    [
        ("(/?a=%22%7B%5C%22sig%5C%22:%5C%22x%5C%22%7D%22)", "(/?a=%22%7B%5C%22sig%5C%22:%5C%22REDACTED%5C%22%7D%22)"),
        ("['/?a=%22[{%5C%22sig%5C%22:1}]%22', 'b']", "['/?a=%22[{%5C%22sig%5C%22:REDACTED}]%22', 'b']"),
    ],
)
def test_json_in_strings_whose_end_is_hidden(text, redacted):
    assert uri.redact_text(text) == redacted


def test_json_after_a_string_that_is_not_closed():
    text = '/?a=%22%7B%22={"sig":"x","a":"%22%7D&b=1'
    assert uri.redact(text) == text.replace('"x"', '"REDACTED"')


HOSTILE = [
    *("://a:x", "://a:b@", "?", "a;", "&", "=", "%26", "\\", "&#", ")", "(", "'", "?token=a;", "?token=(", "//", "x"),
    ";=",
    *("%", "%25", "%2", "%252525", "?token=x=\n", "//a:b/?token=x=\n", "://a:/", "://a:#", "://a:/?b=", "=//a:x"),
    *("://a\\b:\\c", "%3A%2F%2Fa:/", "://u;k=v:", "://@:#", "&a=http://h:80", "=//a:1&b:", "://a:\\u0040"),
    *("\\\\\\u0040", "%3A", "%D0", "a=(", "?token=3D=\n"),
    *('?a={"', '={"a":"', '"', "[", '?a={"token":"', '={"a":1', '={"a":"={"b":"', "%5C", "%255C", '{"', '\\"', '?a=["'),
    *("/reset/", "/a", "/V1StGXR8", "%2F", "/%25"),
]


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("piece", HOSTILE)
@each_row(("start", "end"), [("", ""), ("", "@"), ("/?token=", ""), ("/?token=(", ""), ("/?%253F", "=")])
@each_row("function", [uri.redact, uri.redact_text])
def test_time_is_linear(function, start, end, piece):
    assert_linear(
        lambda text: function(text, "token", True, ("/reset/*/{*}", "tokens")),
        lambda size: start + piece * (size // len(piece)) + end,
        20_000,
    )


# --- logging ----------------------------------------------------------------------------------------------------------


def record_of(message, *arguments, **attributes):
    record = logging.makeLogRecord({"msg": message, "args": arguments, **attributes})
    assert uri.RedactingFilter(["token"]).filter(record) is True
    return record


def test_messages():
    assert record_of("a /?token=x b").getMessage() == "a /?token=REDACTED b"
    record = record_of("%s %d", "/?token=x", 5)
    assert (record.msg, record.args) == ("%s %d", ("/?token=REDACTED", 5))
    record = logging.LogRecord("a", 20, "a.py", 1, "%(url)s", ({"url": "/?token=x"},), None)
    uri.RedactingFilter(["token"]).filter(record)
    assert record.getMessage() == "/?token=REDACTED"
    assert record_of("?token=%s&a", "x").getMessage() == "?token=REDACTED&a"
    assert record_of("%s", ValueError("/?token=x")).getMessage() == "/?token=REDACTED"
    assert record_of(ValueError("/?token=x")).getMessage() == "/?token=REDACTED"
    assert record_of("%s", b"/?token=x").args == (b"/?token=REDACTED",)
    assert record_of("100 % /?token=x").getMessage() == "100 % /?token=REDACTED"


def test_messages_that_do_not_fit_their_arguments():
    record = record_of("%d /?token=%s /?token=x", "/?token=x")
    assert (record.msg, record.args) == ("%d /?token=REDACTED /?token=REDACTED", ("/?token=REDACTED",))
    assert record_of("%d", "x").msg == "%d"


def test_everything_else_in_a_record():
    try:
        raise ValueError("/?token=secret")
    except ValueError as error:
        record = record_of("a", exc_info=(ValueError, error, error.__traceback__), stack_info="/?token=secret")
    shown = logging.Formatter("%(message)s").format(record)
    assert "secret" not in re.sub(r'raise ValueError\(".*', "", shown)
    assert shown.count("/?token=REDACTED") >= 2
    record = record_of("a", url="/?token=x", count=5, body=b"/?token=x")
    assert (record.url, record.count, record.body) == ("/?token=REDACTED", 5, b"/?token=REDACTED")
    text, redacted = "/?token=x", "/?token=REDACTED"
    around = [text]
    around.append(around)
    deep = text
    for _ in range(5000):
        deep = [deep]
    http = {"urls": [text, (text, 1, b"/?token=x")], "self": around}
    record = record_of("a", http=http, deep=deep, counts={text})
    assert record.http == {"urls": [redacted, (redacted, 1, b"/?token=REDACTED")], "self": [redacted, around]}
    assert http["urls"][0] == text and record.counts == {text}
    with pytest.raises(ValueError, match="name"):
        uri.RedactingFilter([""])
    assert pickle.loads(pickle.dumps(uri.RedactingFilter("extended", False))).nested is False


# --- access logs ------------------------------------------------------------------------------------------------------

LINE = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a?b=c&sig=x HTTP/1.1" 200 5 "https://u:p@h/?Token=y" "-"\n'


def test_access_logs():
    [record] = logs.parse(LINE, redact=True)
    assert (record.target, record.referer) == ("/a?b=c&sig=REDACTED", "https://REDACTED:REDACTED@h/?Token=y")
    [record] = logs.parse(LINE, redact=["token"], params=["sig"])
    assert record.referer == "https://REDACTED:REDACTED@h/?Token=REDACTED"
    assert record.params == {"sig": "x"}
    assert logs.columns(LINE, fields=["referer"], redact="token")["referer"] == [record.referer]
    assert list(logs.count(LINE * 2, ["param.sig"], redact=True)) == [{"param.sig": "REDACTED", "count": 2}]
    [record] = logs.parse(LINE, redact=False)
    assert record.target == "/a?b=c&sig=x"
    with pytest.raises(ValueError, match="name"):
        list(logs.parse(LINE, redact=""))


def test_queries_that_are_fields():
    line = b'{"request":{"method":"GET","host":"h","uri":"/a"},"status":200,"query":"a=1&sig=x","t":"sig=y"}\n'
    format = logs.Format(map={"query": "query", "extra.t": "t", "status": "status"})
    [record] = logs.parse(line, format, redact=True)
    assert (record.query, record.extra) == ((("a", "1"), ("sig", "REDACTED")), {"t": "sig=REDACTED"})
    log = b"#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status\n"
    log += b"2025-01-01 00:00:00 ::1 GET /a sig=x&b=1 200\n"
    [record] = logs.parse(log, "iis", redact=True)
    assert record.query == (("sig", "REDACTED"), ("b", "1"))


def test_invalid_lines_are_redacted():
    invalid = []
    list(
        logs.parse(
            LINE + b"x /?sig=secret y\n" + LINE[:-1] + b"/?sig=secret" * 99 + b"\n",
            "combined",
            redact=True,
            max_line=500,
            invalid=invalid,
        )
    )
    assert len(invalid) == 2
    assert b"secret" not in invalid[0].text + invalid[1].text
