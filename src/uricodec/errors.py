"""The exceptions of uricodec. (`uricodec.parse` raises exactly what urllib.parse raises.)

The tree of exceptions, and when each is raised:

    exception                      raised if
    ValueError                     an argument has an unknown value
    +-- UriError                   the input is invalid, at `offset`:
        +-- UriSyntaxError           it breaks RFC 3986 or the URL Standard, or its encoding is invalid
        +-- IriError                 it breaks RFC 3987, or its host has no A-label
        +-- UrnError                 it breaks RFC 2141 or RFC 8141
        +-- AmbiguousUrlError        parsers may connect to different hosts, or the call rejects it
    +-- SetError                   a file is not a saved set, is damaged, or has other items than expected
    LookupError
    +-- UnknownNamespaceError      nothing is known about the namespace of a URN
    TypeError                      an argument has the wrong type
    OSError                        a file cannot be read or written
"""

__all__ = [
    "AmbiguousUrlError",
    "IriError",
    "SetError",
    "UnknownNamespaceError",
    "UriError",
    "UriSyntaxError",
    "UrnError",
]


def __dir__() -> list[str]:
    return __all__


class UriError(ValueError):
    """An invalid input; the base class of the others.

    Args:
        reason (str): What is wrong, in a few words.
        input (str | bytes): The whole input.
        offset (int): The offset of the first invalid item of `input`, from 0: a character of a str, a byte of bytes.

    Attributes:
        code (str | None): The kind of fault, as `check` names it; None if the function has no codes.
        row (int | None): The number of the row in a column, list or file, from 0; None if the input is not a row.
        file (str | None): The name of the file whose row it is; None if it is not of a file.

    >>> try:
    ...     raise UriError("malformed triplet", "100%", 3)
    ... except UriError as error:
    ...     print(error, error.offset, sep="; ")
    malformed triplet at offset 3; 3
    """

    def __init__(self, reason: str, input: object, offset: int) -> None:
        super().__init__(reason, input, offset)
        self.reason = reason
        self.input = input
        self.offset = offset
        self.code: str | None = None
        self.row: int | None = None
        self.file: str | None = None

    def __str__(self) -> str:
        return place(self) + sentence(self.reason, self.input, self.offset)


class UriSyntaxError(UriError):
    """An input that breaks the grammar of RFC 3986, or of the RFC that the function names."""


class IriError(UriError):
    """An input that breaks RFC 3987."""


class UrnError(UriError):
    """An input that breaks RFC 2141 or RFC 8141."""


class AmbiguousUrlError(UriError):
    """A URL that two parsers may read in two ways, or whose host the call does not accept.

    Args:
        reason (str): What is wrong, and in parentheses what parsers do differently.
        input (str | bytes): The whole input.
        offset (int): See `UriError`.
        code (str): The kind of fault; `uricodec.uri.agreed_host` lists the codes.

    >>> from uricodec import uri
    >>> try:
    ...     uri.agreed_host("http://0177.0.0.1/")
    ... except AmbiguousUrlError as error:
    ...     print(error.code, error.offset)
    number 7
    """

    def __init__(self, reason: str, input: object, offset: int, code: str) -> None:
        super().__init__(reason, input, offset)
        self.args: tuple[object, ...] = (reason, input, offset, code)
        self.code: str = code


class SetError(ValueError):
    """A file is not a saved set, is damaged, or has other items: another kind, level, policy or secret."""


class UnknownNamespaceError(LookupError):
    """A URN namespace (NID) that nothing is known about."""


def place(error: UriError) -> str:
    """Return the start of the message of an error: the file and the row, if it has them."""
    start = "" if error.file is None else f"{error.file}: "
    return start if error.row is None else f"{start}row {error.row}: "


def sentence(reason: str, input: object, offset: int) -> str:
    """Return the message of an error, which names the invalid character."""
    if reason.startswith("invalid character"):  # not that of another error, which the reason quotes
        reason = _found(input, offset) + reason.removeprefix("invalid character")
    return f"{reason} at offset {offset}"


def _found(input: object, offset: int) -> str:
    """Name the invalid character; or the end, where a character is missing."""
    try:
        # Not a copy of all: the input may be large. A subclass of str may slice in its own way.
        item = (
            str.__getitem__(input, slice(offset, offset + 1))
            if isinstance(input, str)
            else bytes(memoryview(input).cast("B")[offset : offset + 1])  # type: ignore[arg-type]
        )
    except (TypeError, ValueError):  # not bytes-like any more
        return "invalid character"
    return f"invalid character {item!r}" if item else "unexpected end"
