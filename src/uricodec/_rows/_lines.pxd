"""Rejected lines as objects."""
from uricodec._rows._operation cimport *


# The first `limit` of a run's rejected lines, as LineFaults.
cdef list faults_of(const Run *run, RowOperation operation, size_t limit)
