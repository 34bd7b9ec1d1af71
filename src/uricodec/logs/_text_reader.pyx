"""Lines of text, read by marks.

    lines   -> marks                four bitmaps, by a kernel: what needs care, spaces, quotes, delimiters of queries
            -> where fields end     the next mark, if the literal that the format has stands there
            -> record               the texts between; the request is split at its delimiters

Most lines are printable ASCII without a backslash, with the quotes that the format has. Where this module is not certain,
it declines the line, and `_programs` reads it, which also says what is wrong with a line that is no record. A variant of
the format is passed over only if that would pass over it, for the same reason: a field or a literal is not there.
"""
from libc.string cimport memchr, memcmp, memset

from uricodec._base._cpython cimport PyMem_Calloc, PyMem_Free
from uricodec._base._kernels cimport ByteSet, kernels, remove_byte, uc_bits_from
from uricodec._url._grammar cimport web_prefix
from uricodec.logs._fields cimport *
from uricodec.logs._line cimport *
from uricodec.logs._marks cimport *
from uricodec.logs._programs cimport *
from uricodec.logs._wrapping cimport WORDS, may_have_prefix, prefix_of, skip_words, time_before
from uricodec.logs._writing cimport keeps, know_time, put_extra_key


cdef ByteSet NO_LINE_END = ByteSet(range(256)) - "\r\n"
cdef ByteSet NO_HASH = ByteSet(range(256)) - "#"
cdef ByteSet TOKEN = ByteSet("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")  # RFC 9110 5.6.2

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
CLASSES.mask[<int>QUOTES] = QUOTE | LINE_END | BACKSLASH
CLASSES.mask[<int>DELIMITERS] = SIGN | DIVIDER | LINE_END


cdef inline bint stands_at(const uint8_t *s, const Step *step) noexcept nogil:
    """Return whether the literal of a step begins at s, after which BLOCK bytes may be loaded.

    A literal has no end of a line: it does not go beyond one.
    """
    return word_at(s) & step.mask == step.word and (step.n <= 8 or memcmp(s, step.literal, step.n) == 0)


cdef int set_text_reader(TextReader *reader, Variant *variant, int variants, Columns *columns, const Writer *w) except -1:
    """Prepare to read lines of a format. free_text_reader() must be called, in any case."""
    cdef const Step *step
    cdef size_t k
    cdef int i
    reader.writer, reader.variant, reader.variants, reader.others = w, variant, variants, NO_LINE_END.set
    reader.is_usable = variants > 0 and variant.plan.is_marked
    if variants == 1 and variant.plan.notation == W3C_LINES:
        reader.columns, reader.is_usable, reader.has_stops, reader.escapes = columns, True, True, NO_ESCAPES
        reader.name = <Text *>PyMem_Calloc(2 * EXTRAS, sizeof(Text))
        reader.keys = <uint8_t *>PyMem_Calloc(6 * NAMES_CAPACITY + 8 * EXTRAS + 2 * BLOCK, 1)
        if reader.name == NULL or reader.keys == NULL:
            raise MemoryError  # pragma: no cover: no memory
        reader.key = reader.name + EXTRAS
        return 0
    remove_byte(&reader.others, c' ')
    for i in range(variants):
        reader.escapes = variant.plan.escapes
        reader.is_mixed |= variant[i].plan.escapes != variant.plan.escapes
        if not variant[i].plan.is_marked:
            continue
        variant[i].shared = shared_steps(variant[i - 1].plan, variant[i].plan, False) if i and variant[i - 1].plan.is_marked else 0
        for k in range(variant[i].plan.steps):
            step = variant[i].plan.step + k
            if (step.until == TO_BYTE or step.until == TO_LITERAL) and step.byte != c'"' and step.byte != c' ':
                reader.has_stops = True
                remove_byte(&reader.others, step.byte)
    return 0


cdef void free_text_reader(TextReader *reader) noexcept:
    PyMem_Free(reader.name)
    PyMem_Free(reader.keys)


# --- reading ----------------------------------------------------------------------------------------------------------

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


cdef inline bint is_short_number(const Step *step, const uint8_t *s, size_t n) noexcept nogil:
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


cdef inline bint read_client(const Plan *plan, bint forwarded, Record *record) noexcept nogil:
    """Determine the client and its port, like read_client() of `_programs`. False: something else is before the address."""
    cdef Text *client = record.text + <int>CLIENT
    cdef Text port = text_of(NULL, 0), word = client[0], list
    cdef bint is_first = plan.begins_with_client and plan.step.slot == CLIENT
    cdef size_t colon
    if not plan.members >> CLIENT & 1:
        client.at, client.n = NULL, 0
    colon = find_colon(client[0])
    if colon < client.n or client.n and client.at[0] == c'[':
        if 0 < colon and colon + 1 < client.n <= colon + 6 and client.at[0] != c'[' and is_of_digits(
                client.at + colon + 1, client.n - colon - 1):
            port = text_of(client.at + colon + 1, client.n - colon - 1)     # the only colon is before a port
            client.n = colon
        else:
            port = split_port(client, plan.endpoint)
            if is_first and source_before(word, plan.endpoint):
                return False
    list = record.text[<int>FORWARDED_FOR]
    if plan.begins_with_client and not is_first and list.at != NULL and find_colon(list) < list.n:
        word = list
        if plan.step.take == LIST:
            word.n = find(word.at, 0, find(word.at, 0, word.n, plan.step.byte if plan.step.n else c' '), c',')
        if source_before(word, plan.endpoint):
            return False
    if forwarded and plan.members >> FORWARDED_FOR & 1 and next_address(&list, &word, &port):
        client[0] = word
    if not plan.has_port or port.at != NULL and record.text[plan.port].at == NULL:
        record.text[plan.port] = port
    return True


cdef inline bint is_usual_value(const Step *step, Text text) noexcept nogil:
    """Return whether a number needs no care."""
    return is_number(text) if step.work & IS_NUMBER else is_decimal(text)


cdef enum Attempt:
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


cdef bint has_lone_quote(const uint64_t *quotes, size_t at, size_t end) noexcept nogil:
    """Return whether the number of quotes from the one at `at` to the end is odd."""
    cdef bint is_odd = False
    while at < end:
        is_odd = not is_odd
        at = next_mark(quotes, at + 1)
    return is_odd


cdef Attempt read_fields(const Plan *plan, KnownTime *time, size_t first, size_t i, const Marked *marked, size_t end,
                             Record *record) noexcept nogil:
    """Find the fields of a line, from a step on. The line is from i to `end` in the window.

    Offsets come from marks alone: another thread may change the bytes meanwhile.
    """
    cdef const uint8_t *s = marked.src + marked.window
    cdef const uint64_t *spaces = marked.mark[<int>SPACES]
    cdef const uint64_t *quotes = marked.mark[<int>QUOTES]
    cdef const uint64_t *words = marked.mark[<int>STOPS]
    cdef const Step *step = plan.step + first
    cdef Text *value
    cdef size_t n, stop, quote, next, base
    cdef uint64_t bits
    cdef bint ended = False
    cdef Ends ends
    if first == 0:
        record.known_time = NULL
        record.step, record.start[0] = 0, i
        if not stands_at(s + i, &plan.beginning):
            return NO_MATCH
        i += plan.beginning.n
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
            value = record.text + step.slot
            record.start[step.index] = i
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
            step += 1
        record.start[step.index] = i
        value = record.text + step.slot
        if step.until == TO_QUOTE and quote < end and i <= quote and stands_at(s + quote, step) and not step.pads:
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
            step += 1
            continue
        if step.work & (IS_NUMBER | IS_DECIMAL) and i and s[i - 1] == c' ':
            while i < end and s[i] == c' ':
                i += 1
        if step.until == TO_SPACE:
            stop = next_mark(spaces, i)
        elif step.until == TO_QUOTE:
            stop = quote
            if stop == end:
                record.step = step.index
                return NO_MATCH
        elif step.until == TO_BYTE:
            if step.slot == VHOST and s[i] == c'[':
                return DECLINED     # IPv6, which has colons
            stop = quote if step.byte == c'"' else next_mark(marked.stops, i)
            while stop < end and s[stop] != step.byte:
                stop = next_mark(marked.stops, stop + 1)
            if step.byte == c'"' and (find(s, i, stop, c'"') < stop or step.take == TEXT and not stands_at(s + stop, step)):
                return DECLINED     # an escaped one, or one that does not end the text
        elif step.until == TO_TIME_END:
            stop = i + time.n
            if not is_known_time(time, s + i) or not stands_at(s + stop, step) or step.n == 0 and stop < end:
                stop = end_of_time(step, s, i, end)
                know_time(time, s + i, stop - i)
                if time.n == 0 and step.before_time:
                    return DECLINED
            elif step.byte == c' ' and (s[stop + 1] == c'+' or s[stop + 1] == c'-'):
                return DECLINED     # a zone
            record.known_time = s + i if time.n else NULL
        elif step.until == TO_LITERAL:
            stop = next_mark(words, i)
            while stop < end and not stands_at(s + stop, step):
                stop = next_mark(words, stop + 1)
        elif step.until == TO_LIST_END:
            stop = end_of_list(step, s, i, end)
        elif step.until == TO_LINE_END:
            stop = end
        else:
            break
        if stop > end or stop < i:
            return DECLINED         # the bytes have changed
        n = stop - i
        value.at, value.n = s + i, n
        if step.pads:
            stop = skip_pads(step, s, stop, end, value)
            n = value.n
        next = stop + step.n
        if not stands_at(s + stop, step):
            if not step.may_end or stop + (step.until == TO_QUOTE) < end:
                record.step = step.index
                return DECLINED if step.before_time and stop < end else NO_MATCH
            next, ended = end, True
        elif step.pads & PAD_AFTER:
            next = find_other(s, next, end, c' ')
        if n <= 1 and (n == 0 and step.empty_is_missing or n == 1 and s[i] == c'-'):
            value.at, value.n = NULL, 0
        elif n == 3 and step.slot == USER and memcmp(s + i, b" - ", 3) == 0:
            value.at, value.n = NULL, 0     # Jetty: there is none
        elif step.work & (IS_NUMBER | IS_DECIMAL):
            if not is_usual_value(step, value[0]) and not check_text(step, record):
                record.step = step.index
                return NO_MATCH
        elif stop > quote:
            return DECLINED         # a quote in a field that is not in quotes
        i = next
        if ended:       # the other fields are missing
            step += 1
            break
        if step.work & (HAS_QUOTE | NUMBER_FOLLOWS):
            if step.work & NUMBER_FOLLOWS and not (is_digit(s[i]) or s[i] == c'-'):
                return DECLINED
            if i < end:
                quote = next_quote(quotes, i, &ends)
                if quote > end:
                    return DECLINED
        step += 1
    record.step = plan.steps
    while step <= plan.step + plan.steps:
        value = record.text + step.slot
        value.at, value.n = NULL, 0
        step += 1
    if i < end:
        if quote < end and (plan.odd >= 0 or plan.step[plan.steps - 1].until == TO_QUOTE and has_lone_quote(
                quotes, quote, end)):
            return DECLINED
        return read_rest(plan, s, i, end, record)
    return READ


cdef inline bint has_odd_quotes(const Plan *plan, const Marked *marked, size_t end, const Record *record) noexcept nogil:
    """Return whether a line that did not match has more quotes than the format, so that a text may end later."""
    cdef size_t at
    cdef int left
    if plan.odd < 0 or record.step < <size_t>plan.odd:
        return False
    left = plan.step[plan.odd].quotes + 1
    at = next_mark(marked.mark[<int>QUOTES], record.start[plan.odd])
    while at < end and left:
        at = next_mark(marked.mark[<int>QUOTES], at + 1)
        left -= 1
    return at < end


cdef Attempt read_rest(const Plan *plan, const uint8_t *s, size_t i, size_t end, Record *record) noexcept nogil:
    """Read what follows the last field, which may be spaces, or an extra field."""
    cdef size_t k = i
    if plan.steps and plan.step[plan.steps - 1].until == TO_QUOTE and not (plan.open_end and s[i] == c' '):
        return NO_MATCH     # the quote is not the last one
    while k < end and s[k] == c' ':
        k += 1
    if k == end:
        return READ
    if not plan.open_end or s[i] != c' ':
        return NO_MATCH
    if not (end - i == 2 and s[i + 1] == c'-'):
        record.text[plan.rest] = text_of(s + i + 1, end - i - 1)
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


cdef inline bint split_target_at(size_t start, size_t stop, const Marked *marked, Record *record) noexcept nogil:
    """Split a target of the form "/" ... or "http://authority" ... False: it has another form."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef const uint64_t *marks = marked.mark[<int>DELIMITERS]
    cdef const Text *method = record.text + <int>METHOD
    cdef size_t path = start, at
    cdef bint plain = True
    if s[start] != c'/':
        path += authority_of(s + start, stop - start)
        if path == start or method.at != NULL and method.at[0] == c'C':     # CONNECT
            return False
    record.text[<int>TARGET].at, record.text[<int>TARGET].n = s + start, stop - start
    at = mark_before(marks, path, stop)
    while at < stop and s[at] != c'?':
        if s[at] == c'%':
            plain = False
        at = mark_before(marks, at + 1, stop)
    record.has_triplets = not plain
    record.text[<int>PATH].at = s + path
    if at >= stop:
        record.text[<int>PATH].n = stop - path
        record.text[<int>QUERY].at, record.text[<int>QUERY].n = NULL, 0
    else:
        record.text[<int>PATH].n = at - path
        record.text[<int>QUERY].at, record.text[<int>QUERY].n = s + at + 1, stop - at - 1
    return True


cdef bint split_usual(Text text, const Marked *marked, Record *record) noexcept nogil:
    """Split a request of the form METHOD SP "/" ... SP "HTTP/d.d". False: it has another form."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef size_t start = text.at - s, stop = start + text.n, at = next_mark(marked.mark[<int>SPACES], start)
    cdef uint64_t protocol
    if text.n < 13 or at + 10 >= stop or not is_method(s + start, at - start):
        return False
    stop -= 9
    protocol = word_at(s + stop + 1) ^ USUAL_PROTOCOL
    if s[stop] != c' ' or protocol & ~PROTOCOL_DIGITS | (protocol & PROTOCOL_DIGITS) + PROTOCOL_SIXES & PROTOCOL_LIMITS:
        return False
    record.text[<int>METHOD].at, record.text[<int>METHOD].n = s + start, at - start
    record.text[<int>PROTOCOL].at, record.text[<int>PROTOCOL].n = s + stop + 1, 8
    return split_target_at(at + 1, stop, marked, record)


# For requests, it is part of split_usual(): a call would cost 2 % of a line.
cdef bint split_usual_target(size_t start, size_t stop, const Marked *marked, Record *record) noexcept nogil:
    return split_target_at(start, stop, marked, record)


cdef void read_other_request(Record *record) noexcept nogil:
    """Read a request of any form, or one that is logged in parts."""
    cdef const Text *path = record.text + <int>PATH
    read_request(record)
    record.is_marked = False
    record.has_triplets = path.at != NULL and memchr(path.at, c'%', path.n) != NULL


cdef inline void read_the_request(const Plan *plan, const Marked *marked, Record *record) noexcept nogil:
    cdef const Text *target = record.text + <int>TARGET
    cdef int slot
    cdef size_t k
    record.is_marked = True
    if plan.one_request and not record.special >> REQUEST & 1 and record.text[<int>REQUEST].at != NULL and split_usual(
            record.text[<int>REQUEST], marked, record):
        return
    for slot in range(METHOD, PROTOCOL + 1):
        if not plan.members >> slot & 1:
            record.text[slot] = text_of(NULL, 0)
    if plan.one_target and not record.special & REQUEST_BITS and target.at != NULL and target.n and split_target_at(
            target.at - (marked.src + marked.window), target.at + target.n - (marked.src + marked.window), marked, record):
        return
    if plan.fixes:
        for k in range(plan.steps):
            fix_value(plan.step + k, record)
    read_other_request(record)


cdef void mark_window(const TextReader *reader, Marked *marked) noexcept nogil:
    """Mark the bytes from marked.start on, as many as a window has. A quote is marked unless a backslash escapes it."""
    cdef size_t size = min(marked.n - marked.start, <size_t>WINDOW), words = size + 63 >> 6, w
    cdef uint64_t *quotes = marked.marks + words * <int>QUOTES
    cdef const uint64_t *spaces = marked.marks + words * <int>SPACES
    cdef uint64_t backslashes, is_escaped = 0
    cdef int k
    kernels.mark_classes(marked.src + marked.start, size, &CLASSES, marked.marks)
    marked.marks[4 * words] = marked.marks[4 * words + 1] = marked.stops[words] = 0
    for k in range(4):
        marked.mark[k] = marked.marks + <size_t>k * words
    for w in range(words):
        backslashes = marked.marks[w] & quotes[w] & ~spaces[w]      # CARE
        if backslashes | is_escaped:
            quotes[w] &= ~backslashes
            if reader.escapes >= BACKSLASHES:
                quotes[w] &= ~escaped_bytes(backslashes, &is_escaped) | spaces[w]
    marked.mark[<int>STOPS] = marked.mark[<int>SPACES]
    if reader.escapes == HASHES:
        kernels.mark_outside(marked.src + marked.start, size, &NO_HASH.set, marked.stops)
        for w in range(words):
            marked.marks[w] |= marked.stops[w]      # CARE
    if reader.has_stops:
        kernels.mark_outside(marked.src + marked.start, size, &reader.others, marked.stops)
        marked.mark[<int>STOPS] = marked.stops
    if reader.delimiter == c'\t':
        for w in range(words):
            marked.marks[w] &= ~marked.stops[w] | spaces[w]     # it needs no care
    marked.window, marked.window_end = marked.start, marked.start + size
    prefetch_window(marked)


cdef inline bint ends_line(const Marked *marked, size_t at) noexcept nogil:
    """Return whether a byte of the window was "\\r" or "\\n" when it was marked: only these are in two of the bitmaps."""
    return (marked.mark[<int>SPACES][at >> 6] & marked.mark[<int>QUOTES][at >> 6]) >> (at & 63) & 1


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


cdef inline size_t line_end(const Marked *marked, size_t at, size_t size) noexcept nogil:
    """Return the offset of the first byte from `at` on that ends a line; `size` or more if there is none."""
    cdef const uint64_t *spaces = marked.mark[<int>SPACES]
    cdef const uint64_t *quotes = marked.mark[<int>QUOTES]
    cdef size_t w = at >> 6
    cdef uint64_t word = (spaces[w] & quotes[w]) >> (at & 63) << (at & 63)
    while word == 0:
        w += 1
        if w << 6 >= size:
            return size
        word = spaces[w] & quotes[w]
    return (w << 6) + lowest_bit(word)


cdef bint find_end(const TextReader *reader, Marked *marked, Record *record, size_t *special) noexcept nogil:
    """Find the end of the line at marked.start, and the first byte in it that needs care. False: it is declined.

    A line is declined near the end of the source, since copies load up to BLOCK bytes after the end of a text.
    """
    cdef size_t at, size, start
    if marked.start >= marked.window_end or marked.start < marked.window:
        mark_window(reader, marked)
    while True:
        size, start = marked.window_end - marked.window, marked.start - marked.window
        at = special[0] = first_mark(marked.mark[<int>CARE], start, size)
        if at < size and not ends_line(marked, at):
            at = line_end(marked, at, size)
        if at + 1 < size:
            break
        if start == 0 or marked.window_end == marked.n:
            return False
        mark_window(reader, marked)
    record.end = marked.window + at
    if marked.src[record.end] == c'\r':
        at += 1
        if not ends_line(marked, at):
            return False
    record.next = marked.window + at + 1
    if special[0] + marked.window < record.end and (reader.is_mixed or memchr(
            marked.src + marked.start, ESCAPE, record.end - marked.start) != NULL):      # a color, which is removed first
        return False
    return marked.src[record.next - 1] == c'\n' and marked.n - record.next > BLOCK


cdef inline void use_variant(const Variant *variant, Record *record) noexcept nogil:
    """Let a record be one of a variant. All other fields than those of its steps are missing; the request is still to be read."""
    cdef int slot
    cdef bint is_exact = record.variant == NULL or record.name == record.own_name
    if is_exact or variant.plan.members != record.variant.plan.members:
        for slot in range(MEMBERS):
            if not variant.plan.members >> slot & 1:
                record.text[slot] = text_of(NULL, 0)
    record.variant, record.unit = variant, variant.plan.duration_unit
    record.extras, record.name, record.key = variant.plan.extras, variant.plan.name, variant.key


cdef void undo_escapes(const Plan *plan, const Marked *marked, size_t at, size_t end, Record *record) noexcept nogil:
    """Undo the escapes of the fields with bytes that need care, the first of which is at `at`."""
    cdef const uint64_t *marks = marked.mark[<int>CARE]
    cdef const Step *step = plan.step
    cdef const Text *text
    cdef size_t start, stop
    while step < plan.step + plan.steps:
        text = record.text + step.slot
        # A duration has been checked, and may be written anew.
        if text.at != NULL and step.slot != DROPPED and step.slot != DURATION:
            start = text.at - (marked.src + marked.window)
            stop = start + text.n
            at = at if at >= start else mark_before(marks, start, end)
            if at >= end:
                return
            if at < stop:
                record.special |= bit_of(step.slot)
                undo_value(plan, step, record)
        step += 1


cdef bint finish_line(const TextReader *reader, const Marked *marked, size_t skipped, size_t special, size_t end,
                      Record *record) noexcept nogil:
    """Undo escapes, determine the client, and split the request. False: the line is declined.

    `skipped`: the size of what precedes the line, whose time it has if it has none itself.
    """
    cdef const Plan *plan = record.variant.plan
    cdef Text *user = record.text + <int>USER
    cdef bint has_filters = reader.writer.filters > 0
    record.marked, record.room, record.special = marked, marked.room, 0
    record.decoded = record.whole = False
    if user.n > 2 and user.at[user.n - 1] == c'-' and user.at[user.n - 2] == c' ':
        return False
    if plan.bare_vhost and has_byte(record.text[<int>VHOST], c' '):
        return False
    if plan.has_site and not is_site(record.text[<int>VHOST]):
        return False
    if not plan.has_time:
        record.text[<int>TIME] = text_of(NULL, 0)
    if record.known_time == NULL and is_doubtful(record):
        return False
    if plan.has_protocol and has_byte(record.text[<int>PROTOCOL], c' '):
        return False
    if skipped and record.text[<int>TIME].at == NULL:
        record.text[<int>TIME] = time_before(marked.src + marked.start, skipped)
    if plan.is_cut and end - (marked.start - marked.window) < CUT_OFF:
        return False
    if plan.ident >= 0 and record.text[plan.ident].at != NULL and user.at > record.text[plan.ident].at and find(
            user.at, 0, user.n, c' ') < user.n:
        return False
    if special < end:
        undo_escapes(plan, marked, special, end, record)
        if plan.begins_with_client and record.special & bit_of(plan.step.slot):
            return False
        if record.special >> USER & 1 and user.n == 2 and memcmp(user.at, b'""', 2) == 0:
            user.n = 0      # Apache writes these for an empty one
        spread_special(record)
    if plan.port >= 0 and not read_client(plan, reader.writer.forwarded, record):
        return False
    record.is_dropped = has_filters and not keeps(reader.writer, record, False)
    if record.variant.reads_request and not record.is_dropped:
        read_the_request(plan, marked, record)
        name_protocol(record)
        record.is_dropped = has_filters and not keeps(reader.writer, record, True)
    return True


cdef Attempt read_variants(const TextReader *reader, size_t at, Marked *marked, size_t end, Record *record) noexcept nogil:
    """Read the fields of a line in the first variant that it matches."""
    cdef const Variant *variant
    cdef Attempt attempt = NO_MATCH
    cdef int k
    record.step = MOST_STEPS + 1
    for k in range(reader.variants):
        variant = reader.variant + k
        if not variant.plan.is_marked:
            return DECLINED
        if record.key != variant.key:
            use_variant(variant, record)
        if variant.shared == 0 or record.step >= (variant - 1).plan.steps:
            attempt = read_fields(variant.plan, variant.time, 0, at, marked, end, record)
        elif record.step >= variant.shared:
            attempt = read_fields(variant.plan, variant.time, variant.shared, record.start[variant.shared], marked, end, record)
        if attempt == NO_MATCH and has_odd_quotes(variant.plan, marked, end, record):
            return DECLINED
        if attempt != NO_MATCH:
            return attempt
    return NO_MATCH


cdef bint read_text_line(const TextReader *reader, Marked *marked, Record *record) noexcept nogil:
    """Read the line at marked.start. False: it is declined. Up to BLOCK bytes after the end of the line may be loaded."""
    cdef size_t size, at, end, special, skipped = 0, words = 0
    cdef Attempt attempt
    cdef int k
    if not find_end(reader, marked, record, &special):
        return False
    size, at, end = record.end - marked.start, marked.start - marked.window, record.end - marked.window
    if size > marked.max_line or size < SHORTEST:
        return False
    if may_have_prefix(marked.src + marked.start, next_mark(marked.mark[<int>SPACES], at) - at):
        skipped = prefix_of(marked.src + marked.start, size)
    attempt = read_variants(reader, at + skipped, marked, end, record)
    k = 0
    if attempt == NO_MATCH and skipped and prefix_of(marked.src + marked.start + skipped, size - skipped):
        return False
    while attempt == NO_MATCH and k < WORDS:
        size = skip_words(k, marked.src + marked.start + skipped, end - at - skipped)
        if size:
            attempt = read_variants(reader, at + skipped + size, marked, end, record)
            words = size
        k += 1
    return attempt == READ and finish_line(reader, marked, skipped + words, special, end, record)


# --- W3C --------------------------------------------------------------------------------------------------------------

cdef void know_columns(TextReader *reader) noexcept nogil:
    """Make what stands before the values of the extra fields."""
    cdef Columns *columns = reader.columns
    cdef const Writer *w = reader.writer
    cdef size_t k
    cdef uint8_t *dst = reader.keys
    for k in range(columns.extras):
        reader.name[k] = text_of(columns.names + columns.name_at[k], columns.name_size[k])
        reader.key[k].at = dst
        dst = put_extra_key(w, reader.name[k], dst)
        reader.key[k].n = dst - reader.key[k].at
    columns.known = True


cdef bint read_w3c_line(TextReader *reader, Marked *marked, Record *record) noexcept nogil:
    """Read the line of values at marked.start, like read_text_line(). One with a quote is declined."""
    cdef Columns *columns = reader.columns
    cdef const uint8_t *s = marked.src + marked.start
    cdef uint8_t delimiter
    cdef size_t special, end, i, stop, column = 0
    cdef int slot
    if s[0] == c'#' or not find_end(reader, marked, record, &special):
        return False
    delimiter = delimiter_of(columns, s, record.end - marked.start) if columns.announced else reader.variant.plan.separator
    if delimiter != reader.delimiter:
        reader.delimiter, reader.others = delimiter, NO_LINE_END.set
        remove_byte(&reader.others, delimiter)
        marked.window = marked.window_end = 0
        if not find_end(reader, marked, record, &special):
            return False
    s = marked.src + marked.window
    i, end = marked.start - marked.window, record.end - marked.window
    if end - i > marked.max_line or end - i < SHORTEST or next_mark(marked.mark[<int>QUOTES], i) < end:
        return False
    if s[i] == c'{' or may_have_prefix(s + i, next_mark(marked.mark[<int>SPACES], i) - i) and prefix_of(s + i, end - i):
        return False
    if not columns.known:
        know_columns(reader)
    clear(record, marked.room)
    record.variant, record.extras, record.name, record.key = reader.variant, columns.extras, reader.name, reader.key
    for slot in range(<int>columns.extras):
        record.text[MEMBERS + slot] = text_of(NULL, 0)
    while True:
        stop = next_mark(marked.mark[<int>STOPS], i)
        slot = columns.slot[column] if column < columns.count and column < COLUMNS else -1
        record.text[slot if slot >= 0 else DROPPED] = text_of(s + i, stop - i)
        if special < stop:
            record.special |= bit_of(slot) if slot >= 0 else 0
            special = mark_before(marked.mark[<int>CARE], stop, end)
        column += 1
        if stop >= end:
            break
        i = stop + 1
    if not finish_w3c(columns, delimiter, column, 0, marked.src + marked.start, record.end - marked.start, record):
        return False
    spread_special(record)
    record.has_triplets = True
    record.is_dropped = reader.writer.filters > 0 and not (
        keeps(reader.writer, record, False) and keeps(reader.writer, record, True))
    return True
