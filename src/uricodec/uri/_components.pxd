"""Codes, error messages, productions, and inputs of any accepted type, for the modules that work on URIs and IRIs."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Outcome
from uricodec._base._text cimport Bytes
from uricodec._url._grammar cimport Parts, Production, Syntax


cdef list CODE_NAMES        # the name of each UriCode
cdef list REASONS           # the reason that errors state for it

# --- inputs: a str or bytes-like object, read as bytes

# Return the input as an exact str or bytes, not an instance of a subclass. A bytes-like object is copied.
cdef object plain(object input)

# Borrow the bytes of an object that plain() returned; `buffer` (UTF8_CAPACITY bytes) is used if a str must be encoded.
# False: the str contains a lone surrogate. Call release() after use, and while the object still exists.
cdef bint borrow(object text, Bytes *source, uint8_t *buffer) except -1

# Borrow and read what plain() returned. False: the input is invalid, nothing has to be released, and the outcome's
# offset is an index into the text. `buffer` is that of borrow().
cdef bint read_text(object text, Bytes *source, uint8_t *buffer, Syntax syntax, Production production, Parts *parts,
                    Outcome *outcome) except -1

# --- errors: raise error_class(reason, input, position), where position is an index into the input

# utf8: the bytes into which the outcome's offset points.
cdef int raise_rejection(object input, const uint8_t *utf8, const Outcome *outcome, object error_class,
                       str reason=*) except -1

# Raise the error for a str that contains a lone surrogate, at the index of the surrogate.
cdef int raise_surrogate(object input, object error_class) except -1

# Return the number of characters in utf8[0 .. offset).
cdef Py_ssize_t characters_before(const uint8_t *utf8, size_t offset) noexcept nogil

# --- productions

# Return the Production with a name; raise ValueError if it is unknown. whatwg: WHATWG_URL is one.
cdef int production_of(object production, Syntax syntax, bint whatwg=*) except -1

# --- URLs in text

# Delimiters that were escaped in a text which has been decoded: bytes that UTF-8 never has.
cdef enum:
    ESCAPED_QUOTE = 0xF8
    ESCAPED_APOSTROPHE = 0xF9
    ESCAPED_LESS = 0xFA
    ESCAPED_GREATER = 0xFB

# Write the starts and ends of the URLs from *start on, at most FOUND, and set *start to where the search continues; see
# the definition.
cdef size_t scan_urls(const uint8_t *s, size_t n, size_t *start, size_t longest, bint last, bint decoded,
                      size_t *spans) noexcept nogil

# Return the delimiter that ends what another one begins (RFC 3986 appendix C); 0 for other bytes.
cdef uint8_t closing(uint8_t opening, bint decoded) noexcept nogil

# Return the length of the character beyond ASCII at the start of s; 0 if it ends a URL or is not UTF-8.
cdef size_t length_of_character(const uint8_t *s, size_t n) noexcept nogil
