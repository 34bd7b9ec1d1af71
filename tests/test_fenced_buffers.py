"""Functions that take a buffer read nothing but the buffer, whatever lies next to it.

Each call is made with a buffer directly after a page that must not be touched, and directly before one, with neighbors
on the other side that would change the result: line ends, digits, quotes, parts of characters. The result has to be
that for the same bytes elsewhere.
"""

import itertools
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from support.arrow_memory import Lent, rows_of
from support.calls import CALLS, outcome
from support.lines import decode_lines, encode_lines

from uricodec import ByteSet, bulk, dedup
from uricodec._base._fingerprint import FingerprintKey
from uricodec._codec._charsets import Charset
from uricodec._codec._rows import DecodeRows, EncodeRows, RequoteRows
from uricodec._counting._counts import KeyBatch, hashes_of
from uricodec._counting._table import Table
from uricodec._hosts._entries import EntryBuilder, FilterRows, MatchRows, match_url
from uricodec._hosts._table import aligned, checksums
from uricodec._records._fields import transform_fields
from uricodec._records._framing import Framing
from uricodec._rows._engine import RowOperation
from uricodec._rows._tasks import transform_lines
from uricodec._search._find import copy_urls, find_part
from uricodec.dedup._identifiers import LineBatch
from uricodec.iri._conversion import IriToUriRows, UriToIriRows
from uricodec.logs import Format
from uricodec.logs._columns import convert_columns, objects_of
from uricodec.logs._conditions import condition_of
from uricodec.logs._records import NAMES, LogReader
from uricodec.logs._wrapping import find_parts
from uricodec.uri import HostSet, PrefixSet
from uricodec.uri import _rows as operations
from uricodec.uri._policies import operation_of
from uricodec.uri._redact import RedactTextRows, redact_lines
from uricodec.urn._parse import copy_urns
from uricodec.urn._rows import CheckUrnRows, NormalizeUrnRows

NEIGHBORS = [b"\n", b"\r", b"%", b"41", b'"', b"\x80", b"a", b","]
NEAR = 64

# Buffers are prefixes and suffixes of these: they end and begin anywhere.
SAMPLES = [
    b"",
    b"a%41\r\n%C3%A9%zz\n\n",
    b"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80",
    b"\r\r\n\n",
    b"\n\r\n",
    b'"a,""b",c\r\n"d\n',
    b'"urn:ab:"',
    b'{"u":"urn:ab:"}',
    b'{"u":"\\u00e9\\n%41","v":[1]}\n',
    b"URN:ab:c%4a?+r?=q#f\nurn:isbn:0395363411\n",
    b"HTTP://[::1]:80/%7e/../a?q#f\n//\xc3\xbc.example\n//xn--9ca",
]
SOURCES = [sample[:i] for sample in SAMPLES for i in range(len(sample) + 1)]
SOURCES = list(dict.fromkeys([*SOURCES, *(sample[i:] for sample in SAMPLES for i in range(1, len(sample), 5))]))

LOGS = [
    b'192.0.2.1 - al [21/Mar/2025:08:00:11 +0000] "GET /%C3%A9?q=a HTTP/1.1" 200 51 "-" "x\\"\\xc3"\n',
    b'{"remote_addr":"192.0.2.20","request":"GET /a\\"b?l=\\u00e9 HTTP/2.0","status":"200"}\r\n',
    b"#Fields: date time c-ip cs-method cs-uri-stem sc-status\n2025-03-21 08:00:11 192.0.2.1 GET /a+b%41 200\n",
]


LOG_SOURCES = [line[:size] for line in LOGS for size in range(len(line) + 1)]


def at_start(fence, near):
    return partial(fence.at_start, after=(near * NEAR)[:NEAR])


def at_end(fence, near):
    return partial(fence.at_end, before=(near * NEAR)[-NEAR:])


def places(fence, data):
    """The bytes at both ends of a fence, with neighbors on the other side, others for other bytes."""
    yield at_start(fence, NEIGHBORS[len(data) % len(NEIGHBORS)])(data)
    yield at_end(fence, NEIGHBORS[(len(data) + 5) % len(NEIGHBORS)])(data)


def result(call, *arguments):
    """The outcome of a call, without the addresses that messages contain."""
    found = outcome(partial(call, *arguments))
    if type(found) is tuple and len(found) == 2 and isinstance(found[0], type):
        return found[0], re.sub("0x[0-9a-f]+", "", str(found[1]))
    return found


def check(call, data, fence):
    """A function of a buffer gives the same wherever the buffer lies."""
    want = result(call, memoryview(bytearray(data)))
    for view in places(fence, data):
        assert result(call, view) == want, f"{data!r} next to other bytes"


# --- what is public ---------------------------------------------------------------------------------------------------


def with_buffer(calls):
    """For each bytes-like argument: a call as a function of it, and its values in the calls that differ in it alone."""
    found = {}
    for call in calls:
        for i, argument in enumerate(call.args if isinstance(call, partial) else ()):
            if isinstance(argument, (bytes, bytearray, memoryview)):
                before, after = call.args[:i], call.args[i + 1 :]
                way = call.func, repr((before, after, call.keywords))
                function = partial(with_argument, call, before, after)
                found.setdefault(way, (function, []))[1].append(bytes(argument))
    return list(found.values())


def with_argument(call, before, after, argument):
    return call.func(*before, argument, *after, **call.keywords)


PUBLIC = {name: with_buffer(calls) for name, calls in CALLS.items()}
# What is slow gets fewer sources: its loops are below. The methods of a Deduplicator read with `add` alone.
SAME = {name for name in CALLS if "Deduplicator" in name} - {"uricodec.dedup.Deduplicator.add"}
SLOW = "uricodec.bulk.", "uricodec.dedup.", "uricodec.logs."


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted({name.split(".")[1] for name, calls in PUBLIC.items() if calls}))
def test_public(fences, module):
    for name, calls in PUBLIC.items():
        if name.split(".")[1] == module and name not in SAME:
            for call, given in calls:
                for source in dict.fromkeys([*(SAMPLES if name.startswith(SLOW) else SOURCES), *given]):
                    check(call, source, fences[0])


@pytest.mark.parametrize("name", ["quote", "requote", "unquote", "normalize_uri", "iri_to_uri", "normalize_urn"])
def test_rows_of_lists(fences, name):
    for source in SOURCES:
        check(lambda row: getattr(bulk, name)([b"a", row, b"urn:x:y"]), source, fences[0])


# --- the loops over lines and records ---------------------------------------------------------------------------------


def writing(function, size):
    """A function of a source and a destination as one of the source, which returns what is written as well."""

    def call(src):
        dst = bytearray(size(len(src)))
        found = function(src, dst)
        return found, bytes(dst)

    return call


SET = PrefixSet(["//\u00fc.example", "http://[::1]/a", "example,xn--tda)/"])._table
ROWS = {
    "copy": RowOperation(),
    "decode": DecodeRows(),
    "decode shift_jis": DecodeRows(charset=Charset("shift_jis")),
    "decode plus raw": DecodeRows(True, True),
    "encode": EncodeRows(ByteSet("abc\n")),
    "requote": RequoteRows(ByteSet("abc")),
    "check uri": operations.CheckRows("uri", "URI-reference"),
    "check iri": operations.CheckRows("iri", "IRI-reference"),
    "split": operations.SplitRows("uri", "csv"),
    "hosts": operations.HostRecordRows("jsonl"),
    "web host": operations.WebHostRows(),
    "split web": operations.SplitRows("web", "jsonl"),
    "normalize web": operations.CheckedRows(operations.CheckWebRows(), operations.NormalizeRows("scheme")),
    "normalize uri": operations.NormalizeRows("scheme"),
    "crawl": operation_of("crawl"),
    "surt": operation_of("surt"),
    "w3lib": operation_of("w3lib"),
    "whatwg": operation_of("whatwg"),
    "check whatwg": operations.CheckRows("uri", "whatwg"),
    "resolve": operations.ResolveRows(b"http://a/b/c"),
    "iri to uri": IriToUriRows(host="idna"),
    "uri to iri": UriToIriRows(host="unicode"),
    "uri to safe iri": UriToIriRows(host="safe"),
    "match": MatchRows(SET, False, True),
    "filter": FilterRows([SET, HostSet(["::1"])._table], False, True),
    "check urn": CheckUrnRows("any"),
    "normalize urn": NormalizeUrnRows("namespace"),
}
FRAMINGS = {
    "fields": Framing("delimited", delimiter=b","),
    "csv": Framing("csv", delimiter=b","),
    "json": Framing("json", names=[b"u"]),
    "jsonl": Framing("json", names=[b"u"], jsonl=True),
}
KEY = FingerprintKey("tests")


def names_of(operation, lines, framing=None):
    names = LineBatch(operation, KEY)
    found = names.read(lines, 0, 9, framing)
    Table(1 << 16).add(names)
    room = bytearray(names.capacity())
    return found, names.fingerprints, names.marks, bytes(room[: names.write(room)])


def lines_found(lines, framing=None):
    names = LineBatch(RowOperation(), KEY)
    names.find(lines, 0, framing)
    return len(names)


def texts_of(framing, lines):
    names = LineBatch(ROWS["normalize urn"], KEY)
    return names.read(lines, 0, 9, framing), [names.text(row) for row in range(len(names))]


def keys_of(lines):
    keys = KeyBatch(KEY)
    return keys.read(lines), len(keys), keys.fingerprints


FORMATS = "combined", "combined-forwarded", "nginx-json", "caddy", "iis", "cloudfront", "haproxy", "envoy"
PROGRAMS = {name: Format(name).programs for name in FORMATS}


def columns_of(format, src):
    reader = LogReader(PROGRAMS[format], "columns", where=CONDITIONS, flags=True)
    found, batch = convert_columns(reader, src)
    return found, objects_of(batch, 0, len(batch))


CONDITIONS = [condition_of("status!=999"), condition_of("path*=/"), condition_of("client!=10.0.0.0/8")]


def converted(format, src):
    reader = LogReader(PROGRAMS[format], mask=["q"], flags=True, fields=[*NAMES, "time:hour", "param.q"])
    dst = bytearray(reader.capacity_for(len(src)))
    found = reader.convert(src, dst)
    return found, bytes(dst[: found.written])


def added(builder, lines):
    builder.add_lines(lines)
    return builder.entries, builder.lines, builder.understood, builder.found


CONTENTS = "plain", "json", "html"
COPIES = {"copy_urns": copy_urns, **{f"copy_urls, {content}": partial(copy_urls, content) for content in CONTENTS}}
LOOPS = {
    "decode_lines": writing(decode_lines, lambda n: n + 66),
    "decode_lines, plus": writing(
        lambda src, dst: decode_lines(src, dst, True, errors="replace"), lambda n: 3 * n + 66
    ),
    "encode_lines": writing(lambda src, dst: encode_lines(src, dst, ByteSet("a\n"), True), lambda n: 3 * n + 66),
    "Charset.decode": Charset("euc-jp").decode,
    "Framing.cut": lambda buffer: FRAMINGS["csv"].cut(buffer, 0, len(buffer)),
    "Framing.skip": lambda buffer: [FRAMINGS["csv"].skip(buffer, 0, len(buffer), state) for state in range(4)],
    "Framing.skip_records": lambda buffer: [
        framing.skip_records(buffer, 0, most, 0) for framing in (FRAMINGS["csv"], Framing("lines")) for most in (1, 9)
    ],
    "Framing.first": lambda buffer: FRAMINGS["csv"].first(buffer, len(buffer)) if len(buffer) else None,
    "LineBatch.find": lines_found,
    **{
        f"find_part, {content}": lambda buffer, content=content: find_part(content, buffer, 128, False)
        for content in CONTENTS
    },
    "EntryBuilder.add": lambda buffer: EntryBuilder("hosts", KEY).add(buffer),
    "EntryBuilder.add, prefixes": lambda buffer: EntryBuilder("prefixes", KEY).add(buffer),
    "EntryBuilder.add_lines": lambda buffer: added(EntryBuilder("hosts", KEY), buffer),
    "EntryBuilder.add_lines, prefixes": lambda buffer: added(EntryBuilder("prefixes", KEY), buffer),
    "match_url": lambda buffer: match_url(SET, buffer, False),
    "match_url, hosts": lambda buffer: match_url(HostSet(["::1", "com", "ab"])._table, buffer, False),
    "aligned": lambda buffer: (made := aligned(buffer))[0][made[1] : made[1] + len(buffer)],
    "checksums": lambda buffer: checksums(buffer, KEY),
    "redact_lines": lambda buffer: bytes(redact_lines(buffer, RedactTextRows("*", bare=True))),
    **{
        f"{name}, {prefix}": writing(
            lambda src, dst, copy=copy, prefix=prefix: copy(src, dst, prefix, 1 << 60), lambda n: 2 * n + 30
        )
        for name, copy in COPIES.items()
        for prefix in (None, b"file\t")
    },
    "LineBatch.find, csv": partial(lines_found, framing=FRAMINGS["csv"]),
    "FingerprintKey.fingerprint": KEY.fingerprint,
    "KeyBatch.read": keys_of,
    "hashes_of": lambda lines: hashes_of(KEY, lines, b","),
    **{f"LineBatch.read, {name}": partial(names_of, ROWS[name]) for name in ("copy", "normalize uri", "normalize urn")},
    **{f"convert_columns, {name}": lambda src, name=name: columns_of(name, src) for name in FORMATS},
    **{f"LogReader.convert, {name}": partial(converted, name) for name in FORMATS},
    "LogReader.skip": LogReader(Format("iis").programs).skip,
    "find_parts, LogReader": find_parts,
}
for _name, _rows in ROWS.items():
    LOOPS[f"transform_lines, {_name}"] = writing(
        lambda src, dst, rows=_rows: transform_lines(src, dst, rows), lambda n: 9 * n + 999
    )
    for _form, _framing in FRAMINGS.items():
        LOOPS[f"transform_fields, {_form}, {_name}"] = writing(
            lambda src, dst, rows=_rows, framing=_framing: transform_fields(src, dst, rows, framing),
            lambda n: 50 * n + 999,
        )


for _form in "fields", "csv", "json":
    LOOPS[f"LineBatch.read, {_form}"] = partial(names_of, ROWS["normalize urn"], framing=FRAMINGS[_form])
    LOOPS[f"LineBatch.text, {_form}"] = partial(texts_of, FRAMINGS[_form])


for _form, _rows, _framing in (
    ("csv, after", ROWS["split"], Framing("csv", delimiter=b",", after=True)),
    ("csv, base", operations.ResolvePairs(), Framing("csv", delimiter=b",", fields=[(1, 2)], base=1)),
    ("json, base", operations.ResolvePairs(), Framing("json", names=[b"b", b"u"], base=1)),
):
    LOOPS[f"transform_fields, {_form}"] = writing(
        lambda src, dst, rows=_rows, framing=_framing: transform_fields(src, dst, rows, framing),
        lambda n: 50 * n + 999,
    )


# Functions with buffers of other kinds, that copy them first, or whose tests have fences of their own.
ELSEWHERE = {
    *{"ByteSet.__new__", "URN.__new__"},
    *{"block_size", "SpilledBatch.read"},
    *{f"FirstRows.{name}" for name in ("__new__", "put_counts", "set_pairs", "counts_of")},
    *{"FirstRows.remove_rare", "EquivalentRows.__new__", "RelativizeRows.__new__", "UnsplitRows.__new__"},
    *{"PolicyRows.__new__", "WhatwgBase.__new__"},
    *{"FingerprintKey.__new__", "FingerprintBatch.__new__", "LineBatch.write"},
}


DOCUMENTED = re.compile(r'^( *)(?:cdef )?(class|def) (\w+)([^\n]*(?:\n[^"\n]*)?:\n +r?"""[\s\S]*?""")?', re.MULTILINE)


def functions(text):
    """The functions, methods and constructors of a module that document an argument which is a buffer."""
    owner = ""
    for indent, kind, name, doc in DOCUMENTED.findall(text):
        owner = name if kind == "class" else owner if indent else ""
        if re.search(r"^ +\w+(?:, \w+)* \(.*(?:bytes-like|bytearray|memoryview).*\):", doc, re.MULTILINE):
            yield f"{owner}.__new__" if kind == "class" else f"{owner}.{name}".lstrip(".")


def test_every_buffer_is_fenced():
    modules = (Path(__file__).parent.parent / "src/uricodec").rglob("*.pyx")
    found = {name for module in modules for name in functions(module.read_text("utf-8"))}
    tested = {name.rpartition(".")[2] for name in PUBLIC if PUBLIC[name]} | {name.partition(",")[0] for name in LOOPS}
    assert found - tested - ELSEWHERE == set()
    assert found > ELSEWHERE


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each in {"convert_columns", "LogReader.convert"} else [])
        for each in sorted({name.partition(",")[0] for name in LOOPS})
    ],
)
def test_loops(fences, function):
    for name, call in LOOPS.items():
        if name.partition(",")[0] == function:
            print(name)  # shown of a test that fails
            for source in [*SAMPLES, *LOG_SOURCES] if "Log" in name or "columns" in name else SOURCES:
                check(call, source, fences[0])


# --- columns ----------------------------------------------------------------------------------------------------------

COLUMNS = [
    [b"%"],
    [b"", b"%4"],
    [b"a longer row than a view %", None, b"%4"],
    [None, *[b"HTTP://[::1]:8", b"\xc3\xa9", b"urn:a:b%4"] * 3],
    [*[b"urn:ab:c"] * 63, b"//h:8"],
]
FUNCTIONS = {
    name: getattr(bulk, name)
    for name in ("unquote", "requote", "normalize_uri", "check_urn", "split_uri", "query_pairs", "agreed_host")
}
FUNCTIONS["unique"] = partial(dedup.unique, kind="urn", memory=1 << 16)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1, 2, 5], ids=["validity", "offsets or views", "text", "indices"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_columns(fences, name, part):
    for rows, format in itertools.product(COLUMNS, ("u", "U", "vu")):
        indices = [*range(len(rows)), 0] if part == 5 else None
        column = Lent(rows, format, indices)
        want = rows_of(FUNCTIONS[name](column))
        for near in NEIGHBORS:
            for place in at_start(fences[0], near), at_end(fences[0], near):
                column = Lent(rows, format, indices, {part: place})
                assert rows_of(FUNCTIONS[name](column)) == want, f"{rows}, {format}, next to {near!r}"


@pytest.mark.parametrize("name", ["unquote", "check_urn", "split_uri", "unique"])
@pytest.mark.parametrize(("format", "width"), [("u", 4), ("U", 8)])
def test_offsets_after_the_last_one(fences, format, width, name):
    """They are found before what they point at is read, in whichever block they fall."""
    rows, end = 3000, 5
    offsets = b"".join(min(i, 2000 * (i < 2500) + end).to_bytes(width, sys.byteorder) for i in range(rows + 1))
    places = {1: lambda _: memoryview(bytearray(offsets)), 2: partial(fences[0].at_end, before=b"\n")}
    column = Lent([b"a" * end, *[b""] * (rows - 1)], format, None, places)
    with pytest.raises(ValueError, match="decreasing offsets"):
        FUNCTIONS[name](column)
