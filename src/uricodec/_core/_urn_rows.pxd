"""Operations on rows of URNs: what loops over many rows know of them."""
from uricodec._core._kernels cimport uc_set
from uricodec._core._rows cimport *
from uricodec._core._urn_forms cimport Level
from uricodec._core._urn_grammar cimport Reading, Spec, read_urn


cdef struct Naming:
    Level level
    Spec spec
    const uc_set *nss       # what plain ones consist of


cdef class UrnRows(RowOperation):
    cdef Naming naming
    cdef int set_naming(self, Spec spec, Level level) except -1


cdef inline bint read_row(const uint8_t *src, size_t n, const void *options, Reading *urn, Refusal *refusal) noexcept nogil:
    if read_urn(src, n, (<const Naming *>options).spec, urn):
        return True
    refusal.code, refusal.offset = urn.code, urn.offset
    return False
