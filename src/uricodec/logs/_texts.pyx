"""The texts of records, as JSON strings (RFC 8259 section 7), CSV cells (RFC 4180) or columns.

In JSON, control characters, U+2028 and U+2029 are escaped; in CSV they stay percent-encoded. Bytes that are not UTF-8 stay
triplets, or become U+FFFD.

In most lines all texts are printable ASCII. The parser of the line determines that in one step, and the texts are
copied. Decoded and other texts are written in three steps, the first two with kernels: copy a text that needs no
escape; in UTF-8, escape single characters; otherwise, go character by character.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcpy, memmove

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._base._text cimport continues, sequence_length
from uricodec._codec._charsets cimport charset_decode
from uricodec._codec._percent cimport hex_value, is_plain
from uricodec._codec._triplets cimport StrictOptions, decode_strictly, is_utf8
from uricodec._codec._triplets cimport KEEP as KEEP_BYTES
from uricodec._records._framing cimport put_unit
from uricodec._url._queries cimport FORM, QueryField, QueryName, QueryReader, has_name, is_name, next_field, read_query
from uricodec.logs._fields cimport find, text_of
from uricodec.logs._line cimport *


# --- texts ------------------------------------------------------------------------------------------------------------

# Bytes that are copied: in any text, and in UTF-8 (C2 and E2 begin U+0080-009F and U+2028-2029).
cdef ByteSet PLAIN_TEXT = ByteSet(range(0x20, 0x7F)) - '"\\'
cdef ByteSet PLAIN_UTF8 = PLAIN_TEXT | ByteSet(range(0x80, 0x100)) - b"\xC2\xE2"

cdef const char *UPPER_HEX = "0123456789ABCDEF"


cdef inline uint8_t *put_triplet(uint8_t octet, uint8_t *dst) noexcept nogil:
    dst[0], dst[1], dst[2] = c'%', <uint8_t>UPPER_HEX[octet >> 4], <uint8_t>UPPER_HEX[octet & 15]
    return dst + 3


cdef uint8_t *put_character(const uint8_t *at, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a character of n bytes of UTF-8, escaped if necessary."""
    cdef size_t i
    cdef int unit = -1
    if n == 1 and place != RAW:
        if at[0] == c'"':
            if place != CELL:
                dst[0] = c'\\'
                dst += 1
            dst[0] = c'"'
            if place != STRING:
                dst += 1
                dst[0] = c'"'
            return dst + 1
        if at[0] == c'\\' and place != CELL:
            dst[0] = dst[1] = c'\\'
            return dst + 2
        if at[0] < 0x20 or at[0] == 0x7F:
            unit = at[0]
    elif n == 2 and at[0] == 0xC2 and at[1] < 0xA0:
        unit = at[1]
    elif n == 3 and at[0] == 0xE2 and at[1] == 0x80 and (at[2] == 0xA8 or at[2] == 0xA9):
        unit = 0x2000 + at[2] - 0x80
    if place == RAW:
        unit = -1
    if unit >= 0 and place != CELL:
        return dst + put_unit(unit, dst)
    for i in range(n):
        if unit >= 0:
            dst = put_triplet(at[i], dst)
        else:
            dst[0] = at[i]
            dst += 1
    return dst


cdef uint8_t *put_bytes(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a text that is not UTF-8."""
    cdef size_t i = 0, have
    cdef size_t length
    while i < n:
        length = <size_t>sequence_length(src[i])
        have = 1
        while have < length and i + have < n and continues(src[i], <int>have, src[i + have]):
            have += 1
        if have == length:
            dst = put_character(src + i, have, place, dst)
            i += have
        elif w.errors == KEEP_BYTES:
            dst = put_triplet(src[i], dst)
            i += 1
        else:
            dst = put("\xEF\xBF\xBD", 3, dst)       # U+FFFD, for a maximal subpart
            i += have
    return dst


cdef inline bint decode_charset(const Writer *w, const uint8_t *src, size_t n, size_t *size) noexcept nogil:
    """Decode a text to UTF-8 in w.wide. Return whether all of it is valid in the charset."""
    cdef bint valid = True
    size[0] = charset_decode(w.charset, src, n, w.wide, &valid)
    return valid


cdef uint8_t *put_utf8(const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a text that is UTF-8."""
    cdef size_t i = 0, size
    if place == RAW:
        memcpy(dst, src, n)
        return dst + n
    while i < n:
        size = kernels.span(src + i, n - i, &PLAIN_UTF8.set)
        memcpy(dst, src + i, size)
        dst += size
        i += size
        if i < n:
            size = <size_t>sequence_length(src[i])
            if size == 0 or size > n - i:       # another thread changed the input
                size = 1  # pragma: no cover: a race
            dst = put_character(src + i, size, place, dst)
            i += size
    return dst


cdef uint8_t *put_any(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Write a text, at most 6 bytes for each of its bytes."""
    cdef size_t i = kernels.span(src, n, &PLAIN_TEXT.set), size
    memcpy(dst, src, i)
    dst += i
    if i == n:
        return dst
    if not is_utf8(src + i, n - i):
        if w.charset == NULL or not decode_charset(w, src + i, n - i, &size):
            return put_bytes(w, src + i, n - i, place, dst)
        src, n, i = w.wide, size, 0
    return put_utf8(src + i, n - i, place, dst)


cdef uint8_t *put_text(const Writer *w, bint plain, Text text, Place place, uint8_t *dst) noexcept nogil:
    if plain:
        return copy_blocks(text.at, text.n, dst)
    return put_any(w, text.at, text.n, place, dst)


cdef uint8_t *put_decoded(const Writer *w, bint plain, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil:
    cdef StrictOptions how
    cdef size_t size, wide
    if is_plain(text.at, text.n, plus):
        return put_text(w, plain, text, place, dst)
    size = kernels.decode(text.at, text.n, plus, w.room, text.n)
    if is_utf8(w.room, size):
        return put_utf8(w.room, size, place, dst)
    if w.charset != NULL and decode_charset(w, w.room, size, &wide):
        return put_any(w, w.wide, wide, place, dst)
    if w.errors == KEEP_BYTES:
        how.policy = how.malformed = KEEP_BYTES
        how.plus, how.utf8, how.free, how.c1 = plus, True, NULL, False
        size = decode_strictly(text.at, text.n, &how, w.room)
    return put_any(w, w.room, size, place, dst)


# --- parameters -------------------------------------------------------------------------------------------------------

cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil:
    """Return whether the value of this parameter must be hidden."""
    return w.masked != NULL and has_name(w.masked, name, n, FORM)


cdef uint8_t *put_masked(const Writer *w, bint plain, Text text, bint parameters, Place place, uint8_t *dst) noexcept nogil:
    """Write a text, hiding values of parameters after the first "?", and a fragment with the last of them.

    A text without "?" that may be `parameters` as a whole is treated as such: the body of a form, logged as a request.
    """
    cdef size_t i, start = 0, value     # start: of the part not written yet
    cdef QueryReader reader
    cdef QueryField field
    if w.masked == NULL:
        return put_text(w, plain, text, place, dst)
    i = find(text.at, 0, text.n, c'?') + 1
    if i > text.n and parameters:
        i = 0
    if i <= text.n:
        reader = read_query(text.at + i, text.n - i)
        while next_field(&reader, &field):
            if field.name_size < field.size and is_masked(w, field.text, field.name_size):
                value = field.text + field.name_size + 1 - text.at
                dst = put_text(w, plain, text_of(text.at + start, value - start), place, dst)
                dst = put("***", 3, dst)
                start = field.text + field.size - text.at
    return put_text(w, plain, text_of(text.at + start, text.n - start), place, dst)


cdef Text parameter_of(const Writer *w, Text query, const Text *name, bint *masked) noexcept nogil:
    """Return the encoded value of the first parameter with a name; NULL if there is none."""
    cdef QueryReader reader = read_query(query.at, query.n)
    cdef QueryField field
    cdef QueryName wanted = QueryName(name.at, name.n, False)
    if query.n == 0:        # there may be none, and so no memory
        return text_of(NULL, 0)
    while next_field(&reader, &field):
        if field.size and is_name(field.text, field.name_size, FORM, &wanted, False):
            masked[0] = field.name_size < field.size and is_masked(w, field.text, field.name_size)
            return value_of(&field)
    return text_of(NULL, 0)


cdef uint8_t *put_query(const Writer *w, bint plain, Text query, Place place, uint8_t *dst) noexcept nogil:
    """Write the decoded parameters as a JSON array of pairs. Empty parameters are skipped."""
    cdef QueryReader reader = read_query(query.at, query.n)
    cdef QueryField field
    cdef const char *quote = '"' if place == STRING else '""'
    cdef size_t size = 1 if place == STRING else 2
    cdef bint first = True
    dst[0] = c'['
    dst += 1
    while next_field(&reader, &field):
        if field.size:
            dst = put("[" if first else ",[", 1 if first else 2, dst)
            first = False
            dst = put(quote, size, dst)
            dst = put_decoded(w, plain, text_of(field.text, field.name_size), True, place, dst)
            dst = put(quote, size, dst)
            dst[0] = c','
            dst = put(quote, size, dst + 1)
            if field.name_size < field.size and is_masked(w, field.text, field.name_size):
                dst = put("***", 3, dst)
            else:
                dst = put_decoded(w, plain, value_of(&field), True, place, dst)
            dst = put(quote, size, dst)
            dst[0] = c']'
            dst += 1
    dst[0] = c']'
    return dst + 1


# --- flags ------------------------------------------------------------------------------------------------------------

cdef inline int byte_at(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the byte that the triplet at i encodes; -1 without a triplet."""
    cdef int high, low
    if n - i < 3 or s[i] != c'%':
        return -1
    high, low = hex_value(s[i + 1]), hex_value(s[i + 2])
    return -1 if high < 0 or low < 0 else high << 4 | low


cdef inline bint is_overlong(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether s begins with an overlong UTF-8 sequence.

    C0, C1, E0 80-9F, F0 80-8F, and of the sequences of RFC 2279, which some software still decodes, F8 80-87, FC 80-83.
    """
    if n < 2 or s[1] & 0xC0 != 0x80:
        return False
    return (s[0] == 0xC0 or s[0] == 0xC1 or s[0] == 0xE0 and s[1] < 0xA0 or s[0] == 0xF0 and s[1] < 0x90
            or s[0] == 0xF8 and s[1] < 0x88 or s[0] == 0xFC and s[1] < 0x84)


cdef inline bint separates(uint8_t c, bint query) noexcept nogil:
    return c == c'/' or c == c'\\' or query and (c == c'&' or c == c'=')


cdef int flags_of(const Writer *w, Text text, bint decoded, bint query) noexcept nogil:
    """Return the flags of a path or a query."""
    cdef int flags = 0, octet
    cdef size_t i, size
    cdef uint8_t *s = w.room
    i = 0 if decoded else find(text.at, 0, text.n, c'%')
    while not decoded and i < text.n:
        octet = byte_at(text.at, i, text.n)
        if octet < 0:
            flags |= MALFORMED
        elif not query and (octet == c'/' or octet == c'\\'):
            flags |= ENCODED_SLASH
        i = find(text.at, i + 1, text.n, c'%')
    if decoded:
        memcpy(s, text.at, text.n)
        size = text.n
    else:
        size = kernels.decode(text.at, text.n, False, s, text.n)
    if memchr(s, 0, size) != NULL:
        flags |= NUL
    i = find(s, 0, size, c'%')
    while i < size:
        if byte_at(s, i, size) >= 0:
            flags |= DOUBLE_ENCODED
        i = find(s, i + 1, size, c'%')
    i = find(s, 0, size, c'.')
    while i + 1 < size:
        if (s[i + 1] == c'.' and (i == 0 or separates(s[i - 1], query))
                and (i + 2 == size or separates(s[i + 2], query))):
            flags |= DOT_DOT
        i = find(s, i + 1, size, c'.')
    if not is_utf8(s, size):
        for i in range(size):
            if is_overlong(s + i, size - i):
                flags |= OVERLONG
    return flags


cdef int flags_of_request(const Writer *w, Text path, Text query, bint decoded, bint whole) noexcept nogil:
    """Return the flags of a request. `whole`: it could not be split."""
    cdef int flags = MALFORMED if whole else 0
    if path.at != NULL:
        flags |= flags_of(w, path, decoded, False)
    if query.at != NULL:
        flags |= flags_of(w, query, False, True)
    return flags


FLAG_TEXTS = [Name("malformed", 9), Name("double-encoded", 14), Name("overlong-utf8", 13), Name("encoded-slash", 13),
              Name("dot-dot", 7), Name("nul", 3)]

cdef size_t leave_out_quotes(uint8_t *records, size_t n, uint8_t delimiter, bint as_text) noexcept nogil:
    """Leave out the quotes of cells of CSV that need none, where they are; with `as_text` those of all. Return the size.

    Each text is in quotes before, and commas are between cells. A text needs quotes for a delimiter or a quote; no value
    contains a line end. An empty text keeps its quotes: a missing one has none. With `as_text`, the delimiter is a control
    character, which no value contains, either: they are escapes of JSON, or triplets.
    """
    cdef const uint8_t *quote
    cdef size_t i = 0, k, size = 0, start, end
    cdef bint doubled
    while True:
        quote = <const uint8_t *>memchr(records + i, c'"', n - i)
        end = n if quote == NULL else <size_t>(quote - records)
        if size != i:
            memmove(records + size, records + i, end - i)
        if delimiter != c',':
            for k in range(size, size + end - i):
                records[k] = delimiter if records[k] == c',' else records[k]
        size += end - i
        if quote == NULL:
            return size
        start, end, doubled = end, end + 1, False
        while True:
            quote = <const uint8_t *>memchr(records + end, c'"', n - end)
            if quote == NULL:       # cannot happen: each quote is closed
                end = n
                doubled = True
                break
            end = <size_t>(quote - records) + 1
            if end == n or records[end] != c'"':
                break
            end += 1
            doubled = True
        i = end
        if not doubled and (as_text or end - start > 2 and memchr(records + start, delimiter, end - start) == NULL):
            memmove(records + size, records + start + 1, end - start - 2)
            size += end - start - 2
        elif as_text:
            k = start + 1
            while k < end - 1:
                records[size] = records[k]
                size += 1
                k += 1 + (records[k] == c'"')
        else:
            if size != start:
                memmove(records + size, records + start, end - start)
            size += end - start


cdef uint8_t *put_flags(int flags, bint csv, uint8_t *dst) noexcept nogil:
    """Write the flags as a JSON array, or as a CSV cell with spaces between them."""
    cdef int i
    cdef bint first = True
    dst = put('"' if csv else "[", 1, dst)
    for i in range(FLAGS):
        if flags >> i & 1:
            if not first:
                dst = put(" " if csv else ",", 1, dst)
            if not csv:
                dst = put('"', 1, dst)
            dst = put(FLAG_TEXTS[i].name, FLAG_TEXTS[i].n, dst)
            if not csv:
                dst = put('"', 1, dst)
            first = False
    return put('"' if csv else "]", 1, dst)


# --- times ------------------------------------------------------------------------------------------------------------

cdef size_t period_of(const uint8_t *time, size_t n, size_t period, uint8_t *dst) noexcept nogil:
    """Write the day, the hour or the minute of a time of RFC 3339, of which they are the first `period` bytes.

    The hour and the minute are times themselves: "2025-01-31T23:00:00+01:00". Return the size.
    """
    cdef size_t zone = 19
    memcpy(dst, time, period)
    if period == DAY:
        return DAY
    memcpy(dst + period, b":00:00", 19 - period)
    while zone < n and (time[zone] == c'.' or c'0' <= time[zone] <= c'9'):
        zone += 1
    memcpy(dst + 19, time + zone, n - zone)
    return 19 + n - zone
