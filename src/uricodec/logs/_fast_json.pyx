"""Most lines of JSON logs, read by marks.

    lines   -> marks                four bitmaps: quotes, brackets outside strings, ends of scalars, what needs care
            -> members              the member that followed last time, if the bytes up to its value are the same;
                                    otherwise the key is searched among those that are known
            -> entry                the values of those that are mapped; the others are passed over by their marks
            -> record               written like those of text logs, by `_fast`

`_programs` defines which lines are records, and which values they have. As in `_fast`, a line about which this module is
not certain is declined, and read there: keys with escapes, a backslash outside a string, anything invalid.
"""
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._kernels cimport ByteSet, kernels, uc_classes, uc_lowest_bit
from uricodec._codec._percent cimport hex_value
from uricodec.logs._fast cimport *
from uricodec.logs._fields cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._texts cimport *

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free


# --- marks ------------------------------------------------------------------------------------------------------------

# The four bitmaps. All have line feeds.
cdef enum:
    STRING_ENDS             # quotes that are not escaped
    BRACKETS                # [ ] { } outside strings, and backslashes there
    SCALAR_ENDS             # , ] } space
    UNUSUAL                 # controls, backslashes, DEL, all beyond ASCII

# The bits of classes.
cdef enum:
    LF = 1, QUOTE = 2, OPEN = 4, CLOSE = 8, BACKSLASH = 16, DEL = 32, CONTROL = 64, COMMA = 128
cdef uc_classes CLASSES_OF_JSON
memset(&CLASSES_OF_JSON, 0, sizeof(CLASSES_OF_JSON))
cdef int nibble
for nibble in range(16):
    CLASSES_OF_JSON.low[nibble] = CONTROL       # 00-1F, 80-FF
CLASSES_OF_JSON.low[0x0] |= COMMA               # a space
CLASSES_OF_JSON.low[0x2] |= QUOTE
CLASSES_OF_JSON.low[0xA] |= LF
CLASSES_OF_JSON.low[0xB] |= OPEN
CLASSES_OF_JSON.low[0xC] |= COMMA | BACKSLASH
CLASSES_OF_JSON.low[0xD] |= CLOSE
CLASSES_OF_JSON.low[0xF] |= DEL
CLASSES_OF_JSON.high[0x0] = CONTROL | LF
CLASSES_OF_JSON.high[0x1] = CONTROL
CLASSES_OF_JSON.high[0x2] = QUOTE | COMMA
CLASSES_OF_JSON.high[0x5] = OPEN | CLOSE | BACKSLASH
CLASSES_OF_JSON.high[0x7] = OPEN | CLOSE | DEL
for nibble in range(8, 16):
    CLASSES_OF_JSON.high[nibble] = CONTROL
CLASSES_OF_JSON.mask[<int>STRING_ENDS] = QUOTE | LF
CLASSES_OF_JSON.mask[<int>BRACKETS] = OPEN | CLOSE | BACKSLASH | LF
CLASSES_OF_JSON.mask[<int>SCALAR_ENDS] = COMMA | CLOSE | LF
CLASSES_OF_JSON.mask[<int>UNUSUAL] = CONTROL | BACKSLASH | DEL

cdef const uint64_t EVEN = 0x5555555555555555


cdef void mark_json(const uint8_t *src, size_t n, uint64_t *marks) noexcept nogil:
    """Mark the bytes of lines in four bitmaps, like `kernels.mark_classes`. A string ends at the line feed at the latest.

    Source: Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019, section 3.1.
    """
    cdef size_t w, words = (n + 63) >> 6
    cdef uint64_t *quote_words = marks + words * <int>STRING_ENDS
    cdef uint64_t *bracket_words = marks + words * <int>BRACKETS
    cdef uint64_t *unusual_words = marks + words * <int>UNUSUAL
    cdef uint64_t quotes, brackets, feeds, backslashes, escaped, after, odd, inside, cut
    cdef uint64_t in_string = 0     # all bits, if the block begins in a string
    cdef uint64_t is_escaped = 0    # 1, if the first byte of the block is
    kernels.mark_classes(src, n, &CLASSES_OF_JSON, marks)
    for w in range(words):
        quotes, brackets = quote_words[w], bracket_words[w]
        feeds = quotes & brackets
        backslashes = brackets & unusual_words[w] & ~feeds
        quotes &= ~feeds
        if backslashes | is_escaped:
            # In a run of backslashes, which begins with one that is not escaped, every second byte is escaped, and the
            # byte after a run of odd length. Adding 1 at the start of a run carries to the byte after it.
            backslashes &= ~is_escaped
            after = backslashes << 1 | is_escaped
            odd = (backslashes & ~EVEN & ~after) + backslashes      # the runs that begin at odd offsets
            is_escaped = odd < backslashes
            escaped = (EVEN ^ odd << 1) & after
            quotes &= ~escaped
        # Every bit becomes the parity of the quotes up to it.
        inside = quotes
        inside ^= inside << 1
        inside ^= inside << 2
        inside ^= inside << 4
        inside ^= inside << 8
        inside ^= inside << 16
        inside ^= inside << 32
        inside ^= in_string
        cut = feeds & inside
        while cut:
            inside ^= ~((cut & (0 - cut)) - 1)
            cut = feeds & inside
        in_string = 0 - (inside >> 63)
        quote_words[w] = quotes | feeds
        bracket_words[w] = brackets & ~inside | feeds


def marks_of(bytes lines):
    """Return the offsets of the bytes in each bitmap. Only for tests.

    >>> marks_of(b'{"a]": 1}')
    ([1, 4], [0, 8], [3, 6, 8], [])
    """
    cdef size_t n = len(lines), i, k
    cdef bytes memory = PyBytes_FromStringAndSize(NULL, ((n + 63) >> 6 << 5) + 1)
    cdef uint64_t *marks = <uint64_t *><char *>memory
    cdef tuple found = ([], [], [], [])
    mark_json(<const uint8_t *><const char *>lines, n, marks)
    for i in range(n):
        for k in range(4):
            if marks[k * (n + 63 >> 6) + i // 64] >> i % 64 & 1:
                (<list>found[k]).append(<Py_ssize_t>i)
    return found


cdef void mark_window(FastRun *run) noexcept nogil:
    """Mark the bytes from run.start on, as many as a window has."""
    cdef size_t size = min(run.n - run.start, <size_t>WINDOW), words = size + 63 >> 6
    cdef int k
    mark_json(run.src + run.start, size, run.marks)
    run.marks[4 * words] = 0
    for k in range(4):
        run.mark[k] = run.marks + <size_t>k * words
    run.window, run.window_end = run.start, run.start + size
    prefetch_window(run)


cdef bint find_end(FastRun *run, size_t *end, size_t *next) noexcept nogil:
    """Find the end of the line at run.start. False: it has none in the window, or less than BLOCK bytes follow."""
    cdef size_t at, w, last
    cdef uint64_t word
    if run.start >= run.window_end or run.start < run.window:
        mark_window(run)
    while True:
        at, last = run.start - run.window, (run.window_end - run.window - 1) >> 6
        w = at >> 6
        word = (run.mark[<int>STRING_ENDS][w] & run.mark[<int>BRACKETS][w]) >> (at & 63) << (at & 63)
        while word == 0 and w < last:
            w += 1
            word = run.mark[<int>STRING_ENDS][w] & run.mark[<int>BRACKETS][w]
        if word:
            break
        if run.start == run.window or run.window_end == run.n:
            return False
        mark_window(run)
    end[0] = run.window + (w << 6) + <size_t>uc_lowest_bit(word)
    next[0] = end[0] + 1
    end[0] -= end[0] > run.start and run.src[end[0] - 1] == c'\r'
    return run.n - next[0] > BLOCK


# --- members ----------------------------------------------------------------------------------------------------------

cdef int set_fast_json(FastJson *json, const Plan *plan, const Writer *w, list kept) except -1:
    """Prepare to read lines of a format. `kept` gets what it points to. free_fast_json() must be called, in any case."""
    json.plan, json.writer = plan, w
    json.known = <Known *>PyMem_Calloc(KNOWN, sizeof(Known))
    json.table = <uint16_t *>PyMem_Calloc(TABLE, sizeof(uint16_t))
    if json.known == NULL or json.table == NULL:
        raise MemoryError  # pragma: no cover: no memory
    forget(json)
    json.writes = set_writing(&json.writing, plan, w, kept)
    json.writing.time = &json.time
    return 0


cdef void free_fast_json(FastJson *json) noexcept:
    PyMem_Free(json.known)
    PyMem_Free(json.table)
    PyMem_Free(json.writing.step)
    PyMem_Free(json.writing.member)
    PyMem_Free(json.writing.filter)
    PyMem_Free(json.writing.extra)
    json.known = NULL


cdef inline void forget(FastJson *json) noexcept nogil:
    """Forget all members."""
    json.count = 1
    expect_nothing(json.known)
    memset(json.table, 0, TABLE * sizeof(uint16_t))


cdef inline size_t skip_spaces(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    while i < end and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r'):
        i += 1
    return i


cdef int member_of(FastJson *json, int parent, const uint8_t *key, size_t n) noexcept nogil:
    """Return the member with a key, which BLOCK bytes follow; 0 if no more can be remembered."""
    cdef uint64_t hash = word_at(key)
    cdef size_t slot
    cdef int k
    cdef Known *known
    if n > KEY_SIZE:
        return 0
    if n < 8:
        hash &= FIRST_BYTES[n]
    else:
        hash ^= word_at(key + n - 8) * <uint64_t>0x9E3779B97F4A7C15
    hash = (hash ^ <uint64_t>n << 56 ^ <uint64_t>parent << 32) * <uint64_t>0xD6E8FEB86659FD93
    slot = hash >> 40 & (TABLE - 1)
    while json.table[slot]:
        k = json.table[slot]
        known = json.known + k
        if known.parent == parent and known.key_n == n and memcmp(known.key, key, n) == 0:
            return k
        slot = slot + 1 & (TABLE - 1)
    if json.count > KNOWN - 2:
        return 0
    k = json.count
    json.count += 1
    json.table[slot] = <uint16_t>k
    remember(json, json.known + k, parent, key, n)
    return k


cdef void remember(FastJson *json, Known *known, int parent, const uint8_t *key, size_t n) noexcept nogil:
    cdef const Node *node = json.plan.node
    cdef const Node *mine
    cdef uint8_t *dst = known.written
    cdef size_t quote = 2 if json.writer.csv else 1, k
    memcpy(known.key, key, n)
    known.key_n, known.parent, known.around, known.enters = n, parent, parent, 0
    known.node = child_of(node, json.known[parent].node, key, n)
    mine = node + known.node
    known.use, known.slot = PASSED_OVER, -1
    expect_nothing(known)
    if known.node and mine.field.slot >= 0:
        known.use, known.slot = SET, mine.field.slot
        if mine.field.kind > DECIMAL or known.slot == PATH or known.slot == DURATION:
            known.use = CHOSEN
        for k in range(json.plan.nodes):
            if k != <size_t>known.node and node[k].field.slot == known.slot:
                known.use = CHOSEN
    elif json.plan.keep_rest and parent == 0:
        known.use = ADDED
    memcpy(dst, b',""', 3)
    memcpy(dst + 1 + quote, key, n)
    dst += 1 + quote + n
    memcpy(dst, b'"":""', 5)
    dst[quote] = c':'
    memset(dst + quote + 1, c'"', 2)
    known.written_n = dst + 2 * quote + 1 - known.written
    if known.node and mine.child:
        known.enters = json.count
        known += 1
        known.node, known.parent, known.around = mine - node, parent, json.count
        expect_nothing(known)
        json.count += 1


# From EXPECTED - n on: the mask of n bytes.
cdef uint8_t ONES_AND_ZEROS[64]
memset(ONES_AND_ZEROS, 0xFF, EXPECTED)
memset(ONES_AND_ZEROS + EXPECTED, 0, EXPECTED)


cdef inline void expect_nothing(Known *known) noexcept nogil:
    """Forget what followed: a line has no line feeds."""
    memset(known.word, c'\n', EXPECTED)
    memset(known.mask, 0xFF, EXPECTED)
    known.n, known.next = 0, known


cdef inline bint follows(const Known *known, const uint8_t *s) noexcept nogil:
    """Return whether what followed a member the last time follows it now. EXPECTED bytes may be loaded."""
    return ((word_at(s) ^ known.word[0]) & known.mask[0] | (word_at(s + 8) ^ known.word[1]) & known.mask[1]
            | (word_at(s + 16) ^ known.word[2]) & known.mask[2] | (word_at(s + 24) ^ known.word[3]) & known.mask[3]) == 0


cdef void expect(Known *known, const uint8_t *s, size_t n, Known *next) noexcept nogil:
    """Remember what followed."""
    if n > EXPECTED:
        return
    memcpy(known.mask, ONES_AND_ZEROS + EXPECTED - n, EXPECTED)
    memcpy(known.word, s, EXPECTED)
    known.n, known.next = n, next


# Characters of numbers, true, false and null, as in read_object().
cdef ByteSet IN_SCALAR = ByteSet("+-.E0123456789abcdefghijklmnopqrstuvwxyz")


cdef inline size_t end_of_nested(const uint8_t *s, const uint64_t *brackets, size_t i, size_t end) noexcept nogil:
    """Return the end of the object or array that starts at i; a larger number than `end` if it does not end, or has a
    backslash outside strings."""
    cdef size_t depth = 0
    while True:
        i = next_mark(brackets, i)
        if i >= end or not s[i] & 1:        # a backslash: the bits of brackets are 1011 and 1101
            return end + 1
        if s[i] & 2:
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1


cdef Known *find_member(FastJson *json, const Known *member, bint care, const FastRun *run, size_t end, size_t *offset) noexcept nogil:
    """Find the member that follows another one, and the offset of its value. NULL: there is none, and `offset` is the end
    of the line's object; or the line is declined, and it is a larger number than `end`."""
    cdef const uint8_t *s = run.src + run.window
    cdef size_t i = offset[0], at, stop
    cdef int parent = member.around, k
    cdef bint is_first = member == json.known + parent
    offset[0] = end + 1
    while True:
        i = skip_spaces(s, i, end)
        if i >= end or s[i] != c'}':
            break
        i += 1
        if parent == 0:
            offset[0] = i
            return NULL
        parent = json.known[parent].parent
        is_first = False
    if not is_first:
        if i >= end or s[i] != c',':
            return NULL
        i = skip_spaces(s, i + 1, end)
    if i >= end or s[i] != c'"':
        return NULL
    at = i + 1
    stop = next_mark(run.mark[<int>STRING_ENDS], at)
    if stop >= end or care and next_mark(run.mark[<int>UNUSUAL], at) < stop:
        return NULL
    i = skip_spaces(s, stop + 1, end)
    if i >= end or s[i] != c':':
        return NULL
    k = member_of(json, parent, s + at, stop - at)
    if k == 0:
        return NULL
    offset[0] = skip_spaces(s, i + 1, end)
    return json.known + k


cdef const uint64_t LOW = 0x0101010101010101       # the lowest bit of each byte


cdef inline bint is_scalar(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether all bytes may be in a number, true, false or null. 8 bytes after them may be loaded."""
    cdef size_t i = 0
    cdef uint64_t word
    while n - i > 8 and of_digits(word_at(s + i)):
        i += 8
    if n - i <= 8:
        word = (word_at(s + i) ^ LOW * c'0') & FIRST_BYTES[n - i] ^ LOW * c'0'
        if of_digits(word):
            return True
    while i < n and IN_SCALAR.set.member[s[i]]:
        i += 1
    return i == n


cdef inline bint of_digits(uint64_t word) noexcept nogil:
    """Return whether 8 bytes are digits, "-" or "."."""
    cdef uint64_t slash = word ^ LOW * c'/', high = LOW * 0x80
    return (word | word + LOW * (0x7F - c'9') | ~((word | high) - LOW * c'-') | (slash - LOW) & ~slash) & high == 0


cdef bint read_members(FastJson *json, const FastRun *run, size_t i, size_t end, Entry *entry) noexcept nogil:
    """Read the object that starts at i, and ends before `end`. False: it is declined.

    Offsets come from marks alone: another thread may change the bytes meanwhile.
    """
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *quotes = run.mark[<int>STRING_ENDS]
    cdef const uint64_t *unusual = run.mark[<int>UNUSUAL]
    cdef Known *known = json.known
    cdef Known *member = known
    cdef Known *before
    cdef size_t start, stop, at
    cdef Use use
    cdef bint care = next_mark(unusual, i) < end
    if care and memchr(s + i, 0x1B, end - i) != NULL:      # a color, which is removed first
        return False
    i += 1
    while True:
        if follows(member, s + i):
            i += member.n
            member = member.next
        else:
            start, before = i, member
            member = find_member(json, before, care, run, end, &i)
            if member == NULL:
                return i <= end and skip_spaces(s, i, end) == end
            expect(before, s + start, i - start, member)
        if i >= end:
            return False
        use = member.use
        if s[i] == c'"':
            at = i + 1
            stop = next_mark(quotes, at)
            i = stop + 1
        elif s[i] == c'{' and member.enters:
            member = known + member.enters
            i += 1
            continue
        elif s[i] == c'{' or s[i] == c'[':
            start = i
            i = end_of_nested(s, run.mark[<int>BRACKETS], i, end)
            if i > end:
                return False
            if not (member.slot >= 0 and s[start] == c'['):
                continue
            at = skip_spaces(s, start + 1, end)
            if at >= end or s[at] != c'"':
                continue
            at += 1         # the first text of an array
            stop = next_mark(quotes, at)
        else:
            at = i
            i = stop = next_mark(run.mark[<int>SCALAR_ENDS], i)
            if stop == at or stop >= end or not is_scalar(s + at, stop - at):
                return False
            if stop - at == 4 and memcmp(s + at, b"null", 4) == 0:
                continue
        # A string that is not closed ends after the line, where no member follows.
        if use == PASSED_OVER:
            continue
        if use == SET:
            if stop - at > 1 or stop > at and s[at] != c'-':
                entry.text[member.slot].at, entry.text[member.slot].n = s + at, stop - at
        elif use == CHOSEN:
            set_value(json.plan.node + member.node, entry, s + at, stop - at)
        else:
            if entry.extras < EXTRAS:
                json.extra[entry.extras] = member - known
            add_extra(entry, text_of(member.key, member.key_n), s + at, stop - at)
        if care and next_mark(unusual, at) < stop:
            entry.plain = False


cdef inline size_t before_object(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of what another program wrote before the object; n if this module does not read the line."""
    cdef size_t size
    if s[4] == c'-' or s[3] == c' ' and s[6] == c' ' or s[0] != c'{':
        size = skip_prefix(SYSLOG, s, n)
        if size == 0:
            size = skip_prefix(CRI, s, n)
        if size == 0 and s[0] != c'{':
            return n
        return size
    return n if memcmp(s, b'{"log":', 7) == 0 and s[skip_spaces(s, 7, n)] == c'"' else 0    # of Docker


cdef bint read_fast_json(FastJson *json, FastRun *run, Entry *entry, FastRecord *record) noexcept nogil:
    """Read the line at run.start, all but its request. False: it is declined."""
    cdef const uint8_t *s
    cdef size_t size, i, k
    if not find_end(run, &record.end, &record.next):
        return False
    s, size = run.src + run.start, record.end - run.start
    if size > run.max_line or size < SHORTEST:
        return False
    i = before_object(s, size)
    k = run.start - run.window + i
    # If the prefix has a quote that is not closed, the object is in a string.
    if i >= size or s[i] != c'{' or not run.mark[<int>BRACKETS][k >> 6] >> (k & 63) & 1:
        return False
    if json.count > KNOWN - 2:
        forget(json)
    clear(entry, run.room)
    entry.extras, entry.keys, entry.key = json.plan.extras, json.plan.extras, json.plan.key
    for k in range(json.plan.extras):
        entry.text[MEMBERS + k] = text_of(NULL, 0)
        entry.name[k] = json.plan.name[k]
    memset(entry.rank, 0, (MEMBERS + json.plan.extras) * sizeof(uint16_t))
    k = run.start - run.window
    return (read_members(json, run, k + i, k + size, entry)
            and finish_fields(json.plan, s, size, entry))


# --- lines of Docker --------------------------------------------------------------------------------------------------

cdef bint read_docker(FastRun *run, uint8_t *memory, FastRun *inner, size_t *next) noexcept nogil:
    """Make the line in the text "log" of the line at run.start the one of `inner`. False: it is declined.

    See docker_line(). `memory` has the capacity of the line, and EXTRA_CAPACITY.
    """
    cdef const uint8_t *s
    cdef uint8_t *dst = memory
    cdef size_t end, stop, i, at
    if not find_end(run, &end, next):
        return False
    i, s = run.start - run.window, run.src + run.window
    end -= run.window
    if end - i > run.max_line or end - i < SHORTEST or memcmp(s + i, b'{"log":"', 8) != 0:
        return False
    i += 8
    stop = next_mark(run.mark[<int>STRING_ENDS], i)
    if stop >= end:
        return False
    at = i
    while True:
        at = min(next_mark(run.mark[<int>UNUSUAL], at), stop)
        if at < stop and s[at] != c'\\':
            at += 1
            continue
        dst = copy_blocks(s + i, at - i, dst)
        if at == stop:
            break
        i = at + 2
        if s[at + 1] == c'"' or s[at + 1] == c'\\' or s[at + 1] == c'/':
            dst[0] = s[at + 1]
            dst += 1
        elif s[at + 1] == c'n' and i == stop:
            dst[0] = c'\n'
            dst += 1
        elif s[at + 1] == c'u' and stop - at >= 6 and s[at + 2] == c'0':     # no surrogate
            for i in range(at + 3, at + 6):
                if hex_value(s[i]) < 0:
                    return False
            i = at + 6
            dst += json_text(s + at, 6, dst)
        else:
            return False
        at = i
    stop = dst - memory
    if stop and memory[stop - 1] == c'\n':
        stop -= 1
    if stop and memory[stop - 1] == c'\r':
        stop -= 1
    # What precedes a line in this text is not skipped.
    s = memory
    if stop < SHORTEST or s[0] == c'<' or s[4] == c'-' or s[3] == c' ' and s[6] == c' ':
        return False
    memory[stop] = c'\n'
    memset(memory + stop + 1, 0, BLOCK + 1)
    inner.src, inner.n, inner.start, inner.window, inner.window_end = memory, stop + BLOCK + 2, 0, 0, 0
    inner.max_line, inner.room = run.max_line, run.room
    return True


# --- records ----------------------------------------------------------------------------------------------------------

cdef int set_writing(FastPlan *fast, const Plan *plan, const Writer *w, list kept) except -1:
    """Compile how records are written: a field's value has the number of its slot. 0: they are written one by one."""
    cdef int slot
    cdef int of_slot[SLOTS]
    if MEMBERS + plan.extras > MOST_STEPS or plan.members >> DATE & 1:
        return 0
    fast.plan, fast.steps = plan, MOST_STEPS
    fast.step = <FastStep *>PyMem_Calloc(MOST_STEPS + 1, sizeof(FastStep))
    fast.member = <FastMember *>PyMem_Calloc(w.fields + 1, sizeof(FastMember))
    fast.extra = <FastMember *>PyMem_Calloc(2 * MOST_STEPS, sizeof(FastMember))
    if fast.step == NULL or fast.member == NULL or fast.extra == NULL:
        raise MemoryError  # pragma: no cover: no memory
    for slot in range(SLOTS):
        of_slot[slot] = slot if slot < MEMBERS + <int>plan.extras and (slot >= MEMBERS or plan.members >> slot & 1) else -1
        if slot < MEMBERS:
            fast.step_of[slot] = of_slot[slot]
        if slot == FORWARDED_FOR and of_slot[slot] >= 0 and w.forwarded:
            of_slot[CLIENT] = fast.step_of[CLIENT] = CLIENT
        if REQUEST <= slot <= PROTOCOL:
            fast.has_request |= of_slot[slot] >= 0
    fast.step[<int>STATUS].work = fast.step[<int>BYTES_SENT].work = IS_NUMBER
    fast.step[<int>DURATION].work = IS_DECIMAL
    if not set_members(fast, w, of_slot, kept):
        return 0
    memcpy(fast.extra + MOST_STEPS, fast.extra, plan.extras * sizeof(FastMember))
    for slot in range(2 * MOST_STEPS):
        fast.extra[slot].value = MASKED_VALUE if w.masked != NULL else EXTRA_VALUE
    return 1


cdef bint read_usual_request(const Entry *entry, FastRun *run, FastRecord *record) noexcept nogil:
    """Read a request in one piece, or a target that begins with a slash. False: it has another form.

    The marks of `run` become those of the text.
    """
    cdef bint whole = entry.text[TARGET].at == NULL
    cdef Text text = entry.text[REQUEST] if whole else entry.text[TARGET]
    cdef const uint64_t *marks
    cdef size_t at, words = (text.n >> 6) + 1
    cdef int k
    if text.at == NULL or text.n == 0 or text.n >= WINDOW - 64 or entry.decoded:
        return False
    if whole:
        if entry.text[METHOD].at != NULL or entry.text[PATH].at != NULL or entry.text[PROTOCOL].at != NULL:
            return False
    elif entry.text[REQUEST].at != NULL or text.at[0] != c'/':
        return False
    run.src, run.n, run.start, run.window = text.at, text.n, 0, 0
    # The byte after the text is marked, too: as its end.
    kernels.mark_classes(text.at, text.n + 1, &CLASSES, run.marks)
    run.marks[4 * words] = 0
    for k in range(4):
        run.mark[k] = run.marks + <size_t>k * words
        run.marks[k * words + (text.n >> 6)] |= <uint64_t>1 << (text.n & 63)
    marks = run.mark[<int>DELIMITERS]
    if whole:
        return split_usual(text, run, record)
    at = next_mark(marks, 0)
    record.plain = True
    while at < text.n and text.at[at] != c'?':
        if text.at[at] == c'%':
            record.plain = False
        at = next_mark(marks, at + 1)
    record.value[METHOD_AT], record.value[TARGET_AT], record.value[PROTOCOL_AT] = entry.text[METHOD], text, entry.text[PROTOCOL]
    record.value[PATH_AT] = text_of(text.at, min(at, text.n))
    record.value[QUERY_AT] = text_of(text.at + at + 1, text.n - at - 1) if at < text.n else text_of(NULL, 0)
    return True


cdef void read_other_request(Entry *entry, FastRecord *record) noexcept nogil:
    cdef Text path
    read_request(entry)
    path = entry.text[PATH]
    memcpy(record.value + METHOD_AT, entry.text + METHOD, 5 * sizeof(Text))
    record.decoded, record.whole, record.usual = entry.decoded, entry.whole, False
    record.plain = path.at == NULL or memchr(path.at, c'%', path.n) == NULL


cdef bint set_fast_record(FastJson *json, FastRun *request, Entry *entry, FastRecord *record) noexcept nogil:
    """Complete the record of a line that read_fast_json() has read, so that it is written like those of `_fast`.

    False: it has to be written from the entry, whose request is still to be read. `request` is a run of its own, for the
    marks of the request.
    """
    cdef FastPlan *fast = &json.writing
    cdef FastMember *extra = fast.extra
    cdef Text time = entry.text[TIME]
    cdef Known *known
    cdef size_t k
    if not (json.writes and entry.plain and MEMBERS + entry.extras <= MOST_STEPS):
        return False
    if entry.text[DURATION].at != NULL and (entry.unit != json.plan.duration_unit or not is_decimal(entry.text[DURATION])):
        return False
    memcpy(record.value, entry.text, (MEMBERS + entry.extras) * sizeof(Text))
    for k in range(entry.extras):
        if entry.text[MEMBERS + k].at == NULL:
            continue
        if k < json.plan.extras:
            extra[0] = fast.extra[MOST_STEPS + k]
        else:
            known = json.known + json.extra[k]
            extra.key, extra.n, extra.name = known.written, known.written_n, text_of(known.key, known.key_n)
        extra.at = <int>(MEMBERS + k)
        extra += 1
    fast.extras = extra - fast.extra
    if time.at != NULL and not (time.n == json.time.n and is_known_time(&json.time, time.at)):
        know_time(&json.time, time.at, time.n)
    record.known_time = time.at if json.time.n else NULL
    record.plan = fast
    record.dropped = json.writer.filters > 0 and not keeps(json.writer, record, False)
    if fast.reads_request and not record.dropped:
        record.decoded = record.whole = False
        record.usual = True
        if not read_usual_request(entry, request, record):
            read_other_request(entry, record)
        record.dropped = json.writer.filters > 0 and not keeps(json.writer, record, True)
    return True
