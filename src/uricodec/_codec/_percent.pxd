"""The functions and sets of the percent codec that other modules use."""
from libc.stdint cimport uint8_t
from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet, kernels, uc_set
from uricodec._base._text cimport *

# Stack buffers that fit the results of SMALL bytes and the wide stores past their end.
cdef enum:
    ENCODED_CAPACITY = 3 * SMALL + 128
    DECODED_CAPACITY = SMALL + 64

cdef extern from "simd/octets.h" nogil:
    # The value of a hexadecimal digit; -1 for other bytes.
    int hex_value "uc_hex_value"(uint8_t c)
    # The byte that the triplet at s[0] (a "%") encodes; -1 if it is not a triplet.
    int triplet_value "uc_triplet_value"(const uint8_t *s, size_t n)
    # Write the triplet of a byte. Return its size.
    size_t write_triplet "uc_write_triplet"(uint8_t c, uint8_t *dst)


# Decodes a run of ASCII characters that starts at index `start` of a str.
ctypedef str (*run_decoder)(const uint8_t *src, size_t n, Py_ssize_t start, void *context)

cdef object encode_bytes(const uint8_t *src, size_t n, const uc_set *safe, bint plus, bint text)
cdef object encode_counted(const uint8_t *src, size_t n, size_t escapes, const uc_set *safe, bint plus, bint text)
cdef str encode_units(const uint8_t *src, size_t n, int width, const uc_set *safe, bint plus)
cdef str decode_text(const uint8_t *src, size_t n, bint plus, const char *errors)
cdef bytes decode_bytes(const uint8_t *src, size_t n, bint plus)
cdef str decode_runs(str text, run_decoder decoder, void *context)

cdef ByteSet PLAIN      # all bytes but '%' and '+'
cdef ByteSet UNRESERVED_SLASH
cdef ByteSet UNRESERVED_SPACE

cdef ByteSet quote_set(object safe, bint plus)
cdef object quote_dirty(str text, const uc_set *safe, bint plus)
cdef str unquote_str(str text, bint plus, const char *errors)


cdef inline bint is_plain(const uint8_t *src, size_t n, bint plus) noexcept nogil:
    """Return whether there is nothing to decode."""
    if plus:
        return kernels.span(src, n, &PLAIN.set) == n
    return memchr(src, c'%', n) == NULL


cdef inline bint is_spaced(const uint8_t *src, size_t n) noexcept nogil:
    return memchr(src, c' ', n) != NULL


cdef inline object quote_text(str text, const uc_set *safe, bint plus):
    """Return the quoted text, or the same object if nothing needs quoting; None if it has a surrogate."""
    cdef const uint8_t *src
    cdef size_t n
    PyUnicode_READY(text)
    n, src = <size_t>PyUnicode_GET_LENGTH(text), <const uint8_t *>PyUnicode_DATA(text)
    if PyUnicode_IS_ASCII(text) and kernels.span(src, n, safe) == n and not (plus and is_spaced(src, n)):
        return text
    return quote_dirty(text, safe, plus)


cdef inline object unquote_text(str text, bint plus, const char *errors):
    PyUnicode_READY(text)
    if PyUnicode_IS_ASCII(text) and is_plain(<const uint8_t *>PyUnicode_DATA(text), <size_t>PyUnicode_GET_LENGTH(text), plus):
        return text
    return unquote_str(text, plus, errors)
