"""What writes the texts of a record."""
from libc.stdint cimport uint32_t, uint8_t
from libc.string cimport memcpy

from uricodec._codec._charsets cimport CharsetTable
from uricodec._codec._triplets cimport BytePolicy
from uricodec.logs._fields cimport Entry, Text


# The context of a text: a JSON string, a CSV cell, a JSON string in a CSV cell, or a column.
cdef enum Place:
    STRING, CELL, STRING_IN_CELL, RAW

cdef struct Writer:
    bint csv
    bint csv_safe           # put an apostrophe before a text that a spreadsheet may take for a formula
    bint flags
    BytePolicy errors
    uint32_t members        # bits of the members that the format has
    bint own_fields         # it has extra fields
    bint forwarded          # the client is the first address of forwarded_for
    const uint8_t *names    # of parameters to mask: for each its length (one byte) and its bytes; then 0
    size_t params           # how many parameters have a field of their own,
    Text *param             # their names, and what JSON has before their values
    Text *param_key
    const CharsetTable *charset     # of bytes that are not UTF-8; NULL: none
    uint8_t *room           # the buffer for decoded texts
    uint8_t *wide           # the buffer for texts decoded from the charset


# Suspicious properties of a request, as bits. FLAG_TEXTS has their names.
cdef enum:
    MALFORMED = 1, DOUBLE_ENCODED = 2, OVERLONG = 4, ENCODED_SLASH = 8, DOT_DOT = 16, NUL = 32
    FLAGS = 6

cdef struct Name:
    const char *name
    size_t n

cdef Name FLAG_TEXTS[6]

cdef inline uint8_t *put(const char *text, size_t n, uint8_t *dst) noexcept nogil:
    memcpy(dst, text, n)
    return dst + n


cdef uint8_t *put_any(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_text(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_decoded(const Writer *w, const Entry *entry, Text text, bint plus, Place place,
                          uint8_t *dst) noexcept nogil
cdef uint8_t *put_query(const Writer *w, const Entry *entry, Place place, uint8_t *dst) noexcept nogil
cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil
cdef uint8_t *put_masked(const Writer *w, const Entry *entry, Text text, bint parameters, Place place, uint8_t *dst) noexcept nogil
cdef bint next_address(Text *list, Text *address) noexcept nogil
cdef Text client_of(const Writer *w, const Entry *entry) noexcept nogil
cdef Text parameter_of(const Writer *w, Text query, const Text *name, bint *masked) noexcept nogil
cdef int flags_of(const Writer *w, Text text, bint decoded, bint query) noexcept nogil
cdef int flags_of_entry(const Writer *w, const Entry *entry) noexcept nogil
cdef uint8_t *put_flags(int flags, bint csv, uint8_t *dst) noexcept nogil
