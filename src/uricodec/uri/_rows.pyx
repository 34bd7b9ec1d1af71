"""Operations on rows of URIs and IRIs, and the row functions for what concerns components.

Each class takes the options of one operation and keeps them where its row function finds them. A row is bytes, of any
kind: for an IRI they should be UTF-8 (RFC 3629), and what is not is rejected.
"""
cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit
from uricodec._base._text cimport copy_text
from uricodec._records._quoting cimport starts_formula
from uricodec._rows._engine cimport BLOCK, Component
from uricodec._rows._operation cimport *
from uricodec.iri._normalize cimport IRI_TO_URI_ROW, LENIENT_MAPPING, STRICT_MAPPING, URI_TO_IRI_ROW
from uricodec.uri._components cimport CODE_NAMES, REASONS, production_of
from uricodec.uri._equivalence cimport level_of
from uricodec.uri._grammar cimport *
from uricodec.uri._normalize cimport AT_CASE, AT_PATH, FORMS, NORMALIZE_ROWS
from uricodec.uri._resolve cimport Base, find_base, resolve_rows

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.ref cimport PyObject

from uricodec.errors import IriError, UriSyntaxError
from uricodec.iri._conversion import iri_to_uri, uri_to_iri
from uricodec.uri._components import Fault


# --- rows that are in normal form already -----------------------------------------------------------------------------

# Lines of URIs that are in normal form already, found by what stands beside each other in them, without taking them apart.
#
# Up to level "path" (RFC 3986 section 6.2.2) a reference can only change where it has one of these:
#
#     %       unless two digits follow, of a byte that is not unreserved
#     .       after a "/": perhaps a dot segment
#     A-Z     in the scheme or the authority, so before the third of the characters "/", "?" and "#": no scheme has one of
#             them, an authority begins after the first two, and ends before the third
#
# and, but for an authority that is malformed, where a triplet has a digit in lower case, which a kernel does in passing.
# Kernels find all of them. Words of bits tell most triplets, and the digits in them; what is left is looked at.

cdef enum:
    BLOCK_WORDS = BLOCK // 64 + 1     # at most, of a call

cdef ByteSet NO_PERCENT = ~ByteSet("%")
cdef ByteSet NO_DOT = ~ByteSet(".")
cdef ByteSet NO_SLASH = ~ByteSet("/")
cdef ByteSet NO_DELIMITER = ~ByteSet("/?#")
cdef ByteSet NO_UPPER = ~ByteSet(range(0x41, 0x5B))
cdef ByteSet DIGITS = ByteSet("0123456789ABCDEFabcdef")
cdef ByteSet NO_LOWER = ~ByteSet("abcdef")
# First digits of bytes none of which is unreserved.
cdef ByteSet FIRST_DIGITS = DIGITS - "234567"

cdef uint8_t VALUES[256]
cdef int octet
for octet in range(256):
    VALUES[octet] = int(chr(octet), 16) if DIGITS.set.member[octet] else 0xFF


cdef inline bint may_stay(const uint8_t *triplet) noexcept nogil:
    """Whether the digits after a "%" are those of a byte that is not unreserved."""
    return VALUES[triplet[1]] < 16 and VALUES[triplet[2]] < 16 and \
        not UNRESERVED.set.member[VALUES[triplet[1]] << 4 | VALUES[triplet[2]]]


cdef inline uint64_t ahead(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Bit i of a word: whether bit i + by is set. There is a word after the last one."""
    return words[w] >> by | words[w + 1] << (64 - by)


cdef inline uint64_t behind(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Bit i of a word: whether bit i - by is set."""
    return words[w] << by | (words[w - 1] >> (64 - by) if w else 0)


cdef void settle_triplets(const uint8_t *src, size_t n, uint64_t *percent, uint64_t *letters) noexcept nogil:
    """Take out what is a triplet that stays, and the letters in it; of those that get other digits, leave the first."""
    cdef uint64_t others[BLOCK_WORDS + 1]     # no digits
    cdef uint64_t low[BLOCK_WORDS + 1]        # no first digits
    cdef uint64_t lower[BLOCK_WORDS + 1]      # digits in lower case
    cdef uint64_t triplets[BLOCK_WORDS]
    cdef uint64_t changing[BLOCK_WORDS]
    cdef size_t words = (n + 63) // 64, w
    kernels.mark_outside(src, n, &DIGITS.set, others)
    kernels.mark_outside(src, n, &FIRST_DIGITS.set, low)
    kernels.mark_outside(src, n, &NO_LOWER.set, lower)
    # Behind the end there is no digit.
    lower[words] = 0
    others[words] = low[words] = ~<uint64_t>0
    if n & 63:
        others[words - 1] |= ~<uint64_t>0 << (n & 63)
        low[words - 1] |= ~<uint64_t>0 << (n & 63)
    for w in range(words):
        triplets[w] = percent[w] & ~(ahead(low, w, 1) | ahead(others, w, 2))
        letters[w] &= ~(behind(triplets, w, 1) | behind(triplets, w, 2))
        changing[w] = triplets[w] & (ahead(lower, w, 1) | ahead(lower, w, 2))
        percent[w] = percent[w] & ~triplets[w] | changing[w] & ~behind(changing, w, 3)


cdef inline size_t third(const uint64_t *delimiters, size_t start, size_t stop) noexcept nogil:
    """Where the third delimiter of a row is, before which an authority ends; `stop` or more if there is none."""
    cdef size_t w = start >> 6
    cdef uint64_t word = delimiters[w] & ~<uint64_t>0 << (start & 63)
    cdef int i
    for i in range(3):
        if i:
            word &= word - 1
        while word == 0:
            w += 1
            if 64 * w >= stop:
                return stop
            word = delimiters[w]
    return 64 * w + <size_t>uc_lowest_bit(word)


cdef inline uint64_t below(size_t w, size_t i) noexcept nogil:
    """The bits of word w that stand for bytes before i."""
    if i >= 64 * (w + 1):
        return ~<uint64_t>0
    return (<uint64_t>1 << (i & 63)) - 1 if i > 64 * w else 0


cdef inline void mark_percent(const uint8_t *src, size_t end, uint64_t *percent, uint64_t *marks) noexcept nogil:
    """Mark a "%" that is one of the last two bytes before a row's end: no triplet has bytes of two rows."""
    cdef size_t i
    for i in range(end - min(end, <size_t>2), end):
        if src[i] == c'%':
            marks[i >> 6] |= <uint64_t>1 << (i & 63)
            percent[i >> 6] &= ~(<uint64_t>1 << (i & 63))


cdef void mark_changes(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil:
    cdef uint64_t percent[BLOCK_WORDS]
    cdef uint64_t letters[BLOCK_WORDS]
    cdef uint64_t slashes[BLOCK_WORDS]
    cdef uint64_t delimiters[BLOCK_WORDS]
    cdef uint64_t word, bit, skipped, any_percent = 0
    cdef size_t words = (n + 63) // 64, w, i, number = 0, triplet_end = 0
    cdef size_t after = 0       # letters before that are after an authority: they stay
    cdef size_t authority_end = 0, ended = rows      # of which row
    kernels.mark_outside(src, n, &NO_PERCENT.set, percent)
    kernels.mark_outside(src, n, &NO_UPPER.set, letters)
    kernels.mark_outside(src, n, &NO_DOT.set, marks)
    kernels.mark_outside(src, n, &NO_SLASH.set, slashes)
    kernels.mark_outside(src, n, &NO_DELIMITER.set, delimiters)
    for w in range(words):
        any_percent |= percent[w]
        marks[w] &= behind(slashes, w, 1)
    if any_percent:
        for i in range(1, rows):
            mark_percent(src, at[i], percent, marks)
        settle_triplets(src, n, percent, letters)
    for w in range(words):
        letters[w] &= ~below(w, after)
        word = percent[w] | letters[w]
        while word:
            bit = word & (~word + 1)
            i = 64 * w + <size_t>uc_lowest_bit(word)
            word ^= bit
            while at[number + 1] <= i:
                number += 1
            if percent[w] & bit and (n - i < 3 or not may_stay(src + i)):
                marks[w] |= bit
                continue
            if percent[w] & bit:
                triplet_end = i + 3
            elif i < triplet_end:
                continue
            # A letter changes in an authority, and so do the digits of a triplet: it may be malformed.
            if letters[w] & bit or src[i + 1] > c'F' or src[i + 2] > c'F':
                if ended != number:
                    authority_end, ended = third(delimiters, at[number], at[number + 1]), number
                if i <= authority_end:
                    marks[w] |= bit
                else:
                    after = at[number + 1]
                    skipped = letters[w] & below(w, after)
                    letters[w] ^= skipped
                    word &= ~skipped


# --- one row: checked, or split into components -----------------------------------------------------------------------

# The operations on rows of URIs and IRIs, whose options are a Grammar.
cdef struct Grammar:
    Syntax syntax
    Production production

cdef Operation CHECK_ROW            # writes nothing
cdef Operation SPLIT_ROW            # writes components
cdef Operation SPLIT_JSONL_ROW
cdef Operation SPLIT_CSV_ROW
cdef Operation SPLIT_SAFE_CSV_ROW   # with an apostrophe before what a spreadsheet may take for a formula

COLUMNS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
cdef enum:
    FIELDS = 8

# What stands before the value of each column in a JSON object.
cdef list KEYS = [f'{"," if i else "{"}"{name}":'.encode() for i, name in enumerate(COLUMNS)]
cdef bytes NULL_MEMBERS = "".join(["{", *[f'"{name}":null,' for name in COLUMNS]]).encode()
cdef const uint8_t *key[FIELDS]
cdef size_t key_size[FIELDS]
cdef int number
for number in range(FIELDS):
    key[number], key_size[number] = <const uint8_t *>PyBytes_AS_STRING(KEYS[number]), <size_t>len(KEYS[number])

cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Grammar *grammar = <const Grammar *>options
    cdef Parts parts
    return 0 if read_octets(src, n, grammar.syntax, grammar.production, &parts, outcome) else UC_REJECTED


cdef inline void set_field(Component *field, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    field.start, field.end = start, end


cdef bint read_fields(const uint8_t *src, size_t n, const Grammar *grammar, Component *fields,
                      Outcome *outcome) noexcept nogil:
    cdef Parts parts
    cdef Authority authority
    if not read_octets(src, n, grammar.syntax, grammar.production, &parts, outcome):
        return False
    authority.userinfo_end = authority.host = authority.host_end = authority.port = -1
    if parts.authority >= 0:
        find_authority(src, parts.authority, parts.path, &authority)
    set_field(fields, 0 if parts.scheme_end >= 0 else -1, parts.scheme_end)
    set_field(fields + 1, parts.authority, parts.path)
    set_field(fields + 2, parts.authority if authority.userinfo_end >= 0 else -1, authority.userinfo_end)
    set_field(fields + 3, authority.host, authority.host_end)
    set_field(fields + 4, authority.port, parts.path)
    set_field(fields + 5, parts.path, parts.path_end)
    set_field(fields + 6, parts.query, parts.query_end)
    set_field(fields + 7, parts.fragment, parts.end)
    return True


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    if not read_fields(src, n, <const Grammar *>options, <Component *>dst, outcome):
        return UC_REJECTED
    return FIELDS * sizeof(Component)


cdef inline uint8_t *put(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    copy_text(dst, src, n)
    return dst + n


cdef uint8_t *put_quoted(uint8_t *dst, const uint8_t *src, const Component *field) noexcept nogil:
    # No URI and no IRI has a quote, a backslash or a control: there is nothing to escape, in JSON as in CSV.
    dst[0] = c'"'
    dst = put(dst + 1, src + field.start, <size_t>(field.end - field.start))
    dst[0] = c'"'
    return dst + 1


cdef size_t jsonl_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """A JSON object; null is what is undefined."""
    cdef Component fields[FIELDS]
    cdef uint8_t *start = dst
    cdef int i
    if not read_fields(src, n, <const Grammar *>options, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        dst = put(dst, key[i], key_size[i])
        if fields[i].start < 0:
            dst = put(dst, <const uint8_t *>b"null", 4)
        else:
            dst = put_quoted(dst, src, fields + i)
    dst[0] = c'}'
    return <size_t>(dst + 1 - start)


cdef uint8_t *put_safe(uint8_t *dst, const uint8_t *src, const Component *field) noexcept nogil:
    cdef uint8_t *end
    if not starts_formula(src + field.start, <size_t>(field.end - field.start)):
        return put_quoted(dst, src, field)
    end = put_quoted(dst + 1, src, field)
    dst[0], dst[1] = c'"', c"'"
    return end


cdef inline size_t put_csv(const uint8_t *src, size_t n, const void *options, bint safe, uint8_t *dst,
                           Outcome *outcome) noexcept nogil:
    """Values with commas between them (RFC 4180): nothing for what is undefined, quotes around all others."""
    cdef Component fields[FIELDS]
    cdef uint8_t *start = dst
    cdef int i
    if not read_fields(src, n, <const Grammar *>options, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        if i:
            dst[0] = c','
            dst += 1
        if fields[i].start >= 0:
            dst = put_safe(dst, src, fields + i) if safe else put_quoted(dst, src, fields + i)
    return <size_t>(dst - start)


cdef size_t csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return put_csv(src, n, options, False, dst, outcome)


cdef size_t safe_csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                         Outcome *outcome) noexcept nogil:
    return put_csv(src, n, options, True, dst, outcome)


# What is in an authority is written twice.
CHECK_ROW.row, CHECK_ROW.factor, CHECK_ROW.extra = check_row, 0, 0
SPLIT_ROW.row, SPLIT_ROW.factor, SPLIT_ROW.extra = split_row, 0, FIELDS * sizeof(Component)
SPLIT_JSONL_ROW.row, SPLIT_JSONL_ROW.factor, SPLIT_JSONL_ROW.extra = jsonl_row, 2, sum(map(len, KEYS)) + 4 * FIELDS + 1
SPLIT_CSV_ROW.row, SPLIT_CSV_ROW.factor, SPLIT_CSV_ROW.extra = csv_row, 2, 3 * FIELDS - 1
SPLIT_SAFE_CSV_ROW.row, SPLIT_SAFE_CSV_ROW.factor, SPLIT_SAFE_CSV_ROW.extra = safe_csv_row, 2, 4 * FIELDS - 1


def run_row(name, src, dst, production, iri=False):
    """Run one row on buffers. For tests: everything else has rows in loops.

    Args:
        name (str): "check", "jsonl", "csv" or "safe csv".
        src (bytes-like): The input.
        dst (bytes-like): A writable buffer for the output.
        production (str): See `check` or, for an IRI, `check_iri`.
        iri (bool): Whether it is an IRI.

    Returns:
        int | Fault: How many bytes were written, or why none.

    Raises:
        ValueError: dst is too small; there is no such row or production.

    >>> buffer = bytearray(100)
    >>> bytes(buffer[:run_row("csv", b"http://a@b?", buffer, "URI")])
    b'"http","a@b","a","b",,"","",'
    """
    cdef dict rows = {"check": 0, "jsonl": 1, "csv": 2, "safe csv": 3}
    cdef Operation[4] operations = [CHECK_ROW, SPLIT_JSONL_ROW, SPLIT_CSV_ROW, SPLIT_SAFE_CSV_ROW]
    cdef Operation *operation
    cdef Py_buffer source, target
    cdef Grammar grammar
    cdef Outcome outcome
    cdef size_t written, needed
    if name not in rows:
        raise ValueError(f"unknown row {name!r}; choose from {', '.join(rows)}")
    operation = operations + <int>rows[name]
    grammar.syntax = IRI_SYNTAX if iri else URI_SYNTAX
    grammar.production = <Production>production_of(production, grammar.syntax)
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            needed = operation.factor * <size_t>source.len + operation.extra
            if <size_t>target.len < needed:
                raise ValueError(f"dst must have at least {needed} bytes, got {target.len}")
            with nogil:
                written = operation.row(<const uint8_t *>source.buf, <size_t>source.len, &grammar,
                                        <uint8_t *>target.buf, &outcome)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    if written == UC_REJECTED:
        return Fault(CODE_NAMES[outcome.code], <Py_ssize_t>outcome.offset)
    return <Py_ssize_t>written


# --- operations -------------------------------------------------------------------------------------------------------

cdef int set_grammar(Grammar *grammar, object kind, object production) except -1:
    """Find a grammar by its names; without a production, that of all references."""
    if kind not in ("uri", "iri"):
        raise ValueError(f"unknown kind {kind!r}; choose from uri, iri")
    grammar.syntax = URI_SYNTAX if kind == "uri" else IRI_SYNTAX
    grammar.production = REFERENCE if production is None else <Production>production_of(production, grammar.syntax)
    return 0


cdef class UriRows(RowOperation):
    """An operation on rows of URIs or IRIs, with the codes of these. This one copies."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.slots.block = NULL


# --- checking -----------------------------------------------------------------------------------------------------------

@cython.final
cdef class CheckRows(UriRows):
    """Reject what does not match a production, and write nothing.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
        production (str): "URI-reference", "URI", "absolute-URI" or "relative-ref"; of IRIs "IRI-reference", "IRI",
            "absolute-IRI" or "irelative-ref".

    Raises:
        ValueError: There is no such kind or production.

    Source: RFC 3986 section 4; RFC 3987 section 2.2.
    """
    cdef Grammar grammar

    def __cinit__(self, kind, production):
        set_grammar(&self.grammar, kind, production)
        self.slots.strict, self.slots.options, self.slots.result = CHECK_ROW, &self.grammar, WRITES_NOTHING
        self.error = IriError if kind == "iri" else UriSyntaxError


cdef struct Checked:
    Grammar grammar
    row_function row
    const void *options


cdef size_t checked_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Checked *checked = <const Checked *>options
    if CHECK_ROW.row(src, n, &checked.grammar, dst, outcome) == UC_REJECTED:
        return UC_REJECTED
    return checked.row(src, n, checked.options, dst, outcome)


@cython.final
cdef class CheckedRows(UriRows):
    """Reject what does not match a production; do with the others what another operation does.

    Args:
        kind (str): See CheckRows.
        production (str): See CheckRows.
        rows (UriRows): The other operation, none of records.

    Raises:
        ValueError: There is no such kind or production.
    """
    cdef Checked checked
    cdef UriRows rows

    def __cinit__(self, kind, production, UriRows rows not None):
        self.rows = rows
        set_grammar(&self.checked.grammar, kind, production)
        self.checked.row, self.checked.options = rows.slots.strict.row, rows.slots.options
        self.error = IriError if kind == "iri" else UriSyntaxError
        self.slots.strict, self.slots.options = rows.slots.strict, &self.checked
        self.slots.strict.row, self.slots.utf8_code = checked_row, rows.slots.utf8_code


cdef size_t scheme_row(const uint8_t *src, size_t n, const void *_options, uint8_t *dst, Outcome *_refusal) noexcept nogil:
    cdef Parts parts
    cdef Py_ssize_t i
    find_parts(src, n, &parts)
    for i in range(parts.scheme_end):
        dst[i] = src[i] | 0x20 if c'A' <= src[i] <= c'Z' else src[i]
    return <size_t>max(parts.scheme_end, 0)


@cython.final
cdef class SchemeRows(UriRows):
    """Leave the scheme, in lower case, and nothing if there is none."""

    def __cinit__(self):
        self.slots.strict.row = scheme_row


# --- splitting ----------------------------------------------------------------------------------------------------------

cdef struct Records:
    Grammar grammar             # first: what the row functions above get
    const char *heads[CODES + FRAME_CODES]  # by code: the record of a row that is rejected, up to its offset
    size_t sizes[CODES + FRAME_CODES]
    bint json                   # there is a "}" after that
    row_function row            # of the components


cdef size_t write_record(const Outcome *outcome, const void *options, uint8_t *dst) noexcept nogil:
    cdef const Records *records = <const Records *>options
    cdef uint8_t digits[20]
    cdef size_t offset = outcome.offset, size = records.sizes[outcome.code], i = 20
    memcpy(dst, records.heads[outcome.code], size)
    while True:
        i -= 1
        digits[i] = <uint8_t>(c'0' + offset % 10)
        offset //= 10
        if offset == 0:
            break
    memcpy(dst + size, digits + i, 20 - i)
    size += 20 - i
    if records.json:
        dst[size] = c'}'
    return size + records.json


cdef size_t report_csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """With a column for an error, and one for its offset."""
    cdef size_t size = (<const Records *>options).row(src, n, options, dst, outcome)
    if size != UC_REJECTED:
        dst[size] = dst[size + 1] = c','
        size += 2
    return size


@cython.final
cdef class SplitRows(UriRows):
    """Make each row a record of its components: scheme, authority ... An undefined one is no empty one.

    A row that is rejected becomes a record in which all of them are undefined, and `error` and `offset` are not.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
        form (str): "jsonl" (RFC 8259) or "csv" (RFC 4180; an undefined component is nothing, an empty one "").
        csv_safe (bool): Whether an apostrophe is put before each cell of CSV that a spreadsheet may take for a formula.

    Raises:
        ValueError: There is no such kind or form.

    Attributes:
        header (bytes): The first line of CSV; nothing for JSON.
    """
    cdef Records records
    cdef readonly bytes header
    cdef bint json
    cdef list heads

    def __cinit__(self, kind, form, csv_safe=False):
        if form not in ("jsonl", "csv"):
            raise ValueError(f"unknown form {form!r}; choose from jsonl, csv")
        self.json = form == "jsonl"
        self.header = b"" if self.json else ",".join([*COLUMNS, "error", "offset"]).encode() + b"\n"
        set_grammar(&self.records.grammar, kind, None)
        self.records.json = self.json
        self.heads = []
        for i, name in enumerate([*CODE_NAMES, *FRAME_NAMES]):
            head = self.head(name)
            self.heads.append(head)
            self.records.heads[i], self.records.sizes[i] = <bytes>head, len(head)
        self.slots.strict = SPLIT_JSONL_ROW if self.json else SPLIT_SAFE_CSV_ROW if csv_safe else SPLIT_CSV_ROW
        self.records.row = self.slots.strict.row
        if not self.json:
            self.slots.strict.row = report_csv_row
        self.slots.strict.extra = max(self.slots.strict.extra + 2, <size_t>max(map(len, self.heads)) + 21)
        self.slots.options, self.slots.rejected = &self.records, write_record
        self.error = IriError if kind == "iri" else UriSyntaxError

    cdef bytes head(self, code):
        if self.json:
            return NULL_MEMBERS + f'"error":"{code}","offset":'.encode()
        return f"{len(COLUMNS) * ','}{code},".encode()

    def record(self, code, offset):
        """The record of a row that is rejected.

        Args:
            code (str): Why.
            offset (int): Where, in octets.

        Returns:
            bytes: A line without its end.

        >>> SplitRows("uri", "csv").record("too-long", 100)
        b',,,,,,,,too-long,100'
        """
        return self.head(code) + str(offset).encode() + (b"}" if self.json else b"")


@cython.final
cdef class SplitReferences(UriRows):
    """Take URI-references apart: strictly, as `uricodec.uri.split` does.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.

    Raises:
        ValueError: There is no such kind.

    Source: RFC 3986 section 4.1; RFC 3987 section 2.2.
    """
    cdef Grammar grammar

    def __cinit__(self, kind):
        set_grammar(&self.grammar, kind, None)
        self.slots.strict, self.slots.options, self.slots.result = SPLIT_ROW, &self.grammar, WRITES_COMPONENTS
        self.error = IriError if kind == "iri" else UriSyntaxError


# --- normal forms and references ----------------------------------------------------------------------------------------

@cython.final
cdef class NormalizeRows(UriRows):
    """Bring URIs and IRIs into normal form.

    Args:
        level (str): See `normalize`.

    Raises:
        ValueError: There is no such level.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.
    """

    def __cinit__(self, level="path"):
        cdef int at = level_of(level)
        self.slots.strict, self.slots.options = NORMALIZE_ROWS[at], &FORMS[at]
        self.slots.utf8_code = UTF8
        if AT_CASE <= at <= AT_PATH:
            self.slots.changes = mark_changes


@cython.final
cdef class ResolveRows(UriRows):
    """Resolve references against a base.

    Args:
        base (bytes): The URI or IRI.

    Raises:
        UriSyntaxError: It has no scheme.

    Source: RFC 3986 section 5.2.
    """
    cdef bytes octets
    cdef Base base

    def __cinit__(self, bytes base not None):
        self.octets = base
        if not find_base(<const uint8_t *>PyBytes_AS_STRING(base), <size_t>len(base), True, &self.base):
            raise UriSyntaxError("base URI has no scheme", base, 0)
        self.slots.strict, self.slots.options = resolve_rows(&self.base), &self.base
        self.slots.utf8_code = UTF8


# --- IRIs to URIs and back ----------------------------------------------------------------------------------------------

# A host takes Python only if it has to: in rows that have something in it which may become something else.
cdef struct Hosts:
    row_function row        # for all others
    const void *options
    PyObject *function      # of bytes
    size_t factor

cdef enum:
    HOST_ROOM = 1024

# RFC 3986 section 3.2, without triplets.
cdef ByteSet IN_AUTHORITY = UNRESERVED | "!$&'()*+,;=" | ":@[]"


cdef bint has_special_host(const uint8_t *s, size_t n) noexcept nogil:
    """Whether there are A-labels in the authority, or bytes that may become something else, or be rejected."""
    cdef Parts parts
    cdef Py_ssize_t i
    find_parts(s, n, &parts)
    if parts.authority >= 0:
        for i in range(parts.authority, parts.path):
            if not IN_AUTHORITY.set.member[s[i]] or s[i] == c'-' and i + 1 < parts.path and s[i + 1] == c'-':
                return True
    return False


cdef size_t copy_result(const uint8_t *src, size_t n, const Hosts *hosts, uint8_t *dst,
                        Outcome *outcome) except? UC_REJECTED:
    result = (<object>hosts.function)(PyBytes_FromStringAndSize(<const char *>src, <Py_ssize_t>n))
    if isinstance(result, IriError):
        outcome.offset = <size_t>result.position
        outcome.code = REASONS.index(result.reason) if result.reason in REASONS else HOST
        return UC_REJECTED
    if <size_t>len(<bytes?>result) > hosts.factor * n + HOST_ROOM:
        outcome.code, outcome.offset = HOST, 0
        return UC_REJECTED
    memcpy(dst, PyBytes_AS_STRING(result), <size_t>len(<bytes>result))
    return <size_t>len(<bytes>result)


# copy_result() for a caller that hands the exception on (see CONTRIBUTING.md, "Cython 3.3").
ctypedef size_t (*unchecked_result)(const uint8_t *, size_t, const Hosts *, uint8_t *, Outcome *) noexcept


cdef size_t call_function(const uint8_t *src, size_t n, const Hosts *hosts, uint8_t *dst, Outcome *outcome) noexcept with gil:
    outcome.code = UC_RAISED
    return (<unchecked_result>copy_result)(src, n, hosts, dst, outcome)


cdef size_t hosts_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Hosts *hosts = <const Hosts *>options
    if has_special_host(src, n):
        return call_function(src, n, hosts, dst, outcome)
    return hosts.row(src, n, hosts.options, dst, outcome)


cdef class HostsRows(UriRows):
    """What both ways have."""
    cdef Hosts hosts
    cdef object function

    cdef int convert_hosts(self, object function) except -1:
        """From now on."""
        from uricodec.iri._hosts import returning_errors
        function = self.function = returning_errors(function)
        self.slots.strict.factor = max(self.slots.strict.factor, <size_t>4)
        self.slots.strict.extra += HOST_ROOM
        self.hosts = Hosts(self.slots.strict.row, self.slots.options, <PyObject *>function, self.slots.strict.factor)
        self.slots.strict.row, self.slots.options = hosts_row, &self.hosts
        return 0


@cython.final
cdef class IriToUriRows(HostsRows):
    """Turn IRIs into URIs.

    Args:
        disallowed (str): See `iri_to_uri`: "raise" or "encode".
        host (str): See `iri_to_uri`: "percent" or "idna".

    Raises:
        ValueError: There is no such option.

    Source: RFC 3987 section 3.1.
    """

    def __cinit__(self, disallowed="raise", host="percent"):
        iri_to_uri(b"", disallowed=disallowed, host=host)     # there are such options
        self.error = IriError
        self.slots.strict = IRI_TO_URI_ROW
        self.slots.options = &STRICT_MAPPING if disallowed == "raise" else &LENIENT_MAPPING
        if host == "idna":
            self.convert_hosts(lambda iri: iri_to_uri(iri, disallowed=disallowed, host="idna"))


@cython.final
cdef class UriToIriRows(HostsRows):
    """Turn URIs into IRIs.

    Args:
        host (str): See `uri_to_iri`: "keep" or "unicode".

    Raises:
        ValueError: There is no such option.

    Source: RFC 3987 section 3.2.
    """

    def __cinit__(self, host="keep"):
        uri_to_iri(b"", host=host)      # there is such an option
        self.error = IriError
        self.slots.strict = URI_TO_IRI_ROW
        if host == "unicode":
            self.convert_hosts(lambda uri: uri_to_iri(uri, host="unicode"))
