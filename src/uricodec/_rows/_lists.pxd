"""Items of lists as rows of a block."""
from libc.stdint cimport int32_t, uint8_t

from uricodec._rows._engine cimport ROW_WORDS, ROWS


# Which items are gathered. Subclasses, other types, and what has no UTF-8 or is longer than a block never are.
cdef enum:
    TEXT_ITEMS = 1      # str
    BYTES_ITEMS = 2     # bytes
    NULL_ITEMS = 4      # None is a row, too; else it is passed over


# Items whose bytes stand one after the other: row i is dst[at[i] .. at[i + 1]), and item numbers[i] of the list.
cdef struct Items:
    size_t rows
    const uint8_t *valid        # NULL: no row is null
    int32_t at[ROWS + 1]
    Py_ssize_t numbers[ROWS]
    uint8_t bits[8 * ROW_WORDS]  # what `valid` points to


# Gathers items from `row` on, up to `stop`, to dst, which has room for BLOCK bytes. Returns the first that is not gathered.
cdef Py_ssize_t gather(Items *gathered, list items, Py_ssize_t row, Py_ssize_t stop, int kinds, uint8_t *dst) except -1
