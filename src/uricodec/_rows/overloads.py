"""Types of functions of columns, for type checkers: the type of the result depends on the type of the column.

A function is written once, with its own parameters. A decorator gives it the overloads of the kind of its result,
parameters included: `operation` of `bulk`, and here `returns_selection`, which returns it unchanged at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO, Concatenate, ParamSpec, Protocol, TypeVar, overload

    from typing_extensions import Buffer

    from uricodec._rows._columns import Column

    P = ParamSpec("P")
    T = TypeVar("T")
    Row = TypeVar("Row")

    class HasArrowArray(Protocol):
        """One array of the Arrow PyCapsule interface."""

        def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

    class HasArrowStream(Protocol):
        """Arrays, or a table of one column, of the Arrow PyCapsule interface."""

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

    class NumpyArray(Protocol):
        """An array of NumPy: of objects, or of bytes."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    class PandasColumn(Protocol):
        """A Series or an Index of pandas; nothing else here has a method of this name."""

        @property
        def factorize(self) -> Any: ...

    class PolarsSeries(Protocol):
        """A Series of Polars; no other column has a method of this name."""

        def to_physical(self) -> Any: ...

    class BinaryInput(Protocol):
        """A binary file to read."""

        def readinto(self, buffer: Any, /) -> int | None: ...

    class BinaryOutput(Protocol):
        """A binary file to write."""

        def write(self, data: Any, /) -> Any: ...

    SomeSeries = TypeVar("SomeSeries", bound=PandasColumn | PolarsSeries)
    SomePolarsSeries = TypeVar("SomePolarsSeries", bound=PolarsSeries)

    class TextFunction(Protocol[P]):
        """A function whose results are text.

        A list of T becomes a list of T, but errors="null" adds None. `T | Any` can be used as T.
        """

        @overload
        def __call__(self, column: list[T] | tuple[T, ...], /, *args: P.args, **kwargs: P.kwargs) -> list[T | Any]: ...
        @overload
        def __call__(self, column: SomeSeries, /, *args: P.args, **kwargs: P.kwargs) -> SomeSeries: ...
        @overload
        def __call__(self, column: NumpyArray, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
        @overload
        def __call__(self, column: HasArrowArray | HasArrowStream, /, *args: P.args, **kwargs: P.kwargs) -> Column: ...
        @overload
        def __call__(self, column: Buffer, /, *args: P.args, **kwargs: P.kwargs) -> bytes: ...
        @overload
        def __call__(self, column: BinaryIO | BinaryInput, /, *args: P.args, **kwargs: P.kwargs) -> int: ...

    class RowFunction(Protocol[P, Row]):
        """A function whose results are not text: a list becomes a list of `Row`."""

        @overload
        def __call__(self, column: list[Any] | tuple[Any, ...], /, *args: P.args, **kwargs: P.kwargs) -> list[Row]: ...
        @overload
        def __call__(self, column: SomePolarsSeries, /, *args: P.args, **kwargs: P.kwargs) -> SomePolarsSeries: ...
        @overload
        def __call__(self, column: PandasColumn | NumpyArray, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
        @overload
        def __call__(
            self, column: HasArrowArray | HasArrowStream | Buffer, /, *args: P.args, **kwargs: P.kwargs
        ) -> Column: ...

    class SelectionFunction(Protocol[P]):
        """A function that returns some of the rows."""

        @overload
        def __call__(self, column: list[T] | tuple[T, ...], /, *args: P.args, **kwargs: P.kwargs) -> list[T]: ...
        @overload
        def __call__(self, column: SomeSeries, /, *args: P.args, **kwargs: P.kwargs) -> SomeSeries: ...
        @overload
        def __call__(self, column: HasArrowArray | HasArrowStream, /, *args: P.args, **kwargs: P.kwargs) -> Column: ...
        @overload
        def __call__(self, column: Buffer, /, *args: P.args, **kwargs: P.kwargs) -> bytes: ...

    def returns_selection(function: Callable[Concatenate[Any, P], Any]) -> SelectionFunction[P]: ...

else:

    def returns_selection(function):
        return function
