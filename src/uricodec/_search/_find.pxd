"""Texts with escapes of JSON or HTML, decoded in memory, and the loop over what a search finds in them."""
from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport uint8_t

from uricodec._base._cpython cimport PyMem_RawFree
from uricodec._base._text cimport borrow_bytes

cdef enum Content:
    PLAIN, JSON, HTML

# Delimiters that were escaped in a text which has been decoded: bytes that UTF-8 never has.
cdef enum:
    ESCAPED_QUOTE = 0xF8
    ESCAPED_APOSTROPHE = 0xF9
    ESCAPED_LESS = 0xFA
    ESCAPED_GREATER = 0xFB

cdef enum:
    LONGEST_VALUE = 8       # bytes of what a named reference stands for


# A place in a text, and in the decoded text.
cdef struct DecodedPlace:
    size_t at
    size_t decoded


cdef struct DecodedText:
    Content content
    Py_buffer view
    const uint8_t *src
    size_t n                    # of src
    const uint8_t *data
    size_t size                 # of data
    size_t read                 # how much of src has been decoded
    uint8_t *memory             # NULL: the text has no escapes, and is its own data
    bint last
    DecodedPlace place


# What was found: where it is in the text, and its bytes without escapes.
cdef struct Match:
    size_t start
    size_t stop
    const uint8_t *data
    size_t size


# Return the content with a name; raise ValueError if it is unknown.
cdef Content content_of_name(str name) except? PLAIN

# Decode what was borrowed, if it has escapes.
cdef int decode_text(DecodedText *text) except -1

# Return where a byte of the decoded text comes from; `place` is before it, and moves there.
cdef size_t original(Content content, const uint8_t *s, size_t n, bint last, size_t decoded, DecodedPlace *place) noexcept nogil

# Do what locate() does for a text with escapes.
cdef void locate_decoded(DecodedText *text, size_t start, size_t stop, Match *match) noexcept nogil


cdef inline int open_text(DecodedText *text, Content content, object buffer, bint last) except -1:
    """Borrow a bytes-like, and decode it. last: the text ends with it. Call close_text() after use."""
    borrow_bytes(buffer, &text.view)
    text.content, text.last, text.memory = content, last, NULL
    text.src, text.n = <const uint8_t *>text.view.buf, <size_t>text.view.len
    text.data, text.size, text.read = text.src, text.n, text.n
    text.place.at = text.place.decoded = 0
    return 0 if content == PLAIN else decode_text(text)


cdef inline void close_text(DecodedText *text) noexcept:
    if text.memory != NULL:
        PyMem_RawFree(text.memory)
    PyBuffer_Release(&text.view)


cdef inline size_t original_of(DecodedText *text, size_t decoded) noexcept nogil:
    """Return the offset in the text; ask in ascending order."""
    if text.memory == NULL:
        return decoded
    return original(text.content, text.src, text.n, text.last, decoded, &text.place)


cdef inline void locate(DecodedText *text, size_t start, size_t stop, Match *match) noexcept nogil:
    """Find the original of data[start:stop], which has been searched; no delimiter in it is marked any more."""
    if text.memory != NULL:
        locate_decoded(text, start, stop, match)
    else:
        match.start, match.stop, match.data, match.size = start, stop, text.data + start, stop - start

cdef enum:
    FOUND = 256     # the most matches that one call finds

# Writes the starts and ends of the matches in s[0 .. n) from *start on, at most FOUND of them; returns their number, and
# sets *start to where the next call continues.
ctypedef size_t (*scan_function)(const uint8_t *s, size_t n, size_t *start, const void *options, size_t *spans) noexcept nogil

# Append where the matches in a bytes-like are to `spans`, and their bytes without escapes to `found`, unless it is None.
# last: the text ends with it. Return where the next part begins: where a match begins, or may begin, that depends on it.
cdef size_t find_matches(object buffer, Content content, bint last, scan_function scan, const void *options, list spans,
                         list found) except? 0

# Write the matches as lines into dst, as many as fit; see copy_urls(), which returns this. delimited: a delimiter before a
# match decides where it ends, and so belongs to what did not fit.
cdef tuple copy_matches(object src, Content content, object dst, bytes prefix, size_t before, scan_function scan,
                        const void *options, bint delimited)

# Return the length of the character beyond ASCII at the start of s; 0 if it ends a word or is not UTF-8.
cdef size_t length_of_character(const uint8_t *s, size_t n) noexcept nogil
