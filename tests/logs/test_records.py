"""Access logs: hand-made lines of some formats, any bytes against the reference, the functions of uricodec.logs.

test_programs.py compares lines of all formats with the reference; the command is in cli/test_log.py.
"""

import bz2
import csv
import ctypes
import gzip
import io
import itertools
import json
import lzma
import operator
import random
import re
import threading
from array import array
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import logs as naive
from support import log_programs
from support.marks import few_examples
from support.tables import each_row
from support.timing import assert_linear

from uricodec import logs
from uricodec._io import magic, reading
from uricodec.logs import Format, FormatError, InvalidLine
from uricodec.logs._columns import convert_columns
from uricodec.logs._records import NAMES, LogReader

LONGEST = 1 << 16
FORMATS = ("combined", "common", "combined-forwarded", "nginx-json", "cloudfront", "iis", "alb")
EXAMPLES = Path(__file__).parents[2] / "examples"


def reader_of(format, to="jsonl", *, errors="keep", **options):
    return LogReader(Format(format).programs, to, replace_invalid_utf8=errors == "replace", **options)


def convert(data, format, to="jsonl", capacity=None, **options):
    """The records as bytes, and invalid lines as (line, code, offset)."""
    reader = reader_of(format, to, **options)
    records, invalid, lines, done, counted = [], [], 0, 0, 0
    all_lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    starts = [0, *itertools.accumulate(map(len, all_lines))]
    dst = bytearray(capacity or reader.capacity_for(len(data)))
    while done < len(data):
        found = reader.convert(memoryview(data)[done:], dst)
        records.append(bytes(dst[: found.written]))
        for line, start, stop, code, offset in found.invalid:
            assert starts[lines + line] == done + start
            whole = all_lines[lines + line]
            assert whole[: stop - start] == whole.removesuffix(b"\n").removesuffix(b"\r")
            invalid.append((lines + line, code, offset))
        lines += found.lines
        counted += found.records
        done += found.read
    assert lines == len(all_lines)
    records = b"".join(records)
    assert counted == records.count(b"\n") or to == "csv"
    return records, invalid


def records_of(data, format, **options):
    return [json.loads(line) for line in convert(data, format, **options)[0].splitlines()]


def one(line, format="combined", **options):
    """The record of a line, which the reference has, too."""
    [record] = records_of(line, format, **options)
    assert record == log_programs.shown(log_programs.record(line.removesuffix(b"\n"), format, **options), format)
    return record


def rejected(line, format="combined"):
    """The code and the offset of the error in a line, which are those of the reference for lines of text."""
    records, [(number, code, offset)] = convert(line, format)
    assert (records, number) == (b"", 0)
    reference = log_programs.record(line.removesuffix(b"\n"), format)
    assert isinstance(reference, log_programs.Invalid)
    assert reference == (code, offset) or format in ("nginx-json", "iis", "cloudfront")
    return code, offset


def request(target):
    """A line of "common" with this request, as it is."""
    return b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "%b" 200 5' % target


# --- combined, common -------------------------------------------------------------------------------------------------

COMBINED = (
    b'192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /caf%C3%A9?q=a+b&x=%26 HTTP/1.0" 200 2326 '
    b'"http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"'
)


def test_combined():
    assert one(COMBINED) == {
        "client": "192.0.2.1",
        "user": "frank",
        "time": "2000-10-10T13:55:36-07:00",
        "method": "GET",
        "target": "/caf%C3%A9?q=a+b&x=%26",
        "path": "/café",
        "query": [["q", "a b"], ["x", "&"]],
        "protocol": "HTTP/1.0",
        "status": 200,
        "bytes_sent": 2326,
        "referer": "http://www.example.com/start.html",
        "user_agent": "Mozilla/4.08 [en] (Win98; I ;Nav)",
    }


def test_common_has_neither_referer_nor_agent():
    record = one(COMBINED, "common")
    assert (record["referer"], record["user_agent"], record["bytes_sent"]) == (None, None, 2326)
    assert record.pop("extra") == {"rest": COMBINED.decode().partition(" 2326 ")[2]}
    assert one(COMBINED.split(b' "http')[0]) == record


def test_a_dash_is_no_value():
    assert set(one(b'- - - [-] "-" - - "-" "-"').values()) == {None}
    record = one(b'- - - [] "" 408 - "" ""')
    assert (record["time"], record["target"], record["referer"], record["user_agent"]) == ("", "", "", "")


@each_row(
    ("line", "host", "user"),
    [
        (b"192.0.2.1 - john doe [", "192.0.2.1", "john doe"),
        (rb"192.0.2.1 - a\"b\\c [x] \"GET [", "192.0.2.1", 'a"b\\c [x] "GET'),
        (b'192.0.2.1 - "" [', "192.0.2.1", ""),  # Apache
        (b"192.0.2.1 -  -  [", "192.0.2.1", None),  # Jetty
        (b"192.0.2.1 -  [", "192.0.2.1", ""),
        ("2001:db8::1 - J\u00e9r\u00f4me [".encode(), "2001:db8::1", "Jérôme"),
    ],
)
def test_clients_and_users(line, host, user):
    record = one(line + b'01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 5')
    assert (record["client"], record["user"]) == (host, user)


@each_row(
    ("logged", "time"),
    [
        (b"29/Feb/2024:23:59:60 +0530", "2024-02-29T23:59:60+05:30"),
        (b"29/Feb/2023:23:59:59 +0530", "29/Feb/2023:23:59:59 +0530"),
        (b"31/Apr/2023:23:59:59 +0530", "31/Apr/2023:23:59:59 +0530"),
        (b"29/Feb/1900:00:00:00 -0000", "29/Feb/1900:00:00:00 -0000"),
        (b"29/Feb/2000:00:00:00 -0000", "2000-02-29T00:00:00-00:00"),
        (b"01/Jan/2025:24:00:00 +0000", "01/Jan/2025:24:00:00 +0000"),
        (b"01/Jan/2025:12:00:00 +2400", "01/Jan/2025:12:00:00 +2400"),
        (b"01/Foo/2025:12:00:00 +0000", "01/Foo/2025:12:00:00 +0000"),
        (b"00/Jan/2025:12:00:00 +0000", "00/Jan/2025:12:00:00 +0000"),
        (b"01/Jan/0000:12:00:00 +0000", "01/Jan/0000:12:00:00 +0000"),
        (b"x1/Jan/2025:12:00:00 +0000", "x1/Jan/2025:12:00:00 +0000"),
        (b"01/J4n/2025:12:00:00 +0000", "01/J4n/2025:12:00:00 +0000"),
        (b"01-Jan/2025:12:00:00 +0000", "01-Jan/2025:12:00:00 +0000"),
        (b"01/Jan/2025:12:00:00 00000", "01/Jan/2025:12:00:00 00000"),
        (b"1/Jan/2025:12:00:00 +0000", "2025-01-01T12:00:00+00:00"),
        (b"1-Jan-2025 12:00:00", "2025-01-01T12:00:00"),
        (b"31 Jan 2025 12:00:00.5 -0100", "2025-01-31T12:00:00.5-01:00"),
        (b"31.01.2025 12:00:00,5", "2025-01-31T12:00:00.5"),
        (b"1.12.2025 12:00:00", "2025-12-01T12:00:00"),
        (b"Sat, 1 Mar 2025 12:00:00 GMT", "2025-03-01T12:00:00Z"),
        (b"31.02.2025 12:00:00", "31.02.2025 12:00:00"),
        (b"31.13.2025 12:00:00", "31.13.2025 12:00:00"),
        (b"311.1.2025 12:00:00", "311.1.2025 12:00:00"),
        (b"01/02/2025:12:00:00 +0000", "01/02/2025:12:00:00 +0000"),
        (b"01-Jan/2025 12:00:00 +0000", "01-Jan/2025 12:00:00 +0000"),
        (b"2025-01-01T12:00:00Z", "2025-01-01T12:00:00Z"),
    ],
)
def test_time(logged, time):
    assert one(b'- - - [%b] "-" 200 5' % logged)["time"] == time


def test_every_month():
    for number, month in enumerate(re.findall("...", "JanFebMarAprMayJunJulAugSepOctNovDec"), 1):
        logged = f'- - - [01/{month}/2025:00:00:00 +0000] "-" 200 5'.encode()
        assert one(logged)["time"] == f"2025-{number:02}-01T00:00:00+00:00"


@each_row(
    ("escaped", "octets"),
    [
        (rb"\x16\x03\x01", "\x16\x03\x01"),
        (rb"\n\t\r\b\f\v\"\\", '\n\t\r\b\f\v"\\'),
        (rb"\xC3\xA9", "é"),
        (rb"\xff", "%FF"),
        (rb"\x4", r"\x4"),
        (rb"\q\xzz", r"\q\xzz"),
        (rb"\\x41", r"\x41"),
        (rb"\x5cx41", r"\x41"),
    ],
)
def test_escapes_of_apache_and_nginx(escaped, octets):
    record = one(b'- - - [-] "GET /%b HTTP/1.1" 200 5 "%b" "%b"' % (escaped, escaped, escaped))
    assert record["referer"] == record["user_agent"] == octets
    assert record["target"] == record["path"] == "/" + octets


def test_a_user_of_several_words_is_not_behind_an_ident():
    line = b'192.0.2.1 ident a b [01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 5'
    assert rejected(line, "common")[0] == "user"


@pytest.mark.parametrize(
    ("logged", "target", "query"), [(b"?a=b", "/p?a=b", [["a", "b"]]), (b"", "/p", None), (b"-", "/p", None)]
)
def test_a_query_with_its_mark(logged, target, query):
    record = one(b'192.0.2.1 "/p" "%b" 200' % logged, '%h "%U" "%q" %s')
    assert (record["target"], record["query"]) == (target, query)


def test_a_query_without_a_path():
    record = one(b'192.0.2.1 "-" "?a=b" 200', '%h "%U" "%q" %s')
    assert (record["target"], record["path"], record["query"]) == (None, None, [["a", "b"]])


def test_spaces_around_addresses():
    record = one(b'192.0.2.1 " 192.0.2.7 , 192.0.2.8 " 200', '%h "%{X-Forwarded-For}i" %s')
    assert record["forwarded_for"] == ["192.0.2.7", "192.0.2.8"]


def test_a_space_before_a_quote_of_a_text():
    record = one(b'- - - [-] "GET /"a"b HTTP/1.1" 404 5 "x"y" "z"')
    assert (record["target"], record["referer"], record["user_agent"]) == ('/"a"b', 'x"y', "z")


def test_fields_after_those_of_the_format():
    record = one(COMBINED + b' "-" 0.005 example.com')
    assert record["user_agent"] == "Mozilla/4.08 [en] (Win98; I ;Nav)"
    assert record["extra"] == {"rest": '"-" 0.005 example.com'}
    line = COMBINED.split(b' "http')[0]
    assert one(line + b" 17", "common") == one(line, "common") | {"extra": {"rest": "17"}}
    assert rejected(line + b" 17") == ("referer", len(line))
    assert one(COMBINED + b"  ") == one(COMBINED)


def test_quotes_that_are_not_escaped():
    """They belong to the text if what follows it in the format does not follow them."""
    record = one(b'- - - [-] "GET /"a HTTP/1.1"  200 5 "x" y" "z" "')
    assert (record["target"], record["status"], record["referer"]) == ('/"a', 200, 'x" y')


@each_row(
    ("line", "code", "offset"),
    [
        (b"", "empty", 0),
        (b"x", "client", 0),
        (b"what is this", "user", 4),
        (b'192.0.2.1 - - 200 "GET / HTTP/1.1" 200 5', "user", 12),
        (b'192.0.2.1 [x] "GET / HTTP/1.1" 200 5', "user", 9),
        (b'Jan 1 web nginx: 192.0.2.1 - - [x] "GET / HTTP/1.1" 200 5', "user", 3),
        (b'192.0.2.1 - [x] "GET / HTTP/1.1" 200 5', "user", 12),
        (b'[x] "GET / HTTP/1.1" 200 5', "client", 0),
        (b'] "GET / HTTP/1.1" 200 5', "user", 1),
        (b' [] "GET / HTTP/1.1" 200 5', "user", 0),
        (b"- - - [x]", "time", 7),
        (b'- - - [x] "GET / HTTP/1.1 200 5', "request", 10),
        (b'- - - [x] "GET / HTTP/1.1"', "request", 10),
        (b'- - - [x] "GET / HTTP/1.1" 200', "status", 27),
        (b'- - - [x] "GET / HTTP/1.1" 2x0 5', "status", 27),
        (b'- - - [x] "GET / HTTP/1.1" 200 5,5', "bytes_sent", 31),
        (b'- - - [x] "GET / HTTP/1.1" 200 1234567890123456789', "bytes_sent", 31),
        (b'- - - [x] "GET / HTTP/1.1" 200 5 "http://', "referer", 33),
        (b'- - - [x] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0 (compatible', "user_agent", 37),
    ],
)
def test_invalid_lines(line, code, offset):
    assert rejected(line + b"\n") == (code, offset)


# --- requests ---------------------------------------------------------------------------------------------------------


@each_row(
    ("logged", "method", "target", "path", "query", "protocol"),
    [
        (b"GET / HTTP/1.1", "GET", "/", "/", None, "HTTP/1.1"),
        (b"GET /? HTTP/2", "GET", "/?", "/", [], "HTTP/2"),
        (
            b"GET /a?b=1?c&=2&&d= HTTP/2.0",
            "GET",
            "/a?b=1?c&=2&&d=",
            "/a",
            [["b", "1?c"], ["", "2"], ["d", ""]],
            "HTTP/2.0",
        ),
        (b"GET /a b c HTTP/1.1", "GET", "/a b c", "/a b c", None, "HTTP/1.1"),
        (b"GET /a b HTTP/1.1x", "GET", "/a b HTTP/1.1x", "/a b HTTP/1.1x", None, None),
        (b"GET /old", "GET", "/old", "/old", None, None),
        (b"GET  HTTP/1.1", "GET", "", "", None, "HTTP/1.1"),
        (b"GET HTTP/1.1", None, "GET HTTP/1.1", None, None, None),
        (b"OPTIONS * HTTP/1.1", "OPTIONS", "*", "*", None, "HTTP/1.1"),
        (b"OPTIONS sip:nm SIP/2.0", "OPTIONS", "sip:nm", "sip:nm", None, "SIP/2.0"),
        (b"CONNECT example.com:443 HTTP/1.1", "CONNECT", "example.com:443", None, None, "HTTP/1.1"),
        (b"GET http://example.com:80/a?b HTTP/1.1", "GET", "http://example.com:80/a?b", "/a", [["b", ""]], "HTTP/1.1"),
        (b"GET http://example.com?b HTTP/1.1", "GET", "http://example.com?b", "", [["b", ""]], "HTTP/1.1"),
        (b"GET //a/b HTTP/1.1", "GET", "//a/b", "//a/b", None, "HTTP/1.1"),
        (b"GET /a#b HTTP/1.1", "GET", "/a#b", "/a#b", None, "HTTP/1.1"),
        (b"GET /a%3Fb%26?c%3D=%26 HTTP/1.1", "GET", "/a%3Fb%26?c%3D=%26", "/a?b&", [["c=", "&"]], "HTTP/1.1"),
        (rb"\x16\x03\x01\x00", None, "\x16\x03\x01\0", None, None, None),
        (b"quit", None, "quit", None, None, None),
        (b"-", None, None, None, None, None),
        (b"", None, "", None, None, None),
        (b"t3 12.1.2\\n", None, "t3 12.1.2\n", None, None, None),
        (b"G\xc3\xa9T / HTTP/1.1", None, "GéT / HTTP/1.1", None, None, None),
    ],
)
def test_request(logged, method, target, path, query, protocol):  # noqa: PLR0913, PLR0917
    record = one(request(logged))
    assert (record["method"], record["target"], record["protocol"]) == (method, target, protocol)
    assert (record["path"], record["query"]) == (path, query)


@each_row(
    ("target", "path"),
    [
        (b"/%C3%A9", "/é"),
        (b"/%c3%A9%FF%c3", "/é%FF%c3"),
        (b"/%C3\xa9", "/é"),
        (b"/\xff%41", "/%FFA"),
        (b"/100%/%zz/%4", "/100%/%zz/%4"),
        (b"/%2541", "/%41"),
        (b"/%%34%31", "/%41"),
        (b"/%%341", "/%41"),
        (b"/%u002f", "/%u002f"),
        (b"/a%0D%0Ab%00", "/a\r\nb\0"),
        (b"/%C0%AE%C0%AE/", "/%C0%AE%C0%AE/"),
        (b"/%ED%A0%80", "/%ED%A0%80"),
        (b"/+", "/+"),
    ],
)
def test_path(target, path):
    assert one(request(b"GET %b HTTP/1.1" % target))["path"] == path


def test_octets_that_are_not_utf8_can_be_replaced():
    record = one(request(b"GET /%ff%E2%82?a=%ff\xfe%zz HTTP/1.1"), errors="replace")
    assert record["path"] == unquote("/%ff%E2%82") == "/\ufffd\ufffd"
    assert record["target"] == "/%ff%E2%82?a=%ff\ufffd%zz"
    assert record["query"] == [["a", "\ufffd\ufffd%zz"]]


# --- masks, flags -----------------------------------------------------------------------------------------------------


def test_mask():
    line = (
        b'- - - [-] "GET /token=1?a=b&token=secret&PASSword=%41&tok%65n=x&token&token=&x=token=1 HTTP/1.1" 200 5 '
        b'"https://e.example/?token=secret#hidden&b#token=kept" "token=1"'
    )
    record = one(line, mask=["Token", "password"])
    hidden = "a=b&token=***&PASSword=***&tok%65n=***&token&token=***&x=token=1"
    assert record["target"] == f"/token=1?{hidden}"
    assert record["path"] == "/token=1"
    assert record["query"] == [
        ["a", "b"], ["token", "***"], ["PASSword", "***"], ["token", "***"], ["token", ""], ["token", "***"],
        ["x", "token=1"],
    ]  # fmt: skip
    assert record["referer"] == "https://e.example/?token=***&b#token=kept"
    assert record["user_agent"] == "token=1"


def test_mask_of_what_is_no_request():
    assert one(request(b"\\x01 /?token=1&b=2"), mask=["token"])["target"] == "\x01 /?token=***&b=2"


def test_mask_of_other_letters():
    record = one(request("GET /?clé=1&ключ=%D0%B0&cle=3 HTTP/1.1".encode()), mask=["CLé", "ключ"])
    assert record["query"] == [["clé", "***"], ["ключ", "***"], ["cle", "3"]]


def test_mask_of_columns():
    columns = logs.columns(
        request(b"GET /?q=a%20b&page=2 HTTP/1.1"), "common", params=["q", "page", "no"], mask=["page"]
    )
    assert [columns[f"param.{name}"] for name in ("q", "page", "no")] == [["a b"], ["***"], [None]]


def test_names_to_mask_are_names():
    with pytest.raises(TypeError):
        reader_of("combined", mask="token")


@each_row(("logged", "flags"), [
        (b"GET /a%20b?q=%2F HTTP/1.1", []),
        (b"GET /100% HTTP/1.1", ["malformed"]),
        (b"GET /?%u002f HTTP/1.1", ["malformed"]),
        (b"quit", ["malformed"]),
        (b"-", []),
        (b"GET /%2541 HTTP/1.1", ["double-encoded"]),
        (b"GET /%%34%31 HTTP/1.1", ["malformed", "double-encoded"]),
        (b"GET /?u=a%253Fb HTTP/1.1", ["double-encoded"]),
        (b"GET /%C0%AE%C0%AE/ HTTP/1.1", ["overlong-utf8"]),
        (b"GET /?a=%E0%80%AF HTTP/1.1", ["overlong-utf8"]),
        (rb"GET /\xf0\x80\x80\xaf HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%F0%8F%BF%BF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%E0%9F%BF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%C1%BF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%F0%90%80%80%E0%A0%80%C2%80 HTTP/1.1", []),
        (b"GET /%F0%90%80%E0%A0%C2 HTTP/1.1", []),
        (b"GET /%F8%80%80%80%AF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%F8%87%BF%BF%BF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%FC%80%80%80%80%AF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /?a=%FC%83%BF%BF%BF%BF HTTP/1.1", ["overlong-utf8"]),
        (b"GET /%F8%88%80%80%80%FC%84%80%80%80%80%F9%80%80%80%80%FD%80%80%80%80%80%FE%80 HTTP/1.1", []),
        (b"GET /%F8%7F%FC%7F%80%F8 HTTP/1.1", []),
        (b"GET /%FF%C3 HTTP/1.1", []),
        (b"GET /a%2fb HTTP/1.1", ["encoded-slash"]),
        (b"GET /a%5Cb HTTP/1.1", ["encoded-slash"]),
        (b"GET /../a HTTP/1.1", ["dot-dot"]),
        (b"GET /a/.%2e HTTP/1.1", ["dot-dot"]),
        (b"GET /..%2fa HTTP/1.1", ["encoded-slash", "dot-dot"]),
        (b"GET /a../..b/... HTTP/1.1", []),
        (b"GET /?f=../../etc/passwd HTTP/1.1", ["dot-dot"]),
        (b"GET /?f=..%5C&x HTTP/1.1", ["dot-dot"]),
        (b"GET /?f=a.. HTTP/1.1", []),
        (b"GET /a%00.jpg HTTP/1.1", ["nul"]),
        (rb"GET /a\x00 HTTP/1.1", ["nul"]),
        (b"GET /%252e%00/%2F..%c0%af% HTTP/1.1",
         ["malformed", "double-encoded", "overlong-utf8", "encoded-slash", "nul"]),
    ])  # fmt: skip
def test_flags(logged, flags):
    assert one(request(logged), flags=True)["flags"] == flags


# --- nginx's JSON -----------------------------------------------------------------------------------------------------


def test_nginx_json():
    line = (
        b'{"time_local":"01/Jan/2025:12:00:00 +0000","remote_addr":"192.0.2.1","remote_user":"","request":'
        b'"GET /caf\\u00e9/%20?q=\\"\\\\ HTTP/1.1","status": "200","body_bytes_sent":512,"time_":0.005,"upstream":'
        b'{"a":[1,{"b":"}]"}]},"gzip":null,"http_referer":"-","http_user_agent":"\\ud83d\\ude00 \xff"}'
    )
    assert one(line, "nginx-json") == {
        "client": "192.0.2.1",
        "user": None,
        "time": "2025-01-01T12:00:00+00:00",
        "method": "GET",
        "target": '/café/%20?q="\\',
        "path": "/café/ ",
        "query": [["q", '"\\']],
        "protocol": "HTTP/1.1",
        "status": 200,
        "bytes_sent": 512,
        "referer": None,
        "user_agent": "\U0001f600 %FF",
        "vhost": None,
        "duration": None,
        "forwarded_for": None,
        "extra": {"time_": "0.005"},
    }


@each_row(
    ("line", "target", "path", "query"),
    [
        (b'{"request_method":"GET","request_uri":"/a%20b?c=d"}', "/a%20b?c=d", "/a b", [["c", "d"]]),
        (b'{"request":"GET /x HTTP/1.1","request_uri":"/a%20b","args":"e"}', "/a%20b", "/a b", None),
        (b'{"uri":"/a b%20","args":"c=%20"}', "/a b%20?c=%20", "/a b%20", [["c", " "]]),
        (b'{"uri":"/a","request":"GET /b HTTP/1.1"}', "/b", "/b", None),
        (b'{"uri":"/a","request":"junk"}', "/a", "/a", None),
        (b'{"request":"junk"}', "junk", None, None),
        (b'{"method":"CONNECT","request_uri":"a:443"}', "a:443", None, None),
        (b'{"status":400,"args":"a=b"}', None, None, [["a", "b"]]),
        (b' { "request" : "GET /1 HTTP/1.1" , "request":"GET /2 HTTP/1.1" } ', "/2", "/2", None),
    ],
)
def test_keys_of_nginx(line, target, path, query):
    record = one(line, "nginx-json")
    assert (record["target"], record["path"], record["query"]) == (target, path, query)


def test_escapes_of_json():
    line = rb'{"request":"x","user_agent":"\b\f\n\r\t\"\\\/\u0000\u00e9\u20ac\ud83d\ude00\ud800\ud800\u0041\x41\q"}'
    [record] = records_of(line, "nginx-json")
    assert record["user_agent"] == '\b\f\n\r\t"\\/\0é€\U0001f600%ED%A0%80%ED%A0%80AA\\q'
    [record] = records_of(rb'{"request":"x","user_agent":"\u00g0\ud83d\udzzz"}', "nginx-json")
    assert record["user_agent"] == r"\u00g0%ED%A0%BD\udzzz"


def test_null_and_a_protocol_of_its_own():
    line = b'{"request":"GET / HTTP/1.1","http_referer":null,"status":null,"server_protocol":"HTTP/3.0"}'
    [record] = records_of(line, "nginx-json")
    assert (record["method"], record["target"], record["protocol"]) == ("GET", "/", "HTTP/3.0")
    assert record["referer"] is record["status"] is None


@each_row(
    ("line", "code", "offset"),
    [
        (b"GET", "json", 0),
        (b"{", "json", 1),
        (b'{"a"', "json", 4),
        (b'{"a":', "json", 5),
        (b'{"a":"', "json", 6),
        (b'{"a":"b"', "json", 8),
        (b'{"a":"b",}', "json", 9),
        (b'{"a":1 "b":2}', "json", 7),
        (b'{"a":"b"}}', "json", 9),
        (b'{"a":[[{"b":1}}', "json", 15),
        (b'{"a":?}', "json", 5),
        (b'["request"]', "json", 0),
        (b"{}", "request", 0),
        (b'{"msg":"handled","request":{"method":"GET"}}', "request", 0),
        (b'{"request":"GET / HTTP/1.1","status":"OK"}', "status", 38),
        (rb'{"request":"GET / HTTP/1.1","bytes_sent":"\u0041"}', "bytes_sent", 0),
    ],
)
def test_invalid_lines_of_json(line, code, offset):
    assert rejected(line, "nginx-json") == (code, offset)


# --- W3C: CloudFront, IIS ---------------------------------------------------------------------------------------------

CLOUDFRONT = (
    b"#Version: 1.0\n"
    b"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) "
    b"cs(User-Agent) cs-uri-query cs(Cookie) cs-protocol-version\n"
    b"2025-01-01\t12:00:00\tFRA2\t392\t192.0.2.1\tGET\td111.cloudfront.net\t/caf%25C3%25A9/100%2525\t200\t"
    b"https://e.example/%253Fa\tMozilla/5.0%20(X11;%20Linux)\tq=a%2526b&r=%2541\t-\tHTTP/2.0\n"
)


def test_cloudfront():
    [record] = records_of(CLOUDFRONT, "cloudfront")
    assert record == {
        "client": "192.0.2.1",
        "user": None,
        "time": "2025-01-01T12:00:00Z",
        "method": "GET",
        "target": "/caf%C3%A9/100%25?q=a%26b&r=%41",
        "path": "/café/100%",
        "query": [["q", "a&b"], ["r", "A"]],
        "protocol": "HTTP/2.0",
        "status": 200,
        "bytes_sent": 392,
        "referer": "https://e.example/%3Fa",
        "user_agent": "Mozilla/5.0 (X11; Linux)",
        "vhost": "d111.cloudfront.net",
        "duration": None,
        "forwarded_for": None,
        "extra": {"x-edge-location": "FRA2"},
    }


@each_row(
    ("logged", "agent"),
    [
        (b"Mozilla/5.0%20(X11;%20Linux)", "Mozilla/5.0 (X11; Linux)"),
        (b"Mozilla/5.0%2520(X11;%2520Linux)", "Mozilla/5.0 (X11; Linux)"),
        (b"My%2520App/1%20CFNetwork", "My%20App/1 CFNetwork"),
        (b"My%252520App/1%2520CFNetwork", "My%20App/1 CFNetwork"),
        (b"%2522caf%25C3%25A9%2522", '"café"'),
        (b"%22caf%C3%A9%22", '"café"'),
        (b"100%25", "100%"),
        (b"100%2525", "100%"),
        (b"100%", "100%"),
        (b"100%2", "100%2"),
        (b"curl/8", "curl/8"),
    ],
)
def test_agents_of_cloudfront(logged, agent):
    """They are as they were sent, of older logs, which have them encoded twice, and of newer ones."""
    fields = b"#Fields: x-edge-location cs(User-Agent)\n"
    assert records_of(fields + b"-\t" + logged, "cloudfront")[0]["user_agent"] == agent
    [line] = CLOUDFRONT.splitlines()[2:]
    assert one(line.replace(b"Mozilla/5.0%20(X11;%20Linux)", logged), "cloudfront")["user_agent"] == agent


def test_cloudfront_without_a_header():
    [line] = CLOUDFRONT.splitlines()[2:]
    assert one(line, "cloudfront") == records_of(CLOUDFRONT, "cloudfront")[0] | {"protocol": None}
    assert one(line.replace(b"\t200\t", b"\t000\t"), "cloudfront")["status"] == 0
    assert rejected(b"a\tb", "cloudfront") == ("fields", 3)


IIS = (
    b"#Software: Microsoft Internet Information Services 10.0\r\n"
    b"#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status\r\n"
    b"2025-01-01 12:00:00.25 GET /caf\xc3\xa9%20 q=a%20b 192.0.2.1 Mozilla/5.0+(X11;+Linux) 200\r\n"
    b"#Fields: c-ip cs-uri-stem cs-username sc-bytes time\r\n"
    b"192.0.2.2 /b DOMAIN\\frank 17 12:00:01\r\n"
)


def test_iis():
    first, second = records_of(IIS, "iis")
    assert first["time"] == "2025-01-01T12:00:00.25Z"
    assert (first["target"], first["path"], first["query"]) == ("/café%20?q=a%20b", "/café%20", [["q", "a b"]])
    assert (first["user_agent"], first["status"], first["bytes_sent"]) == ("Mozilla/5.0 (X11; Linux)", 200, None)
    assert (second["client"], second["user"], second["time"]) == ("192.0.2.2", "DOMAIN\\frank", "12:00:01")
    assert (second["path"], second["bytes_sent"], second["user_agent"]) == ("/b", 17, None)


@pytest.mark.parametrize("name", [b"cs(Referer)", b"cs(Referrer)"])
@pytest.mark.parametrize("format", ["iis", "cloudfront"])
def test_referers_of_both_spellings(format, name):
    data = b"#Fields: c-ip " + name + b"\n192.0.2.1 https://e.example/?token=1"
    data = data if format == "iis" else data.replace(b" ", b"\t")
    assert records_of(data, format)[0]["referer"] == "https://e.example/?token=1"
    assert records_of(data, format, mask=["token"])[0]["referer"] == "https://e.example/?token=***"


def test_iis_without_a_header():
    line = b"2025-01-01 12:00:00 10.0.0.1 GET /a x=%201 443 - 192.0.2.1 Mozilla/5.0 - 200 0 0 15"
    assert one(line, "iis")["query"] == [["x", " 1"]]
    assert rejected(line + b" 1", "iis") == ("fields", len(line) + 2)
    assert rejected(line[:-3], "iis") == ("fields", len(line) - 3)


@each_row(
    ("date", "time", "logged"),
    [
        (b"2024-02-29", b"23:59:60", "2024-02-29T23:59:60Z"),
        (b"2023-02-29", b"12:00:00", "12:00:00"),
        (b"2025-13-01", b"12:00:00", "12:00:00"),
        (b"2025/01/01", b"12:00:00", "12:00:00"),
        (b"0000-01-01", b"12:00:00", "12:00:00"),
        (b"x025-01-01", b"12:00:00", "12:00:00"),
        (b"2025-1-01", b"12:00:00", "12:00:00"),
        (b"2025-01-01", b"24:00:00", "24:00:00"),
        (b"2025-01-01", b"12.00.00", "12.00.00"),
        (b"2025-01-01", b"12:00", "12:00"),
    ],
)
def test_dates_of_iis(date, time, logged):
    """Without a day that there is, the time stays as it was logged. Without "#Fields:" there is no record."""
    line = b"%b %b 10.0.0.1 GET /a x=%%201 443 - 192.0.2.1 Mozilla/5.0 - 200 0 0 15" % (date, time)
    header = b"#Fields: " + naive.DEFAULT["iis"].encode() + b"\n"
    [record] = records_of(header + line, "iis")
    assert record["time"] == logged
    if logged.endswith("Z"):
        assert one(line, "iis") == record
    else:
        day = re.fullmatch(rb"20(25-01-01|24-02-29)", date)
        assert rejected(line, "iis") == ("time", len(date) + 1 if day else 0)


@each_row("format", ["iis", "cloudfront"])
@each_row(
    ("column", "value", "code"),
    [
        ("date", b"-", "time"),
        ("date", b"", "time"),
        ("time", b"-", "time"),
        ("time", b"10.0.0.1", "time"),
        ("cs-method", b"", "request"),
        ("cs-method", b"/a", "request"),
        ("cs-uri-stem", b"", "request"),
        ("cs-uri-stem", b"GET", "request"),
        ("cs-uri-stem", b"443", "request"),
        ("c-ip", b"", "client"),
        ("c-ip", b"Mozilla/5.0", "client"),
        ("c-ip", b"W3SVC1", "client"),
        ("sc-status", b"", "status"),
        ("sc-status", b"0", "status"),
        ("sc-status", b"2000", "status"),
        ("sc-status", b"20x", "status"),
        ("sc-status", b"https://e.example/", "status"),
        ("c-ip", b"-", None),
        ("c-ip", b"2001:DB8::1", None),
        ("c-ip", b"fe80::1%12", None),
        ("sc-status", b"-", None),
        ("sc-status", b"000", None),
        ("cs-method", b"-", None),
        ("cs-uri-stem", b"-", None),
        ("cs-uri-stem", b"*", None),
    ],
)
def test_implausible_lines_without_a_header(format, column, value, code):
    """Lines of a log that does not announce its fields are records only if the default columns fit them."""
    names = naive.DEFAULT[format].split()
    values = {
        "date": b"2025-01-01",
        "time": b"12:00:00",
        "cs-method": b"GET",
        "cs-uri-stem": b"/a",
        "c-ip": b"192.0.2.1",
    }
    values |= {"sc-status": b"200", "sc-bytes": b"1", column: value}
    between = b"\t" if format == "cloudfront" else b" "
    line = between.join(values.get(name, b"-") for name in names)
    before = between.join(values.get(name, b"-") for name in names[: names.index(column)])
    if code is None:
        assert one(line, format)["method"] in ("GET", None)
        return
    assert rejected(line, format) == (code, len(before) + bool(before))
    assert convert(MARK + line, format)[1] == [(0, code, len(MARK) + len(before) + bool(before))]
    # What a log announces is believed, until the next one begins.
    header = b"#Fields: " + " ".join(names).encode() + b"\n"
    reader = reader_of(format)
    dst = bytearray(reader.capacity_for(1000))
    assert reader.convert(header + line, dst).invalid == [] or code == "status"
    reader.begin()
    [again] = reader.convert(line, dst).invalid
    assert again.code == code


def test_examples_of_invalid_lines():
    """Of each code, the first line is returned; of extra fields, whose names differ, all are."""
    format = Format('$client [$time] "$request" $status $request_length')
    good, lines = b'192.0.2.1 [01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 5\n', []
    for at in random.Random(3).choices(range(len(good) - 1), k=300):
        lines += [good, good[:at] + b"~" + good[at + 1 :], b"\n"]
    found = {}
    for examples in False, True:
        reader = LogReader(format.programs)
        reader.examples = examples
        dst = bytearray(reader.capacity_for(100) * len(lines))
        result = reader.convert(b"".join(lines), dst)
        codes = Counter(fault.code for fault in result.invalid)
        found[examples] = result, codes + Counter(result.others), bytes(dst[: result.written])
    (full, *others), (few, *again) = found.values()
    assert again == others
    assert not full.others
    assert few.invalid == [
        fault
        for fault in full.invalid
        if fault.code.startswith("extra.") or fault == next(other for other in full.invalid if other.code == fault.code)
    ]
    assert len(few.invalid) < len(full.invalid) / 4


def test_columns_of_another_layout():
    """Fifteen columns, too, as IIS 6 writes them with the time taken."""
    line = b"2005-01-01 12:00:00 W3SVC1 10.0.0.1 GET /a - 80 - 192.0.2.1 Mozilla/4.0 200 0 0 15"
    assert rejected(line, "iis") == ("request", line.index(b"GET"))
    assert rejected(line[10:], "iis") == ("time", 0)  # cut off in front


def test_flags_of_iis():
    line = b"2025-01-01 12:00:00 10.0.0.1 GET /a%%2F/../%41 x=%201%% 443 - 192.0.2.1 Mozilla/5.0 - 200 0 0 15"
    assert one(line, "iis", flags=True)["flags"] == ["malformed", "double-encoded", "dot-dot"]


def test_a_whole_target_in_one_field():
    lines = b"#Fields: cs-uri x\nhttps://e.example/a%20b?c -\n"
    [record] = records_of(lines, "iis")
    assert (record["target"], record["path"], record["query"]) == ("https://e.example/a%20b?c", "/a b", [["c", ""]])


@each_row(
    ("software", "names", "duration", "path"),
    [
        (b"Microsoft Internet Information Services 10.0", b"time-taken", 0.25, "/%61"),
        (b"Netscaler Web Logging(NSWL)", b"time-taken", 250.0, "/a"),
        (b"Apache Tomcat/9.0.82", b"time-taken", 250.0, "/a"),
        (b"other", b"sc-servicename time-taken", 250.0, "/a"),
    ],
)
def test_durations_of_netscaler_and_tomcat(software, names, duration, path):
    """They are seconds, and their paths are not decoded."""
    header = b"#Software: " + software + b"\n#Fields: date time cs-uri-stem sc-status " + names + b"\n"
    line = b"2024-10-10 13:55:36 /%61 200 " + b"HTTP " * (b"name" in names) + b"250\n"
    for log in header + line, header + line * 3:
        records, _ = convert(log, "iis")
        record = json.loads(records.splitlines()[0])
        assert (record["duration"], record["path"]) == (duration, path)
    fraction = b"#Fields: time cs-uri-stem time-taken\n13:55:36 /a 59.9171\n"
    assert json.loads(convert(fraction, "iis")[0])["duration"] == 0.0599171  # ASP.NET Core
    software, fields = header.splitlines(keepends=True)
    for skipped in [header] + [fields + b"#Version: 2.0\n" + software + line] * (software != b"#Software: other\n"):
        reader = LogReader(Format("iis").programs)
        reader.skip(skipped)
        found = reader.convert(line, dst := bytearray(reader.capacity_for(99)))
        assert json.loads(dst[: found.written])["duration"] == duration


def test_fields_that_are_not_of_access_logs():
    """Such as those of Exchange: a record would have none."""
    log = b"#Fields: dateTime,sessionId,cIp,user\n2024-10-10T13:55:36Z,1,192.0.2.1:5,u\n"
    assert convert(log, "iis") == (b"", [(1, "request", 0)])
    assert "'#Fields:'" in Format("iis").message(0, "request", 0, b"x")


def test_many_fields():
    names = b" ".join(b"x%d" % i for i in range(300))
    lines = b"#Fields: " + names + b" c-ip\n" + b"1 " * 300 + b"192.0.2.1\nshort\n"
    records, invalid = convert(lines, "iis")
    assert json.loads(records)["client"] is None  # beyond the fields that are looked at
    assert invalid == [(2, "fields", 5)]


# --- ALB --------------------------------------------------------------------------------------------------------------

ALB = (
    b"h2 2025-01-01T12:00:00.186641Z app/my-lb/50dc6c495c0c918 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 "
    b'366 "GET https://www.example.com:443/caf%C3%A9?a=1 HTTP/2.0" "curl/7.46.0" ECDHE-RSA-AES128 TLSv1.2 arn "-"'
)


def test_alb():
    record = one(ALB, "alb")
    assert record.pop("extra")["rest"] == 'ECDHE-RSA-AES128 TLSv1.2 arn "-"'
    assert record == {
        "client": "192.0.2.1",
        "user": None,
        "time": "2025-01-01T12:00:00.186641Z",
        "method": "GET",
        "target": "https://www.example.com:443/caf%C3%A9?a=1",
        "path": "/café",
        "query": [["a", "1"]],
        "protocol": "HTTP/2.0",
        "status": 200,
        "bytes_sent": 366,
        "referer": None,
        "user_agent": "curl/7.46.0",
        "vhost": None,
        "duration": 0.001,
    }
    assert one(ALB.replace(b"192.0.2.1:2817", b"2001:db8::1:2817"), "alb")["client"] == "2001:db8::1"
    record = one(re.sub(rb'"GET.*2\.0"', b'"- http://www.example.com:80- -"', ALB), "alb", flags=True)
    assert (record["method"], record["target"], record["path"]) == (None, "- http://www.example.com:80- -", None)
    assert record["flags"] == ["malformed"]


@each_row(
    ("line", "code", "offset"),
    [
        (b"h2", "extra.type", 0),
        (ALB[:40], "extra.elb", 31),
        (ALB[:100], "extra.response_processing_time", 96),
        (ALB[:115], "bytes_sent", 113),
        (ALB[:117] + b"x", "request", 116),
        (ALB[:140], "request", 117),
        (ALB.split(b' "curl')[0], "request", 117),
        (ALB.split(b'46.0"')[0], "user_agent", ALB.index(b'"curl')),
        (ALB.replace(b" 366 ", b" x "), "bytes_sent", 113),
    ],
)
def test_invalid_lines_of_alb(line, code, offset):
    assert rejected(line, "alb") == (code, offset)


# --- a byte order mark ------------------------------------------------------------------------------------------------

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("log", "format"),
    [
        (COMBINED, "combined"),
        (CLOUDFRONT, "cloudfront"),
        (IIS, "iis"),
        (ALB, "alb"),
        (b'{"request":"x"}', "nginx-json"),
    ],
)
def test_a_byte_order_mark(log, format):
    assert str(logs.detect(MARK + log)[0].format) == format
    assert convert(MARK + log, format) == convert(log, format)
    for source in MARK + log, io.BytesIO(MARK + log), gzip.compress(MARK + log):
        assert list(logs.parse(source)) == list(logs.parse(log))


@pytest.mark.interop
def test_columns_behind_a_byte_order_mark():
    pytest.importorskip("pyarrow")
    assert logs.to_arrow(MARK + IIS).read_all() == logs.to_arrow(IIS).read_all()


def test_places_in_a_line_with_a_byte_order_mark():
    invalid = []
    [_, record] = logs.parse(b"%bjunk\n%b\n%b%b" % (MARK, COMBINED, MARK, COMBINED), invalid=invalid)
    assert invalid == [InvalidLine("<log>", 1, 3, "client", MARK + b"junk")]
    assert record.client == "\ufeff192.0.2.1"  # it is one where the log begins only
    assert rejected(MARK) == ("empty", 3)
    assert rejected(MARK + b"\r\n") == ("empty", 3)
    assert rejected(MARK + b'- - - [x] "GET / HTTP/1.1" 2x0 5') == ("status", 30)
    assert rejected(MARK + b'{"a":?}', "nginx-json") == ("json", 8)


# --- any octets -------------------------------------------------------------------------------------------------------

PIECES = [
    *rb""" " \ \\ \" \x41 \xff \n - [ ] / ? & = %41 %00 %0A %25 %2541 %C3%A9 %C3 %FF % + # .. /../ """.split(),
    *rb""" %2F %c0%af token=x &TOKEN=y a { } : , http:// 200 5 null 192.0.2.1 c-ip < CONNECT GET #Fields: """.split(),
    *b"\xc3\xa9 \xff \xc2\x85 \xe2\x80\xa8 \x1b[2J \xed\xa0\x80 \xf0\x9f\x98\x80 \x7f \xc2\x9b \xe2\x82\xac \0".split(
        b" "
    ),
    *[
        MARK,
        b"%f8%84",
        b"\xf8\x87",
        rb"\xfc\x83",
        b" ",
        b"\t",
        b"\r",
        b'" "',
        b'] "',
        b" [",
        b"GET /",
        b" HTTP/1.1",
        b'" 200 5',
        *(character.encode() for character in "\uff1d\uff0b\uff0d\uff20"),
        *b"= + - @".split(),
    ],
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=12).map(b"".join)
fragments = texts.map(lambda text: text.replace(b"\n", b""))
words = fragments.map(lambda text: text.replace(b" ", b"_").replace(b"\t", b"_"))
times = st.one_of(st.just(b"01/Jan/2025:12:00:00 +0000"), st.just(b"2025-01-01T00:00:00Z"), words)
numbers = st.sampled_from([b"200", b"-", b"0", b"007", b"1" * 18, b"x"])
methods = st.sampled_from([b"GET /", b"GET ", b"", b"POST http://e.example/"])
requests = st.tuples(methods, fragments, st.sampled_from([b" HTTP/1.1", b""])).map(b"".join)


def tidy(text):
    return text.replace(b'"', b"'").removesuffix(b"\\")


combined_lines = st.builds(
    lambda host, user, time, request, status, size, referer, agent: (
        b'%b - %b [%b] "%b" %b %b "%b" "%b"'
        % (host, user, time, tidy(request), status, size, tidy(referer), tidy(agent))
    ),
    *[words, fragments, times, requests, numbers, numbers, fragments, fragments],
)
alb_lines = st.builds(
    lambda time, host, status, size, request, agent: (
        b'h2 %b lb %b:80 - 0 0 0 %b 200 1 %b "%b" "%b" c p' % (time, host, status, size, tidy(request), tidy(agent))
    ),
    *[words, words, numbers, numbers, requests, fragments],
)
SPECIAL_COLUMNS = {
    "sc-status": numbers,
    "sc-bytes": numbers,
    "date": st.just(b"2025-01-01"),
    "time": st.just(b"12:00:00"),
}
DEFAULT_COLUMNS = SPECIAL_COLUMNS | {
    "date": st.sampled_from([b"2025-01-01"] * 9 + [b"2025-13-01", b"-"]),
    "time": st.sampled_from([b"12:00:00"] * 9 + [b"12:00:00.5", b"24:00:00"]),
    "cs-method": st.sampled_from([b"GET"] * 9 + [b"-", b"/"]),
    "cs-uri-stem": words.map(lambda path: b"/" + path) | st.sampled_from([b"*", b"-", b"a"]),
    "c-ip": st.sampled_from([b"192.0.2.1", b"fe80::1%2"] * 4 + [b"-", b"e.example"]),
    "sc-status": st.sampled_from([b"200", b"404"] * 4 + [b"-", b"20", b"2000", b"x"]),
}
columns = st.lists(st.sampled_from([*naive.COLUMNS, "x"]), max_size=8)


@st.composite
def w3c_logs(draw, between):
    default = naive.DEFAULT["cloudfront" if between == b"\t" else "iis"].split()
    rows = st.builds(between.join, st.tuples(*(DEFAULT_COLUMNS.get(name, words) for name in default)))
    lines = draw(st.lists(rows, max_size=3))
    for _ in range(draw(st.integers(1, 3))):
        names = draw(columns)
        lines.append(b"#Fields: " + " ".join(names).encode())
        for _ in range(draw(st.integers(0, 2))):
            values = [draw(SPECIAL_COLUMNS.get(name, words)) for name in names]
            lines.append(between.join(values) + draw(st.sampled_from([b"", b"\r"])))
    return b"\n".join(lines)


json_lines = st.dictionaries(
    st.sampled_from([*naive.MEMBER_OF, "x"]),
    st.one_of(
        fragments.map(lambda text: text.decode(errors="replace")),
        st.sampled_from([None, 200, 1.5, True, {}, [1, {"a": "}"}], "200", "-", ""]),
    ),
    max_size=6,
).map(lambda members: json.dumps(members).encode())

LOGS = {
    "combined-forwarded": st.tuples(st.sampled_from([b"", b"192.0.2.9, 192.0.2.8 ", b"x, "]), combined_lines).map(
        b"".join
    ),
    "combined": combined_lines,
    "common": combined_lines,
    "nginx-json": json_lines,
    "cloudfront": w3c_logs(b"\t"),
    "iis": w3c_logs(b" "),
    "alb": alb_lines,
}
logs_of = st.sampled_from(FORMATS).flatmap(
    lambda format: st.tuples(
        st.just(format),
        st.builds(operator.add, st.sampled_from([b"", MARK]), st.lists(LOGS[format], max_size=4).map(b"\n".join)),
    )
)


def expected(data, format, **options):
    """Records, and the numbers of the lines that are none."""
    state, records, invalid = {}, [], []
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data)):
        record = log_programs.record(line.removesuffix(b"\n"), format, state, **options)
        if isinstance(record, log_programs.Invalid):
            invalid.append(number)
        elif record is not log_programs.DIRECTIVE:
            records.append(record)
    return records, invalid


def shown(records, format):
    return [log_programs.shown(record, format) for record in records]


OPTIONS = st.fixed_dictionaries(
    {"mask": st.sampled_from([(), ("token",)]), "flags": st.booleans(), "errors": st.sampled_from(["keep", "replace"])}
)


class TestOnEveryTier:
    """Against the reference."""

    @few_examples
    @given(logs_of, OPTIONS)
    def test_records(self, tier, log, options):
        format, data = log
        records, invalid = convert(data, format, **options)
        wanted, missing = expected(data, format, **options)
        assert [number for number, _, _ in invalid] == missing
        assert [json.loads(line) for line in records.split(b"\n")[:-1]] == shown(wanted, format)
        assert_harmless(records.decode())

    @pytest.mark.slow
    @few_examples
    @given(logs_of, OPTIONS)
    def test_csv(self, log, options):
        format, data = log
        wanted, _ = expected(data, format, **options)
        # With csv_safe, an apostrophe is put before some of these cells, and nothing else changes.
        for csv_safe, cell in (False, naive.cell), (True, naive.safe_cell):
            records = convert(data, format, "csv", **options, csv_safe=csv_safe)[0].decode()
            assert_harmless(records)
            rows = list(csv.reader(io.StringIO(records)))
            between_tabs = convert(data, format, "tsv", **options, csv_safe=csv_safe)[0].decode()
            assert [line.split("\t") for line in between_tabs.split("\n")[:-1]] == rows
            for row in rows:
                for at in map(NAMES.index, naive.IN_JSON):
                    row[at] = json.loads(row[at]) if row[at] else ""
            assert rows == [[cell(name, value) for name, value in record.items()] for record in wanted]

    @pytest.mark.interop
    @given(logs_of, OPTIONS)
    def test_columns(self, tier, log, options):
        pytest.importorskip("pyarrow")
        format, data = log
        assume(magic.format_of(data) is None)
        assume(not re.search(rb"(?:^|\n)\0", data))  # NUL bytes before a line are skipped before it is read
        records, _ = expected(data, format, **options)
        assume(records)
        options["replace_invalid_utf8"] = options.pop("errors") == "replace"
        table = logs.to_arrow(data, format, **options).read_all()
        table.validate(full=True)
        assert naive.rows_of(table) == naive.in_arrow(records)

    @given(st.sampled_from(FORMATS), st.lists(texts, max_size=5).map(b"\n".join))
    def test_no_bytes_lose_a_line(self, tier, format, data):
        """convert() counts them."""
        records, _ = convert(data, format, flags=True)
        found = [json.loads(line) for line in records.split(b"\n")[:-1]]
        assert_harmless(records.decode())
        if format not in ("nginx-json", "cloudfront", "iis"):
            assert found == shown(expected(data, format, flags=True)[0], format)


def assert_harmless(text):
    """No character but the ends of records that anything could take for the end of a line, or obey."""
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)
    assert "" not in text.split("\n")[:-1] and text.split("\n")[-1] == ""


def test_a_small_buffer_is_used_again_and_again():
    data = b"".join(request(b"GET /%d HTTP/1.1" % i) + b"\n" + b"x\n" * (i % 3) for i in range(1500))
    reader = reader_of("combined")
    assert convert(data, "combined", capacity=reader.capacity_for(100)) == convert(data, "combined")
    assert reader.convert(data, bytearray(1000)).read == 0


def test_the_longest_line():
    start, end = b'- - - [-] "GET /', b' HTTP/1.1" 200 5'
    line = start + b"x" * (LONGEST - len(start) - len(end)) + end
    assert len(records_of(line + b"\n", "combined", max_line=LONGEST)[0]["path"]) == LONGEST - len(start) - len(end) + 1
    assert convert(line + b" \nx y\n", "combined", max_line=LONGEST)[1] == [(0, "too-long", LONGEST), (1, "user", 1)]


def test_the_longest_target_of_two_fields():
    """It is put together behind what was undone."""
    for n in LONGEST // 2 - 200, LONGEST - 200:
        path, query = b"/%2541" + b"x" * n, b"y%253D=" + b"z" * (LONGEST - 200 - n)
        line = b"\t".join([b"2025-01-01", b"12:00:00", *[b"-"] * 5, path, b"-", b"-", b"-", query])
        [record] = records_of(line, "cloudfront", mask=["none"], max_line=LONGEST)
        assert record["target"] == f"/%41{'x' * n}?y%3D={'z' * (LONGEST - 200 - n)}"
        assert record["path"] == "/A" + "x" * n
        assert record["query"] == [["y=", "z" * (LONGEST - 200 - n)]]
        line = b'{"uri":"/\\u0041%b","args":"\\"=%b"}' % (b"x" * n, b"z" * (LONGEST - 200 - n))
        [record] = records_of(line, "nginx-json", flags=True, max_line=LONGEST)
        assert record["target"] == f'/A{"x" * n}?"={"z" * (LONGEST - 200 - n)}'


@pytest.mark.slow
@pytest.mark.timeout(120)
@each_row("unit", [*b'" \\" [ { \\ % %41 & &a= .. \xc3 ,'.split(b" "), b'" ', b'] "', b" ["])
@each_row("format", FORMATS)
def test_time_is_linear(format, unit):
    befores = {"nginx-json": b'{"request":"GET /?', "alb": b'h2 - - - - - - - - - - 1 "GET /?'}
    before = befores.get(format, b'- - - [-] "GET /?')
    for start, end in (b"", b""), (before, b""), (before, b' HTTP/1.1" 200 5 "-" "-"'):
        assert_linear(
            lambda line: convert(line, format, flags=True, mask=["a"]),
            lambda size, start=start, end=end: start + unit * (size // len(unit)) + end,
            20_000,
        )


@pytest.mark.slow
@each_row("format", FORMATS)
def test_a_buffer_that_changes(format):
    """Another thread writes into the lines while they are read: wrong records at worst."""
    data = bytearray(b"\n".join([COMBINED, ALB, IIS, CLOUDFRONT, b'{"request":"GET /?a=b HTTP/1.1"}'] * 20))
    octets = b'"\\[] -%&?=/\n\r{}:,\t0A\xc3\xe2'
    done = threading.Event()

    def change():
        chance = random.Random(1)
        while not done.is_set():
            data[chance.randrange(len(data))] = chance.choice(octets)

    thread = threading.Thread(target=change)
    thread.start()
    dst = bytearray(reader_of(format).capacity_for(len(data)))
    for to in ["jsonl", "csv"] * 10:
        reader = reader_of(format, to, mask=["a"], flags=True)
        read = 0
        with memoryview(data) as view:
            while read < len(view):
                read += reader.convert(view[read:], dst).read
            convert_columns(reader, view)
    done.set()
    thread.join()


FORMULAS = ["=1+1", "+1", "-1", "@SUM(1)", "-", "  =1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", " \uff1d"]
HARMLESS = [
    "a", "", " ", "'=1", "a=1", "1-1", "\xad=", "\ufe661", "\u201c=1", '"=1"', "\uff0c", "\uff1e", "\uff2d", "\u3d3d",
]  # fmt: skip


@each_row("text", [*FORMULAS, *HARMLESS])
def test_safe_csv(text):
    """Each text of a record, but no number; a query is JSON, and begins with "["."""
    members = {"remote_addr": text, "remote_user": text, "msec": text, "request_method": text, "request_uri": text}
    members |= {
        "server_protocol": text,
        "http_referer": text,
        "http_user_agent": text,
        "status": "200",
        "bytes_sent": "5",
    }
    line = json.dumps(members, ensure_ascii=False).encode()
    plain, safe = (convert(line, "nginx-json", "csv", csv_safe=csv_safe)[0].decode() for csv_safe in (False, True))
    [plain], [safe] = (list(csv.reader(io.StringIO(table))) for table in (plain, safe))
    changed = "'" if text in FORMULAS and text != "-" else ""  # "-" says that there is nothing
    assert safe == [changed + cell if cell == text else cell for cell in plain]
    assert plain.count(text) == 9 or text in ("", "-")
    assert convert(line, "nginx-json", csv_safe=True) == convert(line, "nginx-json")


def test_safe_csv_of_what_is_decoded_or_masked():
    line = request(b"GET =%3Dcmd?=1&+token=2&-x=%3D1 HTTP/1.1")
    text = convert(line, "common", "csv", csv_safe=True, mask=["token"])[0].decode()
    [row] = csv.reader(io.StringIO(text))
    record = dict(zip(NAMES, row, strict=False))
    assert (record["target"], record["path"]) == ("'=%3Dcmd?=1&+token=2&-x=%3D1", "'==cmd")
    assert json.loads(record["query"]) == [["", "1"], [" token", "2"], ["-x", "=1"]]
    line = request(b"GET %09=1 HTTP/1.1")
    assert b",%09=1,%09=1," in convert(line, "common", "csv", csv_safe=True)[0]  # a tab stays encoded
    line = b'{"request_uri":"/","http_referer":"=x?token=2"}'
    assert b"'=x?token=***" in convert(line, "nginx-json", "csv", csv_safe=True, mask=["token"])[0]


def test_wrong_arguments_of_what_is_compiled():
    with pytest.raises(TypeError, match="expected a Program, got str"):
        LogReader(["combined"])
    with pytest.raises(TypeError, match="bytes-like"):
        convert_columns(reader_of("common"), "a line")


def test_wrong_arguments():
    for options in {"to": "xml"}, {"client": "proxy"}:
        with pytest.raises(ValueError, match=r"'(xml|proxy)'"):
            reader_of("combined", **options)
    with pytest.raises(ValueError, match="unknown encoding 'utf-99'"):
        list(logs.parse(COMBINED, encoding="utf-99"))
    for errors in "keep", "replace":
        with pytest.raises(ValueError, match="errors must be 'drop' or 'raise', got"):
            list(logs.parse(COMBINED, errors=errors))


# --- in Python --------------------------------------------------------------------------------------------------------


def test_parse_takes_everything(tmp_path):
    data = b"junk\n" + COMBINED + b"\r\n\n" + request(b"quit")
    path = tmp_path / "access.log"
    path.write_bytes(data)
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))
    sources = [data, bytearray(data), memoryview(data), path, str(path), io.BytesIO(data), gzip.compress(data)]
    sources += [tmp_path / "access.log.gz", io.BytesIO(gzip.compress(data))]
    for source in sources:
        invalid = []
        first, second = logs.parse(source, "combined", flags=True, invalid=invalid)
        assert first.query == (("q", "a b"), ("x", "&"))
        assert (second.target, second.path, second.flags) == ("quit", None, ("malformed",))
        assert [line[1:] for line in invalid] == [(1, 0, "client", b"junk"), (3, 0, "empty", b"")]


@pytest.mark.parametrize("text", ["", COMBINED.decode()])
def test_a_file_in_text_mode(tmp_path, text):
    path = tmp_path / "access.log"
    path.write_text(text)
    with open(path, encoding="utf-8") as file, pytest.raises(TypeError, match="binary mode"):
        list(logs.parse(file))
    with pytest.raises(TypeError, match="binary mode"):
        logs.columns(io.StringIO(text), "combined")


def test_buffers_of_octets():
    for kind in "B", "b", "c":
        assert len(list(logs.parse(memoryview(COMBINED).cast(kind)))) == 1
    assert len(list(logs.parse((ctypes.c_char * len(COMBINED))(*COMBINED)))) == 1
    sources = [array("i", [1]), array("d", [1]), memoryview(b"\0\1").cast("?"), memoryview(bytes(8)).cast("L")]
    for source in [*sources, (ctypes.py_object * 1)(COMBINED), (ctypes.c_uint16 * 1)()]:
        for read in logs.parse, logs.columns:
            with pytest.raises(TypeError, match="expected a buffer of bytes"):
                list(read(source))
    assert list(logs.parse(COMBINED.decode().split("\n"), invalid=[])) == list(logs.parse(COMBINED))


@pytest.mark.interop
def test_arrays_of_objects():
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="expected a buffer of bytes"):
        list(logs.parse(numpy.array([COMBINED], object)))
    assert len(list(logs.parse(numpy.frombuffer(COMBINED, numpy.uint8)))) == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_logs(tmp_path, pack):
    """As on the command line; in any pieces, and with an error that names the file."""
    data = (COMBINED + b"\n") * 3
    packed = pack(data[:50]) + pack(data[50:])
    path = tmp_path / "log"
    path.write_bytes(packed)
    for source in packed, path, io.BytesIO(packed), Pieces(*(packed[i : i + 1] for i in range(len(packed)))):
        assert list(logs.parse(source)) == list(logs.parse(data))
    path.write_bytes(packed[:-1])
    with pytest.raises(OSError, match=r"log: truncated .* data") as raised:
        list(logs.parse(path))
    assert raised.value.filename == str(path)


def test_a_log_that_does_not_wait():
    """A raw file that does not block returns None."""
    for first in [], [COMBINED + b"\n"]:
        with pytest.raises(BlockingIOError):
            list(logs.parse(Pieces(*first, None)))


def test_damaged_gzip():
    packed = gzip.compress(COMBINED * 100)
    for data in packed[:-9], packed[:60] + b"x" * 40 + packed[100:], b"\x1f\x8b damaged":
        for source in data, io.BytesIO(data):
            with pytest.raises(OSError, match="gzip"):
                list(logs.parse(source))


def test_records_without_flags():
    [record] = logs.parse(COMBINED)
    assert record.flags is None
    assert list(logs.columns(COMBINED)) == list(NAMES)
    assert logs.columns(COMBINED, flags=True)["flags"] == [()]


def test_nothing():
    for source in lambda: b"", lambda: io.BytesIO(b""), lambda: io.BytesIO(gzip.compress(b"")):
        assert list(logs.parse(source())) == []
        assert logs.columns(source())["path"] == []
        for format in "apache", "":
            with pytest.raises(ValueError, match="unknown format"):
                list(logs.parse(source(), format))


def test_lines_across_chunks(monkeypatch):
    data = b"".join(request(b"GET /%d HTTP/1.1" % i) + b"\n" for i in range(200)) + b"no end"
    expected = list(logs.parse(data))
    monkeypatch.setattr(reading, "CHUNK", 100)
    invalid = []
    assert list(logs.parse(io.BytesIO(data), invalid=invalid)) == expected
    assert invalid == [InvalidLine("<log>", 201, 2, "user", b"no end")]


class Pieces:
    """What is read in these pieces, as from a pipe."""

    def __init__(self, *pieces):
        self.pieces = iter(pieces)

    def read(self, size):
        return next(self.pieces, b"")


def test_the_format_may_show_in_a_later_chunk():
    for log in b"\n" + ALB, b"#Version: 1.0\n" + CLOUDFRONT, IIS, b'\n\n{"uri":"/"}', b"\n" + COMBINED:
        lines = log.splitlines(keepends=True)
        expected = list(logs.parse(log))
        assert expected
        for pieces in lines, [b"".join(lines[:-1]), lines[-1]], [log[i : i + 1] for i in range(len(log))]:
            assert list(logs.parse(Pieces(*pieces))) == expected
        packed = gzip.compress(log)
        assert list(logs.parse(Pieces(packed[:1], packed[1:]))) == expected


def test_a_log_that_never_shows_its_format_is_combined(monkeypatch):
    for head in b"\n" * 101, b"# " + b"x" * 300 + b"\n":
        monkeypatch.setattr(reading, "CHUNK", 200)
        [_] = logs.parse(io.BytesIO(head + COMBINED))
        [record] = logs.parse(io.BytesIO(head + b"#Fields: c-ip\n192.0.2.1"))
        assert record.client == "192.0.2.1"


def test_a_line_that_is_too_long():
    data = b"x" * (3 * LONGEST) + b"\n" + COMBINED
    for source in data, io.BytesIO(data), gzip.compress(data):
        invalid = []
        assert len(list(logs.parse(source, max_line=LONGEST, invalid=invalid))) == 1
        [fault] = invalid
        assert (fault.line, fault.offset, fault.code, len(fault.text)) == (1, LONGEST, "too-long", 103)
    assert len(list(logs.parse(data))) == 1
    for max_line in 0, -1, (1 << 28) + 1:
        with pytest.raises(ValueError, match="max_line must be from 1 to 268435456, got "):
            list(logs.parse(data, max_line=max_line))


def test_a_record_that_takes_more_room_than_there_is():
    """Room for the record of a line that a chunk cannot hold is made when that comes."""
    path = b"\x01" * (2 * reading.CHUNK)
    line = request(b"GET /" + b"%01" * len(path) + b" HTTP/1.1")
    for source in line, io.BytesIO(line + b"\n" + COMBINED):
        assert next(logs.parse(source)).path == "/" + path.decode()


def test_a_line_that_is_too_long_in_pieces():
    """What ends where a line could end is not taken for the end."""
    line = request(b"GET /" + b"x" * LONGEST)[:LONGEST]
    for pieces in [line, b"\r", b"x", b"\n"], [line + b"\r", b"x", b"\n"], [line, b"\rx\n"], [line + b"\r\r", b"\n"]:
        invalid = []
        with pytest.raises(FormatError, match="no line is one"):
            list(logs.parse(Pieces(*pieces), "combined", max_line=LONGEST))
        assert list(logs.parse(Pieces(*pieces), "combined", max_line=LONGEST, invalid=invalid)) == []
        assert [(fault.line, fault.code) for fault in invalid] == [(1, "too-long")]
    for pieces in [line, b"\r", b"\n" + COMBINED], [line + b"\r", b"\n" + COMBINED]:
        invalid = []
        assert len(list(logs.parse(Pieces(*pieces), "combined", max_line=LONGEST, invalid=invalid))) == 1
        assert [(fault.line, fault.code) for fault in invalid] == [(1, "request")]


@pytest.mark.interop
def test_arrow():
    pa = pytest.importorskip("pyarrow")
    queries = (b"", b"a=%00&b", b"%FF=\xff&\\xff", b"x" * 999)
    hostile = b"\n".join(request(b"GET /?" + query + b" HTTP/1.1") for query in queries)
    data = COMBINED + b"\njunk\n" + hostile + b"\n" + request(b"-") + b"\n" + request(rb"\x00")
    for flags in False, True:
        for source in data, io.BytesIO(data):
            invalid = []
            table = logs.to_arrow(source, flags=flags, mask=["a"], invalid=invalid).read_all()
            table.validate(full=True)
            assert table.schema.names == [*NAMES, *(["flags"] if flags else [])]
            assert naive.rows_of(table) == naive.in_arrow(expected(data, "combined", flags=flags, mask=["a"])[0])
            assert [line[1:] for line in invalid] == [(2, 0, "client", b"junk")]
    assert logs.to_arrow(b"").read_all().num_rows == 0
    assert logs.to_arrow(b"junk", "combined", invalid=[]).read_all().num_rows == 0
    with pytest.raises(FormatError, match="no line is one"):
        logs.to_arrow(b"junk", "combined").read_all()
    assert isinstance(logs.to_arrow(b""), pa.RecordBatchReader)


@pytest.mark.interop
def test_batches_of_columns():
    """A batch ends when it has many rows or much text, or when there are many invalid lines that are asked for."""
    pytest.importorskip("pyarrow")
    data = 70_000 * b'- - - [-] "-" 200 5\n' + b"x\n" * 2000 + b'- - - [-] "-" 200 5'
    assert [batch.num_rows for batch in logs.to_arrow(data)] == [65_536, 4465]
    assert [batch.num_rows for batch in logs.to_arrow(data, invalid=[])] == [65_536, 4464, 1]
    line = request(b"GET /?a=%b HTTP/1.1" % (b"%41" * 300_000)) + b"\n"
    table = logs.to_arrow(b"".join([line] * 100))
    sizes = [batch.num_rows for batch in table]
    assert sizes == [75, 25]


# --- real logs --------------------------------------------------------------------------------------------------------


@each_row(("name", "format"), [("access", "combined"), ("secrets", "nginx-json"), ("truncated", "common")])
def test_examples(name, format):
    path = EXAMPLES / f"{name}.log"
    data = path.read_bytes()
    assert str(logs.detect(data)[0].format) == format
    records = records_of(data, format, flags=True)
    assert records == shown(expected(data, format, flags=True)[0], format)
    assert len(records) == len(list(logs.parse(path)))


@pytest.mark.parametrize("name", ["parse", "columns", "count"])
def test_options_that_a_function_does_not_have(name):
    fields = [["path"]] if name == "count" else []
    for option in ["field", *(["flags", "params"] if name == "count" else [])]:
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument '{option}'"):
            getattr(logs, name)(b"", *fields, **{option: ()})
