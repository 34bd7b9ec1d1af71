"""What other modules use of the quote family."""

cdef object stdlib()
