"""IRIs to URIs (RFC 3987 section 3.1) and back (section 3.2): str and bytes, options, calls."""
from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from uricodec.iri._normalize cimport *
from uricodec._base._kernels cimport kernels
from uricodec._base._utf8 cimport utf8_text
from uricodec._codec._percent cimport ENCODED_ROOM
from uricodec._rows._operation cimport UC_REJECTED, Outcome
from uricodec._base._text cimport *
from uricodec.uri._components cimport borrow, plain, raise_refusal, raise_surrogate
from uricodec.uri._grammar cimport Authority, Parts, find_authority, find_parts

from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.ref cimport Py_XDECREF

from uricodec.errors import IriError


cdef extern from "Python.h":
    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL
    int _PyBytes_Resize(PyObject **bytes, Py_ssize_t size) except -1


# --- bytes and objects -------------------------------------------------------------------------------------------------

cdef object raise_first(object given, str text, const Mapping *mapping):
    """For a str with a surrogate: that is the error, or what is found before it, on the way to a URI or (NULL) from one."""
    before = text[:first_surrogate(text)]
    try:
        to_uri(before, mapping) if mapping != NULL else to_iri(before)
    except IriError as error:
        if not isinstance(error, IriError):     # a MemoryError by now
            raise error  # pragma: no cover: no memory
        raise IriError(error.reason, given, error.position) from None
    raise_surrogate(given, IriError)


cdef object encoded_object(bint text, const Octets *octets, size_t escapes, const Mapping *mapping):
    """A str or bytes of what was checked, and has to change."""
    cdef uint8_t room[ENCODED_ROOM]
    cdef const uint8_t *src = octets.data
    cdef size_t n = octets.size, size
    cdef uint8_t *dst
    if n <= SMALL:
        return text_or_bytes(text, room, kernels.encode(src, n, &mapping.safe, False, room, ENCODED_ROOM))
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
    """The URI of a str or bytes-like; the same object if a str or bytes is one."""
    cdef uint8_t room[UTF8_ROOM]
    cdef Octets octets
    cdef Outcome outcome
    cdef size_t escapes
    cdef object iri = plain(given)
    cdef bint text = type(iri) is str
    if not borrow(iri, &octets, room):
        raise_first(given, iri, mapping)
    try:
        if kernels.span(octets.data, octets.size, &mapping.safe) == octets.size:
            return iri
        if octets.size <= SMALL:
            escapes = check_iri_octets(octets.data, octets.size, mapping, not text, &outcome)
        else:
            with nogil:
                escapes = check_iri_octets(octets.data, octets.size, mapping, not text, &outcome)
        if escapes == UC_REJECTED:
            raise_refusal(given, octets.data, &outcome, IriError)
        return encoded_object(text, &octets, escapes, mapping)
    finally:
        release(&octets)


cdef object to_iri(object given):
    """The IRI of a str or bytes-like; the same object if a str or bytes is one."""
    cdef uint8_t room[UTF8_ROOM]
    cdef uint8_t short_result[SMALL]
    cdef uint8_t *dst = short_result
    cdef uint8_t *heap = NULL
    cdef PyObject *room_of_result = NULL
    cdef Octets octets
    cdef Outcome outcome
    cdef size_t size
    cdef object uri = plain(given)
    cdef bint text = type(uri) is str
    if not borrow(uri, &octets, room):
        raise_first(given, uri, NULL)
    try:
        if kernels.span(octets.data, octets.size, &UNTOUCHED.set) == octets.size:
            return uri
        if octets.size <= SMALL:
            size = decode_uri(octets.data, octets.size, not text, dst, &outcome)
        else:
            if text:
                dst = heap = allocate(octets.size)
            else:
                room_of_result = new_bytes(NULL, <Py_ssize_t>octets.size)
                dst = <uint8_t *>PyBytes_AS_STRING(<object>room_of_result)
            with nogil:
                size = decode_uri(octets.data, octets.size, not text, dst, &outcome)
        if size == UC_REJECTED:
            raise_refusal(given, octets.data, &outcome, IriError)
        if size == octets.size and memcmp(dst, octets.data, size) == 0:
            return uri
        if text:
            return utf8_text(dst, size, "strict")
        if room_of_result == NULL:
            return PyBytes_FromStringAndSize(<char *>dst, <Py_ssize_t>size)
        _PyBytes_Resize(&room_of_result, <Py_ssize_t>size)      # NULL if it fails
        return <object>room_of_result
    finally:
        Py_XDECREF(room_of_result)
        PyMem_RawFree(heap)
        release(&octets)


# --- public functions ---------------------------------------------------------------------------------------------------

# The names of what iri_to_uri() does with OPTIONAL, and both with the host.
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
    """Where the host is, if it is a name; None if it is not."""
    cdef Parts parts
    cdef Authority authority
    cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(iri)
    find_parts(s, <size_t>PyBytes_GET_SIZE(iri), &parts)
    if (parts.authority < 0 or not find_authority(s, parts.authority, parts.path, &authority)
            or authority.host < authority.host_end and s[authority.host] == c'['):
        return None
    return authority.host, authority.host_end


cdef object raise_host(object given, error):
    """An IriError at the host."""
    octets = plain(given)
    start = host_range(octets if type(octets) is bytes else (<str>octets).encode())[0]
    raise IriError(f"invalid internationalized host: {error}", given, start if type(octets) is bytes else
                   len((<str>octets).encode()[:start].decode())) from error


cdef object with_host(object given, object iri, bint ascii):
    """The IRI with A-labels in its host, or with the characters for which they stand; `iri` is what became of `given`."""
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
        if not isinstance(error, ValueError):   # a MemoryError by now
            raise error  # pragma: no cover: no memory
        raise_host(given, error)
    return octets if type(iri) is bytes else octets.decode()


def iri_to_uri(iri, encoding=None, disallowed="raise", host="percent", written=False):
    """The URI of an IRI: the characters beyond ASCII become triplets of their UTF-8.

    What is a URI already does not change; nor do "%", "#", "[" and "]", wherever they are. An IRI reference or a
    component will do, too.

    Args:
        iri (str | bytes-like): The IRI; bytes are UTF-8, or what `encoding` says.
        encoding (str | None): Of bytes: the name of their character encoding. If that is none of Unicode's, the
            characters are put into Normalization Form C first.
        disallowed (str): What to do with the ten printable characters < > " { } | \\ ^ ` and space, which no URI has:
            "raise", or "encode" them.
        host (str): "percent": as everywhere. "idna": a host that is not ASCII becomes A-labels (ToASCII, with the STD 3
            rules); triplets in it that are UTF-8 are decoded first.
        written (bool): The characters were read from paper, or typed in: they are put into Normalization Form C first.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like; the same object if a str or bytes does not change.

    Raises:
        IriError: A character that no IRI has: a control, a noncharacter, one of the ten, a lone surrogate, bytes that
            are not of the encoding; or a host without A-labels. `position` is that of the character or host in `iri`;
            where characters were composed to Normalization Form C, the error may be of the composed text, and is at
            0 then.
        ValueError: There is no such option.
        LookupError: There is no such encoding.
        TypeError: A str with an encoding, or neither a str nor bytes-like.

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
    if encoding is not None or written:
        from uricodec.iri import _characters
        return _characters.convert(iri, encoding, written, iri_to_uri, {"disallowed": disallowed, "host": host})
    return to_uri_with_host(iri, mapping, idna)


cdef object to_uri_with_host(object iri, const Mapping *mapping, bint idna):
    uri = to_uri(iri, mapping)
    return to_uri(with_host(iri, plain(iri), True), mapping) if idna else uri


def uri_to_iri(uri, host="keep"):
    """The IRI of a URI: triplets become characters where that cannot be mistaken.

    Decoded are the unreserved characters of ASCII, and the UTF-8 of characters that may stand there in an IRI. All other
    triplets stay: those of ASCII as they are spelled, the others in upper case. A relative reference keeps the first
    triplet of what would become a scheme. An IRI (reference) or a component will do, too.

    Args:
        uri (str | bytes-like): The URI; bytes are UTF-8.
        host (str): "keep": as everywhere. "unicode": A-labels of the host become the characters for which they stand
            (ToUnicode), too.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like; the same object if a str or bytes does not change.

    Raises:
        IriError: A "%" without two hexadecimal digits, or a raw character that may not stand there in an IRI; or a host
            with labels that are no A-labels. `position` is that of the character or host in `uri`.
        ValueError: There is no such option.
        TypeError: Neither a str nor bytes-like.

    Source: RFC 3987 section 3.2; what may not be in an IRI: sections 2.2 and 4.1.

    >>> uri_to_iri("http://example.org/D%c3%bCrst%2f%7euser/%FC")
    'http://example.org/D\u00fcrst%2f~user/%FC'
    >>> uri_to_iri("http://xn--99zt52a.example.org/", host="unicode")
    'http://\u7d0d\u8c46.example.org/'
    """
    cdef bint unicode = is_other_host(host, "keep", "unicode")
    iri = to_iri(uri)
    return with_host(uri, iri, False) if unicode else iri


for function in iri_to_uri, uri_to_iri:
    function.__module__ = "uricodec.iri"        # pickled by reference to where users find them
del function


# --- calls --------------------------------------------------------------------------------------------------------------

# f(text) is what most calls are. These take it before any argument is parsed, and leave all others to the functions.
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
