"""Rejected lines as Python objects."""
from uricodec._rows._operation cimport *


# The first `limit` rejected lines of a run, as LineFault tuples.
cdef list faults_of(const Run *run, RowOperation operation, size_t limit)
