"""The types of the functions of `bulk` for type checkers: the type of the result depends on the type of the column.

A function is written once, with its own parameters. A decorator names the kind of its result and gives it the overloads
of the table at the head of `bulk`, parameters included. At run time the decorators return the function unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from uricodec._rows._columns import Column

if TYPE_CHECKING:
    from typing_extensions import Buffer

P = ParamSpec("P")
T = TypeVar("T")
Row_co = TypeVar("Row_co", covariant=True)


class ArrowArray(Protocol):
    """One array of the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Arrays, or a table of one column, of the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class NumpyArray(Protocol):
    """An array of NumPy: of objects, or of bytes."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class PandasColumn(Protocol):
    """A Series or an Index of pandas: nothing else here has a method of this name."""

    @property
    def factorize(self) -> Any: ...


class BinaryInput(Protocol):
    """A binary file that is read."""

    def readinto(self, buffer: Any, /) -> int | None: ...


class BinaryOutput(Protocol):
    """A binary file that is written."""

    def write(self, data: Any, /) -> Any: ...


SomePandasColumn = TypeVar("SomePandasColumn", bound=PandasColumn)


class TextFunction(Protocol[P]):
    """An operation whose result is text.

    A list of T is a list of T again, unless errors="null" adds None: hence `T | Any`, which can be used as T.
    """

    @overload
    def __call__(self, column: list[T] | tuple[T, ...], /, *args: P.args, **kwargs: P.kwargs) -> list[T | Any]: ...
    @overload
    def __call__(self, column: SomePandasColumn, /, *args: P.args, **kwargs: P.kwargs) -> SomePandasColumn: ...
    @overload
    def __call__(self, column: NumpyArray, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, column: ArrowArray | ArrowStream, /, *args: P.args, **kwargs: P.kwargs) -> Column: ...
    @overload
    def __call__(self, column: Buffer, /, *args: P.args, **kwargs: P.kwargs) -> bytes: ...
    @overload
    def __call__(self, column: BinaryIO | BinaryInput, /, *args: P.args, **kwargs: P.kwargs) -> int: ...


class RowFunction(Protocol[P, Row_co]):
    """An operation whose result is a list of `Row_co` or, for all but lists, a column of another type than text."""

    @overload
    def __call__(self, column: list[Any] | tuple[Any, ...], /, *args: P.args, **kwargs: P.kwargs) -> list[Row_co]: ...
    @overload
    def __call__(self, column: PandasColumn | NumpyArray, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, column: ArrowArray | ArrowStream | Buffer, /, *args: P.args, **kwargs: P.kwargs) -> Column: ...


def returns_text(function: Callable[Concatenate[Any, P], Any]) -> TextFunction[P]:
    return cast("TextFunction[P]", function)


def returns_verdicts(function: Callable[Concatenate[Any, P], Any]) -> RowFunction[P, bool | None]:
    return cast("RowFunction[P, bool | None]", function)


def returns_structs(function: Callable[Concatenate[Any, P], Any]) -> RowFunction[P, dict[str, Any] | None]:
    return cast("RowFunction[P, dict[str, Any] | None]", function)


def returns_fingerprints(function: Callable[Concatenate[Any, P], Any]) -> RowFunction[P, bytes | None]:
    return cast("RowFunction[P, bytes | None]", function)
