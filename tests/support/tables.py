"""Tables of many small cases as one test: a case each costs more to collect and to report than to run."""

import functools
import inspect

import pytest

SHOWN = 10
LONGEST = 2000  # characters of one failure


def each_row(names, values):
    """Return a decorator like `pytest.mark.parametrize`, but one test goes through all rows.

    It shows the first ten that fail. `values` may be a function, which is called when the test runs.
    """
    names = (names,) if isinstance(names, str) else names

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function, updated=())
        def test(**fixtures):
            failed, count, first = [], 0, None
            for count, row in enumerate(values() if callable(values) else values, 1):
                try:
                    function(**fixtures, **dict(zip(names, row if len(names) > 1 else (row,), strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    first = first or error
                    failed.append(f"row {count}: {row!r}\n{type(error).__name__}: {error}"[:LONGEST])
            assert count, "there are no rows"
            if failed:
                shown = "\n\n".join(failed[:SHOWN])
                raise AssertionError(f"{len(failed)} of {count} rows fail, the first {SHOWN}:\n\n{shown}") from first

        left = [parameter for name, parameter in signature.parameters.items() if name not in names]
        test.__signature__ = signature.replace(parameters=left)
        test.pytestmark = getattr(function, "pytestmark", [])
        return test

    return decorate
