"""The functions of `bulk`: made from the table of operations, with their signatures and documentation.

    def host(column, *, errors="keep", invalid=None, threads=None, line_terminator=b"\\n"):
        return run("host", column, {}, errors, invalid, threads, line_terminator)

They are compiled from text: a function that takes any arguments and binds them to a signature would be slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import cleandoc
from textwrap import fill
from typing import Any

from uricodec._rows.registry import REQUIRED, Operation
from uricodec.bulk._calls import run

_SHARED = {"invalid": "InvalidRows | None", "threads": "int | None", "line_terminator": "bytes"}
_DEFAULTS = {"invalid": None, "threads": None, "line_terminator": b"\n", "output": None}


def function_of(operation: Operation, module: str) -> Callable[..., Any]:
    """Return the function of an operation.

    Args:
        operation (Operation): The row of the table.
        module (str): The name of the module that it is a part of.

    >>> from inspect import signature
    >>> from uricodec._rows.registry import OPERATIONS
    >>> print(str(signature(function_of(OPERATIONS["quote"], "bulk"))).partition(", *")[0])
    (column: 'Any', safe: 'ByteSet | str | bytes' = '/', plus: 'bool' = False
    """
    types = {"errors": operation.errors_type, **_SHARED}
    if operation.result == "text":
        types["output"] = "BinaryOutput | None"
    defaults = {name: _DEFAULTS.get(name, operation.policies[0]) for name in types}
    call = f"run({operation.name!r}, column, {{own}}, {', '.join(types)})"
    function = compiled(operation, "column", defaults, call, run)
    own = {each.name: each.type for each in operation.parameters}
    function.__annotations__ = {"column": "Any", **own, **types, "return": "Any"}
    function.__module__ = module
    policies = [f'"{policy}"' for policy in operation.policies]
    known = f"How an invalid row is handled: {', '.join(policies[:-1])} or {policies[-1]}. {operation.invalid}"
    if operation.result in ("component", "list") and not operation.invalid:
        known += 'Invalid are rows that are not IRI references; "keep" returns what they have.'
    about = [f"errors (str): {known}", f"{', '.join(list(types)[1:])}: See `uricodec.bulk`."]
    function.__doc__ = documentation(operation, "column (Any): The rows.", about, f"Any: {operation.returned}", True)
    return function


def compiled(
    operation: Operation, first: str, shared: dict[str, Any], call: str, run: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function with the parameters of an operation.

    Args:
        operation (Operation): The row of the table.
        first (str): The name of the first parameter.
        shared (dict[str, Any]): Keywords of all operations, and their defaults.
        call (str): What it returns: an expression, in which "{own}" is a dict of the own parameters.
        run (Callable): What the expression calls "run".
    """
    own = [each.name for each in operation.parameters]
    defaults = {each.name: each.default for each in operation.parameters if each.default is not REQUIRED} | shared
    keywords = ["*", *shared] if shared else []
    shown = [f"{each}={defaults[each]!r}" if each in defaults else each for each in (first, *own, *keywords)]
    given = ", ".join(f"{each!r}: {each}" for each in own)
    names: dict[str, Any] = {"run": run}
    exec(f"def {operation.name}({', '.join(shown)}):\n    return {call.format(own=f'{{{given}}}')}\n", names)
    function: Callable[..., Any] = names[operation.name]
    return function


def documentation(operation: Operation, column: str, shared: Iterable[str], returns: str, whole: bool = False) -> str:
    """Return the documentation of an operation.

    Args:
        operation (Operation): The row of the table.
        column (str): The documentation of the column, if it is an argument.
        shared (Iterable[str]): The documentation of the shared options that are accepted.
        returns (str): The documentation of the result.
        whole (bool): Add the details and the example; otherwise a reference to the function of `bulk`.
    """
    own = [f"{each.name} ({each.type}): {each.about}" for each in operation.parameters]
    arguments = [_wrapped(each, 4) for each in (column, *own, *shared)]
    see = "" if whole else f" See also `uricodec.bulk.{operation.name}`."
    parts = [
        f"{operation.summary[0].upper()}{operation.summary[1:]}.",
        *([_wrapped(operation.details)] if whole and operation.details else []),
        *(["\n".join(["Args:", *filter(None, arguments)])] if any(arguments) else []),
        f"Returns:\n{_wrapped(returns, 4)}",
        f"Source: {operation.source}{see}",
        *([cleandoc(operation.example)] if whole else []),
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, indent: int = 0) -> str:
    start = " " * indent
    return fill(text, 116, initial_indent=start, subsequent_indent=2 * start, break_on_hyphens=False)
