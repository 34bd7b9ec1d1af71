"""Records as JSON lines (RFC 8259) or CSV (RFC 4180), and which of them are written.

What all records of a variant have in common is joined in advance: a field is written by a copy of its key, with the
constants around it, and a copy of its value. Copies are of 32 or 64 bytes, and may run over: see `Record`.
"""
from libc.stdint cimport int64_t, uint16_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyErr_Clear, PyMem_Calloc, PyMem_Free
from uricodec._base._kernels cimport ByteSet
from uricodec._base._text cimport write_decimal
from uricodec._records._framing cimport json_string, starts_formula
from uricodec._rows._engine cimport UC_REJECTED, WRITES_BYTES, Component, Outcome, Slots
from uricodec._url._addresses cimport format_ipv6
from uricodec._url._shapes cimport write_shape
from uricodec.logs._fields cimport *
from uricodec.logs._filters cimport is_mapped, matches, matches_flags, matches_moment, read_address
from uricodec.logs._line cimport *
from uricodec.logs._marks cimport *
from uricodec.logs._texts cimport *


cdef ByteSet UNESCAPED = ByteSet(range(0x20, 0x7F)) - '"\\'     # bytes that no format escapes


# --- variants ---------------------------------------------------------------------------------------------------------

cdef const uint8_t *kept_bytes(bytes text, list kept) except NULL:
    """Keep a text, and return where it is. BLOCK bytes after its end may be loaded."""
    cdef bytes padded = text + BLOCK * b"\0"
    kept.append(padded)
    return <const uint8_t *>PyBytes_AS_STRING(padded)


cdef int set_output(Output *output, bytes before, bytes key, ValueKind value, int slot, list kept) except -1:
    output.key, output.n, output.own = kept_bytes(before + key, kept), len(before) + len(key), len(key)
    output.value, output.slot, output.text = value, slot, key.endswith(b'"')
    return 0


cdef int slot_of(const Plan *plan, const Writer *w, const Field *field, bint *by_name) noexcept:
    """Return the slot of a field; -1: it is always missing. `by_name`: only the line says which of the extra fields it is."""
    cdef size_t k
    cdef bint is_open = plan.keep_rest or plan.notation == W3C_LINES
    by_name[0] = False
    if field.kind == PARAMETER_VALUE or field.kind == FLAGS_VALUE or field.kind == TEST_VALUE:
        return 0
    if field.kind == EXTRAS_VALUE:
        return 0 if plan.extras or is_open else -1
    if field.kind == EXTRA_VALUE:
        if is_open:
            by_name[0] = True
            return 0
        for k in range(plan.extras):
            if plan.name[k].n == field.name.n and memcmp(plan.name[k].at, field.name.at, field.name.n) == 0:
                return MEMBERS + <int>k
        return -1
    if METHOD <= field.slot <= PROTOCOL:
        return field.slot if plan.has_request else -1
    if field.slot == CLIENT and w.forwarded and plan.members >> FORWARDED_FOR & 1:
        return CLIENT
    return field.slot if plan.members >> field.slot & 1 else -1


cdef inline bint needs_request(int slot, ValueKind value) noexcept:
    """Return whether a value is a part of the request."""
    return METHOD <= slot <= PROTOCOL or value == PARAMETER_VALUE or value == FLAGS_VALUE


cdef inline uint32_t bit_of_output(int slot, ValueKind value, bint by_name) noexcept:
    if value == EXTRAS_VALUE or by_name:
        return EXTRA_BIT
    return bit_of(QUERY if value == PARAMETER_VALUE else max(slot, 0))


cdef int set_variant(Variant *variant, const Plan *plan, const Writer *w, list kept) except -1:
    """Compile how records are written. `kept` gets what it points to. free_variant() must be called, in any case."""
    cdef int slot
    cdef size_t i, k
    cdef const Field *field
    cdef Output *output
    cdef ValueKind value
    cdef bint by_name
    cdef bytes key, before = b"" if w.fields or w.csv else b"{"     # what is the same in all records
    variant.plan = plan
    variant.key = <Text *>PyMem_Calloc(plan.extras + 1, sizeof(Text))
    variant.output = <Output *>PyMem_Calloc(w.fields + 1, sizeof(Output))
    variant.filter = <Output *>PyMem_Calloc(w.all_filters + 1, sizeof(Output))
    if variant.key == NULL or variant.output == NULL or variant.filter == NULL:
        raise MemoryError  # pragma: no cover: no memory
    for k in range(plan.extras):
        key = b',%s:"' % json_string((<const char *>plan.name[k].at)[:plan.name[k].n])
        key = key.replace(b'"', b'""') if w.csv else key
        variant.key[k] = text_of(kept_bytes(key, kept), len(key))
        variant.names_n += plan.name[k].n
    for i in range(w.fields):
        field, value = w.field + i, w.field[i].kind
        slot = slot_of(plan, w, field, &by_name)
        if slot < 0 and field.optional and not w.csv:
            continue
        if w.csv:
            key = b"," if i else b""
            key += b'"' if slot >= 0 and not field.is_number and value != FLAGS_VALUE else b""
        else:
            key = (<const char *>field.key.at)[:field.key.n]
            key += b"null" if slot < 0 else b'"' if field.is_text else b""
        if slot < 0:
            before += key
            continue
        if value == EXTRA_VALUE and not by_name and w.masked == NULL and slot != plan.rest:
            value = COPIED
        output = variant.output + variant.outputs
        set_output(output, before, key, value, slot, kept)
        output.bit, output.column, output.field, output.by_name = bit_of_output(slot, value, by_name), <int>i, field, by_name
        output.is_long = field.slot == TARGET or field.slot == PATH or field.slot == REFERER or field.slot == USER_AGENT
        variant.reads_request |= plan.has_request and needs_request(slot, value)
        variant.outputs += 1
        before = b""
    for i in range(w.all_filters):
        output, field = variant.filter + i, &w.filter[i].field
        output.slot = slot_of(plan, w, field, &output.by_name)
        output.field, output.value = field, field.kind
        output.bit = bit_of_output(output.slot, output.value, output.by_name)
        output.late = plan.has_request and needs_request(output.slot, field.kind)
        variant.reads_request |= output.late
    before += b"\n" if w.csv else b"}\n"
    variant.tail, variant.tail_n = kept_bytes(before, kept), len(before)
    return 0


cdef void free_variant(Variant *variant) noexcept:
    PyMem_Free(variant.key)
    PyMem_Free(variant.output)
    PyMem_Free(variant.filter)


# --- times ------------------------------------------------------------------------------------------------------------

cdef void know_time(KnownTime *time, const uint8_t *s, size_t n) noexcept nogil:
    """Remember a time of n bytes, if it has a date and a clock in which the digits may change."""
    cdef uint8_t bytes[LONGEST_TIME]
    cdef uint8_t mask[LONGEST_TIME]
    cdef uint8_t digits[LONGEST_TIME]
    cdef uint8_t limit[LONGEST_TIME]
    cdef size_t i, k
    time.n = 0
    if n > LONGEST_TIME or n < 19:
        return
    time.clock = n - 8
    while time.clock > 10 and not has_shape(s + time.clock, "00:00:00", 8):
        time.clock -= 1
    if time.clock == 10 or s[time.clock + 8] == c',':
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


cdef bint read_moment(const Record *record, Text text, Zone *zone, int64_t *micros) noexcept nogil:
    """Read the time as microseconds since 1970 in UTC. False: it has another form."""
    cdef KnownTime *time = record.variant.time
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
    size = put_moment_of(record, text, written)
    if size:
        micros[0] = micros_of(written, size, zone)
    return size > 0


cdef inline uint8_t *put_known_time(const KnownTime *time, const uint8_t *s, uint8_t *dst) noexcept nogil:
    """Write a time for which is_known_time() is true."""
    memcpy(dst, time.written, 16)
    memcpy(dst + 11, s + time.clock, LONGEST_TIME)
    memcpy(dst + 11 + time.size, time.written + 11 + time.size, 8)
    return dst + time.written_n


cdef size_t put_moment_of(const Record *record, Text text, uint8_t *dst) noexcept nogil:
    """Write the time in the form of RFC 3339. Return its size; 0 if it is logged in another form."""
    cdef KnownTime *time = record.variant.time
    if record.text[<int>DATE].at != NULL:
        return put_time(record, dst)
    if text.n == time.n and is_known_time(time, text.at):
        return put_known_time(time, text.at, dst) - dst
    if text.n > 4 and is_digit(text.at[2]) and is_digit(text.at[4]) and not (text.n == 15 and text.at[6] == c' '):
        return put_epoch(text.at, text.n, &time.day, dst)
    return put_moment(text.at, text.n, dst)


cdef size_t put_shown_moment(const Writer *w, const Record *record, Text text, uint8_t *dst) noexcept nogil:
    """Write the time as put_moment_of() does, in the zone of the output."""
    cdef uint8_t written[TIME_SIZE + BLOCK]
    cdef size_t size
    if w.shown == NULL:
        return put_moment_of(record, text, dst)
    size = put_moment_of(record, text, written)
    return put_local(written, size, w.zone, w.shown, dst) if size else 0


# --- values -----------------------------------------------------------------------------------------------------------

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


cdef enum:
    FEW = 12        # bytes of a text that are decoded one by one: the kernel takes less time for more


cdef uint8_t *put_escaped(const Writer *w, const Marked *marked, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil:
    """Write a text of the window that has a "%" or a "+", like put_decoded()."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef const uint64_t *marks = marked.mark[<int>DELIMITERS]
    cdef size_t start = text.at - s, stop = start + text.n, at = start
    cdef uint8_t *first = dst
    cdef int byte, follow = 0      # how many bytes of a character have to follow
    cdef int left = FEW
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
            left -= 1
            if left == 0:
                break
        dst += 1
    return put_decoded(w, True, text, plus, place, first)


cdef uint8_t *put_marked_query(const Writer *w, const Marked *marked, Text query, uint8_t *dst) noexcept nogil:
    """Write the parameters, like put_query()."""
    cdef const uint8_t *s = marked.src + marked.window
    cdef const uint64_t *marks = marked.mark[<int>DELIMITERS]
    cdef size_t at = query.at - s, stop = at + query.n
    cdef Parameter parameter
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    cdef size_t quote = 2 if w.csv else 1
    cdef uint8_t *first = dst
    while next_parameter(s, marks, &at, stop, &parameter):
        memcpy(dst, b',[""', 4)
        dst += 2 + quote
        if parameter.escaped_name:
            dst = put_escaped(w, marked, parameter.name, True, place, dst)
        else:
            dst = copy_blocks(parameter.name.at, parameter.name.n, dst)
        memcpy(dst, b'"",""', 5)
        dst[quote] = c','
        memset(dst + quote + 1, c'"', 2)
        dst += 2 * quote + 1
        if parameter.escaped:
            dst = put_escaped(w, marked, parameter.value, True, place, dst)
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


cdef uint8_t *put_addresses(const Writer *w, const Record *record, Text list, uint8_t *dst) noexcept nogil:
    """Write a list of addresses as a JSON array."""
    cdef uint8_t *start = dst
    cdef Text address, port
    cdef size_t quote = 2 if w.csv else 1
    while next_address(&list, &address, &port):
        memcpy(dst, b',""', 3)
        dst = put_text(w, record.special >> FORWARDED_FOR & 1 == 0, address, STRING_IN_CELL if w.csv else STRING, dst + 1 + quote)
        memcpy(dst, b'""', 2)
        dst += quote
    start[0] = c'['
    dst[0] = c']'
    return dst + 1


cdef inline bint has_extras(const Record *record) noexcept nogil:
    """Return whether one of the extra fields has a value."""
    cdef size_t k
    for k in range(record.extras):
        if record.text[MEMBERS + k].at != NULL:
            return True
    return False


cdef uint8_t *put_extra_value(const Writer *w, const Record *record, size_t k, Place place, uint8_t *dst) noexcept nogil:
    """Write the value of an extra field. What follows the fields of a format may have quotes."""
    cdef bint plain = not record.special & EXTRA_BIT and <int>(MEMBERS + k) != record.variant.plan.rest
    return put_masked(w, plain, record.text[MEMBERS + k], True, place, dst)


cdef uint8_t *put_extra_key(const Writer *w, Text name, uint8_t *dst) noexcept nogil:
    """Write what stands before the value of an extra field."""
    cdef size_t quote = 2 if w.csv else 1
    memcpy(dst, b',""', 3)
    dst = put_any(w, name.at, name.n, STRING_IN_CELL if w.csv else STRING, dst + 1 + quote)
    memcpy(dst, b'"":""', 5)
    dst[quote] = c':'
    memset(dst + quote + 1, c'"', 2)
    return dst + 2 * quote + 1


cdef uint8_t *put_extras(const Writer *w, const Record *record, uint8_t *dst) noexcept nogil:
    """Write the extra fields that have values as a JSON object."""
    cdef uint8_t *start = dst
    cdef const Text *text = record.text + MEMBERS
    cdef size_t k, quote = 2 if w.csv else 1
    cdef bint is_plain = w.masked == NULL and not record.special & EXTRA_BIT
    cdef int rest = record.variant.plan.rest - MEMBERS
    cdef Place place = STRING_IN_CELL if w.csv else STRING
    for k in range(record.extras):
        if text[k].at == NULL:
            continue
        if record.key[k].at != NULL:
            dst = copy_blocks(record.key[k].at, record.key[k].n, dst)
        else:
            dst = put_extra_key(w, record.name[k], dst)
        if is_plain and <int>k != rest:
            dst = copy_blocks(text[k].at, text[k].n, dst)
        else:
            dst = put_extra_value(w, record, k, place, dst)
        memcpy(dst, b'""', 2)
        dst += quote
    start[0] = c'{'
    dst[0] = c'}'
    return dst + 1


cdef inline size_t end_of_segments(Text path, size_t count) noexcept nogil:
    """Return where the first segments of a path end. It is still encoded, unless it is logged decoded."""
    cdef size_t at = find(path.at, 1, path.n, c'/')     # a "/" at the start is before the first segment
    while count > 1 and at < path.n:
        at = find(path.at, at + 1, path.n, c'/')
        count -= 1
    return at


cdef uint8_t *put_network(const Field *field, Text client, uint8_t *dst) noexcept nogil:
    """Write the network of an address in the notation of CIDR; nothing if the client is not an address, or has no network."""
    cdef uint16_t groups[8]
    cdef int i, first = 0, bits = field.bits
    if not read_address(client.at, client.n, groups):
        return dst
    if is_mapped(groups):
        first, bits = 6, <int>field.period
    elif bits < 0:
        return dst
    for i in range(first, 8):
        groups[i] &= 0xFFFF & (<uint32_t>0xFFFF << max(0, min(16, 16 * (i - first + 1) - bits)))
    if first:
        for i in range(4):
            dst += write_decimal(groups[6 + i // 2] >> (0 if i & 1 else 8) & 0xFF, dst)
            dst[0] = c'/' if i == 3 else c'.'
            dst += 1
    else:
        dst += format_ipv6(groups, False, dst)
        dst[0] = c'/'
        dst += 1
    return dst + write_decimal(<uint64_t>bits, dst)


cdef uint8_t *put_made(const Writer *w, const Slots *rows, Text text, Place place, uint8_t *dst) noexcept nogil:
    """Write what a row function makes of a text; nothing if it has no such part."""
    cdef Outcome outcome
    cdef const Component *part = <const Component *>w.made
    cdef size_t size = rows.keep(text.at, text.n, rows.options, w.made, &outcome)
    if size == UC_REJECTED:
        forget_error()  # pragma: no cover: no memory
        return dst  # pragma: no cover: no memory
    if rows.result == WRITES_BYTES:
        return put_any(w, w.made, size, place, dst)
    return dst if part.start < 0 else put_any(w, w.made + part.start, <size_t>(part.end - part.start), place, dst)


cdef void forget_error() noexcept with gil:  # pragma: no cover: no memory
    PyErr_Clear()


cdef Text text_in(const Writer *w, const Record *record, const Output *output, bint *masked) noexcept nogil:
    """Return the text of which a field is written; NULL if it is missing. `masked`: it must be hidden. Not of `extra` and flags."""
    cdef Text text, list, address, port
    cdef size_t k
    masked[0] = False
    if output.value == PARAMETER_VALUE:
        return parameter_of(w, record.text[<int>QUERY], &output.field.name, masked)
    if output.by_name:
        for k in range(record.extras):
            if record.text[MEMBERS + k].at != NULL and record.name[k].n == output.field.name.n and memcmp(
                    record.name[k].at, output.field.name.at, record.name[k].n) == 0:
                return record.text[MEMBERS + k]
        return text_of(NULL, 0)
    text = record.text[output.slot]
    if output.value == ADDRESSES_VALUE:
        list = text
        if not next_address(&list, &address, &port):
            text = text_of(NULL, 0)
    elif output.value == CLASS_VALUE and text.n != 3:
        text = text_of(NULL, 0)
    elif output.value == SEGMENTS_VALUE and text.at != NULL:
        text.n = end_of_segments(text, output.field.period)
    return text


cdef inline size_t put_duration(Text text, int unit, uint8_t *dst) noexcept nogil:
    """Write a duration as put_seconds() does."""
    cdef size_t digits = <size_t>-unit, n = text.n
    cdef bint point
    if not is_decimal(text):
        return put_seconds(text, unit, dst)
    if n <= 8:
        point = bytes_equal(word_at(text.at) & FIRST_BYTES[n], c'.') != 0
    else:
        point = memchr(text.at, c'.', n) != NULL
    if unit == 0 and point and text.at[n - 1] != c'0' and (text.at[0] != c'0' or text.at[1] == c'.'):
        copy_blocks(text.at, n, dst)
        return n
    if unit >= 0 or point or text.at[0] == c'0':
        return put_seconds(text, unit, dst)
    if n <= digits:
        memcpy(dst, b"0.00000000", 10)
        copy_blocks(text.at, n, dst + 2 + digits - n)
        n = 1 + digits
    else:
        copy_blocks(text.at, n - digits, dst)
        copy_blocks(text.at + n - digits, digits, dst + n - digits + 1)
        dst[n - digits] = c'.'
    while dst[n] == c'0' and dst[n - 1] != c'.':
        n -= 1
    return n + 1


cdef uint8_t *put_value(const Writer *w, const Record *record, const Output *output, Text text, bint masked, Place place,
                        uint8_t *dst) noexcept nogil:
    """Write the value of a field that is a text or a number, given the text of text_in(). Nothing: it is missing."""
    cdef uint8_t time[TIME_SIZE + BLOCK]
    cdef size_t size
    cdef uint8_t *start = dst
    cdef bint plain = not record.special & output.bit
    if masked:
        return put("***", 3, dst)
    if output.value == TIME_VALUE:
        size = put_shown_moment(w, record, text, dst)
        return dst + size if size else put_text(w, plain, text, place, dst)
    if (output.value == PATH_VALUE or output.value == SEGMENTS_VALUE) and not record.decoded and record.has_triplets:
        if record.is_marked:
            return put_escaped(w, record.marked, text, False, place, dst)
        return put_decoded(w, plain, text, False, place, dst)
    if output.value == SHAPE_VALUE:     # the segments are those of the encoded path
        text = text_of(w.made, write_shape(text.at, text.n, record.decoded, w.made))
        if record.decoded or not record.has_triplets:
            return put_any(w, text.at, text.n, place, dst)
        return put_decoded(w, False, text, False, place, dst)
    if output.value == PARAMETER_VALUE:
        return put_decoded(w, plain, text, True, place, dst)
    if output.value == MASKED_VALUE:
        return put_masked(w, plain, text, output.slot != TARGET or record.text[<int>PATH].at == NULL, place, dst)
    if output.value == EXTRA_VALUE:
        return put_masked(w, False, text, True, place, dst)
    if output.value == SECONDS_VALUE:
        return dst + put_duration(text, record.unit, dst)
    if output.value == PERIOD_VALUE:
        size = put_shown_moment(w, record, text, time)
        return dst + period_of(time, size, output.field.period, dst) if size else dst
    if output.value == CLASS_VALUE:
        return put_class(text, dst)
    if output.value == ROW_VALUE:
        return put_made(w, output.field.rows, text, place, dst)
    if output.value == NETWORK_VALUE:
        dst = put_network(output.field, text, dst)
        if dst != start:
            return dst
    return put_text(w, plain, text, place, dst)


# --- records ----------------------------------------------------------------------------------------------------------

cdef inline uint8_t *put_missing(const Writer *w, const Output *output, uint8_t *dst) noexcept nogil:
    """Write the value of a field that is missing, whose key has been written."""
    dst -= output.text
    memcpy(dst, b"null", 4)
    return dst if w.csv else dst + 4


cdef inline uint8_t *put_end(const Writer *w, const Output *output, uint8_t *start, uint8_t *dst) noexcept nogil:
    """End a value that has been written from `start` on."""
    if w.csv_safe and output.text and starts_formula(start, dst - start):
        memmove(start + 1, start, dst - start)
        start[0] = c"'"
        dst += 1
    dst[0] = c'"'
    return dst + output.text


cdef uint8_t *put_other(const Writer *w, const Record *record, const Output *output, uint32_t *seen, uint8_t *dst) noexcept nogil:
    """Write a value that is not a copy."""
    cdef Text text
    cdef bint masked
    cdef uint8_t *start = dst
    if output.value == EXTRAS_VALUE:
        return put_end(w, output, start, put_extras(w, record, dst))
    if output.value == FLAGS_VALUE:
        return put_flags(flags_of_record(w, record), w.csv, dst)
    text = text_in(w, record, output, &masked)
    if text.at == NULL:
        return put_missing(w, output, dst)
    seen[0] |= output.bit
    if output.value == QUERY_VALUE:
        if record.is_marked and w.masked == NULL:
            dst = put_marked_query(w, record.marked, text, dst)
        else:
            dst = put_query(w, not record.special & output.bit, text, STRING_IN_CELL if w.csv else STRING, dst)
    elif output.value == ADDRESSES_VALUE:
        dst = put_addresses(w, record, text, dst)
    else:
        dst = put_value(w, record, output, text, masked, CELL if w.csv else STRING, dst)
        if dst == start and may_be_missing(output):
            return put_missing(w, output, dst)
    return put_end(w, output, start, dst)


cdef uint8_t *put_record(const Writer *w, const Record *record, uint32_t *seen, uint8_t *dst) noexcept nogil:
    """Write a record of at most FACTOR bytes for each byte of its line, plus `record_extra`. `seen` gets the bits of its values."""
    cdef const Variant *variant = record.variant
    cdef const Output *output = variant.output
    cdef const Output *end = output + variant.outputs
    cdef const Text *text
    cdef uint8_t *start
    cdef uint32_t bits = 0
    cdef bint csv_safe = w.csv_safe
    cdef uint32_t special = record.special
    while output < end:
        dst = copy_blocks(output.key, output.n, dst)
        text = record.text + output.slot
        start = dst
        if not special & output.bit and is_copied(record, output):
            if text.at != NULL:
                dst = copy_long(text.at, text.n, dst) if output.is_long else copy_blocks(text.at, text.n, dst)
                if csv_safe:
                    dst = put_end(w, output, start, dst)
                else:
                    dst[0] = c'"'
                    dst += output.text
                bits |= output.bit
            else:
                dst = put_missing(w, output, dst)
        elif output.value == TIME_VALUE and text.at == record.known_time and text.at != NULL and w.shown == NULL:
            dst = put_end(w, output, start, put_known_time(variant.time, text.at, dst))
            bits |= output.bit
        elif output.value == EXTRAS_VALUE and not has_extras(record):
            dst = dst - output.own if output.field.optional and not w.csv else put_missing(w, output, dst)
        else:
            dst = put_other(w, record, output, seen, dst)
        output += 1
    seen[0] |= bits
    return copy_blocks(variant.tail, variant.tail_n, dst)


# --- conditions -------------------------------------------------------------------------------------------------------

cdef bint meets(const Writer *w, const Record *record, const Filter *filter, const Output *output) noexcept nogil:
    """Return whether a record meets a condition."""
    cdef Text text
    cdef bint masked
    cdef int64_t micros
    if output.value == FLAGS_VALUE:
        return matches_flags(filter, flags_of_record(w, record))
    text = text_in(w, record, output, &masked) if output.slot >= 0 else text_of(NULL, 0)
    if text.at != NULL and filter.comparison == AS_MOMENT:
        return read_moment(record, text, w.zone, &micros) and matches_moment(filter, micros)
    if text.at != NULL and output.value != ADDRESSES_VALUE and (record.special & output.bit or not is_copied(record, output)):
        text = text_of(w.value, put_value(w, record, output, text, masked, RAW, w.value) - w.value)
        if text.n == 0 and may_be_missing(output):
            text.at = NULL
    return matches(filter, text)


cdef bint meets_one_of(const Writer *w, const Record *record, size_t *i) noexcept nogil:
    """Return whether a record meets the condition i or its alternatives; if they are negative, all. Move to the next one."""
    cdef const Filter *filter = w.filter
    cdef const Output *output = record.variant.filter
    cdef bint all_must = filter[i[0]].is_negated or filter[i[0]].operator == UNEQUAL
    cdef bint holds = meets(w, record, filter + i[0], output + i[0])
    while filter[i[0]].more:
        i[0] += 1
        if holds == all_must:
            holds = meets(w, record, filter + i[0], output + i[0])
    i[0] += 1
    return holds


cdef bint keeps(const Writer *w, const Record *record, bint late) noexcept nogil:
    """Return whether a record meets the conditions; those on the request if `late`, or else the others."""
    cdef size_t i = 0
    while i < w.filters:
        if record.variant.filter[i].late == late:
            if not meets_one_of(w, record, &i):
                return False
        else:
            while w.filter[i].more:
                i += 1
            i += 1
    return True
