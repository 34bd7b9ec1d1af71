"""Operations on rows as objects: what works on many values holds one of these and knows nothing else about it."""
from libc.stdint cimport SIZE_MAX
from libc.string cimport memcpy

from uricodec.errors import UriError

FRAME_NAMES = ["frame", "csv", "json", "surrogate"]


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Refusal *refusal) noexcept nogil:
    memcpy(dst, src, n)
    return n


cdef class RowOperation:
    """A row function with its options, good for any number of rows and threads. This one copies; modules make others.

    Attributes:
        code_names (list[str]): What a row may be refused for.
        reasons (list[str]): The same in words.
        error (type): The exception that says so.
    """

    def __cinit__(self, *_args, **_kwargs):
        self.operation = Operation(copy_row, 1, 0)
        self.options, self.refused, self.mark = NULL, NULL, NULL
        self.code_names = self.reasons = []
        self.error = UriError

    def room(self, n):
        """How many octets a row of n octets may become, as a line, with its end.

        Args:
            n (int): How long the row is.

        Returns:
            int: At least n + 2.

        Raises:
            OverflowError: More than an object can have.

        >>> RowOperation().room(10)
        12
        """
        cdef size_t size = n
        if size > (SIZE_MAX // 2 - self.operation.extra - 2) // max(self.operation.factor, <size_t>1):
            raise OverflowError("the row may become longer than an object can be")
        return room_of(&self.operation, size)

    cdef object raise_refusal(self, object src, int code, size_t offset):
        """Raise what says that src is refused at an offset."""
        raise self.error(self.reasons[code], src, <Py_ssize_t>offset)
