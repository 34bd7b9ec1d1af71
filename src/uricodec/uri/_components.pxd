"""Resolving references against a base, one by one or in rows."""
from libc.stdint cimport uint8_t

from uricodec._base._text cimport *
from uricodec._rows._engine cimport Outcome, SizedRow
from uricodec._url._grammar cimport Parts


# A parsed base URI, used for any number of references.
cdef struct Base:
    const uint8_t *s
    size_t n
    Parts parts
    size_t directory        # where the last segment of its path begins
    bint strict             # False: ignore the scheme of a reference if it equals the base's

# Parse a base. False: it has no scheme.
cdef bint find_base(const uint8_t *s, size_t n, bint strict, Base *base) noexcept nogil

# Write the target of a reference, at most base.n + n + RESOLVE_EXTRA bytes, and return its size.
cdef size_t write_target(const Base *base, const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil

cdef enum:
    RESOLVE_EXTRA = 3

# Return the row operation for references. Its options are the Base, which must outlive it.
cdef SizedRow resolve_rows(const Base *base) noexcept

# Write the shortest reference to a target, at most n + 1 bytes, and return its size. The buffer has the capacity that
# write_target() needs. UC_REJECTED: the target has no scheme, or no reference resolves to it.
cdef size_t write_reference_to(const Base *base, const uint8_t *s, size_t n, uint8_t *dst, uint8_t *buffer,
                               Outcome *outcome) noexcept nogil


cdef inline bint is_short(PyObject *text) noexcept:
    """Return whether a call may read a text in place and build its result on the stack."""
    return (type(<object>text) is str and PyUnicode_IS_COMPACT_ASCII(<object>text)
            and PyUnicode_GET_LENGTH(<object>text) <= SMALL)
