"""Operations on rows of URNs."""
from uricodec._base._kernels cimport uc_set
from uricodec.urn._syntax cimport Rfc, Rules, RuleTable, UrnLevel
from uricodec._rows._engine cimport *


cdef struct UrnOptions:
    UrnLevel level
    Rfc rfc
    const uc_set *nss       # the bytes of plain NSSs,
    const uc_set *nss_or_cr  # the same, with "\r"
    const RuleTable *rules  # NULL: they are not needed
    bint validates          # whether a URN that breaks the rules of its namespace is rejected


cdef class UrnRows(RowOperation):
    cdef UrnOptions urn_options
    cdef Rules rules        # which the options point to
    cdef int set_options(self, Rfc rfc, UrnLevel level) except -1
    cdef int set_rules(self) except -1
    cdef int set_validation(self) except -1
