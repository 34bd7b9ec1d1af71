"""The reader of lines."""
from libc.stdint cimport uint32_t, uint8_t

from uricodec._url._queries cimport NameSet
from uricodec.logs._fields cimport find
from uricodec.logs._json_reader cimport JsonReader
from uricodec.logs._line cimport *
from uricodec.logs._text_reader cimport TextReader


# An invalid line.
cdef struct Found:
    size_t line
    size_t start
    size_t size
    size_t offset
    int code
    int variant             # the program that reported it

cdef enum:
    FAULTS = 1024           # the most faults that one call returns
    CODES = 33              # FIELD + MEMBERS: those whose names do not depend on the format


cdef class LogReader:
    cdef readonly list programs  # the variants of the format,
    cdef Variant *variant       # how they are read and written,
    cdef size_t *shared         # how many steps each has in common with the one before it,
    cdef Columns *columns       # and what the columns of each mean
    cdef int variants           # how many there are,
    cdef int objects            # and how many of them are of JSON
    cdef bint objects_only      # whether only these are read
    cdef Record record
    cdef TextReader text        # how most lines are read;
    cdef JsonReader json        # of JSON,
    cdef Marked marked, inner   # their marks, and those of the line in a JSON object
    cdef KnownTime time
    cdef bint is_fast           # whether lines are read by marks,
    cdef readonly size_t fast_records   # and how many records were
    cdef readonly tuple fields  # the names of the fields of a record
    cdef readonly str to        # the output
    cdef bint quotes            # whether values of CSV may be in quotes; else records become values
    cdef uint8_t delimiter      # between them
    cdef bint arrow             # whether times become numbers in columns
    cdef readonly object timezone   # of times without a zone
    cdef Zone zone              # the same
    cdef readonly object to_timezone    # in which times are written
    cdef Zone shown             # the same
    cdef public bint examples   # whether a call returns only the first invalid line of each code,
    cdef size_t count_of[33]    # and how many of each it found
    cdef size_t dropped         # how many records of this call did not meet the conditions
    cdef list last_sizes        # the capacity of the columns of the last batch: their ends, and their bytes
    cdef uint32_t seen          # the bits of the slots that a record had a value of
    cdef int failed             # the variant whose error the last invalid line has
    cdef int strict
    cdef Writer writer
    cdef uint8_t *memory
    cdef size_t plain           # where the buffer for a line without its colors begins in it,
    cdef size_t padded          # and the one for a line at the end of the source
    cdef size_t capacity        # the longest line that `memory` has capacity for
    cdef size_t max_line
    cdef size_t record_factor   # of a record, for each byte of its line,
    cdef size_t record_extra    # of a record, besides what depends on the size of the line
    cdef NameSet masked         # parameters whose values are hidden
    cdef list _kept             # what the writer points to
    cdef bint first             # whether the next line is the first one of the log
    cdef int set_fields(self, tuple names, bint chosen, size_t tests) except -1
    cdef int set_field(self, Field *field, str name) except -1
    cdef int set_filters(self, list conditions, list tests) except -1
    cdef int reserve(self, size_t size) except -1
    cdef void write(self, const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t limit, Found *found,
                    size_t *counts) noexcept nogil
    cdef void begin_lines(self, const uint8_t *src, size_t n) noexcept nogil
    cdef Line read_next(self) noexcept nogil
    cdef bint read_by_marks(self) noexcept nogil
    cdef bint read_marked(self, Marked *marked) noexcept nogil
    cdef bint find_line_in_object(self) noexcept nogil
    cdef bint read_line_in_object(self) noexcept nogil
    cdef Line read_exactly(self, size_t size) noexcept nogil
    cdef Line read(self, const uint8_t *s, size_t size, Record *record) noexcept nogil
    cdef Line read_colored(self, const uint8_t *s, size_t size, Record *record) noexcept nogil
    cdef Line read_plain(self, const uint8_t *s, size_t n, Record *record) noexcept nogil
    cdef size_t read_after_words(self, const uint8_t *s, size_t n, Record *record, Line *line) noexcept nogil
    cdef void read_without_words(self, const uint8_t *s, size_t n, Record *record, Line *line) noexcept nogil
    cdef void take_time(self, Line line, const uint8_t *s, size_t n, Record *record) noexcept nogil
    cdef Line read_in_object(self, const uint8_t *s, size_t n, Record *record) noexcept nogil
    cdef Line read_each(self, bint odd_quotes, const uint8_t *s, size_t n, Record *record) noexcept nogil
    cdef bint has_usual_start(self, int k, Record *record) noexcept nogil
    cdef Line read_again(self, int k, const uint8_t *s, size_t n, Record *record) noexcept nogil
    cdef Line read_variants(self, const uint8_t *s, size_t n, Record *record) noexcept nogil


# `counts`: bytes read, bytes written, lines, records that are written, invalid lines.
cdef object lines_of(LogReader reader, const Found *found, const size_t *counts)


cdef inline size_t note(LogReader reader, size_t line, Found *found) noexcept nogil:
    """Note that the line that was read is invalid. Return how many entries of `found` this takes."""
    cdef int code = reader.record.code
    if code < CODES:
        reader.count_of[code] += 1
        if reader.examples and reader.count_of[code] > 1:
            return 0
    found.line, found.start, found.size = line, reader.marked.start, reader.record.end - reader.marked.start
    found.code, found.offset, found.variant = code, reader.record.offset, reader.failed
    return 1
