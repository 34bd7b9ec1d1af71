"""Bitmaps: which bytes of the lines a format gives a meaning to. What reads and writes records takes offsets from them."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._base._kernels cimport prefetch, uc_bits_from, uc_lowest_bit
from uricodec.logs._fields cimport text_of, word_at
from uricodec.logs._line cimport *


cdef inline size_t lowest_bit(uint64_t word) noexcept nogil:
    return <size_t><uint32_t>uc_lowest_bit(word)


cdef extern from *:
    bint likely(bint) noexcept nogil


cdef extern from "simd/target.h" nogil:
    const int UC_LITTLE_ENDIAN


cdef inline size_t next_mark(const uint64_t *marks, size_t at) noexcept nogil:
    """Return the offset of the first mark of a bitmap from `at` on. There is one at the end of the line."""
    cdef uint64_t word = uc_bits_from(marks, at)
    if likely(word != 0):
        return at + lowest_bit(word)
    at = (at | 63) + 1      # all bits of this word from `at` on are 0
    word = marks[at >> 6]
    while word == 0:
        at += 64
        word = marks[at >> 6]
    return at + lowest_bit(word)


cdef inline void prefetch_window(const Marked *marked) noexcept nogil:
    """Load the lines after a window, which are marked next, while those in it are read."""
    cdef size_t at
    for at in range(marked.window_end, min(marked.n, marked.window_end + WINDOW), 64):
        prefetch(marked.src + at)


cdef inline size_t mark_before(const uint64_t *marks, size_t at, size_t stop) noexcept nogil:
    """Return the offset of the first mark from `at` on; `stop` or more if there is none before."""
    cdef uint64_t word = uc_bits_from(marks, at)
    while word == 0:
        at += 57
        if at >= stop:
            return stop
        word = uc_bits_from(marks, at)
    return at + lowest_bit(word)


# A parameter of a query: its name and its value, which is empty if it has none; and whether they have to be decoded.
cdef struct Parameter:
    Text name, value
    bint escaped_name, escaped


cdef inline bint next_parameter(const uint8_t *s, const uint64_t *marks, size_t *at, size_t stop,
                                Parameter *parameter) noexcept nogil:
    """Take the next parameter of a query that ends at `stop`, from its delimiters. False: there is none."""
    cdef size_t start, end = at[0], equals
    cdef bint escaped
    while end < stop:
        start, equals, escaped = end, stop, False
        parameter.escaped_name = False
        end = mark_before(marks, start, stop)
        while end < stop and s[end] != c'&':
            if s[end] == c'=':
                if equals == stop:
                    equals, parameter.escaped_name, escaped = end, escaped, False
            elif s[end] != c'?':
                escaped = True
            end = mark_before(marks, end + 1, stop)
        end = min(end, stop)
        if end > start:
            at[0] = end + 1
            if equals == stop:
                parameter.name = text_of(s + start, end - start)
                parameter.value = text_of(s + end, 0)
                parameter.escaped_name, parameter.escaped = escaped, False
            else:
                parameter.name = text_of(s + start, equals - start)
                parameter.value = text_of(s + equals + 1, end - equals - 1)
                parameter.escaped = escaped
            return True
        end += 1
    return False


cdef inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t *is_escaped) noexcept nogil:
    """Return which of 64 bytes are escaped, given the backslashes among them. `is_escaped`: 1 if the first byte of the block is,
    then that of the next block.

    In a run of backslashes, which begins with one that is not escaped, every second byte is escaped, and the byte after a
    run of odd length. Adding 1 at the start of a run carries to the byte after it.

    Source: Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019, section 3.1.
    """
    cdef uint64_t after, odd, even = 0x5555555555555555
    backslashes &= ~is_escaped[0]
    after = backslashes << 1 | is_escaped[0]
    odd = (backslashes & ~even & ~after) + backslashes      # the runs that begin at odd offsets
    is_escaped[0] = odd < backslashes
    return (even ^ odd << 1) & after


cdef inline bint is_known_time(const KnownTime *time, const uint8_t *s) noexcept nogil:
    """Return whether a time differs from the one that is known in digits of its clock and its fraction alone."""
    cdef uint64_t word
    cdef int i
    if time.n == 0:
        return False
    for i in range(4):
        word = word_at(s + 8 * i)
        if ((word ^ time.word[i]) & time.mask[i]
                | (word & <uint64_t>0x0F0F0F0F0F0F0F0F) + time.limit[i] & time.digits[i]) != 0:
            return False
    return True
