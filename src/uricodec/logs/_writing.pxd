"""The one writer of records: text here, columns in `_columns`."""
from libc.stdint cimport int64_t, uint32_t, uint8_t

from uricodec.logs._line cimport *
from uricodec.logs._texts cimport flags_of_request


cdef inline int flags_of_record(const Writer *w, const Record *record) noexcept nogil:
    return flags_of_request(w, record.text[<int>PATH], record.text[<int>QUERY], record.decoded, record.whole)


cdef inline bint is_copied(const Record *record, const Output *output) noexcept nogil:
    """Return whether the value of a field without special bytes is its text."""
    return output.value == COPIED or output.value == PATH_VALUE and (record.decoded or not record.has_triplets)


cdef inline bint may_be_missing(const Output *output) noexcept nogil:
    """Return whether an empty value of groups stands for a missing one: the text has no such part."""
    return output.value == PERIOD_VALUE or output.value == ROW_VALUE


cdef int set_variant(Variant *variant, const Plan *plan, const Writer *w, list kept) except -1
cdef void free_variant(Variant *variant) noexcept
cdef Text text_in(const Writer *w, const Record *record, const Output *output, bint *masked) noexcept nogil
cdef uint8_t *put_value(const Writer *w, const Record *record, const Output *output, Text text, bint masked, Place place,
                        uint8_t *dst) noexcept nogil
cdef uint8_t *put_extra_key(const Writer *w, Text name, uint8_t *dst) noexcept nogil
cdef uint8_t *put_escaped(const Writer *w, const Marked *marked, Text text, bint plus, Place place, uint8_t *dst) noexcept nogil
cdef uint8_t *put_record(const Writer *w, const Record *record, uint32_t *seen, uint8_t *dst) noexcept nogil
cdef bint meets_one_of(const Writer *w, const Record *record, size_t *i) noexcept nogil
cdef bint keeps(const Writer *w, const Record *record, bint late) noexcept nogil

# Times, of which only the digits of the clock change from line to line.
cdef void know_time(KnownTime *time, const uint8_t *s, size_t n) noexcept nogil
cdef bint read_moment(const Record *record, Text text, Zone *zone, int64_t *micros) noexcept nogil
cdef uint8_t *put_extra_value(const Writer *w, const Record *record, size_t k, Place place, uint8_t *dst) noexcept nogil
