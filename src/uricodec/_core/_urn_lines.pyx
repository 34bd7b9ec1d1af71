"""URNs in buffers: lines of them checked and brought into normal form, and any other octets scanned for them.

Lines are worked on in chunks that fit the first cache. A kernel says how many of them are plain: valid, and without
components. These are normalised by another kernel, and get the rules of their namespaces; any other line is read by
itself, and the next ones as well for a while, if there are more of that kind. What is written never overtakes what is
read.
"""
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memmove

from uricodec._core._kernels cimport ByteSet, kernels, remove_octet, uc_lowest_bit, uc_set
from uricodec._core._row_lines cimport *
from uricodec._core._text cimport borrow_octets
from uricodec._core._urn cimport *
from uricodec._core._urn_forms cimport *
from uricodec._core._urn_grammar cimport *

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree


# --- lines --------------------------------------------------------------------------------------------------------------

cdef ByteSet ALL = ByteSet(range(256))
cdef ByteSet NO_COMPONENT = ~ByteSet("?#")


cdef size_t end_of_chunk(const LineTask *lines) noexcept nogil:
    """Where the last line ends that fits into a chunk; where the first one starts if it does not."""
    cdef size_t stop
    if lines.n - lines.read <= CHUNK:
        return lines.n
    stop = lines.read + CHUNK
    while stop > lines.read and lines.src[stop - 1] != lines.end:
        stop -= 1
    return stop


cdef void write_plain(Task *task, size_t n) noexcept nogil:
    """Write plain lines."""
    cdef LineTask *lines = &task.lines
    cdef const uint8_t *src = lines.src + lines.read
    cdef uint8_t *dst
    lines.read += n
    lines.count += kernels.count_outside(src, n, &task.ends) + (src[n - 1] != lines.end)
    if lines.dst == NULL:
        return
    dst = lines.dst + lines.written
    if task.level == BYTES:
        memmove(dst, src, n)
    elif src >= dst + n or dst >= src + n or dst == src:
        kernels.normalize_urns(src, n, lines.end, dst)
    else:
        memmove(dst, src, n)
        kernels.normalize_urns(dst, n, lines.end, dst)
    lines.written += apply_rules(dst, n, lines.end) if task.level >= NAMESPACE else n


cdef bint write_line(Task *task) noexcept nogil:
    """Write one line, whatever it is. False if it is no URN, and that is not accepted."""
    cdef LineTask *lines = &task.lines
    cdef Line line
    cdef Reading urn
    cdef size_t size
    find_line(lines, &line)
    lines.count += 1
    size = line.size
    if read_urn(line.src, size, task.spec, &urn):
        if lines.dst != NULL:
            size = write_form(line.src, &urn, task.level, lines.dst + lines.written)
    else:
        note(lines, urn.code, urn.offset)
        if lines.policy == FAIL:
            return False
        if lines.policy == DROP:
            lines.read += line.size + line.tail
            return True
        if lines.policy == EMPTY:
            size = 0
        elif lines.dst != NULL:
            memmove(lines.dst + lines.written, line.src, size)
    end_line(lines, &line, size)
    return True


cdef size_t plain_lines(const Task *task, size_t n) noexcept nogil:
    """How many of the next n octets are plain lines."""
    cdef const uint8_t *src = task.lines.src + task.lines.read
    cdef size_t i
    if task.lines.policy != TRUST:
        return kernels.span_urns(src, n, &NID_OCTETS.set, task.nss, task.lines.end)
    if task.level <= CASE_2141:
        return n
    i = kernels.span(src, n, &task.no_component)
    if i < n:
        while i and src[i - 1] != task.lines.end:
            i -= 1
    return i


cdef bint write_lines(Task *task) noexcept nogil:
    cdef LineTask *lines = &task.lines
    cdef size_t stop, n, i
    cdef size_t others = 1      # lines that are read by themselves before the kernel is asked again
    while lines.read < lines.n:
        stop = end_of_chunk(lines)
        if stop == lines.read:      # a long line
            if not write_line(task):
                return False
        while lines.read < stop:
            n = plain_lines(task, stop - lines.read)
            if n:
                write_plain(task, n)
                others = 1
            elif others < 64:
                others *= 2
            for i in range(others):
                if lines.read >= stop:
                    break
                if not write_line(task):
                    return False
    return True


cdef void set_form(Task *task, Level level, Spec spec) noexcept:
    """Set all of a task but its lines, which are."""
    cdef LineTask *lines = &task.lines
    task.level, task.spec = level, spec
    if lines.policy == TRUST and level >= NAMESPACE:
        lines.policy = KEEP     # a rule needs a URN
    task.ends, task.no_component = ALL.set, NO_COMPONENT.set
    remove_octet(&task.ends, lines.end)
    task.nss = &PLAIN_2141.set if spec == RFC2141 else &PLAIN_8141.set


cdef object run(object src, Task *task, object end, object level, object spec, object errors, Py_ssize_t limit):
    """Do a task, all of which but its buffers is still to be set."""
    cdef LineTask *lines = &task.lines
    cdef Level form
    cdef bint done
    if len(end) != 1 or ALL_OCTETS.set.member[<uint8_t>end[0]]:
        raise ValueError(f"no octet that can end a line of URNs: {end!r}")
    form = <Level>level_of(level)
    if form == FUNCTIONAL:
        raise ValueError("lines have no level 'functional'")
    begin(lines, errors, end, limit)
    set_form(task, form, (RFC2141 if form == CASE_2141 else RFC8141) if spec is None else <Spec>spec_of(spec))
    try:
        with nogil:
            done = write_lines(task)
        if not done:
            raise_fault_at(src, <Code>lines.found.code, lines.found.start + lines.found.offset)
        return result(lines, CODE_NAMES, limit)
    finally:
        PyMem_RawFree(lines.found)


def normalize_lines(src, dst, end=b"\n", level="8141", spec=None, errors="keep", limit=100):
    """Bring lines of URNs into normal form.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        dst (bytes-like): Where to write at most len(src) octets: a writable buffer elsewhere, or src itself.
        end (bytes): The octet that ends a line, none that a URN may have. A "\\r" before "\\n" belongs to the end.
        level (str): As of `normalize`, but for "functional".
        spec (str | None): As of `normalize`.
        errors (str): What becomes of a line that is no URN: "keep" leaves it as it is, "null" makes it an empty one,
            "drop" writes neither it nor its end, "raise" raises. "trust" does not look for such lines up to level "8141":
            they may be changed, but stay lines.
        limit (int): How many of these lines are returned.

    Returns:
        Lines: The octets written, the number of lines and of lines that are no URNs, and the first `limit` of these, as a
            list of LineFault(line, start, code, offset), the offset being that in the line.

    Raises:
        UrnError: With errors="raise"; the position is an octet of src, and nothing useful is in dst.
        ValueError: dst is too small, `end` is no such octet, or there is no such level, spec or policy.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> buffer = bytearray(b"URN:NBN:de:101%c3%a9\\nurl:A%2f\\nurn:example:a?=q\\n")
    >>> found = normalize_lines(buffer, buffer)
    >>> bytes(buffer[:found.written])
    b'urn:nbn:de:101%C3%A9\\nurl:A%2f\\nurn:example:a\\n'
    >>> found.lines, found.invalid, found.faults
    (3, 1, [LineFault(line=1, start=21, code='scheme', offset=2)])
    """
    cdef Py_buffer source, target
    cdef Task task
    borrow_octets(src, &source)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            if target.len < source.len:
                raise ValueError(f"dst is too small: {target.len} octets")
            task.lines.src, task.lines.n, task.lines.dst = <const uint8_t *>source.buf, <size_t>source.len, <uint8_t *>target.buf
            return run(src, &task, end, level, spec, errors, limit)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)


def check_lines(src, end=b"\n", spec="8141", limit=100):
    """Check lines of URNs.

    Args:
        src (bytes-like): The lines; the last one may lack its end.
        end (bytes): The octet that ends a line, none that a URN may have. A "\\r" before "\\n" belongs to the end.
        spec (str): "2141", "8141", or "any" of the two.
        limit (int): How many lines that are no URNs are returned.

    Returns:
        Lines: As of `normalize_lines`; nothing is written.

    Raises:
        ValueError: `end` is no such octet, or there is no such spec.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> check_lines(b"urn:example:a\\nurn:example:\\n").faults
    [LineFault(line=1, start=14, code='nss-empty', offset=12)]
    """
    cdef Py_buffer source
    cdef Task task
    borrow_octets(src, &source)
    try:
        task.lines.src, task.lines.n, task.lines.dst = <const uint8_t *>source.buf, <size_t>source.len, NULL
        return run(src, &task, end, "bytes", spec, "keep", limit)
    finally:
        PyBuffer_Release(&source)


# --- scanning -----------------------------------------------------------------------------------------------------------

# RFC 2141 section 2.4:
#   <excluded> ::= octets 1-32 (1-20 hex) | "\" | """ | "&" | "<"
#                  | ">" | "[" | "]" | "^" | "`" | "{" | "|" | "}" | "~"
#                  | octets 127-255 (7F-FF hex)
#   "In addition, octet 0 (0 hex) should NEVER be used".
TERMINATORS = ByteSet(range(1, 33)) | '\\"&<>[]^`{|}~' | bytes(range(127, 256)) | b"\0"

# A URN is looked for where a ":" stands behind an "n".
cdef enum:
    SCAN_WORDS = 64, SCAN = 64 * SCAN_WORDS     # octets that are marked at once
    AT_ONCE = 256                               # URNs that are found before the list gets them
cdef ByteSet NO_N = ~ByteSet("nN")
cdef ByteSet NO_COLON = ~ByteSet(":")


cdef size_t end_of_urn(const uint8_t *s, size_t n, const uc_set *plain, bint triplets) noexcept nogil:
    """How long the URN is with which s begins; 0 if it begins with none."""
    cdef size_t start = start_of_nss(s, n), i = start
    if start == 0:
        return 0
    while i < n:
        if plain.member[s[i]]:
            i += kernels.span(s + i, n - i, plain)
        elif triplets and s[i] == c'%' and is_triplet(s, n, i):
            i += 3
        else:
            break
    return 0 if i == start else i


cdef size_t scan_urns(const uint8_t *s, size_t n, size_t *start, const uc_set *plain, bint triplets, size_t *places,
                      size_t room) noexcept nogil:
    """Write where URNs start and end, from *start on, until all is scanned or `room` URNs are found. Returns their
    number, and in *start where to go on."""
    cdef uint64_t colons[SCAN_WORDS]
    cdef uint64_t ns[SCAN_WORDS]
    cdef uint64_t word, carry = 0
    cdef size_t chunk = start[0], done = chunk, count = 0, size, w, i, at, length
    while chunk < n:
        size = n - chunk if n - chunk < SCAN else SCAN
        kernels.mark_outside(s + chunk, size, &NO_COLON.set, colons)
        kernels.mark_outside(s + chunk, size, &NO_N.set, ns)
        for w in range((size + 63) // 64):
            word = colons[w] & (ns[w] << 1 | carry)
            carry = ns[w] >> 63
            while word:
                i = chunk + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if i < done + 3:
                    continue
                at = i - 3
                if s[at] | 0x20 != c'u' or s[at + 1] | 0x20 != c'r' or at and ALPHANUM.set.member[s[at - 1]]:
                    continue
                length = end_of_urn(s + at, n - at, plain, triplets)
                if length == 0:
                    continue
                done = at + length
                places[2 * count] = at
                places[2 * count + 1] = done
                count += 1
                if count == room:
                    start[0] = done
                    return count
        chunk += size
    start[0] = n
    return count


def find(buffer, terminators=TERMINATORS):
    """Find the URNs in any octets: a log, a page, a dump.

    A URN begins with "urn:", in any case, behind no letter or digit, and an NID of RFC 2141, and it goes on until an
    octet that no URN has, a "%" that begins no triplet, or "%00". What is legal in an NSS belongs to it, also a "." or
    "," at its end.

    Args:
        buffer (bytes-like): The octets.
        terminators (ByteSet | bytes-like | str): The octets that end a URN. By default those that RFC 2141 excludes, so
            also the "~" and "&" that RFC 8141 allows.

    Returns:
        list[tuple[int, int]]: Where each URN starts and ends, in order.

    Source: RFC 2141 section 2.4: "An URN ends when an octet/character from the excluded character set [...] is
    encountered."

    >>> find(b'see <urn:isbn:0451450523>, "URN:x:a%2Fb"')
    [(5, 24), (28, 39)]
    """
    cdef Py_buffer view
    cdef ByteSet ends = terminators if type(terminators) is ByteSet else ByteSet(terminators)
    cdef ByteSet plain = ~(ends | "%")
    cdef list found = []
    cdef size_t places[2 * AT_ONCE]
    cdef size_t i, count, start = 0
    cdef bint triplets = not ends.set.member[c'%']
    borrow_octets(buffer, &view)
    try:
        while start < <size_t>view.len:
            with nogil:
                count = scan_urns(<const uint8_t *>view.buf, <size_t>view.len, &start, &plain.set, triplets, places,
                                  AT_ONCE)
            for i in range(count):
                found.append((<Py_ssize_t>places[2 * i], <Py_ssize_t>places[2 * i + 1]))
    finally:
        PyBuffer_Release(&view)
    return found


for function in normalize_lines, check_lines, find:
    function.__module__ = "uricodec.urn"        # pickled by reference to where users find them
del function
