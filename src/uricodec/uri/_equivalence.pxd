"""Normal forms as objects."""
from uricodec._base._text cimport *

# The Level (_normalize.pxd) of that name.
cdef int level_of(object level) except -1


cdef inline bint is_short(PyObject *text) noexcept:
    """Whether a call may work on a text where it stands, and on the stack."""
    return (type(<object>text) is str and PyUnicode_IS_COMPACT_ASCII(<object>text)
            and PyUnicode_GET_LENGTH(<object>text) <= SMALL)
