"""What other modules use of the quote family."""
from uricodec._base._kernels cimport ByteSet, uc_set

cdef ByteSet quote_set(object safe, bint plus)
cdef object stdlib()
cdef object quote_text(str text, const uc_set *safe, bint plus)
cdef object unquote_text(str text, bint plus, const char *errors)
