# distutils: extra_compile_args=-Os
"""Quantiles of many numbers from 0 on, with a relative error below 1 %, in bounded memory.

A bucket holds how many numbers are in ( g^(i-1), g^i ], where g = (1 + e) / (1 - e) and e is the relative error. A quantile
is the number 2 g^i / (g + 1) of the bucket that holds the number of that rank: it is at most the share e away from every
number in the bucket, relative to that number. Nothing depends on the order of the numbers.

(C. Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees",
2019.)

Buckets are in an array that grows as far as the numbers need it: from that of the least number to that of the greatest.
So their number depends on the ratio of these: one for each 1.9 %, and 370 for numbers from 1 to 1000. A bucket has a byte
until the first one needs two, then four, and eight. Numbers below 10^-9 count as 0, and those above 10^24 are in one bucket,
so a sketch has at most 4096 buckets. The least and the greatest number are exact.
"""
from libc.math cimport ceil, exp, isfinite, log
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from uricodec._base._cpython cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc


cdef enum:
    LOWEST = -1102          # the bucket of 10^-9
    HIGHEST = LOWEST + 4095
    STEP = 16               # buckets that an array grows by, at least

# Rounding a quantile to four digits, as logs.count() does, adds at most 0.0505 %, so that the result is at most 1 % away.
cdef double ERROR = 0.0094
cdef double SMALLEST = 1e-9
cdef double LOG_G = log((1 + ERROR) / (1 - ERROR))


cdef inline uint8_t *counts_of(const Sketch *sketch) noexcept nogil:
    return <uint8_t *>(sketch + 1)


cdef inline size_t size_of(size_t buckets, size_t width) noexcept nogil:
    return sizeof(Sketch) + buckets * width


cdef inline uint64_t count_of(const Sketch *sketch, size_t i) noexcept nogil:
    """Return the count of bucket i of the array."""
    if sketch.width == 1:
        return counts_of(sketch)[i]
    if sketch.width == 2:
        return (<const uint16_t *>counts_of(sketch))[i]
    return (<const uint32_t *>counts_of(sketch))[i] if sketch.width == 4 else (<const uint64_t *>counts_of(sketch))[i]


cdef inline void set_count(Sketch *sketch, size_t i, uint64_t count) noexcept nogil:
    if sketch.width == 1:
        counts_of(sketch)[i] = <uint8_t>count
    elif sketch.width == 2:
        (<uint16_t *>counts_of(sketch))[i] = <uint16_t>count
    elif sketch.width == 4:
        (<uint32_t *>counts_of(sketch))[i] = <uint32_t>count
    else:
        (<uint64_t *>counts_of(sketch))[i] = count


cdef inline bint has_width_for(const Sketch *sketch, uint64_t count) noexcept nogil:
    return sketch.width == 8 or count >> 8 * sketch.width == 0


cdef bint widen(Sketch **sketch, size_t *used) noexcept nogil:
    """Make counts twice as wide. False: out of memory."""
    cdef Sketch *old = sketch[0]
    cdef Sketch *made = <Sketch *>PyMem_RawMalloc(size_of(old.size, 2 * old.width))
    cdef size_t i
    if made == NULL:
        return False  # pragma: no cover: no memory
    memcpy(made, old, sizeof(Sketch))
    made.width = 2 * old.width
    for i in range(old.size):
        set_count(made, i, count_of(old, i))
    used[0] += <size_t>old.size * old.width
    PyMem_RawFree(old)
    sketch[0] = made
    return True


cdef inline bint add_count(Sketch **sketch, size_t i, size_t *used) noexcept nogil:
    """Add 1 to the count of bucket i of the array. False: out of memory."""
    cdef uint64_t count = count_of(sketch[0], i) + 1
    if not has_width_for(sketch[0], count) and not widen(sketch, used):
        return False  # pragma: no cover: no memory
    set_count(sketch[0], i, count)
    return True


cdef bint ensure_capacity(Sketch **sketch, int32_t bucket, size_t *used) noexcept nogil:
    """Ensure that a sketch has a bucket. An array also grows by a quarter, as far as allowed."""
    cdef Sketch *old = sketch[0]
    cdef Sketch *made
    cdef int32_t low = bucket, high = bucket, more
    cdef size_t width = 1 if old == NULL else old.width
    if old != NULL and old.size:
        if old.first <= bucket < old.first + <int32_t>old.size:
            return True
        low, high = min(bucket, old.first), max(bucket, old.first + <int32_t>old.size - 1)
    more = max(<int32_t>STEP, (high - low) // 4) - 1
    if old == NULL or old.size == 0:
        low, high = low - more // 2, high + more - more // 2
    elif low < old.first:
        low -= more
    else:
        high += more
    # A bucket that is needed is within the limits.
    low, high = max(low, <int32_t>LOWEST), min(high, <int32_t>HIGHEST)
    made = <Sketch *>PyMem_RawCalloc(1, size_of(<size_t>(high - low + 1), width))
    if made == NULL:
        return False  # pragma: no cover: no memory
    if old != NULL:
        memcpy(made, old, sizeof(Sketch))
        if old.size:
            memcpy(counts_of(made) + width * <size_t>(old.first - low), counts_of(old), width * old.size)
        used[0] -= size_of(old.size, width)
        PyMem_RawFree(old)
    made.first, made.size, made.width = low, <uint16_t>(high - low + 1), <uint16_t>width
    used[0] += size_of(made.size, width)
    sketch[0] = made
    return True


cdef inline int32_t bucket_of(double number) noexcept nogil:
    cdef double bucket = ceil(log(number) / LOG_G)
    return <int32_t>min(max(bucket, <double>LOWEST), <double>HIGHEST)


cdef bint add_number(Sketch **sketch, double number, size_t *used) noexcept nogil:
    cdef int32_t bucket
    cdef Sketch *at
    if not isfinite(number):
        return True
    if number >= SMALLEST:
        bucket = bucket_of(number)
        if not ensure_capacity(sketch, bucket, used):
            return False  # pragma: no cover: no memory
        if not add_count(sketch, <size_t>(bucket - sketch[0].first), used):
            return False  # pragma: no cover: no memory
    else:
        number = max(number, 0)
        if sketch[0] == NULL:
            sketch[0] = <Sketch *>PyMem_RawCalloc(1, sizeof(Sketch))
            if sketch[0] == NULL:
                return False  # pragma: no cover: no memory
            sketch[0].width = 1
            used[0] += sizeof(Sketch)
        sketch[0].zeros += 1
    at = sketch[0]
    at.least = number if at.count == 0 else min(at.least, number)
    at.greatest = number if at.count == 0 else max(at.greatest, number)
    at.count += 1
    return True


cdef double quantile_of(const Sketch *sketch, double share) noexcept nogil:
    """Return a quantile of a sketch that is not empty: the number of rank floor(share * (count - 1)), from 0."""
    cdef uint64_t rank = <uint64_t>(share * <double>(sketch.count - 1)), seen = sketch.zeros
    cdef size_t i = 0
    if rank < seen:
        return sketch.least     # 0, unless it is the only number
    while i < sketch.size:
        seen += count_of(sketch, i)
        if rank < seen:
            break
        i += 1
    # 2 g^i / (g + 1) = (1 - e) g^i
    return min(max((1 - ERROR) * exp((<double>sketch.first + <double>i) * LOG_G), sketch.least), sketch.greatest)


cdef void free_sketch(Sketch *sketch) noexcept nogil:
    PyMem_RawFree(sketch)
