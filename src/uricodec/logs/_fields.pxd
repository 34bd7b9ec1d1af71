"""The members of a log line, and the functions that decode and check them."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport ByteSet


# Bytes of a line, or of the buffer in which escapes are undone. NULL: the text is missing, which differs from an empty
# text.
cdef struct Text:
    const uint8_t *at
    size_t n


# The members of a line. REQUEST is "GET /a?b HTTP/1.1" in one piece; PATH and QUERY are parts of TARGET, still encoded.
cdef enum:
    CLIENT, USER, DATE, TIME, REQUEST, METHOD, TARGET, PATH, QUERY, PROTOCOL, STATUS, BYTES_SENT, REFERER, USER_AGENT
    MEMBERS


# The kinds of faults. Their names are those of LogFault.code.
cdef enum Code:
    FINE, EMPTY, CLIENT_FAULT, USER_FAULT, TIME_FAULT, REQUEST_FAULT, STATUS_FAULT, BYTES_SENT_FAULT, REFERER_FAULT, USER_AGENT_FAULT
    FIELDS_FAULT, JSON_FAULT, TOO_LONG
    CODES


cdef struct Entry:
    Text text[14]           # MEMBERS
    bint plain              # all texts are printable ASCII without quote and backslash
    bint decoded            # the path is decoded already
    bint whole              # the target is a whole request that could not be split
    uint8_t *room           # the buffer for undone escapes and joined targets: twice the size of the line, and EXTRA_CAPACITY
    Code code               # the fault,
    size_t offset           # and its offset in the line

cdef enum:
    EXTRA_CAPACITY = 64


cdef inline void clear(Entry *entry, uint8_t *room) noexcept nogil:
    cdef int i
    for i in range(MEMBERS):
        entry.text[i].at = NULL
        entry.text[i].n = 0
    entry.plain = True
    entry.decoded = entry.whole = False
    entry.room = room
    entry.code = FINE
    entry.offset = 0


cdef inline bint fail(Entry *entry, Code code, size_t offset) noexcept nogil:
    entry.code = code
    entry.offset = offset
    return False


cdef inline Text text_of(const uint8_t *at, size_t n) noexcept nogil:
    cdef Text text
    text.at, text.n = at, n
    return text


cdef void undo_backslashes(Entry *entry, int member) noexcept nogil
cdef void undo_json(Entry *entry, int member) noexcept nogil
cdef void undo_triplets(Entry *entry, int member) noexcept nogil
cdef void undo_cloudfront_agent(Entry *entry) noexcept nogil
cdef void undo_plus(Entry *entry, int member) noexcept nogil
cdef void join_target(Entry *entry) noexcept nogil
cdef void split_request(Entry *entry) noexcept nogil
cdef void split_target(Entry *entry) noexcept nogil
cdef void forget_dashes(Entry *entry, bint empty) noexcept nogil
cdef bint check_numbers(Entry *entry, const uint8_t *line, size_t n) noexcept nogil
cdef bint check_default_columns(Entry *entry, const uint8_t *line) noexcept nogil
cdef size_t put_time(const Entry *entry, uint8_t *dst) noexcept nogil
