"""Compiled formats of logs: the steps that read a line and fill an Record."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from uricodec.logs._fields cimport find, text_of
from uricodec.logs._line cimport *


cdef class Program:
    cdef Plan plan
    cdef readonly tuple names       # of the extra fields
    cdef list _kept                 # the bytes that the plan points to
    cdef int set_field(self, Step *step, field, dict slots) except -1
    cdef int set_text(self, program, dict slots) except -1
    cdef int set_json(self, program, dict slots) except -1
    cdef int set_last(self, dict slots) except -1
    cdef int set_quotes(self) except -1


cdef Line read_line(const Plan *plan, Columns *columns, const uint8_t *s, size_t n, Record *record) noexcept nogil
cdef void undo_value(const Plan *plan, const Step *step, Record *record) noexcept nogil
cdef bint check_text(const Step *step, Record *record) noexcept nogil
cdef uint8_t delimiter_of(const Columns *columns, const uint8_t *s, size_t n) noexcept nogil
cdef bint finish_w3c(Columns *columns, uint8_t delimiter, size_t count, uint32_t quoted, const uint8_t *s, size_t n,
                     Record *record) noexcept nogil
cdef void fix_value(const Step *field, Record *record) noexcept nogil
cdef void read_list(const Plan *plan, int parent, const uint8_t *s, size_t i, size_t n, bint plain, Record *record) noexcept nogil
cdef int child_of(const Node *node, int parent, const uint8_t *key, size_t n) noexcept nogil
cdef bint finish_fields(const Plan *plan, const uint8_t *s, size_t n, Record *record) noexcept nogil
cdef bint read_steps(const Plan *plan, size_t first, const uint8_t *s, size_t n, Record *record) noexcept nogil
cdef size_t end_of_text(const Step *step, bint before_time, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t end_of_time(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t skip_pads(const Step *step, const uint8_t *s, size_t end, size_t n, Text *value) noexcept nogil
cdef size_t end_of_list(const Step *step, const uint8_t *s, size_t i, size_t n) noexcept nogil
cdef size_t shared_steps(const Plan *one, const Plan *other, bint odd_quotes) noexcept nogil


cdef inline bint has_byte(Text text, uint8_t byte) noexcept nogil:
    return text.at != NULL and find(text.at, 0, text.n, byte) < text.n


cdef inline void set_value(const Node *node, Record *record, const uint8_t *at, size_t n) noexcept nogil:
    """Set the field of a member, unless an earlier alternative of the same field is there. "" and "-" mean a missing value."""
    cdef const Step *field = &node.field
    if field.slot < 0 or n == 0 or n == 1 and at[0] == c'-':
        return
    if record.rank[field.slot] and record.rank[field.slot] < node.rank:
        return
    record.rank[field.slot] = <uint16_t>node.rank
    record.text[field.slot] = text_of(at, n)
    if field.slot == PATH:
        record.decoded = record.uncertain_path = False
    elif field.slot == CLIENT:
        record.endpoint = field.kind == ENDPOINT
    elif field.slot == DURATION:
        record.unit = field.unit
    if field.kind > DECIMAL:
        fix_value(field, record)


cdef inline void add_extra(Record *record, Text name, Text key, const uint8_t *at, size_t n) noexcept nogil:
    """Add a field under a name that the format does not list. A name has one value: the last one."""
    if record.extras < EXTRAS:
        record.own_name[record.extras], record.own_key[record.extras] = name, key
        record.text[MEMBERS + record.extras] = text_of(at, n)
        record.rank[MEMBERS + record.extras] = 0
        record.extras += 1
