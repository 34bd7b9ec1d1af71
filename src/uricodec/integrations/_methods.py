"""Methods for the namespaces and accessors of engines, and functions: one for each operation of `bulk`.

They have the parameters of the operation and some of the options that all operations share. Their documentation is made
from the docstring of the function of `bulk`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, TypeVar

from uricodec.bulk._functions import dress, signature
from uricodec.bulk._operation import Operation
from uricodec.bulk._operations import OPERATIONS

_ANNOTATIONS = {"errors": "str | None", "invalid": "InvalidRows | None", "threads": "int | None"}

_Class = TypeVar("_Class", bound=type)


def with_operations(kind: str, options: Iterable[str], returns: dict[str, str]) -> Callable[[_Class], _Class]:
    """Return a decorator that gives a class a method for each operation.

    Args:
        kind (str): The type of the result.
        options (Iterable[str]): The shared options that the methods accept: of "errors", "invalid" and "threads".
        returns (dict[str, str]): The documentation of the result, by the kind of result.

    Returns:
        Callable[[type], type]: The decorator. A method calls `self._run(name, arguments)`.
    """

    def run(self: Any, name: str, given: dict[str, Any]) -> Any:
        return self._run(name, given)

    def decorate(owner: _Class) -> _Class:
        for name, operation in OPERATIONS.items():
            result = f"{kind}: {returns[operation.result]}"
            method = engine_function(operation, "self", options, run, result)
            method.__qualname__, method.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
            setattr(owner, name, method)
        return owner

    return decorate


def engine_function(  # noqa: PLR0913, PLR0917
    operation: Operation, first: str, options: Iterable[str], run: Callable[..., Any], returns: str, about: str = ""
) -> Callable[..., Any]:
    """Return the function of an operation in an engine.

    Args:
        operation (Operation): The operation.
        first (str): The first parameter: `self` or a column.
        options (Iterable[str]): The shared options that are accepted. They are keywords; None is their default.
        run (Callable): Called with the first argument, the name, and a dict of the other arguments that are given.
        returns (str): The documentation of the result.
        about (str): The documentation of the column, if it is an argument.

    >>> from inspect import signature
    >>> print(signature(engine_function(OPERATIONS["quote"], "column", ["errors"], print, "")))
    (column, safe: 'ByteSet | str | bytes' = '/', plus: 'bool' = False, *, errors: 'str | None' = None)
    """
    shared = {
        each: Parameter(each, Parameter.KEYWORD_ONLY, default=None, annotation=_ANNOTATIONS[each]) for each in options
    }
    shown = signature(operation, Parameter(first, Parameter.POSITIONAL_OR_KEYWORD), shared.values(), Signature.empty)
    known = {*operation.names, *shared}
    needed = {*operation.names} - {*operation.defaults}

    def function(*own: Any, **named: Any) -> Any:
        column, given = own[0] if own else None, named
        if len(own) != 1 or first in named or not known.issuperset(named) or not needed.issubset(named):
            try:
                given = shown.bind(*own, **named).arguments  # takes as long as a short column
            except TypeError as error:
                raise TypeError(f"{operation.name}(): {error}") from None
            column = given.pop(first)
        given = {key: value for key, value in given.items() if value is not None or key not in shared}
        return run(column, operation.name, given)

    dress(function, operation.name, shown, _documentation(operation, [about, *_about(operation, options)], returns))
    return function


def _about(operation: Operation, options: Iterable[str]) -> list[str]:
    """Return the documentation of the operation's own parameters, and of shared options.

    >>> _about(OPERATIONS["uri_to_iri"], ["errors"])[-1]
    'errors (str | None): How an invalid row is handled: "keep", "null", "raise"; None: "keep".'
    """
    policies = [f'"{policy}"' for policy in operation.policies if policy != "drop"]  # columns keep their length
    about = {
        "errors": f"How an invalid row is handled: {', '.join(policies)}; None: {policies[0]}.",
        "invalid": "Receives the number of invalid rows, and the first of them.",
        "threads": "The maximum number of threads; None: one per core for more than 1 MiB.",
    }
    own = [f"{each.name} ({each.type}): {each.about}" for each in operation.parameters]
    return [*own, *(f"{option} ({_ANNOTATIONS[option]}): {about[option]}" for option in options)]


def _documentation(operation: Operation, arguments: list[str], returns: str) -> str:
    """Return the documentation of an operation, with a reference to the function of `bulk`."""
    arguments = [_wrapped(each) for each in arguments if each]
    parts = [
        f"{operation.summary[0].upper()}{operation.summary[1:]}.",
        *(["\n".join(["Args:", *arguments])] if arguments else []),
        f"Returns:\n{_wrapped(returns)}",
        f"Source: {operation.source} See also `uricodec.bulk.{operation.name}`.",
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    return fill(text, 116, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)
