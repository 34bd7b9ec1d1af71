"""Row functions that write keys of URLs, and what else works on bytes."""
from libc.stdint cimport uint8_t
from libc.string cimport memmove

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
