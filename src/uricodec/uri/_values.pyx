"""Parts of URLs as values: userinfo, host, port, query parameters and path segments.

Each part has a row in PARTS, from which columns are read, and a function for single values.

Any text is split, as RFC 3986 appendix B does, with the scheme by the grammar. The authority is then split at its last
"@" and, after the host, at the first ":"; a host that begins with "[" ends with the next "]".

    http://me@example.org:80/over/there?name=ferret&q=a+b#nose
     userinfo  host       port         query_value("q") = "a b"

A row function writes the offsets of its results and then their text, or the items of a list. Rows of text give text:
what is not UTF-8 becomes U+FFFD. Rows of bytes give bytes.
"""
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ByteSet, kernels, next_mark, uc_utf8
from uricodec._base._text cimport *
from uricodec._codec._charsets cimport Charset, CharsetTable, charset_decode, charset_of
from uricodec._rows._engine cimport *
from uricodec._url._grammar cimport CODE_NAMES, IRI_FAULTS, REASONS, read_text
from uricodec._rows._single cimport borrow, text_of
from uricodec._url._grammar cimport (GROUPS, IRI_SYNTAX, REFERENCE, URI_SYNTAX, Parts, end_of_scheme, find_authority,
                                     find_parts, parse_ipv6, read_bytes)
from uricodec._url._queries cimport *

from uricodec.errors import IriError, UriSyntaxError


cdef ByteSet BEFORE_QUERY = ~ByteSet("?#")
cdef ByteSet BEFORE_FRAGMENT = ~ByteSet("#")

cdef void set_fields(const Parts *parts, Component *fields) noexcept nogil:
    set_field(fields, 0 if parts.scheme_end >= 0 else -1, parts.scheme_end)
    set_field(fields + 1, parts.authority, parts.path)
    set_field(fields + 2, parts.authority if parts.userinfo_end >= 0 else -1, parts.userinfo_end)
    set_field(fields + 3, parts.host, parts.host_end)
    set_field(fields + 4, parts.port, parts.path)
    set_field(fields + 5, parts.path, parts.path_end)
    set_field(fields + 6, parts.query, parts.query_end)
    set_field(fields + 7, parts.fragment, parts.end)


# --- what row functions write -----------------------------------------------------------------------------------------

cdef size_t userinfo_row(
        const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Parts parts
    find_authority(src, n, &parts)
    if parts.userinfo_end < 0:
        parts.authority = -1
    return put_raw(src, parts.authority, parts.userinfo_end, options, dst)


cdef size_t host_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Parts parts
    find_authority(src, n, &parts)
    return put_raw(src, parts.host, parts.host_end, options, dst)


cdef size_t port_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Parts parts
    find_authority(src, n, &parts)
    return put_raw(src, parts.port, parts.path, options, dst)


cdef enum:
    COMPONENTS = 8


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write all components as UTF-8."""
    cdef Component *fields = <Component *>dst
    cdef size_t size = COMPONENTS * sizeof(Component), length
    cdef Parts parts
    cdef int i
    find_parts(src, n, &parts)
    set_fields(&parts, fields)
    for i in range(COMPONENTS):
        if fields[i].start >= 0:
            length = <size_t>(fields[i].end - fields[i].start)
            copy_text(dst + size, src + fields[i].start, length)
            length = make_utf8(dst + size, length)
            fields[i].start, fields[i].end = <int64_t>size, <int64_t>(size + length)
            size += length
    return padded(size)


# --- hosts without "//" before them -----------------------------------------------------------------------------------

cdef enum:
    LONGEST_IPV6 = 45
    BEFORE_BARE = 64        # what fits between the result of a row and its copy
    BARE_EXTRA = BEFORE_BARE + 16


cdef bint has_port(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    """Return whether the ":" at an offset is before a port, and the text before it not a scheme: "a.example:80"."""
    if memchr(s, c'.', i) == NULL and not (i == 9 and memcmp(s, b"localhost", 9) == 0):
        return False
    i += 1
    if i == n or not c'0' <= s[i] <= c'9':
        return False
    while i < n and c'0' <= s[i] <= c'9':
        i += 1
    return i == n or s[i] == c'/' or s[i] == c'?' or s[i] == c'#'


cdef size_t with_slashes(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a text that begins with a host after "//", at most n + 4 bytes. Return the size; 0: it begins with none."""
    cdef uint16_t groups[GROUPS]
    cdef size_t i
    if n == 0 or s[0] == c'/' or s[0] == c'?' or s[0] == c'#':
        return 0
    dst[0] = dst[1] = c'/'
    if n <= LONGEST_IPV6 and memchr(s, c':', n) != NULL and parse_ipv6(s, n, groups):
        dst[2] = c'['
        memcpy(dst + 3, s, n)
        dst[n + 3] = c']'
        return n + 4
    i = end_of_scheme(s, n)
    if s[0] == c':' or i and not has_port(s, n, i):
        return 0
    memcpy(dst + 2, s, n)
    return n + 2


cdef size_t bare_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Read a text that may begin with a host."""
    cdef const Options *how = <const Options *>options
    cdef uint8_t *copy = dst + 3 * n + BEFORE_BARE
    cdef size_t size = with_slashes(src, n, copy)
    return how.inner(copy, size, options, dst, outcome) if size else how.inner(src, n, options, dst, outcome)


# --- query parameters and path segments -------------------------------------------------------------------------------

# As urllib.parse.parse_qsl(query, keep_blank_values=True) reads them:
#
#     query     = pair *( "&" pair )      an empty pair is none
#     pair      = name [ "=" value ]      decoded: "+" is a space in the queries of forms, see has_form_query()
#
# A path is read as in RFC 3986 section 3.3, and its segments are decoded:
#
#     path      = [ segment ] *( "/" segment )    an empty path has no segments

cdef ByteSet BUT_PERCENT = ~ByteSet("%")
cdef ByteSet BUT_PERCENT_OR_PLUS = ~ByteSet("%+")
cdef ByteSet LITERALS = ByteSet(range(0x80)) - "%+"      # bytes that are the same in every decoded name


cdef inline size_t decode_text(const uint8_t *src, size_t n, Spelling spelling, const Options *how, uint8_t *dst) noexcept nogil:
    """Decode a text to dst, where 3 * n bytes can be written; return its size."""
    cdef size_t size = n, i
    if kernels.span(src, n, &BUT_PERCENT_OR_PLUS.set if spelling == FORM else &BUT_PERCENT.set) == n:
        copy_text(dst, src, n)
    elif spelling != FORM or memchr(src, c'%', n) != NULL:
        size = kernels.decode(src, n, spelling == FORM, dst, n)
    else:
        for i in range(n):      # it is short
            dst[i] = c' ' if src[i] == c'+' else src[i]
    if how.tables != NULL:
        return decode_encoded(dst, size, n, how.tables)
    if how.text and (size < n or how.checks):
        return make_utf8(dst, size)
    return size


cdef size_t decode_encoded(uint8_t *dst, size_t size, size_t n, const CharsetTable *tables) noexcept nogil:
    """Make bytes UTF-8 in place that may be in another encoding. They are those of n bytes; dst has 3 * n."""
    cdef uc_utf8 found
    cdef bint valid
    if kernels.scan_utf8(dst, size, &found) == size:
        return size
    memmove(dst + 2 * n, dst, size)     # as far from `dst` as charset_decode() requires
    return charset_decode(tables, dst + 2 * n, size, dst, &valid)


cdef inline int name_at(const Options *how, const uint8_t *name, size_t n) noexcept nogil:
    """Return which of the names this is; -1: none."""
    cdef int i
    for i in range(how.count):
        if how.names[i].size == n and memcmp(how.names[i].text, name, n) == 0:
            return i
    return -1


cdef inline bint find_query(const uint8_t *src, size_t n, PlusRule plus, QueryReader *reader, Spelling *spelling) noexcept nogil:
    """Set the reader of the query, and how its names and values are spelled. False: there is no query."""
    cdef size_t start = kernels.span(src, n, &BEFORE_QUERY.set)
    if start == n or src[start] == c'#':
        return False
    if plus == PLUS_BY_SCHEME:
        spelling[0] = FORM if has_form_query(src, n) else ENCODED
    else:
        spelling[0] = FORM if plus == PLUS_IS_BLANK else ENCODED
    start += 1
    reader[0] = read_query(src + start, kernels.span(src + start, n - start, &BEFORE_FRAGMENT.set))
    return True


cdef size_t query_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the value of each name: the first one, or -1 if the query lacks the name."""
    cdef const Options *how = <const Options *>options
    cdef Component *fields = <Component *>dst
    cdef size_t size = <size_t>how.count * sizeof(Component), length
    cdef int k, missing = how.count
    cdef QueryReader reader
    cdef QueryField field
    cdef Spelling spelling
    for k in range(how.count):
        fields[k].start = fields[k].end = -1
    if not find_query(src, n, how.plus, &reader, &spelling):
        return padded(size)
    while missing and next_field(&reader, &field):
        if field.size == 0:
            continue
        if kernels.span(field.text, field.name_size, &LITERALS.set) < field.name_size:
            length = decode_text(field.text, field.name_size, spelling, how, dst + size)
            k = name_at(how, dst + size, length)
        else:
            k = name_at(how, field.text, field.name_size)
        if k >= 0 and fields[k].start < 0:
            fields[k].start = <int64_t>size
            if field.name_size < field.size:
                size += decode_text(
                    field.text + field.name_size + 1, field.size - field.name_size - 1, spelling, how, dst + size
                )
            fields[k].end = <int64_t>size
            missing -= 1
    return padded(size)


cdef ByteSet BUT_QUESTION_MARK = ~ByteSet("?")


cdef bint query_block(Run *run) noexcept nogil:
    """Process the rows of a block. Most have no "?", and so no values."""
    cdef const Options *how = <const Options *>run.options
    cdef uint64_t marks[WORDS]
    cdef Block *block = run.block
    cdef Component *fields
    cdef size_t i, size = <size_t>how.count * sizeof(Component)
    cdef int k
    if run.row_of != query_row:
        return do_rows(run)
    kernels.mark_outside(block.data, block.at[block.rows], &BUT_QUESTION_MARK.set, marks)
    for i in range(block.rows):
        if next_mark(marks, block.at[i], block.at[i + 1]) < block.at[i + 1] or is_null(run.source, block.first + i):
            if not do_row(run):
                return False
            continue
        fields = <Component *>(run.out + run.written)
        for k in range(how.count):
            fields[k].start = fields[k].end = -1
        run.written += padded(size)
        run.out_at[i + 1] = <uint32_t>run.written
        run.done = i + 1
    return True


cdef inline size_t put_text(const uint8_t *src, size_t n, Spelling spelling, const Options *how, uint8_t *dst) noexcept nogil:
    """Write a text of an item, decoded, after its size."""
    cdef size_t size = decode_text(src, n, spelling, how, dst + 1)
    cdef uint64_t wide = size
    if size < LONG_TEXT:
        dst[0] = <uint8_t>size
        return 1 + size
    memmove(dst + 1 + sizeof(wide), dst + 1, size)
    dst[0] = LONG_TEXT
    memcpy(dst + 1, &wide, sizeof(wide))
    return 1 + sizeof(wide) + size


cdef size_t pairs_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the names and values of all fields that are not empty."""
    cdef const Options *how = <const Options *>options
    cdef size_t size = sizeof(uint64_t), value
    cdef uint64_t count = 0
    cdef QueryReader reader
    cdef QueryField field
    cdef Spelling spelling
    if find_query(src, n, how.plus, &reader, &spelling):
        while next_field(&reader, &field):
            if field.size:
                count += 1
                size += put_text(field.text, field.name_size, spelling, how, dst + size)
                value = min(field.name_size + 1, field.size)
                size += put_text(field.text + value, field.size - value, spelling, how, dst + size)
    memcpy(dst, &count, sizeof(count))
    return size


cdef size_t segments_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the segments of the path."""
    cdef size_t size = sizeof(uint64_t), i, end, stop
    cdef uint64_t count = 0
    cdef const uint8_t *slash
    cdef Parts parts
    find_authority(src, n, &parts)
    i = <size_t>parts.path
    end = i + kernels.span(src + i, n - i, &BEFORE_QUERY.set)
    if i < end:
        i += src[i] == c'/'
        while i <= end:
            slash = <const uint8_t *>memchr(src + i, c'/', end - i)
            stop = end if slash == NULL else <size_t>(slash - src)
            size += put_text(src + i, stop - i, ENCODED, <const Options *>options, dst + size)
            count += 1
            i = stop + 1
    memcpy(dst, &count, sizeof(count))
    return size


# --- operations -------------------------------------------------------------------------------------------------------

cdef size_t checked_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Options *how = <const Options *>options
    cdef Parts parts
    cdef size_t size = 0
    if how.inner != NULL:
        size = with_slashes(src, n, dst)
    if not read_bytes(dst if size else src, size if size else n, how.syntax, REFERENCE, &parts, outcome):
        outcome.offset -= 2 * (size > 0)
        return UC_REJECTED
    return how.read(src, n, options, dst, outcome)


# Items of n bytes take at most this many times as much, and then the number of items. A byte that is not UTF-8 becomes
# three. The sizes of the texts fit in what the separators leave: a short text has one byte for it, a long one has 9.
cdef enum:
    ITEMS_FACTOR = 4

cdef enum:
    MADE = (ITEMS_FACTOR * SMALL + BARE_EXTRA) // 16 + 3   # Components; enough for one and its text, or for items, of SMALL bytes


cdef inline object value_at(const uint8_t *made, const Component *field, bint text):
    if field.start < 0:
        return None
    if text:
        return utf8_text(made + field.start, <size_t>(field.end - field.start), NULL)
    return (<const char *>made)[field.start:field.end]


cdef object values_of(const uint8_t *src, size_t n, const Options *how, tuple names):
    """Return the value of a row, a dict of the values of several names, or a list."""
    cdef Component small[MADE]
    cdef uint8_t *made = <uint8_t *>small
    cdef uint8_t *heap = NULL
    cdef const Component *field
    cdef size_t count = 1 if names is None else <size_t>len(names)
    cdef dict values
    cdef Outcome outcome
    if n > SMALL or names is not None:
        if n > (<size_t>PY_SSIZE_T_MAX - (count + 1) * sizeof(Component)) // ITEMS_FACTOR:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        made = heap = allocate((ITEMS_FACTOR if how.texts or how.inner != NULL else 3) * n + (count + 1) * sizeof(Component)
                               + BARE_EXTRA)
    try:
        if how.read(src, n, how, made, &outcome) == UC_REJECTED:
            reraise()     # no other error is possible
        if how.texts:
            return items_of(made, how.texts, how.text)
        field = <const Component *>made
        if names is None:
            return value_at(made, field, how.text)
        values = {}
        for name in names:
            values[name] = value_at(made, field, how.text)
            field += 1
        return values
    finally:
        PyMem_RawFree(heap)


cdef str KEEP = "keep"


cdef object slashed(object text):
    """Return what the result of text_of() is after "//"; the same object: it begins with no host."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef size_t size
    cdef uint8_t *copy
    if not borrow(text, &source, buffer):
        return text     # which is rejected
    try:
        copy = allocate(source.size + 4)
        try:
            size = with_slashes(source.data, source.size, copy)
            return text_or_bytes(type(text) is str, copy, size) if size else text
        finally:
            PyMem_RawFree(copy)
    finally:
        release(&source)


cdef object value_in(object input, Options *how, tuple names, object errors):
    """Return the value in any input, under a policy."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Parts parts
    cdef Outcome outcome
    cdef object text = text_of(input)
    if errors is not KEEP and errors not in ("keep", "null", "raise"):
        raise ValueError(f"errors must be one of 'keep', 'null', 'raise', got {errors!r}")
    how.text, how.checks = type(text) is str, False
    if errors is not KEEP and errors != "keep":
        checked = text if how.inner == NULL else slashed(text)
        if not read_text(checked, &source, buffer, IRI_SYNTAX, REFERENCE, &parts, &outcome):
            if errors == "raise":
                IRI_FAULTS.raise_at(input, outcome.code, <Py_ssize_t>outcome.offset - 2 * (checked is not text))
            return None
        if checked is not text:
            release(&source)
            borrow(text, &source, buffer)
    elif not borrow(text, &source, buffer):
        text = without_surrogates(text)
        borrow(text, &source, buffer)
    try:
        return values_of(source.data, source.size, how, names)
    finally:
        release(&source)


cdef class ValueRows(RowOperation):
    """Base class of operations that read values from any text. Rows that are not IRI references are invalid."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, IriError
        self.slots.block, self.slots.result = NULL, WRITES_TEXTS
        self.slots.strict.row, self.slots.options, self.how.syntax = checked_row, &self.how, IRI_SYNTAX

    cdef int set_row(self, row_function row, bint text, bint checks, size_t values) except -1:
        # What is not UTF-8 may become three times as long. One more Component than values: padding
        self.how.read, self.how.text, self.how.checks = row, text, checks
        self.slots.keep, self.slots.strict.factor, self.slots.strict.extra = row, 3, (values + 1) * sizeof(Component)
        return 0

    cdef int set_bare(self) except -1:
        set_bare(&self.how, True)
        self.slots.keep = bare_row
        self.slots.strict.factor, self.slots.strict.extra = 4, self.slots.strict.extra + BARE_EXTRA
        return 0

    cdef object with_surrogates(self, str text, RowPolicy policy):
        cdef bytes utf8
        if policy != KEEP_ROW:
            return None
        utf8 = without_surrogates(text).encode()
        return values_of(<const uint8_t *>PyBytes_AS_STRING(utf8), <size_t>PyBytes_GET_SIZE(utf8),
                         <const Options *>self.slots.options, self.names)


# A part whose operation has no options.
cdef struct UrlPart:
    const char *name
    row_function read
    int texts                   # of each item; 0: the result is not a list

cdef UrlPart[5] PARTS = [
    UrlPart("userinfo", userinfo_row, 0),
    UrlPart("host", host_row, 0),
    UrlPart("port", port_row, 0),
    UrlPart("query_pairs", pairs_row, 2),
    UrlPart("path_segments", segments_row, 1),
]


cdef inline Charset set_reading(Options *how, object plus, object encoding):
    """Set what a "+" is, and the encoding. Return what must live as long as the options."""
    how.plus, how.tables, how.inner = PLUS_BY_SCHEME, NULL, NULL
    return None if plus is None and encoding is None else set_query_reading(how, plus, encoding)


cdef Charset set_query_reading(Options *how, object plus, object encoding):
    cdef Charset charset = charset_of(encoding)
    if plus is not None and not isinstance(plus, bool):
        raise TypeError(f"plus must be a bool or None, got {plus!r}")
    how.plus = PLUS_BY_SCHEME if plus is None else PLUS_IS_BLANK if plus else PLUS_IS_PLUS
    how.tables = NULL if charset is None else charset.tables
    return charset


@cython.final
cdef class PartRows(ValueRows):
    """Operation that returns a part of PARTS.

    Args:
        checks (bool): Whether rows may not be, although results are.
        plus, encoding, bare: See `query_pairs` and `host`.
    """
    cdef Charset charset

    def __cinit__(self, str name not None, text, checks, *, plus=None, encoding=None, bare=False):
        cdef UrlPart part
        self.charset = set_reading(&self.how, plus, encoding)
        for part in PARTS:
            if part.name == name.encode():
                if part.texts:
                    self.set_row(part.read, text, checks, 0)
                    self.how.texts, self.slots.result, self.slots.strict.factor = part.texts, WRITES_ITEMS, ITEMS_FACTOR
                else:
                    self.set_row(part.read, text, checks, 1)
                    if bare:
                        self.set_bare()
                return
        raise ValueError(f"unknown part {name!r}")


@cython.final
cdef class SplitLines(ValueRows):
    """Operation that splits lines into components, which are UTF-8. `SplitReferences` is faster where rows are.

    Args:
        kind (str): "uri": rows that are not URI references (RFC 3986) are invalid. "iri": those that are not IRI
            references (RFC 3987).

    Source: RFC 3986 section 4.1, appendix B; RFC 3987 section 2.2.
    """

    def __cinit__(self, kind):
        self.set_row(split_row, True, True, COMPONENTS)
        self.slots.strict.factor = 6        # the subcomponents of an authority are written twice
        if kind == "uri":
            self.how.syntax, self.error = URI_SYNTAX, UriSyntaxError


cdef tuple names_of(object names):
    """Return the names of query parameters as a tuple, without duplicates."""
    cdef set found = set()
    if isinstance(names, (bytes, bytearray)):
        raise TypeError(f"name must be a str or a list of them, got {names!r}")
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, got {name!r}")
        if name in found:
            raise ValueError(f"name must not repeat a name, got {name!r} twice")
        found.add(name)
    if not 0 < len(names) <= MOST_FIELDS:
        raise ValueError(f"expected 1 to {MOST_FIELDS} names, got {len(names)}")
    return names


cdef bytes bytes_of_name(str name):
    # A name with a surrogate occurs in no row: these are UTF-8 of nothing.
    return str.encode(name, "utf-8", "surrogatepass")


cdef inline QueryName query_name(bytes utf8) noexcept:
    return QueryName(<const uint8_t *>PyBytes_AS_STRING(utf8), <size_t>PyBytes_GET_SIZE(utf8), False)


@cython.final
cdef class QueryRows(ValueRows):
    """Operation that returns the values of query parameters, decoded: for each name the first one.

    Args:
        name (str | Sequence[str]): The name, or several names, whose results are several components.
        checks (bool): Whether rows may not be, although results are.
        plus, encoding: See `query_value`.

    Source: RFC 3986 section 3.4, appendix B; the URL standard's application/x-www-form-urlencoded.
    """
    cdef QueryName spelled[MOST_FIELDS]
    cdef list held
    cdef Charset charset

    def __cinit__(self, name, text, checks, *, plus=None, encoding=None):
        cdef tuple names = (name,)
        self.charset = set_reading(&self.how, plus, encoding)
        if not isinstance(name, str):
            names = self.names = names_of(name)
        self.held = []
        for each in names:
            utf8 = bytes_of_name(each)
            self.held.append(utf8)
            self.spelled[self.how.count] = query_name(utf8)
            self.how.count += 1
        self.how.names = self.spelled
        self.set_row(query_row, text, checks, <size_t>len(names))
        self.slots.block = query_block


# --- single values ----------------------------------------------------------------------------------------------------

__all__ = [
    "host", "path_segments", "port", "query_pairs", "query_value", "userinfo",
]


cdef inline object read_part(object uri, row_function read, int texts, Options *how, object errors):
    """Return what a row function reads by the rules of columns without options."""
    how.read, how.texts = read, texts
    how.plus, how.tables, how.inner = PLUS_BY_SCHEME, NULL, NULL
    return value_in(uri, how, None, errors)


cdef object part_of(object uri, row_function read, int texts, object errors):
    cdef Options how
    return read_part(uri, read, texts, &how, errors)


def userinfo(uri, *, errors="keep"):
    """Return the userinfo of a URL, as it is spelled.

    Args:
        uri (str | bytes-like): Any text. It is split as in `host`.
        errors (str): See `host`.

    Returns:
        str | bytes | None: What precedes the last "@" of the authority; it may be empty. None if there is no "@".

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ValueError: If `errors` is unknown.

    Source: RFC 3986 section 3.2.1, appendix B.

    >>> from uricodec import uri
    >>> uri.userinfo("https://me:pw%40@example.org/"), uri.userinfo("//@h"), uri.userinfo("mailto:me@example.org")
    ('me:pw%40', '', None)
    """
    return part_of(uri, userinfo_row, 0, errors)


def host(uri, *, bare=False, errors="keep"):
    """Return the host of a URL, as it is spelled.

    Args:
        uri (str | bytes-like): Any text. It is split as RFC 3986 appendix B does; the host is what follows the last "@"
            of the authority, up to the first ":", or up to the "]" if it begins with "[".
        bare (bool): Whether text without a scheme and "//" begins with an authority: "www.example.org",
            "example.org:80/a", "me@example.org", "[::1]:80", and "::1", whose host is "[::1]". What begins with "/", "?"
            or "#" has none, and text before a ":" is a scheme, unless it is "localhost" or has a dot, and digits follow.
        errors (str): How text that is not an IRI reference is handled: "keep" (return what it has, with U+FFFD for lone
            surrogates), "null" (return None) or "raise".

    Returns:
        str | bytes | None: The host, with the brackets of an address; it may be empty. None without an authority.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ValueError: If `errors` is unknown.

    Source: RFC 3986 section 3.2.2, appendix B.

    >>> from uricodec import uri
    >>> uri.host("https://me@Example.org:8042/over/there"), uri.host("http://[::1]:80"), uri.host("file:///etc")
    ('Example.org', '[::1]', '')
    >>> uri.host("http://exa mple.org/{id}"), uri.host("mailto:a@example.org")
    ('exa mple.org', None)
    >>> uri.host("www.example.org:80/a", bare=True), uri.host("https://example.org", bare=True), uri.host("/a", bare=True)
    ('www.example.org', 'example.org', None)
    """
    cdef Options how
    how.read, how.texts = host_row, 0
    set_bare(&how, bare)
    return value_in(uri, &how, None, errors)


def port(uri, *, errors="keep"):
    """Return the port of a URL, as it is spelled.

    Args:
        uri (str | bytes-like): Any text. It is split as in `host`.
        errors (str): See `host`.

    Returns:
        str | bytes | None: The text after the ":" that follows the host; it may be empty. None if there is no ":".

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ValueError: If `errors` is unknown.

    Source: RFC 3986 section 3.2.3, appendix B.

    >>> from uricodec import uri
    >>> uri.port("https://example.org:8042/"), uri.port("http://[::1]:"), uri.port("https://example.org/")
    ('8042', '', None)
    """
    return part_of(uri, port_row, 0, errors)


def query_value(uri, name, *, plus=None, encoding=None, errors="keep"):
    """Return the value of a query parameter: the first one of that name, decoded.

    Names and values are decoded, and U+FFFD replaces what is not UTF-8. As in urllib.parse.parse_qsl, "+" is a space in
    http, https, ws and wss, and without a scheme; in other schemes, such as mailto, it is a plus sign.

    Args:
        uri (str | bytes-like): Any text. It is split as RFC 3986 appendix B does.
        name (str | Sequence[str]): The decoded name, or several different ones.
        plus (bool | None): Whether "+" is a space; None: by the scheme, as above.
        encoding (str | None): The encoding of names and values that are not UTF-8: latin-1, cp1251, shift_jis, gbk, or
            another superset of ASCII with at most three bytes a character. For bytes, the result is their UTF-8.
        errors (str): See `host`.

    Returns:
        str | bytes | dict | None: The value; "" if it is blank, None if the query lacks the name. For several names, a
            dict of their values. For bytes, the decoded bytes, which need not be UTF-8.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        TypeError: If a name is not a str.
        ValueError: If `errors` or the encoding is unknown, if a name is repeated, or if there are not 1 to 32 names.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing; RFC 6068 section 5.

    >>> from uricodec import uri
    >>> url = "https://example.org/search?q=caf%C3%A9+au+lait&page=2&page=3&safe"
    >>> uri.query_value(url, "q"), uri.query_value(url, "page"), uri.query_value(url, "safe"), uri.query_value(url, "x")
    ('café au lait', '2', '', None)
    >>> uri.query_value(url, ["page", "x"])
    {'page': '2', 'x': None}
    >>> uri.query_value("mailto:a@example.org?subject=1+1", "subject"), uri.query_value("/?tel=+1", "tel", plus=False)
    ('1+1', '+1')
    >>> uri.query_value("/?q=%CF%F0%E8", "q", encoding="cp1251")
    'При'
    """
    cdef Charset _charset
    cdef Options how
    cdef QueryName spelled
    cdef bytes utf8
    cdef QueryRows several
    if not isinstance(name, str):
        several = QueryRows(name, True, False, plus=plus, encoding=encoding)
        return value_in(uri, &several.how, several.names, errors)
    utf8 = bytes_of_name(name)
    spelled = query_name(utf8)
    how.read, how.texts, how.names, how.count = query_row, 0, &spelled, 1
    _charset = set_reading(&how, plus, encoding)      # which lives until the end
    return value_in(uri, &how, None, errors)


def query_pairs(uri, *, plus=None, encoding=None, errors="keep"):
    """Return the names and values of all query parameters, decoded.

    They are those of urllib.parse.parse_qsl with keep_blank_values=True: a blank value is "", and U+FFFD replaces what
    is not UTF-8. "+" is a space as in `query_value`.

    Args:
        uri (str | bytes-like): Any text. It is split as RFC 3986 appendix B does.
        plus (bool | None): Whether "+" is a space; None: by the scheme.
        encoding (str | None): The encoding of names and values that are not UTF-8, as in `query_value`.
        errors (str): See `host`.

    Returns:
        list[tuple[str, str]] | list[tuple[bytes, bytes]] | None: The pairs in their order; empty without a query. For
            bytes, the decoded bytes, which need not be UTF-8. None with errors="null" for text that is not an IRI
            reference.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ValueError: If `errors` is unknown.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.

    >>> from uricodec import uri
    >>> uri.query_pairs("https://example.org/search?q=caf%C3%A9+au+lait&page=2&page=3&safe")
    [('q', 'café au lait'), ('page', '2'), ('page', '3'), ('safe', '')]
    >>> uri.query_pairs("https://example.org/")
    []
    """
    cdef Charset _charset
    cdef Options how
    how.read, how.texts = pairs_row, 2
    _charset = set_reading(&how, plus, encoding)      # which lives until the end
    return value_in(uri, &how, None, errors)


def path_segments(uri, *, errors="keep"):
    """Return the segments of the path, decoded.

    Each "/" begins a segment, so that "/" at the end begins an empty one. The path is split before it is decoded: a
    "%2F" becomes a "/" in a segment. "+" stays as it is, and U+FFFD replaces what is not UTF-8.

    Args:
        uri (str | bytes-like): Any text. It is split as RFC 3986 appendix B does.
        errors (str): See `host`.

    Returns:
        list[str] | list[bytes] | None: The segments; [] if the path is empty. The "/" at the start of the path is not
            one of them: "/a" and "a" have the same segments. For bytes, the decoded bytes, which need not be UTF-8. None
            with errors="null" for text that is not an IRI reference.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ValueError: If `errors` is unknown.

    Source: RFC 3986 section 3.3, appendix B.

    >>> from uricodec import uri
    >>> uri.path_segments("https://example.org/caf%C3%A9/a%2Fb/?q")
    ['café', 'a/b', '']
    >>> uri.path_segments("https://example.org"), uri.path_segments("https://example.org/")
    ([], [''])
    """
    return part_of(uri, segments_row, 1, errors)


# Fast path: most calls are query_value(text, name) and query_pairs(text). Arguments that have defaults take time to parse.
cdef vectorcall parse_query_value, parse_query_pairs


cdef object call_query_value(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef Options how
    cdef QueryName spelled
    cdef bytes utf8
    if PyVectorcall_NARGS(flags) != 2 or names != NULL or type(<object>args[1]) is not str:
        return parse_query_value(function, args, flags, names)
    utf8 = bytes_of_name(<str>args[1])
    spelled = query_name(utf8)
    how.names, how.count = &spelled, 1
    return read_part(<object>args[0], query_row, 0, &how, KEEP)


cdef object call_query_pairs(object function, PyObject *const *args, size_t flags, PyObject *names):
    if PyVectorcall_NARGS(flags) != 1 or names != NULL:
        return parse_query_pairs(function, args, flags, names)
    return part_of(<object>args[0], pairs_row, 2, KEEP)


parse_query_value = take_calls(query_value, call_query_value)
parse_query_pairs = take_calls(query_pairs, call_query_pairs)
# Functions are pickled by reference: the reference must be their public name.
for name in __all__:
    globals()[name].__module__ = "uricodec.uri"
del name
