"""What a URN consists of, as positions."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport ByteSet


cdef enum Rfc:
    RFC2141, RFC8141, ANY


# What is wrong first. The names are those of Diagnostic.code.
cdef enum Code:
    VALID, SCHEME, NID, NID_LENGTH, NID_HYPHEN, NID_URN, NSS_EMPTY, NSS, PERCENT, PERCENT_NULL, COMPONENT_EMPTY, COMPONENT
    CODES


# What of a URN is not in normal form yet.
cdef enum Changes:
    LETTERS = 1             # of "urn" or the NID are upper case
    DIGITS = 2              # of triplets of the NSS are lower case
    COMPONENT_DIGITS = 4    # the same in a component
    TRIPLETS = 8            # there are triplets in the NSS


# A URN that was read: where things end, and where a component starts, 0 for one that there is not. After a fault, only
# code and offset say something.
cdef struct ParsedUrn:
    size_t nid_end          # the colon after the NID, which starts at 4
    size_t nss_end
    size_t r
    size_t q
    size_t f
    size_t end
    size_t offset           # of the fault
    Code code
    Rfc rfc               # by which it was read: not ANY
    int changes


cdef ByteSet ALPHANUM
cdef ByteSet NID_BYTES
cdef ByteSet PLAIN_2141     # what needs no decision in an NSS of RFC 2141,
cdef ByteSet PLAIN_8141     # and in the NSS and the components of RFC 8141
cdef ByteSet ALL_BYTES     # that a URN may have


cdef bint read_urn(const uint8_t *s, size_t n, Rfc rfc, ParsedUrn *urn) noexcept nogil
cdef size_t start_of_nss(const uint8_t *s, size_t n) noexcept nogil
cdef bint is_triplet(const uint8_t *s, size_t n, size_t i) noexcept nogil
