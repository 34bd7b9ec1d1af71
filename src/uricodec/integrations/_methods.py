"""Methods for the namespaces and accessors of engines: one for each operation of the table in `_rows/registry.py`.

A method has the parameters of its operation and some of the options that all operations share. Its signature and its
documentation are assembled from the row of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from uricodec._rows.registry import OPERATIONS, Operation
from uricodec.bulk._functions import compiled, documentation

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

    def decorate(owner: _Class) -> _Class:
        for name, operation in OPERATIONS.items():
            result = f"{kind}: {returns[operation.result]}"
            setattr(owner, name, _method(owner, operation, tuple(options), result))
        return owner

    return decorate


def engine_function(
    operation: Operation, first: str, options: Iterable[str], run: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the function of an operation in an engine.

    Args:
        operation (Operation): The row of the table.
        first (str): The first parameter: `self` or a column.
        options (Iterable[str]): The shared options that are accepted. They are keywords; None is their default.
        run (Callable): Called with the first argument, the name, and all other arguments, without options that are
            left out.

    >>> from inspect import signature
    >>> from uricodec._rows.registry import OPERATIONS
    >>> print(signature(engine_function(OPERATIONS["quote"], "column", ["errors"], print)))
    (column, safe: 'ByteSet | str | bytes' = '/', plus: 'bool' = False, *, errors: 'str | None' = None)
    """

    def run_given(first: Any, own: dict[str, Any], shared: dict[str, Any]) -> Any:
        return run(first, operation.name, own | {key: value for key, value in shared.items() if value is not None})

    options = list(options)
    given = ", ".join(f"{each!r}: {each}" for each in options)
    call = f"run({first}, {{own}}, {{{{{given}}}}})"
    function = compiled(operation, first, dict.fromkeys(options), call, run_given)
    own = {each.name: each.type for each in operation.parameters}
    function.__annotations__ = own | {option: _ANNOTATIONS[option] for option in options}
    return function


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
    method = engine_function(operation, "self", options, lambda self, name, given: self._run(name, given))
    method.__qualname__, method.__module__ = f"{owner.__qualname__}.{operation.name}", owner.__module__
    method.__doc__ = documentation(operation, "", about_options(operation, options), returns)
    return method
