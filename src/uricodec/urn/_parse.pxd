"""The names of codes, RFCs and levels, and the rules of namespaces."""


cdef list CODE_NAMES
cdef list REASONS

cdef int rfc_of(object rfc) except -1
cdef int level_of(object level) except -1
cdef const void *frozen_rules() except NULL
