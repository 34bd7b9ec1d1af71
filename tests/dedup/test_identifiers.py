"""Lines that are names: where they are, their fingerprints, and those that are kept."""

import ctypes
import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.codec import lines_of
from support.arrow_memory import Lent
from support.limits import lowered
from support.tables import each_row

from uricodec import uri, urn
from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._table import Table
from uricodec._rows._engine import RowOperation
from uricodec.dedup._identifiers import ColumnBatch, LineBatch
from uricodec.errors import UriError, UriSyntaxError, UrnError
from uricodec.uri._rows import NormalizeRows
from uricodec.urn._rows import NormalizeUrnRows

KEY = FingerprintKey("tests")
URN_LEVELS = ["bytes", "2141", "8141", "namespace", "functional"]
URI_LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"]
KINDS = [
    ("bytes", RowOperation, lambda line: line),
    *[(f"urn {level}", lambda level=level: NormalizeUrnRows(level), lambda line, level=level: urn.key(line, level))
      for level in URN_LEVELS],
    *[(f"uri {level}", lambda level=level: NormalizeRows(level), lambda line, level=level: uri.key(line, level))
      for level in URI_LEVELS],
]  # fmt: skip
kinds = each_row(("make", "key"), [row[1:] for row in KINDS])

LINES = [
    b"urn:example:a",
    b"URN:Example:a",
    b"urn:example:%c3%A9?=q#f",
    b"urn:isbn:0-395-36341-1",
    b"urn:ISBN:0395363411",
    b"urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
    b"urn:example:" + b"x" * 300,
    b"HTTP://Example.COM:80/a/./b/../%7euser?q#f",
    b"http://m\xc3\xbcnchen.example/\xe6\x9d\xb1",
    b"",
    b"url:x%",
    b"\xff\x00\xfe",
    b"\r",
    b"a\r",
    b"urn:example:\xc3",
]


def form_of(key, line):
    try:
        return key(line), True
    except UriError:
        return line, False


def check(data, make, key, end=b"\n", names=None):
    names = LineBatch(make(), KEY, end) if names is None else names
    lines = lines_of(data, end)
    forms = [form_of(key, line) for line, _ in lines]
    found = names.read(data, 0, 1000)
    assert found[:3] == (0, len(lines), sum(not valid for _, valid in forms))
    assert [fault.line for fault in found.faults] == [i for i, (_, valid) in enumerate(forms) if not valid]
    assert len(names) == len(lines) and names.marks == bytes(len(lines))
    assert names.fingerprints == b"".join(KEY.fingerprint(form) for form, _ in forms)
    Table(1 << 20).add(names)
    want, seen, counts = b"", set(), b""
    for (line, tail), (form, _) in zip(lines, forms, strict=True):
        if form not in seen:
            seen.add(form)
            counts += b"%d\t" % len(seen) + line + (tail or end)
            want += line + (tail or end)
    room = bytearray(b"\xaa" * names.capacity())
    assert names.new == len(seen)
    assert bytes(room[: names.write(room)]) == want
    numbers = memoryview(struct.pack(f"=B{len(seen)}Q", 0, *range(1, len(seen) + 1)))[1:]  # at an odd address
    assert bytes(room[: names.write(room, numbers)]) == counts


@kinds
def test_all_kinds(tier, make, key):
    names = LineBatch(make(), KEY)
    check(b"\n".join(LINES), make, key, names=names)
    check(b"\r\n".join(LINES) + b"\r\n", make, key, names=names)
    check(b"\n".join(line * 3 for line in LINES) + b"\n" + b"\n".join(LINES), make, key, names=names)


@each_row(("make", "key"), [KINDS[0][1:], KINDS[3][1:], KINDS[4][1:]])
def test_every_length(tier, make, key):
    names = LineBatch(make(), KEY)
    for n in range(131):
        line = b"URN:isbn:" + b"0" * n
        check(line, make, key, names=names)
        check(b"\n" * n, make, key, names=names)
        check(line + b"\n" + line + b"\r\nx" + b"\n" * (n % 3), make, key, names=names)


@given(
    st.lists(st.sampled_from(LINES) | st.binary(max_size=80), max_size=40),
    st.sampled_from(KINDS),
    st.sampled_from([b"\n", b"\r\n", b"\0"]),
    st.booleans(),
)
def test_any_bytes(lines, kind, end, whole):
    data = end.join(lines) + end * whole
    check(data, *kind[1:], end=end[-1:])


def test_large_buffers(tier):
    """More lines than were there before, longer ones, and ones that straddle what is looked at once."""
    names = LineBatch(NormalizeUrnRows("8141"), KEY)
    key = KINDS[3][2]
    for count, size in (10, 5), (3000, 10), (20, 70_000), (5, 5), (10_000, 0):
        check(b"".join(b"URN:Example:%d%s\n" % (i % 99, b"x" * size) for i in range(count)), None, key, names=names)


def test_nothing_beyond_the_end_is_read(tier, fences):
    names = LineBatch(NormalizeUrnRows("8141"), KEY)
    for n in *range(131), 4095, 4096, 4097:
        data = (b"urn:x:" + b"\n" * n)[:n] if n < 7 else b"URN:ex:" + b"a" * (n - 7)
        assert names.read(fences[0].at_end(data), 0).lines == len(lines_of(data))
        Table(1 << 20).add(names)
        room = bytearray(names.capacity())
        first = dict(lines_of(data)).items()
        assert bytes(room[: names.write(room)]) == b"".join(line + (tail or b"\n") for line, tail in first)


@kinds
@each_row(("rows", "size"), [(1, 64), (3, 20), (1000, 1), (1000, 64)])
def test_small_blocks(make, key, rows, size):
    with lowered(most_rows=rows, most_bytes=size):
        for end in b"\n", b"\r\n":
            check(end.join(LINES * 3), make, key)
            check(end.join(LINES) + end, make, key)


@pytest.mark.slow
@each_row(("errors", "forms"), [("keep", False), ("drop", True)])
@kinds
def test_columns(make, key, errors, forms):
    """Short and long items, nulls and what has no UTF-8, in more rows than a block has: from lists as from columns."""
    items = [None, "é" * 9000, "\ud800", "a\nb", *[line.decode("latin-1") for line in LINES]]
    rows = [items[i * i % len(items)] if i % 3 else f"urn:Example:{i}" for i in range(5000)]
    octets = [None if row is None else row.encode("utf-8", "surrogatepass") for row in rows]
    forms_of = [(b"", True) if row is None else form_of(key, row) for row in octets]
    invalid = [row is not None and (not form[1] or "\ud800" in row) for row, form in zip(rows, forms_of, strict=True)]
    nulls = [i for i, row in enumerate(rows) if row is None]
    want = [int(errors == "drop" and bad) if row is not None else 1 for row, bad in zip(rows, invalid, strict=True)]
    want[nulls[0]] = 2
    for column in rows, octets, Lent(octets, "Z"):
        names, marks, prints = ColumnBatch(make(), KEY, errors, forms), b"", b""
        assert names.hold(column) == len(rows)
        while names.read(len(marks)):
            marks += names.marks
            prints += names.fingerprints
        assert list(marks) == [
            0 if mark == 1 and rows[i] == "\ud800" and column is not rows and forms_of[i][1] else mark
            for i, mark in enumerate(want)
        ]
        assert prints == b"".join(KEY.fingerprint(form) for form, _ in forms_of)


@pytest.mark.slow
def test_a_form_that_is_many_times_longer():
    """At level "iri", an octet may become three."""
    data = b"".join(b"http://h/%s\n" % ("é" * i).encode() for i in range(2000))
    check(data, lambda: NormalizeRows("iri"), lambda line: uri.key(line, "iri"))


@each_row("errors", ["keep", "drop"])
@each_row("limit", [0, 1, 3, 100, 101])
def test_as_many_faults_as_are_asked_for(errors, limit):
    found = LineBatch(NormalizeUrnRows("8141"), KEY, errors=errors).read(b"x\n" * 100, 0, limit)
    assert (found.invalid, [fault.line for fault in found.faults]) == (100, list(range(min(limit, 100))))


def test_invalid_lines_are_dropped():
    names = LineBatch(NormalizeUrnRows("8141"), KEY, errors="drop")
    found = names.read(b"urn:example:a\nx\nx\nURN:example:a\n\nurn:example:b", 0)
    assert found == (0, 6, 3, [])
    assert names.marks == b"\0\1\1\0\1\0"
    Table(1 << 20).add(names)
    room = bytearray(names.capacity())
    assert bytes(room[: names.write(room)]) == b"urn:example:a\nurn:example:b\n"


@pytest.mark.parametrize("make, error", [(lambda: NormalizeUrnRows("8141"), UrnError),
                                         (lambda: NormalizeRows("rfc1630"), UriSyntaxError)])  # fmt: skip
def test_an_invalid_line_fails(make, error):
    names = LineBatch(make(), KEY, errors="raise")
    assert names.read(b"urn:example:a\n", 0).lines == 1
    found = names.read(b"urn:example:a\nurn:ex%zz\nurl:x\n", 0)
    assert (found.invalid, [(fault.line, fault.start) for fault in found.faults]) == (1, [(1, 14)])
    assert names.operation.error is error
    assert names.read(b"urn:example:a\n", 0).lines == 1


def test_after_a_failure_there_are_no_names():
    """The forms of the batch before are not where they were."""
    names = LineBatch(NormalizeUrnRows("8141"), KEY, errors="raise")
    names.read(b"urn:example:a\n", 0)
    assert names.read(b"urn:example:b\n" * 5000 + b"url:x\n", 0).faults[0].line == 5000
    assert len(names) == 0 and names.fingerprints == b""
    table = Table(1 << 20, exact=True)
    table.add(names)
    assert table.count == 0


def test_lines_that_are_only_found_have_no_forms():
    names = LineBatch(RowOperation(), KEY)
    names.read(b"a\nb\n", 0)
    names.find(b"a\nb\nc\n", 0)
    with pytest.raises(ValueError, match="normal forms"):
        Table(1 << 20, exact=True).add(names)


@pytest.mark.slow
@each_row("errors", ["keep", "drop"])
@each_row(
    ("make", "one", "other"),
    [
        (RowOperation, b"aaaaaaaa", b"\n\n\n\n\n\n\n\n"),
        (lambda: NormalizeUrnRows("8141"), b"urn:example:a\n", b"\nu\nu\nu\nu\nu\nu\nu"),
        (lambda: NormalizeUrnRows("namespace"), b"urn:isbn:0\n", b"urn:isbn:\n\n"),
        (lambda: NormalizeRows("iri"), b"http://hhhhhhh/\n", "http://é/éé/\n".encode()),
    ],
)
def test_lines_that_change_meanwhile(make, one, other, errors):
    """Wrong names at worst."""
    assert len(one) == len(other)
    names, data = LineBatch(make(), KEY, errors=errors), bytearray(one * 5000)
    shared = (ctypes.c_char * len(data)).from_buffer(data)
    over = threading.Event()

    def change():
        while not over.is_set():
            for text in other * 5000, one * 5000:
                ctypes.memmove(shared, text, len(data))  # without the interpreter's lock

    thread = threading.Thread(target=change)
    thread.start()
    try:
        stop = time.monotonic() + 0.2
        while time.monotonic() < stop:
            names.read(data, 0)
            Table(1 << 20, exact=True).add(names)
            room = bytearray(names.capacity())
            assert names.write(room) <= len(room)
            assert names.write(room, bytes(8 * names.new)) <= len(room)
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_names_that_threads_share():
    """One of them works on the names, the others are told."""
    names, rejected = LineBatch(NormalizeUrnRows("8141"), KEY), []
    stop = time.monotonic() + 0.4

    def work(size):
        while time.monotonic() < stop:
            try:
                names.read(b"urn:example:abc\n" * size, 0)
                Table(1 << 20, exact=True).add(names)
                names.write(bytearray(size * 16 + 1000))
            except (RuntimeError, ValueError) as error:
                rejected.append(str(error).split(":")[0])

    threads = [threading.Thread(target=work, args=(size,)) for size in (10, 20_000, 50_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(rejected) <= {"another thread is using the identifiers", "dst is too small"}
    assert names.read(b"a\n", 0).lines == 1


def test_a_second_reading():
    names = LineBatch(RowOperation(), KEY)
    names.find(b"a\nb\r\n\nc", 7)
    assert len(names) == 4 and names.marks == bytes(4)
    names.find(b"", 0)
    assert len(names) == 0


def test_the_lines_are_held_until_the_next_batch():
    names = LineBatch(RowOperation(), KEY)
    data = bytearray(b"a\nb\n")
    names.read(data, 0)
    with pytest.raises(BufferError):
        data.append(0)
    names.read(b"", 0)
    data.append(0)


def test_options_that_mean_nothing():
    with pytest.raises(ValueError, match="got 'null'"):
        LineBatch(RowOperation(), KEY, errors="null")
    with pytest.raises(ValueError, match="line terminator must be one control character"):
        LineBatch(RowOperation(), KEY, b"ab")
    names = LineBatch(RowOperation(), KEY)
    names.read(b"abc", 0)
    with pytest.raises(ValueError, match="too small"):
        names.write(bytearray(3))
    with pytest.raises(ValueError, match="too small"):
        names.write(bytearray(3), b"")
    with pytest.raises(ValueError, match=r"expected [0-9]+ counts, got "):
        names.write(bytearray(1000), bytes(8))


def test_lines_that_are_only_found_have_no_fingerprints():
    """A table may be given lines that were only found: they have fingerprints, of which nothing is said."""
    names = LineBatch(RowOperation(), FingerprintKey())
    names.read(b"a\nb\n", 0)
    names.find(b"a\n" * 20_000, 0)
    assert names.fingerprints == bytes(16 * 20_000)
    Table(1 << 20).add(names)
    assert names.new == 1
