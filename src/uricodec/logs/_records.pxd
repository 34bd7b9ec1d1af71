"""The reader of lines."""
from libc.stdint cimport uint32_t, uint8_t

from uricodec._url._queries cimport NameSet
from uricodec.logs._fields cimport Entry, Text, Zone, find
from uricodec.logs._fast cimport BLOCK, FastFormat, FastRecord, FastRun
from uricodec.logs._fast_json cimport FastJson
from uricodec.logs._programs cimport Columns, Line, Plan
from uricodec.logs._texts cimport Field, Place, Writer


cdef Text text_in(const Writer *w, const Entry *entry, const Field *field, bint *masked) noexcept nogil
cdef uint8_t *put_value(const Writer *w, const Entry *entry, const Field *field, Text text, bint masked, Place place,
                        uint8_t *dst) noexcept nogil
cdef bint has_extra(const Entry *entry) noexcept nogil


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


cdef class LogReader:
    cdef readonly list programs  # the variants of the format
    cdef const Plan **plan      # their plans,
    cdef size_t *shared         # how many steps each has in common with the one before it,
    cdef Columns *columns       # and what the columns of each mean
    cdef FastFormat fast        # how most lines are read and written
    cdef readonly size_t fast_records   # how many records were read so
    cdef readonly tuple fields  # the names of the fields of a record
    cdef readonly str to        # the output
    cdef bint quotes            # whether values of CSV may be in quotes; else records become values
    cdef uint8_t delimiter      # between them
    cdef bint arrow             # whether times become numbers in columns
    cdef FastJson json          # the same for JSON,
    cdef FastRun request        # of which this has the marks of a request
    cdef bint has_fast, has_json
    cdef readonly object timezone   # of times without a zone
    cdef Zone zone              # the same
    cdef size_t dropped         # how many records of this call did not meet the conditions
    cdef int set_filters(self, list conditions) except -1
    cdef int set_field(self, Field *field, str name) except -1
    cdef bint keeps(self, const Entry *entry) noexcept nogil
    cdef list last_sizes        # the capacity of the columns of the last batch: their ends, and their bytes
    cdef int variants           # how many there are
    cdef bint seen[4]           # which of IMPORTANT a record had a value of
    cdef int failed             # the one whose error the last invalid line has
    cdef int strict
    cdef Writer writer
    cdef uint8_t *memory
    cdef size_t plain           # where the buffer for a line without its colors begins in it
    cdef size_t capacity        # the longest line that `memory` has capacity for
    cdef size_t max_line
    cdef size_t record_extra    # of a record, besides what depends on the size of the line
    cdef NameSet masked         # parameters whose values are hidden
    cdef list _kept             # what the writer points to
    cdef bint first             # whether the next line is the first one of the log
    cdef int objects            # the number of variants that are of JSON
    cdef bint objects_only      # whether only these are read
    cdef int set_fields(self, tuple names, bint chosen) except -1
    cdef int reserve(self, size_t size) except -1
    cdef void write(self, const uint8_t *src, size_t n, uint8_t *dst, size_t cap, size_t limit, Found *found,
                    size_t *counts) noexcept nogil
    cdef size_t write_json(self, FastRun *run, Entry *entry, uint8_t *dst, size_t capacity, size_t *written) noexcept nogil
    cdef uint8_t *put_json(self, FastRun *run, Entry *entry, FastRecord *record, uint8_t *dst) noexcept nogil
    cdef void begin_docker(self, const FastRun *run, FastRun *outer, FastRun *inner) noexcept nogil
    cdef bint read_docker_line(self, FastRun *outer, FastRun *inner, Entry *entry, FastRecord *record, size_t *next) noexcept nogil
    cdef bint is_dropped(self, const Entry *entry) noexcept nogil
    cdef size_t write_docker(self, FastRun *run, Entry *entry, uint8_t *dst, size_t capacity, size_t *written) noexcept nogil
    cdef void begin_run(self, FastRun *run, const uint8_t *src, size_t n) noexcept nogil
    cdef void end_run(self, const FastRun *run) noexcept nogil
    cdef Line read(self, const uint8_t *src, size_t start, size_t size, Entry *entry) noexcept nogil
    cdef Line read_colored(self, const uint8_t *s, size_t size, size_t mark, Entry *entry) noexcept nogil
    cdef Line read_plain(self, const uint8_t *s, size_t size, size_t mark, Entry *entry) noexcept nogil
    cdef Line read_after(self, int prefix, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
    cdef Line read_in_object(self, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
    cdef Line read_each(self, bint odd_quotes, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
    cdef bint has_usual_start(self, int k, Entry *entry) noexcept nogil
    cdef Line read_again(self, int k, const uint8_t *s, size_t n, Entry *entry) noexcept nogil
    cdef Line read_variants(self, const uint8_t *s, size_t n, Entry *entry) noexcept nogil


# `counts`: bytes read, bytes written, lines, records that are written, invalid lines.
cdef object lines_of(LogReader reader, const Found *found, const size_t *counts)


cdef inline size_t line_size(const uint8_t *src, size_t start, size_t n) noexcept nogil:
    """Return the size of a line without its terminator, "\n" or "\r\n"; a last line may end with "\r"."""
    cdef size_t end = find(src, start, n, c'\n')
    return end - start - (end > start and src[end - 1] == c'\r')


cdef inline size_t next_line(const uint8_t *src, size_t end, size_t n) noexcept nogil:
    """Return where the next line starts, if this one is terminated; otherwise n."""
    if end < n and src[end] == c'\r':
        end += 1
    return end + (end < n)


cdef inline void note(LogReader reader, const Entry *entry, size_t line, size_t start, size_t size, Found *found) noexcept nogil:
    found.line, found.start, found.size = line, start, size
    found.code, found.offset, found.variant = entry.code, entry.offset, reader.failed
