"""One row in, one row out: the loop of an operation over a single value, as lines, columns and calls use it."""
from libc.stdint cimport uint8_t, uint64_t


cdef extern from *:
    """
    #define UC_REFUSED SIZE_MAX
    """
    # What a row function returns when it refuses its input.
    const size_t UC_REFUSED


# The code when what a row function called has raised an exception, which is set: nothing is done after that.
cdef enum:
    UC_RAISED = -1


cdef inline int raise_set() except -1:
    """Raise the exception that is set."""
    return -1


# Why, and where: a code of the module that the function is in, and an offset in src.
cdef struct Refusal:
    int code
    size_t offset


# What may be wrong with the record that a row stands in: codes behind those of an operation, see FRAME_NAMES.
cdef enum:
    FRAME               # the result has the delimiter or the end of the line in it
    BAD_CSV             # a quote that nothing closes
    BAD_JSON            # no object, or no string
    SURROGATE_ESCAPE    # half of a surrogate pair
    FRAME_CODES

cdef list FRAME_NAMES


# Reads src[0 .. n) and writes to dst, elsewhere, which has the room that its Operation asks for. Returns how many octets
# it has written, or UC_REFUSED; what it has written then is of no use.
ctypedef size_t (*row_function)(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                                Refusal *refusal) noexcept nogil

cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil

# Writes what stands for a row that was refused, where every row must be a record. Returns how many octets that are: never
# more than the Operation's extra.
ctypedef size_t (*refusal_function)(const Refusal *refusal, const void *options, uint8_t *dst) noexcept nogil


# Marks octets of src[0 .. n), whole lines that end where `ends` has bits, so that the operation copies a line without any,
# but for the digits of triplets, which become upper case.
ctypedef void (*mark_function)(const uint8_t *src, size_t n, const uint64_t *ends, uint64_t *marks) noexcept nogil


cdef struct Operation:
    row_function row
    size_t factor           # room that is needed: factor * n + extra octets
    size_t extra


# How many octets a row of n octets may become: as it is, or as the operation writes it, and as a line, with its end.
cdef inline size_t room_of(const Operation *operation, size_t n) noexcept nogil:
    return max(operation.factor, <size_t>1) * n + operation.extra + 2


# An operation with its options, and with words for what it refuses.
cdef class RowOperation:
    cdef Operation operation
    cdef const void *options            # in the object, or in one that it holds
    cdef refusal_function refused       # NULL: nothing stands for such a row
    cdef mark_function mark             # NULL: it is not known what is copied
    cdef readonly list code_names       # by Refusal.code: the names of codes,
    cdef readonly list reasons          # what an error says,
    cdef readonly object error          # and its class

    cdef object raise_refusal(self, object src, int code, size_t offset)
