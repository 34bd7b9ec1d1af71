"""Runs over arrays and buffers as objects."""
from uricodec._rows._arrow cimport Array, Buffer, Type
from uricodec._base._fingerprint cimport FingerprintKey
from uricodec._rows._engine cimport *


cdef dict LAYOUTS       # Arrow formats -> layout of the rows, and whether they are text
cdef dict WIDTHS        # formats of indices -> bytes of an index; negative: signed
cdef size_t limit_of_offsets     # offsets of larger results have 64 bits. It never changes, except in tests

cdef class Plan:
    cdef readonly RowOperation rows
    cdef ResultKind kind
    cdef readonly tuple fields
    cdef int components     # of each row
    cdef FingerprintKey key


cdef class SourceRows:
    cdef Source source
    cdef Source values
    cdef uc_set not_terminator
    cdef size_t size        # about how many bytes the rows have
    cdef Array array
    cdef Py_buffer view
    cdef bint viewed


cdef class Job:
    cdef Plan plan
    cdef SourceRows rows
    cdef RowPolicy policy
    cdef size_t start       # the range of its rows, or of bytes for lines
    cdef size_t stop
    cdef size_t limit       # how many rejected rows are listed
    cdef bint reports
    cdef size_t number
    cdef Run task
    cdef Buffer valid
    cdef list output        # bytes objects that text results are written to

    cdef int run(self) except -1


cdef SourceRows rows_of(Array array, Type type)
cdef SourceRows rows_of_lines(object buffer, object end)
cdef list jobs_of(Plan plan, list sources, RowPolicy policy, size_t limit, bint reports, size_t threads,
                  size_t number)
cdef tuple rejected_of(list jobs, size_t limit)
cdef int raise_row_of(RowOperation rows, const Source *source, size_t row, int code, size_t offset, size_t number) except -1

# Allocate the memory that only an executing run needs, and return its start.
cdef uint8_t *begin_work(Run *run) except NULL
# Raise the error that has ended a run, unless it is a rejected row.
cdef int check_run(const Run *run) except -1
# Process all rows, with pauses to check for signals.
cdef int run_to_end(Run *run) except -1


# --- lines ------------------------------------------------------------------------------------------------------------

# The first `limit` rejected lines of a run, as LineFault tuples.
cdef list faults_of(const Run *run, RowOperation operation, size_t limit)
