"""The row engine: its structs, services for operations, and sinks. See _engine.pyx for the theory of operation."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._fingerprint cimport Key
from uricodec._base._kernels cimport reraise, uc_set
from uricodec._rows._arrow cimport Array, Buffer, Type


cdef enum:
    BLOCK = 16384               # most bytes of rows in a block: they stay in the first-level cache
    ROWS = 1024                 # most rows in a block
    STRUCTS = 64                # most rows in a block whose results are components or items
    WORDS = BLOCK // 64 + 1     # words of a mask with one bit for each byte of a block
    ROW_WORDS = ROWS // 64      # words of a mask with one bit for each row
    WIDE = 64                   # how many bytes a store may write past the end of its data, in any output buffer


# --- operations ---------------------------------------------------------------------------------------------------------

cdef extern from *:
    """
    #define UC_REJECTED SIZE_MAX
    """
    # The return value of a row function that rejects its input.
    const size_t UC_REJECTED


# Codes that are not reasons. UC_RAISED: the row function's callee has raised a Python exception, which is still set; the
# run ends. UC_FALSE: the row is valid, but its verdict is false.
cdef enum:
    UC_RAISED = -1
    UC_FALSE = -2


# Why a row is rejected: a code of the operation, and the offset in the row.
cdef struct Outcome:
    int code
    size_t offset


# Reads src[0 .. n) and writes to dst, which does not overlap src and has the capacity of factor * n + extra bytes given
# in its Operation. Returns the number of bytes written, or UC_REJECTED; then the contents of dst are undefined.
ctypedef size_t (*row_function)(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil


cdef struct SizedRow:
    row_function row
    size_t factor
    size_t extra


# Writes the result that stands for a rejected row, at most `extra` bytes. Returns its size.
ctypedef size_t (*rejected_function)(const Outcome *outcome, const void *options, uint8_t *dst) noexcept nogil


# What to do with a rejected row. Each sink supports some of the policies.
cdef enum RowPolicy:
    KEEP_ROW, NULL_ROW, RAISE_ROW, REPLACE_ROW, DROP_ROW


# Whole lines, with their terminators.
cdef struct LineSpan:
    const uint8_t *data
    size_t size
    uint8_t terminator
    const uc_set *not_terminator
    RowPolicy policy
    bint strict                 # invalid rows must be found


# Writes the results of whole lines, with their terminators, to dst, whose capacity fits the results of span.size bytes.
# Returns the number of bytes consumed, which are whole lines; 0 if a line may need the row function.
ctypedef size_t (*whole_function)(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil

ctypedef struct Run
# Processes the rows of run.block with the services below. False: run.status says why it stopped.
ctypedef bint (*block_function)(Run *run) noexcept nogil

# Marks bytes of src[0 .. n), whose rows start at at[0], at[1] ... A row without a marked byte is its own result, except
# that the hexadecimal digits of its triplets become upper case.
ctypedef void (*changes_function)(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil

# Estimates the size of the result from src.
ctypedef size_t (*expected_function)(const uint8_t *src, size_t n, const void *options) noexcept nogil

# Returns the result for a str that is never rejected; None if the row function must look at its bytes.
ctypedef object (*text_function)(str text, const void *options)


# What a row function writes. Components are offsets in the row, or in what is written, where their text follows them.
# Items are a list: their number, a uint64_t, and then the texts of each item.
cdef enum Result:
    WRITES_BYTES, WRITES_NOTHING, WRITES_COMPONENTS, WRITES_TEXTS, WRITES_ITEMS


# Start and end of a component; start < 0: the row does not have the component.
cdef struct Component:
    int64_t start
    int64_t end


cdef inline void set_field(Component *field, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    field.start, field.end = start, end


cdef inline size_t padded(size_t size) noexcept nogil:
    """Return the size of a result that begins with Components, with padding: those of the next result are aligned."""
    return size + 7 & ~<size_t>7


cdef enum:
    MOST_FIELDS = 32
    LONG_TEXT = 255     # the text of an item follows its size: a byte, or this byte and a uint64_t


cdef inline uint64_t item_count(const uint8_t *items) noexcept nogil:
    """Return the number of items that a row function wrote."""
    cdef uint64_t count
    memcpy(&count, items, sizeof(count))
    return count


cdef inline size_t next_text(const uint8_t **at) noexcept nogil:
    """Move from the size of a text of an item to the text. Return the size."""
    cdef uint64_t size = at[0][0]
    at[0] += 1
    if size == LONG_TEXT:
        memcpy(&size, at[0], sizeof(size))
        at[0] += sizeof(size)
    return <size_t>size


# All that the engine knows of an operation. The operation sets it in __cinit__; afterwards it is constant, because
# other threads read it.
cdef struct Slots:
    SizedRow strict            # its row function rejects every row that a policy may have to handle
    const void *options
    Result result
    # Optional slots. NULL: the engine does without.
    row_function keep           # never rejects. NULL: under `keep` an invalid row is its own result
    row_function replace        # never rejects. NULL: the operation does not support this policy
    size_t replace_factor       # the factor of `replace`
    rejected_function rejected  # writes what stands for an invalid row under `keep` and `null`
    whole_function whole
    bint prefix                 # `whole` consumes lines up to the first that it cannot process; else, all or none
    block_function block
    changes_function changes
    const uc_set *stable        # a row that consists of these bytes only is its own result
    expected_function expected
    text_function text          # processes a str
    int text_policies           # under these policies: a bit 1 << policy for each
    bint text_is_best           # is faster than the row function for many rows, too
    int utf8_code               # != 0: the row function accepts any bytes, but lines and fields must be UTF-8


# --- sources ------------------------------------------------------------------------------------------------------------

# Where the rows are.
cdef enum Layout:
    OFFSETS_32, OFFSETS_64      # consecutive; `offsets` says where each starts
    VIEWS                       # anywhere; `offsets` are views
    INDEXED                     # in `values`; `offsets` are indices of `width` bytes
    LINES                       # consecutive lines, each with its terminator
    NULLS                       # all rows are null


cdef struct View:
    int32_t size
    uint8_t prefix[4]           # the first bytes of the row; a row of up to 12 bytes is stored from here on
    int32_t buffer
    int32_t start


cdef struct Source:
    Layout layout
    size_t count                # rows; for lines, bytes
    const uint8_t *data
    const void *offsets
    int64_t end                 # upper bound for offsets: the last one, read once
    const void **buffers        # the buffers of views,
    const int64_t *sizes        # and their sizes
    int64_t n_buffers
    const uint8_t *valid        # validity bitmap; NULL: all rows are valid
    size_t valid_start          # its bit for the first row
    const Source *values
    int width
    uint8_t terminator          # the byte that ends a line,
    const uc_set *not_terminator    # and the set of all other bytes
    bint text                   # rows are text, not bytes


# --- a run --------------------------------------------------------------------------------------------------------------

# A rejected row.
cdef struct Rejected:
    size_t row                  # its number in the source, from 0
    size_t start                # for a line: where it starts in the source
    size_t offset
    int code


cdef enum Status:
    DONE                        # all rows are processed
    FULL                        # the sink has no capacity for the next row
    REPORT_FULL                 # `limit` rows have been rejected
    YIELD                       # time for the caller to check for signals
    STOPPED                     # a row is rejected under the policy `raise`
    HAS_RAISED                  # a Python exception is set
    NO_MEMORY, BAD_LAYOUT, TOO_LONG


# The rows of a block: row i is data[at[i] .. at[i + 1] - gap), without a "\r" before its "\n". Two lines that "\n" ends:
#
#     data    a b \n c d e \n            at  0 3 7           size  7        gap  1
#
# A row that is too long for a block is a block of its own. If it has more bytes than 32 bits count, its last offset is
# UINT32_MAX: so the last row ends at `size`, and its result at run.written.
cdef struct Block:
    const uint8_t *data
    size_t size
    size_t first                # the number of the first row in the source
    size_t rows
    size_t gap                  # bytes after each row: 1 for the terminator of a line, else 0. A long line: all of them
    bint has_cr                 # some rows may end with "\r\n"
    uint32_t at[ROWS + 1]
    uint64_t rejected[ROW_WORDS]   # a bit for each row that was rejected


# Provides run.out, memory for the results of so many bytes and rows. False: run.status is FULL or NO_MEMORY.
ctypedef bint (*reserve_function)(Run *run, size_t bytes, size_t rows) noexcept nogil
# Accepts the results of the block: result i is run.out[run.out_at[i] .. run.out_at[i + 1]), with its terminator.
ctypedef bint (*commit_function)(Run *run) noexcept nogil
# Accepts the results of whole lines.
ctypedef bint (*commit_whole_function)(Run *run, size_t written) noexcept nogil
cdef struct ResultSink:
    reserve_function reserve
    commit_function commit
    commit_whole_function commit_whole      # NULL: this sink needs to know where rows end
    void *owner


ctypedef struct Run:
    const Source *source
    size_t row                  # number of the next row
    size_t next                 # its position: the row number, or for lines the byte offset
    size_t stop
    # The operation under the policy.
    const Slots *slots
    const void *options
    row_function row_of         # called for each row
    row_function otherwise      # called for a row that row_of rejects; NULL: the row is its own result
    size_t factor
    size_t extra
    RowPolicy policy
    bint strict                 # rejected rows must be found: they are reported, or are not results
    bint counts                 # lines must be counted
    bint writes                 # results are bytes
    bint checks_utf8            # rows that row_of accepts are checked to be UTF-8
    whole_function whole
    block_function block_of
    changes_function changes
    bint has_stable
    uc_set stable
    size_t most_rows            # limit for the rows of a block
    size_t small                # bytes to be tried in small spans, after a large one failed
    size_t as_rows              # bytes to be processed as rows before the next span
    # The current block and its results. Only a run that is executing has these, because there may be many runs.
    uint8_t *gathered
    uint8_t *scratch
    Block *block
    uint32_t *out_at
    uint8_t *out
    size_t written
    size_t done                 # rows of the block that are processed
    bint dropped                # the policy has dropped the row
    bint resizes                # what changes a row of the block changes its size
    # The report of rejected rows.
    size_t invalid
    size_t limit                # at most so many rejected rows are listed,
    bint stops                  # and then the run stops
    Buffer found                  # Rejected structs
    Status status
    uint8_t halted              # set by another thread: cancelled
    # The sink, and the state of the sinks of columns.
    ResultSink sink
    size_t count                # rows of the result
    int fields                  # fields of a struct
    Buffer data
    size_t capacity             # capacity of data, if the caller provides it
    Buffer offsets                # offsets, views, or values of fixed size
    Buffer *parts                 # data, offsets and validity of each field
    bint large                  # offsets have 64 bits
    size_t most_offset          # results of more bytes need 64-bit offsets
    Buffer made                   # results before they become views or components
    bint in_place               # results are written to where views point
    Buffer filled                 # full buffers of views: structs of this type
    uint8_t *valid              # validity bitmap of the results; NULL: all are valid
    size_t base                 # the row of its first bit
    size_t nulled               # rows that became null
    const void *key             # the key of fingerprints


# Most rows and bytes of a block. They never change, except in tests of the ends of blocks.
cdef size_t most_rows
cdef size_t most_bytes

cdef void set_operation(Run *run, const Slots *slots, RowPolicy policy, bint reports) noexcept nogil
# Prepares a run whose sink is set for its source: how lines are read.
cdef void set_lines(Run *run) noexcept nogil
cdef void run_rows(Run *run) noexcept nogil
cdef int64_t index_at(const Source *source, size_t i) noexcept nogil
cdef bint row_at(const Source *source, size_t i, const uint8_t **src, size_t *n) noexcept nogil

# Services for block functions. They use nothing else that changes a run.
cdef bint do_row(Run *run) noexcept nogil       # the next row by its row function, with the policy applied
cdef bint do_rows(Run *run) noexcept nogil      # the rest of the block, with `stable` and `changes`
# Accept what the next row, which is not null, has become: so many bytes from run.written on, or UC_REJECTED.
cdef bint finish_row(Run *run, size_t size, Outcome *outcome) noexcept nogil


cdef inline size_t capacity_for(const Run *run, size_t bytes, size_t rows) noexcept nogil:
    """Return the capacity for the results of so many bytes and rows, with terminators; 0: more than size_t holds."""
    if bytes > (<size_t>-1) // 4 // run.factor:
        return 0  # pragma: no cover: too large
    return run.factor * bytes + rows * (run.extra + 2) + WIDE


cdef inline bint is_valid(const Source *source, size_t row) noexcept nogil:
    if source.valid == NULL:
        return source.layout != NULLS
    return source.valid[(source.valid_start + row) >> 3] >> ((source.valid_start + row) & 7) & 1


cdef inline bint is_null(const Source *source, size_t row) noexcept nogil:
    """Return whether a row is null, or refers to a null value."""
    cdef int64_t index
    if not is_valid(source, row):
        return True
    if source.layout != INDEXED:
        return False
    index = index_at(source, row)
    return 0 <= index < <int64_t>source.values.count and not is_valid(source.values, <size_t>index)


cdef inline size_t carriage_return(const Source *source, const uint8_t *src, size_t n) noexcept nogil:
    """Return 1 if the row is a line that "\\r\\n" terminates, else 0."""
    return source.layout == LINES and source.terminator == c'\n' and n > 0 and src[n - 1] == c'\r'


cdef inline size_t tail_of(const Run *run, size_t i) noexcept nogil:
    """Return the number of bytes that terminate row i of the block."""
    cdef const Block *block = run.block
    cdef size_t end = block.at[i + 1]
    if not block.has_cr:
        return block.gap
    return block.gap + (end - block.at[i] > 1 and block.data[end - 2] == c'\r')


cdef inline void take_rows(Run *run, const uint8_t *src, const uint32_t *at, size_t stop) noexcept nogil:
    """Set the results of the rows up to `stop`: they are at src, bounded by `at`."""
    cdef size_t i, first = run.done, size = at[stop] - at[first]
    cdef uint32_t shift = <uint32_t>run.written - at[first]
    if run.out + run.written != src + at[first]:
        memcpy(run.out + run.written, src + at[first], size)
    for i in range(first + 1, stop + 1):
        run.out_at[i] = at[i] + shift
    run.written += size
    run.done = stop


cdef inline void pass_rows(Run *run, size_t stop) noexcept nogil:
    """Make the rows up to `stop` their own results."""
    if run.writes:
        take_rows(run, run.block.data, run.block.at, stop)
    else:
        run.done = stop


cdef inline void copy_bytes(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Copy n bytes; both buffers have WIDE bytes more. For short rows, the usual ones, this is faster than memcpy."""
    cdef size_t i = 0
    if n > 8 * WIDE:
        memcpy(dst, src, n)
        return
    while i < n:
        memcpy(dst + i, src + i, WIDE)
        i += WIDE


# --- operations as objects --------------------------------------------------------------------------------------------

# Reasons to reject a record for its framing: codes after those of the operation, see FRAME_NAMES.
cdef enum:
    FRAME               # the result contains the delimiter or the terminator
    BAD_CSV             # unclosed quote
    BAD_JSON            # not an object, or not a string
    SURROGATE_ESCAPE    # a lone surrogate
    BAD_BASE            # no base, or none with a scheme
    FRAME_CODES

cdef list FRAME_NAMES


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil

# Return the RowPolicy of a name. `drops`: "drop" is supported; otherwise it is an error.
cdef int policy_named(object errors, bint drops=*) except -1


# Return the items that a row function wrote, of so many texts each: str or bytes, or tuples of two.
cdef list items_of(const uint8_t *items, int texts, bint text)


# An operation with its options, and the names and messages of its codes.
cdef class RowOperation:
    cdef Slots slots                    # set in __cinit__, then constant
    cdef readonly list code_names       # indexed by Outcome.code: the names of codes,
    cdef readonly list reasons          # the error messages,
    cdef readonly object error          # and the exception class
    cdef bint joins                     # offsets are in what the row and the options make together
    cdef bint accepts_surrogates        # a str with lone surrogates has a result under every policy
    cdef bint replaces_surrogates       # a str with lone surrogates is the same as one with U+FFFD

    cdef int check_policy(self, RowPolicy policy) except -1
    # Return the exception for a rejected row, given the name of its code.
    cdef object exception(self, str code, str reason, object input, size_t offset)
    # Return an offset in characters, given one in a rejected row's bytes, if the row is text.
    cdef size_t characters(self, const uint8_t *src, size_t n, size_t offset) except? UC_REJECTED
    # Raise the exception for a rejected row of a column or list, given its number.
    cdef int raise_row(self, str code, str reason, object input, size_t offset, object row) except -1
    # Return the result for a str with lone surrogates under `keep` or `replace`; None if not supported.
    cdef object with_surrogates(self, str text, RowPolicy policy)


# --- sinks --------------------------------------------------------------------------------------------------------------

# The kinds of results of a column.
cdef enum ResultKind:
    TEXT_RESULT, FINGERPRINT_RESULT, VERDICT_RESULT, DIAGNOSTIC_RESULT, STRUCT_RESULT, COMPONENT_RESULT, LIST_RESULT

# Set the sink of a run whose source is set: for a column of results, or for lines in a buffer that grows.
cdef void set_sink(Run *run, ResultKind kind) noexcept
# Lines are written to run.data, which has run.capacity bytes; NULL: nothing is written.
cdef void set_buffer_sink(Run *run) noexcept

# Return the number of items of all lists so far.
cdef size_t items_before(const Run *run) noexcept nogil
cdef int prepare_result(Run *run, ResultKind kind) except -1
cdef void discard_result(Run *run) noexcept
cdef Array result_array(Run *run, ResultKind kind, Buffer *valid, list code_names, bint large)
cdef Type result_type(ResultKind kind, Type type, tuple fields, bint text, bint large)
