"""Operations on rows of any octets: percent-encoding (RFC 3986 section 2) as the loops over lines and values use it.

Each class takes the options of one operation and keeps them where its row function finds them; see _rows.pxd.
"""
cimport cython
from libc.string cimport memchr, memcpy

from uricodec._core._kernels cimport UC_FULL, ByteSet, add_octet, kernels, remove_octet, uc_set, uc_utf8
from uricodec._core._lines cimport *
from uricodec._core._rows cimport *
from uricodec._core._triplets cimport *
from uricodec._core._utf8 cimport continues, sequence_length
from uricodec.errors import UriSyntaxError

from uricodec._core._lines import NO_CONTROL


# By Fault.
cdef list CODE_NAMES = [None, "percent", "utf-8"]
cdef list REASONS = [None, "malformed triplet", "octets that are not UTF-8"]


cdef class CodecRows(RowOperation):
    """An operation on rows of any octets, with the codes of these. This one copies."""

    def __cinit__(self, *_args, **_kwargs):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError


# --- decoding -----------------------------------------------------------------------------------------------------------

cdef size_t decode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef Careful how
    cdef size_t size = decode_quickly(src, n, <const Careful *>options, dst)
    if size == UC_FULL:
        how = (<const Careful *>options)[0]
        size = decode_carefully(src, n, &how, dst)
        if how.fault != NO_FAULT:
            refusal.code, refusal.offset = how.fault, how.position
            return UC_REFUSED
    return size


@cython.final
cdef class DecodeRows(CodecRows):
    """Decode triplets, once.

    Args:
        plus (bool): Read '+' as a space.
        raw (bool): Decode every triplet to its octet. Otherwise those of octets that are not `free` stay, and decoded
            octets have to be UTF-8.
        errors (str): What becomes of a malformed triplet, and of octets that are not UTF-8: "keep", "replace" (U+FFFD),
            or "fail": the row is refused.
        free (ByteSet): As of `decode_lines`.

    Raises:
        ValueError: There is no such policy.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.
    """
    cdef Careful how
    cdef ByteSet free

    def __cinit__(self, plus=False, raw=False, errors="keep", ByteSet free not None=NO_CONTROL):
        self.free = free
        set_careful(&self.how, plus, raw, policy_of(errors, "replace", "fail"), free)
        self.operation = Operation(decode_row, 3 if self.how.policy == REPLACE else 1, 0)
        self.options = &self.how


# --- encoding -----------------------------------------------------------------------------------------------------------

cdef inline size_t encode_run(const uint8_t *src, size_t n, const Encoding *how, uint8_t *dst) noexcept nogil:
    """dst has room for 3 n octets."""
    cdef size_t size = kernels.encode(src, n, &how.safe, how.plus, dst, 3 * n)
    return 0 if size == UC_FULL else size


cdef size_t ill_formed(const uint8_t *src, size_t n) noexcept nogil:
    """How many octets one U+FFFD stands for, where ill-formed UTF-8 starts: a maximal subpart of a character, or one."""
    cdef int length = sequence_length(src[0])
    cdef size_t have = 1
    while have < <size_t>length and have < n and continues(src[0], <int>have, src[have]):
        have += 1
    return have


cdef size_t encode_text(const uint8_t *src, size_t n, const Encoding *how, Policy policy, uint8_t *dst,
                        Refusal *refusal) noexcept nogil:
    """Encode bytes that must be UTF-8; a policy is for those that are not."""
    cdef uc_utf8 found
    cdef size_t i = 0, o = 0, size
    if policy == KEEP or not how.utf8:
        return encode_run(src, n, how, dst)
    while i < n:
        size = kernels.scan_utf8(src + i, n - i, &found)
        if size < n - i and policy == FAIL:
            refusal.code, refusal.offset = NOT_UTF8, i + size
            return UC_REFUSED
        o += encode_run(src + i, size, how, dst + o)
        i += size
        if i < n:
            o += encode_run(<const uint8_t *>b"\xEF\xBF\xBD", 3, how, dst + o)     # U+FFFD
            i += ill_formed(src + i, n - i)
    return o


cdef size_t encode_by(const uint8_t *src, size_t n, const Encoding *how, Policy policy, uint8_t *dst,
                      Refusal *refusal) noexcept nogil:
    cdef size_t i = 0, o = 0, size, written, first
    cdef uint8_t octet
    cdef const uint8_t *percent
    if not how.triplets or how.digits and (policy == KEEP or count_malformed(src, n, &first) == 0):
        return encode_text(src, n, how, policy, dst, refusal)
    while i < n:
        percent = <const uint8_t *>memchr(src + i, c'%', n - i)
        size = percent - (src + i) if percent != NULL else n - i
        written = encode_text(src + i, size, how, policy, dst + o, refusal)
        if written == UC_REFUSED:
            refusal.offset += i
            return UC_REFUSED
        o += written
        i += size
        if i == n:
            return o
        size = unit_at(src, i, n, &octet)
        if size == 1 and policy == FAIL:
            refusal.code, refusal.offset = MALFORMED, i
            return UC_REFUSED
        if size == 1 and policy == REPLACE:
            memcpy(dst + o, b"%25", 3)
            o += 3
        else:
            memcpy(dst + o, src + i, size)
            o += size
        i += size
    return o


cdef size_t encode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef const Encoding *how = <const Encoding *>options
    return encode_by(src, n, how, how.policy, dst, refusal)


cdef size_t encode_keeping(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    return encode_by(src, n, <const Encoding *>options, KEEP, dst, refusal)


cdef size_t encode_replacing(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    return encode_by(src, n, <const Encoding *>options, REPLACE, dst, refusal)


@cython.final
cdef class EncodeRows(CodecRows):
    """Percent-encode octets.

    Args:
        safe (ByteSet): The octets that stay as they are.
        plus (bool): Write '+' for a space, and always encode a '+'.
        errors (str): What becomes of octets that are not UTF-8: "keep" encodes them, "replace" encodes U+FFFD in their
            place, "fail" refuses the row.
        utf8 (bool): Whether rows must be UTF-8; otherwise `errors` has no effect.

    Raises:
        ValueError: There is no such policy.

    Source: RFC 3986 section 2.1.
    """

    def __cinit__(self, ByteSet safe not None, plus=False, errors="keep", utf8=True):
        self.how.safe, self.how.plus, self.how.policy = safe.set, plus, policy_of(errors, "replace", "fail")
        self.how.utf8 = utf8
        if plus:
            add_octet(&self.how.safe, c' ')
            remove_octet(&self.how.safe, c'+')
        self.operation = Operation(encode_row, 9 if self.how.policy == REPLACE else 3, 0)
        self.options = &self.how


@cython.final
cdef class RequoteRows(CodecRows):
    """Percent-encode what is not encoded yet: triplets stay.

    Args:
        safe (ByteSet): The octets that stay as they are.
        errors (str): How a '%' without two hexadecimal digits and bytes that are not UTF-8 are handled: "keep" leaves the
            '%' and encodes the bytes, "replace" encodes the '%' and, in place of the bytes, U+FFFD; "fail" rejects the
            row.
        utf8 (bool): Whether rows must be UTF-8; otherwise `errors` is for malformed triplets only.

    Raises:
        ValueError: There is no such policy.

    Source: RFC 3986 section 2.4.
    """

    def __cinit__(self, ByteSet safe not None, errors="keep", utf8=True):
        self.how.digits = all([octet in safe for octet in b"0123456789ABCDEFabcdef"])
        self.how.safe, self.how.plus, self.how.policy = safe.set, False, policy_of(errors, "replace", "fail")
        self.how.triplets, self.how.utf8 = True, utf8
        add_octet(&self.how.safe, c'%')
        self.operation = Operation(encode_row, 9 if self.how.policy == REPLACE else 3, 0)
        self.options = &self.how
