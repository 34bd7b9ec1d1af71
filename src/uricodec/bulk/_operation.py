"""What the table of operations has of each: its names, parameters and results.

Nothing is written twice: parameters are those of the function, their documentation is in its docstring, and the values
of an option are those of its type in `uricodec.typing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from uricodec import typing as types

# The default of parameters that must be given.
REQUIRED: Any = ...

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Parameter(NamedTuple):
    """A parameter of an operation.

    Attributes:
        name (str): The name, everywhere but on the command line.
        type (str): The annotation.
        default (Any): The default of `bulk`, SQL and the engines; or REQUIRED.
        about (str): The documentation.
        choices (tuple[Any, ...]): All values, if their number is limited.
        examples (tuple[Any, ...]): Without choices: values that make a difference, for tests. Without a default,
            SQL takes the type of the result from a call with the first.
        column (str): Whether it may be a column, too, with a value for each row: "" (no), "needed" (the result is null
            if the value is null) or "optional" (a null value is an undefined one).
    """

    name: str
    type: str
    default: Any
    about: str
    choices: tuple[Any, ...]
    examples: tuple[Any, ...]
    column: str


class SqlFunction(NamedTuple):
    """A function of SQL.

    Attributes:
        name (str): The name.
        parameters (tuple[str, ...]): The parameters after the column, all of them text. Trailing ones with a
            default are optional.
        fixed (Mapping[str, Any]): The values of parameters, and of `errors`, that this function fixes.
    """

    name: str
    parameters: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = _NOTHING


class Filter(NamedTuple):
    """A filter of the command line.

    Attributes:
        line (str): The command, with the options that select the operation.
        options (Mapping[str, str]): Parameter -> the option that sets it.
    """

    line: str
    options: Mapping[str, str] = _NOTHING


class Operation:
    """An operation on rows; `operation` in `_functions.py` documents the arguments.

    Attributes:
        name (str): The name in `bulk`, Polars, pandas and Spark.
        function (Callable): Returns what runs the rows, for the operation's own arguments and `errors`.
        names (tuple[str, ...]): The names of its own parameters.
        columns (frozenset[str]): Those that may be columns, too.
        errors_type (str): The type of `errors`, in `uricodec.typing`.
        policies (tuple[str, ...]): The values of `errors`, the default first. "drop" is for lines and records only,
            because the length of a list or a column is fixed.
    """

    def __init__(  # noqa: PLR0913
        self,
        function: Callable[..., Any],
        result: str,
        *,
        single: str = "",
        fields: tuple[str, ...] = (),
        default: str = "",
        columns: tuple[str, ...] = (),
        examples: Mapping[str, tuple[Any, ...]] = _NOTHING,
        sql: tuple[SqlFunction, ...] = (),
        command: Filter | None = None,
        rows: str = "uris",
        page: str = "guides/uri",
        needs: tuple[str, ...] = (),
    ) -> None:
        code = function.__code__
        self.name: str = function.__name__
        self.function: Callable[..., Any] = function
        self.result: str = result
        self.names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        self.columns: frozenset[str] = frozenset(columns)
        self.fields: tuple[str, ...] = ("code", "offset") if result == "diagnostic" else fields
        self.single: str = single
        self.page: str = page
        self.rows: str = rows
        self.sql: tuple[SqlFunction, ...] = sql
        self.command: Filter | None = command
        self.needs: tuple[str, ...] = needs
        self._examples: Mapping[str, tuple[Any, ...]] = examples
        [found] = re.findall(r"\w+Errors", function.__annotations__["options"])
        self.errors_type: str = found
        known: tuple[str, ...] = get_args(getattr(types, found))
        self.policies: tuple[str, ...] = tuple(dict.fromkeys([default, *known] if default else known))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, in their order in `bulk`."""
        return tuple(map(self._parameter, self.names))

    def _parameter(self, name: str) -> Parameter:
        annotation, default = self.function.__annotations__[name], self.defaults.get(name, REQUIRED)
        about = self._documented[f"{name} ({annotation})"]
        column = "" if name not in self.columns else "needed" if default is REQUIRED else "optional"
        return Parameter(name, annotation, default, about, _choices(annotation), self._examples.get(name, ()), column)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the parameters that have one."""
        values = self.function.__defaults__ or ()
        return dict(zip(self.names[len(self.names) - len(values) :], values, strict=True))

    @cached_property
    def required(self) -> dict[str, Any]:
        """The first example of each parameter that has no default."""
        return {name: self._examples[name][0] for name in self.names if name not in self.defaults}

    # --- the docstring ------------------------------------------------------------------------------------------------

    @cached_property
    def summary(self) -> str:
        """What it does with each row: the first line of its docstring, as a part of a sentence."""
        line = (self.function.__doc__ or "").partition("\n")[0]
        return f"{line[0].lower()}{line[1:].rstrip('.')}"

    @cached_property
    def source(self) -> str:
        """The sections of the RFCs that define it."""
        [found] = re.findall(r"^ *Source: (.*(?:\n.+)*)", self.function.__doc__ or "", re.MULTILINE)
        return " ".join(found.split())

    @cached_property
    def _documented(self) -> dict[str, str]:
        """The documentation of each argument, by its name and its type: "column (Any)"."""
        _, _, section = (self.function.__doc__ or "").partition("Args:\n")
        section, _, _ = section.partition("\n\n")
        items = re.split(r"\n {8}(?=\w)", f"\n{section}")[1:]
        return {name: about for name, _, about in (" ".join(each.split()).partition(": ") for each in items)}


def _choices(annotation: str) -> tuple[Any, ...]:
    """Return all values of a type: of bool, and of a Literal of `uricodec.typing`, with None if that is allowed.

    >>> _choices("UriLevel | None")[:3], _choices("str | None")
    ((None, 'simple', 'case'), ())
    """
    name, *others = annotation.split(" | ")
    if name == "bool":
        return (None, False, True) if others else (False, True)
    values = [each for each in get_args(getattr(types, name, None)) if isinstance(each, str)]  # 2141 means "2141"
    if not values or others not in ([], ["None"]):
        return ()
    return (None, *values) if others else tuple(values)
