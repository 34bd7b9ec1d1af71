"""What other loops use of the percent codec."""
from libc.stdint cimport uint8_t
from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet, kernels, uc_set
from uricodec._base._text cimport SMALL

# Room on the stack for what SMALL octets become, with that of the wide stores past its end.
cdef enum:
    ENCODED_ROOM = 3 * SMALL + 128
    DECODED_ROOM = SMALL + 64

# Decodes a run of ASCII that starts at a character of a str.
ctypedef str (*run_decoder)(const uint8_t *src, size_t n, Py_ssize_t start, void *context)

cdef object encode_octets(const uint8_t *src, size_t n, const uc_set *safe, bint plus, bint text)
cdef object encode_counted(const uint8_t *src, size_t n, size_t escapes, const uc_set *safe, bint plus, bint text)
cdef str encode_units(const uint8_t *src, size_t n, int width, const uc_set *safe, bint plus)
cdef str utf8_text(const uint8_t *src, size_t n, const char *errors)
cdef str decode_text(const uint8_t *src, size_t n, bint plus, const char *errors)
cdef bytes decode_bytes(const uint8_t *src, size_t n, bint plus)
cdef str decode_runs(str text, run_decoder decoder, void *context)
cdef int hex_value(uint8_t c) noexcept nogil

cdef ByteSet PLAIN      # every octet but '%' and '+'


cdef inline bint is_plain(const uint8_t *src, size_t n, bint plus) noexcept nogil:
    """Whether there is nothing to decode."""
    if plus:
        return kernels.span(src, n, &PLAIN.set) == n
    return memchr(src, c'%', n) == NULL
