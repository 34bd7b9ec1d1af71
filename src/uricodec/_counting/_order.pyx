# distutils: extra_compile_args=-Os
"""The order of values: which row of equivalent identifiers is the newest.

A value is a number or a time, as text:

    [+-] digits [. digits] [e [+-] digits]
    YYYY-MM-DD [(T | space) hh:mm [:ss [. digits]] [space] [Z | UTC | (+ | -) hh [[:] mm]]]

A time counts as the seconds since 1970-01-01 in UTC, so that it can be compared with such numbers; without a zone it is
in UTC (ISO 8601, RFC 3339). A value has 63 bits and a sign before the point and 19 digits after it; further digits are
ignored. A value that is missing, not of this form or not in this range is older than all others.
"""
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from uricodec._rows._arrow cimport *
from uricodec._rows._columns cimport read_column, sources_of
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport SourceRows


cdef enum:
    DIGITS = 19             # after the point

cdef uint64_t UNITS = 10000000000000000000    # 10^DIGITS
# Greater exponents are cut to this: whatever the number of digits, the value is then out of range, or 0.
cdef int64_t MOST_EXPONENT = <int64_t>1 << 58        # ten times as much does not overflow


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    return c'0' <= byte <= c'9'


cdef inline bint read_digits(const uint8_t *src, size_t n, size_t *at, size_t count, int64_t most, int64_t *value) noexcept nogil:
    """Read exactly so many digits of a number up to `most`."""
    cdef size_t i
    value[0] = 0
    if n - at[0] < count:
        return False
    for i in range(at[0], at[0] + count):
        if not is_digit(src[i]):
            return False
        value[0] = 10 * value[0] + src[i] - c'0'
    at[0] += count
    return value[0] <= most


cdef inline bint has_byte(const uint8_t *src, size_t n, size_t *at, uint8_t byte, uint8_t other) noexcept nogil:
    """Skip one of two bytes, if it follows."""
    if at[0] < n and (src[at[0]] == byte or src[at[0]] == other):
        at[0] += 1
        return True
    return False


cdef bint set_order(int64_t whole, uint64_t rest, Order *order) noexcept nogil:
    if whole == INT64_MIN:
        return False
    order.high, order.low = <uint64_t>whole ^ <uint64_t>1 << 63, rest
    return True


cdef bint read_number(const uint8_t *src, size_t n, Order *order) noexcept nogil:
    cdef size_t i = 0, start, point, end, digits
    cdef int64_t exponent = 0, power, first = -1
    cdef uint64_t whole = 0, rest = 0, unit = UNITS // 10
    cdef bint negative = has_byte(src, n, &i, c'-', c'-'), below
    if not negative:
        has_byte(src, n, &i, c'+', c'+')
    start = i
    while i < n and is_digit(src[i]):
        i += 1
    point, digits = i, i - start
    if has_byte(src, n, &i, c'.', c'.'):
        while i < n and is_digit(src[i]):
            i += 1
        digits += i - point - 1
    end = i
    if digits == 0:
        return False
    if has_byte(src, n, &i, c'e', c'E'):
        below = has_byte(src, n, &i, c'-', c'-')
        if not below:
            has_byte(src, n, &i, c'+', c'+')
        if i == n:
            return False
        while i < n and is_digit(src[i]):
            exponent = min(10 * exponent + src[i] - c'0', MOST_EXPONENT)
            i += 1
        exponent = -exponent if below else exponent
    if i < n:
        return False
    # the power of ten of each digit
    power = <int64_t>(point - start) + exponent
    for i in range(start, end):
        if i == point:
            continue
        power -= 1
        if power >= 0:
            if whole > (<uint64_t>INT64_MAX - (src[i] - c'0')) // 10:
                return False
            whole = 10 * whole + src[i] - c'0'
        else:
            while power < first and unit:       # zeros before the first digit
                unit //= 10
                power += 1
            first = INT64_MIN
            rest += unit * (src[i] - c'0')
            unit //= 10
    while power > 0 and whole:
        if whole > <uint64_t>INT64_MAX // 10:
            return False
        whole *= 10
        power -= 1
    if not negative:
        return set_order(<int64_t>whole, rest, order)
    if rest == 0:
        return set_order(-<int64_t>whole, 0, order)
    return set_order(-<int64_t>whole - 1, UNITS - rest, order)


cdef inline int64_t days_before(int64_t year, int64_t month, int64_t day) noexcept nogil:
    """Return the days from 1970-01-01 to a date. Years begin in March, so that a leap day is the last one."""
    cdef int64_t days
    year += 400 - (month <= 2)      # not negative
    month = (month + 9) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1
    return days - 719468 - 146097


cdef bint read_time(const uint8_t *src, size_t n, Order *order) noexcept nogil:
    cdef size_t i = 0
    cdef int64_t year, month, day, hour = 0, minute = 0, second = 0, days, zone = 0, part = 0
    cdef uint64_t rest = 0, unit = UNITS // 10
    cdef bint east
    if not (read_digits(src, n, &i, 4, 9999, &year) and has_byte(src, n, &i, c'-', c'-') and
            read_digits(src, n, &i, 2, 12, &month) and has_byte(src, n, &i, c'-', c'-') and
            read_digits(src, n, &i, 2, 31, &day) and month and day):
        return False
    if day > 28:
        days = days_before(year + month // 12, month % 12 + 1, 1) - days_before(year, month, 1)
        if day > days:
            return False
    if i < n:
        if not (has_byte(src, n, &i, c'T', c't') or has_byte(src, n, &i, c' ', c' ')):
            return False
        if not (read_digits(src, n, &i, 2, 23, &hour) and has_byte(src, n, &i, c':', c':') and
                read_digits(src, n, &i, 2, 59, &minute)):
            return False
        if has_byte(src, n, &i, c':', c':'):
            if not read_digits(src, n, &i, 2, 60, &second):
                return False
            if has_byte(src, n, &i, c'.', c','):
                if i == n or not is_digit(src[i]):
                    return False
                while i < n and is_digit(src[i]):
                    rest += unit * (src[i] - c'0')
                    unit //= 10
                    i += 1
        has_byte(src, n, &i, c' ', c' ')
        if i < n and (src[i] == c'+' or src[i] == c'-'):
            east = src[i] == c'+'
            i += 1
            if not read_digits(src, n, &i, 2, 23, &zone):
                return False
            if has_byte(src, n, &i, c':', c':') or i < n:
                if not read_digits(src, n, &i, 2, 59, &part):
                    return False
            zone = 3600 * zone + 60 * part
            zone = zone if east else -zone
        elif n - i == 3 and src[i] == c'U' and src[i + 1] == c'T' and src[i + 2] == c'C':
            i = n
        else:
            has_byte(src, n, &i, c'Z', c'z')
        if i < n:
            return False
    return set_order(86400 * days_before(year, month, day) + 3600 * hour + 60 * minute + second - zone, rest, order)


cdef bint read_order(const uint8_t *src, size_t n, Order *order) noexcept nogil:
    order.high = order.low = 0
    while n and (src[0] == c' ' or src[0] == c'\t'):
        src += 1
        n -= 1
    while n and (src[n - 1] == c' ' or src[n - 1] == c'\t'):
        n -= 1
    if n >= 10 and src[4] == c'-':
        return read_time(src, n, order)
    return read_number(src, n, order)


def orders_of(column):
    """Return where values stand in the order, for ColumnBatch.hold().

    Args:
        column (list[bytes | None] | Arrow object): The values: text, or a column of text.

    Returns:
        tuple[bytes, int]: For each row two 64-bit numbers in the machine's byte order; and the number of rows that are
            missing or not readable.

    >>> orders, unordered = orders_of([b"-1.5", b"1970-01-01T00:00:01Z", b"x", None])
    >>> memoryview(orders).cast("Q").tolist(), unordered
    ([9223372036854775806, 5000000000000000000, 9223372036854775809, 0, 0, 0, 0, 0], 2)
    """
    cdef list arrays = [], sources
    cdef SourceRows rows
    cdef Order *orders
    cdef bytes result
    cdef size_t i, count = 0, n, unordered = 0, done = 0
    cdef const uint8_t *src
    cdef bytes text
    if isinstance(column, list):
        result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(sizeof(Order) * <size_t>len(column)))
        orders = <Order *>PyBytes_AS_STRING(result)
        memset(orders, 0, sizeof(Order) * <size_t>len(column))
        for item in column:
            text = item
            if text is None or not read_order(text, <size_t>len(text), &orders[done]):
                unordered += 1
            done += 1
        return result, unordered
    _, kind = read_column(column, arrays)
    sources = sources_of(arrays, kind)
    for rows in sources:
        count += rows.source.count
    result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(sizeof(Order) * count))
    orders = <Order *>PyBytes_AS_STRING(result)
    for rows in sources:
        with nogil:
            for i in range(rows.source.count):
                orders[done + i].high = orders[done + i].low = 0
                if is_null(&rows.source, i):
                    unordered += 1
                    continue
                row_at(&rows.source, i, &src, &n)
                unordered += not read_order(src, n, &orders[done + i])
        done += rows.source.count
    return result, unordered
