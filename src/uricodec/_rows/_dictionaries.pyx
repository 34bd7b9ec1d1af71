# distutils: extra_compile_args=-O2
"""Dictionaries with distinct values, selection of rows, and rows by number.

An operation on a dictionary array processes the values of the dictionary. Afterwards some values may be equal or null,
but consumers expect distinct values without nulls: they count, group and compare by index. So each value gets the
number of the first equal value, a null gets no number, and rows get these numbers as indices; a row that referred to a
null becomes null. If no value is null or equal to another one, which is usual, the rows keep their indices.

Values are looked up in a hash table with open addressing. A slot is 0, or has the number of a value + 1 in its low bits
and bits of the value's hash in the others. Values are equal only if their bytes are.
"""
from libc.stdint cimport INT32_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._rows._arrow cimport *
from uricodec._rows._engine cimport *
from uricodec._rows._ranges cimport Growing, Ranges, growing_of, join_arrays
from uricodec._rows._tasks cimport WIDTHS, SourceRows, rows_of
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, Key, fingerprint
from uricodec._base._kernels cimport prefetch

cdef enum:
    AHEAD = 64          # values that are looked up at the same time

cdef FingerprintKey HASHES = FingerprintKey()       # a random key: no input can be crafted to make the table slow


# --- distinct values ----------------------------------------------------------------------------------------------------

cdef bint number_values(const Source *source, const Key *key, uint64_t *slots, uint64_t mask, int64_t *numbers,
                        int64_t *count) noexcept nogil:
    """Number the distinct values in the order of their first occurrence. False: the position of one is out of range."""
    cdef const uint8_t *rows[AHEAD]
    cdef size_t sizes[AHEAD]
    cdef uint64_t hashes[AHEAD]
    cdef uint8_t digest[UC_FINGERPRINT]
    cdef size_t i, first = 0, n
    while first < source.count:
        n = min(<size_t>AHEAD, source.count - first)
        for i in range(n):      # prefetch the slots of all values at once: a large table is not in the cache
            if not row_at(source, first + i, rows + i, sizes + i):
                return False
            fingerprint(key, rows[i], sizes[i], digest)
            memcpy(hashes + i, digest, 8)
            prefetch(slots + (hashes[i] & mask))
        for i in range(n):
            if not is_valid(source, first + i):
                numbers[first + i] = -1
            else:
                number_value(source, first + i, rows[i], sizes[i], hashes[i], slots, mask, numbers, count)
        first += n
    return True


cdef inline void number_value(const Source *source, size_t row, const uint8_t *src, size_t n, uint64_t hash,
                              uint64_t *slots, uint64_t mask, int64_t *numbers, int64_t *count) noexcept nogil:
    cdef const uint8_t *before
    cdef size_t size = 0, other
    cdef uint64_t place = hash & mask
    while slots[place]:
        if ((slots[place] ^ hash) & ~mask) == 0:
            other = <size_t>(slots[place] & mask) - 1
            if row_at(source, other, &before, &size) and size == n and memcmp(before, src, n) == 0:
                numbers[row] = numbers[other]
                return
        place = (place + 1) & mask
    slots[place] = (hash & ~mask) | (row + 1)
    numbers[row] = count[0]
    count[0] += 1


cdef bint is_ordered(const int64_t *numbers, size_t n) noexcept:
    """Return whether the values are still in the order of their numbers: only adjacent values became equal."""
    cdef size_t i
    cdef int64_t last = -1
    for i in range(n):
        if 0 <= numbers[i] < last:
            return False
        last = max(last, numbers[i])
    return True


cdef Distinct distinct_of(Array values, Type type):
    """Return the distinct values of a dictionary."""
    cdef Distinct distinct = Distinct()
    cdef SourceRows rows = rows_of(values, type)
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef size_t n = rows.source.count, i
    cdef uint64_t mask = 1
    cdef int64_t count = 0, next = 0
    cdef int64_t *numbers
    cdef bint found
    distinct.values, distinct.ordered = values, True
    while mask < 2 * n:
        mask = 2 * mask + 1
    reserve(&buffers.first, 8 * n + 8)
    reserve(&buffers.second, 8 * <size_t>(mask + 1))
    buffers.first.size = 8 * n
    numbers = <int64_t *>buffers.first.data
    with nogil:
        memset(buffers.second.data, 0, 8 * <size_t>(mask + 1))
        found = number_values(&rows.source, &HASHES.key, <uint64_t *>buffers.second.data, mask, numbers, &count)
    if not found:
        raise ValueError("the Arrow array has decreasing offsets, or views out of range")
    if <size_t>count == n:
        return distinct
    for i in range(n):      # marks, in the memory of the slots
        buffers.second.data[i] = numbers[i] == next
        next += numbers[i] == next
    distinct.values = select_rows(values, type, buffers.second.data, 1)
    distinct.ordered = is_ordered(numbers, n)
    distinct.numbers = memory_of(&buffers.first)
    return distinct


cdef tuple identity_of(Array array):
    """Return a key that is equal for arrays that share their memory."""
    cdef list identity = [array.offset, array.length, array.nulls == 0]
    for i in range(array.n_buffers):
        identity.append(<size_t>array.buffers[i])
    return tuple(identity)


# --- indices of rows --------------------------------------------------------------------------------------------------

cdef inline void set_index(uint8_t *indices, int width, size_t i, int64_t number) noexcept nogil:
    if width == 1:
        indices[i] = <uint8_t>number
    elif width == 2:
        (<unsigned short *>indices)[i] = <unsigned short>number
    elif width == 4:
        (<uint32_t *>indices)[i] = <uint32_t>number
    else:
        (<int64_t *>indices)[i] = number


cdef int64_t renumber(const Source *source, const int64_t *numbers, int64_t first, uint8_t *indices, int width,
                      uint8_t *valid) noexcept nogil:
    """Write the new indices and the validity of rows. Return how many are null; -1: an index is out of range."""
    cdef size_t i
    cdef int64_t index, number, nulls = 0
    for i in range(source.count):
        number = -1
        if is_valid(source, i):
            index = index_at(source, i)
            if not 0 <= index < <int64_t>source.values.count:
                return -1
            number = first + index if numbers == NULL else numbers[first + index]
        if number < 0:
            nulls += 1
            number = 0
        else:
            valid[i >> 3] |= 1 << (i & 7)
        set_index(indices, width, i, number)
    return nulls


cdef Array with_numbers(Array array, Type type, Distinct distinct, int64_t first, Array dictionary, bytes format):
    """Return the rows of a dictionary as indices of distinct values.

    Its first value is number `first` of those that were made distinct; the rows then refer to `dictionary`, which has the
    distinct values, by indices of this format.
    """
    cdef Array made = Array()
    cdef SourceRows rows
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef const int64_t *numbers = NULL
    cdef int width = abs(<int>WIDTHS[format])
    cdef size_t n = <size_t>array.length
    cdef int64_t nulls
    made.length, made.dictionary = array.length, dictionary
    made.set_buffers(2)
    if distinct.numbers is not None:
        numbers = <const int64_t *>distinct.numbers.data
    elif first == 0 and format == type.format:
        made.nulls, made.offset = array.nulls, array.offset
        made.buffers[0], made.buffers[1] = array.buffers[0], array.buffers[1]
        made.owners.extend(array.owners)
        return made
    rows = rows_of(array, type)
    fill_zeros(&buffers.first, (n + 7) // 8)
    reserve(&buffers.second, <size_t>width * n + 8)
    buffers.second.size = <size_t>width * n
    with nogil:
        nulls = renumber(&rows.source, numbers, first, buffers.second.data, width, buffers.first.data)
    if nulls < 0:
        raise ValueError("the Arrow array has indices out of range")
    made.nulls = nulls
    if nulls:
        made.buffers[0] = hold(made, &buffers.first)
    made.buffers[1] = hold(made, &buffers.second)
    return made


cdef tuple with_one_dictionary(Type type, list arrays, size_t limit):
    """Return the type and the rows of arrays that are converted to share one dictionary, to be joined to one array.

    Indices keep their width, or get 64 bits if the dictionary has too many values for it.
    """
    cdef Array array, dictionary
    cdef Type kind
    cdef Distinct distinct
    cdef dict places = {}
    cdef list dictionaries = [], numbered = [], children = [], kinds = []
    cdef bint ordered = type.ordered
    cdef int64_t count = 0
    if type.format == b"+s":
        for array in arrays:
            numbered.append(part_of(array, 0, array.length))
            children.append([])
        for i, kind in enumerate(type.children):
            parts = []
            for array in arrays:
                parts.append(array.children[i])
            kind, parts = with_one_dictionary(kind, parts, limit)
            kinds.append(kind)
            for row, part in enumerate(parts):
                children[row].append(part)
        for row, array in enumerate(numbered):
            array.children = tuple(children[row])
        return Type(b"+s", type.name, tuple(kinds)), numbered
    for array in arrays if type.dictionary is not None else []:
        key = identity_of(array.dictionary)
        if key not in places:
            places[key] = count
            dictionaries.append(array.dictionary)
            count += array.dictionary.length
    if len(dictionaries) < 2:
        return type, arrays
    kind, dictionary = join_arrays(type.dictionary, dictionaries, limit)
    distinct = distinct_of(dictionary, kind)
    dictionary = distinct.values
    format = type.format
    if dictionary.length > 1 << (8 * abs(<int>WIDTHS[format]) - (WIDTHS[format] < 0 or WIDTHS[format] == 8)):
        format = b"l"
    for array in dictionaries if distinct.numbers is not None else []:
        count = places[identity_of(array)]
        ordered &= is_ordered(<const int64_t *>distinct.numbers.data + count, <size_t>array.length)
    for array in arrays:
        numbered.append(with_numbers(array, type, distinct, places[identity_of(array.dictionary)], dictionary, format))
    return Type(format, type.name, (), kind, ordered), numbered


cdef tuple without_null_values(Type type, list arrays):
    """Return the type and the rows of arrays, with nulls removed from their dictionaries."""
    cdef Array array, values
    cdef Distinct distinct
    cdef dict done = {}
    cdef list made = []
    cdef bint ordered = type.ordered
    if type.dictionary is None:
        return type, arrays
    for array in arrays:
        values = array.dictionary
        if type.dictionary.format != b"n" and (values.nulls == 0 or values.buffers[0] == NULL):
            made.append(array)
            continue
        key = identity_of(values)
        if key not in done:
            done[key] = distinct_of(values, type.dictionary)
        distinct = done[key]
        ordered &= distinct.ordered
        made.append(with_numbers(array, type, distinct, 0, distinct.values, type.format))
    return Type(type.format, type.name, (), type.dictionary, ordered), made


# --- selection of rows, and rows by number ------------------------------------------------------------------------------

cdef Array select_rows(Array array, Type type, const uint8_t *marks, uint8_t chosen):
    """Return the rows that have this mark, in the layout of the array."""
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef Growing growing = growing_of(type, INT32_MAX)
    cdef Ranges ranges
    cdef int64_t *starts
    cdef int64_t *sizes
    cdef int64_t i, n = array.length
    cdef size_t count = 0
    for i in range(n):
        count += marks[i] == chosen and (i == 0 or marks[i - 1] != chosen)
    fill_zeros(&buffers.first, 2 * sizeof(int64_t) * count)
    starts = <int64_t *>buffers.first.data
    sizes = starts + count
    ranges.count, ranges.starts, ranges.sizes, ranges.rows = count, starts, sizes, 0
    with nogil:
        for i in range(n):
            if marks[i] == chosen:
                if i == 0 or marks[i - 1] != chosen:
                    starts[0], sizes[0] = i, 0
                    starts, sizes = starts + 1, sizes + 1
                (sizes - 1)[0] += 1
                ranges.rows += 1
    growing.add(array, &ranges)
    kind, made = growing.finish()
    if kind is not type:        # more bytes than the array has
        raise ValueError("the Arrow array has decreasing offsets")
    return made


cdef bint repeats_values(list arrays) except -1:
    """Return whether dictionaries have no more values than there are rows."""
    cdef Array array
    cdef dict found = {}
    cdef int64_t rows = 0
    for array in arrays:
        rows += array.length
        found[identity_of(array.dictionary)] = array.dictionary.length
    return bool(found) and sum(found.values()) <= rows


cdef tuple by_indices(Array array, Type type, Array results, Type kind, size_t limit):
    """Return the results for the rows of a dictionary array, given those for its values; and their type, which has 64-bit
    offsets if one is above the limit."""
    cdef SourceRows rows = rows_of(array, type)
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef Growing growing = growing_of(kind, limit)
    cdef Ranges ranges
    cdef int64_t *starts
    cdef size_t i, n = rows.source.count
    cdef bint inside = True
    reserve(&buffers.first, 8 * n + 8)
    starts = <int64_t *>buffers.first.data
    with nogil:
        for i in range(n):
            starts[i] = -1
            if is_valid(&rows.source, i):
                starts[i] = index_at(&rows.source, i)
                inside &= 0 <= starts[i] < results.length
    if not inside:
        raise ValueError("the Arrow array has indices out of range")
    ranges.count, ranges.starts, ranges.sizes, ranges.rows = n, starts, NULL, array.length
    growing.add(results, &ranges)
    return growing.finish()
