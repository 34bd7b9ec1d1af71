"""The condition for the fast path of calls."""
from uricodec._base._text cimport *
from uricodec._rows._engine cimport SizedRow

cdef inline bint is_short(PyObject *text) noexcept:
    """Return whether a call may read a text in place and build its result on the stack."""
    return (type(<object>text) is str and PyUnicode_IS_COMPACT_ASCII(<object>text)
            and PyUnicode_GET_LENGTH(<object>text) <= SMALL)


# What makes a normal form.
cdef struct Maker:
    const SizedRow *operation
    const void *options
    bint rejects                # some references have no form
    bint replaces_surrogates    # by U+FFFD
    bint ascii_stays            # the form of ASCII is at most as long, but for `extra`
    bint keeps_normal           # what is_normal() accepts is its own form


# Set what makes the form of a level, or of a policy: a Policy, or the name of a ready one. The caller holds a Policy as
# long as it uses the Maker.
cdef int set_maker(Maker *maker, object level, object policy) except -1
