"""Most lines of text logs, read and written at once."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._kernels cimport uc_bits_from, uc_classes, uc_lowest_bit, uc_set
from uricodec.logs._fields cimport Day, Entry, Text
from uricodec.logs._programs cimport Plan, Step
from uricodec.logs._texts cimport Field, Place, ValueKind, Writer, flags_of_request


cdef enum:
    MOST_STEPS = 48
    WINDOW = 16384      # bytes that are marked at once, a multiple of 64
    BLOCK = 32          # bytes that a copy may load and store after the end of a text
    SHORTEST = 24       # a shorter line is declined

# The four bitmaps of a window. All have the ends of lines.
cdef enum Marks:
    CARE, SPACES, QUOTES, DELIMITERS

# How the end of a field is found.
cdef enum FastTake:
    TO_SPACE, TO_QUOTE, TO_BYTE, TO_LITERAL, TO_TIME_END, TO_LIST_END, TO_LINE_END

# What else there is to do for a field, as bits.
cdef enum FastWork:
    HAS_QUOTE = 1           # in the literal
    NUMBER_FOLLOWS = 2      # and ends the field
    IS_NUMBER = 4
    IS_DECIMAL = 8
    IS_ENDPOINT = 16
    HAS_HASHES = 32         # if it has a "#", that may be an escape

cdef struct FastStep:
    const uint8_t *literal  # what follows
    uint64_t word, mask     # its first 8 bytes
    size_t n                # its size
    FastTake take
    uint32_t work
    uint8_t byte            # the first one of the literal
    bint is_word            # it ends before a space, with nothing else to do
    bint empty_is_missing
    bint before_time
    bint may_end            # the line may end instead of the literal
    const Step *step

# The values of a record: those of the steps, what follows the last one, and the parts of the request.
cdef enum:
    METHOD_AT = 49, TARGET_AT, PATH_AT, QUERY_AT, PROTOCOL_AT
    VALUES

# A field of the record.
cdef struct FastMember:
    const uint8_t *key      # what is written before the value: also members that are always null, and the quote of a text
    size_t n
    size_t own              # its size without other members
    int at                  # where the value is
    ValueKind value
    bint text               # whether the key ends in a quote
    bint late               # of a condition: whether the request must be read first
    bint dynamic            # whether the line says under which of its extra fields the value is
    uint32_t bit            # of its slot
    int column              # the number of the field
    const Field *field
    Text name               # of an extra field

# The last time that was not of the same date, length and zone as the one before it.
cdef struct FastTime:
    size_t n                # its size; 0: none
    size_t clock            # where its hours begin,
    size_t size             # and the size from them to the end of the fraction
    uint64_t word[4]        # its bytes, of digits of the clock and the fraction only the upper half,
    uint64_t mask[4]        # and which bits these are
    uint64_t digits[4]      # 0x10 for each such digit
    size_t written_n
    uint8_t written[48]     # as it is written
    Day day                 # that of the last time in seconds

cdef enum:
    PARTS = 6
cdef struct FastPlan:
    const Plan *plan
    FastStep *step
    size_t steps, members, extras, tail_n
    size_t names_n          # the size of the names of the extra fields
    FastStep start          # the literal before the first field
    size_t shared           # how many steps it has in common with the variant before it
    bint has_request        # or a part of one,
    bint reads_request      # of which a field is written
    bint one_request        # in one piece
    int part[6]             # PARTS: the steps of the request, or of its parts; -1: none
    int step_of[17]         # MEMBERS: those of the standard fields
    FastMember *member
    FastMember *filter      # the fields of the conditions
    const uint8_t *tail     # what is written after the last member
    FastMember *extra       # those that `extra` has
    FastTime *time

cdef struct FastFormat:
    const Writer *writer
    int variants
    FastPlan **plan         # of each; NULL: its lines are read one by one
    bint has_stops
    FastTime time
    uc_set others           # all bytes but those that end a field, besides spaces and quotes, and ends of lines

cdef struct FastRecord:
    FastPlan *plan
    size_t end, next        # of the line; the start of the next one
    size_t stopped          # the step that did not match
    bint decoded            # the path is
    bint plain              # neither path nor query has a "%"
    bint usual              # they are at their places in the line
    bint whole              # the target is a request that could not be split
    bint dropped            # it does not meet the conditions
    Text value[54]          # VALUES
    size_t start[48]        # MOST_STEPS

# Lines to read. The window is the part of them that is marked.
cdef struct FastRun:
    const uint8_t *src
    size_t n
    size_t start            # of the next line
    size_t window, window_end
    size_t max_line
    size_t dropped          # how many records did not meet the conditions
    uint32_t seen           # bits of the slots that a record had a value of
    uint8_t *room           # a buffer for a joined target
    const uint64_t *mark[4]
    uint64_t marks[1026]    # 4 * WINDOW / 64 + 2
    uint64_t stops[257]     # WINDOW / 64 + 1


cdef inline uint8_t *copy_blocks(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy n bytes in blocks. Up to BLOCK - 1 bytes after both ends are touched: see `read_fast` for why they may be."""
    cdef size_t i = BLOCK
    memcpy(dst, src, BLOCK)
    while i < n:
        memcpy(dst + i, src + i, BLOCK)
        i += BLOCK
    return dst + n


cdef inline size_t next_mark(const uint64_t *marks, size_t at) noexcept nogil:
    """Return the offset of the first mark of a bitmap from `at` on. There is one at the end of the line."""
    cdef uint64_t word = uc_bits_from(marks, at)
    if word:
        return at + <size_t>uc_lowest_bit(word)
    at = (at | 63) + 1      # all bits of this word from `at` on are 0
    word = marks[at >> 6]
    while word == 0:
        at += 64
        word = marks[at >> 6]
    return at + <size_t>uc_lowest_bit(word)


cdef inline size_t far_mark(const uint64_t *marks, size_t at) noexcept nogil:
    """Return the same. Up to 64 bytes further, nothing is guessed: for texts of any length."""
    cdef uint64_t word = uc_bits_from(marks, at), other = marks[(at >> 6) + 1]
    cdef size_t start = (at | 63) + 1
    start = at if word else start
    word = word if word else other
    if word:
        return start + <size_t>uc_lowest_bit(word)
    return next_mark(marks, start + 64)


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return <uint8_t>(c - c'0') < 10


cdef inline int flags_of_record(const Writer *w, const FastRecord *record) noexcept nogil:
    if not record.plan.has_request:
        return 0
    return flags_of_request(w, record.value[PATH_AT], record.value[QUERY_AT], record.decoded, record.whole)


cdef size_t put_fast_moment(FastTime *time, Text text, uint8_t *dst) noexcept nogil
# What is asked of a line: whether all of it is plain.
cdef Entry PLAIN_LINE, OTHER_LINE
cdef Text text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, bint *masked) noexcept nogil
cdef uint8_t *put_text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, Text text, bint masked,
                                 Place place, uint8_t *dst) noexcept nogil
cdef int set_fast(FastFormat *format, const Plan **plan, int variants, const size_t *shared, const Writer *w, list kept) except -1
cdef void free_fast(FastFormat *format) noexcept
cdef bint read_fast(const FastFormat *format, FastRun *run, FastRecord *record) noexcept nogil
cdef size_t write_fast(const FastFormat *format, const Writer *w, size_t record_extra, FastRun *run, uint8_t *dst,
                       size_t capacity, size_t *written) noexcept nogil

# What `_fast_json` has in common with it.
cdef bint keeps(const Writer *w, const FastRecord *record, bint late) noexcept nogil
cdef uc_classes CLASSES
cdef uint64_t FIRST_BYTES[9]
cdef int set_members(FastPlan *fast, const Writer *w, const int *of_slot, list kept) except -1
cdef bint is_decimal(Text text) noexcept nogil
cdef bint is_known_time(const FastTime *time, const uint8_t *s) noexcept nogil
cdef void know_time(FastTime *time, const uint8_t *s, size_t n) noexcept nogil
cdef bint split_usual(Text text, const FastRun *run, FastRecord *record) noexcept nogil
cdef uint8_t *put_fast(FastPlan *fast, const Writer *w, FastRun *run, const FastRecord *record, uint8_t *dst) noexcept nogil


cdef inline uint64_t word_at(const uint8_t *s) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, s, 8)
    return word
