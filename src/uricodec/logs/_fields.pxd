"""The members of a log line, and the functions that decode and check them."""
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memchr, memcpy

from uricodec.logs._line cimport *


cdef inline void clear(Record *record, uint8_t *room) noexcept nogil:
    cdef int i
    for i in range(MEMBERS):
        record.text[i].at = NULL
        record.text[i].n = 0
    record.extras = 0
    record.name, record.key = record.own_name, record.own_key
    record.step = 0
    record.unit = 0
    record.plain = True
    record.special = 0
    record.known_time = NULL
    record.is_marked = record.decoded = record.whole = record.endpoint = record.uncertain_path = False
    record.odd_quotes = NONE_ODD
    record.room = room
    record.code = FINE
    record.offset = 0


cdef inline bint fail(Record *record, int code, size_t offset) noexcept nogil:
    record.code = code
    record.offset = offset
    return False


cdef inline uint32_t bit_of(int slot) noexcept nogil:
    """Return the bit of a slot among those of members."""
    return 1u << slot if slot < MEMBERS else EXTRA_BIT


cdef inline void spread_special(Record *record) noexcept nogil:
    """Let what is made from a text with special bytes have them, too."""
    if record.special & REQUEST_BITS:
        record.special |= REQUEST_BITS
    if record.special >> FORWARDED_FOR & 1:
        record.special |= 1 << CLIENT


cdef inline size_t find(const uint8_t *s, size_t start, size_t n, uint8_t byte) noexcept nogil:
    """Return the offset of a byte from `start` on; n if it does not occur."""
    cdef const uint8_t *found
    if start >= n:
        return n
    found = <const uint8_t *>memchr(s + start, byte, n - start)
    return n if found == NULL else found - s


cdef inline size_t find_other(const uint8_t *s, size_t i, size_t n, uint8_t byte) noexcept nogil:
    """Return the offset of a byte that is not `byte`."""
    while i < n and s[i] == byte:
        i += 1
    return i


cdef inline bint starts_with(const uint8_t *s, size_t i, size_t n, const uint8_t *literal, size_t size) noexcept nogil:
    cdef size_t k
    if i > n or n - i < size:
        return False
    for k in range(size):       # of few bytes, which takes less time than a call
        if s[i + k] != literal[k]:
            return False
    return True


cdef inline Text text_of(const uint8_t *at, size_t n) noexcept nogil:
    cdef Text text
    text.at, text.n = at, n
    return text


cdef inline uint64_t word_at(const uint8_t *s) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, s, 8)
    return word


# The bytes of a word that a text of 0 to 8 bytes has.
cdef uint64_t FIRST_BYTES[9]


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return <uint8_t>(c - c'0') < 10


cdef inline bint is_letter(uint8_t octet) noexcept nogil:
    return c'a' <= (octet | 32) <= c'z'


cdef inline bint has_shape(const uint8_t *s, const char *shape, size_t n) noexcept nogil:
    """Return whether s matches a shape, where "0" is any digit, "A" any letter, "+" a sign, and others themselves."""
    cdef size_t i
    for i in range(n):
        if shape[i] == c'0':
            if not is_digit(s[i]):
                return False
        elif shape[i] == c'A':
            if not is_letter(s[i]):
                return False
        elif shape[i] == c'+':
            if s[i] != c'+' and s[i] != c'-':
                return False
        elif s[i] != <uint8_t>shape[i]:
            return False
    return True


cdef inline uint64_t bytes_equal(uint64_t word, uint8_t byte) noexcept nogil:
    """Return a word whose lowest bit is in the first byte of a word that is `byte`; 0 if none is."""
    word ^= byte * <uint64_t>0x0101010101010101
    return word - <uint64_t>0x0101010101010101 & ~word & <uint64_t>0x8080808080808080


cdef inline uint8_t *copy_blocks(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy n bytes, in blocks of 32. Less than BLOCK bytes after both ends are touched: see Record."""
    cdef size_t i = 32
    memcpy(dst, src, 32)
    while i < n:
        memcpy(dst + i, src + i, 32)
        i += 32
    return dst + n


cdef inline uint8_t *copy_long(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy n bytes, in blocks of 64: the end of a text that is often longer than 32 bytes is guessed less often."""
    cdef size_t i = 64
    memcpy(dst, src, 32)
    memcpy(dst + 32, src + 32, 32)
    while i < n:
        memcpy(dst + i, src + i, 32)
        memcpy(dst + i + 32, src + i + 32, 32)
        i += 64
    return dst + n


cdef void undo_backslashes(Record *record, int member) noexcept nogil
cdef void undo_json(Record *record, int member) noexcept nogil
cdef void undo_hashes(Record *record, int member, bint is_list) noexcept nogil
cdef size_t json_text(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil
cdef void undo_cloudfront(Record *record) noexcept nogil
cdef void undo_plus(Record *record, int member) noexcept nogil
cdef bint is_address(Text text) noexcept nogil
cdef Text split_port(Text *text, bint endpoint) noexcept nogil
cdef size_t source_before(Text word, bint endpoint) noexcept nogil
cdef bint next_address(Text *list, Text *address, Text *port) noexcept nogil
cdef void settle_path(Record *record) noexcept nogil
cdef size_t put_epoch(const uint8_t *s, size_t n, Day *known, uint8_t *dst) noexcept nogil
cdef size_t end_of_date(const uint8_t *s, size_t n, int *day, int *month) noexcept nogil
cdef bint is_doubtful(const Record *record) noexcept nogil
cdef size_t put_moment(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil
cdef void join_target(Record *record) noexcept nogil
cdef void name_protocol(Record *record) noexcept nogil
cdef void split_target(Record *record) noexcept nogil
cdef void read_request(Record *record) noexcept nogil
cdef size_t forget_dashes(Record *record, bint empty) noexcept nogil
cdef bint is_decimal(Text text) noexcept nogil
cdef bint check_number(Text *text) noexcept nogil
cdef bint check_decimal(Text *text) noexcept nogil
cdef bint check_duration(Record *record, int unit) noexcept nogil
cdef bint check_numbers(Record *record, const uint8_t *line, size_t n) noexcept nogil
cdef bint check_default_columns(Record *record, bint commas, const uint8_t *line) noexcept nogil
cdef bint is_site(Text text) noexcept nogil
cdef bint is_usual_site(Text text) noexcept nogil
cdef bint has_usual_values(const Record *record, bint named, bint list_is_client) noexcept nogil
cdef size_t put_time(const Record *record, uint8_t *dst) noexcept nogil
cdef size_t put_seconds(Text text, int unit, uint8_t *dst) noexcept nogil
cdef double seconds_of(Text text, int unit) noexcept nogil
cdef int64_t micros_of(const uint8_t *s, size_t n, Zone *zone) noexcept nogil
cdef size_t put_local(const uint8_t *written, size_t n, Zone *zone, Zone *shown, uint8_t *dst) noexcept nogil


cdef inline bint is_iso_time(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    return n - i > 19 and s[i + 4] == c'-' and s[i + 7] == c'-' and s[i + 10] == c'T' and s[i + 13] == c':' and s[i + 16] == c':'
