"""What a line of a log is made of, from the compiled format to the record: the structs that all of this folder works with."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t

from uricodec._base._cpython cimport PyObject
from uricodec._base._kernels cimport uc_set
from uricodec._codec._charsets cimport CharsetTable
from uricodec._codec._triplets cimport BytePolicy
from uricodec._rows._engine cimport Slots
from uricodec._url._queries cimport NameSet


# --- lines ------------------------------------------------------------------------------------------------------------

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
    EXTRA_BIT = 1 << 17     # MEMBERS: among bits of members, that of all extra fields
    REQUEST_BITS = 464      # those of REQUEST and of its parts that can have any bytes: TARGET, PATH, QUERY
    OWN_EXTRAS = 128        # of a format or a line; there may be the port of the client, too
    EXTRAS = 129
    SLOTS = 146
    DROPPED = 146           # where a value goes that no field has


# The kinds of errors; others are the slot of the field, plus FIELD. CODE_NAMES of _records has their names.
cdef enum:
    FINE, EMPTY, JSON_ERROR, FIELDS_ERROR, FORMAT_ERROR, TOO_LONG
    FIELD = 16


cdef enum:
    EXTRA_CAPACITY = 64
    DURATION_SIZE = 32
    BLOCK = 64              # bytes that a copy may load and store after the end of a text
    MOST_STEPS = 63         # of a format that is read by marks
    STEPS_KEPT = 64
    ZONE_QUARTERS = 1024    # of which offsets of a zone are known: more than ten days

# What is known of a text with quotes that are not escaped: the rest of the format shows where it ends, or only the literal
# that follows it.
cdef enum OddQuotes:
    NONE_ODD, ENDS_SURELY, MAY_END


# A day by its number since 0000-03-01, as "2025-01-31".
cdef struct Day:
    uint32_t number
    uint8_t text[10]


# A zone: that of times that are logged without one, or that in which times are shown.
cdef struct Zone:
    PyObject *timezone      # a tzinfo; NULL: UTC
    int64_t quarter         # of an hour: the last one whose offset from UTC was asked for,
    int64_t offset          # and the offset, in seconds
    bint used               # whether there was such a time
    int64_t known[1024]     # ZONE_QUARTERS: quarters of an hour, of moments, each at the place that its number selects;
    int32_t offsets[1024]   # and the offsets, in seconds


# --- formats ----------------------------------------------------------------------------------------------------------

# How the end of a field is found; what its value has to be.
cdef enum Take:
    WORD, TEXT, TEXT_BEFORE_TIME, TIME_TEXT, QUOTED, LIST
cdef enum Kind:
    ANY, NUMBER, DECIMAL, SITE, ENDPOINT, QUERY_MARK, DECODED_PATH, UNCERTAIN_PATH, DECODED_TARGET, DECODED_AFTER_HOST
    AFTER_HOST, IN_QUOTES

# How the end of a field is found by marks.
cdef enum Until:
    TO_SPACE, TO_QUOTE, TO_BYTE, TO_LITERAL, TO_TIME_END, TO_LIST_END, TO_LINE_END
    NO_MORE             # after the last step

# What else there is to do for a field then, as bits.
cdef enum:
    HAS_QUOTE = 1           # in the literal
    NUMBER_FOLLOWS = 2      # and ends the field
    IS_NUMBER = 4
    IS_DECIMAL = 8

# Where a literal has several spaces, and a line may have any number, but at least one.
cdef enum:
    PAD_BEFORE = 1
    PAD_AFTER = 2

cdef struct Step:
    uint64_t word, mask     # the first 8 bytes of the literal
    const uint8_t *literal  # what follows the field
    size_t n
    size_t index
    int slot                # of Record.text, or DROPPED
    Until until
    uint32_t work
    uint8_t is_word         # whether it ends at a mark, with nothing else to do than to check a number
    uint8_t byte            # the first one of the literal
    uint8_t two_quotes      # the literal begins and ends with one
    uint8_t empty_is_missing
    uint8_t before_time
    uint8_t may_end         # the line may end instead of the literal
    uint8_t pads            # whether spaces may be around the literal, as bits
    # If it is not read by marks:
    Take take
    Kind kind
    int unit                # of a duration: a power of ten
    bint number_follows     # after the literal comes a number or "-"
    int quotes              # of a text in quotes, if no later field has any: how many quotes the later literals have; or -1
    size_t spaces           # and how many spaces

# A member of a JSON record: a node of the tree of all paths.
cdef struct Node:
    const uint8_t *key
    size_t n
    int child, sibling      # indexes; 0: none
    bint is_list            # an array of objects with a "name", which leads to a child, and a "value"
    Step field              # if slot >= 0; its rank among alternatives is `rank`
    int rank

cdef enum Escapes:
    NO_ESCAPES, HASHES, BACKSLASHES, JSON_ESCAPES
cdef enum Notation:
    TEXT_LINES, JSON_LINES, LOGFMT_LINES, LTSV_LINES, W3C_LINES

# What the columns of a W3C log mean, from "#Fields:".
cdef enum:
    COLUMNS = 128
    NAMES_CAPACITY = 8192
cdef struct Columns:
    size_t count
    int slot[128]           # COLUMNS; -1: dropped
    int port                # the slot of the client's port; -1: none
    bint cloudfront         # values are percent-encoded for the log, see undo_cloudfront()
    bint commas             # the names are separated by commas
    int unit                # of the duration: a power of ten
    bint netscaler          # or Tomcat: IIS, which has the same names, has other durations and paths
    bint unusable           # no column is one of the members
    size_t extras
    size_t name_at[129]     # EXTRAS: of the extra fields, in `names`
    size_t name_size[129]
    uint8_t names[8192]     # NAMES_CAPACITY
    bint announced          # whether this log has a "#Fields:" line
    bint known              # whether the reader by marks has made keys of the names

cdef enum:
    ESCAPE = 0x1B           # ESC, which begins a control sequence

cdef enum Line:
    NO_RECORD, RECORD, DIRECTIVE


# A compiled variant of a format.
cdef struct Plan:
    Notation notation
    Escapes escapes
    bint open_end           # what follows the last step becomes extra.rest
    bint request_needed     # of JSON: a record has a request, or a part of it
    bint keep_rest          # of JSON: scalars that are not mapped are extra fields
    bint cloudfront         # of JSON: values are percent-encoded for the log
    uint8_t separator       # of W3C: of a log without "#Fields:"
    bint begins_with_client  # or with a list of addresses
    bint bare_vhost         # of text: the site ends at a sign such as ":", and has no blanks
    bint has_time           # of text: a field is the time
    bint has_site           # of text: a field is the name of a host
    bint is_cut             # of text: the server has cut off the line
    bint endpoint           # of text: the client is an address with a port
    int ident, rest         # the slots of "%l", of what follows the last step,
    int port                # and of the client's port; -1: none
    bint has_port           # a field of the format has the name of that
    bint own_fields         # there are extra fields besides these
    int duration_unit
    uint32_t members        # bits of the members that a record can have
    size_t steps, optional  # how many there are; after how many the line may end
    size_t nodes, extras
    Step *step
    Node *node
    Text *name              # of the extra fields,
    const uint8_t *start    # the literal before the first field
    size_t start_n
    Step beginning          # the same as what follows a field
    bint is_marked          # the steps can be read by marks
    bint has_request        # or a part of one,
    bint one_request        # in one piece,
    bint one_target         # or as a target, perhaps with a method and a protocol
    bint fixes              # fix_value() is called
    bint has_protocol       # a text has one by itself
    int odd                 # the first step that may have quotes, see Step.quotes; -1: none
    Columns *columns        # of W3C: those of a log without "#Fields:"


# --- marks ------------------------------------------------------------------------------------------------------------

cdef enum:
    WINDOW = 16384          # bytes that are marked at once, a multiple of 64
    SHORTEST = 24           # a shorter line is read exactly
    CUT_OFF = 200           # a line of HAProxy, with no prefix of syslog, is longer if it is cut off
    LONGEST_TIME = 32       # of those that are known

# The four bitmaps of a window of text. All have the ends of lines.
cdef enum:
    CARE, SPACES, QUOTES, DELIMITERS
    STOPS           # a fifth one, if other bytes end fields: these, and spaces; else that of spaces

# Lines to read. The window is the part of them that is marked.
cdef struct Marked:
    const uint8_t *src
    size_t n
    size_t start            # of the next line
    size_t window, window_end
    size_t max_line
    uint8_t *room           # a buffer for undone escapes and a joined target
    const uint64_t *mark[5]
    uint64_t marks[1026]    # 4 * WINDOW / 64 + 2
    uint64_t stops[257]     # WINDOW / 64 + 1

# The last time that was not of the same date, length and zone as the one before it.
cdef struct KnownTime:
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


# --- output -----------------------------------------------------------------------------------------------------------

# The context of a text: a JSON string, a CSV cell, a JSON string in a CSV cell, or a column.
cdef enum Place:
    STRING, CELL, STRING_IN_CELL, RAW

# How the value of a field is written.
cdef enum ValueKind:
    COPIED, TIME_VALUE, PATH_VALUE, QUERY_VALUE, SECONDS_VALUE, ADDRESSES_VALUE, MASKED_VALUE
    EXTRAS_VALUE, EXTRA_VALUE, PARAMETER_VALUE, FLAGS_VALUE
    PERIOD_VALUE            # the day, the hour or the minute of the time: its first bytes
    CLASS_VALUE             # the class of the status, such as 5xx
    NETWORK_VALUE           # the network of an address
    SEGMENTS_VALUE          # the first segments of the path
    SHAPE_VALUE             # the path with the classes of its segments
    ROW_VALUE               # what a row function makes of the text
    TEST_VALUE              # 1 if the record meets a condition, else 0

# A field of the records, in the order in which they are written.
cdef struct Field:
    ValueKind kind
    int slot                # of a standard field
    bint is_text            # JSON has its value in quotes
    bint is_number          # a column has 8 bytes for each row
    bint optional           # JSON has it only in records that have a value
    Text key                # what JSON has before the value, from "{" or a comma on
    Text name               # of a parameter or an extra field
    size_t period           # how many bytes of the time, segments of the path, or bits of an IPv4 address; the filter
    int bits                # of an IPv6 address; -1: it stays as it is
    const Slots *rows       # what makes the value

# What a record must be like to be written. How a value is compared, and with what.
cdef enum Operator:
    EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST, BEGINS, CONTAINS, MATCHES
cdef enum Comparison:
    AS_TEXT, AS_NUMBER, AS_MOMENT, AS_ADDRESS, AS_PATTERN

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
    PyObject *search        # AS_PATTERN: what returns a match or None,
    PyObject *known         # and a dict of what it returned
    bint more               # the next filter is an alternative: one must hold; if both are negative, each

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
    size_t filters          # how many conditions a record must meet,
    size_t all_filters      # and those that are only tested, which follow
    Filter *filter
    Zone *zone              # of times without one,
    Zone *shown             # and of all times in the output; NULL: that of the log
    uint8_t *value          # the buffer for a value that is compared
    const CharsetTable *charset     # of bytes that are not UTF-8; NULL: none
    uint8_t *made           # the buffer for what row functions make,
    size_t made_factor, made_extra  # and the capacity that they need for a text
    uint8_t *room           # the buffer for decoded texts
    uint8_t *wide           # the buffer for texts decoded from the charset


# A field of the record, as a variant of the format has it.
cdef struct Output:
    const uint8_t *key      # what is written before the value: also fields that are always null, and the quote of a text
    size_t n
    size_t own              # its size without other fields
    int slot                # of the value; of a condition, -1: it is always missing
    ValueKind value
    bint text               # whether the key ends in a quote
    bint is_long            # whether the value often has more than 32 bytes
    bint late               # of a condition: whether the request must be read first
    bint by_name            # whether the line says under which of its extra fields the value is
    uint32_t bit            # of its slot, among bits of members
    int column              # the number of the field
    const Field *field

# A variant of a format, as one reader writes its records.
cdef struct Variant:
    const Plan *plan
    size_t shared           # how many steps it has in common with the variant before it
    size_t names_n          # the size of the names of the extra fields
    Text *key               # what stands before their values
    bint reads_request      # whether a part of the request is written, or in a condition
    size_t outputs
    Output *output
    Output *filter          # the fields of the conditions
    const uint8_t *tail     # what is written after the last value
    size_t tail_n
    KnownTime *time


# --- records ----------------------------------------------------------------------------------------------------------

# A line as it was read, and as it is written. After each text BLOCK bytes may be loaded.
cdef struct Record:
    Text text[147]          # SLOTS, and DROPPED
    size_t extras           # how many extra fields there are,
    Text *name              # their names,
    Text *key               # and what stands before their values; NULL: it is made from the name
    Text own_name[129]      # EXTRAS: names and keys of this line alone
    Text own_key[129]
    uint8_t duration[32]    # DURATION_SIZE: a duration that has units, as a number
    uint16_t rank[146]      # SLOTS: of JSON, which of a field's alternatives was there
    const Variant *variant  # how it is written
    const Marked *marked    # the marks of its path and its query, if `is_marked`
    size_t end, next        # of the line in the source; the start of the next one
    size_t marked_to        # how far lines like this one may go in the source, for which columns reserve memory at once
    uint8_t *room           # the buffer for undone escapes and joined targets: three times the size of the line, and EXTRA_CAPACITY
    const uint8_t *known_time       # the time, if is_known_time()
    int unit                # of the duration: a power of ten
    bint is_marked
    bint is_dropped         # it does not meet the conditions
    bint plain              # if it is read step by step: all texts are printable ASCII without quote and backslash
    uint32_t special        # the texts that are not: bits of members, and EXTRA_BIT
    bint has_triplets       # the path may have some
    bint decoded            # the path is decoded already
    bint whole              # the target is a whole request that could not be split
    bint endpoint           # of JSON: the client is an address with a port
    bint uncertain_path     # of JSON: the path may be a target, see settle_path()
    bint forwarded          # the client is the first address of forwarded_for; clear() does not change it
    int odd_quotes          # quotes that are not escaped are in a text in quotes: see OddQuotes
    size_t step             # where the line stopped matching; and the state before each of the first steps:
    size_t start[64]        # STEPS_KEPT: where it starts
    bint plain_before[64]
    int odd_before[64]
    size_t quote            # the first quote or unusual byte of the line
    int code                # the error,
    size_t offset           # and its offset in the line
