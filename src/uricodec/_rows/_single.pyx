# distutils: extra_compile_args=-O2
"""Operations on single values: see _single.pxd."""
from uricodec._base._kernels cimport ASCII_BYTES, kernels
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, reraise


cdef object copied_text(object given):
    return str.__str__(given) if isinstance(given, str) else copy_of_bytes(given)


cdef Py_ssize_t characters_before(const uint8_t *utf8, size_t offset) noexcept nogil:
    cdef size_t i
    cdef Py_ssize_t characters = 0
    for i in range(offset):
        characters += utf8[i] & 0xC0 != 0x80
    return characters


cdef class Faults:
    def __cinit__(self, list codes not None, list reasons not None, error, int surrogate):
        self.codes, self.reasons, self.error, self.surrogate = codes, reasons, error, surrogate

    cdef int raise_at(self, object given, int code, Py_ssize_t position) except -1:
        error = self.error(self.reasons[code], given, position)
        error.code = self.codes[code]
        raise error

    cdef int raise_outcome(self, object given, const uint8_t *utf8, const Outcome *outcome) except -1:
        return self.raise_at(given, outcome.code, characters_before(utf8, outcome.offset) if isinstance(given, str)
                             else <Py_ssize_t>outcome.offset)


# --- results ----------------------------------------------------------------------------------------------------------

cdef size_t capacity_for(const uint8_t *s, size_t n, const SizedRow *operation, bint ascii_stays) except 0:
    """Return an upper bound for the size of a long text's result."""
    cdef size_t factor = operation.factor
    if ascii_stays and kernels.span(s, n, &ASCII_BYTES.set) == n:
        factor = 1
    if n > (<size_t>PY_SSIZE_T_MAX - operation.extra) // factor:
        raise OverflowError("result may exceed the maximum object size")  # pragma: no cover: too large
    return factor * n + operation.extra


cdef size_t write_long(object text, const Single *single, const SizedRow *operation, Written *written, Outcome *outcome) except? 0:
    """Write the result of a long text: of bytes, into the object itself."""
    cdef Bytes source = written.source
    cdef size_t size, capacity = capacity_for(source.data, source.size, operation, single.ascii_stays)
    cdef uint8_t *dst
    if type(text) is str:
        dst = written.heap = allocate(capacity)
    else:
        written.made = new_bytes(NULL, <Py_ssize_t>capacity)
        dst = <uint8_t *>PyBytes_AS_STRING(<object>written.made)
    with nogil:
        size = operation.row(source.data, source.size, single.options, dst, outcome)
    written.data = dst
    return size


cdef bint reject_text(object given, Faults faults, const Written *written, const Outcome *outcome) except -1:
    """Raise the error; False: there are no faults."""
    if outcome.code == UC_RAISED:
        reraise()
    return faults is not None and faults.raise_outcome(given, written.source.data, outcome)


cdef inline object write_result(object given, const Single *single, Faults faults, Written *written):
    """Write the result. Return the exact text of the input, which the result may refer to; None: return None."""
    cdef Bytes *source = &written.source
    cdef const SizedRow *operation
    cdef Outcome outcome
    cdef Py_ssize_t surrogate = -1      # where the first one is
    cdef object text = text_of(given)
    if not borrow(text, source, written.utf8):
        if faults is None:
            return None
        if single.replaces_surrogates:
            text = without_surrogates(<str>text)
        else:       # a fault before the surrogate comes first
            surrogate = first_surrogate(<str>text)
            text = (<str>text)[:surrogate]
        borrow(text, source, written.utf8)
    written.data, written.size, written.changed = source.data, source.size, False
    if single.stays == NULL or not single.stays(source.data, source.size, single.options):
        operation = single.text_operation if type(text) is str else single.operation
        if source.size <= SMALL and operation.factor * source.size + operation.extra <= RESULT_CAPACITY:
            written.data = written.buffer
            written.size = operation.row(source.data, source.size, single.options, written.buffer, &outcome)
        else:
            written.size = write_long(text, single, operation, written, &outcome)
        if written.size == UC_REJECTED and not reject_text(given, faults, written, &outcome):
            return None
        written.changed = written.size != source.size or memcmp(written.data, source.data, source.size) != 0
    if surrogate >= 0:
        faults.raise_at(given, faults.surrogate, surrogate)
    return text


cdef object result_object(object text, Written *written, Results results):
    cdef PyObject *made
    if type(text) is str:
        if results == ALL_ASCII or results == ASCII_OF_ASCII and PyUnicode_IS_ASCII(text):
            return ascii_text(written.data, written.size)
        return utf8_text(written.data, written.size, "strict")
    if written.made == NULL:
        return PyBytes_FromStringAndSize(<const char *>written.data, <Py_ssize_t>written.size)
    made, written.made = written.made, NULL
    return resized(made, written.size)


cdef object result_of(object given, const Single *single, Faults faults, bint keeps_class):
    cdef Written written
    begin_written(&written)
    try:
        text = write_result(given, single, faults, &written)
        if text is not None and written.changed:
            return result_object(text, &written, single.results)
        return given if keeps_class and isinstance(given, (str, bytes)) else text
    finally:
        release_written(&written)


cdef bint same_results(object a, object b, const Single *single, Faults faults) except -1:
    cdef Written first, second
    begin_written(&first)
    begin_written(&second)
    try:
        _first = write_result(a, single, faults, &first)        # they hold the memory
        _second = write_result(b, single, faults, &second)
        return are_same(&first, &second)
    finally:
        release_written(&first)
        release_written(&second)
