"""Operations on rows of URNs (RFC 2141, RFC 8141) for the row engine.

A line is plain if it is a valid URN without components. Kernels find how many lines at the start of a buffer are plain,
and normalize them together; then the rules of namespaces are applied. Any other line is processed by itself, and so
are some lines after it; their number doubles until a plain line is found. Rows of a column are first packed as lines into
a buffer that fits the first-level cache. Lines that end with "\\r\\n" are also packed if rules of namespaces need the end
of the NSS; otherwise, the "\\r" is processed as the last byte of the NSS.
"""
cimport cython
from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit
from uricodec.urn._forms cimport FIRST_FAULT, is_of_check_digit
from uricodec.urn._parse cimport CODE_NAMES, REASONS, level_of, rfc_of
from uricodec.urn._syntax cimport *
from uricodec._rows._engine cimport *

from importlib import import_module

from uricodec.errors import UrnError

cdef ByteSet BUT_CR = ~ByteSet("\r")
cdef ByteSet PLAIN_2141_OR_CR = PLAIN_2141 | "\r"
cdef ByteSet PLAIN_8141_OR_CR = PLAIN_8141 | "\r"

FIELDS = ("nid", "nss", "r_component", "q_component", "f_component")


# --- the rules of namespaces ------------------------------------------------------------------------------------------

cdef int call_validator(const Row *row, const uint8_t *nss, size_t n) except -1:
    """Return whether a validator finds no fault."""
    cdef object found = (<object>row.validator)((<const char *>nss)[:n].decode("latin-1"))
    return found is None or not isinstance(found, str) and bool(found)


# call_validator() for a caller that hands the exception on (see docs/developing/recipes.md).
ctypedef int (*unchecked_call)(const Row *, const uint8_t *, size_t) noexcept


cdef int ask_validator(const Row *row, const uint8_t *nss, size_t n) noexcept with gil:
    return (<unchecked_call>call_validator)(row, nss, n)


cdef bint is_informal(const uint8_t *nid, size_t n) noexcept nogil:
    """Return whether an NID is "urn-" and a number (RFC 8141 section 5.2)."""
    cdef size_t i
    if n < 5 or nid[4] == c'0':
        return False
    for i in range(4, n):
        if not c'0' <= nid[i] <= c'9':
            return False
    return True


cdef bint follows_rules(const uint8_t *src, const ParsedUrn *urn, const RuleTable *rules, Outcome *outcome) noexcept nogil:
    """Return whether a URN has no fault by the rules of its namespace."""
    cdef const Row *row = namespace_of(rules, src, urn)
    cdef const uint8_t *nss = src + urn.nid_end + 1
    cdef size_t n = urn.nss_end - urn.nid_end - 1, at = 0
    cdef int found
    outcome.code = FORM
    if row.form != NULL:
        found = row.form(nss, n, &at)
        if found < FIRST_FAULT:
            return True
        if is_of_check_digit(found):
            outcome.code = CHECK_DIGIT
    elif row.validator != NULL:
        found = ask_validator(row, nss, n)
        if found > 0:
            return True
        if found < 0:
            outcome.code = UC_RAISED
    elif row.size or urn.nid_end < 8 or src[7] != c'-' or src[4] | 0x20 != c'u' or src[5] | 0x20 != c'r' or src[6] | 0x20 != c'n':
        return True
    elif is_informal(src + 4, urn.nid_end - 4):
        return True
    else:
        outcome.code, outcome.offset = NID_INFORMAL, 8
        return False
    outcome.offset = urn.nid_end + 1 + at
    return False


# --- one row ----------------------------------------------------------------------------------------------------------

cdef inline bint read_row(const uint8_t *src, size_t n, const void *options, ParsedUrn *urn, Outcome *outcome) noexcept nogil:
    if read_urn(src, n, (<const UrnOptions *>options).rfc, urn):
        return not (<const UrnOptions *>options).validates or follows_rules(src, urn, (<const UrnOptions *>options).rules, outcome)
    outcome.code, outcome.offset = urn.code, urn.offset
    return False


cdef size_t normalize_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef ParsedUrn urn
    if not read_row(src, n, options, &urn, outcome):
        return UC_REJECTED
    return write_form(src, &urn, (<const UrnOptions *>options).level, dst, (<const UrnOptions *>options).rules)


cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *_dst, Outcome *outcome) noexcept nogil:
    cdef ParsedUrn urn
    return 0 if read_row(src, n, options, &urn, outcome) else UC_REJECTED


cdef size_t nid_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef ParsedUrn urn
    if not read_row(src, n, options, &urn, outcome):
        return UC_REJECTED
    memcpy(dst, src + 4, urn.nid_end - 4)
    return urn.nid_end - 4


cdef inline void set_component(Component *component, size_t start, size_t end) noexcept nogil:
    """Set the span of a component. Components never start at 0, which means that there is none."""
    component.start, component.end = <int64_t>start if start else -1, <int64_t>end


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef ParsedUrn urn
    cdef Component *components = <Component *>dst
    cdef size_t query_end
    if not read_row(src, n, options, &urn, outcome):
        return UC_REJECTED
    set_component(components, 4, urn.nid_end)
    set_component(components + 1, urn.nid_end + 1, urn.nss_end)
    query_end = urn.f - 1 if urn.f else urn.end
    set_component(components + 2, urn.r, urn.q - 2 if urn.q else query_end)
    set_component(components + 3, urn.q, query_end)
    set_component(components + 4, urn.f, urn.end)
    return 5 * sizeof(Component)


# --- many rows --------------------------------------------------------------------------------------------------------

# Rows as lines, either in the memory of the block or packed. Line i is data[ends[i] .. ends[i + 1]).
cdef struct BlockLines:
    const uint8_t *data
    const uint32_t *ends
    size_t count
    uint8_t terminator
    bint has_cr
    bint packed


cdef size_t pack(Run *run, size_t stop, uint32_t *ends) noexcept nogil:
    """Pack the next rows as lines. Return their number, and set ends[i] to the start of line i."""
    cdef Block *block = run.block
    cdef size_t first = run.done, i = first, n, o = 0, last = block.at[block.rows]
    ends[0] = 0
    while i < stop:
        n = block.at[i + 1] - block.at[i] - tail_of(run, i)
        if o + n + 1 > CHUNK:
            break
        if block.at[i] + n + WIDE <= last:
            copy_bytes(run.scratch + o, block.data + block.at[i], n)
        else:
            memcpy(run.scratch + o, block.data + block.at[i], n)
        run.scratch[o + n] = c'\n'
        o += n + 1
        i += 1
        ends[i - first] = <uint32_t>o
    return i - first


cdef size_t lines_before(const uint32_t *ends, size_t first, size_t count, size_t bytes) noexcept nogil:
    """Return the first line that ends after so many bytes; `count` if none does."""
    cdef size_t low = first, high = count, middle
    while low < high:
        middle = (low + high + 1) // 2
        if ends[middle] <= bytes:
            low = middle
        else:
            high = middle - 1
    return low


cdef void write_lines(Run *run, const BlockLines *lines, size_t first, size_t stop) noexcept nogil:
    """Normalize plain lines together with their terminators. The level has no rules, so sizes do not change."""
    cdef const uint8_t *src = lines.data + lines.ends[first]
    cdef uint8_t *dst = run.out + run.written
    cdef size_t n = lines.ends[stop] - lines.ends[first], i
    cdef uint32_t shift = <uint32_t>run.written - lines.ends[first]
    if (<const UrnOptions *>run.options).level == BYTES:
        memcpy(dst, src, n)
    else:
        kernels.normalize_urns(src, n, lines.terminator, dst)
    for i in range(first, stop):
        run.out_at[run.done + i - first + 1] = lines.ends[i + 1] + shift
    run.written += n
    run.done += stop - first


cdef void write_forms(Run *run, const BlockLines *lines, size_t first, size_t stop) noexcept nogil:
    """Normalize plain lines, apply the rule of each, and write its terminator."""
    cdef const UrnOptions *urn_options = <const UrnOptions *>run.options
    cdef uint8_t nids[ROWS]
    cdef uint8_t rules[ROWS]
    cdef const uint8_t *src = lines.data + lines.ends[first]
    cdef const uint8_t *forms = src
    cdef uint8_t *dst = run.out + run.written
    cdef size_t n = lines.ends[stop] - lines.ends[first], i, o = 0, start = 0, size, tail
    cdef bint has_rules = urn_options.level >= NAMESPACE, has_tails = run.block.gap > 0
    if urn_options.level != BYTES:
        forms = run.scratch + lines.ends[first] if lines.packed else run.scratch
        kernels.normalize_urns(src, n, lines.terminator, <uint8_t *>forms)
    if has_rules:
        find_rules(forms, lines.ends + first, stop - first, urn_options.rules, nids, rules)
    for i in range(first, stop):
        size = lines.ends[i + 1] - lines.ends[first] - start - 1
        copy_bytes(dst + o, forms + start, size)
        start += size + 1
        if has_rules and rules[i - first] != BASE:
            size = apply_rule(<Rule>rules[i - first], dst + o, 4 + nids[i - first], size, urn_options.level, False)
        o += size
        if has_tails:
            tail = tail_of(run, run.done + i - first)
            dst[o] = c'\r'      # or the terminator
            o += tail
            dst[o - 1] = run.source.terminator
        run.out_at[run.done + i - first + 1] = <uint32_t>(run.written + o)
    if has_rules:       # which may have folded triplets
        kernels.upper_triplets(dst, o, dst)
    run.written += o
    run.done += stop - first


cdef size_t span_with_cr(const uint8_t *src, size_t n, const UrnOptions *urn_options) noexcept nogil:
    """Return where the first line that is not plain starts, as kernels.span_urns does. Lines may end with CR LF."""
    cdef uint64_t marks[WORDS]
    cdef uint64_t word
    cdef size_t w, at, size = kernels.span_urns(src, min(n, <size_t>BLOCK), &NID_BYTES.set, urn_options.nss_or_cr, c'\n')
    kernels.mark_outside(src, size, &BUT_CR.set, marks)
    for w in range((size + 63) // 64):
        word = marks[w]
        while word:
            at = 64 * w + <size_t>uc_lowest_bit(word)
            if at + 1 == size or src[at + 1] != c'\n' or src[at - 1] == c':':    # the NSS may be empty
                while at > 0 and src[at - 1] != c'\n':
                    at -= 1
                return at
            word &= word - 1
    return size


cdef inline size_t span_lines(const uint8_t *src, size_t n, uint8_t terminator, bint has_cr,
                              const UrnOptions *urn_options) noexcept nogil:
    if has_cr:
        return span_with_cr(src, n, urn_options)
    return kernels.span_urns(src, n, &NID_BYTES.set, urn_options.nss, terminator)


cdef bint do_lines(Run *run, const BlockLines *lines) noexcept nogil:
    cdef const UrnOptions *urn_options = <const UrnOptions *>run.options
    cdef size_t i = 0, stop, others = 1
    while i < lines.count:
        stop = lines_before(lines.ends, i, lines.count, lines.ends[i] + span_lines(
            lines.data + lines.ends[i], lines.ends[lines.count] - lines.ends[i], lines.terminator, lines.has_cr, urn_options))
        if stop > i:
            others = 1
            if not run.writes:
                run.done += stop - i
            elif lines.packed or urn_options.level >= NAMESPACE:
                write_forms(run, lines, i, stop)
            else:
                write_lines(run, lines, i, stop)
        elif others < 64:
            others *= 2
        i = min(stop + others, lines.count)
        while stop < i:
            if not do_row(run):
                return False
            stop += 1
    return True


cdef bint do_block(Run *run) noexcept nogil:
    cdef Block *block = run.block
    cdef uint32_t ends[ROWS + 1]
    cdef BlockLines lines
    cdef size_t stop
    if block.gap and not (block.has_cr and run.writes and (<const UrnOptions *>run.options).level >= NAMESPACE):
        lines.data, lines.ends, lines.count = block.data, &block.at[0], block.rows
        lines.terminator, lines.has_cr, lines.packed = run.source.terminator, block.has_cr, False
        return do_lines(run, &lines)
    if (block.gap == 0 or run.source.terminator != c'\n') and memchr(block.data, c'\n', block.at[block.rows]) != NULL:
        return do_rows(run)
    lines.data, lines.ends, lines.terminator = run.scratch, &ends[0], c'\n'
    lines.has_cr, lines.packed = False, True
    while run.done < block.rows:
        stop = block.rows
        if run.source.valid != NULL:        # up to the next null
            stop = run.done
            while stop < block.rows and is_valid(run.source, block.first + stop):
                stop += 1
        lines.count = pack(run, stop, ends)
        if not (do_lines(run, &lines) if lines.count else do_row(run)):
            return False
    return True


cdef size_t span_whole(const LineSpan *span, const UrnOptions *urn_options, bint with_cr) noexcept nogil:
    """Return where the first line that is not plain starts. Lines that end with CR LF are plain, too, if they may be."""
    cdef size_t n = kernels.span_urns(span.data, span.size, &NID_BYTES.set, urn_options.nss, span.terminator)
    if n == 0 and with_cr and span.terminator == c'\n':
        n = span_with_cr(span.data, span.size, urn_options)
    return n


cdef size_t normalize_whole(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil:
    """Normalize lines up to the first that is not plain."""
    cdef const UrnOptions *urn_options = <const UrnOptions *>options
    cdef size_t n = span_whole(span, urn_options, urn_options.level < NAMESPACE)
    if n == 0:
        return 0
    if urn_options.level == BYTES:
        memcpy(dst, span.data, n)
    else:
        kernels.normalize_urns(span.data, n, span.terminator, dst)
    written[0] = apply_rules(dst, n, span.terminator, urn_options.rules) if urn_options.level == NAMESPACE else n
    return n


cdef size_t check_whole(const LineSpan *span, const void *options, uint8_t *_dst, size_t *_written) noexcept nogil:
    return span_whole(span, <const UrnOptions *>options, True)


# --- operations -------------------------------------------------------------------------------------------------------

cdef class UrnRows(RowOperation):
    """The base class of operations on rows of URNs."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UrnError
        self.slots.options = &self.urn_options

    cdef int set_options(self, Rfc rfc, UrnLevel level) except -1:
        self.urn_options.rfc, self.urn_options.level = rfc, level
        if level >= NAMESPACE:
            self.set_rules()
        self.urn_options.nss = &PLAIN_2141.set if rfc == RFC2141 else &PLAIN_8141.set
        self.urn_options.nss_or_cr = &PLAIN_2141_OR_CR.set if rfc == RFC2141 else &PLAIN_8141_OR_CR.set
        return 0

    cdef int set_rules(self) except -1:
        """Take the rules that are registered now."""
        self.rules = current_rules()
        self.urn_options.rules = &self.rules.table
        return 0

    cdef int set_validation(self) except -1:
        """Let rows be rejected that break the rules of their namespace."""
        import_module("uricodec.urn.namespaces")    # which sets them
        self.urn_options.validates = True
        return self.set_rules()

    cdef object exception(self, str code, str reason, object input, size_t offset):
        if self.urn_options.validates and code in ("form", "check-digit"):
            from uricodec.urn import validate
            reason = validate(input, "any").reason or reason
        return UrnError(reason, input, offset)


@cython.final
cdef class CheckUrnRows(UrnRows):
    """Reject rows that are not URNs, and write nothing.

    Args:
        rfc (str): "2141", "8141" or "any".
        rules (bool): Whether to reject those that break the rules of their namespace, too, by the validators that are
            registered when the operation is created.

    Source: RFC 2141 section 2; RFC 8141 section 2.
    """

    def __cinit__(self, rfc="8141", bint rules=False):
        self.set_options(<Rfc>rfc_of(rfc), BYTES)
        self.slots.strict, self.slots.result, self.slots.block = SizedRow(check_row, 0, 0), WRITES_NOTHING, NULL
        if rules:
            self.set_validation()
        else:
            self.slots.block, self.slots.whole, self.slots.prefix = do_block, check_whole, True


@cython.final
cdef class NidRows(UrnRows):
    """Return the NID of each URN, as it is written.

    Args:
        rfc (str), rules (bool): See CheckUrnRows.

    Source: RFC 2141 section 2.1; RFC 8141 section 2.
    """

    def __cinit__(self, rfc="8141", bint rules=False):
        self.set_options(<Rfc>rfc_of(rfc), BYTES)
        self.slots.strict, self.slots.block = SizedRow(nid_row, 1, 0), NULL
        if rules:
            self.set_validation()


@cython.final
cdef class NormalizeUrnRows(UrnRows):
    """Normalize URNs, by the rules of namespaces that are registered when the operation is created.

    Args:
        rfc (str | None): See `normalize`.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.
    """

    def __cinit__(self, level="8141", rfc=None):
        cdef UrnLevel form = <UrnLevel>level_of(level)
        self.set_options((RFC2141 if form == CASE_2141 else RFC8141) if rfc is None else <Rfc>rfc_of(rfc), form)
        self.slots.strict, self.slots.block = SizedRow(normalize_row, 1, GROWTH), do_block
        if form != FUNCTIONAL:      # which may make lines longer
            self.slots.whole, self.slots.prefix = normalize_whole, True


@cython.final
cdef class SplitUrns(UrnRows):
    """Split URNs into their components.
    """

    def __cinit__(self, rfc="8141"):
        self.set_options(<Rfc>rfc_of(rfc), BYTES)
        self.slots.strict, self.slots.block = SizedRow(split_row, 0, 5 * sizeof(Component)), NULL
        self.slots.result = WRITES_COMPONENTS
