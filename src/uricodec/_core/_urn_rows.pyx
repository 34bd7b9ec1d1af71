"""Operations on rows of URNs (RFC 2141, RFC 8141), for loops that hold any operation; see _rows.pxd.

Lines of URNs have a faster loop of their own, in _urn_lines.
"""
cimport cython

from uricodec._core._rows cimport *
from uricodec._core._urn cimport *
from uricodec._core._urn_forms cimport *
from uricodec._core._urn_grammar cimport *
from uricodec.errors import UrnError


cdef struct Naming:
    Level level
    Spec spec


cdef size_t normalize_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                          Refusal *refusal) noexcept nogil:
    cdef const Naming *naming = <const Naming *>options
    cdef Reading urn
    if not read_urn(src, n, naming.spec, &urn):
        refusal.code, refusal.offset = urn.code, urn.offset
        return UC_REFUSED
    return write_form(src, &urn, naming.level, dst)


cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *_dst, Refusal *refusal) noexcept nogil:
    cdef Reading urn
    if not read_urn(src, n, (<const Naming *>options).spec, &urn):
        refusal.code, refusal.offset = urn.code, urn.offset
        return UC_REFUSED
    return 0


cdef class UrnRows(RowOperation):
    """An operation on rows of URNs. This one copies."""
    cdef Naming naming

    def __cinit__(self, *_args, **_kwargs):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UrnError
        self.options = &self.naming


@cython.final
cdef class CheckUrnRows(UrnRows):
    """Refuse what is no URN, and write nothing.

    Args:
        spec (str): "2141", "8141" or "any".

    Raises:
        ValueError: There is no such spec.

    Source: RFC 2141 section 2; RFC 8141 section 2.
    """

    def __init__(self, spec="8141"):
        self.naming.spec = <Spec>spec_of(spec)
        self.operation = Operation(check_row, 0, 0)


@cython.final
cdef class NormalizeUrnRows(UrnRows):
    """Bring URNs into normal form.

    Args:
        level (str): As of `normalize`.
        spec (str | None): As of `normalize`.

    Raises:
        ValueError: There is no such level or spec.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.
    """

    def __init__(self, level="8141", spec=None):
        self.naming.level = <Level>level_of(level)
        self.naming.spec = (RFC2141 if self.naming.level == CASE_2141 else RFC8141) if spec is None else <Spec>spec_of(spec)
        self.operation = Operation(normalize_row, 1, GROWTH)
