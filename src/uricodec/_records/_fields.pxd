"""One value of each record of a buffer: rows that are found in records."""
from libc.stdint cimport int64_t, uint8_t

from uricodec._records._framing cimport Frame, Seen
from uricodec._rows._arrow cimport Buffer


# A record that does not have exactly one value, or whose value cannot be read.
cdef struct Unselected:
    size_t row
    size_t start
    size_t offset           # of the error, in the record
    int code                # see RECORD_NAMES

cdef struct Selection:
    size_t count            # records
    Buffer starts           # where each starts, and the end of the last one: size_t
    Buffer text             # the values of all records, unescaped,
    Buffer ends             # and where those of each record start in it; and the end of the last one: int64_t
    Buffer without          # the records without one value: Unselected structs
    Seen seen

# The names of the codes of a record.
cdef list RECORD_NAMES

# Find the records of a buffer, and if `values`, the value of each. `stops`: only those before the first that does not
# have one, whose end is known, too.
# False: out of memory.
cdef bint select_values(const Frame *frame, const uint8_t *src, size_t n, bint values, bint stops,
                        Selection *found) noexcept nogil
# Return the offset in a record, given with its terminator, of a byte of its only value.
cdef size_t place_in_record(const Frame *frame, const uint8_t *src, size_t n, size_t offset) noexcept nogil
