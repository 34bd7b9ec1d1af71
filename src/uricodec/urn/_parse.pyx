# distutils: extra_compile_args=-O2
"""URNs as Python objects: checking, parsing, normalizing and comparing them (RFC 2141, RFC 8141); finding them in text."""
cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit, uc_set
from uricodec._base._text cimport *
from uricodec._search._find cimport FOUND, PLAIN as PLAIN_TEXT, copy_matches, find_matches
from uricodec._rows._single cimport *
from uricodec.urn._syntax cimport *

from uricodec._base.diagnostics import diagnostic
from uricodec.errors import UrnError


# --- codes and messages -----------------------------------------------------------------------------------------------

# The name and the message of each UrnCode.
CODE_NAMES = [None] * CODES
cdef list REASONS = [None] * CODES
cdef int number
for number, name, reason in (
    (SCHEME, "scheme", "expected \"urn:\""),
    (NID, "nid", "invalid character in NID"),
    (NID_LENGTH, "nid-length", "NID must have 2 to 32 characters"),
    (NID_HYPHEN, "nid-hyphen", "NID begins or ends with a hyphen"),
    (NID_URN, "nid-urn", "NID must not be \"urn\""),
    (NSS_EMPTY, "nss-empty", "NSS is empty"),
    (NSS, "nss", "invalid character in NSS"),
    (PERCENT, "percent", "\"%\" not followed by two hexadecimal digits"),
    (PERCENT_NULL, "percent-null", "\"%00\" is not allowed"),
    (COMPONENT_EMPTY, "component-empty", "component is empty"),
    (COMPONENT, "component", "invalid character in component"),
    (NID_INFORMAL, "nid-informal", "expected a number without leading zeros after \"urn-\""),
    (FORM, "form", "NSS is not of the form that its namespace requires"),
    (CHECK_DIGIT, "check-digit", "wrong check digit"),
):
    CODE_NAMES[number], REASONS[number] = name, reason

cdef Faults FAULTS = Faults(CODE_NAMES, REASONS, UrnError, NSS)

cdef list RFC_NAMES = ["2141", "8141", "any"]
cdef list LEVEL_NAMES = ["bytes", "2141", "8141", "namespace", "functional"]
cdef str DEFAULT = "8141"
del name, reason


cdef int rfc_of(object rfc) except -1:
    cdef int i
    if rfc is DEFAULT:
        return RFC8141
    cdef object name = str(rfc) if type(rfc) is int else rfc
    for i in range(3):
        if RFC_NAMES[i] == name:
            return i
    raise ValueError(f"unknown RFC {rfc!r}; choose from {', '.join(RFC_NAMES)}")


cdef int level_of(object level) except -1:
    cdef int i
    if level is DEFAULT:
        return CASE_8141
    for i in range(5):
        if LEVEL_NAMES[i] == level:
            return i
    raise ValueError(f"unknown level {level!r}; choose from {', '.join(LEVEL_NAMES)}")


# --- reading ----------------------------------------------------------------------------------------------------------

cdef inline object text_of_urn(object urn):
    """Return the text of a URN as an exact str or bytes, not an instance of a subclass."""
    return (<URN>urn).text if type(urn) is URN else text_of(urn)


cdef bytes to_fault(str text):
    """Return bytes with the same first fault as a str that is not ASCII: its ASCII prefix and one invalid byte."""
    cdef Py_ssize_t n = 0
    while text[n] < "\x80":
        n += 1
    return text[:n].encode("ascii") + b"\xff"


cdef const uint8_t *bytes_of(object text, size_t *n) except NULL:
    """Borrow the bytes of what text_of_urn() returned; a str must be ASCII."""
    if type(text) is str:
        n[0] = <size_t>PyUnicode_GET_LENGTH(text)
        return <const uint8_t *>PyUnicode_DATA(text)
    n[0] = <size_t>PyBytes_GET_SIZE(text)
    return <const uint8_t *>PyBytes_AS_STRING(text)


cdef bint read(object text, Rfc rfc, ParsedUrn *urn) except -1:
    """Parse what text_of_urn() returned. False: the fault is in `urn`."""
    cdef size_t n
    cdef const uint8_t *s
    if type(text) is str:
        PyUnicode_READY(text)
        if not PyUnicode_IS_ASCII(text):
            text = to_fault(text)
    s = bytes_of(text, &n)
    if n <= SMALL:
        return read_urn(s, n, rfc, urn)
    with nogil:
        return read_urn(s, n, rfc, urn)


def check(urn, rfc="8141"):
    """Find the first fault of a URN.

    Args:
        urn (str | bytes-like | URN): The text to check.
        rfc (str): The RFC: "2141", "8141", or "any": valid by at least one of them; a fault is that by "8141".

    Returns:
        Diagnostic | None: None for a URN. Otherwise a code and an offset, in characters for a str, in bytes otherwise; if
            something is missing at the end, the offset is the length. The codes: "scheme" (not "urn:"), "nid" (invalid
            character in the NID, or missing ":"), "nid-length", "nid-hyphen" (at an end), "nid-urn" (2141),
            "nss-empty", "nss" (invalid character in the NSS), "percent" ("%" not followed by two hexadecimal digits),
            "percent-null" (2141: "%00"), "component-empty" (8141), "component" (8141: invalid character in a component, or a "?" that
            begins none).

    Raises:
        ValueError: If the RFC is unknown.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> check("urn:example:a%2g")
    Diagnostic(code='percent', offset=13, message='"%" not followed by two hexadecimal digits at offset 13')
    >>> check("urn:x:a") and check("urn:x:a", rfc="2141") is None
    True
    """
    cdef ParsedUrn reading
    if read(text_of_urn(urn), <Rfc>rfc_of(rfc), &reading):
        return None
    return diagnostic(CODE_NAMES[reading.code], REASONS[reading.code], urn, <Py_ssize_t>reading.offset)


def is_valid(urn, rfc="8141"):
    """Return whether a text is a URN.

    Args:
        urn (str | bytes-like | URN): The text to check.
        rfc (str): The RFC: "2141", "8141", or "any" of the two.

    Returns:
        bool: Whether the syntax is valid. `validate` checks the rules of the namespace.

    Raises:
        ValueError: If the RFC is unknown.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> is_valid("urn:example:a/b"), is_valid("urn:example:/a"), is_valid("urn:example:/a", rfc="2141")
    (True, False, True)
    """
    cdef ParsedUrn reading
    return read(text_of_urn(urn), <Rfc>rfc_of(rfc), &reading)


def rfcs(urn):
    """Return the RFCs by which a text is a URN.

    Args:
        urn (str | bytes-like | URN): The text to check.

    Returns:
        tuple[str, ...]: "2141", "8141", both or neither.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> rfcs("urn:example:a"), rfcs("urn:example:a~b"), rfcs("urn:x:a"), rfcs("x")
    (('2141', '8141'), ('8141',), ('2141',), ())
    """
    cdef ParsedUrn reading
    cdef list found = []
    text = text_of_urn(urn)
    for rfc in (RFC2141, RFC8141):
        if read(text, rfc, &reading):
            found.append(RFC_NAMES[rfc])
    return tuple(found)


# --- URN --------------------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class URN:
    """A parsed URN: immutable, hashable, ordered.

    Two objects are equal if their normal forms are equal, each at the level of the RFC by which it was parsed.

    Args:
        urn (str | bytes-like | URN): The text, which is kept unchanged.
        rfc (str): The RFC to parse by: "2141", "8141", or "any": 8141 if the text is a URN by it, otherwise 2141.

    Raises:
        UrnError: If the text is not a URN by that RFC.
        ValueError: If the RFC is unknown.

    Source: RFC 2141 sections 2 and 5; RFC 8141 sections 2 and 3.

    >>> urn = URN("URN:Example:a%2fb?+r?=q#f")
    >>> urn.nid, urn.nss, urn.r_component, urn.q_component, urn.f_component
    ('Example', 'a%2fb', 'r', 'q', 'f')
    >>> urn.normalized, urn == URN("urn:example:a%2Fb")
    ('urn:example:a%2Fb', True)
    >>> urn
    URN('URN:Example:a%2fb?+r?=q#f')
    """
    cdef str text, normal
    cdef ParsedUrn reading

    def __cinit__(self, urn, rfc="8141"):
        text = text_of_urn(urn)
        if not read(text, <Rfc>rfc_of(rfc), &self.reading):
            FAULTS.raise_at(urn, self.reading.code, <Py_ssize_t>self.reading.offset)
        self.text = text if type(text) is str else (<bytes>text).decode("ascii")
        self.normal = form_of(self.text, &self.reading, CASE_2141 if self.reading.rfc == RFC2141 else CASE_8141)

    @property
    def nid(self):
        """The Namespace Identifier (NID) as it is spelled."""
        return part(self, 4, self.reading.nid_end)

    @property
    def nss(self):
        """The Namespace Specific String (NSS) as it is spelled."""
        return part(self, self.reading.nid_end + 1, self.reading.nss_end)

    @property
    def r_component(self):
        """The text after "?+"; None if the URN has no r-component."""
        cdef ParsedUrn *urn = &self.reading
        return part(self, urn.r, urn.q - 2 if urn.q else urn.f - 1 if urn.f else urn.end) if urn.r else None

    @property
    def q_component(self):
        """The text after "?="; None if the URN has no q-component."""
        cdef ParsedUrn *urn = &self.reading
        return part(self, urn.q, urn.f - 1 if urn.f else urn.end) if urn.q else None

    @property
    def f_component(self):
        """The text after "#", which may be empty; None if the URN has no f-component."""
        return part(self, self.reading.f, self.reading.end) if self.reading.f else None

    @property
    def rfc(self):
        """The RFC by which the URN was parsed, "2141" or "8141"."""
        return RFC_NAMES[self.reading.rfc]

    @property
    def rfcs(self):
        """The RFCs by which the text is a URN."""
        return rfcs(self.text)

    @property
    def normalized(self):
        """The normal form, at the level of the URN's RFC."""
        return self.normal

    def __str__(self):
        return self.text

    def __repr__(self):
        if self.reading.rfc == RFC8141:
            return f"URN({self.text!r})"
        return f"URN({self.text!r}, rfc={self.rfc!r})"

    def __hash__(self):
        return hash(self.normal)

    def __richcmp__(self, other, int operation):
        if type(other) is not URN or type(self) is not URN:
            return NotImplemented
        a, b = (<URN>self).normal, (<URN>other).normal
        if operation == Py_EQ:
            return a == b
        if operation == Py_NE:
            return a != b
        if operation == Py_LT:
            return a < b
        if operation == Py_LE:
            return a <= b
        if operation == Py_GT:
            return a > b
        return a >= b

    def __reduce__(self):
        return URN, (self.text, self.rfc)


cdef inline str part(URN urn, size_t start, size_t end):
    return ascii_text(<const uint8_t *>PyUnicode_DATA(urn.text) + start, end - start)


def parse(urn, rfc="8141"):
    """Parse a URN.

    Args:
        urn (str | bytes-like | URN): The text.
        rfc (str): The RFC to parse by: "2141", "8141", or "any": 8141 if the text is a URN by it, otherwise 2141.

    Returns:
        URN: Its components and its normal form.

    Raises:
        UrnError: If the text is not a URN by that RFC.
        ValueError: If the RFC is unknown.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> parse("urn:isbn:0451450523").nss
    '0451450523'
    >>> parse("urn:isbn:04514 50523")
    Traceback (most recent call last):
    uricodec.errors.UrnError: invalid character ' ' in NSS at offset 14
    """
    if type(urn) is URN and rfc_of(rfc) == <int>(<URN>urn).reading.rfc:
        return urn
    return URN(urn, rfc)


# --- normal forms -----------------------------------------------------------------------------------------------------

cdef int write_text(object text, const ParsedUrn *urn, UrnLevel level, Written *written) except -1:
    """Write the normal form of a parsed text. It is in the text if that does not change."""
    cdef const uint8_t *s = bytes_of(text, &written.size)
    cdef uint8_t *dst = written.buffer
    cdef size_t size, n = written.size
    cdef const RuleTable *table = NULL
    cdef Rules rules
    written.data, written.changed = s, False
    if level >= NAMESPACE:
        rules = current_rules()
        table = &rules.table
    elif is_normal(urn, level):
        return 0
    if n <= SMALL:
        size = write_form(s, urn, level, dst, table)
    else:
        dst = written.heap = allocate(n + GROWTH)
        with nogil:
            size = write_form(s, urn, level, dst, table)
    if size != n or memcmp(dst, s, n) != 0:
        written.data, written.size, written.changed = dst, size, True
    return 0


cdef object new_form(object text, const ParsedUrn *urn, UrnLevel level):
    """Return the form of a text that is not in normal form, at a level up to CASE_8141."""
    cdef size_t n, size = urn.end if level == CASE_2141 else urn.nss_end
    cdef const uint8_t *s = bytes_of(text, &n)
    cdef uint8_t *dst
    cdef object form
    if type(text) is str:
        form = PyUnicode_New(<Py_ssize_t>size, 127)
    else:
        form = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
    dst = <uint8_t *>bytes_of(form, &n)
    if size <= SMALL:
        write_form(s, urn, level, dst, NULL)
    else:
        with nogil:
            write_form(s, urn, level, dst, NULL)
    return form


cdef object namespace_form(object text, const ParsedUrn *urn, UrnLevel level):
    """Return the form at level NAMESPACE or above."""
    cdef Written written
    begin_written(&written)
    try:
        write_text(text, urn, level, &written)
        return result_object(text, &written, ASCII_OF_ASCII) if written.changed else text
    finally:
        release_written(&written)


cdef inline object form_of(object text, const ParsedUrn *urn, UrnLevel level):
    """Return the normal form of a parsed text; the same object if it is already in normal form."""
    if level >= NAMESPACE:
        return namespace_form(text, urn, level)
    return text if is_normal(urn, level) else new_form(text, urn, level)


cdef object read_for_form(object urn, UrnLevel level, object rfc, ParsedUrn *reading):
    """Parse a URN by an RFC; None: that of the level, or that of a URN object. Return its text."""
    cdef object text = text_of_urn(urn)
    cdef Rfc by = <Rfc>rfc_of(rfc) if rfc is not None else RFC2141 if level == CASE_2141 else RFC8141
    if rfc is None and type(urn) is URN:
        by = (<URN>urn).reading.rfc
    if not read(text, by, reading):
        FAULTS.raise_at(urn, reading.code, <Py_ssize_t>reading.offset)
    return text


cdef object form_in(object urn, object level, object rfc, bint keeps_class):
    """Return the result of normalize() (keeps_class) or key()."""
    cdef ParsedUrn reading
    cdef UrnLevel at = <UrnLevel>level_of(level)
    cdef object text = read_for_form(urn, at, rfc, &reading), form = form_of(text, &reading, at)
    if keeps_class and type(urn) is URN:
        return urn if form is text else URN(form, RFC_NAMES[reading.rfc])
    return urn if form is text and isinstance(urn, (str, bytes)) else form


def normalize(urn, level="8141", rfc=None):
    """Return the normal form of a URN. Equivalent URNs have the same normal form.

    Triplets are never decoded, and only ASCII letters change their case.

    Args:
        urn (str | bytes-like | URN): The URN.
        level (str): Which differences are ignored:
            "bytes": none.
            "2141": case of "urn", of the NID, and of the hexadecimal digits in triplets (which become upper case).
            "8141": those, and r-, q- and f-components.
            "namespace": also those that the rule of the namespace ignores.
            "functional": also whether an ISBN is an ISBN-10 or its ISBN-13.
        rfc (str | None): The RFC to parse by: "2141", "8141", or "any": 8141 if the text is a URN by it, otherwise
                2141. None: that of the level (2141 for "2141", 8141 for all others); for a URN object, that by which it was
                parsed.

    Returns:
        str | bytes | URN: The type of the input, bytes for a bytes-like object; the same object if a str, bytes or URN
            does not change.

    Raises:
        UrnError: If the text is not a URN by that RFC.
        ValueError: If the level or the RFC is unknown.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> normalize("URN:ISBN:0-395%2d36341-1#p")
    'urn:isbn:0-395%2D36341-1'
    >>> normalize("URN:x:A#p", level="2141")
    'urn:x:A#p'
    """
    return form_in(urn, level, rfc, True)


def key(urn, level="8141", rfc=None):
    """Return a key for comparing URNs: the normal form, as str or bytes, which only equivalent URNs share.

    Args:
        urn (str | bytes-like | URN): The URN.
        level (str): See `normalize`.
        rfc (str | None): See `normalize`.

    Returns:
        str | bytes: bytes for a bytes-like object, otherwise str.

    Raises:
        UrnError: If the text is not a URN by that RFC.
        ValueError: If the level or the RFC is unknown.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> key(b"URN:example:a%2c") == key(b"urn:EXAMPLE:a%2C?=q")
    True
    """
    return form_in(urn, level, rfc, False)


def equivalent(a, b, level="8141", rfc=None):
    """Return whether two URNs are equivalent.

    Args:
        a (str | bytes-like | URN): A URN.
        b (str | bytes-like | URN): Another URN; it may be of another type.
        level (str): See `normalize`.
        rfc (str | None): See `normalize`.

    Returns:
        bool: Whether the normal forms are equal.

    Raises:
        UrnError: If an argument is not a URN by that RFC.
        ValueError: If the level or the RFC is unknown.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> equivalent("URN:foo:a123%2C456", "urn:FOO:a123%2c456"), equivalent("urn:foo:a", "urn:foo:A")
    (True, False)
    """
    cdef ParsedUrn of_first, of_second
    cdef Written first, second
    cdef UrnLevel at = <UrnLevel>level_of(level)
    x, y = read_for_form(a, at, rfc, &of_first), read_for_form(b, at, rfc, &of_second)
    begin_written(&first)
    begin_written(&second)
    try:
        write_text(x, &of_first, at, &first)
        write_text(y, &of_second, at, &second)
        return are_same(&first, &second)
    finally:
        release_written(&first)
        release_written(&second)


# --- URNs in other text -----------------------------------------------------------------------------------------------

# RFC 2141 section 2.4:
#   <excluded> ::= bytes 1-32 (1-20 hex) | "\" | """ | "&" | "<"
#                  | ">" | "[" | "]" | "^" | "`" | "{" | "|" | "}" | "~"
#                  | bytes 127-255 (7F-FF hex)
#   "In addition, byte 0 (0 hex) should NEVER be used".
TERMINATORS = ByteSet(range(1, 33)) | '\\"&<>[]^`{|}~' | bytes(range(127, 256)) | b"\0"

# The bytes that may follow in a URN without a look at their neighbours.
cdef ByteSet PLAIN = ~(TERMINATORS | "%")

# A URN may begin three bytes before each ":" that follows an "n": kernels mark both characters in blocks of the text.
cdef enum:
    SCAN_WORDS = 64, SCAN = 64 * SCAN_WORDS     # bytes in a block
cdef ByteSet BUT_N = ~ByteSet("nN")
cdef ByteSet BUT_COLON = ~ByteSet(":")


# What belongs to a URN.
cdef struct UrnSearch:
    const uc_set *plain     # bytes that may follow without a look at their neighbours
    bint triplets           # triplets do, too


cdef inline size_t end_of_urn(const uint8_t *s, size_t n, const UrnSearch *how) noexcept nogil:
    """Return the length of the URN at the start of s; 0 if there is none."""
    cdef size_t start = start_of_nss(s, n), i = start
    if start == 0:
        return 0
    while i < n:
        if how.plain.member[s[i]]:
            i += kernels.span(s + i, n - i, how.plain)
        elif how.triplets and s[i] == c'%' and is_triplet(s, n, i):
            i += 3
        else:
            break
    return 0 if i == start else i


cdef size_t scan_urns(const uint8_t *s, size_t n, size_t *start, const void *options, size_t *spans) noexcept nogil:
    """Find URNs: a scan_function, whose options are a UrnSearch."""
    cdef uint64_t colons[SCAN_WORDS]
    cdef uint64_t ns[SCAN_WORDS]
    cdef uint64_t word, carry = 0
    cdef size_t chunk = start[0], done = chunk, count = 0, size, w, colon, at, length
    while chunk < n:
        size = n - chunk if n - chunk < SCAN else SCAN
        kernels.mark_outside(s + chunk, size, &BUT_COLON.set, colons)
        kernels.mark_outside(s + chunk, size, &BUT_N.set, ns)
        for w in range((size + 63) // 64):
            word = colons[w] & (ns[w] << 1 | carry)
            carry = ns[w] >> 63
            while word:
                colon = chunk + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if colon < done + 3:
                    continue
                at = colon - 3
                if s[at] | 0x20 != c'u' or s[at + 1] | 0x20 != c'r' or at and ALPHANUM.set.member[s[at - 1]]:
                    continue
                length = end_of_urn(s + at, n - at, <const UrnSearch *>options)
                if length == 0:
                    continue
                done = at + length
                spans[2 * count] = at
                spans[2 * count + 1] = done
                count += 1
                if count == FOUND:
                    start[0] = done
                    return count
        chunk += size
    start[0] = n
    return count


def find(buffer, terminators=TERMINATORS):
    """Find the URNs in any bytes, such as logs, web pages or dumps.

    A URN begins with "urn:" in any case, not directly after an ASCII letter or digit, and an NID of RFC 2141. It ends
    before the first terminator, "%00", or "%" that does not begin a percent-encoded triplet. All other characters belong
    to it, including a final "." or ",".

    Args:
        buffer (bytes-like): The bytes.
        terminators (ByteSet | bytes-like | str): The bytes that end a URN. By default those that RFC 2141 excludes,
            including "~" and "&", which RFC 8141 allows.

    Returns:
        list[tuple[int, int]]: The start and end of each URN, in order.

    Raises:
        TypeError: If `buffer` is not bytes-like.
        BufferError: If it is not contiguous in memory.
        ValueError: If `terminators` is a str that is not ASCII.

    Source: RFC 2141 section 2.4: "An URN ends when an octet/character from the excluded character set [...] is
    encountered."

    >>> find(b'see <urn:isbn:0451450523>, "URN:x:a%2Fb"')
    [(5, 24), (28, 39)]
    """
    cdef ByteSet ends = terminators if type(terminators) is ByteSet else ByteSet(terminators)
    cdef ByteSet plain = ~(ends | "%")
    cdef UrnSearch search = UrnSearch(&plain.set, not ends.set.member[c'%'])
    cdef list spans = []
    find_matches(buffer, PLAIN_TEXT, True, scan_urns, &search, spans, None)
    return spans


def copy_urns(src, dst, bytes prefix=None, size_t before=0):
    r"""Write the URNs of a text as lines, as `_search._find.copy_urls` writes URLs.

    >>> dst = bytearray(20)
    >>> copy_urns(b"<urn:isbn:0451450523>", dst), bytes(dst)
    ((21, 20), b'urn:isbn:0451450523\n')
    """
    cdef UrnSearch search = UrnSearch(&PLAIN.set, True)
    return copy_matches(src, PLAIN_TEXT, dst, prefix, before, scan_urns, &search, False)


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are f(text) or f(text, text). These functions handle them without argument parsing if the texts
# are short and valid, and pass all other calls to the functions above.
cdef vectorcall parse_normalize, parse_key, parse_equivalent


cdef inline bint is_short_urn(PyObject *text, ParsedUrn *urn) noexcept:
    """Return whether an argument is a str that is SMALL, and a URN by RFC 8141."""
    return (type(<object>text) is str and PyUnicode_IS_COMPACT_ASCII(<object>text)
            and PyUnicode_GET_LENGTH(<object>text) <= SMALL
            and read_urn(<const uint8_t *>PyUnicode_DATA(<object>text), <size_t>PyUnicode_GET_LENGTH(<object>text), RFC8141,
                         urn))


cdef object call_normalize(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef ParsedUrn urn
    if PyVectorcall_NARGS(flags) == 1 and names == NULL and is_short_urn(args[0], &urn):
        return form_of(<object>args[0], &urn, CASE_8141)
    return parse_normalize(function, args, flags, names)


cdef object call_key(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef ParsedUrn urn
    if PyVectorcall_NARGS(flags) == 1 and names == NULL and is_short_urn(args[0], &urn):
        return form_of(<object>args[0], &urn, CASE_8141)
    return parse_key(function, args, flags, names)


cdef inline const uint8_t *short_form(PyObject *text, const ParsedUrn *urn, uint8_t *buffer) noexcept:
    """Return where the normal form is: in the text itself, or in `buffer` if the text is not normal."""
    cdef const uint8_t *s = <const uint8_t *>PyUnicode_DATA(<object>text)
    if urn.changes & (LETTERS | DIGITS) == 0:
        return s
    write_form(s, urn, CASE_8141, buffer, NULL)
    return buffer


cdef object call_equivalent(object function, PyObject *const *args, size_t flags, PyObject *names):
    cdef ParsedUrn a, b
    cdef uint8_t buffer_a[SMALL]
    cdef uint8_t buffer_b[SMALL]
    if (PyVectorcall_NARGS(flags) == 2 and names == NULL and is_short_urn(args[0], &a) and is_short_urn(args[1], &b)):
        return a.nss_end == b.nss_end and memcmp(short_form(args[0], &a, buffer_a), short_form(args[1], &b, buffer_b),
                                                 a.nss_end) == 0
    return parse_equivalent(function, args, flags, names)


parse_normalize = take_calls(normalize, call_normalize)
parse_key = take_calls(key, call_key)
parse_equivalent = take_calls(equivalent, call_equivalent)
for function in check, is_valid, rfcs, parse, normalize, key, equivalent, find:
    function.__module__ = "uricodec.urn"        # pickled by reference to their public name
del function
