# distutils: extra_compile_args=-O2
"""Split URLs into components: urllib.parse's urlsplit and urlparse, and the offsets that _join uses.

Like the stdlib, and unlike RFC 3986, they do not keep an empty component apart from an undefined one. The fast paths
take str and bytes, as `_arguments` defines them (bytes stay bytes), in which nothing is to be stripped and whose host all
Python versions accept. The stdlib handles everything else, and raises all errors.

Then the attributes of the stdlib's result classes, as `uricodec.install()` replaces them. A compiled attribute is for the
stdlib's own four classes with a netloc of plain str or bytes; for a subclass, which may override methods, and for every
error, it calls the function that it replaces.
"""
cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memset

from uricodec._base._kernels cimport ASCII_BYTES, ByteSet, kernels
from uricodec._url._addresses cimport GROUPS, is_ipvfuture, parse_ipv6
from uricodec.parse._arguments cimport *
from uricodec._base._text cimport *


# --- what is a URL ------------------------------------------------------------------------------------------------------


cdef inline void read_text(object given, Url *url):
    PyUnicode_READY(given)
    url.owner = <PyObject *>given
    url.form = ASCII_TEXT if PyUnicode_IS_ASCII(given) else TEXT
    url.data, url.size, url.width = PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given), PyUnicode_KIND(given)


cdef bint read(object given, Url *url):
    """Point `url` at the result of usable_url(). Return False for bytes that are not ASCII; the stdlib raises for them."""
    url.owner = <PyObject *>given
    if type(given) is bytes:
        url.form, url.width = BYTES, 1
        url.data, url.size = PyBytes_AS_STRING(given), PyBytes_GET_SIZE(given)
        return kernels.span(<const uint8_t *>url.data, <size_t>url.size, &ASCII_BYTES.set) == <size_t>url.size
    read_text(given, url)
    return True


# --- the components of a URL, as positions ----------------------------------------------------------------------------

cdef enum AsciiKind:     # of ASCII characters, as far as the scheme and the authority care
    ANY, LETTER, SCHEME, COLON, DELIMITER, BRACKET, UNUSUAL

cdef uint8_t kinds[128]
cdef int code
for code in range(128):
    kinds[code] = ANY
    if chr(code).isalpha():
        kinds[code] = LETTER
    elif chr(code) in "0123456789+-.":
        kinds[code] = SCHEME
kinds[c':'] = COLON
kinds[c'/'] = kinds[c'?'] = kinds[c'#'] = DELIMITER
kinds[c'['] = kinds[c']'] = BRACKET     # the sign of an IP literal
kinds[c'\t'] = kinds[c'\r'] = kinds[c'\n'] = UNUSUAL     # removed from a URL

# Where a scan of the path, of the query and of the fragment stops: at its delimiter, and at what is removed.
cdef ByteSet IN_PATH = ~ByteSet("?#;\t\r\n")
cdef ByteSet IN_QUERY = ~ByteSet("#\t\r\n")
cdef ByteSet IN_FRAGMENT = ~ByteSet("\t\r\n")


ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t


cdef inline Py_ssize_t next_stop(const code_unit *s, Py_ssize_t start, Py_ssize_t n, ByteSet passed) noexcept:
    """Return the offset of the first character, from `start` on, that is ASCII and not in the set; `n` if there is none."""
    if code_unit is uint8_t:
        return start + <Py_ssize_t>kernels.span(s + start, <size_t>(n - start), &passed.set)
    else:
        while start < n and (s[start] > 127 or passed.set.member[s[start]]):
            start += 1
        return start


cdef bint find_parts(const code_unit *s, Py_ssize_t n, bint fragments, UrlPieces *parts) noexcept:
    """Find the components of a URL. Return False if the stdlib must split it."""
    cdef Py_ssize_t i = 0
    cdef uint8_t kind
    cdef bint brackets = False, beyond = False
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
                beyond = True
                i += 1
                continue
            kind = kinds[s[i]]
            if kind >= DELIMITER:
                if kind == DELIMITER:
                    break
                if kind == UNUSUAL:
                    return False
                brackets = True
            i += 1
    parts.brackets, parts.beyond = brackets, beyond
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


# What NFKC makes of a character, as far as a netloc cares: 0 if it is not known yet. Characters do not change.
cdef enum:
    HARMLESS = 1
    DELIMITS = 2        # it becomes, or contains, a delimiter
cdef uint8_t verdicts[1 << 16]
cdef object normalize = None


cdef uint8_t verdict_of(Py_UCS4 c) except 0:
    global normalize
    if normalize is None:
        from unicodedata import normalize
    cdef uint8_t verdict = HARMLESS
    cdef Py_UCS4 normal
    for normal in <str>normalize("NFKC", chr(c)):
        if normal == c'/' or normal == c'?' or normal == c'#' or normal == c'@' or normal == c':':
            verdict = DELIMITS
    if c < 1 << 16:
        verdicts[c] = verdict
    return verdict


cdef bint is_harmless(str netloc) except -1:
    """Return whether NFKC, which IDNA uses, adds no delimiter to a netloc. It composes none: each character is checked alone."""
    cdef Py_UCS4 c
    cdef uint8_t verdict
    for c in netloc:
        if c > 127:
            verdict = verdicts[c] if c < 1 << 16 else 0
            if (verdict if verdict else verdict_of(c)) != HARMLESS:
                return False
    return True


cdef bint is_ipv6(const uint8_t *s, size_t n) noexcept:
    """Return whether a text is an IPv6 address that `ipaddress` accepts, with or without a zone (RFC 4291 section 2.2)."""
    cdef uint16_t groups[GROUPS]
    cdef const uint8_t *zone = <const uint8_t *>memchr(s, c'%', n)
    if zone == NULL:
        return parse_ipv6(s, n, groups)
    n -= zone + 1 - s
    return n and memchr(zone + 1, c'%', n) == NULL and parse_ipv6(s, zone - s, groups)


cdef bint is_literal(const uint8_t *s, Py_ssize_t n) noexcept:
    """Return whether all versions accept a netloc with brackets: userinfo without brackets, "[", an address, "]", a port."""
    cdef Py_ssize_t i = n, end
    while i and s[i - 1] != c'@':
        i -= 1
    if memchr(s, c'[', i) != NULL or memchr(s, c']', i) != NULL or i == n or s[i] != c'[':
        return False
    i += 1
    end = i
    while end < n and s[end] != c']':
        end += 1
    if end == n or end + 1 < n and s[end + 1] != c':':
        return False
    if memchr(s + i, c'[', n - i) != NULL or memchr(s + end + 1, c']', n - end - 1) != NULL:
        return False
    return is_ipv6(s + i, <size_t>(end - i)) or is_ipvfuture(s + i, <size_t>(end - i))


cdef object other_piece(const Url *url, Py_ssize_t start, Py_ssize_t end):
    """Do what piece() does for bytes and for text that is not ASCII."""
    cdef const char *data = <const char *>url.data
    if start < 0 or start >= end:
        return b"" if url.form == BYTES else ""
    if url.form == BYTES:
        return PyBytes_FromStringAndSize(data + start, end - start)
    if url.form == TEXT:
        return PyUnicode_Substring(<object>url.owner, start, end)
    return PyUnicode_DecodeUTF8(data + start, end - start, NULL)


cdef bint find(const Url *url, bint fragments, UrlPieces *parts) except -1:
    """Find the components of a URL. Return False if the stdlib must split it."""
    cdef bint found
    if url.width == 1:
        found = find_parts(<const uint8_t *>url.data, url.size, fragments, parts)
        if not (parts.brackets or parts.beyond):
            return found
    elif url.width == 2:
        found = find_parts(<const uint16_t *>url.data, url.size, fragments, parts)
    else:
        found = find_parts(<const uint32_t *>url.data, url.size, fragments, parts)
    if found and parts.brackets:
        return not parts.beyond and url.width == 1 and is_literal(
            <const uint8_t *>url.data + parts.netloc, parts.path - parts.netloc)
    if found and parts.beyond:
        return is_harmless(piece(url, parts.netloc, parts.path))
    return found


# What the stdlib removes from a URL before it splits it, like browsers: control characters and blanks at its start, and
# tabs and line ends anywhere. Not all versions do.
cdef bint CLEANS = tuple(stdlib().urlsplit(" \x1fhttp:\t//a\r/b\nc ")) == ("http", "a", "/bc ", "", "")
cdef str BLANKS = bytes(range(0x21)).decode()


cdef object clean_text(str text):
    text = text.lstrip(BLANKS)
    return text.replace("\t", "").replace("\r", "").replace("\n", "")


cdef object cleaned(object given):
    """Return a URL, str or bytes, without what the stdlib removes; the same object if it has nothing of that."""
    cdef const uint8_t *s
    cdef uint8_t *dst
    cdef Py_ssize_t n, i = 0, o = 0
    cdef str text
    if not CLEANS:
        return given  # pragma: no cover: another Python
    if type(given) is bytes:
        text = cleaned((<bytes>given).decode("latin-1"))
        return given if len(text) == len(<bytes>given) else text.encode("latin-1")
    PyUnicode_READY(given)
    if not PyUnicode_IS_ASCII(given):
        return clean_text(PyUnicode_FromObject(given))
    s, n = <const uint8_t *>PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given)
    while i < n and s[i] <= c' ':
        i += 1
    n -= i
    s += i
    o = n - <Py_ssize_t>kernels.count_outside(s, <size_t>n, &IN_FRAGMENT.set)
    if i + n == o:
        return given
    if o < 2:
        return clean_text(PyUnicode_FromObject(given))
    text = PyUnicode_New(o, 127)
    dst = <uint8_t *>PyUnicode_DATA(text)
    if o == n:
        memcpy(dst, s, <size_t>n)
        return text
    for i in range(n):
        if IN_FRAGMENT.set.member[s[i]]:
            dst[0] = s[i]
            dst += 1
    return text


cdef object find_in(object given, bint fragments, Url *url, UrlPieces *parts):
    """Find the components of a str or bytes. Return the object that has them, perhaps a cleaned one; None if the stdlib
    must split it."""
    if read(given, url) and find(url, fragments, parts):
        return given
    clean = cleaned(given)
    return clean if clean is not given and read(clean, url) and find(url, fragments, parts) else None


# The schemes of nearly all URLs, to be shared instead of made anew.
cdef str HTTPS = "https"
cdef str HTTP = "http"


cdef str lower_scheme(const Url *url, Py_ssize_t n):
    """Return the scheme, the first n characters of a URL (all ASCII), in lower case."""
    cdef str scheme
    if url.width == 1:
        if n == 5 and memcmp(url.data, b"https", 5) == 0:
            return HTTPS
        if n == 4 and memcmp(url.data, b"http", 4) == 0:
            return HTTP
        scheme = ascii_text(<const uint8_t *>url.data, <size_t>n)
    else:
        scheme = PyUnicode_Substring(<object>url.owner, 0, n)
    return scheme if scheme.islower() else scheme.lower()


cdef Py_ssize_t find_params(const Url *url, Py_ssize_t path, Py_ssize_t end):
    """Return the offset after the first ";" of the last segment of a path; -1 if the segment has none."""
    cdef Py_ssize_t i = end, params = -1
    cdef Py_UCS4 c
    while i > path:
        i -= 1
        c = PyUnicode_READ(url.width, <void *>url.data, i)
        if c == c'/':
            break
        if c == c';':
            params = i + 1
    return params


# --- results ------------------------------------------------------------------------------------------------------------

# The stdlib's own classes, so that isinstance and pickle know no difference.
cdef object split_result = stdlib().module.SplitResult
cdef object split_result_bytes = stdlib().module.SplitResultBytes
cdef object parse_result = stdlib().module.ParseResult
cdef object parse_result_bytes = stdlib().module.ParseResultBytes

# Since 3.15 a result knows whether its undefined components are None, and functions have an argument for it.
KNOWS_MISSING = "missing_as_none" in (stdlib().urldefrag.__kwdefaults__ or ())


cdef object finished(object result):
    UC_FORGET_HASH(result)
    if KNOWS_MISSING:
        PyObject_SetAttr(result, "_keep_empty", False)  # pragma: no cover: another Python
    return result


cdef object make_split(const Url *url, const UrlPieces *parts, str default):
    cdef object result = UC_NEW_TUPLE(split_result_bytes if url.form == BYTES else split_result, 5)
    set_item(result, 0, as_given(url, default if parts.scheme_end < 0 else lower_scheme(url, parts.scheme_end)))
    set_item(result, 1, piece(url, parts.netloc, parts.path))
    set_item(result, 2, piece(url, parts.path, parts.path_end))
    set_item(result, 3, piece(url, parts.query, parts.query_end))
    set_item(result, 4, piece(url, parts.fragment, parts.end))
    return finished(result)


# --- urlsplit, urlparse -------------------------------------------------------------------------------------------------

# Results of recent calls of urlsplit. The last one is kept as it is. A few bytes and the length of a URL choose a place
# for it in a table, which it gets when it comes a second time, in the stead of what is there: the size is bounded,
# nothing has to be kept in order, and a stream of URLs that do not come back costs next to nothing.
cdef enum:
    PLACES = 128
    LONGEST = 1024      # bytes of a URL that is kept
cdef PyObject *kept_urls[PLACES + 1]        # a str, or NULL
cdef PyObject *kept_results[PLACES + 1]
cdef uint32_t seen[PLACES]
cdef Py_ssize_t hits = 0, misses = 0


# All of that is read and written by one thread at a time. While it has the lock a thread does nothing that may wait, not
# even for the end of an object, so that the two halves of a place always belong together.
cdef uc_mutex kept_lock


cdef inline uint64_t mix(const uint8_t *s, size_t n) noexcept:
    """Return a hash of 16 bytes and the length of a URL of at least 8 bytes."""
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
    """Put a result into the cache. The caller holds the lock, which is released before the old references are dropped."""
    cdef PyObject *url_before = kept_urls[i]
    cdef PyObject *result_before = kept_results[i]
    kept_urls[i] = <PyObject *>url
    kept_results[i] = <PyObject *>result
    UC_UNLOCK(&kept_lock)
    Py_XDECREF(url_before)
    Py_XDECREF(result_before)


cdef object split_kept(str url):
    """Return the result of urlsplit(url), from the cache if possible; None if the stdlib must split the URL."""
    global hits, misses
    cdef Py_ssize_t n, kept, i = -1
    cdef uint64_t hash
    cdef object result, given       # which `found` borrows from
    cdef Url found
    cdef UrlPieces parts
    PyUnicode_READY(url)
    n = PyUnicode_GET_LENGTH(url)
    if 8 <= n <= LONGEST and PyUnicode_IS_ASCII(url):
        hash = mix(<const uint8_t *>PyUnicode_DATA(url), <size_t>n)
        i = <Py_ssize_t>(hash >> 57)
        UC_LOCK(&kept_lock)
        kept = PLACES if is_kept(PLACES, url) else i if seen[i] == <uint32_t>hash and is_kept(i, url) else -1
        if kept >= 0:
            hits += 1
            result = <object>kept_results[kept]
            UC_UNLOCK(&kept_lock)
            return result
        UC_UNLOCK(&kept_lock)
    given = find_in(url, True, &found, &parts)
    if given is None:
        return None
    result = make_split(&found, &parts, "")
    if i >= 0:
        Py_INCREF(url)
        Py_INCREF(result)
        UC_LOCK(&kept_lock)
        misses += 1
        if seen[i] != <uint32_t>hash:
            seen[i] = <uint32_t>hash
            i = PLACES
        keep_at(i, url, result)
    return result


def cache_clear():
    """Clear the cache of urlsplit."""
    global hits, misses
    cdef PyObject *urls[PLACES + 1]
    cdef PyObject *results[PLACES + 1]
    cdef Py_ssize_t i
    UC_LOCK(&kept_lock)
    hits = misses = 0
    memcpy(urls, kept_urls, sizeof(urls))
    memcpy(results, kept_results, sizeof(results))
    memset(kept_urls, 0, sizeof(kept_urls))
    memset(kept_results, 0, sizeof(kept_results))
    memset(seen, 0, sizeof(seen))
    UC_UNLOCK(&kept_lock)
    for i in range(PLACES + 1):
        Py_XDECREF(urls[i])
        Py_XDECREF(results[i])
    if hasattr(stdlib().urlsplit, "cache_clear"):
        stdlib().urlsplit.cache_clear()


def cache_info():
    """Return the statistics of the caches of urlsplit, here and in the stdlib: hits, misses, maxsize, currsize."""
    cdef Py_ssize_t i, found, made, kept = 0
    info = stdlib().urlsplit.cache_info()
    UC_LOCK(&kept_lock)
    found, made = hits, misses
    for i in range(PLACES + 1):
        kept += kept_urls[i] != NULL
    UC_UNLOCK(&kept_lock)
    return type(info)(info.hits + found, info.misses + made, info.maxsize + PLACES, info.currsize + kept)


# The scheme of a URL without one may have to be cleaned, if it has anything else than these.
cdef ByteSet IN_SCHEME = ByteSet(bytes(range(0x21, 0x7F)))


cdef str usable_scheme(object scheme, object url):
    """Return the argument `scheme` as a str; None if the stdlib must split the URL."""
    if type(scheme) is bytes and type(url) is bytes and not scheme:
        return ""
    if type(scheme) is not str:
        return None
    PyUnicode_READY(scheme)
    if not PyUnicode_GET_LENGTH(scheme):
        return ""
    if type(url) is bytes or not PyUnicode_IS_ASCII(scheme) or kernels.span(
            <const uint8_t *>PyUnicode_DATA(scheme), <size_t>PyUnicode_GET_LENGTH(scheme), &IN_SCHEME.set
    ) != <size_t>PyUnicode_GET_LENGTH(scheme):
        return None
    return <str>scheme


cdef object split(object url, object scheme, object default, object allow_fragments):
    cdef Url found
    cdef UrlPieces parts
    cdef object given
    cdef str own_scheme
    if type(url) is str and scheme is default and allow_fragments is True:
        return split_kept(<str>url)
    given, own_scheme = usable_url(url), "" if scheme is default else usable_scheme(scheme, url)
    if given is None or own_scheme is None or not is_flag(allow_fragments):
        return None
    given = find_in(given, bool(allow_fragments), &found, &parts)
    return None if given is None else make_split(&found, &parts, own_scheme)


cdef inline bint is_flag(object value) noexcept:
    return type(value) is bool or type(value) is int or value is None


cdef dict stdlib_names = stdlib().module.__dict__


cdef bint in_list(str scheme, str name) except -1:
    """Return whether a list of the stdlib, which programs may extend, contains the scheme."""
    cdef object schemes = stdlib_names[name]
    cdef bint found = False
    cdef Py_ssize_t i
    if type(schemes) is list:
        with cython.critical_section(schemes):
            for i in range(PyList_GET_SIZE(schemes)):
                if PyList_GET_ITEM(schemes, i) == <PyObject *>scheme:      # nearly always: both are interned
                    found = True
                    break
        if found:
            return True
    return scheme in schemes


cdef object parse(object url, object scheme, object default, object allow_fragments):
    cdef Url found
    cdef UrlPieces parts
    cdef object result, given = usable_url(url)
    cdef str own_scheme = "" if scheme is default else usable_scheme(scheme, url)
    cdef Py_ssize_t path_end, params = -1
    if given is None or own_scheme is None or not is_flag(allow_fragments):
        return None
    given = find_in(given, bool(allow_fragments), &found, &parts)
    if given is None:
        return None
    if parts.scheme_end >= 0:
        own_scheme = lower_scheme(&found, parts.scheme_end)
    path_end = parts.path_end
    if parts.params and in_list(own_scheme, "uses_params"):
        params = find_params(&found, parts.path, path_end)
        if params >= 0:
            path_end = params - 1
    result = UC_NEW_TUPLE(parse_result_bytes if found.form == BYTES else parse_result, 6)
    set_item(result, 0, as_given(&found, own_scheme))
    set_item(result, 1, piece(&found, parts.netloc, parts.path))
    set_item(result, 2, piece(&found, parts.path, path_end))
    set_item(result, 3, piece(&found, params, parts.path_end))
    set_item(result, 4, piece(&found, parts.query, parts.query_end))
    set_item(result, 5, piece(&found, parts.fragment, parts.end))
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


urlsplit.__doc__ = """Split a URL into scheme, netloc, path, query and fragment: urllib.parse.urlsplit.

    Args:
        url (str | bytes): The URL.
        scheme (str | bytes): The scheme of the result if the URL has none.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        urllib.parse.SplitResult | SplitResultBytes: A named 5-tuple; recent ones are kept and shared.

    Raises:
        ValueError, TypeError, AttributeError: As urllib.parse.urlsplit.

    Source: urllib.parse.

    >>> urlsplit("http://example.com/a;b?c#d").netloc
    'example.com'
    """
urlparse.__doc__ = """Split a URL into scheme, netloc, path, params, query and fragment: urllib.parse.urlparse.

    Args:
        url (str | bytes): The URL.
        scheme (str | bytes): The scheme of the result if the URL has none.
        allow_fragments (bool): Whether a '#' begins a fragment.

    Returns:
        urllib.parse.ParseResult | ParseResultBytes: A named 6-tuple; params are those of the last segment of the path.

    Raises:
        ValueError, TypeError, AttributeError: As urllib.parse.urlparse.

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


# --- attributes of results --------------------------------------------------------------------------------------------


# A netloc: userinfo "@" hostinfo, in which a "[" keeps a colon from ending the host.
cdef struct Netloc:
    Url url
    Py_ssize_t userinfo_end     # -1: no "@"
    Py_ssize_t host
    Py_ssize_t host_end
    Py_ssize_t port             # where it begins; its end is the netloc's


cdef inline Py_ssize_t find_character(const Url *url, Py_UCS4 c, Py_ssize_t start) noexcept:
    """Return the offset of a character, from `start` on; the size of the URL if there is none."""
    cdef const uint8_t *found
    if url.width == 1:
        found = <const uint8_t *>memchr(<const uint8_t *>url.data + start, c, <size_t>(url.size - start))
        return url.size if found == NULL else found - <const uint8_t *>url.data
    while start < url.size and PyUnicode_READ(url.width, <void *>url.data, start) != c:
        start += 1
    return start


cdef inline bint read_netloc(object result, Netloc *netloc):
    """Point `netloc` at the netloc of a result. Return False for subclasses, and if it is neither str nor bytes."""
    cdef object text
    if not (type(result) is split_result or type(result) is parse_result
            or type(result) is split_result_bytes or type(result) is parse_result_bytes):
        return False
    text = <object>PyTuple_GET_ITEM(result, 1)
    return (type(text) is str or type(text) is bytes) and read(text, &netloc.url)


cdef inline Py_ssize_t after_userinfo(const Url *url) noexcept:
    """Return the offset of the last "@"; -1 if there is none."""
    cdef Py_ssize_t i = url.size - 1
    if url.width == 1 and memchr(url.data, c'@', <size_t>url.size) == NULL:
        return -1       # nearly always
    while i >= 0 and PyUnicode_READ(url.width, <void *>url.data, i) != c'@':
        i -= 1
    return i


cdef void find_host(Netloc *netloc) noexcept:
    cdef const Url *url = &netloc.url
    cdef Py_ssize_t bracket
    netloc.host = after_userinfo(url) + 1
    bracket = find_character(url, c'[', netloc.host)
    if bracket < url.size:
        netloc.host = bracket + 1
        netloc.host_end = find_character(url, c']', netloc.host)
        netloc.port = find_character(url, c':', min(netloc.host_end + 1, url.size)) + 1
    else:
        netloc.host_end = find_character(url, c':', netloc.host)
        netloc.port = netloc.host_end + 1


cdef ByteSet IN_LOWER_HOST = ~ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ%")     # nothing to lower, and no zone


def hostname(result):
    """Return the host in lower case, without brackets; None if there is none."""
    cdef Netloc netloc
    cdef Py_ssize_t zone
    cdef size_t size
    cdef object host
    if not read_netloc(result, &netloc):
        return original_hostname(result)
    find_host(&netloc)
    if netloc.host == netloc.host_end:
        return None
    host = piece(&netloc.url, netloc.host, netloc.host_end)
    if netloc.url.form != TEXT:
        size = <size_t>(netloc.host_end - netloc.host)
        if kernels.span(<const uint8_t *>netloc.url.data + netloc.host, size, &IN_LOWER_HOST.set) == size:
            return host
    zone = min(find_character(&netloc.url, c'%', netloc.host), netloc.host_end)
    return piece(&netloc.url, netloc.host, zone).lower() + piece(&netloc.url, zone, netloc.host_end)


def port(result):
    """Return the port as an int; None if there is none."""
    cdef Netloc netloc
    cdef Py_ssize_t i
    cdef uint32_t c
    cdef int value = 0
    if read_netloc(result, &netloc):
        find_host(&netloc)
        if netloc.port >= netloc.url.size:
            return None
        for i in range(netloc.port, netloc.url.size):
            c = PyUnicode_READ(netloc.url.width, <void *>netloc.url.data, i)
            if not c'0' <= c <= c'9':
                break
            value = 10 * value + <int>(c - c'0')
            if value > 65535:
                break
        else:
            return value
    return original_port(result)


def username(result):
    """Return what is before the first ":" of the userinfo; None without userinfo."""
    cdef Netloc netloc
    if not read_netloc(result, &netloc):
        return original_username(result)
    netloc.url.size = after_userinfo(&netloc.url)
    if netloc.url.size < 0:
        return None
    return piece(&netloc.url, 0, find_character(&netloc.url, c':', 0))


def password(result):
    """Return what is after the first ":" of the userinfo; None if there is none."""
    cdef Netloc netloc
    cdef Py_ssize_t colon
    if not read_netloc(result, &netloc):
        return original_password(result)
    netloc.url.size = after_userinfo(&netloc.url)
    if netloc.url.size < 0:
        return None
    colon = find_character(&netloc.url, c':', 0)
    return None if colon == netloc.url.size else piece(&netloc.url, colon + 1, netloc.url.size)


# --- how they get there -------------------------------------------------------------------------------------------------

cdef object home_of(object kind, str name):
    """Return the class that defines an attribute of a class."""
    for base in kind.__mro__:
        if name in base.__dict__:
            break
    return base


cdef object original(str name):
    return home_of(split_result, name).__dict__[name].fget


cdef object original_hostname = original("hostname")
cdef object original_port = original("port")
cdef object original_username = original("username")
cdef object original_password = original("password")


def make_geturl(unsplit, before):
    """Return a compiled method geturl, which joins components with a function; `before` is the method that it replaces."""
    def geturl(self):
        return unsplit(self) if type(self) in KINDS else before(self)

    geturl.__doc__, geturl.__qualname__, geturl.__module__ = before.__doc__, before.__qualname__, "uricodec.parse"
    return geturl


cdef tuple KINDS = (split_result, parse_result, split_result_bytes, parse_result_bytes)


def replacements(unparse, unsplit):
    """Return what install() sets: a list of a class, the name of an attribute, and the compiled one.

    Args:
        unparse, unsplit (Callable): urlunparse() and urlunsplit() of _join.

    >>> sorted({name for _, name, _ in replacements(None, None)})
    ['geturl', 'hostname', 'password', 'port', 'username']
    """
    cdef dict found = {}
    for kind in KINDS:
        for function in hostname, port, username, password:
            home = home_of(kind, function.__name__)
            before = home.__dict__[function.__name__]
            found[home, function.__name__] = after = property(function)
            after.__doc__ = before.__doc__      # as an argument, None would mean the function's
        home = home_of(kind, "geturl")
        join = unparse if kind is parse_result or kind is parse_result_bytes else unsplit
        found[home, "geturl"] = make_geturl(join, home.__dict__["geturl"])
    return [(home, name, value) for (home, name), value in found.items()]
