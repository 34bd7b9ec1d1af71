"""Userinfo is redacted whatever it contains: planted userinfo in all encodings and on all surfaces."""

import logging
import random

import pytest
from reference import planted
from support.tables import each_row

from uricodec import bulk, logs, uri
from uricodec.uri import _redact

# URLs whose userinfo has delimiters of parameters, or a password that begins with one of URLs; "{}" is a secret.
LEAKING = (
    *("ftp://u;k=v:{}@h", "sftp://bob;fingerprint=ab-cd:{}@h/x", "smb://dom;user=x:{}@h/s", "redis://;x=1:{}@h"),
    *("http://u:12&w={}@h", "http://{};w=1@h", "http://u:12;w={}@h/?a=b", "//u&x=1:{}@h"),
    "http://u:1=2&3=4;{}@[::1]:80/",
    *("http://u&token=x:{}@h", "http://u:p@w;{}@h", "http://u:80;{}@h", "http://[x]:1&y={}@h"),
    *("postgres://u:#{}@h/db", "redis://:#{}@h:6379", "//u:#{}@h", "jdbc:postgresql://u:#{}@h/d", "amqp://u:?{}@h"),
    *("amqp://u:/{}@h/v?x=a", "amqp://u:\\{}@h", "https://u:\\{}/x@h", "https://u\\x:#{}@h", "redis://:/?{}@h"),
    "http://u:{}\\@h",
    *("amqp://u@corp:#{}@h", "http://u:?a=b&{}@h", "http://u:/{}@h/?email=a@b", "http://u:12\\{}@h"),
    "http://us\\er:{}@h",
    *(
        "/cb?next=http://u:{}&x=1@h/",
        "/cb?x=1&next=http://{}&x@h",
        "/?next=http://u&x=1:/{}@h",
        "/?next=http://{}&@h:1?a=b",
    ),
    *("/?next=http://u:80&x:{}@h", "/?next=http://u:1&x=1:{}/y@h", "#next=http://u:{}&@h", "/?next=http://u:#{}&x@h"),
)


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("?url=http://h&token=a@b", "?url=http://REDACTED"),
        ("/?to=http://h:80&token=p@ss&x=1", "/?to=http://REDACTED:REDACTED&x=1"),
        ("/?to=http://u:p&x=1&token=p@s@s#f", "/?to=http://REDACTED:REDACTED#f"),
        ("/?to=http://h&x=a@b&token=c", "/?to=http://REDACTED@b&token=REDACTED"),
        ("http://u:?p@h/?token=a@b&x=1", "http://REDACTED:REDACTED&x=1"),
        ("http://u:#p@h/?x=1&token=a@b#f", "http://REDACTED:REDACTED#f"),
        ("http://u:#p@h/?token=a;b@c", "http://REDACTED:REDACTED"),
        ("http://u:?p@h/?token=a?b@c", "http://REDACTED:REDACTED"),
        ("/?q=http%3A%2F%2Fu%3A%3Fp%40h%2F%3Ftoken%3Da%40b&x=1", "/?q=http%3A%2F%2FREDACTED%3AREDACTED&x=1"),
        ("http://u:?p@h/?x=a@b/c", "http://REDACTED:REDACTED@b/c"),
    ],
)
def test_a_secret_after_a_url_without_a_path(url, redacted):
    for text in url, f"see {url} now":
        assert uri.redact_text(text, names="extended") == text.replace(url, redacted)
    assert uri.redact(url, names="extended") == redacted


@each_row("encoding", planted.ENCODINGS)
def test_redacts_reported_leaks(encoding):
    encode, before, after = planted.ENCODINGS[encoding]
    for url in LEAKING:
        text = before + encode(url.replace("{}", "S3cr3t").encode()) + after
        for function in uri.redact, uri.redact_text:
            if url[:2] == "//" and encode is not planted.plain:
                continue  # without a scheme, the slashes of an encoded URL are seen after "=" only
            left = function(text)
            assert b"S3cr3t" not in left, (url, left)
            assert left.startswith(before) and left.endswith(after)
            assert function(left) == left


ORDINARY = (
    *("http://host:/path?email=a@b", "http://h:80/x@y", "http://h:80?x=a@b", "http://h:80#a@b", "http://host:/"),
    "http://host:#f",
    *("http://[::1]:80/a@b", "http://[::1]/a@b", "http://h:80\\p?x=a@b", "http://h/p:q@r", "http://h?a:b@c"),
    "http://host:",
    *(
        "file://C:/Users/x/@scope/p",
        "file:///C:/x@y",
        "http://a.example:/http://b.example/@c",
        "http://h:/?next=http://i/@me",
    ),
    *("/?next=http://h/&email=a@b", "/?next=http://h?x&email=a@b", "/?a=http://h&b=http://i/@me"),
    *("/?a=http://h:80&b=http://i/@me", "/?a=http://h:80&b=http://i:81&c=/@me", "/?a=http://h:80&amp;b=/x?c=a@b"),
    *("/?a=http://[::1]:80&b=/@me", "/?next=http%3A%2F%2Fh&email=a@b"),
    "/?next=http%3A%2F%2Fh%3A80%26email%3Da&email=a@b",
    *(
        "https://maps.example/@52.5,13.4,15z",
        "https://registry.example/@scope/p@1.0",
        "mailto:a@b?cc=c@d",
        "git@h:o/r@1",
    ),
)
ORDINARY_TEXTS = (
    *("http://h, me@a.example", "(http://h:/)me@a.example", "{'u':'http://h:/','m':'a@b'}", "http://h\\nme@a.example"),
    *("<http://h:80/>me@a.example", '{"u":"http://h","m":"a@b"}', "[a](http://h:/)[b](mailto:b@c)", "http://h:80/,a@b"),
    *("100%@b", "a%3A@b", "x=/y@z", "a //b", "{'u':'http://h','m':'a@b'}", "path=\\\\server\\share@2"),
)


@each_row("url", ORDINARY)
def test_ordinary_urls_stay(url):
    assert uri.redact(url) is url
    for text in url, f"see {url} now", f"'{url}',", f"<{url}>":
        assert uri.redact_text(text) is text


@each_row("text", ORDINARY_TEXTS)
def test_ordinary_texts_stay(text):
    assert uri.redact_text(text) is text


@each_row(
    ("url", "redacted"),
    [
        ("http://u:p\\u0040h", "http://REDACTED:REDACTED\\u0040h"),
        ("http://u:p\\\\u0040h", "http://REDACTED:REDACTED\\\\u0040h"),
        ("http:\\/\\/u:p\\\\\\u0040h", "http:\\/\\/REDACTED:REDACTED\\u0040h"),
        ("a%3A%2F%2Fu%3Ap%40h", "a%3A%2F%2FREDACTED%3AREDACTED%40h"),
        ("a%253a//u%253ap%2540h", "a%253a//REDACTED%253AREDACTED%2540h"),
        ("/a\\u003fsig=x", "/a\\u003fsig=REDACTED"),
        ("/a?sig=x", "/a?sig=REDACTED"),
        ("//u:p@h", "//REDACTED:REDACTED@h"),
    ],
)
def test_urls_at_any_offset_of_a_text(url, redacted):
    """What shows a URL is found wherever it is among bytes that are looked at together."""
    redacted = redacted.replace("%253A", "%253a")
    for before in ("a\\u0434 ", "a%D0%BE%20 "), ("\\\\ % ", "x "):
        for offset in *range(64), *range(4030, 4100), *range(8160, 8200):
            text = (before[0] * (offset // len(before[0]) + 1))[:offset] + " "
            assert uri.redact_text(f"{text}{url} {before[1]}") == f"{text}{redacted} {before[1]}"


def test_a_search_ends_before_the_next_url():
    for text, redacted in {
        "http://a:/,http://u:p@h": "http://a:/,http://REDACTED:REDACTED@h",
        "http://a:x,http://u:p@h": "http://a:x,http://REDACTED:REDACTED@h",
        "://a=//u:p@h": "://a=//REDACTED:REDACTED@h",
        "http://a:#f,//u:p@h": "http://REDACTED:REDACTED@h",
        "http://a:#f http://u:#p@h": "http://a:#f http://REDACTED:REDACTED@h",
        "http://http://h:/a@b": "http://http://REDACTED:REDACTED@b",
        "http://http://h/a@b": "http://http://h/a@b",
        "a=http://h:/;b=http://u:/p@h": "a=http://h:/;b=http://REDACTED:REDACTED@h",
    }.items():
        assert uri.redact_text(text) == redacted
        assert uri.redact_text(redacted) is redacted


@pytest.mark.slow
@pytest.mark.parametrize("in_text", [False, True])
def test_planted_userinfo(in_text):
    """No planted secret is left, and every byte around it is."""
    drawn = planted.draw_many(random.Random(54), 4000, in_text)
    function, rows = (uri.redact_text, bulk.redact_text) if in_text else (uri.redact, bulk.redact)
    redacted = [each.redacted for each in drawn]
    assert [function(each.text) for each in drawn] == redacted
    assert rows([each.text for each in drawn]) == redacted
    assert rows(redacted) == redacted
    texts = [(each.text.decode(), each.redacted.decode()) for each in drawn if is_utf_8(each.text)]
    assert len(texts) > 1000
    assert [function(text) for text, _ in texts] == [redacted for _, redacted in texts]


def is_utf_8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.slow
def test_planted_userinfo_in_columns_and_lines():
    pa = pytest.importorskip("pyarrow")
    for in_text, rows in (False, bulk.redact), (True, bulk.redact_text):
        drawn = planted.draw_many(random.Random(55), 2000, in_text)
        drawn = [each for each in drawn if is_utf_8(each.text) and b"\n" not in each.text and b"\r" not in each.text]
        texts, redacted = (
            [each.decode() for each in column] for column in zip(*[each[:2] for each in drawn], strict=True)
        )
        for kind in pa.string(), pa.large_string(), pa.string_view():
            assert rows(pa.array(texts, kind)).to_pylist() == redacted
        lines, lines_redacted = ("".join(f"{line}\n" for line in each).encode() for each in (texts, redacted))
        assert bytes(rows(lines)) == lines_redacted
        if in_text:
            assert bytes(_redact.redact_lines(lines, _redact.RedactTextRows())) == lines_redacted


def test_planted_userinfo_in_logs():
    records, redacted = [], []
    for each in planted.draw_many(random.Random(56), 1000, True):
        if is_utf_8(each.text):
            record = logging.makeLogRecord({"msg": "%s", "args": (each.text.decode(),), "extra_url": [each.text]})
            assert uri.RedactingFilter().filter(record)
            records += [record.getMessage(), *record.extra_url]
            redacted += [each.redacted.decode(), each.redacted]
    assert records == redacted
    line = '192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /?u={} HTTP/1.1" 200 5 "{}" "-"\n'
    for url in ("ftp://u;k=v:S3cr3t@h/x", "redis://:#S3cr3t@h", "http://u:12;w=S3cr3t@h"):
        [record] = logs.parse(line.format(planted.quoted(url.encode()).decode(), url).encode(), redact=True)
        assert "S3cr3t" not in record.target + record.referer


def test_userinfo_is_what_the_parser_finds():
    """What is planted is the userinfo of the URL, and what is left has that of a redacted one."""
    count = 0
    for each in planted.draw_many(random.Random(57), 3000, False):
        # Of jdbc:postgresql://, the scheme is jdbc, and there is no authority.
        is_plain = each.encoding == "plain" and b":" not in each.url.partition(b"//")[0].removesuffix(b":")
        if is_plain and not {*each.userinfo} & {*b"/?#"}:
            assert uri.userinfo(each.url) == each.userinfo
            assert uri.userinfo(uri.redact(each.url)) in {b"REDACTED", b"REDACTED:REDACTED"}
            count += 1
    assert count > 100


def test_any_authority():
    """An authority of random bytes: nothing of its userinfo is left."""
    source = random.Random(58)
    for _ in range(5000):
        url = b"x://" + bytes(source.choices(b"aZ09:@@;&=%[]\\.-_~'\xc3\xa9", k=source.randrange(1, 24))) + b"/p"
        userinfo = uri.userinfo(url)
        if userinfo is not None:
            left = uri.redact(url)
            assert uri.userinfo(left) in {b"REDACTED", b"REDACTED:REDACTED"}
            assert left.endswith(url[len(b"x://" + userinfo) :])
            assert (b":" in userinfo) == (b":" in uri.userinfo(left))
