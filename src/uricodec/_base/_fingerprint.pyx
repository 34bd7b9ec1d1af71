"""Fingerprints: 128 bits that stand for a name of any length, under a key.

docs/fingerprint.md defines them, octet for octet, and shows how unlikely it is that two names have the same one.
simd/fingerprint.h is the loop; here are the keys.
"""
cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t

from uricodec._base._text cimport UTF8_ROOM, Octets, borrow_octets, release, utf8_octets

import os


@cython.final
cdef class FingerprintKey:
    """A secret that fingerprints depend on: the same key gives the same fingerprints, on every machine.

    A key that is made without an argument is random: nobody can craft names that share a fingerprint. It stays in the
    process, and so should its fingerprints. Such a key cannot be pickled: it would become a secret in a file that nobody
    asked for. A given key can, because who gave it has it anyway; the pickle holds it in plain.

    Args:
        key (str | bytes-like | None): What the key is derived from, not empty: a str stands for its UTF-8. The promises
            of docs/fingerprint.md hold against those who can not guess it.

    Raises:
        ValueError: An empty key, or a str with a surrogate.

    >>> key = FingerprintKey("of our corpus")
    >>> key.fingerprint("urn:isbn:0451450523").hex()
    '94406181221a2f97f643ca786848c036'
    >>> key == FingerprintKey(b"of our corpus"), key == FingerprintKey()
    (True, False)
    >>> key
    FingerprintKey(key=...)
    """

    def __cinit__(self, key=None):
        if key is None:
            self.octets = os.urandom(UC_FINGERPRINT_KEY)
        else:
            from hashlib import blake2b
            self.given = key.encode() if isinstance(key, str) else bytes(memoryview(key))
            if not self.given:
                raise ValueError("the key is empty")
            self.octets = blake2b(self.given, digest_size=UC_FINGERPRINT_KEY, person=b"uricodec-finger1").digest()
        if len(self.octets) != UC_FINGERPRINT_KEY:
            raise ValueError("a key is made of 64 octets")
        make_key(&self.key, <const uint8_t *>PyBytes_AS_STRING(self.octets))

    def fingerprint(self, data):
        """Return the fingerprint of a name.

        Args:
            data (str | bytes-like): The name as it is: nothing is normalised. A str stands for its UTF-8.

        Returns:
            bytes: 16 octets.

        Raises:
            UnicodeEncodeError: A str with a surrogate.

        >>> key = FingerprintKey("of our corpus")
        >>> key.fingerprint("d\\xe9j\\xe0") == key.fingerprint(b"d\\xc3\\xa9j\\xc3\\xa0")
        True
        """
        cdef uint8_t room[UTF8_ROOM]
        cdef Octets octets
        cdef Py_buffer buffer
        cdef bytes result = PyBytes_FromStringAndSize(NULL, UC_FINGERPRINT)
        cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(result)
        if isinstance(data, str):
            if not utf8_octets(data, &octets, room):
                data.encode()
            fingerprint(&self.key, octets.data, octets.size, dst)
            release(&octets)
            return result
        borrow_octets(data, &buffer)
        fingerprint(&self.key, <const uint8_t *>buffer.buf, <size_t>buffer.len, dst)
        PyBuffer_Release(&buffer)
        return result

    def __eq__(self, other):
        if not isinstance(other, FingerprintKey):
            return NotImplemented
        return self.octets == (<FingerprintKey>other).octets

    def __hash__(self):
        return hash(self.octets)

    def __repr__(self):
        return "FingerprintKey()" if self.given is None else "FingerprintKey(key=...)"

    def __reduce__(self):
        if self.given is None:
            raise TypeError("a random FingerprintKey cannot be pickled; give it a key to share")
        return FingerprintKey, (self.given,)


def run_rows(FingerprintKey key not None, src, starts, ends, dst):
    """Fingerprints of the rows of a buffer. For tests: everything else calls fingerprints() from its own loop.

    Args:
        key (FingerprintKey): The key.
        src (bytes-like): The octets.
        starts (bytes-like), ends (bytes-like): Where rows start and end, as many size_t as there are rows.
        dst (bytes-like): The output, writable, 16 octets a row.

    Raises:
        ValueError: Sizes that do not fit, or a row that is not inside the buffer.

    >>> import ctypes
    >>> key, rows = FingerprintKey("x"), bytearray(32)
    >>> run_rows(key, b"abcd", (ctypes.c_size_t * 2)(0, 3), (ctypes.c_size_t * 2)(3, 4), rows)
    >>> rows == key.fingerprint("abc") + key.fingerprint("d")
    True
    """
    cdef Py_buffer buffers[4]
    cdef size_t held = 0, rows, i
    cdef const size_t *first
    cdef const size_t *last
    try:
        for flags, item in (PyBUF_SIMPLE, src), (PyBUF_SIMPLE, starts), (PyBUF_SIMPLE, ends), (PyBUF_WRITABLE, dst):
            PyObject_GetBuffer(item, &buffers[held], flags)
            held += 1
        rows = <size_t>buffers[3].len // UC_FINGERPRINT
        if not rows * sizeof(size_t) == <size_t>buffers[1].len == <size_t>buffers[2].len:
            raise ValueError("not as many starts and ends as there is room for")
        first, last = <const size_t *>buffers[1].buf, <const size_t *>buffers[2].buf
        for i in range(rows):
            if not first[i] <= last[i] <= <size_t>buffers[0].len:
                raise ValueError(f"row {i} is not inside the buffer")
        with nogil:
            fingerprints(&key.key, <const uint8_t *>buffers[0].buf, first, last, rows, <uint8_t *>buffers[3].buf)
    finally:
        while held:
            held -= 1
            PyBuffer_Release(&buffers[held])
