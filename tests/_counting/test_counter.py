"""Counts of keys and their order, beside collections.Counter, with and without temporary files."""

import gc
import math
import os
import random
import struct
import subprocess
import sys
from array import array
from collections import Counter as Reference

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting import runs
from uricodec._counting._counts import (
    KeyBatch,
    entries,
    lines_of_counts,
    lines_of_slots,
    most_frequent,
    records,
    sort_slots,
    unpack_ranked,
)
from uricodec._counting._spill import SpillBuffers
from uricodec._counting._table import FingerprintBatch, Table
from uricodec._counting.counter import FEW, Counter, Ranking
from uricodec._counting.partitions import PartitionedTable
from uricodec._io.runner import Runner, Worker
from uricodec._io.scratch import Scratch
from uricodec._io.sources import BytesInput

KEY = FingerprintKey("of the tests")
TINY = 2000  # the least table: a few hundred keys

# Few short ones, so that many are equal; and keys whose sizes need other prefixes.
keys = st.one_of(
    st.binary(max_size=2),
    st.sampled_from(
        [b"", b"\0", b"\xff\xfe", b"\r", b"a" * 254, b"a" * 255, b"a" * 256, b"\0" * 65536, b"\xed\xa0\x80"]
    ),
).filter(lambda key: b"\n" not in key)


def count(lines, top=None, memory=TINY, **options):
    """Keys and counts, and how many keys there are, in all and different ones."""
    with Counter(memory, **options) as counter:
        for each in lines:
            counter.add_lines(each)
        found = list(counter.most_common(top))
    with Counter(memory, **options) as again:
        for each in lines:
            again.add_lines(each)
        end = options.get("terminator", b"\n")
        assert b"".join(again.lines(top)) == b"".join(b"%d\t%b%b" % (n, key, end) for key, n in found)
    return found, counter.total, counter.distinct


def expected(lines, top=None, terminator=b"\n"):
    """The same by collections.Counter, which keeps the order of first occurrences, too."""
    names = [key for each in lines for key in each.removesuffix(terminator).split(terminator) if each]
    found = Reference(names)
    return found.most_common(top), len(names), len(found)


def squares(rows, names):
    """Lines of which some are much more frequent than others."""
    return b"".join(b"%d\n" % (i * i * 7919 % names * (i % 7) // 7) for i in range(rows))


# --- the counter ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    lines=st.lists(st.lists(keys, max_size=30).map(lambda found: b"".join(key + b"\n" for key in found)), max_size=4)
)
@pytest.mark.parametrize("top", [None, 1, 3, FEW + 1])
def test_agrees_with_the_reference(lines, top):
    assert count(lines, top) == expected(lines, top)


@pytest.mark.slow
@each_row("memory", [TINY, 60_000, 1 << 20, 1 << 26])
@each_row("top", [None, 1, 10, FEW, FEW + 1, 10**9])
def test_neither_memory_nor_top_changes_the_order(memory, top):
    lines = squares(30_000, 9000)
    assert count([lines], top, memory) == expected([lines], top)


def test_ties_are_in_the_order_of_first_occurrences():
    lines = b"".join(b"%d\n" % (i * 7919 % 5000) for i in range(5000))
    assert [key for key, _ in count([lines])[0]] == lines.split()
    assert [key for key, _ in count([lines], 7)[0]] == lines.split()[:7]


def test_runs_of_more_tables_than_are_merged_at_once(monkeypatch):
    monkeypatch.setattr(runs, "FAN", 2)
    lines = squares(30_000, 9000)
    assert count([lines]) == expected([lines])
    assert count([lines], FEW + 5) == expected([lines], FEW + 5)


@pytest.mark.parametrize("memory", [TINY, 1 << 26])
@pytest.mark.parametrize("top", [None, 5])
def test_long_keys(memory, top):
    lines = b"".join(bytes([65 + i % 26]) * (65536 + i % 26) + b"\n" for i in range(60))
    assert count([lines], top, memory) == expected([lines], top)


@pytest.mark.parametrize("terminator", [b"\n", b"\0", b"\x01", b"\xff"])
def test_terminators(terminator):
    lines = terminator.join([b"a\r", b"a", b"", b"a\r", b"\xf0"])
    assert count([lines], terminator=terminator) == expected([lines], terminator=terminator)
    assert count([lines + terminator], terminator=terminator) == expected([lines], terminator=terminator)


def test_nothing():
    assert count([]) == count([b""]) == ([], 0, 0)
    assert count([], 3) == ([], 0, 0)
    assert count([b"\n"]) == ([(b"", 1)], 1, 1)


def test_any_buffer_of_bytes():
    for lines in b"a\nb\na", bytearray(b"a\nb\na"), memoryview(b"xa\nb\na")[1:]:
        assert count([lines])[0] == [(b"a", 2), (b"b", 1)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [TINY, 1 << 26])
def test_threads_change_nothing(threads, memory):
    lines = squares(60_000, 20_000)
    with Counter(memory) as counter:
        worker = Worker()
        worker.work = lambda chunk: chunk.state.read(chunk.view[: chunk.size], 0, chunk.size)
        worker.use = lambda chunk, result, at: counter.add(chunk.state)
        Runner(threads, counter.keys, capacity=1 << 14, most_read=1 << 13).run(
            BytesInput("x", memoryview(lines)), worker
        )
        assert list(counter.most_common()) == expected([lines])[0]
        assert counter.total == 60_000


def test_a_look_while_it_counts():
    with Counter(TINY) as counter:
        counter.add_lines(b"a\nb\nb\n")
        assert counter.peek(1) == [(b"b", 2)] and counter.complete and counter.distinct is None
        counter.add_lines(b"a\na\n")
        assert counter.peek(5) == [(b"a", 3), (b"b", 2)]
        counter.add_lines(b"".join(b"%d\n" % i for i in range(5000)))
        assert counter.peek(2) == [(b"a", 3), (b"b", 2)] and not counter.complete and counter.spilled
        assert next(counter.most_common()) == (b"a", 3) and counter.distinct == 5002


@pytest.mark.slow
@each_row("memory", [TINY, 1 << 26])
@each_row("top", [None, 5, FEW + 1])
def test_another_order(memory, top):
    """By the last digit of the key; what is equal stays in the order of the counts."""
    lines = squares(30_000, 9000)
    wanted = sorted(expected([lines])[0], key=lambda found: found[0][-1:])[:top]
    with Counter(memory) as counter:
        counter.add_lines(lines)
        if counter.complete:
            assert counter.peek(7, lambda found: found[0][-1:])[: len(wanted)] == wanted[:7]
        assert list(counter.in_order(lambda found: found[0][-1:], top)) == wanted
    table = Table(1 << 20, counting=True, exact=True)
    with pytest.raises(IndexError, match=r"^expected a slot of the table, got 10{9}$"):
        entries(table, 10**9, 1)


def test_most_common_may_be_asked_once():
    with Counter(TINY) as counter:
        counter.add_lines(b"a\n")
        assert list(counter.most_common()) == [(b"a", 1)]
        with pytest.raises(ValueError, match=r"^cannot add to a Counter that is closed, or has returned its counts$"):
            counter.add_lines(b"a\n")
        with pytest.raises(ValueError, match=r"^cannot count with a Counter that is closed, or has returned"):
            counter.most_common()
    with pytest.raises(ValueError, match=r"^cannot add to a Counter that is closed"):
        counter.add_lines(b"a\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sizes in kilobytes")
@pytest.mark.parametrize("top", [10, 2000, None])
@pytest.mark.process
def test_memory_is_bounded(top):
    """300 000 keys need 15 MB. The first ones pay for buffers."""
    code = f"""
from resource import RUSAGE_SELF, getrusage
from uricodec._counting.counter import Counter
with Counter("4M") as counter:
    counter.add_lines(b"a\\n" * 20_000)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for start in range(0, 300_000, 5000):
        counter.add_lines(b"".join(b"10.1.%d\\n" % (i * 7919 % 1000003) for i in range(start, start + 5000)))
    found = sum(1 for _ in counter.most_common({top}))
    print(getrusage(RUSAGE_SELF).ru_maxrss - before, found, counter.spilled > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    growth, found, spilled = done.stdout.split()
    assert int(growth) < 6000 and int(found) == (top or 300_001) and spilled == "True"


@pytest.mark.parametrize("top", [0, -1])
def test_top_is_checked(top):
    with Counter(TINY) as counter, pytest.raises(ValueError, match=rf"^top must be at least 1, got {top}$"):
        counter.most_common(top)


def test_nothing_is_left(tmp_path):
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with Counter(TINY, tmp_path) as counter:
        counter.add_lines(squares(20_000, 9000))
        next(counter.most_common())
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    assert (set(os.listdir("/proc/self/fd")) if before else before) <= before


# --- numbers of keys --------------------------------------------------------------------------------------------------

MISSING = -(2**63)
integers = st.one_of(st.integers(MISSING, 2**63 - 1), st.integers(-3, 3), st.just(MISSING))
floats = st.one_of(st.floats(0, 1000), st.just(math.nan))


def reference(rows, sums, quantiles, top=None):
    """Keys with counts, sums and the quantiles that each has alone, from rows of a key and numbers."""
    found = {}
    for key, *values in rows:
        found.setdefault(key, []).append(values)
    ranked = sorted(found, key=lambda key: -len(found[key]))[:top]
    for key in ranked:
        columns = list(zip(*found[key], strict=True))
        result = [key, len(found[key])]
        result += [sum(value for value in column if value != MISSING) for column in columns[:sums]]
        for column in columns[sums : sums + quantiles]:
            with Counter("16M", quantiles=1) as alone:
                alone.add_lines(b"\n".join([b"key"] * len(column)), [array("d", column)])
                result.append(next(alone.most_common())[2])
        yield tuple(result)


def with_numbers(rows, sums, quantiles, top=None, memory=TINY):
    with Counter(memory, sums=sums, quantiles=quantiles) as counter:
        for start in range(0, len(rows), 1000):
            columns = list(zip(*rows[start : start + 1000], strict=True))
            values = [array("q", column) for column in columns[1 : 1 + sums]]
            values += [array("d", column) for column in columns[1 + sums :]]
            counter.add_lines(b"\n".join(columns[0]) + b"\n", values)
        return list(counter.most_common(top)), counter.spilled


@given(
    rows=st.lists(st.tuples(keys, integers, integers, floats, floats), max_size=40),
    columns=st.sampled_from([(2, 2), (2, 0), (0, 1), (1, 1), (1, 0), (0, 2)]),
    top=st.sampled_from([None, 2]),
)
def test_sums_and_quantiles(rows, columns, top):
    sums, quantiles = columns
    rows = [(row[0], *row[1 : 1 + sums], *row[3 : 3 + quantiles]) for row in rows]
    assert with_numbers(rows, sums, quantiles, top)[0] == list(reference(rows, sums, quantiles, top))


@pytest.mark.slow
@each_row(
    ("sums", "quantiles", "top"),
    [(1, 0, None), (0, 1, 10), (1, 1, FEW + 1), (2, 3, None), (6, 0, 10), (0, 12, FEW + 1)],
)
def test_spilled_numbers(sums, quantiles, top):
    chance = random.Random(3)
    rows = []
    for key in squares(12_000, 4000).split():
        integers = [chance.randrange(-(2**63) + 1, 2**63) for _ in range(sums)]
        rows.append((key, *integers, *[chance.lognormvariate(0, 2) for _ in range(quantiles)]))
    wanted = list(reference(rows, sums, quantiles, top))
    for memory in TINY, 200_000, 1 << 26:
        found, spilled = with_numbers(rows, sums, quantiles, top, memory)
        assert found == wanted
        if memory == TINY:
            assert spilled
        elif memory == 1 << 26 and quantiles < 12:
            assert not spilled


def test_a_long_key_keeps_its_numbers():
    rows = [(b"x" * (100_000 + i % 50), i, i / 8) for i in range(200)]
    assert with_numbers(rows, 1, 1)[0] == list(reference(rows, 1, 1))


def test_sketches_fill_the_memory():
    """New keys wait in temporary files, so that sketches of those in memory have as much again to grow."""
    rows = [(b"%d" % (i // 40), 10.0 ** (i % 17)) for i in range(20_000)]
    found, spilled = with_numbers(rows, 0, 1, None, 1 << 20)
    assert spilled and found == list(reference(rows, 0, 1))


def test_a_buffer_of_several_batches():
    """Each batch has the numbers of its keys."""
    with Counter(1 << 26, sums=1, quantiles=1) as counter:
        lines = b"".join(b"%d\n" % (i % 10_000) for i in range(30_000))
        counter.add_lines(lines, [array("q", range(30_000)), array("d", range(1, 30_001))])
        for i, (key, count, total, (*_, greatest)) in enumerate(counter.most_common()):
            assert (key, count, total, greatest) == (b"%d" % i, 3, 3 * i + 30_000, i + 20_001)


def test_sums_have_128_bits():
    rows = [(b"a", 2**63 - 1)] * 5 + [(b"b", -(2**63) + 1)] * 4
    assert with_numbers(rows, 1, 0)[0] == [(b"a", 5, 5 * (2**63 - 1)), (b"b", 4, 4 * (1 - 2**63))]


def test_a_ranking_that_leaves_sketches_out():
    table, batch = Table(1 << 20, True, True, 0, 1), KeyBatch(KEY, b"\n", 0, 1)
    batch.read(b"a\nb\nc\nc\n", values=[array("d", [1, 2, 3, 4])])
    table.add(batch)
    assert sort_slots(table, 1) == 2
    assert [payload[40:] for _, _, payload in unpack_ranked(records(table, 0, 2, 1000)[0])[0]] == [b"c", b"b"]


def test_wrong_numbers_are_rejected():
    with Counter(TINY, sums=1, quantiles=1) as counter:
        integers, numbers = array("q", [1, 2]), array("d", [1, 2])
        for values in [integers], [], [integers, numbers, numbers]:
            with pytest.raises(ValueError, match=rf"^expected 2 columns of numbers, got {len(values)}$"):
                counter.add_lines(b"a\nb\n", values)
        for values, form in ([numbers, numbers], "q"), ([integers, integers], "d"), ([b"12345678", numbers], "q"):
            with pytest.raises(TypeError, match=rf"^expected numbers in format '{form}' as column {int(form == 'd')}$"):
                counter.add_lines(b"a\nb\n", values)
        for lines in b"a\nb\nc", b"\n\n\n":
            with pytest.raises(ValueError, match=r"^expected a number for each key, got 2 as column 0$"):
                counter.add_lines(lines, [integers, numbers])
        assert counter.total == 0
    with pytest.raises(ValueError, match=r"^expected up to 12 sums, .* a sum counts twice, got 7, 0 and 0$"):
        Counter(TINY, sums=7)
    with pytest.raises(ValueError, match=r"^sums, .* require an exact table that counts$"):
        Table(1 << 20, counting=True, sums=1)
    with pytest.raises(ValueError, match=r"^numbers are only spilled with normal forms$"):
        SpillBuffers(columns=1)
    batch = KeyBatch(KEY, b"\n", 1)
    batch.read(b"a", values=[integers])
    with pytest.raises(ValueError, match=r"^expected 0 numbers for each row, got 1$"):
        Table(1 << 20, True, True).add(batch)
    with pytest.raises(ValueError, match=r"^expected 0 numbers for each row, got 1$"):
        SpillBuffers(exact=True).add(batch)


# --- ranking of tables ------------------------------------------------------------------------------------------------


def table_of(counts, exact=False, start=0):
    """A table with these counts; the number of the first row of each is its place."""
    table = Table(1 << 20, counting=True, exact=exact)
    prints = [KEY.fingerprint(b"%d" % i) for i in range(len(counts))]
    forms = [b"%d" % i for i in range(len(counts))] if exact else None
    for i in range(len(counts)):
        for n in range(counts[i]):
            row = start + i + n * len(counts)
            table.add(FingerprintBatch(prints[i], forms and [forms[i]], row))
    return table


@given(
    counts=st.lists(st.sampled_from([1, 1, 2, 3, 9]), max_size=40),
    most=st.integers(0, 50),
    least=st.integers(0, 45),
    exact=st.booleans(),
)
def test_both_ways_to_rank(counts, most, least, exact):
    names = [(n, i, b"%d" % i if exact else b"") for i, n in enumerate(counts)]
    ranked = sorted(names, key=lambda each: (-each[0], each[1]))
    wanted = [each for each in ranked if each[1] >= least]
    table = table_of(counts, exact)
    assert most_frequent(table, most, least) == wanted[:most]
    for bound in ranked:
        after = [each for each in wanted if (-each[0], each[1]) < (-bound[0], bound[1])]
        assert most_frequent(table, most, least, bound[:2]) == after[:most]
    assert table.count == len(counts)
    assert sort_slots(table, least) == len(wanted)
    for size in 0, 30, 1000:
        at, found = 0, []
        while at < len(wanted):
            lines = lines_of_slots(table, at, len(wanted), size)
            block, at = records(table, at, len(wanted), size)
            read, count = unpack_ranked(block, len(wanted))
            assert (len(block) <= size or count == 1) and count == len(read)
            assert lines_of_counts(block, 2) == (
                b"".join(b"%d\t%b\n" % (n, key) for n, _, key in read[:2]),
                min(count, 2),
            )
            assert lines == (lines_of_counts(block)[0], at)
            found += read
        assert found == wanted


@each_row("rows", [11, 12, 13, 14, 100, 3000])
def test_sorting(rows):
    for counts in (range(rows), range(rows, 0, -1), [1] * rows, [i * 7919 % 11 for i in range(rows)]):
        table = Table(1 << 20, counting=True)
        repeated = [name for i in range(rows) for name in [b"%d" % i] * (1 + counts[i] % 20)]
        table.add(FingerprintBatch(b"".join(map(KEY.fingerprint, repeated))))
        pairs = sorted(struct.iter_unpack("=QQ", b"".join(table.counts())), key=lambda pair: (-pair[1], pair[0]))
        assert sort_slots(table) == rows
        assert [(first, n) for n, first, _ in unpack_ranked(records(table, 0, rows, 1 << 20)[0])[0]] == pairs


@each_row("bits", [1, 8, 9, 31, 63])
def test_sorting_by_rows_that_are_far_apart(bits):
    table, wanted = Table(1 << 20, counting=True), []
    for i in range(700):
        row = (i * 7919 % 701 << bits) % 2**64 + i
        table.add(FingerprintBatch(KEY.fingerprint(b"%d" % i) * (1 + 300 * (i % 50 == 7)), first=row))
        wanted.append((-1 - 300 * (i % 50 == 7), row))
    assert sort_slots(table) == 700
    assert [(-n, first) for n, first, _ in unpack_ranked(records(table, 0, 700, 1 << 20)[0])[0]] == sorted(wanted)


def test_a_sorted_table_takes_no_rows():
    table = table_of([1, 2])
    with pytest.raises(ValueError, match=r"^the slots are not sorted; call sort_slots"):
        records(table, 0, 1, 100)
    with pytest.raises(ValueError, match=r"^the slots are not sorted; call sort_slots"):
        lines_of_slots(table, 0, 1, 100)
    assert sort_slots(table) == 2
    with pytest.raises(ValueError, match=r"^cannot add to a table whose slots were sorted by count$"):
        table.add(FingerprintBatch(KEY.fingerprint("a")))
    with pytest.raises(IndexError):
        records(table, 0, 1 << 40, 100)
    with pytest.raises(IndexError):
        lines_of_slots(table, 0, 1 << 40, 100)
    table.clear()
    table.add(FingerprintBatch(KEY.fingerprint("a")))
    assert table.count == 1


def test_a_table_without_counts_has_no_order():
    for rank in sort_slots, lambda table: most_frequent(table, 1):
        with pytest.raises(ValueError, match=r"^the table has no counts"):
            rank(Table(1 << 20))


def test_ranking_from_a_row_on():
    """Rows before it are those of files to exclude."""
    with Scratch(None) as scratch:
        for memory in TINY, 1 << 20:
            for top in 3, FEW + 1, None:
                partitions, keys = PartitionedTable(memory, True, True, scratch), KeyBatch(KEY)
                first = 0
                for lines in b"0\n1\n2\n", squares(5000, 3000):
                    keys.read(lines, 0, 1 << 20)
                    keys.first = first
                    partitions.add(keys)
                    first += len(keys)
                ranking = Ranking(scratch, memory, top, 3)
                ranking.finish(partitions)
                wanted = [each for each in expected([squares(5000, 3000)])[0] if each[0] not in {b"0", b"1", b"2"}]
                assert [(key, n) for n, _, key in ranking] == wanted[:top]


# --- batches of keys --------------------------------------------------------------------------------------------------


@given(names=st.lists(keys, max_size=40), most=st.integers(1, 50), end=st.booleans())
def test_batches(names, most, end):
    lines = b"".join(key + b"\n" for key in names) if end else b"\n".join(names)
    wanted = lines.removesuffix(b"\n").split(b"\n") if lines else []
    batch, at, found = KeyBatch(KEY), 0, []
    while at < len(lines):
        at = batch.read(lines, at, most)
        assert 0 < len(batch) <= most
        prints = batch.fingerprints
        found += [prints[i : i + 16] for i in range(0, len(prints), 16)]
    assert found == [KEY.fingerprint(key) for key in wanted]


def test_a_batch_holds_its_lines():
    lines, batch = bytearray(b"a\nb"), KeyBatch(KEY)
    assert batch.read(lines) == 3 and batch.marks == b"\0\0"
    with pytest.raises(BufferError):
        lines.clear()
    batch.release()
    lines.clear()
    assert len(batch) == 0 and batch.marks == batch.fingerprints == b""


def test_wrong_buffers_of_a_batch_are_rejected():
    batch = KeyBatch(KEY)
    with pytest.raises(IndexError, match=r"^expected an offset up to 2, got 3$"):
        batch.read(b"a\n", 3)
    assert len(batch) == 0
    with pytest.raises(TypeError):
        batch.read("a")
    for terminator in b"", b"ab":
        with pytest.raises(ValueError, match=r"^terminator must be one byte, got b'(ab)?'$"):
            KeyBatch(KEY, terminator)
