"""What a record is, and which of its values count: for loops over records."""
from libc.stdint cimport uint8_t, uint32_t

from uricodec._base._kernels cimport uc_set


cdef enum Form:
    LINES, DELIMITED, CSV, JSON

# Fields, by their numbers from 0.
cdef struct Span:
    size_t first
    size_t last

# How members of objects are reached: their names, with "." between them.
cdef struct Path:
    const uint8_t *text
    size_t size

cdef enum:
    PATHS = 32              # at most,
    STEPS = 16              # and so many names in each

cdef struct Frame:
    Form form
    uint8_t end
    bint only           # each value becomes a line, and nothing else is written
    bint free           # a value may have the delimiter in it
    bint jsonl          # each line becomes a string of JSON
    uint8_t delimiter
    uc_set inside       # octets that end neither a field nor a record,
    uc_set plain        # and need no quotes in CSV
    uc_set unmarked     # ... that mean nothing to whoever looks for values
    bint copies         # what surrounds values is written, too
    Span *spans         # of the fields with values; disjoint, ascending
    size_t span_count
    Path paths[PATHS]       # of the members of JSON with values
    int path_count


cdef class Framing:
    cdef Frame frame
    cdef tuple names
    cdef readonly bytes end
    cdef uint8_t asked          # whether there was a record of JSON,
    cdef uint8_t seen[PATHS]    # and one with the member of a path: what threads set to 1, and nothing else
    cdef void note_seen(self, uint32_t paths) noexcept
