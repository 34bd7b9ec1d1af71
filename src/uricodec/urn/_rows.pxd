"""Operations on rows of URNs."""
from uricodec._base._kernels cimport uc_set
from uricodec.urn._normalize cimport Level
from uricodec.urn._grammar cimport Rfc
from uricodec._rows._operation cimport *


cdef struct UrnOptions:
    Level level
    Rfc rfc
    const uc_set *nss       # what plain ones consist of,
    const uc_set *nss_or_cr  # and lines that "\r\n" terminates
    const void *rules       # of namespaces, as they were when the operation was made


cdef class UrnRows(RowOperation):
    cdef UrnOptions naming
    cdef int set_options(self, Rfc rfc, Level level) except -1
