"""URNs (RFC 2141, RFC 8141): the lexical normal form of lines of them.

What is equivalent in every URN: the case of "urn", of the NID and of the digits of triplets (RFC 2141 section 5, RFC 8141
section 3.1). Nothing is decoded, and letters beyond ASCII have no case here.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memmove

from uricodec._core._kernels cimport kernels, provide, uc_kernels

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer


cdef inline uint8_t lower(uint8_t c) noexcept nogil:
    return c + 32 if c'A' <= c <= c'Z' else c


cdef size_t end_of_nid(const uint8_t *line, size_t n) noexcept nogil:
    """Where the second colon of a URN stands, or the line ends; 0 if the line is no URN."""
    cdef size_t i = 4
    if n < 4 or lower(line[0]) != c'u' or lower(line[1]) != c'r' or lower(line[2]) != c'n' or line[3] != c':':
        return 0
    while i < n and line[i] != c':':
        i += 1
    return i


cdef void normalize_urns(const uint8_t *src, size_t n, uint8_t end, uint8_t *dst) noexcept nogil:
    cdef size_t start = 0, size, nid, i
    cdef const uint8_t *found
    while start < n:
        found = <const uint8_t *>memchr(src + start, end, n - start)
        size = (n if found == NULL else found - src + 1) - start
        nid = end_of_nid(src + start, size if found == NULL else size - 1)
        for i in range(start, start + nid):
            dst[i] = lower(src[i])
        if nid:
            kernels.upper_triplets(src + start + nid, size - nid, dst + start + nid)
        else:
            memmove(dst + start, src + start, size)
        start += size


cdef uc_kernels portable
portable.normalize_urns = normalize_urns
provide(&portable)


def normalize_lines(src, dst, end=b"\n"):
    """Bring lines of URNs into lexical normal form. Other lines stay as they are.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        dst (bytes-like): Where to write len(src) octets: a writable buffer elsewhere, or src itself.
        end (bytes): The octet that ends a line: no letter, digit, "%" or ":".

    Raises:
        ValueError: dst is too small, or `end` is no such octet.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> buffer = bytearray(b"URN:NBN:de:101%c3%a9\\nurl:A%2f\\n")
    >>> normalize_lines(buffer, buffer)
    >>> bytes(buffer)
    b'urn:nbn:de:101%C3%A9\\nurl:A%2f\\n'
    """
    cdef Py_buffer source, target
    cdef uint8_t octet
    if len(end) != 1 or end.isalnum() or end in b"%:":
        raise ValueError(f"no octet that can end a line of URNs: {end!r}")
    octet = end[0]
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            if target.len < source.len:
                raise ValueError(f"dst is too small: {target.len} octets")
            with nogil:
                kernels.normalize_urns(<const uint8_t *>source.buf, source.len, octet, <uint8_t *>target.buf)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
