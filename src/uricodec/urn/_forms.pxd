"""The forms that registrations of namespaces require of an NSS."""
from libc.stdint cimport uint8_t


# What is found out about an NSS; the numbers after these are faults, see TEXTS.
cdef enum:
    WELL_FORMED, UNDECIDED, FIRST_FAULT


# Reads an NSS, which is not empty. Returns a number of these; `at` is the offset of a wrong check digit, and 0 otherwise.
ctypedef int (*form_function)(const uint8_t *nss, size_t n, size_t *at) noexcept nogil


cdef class Form:
    cdef form_function function
    cdef readonly str nid


# Whether a fault is a wrong check digit, not another form.
cdef bint is_of_check_digit(int fault) noexcept nogil
