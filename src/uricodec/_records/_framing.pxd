"""The format of records, which of their values are selected, and values of CSV and JSON."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec._base._kernels cimport ByteSet, uc_set


cdef enum Form:
    LINES, DELIMITED, CSV, JSON

# A span of fields, numbered from 0.
cdef struct Span:
    size_t first
    size_t last

# The path to members of objects: their names, joined by ".".
cdef struct Path:
    const uint8_t *text
    size_t size

cdef enum:
    PATHS = 32              # most paths,
    STEPS = 16              # and most names in each

cdef struct Frame:
    Form form
    uint8_t end
    bint only           # each value becomes a line, and nothing else is written
    bint free           # results may contain the delimiter
    bint jsonl          # each line becomes a JSON string
    bint after          # results are written after their values: more fields of CSV, or a member of the object
    uint8_t delimiter
    uc_set inside       # bytes that do not end a field or record,
    uc_set plain        # bytes that need no quotes in CSV,
    uc_set unmarked     # and bytes that do not matter for finding values
    bint copies         # the bytes between values are written, too
    Span *spans         # of the selected fields; disjoint, ascending
    size_t span_count
    Path paths[PATHS]       # to the selected members of JSON
    int path_count
    bint scalars        # numbers, true, false and null are values of JSON, too
    size_t base         # which field, or path, has the base of the others, from 1; 0: none has

# The options of an operation on a value and the base of its record. `row` writes at most base_size + n + extra bytes,
# and returns how many; SIZE_MAX if the base cannot be one.
cdef struct Pair:
    size_t (*row)(const uint8_t *base, size_t base_size, const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil
    size_t extra


# What records contained.
cdef struct Seen:
    bint asked              # there was a record,
    uint32_t paths          # a bit for each path by which a member was found,
    size_t spans            # the most spans that one had fields in,
    bint parted             # one had several fields,
    bint open               # and the last one had quotes that are not closed,
    size_t quote            # where in it they start


cdef class Framing:
    cdef Frame frame
    cdef tuple names
    cdef readonly bytes end
    cdef public Framing by      # selects the value by which equivalent records are ordered; None: there is none
    # What was read so far; threads only ever write 1:
    cdef uint8_t asked          # a record,
    cdef uint8_t seen[PATHS]    # one with the member of a path,
    cdef uint8_t *reached       # for each span, one whose last selected field is in it,
    cdef uint8_t parted         # one with several fields,
    cdef uint8_t open           # and one whose quotes are not closed
    cdef void note_seen(self, const Seen *found) noexcept


# --- values of CSV (RFC 4180) and JSON (RFC 8259) ----------------------------------------------------------------------

# not a valid index or code unit
cdef enum: NOWHERE = -1

# A field of CSV: s[start .. end), including its quotes.
cdef struct CsvField:
    size_t start
    size_t end
    bint quoted
    bint closed         # the quote is closed, or the field is not quoted

cdef void find_csv_field(const uint8_t *s, size_t i, size_t n, const uc_set *inside, CsvField *field) noexcept nogil
cdef size_t unescape_csv(const uint8_t *s, const CsvField *field, uint8_t *dst) noexcept nogil
cdef size_t place_in_csv(const uint8_t *s, const CsvField *field, size_t offset) noexcept nogil
cdef size_t escape_csv(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil


cdef inline bint starts_formula(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a spreadsheet may read a value as a formula: by its first character, after any spaces.

    These are = + - @, their full-width forms (U+FF1D, U+FF0B, U+FF0D, U+FF20), tab, CR and LF (OWASP, CSV Injection).
    """
    cdef size_t i = 0
    while i < n and s[i] == c' ':
        i += 1
    if i == n:
        return False
    if s[i] == 0xEF:
        return n - i >= 3 and (s[i + 1] == 0xBC and (s[i + 2] == 0x9D or s[i + 2] == 0x8B or s[i + 2] == 0x8D
                                                     or s[i + 2] == 0xA0))
    return (s[i] == c'=' or s[i] == c'+' or s[i] == c'-' or s[i] == c'@' or s[i] == c'\t' or s[i] == c'\r'
            or s[i] == c'\n')


# A member of an object, or an element of an array: the name s[name .. name_end) of a member; and if it is a string, its
# value s[value .. value_end). Both without quotes.
cdef struct Member:
    size_t name
    size_t name_end
    bint name_escaped   # it contains a backslash
    size_t start        # of the value, of any type
    size_t value        # 0: the value is not a string
    size_t value_end
    bint value_escaped

cdef enum Found_member: MEMBER, NO_MORE, NO_OBJECT

# Bytes that may begin or end a string, an object or an array, and the backslash. `marks` has a bit for each in s.
cdef ByteSet JSON_STRUCTURE
cdef Found_member next_member(const uint8_t *s, const uint64_t *marks, size_t *i, size_t n, bint first, bint array,
                              Member *member) noexcept nogil
cdef size_t end_of_value(const uint8_t *s, const uint64_t *marks, size_t i, size_t n) noexcept nogil
cdef size_t unescape_json(const uint8_t *s, size_t n, uint8_t *dst, int *code, size_t *place) noexcept nogil
cdef size_t place_in_json(const uint8_t *s, size_t n, size_t offset) noexcept nogil
cdef size_t escape_json(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil
cdef size_t put_unit(int unit, uint8_t *dst) noexcept nogil
cpdef bytes json_string(bytes text)
cdef bint is_plain_json(const uint8_t *src, size_t n) noexcept nogil


cdef inline size_t skip_spaces(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    while i < n and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r' or s[i] == c'\n'):
        i += 1
    return i
