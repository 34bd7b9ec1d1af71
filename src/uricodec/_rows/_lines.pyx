"""Transformation of lines from one buffer to another, as the command line does with each chunk of a file."""
from libc.string cimport memset

from uricodec._rows._arrow cimport discard
from uricodec._base._kernels cimport ByteSet, remove_byte
from uricodec._base._text cimport borrow_bytes
from uricodec._rows._operation cimport *
from uricodec._rows._sinks cimport *
from uricodec._rows._tasks cimport begin_work, run_to_end

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree

from collections import namedtuple

cdef ByteSet ALL = ByteSet(range(256))

Lines = namedtuple("Lines", ["written", "lines", "invalid", "faults"], module="uricodec._rows._lines")
Lines.__doc__ = "Bytes written, the number of lines and of invalid ones, and the first of these as LineFaults."
LineFault = namedtuple("LineFault", ["line", "start", "code", "offset"], module="uricodec._rows._lines")
LineFault.__doc__ = "An invalid line: its number, from 0; where it starts in the buffer; a code; and an offset in it."


cdef int set_source(Source *source, uc_set *not_terminator, const Py_buffer *view, object terminator) except -1:
    if len(terminator) != 1 or 0x20 <= terminator[0] != 0x7F:
        raise ValueError(f"line terminator must be one control character, got {terminator!r}")
    memset(source, 0, sizeof(Source))
    source.layout, source.data, source.count = LINES, <const uint8_t *>view.buf, <size_t>view.len
    source.terminator, source.text, not_terminator[0] = terminator[0], True, ALL.set
    remove_byte(not_terminator, source.terminator)
    source.not_terminator = not_terminator
    return 0


cdef list faults_of(const Run *run, RowOperation operation, size_t limit):
    cdef const Rejected *rejected = <const Rejected *>run.found.data
    cdef size_t i
    cdef list faults = []
    for i in range(min(run.found.size // sizeof(Rejected), limit)):
        faults.append(LineFault(rejected[i].row, rejected[i].start, operation.code_names[rejected[i].code],
                                rejected[i].offset))
    return faults


def transform_lines(src, dst, operation, terminator=b"\n", errors="keep", limit=100):
    """Apply an operation to lines until the output is full or a number of lines has been rejected.

    Args:
        src (bytes-like): The lines; the last one may lack its terminator.
        dst (bytes-like | None): The output, a writable buffer that does not overlap src; None for an operation that
            writes nothing. A line is read only if dst has the capacity for its largest possible result, see
            `RowOperation.capacity`.
        operation (RowOperation): The operation to apply to each line.
        terminator (bytes): The control character that terminates a line. A "\\r" before "\\n" belongs to the
            terminator.
        errors (str): How an invalid line is handled: "keep", "null" (an empty line), "drop" (without its terminator),
            "replace", or "raise" (stop before it).
        limit (int): Stop after so many invalid lines, and return them. 0: do not stop and return none, except with
            "raise".

    Returns:
        tuple[int, Lines]: The number of bytes of src that were read, always whole lines; and a Lines tuple: bytes
            written, number of lines (None if neither lines nor invalid ones are counted: "keep" or "replace" with limit
            0), number of invalid lines, and the invalid lines as a list of LineFault(line, start, code, offset), where
            offset is relative to the line. With "raise", the last of them is the line before which reading stopped.

    Raises:
        ValueError: `terminator` is not one control character, `errors` is unknown, or the operation requires dst.
        OverflowError: The result of a line could exceed the maximum size of an object.

    >>> from uricodec.uri._rows import CheckedRows, NormalizeRows
    >>> rows = CheckedRows("uri", "URI", NormalizeRows("path"))
    >>> buffer = bytearray(rows.capacity(29))
    >>> read, found = transform_lines(b"HTTP://A/./b\\r\\na/./b\\nx:%7e", buffer, rows)
    >>> read, bytes(buffer[:found.written])
    (25, b'http://a/b\\r\\na/./b\\nx:~')
    >>> found.lines, found.invalid, found.faults
    (3, 1, [LineFault(line=1, start=14, code='scheme', offset=1)])
    """
    cdef Py_buffer source_view, target
    cdef RowOperation how = <RowOperation?>operation
    cdef RowPolicy policy = <RowPolicy>policy_named(errors, True)
    cdef Source source
    cdef uc_set not_terminator
    cdef Run run
    cdef bint listed = limit > 0
    how.check_policy(policy)
    if dst is None and how.slots.result != WRITES_NOTHING:
        raise ValueError("dst is required for an operation that writes")
    memset(&run, 0, sizeof(Run))
    borrow_bytes(src, &source_view)
    try:
        set_source(&source, &not_terminator, &source_view, terminator)
        how.capacity(source.count, errors)      # raises OverflowError if it could be too long
        if dst is not None:
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            run.data.data, run.capacity = <uint8_t *>target.buf, <size_t>target.len
        try:
            run.source, run.stop = &source, source.count
            set_operation(&run, &how.slots, policy, listed)
            run.limit, run.stops = <size_t>limit if listed else <size_t>(policy == RAISE_ROW), listed
            set_buffer_sink(&run)
            set_lines(&run)
            run.counts = run.strict
            if begin_work(&run) == NULL:
                raise MemoryError
            run_to_end(&run)
            if run.status == NO_MEMORY:
                raise MemoryError
            return run.next, Lines(run.data.size, run.row if run.counts else None, run.invalid, faults_of(&run, how, run.limit))
        finally:
            PyMem_RawFree(run.gathered)
            discard(&run.found)
            if dst is not None:
                PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source_view)
