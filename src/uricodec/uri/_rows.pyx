"""Operations on rows of URIs and IRIs: what the row functions of the modules below need, made once for many rows.

Each class takes the options of one operation and keeps them where its row function finds them. A row is octets, of any
kind: for an IRI they should be UTF-8 (RFC 3629), and what is not is refused.
"""
cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from uricodec.uri._equivalence cimport level_of
from uricodec.iri._normalize cimport IRI_TO_URI_ROW, LENIENT_MAPPING, STRICT_MAPPING, URI_TO_IRI_ROW
from uricodec._base._kernels cimport ByteSet
from uricodec.uri._resolve cimport Base, find_base, resolve_rows
from uricodec.uri._components cimport CODE_NAMES, REASONS, production_of
from uricodec.uri._normalize cimport AT_CASE, AT_PATH, FORMS, NORMALIZE_ROWS
from uricodec.uri._grammar cimport *
from uricodec.uri._changes cimport mark_changes
from uricodec.uri._component_rows cimport *
from uricodec._rows._operation cimport *

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_SetObject
from cpython.ref cimport PyObject

from uricodec.iri._conversion import iri_to_uri, uri_to_iri
from uricodec.errors import IriError, UriSyntaxError

FIELDS = COLUMNS


cdef int set_grammar(Grammar *grammar, object kind, object production) except -1:
    """Find a grammar by its names; without a production, that of all references."""
    if kind not in ("uri", "iri"):
        raise ValueError(f"no kind {kind!r}; there are: uri, iri")
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
        kind (str): As of CheckRows.
        production (str): As of CheckRows.
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
    Grammar grammar             # first: what the row functions of _component_rows get
    const char *heads[CODES + FRAME_CODES]  # by code: the record of a row that is refused, up to its offset
    size_t sizes[CODES + FRAME_CODES]
    bint json                   # there is a "}" behind that
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


cdef size_t csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """With a column for an error, and one for its offset."""
    cdef size_t size = (<const Records *>options).row(src, n, options, dst, outcome)
    if size != UC_REJECTED:
        dst[size] = dst[size + 1] = c','
        size += 2
    return size


@cython.final
cdef class SplitRows(UriRows):
    """Make each row a record of its components: scheme, authority ... An undefined one is no empty one.

    A row that is refused becomes a record in which all of them are undefined, and `error` and `offset` are not.

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
            raise ValueError(f"no form {form!r}; there are: jsonl, csv")
        self.json = form == "jsonl"
        self.header = b"" if self.json else ",".join([*COLUMNS, "error", "offset"]).encode() + b"\n"
        set_grammar(&self.records.grammar, kind, None)
        self.records.json = self.json
        self.heads = [self.head(name) for name in [*CODE_NAMES, *FRAME_NAMES]]
        for i, head in enumerate(self.heads):
            self.records.heads[i], self.records.sizes[i] = <bytes>head, len(head)
        self.slots.strict = SPLIT_JSONL_ROW if self.json else SPLIT_SAFE_CSV_ROW if csv_safe else SPLIT_CSV_ROW
        self.records.row = self.slots.strict.row
        if not self.json:
            self.slots.strict.row = csv_row
        self.slots.strict.extra = max(self.slots.strict.extra + 2, <size_t>max(map(len, self.heads)) + 21)
        self.slots.options, self.slots.rejected = &self.records, write_record
        self.error = IriError if kind == "iri" else UriSyntaxError

    cdef bytes head(self, code):
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
        level (str): As of `normalize`.

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
            raise UriSyntaxError("no scheme", base, 0)
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
    """Whether there are A-labels in the authority, or octets that may become something else, or be refused."""
    cdef Parts parts
    cdef Py_ssize_t i
    find_parts(s, n, &parts)
    if parts.authority >= 0:
        for i in range(parts.authority, parts.path):
            if not IN_AUTHORITY.set.member[s[i]] or s[i] == c'-' and i + 1 < parts.path and s[i + 1] == c'-':
                return True
    return False


cdef size_t call_function(const uint8_t *src, size_t n, const Hosts *hosts, uint8_t *dst, Outcome *outcome) noexcept with gil:
    cdef bytes row
    cdef size_t size
    try:
        row = (<object>hosts.function)(PyBytes_FromStringAndSize(<const char *>src, <Py_ssize_t>n))
        size = <size_t>len(row)
        if size <= hosts.factor * n + HOST_ROOM:
            memcpy(dst, PyBytes_AS_STRING(row), size)
            return size
        outcome.code, outcome.offset = HOST, 0
    except BaseException as error:
        if isinstance(error, IriError):
            outcome.code = REASONS.index(error.reason) if error.reason in REASONS else HOST
            outcome.offset = <size_t>error.position
        else:
            PyErr_SetObject(type(error), error)
            outcome.code = UC_RAISED
    return UC_REJECTED


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
        self.function = function
        self.slots.strict.factor = max(self.slots.strict.factor, <size_t>4)
        self.slots.strict.extra += HOST_ROOM
        self.hosts = Hosts(self.slots.strict.row, self.slots.options, <PyObject *>function, self.slots.strict.factor)
        self.slots.strict.row, self.slots.options = hosts_row, &self.hosts
        return 0


@cython.final
cdef class IriToUriRows(HostsRows):
    """Turn IRIs into URIs.

    Args:
        disallowed (str): As of `iri_to_uri`: "raise" or "encode".
        host (str): As of `iri_to_uri`: "percent" or "idna".

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
        host (str): As of `uri_to_iri`: "keep" or "unicode".

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
