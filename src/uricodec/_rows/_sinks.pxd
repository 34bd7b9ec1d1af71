"""Destinations of results: columns of text, views, fingerprints, verdicts, diagnostics, components, lists, and lines."""
from uricodec._rows._arrow cimport Array, Buffer, Type
from uricodec._base._fingerprint cimport Key
from uricodec._rows._engine cimport *


# The kinds of results of a column.
cdef enum ResultKind:
    TEXT, FINGERPRINT, VERDICT, DIAGNOSTIC, STRUCT, COMPONENT, LIST

# Set the sink of a run whose source is set: for a column of results, or for lines in a buffer that grows.
cdef void set_sink(Run *run, ResultKind kind) noexcept
# Lines are written to run.data, which has run.capacity bytes; NULL: nothing is written.
cdef void set_buffer_sink(Run *run) noexcept

# Return the number of items of all lists so far.
cdef size_t items_before(const Run *run) noexcept nogil
cdef int prepare_result(Run *run, ResultKind kind) except -1
cdef void discard_result(Run *run) noexcept
cdef Array result_array(Run *run, ResultKind kind, Buffer *valid, list code_names, bint large)
cdef Type result_type(ResultKind kind, Type type, tuple fields, bint text, bint large)
