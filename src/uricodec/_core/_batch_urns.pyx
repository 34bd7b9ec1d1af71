"""Columns and lines of URNs, a block at a time.

Rows of a column are packed as lines into a buffer of the first cache's size: then the kernels for lines of URNs say how
many are plain, and bring these into normal form. Any other row is read by itself, and so are the next ones for a while, if
there are more of that kind.
"""
from libc.string cimport memchr

from uricodec._core._batch cimport *
from uricodec._core._batch_answers cimport Span, accept_rows
from uricodec._core._kernels cimport ByteSet, kernels, uc_lowest_bit, uc_set
from uricodec._core._urn cimport spec_of
from uricodec._core._urn_forms cimport BASE, BYTES, CHUNK, NAMESPACE, Rule, apply_rule, find_rules
from uricodec._core._urn_grammar cimport NID_OCTETS, Reading, Spec
from uricodec._core._urn_rows cimport Naming, UrnRows, read_row

cdef ByteSet NO_NEWLINE = ~ByteSet("\n")

FIELDS = ("nid", "nss", "r_component", "q_component", "f_component")


# --- components ---------------------------------------------------------------------------------------------------------

cdef inline void set_span(Span *span, size_t start, size_t end) noexcept nogil:
    """Components begin behind the start of the row; 0 is none."""
    span.start, span.end = <int64_t>start if start else -1, <int64_t>end


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef Reading urn
    cdef Span *spans = <Span *>dst
    if not read_row(src, n, options, &urn, refusal):
        return UC_REFUSED
    set_span(spans, 4, urn.nid_end)
    set_span(spans + 1, urn.nid_end + 1, urn.nss_end)
    set_span(spans + 2, urn.r, urn.q - 2 if urn.q else urn.f - 1 if urn.f else urn.end)
    set_span(spans + 3, urn.q, urn.f - 1 if urn.f else urn.end)
    set_span(spans + 4, urn.f, urn.end)
    return 5 * sizeof(Span)


cdef class SplitUrns(UrnRows):
    """Take URNs apart.

    Args:
        spec (str): As of `uricodec.urn.check`.

    Raises:
        ValueError: There is no such spec.
    """

    def __cinit__(self, spec="8141"):
        self.set_naming(<Spec>spec_of(spec), BYTES)
        self.operation = Operation(split_row, 0, 5 * sizeof(Span))


# --- many rows ----------------------------------------------------------------------------------------------------------

cdef size_t pack(Task *task, size_t stop, uint32_t *ends) noexcept nogil:
    """Pack rows from the first that is not done as lines. Returns how many; ends[i] is where line i ends."""
    cdef Block *block = task.block
    cdef size_t first = task.done, i = first, n, o = 0, last = block.at[block.rows]
    ends[0] = 0
    while i < stop:
        n = block.at[i + 1] - block.at[i]
        if o + n + 1 > CHUNK:
            break
        if block.at[i] + n + WIDE <= last:
            copy_octets(task.scratch + o, block.data + block.at[i], n)
        else:
            memcpy(task.scratch + o, block.data + block.at[i], n)
        task.scratch[o + n] = c'\n'
        o += n + 1
        i += 1
        ends[i - first] = <uint32_t>o
    return i - first


cdef size_t lines_before(const uint32_t *ends, size_t first, size_t rows, size_t octets) noexcept nogil:
    """Which line is the first that ends behind so many octets; `rows` if none does."""
    cdef size_t low = first, high = rows, middle
    while low < high:
        middle = (low + high + 1) // 2
        if ends[middle] <= octets:
            low = middle
        else:
            high = middle - 1
    return low


cdef void write_forms(Task *task, const Naming *naming, size_t first, size_t stop, const uint32_t *ends) noexcept nogil:
    """Bring lines that are plain into normal form, and unpack them."""
    cdef uint8_t nids[ROWS]
    cdef uint8_t rules[ROWS]
    cdef uint8_t *lines = task.scratch + ends[first]
    cdef uint8_t *dst = task.out + task.written
    cdef size_t n = ends[stop] - ends[first], i, o = 0, start = 0, size
    cdef bint has_rules = naming.level >= NAMESPACE
    if naming.level != BYTES:
        kernels.normalize_urns(lines, n, c'\n', lines)
    if has_rules:
        find_rules(lines, ends + first, stop - first, nids, rules)
    for i in range(first, stop):
        size = ends[i + 1] - ends[first] - start - 1
        copy_octets(dst + o, lines + start, size)
        start += size + 1
        if has_rules and rules[i - first] != BASE:
            size = apply_rule(<Rule>rules[i - first], dst + o, 4 + nids[i - first], size, naming.level, False)
        o += size
        task.out_at[task.done + i - first + 1] = <uint32_t>(task.written + o)
    if has_rules:       # which may have folded triplets
        kernels.upper_triplets(dst, o, dst)
    task.written += o
    task.done += stop - first


cdef inline bint do_row(Task *task) noexcept nogil:
    """The next row, whatever it is."""
    cdef Block *block = task.block
    cdef size_t i = task.done
    if task.answer == NULL:
        return write_row(task, i)
    task.done = i + 1
    return task.answer(task, block.first + i, block.data + block.at[i], block.at[i + 1] - block.at[i])


cdef bint do_lines(Task *task, const uint32_t *ends, size_t packed) noexcept nogil:
    """The rows that are packed."""
    cdef const Naming *naming = <const Naming *>task.options
    cdef size_t i = 0, stop, others = 1
    while i < packed:
        stop = lines_before(ends, i, packed, ends[i] + kernels.span_urns(
            task.scratch + ends[i], ends[packed] - ends[i], &NID_OCTETS.set, naming.nss, c'\n'))
        if stop > i:
            others = 1
            if task.answer == NULL:
                write_forms(task, naming, i, stop, ends)
            else:
                accept_rows(task, task.block.first + task.done, stop - i)
                task.done += stop - i
        elif others < 64:
            others *= 2
        i = min(stop + others, packed)
        while stop < i:
            if not do_row(task):
                return False
            stop += 1
    return True


cdef bint by_lines(Task *task) noexcept nogil:
    cdef Block *block = task.block
    cdef uint32_t ends[ROWS + 1]
    cdef size_t stop, packed
    task.done = 0
    while task.done < block.rows:
        stop = block.rows
        if task.source.valid != NULL:       # up to the next null
            stop = task.done
            while stop < block.rows and is_valid(task.source, block.first + stop):
                stop += 1
        packed = pack(task, stop, ends)
        if packed:
            if not do_lines(task, ends, packed):
                return False
        elif not do_row(task):
            return False
    return True


cdef bint rows_of_urns(Task *task) noexcept nogil:
    cdef Block *block = task.block
    cdef size_t i, n
    if block.gap == 0 and memchr(block.data, c'\n', block.at[block.rows]) == NULL:
        return by_lines(task)
    if task.answer == NULL:
        return by_rows(task)
    for i in range(block.rows):
        n = block.at[i + 1] - block.at[i] - block.gap
        n -= carriage_return(task, block.data + block.at[i], n)
        if not task.answer(task, block.first + i, block.data + block.at[i], n):
            return False
    return True


cdef block_function urn_block(RowOperation rows, Kind kind):
    if isinstance(rows, UrnRows) and kind != SPLIT:
        return rows_of_urns
    return NULL


cdef size_t lines_quickly(Task *task) noexcept nogil:
    """The plain ones of lines."""
    cdef const Naming *naming = <const Naming *>task.options
    cdef size_t n = quick_lines(task, CHUNK)
    cdef const uint8_t *src = task.source.data + task.next
    cdef uint8_t *dst = task.data.data + task.data.size
    if n == 0:
        return 0
    n = kernels.span_urns(src, n, &NID_OCTETS.set, naming.nss, task.source.end)
    if n == 0:      # one line is done as a row, and some more if there are more of the kind
        task.slow = min(2 * task.slow, <size_t>BLOCK)
        return 0
    if naming.level == BYTES:
        memcpy(dst, src, n)
    else:
        kernels.normalize_urns(src, n, task.source.end, dst)
    task.slow = 32
    task.row += kernels.count_outside(dst, n, task.source.no_end)
    task.data.size += n
    return n


cdef quick_function urn_quick(RowOperation rows):
    """Lines that get rules of namespaces are done as rows."""
    if isinstance(rows, UrnRows) and (<UrnRows>rows).naming.level < NAMESPACE:
        return lines_quickly
    return NULL
