"""The offsets of the components of a URL, and the stdlib's result tuples."""
from uricodec._base._text cimport *
from uricodec.parse._arguments cimport BOOL, CONTAINS, EQUAL, HASH, LENGTH, REPLACE, STRIP, usable


cdef enum UrlForm:         # of a URL: what its pieces become
    ASCII_TEXT, TEXT, BYTES
    UTF8_TEXT           # text beyond ASCII, as UTF-8 that is not of an object


# A URL as it was given. It borrows from the object.
cdef struct Url:
    PyObject *owner
    const void *data
    Py_ssize_t size
    int width
    UrlForm form


cdef struct UrlPieces:
    Py_ssize_t scheme_end       # -1: no scheme
    Py_ssize_t netloc           # -1: no "//"
    Py_ssize_t path
    Py_ssize_t path_end         # also the end of the netloc: there is nothing between it and the path
    Py_ssize_t query            # -1: no "?"
    Py_ssize_t query_end
    Py_ssize_t fragment         # -1: no "#"
    Py_ssize_t end
    bint params                 # the path has a ";"
    bint brackets               # in the netloc
    bint beyond                 # the netloc is not ASCII


cdef bint read(object given, Url *url)
cdef bint find(const Url *url, bint fragments, UrlPieces *parts) except -1
cdef object cleaned(object given)
cdef object find_in(object given, bint fragments, Url *url, UrlPieces *parts)
cdef str lower_scheme(const Url *url, Py_ssize_t n)
cdef Py_ssize_t find_params(const Url *url, Py_ssize_t path, Py_ssize_t end)
cdef object other_piece(const Url *url, Py_ssize_t start, Py_ssize_t end)
cdef bint in_list(str scheme, str name) except -1
cdef object finished(object result)


cdef inline object usable_url(object argument):
    """Return the argument as str or bytes; None if the stdlib must handle it."""
    return usable(argument, BOOL | LENGTH | CONTAINS | HASH | EQUAL | REPLACE | STRIP)


cdef inline object piece(const Url *url, Py_ssize_t start, Py_ssize_t end):
    """Return the characters from start to end; empty for a missing component."""
    cdef const uint8_t *data = <const uint8_t *>url.data
    if url.form != ASCII_TEXT:
        return other_piece(url, start, end)
    if start < 0 or start >= end:
        return ""
    return ascii_text(data + start, <size_t>(end - start))


cdef inline object as_given(const Url *url, str text):
    """Return ASCII text as str or bytes, as the URL is."""
    if url.form != BYTES:
        return text
    return PyBytes_FromStringAndSize(<const char *>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))


cdef inline void set_item(object result, Py_ssize_t i, object item) noexcept:
    Py_INCREF(item)
    PyTuple_SET_ITEM(result, i, item)
