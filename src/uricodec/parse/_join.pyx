"""Build URLs from parts: urllib.parse's urlunsplit, urlunparse, urldefrag and urljoin.

The fast paths cover what all Python versions do alike. Cases in which versions differ (empty components, a path that
looks like an authority), and all errors, are passed to the stdlib's functions. Text and bytes are joined as bytes; text
beyond ASCII is joined as UTF-8, where a delimiter is the same byte as in ASCII.
"""
from libc.string cimport memchr, memmove

from uricodec.parse._arguments cimport stdlib
from uricodec.parse._split cimport *
from uricodec._base._text cimport *
from uricodec.parse._split import KNOWS_MISSING as _KNOWS_MISSING


cdef bint KNOWS_MISSING = _KNOWS_MISSING
# Since 3.14 urljoin leaves a "?" or "#" that nothing follows; before, such a component counts as undefined.
cdef bint KEEPS_EMPTY = stdlib().urljoin("http://a/b", "#") == "http://a/b#"
# Before 3.14, the parameters of a reference do not belong to its path.
cdef bint PARAMS_APART = stdlib().urljoin("http://a/b/c", "..;d") == "http://a/;d"
# Params, a query or a fragment of None is not written. Programs pass them, although no version documents it.
cdef bint NONE_IS_EMPTY = stdlib().urlunparse(("http", "a", "/b", None, None, None)) == "http://a/b"
cdef object UNSPECIFIED = getattr(stdlib().module, "_UNSPECIFIED", None)
cdef object split_result = stdlib().module.SplitResult
cdef object split_result_bytes = stdlib().module.SplitResultBytes
cdef object parse_result = stdlib().module.ParseResult
cdef object parse_result_bytes = stdlib().module.ParseResultBytes
cdef object defrag_result = stdlib().module.DefragResult
cdef object defrag_result_bytes = stdlib().module.DefragResultBytes


# --- urlunsplit, urlunparse, urldefrag ----------------------------------------------------------------------------------

cdef inline Py_ssize_t copy(str url, Py_ssize_t at, str text) except -1:
    """Write a piece of a URL at offset `at`. Return the offset of the next piece."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_ASCII(url):
        copy_text(<uint8_t *>PyUnicode_DATA(url) + at, <const uint8_t *>PyUnicode_DATA(text), <size_t>n)
    else:
        PyUnicode_CopyCharacters(url, at, text, 0, n)
    return at + n


cdef object unsplit(str scheme, str netloc, str path, str params, str query, str fragment):
    """Return the URL of these components; None where Python versions differ."""
    cdef str slashes = "", slash = "", url
    cdef Py_ssize_t at = 0
    cdef bint rooted = path.startswith("/"), empty = not path and not params
    if netloc:
        slashes = "//"
        slash = "" if rooted or empty else "/"
    elif path.startswith("//"):
        return None
    elif scheme and in_list(scheme, "uses_netloc"):
        if not rooted and not empty:
            return None
        slashes = "//"
    cdef Py_UCS4 largest = max(
        <Py_UCS4>127, PyUnicode_MAX_CHAR_VALUE(scheme), PyUnicode_MAX_CHAR_VALUE(netloc), PyUnicode_MAX_CHAR_VALUE(path),
        PyUnicode_MAX_CHAR_VALUE(params), PyUnicode_MAX_CHAR_VALUE(query), PyUnicode_MAX_CHAR_VALUE(fragment))
    cdef Py_ssize_t size = (
        len(scheme) + (1 if scheme else 0) + len(slashes) + len(netloc) + len(slash) + len(path)
        + len(params) + (1 if params else 0) + len(query) + (1 if query else 0) + len(fragment) + (1 if fragment else 0))
    if size < 2:
        return "".join((slashes, slash, path, scheme))      # the interpreter has these objects already
    url = PyUnicode_New(size, largest)
    if scheme:
        at = copy(url, copy(url, at, scheme), ":")
    at = copy(url, copy(url, copy(url, copy(url, at, slashes), netloc), slash), path)
    if params:
        at = copy(url, copy(url, at, ";"), params)
    if query:
        at = copy(url, copy(url, at, "?"), query)
    if fragment:
        at = copy(url, copy(url, at, "#"), fragment)
    return url


cdef object unsplit_plain(object components, Py_ssize_t count):
    """Return the URL of a tuple, a list or a result of the stdlib, all str or all bytes; None for anything else."""
    cdef tuple items
    cdef list texts
    cdef object kind, result
    cdef Py_ssize_t i
    cdef bint missing = False
    cdef Url url
    if type(components) is tuple or type(components) is list:
        items = tuple(components)
    elif type(components) is (split_result if count == 5 else parse_result) or type(components) is (
            split_result_bytes if count == 5 else parse_result_bytes):
        if KNOWS_MISSING and getattr(components, "_keep_empty", False) is not False:
            return None  # pragma: no cover: another Python
        items = <tuple>components
    else:
        return None
    if len(items) != count:
        return None
    kind = type(items[0])
    if kind is not str and kind is not bytes:
        return None
    for i in range(count):
        if items[i] is None and i >= 3 and NONE_IS_EMPTY:
            missing = True
        elif type(items[i]) is not kind:
            return None
    if kind is bytes or missing:
        texts = []
        for item in items:
            if item is None:
                item = ""
            elif kind is bytes:
                if not read(item, &url):
                    return None
                item = ascii_text(<const uint8_t *>url.data, <size_t>url.size)
            texts.append(item)
        items = tuple(texts)
    result = unsplit(<str>items[0], <str>items[1], <str>items[2], "" if count == 5 else <str>items[3],
                     <str>items[count - 2], <str>items[count - 1])
    if result is None or kind is str:
        return result
    return PyBytes_FromStringAndSize(<const char *>PyUnicode_DATA(result), PyUnicode_GET_LENGTH(result))


cdef object defrag(object given):
    """Return a URL and its fragment; None if urldefrag() would also change the URL in another way."""
    cdef Url url
    cdef UrlPieces parts
    cdef object result, owner = usable_url(given)
    cdef str scheme
    cdef Py_ssize_t end
    if owner is None or not read(owner, &url):
        return None
    parts.fragment = -1
    end = url.size
    if has_fragment(&url):      # the stdlib does not parse a URL without one
        owner = find_in(owner, True, &url, &parts)
        if owner is None:
            return None
        end = parts.fragment - 1
        if parts.query == parts.query_end or parts.params and PyUnicode_READ(url.width, <void *>url.data,
                                                                             parts.path_end - 1) == c';':
            return None
        scheme = "" if parts.scheme_end < 0 else lower_scheme(&url, parts.scheme_end)
        if scheme and as_given(&url, scheme) != piece(&url, 0, parts.scheme_end):
            return None
        if parts.netloc == parts.path:      # "//" and nothing
            if not scheme or not in_list(scheme, "uses_netloc") or starts_with_slashes(&url, parts.path, parts.end):
                return None
        elif parts.netloc < 0 and scheme and in_list(scheme, "uses_netloc"):
            return None
    result = UC_NEW_TUPLE(defrag_result_bytes if url.form == BYTES else defrag_result, 2)
    set_item(result, 0, given if parts.fragment < 0 else piece(&url, 0, end))
    set_item(result, 1, piece(&url, parts.fragment, url.size))
    return finished(result)


cdef inline bint has_fragment(const Url *url) except -1:
    if url.width == 1:
        return memchr(url.data, c'#', <size_t>url.size) != NULL
    return PyUnicode_FindChar(<object>url.owner, c'#', 0, url.size, 1) >= 0


cdef inline bint starts_with_slashes(const Url *url, Py_ssize_t start, Py_ssize_t end) noexcept:
    return (end - start >= 2 and PyUnicode_READ(url.width, <void *>url.data, start) == c'/'
            and PyUnicode_READ(url.width, <void *>url.data, start + 1) == c'/')


# --- urljoin ------------------------------------------------------------------------------------------------------------

cdef struct Segment:
    const uint8_t *data
    Py_ssize_t size

cdef enum:
    MANY_SEGMENTS = 128     # the stdlib resolves longer paths


cdef Py_ssize_t cut(const uint8_t *path, Py_ssize_t n, Segment *segments, Py_ssize_t count) noexcept:
    """Append the segments of a path to `segments`. Return the new count; -1 for more than MANY_SEGMENTS."""
    cdef const uint8_t *end = path + n
    cdef const uint8_t *stop
    while True:
        if count == MANY_SEGMENTS:
            return -1
        stop = <const uint8_t *>memchr(path, c'/', end - path)
        segments[count].data = path
        segments[count].size = (end if stop == NULL else stop) - path
        count += 1
        if stop == NULL:
            return count
        path = stop + 1


cdef inline int dots(const Segment *segment) noexcept:
    """Return 1 for ".", 2 for "..", 0 for any other segment."""
    if segment.size == 1 and segment.data[0] == c'.':
        return 1
    return 2 if segment.size == 2 and segment.data[0] == c'.' and segment.data[1] == c'.' else 0


cdef uint8_t *merge(uint8_t *dst, const uint8_t *base, Py_ssize_t base_size, const uint8_t *path, Py_ssize_t size) noexcept:
    """Write a path resolved against a base path, as urljoin does. Return its end; NULL for too many segments."""
    cdef Segment segments[MANY_SEGMENTS]
    cdef Py_ssize_t count = 0, kept = 0, i
    cdef bint absolute = path[0] == c'/'
    if not absolute:
        count = cut(base, base_size, segments, 0)
        if count < 0:
            return NULL
        if segments[count - 1].size:    # not a directory: does not take part
            count -= 1
    count = cut(path, size, segments, count)
    if count < 0:
        return NULL
    cdef int last = dots(&segments[count - 1])
    for i in range(count):
        if dots(&segments[i]) == 2:
            kept -= kept > 0
        elif dots(&segments[i]) == 0 and (absolute or segments[i].size or i == 0 or i == count - 1):
            segments[kept] = segments[i]
            kept += 1
    if last:                            # a relative directory ends in a slash
        segments[kept].size = 0
        segments[kept].data = path
        kept += 1
    cdef uint8_t *start = dst
    for i in range(kept):
        if i:
            dst = append_bytes(dst, b"/", 1)
        dst = append_bytes(dst, segments[i].data, segments[i].size)
    return dst if dst != start else append_bytes(dst, b"/", 1)


cdef object join(object base, object url):
    """Return `url` resolved against `base`; None if the stdlib must resolve it."""
    cdef object given_base = usable_url(base), given_url = usable_url(url), clean_base, clean_url, result
    if given_base is None or given_url is None:
        return None
    if is_empty(given_base):
        return url          # the object itself, whatever the other one is
    if is_empty(given_url):
        return base
    result = join_usable(given_base, given_url, url)
    if result is None:
        clean_base, clean_url = cleaned(given_base), cleaned(given_url)
        if clean_base is not given_base or clean_url is not given_url:
            result = join_usable(clean_base, clean_url, url)
    return result


cdef object join_usable(object base, object reference, object given):
    cdef Url b, u
    if not read(base, &b) or not read(reference, &u) or (b.form == BYTES) != (u.form == BYTES):
        return None
    if b.form == TEXT or u.form == TEXT:
        return join_text(base, &b, reference, &u, given)
    return join_bytes(&b, &u, given)


cdef inline bint is_empty(object given) noexcept:
    return not PyBytes_GET_SIZE(given) if type(given) is bytes else not PyUnicode_GET_LENGTH(given)


cdef object join_text(object base, Url *b, object reference, Url *u, object given):
    """Do what join_bytes() does for two str of which one is not ASCII."""
    cdef uint8_t base_buffer[UTF8_CAPACITY]
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes base_source, source
    base_source.heap = source.heap = NULL
    try:
        if not utf8_of(<str>base, &base_source, base_buffer) or not utf8_of(<str>reference, &source, buffer):
            return None
        b.data, b.size, b.width, b.form = base_source.data, <Py_ssize_t>base_source.size, 1, UTF8_TEXT
        u.data, u.size, u.width, u.form = source.data, <Py_ssize_t>source.size, 1, UTF8_TEXT
        return join_bytes(b, u, given)
    finally:
        release(&base_source)
        release(&source)


cdef object join_bytes(const Url *base, const Url *url, object given):
    """Return `url` resolved against `base`; None if the stdlib must resolve it. `given` is the argument of urljoin."""
    cdef UrlPieces b, u
    cdef uint8_t buffer[1024]
    cdef uint8_t *out = buffer
    cdef uint8_t *heap = NULL
    cdef str scheme
    cdef Py_ssize_t size
    if not find(base, True, &b) or not find(url, True, &u):
        return None
    if u.netloc < 0 and u.path == u.end:
        return None                     # nothing, or nothing but a scheme
    if not KEEPS_EMPTY:
        if b.query == b.query_end:
            b.query = -1
        if u.query == u.query_end:
            u.query = -1
        if u.fragment == u.end:
            u.fragment = -1
    scheme = "" if b.scheme_end < 0 else lower_scheme(base, b.scheme_end)
    if u.scheme_end >= 0 and lower_scheme(url, u.scheme_end) != scheme:
        return same_url(url, given)
    if not in_list(scheme, "uses_relative"):
        return same_url(url, given) if scheme else None
    if not in_list(scheme, "uses_netloc"):
        return None
    if u.netloc == u.path or u.netloc < 0 and (b.netloc == b.path or b.netloc < 0 and scheme):
        return None                     # an empty authority, or none where there should be one
    size = base.size + url.size + 8
    if size > <Py_ssize_t>sizeof(buffer):
        out = heap = allocate(size)
    try:
        size = join_parts(scheme, base, &b, url, &u, out)
        if size < 0:
            return None
        if url.form == BYTES:
            return PyBytes_FromStringAndSize(<char *>out, size)
        return ascii_text(out, <size_t>size) if url.form == ASCII_TEXT else utf8_text(out, <size_t>size, NULL)
    finally:
        PyMem_RawFree(heap)


cdef object same_url(const Url *url, object given):
    """Return a URL that resolving does not change, as the stdlib does: the same str, but a new bytes object."""
    return bytes(given) if url.form == BYTES else given


cdef Py_ssize_t join_parts(str scheme, const Url *base_url, UrlPieces *b, const Url *reference, UrlPieces *u,
                           uint8_t *out) except -2:
    """Write the URL that two URLs of one scheme make. Return its size; -1 if the stdlib must resolve it."""
    cdef const uint8_t *base = <const uint8_t *>base_url.data
    cdef const uint8_t *url = <const uint8_t *>reference.data
    cdef uint8_t *dst = out
    cdef uint8_t *slash
    cdef uint8_t *path
    cdef bint netloc = u.netloc >= 0 or b.netloc >= 0
    # Where the path ends and its parameters begin, those with their ";", where they do not belong to it.
    cdef Py_ssize_t base_end = b.path_end, url_end = u.path_end, params
    if PARAMS_APART and (b.params or u.params) and in_list(scheme, "uses_params"):
        params = find_params(reference, u.path, u.path_end)
        if params >= 0:
            url_end = params - 1
            if params == u.path_end:
                u.path_end = url_end        # empty: lost
        params = find_params(base_url, b.path, b.path_end)
        if params >= 0:
            base_end = params - 1
            if params == b.path_end:
                b.path_end = base_end
    if scheme:
        dst = append_bytes(append_bytes(dst, PyUnicode_DATA(scheme), len(scheme)), b":", 1)
    if netloc:
        dst = append_bytes(dst, b"//", 2)
        if u.netloc >= 0:
            dst = append_bytes(dst, url + u.netloc, u.path - u.netloc)
        else:
            dst = append_bytes(dst, base + b.netloc, b.path - b.netloc)
    if u.netloc >= 0:
        dst = append_bytes(dst, url + u.path, u.path_end - u.path)
    elif u.path == u.path_end:
        dst = append_bytes(dst, base + b.path, b.path_end - b.path)
        if u.query < 0 and b.query >= 0:
            dst = append_bytes(dst, base + b.query - 1, b.query_end - b.query + 1)
    else:
        slash, path = dst, dst + 1      # a slash may have to go before it
        dst = merge(path, base + b.path, base_end - b.path, url + u.path, url_end - u.path)
        if dst == NULL or not netloc and dst - path >= 2 and path[0] == c'/' and path[1] == c'/':
            return -1
        if netloc and path[0] != c'/':
            slash[0] = c'/'
        else:
            memmove(slash, path, dst - path)
            dst -= 1
        dst = append_bytes(dst, url + url_end, u.path_end - url_end)
    if u.query >= 0:
        dst = append_bytes(dst, url + u.query - 1, u.query_end - u.query + 1)
    if u.fragment >= 0:
        dst = append_bytes(dst, url + u.fragment - 1, u.end - u.fragment + 1)
    return dst - out


# --- the public functions -----------------------------------------------------------------------------------------------

# Signatures are the running interpreter's.
if KNOWS_MISSING:  # pragma: no cover: another Python
    def urlunsplit(components, *, keep_empty=UNSPECIFIED):
        url = unsplit_plain(components, 5) if keep_empty is UNSPECIFIED else None
        if url is not None:
            return url
        return stdlib().urlunsplit(components, keep_empty=keep_empty)

    def urlunparse(components, *, keep_empty=UNSPECIFIED):
        url = unsplit_plain(components, 6) if keep_empty is UNSPECIFIED else None
        if url is not None:
            return url
        return stdlib().urlunparse(components, keep_empty=keep_empty)

    def urldefrag(url, *, missing_as_none=False):
        result = defrag(url) if missing_as_none is False else None
        if result is not None:
            return result
        return stdlib().urldefrag(url, missing_as_none=missing_as_none)
else:  # pragma: no cover: another Python
    def urlunsplit(components):
        url = unsplit_plain(components, 5)
        if url is not None:
            return url
        return stdlib().urlunsplit(components)

    def urlunparse(components):
        url = unsplit_plain(components, 6)
        if url is not None:
            return url
        return stdlib().urlunparse(components)

    def urldefrag(url):
        result = defrag(url)
        if result is not None:
            return result
        return stdlib().urldefrag(url)


def urljoin(base, url, allow_fragments=True):
    """Resolve a reference against a base URL: urllib.parse.urljoin.

    Args:
        base (str | bytes): The URL of the document.
        url (str | bytes): The reference in it, of the same type.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        str | bytes: Of the type that came in.

    Raises:
        ValueError, TypeError, AttributeError: As urllib.parse.urljoin.

    Source: urllib.parse; RFC 3986 section 5, from which it differs for some schemes and empty components.

    >>> urljoin("http://example.com/a/b/c", "../d?e")
    'http://example.com/a/d?e'
    """
    if allow_fragments is True or type(allow_fragments) is int and allow_fragments:
        result = join(base, url)
        if result is not None:
            return result
    return stdlib().urljoin(base, url, allow_fragments)


urlunsplit.__doc__ = """Put a URL together from scheme, netloc, path, query and fragment: urllib.parse.urlunsplit.

    Args:
        components (Iterable[str] | Iterable[bytes]): The five components, or a result of urlsplit.

    Returns:
        str | bytes: Of the type of the components.

    Raises:
        ValueError, TypeError, AttributeError, IndexError: As urllib.parse.urlunsplit.

    Source: urllib.parse.

    >>> urlunsplit(("http", "example.com", "a", "q=1", ""))
    'http://example.com/a?q=1'
    """
urlunparse.__doc__ = """Put a URL together from the result of urlparse: urllib.parse.urlunparse.

    Args:
        components (Iterable[str] | Iterable[bytes]): scheme, netloc, path, params, query and fragment.

    Returns:
        str | bytes: Of the type of the components.

    Raises:
        ValueError, TypeError, AttributeError, IndexError: As urllib.parse.urlunparse.

    Source: urllib.parse.

    >>> urlunparse(("http", "example.com", "/a", "b", "q=1", ""))
    'http://example.com/a;b?q=1'
    """
urldefrag.__doc__ = """Remove the fragment from a URL: urllib.parse.urldefrag.

    Args:
        url (str | bytes): The URL.

    Returns:
        urllib.parse.DefragResult | DefragResultBytes: The URL without it, and the fragment.

    Raises:
        ValueError, TypeError, AttributeError: As urllib.parse.urldefrag.

    Source: urllib.parse.

    >>> urldefrag("http://example.com/a#b").fragment
    'b'
    """

for function in urlunsplit, urlunparse, urldefrag, urljoin:
    function.__module__ = "uricodec.parse"
del function
