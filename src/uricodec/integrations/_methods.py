"""Methods for namespaces and accessors of engines: one for each operation, with its signature and its documentation.

What an operation takes besides its column stays as it is; of what all operations take, an engine has a part.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from uricodec._rows.registry import OPERATIONS, Operation
from uricodec.integrations._operations import FUNCTIONS

# What all operations take, and its type. The documentation of `errors` is the operation's own.
HOW = {"errors": "str | None", "invalid": "InvalidRows | None", "threads": "int | None"}
ABOUT = {
    "invalid": "invalid (uricodec.bulk.InvalidRows | None): Is filled with the number of these rows and the first.",
    "threads": "threads (int | None): How many threads work; None: as many as there are, for more than 1 MiB.",
}

_Class = TypeVar("_Class", bound=type)


def with_operations(how: Iterable[str], returns: dict[str, str]) -> Callable[[_Class], _Class]:
    """Give a class a method for each operation.

    Args:
        how (Iterable[str]): Those of the arguments in `HOW` that the methods take.
        returns (dict[str, str]): What a method returns, for each kind of result, as its documentation says it.

    Returns:
        Callable[[type], type]: The decorator. A method calls `self._do(name, arguments)` with those that were given.
    """

    def decorate(owner: _Class) -> _Class:
        for name, operation in OPERATIONS.items():
            setattr(owner, name, _method(owner, name, tuple(how), returns[operation.result]))
        return owner

    return decorate


def about_errors(operation: Operation) -> str:
    """Return the documentation of `errors` for a column, in which no row may vanish.

    >>> from uricodec._rows.registry import OPERATIONS
    >>> about_errors(OPERATIONS["check_uri"])
    'errors (str | None): How an invalid row is handled: "keep", "raise"; None: "keep".'
    """
    policies = [f'"{policy}"' for policy in operation.policies if policy != "drop"]
    return f"errors (str | None): How an invalid row is handled: {', '.join(policies)}; None: {policies[0]}."


def _method(owner: type, name: str, how: tuple[str, ...], returns: str) -> Callable[..., Any]:
    own = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:-1]
    shared = [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=HOW[each]) for each in how
    ]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([first, *own, *shared])

    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        this = given.pop("self")
        return this._do(name, {key: value for key, value in given.items() if key not in how or value is not None})

    method.__name__, method.__qualname__, method.__module__ = name, f"{owner.__qualname__}.{name}", owner.__module__
    method.__doc__ = _document(name, how, returns)
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _document(name: str, how: tuple[str, ...], returns: str) -> str:
    """The documentation of an operation, for rows that are not its first argument."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    head, _, rest = text.partition("\n\nArgs:\n")
    own = re.sub(r"    column \(Any\).*\n", "", rest.partition("\n\nReturns:\n")[0] + "\n")
    source = re.search(r"\n\n(Source: .*)\n", rest)
    about = {"errors": about_errors(OPERATIONS[name]), **ABOUT}
    arguments = own + "".join(f"    {about[each]}\n" for each in how)
    return f"{head}\n\nArgs:\n{arguments}\nReturns:\n    {returns}\n\n{source[1] if source else ''}\n"
