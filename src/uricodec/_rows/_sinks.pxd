"""Where results go: text, views, fingerprints, verdicts, diagnostics, structs and lines."""
from uricodec._rows._arrow cimport Array, Room, Type
from uricodec._base._fingerprint cimport Key
from uricodec._rows._engine cimport *


# The results that a column can be asked for.
cdef enum Kind:
    TEXT, FINGERPRINT, VERDICT, DIAGNOSTIC, STRUCT

# Sets the sink of a run whose source is set, for a column of results, or for lines in memory that grows.
cdef void set_sink(Run *run, Kind kind) noexcept
# Lines go to run.data, which has run.capacity bytes; NULL: nowhere.
cdef void set_buffer_sink(Run *run) noexcept

cdef int prepare_answer(Run *run, Kind kind) except -1
cdef void discard_answer(Run *run) noexcept
cdef Array answer_array(Run *run, Kind kind, Room *valid, list code_names, bint large)
cdef Type answer_type(Kind kind, Type type, tuple fields, bint text, bint large)
