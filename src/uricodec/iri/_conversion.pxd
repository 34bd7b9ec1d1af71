"""Conversions between IRIs and URIs, over bytes: what modules that work on rows need."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport ByteSet, uc_set
from uricodec._rows._engine cimport SizedRow, Outcome


# Which bytes iri_to_uri() accepts and which it keeps. The options of its rows.
cdef struct Mapping:
    uc_set plain        # bytes that need no check: accepted ASCII, and UTF-8 bytes other than lead bytes in question
    uc_set safe         # ASCII that is kept; all other bytes are percent-encoded

cdef Mapping STRICT_MAPPING     # disallowed="raise"
cdef Mapping LENIENT_MAPPING    # disallowed="encode"

# Row operations on any bytes (_rows). The code of an outcome is a UriCode of uri/_grammar.
cdef SizedRow IRI_TO_URI_ROW   # options: a Mapping
cdef SizedRow URI_TO_IRI_ROW   # options: none

# The same with hosts in A-labels (host="idna") or characters (host="unicode", "safe"). IN_DOUBT: the functions of iri have to
# convert this row.
cdef enum:
    IN_DOUBT = -2
cdef SizedRow IRI_TO_URI_IDNA_ROW      # options: a Mapping
cdef SizedRow URI_TO_IRI_UNICODE_ROW   # options: none
cdef SizedRow URI_TO_IRI_SAFE_ROW      # options: none

# Check an IRI. Return the number of bytes to percent-encode, or UC_REJECTED. `unsure`: the bytes may be ill-formed
# UTF-8; otherwise the caller guarantees that they are well-formed.
cdef size_t check_iri_bytes(const uint8_t *src, size_t n, const Mapping *mapping, bint unsure,
                             Outcome *outcome) noexcept nogil

# Write the IRI to dst, which must not overlap src and must have a capacity of n bytes. Return its size, or UC_REJECTED.
cdef size_t decode_uri(const uint8_t *src, size_t n, bint unsure, uint8_t *dst, Outcome *outcome) noexcept nogil

cdef ByteSet UNTOUCHED      # ASCII that decode_uri() copies unchanged
