"""What comes out of rows but text: verdicts, components, and octets of one size."""
from uricodec._core._arrow cimport Array, Type
from uricodec._core._batch cimport *


# Where one component is in a row; start < 0: there is none.
cdef struct Span:
    int64_t start
    int64_t end

cdef enum:
    MOST_FIELDS = 8

cdef answer_function answer_of(Kind kind)
cdef int prepare_answer(Task *task) except -1
cdef void discard_answer(Task *task) noexcept
cdef Array answer_array(Task *task, Room *valid, list code_names, bint large)
cdef Type answer_type(Kind kind, Type type, tuple fields, bint text, bint large)
cdef void accept_rows(Task *task, size_t first, size_t n) noexcept nogil
