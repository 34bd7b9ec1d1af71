"""Values in fields of CSV (RFC 4180) and strings of JSON (RFC 8259)."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._base._kernels cimport ByteSet, uc_set


# not a valid index or code unit
cdef enum: NOWHERE = -1

# A field of CSV: s[start .. end), including its quotes.
cdef struct CsvField:
    size_t start
    size_t end
    bint quoted
    bint closed         # the quote is closed, or the field is not quoted

cdef void find_csv_field(const uint8_t *s, size_t i, size_t n, const uc_set *inside, CsvField *field) noexcept nogil
cdef size_t unescape_csv(const uint8_t *s, const CsvField *field, uint8_t *dst) noexcept nogil
cdef size_t place_in_csv(const uint8_t *s, const CsvField *field, size_t offset) noexcept nogil
cdef size_t escape_csv(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil


cdef inline bint starts_formula(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a spreadsheet may read a value as a formula: by its first character, after any spaces.

    These are = + - @, their full-width forms (U+FF1D, U+FF0B, U+FF0D, U+FF20), tab, CR and LF (OWASP, CSV Injection).
    """
    cdef size_t i = 0
    while i < n and s[i] == c' ':
        i += 1
    if i == n:
        return False
    if s[i] == 0xEF:
        return n - i >= 3 and (s[i + 1] == 0xBC and (s[i + 2] == 0x9D or s[i + 2] == 0x8B or s[i + 2] == 0x8D
                                                     or s[i + 2] == 0xA0))
    return (s[i] == c'=' or s[i] == c'+' or s[i] == c'-' or s[i] == c'@' or s[i] == c'\t' or s[i] == c'\r'
            or s[i] == c'\n')


# A member of an object, or an element of an array: the name s[name .. name_end) of a member; and if it is a string, its
# value s[value .. value_end). Both without quotes.
cdef struct Member:
    size_t name
    size_t name_end
    bint name_escaped   # it contains a backslash
    size_t start        # of the value, of any type
    size_t value        # 0: the value is not a string
    size_t value_end
    bint value_escaped

cdef enum Found_member: MEMBER, NO_MORE, NO_OBJECT

# Bytes that may begin or end a string, an object or an array, and the backslash. `marks` has a bit for each in s.
cdef ByteSet JSON_STRUCTURE
cdef Found_member next_member(const uint8_t *s, const uint64_t *marks, size_t *i, size_t n, bint first, bint array,
                              Member *member) noexcept nogil
cdef size_t end_of_value(const uint8_t *s, const uint64_t *marks, size_t i, size_t n) noexcept nogil
cdef size_t unescape_json(const uint8_t *s, size_t n, uint8_t *dst, int *code, size_t *place) noexcept nogil
cdef size_t place_in_json(const uint8_t *s, size_t n, size_t offset) noexcept nogil
cdef size_t escape_json(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil
cdef bint is_plain_json(const uint8_t *src, size_t n) noexcept nogil


cdef inline size_t skip_spaces(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    while i < n and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r' or s[i] == c'\n'):
        i += 1
    return i
