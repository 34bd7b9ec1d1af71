"""Operations on rows of URNs."""
from uricodec._base._kernels cimport uc_set
from uricodec.urn._syntax cimport Rfc, Rules, RuleTable, UrnLevel
from uricodec._rows._engine cimport *


cdef struct UrnOptions:
    UrnLevel level
    Rfc rfc
    const uc_set *nss       # the bytes of plain NSSs,
    const uc_set *nss_or_cr  # the same, with "\r"
    const RuleTable *rules  # NULL: the level has none


cdef class UrnRows(RowOperation):
    cdef UrnOptions urn_options
    cdef Rules rules        # which the options point to
    cdef int set_options(self, Rfc rfc, UrnLevel level) except -1
