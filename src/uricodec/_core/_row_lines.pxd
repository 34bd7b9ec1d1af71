"""Lines in a buffer as rows: where they end, what becomes of those that are refused, and counts."""
from libc.stdint cimport uint8_t
from libc.string cimport memchr

from uricodec._rows._operation cimport RowOperation


# What becomes of a line that is refused. TRUST: nobody looks for one.
cdef enum Policy:
    KEEP, EMPTY, DROP, FAIL, TRUST


# A line that was refused.
cdef struct Found:
    size_t line             # its number, from 0
    size_t start
    size_t offset           # of the fault, in the line
    int code


# Lines of src that become lines of dst.
cdef struct LineTask:
    const uint8_t *src
    size_t n
    uint8_t *dst            # NULL: nothing is written
    size_t room
    uint8_t end
    Policy policy
    size_t read             # octets of src,
    size_t written          # and of dst
    size_t count            # lines that were read,
    size_t invalid          # and how many of them were refused
    Found *found            # the first `limit` of these
    size_t limit


# A line, without its end. A "\r" before "\n" belongs to the end.
cdef struct Line:
    const uint8_t *src
    size_t size
    size_t tail             # octets of its end: 0, 1, or 2


cdef inline void find_line(const LineTask *lines, Line *line) noexcept nogil:
    """The next line, for there is one."""
    cdef const uint8_t *src = lines.src + lines.read
    cdef const uint8_t *end = <const uint8_t *>memchr(src, lines.end, lines.n - lines.read)
    line.src = src
    line.tail = end != NULL
    line.size = end - src if end != NULL else lines.n - lines.read
    if line.tail and lines.end == c'\n' and line.size and src[line.size - 1] == c'\r':
        line.size -= 1
        line.tail = 2


cdef inline void end_line(LineTask *lines, const Line *line, size_t size) noexcept nogil:
    """Go behind a line of which `size` octets have been written, and end these as it does."""
    lines.read += line.size + line.tail
    if lines.dst == NULL:
        return
    lines.written += size
    if line.tail == 2:
        lines.dst[lines.written] = c'\r'
        lines.written += 1
    if line.tail:
        lines.dst[lines.written] = lines.end
        lines.written += 1


cdef inline void note(LineTask *lines, int code, size_t offset) noexcept nogil:
    """The last line that was counted is refused."""
    cdef Found *found
    if lines.invalid < lines.limit:
        found = lines.found + lines.invalid
        found.line, found.start, found.offset, found.code = lines.count - 1, lines.read, offset, code
    lines.invalid += 1


cdef int begin(LineTask *lines, object errors, object end, Py_ssize_t limit) except -1
# An operation on lines, as far as there is room, or until `limit` have been refused. False after an exception.
cdef bint transform(LineTask *lines, RowOperation how, bint all_lines) noexcept nogil
cdef object result(const LineTask *lines, list code_names, Py_ssize_t limit)
