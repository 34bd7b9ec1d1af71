"""Encodings other than UTF-8, for loops that do not hold the GIL."""
from libc.stdint cimport uint8_t, uint16_t

from uricodec._rows._arrow cimport Buffer

cdef enum:
    CHARSET_BYTES = 3       # most bytes of a sequence
    CHARSET_FACTOR = 3      # most bytes of UTF-8 for each of them


# What a byte means: it ends a sequence, whose UTF-8 is `utf8[:size]`; or `next` is the table for the byte after it; or,
# if both are 0, the sequence is invalid.
cdef struct CharsetEntry:
    uint16_t next
    uint8_t size
    uint8_t utf8[2 * CHARSET_FACTOR]

cdef struct CharsetTable:
    CharsetEntry entries[256]


cdef class Charset:
    cdef readonly str name
    cdef const CharsetTable *tables     # the first is for the first byte of a sequence
    cdef Buffer memory

    cdef size_t fill(self, object decoder, bytes prefix) except? 0


cdef Charset charset_of(object encoding)


# Decode n bytes to UTF-8. dst has a capacity of CHARSET_FACTOR * n bytes; src does not overlap it, or is at dst + 2 * m
# for an m >= n. U+FFFD replaces each byte that does not begin a sequence of the encoding; `valid` says whether there are
# none. Returns the number of bytes written.
cdef size_t charset_decode(const CharsetTable *tables, const uint8_t *src, size_t n, uint8_t *dst,
                           bint *valid) noexcept nogil


cdef inline const CharsetEntry *charset_character(const CharsetTable *tables, const uint8_t *src, size_t n,
                                                  size_t *length) noexcept nogil:
    """Return the character that begins src[:n], and set `length` to the number of its bytes. NULL: none does."""
    cdef const CharsetEntry *entry
    cdef size_t i = 0, table = 0
    while i < n:
        entry = &tables[table].entries[src[i]]
        i += 1
        table = entry.next
        if table == 0:
            length[0] = i
            return entry if entry.size else NULL
    return NULL
