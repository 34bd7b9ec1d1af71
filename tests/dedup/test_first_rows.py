"""Bits of first rows, ranks and counts, beside their reference implementations."""

import array
import mmap
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import spill as naive

from uricodec._counting._table import FingerprintBatch
from uricodec.dedup._first_rows import FirstRows

SEEN, NEW = naive.SEEN, naive.NEW


def made_of(numbers, marks):
    first = min(numbers, default=0)
    return FingerprintBatch(bytes(16 * len(numbers)), None, first, [number - first for number in numbers], bytes(marks))


@st.composite
def batches(draw):
    """Numbers of rows with their marks: runs, and rows anywhere."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        numbers = []
        for _ in range(draw(st.integers(0, 5))):
            first = draw(st.integers(0, 19_800))
            numbers += range(first, first + draw(st.integers(0, 200)), draw(st.integers(1, 64)))
        marks = random.Random(draw(st.integers(0, 2**32))).choices([NEW, NEW, NEW, 0, 1, 3], k=len(numbers))
        found.append((numbers, marks))
    return found


def rooms():
    """One of its own; octets; a mapping."""
    return st.sampled_from([lambda: None, lambda: bytearray(2504), lambda: mmap.mmap(-1, 4096)])


def counts_in(rows, counts, window=1000):
    """An array with room for them, filled from a dict in any order, window by window."""
    pairs = list(counts.items())
    random.Random(len(pairs)).shuffle(pairs)
    into, put = array.array("Q", [0] * rows.count), 0
    for first in range(0, rows.count, window):
        part = memoryview(into)[first : first + window]
        put += rows.put_counts(array.array("Q", [number for pair in pairs for number in pair]), part, first)
    return put, into


@given(first=batches(), second=batches(), room=rooms())
def test_set_and_mark_agree_with_the_reference(first, second, room):
    rows, reference = FirstRows(room()), naive.Bits()
    for numbers, marks in first:
        rows.set(made_of(numbers, marks))
        reference.set(numbers, marks)
        assert rows.count == len(reference.rows)
    for numbers, marks in second + first:
        names, undecided = made_of(numbers, marks), made_of(numbers, marks)
        rows.mark(names)
        rows.mark(undecided, decided=False)
        assert names.marks == reference.marks(numbers, marks)
        assert undecided.marks == names.marks.replace(bytes([NEW]), b"\0")
        assert names.new == undecided.new == names.marks.count(NEW)
        assert names.later == 0


@given(
    first=batches(),
    second=batches(),
    room=rooms(),
    window=st.sampled_from([1, 7, 100, 20_000]),
)
def test_counts_agree_with_the_reference(first, second, room, window):
    rows, reference = FirstRows(room()), naive.Bits()
    for numbers, marks in first:
        rows.set(made_of(numbers, marks))
        reference.set(numbers, marks)
    rows.seal()
    assert rows.count == len(reference.rows)
    for row in [0, 1, 63, 64, 511, 512, 513, 19_999, 30_000, 2**40, 2**64 - 1, *list(reference.rows)[:20]]:
        assert rows.rank(row) == reference.rank(row)
    counts = {row: row % 5 for row in reference.rows}
    put, into = counts_in(
        rows, counts | {row: 99 for row in (3, 25_000, 2**33, 2**64 - 1) if row not in counts}, window
    )
    assert put == len(counts)
    assert into.tolist() == [counts[row] for row in sorted(counts)]
    for numbers, _ in second + first:
        start, stop = min(numbers, default=5), max(numbers, default=5)
        got = memoryview(rows.counts_of(into, start, stop)).cast("Q").tolist()
        assert got == [counts[row] for row in sorted(counts) if start <= row < stop]
        assert rows.marks(start, stop - start) == reference.marks(range(start, stop), bytes(stop - start))


def test_ranks_of_all_rows():
    chance = random.Random(1)
    for share in 0.01, 0.5, 0.99, 1:
        numbers = [number for number in range(5000) if chance.random() < share]
        rows = FirstRows()
        rows.set(made_of(numbers, [NEW] * len(numbers)))
        rows.seal()
        rank = 0
        for row in range(5001):
            assert rows.rank(row) == rank
            rank += row in set(numbers[rank : rank + 1])


def test_changes_unseal_a_table():
    rows = FirstRows()
    rows.seal()
    assert rows.rank(5) == 0
    rows.set(made_of([], []))
    with pytest.raises(ValueError, match="sealed"):
        rows.rank(5)


def test_bits_that_somebody_changes_after_they_were_counted():
    """No count goes, or comes from, where there is no room for it."""
    room = bytearray(64)
    rows = FirstRows(room)
    rows.set(made_of([3], [NEW]))
    rows.seal()
    room[:] = b"\xff" * 64
    counts = bytearray(8)
    assert rows.put_counts(struct.pack("=6Q", 500, 7, 0, 5, 1, 6), counts) == 1
    assert counts == struct.pack("=Q", 5)
    assert (rows.counts_of(counts, 0, 512), rows.counts_of(counts, 5, 512)) == (bytes(counts), b"")


def test_bits_that_are_there_already():
    """Of another process, perhaps: they are counted in the end."""
    rows = FirstRows(bytearray(b"\xff" * 80))
    rows.seal()
    assert rows.count == 640
    assert [rows.rank(row) for row in (0, 1, 64, 639, 640)] == [0, 1, 64, 639, 640]


@pytest.mark.slow
def test_rows_beyond_2_to_the_32():
    """In a mapping that has pages where bits are."""
    room = mmap.mmap(-1, (2**32 + 2**13) // 8)
    rows = FirstRows(room)
    assert len(rows) == 2**32 + 2**13
    found = [0, 2**32 - 1, 2**32, 2**32 + 1, 2**32 + 2000, 2**32 + 4000]
    for number in found:
        names = made_of([number, number + 2**12], [NEW, SEEN])
        rows.set(names)
        rows.mark(names)
        assert names.marks == bytes([NEW, SEEN])
    names = made_of([2**32 - 2, 2**32 - 1, 2**32, 2**32 + 5], [0] * 4)
    rows.mark(names)
    assert names.marks == bytes([SEEN, NEW, NEW, SEEN])
    rows.seal()
    assert [rows.rank(number) for number in found] == list(range(6))
    put, into = counts_in(rows, {number: number + 1 for number in found})
    assert put == 6
    assert into.tolist() == [number + 1 for number in found]
    with pytest.raises(ValueError, match="row 4294975488 is out of range"):
        rows.set(made_of([2**32 + 8191, 2**32 + 8192], [NEW, NEW]))
    rows.release()
    room.close()


def test_memory_that_is_too_small():
    room = bytearray(20)
    rows = FirstRows(room)
    assert len(rows) == 128
    with pytest.raises(ValueError, match="row 128 is out of range for 128 rows"):
        rows.set(made_of([5, 127, 128, 6], [NEW] * 4))
    assert rows.count == 2
    names = made_of([4, 5, 127, 128, 2**31], [0] * 5)
    rows.mark(names)
    assert names.marks == bytes([SEEN, NEW, NEW, SEEN, SEEN])
    assert room[16:] == bytes(4)


@pytest.mark.slow
def test_memory_grows():
    rows, numbers = FirstRows(), list(range(0, 500_000, 997))
    assert len(rows) == 0
    for number in numbers:
        rows.set(made_of([number], [NEW]))
    names = made_of(range(499_000), [0] * 499_000)
    rows.mark(names)
    assert [i for i, mark in enumerate(names.marks) if mark == NEW] == [i for i in numbers if i < 499_000]
    assert rows.count == len(numbers)


def test_no_memory():
    rows = FirstRows()
    rows.set(made_of([5], [NEW]))
    for wanted in 2**62, 2**63:
        with pytest.raises(MemoryError):
            rows.set(made_of([wanted], [NEW]))
    assert rows.count == 1
    names = made_of([5, 6], [0, 0])
    rows.mark(names)
    assert names.marks == bytes([NEW, SEEN])


def test_the_memory_is_held_until_release():
    room = bytearray(16)
    rows = FirstRows(room)
    with pytest.raises(BufferError):
        room.clear()
    rows.release()
    room.clear()
    rows.set(made_of([7], [NEW]))  # memory of its own
    assert rows.count == 1


def test_wrong_arguments_are_rejected():
    for wrong in bytes(8), memoryview(bytes(8)):
        with pytest.raises(BufferError):
            FirstRows(wrong)
    for start in range(1, 8):
        with pytest.raises(ValueError, match="aligned"):
            FirstRows(memoryview(bytearray(32))[start:])
    rows, names = FirstRows(bytearray(16)), made_of([5], [NEW])
    for rejected in (
        lambda: rows.rank(0),
        lambda: rows.put_counts(b"", bytearray()),
        lambda: rows.counts_of(b"", 0, 1),
    ):
        with pytest.raises(ValueError, match="sealed"):
            rejected()
    rows.set(names)
    rows.seal()
    counts = array.array("Q", [0])
    assert rows.put_counts(array.array("Q", [5, 7]), counts) == 1
    with pytest.raises(ValueError, match="expected an aligned buffer"):
        rows.put_counts(array.array("Q", [5]), counts)
    with pytest.raises(ValueError, match="expected an aligned buffer"):
        rows.put_counts(b"", bytearray(12))
    with pytest.raises(BufferError):
        rows.put_counts(b"", bytes(8))
    with pytest.raises(ValueError, match="expected a buffer for 1 counts, got one for 0"):
        rows.counts_of(b"", 0, 1)
    assert (rows.counts_of(counts, 6, 600), rows.counts_of(counts, 6, 5)) == (b"", b"")
    assert rows.counts_of(counts, 5, 6) == array.array("Q", [7]).tobytes()
    rows.set(made_of([6], [NEW]))
    with pytest.raises(ValueError, match="sealed"):
        rows.counts_of(counts, 0, 9)
    for wrong in None, b"", object():
        with pytest.raises(TypeError):
            rows.set(wrong)
        with pytest.raises(TypeError):
            rows.mark(wrong)


def test_nothing_at_all():
    rows, names = FirstRows(), made_of([], [])
    rows.seal()
    rows.set(names)
    rows.mark(names)
    rows.seal()
    assert rows.put_counts(b"", bytearray()) == 0
    assert (rows.counts_of(b"", 0, 1), rows.marks(0, 0)) == (b"", b"")
    assert (rows.count, names.new) == (0, 0)


def test_stays_inside_its_memory(fences):
    numbers = list(range(0, 64 * 5, 3))
    for place in fences[0].at_start, fences[0].at_end:
        rows = FirstRows(place(bytes(40)))
        rows.set(made_of(numbers, [NEW] * len(numbers)))
        rows.seal()
        counts = fences[1].at_end(bytes(8 * len(numbers)))
        pairs = array.array("Q", [value for number in numbers for value in (number, number)])
        assert rows.put_counts(pairs, counts) == len(numbers)
        assert [i for i, mark in enumerate(rows.marks(0, 400)) if mark == NEW] == numbers
        assert memoryview(rows.counts_of(counts, 100, 400)).cast("Q").tolist() == [i for i in numbers if i >= 100]
        del rows
