"""Percent-encoding beyond urllib.parse: lossless decoding, idempotent encoding, and functions for the caller's buffers.

RFC 3986 sections 2.1 and 2.4: a triplet is decoded once, and nothing is encoded twice. What cannot be decoded (a '%'
without two hexadecimal digits; in text, bytes that are not UTF-8) is kept, replaced or reported, never lost.
"""
from libc.string cimport memchr

from uricodec._base._kernels cimport (
    ALL_BYTES, ASCII_BYTES, SUB_DELIMS, UC_FULL, UNRESERVED, ByteSet, add_byte, kernels, next_mark, remove_byte, uc_set, uc_utf8,
)
from uricodec._codec._charsets cimport *
from uricodec._codec._percent cimport *
from uricodec._base._text cimport *

from uricodec.errors import UriError, UriSyntaxError

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer


# --- decoding with a policy -------------------------------------------------------------------------------------------

# ASCII that means itself.
cdef ByteSet ITSELF = ASCII_BYTES - "%"
cdef ByteSet ITSELF_BUT_PLUS = ITSELF - "+"


cdef bint is_utf8(const uint8_t *src, size_t n) noexcept nogil:
    cdef uc_utf8 found
    return kernels.scan_utf8(src, n, &found) == n


cdef size_t read_encoded(const uint8_t *src, size_t n, const CharsetTable *tables, uint8_t *utf8, size_t *used,
                         size_t *end) noexcept nogil:
    """Read the character that begins src[:n], each byte of which may be a triplet. Return the size of its UTF-8.

    `used` is the number of its bytes, which are written as src[:end]. If it is invalid, these are about its first
    byte, and the result is 0.
    """
    cdef uint8_t sequence[CHARSET_BYTES]
    cdef size_t ends[CHARSET_BYTES]
    cdef size_t have = 0, step = unit_at(src, 0, n, sequence), place = 0
    cdef const CharsetEntry *entry
    while step:
        place += step
        ends[have] = place
        have += 1
        step = unit_at(src, place, n, sequence + have) if have < CHARSET_BYTES else 0
    entry = charset_character(tables, sequence, have, used)
    if entry == NULL:
        used[0], end[0] = 1, ends[0]
        return 0
    end[0] = ends[used[0] - 1]
    memcpy(utf8, entry.utf8, entry.size)
    return entry.size


cdef enum:
    WINDOW = 1024       # bytes that are marked at once,
    WORDS = 16          # and the words of their marks


cdef size_t decode_strictly(const uint8_t *src, size_t n, StrictOptions *how, uint8_t *dst,
                            const CharsetTable *tables=NULL) noexcept nogil:
    """Decode one character at a time, with a policy for each kind of error. Stops at an error if the policy is FAIL.

    Characters of ASCII that mean themselves, which are not marked, are copied at once. With `tables`, the decoded bytes are
    in that encoding instead of UTF-8. dst has a capacity of n bytes, or 3 n with REPLACE or `tables`. Returns the number of
    bytes written, which are UTF-8 but for those that stay.
    """
    cdef size_t i = 0, o = 0, size, step, end, have, length, used, window = 0, stop = 0
    cdef uint64_t marks[WORDS]
    cdef uint8_t utf8[2 * CHARSET_FACTOR]
    cdef DecodeFault fault
    cdef BytePolicy policy
    cdef const uc_set *itself = &ITSELF_BUT_PLUS.set if how.plus else &ITSELF.set
    how.fault = NO_FAULT
    while True:
        if i >= stop:
            if i == n:
                return o
            window, stop = i, i + min(n - i, <size_t>WINDOW)
            kernels.mark_outside(src + i, stop - i, itself, marks)
        end = window + next_mark(marks, i - window, stop - window)
        o += copy_some(dst + o, src + i, end - i, n - i)
        i = end
        if i == stop:
            continue
        # One character, utf8[:have]: its bytes, `used` of them, are written as src[i:end].
        size = unit_at(src, i, n, utf8)
        if tables == NULL:
            end = i + size
            length = <size_t>sequence_length(utf8[0]) if how.utf8 else 1
            have = 1
            while have < length:
                step = unit_at(src, end, n, utf8 + have)
                if step == 0 or not continues(utf8[0], <int>have, utf8[have]):
                    break
                have += 1
                end += step
            used = have
        else:
            have = read_encoded(src + i, n - i, tables, utf8, &used, &end)
            length = max(have, <size_t>1)
            end += i
        fault = NOT_UTF8 if have != length else MALFORMED if size == 1 and src[i] == c'%' else NO_FAULT
        policy = how.malformed if fault == MALFORMED else how.policy
        if fault != NO_FAULT and policy == FAIL:
            how.fault = fault
            how.offset = i
            return o
        if fault != NO_FAULT and policy == REPLACE:
            memcpy(dst + o, b"\xEF\xBF\xBD", 3)     # U+FFFD
            o += 3
        elif fault != NO_FAULT or end - i > used and stays(how, utf8, have):
            o += copy_some(dst + o, src + i, end - i, n - i)
        else:
            if how.plus and size == 1 and src[i] == c'+' and (how.free == NULL or how.free.member[<uint8_t>c' ']):
                utf8[0] = c' '
            memcpy(dst + o, utf8, have)
            o += have
        i = end


cdef inline size_t copy_some(uint8_t *dst, const uint8_t *src, size_t n, size_t room) noexcept nogil:
    """Copy n bytes, usually few; so many as `room` may be read and written. Return n."""
    if n <= 16 and room >= 16:
        memcpy(dst, src, 16)
    else:
        memcpy(dst, src, n)
    return n


cdef bint stays(const StrictOptions *how, const uint8_t *decoded, size_t n) noexcept nogil:
    """Return whether the triplets of a character must not be decoded."""
    cdef size_t i
    if how.free == NULL:
        return False
    for i in range(n):
        if not how.free.member[decoded[i]]:
            return True
    return how.c1 and n == 2 and decoded[0] == 0xC2 and decoded[1] < 0xA0


cdef BytePolicy policy_of(object errors) except *:
    if errors == "keep":
        return KEEP
    if errors == "replace":
        return REPLACE
    if errors == "raise":
        return FAIL
    raise ValueError(f"errors must be one of 'keep', 'replace', 'raise', got {errors!r}")


cdef int raise_fault(object data, const StrictOptions *how) except -1:
    reason = "\"%\" not followed by two hexadecimal digits" if how.fault == MALFORMED else "invalid UTF-8"
    raise UriSyntaxError(reason, data, <Py_ssize_t>how.offset)


# --- public functions ---------------------------------------------------------------------------------------------------

# RFC 3986 section 2.3, with the reserved characters of section 2.2.
URI_CHARACTERS = UNRESERVED | ":/?#[]@" | SUB_DELIMS


cdef ByteSet safe_set(object safe):
    """Return the bytes that `safe` means: a ByteSet as it is; of a str or bytes, the ASCII characters and the unreserved."""
    cdef ByteSet kept = safe if type(safe) is ByteSet else quote_set(safe, False)
    if kept is None:
        raise TypeError(f"safe must be a ByteSet, a str or bytes, not {type(safe).__name__}")
    return kept


def kept_in_rows(safe, bytes terminator not None):
    """Return the bytes to keep in rows.

    Args:
        safe (ByteSet | str | bytes): As in `percent_encode`.
        terminator (bytes): What ends lines, which is kept, too; b"": rows are not lines.

    Raises:
        TypeError: If `safe` has another type.
        ValueError: If a ByteSet contains some of the bytes from 128 up, but not all.
    """
    cdef ByteSet kept = safe_set(safe)
    if not kept.ascii and kept | range(128) != ALL_BYTES:
        raise ValueError("safe must contain all non-ASCII bytes or none")
    return kept | terminator if terminator else kept


cdef object encode_data(object data, const uc_set *safe, bint plus, bint ascii):
    """Encode a str or bytes-like; return the same object if it is a plain one and does not change."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Py_buffer view
    cdef object result
    cdef str plain      # keeps the memory of `source` alive
    if isinstance(data, str):
        plain = data if type(data) is str else str.__str__(data)
        if not utf8_of(plain, &source, buffer):
            raise UriError("lone surrogate", data, first_surrogate(plain))
        try:
            if type(data) is str and is_unchanged(source.data, source.size, safe, plus):
                return data
            result = encode_bytes(source.data, source.size, safe, plus, ascii or PyUnicode_IS_ASCII(plain))
        finally:
            release(&source)
        if type(result) is bytes:
            # bytes beyond ASCII that were kept; they are UTF-8 only if whole characters were kept
            try:
                result = (<bytes>result).decode()
            except UnicodeDecodeError:
                raise ValueError("safe contains only some of the bytes of a character") from None
        return result
    borrow_bytes(data, &view)
    try:
        if type(data) is bytes and is_unchanged(<const uint8_t *>view.buf, <size_t>view.len, safe, plus):
            return data
        return encode_bytes(<const uint8_t *>view.buf, <size_t>view.len, safe, plus, False)
    finally:
        PyBuffer_Release(&view)


cdef inline bint is_unchanged(const uint8_t *src, size_t n, const uc_set *safe, bint plus) noexcept nogil:
    """Return whether there is nothing to encode."""
    return kernels.span(src, n, safe) == n and not (plus and is_spaced(src, n))


def percent_encode(data, safe=UNRESERVED, plus=False):
    """Percent-encode every byte that is not in `safe`.

    Args:
        data (str | bytes-like): The data to encode. A str is encoded as UTF-8.
        safe (ByteSet | str | bytes): The bytes to keep. A ByteSet is the complete set; a str or bytes adds its ASCII
            characters to the unreserved ones. A ByteSet with bytes beyond ASCII keeps those characters of a str all of
            whose bytes are in it.
        plus (bool): Whether to write '+' for a space, as in HTML forms. A '+' in the data is then always encoded.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like; the same object if a str or bytes does not change.

    Raises:
        UriError: If a str has a lone surrogate.
        ValueError: If `safe` contains only some of the bytes of a character of a str.

    Source: RFC 3986 section 2.1; upper-case digits as in section 6.2.2.1.

    >>> percent_encode("a b/\u00e9", safe="/")
    'a%20b/%C3%A9'
    >>> percent_encode(b"1+1 = 2", plus=True)
    b'1%2B1+%3D+2'
    """
    cdef ByteSet kept = safe_set(safe)
    cdef uc_set set
    if not plus:
        return encode_data(data, &kept.set, False, kept.ascii)
    set = kept.set
    add_byte(&set, c' ')
    remove_byte(&set, c'+')
    return encode_data(data, &set, True, kept.ascii)


cdef str decode_text_strictly(const uint8_t *src, size_t n, Py_ssize_t start, void *context):
    """Decode a run of ASCII characters of a str; errors have their positions in the run."""
    cdef StrictOptions *how = <StrictOptions *>context
    cdef uint8_t buffer[3 * SMALL]
    cdef uint8_t *heap = NULL
    cdef uint8_t *dst = buffer
    cdef size_t size
    if n > SMALL:
        if how.policy == REPLACE and n > <size_t>PY_SSIZE_T_MAX // 3:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        dst = heap = allocate(3 * n if how.policy == REPLACE else n)
    try:
        # Nearly all text is valid. A '%' in the result may be a malformed triplet.
        size = kernels.decode(src, n, how.plus, dst, n)
        if not is_utf8(dst, size) or how.policy != KEEP and memchr(dst, c'%', size) != NULL:
            size = decode_strictly(src, n, how, dst)
            if how.fault != NO_FAULT:
                how.offset += start
                return None
        return utf8_text(dst, size, "strict")
    finally:
        PyMem_RawFree(heap)


cdef object decode_str(str text, StrictOptions *how):
    PyUnicode_READY(text)
    if not PyUnicode_IS_ASCII(text):
        return decode_runs(text.replace("+", " ") if how.plus else text, decode_text_strictly, how)
    if is_plain(<const uint8_t *>PyUnicode_DATA(text), len(text), how.plus):
        return text
    return decode_text_strictly(<const uint8_t *>PyUnicode_DATA(text), len(text), 0, how)


cdef object decode_buffer(object data, StrictOptions *how):
    cdef Py_buffer view
    cdef const uint8_t *src
    cdef uint8_t *dst
    cdef size_t n, size
    cdef bytes result
    borrow_bytes(data, &view)
    try:
        src, n = <const uint8_t *>view.buf, <size_t>view.len
        if type(data) is bytes and is_plain(src, n, how.plus):
            return data
        result = decode_bytes(src, n, how.plus)
        if how.policy == KEEP or b"%" not in result:
            return result
        if how.policy == REPLACE and n > <size_t>PY_SSIZE_T_MAX // 3:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        dst = allocate(3 * n if how.policy == REPLACE else n)
        try:
            size = decode_strictly(src, n, how, dst)
            return PyBytes_FromStringAndSize(<char *>dst, <Py_ssize_t>size)
        finally:
            PyMem_RawFree(dst)
    finally:
        PyBuffer_Release(&view)


def percent_decode(data, plus=False, errors="keep", encoding=None):
    """Decode percent-encoded bytes once. By default, what cannot be decoded stays as it is written.

    Args:
        data (str | bytes-like): The data to decode. For a str, the decoded bytes are interpreted as UTF-8.
        plus (bool): Whether to read '+' as a space, as in HTML forms.
        errors (str): How a '%' without two hexadecimal digits and, for a str, decoded bytes that are not UTF-8 are
            handled: "keep" leaves them as they are written, "replace" writes U+FFFD, "raise" raises.
        encoding (str | None): The encoding of data that is not UTF-8 once it is decoded: latin-1, cp1251, shift_jis, gbk,
            or another superset of ASCII with at most three bytes a character. For bytes, the result is UTF-8.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like; the same object if a str or bytes does not change.

    Raises:
        UriSyntaxError: If there is an error, with errors="raise".
        ValueError: If `errors` or the encoding is unknown.

    Source: RFC 3986 sections 2.1 and 2.4; RFC 3629 for UTF-8.

    >>> percent_decode("caf%C3%A9 100% %FF")
    'caf\u00e9 100% %FF'
    >>> percent_decode("caf%C3%A9 100%", errors="raise")
    Traceback (most recent call last):
    uricodec.errors.UriSyntaxError: "%" not followed by two hexadecimal digits at offset 13
    >>> percent_decode("/%CF%F0%E8", encoding="cp1251")
    '/\u041f\u0440\u0438'
    """
    cdef StrictOptions how
    cdef bint text = isinstance(data, str)
    if encoding is not None:
        from importlib import import_module     # of _rows, which builds on this module
        return import_module("uricodec._codec._rows").decode_encoded_value(data, plus, errors, encoding)
    how.policy = how.malformed = policy_of(errors)
    how.plus, how.utf8, how.free, how.c1, how.fault = plus, text, NULL, False, NO_FAULT
    if text:
        result = decode_str(data if type(data) is str else "".join(data), &how)
    else:
        result = decode_buffer(data, &how)
    if how.fault != NO_FAULT:
        raise_fault(data, &how)
    # even with a '%' there may be nothing to decode
    return data if (type(data) is str or type(data) is bytes) and result == data else result


cdef size_t count_malformed(const uint8_t *src, size_t n, size_t *first) noexcept nogil:
    """Return the number of '%' without two hexadecimal digits, and the offset of the first."""
    cdef const uint8_t *at = src
    cdef const uint8_t *end = src + n
    cdef uint8_t byte
    cdef size_t count = 0
    while True:
        at = <const uint8_t *>memchr(at, c'%', end - at)
        if at == NULL:
            return count
        if unit_at(at, 0, end - at, &byte) == 1:
            if count == 0:
                first[0] = at - src
            count += 1
        at += 1


cdef size_t escape_malformed(const uint8_t *src, size_t n, uint8_t *dst) noexcept nogil:
    """Copy src, with "%25" for each of them. dst has a capacity of n + 2 bytes for each."""
    cdef size_t i, o = 0
    cdef uint8_t byte
    for i in range(n):
        dst[o] = src[i]
        o += 1
        if src[i] == c'%' and unit_at(src, i, n, &byte) == 1:
            dst[o] = c'2'
            dst[o + 1] = c'5'
            o += 2
    return o


cdef bint has_hex_digits(const uc_set *set) noexcept nogil:
    cdef uint8_t digit
    for digit in b"0123456789ABCDEFabcdef":
        if not set.member[digit]:
            return False
    return True


cdef object encode_around_triplets(object data, const uc_set *safe, bint ascii):
    """Do the same as encode_data() for a set without hexadecimal digits, but keep the digits of triplets."""
    cdef bint text = isinstance(data, str)
    cdef object percent = "%" if text else b"%"
    cdef object digits = "0123456789ABCDEFabcdef" if text else b"0123456789ABCDEFabcdef"
    cdef list parts = []
    cdef Py_ssize_t position = 0, kept
    for part in (data if text else bytes(memoryview(data))).split(percent):
        # After a '%': keep two digits; strip() removes both if they are digits.
        kept = 2 if position and len(part) > 1 and not part[:2].strip(digits) else 0
        try:
            parts.append(part[:kept] + encode_data(part[kept:], safe, False, ascii))
        except UriError as error:
            if not isinstance(error, UriError):     # replaced by a MemoryError
                raise error  # pragma: no cover: no memory
            raise UriError(error.reason, data, position + kept + error.offset) from None
        position += len(part) + 1
    result = percent.join(parts)
    return data if (type(data) is str or type(data) is bytes) and result == data else result


def requote(data, safe=URI_CHARACTERS, errors="keep"):
    """Percent-encode what is not encoded yet. Triplets stay, so a second call changes nothing.

    Args:
        data (str | bytes-like): A URI or a part of one, perhaps partly encoded.
        safe (ByteSet | str | bytes): The bytes to keep, as in percent_encode; by default all reserved and unreserved
            characters of RFC 3986.
        errors (str): How a '%' without two hexadecimal digits is handled: "keep" leaves it, "replace" writes %25,
            "raise" raises.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like; the same object if a str or bytes does not change.

    Raises:
        UriError: If a str has a lone surrogate.
        UriSyntaxError: If there is a '%' without two hexadecimal digits, with errors="raise".
        ValueError: If `errors` is unknown, or `safe` contains only some of the bytes of a character of a str.

    Source: RFC 3986 section 2.4.

    >>> requote("/a b/%c3%a9/100%")
    '/a%20b/%c3%a9/100%'
    >>> requote("/a b/%c3%a9/100%", errors="replace")
    '/a%20b/%c3%a9/100%25'
    """
    cdef BytePolicy policy = policy_of(errors)
    cdef ByteSet kept = safe_set(safe)
    cdef uc_set set = kept.set
    cdef StrictOptions fault
    cdef const uint8_t *src
    cdef uint8_t *dst
    cdef size_t n, count
    cdef bytes plain
    cdef str text
    add_byte(&set, c'%')
    if policy != KEEP:
        if isinstance(data, str):
            text = str.__str__(data)
            if first_surrogate(text) >= 0:
                raise UriError("lone surrogate", data, first_surrogate(text))
            plain = text.encode()
        else:
            plain = bytes(memoryview(data))
        src, n = <const uint8_t *>PyBytes_AS_STRING(plain), <size_t>len(plain)
        count = count_malformed(src, n, &fault.offset)
        if count and policy == FAIL:
            fault.fault = MALFORMED
            if isinstance(data, str):
                fault.offset = len(plain[:fault.offset].decode())
            raise_fault(data, &fault)
        if count:
            dst = allocate(encoded_size(n, count))
            try:
                plain = PyBytes_FromStringAndSize(<char *>dst, <Py_ssize_t>escape_malformed(src, n, dst))
            finally:
                PyMem_RawFree(dst)
            data = plain.decode() if isinstance(data, str) else plain
    if not has_hex_digits(&set):
        return encode_around_triplets(data, &set, kept.ascii)
    return encode_data(data, &set, False, kept.ascii)


# --- the caller's buffers ---------------------------------------------------------------------------------------------

cdef inline bint overlap(const Py_buffer *a, const Py_buffer *b) noexcept:
    cdef size_t x = <size_t>a.buf, y = <size_t>b.buf
    return x < y + <size_t>b.len and y < x + <size_t>a.len


cdef object code_into(object src, object dst, ByteSet safe):
    """Encode (or decode, without `safe`) from one buffer into another.

    Kernels store in wide pieces, past the end of the result. Therefore the last piece goes through a buffer on the
    stack: dst is not changed after the result.
    """
    cdef uint8_t buffer[ENCODED_CAPACITY]
    cdef Py_buffer source, target
    cdef const uint8_t *s
    cdef uint8_t *d
    cdef size_t n, cap, head, written = 0, last
    borrow_bytes(src, &source)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            if overlap(&source, &target):
                src = PyBytes_FromStringAndSize(<char *>source.buf, source.len)
                s = <const uint8_t *>PyBytes_AS_STRING(src)
            else:
                s = <const uint8_t *>source.buf
            d, n, cap = <uint8_t *>target.buf, <size_t>source.len, <size_t>target.len
            head = n - SMALL // 2 if n > SMALL else 0
            if safe is None and head:   # do not divide a triplet
                head -= 1 if s[head - 1] == c'%' else 2 if s[head - 2] == c'%' else 0
            if safe is not None:
                if head:
                    written = kernels.encode(s, head, &safe.set, False, d, cap)
                last = kernels.encode(s + head, n - head, &safe.set, False, buffer, ENCODED_CAPACITY)
            else:
                if head:
                    written = kernels.decode(s, head, False, d, cap)
                last = kernels.decode(s + head, n - head, False, buffer, ENCODED_CAPACITY)
            if written == UC_FULL or last > cap - written:
                raise ValueError(f"dst is too small: {cap} bytes")
            memcpy(d + written, buffer, last)
            return written + last
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)


def quote_into(src, dst, safe="/"):
    """Percent-encode from one buffer into another.

    Args:
        src (bytes-like): The bytes to encode.
        dst (bytes-like): The destination, a writable buffer, which may overlap src. At most 3 * len(src) bytes are
            written.
        safe (ByteSet | str | bytes): The bytes to keep, as in percent_encode.

    Returns:
        int: The number of bytes written to the start of dst. The bytes after them are unchanged.

    Raises:
        ValueError: If dst is too small; its contents are then undefined.
        BufferError: If src or dst is not contiguous, or dst is not writable.

    Source: RFC 3986 section 2.1.

    >>> buffer = bytearray(20)
    >>> n = quote_into(b"/a b", buffer)
    >>> bytes(buffer[:n])
    b'/a%20b'
    """
    return code_into(src, dst, safe_set(safe))


def unquote_into(src, dst):
    """Decode percent-encoded bytes once, from one buffer into another. A '%' without two hexadecimal digits stays.

    Args:
        src (bytes-like): The bytes to decode.
        dst (bytes-like): The destination, a writable buffer, which may overlap src. At most len(src) bytes are written.

    Returns:
        int: The number of bytes written to the start of dst. The bytes after them are unchanged.

    Raises:
        ValueError: If dst is too small; its contents are then undefined.
        BufferError: If src or dst is not contiguous, or dst is not writable.

    Source: RFC 3986 section 2.1.

    >>> buffer = bytearray(b"/a%20b")
    >>> unquote_into(buffer, buffer), bytes(buffer)
    (4, b'/a b0b')
    """
    return code_into(src, dst, None)
