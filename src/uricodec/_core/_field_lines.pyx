"""Records in a buffer: an operation on some values of each, and what becomes of those that it refuses.

A record is a line, and its value all of it, or some of its fields between delimiters; a record of CSV (RFC 4180) and some
of its fields; or a line with an object of JSON (RFC 8259) and the members of one name. A value is unescaped, the operation
writes what it becomes, and that is escaped again; everything around it is copied. When there may not be room for what comes
next, the record is taken back, and the loop ends and says how much it has read.
"""
from libc.stdint cimport SIZE_MAX, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._core._framing cimport *
from uricodec._core._kernels cimport kernels
from uricodec._core._quoting cimport *
from uricodec._rows._engine cimport (
    DROP_ROW, KEEP_ROW, NULL_ROW, RAISE_ROW, REPLACE_ROW, UC_RAISED, UC_REJECTED, Operation, Outcome, RowPolicy, rejected_function,
)
from uricodec._rows._operation cimport (
    BAD_CSV, BAD_JSON, FRAME, FRAME_NAMES, RowOperation, policy_named, raise_set, room_of,
)

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc

from collections import namedtuple

from uricodec._rows._lines import Lines


cdef list FRAME_REASONS = [
    "the field would have its delimiter in it", "a quote that nothing closes", "no object of JSON, or no string",
    "half of a surrogate pair",
]

FieldFault = namedtuple("FieldFault", ["line", "start", "stop", "code", "offset"])
FieldFault.__doc__ = "A record that was refused: its number, from 0; where it stands in the buffer; a code, and an offset in it."


# --- one record ---------------------------------------------------------------------------------------------------------

cdef enum Done:
    FINE, NO_ROOM, DROPPED, FAILED, RAISED, NO_MEMORY

cdef struct Fault:
    size_t line
    size_t start
    size_t stop
    size_t offset
    int code

cdef struct Room:
    uint8_t *octets
    size_t size

cdef struct Task:
    const Frame *frame
    bint asked              # whether there was a record of JSON,
    uint32_t seen           # and by which paths a member was found
    const uint8_t *src
    size_t n
    uint8_t *dst            # NULL: nothing is written
    size_t room
    size_t read
    size_t written
    size_t count            # records that were read,
    size_t invalid          # and how many of them were refused
    Fault *faults           # the first `limit` of these
    size_t limit
    RowPolicy policy
    Operation operation
    const void *options
    rejected_function refused
    Operation otherwise         # for values that are refused, and kept; row may be NULL
    int frame_codes         # where the codes of frames start
    bint sound              # nothing was refused in this record
    Room value, result      # for a value, and for what it becomes

# What a value has become: `same` as it was, or nothing at all.
cdef struct Result:
    const uint8_t *text
    size_t size
    bint same
    bint null


cdef bint make_room(Room *room, size_t size) noexcept nogil:
    cdef uint8_t *octets
    if room.size < size:
        size += size // 2
        octets = <uint8_t *>PyMem_RawRealloc(room.octets, size)
        if octets == NULL:
            return False
        room.octets, room.size = octets, size
    return True


cdef inline bint put(Task *task, const uint8_t *src, size_t n) noexcept nogil:
    if task.dst == NULL:
        return True
    if n > task.room - task.written:
        return False
    memcpy(task.dst + task.written, src, n)
    task.written += n
    return True


cdef Done refuse(Task *task, int code, size_t offset) noexcept nogil:
    """Note what is wrong first with the record."""
    cdef Fault *fault
    if task.sound:
        task.sound = False
        if task.invalid < task.limit:
            fault = task.faults + task.invalid
            fault.line, fault.start, fault.offset, fault.code = task.count - 1, task.read, offset, code
        task.invalid += 1
    return FAILED if task.policy == RAISE_ROW else DROPPED if task.policy == DROP_ROW else FINE


cdef Done refuse_value(Task *task, const uint8_t *raw, size_t n, int code, size_t offset, Result *result) noexcept nogil:
    """Refuse a value, or a record, that cannot be read. task.result has room for what stands for it."""
    cdef Outcome outcome
    cdef Done done = refuse(task, code, offset)
    result.text, result.size, result.same, result.null = raw, n, True, task.policy == NULL_ROW
    if done == FINE and task.refused != NULL:
        if not make_room(&task.result, task.operation.extra):
            return NO_MEMORY
        outcome.code, outcome.offset = code, offset
        result.text = task.result.octets
        result.size = task.refused(&outcome, task.options, task.result.octets)
    return done


cdef inline size_t room_for(const Task *task, size_t n) noexcept nogil:
    """What any result for a value of n octets takes."""
    cdef size_t size = room_of(&task.operation, n)
    return max(size, room_of(&task.otherwise, n)) if task.otherwise.row != NULL else size


cdef bint breaks_frame(const Task *task, const uint8_t *text, size_t n) noexcept nogil:
    cdef const Frame *frame = task.frame
    if frame.free or frame.only or frame.jsonl or frame.form == CSV or frame.form == JSON:
        return False
    return kernels.span(text, n, &frame.inside) < n


cdef Done work(Task *task, const uint8_t *value, size_t n, uint8_t *dst, const CsvField *field, size_t start,
               Result *result) noexcept nogil:
    """Do it with a value, which stands in the record as a field of CSV, as a string of JSON, or as it is, from `start` on.
    What it becomes goes to dst, which has room for it."""
    cdef const uint8_t *record = task.src + task.read
    cdef Outcome outcome
    cdef Done done
    cdef size_t size = task.operation.row(value, n, task.options, dst, &outcome), place
    result.text, result.size, result.same, result.null = dst, size, False, False
    if size != UC_REJECTED:
        if not breaks_frame(task, dst, size):
            return FINE
        outcome.code, outcome.offset = task.frame_codes + FRAME, 0
    elif outcome.code == UC_RAISED:
        return RAISED
    if field != NULL:
        place = place_in_csv(record, field, outcome.offset)
    elif task.frame.form == JSON:
        place = start + place_in_json(record + start, task.n - task.read - start, outcome.offset)
    else:
        place = start + outcome.offset
    done = refuse(task, outcome.code, place)
    if done != FINE:
        return done
    if task.refused != NULL:
        result.size = task.refused(&outcome, task.options, dst)
        return FINE
    if task.policy == NULL_ROW:
        result.size, result.null = 0, True
        return FINE
    if task.otherwise.row != NULL and size == UC_REJECTED:
        result.size = task.otherwise.row(value, n, task.options, dst, &outcome)
        if result.size != UC_REJECTED and not breaks_frame(task, dst, result.size):
            return FINE
    result.text, result.size, result.same = value, n, True
    return FINE


cdef Done put_only(Task *task, const Result *result) noexcept nogil:
    """A value as a line of its own."""
    return FINE if put(task, result.text, result.size) and put(task, <const uint8_t *>b"\n", 1) else NO_ROOM


cdef size_t most_of_json(const uint8_t *text, size_t n) noexcept nogil:
    """At most so many bytes escape_json() writes: 6 for an ASCII character, and 3 for a byte of another one, "%FF"."""
    cdef size_t i, size = 2
    for i in range(n):
        if text[i] >= 0x80:
            size += 3
        elif text[i] < 0x20 or text[i] == 0x7F:
            size += 6
        else:
            size += 2 if text[i] == c'"' or text[i] == c'\\' else 1
    return size


cdef Done put_string(Task *task, const Result *result) noexcept nogil:
    """A value as a string of JSON."""
    if task.dst == NULL:
        return FINE
    if result.null:
        return FINE if put(task, <const uint8_t *>b"null", 4) else NO_ROOM
    if result.size > SIZE_MAX // 8 or (6 * result.size + 2 > task.room - task.written
            and most_of_json(result.text, result.size) > task.room - task.written):
        return NO_ROOM
    task.written += escape_json(result.text, result.size, task.dst + task.written)
    return FINE


cdef Done put_plain(Task *task, const uint8_t *value, size_t n, size_t start) noexcept nogil:
    """What a value becomes that stands in the record as it is. It is written at once to where it belongs."""
    cdef Result result
    cdef uint8_t *dst
    cdef size_t size = room_for(task, n)
    cdef Done done
    if task.dst == NULL or task.frame.jsonl:
        if not make_room(&task.result, size):
            return NO_MEMORY
        dst = task.result.octets
    elif size > task.room - task.written:
        return NO_ROOM
    else:
        dst = task.dst + task.written
    done = work(task, value, n, dst, NULL, start, &result)
    if done != FINE:
        return done
    if task.frame.jsonl:
        return put_string(task, &result)
    if task.dst == NULL:
        return FINE
    if result.same:
        memcpy(dst, value, n)
    task.written += result.size
    return FINE if not task.frame.only or put(task, <const uint8_t *>b"\n", 1) else NO_ROOM


cdef Done put_delimited(Task *task, const Line *line) noexcept nogil:
    cdef const Frame *frame = task.frame
    cdef const uint8_t *s = line.src
    cdef const uint8_t *found
    cdef size_t i = 0, n = line.size, number = 0, span = 0, copied = 0, end
    cdef Done done
    while span < frame.span_count:
        found = <const uint8_t *>memchr(s + i, frame.delimiter, n - i)
        end = n if found == NULL else found - s
        if number >= frame.spans[span].first:
            if not frame.only and not put(task, s + copied, i - copied):
                return NO_ROOM
            done = put_plain(task, s + i, end - i, i)
            if done != FINE:
                return done
            copied = end
            if number >= frame.spans[span].last:
                span += 1
        if end == n:
            break
        number += 1
        i = end + 1
    return FINE if frame.only or put(task, s + copied, n - copied) else NO_ROOM


cdef Done put_csv_field(Task *task, const Line *line, const CsvField *field) noexcept nogil:
    cdef const uint8_t *value = line.src + field.start
    cdef size_t n = field.end - field.start
    cdef Result result
    cdef Done done
    if not make_room(&task.value, n):
        return NO_MEMORY
    if not field.closed:
        done = refuse_value(task, value, n, task.frame_codes + BAD_CSV, field.start, &result)
    else:
        if field.quoted:
            n = unescape_csv(line.src, field, task.value.octets)
            value = task.value.octets
        if not make_room(&task.result, room_for(task, n)):
            return NO_MEMORY
        done = work(task, value, n, task.result.octets, field, field.start, &result)
    if done != FINE:
        return done
    if task.frame.only:
        return put_only(task, &result)
    if task.dst == NULL:
        return FINE
    if not result.null and (result.same or result.size == n and memcmp(result.text, value, n) == 0):
        return FINE if put(task, line.src + field.start, field.end - field.start) else NO_ROOM
    if result.null:
        result.size = 0
    # A line without an octet is no record.
    if (field.quoted and not result.null or kernels.span(result.text, result.size, &task.frame.plain) < result.size
            or result.size == 0 and field.start == 0 and field.end == line.size):
        if result.size > SIZE_MAX // 4 or 2 * result.size + 2 > task.room - task.written:
            return NO_ROOM
        task.written += escape_csv(result.text, result.size, task.dst + task.written)
        return FINE
    return FINE if put(task, result.text, result.size) else NO_ROOM


cdef Done put_csv(Task *task, const Line *line) noexcept nogil:
    cdef const Frame *frame = task.frame
    cdef size_t number = 0, span = 0, copied = 0
    cdef CsvField field
    cdef Done done
    field.end = SIZE_MAX        # 0 is behind it
    while span < frame.span_count and field.end != line.size and line.size:
        find_csv_field(line.src, field.end + 1, line.size, &frame.inside, &field)
        if number >= frame.spans[span].first:
            if not frame.only and not put(task, line.src + copied, field.start - copied):
                return NO_ROOM
            done = put_csv_field(task, line, &field)
            if done != FINE:
                return done
            copied = field.end
            if number >= frame.spans[span].last:
                span += 1
        number += 1
    return FINE if frame.only or put(task, line.src + copied, line.size - copied) else NO_ROOM


# What is open around a value of JSON: an object, or an array in one.
cdef struct Level:
    bint array
    bint first
    uint32_t values         # paths that end here: the strings of an array are values
    uint32_t paths          # those that lead on,
    size_t done[PATHS]      # and how much of each has been followed

cdef enum:
    LEVELS = 2 * STEPS + 1


cdef void follow(Task *task, const Level *level, const uint8_t *s, size_t n, Level *inner) noexcept nogil:
    """Find the paths that end at, or lead on in, the member of this name, which task.value has room for."""
    cdef const Path *path
    cdef int code, p
    cdef size_t place, rest
    cdef const uint8_t *text
    inner.values = inner.paths = 0
    if memchr(s, c'\\', n) != NULL:
        n = unescape_json(s, n, task.value.octets, &code, &place)
        if n == SIZE_MAX:
            return
        s = task.value.octets
    for p in range(task.frame.path_count):
        path = &task.frame.paths[p]
        text, rest = path.text + level.done[p], path.size - level.done[p]
        if not level.paths >> p & 1 or rest < n or memcmp(text, s, n) != 0:
            continue
        if rest == n:
            inner.values |= <uint32_t>1 << p
        elif text[n] == c'.':
            inner.paths |= <uint32_t>1 << p
            inner.done[p] = level.done[p] + n + 1


cdef Done put_json_value(Task *task, const Line *line, const Member *member, size_t *copied) noexcept nogil:
    cdef const uint8_t *raw = line.src + member.value
    cdef const uint8_t *value = raw
    cdef size_t size = member.value_end - member.value, n = size, place = 0
    cdef Result result
    cdef Done done
    cdef int code = 0
    if memchr(raw, c'\\', n) != NULL:
        n = unescape_json(raw, n, task.value.octets, &code, &place)
        value = task.value.octets
    if n == SIZE_MAX:
        done = refuse_value(task, raw, size, task.frame_codes + code, member.value + place, &result)
    else:
        if not make_room(&task.result, room_for(task, n)):
            return NO_MEMORY
        done = work(task, value, n, task.result.octets, NULL, member.value, &result)
    if done != FINE:
        return done
    if task.frame.only:
        return put_only(task, &result)
    if not result.null and (result.same or result.size == n and memcmp(result.text, value, n) == 0):
        return FINE
    if not put(task, line.src + copied[0], member.value - 1 - copied[0]):
        return NO_ROOM
    copied[0] = member.value_end + 1
    return put_string(task, &result)


cdef Done put_members(Task *task, const Line *line, size_t *i, size_t *copied, Found_member *found) noexcept nogil:
    """Write values of an object that starts before i. `found` is NO_OBJECT if it is none; then i is where that shows."""
    cdef const uint8_t *s = line.src
    cdef size_t n = line.size, end
    cdef Level levels[LEVELS]
    cdef Level *level = levels
    cdef Level *inner
    cdef Member member
    cdef Done done
    cdef int depth = 0
    level.array, level.first, level.values = False, True, 0
    level.paths = <uint32_t>((<uint64_t>1 << task.frame.path_count) - 1)
    memset(level.done, 0, sizeof(level.done))
    while True:
        end = i[0]
        found[0] = next_member(s, i, n, level.first, level.array, &member)
        level.first = False
        if found[0] == NO_OBJECT:
            return FINE
        if found[0] == NO_MORE:
            if depth == 0:
                if skip_spaces(s, i[0], n) != n:
                    i[0] = end
                    found[0] = NO_OBJECT
                return FINE
            depth -= 1
            level = &levels[depth]
            continue
        inner = level + 1
        if level.array:
            inner.values, inner.paths = level.values, level.paths
            memcpy(inner.done, level.done, sizeof(level.done))
        else:
            follow(task, level, s + member.name, member.name_end - member.name, inner)
        if inner.values and s[member.start] != c'{':
            task.seen |= inner.values
        if member.value:
            if inner.values:
                done = put_json_value(task, line, &member, copied)
                if done != FINE:
                    return done
        elif s[member.start] == c'{' and inner.paths or s[member.start] == c'[' and not level.array and (
                inner.paths or inner.values):
            depth += 1
            level = inner
            level.array, level.first = s[member.start] == c'[', True
            i[0] = member.start + 1
        else:
            i[0] = end_of_value(s, member.start, n)
            if i[0] == n:
                found[0] = NO_OBJECT
                return FINE


cdef Done put_json(Task *task, const Line *line) noexcept nogil:
    cdef const uint8_t *s = line.src
    cdef size_t n = line.size, i = skip_spaces(s, 0, n), copied = 0, written = task.written
    cdef Found_member found = NO_OBJECT
    cdef Result result
    cdef Done done
    if i == n:
        return FINE if task.frame.only or put(task, s, n) else NO_ROOM
    task.asked = True
    if not make_room(&task.value, n):
        return NO_MEMORY
    if s[i] == c'{':
        i += 1
        done = put_members(task, line, &i, &copied, &found)
        if done != FINE:
            return done
    if found == NO_OBJECT:
        task.written = written
        copied = 0
        done = refuse_value(task, s, n, task.frame_codes + BAD_JSON, min(i, n), &result)
        if done != FINE:
            return done
        if task.frame.only:
            return put_only(task, &result)
        if task.policy == NULL_ROW:
            return FINE if put(task, <const uint8_t *>b"null", 4) else NO_ROOM
    return FINE if task.frame.only or put(task, s + copied, n - copied) else NO_ROOM


# --- all records --------------------------------------------------------------------------------------------------------

cdef bint put_end(Task *task, const Line *line) noexcept nogil:
    if task.frame.only:
        return True
    if task.frame.jsonl:
        return put(task, <const uint8_t *>b"\n", 1)
    return put(task, line.src + line.size, line.tail)


cdef Done put_records(Task *task, bint all_records) noexcept nogil:
    cdef Form form = task.frame.form
    cdef Line line
    cdef Done done
    cdef size_t written, invalid
    while task.read < task.n:
        find_record(task.frame, task.src + task.read, task.n - task.read, &line)
        written, invalid = task.written, task.invalid
        task.count += 1
        task.sound = True
        if form == DELIMITED:
            done = put_delimited(task, &line)
        elif form == CSV:
            done = put_csv(task, &line)
        elif form == JSON:
            done = put_json(task, &line)
        else:
            done = put_plain(task, line.src, line.size, 0)
        if done == FINE and not put_end(task, &line):
            done = NO_ROOM
        if done != FINE:
            task.written = written
        if done == NO_ROOM:
            task.invalid = invalid
            task.count -= 1
            return FINE
        if done != FINE and done != DROPPED and done != FAILED:
            return done
        if invalid < task.invalid <= task.limit:
            task.faults[invalid].stop = task.read + line.size
        if done == FAILED:
            return FAILED
        task.read += line.size + line.tail
        if task.invalid == task.limit and not all_records:
            break
    return FINE


def transform_fields(src, dst, operation, framing, errors="keep", limit=100):
    """Apply an operation to values in records, as far as there is room, and until a number of records has been refused.

    Args:
        src (bytes-like): The records; the last one may lack its end.
        dst (bytes-like | None): Where to write: a writable buffer elsewhere; None: nothing is written.
        operation (RowOperation): What to do with each value.
        framing (Framing): Where the values are.
        errors (str): What becomes of a value that is refused, or of a record in which none can be found: "keep" leaves it
            as it is, or its invalid part; "null" makes it an empty one, or null in JSON; "drop" writes nothing of the
            record; "raise" reads nothing of it, and nothing behind it; "replace" as the operation has it. In place of what
            an operation of records has rejected, it writes its own.
        limit (int): Behind so many refused records nothing is read. 0: all is read, and none of them is returned; but
            with "raise" one.

    Returns:
        tuple[int, Lines]: As of `transform_lines`, but for the refused records: FieldFault(line, start, stop, code, offset),
            of which the offset is that in the record. If nothing has been read, and nothing refused, there is no room.

    Raises:
        ValueError: There is no such policy.

    >>> from uricodec._core._codec_rows import DecodeRows
    >>> from uricodec._core._framing import Framing
    >>> buffer = bytearray(100)
    >>> framing = Framing("delimited", delimiter=b" ", fields=[(2, 2)], free=True)
    >>> read, found = transform_fields(b"%61 %62 %63\\n%61 %zz\\n", buffer, DecodeRows(), framing)
    >>> bytes(buffer[:found.written])
    b'%61 b %63\\n%61 %zz\\n'
    >>> found.faults
    [FieldFault(line=1, start=12, stop=19, code='percent', offset=4)]
    """
    cdef Py_buffer source, target
    cdef Task task
    cdef RowOperation how = <RowOperation?>operation
    cdef Framing frame = <Framing?>framing
    cdef bint all_records = limit <= 0
    cdef Done done
    cdef list codes = [*how.code_names, *FRAME_NAMES], faults
    cdef size_t i
    task.policy = <RowPolicy>policy_named(errors, True)
    how.check_policy(task.policy)
    task.frame, task.frame_codes = &frame.frame, <int>len(how.code_names)
    task.operation, task.options, task.refused = how.slots.strict, how.slots.options, how.slots.rejected
    task.otherwise = Operation(NULL, how.slots.strict.factor, how.slots.strict.extra)
    if task.policy == KEEP_ROW:
        task.otherwise.row = how.slots.keep
    elif task.policy == REPLACE_ROW:
        task.otherwise = Operation(how.slots.replace, how.slots.replace_factor, how.slots.strict.extra)
    if all_records and task.otherwise.row != NULL:      # nobody asks which values are invalid
        task.operation = task.otherwise
    task.read = task.written = task.count = task.invalid = 0
    task.value = task.result = Room(NULL, 0)
    task.asked, task.seen = False, 0
    task.limit = <size_t>max(limit, 1)
    task.faults = <Fault *>PyMem_RawMalloc(task.limit * sizeof(Fault))
    if task.faults == NULL:
        raise MemoryError
    try:
        PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
        try:
            task.src, task.n, task.dst, task.room = <const uint8_t *>source.buf, <size_t>source.len, NULL, SIZE_MAX
            how.room(task.n)    # fits
            if dst is not None:
                PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
                task.dst, task.room = <uint8_t *>target.buf, <size_t>target.len
            try:
                with nogil:
                    done = put_records(&task, all_records)
            finally:
                if dst is not None:
                    PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)
        if task.asked:
            frame.note_seen(task.seen)
        if done == RAISED:
            raise_set()
        if done == NO_MEMORY:
            raise MemoryError
        faults = []
        for i in range(min(task.invalid, task.limit) if limit > 0 or done == FAILED else 0):
            faults.append(FieldFault(<Py_ssize_t>task.faults[i].line, <Py_ssize_t>task.faults[i].start,
                                     <Py_ssize_t>task.faults[i].stop, codes[task.faults[i].code],
                                     <Py_ssize_t>task.faults[i].offset))
        return <Py_ssize_t>task.read, Lines(<Py_ssize_t>task.written, <Py_ssize_t>task.count, <Py_ssize_t>task.invalid,
                                            faults)
    finally:
        PyMem_RawFree(task.faults)
        PyMem_RawFree(task.value.octets)
        PyMem_RawFree(task.result.octets)


def reason_of(operation, code):
    """What an error says for a code of transform_fields().

    Args:
        operation (RowOperation): What has refused a value.
        code (str): Why.

    Returns:
        str: The reason.

    >>> from uricodec._core._codec_rows import DecodeRows
    >>> reason_of(DecodeRows(), "utf-8"), reason_of(DecodeRows(), "frame")
    ('octets that are not UTF-8', 'the field would have its delimiter in it')
    """
    if code in operation.code_names:
        return operation.reasons[operation.code_names.index(code)]
    return FRAME_REASONS[FRAME_NAMES.index(code)]
