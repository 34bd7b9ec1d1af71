"""Other parameters in a query, while all other bytes of the URL stay.

The query is what RFC 3986 appendix B finds in any text. It has fields between "&", and a field has a name, which ends
with the first "=" or with the field. Names are compared decoded; "+" is a space where forms write it so, and so are the
spaces of new values: see has_form_query(). Each field is copied as it is, left out, or gets other values after its own
name; new fields come last.

    names to set?  --yes-->  the first field of the name: for each value, its name, "=" and the value; others are left out
        |no
    names to drop, or none of those to keep?  --yes-->  left out
        |no
    copied
"""
cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._kernels cimport UNRESERVED, kernels
from uricodec._base._text cimport *
from uricodec._codec._percent cimport UNRESERVED_SPACE, encode_bytes
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport CODE_NAMES, REASONS, URI_FAULTS, UTF8
from uricodec._url._queries cimport *

from collections.abc import Mapping

from uricodec.errors import UriSyntaxError


cdef enum:
    MOST_SET = 64           # a bit for each name
    FEW_VALUES = 16

# A text that is encoded: as %20, and as a form does.
cdef struct Encoded:
    const uint8_t *text[2]
    size_t size[2]

# A name to set.
cdef struct NameToSet:
    QueryName name
    Encoded encoded

# One of the values of a name.
cdef struct ValueToSet:
    size_t name             # its index
    Encoded encoded

cdef struct Edits:
    size_t sets, values, capacity
    size_t extra            # how much longer a text may become
    bint drops, keeps
    int blank               # how a space of a new value is written: an index of Encoded.text; -1: as the query is
    NameSet to_drop, to_keep
    NameToSet to_set[MOST_SET]
    ValueToSet *value       # in the order in which they were given
    ValueToSet few[FEW_VALUES]


cdef inline uint8_t *begin_field(uint8_t *dst, bint *first) noexcept nogil:
    dst[0] = c'?' if first[0] else c'&'
    first[0] = False
    return dst + 1


cdef inline uint8_t *put_field(uint8_t *dst, bint *first, const uint8_t *name, size_t size, const Encoded *value,
                               int blank) noexcept nogil:
    dst = append_bytes(begin_field(dst, first), name, size)
    dst[0] = c'='
    return append_bytes(dst + 1, value.text[blank], value.size[blank])


cdef inline size_t name_to_set(const Edits *edits, const QueryField *field, Spelling spelling) noexcept nogil:
    """Return which name to set a field has; their number: none."""
    cdef size_t i
    for i in range(edits.sets):
        if is_name(field.text, field.name_size, spelling, &edits.to_set[i].name, False):
            return i
    return edits.sets


cdef inline bint stays(const Edits *edits, const QueryField *field, Spelling spelling) noexcept nogil:
    if edits.drops and has_name(&edits.to_drop, field.text, field.name_size, spelling):
        return False
    return not edits.keeps or has_name(&edits.to_keep, field.text, field.name_size, spelling)


cdef size_t write_edited(const uint8_t *src, size_t n, const Edits *edits, uint8_t *dst) noexcept nogil:
    """Write the text with its other query. Return the size."""
    cdef const uint8_t *found = <const uint8_t *>memchr(src, c'#', n)
    cdef size_t end = <size_t>(found - src) if found != NULL else n, start, i, k
    cdef uint8_t *out = dst
    cdef uint64_t done = 0
    cdef bint first = True, form = has_form_query(src, n)
    cdef Spelling spelling = FORM if form else ENCODED
    cdef int blank = edits.blank if edits.blank >= 0 else form
    cdef const Encoded *name
    cdef QueryReader reader
    cdef QueryField field
    found = <const uint8_t *>memchr(src, c'?', end)
    start = <size_t>(found - src) if found != NULL else end
    out = append_bytes(out, src, start)
    # An empty query has no field that a new one could follow.
    if start < end and not (edits.sets and end - start == 1):
        reader = read_query(src + start + 1, end - start - 1)
        while next_field(&reader, &field):
            i = name_to_set(edits, &field, spelling)
            if i == edits.sets:
                if stays(edits, &field, spelling):
                    out = append_bytes(begin_field(out, &first), field.text, field.size)
            elif not done >> i & 1:
                for k in range(edits.values):
                    if edits.value[k].name == i:
                        out = put_field(out, &first, field.text, field.name_size, &edits.value[k].encoded, blank)
                done |= <uint64_t>1 << i
    for k in range(edits.values):
        if not done >> edits.value[k].name & 1:
            name = &edits.to_set[edits.value[k].name].encoded
            out = put_field(out, &first, name.text[blank], name.size[blank], &edits.value[k].encoded, blank)
    return <size_t>(append_bytes(out, src + end, n - end) - dst)


cdef size_t edit_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return write_edited(src, n, <const Edits *>options, dst)


# --- edits: `held` is a list of what they refer to --------------------------------------------------------------------

cdef object ascii_or_utf8(object text, str what, object name=None):
    """Return a name or value as an ASCII str, or as bytes; `what` it is, for errors: "a name of set", or "the value of" the name."""
    if type(text) is str and PyUnicode_IS_ASCII(text):
        return text
    if isinstance(text, bytes):
        return text if type(text) is bytes else bytes(text)
    if isinstance(text, str):
        text = text_of(text)
        if first_surrogate(<str>text) < 0:
            return (<str>text).encode()
    if name is not None:
        what = f"{what} {name!r}"
    if isinstance(text, str):
        raise UriSyntaxError(f"lone surrogate in {what}", text, first_surrogate(<str>text))
    raise TypeError(f"{what} must be str or bytes, not {type(text).__name__}")


cdef int encode(Encoded *encoded, object text, list held) except -1:
    """Encode what ascii_or_utf8() returned."""
    cdef Bytes source
    cdef bint form
    borrow(text, &source, NULL)
    held.append(text)
    encoded.text[0] = encoded.text[1] = source.data
    encoded.size[0] = encoded.size[1] = source.size
    if kernels.span(source.data, source.size, &UNRESERVED.set) < source.size:
        for form in range(2):
            text = encode_bytes(source.data, source.size, &UNRESERVED_SPACE.set if form else &UNRESERVED.set, form, False)
            held.append(text)
            encoded.text[form], encoded.size[form] = <const uint8_t *>PyBytes_AS_STRING(text), <size_t>PyBytes_GET_SIZE(text)
    return 0


cdef size_t add_name(Edits *edits, object name, list held) except? MOST_SET:
    """Return the index of a name to set."""
    cdef object text = ascii_or_utf8(name, "a name of set")
    cdef NameToSet *added
    cdef Bytes source
    cdef size_t i
    borrow(text, &source, NULL)
    for i in range(edits.sets):
        if edits.to_set[i].name.size == source.size and memcmp(edits.to_set[i].name.text, source.data, source.size) == 0:
            return i
    if edits.sets == MOST_SET:
        raise ValueError(f"set must have at most {MOST_SET} names, got {name!r} after them")
    added = edits.to_set + edits.sets
    added.name = QueryName(source.data, source.size, False)
    encode(&added.encoded, text, held)
    edits.sets += 1
    return edits.sets - 1


cdef int add_value(Edits *edits, size_t name, object text, list held) except -1:
    cdef ValueToSet *value
    cdef bytes memory
    if edits.values == edits.capacity:
        memory = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(2 * edits.capacity * sizeof(ValueToSet)))
        held.append(memory)
        memcpy(PyBytes_AS_STRING(memory), edits.value, edits.values * sizeof(ValueToSet))
        edits.value, edits.capacity = <ValueToSet *>PyBytes_AS_STRING(memory), 2 * edits.capacity
    value = edits.value + edits.values
    value.name = name
    encode(&value.encoded, text, held)
    edits.values += 1
    # A "?" or "&", the name, of which a row may encode each byte, "=", and the value, whose spaces may be %20.
    edits.extra += 2 + 3 * edits.to_set[name].name.size + value.encoded.size[0]
    return 0


cdef int add_pair(Edits *edits, object name, object value, list held) except -1:
    cdef size_t i = add_name(edits, name, held)
    if isinstance(value, (list, tuple)):
        for each in value:
            add_value(edits, i, ascii_or_utf8(each, "the value of", name), held)
    else:
        add_value(edits, i, ascii_or_utf8(value, "the value of", name), held)
    return 0


cdef object pairs_of_query(object query):
    from uricodec.uri._values import query_pairs
    if isinstance(query, str):
        return query_pairs(f"?{query.replace('#', '%23')}")
    return query_pairs(b"?" + query.replace(b"#", b"%23"))


cdef int add_pairs(Edits *edits, object given, list held) except -1:
    """Add the names and values of a mapping, of pairs, or of a query."""
    if type(given) is dict:
        for name, value in (<dict>given).items():
            add_pair(edits, name, value, held)
        return 0
    if isinstance(given, (str, bytes)):
        given = pairs_of_query(given)
    elif isinstance(given, (dict, Mapping)):
        given = given.items()
    elif not isinstance(given, (list, tuple)):
        raise TypeError("set must be a mapping of names to values, a list of pairs, or a query as str, "
                        f"not {type(given).__name__}")
    for pair in given:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(f"set must have pairs of a name and a value, got {pair!r}")
        name, value = pair
        add_pair(edits, name, value, held)
    return 0


cdef int add_names(NameSet *names, object given, str what, list held) except -1:
    """Set names: those of a collection, or of a str, in which commas separate them."""
    cdef list found = []
    if isinstance(given, (str, bytes)):
        comma = "," if isinstance(given, str) else b","
        given = given.split(comma) if given else ()
    for name in given:
        found.append(ascii_or_utf8(name, what))
    set_names(names, found, True, False, held)
    return 0


cdef tuple BLANKS = ("%20", "+")        # in the order of Encoded.text


cdef int set_edits(Edits *edits, object set, object drop, object keep, object space, list held) except -1:
    edits.sets = edits.values = edits.extra = 0
    edits.value, edits.capacity = edits.few, FEW_VALUES
    edits.drops, edits.keeps, edits.blank = drop is not None, keep is not None, -1
    if space is not None:
        if space not in BLANKS:
            raise ValueError(f"space must be '+', '%20' or None, got {space!r}")
        edits.blank = <int>BLANKS.index(space)
    if set is not None:
        add_pairs(edits, set, held)
    if edits.drops:
        add_names(&edits.to_drop, drop, "a name of drop", held)
    if edits.keeps:
        add_names(&edits.to_keep, keep, "a name of keep", held)
    return 0


@cython.final
cdef class WithQueryRows(RowOperation):
    """Operation that sets, drops and keeps parameters of queries.

    Args:
        set, drop, keep, space: See `with_query`.

    Source: RFC 3986 section 3.4; https://url.spec.whatwg.org/#urlencoded-parsing; RFC 6068 section 5.
    """
    cdef Edits edits
    cdef list held

    def __cinit__(self, set=None, drop=None, keep=None, space=None):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.held = []
        set_edits(&self.edits, set, drop, keep, space, self.held)
        self.slots.strict = SizedRow(edit_row, 1, self.edits.extra)
        self.slots.options, self.slots.utf8_code = &self.edits, UTF8
        self.slots.block = NULL


def with_query(uri, set=None, *, drop=None, keep=None, space=None):
    """Return a URL with other parameters in its query; all other bytes stay as they are.

    Names are compared decoded: `a%62` is "ab". Fields stay in their order, and so do empty ones and repeated names. A
    query from which the last field is dropped is left out with its "?". A space is "+" in http, https, ws and wss, and
    without a scheme, as urllib.parse.urlencode writes it; in other schemes, such as mailto, it is "%20", and "+" is a plus
    sign.

    Args:
        uri (str | bytes-like): Any text. It is split as RFC 3986 appendix B does.
        set (Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None): Names and values, or a
            query without a scheme, such as "page=2&sort=name". The first field of a name becomes a field for each value of
            the name, in their order; others of that name are dropped. A name that the query lacks is added at its end. An
            empty list drops the name.
        drop (Collection[str] | str | None): The names to drop, or a str with commas between them. "utm_*" is all names
            that begin with "utm_".
        keep (Collection[str] | str | None): The only names to keep, as for `drop`, besides those of `set`. None: all.
        space (str | None): How a space in names and values of `set` is written: "+", "%20", or None: by the scheme, as
            above. Names are compared in the same way with each.

    Returns:
        str | bytes: The URL, bytes for a bytes-like object; the same object if nothing changes.

    Raises:
        UriSyntaxError: If the text, a name or a value contains a lone surrogate.
        TypeError: If `set` is neither a mapping, nor a list of pairs, nor a query, or a name or a value is neither str nor
            bytes.
        ValueError: If `set` has more than 64 names, or `space` is another text.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing; RFC 6068 section 5.

    >>> from uricodec import uri
    >>> url = "https://example.org/s?q=caf%c3%a9&utm_source=x&page=2#top"
    >>> uri.with_query(url, {"page": "3", "lang": "pt br"}, drop=["utm_*"])
    'https://example.org/s?q=caf%c3%a9&page=3&lang=pt+br#top'
    >>> uri.with_query(url, keep=["q"]), uri.with_query(url, keep=[])
    ('https://example.org/s?q=caf%c3%a9#top', 'https://example.org/s#top')
    >>> uri.with_query("/?a=0&b", [("a", "1"), ("a", "2")]), uri.with_query("mailto:a@example.org", {"subject": "a b"})
    ('/?a=1&a=2&b', 'mailto:a@example.org?subject=a%20b')
    >>> uri.with_query("https://example.org/?a+b=1", {"a b": "c d"}, space="%20")
    'https://example.org/?a+b=c%20d'
    """
    cdef Edits edits
    cdef list held = []
    cdef SizedRow operation
    cdef Single single
    set_edits(&edits, set, drop, keep, space, held)
    operation = SizedRow(edit_row, 1, edits.extra)
    single = single_of(&operation, &edits, NULL, ASCII_OF_ASCII)
    return result_of(uri, &single, URI_FAULTS, True)


with_query.__module__ = "uricodec.uri"      # pickled by reference to its public name
