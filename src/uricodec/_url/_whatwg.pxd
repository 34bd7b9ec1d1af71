"""URLs as browsers read and write them (WHATWG URL Standard)."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Outcome, Run


cdef enum:
    # An href has at most 9 bytes for each of the URL (a byte that is not UTF-8 is written as "%EF%BF%BD"), and
    # WHATWG_EXTRA, and those of the base.
    WHATWG_FACTOR = 9
    WHATWG_EXTRA = 64

# An href, with the offsets that a relative URL needs.
cdef struct Href:
    const uint8_t *text
    int scheme              # a WhatwgScheme
    size_t scheme_size
    bint has_host
    bint opaque             # the path is
    size_t authority_end
    size_t path             # after the "/." of a path that would begin as an authority does
    size_t path_end
    size_t query_end

# Write the href of a URL. options: the Href of the base, or NULL.
cdef size_t whatwg_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil

# Reject what whatwg_row() rejects. It writes nothing.
cdef size_t check_whatwg_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil

# A block function: copies rows that are their own href.
cdef bint whatwg_block(Run *run) noexcept nogil


# Write the ASCII form of a domain beyond ASCII, in UTF-8, which the caller has decoded: dst has 9 * n + 16 bytes at least.
# Return the size. -1: it is invalid; -2: an exception is set.
cdef Py_ssize_t convert_domain(const uint8_t *domain, size_t n, uint8_t *dst, size_t capacity) noexcept nogil


# The base of relative URLs.
cdef class WhatwgBase:
    cdef bytes memory       # its href
    cdef Href href


# Return why the URL Standard rejects a URL (Diagnostic); None if it accepts it.
cdef object find_fault_of_url(object input, object base)
