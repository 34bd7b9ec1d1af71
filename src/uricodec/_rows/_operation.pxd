"""Operations on rows as objects; see _engine.pxd for what the engine knows of one."""
from uricodec._rows._engine cimport *


cdef inline int raise_set() except -1:
    """Raise the exception that is set."""
    return -1


# What may be wrong with the record that a row stands in: codes after those of an operation, see FRAME_NAMES.
cdef enum:
    FRAME               # the result has the delimiter or the terminator in it
    BAD_CSV             # a quote that nothing closes
    BAD_JSON            # no object, or no string
    SURROGATE_ESCAPE    # half of a surrogate pair
    FRAME_CODES

cdef list FRAME_NAMES


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil

# The policy of this name. `drops`: rows may vanish; otherwise "drop" is an error.
cdef int policy_named(object errors, bint drops=*) except -1


# How many bytes a row of n bytes may become: as it is, or as the operation writes it, and as a line, with its terminator.
cdef inline size_t room_of(const Operation *operation, size_t n) noexcept nogil:
    return max(operation.factor, <size_t>1) * n + operation.extra + 2


# An operation with its options, and with words for what it rejects.
cdef class RowOperation:
    cdef Slots slots                    # set in __cinit__, then constant
    cdef readonly list code_names       # by Outcome.code: the names of codes,
    cdef readonly list reasons          # what an error says,
    cdef readonly object error          # and its class

    cdef int check_policy(self, RowPolicy policy) except -1
    # The result for a str with lone surrogates that the policy keeps or replaces; None: the operation has none.
    cdef object with_surrogates(self, str text, RowPolicy policy)
