"""Arrow columns in, Arrow columns out: where their rows are for the loop of _batch, and what came out as arrays again.

An array is done as one task, or, where there are several threads, as some, each of which is an array of the result. A
dictionary's values are done instead of its rows. Text becomes the layout that it came in.
"""
cimport cython
from libc.stdint cimport INT32_MAX
from libc.string cimport memset

from uricodec._core._arrow cimport *
from uricodec._core._batch cimport *
from uricodec._core._batch_codec cimport codec_block, codec_replacing
from uricodec._core._kernels cimport ByteSet, add_octet, kernels, remove_octet

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from collections import deque

cdef list POLICY_NAMES = ["keep", "null", "raise", "replace"]
cdef dict LAYOUTS = {
    b"u": (OFFSETS_32, True), b"z": (OFFSETS_32, False), b"U": (OFFSETS_64, True), b"Z": (OFFSETS_64, False),
    b"vu": (VIEWS, True), b"vz": (VIEWS, False), b"n": (NULLS, True),
}
cdef dict WIDTHS = {b"C": 1, b"c": -1, b"S": 2, b"s": -2, b"I": 4, b"i": -4, b"L": 8, b"l": -8}
cdef dict LARGE = {b"u": b"U", b"z": b"Z"}

# For tests: from how many octets on offsets are large.
cdef size_t limit_of_offsets = INT32_MAX


def set_limit_of_offsets(limit):
    """From how many octets on offsets have 64 bits. For tests.

    Args:
        limit (int | None): None for what Arrow demands.

    >>> set_limit_of_offsets(None)
    """
    global limit_of_offsets
    limit_of_offsets = INT32_MAX if limit is None else limit


# --- what is to be done -------------------------------------------------------------------------------------------------

@cython.final
cdef class Plan:
    """An operation, as many rows are done with it.

    Args:
        rows (RowOperation): The operation on one row.
        plain (ByteSet | None): A row of these octets alone does not change.
    """
    cdef RowOperation rows
    cdef uc_set plain
    cdef bint has_plain
    cdef Kind kind

    def __init__(self, RowOperation rows not None, ByteSet plain=None):
        self.rows, self.has_plain, self.kind = rows, plain is not None, TEXT
        if plain is not None:
            self.plain = plain.set


@cython.final
cdef class Rows:
    """Where the rows of an array or a buffer are."""
    cdef Source source
    cdef Source values
    cdef uc_set no_end
    cdef size_t octets      # about how many there are
    cdef Array array
    cdef Py_buffer view
    cdef bint viewed

    def __dealloc__(self):
        if self.viewed:
            PyBuffer_Release(&self.view)


cdef int set_source(Source *source, Array array, Type type, size_t *octets) except -1:
    cdef int64_t i
    cdef const uint8_t *offsets
    memset(source, 0, sizeof(Source))
    if type.format not in LAYOUTS:
        raise TypeError(f"no column of text or octets: its Arrow format is {type.format.decode('latin-1')!r}")
    source.layout = <Layout>(<int>LAYOUTS[type.format][0])
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
    source.data = <const uint8_t *>array.buffers[2]
    if source.layout == OFFSETS_32:
        source.offsets = offsets + 4 * array.offset
        octets[0] = <size_t>((<const int32_t *>source.offsets)[source.count] - (<const int32_t *>source.offsets)[0])
    else:
        source.offsets = offsets + 8 * array.offset
        octets[0] = <size_t>((<const int64_t *>source.offsets)[source.count] - (<const int64_t *>source.offsets)[0])
    if source.data == NULL:
        source.data = b""
    return 0


cdef Rows rows_of(Array array, Type type):
    cdef Rows rows = Rows()
    cdef size_t octets
    rows.array = array
    if type.dictionary is None:
        set_source(&rows.source, array, type, &rows.octets)
        return rows
    set_source(&rows.values, array.dictionary, type.dictionary, &octets)
    rows.source.layout, rows.source.width = INDEXED, WIDTHS[type.format]
    rows.source.count, rows.source.values = <size_t>array.length, &rows.values
    if array.n_buffers < 2 or array.buffers[1] == NULL and array.length:
        raise ValueError("the Arrow array lacks a buffer")
    rows.source.offsets = <const uint8_t *>array.buffers[1] + abs(rows.source.width) * array.offset
    if array.nulls != 0:
        rows.source.valid, rows.source.valid_start = <const uint8_t *>array.buffers[0], <size_t>array.offset
    rows.octets = octets + rows.source.count
    return rows


# --- tasks --------------------------------------------------------------------------------------------------------------

cdef void copy_bits(const uint8_t *src, size_t start, size_t n, uint8_t *dst) noexcept nogil:
    """n bits from bit `start` on, to bit 0 on."""
    cdef size_t i, first = start >> 3, shift = start & 7, last = (start + n - 1) >> 3 if n else 0
    for i in range((n + 7) >> 3):
        dst[i] = src[first + i] >> shift
        if shift and first + i < last:
            dst[i] |= <uint8_t>(src[first + i + 1] << (8 - shift))


@cython.final
cdef class Job:
    """A task and all that it needs."""
    cdef Task task
    cdef Rows rows
    cdef Plan plan

    def __dealloc__(self):
        cdef size_t i
        PyMem_RawFree(self.task.gathered)
        PyMem_RawFree(self.task.valid)
        discard(&self.task.data)
        discard(&self.task.offsets)
        for i in range(self.task.filled.size // sizeof(Room)):
            discard(<Room *>self.task.filled.data + i)
        discard(&self.task.filled)
        discard(&self.task.found)

    def run(self):
        with nogil:
            run(&self.task)


cdef Job job_of(Plan plan, Rows rows, Refused policy, bint text, size_t start, size_t stop, size_t limit, bint look):
    cdef Job job = Job()
    cdef Task *task = &job.task
    cdef size_t n = (stop - start + 7) >> 3
    memset(task, 0, sizeof(Task))
    job.rows, job.plan = rows, plan
    task.source = &rows.source
    task.row = 0 if rows.source.layout == LINES else start
    task.next, task.stop = start, stop
    task.kind, task.operation, task.options = plan.kind, plan.rows.operation, plan.rows.options
    task.replacing = codec_replacing(plan.rows)
    task.block_of = codec_block(plan.rows)
    if task.block_of == NULL:
        task.block_of = by_rows
    if plan.has_plain:
        task.plain = &plan.plain
    task.policy, task.text, task.look = policy, text, look
    task.large = rows.source.layout == OFFSETS_64
    task.views = rows.source.layout == VIEWS
    task.limit, task.bad_limit, task.base = limit_of_offsets, max(limit, <size_t>1), start
    if policy == REPLACE_ROW and task.replacing == NULL:
        raise ValueError("errors='replace' is for what decodes text")
    task.gathered = <uint8_t *>PyMem_RawMalloc(2 * (BLOCK + 2 * WIDE))
    if task.gathered == NULL:
        raise MemoryError
    task.scratch = task.gathered + BLOCK + 2 * WIDE
    if rows.source.layout == LINES:
        return job
    if rows.source.valid != NULL or policy == NULL_ROW:
        task.valid = <uint8_t *>PyMem_RawMalloc(n + 1)
        if task.valid == NULL:
            raise MemoryError
        if rows.source.valid == NULL:
            memset(task.valid, 0xFF, n)
        else:
            copy_bits(rows.source.valid, rows.source.valid_start + start, stop - start, task.valid)
    if not task.views:
        if not grow(&task.offsets, (8 if task.large else 4) * (stop - start + 1)):
            raise MemoryError
        memset(task.offsets.data, 0, 8 if task.large else 4)
        task.offsets.size = 8 if task.large else 4
    if not grow(&task.data, 0 if task.views else rows.octets // max(rows.source.count, <size_t>1) * (stop - start) + WIDE):
        raise MemoryError
    return job


cdef Array text_array(Job job):
    """What came of a task, as an array of the layout that it read."""
    cdef Task *task = &job.task
    cdef Array array = Array()
    cdef Array source = job.rows.array
    cdef size_t i, more = task.filled.size // sizeof(Room), n
    cdef Room *room
    cdef Room sizes
    array.length = <int64_t>(task.stop - task.base)
    if task.valid != NULL and (task.source.valid != NULL or task.nulled):
        array.nulls = -1 if task.source.valid != NULL else <int64_t>task.nulled
    if not task.views:
        array.set_buffers(3)
        array.buffers[1] = adopt(array, &task.offsets)
        array.buffers[2] = adopt(array, &task.data)
    else:
        more += task.data.size > 0
        n = <size_t>task.source.n_buffers
        array.set_buffers(<int64_t>(3 + n + more))
        array.owners.extend(source.owners)
        array.buffers[1] = adopt(array, &task.offsets)
        memset(&sizes, 0, sizeof(Room))
        if not grow(&sizes, 8 * (n + more) + 8):
            raise MemoryError
        sizes.size = 8 * (n + more)
        for i in range(n):
            array.buffers[2 + i] = task.source.buffers[i]
            (<int64_t *>sizes.data)[i] = task.source.sizes[i]
        for i in range(more):
            room = <Room *>task.filled.data + i if i < task.filled.size // sizeof(Room) else &task.data
            (<int64_t *>sizes.data)[n + i] = <int64_t>room.size
            array.buffers[2 + n + i] = adopt(array, room)
        array.buffers[2 + n + more] = adopt(array, &sizes)
    if array.nulls:
        room = &sizes
        room.data, room.size, room.cap = task.valid, (<size_t>array.length + 7) >> 3, (<size_t>array.length + 7) >> 3
        task.valid = NULL
        array.buffers[0] = adopt(array, room)
    return array


cdef const void *adopt(Array array, Room *room) except? NULL:
    """The octets, which belong to the array from now on."""
    cdef Memory memory = keep(room)
    array.owners.append(memory)
    return memory.data


# --- columns ------------------------------------------------------------------------------------------------------------

@cython.final
cdef class Column:
    """What came of a column: an object that every library takes that speaks Arrow.

    It has the methods of the Arrow PyCapsule interface, and nothing else: hand it to pyarrow.array, polars.Series,
    pandas.Series.from_arrow or any other that takes such objects.
    """
    cdef readonly Type type
    cdef readonly list arrays

    def __init__(self, type, arrays):
        self.type, self.arrays = type, arrays

    def __len__(self):
        return sum([(<Array?>array).length for array in self.arrays])

    def __arrow_c_schema__(self):
        return schema_capsule(self.type)

    def __arrow_c_stream__(self, requested_schema=None):
        return stream_capsule(self.type, self.arrays)

    def __arrow_c_array__(self, requested_schema=None):
        if len(self.arrays) != 1:
            raise NotImplementedError
        return schema_capsule(self.type), array_capsule(self.arrays[0])


cdef int check_status(Job job) except -1:
    if job.task.status == NO_MEMORY:
        raise MemoryError
    if job.task.status == BAD_OFFSETS:
        raise ValueError("the Arrow array has offsets that are in no order, or views of what is not there")
    if job.task.status == TOO_LONG:
        raise OverflowError("a row becomes longer than a view can be")
    return 0


def run_jobs(list jobs, threads):
    """Do all tasks; the first one that is stopped stops those behind it."""
    cdef Job job
    if threads <= 1 or len(jobs) <= 1:
        for job in jobs:
            job.run()
            if job.task.status != DONE:
                return
        return
    from threading import Thread
    queue = deque(jobs)

    def work():
        cdef Job job
        while True:
            try:
                job = queue.popleft()
            except IndexError:
                return
            job.run()
            if job.task.status != DONE:
                queue.clear()

    workers = [Thread(target=work) for _ in range(min(threads, len(jobs)) - 1)]
    for worker in workers:
        worker.start()
    try:
        work()
    finally:
        queue.clear()
        for worker in workers:
            worker.join()


cdef list ranges(size_t count, size_t octets, size_t threads):
    """Where tasks begin and end."""
    cdef size_t parts = min(2 * threads, octets >> 19) if threads > 1 else 1, i
    parts = max(parts, <size_t>1)
    return [(count * i // parts, count * (i + 1) // parts) for i in range(parts)]


def run_text(make, source, errors, faults, threads):
    """Do a column of text.

    Args:
        make (Callable): Gives the Plan for text (True) or octets.
        source (object): With capsules.
        errors (str): A policy.
        faults (object | None): Is told of rows that are refused.
        threads (int | None): How many.

    Returns:
        Column: What came of it.
    """
    cdef list arrays = []
    cdef Type type = read_object(source, arrays)
    cdef Refused policy = <Refused>(<int>POLICY_NAMES.index(errors))
    cdef Array array
    cdef Rows rows
    cdef Job job
    cdef size_t total = 0
    sources = [rows_of(array, type) for array in arrays]
    text = LAYOUTS[type.format][1]
    plan = make(text)
    for rows in sources:
        total += rows.octets
    if threads is None:
        threads = 2 if total > 1 << 20 else 1
    jobs = []
    for rows in sources:
        for start, stop in ranges(rows.source.count, rows.octets, threads):
            jobs.append(job_of(plan, rows, policy, text, start, stop, 100, faults is not None))
    run_jobs(jobs, threads)
    for job in jobs:
        check_status(job)
    return Column(type, [text_array(job) for job in jobs])
