"""Most lines of text logs, read and written at once."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._kernels cimport prefetch, uc_bits_from, uc_classes, uc_lowest_bit, uc_set
from uricodec.logs._fields cimport Day, Entry, Text, Zone, text_of
from uricodec.logs._programs cimport Plan, Step
from uricodec.logs._texts cimport Field, Place, ValueKind, Writer, flags_of_request


cdef enum:
    MOST_STEPS = 48
    WINDOW = 16384      # bytes that are marked at once, a multiple of 64
    BLOCK = 64          # bytes that a copy may load and store after the end of a text
    SHORTEST = 24       # a shorter line is declined
    LONGEST_TIME = 32   # of those that are known

# The four bitmaps of a window. All have the ends of lines.
cdef enum Marks:
    CARE, SPACES, QUOTES, DELIMITERS
    STOPS           # a fifth one, if other bytes end fields: these, and spaces; else that of spaces

# How the end of a field is found.
cdef enum FastTake:
    TO_SPACE, TO_QUOTE, TO_BYTE, TO_LITERAL, TO_TIME_END, TO_LIST_END, TO_LINE_END
    NO_MORE             # after the last step

# What else there is to do for a field, as bits.
cdef enum FastWork:
    HAS_QUOTE = 1           # in the literal
    NUMBER_FOLLOWS = 2      # and ends the field
    IS_NUMBER = 4
    IS_DECIMAL = 8

cdef struct FastStep:
    uint64_t word, mask     # the first 8 bytes of the literal that follows
    const uint8_t *literal  # all of it,
    size_t n                # and its size
    FastTake take
    uint32_t work
    uint8_t is_word         # whether it ends at a mark, with nothing else to do than to check a number
    uint8_t byte            # the first one of the literal
    uint8_t two_quotes      # the literal begins and ends with one
    uint8_t empty_is_missing
    uint8_t before_time
    uint8_t may_end         # the line may end instead of the literal
    size_t index
    const Step *step

# The values of a record: those of the steps, what follows the last one, the parts of the request, and the client.
cdef enum:
    METHOD_AT = 49, TARGET_AT, PATH_AT, QUERY_AT, PROTOCOL_AT
    CLIENT_AT, PORT_AT      # of text: the client without its port, and the port
    VALUES

# A field of the record.
cdef struct FastMember:
    const uint8_t *key      # what is written before the value: also members that are always null, and the quote of a text
    size_t n
    size_t own              # its size without other members
    int at                  # where the value is
    ValueKind value
    bint text               # whether the key ends in a quote
    bint is_long            # whether the value often has more than 32 bytes
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
    uint64_t word[4]        # its bytes, of the digits that may differ only the upper half,
    uint64_t mask[4]        # and which bits these are
    uint64_t digits[4]      # 0x10 for each such digit,
    uint64_t limit[4]       # and 15 minus the largest one there may be
    size_t written_n
    uint8_t written[48]     # as it is written
    Day day                 # that of the last time in seconds
    bint has_zone
    int64_t midnight        # if it has one: when its date begins, in microseconds since 1970

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
    int odd                 # the first step that may have quotes, see Step.quotes; -1: none
    bint has_client         # or a list in its place: read_client() is called
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
    bint has_hashes         # a "#" may be an escape: lines that have one are declined
    FastTime time
    uc_set others           # all bytes but those that end a field, besides quotes, and ends of lines

cdef struct FastRecord:
    FastPlan *plan
    const uint8_t *known_time       # a time that is_known_time(); or NULL
    size_t end, next        # of the line; the start of the next one
    size_t stopped          # the step that did not match
    bint decoded            # the path is
    bint plain              # neither path nor query has a "%"
    bint usual              # they are at their places in the line
    bint whole              # the target is a request that could not be split
    bint dropped            # it does not meet the conditions
    Text value[56]          # VALUES
    size_t start[49]        # MOST_STEPS + 1

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
    const uint64_t *mark[5]
    uint64_t marks[1026]    # 4 * WINDOW / 64 + 2
    uint64_t stops[257]     # WINDOW / 64 + 1


cdef inline uint8_t *copy_blocks(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy n bytes, in blocks of 32. Less than BLOCK bytes after both ends are touched: see `read_fast` for why they may be."""
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


cdef inline size_t lowest_bit(uint64_t word) noexcept nogil:
    return <size_t><uint32_t>uc_lowest_bit(word)


cdef extern from *:
    bint likely(bint) noexcept nogil


cdef extern from "simd/target.h" nogil:
    const int UC_LITTLE_ENDIAN


cdef inline size_t next_mark(const uint64_t *marks, size_t at) noexcept nogil:
    """Return the offset of the first mark of a bitmap from `at` on. There is one at the end of the line."""
    cdef uint64_t word = uc_bits_from(marks, at)
    if likely(word != 0):
        return at + lowest_bit(word)
    at = (at | 63) + 1      # all bits of this word from `at` on are 0
    word = marks[at >> 6]
    while word == 0:
        at += 64
        word = marks[at >> 6]
    return at + lowest_bit(word)


cdef inline void prefetch_window(const FastRun *run) noexcept nogil:
    """Load the lines after a window, which are marked next, while those in it are read."""
    cdef size_t at
    for at in range(run.window_end, min(run.n, run.window_end + WINDOW), 64):
        prefetch(run.src + at)


cdef inline size_t mark_before(const uint64_t *marks, size_t at, size_t stop) noexcept nogil:
    """Return the offset of the first mark from `at` on; `stop` or more if there is none before."""
    cdef uint64_t word = uc_bits_from(marks, at)
    while word == 0:
        at += 57
        if at >= stop:
            return stop
        word = uc_bits_from(marks, at)
    return at + lowest_bit(word)


# A parameter of a query: its name and its value, which is empty if it has none; and whether they have to be decoded.
cdef struct FastParameter:
    Text name, value
    bint escaped_name, escaped


cdef inline bint next_parameter(const uint8_t *s, const uint64_t *marks, size_t *at, size_t stop,
                                FastParameter *parameter) noexcept nogil:
    """Take the next parameter of a query that ends at `stop`, from its delimiters. False: there is none."""
    cdef size_t start, end = at[0], equals
    cdef bint escaped
    while end < stop:
        start, equals, escaped = end, stop, False
        parameter.escaped_name = False
        end = mark_before(marks, start, stop)
        while end < stop and s[end] != c'&':
            if s[end] == c'=':
                if equals == stop:
                    equals, parameter.escaped_name, escaped = end, escaped, False
            elif s[end] != c'?':
                escaped = True
            end = mark_before(marks, end + 1, stop)
        end = min(end, stop)
        if end > start:
            at[0] = end + 1
            if equals == stop:
                parameter.name = text_of(s + start, end - start)
                parameter.value = text_of(s + end, 0)
                parameter.escaped_name, parameter.escaped = escaped, False
            else:
                parameter.name = text_of(s + start, equals - start)
                parameter.value = text_of(s + equals + 1, end - equals - 1)
                parameter.escaped = escaped
            return True
        end += 1
    return False


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return <uint8_t>(c - c'0') < 10


cdef inline int flags_of_record(const Writer *w, const FastRecord *record) noexcept nogil:
    if not record.plan.has_request:
        return 0
    return flags_of_request(w, record.value[PATH_AT], record.value[QUERY_AT], record.decoded, record.whole)


cdef bint read_moment(const FastRecord *record, Text text, Zone *zone, int64_t *micros) noexcept nogil
cdef size_t put_fast_moment(FastTime *time, Text text, uint8_t *dst) noexcept nogil
# What is asked of a line: whether all of it is plain.
cdef Entry PLAIN_LINE, OTHER_LINE
cdef Text text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, bint *masked) noexcept nogil
cdef uint8_t *put_text_in_record(const Writer *w, const FastRecord *record, const FastMember *member, Text text, bint masked,
                                 Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_escaped(const Writer *w, const FastRun *run, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil
cdef int set_fast(FastFormat *format, const Plan **plan, int variants, const Writer *w, list kept) except -1
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
cdef void know_time(FastTime *time, const uint8_t *s, size_t n) noexcept nogil
cdef bint split_usual(Text text, const FastRun *run, FastRecord *record) noexcept nogil
cdef uint8_t *put_fast(FastPlan *fast, const Writer *w, FastRun *run, const FastRecord *record, uint8_t *dst) noexcept nogil


cdef inline uint64_t word_at(const uint8_t *s) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, s, 8)
    return word


cdef inline bint is_known_time(const FastTime *time, const uint8_t *s) noexcept nogil:
    """Return whether a time differs from the one that is known in digits of its clock and its fraction alone."""
    cdef uint64_t word
    cdef int i
    if time.n == 0:
        return False
    for i in range(4):
        word = word_at(s + 8 * i)
        if ((word ^ time.word[i]) & time.mask[i]
                | (word & <uint64_t>0x0F0F0F0F0F0F0F0F) + time.limit[i] & time.digits[i]) != 0:
            return False
    return True
