"""Buffers of lines, encoded and decoded as they are read: what the command line streams through.

A decoded line is still one line. Unless the caller wants it raw, a triplet that stands for a control character (a
newline, NUL, an escape of a terminal) stays a triplet, and so do octets that are not UTF-8, by policy.

Decoding works on blocks of whole lines that fit the first cache. A block is decoded as if nothing were special and then
checked, for controls and invalid octets that were not there before. A block that fails is tried again in smaller
blocks, and those that fail line by line; a line that fails is decoded character by character.
"""
from libc.string cimport memchr

from uricodec._core._kernels cimport UC_FULL, ByteSet, add_octet, kernels, remove_octet, uc_set
from uricodec._core._text cimport *
from uricodec._core._triplets cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer


cdef enum:
    BLOCK = 8192            # octets that are tried at once,
    SMALL_BLOCK = 1024      # and after that

# Every octet but the controls of ASCII.
NO_CONTROL = ~ByteSet([*range(0x20), 0x7F])


cdef bint has_c1(const uint8_t *src, size_t n) noexcept nogil:
    cdef const uint8_t *at = src
    cdef const uint8_t *end = src + n
    while True:
        at = <const uint8_t *>memchr(at, 0xC2, end - at)
        if at == NULL or end - at < 2:
            return False
        if at[1] < 0xA0:
            return True
        at += 1


cdef size_t decode_quickly(const uint8_t *src, size_t n, const Careful *how, uint8_t *dst) noexcept nogil:
    """Decode lines of which nothing needs care; UC_FULL if something may."""
    cdef size_t size = kernels.decode(src, n, how.plus, dst, n)
    if how.policy != KEEP and memchr(dst, c'%', size) != NULL:
        return UC_FULL      # perhaps a malformed triplet
    if size == n:
        # Nothing was decoded, and what was there before is not the decoder's affair.
        if how.plus and how.free != NULL and not how.free.member[<uint8_t>c' ']:
            return UC_FULL
        return size if how.policy == KEEP or not how.utf8 or is_utf8(dst, size) else UC_FULL
    if how.utf8 and not is_utf8(dst, size):
        return UC_FULL
    # Decoding takes none away of the octets that are not free (no "%", no "+" and no digit): if there are as many as
    # before, none has been added.
    if how.free != NULL and kernels.count_outside(dst, size, how.free) != kernels.count_outside(src, n, how.free):
        return UC_FULL
    return UC_FULL if how.c1 and has_c1(dst, size) else size


cdef size_t end_of_line(const uint8_t *src, size_t start, size_t n, uint8_t last) noexcept nogil:
    """Where the next line starts."""
    cdef const uint8_t *newline = <const uint8_t *>memchr(src + start, last, n - start)
    return n if newline == NULL else newline - src + 1


cdef size_t end_of_block(const uint8_t *src, size_t start, size_t n, uint8_t last, size_t block) noexcept nogil:
    """Where the last line ends that fits into a block; the end of the first one if it does not."""
    cdef size_t end
    if n - start <= block:
        return n
    end = start + block
    while end > start:
        if src[end - 1] == last:
            return end
        end -= 1
    return end_of_line(src, start, n, last)


cdef size_t decode_blocks(const uint8_t *src, size_t n, uint8_t last, Careful *how, uint8_t *dst,
                          size_t block) noexcept nogil:
    """Decode lines in blocks of that size (0: of one line), and those that fail in smaller ones."""
    cdef size_t start = 0, end, size, o = 0
    while start < n:
        end = end_of_block(src, start, n, last, block) if block else end_of_line(src, start, n, last)
        size = decode_quickly(src + start, end - start, how, dst + o)
        if size == UC_FULL:
            if block:
                size = decode_blocks(src + start, end - start, last, how, dst + o, SMALL_BLOCK if block == BLOCK else 0)
            else:
                size = decode_carefully(src + start, end - start, how, dst + o)
            if how.fault != NO_FAULT:
                how.position += start
                return 0
        o += size
        start = end
    return o


cdef void set_careful(Careful *how, bint plus, bint raw, Policy policy, ByteSet free):
    how.policy = how.malformed = policy
    how.plus, how.utf8, how.fault = plus, not raw, NO_FAULT
    how.free = NULL if raw else &free.set
    how.c1 = not raw and not free.set.member[0x1B]


def decode_lines(src, dst, plus=False, raw=False, errors="keep", end=b"\n", free=NO_CONTROL):
    """Decode lines so that each stays one line.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        dst (bytes-like): Where to write: a writable buffer elsewhere, of len(src) octets, or 3 * len(src) with
            errors="replace".
        plus (bool): Read '+' as a space.
        raw (bool): Decode every triplet to its octet. Otherwise those of octets that are not `free` stay, and decoded
            octets have to be UTF-8.
        errors (str): What to do with a malformed triplet, and with octets that are not UTF-8: "keep" leaves the
            triplets as they are, "replace" puts U+FFFD in their place, "raise" raises.
        end (bytes): The octet that ends a line.
        free (ByteSet): What may be decoded, with "%", "+", letters and digits. By default all but the controls of ASCII;
            then the others (U+0080-009F) stay, too.

    Returns:
        int: The number of octets written.

    Raises:
        UriSyntaxError: With errors="raise"; `position` is an octet of src, and nothing useful is in dst.
        ValueError: dst is too small, or there is no such policy.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.

    >>> buffer = bytearray(30)
    >>> n = decode_lines(b"/a%20b\\n/c%0Ad%FF\\n", buffer)
    >>> bytes(buffer[:n])
    b'/a b\\n/c%0Ad%FF\\n'
    """
    cdef Careful how
    cdef Py_buffer source, target
    cdef size_t written
    cdef uint8_t last = ord(end)
    set_careful(&how, plus, raw, policy_of(errors, "replace", "raise"), <ByteSet?>free)
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            if target.len // (3 if how.policy == REPLACE else 1) < source.len:
                raise ValueError(f"dst is too small: {target.len} octets")
            with nogil:
                written = decode_blocks(<const uint8_t *>source.buf, source.len, last, &how, <uint8_t *>target.buf,
                                        BLOCK)
        finally:
            PyBuffer_Release(&target)
        if how.fault != NO_FAULT:
            raise_fault(src, &how)
        return written
    finally:
        PyBuffer_Release(&source)


cdef size_t encode_all(const uint8_t *src, size_t n, const uc_set *safe, bint plus, uint8_t *dst, size_t cap) noexcept nogil:
    """Encode all but "\\n", which is in `safe`, and the "\\r" before it."""
    if not safe.member[<uint8_t>c'\n']:
        return kernels.encode(src, n, safe, plus, dst, cap)
    cdef size_t start = 0, end, size, o = 0
    cdef const uint8_t *found
    while True:
        end = start
        while True:
            found = <const uint8_t *>memchr(src + end, c'\r', n - end)
            end = n if found == NULL else found - src
            if n - end < 2 or src[end + 1] == c'\n':
                break
            end += 1
        if n - end < 2:
            end = n
        size = kernels.encode(src + start, end - start, safe, plus, dst + o, cap - o)
        if size == UC_FULL:
            return UC_FULL
        o += size
        if end == n:
            return o
        if cap - o < 1:
            return UC_FULL
        dst[o] = c'\r'
        o += 1
        start = end + 1


def encode_lines(src, dst, safe, plus=False, end=b"\n"):
    """Percent-encode lines, but for their ends.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        dst (bytes-like): Where to write: a writable buffer elsewhere; 3 * len(src) octets are always enough.
        safe (ByteSet): The octets that stay as they are.
        plus (bool): Write '+' for a space, and always encode a '+'.
        end (bytes): The octet that ends a line: it stays besides, and if it is "\\n", a "\\r" before it.

    Returns:
        int: The number of octets written.

    Raises:
        ValueError: dst is too small.

    Source: RFC 3986 section 2.1.

    >>> from uricodec import ByteSet
    >>> buffer = bytearray(30)
    >>> n = encode_lines(b"ab c\\r\\n", buffer, ByteSet("abc"))
    >>> bytes(buffer[:n])
    b'ab%20c\\r\\n'
    """
    cdef uc_set set = (<ByteSet?>safe).set
    cdef Py_buffer source, target
    cdef size_t written
    cdef bint spaces = plus
    add_octet(&set, ord(end))
    if plus:
        add_octet(&set, c' ')
        remove_octet(&set, c'+')
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            with nogil:
                written = encode_all(<const uint8_t *>source.buf, source.len, &set, spaces, <uint8_t *>target.buf, target.len)
            if written == UC_FULL:
                raise ValueError(f"dst is too small: {target.len} octets")
            return written
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
