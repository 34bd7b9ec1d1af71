"""Columns and lines percent-encoded and decoded (RFC 3986 section 2.1), a block of rows at a time.

A kernel takes all octets of a block at once, as if there were no rows, and the new ends of rows come out of masks: every
octet that is encoded moves what is behind it by two, every triplet back by two, so that a row ends at its old end plus or
minus twice the number of marks before it. A triplet has to be inside of one row, and text has to be UTF-8 in every row by
itself: where the masks, or the octets that rows begin with, say otherwise, rows are done one by one.
"""
from libc.string cimport memchr

from uricodec._core._batch cimport *
from uricodec._core._codec_rows cimport *
from uricodec._core._kernels cimport ByteSet, UC_FULL, kernels, uc_lowest_bit, uc_set, uc_utf8
from uricodec._core._lines cimport has_c1
from uricodec._core._quote cimport quote_text, stdlib, unquote_text
from uricodec._core._triplets cimport *

from uricodec._core._triplets import percent_decode

cdef enum:
    QUICK = 2048        # octets of lines that are tried as a whole

cdef ByteSet NO_PERCENT = ~ByteSet("%")
cdef ByteSet NO_DIGIT = ~ByteSet("0123456789ABCDEFabcdef")
cdef ByteSet NO_CONTROL = ~ByteSet([*range(0x20), 0x7F])


# --- masks --------------------------------------------------------------------------------------------------------------

cdef inline uint64_t bits_before(const uint64_t *words, const uint32_t *counts, size_t i) noexcept nogil:
    return counts[i >> 6] + bits_of(words[i >> 6] & ((<uint64_t>1 << (i & 63)) - 1))


cdef inline size_t count_words(const uint64_t *words, size_t n, uint32_t *counts) noexcept nogil:
    """counts[w]: the bits in the words before word w. Returns those of all."""
    cdef size_t w, sum = 0
    for w in range(n):
        counts[w] = <uint32_t>sum
        sum += bits_of(words[w])
    counts[n] = <uint32_t>sum
    return sum


cdef bint mark_triplets(const uint8_t *src, size_t n, uint64_t *percents, uint64_t *triplets) noexcept nogil:
    """Mark each "%", and those of triplets; a word more than there are is 0. False: there is no "%"."""
    cdef uint64_t digits[WORDS + 1]
    cdef uint64_t any = 0
    cdef size_t w, words = (n + 63) // 64
    kernels.mark_outside(src, n, &NO_PERCENT.set, percents)
    for w in range(words):
        any |= percents[w]
    if not any:
        return False
    kernels.mark_outside(src, n, &NO_DIGIT.set, digits)
    digits[words] = 0
    for w in range(words):
        triplets[w] = (percents[w] & (digits[w] >> 1 | digits[w + 1] << 63)
                       & (digits[w] >> 2 | digits[w + 1] << 62))
    triplets[words] = percents[words] = 0
    return True


# --- decoding -----------------------------------------------------------------------------------------------------------

cdef struct Decoding:
    bint plus
    bint text       # and the octets have to be UTF-8
    bint framed     # triplets of controls stay
    uc_set plain    # what nothing becomes of


cdef size_t decode_by(const uint8_t *src, size_t n, const void *options, Policy policy, Policy malformed, uint8_t *dst,
                      Refusal *refusal) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>options
    cdef Careful careful
    cdef size_t size
    careful.policy, careful.malformed, careful.plus, careful.utf8 = policy, malformed, how.plus, True
    careful.free, careful.c1 = &NO_CONTROL.set if how.framed else NULL, how.framed
    size = decode_carefully(src, n, &careful, dst)
    if careful.fault == NO_FAULT:
        return size
    refusal.code, refusal.offset = careful.fault, careful.position
    return UC_REFUSED


cdef size_t decode_keeping(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    """Decode text as percent_decode does: what is malformed or not UTF-8 stays."""
    return decode_by(src, n, options, KEEP, KEEP, dst, refusal)


cdef size_t decode_replacing(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Refusal *refusal) noexcept nogil:
    """Decode text as urllib.parse.unquote does: a malformed triplet stays, and U+FFFD stands for what is not UTF-8."""
    return decode_by(src, n, options, REPLACE, KEEP, dst, refusal)


cdef inline bint has_new_control(const uint8_t *src, size_t n, const uint8_t *dst, size_t size) noexcept nogil:
    """Whether decoding has made a control: it takes none away."""
    return kernels.count_outside(dst, size, &NO_CONTROL.set) != kernels.count_outside(src, n, &NO_CONTROL.set) or has_c1(
        dst, size)


cdef size_t decode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>options
    cdef size_t size = kernels.decode(src, n, how.plus, dst, n)
    if size == UC_FULL:
        return 0
    if not how.text or memchr(dst, c'%', size) == NULL and is_utf8(dst, size) and not (
            how.framed and has_new_control(src, n, dst, size)):
        return size
    return decode_by(src, n, options, FAIL, FAIL, dst, refusal)


cdef bint starts_inside(const uint8_t *src, const uint32_t *at, size_t rows) noexcept nogil:
    """Whether a row begins with a byte that continues a sequence: rows may be UTF-8 together only."""
    cdef bint inside = False
    cdef size_t row
    for row in range(rows):
        inside |= at[row] < at[rows] and (src[at[row]] & 0xC0) == 0x80
    return inside


cdef bint rows_are_utf8(const uint8_t *src, const uint32_t *at, size_t rows) noexcept nogil:
    """Whether each row is UTF-8 by itself."""
    cdef uc_utf8 found
    return kernels.scan_utf8(src, at[rows], &found) == at[rows] and (
        found.highest < 0x80 or not starts_inside(src, at, rows))


cdef inline size_t marked_row(const uint32_t *at, size_t rows, const uint64_t *marks, size_t row) noexcept nogil:
    """The first row from there on that has a mark; `rows` if there is none."""
    cdef size_t i = at[row], n = at[rows], w = i >> 6
    cdef uint64_t word
    if marks == NULL or i == n:
        return rows
    word = marks[w] & ~<uint64_t>0 << (i & 63)
    while word == 0:
        w += 1
        if 64 * w >= n:
            return rows
        word = marks[w]
    i = 64 * w + <size_t>uc_lowest_bit(word)
    while at[row + 1] <= i:
        row += 1
    return row


cdef bint write_text_rows(Task *task, const uint32_t *at, const uint64_t *malformed,
                          const uint64_t *controls) noexcept nogil:
    """Write the decoded rows of the block, which are in the scratch, but for those that need more care: they have a
    malformed triplet or a new control (NULL: none has), or they are not UTF-8."""
    cdef size_t rows = task.block.rows, size = at[rows], row, broken, marked, valid
    cdef const uint8_t *src = task.scratch
    cdef uc_utf8 found
    valid = kernels.scan_utf8(src, size, &found)
    if (valid < size or found.highest >= 0x80) and starts_inside(src, at, rows):
        return by_rows(task)
    broken = marked_row(task.block.at, rows, malformed, 0)
    marked = marked_row(at, rows, controls, 0)
    while task.done < rows:
        row = min(broken, marked)
        if valid < size:
            row = task.done
            while at[row + 1] <= valid:
                row += 1
            row = min(row, min(broken, marked))
        if row > task.done:
            write_run(task, src, at, row)
        if row == rows:
            break
        if not write_row(task, row):
            return False
        row += 1
        if row < rows:
            if valid < at[row]:
                valid = at[row] + kernels.scan_utf8(src + at[row], size - at[row], &found)
            if broken < row:
                broken = marked_row(task.block.at, rows, malformed, row)
            if marked < row:
                marked = marked_row(at, rows, controls, row)
    return True


cdef bint mark_controls(Task *task, const uint32_t *at, uint64_t *controls) noexcept nogil:
    """Mark the controls of the decoded lines, but for those that end them. False: there are as many as before."""
    cdef size_t rows = task.block.rows, i, end
    if (kernels.count_outside(task.scratch, at[rows], &NO_CONTROL.set)
            == kernels.count_outside(task.block.data, task.block.at[rows], &NO_CONTROL.set)):
        return False
    kernels.mark_outside(task.scratch, at[rows], &NO_CONTROL.set, controls)
    for i in range(1, rows + 1):
        end = at[i] - 1
        controls[end >> 6] &= ~(<uint64_t>1 << (end & 63))
    return True


cdef inline uint64_t reaches_beyond(const uint64_t *triplets, size_t end) noexcept nogil:
    """Whether (lowest bit) a triplet has octets on both sides of an end of a row."""
    cdef uint64_t found = triplets[(end - 1) >> 6] >> ((end - 1) & 63) if end >= 1 else 0
    if end >= 2:
        found |= triplets[(end - 2) >> 6] >> ((end - 2) & 63)
    return found


cdef bint decode_block(Task *task) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>task.options
    cdef uint64_t percents[WORDS + 1]
    cdef uint64_t triplets[WORDS + 1]
    cdef uint32_t counts[WORDS + 1]
    cdef uint32_t at[ROWS + 1]
    cdef Block *block = task.block
    cdef size_t rows = block.rows, n = block.at[rows], words = (n + 63) // 64, i, w, end
    cdef uint64_t across = 0, malformed = 0
    cdef const uint64_t *controls = NULL
    if not mark_triplets(block.data, n, percents, triplets):
        if not how.plus:
            if how.text and not rows_are_utf8(block.data, block.at, rows):
                return by_rows(task)
            write_run(task, block.data, block.at, rows)
            return True
        for w in range(words + 1):
            triplets[w] = percents[w] = 0
    i = n - 2 * count_words(triplets, words, counts)
    if kernels.decode(block.data, n, how.plus, task.scratch, BLOCK + WIDE) != i:
        return by_rows(task)
    at[0] = 0
    for i in range(1, rows + 1):
        end = block.at[i]
        at[i] = <uint32_t>(end - 2 * bits_before(triplets, counts, end))
        across |= reaches_beyond(triplets, end)
    if across & 1 and not block.gap:
        return by_rows(task)
    if not how.text:
        write_run(task, task.scratch, at, rows)
        return True
    if must_find_rejected(task):
        for w in range(words):
            percents[w] &= ~triplets[w]
            malformed |= percents[w]
    if how.framed:
        if has_c1(task.scratch, at[rows]):
            return by_rows(task)
        if mark_controls(task, at, triplets):
            controls = triplets     # which are of no more use
    return write_text_rows(task, at, percents if malformed else NULL, controls)


cdef size_t decode_quickly(Task *task) noexcept nogil:
    """Lines of which nothing needs care: where one ends, a sequence of UTF-8 does."""
    cdef const Decoding *how = <const Decoding *>task.options
    cdef size_t n = quick_lines(task, QUICK), size
    cdef const uint8_t *src = task.source.data + task.next
    cdef uint8_t *dst = task.data.data + task.data.size
    if n == 0:
        return 0
    size = kernels.decode(src, n, how.plus, dst, n + WIDE)
    if size > n or must_find_rejected(task) and memchr(dst, c'%', size) != NULL:
        return 0
    if not is_utf8(dst, size) or size != n and has_new_control(src, n, dst, size):
        return 0
    task.data.size += size
    task.row += kernels.count_outside(src, n, task.source.no_end)
    return n


cdef class DecodeRows(CodecRows):
    """Decode every triplet, once.

    Args:
        plus (bool): Read '+' as a space.
        text (bool): What comes out has to be UTF-8.
        framed (bool): Triplets of control characters stay, so that a line stays one.
    """
    cdef Decoding how

    def __cinit__(self, plus, text, framed):
        cdef ByteSet plain = ~ByteSet("%+") if plus else NO_PERCENT
        self.how.plus, self.how.text, self.how.framed, self.how.plain = plus, text, framed, plain.set
        self.operation, self.options = Operation(decode_row, 3, 0), &self.how


# --- encoding -----------------------------------------------------------------------------------------------------------

cdef bint encode_block(Task *task) noexcept nogil:
    cdef const Encoding *how = <const Encoding *>task.options
    cdef uint64_t marks[WORDS + 1]
    cdef uint64_t triplets[WORDS + 1]
    cdef uint32_t counts[WORDS + 1]
    cdef uint64_t malformed = 0, across = 0
    cdef Block *block = task.block
    cdef size_t rows = block.rows, n = block.at[rows], words = (n + 63) // 64, i, w, size
    cdef bint strict = must_find_rejected(task) or task.policy == REPLACE_ROW
    if block.gap and memchr(block.data, c'\r', n) != NULL:
        return by_rows(task)    # some may belong to the ends
    if strict and how.utf8 and not rows_are_utf8(block.data, block.at, rows):
        return by_rows(task)
    if how.triplets:
        if mark_triplets(block.data, n, marks, triplets):
            if not how.digits:
                return by_rows(task)
            for w in range(words):
                malformed |= marks[w] & ~triplets[w]
            if not block.gap:
                for i in range(1, rows):
                    across |= reaches_beyond(triplets, block.at[i])
            if (malformed or across & 1) and strict:
                return by_rows(task)
    kernels.mark_outside(block.data, n, &how.safe, marks)
    marks[words] = 0
    size = n + 2 * count_words(marks, words, counts)
    if size == n and not how.plus:
        write_run(task, block.data, block.at, rows)
        return True
    if kernels.encode(block.data, n, &how.safe, how.plus, task.out, 3 * n) != size:
        return by_rows(task)
    for i in range(1, rows + 1):
        task.out_at[i] = <uint32_t>(block.at[i] + 2 * bits_before(marks, counts, block.at[i]))
    task.written, task.done = size, rows
    return True


cdef bint has_malformed(const uint8_t *src, size_t n) noexcept nogil:
    """Whether a block has a '%' without two hexadecimal digits."""
    cdef uint64_t percents[WORDS + 1]
    cdef uint64_t triplets[WORDS + 1]
    cdef uint64_t malformed = 0
    cdef size_t w
    if not mark_triplets(src, n, percents, triplets):
        return False
    for w in range((n + 63) // 64):
        malformed |= percents[w] & ~triplets[w]
    return malformed != 0


cdef size_t encode_quickly(Task *task) noexcept nogil:
    cdef const Encoding *how = <const Encoding *>task.options
    cdef size_t n = quick_lines(task, QUICK), size
    cdef const uint8_t *src = task.source.data + task.next
    if n == 0 or memchr(src, c'\r', n) != NULL or how.triplets and not how.digits:
        return 0
    if must_find_rejected(task) or task.policy == REPLACE_ROW:
        if how.utf8 and not is_utf8(src, n) or how.triplets and has_malformed(src, n):
            return 0
    size = kernels.encode(src, n, &how.safe, how.plus, task.data.data + task.data.size, 3 * n)
    if size == UC_FULL:
        return 0
    task.data.size += size
    task.row += kernels.count_outside(src, n, task.source.no_end)
    return n


cdef const Encoding *how_of(RowOperation rows) noexcept:
    """How bytes are encoded; NULL: the operation does not encode."""
    if type(rows) is RequoteRows or type(rows) is EncodeRows:
        return <const Encoding *>rows.options
    return NULL


cdef block_function codec_block(RowOperation rows):
    if type(rows) is DecodeRows:
        return decode_block
    if how_of(rows) != NULL:
        return encode_block
    return NULL


cdef size_t expected_size(RowOperation rows, const uint8_t *src, size_t n) noexcept:
    """About how many octets become of these, judged by the first: a guess that is right saves a copy."""
    cdef size_t sample = min(n, <size_t>1 << 16)
    cdef const Encoding *how = how_of(rows)
    if sample == 0:
        return n
    if type(rows) is DecodeRows:
        return n - n // sample * 2 * min(kernels.count_outside(src, sample, &NO_PERCENT.set), sample // 3) + n // 8
    if how == NULL:
        return n
    return n + n // sample * 2 * kernels.count_outside(src, sample, &how.safe) + n // 8


cdef quick_function codec_quick(RowOperation rows):
    if type(rows) is DecodeRows:
        return decode_quickly
    if how_of(rows) != NULL:
        return encode_quickly
    return NULL


cdef row_function codec_otherwise(RowOperation rows, Refused policy) except? NULL:
    cdef bint decodes = type(rows) is DecodeRows
    if policy != KEEP_ROW and policy != REPLACE_ROW:
        return NULL
    if decodes:
        return decode_keeping if policy == KEEP_ROW else decode_replacing
    if how_of(rows) != NULL:
        return encode_keeping if policy == KEEP_ROW else encode_replacing
    if policy == REPLACE_ROW:
        raise ValueError("errors='replace' is only for quote, requote and unquote")
    return NULL


cdef Operation operation_for(RowOperation rows, Refused policy, bint look) noexcept:
    cdef Operation operation = rows.operation
    if policy == REPLACE_ROW and how_of(rows) != NULL:
        operation.factor = 9    # U+FFFD, encoded, for a byte
    elif policy == KEEP_ROW and not look and how_of(rows) != NULL:
        operation.row = encode_keeping
    return operation


cdef object decode_object(str text, const void *options):
    return unquote_text(text, (<const Decoding *>options).plus, NULL)


cdef object encode_object(str text, const void *options):
    cdef const Encoding *how = <const Encoding *>options
    return quote_text(text, &how.safe, how.plus)


cdef text_function codec_text(RowOperation rows, Refused policy, bint look):
    cdef const Encoding *how = how_of(rows)
    if type(rows) is DecodeRows and policy == REPLACE_ROW and not look:
        return decode_object
    if type(rows) is EncodeRows and not how.safe.member[0x80]:      # whose results are ASCII
        return encode_object
    return NULL


cdef object decode_surrogates(RowOperation rows, Refused policy, str text):
    cdef bint plus
    if policy != REPLACE_ROW and policy != KEEP_ROW or type(rows) is not DecodeRows:
        return None
    plus = (<const Decoding *>rows.options).plus
    if policy == REPLACE_ROW:   # to urllib.parse.unquote such characters mean nothing
        return stdlib().unquote(text.replace("+", " ") if plus else text)
    return percent_decode(text, plus)
