"""Items of lists as rows of a block."""
from libc.stdint cimport int32_t, uint8_t

from uricodec._rows._engine cimport ROW_WORDS, ROWS


# Which items are gathered. Subclasses, other types, strings with surrogates and items longer than a block never are.
cdef enum:
    TEXT_ITEMS = 1      # str
    BYTES_ITEMS = 2     # bytes
    NULL_ITEMS = 4      # None is a null row; otherwise it is skipped


# Items whose bytes are consecutive: row i is dst[at[i] .. at[i + 1]), and comes from item numbers[i] of the list.
cdef struct Items:
    size_t rows
    const uint8_t *valid        # validity bitmap; NULL: no row is null
    int32_t at[ROWS + 1]
    Py_ssize_t numbers[ROWS]
    uint8_t bits[8 * ROW_WORDS]  # the memory of `valid`


# Copies items row .. stop of the list to dst, which has BLOCK bytes. Returns the first item that is not gathered.
cdef Py_ssize_t gather(Items *gathered, list items, Py_ssize_t row, Py_ssize_t stop, int kinds, uint8_t *dst) except -1
