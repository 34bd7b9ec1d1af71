# distutils: define_macros=CYTHON_VECTORCALL_TPNEW=0
# Cython 3.3 would release uninitialized pointers if it runs out of memory when a subclass is created with keyword arguments.
"""Operations on rows as objects. Code that processes many rows holds one of these and knows nothing else of it."""
from libc.stdint cimport SIZE_MAX
from libc.string cimport memcpy, memset

from uricodec.errors import UriError

FRAME_NAMES = ["frame", "csv", "json", "surrogate"]

cdef list POLICY_NAMES = ["keep", "null", "raise", "replace", "drop"]


cdef int policy_named(object errors, bint drops=False) except -1:
    if errors not in POLICY_NAMES or errors == "drop" and not drops:
        names = POLICY_NAMES if drops else POLICY_NAMES[:DROP_ROW]
        reason = "; the number of rows must stay the same" if errors == "drop" else ""
        raise ValueError(f"errors must be one of {', '.join(map(repr, names))}, got {errors!r}{reason}")
    return <int>POLICY_NAMES.index(errors)


cdef size_t copy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    memcpy(dst, src, n)
    return n


cdef bint copy_block(Run *run) noexcept nogil:
    pass_rows(run, run.block.rows)
    return True


cdef class RowOperation:
    """A row function with its options, for any number of rows and threads. This class copies; subclasses do the rest.

    Attributes:
        code_names (list[str]): The codes for which a row may be rejected.
        reasons (list[str]): Their error messages.
        error (type): The exception class.
    """

    def __cinit__(self):
        memset(&self.slots, 0, sizeof(Slots))
        self.slots.strict, self.slots.block = Operation(copy_row, 1, 0), copy_block
        self.code_names = self.reasons = []
        self.error = UriError

    cdef int check_policy(self, RowPolicy policy) except -1:
        """Raise ValueError if the operation does not support the policy."""
        if policy == REPLACE_ROW and self.slots.replace == NULL:
            raise ValueError("errors='replace' is only supported by quote, requote, unquote and percent_decode")
        return 0

    cdef object with_surrogates(self, str text, RowPolicy policy):
        return None

    def reason(self, code):
        """Return the error message for a code (str).

        Raises:
            ValueError: The code is unknown.
        """
        return self.reasons[self.code_names.index(code)]

    def capacity(self, n, errors="replace"):
        """Return the capacity in bytes that the result of a row of n bytes needs, as a line with its terminator.

        Args:
            n (int): The size of the row in bytes.
            errors (str): How the row is handled if it is invalid.

        Returns:
            int: At least n + 68, because stores may write past the end of a result.

        Raises:
            OverflowError: The result may exceed the maximum size of an object.

        >>> RowOperation().capacity(10)
        78
        """
        cdef size_t size = n, factor = max(self.slots.strict.factor, <size_t>1)
        if errors == "replace":
            factor = max(factor, self.slots.replace_factor)
        if size > (SIZE_MAX // 2 - self.slots.strict.extra - WIDE - 2) // factor - 2:
            raise OverflowError("the result may exceed the maximum size of an object")
        return factor * (size + 2) + self.slots.strict.extra + 2 + WIDE
