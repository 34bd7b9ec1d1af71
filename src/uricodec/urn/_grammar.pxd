"""The parts of a URN, as offsets."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport ByteSet


cdef enum Rfc:
    RFC2141, RFC8141, ANY


# The first error. Diagnostic.code has the same names in lower case.
cdef enum UrnCode:
    VALID, SCHEME, NID, NID_LENGTH, NID_HYPHEN, NID_URN, NSS_EMPTY, NSS, PERCENT, PERCENT_NULL, COMPONENT_EMPTY, COMPONENT
    CODES


# What is not in normal form.
cdef enum Changes:
    LETTERS = 1             # upper-case letters in "urn" or the NID
    DIGITS = 2              # lower-case digits in triplets of the NSS
    COMPONENT_DIGITS = 4    # the same in components
    TRIPLETS = 8            # the NSS contains triplets


# The parts of a URN: the ends of NID and NSS, and the starts of components (0: missing). If the URN is invalid, only
# `code` and `offset` are defined.
cdef struct ParsedUrn:
    size_t nid_end          # the colon after the NID, which starts at 4
    size_t nss_end
    size_t r
    size_t q
    size_t f
    size_t end
    size_t offset           # of the error
    UrnCode code
    Rfc rfc                 # whose grammar was used; never ANY
    int changes


cdef ByteSet ALPHANUM
cdef ByteSet NID_BYTES
cdef ByteSet PLAIN_2141     # bytes that need no decision in an NSS of RFC 2141,
cdef ByteSet PLAIN_8141     # and in the NSS and the components of RFC 8141
cdef ByteSet URN_BYTES      # that a URN may contain


cdef bint read_urn(const uint8_t *s, size_t n, Rfc rfc, ParsedUrn *urn) noexcept nogil
cdef size_t start_of_nss(const uint8_t *s, size_t n) noexcept nogil
cdef bint is_triplet(const uint8_t *s, size_t n, size_t i) noexcept nogil
