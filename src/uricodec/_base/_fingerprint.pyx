"""Fingerprints: 128 bits that represent an identifier of any length, under a secret key.

docs/developing/fingerprint.md defines them byte for byte, and shows how unlikely collisions are. simd/fingerprint.h has
the loop; this module has the keys.
"""
cimport cython
from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport uint8_t

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from uricodec._base._text cimport UTF8_CAPACITY, Bytes, borrow_bytes, release, utf8_of

import os


@cython.final
cdef class FingerprintKey:
    """A secret key for fingerprints: equal keys give equal fingerprints, on every machine.

    Without a secret, the key is random, which makes it impossible to craft identifiers with equal fingerprints. Its
    fingerprints are meaningless outside the process. A random key cannot be pickled, because that would store a secret
    that the program has not chosen. A key with a given secret can be pickled; the pickle has the secret in plain text.

    Args:
        secret (str | bytes-like | None): The secret from which the key is derived; it must not be empty. A str is encoded
            as UTF-8. None: random. The guarantees of docs/developing/fingerprint.md require that the secret cannot be
            guessed.

    Raises:
        ValueError: If the secret is empty, or a str with a surrogate.

    >>> key = FingerprintKey("of our corpus")
    >>> key.fingerprint("urn:isbn:0451450523").hex()
    '94406181221a2f97f643ca786848c036'
    >>> key == FingerprintKey(b"of our corpus"), key == FingerprintKey()
    (True, False)
    >>> key
    FingerprintKey(secret=...)
    """

    def __cinit__(self, secret=None, _material=None):
        if _material is not None:
            self.material = bytes(_material)
        elif secret is None:
            self.material = os.urandom(UC_FINGERPRINT_KEY)
        else:
            from hashlib import blake2b
            try:
                self.given = secret.encode() if isinstance(secret, str) else bytes(memoryview(secret))
            except UnicodeEncodeError:
                raise ValueError("lone surrogate in the secret") from None
            if not self.given:
                raise ValueError("secret must not be empty")
            self.material = blake2b(self.given, digest_size=UC_FINGERPRINT_KEY, person=b"uricodec-finger1").digest()
        if len(self.material) != UC_FINGERPRINT_KEY:
            raise ValueError(f"expected 64 bytes of key material, got {len(self.material)}")
        make_key(&self.key, <const uint8_t *>PyBytes_AS_STRING(self.material))

    def fingerprint(self, data):
        """Return the fingerprint of an identifier.

        Args:
            data (str | bytes-like): The identifier, which is not normalized. A str is encoded as UTF-8.

        Returns:
            bytes: 16 bytes.

        Raises:
            UnicodeEncodeError: If a str has a surrogate.

        >>> key = FingerprintKey("of our corpus")
        >>> key.fingerprint("d\\xe9j\\xe0") == key.fingerprint(b"d\\xc3\\xa9j\\xc3\\xa0")
        True
        """
        cdef uint8_t utf8[UTF8_CAPACITY]
        cdef Bytes source
        cdef Py_buffer buffer
        cdef bytes result = PyBytes_FromStringAndSize(NULL, UC_FINGERPRINT)
        cdef uint8_t *dst = <uint8_t *>PyBytes_AS_STRING(result)
        if isinstance(data, str):
            if not utf8_of(data, &source, utf8):
                data.encode()
            fingerprint(&self.key, source.data, source.size, dst)
            release(&source)
            return result
        borrow_bytes(data, &buffer)
        fingerprint(&self.key, <const uint8_t *>buffer.buf, <size_t>buffer.len, dst)
        PyBuffer_Release(&buffer)
        return result

    @property
    def _material(self):
        """Return the 64 bytes of a key that was made without a secret, which saved sets store; None for other keys."""
        return self.material if self.given is None else None

    def __eq__(self, other):
        if not isinstance(other, FingerprintKey):
            return NotImplemented
        return self.material == (<FingerprintKey>other).material

    def __hash__(self):
        return hash(self.material)

    def __repr__(self):
        return "FingerprintKey()" if self.given is None else "FingerprintKey(secret=...)"

    def __reduce__(self):
        if self.given is None:
            raise TypeError("cannot pickle a FingerprintKey with a random secret; pass one to FingerprintKey")
        return FingerprintKey, (self.given,)


def as_key(secret):
    """Return the key for a secret. A key is returned as it is, and None if there is no secret.

    >>> as_key("of our corpus") == FingerprintKey("of our corpus"), as_key(None)
    (True, None)
    """
    return secret if secret is None or isinstance(secret, FingerprintKey) else FingerprintKey(secret)
