"""Tasks, and what is needed to make some."""
from uricodec._core._arrow cimport Array, Room, Type
from uricodec._core._batch cimport *
from uricodec._core._fingerprint cimport FingerprintKey


cdef dict LAYOUTS       # Arrow formats: where rows are, and whether they are text
cdef dict WIDTHS        # of indices; negative: they have a sign
cdef size_t limit_of_offsets

cdef class Plan:
    cdef readonly RowOperation rows
    cdef Kind kind
    cdef uc_set plain
    cdef bint has_plain
    cdef readonly tuple fields
    cdef FingerprintKey key
    cdef const void *key_data
    cdef digest_function digest


cdef class Rows:
    cdef Source source
    cdef Source values
    cdef uc_set no_end
    cdef size_t octets      # about how many there are
    cdef Array array
    cdef Py_buffer view
    cdef bint viewed


cdef class Job:
    cdef Plan plan
    cdef Rows rows
    cdef Refused policy
    cdef size_t start       # of its rows, or octets of lines,
    cdef size_t stop
    cdef size_t limit       # of rows that are refused, and listed
    cdef bint look
    cdef size_t number
    cdef Task task
    cdef Room valid
    cdef list lent          # bytes that text is written to

    cdef int run(self) except -1


cdef Rows rows_of(Array array, Type type)
cdef Rows rows_of_lines(object buffer, object end)
cdef list jobs_of(Plan plan, list sources, Refused policy, size_t limit, bint look, size_t threads,
                   size_t number)
cdef tuple bads_of(list jobs, size_t limit)
cdef int raise_bad(RowOperation rows, const Source *source, size_t row, int code, size_t offset, size_t number) except -1
