"""Methods for the namespaces and accessors of engines: one for each operation of the table in `_rows/registry.py`.

A method has the parameters of its operation and some of the options that all operations share. Its signature and its
documentation are assembled from the row of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from typing import Any, TypeVar

from uricodec._rows.registry import OPERATIONS, REQUIRED, Operation
from uricodec.bulk._functions import documentation

_ANNOTATIONS = {"errors": "str | None", "invalid": "InvalidRows | None", "threads": "int | None"}

_Class = TypeVar("_Class", bound=type)


def with_operations(options: Iterable[str], returns: dict[str, str]) -> Callable[[_Class], _Class]:
    """Return a decorator that gives a class a method for each operation.

    Args:
        options (Iterable[str]): The shared options that the methods accept: of "errors", "invalid" and "threads".
        returns (dict[str, str]): The documentation of the result, by the kind of result.

    Returns:
        Callable[[type], type]: The decorator. A method calls `self._run(name, arguments)` with the arguments that were
            given.
    """

    def decorate(owner: _Class) -> _Class:
        for name, operation in OPERATIONS.items():
            setattr(owner, name, _method(owner, operation, tuple(options), returns[operation.result]))
        return owner

    return decorate


def signature_of(operation: Operation, first: Parameter, options: Iterable[str]) -> Signature:
    """Return the signature of an operation in an engine.

    Args:
        operation (Operation): The row of the table.
        first (inspect.Parameter): The first parameter: `self` or a column.
        options (Iterable[str]): The shared options that are accepted. They are keywords; None is their default.

    >>> from inspect import Parameter
    >>> from uricodec._rows.registry import OPERATIONS
    >>> column = Parameter("column", Parameter.POSITIONAL_OR_KEYWORD)
    >>> print(signature_of(OPERATIONS["quote"], column, ["errors"]))
    (column, safe: 'ByteSet | str | bytes' = '/', plus: 'bool' = False, *, errors: 'str | None' = None)
    """
    own = [
        Parameter(each.name, Parameter.POSITIONAL_OR_KEYWORD, default=_default(each.default), annotation=each.type)
        for each in operation.parameters
    ]
    shared = [
        Parameter(option, Parameter.KEYWORD_ONLY, default=None, annotation=_ANNOTATIONS[option]) for option in options
    ]
    return Signature([first, *own, *shared])


def _default(value: Any) -> Any:
    return Parameter.empty if value is REQUIRED else value


def arguments_of(name: str, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, the first one included, without shared options whose value is None.

    Raises:
        TypeError: If the call does not match the signature; the message names the operation.

    >>> from inspect import signature
    >>> arguments_of("quote", signature(lambda column, plus: None), ("a",), {"plus": True})
    {'column': 'a', 'plus': True}
    """
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    keywords = {each.name for each in signature.parameters.values() if each.kind is Parameter.KEYWORD_ONLY}
    return {key: value for key, value in given.items() if not (key in keywords and value is None)}


def about_options(operation: Operation, options: Iterable[str]) -> list[str]:
    """Return the documentation of shared options.

    Args:
        operation (Operation): The row of the table.
        options (Iterable[str]): The shared options that are accepted.

    >>> from uricodec._rows.registry import OPERATIONS
    >>> about_options(OPERATIONS["uri_to_iri"], ["errors"])
    ['errors (str | None): How an invalid row is handled: "keep", "null", "raise"; None: "keep".']
    """
    policies = [f'"{policy}"' for policy in operation.policies if policy != "drop"]  # columns keep their length
    about = {
        "errors": f"How an invalid row is handled: {', '.join(policies)}; None: {policies[0]}.",
        "invalid": "Receives the number of invalid rows, and the first of them.",
        "threads": "The maximum number of threads; None: one per core for more than 1 MiB.",
    }
    return [f"{option} ({_ANNOTATIONS[option]}): {about[option]}" for option in options]


def _method(owner: type, operation: Operation, options: tuple[str, ...], returns: str) -> Callable[..., Any]:
    name = operation.name
    signature = signature_of(operation, Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), options)

    def method(*args: Any, **kwargs: Any) -> Any:
        given = arguments_of(name, signature, args, kwargs)
        return given.pop("self")._run(name, given)

    method.__name__, method.__qualname__, method.__module__ = name, f"{owner.__qualname__}.{name}", owner.__module__
    method.__doc__ = documentation(operation, "", about_options(operation, options), returns)
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method
