"""Operations on rows of URNs (RFC 2141, RFC 8141), for loops that hold any operation; see _rows.pxd.

Lines of URNs have a faster loop of their own, in _urn_lines.
"""
cimport cython

from uricodec._core._rows cimport *
from uricodec._core._urn cimport *
from uricodec._core._urn_forms cimport *
from uricodec._core._urn_grammar cimport *
from uricodec.errors import UrnError


cdef size_t normalize_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                          Refusal *refusal) noexcept nogil:
    cdef Reading urn
    if not read_row(src, n, options, &urn, refusal):
        return UC_REFUSED
    return write_form(src, &urn, (<const Naming *>options).level, dst)


cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *_dst, Refusal *refusal) noexcept nogil:
    cdef Reading urn
    return 0 if read_row(src, n, options, &urn, refusal) else UC_REFUSED


cdef class UrnRows(RowOperation):
    """An operation on rows of URNs. This one copies."""

    def __cinit__(self, *_args, **_kwargs):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UrnError
        self.options = &self.naming

    cdef int set_naming(self, Spec spec, Level level) except -1:
        self.naming.spec, self.naming.level = spec, level
        self.naming.nss = &PLAIN_2141.set if spec == RFC2141 else &PLAIN_8141.set
        return 0


@cython.final
cdef class CheckUrnRows(UrnRows):
    """Refuse what is no URN, and write nothing.

    Args:
        spec (str): "2141", "8141" or "any".

    Raises:
        ValueError: There is no such spec.

    Source: RFC 2141 section 2; RFC 8141 section 2.
    """

    def __cinit__(self, spec="8141"):
        self.set_naming(<Spec>spec_of(spec), BYTES)
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

    def __cinit__(self, level="8141", spec=None):
        cdef Level form = <Level>level_of(level)
        self.set_naming((RFC2141 if form == CASE_2141 else RFC8141) if spec is None else <Spec>spec_of(spec), form)
        self.operation = Operation(normalize_row, 1, GROWTH)
