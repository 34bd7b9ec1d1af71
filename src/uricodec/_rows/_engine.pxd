"""The row engine: its structs, and the services that operations and sinks use. See _engine.pyx for how it works."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._rows._arrow cimport Room
from uricodec._base._kernels cimport uc_set


cdef enum:
    BLOCK = 16384               # bytes of rows that are worked on at once: they stay in the first cache,
    ROWS = 1024                 # and how many rows that may be
    WORDS = BLOCK // 64 + 1     # of marks, one bit for each byte,
    ROW_WORDS = ROWS // 64      # and one for each row
    WIDE = 64                   # so many bytes a store may write past the end of what it is for


# --- operations ---------------------------------------------------------------------------------------------------------

cdef extern from *:
    """
    #define UC_REJECTED SIZE_MAX
    """
    # What a row function returns when it rejects its input.
    const size_t UC_REJECTED


# The code when what a row function called has raised an exception, which is set: nothing is done after that.
cdef enum:
    UC_RAISED = -1


# Why a row is rejected, and where: a code of the operation, and an offset in the row.
cdef struct Outcome:
    int code
    size_t offset


# Reads src[0 .. n) and writes to dst, elsewhere, which has room for factor * n + extra bytes, those of its Operation.
# Returns how many bytes it has written, or UC_REJECTED; what it has written then is of no use.
ctypedef size_t (*row_function)(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil


cdef struct Operation:
    row_function row
    size_t factor
    size_t extra


# Writes the record of a row that is rejected, at most `extra` bytes. Returns how many.
ctypedef size_t (*rejected_function)(const Outcome *outcome, const void *options, uint8_t *dst) noexcept nogil


# What to do with a row that is rejected. Which of them a path has depends on its sink.
cdef enum RowPolicy:
    KEEP_ROW, NULL_ROW, RAISE_ROW, REPLACE_ROW, DROP_ROW


# Whole lines, with their terminators.
cdef struct LineSpan:
    const uint8_t *data
    size_t size
    uint8_t terminator
    const uc_set *not_terminator
    RowPolicy policy
    bint strict                 # rows that are invalid must be found


# Writes the results of whole lines, with their terminators, to dst, which has room for the results of span.size bytes.
# Returns how many bytes of the span it has consumed, whole lines, or 0: there may be a line that needs its row function.
ctypedef size_t (*whole_function)(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil

ctypedef struct Run
# Does the rows of run.block by the services below. False: run.status says why it stopped.
ctypedef bint (*block_function)(Run *run) noexcept nogil

# Marks bytes of src[0 .. n), rows that start at at[0], at[1] ..., so that a row without a mark is its own result, but for
# the case of its triplets' digits, which becomes upper.
ctypedef void (*changes_function)(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil

# Guesses the size of the result, judged by src.
ctypedef size_t (*expected_function)(const uint8_t *src, size_t n, const void *options) noexcept nogil

# Returns the result for a str that is never rejected, or None: its bytes have to be looked at.
ctypedef object (*text_function)(str text, const void *options)


# What a row function writes.
cdef enum Result:
    WRITES_BYTES, WRITES_NOTHING, WRITES_COMPONENTS


# Where one component is in a row; start < 0: there is none.
cdef struct Component:
    int64_t start
    int64_t end

cdef enum:
    MOST_FIELDS = 8


# All that the engine knows of an operation. Each operation sets its own in __cinit__; then they are constant, for other
# threads read them.
cdef struct Slots:
    Operation strict            # its row function rejects every row that the policy may have to handle
    const void *options
    Result result
    # Optional; NULL: the engine does without.
    row_function keep           # never rejects. NULL: under `keep` the row itself is the result
    row_function replace        # never rejects. NULL: there is no such policy
    size_t replace_factor       # what it writes at most
    rejected_function rejected  # under `keep` and `null` a record stands for the row
    whole_function whole
    bint prefix                 # ... which consumes the lines before the first that it can't do; not all or none
    block_function block
    changes_function changes
    const uc_set *stable        # a row of these bytes alone is its own result
    expected_function expected
    text_function text          # of a str,
    int text_policies           # under these policies: 1 << policy;
    bint text_is_best           # for many of them, too
    int utf8_code               # lines and fields that are not UTF-8 are rejected with it: the row function accepts any bytes; 0: not


# --- sources ------------------------------------------------------------------------------------------------------------

# Where rows are.
cdef enum Layout:
    OFFSETS_32, OFFSETS_64      # one after the other, `offsets` saying where each starts
    VIEWS                       # anywhere, `offsets` being views
    INDEXED                     # in `values`, `offsets` being indices of `width` bytes
    LINES                       # one after the other, each with its terminator
    NULLS                       # nowhere


cdef struct View:
    int32_t size
    uint8_t prefix[4]           # of what follows; or the row itself, in 12 bytes, if that is all
    int32_t buffer
    int32_t start


cdef struct Source:
    Layout layout
    size_t count                # of rows; of bytes, for lines
    const uint8_t *data
    const void *offsets
    int64_t end                 # no offset is higher: the last one, read once
    const void **buffers        # of views,
    const int64_t *sizes        # of which so many bytes are there
    int64_t n_buffers
    const uint8_t *valid        # NULL: all rows are
    size_t valid_start          # the bit of the first row
    const Source *values
    int width
    uint8_t terminator          # of lines,
    const uc_set *not_terminator    # and every other byte
    bint text                   # rows are text, not bytes


# --- a run --------------------------------------------------------------------------------------------------------------

# A row that was rejected.
cdef struct Rejected:
    size_t row                  # its number, from 0,
    size_t start                # and, of a line, where it starts: both in the source
    size_t offset
    int code


cdef enum Status:
    DONE                        # all rows are
    FULL                        # the sink has no room for the next row
    REPORT_FULL                 # `limit` rows have been rejected
    YIELD                       # so much has been done that the caller may want to look for signals
    STOPPED                     # a row is rejected, and the policy is to raise
    HAS_RAISED                  # an exception is set
    NO_MEMORY, BAD_LAYOUT, TOO_LONG


# Rows of a block: row i is data[at[i] .. at[i + 1] - gap), without a "\r" before its "\n".
cdef struct Block:
    const uint8_t *data
    size_t first                # its number, in the source
    size_t rows
    size_t gap                  # bytes after each row: the terminator of a line, or none
    bint has_cr                 # some rows may end with "\r\n"
    uint32_t at[ROWS + 1]
    uint64_t rejected[ROW_WORDS]   # a bit for each row that the policy had to handle


# Lends memory for the results of so many bytes and rows: run.out. False: run.status is FULL or NO_MEMORY.
ctypedef bint (*reserve_function)(Run *run, size_t bytes, size_t rows) noexcept nogil
# Takes the rows of the block: result i is run.out[run.out_at[i] .. run.out_at[i + 1]), with its terminator.
ctypedef bint (*commit_function)(Run *run) noexcept nogil
# Takes the results of whole lines.
ctypedef bint (*commit_whole_function)(Run *run, size_t written) noexcept nogil
# Takes the result of one row, which may be longer than a block, or a last line without terminator. Its terminator is
# still to be written, `tail` bytes.
ctypedef bint (*commit_long_function)(Run *run, const uint8_t *src, size_t n, size_t tail, size_t size) noexcept nogil

cdef struct Sink:
    reserve_function reserve
    commit_function commit
    commit_whole_function commit_whole      # NULL: this sink needs row ends
    commit_long_function commit_long
    void *owner


ctypedef struct Run:
    const Source *source
    size_t row                  # the number of the next one,
    size_t next                 # and where it is: the same, but for lines a byte
    size_t stop
    # The operation under the policy.
    const Slots *slots
    const void *options
    row_function row_of         # what is called for a row,
    row_function otherwise      # and for one that it rejects; NULL: the row itself is kept
    size_t factor
    size_t extra
    RowPolicy policy
    bint strict                 # rejected rows are reported, or are not results
    bint counts                 # somebody wants to know how many lines there are
    bint writes                 # results are bytes
    bint checks_utf8            # of rows that the row function accepts
    whole_function whole
    block_function block_of
    changes_function changes
    bint has_stable
    uc_set stable
    size_t most_rows            # of a block
    size_t small                # so many bytes are tried in small spans, for a large one failed,
    size_t as_rows              # and so many are done as rows at once
    # The block at hand, and its results. Only a run that works has these: there may be many runs.
    uint8_t *gathered
    uint8_t *scratch
    Block *block
    uint32_t *out_at
    uint8_t *out
    size_t written
    size_t done                 # rows
    bint dropped                # the policy has dropped the long row
    # The report.
    size_t invalid
    size_t limit                # so many rejected rows are listed,
    bint stops                  # and after that the run stops
    Room found                  # Rejected
    Status status
    uint8_t halted              # by another thread: nobody waits for this any more
    # The sink, and what the sinks of columns keep.
    Sink sink
    size_t count                # of rows
    int fields                  # of a struct
    Room data
    size_t capacity             # of data, if the caller lends it
    Room offsets                # or views, or fixed sizes
    Room *parts                 # data, offsets and validity of each field
    bint large                  # offsets have 64 bits
    size_t most_offset          # more bytes than that need large offsets
    Room made                   # results before they are views or components
    Room filled                 # buffers of views that are full, as Rooms
    uint8_t *valid              # NULL: all rows are
    size_t base                 # the row of its first bit
    size_t nulled
    const void *key             # of fingerprints


cdef void set_operation(Run *run, const Slots *slots, RowPolicy policy, bint look) noexcept nogil
# Sets what depends on the source: how lines are read, of a run whose sink is set.
cdef void set_lines(Run *run) noexcept nogil
cdef void run_rows(Run *run) noexcept nogil
cdef int64_t index_at(const Source *source, size_t i) noexcept nogil
cdef bint row_at(const Source *source, size_t i, const uint8_t **src, size_t *n) noexcept nogil

# Services for block functions, which use nothing else that changes a run.
cdef bint do_row(Run *run) noexcept nogil       # the next row by its row function, policy applied
cdef bint do_rows(Run *run) noexcept nogil      # the rest of the block, with `stable` and `changes`


cdef inline size_t room_for(const Run *run, size_t bytes, size_t rows) noexcept nogil:
    """The most that the results of so many bytes and rows take, with terminators; 0: more than memory has."""
    if bytes > (<size_t>-1) // 4 // run.factor:
        return 0
    return run.factor * bytes + rows * (run.extra + 2) + WIDE


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


cdef inline size_t carriage_return(const Source *source, const uint8_t *src, size_t n) noexcept nogil:
    """1 if the row is a line that "\\r\\n" terminates."""
    return source.layout == LINES and source.terminator == c'\n' and n > 0 and src[n - 1] == c'\r'


cdef inline size_t tail_of(const Run *run, size_t i) noexcept nogil:
    """How many bytes terminate row i of the block."""
    cdef const Block *block = run.block
    cdef size_t end = block.at[i + 1]
    if not block.has_cr:
        return block.gap
    return block.gap + (end - block.at[i] > 1 and block.data[end - 2] == c'\r')


cdef inline void take_rows(Run *run, const uint8_t *src, const uint32_t *at, size_t stop) noexcept nogil:
    """The results of the rows up to `stop` are these."""
    cdef size_t i, first = run.done, size = at[stop] - at[first]
    cdef uint32_t shift = <uint32_t>run.written - at[first]
    if run.out + run.written != src + at[first]:
        memcpy(run.out + run.written, src + at[first], size)
    for i in range(first + 1, stop + 1):
        run.out_at[i] = at[i] + shift
    run.written += size
    run.done = stop


cdef inline void pass_rows(Run *run, size_t stop) noexcept nogil:
    """The rows up to `stop` are their own results."""
    if run.writes:
        take_rows(run, run.block.data, run.block.at, stop)
    else:
        run.done = stop


cdef inline void copy_octets(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Both have room for WIDE bytes more. For the short rows that most are, this is quicker than a call of memcpy."""
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
