"""Most lines of text logs, read and written at once.

A line of an access log is mostly printable ASCII without a backslash, with the quotes that the format has, a usual time and
a usual request. Such a line is read from marks and written without a call per field:

    lines   -> marks                two bitmaps, by kernels: spaces; quotes, line ends and all bytes that need care
            -> where fields end     the next mark, if the literal that the format has stands there
            -> record               constants joined in advance, and copies of 32 bytes

`_programs` and `_records` define what a record is. This module never decides otherwise: where a line is not of this kind it
declines, and they read the line. Only then is it an error, too. A line is declined before any of its bytes count as written.
"""
from libc.stdint cimport uint32_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit
from uricodec._codec._percent cimport is_plain
from uricodec.logs._fields cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._texts cimport *

from cpython.mem cimport PyMem_Calloc, PyMem_Free


cdef ByteSet PRINTABLE = ByteSet(range(0x20, 0x7F))
cdef ByteSet COMMON = PRINTABLE - '"\\'     # all other bytes are marked
cdef ByteSet NO_SPACE = ByteSet(range(0x100)) - " "
cdef ByteSet TOKEN = ByteSet("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")  # RFC 9110 5.6.2
cdef ByteSet IN_TIME = ByteSet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/: +-")
cdef ByteSet DIGITS = ByteSet("0123456789")

cdef enum:
    MOST_STEPS = 48
    MOST_QUOTES = 64
    TIME_SIZE = 26      # "01/Jan/2025:12:00:00 +0000"
    MINUTE = 18         # its bytes up to the seconds,
    ZONE = 20           # and where its zone starts
    WRITTEN_TIME = 25
    BLOCK = 32          # bytes that a copy may load and store after the end of a text


cdef inline uint8_t *copy(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy n bytes in blocks. Up to BLOCK - 1 bytes after both ends are touched: see `is_writable` for why they may be."""
    cdef size_t i = 0
    while i < n:
        memcpy(dst + i, src + i, BLOCK)
        i += BLOCK
    return dst + n


cdef inline size_t next_mark(const uint64_t *marks, size_t at, size_t end) noexcept nogil:
    """Return the offset of the first bit that is set, from `at` on; `end` if there is none before it."""
    cdef size_t w = at >> 6
    cdef uint64_t word
    if at >= end:
        return end
    word = marks[w] >> (at & 63) << (at & 63)
    while word == 0:
        w += 1
        if w << 6 >= end:
            return end
        word = marks[w]
    at = (w << 6) + <size_t>uc_lowest_bit(word)
    return at if at < end else end


cdef inline uint64_t word_at(const uint8_t *s) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, s, 8)
    return word


cdef inline bint stands_at(const uint8_t *s, size_t i, size_t n, const FastLiteral *literal) noexcept nogil:
    """Return whether a literal stands at an offset i <= n of a line s[:n], after which BLOCK bytes may be loaded."""
    if n - i < literal.n or word_at(s + i) & literal.mask != literal.word:
        return False
    return literal.n <= 8 or memcmp(s + i, literal.at, literal.n) == 0


cdef FastLiteral literal_of(const uint8_t *at, size_t n) noexcept:
    cdef FastLiteral literal
    cdef uint8_t mask[8]
    cdef uint8_t start[8]
    memset(mask, 0, 8)
    memset(start, 0, 8)
    memset(mask, 0xFF, min(n, <size_t>8))
    memcpy(start, at, min(n, <size_t>8))
    literal.at, literal.n, literal.word, literal.mask = at, n, word_at(start), word_at(mask)
    return literal


# --- plans ------------------------------------------------------------------------------------------------------------

cdef bint set_step(FastPlan *fast, size_t k) noexcept:
    """Set how the end of a field is found. False: its lines are read one by one."""
    cdef const Plan *plan = fast.plan
    cdef const Step *step = plan.step + k
    cdef FastStep *mine = fast.step + k
    cdef size_t i
    cdef bint last = k + 1 == plan.steps
    mine.step, mine.literal = step, literal_of(step.literal, step.n)
    mine.number, mine.decimal, mine.endpoint = step.kind == NUMBER, step.kind == DECIMAL, step.kind == ENDPOINT
    mine.space = step.n > 0 and step.literal[0] == c' '
    if step.kind > ENDPOINT or step.n == 0 and not last:
        return False
    if step.take == QUOTED:
        mine.take = TO_QUOTE
        return step.n > 0 and step.literal[0] == c'"'
    if step.take == WORD:
        mine.take = TO_SPACE if mine.space or step.n == 0 else TO_BYTE
        return True
    if step.take == LIST:
        mine.take = TO_LIST_END
        return step.n > 0
    if step.take == TEXT_BEFORE_TIME:
        # Its end is the last literal before the end of the time. If the time has its usual form, which does not contain the
        # literal, that is the first one.
        mine.take = TO_SPACE
        if not mine.space or step[1].take != TIME_TEXT or step[1].n == 0 or IN_TIME.set.member[step[1].literal[0]]:
            return False
        for i in range(step.n):
            if not IN_TIME.set.member[step.literal[i]]:
                return True
        return False
    if step.take == TIME_TEXT:
        mine.take = FIXED_TIME if step.n > 0 and not IN_TIME.set.member[step.literal[0]] else OTHER_TIME
        mine.usual = k > 0 and (step - 1).take == TEXT_BEFORE_TIME
        return True
    mine.take = TO_SPACE if step.n == 0 or step.n == 1 and mine.space else TO_LITERAL
    return True


cdef bint add_member(FastPlan *fast, bytes key, FastValue value, int step):
    cdef FastMember *member = fast.member + fast.members
    cdef const uint8_t *text = key
    if len(key) > KEY_CAPACITY:
        return False
    memcpy(member.key, text, len(key))
    member.n, member.value, member.step = len(key), value, step
    fast.members += 1
    return True


# The members in the order of NAMES, and the slots that they have.
cdef int SLOT_OF[15]
SLOT_OF = [CLIENT, USER, TIME, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT, VHOST, DURATION,
           FORWARDED_FOR]
cdef FastValue VALUE_OF[15]
VALUE_OF = [PLAIN_VALUE, PLAIN_VALUE, TIME_VALUE, METHOD_VALUE, TARGET_VALUE, PATH_VALUE, QUERY_VALUE, PROTOCOL_VALUE, NUMBER_VALUE,
            NUMBER_VALUE, PLAIN_VALUE, PLAIN_VALUE, PLAIN_VALUE, SECONDS_VALUE, ADDRESSES_VALUE]
# What a format may have of a request, which becomes method, target, path, query and protocol.
cdef int PART_SLOTS[PARTS]
PART_SLOTS = [REQUEST, METHOD, TARGET, PATH, QUERY, PROTOCOL]
cdef tuple KEY_OF = (b"client", b"user", b"time", b"method", b"target", b"path", b"query", b"protocol", b"status", b"bytes_sent",
                     b"referer", b"user_agent", b"vhost", b"duration", b"forwarded_for")


cdef size_t count_of(const uint8_t *s, size_t n, uint8_t byte) noexcept nogil:
    cdef size_t count = 0, i
    for i in range(n):
        count += s[i] == byte
    return count


cdef bint set_plan(FastPlan *fast, const Plan *plan, const Writer *w):
    """Compile a plan. False: its lines are read one by one."""
    cdef size_t k
    cdef int i, slot, step, of_slot[SLOTS]
    cdef FastValue value
    cdef bytes key
    fast.plan, fast.steps = plan, plan.steps
    fast.own_fields, fast.start = w.own_fields, literal_of(plan.start, plan.start_n)
    for i in range(SLOTS):
        of_slot[i] = -1
    for k in range(plan.steps):
        if not set_step(fast, k):
            return False
        slot = plan.step[k].slot
        if slot >= 0:
            of_slot[slot] = <int>k
    for i in range(3):
        fast.witness[i] = b'"{['[i]
        fast.least[i] = count_of(plan.start, plan.start_n, fast.witness[i])
        for k in range(min(plan.steps, plan.optional - 1)):     # after the others, a line may end
            fast.least[i] += count_of(plan.step[k].literal, plan.step[k].n, fast.witness[i])
    if fast.least[0] > MOST_QUOTES:
        return False
    if of_slot[DATE] >= 0:
        return False
    # "host ident user" is of words only.
    if plan.ident >= 0 and of_slot[USER] >= 0 and fast.step[of_slot[USER]].take != TO_SPACE:
        return False
    for i in range(PARTS):
        fast.part[i] = of_slot[PART_SLOTS[i]]
        if fast.part[i] >= 0:
            fast.request |= 1 << i
    for i in range(15):
        slot, value, step = SLOT_OF[i], VALUE_OF[i], of_slot[SLOT_OF[i]]
        if i >= 12 and not w.members >> slot & 1:
            continue
        if METHOD_VALUE <= value <= PROTOCOL_VALUE:
            step = 0 if fast.request else -1
        if step < 0:
            value = NOTHING
        elif value == NUMBER_VALUE and not fast.step[step].number:
            return False
        elif value == SECONDS_VALUE and not fast.step[step].decimal:
            return False
        key = b'%s"%s":' % (b"," if i else b"{", KEY_OF[i])
        if value == NOTHING:
            key += b"null"
        elif value not in (NUMBER_VALUE, SECONDS_VALUE, QUERY_VALUE, ADDRESSES_VALUE):
            key += b'"'
        if not add_member(fast, key, value, step):
            return False
    fast.extra = <int *>PyMem_Calloc(plan.extras + 1, sizeof(int))
    if fast.extra == NULL:
        return False  # pragma: no cover: no memory
    for k in range(plan.extras):
        fast.extra[k] = of_slot[MEMBERS + k]
    fast.extras = plan.extras
    return True


cdef FastPlan *make_fast(const Plan *plan, const Writer *w) noexcept:
    """Compile a plan; NULL if its lines, or the options of the writer, are none that this module knows."""
    cdef FastPlan *fast
    cdef size_t i
    if plan.notation != TEXT_LINES or plan.steps > MOST_STEPS or w.csv or w.flags or w.forwarded or w.names != NULL or w.params:
        return NULL
    fast = <FastPlan *>PyMem_Calloc(1, sizeof(FastPlan))
    if fast == NULL:
        return NULL  # pragma: no cover: no memory
    fast.step = <FastStep *>PyMem_Calloc(plan.steps + 1, sizeof(FastStep))
    if fast.step == NULL or not set_plan(fast, plan, w):
        free_fast(fast)
        return NULL
    return fast


cdef void free_fast(FastPlan *fast) noexcept:
    if fast != NULL:
        PyMem_Free(fast.step)
        PyMem_Free(fast.extra)
        PyMem_Free(fast)


# --- reading ----------------------------------------------------------------------------------------------------------

cdef bint lacks_literals(const FastPlan *fast, const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a line cannot be of a variant, since it has fewer of a byte than the literals of the variant."""
    cdef int i
    for i in range(3):
        if fast.least[i] and count_of(s, n, fast.witness[i]) < fast.least[i]:
            return True
    return False


cdef inline bint may_have_prefix(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a line may begin with what another program wrote before it: see skip_prefix() and docker_line()."""
    return n < 24 or s[0] == c'<' or s[0] == c'{' or s[4] == c'-' or s[3] == c' ' and s[6] == c' '


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return <uint8_t>(c - c'0') < 10


cdef bint know_time(FastTime *time, const uint8_t *s) noexcept nogil:
    """Remember a time of 26 bytes. False: it has another form."""
    cdef uint8_t written[48]
    if s[2] != c'/' or put_moment(s, TIME_SIZE, written) != WRITTEN_TIME:
        return False
    memcpy(time.logged, s, TIME_SIZE)
    memcpy(time.written, written, WRITTEN_TIME)
    time.known = True
    return True


cdef inline bint is_known_time(const FastTime *time, const uint8_t *s) noexcept nogil:
    """Return whether a time differs from the one that is known in its seconds alone."""
    return (time.known and word_at(time.logged) == word_at(s) and word_at(time.logged + 8) == word_at(s + 8)
            and memcmp(time.logged + 16, s + 16, 2) == 0 and memcmp(time.logged + ZONE, s + ZONE, 4) == 0
            and memcmp(time.logged + ZONE + 4, s + ZONE + 4, 2) == 0
            and <uint8_t>(s[MINUTE] - c'0') < 6 and is_digit(s[MINUTE + 1]))


cdef inline bint is_number(Text text) noexcept nogil:
    """Return whether a number needs no care: no sign, no zero before it, at most 18 digits."""
    cdef size_t i
    if text.n > 18 or text.at[0] == c'0' and text.n > 1:
        return False
    for i in range(text.n):
        if not is_digit(text.at[i]):
            return False
    return True


cdef bint read_fields(FastPlan *fast, const FastRun *run, size_t line, size_t end, const size_t *quote, size_t quotes,
                      Text *value) noexcept nogil:
    """Find the fields of a line, at run.src[line:end]. `quote` has the offsets of its quotes. False: declined."""
    cdef const uint8_t *s = run.src
    cdef const FastStep *fast_step
    cdef const Step *step
    cdef size_t k, i = line, stop, q = 0, w = run.window
    if not stands_at(s, i, end, &fast.start):
        return False
    i += fast.plan.start_n
    while q < quotes and quote[q] < i:
        q += 1
    for k in range(fast.steps):
        fast_step = fast.step + k
        step = fast_step.step
        if fast_step.number or fast_step.decimal:
            while i < end and s[i] == c' ':
                i += 1
        if fast_step.take == TO_SPACE:
            stop = w + next_mark(run.space, i - w, end - w)
        elif fast_step.take == TO_QUOTE:
            if q == quotes:
                return False
            stop = quote[q]
        elif fast_step.take == FIXED_TIME and end - i >= TIME_SIZE and (
                is_known_time(&fast.time, s + i) or know_time(&fast.time, s + i)):
            stop = i + TIME_SIZE
        elif fast_step.take == FIXED_TIME or fast_step.take == OTHER_TIME:
            if fast_step.usual:
                return False
            stop = line + end_of_time(step, s + line, i - line, end - line)
        elif fast_step.take == TO_BYTE:
            stop = find(s, i, end, step.literal[0])
        elif fast_step.take == TO_LITERAL:
            stop = line + end_of_text(step, False, s + line, i - line, end - line)
        else:
            stop = line + end_of_list(step, s + line, i - line, end - line)
        # Another thread may change the bytes meanwhile: offsets are checked, not expected.
        if stop < i or stop > end or not stands_at(s, stop, end, &fast_step.literal):
            return False
        value[k].at, value[k].n = s + i, stop - i
        if q < quotes and quote[q] < stop:
            return False        # a quote in a field that is not in quotes
        i = stop + step.n
        if step.number_follows and (fast_step.take == TO_QUOTE or step.take == TEXT) and not (
                i < end and (is_digit(s[i]) or s[i] == c'-')):
            return False
        while q < quotes and quote[q] < i:
            q += 1
        # A value that is missing.
        if value[k].n <= 1:
            if value[k].n == 0:
                if fast.plan.escapes != BACKSLASHES or fast_step.number or fast_step.decimal:
                    value[k].at = NULL
            elif value[k].at[0] == c'-':
                value[k].at, value[k].n = NULL, 0
        if value[k].at != NULL:
            if fast_step.number:
                if not is_number(value[k]):
                    return False
            elif fast_step.decimal:
                if not is_digit(value[k].at[0]) or not is_digit(value[k].at[value[k].n - 1]):
                    return False
    return i == end


cdef struct Request:
    Text method, target, path, query, protocol


cdef inline bint split_usual(Text request, Request *parts) noexcept nogil:
    """Split a request of the form METHOD SP "/" ... SP "HTTP/d.d". False: it has another form."""
    cdef const uint8_t *s = request.at
    cdef size_t n = request.n, i = 0, end
    cdef const uint8_t *mark
    while i < n and TOKEN.set.member[s[i]]:
        i += 1
    if i == 0 or n - i < 11 or s[i] != c' ' or s[i + 1] != c'/':
        return False
    end = n - 9
    if s[end] != c' ' or memcmp(s + end + 1, b"HTTP/", 5) != 0 or not (is_digit(s[n - 3]) and s[n - 2] == c'.' and is_digit(s[n - 1])):
        return False
    parts.method = text_of(s, i)
    i += 1
    parts.target = text_of(s + i, end - i)
    parts.protocol = text_of(s + n - 8, 8)
    mark = <const uint8_t *>memchr(s + i, c'?', end - i)
    if mark == NULL:
        parts.path, parts.query = parts.target, text_of(NULL, 0)
    else:
        parts.path = text_of(s + i, mark - (s + i))
        parts.query = text_of(mark + 1, s + end - (mark + 1))
    return True


cdef void read_other_request(const FastPlan *fast, const Text *value, uint8_t *room, Request *parts) noexcept nogil:
    """Read a request of any form, or one that is logged in parts. `room` has capacity for the line."""
    cdef Entry entry
    cdef int i
    clear(&entry, room)
    for i in range(PARTS):
        if fast.part[i] >= 0:
            entry.text[PART_SLOTS[i]] = value[fast.part[i]]
    read_request(&entry)
    parts.method, parts.target, parts.protocol = entry.text[METHOD], entry.text[TARGET], entry.text[PROTOCOL]
    parts.path, parts.query = entry.text[PATH], entry.text[QUERY]


# --- writing ----------------------------------------------------------------------------------------------------------

cdef Entry PLAIN_LINE       # what put_decoded() asks of a line: that it is plain
PLAIN_LINE.plain = True


cdef inline uint8_t *put_fast_query(const Writer *w, Text query, uint8_t *dst) noexcept nogil:
    """Write the parameters, like put_query()."""
    cdef const uint8_t *s = query.at
    cdef size_t i = 0, end, equals
    cdef bint first = True, has_escapes = not is_plain(s, query.n, True)
    dst[0] = c'['
    dst += 1
    while i < query.n:
        equals = query.n
        end = i
        while end < query.n and s[end] != c'&':
            if s[end] == c'=' and equals == query.n:
                equals = end
            end += 1
        if equals > end:
            equals = end
        if end > i:
            if not first:
                dst[0] = c','
                dst += 1
            memcpy(dst, b'["', 2)
            dst += 2
            first = False
            if has_escapes:
                dst = put_decoded(w, &PLAIN_LINE, text_of(s + i, equals - i), True, STRING, dst)
            else:
                dst = copy(s + i, equals - i, dst)
            memcpy(dst, b'","', 3)
            dst += 3
            if equals < end:
                if has_escapes:
                    dst = put_decoded(w, &PLAIN_LINE, text_of(s + equals + 1, end - equals - 1), True, STRING, dst)
                else:
                    dst = copy(s + equals + 1, end - equals - 1, dst)
            memcpy(dst, b'"]', 2)
            dst += 2
        i = end + 1
    dst[0] = c']'
    return dst + 1


cdef inline uint8_t *put_fast_time(const FastTime *time, const FastStep *step, Text text, uint8_t *dst) noexcept nogil:
    cdef size_t size
    if step.take == FIXED_TIME and text.n == TIME_SIZE and is_known_time(time, text.at):
        memcpy(dst, time.written, BLOCK)
        dst[17], dst[18] = text.at[MINUTE], text.at[MINUTE + 1]
        return dst + WRITTEN_TIME
    size = put_moment(text.at, text.n, dst)
    return dst + size if size else copy(text.at, text.n, dst)


cdef uint8_t *put_fast_addresses(Text list, uint8_t *dst) noexcept nogil:
    """Write a list of addresses as a JSON array; null if it has none."""
    cdef uint8_t *start = dst
    cdef Text address
    while next_address(&list, &address):
        memcpy(dst, b',"', 2)
        dst = copy(address.at, address.n, dst + 2)
        dst[0] = c'"'
        dst += 1
    if dst == start:
        memcpy(dst, b"null", 4)
        return dst + 4
    start[0] = c'['
    dst[0] = c']'
    return dst + 1


cdef uint8_t *put_fast_extras(const FastPlan *fast, const Text *value, uint8_t *dst) noexcept nogil:
    cdef bint first = True
    cdef size_t k
    cdef const Text *key
    for k in range(fast.extras):
        if fast.extra[k] < 0 or value[fast.extra[k]].at == NULL:
            continue
        if first:
            memcpy(dst, b',"extra":{', 10)
            dst += 10
        key = fast.plan.key + k
        memcpy(dst, key.at + first, key.n - first)
        dst = copy(value[fast.extra[k]].at, value[fast.extra[k]].n, dst + key.n - first)
        dst[0] = c'"'
        dst += 1
        first = False
    if first:
        if fast.own_fields:
            memcpy(dst, b',"extra":null', 13)
            dst += 13
        return dst
    dst[0] = c'}'
    return dst + 1


cdef uint8_t *put_fast(FastPlan *fast, const Writer *w, Text *value, uint8_t *dst, uint32_t *seen) noexcept nogil:
    """Write a record; NULL: declined."""
    cdef const FastMember *member
    cdef Request parts
    cdef Text text
    cdef size_t k, size
    if fast.request and not (fast.request == 1 and value[fast.part[0]].at != NULL and split_usual(value[fast.part[0]], &parts)):
        read_other_request(fast, value, w.room, &parts)
    for k in range(fast.members):
        member = fast.member + k
        memcpy(dst, member.key, KEY_CAPACITY)
        dst += member.n
        if member.value == NOTHING:
            continue
        if member.value == METHOD_VALUE:
            text = parts.method
        elif member.value == TARGET_VALUE:
            text = parts.target
        elif member.value == PATH_VALUE:
            text = parts.path
        elif member.value == QUERY_VALUE:
            text = parts.query
        elif member.value == PROTOCOL_VALUE:
            text = parts.protocol
        else:
            text = value[member.step]
        if text.at == NULL:
            dst -= member.key[member.n - 1] == c'"'
            memcpy(dst, b"null", 4)
            dst += 4
            continue
        seen[0] |= 1u << k
        if member.value == NUMBER_VALUE:
            dst = copy(text.at, text.n, dst)
            continue
        if member.value == QUERY_VALUE:
            dst = put_fast_query(w, text, dst)
            continue
        if member.value == ADDRESSES_VALUE:
            dst = put_fast_addresses(text, dst)
            continue
        if member.value == SECONDS_VALUE:
            size = put_seconds(text, fast.plan.duration_unit, dst)
            if size == 0:
                return NULL
            dst += size
            continue
        if member.value == TIME_VALUE:
            dst = put_fast_time(&fast.time, fast.step + member.step, text, dst)
        elif member.value == PATH_VALUE and memchr(text.at, c'%', text.n) != NULL:
            dst = put_decoded(w, &PLAIN_LINE, text, False, STRING, dst)
        else:
            if member.value == PLAIN_VALUE and fast.step[member.step].endpoint:
                drop_port(&text)
            dst = copy(text.at, text.n, dst)
        dst[0] = c'"'
        dst += 1
    if fast.extras or fast.own_fields:
        dst = put_fast_extras(fast, value, dst)
    memcpy(dst, b"}\n", 2)
    return dst + 2


# --- lines ------------------------------------------------------------------------------------------------------------

cdef void mark_window(FastRun *run) noexcept nogil:
    """Mark the bytes from run.start on, as many as a window has."""
    cdef size_t size = min(run.n - run.start, <size_t>WINDOW)
    kernels.mark_outside(run.src + run.start, size, &COMMON.set, run.special)
    kernels.mark_outside(run.src + run.start, size, &NO_SPACE.set, run.space)
    run.window, run.window_end = run.start, run.start + size


cdef void write_fast(FastPlan **fast, int variants, const Writer *w, size_t max_line, size_t record_extra, FastRun *run) noexcept nogil:
    """Write the records of lines from run.start on, up to the first that is declined, or does not fit.

    A line is declined near the end of the source, since copies load up to BLOCK - 1 bytes after the end of a text. The
    capacity that a record is promised (FACTOR) has room for what they store after it.
    """
    cdef size_t quote[MOST_QUOTES]
    cdef Text value[MOST_STEPS]
    cdef size_t quotes, at, size, end
    cdef uint8_t *dst
    cdef uint8_t byte
    cdef int k
    while run.start < run.n:
        if run.start >= run.window_end or run.start < run.window:
            mark_window(run)
        # The end of the line, and its quotes.
        quotes, size = 0, run.window_end - run.window
        at = next_mark(run.special, run.start - run.window, size)
        while at < size:
            byte = run.src[run.window + at]
            if byte != c'"' or quotes == MOST_QUOTES:
                break
            quote[quotes] = run.window + at
            quotes += 1
            at = next_mark(run.special, at + 1, size)
        if at == size:
            if run.start > run.window and run.window_end < run.n:
                mark_window(run)
                continue
            return
        end = run.window + at
        if byte == c'\r' and end + 1 < run.n and run.src[end + 1] == c'\n':
            at += 1
            byte = c'\n'
        if byte != c'\n' or run.n - end < BLOCK + 2:
            return
        size = end - run.start
        if size > max_line or run.capacity - run.written < 24 * size + record_extra or may_have_prefix(run.src + run.start, size):
            return
        dst = NULL
        for k in range(variants):
            if fast[k] == NULL:
                return
            if quotes >= fast[k].least[0] and read_fields(fast[k], run, run.start, end, quote, quotes, value):
                dst = put_fast(fast[k], w, value, run.dst + run.written, &run.seen)
                break
            if not lacks_literals(fast[k], run.src + run.start, size):
                return
        if dst == NULL:
            return
        run.written = dst - run.dst
        run.start = run.window + at + 1
        run.lines += 1
