# distutils: extra_compile_args=-Os
"""Runs over the rows of arrays and buffers, and the threads that execute them.

An array is one run, or several if there are several threads. Results do not depend on the number of runs or on which
thread executes them: each run knows the number of its first row, and results are joined in the order of the rows.
"""
cimport cython
from libc.stdint cimport INT32_MAX
from libc.string cimport memchr, memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyErr_CheckSignals, PyMem_RawFree, PyMem_RawMalloc
from uricodec._rows._arrow cimport *
from uricodec._base._atomic cimport uc_put8
from uricodec._base._fingerprint cimport FingerprintKey
from uricodec._base._kernels cimport ALL_BYTES, kernels, remove_byte
from uricodec._base._text cimport borrow_bytes
from uricodec._rows._ranges cimport copy_bits
from uricodec._rows._engine cimport *

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from collections import namedtuple


LAYOUTS = {
    b"u": (OFFSETS_32, True), b"z": (OFFSETS_32, False), b"U": (OFFSETS_64, True), b"Z": (OFFSETS_64, False),
    b"vu": (VIEWS, True), b"vz": (VIEWS, False), b"n": (NULLS, True),
}
WIDTHS = {b"C": 1, b"c": -1, b"S": 2, b"s": -2, b"I": 4, b"i": -4, b"L": 8, b"l": -8}

limit_of_offsets = INT32_MAX


# --- plans ------------------------------------------------------------------------------------------------------------

cdef list KIND_NAMES = ["text", "fingerprint", "verdict", "diagnostic", "struct", "component", "list"]


@cython.final
cdef class Plan:
    """An operation, and the kind of results that is wanted.

    Args:
        kind (str): The result: "text", "fingerprint", "verdict", "diagnostic", "struct", "component" or "list".
        fields (tuple[str, ...]): The components of a "struct"; of a "list" whose items are structs, their two fields.
        key (FingerprintKey | None): The key of a "fingerprint".
    """
    def __cinit__(self, RowOperation rows not None, kind="text", fields=(), FingerprintKey key=None):
        cdef Result written = rows.slots.result
        cdef bint fits = written == WRITES_BYTES
        self.rows, self.kind = rows, <ResultKind>(<int>KIND_NAMES.index(kind))
        self.fields, self.key = tuple(fields), <FingerprintKey?>key if kind == "fingerprint" else key
        self.components = max(<int>len(self.fields), <int>(self.kind in (COMPONENT_RESULT, LIST_RESULT)))
        if len(self.fields) > MOST_FIELDS:
            raise ValueError(f"expected at most {MOST_FIELDS} components, got {len(self.fields)}")
        if self.kind == STRUCT_RESULT or self.kind == COMPONENT_RESULT:
            fits = written == WRITES_COMPONENTS or written == WRITES_TEXTS
        elif self.kind == VERDICT_RESULT or self.kind == DIAGNOSTIC_RESULT:
            fits = written == WRITES_NOTHING
        elif self.kind == LIST_RESULT:
            fits = written == WRITES_ITEMS
        if not fits:
            raise ValueError(f"the operation does not support results of kind {kind!r}")

    @property
    def result(self):
        """The kind of result: "text", "fingerprint", "verdict", "diagnostic", "struct", "component" or "list"."""
        return KIND_NAMES[self.kind]


# no_gc: the garbage collector would clear the owner's reference before __dealloc__ releases the buffer.
@cython.no_gc
@cython.final
cdef class SourceRows:
    """The rows of an array or a buffer: their Source, and the objects that own the memory."""
    def __dealloc__(self):
        if self.viewed:
            PyBuffer_Release(&self.view)


cdef int set_source(Source *source, Array array, Type type, size_t *size) except -1:
    cdef int64_t i, first, last
    cdef const uint8_t *offsets
    memset(source, 0, sizeof(Source))
    source.data = b""       # never NULL, not even if all rows are null
    if type.format not in LAYOUTS:
        raise TypeError(f"expected a column of text or bytes, got Arrow format {type.format.decode('latin-1')!r}")
    source.layout, source.text = <Layout>(<int>LAYOUTS[type.format][0]), LAYOUTS[type.format][1]
    source.count = <size_t>array.length
    size[0] = 0
    if source.layout == NULLS:
        return 0
    if array.n_buffers < 3 and not (source.layout == VIEWS and array.n_buffers == 2):
        raise ValueError(f"the Arrow array has too few buffers for its format: {array.n_buffers}")
    if array.nulls != 0:
        source.valid, source.valid_start = <const uint8_t *>array.buffers[0], <size_t>array.offset
    offsets = <const uint8_t *>array.buffers[1]
    if offsets == NULL:
        if array.length:
            raise ValueError("the Arrow array is missing a buffer")
        return 0
    if source.layout == VIEWS:
        source.offsets = offsets + sizeof(View) * <size_t>array.offset
        source.n_buffers = max(array.n_buffers - 3, 0)
        source.buffers = array.buffers + 2
        source.sizes = <const int64_t *>array.buffers[array.n_buffers - 1] if source.n_buffers else NULL
        size[0] = sizeof(View) * source.count
        for i in range(source.n_buffers):
            size[0] += <size_t>source.sizes[i]
        return 0
    if array.buffers[2] != NULL:
        source.data = <const uint8_t *>array.buffers[2]
    if source.layout == OFFSETS_32:
        source.offsets = offsets + 4 * array.offset
        first, last = (<const int32_t *>source.offsets)[0], (<const int32_t *>source.offsets)[source.count]
    else:
        source.offsets = offsets + 8 * array.offset
        first, last = (<const int64_t *>source.offsets)[0], (<const int64_t *>source.offsets)[source.count]
    if not 0 <= first <= last:
        raise ValueError("the Arrow array has decreasing offsets")
    source.end, size[0] = last, <size_t>(last - first)
    return 0


cdef SourceRows rows_of(Array array, Type type):
    cdef SourceRows rows = SourceRows()
    cdef size_t size
    rows.array = array
    if type.dictionary is None:
        set_source(&rows.source, array, type, &rows.size)
        return rows
    set_source(&rows.values, array.dictionary, type.dictionary, &size)
    rows.source.layout, rows.source.width, rows.source.data = INDEXED, WIDTHS[type.format], b""
    rows.source.count, rows.source.values, rows.source.text = <size_t>array.length, &rows.values, rows.values.text
    if array.n_buffers < 2 or array.buffers[1] == NULL and array.length:
        raise ValueError("the Arrow array is missing a buffer")
    rows.source.offsets = <const uint8_t *>array.buffers[1] + abs(rows.source.width) * array.offset
    if array.nulls != 0:
        rows.source.valid, rows.source.valid_start = <const uint8_t *>array.buffers[0], <size_t>array.offset
    rows.size = size + rows.source.count
    return rows


# --- tasks --------------------------------------------------------------------------------------------------------------

cdef uint8_t *begin_work(Run *run) except NULL:
    run.gathered = <uint8_t *>PyMem_RawMalloc(2 * (BLOCK + 2 * WIDE) + sizeof(Block) + 4 * (ROWS + 1))
    if run.gathered == NULL:
        raise MemoryError  # pragma: no cover: no memory
    run.scratch = run.gathered + BLOCK + 2 * WIDE
    run.block = <Block *>(run.scratch + BLOCK + 2 * WIDE)
    run.out_at = <uint32_t *>(run.block + 1)
    return run.gathered


cdef int run_to_end(Run *run) except -1:
    while True:
        with nogil:
            run_rows(run)
        if run.status == HAS_RAISED:
            reraise()
        if run.status != YIELD:
            return 0
        PyErr_CheckSignals()


@cython.final
cdef class Job:
    """A run, and the number of its first row in the whole input.

    A column may have very many chunks, so memory for execution is allocated when a run starts.
    """
    def __dealloc__(self):
        cdef size_t i
        PyMem_RawFree(self.task.gathered)
        discard(&self.valid)
        discard(&self.task.data)
        discard(&self.task.offsets)
        discard(&self.task.made)
        for i in range(self.task.filled.size // sizeof(Buffer)):
            discard(<Buffer *>self.task.filled.data + i)  # pragma: no cover: too large
        discard(&self.task.filled)
        discard(&self.task.found)
        discard_result(&self.task)

    cdef int run(self) except -1:
        if self.task.gathered == NULL:
            begin(self)
        run_to_end(&self.task)
        PyMem_RawFree(self.task.gathered)
        self.task.gathered = NULL
        discard(&self.task.made)
        trim(&self.task.data)
        return 0


cdef int set_validity(Job job, size_t rows) except -1:
    """Copy the validity bitmap of the rows of a run, so that rejected rows can become null."""
    cdef Run *run = &job.task
    cdef const Source *source = run.source
    cdef size_t n = (rows + 7) >> 3, i
    cdef bint null_values = source.layout == INDEXED and (source.values.valid != NULL or source.values.layout == NULLS)
    if source.valid == NULL and source.layout != NULLS and run.policy != NULL_ROW and not null_values:
        return 0
    reserve(&job.valid, n + 1)
    run.valid, job.valid.size = job.valid.data, n
    if source.layout == NULLS:
        memset(run.valid, 0, n)
    elif source.valid != NULL:
        copy_bits(source.valid, source.valid_start + run.base, rows, run.valid, 0)
    else:
        memset(run.valid, 0xFF, n)
    if null_values:
        for i in range(rows):
            if is_null(source, run.base + i):
                run.valid[i >> 3] &= ~(1 << (i & 7))
    return 0


cdef const uint8_t *first_row(const Source *source) noexcept:
    """Return where the bytes of the first row begin, for layouts with consecutive rows."""
    if source.offsets == NULL:
        return source.data
    if source.layout == OFFSETS_32:
        return source.data + (<const int32_t *>source.offsets)[0]
    return source.data + (<const int64_t *>source.offsets)[0]


cdef size_t bytes_of_views(const Source *source, size_t start, size_t stop) noexcept:
    """Return about how many bytes rows with views have, estimated from a sample."""
    cdef size_t step = (stop - start) // 256 + 1, sum = 0, i
    i = start
    while i < stop:
        sum += <size_t>max((<const View *>source.offsets)[i].size, 0)
        i += step
    return sum * step


cdef size_t expected_size(const Slots *slots, const uint8_t *src, size_t n) noexcept:
    """Estimate the size of the results of n bytes from the first bytes. A good estimate saves a copy."""
    return n if slots.expected == NULL or n == 0 else slots.expected(src, n, slots.options)


cdef int begin(Job job) except -1:
    """Prepare a run for its task, and allocate memory for its results."""
    cdef Run *run = &job.task
    cdef Plan plan = job.plan
    cdef SourceRows rows = job.rows
    cdef const Slots *slots = &plan.rows.slots
    cdef size_t start = job.start, stop = job.stop, width, size
    cdef bint lines = rows.source.layout == LINES
    run.source = &rows.source
    run.row = 0 if lines else start
    run.base, run.next, run.stop = run.row, start, stop
    set_operation(run, slots, job.policy, job.reports)
    run.limit, run.most_offset = UC_REJECTED if plan.kind == DIAGNOSTIC_RESULT else max(job.limit, <size_t>1), limit_of_offsets
    run.fields = plan.components
    if plan.key is not None:
        run.key = &plan.key.key
    set_sink(run, plan.kind)
    set_lines(run)
    begin_work(run)
    run.count = stop - start
    if lines and plan.kind == TEXT_RESULT:
        # Most operations make text no longer, but they need spare capacity until it is written.
        size = max(expected_size(slots, rows.source.data + start, stop - start), stop - start)
        job.output = [begin_bytes(&run.data, size + max(capacity_for(run, BLOCK, ROWS), <size_t>(4 * BLOCK + 4 * ROWS)))]
        return 0
    if lines:
        run.count = kernels.count_outside(rows.source.data + start, stop - start, rows.source.not_terminator)
        run.count += stop > start and rows.source.data[stop - 1] != rows.source.terminator
    if plan.kind != TEXT_RESULT:
        prepare_result(run, plan.kind)
        set_validity(job, run.count)
        return 0
    set_validity(job, stop - start)
    run.large = rows.source.layout == OFFSETS_64
    if rows.source.layout == VIEWS:
        size = bytes_of_views(&rows.source, start, stop)
        reserve(&run.offsets, sizeof(View) * (stop - start))
        reserve(&run.data, min(size, rows.size) + 4 * BLOCK)
    else:
        width = 8 if run.large else 4
        reserve(&run.offsets, width * (stop - start + 1))
        memset(run.offsets.data, 0, width)
        run.offsets.size = width
        size = rows.size // max(rows.source.count, <size_t>1) * (stop - start)
        reserve(&run.data, expected_size(slots, first_row(&rows.source), size) + WIDE)
    return 0


cdef list ranges(size_t count, size_t size, size_t threads):
    """Return where runs begin and end: two for each thread if there is enough work, at most 16 M rows in each. A large
    column has more runs, so that a thread that is slow for a while executes fewer of them."""
    cdef size_t parts = 1, i
    cdef list found = []
    if threads > 1:
        parts = max(min(2 * threads, size >> 19), min(8 * threads, size >> 22), (count >> 24) + 1)
    for i in range(parts):
        found.append((count * i // parts, count * (i + 1) // parts))
    return found


cdef list ranges_of_lines(const Source *source, size_t threads):
    """Return the same for lines."""
    cdef size_t start = 0, stop
    cdef list found = []
    cdef const uint8_t *end
    cdef size_t parts = max(min(2 * threads, source.count >> 19), <size_t>1) if threads > 1 else 1, i
    for i in range(1, parts + 1):
        stop = source.count // parts * i if i < parts else source.count
        if stop < source.count:
            end = <const uint8_t *>memchr(source.data + stop, source.terminator, source.count - stop)
            stop = end - source.data + 1 if end != NULL else source.count
        if stop > start:
            found.append((start, stop))
            start = stop
    return found


cdef int set_lines_source(Source *source, uc_set *not_terminator, const Py_buffer *view, object terminator) except -1:
    if len(terminator) != 1 or 0x20 <= terminator[0] != 0x7F:
        raise ValueError(f"line terminator must be one control character, got {terminator!r}")
    memset(source, 0, sizeof(Source))
    source.layout, source.data, source.count = LINES, <const uint8_t *>view.buf, <size_t>view.len
    source.terminator, not_terminator[0] = terminator[0], ALL_BYTES.set
    remove_byte(not_terminator, source.terminator)
    source.not_terminator = not_terminator
    return 0


cdef SourceRows rows_of_lines(object buffer, object end):
    cdef SourceRows rows = SourceRows()
    borrow_bytes(buffer, &rows.view)
    rows.viewed = True
    set_lines_source(&rows.source, &rows.not_terminator, &rows.view, end)
    rows.size = rows.source.count
    return rows


cdef list jobs_of(Plan plan, list sources, RowPolicy policy, size_t limit, bint reports, size_t threads,
                  size_t number):
    """Make the runs for a plan and execute them."""
    cdef SourceRows rows
    cdef Job job
    cdef list jobs = []
    cdef size_t first = number
    for rows in sources:
        if rows.source.layout == LINES:
            parts = ranges_of_lines(&rows.source, threads)
        else:
            parts = ranges(rows.source.count, rows.size, threads)
        for start, stop in parts:
            job = Job()
            job.plan, job.rows, job.policy, job.start, job.stop = plan, rows, policy, start, stop
            job.limit, job.reports, job.number = limit, reports, number
            jobs.append(job)
        number += rows.source.count
    do_jobs(jobs, threads)
    number = first
    for job in jobs:
        if job.rows.source.layout == LINES:
            job.number = number
            number += job.task.row
        check_status(job)
    return jobs


cdef int do_jobs(list jobs, size_t threads) except -1:
    """Execute runs. A run that stops cancels those after it; a run that raises cancels all."""
    cdef Job job
    # Allocate before starting threads, because a thread needs memory to start: so a shortage is reported at once. All
    # runs of a divided array have their memory then, and of many arrays the first ones.
    for job in jobs[:8 * threads]:
        begin(job)
    if threads > 1 and len(jobs) > 1:
        do_in_threads(jobs, threads)
        return 0
    for job in jobs:
        job.run()
        if job.task.status != DONE:
            break
    return 0


cdef do_in_threads(list jobs, size_t threads):
    from uricodec._io.workers import OrderedWorkers
    cdef list stopped = []

    def work(piece):
        cdef Job job = piece[1]
        if not stopped or piece[0] < min(stopped):
            job.run()
        if job.task.status != DONE:
            stopped.append(piece[0])

    def halt():
        cdef Job job
        for job in jobs:
            uc_put8(&job.task.halted, 1)

    OrderedWorkers(threads).run(list(enumerate(jobs)), work, halt=halt)


# --- rejected rows ----------------------------------------------------------------------------------------------------

cdef int check_run(const Run *run) except -1:
    """Raise the error that has ended a run, unless it is a rejected row."""
    if run.status == NO_MEMORY:
        raise MemoryError
    if run.status == BAD_LAYOUT:
        raise ValueError("the Arrow array has decreasing offsets, or views or indices out of range")
    if run.status == TOO_LONG:
        raise OverflowError("a result exceeds the maximum size of an Arrow view")  # pragma: no cover: too large
    return 0


cdef int check_status(Job job) except -1:
    cdef const Rejected *rejected = <const Rejected *>job.task.found.data
    cdef const Source *source = job.task.source
    check_run(&job.task)
    if job.task.status == STOPPED:
        if source.layout == LINES:
            raise_row(job.plan.rows, source, source.data[rejected.start:end_of_line(source, rejected.start)], rejected.code,
                      rejected.offset, job.number + rejected.row)
        raise_row_of(job.plan.rows, source, rejected.row, rejected.code, rejected.offset, job.number + rejected.row)
    return 0


cdef size_t end_of_line(const Source *source, size_t start) noexcept nogil:
    """Return where the line that starts at `start` ends, without its terminator."""
    cdef const uint8_t *line = source.data + start
    cdef size_t n = source.count - start
    cdef const uint8_t *end = <const uint8_t *>memchr(line, source.terminator, n)
    if end != NULL:
        n = end - line
        n -= carriage_return(source, line, n)
    return start + n


cdef int raise_row(RowOperation rows, const Source *source, bytes row, int code, size_t offset, size_t number) except -1:
    cdef object input = row
    if source.text:
        input = row.decode("utf-8", "replace")
        offset = rows.characters(<const uint8_t *>PyBytes_AS_STRING(row), <size_t>len(row), offset)
    return rows.raise_row(rows.code_names[code], rows.reasons[code], input, offset, number)


cdef int raise_row_of(RowOperation rows, const Source *source, size_t row, int code, size_t offset, size_t number) except -1:
    """Raise the error for one row of an array."""
    cdef const uint8_t *src
    cdef size_t n
    row_at(source, row, &src, &n)
    return raise_row(rows, source, src[:n], code, offset, number)


cdef tuple rejected_of(list jobs, size_t limit):
    """Return how many rows were rejected, and the first of them as (row, code, offset)."""
    cdef Job job
    cdef const Rejected *rejected
    cdef size_t i, count = 0
    cdef list found = []
    for job in jobs:
        count += job.task.invalid
        rejected = <const Rejected *>job.task.found.data
        for i in range(min(job.task.found.size // sizeof(Rejected), limit - <size_t>len(found))):
            found.append((job.number + rejected[i].row, job.plan.rows.code_names[rejected[i].code], rejected[i].offset))
    return count, found


# --- lines ------------------------------------------------------------------------------------------------------------

Lines = namedtuple("Lines", ["written", "lines", "invalid", "faults"], module="uricodec._rows._tasks")
Lines.__doc__ = "Bytes written, the number of lines and of invalid ones, and the first of these as LineFaults."
LineFault = namedtuple("LineFault", ["line", "start", "stop", "code", "offset"], module="uricodec._rows._tasks")
LineFault.__doc__ = """An invalid line or record: its number, from 0; where it starts and ends in the buffer, without its
terminator; a code; and an offset in it."""


cdef list faults_of(const Run *run, RowOperation operation, size_t limit):
    cdef const Rejected *rejected = <const Rejected *>run.found.data
    cdef size_t i
    cdef list faults = []
    for i in range(min(run.found.size // sizeof(Rejected), limit)):
        faults.append(LineFault(rejected[i].row, rejected[i].start, end_of_line(run.source, rejected[i].start),
                                operation.code_names[rejected[i].code], rejected[i].offset))
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
            0), number of invalid lines, and the invalid lines as a list of LineFault(line, start, stop, code, offset), where
            offset is relative to the line. With "raise", the last of them is the line before which reading stopped.

    Raises:
        ValueError: `terminator` is not one control character, `errors` is unknown, or the operation requires dst.
        OverflowError: The result of a line could exceed the maximum size of an object.

    >>> from uricodec.uri._rows import CheckedRows, CheckRows, NormalizeRows
    >>> rows = CheckedRows(CheckRows("uri", "URI"), NormalizeRows("path"))
    >>> buffer = bytearray(rows.capacity(29))
    >>> read, found = transform_lines(b"HTTP://A/./b\\r\\na/./b\\nx:%7e", buffer, rows)
    >>> read, bytes(buffer[:found.written])
    (25, b'http://a/b\\r\\na/./b\\nx:~')
    >>> found.lines, found.invalid, found.faults
    (3, 1, [LineFault(line=1, start=14, stop=19, code='scheme', offset=1)])
    """
    cdef Py_buffer source_view, target
    cdef RowOperation rows = <RowOperation?>operation
    cdef RowPolicy policy = <RowPolicy>policy_named(errors, True)
    cdef Source source
    cdef uc_set not_terminator
    cdef Run run
    cdef bint listed = limit > 0
    rows.check_policy(policy)
    if dst is None and rows.slots.result != WRITES_NOTHING:
        raise ValueError("dst is required for an operation that writes")
    memset(&run, 0, sizeof(Run))
    borrow_bytes(src, &source_view)
    try:
        set_lines_source(&source, &not_terminator, &source_view, terminator)
        source.text = True
        rows.capacity(source.count, errors)      # raises OverflowError if it could be too long
        if dst is not None:
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            run.data.data, run.capacity = <uint8_t *>target.buf, <size_t>target.len
        try:
            run.source, run.stop = &source, source.count
            set_operation(&run, &rows.slots, policy, listed)
            run.limit, run.stops = <size_t>limit if listed else <size_t>(policy == RAISE_ROW), listed
            set_buffer_sink(&run)
            set_lines(&run)
            run.counts = run.strict
            begin_work(&run)
            run_to_end(&run)
            if run.status == NO_MEMORY:
                raise MemoryError  # pragma: no cover: no memory
            return run.next, Lines(run.data.size, run.row if run.counts else None, run.invalid, faults_of(&run, rows, run.limit))
        finally:
            PyMem_RawFree(run.gathered)
            discard(&run.found)
            if dst is not None:
                PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source_view)
