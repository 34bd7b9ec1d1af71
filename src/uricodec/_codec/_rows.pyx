"""Percent-encoding (RFC 3986 section 2) of rows: the codec's operations for the row engine.

A kernel processes all bytes of a block at once, ignoring rows. A bit mask marks the bytes to encode, or the digits of
triplets to decode. The new end of a row is its old end plus 2 for each byte to encode before it, or minus 1 for each digit
before it. This requires that no triplet extends over the end of a row and, for text, that each row by itself is UTF-8. If
the masks or the first bytes of rows show otherwise, rows are processed one by one.

Spans of lines are decoded or encoded as if nothing in them were special, and then checked at once: a valid UTF-8
sequence never extends over a line end. If the check fails, they are processed as rows.

A decoded line is still one line: a triplet for a control character (newline, NUL, the escape character of terminals)
stays a triplet. The option `decodable` says which bytes may be decoded.
"""
cimport cython
from libc.string cimport memchr, memcpy

from uricodec._base._kernels cimport (
    HEXDIG, UC_FULL, ByteSet, add_byte, bits_of, kernels, next_mark, remove_byte, uc_bits_from, uc_lowest_bit, uc_set, uc_utf8,
)
from uricodec._codec._charsets cimport *
from uricodec._codec._percent cimport quote_text, unquote_text
from uricodec._codec._triplets cimport *
from uricodec._base._text cimport copy_text, find_ill_formed, first_surrogate, ill_formed, replace_ill_formed
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport ANY_TEXT, Faults, Single, result_of, single_of

from uricodec._codec._triplets import percent_decode
from uricodec.errors import UriSyntaxError

# all bytes but the ASCII control characters
NO_CONTROL = ~ByteSet([*range(0x20), 0x7F])

cdef ByteSet NO_PERCENT = ~ByteSet("%")
cdef ByteSet NO_PERCENT_OR_PLUS = ~ByteSet("%+")
cdef ByteSet NO_CR = ~ByteSet("\r")

# Indexed by Fault.
cdef list CODE_NAMES = [None, "percent", "utf-8"]
cdef list REASONS = [None, "\"%\" not followed by two hexadecimal digits", "invalid UTF-8"]


cdef class CodecRows(RowOperation):
    """An operation on rows of any bytes, with the codec's error codes. This base class copies rows."""
    cdef uc_set unchanged

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError

    cdef void set_stable(self, const uc_set *unchanged, bint text) noexcept:
        """Set the bytes of which rows do not change. If rows must be UTF-8 (`text`), only ASCII bytes qualify."""
        cdef int byte
        self.unchanged = unchanged[0]
        if text:
            for byte in range(0x80, 0x100):
                remove_byte(&self.unchanged, <uint8_t>byte)
        self.slots.stable = &self.unchanged


# --- masks --------------------------------------------------------------------------------------------------------------

cdef bint mark_triplets(const uint8_t *src, size_t n, uint64_t *malformed, uint64_t *digits) noexcept nogil:
    """Call the kernel, and set one more word of both masks to 0: for the end of the last row."""
    malformed[(n + 63) // 64] = digits[(n + 63) // 64] = 0
    return kernels.mark_triplets(src, n, malformed, digits)


# --- decoding -----------------------------------------------------------------------------------------------------------

cdef struct Decoding:
    bint plus
    bint utf8           # the decoded bytes must be UTF-8
    bint checks         # a "%" without two hexadecimal digits is invalid,
    bint replaces       # and under `replace` becomes U+FFFD
    const uc_set *decodable     # triplets of other bytes stay; NULL: all are decoded
    bint c1             # triplets of U+0080-009F stay
    const CharsetTable *tables      # the encoding of rows that are not UTF-8; NULL: these are invalid


cdef bint has_c1(const uint8_t *src, size_t n) noexcept nogil:
    cdef const uint8_t *at = src
    cdef const uint8_t *end = src + n
    while True:
        at = <const uint8_t *>memchr(at, 0xC2, end - at)
        if at == NULL or end - at < 2:
            return False
        if at[1] < 0xA0:
            return True
        at += 1


cdef bint may_have_decoded(const uint8_t *src, size_t n, const Decoding *how, const uint8_t *decoded, size_t size) noexcept nogil:
    """Return whether a triplet (or a '+') that must stay may be among what was decoded."""
    if how.decodable == NULL:
        return False
    if size == n:       # no triplet was decoded; bytes that were there before may stay
        return how.plus and not how.decodable.member[<uint8_t>c' ']
    # Decoding removes no byte that is not decodable (these are not "%", "+" or digits). So if there are as many as
    # before, none has been added.
    return (kernels.count_outside(decoded, size, how.decodable) != kernels.count_outside(src, n, how.decodable)
            or how.c1 and has_c1(decoded, size))


cdef size_t decode_clean(const uint8_t *src, size_t n, const Decoding *how, bint strict, bint replaces,
                         uint8_t *dst) noexcept nogil:
    """Decode a row, or whole lines, without special cases; UC_FULL if there may be some."""
    cdef size_t size = kernels.decode(src, n, how.plus, dst, n)
    if how.checks and (strict or replaces and how.replaces) and memchr(dst, c'%', size) != NULL:
        return UC_FULL      # perhaps a "%" without two hexadecimal digits
    # Where nothing was decoded, bytes that are not UTF-8 may stay.
    if how.utf8 and (size < n or strict or replaces or how.tables != NULL) and not is_utf8(dst, size):
        return UC_FULL
    return UC_FULL if may_have_decoded(src, n, how, dst, size) else size


cdef size_t decode_encoded(const uint8_t *src, size_t n, const Decoding *how, bint strict, uint8_t *dst,
                           const CharsetTable **tables) noexcept nogil:
    """Decode a row that may be in another encoding, without special cases; UC_FULL if there are some.

    If the decoded bytes are UTF-8, `tables` becomes NULL, and the result is UC_FULL, too. '+' and '%' are not part of
    longer sequences in any encoding, so they can be decoded first.
    """
    cdef uint8_t *decoded = dst + 2 * n     # as far from `dst` as charset_decode() requires
    cdef size_t size = kernels.decode(src, n, how.plus, decoded, n)
    cdef bint valid
    if is_utf8(decoded, size):
        tables[0] = NULL
        return UC_FULL
    if strict and memchr(decoded, c'%', size) != NULL:
        return UC_FULL
    size = charset_decode(how.tables, decoded, size, dst, &valid)
    if not valid or how.decodable != NULL and kernels.span(dst, size, how.decodable) < size:
        return UC_FULL
    return UC_FULL if how.c1 and has_c1(dst, size) else size


cdef size_t decode_by(const uint8_t *src, size_t n, const Decoding *how, BytePolicy policy, BytePolicy malformed, uint8_t *dst,
                      Outcome *outcome) noexcept nogil:
    cdef StrictOptions careful
    cdef size_t size
    cdef const CharsetTable *tables = how.tables
    careful.policy, careful.malformed, careful.plus, careful.utf8 = policy, malformed, how.plus, how.utf8
    careful.free, careful.c1 = how.decodable, how.c1
    if tables != NULL:
        size = decode_encoded(src, n, how, malformed != KEEP, dst, &tables)
        if size != UC_FULL:
            return size
    size = decode_strictly(src, n, &careful, dst, tables)
    if careful.fault == NO_FAULT:
        # Bytes beside triplets of no encoding are not in another one if they are UTF-8: "\xEF\xBF\xBD%9F" in Shift_JIS.
        return decode_strictly(src, n, &careful, dst, NULL) if (
            tables != NULL and policy == KEEP and not is_utf8(dst, size) and is_utf8(src, n)) else size
    outcome.code, outcome.offset = careful.fault, careful.offset
    return UC_REJECTED


cdef enum:
    SHORT = 64      # bytes of rows that are not decoded without special cases first


cdef size_t decode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>options
    cdef size_t size = UC_FULL
    if n > SHORT or how.tables != NULL:
        size = decode_clean(src, n, how, True, False, dst)
    return decode_by(src, n, how, FAIL, FAIL if how.checks else KEEP, dst, outcome) if size == UC_FULL else size


cdef size_t decode_keeping(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Decode a row; what is malformed or not UTF-8 stays as it is written."""
    cdef const Decoding *how = <const Decoding *>options
    cdef size_t size = UC_FULL
    if n > SHORT or how.tables != NULL:
        size = decode_clean(src, n, how, False, False, dst)
    return decode_by(src, n, how, KEEP, KEEP, dst, outcome) if size == UC_FULL else size


cdef size_t decode_replacing(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    """Decode a row; U+FFFD replaces what is not UTF-8 and, unless the rules are those of unquote, malformed triplets."""
    cdef const Decoding *how = <const Decoding *>options
    cdef size_t size
    cdef uint8_t *decoded = dst + 2 * n     # as far from `dst` as replace_ill_formed() requires
    if n > SHORT or how.tables != NULL or not how.utf8:
        size = decode_clean(src, n, how, False, True, dst)
        if size != UC_FULL:
            return size
    if how.utf8 and how.tables == NULL:
        size = kernels.decode(src, n, how.plus, decoded, n)
        if not (how.replaces and memchr(decoded, c'%', size) != NULL or may_have_decoded(src, n, how, decoded, size)):
            return replace_ill_formed(decoded, size, dst)
    return decode_by(src, n, how, REPLACE, REPLACE if how.replaces else KEEP, dst, outcome)


cdef size_t decode_whole(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>options
    cdef Outcome outcome
    cdef size_t size = decode_clean(span.data, span.size, how, span.strict, span.policy == REPLACE_ROW, dst)
    if size == UC_FULL:
        # A character or triplet never extends over a line end; but each line by itself is in one encoding or the other.
        if span.strict or how.tables != NULL:
            return 0
        size = (decode_keeping if span.policy == KEEP_ROW else decode_replacing)(span.data, span.size, how, dst, &outcome)
    written[0] = size
    return span.size


cdef bint starts_inside(const uint8_t *src, const uint32_t *at, size_t rows) noexcept nogil:
    """Return whether a row begins with a continuation byte: then rows may be UTF-8 only when joined."""
    cdef bint inside = False
    cdef size_t row
    while rows and at[rows - 1] == at[rows]:    # these are empty
        rows -= 1
    for row in range(rows):
        inside |= (src[at[row]] & 0xC0) == 0x80
    return inside


cdef bint rows_are_utf8(const uint8_t *src, const uint32_t *at, size_t rows) noexcept nogil:
    """Return whether each row by itself is UTF-8."""
    cdef uc_utf8 found
    return kernels.scan_utf8(src, at[rows], &found) == at[rows] and (
        found.highest < 0x80 or not starts_inside(src, at, rows))


cdef inline size_t row_with(const uint32_t *at, size_t row, size_t i) noexcept nogil:
    """Return the row that byte i is in, which is not before `row`."""
    while at[row + 1] <= i:
        row += 1
    return row


cdef inline size_t marked_row(const uint32_t *at, size_t rows, const uint64_t *marks, size_t row) noexcept nogil:
    """Return the first row from `row` on with a marked byte; `rows` if there is none."""
    cdef size_t i = at[rows] if marks == NULL else next_mark(marks, at[row], at[rows])
    return rows if i == at[rows] else row_with(at, row, i)


cdef enum:
    AT_ONCE = 57    # bits that uc_bits_from() returns


cdef inline size_t after_decoded(const uint64_t *digits, size_t i, size_t n) noexcept nogil:
    """Return where n bytes that are decoded from i on end. The digits of triplets are marked: all other bytes count."""
    cdef uint64_t others
    if n == 0:
        return i
    while True:
        others = ~uc_bits_from(digits, i) & (<uint64_t>1 << AT_ONCE) - 1
        if n <= bits_of(others):
            break
        n -= bits_of(others)
        i += AT_ONCE
    while n > 1:
        others &= others - 1
        n -= 1
    i += <size_t>uc_lowest_bit(others) + 1
    return i + 2 * <size_t>(uc_bits_from(digits, i) & 1)


cdef void mend_rows(Run *run, const uint8_t *src, const uint32_t *at, size_t stop, const uint64_t *digits) noexcept nogil:
    """Set the results of the rows up to `stop`: they are at src, bounded by `at`, and perhaps not UTF-8. What is not becomes
    U+FFFD or, if the digits of triplets are marked, stays as it is written. No row begins inside a sequence, so all are
    read as one text."""
    cdef const uint32_t *starts = run.block.at
    cdef size_t row = run.done, i = at[row], end = at[stop], size, subpart, start
    cdef size_t place = starts[row], decoded = i    # the same place in the block and in src
    while True:
        size = find_ill_formed(src + i, end - i, &subpart)
        copy_bytes(run.out + run.written, src + i, size)
        i += size
        run.written += size
        while row < stop and at[row + 1] <= i:
            row += 1
            run.out_at[row] = <uint32_t>(run.written - (i - at[row]))
        if i == end:
            break
        if digits == NULL:
            memcpy(run.out + run.written, b"\xEF\xBF\xBD", 3)     # U+FFFD
            run.written += 3
        else:
            if place < starts[row]:
                place, decoded = starts[row], at[row]
            start = after_decoded(digits, place, i - decoded)
            place = after_decoded(digits, start, subpart)
            decoded = i + subpart
            copy_text(run.out + run.written, run.block.data + start, place - start)
            run.written += place - start
        i += subpart
    run.done = stop


cdef enum:
    NEAR = 8        # rows that the row function does after one that it must do, because more may be near


cdef bint finish_text_rows(Run *run, const uint64_t *malformed, const uint64_t *controls, const uint64_t *digits) noexcept nogil:
    """Finish the block, whose decoded rows are in run.out. The row function does those with a malformed triplet or a new
    control character (NULL: no row has one). It also does those that are not UTF-8, unless they are mended or rejected here;
    for that, the digits of triplets may have to be marked."""
    cdef uint32_t at[ROWS + 1]
    cdef size_t rows = run.block.rows, size = run.out_at[rows], row, broken, marked, valid, subpart, place
    cdef const uint8_t *src = run.scratch
    cdef bint is_ill_formed
    cdef bint replaces = run.policy == REPLACE_ROW and (<const Decoding *>run.options).tables == NULL
    cdef bint mends = not run.strict and (replaces or run.policy == KEEP_ROW and digits != NULL)
    cdef Outcome outcome
    cdef uc_utf8 found
    valid = kernels.scan_utf8(run.out, size, &found)
    if (valid < size or found.highest >= 0x80) and starts_inside(run.out, run.out_at, rows):
        return do_rows(run)
    broken = marked_row(run.block.at, rows, malformed, 0)
    marked = marked_row(run.out_at, rows, controls, 0)
    if valid == size and min(broken, marked) == rows:
        run.written, run.done, run.resizes = size, rows, not (<const Decoding *>run.options).plus
        return True
    memcpy(at, run.out_at, (rows + 1) * sizeof(uint32_t))
    memcpy(run.scratch, run.out, size)      # results of the row function may be longer
    while run.done < rows:
        row = min(broken, marked)
        is_ill_formed = False
        if mends:
            mend_rows(run, src, at, row, NULL if replaces else digits)
        else:
            if valid < size and row_with(at, run.done, valid) < row:
                row, is_ill_formed = row_with(at, run.done, valid), run.strict and digits != NULL
            take_rows(run, src, at, row)
        if is_ill_formed:
            outcome.code, place = NOT_UTF8, run.block.at[row]
            outcome.offset = after_decoded(digits, place, valid - at[row]) - place
            if not finish_row(run, UC_REJECTED, &outcome):
                return False
        else:
            for _row in range(row, min(rows, row + (1 if mends else NEAR))):
                if not do_row(run):
                    return False
        row = run.done
        if row < rows:
            if valid < at[row]:
                valid = at[row] + find_ill_formed(src + at[row], size - at[row], &subpart)
            if broken < row:
                broken = marked_row(run.block.at, rows, malformed, row)
            if marked < row:
                marked = marked_row(at, rows, controls, row)
    return True


cdef bint mark_protected(Run *run, const uc_set *decodable, uint64_t *marks) noexcept nogil:
    """Mark the bytes of decoded lines that should have stayed triplets, except terminators. False: their number did not
    change, so there are none."""
    cdef size_t rows = run.block.rows, size = run.out_at[rows], i, end
    if (kernels.count_outside(run.out, size, decodable)
            == kernels.count_outside(run.block.data, run.block.at[rows], decodable)):
        return False
    kernels.mark_outside(run.out, size, decodable, marks)
    for i in range(1, rows + 1 if run.block.gap else 1):
        end = run.out_at[i] - 1
        marks[end >> 6] &= ~(<uint64_t>1 << (end & 63))
    return True


cdef bint decode_block(Run *run) noexcept nogil:
    cdef const Decoding *how = <const Decoding *>run.options
    cdef uint64_t malformed[WORDS + 1]
    cdef uint64_t digits[WORDS + 1]
    cdef uint32_t counts[WORDS + 1]
    cdef Block *block = run.block
    cdef size_t rows = block.rows, n = block.at[rows], words = (n + 63) // 64, size, w
    cdef uint64_t any_malformed = 0
    cdef const uint64_t *protected = NULL
    if not mark_triplets(block.data, n, malformed, digits):
        if not how.plus:
            if how.utf8 and not rows_are_utf8(block.data, block.at, rows):
                return do_rows(run)
            pass_rows(run, rows)
            run.resizes = True
            return True
    if kernels.move_ends(digits, words + 1, block.at + 1, rows, <uint32_t>-1, run.out_at + 1, counts):
        return do_rows(run)     # a triplet extends over the end of a row
    size = run.out_at[rows]
    if kernels.decode(block.data, n, how.plus, run.out, n + WIDE) != size:
        return do_rows(run)  # pragma: no cover: a race
    if how.checks and (run.strict or run.policy == REPLACE_ROW and how.replaces):
        for w in range(words):
            any_malformed |= malformed[w]
    if how.c1 and has_c1(run.out, size):
        return do_rows(run)
    if how.decodable != NULL and mark_protected(run, how.decodable, digits):
        protected = digits      # reuses the memory of `digits`
    if how.utf8:
        return finish_text_rows(run, malformed if any_malformed else NULL, protected,
                                digits if protected == NULL and block.gap == 0 and how.tables == NULL else NULL)
    if any_malformed or protected != NULL:
        return do_rows(run)
    run.written, run.done, run.resizes = size, rows, not how.plus
    return True


cdef size_t expected_of_decoding(const uint8_t *src, size_t n, const void *_options) noexcept nogil:
    cdef size_t sample = min(n, <size_t>1 << 16)
    return n - n // sample * 2 * min(kernels.count_outside(src, sample, &NO_PERCENT.set), sample // 3) + n // 8


cdef object unquote_object(str text, const void *options):
    return unquote_text(text, (<const Decoding *>options).plus, NULL)


cdef object decode_object(str text, const void *options):
    return percent_decode(text, (<const Decoding *>options).plus)


@cython.final
cdef class DecodeRows(CodecRows):
    """Decode every triplet, once.

    Text that has a malformed triplet or does not decode to UTF-8 is invalid. "keep" leaves either part as it is
    written. With `charset`, a row whose decoded bytes are not UTF-8 is in that encoding: only bytes that are invalid in
    both, and malformed triplets, are invalid. Results are UTF-8.

    Args:
        text (bool): Whether the decoded bytes must be UTF-8.
        decodable (ByteSet | None): The bytes that may be decoded, which include "%", "+", letters and digits; triplets
            of others stay. If it lacks the escape character, triplets of U+0080-009F stay, too. None: all bytes.
        lossless (bool): True: the rules of `percent_decode`, where "replace" replaces malformed triplets by U+FFFD.
            False: the rules of `unquote`, where they stay, and are not invalid in rows of bytes.
        charset (Charset | str | None): The encoding of rows of text that are not UTF-8.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.
    """
    cdef Decoding how
    cdef ByteSet decodable
    cdef Charset charset

    def __cinit__(self, plus=False, text=True, ByteSet decodable=None, lossless=True, charset=None):
        self.decodable, self.charset = decodable, charset_of(charset)
        self.how.plus, self.how.utf8, self.how.checks, self.how.replaces = plus, text, text or lossless, lossless
        self.how.decodable, self.how.c1 = NULL, False
        if decodable is not None:
            self.how.decodable, self.how.c1 = &self.decodable.set, text and not decodable.set.member[0x1B]
        self.set_stable(&NO_PERCENT_OR_PLUS.set if plus else &NO_PERCENT.set, text)
        self.slots.options = &self.how
        # U+FFFD is not longer than a triplet, but longer than a byte
        self.slots.strict, self.slots.replace_factor = SizedRow(decode_row, 1, 0), 3
        self.how.tables = NULL
        if charset is not None:
            self.how.tables = self.charset.tables
            self.slots.strict.factor = CHARSET_FACTOR
            self.reasons = [None, REASONS[<int>MALFORMED], f"invalid UTF-8 and invalid {self.charset.name}"]
        self.slots.keep, self.slots.replace = decode_keeping, decode_replacing
        self.slots.whole, self.slots.block, self.slots.expected = decode_whole, decode_block, expected_of_decoding
        if charset is not None:     # the functions on text know only UTF-8
            return
        if lossless:
            self.slots.text, self.slots.text_policies = decode_object, 1 << <int>KEEP_ROW
        else:
            self.slots.text, self.slots.text_policies = unquote_object, 1 << <int>REPLACE_ROW
        self.slots.text_is_best = True      # few results are ASCII, and others cost more as rows

    cdef object with_surrogates(self, str text, RowPolicy policy):
        if policy == KEEP_ROW:
            return percent_decode(text, self.how.plus)
        if policy != REPLACE_ROW or self.how.replaces:
            return None
        # urllib.parse.unquote ignores surrogates
        return unquote_text(text, self.how.plus, NULL)


def decode_encoded_value(data, bint plus, str errors not None, encoding):
    """Do what `percent_decode` does of one value, with an encoding."""
    cdef DecodeRows rows = DecodeRows(plus, True, None, True, encoding)
    cdef SizedRow operation = rows.slots.strict
    cdef RowPolicy policy = <RowPolicy>policy_named(errors)
    cdef Single single
    cdef Py_ssize_t surrogate = first_surrogate(str.__str__(data)) if isinstance(data, str) else -1
    if policy == KEEP_ROW:
        operation.row = rows.slots.keep
        if surrogate >= 0:
            return percent_decode(data, plus)
    elif policy == REPLACE_ROW:
        operation.row, operation.factor = rows.slots.replace, max(operation.factor, rows.slots.replace_factor)
    elif policy != RAISE_ROW:
        raise ValueError(f"errors must be one of 'keep', 'replace', 'raise', got {errors!r}")
    elif surrogate >= 0:
        raise UriSyntaxError("lone surrogate", data, surrogate)
    single = single_of(&operation, rows.slots.options, NULL, ANY_TEXT)
    single.replaces_surrogates = True
    return result_of(data, &single, Faults(rows.code_names, rows.reasons, rows.error, 0), False)


# --- encoding -----------------------------------------------------------------------------------------------------------

cdef struct EncodeOptions:
    uc_set safe
    bint plus
    bint triplets       # triplets stay, and '%' is in `safe`
    bint digits         # their digits are in `safe`
    bint utf8           # the input must be UTF-8


cdef inline size_t encode_run(const uint8_t *src, size_t n, const EncodeOptions *how, uint8_t *dst) noexcept nogil:
    """Encode n bytes. dst has a capacity of 3 n bytes."""
    cdef size_t size = kernels.encode(src, n, &how.safe, how.plus, dst, 3 * n)
    return 0 if size == UC_FULL else size


cdef size_t encode_text(const uint8_t *src, size_t n, const EncodeOptions *how, BytePolicy policy, uint8_t *dst,
                        Outcome *outcome) noexcept nogil:
    """Encode bytes that must be UTF-8; the policy is for bytes that are not."""
    cdef uc_utf8 found
    cdef size_t i = 0, o = 0, size
    if policy == KEEP or not how.utf8:
        return encode_run(src, n, how, dst)
    while i < n:
        size = kernels.scan_utf8(src + i, n - i, &found)
        if size < n - i and policy == FAIL:
            outcome.code, outcome.offset = NOT_UTF8, i + size
            return UC_REJECTED
        o += encode_run(src + i, size, how, dst + o)
        i += size
        if i < n:
            o += encode_run(<const uint8_t *>b"\xEF\xBF\xBD", 3, how, dst + o)     # U+FFFD
            i += ill_formed(src + i, n - i)
    return o


cdef size_t encode_by(const uint8_t *src, size_t n, const EncodeOptions *how, BytePolicy policy, uint8_t *dst,
                      Outcome *outcome) noexcept nogil:
    cdef size_t i = 0, o = 0, size, written, first
    cdef uint8_t byte
    cdef const uint8_t *percent
    if not how.triplets or how.digits and (policy == KEEP or count_malformed(src, n, &first) == 0):
        return encode_text(src, n, how, policy, dst, outcome)
    while i < n:
        percent = <const uint8_t *>memchr(src + i, c'%', n - i)
        size = percent - (src + i) if percent != NULL else n - i
        written = encode_text(src + i, size, how, policy, dst + o, outcome)
        if written == UC_REJECTED:
            outcome.offset += i
            return UC_REJECTED
        o += written
        i += size
        if i == n:
            return o
        size = unit_at(src, i, n, &byte)
        if size == 1 and policy == FAIL:
            outcome.code, outcome.offset = MALFORMED, i
            return UC_REJECTED
        if size == 1 and policy == REPLACE:
            memcpy(dst + o, b"%25", 3)
            o += 3
        else:
            memcpy(dst + o, src + i, size)
            o += size
        i += size
    return o


cdef size_t encode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const EncodeOptions *how = <const EncodeOptions *>options
    return encode_by(src, n, how, FAIL, dst, outcome)


cdef size_t encode_keeping(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return encode_by(src, n, <const EncodeOptions *>options, KEEP, dst, outcome)


cdef size_t encode_replacing(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return encode_by(src, n, <const EncodeOptions *>options, REPLACE, dst, outcome)


cdef bint encode_block(Run *run) noexcept nogil:
    cdef const EncodeOptions *how = <const EncodeOptions *>run.options
    cdef const uc_set *safe = &how.safe
    cdef uc_set with_cr
    cdef uint64_t marks[WORDS + 1]      # malformed triplets, then bytes to encode
    cdef uint64_t digits[WORDS + 1]
    cdef uint32_t counts[WORDS + 1]
    cdef uint64_t any_malformed = 0
    cdef Block *block = run.block
    cdef size_t rows = block.rows, n = block.at[rows], words = (n + 63) // 64, i, w, size, crs
    cdef bint strict = run.strict or run.policy == REPLACE_ROW
    if block.has_cr:
        crs = kernels.count_outside(block.data, n, &NO_CR.set)
        for i in range(rows):
            crs -= tail_of(run, i) - 1
        if crs != 0:            # some are not part of terminators
            return do_rows(run)
        with_cr = how.safe
        add_byte(&with_cr, c'\r')
        safe = &with_cr
    if strict and how.utf8 and not rows_are_utf8(block.data, block.at, rows):
        return do_rows(run)
    if how.triplets:
        if mark_triplets(block.data, n, marks, digits):
            if not how.digits:
                return do_rows(run)
            for w in range(words):
                any_malformed |= marks[w]
            if strict and (any_malformed or not block.gap and kernels.move_ends(
                    digits, words + 1, block.at + 1, rows, 0, run.out_at + 1, counts)):
                return do_rows(run)     # a triplet is malformed, or extends over the end of a row
    kernels.mark_outside(block.data, n, safe, marks)
    marks[words] = 0
    kernels.move_ends(marks, words + 1, block.at + 1, rows, 2, run.out_at + 1, counts)
    size = run.out_at[rows]
    if size == n and not how.plus:
        pass_rows(run, rows)
        return True
    if kernels.encode(block.data, n, safe, how.plus, run.out, 3 * n) != size:
        return do_rows(run)  # pragma: no cover: a race
    run.written, run.done, run.resizes = size, rows, not how.plus
    return True


cdef bint has_malformed(const uint8_t *src, size_t n) noexcept nogil:
    """Return whether a block has a '%' without two hexadecimal digits."""
    cdef uint64_t malformed[WORDS + 1]
    cdef uint64_t digits[WORDS + 1]
    cdef uint64_t any = 0
    cdef size_t w
    if not mark_triplets(src, n, malformed, digits):
        return False
    for w in range((n + 63) // 64):
        any |= malformed[w]
    return any != 0


cdef size_t encode_all(const uint8_t *src, size_t n, const uc_set *safe, bint plus, uint8_t *dst) noexcept nogil:
    """Encode all bytes but "\\n", which is in `safe`, and a "\\r" before it."""
    cdef size_t start = 0, end, o = 0
    cdef const uint8_t *found
    while True:
        end = start
        while True:
            found = <const uint8_t *>memchr(src + end, c'\r', n - end)
            end = n if found == NULL else found - src
            if n - end < 2 or src[end + 1] == c'\n':
                break
            end += 1
        if n - end < 2:
            end = n
        o += kernels.encode(src + start, end - start, safe, plus, dst + o, 3 * n - o)
        if end == n:
            return o
        dst[o] = c'\r'
        o += 1
        start = end + 1


cdef size_t encode_whole(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil:
    cdef const EncodeOptions *how = <const EncodeOptions *>options
    cdef size_t n = span.size
    if how.triplets and not how.digits:
        return 0
    if span.strict or span.policy == REPLACE_ROW:
        if how.utf8 and not is_utf8(span.data, n) or how.triplets and has_malformed(span.data, n):
            return 0
    if span.terminator == c'\n':
        written[0] = encode_all(span.data, n, &how.safe, how.plus, dst)
    else:
        written[0] = kernels.encode(span.data, n, &how.safe, how.plus, dst, 3 * n)
    return n


cdef size_t expected_of_encoding(const uint8_t *src, size_t n, const void *options) noexcept nogil:
    cdef size_t sample = min(n, <size_t>1 << 16)
    return n + n // sample * 2 * kernels.count_outside(src, sample, &(<const EncodeOptions *>options).safe) + n // 8


cdef object encode_object(str text, const void *options):
    cdef const EncodeOptions *how = <const EncodeOptions *>options
    return quote_text(text, &how.safe, how.plus)


cdef void set_encoding(Slots *slots, const EncodeOptions *how) noexcept:
    slots.options = how
    slots.strict, slots.replace_factor = SizedRow(encode_row, 3, 0), 9     # an encoded U+FFFD for one byte
    slots.keep, slots.replace = encode_keeping, encode_replacing
    slots.whole, slots.block, slots.expected = encode_whole, encode_block, expected_of_encoding


@cython.final
cdef class EncodeRows(CodecRows):
    """Percent-encode bytes.

    Bytes that are not UTF-8 are invalid: "keep" encodes them, "replace" encodes U+FFFD in their place.

    Args:
        safe (ByteSet): The bytes to keep. Terminators of lines are kept, too.
        plus (bool): Write '+' for a space, and always encode a '+'.

    Source: RFC 3986 section 2.1.
    """
    cdef EncodeOptions how

    def __cinit__(self, ByteSet safe not None, plus=False, text=True):
        self.how.safe, self.how.plus, self.how.utf8 = safe.set, plus, text
        self.how.triplets = self.how.digits = False
        if plus:
            add_byte(&self.how.safe, c' ')
            remove_byte(&self.how.safe, c'+')
        self.set_stable(&self.how.safe, text)
        if plus:
            remove_byte(&self.unchanged, c' ')
        set_encoding(&self.slots, &self.how)
        if not safe.set.member[0x80]:       # the results are ASCII
            self.slots.text, self.slots.text_policies = encode_object, ~0


@cython.final
cdef class RequoteRows(CodecRows):
    """Percent-encode what is not encoded yet: triplets stay.

    A '%' without two hexadecimal digits and bytes that are not UTF-8 are invalid: "keep" leaves the '%' and encodes the
    bytes, "replace" encodes the '%', and U+FFFD in place of the bytes.

    Args:
        safe (ByteSet): The bytes to keep. Terminators of lines are kept, too.

    Source: RFC 3986 section 2.4.
    """
    cdef EncodeOptions how

    def __cinit__(self, ByteSet safe not None, text=True):
        self.how.digits = safe & HEXDIG == HEXDIG
        self.how.safe, self.how.plus, self.how.triplets, self.how.utf8 = safe.set, False, True, text
        add_byte(&self.how.safe, c'%')
        self.set_stable(&safe.set, text)
        remove_byte(&self.unchanged, c'%')
        set_encoding(&self.slots, &self.how)
