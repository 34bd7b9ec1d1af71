"""The writer of the texts of a record, and the reader of lines."""
from libc.stdint cimport uint8_t
from libc.string cimport memchr

from uricodec.logs._fields cimport Code, Entry, Text
from uricodec.logs._formats cimport Format, Layout, Line
from uricodec._codec._triplets cimport Policy as BytePolicy


# The context of a text: a JSON string, a CSV cell, a JSON string in a CSV cell, or a column.
cdef enum Place:
    STRING, CELL, STRING_IN_CELL, RAW

cdef struct Writer:
    bint csv
    bint csv_safe           # put an apostrophe before a text that a spreadsheet may take for a formula
    bint flags
    BytePolicy errors
    const uint8_t *names    # of parameters to mask: for each its length (one byte) and its bytes; then 0
    uint8_t *room           # the buffer for decoded texts

# Suspicious properties of a request, as bits. FLAG_TEXTS has their names.
cdef enum:
    MALFORMED = 1, DOUBLE_ENCODED = 2, OVERLONG = 4, ENCODED_SLASH = 8, DOT_DOT = 16, NUL = 32
    FLAGS = 6

cdef struct Name:
    const char *name
    size_t n

cdef Name FLAG_TEXTS[6]

cdef uint8_t *put_text(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_decoded(const Writer *w, const Entry *entry, Text text, bint plus, Place place,
                          uint8_t *dst) noexcept nogil
cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil
cdef uint8_t *put_masked(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil
cdef int flags_of_entry(const Writer *w, const Entry *entry) noexcept nogil


# An invalid line.
cdef struct Found:
    size_t line
    size_t start
    size_t size
    size_t offset
    Code code

cdef enum:
    FAULTS = 1024           # the most faults that one call returns

# `counts`: bytes read, bytes written, lines, records, faults.
cdef object lines_of(const Found *found, const size_t *counts)

cdef class LogReader:
    cdef Format format
    cdef Layout layout
    cdef Writer writer
    cdef uint8_t *memory
    cdef size_t capacity        # the longest line that `memory` has capacity for
    cdef size_t max_line
    cdef bytes names
    cdef bint first         # whether the next line is the first one of the log
    cdef int reserve(self, size_t size) except -1
    cdef void write(self, const uint8_t *src, size_t n, uint8_t *dst, size_t cap, Found *found, size_t *counts) noexcept nogil
    cdef Line read(self, const uint8_t *src, size_t start, size_t size, Entry *entry) noexcept nogil


cdef inline size_t find(const uint8_t *s, size_t start, size_t n, uint8_t octet) noexcept nogil:
    """Return the offset of a byte from `start` on; n if it does not occur."""
    cdef const uint8_t *found
    if start >= n:
        return n
    found = <const uint8_t *>memchr(s + start, octet, n - start)
    return n if found == NULL else found - s


cdef inline size_t line_size(const uint8_t *src, size_t start, size_t n) noexcept nogil:
    """Return the size of a line without its terminator."""
    cdef size_t end = find(src, start, n, c'\n')
    return end - start - (end < n and end > start and src[end - 1] == c'\r')


cdef inline size_t next_line(const uint8_t *src, size_t end, size_t n) noexcept nogil:
    """Return where the next line starts, if this one is terminated; otherwise n."""
    if end < n and src[end] == c'\r':
        end += 1
    return end + (end < n)


cdef inline void note(const Entry *entry, size_t line, size_t start, size_t size, Found *found) noexcept nogil:
    found.line, found.start, found.size = line, start, size
    found.code, found.offset = entry.code, entry.offset
