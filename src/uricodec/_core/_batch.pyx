"""Rows of a column, block by block: the loop that every operation on columns, and on lines in buffers, runs in.

A block is as many rows as fit the first cache. Where rows stand one behind the other it is the column's own memory, else a
copy; where each row begins is copied, so that nobody can change that. A block function turns the rows of a block into what
becomes of them, one behind the other as well, and the block is then added to the result: text with offsets, or views, or
lines. by_rows() is the block function of an operation that has none of its own: it copies runs of rows that do not
change, which are found by one pass of a kernel, and calls the row function for the others.

No count of one pass is trusted by another: where a row ends is read once, and every store stays inside the room that the
operation asked for, whatever another thread does to the input.
"""
from libc.stdint cimport INT32_MAX, SIZE_MAX
from libc.string cimport memchr, memcmp, memmove, memset

from uricodec._core._arrow cimport Room, discard, grow
from uricodec._core._atomic cimport uc_glance8
from uricodec._core._kernels cimport kernels, uc_lowest_bit, uc_set

ctypedef fused offset:
    int32_t
    int64_t


# --- where rows are -----------------------------------------------------------------------------------------------------

cdef int64_t index_at(const Source *source, size_t i) noexcept nogil:
    """Unsigned indices of 64 bits have no use for the last."""
    if source.width == 1:
        return (<const uint8_t *>source.offsets)[i]
    if source.width == -1:
        return (<const signed char *>source.offsets)[i]
    if source.width == 2:
        return (<const unsigned short *>source.offsets)[i]
    if source.width == -2:
        return (<const short *>source.offsets)[i]
    if source.width == 4:
        return (<const uint32_t *>source.offsets)[i]
    if source.width == -4:
        return (<const int32_t *>source.offsets)[i]
    return (<const int64_t *>source.offsets)[i]


cdef bint row_at(const Source *source, size_t i, const uint8_t **src, size_t *n) noexcept nogil:
    """The octets of a row; none for one that is null. False: it is not where it should be."""
    cdef const View *view
    cdef int64_t first, last, end       # of the row, of all rows
    src[0], n[0] = source.data, 0
    if source.layout == NULLS or not is_valid(source, i):
        return True
    if source.layout == VIEWS:
        view = <const View *>source.offsets + i
        if view.size < 0:
            return False
        n[0] = <size_t>view.size
        if view.size <= 12:
            src[0] = <const uint8_t *>view.prefix
            return True
        if not 0 <= view.buffer < source.n_buffers or view.start < 0:
            return False
        src[0] = <const uint8_t *>source.buffers[view.buffer] + view.start
        return <int64_t>view.start + view.size <= source.sizes[view.buffer]
    if source.layout == INDEXED:
        first = index_at(source, i)
        if first < 0 or <size_t>first >= source.values.count:
            return False
        return row_at(source.values, <size_t>first, src, n)
    if source.layout == OFFSETS_32:
        first, last = (<const int32_t *>source.offsets)[i], (<const int32_t *>source.offsets)[i + 1]
        end = (<const int32_t *>source.offsets)[source.count]
    else:
        first, last = (<const int64_t *>source.offsets)[i], (<const int64_t *>source.offsets)[i + 1]
        end = (<const int64_t *>source.offsets)[source.count]
    src[0] = source.data + first
    n[0] = <size_t>(last - first)
    return 0 <= first <= last <= end


cdef inline size_t fill_offsets(Task *task, const offset *offsets) noexcept nogil:
    """The next rows that fit a block; none if the next one does not. SIZE_MAX: they are in no order."""
    cdef Block *block = task.block
    cdef size_t i, rows = min(<size_t>ROWS, task.stop - task.next)
    cdef offset first = offsets[0], at, before = first
    if first < 0:
        return UC_REFUSED
    block.data = task.source.data + first
    for i in range(1, rows + 1):
        at = offsets[i]
        if at < before:
            return UC_REFUSED
        if at - first > BLOCK:
            return i - 1
        before = at
        block.at[i] = <uint32_t>(at - first)
    return rows


cdef inline size_t fill_views(Task *task) noexcept nogil:
    cdef Block *block = task.block
    cdef const Source *source = task.source
    cdef const View *views = <const View *>source.offsets + task.next
    cdef View view
    cdef size_t i, n, size = 0, rows = min(<size_t>ROWS, task.stop - task.next)
    cdef const uint8_t *src
    cdef int64_t behind
    block.data = task.gathered
    for i in range(rows):
        view = views[i]
        n = <size_t>view.size
        if not is_valid(source, task.next + i):
            n = 0
        elif view.size <= 12:
            if view.size < 0:
                return UC_REFUSED
            if n > BLOCK - size:
                return i
            memcpy(task.gathered + size, view.prefix, 12)
        else:
            if not 0 <= view.buffer < source.n_buffers or view.start < 0:
                return UC_REFUSED
            behind = source.sizes[view.buffer] - view.start - <int64_t>n
            if behind < 0:
                return UC_REFUSED
            if n > BLOCK - size:
                return i
            src = <const uint8_t *>source.buffers[view.buffer] + view.start
            if behind >= WIDE:
                copy_octets(task.gathered + size, src, n)
            else:
                memcpy(task.gathered + size, src, n)
        size += n
        block.at[i + 1] = <uint32_t>size
    return rows


cdef inline size_t fill_copies(Task *task) noexcept nogil:
    cdef Block *block = task.block
    cdef size_t i, n, size = 0, rows = min(<size_t>ROWS, task.stop - task.next)
    cdef const uint8_t *src
    block.data = task.gathered
    for i in range(rows):
        if not row_at(task.source, task.next + i, &src, &n):
            return UC_REFUSED
        if n > BLOCK - size:
            return i
        memcpy(task.gathered + size, src, n)
        size += n
        block.at[i + 1] = <uint32_t>size
    return rows


cdef inline size_t fill_lines(Task *task) noexcept nogil:
    cdef Block *block = task.block
    cdef uint64_t ends[WORDS]
    cdef uint64_t word
    cdef size_t w, rows = 0, size = min(task.slow, task.stop - task.next)
    block.data = task.source.data + task.next
    kernels.mark_outside(block.data, size, task.source.no_end, ends)
    for w in range((size + 63) // 64):
        word = ends[w]
        while word:
            rows += 1
            block.at[rows] = <uint32_t>(64 * w + uc_lowest_bit(word) + 1)
            if rows == ROWS:
                return rows
            word &= word - 1
    return rows     # but for a last line that has no end


cdef inline size_t fill(Task *task) noexcept nogil:
    task.block.first, task.block.gap, task.block.at[0] = task.row, 0, 0
    if task.source.layout == OFFSETS_32:
        return fill_offsets(task, <const int32_t *>task.source.offsets + task.next)
    if task.source.layout == OFFSETS_64:
        return fill_offsets(task, <const int64_t *>task.source.offsets + task.next)
    if task.source.layout == LINES:
        task.block.gap = 1
        return fill_lines(task)
    if task.source.layout == VIEWS:
        return fill_views(task)
    return fill_copies(task)


# --- rows that are refused ----------------------------------------------------------------------------------------------

cdef bint refuse_row(Task *task, size_t row, const Refusal *refusal) noexcept nogil:
    """Take down that a row is refused. False if the work ends with that."""
    cdef Bad *bad
    if refusal.code == UC_RAISED:
        task.status = HAS_RAISED
        return False
    if task.bad < task.bad_limit:
        if not grow(&task.found, sizeof(Bad)):
            task.status = NO_MEMORY
            return False
        bad = <Bad *>(task.found.data + task.found.size)
        bad.row, bad.code, bad.offset = row, refusal.code, refusal.offset
        task.found.size += sizeof(Bad)
    task.bad += 1
    if task.policy == RAISE_ROW:
        task.status = STOPPED
        return False
    if task.policy == NULL_ROW and task.valid != NULL:
        task.valid[(row - task.base) >> 3] &= ~(1 << ((row - task.base) & 7))
        task.nulled += 1
    return True


cdef bint write_text(Task *task, size_t row, const uint8_t *src, size_t n, uint8_t *dst, size_t *size) noexcept nogil:
    """What becomes of one row. False if the work ends with it."""
    cdef Refusal refusal
    size[0] = 0
    if is_null(task.source, row):
        return True
    size[0] = task.operation.row(src, n, task.options, dst, &refusal)
    if size[0] != UC_REFUSED:
        return True
    size[0] = 0
    if not refuse_row(task, row, &refusal):
        return False
    if task.otherwise != NULL:
        size[0] = task.otherwise(src, n, task.options, dst, &refusal)
    elif task.policy == KEEP_ROW:
        memcpy(dst, src, n)
        size[0] = n
    return True


cdef bint write_row(Task *task, size_t i) noexcept nogil:
    """Write row i of the block, whatever it is. False if the work ends with it."""
    cdef Block *block = task.block
    cdef const uint8_t *src = block.data + block.at[i]
    cdef size_t n = block.at[i + 1] - block.at[i] - block.gap, size
    cdef uint8_t *dst = task.out + task.written
    cdef size_t tail = carriage_return(task, src, n)
    if not write_text(task, block.first + i, src, n - tail, dst, &size):
        return False
    if tail:
        dst[size] = c'\r'
        size += 1
    if block.gap:
        dst[size] = task.source.end
        size += 1
    task.written += size
    task.done = i + 1
    task.out_at[i + 1] = <uint32_t>task.written
    return True


cdef bint by_rows(Task *task) noexcept nogil:
    cdef uint64_t marks[WORDS]
    cdef Block *block = task.block
    cdef size_t i, w, rows = block.rows, size = block.at[rows]
    cdef uint64_t word
    if task.plain == NULL:
        for i in range(rows):
            if not write_row(task, i):
                return False
        return True
    kernels.mark_outside(block.data, size, task.plain, marks)
    i = 0       # the row that the next mark may be in
    for w in range((size + 63) // 64):
        word = marks[w]
        while word and i < rows:
            while block.at[i + 1] <= 64 * w + <size_t>uc_lowest_bit(word):
                i += 1
            if i > task.done:
                write_run(task, block.data, block.at, i)
            if not write_row(task, i):
                return False
            i += 1
            if i < rows and block.at[i] >= 64 * (w + 1):
                break
            word &= ~<uint64_t>0 << (block.at[i] - 64 * w) if i < rows else 0
    if task.done < rows:
        write_run(task, block.data, block.at, rows)
    return True


# --- what a column consists of ------------------------------------------------------------------------------------------

cdef bint widen(Task *task) noexcept nogil:
    """From offsets of 32 bits to such of 64."""
    cdef Room wide
    cdef size_t i, n = task.offsets.size // 4
    memset(&wide, 0, sizeof(wide))
    if not grow(&wide, 2 * task.offsets.cap):
        return False
    for i in range(n):
        (<int64_t *>wide.data)[i] = (<int32_t *>task.offsets.data)[i]
    wide.size = 8 * n
    discard(&task.offsets)
    task.offsets = wide
    task.large = True
    return True


cdef bint add_offsets(Task *task, const uint32_t *at, size_t rows, size_t base) noexcept nogil:
    """Rows that end at at[1], at[2] ... behind `base`."""
    cdef size_t i
    cdef int32_t *narrow
    cdef int64_t *wide
    if not task.large and base + at[rows] > task.limit and not widen(task):
        return False
    if not grow(&task.offsets, (8 if task.large else 4) * rows):
        return False
    if task.large:
        wide = <int64_t *>(task.offsets.data + task.offsets.size)
        for i in range(rows):
            wide[i] = <int64_t>(base + at[i + 1])
        task.offsets.size += 8 * rows
    else:
        narrow = <int32_t *>(task.offsets.data + task.offsets.size)
        for i in range(rows):
            narrow[i] = <int32_t>(base + at[i + 1])
        task.offsets.size += 4 * rows
    return True


cdef inline void make_view(Task *task, View *view, const uint8_t *src, size_t n, size_t start) noexcept nogil:
    view.size = <int32_t>n
    if n <= 12:
        memset(view.prefix, 0, 12)
        memcpy(view.prefix, src, n)
    else:
        memcpy(view.prefix, src, 4)
        view.buffer = <int32_t>(task.source.n_buffers + <int64_t>(task.filled.size // sizeof(Room)))
        view.start = <int32_t>start


cdef bint add_views(Task *task) noexcept nogil:
    """A row that has not changed keeps its view, and a short one is in it. The others are in a new buffer."""
    cdef Block *block = task.block
    cdef const View *views = <const View *>task.source.offsets + task.next
    cdef View *view
    cdef const uint8_t *row
    cdef uint8_t *to = task.data.data + task.data.size
    cdef size_t i, n, kept = 0
    if not grow(&task.offsets, sizeof(View) * block.rows):
        return False
    view = <View *>(task.offsets.data + task.offsets.size)
    for i in range(block.rows):
        row = task.out + task.out_at[i]
        n = task.out_at[i + 1] - task.out_at[i]
        if n == block.at[i + 1] - block.at[i] and memcmp(row, block.data + block.at[i], n) == 0:
            if n:
                view[i] = views[i]
            else:
                memset(view + i, 0, sizeof(View))
            continue
        if n > 12:
            copy_octets(to + kept, row, n)
        make_view(task, view + i, row, n, task.data.size + kept)
        if n > 12:
            kept += n
    task.data.size += kept
    task.offsets.size += sizeof(View) * block.rows
    return True


cdef bint have_room(Task *task, size_t n, size_t rows) noexcept nogil:
    """Have room for what becomes of so many octets and rows."""
    cdef size_t factor = max(task.operation.factor, <size_t>1), more = rows * (task.operation.extra + 2) + WIDE
    if n > SIZE_MAX // 4 // factor:
        return False
    more += factor * n
    if task.views and task.data.size + more > INT32_MAX and task.data.size:
        if not grow(&task.filled, sizeof(Room)):
            return False
        (<Room *>(task.filled.data + task.filled.size))[0] = task.data
        task.filled.size += sizeof(Room)
        memset(&task.data, 0, sizeof(Room))
    return grow(&task.data, more)


# --- the loop -----------------------------------------------------------------------------------------------------------

cdef void digest_rows(Task *task, const uint8_t *src, const size_t *starts, const size_t *ends, size_t rows) noexcept nogil:
    """Write 16 octets for each of the next rows."""
    task.digest(task.key, src, starts, ends, rows, task.offsets.data + 16 * (task.row - task.base))


cdef void digest_block(Task *task) noexcept nogil:
    cdef size_t starts[ROWS]
    cdef size_t ends[ROWS]
    cdef size_t i
    for i in range(task.block.rows):
        starts[i] = task.out_at[i]
        ends[i] = task.out_at[i + 1] - task.block.gap
        if task.block.gap:
            ends[i] -= carriage_return(task, task.out + starts[i], ends[i] - starts[i])
    digest_rows(task, task.out, starts, ends, task.block.rows)


cdef bint write_block(Task *task) noexcept nogil:
    cdef Block *block = task.block
    if not have_room(task, block.at[block.rows], block.rows):
        task.status = NO_MEMORY
        return False
    task.out, task.written, task.done, task.out_at[0] = task.data.data + task.data.size, 0, 0, 0
    if task.views:
        task.made.size = 0
        if not grow(&task.made, max(task.operation.factor, <size_t>1) * BLOCK + ROWS * (task.operation.extra + 2) + 2 * WIDE):
            task.status = NO_MEMORY
            return False
        task.out = task.made.data
    if not task.block_of(task):
        return False
    if task.digest != NULL:
        digest_block(task)
        return True
    if task.views:
        if not add_views(task):
            task.status = NO_MEMORY
            return False
        return True
    if not block.gap and not add_offsets(task, task.out_at, block.rows, task.data.size):
        task.status = NO_MEMORY
        return False
    task.data.size += task.written
    return True


cdef bint find_long(Task *task, const uint8_t **src, size_t *n, size_t *tail) noexcept nogil:
    """The next row, which is too long for a block or has no end, and how many octets end it. False: it is not where it
    should be."""
    cdef const uint8_t *end
    tail[0] = 0
    if task.source.layout != LINES:
        return row_at(task.source, task.next, src, n)
    src[0] = task.source.data + task.next
    end = <const uint8_t *>memchr(src[0], task.source.end, task.stop - task.next)
    n[0] = end - src[0] if end != NULL else task.stop - task.next
    if end != NULL:
        tail[0] = 1 + carriage_return(task, src[0], n[0])
        n[0] -= tail[0] - 1
    return True


cdef bint add_long(Task *task, const uint8_t *src, size_t n, const uint8_t *row, size_t size) noexcept nogil:
    """Add a row to a column."""
    cdef View *view
    cdef uint32_t at[2]
    if not task.views:
        at[0] = at[1] = 0
        task.data.size += size
        return add_offsets(task, at, 1, task.data.size)
    if not grow(&task.offsets, sizeof(View)):
        return False
    view = <View *>(task.offsets.data + task.offsets.size)
    task.offsets.size += sizeof(View)
    if size == n and memcmp(row, src, n) == 0:
        view[0] = (<const View *>task.source.offsets)[task.next]
        return True
    if size > INT32_MAX:
        task.status = TOO_LONG
        return False
    make_view(task, view, row, size, task.data.size)
    if size > 12:
        task.data.size += size
    return True


cdef bint write_long(Task *task) noexcept nogil:
    cdef const uint8_t *src
    cdef uint8_t *dst
    cdef size_t n, size, tail, start = 0
    if not find_long(task, &src, &n, &tail):
        task.status = BAD_OFFSETS
        return False
    if task.answer != NULL:
        if not task.answer(task, task.row, src, n):
            return False
    else:
        task.status = NO_MEMORY     # unless all goes well
        if not have_room(task, n, 1):
            return False
        dst = task.data.data + task.data.size
        if not write_text(task, task.row, src, n, dst, &size):
            return False
        if task.digest != NULL:
            digest_rows(task, dst, &start, &size, 1)
        elif task.source.layout != LINES:
            if not add_long(task, src, n, dst, size):
                return False
        else:
            if tail == 2:
                dst[size] = c'\r'
            if tail:
                dst[size + tail - 1] = task.source.end
            task.data.size += size + tail
        task.status = DONE
    task.row += 1
    task.next += n + tail if task.source.layout == LINES else 1
    return True


cdef bint answer_block(Task *task) noexcept nogil:
    """Rows of which something else is asked than text."""
    cdef Block *block = task.block
    cdef size_t i, n
    cdef const uint8_t *src
    if task.block_of != NULL:
        return task.block_of(task)
    for i in range(block.rows):
        src = block.data + block.at[i]
        n = block.at[i + 1] - block.at[i] - block.gap
        n -= carriage_return(task, src, n)
        if not task.answer(task, block.first + i, src, n):
            return False
    return True


cdef size_t quick_lines(Task *task, size_t most) noexcept nogil:
    """How many octets the next whole lines are, up to so many, and room for what becomes of them; or 0."""
    cdef size_t size = min(most, task.stop - task.next)
    cdef const uint8_t *src = task.source.data + task.next
    while size and src[size - 1] != task.source.end:
        size -= 1
    return size if have_room(task, size, 1) else 0


cdef void run(Task *task) noexcept nogil:
    """Do all rows up to `stop`."""
    cdef size_t rows
    task.status = DONE
    while task.next < task.stop and not uc_glance8(&task.halted):
        if task.quick != NULL:
            rows = task.quick(task)
            if rows:
                task.next += rows
                continue
        rows = fill(task)
        if rows == UC_REFUSED:
            task.status = BAD_OFFSETS
            return
        if rows == 0:
            if not write_long(task):
                return
            continue
        task.block.rows = rows
        if not (write_block(task) if task.answer == NULL else answer_block(task)):
            return
        task.row += rows
        task.next += task.block.at[rows] if task.block.gap else rows
