"""Normal forms of single values."""
from uricodec._rows._single cimport Single


# Return what makes the form of a level, or of a policy: a Policy, or the name of a ready one. It is constant, or set in
# *form, and refers to the policy, which the caller holds as long.
cdef const Single *find_form(object level, object policy, Single *form) except NULL
