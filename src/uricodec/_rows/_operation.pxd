"""Operations on rows as objects. See Slots in _engine.pxd for what the engine knows of an operation."""
from uricodec._base._kernels cimport raise_set
from uricodec._rows._engine cimport *


# Reasons to reject a record for its framing: codes after those of the operation, see FRAME_NAMES.
cdef enum:
    FRAME               # the result contains the delimiter or the terminator
    BAD_CSV             # unclosed quote
    BAD_JSON            # not an object, or not a string
    SURROGATE_ESCAPE    # a lone surrogate
    FRAME_CODES

cdef list FRAME_NAMES


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil

# Return the RowPolicy of a name. `drops`: "drop" is supported; otherwise it is an error.
cdef int policy_named(object errors, bint drops=*) except -1


# The capacity that the result of a row of n bytes needs: kept or transformed, and as a line with its terminator.
cdef inline size_t capacity_of(const Operation *operation, size_t n) noexcept nogil:
    return max(operation.factor, <size_t>1) * n + operation.extra + 2


# An operation with its options, and the names and messages of its codes.
cdef class RowOperation:
    cdef Slots slots                    # set in __cinit__, then constant
    cdef readonly list code_names       # indexed by Outcome.code: the names of codes,
    cdef readonly list reasons          # the error messages,
    cdef readonly object error          # and the exception class

    cdef int check_policy(self, RowPolicy policy) except -1
    # Return the result for a str with lone surrogates under `keep` or `replace`; None if not supported.
    cdef object with_surrogates(self, str text, RowPolicy policy)
