"""Decoding with a policy for what cannot be decoded."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport uc_set
from uricodec._codec._percent cimport hex_value


# What becomes of a malformed triplet, and of decoded octets that are not UTF-8.
cdef enum Policy:
    KEEP        # it stays as it is
    REPLACE     # it becomes U+FFFD
    FAIL        # an error with its position

cdef enum Fault:
    NO_FAULT, MALFORMED, NOT_UTF8

cdef struct Careful:
    Policy policy       # for bytes that are not UTF-8,
    Policy malformed    # and for a '%' without two hexadecimal digits
    bint plus           # a '+' is a space
    bint utf8           # the decoded octets must be UTF-8 (RFC 3629)
    const uc_set *free  # triplets of all other octets stay; NULL: they are decoded, too
    bint c1             # and those of U+0080-009F stay
    Fault fault         # out: what failed
    size_t position     # out: and the octet of src where

cdef size_t decode_carefully(const uint8_t *src, size_t n, Careful *how, uint8_t *dst) noexcept nogil
cdef size_t count_malformed(const uint8_t *src, size_t n, size_t *first) noexcept nogil
cdef bint is_utf8(const uint8_t *src, size_t n) noexcept nogil
cdef Policy policy_of(object name, str replace_or_encode, str fail) except *
cdef int raise_fault(object data, const Careful *how) except -1


cdef inline size_t unit_at(const uint8_t *src, size_t i, size_t n, uint8_t *octet) noexcept nogil:
    """One octet of the decoded text: what it is, and how many octets of src stand for it, 3 or 1; 0 for no more."""
    cdef int high, low
    if i >= n:
        return 0
    octet[0] = src[i]
    if octet[0] == c'%' and n - i > 2:
        high, low = hex_value(src[i + 1]), hex_value(src[i + 2])
        if high >= 0 and low >= 0:
            octet[0] = <uint8_t>(high << 4 | low)
            return 3
    return 1
