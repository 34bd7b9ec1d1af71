"""Operations on single values: a str or bytes-like object in, a row function over its bytes, an object out.

    given                       text            bytes that are read                     result
    str, ASCII                  the same        those of the str                        str
    str, other                  the same        its UTF-8, on the stack if SMALL        str
    str, with a lone surrogate  the same        an error, or U+FFFD for each            str
    bytes                       the same        its own                                 bytes
    subclass of str, bytearray  a copy          as above                                str, bytes

A text that is its own result is returned as the same object.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec._base._text cimport *
from uricodec._rows._engine cimport Outcome, SizedRow


# --- inputs -----------------------------------------------------------------------------------------------------------

# Do what text_of() does for another object than a str or bytes.
cdef object copied_text(object given)


cdef inline object text_of(object given):
    """Return an input as an exact str or bytes, not an instance of a subclass. A bytes-like object is copied."""
    if type(given) is str or type(given) is bytes:
        return given
    return copied_text(given)


cdef inline bint borrow(object text, Bytes *source, uint8_t *buffer) except -1:
    """Borrow the bytes of what text_of() returned; `buffer` (UTF8_CAPACITY bytes) is used if a str must be encoded.

    False: the str contains a lone surrogate. Call release() after use, and while the object still exists.
    """
    if type(text) is str:
        return utf8_of(<str>text, source, buffer)
    source.data = <const uint8_t *>PyBytes_AS_STRING(text)
    source.size = <size_t>PyBytes_GET_SIZE(text)
    source.heap = NULL
    return True


# --- errors -----------------------------------------------------------------------------------------------------------

# The names and the reasons of the codes of an Outcome, and the class of errors.
cdef class Faults:
    cdef list codes, reasons
    cdef object error
    cdef int surrogate          # the code of a lone surrogate

    # Raise the error for an outcome, whose offset points into the UTF-8 of a str.
    cdef int raise_outcome(self, object given, const uint8_t *utf8, const Outcome *outcome) except -1

    # Raise the error at an index of the input.
    cdef int raise_at(self, object given, int code, Py_ssize_t position) except -1


# Return the number of characters in utf8[0 .. offset).
cdef Py_ssize_t characters_before(const uint8_t *utf8, size_t offset) noexcept nogil


# --- results ----------------------------------------------------------------------------------------------------------

# Whether a text is its own result. False: it may be, too.
ctypedef bint (*stays_function)(const uint8_t *src, size_t n, const void *options) noexcept nogil


# What results of a str are.
cdef enum Results:
    ANY_TEXT, ASCII_OF_ASCII, ALL_ASCII


# What a call does with a text.
cdef struct Single:
    const SizedRow *operation
    const SizedRow *text_operation      # that for a str, whose UTF-8 is well-formed
    const void *options
    stays_function stays        # NULL: the row function finds out
    Results results
    bint ascii_stays            # the result of ASCII is at most as long, but for `extra`
    bint rejects                # some texts have no result
    bint replaces_surrogates    # by U+FFFD; otherwise they are faults


cdef inline Single single_of(const SizedRow *operation, const void *options, stays_function stays, Results results) noexcept:
    """Return what most operations do."""
    return Single(operation, operation, options, stays, results, False, False, False)


cdef enum:
    RESULT_CAPACITY = 16 * SMALL    # fits most results of SMALL bytes


# The bytes of a result, and what they are in.
cdef struct Written:
    const uint8_t *data
    size_t size
    bint changed                # not the bytes of the text
    Bytes source
    uint8_t *heap
    PyObject *made              # a bytes object
    uint8_t utf8[UTF8_CAPACITY]
    uint8_t buffer[RESULT_CAPACITY]


cdef inline void begin_written(Written *written) noexcept:
    """Call release_written() from now on, errors or not."""
    written.source.heap = written.heap = NULL
    written.made = NULL


cdef inline void release_written(Written *written) noexcept:
    if written.heap != NULL:
        PyMem_RawFree(written.heap)
    Py_XDECREF(written.made)
    release(&written.source)


# Return a result that is changed as an object.
cdef object result_object(object text, Written *written, Results results)


cdef inline bint are_same(const Written *first, const Written *second) noexcept:
    """Return whether two results are the same."""
    return first.size == second.size and memcmp(first.data, second.data, first.size) == 0


# Return the result as an object; an exact str or bytes that does not change as the same object, with keeps_class also an
# instance of a subclass. Faults of the text are raised; without `faults`, the result is None for them.
cdef object result_of(object given, const Single *single, Faults faults, bint keeps_class)

# Return whether two texts have the same result, in UTF-8.
cdef bint same_results(object a, object b, const Single *single, Faults faults) except -1
