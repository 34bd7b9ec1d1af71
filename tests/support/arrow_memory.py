"""Arrow without a library, by ctypes: the rows of any column, and columns of any layout."""

import ctypes
import struct
from collections import deque
from itertools import pairwise

_INTEGERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [
    *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
    *((name, ctypes.c_int64) for name in ("flags", "n_children")),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    *((name, ctypes.c_void_p) for name in ("release", "private_data")),
]
_Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    *((name, ctypes.c_void_p) for name in ("release", "private_data")),
]
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_SCHEMA, _ARRAY = b"arrow_schema", b"arrow_array"

# A function of C that takes a pointer and does nothing: the memory of a Lent is Python's.
_nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p)


# --- in ---------------------------------------------------------------------------------------------------------------


def rows_of(column):
    """The rows of an object with `__arrow_c_array__`, as Python has them."""
    schema, array = column.__arrow_c_array__()
    return _rows(
        ctypes.cast(_pointer_of(schema, _SCHEMA), ctypes.POINTER(_Schema)).contents,
        ctypes.cast(_pointer_of(array, _ARRAY), ctypes.POINTER(_Array)).contents,
    )


def _rows(schema, array):
    form, start, stop = schema.format.decode(), array.offset, array.offset + array.length

    def octets(number, size, at=0):
        return ctypes.string_at(array.buffers[number] + at, size) if size else b""

    def bits(number):
        data = octets(number, (stop + 7) // 8)
        return [bool(data[i // 8] >> i % 8 & 1) for i in range(start, stop)]

    def numbers(number, code, count):
        return struct.unpack(f"={count}{code}", octets(number, count * struct.calcsize(f"={code}")))

    if form == "+s":
        children = [_rows(schema.children[i].contents, array.children[i].contents) for i in range(schema.n_children)]
        rows = list(zip(*[child[start:stop] for child in children], strict=True))
    elif form in ("+l", "+L"):
        items = _rows(schema.children[0].contents, array.children[0].contents)
        rows = [
            items[first:last] for first, last in pairwise(numbers(1, "q" if form == "+L" else "i", stop + 1)[start:])
        ]
    elif schema.dictionary:
        values = _rows(schema.dictionary.contents, array.dictionary.contents)
        rows = [values[i] if 0 <= i < len(values) else None for i in numbers(1, _INTEGERS[form], stop)[start:]]
    elif form == "b":
        rows = bits(1)
    elif form == "w:16":
        rows = [octets(1, 16, 16 * i) for i in range(start, stop)]
    elif form in _INTEGERS:
        rows = list(numbers(1, _INTEGERS[form], stop)[start:])
    elif form in ("vu", "vz"):
        rows = [_view(array, *view) for view in struct.iter_unpack("=i4s4s4s", octets(1, 16 * stop))][start:]
    else:
        ends = numbers(1, "q" if form in "UZ" else "i", stop + 1)[start:]
        text = octets(2, ends[-1])
        rows = [text[first:last] for first, last in pairwise(ends)]
    if form in ("u", "U", "vu"):
        rows = [row.decode("utf-8", "surrogateescape") for row in rows]
    valid = bits(0) if array.n_buffers and array.buffers[0] else [True] * len(rows)
    assert array.null_count in (-1, valid.count(False))
    return [row if good else None for row, good in zip(rows, valid, strict=True)]


def _view(array, size, *parts):
    if size <= 12:
        return b"".join(parts)[:size]
    buffer, at = struct.unpack("=ii", b"".join(parts[1:]))
    return ctypes.string_at(array.buffers[2 + buffer] + at, size)


# --- out --------------------------------------------------------------------------------------------------------------


class Lent:
    """A column of text or octets, in one array. It has to outlive what is made of it, which may share its memory.

    Args:
        rows (list[bytes | None]): The rows.
        format (str): As Arrow writes the layout: "u", "U", "z", "Z", "vu" or "vz".
        indices (list[int] | None): The rows of a dictionary with these values.
        places (dict[int, Callable]): Functions that copy the bytes of a buffer (0: validity, 1: offsets or views,
            2: text, 5: indices) to memory of their own, and return a view of it.
        start (int): How many rows come before the first one of the column: it is a slice of what is in memory.
        after (int): How many rows come after the last one.
    """

    def __init__(self, rows, format="u", indices=None, places=None, start=0, after=0):  # noqa: PLR0913, PLR0917
        self._places = places or {}
        self._type = _Schema(format.encode(), b"", None, 2)
        self._held, self._given = [], deque(maxlen=64)
        data = b"".join(row or b"" for row in rows)
        ends, end = [0], 0
        for row in rows:
            end += len(row or b"")
            ends.append(end)
        if format in ("vu", "vz"):
            views = b"".join(
                struct.pack("=i12s", len(row), row) if len(row) <= 12 else struct.pack("=i4sii", len(row), row, 0, at)
                for row, at in zip([row or b"" for row in rows], ends, strict=False)
            )
            buffers = views, data, struct.pack("=q", len(data))
        else:
            buffers = struct.pack(f"={len(ends)}{'q' if format in 'UZ' else 'i'}", *ends), data
        valid = sum((row is not None) << i for i, row in enumerate(rows)).to_bytes((len(rows) + 7) // 8, "little")
        self._array = self._array_of(len(rows), rows.count(None), valid, *buffers)
        if indices is not None:
            values, self._type = self._type, _Schema(b"i", b"", None, 2)
            values.release = _nothing
            self._type.dictionary, self._held = ctypes.pointer(values), [*self._held, values]
            values = self._array
            values.release = _nothing
            self._array = self._array_of(len(indices), 0, None, struct.pack(f"={len(indices)}i", *indices), number=4)
            self._array.dictionary = ctypes.pointer(values)
        if start or after:
            self._array.offset, self._array.null_count = start, -1
            self._array.length -= start + after

    def _array_of(self, length, nulls, *buffers, number=0):
        held = [None if octets is None else self._memory_of(i, octets) for i, octets in enumerate(buffers, number)]
        pointers = (ctypes.c_void_p * len(held))(*[octets and ctypes.addressof(octets) for octets in held])
        self._held += [held, pointers]
        return _Array(length, nulls, 0, len(held), 0, ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)))

    def _memory_of(self, number, octets):
        if octets and number in self._places:
            return (ctypes.c_char * len(octets)).from_buffer(self._places[number](octets))
        return ctypes.create_string_buffer(octets)

    def __arrow_c_array__(self, requested_schema=None):
        type_, array = _Schema.from_buffer_copy(self._type), _Array.from_buffer_copy(self._array)
        type_.release = array.release = _nothing
        self._given.append((type_, array))  # until somebody has taken them, which is at once
        return _new_capsule(ctypes.addressof(type_), _SCHEMA, None), _new_capsule(ctypes.addressof(array), _ARRAY, None)
