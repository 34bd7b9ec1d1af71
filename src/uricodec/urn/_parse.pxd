"""The names of codes, specifications and levels, and errors."""
from uricodec.urn._grammar cimport UrnCode


cdef list CODE_NAMES
cdef list REASONS

cdef int rfc_of(object rfc) except -1
cdef int level_of(object level) except -1
cdef object raise_fault_at(object urn, UrnCode code, size_t offset)
cdef const void *frozen_rules() except NULL
