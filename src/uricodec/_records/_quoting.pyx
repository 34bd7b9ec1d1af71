"""How values stand in records of CSV (RFC 4180) and in strings of JSON (RFC 8259): found, unescaped, escaped again.

A field of CSV begins with a quote or not. If it does, the next single quote ends what is quoted, and whatever stands
between it and the delimiter belongs to the field, as it does to Python's reader. Elsewhere a quote is an octet like any.

An object of JSON is read as far as it takes to find its members: nested values that do not matter are skipped by counting
brackets outside strings, and numbers are not looked at.
"""
from libc.string cimport memchr, memcpy

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit, uc_set, uc_utf8
from uricodec._codec._percent cimport hex_value
from uricodec._rows._operation cimport BAD_JSON, SURROGATE_ESCAPE
from uricodec._base._utf8 cimport continues, sequence_length


# --- CSV ----------------------------------------------------------------------------------------------------------------

cdef void find_csv_field(const uint8_t *s, size_t i, size_t n, const uc_set *inside, CsvField *field) noexcept nogil:
    """The field that starts at i, up to what is not `inside`: the delimiter, or a newline."""
    cdef const uint8_t *quote
    field.start, field.closed = i, True
    field.quoted = i < n and s[i] == c'"'
    if field.quoted:
        field.closed = False
        i += 1
        while i < n:
            quote = <const uint8_t *>memchr(s + i, c'"', n - i)
            if quote == NULL:
                i = n
                break
            i = quote - s + 1
            if i == n or s[i] != c'"':
                field.closed = True
                break
            i += 1
    field.end = i + kernels.span(s + i, n - i, inside)


cdef size_t unescape_csv(const uint8_t *s, const CsvField *field, uint8_t *dst) noexcept nogil:
    """Write the value of a quoted field: at most as many octets as it has."""
    cdef size_t i = field.start + 1, o = 0
    cdef bint open = True
    while i < field.end:
        if open and s[i] == c'"':
            i += 1
            if i == field.end or s[i] != c'"':
                open = False
                continue
        dst[o] = s[i]
        o += 1
        i += 1
    return o


cdef size_t place_in_csv(const uint8_t *s, const CsvField *field, size_t offset) noexcept nogil:
    """Where in s an octet of the value stands."""
    cdef size_t i = field.start
    cdef bint open = True
    if not field.quoted:
        return i + offset
    i += 1
    while i < field.end:
        if open and s[i] == c'"':
            if i + 1 < field.end and s[i + 1] == c'"':
                i += 1
            else:
                open = False
                i += 1
                continue
        if offset == 0:
            break
        offset -= 1
        i += 1
    return i


cdef size_t escape_csv(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Write a value in quotes: at most 2 n + 2 octets."""
    cdef size_t i = 0, o = 1, size
    cdef const uint8_t *quote
    dst[0] = c'"'
    while True:
        quote = <const uint8_t *>memchr(src + i, c'"', n - i)
        size = n - i if quote == NULL else quote - src - i
        memcpy(dst + o, src + i, size)
        o += size
        i += size
        dst[o] = c'"'
        o += 1
        if quote == NULL:
            return o
        dst[o] = c'"'
        o += 1
        i += 1


# --- objects of JSON ----------------------------------------------------------------------------------------------------

# RFC 8259 section 7:
#   string = quotation-mark *char quotation-mark
#   unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
cdef ByteSet IN_STRING = ~ByteSet('"\\')
# Section 2: ws = *( %x20 / %x09 / %x0A / %x0D )
# and what else ends a number, true, false or null.
cdef ByteSet IN_SCALAR = ByteSet("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
cdef ByteSet JSON_STRUCTURE = ByteSet('"\\[]{}')


cdef inline size_t next_mark(const uint64_t *marks, size_t i, size_t n) noexcept nogil:
    """The first marked byte from i on; n for none."""
    cdef size_t w = i >> 6
    cdef uint64_t word
    if i >= n:
        return n
    word = marks[w] & ~<uint64_t>0 << (i & 63)
    while word == 0:
        w += 1
        if 64 * w >= n:
            return n
        word = marks[w]
    return min(64 * w + <size_t>uc_lowest_bit(word), n)


cdef inline size_t end_of_string(const uint8_t *s, const uint64_t *marks, size_t i, size_t n, bint *escaped) noexcept nogil:
    """Where the quote is that closes a string of which s[i] is the first byte; n for nowhere."""
    escaped[0] = False
    while True:
        i = next_mark(marks, i, n)
        if i >= n or s[i] == c'"':
            return i
        if s[i] == c'\\':
            escaped[0] = True
            i += 1
        i += 1


cdef size_t end_of_value(const uint8_t *s, const uint64_t *marks, size_t i, size_t n) noexcept nogil:
    """After a value that is no string; n if it does not end, or is none."""
    cdef size_t depth = 0, start = i
    cdef bint escaped
    if i < n and s[i] != c'{' and s[i] != c'[':
        while i < n and IN_SCALAR.set.member[s[i]]:
            i += 1
        return i if i > start else n
    while True:
        i = next_mark(marks, i, n)
        if i >= n:
            return n
        if s[i] == c'"':
            i = end_of_string(s, marks, i + 1, n, &escaped)
        elif s[i] == c'{' or s[i] == c'[':
            depth += 1
        elif s[i] != c'\\':
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1


cdef Found_member next_member(const uint8_t *s, const uint64_t *marks, size_t *i, size_t n, bint first, bint array,
                              Member *member) noexcept nogil:
    """The next member of an object, or element of an array, that starts at or before i: after its bracket if it is the
    `first`, or after the value before. Then i is after it, but at its start if it is no string. NO_MORE: i is after the
    bracket that closes."""
    cdef size_t at = skip_spaces(s, i[0], n)
    if at < n and s[at] == (c']' if array else c'}'):
        i[0] = at + 1
        return NO_MORE
    if not first:
        if at >= n or s[at] != c',':
            return NO_OBJECT
        at = skip_spaces(s, at + 1, n)
    if not array:
        if at >= n or s[at] != c'"':
            return NO_OBJECT
        member.name = at + 1
        member.name_end = end_of_string(s, marks, at + 1, n, &member.name_escaped)
        at = skip_spaces(s, member.name_end + 1, n)
        if at >= n or s[at] != c':':
            return NO_OBJECT
        at = skip_spaces(s, at + 1, n)
    member.start, member.value = at, 0
    i[0] = at
    if at < n and s[at] == c'"':
        member.value = at + 1
        member.value_end = end_of_string(s, marks, at + 1, n, &member.value_escaped)
        i[0] = member.value_end + 1
    return MEMBER if i[0] < n else NO_OBJECT


# --- strings of JSON ----------------------------------------------------------------------------------------------------

# RFC 8259 section 7:
#   char = unescaped / escape ( %x22 / %x5C / %x2F / %x62 / %x66 / %x6E / %x72 / %x74 / %x75 4HEXDIG )
cdef inline int simple_escape(uint8_t c) noexcept nogil:
    if c == c'"' or c == c'\\' or c == c'/':
        return c
    return (8 if c == c'b' else 12 if c == c'f' else 10 if c == c'n' else 13 if c == c'r' else 9 if c == c't' else
            NOWHERE)


cdef int unit_of(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """The UTF-16 code unit that stands at s[i] as "\\uXXXX"; NOWHERE for none."""
    cdef int unit = 0, digit
    cdef size_t k
    if n - i < 6 or s[i] != c'\\' or s[i + 1] != c'u':
        return NOWHERE
    for k in range(2, 6):
        digit = hex_value(s[i + k])
        if digit < 0:
            return NOWHERE
        unit = unit << 4 | digit
    return unit


cdef size_t read_escape(const uint8_t *s, size_t i, size_t n, uint8_t *octets, int *have, int *code) noexcept nogil:
    """What the escape at s[i] stands for, as UTF-8. Returns how long it is; 0: there is no such escape, see `code`."""
    cdef int unit = unit_of(s, i, n), low
    cdef size_t length = 6
    code[0] = BAD_JSON
    if unit == NOWHERE:
        unit = simple_escape(s[i + 1]) if n - i > 1 else NOWHERE
        octets[0] = <uint8_t>unit
        have[0] = 1
        return 0 if unit == NOWHERE else 2
    if 0xD800 <= unit <= 0xDFFF:
        low = unit_of(s, i + 6, n)
        if unit >= 0xDC00 or low < 0xDC00 or low > 0xDFFF:
            code[0] = SURROGATE_ESCAPE
            return 0
        unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
        length = 12
    if unit < 0x80:
        have[0] = 1
        octets[0] = <uint8_t>unit
        return length
    have[0] = 2 if unit < 0x800 else 3 if unit < 0x10000 else 4
    octets[0] = <uint8_t>((0xF00 >> have[0] & 0xFF) | unit >> 6 * (have[0] - 1))
    for low in range(1, have[0]):
        octets[low] = <uint8_t>(0x80 | (unit >> 6 * (have[0] - 1 - low) & 0x3F))
    return length


cdef size_t unescape_json(const uint8_t *s, size_t n, uint8_t *dst, int *code, size_t *place) noexcept nogil:
    """Write what a string is, at most n octets. (size_t)-1, and a code and its place, if it is none."""
    cdef size_t i = 0, o = 0, size, length
    cdef uint8_t octets[4]
    cdef int have
    while True:
        size = kernels.span(s + i, n - i, &IN_STRING.set)
        memcpy(dst + o, s + i, size)
        i += size
        o += size
        if i >= n:
            return o
        length = read_escape(s, i, n, octets, &have, code)
        if length == 0:
            place[0] = i
            return <size_t>NOWHERE
        memcpy(dst + o, octets, have)
        o += have
        i += length


cdef size_t place_in_json(const uint8_t *s, size_t n, size_t offset) noexcept nogil:
    """Where in a string an octet of what it is stands."""
    cdef size_t i = 0, length
    cdef uint8_t octets[4]
    cdef int have, code
    while i < n:
        have = 1
        length = 1 if s[i] != c'\\' else read_escape(s, i, n, octets, &have, &code)
        if offset < <size_t>have or length == 0:
            break
        offset -= have
        i += length
    return i


# What stands for itself in a string, whatever surrounds it.
cdef ByteSet PLAIN_ASCII = ByteSet(range(0x20, 0x7F)) - '"\\'


cdef bint is_plain_json(const uint8_t *src, size_t n) noexcept nogil:
    """Whether no byte of a string has to be escaped, or may have to."""
    return kernels.span(src, n, &PLAIN_ASCII.set) == n


cdef size_t put_unit(int unit, uint8_t *dst) noexcept nogil:
    cdef const char *digits = "0123456789abcdef"
    dst[0] = c'\\'
    dst[1] = (c'"' if unit == c'"' else c'\\' if unit == c'\\' else c'b' if unit == 8 else c'f' if unit == 12 else
              c'n' if unit == 10 else c'r' if unit == 13 else c't' if unit == 9 else c'u')
    if dst[1] != c'u':
        return 2
    dst[2], dst[3], dst[4], dst[5] = digits[unit >> 12], digits[unit >> 8 & 15], digits[unit >> 4 & 15], digits[unit & 15]
    return 6


# ... and what does in text that is UTF-8, but for the first bytes of U+0080-00BF and U+2000-2FFF.
cdef ByteSet PLAIN_TEXT = (PLAIN_ASCII | ByteSet(range(0x80, 0x100))) - b"\xC2\xE2"


cdef size_t escape_json(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Write a string with its quotes: at most 6 n + 2 octets.

    Escaped are quotes and backslashes, all controls (U+0000-001F, 007F-009F), and the separators U+2028 and 2029. An octet
    that is not UTF-8 becomes its triplet, "%FF": JSON has only characters.
    """
    cdef const char *digits = "0123456789ABCDEF"
    cdef size_t i = 0, o = 1, size
    cdef uc_utf8 found
    cdef const uc_set *plain = &PLAIN_TEXT.set if kernels.scan_utf8(src, n, &found) == n else &PLAIN_ASCII.set
    cdef int length, have
    dst[0] = c'"'
    while True:
        size = kernels.span(src + i, n - i, plain)
        memcpy(dst + o, src + i, size)
        i += size
        o += size
        if i >= n:
            break
        length = sequence_length(src[i])
        have = 1
        while have < length and i + have < n and continues(src[i], have, src[i + have]):
            have += 1
        if have != length:
            dst[o], dst[o + 1], dst[o + 2] = c'%', digits[src[i] >> 4], digits[src[i] & 15]
            o += 3
            i += 1
            continue
        if length == 1:
            o += put_unit(src[i], dst + o)
        elif length == 2 and src[i] == 0xC2 and src[i + 1] < 0xA0:
            o += put_unit(src[i + 1], dst + o)
        elif length == 3 and src[i] == 0xE2 and src[i + 1] == 0x80 and src[i + 2] | 1 == 0xA9:
            o += put_unit(0x2000 | src[i + 2] & 0x3F, dst + o)
        else:
            memcpy(dst + o, src + i, length)
            o += length
        i += length
    dst[o] = c'"'
    return o + 1
