"""Attributes of urllib.parse's result classes, as `uricodec.install()` puts them there.

A compiled attribute is for the stdlib's own four classes with a netloc of plain str or bytes; for a
subclass, which may override methods, and for every error, it calls the function that it replaces.
"""
from libc.string cimport memchr

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.parse._arguments cimport stdlib
from uricodec.parse._split cimport *
from uricodec._base._text cimport *
from uricodec.parse import _join



cdef object split_result = stdlib().module.SplitResult
cdef object split_result_bytes = stdlib().module.SplitResultBytes
cdef object parse_result = stdlib().module.ParseResult
cdef object parse_result_bytes = stdlib().module.ParseResultBytes


# A netloc: userinfo "@" hostinfo, in which a "[" keeps a colon from ending the host.
cdef struct Netloc:
    Url url
    Py_ssize_t userinfo_end     # -1: no "@"
    Py_ssize_t host
    Py_ssize_t host_end
    Py_ssize_t port             # where it begins; its end is the netloc's


cdef inline Py_ssize_t find_character(const Url *url, Py_UCS4 c, Py_ssize_t start) noexcept:
    """Where a character is; the end of the URL if there is none."""
    cdef const uint8_t *found
    if url.width == 1:
        found = <const uint8_t *>memchr(<const uint8_t *>url.data + start, c, <size_t>(url.size - start))
        return url.size if found == NULL else found - <const uint8_t *>url.data
    while start < url.size and PyUnicode_READ(url.width, <void *>url.data, start) != c:
        start += 1
    return start


cdef inline bint read_netloc(object result, Netloc *netloc):
    """False if it is for the stdlib: a class that is not its own, a netloc that is not plain."""
    cdef object text
    if not (type(result) is split_result or type(result) is parse_result
            or type(result) is split_result_bytes or type(result) is parse_result_bytes):
        return False
    text = <object>PyTuple_GET_ITEM(result, 1)
    return (type(text) is str or type(text) is bytes) and read(text, &netloc.url)


cdef inline Py_ssize_t after_userinfo(const Url *url) noexcept:
    """Where the last "@" is; -1: there is none."""
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
    """The class that defines an attribute of a class."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base
    return None


cdef object original(str name):
    return home_of(split_result, name).__dict__[name].fget


cdef object original_hostname = original("hostname")
cdef object original_port = original("port")
cdef object original_username = original("username")
cdef object original_password = original("password")


def make_geturl(kind, before):
    """Return a method geturl for one of the classes; `before` is the one that it has."""
    cdef object unsplit = _join.urlunparse if kind is parse_result or kind is parse_result_bytes else _join.urlunsplit

    def geturl(self):
        return unsplit(self) if type(self) in KINDS else before(self)

    geturl.__doc__, geturl.__qualname__, geturl.__module__ = before.__doc__, before.__qualname__, "uricodec.parse"
    return geturl


cdef tuple KINDS = (split_result, parse_result, split_result_bytes, parse_result_bytes)


def replacements():
    """Return what install() sets: a list of a class, the name of an attribute, and the compiled one.

    >>> sorted({name for _, name, _ in replacements()})
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
        found[home, "geturl"] = make_geturl(kind, home.__dict__["geturl"])
    return [(home, name, value) for (home, name), value in found.items()]
