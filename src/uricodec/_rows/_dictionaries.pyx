# distutils: extra_compile_args=-O2
"""Dictionaries with distinct values, selection of rows, and rows by number.

An operation on a dictionary array processes the values of the dictionary. Afterwards some values may be equal or null,
but consumers expect distinct values without nulls: they count, group and compare by index. So each value gets the
number of the first equal value, a null gets no number, and rows get these numbers as indices; a row that referred to a
null becomes null. If no value is null or equal to another one, which is usual, the rows keep their indices.

Values are looked up in a hash table with open addressing. A slot is 0, or has the number of a value + 1 in its low bits
and bits of the value's hash in the others. Values are equal only if their bytes are.
"""
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._rows._arrow cimport *
from uricodec._rows._engine cimport *
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
    distinct.values = select_rows(rows, buffers.second.data, 1)
    distinct.ordered = is_ordered(numbers, n)
    distinct.numbers = keep(&buffers.first)
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


# --- selection of rows ------------------------------------------------------------------------------------------------

cdef Array select_rows(SourceRows rows, const uint8_t *marks, uint8_t chosen):
    """Return the rows that have this mark, in the layout of the source."""
    cdef const Source *source = &rows.source
    cdef Array array = Array(), old = rows.array
    cdef Buffer where, data, valid
    cdef size_t count = 0, i, width
    cdef Status status
    for i in range(source.count):
        count += marks[i] == chosen
    array.length, array.nulls = <int64_t>count, <int64_t>count if source.layout == NULLS else 0
    if source.layout == NULLS:
        array.set_buffers(old.n_buffers)
        return array
    memset(&where, 0, sizeof(Buffer))
    memset(&data, 0, sizeof(Buffer))
    memset(&valid, 0, sizeof(Buffer))
    width = (8 if source.layout == OFFSETS_64 else 4 if source.layout == OFFSETS_32 else
             sizeof(View) if source.layout == VIEWS else <size_t>abs(source.width))
    try:
        reserve(&where, width * (count + 1) + 1)
        reserve(&valid, count // 8 + 1)
        with nogil:
            status = copy_rows(source, marks, chosen, &where, &data, &valid, width, &array.nulls)
        if status == NO_MEMORY:
            raise MemoryError  # pragma: no cover: no memory
        if status == BAD_LAYOUT:
            raise ValueError("the Arrow array has decreasing offsets")
        array.set_buffers(old.n_buffers if source.layout in (VIEWS, INDEXED) else 3)
        for i in range(2, <size_t>array.n_buffers if source.layout == VIEWS else 0):
            array.buffers[i] = old.buffers[i]
        if source.layout in (VIEWS, INDEXED):
            array.owners.extend(old.owners)
            array.dictionary = old.dictionary
        else:
            array.buffers[2] = hold(array, &data)
        array.buffers[1] = hold(array, &where)
        if array.nulls:
            array.buffers[0] = hold(array, &valid)
    finally:
        discard(&where)
        discard(&data)
        discard(&valid)
    return array


cdef inline Status copy_run(const arrow_offset *offsets, size_t count, size_t first, size_t stop, const uint8_t *src,
                            arrow_offset *ends, Buffer *data) noexcept nogil:
    """Copy consecutive rows, none of which is null, and write where each of them ends in the copy."""
    cdef arrow_offset start = offsets[first], before = start, at
    cdef size_t i, most = INT32_MAX if sizeof(arrow_offset) == 4 else <size_t>INT64_MAX
    if start < 0:
        return BAD_LAYOUT
    for i in range(first + 1, stop + 1):
        at = offsets[i]
        if at < before or <size_t>(at - start) > most - data.size:      # more than offsets can address: rows overlap
            return BAD_LAYOUT
        before = at
        ends[i - first - 1] = <arrow_offset>data.size + at - start
    if before > offsets[count]:
        return BAD_LAYOUT
    if not grow(data, <size_t>(before - start)):
        return NO_MEMORY  # pragma: no cover: no memory
    if before > start:      # otherwise dst may not be allocated yet
        memcpy(data.data + data.size, src + start, <size_t>(before - start))
    data.size += <size_t>(before - start)
    return DONE


cdef Status copy_rows(const Source *source, const uint8_t *marks, uint8_t chosen, Buffer *where, Buffer *data, Buffer *valid,
                      size_t width, int64_t *nulls) noexcept nogil:
    """Copy offsets, views or indices of the chosen rows, and the bytes of consecutive rows: neighbours in one copy."""
    cdef Status status = DONE
    cdef size_t i = 0, stop, done = 0
    cdef bint null, has_offsets = source.layout == OFFSETS_32 or source.layout == OFFSETS_64
    memset(valid.data, 0xFF, valid.cap)
    memset(where.data, 0, width)
    while i < source.count:
        stop = i + 1
        if marks[i] != chosen:
            i = stop
            continue
        null = not is_valid(source, i)
        if null:
            valid.data[done >> 3] &= ~(1 << (done & 7))
            nulls[0] += 1
        else:
            while stop < source.count and marks[stop] == chosen and is_valid(source, stop):
                stop += 1
        if not has_offsets:
            memcpy(where.data + width * done, <const uint8_t *>source.offsets + width * i, width * (stop - i))
        elif null:
            memcpy(where.data + width * (done + 1), where.data + width * done, width)
        elif source.layout == OFFSETS_32:
            status = copy_run(<const int32_t *>source.offsets, source.count, i, stop, source.data,
                              <int32_t *>where.data + done + 1, data)
        else:
            status = copy_run(<const int64_t *>source.offsets, source.count, i, stop, source.data,
                              <int64_t *>where.data + done + 1, data)
        if status != DONE:
            return status
        done += stop - i
        i = stop
    where.size = width * (done + has_offsets)
    valid.size = (done + 7) >> 3
    return DONE if grow(data, 1) else NO_MEMORY


# --- rows by number -----------------------------------------------------------------------------------------------------

cdef bint repeats_values(list arrays) except -1:
    """Return whether dictionaries have no more values than there are rows."""
    cdef Array array
    cdef dict found = {}
    cdef int64_t rows = 0
    for array in arrays:
        rows += array.length
        found[identity_of(array.dictionary)] = array.dictionary.length
    return bool(found) and sum(found.values()) <= rows


cdef Array by_indices(Array array, Type type, Array answers, Type kind, size_t limit):
    """Return the results for the rows of a dictionary array, given those for its values; None: see by_numbers()."""
    cdef SourceRows rows = rows_of(array, type)
    cdef ArrowBuffers buffers = ArrowBuffers()
    cdef int64_t *numbers
    cdef size_t i, n = rows.source.count
    cdef bint inside = True
    reserve(&buffers.first, 8 * n + 8)
    numbers = <int64_t *>buffers.first.data
    with nogil:
        for i in range(n):
            numbers[i] = -1
            if is_valid(&rows.source, i):
                numbers[i] = index_at(&rows.source, i)
                inside &= 0 <= numbers[i] < answers.length
    if not inside:
        raise ValueError("the Arrow array has indices out of range")
    return by_numbers(answers, kind, numbers, n, limit)


cdef Array by_numbers(Array array, Type type, const int64_t *numbers, size_t n, size_t limit):
    """Return rows of a result, given the number of each; -1: null.

    Args:
        array (Array): A result of an operation: without an offset, of one of the types that answer_type() returns.
        limit (size_t): The largest value of an offset of 32 bits.

    Returns:
        Array | None: None if the rows need offsets of 64 bits, and those of the result have 32.
    """
    cdef Array made = Array(), child
    cdef Type kind
    cdef ArrowBuffers buffers = ArrowBuffers(), items = ArrowBuffers()
    cdef bytes format = type.format
    cdef bint large = format in (b"U", b"Z", b"+L"), fits = True
    cdef const uint8_t *valid = <const uint8_t *>array.buffers[0] if array.nulls else NULL
    cdef list children = []
    cdef size_t width = 16 if format == b"w:16" else 8
    made.length = <int64_t>n
    fill_zeros(&buffers.first, n // 8 + 1)
    with nogil:
        made.nulls = mark_valid(valid, numbers, n, buffers.first.data)
    made.set_buffers(1 if format == b"+s" else 3 if format in (b"u", b"z", b"U", b"Z") else 2)
    if made.nulls:
        made.buffers[0] = hold(made, &buffers.first)
    if format == b"+s":
        for child, kind in zip(array.children, type.children):
            children.append(by_numbers(child, kind, numbers, n, limit))
        made.children = tuple(children)
        return None if None in children else made
    if format == b"b":
        fill_zeros(&buffers.second, n // 8 + 1)
        with nogil:
            mark_valid(<const uint8_t *>array.buffers[1], numbers, n, buffers.second.data)
    elif format in (b"w:16", b"l"):
        fill_zeros(&buffers.second, width * n)
        with nogil:
            copy_values(<const uint8_t *>array.buffers[1], width, numbers, n, buffers.second.data)
    else:
        reserve(&buffers.second, (8 if large else 4) * (n + 1))
        buffers.second.size = (8 if large else 4) * (n + 1)
        with nogil:
            if large:
                fits = set_offsets(<const int64_t *>array.buffers[1], numbers, n, INT64_MAX, <int64_t *>buffers.second.data)
            else:
                fits = set_offsets(<const int32_t *>array.buffers[1], numbers, n, <int32_t>limit, <int32_t *>buffers.second.data)
        if not fits:
            return None
        if large:
            copy_ranges[int64_t](array, type, numbers, n, <const int64_t *>buffers.second.data, limit, &items.first, children)
        else:
            copy_ranges[int32_t](array, type, numbers, n, <const int32_t *>buffers.second.data, limit, &items.first, children)
        if None in children:
            return None
        if children:
            made.children = tuple(children)
        else:
            made.buffers[2] = hold(made, &items.first)
    made.buffers[1] = hold(made, &buffers.second)
    return made


cdef int64_t mark_valid(const uint8_t *bits, const int64_t *numbers, size_t n, uint8_t *made) noexcept nogil:
    """Write a bit for each row, 0 for null; NULL: all bits are 1. Return how many are 0."""
    cdef size_t i
    cdef int64_t unset = 0, row
    for i in range(n):
        row = numbers[i]
        if row >= 0 and (bits == NULL or bits[row >> 3] >> (row & 7) & 1):
            made[i >> 3] |= 1 << (i & 7)
        else:
            unset += 1
    return unset


cdef void copy_values(const uint8_t *src, size_t width, const int64_t *numbers, size_t n, uint8_t *dst) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if numbers[i] >= 0:
            memcpy(dst + i * width, src + <size_t>numbers[i] * width, width)


cdef bint set_offsets(const arrow_offset *offsets, const int64_t *numbers, size_t n, arrow_offset limit,
                      arrow_offset *made) noexcept nogil:
    """Write where rows end in their copy. False: beyond the limit."""
    cdef size_t i
    cdef arrow_offset at = 0, size
    made[0] = 0
    for i in range(n):
        size = offsets[numbers[i] + 1] - offsets[numbers[i]] if numbers[i] >= 0 else 0
        if size > limit - at:
            return False
        at += size
        made[i + 1] = at
    return True


cdef int copy_ranges(Array array, Type type, const int64_t *numbers, size_t n, const arrow_offset *ends, size_t limit,
                     Buffer *made, list children) except -1:
    """Copy the texts of rows; of lists, append the array of their items to `children`."""
    cdef const arrow_offset *offsets = <const arrow_offset *>array.buffers[1]
    cdef const uint8_t *src
    cdef size_t i, size
    cdef int64_t item, count = ends[n]
    if type.children:
        reserve(made, 8 * <size_t>count + 8)
        with nogil:
            for i in range(n):
                for item in range(ends[i + 1] - ends[i]):
                    (<int64_t *>made.data)[ends[i] + item] = offsets[numbers[i]] + item
        children.append(by_numbers(array.children[0], type.children[0], <const int64_t *>made.data, <size_t>count, limit))
        return 0
    src = <const uint8_t *>array.buffers[2]
    reserve(made, <size_t>count + 8)
    made.size = <size_t>count
    with nogil:
        for i in range(n):
            size = <size_t>(ends[i + 1] - ends[i])
            if size:
                memcpy(made.data + ends[i], src + offsets[numbers[i]], size)
    return 0
