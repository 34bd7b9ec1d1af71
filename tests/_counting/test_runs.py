"""Merges of sorted runs, beside sorted(), and external sorting, also where files cannot be read."""

import errno
import io
import itertools
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import saved_sets as naive
from support.tables import each_row

from uricodec._counting import runs as module
from uricodec._counting._counts import lines_of_counts, unpack_ranked
from uricodec._counting._runs import Merge, Sorted, pack, unpack
from uricodec._counting.runs import Runs, Sorter
from uricodec._io.files import FileError
from uricodec._io.scratch import Scratch


class Unreadable(io.BytesIO):
    def read(self, *_size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_sorted_runs_that_cannot_be_read(tmp_path, monkeypatch):
    with Scratch(tmp_path) as scratch:
        monkeypatch.setattr(scratch, "file", Unreadable)
        sorter = Sorter(scratch, 100)
        for record in b"b" * 100, b"a" * 100:
            sorter.add(record)
        with pytest.raises(FileError, match=r"Input/output error$"):
            next(iter(sorter))


def test_sorted_runs_that_nobody_reads(tmp_path):
    with Scratch(tmp_path) as scratch:
        sorter = Sorter(scratch, 100)
        for record in b"b" * 100, b"a" * 100:
            sorter.add(record)
        files = list(scratch._files[1:])
        sorter.close()
        assert len(files) == 1 and all(file.closed for file in files)
        assert list(sorter) == []


def test_a_truncated_file_of_runs():
    with Scratch(None) as scratch:
        runs = Runs(scratch, "records", 100)
        runs.add(iter([pack([bytes(20)])]))
        scratch._files[-1].truncate(5)
        with pytest.raises(FileError, match="temporary file was truncated"):
            list(runs.merged())


@each_row("fan", [2, 3, 64])
def test_sorting_with_little_memory(monkeypatch, fan):
    """Runs of runs; equal records are all kept, and those that begin others come first."""
    monkeypatch.setattr(module, "FAN", fan)
    chance = random.Random(fan)
    wanted = [chance.randbytes(2) * 8 + chance.randbytes(chance.choice([0, 0, 1, 3, 300])) for _ in range(5000)]
    with Scratch(None) as scratch:
        sorter = Sorter(scratch, 10_000)
        for record in wanted:
            sorter.add(record)
        assert list(sorter) == sorted(wanted)
        files = sum(not file.closed for file in scratch._files)
        sorter.close()
        assert files <= 10 and all(file.closed for file in scratch._files)


# --- the merge --------------------------------------------------------------------------------------------------------

small_sets = st.lists(st.sets(st.integers(0, 40)), max_size=5)
# Few different ones, so that many are equal in their first bytes.
sized = st.builds(lambda first, rest: bytes(15) + first + rest, st.sampled_from([b"a", b"b"]), st.binary(max_size=40))


@given(
    found=st.lists(st.lists(sized, max_size=20), max_size=6),
    size=st.sampled_from([0, 30, 100, 10_000]),
)
def test_merging_records(found, size):
    runs = [sorted(records) for records in found]
    blocks = Merge([iter([pack(run[i : i + 3]) for i in range(0, len(run), 3)]) for run in runs], "records", size)
    merged = [record for block in blocks for record in unpack(block)]
    assert merged == sorted(record for run in runs for record in run)


@given(found=st.lists(st.lists(sized, max_size=20), max_size=6), size=st.sampled_from([0, 30, 100, 10_000]))
def test_sorting_records(found, size):
    blocks = list(Sorted([pack(records) for records in found], size))
    assert [record for block in blocks for record in unpack(block)] == sorted(itertools.chain.from_iterable(found))
    assert all(len(block) <= size or len(unpack(block)) == 1 for block in blocks)


@pytest.mark.parametrize("damaged", [b"x", bytes(24), pack([b"abc" * 6])[:-1], pack([bytes(16)]) + b"x", pack([b"a"])])
def test_damaged_records(damaged):
    readers = [unpack, unpack_ranked, lines_of_counts, lambda block: list(Merge([iter([block])], "records"))]
    for read in [*readers, lambda block: Sorted([block], 1)]:
        with pytest.raises(ValueError, match=r"^damaged block: a record is incomplete$"):
            read(damaged)


@given(small_sets, st.integers(1, 9))
def test_merging_fingerprints(sets, size):
    def blocks(numbers):
        rows = [(number << 60).to_bytes(16, "little") for number in sorted(numbers)]
        rows.sort(key=naive.order)
        return iter([b"".join(rows[i : i + size]) for i in range(0, len(rows), size)])

    expected = {
        "any": set().union(*sets),
        "all": set.intersection(*sets) if sets else set(),
        "only-first": sets[0].difference(*sets[1:]) if sets else set(),
    }
    for keep, numbers in expected.items():
        assert b"".join(Merge([blocks(each) for each in sets], keep)) == b"".join(blocks(numbers))


def test_merging_fingerprints_that_are_not_sorted():
    one, two = b"a" * 16, b"b" * 16
    for blocks in [two + one], [two, one], [one + one], [one, one], [one[:8]]:
        with pytest.raises(ValueError, match=r"not ascending|incomplete"):
            list(Merge([iter(blocks), iter([one])], "any"))
        with pytest.raises(ValueError, match=r"not ascending|incomplete"):
            list(Merge([iter(blocks)], "any"))


def test_more_blocks_than_one():
    """A merge of more fingerprints than a block has, in runs of different sizes."""
    chance = random.Random(1)
    numbers = sorted(chance.sample(range(1 << 40), 150_000))
    rows = [(number << 24).to_bytes(8, "little") + bytes(8) for number in numbers]
    runs = [b"".join(rows[i::3]) for i in range(3)]
    assert b"".join(Merge([iter([each]) for each in runs], "any")) == b"".join(rows)
