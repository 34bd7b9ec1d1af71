"""Row functions that write keys of URLs, and what else works on query parameters."""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memmove

from uricodec._base._kernels cimport lower
from uricodec._rows._engine cimport Outcome


cdef enum:
    # A key has at most 3 bytes for each of the URL, and KEY_EXTRA, and the URL may be copied to the end of it.
    KEY_FACTOR = 4
    KEY_HOST = 3 * 253         # a domain name of 253 bytes, each of them a triplet
    KEY_EXTRA = KEY_HOST + 16  # delimiters, and the address that a number stands for
    LONGEST_HOST = 1024         # bytes that are converted to A-labels


# The keys "surt" and "w3lib".
cdef size_t surt_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil
cdef size_t w3lib_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil


# --- text -------------------------------------------------------------------------------------------------------------

cdef inline bint equals(const uint8_t *s, const uint8_t *lowered, size_t n) noexcept nogil:
    """Return whether n bytes are the lower-case ones, but for the case of ASCII letters."""
    cdef size_t i
    for i in range(n):
        if lower(s[i]) != lowered[i]:
            return False
    return True


cdef inline size_t move(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Copy bytes, or move them to the left."""
    memmove(dst, src, n)
    return n


cdef inline size_t size_until(const uint8_t *s, size_t n, uint8_t c) noexcept nogil:
    cdef const uint8_t *found = <const uint8_t *>memchr(s, c, n)
    return n if found == NULL else <size_t>(found - s)


# --- parameters -------------------------------------------------------------------------------------------------------

cdef struct QueryParameter:
    const uint8_t *text
    size_t name_size
    size_t size

cdef enum:
    FEW = 64            # parameters that are sorted on the stack

ctypedef int (*compare_function)(const void *a, const void *b) noexcept nogil

# Sort parameters, and write them to `query`, which none of them overlaps, with "&" between them.
cdef void write_sorted(QueryParameter *parameters, size_t count, compare_function compare, uint8_t *query) noexcept nogil

# Sort `count` parameters in place. False: a MemoryError is set.
cdef bint sort_query(uint8_t *query, size_t n, size_t count, compare_function compare) noexcept nogil


cdef inline int compare_names(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    cdef int order
    if a_size and b_size and a[0] != b[0]:      # most names
        return <int>a[0] - <int>b[0]
    order = memcmp(a, b, min(a_size, b_size))
    return order if order else (a_size > b_size) - (a_size < b_size)
