"""Codes, error messages and productions, for the modules that work on URIs and IRIs."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport Outcome
from uricodec._rows._single cimport Faults
from uricodec._base._text cimport Bytes
from uricodec._url._grammar cimport Parts, Production, Syntax


cdef list CODE_NAMES        # the name of each UriCode
cdef list REASONS           # the reason that errors state for it
cdef Faults URI_FAULTS      # they are a UriSyntaxError
cdef Faults IRI_FAULTS      # an IriError

# Borrow and read what text_of() returned. False: the input is invalid, nothing has to be released, and the outcome's
# offset is an index into the text. `buffer` is that of borrow().
cdef bint read_text(object text, Bytes *source, uint8_t *buffer, Syntax syntax, Production production, Parts *parts,
                    Outcome *outcome) except -1

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
