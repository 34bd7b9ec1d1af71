"""Operations on rows of URIs and IRIs: what the row functions of the modules below need, made once for many rows.

Each class takes the options of one operation and keeps them where its row function finds them. A row is octets, of any
kind: for an IRI they should be UTF-8 (RFC 3629), and what is not is refused.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from uricodec._core._rows cimport *
from uricodec._core._uri cimport *
from uricodec._core._uri_grammar cimport *

from uricodec.errors import IriError, UriSyntaxError


cdef list KINDS = ["uri", "iri"]        # by Syntax


cdef Syntax syntax_of(object kind) except *:
    if kind not in KINDS:
        raise ValueError(f"no kind {kind!r}; there are: {', '.join(KINDS)}")
    return <Syntax>(<int>KINDS.index(kind))


cdef class UriRows(RowOperation):
    """What all of these have."""

    def __cinit__(self, *_args, **_kwargs):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError


# --- checking -----------------------------------------------------------------------------------------------------------

cdef class CheckRows(UriRows):
    """Refuse what breaks a rule, and write nothing.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
        rule (str): "URI-reference", "URI", "absolute-URI" or "relative-ref"; of IRIs "IRI-reference", "IRI", "absolute-IRI"
            or "irelative-ref".

    Raises:
        ValueError: There is no such kind or rule.

    Source: RFC 3986 section 4; RFC 3987 section 2.2.
    """
    cdef Grammar grammar

    def __init__(self, kind, rule):
        self.grammar.syntax = syntax_of(kind)
        self.grammar.rule = <Rule>rule_of(rule, self.grammar.syntax)
        self.operation, self.options = CHECK_ROW, &self.grammar
        if kind == "iri":
            self.error = IriError


cdef struct Checked:
    Grammar grammar
    row_function row
    const void *options


cdef size_t checked_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef const Checked *checked = <const Checked *>options
    if CHECK_ROW.row(src, n, &checked.grammar, dst, refusal) == UC_REFUSED:
        return UC_REFUSED
    return checked.row(src, n, checked.options, dst, refusal)


cdef class CheckedRows(CheckRows):
    """Refuse what breaks a rule; do with the others what another operation does.

    Args:
        kind (str): As of CheckRows.
        rule (str): As of CheckRows.
        rows (UriRows): The other operation, none of records.

    Raises:
        ValueError: There is no such kind or rule.
    """
    cdef Checked checked
    cdef UriRows rows

    def __init__(self, kind, rule, UriRows rows not None):
        CheckRows.__init__(self, kind, rule)
        self.rows = rows
        self.checked = Checked(self.grammar, rows.operation.row, rows.options)
        self.operation, self.options = rows.operation, &self.checked
        self.operation.row = checked_row


cdef size_t scheme_row(const uint8_t *src, size_t n, const void *_options, uint8_t *dst, Refusal *_refusal) noexcept nogil:
    cdef Parts parts
    cdef Py_ssize_t i
    find_parts(src, n, &parts)
    for i in range(parts.scheme_end):
        dst[i] = src[i] | 0x20 if c'A' <= src[i] <= c'Z' else src[i]
    return <size_t>max(parts.scheme_end, 0)


cdef class SchemeRows(UriRows):
    """Leave the scheme, in lower case, and nothing if there is none."""

    def __init__(self):
        self.operation = Operation(scheme_row, 1, 0)


# --- splitting ----------------------------------------------------------------------------------------------------------

# The record of a row that is refused: what there is for its code, the offset in digits,
cdef struct Records:
    Grammar grammar             # first: what the row functions of _uri get
    row_function row
    const char *heads[CODES]
    size_t sizes[CODES]
    bint json                   # and "}"


cdef size_t write_record(const Refusal *refusal, const void *options, uint8_t *dst) noexcept nogil:
    cdef const Records *records = <const Records *>options
    cdef uint8_t digits[20]
    cdef size_t offset = refusal.offset, size = records.sizes[refusal.code], i = 20
    memcpy(dst, records.heads[refusal.code], size)
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


cdef size_t csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    """With a column for an error, and one for its offset."""
    cdef size_t size = SPLIT_CSV_ROW.row(src, n, options, dst, refusal)
    if size != UC_REFUSED:
        dst[size] = dst[size + 1] = c','
        size += 2
    return size


cdef class SplitRows(UriRows):
    """Make each row a record of its components: scheme, authority ... An undefined one is no empty one.

    A row that is refused becomes a record in which all of them are undefined, and `error` and `offset` are not.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
        form (str): "jsonl" (RFC 8259) or "csv" (RFC 4180; an undefined component is nothing, an empty one "").

    Raises:
        ValueError: There is no such kind or form.

    Attributes:
        header (bytes): The first line of CSV; nothing for JSON.
    """
    cdef Records records
    cdef readonly bytes header
    cdef bint json
    cdef list heads

    def __init__(self, kind, form):
        if form not in ("jsonl", "csv"):
            raise ValueError(f"no form {form!r}; there are: jsonl, csv")
        self.json = form == "jsonl"
        self.header = b"" if self.json else ",".join([*COLUMNS, "error", "offset"]).encode() + b"\n"
        self.records.grammar = Grammar(syntax_of(kind), REFERENCE)
        self.records.json = self.json
        self.heads = [self.head(name) for name in CODE_NAMES]
        for i, head in enumerate(self.heads):
            self.records.heads[i], self.records.sizes[i] = <bytes>head, len(head)
        self.operation = SPLIT_JSONL_ROW if self.json else SPLIT_CSV_ROW
        if not self.json:
            self.operation.row = csv_row
        self.operation.extra = max(self.operation.extra + 2, <size_t>max(map(len, self.heads)) + 21)
        self.options, self.refused = &self.records, write_record
        if kind == "iri":
            self.error = IriError

    def head(self, code):
        if self.json:
            return "".join(["{", *[f'"{name}":null,' for name in COLUMNS], f'"error":"{code}","offset":']).encode()
        return f"{len(COLUMNS) * ','}{code},".encode()

    def record(self, code, offset):
        """The record of a row that is refused.

        Args:
            code (str): Why.
            offset (int): Where, in octets.

        Returns:
            bytes: A line without its end.

        >>> SplitRows("uri", "csv").record("too-long", 100)
        b',,,,,,,,too-long,100'
        """
        return self.head(code) + str(offset).encode() + (b"}" if self.json else b"")
