"""The condition for the fast path of calls."""
from uricodec._base._text cimport *

cdef inline bint is_short(PyObject *text) noexcept:
    """Return whether a call may read a text in place and build its result on the stack."""
    return (type(<object>text) is str and PyUnicode_IS_COMPACT_ASCII(<object>text)
            and PyUnicode_GET_LENGTH(<object>text) <= SMALL)
