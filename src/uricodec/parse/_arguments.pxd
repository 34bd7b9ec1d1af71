"""Classify the arguments of the drop-in's functions: text and bytes by type, encodings by name."""
from uricodec._base._text cimport *

cdef enum Methods:      # of str, which the stdlib calls; it handles subclasses that override one of them
    BOOL = 1
    LENGTH = 1 << 1
    CONTAINS = 1 << 2
    GETITEM = 1 << 3
    HASH = 1 << 4
    EQUAL = 1 << 5
    ENCODE = 1 << 6
    REPLACE = 1 << 7
    STRIP = 1 << 8
    COUNT = 1 << 9
    SPLIT = 1 << 10
    ADD = 1 << 11
    RIGHT_ADD = 1 << 12
    ATTRIBUTES = 1 << 13
    BUFFERS = 1 << 14       # not a method: bytearray is accepted, too

cdef enum Encoding:
    UTF_8, LATIN_1, ASCII, OTHER

# An encoding in which ASCII is ASCII, and what happens to what is not in it.
cdef struct Codec:
    Encoding encoding
    const char *name
    PyObject *decoder       # of OTHER: a str with the characters of its bytes, or a function that decodes bytes
    const char *errors      # NULL: "replace"

cdef object stdlib()
cdef object usable_subclass(object argument, unsigned int methods)
cdef bint is_custom_handler(object encoding, object errors)
cdef bint find_any_codec(object encoding, object errors, str handler, Codec *codec)
cdef str decode_as(const uint8_t *src, size_t n, bint plus, const Codec *codec)
cdef object unquote_as(object text, bint plus, const Codec *codec)


cdef inline object usable(object argument, unsigned int methods):
    """Return a str or bytes in which none of `methods` is overridden; None if the stdlib must handle the argument."""
    if type(argument) is str or type(argument) is bytes:
        return argument
    return usable_subclass(argument, methods)


cdef inline bint is_default(object argument, str default) noexcept:
    return argument is None or argument is default or type(argument) is str and <str>argument == default


cdef inline bint find_codec(object encoding, object errors, str handler, Codec *codec):
    """Fill in `codec`; None stands for UTF-8 and `handler`. Return False if the stdlib must handle these arguments."""
    if (encoding is None or encoding is "utf-8") and errors is handler and handler is "replace":
        codec.encoding, codec.name, codec.errors = UTF_8, "utf-8", NULL
        return True
    return find_any_codec(encoding, errors, handler, codec)
