"""What other modules use of the quote family."""
from uricodec._core._kernels cimport ByteSet

cdef ByteSet quote_set(object safe, bint plus)
cdef object stdlib()
