"""Most lines of text logs, read and written at once."""
from libc.stdint cimport uint32_t, uint64_t, uint8_t

from uricodec.logs._programs cimport Plan, Step
from uricodec.logs._texts cimport Writer


# How the end of a field is found.
cdef enum FastTake:
    TO_SPACE, TO_BYTE, TO_LITERAL, TO_QUOTE, FIXED_TIME, OTHER_TIME, TO_LIST_END

# What is written of a field.
cdef enum FastValue:
    NOTHING, PLAIN_VALUE, NUMBER_VALUE, SECONDS_VALUE, TIME_VALUE, ADDRESSES_VALUE
    METHOD_VALUE, TARGET_VALUE, PATH_VALUE, QUERY_VALUE, PROTOCOL_VALUE

# A literal, and its first 8 bytes as a word.
cdef struct FastLiteral:
    const uint8_t *at
    size_t n
    uint64_t word, mask

cdef struct FastStep:
    const Step *step
    FastLiteral literal
    FastTake take
    bint number, decimal, endpoint
    bint space          # whether the literal begins with a space
    bint usual          # whether a time must have its usual form

# A member of the record: the text before its value, with the quote of a text, and the field.
cdef enum:
    KEY_CAPACITY = 32
cdef struct FastMember:
    uint8_t key[32]         # KEY_CAPACITY
    size_t n
    FastValue value
    int step

# A time as it was logged last, up to its minutes and its zone, and as it was written.
cdef struct FastTime:
    uint8_t logged[26]
    uint8_t written[32]
    bint known

cdef enum:
    PARTS = 6
cdef struct FastPlan:
    const Plan *plan
    size_t steps, members, extras
    uint8_t witness[3]      # bytes,
    size_t least[3]         # and how many of each the literals have that a line must have
    bint own_fields
    int request             # what there is of the request, as bits: PARTS
    int part[6]             # their steps; -1: none
    FastLiteral start       # before the first field
    FastStep *step
    FastMember member[17]
    int *extra              # the steps of the extra fields
    FastTime time

# Lines to write. The window is the part of them that is marked.
cdef enum:
    WINDOW = 8192
cdef struct FastRun:
    const uint8_t *src
    size_t n
    uint8_t *dst
    size_t capacity
    size_t start, written, lines
    uint32_t seen               # bits of the members, in the order of NAMES, that a record had a value of
    size_t window, window_end
    uint64_t special[128]       # WINDOW / 64
    uint64_t space[128]


cdef FastPlan *make_fast(const Plan *plan, const Writer *w) noexcept
cdef void free_fast(FastPlan *fast) noexcept
cdef void write_fast(FastPlan **fast, int variants, const Writer *w, size_t max_line, size_t record_extra, FastRun *run) noexcept nogil
