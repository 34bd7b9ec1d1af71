"""What writes the texts of a record."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from uricodec._url._queries cimport QueryField
from uricodec.logs._fields cimport copy_blocks, text_of
from uricodec.logs._line cimport *


# Suspicious properties of a request, as bits. FLAG_TEXTS has their names.
cdef enum:
    MALFORMED = 1, DOUBLE_ENCODED = 2, OVERLONG = 4, ENCODED_SLASH = 8, DOT_DOT = 16, NUL = 32
    FLAGS = 6

cdef struct Name:
    const char *name
    size_t n

cdef Name FLAG_TEXTS[6]

# The most bytes of a time that is written, and how many of them are its day, hour and minute.
cdef enum:
    TIME_SIZE = 48
    DAY = 10, HOUR = 13, MINUTE = 16

cdef inline uint8_t *put(const char *text, size_t n, uint8_t *dst) noexcept nogil:
    memcpy(dst, text, n)
    return dst + n


cdef uint8_t *put_any(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_text(const Writer *w, bint plain, Text text, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_decoded(const Writer *w, bint plain, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_query(const Writer *w, bint plain, Text query, Place place, uint8_t *dst) noexcept nogil
cdef inline Text value_of(const QueryField *field) noexcept nogil:
    """Return the value of a field; an empty one if it has none."""
    cdef size_t start = min(field.name_size + 1, field.size)
    return text_of(field.text + start, field.size - start)


cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil
cdef uint8_t *put_masked(const Writer *w, bint plain, Text text, bint parameters, Place place, uint8_t *dst) noexcept nogil
cdef Text parameter_of(const Writer *w, Text query, const Text *name, bint *masked) noexcept nogil
cdef int flags_of_request(const Writer *w, Text path, Text query, bint decoded, bint whole) noexcept nogil
cdef inline uint8_t *put_class(Text status, uint8_t *dst) noexcept nogil:
    """Write the class of a status: "5xx"."""
    dst[0], dst[1], dst[2] = status.at[0], c'x', c'x'
    return dst + 3


cdef size_t period_of(const uint8_t *time, size_t n, size_t period, uint8_t *dst) noexcept nogil
cdef size_t leave_out_quotes(uint8_t *records, size_t n, uint8_t delimiter, bint as_text) noexcept nogil
cdef uint8_t *put_flags(int flags, bint csv, uint8_t *dst) noexcept nogil
