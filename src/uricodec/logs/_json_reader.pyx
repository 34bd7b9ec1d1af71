"""Lines of JSON, read by marks.

    lines   -> marks                four bitmaps: quotes, brackets outside strings, ends of scalars, what needs care
            -> members              the member that followed last time, if the bytes up to its value are the same;
                                    otherwise the key is searched among those that are known
            -> record               the values of those that are mapped; the others are passed over by their marks

`_programs` defines which lines are records, and which values they have. As in `_text_reader`, a line about which this
module is not certain is declined, and read there: keys with escapes, a backslash outside a string, anything invalid.
"""
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._cpython cimport PyBytes_FromStringAndSize, PyMem_Calloc, PyMem_Free
from uricodec._base._kernels cimport ByteSet, kernels, uc_classes, uc_lowest_bit
from uricodec.logs._fields cimport *
from uricodec.logs._line cimport *
from uricodec.logs._marks cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._text_reader cimport CLASSES, read_other_request, split_usual, split_usual_target
from uricodec.logs._wrapping cimport TIMESTAMP, is_of_docker, prefix_of, skip_words, time_before
from uricodec.logs._writing cimport keeps, know_time


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

cdef void mark_json(const uint8_t *src, size_t n, uint64_t *marks) noexcept nogil:
    """Mark the bytes of lines in four bitmaps, like `kernels.mark_classes`. A string ends at the line feed at the latest.

    Source: Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019, section 3.1.
    """
    cdef size_t w, words = (n + 63) >> 6
    cdef uint64_t *quote_words = marks + words * <int>STRING_ENDS
    cdef uint64_t *bracket_words = marks + words * <int>BRACKETS
    cdef uint64_t *unusual_words = marks + words * <int>UNUSUAL
    cdef uint64_t quotes, brackets, feeds, backslashes, inside, cut
    cdef uint64_t in_string = 0     # all bits, if the block begins in a string
    cdef uint64_t is_escaped = 0    # 1, if the first byte of the block is
    kernels.mark_classes(src, n, &CLASSES_OF_JSON, marks)
    for w in range(words):
        quotes, brackets = quote_words[w], bracket_words[w]
        feeds = quotes & brackets
        backslashes = brackets & unusual_words[w] & ~feeds
        quotes &= ~feeds
        if backslashes | is_escaped:
            quotes &= ~escaped_bytes(backslashes, &is_escaped)
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


cdef void mark_window(Marked *marked) noexcept nogil:
    """Mark the bytes from marked.start on, as many as a window has."""
    cdef size_t size = min(marked.n - marked.start, <size_t>WINDOW), words = size + 63 >> 6
    cdef int k
    mark_json(marked.src + marked.start, size, marked.marks)
    marked.marks[4 * words] = 0
    for k in range(4):
        marked.mark[k] = marked.marks + <size_t>k * words
    marked.window, marked.window_end = marked.start, marked.start + size
    prefetch_window(marked)


cdef bint find_end(Marked *marked, size_t *end, size_t *next) noexcept nogil:
    """Find the end of the line at marked.start. False: it has none in the window, or less than BLOCK bytes follow."""
    cdef size_t at, w, last
    cdef uint64_t word
    if marked.start >= marked.window_end or marked.start < marked.window:
        mark_window(marked)
    while True:
        at, last = marked.start - marked.window, (marked.window_end - marked.window - 1) >> 6
        w = at >> 6
        word = (marked.mark[<int>STRING_ENDS][w] & marked.mark[<int>BRACKETS][w]) >> (at & 63) << (at & 63)
        while word == 0 and w < last:
            w += 1
            word = marked.mark[<int>STRING_ENDS][w] & marked.mark[<int>BRACKETS][w]
        if word:
            break
        if marked.start == marked.window or marked.window_end == marked.n:
            return False
        mark_window(marked)
    end[0] = marked.window + (w << 6) + <size_t>uc_lowest_bit(word)
    next[0] = end[0] + 1
    end[0] -= end[0] > marked.start and marked.src[end[0] - 1] == c'\r'
    return marked.n - next[0] > BLOCK


# --- members ----------------------------------------------------------------------------------------------------------

cdef int set_json_reader(JsonReader *reader, const Variant *variant, const Writer *w) except -1:
    """Prepare to read lines of a format. free_json_reader() must be called, in any case."""
    reader.variant, reader.writer = variant, w
    reader.known = <Known *>PyMem_Calloc(KNOWN, sizeof(Known))
    reader.table = <uint16_t *>PyMem_Calloc(TABLE, sizeof(uint16_t))
    if reader.known == NULL or reader.table == NULL:
        raise MemoryError  # pragma: no cover: no memory
    forget(reader)
    return 0


cdef void free_json_reader(JsonReader *reader) noexcept:
    PyMem_Free(reader.known)
    PyMem_Free(reader.table)
    reader.known = NULL


cdef inline void forget(JsonReader *reader) noexcept nogil:
    """Forget all members."""
    reader.count = 1
    expect_nothing(reader.known)
    memset(reader.table, 0, TABLE * sizeof(uint16_t))


cdef inline size_t skip_spaces(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    while i < end and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r'):
        i += 1
    return i


cdef int member_of(JsonReader *reader, int parent, const uint8_t *key, size_t n) noexcept nogil:
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
    while reader.table[slot]:
        k = reader.table[slot]
        known = reader.known + k
        if known.parent == parent and known.key_n == n and memcmp(known.key, key, n) == 0:
            return k
        slot = slot + 1 & (TABLE - 1)
    if reader.count > KNOWN - 2:
        return 0
    k = reader.count
    reader.count += 1
    reader.table[slot] = <uint16_t>k
    remember(reader, reader.known + k, parent, key, n)
    return k


cdef void remember(JsonReader *reader, Known *known, int parent, const uint8_t *key, size_t n) noexcept nogil:
    cdef const Node *node = reader.variant.plan.node
    cdef const Node *mine
    cdef uint8_t *dst = known.written
    cdef size_t quote = 2 if reader.writer.csv else 1, k
    memcpy(known.key, key, n)
    known.key_n, known.parent, known.around, known.enters = n, parent, parent, 0
    known.node = child_of(node, reader.known[parent].node, key, n)
    mine = node + known.node
    known.use, known.slot = PASSED_OVER, -1
    expect_nothing(known)
    if known.node and mine.field.slot >= 0:
        known.use, known.slot = SET, mine.field.slot
        if mine.field.kind > DECIMAL or known.slot == PATH or known.slot == DURATION:
            known.use = CHOSEN
        for k in range(reader.variant.plan.nodes):
            if k != <size_t>known.node and node[k].field.slot == known.slot:
                known.use = CHOSEN
    elif reader.variant.plan.keep_rest and parent == 0:
        known.use = ADDED
    memcpy(dst, b',""', 3)
    memcpy(dst + 1 + quote, key, n)
    dst += 1 + quote + n
    memcpy(dst, b'"":""', 5)
    dst[quote] = c':'
    memset(dst + quote + 1, c'"', 2)
    known.written_n = dst + 2 * quote + 1 - known.written
    if known.node and mine.child:
        known.enters = reader.count
        known += 1
        known.node, known.parent, known.around = mine - node, parent, reader.count
        expect_nothing(known)
        reader.count += 1


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


cdef Known *find_member(JsonReader *reader, const Known *member, bint care, const Marked *marked, size_t end,
                        size_t *offset) noexcept nogil:
    """Find the member that follows another one, and the offset of its value. NULL: there is none, and `offset` is the end
    of the line's object; or the line is declined, and it is a larger number than `end`."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef size_t i = offset[0], at, stop
    cdef int parent = member.around, k
    cdef bint is_first = member == reader.known + parent
    offset[0] = end + 1
    while True:
        i = skip_spaces(s, i, end)
        if i >= end or s[i] != c'}':
            break
        i += 1
        if parent == 0:
            offset[0] = i
            return NULL
        parent = reader.known[parent].parent
        is_first = False
    if not is_first:
        if i >= end or s[i] != c',':
            return NULL
        i = skip_spaces(s, i + 1, end)
    if i >= end or s[i] != c'"':
        return NULL
    at = i + 1
    stop = next_mark(marked.mark[<int>STRING_ENDS], at)
    if stop >= end or care and next_mark(marked.mark[<int>UNUSUAL], at) < stop:
        return NULL
    i = skip_spaces(s, stop + 1, end)
    if i >= end or s[i] != c':':
        return NULL
    k = member_of(reader, parent, s + at, stop - at)
    if k == 0:
        return NULL
    offset[0] = skip_spaces(s, i + 1, end)
    return reader.known + k


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


cdef bint read_members(JsonReader *reader, const Marked *marked, size_t i, size_t end, Record *record) noexcept nogil:
    """Read the object that starts at i, and ends before `end`. False: it is declined.

    Offsets come from marks alone: another thread may change the bytes meanwhile.
    """
    cdef const uint8_t *s = marked.src + marked.window
    cdef const uint64_t *quotes = marked.mark[<int>STRING_ENDS]
    cdef const uint64_t *unusual = marked.mark[<int>UNUSUAL]
    cdef Known *known = reader.known
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
            member = find_member(reader, before, care, marked, end, &i)
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
            i = end_of_nested(s, marked.mark[<int>BRACKETS], i, end)
            if i > end:
                return False
            if s[start] == c'[' and member.node and reader.variant.plan.node[member.node].is_list:
                read_list(reader.variant.plan, member.node, s, start, i, not care, record)
                record.plain &= not care
            if not (member.slot >= 0 and s[start] == c'['):
                continue
            at = skip_spaces(s, start + 1, end)
            if at >= end or s[at] != c'"':
                continue
            at += 1         # the first text of an array
            stop = next_mark(quotes, at)
        else:
            at = i
            i = stop = next_mark(marked.mark[<int>SCALAR_ENDS], i)
            if stop == at or stop >= end or not is_scalar(s + at, stop - at):
                return False
            if stop - at == 4 and memcmp(s + at, b"null", 4) == 0:
                continue
        # A string that is not closed ends after the line, where no member follows.
        if use == PASSED_OVER:
            continue
        if use == SET:
            if stop - at > 1 or stop > at and s[at] != c'-':
                record.text[member.slot].at, record.text[member.slot].n = s + at, stop - at
        elif use == CHOSEN:
            set_value(reader.variant.plan.node + member.node, record, s + at, stop - at)
        else:
            add_extra(record, text_of(member.key, member.key_n), text_of(member.written, member.written_n), s + at, stop - at)
        if care and next_mark(unusual, at) < stop:
            record.plain = False
            record.special |= bit_of(member.slot) if use != ADDED else EXTRA_BIT


cdef inline size_t before_object(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of what another program wrote before the object; n if this module does not read the line."""
    cdef size_t size = 0
    if s[0] == c'{':
        return n if is_of_docker(s, n) else 0
    if s[4] == c'/':        # Caddy's console, which has the time
        return n
    size = prefix_of(s, n)
    if size == 0:
        size = skip_words(TIMESTAMP, s, n)
    return size if size else n


# --- lines ------------------------------------------------------------------------------------------------------------

cdef bint read_usual_request(Marked *marked, Record *record) noexcept nogil:
    """Read a request in one piece, or a target. False: it has another form.

    The marks of `marked` become those of the text.
    """
    cdef bint whole = record.text[<int>TARGET].at == NULL
    cdef Text text = record.text[<int>REQUEST] if whole else record.text[<int>TARGET]
    cdef size_t words = (text.n >> 6) + 1
    cdef int k
    if text.at == NULL or text.n == 0 or text.n >= WINDOW - 64 or record.decoded:
        return False
    if whole:
        if record.text[<int>METHOD].at != NULL or record.text[<int>PATH].at != NULL or record.text[<int>PROTOCOL].at != NULL:
            return False
    elif record.text[<int>REQUEST].at != NULL:
        return False
    marked.src, marked.n, marked.start, marked.window = text.at, text.n, 0, 0
    # The byte after the text is marked, too: as its end.
    kernels.mark_classes(text.at, text.n + 1, &CLASSES, marked.marks)
    marked.marks[4 * words] = 0
    for k in range(4):
        marked.mark[k] = marked.marks + <size_t>k * words
        marked.marks[k * words + (text.n >> 6)] |= <uint64_t>1 << (text.n & 63)
    if not whole:
        return split_usual_target(0, text.n, marked, record)
    if split_usual(text, marked, record):
        return True
    record.text[<int>METHOD] = record.text[<int>TARGET] = record.text[<int>PROTOCOL] = text_of(NULL, 0)
    return False


cdef void finish_line(JsonReader *reader, Record *record) noexcept nogil:
    """Split the request, and find out whether the record meets the conditions."""
    cdef KnownTime *known = reader.variant.time
    cdef Text time = record.text[<int>TIME]
    cdef bint has_filters = reader.writer.filters > 0
    record.variant, record.marked = reader.variant, &reader.request
    spread_special(record)
    if time.at != NULL and record.text[<int>DATE].at == NULL:
        if not (time.n == known.n and is_known_time(known, time.at)):
            know_time(known, time.at, time.n)
        record.known_time = time.at if known.n else NULL
    record.is_dropped = has_filters and not keeps(reader.writer, record, False)
    if record.variant.reads_request and not record.is_dropped:
        record.is_marked = not record.special & REQUEST_BITS and read_usual_request(&reader.request, record)
        if not record.is_marked:
            read_other_request(record)
        record.is_dropped = has_filters and not keeps(reader.writer, record, True)


cdef bint read_json_line(JsonReader *reader, Marked *marked, Record *record) noexcept nogil:
    """Read the line at marked.start. False: it is declined."""
    cdef const Plan *plan = reader.variant.plan
    cdef const uint8_t *s
    cdef size_t size, i, k
    if not find_end(marked, &record.end, &record.next):
        return False
    s, size = marked.src + marked.start, record.end - marked.start
    if size > marked.max_line or size < SHORTEST:
        return False
    i = before_object(s, size)
    k = marked.start - marked.window + i
    # If the prefix has a quote that is not closed, the object is in a string.
    if i >= size or s[i] != c'{' or not marked.mark[<int>BRACKETS][k >> 6] >> (k & 63) & 1:
        return False
    if reader.count > KNOWN - 2:
        forget(reader)
    clear(record, marked.room)
    record.extras = plan.extras
    for k in range(plan.extras):
        record.text[MEMBERS + k], record.own_name[k], record.own_key[k] = text_of(NULL, 0), plan.name[k], reader.variant.key[k]
    memset(record.rank, 0, (MEMBERS + plan.extras) * sizeof(uint16_t))
    k = marked.start - marked.window
    if not (read_members(reader, marked, k + i, k + size, record) and finish_fields(plan, s, size, record)):
        return False
    if i and record.text[<int>TIME].at == NULL:
        record.text[<int>TIME] = time_before(s, i)
    finish_line(reader, record)
    return True
