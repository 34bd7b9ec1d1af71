"""The loop over what a search finds, for each kind of matches."""
from libc.stdint cimport uint8_t

from uricodec._search._escapes cimport Content


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

# Return the length of the character beyond ASCII at the start of s; 0 if it ends a URL or is not UTF-8.
cdef size_t length_of_character(const uint8_t *s, size_t n) noexcept nogil
