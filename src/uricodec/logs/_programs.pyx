# distutils: extra_compile_args=-Os
"""Compiled formats of logs. A format is a program of steps; each reads one field, up to the literal that follows it.

uricodec.logs._formats makes programs from LogFormat strings, log_format strings, presets and JSON mappings. They run over
the bytes of a line, without Python objects, and fill an Record. A line is read from left to right, once: no step takes
back what an earlier one has decided. If a line does not match, the error names the field and the offset.

There are three notations: lines of text, JSON objects (RFC 8259 section 4), and the extended format of W3C (Working Draft
WD-logfile-960323), whose "#Fields:" lines say what the columns mean.
"""
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_GET_SIZE, PyMem_Calloc, PyMem_Free
from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.logs._fields cimport *
from uricodec.logs._json cimport *
from uricodec.logs._line cimport *

cimport cython


# The standard fields by name, with their slots.
cdef dict SLOTS_BY_NAME = {
    "client": CLIENT, "user": USER, "date": DATE, "time": TIME, "request": REQUEST, "method": METHOD, "target": TARGET,
    "path": PATH, "path_decoded": PATH, "target_decoded": PATH, "query": QUERY, "protocol": PROTOCOL,
    "status": STATUS, "bytes_sent": BYTES_SENT,
    "referer": REFERER, "user_agent": USER_AGENT, "vhost": VHOST, "duration": DURATION, "forwarded_for": FORWARDED_FOR,
}
cdef dict KINDS = {
    "after_host": WORD,
    "word": WORD, "text": TEXT, "cut": TEXT, "quoted": QUOTED, "list": LIST, "number": WORD, "decimal": WORD, "endpoint": WORD,
    "address": WORD, "site": WORD, "time": TIME_TEXT, "query": WORD, "uncertain": WORD, "in_quotes": WORD,
}

# Bytes of a line in which every text is printable ASCII without quote and backslash, if its fields contain no quote.
cdef ByteSet NO_BACKSLASH = ByteSet(range(0x20, 0x7F)) - "\\"
cdef ByteSet NO_QUOTE = NO_BACKSLASH - '"'


cdef ByteSet IN_LITERAL = ByteSet(range(0x20, 0x7F)) - "\\" | "\t"
cdef ByteSet PLAIN_LABELS = ByteSet(range(0x20, 0x7F)) - '"\\' | "\t"
cdef ByteSet IN_LABEL = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")     # ltsv.org
cdef ByteSet IN_TIME = ByteSet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/: +-.")
cdef ByteSet DIGITS = ByteSet("0123456789")

# The extra field for the port of the client.
cdef const char *CLIENT_PORT = "client_port"

# The fields that visitors write, and which therefore may have quotes.
cdef uint32_t VISITORS = (1 << USER | 1 << REQUEST | 1 << TARGET | 1 << PATH | 1 << QUERY | 1 << REFERER | 1 << USER_AGENT
                          | 1 << FORWARDED_FOR)

# What a format may have of a request, which becomes method, target, path, query and protocol.
cdef uint32_t REQUEST_MEMBERS = (1 << REQUEST | 1 << METHOD | 1 << TARGET | 1 << PATH | 1 << QUERY | 1 << PROTOCOL)


cdef size_t find_literal(const uint8_t *s, size_t i, size_t n, const uint8_t *literal, size_t size) noexcept nogil:
    """Return the offset of a literal from i on; n if it does not occur, or is empty."""
    if size == 0:
        return n
    i = find(s, i, n, literal[0])
    while i < n and not starts_with(s, i, n, literal, size):
        i = find(s, i + 1, n, literal[0])
    return i


# --- steps by marks ---------------------------------------------------------------------------------------------------

cdef bint set_literal(Step *step) noexcept:
    """Set how the literal after a field is compared. False: it has bytes that need care."""
    cdef const uint8_t *at = step.literal
    cdef size_t n = step.n
    cdef uint8_t mask[8]
    cdef uint8_t start[8]
    memset(mask, 0, 8)
    memset(start, 0, 8)
    if n:
        memset(mask, 0xFF, min(n, <size_t>8))
        memcpy(start, at, min(n, <size_t>8))
    step.word, step.mask = word_at(start), word_at(mask)
    step.byte = at[0] if n else 0
    step.work |= HAS_QUOTE if n > 0 and memchr(at, c'"', n) != NULL else 0
    step.two_quotes = n > 1 and at[0] == c'"' and at[n - 1] == c'"' and (n == 2 or memchr(at + 1, c'"', n - 2) == NULL)
    return n == 0 or kernels.span(at, n, &IN_LITERAL.set) == n


cdef bint set_step(const Plan *plan, size_t k) noexcept:
    """Set how the end of a field is found by marks. False: its lines are read one by one."""
    cdef Step *step = plan.step + k
    cdef size_t i
    cdef bint last = k + 1 == plan.steps
    if not set_literal(step) or step.n == 0 and not last:
        return False
    if step.kind == AFTER_HOST or step.kind == DECODED_AFTER_HOST:      # of which the host may be wanted alone
        return False
    step.index = k
    step.work |= IS_NUMBER if step.kind == NUMBER else IS_DECIMAL if step.kind == DECIMAL else 0
    step.empty_is_missing = plan.escapes != BACKSLASHES or step.work & (IS_NUMBER | IS_DECIMAL)
    step.may_end = k + 1 >= plan.optional
    if step.number_follows and (step.take == QUOTED or step.take == TEXT):
        step.work |= NUMBER_FOLLOWS
    if step.work & (IS_NUMBER | IS_DECIMAL) and (step.take != WORD or step.slot == DROPPED):
        return False
    if step.take == QUOTED:
        step.until = TO_QUOTE
        return step.byte == c'"'
    if step.take == WORD:
        step.until = TO_SPACE if step.byte == c' ' or step.n == 0 else TO_BYTE
        return True
    if step.take == LIST:
        step.until = TO_LIST_END
        return step.n > 0 and step.byte != c','
    if step.take == TEXT_BEFORE_TIME:
        # Its end is the last literal before the end of the time. If the time has its usual form, which does not contain the
        # literal, that is the first one.
        step.until, step.before_time = TO_LITERAL, True
        if step.byte == c'"' or step[1].take != TIME_TEXT or step[1].n == 0 or IN_TIME.set.member[step[1].literal[0]]:
            return False
        for i in range(step.n):
            if not IN_TIME.set.member[step.literal[i]]:
                return True
        return False
    if step.take == TIME_TEXT:
        if step.n > 0 and step.byte != c' ' and IN_TIME.set.member[step.byte]:  # a usual time contains its end
            return False
        step.until = TO_TIME_END
        step.before_time = k > 0 and (step - 1).take == TEXT_BEFORE_TIME
        return True
    if step.n == 0:
        step.until = TO_SPACE if plan.open_end else TO_LINE_END
    else:
        step.until = TO_BYTE if step.byte == c'"' else TO_SPACE if step.n == 1 and step.byte == c' ' else TO_LITERAL
    return True


cdef size_t skip_pads(const Step *step, const uint8_t *s, size_t end, size_t n, Text *value) noexcept nogil:
    """Return where the literal begins after the end of a value: at the last space. The value is without them."""
    if step.pads & PAD_BEFORE:
        while value.n and value.at[value.n - 1] == c' ':
            value.n -= 1
        while n - end > 1 and s[end] == c' ' and s[end + 1] == c' ':
            end += 1
    return end


cdef inline bint is_word(const Step *step) noexcept:
    return ((step.until == TO_SPACE or step.until == TO_BYTE or step.until == TO_LITERAL) and 1 <= step.n <= 8 and step.byte != c'"'
            and step.work & ~(IS_NUMBER | IS_DECIMAL | HAS_QUOTE) == 0 and not step.pads
            and not (step.slot == VHOST and step.byte == c':'))


cdef bint set_steps(Plan *plan) noexcept:
    """Set how lines are read by marks. False: they are read one by one."""
    cdef Step *last = plan.step + plan.steps
    cdef size_t k
    plan.beginning.literal, plan.beginning.n = plan.start, plan.start_n
    if plan.steps > MOST_STEPS or not set_literal(&plan.beginning):
        return False
    last.until, last.index, last.slot = NO_MORE, plan.steps, plan.rest if plan.rest >= 0 else DROPPED
    for k in range(plan.steps):
        if not set_step(plan, k):
            return False
        plan.step[k].is_word = is_word(plan.step + k)
    return True


# --- lines of text ----------------------------------------------------------------------------------------------------

cdef inline bint number_may_start(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    return i < n and (c'0' <= s[i] <= c'9' or s[i] == c'-')


cdef size_t end_of_text(const Step *step, bint before_time, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of a text: where the literal occurs first. n if it does not occur.

    Before a time it is the last occurrence before the end of the time: a user name may contain " [".
    """
    cdef size_t stop
    if not before_time:
        i = find_literal(s, i, n, step.literal, step.n)
        while i < n and step.number_follows and not number_may_start(s, i + step.n, n):
            i = find_literal(s, i + 1, n, step.literal, step.n)
        return i
    i = find_literal(s, i, n, step.literal, step.n)
    if i == n:
        return n
    stop = find_literal(s, i + step.n, n, step[1].literal, step[1].n)
    if stop == n:       # it is the time that does not end
        return i
    stop -= 1
    while stop > i and not starts_with(s, stop, n, step.literal, step.n):
        stop -= 1
    return stop


cdef size_t end_of_time(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of a time. The spaces between its date, its clock and its zone are not the one that ends it."""
    cdef size_t end = find_literal(s, i, n, step.literal, step.n), date
    cdef int day, month
    if step.n == 0 or step.literal[0] != c' ':
        return end
    date = end_of_date(s + i, n - i, &day, &month)
    if end - i == 10 and (s[i + 4] == c'-' or s[i + 4] == c'/'):        # 2024-10-10 13:55:36, 2024/10/10 - 13:55:36
        end = find_literal(s, end + (3 if n - end > 3 and s[end + 1] == c'-' else 1), n, step.literal, step.n)
    elif date and i + date >= end and i + date < n and s[i + date] == c' ':     # 10/Oct/2024 13:55:36, 10 Oct 2024 13:55:36
        end = find_literal(s, i + date + 1, n, step.literal, step.n)
    elif end - i == 6 and kernels.span(s + i, 6, &DIGITS.set) == 6:     # 241010 13:55:36
        end = find_literal(s, end + 1, n, step.literal, step.n)
    elif n - i > 23 and s[i + 3] == c' ' and s[i + 7] == c' ' and s[i + 13] == c':':        # Thu Oct 10 13:55:36 2024
        end = find_literal(s, i + 20, n, step.literal, step.n)
    if date and n - end > 3 and (memcmp(s + end + 1, b"GMT", 3) == 0 or memcmp(s + end + 1, b"UTC", 3) == 0):
        end = find_literal(s, end + 4, n, step.literal, step.n)
    elif n - end > 5 and (s[end + 1] == c'+' or s[end + 1] == c'-') and kernels.span(s + end + 2, 4, &DIGITS.set) == 4:
        end = find_literal(s, end + 6, n, step.literal, step.n)
    return end


cdef size_t end_of_list(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of a list of words, with ", " or " : " between them."""
    cdef size_t end = find(s, i, n, step.literal[0] if step.n else c' '), next
    if step.n and step.literal[0] == c',':      # goes on with further addresses
        end = find_literal(s, i, n, step.literal, step.n)
        while end < n:
            next = find_literal(s, end + step.n, n, step.literal, step.n)
            if next == n or not is_address(text_of(s + end + step.n, next - end - step.n)):
                break
            end = next
        return end
    if step.n and step.literal[0] != c' ':
        return find_literal(s, i, n, step.literal, step.n)
    while end < n and s[end] == c' ':
        if end > i and s[end - 1] == c',':
            end += 1
        elif n - end > 2 and s[end + 1] == c':' and s[end + 2] == c' ':
            end += 3
        else:
            break
        end = find(s, end, n, c' ')
    return end


cdef size_t end_before_rest(const Plan *plan, const Step *step, bint last, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the offset of the last quote that can end the text which starts at i; n if there is none, or just one possible.

    The literals of the later fields, which have no quotes themselves, contain all quotes after it.
    """
    cdef bint escapes = plan.escapes >= BACKSLASHES
    cdef size_t at, after, spaces = 0
    cdef int quotes = 0
    at = find(s, i, n, c'"')
    while at < n and quotes <= step.quotes + 1:
        quotes += not (escapes and is_escaped(s, at))
        at = find(s, at + 1, n, c'"')
    if quotes <= step.quotes + 1:
        return n
    quotes = 0
    at = n
    while at > i:
        at -= 1
        if s[at] == c' ':
            spaces += 1
        elif s[at] == c'"' and not (escapes and is_escaped(s, at)):
            after = at + step.n
            if (quotes >= step.quotes and spaces >= step.spaces and starts_with(s, at, n, step.literal, step.n)
                    and (not step.number_follows or number_may_start(s, after, n))
                    and (not last or after == n or plan.open_end and s[after] == c' ')):
                return at
            quotes += 1
    return n


cdef inline size_t next_quote(const uint8_t *s, size_t i, size_t n, bint escapes) noexcept nogil:
    """Return the offset of the next quote, which no backslash escapes if there are `escapes`; n or more if there is none."""
    if not escapes:
        return find(s, i, n, c'"')
    while i < n and s[i] != c'"':
        i += 2 if s[i] == c'\\' else 1
    return i


cdef size_t count_quotes(const uint8_t *s, size_t i, size_t n, bint escapes) noexcept nogil:
    cdef size_t count = 0
    i = next_quote(s, i, n, escapes)
    while i < n:
        count += 1
        i = next_quote(s, i + 1, n, escapes)
    return count


cdef size_t end_of_quoted(const Plan *plan, const Step *step, bint last, bint may_end, const uint8_t *s, size_t i, size_t n,
                          Record *record) noexcept nogil:
    """Return the offset of the quote that ends the text which starts at i; n if it does not end.

    The literal that begins with the quote must follow, and a number, if the next field is one. Other unescaped quotes are
    mistakes of the program that wrote the log, and belong to the text. It ends at the last quote that the rest of the
    format allows, if no later field has quotes; otherwise at the first one. Before a rest of any fields, that is the first
    one after which quotes are in pairs: `"Mozilla "5.0" (X11)" "192.0.2.9"` ends before `"192`.
    """
    cdef bint first = True, escapes = plan.escapes >= BACKSLASHES and not record.plain
    cdef size_t after, without_number = n, before_rest = n, quotes = 0
    if step.quotes >= 0:
        after = end_before_rest(plan, step, last, s, i, n)
        if after < n:
            record.plain = False
            # Without quotes in it, they are in what follows the format.
            if find(s, i, after, c'"') < after and record.odd_quotes == NONE_ODD:
                record.odd_quotes = ENDS_SURELY
            return after
    if last and plan.open_end:
        quotes = count_quotes(s, i, n, escapes)
    while True:
        i = next_quote(s, i, n, escapes)
        if i >= n or last and i + step.n == n and before_rest < n and s[i - 1] == c' ':
            # A quote after a space at the end may begin a text that was cut off.
            i = before_rest if before_rest < n else without_number
            if i < n and not first:
                record.plain = False
            return i
        quotes -= 1
        if starts_with(s, i, n, step.literal, step.n):
            after = i + step.n
            if without_number == n:
                without_number = i
            if last:
                if after == n or plan.open_end and s[after] == c' ' and quotes % 2 == 0:
                    break
                # One of the quotes in the rest is alone: perhaps it ends this text.
                if plan.open_end and s[after] == c' ' and before_rest == n:
                    before_rest = i
            elif not step.number_follows or number_may_start(s, after, n):
                break
        elif may_end and i + 1 == n:
            break
        i += 1
        first = False
    if not first:
        record.plain = False
        record.odd_quotes = MAY_END
    return i


# --- JSON -------------------------------------------------------------------------------------------------------------

cdef int child_of(const Node *node, int parent, const uint8_t *key, size_t n) noexcept nogil:
    """Return the index of the node that a key leads to; 0 if there is none. "a.b" is the member "b" of "a", too."""
    cdef int k = node[parent].child, dotted = 0
    while k:
        if node[k].n == n and memcmp(node[k].key, key, n) == 0:
            return k
        if node[k].child and node[k].n < n and key[node[k].n] == c'.' and memcmp(node[k].key, key, node[k].n) == 0:
            dotted = k
        k = node[k].sibling
    if dotted:
        return child_of(node, dotted, key + node[dotted].n + 1, n - node[dotted].n - 1)
    return 0


cdef int child_named(const Node *node, int parent, Text name) noexcept nogil:
    """Return the index of the child with a name in any case; 0 if there is none."""
    cdef int k = node[parent].child
    cdef size_t i
    while k:
        if node[k].n == name.n:
            i = 0
            while i < name.n and (node[k].key[i] == name.at[i] or is_letter(name.at[i]) and (node[k].key[i] ^ name.at[i]) == 0x20):
                i += 1
            if i == name.n:
                return k
        k = node[k].sibling
    return 0


cdef void read_list(const Plan *plan, int parent, const uint8_t *s, size_t i, size_t n, bint plain, Record *record) noexcept nogil:
    """Read the array from i to n: [{"name": "Host", "value": "example.com"}, ...], as AWS WAF has headers."""
    cdef size_t key, end
    cdef int k
    cdef Text name, value
    while True:
        while i < n and s[i] != c'{':
            i = end_of_string(s, i + 1, n, plain) + 1 if s[i] == c'"' else i + 1
        if i >= n:
            return
        i = skip_space(s, i + 1, n)
        name = value = text_of(NULL, 0)
        while i < n and s[i] == c'"':
            key = i + 1
            end = end_of_string(s, key, n, plain)
            i = skip_space(s, min(end + 1, n), n)
            if i == n or s[i] != c':':
                return
            i = skip_space(s, i + 1, n)
            if i == n:
                return
            if s[i] == c'"':
                i += 1
                if end - key == 4 and memcmp(s + key, b"name", 4) == 0:
                    name = text_of(s + i, end_of_string(s, i, n, plain) - i)
                elif end - key == 5 and memcmp(s + key, b"value", 5) == 0:
                    value = text_of(s + i, end_of_string(s, i, n, plain) - i)
                i = end_of_string(s, i, n, plain) + 1
            elif s[i] == c'{' or s[i] == c'[':
                i = skip_nested(s, i, n, plain)
            else:
                end = i
                i = end_of_scalar(s, i, n)
                if i == end:
                    return
            i = skip_space(s, min(i, n), n)
            if i < n and s[i] == c',':
                i = skip_space(s, i + 1, n)
        k = child_named(plan.node, parent, name) if name.at != NULL and value.at != NULL else 0
        if k:
            set_value(plan.node + k, record, value.at, value.n)
            if not plain:
                record.special |= bit_of(plan.node[k].field.slot)


# --- reading ----------------------------------------------------------------------------------------------------------

cdef void take_quotes(Text *text) noexcept nogil:
    """Remove the quotes around a text, which are escaped in JSON."""
    cdef size_t size = 1 + (text.n > 1 and text.at[0] == c'\\')
    if text.n >= 2 * size and text.at[size - 1] == c'"' and text.at[text.n - 1] == c'"' and (
            size == 1 or text.at[text.n - 2] == c'\\'):
        text.at += size
        text.n -= 2 * size


cdef void take_host(Text *target, Text *vhost) noexcept nogil:
    """Take the host, and perhaps a scheme, from before a path: example.org/a, https://example.org/a."""
    cdef size_t start = 0, slash = find(target.at, 0, target.n, c'/')
    if slash and starts_with(target.at, slash - 1, target.n, <const uint8_t *>b"://", 3):   # not a URL in the query
        start = slash + 2
        slash = find(target.at, start, target.n, c'/')
    vhost[0] = text_of(target.at + start, slash - start) if slash > start else text_of(NULL, 0)
    if vhost.n == 1 and vhost.at[0] == c'-':
        vhost[0] = text_of(NULL, 0)
    target.at += slash
    target.n -= slash


cdef void fix_value(const Step *field, Record *record) noexcept nogil:
    """Take away what a format writes around a value; split a path and a query that follow each other."""
    cdef Text *text
    cdef size_t mark
    text = record.text + field.slot
    if text.at == NULL:
        return
    if field.kind == AFTER_HOST or field.kind == DECODED_AFTER_HOST:
        take_host(text, record.text + <int>VHOST)
    if field.slot == QUERY and text.n == 0:     # Apache's "%q" and gunicorn's are empty without a query
        text.at = NULL
    elif field.kind == QUERY_MARK:
        if text.at[0] == c'?':
            text.at += 1
            text.n -= 1
    elif field.kind == IN_QUOTES:
        take_quotes(text)
    elif DECODED_PATH <= field.kind <= DECODED_AFTER_HOST:
        record.decoded = True
        record.uncertain_path = field.kind == UNCERTAIN_PATH
        if field.kind >= DECODED_TARGET:
            mark = find(text.at, 0, text.n, c'?')
            if mark < text.n:
                record.text[QUERY] = text_of(text.at + mark + 1, text.n - mark - 1)
            text.n = mark


cdef inline bint fail_at(const Step *step, size_t offset, Record *record) noexcept nogil:
    return fail(record, FIELD + step.slot if step.slot != DROPPED else FORMAT_ERROR, offset)


cdef bint check_text(const Step *step, Record *record) noexcept nogil:
    """Return whether a number is one, or missing."""
    cdef Text *text = record.text + step.slot
    if text.n == 0 or text.n == 1 and text.at[0] == c'-':
        text.at, text.n = NULL, 0
        return True
    if step.kind == NUMBER:
        return check_number(text)
    return check_duration(record, step.unit) if step.slot == DURATION else check_decimal(text)


cdef Text first_word(const Plan *plan, const uint8_t *s, size_t n) noexcept nogil:
    """Return the first address of a line that begins with one, and what another program wrote before it."""
    cdef size_t end = find(s, 0, n, plan.step.literal[0] if plan.step.n else c' ')
    return text_of(s, find(s, 0, end, c',') if plan.step.take == LIST else end)


cdef bint read_text(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    cdef size_t quote, start = plan.start_n
    cdef Text word
    record.step = 0
    if not starts_with(s, 0, n, plan.start, plan.start_n):
        return fail(record, FORMAT_ERROR, 0)
    if plan.begins_with_client:
        word = first_word(plan, s, n)
        start = source_before(word, plan.endpoint)
        if start > word.n or has_byte(word, c'\t'):
            return fail_at(plan.step, 0, record)
    quote = kernels.span(s, n, &NO_QUOTE.set)       # fields before the first quote contain none
    record.plain = quote == n or s[quote] == c'"' and kernels.span(s + quote, n - quote, &NO_BACKSLASH.set) == n - quote
    record.quote, record.start[0], record.plain_before[0], record.odd_before[0] = quote, start, record.plain, NONE_ODD
    return read_steps(plan, 0, s, n, record)


cdef size_t shared_steps(const Plan *one, const Plan *other, bint odd_quotes) noexcept nogil:
    """Return how many steps two variants begin with in common, none of which is the last one that a line must have.

    `odd_quotes`: also in lines that have more quotes than the format.
    """
    cdef size_t k = 0, most = STEPS_KEPT - 1
    cdef const Step *a
    cdef const Step *b
    if (one.notation != TEXT_LINES or other.notation != TEXT_LINES or one.escapes != other.escapes
            or one.start_n != other.start_n or one.start_n and memcmp(one.start, other.start, one.start_n) != 0):
        return 0
    most = min(most, min(one.optional, other.optional) - 1)
    while k < most:
        a, b = one.step + k, other.step + k
        if (a.take != b.take or a.kind != b.kind or a.slot != b.slot or a.unit != b.unit or a.n != b.n
                or a.pads != b.pads or a.number_follows != b.number_follows or memcmp(a.literal, b.literal, a.n) != 0):
            break
        if odd_quotes and (a.quotes != b.quotes or a.spaces != b.spaces):
            break
        if MEMBERS <= a.slot < SLOTS and (one.name[a.slot - MEMBERS].n != other.name[b.slot - MEMBERS].n or memcmp(
                one.name[a.slot - MEMBERS].at, other.name[b.slot - MEMBERS].at, one.name[a.slot - MEMBERS].n) != 0):
            break
        k += 1
    return k


cdef bint read_steps(const Plan *plan, size_t first, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Read a line from a step on. What precedes it has been read by this variant, or by one with the same steps."""
    cdef const Step *step
    cdef size_t k, i = record.start[first], end = 0
    cdef bint last, may_end
    record.plain, record.odd_quotes = record.plain_before[first], record.odd_before[first]
    for k in range(first, plan.steps):
        step = plan.step + k
        record.step = k
        if k < STEPS_KEPT:
            record.start[k], record.plain_before[k], record.odd_before[k] = i, record.plain, record.odd_quotes
        last = k + 1 == plan.steps
        may_end = k + 1 >= plan.optional
        if (step.kind == NUMBER or step.kind == DECIMAL) and i and s[i - 1] == c' ':
            i = find_other(s, i, n, c' ')       # Squid pads numbers
        if step.take == QUOTED:
            end = end_of_quoted(plan, step, last, may_end, s, i, n, record)
            if end == n:
                return fail_at(step, i - 1, record)
        else:
            if step.take == WORD:
                end = find(s, i, n, step.literal[0] if step.n else c' ')
                if step.slot == VHOST and end < n and i < n and s[i] == c'[' and step.literal[0] == c':':       # IPv6
                    end = find(s, min(find(s, i, n, c']'), n), n, c':')
            elif step.take == TIME_TEXT:
                end = end_of_time(step, s, i, n)
            elif step.take == LIST:
                end = end_of_list(step, s, i, n)
            elif last and plan.open_end and step.n == 0:
                end = find(s, i, n, c' ')
            else:
                end = end_of_text(step, step.take == TEXT_BEFORE_TIME, s, i, n)
            if end == n and step.n and not may_end:
                return fail_at(step, i, record)
            if end > record.quote and record.plain and find(s, i, end, c'"') < end:
                record.plain = False
        record.text[step.slot] = text_of(s + i, end - i)
        if step.pads:
            end = skip_pads(step, s, end, n, record.text + step.slot)
        if step.slot == USER and end - i == 3 and memcmp(s + i, b" - ", 3) == 0:
            record.text[USER] = text_of(s + i + 1, 1)        # Jetty: there is none
        if (step.kind == NUMBER or step.kind == DECIMAL) and step.slot != DROPPED and not check_text(step, record):
            return fail_at(step, i, record)
        if starts_with(s, end, n, step.literal, step.n):
            i = end + step.n
            if step.pads & PAD_AFTER:
                i = find_other(s, i, n, c' ')
        elif may_end and end + (step.take == QUOTED) >= n:
            i = n
            break
        else:
            return fail_at(step if last else step + 1, end, record)
    record.step = plan.steps
    if find_other(s, i, n, c' ') < n:
        if not plan.open_end or s[i] != c' ':
            return fail(record, FORMAT_ERROR, i)
        record.text[plan.rest] = text_of(s + i + 1, n - i - 1)
        if record.plain and find(s, i, n, c'"') < n:
            record.plain = False
    return finish(plan, s, n, record)


cdef bint read_json(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    cdef size_t i = skip_space(s, 0, n)
    if i == n or s[i] != c'{':
        return fail(record, JSON_ERROR, i)
    record.plain = kernels.span(s, n, &NO_BACKSLASH.set) == n
    memset(record.rank, 0, sizeof(record.rank))
    i = read_object(plan, 0, s, i, n, record)
    if i > n:
        return False
    i = skip_space(s, i, n)
    if i < n:
        return fail(record, JSON_ERROR, i)
    return finish(plan, s, n, record)


cdef inline Text undone_name(Record *record, const uint8_t *at, size_t n) noexcept nogil:
    """Return the name of a member, without escapes."""
    cdef size_t size
    if record.plain or memchr(at, c'\\', n) == NULL:
        return text_of(at, n)
    size = json_text(at, n, record.room)
    record.room += size
    return text_of(record.room - size, size)


cdef size_t read_object(const Plan *plan, int parent, const uint8_t *s, size_t i, size_t n, Record *record) noexcept nogil:
    """Read the object that starts at i. Return its end; n + 1, with an error in the record, if it is not valid."""
    cdef size_t end, start, key
    cdef int k
    cdef Text text
    i = skip_space(s, i + 1, n)
    while i < n and s[i] == c'"':
        key = i + 1
        end = end_of_string(s, key, n, record.plain)
        if end == n:
            fail(record, JSON_ERROR, n)
            return n + 1
        text = undone_name(record, s + key, end - key)
        k = child_of(plan.node, parent, text.at, text.n)
        i = skip_space(s, end + 1, n)
        if i == n or s[i] != c':':
            fail(record, JSON_ERROR, i)
            return n + 1
        i = start = skip_space(s, i + 1, n)
        if i < n and s[i] == c'{' and k and plan.node[k].child:
            i = read_object(plan, k, s, i, n, record)
            if i > n:
                return i
            start = i
        elif i < n and (s[i] == c'{' or s[i] == c'['):
            end = skip_space(s, i + 1, n)
            i = skip_nested(s, i, n, record.plain)
            if k and plan.node[k].is_list and s[start] == c'[' and i <= n:
                read_list(plan, k, s, start, i, record.plain, record)
            elif k and s[start] == c'[' and end < n and s[end] == c'"' and i <= n:     # the first text of an array
                set_value(plan.node + k, record, s + end + 1, end_of_string(s, end + 1, n, record.plain) - end - 1)
            start = i
        elif i < n and s[i] == c'"':
            end = end_of_string(s, i + 1, n, record.plain)
            if k and plan.node[k].field.slot >= 0:
                set_value(plan.node + k, record, s + i + 1, end - i - 1)
            elif plan.keep_rest and parent == 0:
                add_extra(record, text, text_of(NULL, 0), s + i + 1, end - i - 1)
            i = end + 1
        else:
            i = end_of_scalar(s, i, n)
            if i == start:
                fail(record, JSON_ERROR, i)
                return n + 1
            if i - start != 4 or memcmp(s + start, b"null", 4) != 0:
                if k and plan.node[k].field.slot >= 0:
                    set_value(plan.node + k, record, s + start, i - start)
                elif plan.keep_rest and parent == 0:
                    add_extra(record, text, text_of(NULL, 0), s + start, i - start)
        i = skip_space(s, i, n)
        if i >= n or s[i] != c',':
            break
        i = skip_space(s, i + 1, n)
        if i == n or s[i] != c'"':
            fail(record, JSON_ERROR, i)
            return n + 1
    if i >= n or s[i] != c'}':
        fail(record, JSON_ERROR, n if i > n else i)
        return n + 1
    return i + 1


cdef bint read_pairs(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Read a line of logfmt: level=info method=GET path="/a b" duration=12ms.

    Words without "=" are passed over, unless they may be the rest of a value that has a name: path=/a b, time=12 ms.
    """
    cdef size_t i = 0, key, end, start
    cdef int k
    cdef bint goes_on = False
    cdef Text name
    record.plain = kernels.span(s, n, &NO_BACKSLASH.set) == n
    memset(record.rank, 0, sizeof(record.rank))
    while True:
        i = key = find_other(s, i, n, c' ')
        if i == n:
            return finish(plan, s, n, record)
        while i < n and s[i] != c' ' and s[i] != c'=' and s[i] != c'"' and s[i] != c'{' and s[i] != c'(' and s[i] != c'[':
            i += 1
        if i == n or s[i] == c' ':
            if goes_on:
                return fail(record, JSON_ERROR, key)
            continue
        if s[i] != c'=':
            return fail(record, JSON_ERROR, i)
        name = text_of(s + key, i - key)
        i += 1
        start = i
        if i < n and s[i] == c'"':
            start += 1
            end = end_of_string(s, start, n, record.plain)
            i = end + 1
            if i > n or i < n and s[i] != c' ':
                return fail(record, JSON_ERROR, end)
        else:
            i = end = find(s, i, n, c' ')
            record.plain &= find(s, start, end, c'"') == end
        k = child_of(plan.node, 0, name.at, name.n)
        goes_on = False
        if k and plan.node[k].field.slot >= 0:
            set_value(plan.node + k, record, s + start, end - start)
            goes_on = i == end
        elif plan.keep_rest and name.n:
            add_extra(record, name, text_of(NULL, 0), s + start, end - start)


cdef bint read_labels(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Read a line of LTSV: host:192.0.2.1<tab>req:GET / HTTP/1.1<tab>status:200."""
    cdef size_t i = 0, colon, end
    cdef int k
    record.plain = kernels.span(s, n, &PLAIN_LABELS.set) == n
    memset(record.rank, 0, sizeof(record.rank))
    while i < n:
        end = find(s, i, n, c'\t')
        colon = i + kernels.span(s + i, end - i, &IN_LABEL.set)
        if i < end:
            if colon == i or colon == end or s[colon] != c':' or i == 0 and is_iso_time(s, 0, n):
                return fail(record, JSON_ERROR, i)
            k = child_of(plan.node, 0, s + i, colon - i)
            if k and plan.node[k].field.slot >= 0:
                set_value(plan.node + k, record, s + colon + 1, end - colon - 1)
            elif plan.keep_rest:
                add_extra(record, text_of(s + i, colon - i), text_of(NULL, 0), s + colon + 1, end - colon - 1)
        i = end + 1
    return finish(plan, s, n, record)


cdef void undo_value(const Plan *plan, const Step *step, Record *record) noexcept nogil:
    """Undo the escapes of the text of a step."""
    if plan.escapes == JSON_ESCAPES:
        undo_json(record, step.slot)
    elif plan.escapes == BACKSLASHES:
        undo_backslashes(record, step.slot)
    elif plan.escapes == HASHES and (step.slot == REQUEST or step.n and (step.literal[0] == c'"' or step.literal[0] == c'}')):
        undo_hashes(record, step.slot, step.n and step.literal[0] == c'}')


cdef bint finish(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Undo the escapes of the fields, then split the request."""
    if not finish_fields(plan, s, n, record):
        return False
    read_request(record)
    return True


cdef void take_spaces(Record *record) noexcept nogil:
    """Give the words before a protocol, `b HTTP/1.1`, to the path before it: a server that has decoded it writes spaces."""
    cdef Text *protocol = record.text + <int>PROTOCOL
    cdef Text *text
    cdef size_t end = protocol.n
    cdef int slot
    if protocol.at == NULL or not has_byte(protocol[0], c' '):
        return
    while protocol.at[end - 1] != c' ':
        end -= 1
    for slot in range(TARGET, PATH + 1):
        text = record.text + slot
        if text.at != NULL and text.at + text.n + 1 == protocol.at:
            text.n += end
            protocol.at += end
            protocol.n -= end
            return


cdef bint finish_fields(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Undo the escapes of the fields, and check their values."""
    cdef Text query = record.text[QUERY], time = record.text[TIME], user
    cdef size_t k, values = forget_dashes(record, plan.notation != TEXT_LINES or plan.escapes != BACKSLASHES)
    cdef int slot
    cdef const Step *step
    if plan.has_protocol:
        take_spaces(record)
    if plan.notation != TEXT_LINES:
        if time.n > 1 and time.at[0] == c'[' and time.at[time.n - 1] == c']':       # Apache's %t
            record.text[TIME] = text_of(time.at + 1, time.n - 2)
        if plan.notation == LTSV_LINES and record.text[REQUEST].at != NULL:     # the label uri may have no query
            record.text[TARGET] = record.text[QUERY] = text_of(NULL, 0)
        if query.at != NULL and record.text[QUERY].at == NULL:       # empty after a "?"
            record.text[QUERY] = query
            values += 1
        if values == 0 or plan.request_needed and (
                record.text[REQUEST].at == NULL and record.text[TARGET].at == NULL and record.text[PATH].at == NULL
                and record.text[METHOD].at == NULL and record.text[STATUS].at == NULL):
            return fail(record, FIELD + REQUEST if plan.request_needed else FIELDS_ERROR, 0)
    elif (plan.ident >= 0 and record.text[plan.ident].at != NULL and record.text[plan.ident].at < record.text[USER].at
                and find(record.text[USER].at, 0, record.text[USER].n, c' ') < record.text[USER].n):
        return fail(record, FIELD + USER, record.text[USER].at - s)   # "host ident user" is of words; other lines are not
    user = record.text[USER]
    if plan.notation == TEXT_LINES and user.n > 2 and user.at[user.n - 1] == c'-' and user.at[user.n - 2] == c' ':
        return fail(record, FIELD + USER, user.at - s)      # and a field before it
    if plan.bare_vhost and has_byte(record.text[VHOST], c' '):
        return fail(record, FIELD + VHOST, record.text[VHOST].at - s)
    if plan.has_site and not is_site(record.text[VHOST]):
        return fail(record, FIELD + VHOST, record.text[VHOST].at - s)
    if plan.is_cut and n < CUT_OFF:
        return fail(record, FIELD + REQUEST, n)
    if plan.escapes == HASHES:
        for k in range(plan.steps):
            undo_value(plan, plan.step + k, record)
    elif not record.plain and plan.escapes != NO_ESCAPES:
        for slot in range(MEMBERS + <int>record.extras):
            if slot == plan.rest:       # several fields, whose ends are seen by their escapes
                continue
            if plan.escapes == JSON_ESCAPES:
                undo_json(record, slot)
            else:
                undo_backslashes(record, slot)
    if plan.notation == JSON_LINES and plan.cloudfront:
        undo_cloudfront(record)
    name_protocol(record)
    if record.uncertain_path:
        settle_path(record)
    if plan.notation == TEXT_LINES:
        record.unit = plan.duration_unit
        for k in range(plan.steps):
            step = plan.step + k
            if step.kind > DECIMAL or step.slot == QUERY:
                fix_value(step, record)
        user = record.text[USER]
        if user.n > 1 and user.at[0] == c'"' and user.at[user.n - 1] == c'"':     # Apache writes these for an empty one
            record.text[USER] = text_of(user.at + 1, user.n - 2)
    read_client(plan.port, plan.endpoint or record.endpoint, record)
    return plan.notation == TEXT_LINES or check_numbers(record, s, n)


cdef void read_client(int slot, bint endpoint, Record *record) noexcept nogil:
    """Determine the client, and its port, which becomes the extra field of a slot; -1: there is neither."""
    cdef Text list = record.text[FORWARDED_FOR], port = text_of(NULL, 0), address
    cdef size_t k
    if record.forwarded and next_address(&list, &address, &port):
        record.text[CLIENT] = address
    elif record.text[CLIENT].at != NULL:
        port = split_port(record.text + CLIENT, endpoint)
    if port.at == NULL or slot < 0 or record.text[slot].at != NULL:
        return
    for k in range(record.extras):       # of JSON: a member of this name
        if record.text[MEMBERS + k].at != NULL and record.name[k].n == 11 and memcmp(record.name[k].at, CLIENT_PORT, 11) == 0:
            return
    record.text[slot] = port


cdef Line read_line(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    """Read a line without its terminator. An error is stored in the record."""
    cdef size_t k
    record.step = 0
    if n == 0:
        fail(record, EMPTY, 0)
        return NO_RECORD
    if plan.notation == W3C_LINES:
        return read_w3c(plan, columns, s, n, record)
    record.extras = plan.extras
    for k in range(plan.extras):
        record.text[MEMBERS + k], record.own_name[k], record.own_key[k] = text_of(NULL, 0), plan.name[k], text_of(NULL, 0)
    if plan.notation == JSON_LINES:
        return RECORD if read_json(plan, s, n, record) else NO_RECORD
    if plan.notation == LOGFMT_LINES:
        return RECORD if read_pairs(plan, s, n, record) else NO_RECORD
    if plan.notation == LTSV_LINES:
        return RECORD if read_labels(plan, s, n, record) else NO_RECORD
    return RECORD if read_text(plan, s, n, record) else NO_RECORD


# --- W3C extended: CloudFront, IIS ------------------------------------------------------------------------------------

cdef struct Name:
    const char *name
    size_t n
    int slot

cdef enum:
    COLUMN_NAMES_COUNT = 24
cdef Name COLUMN_NAMES[COLUMN_NAMES_COUNT]
COLUMN_NAMES = [
    Name("date", 4, DATE), Name("time", 4, TIME), Name("c-ip", 4, CLIENT),
    Name("cs-username", 11, USER), Name("cs-method", 9, METHOD), Name("cs-uri", 6, TARGET), Name("cs-uri-stem", 11, PATH),
    Name("cs-uri-query", 12, QUERY), Name("cs-version", 10, PROTOCOL), Name("cs-protocol-version", 19, PROTOCOL),
    Name("sc-status", 9, STATUS), Name("sc-bytes", 8, BYTES_SENT),
    Name("cs(Referer)", 11, REFERER), Name("cs(Referrer)", 12, REFERER), Name("cs(User-Agent)", 14, USER_AGENT),
    Name("time-taken", 10, DURATION), Name("x-forwarded-for", 15, FORWARDED_FOR), Name("X-Forwarded-For", 15, FORWARDED_FOR),
    Name("cs(X-Forwarded-For)", 19, FORWARDED_FOR),
    Name("cs-uri-path", 11, PATH),      # Blue Coat
    # Google Cloud Storage has "_" in all names.
    Name("time-micros", 11, TIME), Name("cs-referer", 10, REFERER), Name("cs-user-agent", 13, USER_AGENT),
    Name("time-taken-micros", 17, DURATION),
]


cdef inline bint is_named(const uint8_t *s, size_t n, const char *name, size_t size) noexcept nogil:
    cdef size_t i = 0
    while i < min(n, size) and (s[i] == <uint8_t>name[i] or s[i] == c'_' and name[i] == c'-'):
        i += 1
    return i == n == size


cdef int slot_of_column(Columns *columns, const uint8_t *name, size_t n, size_t most, size_t *used) noexcept nogil:
    """Return the slot of an extra field, which is new unless another column has its name; -1: there are `most`."""
    cdef int k
    for k in range(<int>columns.extras):
        if n == columns.name_size[k] and memcmp(name, columns.names + columns.name_at[k], n) == 0:
            return MEMBERS + k
    if columns.extras == most or n > NAMES_CAPACITY - used[0]:
        return -1
    memcpy(columns.names + used[0], name, n)
    columns.name_at[columns.extras], columns.name_size[columns.extras] = used[0], n
    used[0] += n
    columns.extras += 1
    return MEMBERS + <int>columns.extras - 1


cdef void read_columns(Columns *columns, const uint8_t *s, size_t n) noexcept nogil:
    """Read the names after "#Fields:", which are separated by spaces, tabs or commas. They say what wrote the log, too."""
    cdef size_t i = 0, end, next, used = 0
    cdef int k, slot
    cdef bint has_client = False
    # CloudFront's cs(Host) is the name of the distribution, and x-host-header that of the site.
    cdef bint host_header = find_literal(s, 0, n, <const uint8_t *>b"x-host-header", 13) < n
    # Others name the address cs-ip, or the status c-status, instead of the standard's names.
    cdef bint client_named = find_literal(s, 0, n, <const uint8_t *>b"c-ip", 4) < n
    cdef bint bytes_named = find_literal(s, 0, n, <const uint8_t *>b"sc-bytes", 8) < n
    cdef bint status_named = find_literal(s, 0, n, <const uint8_t *>b"sc-status", 9) < n
    columns.count = columns.extras = 0
    columns.known = False
    columns.commas = find(s, 0, n, c',') < n
    columns.cloudfront = False
    columns.unusable = True
    columns.unit = 0
    while i < n:
        if s[i] == c' ' or s[i] == c'\t' or s[i] == c',':
            i += 1
            continue
        end = i
        while end < n and s[end] != c' ' and s[end] != c'\t' and s[end] != c',':
            end += 1
        next = end
        if end - i > 1 and s[i] == c'"' and s[end - 1] == c'"':
            i, end = i + 1, end - 1
        columns.netscaler |= is_named(s + i, end - i, "sc-servicename", 14)
        columns.cloudfront |= starts_with(s, i, end, <const uint8_t *>b"x-edge-", 7)
        if columns.count < COLUMNS:
            slot = -1
            for k in range(COLUMN_NAMES_COUNT):
                if is_named(s + i, end - i, COLUMN_NAMES[k].name, COLUMN_NAMES[k].n):
                    slot = COLUMN_NAMES[k].slot
            if slot == DURATION and s[end - 1] == c's':     # time_taken_micros
                columns.unit = -6
            if not client_named and is_named(s + i, end - i, "cs-ip", 5):
                slot = CLIENT
            if not status_named and is_named(s + i, end - i, "c-status", 8):
                slot = STATUS
            if not bytes_named and is_named(s + i, end - i, "bytes", 5):
                slot = BYTES_SENT
            if (is_named(s + i, end - i, "x-host-header", 13) or is_named(s + i, end - i, "cs-host", 7)
                    or is_named(s + i, end - i, "cs(Host)", 8) and not host_header):
                slot = VHOST
            has_client |= slot == CLIENT or slot == FORWARDED_FOR
            columns.unusable &= slot < 0
            columns.slot[columns.count] = slot if slot >= 0 else slot_of_column(
                columns, s + i, end - i, OWN_EXTRAS, &used)
        columns.count += 1
        i = next
    columns.unusable &= columns.count <= COLUMNS
    columns.port = slot_of_column(columns, <const uint8_t *>CLIENT_PORT, 11, EXTRAS, &used) if has_client else -1


cdef uint8_t delimiter_of(const Columns *columns, const uint8_t *s, size_t n) noexcept nogil:
    """Return what separates the values of a line: what is after the first one, which visitors do not write."""
    cdef size_t i = 0
    if columns.commas:
        return c','
    if n and s[0] == c'"':
        i = find(s, 1, n, c'"')
    while i < n and s[i] != c' ' and s[i] != c'\t' and s[i] != c',':
        i += 1
    return s[i] if i < n else c' '


cdef size_t end_of_value(const uint8_t *s, size_t i, size_t n, uint8_t delimiter, Record *record, Text *value) noexcept nogil:
    """Return the end of the value in quotes that starts at i, and the value: a quote in it is written twice. n + 1: there is
    none, or something other than the delimiter follows it."""
    cdef size_t at = i + 1, size = 0
    cdef bint doubled = False
    while True:
        at = find(s, at, n, c'"')
        if at == n:
            return n + 1
        if at + 1 == n or s[at + 1] != c'"':
            break
        doubled = True
        at += 2
    if at + 1 < n and s[at + 1] != delimiter:
        return n + 1
    value[0] = text_of(s + i + 1, at - i - 1)
    if doubled:
        i = 0
        while i < value.n:
            record.room[size] = value.at[i]
            size += 1
            i += 2 if value.at[i] == c'"' else 1
        value[0] = text_of(record.room, size)
        record.room += size
    return at + 1


cdef size_t split_values(const Columns *columns, uint8_t delimiter, bint quotes, const uint8_t *s, size_t n, Record *record,
                         uint32_t *quoted) noexcept nogil:
    """Set the texts of the columns, and which of the members were in quotes, as bits. Return the number of values."""
    cdef size_t i = 0, end, column = 0, k
    cdef int slot
    cdef Text value
    quoted[0] = 0
    for k in range(columns.extras):
        record.text[MEMBERS + k] = text_of(NULL, 0)
    while True:
        slot = columns.slot[column] if column < columns.count and column < COLUMNS else -1
        end = end_of_value(s, i, n, delimiter, record, &value) if quotes and i < n and s[i] == c'"' else n + 1
        if end > n:
            end = find(s, i, n, delimiter)
            value = text_of(s + i, end - i)
        elif 0 <= slot < MEMBERS:
            quoted[0] |= 1u << slot
        if slot >= 0:
            record.text[slot] = value
        column += 1
        if end == n:
            return column
        i = end + 1


cdef Line read_w3c(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Record *record) noexcept nogil:
    cdef size_t count, k
    cdef uint8_t delimiter = plan.separator
    cdef uint8_t *room = record.room
    cdef uint32_t quoted
    if s[0] == c'#' and plan.start_n == 0:
        if n >= 8 and memcmp(s, b"#Fields:", 8) == 0:
            read_columns(columns, s + 8, n - 8)
            columns.announced = columns.count > 0
            if not columns.announced:       # of no field: those that it has without the line
                columns[0] = plan.columns[0]
        elif starts_with(s, 0, n, <const uint8_t *>b"#Software:", 10):
            columns.netscaler = (find_literal(s, 10, n, <const uint8_t *>b"NSWL", 4) < n
                                 or find_literal(s, 10, n, <const uint8_t *>b"Tomcat", 6) < n)
        return DIRECTIVE
    if plan.start_n and starts_with(s, s[0] == c'"', n, plan.start, plan.start_n):     # the names, in the first line
        read_columns(columns, s, n)
        columns.announced = True
        return DIRECTIVE
    record.plain = kernels.span(s, n, &NO_QUOTE.set) == n
    record.extras = columns.extras
    for k in range(columns.extras):
        record.own_name[k] = text_of(columns.names + columns.name_at[k], columns.name_size[k])
        record.own_key[k] = text_of(NULL, 0)
    if columns.announced:
        delimiter = delimiter_of(columns, s, n)
    count = split_values(columns, delimiter, (columns.announced or columns.commas) and not record.plain, s, n, record, &quoted)
    if count < columns.count and not record.plain:       # a quote that is not one of a pair
        record.room = room
        count = split_values(columns, delimiter, False, s, n, record, &quoted)
    return RECORD if finish_w3c(columns, delimiter, count, quoted, s, n, record) else NO_RECORD


cdef bint has_column(const Columns *columns, int slot) noexcept nogil:
    cdef size_t k
    for k in range(columns.count):
        if columns.slot[k] == slot:
            return True
    return False


cdef bint finish_w3c(Columns *columns, uint8_t delimiter, size_t count, uint32_t quoted, const uint8_t *s, size_t n,
                     Record *record) noexcept nogil:
    """Undo the escapes of `count` values, check them, and join or split the target. `quoted`: the members that were in quotes."""
    cdef bint is_iis
    if columns.unusable:
        return fail(record, FIELD + REQUEST, 0)
    if count == columns.count + 1 and delimiter == c' ' and s[n - 1] == c' ':       # some write a space after each value
        count -= 1
    if count < columns.count or count > columns.count and not columns.cloudfront:
        return fail(record, FIELDS_ERROR, n)
    if not columns.announced and not check_default_columns(record, columns.commas, s):
        return False
    forget_dashes(record, columns.commas)
    if record.text[QUERY].n and record.text[QUERY].at[0] == c'?':       # ASP.NET Core
        record.text[QUERY] = text_of(record.text[QUERY].at + 1, record.text[QUERY].n - 1)
    # IIS separates by spaces. It decodes the path, and writes "+" for a space. Its durations are milliseconds, also those of
    # ASP.NET Core, with a fraction. NetScaler and Tomcat have spaces, too, but seconds, as W3C has it.
    is_iis = not columns.cloudfront and delimiter == c' '
    record.unit = columns.unit
    if is_iis and not columns.netscaler:
        record.unit = -3
    name_protocol(record)
    if columns.cloudfront:
        undo_cloudfront(record)
    elif is_iis:
        if not quoted >> <int>USER_AGENT & 1:
            undo_plus(record, USER_AGENT)
        if not quoted >> <int>FORWARDED_FOR & 1:
            undo_plus(record, FORWARDED_FOR)
        record.decoded = record.text[PATH].at != NULL and not columns.netscaler
    if not check_numbers(record, s, n):
        return False
    read_client(columns.port, False, record)
    if record.text[PATH].at != NULL and has_byte(record.text[PATH], c'?') and not has_column(columns, QUERY):     # SHOUTcast
        record.text[TARGET], record.text[PATH] = record.text[PATH], text_of(NULL, 0)
        record.decoded = False
    if record.text[PATH].at != NULL:
        join_target(record)
        return True
    if record.text[TARGET].at != NULL and record.text[QUERY].at != NULL and not has_byte(record.text[TARGET], c'?'):
        record.text[PATH] = record.text[TARGET]     # a target and a query
        join_target(record)
    split_target(record)
    return True


# --- programs ---------------------------------------------------------------------------------------------------------

@cython.final
cdef class Program:
    """A variant of a format, compiled.

    Args:
        program (Text | Json | W3c): The steps, from uricodec.logs._formats.
        request_needed (bool): Whether a JSON object needs a request, target, path, method or status to be a record.

    Attributes:
        names (tuple[str, ...]): The names of its extra fields.

    Raises:
        ValueError: If there are more than 128 extra fields, or a field is unknown.
    """

    def __cinit__(self, program, request_needed=True):
        cdef dict slots = {}
        self._kept = []
        self.plan.ident = self.plan.rest = self.plan.port = -1
        kind = type(program).__name__
        if kind == "Text":
            self.plan.notation = TEXT_LINES
            self.set_text(program, slots)
        elif kind == "Json":
            self.plan.notation = {"json": JSON_LINES, "logfmt": LOGFMT_LINES, "ltsv": LTSV_LINES}[program.notation]
            self.set_json(program, slots)
            self.plan.request_needed = request_needed
        else:
            self.plan.notation = W3C_LINES
            self.plan.separator = program.separator[0]
            self.plan.columns = <Columns *>PyMem_Calloc(1, sizeof(Columns))
            if self.plan.columns == NULL:
                raise MemoryError  # pragma: no cover: no memory
            self.plan.members = (1u << MEMBERS) - 1
            fields = program.fields.encode()
            read_columns(self.plan.columns, <const uint8_t *>PyBytes_AS_STRING(fields), len(fields))
            if program.dialect == "csv":
                self.plan.columns.commas = True
                self._kept.append(fields)
                self.plan.start = <const uint8_t *>PyBytes_AS_STRING(fields)
                self.plan.start_n = find(self.plan.start, 0, PyBytes_GET_SIZE(fields), c' ')
            self.plan.own_fields = True
        self.plan.has_request = self.plan.members & REQUEST_MEMBERS != 0
        self.plan.one_request = self.plan.members & REQUEST_MEMBERS == 1 << REQUEST
        self.plan.one_target = not self.plan.fixes and self.plan.members & (
            REQUEST_MEMBERS & ~(1 << METHOD | 1 << PROTOCOL)) == 1 << TARGET
        self.names = tuple(slots)
        self.plan.extras = len(slots)
        self.plan.name = <Text *>PyMem_Calloc(self.plan.extras + 1, sizeof(Text))
        if self.plan.name == NULL:
            raise MemoryError  # pragma: no cover: no memory
        for k, name in enumerate(slots):
            key = name.encode()
            self._kept.append(key)
            self.plan.name[k] = text_of(<const uint8_t *>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))

    def __dealloc__(self):
        PyMem_Free(self.plan.step)
        PyMem_Free(self.plan.node)
        PyMem_Free(self.plan.name)
        PyMem_Free(self.plan.columns)

    cdef int set_field(self, Step *step, field, dict slots) except -1:
        """Set a step from a Field. `slots` has the slots of extra fields by name."""
        name = field.name
        step.slot, step.unit, step.kind = DROPPED, field.unit, ANY
        step.take = KINDS[field.kind]
        if field.kind == "endpoint":
            step.kind = ENDPOINT
        elif field.kind == "site":
            step.kind = SITE
        elif field.kind == "in_quotes":
            step.kind = IN_QUOTES
        elif field.kind == "number":
            step.kind = NUMBER
        elif field.kind == "decimal":
            step.kind = DECIMAL
        elif field.kind == "query":
            step.kind = QUERY_MARK
        if name is None:
            return 0
        if field.kind == "after_host":
            step.kind = DECODED_AFTER_HOST if name == "target_decoded" else AFTER_HOST
            self.plan.members |= 1u << VHOST
        elif name == "path_decoded":
            step.kind = UNCERTAIN_PATH if field.kind == "uncertain" else DECODED_PATH
        elif name == "target_decoded":
            step.kind = DECODED_TARGET
        if name in SLOTS_BY_NAME:
            step.slot = SLOTS_BY_NAME[name]
            self.plan.members |= 1u << step.slot
            if step.slot == DURATION:
                self.plan.duration_unit = step.unit
            return 0
        if not name.startswith("extra."):
            raise ValueError(f"unknown field {name!r}")
        name = name[6:]
        if name not in slots:
            if len(slots) == OWN_EXTRAS:
                raise ValueError(f"a format can have at most {OWN_EXTRAS} fields of its own")
            slots[name] = MEMBERS + len(slots)
        step.slot = slots[name]
        if name == "ident":
            self.plan.ident = step.slot
        return 0

    cdef int set_text(self, program, dict slots) except -1:
        cdef Step *step = NULL
        cdef size_t k
        cdef list parts = list(program.steps)
        cdef bytes literal
        self.plan.escapes = {"backslash": BACKSLASHES, "json": JSON_ESCAPES, "hash": HASHES, "none": NO_ESCAPES}[program.escapes]
        self.plan.open_end = program.open_end
        self.plan.optional = 0
        self.plan.step = <Step *>PyMem_Calloc(len(parts) + 1, sizeof(Step))
        if self.plan.step == NULL:
            raise MemoryError  # pragma: no cover: no memory
        for i, part in enumerate(parts):
            if i == program.optional:
                self.plan.optional = self.plan.steps
            if isinstance(part, bytes):
                literal = part
                self._kept.append(literal)
                if step == NULL:
                    self.plan.start, self.plan.start_n = <const uint8_t *>PyBytes_AS_STRING(literal), PyBytes_GET_SIZE(literal)
                else:
                    if literal.endswith(b"  "):
                        step.pads |= PAD_AFTER
                        literal = literal.rstrip(b" ") + b" "
                    if literal.startswith(b"  "):
                        step.pads |= PAD_BEFORE
                        literal = b" " + literal.lstrip(b" ")
                    self._kept.append(literal)
                    step.literal, step.n = <const uint8_t *>PyBytes_AS_STRING(literal), PyBytes_GET_SIZE(literal)
                    # After a pad, where the number begins is not known.
                    step.number_follows = (not step.pads & PAD_AFTER and i + 1 < len(parts)
                                           and parts[i + 1].kind in ("number", "decimal"))
                continue
            step = self.plan.step + self.plan.steps
            self.set_field(step, part, slots)
            # A space alone would be the one in the time.
            if (self.plan.steps and part.kind == "time" and (step - 1).take == TEXT and i + 1 < len(parts)
                    and parts[i - 1].strip(b" ")):
                (step - 1).take = TEXT_BEFORE_TIME
            self.plan.fixes |= step.kind > ENDPOINT or step.slot == QUERY
            self.plan.has_protocol |= step.slot == PROTOCOL
            self.plan.is_cut |= part.kind == "cut"
            self.plan.steps += 1
        if self.plan.optional == 0:
            self.plan.optional = self.plan.steps + 1
        step = self.plan.step
        for k in range(self.plan.steps):
            self.plan.bare_vhost |= step[k].slot == VHOST and step[k].take == WORD and step[k].n > 0 and step[k].literal[0] != c' '
            self.plan.has_site |= step[k].kind == SITE
            self.plan.has_time |= step[k].slot == TIME
        self.plan.members |= 1u << TIME     # perhaps that of a prefix
        self.plan.begins_with_client = self.plan.start_n == 0 and (step.slot == CLIENT or step.slot == FORWARDED_FOR)
        self.plan.endpoint = any(isinstance(part, tuple) and part.kind == "endpoint" for part in parts)
        self.set_last(slots)
        self.set_quotes()
        self.plan.is_marked = set_steps(&self.plan)
        return 0

    cdef int set_last(self, dict slots) except -1:
        """Set the slots of the fields that are not in the format: the rest of the line, and the port of the client."""
        self.plan.own_fields = self.plan.keep_rest or len(slots) > (self.plan.ident >= 0)
        if self.plan.open_end:
            slots["rest"] = self.plan.rest = MEMBERS + len(slots)
            if len(slots) > OWN_EXTRAS:
                raise ValueError(f"a format can have at most {OWN_EXTRAS} fields of its own")
        if self.plan.members & (1 << CLIENT | 1 << FORWARDED_FOR):
            self.plan.has_port = CLIENT_PORT.decode() in slots
            self.plan.port = slots.setdefault("client_port", MEMBERS + len(slots))
        return 0

    cdef int set_quotes(self) except -1:
        """Set which texts in quotes end at the last quote that the rest of the format allows.

        After the end of an open format may be anything, but not before fields that it has. HAProxy writes no quote in a text.
        """
        cdef Step *step
        cdef bytes literal
        cdef bint may_have_quotes = False
        cdef size_t k, quotes = 0, spaces = 0
        self.plan.odd = -1
        for k in reversed(range(self.plan.steps)):
            step = self.plan.step + k
            literal = (<const char *>step.literal)[:step.n] if step.n else b""
            step.quotes = -1
            if k + 1 < self.plan.optional:
                quotes += literal.count(b'"')
                spaces += literal.count(b" ")
                if step.take == QUOTED and not may_have_quotes and (spaces or not self.plan.open_end) and self.plan.escapes != HASHES:
                    step.quotes, step.spaces = <int>quotes - 1, spaces
                    self.plan.odd = <int>k
            may_have_quotes |= step.slot < MEMBERS and VISITORS >> step.slot & 1
        return 0

    cdef int set_json(self, program, dict slots) except -1:
        cdef Node *node
        cdef int k, last, parent, rank
        cdef bytes key
        cdef size_t size = 0
        self.plan.escapes = BACKSLASHES if program.notation == "ltsv" else JSON_ESCAPES
        self.plan.keep_rest = program.rest
        self.plan.cloudfront = program.encoded
        for path, _ in program.members:
            size += len(path)
        self.plan.node = <Node *>PyMem_Calloc(1 + size, sizeof(Node))
        if self.plan.node == NULL:
            raise MemoryError  # pragma: no cover: no memory
        node = self.plan.node
        node[0].field.slot = -1
        self.plan.nodes = 1
        rank = 0
        for path, field in program.members:
            parent = 0
            for name in path:
                key = name.removesuffix("[]").encode()
                k, last = node[parent].child, 0
                while k and not (node[k].n == <size_t>PyBytes_GET_SIZE(key)
                                 and memcmp(node[k].key, PyBytes_AS_STRING(key), node[k].n) == 0):
                    k, last = node[k].sibling, k
                if k == 0:
                    k = <int>self.plan.nodes
                    self.plan.nodes += 1
                    self._kept.append(key)
                    node[k].key, node[k].n = <const uint8_t *>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key)
                    node[k].field.slot = -1
                    node[k].is_list = name.endswith("[]")
                    if last:
                        node[last].sibling = k
                    else:
                        node[parent].child = k
                parent = k
            if node[parent].field.slot < 0:
                self.set_field(&node[parent].field, field, slots)
                rank += 1
                node[parent].rank = rank
        self.plan.members |= 1u << TIME     # perhaps that of a prefix
        return self.set_last(slots)
