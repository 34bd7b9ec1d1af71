# distutils: extra_compile_args=-O2
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
from libc.string cimport memchr, memset

from uricodec._base._kernels cimport UNRESERVED, kernels
from uricodec._base._text cimport *
from uricodec._codec._percent cimport UNRESERVED_SPACE, encode_bytes, is_spaced
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport CODE_NAMES, REASONS, URI_FAULTS, UTF8
from uricodec.uri._queries cimport ParameterName, has_form_query, is_name

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

from collections.abc import Mapping

from uricodec.errors import UriSyntaxError


cdef enum:
    MOST_SET = 64           # a bit for each name


# A text that is encoded: as %20, and as a form does.
cdef struct Encoded:
    const uint8_t *text[2]
    size_t size[2]

# A name to set.
cdef struct NameToSet:
    ParameterName name
    Encoded encoded

# One of the values of a name.
cdef struct ValueToSet:
    size_t name             # its index
    Encoded encoded

cdef struct Edits:
    size_t sets, values, drops, keeps
    bint has_keep
    NameToSet *to_set
    ValueToSet *value       # in the order in which they were given
    ParameterName *to_drop
    ParameterName *to_keep


cdef bint is_any(const uint8_t *src, size_t n, const ParameterName *names, size_t count, bint plus) noexcept nogil:
    cdef size_t i
    for i in range(count):
        if is_name(src, n, names + i, plus, False):
            return True
    return False


cdef inline uint8_t *begin_field(uint8_t *dst, bint *first) noexcept nogil:
    dst[0] = c'?' if first[0] else c'&'
    first[0] = False
    return dst + 1


cdef inline uint8_t *put_field(uint8_t *dst, bint *first, const uint8_t *name, size_t size, const Encoded *value,
                               bint plus) noexcept nogil:
    dst = append_bytes(begin_field(dst, first), name, size)
    dst[0] = c'='
    return append_bytes(dst + 1, value.text[plus], value.size[plus])


cdef size_t write_edited(const uint8_t *src, size_t n, const Edits *edits, uint8_t *dst) noexcept nogil:
    """Write the text with its other query. Return the size."""
    cdef const uint8_t *found = <const uint8_t *>memchr(src, c'#', n)
    cdef size_t end = <size_t>(found - src) if found != NULL else n, start, stop, size, i, k
    cdef uint8_t *out = dst
    cdef uint64_t done = 0
    cdef bint first = True, plus = has_form_query(src, n)
    cdef const Encoded *name
    found = <const uint8_t *>memchr(src, c'?', end)
    start = <size_t>(found - src) if found != NULL else end
    out = append_bytes(out, src, start)
    # An empty query has no field that a new one could follow.
    while start < end and not (end - start == 1 and edits.sets and first):
        start += 1
        found = <const uint8_t *>memchr(src + start, c'&', end - start)
        stop = <size_t>(found - src) if found != NULL else end
        found = <const uint8_t *>memchr(src + start, c'=', stop - start)
        size = <size_t>(found - src) - start if found != NULL else stop - start
        for i in range(edits.sets):
            if is_name(src + start, size, &edits.to_set[i].name, plus, False):
                if not done >> i & 1:
                    for k in range(edits.values):
                        if edits.value[k].name == i:
                            out = put_field(out, &first, src + start, size, &edits.value[k].encoded, plus)
                    done |= <uint64_t>1 << i
                break
        else:
            if not (is_any(src + start, size, edits.to_drop, edits.drops, plus)
                    or edits.has_keep and not is_any(src + start, size, edits.to_keep, edits.keeps, plus)):
                out = append_bytes(begin_field(out, &first), src + start, stop - start)
        start = stop
    for k in range(edits.values):
        i = edits.value[k].name
        if not done >> i & 1:
            name = &edits.to_set[i].encoded
            out = put_field(out, &first, name.text[plus], name.size[plus], &edits.value[k].encoded, plus)
    return <size_t>(append_bytes(out, src + end, n - end) - dst)


cdef size_t edit_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return write_edited(src, n, <const Edits *>options, dst)


cdef bytes utf8_of_part(object text, str what, object name=None):
    """Return the UTF-8 of a name or value; `what` it is, for errors: "a name of set", or "the value of" the name."""
    if isinstance(text, bytes):
        return text if type(text) is bytes else bytes(text)
    if isinstance(text, str):
        text = text_of(text)
        if PyUnicode_IS_ASCII(text) or first_surrogate(<str>text) < 0:
            return (<str>text).encode()
    if name is not None:
        what = f"{what} {name!r}"
    if isinstance(text, str):
        raise UriSyntaxError(f"lone surrogate in {what}", text, first_surrogate(<str>text))
    raise TypeError(f"{what} must be str or bytes, not {type(text).__name__}")


cdef list names_of(object given, str what):
    """Return names as a list: those of a collection, or of a str, in which commas separate them."""
    cdef list names = []
    if isinstance(given, (str, bytes)):
        comma = "," if isinstance(given, str) else b","
        given = given.split(comma) if given else ()
    for name in given:
        names.append(utf8_of_part(name, what))
    return names


cdef int add_pair(object name, object value, dict names, list indexes, list values) except -1:
    cdef object index = names.setdefault(utf8_of_part(name, "a name of set"), len(names))
    if not isinstance(value, (list, tuple)):
        indexes.append(index)
        values.append(utf8_of_part(value, "the value of", name))
        return 0
    for each in value:
        indexes.append(index)
        values.append(utf8_of_part(each, "the value of", name))
    return 0


cdef object pairs_of_query(object query):
    from uricodec.uri._values import query_pairs
    if isinstance(query, str):
        return query_pairs(f"?{query.replace('#', '%23')}")
    return query_pairs(b"?" + query.replace(b"#", b"%23"))


cdef int add_values(object given, dict names, list indexes, list values) except -1:
    """Add the values to set, the indexes of their names, and the names: of a mapping, of pairs, or of a query."""
    if type(given) is dict:
        for name, value in (<dict>given).items():
            add_pair(name, value, names, indexes, values)
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
        add_pair(name, value, names, indexes, values)
    return 0


# --- edits: `held` is a list of what they refer to

cdef void *new_memory(size_t count, size_t size, list held) except NULL:
    cdef bytes memory = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(count * size))
    held.append(memory)
    return PyBytes_AS_STRING(memory)


cdef int set_name(ParameterName *name, bytes text, bint may_be_prefix, list held) except -1:
    held.append(text)
    name.text, name.size = <const uint8_t *>PyBytes_AS_STRING(text), <size_t>PyBytes_GET_SIZE(text)
    name.is_prefix = may_be_prefix and text.endswith(b"*")
    name.size -= name.is_prefix
    return 0


cdef ParameterName *new_names(list names, list held) except NULL:
    cdef ParameterName *made = <ParameterName *>new_memory(<size_t>len(names), sizeof(ParameterName), held)
    cdef size_t i
    for i in range(<size_t>len(names)):
        set_name(made + i, names[i], True, held)
    return made


cdef int encode(Encoded *encoded, bytes text, list held) except -1:
    cdef const uint8_t *src = <const uint8_t *>PyBytes_AS_STRING(text)
    cdef size_t n = <size_t>PyBytes_GET_SIZE(text)
    cdef bytes made = text
    cdef bint plus
    for plus in range(2):
        if plus == 0 and kernels.span(src, n, &UNRESERVED.set) != n or plus and is_spaced(src, n):
            made = encode_bytes(src, n, &UNRESERVED_SPACE.set if plus else &UNRESERVED.set, plus, False)
            held.append(made)
        encoded.text[plus], encoded.size[plus] = <const uint8_t *>PyBytes_AS_STRING(made), <size_t>PyBytes_GET_SIZE(made)
    return 0


cdef size_t make_edits(Edits *edits, object set, object drop, object keep, list held) except? 0:
    """Set `edits`. Return how much longer a text may become."""
    cdef dict names = {}
    cdef list indexes = [], values = []
    cdef size_t extra = 0, i = 0
    memset(edits, 0, sizeof(Edits))
    if set is not None:
        add_values(set, names, indexes, values)
    if drop is not None:
        dropped = names_of(drop, "a name of drop")
        edits.to_drop, edits.drops = new_names(dropped, held), <size_t>len(dropped)
    if keep is not None:
        kept = names_of(keep, "a name of keep")
        edits.to_keep, edits.keeps, edits.has_keep = new_names(kept, held), <size_t>len(kept), True
    if set is None:
        return 0
    if len(names) > MOST_SET:
        raise ValueError(f"set must have at most {MOST_SET} names, got {len(names)}")
    held.append(values)
    edits.sets, edits.values = <size_t>len(names), <size_t>len(values)
    edits.to_set = <NameToSet *>new_memory(edits.sets, sizeof(NameToSet), held)
    edits.value = <ValueToSet *>new_memory(edits.values, sizeof(ValueToSet), held)
    for name in names:
        set_name(&edits.to_set[i].name, name, False, held)
        encode(&edits.to_set[i].encoded, name, held)
        i += 1
    for i in range(edits.values):
        edits.value[i].name = indexes[i]
        encode(&edits.value[i].encoded, values[i], held)
        # A "?" or "&", the name, of which a row may encode each byte, "=", and the value, whose spaces may be %20.
        extra += 2 + 3 * edits.to_set[edits.value[i].name].name.size + edits.value[i].encoded.size[0]
    return extra


@cython.final
cdef class WithQueryRows(RowOperation):
    """Operation that sets, drops and keeps parameters of queries.

    Args:
        set, drop, keep: See `with_query`.

    Source: RFC 3986 section 3.4; https://url.spec.whatwg.org/#urlencoded-parsing; RFC 6068 section 5.
    """
    cdef Edits edits
    cdef list held

    def __cinit__(self, set=None, drop=None, keep=None):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.held = []
        self.slots.strict = SizedRow(edit_row, 1, make_edits(&self.edits, set, drop, keep, self.held))
        self.slots.options, self.slots.utf8_code = &self.edits, UTF8
        self.slots.block = NULL


def with_query(uri, set=None, *, drop=None, keep=None):
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

    Returns:
        str | bytes: The URL, bytes for a bytes-like object; the same object if nothing changes.

    Raises:
        UriSyntaxError: If the text, a name or a value contains a lone surrogate.
        TypeError: If `set` is neither a mapping, nor a list of pairs, nor a query, or a name or a value is neither str nor
            bytes.
        ValueError: If `set` has more than 64 names.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing; RFC 6068 section 5.

    >>> from uricodec import uri
    >>> url = "https://example.org/s?q=caf%c3%a9&utm_source=x&page=2#top"
    >>> uri.with_query(url, {"page": "3", "lang": "pt br"}, drop=["utm_*"])
    'https://example.org/s?q=caf%c3%a9&page=3&lang=pt+br#top'
    >>> uri.with_query(url, keep=["q"]), uri.with_query(url, keep=[])
    ('https://example.org/s?q=caf%c3%a9#top', 'https://example.org/s#top')
    >>> uri.with_query("/?a=0&b", [("a", "1"), ("a", "2")]), uri.with_query("mailto:a@example.org", {"subject": "a b"})
    ('/?a=1&a=2&b', 'mailto:a@example.org?subject=a%20b')
    """
    cdef Edits edits
    cdef list held = []
    cdef SizedRow operation = SizedRow(edit_row, 1, make_edits(&edits, set, drop, keep, held))
    cdef Single single = single_of(&operation, &edits, NULL, ASCII_OF_ASCII)
    return result_of(uri, &single, URI_FAULTS, True)


with_query.__module__ = "uricodec.uri"      # pickled by reference to its public name
