"""Row operations on URIs and IRIs: checking, splitting, normalizing, resolving, joining components.

Each class holds the options of one operation at a fixed address, where its row function reads them. A row may contain
any bytes. For IRIs they are read as UTF-8 (RFC 3629); other bytes are rejected.
"""
cimport cython
from libc.stdint cimport SIZE_MAX, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

from uricodec._base._cpython cimport PyBytes_AS_STRING
from uricodec._base._kernels cimport HEXDIG, UNRESERVED, ByteSet, bits_after, bits_ahead, kernels, lower, uc_lowest_bit
from uricodec._base._text cimport append_bytes, write_decimal
from uricodec._codec._percent cimport triplet_value
from uricodec._records._framing cimport Pair, escape_json, starts_formula
from uricodec._rows._engine cimport *
from uricodec._rows._tuples cimport *
from uricodec._url._agreed_host cimport (AGREED_CODES, AGREED_REASONS, CATEGORY_NAMES, DEFAULT_PORTS, WEB_HOST_CAPACITY,
                                        HOST_COMPONENTS, KIND_NAMES, PORT_BYTES, SCHEMES, Accepted, WebHost, category_of,
                                        read_web_host, set_accepted, set_ports)
from uricodec._url._grammar cimport *
from uricodec._url._normalize cimport AT_CASE, AT_IRI, AT_PATH, AT_SCHEME, FORMS, NORMALIZE_ROWS, PLAIN_HOST, level_of, scheme_end
from uricodec.uri._components cimport RESOLVE_EXTRA, Base, find_base, resolve_rows, write_reference_to, write_target
from uricodec.uri._values cimport set_fields
from uricodec._url._whatwg cimport check_whatwg_row

from uricodec._records.formats import FORMATS
from uricodec._rows._tuples import EACH_ROW
from uricodec.errors import AmbiguousUrlError, IriError, UriSyntaxError


# --- rows that are already in normal form -----------------------------------------------------------------------------

# Find rows that may not be in normal form, by looking at adjacent bytes only, without splitting the rows.
#
# Up to level "path" (RFC 3986 section 6.2.2) a reference can only change where it has one of these:
#
#     %       unless it begins a triplet of a byte that is not unreserved
#     .       after a "/": perhaps a dot segment
#     A-Z     in the scheme or the authority, so before the third of the characters "/", "?" and "#": a scheme contains
#             none of them, an authority begins after the first two and ends before the third
#
# and where a triplet has a lower-case digit (except in a malformed authority), which a kernel fixes in passing. Kernels
# find all of these. Operations on words of bits then settle most triplets and their digits; only the rest is examined.

cdef enum:
    BLOCK_WORDS = BLOCK // 64 + 1     # at most, for one call

cdef ByteSet BUT_PERCENT = ~ByteSet("%")
cdef ByteSet BUT_DOT = ~ByteSet(".")
cdef ByteSet BUT_SLASH = ~ByteSet("/")
cdef ByteSet BUT_DELIMITERS = ~ByteSet("/?#")
cdef ByteSet BUT_UPPER = ~ByteSet(range(0x41, 0x5B))
cdef ByteSet BUT_LOWER = ~ByteSet("abcdef")
# First digits of triplets that are never unreserved.
cdef ByteSet FIRST_DIGITS = HEXDIG - "234567"


cdef inline bint may_stay(const uint8_t *triplet) noexcept nogil:
    """Return whether what begins with a "%" is a triplet of a byte that is not unreserved."""
    cdef int byte = triplet_value(triplet, 3)
    return byte >= 0 and not UNRESERVED.set.member[byte]


cdef void settle_triplets(const uint8_t *src, size_t n, uint64_t *percent, uint64_t *letters) noexcept nogil:
    """Clear the marks of triplets that stay, and of the letters in them.

    Of adjacent triplets whose digits change to upper case, only the first keeps its mark.
    """
    cdef uint64_t others[BLOCK_WORDS + 1]     # bytes that are not digits
    cdef uint64_t low[BLOCK_WORDS + 1]        # bytes that are not in FIRST_DIGITS
    cdef uint64_t lower_case[BLOCK_WORDS + 1]  # digits in lower case
    cdef uint64_t triplets[BLOCK_WORDS]
    cdef uint64_t changing[BLOCK_WORDS]
    cdef size_t words = (n + 63) // 64, w
    kernels.mark_outside(src, n, &HEXDIG.set, others)
    kernels.mark_outside(src, n, &FIRST_DIGITS.set, low)
    kernels.mark_outside(src, n, &BUT_LOWER.set, lower_case)
    # No digit follows the end.
    lower_case[words] = 0
    others[words] = low[words] = ~<uint64_t>0
    if n & 63:
        others[words - 1] |= ~<uint64_t>0 << (n & 63)
        low[words - 1] |= ~<uint64_t>0 << (n & 63)
    for w in range(words):
        triplets[w] = percent[w] & ~(bits_ahead(low, w, 1) | bits_ahead(others, w, 2))
        letters[w] &= ~(bits_after(triplets, w, 1) | bits_after(triplets, w, 2))
        changing[w] = triplets[w] & (bits_ahead(lower_case, w, 1) | bits_ahead(lower_case, w, 2))
        percent[w] = percent[w] & ~triplets[w] | changing[w] & ~bits_after(changing, w, 3)


cdef inline size_t third(const uint64_t *delimiters, size_t start, size_t stop) noexcept nogil:
    """Return the offset of the third delimiter of a row, where its authority ends; `stop` or more if there is none."""
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
    """Return the bits of word w that represent bytes before i."""
    if i >= 64 * (w + 1):
        return ~<uint64_t>0
    return (<uint64_t>1 << (i & 63)) - 1 if i > 64 * w else 0


cdef inline void mark_percent(const uint8_t *src, size_t end, uint64_t *percent, uint64_t *marks) noexcept nogil:
    """Mark a "%" among the last two bytes before the end of a row: a triplet does not span two rows."""
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
    cdef size_t after = 0       # letters before this offset need no look: they stay, or their row is marked
    cdef size_t authority_end = 0, ended = rows      # and the row that it belongs to
    kernels.mark_outside(src, n, &BUT_PERCENT.set, percent)
    kernels.mark_outside(src, n, &BUT_UPPER.set, letters)
    kernels.mark_outside(src, n, &BUT_DOT.set, marks)
    kernels.mark_outside(src, n, &BUT_SLASH.set, slashes)
    kernels.mark_outside(src, n, &BUT_DELIMITERS.set, delimiters)
    for w in range(words):
        any_percent |= percent[w]
        marks[w] &= bits_after(slashes, w, 1)
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
            # Letters change only in a scheme or an authority. So do the digits of triplets that kernels skipped: a
            # malformed authority is kept unchanged.
            if letters[w] & bit or src[i + 1] > c'F' or src[i + 2] > c'F':
                if ended != number:
                    authority_end, ended = third(delimiters, at[number], at[number + 1]), number
                if i <= authority_end:
                    marks[w] |= bit     # one mark is enough for a row
                after = at[number + 1]
                skipped = letters[w] & below(w, after)
                letters[w] ^= skipped
                word &= ~skipped


# Levels "scheme" and "iri" change no more than "path" in a row that begins with "http" or "https", a host of PLAIN_HOST,
# and "/": it has no port, no address in brackets, and no empty path.
cdef ByteSet ASCII = ByteSet(range(0x80))


cdef inline bint has_plain_host(const uint8_t *src, size_t n) noexcept nogil:
    cdef size_t start = web_prefix(src, n), i = start
    if start == 0:
        return False
    while i < n and PLAIN_HOST.set.member[src[i]]:
        i += 1
    return start < i < n and src[i] == c'/'


cdef void mark_changes_by_scheme(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil:
    cdef size_t i, start
    mark_changes(src, n, at, rows, marks)
    for i in range(rows):
        start = at[i]
        if start < at[i + 1] and not has_plain_host(src + start, at[i + 1] - start):
            marks[start >> 6] |= <uint64_t>1 << (start & 63)


cdef void mark_changes_to_uri(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil:
    cdef uint64_t others[BLOCK_WORDS]
    cdef size_t w
    mark_changes_by_scheme(src, n, at, rows, marks)
    kernels.mark_outside(src, n, &ASCII.set, others)
    for w in range((n + 63) // 64):
        marks[w] |= others[w]


# --- one row: checked, or split into components -----------------------------------------------------------------------

# When a field of a record is in quotes: of TSV, CSV, JSON.
cdef enum Quotes:
    NEVER, IF_NEEDED, ALWAYS

# Row operations whose options are a Grammar.
cdef struct Grammar:
    Syntax syntax
    Production production
    bint safe_host
    uint8_t delimiter       # between the fields of CSV or TSV
    Quotes quotes           # whether fields are in quotes
    bint csv_safe           # put an apostrophe before what a spreadsheet may take for a formula

cdef SizedRow CHECK_ROW            # writes no output
cdef SizedRow SPLIT_ROW            # writes components
cdef SizedRow SPLIT_JSONL_ROW
cdef SizedRow SPLIT_CSV_ROW

COLUMNS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
HOST_FIELDS = ("scheme", "host", "port", "kind", "category")
cdef enum:
    FIELDS = 8
    WEB_FIELDS = 5


def record_fields(names):
    """Return the names of the fields of a record (list[bytes]), given those of a row that is not rejected.

    >>> record_fields(HOST_FIELDS)
    [b'scheme', b'host', b'port', b'kind', b'category', b'error', b'offset']
    """
    return [*map(str.encode, names), b"error", b"offset"]


# The text before the value of each column in a JSON object.
cdef list KEYS = [f'{"," if i else "{"}"{name}":'.encode() for i, name in enumerate(COLUMNS)]
cdef const uint8_t *key[FIELDS]
cdef size_t key_size[FIELDS]
cdef int number
for number in range(FIELDS):
    key[number], key_size[number] = <const uint8_t *>PyBytes_AS_STRING(KEYS[number]), <size_t>len(KEYS[number])

cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Grammar *grammar = <const Grammar *>options
    cdef Parts parts
    if grammar.production == WHATWG_URL:
        return check_whatwg_row(src, n, NULL, dst, outcome)
    if not read_bytes(src, n, grammar.syntax, grammar.production, &parts, outcome):
        return UC_REJECTED
    return UC_REJECTED if grammar.safe_host and find_unsafe(src, &parts, outcome) else 0


cdef bint read_fields(const uint8_t *src, size_t n, const Grammar *grammar, Component *fields,
                      Outcome *outcome) noexcept nogil:
    cdef Parts parts
    if not read_bytes(src, n, grammar.syntax, grammar.production, &parts, outcome):
        return False
    set_fields(&parts, fields)
    return True


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    if not read_fields(src, n, <const Grammar *>options, <Component *>dst, outcome):
        return UC_REJECTED
    return FIELDS * sizeof(Component)


cdef inline uint8_t *put_cell(uint8_t *dst, const uint8_t *src, const Component *field, const Grammar *grammar) noexcept nogil:
    """Write a field: of JSON in quotes, of CSV in quotes if it needs them, of TSV without.

    A valid URI or IRI contains no quote, backslash or control character, so nothing needs escaping. In CSV, the delimiter
    needs quotes, and so does an empty field, which differs from a missing one.
    """
    cdef size_t size = <size_t>(field.end - field.start)
    cdef bint quotes = grammar.quotes == ALWAYS or grammar.quotes == IF_NEEDED and (
        size == 0 or memchr(src + field.start, grammar.delimiter, size) != NULL)
    if quotes:
        dst[0] = c'"'
        dst += 1
    if grammar.csv_safe and starts_formula(src + field.start, size):
        dst[0] = c"'"
        dst += 1
    dst = append_bytes(dst, src + field.start, size)
    if quotes:
        dst[0] = c'"'
        dst += 1
    return dst


cdef size_t jsonl_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write a JSON object; undefined components are null."""
    cdef Component fields[FIELDS]
    cdef const Grammar *grammar = <const Grammar *>options
    cdef uint8_t *start = dst
    cdef int i
    # U+2028 and U+2029, E2 80 A8 and A9 in UTF-8, are escaped.
    cdef bint escapes = grammar.syntax == IRI_SYNTAX and memchr(src, 0xE2, n) != NULL
    if not read_fields(src, n, grammar, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        dst = append_bytes(dst, key[i], key_size[i])
        if fields[i].start < 0:
            dst = append_bytes(dst, <const uint8_t *>b"null", 4)
        elif escapes:
            dst += escape_json(src + fields[i].start, <size_t>(fields[i].end - fields[i].start), dst)
        else:
            dst = put_cell(dst, src, fields + i, grammar)
    dst[0] = c'}'
    return <size_t>(dst + 1 - start)


cdef size_t csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write values between delimiters: nothing for an undefined component; in CSV (RFC 4180), quotes where needed."""
    cdef Component fields[FIELDS]
    cdef const Grammar *grammar = <const Grammar *>options
    cdef uint8_t *start = dst
    cdef int i
    if not read_fields(src, n, grammar, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        if i:
            dst[0] = grammar.delimiter
            dst += 1
        if fields[i].start >= 0:
            dst = put_cell(dst, src, fields + i, grammar)
    return <size_t>(dst - start)


# Sizes: the subcomponents of an authority are written twice, hence the factor 2. An escape is twice as long as its character.
CHECK_ROW.row, CHECK_ROW.factor, CHECK_ROW.extra = check_row, 0, 0
SPLIT_ROW.row, SPLIT_ROW.factor, SPLIT_ROW.extra = split_row, 0, FIELDS * sizeof(Component)
SPLIT_JSONL_ROW.row, SPLIT_JSONL_ROW.factor, SPLIT_JSONL_ROW.extra = jsonl_row, 4, sum(map(len, KEYS)) + 4 * FIELDS + 1
SPLIT_CSV_ROW.row, SPLIT_CSV_ROW.factor, SPLIT_CSV_ROW.extra = csv_row, 2, 4 * FIELDS - 1


# --- operations -------------------------------------------------------------------------------------------------------

cdef int set_grammar(Grammar *grammar, object kind, object production, bint safe_host=False) except -1:
    """Set a grammar by its names. Without a production, references of any kind are valid."""
    if kind not in ("uri", "iri"):
        raise ValueError(f"unknown kind {kind!r}; choose from uri, iri")
    grammar.syntax = URI_SYNTAX if kind == "uri" else IRI_SYNTAX
    grammar.production = REFERENCE
    if production is not None:
        grammar.production = <Production>production_of(production, grammar.syntax, grammar.syntax == URI_SYNTAX)
    grammar.safe_host = safe_host
    return 0


cdef class UriRows(RowOperation):
    """A row operation on URIs or IRIs, with their codes. The base class copies rows."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.slots.block = NULL


# --- checking ---------------------------------------------------------------------------------------------------------

@cython.final
cdef class CheckRows(UriRows):
    """Operation that rejects rows that do not match a production. It writes no output.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
        production (str): "URI-reference", "URI", "absolute-URI", "relative-ref" or "whatwg"; for IRIs "IRI-reference",
            "IRI", "absolute-IRI" or "irelative-ref".

    Source: RFC 3986 section 4; RFC 3987 section 2.2; URL Standard section 4.4.
    """
    cdef Grammar grammar

    def __cinit__(self, kind, production, safe_host=False):
        set_grammar(&self.grammar, kind, production, safe_host)
        self.slots.strict, self.slots.options, self.slots.result = CHECK_ROW, &self.grammar, WRITES_NOTHING
        self.error = IriError if kind == "iri" else UriSyntaxError
        self.replaces_surrogates = self.grammar.production == WHATWG_URL


cdef struct Checked:
    row_function check
    const void *check_options
    int codes               # of the check; those of the other operation follow
    row_function row
    const void *options


cdef size_t checked_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Checked *checked = <const Checked *>options
    cdef size_t size
    if checked.check(src, n, checked.check_options, dst, outcome) == UC_REJECTED:
        return UC_REJECTED
    size = checked.row(src, n, checked.options, dst, outcome)
    if size == UC_REJECTED:
        outcome.code += checked.codes
    return size


@cython.final
cdef class CheckedRows(UriRows):
    """Operation that rejects rows that a check rejects, and applies another operation to the rest.

    Args:
        check (RowOperation): An operation that writes nothing.
        rows (RowOperation): The other operation, which must not write records.

    >>> CheckedRows(CheckWebRows(), NormalizeRows("scheme")).reason("slashes")[:12]
    'expected exa'
    """
    cdef Checked checked
    cdef RowOperation check, rows

    def __cinit__(self, RowOperation check not None, RowOperation rows not None):
        cdef int codes = 0
        self.check, self.rows, self.error = check, rows, check.error
        self.code_names, self.reasons = check.code_names, check.reasons
        if rows.code_names is not check.code_names:
            codes = <int>len(check.code_names)
            self.code_names, self.reasons = check.code_names + rows.code_names, check.reasons + rows.reasons
        self.checked = Checked(check.slots.strict.row, check.slots.options, codes, rows.slots.strict.row, rows.slots.options)
        self.slots.strict, self.slots.options = rows.slots.strict, &self.checked
        self.slots.strict.row = checked_row
        if rows.slots.utf8_code:
            self.slots.utf8_code = codes + rows.slots.utf8_code


cdef struct Either:
    row_function urn_row
    const void *urn_options
    int codes               # of URNs; those of others follow
    row_function row
    const void *options


cdef size_t either_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Either *either = <const Either *>options
    cdef size_t size
    if n > 3 and src[3] == c":" and lower(src[0]) == c"u" and lower(src[1]) == c"r" and lower(src[2]) == c"n":
        return either.urn_row(src, n, either.urn_options, dst, outcome)
    size = either.row(src, n, either.options, dst, outcome)
    if size == UC_REJECTED:
        outcome.code += either.codes
    return size


@cython.final
cdef class EitherRows(UriRows):
    """Operation that checks rows which begin with "urn:" by one operation, and all others by another.

    Args:
        urns, others (RowOperation): The operations, which write nothing.
    """
    cdef Either either
    cdef RowOperation urns, others

    def __cinit__(self, RowOperation urns not None, RowOperation others not None):
        self.urns, self.others = urns, others
        self.code_names, self.reasons = urns.code_names + others.code_names, urns.reasons + others.reasons
        self.either = Either(urns.slots.strict.row, urns.slots.options, <int>len(urns.code_names),
                             others.slots.strict.row, others.slots.options)
        self.slots.strict, self.slots.options = SizedRow(either_row, 0, 0), &self.either
        self.slots.result = WRITES_NOTHING


def checked(rows, production):
    """Return an operation on URIs or IRIs that also rejects rows which do not match a production, if there is one."""
    if production is None:
        return rows
    return CheckedRows(CheckRows("iri" if production in PRODUCTION_NAMES[<int>IRI_SYNTAX] else "uri", production), rows)


cdef size_t scheme_row(const uint8_t *src, size_t n, const void *_options, uint8_t *dst, Outcome *_rejection) noexcept nogil:
    cdef Parts parts
    cdef Py_ssize_t i
    find_parts(src, n, &parts)
    for i in range(parts.scheme_end):
        dst[i] = lower(src[i])
    return <size_t>max(parts.scheme_end, 0)


@cython.final
cdef class SchemeRows(UriRows):
    """Operation that extracts the scheme, in lower case; empty if there is none."""

    def __cinit__(self):
        self.slots.strict.row = scheme_row


# --- URLs of the web --------------------------------------------------------------------------------------------------

cdef int AGREED = <int>len(AGREED_CODES)      # codes of other operations follow these

cdef struct Web:
    Accepted accepted
    uint8_t ports[PORT_BYTES]


cdef int set_web(Web *web, object schemes, object userinfo, object trailing_dot, object ports) except -1:
    set_accepted(&web.accepted, schemes, userinfo, trailing_dot)
    return set_ports(&web.accepted, ports, web.ports)


cdef size_t check_web_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef uint8_t host[WEB_HOST_CAPACITY]
    cdef WebHost found
    return 0 if read_web_host(src, n, &(<const Web *>options).accepted, host, &found, outcome) else UC_REJECTED


@cython.final
cdef class CheckWebRows(UriRows):
    """Operation that rejects URLs in which two parsers may find different hosts. It writes no output.

    Args:
        schemes, userinfo, trailing_dot, ports: As for `agreed_host`.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".
    """

    cdef Web web

    def __cinit__(self, schemes=None, userinfo="raise", trailing_dot="raise", ports=None):
        set_web(&self.web, schemes, userinfo, trailing_dot, ports)
        self.code_names, self.reasons = AGREED_CODES, AGREED_REASONS
        self.slots.strict, self.slots.options, self.slots.result = SizedRow(check_web_row, 0, 0), &self.web, WRITES_NOTHING


# --- splitting --------------------------------------------------------------------------------------------------------

cdef enum:
    MOST_CODES = 64

cdef struct RecordOptions:
    Grammar grammar             # must be first: the row functions above read only this
    const char *heads[MOST_CODES]   # by code: the record of a rejected row, up to the offset
    size_t sizes[MOST_CODES]
    bint json                   # whether a "}" follows
    row_function row            # the row function that writes the components


cdef size_t write_record(const Outcome *outcome, const void *options, uint8_t *dst) noexcept nogil:
    cdef const RecordOptions *records = <const RecordOptions *>options
    cdef size_t size = records.sizes[outcome.code]
    memcpy(dst, records.heads[outcome.code], size)
    size += write_decimal(outcome.offset, dst + size)
    if records.json:
        dst[size] = c'}'
    return size + records.json


cdef size_t report_csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write CSV with two more columns: an error and its offset."""
    cdef size_t size = (<const RecordOptions *>options).row(src, n, options, dst, outcome)
    if size != UC_REJECTED:
        dst[size] = dst[size + 1] = (<const RecordOptions *>options).grammar.delimiter
        size += 2
    return size


cdef class RecordRows(UriRows):
    """Base class of the operations that write each row as a record of text fields.

    A rejected row becomes a record in which only `error` and `offset` are defined.

    Attributes:
        header (bytes): The first line, if the format has one.
    """
    cdef RecordOptions records
    cdef readonly bytes header
    cdef bytes delimiter
    cdef tuple names
    cdef list heads

    cdef int set_records(self, tuple names, object form, object csv_safe, bytes delimiter) except -1:
        """Set the names of the fields, and the form of records."""
        if form not in FORMATS:
            raise ValueError(f"unknown form {form!r}; choose from {', '.join(FORMATS)}")
        _, _, values, usual, has_header = FORMATS[form]
        self.names, self.delimiter, self.records.json = names, delimiter or usual, values == "jsonl"
        self.records.grammar.quotes = ALWAYS if values == "jsonl" else IF_NEEDED if values == "csv" else NEVER
        self.records.grammar.csv_safe = csv_safe and values != "jsonl"
        self.records.grammar.delimiter = <uint8_t>ord(self.delimiter)
        self.header = self.delimiter.join(record_fields(names)) + b"\n" if has_header else b""
        self.heads = []
        for i, name in enumerate([*self.code_names, *FRAME_NAMES]):
            head = self.head(name)
            self.heads.append(head)
            if i == MOST_CODES:
                raise ValueError("too many codes")  # pragma: no cover: cannot happen
            self.records.heads[i], self.records.sizes[i] = <bytes>head, len(head)
        self.slots.rejected = write_record
        return 0

    cdef int set_row(self, const SizedRow *operation, const void *options) except -1:
        """Set the operation that writes the fields; its options begin with a copy of `records`."""
        self.slots.strict, self.slots.options = operation[0], options
        self.slots.strict.extra = max(operation.extra + 2, <size_t>max(map(len, self.heads)) + 21)
        return 0

    cdef bytes head(self, code):
        cdef list members = []
        if not self.records.json:
            return len(self.names) * self.delimiter + f"{code}".encode() + self.delimiter
        for name in self.names:
            members.append(f'"{name}":null,')
        return f'{{{"".join(members)}"error":"{code}","offset":'.encode()

    def record(self, code, offset):
        """Return the record of a rejected row.

        Args:
            offset (int): The offset of the fault, in bytes.

        >>> SplitRows("uri", "csv").record("too-long", 100)
        b',,,,,,,,too-long,100'
        """
        return self.head(code) + str(offset).encode() + (b"}" if self.records.json else b"")


cdef struct SplitWeb:
    RecordOptions records       # must be first
    Web web
    row_function row            # the row function that writes a record


cdef size_t split_web_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const SplitWeb *split = <const SplitWeb *>options
    cdef size_t size
    if check_web_row(src, n, &split.web, dst, outcome) == UC_REJECTED:
        return UC_REJECTED
    size = split.row(src, n, options, dst, outcome)
    if size == UC_REJECTED:
        outcome.code += AGREED
    return size


@cython.final
cdef class SplitRows(RecordRows):
    """Operation that writes each row as a record of its components. Undefined components differ from empty ones.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987, "web" for IRIs that are URLs in which all parsers find the same
            host.
        form (str): A format of FORMATS. An undefined component is null in JSON (RFC 8259), and nothing in CSV (RFC 4180),
            where an empty one is ""; without quotes, both are nothing.
        csv_safe (bool): Whether to put an apostrophe before each CSV cell that a spreadsheet may take for a formula.
        delimiter (bytes | None): The byte between values; None: that of the format.
    """

    cdef SplitWeb web

    def __cinit__(self, kind, form, csv_safe=False, bytes delimiter=None):
        cdef bint web = kind == "web"
        set_grammar(&self.records.grammar, "iri" if web else kind, None)
        if web:
            self.code_names, self.reasons = AGREED_CODES + CODE_NAMES, AGREED_REASONS + REASONS
        self.set_records(COLUMNS, form, csv_safe, delimiter)
        if self.records.json:
            self.set_row(&SPLIT_JSONL_ROW, &self.records)
        else:
            self.set_row(&SPLIT_CSV_ROW, &self.records)
            self.records.row, self.slots.strict.row = self.slots.strict.row, report_csv_row
        self.error = IriError if kind == "iri" else UriSyntaxError
        if web:
            set_web(&self.web.web, None, "raise", "raise", None)
            self.web.records, self.web.row = self.records, self.slots.strict.row
            self.slots.strict.row, self.slots.options = split_web_row, &self.web


cdef size_t split_any_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Parts parts
    find_parts(src, n, &parts)
    set_fields(&parts, <Component *>dst)
    return FIELDS * sizeof(Component)


@cython.final
cdef class SplitReferences(UriRows):
    """Operation that splits references into components, strictly, as `uricodec.uri.split` does.

    Under `keep`, an invalid row is split as RFC 3986 appendix B does.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.

    Source: RFC 3986 section 4.1; RFC 3987 section 2.2.
    """
    cdef Grammar grammar

    def __cinit__(self, kind):
        set_grammar(&self.grammar, kind, None)
        self.slots.strict, self.slots.options, self.slots.result = SPLIT_ROW, &self.grammar, WRITES_COMPONENTS
        self.slots.keep = split_any_row
        self.error = IriError if kind == "iri" else UriSyntaxError


# --- hosts on which parsers agree -------------------------------------------------------------------------------------

cdef Word[4] SCHEME_WORDS
cdef Word[4] PORT_WORDS
cdef Word[3] KIND_WORDS
cdef Word[9] CATEGORY_WORDS

cdef int fill_words(Word *words, int count, list names) except -1:
    cdef bytes text
    cdef int i
    if len(names) != count:
        raise ValueError(names)     # pragma: no cover: cannot happen
    for i in range(count):
        text = names[i].encode("ascii")
        words[i].size = <size_t>len(text)
        memcpy(words[i].text, PyBytes_AS_STRING(text), min(words[i].size, <size_t>WORD))
    return 0

fill_words(SCHEME_WORDS, 4, SCHEMES)
fill_words(PORT_WORDS, 4, list(map(str, DEFAULT_PORTS)))
fill_words(KIND_WORDS, 3, KIND_NAMES)
fill_words(CATEGORY_WORDS, 9, CATEGORY_NAMES)

cdef inline void put_word(Component *fields, int i, const Word *word) noexcept nogil:
    """Write field i, each at its own place, so that none has to wait for the size of another one."""
    cdef size_t start = WEB_FIELDS * sizeof(Component) + <size_t>i * WORD
    memcpy(<uint8_t *>fields + start, word.text, WORD)
    set_field(fields + i, <Py_ssize_t>start, <Py_ssize_t>(start + word.size))


cdef size_t agreed_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write scheme, host, port, kind and category."""
    cdef WebHost found
    cdef Word port
    cdef Component *fields = <Component *>dst
    cdef size_t host = WEB_FIELDS * (sizeof(Component) + WORD)
    if not read_web_host(src, n, &(<const Web *>options).accepted, dst + host, &found, outcome):
        return UC_REJECTED
    put_word(fields, 0, SCHEME_WORDS + found.scheme)
    if found.port == DEFAULT_PORTS[found.scheme]:
        put_word(fields, 2, PORT_WORDS + found.scheme)
    else:
        port.size = write_decimal(found.port, port.text)
        put_word(fields, 2, &port)
    put_word(fields, 3, KIND_WORDS + <int>found.form)
    put_word(fields, 4, CATEGORY_WORDS + category_of(found.form, found.groups))
    set_field(fields + 1, <Py_ssize_t>host, <Py_ssize_t>(host + found.size))
    return padded(host + found.size)


cdef class WebRows(UriRows):
    """Base class of the operations on the host of a URL: only URLs in which all parsers find the same one are valid.

    Args:
        schemes (Collection[str] | None): See `agreed_host`, as for all others.
        userinfo (str): "raise" or "allow".
        trailing_dot (str): "raise" or "allow".
        ports (Collection[int] | None): The accepted ports; None: all.
    """
    cdef Web web

    def __cinit__(self, schemes=None, userinfo="raise", trailing_dot="raise", ports=None):
        set_web(&self.web, schemes, userinfo, trailing_dot, ports)
        self.code_names, self.reasons, self.error = AGREED_CODES, AGREED_REASONS, AmbiguousUrlError
        self.slots.options = &self.web

    cdef object exception(self, str code, str reason, object input, size_t offset):
        return AmbiguousUrlError(reason, input, offset, code)


@cython.final
cdef class AgreedHostRows(WebRows):
    """Operation that returns the scheme, host, port, kind and category of a URL, as text.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".
    """

    def __cinit__(self, schemes=None, userinfo="raise", trailing_dot="raise", ports=None):
        self.slots.result = WRITES_TEXTS
        self.slots.strict.row, self.slots.strict.factor = agreed_row, 0
        self.slots.strict.extra = WEB_FIELDS * (sizeof(Component) + WORD) + WEB_HOST_CAPACITY


# The text before the value of each field in a JSON object.
cdef list HOST_KEYS = [f'{"," if i else "{"}"{name}":'.encode() for i, name in enumerate(HOST_FIELDS)]
cdef const uint8_t *host_key[WEB_FIELDS]
cdef size_t host_key_size[WEB_FIELDS]
for number in range(WEB_FIELDS):
    host_key[number] = <const uint8_t *>PyBytes_AS_STRING(HOST_KEYS[number])
    host_key_size[number] = <size_t>len(HOST_KEYS[number])

cdef struct HostRecords:
    RecordOptions records             # must be first
    Web web


cdef size_t host_record_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const HostRecords *how = <const HostRecords *>options
    cdef Component fields[WEB_FIELDS + WEB_FIELDS + HOST_COMPONENTS]    # and then words of the same size, and the host
    cdef const uint8_t *text = <const uint8_t *>fields
    cdef uint8_t *start = dst
    cdef int i
    if agreed_row(src, n, &how.web, <uint8_t *>fields, outcome) == UC_REJECTED:
        return UC_REJECTED
    for i in range(WEB_FIELDS):
        if how.records.json:
            dst = append_bytes(dst, host_key[i], host_key_size[i])
        dst = put_cell(dst, text, fields + i, &how.records.grammar)
        if not how.records.json:
            dst[0] = how.records.grammar.delimiter
            dst += 1
    dst[0] = c'}' if how.records.json else how.records.grammar.delimiter
    return <size_t>(dst + 1 - start)


# Each field has two quotes and an apostrophe.
cdef SizedRow HOST_RECORD_ROW = SizedRow(
    host_record_row, 0, <size_t>sum(map(len, HOST_KEYS)) + WEB_FIELDS * (WORD + 4) + WEB_HOST_CAPACITY)


@cython.final
cdef class HostRecordRows(RecordRows):
    """Operation that writes the scheme, host, port, kind and category of a URL as a record of text.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".
    """
    cdef HostRecords how

    def __cinit__(self, form, csv_safe=False, bytes delimiter=None, *, schemes=None, userinfo="raise",
                  trailing_dot="raise", ports=None):
        set_web(&self.how.web, schemes, userinfo, trailing_dot, ports)
        self.code_names, self.reasons = AGREED_CODES, AGREED_REASONS
        self.set_records(HOST_FIELDS, form, csv_safe, delimiter)
        self.how.records = self.records
        self.set_row(&HOST_RECORD_ROW, &self.how)


cdef size_t web_host_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef WebHost found
    if not read_web_host(src, n, &(<const Web *>options).accepted, dst, &found, outcome):
        return UC_REJECTED
    return found.size


@cython.final
cdef class WebHostRows(WebRows):
    """Operation that writes the host of a URL in which all parsers find the same one.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".
    """

    def __cinit__(self, schemes=None, userinfo="raise", trailing_dot="raise", ports=None):
        self.slots.strict = SizedRow(web_host_row, 0, WEB_HOST_CAPACITY)


# --- normal forms and references --------------------------------------------------------------------------------------

@cython.final
cdef class NormalizeRows(UriRows):
    """Operation that normalizes URIs and IRIs.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.
    """

    def __cinit__(self, level="path"):
        cdef int at = level_of(level)
        self.slots.strict, self.slots.options = NORMALIZE_ROWS[at], &FORMS[at]
        self.slots.utf8_code = UTF8
        if AT_CASE <= at <= AT_PATH:
            self.slots.changes = mark_changes
        elif at == AT_SCHEME:
            self.slots.changes = mark_changes_by_scheme
        elif at == AT_IRI:
            self.slots.changes = mark_changes_to_uri


@cython.final
cdef class ResolveRows(UriRows):
    """Operation that resolves references against a base.

    Args:
        base (bytes): The base URI or IRI, with a scheme.

    Source: RFC 3986 section 5.2.
    """
    cdef bytes memory       # of the base
    cdef Base base

    def __cinit__(self, bytes base not None):
        self.memory = base
        if not find_base(<const uint8_t *>PyBytes_AS_STRING(base), <size_t>len(base), True, &self.base):
            raise UriSyntaxError("base URI has no scheme", base, 0)
        self.slots.strict, self.slots.options = resolve_rows(&self.base), &self.base
        self.slots.utf8_code = UTF8


cdef size_t resolve_pair(const uint8_t *base, size_t base_size, const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    cdef Base found
    if not find_base(base, base_size, True, &found):
        return SIZE_MAX
    return write_target(&found, src, n, dst)


@cython.final
cdef class ResolvePairs(UriRows):
    """Operation on pairs that resolves references against the bases of their records; only transform_fields() runs it.

    Source: RFC 3986 section 5.2.
    """
    cdef Pair pair
    cdef readonly bint pairs

    def __cinit__(self):
        self.pair.row, self.pair.extra, self.pairs = resolve_pair, RESOLVE_EXTRA, True
        self.slots.options, self.slots.utf8_code = &self.pair, UTF8


# --- operations on several values -------------------------------------------------------------------------------------

# A value is that of the row, or the same for all rows: `_rows/_tuples.pyx` says how rows of several values are made.

TUPLE_CODES = [*CODE_NAMES, "type", "path", "components"]
TUPLE_REASONS = [*REASONS, "expected str, bytes-like or None", "no reference resolves to a path with a dot segment",
                 "result would split into different components"]


cdef bint read_tuple(const uint8_t *src, size_t n, const void *options, Values *values, Outcome *outcome) noexcept nogil:
    cdef int i
    read_values(src, n, &(<const TupleOptions *>options).values, values)
    for i in range(values.count):
        if values.size[i] == WRONG_TYPE:
            outcome.code, outcome.offset = TYPE, place(i, 0)
            return False
        if values.size[i] <= LONE_SURROGATE:
            outcome.code, outcome.offset = SURROGATE, place(i, <size_t>(LONE_SURROGATE - values.size[i]))
            return False
    return True


cdef class TupleRows(TupleOperation):
    """A row operation on several values, with the codes of URIs and its own. The base class has no row function."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = TUPLE_CODES, TUPLE_REASONS, UriSyntaxError
        self.slots.block = NULL
        self.slots.utf8_code = UTF8


# --- resolving and making relative -----------------------------------------------------------------------------------

cdef bint find_base_of(const Values *values, Base *base, Outcome *outcome) noexcept nogil:
    """Parse the second value, which is the base."""
    if find_base(values.at[1], <size_t>values.size[1], True, base):
        return True
    outcome.code, outcome.offset = SCHEME, place(1, scheme_end(values.at[1], <size_t>values.size[1]))
    return False


cdef size_t resolve_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef Base base
    if not read_tuple(src, n, options, &values, outcome) or not find_base_of(&values, &base, outcome):
        return UC_REJECTED
    return write_target(&base, values.at[0], <size_t>values.size[0], dst)


@cython.final
cdef class ResolveTuples(TupleRows):
    """Operation that resolves references, each against its own base.

    Args:
        text (bool): Whether rows are text.

    Source: RFC 3986 section 5.2.
    """
    cdef TupleOptions options

    def __cinit__(self, text):
        self.slots.strict = SizedRow(resolve_tuple, 1, RESOLVE_EXTRA)
        self.set_values(&self.options, (EACH_ROW, EACH_ROW), text)


cdef size_t relativize_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef Base base
    cdef size_t size
    if not read_tuple(src, n, options, &values, outcome) or not find_base_of(&values, &base, outcome):
        return UC_REJECTED
    # The reference, and then the buffer.
    size = write_reference_to(&base, values.at[0], <size_t>values.size[0], dst, dst + values.size[0] + 1, outcome)
    if size == UC_REJECTED and outcome.code == PATH:
        outcome.code = DOT_SEGMENT
    return size


@cython.final
cdef class RelativizeRows(TupleRows):
    """Operation that makes references of URIs, relative to a base.

    Args:
        base (str | bytes-like): The base URI or IRI, with a scheme; EACH_ROW: that of the row.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 4.2.
    """
    cdef TupleOptions options

    def __cinit__(self, base not None, text):
        cdef Base found
        self.slots.strict = SizedRow(relativize_tuple, 2, RESOLVE_EXTRA + 1)
        self.set_values(&self.options, (EACH_ROW, base), text)
        if base is not EACH_ROW and not find_base(self.options.values.at[1], <size_t>self.options.values.size[1], True, &found):
            raise UriSyntaxError("base URI has no scheme", base, 0)


# --- joining components -----------------------------------------------------------------------------------------------

# The order of the values; a path is what a row is without columns.
cdef enum:
    PATH_VALUE, SCHEME_VALUE, AUTHORITY_VALUE, QUERY_VALUE, FRAGMENT_VALUE


cdef inline uint8_t *put_value(uint8_t *dst, const Values *values, int i, const void *before, size_t n) noexcept nogil:
    """Write a component after its delimiter."""
    dst = append_bytes(dst, before, n)
    return append_bytes(dst, values.at[i], <size_t>values.size[i])


cdef inline size_t write_joined(const Values *values, uint8_t *dst, Parts *wanted) noexcept nogil:
    """Write the components (RFC 3986 section 5.3), and where each of them is. Return the size."""
    cdef uint8_t *start = dst
    wanted.scheme_end = wanted.authority = wanted.query = wanted.fragment = -1
    if values.size[SCHEME_VALUE] >= 0:
        dst = append_bytes(put_value(dst, values, SCHEME_VALUE, b"", 0), b":", 1)
        wanted.scheme_end = values.size[SCHEME_VALUE]
    if values.size[AUTHORITY_VALUE] >= 0:
        wanted.authority = dst + 2 - start
        dst = put_value(dst, values, AUTHORITY_VALUE, b"//", 2)
    wanted.path = dst - start
    dst = put_value(dst, values, PATH_VALUE, b"", 0)
    wanted.path_end = dst - start
    if values.size[QUERY_VALUE] >= 0:
        wanted.query = dst + 1 - start
        dst = put_value(dst, values, QUERY_VALUE, b"?", 1)
    wanted.query_end = dst - start
    if values.size[FRAGMENT_VALUE] >= 0:
        wanted.fragment = dst + 1 - start
        dst = put_value(dst, values, FRAGMENT_VALUE, b"#", 1)
    return <size_t>(dst - start)


cdef inline bint differ(Py_ssize_t wanted, Py_ssize_t found, size_t *offset) noexcept nogil:
    if wanted == found:
        return False
    offset[0] = <size_t>(found if wanted < 0 else wanted if found < 0 else min(wanted, found))
    return True


cdef bint differs(const Parts *wanted, const Parts *found, size_t *offset) noexcept nogil:
    """Return whether the parts differ, and the offset from which on they do."""
    # "//" is part of the authority here: without one, parsing differs from that offset on.
    return (differ(wanted.scheme_end, found.scheme_end, offset)
            or differ(wanted.authority - 2 * (wanted.authority >= 0), found.authority - 2 * (found.authority >= 0), offset)
            or differ(wanted.path, found.path, offset) or differ(wanted.path_end, found.path_end, offset)
            or differ(wanted.query_end, found.query_end, offset) or differ(wanted.fragment, found.fragment, offset))


cdef size_t unsplit_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const TupleOptions *given = <const TupleOptions *>options
    cdef Values values
    cdef Parts wanted, found
    cdef size_t size
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    size = write_joined(&values, dst, &wanted)
    if not read_bytes(dst, size, URI_SYNTAX, REFERENCE, &found, outcome):
        pass
    elif differs(&wanted, &found, &outcome.offset):
        outcome.code = STRUCTURE
    else:
        return size
    outcome.offset = place(WHOLE_RESULT if given.values.packed else 0, outcome.offset)
    return UC_REJECTED


@cython.final
cdef class UnsplitRows(TupleRows):
    """Operation that joins components to references.

    Args:
        scheme, authority, query, fragment (str | bytes-like | None): The components besides the path, which is the row;
            None: undefined; EACH_ROW: that of the row.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 5.3.
    """
    cdef TupleOptions options

    def __cinit__(self, scheme, authority, query, fragment, text):
        self.slots.strict = SizedRow(unsplit_tuple, 1, 8)
        self.set_values(&self.options, (EACH_ROW, scheme, authority, query, fragment), text)
        self.joins = True

    cdef object whole_of(self, list values):
        """Return the joined text."""
        path, scheme, authority, query, fragment = values
        pieces = [b"" if scheme is None else scheme + b":", b"" if authority is None else b"//" + authority, path,
                  b"" if query is None else b"?" + query, b"" if fragment is None else b"#" + fragment]
        return b"".join(pieces)

    cdef size_t characters(self, const uint8_t *src, size_t n, size_t offset) except? UC_REJECTED:
        """Return an offset in the joined text."""
        cdef bytes whole = self.whole_of([(<const char *>src)[:n], *self.fixed[1:]])
        return <size_t>len(whole[:offset].decode("utf-8", "replace"))

    cdef object exception(self, str code, str reason, object input, size_t offset):
        """Return the error of a path by itself, too, which is in the joined text."""
        if self.options.values.packed:
            return TupleRows.exception(self, code, reason, input, offset)
        path = input.encode("utf-8", "surrogatepass") if isinstance(input, str) else bytes(input)
        whole = self.whole_of([path, *self.fixed[1:]])
        return UriSyntaxError(reason, whole.decode("utf-8", "surrogatepass") if isinstance(input, str) else whole, offset)
