"""The format of records, and which of their values are selected."""
from libc.stdint cimport uint8_t, uint32_t

from uricodec._base._kernels cimport uc_set


cdef enum Form:
    LINES, DELIMITED, CSV, JSON

# A span of fields, numbered from 0.
cdef struct Span:
    size_t first
    size_t last

# The path to members of objects: their names, joined by ".".
cdef struct Path:
    const uint8_t *text
    size_t size

cdef enum:
    PATHS = 32              # most paths,
    STEPS = 16              # and most names in each

cdef struct Frame:
    Form form
    uint8_t end
    bint only           # each value becomes a line, and nothing else is written
    bint free           # results may contain the delimiter
    bint jsonl          # each line becomes a JSON string
    uint8_t delimiter
    uc_set inside       # bytes that do not end a field or record,
    uc_set plain        # bytes that need no quotes in CSV,
    uc_set unmarked     # and bytes that do not matter for finding values
    bint copies         # the bytes between values are written, too
    Span *spans         # of the selected fields; disjoint, ascending
    size_t span_count
    Path paths[PATHS]       # to the selected members of JSON
    int path_count


cdef class Framing:
    cdef Frame frame
    cdef tuple names
    cdef readonly bytes end
    cdef uint8_t asked          # a JSON record was read,
    cdef uint8_t seen[PATHS]    # and one with the member of a path: threads only ever write 1
    cdef void note_seen(self, uint32_t paths) noexcept
