# distutils: extra_compile_args=-Os
"""Compiled formats of logs. A format is a program of steps; each reads one field, up to the literal that follows it.

uricodec.logs._formats makes programs from LogFormat strings, log_format strings, presets and JSON mappings. They run over
the bytes of a line, without Python objects, and fill an Entry. A line is read from left to right, once: no step takes
back what an earlier one has decided. If a line does not match, the error names the field and the offset.

There are three notations: lines of text, JSON objects (RFC 8259 section 4), and the extended format of W3C (Working Draft
WD-logfile-960323), whose "#Fields:" lines say what the columns mean.
"""
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._records._framing cimport json_string
from uricodec.logs._fields cimport *

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free

cimport cython


# The standard fields by name, with their slots.
cdef dict SLOTS_BY_NAME = {
    "client": CLIENT, "user": USER, "date": DATE, "time": TIME, "request": REQUEST, "method": METHOD, "target": TARGET,
    "path": PATH, "path_decoded": PATH, "target_decoded": PATH, "query": QUERY, "protocol": PROTOCOL,
    "status": STATUS, "bytes_sent": BYTES_SENT,
    "referer": REFERER, "user_agent": USER_AGENT, "vhost": VHOST, "duration": DURATION, "forwarded_for": FORWARDED_FOR,
}
cdef dict KINDS = {
    "word": WORD, "text": TEXT, "quoted": QUOTED, "list": LIST, "number": WORD, "decimal": WORD, "endpoint": WORD,
    "address": WORD, "time": TIME_TEXT, "query": WORD, "uncertain": WORD,
}

# Bytes of a line in which every text is printable ASCII without quote and backslash, if its fields contain no quote.
cdef ByteSet NO_BACKSLASH = ByteSet(range(0x20, 0x7F)) - "\\"
cdef ByteSet NO_QUOTE = NO_BACKSLASH - '"'


cdef ByteSet DIGITS = ByteSet("0123456789")

# The extra field for the port of the client.
cdef const char *CLIENT_PORT = "client_port"

# The fields that visitors write, and which therefore may have quotes.
cdef uint32_t VISITORS = (1 << USER | 1 << REQUEST | 1 << TARGET | 1 << PATH | 1 << QUERY | 1 << REFERER | 1 << USER_AGENT
                          | 1 << FORWARDED_FOR)

# The characters of names of services and containers (Compose Specification, "services"; kubectl has others in brackets).
cdef ByteSet LABELS = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")


cdef inline bint starts_with(const uint8_t *s, size_t i, size_t n, const uint8_t *literal, size_t size) noexcept nogil:
    cdef size_t k
    if i > n or n - i < size:
        return False
    for k in range(size):       # of few bytes, which takes less time than a call
        if s[i + k] != literal[k]:
            return False
    return True


cdef size_t find_literal(const uint8_t *s, size_t i, size_t n, const uint8_t *literal, size_t size) noexcept nogil:
    """Return the offset of a literal from i on; n if it does not occur, or is empty."""
    if size == 0:
        return n
    i = find(s, i, n, literal[0])
    while i < n and not starts_with(s, i, n, literal, size):
        i = find(s, i + 1, n, literal[0])
    return i


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
    """Return the end of a time. The space between its date, its clock and its zone is not the one that ends it."""
    cdef size_t end = find_literal(s, i, n, step.literal, step.n)
    if step.n == 0 or step.literal[0] != c' ':
        return end
    if end - i == 10 and s[i + 4] == c'-':
        end = find_literal(s, end + 1, n, step.literal, step.n)
    if n - end > 5 and (s[end + 1] == c'+' or s[end + 1] == c'-') and kernels.span(s + end + 2, 4, &DIGITS.set) == 4:
        end = find_literal(s, end + 6, n, step.literal, step.n)
    return end


cdef size_t end_of_list(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of a list of words, with ", " or " : " between them."""
    cdef size_t end = find(s, i, n, step.literal[0] if step.n else c' ')
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


cdef size_t end_of_quoted(const Plan *plan, const Step *step, bint last, bint may_end, const uint8_t *s, size_t i, size_t n,
                          Entry *entry) noexcept nogil:
    """Return the offset of the quote that ends the text which starts at i; n if it does not end.

    The literal that begins with the quote must follow, and a number, if the next field is one. Other unescaped quotes are
    mistakes of the program that wrote the log, and belong to the text. It ends at the last quote that the rest of the
    format allows, if no later field has quotes; otherwise at the first one.
    """
    cdef bint first = True, escapes = plan.escapes >= BACKSLASHES and not entry.plain
    cdef size_t after, without_number = n
    if step.quotes >= 0:
        after = end_before_rest(plan, step, last, s, i, n)
        if after < n:
            entry.plain = False
            # Without quotes in it, they are in what follows the format.
            if find(s, i, after, c'"') < after and entry.odd_quotes == NONE_ODD:
                entry.odd_quotes = ENDS_SURELY
            return after
    while True:
        if not escapes:
            i = find(s, i, n, c'"')
        else:
            while i < n and s[i] != c'"':
                i += 2 if s[i] == c'\\' else 1
        if i >= n:
            if without_number < n and not first:
                entry.plain = False
            return without_number
        if starts_with(s, i, n, step.literal, step.n):
            after = i + step.n
            if without_number == n:
                without_number = i
            if last:
                if after == n or plan.open_end and s[after] == c' ':
                    break
            elif not step.number_follows or number_may_start(s, after, n):
                break
        elif may_end and i + 1 == n:
            break
        i += 1
        first = False
    if not first:
        entry.plain = False
        entry.odd_quotes = MAY_END
    return i


# --- JSON -------------------------------------------------------------------------------------------------------------

cdef inline size_t skip_space(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    while i < n and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r' or s[i] == c'\n'):     # "\n": in a line of Docker
        i += 1
    return i


cdef inline size_t end_of_string(const uint8_t *s, size_t i, size_t n, bint plain) noexcept nogil:
    """Return the offset of the quote that ends the string which starts at i; n if it does not end."""
    if plain:
        return find(s, i, n, c'"')
    while True:
        i = find(s, i, n, c'"')
        if i == n or not is_escaped(s, i):
            return i
        i += 1


cdef inline bint is_escaped(const uint8_t *s, size_t i) noexcept nogil:
    """Return whether an odd number of backslashes is before s[i]. A quote before them ends the search."""
    cdef bint odd = False
    while i and s[i - 1] == c'\\':
        odd = not odd
        i -= 1
    return odd


cdef size_t skip_nested(const uint8_t *s, size_t i, size_t n, bint plain) noexcept nogil:
    """Return the end of the object or array that starts at i; n + 1 if it does not end. Its content is not checked."""
    cdef size_t depth = 0
    while i < n:
        if s[i] == c'"':
            i = end_of_string(s, i + 1, n, plain)
        elif s[i] == c'{' or s[i] == c'[':
            depth += 1
        elif s[i] == c'}' or s[i] == c']':
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return n + 1


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


# --- reading ----------------------------------------------------------------------------------------------------------

cdef inline size_t find_other(const uint8_t *s, size_t i, size_t n, uint8_t byte) noexcept nogil:
    """Return the offset of a byte that is not `byte`."""
    while i < n and s[i] == byte:
        i += 1
    return i


cdef void fix_value(const Step *field, Entry *entry) noexcept nogil:
    """Take away what a format writes around a value; split a path and a query that follow each other."""
    cdef Text *text
    cdef size_t mark
    if field.slot < 0:
        return
    text = entry.text + field.slot
    if text.at == NULL:
        return
    if field.kind == QUERY_MARK:
        if text.n and text.at[0] == c'?':
            text.at += 1
            text.n -= 1
        elif text.n == 0:       # Apache's "%q" is empty without a query
            text.at = NULL
    elif field.kind >= DECODED_PATH:
        entry.decoded = True
        entry.uncertain_path = field.kind == UNCERTAIN_PATH
        if field.kind == DECODED_TARGET:
            mark = find(text.at, 0, text.n, c'?')
            if mark < text.n:
                entry.text[QUERY] = text_of(text.at + mark + 1, text.n - mark - 1)
            text.n = mark


cdef inline bint fail_at(const Step *step, size_t offset, Entry *entry) noexcept nogil:
    return fail(entry, FIELD + step.slot if step.slot >= 0 else FORMAT_ERROR, offset)


cdef inline bint check_text(const Step *step, Entry *entry) noexcept nogil:
    """Return whether a number is one, or missing."""
    cdef Text *text = entry.text + step.slot
    if text.n == 0 or text.n == 1 and text.at[0] == c'-':
        text.at, text.n = NULL, 0
        return True
    return check_number(text) if step.kind == NUMBER else check_decimal(text)


cdef Text first_word(const Plan *plan, const uint8_t *s, size_t n) noexcept nogil:
    """Return the first address of a line that begins with one, and what another program wrote before it."""
    cdef size_t end = find(s, 0, n, plan.step.literal[0] if plan.step.n else c' ')
    return text_of(s, find(s, 0, end, c',') if plan.step.take == LIST else end)


cdef bint read_text(const Plan *plan, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    cdef size_t quote, start = plan.start_n
    cdef Text word
    entry.step = 0
    if not starts_with(s, 0, n, plan.start, plan.start_n):
        return fail(entry, FORMAT_ERROR, 0)
    if plan.begins_with_client:
        word = first_word(plan, s, n)
        start = source_before(word, plan.endpoint)
        if start > word.n:
            return fail_at(plan.step, 0, entry)
    quote = kernels.span(s, n, &NO_QUOTE.set)       # fields before the first quote contain none
    entry.plain = quote == n or s[quote] == c'"' and kernels.span(s + quote, n - quote, &NO_BACKSLASH.set) == n - quote
    entry.quote, entry.start[0], entry.plain_before[0], entry.odd_before[0] = quote, start, entry.plain, NONE_ODD
    return read_steps(plan, 0, s, n, entry)


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
                or a.number_follows != b.number_follows or memcmp(a.literal, b.literal, a.n) != 0):
            break
        if odd_quotes and (a.quotes != b.quotes or a.spaces != b.spaces):
            break
        if a.slot >= MEMBERS and (one.name[a.slot - MEMBERS].n != other.name[b.slot - MEMBERS].n or memcmp(
                one.name[a.slot - MEMBERS].at, other.name[b.slot - MEMBERS].at, one.name[a.slot - MEMBERS].n) != 0):
            break
        k += 1
    return k


cdef bint read_steps(const Plan *plan, size_t first, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Read a line from a step on. What precedes it has been read by this variant, or by one with the same steps."""
    cdef const Step *step
    cdef size_t k, i = entry.start[first], end = 0
    cdef bint last, may_end
    entry.plain, entry.odd_quotes = entry.plain_before[first], entry.odd_before[first]
    for k in range(first, plan.steps):
        step = plan.step + k
        entry.step = k
        if k < STEPS_KEPT:
            entry.start[k], entry.plain_before[k], entry.odd_before[k] = i, entry.plain, entry.odd_quotes
        last = k + 1 == plan.steps
        may_end = k + 1 >= plan.optional
        if step.kind == NUMBER or step.kind == DECIMAL:
            i = find_other(s, i, n, c' ')       # Squid pads numbers
        if step.take == QUOTED:
            end = end_of_quoted(plan, step, last, may_end, s, i, n, entry)
            if end == n:
                return fail_at(step, i - 1, entry)
        else:
            if step.take == WORD:
                end = find(s, i, n, step.literal[0] if step.n else c' ')
            elif step.take == TIME_TEXT:
                end = end_of_time(step, s, i, n)
            elif step.take == LIST:
                end = end_of_list(step, s, i, n)
            elif last and plan.open_end and step.n == 0:
                end = find(s, i, n, c' ')
            else:
                end = end_of_text(step, step.take == TEXT_BEFORE_TIME, s, i, n)
            if end == n and step.n and not may_end:
                return fail_at(step, i, entry)
            if end > entry.quote and entry.plain and find(s, i, end, c'"') < end:
                entry.plain = False
        if step.slot >= 0:
            entry.text[step.slot] = text_of(s + i, end - i)
            if step.slot == USER and end - i == 3 and memcmp(s + i, b" - ", 3) == 0:
                entry.text[USER] = text_of(s + i + 1, 1)        # Jetty: there is none
            if (step.kind == NUMBER or step.kind == DECIMAL) and not check_text(step, entry):
                return fail_at(step, i, entry)
        if starts_with(s, end, n, step.literal, step.n):
            i = end + step.n
        elif may_end and end + (step.take == QUOTED) >= n:
            i = n
            break
        else:
            return fail_at(step if last else step + 1, end, entry)
    entry.step = plan.steps
    if find_other(s, i, n, c' ') < n:
        if not plan.open_end or s[i] != c' ':
            return fail(entry, FORMAT_ERROR, i)
        entry.text[plan.rest] = text_of(s + i + 1, n - i - 1)
        if entry.plain and find(s, i, n, c'"') < n:
            entry.plain = False
    return finish(plan, s, n, entry)


cdef bint read_json(const Plan *plan, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    cdef size_t i = skip_space(s, 0, n)
    if i == n or s[i] != c'{':
        return fail(entry, JSON_ERROR, i)
    entry.plain = kernels.span(s, n, &NO_BACKSLASH.set) == n
    memset(entry.rank, 0, sizeof(entry.rank))
    i = read_object(plan, 0, s, i, n, entry)
    if i > n:
        return False
    i = skip_space(s, i, n)
    if i < n:
        return fail(entry, JSON_ERROR, i)
    return finish(plan, s, n, entry)


cdef inline Text undone_name(Entry *entry, const uint8_t *at, size_t n) noexcept nogil:
    """Return the name of a member, without escapes."""
    cdef size_t size
    if entry.plain or memchr(at, c'\\', n) == NULL:
        return text_of(at, n)
    size = json_text(at, n, entry.room)
    entry.room += size
    return text_of(entry.room - size, size)


cdef size_t read_object(const Plan *plan, int parent, const uint8_t *s, size_t i, size_t n, Entry *entry) noexcept nogil:
    """Read the object that starts at i. Return its end; n + 1, with an error in the entry, if it is not valid."""
    cdef size_t end, start, key
    cdef int k
    cdef Text text
    i = skip_space(s, i + 1, n)
    while i < n and s[i] == c'"':
        key = i + 1
        end = end_of_string(s, key, n, entry.plain)
        if end == n:
            fail(entry, JSON_ERROR, n)
            return n + 1
        text = undone_name(entry, s + key, end - key)
        k = child_of(plan.node, parent, text.at, text.n)
        i = skip_space(s, end + 1, n)
        if i == n or s[i] != c':':
            fail(entry, JSON_ERROR, i)
            return n + 1
        i = start = skip_space(s, i + 1, n)
        if i < n and s[i] == c'{' and k and plan.node[k].child:
            i = read_object(plan, k, s, i, n, entry)
            if i > n:
                return i
            start = i
        elif i < n and (s[i] == c'{' or s[i] == c'['):
            end = skip_space(s, i + 1, n)
            i = skip_nested(s, i, n, entry.plain)
            if k and s[start] == c'[' and end < n and s[end] == c'"' and i <= n:     # the first text of an array
                set_value(plan.node + k, entry, s + end + 1, end_of_string(s, end + 1, n, entry.plain) - end - 1)
            start = i
        elif i < n and s[i] == c'"':
            end = end_of_string(s, i + 1, n, entry.plain)
            if k and plan.node[k].field.slot >= 0:
                set_value(plan.node + k, entry, s + i + 1, end - i - 1)
            elif plan.keep_rest and parent == 0:
                add_extra(entry, text, s + i + 1, end - i - 1)
            i = end + 1
        else:
            while i < n and (c'0' <= s[i] <= c'9' or c'a' <= s[i] <= c'z' or s[i] == c'.' or s[i] == c'-' or s[i] == c'+'
                             or s[i] == c'E'):
                i += 1
            if i == start:
                fail(entry, JSON_ERROR, i)
                return n + 1
            if i - start != 4 or memcmp(s + start, b"null", 4) != 0:
                if k and plan.node[k].field.slot >= 0:
                    set_value(plan.node + k, entry, s + start, i - start)
                elif plan.keep_rest and parent == 0:
                    add_extra(entry, text, s + start, i - start)
        i = skip_space(s, i, n)
        if i >= n or s[i] != c',':
            break
        i = skip_space(s, i + 1, n)
        if i == n or s[i] != c'"':
            fail(entry, JSON_ERROR, i)
            return n + 1
    if i >= n or s[i] != c'}':
        fail(entry, JSON_ERROR, n if i > n else i)
        return n + 1
    return i + 1


cdef bint finish(const Plan *plan, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Undo the escapes of the fields, then split the request."""
    if not finish_fields(plan, s, n, entry):
        return False
    read_request(entry)
    return True


cdef bint finish_fields(const Plan *plan, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Undo the escapes of the fields, and check their values."""
    cdef Text query = entry.text[QUERY], user
    cdef size_t k, values = forget_dashes(entry, plan.escapes != BACKSLASHES)
    cdef int slot
    cdef const Step *step
    if plan.notation == JSON_LINES:
        if query.at != NULL and entry.text[QUERY].at == NULL:       # empty after a "?"
            entry.text[QUERY] = query
            values += 1
        if values == 0 or plan.request_needed and (
                entry.text[REQUEST].at == NULL and entry.text[TARGET].at == NULL and entry.text[PATH].at == NULL
                and entry.text[METHOD].at == NULL and entry.text[STATUS].at == NULL):
            return fail(entry, FIELD + REQUEST if plan.request_needed else FIELDS_ERROR, 0)
    elif (plan.ident >= 0 and entry.text[plan.ident].at != NULL and entry.text[plan.ident].at < entry.text[USER].at
                and find(entry.text[USER].at, 0, entry.text[USER].n, c' ') < entry.text[USER].n):
        return fail(entry, FIELD + USER, entry.text[USER].at - s)   # "host ident user" is of words; other lines are not
    if plan.escapes == HASHES:
        for k in range(plan.steps):
            step = plan.step + k
            if step.slot >= 0 and step.n and (step.literal[0] == c'"' or step.literal[0] == c'}'):
                undo_hashes(entry, step.slot, step.literal[0] == c'}')
    elif not entry.plain and plan.escapes != NO_ESCAPES:
        for slot in range(MEMBERS + <int>entry.extras):
            if slot == plan.rest:       # several fields, whose ends are seen by their escapes
                continue
            if plan.escapes == JSON_ESCAPES:
                undo_json(entry, slot)
            else:
                undo_backslashes(entry, slot)
    if plan.notation == JSON_LINES and plan.cloudfront:
        undo_cloudfront(entry)
    if entry.uncertain_path:
        settle_path(entry)
    if plan.notation == TEXT_LINES:
        entry.unit = plan.duration_unit
        for k in range(plan.steps):
            step = plan.step + k
            if step.kind > DECIMAL:
                fix_value(step, entry)
        user = entry.text[USER]
        if user.n == 2 and user.at[0] == c'"' and user.at[1] == c'"':     # Apache writes these for an empty one
            entry.text[USER].n = 0
    read_client(plan.port, plan.endpoint or entry.endpoint, entry)
    return plan.notation != JSON_LINES or check_numbers(entry, s, n)


cdef void read_client(int slot, bint endpoint, Entry *entry) noexcept nogil:
    """Determine the client, and its port, which becomes the extra field of a slot; -1: there is neither."""
    cdef Text list = entry.text[FORWARDED_FOR], port = text_of(NULL, 0), address
    cdef size_t k
    if entry.forwarded and next_address(&list, &address, &port):
        entry.text[CLIENT] = address
    elif entry.text[CLIENT].at != NULL:
        port = split_port(entry.text + CLIENT, endpoint)
    if port.at == NULL or slot < 0 or entry.text[slot].at != NULL:
        return
    for k in range(entry.keys, entry.extras):       # of JSON: a member of this name
        if entry.text[MEMBERS + k].at != NULL and entry.name[k].n == 11 and memcmp(entry.name[k].at, CLIENT_PORT, 11) == 0:
            return
    entry.text[slot] = port


cdef Line read_line(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Read a line without its terminator. An error is stored in the entry."""
    cdef size_t k
    entry.step = 0
    if n == 0:
        fail(entry, EMPTY, 0)
        return NO_RECORD
    if plan.notation == W3C_LINES:
        return read_w3c(plan, columns, s, n, entry)
    entry.extras, entry.keys, entry.key = plan.extras, plan.extras, plan.key
    for k in range(plan.extras):
        entry.text[MEMBERS + k] = text_of(NULL, 0)
        entry.name[k] = plan.name[k]
    if plan.notation == JSON_LINES:
        return RECORD if read_json(plan, s, n, entry) else NO_RECORD
    return RECORD if read_text(plan, s, n, entry) else NO_RECORD


# --- W3C extended: CloudFront, IIS ------------------------------------------------------------------------------------

cdef struct Name:
    const char *name
    size_t n
    int slot

cdef enum:
    COLUMN_NAMES_COUNT = 19
cdef Name COLUMN_NAMES[COLUMN_NAMES_COUNT]
COLUMN_NAMES = [
    Name("date", 4, DATE), Name("time", 4, TIME), Name("c-ip", 4, CLIENT),
    Name("cs-username", 11, USER), Name("cs-method", 9, METHOD), Name("cs-uri", 6, TARGET), Name("cs-uri-stem", 11, PATH),
    Name("cs-uri-query", 12, QUERY), Name("cs-version", 10, PROTOCOL), Name("cs-protocol-version", 19, PROTOCOL),
    Name("sc-status", 9, STATUS), Name("sc-bytes", 8, BYTES_SENT),
    Name("cs(Referer)", 11, REFERER), Name("cs(Referrer)", 12, REFERER), Name("cs(User-Agent)", 14, USER_AGENT),
    Name("time-taken", 10, DURATION), Name("x-forwarded-for", 15, FORWARDED_FOR), Name("X-Forwarded-For", 15, FORWARDED_FOR),
    Name("cs(X-Forwarded-For)", 19, FORWARDED_FOR),
]


cdef inline bint is_named(const uint8_t *s, size_t n, const char *name, size_t size) noexcept nogil:
    return n == size and memcmp(s, name, n) == 0


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
    cdef size_t i = 0, end, used = 0
    cdef int k, slot
    cdef bint has_client = False
    # CloudFront's cs(Host) is the name of the distribution, and x-host-header that of the site.
    cdef bint host_header = find_literal(s, 0, n, <const uint8_t *>b"x-host-header", 13) < n
    # Others name the address cs-ip, or the status c-status, instead of the standard's names.
    cdef bint client_named = find_literal(s, 0, n, <const uint8_t *>b"c-ip", 4) < n
    cdef bint status_named = find_literal(s, 0, n, <const uint8_t *>b"sc-status", 9) < n
    columns.count = columns.extras = 0
    columns.commas = find(s, 0, n, c',') < n
    columns.cloudfront = False
    while i < n:
        if s[i] == c' ' or s[i] == c'\t' or s[i] == c',':
            i += 1
            continue
        end = i
        while end < n and s[end] != c' ' and s[end] != c'\t' and s[end] != c',':
            end += 1
        columns.cloudfront |= starts_with(s, i, end, <const uint8_t *>b"x-edge-", 7)
        if columns.count < COLUMNS:
            slot = -1
            for k in range(COLUMN_NAMES_COUNT):
                if is_named(s + i, end - i, COLUMN_NAMES[k].name, COLUMN_NAMES[k].n):
                    slot = COLUMN_NAMES[k].slot
            if not client_named and is_named(s + i, end - i, "cs-ip", 5):
                slot = CLIENT
            if not status_named and is_named(s + i, end - i, "c-status", 8):
                slot = STATUS
            if (is_named(s + i, end - i, "x-host-header", 13) or is_named(s + i, end - i, "cs-host", 7)
                    or is_named(s + i, end - i, "cs(Host)", 8) and not host_header):
                slot = VHOST
            has_client |= slot == CLIENT or slot == FORWARDED_FOR
            columns.slot[columns.count] = slot if slot >= 0 else slot_of_column(
                columns, s + i, end - i, OWN_EXTRAS, &used)
        columns.count += 1
        i = end
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


cdef size_t end_of_value(const uint8_t *s, size_t i, size_t n, uint8_t delimiter, Entry *entry, Text *value) noexcept nogil:
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
            entry.room[size] = value.at[i]
            size += 1
            i += 2 if value.at[i] == c'"' else 1
        value[0] = text_of(entry.room, size)
        entry.room += size
    return at + 1


cdef size_t split_values(const Columns *columns, uint8_t delimiter, bint quotes, const uint8_t *s, size_t n, Entry *entry,
                         uint32_t *quoted) noexcept nogil:
    """Set the texts of the columns, and which of the members were in quotes, as bits. Return the number of values."""
    cdef size_t i = 0, end, column = 0, k
    cdef int slot
    cdef Text value
    quoted[0] = 0
    for k in range(columns.extras):
        entry.text[MEMBERS + k] = text_of(NULL, 0)
    while True:
        slot = columns.slot[column] if column < columns.count and column < COLUMNS else -1
        end = end_of_value(s, i, n, delimiter, entry, &value) if quotes and i < n and s[i] == c'"' else n + 1
        if end > n:
            end = find(s, i, n, delimiter)
            value = text_of(s + i, end - i)
        elif 0 <= slot < MEMBERS:
            quoted[0] |= 1u << slot
        if slot >= 0:
            entry.text[slot] = value
        column += 1
        if end == n:
            return column
        i = end + 1


cdef Line read_w3c(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    cdef size_t count, k
    cdef uint8_t delimiter = plan.separator
    cdef uint8_t *room = entry.room
    cdef uint32_t quoted
    cdef bint is_iis
    if s[0] == c'#':
        if n >= 8 and memcmp(s, b"#Fields:", 8) == 0:
            read_columns(columns, s + 8, n - 8)
            columns.announced = columns.count > 0
            if not columns.announced:       # of no field: those that it has without the line
                columns[0] = plan.columns[0]
        return DIRECTIVE
    entry.plain = kernels.span(s, n, &NO_QUOTE.set) == n
    entry.extras = columns.extras
    for k in range(columns.extras):
        entry.name[k] = text_of(columns.names + columns.name_at[k], columns.name_size[k])
    if columns.announced:
        delimiter = delimiter_of(columns, s, n)
    count = split_values(columns, delimiter, columns.announced and not entry.plain, s, n, entry, &quoted)
    if count < columns.count and not entry.plain:       # a quote that is not one of a pair
        entry.room = room
        count = split_values(columns, delimiter, False, s, n, entry, &quoted)
    if count < columns.count or count > columns.count and not columns.cloudfront:
        fail(entry, FIELDS_ERROR, n)
        return NO_RECORD
    if not columns.announced and not check_default_columns(entry, s):
        return NO_RECORD
    forget_dashes(entry, False)
    # IIS separates by spaces. It decodes the path, and writes "+" for a space. Its durations are milliseconds.
    is_iis = not columns.cloudfront and delimiter == c' '
    entry.unit = -3 if is_iis else 0
    if columns.cloudfront:
        undo_cloudfront(entry)
    elif is_iis:
        if not quoted >> <int>USER_AGENT & 1:
            undo_plus(entry, USER_AGENT)
        if not quoted >> <int>FORWARDED_FOR & 1:
            undo_plus(entry, FORWARDED_FOR)
        entry.decoded = entry.text[PATH].at != NULL
    if not check_numbers(entry, s, n):
        return NO_RECORD
    read_client(columns.port, False, entry)
    if entry.text[PATH].at != NULL:
        join_target(entry)
    else:
        split_target(entry)
    return RECORD


# --- prefixes ---------------------------------------------------------------------------------------------------------

cdef inline size_t skip_word(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the start of the next word; n if there is none."""
    i = find(s, i, n, c' ')
    return i + 1 if i < n else n


cdef inline bint is_iso_time(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    return n - i > 19 and s[i + 4] == c'-' and s[i + 7] == c'-' and s[i + 10] == c'T' and s[i + 13] == c':' and s[i + 16] == c':'


cdef size_t skip_syslog(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what syslog writes before a message; 0 if it is not there.

    RFC 3164 section 4.1:  PRI TIMESTAMP SP HOSTNAME SP TAG ":" SP     (files have no PRI; TAG may have "[pid]")
    RFC 5424 section 6:    PRI VERSION SP TIMESTAMP SP HOSTNAME SP APP-NAME SP PROCID SP MSGID SP STRUCTURED-DATA SP
    rsyslog writes the former with a TIMESTAMP of RFC 3339, too.
    """
    cdef size_t i = 0, end
    cdef int _
    if i < n and s[i] == c'<':
        while i < n and i < 5 and s[i] != c'>':
            i += 1
        if i == n or s[i] != c'>':
            return 0
        i += 1
        if n - i > 2 and s[i] == c'1' and s[i + 1] == c' ':
            i += 2
            for _ in range(5):      # TIMESTAMP HOSTNAME APP-NAME PROCID MSGID
                i = skip_word(s, i, n)
            if n - i > 1 and s[i] == c'-' and s[i + 1] == c' ':
                i += 2
            elif i == n or s[i] != c'[':
                return 0
            else:
                while i < n and s[i] == c'[':
                    while i < n and s[i] != c']':
                        if s[i] == c'"':
                            i = end_of_string(s, i + 1, n, False)
                        i += 1
                    i += 1
                if i >= n or s[i] != c' ':
                    return 0
                i += 1
            if starts_with(s, i, n, <const uint8_t *>b"\xEF\xBB\xBF", 3):
                i += 3
            return i if i < n else 0
    if is_iso_time(s, i, n):
        i = skip_word(s, i, n)
    elif n - i > 16 and s[i + 3] == c' ' and s[i + 6] == c' ' and s[i + 9] == c':' and s[i + 12] == c':' and s[i + 15] == c' ':
        i += 16
    else:
        return 0
    i = skip_word(s, i, n)          # HOSTNAME
    end = skip_word(s, i, n)        # TAG
    return end if end < n and end - i > 2 and s[end - 2] == c':' else 0


cdef size_t skip_label(const uint8_t *s, size_t n, bint timed) noexcept nogil:
    """Skip the label of a line; 0 if it is not there, or no time is after it that should be.

    docker compose logs:     "web-1  | message"                     (--timestamps: "web-1  | 2024-10-10T13:55:36.1Z message")
    kubectl logs --prefix:   "[pod/web-7c5ddbdf54-x2x/nginx] message"        (--timestamps: the same after the bracket)
    """
    cdef size_t i = kernels.span(s, n, &LABELS.set)
    if i:
        i = find_other(s, i, n, c' ')
        if i == n or s[i] != c'|':
            return 0
    elif starts_with(s, 0, n, <const uint8_t *>b"[pod/", 5):
        i = find(s, 5, n, c']')
    else:
        return 0
    if n - i < 3 or s[i + 1] != c' ':
        return 0
    i += 2
    if timed:
        i = skip_word(s, i, n) if is_iso_time(s, i, n) else n
    return i if i < n else 0


cdef size_t skip_prefix(int kind, const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of what another program wrote before the line; 0 if it is not there."""
    cdef size_t i
    if kind == SYSLOG:
        return skip_syslog(s, n)
    if kind == LABEL or kind == LABEL_AND_TIME:
        return skip_label(s, n, kind == LABEL_AND_TIME)
    # Kubernetes CRI: "2016-10-06T00:17:09.669794202Z stdout F message". "P": the line goes on in the next record.
    if kind == CRI and is_iso_time(s, 0, n):
        i = find(s, 0, n, c' ')
        if n - i > 10 and (memcmp(s + i, b" stdout F ", 10) == 0 or memcmp(s + i, b" stderr F ", 10) == 0):
            return i + 10
    return 0


cdef size_t end_of_sequence(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of the control sequence that starts at i, such as that of a color; i if there is none.

    ECMA-48 section 5.4: CSI, parameter bytes 30-3F, and a final byte 40-7E. CSI is ESC "[". Those of colors (SGR) and of
    erasing, which `grep --color` writes, have no intermediate bytes.
    """
    cdef size_t end = i + 2
    if n - i < 3 or s[i] != ESCAPE or s[i + 1] != c'[':
        return i
    while end < n and 0x30 <= s[end] <= 0x3F:
        end += 1
    return end + 1 if end < n and 0x40 <= s[end] <= 0x7E else i


cdef size_t without_colors(uint8_t *s, size_t n) noexcept nogil:
    """Remove the control sequences of a line where it is. Return its size."""
    cdef size_t i = find(s, 0, n, ESCAPE), size = i, end
    while i < n:
        end = end_of_sequence(s, i, n)
        if end == i:
            s[size] = s[i]
            size += 1
            end += 1
        i = find(s, end, n, ESCAPE)
        memmove(s + size, s + end, i - end)
        size += i - end
    return size


cdef size_t offset_with_colors(const uint8_t *s, size_t n, size_t offset) noexcept nogil:
    """Return where in a line an offset is that counts without its control sequences."""
    cdef size_t i = 0, end
    while i < n:
        end = end_of_sequence(s, i, n)
        if end > i:
            i = end
        elif offset == 0:
            return i
        else:
            offset -= 1
            i += 1
    return n


cdef void end_line(Text *line, uint8_t *room) noexcept nogil:
    """Remove the end of a line that is in a buffer, and its control sequences."""
    if line.n and room[line.n - 1] == c'\n':
        line.n -= 1
    if line.n and room[line.n - 1] == c'\r':
        line.n -= 1
    line.n = without_colors(room, line.n)


cdef bint docker_line(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil:
    """Return whether a line is a record of Docker's json-file driver, and its line: {"log":"line\\n","stream":...}"""
    cdef size_t start, end
    if not starts_with(s, 0, n, <const uint8_t *>b'{"log":', 7):
        return False
    start = skip_space(s, 7, n)
    if start == n or s[start] != c'"':
        return False
    end = end_of_string(s, start + 1, n, False)
    if end == n:
        return False
    line.at, line.n = room, json_text(s + start + 1, end - start - 1, room)
    end_line(line, room)
    return True


cdef size_t numbers_of(const uint8_t *s, size_t i, size_t n, uint8_t *dst) noexcept nogil:
    """Write the bytes whose numbers an array has that starts at i. Return how many; 0 if it has anything else."""
    cdef size_t size = 0, digits
    cdef int value
    while True:
        i = find_other(s, i + 1, n, c' ')
        value = 0
        digits = i
        while i < n and i - digits < 4 and c'0' <= s[i] <= c'9':
            value = 10 * value + (s[i] - c'0')
            i += 1
        if i == digits or i - digits > 3 or value > 255:
            return 0
        dst[size] = <uint8_t>value
        size += 1
        i = find_other(s, i, n, c' ')
        if i == n or s[i] != c',' and s[i] != c']':
            return 0
        if s[i] == c']':
            return size


cdef size_t text_in_object(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil:
    """Find the line in a JSON object: the text of its first member "log", "message" or "MESSAGE". Return where it begins; 0
    if there is none.

    Fluent Bit and Docker write "log", Filebeat "message", journald "MESSAGE", as an array of numbers if it is not UTF-8.
    """
    cdef size_t i = skip_space(s, 0, n), key, end
    cdef bint named
    if i == n or s[i] != c'{':
        return 0
    i = skip_space(s, i + 1, n)
    while i < n and s[i] == c'"':
        key = i + 1
        end = end_of_string(s, key, n, False)
        named = (end - key == 3 and memcmp(s + key, b"log", 3) == 0
                 or end - key == 7 and (memcmp(s + key, b"message", 7) == 0 or memcmp(s + key, b"MESSAGE", 7) == 0))
        i = skip_space(s, min(end + 1, n), n)
        if i == n or s[i] != c':':
            return 0
        i = key = skip_space(s, i + 1, n)
        if i == n:
            return 0
        if s[i] == c'"':
            i = end_of_string(s, i + 1, n, False)
            if i == n:
                return 0
            if named:
                line.at, line.n = room, json_text(s + key + 1, i - key - 1, room)
                end_line(line, room)
                return key + 1 if line.n else 0
            i += 1
        elif s[i] == c'{' or s[i] == c'[':
            if named and s[i] == c'[':
                line.at, line.n = room, numbers_of(s, i, n, room)
                if line.n:
                    line.n = without_colors(room, line.n)
                    return key + 1 if line.n else 0
            i = skip_nested(s, i, n, False)
        else:
            while i < n and (c'0' <= s[i] <= c'9' or c'a' <= s[i] <= c'z' or s[i] == c'.' or s[i] == c'-' or s[i] == c'+'
                             or s[i] == c'E'):
                i += 1
            if i == key:
                return 0
        if i >= n:
            return 0
        i = skip_space(s, i, n)
        if i == n or s[i] != c',':
            return 0
        i = skip_space(s, i + 1, n)
    return 0


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
            self.plan.notation = JSON_LINES
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
            self.plan.own_fields = True
        self.names = tuple(slots)
        self.plan.extras = len(slots)
        self.plan.name = <Text *>PyMem_Calloc(2 * self.plan.extras + 1, sizeof(Text))
        self.plan.key = self.plan.name + self.plan.extras
        if self.plan.name == NULL:
            raise MemoryError  # pragma: no cover: no memory
        for k, name in enumerate(slots):
            key = name.encode()
            self._kept.append(key)
            self.plan.name[k] = text_of(<const uint8_t *>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
            key = b',%s:"' % json_string(key)
            self._kept.append(key)
            self.plan.key[k] = text_of(<const uint8_t *>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))

    def __dealloc__(self):
        PyMem_Free(self.plan.step)
        PyMem_Free(self.plan.node)
        PyMem_Free(self.plan.name)
        PyMem_Free(self.plan.columns)

    cdef int set_field(self, Step *step, field, dict slots) except -1:
        """Set a step from a Field. `slots` has the slots of extra fields by name."""
        name = field.name
        step.slot, step.unit, step.kind = -1, field.unit, ANY
        step.take = KINDS[field.kind]
        if field.kind == "endpoint":
            step.kind = ENDPOINT
        elif field.kind == "number":
            step.kind = NUMBER
        elif field.kind == "decimal":
            step.kind = DECIMAL
        elif field.kind == "query":
            step.kind = QUERY_MARK
        if name is None:
            return 0
        if name == "path_decoded":
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
                    step.literal, step.n = <const uint8_t *>PyBytes_AS_STRING(literal), PyBytes_GET_SIZE(literal)
                    step.number_follows = i + 1 < len(parts) and parts[i + 1].kind in ("number", "decimal")
                continue
            step = self.plan.step + self.plan.steps
            self.set_field(step, part, slots)
            # A space alone would be the one in the time.
            if (self.plan.steps and part.kind == "time" and (step - 1).take == TEXT and i + 1 < len(parts)
                    and parts[i - 1].strip(b" ")):
                (step - 1).take = TEXT_BEFORE_TIME
            self.plan.steps += 1
        if self.plan.optional == 0:
            self.plan.optional = self.plan.steps + 1
        step = self.plan.step
        self.plan.begins_with_client = self.plan.start_n == 0 and (step.slot == CLIENT or step.slot == FORWARDED_FOR)
        self.plan.endpoint = any(isinstance(part, tuple) and part.kind == "endpoint" for part in parts)
        self.set_last(slots)
        self.set_quotes()
        return 0

    cdef int set_last(self, dict slots) except -1:
        """Set the slots of the fields that are not in the format: the rest of the line, and the port of the client."""
        self.plan.own_fields = self.plan.keep_rest or len(slots) > (self.plan.ident >= 0)
        if self.plan.open_end:
            slots["rest"] = self.plan.rest = MEMBERS + len(slots)
            if len(slots) > OWN_EXTRAS:
                raise ValueError(f"a format can have at most {OWN_EXTRAS} fields of its own")
        if self.plan.members & (1 << CLIENT | 1 << FORWARDED_FOR):
            self.plan.port = slots.setdefault("client_port", MEMBERS + len(slots))
        return 0

    cdef int set_quotes(self) except -1:
        """Set which texts in quotes end at the last quote that the rest of the format allows.

        After the end of an open format may be anything, but not before fields that it has.
        """
        cdef Step *step
        cdef bytes literal
        cdef bint may_have_quotes = False
        cdef size_t k, quotes = 0, spaces = 0
        for k in reversed(range(self.plan.steps)):
            step = self.plan.step + k
            literal = (<const char *>step.literal)[:step.n] if step.n else b""
            step.quotes = -1
            if k + 1 < self.plan.optional:
                quotes += literal.count(b'"')
                spaces += literal.count(b" ")
                if step.take == QUOTED and not may_have_quotes and (spaces or not self.plan.open_end):
                    step.quotes, step.spaces = <int>quotes - 1, spaces
            may_have_quotes |= step.slot >= 0 and step.slot < MEMBERS and VISITORS >> step.slot & 1
        return 0

    cdef int set_json(self, program, dict slots) except -1:
        cdef Node *node
        cdef int k, last, parent, rank
        cdef bytes key
        cdef size_t size = 0
        self.plan.escapes = JSON_ESCAPES
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
                key = name.encode()
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
                    if last:
                        node[last].sibling = k
                    else:
                        node[parent].child = k
                parent = k
            if node[parent].field.slot < 0:
                self.set_field(&node[parent].field, field, slots)
                rank += 1
                node[parent].rank = rank
        return self.set_last(slots)
