"""Lines in a buffer as rows: an operation on each of them, and what becomes of those that it refuses.

One loop: a line is found, the operation writes what it becomes, and its end follows. When there may not be room for the
next line, or enough lines have been refused, the loop ends, and says how much it has read.

An operation may know which lines it copies, but for digits of triplets. All others are marked, in chunks that fit the
first cache, a bit for an octet, and as many lines as follow each other without a mark are copied at once.
"""
from libc.stdint cimport SIZE_MAX, uint8_t, uint64_t
from libc.string cimport memcpy

from uricodec._rows._operation cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from uricodec._rows._lines import LineFault, Lines


cdef list POLICY_NAMES = ["keep", "null", "drop", "raise", "trust"]


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


cdef bint write_refused(LineTask *lines, const Line *line, const Outcome *outcome, RowOperation how,
                        size_t *size) noexcept nogil:
    """Write what stands for a line that is refused. False if nothing does, not even its end."""
    note(lines, outcome.code, outcome.offset)
    size[0] = 0
    if lines.policy == FAIL or lines.policy == DROP:
        return False
    if lines.dst == NULL:
        return True
    if how.slots.rejected != NULL:
        size[0] = how.slots.rejected(outcome, how.slots.options, lines.dst + lines.written)
    elif lines.policy == KEEP:
        memcpy(lines.dst + lines.written, line.src, line.size)
        size[0] = line.size
    return True


# --- all lines ----------------------------------------------------------------------------------------------------------

cdef bint transform(LineTask *lines, RowOperation how, bint all_lines) noexcept nogil:
    cdef Operation operation = how.slots.strict
    cdef const void *options = how.slots.options
    cdef Line line
    cdef Outcome outcome
    cdef size_t size
    while lines.read < lines.n:
        find_line(lines, &line)
        if room_of(&operation, line.size) > lines.room - lines.written:
            break
        lines.count += 1
        size = operation.row(line.src, line.size, options, lines.dst + lines.written, &outcome)
        if size != UC_REJECTED:
            end_line(lines, &line, size)
            continue
        if outcome.code == UC_RAISED:
            return False
        if write_refused(lines, &line, &outcome, how, &size):
            end_line(lines, &line, size)
        elif lines.policy == DROP:
            lines.read += line.size + line.tail
        else:
            break
        if lines.invalid == lines.limit and not all_lines:
            break
    return True
