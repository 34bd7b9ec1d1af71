"""The components of a URL as positions, and the stdlib's result tuples."""
from uricodec._base._text cimport *

from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM


cdef struct Parts:
    Py_ssize_t scheme_end       # -1: no scheme
    Py_ssize_t netloc           # -1: no "//"
    Py_ssize_t path
    Py_ssize_t path_end         # also the end of the netloc: there is nothing between it and the path
    Py_ssize_t query            # -1: no "?"
    Py_ssize_t query_end
    Py_ssize_t fragment         # -1: no "#"
    Py_ssize_t end
    bint params                 # the path has a ";"


cdef bint find(str url, bint fragments, Parts *parts)
cdef str lower_scheme(str url, Py_ssize_t n)
cdef bint in_list(str scheme, str name) except -1
cdef object finished(object result)


cdef inline str piece(str url, Py_ssize_t start, Py_ssize_t end):
    """url[start:end]; empty for a component that there is not."""
    if start < 0 or start >= end:
        return ""
    if PyUnicode_IS_ASCII(url):
        return ascii_text(<const uint8_t *>PyUnicode_DATA(url) + start, <size_t>(end - start))
    return PyUnicode_Substring(url, start, end)


cdef inline void set_item(object result, Py_ssize_t i, str item) noexcept:
    Py_INCREF(item)
    PyTuple_SET_ITEM(result, i, item)
