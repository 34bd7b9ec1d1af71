"""`operation`: what makes a function of `bulk` from the function of an operation, and a row of the table of operations.

The function has only what is special to the operation: its own parameters, and what runs the rows for given arguments.

    @operation("text", ...)                                          bulk.quote(column, safe="/", plus=False, *, errors,
    def quote(safe="/", plus=False, **options):              -->         invalid, threads, line_terminator, output)
        return lambda text, terminator: EncodeRows(...)
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Literal, overload

from uricodec.bulk._dispatch import run
from uricodec.bulk._operation import Operation

if TYPE_CHECKING:
    from typing import Generic, TypedDict, TypeVar

    from uricodec._rows.overloads import BinaryOutput, P, RowFunction, TextFunction
    from uricodec.bulk._calls import InvalidRows

    Errors = TypeVar("Errors", bound=str)

    class Options(TypedDict, Generic[Errors], total=False):
        """The options that all operations share."""

        errors: Errors
        invalid: InvalidRows | None
        threads: int | None
        line_terminator: bytes

    class TextOptions(Options[Errors], total=False):
        """The options of operations whose results are text."""

        output: BinaryOutput | None


# Name -> operation, in the order of their definition.
OPERATIONS: dict[str, Operation] = {}


def _operation_of(name: str) -> Operation:
    return OPERATIONS[name]


# By name: Spark sends the tables that its functions use to its workers, and what is decorated here has no public name.
copyreg.pickle(Operation, lambda row: (_operation_of, (row.name,)))

_SHARED = [
    Parameter("invalid", Parameter.KEYWORD_ONLY, default=None, annotation="InvalidRows | None"),
    Parameter("threads", Parameter.KEYWORD_ONLY, default=None, annotation="int | None"),
    Parameter("line_terminator", Parameter.KEYWORD_ONLY, default=b"\n", annotation="bytes"),
]
_OUTPUT = Parameter("output", Parameter.KEYWORD_ONLY, default=None, annotation="BinaryOutput | None")


# The type of the result depends on the column; the overloads are those of the kind of result.
@overload
def operation(result: Literal["text"], **about: Any) -> Callable[[Callable[P, Any]], TextFunction[P]]: ...
@overload
def operation(
    result: Literal["verdict"], **about: Any
) -> Callable[[Callable[P, Any]], RowFunction[P, bool | None]]: ...
@overload
def operation(result: Literal["component"], **about: Any) -> Callable[[Callable[P, Any]], RowFunction[P, Any]]: ...
@overload
def operation(
    result: Literal["list"], **about: Any
) -> Callable[[Callable[P, Any]], RowFunction[P, list[Any] | None]]: ...
@overload
def operation(
    result: Literal["diagnostic", "struct"], **about: Any
) -> Callable[[Callable[P, Any]], RowFunction[P, dict[str, Any] | None]]: ...
@overload
def operation(
    result: Literal["fingerprint"], **about: Any
) -> Callable[[Callable[P, Any]], RowFunction[P, bytes | None]]: ...
def operation(result: str, **about: Any) -> Any:
    """Return a decorator that makes a function of `bulk`.

    The decorated function takes the operation's own parameters, and `**options`: at run time `errors` only; its
    annotation gives type checkers the options that all operations share, and names the type of `errors`. It returns a
    RowOperation, or a Plan, or what makes one of them for the kind of rows: a function of whether they are text, and of
    the bytes that end lines (no lines: b""). What costs time to import is imported inside it. Its docstring is that of
    the function of `bulk`, and Polars, pandas and Spark take theirs from it.

    Args:
        result (str): The result of a row: "text", "verdict" (bool), "diagnostic" (None, or why the row is invalid),
            "component" (text; null if the row has none), "struct" (several of them), "list" (of text or structs) or
            "fingerprint" (16 bytes).
        single (str): The public function for one value: its name after "uricodec.".
        fields (tuple[str, ...]): The field names of a diagnostic, a struct, or the structs of a list.
        default (str): The default of `errors`, if it is not the first value of its type.
        columns (tuple[str, ...]): The parameters that may be columns, too, with a value for each row. The result is
            null if the value is null; with a default, a null value is an undefined one.
        examples (Mapping[str, tuple]): Values of parameters that make a difference, for tests, unless the type has all
            values. Of a parameter without a default, SQL takes the first for the type of the result.
        sql (tuple[SqlFunction, ...]): The functions of SQL.
        command (Filter): The filter of the command line.
        rows (str): tests/data/rows/NAME.txt, the edge cases for tests; by default those of URIs.
        page (str): The page that explains the operation: "guides/uri", the default, is docs/guides/uri.md.
        needs (tuple[str, ...]): Optional libraries that the operation imports.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        row = OPERATIONS[function.__name__] = Operation(function, result, **about)

        def call(
            column: Any,
            *own: Any,
            errors: str = row.policies[0],
            invalid: InvalidRows | None = None,
            threads: int | None = None,
            line_terminator: bytes = b"\n",
            **named: Any,
        ) -> Any:
            return run(row, column, own, named, errors, invalid, threads, line_terminator)

        errors = Parameter("errors", Parameter.KEYWORD_ONLY, default=row.policies[0], annotation=row.errors_type)
        options = [errors, *_SHARED, *([_OUTPUT] if result == "text" else [])]
        column = Parameter("column", Parameter.POSITIONAL_OR_KEYWORD, annotation="Any")
        dress(call, row.name, signature(row, column, options, "Any"), function.__doc__)
        call.__module__ = "uricodec.bulk"
        return call

    return decorate


def dress(function: Callable[..., Any], name: str, shown: Signature, documentation: str | None) -> None:
    """Give a function that takes any arguments the name, signature and documentation of what it stands for."""
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__signature__ = documentation, shown  # type: ignore[attr-defined]
    types = {each.name: each.annotation for each in shown.parameters.values()} | {"return": shown.return_annotation}
    function.__annotations__ = {each: type_ for each, type_ in types.items() if type_ is not Signature.empty}


def signature(row: Operation, column: Parameter, options: Iterable[Parameter], returns: Any) -> Signature:
    """Return the signature of an operation as a function of a column, with options that operations share.

    >>> str(signature(OPERATIONS["quote"], Parameter("column", Parameter.POSITIONAL_OR_KEYWORD), [], str))
    "(column, safe: 'ByteSet | str | bytes' = '/', plus: 'bool' = False) -> str"
    """
    types = row.function.__annotations__
    own = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=row.defaults.get(name, Parameter.empty),
            annotation=types[name],
        )
        for name in row.names
    ]
    return Signature([column, *own, *options], return_annotation=returns)
