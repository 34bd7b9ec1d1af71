"""The usual hosts with labels beyond ASCII, converted without objects."""
from libc.stdint cimport uint8_t


cdef enum:
    A_LABELS_CAPACITY = 320     # of `dst`, more than a host may have
    U_LABELS_CAPACITY = 1280

# Convert a host, in UTF-8, as _url._hosts does, and return the size. 0: it is not certain that _hosts accepts the host, so
# ask there. UC_REJECTED: an exception is set. safe: labels that mix scripts become A-labels.
cdef size_t to_a_labels(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil
cdef size_t to_u_labels(const uint8_t *host, size_t n, bint safe, uint8_t *dst) noexcept nogil

# Convert a domain, in UTF-8, as _domains does. 0: in doubt, so ask there.
cdef size_t to_domain(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil

# Convert a host, in UTF-8, as w3lib_host() and the answer "idna_2003" of _hosts do, which agree on it. Return the size.
# 0: in doubt, so ask; -2: an exception is set.
cdef Py_ssize_t to_idna_2003(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil

# Ask a function of _hosts.ANSWERS about a host that is in doubt, and write what it returns. Return the size; -1 if the host
# is invalid, or longer than the capacity then; -2: an exception is set.
cdef Py_ssize_t ask_about_host(const char *function, const uint8_t *host, size_t n, uint8_t *dst, size_t capacity) \
    noexcept nogil

# Remove the characters that UTS 46 maps to nothing from a host in UTF-8, in place, and write "." for each other full stop.
# Return the size; UC_REJECTED: an exception is set. So lengths can be limited as if the host had never had them.
cdef size_t without_ignored(uint8_t *host, size_t n) noexcept nogil
