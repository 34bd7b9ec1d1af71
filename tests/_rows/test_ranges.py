"""Rows that are joined, selected or taken by number: pyarrow checks the arrays, and reads the rows that they have."""

import random
import sys
from itertools import compress

import pytest

from uricodec import bulk
from uricodec.dedup import _identifiers

pa = pytest.importorskip("pyarrow")

OPERATIONS = [
    "normalize_uri",
    "is_valid_uri",
    "fingerprint",
    "host",
    "split_uri",
    "path_segments",
    "query_pairs",
    "check_uri",
]
TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()]
NEW, OLD = 2, 1


def drawn(chance, rows, type_):
    """A slice of an array of URLs and nulls."""
    words = ["", "s:", "no uri", "http://h.example/a/b?x=1&y=%41#f", f"http://{'h' * chance.randrange(60)}/?é"]
    values = [chance.choice([None, *words]) for _ in range(rows + 9)]
    return pa.array(values).cast(type_)[chance.randrange(9) :][:rows]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_joined_rows(type_):
    chance = random.Random(1)
    for name in OPERATIONS:
        for _ in range(20):
            chunks = pa.chunked_array([drawn(chance, chance.randrange(30), type_) for _ in range(4)], type_)
            column = getattr(bulk, name)(chunks, errors="keep")
            column = column[chance.randrange(5) :]
            one = pa.array(column)
            one.validate(full=True)
            assert one.to_pylist() == pa.chunked_array(column).to_pylist()
            assert one.type == pa.chunked_array(column).type
            assert one.null_count == pa.chunked_array(column).null_count


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_selected_rows(type_):
    chance = random.Random(2)
    for in_dictionary in False, True:
        for _ in range(100):
            array = drawn(chance, in_dictionary + chance.randrange(70), type_)
            if in_dictionary:
                numbers = [chance.choice([None, *range(len(array))]) for _ in range(40)]
                array = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int16()), array)[chance.randrange(9) :]
            often = chance.random()
            marks = bytes(NEW if chance.random() < often else OLD for _ in range(len(array)))
            selected = pa.array(_identifiers.select(array, marks))
            selected.validate(full=True)
            assert selected.to_pylist() == [*compress(array.to_pylist(), [mark == NEW for mark in marks])]
            assert selected.type == array.type


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_rows_by_number(type_):
    chance = random.Random(3)
    for name in OPERATIONS:
        for _ in range(20):
            values = drawn(chance, 1 + chance.randrange(20), type_)
            numbers = pa.array([chance.choice([None, *range(len(values))]) for _ in range(60)], pa.int8())
            numbers = numbers[chance.randrange(9) :]
            taken = getattr(bulk, name)(pa.DictionaryArray.from_arrays(numbers, values), errors="keep")
            taken = pa.array(taken)
            taken.validate(full=True)
            results = pa.array(getattr(bulk, name)(values, errors="keep"))
            wanted = [None if number is None else results[number].as_py() for number in numbers.to_pylist()]
            assert taken.to_pylist() == wanted


def test_decreasing_offsets_of_dictionaries_that_are_joined():
    chunks = []
    for ends in (0, 1, 2), (0, 9, 1), (5, 1, 2), (-1, 1, 2):
        offsets = bytearray(12)
        words = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"ab")])
        chunks.append(pa.DictionaryArray.from_arrays(pa.array([0, None]), words, safe=False))
        offsets[:] = b"".join(end.to_bytes(4, sys.byteorder, signed=True) for end in ends)
    for chunk in chunks[1:]:
        column = pa.chunked_array([chunks[0], chunk])
        with pytest.raises(ValueError, match="decreasing offsets"):
            pa.array(_identifiers.select(column, bytes([NEW] * 4)))
