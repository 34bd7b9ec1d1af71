"""The operation of a policy."""
from libc.stdint cimport uint8_t

from uricodec._rows._engine cimport RowOperation, SizedRow
from uricodec._rows._single cimport Single
from uricodec._url._queries cimport NameSet
from uricodec._url._whatwg cimport WhatwgBase


cdef enum Query:
    KEEP_QUERY, SORT_QUERY, DROP_QUERY, DROP_EMPTY, NAMES_OF_QUERY

# What a policy does after the normal form of a level.
cdef struct Steps:
    SizedRow normal             # the row function of the level,
    const void *options         # and its options
    bint adds                   # the level is one that includes the ones before it
    bint to_uri                 # the level writes hosts in ASCII
    bint http_is_https, drops_userinfo, strips_www
    bint drops_sessions, lowers_path, shapes, drops_slash, drops_fragment
    bint ends_only              # nothing is changed but userinfo, query and fragment
    Query query
    NameSet documents           # default documents
    NameSet dropped             # names of parameters


cdef enum:
    POLICY_EXTRA = 1            # additional bytes that the steps need: "https" is longer than "http"


cdef class PolicyRows(RowOperation):
    cdef Steps steps
    cdef bint ascii_stays       # the form of ASCII is at most as long, but for `extra`
    cdef bint rejects           # some URLs have no form
    cdef list held              # what `steps` refers to
    cdef WhatwgBase base        # of the policy "whatwg"; None: no relative URL is valid

    cdef int set_whatwg(self, object base) except -1


# Set `form` to the operation of a policy, for single values.
cdef const Single *form_of_policy(PolicyRows rows, Single *form) noexcept
