"""Ranges of rows, copied from arrays to a new one: to join arrays, to select rows, or to take rows by number.

Of the rows a, bb, null, c the ranges (0, 2), (-1, 1), (3, 1) make the rows a, bb, null, c:

    validity    1 1 0 1         the bits of each range; 0 for nulls
    offsets     0 1 3 3 4       where each row ends: the offsets of each range, moved
    data        a b b c         the bytes of each range in one copy

Numbers, bits, indices and views are copied like bits or bytes of fixed size; views share the memory they point to. A
list is copied like text: its items are ranges of rows of another array. The fields of a struct have its ranges.

Another thread may change the offsets of an array at any time, so each copy is checked with the offsets it uses.
"""
cimport cython
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from uricodec._base._cpython cimport PyBytes_AS_STRING
from uricodec._rows._arrow cimport *
from uricodec._base._kernels cimport prefetch
from uricodec._rows._engine cimport View

cdef enum:
    AHEAD = 16      # rows of text that are prefetched
    SHORT = 32      # bytes of a text that are copied without a call, with what follows it
    AFTER = SHORT   # bytes after the results that may be written


# Formats of rows of fixed size -> bytes of a row.
cdef dict WIDTHS = {b"w:16": 16, b"l": 8, b"L": 8, b"i": 4, b"I": 4, b"s": 2, b"S": 2, b"c": 1, b"C": 1, b"vu": 16,
                    b"vz": 16}


# --- bits ---------------------------------------------------------------------------------------------------------------

cdef void copy_bits(const uint8_t *src, size_t start, size_t n, uint8_t *dst, size_t place) noexcept nogil:
    """Copy n bits from bit `start` of src to bit `place` of dst. Bits after them are undefined."""
    cdef size_t i, first, shift, last
    while n and (place & 7 or n < 8):
        put_bit(dst, place, src[start >> 3] >> (start & 7) & 1)
        place, start, n = place + 1, start + 1, n - 1
    if n == 0:
        return
    dst += place >> 3
    first, shift, last = start >> 3, start & 7, (start + n - 1) >> 3
    for i in range((n + 7) >> 3):
        dst[i] = src[first + i] >> shift
        if shift and first + i < last:
            dst[i] |= <uint8_t>(src[first + i + 1] << (8 - shift))


cdef inline void put_bit(uint8_t *dst, size_t place, uint8_t bit) noexcept nogil:
    """Set a bit; the bits after it in the byte become 0."""
    dst[place >> 3] = <uint8_t>(dst[place >> 3] & ((1 << (place & 7)) - 1) | bit << (place & 7))


cdef inline void repeat_bit(uint8_t bit, size_t n, uint8_t *dst, size_t place) noexcept nogil:
    """Write a bit n times from bit `place` of dst on. Bits after them are undefined."""
    while n and (place & 7 or n < 8):
        put_bit(dst, place, bit)
        place, n = place + 1, n - 1
    if n:
        memset(dst + (place >> 3), 0xFF if bit else 0, (n + 7) >> 3)


cdef inline uint8_t bits_of(const uint8_t *src, size_t first, const int64_t *starts, size_t n) noexcept nogil:
    """Return the bits of up to eight rows: 0 for nulls."""
    cdef size_t i, row
    cdef unsigned int bits = 0
    for i in range(n):
        if src == NULL:
            bits |= <unsigned int>(starts[i] >= 0) << i
        elif starts[i] >= 0:
            row = first + <size_t>starts[i]
            bits |= <unsigned int>(src[row >> 3] >> (row & 7) & 1) << i
    return <uint8_t>bits


cdef int add_bits(Buffer *bits, size_t place, const uint8_t *src, size_t first, const Ranges *ranges) except -1:
    """Add a bit for each row, after `place` bits: 0 for nulls. `first` is that of row 0; src NULL: all are 1."""
    cdef size_t i, n, count = ranges.count
    cdef const int64_t *starts = ranges.starts
    cdef int64_t signs = 0
    cdef uint8_t *dst
    reserve(bits, <size_t>ranges.rows // 8 + AFTER)
    dst = bits.data
    with nogil:
        for i in range(count if src == NULL else 0):
            signs |= starts[i]
        if src == NULL and signs >= 0:
            repeat_bit(1, <size_t>ranges.rows, dst, place)
        elif ranges.sizes == NULL and place & 7 == 0:
            dst += place >> 3
            for i in range(count >> 3):
                dst[i] = bits_of(src, first, starts + 8 * i, 8)
            dst[count >> 3] = bits_of(src, first, starts + (count & ~<size_t>7), count & 7)
        else:
            for i in range(count):
                n = <size_t>size_at(ranges, i)
                if starts[i] < 0 or src == NULL:
                    repeat_bit(starts[i] >= 0, n, dst, place)
                else:
                    copy_bits(src, first + <size_t>starts[i], n, dst, place)
                place += n
            place -= <size_t>ranges.rows
    bits.size = (place + <size_t>ranges.rows + 7) >> 3
    return 0


cdef int64_t count_bits(const uint8_t *bits, size_t n) noexcept nogil:
    """Return how many of the first n bits are 1."""
    cdef size_t i
    cdef int64_t found = 0
    cdef uint8_t byte
    for i in range((n + 7) >> 3):
        byte = bits[i] if 8 * i + 8 <= n else bits[i] & ((1 << (n & 7)) - 1)
        byte -= byte >> 1 & 0x55
        byte = (byte & 0x33) + (byte >> 2 & 0x33)
        found += (byte + (byte >> 4)) & 0x0F
    return found


# --- rows of fixed size -----------------------------------------------------------------------------------------------

cdef inline void copy_fixed(uint8_t *dst, const uint8_t *src, const Ranges *ranges, size_t width) noexcept nogil:
    cdef const int64_t *starts = ranges.starts
    cdef const int64_t *sizes = ranges.sizes
    cdef size_t i, size
    for i in range(ranges.count):
        size = width if sizes == NULL else width * <size_t>sizes[i]
        if starts[i] < 0:
            memset(dst, 0, size)
        elif size:
            memcpy(dst, src + width * <size_t>starts[i], size)
        dst += size


cdef int add_fixed(Buffer *values, size_t width, const uint8_t *src, const Ranges *ranges) except -1:
    """Add rows of `width` bytes, zeros for nulls; row 0 is at src."""
    cdef uint8_t *dst
    reserve(values, width * <size_t>ranges.rows + AFTER)
    dst = values.data + values.size
    with nogil:
        if ranges.sizes == NULL and width == 8:     # constants: copied without a call
            copy_fixed(dst, src, ranges, 8)
        elif ranges.sizes == NULL and width == 16:
            copy_fixed(dst, src, ranges, 16)
        else:
            copy_fixed(dst, src, ranges, width)
    values.size += width * <size_t>ranges.rows
    return 0


cdef void move_views(View *views, size_t rows, int32_t buffers) noexcept nogil:
    """Add to the numbers of buffers; a view of up to 12 bytes has none."""
    cdef size_t i
    for i in range(rows):
        if views[i].size > 12:
            views[i].buffer += buffers


# --- text and lists -----------------------------------------------------------------------------------------------------

# An offset of the result.
ctypedef fused made_offset:
    int32_t
    int64_t


cdef enum:
    BAD_OFFSETS = -1
    ABOVE_LIMIT = -2


cdef int64_t write_ends(const arrow_offset *offsets, const Ranges *ranges, int64_t last, made_offset *made, int64_t at,
                        int64_t limit) noexcept nogil:
    """Write where each row ends, after `at` bytes or items; the source has `last`. Return where the last row ends,
    BAD_OFFSETS, or ABOVE_LIMIT."""
    cdef const int64_t *starts = ranges.starts
    cdef const int64_t *sizes = ranges.sizes
    cdef size_t i
    cdef int64_t start, row, rows, first, before, offset
    for i in range(ranges.count):
        start, rows, first, before = starts[i], 1 if sizes == NULL else sizes[i], 0, 0
        if sizes == NULL or rows == 1:      # the last case does the same, slower
            if start >= 0:
                first, before = offsets[start], offsets[start + 1]
            made[0] = <made_offset>(at + before - first)
        elif start < 0:
            for row in range(rows):
                made[row] = <made_offset>at
        else:
            first = before = offsets[start]
            for row in range(rows):
                offset = offsets[start + row + 1]
                if offset < before:
                    return BAD_OFFSETS
                before = offset
                made[row] = <made_offset>(at + offset - first)
        if <uint64_t>first > <uint64_t>before or before > last:     # if one is negative, too
            return BAD_OFFSETS
        if before - first > limit - at:
            return ABOVE_LIMIT
        at += before - first
        made += rows
    return at


cdef bint copy_texts(const arrow_offset *offsets, const uint8_t *src, const Ranges *ranges, int64_t last,
                     const made_offset *made, uint8_t *dst) noexcept nogil:
    """Copy the bytes of ranges to where write_ends() has placed them: dst + made[0] ... False: offsets have changed."""
    cdef const int64_t *starts = ranges.starts
    cdef const int64_t *sizes = ranges.sizes
    cdef size_t i
    cdef int64_t first, size, rows
    for i in range(ranges.count):
        rows = 1 if sizes == NULL else sizes[i]
        size = made[rows] - made[0]
        if sizes == NULL and i + AHEAD < ranges.count and starts[i + AHEAD] >= 0:
            prefetch(src + offsets[starts[i + AHEAD]])
        if size:
            first = offsets[starts[i]]
            if not 0 <= first <= last - size:
                return False
            if size <= SHORT and first <= last - SHORT:
                memcpy(dst + made[0], src + first, SHORT)
            else:
                memcpy(dst + made[0], src + first, <size_t>size)
        made += rows
    return True


cdef bint set_items(const arrow_offset *offsets, const Ranges *ranges, int64_t last, const made_offset *made,
                    int64_t *starts, int64_t *sizes) noexcept nogil:
    """Do the same for the items of lists: set their ranges."""
    cdef size_t i
    cdef int64_t rows
    for i in range(ranges.count):
        rows = size_at(ranges, i)
        sizes[i], starts[i] = made[rows] - made[0], 0
        if sizes[i]:
            starts[i] = offsets[ranges.starts[i]]
            if not 0 <= starts[i] <= last - sizes[i]:
                return False
        made += rows
    return True


cdef int64_t add_ends(Buffer *values, const arrow_offset *offsets, const Ranges *ranges, int64_t last, bint large,
                      int64_t at, int64_t limit) except? -3:
    """Do what write_ends() does, after the offsets of a buffer."""
    cdef int64_t end
    reserve(values, (8 if large else 4) * <size_t>ranges.rows + AFTER)
    with nogil:
        if large:
            end = write_ends(offsets, ranges, last, <int64_t *>(values.data + values.size), at, INT64_MAX)
        else:
            end = write_ends(offsets, ranges, last, <int32_t *>(values.data + values.size), at, limit)
    return end


cdef bint add_pieces(Buffer *data, const uint8_t *src, const arrow_offset *offsets, const Ranges *ranges, int64_t last,
                     const void *made, bint large, int64_t *items) noexcept nogil:
    """Copy the bytes of texts; or set the ranges of the items of lists: the starts, and then the sizes."""
    if items == NULL:
        return (copy_texts(offsets, src, ranges, last, <const int64_t *>made, data.data) if large else
                copy_texts(offsets, src, ranges, last, <const int32_t *>made, data.data))
    return (set_items(offsets, ranges, last, <const int64_t *>made, items, items + ranges.count) if large else
            set_items(offsets, ranges, last, <const int32_t *>made, items, items + ranges.count))


# --- growing ------------------------------------------------------------------------------------------------------------

cdef Growing growing_of(Type type, size_t limit):
    cdef Growing growing = Growing()
    growing.type, growing.limit, growing.large = type, limit, type.format in (b"U", b"Z", b"+L")
    growing.parts, growing.sources = [], []
    for part in type.children:
        growing.parts.append(growing_of(part, limit))
    if has_offsets(type):
        fill_zeros(&growing.values, 8 if growing.large else 4)
    return growing


cdef bint has_offsets(Type type):
    return type.dictionary is None and type.format in (b"u", b"z", b"U", b"Z", b"+l", b"+L")


cdef bint has_views(Type type):
    return type.format in (b"vu", b"vz")


@cython.final
@cython.no_gc
cdef class Growing:
    def __dealloc__(self):
        discard(&self.valid)
        discard(&self.values)
        discard(&self.data)

    cdef int add(self, Array array, const Ranges *ranges) except -1:
        """Add ranges of rows of an array."""
        cdef const uint8_t *values = <const uint8_t *>array.buffers[1]
        cdef const uint8_t *valid = <const uint8_t *>array.buffers[0] if array.nulls and array.n_buffers else NULL
        cdef size_t first = <size_t>array.offset, width
        cdef int64_t buffers = self.data.size // sizeof(int64_t), more = max(array.n_buffers - 3, <int64_t>0)
        cdef int i
        add_bits(&self.valid, <size_t>self.rows, valid, first, ranges)
        if has_offsets(self.type):
            self.add_texts(array, ranges)
        elif self.type.format == b"+s":
            for i in range(<int>len(self.parts)):
                (<Growing>self.parts[i]).add(child_of(array, i), ranges)
        elif self.type.format == b"b":
            add_bits(&self.values, <size_t>self.rows, values, first, ranges)
        elif self.type.format != b"n":
            width = WIDTHS[self.type.format]
            add_fixed(&self.values, width, values + width * first, ranges)
        if has_views(self.type):
            if buffers:
                move_views(<View *>self.values.data + self.rows, <size_t>ranges.rows, <int32_t>buffers)
            if more:
                append(&self.data, array.buffers[2 + more], 8 * <size_t>more)
            self.sources.append(array)
        if array.dictionary is not None:
            self.dictionary = array.dictionary
        self.rows += ranges.rows
        return 0

    cdef int add_texts(self, Array array, const Ranges *ranges) except -1:
        """Add rows of text or lists."""
        cdef ArrowBuffers buffers = ArrowBuffers()
        cdef Ranges items
        cdef bint lists = len(self.parts) > 0, wide = self.type.format not in LARGE, copied
        cdef const int64_t *offsets_64 = <const int64_t *>array.buffers[1] + array.offset
        cdef const int32_t *offsets_32 = <const int32_t *>array.buffers[1] + array.offset
        cdef const uint8_t *src = <const uint8_t *>array.buffers[2]
        cdef const uint8_t *made
        cdef int64_t at, last, end
        if ranges.rows == 0:
            return 0
        at = (<Growing>self.parts[0]).rows if lists else <int64_t>self.data.size
        last = (<Array>array.children[0]).length if lists else offset_at(array, wide, array.length)
        while True:
            end = (add_ends(&self.values, offsets_64, ranges, last, self.large, at, <int64_t>self.limit) if wide else
                   add_ends(&self.values, offsets_32, ranges, last, self.large, at, <int64_t>self.limit))
            if end != ABOVE_LIMIT:
                break
            if not widen(&self.values):
                raise MemoryError  # pragma: no cover: no memory
            self.large = True
        if lists:
            fill_zeros(&buffers.first, 2 * sizeof(int64_t) * ranges.count)
            items.starts = <const int64_t *>buffers.first.data
            items.count, items.sizes, items.rows = ranges.count, items.starts + ranges.count, end - at
        elif end >= 0:
            reserve(&self.data, <size_t>(end - at) + AFTER)
        made = self.values.data + self.values.size - (8 if self.large else 4)
        with nogil:
            copied = end != BAD_OFFSETS and (
                add_pieces(&self.data, src, offsets_64, ranges, last, made, self.large, <int64_t *>buffers.first.data)
                if wide else
                add_pieces(&self.data, src, offsets_32, ranges, last, made, self.large, <int64_t *>buffers.first.data))
        if not copied:
            raise ValueError("the Arrow array has decreasing offsets")
        self.values.size += (8 if self.large else 4) * <size_t>ranges.rows
        if lists:
            (<Growing>self.parts[0]).add(array.children[0], &items)
        else:
            self.data.size = <size_t>end
        return 0

    cdef tuple save(self):
        cdef Array source
        cdef const int64_t *sizes
        cdef int64_t i
        cdef list parts = [], views = []
        for part in self.parts:
            parts.append((<Growing>part).save())
        for source in self.sources:
            sizes = <const int64_t *>source.buffers[source.n_buffers - 1]
            for i in range(source.n_buffers - 3):
                views.append((<const char *>source.buffers[2 + i])[:sizes[i]])
        return self.rows, bytes_of(&self.valid), bytes_of(&self.values), bytes_of(&self.data), parts, views

    cdef int load(self, tuple saved, Array dictionary) except -1:
        cdef Array source = Array()
        cdef ArrowBuffers memory
        cdef int64_t i
        self.values.size, self.dictionary = 0, dictionary
        self.rows, valid, values, data, parts, views = saved
        append_bytes(&self.valid, valid)
        append_bytes(&self.values, values)
        append_bytes(&self.data, data)
        for part, rows in zip(self.parts, parts):
            (<Growing>part).load(rows, None)
        source.set_buffers(3 + len(views))
        for i in range(len(views)):
            memory = ArrowBuffers()
            append_bytes(&memory.first, views[i])
            source.buffers[2 + i] = hold(source, &memory.first)
        self.sources = [source]
        return 0

    cdef tuple finish(self):
        cdef Array array = Array(), source
        cdef Growing part
        cdef Type type = self.type, kind
        cdef list kinds = [], children = []
        cdef int64_t n, i = 2
        cdef bint changed = self.large and type.format in LARGE
        for part in self.parts:
            kind, child = part.finish()
            kinds.append(kind)
            children.append(child)
            changed |= kind is not part.type
        if changed:
            type = Type(LARGE[type.format] if self.large and type.format in LARGE else type.format, type.name, tuple(kinds))
        array.length, array.children, array.dictionary = self.rows, tuple(children), self.dictionary
        if type.dictionary is not None and self.dictionary is None:
            array.dictionary = growing_of(type.dictionary, self.limit).finish()[1]
        if type.format == b"n":
            array.nulls = self.rows
            return type, array
        array.nulls = self.rows - count_bits(self.valid.data, <size_t>self.rows)
        array.set_buffers(3 + self.data.size // sizeof(int64_t) if has_views(type) else
                          1 if type.format == b"+s" else 3 if has_offsets(type) and not children else 2)
        if array.nulls:
            array.buffers[0] = hold(array, &self.valid)
        if type.format != b"+s":
            array.buffers[1] = hold(array, &self.values)
        for source in self.sources:
            array.owners.extend(source.owners)
            for n in range(source.n_buffers - 3):
                array.buffers[i] = source.buffers[2 + n]
                i += 1
        if array.n_buffers > 2:
            array.buffers[i] = hold(array, &self.data)
        return type, array


cdef int add_all(Growing growing, Array array) except -1:
    """Add all rows of an array."""
    cdef int64_t start = 0
    cdef Ranges ranges
    ranges.count, ranges.starts, ranges.sizes, ranges.rows = 1, &start, &array.length, array.length
    return growing.add(array, &ranges)


cdef tuple join_arrays(Type type, list arrays, size_t limit):
    cdef Growing growing
    if len(arrays) == 1:
        return type, arrays[0]
    growing = growing_of(type, limit)
    for array in arrays:
        add_all(growing, array)
    return growing.finish()


# --- pickles ------------------------------------------------------------------------------------------------------------

cdef bytes bytes_of(const Buffer *buffer):
    return (<const char *>buffer.data)[:buffer.size]


cdef int append_bytes(Buffer *buffer, bytes data) except -1:
    reserve(buffer, <size_t>len(data) + AFTER)
    return append(buffer, PyBytes_AS_STRING(data), <size_t>len(data))


cdef tuple saved_rows(Type type, Array array):
    cdef Growing growing = growing_of(type, INT32_MAX)
    add_all(growing, array)
    return growing.save()


cdef Array loaded_rows(Type type, tuple saved, Array dictionary):
    cdef Growing growing = growing_of(type, INT32_MAX)
    growing.load(saved, dictionary)
    return growing.finish()[1]
