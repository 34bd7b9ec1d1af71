"""The names of codes, RFCs and levels."""


cdef list CODE_NAMES
cdef list REASONS

cdef int rfc_of(object rfc) except -1
cdef int level_of(object level) except -1
