"""Why an identifier is invalid. Apart from the exceptions, which are imported before anything is checked."""

from collections import namedtuple

from uricodec.errors import sentence

TYPE_CHECKING = False  # as in typing, the import of which costs more than all of this
if TYPE_CHECKING:
    from typing import NamedTuple

    class _Diagnostic(NamedTuple):
        code: str
        offset: int
        message: str
else:
    _Diagnostic = namedtuple("_Diagnostic", ["code", "offset", "message"])

__all__ = ["Diagnostic", "diagnostic"]


class Diagnostic(_Diagnostic):
    """Why an identifier is invalid: the first thing that is wrong, as a named tuple.

    Attributes:
        code (str): A short name of the reason, which stays the same between versions.
        offset (int): Index of the first offending item: a character of a str, a byte of a bytes-like.
        message (str): One sentence: that of the error that other functions raise.

    >>> from uricodec import uri
    >>> uri.check("http://example.org/a b").code
    'path'
    """

    __slots__ = ()


def diagnostic(code: str, reason: str, input: object, offset: int) -> Diagnostic:
    """Return a Diagnostic with the message of the error that has this reason."""
    return Diagnostic(code, offset, sentence(reason, input, offset))
