"""The order of values: numbers and times."""
from libc.stdint cimport uint8_t, uint64_t


# Where a value stands, compared as two words, the high one first. Both are 0 if it is not readable.
cdef struct Order:
    uint64_t high           # 2^63 + the greatest integer that is not above the value
    uint64_t low            # the rest, in units of 10^-19

# Read a value. False: it is not readable.
cdef bint read_order(const uint8_t *src, size_t n, Order *order) noexcept nogil

cdef inline bint is_later(const Order *order, const Order *other) noexcept nogil:
    return order.high > other.high or order.high == other.high and order.low > other.low
