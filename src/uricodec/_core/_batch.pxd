"""Rows of a column, block by block: what an operation that works on many rows at once needs."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._core._arrow cimport Room
from uricodec._core._kernels cimport uc_set
from uricodec._core._rows cimport *


cdef enum:
    BLOCK = 16384               # octets of rows that are worked on at once: they stay in the first cache
    ROWS = 1024                 # and how many rows that may be
    WORDS = BLOCK // 64 + 1     # of marks, one bit for each octet
    WIDE = 64                   # what a store may take, past the end of what it is for


# Where rows are.
cdef enum Layout:
    OFFSETS_32, OFFSETS_64      # one behind the other, `offsets` saying where each begins
    VIEWS                       # anywhere, `offsets` being views
    INDEXED                     # in `values`, `offsets` being indices of `width` octets
    LINES                       # one behind the other, each with an octet that ends it
    NULLS                       # nowhere


cdef struct View:
    int32_t size
    uint8_t prefix[4]           # of what follows; or the row itself, in 12 octets, if that is all
    int32_t buffer
    int32_t start


cdef struct Source:
    Layout layout
    size_t count                # of rows; of octets, for lines
    const uint8_t *data
    const void *offsets
    const void **buffers        # of views,
    const int64_t *sizes        # of which so many octets are there
    int64_t n_buffers
    const uint8_t *valid        # NULL: all rows are
    size_t valid_start          # the bit of the first row
    const Source *values
    int width
    uint8_t end                 # of lines,
    const uc_set *no_end        # and every other octet
    bint text                   # rows are text, not octets


# What becomes of a row that is refused.
cdef enum Refused:
    KEEP_ROW, NULL_ROW, RAISE_ROW, REPLACE_ROW


# What comes out of a row.
cdef enum Kind:
    TEXT, OCTETS_16, VERDICT, FAULT, SPLIT


# A row that was refused.
cdef struct Bad:
    size_t row
    size_t offset
    int code


cdef enum Status:
    DONE, STOPPED, NO_MEMORY, BAD_OFFSETS, TOO_LONG, HAS_RAISED


# Rows of a block: row i is data[at[i] .. at[i + 1] - gap).
cdef struct Block:
    const uint8_t *data
    size_t first                # its number, in the source
    size_t rows
    size_t gap                  # octets between rows: the end of a line, or nothing
    uint32_t at[ROWS + 1]


ctypedef struct Task
# Writes what becomes of the rows of the block to task.out. False: a row was refused that may not be, or there is no memory.
ctypedef bint (*block_function)(Task *task) noexcept nogil
# Writes 16 octets for each row src[starts[i] .. ends[i]).
ctypedef void (*digest_function)(const void *key, const uint8_t *src, const size_t *starts, const size_t *ends, size_t rows,
                                 uint8_t *dst) noexcept nogil
# Writes what becomes of the lines from task.next on to the end of task.data, counts them, and returns how many octets they
# are. 0: there may be one that needs care.
ctypedef size_t (*quick_function)(Task *task) noexcept nogil
# Says something else of a row than text.
ctypedef bint (*answer_function)(Task *task, size_t row, const uint8_t *src, size_t n) noexcept nogil

ctypedef struct Task:
    const Source *source
    size_t row                  # the number of the next one,
    size_t next                 # and where it is: the same, but for lines an octet
    size_t first                # where the first one is
    size_t stop
    size_t count                # of rows; of lines, 0 if text comes out
    # What to do.
    Kind kind
    Operation operation
    const void *options
    row_function otherwise      # writes a rejected row by the policy; NULL: it is copied (keep), or nothing is written
    block_function block_of
    quick_function quick        # tried first on lines; NULL: there is nothing quicker
    size_t slow                 # after that failed, so many octets are done as rows
    answer_function answer      # NULL: what comes out is text
    digest_function digest      # and 16 octets for each row of it; NULL: the text itself
    const void *key
    const uc_set *plain         # a row of these does not change; NULL: nobody knows
    Refused policy
    bint text                   # what comes out has to be UTF-8
    bint look                   # for rows that are refused, even if nothing else becomes of them
    int fields                  # of a SPLIT
    # The block at hand, and what becomes of it: row i is out[out_at[i] .. out_at[i + 1] - gap). Only a task that runs has
    # these: there may be many tasks.
    uint8_t *gathered
    uint8_t *scratch
    Block *block
    uint32_t *out_at
    uint8_t *out
    size_t written
    size_t done                 # rows
    # What came of all blocks.
    Room data
    Room offsets                # or views, or fixed sizes
    Room *parts                 # data, offsets and validity of each field
    bint large                  # offsets have 64 bits
    bint views
    size_t limit                # more octets than that need large offsets
    Room made                   # what becomes of a block, before it is views
    Room filled                 # buffers of views that are full, as Rooms
    uint8_t *valid              # NULL: all rows are
    size_t base                 # the row of its first bit
    size_t nulled
    size_t bad
    size_t bad_limit
    Room found                  # Bads
    Status status
    uint8_t halted              # by another thread: nobody waits for this any more


cdef void run(Task *task) noexcept nogil
cdef bint by_rows(Task *task) noexcept nogil
cdef size_t quick_lines(Task *task, size_t most) noexcept nogil
cdef bint write_row(Task *task, size_t i) noexcept nogil
cdef bint refuse_row(Task *task, size_t row, const Refusal *refusal) noexcept nogil
cdef int64_t index_at(const Source *source, size_t i) noexcept nogil
cdef bint row_at(const Source *source, size_t i, const uint8_t **src, size_t *n) noexcept nogil


cdef inline bint is_valid(const Source *source, size_t row) noexcept nogil:
    if source.valid == NULL:
        return source.layout != NULLS
    return source.valid[(source.valid_start + row) >> 3] >> ((source.valid_start + row) & 7) & 1


cdef inline bint is_null(const Source *source, size_t row) noexcept nogil:
    """Whether a row is null, or refers to a value that is."""
    cdef int64_t index
    if not is_valid(source, row):
        return True
    if source.layout != INDEXED:
        return False
    index = index_at(source, row)
    return 0 <= index < <int64_t>source.values.count and not is_valid(source.values, <size_t>index)


cdef inline bint must_find_rejected(const Task *task) noexcept nogil:
    """Whether rejected rows are reported, or not written."""
    return task.look or task.policy == RAISE_ROW or task.policy == NULL_ROW


cdef inline size_t carriage_return(const Task *task, const uint8_t *src, size_t n) noexcept nogil:
    """1 if the row is a line that a "\\r" before its "\\n" ends."""
    if task.source.layout != LINES or task.source.end != c'\n' or n == 0:
        return 0
    return src[n - 1] == c'\r'


cdef inline void write_run(Task *task, const uint8_t *src, const uint32_t *at, size_t stop) noexcept nogil:
    """Rows up to `stop` are these, as they are."""
    cdef size_t i, first = task.done, size = at[stop] - at[first]
    cdef uint32_t shift = <uint32_t>task.written - at[first]
    if task.out + task.written != src + at[first]:
        memcpy(task.out + task.written, src + at[first], size)
    for i in range(first + 1, stop + 1):
        task.out_at[i] = at[i] + shift
    task.written += size
    task.done = stop


cdef inline void copy_octets(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Both have room for WIDE octets more. For the short rows that most are, this is quicker than a call of memcpy."""
    cdef size_t i = 0
    if n > 8 * WIDE:
        memcpy(dst, src, n)
        return
    while i < n:
        memcpy(dst + i, src + i, WIDE)
        i += WIDE


cdef inline size_t bits_of(uint64_t word) noexcept nogil:
    """How many bits are set."""
    word -= word >> 1 & <uint64_t>0x5555555555555555
    word = (word & <uint64_t>0x3333333333333333) + (word >> 2 & <uint64_t>0x3333333333333333)
    return <size_t>(((word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F) * <uint64_t>0x0101010101010101 >> 56)
