"""Conversion of single IRIs to URIs (RFC 3987 section 3.1) and back (section 3.2): arguments, options, results."""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec.iri._normalize cimport *
from uricodec._base._kernels cimport kernels, raise_set
from uricodec._codec._percent cimport ENCODED_CAPACITY
from uricodec._rows._operation cimport UC_RAISED, UC_REJECTED, Operation, Outcome
from uricodec._base._text cimport *
from uricodec.uri._components cimport borrow, plain, raise_rejection, raise_surrogate
from uricodec.uri._grammar cimport Authority, Parts, find_authority, find_parts

from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.ref cimport Py_XDECREF

from uricodec.errors import IriError


# --- bytes and objects ------------------------------------------------------------------------------------------------

cdef object raise_first(object given, str text, const Mapping *mapping):
    """Raise the first error of a str with a lone surrogate: an earlier one, or the surrogate. mapping == NULL: URI to IRI."""
    before = text[:first_surrogate(text)]
    try:
        to_uri(before, mapping) if mapping != NULL else to_iri(before)
    except IriError as error:
        if not isinstance(error, IriError):     # a MemoryError replaced it
            raise error  # pragma: no cover: no memory
        raise IriError(error.reason, given, error.offset) from None
    raise_surrogate(given, IriError)


cdef object encoded_object(bint text, const Bytes *source, size_t escapes, const Mapping *mapping):
    """Return the str or bytes of an IRI that was checked and needs encoding."""
    cdef uint8_t buffer[ENCODED_CAPACITY]
    cdef const uint8_t *src = source.data
    cdef size_t n = source.size, size
    cdef uint8_t *dst
    if n <= SMALL:
        return text_or_bytes(text, buffer, kernels.encode(src, n, &mapping.safe, False, buffer, ENCODED_CAPACITY))
    size = encoded_size(n, escapes)
    if text:
        result = PyUnicode_New(<Py_ssize_t>size, 127)
        dst = <uint8_t *>PyUnicode_DATA(result)
    else:
        result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>size)
        dst = <uint8_t *>PyBytes_AS_STRING(result)
    with nogil:
        kernels.encode(src, n, &mapping.safe, False, dst, size)
    return result


cdef object to_uri(object given, const Mapping *mapping):
    """Return the URI of an IRI; the same object if a str or bytes does not change."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Outcome outcome
    cdef size_t escapes
    cdef object iri = plain(given)
    cdef bint text = type(iri) is str
    if not borrow(iri, &source, buffer):
        raise_first(given, iri, mapping)
    try:
        if kernels.span(source.data, source.size, &mapping.safe) == source.size:
            return iri
        if source.size <= SMALL:
            escapes = check_iri_bytes(source.data, source.size, mapping, not text, &outcome)
        else:
            with nogil:
                escapes = check_iri_bytes(source.data, source.size, mapping, not text, &outcome)
        if escapes == UC_REJECTED:
            raise_rejection(given, source.data, &outcome, IriError)
        return encoded_object(text, &source, escapes, mapping)
    finally:
        release(&source)


cdef object to_iri(object given):
    """Return the IRI of a URI; the same object if a str or bytes does not change."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef uint8_t short_result[SMALL]
    cdef uint8_t *dst = short_result
    cdef uint8_t *heap = NULL
    cdef PyObject *capacity_of_result = NULL
    cdef Bytes source
    cdef Outcome outcome
    cdef size_t size
    cdef object uri = plain(given)
    cdef bint text = type(uri) is str
    if not borrow(uri, &source, buffer):
        raise_first(given, uri, NULL)
    try:
        if kernels.span(source.data, source.size, &UNTOUCHED.set) == source.size:
            return uri
        if source.size <= SMALL:
            size = decode_uri(source.data, source.size, not text, dst, &outcome)
        else:
            if text:
                dst = heap = allocate(source.size)
            else:
                capacity_of_result = new_bytes(NULL, <Py_ssize_t>source.size)
                dst = <uint8_t *>PyBytes_AS_STRING(<object>capacity_of_result)
            with nogil:
                size = decode_uri(source.data, source.size, not text, dst, &outcome)
        if size == UC_REJECTED:
            raise_rejection(given, source.data, &outcome, IriError)
        if size == source.size and memcmp(dst, source.data, size) == 0:
            return uri
        if text:
            return utf8_text(dst, size, "strict")
        if capacity_of_result == NULL:
            return PyBytes_FromStringAndSize(<char *>dst, <Py_ssize_t>size)
        made, capacity_of_result = capacity_of_result, NULL
        return resized(made, size)
    finally:
        Py_XDECREF(capacity_of_result)
        PyMem_RawFree(heap)
        release(&source)


# --- public functions -------------------------------------------------------------------------------------------------

cdef enum:
    CONVERTED_CAPACITY = 3 * SMALL + 1024       # what the operations with hosts need for SMALL bytes

# The options of iri_to_uri() and uri_to_iri(), by name.
cdef const Mapping *mapping_of(object disallowed) except NULL:
    if disallowed == "raise":
        return &STRICT_MAPPING
    if disallowed == "encode":
        return &LENIENT_MAPPING
    raise ValueError(f"disallowed must be 'raise' or 'encode', got {disallowed!r}")


cdef bint is_other_host(object host, str usual, str other) except -1:
    if host == usual:
        return False
    if host == other:
        return True
    raise ValueError(f"host must be {usual!r} or {other!r}, got {host!r}")


cdef tuple host_range(bytes iri):
    """Return where the host starts and ends, if it is a name; None otherwise."""
    cdef Parts parts
    cdef Authority authority
    cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(iri)
    find_parts(s, <size_t>PyBytes_GET_SIZE(iri), &parts)
    if (parts.authority < 0 or not find_authority(s, parts.authority, parts.path, &authority)
            or authority.host < authority.host_end and s[authority.host] == c'['):
        return None
    return authority.host, authority.host_end


cdef object raise_host(object given, error):
    """Raise an IriError at the host."""
    octets = plain(given)
    start = host_range(octets if type(octets) is bytes else (<str>octets).encode())[0]
    raise IriError(f"invalid internationalized host: {error}", given, start if type(octets) is bytes else
                   len((<str>octets).encode()[:start].decode())) from error


cdef object with_host(object given, object iri, bint ascii):
    """Convert the labels of the host in `iri`, the result for `given`: to A-labels (ascii) or to Unicode."""
    cdef bytes octets = iri if type(iri) is bytes else (<str>iri).encode()
    place = host_range(octets)
    if place is None:
        return iri
    start, end = place
    try:
        host = to_iri(octets[start:end]).decode()
        if host.isascii() and (ascii or "xn--" not in host.lower()):
            return iri
        from uricodec.iri import _hosts
        host = (_hosts.to_ascii if ascii else _hosts.to_unicode)(host)
        octets = octets[:start] + to_iri(host).encode() + octets[end:]
    except ValueError as error:
        if not isinstance(error, ValueError):   # a MemoryError replaced it
            raise error  # pragma: no cover: no memory
        raise_host(given, error)
    return octets if type(iri) is bytes else octets.decode()


cdef object converted(object given, const Operation *operation, const void *options):
    """Return the result of a row operation for a SMALL text; the same object if it does not change. None: it is invalid or in doubt."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef uint8_t dst[CONVERTED_CAPACITY]
    cdef Bytes source
    cdef Outcome outcome
    cdef size_t size
    cdef object text = plain(given)
    if not borrow(text, &source, buffer):
        return None
    try:
        if source.size > SMALL:
            return None
        size = operation.row(source.data, source.size, options, dst, &outcome)
        if size == UC_REJECTED:
            if outcome.code == UC_RAISED:
                raise_set()
            return None
        if size == source.size and memcmp(dst, source.data, size) == 0:
            return text
        if type(text) is str:
            return utf8_text(dst, size, "strict")
        return PyBytes_FromStringAndSize(<char *>dst, <Py_ssize_t>size)
    finally:
        release(&source)


def iri_to_uri(iri, encoding=None, disallowed="raise", host="percent", nfc=False):
    """Convert an IRI to a URI: percent-encode the UTF-8 of characters beyond ASCII.

    A text that is already a URI does not change. "%", "#", "[" and "]" are kept everywhere. IRI references and single
    components are accepted, too.

    Args:
        iri (str | bytes-like): The IRI; bytes are UTF-8, unless `encoding` says otherwise.
        encoding (str | None): The character encoding of bytes. If it is not a Unicode encoding, the characters are put
            into Normalization Form C first.
        disallowed (str): How to handle the ten printable characters < > " { } | \\ ^ ` and space, which URIs do not
            allow:
            "raise" an error, or "encode" them.
        host (str): "percent": percent-encode the host as the rest. "idna": convert a host that is not ASCII to A-labels
            (ToASCII, with the STD 3 rules), after decoding its triplets that are UTF-8.
        nfc (bool): The characters were read from paper or typed in: put them into Normalization Form C first.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes does not change.

    Raises:
        IriError: If the text contains a character that IRIs do not allow (a control, a noncharacter, one of the ten, a
            lone surrogate), bytes are invalid in the encoding, or the host has no A-labels. `offset` is that of the
            character or host in `iri`; it is 0 for an error that only exists after composition to Normalization Form C.
        ValueError: If `disallowed` or `host` is unknown.
        LookupError: If the encoding is unknown.
        TypeError: If a str is given with an encoding, or `iri` is neither a str nor bytes-like.

    Source: RFC 3987 section 3.1.

    >>> iri_to_uri("http://r\u00e9sum\u00e9.example.org/%20")
    'http://r%C3%A9sum%C3%A9.example.org/%20'
    >>> iri_to_uri("http://r\u00e9sum\u00e9.example.org/", host="idna")
    'http://xn--rsum-bpad.example.org/'
    >>> iri_to_uri(b"Vi\\xea\\xf2t", encoding="windows-1258")
    b'Vi%E1%BB%87t'
    """
    cdef const Mapping *mapping = mapping_of(disallowed)
    cdef bint idna = is_other_host(host, "percent", "idna")
    if encoding is not None or nfc:
        from uricodec.iri import _characters
        return _characters.convert(iri, encoding, nfc, iri_to_uri, {"disallowed": disallowed, "host": host})
    return to_uri_with_host(iri, mapping, idna)


cdef object to_uri_with_host(object iri, const Mapping *mapping, bint idna):
    if not idna:
        return to_uri(iri, mapping)
    found = converted(iri, &IRI_TO_URI_IDNA_ROW, mapping)
    if found is not None:
        return found
    to_uri(iri, mapping)        # raises the first error
    return to_uri(with_host(iri, plain(iri), True), mapping)


def uri_to_iri(uri, host="keep"):
    """Convert a URI to an IRI: decode triplets where the result is unambiguous.

    Decoded are unreserved ASCII characters, and the UTF-8 of characters that an IRI allows in that component. All other
    triplets are kept: those of ASCII as they are spelled, the others in upper case. If decoding would give a relative
    reference a scheme, its first triplet is kept. IRIs, IRI references and single components are accepted, too.

    Args:
        uri (str | bytes-like): The URI; bytes are UTF-8.
        host (str): "keep": decode triplets of the host only. "unicode": also convert its A-labels to the characters
            that they encode (ToUnicode).

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes does not change.

    Raises:
        IriError: If a "%" is not followed by two hexadecimal digits, the text contains a character that an IRI does not
            allow there, or the host has an invalid A-label. `offset` is that of the character or host in `uri`.
        ValueError: If `host` is unknown.
        TypeError: If `uri` is neither a str nor bytes-like.

    Source: RFC 3987 section 3.2; what may not be in an IRI: sections 2.2 and 4.1.

    >>> uri_to_iri("http://example.org/D%c3%bCrst%2f%7euser/%FC")
    'http://example.org/D\u00fcrst%2f~user/%FC'
    >>> uri_to_iri("http://xn--99zt52a.example.org/", host="unicode")
    'http://\u7d0d\u8c46.example.org/'
    """
    cdef bint unicode = is_other_host(host, "keep", "unicode")
    if not unicode:
        return to_iri(uri)
    found = converted(uri, &URI_TO_IRI_UNICODE_ROW, NULL)
    return with_host(uri, to_iri(uri), False) if found is None else found


for function in iri_to_uri, uri_to_iri:
    function.__module__ = "uricodec.iri"        # pickled by reference to their public name
del function


# --- calls ------------------------------------------------------------------------------------------------------------

# Fast path: most calls are f(text). These functions handle them without argument parsing and pass all others on.
cdef vectorcall parse_iri_to_uri, parse_uri_to_iri


cdef object call_iri_to_uri(object function, PyObject *const *args, size_t flags, PyObject *names):
    if is_call_of_text(args, flags, names):
        return to_uri(<object>args[0], &STRICT_MAPPING)
    return parse_iri_to_uri(function, args, flags, names)


cdef object call_uri_to_iri(object function, PyObject *const *args, size_t flags, PyObject *names):
    if is_call_of_text(args, flags, names):
        return to_iri(<object>args[0])
    return parse_uri_to_iri(function, args, flags, names)


parse_iri_to_uri = take_calls(iri_to_uri, call_iri_to_uri)
parse_uri_to_iri = take_calls(uri_to_iri, call_uri_to_iri)
