# distutils: define_macros=CYTHON_VECTORCALL_TPNEW=0
# Cython 3.3 would release uninitialized pointers if it runs out of memory when a subclass is created with keyword arguments.
"""The row engine: the loop that runs every operation over columns, lists and lines.

    source -> block of rows -> operation -> results -> sink

A block is as many rows as fit the first-level cache. Consecutive rows are used in the memory of the source, other rows
are copied; row ends are always copied, so that no other thread can change them. The sink provides memory for the
results of a block, the operation's block function fills it, and the sink accepts the rows that were processed.
Operations without a block function use do_rows(). It copies runs of unchanged rows, which kernels find, and calls the
row function for the others. Nulls are skipped: their result is null.

Lines are faster if the sink does not need row ends. An operation with a function for whole lines then gets spans of
lines, and single rows only where that function fails.

In the engine, only reject_row() applies the policy: it counts rejected rows and lists the first of them. judge() in
_records/_fields.pyx applies it to records.

A sink accepts text with offsets, views, fingerprints of text, a bit for each valid row, a diagnostic for each invalid row,
components, lists, or lines.

A run stops between two rows when the sink is full, the report is full, or it is time to check for signals. run_rows()
continues from there.

Another thread may change the input at any time. So no pass relies on the counts of another one: each row end is read
once, and each store is within the capacity that the sink provided for the sizes that were read.
"""
from libc.stdint cimport INT32_MAX, SIZE_MAX, UINT32_MAX
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._atomic cimport uc_glance8
from uricodec._base._cpython cimport PyMem_RawFree, PyMem_RawMalloc
from uricodec._base._fingerprint cimport Key, fingerprints
from uricodec._base._kernels cimport add_byte, kernels, portable, prefetch, uc_lowest_bit, uc_utf8
from uricodec._base._text cimport utf8_text
from uricodec._rows._arrow cimport *

from uricodec.errors import UriError


cdef enum:
    ADJACENT = 64           # fewer rows are copied to be in one block
    VIEWS_AHEAD = 256       # the view that is read so much later is requested
    SPAN = 8192             # bytes of whole lines that are tried at once,
    SMALL_SPAN = 1024       # and after a failure
    FEWEST = 32             # bytes of lines that are processed as rows after a failure; the number doubles each time
    MOST = 1 << 26          # bytes after which a run pauses


most_rows = ROWS
most_bytes = BLOCK


# --- where rows are ---------------------------------------------------------------------------------------------------

cdef int64_t index_at(const Source *source, size_t i) noexcept nogil:
    """Return the index of row i. An unsigned 64-bit index that does not fit becomes negative, which is out of range."""
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
    """Find the bytes of a row; a null row has none. False: its offsets, view or index are out of range."""
    cdef const View *view
    cdef int64_t first, last
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
    else:
        first, last = (<const int64_t *>source.offsets)[i], (<const int64_t *>source.offsets)[i + 1]
    src[0] = source.data + first
    n[0] = <size_t>(last - first)
    return 0 <= first <= last <= source.end


cdef inline size_t copy_offsets(Block *block, const arrow_offset *offsets, size_t most, int64_t end) noexcept nogil:
    """Do what fill_offsets() does, without a branch for each row. 0: it has to be done row by row."""
    cdef size_t i, stop, rows = 0
    cdef uint32_t decreases = 0
    cdef uint64_t first = <uint64_t>offsets[0], all_bits = 0
    while rows < most:
        stop = min(rows + 64, most)
        for i in range(rows + 1, stop + 1):     # only the copy is checked: another thread may change the offsets
            block.at[i] = <uint32_t>offsets[i] - <uint32_t>first
            if arrow_offset is int64_t:
                all_bits |= <uint64_t>offsets[i] - first
        rows = stop
        if block.at[rows] > most_bytes:
            while block.at[rows] > most_bytes:
                rows -= 1
            break
    for i in range(rows):
        decreases |= block.at[i + 1] < block.at[i]
    return 0 if decreases or all_bits >> 32 or <int64_t>(first + block.at[rows]) > end else rows


cdef inline size_t fill_offsets(Run *run, const arrow_offset *offsets) noexcept nogil:
    """Put the next rows that fit into a block; 0 if the next row is too long. SIZE_MAX: offsets decrease."""
    cdef Block *block = run.block
    cdef size_t i, most = min(run.most_rows, run.stop - run.next), rows
    cdef arrow_offset first = offsets[0], at, before = first
    cdef int64_t end = run.source.end
    if first < 0:
        return UC_REJECTED
    block.data = run.source.data + first
    rows = copy_offsets(block, offsets, most, end)
    if rows:
        return rows
    for i in range(1, most + 1):
        at = offsets[i]
        if at < before or at > end:
            return UC_REJECTED
        if <size_t>(at - first) > most_bytes:
            return i - 1
        before = at
        block.at[i] = <uint32_t>(at - first)
    return most


cdef inline size_t adjacent_views(Run *run, const View *views, size_t most) noexcept nogil:
    """Put the next rows into a block if enough of them are one after the other in a buffer; otherwise return 0."""
    cdef Block *block = run.block
    cdef const Source *source = run.source
    cdef size_t i = 0, size = 0
    cdef int32_t n, buffer = views[0].buffer
    cdef int64_t start = views[0].start
    if source.valid != NULL or views[0].size <= 12 or not 0 <= buffer < source.n_buffers or start < 0:
        return 0
    while i < most:
        prefetch(views + i + VIEWS_AHEAD)
        n = views[i].size
        if n <= 12 or views[i].buffer != buffer or views[i].start != start + <int64_t>size or <size_t>n > most_bytes - size:
            break
        size += <size_t>n
        i += 1
        block.at[i] = <uint32_t>size
    if start + <int64_t>size > source.sizes[buffer] or i < most and i < ADJACENT:
        return 0
    block.data = <const uint8_t *>source.buffers[buffer] + start
    return i


cdef inline size_t fill_views(Run *run) noexcept nogil:
    cdef Block *block = run.block
    cdef const Source *source = run.source
    cdef const View *views = <const View *>source.offsets + run.next
    cdef View view
    cdef size_t i, n, size = 0, rows = min(run.most_rows, run.stop - run.next)
    cdef const uint8_t *src
    cdef int64_t remaining
    i = adjacent_views(run, views, rows)
    if i:
        return i
    block.data = run.gathered
    for i in range(rows):
        view = views[i]
        n = <size_t>view.size
        if not is_valid(source, run.next + i):
            n = 0
        elif view.size <= 12:
            if view.size < 0:
                return UC_REJECTED
            if n > most_bytes - size:
                return i
            memcpy(run.gathered + size, view.prefix, 12)
        else:
            if not 0 <= view.buffer < source.n_buffers or view.start < 0:
                return UC_REJECTED
            remaining = source.sizes[view.buffer] - view.start - <int64_t>n
            if remaining < 0:
                return UC_REJECTED
            if n > most_bytes - size:
                return i
            src = <const uint8_t *>source.buffers[view.buffer] + view.start
            if remaining >= WIDE:
                copy_bytes(run.gathered + size, src, n)
            else:
                memcpy(run.gathered + size, src, n)
        size += n
        block.at[i + 1] = <uint32_t>size
    return rows


cdef inline size_t fill_copies(Run *run) noexcept nogil:
    cdef Block *block = run.block
    cdef size_t i, n, size = 0, rows = min(run.most_rows, run.stop - run.next)
    cdef const uint8_t *src
    block.data = run.gathered
    for i in range(rows):
        if not row_at(run.source, run.next + i, &src, &n):
            return UC_REJECTED
        if n > most_bytes - size:
            return i
        memcpy(run.gathered + size, src, n)
        size += n
        block.at[i + 1] = <uint32_t>size
    return rows


cdef inline size_t fill_lines(Run *run) noexcept nogil:
    cdef Block *block = run.block
    cdef const Source *source = run.source
    cdef uint64_t ends[WORDS]
    cdef uint64_t word
    cdef size_t w, rows = 0, size = min(min(run.as_rows, most_bytes), run.stop - run.next)
    block.data = source.data + run.next
    kernels.mark_outside(block.data, size, source.not_terminator, ends)
    for w in range((size + 63) // 64):
        word = ends[w]
        while word and rows < run.most_rows:
            rows += 1
            block.at[rows] = <uint32_t>(64 * w + uc_lowest_bit(word) + 1)
            word &= word - 1
    if rows and source.terminator == c'\n':
        block.has_cr = memchr(block.data, c'\r', block.at[rows]) != NULL
    return rows     # without the last line if it has no terminator


cdef inline bint fill_long(Run *run) noexcept nogil:
    """Make a block of the next row, which is too long for others, or has no terminator. False: it is out of range."""
    cdef Block *block = run.block
    cdef const Source *source = run.source
    cdef const uint8_t *end
    if source.layout == LINES:
        block.data, block.size, block.gap = source.data + run.next, run.stop - run.next, 0
        end = <const uint8_t *>memchr(block.data, source.terminator, block.size)
        if end != NULL:
            block.size = end - block.data + 1
            block.gap = 1 + carriage_return(source, block.data, block.size - 1)
    elif not row_at(source, run.next, &block.data, &block.size):  # pragma: no cover: a race
        return False
    block.at[1] = <uint32_t>min(block.size, <size_t>UINT32_MAX)
    return True


cdef inline size_t fill(Run *run) noexcept nogil:
    run.block.first, run.block.gap, run.block.has_cr, run.block.at[0] = run.row, 0, False, 0
    if run.source.layout == OFFSETS_32:
        return fill_offsets(run, <const int32_t *>run.source.offsets + run.next)
    if run.source.layout == OFFSETS_64:
        return fill_offsets(run, <const int64_t *>run.source.offsets + run.next)
    if run.source.layout == LINES:
        run.block.gap = 1
        return fill_lines(run)
    if run.source.layout == VIEWS:
        return fill_views(run)
    return fill_copies(run)


# --- rejected rows ----------------------------------------------------------------------------------------------------

cdef bint report_row(Run *run, size_t row, size_t start, const Outcome *outcome) noexcept nogil:
    """Count a rejected row and list it. False: out of memory."""
    cdef Rejected rejected
    cdef size_t listed = run.found.size // sizeof(Rejected)
    run.invalid += 1
    if listed < run.limit:
        rejected.row, rejected.start, rejected.code, rejected.offset = row, start, outcome.code, outcome.offset
        if not append_item(&run.found, &rejected, sizeof(Rejected)):
            run.status = NO_MEMORY  # pragma: no cover: no memory
            return False
        if run.stops and listed + 1 == run.limit:
            run.status = REPORT_FULL    # the run stops after this row
    return True


cdef bint reject_row(Run *run, size_t row, size_t start, const uint8_t *src, size_t n, Outcome *outcome, uint8_t *dst,
                     size_t *size) noexcept nogil:
    """Write the result of a rejected row according to the policy. False if the run ends before this row."""
    size[0] = 0
    if outcome.code == UC_RAISED:
        run.status = HAS_RAISED
        return False
    if outcome.code == UC_FALSE:
        return True
    if not report_row(run, row, start, outcome):
        return False  # pragma: no cover: no memory
    if run.policy == RAISE_ROW:
        run.status = STOPPED
        return False
    if run.policy == NULL_ROW and run.valid != NULL:
        run.valid[(row - run.base) >> 3] &= ~(1 << ((row - run.base) & 7))
        run.nulled += 1
    if run.policy == DROP_ROW:
        run.dropped = True
    elif not run.writes:
        return True
    elif run.slots.rejected != NULL:
        size[0] = run.slots.rejected(outcome, run.options, dst)
    elif run.otherwise != NULL:
        size[0] = run.otherwise(src, n, run.options, dst, outcome)
    elif run.policy == KEEP_ROW and run.slots.result == WRITES_BYTES:
        memcpy(dst, src, n)
        size[0] = n
    return True


# --- rows -------------------------------------------------------------------------------------------------------------

cdef inline size_t call_row(Run *run, const uint8_t *src, size_t n, bint is_text, uint8_t *dst,
                            Outcome *outcome) noexcept nogil:
    """Call the row function. If rows must be UTF-8, reject a row that is not; `is_text`: it is known to be."""
    cdef uc_utf8 found
    cdef size_t size = run.row_of(src, n, run.options, dst, outcome), valid
    if size != UC_REJECTED and run.checks_utf8 and not is_text:
        valid = kernels.scan_utf8(src, n, &found)
        if valid < n:
            outcome.code, outcome.offset = run.slots.utf8_code, valid
            return UC_REJECTED
    return size


cdef inline bint end_row(Run *run, size_t end, size_t size, Outcome *outcome) noexcept nogil:
    """Accept the result of the next row of the block, which ends at `end`: so many bytes from run.written on."""
    cdef Block *block = run.block
    cdef size_t i = run.done, tail = tail_of(run, i)
    cdef const uint8_t *src = block.data + block.at[i]
    cdef uint8_t *dst = run.out + run.written
    if size == UC_REJECTED:
        if not reject_row(run, block.first + i, run.next + block.at[i], src, end - block.at[i] - tail, outcome, dst, &size):
            return False
        block.rejected[i >> 6] |= <uint64_t>1 << (i & 63)
        if run.dropped:
            run.dropped, tail = False, 0
    run.done = i + 1
    if run.writes:
        if run.slots.result != WRITES_BYTES:
            tail = 0
        if tail == 2:
            dst[size] = c'\r'
        if tail:
            dst[size + tail - 1] = run.source.terminator
        run.written += size + tail
        run.out_at[i + 1] = <uint32_t>run.written
    return run.status == DONE


cdef bint finish_row(Run *run, size_t size, Outcome *outcome) noexcept nogil:
    return end_row(run, run.block.at[run.done + 1], size, outcome)


cdef inline bint do_one(Run *run, size_t end, bint is_text) noexcept nogil:
    """Process the next row of the block, which ends at `end`."""
    cdef Block *block = run.block
    cdef size_t i = run.done, size = 0
    cdef Outcome outcome
    if not is_null(run.source, block.first + i):
        size = call_row(run, block.data + block.at[i], end - block.at[i] - tail_of(run, i), is_text,
                        run.out + run.written, &outcome)
    return end_row(run, end, size, &outcome)


cdef bint do_row(Run *run) noexcept nogil:
    """Process the next row of the block by its row function. False if the run ends at this row."""
    return do_one(run, run.block.at[run.done + 1], False)


cdef bint do_long(Run *run) noexcept nogil:
    """Process a block of one row of any size."""
    cdef bint goes_on = do_one(run, run.block.size, False)
    run.out_at[1] = <uint32_t>min(run.written, <size_t>UINT32_MAX)
    return goes_on


cdef inline void copy_rows(Run *run, size_t stop) noexcept nogil:
    """Copy the rows up to `stop`, with the hexadecimal digits of triplets in upper case."""
    cdef Block *block = run.block
    cdef size_t i, first = run.done, size = block.at[stop] - block.at[first]
    cdef uint32_t shift = <uint32_t>run.written - block.at[first]
    if run.changes == NULL:
        pass_rows(run, stop)
        return
    kernels.upper_triplets(block.data + block.at[first], size, run.out + run.written)
    for i in range(first + 1, stop + 1):
        run.out_at[i] = block.at[i] + shift
    run.written += size
    run.done = stop


cdef bint are_utf8(const Block *block) noexcept nogil:
    """Return whether each row is UTF-8. A character may extend over two consecutive rows; then neither of them is."""
    cdef size_t i, size = block.at[block.rows]
    cdef uc_utf8 found
    if kernels.scan_utf8(block.data, size, &found) < size:
        return False
    if block.gap == 0 and found.characters < size:
        for i in range(block.rows):
            if block.at[i] < block.at[i + 1] and block.data[block.at[i]] & 0xC0 == 0x80:
                return False
    return True


cdef bint do_rows(Run *run) noexcept nogil:
    """Process the rest of the block. Only rows with a mark need the row function; runs of others are copied at once:

        rows        a/b  c%7Ed  e  f  g%41          marks   ...  .X...  .  .  .X..
                    copy do_one copy- do_one        results a/b  c~d  e  f  gA
    """
    cdef uint64_t marks[WORDS]
    cdef Block *block = run.block
    cdef size_t i, w, rows = block.rows, size = block.at[rows]
    cdef uint64_t word
    cdef bint is_text = not run.checks_utf8 or are_utf8(block)
    if is_text and run.changes != NULL:
        run.changes(block.data, size, block.at, rows, marks)
    elif is_text and run.has_stable:
        kernels.mark_outside(block.data, size, &run.stable, marks)
    else:
        for _ in range(rows):
            if not do_one(run, block.at[run.done + 1], is_text):
                return False
        return True
    i = 0       # the row that the next mark is in or after
    for w in range((size + 63) // 64):
        if block.at[i] >= 64 * (w + 1):     # a row that is already processed continues in this word
            continue
        word = marks[w]
        if block.at[i] > 64 * w:
            word &= ~<uint64_t>0 << (block.at[i] - 64 * w)
        while word and i < rows:
            while block.at[i + 1] <= 64 * w + <size_t>uc_lowest_bit(word):
                i += 1
            if i > run.done:
                copy_rows(run, i)
            if not do_one(run, block.at[i + 1], is_text):
                return False
            i += 1
            if i < rows and block.at[i] >= 64 * (w + 1):
                break
            word &= ~<uint64_t>0 << (block.at[i] - 64 * w) if i < rows else 0
    if run.done < rows:
        copy_rows(run, rows)
    return True


# --- whole lines ------------------------------------------------------------------------------------------------------

cdef bint do_whole(Run *run) noexcept nogil:
    """Process as many whole lines as fit a span. False: a line may need its row function, or run.status says why."""
    cdef LineSpan span
    cdef size_t size, consumed, written = 0
    span.data, span.terminator, span.not_terminator = run.source.data + run.next, run.source.terminator, run.source.not_terminator
    span.policy, span.strict = run.policy, run.strict
    while True:
        size = min(<size_t>SPAN if run.slots.prefix or run.small == 0 else <size_t>SMALL_SPAN, run.stop - run.next)
        while size and span.data[size - 1] != span.terminator:
            size -= 1
        span.size, consumed = size, 0
        if size:
            if run.sink.reserve(run, size, 1):
                consumed = run.whole(&span, run.options, run.out, &written)
            elif run.status == FULL:    # single rows may still fit
                run.status, run.as_rows = DONE, BLOCK
                return False
            else:
                return False
        if consumed:
            if run.counts:
                run.row += kernels.count_outside(span.data, consumed, span.not_terminator)
            run.next += consumed
            run.small = FEWEST // 2 if run.slots.prefix else run.small - min(run.small, consumed)
            if not run.sink.commit_whole(run, written):  # pragma: no cover: no memory
                run.status = NO_MEMORY
                return False
            return True
        if run.slots.prefix:
            run.small = run.as_rows = min(2 * run.small, <size_t>BLOCK)
            return False
        if run.small == 0 and size > SMALL_SPAN:
            run.small = size
            continue
        run.as_rows = max(size, <size_t>1)
        return False


# --- the loop ---------------------------------------------------------------------------------------------------------

cdef void set_operation(Run *run, const Slots *slots, RowPolicy policy, bint reports) noexcept nogil:
    """Set the operation of a run and its policy. `reports`: rejected rows are reported."""
    run.slots, run.options, run.policy, run.writes = slots, slots.options, policy, slots.result != WRITES_NOTHING
    run.strict = reports or policy == RAISE_ROW or policy == NULL_ROW or policy == DROP_ROW
    run.row_of, run.otherwise = slots.strict.row, NULL
    run.factor, run.extra = max(slots.strict.factor, <size_t>1), slots.strict.extra
    if policy == KEEP_ROW:
        run.otherwise = slots.keep
    elif policy == REPLACE_ROW:
        run.otherwise, run.factor = slots.replace, max(slots.replace_factor, run.factor)
    if not run.strict and run.otherwise != NULL:
        run.row_of = run.otherwise
    run.block_of = slots.block if slots.block != NULL else do_rows
    run.changes = NULL if portable else slots.changes
    run.most_rows = min(most_rows, <size_t>STRUCTS) if slots.result >= WRITES_COMPONENTS else most_rows
    run.has_stable = slots.stable != NULL
    if run.has_stable:
        run.stable = slots.stable[0]


cdef void set_lines(Run *run) noexcept nogil:
    run.whole, run.as_rows, run.small, run.counts = NULL, BLOCK, 0, True
    if run.source.layout != LINES:
        return
    run.checks_utf8 = run.slots.utf8_code != 0 and run.sink.commit_whole != NULL     # the result is lines of text
    if run.has_stable:
        add_byte(&run.stable, run.source.terminator)
    if run.slots.whole != NULL and run.sink.commit_whole != NULL:
        run.whole, run.as_rows = run.slots.whole, 0
        if run.slots.prefix:
            run.small = FEWEST // 2


cdef void run_rows(Run *run) noexcept nogil:
    """Process all rows up to run.stop, or until run.status says why the run stopped.

    Each turn of the loop is one of these:

        whole lines     do_whole()                                  for lines, as long as their function succeeds
        a block         fill()      reserve()  block_of()  commit() the next rows that fit into a block
        a long row      fill_long() reserve()  do_long()   commit() the next row, if it does not fit

    If the sink has no capacity for all rows of a block, half of them are tried. If the run stops at a row, the rows
    before it are committed.
    """
    cdef Block *block = run.block
    cdef size_t rows, before, done = 0
    cdef bint is_long, goes_on
    run.status = DONE
    while run.next < run.stop and not uc_glance8(&run.halted):
        if done >= MOST:
            run.status = YIELD
            return
        before = run.next
        if run.whole != NULL:
            if run.as_rows == 0 and do_whole(run):
                done += run.next - before
                continue
            if run.status != DONE:
                return  # pragma: no cover: no memory
        rows = fill(run)
        if rows == UC_REJECTED:
            run.status = BAD_LAYOUT
            return
        is_long = rows == 0
        block.size = block.at[rows]
        if is_long:
            rows = 1
            if not fill_long(run):  # pragma: no cover: a race
                run.status = BAD_LAYOUT
                return
        while not run.sink.reserve(run, block.size, rows):
            rows //= 2
            if run.status != FULL or rows == 0:
                return
            run.status, block.size = DONE, block.at[rows]
        block.rows, run.written, run.done, run.out_at[0] = rows, 0, 0, 0
        run.resizes = False
        memset(block.rejected, 0, (rows + 63) // 64 * 8)
        goes_on = do_long(run) if is_long else run.block_of(run)
        if run.done < rows:
            block.rows = rows = run.done
            block.size = block.at[rows]
        if rows and run.status in (DONE, REPORT_FULL, STOPPED):
            if not run.sink.commit(run):  # pragma: no cover: no memory
                if run.status != TOO_LONG:
                    run.status = NO_MEMORY
                return
        run.row += rows
        run.next += block.size if run.source.layout == LINES else rows
        done += block.size + rows
        if not goes_on:
            return
        if run.whole != NULL:
            run.as_rows = 0
            if not run.slots.prefix:
                run.small -= min(run.small, run.next - before)


# --- operations as objects --------------------------------------------------------------------------------------------

FRAME_NAMES = ["frame", "csv", "json", "surrogate", "base"]

cdef list POLICY_NAMES = ["keep", "null", "raise", "replace", "drop"]


cdef int policy_named(object errors, bint drops=False) except -1:
    if errors not in POLICY_NAMES or errors == "drop" and not drops:
        names = POLICY_NAMES if drops else POLICY_NAMES[:DROP_ROW]
        reason = "; the number of rows must stay the same" if errors == "drop" else ""
        raise ValueError(f"errors must be one of {', '.join(map(repr, names))}, got {errors!r}{reason}")
    return <int>POLICY_NAMES.index(errors)


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    memcpy(dst, src, n)
    return n


cdef bint copy_block(Run *run) noexcept nogil:
    pass_rows(run, run.block.rows)
    return True


cdef inline object text_at(const uint8_t **at, bint text):
    cdef size_t n = next_text(at)
    cdef const uint8_t *start = at[0]
    at[0] += n
    return utf8_text(start, n, NULL) if text else (<const char *>start)[:n]


cdef list items_of(const uint8_t *items, int texts, bint text):
    cdef uint64_t count = item_count(items)
    cdef const uint8_t *at = items + sizeof(count)
    cdef list found = []
    while count:
        first = text_at(&at, text)
        found.append(first if texts == 1 else (first, text_at(&at, text)))
        count -= 1
    return found


cdef class RowOperation:
    """A row function with its options, for any number of rows and threads. This class copies; subclasses do the rest.

    Attributes:
        code_names (list[str]): The codes for which a row may be rejected.
    """

    def __cinit__(self):
        memset(&self.slots, 0, sizeof(Slots))
        self.slots.strict, self.slots.block = SizedRow(copy_row, 1, 0), copy_block
        self.code_names = self.reasons = []
        self.error = UriError

    cdef int check_policy(self, RowPolicy policy) except -1:
        """Raise ValueError if the operation does not support the policy."""
        if policy == REPLACE_ROW and self.slots.replace == NULL:
            raise ValueError("errors='replace' is only supported by quote, requote, unquote and percent_decode")
        return 0

    cdef object exception(self, str code, str reason, object input, size_t offset):
        return self.error(reason, input, offset)

    cdef size_t characters(self, const uint8_t *src, size_t n, size_t offset) except? UC_REJECTED:
        return <size_t>len(src[:min(offset, n)].decode("utf-8", "replace"))

    cdef int raise_row(self, str code, str reason, object input, size_t offset, object row) except -1:
        cdef object error = self.exception(code, reason, input, offset)
        error.row, error.code = row, code
        raise error

    cdef object with_surrogates(self, str text, RowPolicy policy):
        return None

    def reason(self, code):
        """Return the error message for a code (str).
        """
        return self.reasons[self.code_names.index(code)]

    def capacity(self, n, errors="replace"):
        """Return the capacity in bytes that the result of a row of n bytes needs, as a line with its terminator.

        Args:
            n (int): The size of the row in bytes.
            errors (str): How the row is handled if it is invalid.

        Returns:
            int: At least n + 68, because stores may write past the end of a result.

        Raises:
            OverflowError: The result may exceed the maximum size of an object.

        >>> RowOperation().capacity(10)
        78
        """
        cdef size_t size = n, factor = max(self.slots.strict.factor, <size_t>1)
        if errors == "replace":
            factor = max(factor, self.slots.replace_factor)
        if size > (SIZE_MAX // 2 - self.slots.strict.extra - WIDE - 2) // factor - 2:
            raise OverflowError("the result may exceed the maximum size of an object")
        return factor * (size + 2) + self.slots.strict.extra + 2 + WIDE


# --- sinks: text ------------------------------------------------------------------------------------------------------

cdef bint reserve_data(Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Provide the memory after the previous results."""
    cdef size_t size = capacity_for(run, bytes, rows)
    if size == 0 or not grow(&run.data, size):
        run.status = NO_MEMORY
        return False
    run.out = run.data.data + run.data.size
    return True


cdef bint add_offsets(Buffer *offsets, bint large, const uint32_t *at, size_t rows, size_t base, size_t size) noexcept nogil:
    """Add the ends of rows, relative to `base`: at[1], at[2] ... and `size`, where the last one ends."""
    cdef size_t i
    cdef int32_t *narrow
    cdef int64_t *wide
    if not grow(offsets, (8 if large else 4) * rows):
        return False  # pragma: no cover: no memory
    if large:
        wide = <int64_t *>(offsets.data + offsets.size)
        for i in range(rows):
            wide[i] = <int64_t>(base + at[i + 1])
        wide[rows - 1] = <int64_t>(base + size)
        offsets.size += 8 * rows
    else:
        narrow = <int32_t *>(offsets.data + offsets.size)
        for i in range(rows):
            narrow[i] = <int32_t>(base + at[i + 1])
        narrow[rows - 1] = <int32_t>(base + size)
        offsets.size += 4 * rows
    return True


cdef bint take_text(Run *run) noexcept nogil:
    cdef size_t base = run.data.size
    if not run.large and base + run.written > run.most_offset:
        if not widen(&run.offsets):
            return False  # pragma: no cover: no memory
        run.large = True
    if not add_offsets(&run.offsets, run.large, run.out_at, run.block.rows, base, run.written):
        return False  # pragma: no cover: no memory
    run.data.size += run.written
    return True


# --- sinks: views -----------------------------------------------------------------------------------------------------

cdef bint reserve_made(Run *run, size_t bytes, size_t rows) noexcept nogil:
    cdef size_t size = capacity_for(run, bytes, rows)
    run.made.size = 0
    if size == 0 or not grow(&run.made, size):  # pragma: no cover: no memory
        run.status = NO_MEMORY
        return False
    run.out = run.made.data
    return True


cdef bint have_views(Run *run, size_t size) noexcept nogil:
    """Ensure capacity for `size` bytes in the current buffer of views, or in a new one."""
    if run.data.size + size > INT32_MAX and run.data.size:  # pragma: no cover: too large
        if not grow(&run.filled, sizeof(Buffer)):
            return False
        (<Buffer *>(run.filled.data + run.filled.size))[0] = run.data
        run.filled.size += sizeof(Buffer)
        memset(&run.data, 0, sizeof(Buffer))
    return grow(&run.data, size + WIDE)


cdef bint reserve_views(Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Provide the memory where views point to, or memory from where rows are copied there."""
    cdef size_t size = capacity_for(run, bytes, rows)
    if not run.in_place:
        return reserve_made(run, bytes, rows)
    if size == 0 or not have_views(run, size):  # pragma: no cover: no memory
        run.status = NO_MEMORY
        return False
    run.out = run.data.data + run.data.size
    return True


cdef bint take_views(Run *run) noexcept nogil:
    """Add views of the rows. An unchanged row keeps its view, and a result of up to 12 bytes is in its view; the others
    are in the new buffer. Of the rows a%20b..., c..., d%20e... the first and the last have changed:

        in_place        the row functions wrote to the buffer: a b...c...d e...     views at 0, of the source, and after c...
        not in_place    they wrote elsewhere, and the buffer has   a b...d e...     views at 0, of the source, and after a b...

    Blocks are written in place as long as three quarters of the bytes are needed there.
    """
    cdef const Block *block = run.block
    cdef const uint8_t *out = run.out
    cdef const uint32_t *at = run.out_at
    cdef const View *views = <const View *>run.source.offsets + run.next
    cdef size_t i, n, base, needed = 0, rows = block.rows
    cdef int32_t buffer, start, mask
    cdef View *view
    cdef bint unchanged, in_place = run.in_place, resizes = run.resizes
    if run.written > INT32_MAX:  # pragma: no cover: too large
        run.status = TOO_LONG
        return False
    if not in_place and not have_views(run, run.written) or not grow(&run.offsets, sizeof(View) * rows):
        return False  # pragma: no cover: no memory
    view, base = <View *>(run.offsets.data + run.offsets.size), run.data.size
    buffer = <int32_t>(run.source.n_buffers + <int64_t>(run.filled.size // sizeof(Buffer)))
    for i in range(rows):
        n = at[i + 1] - at[i]
        view[i].size = <int32_t>n
        if n <= 12:
            memset(view[i].prefix, 0, 12)
            memcpy(view[i].prefix, out + at[i], n)
            continue
        unchanged = n == block.at[i + 1] - block.at[i]
        if not resizes and unchanged:
            if memcmp(out + at[i], block.data + block.at[i], n) == 0:
                view[i] = views[i]
                continue
            unchanged = False
        if not in_place:
            copy_bytes(run.data.data + base + needed, out + at[i], n)
        memcpy(view[i].prefix, out + at[i], 4)
        # No branch on what is unchanged, because nothing predicts it.
        mask = <int32_t>unchanged - 1
        start = <int32_t>(base + (at[i] if in_place else needed))
        view[i].buffer = views[i].buffer ^ ((views[i].buffer ^ buffer) & mask)
        view[i].start = views[i].start ^ ((views[i].start ^ start) & mask)
        needed += n & (<size_t>unchanged - 1)
    run.offsets.size += sizeof(View) * rows
    run.data.size += run.written if in_place and needed else needed
    run.in_place = needed >= run.written - run.written // 4
    return True


# --- sinks: lines -----------------------------------------------------------------------------------------------------

cdef bint reserve_buffer(Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Provide the rest of the caller's buffer."""
    cdef size_t size = capacity_for(run, bytes, rows)
    if size == 0 or size > run.capacity - run.data.size:
        run.status = FULL
        return False
    run.out = run.data.data + run.data.size
    return True


cdef bint reserve_scratch(Run *run, size_t bytes, size_t rows) noexcept nogil:
    run.out = run.scratch
    return True


cdef bint take_lines(Run *run) noexcept nogil:
    run.data.size += run.written
    return True


cdef bint take_whole(Run *run, size_t written) noexcept nogil:
    run.data.size += written
    return True


cdef bint take_nothing(Run *run) noexcept nogil:
    return True


cdef bint take_nothing_whole(Run *run, size_t written) noexcept nogil:
    return True


# --- sinks: fingerprints ----------------------------------------------------------------------------------------------

cdef bint reserve_start(Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Provide memory for results that are needed only until the block is finished."""
    run.data.size = 0
    return reserve_data(run, bytes, rows)


cdef bint take_fingerprints(Run *run) noexcept nogil:
    """Write a fingerprint of 16 bytes for each row."""
    cdef size_t starts[ROWS]
    cdef size_t ends[ROWS]
    cdef size_t i
    for i in range(run.block.rows):
        starts[i] = run.out_at[i]
        ends[i] = run.out_at[i + 1] - tail_of(run, i)
    ends[run.block.rows - 1] = run.written - tail_of(run, run.block.rows - 1)
    fingerprints(<const Key *>run.key, run.out, starts, ends, run.block.rows, run.offsets.data + 16 * (run.row - run.base))
    return True


# --- sinks: verdicts --------------------------------------------------------------------------------------------------

cdef inline void set_bits(uint8_t *bits, size_t i, size_t n) noexcept nogil:
    cdef size_t stop = i + n
    while i < stop and i & 7:
        bits[i >> 3] |= 1 << (i & 7)
        i += 1
    if i < stop:
        memset(bits + (i >> 3), 0xFF, (stop - i) >> 3)
        i += (stop - i) & ~<size_t>7
        while i < stop:
            bits[i >> 3] |= 1 << (i & 7)
            i += 1


cdef bint take_verdicts(Run *run) noexcept nogil:
    """Set a bit for each row that is not rejected."""
    cdef size_t first = run.row - run.base, i, w
    cdef uint8_t *bits = run.offsets.data
    cdef bint nulls = run.source.valid != NULL or run.source.layout == INDEXED
    set_bits(bits, first, run.block.rows)
    for w in range((run.block.rows + 63) // 64):
        if run.block.rejected[w]:
            for i in range(64 * w, min(64 * w + 64, run.block.rows)):
                if run.block.rejected[w] >> (i & 63) & 1:
                    bits[(first + i) >> 3] &= ~(1 << ((first + i) & 7))
    if nulls:
        for i in range(run.block.rows):
            if is_null(run.source, run.row + i):
                bits[(first + i) >> 3] &= ~(1 << ((first + i) & 7))
    return True


# --- sinks: components ------------------------------------------------------------------------------------------------

cdef bint grow_as_before(Run *run, Buffer *part, size_t bytes) noexcept nogil:
    """Ensure capacity for so many bytes: for all rows if they are like those before, but not for a multiple of that.

    So a buffer has its size after a few steps, and memory of the last call, which had the same steps, is used again.
    """
    cdef size_t done = run.row - run.base
    cdef double more = <double>part.size / done * (run.count - done) * 1.0625 if done else 0
    if bytes <= part.cap - part.size or grow(part, max(bytes, min(<size_t>min(more, 1e15), 63 * part.cap))):
        return True
    return grow(part, bytes)  # pragma: no cover: no memory


cdef bint have_parts(Run *run, size_t bytes) noexcept nogil:
    """Ensure capacity for texts of so many bytes in each field."""
    cdef int field
    cdef bint widens = False
    for field in range(run.fields):
        if not grow_as_before(run, run.parts + 3 * field, bytes + WIDE):
            return False  # pragma: no cover: no memory
        widens |= not run.large and run.parts[3 * field].size + bytes > run.most_offset
    if widens:
        for field in range(run.fields):
            if not widen(run.parts + 3 * field + 1):
                return False  # pragma: no cover: no memory
        run.large = True
    return True


cdef inline void copy_component(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Do what copy_bytes() does, faster for the short components of most URLs."""
    memcpy(dst, src, WIDE // 2)
    if n > WIDE // 2:
        copy_bytes(dst, src, n)


cdef inline void set_word(uint8_t *bits, size_t at, uint64_t word, size_t n) noexcept nogil:
    """Set those of n bits, at most 64, that are set in a word. They are clear."""
    cdef size_t i
    for i in range(at >> 3, (at + n + 7) >> 3):
        bits[i] |= <uint8_t>(word << (at & 7))
        word, at = word >> (8 - (at & 7)), 0


cdef bint add_field(Run *run, int field, bint written) noexcept nogil:
    """Add a component of the rows of the block."""
    cdef uint32_t ends[STRUCTS + 1]
    cdef Buffer *part = run.parts + 3 * field
    cdef uint8_t *data = part.data + part.size
    cdef const uint8_t *out = run.out
    cdef const uint32_t *at = run.out_at
    cdef const uint8_t *texts = run.block.data
    cdef const uint32_t *starts = run.block.at
    cdef const Component *component
    cdef uint64_t defined = 0
    cdef size_t i, start, n, size = 0, rows = run.block.rows, last = run.block.size
    if written:
        texts, starts, last = out, at, SIZE_MAX     # WIDE bytes more can be read
    for i in range(rows):
        component = <const Component *>(out + at[i]) + field
        if at[i + 1] > at[i] and component.start >= 0:
            start, n = starts[i] + <size_t>component.start, <size_t>(component.end - component.start)
            if start + n + WIDE <= last:
                copy_component(data + size, texts + start, n)
            else:
                memcpy(data + size, texts + start, n)
            size += n
            defined |= <uint64_t>1 << i
        ends[i + 1] = <uint32_t>size
    set_word(part[2].data, run.row - run.base, defined, rows)
    if not add_offsets(part + 1, run.large, ends, rows, part.size, size):
        return False  # pragma: no cover: no memory
    part.size += size
    return True


cdef bint take_components(Run *run) noexcept nogil:
    cdef bint written = run.slots.result == WRITES_TEXTS
    cdef int field
    if not have_parts(run, run.written if written else run.block.size):
        return False  # pragma: no cover: no memory
    for field in range(run.fields):
        if not add_field(run, field, written):
            return False  # pragma: no cover: no memory
    return True


# --- sinks: lists -----------------------------------------------------------------------------------------------------

# The texts of all items are components: run.parts has them without validity, and run.offsets has where each list ends.

cdef size_t items_before(const Run *run) noexcept nogil:
    return run.parts[1].size // sizeof(int64_t) - 1


cdef bint have_items(Run *run, size_t bytes, uint64_t count) noexcept nogil:
    """Ensure capacity for so many items, whose texts have so many bytes."""
    cdef int field
    for field in range(run.fields):
        if (not grow_as_before(run, run.parts + 3 * field, bytes + WIDE)
                or not grow_as_before(run, run.parts + 3 * field + 1, <size_t>count * sizeof(int64_t))):
            return False
    return True


cdef inline void add_items(Run *run, const uint8_t *made, size_t size) noexcept nogil:
    """Add the list of a row. WIDE bytes after it can be read."""
    cdef Buffer *part
    cdef const uint8_t *at = made + sizeof(uint64_t)
    cdef uint64_t count = item_count(made) if size else 0
    cdef size_t n, end = run.offsets.size
    cdef int _
    while count:
        part = run.parts
        for _ in range(run.fields):
            n = next_text(&at)
            copy_bytes(part.data + part.size, at, n)
            at += n
            part.size += n
            (<int64_t *>(part[1].data + part[1].size))[0] = <int64_t>part.size
            part[1].size += sizeof(int64_t)
            part += 3
        count -= 1
    (<int64_t *>(run.offsets.data + end))[0] = <int64_t>(run.parts[1].size // sizeof(int64_t) - 1)
    run.offsets.size = end + sizeof(int64_t)


cdef bint take_lists(Run *run) noexcept nogil:
    cdef size_t i
    cdef uint64_t count = 0
    for i in range(run.block.rows):
        if run.out_at[i + 1] > run.out_at[i]:
            count += item_count(run.out + run.out_at[i])
    if not have_items(run, run.written, count):
        return False
    for i in range(run.block.rows):
        add_items(run, run.out + run.out_at[i], run.out_at[i + 1] - run.out_at[i])
    return True


# --- the sinks --------------------------------------------------------------------------------------------------------

cdef void set_sink(Run *run, ResultKind kind) noexcept:
    if kind == FINGERPRINT_RESULT:
        run.sink = ResultSink(reserve_start, take_fingerprints, NULL, NULL)
    elif kind == VERDICT_RESULT:
        run.sink = ResultSink(reserve_scratch, take_verdicts, NULL, NULL)
    elif kind == DIAGNOSTIC_RESULT:
        run.sink = ResultSink(reserve_scratch, take_nothing, NULL, NULL)
    elif kind == STRUCT_RESULT or kind == COMPONENT_RESULT:
        run.sink = ResultSink(reserve_made, take_components, NULL, NULL)
    elif kind == LIST_RESULT:
        run.sink = ResultSink(reserve_made, take_lists, NULL, NULL)
    elif run.source.layout == LINES:
        run.sink = ResultSink(reserve_data, take_lines, take_whole, NULL)
    elif run.source.layout == VIEWS:
        run.sink = ResultSink(reserve_views, take_views, NULL, NULL)
    else:
        run.sink = ResultSink(reserve_data, take_text, NULL, NULL)


cdef void set_buffer_sink(Run *run) noexcept:
    if not run.writes:
        run.sink = ResultSink(reserve_scratch, take_nothing, take_nothing_whole, NULL)
    else:
        run.sink = ResultSink(reserve_buffer, take_lines, take_whole, NULL)


# --- sinks: preparing and finishing -----------------------------------------------------------------------------------

cdef int prepare_result(Run *run, ResultKind kind) except -1:
    """Allocate memory for the results of all rows."""
    cdef size_t rows = run.count, width
    cdef int i
    if kind == VERDICT_RESULT or kind == DIAGNOSTIC_RESULT:
        return fill_zeros(&run.offsets, (rows + 7) >> 3)
    if kind == FINGERPRINT_RESULT:
        return fill_zeros(&run.offsets, 16 * rows)
    run.large = kind == LIST_RESULT or run.source.layout == OFFSETS_64
    width = 8 if run.large else 4
    run.parts = <Buffer *>PyMem_RawMalloc(3 * sizeof(Buffer) * <size_t>run.fields)
    if run.parts == NULL:
        raise MemoryError  # pragma: no cover: no memory
    memset(run.parts, 0, 3 * sizeof(Buffer) * <size_t>run.fields)
    for i in range(run.fields):
        fill_zeros(run.parts + 3 * i, 0)
        fill_zeros(run.parts + 3 * i + 1, width)
        if kind != LIST_RESULT:
            reserve(run.parts + 3 * i + 1, width * rows)
        fill_zeros(run.parts + 3 * i + 2, 0 if kind == LIST_RESULT else (rows + 7) >> 3)
    if kind == LIST_RESULT:
        fill_zeros(&run.offsets, 8 * rows + 8)
        run.offsets.size = 8
    return 0


cdef void discard_result(Run *run) noexcept:
    cdef int i
    if run.parts != NULL:
        for i in range(3 * run.fields):
            discard(run.parts + i)
        PyMem_RawFree(run.parts)
        run.parts = NULL


cdef Array diagnostic_array(Run *run, Buffer *valid, list code_names):
    """Return the codes and offsets of rejected rows; null for the others."""
    cdef size_t rows = run.count, i, next = 0, bads = run.found.size // sizeof(Rejected), size = 0
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef Rejected *bad = <Rejected *>run.found.data
    cdef bytes name
    cdef list names = []
    cdef Array array = Array(), code = Array(), offset = Array()
    for code_name in code_names:
        names.append((code_name or "").encode())
    for i in range(bads):
        size += <size_t>len(names[bad[i].code])
    fill_zeros(&buffers.first, size)
    fill_zeros(&buffers.second, 4 * (rows + 1))
    fill_zeros(&buffers.third, 8 * rows)
    fill_zeros(valid, (rows + 7) >> 3)
    size = 0
    for i in range(rows):
        if next < bads and bad[next].row - run.base == i:
            name = names[bad[next].code]
            memcpy(buffers.first.data + size, <const char *>name, len(name))
            size += <size_t>len(name)
            (<int64_t *>buffers.third.data)[i] = <int64_t>bad[next].offset
            valid.data[i >> 3] |= 1 << (i & 7)
            next += 1
        (<int32_t *>buffers.second.data)[i + 1] = <int32_t>size
    for child in (array, code, offset):
        (<Array>child).length = <int64_t>rows
    code.set_buffers(3)
    code.buffers[1] = hold(code, &buffers.second)
    code.buffers[2] = hold(code, &buffers.first)
    offset.set_buffers(2)
    offset.buffers[1] = hold(offset, &buffers.third)
    array.set_buffers(1)
    array.nulls = <int64_t>(rows - bads)
    array.buffers[0] = hold(array, valid)
    array.children = (code, offset)
    return array


cdef Array component_array(Run *run, int field, size_t count, bint nulls, bint large):
    """Return a component of all rows, null where it is undefined, or a text of all items."""
    cdef Array array = Array()
    cdef Buffer *part = run.parts + 3 * field
    array.length, array.nulls = <int64_t>count, -nulls
    array.set_buffers(3)
    if run.large and not large:
        narrow(part + 1)
    elif large and not run.large and not widen(part + 1):
        raise MemoryError  # pragma: no cover: no memory
    array.buffers[2] = hold(array, part)
    array.buffers[1] = hold(array, part + 1)
    if nulls:
        array.buffers[0] = hold(array, part + 2)
    return array


cdef Array struct_array(Run *run, size_t count, bint nulls, bint large):
    """Return the components of all rows, or the texts of all items. It has no validity bitmap."""
    cdef Array array = Array()
    cdef int i
    cdef list parts = []
    array.length = <int64_t>count
    array.set_buffers(1)
    for i in range(run.fields):
        parts.append(component_array(run, i, count, nulls, large))
    array.children = tuple(parts)
    return array


cdef Array result_array(Run *run, ResultKind kind, Buffer *valid, list code_names, bint large):
    """Return the results of a run. `valid` is the validity bitmap of the rows; without data: all are valid."""
    cdef Array array
    cdef size_t rows = run.count, items
    if kind == DIAGNOSTIC_RESULT:
        return diagnostic_array(run, valid, code_names)
    if kind == COMPONENT_RESULT:
        return component_array(run, 0, rows, True, large)
    if kind == STRUCT_RESULT:
        array = struct_array(run, rows, True, large)
    else:
        array = Array()
        array.length = <int64_t>rows
        array.set_buffers(2)
    if kind == LIST_RESULT:
        items = items_before(run)
        array.children = (component_array(run, 0, items, False, large) if run.fields == 1 else
                          struct_array(run, items, False, large),)
        if not large:
            narrow(&run.offsets)
    if valid.data != NULL:
        array.nulls = -1
        array.buffers[0] = hold(array, valid)
    if kind != STRUCT_RESULT:
        array.buffers[1] = hold(array, &run.offsets)
    return array


cdef Type result_type(ResultKind kind, Type type, tuple fields, bint text, bint large):
    cdef list parts = []
    cdef Type item
    if kind == VERDICT_RESULT:
        return Type(b"b", type.name)
    if kind == FINGERPRINT_RESULT:
        return Type(b"w:16", type.name)
    if kind == DIAGNOSTIC_RESULT:
        return Type(b"+s", type.name, (Type(b"u", b"code"), Type(b"l", b"offset")))
    part = (b"U" if large else b"u") if text else b"Z" if large else b"z"
    if kind == COMPONENT_RESULT:
        return Type(part, type.name)
    if kind == LIST_RESULT:
        item = result_type(STRUCT_RESULT if fields else COMPONENT_RESULT, Type(part, b"item"), fields, text, large)
        return Type(b"+L" if large else b"+l", type.name, (item,))
    for name in fields:
        parts.append(Type(part, name.encode()))
    return Type(b"+s", type.name, tuple(parts))
