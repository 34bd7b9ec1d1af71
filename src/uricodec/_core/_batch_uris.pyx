"""The components of URIs and IRIs in columns: what a row of such a struct needs."""
from uricodec._core._batch cimport *
from uricodec._core._batch_answers cimport Span
from uricodec._core._uri cimport CODE_NAMES, REASONS
from uricodec._core._uri_grammar cimport *
from uricodec._core._uri_rows cimport Grammar
from uricodec.errors import IriError, UriSyntaxError

FIELDS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")


cdef inline void set_span(Span *span, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    span.start, span.end = start, end


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef const Grammar *grammar = <const Grammar *>options
    cdef Span *spans = <Span *>dst
    cdef Parts parts
    cdef Authority authority
    cdef bint has = False
    if not read_octets(src, n, grammar.syntax, grammar.production, &parts, refusal):
        return UC_REFUSED
    if parts.authority >= 0:
        has = find_authority(src, parts.authority, parts.path, &authority)
    set_span(spans, -1 if parts.scheme_end < 0 else 0, parts.scheme_end)
    set_span(spans + 1, parts.authority, parts.path)
    set_span(spans + 2, parts.authority if has and authority.userinfo_end >= 0 else -1, authority.userinfo_end if has else 0)
    set_span(spans + 3, authority.host if has else -1, authority.host_end if has else 0)
    set_span(spans + 4, authority.port if has else -1, parts.path)
    set_span(spans + 5, parts.path, parts.path_end)
    set_span(spans + 6, parts.query, parts.query_end)
    set_span(spans + 7, parts.fragment, parts.end)
    return 8 * sizeof(Span)


cdef class SplitReferences(RowOperation):
    """Take URI-references apart: strictly, as `uricodec.uri.split` does.

    Args:
        kind (str): "uri" for RFC 3986, "iri" for RFC 3987.
    """
    cdef Grammar grammar

    def __cinit__(self, kind):
        self.grammar.syntax = IRI_SYNTAX if kind == "iri" else URI_SYNTAX
        self.grammar.production = REFERENCE
        self.operation, self.options = Operation(split_row, 0, 8 * sizeof(Span)), &self.grammar
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, IriError if kind == "iri" else UriSyntaxError
