"""Classify the arguments of the drop-in's functions: text and bytes by type, encodings by name.

urllib.parse calls methods of its arguments, so a subclass of str may change what a function does. Such a subclass
uses a compiled path only if it overrides no method that the stdlib's function calls. Which methods a type overrides is
looked up once and cached under its version tag, a number that the interpreter changes whenever the type changes, and
never reuses.
"""
from uricodec._base._atomic cimport uc_glance64, uc_publish, uc_put64, uc_read
from uricodec._base._kernels cimport ASCII_BYTES, kernels
from uricodec._codec._percent cimport DECODED_CAPACITY, decode_runs, decode_text, is_plain

from libc.stdint cimport uint64_t


cdef extern from "Python.h":
    object PyObject_GenericGetDict(object, void *)
    str PyUnicode_DecodeLatin1(const char *data, Py_ssize_t size, const char *errors)
    str PyUnicode_DecodeASCII(const char *data, Py_ssize_t size, const char *errors)
    str PyUnicode_Decode(const char *data, Py_ssize_t size, const char *encoding, const char *errors)
    str PyUnicode_DecodeCharmap(const char *data, Py_ssize_t size, object characters, const char *errors)


cdef void *stdlib_module = NULL     # once it is there, it stays: several threads may find that it is not


cdef object stdlib():
    """Return the module with the stdlib's own functions, which handle what the fast paths do not."""
    cdef void *known = uc_read(&stdlib_module)
    if known == NULL:
        from uricodec.parse import _stdlib
        Py_INCREF(_stdlib)
        known = <void *>_stdlib
        uc_publish(&stdlib_module, known)
    return <object>known


# --- subclasses of str ------------------------------------------------------------------------------------------------

# In the order of the bits of Methods. None of str's own attributes is called __bool__, and object's others say nothing.
cdef tuple NAMES = (
    "__bool__", "__len__", "__contains__", "__getitem__", "__hash__", "__eq__", "encode", "replace", "lstrip", "count",
    "split", "__add__", "__radd__", "__getattribute__",
)

cdef enum:
    TYPES = 64
cdef uint64_t known_types[TYPES]    # the version of a type, and below it 1 << 31 | what it overrides


cdef uint32_t find_overridden(PyTypeObject *type) noexcept:
    cdef uint32_t found = <uint32_t>1 << 31, version = 0
    cdef int i = 0
    for name in NAMES:
        if _PyType_Lookup(type, name) != _PyType_Lookup(&PyUnicode_Type, name):
            found |= <uint32_t>1 << i
        i += 1
        if i == 1:
            version = uc_type_version(type)     # looking something up has given it one
    if version and version == uc_type_version(type):
        uc_put64(&known_types[version % TYPES], <uint64_t>version << 32 | found)
    return found


cdef inline uint32_t overridden(PyTypeObject *type) noexcept:
    """Return the methods of str that a type overrides, as bits of Methods."""
    cdef uint32_t version = uc_type_version(type)
    cdef uint64_t known
    if version:
        known = uc_glance64(&known_types[version % TYPES])
        if known >> 32 == version:
            return <uint32_t>known
    return find_overridden(type)


cdef bint is_shadowed(object argument, unsigned int methods) except -1:
    """Return whether an instance attribute of an object has the name of one of the methods."""
    cdef object attributes = PyObject_GenericGetDict(argument, NULL)
    cdef int i
    if attributes:
        for i in range(len(NAMES)):
            if methods >> i & 1 and NAMES[i] in attributes:
                return True
    return False


cdef object usable_subclass(object argument, unsigned int methods):
    if type(argument) is bytearray:
        return bytes(argument) if methods & BUFFERS else None
    if not PyUnicode_Check(argument) or overridden(Py_TYPE(argument)) & (methods | ATTRIBUTES) & ~<unsigned int>BUFFERS:
        return None
    if UC_HAS_DICT(argument) and is_shadowed(argument, methods):
        return None
    return argument


# --- encodings --------------------------------------------------------------------------------------------------------

# Encodings by the names of their codecs. Of OTHER, those that Python brings along, in which an ASCII byte is only a part of
# a longer sequence after another byte.
cdef dict ENCODINGS = {"utf-8": UTF_8, "iso8859-1": LATIN_1, "ascii": ASCII} | dict.fromkeys((
    *("iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9"),
    *("iso8859-10", "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16"),
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("cp437", "cp850", "cp852", "cp855", "cp866", "cp874", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "tis-620"),
    *("shift_jis", "cp932", "euc_jp", "gbk", "gb2312", "gb18030", "big5", "big5hkscs", "cp950", "euc_kr", "cp949"),
), OTHER)
cdef dict decoders = {}         # of OTHER, by the names of their codecs
# By names as they are given: the member of Encoding, or the decoder of OTHER.
cdef dict known_encodings = {"utf-8": UTF_8, "latin-1": LATIN_1, "ascii": ASCII}
cdef enum:
    MANY_NAMES = 64

# The interpreter's own error handlers, for decoding and encoding. The stdlib handles calls with any other one.
cdef frozenset DECODING = frozenset([
    "strict", "ignore", "replace", "backslashreplace", "surrogateescape", "surrogatepass",
])
cdef frozenset ENCODING = DECODING | {"xmlcharrefreplace", "namereplace"}


cdef object look_encoding_up(str name):
    """Return what known_encodings has for this name; None for encodings that are not in ENCODINGS."""
    if not name.isascii():      # some versions warn when such a name is looked up
        return None
    codec = stdlib().codec_name(name)
    found = ENCODINGS.get(codec)
    if found is not None:
        if found == OTHER:
            found = decoders.setdefault(codec, stdlib().decoder_of(codec))
        if len(known_encodings) >= MANY_NAMES:
            known_encodings.clear()
        known_encodings[name] = found
    return found


cdef bint is_custom_handler(object encoding, object errors):
    """Return whether `errors` may name an error handler that is only looked up for invalid bytes.

    True only with the encodings in ENCODINGS. Others may check the name first: "idna" accepts "strict" alone.
    """
    cdef Codec codec
    return (type(errors) is str and errors not in DECODING and (<str>errors).isascii() and (<str>errors).isprintable()
            and not stdlib().CHECKS_HANDLERS and (encoding is None or find_any_codec(encoding, "strict", "strict", &codec)))


cdef bint find_any_codec(object encoding, object errors, str handler, Codec *codec):
    codec.encoding, codec.name, codec.errors = UTF_8, "utf-8", NULL
    if not is_default(encoding, "utf-8"):
        if type(encoding) is not str:
            return False
        known = known_encodings.get(encoding)
        if known is None:
            known = look_encoding_up(<str>encoding)
            if known is None:
                return False
        codec.name = <const char *>PyUnicode_DATA(encoding)
        if type(known) is int:
            codec.encoding = known
        else:
            codec.encoding, codec.decoder = OTHER, <PyObject *>known     # `decoders` keeps it
    if errors is None:
        errors = handler
    if errors is not handler or handler != "replace":
        if type(errors) is not str or errors not in (DECODING if handler == "replace" else ENCODING):
            return False
        if errors != "replace":
            codec.errors = <const char *>PyUnicode_DATA(errors)
    return True


cdef str read_as(const uint8_t *src, size_t n, const Codec *codec):
    """Decode bytes in an encoding other than UTF-8."""
    cdef const char *errors = codec.errors
    if errors == NULL:
        errors = "replace"
    if codec.encoding == LATIN_1:
        return PyUnicode_DecodeLatin1(<const char *>src, <Py_ssize_t>n, NULL)
    if kernels.span(src, n, &ASCII_BYTES.set) == n:
        return ascii_text(src, n)
    if codec.encoding == ASCII:
        return PyUnicode_DecodeASCII(<const char *>src, <Py_ssize_t>n, errors)
    if codec.errors != NULL:        # errors say in which encoding
        return PyUnicode_Decode(<const char *>src, <Py_ssize_t>n, codec.name, errors)
    decoder = <object>codec.decoder
    if type(decoder) is str:
        return PyUnicode_DecodeCharmap(<const char *>src, <Py_ssize_t>n, decoder, errors)
    return decoder(PyBytes_FromStringAndSize(<const char *>src, <Py_ssize_t>n), "replace")[0]


cdef str decode_as(const uint8_t *src, size_t n, bint plus, const Codec *codec):
    """Decode percent-encoded bytes to text."""
    cdef uint8_t buffer[DECODED_CAPACITY]
    cdef uint8_t *dst
    if codec.encoding == UTF_8:
        return decode_text(src, n, plus, codec.errors)
    if n <= SMALL:
        return read_as(buffer, kernels.decode(src, n, plus, buffer, DECODED_CAPACITY), codec)
    dst = allocate(n)
    try:
        return read_as(dst, kernels.decode(src, n, plus, dst, n), codec)
    finally:
        PyMem_RawFree(dst)


cdef str decode_run(const uint8_t *src, size_t n, Py_ssize_t start, void *context):
    return decode_as(src, n, False, <const Codec *>context)


cdef object unquote_as(object text, bint plus, const Codec *codec):
    """Decode an instance of str. Return the same object if it is a str with nothing to decode."""
    cdef const uint8_t *src
    cdef size_t n
    PyUnicode_READY(text)
    if PyUnicode_IS_ASCII(text):
        src, n = <const uint8_t *>PyUnicode_DATA(text), <size_t>PyUnicode_GET_LENGTH(text)
        if is_plain(src, n, plus):
            return PyUnicode_FromObject(text)
        return decode_as(src, n, plus, codec)
    text = PyUnicode_FromObject(text)
    return decode_runs((<str>text).replace("+", " ") if plus else text, decode_run, <void *>codec)
