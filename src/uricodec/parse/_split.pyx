"""URLs taken apart: urllib.parse's urlsplit and urlparse, and the positions that _join works with.

Like the stdlib, and unlike RFC 3986, they do not keep an empty component apart from an undefined one. The fast paths
take a str (no subclass) whose authority is ASCII without brackets, and in which nothing has to be stripped or removed;
the cases in which Python versions differ, everything else, and every error, are the stdlib's own functions.
"""
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.parse._quote cimport stdlib
from uricodec._base._text cimport *

from cpython.object cimport PyObject_SetAttr
from cpython.ref cimport Py_INCREF, Py_XDECREF


# --- the components of a URL, as positions ----------------------------------------------------------------------------

cdef enum Kind:     # of ASCII characters, as far as the scheme and the authority care
    OTHER, LETTER, SCHEME, COLON, DELIMITER, UNUSUAL

cdef uint8_t kinds[128]
cdef int code
for code in range(128):
    kinds[code] = OTHER
    if chr(code).isalpha():
        kinds[code] = LETTER
    elif chr(code) in "0123456789+-.":
        kinds[code] = SCHEME
kinds[c':'] = COLON
kinds[c'/'] = kinds[c'?'] = kinds[c'#'] = DELIMITER
# Removed from a URL, or the sign of an IP literal.
kinds[c'\t'] = kinds[c'\r'] = kinds[c'\n'] = kinds[c'['] = kinds[c']'] = UNUSUAL

# Where a scan of the path, of the query and of the fragment stops: at its delimiter, and at what is removed.
cdef ByteSet IN_PATH = ~ByteSet("?#;\t\r\n")
cdef ByteSet IN_QUERY = ~ByteSet("#\t\r\n")
cdef ByteSet IN_FRAGMENT = ~ByteSet("\t\r\n")


cdef inline Py_ssize_t next_stop(const code_unit *s, Py_ssize_t start, Py_ssize_t n, ByteSet octets) noexcept:
    """Position of the first character, from `start` on, that is ASCII and not in the set."""
    if code_unit is uint8_t:
        return start + <Py_ssize_t>kernels.span(s + start, <size_t>(n - start), &octets.set)
    else:
        while start < n and (s[start] > 127 or octets.set.member[s[start]]):
            start += 1
        return start


cdef bint find_parts(const code_unit *s, Py_ssize_t n, bint fragments, Parts *parts) noexcept:
    """False if the URL is for the stdlib."""
    cdef Py_ssize_t i = 0
    cdef uint8_t kind
    parts.scheme_end = parts.netloc = parts.query = parts.fragment = -1
    parts.params = False
    if n and s[0] <= c' ':          # would be stripped
        return False

    # scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    while i < n and s[i] < 128 and (kinds[s[i]] == LETTER or kinds[s[i]] == SCHEME):
        i += 1
    if 0 < i < n and s[i] == c':':
        if s[0] > 127 or kinds[s[0]] != LETTER:
            return False            # a scheme in 3.10, none later
        parts.scheme_end = i
        i += 1
    else:
        i = 0

    # "//" authority
    if n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        i += 2
        parts.netloc = i
        while i < n:
            if s[i] > 127:
                return False        # the stdlib checks what NFKC would make of it
            kind = kinds[s[i]]
            if kind == DELIMITER:
                break
            if kind == UNUSUAL:
                return False
            i += 1
    parts.path = i

    i = next_stop(s, i, n, IN_PATH)
    while i < n and (s[i] == c';' or s[i] == c'#' and not fragments):
        parts.params |= s[i] == c';'
        i = next_stop(s, i + 1, n, IN_PATH)
    parts.path_end = i
    if i < n and s[i] == c'?':
        i += 1
        parts.query = i
        i = next_stop(s, i, n, IN_QUERY if fragments else IN_FRAGMENT)
    parts.query_end = i
    if i < n and s[i] == c'#':
        i += 1
        parts.fragment = i
        i = next_stop(s, i, n, IN_FRAGMENT)
    parts.end = i
    return i == n


cdef bint find(str url, bint fragments, Parts *parts):
    cdef int kind
    cdef void *data
    cdef Py_ssize_t n
    PyUnicode_READY(url)
    kind, data, n = PyUnicode_KIND(url), PyUnicode_DATA(url), PyUnicode_GET_LENGTH(url)
    if kind == 1:
        return find_parts(<const uint8_t *>data, n, fragments, parts)
    if kind == 2:
        return find_parts(<const uint16_t *>data, n, fragments, parts)
    return find_parts(<const uint32_t *>data, n, fragments, parts)


# The schemes of nearly all URLs, to be shared instead of made anew.
cdef str HTTPS = "https"
cdef str HTTP = "http"


cdef str lower_scheme(str url, Py_ssize_t n):
    """The scheme of a URL, its first n characters (all ASCII)."""
    cdef str scheme
    if PyUnicode_KIND(url) == 1:
        if n == 5 and memcmp(PyUnicode_DATA(url), b"https", 5) == 0:
            return HTTPS
        if n == 4 and memcmp(PyUnicode_DATA(url), b"http", 4) == 0:
            return HTTP
    scheme = PyUnicode_Substring(url, 0, n)
    return scheme if scheme.islower() else scheme.lower()


# --- results ------------------------------------------------------------------------------------------------------------

# The stdlib's own classes, so that isinstance and pickle know no difference.
cdef object split_result = stdlib().module.SplitResult
cdef object parse_result = stdlib().module.ParseResult

# Since 3.15 a result knows whether its undefined components are None, and functions have an argument for it.
KNOWS_MISSING = "missing_as_none" in (stdlib().urldefrag.__kwdefaults__ or ())


cdef object finished(object result):
    UC_FORGET_HASH(result)
    if KNOWS_MISSING:
        PyObject_SetAttr(result, "_keep_empty", False)  # pragma: no cover: another Python
    return result


cdef object make_split(str url, const Parts *parts):
    cdef object result = UC_NEW_TUPLE(split_result, 5)
    set_item(result, 0, "" if parts.scheme_end < 0 else lower_scheme(url, parts.scheme_end))
    set_item(result, 1, piece(url, parts.netloc, parts.path))
    set_item(result, 2, piece(url, parts.path, parts.path_end))
    set_item(result, 3, piece(url, parts.query, parts.query_end))
    set_item(result, 4, piece(url, parts.fragment, parts.end))
    return finished(result)


# --- urlsplit, urlparse -------------------------------------------------------------------------------------------------

# Results of recent calls of urlsplit. The last one is kept as it is. A few octets and the length of a URL choose a place
# for it in a table, which it gets when it comes a second time, in the stead of what is there: the size is bounded,
# nothing has to be kept in order, and a stream of URLs that do not come back costs next to nothing.
cdef enum:
    PLACES = 128
    LONGEST = 1024      # octets of a URL that is kept
cdef PyObject *kept_urls[PLACES + 1]        # a str, or NULL
cdef PyObject *kept_results[PLACES + 1]
cdef uint32_t seen[PLACES]
cdef Py_ssize_t hits = 0, misses = 0


# All of that is read and written by one thread at a time. While it has the lock a thread does nothing that may wait, not
# even for the end of an object, so that the two halves of a place always belong together.
cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    static PyMutex uc_kept_lock;
    #define UC_LOCK_KEPT() PyMutex_Lock(&uc_kept_lock)
    #define UC_UNLOCK_KEPT() PyMutex_Unlock(&uc_kept_lock)
    #else
    #define UC_LOCK_KEPT() ((void)0)
    #define UC_UNLOCK_KEPT() ((void)0)
    #endif
    """
    void lock_kept "UC_LOCK_KEPT"() noexcept
    void unlock_kept "UC_UNLOCK_KEPT"() noexcept


cdef inline uint64_t mix(const uint8_t *s, size_t n) noexcept:
    """A hash of a few octets of a URL of at least 8: the first bits choose its place, others say if it was seen."""
    cdef uint64_t middle, last
    memcpy(&middle, s + (n - 8) // 2, 8)
    memcpy(&last, s + n - 8, 8)
    return ((middle * 3 ^ last) + n) * <uint64_t>0x9E3779B97F4A7C15


cdef inline bint is_kept(Py_ssize_t i, str url) noexcept:
    cdef PyObject *kept = kept_urls[i]
    return kept == <PyObject *>url or (
        kept != NULL and PyUnicode_GET_LENGTH(<object>kept) == PyUnicode_GET_LENGTH(url)
        and memcmp(PyUnicode_DATA(<object>kept), PyUnicode_DATA(url), PyUnicode_GET_LENGTH(url)) == 0)


cdef inline void keep_at(Py_ssize_t i, str url, object result):
    """Lets go of what was there when the lock is free again, which the caller has."""
    cdef PyObject *url_before = kept_urls[i]
    cdef PyObject *result_before = kept_results[i]
    kept_urls[i] = <PyObject *>url
    kept_results[i] = <PyObject *>result
    unlock_kept()
    Py_XDECREF(url_before)
    Py_XDECREF(result_before)


cdef object split_kept(str url):
    """The result for a URL with all defaults, kept or made; None if that is the stdlib's work."""
    global hits, misses
    cdef Py_ssize_t n, kept, i = -1
    cdef uint64_t hash
    cdef object result
    cdef Parts parts
    PyUnicode_READY(url)
    n = PyUnicode_GET_LENGTH(url)
    if 8 <= n <= LONGEST and PyUnicode_IS_ASCII(url):
        hash = mix(<const uint8_t *>PyUnicode_DATA(url), <size_t>n)
        i = <Py_ssize_t>(hash >> 57)
        lock_kept()
        kept = PLACES if is_kept(PLACES, url) else i if seen[i] == <uint32_t>hash and is_kept(i, url) else -1
        if kept >= 0:
            hits += 1
            result = <object>kept_results[kept]
            unlock_kept()
            return result
        unlock_kept()
    if not find(url, True, &parts):
        return None
    result = make_split(url, &parts)
    if i >= 0:
        Py_INCREF(url)
        Py_INCREF(result)
        lock_kept()
        misses += 1
        if seen[i] != <uint32_t>hash:
            seen[i] = <uint32_t>hash
            i = PLACES
        keep_at(i, url, result)
    return result


def cache_clear():
    """Forget the results that urlsplit keeps."""
    global hits, misses
    cdef PyObject *urls[PLACES + 1]
    cdef PyObject *results[PLACES + 1]
    cdef Py_ssize_t i
    lock_kept()
    hits = misses = 0
    memcpy(urls, kept_urls, sizeof(urls))
    memcpy(results, kept_results, sizeof(results))
    memset(kept_urls, 0, sizeof(kept_urls))
    memset(kept_results, 0, sizeof(kept_results))
    memset(seen, 0, sizeof(seen))
    unlock_kept()
    for i in range(PLACES + 1):
        Py_XDECREF(urls[i])
        Py_XDECREF(results[i])
    if hasattr(stdlib().urlsplit, "cache_clear"):
        stdlib().urlsplit.cache_clear()


def cache_info():
    """What urlsplit keeps, here and in the stdlib's own function: hits, misses, maxsize, currsize."""
    cdef Py_ssize_t i, found, made, kept = 0
    info = stdlib().urlsplit.cache_info()
    lock_kept()
    found, made = hits, misses
    for i in range(PLACES + 1):
        kept += kept_urls[i] != NULL
    unlock_kept()
    return type(info)(info.hits + found, info.misses + made, info.maxsize + PLACES, info.currsize + kept)


cdef bint find_default(object url, object scheme, object default, object allow_fragments, Parts *parts) except -1:
    """find() for arguments as they usually are; False for any other."""
    return (type(url) is str and (scheme is default or type(scheme) is str and not scheme)
            and type(allow_fragments) is bool and find(<str>url, allow_fragments, parts))


cdef object split(object url, object scheme, object default, object allow_fragments):
    cdef Parts parts
    if type(url) is str and scheme is default and allow_fragments is True:
        return split_kept(<str>url)
    if find_default(url, scheme, default, allow_fragments, &parts):
        return make_split(<str>url, &parts)
    return None


cdef dict stdlib_names = stdlib().module.__dict__


cdef bint in_list(str scheme, str name) except -1:
    """Whether one of the stdlib's lists of schemes, which programs add to, has the scheme."""
    cdef object schemes = stdlib_names[name]
    cdef bint found = False
    if type(schemes) is list:
        with cython.critical_section(schemes):
            for each in <list>schemes:
                if each is scheme:      # nearly always: both are interned
                    found = True
                    break
        if found:
            return True
    return scheme in schemes


cdef object parse(object url, object scheme, object default, object allow_fragments):
    cdef Parts parts
    cdef object result
    cdef str text, own_scheme
    cdef Py_ssize_t path_end, params = -1
    if not find_default(url, scheme, default, allow_fragments, &parts):
        return None
    text = <str>url
    own_scheme = "" if parts.scheme_end < 0 else lower_scheme(text, parts.scheme_end)
    path_end = parts.path_end
    if parts.params and in_list(own_scheme, "uses_params"):
        # The parameters are those of the last segment.
        params = text.find(";", max(parts.path, text.rfind("/", parts.path, path_end)), path_end)
        if params >= 0:
            path_end = params
            params += 1
    result = UC_NEW_TUPLE(parse_result, 6)
    set_item(result, 0, own_scheme)
    set_item(result, 1, piece(text, parts.netloc, parts.path))
    set_item(result, 2, piece(text, parts.path, path_end))
    set_item(result, 3, piece(text, params, parts.path_end))
    set_item(result, 4, piece(text, parts.query, parts.query_end))
    set_item(result, 5, piece(text, parts.fragment, parts.end))
    return finished(result)


# Signatures are the running interpreter's. `default` is its default of `scheme`, with which nothing has to be checked.
if KNOWS_MISSING:  # pragma: no cover: another Python
    def urlsplit(url, scheme=None, allow_fragments=True, *, missing_as_none=False):
        result = split(url, scheme, None, allow_fragments) if missing_as_none is False else None
        if result is not None:
            return result
        return stdlib().urlsplit(url, scheme, allow_fragments, missing_as_none=missing_as_none)

    def urlparse(url, scheme=None, allow_fragments=True, *, missing_as_none=False):
        result = parse(url, scheme, None, allow_fragments) if missing_as_none is False else None
        if result is not None:
            return result
        return stdlib().urlparse(url, scheme, allow_fragments, missing_as_none=missing_as_none)
else:  # pragma: no cover: another Python
    def urlsplit(url, scheme='', allow_fragments=True):
        result = split(url, scheme, "", allow_fragments)
        if result is not None:
            return result
        return stdlib().urlsplit(url, scheme, allow_fragments)

    def urlparse(url, scheme='', allow_fragments=True):
        result = parse(url, scheme, "", allow_fragments)
        if result is not None:
            return result
        return stdlib().urlparse(url, scheme, allow_fragments)


urlsplit.__doc__ = """Take a URL apart into scheme, netloc, path, query and fragment: urllib.parse.urlsplit.

    Args:
        url (str | bytes): The URL.
        scheme (str | bytes): For a URL without one.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        urllib.parse.SplitResult | SplitResultBytes: A named 5-tuple; recent ones are kept and shared.

    Raises:
        ValueError, TypeError: As urllib.parse.urlsplit.

    Source: urllib.parse.

    >>> urlsplit("http://example.com/a;b?c#d").netloc
    'example.com'
    """
urlparse.__doc__ = """Take a URL apart into scheme, netloc, path, params, query and fragment: urllib.parse.urlparse.

    Args:
        url (str | bytes): The URL.
        scheme (str | bytes): For a URL without one.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        urllib.parse.ParseResult | ParseResultBytes: A named 6-tuple; params are those of the last segment of the path.

    Raises:
        ValueError, TypeError: As urllib.parse.urlparse.

    Source: urllib.parse.

    >>> urlparse("http://example.com/a;b?c#d").params
    'b'
    """

for function in urlsplit, urlparse:
    function.__module__ = "uricodec.parse"
del function
if hasattr(stdlib().urlsplit, "cache_info"):
    # What functools.lru_cache gives the stdlib's function.
    urlsplit.cache_clear, urlsplit.cache_info = cache_clear, cache_info
    urlsplit.cache_parameters, urlsplit.__wrapped__ = stdlib().urlsplit.cache_parameters, stdlib().urlsplit.__wrapped__
