"""Names of codes and errors and productions, and inputs of any type, for the modules that work on URIs and IRIs."""
from libc.stdint cimport uint8_t

from uricodec._rows._operation cimport Outcome
from uricodec._base._text cimport Octets
from uricodec.uri._grammar cimport Syntax


cdef list CODE_NAMES        # by Code: the name
cdef list REASONS           # and the reason that an error gives

# --- inputs: a str or bytes-like, which is to be read as octets

# The str or bytes, and no instance of a subclass, in which an input stands. A bytes-like is copied.
cdef object plain(object input)

# The octets of what plain() gave, in `room` (UTF8_ROOM octets) if they need some. False for a str with a surrogate.
# release() them after use, and before the object goes.
cdef bint borrow(object text, Octets *octets, uint8_t *room) except -1

# --- errors: raise error_class(reason, input, position), the position being an index of the input

# utf8: the octets in which the offset of the outcome is counted.
cdef int raise_refusal(object input, const uint8_t *utf8, const Outcome *outcome, object error_class,
                       str reason=*) except -1

# For a str with a surrogate, at which the error is.
cdef int raise_surrogate(object input, object error_class) except -1

# How many characters there are in utf8[0 .. offset).
cdef Py_ssize_t characters_before(const uint8_t *utf8, size_t offset) noexcept nogil

# --- productions, by name

cdef int production_of(object production, Syntax syntax) except -1
