"""URLs put together: urllib.parse's urlunsplit, urlunparse, urldefrag and urljoin.

The fast paths cover what all Python versions do alike; the cases in which they differ (empty components, parameters, a
path that looks like an authority), what is no plain str, and every error, are the stdlib's own functions.
"""
from libc.string cimport memchr, memmove

from uricodec.parse._quote cimport stdlib
from uricodec.parse._split cimport Parts, find, finished, in_list, lower_scheme, piece, set_item
from uricodec._base._text cimport *
from uricodec.parse._split import KNOWS_MISSING as _KNOWS_MISSING


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_CopyCharacters(object to, Py_ssize_t to_start, object source, Py_ssize_t start, Py_ssize_t n) except -1
    Py_ssize_t PyUnicode_FindChar(object, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    Py_UCS4 PyUnicode_MAX_CHAR_VALUE(object) noexcept


cdef bint KNOWS_MISSING = _KNOWS_MISSING
# Since 3.14 urljoin leaves a "?" or "#" that nothing follows; before, such a component counts as undefined.
cdef bint KEEPS_EMPTY = stdlib().urljoin("http://a/b", "#") == "http://a/b#"
cdef object UNSPECIFIED = getattr(stdlib().module, "_UNSPECIFIED", None)
cdef object split_result = stdlib().module.SplitResult
cdef object parse_result = stdlib().module.ParseResult
cdef object defrag_result = stdlib().module.DefragResult


# --- urlunsplit, urlunparse, urldefrag ----------------------------------------------------------------------------------

cdef Py_ssize_t copy(str url, Py_ssize_t at, str text) except -1:
    """Writes a piece of a URL at its place; returns where the next one goes."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    if PyUnicode_IS_ASCII(url):
        memcpy(<uint8_t *>PyUnicode_DATA(url) + at, PyUnicode_DATA(text), n)
    else:
        PyUnicode_CopyCharacters(url, at, text, 0, n)
    return at + n


cdef object unsplit(str scheme, str netloc, str path, str params, str query, str fragment):
    """The URL of these components; None where Python versions differ."""
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


cdef object unsplit_plain(object components, object result_type, Py_ssize_t count):
    """The URL of a tuple, a list or a result of the stdlib's, if all components are plain str; None otherwise."""
    cdef tuple items
    if type(components) is result_type:
        if KNOWS_MISSING and getattr(components, "_keep_empty", False) is not False:
            return None  # pragma: no cover: another Python
        items = <tuple>components
    elif type(components) is tuple or type(components) is list:
        items = tuple(components)
    else:
        return None
    if len(items) != count:
        return None
    for item in items:
        if type(item) is not str:
            return None
    if count == 5:
        return unsplit(<str>items[0], <str>items[1], <str>items[2], "", <str>items[3], <str>items[4])
    return unsplit(<str>items[0], <str>items[1], <str>items[2], <str>items[3], <str>items[4], <str>items[5])


cdef object defrag(str url):
    """The URL and its fragment; None where the URL would change otherwise."""
    cdef Parts parts
    cdef object result
    cdef Py_ssize_t end
    PyUnicode_READY(url)
    end = PyUnicode_GET_LENGTH(url)
    parts.fragment = -1
    if PyUnicode_FindChar(url, c'#', 0, end, 1) >= 0:   # otherwise the stdlib does not look at a URL at all
        if not find(url, True, &parts):
            return None
        end = parts.fragment - 1
        if parts.params or parts.query == parts.query_end:
            return None
        scheme = "" if parts.scheme_end < 0 else PyUnicode_Substring(url, 0, parts.scheme_end)
        if scheme != scheme.lower():
            return None
        if parts.netloc == parts.path:      # "//" and nothing
            if not in_list(scheme, "uses_netloc") or not scheme or url.startswith("//", parts.path):
                return None
        elif parts.netloc < 0 and scheme and in_list(scheme, "uses_netloc"):
            return None
    result = UC_NEW_TUPLE(defrag_result, 2)
    set_item(result, 0, url if parts.fragment < 0 else piece(url, 0, end))
    set_item(result, 1, piece(url, parts.fragment, PyUnicode_GET_LENGTH(url)))
    return finished(result)


# --- urljoin ------------------------------------------------------------------------------------------------------------

cdef struct Segment:
    const uint8_t *data
    Py_ssize_t size

cdef enum:
    MANY_SEGMENTS = 128     # a path with more is for the stdlib


cdef Py_ssize_t cut(const uint8_t *path, Py_ssize_t n, Segment *segments, Py_ssize_t count) noexcept:
    """Appends the segments of a path: what is between slashes. Returns how many there are then, or -1 for too many."""
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
    """1 for ".", 2 for "..", 0 for any other segment."""
    if segment.size == 1 and segment.data[0] == c'.':
        return 1
    return 2 if segment.size == 2 and segment.data[0] == c'.' and segment.data[1] == c'.' else 0


cdef uint8_t *put(uint8_t *dst, const void *src, Py_ssize_t n) noexcept:
    memcpy(dst, src, n)
    return dst + n


cdef uint8_t *merge(uint8_t *dst, const uint8_t *base, Py_ssize_t base_size, const uint8_t *path, Py_ssize_t size) noexcept:
    """Writes the path that a relative path means beside a base path, as urljoin has it; NULL for too many segments."""
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
            dst = put(dst, b"/", 1)
        dst = put(dst, segments[i].data, segments[i].size)
    return dst if dst != start else put(dst, b"/", 1)


cdef object join(str base, str url):
    """The URL that `url` means beside `base`; None where Python versions differ, and for what is not plain ASCII."""
    cdef Parts b, u
    cdef uint8_t room[1024]
    cdef uint8_t *out = room
    cdef uint8_t *heap = NULL
    cdef const uint8_t *base_data
    cdef const uint8_t *url_data
    cdef str scheme
    cdef Py_ssize_t size
    PyUnicode_READY(base)
    PyUnicode_READY(url)
    if not (PyUnicode_IS_ASCII(base) and PyUnicode_IS_ASCII(url) and find(base, True, &b) and find(url, True, &u)):
        return None
    if u.netloc < 0 and u.path == u.end:
        return None                     # nothing, or nothing but a scheme
    if u.params or b.params and (u.path == u.path_end or b.netloc < 0):
        return None                     # parameters belong to the path or not: "..;a", ";a", "a;"
    if not KEEPS_EMPTY:
        if b.query == b.query_end:
            b.query = -1
        if u.query == u.query_end:
            u.query = -1
        if u.fragment == u.end:
            u.fragment = -1
    scheme = "" if b.scheme_end < 0 else lower_scheme(base, b.scheme_end)
    if u.scheme_end >= 0 and lower_scheme(url, u.scheme_end) != scheme:
        return url
    if not in_list(scheme, "uses_relative"):
        return url if scheme else None
    if not in_list(scheme, "uses_netloc"):
        return None
    if u.netloc == u.path or u.netloc < 0 and (b.netloc == b.path or b.netloc < 0 and scheme):
        return None                     # an empty authority, or none where there should be one
    size = len(base) + len(url) + 8
    if size > <Py_ssize_t>sizeof(room):
        out = heap = allocate(size)
    try:
        base_data, url_data = <const uint8_t *>PyUnicode_DATA(base), <const uint8_t *>PyUnicode_DATA(url)
        return join_parts(scheme, base_data, &b, url_data, &u, out)
    finally:
        PyMem_RawFree(heap)


cdef object join_parts(str scheme, const uint8_t *base, const Parts *b, const uint8_t *url, const Parts *u, uint8_t *out):
    cdef uint8_t *dst = out
    cdef uint8_t *slash
    cdef uint8_t *path
    cdef bint netloc = u.netloc >= 0 or b.netloc >= 0
    if scheme:
        dst = put(put(dst, PyUnicode_DATA(scheme), len(scheme)), b":", 1)
    if netloc:
        dst = put(dst, b"//", 2)
        if u.netloc >= 0:
            dst = put(dst, url + u.netloc, u.path - u.netloc)
        else:
            dst = put(dst, base + b.netloc, b.path - b.netloc)
    if u.netloc >= 0:
        dst = put(dst, url + u.path, u.path_end - u.path)
    elif u.path == u.path_end:
        dst = put(dst, base + b.path, b.path_end - b.path)
        if u.query < 0 and b.query >= 0:
            dst = put(dst, base + b.query - 1, b.query_end - b.query + 1)
    else:
        slash, path = dst, dst + 1      # a slash may have to go before it
        dst = merge(path, base + b.path, b.path_end - b.path, url + u.path, u.path_end - u.path)
        if dst == NULL or not netloc and dst - path >= 2 and path[0] == c'/' and path[1] == c'/':
            return None
        if netloc and path[0] != c'/':
            slash[0] = c'/'
        else:
            memmove(slash, path, dst - path)
            dst -= 1
    if u.query >= 0:
        dst = put(dst, url + u.query - 1, u.query_end - u.query + 1)
    if u.fragment >= 0:
        dst = put(dst, url + u.fragment - 1, u.end - u.fragment + 1)
    return ascii_text(out, dst - out)


# --- the public functions -----------------------------------------------------------------------------------------------

# Signatures are the running interpreter's.
if KNOWS_MISSING:  # pragma: no cover: another Python
    def urlunsplit(components, *, keep_empty=UNSPECIFIED):
        url = unsplit_plain(components, split_result, 5) if keep_empty is UNSPECIFIED else None
        if url is not None:
            return url
        return stdlib().urlunsplit(components, keep_empty=keep_empty)

    def urlunparse(components, *, keep_empty=UNSPECIFIED):
        url = unsplit_plain(components, parse_result, 6) if keep_empty is UNSPECIFIED else None
        if url is not None:
            return url
        return stdlib().urlunparse(components, keep_empty=keep_empty)

    def urldefrag(url, *, missing_as_none=False):
        result = defrag(<str>url) if type(url) is str and missing_as_none is False else None
        if result is not None:
            return result
        return stdlib().urldefrag(url, missing_as_none=missing_as_none)
else:  # pragma: no cover: another Python
    def urlunsplit(components):
        url = unsplit_plain(components, split_result, 5)
        if url is not None:
            return url
        return stdlib().urlunsplit(components)

    def urlunparse(components):
        url = unsplit_plain(components, parse_result, 6)
        if url is not None:
            return url
        return stdlib().urlunparse(components)

    def urldefrag(url):
        result = defrag(<str>url) if type(url) is str else None
        if result is not None:
            return result
        return stdlib().urldefrag(url)


def urljoin(base, url, allow_fragments=True):
    """Resolve a reference beside a base URL: urllib.parse.urljoin.

    Args:
        base (str | bytes): The URL of the document.
        url (str | bytes): The reference in it, of the same type.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        str | bytes: Of the type that came in.

    Raises:
        ValueError, TypeError: As urllib.parse.urljoin.

    Source: urllib.parse; RFC 3986 section 5, from which it differs for some schemes and empty components.

    >>> urljoin("http://example.com/a/b/c", "../d?e")
    'http://example.com/a/d?e'
    """
    if type(base) is str and type(url) is str and allow_fragments is True:
        if not base:
            return url
        if not url:
            return base
        result = join(<str>base, <str>url)
        if result is not None:
            return result
    return stdlib().urljoin(base, url, allow_fragments)


urlunsplit.__doc__ = """Put a URL together from scheme, netloc, path, query and fragment: urllib.parse.urlunsplit.

    Args:
        components (Iterable[str] | Iterable[bytes]): The five, or what urlsplit gave.

    Returns:
        str | bytes: Of the type of the components.

    Raises:
        ValueError, TypeError: As urllib.parse.urlunsplit.

    Source: urllib.parse.

    >>> urlunsplit(("http", "example.com", "a", "q=1", ""))
    'http://example.com/a?q=1'
    """
urlunparse.__doc__ = """Put a URL together from what urlparse gives: urllib.parse.urlunparse.

    Args:
        components (Iterable[str] | Iterable[bytes]): scheme, netloc, path, params, query and fragment.

    Returns:
        str | bytes: Of the type of the components.

    Raises:
        ValueError, TypeError: As urllib.parse.urlunparse.

    Source: urllib.parse.

    >>> urlunparse(("http", "example.com", "/a", "b", "q=1", ""))
    'http://example.com/a;b?q=1'
    """
urldefrag.__doc__ = """Take the fragment off a URL: urllib.parse.urldefrag.

    Args:
        url (str | bytes): The URL.

    Returns:
        urllib.parse.DefragResult | DefragResultBytes: The URL without it, and the fragment.

    Raises:
        ValueError, TypeError: As urllib.parse.urldefrag.

    Source: urllib.parse.

    >>> urldefrag("http://example.com/a#b").fragment
    'b'
    """

for function in urlunsplit, urlunparse, urldefrag, urljoin:
    function.__module__ = "uricodec.parse"
del function
