"""Most lines of text logs, read and written at once.

A line of an access log is mostly printable ASCII without a backslash, with the quotes that the format has and a usual
request. Such a line is read from marks and written without a call per field:

    lines   -> marks                four bitmaps, by a kernel: what needs care, spaces, quotes, delimiters of queries
            -> where fields end     the next mark, if the literal that the format has stands there
            -> record               constants joined in advance, and copies of 32 bytes

`_programs` and `_records` define what a record is. This module never decides otherwise: where it is not certain, it
declines the line, and they read it. Only then is it an error, too. A line is declined before any of its bytes count as
written.

A variant of the format is passed over only if the exact reader would pass over it, for the same reason: a field or a
literal is not there.
"""
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._kernels cimport ByteSet, kernels, remove_byte, uc_lowest_bit
from uricodec._records._framing cimport starts_formula
from uricodec.logs._fields cimport *
from uricodec.logs._filters cimport matches, matches_flags, matches_moment
from uricodec.logs._programs cimport *
from uricodec.logs._texts cimport *

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_Calloc, PyMem_Free


cdef ByteSet PRINTABLE = ByteSet(range(0x20, 0x7F))
cdef ByteSet NO_LINE_END = ByteSet(range(256)) - "\r\n"
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
    mine.step = step
    if step.kind > ENDPOINT:    # fix_value() is not called
        return False
    mine.work |= (IS_NUMBER if step.kind == NUMBER else IS_DECIMAL if step.kind == DECIMAL else
                  IS_ENDPOINT if step.kind == ENDPOINT else 0)
    if plan.escapes == HASHES and step.slot >= 0 and (mine.byte == c'"' or mine.byte == c'}'):
        mine.work |= HAS_HASHES
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
        mine.is_word = mine.byte == c' ' and step.n == 1 and mine.work == 0 and not mine.may_end
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
    if field.kind == CLIENT_VALUE and of_slot[FORWARDED_FOR] >= 0:
        return max(of_slot[CLIENT], 0)
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
            set_member(fast.extra + fast.extras, b"", key.replace(b'"', b'""') if w.csv else key, EXTRA_VALUE, at, kept)
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
        if value == CLIENT_VALUE and of_slot[FORWARDED_FOR] < 0 or (
                value == EXTRA_VALUE and not dynamic and w.names == NULL and at < <int>fast.steps):
            value = COPIED
        member = fast.member + fast.members
        set_member(member, before, key, value, at, kept)
        member.bit, member.column, member.field, member.dynamic = 1u << max(field.slot, 0), <int>i, field, dynamic
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
        if field.kind == CLIENT_VALUE and of_slot[FORWARDED_FOR] < 0:
            member.value = COPIED
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
    for i in range(PARTS):
        fast.part[i] = of_slot[PART_SLOTS[i]]
        fast.has_request |= fast.part[i] >= 0
        fast.one_request = fast.part[i] >= 0 if i == 0 else fast.one_request and fast.part[i] < 0
    return set_members(fast, w, of_slot, kept)


cdef int set_fast(FastFormat *format, const Plan **plan, int variants, const size_t *shared, const Writer *w, list kept) except -1:
    """Compile the variants of a format. `kept` gets what they point to. free_fast() must be called, in any case."""
    cdef int i
    cdef size_t k
    cdef FastPlan *fast
    cdef const FastStep *step
    format.plan = <FastPlan **>PyMem_Calloc(variants + 1, sizeof(FastPlan *))
    if format.plan == NULL:
        raise MemoryError  # pragma: no cover: no memory
    format.writer, format.others = w, NO_LINE_END.set
    for i in range(variants):
        fast = <FastPlan *>PyMem_Calloc(1, sizeof(FastPlan))
        if fast == NULL:
            raise MemoryError  # pragma: no cover: no memory
        format.plan[i], fast.time = fast, &format.time
        format.variants = i + 1
        if not set_plan(fast, plan[i], w, kept):
            free_plan(fast)
            format.plan[i] = NULL
            continue
        fast.shared = shared[i] if i and format.plan[i - 1] != NULL else 0
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

cdef const uint64_t LOW_NIBBLES = 0x0F0F0F0F0F0F0F0F
cdef const uint64_t SIXES = 0x0606060606060606


cdef bint is_known_time(const FastTime *time, const uint8_t *s) noexcept nogil:
    """Return whether a time differs from the one that is known in digits of its clock and its fraction alone."""
    cdef uint64_t word, differs = 0, above = 0
    cdef int i
    cdef const uint8_t *clock = s + time.clock
    if time.n == 0:
        return False
    for i in range(4):
        word = word_at(s + 8 * i)
        differs |= (word ^ time.word[i]) & time.mask[i]
        above |= (word & LOW_NIBBLES) + SIXES & time.digits[i]
    return ((differs | above) == 0 and (clock[0] < c'2' or clock[0] == c'2' and clock[1] < c'4')
            and clock[3] < c'6' and clock[6] < c'6')


cdef void know_time(FastTime *time, const uint8_t *s, size_t n) noexcept nogil:
    """Remember a time of n bytes, if it has a date and a clock in which the digits may change."""
    cdef uint8_t bytes[BLOCK]
    cdef uint8_t mask[BLOCK]
    cdef uint8_t digits[BLOCK]
    cdef size_t i
    time.n = 0
    if n > BLOCK or n < 19 or s[2] != c'/' and s[4] != c'-':
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
    memset(bytes, 0, BLOCK)
    memset(mask, 0, BLOCK)
    memset(digits, 0, BLOCK)
    for i in range(n):
        mask[i] = 0xFF
        if time.clock <= i < time.clock + time.size and is_digit(s[i]):
            mask[i], digits[i] = 0xF0, 0x10
        bytes[i] = s[i] & mask[i]
    for i in range(4):
        time.word[i], time.mask[i], time.digits[i] = word_at(bytes + 8 * i), word_at(mask + 8 * i), word_at(digits + 8 * i)
    time.n = n


cdef size_t put_fast_moment(FastTime *time, Text text, uint8_t *dst) noexcept nogil:
    """Write a time in the form of RFC 3339. Return its size; 0 if it is logged in another form."""
    if text.n == time.n and is_known_time(time, text.at):
        memcpy(dst, time.written, 16)
        memcpy(dst + 11, text.at + time.clock, BLOCK)
        memcpy(dst + 11 + time.size, time.written + 11 + time.size, 8)
        return time.written_n
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


cdef inline bint is_of_digits(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether the n <= 8 bytes at s are digits."""
    cdef uint64_t word = (word_at(s) ^ <uint64_t>0x3030303030303030) & FIRST_BYTES[n]
    return (word + <uint64_t>0x7676767676767676 | word) & <uint64_t>0x8080808080808080 == 0


cdef inline bint is_number(Text text) noexcept nogil:
    """Return whether a number needs no care: no sign, no zero before it, at most 16 digits."""
    if text.at[0] == c'0' and text.n > 1:
        return False
    if text.n <= 8:
        return is_of_digits(text.at, text.n)
    return text.n <= 16 and is_of_digits(text.at, 8) and is_of_digits(text.at + 8, text.n - 8)


cdef bint is_decimal(Text text) noexcept nogil:
    """Return whether a number is of at most 17 digits, with a fraction or without."""
    cdef size_t i = 0
    if text.n > 18 or not is_digit(text.at[text.n - 1]):
        return False
    while i < text.n and is_digit(text.at[i]):
        i += 1
    if i == 0 or i < text.n and text.at[i] != c'.':
        return False
    i += 1
    while i < text.n:
        if not is_digit(text.at[i]):
            return False
        i += 1
    return True


cdef inline bint is_usual_value(const FastStep *step, Text *text) noexcept nogil:
    """Return whether a number needs no care; drop the port of an address."""
    cdef size_t n
    if step.work & HAS_HASHES and memchr(text.at, c'#', text.n) != NULL:
        return False
    if step.work & IS_NUMBER:
        return is_number(text[0])
    if step.work & IS_DECIMAL:
        return is_decimal(text[0])
    if not step.work & IS_ENDPOINT:
        return True
    n = text.n
    while n and is_digit(text.at[n - 1]):
        n -= 1
    if n < 2 or n == text.n or text.at[n - 1] != c':' or text.at[0] == c'[' or memchr(text.at, c':', n - 1) != NULL:
        drop_port(text)
    else:       # the only colon
        text.n = n - 1
    return True


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


cdef FastOutcome read_fields(FastPlan *fast, size_t first, size_t i, const FastRun *run, size_t end,
                             FastRecord *record) noexcept nogil:
    """Find the fields of a line, from a step on. The line is from i to `end` in the window.

    Offsets come from marks alone: another thread may change the bytes meanwhile.
    """
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *spaces = run.mark[<int>SPACES]
    cdef const uint64_t *quotes = run.mark[<int>QUOTES]
    cdef const FastStep *step
    cdef size_t k, n, stop = 0, quote
    cdef size_t line = i
    cdef bint ended = False
    if first == 0:
        record.stopped = 0
        if not stands_at(s + i, &fast.start):
            return NO_MATCH
        i += fast.start.n
    quote = far_mark(quotes, i)
    for k in range(first, fast.steps):
        step = fast.step + k
        record.start[k] = i
        if step.is_word:
            stop = next_mark(spaces, i)
            if stop < end and stop < quote:
                record.value[k].at, record.value[k].n = s + i, stop - i
                if stop - i <= 1 and (stop == i and step.empty_is_missing or stop > i and s[i] == c'-'):
                    record.value[k].at, record.value[k].n = NULL, 0
                i = stop + 1
                continue
        record.stopped = k
        if step.work & (IS_NUMBER | IS_DECIMAL):
            while i < end and s[i] == c' ':
                i += 1
        if step.take == TO_SPACE:
            stop = next_mark(spaces, i)
        elif step.take == TO_QUOTE:
            stop = quote
            if stop == end:
                return NO_MATCH
        elif step.take == TO_BYTE:
            stop = next_mark(run.stops, i)
            while stop < end and s[stop] != step.byte:
                stop = next_mark(run.stops, stop + 1)
        elif step.take == TO_TIME_END:
            if end - i < 19 or not is_known_time(fast.time, s + i) or not stands_at(s + i + fast.time.n, step) or (
                    step.n == 0 and i + fast.time.n < end):
                stop = line + end_of_time(step.step, s + line, i - line, end - line)
                know_time(fast.time, s + i, stop - i)
                if fast.time.n == 0 and step.before_time:
                    return DECLINED
            else:
                stop = i + fast.time.n
                if step.byte == c' ' and (s[stop + 1] == c'+' or s[stop + 1] == c'-'):
                    return DECLINED     # a zone
                if stop > end:
                    return DECLINED
        elif step.take == TO_LITERAL:
            stop = next_mark(run.stops, i)
            while stop < end and not stands_at(s + stop, step):
                stop = next_mark(run.stops, stop + 1)
        elif step.take == TO_LIST_END:
            stop = line + end_of_list(step.step, s + line, i - line, end - line)
        else:
            stop = end
        if stop > end:
            return DECLINED
        if not stands_at(s + stop, step):
            if not step.may_end or stop + (step.take == TO_QUOTE) < end:
                return DECLINED if step.before_time else NO_MATCH
            n, ended = end, True
        else:
            n = stop + step.n
        if stop > quote:
            return DECLINED         # a quote in a field that is not in quotes
        record.value[k].at, record.value[k].n = s + i, stop - i
        if stop - i <= 1 and (stop == i and step.empty_is_missing or stop > i and s[i] == c'-'):
            record.value[k].at, record.value[k].n = NULL, 0
        elif step.work & (IS_NUMBER | IS_DECIMAL | IS_ENDPOINT | HAS_HASHES) and not is_usual_value(step, record.value + k):
            return DECLINED
        if step.work & (HAS_QUOTE | NUMBER_FOLLOWS) and not ended:
            if step.work & NUMBER_FOLLOWS and not (is_digit(s[n]) or s[n] == c'-'):
                return DECLINED
            if step.work & HAS_QUOTE:
                quote = far_mark(quotes, n)
        i = n
        if ended:
            break
    if ended:
        for k in range(record.stopped + 1, fast.steps):
            record.value[k].at, record.value[k].n = NULL, 0
    record.stopped = fast.steps
    record.value[fast.steps].at, record.value[fast.steps].n = NULL, 0
    if i < end:
        return read_rest(fast, s, i, end, record)
    return READ


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


# " HTTP/", and the bytes of a word that it has.
cdef uint64_t PROTOCOL_START = word_at(<const uint8_t *>b" HTTP/\0\0"), PROTOCOL_BYTES = FIRST_BYTES[6]


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
    cdef size_t i = 7
    if n < 8 or memcmp(s, b"http", 4) != 0:
        return 0
    if s[4] == c's':
        i = 8
    if memcmp(s + i - 3, b"://", 3) != 0:
        return 0
    while i < n and s[i] != c'/' and s[i] != c'?':
        i += 1
    return i


cdef bint split_usual(Text text, const FastRun *run, FastRecord *record) noexcept nogil:
    """Split a request of the form METHOD SP "/" ... SP "HTTP/d.d". False: it has another form."""
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *marks = run.mark[<int>DELIMITERS]
    cdef size_t path, start = text.at - s, stop = start + text.n, at = next_mark(run.mark[<int>SPACES], start)
    cdef bint plain = True
    if text.n < 13 or at + 10 >= stop or not is_method(s + start, at - start):
        return False
    stop -= 9
    if word_at(s + stop) & PROTOCOL_BYTES != PROTOCOL_START or not (
            is_digit(s[stop + 6]) and s[stop + 7] == c'.' and is_digit(s[stop + 8])):
        return False
    record.value[METHOD_AT].at, record.value[METHOD_AT].n = s + start, at - start
    path = start = at + 1
    if s[start] != c'/':
        path += authority_of(s + start, stop - start)
        if path == start or record.value[METHOD_AT].at[0] == c'C':     # CONNECT
            return False
    record.value[TARGET_AT].at, record.value[TARGET_AT].n = s + start, stop - start
    record.value[PROTOCOL_AT].at, record.value[PROTOCOL_AT].n = s + stop + 1, 8
    at = next_mark(marks, path)
    while at < stop and s[at] != c'?':
        if s[at] == c'%':
            plain = False
        at = next_mark(marks, at + 1)
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
    cdef size_t size = min(run.n - run.start, <size_t>WINDOW), words = size + 63 >> 6
    cdef int k
    kernels.mark_classes(run.src + run.start, size, &CLASSES, run.marks)
    run.marks[4 * words] = run.marks[4 * words + 1] = run.stops[words] = 0
    for k in range(4):
        run.mark[k] = run.marks + <size_t>k * words
    if format.has_stops:
        kernels.mark_outside(run.src + run.start, size, &format.others, run.stops)
    run.window, run.window_end = run.start, run.start + size


cdef inline bint ends_line(const FastRun *run, size_t at) noexcept nogil:
    """Return whether a byte of the window was "\\r" or "\\n" when it was marked: only these are in two of the bitmaps."""
    return (run.mark[<int>SPACES][at >> 6] & run.mark[<int>QUOTES][at >> 6]) >> (at & 63) & 1


cdef bint find_end(const FastFormat *format, FastRun *run, size_t *end, size_t *next) noexcept nogil:
    """Find the end of the line at run.start. False: it has a byte that needs care, or is none that this module reads.

    A line is declined near the end of the source, since copies load up to BLOCK bytes after the end of a text.
    """
    cdef size_t at, size, w
    cdef uint64_t word
    cdef const uint64_t *marks
    if run.start >= run.window_end or run.start < run.window:
        mark_window(format, run)
    while True:
        marks = run.mark[<int>CARE]
        at, size = run.start - run.window, run.window_end - run.window
        w = at >> 6
        word = marks[w] >> (at & 63) << (at & 63)
        while word == 0:
            w += 1
            if w << 6 >= size:
                break
            word = marks[w]
        at = (w << 6) + <size_t>uc_lowest_bit(word) if word else size
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
        if outcome == READ:
            record.plan = fast
            record.dropped = not keeps(format.writer, record, False)
            if fast.reads_request and not record.dropped:
                read_the_request(fast, run, record)
                record.dropped = not keeps(format.writer, record, True)
            return True
        if outcome == DECLINED:
            return False
    return False


# --- writing ----------------------------------------------------------------------------------------------------------

PLAIN_LINE.plain = True
OTHER_LINE.plain = False


cdef inline uint8_t *put_fast_text(const Writer *w, Text text, bint escaped, Place place, uint8_t *dst) noexcept nogil:
    """Write the name or the value of a parameter."""
    if escaped:
        return put_decoded(w, &PLAIN_LINE, text, True, place, dst)
    return copy_blocks(text.at, text.n, dst)


cdef uint8_t *put_fast_query(const Writer *w, const FastRun *run, Text query, uint8_t *dst) noexcept nogil:
    """Write the parameters, like put_query()."""
    cdef const uint8_t *s = run.src + run.window
    cdef const uint64_t *marks = run.mark[<int>DELIMITERS]
    cdef size_t start = query.at - s, stop = start + query.n, at, equals
    cdef bint escaped, escaped_name
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    cdef size_t quote = 2 if w.csv else 1
    cdef uint8_t *first = dst
    while start < stop:
        equals = stop
        escaped = escaped_name = False
        at = next_mark(marks, start)
        while at < stop and s[at] != c'&':
            if s[at] == c'=':
                if equals == stop:
                    equals, escaped_name, escaped = at, escaped, False
            elif s[at] != c'?':
                escaped = True
            at = next_mark(marks, at + 1)
        at = min(at, stop)
        if at > start:
            memcpy(dst, b',[""', 4)
            dst += 2 + quote
            if equals == stop:
                dst = put_fast_text(w, text_of(s + start, at - start), escaped, place, dst)
                memcpy(dst, b'"",""', 5)
                dst[quote] = c','
                memset(dst + quote + 1, c'"', 2)
                dst += 2 * quote + 1
            else:
                dst = put_fast_text(w, text_of(s + start, equals - start), escaped_name, place, dst)
                memcpy(dst, b'"",""', 5)
                dst[quote] = c','
                memset(dst + quote + 1, c'"', 2)
                dst = put_fast_text(w, text_of(s + equals + 1, at - equals - 1), escaped, place, dst + 2 * quote + 1)
            memcpy(dst, b'""', 2)
            dst[quote] = c']'
            dst += quote + 1
        start = at + 1
    if dst == first:
        dst += 1
    first[0] = c'['
    dst[0] = c']'
    return dst + 1


cdef uint8_t *put_fast_addresses(Text list, bint csv, uint8_t *dst) noexcept nogil:
    """Write a list of addresses as a JSON array; nothing if it has none."""
    cdef uint8_t *start = dst
    cdef Text address
    cdef size_t quote = 2 if csv else 1
    while next_address(&list, &address):
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
    cdef const Text *text
    cdef size_t k, quote = 2 if w.csv else 1
    for k in range(fast.extras):
        text = record.value + extra[k].at
        if text.at == NULL:
            continue
        dst = copy_blocks(extra[k].key, extra[k].n, dst)
        if w.names != NULL or extra[k].at == <int>fast.steps:
            dst = put_masked(w, &OTHER_LINE, text[0], True, STRING_IN_CELL if w.csv else STRING, dst)
        else:
            dst = copy_blocks(text.at, text.n, dst)
        dst[0] = dst[1] = c'"'
        dst += quote
    if dst == start:
        return dst
    start[0] = c'{'
    dst[0] = c'}'
    return dst + 1


cdef Text text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, bint *masked) noexcept nogil:
    """Return the text of which a field is written, like text_in(). Not for `extra` and flags."""
    cdef const FastPlan *fast = record.plan
    cdef Text text, list, address
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
    if member.value == CLIENT_VALUE:
        list = record.value[fast.step_of[FORWARDED_FOR]]
        if fast.step_of[CLIENT] < 0:
            text = text_of(NULL, 0)
        if next_address(&list, &address):
            text = address
    elif member.value == ADDRESSES_VALUE:
        list = text
        if not next_address(&list, &address):
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
    cdef const uint8_t *point = <const uint8_t *>memchr(text.at, c'.', text.n)
    cdef size_t digits = <size_t>-unit, n = text.n
    if text.at[n - 1] != c'0':
        if unit == 0 and point != NULL and (text.at[0] != c'0' or text.at[1] == c'.'):
            copy_blocks(text.at, n, dst)
            return n
        if unit < 0 and point == NULL and text.at[0] != c'0':
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
    cdef Entry entry
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
        if record.usual and w.names == NULL:
            dst = put_fast_query(w, run, text, dst)
        else:
            entry.text[QUERY], entry.plain = text, True
            dst = put_query(w, &entry, STRING_IN_CELL if w.csv else STRING, dst)
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
    while member < end:
        dst = copy_blocks(member.key, member.n, dst)
        if member.value != COPIED:
            dst = put_other(fast, w, run, record, member, dst)
        else:
            text = record.value + member.at
            if text.at == NULL:
                dst = put_missing(w, member, dst)
            else:
                start = dst
                dst = put_end(w, member, start, copy_blocks(text.at, text.n, dst))
                seen |= member.bit
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
            if not matches_moment(filter, w.value, put_fast_moment(record.plan.time, text, w.value), w.zone):
                return False
            continue
        if text.at != NULL and not (member.value == COPIED or member.value == CLIENT_VALUE or member.value == ADDRESSES_VALUE
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
