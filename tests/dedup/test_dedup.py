"""Deduplication against a dict of normal forms: every level and kind, in memory and spilling, of files and columns."""

import bz2
import ctypes
import functools
import gzip
import io
import itertools
import lzma
import os
import random
import subprocess
import sys
import threading
import types
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import codec as naive
from reference import uri as naive_uri
from reference import uri_forms
from reference import urn as naive_urn
from reference.errors import UriError as Invalid
from support.arrow_memory import Lent, rows_of
from support.marks import long
from support.tables import each_row

from uricodec import bulk, dedup
from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._runs import pack
from uricodec._counting.counter import FEW
from uricodec._counting.partitions import PartitionedTable
from uricodec._identifier import Identifier
from uricodec._io import magic, reading
from uricodec._io.files import FileError
from uricodec._io.reading import MAX_LINE
from uricodec._io.scratch import Scratch
from uricodec._io.sizes import parse_memory
from uricodec._reports import REPORTS
from uricodec._rows._engine import RowOperation
from uricodec.dedup import _memory
from uricodec.dedup._identifiers import ColumnBatch, mask, select
from uricodec.dedup._spellings import Members, Report, texts_of
from uricodec.errors import UriError, UriSyntaxError, UrnError

URN_LEVELS = ["bytes", "2141", "8141", "namespace", "functional"]
URI_LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"]
KINDS = [
    *(("urn", level) for level in [*URN_LEVELS, None]),
    *(("uri", level) for level in [*URI_LEVELS, None]),
    *[("iri", None), ("iri", "percent"), ("bytes", None)],
]
every_kind = each_row(("kind", "level"), KINDS)

TINY = 1  # octets of memory: a table has some hundred names anyway


# --- the reference implementation -------------------------------------------------------------------------------------


@functools.cache
def name_of(octets, kind, level, errors="keep"):
    """The normal form of a name (bytes), and whether it has one; what is rejected stands for itself."""
    if errors != "keep" and kind in {"uri", "iri"} and level != "rfc1630":
        reads_iris = kind == "iri" or level == "iri"
        if naive_uri.check(octets, "IRI-reference" if reads_iris else "URI-reference", reads_iris):
            return octets, False
    try:
        if kind == "bytes":
            return octets, True
        if kind == "urn":
            return naive_urn.normalize(octets, level or "8141"), True
        return uri_forms.normalize(octets, level or ("path" if kind == "uri" else "iri")), True
    except Invalid:
        return octets, False


def lines_of(data, line_terminator=b"\n"):
    """Pairs of a line as it is written and its name, as it is spelled."""
    return [(name + (tail or line_terminator), name) for name, tail in naive.lines_of(data, line_terminator)]


class Reference:
    """What comes of inputs (bytes)."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        inputs,
        kind="urn",
        level=None,
        exclude=(),
        errors="keep",
        line_terminator=b"\n",
        max_line=MAX_LINE,
    ):
        self.counts, self.first, self.rows, self.invalid, self.dropped = Counter(), {}, 0, 0, 0
        known = [
            name
            for data in exclude
            for line, name in lines_of(data.removeprefix(b"\xef\xbb\xbf"), line_terminator)
            if len(line) <= max_line + len(line_terminator)
        ]
        before = {name_of(name, kind, level, errors) for name in known}
        before = {name for name, valid in before if valid or errors == "keep"}
        for data in inputs:
            for line, spelled in lines_of(data.removeprefix(b"\xef\xbb\xbf"), line_terminator):
                name, valid = name_of(spelled, kind, level, errors)
                if len(line) > max_line + len(line_terminator):
                    name, valid = (self.rows, "is not compared"), False
                self.rows += 1
                self.invalid += not valid
                if not valid and errors == "drop":
                    continue
                self.counts[name] += 1
                if name not in before:
                    self.first.setdefault(name, line)

    def output(self, report="unique"):
        if report == "counts":
            return b"".join(b"%d\t%s" % (self.counts[name], line) for name, line in self.first.items())
        least = 2 if report == "repeated" else 1
        return b"".join(line for name, line in self.first.items() if self.counts[name] >= least)

    def top(self, top):
        """The most frequent names that were compared, with counts."""
        names = [name for name in self.first if name[1:] != ("is not compared",)]
        names.sort(key=lambda name: -self.counts[name])
        return b"".join(b"%d\t%s" % (self.counts[name], self.first[name]) for name in names[:top])


def check(folder, inputs, kind="urn", level=None, exclude=(), report="unique", **how):  # noqa: PLR0913, PLR0917
    """Deduplicate inputs (bytes) in files, and compare."""
    paths = {"in": [], "exclude": []}
    for role, datas in (("in", inputs), ("exclude", exclude)):
        for i, data in enumerate(datas):
            paths[role].append(folder / f"{role}{i}")
            paths[role][-1].write_bytes(data)
    done = dedup.dedup_files(
        paths["in"], folder / "out", kind=kind, level=level, exclude=paths["exclude"], report=report, **how
    )
    names = "errors", "line_terminator", "max_line"
    reference = Reference(inputs, kind, level, exclude, **{name: how[name] for name in names if name in how})
    output = (folder / "out").read_bytes()
    assert output == reference.output(report)
    assert (done.rows, done.unique, done.invalid) == (reference.rows, len(reference.first), reference.invalid)
    assert done.written == len(lines_of(output, how.get("line_terminator", b"\n")))
    left = sum(reference.counts.values()) - len(reference.first)
    assert done.duplicates == left
    if report == "counts":
        top = 2 if how.get("exact") else FEW + 1
        how |= {"kind": kind, "level": level, "exclude": paths["exclude"], "report": report}
        again = dedup.dedup_files(paths["in"], folder / "out", top=top, **how)
        output = (folder / "out").read_bytes()
        assert output == reference.top(top)
        assert again.written == len(lines_of(output, how.get("line_terminator", b"\n")))
        assert (again.rows, again.unique, again.invalid) == (done.rows, done.unique, done.invalid)
    return done


# --- the most frequent ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row(("memory", "threads"), [(1, 1), (100_000, 2), (None, 2)])
def test_the_most_frequent(tmp_path, memory, threads):
    data = b"".join(b"%d\n" % (i * i * 7919 % 5000 * (i % 7) // 7) for i in range(20_000)) + b"\xff\0\n\n" * 99
    (tmp_path / "in").write_bytes(data)
    wanted, how = Reference([data], "bytes"), {"memory": memory, "threads": threads}
    for top, exact in (1, False), (FEW, True), (FEW + 1, False), (10**9, True):
        done = dedup.dedup_files(
            tmp_path / "in", tmp_path / "out", kind="bytes", report="counts", top=top, exact=exact, **how
        )
        assert (tmp_path / "out").read_bytes() == wanted.top(top)
        assert bool(done.spilled) == (memory is not None)
        assert (done.unique, done.written) == (len(wanted.first), min(top, len(wanted.first)))


def test_lines_that_are_too_long_are_not_among_the_most_frequent(tmp_path):
    done = check(tmp_path, [b"a\n" + b"long" * 9 + b"\nb\nb\n" + b"long" * 9], "bytes", report="counts", max_line=9)
    assert (done.unique, (tmp_path / "out").read_bytes()) == (4, b"2\tb\n1\ta\n")


def test_top_needs_counts(tmp_path):
    for report in "unique", "repeated":
        with pytest.raises(ValueError, match=rf"^top is only supported with report='counts', got report='{report}'$"):
            dedup.dedup_files("no-such", tmp_path / "out", kind="urn", report=report, top=1)
    for top in 0, -1:
        with pytest.raises(ValueError, match=rf"^top must be at least 1, got {top}$"):
            dedup.dedup_files("no-such", tmp_path / "out", kind="urn", report="counts", top=top)


# --- what is deduplicated ---------------------------------------------------------------------------------------------

URNS = [
    "urn:isbn:%d", "URN:ISBN:%d", "urn:ISBN:%d", "urn:x:%d", "URN:x:%d", "urn:example:a%%2f%d", "urn:example:a%%2F%d",
]  # fmt: skip
URNS += [
    "urn:example:%d#f", "urn:example:%d?+r", "urn:example:%d?=q", "urn:isbn:0-395-36341-%d", "urn:lex:A%d", "urn:%d",
]  # fmt: skip
URIS = ["http://a/%d", "HTTP://A/%d", "http://a:80/%d", "http://a/./b/../%d", "http://a/%%7e%d", "http://a/~%d", "é/%d"]
URIS += ["http://a/%%C3%%A9%d", "http://a/é%d", "http://bücher.example/%d", "mailto:a@B%d", "100%%%d", "//a//%d", "%d"]
URIS += ["http://[0:0::%d]/", "http://[::%d]", "data:a/../%d", "data:%d"]
HOSTILE = [
    b"", b"\0", b"\0\0", b"\xff\xfe", b"a\0b", b"\xc3", b"\xed\xa0\x80", b"%", b"urn:", b"urn:a:\0", b"\r", b"\r\r",
    b"\t",
]  # fmt: skip


def corpus(kind, rows, names, seed=1, line_terminator=b"\n"):
    """Lines in many spellings, some of them hostile, some ended by CR LF."""
    choice = random.Random(seed)
    forms = [form.encode() for form in (URNS if kind == "urn" else URIS)]
    lines = []
    for _ in range(rows):
        line = choice.choice(HOSTILE) if choice.random() < 0.02 else choice.choice(forms) % choice.randrange(names)
        lines.append(line + (b"\r" if choice.random() < 0.1 else b"") + line_terminator)
    return b"".join(lines)


def pieces(data, n):
    """The same in n inputs, the last lines of which lack their ends."""
    lines = data.splitlines(keepends=True)
    step = len(lines) // n + 1
    return [b"".join(lines[i : i + step]).removesuffix(b"\n").removesuffix(b"\r") for i in range(0, len(lines), step)]


@pytest.mark.slow
@every_kind
@each_row("memory", [None, TINY])
def test_files_agree_with_the_reference(tmp_path, kind, level, memory):
    inputs = pieces(corpus(kind, 2000, 600), 3)
    for report in ["unique", "repeated"] if memory else ["counts"]:
        done = check(tmp_path, inputs, kind, level, report=report, memory=memory)
        assert bool(done.spilled) == (memory is not None)


@pytest.mark.slow
@every_kind
def test_files_exactly_and_in_threads(tmp_path, kind, level):
    inputs = pieces(corpus(kind, 1500, 600, 2), 2)
    for report, exact, threads, memory in (
        ("unique", True, 3, None),
        ("counts", True, 1, None),
        ("unique", False, 3, TINY),
        ("counts", True, 2, TINY),
    ):
        check(tmp_path, inputs, kind, level, report=report, exact=exact, threads=threads, memory=memory)


@pytest.mark.slow
@each_row(("kind", "level"), [("urn", None), ("uri", "scheme"), ("bytes", None)])
@each_row(("memory", "errors"), [(None, "drop"), (TINY, "keep")])
def test_against(tmp_path, kind, level, memory, errors):
    """Their names are not written, whether the table gets full with them or later."""
    for size in 300, 6000:
        exclude = [corpus(kind, size, 500, 3), b"", corpus(kind, size, 200, 4)]
        for report in REPORTS:
            inputs = pieces(corpus(kind, 2000, 900, 5), 2)
            reference = Reference(inputs, kind, level, exclude, errors)
            if report == "unique":
                check(tmp_path, inputs, kind, level, exclude, report, memory=memory, errors=errors)
                continue
            # Counts are those of all inputs, but here names of `exclude` are not written.
            (tmp_path / "a").write_bytes(b"".join(exclude))
            (tmp_path / "b").write_bytes(b"\n".join(inputs))
            how = {"kind": kind, "level": level, "memory": memory, "errors": errors, "report": report}
            dedup.dedup_files(tmp_path / "b", tmp_path / "o", exclude=[tmp_path / "a"], **how)
            assert (tmp_path / "o").read_bytes() == reference.output(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "exact", "report"),
    [("bytes", True, "counts"), *long(("urn", False, "unique"), ("urn", True, "counts"), ("bytes", False, "unique"))],
)
def test_partitions_of_partitions(tmp_path, kind, exact, report):
    data = b"".join(b"urn:example:%d\nURN:example:%d\n" % (i * i % 99_991, i) for i in range(40_000))
    done = check(tmp_path, [data], kind, report=report, memory=TINY, exact=exact)
    assert done.spilled > 80_000 * 20


def test_the_default_key_is_random_and_another_one_does_not_matter(tmp_path):
    data = corpus("urn", 3000, 500)
    for key in None, "a key", b"another", FingerprintKey("of my own"):
        check(tmp_path, [data], secret=key, memory=TINY)
        check(tmp_path, [data], secret=key, exact=True)
    with pytest.raises(ValueError, match="empty"):
        check(tmp_path, [data], secret="")


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "threads"), [(None, 2), (TINY, 1)])
def test_long_lines(tmp_path, monkeypatch, memory, threads):
    """Up to some times the buffer, in any order."""
    monkeypatch.setattr(reading, "CHUNK", 4096)
    choice = random.Random(6)
    sizes = [
        0,
        1,
        20,
        reading.CHUNK - 1,
        reading.CHUNK,
        reading.CHUNK + 1,
        2 * reading.CHUNK,
        2 * reading.CHUNK + 1,
        6 * reading.CHUNK,
    ]
    lines = [b"URN:example:" + b"a" * size for size in sizes] + [b"urn:example:" + b"a" * size for size in sizes]
    lines += [b"urn:example:%d" % i for i in range(2000)] * 2
    choice.shuffle(lines)
    data = b"\n".join(lines)
    for report in ["counts"] if memory else ["unique"]:
        check(tmp_path, [data, b"", data[::-1]], report=report, memory=memory, threads=threads)
        check(tmp_path, [data, data + b"\r\n"], "uri", report=report, memory=memory, threads=threads, exact=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "threads", "errors"), [(None, 1, "keep"), (TINY, 2, "drop"), *long((None, 2, "drop"), (TINY, 1, "keep"))]
)
def test_lines_that_are_too_long(tmp_path, monkeypatch, memory, threads, errors):
    """They are in no batch: kept in their place and never the same as others, or left out."""
    choice = random.Random(7)
    lines = [b"urn:example:%d" % i for i in range(1500)] * 2 + [b"x" * size for size in range(2, 3000, 97)] * 2
    choice.shuffle(lines)
    data = b"\n".join([*lines, b"last" * 600])
    for chunk, max_line in (reading.CHUNK, 1000), (256, 100):
        monkeypatch.setattr(reading, "CHUNK", chunk)
        how = {"memory": memory, "threads": threads, "errors": errors, "max_line": max_line}
        for report in REPORTS if chunk == 256 else ["counts"]:
            check(tmp_path, [data, b"", data[::-1]], report=report, **how)
            check(tmp_path, [data[::-1], data], "bytes", exclude=[data[: len(data) // 3]], report=report, **how)
        done = check(tmp_path, [data], merged=True, groups=tmp_path / "groups", **how)
        assert sum(done.merged.values()) == done.duplicates and b"xxx" * 1000 not in (tmp_path / "groups").read_bytes()
    assert dedup.estimate_files(tmp_path / "in0", kind="urn", max_line=500) == pytest.approx(1500 + 5 + 50, rel=0.05)


def test_lines_that_are_too_long_from_a_pipe_and_compressed(tmp_path):
    long = b"long" * 30
    data = long + b"\n" + b"".join(b"urn:x:%d\n" % i for i in range(5000)) * 2 + b"%b\r\nurn:x:1\n%b" % (long, long)
    (tmp_path / "in.gz").write_bytes(gzip.compress(data))
    os.mkfifo(tmp_path / "pipe")
    for report in "unique", "counts":
        expected = Reference([data], "bytes", max_line=100).output(report)
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
        writer.start()
        for name in "pipe", "in.gz":
            how = {"report": report, "max_line": 100, "memory": TINY}
            done = dedup.dedup_files(tmp_path / name, tmp_path / "out", kind="bytes", **how)
            assert (tmp_path / "out").read_bytes() == expected
            assert (done.rows, done.unique, done.invalid) == (10_004, 5003, 3)
        writer.join()


@pytest.mark.parametrize("line_terminator", [b"", b"\n", b"\r\n", b"\nb"])
def test_how_long_a_line_may_be(tmp_path, line_terminator):
    for size in 99, 100, 101, 102, 300:
        check(tmp_path, [b"c\n" + b"a" * size + line_terminator], max_line=100)
        told = []
        how = {"kind": "bytes", "max_line": 100, "on_invalid": lambda *line, told=told: told.append(line[1:])}
        dedup.dedup_files(tmp_path / "in0", os.devnull, **how)
        long = size + line_terminator.startswith(b"\r") > 100
        assert told == ([(2, 100, "too-long", b"a" * 100 + b"...")] if long else [])
        if long:
            with pytest.raises(UriSyntaxError, match=r"in0:2:101 \(byte 102\): .* 100 bytes \(max_line\)"):
                check(tmp_path, [b"c\n" + b"a" * size + line_terminator], "bytes", errors="raise", max_line=100)
    assert not any(each.name.startswith(".") for each in tmp_path.iterdir())
    for max_line in 0, -1:
        with pytest.raises(ValueError, match=f"max_line must be at least 1, got {max_line}"):
            check(tmp_path, [], max_line=max_line)


@pytest.mark.slow
@each_row("data", [b"", b"\n", b"\n\n", b"\r\n\n", b"a", b"a\r", b"a\r\na", b"\0", b"a\n\na\n\n", b"a\rb\r\n\r\r\n"])
@each_row("line_terminator", [b"\n", b"\0"])
def test_ends_of_lines(tmp_path, data, line_terminator):
    for report in REPORTS:
        check(tmp_path, [data, data], report=report, line_terminator=line_terminator)
        check(tmp_path, [data.replace(b"\n", line_terminator)], "bytes", report=report, line_terminator=line_terminator)


HOSTILE_LINES = st.lists(
    st.one_of(
        st.sampled_from(HOSTILE),
        st.binary(max_size=8).filter(lambda octets: b"\n" not in octets),
        st.builds(lambda form, i: (form % i).encode(), st.sampled_from(URNS + URIS), st.integers(0, 3)),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(st.lists(HOSTILE_LINES, max_size=3), st.lists(HOSTILE_LINES, max_size=1), st.sampled_from(KINDS), st.booleans())
@settings(max_examples=60)
def test_any_lines(tmp_path_factory, inputs, exclude, kind, exact):
    folder = tmp_path_factory.mktemp("any")
    inputs, exclude = ([b"\n".join(lines) for lines in each] for each in (inputs, exclude))
    assume(not any(map(magic.format_of, inputs + exclude)))
    check(folder, inputs or [b""], *kind, exclude=exclude, exact=exact)


# --- rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_kind
@each_row("memory", [None, TINY])
def test_rules(tmp_path, kind, level, memory):
    """Each level merges as many lines as are lost from one level to the next, read by one specification."""
    data = corpus(kind, 1000, 400, 7)
    for exclude in [], [corpus(kind, 300, 100, 8)]:
        done = check(tmp_path, [data], kind, level, exclude, merged=True, memory=memory)
        rules = dedup.rules_of(kind, level)
        assert tuple(done.merged) == rules
        assert sum(done.merged.values()) == done.duplicates
        assert min(done.merged.values()) >= 0
        if kind != "urn":  # the levels of which read one text by several specifications
            before = 0
            for rule in rules:
                reference = Reference([data], kind, rule if kind != "bytes" else None, exclude)
                lost = reference.rows - len(reference.first)
                assert done.merged[rule] == lost - before
                before = lost


@pytest.mark.parametrize("kind", ["urn", "uri", "iri"])
def test_invalid_lines_stand_for_themselves(kind):
    """In the forms that levels of groups are found by, too."""
    key = FingerprintKey()
    for last in dedup.rules_of(kind):
        for level in dedup.rules_of(kind, last):
            batch = ColumnBatch(Identifier(kind, last).at(level).rows(), key)
            batch.hold([*HOSTILE, b"%zz"])
            assert batch.read(0) == len(HOSTILE) + 1
            forms = [*(form_of(line, kind, level, last) for line in HOSTILE), b"%zz"]
            assert batch.fingerprints == b"".join(map(key.fingerprint, forms))


@pytest.mark.parametrize("damaged", [b"x", bytes(24), pack([bytes(30)]), pack([b"x" * 60])])
def test_damaged_records_of_groups(damaged):
    readers = [texts_of, lambda block: Members(None).join(block, [])]
    for read in [*readers, *[Report([], None, False).write] * (len(damaged) < 60)]:
        with pytest.raises(ValueError, match=r"^damaged block: a record is incomplete$"):
            read(damaged)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["urn", "uri", "iri"])
def test_levels_are_nested(kind):
    """What is the same by a rule is the same by all that follow: normal forms of normal forms."""
    choice = random.Random(9)
    lines = list({name for _, name in lines_of(corpus(kind, 2000, 30, choice.random()))})
    lasts = URN_LEVELS if kind == "urn" else URI_LEVELS[:7]
    for last in lasts:
        rules = dedup.rules_of(kind, last)
        for finer, coarser in itertools.pairwise(rules):
            for line in lines:
                form = form_of(line, kind, finer, last)
                assert form_of(form, kind, coarser, last) == form_of(line, kind, coarser, last), (line, finer, coarser)


@functools.cache
def form_of(octets, kind, level, last):
    try:
        if kind == "urn":
            return naive_urn.normalize(octets, level, "2141" if last == "2141" else "8141")
        return uri_forms.normalize(octets, level)
    except Invalid:
        return octets


KEY = FingerprintKey("of these tests")


def test_rules_there_are():
    assert dedup.rules_of("bytes") == ("bytes",)
    assert dedup.rules_of("urn", "functional") == tuple(URN_LEVELS)
    assert dedup.rules_of("iri") == tuple(URI_LEVELS[:6])
    assert dedup.rules_of("uri", "rfc2396") == ("simple", "case", "percent", "rfc2396")
    assert dedup.rules_of("uri", "rfc1630") == ("rfc1630",)
    for kind, level in ("url", None), ("bytes", "simple"), ("urn", "path"), ("uri", "8141"):
        with pytest.raises(ValueError):
            dedup.rules_of(kind, level)


# --- inputs -----------------------------------------------------------------------------------------------------------

DATA = corpus("urn", 12_000, 900, 10)
PACKERS = [gzip.compress, bz2.compress, lzma.compress]


@pytest.mark.slow
@each_row("pack", PACKERS)
@each_row(("memory", "report"), [(None, "unique"), (TINY, "counts")])
def test_compressed_inputs(tmp_path, pack, memory, report):
    paths = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for path, data in zip(paths, [pack(DATA), DATA[::-1], pack(DATA[:5000])], strict=True):
        path.write_bytes(data)
    done = dedup.dedup_files(paths, tmp_path / "out", kind="urn", memory=memory, report=report, merged=True)
    reference = Reference([DATA, DATA[::-1], DATA[:5000]])
    assert (tmp_path / "out").read_bytes() == reference.output(report)
    assert sum(done.merged.values()) == done.duplicates


@pytest.mark.parametrize("threads", [1, 2])
def test_truncated_inputs(tmp_path, threads):
    whole = gzip.compress(DATA)
    (tmp_path / "in.gz").write_bytes(whole[:-20])
    with pytest.raises(FileError, match=r"in.gz: truncated gzip data \(after [0-9]{5,} bytes\)$"):
        dedup.dedup_files(tmp_path / "in.gz", tmp_path / "out", kind="urn", threads=threads)
    assert [each.name for each in tmp_path.iterdir()] == ["in.gz"]


class NotAFile(io.BytesIO):
    """Standard input that is a pipe, for what asks."""

    def fileno(self):
        raise io.UnsupportedOperation("fileno")


@pytest.mark.slow
@each_row(("memory", "report", "rules"), [(None, "unique", True), (TINY, "counts", False)])
@each_row("pack", [bytes, gzip.compress])
def test_standard_input(tmp_path, monkeypatch, memory, report, pack, rules):  # noqa: PLR0913, PLR0917
    """A pipe cannot be read again; nor is what looks compressed in it decompressed twice."""
    data = gzip.compress(b"") + b"\n" + DATA
    (tmp_path / "a").write_bytes(DATA[:30_000])
    for begins in True, False:
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=NotAFile(pack(DATA if pack is bytes else data))))
        names = [None, tmp_path / "a"] if begins else [tmp_path / "a", None]
        dedup.dedup_files(names, tmp_path / "out", kind="urn", memory=memory, report=report, merged=rules)
        read = {None: DATA if pack is bytes else data, tmp_path / "a": DATA[:30_000]}
        assert (tmp_path / "out").read_bytes() == Reference([read[name] for name in names]).output(report)
    with pytest.raises(ValueError, match="standard input"):
        dedup.dedup_files([None, None], tmp_path / "out", kind="urn")


def test_a_dash_is_a_file(tmp_path, monkeypatch):
    """In Python; standard input is None."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=None))
    (tmp_path / "-").write_bytes(b"urn:ab:c\nURN:ab:c\n")
    assert dedup.dedup_files("-", "out", kind="urn", groups="groups").unique == 1
    assert dedup.dedup_files(["out"], "new", kind="urn", exclude=["-"]).written == 0
    assert dedup.dedup_files(["out"], "new", kind="urn", only_in=["-"]).written == 1
    assert dedup.estimate_files("-", kind="urn") == 1
    assert dedup.dedup_files("out", "-", kind="urn", groups="-").written == 1
    assert (tmp_path / "-").stat().st_size and not list(tmp_path.glob("<*"))


@pytest.mark.slow
@each_row(("memory", "report"), [(None, "unique"), (TINY, "counts")])
@each_row("pack", [bytes, gzip.compress])
def test_standard_input_that_is_a_file(tmp_path, memory, pack, report):
    """It is read again from where it was."""
    (tmp_path / "in").write_bytes(b"urn:first:line\n" + pack(DATA))
    code = (
        "import os, sys; from uricodec import dedup; os.lseek(0, 15, 0)\n"
        f"dedup.dedup_files([None], {str(tmp_path / 'out')!r}, kind='urn', memory={memory}, report={report!r},"
        "threads=1)"
    )
    with (tmp_path / "in").open("rb") as file:
        subprocess.run([sys.executable, "-c", code], stdin=file, check=True)
    assert (tmp_path / "out").read_bytes() == Reference([DATA]).output(report)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"cat '{tmp_path}/in' > '{tmp_path}/pipe'"])
    (tmp_path / "in").write_bytes(DATA)
    dedup.dedup_files(tmp_path / "pipe", tmp_path / "out", kind="urn", memory=TINY)
    assert writer.wait() == 0
    assert (tmp_path / "out").read_bytes() == Reference([DATA]).output()


def test_the_output_may_be_an_input(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    for _ in range(2):
        dedup.dedup_files(tmp_path / "a", tmp_path / "a", kind="urn", memory=TINY)
        assert (tmp_path / "a").read_bytes() == Reference([DATA]).output()


@pytest.mark.parametrize("report", ["unique", "counts"])
@pytest.mark.parametrize("change", ["longer", "shorter", "other", "gone"])
def test_an_input_that_changes(tmp_path, report, change):
    source = tmp_path / "in"
    source.write_bytes(DATA)
    (tmp_path / "out").write_bytes(b"as it was")

    def meddle(progress):
        if progress.phase == "partitions":
            data = {"longer": DATA + b"a\n", "shorter": DATA[:-1], "other": DATA[::-1]}.get(change)
            if data is None:
                source.unlink(missing_ok=True)
            else:
                source.write_bytes(data)
                os.utime(source, ns=(1, 1))

    message = "No such file" if change == "gone" else "in: file was changed while it was read"
    with pytest.raises(FileError, match=message):
        dedup.dedup_files(source, tmp_path / "out", kind="urn", memory=TINY, report=report, on_progress=meddle)
    assert (tmp_path / "out").read_bytes() == b"as it was"


# --- failures ---------------------------------------------------------------------------------------------------------


def test_lines_that_fail(tmp_path):
    (tmp_path / "a").write_bytes(b"urn:isbn:1\n" * 30_000)
    (tmp_path / "b").write_bytes(b"urn:isbn:1\r\n" * 29_999 + b"urn:isbn:\r\nurl:x\n")
    for threads in 1, 2:
        with pytest.raises(UrnError, match=r"b:30000:10 \(byte 359997\): ") as caught:
            dedup.dedup_files(
                [tmp_path / "a", tmp_path / "b"], tmp_path / "out", kind="urn", errors="raise", threads=threads
            )
        assert (caught.value.input, caught.value.offset) == (b"urn:isbn:", 9)
    (tmp_path / "b").write_bytes(b"http://a/%zz")
    with pytest.raises(UriSyntaxError, match="b:1:10 "):
        dedup.dedup_files(tmp_path / "b", tmp_path / "out", kind="uri", level="rfc1630", errors="raise")
    assert not (tmp_path / "out").exists()


@each_row(
    "how",
    [
        *({"kind": "url"}, {"level": "path"}, {"kind": "bytes", "level": "x"}, {"report": "all"}, {"errors": "null"}),
        *(
            {"memory": 0},
            {"memory": "-1M"},
            {"memory": "much"},
            {"memory": "1e999"},
            {"memory": "nan"},
            {"threads": -1},
        ),
        *({"line_terminator": b"ab"}, {"line_terminator": b"a"}, {"line_terminator": b""}),
    ],
)
def test_wrong_options_are_rejected(tmp_path, how):
    (tmp_path / "in").write_bytes(b"a\n")
    with pytest.raises(ValueError):
        dedup.dedup_files(tmp_path / "in", tmp_path / "out", **{"kind": "urn", **how})
    assert not (tmp_path / "out").exists()
    if how.keys() <= {"kind", "level", "errors", "line_terminator", "threads"}:
        with pytest.raises(ValueError):
            dedup.estimate_files(tmp_path / "in", **{"kind": "urn", **how})


def test_files_that_fail(tmp_path):
    (tmp_path / "in").write_bytes(b"a\n")
    with pytest.raises(FileError, match="none: No such file"):
        dedup.dedup_files([tmp_path / "in", tmp_path / "none"], tmp_path / "out", kind="urn")
    for folder in tmp_path / "none", tmp_path / "in", "/dev/null/x":
        with pytest.raises(FileError) as caught:
            dedup.dedup_files(tmp_path / "none", tmp_path / "out", kind="urn", spill_dir=folder)
        assert str(folder) in str(caught.value)
    with pytest.raises(FileError):
        dedup.Deduplicator("urn", spill_dir=tmp_path / "none")
    assert os.listdir(tmp_path) == ["in"]


def test_a_full_disk(tmp_path, monkeypatch):
    """The message names the folder; nothing is left, and nothing is lost."""
    (tmp_path / "in").write_bytes(DATA)
    (tmp_path / "out").write_bytes(b"as it was")

    class Full:
        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def write(self, octets):
            raise OSError(28, "No space left on device")

    whole = Scratch.file
    monkeypatch.setattr(Scratch, "file", lambda self: Full(whole(self)))
    for report in "unique", "counts":
        with pytest.raises(FileError, match="No space left on device") as caught:
            dedup.dedup_files(
                tmp_path / "in", tmp_path / "out", kind="urn", spill_dir=tmp_path, memory=TINY, report=report
            )
        assert caught.value.filename == str(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["in", "out"]
    assert (tmp_path / "out").read_bytes() == b"as it was"


def test_nothing_is_left(tmp_path):
    """Temporary files have no names where the system allows it."""
    spills = tmp_path / "spills"
    spills.mkdir()
    (tmp_path / "in").write_bytes(DATA)
    seen = []
    dedup.dedup_files(
        tmp_path / "in",
        tmp_path / "out",
        kind="urn",
        memory=TINY,
        spill_dir=spills,
        on_progress=lambda progress: seen.append((progress.phase, os.listdir(spills))),
    )
    assert {phase for phase, _ in seen} == {"read", "partitions", "write"}
    assert os.name == "nt" or not any(left for _, left in seen)
    assert os.listdir(spills) == []


def test_progress(tmp_path):
    (tmp_path / "in").write_bytes(DATA)
    seen = []
    dedup.dedup_files(tmp_path / "in", tmp_path / "out", kind="urn", memory=TINY, merged=True, on_progress=seen.append)
    assert [phase for phase, _ in itertools.groupby(each.phase for each in seen)][:3] == ["read", "partitions", "write"]
    assert all(0 <= each.bytes_read <= each.total == len(DATA) or each.phase == "partitions" for each in seen)
    with pytest.raises(ZeroDivisionError):
        dedup.dedup_files(tmp_path / "in", tmp_path / "out", kind="urn", on_progress=lambda _: 1 / 0)


@each_row(
    ("memory", "size"),
    [
        ("64M", 1 << 26),
        ("1g", 1 << 30),
        ("1.5K", 1536),
        ("2 GiB", 1 << 31),
        ("0.001t", (1 << 40) // 1000),
        (7, 7),
        ("7", 7),
        ("3MB", 3 << 20),
    ],
)
def test_memory(memory, size):
    assert parse_memory(memory) == size
    assert 1 << 20 < parse_memory("1%") <= parse_memory(None) == parse_memory("50%") <= 1 << 50


def test_names_that_only_rfc_2141_accepts():
    """Are the same at its level, and no URNs at those above it: not even as a rule on the way there."""
    names = ["urn:x:1", "URN:X:1"]
    assert dedup.unique(names, "urn", "2141") == names[:1]
    for level in "8141", "namespace", "functional":
        assert dedup.unique(names, "urn", level) == names


@each_row("memory", [2 * sys.maxsize + 2, "99999999999999T", 10**400, float("inf"), float("nan"), -1])
def test_memory_that_no_machine_has(tmp_path, memory):
    for give in (
        lambda: dedup.Deduplicator("urn", memory=memory),
        lambda: dedup.unique(["a"], "urn", memory=memory),
        lambda: dedup.dedup_files(os.devnull, tmp_path / "out", kind="urn", memory=memory),
    ):
        with pytest.raises(ValueError, match=r"^expected a size in bytes "):
            give()
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("report", ["unique", "counts"])
@pytest.mark.process
def test_all_memory_that_has_an_address(tmp_path, report):
    check(tmp_path, [DATA], report=report, memory=2 * sys.maxsize + 1)
    dedup.dedup_files(
        tmp_path / "in0", tmp_path / "out", kind="urn", groups=tmp_path / "groups", memory=2 * sys.maxsize + 1
    )


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_estimates(tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "b").write_bytes(b"".join(b"URN:example:%d\nurn:example:%d\n" % (i, i) for i in range(20_000)))
    for threads in 1, 2:
        for kind in "urn", "bytes":
            want = len(Reference([DATA, (tmp_path / "b").read_bytes()], kind).first)
            got = dedup.estimate_files(
                [tmp_path / "a", tmp_path / "b"], kind=kind, threads=threads, secret="of this test"
            )
            assert abs(got - want) < 0.04 * want
    (tmp_path / "a").write_bytes(b"")
    assert dedup.estimate_files(tmp_path / "a", kind="urn") == 0


# --- columns ----------------------------------------------------------------------------------------------------------


def firsts(rows, kind, level, errors="keep"):
    """For each row whether it is the first of its name; and how many names there are."""
    seen, found = set(), []
    for row in rows:
        octets = row.encode("utf-8", "surrogatepass") if isinstance(row, str) else row
        name, valid = (None, True) if row is None else name_of(bytes(octets), kind, level)
        new = name not in seen and (valid or errors == "keep")
        found.append(new)
        if new:
            seen.add(name)
    return found, len(seen - {None})


def rows_for(kind, rows=3000, names=400, seed=11):
    choice = random.Random(seed)
    found = []
    for _, name in lines_of(corpus(kind, rows, names, seed)):
        try:
            text = name.decode()
        except UnicodeDecodeError:
            text = name
        found.append(None if choice.random() < 0.02 else name if choice.random() < 0.3 else text)
    return found


@pytest.mark.slow
@every_kind
@each_row(("memory", "exact"), [(None, False), (TINY, True)])
def test_lists(kind, level, memory, exact):
    rows = [*rows_for(kind), "\ud800", "a\udfff", "\ud800", bytearray(b"a"), memoryview(b"a")]
    want, count = firsts(rows, kind, level)
    with dedup.Deduplicator(kind, level, memory=memory, exact=exact) as deduplicator:
        got = []
        for start in range(0, len(rows), 1000):
            got += deduplicator.add(rows[start : start + 1000])
        assert memory is None or None in got
        assert abs(deduplicator.estimate - count) < 0.05 * count
        assert all(one is two for one, two in zip(got, want, strict=True) if one is not None)
        for row in deduplicator.finish():
            assert got[row] is None
            got[row] = True
        assert [bool(each) for each in got] == want
        assert (deduplicator.count, deduplicator.rows) == (count, len(rows))
    assert deduplicator.count == count
    kept = [row for row, new in zip(rows, want, strict=True) if new]
    same = dedup.unique(rows, kind, level, memory=memory, exact=exact)
    assert all(one is two for one, two in zip(same, kept, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("memory", [None, TINY])
@pytest.mark.parametrize("kind", ["urn", "uri", "bytes"])
def test_lines_in_buffers(monkeypatch, kind, memory):
    data = corpus(kind, 5000, 800, 12) + b"x" * 5000 + b"\nurn:a:b"
    reference = Reference([data], kind)
    for piece in 1 << 20, 1000:
        monkeypatch.setattr(_memory, "PIECE", piece)
        for buffer in data, bytearray(data), memoryview(data):
            assert dedup.unique(buffer, kind, memory=memory) == reference.output()
        with dedup.Deduplicator(kind, memory=memory) as deduplicator:
            got = deduplicator.add(data)
            assert len(got) == reference.rows == deduplicator.rows
            assert sum(map(bool, got)) + len(deduplicator.finish()) == len(reference.first) == deduplicator.count
            assert deduplicator.invalid == reference.invalid
    assert dedup.unique(b"", "urn") == b""


def test_rows_that_are_rejected():
    rows = ["urn:isbn:1", "urn:", b"urn:", "\ud800", None, "URN:isbn:1", "urn:"]
    with dedup.Deduplicator("urn") as deduplicator:
        assert deduplicator.add(rows) == [True, True, False, True, True, False, False]
        assert (deduplicator.invalid, deduplicator.count) == (4, 3)
    with dedup.Deduplicator("urn", errors="drop") as deduplicator:
        assert deduplicator.add(rows) == [True, False, False, False, True, False, False]
        assert (deduplicator.invalid, deduplicator.count) == (4, 1)
    assert dedup.unique(rows, "urn", errors="drop") == ["urn:isbn:1", None]
    with pytest.raises(UrnError, match="row 1: ") as caught:
        dedup.unique(rows, "urn", errors="raise")
    assert (caught.value.input, caught.value.offset) == ("urn:", 4)
    with pytest.raises(UrnError, match="row 1: lone surrogate") as caught:
        dedup.unique(["urn:a1:b", "urn:a1:\udfff"], "urn", errors="raise")
    assert caught.value.offset == 7
    with pytest.raises(UrnError) as caught:
        dedup.unique(["é:"], "urn", errors="raise")
    assert caught.value.offset == 0
    for column in [1], [["a"]], 5, None, "text", object():
        with pytest.raises(TypeError):
            dedup.unique(column, "urn")
    with pytest.raises(ValueError, match="errors"):
        dedup.Deduplicator("urn", errors="null")


def test_finish_gives_rows_in_their_order():
    """Whatever partitions they were in."""
    rows = [b"%d" % (i // 2) for i in range(20_000)]
    with dedup.Deduplicator("bytes", memory=1 << 16) as deduplicator:
        answers = deduplicator.add(rows)
        later = deduplicator.finish()
    assert len(later) > 1000 and later == [i for i, answer in enumerate(answers) if answer is None and i % 2 == 0]


def test_nothing_is_added_after_the_end():
    deduplicator = dedup.Deduplicator("urn")
    deduplicator.add(["urn:a1:b"])
    assert deduplicator.finish() == deduplicator.finish() == []
    assert deduplicator.count == 1
    with pytest.raises(ValueError, match="cannot add to a finished Deduplicator"):
        deduplicator.add(["urn:a1:b"])
    for _ in range(2):
        deduplicator.close()
        for column in ["urn:a1:b"], b"urn:a1:b":
            with pytest.raises(ValueError, match="cannot add to a closed Deduplicator"):
                deduplicator.add(column)
    assert deduplicator.finish() == [] and deduplicator.count == 1


def test_memory_in_pieces():
    lines = memoryview(b"a\n" * 8).cast("B", (4, 4))
    assert dedup.unique(lines, "urn") == b"a\n"
    for column in lines[::2], memoryview(b"a\nb\n")[::-1]:
        for give in lambda lines: dedup.unique(lines, "urn"), dedup.Deduplicator("urn").add, bulk.quote:
            with pytest.raises(BufferError, match=r"^memoryview: underlying buffer is not C-contiguous$"):
                give(column)
    with pytest.raises(TypeError, match=r"^expected a list, Arrow object or bytes-like object, got int$"):
        dedup.unique(5, kind="urn")


@pytest.mark.parametrize("exact", [False, True])
def test_threads_that_share_one(exact):
    """Each name is new to one of them."""
    rows, answers = [f"urn:example:{'x' * (i % 99)}{i}" for i in range(20_000)], []
    lines = "\n".join(rows).encode()
    with dedup.Deduplicator("urn", memory="8M", exact=exact) as deduplicator:
        threads = [
            threading.Thread(target=lambda column=column: answers.append(deduplicator.add(column)))
            for column in (rows, lines, rows, lines)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert deduplicator.count == len(rows) and deduplicator.rows == 4 * len(rows)
    assert [sum(each) for each in zip(*answers, strict=True)] == [1] * len(rows)


LAYOUTS = [
    "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary", "nulls",
    "chunked",
]  # fmt: skip
LAYOUTS += ["sliced", "table"]


def arrow_of(pa, layout, rows):
    """An object of pyarrow, and what its rows are."""
    if "binary" in layout:
        rows = [row.encode() if isinstance(row, str) else row for row in rows]
    else:
        rows = [row if isinstance(row, str) else None for row in rows]
    if layout == "nulls":
        return pa.nulls(7), [None] * 7
    if layout == "dictionary":
        values = pa.array([*dict.fromkeys(rows), *rows[:50]])
        indices = [i if row is not None else None for i, row in enumerate(rows[:50], len(values) - 50)]
        indices += [values.to_pylist().index(row) for row in rows[50:]]
        return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int16()), values), rows
    if layout == "chunked":
        return pa.chunked_array([rows[:100], [], rows[100:101], rows[101:]], pa.string()), rows
    if layout == "sliced":
        return pa.array(["x", *rows, "y"])[1:-1], rows
    if layout == "table":
        return pa.table({"names": rows}), rows
    return pa.array(rows, getattr(pa, layout)()), rows


@pytest.mark.interop
@each_row("layout", LAYOUTS)
@each_row(("memory", "kind"), [(None, "urn"), (TINY, "urn"), (TINY, "iri")])
def test_arrow(layout, memory, kind):
    pa = pytest.importorskip("pyarrow")
    column, rows = arrow_of(pa, layout, rows_for(kind, 9000, 400))
    want, count = firsts(rows, kind, None)
    with dedup.Deduplicator(kind, memory=memory) as deduplicator:
        got = pa.chunked_array(deduplicator.add(column)).combine_chunks()
        assert got.type == pa.bool_()
        got = got.to_pylist()
        for row in deduplicator.finish():
            assert got[row] is None
            got[row] = True
        assert [bool(each) for each in got] == want
        assert (deduplicator.count, deduplicator.rows) == (count, len(rows))
    found = dedup.unique(column, kind, memory=memory)
    kept = [row for row, new in zip(rows, want, strict=True) if new]
    if layout == "table":
        found = pa.table(found)
        assert found.schema == column.schema
        found = found["names"]
    else:
        found = pa.chunked_array(found)
        assert found.type == column.type
    found.validate(full=True)
    assert found.to_pylist() == kept


def test_surrogates_are_rejected_by_row():
    with pytest.raises(UriError, match="row 1: lone surrogate") as caught:
        dedup.unique(["a", "b\ud800"], kind="bytes", errors="raise")
    assert (caught.value.input, caught.value.offset) == ("b\ud800", 1)


@pytest.mark.interop
def test_streams_are_read_once():
    pa = pytest.importorskip("pyarrow")
    batches = [pa.record_batch({"a": ["urn:a1:b", "URN:a1:b"]}), pa.record_batch({"a": ["urn:A1:b", "urn:a1:c"]})]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    assert pa.table(dedup.unique(reader, "urn"))["a"].to_pylist() == ["urn:a1:b", "urn:a1:c"]
    with pytest.raises(UrnError, match="row 2: "):
        dedup.unique(pa.array(["urn:a1:b", None, "urn:", "urn:a1:b"]), "urn", errors="raise")
    with pytest.raises(TypeError, match="2 columns"):
        dedup.unique(pa.table({"a": ["a"], "b": ["b"]}), kind="urn")
    with pytest.raises(TypeError, match="expected a column of text"):
        dedup.unique(pa.array([1]), kind="urn")


@pytest.mark.interop
def test_marks_as_a_column():
    pa = pytest.importorskip("pyarrow")
    for n in 0, 1, 8, 9, 1000:
        marks = random.Random(n).choices([1, 2, 3], k=n)
        want = [{1: False, 2: True, 3: None}[mark] for mark in marks]
        assert pa.array(mask(bytes(marks))).to_pylist() == want


def test_rows_are_marked_each():
    column = Lent([b"a", b"b"])
    for marks in b"", b"\2", b"\2\2\2":
        with pytest.raises(ValueError, match=r"expected [0-9]+ marks, got [0-9]+"):
            select(column, marks)


@pytest.mark.parametrize("format", [b"f", b"e", b"tdD"])
def test_indices_that_are_no_integers(format):
    column = Lent([b"a", b"b"], indices=[0, 1, 0])
    column._type.format = format
    for call in bulk.quote, lambda column: select(column, b"\2\2\2"):
        with pytest.raises(
            TypeError, match=f"expected integer indices of a dictionary, got Arrow format '{format.decode()}'"
        ):
            call(column)


def test_damaged_offsets_where_a_task_begins():
    """Which another thread may see before those that read all rows up to there."""
    rows, threads = 8000, 2
    column = Lent([b"x" * 1000] * rows)
    offsets = (ctypes.c_int32 * (rows + 1)).from_address(column._array.buffers[1])
    for task in 1, 2, 3:
        offsets[task * rows // (2 * threads)] = -1
    with pytest.raises(ValueError, match="decreasing offsets"):
        bulk.unquote(column, threads=threads)


@pytest.mark.parametrize("format", ["u", "U"])
def test_damaged_offsets(format):
    """No row is read that is not in the column."""
    column = Lent([b"a", b"b", b"c"], format)
    ctypes.memset(column._array.buffers[1] + (8 if format == "U" else 4), 0x7F, 1)
    names = ColumnBatch(RowOperation(), KEY)
    names.hold(column)
    with pytest.raises(ValueError, match="decreasing offsets"):
        names.read(0)
    assert len(names) == 0
    with pytest.raises(ValueError, match="decreasing offsets"):
        select(column, b"\2\2\2")
    assert rows_of(select(column, b"\1\1\1")) == []


def test_batches_of_columns():
    names = ColumnBatch(RowOperation(), KEY)
    assert names.read(0) == len(names) == 0
    assert names.hold([b"a"] * 10_000) == 10_000
    assert [names.read(0), names.read(0), names.read(0)] == [8192, 1808, 0]
    partitions = PartitionedTable(1 << 20, False, False, None)
    names.hold(("a", b"a", None))
    names.read(5)
    partitions.add(names)
    assert (names.first, names.marks, names.null_seen) == (5, bytes([2, 1, 2]), True)


def test_after_a_failure_there_are_no_names():
    """The forms of the rows before it may be elsewhere."""
    names = ColumnBatch(RowOperation(), KEY)
    names.hold([b"a"])
    names.read(0)
    names.hold([b"b" * 100] * 5000 + [3])
    with pytest.raises(TypeError):
        names.read(0)
    assert len(names) == 0 and names.marks == b""


def test_marks_that_may_change_are_rejected():
    """They are read more than once."""
    for rejected in bytearray(3), None:
        with pytest.raises(TypeError):
            mask(rejected)
        with pytest.raises(TypeError):
            select(None, rejected)


def test_identifiers_in_hosts_are_not_merged():
    """CIDs differ in case alone; hosts of other schemes do not."""
    texts = ["ipfs://QmAb/a", "ipfs://Qmab/a", "IPFS://QmAb/a", "http://Ab/", "http://ab/"]
    for level in "case", "path", "scheme", "iri":
        assert dedup.unique(texts, kind="uri", level=level) == ["ipfs://QmAb/a", "ipfs://Qmab/a", "http://Ab/"]


# --- text that is no URI or IRI ---------------------------------------------------------------------------------------

DIRTY = ["http://a/é", "http://us er@h/", "HTTP://a/", "http://[::1/", "http://a/", "http://h/%zz", "http://h:x/"]


@each_row(
    ("options", "kept"),
    [
        ({"kind": "uri"}, [2]),
        ({"kind": "uri", "level": "scheme"}, [2]),
        ({"kind": "uri", "level": "iri"}, [0, 2]),
        ({"kind": "iri"}, [0, 2]),
        ({"kind": "uri", "policy": "crawl"}, [0, 2]),
        ({"kind": "iri", "policy": "surt"}, [0, 2]),
        ({"kind": "uri", "policy": "whatwg"}, [0, 1, 2, 5]),
        ({"kind": "uri", "policy": "w3lib"}, [0, 1, 2, 5]),
        ({"kind": "uri", "level": "rfc1630"}, [0, 1, 2, 3, 4, 6]),
        ({"kind": "bytes"}, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_text_that_is_no_uri_is_invalid_unless_it_is_kept(options, kept, tmp_path):
    wanted, source, out = [DIRTY[row] for row in kept], tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{row}\n" for row in DIRTY), "utf-8")
    rows = 1 if 4 in kept else 2  # how many are http://a/
    for exact in False, True:
        how = {"errors": "drop", "merged": True, "exact": exact, **options}
        done = dedup.dedup_files(source, out, **how)
        assert out.read_text("utf-8").splitlines() == wanted
        counts = len(DIRTY), len(kept), rows - 1, len(DIRTY) - len(kept) - (rows - 1)
        assert (done.rows, done.unique, done.duplicates, done.invalid) == counts
        assert sum(done.merged.values()) == rows - 1
    assert dedup.estimate_files(source, errors="drop", **options) == len(kept)
    kind, more = options["kind"], {name: value for name, value in options.items() if name != "kind"}
    assert dedup.unique(DIRTY, kind, errors="drop", **more) == wanted
    assert dedup.unique("\n".join(DIRTY).encode(), kind, errors="drop", **more).decode().splitlines() == wanted
    invalid = done.invalid
    if invalid:
        with pytest.raises(UriError):
            dedup.unique(DIRTY, kind, errors="raise", **more)
        assert dedup.unique(DIRTY[1:2], kind, errors="keep", **more) == DIRTY[1:2]
    seen = dedup.SeenSet.build(DIRTY, kind, errors="keep", **more)
    assert sum(seen.contains(DIRTY, "drop")) == len(DIRTY) - invalid and all(seen.contains(DIRTY))
    assert len(dedup.SeenSet.build(DIRTY, kind, errors="drop", **more)) == len(kept)
