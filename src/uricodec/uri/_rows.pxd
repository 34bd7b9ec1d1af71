"""Operations on several values of a row: their codes, and reading the values."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Outcome
from uricodec._rows._tuples cimport TupleOperation, Values
from uricodec._url._grammar cimport CODES


# Codes after those of the grammar.
cdef enum:
    TYPE = CODES            # a value has another type
    DOT_SEGMENT             # the path of a target has one
    STRUCTURE               # what is joined would be split into other components

# Set the values of a row. False: one of them has no bytes that the operation could read.
cdef bint read_tuple(const uint8_t *src, size_t n, const void *options, Values *values, Outcome *outcome) noexcept nogil


cdef class TupleRows(TupleOperation):
    pass


# --- words that are results -------------------------------------------------------------------------------------------

cdef enum:
    WORD = 16           # bytes that are copied for a word; more than the longest one has

cdef struct Word:
    size_t size
    uint8_t text[WORD]

# Set `count` words to these names.
cdef int fill_words(Word *words, int count, list names) except -1
