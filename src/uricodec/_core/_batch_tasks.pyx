"""Rows of arrays and buffers as tasks for the loop of _batch, and the threads that do them.

An array is done as one task, or, where there are several threads, as some. Which thread does a task makes no difference to
what comes of it, nor to its place.
"""
cimport cython
from libc.stdint cimport INT32_MAX
from libc.string cimport memchr, memset

from uricodec._core._arrow cimport *
from uricodec._core._arrow_join cimport copy_bits
from uricodec._core._atomic cimport uc_put8
from uricodec._core._batch cimport *
from uricodec._core._batch_answers cimport *
from uricodec._core._batch_codec cimport codec_block, codec_otherwise, codec_quick, expected_size, operation_for
from uricodec._core._batch_urns cimport urn_block, urn_quick
from uricodec._core._fingerprint cimport FingerprintKey, Key, fingerprints
from uricodec._core._kernels cimport ByteSet, kernels, remove_octet
from uricodec._core._text cimport borrow_octets

from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from collections import deque

LAYOUTS = {
    b"u": (OFFSETS_32, True), b"z": (OFFSETS_32, False), b"U": (OFFSETS_64, True), b"Z": (OFFSETS_64, False),
    b"vu": (VIEWS, True), b"vz": (VIEWS, False), b"n": (NULLS, True),
}
WIDTHS = {b"C": 1, b"c": -1, b"S": 2, b"s": -2, b"I": 4, b"i": -4, b"L": 8, b"l": -8}
cdef enum:
    SLOW = 1024         # octets of lines that are done as rows where a quick way has failed

cdef ByteSet ALL = ByteSet(range(256))

limit_of_offsets = INT32_MAX


def set_limit_of_offsets(limit):
    """From how many octets on offsets have 64 bits. For tests.

    Args:
        limit (int | None): None for what Arrow demands.

    >>> set_limit_of_offsets(None)
    """
    global limit_of_offsets
    limit_of_offsets = INT32_MAX if limit is None else limit


# --- what is to be done -------------------------------------------------------------------------------------------------

cdef void digest_rows(const void *key, const uint8_t *src, const size_t *starts, const size_t *ends, size_t rows,
                      uint8_t *dst) noexcept nogil:
    fingerprints(<const Key *>key, src, starts, ends, rows, dst)


cdef list KIND_NAMES = ["text", "fingerprint", "verdict", "fault", "split"]


@cython.final
cdef class Plan:
    """An operation as it is done with many rows.

    Args:
        rows (RowOperation): The operation on one row.
        kind (str): What comes out: "text", "fingerprint", "verdict", "fault" or "split".
        plain (ByteSet | None): A row of these octets alone does not change.
        fields (tuple[str, ...]): The components of a "split".
        key (FingerprintKey | None): Of a "fingerprint".
    """
    def __cinit__(self, RowOperation rows not None, kind="text", ByteSet plain=None, fields=(), FingerprintKey key=None):
        self.rows, self.has_plain, self.kind = rows, plain is not None, <Kind>(<int>KIND_NAMES.index(kind))
        self.fields, self.key = tuple(fields), key
        if self.kind == OCTETS_16:
            self.key_data, self.digest = &(<FingerprintKey?>key).key, digest_rows
        if plain is not None:
            self.plain = plain.set

    @property
    def result(self):
        """The kind of result: "text", "fingerprint", "verdict", "fault" or "split"."""
        return KIND_NAMES[self.kind]


# As of LineNames: the collector would drop the object behind the buffer, and not release it.
@cython.no_gc
@cython.final
cdef class Rows:
    """Where the rows of an array or a buffer are."""
    def __dealloc__(self):
        if self.viewed:
            PyBuffer_Release(&self.view)


cdef int set_source(Source *source, Array array, Type type, size_t *octets) except -1:
    cdef int64_t i, first, last
    cdef const uint8_t *offsets
    memset(source, 0, sizeof(Source))
    source.data = b""       # never NULL, not even where nulls are
    if type.format not in LAYOUTS:
        raise TypeError(f"no column of text or octets: its Arrow format is {type.format.decode('latin-1')!r}")
    source.layout, source.text = <Layout>(<int>LAYOUTS[type.format][0]), LAYOUTS[type.format][1]
    source.count = <size_t>array.length
    octets[0] = 0
    if source.layout == NULLS:
        return 0
    if array.n_buffers < 3 and not (source.layout == VIEWS and array.n_buffers == 2):
        raise ValueError(f"an Arrow array of that type has more than {array.n_buffers} buffers")
    if array.nulls != 0:
        source.valid, source.valid_start = <const uint8_t *>array.buffers[0], <size_t>array.offset
    offsets = <const uint8_t *>array.buffers[1]
    if offsets == NULL:
        if array.length:
            raise ValueError("the Arrow array lacks a buffer")
        return 0
    if source.layout == VIEWS:
        source.offsets = offsets + sizeof(View) * <size_t>array.offset
        source.n_buffers = max(array.n_buffers - 3, 0)
        source.buffers = array.buffers + 2
        source.sizes = <const int64_t *>array.buffers[array.n_buffers - 1] if source.n_buffers else NULL
        octets[0] = sizeof(View) * source.count
        for i in range(source.n_buffers):
            octets[0] += <size_t>source.sizes[i]
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
        raise ValueError("the Arrow array has offsets that are in no order")
    octets[0] = <size_t>(last - first)
    return 0


cdef Rows rows_of(Array array, Type type):
    cdef Rows rows = Rows()
    cdef size_t octets
    rows.array = array
    if type.dictionary is None:
        set_source(&rows.source, array, type, &rows.octets)
        return rows
    set_source(&rows.values, array.dictionary, type.dictionary, &octets)
    rows.source.layout, rows.source.width, rows.source.data = INDEXED, WIDTHS[type.format], b""
    rows.source.count, rows.source.values, rows.source.text = <size_t>array.length, &rows.values, rows.values.text
    if array.n_buffers < 2 or array.buffers[1] == NULL and array.length:
        raise ValueError("the Arrow array lacks a buffer")
    rows.source.offsets = <const uint8_t *>array.buffers[1] + abs(rows.source.width) * array.offset
    if array.nulls != 0:
        rows.source.valid, rows.source.valid_start = <const uint8_t *>array.buffers[0], <size_t>array.offset
    rows.octets = octets + rows.source.count
    return rows


# --- tasks --------------------------------------------------------------------------------------------------------------

@cython.final
cdef class Job:
    """A task, and the number of the first of its rows in the whole input.

    There may be as many as a column has chunks: what only a task that runs needs, no other one has.
    """
    def __dealloc__(self):
        cdef size_t i
        PyMem_RawFree(self.task.gathered)
        discard(&self.valid)
        discard(&self.task.data)
        discard(&self.task.offsets)
        discard(&self.task.made)
        for i in range(self.task.filled.size // sizeof(Room)):
            discard(<Room *>self.task.filled.data + i)
        discard(&self.task.filled)
        discard(&self.task.found)
        discard_answer(&self.task)

    cdef int run(self) except -1:
        if self.task.gathered == NULL:
            begin(self)
        with nogil:
            run(&self.task)
        if self.task.status == HAS_RAISED:
            raise_set()
        PyMem_RawFree(self.task.gathered)
        self.task.gathered = NULL
        discard(&self.task.made)
        trim(&self.task.data)
        return 0


cdef int set_validity(Job job, size_t rows) except -1:
    """The validity of the rows of a task, which those that are refused may lose."""
    cdef Task *task = &job.task
    cdef const Source *source = task.source
    cdef size_t n = (rows + 7) >> 3, i
    if source.valid == NULL and source.layout != NULLS and task.policy != NULL_ROW and not (
            source.layout == INDEXED and source.values.valid != NULL):
        return 0
    if not grow(&job.valid, n + 1):
        raise MemoryError
    task.valid, job.valid.size = job.valid.data, n
    if source.layout == NULLS:
        memset(task.valid, 0, n)
    elif source.valid != NULL:
        copy_bits(source.valid, source.valid_start + task.base, rows, task.valid, 0)
    else:
        memset(task.valid, 0xFF, n)
    if source.layout == INDEXED and source.values.valid != NULL:
        for i in range(rows):
            if is_null(source, task.base + i):
                task.valid[i >> 3] &= ~(1 << (i & 7))
    return 0


cdef const uint8_t *first_row(const Source *source) noexcept:
    """Where rows begin that stand one behind the other."""
    if source.offsets == NULL:
        return source.data
    if source.layout == OFFSETS_32:
        return source.data + (<const int32_t *>source.offsets)[0]
    return source.data + (<const int64_t *>source.offsets)[0]


cdef size_t octets_of_views(const Source *source, size_t start, size_t stop) noexcept:
    """About how many octets rows are that have views, judged by some of them."""
    cdef size_t step = (stop - start) // 256 + 1, sum = 0, i
    i = start
    while i < stop:
        sum += <size_t>max((<const View *>source.offsets)[i].size, 0)
        i += step
    return sum * step


cdef int begin(Job job) except -1:
    """Say what the task is to do, and have room for what comes of it."""
    cdef Task *task = &job.task
    cdef Plan plan = job.plan
    cdef Rows rows = job.rows
    cdef size_t start = job.start, stop = job.stop, width, size
    task.source = &rows.source
    task.row = 0 if rows.source.layout == LINES else start
    task.base, task.first, task.next, task.stop = task.row, start, start, stop
    task.kind, task.operation, task.options = plan.kind, operation_for(plan.rows, job.policy, job.look), plan.rows.options
    task.fields, task.answer = <int>len(plan.fields), answer_of(plan.kind)
    task.otherwise = codec_otherwise(plan.rows, job.policy)
    task.block_of = codec_block(plan.rows)
    if task.block_of == NULL:
        task.block_of = urn_block(plan.rows, plan.kind)
    if task.block_of == NULL and task.answer == NULL:
        task.block_of = by_rows
    task.digest, task.key = plan.digest, plan.key_data
    if plan.has_plain:
        task.plain = &plan.plain
    task.policy, task.look = job.policy, job.look
    task.limit, task.bad_limit = limit_of_offsets, UC_REFUSED if plan.kind == FAULT else max(job.limit, <size_t>1)
    task.gathered = <uint8_t *>PyMem_RawMalloc(2 * (BLOCK + 2 * WIDE) + sizeof(Block) + 4 * (ROWS + 1))
    if task.gathered == NULL:
        raise MemoryError
    task.scratch = task.gathered + BLOCK + 2 * WIDE
    task.block = <Block *>(task.scratch + BLOCK + 2 * WIDE)
    task.out_at = <uint32_t *>(task.block + 1)
    task.count, task.slow = stop - start, BLOCK
    if rows.source.layout == LINES:
        if plan.kind == TEXT:
            task.quick = codec_quick(plan.rows)
            if task.quick == NULL:
                task.quick = urn_quick(plan.rows)
            if task.quick != NULL:
                task.slow = SLOW
            # Most operations make text no longer, but they want to have room until it is written.
            size = max(expected_size(plan.rows, rows.source.data + start, stop - start), stop - start)
            job.lent = [lend_bytes(&task.data, size + 4 * BLOCK + 4 * ROWS)]
            return 0
        task.count = kernels.count_outside(rows.source.data + start, stop - start, rows.source.no_end)
        task.count += stop > start and rows.source.data[stop - 1] != rows.source.end
    if plan.kind != TEXT:
        prepare_answer(task)
        set_validity(job, task.count)
        return 0
    set_validity(job, stop - start)
    task.large = rows.source.layout == OFFSETS_64
    task.views = rows.source.layout == VIEWS
    if task.views:
        size = octets_of_views(&rows.source, start, stop)
        if not grow(&task.offsets, sizeof(View) * (stop - start)) or not grow(&task.data, min(size, rows.octets) + 4 * BLOCK):
            raise MemoryError
    else:
        width = 8 if task.large else 4
        if not grow(&task.offsets, width * (stop - start + 1)):
            raise MemoryError
        memset(task.offsets.data, 0, width)
        task.offsets.size = width
        size = rows.octets // max(rows.source.count, <size_t>1) * (stop - start)
        if not grow(&task.data, expected_size(plan.rows, first_row(&rows.source), size) + WIDE):
            raise MemoryError
    return 0


cdef list ranges(size_t count, size_t octets, size_t threads):
    """Where tasks begin and end: two for each thread, if they are worth that, and no more than 16 M rows in one. Of a large
    column there are more, so that a thread whose memory is slow for a while does fewer of them."""
    cdef size_t parts = 1, i
    if threads > 1:
        parts = max(min(2 * threads, octets >> 19), min(8 * threads, octets >> 22), (count >> 24) + 1)
    return [(count * i // parts, count * (i + 1) // parts) for i in range(parts)]


cdef list ranges_of_lines(const Source *source, size_t threads):
    """The same for lines."""
    cdef size_t start = 0, stop
    cdef list found = []
    cdef const uint8_t *end
    cdef size_t parts = max(min(2 * threads, source.count >> 19), <size_t>1) if threads > 1 else 1, i
    for i in range(1, parts + 1):
        stop = source.count // parts * i if i < parts else source.count
        if stop < source.count:
            end = <const uint8_t *>memchr(source.data + stop, source.end, source.count - stop)
            stop = end - source.data + 1 if end != NULL else source.count
        if stop > start:
            found.append((start, stop))
            start = stop
    return found


cdef Rows rows_of_lines(object buffer, object end):
    cdef Rows rows = Rows()
    cdef Source *source = &rows.source
    if len(end) != 1 or 0x20 <= end[0] != 0x7F:
        raise ValueError(f"no control character that can end a line: {end!r}")
    memset(source, 0, sizeof(Source))
    borrow_octets(buffer, &rows.view)
    rows.viewed = True
    source.layout, source.data, source.count = LINES, <const uint8_t *>rows.view.buf, <size_t>rows.view.len
    source.end, rows.no_end = end[0], ALL.set
    remove_octet(&rows.no_end, source.end)
    source.no_end, rows.octets = &rows.no_end, source.count
    return rows


cdef list jobs_of(Plan plan, list sources, Refused policy, size_t limit, bint look, size_t threads,
                   size_t number):
    """Make the tasks that it takes, and do them."""
    cdef Rows rows
    cdef Job job
    cdef list jobs = []
    cdef size_t first = number
    for rows in sources:
        if rows.source.layout == LINES:
            parts = ranges_of_lines(&rows.source, threads)
        else:
            parts = ranges(rows.source.count, rows.octets, threads)
        for start, stop in parts:
            job = Job()
            job.plan, job.rows, job.policy, job.start, job.stop = plan, rows, policy, start, stop
            job.limit, job.look, job.number = limit, look, number
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
    """One that is stopped stops those behind it, and one that raises all."""
    queue = deque(jobs)
    cdef list begun = [], errors = []

    def work():
        cdef Job job
        while True:
            try:
                job = queue.popleft()
            except IndexError:
                return
            begun.append(job)
            job.run()
            if job.task.status != DONE:
                queue.clear()

    def halt():
        cdef Job job
        queue.clear()
        for job in begun:
            uc_put8(&job.task.halted, 1)

    def help():
        try:
            work()
        except BaseException as error:
            errors.append(error)
            halt()

    # If there is no memory, that is known before there are threads, which need some to start: an array that is divided
    # has all its room then, and of many arrays some have.
    cdef Job job
    for job in jobs[:8 * threads]:
        begin(job)
    workers = []
    try:
        if threads > 1 and len(jobs) > 1:
            from threading import Thread
            for _ in range(min(<Py_ssize_t>threads, len(jobs)) - 1):
                worker = Thread(target=help, daemon=True)
                try:
                    worker.start()
                except RuntimeError:    # there are no more: those that there are do it
                    break
                workers.append(worker)
        work()
    except BaseException:
        halt()
        raise
    finally:
        for worker in workers:
            worker.join()
        begun.clear()       # the functions above keep each other alive, and what they know
    if errors:
        raise errors[0]
    return 0


# --- rows that were refused ---------------------------------------------------------------------------------------------

cdef int check_status(Job job) except -1:
    cdef const Bad *bad = <const Bad *>job.task.found.data
    if job.task.status == NO_MEMORY:
        raise MemoryError
    if job.task.status == BAD_OFFSETS:
        raise ValueError("the Arrow array has offsets that are in no order, or views or indices of what is not there")
    if job.task.status == TOO_LONG:
        raise OverflowError("a row becomes longer than a view can be")
    if job.task.status == STOPPED:
        if job.task.source.layout == LINES:
            raise_line(job, bad.row, bad.code, bad.offset)
        raise_bad(job.plan.rows, job.task.source, bad.row, bad.code, bad.offset, job.number + bad.row)
    return 0


cdef int raise_row(RowOperation rows, const Source *source, bytes row, int code, size_t offset, size_t number) except -1:
    reason = f"row {number}: {rows.reasons[code]}"
    if source.text:
        raise rows.error(reason, row.decode("utf-8", "replace"), len(row[:offset].decode("utf-8", "replace")))
    raise rows.error(reason, row, offset)


cdef int raise_bad(RowOperation rows, const Source *source, size_t row, int code, size_t offset, size_t number) except -1:
    """The error of one row of an array."""
    cdef const uint8_t *src
    cdef size_t n
    row_at(source, row, &src, &n)
    return raise_row(rows, source, src[:n], code, offset, number)


cdef int raise_line(Job job, size_t line, int code, size_t offset) except -1:
    """The error of one line of a task."""
    cdef const Source *source = job.task.source
    cdef const uint8_t *start = source.data + job.task.first
    cdef const uint8_t *stop = source.data + source.count
    cdef const uint8_t *end
    cdef size_t i
    for i in range(line):
        end = <const uint8_t *>memchr(start, source.end, stop - start)
        if end == NULL:
            break
        start = end + 1
    end = <const uint8_t *>memchr(start, source.end, stop - start)
    if end != NULL:
        stop = end - carriage_return(&job.task, start, end - start)
    return raise_row(job.plan.rows, source, start[:stop - start], code, offset, job.number + line)


cdef tuple bads_of(list jobs, size_t limit):
    """How many rows were refused, and the first of them: row, code, offset."""
    cdef Job job
    cdef const Bad *bad
    cdef size_t i, count = 0
    cdef list found = []
    for job in jobs:
        count += job.task.bad
        bad = <const Bad *>job.task.found.data
        for i in range(min(job.task.found.size // sizeof(Bad), limit - <size_t>len(found))):
            found.append((job.number + bad[i].row, job.plan.rows.code_names[bad[i].code], bad[i].offset))
    return count, found
