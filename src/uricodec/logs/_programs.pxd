"""Compiled formats of logs: the steps that read a line and fill an Entry."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from uricodec.logs._fields cimport CLIENT, DURATION, EXTRAS, MEMBERS, PATH, Entry, Text, text_of


# How the end of a field is found; what its value has to be.
cdef enum Take:
    WORD, TEXT, TEXT_BEFORE_TIME, TIME_TEXT, QUOTED, LIST
cdef enum Kind:
    ANY, NUMBER, DECIMAL, ENDPOINT, QUERY_MARK, DECODED_PATH, UNCERTAIN_PATH, DECODED_TARGET

cdef struct Step:
    Take take
    Kind kind
    int slot                # of Entry.text, or -1
    int unit                # of a duration: a power of ten
    const uint8_t *literal  # what follows the field
    size_t n
    bint number_follows     # after the literal comes a number or "-"
    int quotes              # of a text in quotes, if no later field has any: how many quotes the later literals have; or -1
    size_t spaces           # and how many spaces

# A member of a JSON record: a node of the tree of all paths.
cdef struct Node:
    const uint8_t *key
    size_t n
    int child, sibling      # indexes; 0: none
    Step field              # if slot >= 0; its rank among alternatives is `rank`
    int rank

cdef enum Escapes:
    NO_ESCAPES, HASHES, BACKSLASHES, JSON_ESCAPES
cdef enum Notation:
    TEXT_LINES, JSON_LINES, W3C_LINES

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
    size_t extras
    size_t name_at[129]     # EXTRAS: of the extra fields, in `names`
    size_t name_size[129]
    uint8_t names[8192]     # NAMES_CAPACITY
    bint announced          # whether this log has a "#Fields:" line

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
    bint endpoint           # of text: the client is an address with a port
    int ident, rest         # the slots of "%l", of what follows the last step,
    int port                # and of the client's port; -1: none
    bint own_fields         # there are extra fields besides these
    int duration_unit
    uint32_t members        # bits of the members that a record can have
    size_t steps, optional  # how many there are; after how many the line may end
    size_t nodes, extras
    Step *step
    Node *node
    Text *name              # of the extra fields,
    Text *key               # and what JSON has before their values, with a comma and the quote
    const uint8_t *start    # the literal before the first field
    size_t start_n
    Columns *columns        # of W3C: those of a log without "#Fields:"


cdef class Program:
    cdef Plan plan
    cdef readonly tuple names       # of the extra fields
    cdef list _kept                 # the bytes that the plan points to
    cdef int set_field(self, Step *step, field, dict slots) except -1
    cdef int set_text(self, program, dict slots) except -1
    cdef int set_json(self, program, dict slots) except -1
    cdef int set_last(self, dict slots) except -1
    cdef int set_quotes(self) except -1


cdef Line read_line(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
cdef void fix_value(const Step *field, Entry *entry) noexcept nogil
cdef int child_of(const Node *node, int parent, const uint8_t *key, size_t n) noexcept nogil
cdef bint finish_fields(const Plan *plan, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
cdef bint read_steps(const Plan *plan, size_t first, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
cdef size_t end_of_text(const Step *step, bint before_time, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t end_of_time(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t end_of_list(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t shared_steps(const Plan *one, const Plan *other, bint odd_quotes) noexcept nogil
cdef size_t skip_prefix(int kind, const uint8_t *s, size_t n) noexcept nogil
cdef bint docker_line(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil
cdef size_t without_colors(uint8_t *s, size_t n) noexcept nogil
cdef size_t offset_with_colors(const uint8_t *s, size_t n, size_t offset) noexcept nogil
cdef size_t text_in_object(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil

# What other programs write before a line.
cdef enum:
    SYSLOG, CRI, DOCKER, LABEL_AND_TIME, LABEL
    PREFIXES


cdef inline void set_value(const Node *node, Entry *entry, const uint8_t *at, size_t n) noexcept nogil:
    """Set the field of a member, unless an earlier alternative of the same field is there. "" and "-" mean a missing value."""
    cdef const Step *field = &node.field
    if field.slot < 0 or n == 0 or n == 1 and at[0] == c'-':
        return
    if entry.rank[field.slot] and entry.rank[field.slot] < node.rank:
        return
    entry.rank[field.slot] = <uint16_t>node.rank
    entry.text[field.slot] = text_of(at, n)
    if field.slot == PATH:
        entry.decoded = entry.uncertain_path = False
    elif field.slot == CLIENT:
        entry.endpoint = field.kind == ENDPOINT
    elif field.slot == DURATION:
        entry.unit = field.unit
    if field.kind > DECIMAL:
        fix_value(field, entry)


cdef inline void add_extra(Entry *entry, Text name, const uint8_t *at, size_t n) noexcept nogil:
    """Add a field under a name that the format does not list. A name has one value: the last one."""
    if entry.extras < EXTRAS:
        entry.name[entry.extras] = name
        entry.text[MEMBERS + entry.extras] = text_of(at, n)
        entry.rank[MEMBERS + entry.extras] = 0
        entry.extras += 1
