"""What a search has found, written as lines: each match, after its offset in the input if that is wanted."""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from uricodec._base._text cimport borrow_bytes, write_decimal

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE


# Writes the spans of the matches from *start on, at most FOUND of them; returns their number, and sets *start to where
# the next call continues.
ctypedef size_t (*FindMatches)(const uint8_t *src, size_t n, size_t *start, size_t *spans) noexcept nogil


# Where lines go. With a prefix, each begins with it, the decimal offset and a tab.
cdef struct MatchLines:
    uint8_t *dst
    size_t capacity
    size_t written
    const uint8_t *prefix   # NULL: no offsets
    size_t prefix_size
    size_t before           # the offset of the text in the input

cdef enum:
    FOUND = 256     # the most matches that one call finds
    DIGITS = 20     # the most digits of an offset


cdef inline MatchLines lines_in(uint8_t *dst, size_t capacity, bytes prefix, size_t before):
    """Return where lines go: into dst, after `prefix` and the offset, or alone if `prefix` is None."""
    cdef MatchLines lines
    lines.dst, lines.capacity, lines.written, lines.before = dst, capacity, 0, before
    lines.prefix, lines.prefix_size = NULL, 0
    if prefix is not None:
        lines.prefix, lines.prefix_size = <const uint8_t *>PyBytes_AS_STRING(prefix), <size_t>PyBytes_GET_SIZE(prefix)
    return lines


cdef inline bint write_match(MatchLines *lines, const uint8_t *match, size_t size, size_t start) noexcept nogil:
    """Write a line for a match that starts at an offset of the text. False: it does not fit, and nothing was written."""
    cdef uint8_t *dst = lines.dst + lines.written
    cdef size_t free = lines.capacity - lines.written
    # All stores are in bounds: the prefix, the digits and a tab, then the match and a newline have this size at most.
    if free < size + 1 or lines.prefix != NULL and free - (size + 1) < lines.prefix_size + DIGITS + 1:
        return False
    if lines.prefix != NULL:
        memcpy(dst, lines.prefix, lines.prefix_size)
        dst += lines.prefix_size
        dst += write_decimal(lines.before + start, dst)
        dst[0] = c'\t'
        dst += 1
    memcpy(dst, match, size)
    dst += size
    dst[0] = c'\n'
    lines.written = <size_t>(dst + 1 - lines.dst)
    return True


cdef inline tuple copy_matches(FindMatches find, object src, object dst, bytes prefix, size_t before):
    """Write the matches in src as lines into dst, as many as fit.

    Return where the first match begins that does not fit, or the size of src; and how many bytes have been written.
    """
    cdef Py_buffer source, target
    cdef MatchLines lines
    cdef size_t spans[2 * FOUND]
    cdef size_t count = FOUND, fit = FOUND, start = 0
    borrow_bytes(src, &source)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        lines = lines_in(<uint8_t *>target.buf, <size_t>target.len, prefix, before)
        with nogil:
            while count == FOUND and fit == count:
                count, fit = find(<const uint8_t *>source.buf, <size_t>source.len, &start, spans), 0
                while fit < count and write_match(&lines, <const uint8_t *>source.buf + spans[2 * fit],
                                                  spans[2 * fit + 1] - spans[2 * fit], spans[2 * fit]):
                    fit += 1
        PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    return spans[2 * fit] if fit < count else start, lines.written
