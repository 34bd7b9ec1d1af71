"""Sinks: destinations of the results of a run.

A sink provides the memory that results are written to, and accepts them block by block: text with offsets, views,
fingerprints of text, a bit for each valid row, a diagnostic for each invalid row, components, lists, or lines.
"""
from libc.stdint cimport INT32_MAX, SIZE_MAX
from libc.string cimport memcmp, memset

from uricodec._base._cpython cimport PyMem_RawFree, PyMem_RawMalloc
from uricodec._rows._arrow cimport *
from uricodec._base._fingerprint cimport Key, fingerprints
from uricodec._rows._engine cimport *


# --- text ---------------------------------------------------------------------------------------------------------------

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


# --- views --------------------------------------------------------------------------------------------------------------

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


# --- lines --------------------------------------------------------------------------------------------------------------

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


# --- fingerprints -------------------------------------------------------------------------------------------------------

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


# --- verdicts -----------------------------------------------------------------------------------------------------------

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


# --- components ---------------------------------------------------------------------------------------------------------

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


# --- lists --------------------------------------------------------------------------------------------------------------

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


# --- the sinks ----------------------------------------------------------------------------------------------------------

cdef void set_sink(Run *run, ResultKind kind) noexcept:
    if kind == FINGERPRINT:
        run.sink = ResultSink(reserve_start, take_fingerprints, NULL, NULL)
    elif kind == VERDICT:
        run.sink = ResultSink(reserve_scratch, take_verdicts, NULL, NULL)
    elif kind == DIAGNOSTIC:
        run.sink = ResultSink(reserve_scratch, take_nothing, NULL, NULL)
    elif kind == STRUCT or kind == COMPONENT:
        run.sink = ResultSink(reserve_made, take_components, NULL, NULL)
    elif kind == LIST:
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


# --- preparing and finishing ------------------------------------------------------------------------------------------

cdef int prepare_result(Run *run, ResultKind kind) except -1:
    """Allocate memory for the results of all rows."""
    cdef size_t rows = run.count, width
    cdef int i
    if kind == VERDICT or kind == DIAGNOSTIC:
        return fill_zeros(&run.offsets, (rows + 7) >> 3)
    if kind == FINGERPRINT:
        return fill_zeros(&run.offsets, 16 * rows)
    run.large = kind == LIST or run.source.layout == OFFSETS_64
    width = 8 if run.large else 4
    run.parts = <Buffer *>PyMem_RawMalloc(3 * sizeof(Buffer) * <size_t>run.fields)
    if run.parts == NULL:
        raise MemoryError  # pragma: no cover: no memory
    memset(run.parts, 0, 3 * sizeof(Buffer) * <size_t>run.fields)
    for i in range(run.fields):
        fill_zeros(run.parts + 3 * i, 0)
        fill_zeros(run.parts + 3 * i + 1, width)
        if kind != LIST:
            reserve(run.parts + 3 * i + 1, width * rows)
        fill_zeros(run.parts + 3 * i + 2, 0 if kind == LIST else (rows + 7) >> 3)
    if kind == LIST:
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
    if kind == DIAGNOSTIC:
        return diagnostic_array(run, valid, code_names)
    if kind == COMPONENT:
        return component_array(run, 0, rows, True, large)
    if kind == STRUCT:
        array = struct_array(run, rows, True, large)
    else:
        array = Array()
        array.length = <int64_t>rows
        array.set_buffers(2)
    if kind == LIST:
        items = items_before(run)
        array.children = (component_array(run, 0, items, False, large) if run.fields == 1 else
                          struct_array(run, items, False, large),)
        if not large:
            narrow(&run.offsets)
    if valid.data != NULL:
        array.nulls = -1
        array.buffers[0] = hold(array, valid)
    if kind != STRUCT:
        array.buffers[1] = hold(array, &run.offsets)
    return array


cdef Type result_type(ResultKind kind, Type type, tuple fields, bint text, bint large):
    cdef list parts = []
    cdef Type item
    if kind == VERDICT:
        return Type(b"b", type.name)
    if kind == FINGERPRINT:
        return Type(b"w:16", type.name)
    if kind == DIAGNOSTIC:
        return Type(b"+s", type.name, (Type(b"u", b"code"), Type(b"l", b"offset")))
    part = (b"U" if large else b"u") if text else b"Z" if large else b"z"
    if kind == COMPONENT:
        return Type(part, type.name)
    if kind == LIST:
        item = result_type(STRUCT if fields else COMPONENT, Type(part, b"item"), fields, text, large)
        return Type(b"+L" if large else b"+l", type.name, (item,))
    for name in fields:
        parts.append(Type(part, name.encode()))
    return Type(b"+s", type.name, tuple(parts))
