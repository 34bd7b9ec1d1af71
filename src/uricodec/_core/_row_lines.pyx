"""Lines in a buffer as rows: an operation on each of them, and what becomes of those that it refuses.

One loop: a line is found, the operation writes what it becomes, and its end follows. When there may not be room for the
next line, or enough lines have been refused, the loop ends, and says how much it has read.

An operation may know which lines it copies, but for digits of triplets. All others are marked, in chunks that fit the
first cache, a bit for an octet, and as many lines as follow each other without a mark are copied at once.
"""
from libc.stdint cimport SIZE_MAX, uint8_t, uint64_t
from libc.string cimport memcpy

from uricodec._core._kernels cimport ByteSet, kernels, portable, remove_octet, uc_lowest_bit, uc_set
from uricodec._core._rows cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from collections import namedtuple


cdef list POLICY_NAMES = ["keep", "null", "drop", "fail", "trust"]

Lines = namedtuple("Lines", ["written", "lines", "invalid", "faults"], module="uricodec.urn")
Lines.__doc__ = "Octets written, the number of lines and of those that were refused, and the first of these as LineFaults."
LineFault = namedtuple("LineFault", ["line", "start", "code", "offset"], module="uricodec.urn")
LineFault.__doc__ = "A line that was refused: its number, from 0; where in the buffer it starts; a code, and an offset in it."


cdef int begin(LineTask *lines, object errors, object end, Py_ssize_t limit) except -1:
    """Set all of a task but its buffers, which are known. `found` is to be freed."""
    if errors not in POLICY_NAMES:
        raise ValueError(f"no policy {errors!r} for errors; there are: {', '.join(POLICY_NAMES)}")
    lines.policy = <Policy>(<int>POLICY_NAMES.index(errors))
    lines.end = end[0]
    lines.read = lines.written = lines.count = lines.invalid = 0
    lines.limit = max(min(<size_t>max(limit, 0), lines.n), <size_t>1)      # there are no more lines than octets
    lines.found = <Found *>PyMem_RawMalloc(lines.limit * sizeof(Found))
    if lines.found == NULL:
        raise MemoryError
    return 0


cdef object result(const LineTask *lines, list code_names, Py_ssize_t limit):
    """What has been done, as Lines."""
    cdef list faults = []
    cdef size_t i
    cdef Found *found
    for i in range(min(lines.invalid, lines.limit, <size_t>max(limit, 0))):
        found = lines.found + i
        faults.append(LineFault(<Py_ssize_t>found.line, <Py_ssize_t>found.start, code_names[found.code],
                                <Py_ssize_t>found.offset))
    return Lines(<Py_ssize_t>lines.written, <Py_ssize_t>lines.count, <Py_ssize_t>lines.invalid, faults)


cdef bint write_refused(LineTask *lines, const Line *line, const Refusal *refusal, RowOperation how,
                        size_t *size) noexcept nogil:
    """Write what stands for a line that is refused. False if nothing does, not even its end."""
    note(lines, refusal.code, refusal.offset)
    size[0] = 0
    if lines.policy == FAIL or lines.policy == DROP:
        return False
    if lines.dst == NULL:
        return True
    if how.refused != NULL:
        size[0] = how.refused(refusal, how.options, lines.dst + lines.written)
    elif lines.policy == KEEP:
        memcpy(lines.dst + lines.written, line.src, line.size)
        size[0] = line.size
    return True


# --- lines that are copied ----------------------------------------------------------------------------------------------

cdef enum:
    WORDS = 64
    CHUNK = 64 * WORDS

cdef ByteSet ALL = ByteSet(range(256))

# Lines that have been marked, from src[start] on.
cdef struct Chunk:
    size_t start
    size_t size             # 0: a long line is next
    uint64_t ends[WORDS]
    uint64_t marks[WORDS]


cdef void mark_lines(const LineTask *lines, mark_function mark, const uc_set *no_end, Chunk *chunk) noexcept nogil:
    """The next lines, as many as a chunk holds."""
    cdef const uint8_t *src = lines.src + lines.read
    cdef size_t n = lines.n - lines.read
    if n > CHUNK:
        n = CHUNK
        while n and src[n - 1] != lines.end:
            n -= 1
    chunk.start, chunk.size = lines.read, n
    if n:
        kernels.mark_outside(src, n, no_end, chunk.ends)
        mark(src, n, chunk.ends, chunk.marks)


cdef inline size_t next_bit(const uint64_t *words, size_t start, size_t n) noexcept nogil:
    """The first bit from a place on, which is before n; n if there is none."""
    cdef size_t w = start // 64
    cdef uint64_t word = words[w] & ~<uint64_t>0 << (start & 63)
    while word == 0:
        w += 1
        if 64 * w >= n:
            return n
        word = words[w]
    return 64 * w + <size_t>uc_lowest_bit(word)


cdef void copy_lines(LineTask *lines, const Operation *operation, const Chunk *chunk) noexcept nogil:
    """Copy the next lines, up to one with a mark, with the digits of triplets in upper case."""
    cdef size_t start = lines.read - chunk.start, i = start, mark, end, next
    cdef size_t room = lines.room - lines.written
    if i == chunk.size:
        return
    mark = next_bit(chunk.marks, i, chunk.size)
    while i < chunk.size:
        end = next_bit(chunk.ends, i, chunk.size)
        next = end + (end < chunk.size)
        if mark < next or room_of(operation, end - i) > room - (i - start):
            break
        lines.count += 1
        i = next
    kernels.upper_triplets(lines.src + lines.read, i - start, lines.dst + lines.written)
    lines.read += i - start
    lines.written += i - start


# --- all lines ----------------------------------------------------------------------------------------------------------

cdef bint transform(LineTask *lines, RowOperation how, bint all_lines) noexcept nogil:
    cdef Operation operation = how.operation
    cdef const void *options = how.options
    cdef bint marked = how.mark != NULL and kernels.mark_outside != portable.mark_outside
    cdef uc_set no_end = ALL.set
    cdef Chunk chunk
    cdef Line line
    cdef Refusal refusal
    cdef size_t size
    remove_octet(&no_end, lines.end)
    chunk.start = chunk.size = 0
    while lines.read < lines.n:
        if marked:
            if lines.read >= chunk.start + chunk.size:
                mark_lines(lines, how.mark, &no_end, &chunk)
            if chunk.size:
                copy_lines(lines, &operation, &chunk)
                if lines.read == chunk.start + chunk.size:
                    continue
        find_line(lines, &line)
        if room_of(&operation, line.size) > lines.room - lines.written:
            break
        lines.count += 1
        size = operation.row(line.src, line.size, options, lines.dst + lines.written, &refusal)
        if size != UC_REFUSED:
            end_line(lines, &line, size)
            continue
        if refusal.code == UC_RAISED:
            return False
        if write_refused(lines, &line, &refusal, how, &size):
            end_line(lines, &line, size)
        elif lines.policy == DROP:
            lines.read += line.size + line.tail
        else:
            break
        if lines.invalid == lines.limit and not all_lines:
            break
    return True


def transform_lines(src, dst, operation, end=b"\n", errors="keep", limit=100):
    """Apply an operation to lines, as far as there is room, and until a number of them has been refused.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        dst (bytes-like | None): Where to write: a writable buffer elsewhere; None for an operation that writes nothing.
            Lines are read as long as there is room for what the operation could make of the next one, see `room`.
        operation (RowOperation): What to do with each of them.
        end (bytes): The control character that ends a line. A "\\r" before "\\n" belongs to the end.
        errors (str): What becomes of a line that is refused: "keep" leaves it as it is, "null" makes it an empty one,
            "drop" writes neither it nor its end, "fail" raises. An operation that writes records has one of its own
            for "keep" and "null".
        limit (int): Behind so many refused lines nothing is read. 0: all is read, and none of them is returned.

    Returns:
        tuple[int, Lines]: How many octets of src have been read, always whole lines; and the octets written, the number of
            lines and of refused ones, and these as a list of LineFault(line, start, code, offset), the offset being
            that in the line.

    Raises:
        UriError: With errors="fail", of the operation's class; the position is an octet of src, and nothing useful is
            in dst.
        ValueError: `end` is no such octet, there is no such policy, or the operation needs a dst.
        OverflowError: A line could become longer than an object can be.

    >>> from uricodec._core._uri_operations import CheckedRows, NormalizeRows
    >>> buffer = bytearray(100)
    >>> rows = CheckedRows("uri", "URI", NormalizeRows("path"))
    >>> read, found = transform_lines(b"HTTP://A/./b\\r\\na/./b\\nx:%7e", buffer, rows)
    >>> read, bytes(buffer[:found.written])
    (25, b'http://a/b\\r\\na/./b\\nx:~')
    >>> found.lines, found.invalid, found.faults
    (3, 1, [LineFault(line=1, start=14, code='scheme', offset=1)])
    """
    cdef Py_buffer source, target
    cdef LineTask lines
    cdef RowOperation how = <RowOperation?>operation
    cdef bint all_lines = limit <= 0, done
    if len(end) != 1 or end[0] >= 0x20:
        raise ValueError(f"no control character that can end a line: {end!r}")
    if errors == "trust":
        raise ValueError("nothing is trusted here")
    if dst is None and (how.operation.factor or how.operation.extra):
        raise ValueError("the operation writes, and there is no dst")
    lines.found = NULL
    try:
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        try:
            lines.src, lines.n, lines.dst, lines.room = <const uint8_t *>source.buf, <size_t>source.len, NULL, SIZE_MAX
            how.room(lines.n)       # fits
            begin(&lines, errors, end, limit)
            if dst is not None:
                PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
                lines.dst, lines.room = <uint8_t *>target.buf, <size_t>target.len
            try:
                with nogil:
                    done = transform(&lines, how, all_lines)
                if not done:
                    raise_set()
            finally:
                if dst is not None:
                    PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)
        if lines.policy == FAIL and lines.invalid:
            how.raise_refusal(src, lines.found.code, lines.found.start + lines.found.offset)
        return <Py_ssize_t>lines.read, result(&lines, how.code_names, limit)
    finally:
        PyMem_RawFree(lines.found)
