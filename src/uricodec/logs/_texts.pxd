"""What writes the texts of a record."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from uricodec._codec._charsets cimport CharsetTable
from uricodec._codec._triplets cimport BytePolicy
from uricodec._url._queries cimport NameSet, QueryField
from uricodec.logs._fields cimport Entry, Text, Zone, text_of


# The context of a text: a JSON string, a CSV cell, a JSON string in a CSV cell, or a column.
cdef enum Place:
    STRING, CELL, STRING_IN_CELL, RAW

# How the value of a field is written.
cdef enum ValueKind:
    COPIED, TIME_VALUE, PATH_VALUE, QUERY_VALUE, SECONDS_VALUE, ADDRESSES_VALUE, MASKED_VALUE
    EXTRAS_VALUE, EXTRA_VALUE, PARAMETER_VALUE, FLAGS_VALUE
    PERIOD_VALUE            # the day, the hour or the minute of the time: its first bytes
    CLASS_VALUE             # the class of the status, such as 5xx

# A field of the records, in the order in which they are written.
cdef struct Field:
    ValueKind kind
    int slot                # of a standard field
    bint is_text            # JSON has its value in quotes
    bint is_number          # a column has 8 bytes for each row
    bint optional           # JSON has it only in records that have a value
    Text key                # what JSON has before the value, from "{" or a comma on
    Text name               # of a parameter or an extra field
    size_t period           # how many bytes of the time

# What a record must be like to be written. How a value is compared, and with what.
cdef enum Operator:
    EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, BEGINS, CONTAINS
cdef enum Comparison:
    AS_TEXT, AS_NUMBER, AS_MOMENT, AS_ADDRESS

cdef struct Filter:
    Field field
    Operator operator
    bint is_negated         # the text must not begin with this, or not contain it
    Comparison comparison
    Text text
    bint is_whole           # AS_NUMBER: the number is an integer
    int64_t whole           # it, or microseconds since 1970
    double number
    uint16_t address[8]     # IPv6, or IPv4 as ::ffff:0:0/96,
    uint16_t mask[8]        # and the bits that count
    int flags               # of the text, as bits

cdef struct Writer:
    bint csv
    bint csv_safe           # put an apostrophe before a text that a spreadsheet may take for a formula
    BytePolicy errors
    uint32_t members        # bits of the members that the format has
    bint own_fields         # it has extra fields
    bint forwarded          # the client is the first address of forwarded_for
    const NameSet *masked   # parameters whose values are hidden; NULL: none
    size_t fields           # how many fields a record has
    Field *field
    size_t filters          # how many conditions a record must meet
    Filter *filter
    Zone *zone              # of times without one
    uint8_t *value          # the buffer for a value that is compared
    const CharsetTable *charset     # of bytes that are not UTF-8; NULL: none
    uint8_t *room           # the buffer for decoded texts
    uint8_t *wide           # the buffer for texts decoded from the charset


# Suspicious properties of a request, as bits. FLAG_TEXTS has their names.
cdef enum:
    MALFORMED = 1, DOUBLE_ENCODED = 2, OVERLONG = 4, ENCODED_SLASH = 8, DOT_DOT = 16, NUL = 32
    FLAGS = 6

cdef struct Name:
    const char *name
    size_t n

cdef Name FLAG_TEXTS[6]

# The most bytes of a time that is written, and how many of them are its day, hour and minute.
cdef enum:
    TIME_SIZE = 48
    DAY = 10, HOUR = 13, MINUTE = 16

cdef inline uint8_t *put(const char *text, size_t n, uint8_t *dst) noexcept nogil:
    memcpy(dst, text, n)
    return dst + n


cdef uint8_t *put_any(const Writer *w, const uint8_t *src, size_t n, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_text(const Writer *w, const Entry *entry, Text text, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_decoded(const Writer *w, const Entry *entry, Text text, bint plus, Place place,
                          uint8_t *dst) noexcept nogil
cdef uint8_t *put_query(const Writer *w, const Entry *entry, Place place, uint8_t *dst) noexcept nogil
cdef inline Text value_of(const QueryField *field) noexcept nogil:
    """Return the value of a field; an empty one if it has none."""
    cdef size_t start = min(field.name_size + 1, field.size)
    return text_of(field.text + start, field.size - start)


cdef bint is_masked(const Writer *w, const uint8_t *name, size_t n) noexcept nogil
cdef uint8_t *put_masked(const Writer *w, const Entry *entry, Text text, bint parameters, Place place, uint8_t *dst) noexcept nogil
cdef Text parameter_of(const Writer *w, Text query, const Text *name, bint *masked) noexcept nogil
cdef int flags_of_request(const Writer *w, Text path, Text query, bint decoded, bint whole) noexcept nogil
cdef inline uint8_t *put_class(Text status, uint8_t *dst) noexcept nogil:
    """Write the class of a status: "5xx"."""
    dst[0], dst[1], dst[2] = status.at[0], c'x', c'x'
    return dst + 3


cdef size_t period_of(const uint8_t *time, size_t n, size_t period, uint8_t *dst) noexcept nogil
cdef size_t csv_to_text(uint8_t *records, size_t n, uint8_t delimiter) noexcept nogil
cdef size_t leave_out_quotes(uint8_t *records, size_t n, uint8_t delimiter) noexcept nogil
cdef uint8_t *put_flags(int flags, bint csv, uint8_t *dst) noexcept nogil
