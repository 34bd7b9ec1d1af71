"""IRIs to URIs and back, over octets."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport ByteSet, uc_set
from uricodec._rows._operation cimport Operation, Outcome


# What iri_to_uri() takes as it is, and what stays. The options of its rows.
cdef struct Mapping:
    uc_set plain        # ASCII that an IRI has or, with disallowed="encode", may have; beyond it what needs no look
    uc_set safe         # ASCII that stays; all else is percent-encoded

cdef Mapping STRICT_MAPPING     # disallowed="raise"
cdef Mapping LENIENT_MAPPING    # disallowed="encode"

# Rows of any bytes (_rows.pxd); a outcome is a Code of uri/_grammar.
cdef Operation IRI_TO_URI_ROW   # options: a Mapping
cdef Operation URI_TO_IRI_ROW   # options: none

# `unsure`: the bytes may be ill-formed UTF-8. The number of bytes that become triplets, or UC_REJECTED.
cdef size_t check_iri_octets(const uint8_t *src, size_t n, const Mapping *mapping, bint unsure,
                             Outcome *outcome) noexcept nogil

# Writes to dst, elsewhere, which has room for n octets. Returns how many, or UC_REJECTED.
cdef size_t decode_uri(const uint8_t *src, size_t n, bint unsure, uint8_t *dst, Outcome *outcome) noexcept nogil

cdef ByteSet UNTOUCHED      # ASCII in which there is nothing for decode_uri() to do
