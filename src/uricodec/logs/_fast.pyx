"""Most lines of text logs, read and written at once.

A line of an access log is mostly printable ASCII without a backslash, with the quotes that the format has and a usual
request. Such a line is read from marks and written without a call per field:

    lines   -> marks                four bitmaps, by a kernel: what needs care, spaces, quotes, delimiters of queries
            -> where fields end     the next mark, if the literal that the format has stands there
            -> record               constants joined in advance, and copies of 32 and 64 bytes

`_programs` and `_records` define what a record is. This module never decides otherwise: where it is not certain, it
declines the line, and they read it. Only then is it an error, too. A line is declined before any of its bytes count as
written.

A variant of the format is passed over only if the exact reader would pass over it, for the same reason: a field or a
literal is not there.
"""
from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._kernels cimport ByteSet, kernels, remove_byte
from uricodec._records._framing cimport starts_formula
from uricodec._url._grammar cimport web_prefix
from uricodec.logs._fields cimport *
from uricodec.logs._filters cimport matches, matches_flags, matches_moment
from uricodec.logs._programs cimport *
from uricodec.logs._texts cimport *

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_Calloc, PyMem_Free


cdef ByteSet PRINTABLE = ByteSet(range(0x20, 0x7F))
cdef ByteSet UNESCAPED = PRINTABLE - '"\\'     # bytes that no format escapes
cdef ByteSet NO_LINE_END = ByteSet(range(256)) - "\r\n"
cdef ByteSet NO_HASH = ByteSet(range(256)) - "#"
cdef ByteSet TOKEN = ByteSet("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")  # RFC 9110 5.6.2
cdef ByteSet IN_TIME = ByteSet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/: +-.")

# The bits of classes: which of the sets they belong to is in the masks.
cdef enum:
    CONTROL = 1, BACKSLASH = 2, DELETE = 4, SPACE = 8, QUOTE = 16, SIGN = 32, DIVIDER = 64, LINE_END = 128
memset(&CLASSES, 0, sizeof(CLASSES))
cdef int nibble
for nibble in range(16):
    CLASSES.low[nibble] = CONTROL               # 00-1F, 80-FF, of which line ends are also CARE
CLASSES.low[0x0] |= SPACE
CLASSES.low[0x2] |= QUOTE
CLASSES.low[0x5] |= SIGN                        # "%"
CLASSES.low[0x6] |= SIGN                        # "&"
CLASSES.low[0xB] |= SIGN                        # "+"
CLASSES.low[0xA] |= LINE_END
CLASSES.low[0xC] |= BACKSLASH
CLASSES.low[0xD] |= LINE_END | DIVIDER          # "="
CLASSES.low[0xF] |= DELETE | DIVIDER            # "?"
for nibble in range(8, 16):
    CLASSES.high[nibble] = CONTROL
CLASSES.high[0x0] = CONTROL | LINE_END
CLASSES.high[0x1] = CONTROL
CLASSES.high[0x2] = SPACE | QUOTE | SIGN
CLASSES.high[0x3] = DIVIDER
CLASSES.high[0x5] = BACKSLASH
CLASSES.high[0x7] = DELETE
CLASSES.mask[<int>CARE] = CONTROL | BACKSLASH | DELETE
CLASSES.mask[<int>SPACES] = SPACE | LINE_END
CLASSES.mask[<int>QUOTES] = QUOTE | LINE_END
CLASSES.mask[<int>DELIMITERS] = SIGN | DIVIDER | LINE_END


cdef inline bint stands_at(const uint8_t *s, const FastStep *step) noexcept nogil:
    """Return whether the literal of a step begins at s, after which BLOCK bytes may be loaded.

    A literal has no end of a line: it does not go beyond one.
    """
    return word_at(s) & step.mask == step.word and (step.n <= 8 or memcmp(s, step.literal, step.n) == 0)


# --- plans ------------------------------------------------------------------------------------------------------------

cdef bint set_literal(FastStep *mine, const uint8_t *at, size_t n) noexcept:
    """Set the literal that follows a field. False: it has bytes that need care."""
    cdef uint8_t mask[8]
    cdef uint8_t start[8]
    memset(mask, 0, 8)
    memset(start, 0, 8)
    if n:
        memset(mask, 0xFF, min(n, <size_t>8))
        memcpy(start, at, min(n, <size_t>8))
    mine.literal, mine.n, mine.word, mine.mask = at, n, word_at(start), word_at(mask)
    mine.byte = at[0] if n else 0
    mine.work |= HAS_QUOTE if n > 0 and memchr(at, c'"', n) != NULL else 0
    mine.two_quotes = n > 1 and at[0] == c'"' and at[n - 1] == c'"' and (n == 2 or memchr(at + 1, c'"', n - 2) == NULL)
    return n == 0 or kernels.span(at, n, &PRINTABLE.set) == n and memchr(at, c'\\', n) == NULL


cdef bint set_step(FastPlan *fast, size_t k) noexcept:
    """Set how the end of a field is found. False: its lines are read one by one."""
    cdef const Plan *plan = fast.plan
    cdef const Step *step = plan.step + k
    cdef FastStep *mine = fast.step + k
    cdef size_t i
    cdef bint last = k + 1 == plan.steps
    if not set_literal(mine, step.literal, step.n) or step.n == 0 and not last:
        return False
    mine.step, mine.index = step, k
    if step.kind > ENDPOINT:    # fix_value() is not called
        return False
    mine.work |= IS_NUMBER if step.kind == NUMBER else IS_DECIMAL if step.kind == DECIMAL else 0
    mine.empty_is_missing = plan.escapes != BACKSLASHES or mine.work & (IS_NUMBER | IS_DECIMAL)
    mine.may_end = k + 1 >= plan.optional
    if step.number_follows and (step.take == QUOTED or step.take == TEXT):
        mine.work |= NUMBER_FOLLOWS
    if mine.work & (IS_NUMBER | IS_DECIMAL) and (step.take != WORD or step.slot < 0):
        return False
    if step.take == QUOTED:
        mine.take = TO_QUOTE
        return mine.byte == c'"'
    if step.take == WORD:
        mine.take = TO_SPACE if mine.byte == c' ' or step.n == 0 else TO_BYTE
        return mine.byte != c'"'
    if step.take == LIST:
        mine.take = TO_LIST_END
        return step.n > 0
    if step.take == TEXT_BEFORE_TIME:
        # Its end is the last literal before the end of the time. If the time has its usual form, which does not contain the
        # literal, that is the first one.
        mine.take, mine.before_time = TO_SPACE, True
        if mine.byte != c' ' or step[1].take != TIME_TEXT or step[1].n == 0 or IN_TIME.set.member[step[1].literal[0]]:
            return False
        for i in range(step.n):
            if not IN_TIME.set.member[step.literal[i]]:
                return True
        return False
    if step.take == TIME_TEXT:
        if step.n > 0 and mine.byte != c' ' and IN_TIME.set.member[mine.byte]:  # a usual time contains its end
            return False
        mine.take = TO_TIME_END
        mine.before_time = k > 0 and (step - 1).take == TEXT_BEFORE_TIME
        return True
    if step.n == 0:
        mine.take = TO_SPACE if plan.open_end else TO_LINE_END
    else:
        mine.take = TO_SPACE if step.n == 1 and mine.byte == c' ' else TO_LITERAL
    return mine.byte != c'"'


cdef bint is_word(const FastStep *step) noexcept:
    """Return whether a field ends where a mark is, with nothing else to do than to check a number."""
    return ((step.take == TO_SPACE or step.take == TO_BYTE or step.take == TO_LITERAL) and 1 <= step.n <= 8
            and step.work & ~(IS_NUMBER | IS_DECIMAL | HAS_QUOTE) == 0)


# What a format may have of a request, which becomes method, target, path, query and protocol.
cdef int PART_SLOTS[PARTS]
PART_SLOTS = [REQUEST, METHOD, TARGET, PATH, QUERY, PROTOCOL]


cdef const uint8_t *kept_bytes(bytes text, list kept) except NULL:
    """Keep a text, and return where it is. BLOCK bytes after its end may be loaded."""
    cdef bytes padded = text + BLOCK * b"\0"
    kept.append(padded)
    return <const uint8_t *>PyBytes_AS_STRING(padded)


cdef int set_member(FastMember *member, bytes before, bytes key, ValueKind value, int at, list kept) except -1:
    member.key, member.n, member.own = kept_bytes(before + key, kept), len(before) + len(key), len(key)
    member.value, member.at, member.text = value, at, key.endswith(b'"')
    return 0


cdef bytes name_of(const Plan *plan, size_t k):
    """Return the name of an extra field."""
    return (<const char *>plan.name[k].at)[:plan.name[k].n]


cdef int place_of(const FastPlan *fast, const Field *field, const int *of_slot, bint *dynamic) noexcept:
    """Return where the value of a field is in a record; -1: it is always missing. `dynamic`: only the line says where."""
    cdef const Plan *plan = fast.plan
    cdef size_t k
    dynamic[0] = False
    if field.kind == PARAMETER_VALUE or field.kind == FLAGS_VALUE:
        return 0
    if field.kind == EXTRAS_VALUE:
        return 0 if plan.extras or plan.keep_rest else -1
    if field.kind == EXTRA_VALUE:
        if plan.keep_rest:
            dynamic[0] = True
            return 0
        for k in range(plan.extras):
            if plan.name[k].n == field.name.n and memcmp(plan.name[k].at, field.name.at, field.name.n) == 0:
                return <int>fast.steps if <int>k + MEMBERS == plan.rest else of_slot[MEMBERS + k]
        return -1
    if METHOD <= field.slot <= PROTOCOL:
        return METHOD_AT + field.slot - METHOD if fast.has_request else -1
    if field.slot == CLIENT:
        return CLIENT_AT if fast.has_client else of_slot[CLIENT]
    return of_slot[field.slot]


cdef bint are_checked(const FastPlan *fast, const Field *field, int at) noexcept:
    """Return whether the values of a field, which are at `at`, are numbers if they must be."""
    if field.slot == STATUS or field.slot == BYTES_SENT:
        return fast.step[at].work & IS_NUMBER != 0
    return field.slot != DURATION or fast.step[at].work & IS_DECIMAL != 0


cdef inline bint needs_request(int at, ValueKind value) noexcept:
    """Return whether a value is a part of the request."""
    return at >= METHOD_AT or value == PARAMETER_VALUE or value == FLAGS_VALUE


cdef int set_members(FastPlan *fast, const Writer *w, const int *of_slot, list kept) except -1:
    """Compile what is written. 0: its lines are read one by one."""
    cdef int at
    cdef size_t i, k
    cdef const Field *field
    cdef FastMember *member
    cdef ValueKind value
    cdef bint dynamic
    cdef bytes key, before = b""    # what is the same in all records
    for k in range(fast.plan.extras):
        at = of_slot[MEMBERS + k] if <int>k + MEMBERS != fast.plan.rest else <int>fast.steps
        if at >= 0:
            key = (<const char *>fast.plan.key[k].at)[:fast.plan.key[k].n]
            value = MASKED_VALUE if w.masked != NULL or at == <int>fast.steps else EXTRA_VALUE
            set_member(fast.extra + fast.extras, b"", key.replace(b'"', b'""') if w.csv else key, value, at, kept)
            fast.extra[fast.extras].name = text_of(kept_bytes(name_of(fast.plan, k), kept), fast.plan.name[k].n)
            fast.extras += 1
            fast.names_n += fast.plan.name[k].n
    for i in range(w.fields):
        field, value = w.field + i, w.field[i].kind
        at = place_of(fast, field, of_slot, &dynamic)
        if at >= 0 and not are_checked(fast, field, at):
            return 0
        if at < 0 and field.optional and not w.csv:
            continue
        if w.csv:
            key = b"," if i else b""
            key += b'"' if at >= 0 and not field.is_number and value != FLAGS_VALUE else b""
        else:
            key = (<const char *>field.key.at)[:field.key.n]
            key += b"null" if at < 0 else b'"' if field.is_text else b""
        if at < 0:
            before += key
            continue
        if value == EXTRA_VALUE and not dynamic and w.masked == NULL and at != <int>fast.steps:
            value = COPIED
        member = fast.member + fast.members
        set_member(member, before, key, value, at, kept)
        member.bit, member.column, member.field, member.dynamic = 1u << max(field.slot, 0), <int>i, field, dynamic
        member.is_long = field.slot == TARGET or field.slot == PATH or field.slot == REFERER or field.slot == USER_AGENT
        fast.reads_request |= fast.has_request and needs_request(at, value)
        fast.members += 1
        before = b""
    fast.filter = <FastMember *>PyMem_Calloc(w.filters + 1, sizeof(FastMember))
    if fast.filter == NULL:
        raise MemoryError  # pragma: no cover: no memory
    for i in range(w.filters):
        member, field = fast.filter + i, &w.filter[i].field
        at = place_of(fast, field, of_slot, &member.dynamic)
        if at >= 0 and not are_checked(fast, field, at):
            return 0
        member.at, member.field, member.value = at, field, field.kind
        member.late = fast.has_request and needs_request(at, field.kind)
        fast.reads_request |= member.late
    before += b"\n" if w.csv else b"}\n"
    fast.tail, fast.tail_n = kept_bytes(before, kept), len(before)
    return 1


cdef int set_plan(FastPlan *fast, const Plan *plan, const Writer *w, list kept) except -1:
    """Compile a plan. 0: its lines are read one by one."""
    cdef size_t k
    cdef int i, slot
    cdef int of_slot[SLOTS]
    fast.plan, fast.steps = plan, plan.steps
    if plan.notation != TEXT_LINES or plan.steps > MOST_STEPS or not set_literal(&fast.start, plan.start, plan.start_n):
        return 0
    fast.step = <FastStep *>PyMem_Calloc(plan.steps + 1, sizeof(FastStep))
    fast.member = <FastMember *>PyMem_Calloc(w.fields + 1, sizeof(FastMember))
    fast.extra = <FastMember *>PyMem_Calloc(plan.extras + 2, sizeof(FastMember))
    if fast.step == NULL or fast.member == NULL or fast.extra == NULL:
        raise MemoryError  # pragma: no cover: no memory
    fast.step[plan.steps].take, fast.step[plan.steps].index = NO_MORE, plan.steps
    for i in range(SLOTS):
        of_slot[i] = -1
    for k in range(plan.steps):
        if not set_step(fast, k):
            return 0
        slot = plan.step[k].slot
        if slot >= 0:
            if of_slot[slot] >= 0:
                return 0
            of_slot[slot] = <int>k
    if of_slot[DATE] >= 0:
        return 0
    # "host ident user" is of words only.
    if plan.ident >= 0 and of_slot[USER] >= 0 and fast.step[of_slot[USER]].take != TO_SPACE:
        return 0
    for i in range(MEMBERS):
        fast.step_of[i] = of_slot[i]
    fast.has_client = plan.port >= 0
    if fast.has_client:
        if of_slot[plan.port] >= 0:     # the format has it, too
            return 0
        of_slot[plan.port] = PORT_AT
    fast.odd = -1
    for k in reversed(range(plan.steps)):
        fast.odd = <int>k if plan.step[k].quotes >= 0 else fast.odd
    for i in range(PARTS):
        fast.part[i] = of_slot[PART_SLOTS[i]]
        fast.has_request |= fast.part[i] >= 0
        fast.one_request = fast.part[i] >= 0 if i == 0 else fast.one_request and fast.part[i] < 0
    return set_members(fast, w, of_slot, kept)


cdef int set_fast(FastFormat *format, const Plan **plan, int variants, const Writer *w, list kept) except -1:
    """Compile the variants of a format. `kept` gets what they point to. free_fast() must be called, in any case."""
    cdef int i
    cdef size_t k
    cdef FastPlan *fast
    cdef const FastStep *step
    format.plan = <FastPlan **>PyMem_Calloc(variants + 1, sizeof(FastPlan *))
    if format.plan == NULL:
        raise MemoryError  # pragma: no cover: no memory
    format.writer, format.others = w, NO_LINE_END.set
    remove_byte(&format.others, c' ')
    for i in range(variants):
        fast = <FastPlan *>PyMem_Calloc(1, sizeof(FastPlan))
        if fast == NULL:
            raise MemoryError  # pragma: no cover: no memory
        format.plan[i], fast.time = fast, &format.time
        format.has_hashes |= plan[i].escapes == HASHES
        format.variants = i + 1
        if not set_plan(fast, plan[i], w, kept):
            free_plan(fast)
            format.plan[i] = NULL
            continue
        for k in range(fast.steps):
            fast.step[k].is_word = is_word(fast.step + k)
        fast.shared = shared_steps(plan[i - 1], plan[i], False) if i and format.plan[i - 1] != NULL else 0
        for k in range(i if fast.shared else <size_t>0):    # the line may be read again from there
            if format.plan[k] != NULL and fast.shared < format.plan[k].steps:
                format.plan[k].step[fast.shared].is_word = False
        for k in range(fast.steps):
            step = fast.step + k
            if step.take == TO_BYTE or step.take == TO_LITERAL:
                format.has_stops = True
                remove_byte(&format.others, step.byte)
    return 0


cdef void free_plan(FastPlan *fast) noexcept:
    if fast != NULL:
        PyMem_Free(fast.step)
        PyMem_Free(fast.member)
        PyMem_Free(fast.filter)
        PyMem_Free(fast.extra)
        PyMem_Free(fast)


cdef void free_fast(FastFormat *format) noexcept:
    cdef int i
    for i in range(format.variants if format.plan != NULL else 0):
        free_plan(format.plan[i])
    PyMem_Free(format.plan)
    format.plan = NULL


# --- times ------------------------------------------------------------------------------------------------------------

cdef void know_time(FastTime *time, const uint8_t *s, size_t n) noexcept nogil:
    """Remember a time of n bytes, if it has a date and a clock in which the digits may change."""
    cdef uint8_t bytes[LONGEST_TIME]
    cdef uint8_t mask[LONGEST_TIME]
    cdef uint8_t digits[LONGEST_TIME]
    cdef uint8_t limit[LONGEST_TIME]
    cdef size_t i, k
    time.n = 0
    if n > LONGEST_TIME or n < 19 or s[2] != c'/' and s[4] != c'-':
        return
    time.clock = 12 if s[2] == c'/' else 11
    if n < time.clock + 8:
        return
    time.written_n = put_moment(s, n, time.written)
    if time.written_n == 0:
        return
    time.size = 8
    if n > time.clock + 8 and s[time.clock + 8] == c'.':
        time.size = 9
        while time.clock + time.size < n and is_digit(s[time.clock + time.size]):
            time.size += 1
    memset(bytes, 0, LONGEST_TIME)
    memset(mask, 0, LONGEST_TIME)
    memset(digits, 0, LONGEST_TIME)
    memset(limit, 0, LONGEST_TIME)
    for i in range(n):
        mask[i] = 0xFF
        # The first digit of the hour stays: it limits the second one.
        if time.clock < i < time.clock + time.size and is_digit(s[i]):
            mask[i], digits[i] = 0xF0, 0x10
            k = i - time.clock
            limit[i] = 15 - (5 if k == 3 or k == 6 else 3 if k == 1 and s[i - 1] == c'2' else 9)
        bytes[i] = s[i] & mask[i]
    for i in range(4):
        time.word[i], time.mask[i], time.digits[i] = word_at(bytes + 8 * i), word_at(mask + 8 * i), word_at(digits + 8 * i)
        time.limit[i] = word_at(limit + 8 * i)
    time.n = n
    time.has_zone = time.written_n > 11 + time.size
    if time.has_zone:
        memcpy(bytes, time.written, 11)
        memcpy(bytes + 11, b"00:00:00", 8)
        memcpy(bytes + 19, time.written + 11 + time.size, time.written_n - 11 - time.size)
        time.midnight = micros_of(bytes, 8 + time.written_n - time.size, NULL)


cdef bint read_moment(const FastRecord *record, Text text, Zone *zone, int64_t *micros) noexcept nogil:
    """Read a time as microseconds since 1970 in UTC. False: it has another form."""
    cdef FastTime *time = record.plan.time
    cdef const uint8_t *clock = text.at + time.clock
    cdef uint8_t written[TIME_SIZE + BLOCK]
    cdef size_t size, i
    cdef int64_t unit = 100000, fraction = 0
    if text.at == record.known_time and time.has_zone:
        for i in range(9, min(time.size, <size_t>15)):
            fraction += unit * (clock[i] - c'0')
            unit //= 10
        micros[0] = time.midnight + fraction + 1000000 * <int64_t>(
            36000 * (clock[0] - c'0') + 3600 * (clock[1] - c'0') + 600 * (clock[3] - c'0') + 60 * (clock[4] - c'0')
            + 10 * (clock[6] - c'0') + (clock[7] - c'0'))
        return True
    size = put_fast_moment(time, text, written)
    if size:
        micros[0] = micros_of(written, size, zone)
    return size > 0


cdef inline uint8_t *put_known_time(const FastTime *time, const uint8_t *s, uint8_t *dst) noexcept nogil:
    """Write a time for which is_known_time() is true."""
    memcpy(dst, time.written, 16)
    memcpy(dst + 11, s + time.clock, LONGEST_TIME)
    memcpy(dst + 11 + time.size, time.written + 11 + time.size, 8)
    return dst + time.written_n


cdef size_t put_fast_moment(FastTime *time, Text text, uint8_t *dst) noexcept nogil:
    """Write a time in the form of RFC 3339. Return its size; 0 if it is logged in another form."""
    if text.n == time.n and is_known_time(time, text.at):
        return put_known_time(time, text.at, dst) - dst
    if text.n > 4 and is_digit(text.at[2]) and is_digit(text.at[4]):
        return put_epoch(text.at, text.n, &time.day, dst)
    return put_moment(text.at, text.n, dst)


cdef inline uint8_t *put_fast_time(FastTime *time, Text text, uint8_t *dst) noexcept nogil:
    cdef size_t size = put_fast_moment(time, text, dst)
    return dst + size if size else copy_blocks(text.at, text.n, dst)


# --- reading ----------------------------------------------------------------------------------------------------------

# The bytes of a word that a text of 0 to 8 bytes has.
cdef int first_n
cdef uint8_t first_bytes[8]
for first_n in range(9):
    memset(first_bytes, 0, 8)
    memset(first_bytes, 0xFF, first_n)
    FIRST_BYTES[first_n] = word_at(first_bytes)


cdef inline uint64_t not_digits(const uint8_t *s, size_t n) noexcept nogil:
    """Return the upper bits of those of the n <= 8 bytes at s that are not digits."""
    cdef uint64_t word = (word_at(s) ^ <uint64_t>0x3030303030303030) & FIRST_BYTES[n]
    return (word + <uint64_t>0x7676767676767676 | word) & <uint64_t>0x8080808080808080


cdef inline bint is_of_digits(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether the n <= 8 bytes at s are digits."""
    return not_digits(s, n) == 0


cdef inline bint is_number(Text text) noexcept nogil:
    """Return whether a number needs no care: no sign, no zero before it, at most 16 digits."""
    if text.at[0] == c'0' and text.n > 1:
        return False
    if text.n <= 8:
        return is_of_digits(text.at, text.n)
    return text.n <= 16 and is_of_digits(text.at, 8) and is_of_digits(text.at + 8, text.n - 8)


cdef inline bint is_short_number(const FastStep *step, const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a number of n > 0 bytes needs no care, and is short."""
    cdef uint64_t others
    cdef size_t point
    if n > 8:
        return False
    others = not_digits(s, n)
    if step.work & IS_NUMBER:
        return others == 0 and (n == 1 or s[0] != c'0')
    if not UC_LITTLE_ENDIAN:
        return is_decimal(text_of(s, n))
    point = lowest_bit(others) >> 3 if others else 1
    return others & (others - 1) == 0 and (others == 0 or s[point] == c'.' and 0 < point < n - 1)


cdef bint is_decimal(Text text) noexcept nogil:
    """Return whether a number is of at most 17 digits, with a fraction or without."""
    cdef const uint8_t *s = text.at
    cdef size_t i = 0
    if text.n > 18 or not is_digit(s[text.n - 1]):
        return False
    while i < text.n and is_digit(s[i]):
        i += 1
    if i == 0 or i < text.n and s[i] != c'.':
        return False
    i += 1
    while i < text.n:
        if not is_digit(s[i]):
            return False
        i += 1
    return True


cdef inline uint64_t bytes_equal(uint64_t word, uint8_t byte) noexcept nogil:
    """Return a word whose lowest bit is in the first byte of a word that is `byte`; 0 if none is."""
    word ^= byte * <uint64_t>0x0101010101010101
    return word - <uint64_t>0x0101010101010101 & ~word & <uint64_t>0x8080808080808080


cdef inline uint64_t little_word_at(const uint8_t *s) noexcept nogil:
    """Return 8 bytes as a word that has the first one lowest."""
    cdef uint64_t word = 0
    cdef int i
    if UC_LITTLE_ENDIAN:
        return word_at(s)
    for i in range(8):  # pragma: no cover: big-endian
        word |= <uint64_t>s[i] << 8 * i  # pragma: no cover: big-endian
    return word  # pragma: no cover: big-endian


cdef inline size_t find_colon(Text text) noexcept nogil:
    """Return the offset of the first ":"; the size if there is none."""
    cdef size_t i = 0
    cdef uint64_t found
    while i < text.n:
        found = bytes_equal(little_word_at(text.at + i), c':')
        if found:
            return min(i + (lowest_bit(found) >> 3), text.n)
        i += 8
    return text.n


cdef inline bint read_client(const FastPlan *fast, bint forwarded, FastRecord *record) noexcept nogil:
    """Determine the client and its port, like read_client() of `_programs`. False: something else is before the address."""
    cdef const Plan *plan = fast.plan
    cdef int at = fast.step_of[CLIENT]
    cdef Text client = record.value[at] if at >= 0 else text_of(NULL, 0)
    cdef Text port = text_of(NULL, 0), word = client, list
    cdef size_t colon = find_colon(client)
    if colon < client.n or client.n and client.at[0] == c'[':
        if 0 < colon and colon + 1 < client.n <= colon + 6 and client.at[0] != c'[' and is_of_digits(
                client.at + colon + 1, client.n - colon - 1):
            client.n, port = colon, text_of(client.at + colon + 1, client.n - colon - 1)      # the only colon is before a port
        else:
            port = split_port(&client, plan.endpoint)
            if plan.begins_with_client and at == 0 and source_before(word, plan.endpoint):
                return False
    if plan.begins_with_client and at != 0 and record.value[0].at != NULL:
        word = record.value[0]
        if find_colon(word) < word.n:
            if plan.step.take == LIST:
                word.n = find(word.at, 0, find(word.at, 0, word.n, fast.step.byte if fast.step.n else c' '), c',')
            if source_before(word, plan.endpoint):
                return False
    if forwarded and fast.step_of[FORWARDED_FOR] >= 0:
        list = record.value[fast.step_of[FORWARDED_FOR]]
        if next_address(&list, &word, &port):
            client = word
    record.value[CLIENT_AT], record.value[PORT_AT] = client, port
    return True


cdef inline bint is_usual_value(const FastStep *step, Text text) noexcept nogil:
    """Return whether a number needs no care."""
    return is_number(text) if step.work & IS_NUMBER else is_decimal(text)


cdef inline size_t prefix_of(const uint8_t *s, size_t n, bint *unknown) noexcept nogil:
    """Return the size of what another program wrote before a line. `unknown`: this module does not know it."""
    cdef size_t size
    unknown[0] = s[0] == c'{'
    if s[0] != c'<' and s[4] != c'-' and not (s[3] == c' ' and s[6] == c' '):
        return 0
    size = skip_prefix(SYSLOG, s, n)
    return size if size else skip_prefix(CRI, s, n)


cdef inline bint may_have_label(const uint8_t *s, size_t space) noexcept nogil:
    """Return whether a line may have a label, given the offset of its first space. See skip_label()."""
    if s[0] == c'[':
        return s[1] == c'p' and s[2] == c'o' and s[3] == c'd' and s[4] == c'/'
    while s[space] == c' ':
        space += 1
    return s[space] == c'|'


cdef enum FastOutcome:
    READ, NO_MATCH, DECLINED


# Bits from the next quote on, and where the lowest one is.
cdef struct Ends:
    uint64_t bits
    size_t base


cdef inline size_t next_quote(const uint64_t *marks, size_t at, Ends *ends) noexcept nogil:
    """Return the offset of the first mark of a bitmap from `at` on. Up to 64 bytes further, nothing is guessed."""
    cdef uint64_t word = uc_bits_from(marks, at), other = marks[(at >> 6) + 1]
    cdef size_t start = (at | 63) + 1
    ends.base = at if word else start
    ends.bits = word if word else other
    if ends.bits:
        return ends.base + lowest_bit(ends.bits)
    return next_mark(marks, start + 64)


cdef FastOutcome read_fields(FastPlan *fast, size_t first, size_t i, const FastRun *run, size_t end,
                             FastRecord *record) noexcept nogil:
    """Find the fields of a line, from a step on. The line is from i to `end` in the window.

    Offsets come from marks alone: another thread may change the bytes meanwhile.
    """
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *spaces = run.mark[<int>SPACES]
    cdef const uint64_t *quotes = run.mark[<int>QUOTES]
    cdef const uint64_t *words = run.mark[<int>STOPS]
    cdef const FastStep *step = fast.step + first
    cdef Text *value = record.value + first
    cdef size_t n, stop, quote, next, base
    cdef uint64_t bits
    cdef bint ended = False
    cdef Ends ends
    if first == 0:
        record.known_time = NULL
        record.stopped, record.start[0] = 0, i
        if not stands_at(s + i, &fast.start):
            return NO_MATCH
        i += fast.start.n
    quote = next_quote(quotes, i, &ends)     # the next one, or the end of the line
    if quote > end:
        return DECLINED
    while True:
        bits = base = 0
        while step.is_word:
            # Marks are loaded for some words at once: the next one does not wait for a load.
            if bits == 0:
                bits, base = uc_bits_from(words, i), i
                if bits == 0:
                    break
            stop = base + lowest_bit(bits)
            bits &= bits - 1
            n = stop - i
            if stop >= quote or word_at(s + stop) & step.mask != step.word:
                break
            if n <= 1 and (n == 0 or s[i] == c'-'):
                if n == 0 and (step.work & (IS_NUMBER | IS_DECIMAL) or not step.empty_is_missing):
                    break
                value.at, value.n = NULL, 0
            else:
                value.at, value.n = s + i, n
                if step.work & (IS_NUMBER | IS_DECIMAL) and not is_short_number(step, s + i, n):
                    break
            i = stop + step.n
            if step.n > 1:      # there may be marks in it
                bits = 0
                if step.work & HAS_QUOTE:
                    quote = next_quote(quotes, i, &ends)
                    if quote > end:
                        return DECLINED
            step, value = step + 1, value + 1
        record.start[step.index] = i
        if step.take == TO_QUOTE and quote < end and i <= quote and stands_at(s + quote, step):
            n = quote - i
            value.at, value.n = s + i, n
            if n <= 1 and (n == 0 and step.empty_is_missing or n == 1 and s[i] == c'-'):
                value.at, value.n = NULL, 0
            i = quote + step.n
            if step.work & NUMBER_FOLLOWS and not (is_digit(s[i]) or s[i] == c'-'):
                return DECLINED
            if i < end:
                if step.two_quotes:
                    bits = ends.bits & (ends.bits - 1)
                    ends.bits = bits & (bits - 1)
                if step.two_quotes and ends.bits:
                    quote = ends.base + lowest_bit(ends.bits)
                else:
                    quote = next_quote(quotes, i, &ends)
                if quote > end:
                    return DECLINED
            step, value = step + 1, value + 1
            continue
        if step.work & (IS_NUMBER | IS_DECIMAL):
            while i < end and s[i] == c' ':
                i += 1
        if step.take == TO_SPACE:
            stop = next_mark(spaces, i)
        elif step.take == TO_QUOTE:
            stop = quote
            if stop == end:
                record.stopped = step.index
                return NO_MATCH
        elif step.take == TO_BYTE:
            stop = next_mark(run.stops, i)
            while stop < end and s[stop] != step.byte:
                stop = next_mark(run.stops, stop + 1)
        elif step.take == TO_TIME_END:
            stop = i + fast.time.n
            if not is_known_time(fast.time, s + i) or not stands_at(s + stop, step) or step.n == 0 and stop < end:
                stop = end_of_time(step.step, s, i, end)
                know_time(fast.time, s + i, stop - i)
                if fast.time.n == 0 and step.before_time:
                    return DECLINED
            elif step.byte == c' ' and (s[stop + 1] == c'+' or s[stop + 1] == c'-'):
                return DECLINED     # a zone
            record.known_time = s + i if fast.time.n else NULL
        elif step.take == TO_LITERAL:
            stop = next_mark(run.stops, i)
            while stop < end and not stands_at(s + stop, step):
                stop = next_mark(run.stops, stop + 1)
        elif step.take == TO_LIST_END:
            stop = end_of_list(step.step, s, i, end)
        elif step.take == TO_LINE_END:
            stop = end
        else:
            break
        if stop > end or stop < i:
            return DECLINED         # the bytes have changed
        next = stop + step.n
        if not stands_at(s + stop, step):
            if not step.may_end or stop + (step.take == TO_QUOTE) < end:
                record.stopped = step.index
                return DECLINED if step.before_time else NO_MATCH
            next, ended = end, True
        if stop > quote:
            return DECLINED         # a quote in a field that is not in quotes
        n = stop - i
        value.at, value.n = s + i, n
        if n <= 1 and (n == 0 and step.empty_is_missing or n == 1 and s[i] == c'-'):
            value.at, value.n = NULL, 0
        elif step.work & (IS_NUMBER | IS_DECIMAL) and not is_usual_value(step, value[0]):
            return DECLINED
        i = next
        value += 1
        if ended:       # the other fields are missing
            break
        if step.work & (HAS_QUOTE | NUMBER_FOLLOWS):
            if step.work & NUMBER_FOLLOWS and not (is_digit(s[i]) or s[i] == c'-'):
                return DECLINED
            if i < end:
                quote = next_quote(quotes, i, &ends)
                if quote > end:
                    return DECLINED
        step += 1
    record.stopped = fast.steps
    while value <= record.value + fast.steps:
        value.at, value.n = NULL, 0
        value += 1
    if i < end:
        if quote < end and fast.odd >= 0:
            return DECLINED
        return read_rest(fast, s, i, end, record)
    return READ


cdef inline bint has_odd_quotes(const FastPlan *fast, const FastRun *run, size_t end, const FastRecord *record) noexcept nogil:
    """Return whether a line that did not match has more quotes than the format, so that a text may end later."""
    cdef size_t at
    cdef int left
    if fast.odd < 0 or record.stopped < <size_t>fast.odd:
        return False
    left = fast.plan.step[fast.odd].quotes + 1
    at = next_mark(run.mark[<int>QUOTES], record.start[fast.odd])
    while at < end and left:
        at = next_mark(run.mark[<int>QUOTES], at + 1)
        left -= 1
    return at < end


cdef FastOutcome read_rest(const FastPlan *fast, const uint8_t *s, size_t i, size_t end, FastRecord *record) noexcept nogil:
    """Read what follows the last field, which may be spaces, or an extra field."""
    cdef size_t k = i
    if fast.steps and fast.step[fast.steps - 1].take == TO_QUOTE and not (fast.plan.open_end and s[i] == c' '):
        return NO_MATCH     # the quote is not the last one
    while k < end and s[k] == c' ':
        k += 1
    if k == end:
        return READ
    if not fast.plan.open_end or s[i] != c' ':
        return NO_MATCH
    if not (end - i == 2 and s[i + 1] == c'-'):
        record.value[fast.steps] = text_of(s + i + 1, end - i - 1)
    return READ


# "HTTP/d.d": the bits of both digits; 6 for each, so that a larger one than 9 carries; and the bits to which it does.
cdef uint64_t USUAL_PROTOCOL = word_at(<const uint8_t *>b"HTTP/0.0")
cdef uint64_t PROTOCOL_DIGITS = word_at(<const uint8_t *>b"\0\0\0\0\0\x0F\0\x0F")
cdef uint64_t PROTOCOL_SIXES = word_at(<const uint8_t *>b"\0\0\0\0\0\x06\0\x06")
cdef uint64_t PROTOCOL_LIMITS = word_at(<const uint8_t *>b"\0\0\0\0\0\x10\0\x10")


cdef inline bint is_method(const uint8_t *s, size_t n) noexcept nogil:
    cdef uint64_t word
    cdef size_t i
    if n <= 8:      # most often letters in upper case
        word = word_at(s)
        if ((word + <uint64_t>0x3F3F3F3F3F3F3F3F) & ~(word + <uint64_t>0x2525252525252525) & ~word & FIRST_BYTES[n]
                & <uint64_t>0x8080808080808080) == (FIRST_BYTES[n] & <uint64_t>0x8080808080808080):
            return n > 0
    for i in range(n):
        if not TOKEN.set.member[s[i]]:
            return False
    return n > 0


cdef size_t authority_of(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of "http://authority" or "https://authority"; 0 if the target does not begin with it."""
    cdef size_t i = web_prefix(s, n)
    cdef uint64_t word, found
    if i == 0 or n < 8:
        return 0
    while i < n:
        word = little_word_at(s + i)
        found = bytes_equal(word, c'/') | bytes_equal(word, c'?')
        if found:
            return min(i + (lowest_bit(found) >> 3), n)
        i += 8
    return n


cdef bint split_usual(Text text, const FastRun *run, FastRecord *record) noexcept nogil:
    """Split a request of the form METHOD SP "/" ... SP "HTTP/d.d". False: it has another form."""
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *marks = run.mark[<int>DELIMITERS]
    cdef size_t path, start = text.at - s, stop = start + text.n, at = next_mark(run.mark[<int>SPACES], start)
    cdef bint plain = True
    cdef uint64_t protocol
    if text.n < 13 or at + 10 >= stop or not is_method(s + start, at - start):
        return False
    stop -= 9
    protocol = word_at(s + stop + 1) ^ USUAL_PROTOCOL
    if s[stop] != c' ' or protocol & ~PROTOCOL_DIGITS | (protocol & PROTOCOL_DIGITS) + PROTOCOL_SIXES & PROTOCOL_LIMITS:
        return False
    record.value[METHOD_AT].at, record.value[METHOD_AT].n = s + start, at - start
    path = start = at + 1
    if s[start] != c'/':
        path += authority_of(s + start, stop - start)
        if path == start or record.value[METHOD_AT].at[0] == c'C':     # CONNECT
            return False
    record.value[TARGET_AT].at, record.value[TARGET_AT].n = s + start, stop - start
    record.value[PROTOCOL_AT].at, record.value[PROTOCOL_AT].n = s + stop + 1, 8
    at = mark_before(marks, path, stop)
    while at < stop and s[at] != c'?':
        if s[at] == c'%':
            plain = False
        at = mark_before(marks, at + 1, stop)
    record.plain = plain
    record.value[PATH_AT].at = s + path
    if at >= stop:
        record.value[PATH_AT].n = stop - path
        record.value[QUERY_AT].at, record.value[QUERY_AT].n = NULL, 0
    else:
        record.value[PATH_AT].n = at - path
        record.value[QUERY_AT].at, record.value[QUERY_AT].n = s + at + 1, stop - at - 1
    return True


cdef void read_other_request(const FastPlan *fast, const FastRun *run, FastRecord *record) noexcept nogil:
    """Read a request of any form, or one that is logged in parts."""
    cdef Entry entry
    cdef int i
    clear(&entry, run.room)
    for i in range(PARTS):
        if fast.part[i] >= 0:
            entry.text[PART_SLOTS[i]] = record.value[fast.part[i]]
    for i in range(PARTS):
        if fast.part[i] >= 0:
            fix_value(fast.step[fast.part[i]].step, &entry)
    read_request(&entry)
    for i in range(METHOD, PROTOCOL + 1):
        record.value[METHOD_AT + i - METHOD] = entry.text[i]
    record.decoded, record.whole, record.usual = entry.decoded, entry.whole, False
    record.plain = entry.text[PATH].at == NULL or memchr(entry.text[PATH].at, c'%', entry.text[PATH].n) == NULL


cdef inline void read_the_request(const FastPlan *fast, const FastRun *run, FastRecord *record) noexcept nogil:
    record.decoded = record.whole = False
    record.usual = True
    if not (fast.one_request and record.value[fast.part[0]].at != NULL
            and split_usual(record.value[fast.part[0]], run, record)):
        read_other_request(fast, run, record)


cdef void mark_window(const FastFormat *format, FastRun *run) noexcept nogil:
    """Mark the bytes from run.start on, as many as a window has."""
    cdef size_t size = min(run.n - run.start, <size_t>WINDOW), words = size + 63 >> 6, w
    cdef int k
    kernels.mark_classes(run.src + run.start, size, &CLASSES, run.marks)
    run.marks[4 * words] = run.marks[4 * words + 1] = run.stops[words] = 0
    for k in range(4):
        run.mark[k] = run.marks + <size_t>k * words
    run.mark[<int>STOPS] = run.mark[<int>SPACES]
    if format.has_hashes:
        kernels.mark_outside(run.src + run.start, size, &NO_HASH.set, run.stops)
        for w in range(words):
            run.marks[w] |= run.stops[w]        # CARE
    if format.has_stops:
        kernels.mark_outside(run.src + run.start, size, &format.others, run.stops)
        run.mark[<int>STOPS] = run.stops
    run.window, run.window_end = run.start, run.start + size
    prefetch_window(run)


cdef inline bint ends_line(const FastRun *run, size_t at) noexcept nogil:
    """Return whether a byte of the window was "\\r" or "\\n" when it was marked: only these are in two of the bitmaps."""
    return (run.mark[<int>SPACES][at >> 6] & run.mark[<int>QUOTES][at >> 6]) >> (at & 63) & 1


cdef inline size_t first_mark(const uint64_t *marks, size_t at, size_t size) noexcept nogil:
    """Return the offset of the first mark from `at` on, of the first of the bitmaps; `size` or more if there is none.

    Of four words at once, it is not guessed which one has it. Those after the end of the bitmap are of the next one.
    """
    cdef const uint64_t *words = marks + (at >> 6)
    cdef uint64_t first = words[0] >> (at & 63) << (at & 63), word
    cdef size_t start = at & ~<size_t>63, after
    while first | words[1] | words[2] | words[3] == 0:
        start += 256
        if start >= size:
            return size
        words += 4
        first = words[0]
    word, after = words[3], 192
    after = 128 if words[2] else after
    word = words[2] if words[2] else word
    after = 64 if words[1] else after
    word = words[1] if words[1] else word
    after = 0 if first else after
    word = first if first else word
    return start + after + lowest_bit(word)


cdef bint find_end(const FastFormat *format, FastRun *run, size_t *end, size_t *next) noexcept nogil:
    """Find the end of the line at run.start. False: it has a byte that needs care, or is none that this module reads.

    A line is declined near the end of the source, since copies load up to BLOCK bytes after the end of a text.
    """
    cdef size_t at, size
    cdef const uint64_t *marks
    if run.start >= run.window_end or run.start < run.window:
        mark_window(format, run)
    while True:
        marks = run.mark[<int>CARE]
        size = run.window_end - run.window
        at = first_mark(marks, run.start - run.window, size)
        if at + 1 < size:
            break
        if run.start == run.window or run.window_end == run.n:
            return False
        mark_window(format, run)
    if not ends_line(run, at):
        return False
    end[0] = run.window + at
    if run.src[end[0]] == c'\r':
        at += 1
        if not ends_line(run, at):
            return False
    next[0] = run.window + at + 1
    return run.src[next[0] - 1] == c'\n' and run.n - next[0] > BLOCK


cdef bint read_fast(const FastFormat *format, FastRun *run, FastRecord *record) noexcept nogil:
    """Read the line at run.start. False: it is declined.

    Up to BLOCK bytes after the end of the line may be loaded. The capacity that a record is promised (FACTOR) includes
    what a copy stores after a text.
    """
    cdef size_t size, skipped
    cdef FastPlan *fast
    cdef FastOutcome outcome = NO_MATCH
    cdef bint unknown
    cdef int k
    if not find_end(format, run, &record.end, &record.next):
        return False
    size = record.end - run.start
    if size > run.max_line or size < SHORTEST:
        return False
    skipped = prefix_of(run.src + run.start, size, &unknown)
    if unknown or may_have_label(run.src + run.start, next_mark(run.mark[<int>SPACES], run.start - run.window) - (
            run.start - run.window)):
        return False
    record.stopped = MOST_STEPS
    for k in range(format.variants):
        fast = format.plan[k]
        if fast == NULL:
            return False
        if fast.shared == 0 or record.stopped >= format.plan[k - 1].steps:
            outcome = read_fields(fast, 0, run.start + skipped - run.window, run, record.end - run.window, record)
        elif record.stopped >= fast.shared:
            outcome = read_fields(fast, fast.shared, record.start[fast.shared], run, record.end - run.window, record)
        if outcome == NO_MATCH and has_odd_quotes(fast, run, record.end - run.window, record):
            return False
        if outcome == READ:
            record.plan = fast
            if fast.has_client and not read_client(fast, format.writer.forwarded, record):
                return False
            record.dropped = format.writer.filters > 0 and not keeps(format.writer, record, False)
            if fast.reads_request and not record.dropped:
                read_the_request(fast, run, record)
                record.dropped = format.writer.filters > 0 and not keeps(format.writer, record, True)
            return True
        if outcome == DECLINED:
            return False
    return False


# --- writing ----------------------------------------------------------------------------------------------------------

PLAIN_LINE.plain = True
OTHER_LINE.plain = False


# The values of hexadecimal digits, with the upper bits set for other bytes; and how many bytes of UTF-8 follow the first
# one, if any byte 80-BF may follow it, and no character that begins with it is escaped.
cdef int HEX_VALUES[256]
cdef int FOLLOWERS[256]
cdef int byte_n
for byte_n in range(256):
    HEX_VALUES[byte_n] = -1
    FOLLOWERS[byte_n] = 1 if 0xC3 <= byte_n <= 0xDF else 2 if 0xE1 <= byte_n <= 0xEF and byte_n not in (0xE2, 0xED) else 0
for byte_n in range(16):
    HEX_VALUES[ord("0123456789abcdef"[byte_n])] = HEX_VALUES[ord("0123456789ABCDEF"[byte_n])] = byte_n


cdef uint8_t *put_escaped(const Writer *w, const FastRun *run, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil:
    """Write a text of the window that has a "%" or a "+", like put_decoded()."""
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *marks = run.mark[<int>DELIMITERS]
    cdef size_t start = text.at - s, stop = start + text.n, at = start
    cdef uint8_t *first = dst
    cdef int byte, follow = 0      # how many bytes of a character have to follow
    while True:
        at = mark_before(marks, at, stop)
        while at < stop and s[at] != c'%' and not (plus and s[at] == c'+'):
            at = mark_before(marks, at + 1, stop)
        at = min(at, stop)
        if follow and (at > start or at == stop or s[at] == c'+'):
            break
        dst = copy_blocks(s + start, at - start, dst)
        if at == stop:
            return dst
        if s[at] == c'+':
            dst[0] = c' '
            start = at = at + 1
        else:
            byte = -1 if stop - at < 3 else 16 * HEX_VALUES[s[at + 1]] | HEX_VALUES[s[at + 2]]
            if byte < 0x80:
                if byte < 0 or follow or not UNESCAPED.set.member[byte]:
                    break
            elif follow:
                if byte > 0xBF:
                    break
                follow -= 1
            else:
                follow = FOLLOWERS[byte]
                if follow == 0:
                    break
            dst[0] = <uint8_t>byte
            start = at = at + 3
        dst += 1
    return put_decoded(w, &PLAIN_LINE, text, plus, place, first)


cdef uint8_t *put_fast_query(const Writer *w, const FastRun *run, Text query, uint8_t *dst) noexcept nogil:
    """Write the parameters, like put_query()."""
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *marks = run.mark[<int>DELIMITERS]
    cdef size_t at = query.at - s, stop = at + query.n
    cdef FastParameter parameter
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    cdef size_t quote = 2 if w.csv else 1
    cdef uint8_t *first = dst
    while next_parameter(s, marks, &at, stop, &parameter):
        memcpy(dst, b',[""', 4)
        dst += 2 + quote
        if parameter.escaped_name:
            dst = put_escaped(w, run, parameter.name, True, place, dst)
        else:
            dst = copy_blocks(parameter.name.at, parameter.name.n, dst)
        memcpy(dst, b'"",""', 5)
        dst[quote] = c','
        memset(dst + quote + 1, c'"', 2)
        dst += 2 * quote + 1
        if parameter.escaped:
            dst = put_escaped(w, run, parameter.value, True, place, dst)
        else:
            dst = copy_blocks(parameter.value.at, parameter.value.n, dst)
        memcpy(dst, b'""', 2)
        dst[quote] = c']'
        dst += quote + 1
    if dst == first:
        dst += 1
    first[0] = c'['
    dst[0] = c']'
    return dst + 1


cdef uint8_t *put_any_query(const Writer *w, const FastRun *run, const FastRecord *record, uint8_t *dst) noexcept nogil:
    cdef Entry entry
    if record.usual and w.masked == NULL:
        return put_fast_query(w, run, record.value[QUERY_AT], dst)
    entry.text[QUERY], entry.plain = record.value[QUERY_AT], True
    return put_query(w, &entry, STRING_IN_CELL if w.csv else STRING, dst)


cdef uint8_t *put_fast_addresses(Text list, bint csv, uint8_t *dst) noexcept nogil:
    """Write a list of addresses as a JSON array; nothing if it has none."""
    cdef uint8_t *start = dst
    cdef Text address, port
    cdef size_t quote = 2 if csv else 1
    while next_address(&list, &address, &port):
        memcpy(dst, b',""', 3)
        dst = copy_blocks(address.at, address.n, dst + 1 + quote)
        memcpy(dst, b'""', 2)
        dst += quote
    if dst == start:
        return dst
    start[0] = c'['
    dst[0] = c']'
    return dst + 1


cdef uint8_t *put_fast_extras(const FastPlan *fast, const Writer *w, const FastRecord *record, uint8_t *dst) noexcept nogil:
    """Write the extra fields that have values as a JSON object; nothing if there are none."""
    cdef uint8_t *start = dst
    cdef const FastMember *extra = fast.extra
    cdef const FastMember *end = extra + fast.extras
    cdef const Text *text
    cdef size_t quote = 2 if w.csv else 1
    while extra < end:
        text = record.value + extra.at
        if text.at != NULL:
            dst = copy_blocks(extra.key, extra.n, dst)
            if extra.value == EXTRA_VALUE:
                dst = copy_blocks(text.at, text.n, dst)
            else:
                dst = put_masked(w, &OTHER_LINE, text[0], True, STRING_IN_CELL if w.csv else STRING, dst)
            dst[0] = dst[1] = c'"'
            dst += quote
        extra += 1
    if dst == start:
        return dst
    start[0] = c'{'
    dst[0] = c'}'
    return dst + 1


cdef Text text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, bint *masked) noexcept nogil:
    """Return the text of which a field is written, like text_in(). Not for `extra` and flags."""
    cdef const FastPlan *fast = record.plan
    cdef Text text, list, address, port
    cdef size_t k
    masked[0] = False
    if member.value == PARAMETER_VALUE:
        text = record.value[QUERY_AT] if fast.has_request else text_of(NULL, 0)
        return parameter_of(w, text, &member.field.name, masked)
    if member.dynamic:
        for k in range(fast.extras):
            if fast.extra[k].name.n == member.field.name.n and memcmp(
                    fast.extra[k].name.at, member.field.name.at, member.field.name.n) == 0:
                return record.value[fast.extra[k].at]
        return text_of(NULL, 0)
    text = record.value[member.at]
    if member.value == ADDRESSES_VALUE:
        list = text
        if not next_address(&list, &address, &port):
            text = text_of(NULL, 0)
    elif member.value == CLASS_VALUE and text.n != 3:
        text = text_of(NULL, 0)
    return text


cdef uint8_t *put_text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, Text text, bint masked,
                                 Place place, uint8_t *dst) noexcept nogil:
    """Write the value of a field that is a text, given the text of text_in_record(). Nothing: it is missing."""
    cdef FastPlan *fast = record.plan
    cdef uint8_t time[TIME_SIZE + BLOCK]
    cdef size_t size
    if masked:
        return put("***", 3, dst)
    if member.value == TIME_VALUE:
        return put_fast_time(fast.time, text, dst)
    if member.value == PATH_VALUE:
        if record.plain or record.decoded:
            return copy_blocks(text.at, text.n, dst)
        return put_decoded(w, &PLAIN_LINE, text, False, place, dst)
    if member.value == PARAMETER_VALUE:
        return put_decoded(w, &PLAIN_LINE, text, True, place, dst)
    if member.value == MASKED_VALUE:
        return put_masked(w, &PLAIN_LINE, text, member.at != TARGET_AT or record.value[PATH_AT].at == NULL, place, dst)
    if member.value == EXTRA_VALUE:
        return put_masked(w, &OTHER_LINE, text, True, place, dst)
    if member.value == PERIOD_VALUE:
        size = put_fast_moment(fast.time, text, time)
        return dst + period_of(time, size, member.field.period, dst) if size else dst
    if member.value == CLASS_VALUE:
        return put_class(text, dst)
    return copy_blocks(text.at, text.n, dst)


cdef inline uint8_t *put_missing(const Writer *w, const FastMember *member, uint8_t *dst) noexcept nogil:
    """Write the value of a member that is missing, whose key has been written."""
    dst -= member.text
    memcpy(dst, b"null", 4)
    return dst if w.csv else dst + 4


cdef inline uint8_t *put_end(const Writer *w, const FastMember *member, uint8_t *start, uint8_t *dst) noexcept nogil:
    """End a value that has been written from `start` on."""
    if w.csv_safe and member.text and starts_formula(start, dst - start):
        memmove(start + 1, start, dst - start)
        start[0] = c"'"
        dst += 1
    dst[0] = c'"'
    return dst + member.text


cdef inline size_t put_fast_seconds(Text text, int unit, uint8_t *dst) noexcept nogil:
    """Write a duration, like put_seconds()."""
    cdef size_t digits = <size_t>-unit, n = text.n
    cdef bint point
    if n <= 8:
        point = bytes_equal(word_at(text.at) & FIRST_BYTES[n], c'.') != 0
    else:
        point = memchr(text.at, c'.', n) != NULL
    if text.at[n - 1] != c'0':
        if unit == 0 and point and (text.at[0] != c'0' or text.at[1] == c'.'):
            copy_blocks(text.at, n, dst)
            return n
        if unit < 0 and not point and text.at[0] != c'0':
            if n <= digits:
                memcpy(dst, b"0.00000000", 10)
                copy_blocks(text.at, n, dst + 2 + digits - n)
                return 2 + digits
            copy_blocks(text.at, n - digits, dst)
            copy_blocks(text.at + n - digits, digits, dst + n - digits + 1)
            dst[n - digits] = c'.'
            return n + 1
    return put_seconds(text, unit, dst)


cdef uint8_t *put_other(FastPlan *fast, const Writer *w, FastRun *run, const FastRecord *record, const FastMember *member,
                        uint8_t *dst) noexcept nogil:
    """Write a value that is not a copy."""
    cdef Text text
    cdef bint masked
    cdef uint8_t *start = dst
    if member.value == EXTRAS_VALUE:
        dst = put_fast_extras(fast, w, record, dst)
        if dst == start:
            return dst - member.own if member.field.optional and not w.csv else put_missing(w, member, dst)
        return put_end(w, member, start, dst)
    if member.value == FLAGS_VALUE:
        return put_flags(flags_of_record(w, record), w.csv, dst)
    text = text_in_record(w, record, member, &masked)
    if text.at == NULL:
        return put_missing(w, member, dst)
    run.seen |= member.bit
    if member.value == QUERY_VALUE:
        dst = put_any_query(w, run, record, dst)
    elif member.value == PATH_VALUE and record.usual:
        dst = put_escaped(w, run, text, False, CELL if w.csv else STRING, dst)
    elif member.value == SECONDS_VALUE:
        dst += put_fast_seconds(text, fast.plan.duration_unit, dst)
    elif member.value == ADDRESSES_VALUE:
        dst = put_fast_addresses(text, w.csv, dst)
    else:
        dst = put_text_in_record(w, record, member, text, masked, CELL if w.csv else STRING, dst)
        if dst == start and member.value == PERIOD_VALUE:
            return put_missing(w, member, dst)
    return put_end(w, member, start, dst)


cdef uint8_t *put_fast(FastPlan *fast, const Writer *w, FastRun *run, const FastRecord *record, uint8_t *dst) noexcept nogil:
    cdef const FastMember *member = fast.member
    cdef const FastMember *end = member + fast.members
    cdef const Text *text
    cdef uint8_t *start
    cdef uint32_t seen = 0
    cdef bint csv_safe = w.csv_safe
    while member < end:
        dst = copy_blocks(member.key, member.n, dst)
        text = record.value + member.at
        start = dst
        if member.value == COPIED or member.value == PATH_VALUE and (record.plain or record.decoded):
            if text.at != NULL:
                dst = copy_long(text.at, text.n, dst) if member.is_long else copy_blocks(text.at, text.n, dst)
                if csv_safe:
                    dst = put_end(w, member, start, dst)
                else:
                    dst[0] = c'"'
                    dst += member.text
                seen |= member.bit
            else:
                dst = put_missing(w, member, dst)
        elif member.value == TIME_VALUE and text.at == record.known_time and text.at != NULL:
            dst = put_end(w, member, start, put_known_time(fast.time, text.at, dst))
            seen |= member.bit
        elif (member.value == EXTRAS_VALUE and 0 < fast.extras <= 2 and record.value[fast.extra.at].at == NULL
                and record.value[fast.extra[fast.extras - 1].at].at == NULL):
            dst = dst - member.own if member.field.optional and not w.csv else put_missing(w, member, dst)
        else:
            dst = put_other(fast, w, run, record, member, dst)
        member += 1
    run.seen |= seen
    return copy_blocks(fast.tail, fast.tail_n, dst)


# --- conditions -------------------------------------------------------------------------------------------------------

cdef bint keeps(const Writer *w, const FastRecord *record, bint late) noexcept nogil:
    """Return whether a record meets the conditions; those on the request if `late`, or else the others."""
    cdef const FastMember *member
    cdef const Filter *filter
    cdef Text text
    cdef size_t i
    cdef bint masked
    cdef int64_t micros
    for i in range(w.filters):
        filter, member = w.filter + i, record.plan.filter + i
        if member.late != late:
            continue
        if member.value == FLAGS_VALUE:
            if not matches_flags(filter, flags_of_record(w, record)):
                return False
            continue
        text = text_in_record(w, record, member, &masked) if member.at >= 0 else text_of(NULL, 0)
        if text.at != NULL and filter.comparison == AS_MOMENT:
            if not (read_moment(record, text, w.zone, &micros) and matches_moment(filter, micros)):
                return False
            continue
        if text.at != NULL and not (member.value == COPIED or member.value == ADDRESSES_VALUE
                                    or member.value == PATH_VALUE and (record.plain or record.decoded)):
            text = text_of(w.value, put_value_of_record(w, record, member, text, masked, w.value) - w.value)
            if text.n == 0 and member.value == PERIOD_VALUE:
                text.at = NULL
        if not matches(filter, text):
            return False
    return True


cdef uint8_t *put_value_of_record(const Writer *w, const FastRecord *record, const FastMember *member, Text text, bint masked,
                                  uint8_t *dst) noexcept nogil:
    if member.value == SECONDS_VALUE:
        return dst + put_fast_seconds(text, record.plan.plan.duration_unit, dst)
    return put_text_in_record(w, record, member, text, masked, RAW, dst)


# --- lines ------------------------------------------------------------------------------------------------------------

cdef size_t write_fast(const FastFormat *format, const Writer *w, size_t record_extra, FastRun *run, uint8_t *dst,
                       size_t capacity, size_t *written) noexcept nogil:
    """Write the records of lines from run.start on, up to the first that is declined, or does not fit. Return their number."""
    cdef FastRecord record
    cdef size_t lines = 0
    while run.start < run.n and read_fast(format, run, &record):
        if record.dropped:
            run.start = record.next
            run.dropped += 1
            lines += 1
            continue
        if capacity - written[0] < 24 * (record.end - run.start) + record_extra:
            break
        written[0] = put_fast(record.plan, w, run, &record, dst + written[0]) - dst
        run.start = record.next
        lines += 1
    return lines
