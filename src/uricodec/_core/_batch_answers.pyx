"""What comes out of rows but text, as Arrow arrays: whether each is right (bool), what is wrong (struct of code and
offset), its components (struct of text), or a fixed number of octets.

The row function of such an operation writes no text: nothing for a verdict, the place of each component for a struct.
"""
from libc.string cimport memset

from uricodec._core._arrow cimport *
from uricodec._core._batch cimport *

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc


# --- the rows -----------------------------------------------------------------------------------------------------------

cdef inline bint no_memory(Task *task) noexcept nogil:
    task.status = NO_MEMORY
    return False


cdef void accept_rows(Task *task, size_t first, size_t n) noexcept nogil:
    """n rows from there on are right, or null."""
    cdef size_t i = first - task.base, stop = i + n
    while i < stop and i & 7:
        task.offsets.data[i >> 3] |= 1 << (i & 7)
        i += 1
    if i < stop:
        memset(task.offsets.data + (i >> 3), 0xFF, (stop - i) >> 3)
        i += (stop - i) & ~<size_t>7
        while i < stop:
            task.offsets.data[i >> 3] |= 1 << (i & 7)
            i += 1


cdef bint answer_verdict(Task *task, size_t row, const uint8_t *src, size_t n) noexcept nogil:
    cdef Refusal refusal
    if is_null(task.source, row):
        return True
    if task.operation.row(src, n, task.options, task.scratch, &refusal) == UC_REFUSED:
        return refuse_row(task, row, &refusal)
    row -= task.base
    task.offsets.data[row >> 3] |= 1 << (row & 7)
    return True


cdef bint answer_split(Task *task, size_t row, const uint8_t *src, size_t n) noexcept nogil:
    cdef Refusal refusal
    cdef Span spans[MOST_FIELDS]
    cdef int i
    cdef size_t size, place = row - task.base
    cdef Room *part = task.parts
    cdef bint there = not is_null(task.source, row)
    if there and task.operation.row(src, n, task.options, <uint8_t *>spans, &refusal) == UC_REFUSED:
        there = False
        if not refuse_row(task, row, &refusal):
            return False
    for i in range(task.fields):
        if there and spans[i].start >= 0:
            size = <size_t>(spans[i].end - spans[i].start)
            if not grow(part, size):
                return no_memory(task)
            memcpy(part.data + part.size, src + spans[i].start, size)
            part.size += size
            part[2].data[place >> 3] |= 1 << (place & 7)
        (<int64_t *>(part[1].data + part[1].size))[0] = <int64_t>part.size     # in 64 bits, for now
        part[1].size += 8
        part += 3
    return True


cdef answer_function answer_of(Kind kind):
    if kind == VERDICT or kind == FAULT:
        return answer_verdict
    if kind == SPLIT:
        return answer_split
    return NULL


# --- before and after ---------------------------------------------------------------------------------------------------

cdef int zeros(Room *room, size_t n) except -1:
    if not grow(room, n + 8):
        raise MemoryError
    memset(room.data, 0, n + 8)
    room.size = n
    return 0


cdef int prepare_answer(Task *task) except -1:
    """Have room for what comes out of so many rows."""
    cdef size_t rows = task.count
    cdef int i
    if task.kind == VERDICT or task.kind == FAULT:
        return zeros(&task.offsets, (rows + 7) >> 3)
    if task.kind == OCTETS_16:
        return zeros(&task.offsets, 16 * rows)
    task.parts = <Room *>PyMem_RawMalloc(3 * sizeof(Room) * <size_t>task.fields)
    if task.parts == NULL:
        raise MemoryError
    memset(task.parts, 0, 3 * sizeof(Room) * <size_t>task.fields)
    for i in range(task.fields):
        zeros(task.parts + 3 * i, 0)
        zeros(task.parts + 3 * i + 1, 8 * rows + 8)
        task.parts[3 * i + 1].size = 8
        zeros(task.parts + 3 * i + 2, (rows + 7) >> 3)
    return 0


cdef void discard_answer(Task *task) noexcept:
    cdef int i
    if task.parts != NULL:
        for i in range(3 * task.fields):
            discard(task.parts + i)
        PyMem_RawFree(task.parts)
        task.parts = NULL


cdef int narrow(Room *offsets) except -1:
    """From offsets of 64 bits to such of 32, which is enough."""
    cdef size_t i, n = offsets.size // 8
    for i in range(n):
        (<int32_t *>offsets.data)[i] = <int32_t>(<int64_t *>offsets.data)[i]
    offsets.size = 4 * n
    return 0


cdef Array fault_array(Task *task, Room *valid, list code_names):
    """The codes and offsets of rows that were refused; null for the others."""
    cdef size_t rows = task.count, i, next = 0, bads = task.found.size // sizeof(Bad), size = 0
    cdef Rooms rooms = Rooms()
    cdef Bad *bad = <Bad *>task.found.data
    cdef bytes name
    cdef Array array = Array(), code = Array(), offset = Array()
    names = [(code_name or "").encode() for code_name in code_names]
    for i in range(bads):
        size += <size_t>len(names[bad[i].code])
    zeros(&rooms.first, size)
    zeros(&rooms.second, 4 * (rows + 1))
    zeros(&rooms.third, 8 * rows)
    zeros(valid, (rows + 7) >> 3)
    size = 0
    for i in range(rows):
        if next < bads and bad[next].row - task.base == i:
            name = names[bad[next].code]
            memcpy(rooms.first.data + size, <const char *>name, len(name))
            size += <size_t>len(name)
            (<int64_t *>rooms.third.data)[i] = <int64_t>bad[next].offset
            valid.data[i >> 3] |= 1 << (i & 7)
            next += 1
        (<int32_t *>rooms.second.data)[i + 1] = <int32_t>size
    for child in (array, code, offset):
        (<Array>child).length = <int64_t>rows
    code.set_buffers(3)
    code.buffers[1] = hold(code, &rooms.second)
    code.buffers[2] = hold(code, &rooms.first)
    offset.set_buffers(2)
    offset.buffers[1] = hold(offset, &rooms.third)
    array.set_buffers(1)
    array.nulls = <int64_t>(rows - bads)
    array.buffers[0] = hold(array, valid)
    array.children = (code, offset)
    return array


cdef Array answer_array(Task *task, Room *valid, list code_names, bint large):
    """What came of a task. The validity is that of the rows; NULL in the Room: all are."""
    cdef Array array = Array(), part
    cdef size_t rows = task.count
    cdef int i
    if task.kind == FAULT:
        return fault_array(task, valid, code_names)
    array.length = <int64_t>rows
    array.nulls = 0 if valid.data == NULL else -1
    array.set_buffers(1 if task.kind == SPLIT else 2)
    if valid.data != NULL:
        array.buffers[0] = hold(array, valid)
    if task.kind != SPLIT:
        array.buffers[1] = hold(array, &task.offsets)
        return array
    parts = []
    for i in range(task.fields):
        part = Array()
        part.length, part.nulls = <int64_t>rows, -1
        part.set_buffers(3)
        if not large:
            narrow(task.parts + 3 * i + 1)
        part.buffers[2] = hold(part, task.parts + 3 * i)
        part.buffers[1] = hold(part, task.parts + 3 * i + 1)
        part.buffers[0] = hold(part, task.parts + 3 * i + 2)
        parts.append(part)
    array.children = tuple(parts)
    return array


cdef Type answer_type(Kind kind, Type type, tuple fields, bint text, bint large):
    if kind == VERDICT:
        return Type(b"b", type.name)
    if kind == OCTETS_16:
        return Type(b"w:16", type.name)
    if kind == FAULT:
        return Type(b"+s", type.name, (Type(b"u", b"code"), Type(b"l", b"offset")))
    part = (b"U" if large else b"u") if text else b"Z" if large else b"z"
    return Type(b"+s", type.name, tuple([Type(part, name.encode()) for name in fields]))
