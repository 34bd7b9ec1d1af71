"""A set of row numbers: the first rows of identifiers."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._counting._table cimport *


cdef class FirstRows:
    cdef uint64_t *words        # bit i & 63 of word i >> 6 is that of row i
    cdef size_t size            # words
    cdef Py_buffer memory         # the caller's memory, if given
    cdef bint given             # the caller provides the memory
    cdef readonly size_t count
    cdef uint64_t *ranks        # bits before each SPAN of words; NULL: not sealed

    cdef void discard(self)
    cdef void unseal(self) noexcept nogil
    cdef int must_be_sealed(self) except -1
    cdef int borrow_counts(self, object counts, Py_buffer *buffer, int flags=*) except -1
