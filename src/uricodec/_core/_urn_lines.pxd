"""Lines of URNs into normal form, for other loops over lines."""
from uricodec._core._kernels cimport uc_set
from uricodec._core._row_lines cimport LineTask
from uricodec._core._urn_forms cimport Level
from uricodec._core._urn_grammar cimport Spec


cdef struct Task:
    LineTask lines
    Level level             # none above NAMESPACE
    Spec spec
    uc_set ends             # every octet but the end
    uc_set no_component     # and these: every octet but "?" and "#"
    const uc_set *nss

cdef void set_form(Task *task, Level level, Spec spec) noexcept
# All lines, to lines.dst, which has room for as many octets. False: one was refused, and the policy is FAIL.
cdef bint write_lines(Task *task) noexcept nogil
