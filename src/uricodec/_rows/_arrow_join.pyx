"""Several arrays as one, for a consumer that wants one: buffers behind each other, with offsets and the buffers of views
counted on."""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from uricodec._rows._arrow cimport *

cdef dict LARGE = {b"u": b"U", b"z": b"Z"}
cdef dict WIDTHS = {b"w:16": 16, b"l": 8, b"L": 8, b"i": 4, b"I": 4, b"s": 2, b"S": 2, b"c": 1, b"C": 1, b"vu": 16,
                    b"vz": 16}


cdef void copy_bits(const uint8_t *src, size_t start, size_t n, uint8_t *dst, size_t place) noexcept nogil:
    """n bits from bit `start` on, to bit `place` on, behind which there are none."""
    cdef size_t i, first, shift, last
    while n and place & 7:
        dst[place >> 3] &= ~(1 << (place & 7))
        dst[place >> 3] |= (src[start >> 3] >> (start & 7) & 1) << (place & 7)
        place, start, n = place + 1, start + 1, n - 1
    if n == 0:
        return
    dst += place >> 3
    first, shift, last = start >> 3, start & 7, (start + n - 1) >> 3
    for i in range((n + 7) >> 3):
        dst[i] = src[first + i] >> shift
        if shift and first + i < last:
            dst[i] |= <uint8_t>(src[first + i + 1] << (8 - shift))


cdef void set_bits(uint8_t *dst, size_t place, size_t n) noexcept nogil:
    """n bits from bit `place` on, behind which there are none."""
    while n and place & 7:
        dst[place >> 3] |= 1 << (place & 7)     # what was there is of no use
        place, n = place + 1, n - 1
    memset(dst + (place >> 3), 0xFF, (n + 7) >> 3)


cdef Array part_of(Array array, int64_t start, int64_t length):
    """Some rows of an array, which share its buffers."""
    cdef Array part = Array()
    cdef int64_t i
    part.length, part.offset, part.nulls = length, array.offset + start, array.nulls
    if length != array.length and array.nulls > 0:
        part.nulls = length if array.nulls == array.length else -1
    part.set_buffers(array.n_buffers)
    for i in range(array.n_buffers):
        part.buffers[i] = array.buffers[i]
    part.children, part.dictionary = array.children, array.dictionary
    part.owners.extend(array.owners)
    return part


cdef Array child_of(Array whole, int i):
    """The rows of a field that are those of its struct, or of a slice of it."""
    cdef Array child = whole.children[i]
    if whole.offset + whole.length > child.length:
        raise ValueError("the Arrow array is shorter than its table")
    if whole.offset == 0 and whole.length == child.length:
        return child
    return part_of(child, whole.offset, whole.length)


cdef int widen_offsets(Array array) except -1:
    """From offsets of 32 bits to such of 64."""
    cdef Rooms rooms = Rooms()
    cdef int64_t i
    cdef const int32_t *narrow = <const int32_t *>array.buffers[1] + array.offset
    if not grow(&rooms.first, 8 * <size_t>(array.offset + array.length + 1)):
        raise MemoryError
    rooms.first.size = 8 * <size_t>(array.offset + array.length + 1)
    memset(rooms.first.data, 0, 8 * <size_t>array.offset)
    for i in range(array.length + 1):
        (<int64_t *>rooms.first.data)[array.offset + i] = narrow[i]
    array.buffers[1] = hold(array, &rooms.first)
    return 0


cdef int extend(Room *room, const void *src, size_t n) except -1:
    if not grow(room, n + 8):
        raise MemoryError
    memcpy(room.data + room.size, src, n)
    room.size += n
    return 0


cdef const void *join_bits(Array joined, list arrays, int buffer) except NULL:
    """Bits of all rows; where an array has none, they are set."""
    cdef Rooms rooms = Rooms()
    cdef Array array
    cdef size_t place = 0, i
    cdef const uint8_t *src
    if not grow(&rooms.first, (<size_t>joined.length + 7) // 8 + 8):
        raise MemoryError
    rooms.first.size = (<size_t>joined.length + 7) // 8
    memset(rooms.first.data, 0, rooms.first.size + 8)
    for array in arrays:
        src = <const uint8_t *>array.buffers[buffer]
        if src != NULL and (buffer or array.nulls):
            copy_bits(src, <size_t>array.offset, <size_t>array.length, rooms.first.data, place)
        else:
            set_bits(rooms.first.data, place, <size_t>array.length)
        place += <size_t>array.length
    return hold(joined, &rooms.first)


cdef Type join_text(Type type, Array joined, list arrays, size_t limit):
    cdef Rooms rooms = Rooms()
    cdef Array array
    cdef int64_t i, base = 0
    cdef const int64_t *wide
    cdef const int32_t *narrow
    cdef bint large = type.format in (b"U", b"Z")
    extend(&rooms.second, &base, 8)
    for array in arrays:
        if not grow(&rooms.second, 8 * <size_t>array.length):
            raise MemoryError
        if array.length == 0:
            continue
        if large:
            wide = <const int64_t *>array.buffers[1] + array.offset
            for i in range(array.length):
                (<int64_t *>(rooms.second.data + rooms.second.size))[i] = base + wide[i + 1] - wide[0]
            extend(&rooms.first, <const uint8_t *>array.buffers[2] + wide[0], <size_t>(wide[array.length] - wide[0]))
        else:
            narrow = <const int32_t *>array.buffers[1] + array.offset
            for i in range(array.length):
                (<int64_t *>(rooms.second.data + rooms.second.size))[i] = base + narrow[i + 1] - narrow[0]
            extend(&rooms.first, <const uint8_t *>array.buffers[2] + narrow[0], <size_t>(narrow[array.length] - narrow[0]))
        rooms.second.size += 8 * <size_t>array.length
        base = <int64_t>rooms.first.size
    if not large and rooms.first.size <= limit:
        for i in range(joined.length + 1):
            (<int32_t *>rooms.second.data)[i] = <int32_t>(<int64_t *>rooms.second.data)[i]
        rooms.second.size //= 2
    elif not large:
        type = Type(LARGE[type.format], type.name)
    joined.buffers[1] = hold(joined, &rooms.second)
    joined.buffers[2] = hold(joined, &rooms.first)
    return type


cdef int join_fixed(Array joined, list arrays, size_t width) except -1:
    cdef Rooms rooms = Rooms()
    cdef Array array
    for array in arrays:
        if array.length:
            extend(&rooms.first, <const uint8_t *>array.buffers[1] + <size_t>array.offset * width, <size_t>array.length * width)
    joined.buffers[1] = hold(joined, &rooms.first)
    return 0


cdef int join_views(Array joined, list arrays) except -1:
    cdef Rooms rooms = Rooms()
    cdef Array array
    cdef int64_t buffers = 0, row = 0, n, i
    cdef int32_t *view
    join_fixed(joined, arrays, 16)
    view = <int32_t *>joined.buffers[1]
    for array in arrays:
        joined.owners.extend(array.owners)
        n = max(array.n_buffers - 3, 0)
        for i in range(n):
            joined.buffers[2 + buffers + i] = array.buffers[2 + i]
        if n:
            extend(&rooms.first, array.buffers[2 + n], 8 * <size_t>n)
        for i in range(row, row + array.length):
            if view[4 * i] > 12:
                view[4 * i + 2] += <int32_t>buffers
        buffers += n
        row += array.length
    joined.buffers[2 + buffers] = hold(joined, &rooms.first)
    return 0


cdef object join_arrays(Type type, list arrays, size_t limit):
    """One array of all rows, and its type, which may be a large one: from `limit` octets on.

    Arrays of a dictionary refer to the same one, see with_one_dictionary().
    """
    cdef Array joined = Array(), array
    cdef int64_t views = 0
    cdef bint nulls = False
    if len(arrays) == 1:
        return type, arrays[0]
    for array in arrays:
        joined.length += array.length
        nulls |= array.nulls != 0 and array.n_buffers > 0 and array.buffers[0] != NULL
        views += max(array.n_buffers - 3, 0)
    if type.format == b"n":
        joined.nulls = joined.length
        joined.set_buffers(0)
        return type, joined
    joined.set_buffers(1 if type.format == b"+s" else 3 + views if type.format in (b"vu", b"vz") else
                       3 if type.format in (b"u", b"z", b"U", b"Z") else 2)
    if nulls:
        joined.nulls = -1
        joined.buffers[0] = join_bits(joined, arrays, 0)
    if type.dictionary is not None:
        join_fixed(joined, arrays, WIDTHS[type.format])
        joined.dictionary = (<Array>arrays[0]).dictionary if arrays else join_arrays(type.dictionary, [], limit)[1]
    elif type.format == b"+s":
        parts = [join_arrays(part, [child_of(whole, i) for whole in arrays], limit)
                 for i, part in enumerate(type.children)]
        joined.children = tuple([part[1] for part in parts])
        type = Type(b"+s", type.name, tuple([part[0] for part in parts]))
    elif type.format in (b"vu", b"vz"):
        join_views(joined, arrays)
    elif type.format == b"b":
        joined.buffers[1] = join_bits(joined, arrays, 1)
    elif type.format in (b"u", b"z", b"U", b"Z"):
        type = join_text(type, joined, arrays, limit)
    else:
        join_fixed(joined, arrays, WIDTHS[type.format])
    return type, joined
