"""The members of a log line, and the functions that decode and check them."""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint8_t

from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet

from cpython.ref cimport PyObject


# Bytes of a line, or of the buffer in which escapes are undone. NULL: the text is missing, which differs from an empty
# text.
cdef struct Text:
    const uint8_t *at
    size_t n


# The members of a line, and the slots of fields that only its format has. REQUEST is "GET /a?b HTTP/1.1" in one piece;
# PATH and QUERY are parts of TARGET, still encoded.
cdef enum:
    CLIENT, USER, DATE, TIME, REQUEST, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT
    VHOST, DURATION, FORWARDED_FOR
    MEMBERS
    OWN_EXTRAS = 128        # of a format or a line; there may be the port of the client, too
    EXTRAS = 129
    SLOTS = 146


# The kinds of errors; others are the slot of the field, plus FIELD. CODE_NAMES of _records has their names.
cdef enum:
    FINE, EMPTY, JSON_ERROR, FIELDS_ERROR, FORMAT_ERROR, TOO_LONG
    FIELD = 16


cdef struct Entry:
    Text text[146]          # SLOTS
    Text name[129]          # EXTRAS: their names
    size_t extras           # how many there are,
    size_t keys             # and how many of them, the first ones, have a key: what JSON has before the value
    const Text *key
    uint16_t rank[146]      # SLOTS: of JSON, which of a field's alternatives was there
    bint plain              # all texts are printable ASCII without quote and backslash
    bint decoded            # the path is decoded already
    bint whole              # the target is a whole request that could not be split
    int odd_quotes          # quotes that are not escaped are in a text in quotes: see OddQuotes
    bint endpoint           # of JSON: the client is an address with a port
    bint uncertain_path     # of JSON: the path may be a target, see settle_path()
    bint forwarded          # the client is the first address of forwarded_for; clear() does not change it
    int unit                # of the duration: a power of ten
    uint8_t *room           # the buffer for undone escapes and joined targets: three times the size of the line, and EXTRA_CAPACITY
    size_t step             # where the line stopped matching; and the state before each of the first steps:
    size_t start[64]        # STEPS_KEPT: where it starts
    bint plain_before[64]
    int odd_before[64]
    size_t quote            # the first quote or unusual byte of the line
    int code                # the error,
    size_t offset           # and its offset in the line

cdef enum:
    EXTRA_CAPACITY = 64
    STEPS_KEPT = 64

# What is known of a text with quotes that are not escaped: the rest of the format shows where it ends, or only the literal
# that follows it.
cdef enum OddQuotes:
    NONE_ODD, ENDS_SURELY, MAY_END


# A day by its number since 0000-03-01, as "2025-01-31".
cdef struct Day:
    uint32_t number
    uint8_t text[10]


# The zone of times that are logged without one.
cdef struct Zone:
    PyObject *timezone      # a tzinfo; NULL: UTC
    int64_t quarter         # of an hour: the last one whose offset from UTC was asked for,
    int64_t offset          # and the offset, in seconds
    bint used               # whether there was such a time


cdef inline void clear(Entry *entry, uint8_t *room) noexcept nogil:
    cdef int i
    for i in range(MEMBERS):
        entry.text[i].at = NULL
        entry.text[i].n = 0
    entry.extras = entry.keys = 0
    entry.step = 0
    entry.unit = 0
    entry.plain = True
    entry.decoded = entry.whole = entry.endpoint = entry.uncertain_path = False
    entry.odd_quotes = NONE_ODD
    entry.room = room
    entry.code = FINE
    entry.offset = 0


cdef inline bint fail(Entry *entry, int code, size_t offset) noexcept nogil:
    entry.code = code
    entry.offset = offset
    return False


cdef inline size_t find(const uint8_t *s, size_t start, size_t n, uint8_t byte) noexcept nogil:
    """Return the offset of a byte from `start` on; n if it does not occur."""
    cdef const uint8_t *found
    if start >= n:
        return n
    found = <const uint8_t *>memchr(s + start, byte, n - start)
    return n if found == NULL else found - s


cdef inline Text text_of(const uint8_t *at, size_t n) noexcept nogil:
    cdef Text text
    text.at, text.n = at, n
    return text


cdef void undo_backslashes(Entry *entry, int member) noexcept nogil
cdef void undo_json(Entry *entry, int member) noexcept nogil
cdef void undo_hashes(Entry *entry, int member, bint is_list) noexcept nogil
cdef size_t json_text(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil
cdef void undo_cloudfront(Entry *entry) noexcept nogil
cdef void undo_plus(Entry *entry, int member) noexcept nogil
cdef bint is_address(Text text) noexcept nogil
cdef Text split_port(Text *text, bint endpoint) noexcept nogil
cdef size_t source_before(Text word, bint endpoint) noexcept nogil
cdef bint next_address(Text *list, Text *address, Text *port) noexcept nogil
cdef void settle_path(Entry *entry) noexcept nogil
cdef size_t put_epoch(const uint8_t *s, size_t n, Day *known, uint8_t *dst) noexcept nogil
cdef size_t put_moment(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil
cdef void join_target(Entry *entry) noexcept nogil
cdef void split_target(Entry *entry) noexcept nogil
cdef void read_request(Entry *entry) noexcept nogil
cdef size_t forget_dashes(Entry *entry, bint empty) noexcept nogil
cdef bint check_number(Text *text) noexcept nogil
cdef bint check_decimal(Text *text) noexcept nogil
cdef bint check_numbers(Entry *entry, const uint8_t *line, size_t n) noexcept nogil
cdef bint check_default_columns(Entry *entry, const uint8_t *line) noexcept nogil
cdef bint has_usual_values(const Entry *entry, bint named, bint list_is_client) noexcept nogil
cdef size_t put_time(const Entry *entry, uint8_t *dst) noexcept nogil
cdef size_t put_seconds(Text text, int unit, uint8_t *dst) noexcept nogil
cdef double seconds_of(Text text, int unit) noexcept nogil
cdef int64_t micros_of(const uint8_t *s, size_t n, Zone *zone) noexcept nogil
