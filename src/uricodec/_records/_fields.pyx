"""An operation on selected values of the records in a buffer.

A record is one of these:

- a line; its value is the whole line, or its values are selected fields between delimiters,
- a record of CSV (RFC 4180); its values are selected fields,
- a line with a JSON object (RFC 8259); its values are the members with selected names.

    whole records of a window     1,"a%22b",x      2,c,y       the value is the second field, the operation decodes
    unescaped values, together    a%22bc
    results, together             a"bc
    records                       1,"a""b",x       2,c,y

Kernels mark the bytes that may end a value, so that fields are found without searching for each. The row engine runs
over the values. Its results stay in the first-level cache until the records are written: the bytes before a value, its
escaped result, the bytes before the next value. Results that are complete lines are written directly to the output. All
results of a record are known before its first byte is written.
Errors of the record itself have codes after those of the operation, see FRAME_NAMES.

For deduplication, rows are records: select_values() finds one value of each, and nothing is written.

A window is the part of the buffer that is processed at once. It doubles until it contains a whole record, so short and
long records take the same path. If the output may lack capacity for a record, the loop ends before it and returns how
much was read.
"""
from libc.stdint cimport INT64_MAX, SIZE_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._cpython cimport PyMem_RawFree
from uricodec._rows._arrow cimport Buffer, append_item, discard, grow, reserve
from uricodec._base._kernels cimport bits_of, kernels, uc_lowest_bit, uc_utf8
from uricodec._records._framing cimport *
from uricodec._base._text cimport borrow_bytes
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport begin_work

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from uricodec._rows._tasks import LineFault, Lines


cdef list FRAME_REASONS = [
    "the result would contain the delimiter", "unclosed quote", "not a JSON object, or its member is not a string",
    "lone surrogate", "the record has no base with a scheme", "the record does not have one text in this field",
]

# The codes of a record after those of FRAME_NAMES: it does not have exactly one value.
cdef enum:
    NO_VALUE = FRAME_CODES

RECORD_NAMES = [*FRAME_NAMES, "field"]

cdef enum:
    WINDOW = 16384          # bytes of records that are processed at once
    READABLE = -1           # instead of a code: the value is readable
    MOST_BASE = 8192        # most bytes of a base,
    MOST_BASES = 1 << 26    # and of the bases in all results of a record: otherwise a record could fill the memory


# The rest of a member after a value: the end of its name, and a colon.
cdef enum: AFTER_SIZE = 8
cdef const char *AFTER = b'_parts":'


# --- records and values -----------------------------------------------------------------------------------------------

# What is written in place of a value.
cdef enum Written:
    RESULT                  # the result of the operation
    AS_IT_IS
    NOTHING                 # an empty value, or null in JSON
    REJECTED_RECORD         # what the operation writes for a rejected row

# A value in the source: without its quotes in JSON, with them in CSV.
cdef struct Value:
    size_t start
    size_t end
    size_t offset           # where the error is in the record
    int code                # why the value is not readable; its row is then empty
    uint8_t quoted          # for CSV
    uint8_t written         # a member of Written
    uint8_t base            # the base of the other values

cdef struct ReadRecord:
    size_t start
    size_t end              # without its terminator,
    size_t next             # and with it
    size_t first            # number of its first value

# The name of the member that has a value, without its quotes.
cdef struct MemberName:
    size_t start
    size_t end

cdef struct RecordFault:
    size_t line
    size_t start
    size_t stop
    size_t offset
    int code

cdef enum Done:
    FINE, NO_ROOM, DROPPED, FAILED

# The slots of an operation that writes a record for each value, adapted to write lines.
cdef struct LineOperation:
    row_function row
    rejected_function rejected
    const void *options

# With decoding of the second field of CSV, the two records of a window:
#
#     source      7,"%61,""",x           8,b,y
#     records     [0 .. 12)              [13 .. 18)        where they are in the source
#     values      [2 .. 10), quoted      [15 .. 16)        where in it their values are
#     text        %61,"                  b                 the values, one after the other: the rows of a run
#     results     a,"                    b                 what the run makes of them
#     output      7,"a,""",x             8,b,y             the bytes between values are copied; results are escaped
cdef struct Window:
    Buffer marks            # bits of the bytes that may end a value
    Buffer text             # the values, unescaped, and
    Buffer ends             # where each ends in it, int64_t
    Buffer values           # Value structs
    Buffer names            # of the values of JSON, as MemberName structs, if results are written after them
    Buffer records          # ReadRecord structs, and where the values of the last one end
    size_t value_count
    size_t record_count
    size_t most             # capacity for values and records
    bint unreadable         # some values are not readable

# What is known of the results of all values of a window, which allows faster paths.
cdef struct Results:
    bint breaks             # some contain a delimiter or terminator
    bint clean              # none needs escaping
    bint fits               # the output has capacity for all
    size_t rejected         # the next of the listed rejected rows

# The invalid records.
cdef struct Report:
    size_t invalid          # how many,
    Buffer faults           # and the first `limit` of them, as RecordFault structs
    size_t limit
    bint stops              # stop after that many

cdef struct Task:
    # What is read and written, and how far:
    const Frame *frame
    Seen seen               # what the records contained
    const uint8_t *src
    size_t n
    uint8_t *dst            # NULL: no output
    size_t capacity
    size_t read
    size_t written
    size_t copied           # bytes of src up to here are written, or not to be written
    size_t count            # records read
    # The operation:
    Run run
    Source source
    Slots slots
    LineOperation operation
    bint lines              # results are lines, written by `operation`
    bint escapes            # results are escaped for CSV or JSON
    bint needs_value        # records without a value are dropped
    int frame_codes         # the first code of record errors
    Buffer rejection        # the record of a rejected value
    Window window
    Results results
    Report report


# --- values of a window -----------------------------------------------------------------------------------------------

# The marked bytes of the window, to be taken one by one.
cdef struct WindowMarks:
    const uint64_t *words
    size_t count            # words
    size_t w                # the current word,
    uint64_t word           # and those of its marks that are not taken yet


cdef inline size_t take_mark(WindowMarks *marks) noexcept nogil:
    """Return the next marked byte; SIZE_MAX if none is left."""
    cdef size_t at
    while marks.word == 0:
        marks.w += 1
        if marks.w >= marks.count:
            return SIZE_MAX
        marks.word = marks.words[marks.w]
    at = 64 * marks.w + <size_t>uc_lowest_bit(marks.word)
    marks.word &= marks.word - 1
    return at


cdef inline void set_value(Value *value, size_t start, size_t end) noexcept nogil:
    value.start, value.end, value.code = start, end, READABLE
    value.quoted, value.written, value.base = False, RESULT, False


# The quoted part of a CSV field.
cdef struct Quoted:
    size_t end              # SIZE_MAX: the quote is unclosed
    bint simple             # it contains no quote


cdef inline size_t end_of_quoted(const uint8_t *s, size_t n, WindowMarks *marks, Quoted *quoted) noexcept nogil:
    """Find the quote that closes a field. Return the next mark after it."""
    cdef size_t at
    quoted.end, quoted.simple = SIZE_MAX, True
    while True:
        at = take_mark(marks)
        if at >= n:
            return at
        if s[at] != c'"':
            continue
        if at + 1 == n or s[at + 1] != c'"':
            quoted.end = at
            return take_mark(marks)
        take_mark(marks)
        quoted.simple = False


cdef inline size_t gather_fields(Task *task, const uint8_t *s, size_t n, bint csv) noexcept nogil:
    """Gather the values of whole records, of lines or of CSV. Return where the first incomplete record starts."""
    cdef const Frame *frame = task.frame
    cdef const Span *spans = frame.spans
    cdef WindowMarks marks
    cdef Value *values = <Value *>task.window.values.data
    cdef ReadRecord *record = <ReadRecord *>task.window.records.data
    cdef int64_t *ends = <int64_t *>task.window.ends.data
    cdef uint8_t *text = task.window.text.data
    cdef size_t before = task.read, span_count = frame.span_count
    cdef size_t start = 0, at, field, end, number, span, first, count = 0, size = 0
    cdef uint8_t terminator = frame.end
    cdef CsvField escaped
    cdef Quoted quoted
    cdef bint is_quoted, is_last
    marks.words, marks.count, marks.w = <const uint64_t *>task.window.marks.data, (n >> 6) + 1, 0
    marks.word = marks.words[0]
    quoted.end, quoted.simple = SIZE_MAX, True
    while start < n:
        field, number, span, first = start, 0, 0, count
        while True:
            at = take_mark(&marks)
            is_quoted = csv and at == field and at < n and s[at] == c'"'
            if is_quoted:
                at = end_of_quoted(s, n, &marks, &quoted)
            while csv and at < n and s[at] == c'"':     # a quote elsewhere is an ordinary byte
                at = take_mark(&marks)
            if at == SIZE_MAX:
                break
            is_last = at == n or s[at] == terminator
            end = at
            if is_last and terminator == c'\n' and end > field and s[end - 1] == c'\r' and (csv or at < n):
                end -= 1
            if span < span_count and number >= spans[span].first and not (csv and is_last and end == start):
                set_value(values + count, before + field, before + end)
                values[count].quoted, values[count].base = is_quoted, number + 1 == frame.base
                if is_quoted and quoted.end == SIZE_MAX:
                    values[count].code, values[count].offset = task.frame_codes + BAD_CSV, field - start
                    task.window.unreadable = True
                elif is_quoted and not (quoted.simple and quoted.end + 1 == end):
                    escaped.start, escaped.end, escaped.quoted = field, end, True
                    size += unescape_csv(s, &escaped, text + size)
                else:
                    memcpy(text + size, s + field + is_quoted, end - field - 2 * is_quoted)
                    size += end - field - 2 * is_quoted
                count += 1
                ends[count] = <int64_t>size
                if number >= spans[span].last:
                    span += 1
            if is_last:
                break
            number += 1
            field = at + 1
        if at == SIZE_MAX:
            count = first
            break
        task.seen.asked |= number > 0 or end > start     # an empty line says nothing
        task.seen.parted |= number > 0
        if is_quoted and quoted.end == SIZE_MAX:
            task.seen.open, task.seen.quote = True, field - start
        task.seen.spans = max(task.seen.spans, span + (span < span_count and number >= spans[span].first))
        record.start, record.end, record.next, record.first = before + start, before + end, before + min(at + 1, n), first
        record += 1
        start = at + 1
    task.window.value_count, task.window.text.size = count, <size_t>ends[count]
    task.window.record_count = record - <ReadRecord *>task.window.records.data
    return min(start, n)


# An open object, or an array in one, around the current value.
cdef struct JsonLevel:
    bint array
    bint first
    uint32_t values         # paths that end here: the strings of an array are values
    uint32_t paths          # paths that continue,
    size_t done[PATHS]      # and how many bytes of each are matched

cdef enum:
    LEVELS = 2 * STEPS + 1


cdef void follow(Task *task, const JsonLevel *level, const uint8_t *s, size_t n, bint escaped, JsonLevel *inner) noexcept nogil:
    """Find the paths that end at, or continue in, the member of this name. There is capacity to unescape it in the text."""
    cdef const Path *path
    cdef int code, p
    cdef size_t place, rest
    cdef const uint8_t *text
    inner.values = inner.paths = 0
    if escaped:
        n = unescape_json(s, n, task.window.text.data + task.window.text.size, &code, &place)
        if n == SIZE_MAX:
            return
        s = task.window.text.data + task.window.text.size
    for p in range(task.frame.path_count):
        path = &task.frame.paths[p]
        text, rest = path.text + level.done[p], path.size - level.done[p]
        if not level.paths >> p & 1 or rest < n or rest > n and text[n] != c'.' or memcmp(text, s, n) != 0:
            continue
        if rest == n:
            inner.values |= <uint32_t>1 << p
        else:
            inner.paths |= <uint32_t>1 << p
            inner.done[p] = level.done[p] + n + 1


cdef void add_value(Task *task, size_t start, size_t end, size_t size) noexcept nogil:
    """Add a value of JSON, whose `size` bytes are at the end of task.window.text."""
    set_value(<Value *>task.window.values.data + task.window.value_count, task.read + start, task.read + end)
    task.window.text.size += size
    task.window.value_count += 1
    (<int64_t *>task.window.ends.data)[task.window.value_count] = <int64_t>task.window.text.size


cdef void add_unreadable(Task *task, size_t start, size_t end, int code, size_t offset) noexcept nogil:
    cdef Value *value = <Value *>task.window.values.data + task.window.value_count
    add_value(task, start, end, 0)
    value.code, value.offset, task.window.unreadable = task.frame_codes + code, offset, True


cdef void add_string(Task *task, const uint8_t *s, size_t start, const Member *member, bint element) noexcept nogil:
    """Unescape a string of the record that starts at `start`, and add it. `element`: it is in an array."""
    cdef uint8_t *text = task.window.text.data + task.window.text.size
    cdef MemberName *name = <MemberName *>task.window.names.data + task.window.value_count
    cdef size_t size = member.value_end - member.value, place
    cdef int code
    if task.frame.after:
        name.start, name.end = task.read + member.name, task.read + member.name_end
        if element:     # only an object can have another member
            add_unreadable(task, member.value, member.value_end, BAD_JSON, member.value - start)
            return
    if member.value_escaped:
        size = unescape_json(s + member.value, size, text, &code, &place)
    else:
        memcpy(text, s + member.value, size)
    if size == SIZE_MAX:
        add_unreadable(task, member.value, member.value_end, code, member.value + place - start)
    else:
        add_value(task, member.value, member.value_end, size)


cdef bint gather_members(Task *task, const uint8_t *s, size_t start, size_t *i, size_t n) noexcept nogil:
    """Gather values of the object that starts at s[i]. False if it is not an object; i is then the offset of the error."""
    cdef const uint64_t *marks = <const uint64_t *>task.window.marks.data
    cdef JsonLevel levels[LEVELS]
    cdef JsonLevel *level = levels
    cdef JsonLevel *inner
    cdef Member member
    cdef Found_member found
    cdef size_t end
    cdef bint is_base
    cdef int depth = 0
    level.array, level.first, level.values = False, True, 0
    level.paths = <uint32_t>((<uint64_t>1 << task.frame.path_count) - 1)
    memset(level.done, 0, <size_t>task.frame.path_count * sizeof(size_t))
    i[0] += 1
    while True:
        end = i[0]
        found = next_member(s, marks, i, n, level.first, level.array, &member)
        level.first = False
        if found == NO_OBJECT:
            return False
        if found == NO_MORE:
            if depth == 0:
                if skip_spaces(s, i[0], n) != n:
                    i[0] = end
                    return False
                return True
            depth -= 1
            level = &levels[depth]
            continue
        inner = level + 1
        if level.array:
            inner.values, inner.paths = level.values, level.paths
            memcpy(inner.done, level.done, <size_t>task.frame.path_count * sizeof(size_t))
        else:
            follow(task, level, s + member.name, member.name_end - member.name, member.name_escaped, inner)
        if inner.values and s[member.start] != c'{':
            task.seen.paths |= inner.values
        if member.value:
            if inner.values:
                is_base = task.frame.base and inner.values >> (task.frame.base - 1) & 1
                add_string(task, s, start, &member, level.array)
                (<Value *>task.window.values.data + task.window.value_count - 1).base = is_base
        elif s[member.start] == c'{' and inner.paths or s[member.start] == c'[' and not level.array and (
                inner.paths or inner.values):
            depth += 1
            level = inner
            level.array, level.first = s[member.start] == c'[', True
            i[0] = member.start + 1
        else:
            i[0] = end_of_value(s, marks, member.start, n)
            if i[0] == n:
                return False
            # not in arrays: the marks, for which there is memory, do not count their elements
            if (task.frame.scalars and inner.values and not level.array
                    and s[member.start] != c'{' and s[member.start] != c'['):
                memcpy(task.window.text.data + task.window.text.size, s + member.start, i[0] - member.start)
                add_value(task, member.start, i[0], i[0] - member.start)


cdef size_t gather_json(Task *task, const uint8_t *s, size_t n, bint last) noexcept nogil:
    """Gather the values of lines with JSON objects. The only value of a record that is not an object is the record."""
    cdef size_t start = 0, end, next, i, first
    cdef const uint8_t *found
    cdef ReadRecord *record
    while start < n:
        found = <const uint8_t *>memchr(s + start, task.frame.end, n - start)
        if found == NULL and not last or task.window.record_count + 2 > task.window.most:
            return start
        end = next = n
        if found != NULL:
            end = found - s
            next = end + 1
            if task.frame.end == c'\n' and end > start and s[end - 1] == c'\r':
                end -= 1
        first = task.window.value_count
        i = skip_spaces(s, start, end)
        if i < end:
            task.seen.asked = True
            if s[i] != c'{' or not gather_members(task, s, start, &i, end):
                task.window.value_count = first
                task.window.text.size = <size_t>(<int64_t *>task.window.ends.data)[first]
                if task.frame.after:
                    memset(<MemberName *>task.window.names.data + first, 0, sizeof(MemberName))
                add_unreadable(task, start, end, BAD_JSON, min(i, end) - start)
        record = <ReadRecord *>task.window.records.data + task.window.record_count
        record.start, record.end, record.next = task.read + start, task.read + end, task.read + next
        record.first = first
        task.window.record_count += 1
        start = next
    return n


cdef bint begin_window(Task *task, size_t n, bint last) noexcept nogil:
    """Mark the bytes of the window, and allocate memory for any values in it. False: out of memory."""
    cdef Window *window = &task.window
    cdef uint64_t *marks
    cdef size_t w, most = 0, words = (n >> 6) + 1
    if not grow(&window.marks, 8 * words):
        return False  # pragma: no cover: no memory
    marks = <uint64_t *>window.marks.data
    marks[words - 1] = 0
    kernels.mark_outside(task.src + task.read, n, &task.frame.unmarked, marks)
    if last:
        marks[n >> 6] |= <uint64_t>1 << (n & 63)    # as if a terminator followed
    if n > WINDOW:
        for w in range(words):
            most += bits_of(marks[w])
    else:
        most = n + 1
    window.most = most = 2 * most + 2
    window.text.size = window.value_count = window.record_count = 0
    window.unreadable = False
    if not (grow(&window.text, n + 1) and grow(&window.ends, 8 * (most + 1))
            and grow(&window.values, most * sizeof(Value)) and grow(&window.records, most * sizeof(ReadRecord))
            and (not task.frame.after or grow(&window.names, most * sizeof(MemberName)))):
        return False  # pragma: no cover: no memory
    (<int64_t *>window.ends.data)[0] = 0
    return True


cdef bint gather(Task *task) noexcept nogil:
    """Gather the values of the next records: as many whole records as the window contains, and at least one."""
    cdef size_t n = WINDOW, gathered
    cdef const uint8_t *s = task.src + task.read
    cdef const uint8_t *end
    cdef bint last
    while True:
        n = min(n, task.n - task.read)
        last = n == task.n - task.read
        if not begin_window(task, n, last):
            return False  # pragma: no cover: no memory
        if task.frame.form == JSON:
            gathered = gather_json(task, s, n, last)
        elif task.frame.form == CSV:
            gathered = gather_fields(task, s, n, True)
        else:
            gathered = gather_fields(task, s, n, False)
        if gathered:
            (<ReadRecord *>task.window.records.data)[task.window.record_count].first = task.window.value_count
            return True
        n *= 2
        if task.frame.form != CSV:      # the end of a long record is known: allocate once
            end = <const uint8_t *>memchr(s, task.frame.end, task.n - task.read)
            n = max(n, <size_t>(end - s) + 1 if end != NULL else task.n - task.read)


# --- results ----------------------------------------------------------------------------------------------------------

cdef inline const uint8_t *value_of(const Task *task, size_t v, size_t *size) noexcept nogil:
    """Return a readable value, unescaped."""
    cdef const int64_t *ends = <const int64_t *>task.window.ends.data
    size[0] = <size_t>(ends[v + 1] - ends[v])
    return task.window.text.data + ends[v]


cdef inline const uint8_t *result_of(const Task *task, size_t v, size_t *size) noexcept nogil:
    cdef const int64_t *ends = <const int64_t *>task.run.offsets.data
    size[0] = 0
    if not task.run.writes:
        return task.run.data.data
    size[0] = <size_t>(ends[v + 1] - ends[v])
    return task.run.data.data + ends[v]


cdef inline const uint8_t *text_of(const Task *task, size_t v, size_t *size) noexcept nogil:
    """Return what is written for a value, before it is escaped."""
    cdef Outcome outcome
    cdef const Value *value = <const Value *>task.window.values.data + v
    if value.written == RESULT:
        return result_of(task, v, size)
    if value.written == REJECTED_RECORD:
        outcome.code, outcome.offset = value.code, value.offset
        size[0] = task.run.slots.rejected(&outcome, task.run.options, task.rejection.data)
        return task.rejection.data
    if value.written == AS_IT_IS and value.code == READABLE:
        return value_of(task, v, size)
    size[0] = value.end - value.start if value.written == AS_IT_IS else 0
    return task.src + value.start


cdef size_t row_as_line(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const LineOperation *operation = <const LineOperation *>options
    cdef size_t size = operation.row(src, n, operation.options, dst, outcome)
    if size == UC_REJECTED:
        return size
    dst[size] = c'\n'
    return size + 1


cdef size_t rejected_as_line(const Outcome *outcome, const void *options, uint8_t *dst) noexcept nogil:
    cdef const LineOperation *operation = <const LineOperation *>options
    cdef size_t size = operation.rejected(outcome, operation.options, dst)
    dst[size] = c'\n'
    return size + 1


cdef inline bint is_text(const Task *task, const uint8_t *text, size_t n, size_t *offset) noexcept nogil:
    """Return whether a value is UTF-8, or need not be: strings of JSON keep other bytes."""
    cdef uc_utf8 found
    offset[0] = n if task.frame.form == JSON else kernels.scan_utf8(text, n, &found)
    return offset[0] == n


cdef bint run_pairs(Task *task) noexcept nogil:
    """Run the operation on the values of the window and the bases of their records. False: out of memory."""
    cdef Run *run = &task.run
    cdef const Pair *pair = <const Pair *>run.slots.options
    cdef const ReadRecord *record = <const ReadRecord *>task.window.records.data
    cdef Value *values = <Value *>task.window.values.data
    cdef Rejected rejected
    cdef const uint8_t *text
    cdef const uint8_t *base
    cdef size_t i, v, n, size, base_size, bases
    for i in range(task.window.record_count):
        base, base_size, bases = NULL, 0, 0
        for v in range(record[i].first, record[i + 1].first):
            if values[v].base:
                values[v].written = AS_IT_IS
                if values[v].code == READABLE and base == NULL:
                    base = value_of(task, v, &base_size)
        if base != NULL and (base_size > MOST_BASE or not is_text(task, base, base_size, &n)):
            base = NULL
        for v in range(record[i].first, record[i + 1].first):
            size = 0
            if not values[v].base and values[v].code == READABLE:
                text = value_of(task, v, &n)
                size, bases = SIZE_MAX, bases + base_size
                rejected.row, rejected.start, rejected.offset, rejected.code = v, 0, 0, task.frame_codes + BAD_BASE
                if not is_text(task, text, n, &rejected.offset):
                    rejected.code = run.slots.utf8_code
                elif base != NULL and bases <= MOST_BASES:
                    if not grow(&run.data, base_size + n + pair.extra + WIDE):
                        return False
                    size = pair.row(base, base_size, text, n, run.data.data + run.data.size)
                    rejected.offset = 0
                else:
                    rejected.offset = 0
                if size == SIZE_MAX:
                    size = 0
                    if not append_item(&run.found, &rejected, sizeof(Rejected)):
                        return False
            run.data.size += size
            (<int64_t *>run.offsets.data)[v + 1] = <int64_t>run.data.size
    return True


cdef bint run_values(Task *task) noexcept nogil:
    """Run the operation on the values of the window, perhaps up to one that stops the run. False: out of memory, or error."""
    cdef Run *run = &task.run
    task.source.data, task.source.offsets = task.window.text.data, task.window.ends.data
    task.source.count = task.window.value_count
    run.row = run.next = run.invalid = run.found.size = run.data.size = task.results.rejected = 0
    run.stop = task.window.value_count
    if not grow(&run.data, 1):
        return False  # pragma: no cover: no memory
    if run.writes:
        run.offsets.size = 0
        if not grow(&run.offsets, 8 * (task.window.value_count + 1)):
            return False  # pragma: no cover: no memory
        (<int64_t *>run.offsets.data)[0] = 0
        run.offsets.size = 8
    if task.frame.base:
        run.status = NO_MEMORY
        return run_pairs(task)
    while True:
        run_rows(run)
        if run.status != YIELD:
            return run.status == DONE or run.status == STOPPED


cdef size_t most_of_json(const uint8_t *text, size_t n) noexcept nogil:
    """Return the most bytes that escape_json() writes: 6 for an ASCII character, 3 for another byte, as in "%FF"."""
    cdef size_t i, size = 2
    for i in range(n):
        if text[i] >= 0x80:
            size += 3
        elif text[i] < 0x20 or text[i] == 0x7F:
            size += 6
        else:
            size += 2 if text[i] == c'"' or text[i] == c'\\' else 1
    return size


cdef size_t place_of(const Task *task, const ReadRecord *record, const Value *value, size_t offset) noexcept nogil:
    """Return the offset in the record of a byte of the value."""
    cdef const uint8_t *s = task.src + record.start
    cdef CsvField field
    cdef size_t start = value.start - record.start
    if task.frame.form == JSON:
        return start + place_in_json(s + start, value.end - value.start, offset)
    if not value.quoted:
        return start + offset
    field.start, field.end = start, value.end - record.start
    return place_in_csv(s, &field, offset)


cdef bint report(Task *task, const ReadRecord *record, int code, size_t offset) noexcept nogil:
    """Count an invalid record, and list it. False: out of memory."""
    cdef RecordFault fault = RecordFault(task.count, record.start, record.end, offset, code)
    if task.report.invalid < task.report.limit and not append_item(&task.report.faults, &fault, sizeof(RecordFault)):
        task.run.status = NO_MEMORY  # pragma: no cover: no memory
        return False
    task.report.invalid += 1
    return True


cdef Done judge(Task *task, const ReadRecord *record) noexcept nogil:
    """Decide for each value of the record what is written for it, and report the first error."""
    cdef Run *run = &task.run
    cdef const Rejected *rejected = <const Rejected *>run.found.data
    cdef size_t count = run.found.size // sizeof(Rejected), i, size, offset
    cdef Value *value
    cdef const uint8_t *text
    cdef bint valid = True, fits, has_result, stops = run.policy == RAISE_ROW or run.policy == DROP_ROW
    cdef int code
    if task.needs_value and record.first == (record + 1).first:
        return DROPPED
    if not task.results.breaks and not task.window.unreadable and (
            task.results.rejected == count or rejected[task.results.rejected].row >= (record + 1).first):
        return FINE
    for i in range(record.first, (record + 1).first):
        value = <Value *>task.window.values.data + i
        code, offset = value.code, value.offset
        if code == READABLE:
            while task.results.rejected < count and rejected[task.results.rejected].row < i:
                task.results.rejected += 1
            if task.results.rejected < count and rejected[task.results.rejected].row == i:
                code = rejected[task.results.rejected].code
                offset = place_of(task, record, value, rejected[task.results.rejected].offset)
            fits = True
            if task.results.breaks and not (code != READABLE and stops):
                text = result_of(task, i, &size)
                fits = kernels.span(text, size, &task.frame.inside) == size
            if not fits and code == READABLE:
                code, offset = task.frame_codes + FRAME, value.start - record.start
            if code == READABLE:
                continue
            has_result = fits and (run.slots.rejected != NULL or run.policy != NULL_ROW and run.otherwise != NULL)
        else:
            has_result = False
        if valid and not report(task, record, code, offset):
            return FAILED  # pragma: no cover: no memory
        valid = False
        if stops:
            return FAILED if run.policy == RAISE_ROW else DROPPED
        if has_result:
            continue
        value.written = NOTHING if run.policy == NULL_ROW else AS_IT_IS
        if task.frame.after and (code == task.frame_codes + BAD_CSV or code == task.frame_codes + BAD_JSON):
            value.written = AS_IT_IS    # nothing can follow it
        elif run.slots.rejected != NULL:
            value.written, value.code, value.offset = REJECTED_RECORD, code, offset
            task.results.clean = False      # the checks of the results do not cover this
    return FINE


cdef bint run_to_output(Task *task, bint *done) noexcept nogil:
    """Write the results of the window, which are lines, directly to the output. `done`: nothing else is to be written.

    Rejected values have written their records. False: out of memory, or an exception is set.
    """
    cdef Run *run = &task.run
    cdef Buffer own = run.data
    cdef const ReadRecord *record = <const ReadRecord *>task.window.records.data
    cdef size_t size, rejected, i
    cdef bint runs
    run.data.data, run.data.cap = task.dst + task.written, task.capacity - task.written     # the caller has checked the capacity
    runs = run_values(task)
    size = run.data.size
    run.data = own
    rejected = run.found.size // sizeof(Rejected)
    done[0] = runs and not task.window.unreadable and (
        rejected == 0 or run.policy != RAISE_ROW and run.policy != DROP_ROW
        and not (task.report.stops and task.report.invalid + rejected >= task.report.limit))
    if done[0]:
        for i in range(task.window.record_count if rejected else 0):
            if judge(task, record + i) == FAILED:
                return False  # pragma: no cover: no memory
            task.count += 1
        if rejected == 0:
            task.count += task.window.record_count
        task.written += size
        task.read = record[task.window.record_count - 1].next
        return True
    run.data.size = 0
    if not runs or not grow(&run.data, size + 1):
        return False
    memcpy(run.data.data, task.dst + task.written, size)
    run.data.size = size
    return True


# --- writing records --------------------------------------------------------------------------------------------------

cdef inline void put_bytes(Task *task, const uint8_t *src, size_t n) noexcept nogil:
    """Write n bytes, if the output has capacity."""
    memcpy(task.dst + task.written, src, n)
    task.written += n


cdef inline void copy_up_to(Task *task, size_t stop) noexcept nogil:
    put_bytes(task, task.src + task.copied, stop - task.copied)
    task.copied = stop


cdef inline bint is_unchanged(const Task *task, size_t v, const uint8_t *text, size_t size) noexcept nogil:
    """Return whether a value of CSV or JSON is its own result: then it keeps its escapes."""
    cdef const Value *value = <const Value *>task.window.values.data + v
    cdef size_t before
    cdef const uint8_t *unescaped
    if value.written != RESULT or not task.escapes:
        return value.written == AS_IT_IS
    unescaped = value_of(task, v, &before)
    return size == before and memcmp(text, unescaped, size) == 0


cdef inline size_t name_size(const Task *task, size_t v) noexcept nogil:
    """Return the size of the name of the member after a value, with its quotes and what separates it; 0 in CSV."""
    cdef const MemberName *name = <const MemberName *>task.window.names.data + v
    return name.end - name.start + <size_t>AFTER_SIZE + 2 if task.frame.form == JSON else 0


cdef size_t capacity_of_record(const Task *task, const ReadRecord *record) noexcept nogil:
    """Return the most bytes that are written up to the end of the record, with what is still to be copied before it."""
    cdef const Frame *frame = task.frame
    cdef size_t i, size, capacity = record.next - task.copied if frame.copies else 0
    cdef const uint8_t *text
    cdef const Value *value
    for i in range(record.first, (record + 1).first):
        value = <const Value *>task.window.values.data + i
        text = text_of(task, i, &size)
        if frame.after:
            capacity += size + name_size(task, i) + 1
            continue
        if frame.copies:
            if is_unchanged(task, i, text, size):
                continue
            capacity -= value.end - value.start
        elif not task.lines:
            capacity += 1
        if (frame.form == JSON or frame.jsonl) and not frame.only:
            capacity += max(most_of_json(text, size), <size_t>4)
        elif frame.form == CSV and not frame.only:
            capacity += 2 * size + 2
        else:
            capacity += size
    return capacity


cdef inline void put_quoted(Task *task, const uint8_t *text, size_t size) noexcept nogil:
    task.dst[task.written] = c'"'
    task.written += 1
    put_bytes(task, text, size)
    task.dst[task.written] = c'"'
    task.written += 1


cdef inline void put_json(Task *task, const Value *value, const uint8_t *text, size_t size) noexcept nogil:
    if value.written == NOTHING:
        put_bytes(task, <const uint8_t *>b"null", 4)
    elif not task.results.clean:
        task.written += escape_json(text, size, task.dst + task.written)
    else:
        put_quoted(task, text, size)


cdef inline void put_alone(Task *task, size_t v) noexcept nogil:
    """Write a value as a line."""
    cdef const Value *value = <const Value *>task.window.values.data + v
    cdef size_t size
    cdef const uint8_t *text = text_of(task, v, &size)
    if task.frame.only:
        put_bytes(task, text, size)
    elif value.written == AS_IT_IS:
        task.written += escape_json(text, size, task.dst + task.written)
    else:
        put_json(task, value, text, size)
    if not task.lines:
        task.dst[task.written] = c'\n'
        task.written += 1


cdef inline void put_value(Task *task, const ReadRecord *record, size_t v) noexcept nogil:
    """Write what is before a value, and its result. An unchanged value is copied together with what follows it."""
    cdef const Value *value = <const Value *>task.window.values.data + v
    cdef Form form = task.frame.form
    cdef size_t size, quote = form == JSON and value.start > record.start    # otherwise the record is not an object
    cdef const uint8_t *text = text_of(task, v, &size)
    if is_unchanged(task, v, text, size):
        return
    copy_up_to(task, value.start - quote)
    task.copied = value.end + quote
    if form == JSON:
        put_json(task, value, text, size)
    # An empty line is not a record.
    elif form == CSV and (value.quoted and value.written != NOTHING
                          or not task.results.clean and kernels.span(text, size, &task.frame.plain) < size
                          or size == 0 and value.start == record.start and value.end == record.end):
        if task.results.clean:
            put_quoted(task, text, size)
        else:
            task.written += escape_csv(text, size, task.dst + task.written)
    else:
        put_bytes(task, text, size)


cdef inline void put_after(Task *task, size_t v) noexcept nogil:
    """Write a value, what is before it, and its result after it."""
    cdef const Value *value = <const Value *>task.window.values.data + v
    cdef const MemberName *name = <const MemberName *>task.window.names.data + v
    cdef size_t size
    cdef const uint8_t *text = text_of(task, v, &size)
    if value.written == AS_IT_IS:
        return
    if task.frame.form == JSON:
        copy_up_to(task, value.end + 1)
        put_bytes(task, <const uint8_t *>b',"', 2)
        put_bytes(task, task.src + name.start, name.end - name.start)
        put_bytes(task, <const uint8_t *>AFTER, AFTER_SIZE)
    else:
        copy_up_to(task, value.end)
        put_bytes(task, &task.frame.delimiter, 1)
    put_bytes(task, text, size)


cdef Done put_record(Task *task, const ReadRecord *record) noexcept nogil:
    cdef size_t i, size
    if not task.results.fits:
        size = capacity_of_record(task, record)
        if size > task.capacity - task.written:
            return NO_ROOM
    for i in range(record.first, (record + 1).first):
        if task.frame.after:
            put_after(task, i)
        elif task.frame.copies:
            put_value(task, record, i)
        else:
            put_alone(task, i)
    return FINE


cdef void look_at_results(Task *task) noexcept nogil:
    """Check properties of all results of the window, which allow faster paths."""
    cdef const Frame *frame = task.frame
    cdef Run *run = &task.run
    cdef size_t n = run.data.size
    task.results.breaks = task.results.clean = False
    if not run.writes:
        return
    if frame.only or frame.after:
        task.results.clean = True
    elif frame.form == JSON or frame.jsonl:
        task.results.clean = is_plain_json(run.data.data, n)
    elif frame.form == CSV:
        task.results.clean = kernels.span(run.data.data, n, &frame.plain) == n
    else:
        task.results.breaks = not frame.free and kernels.span(run.data.data, n, &frame.inside) < n
        task.results.clean = not task.results.breaks


cdef void weave_clean(Task *task) noexcept nogil:
    """Write all records of the window, where no result is rejected or needs escaping, and the capacity is sufficient."""
    cdef const ReadRecord *record = <const ReadRecord *>task.window.records.data
    cdef const Value *values = <const Value *>task.window.values.data
    cdef const int64_t *ends = <const int64_t *>task.run.offsets.data
    cdef const uint8_t *src = task.src
    cdef const uint8_t *results = task.run.data.data
    cdef uint8_t *dst = task.dst
    cdef size_t i, v, size, copied = task.copied, written = task.written
    for i in range(task.window.record_count):
        for v in range(record[i].first, record[i + 1].first):
            if values[v].quoted or ends[v + 1] == ends[v]:
                task.copied, task.written = copied, written
                put_value(task, record + i, v)
                copied, written = task.copied, task.written
                continue
            size = values[v].start - copied
            memcpy(dst + written, src + copied, size)
            written += size
            copied = values[v].end
            size = <size_t>(ends[v + 1] - ends[v])
            memcpy(dst + written, results + ends[v], size)
            written += size
    task.copied, task.written = copied, written
    task.count += task.window.record_count
    task.read = record[task.window.record_count - 1].next
    copy_up_to(task, task.read)


cdef bint weave(Task *task) noexcept nogil:
    """Write the records of the window as far as the output has capacity. Return whether to stop."""
    cdef const ReadRecord *record = <const ReadRecord *>task.window.records.data
    cdef size_t i, invalid, faults, most, last = record[task.window.record_count - 1].next
    cdef bint suspect
    cdef Done done = FINE
    look_at_results(task)
    suspect = task.run.found.size != 0 or task.window.unreadable or task.results.breaks or task.needs_value
    # everything escaped as much as possible, and rejected records
    most = (last - task.copied) + 6 * task.run.data.size + 8 * task.window.value_count
    if suspect:
        most += 6 * (last - task.read)
        if task.run.slots.rejected != NULL:
            most += 6 * task.run.extra * task.window.value_count
    if task.frame.after:
        most += last - task.read + (<size_t>AFTER_SIZE + 2) * task.window.value_count
    task.results.fits = task.dst != NULL and most <= task.capacity - task.written
    if task.results.fits and not suspect and task.results.clean and task.frame.copies and not task.frame.after and (
            task.frame.form != JSON):
        weave_clean(task)
        return False
    for i in range(task.window.record_count):
        invalid, faults = task.report.invalid, task.report.faults.size
        if suspect:
            done = judge(task, record + i)
        if done == FINE and task.dst != NULL:
            done = put_record(task, record + i)
        if done == NO_ROOM:
            task.report.invalid, task.report.faults.size = invalid, faults
            break
        task.count += 1
        if done == FAILED:
            break
        if done == DROPPED and task.dst != NULL and task.frame.copies:
            copy_up_to(task, record[i].start)
            task.copied = record[i].next
        task.read = record[i].next
        if task.report.stops and task.report.invalid == task.report.limit:
            done = FAILED
            break
    if task.dst != NULL and task.frame.copies:
        copy_up_to(task, task.read)
    return done == NO_ROOM or done == FAILED


cdef bint put_records(Task *task) noexcept nogil:
    """Process all records, or as many as the output has capacity for. False: out of memory, or an exception is set."""
    cdef size_t most
    cdef bint done
    while task.read < task.n:
        if not gather(task):  # pragma: no cover: no memory
            task.run.status = NO_MEMORY
            return False
        most = capacity_for(&task.run, task.window.text.size, task.window.value_count)
        if task.lines and task.dst != NULL and 0 < most <= task.capacity - task.written:
            if not run_to_output(task, &done):
                return False
            if done:
                continue
        elif not run_values(task):
            return False
        if weave(task):
            return task.run.status != NO_MEMORY
    return True


# --- the call -----------------------------------------------------------------------------------------------------------

cdef int set_run(Task *task, RowOperation rows, RowPolicy policy, bint listed) except -1:
    cdef Run *run = &task.run
    task.source.layout, task.source.end = OFFSETS_64, INT64_MAX
    run.source, run.limit, run.large = &task.source, SIZE_MAX, True
    task.slots = rows.slots
    task.lines = task.frame.only and task.slots.rejected != NULL    # then only these slots can process rows
    if task.lines:
        task.operation.row, task.operation.rejected = task.slots.strict.row, task.slots.rejected
        task.operation.options = task.slots.options
        task.slots.strict.row, task.slots.rejected, task.slots.options = row_as_line, rejected_as_line, &task.operation
        task.slots.strict.extra += 1
    set_operation(run, &task.slots, policy, listed)
    if run.writes:
        set_sink(run, TEXT_RESULT)
    else:
        set_buffer_sink(run)
    set_lines(run)
    run.checks_utf8 = rows.slots.utf8_code != 0 and task.frame.form != JSON     # strings of JSON keep other bytes
    begin_work(run)
    if run.slots.rejected != NULL:
        reserve(&task.rejection, run.extra)
    return 0


cdef void end_task(Task *task) noexcept nogil:
    PyMem_RawFree(task.run.gathered)
    discard(&task.run.found)
    discard(&task.run.data)
    discard(&task.run.offsets)
    discard(&task.report.faults)
    discard(&task.window.marks)
    discard(&task.window.text)
    discard(&task.window.ends)
    discard(&task.window.values)
    discard(&task.window.names)
    discard(&task.window.records)
    discard(&task.rejection)


def transform_fields(src, dst, operation, framing, errors="keep", limit=100):
    """Apply an operation to values in records, until the output is full or a number of records has been rejected.

    Args:
        src (bytes-like): The records; the last one may lack its terminator.
        dst (bytes-like | None): The output, a writable buffer that does not overlap src; None: nothing is written.
        operation (RowOperation): The operation to apply to each value. If its `needs_value` is true, records without
            a value are omitted.
        framing (Framing): The format of the records, and the selected values.
        errors (str): How an invalid value, or a record that cannot be read, is handled: "keep" leaves it, or its
            invalid part, as it is; "null" writes an empty value, or null in JSON; "drop" omits the record; "raise"
            stops before the record; "replace" is defined by the operation. An operation that writes records writes one
            for each rejected value.
        limit (int): Stop after so many invalid records, and return them. 0: do not stop and return none, except with
            "raise".

    Returns:
        tuple[int, Lines]: See `transform_lines`. The invalid records are LineFault(line, start, stop, code, offset),
            where offset is relative to the record. If nothing was read and nothing is invalid, the output is full.

    Raises:
        ValueError: `errors` is unknown.

    >>> from uricodec._codec._rows import DecodeRows
    >>> from uricodec._records._framing import Framing
    >>> buffer = bytearray(100)
    >>> framing = Framing("delimited", delimiter=b" ", fields=[(2, 2)], free=True)
    >>> read, found = transform_fields(b"%61 %62 %63\\n%61 %zz\\n", buffer, DecodeRows(), framing)
    >>> bytes(buffer[:found.written])
    b'%61 b %63\\n%61 %zz\\n'
    >>> found.faults
    [LineFault(line=1, start=12, stop=19, code='percent', offset=4)]
    """
    cdef Py_buffer source, target
    cdef Task task
    cdef RowOperation rows = <RowOperation?>operation
    cdef Framing frame = <Framing?>framing
    cdef RowPolicy policy = <RowPolicy>policy_named(errors, True)
    cdef list codes = [*rows.code_names, *FRAME_NAMES], faults = []
    cdef const RecordFault *fault
    cdef bint done
    cdef size_t i
    rows.check_policy(policy)
    if (frame.frame.base != 0) != hasattr(operation, "pairs"):
        raise ValueError("an operation on pairs needs a base, and no other does")
    memset(&task, 0, sizeof(Task))
    task.frame, task.frame_codes = &frame.frame, <int>len(rows.code_names)
    task.needs_value = getattr(operation, "needs_value", False)
    task.escapes = frame.frame.form == CSV or frame.frame.form == JSON
    task.report.limit, task.report.stops = <size_t>limit if limit > 0 else <size_t>(policy == RAISE_ROW), limit > 0
    borrow_bytes(src, &source)
    try:
        task.src, task.n = <const uint8_t *>source.buf, <size_t>source.len
        rows.capacity(task.n)       # raises OverflowError if results could be too long
        if dst is not None:
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            task.dst, task.capacity = <uint8_t *>target.buf, <size_t>target.len
        try:
            set_run(&task, rows, policy, limit > 0)
            with nogil:
                done = put_records(&task)
            frame.note_seen(&task.seen)
            if not done and task.run.status == HAS_RAISED:
                reraise()
            if not done:
                raise MemoryError  # pragma: no cover: no memory
            for i in range(task.report.faults.size // sizeof(RecordFault)):
                fault = <const RecordFault *>task.report.faults.data + i
                faults.append(LineFault(fault.line, fault.start, fault.stop, codes[fault.code], fault.offset))
            return task.read, Lines(task.written, task.count, task.report.invalid, faults)
        finally:
            end_task(&task)
            if dst is not None:
                PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)


def reason_of(operation, code):
    """Return the error message for a code of transform_fields().

    >>> from uricodec._codec._rows import DecodeRows
    >>> reason_of(DecodeRows(), "utf-8"), reason_of(DecodeRows(), "frame")
    ('invalid UTF-8', 'the result would contain the delimiter')
    """
    if code in operation.code_names:
        return operation.reason(code)
    return FRAME_REASONS[RECORD_NAMES.index(code)]


# --- records as rows ----------------------------------------------------------------------------------------------------

cdef bint take_records(Task *task, bint values, bint stops, Selection *found) noexcept nogil:
    """Append the records of the window. False: out of memory.

    The text of all values is copied at once, so that a record without exactly one has the text of all of its values.
    Quotes that are not closed, in whichever field, contain the rest of the input: the record is not one of the writer's.
    """
    cdef const ReadRecord *records = <const ReadRecord *>task.window.records.data
    cdef const Value *value
    cdef const Value *first = <const Value *>task.window.values.data
    cdef const int64_t *ends = <const int64_t *>task.window.ends.data
    cdef Unselected record
    cdef int64_t before = <int64_t>found.text.size
    cdef size_t i, count, rows = task.window.record_count
    cdef size_t *starts
    cdef int64_t *text_ends
    cdef bint is_open
    if not (grow(&found.starts, rows * sizeof(size_t)) and grow(&found.ends, rows * sizeof(int64_t))
            and append_item(&found.text, task.window.text.data, task.window.text.size)):
        return False  # pragma: no cover: no memory
    starts = <size_t *>(found.starts.data + found.starts.size)
    text_ends = <int64_t *>(found.ends.data + found.ends.size)
    for i in range(rows):
        starts[i] = records[i].next
        found.starts.size += sizeof(size_t)
        value, count = first + records[i].first, records[i + 1].first - records[i].first
        is_open = task.seen.open and i + 1 == rows
        if values and (count != 1 or value.code != READABLE or is_open):
            record.row, record.start, record.offset, record.code = found.count + i, records[i].start, 0, NO_VALUE
            if is_open:
                record.offset, record.code = task.seen.quote, task.frame_codes + BAD_CSV
            elif count == 1:
                record.offset, record.code = value.offset, value.code
            if not append_item(&found.without, &record, sizeof(Unselected)):
                return False  # pragma: no cover: no memory
            if stops:
                rows = i
                break
        text_ends[i] = before + ends[records[i + 1].first]
    found.count += rows
    found.ends.size += rows * sizeof(int64_t)
    return True


cdef bint select_values(const Frame *frame, const uint8_t *src, size_t n, bint values, bint stops,
                        Selection *found) noexcept nogil:
    cdef Task task
    cdef Frame ends_only
    cdef size_t zero = 0
    cdef int64_t none = 0
    cdef bint done
    memset(&task, 0, sizeof(Task))
    task.src, task.n, task.frame = src, n, frame
    if not values:
        ends_only = frame[0]
        ends_only.span_count = 0
        task.frame = &ends_only
    found.count = found.starts.size = found.text.size = found.ends.size = found.without.size = 0
    # Without any bytes in the values, their text must not be NULL all the same: memcpy() and others may not get that.
    done = (grow(&found.text, 1) and append_item(&found.starts, &zero, sizeof(size_t)) and
            append_item(&found.ends, &none, sizeof(int64_t)))
    while done and task.read < n and not (stops and found.without.size):
        done = gather(&task) and take_records(&task, values, stops, found)
        if done:
            task.read = (<const ReadRecord *>task.window.records.data)[task.window.record_count - 1].next
    found.seen = task.seen
    end_task(&task)
    return done


cdef size_t place_in_record(const Frame *frame, const uint8_t *src, size_t n, size_t offset) noexcept nogil:
    cdef Task task
    memset(&task, 0, sizeof(Task))
    task.frame, task.src, task.n = frame, src, n
    if gather(&task):
        offset = place_of(&task, <const ReadRecord *>task.window.records.data,
                          <const Value *>task.window.values.data, offset)
    end_task(&task)
    return offset
