"""Run a program with the drop-in: `python -m uricodec.run [--profile] script.py | -m module [argument ...]`.

The functions of urllib.parse are replaced in urllib.parse itself and in all modules that are loaded, before the
program starts: see `uricodec.install`. `sys.path` and `__main__` are as if the interpreter had started the program,
with its options `-P` and `-I`, too. With `--profile`, each call with ordinary arguments is also made with
urllib.parse's own function, and a table at the end shows the calls and the time that the drop-in saved.
"""

import argparse
import builtins
import functools
import importlib.util
import io
import os
import pkgutil
import runpy
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER
from threading import local
from time import perf_counter_ns
from types import ModuleType
from typing import Any, TextIO

from uricodec.parse._install import install_functions

__all__: list[str] = []  # it is a command
_DESCRIPTION = """Run a program with the functions of urllib.parse replaced by the faster ones of uricodec. sys.path and
__main__ are as if the interpreter had started the program."""


def __dir__() -> list[str]:
    return __all__


# Arguments that a call leaves as they are, so that it can be made twice.
_ORDINARY = (str, bytes, bytearray, bool, int, float, type(None))


def _is_ordinary(value: object, levels: int = 4) -> bool:
    """Return whether a value is of one of these types, or of lists and dicts of them that are not nested deeper."""
    values: Iterable[object]
    if type(value) is dict:
        values = (x for pair in value.items() for x in pair)
    elif isinstance(value, (list, tuple)) and type(value).__iter__ in (list.__iter__, tuple.__iter__):
        values = value
    else:
        return type(value) in _ORDINARY or callable(value)
    return levels > 0 and all(_is_ordinary(x, levels - 1) for x in values)


def _untouched() -> ModuleType:
    """Return a second urllib.parse: in the first one, functions call each other by names that are replaced."""
    spec = importlib.util.find_spec("urllib.parse")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Figures:
    """Of one function: how many calls there were, and nanoseconds of those that were compared, ours and urllib's."""

    LIMIT = 1_000_000

    def __init__(self) -> None:
        self.calls = 0
        self.ours = array("q")
        self.theirs = array("q")

    def mean(self, times: "array[int]", cost: int) -> float:
        """Return the nanoseconds of a call, given what measuring one costs, which is a part of each time.

        The slowest hundredth counts like the one before it: what made it slow is mostly another process.
        """
        in_order = sorted(times)
        cap = in_order[-1 - len(in_order) // 100]
        return sum(max(min(time, cap) - cost, 0) for time in in_order) / len(in_order)


def _cost_of_measuring() -> int:
    """Return the nanoseconds that are measured for a call of a function that does nothing: the median."""

    def nothing(*arguments: Any, **options: Any) -> None:
        pass

    arguments, options, times = ("a b",), {"safe": ""}, []
    for _ in range(1001):
        start = perf_counter_ns()
        nothing(*arguments, **options)
        times.append(perf_counter_ns() - start)
    return sorted(times)[500]


class Profile:
    """Calls and times of the functions that the drop-in replaces."""

    def __init__(self) -> None:
        self.figures: dict[str, _Figures] = {}
        self.cost: int = _cost_of_measuring()
        self._untouched = _untouched()
        self._thread = local()  # what a function calls in its turn is not counted again

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the drop-in as one that also counts, and compares with urllib.parse's.

        >>> from uricodec.parse import quote
        >>> profile = Profile()
        >>> profile.wrap("quote", quote)("a b")
        'a%20b'
        >>> profile.figures["quote"].calls
        1
        """
        figures = self.figures.setdefault(name, _Figures())
        theirs, thread = getattr(self._untouched, name), self._thread

        @functools.wraps(function)
        def profiled(*arguments: Any, **options: Any) -> Any:
            if "quote_via" in options:  # known to urlencode as what it is
                options["quote_via"] = getattr(options["quote_via"], "__wrapped__", options["quote_via"])
            if getattr(thread, "busy", False):
                return function(*arguments, **options)
            thread.busy = True
            try:
                compare = all(map(_is_ordinary, arguments)) and all(map(_is_ordinary, options.values()))
                figures.calls += 1
                start = perf_counter_ns()
                result = function(*arguments, **options)
                middle = perf_counter_ns()
                if compare and len(figures.ours) < figures.LIMIT:
                    theirs(*arguments, **options)
                    figures.theirs.append(perf_counter_ns() - middle)
                    figures.ours.append(middle - start)
            finally:
                thread.busy = False
            return result

        return profiled

    def print(self, file: TextIO) -> None:
        """Write the table. Time saved is that of all calls, if the others are like those that were compared.

        The ratio is left out if a call takes less time than measuring it: it would compare errors.
        """
        print(f"\n{'function':20}{'calls':>10}{'urllib':>12}{'uricodec':>12}{'saved':>12}{'ratio':>8}", file=file)
        total = 0.0
        for name, figures in sorted(self.figures.items()):
            if not figures.ours:
                continue
            theirs, ours = figures.mean(figures.theirs, self.cost), figures.mean(figures.ours, self.cost)
            ratio = f"{theirs / ours:8.1f}" if ours > self.cost else f"{'-':>8}"
            each = figures.calls / 1e6
            total += (theirs - ours) * each
            row = f"{theirs * each:9.2f} ms{ours * each:9.2f} ms{(theirs - ours) * each:9.2f} ms{ratio}"
            print(f"{name:20}{figures.calls:10}{row}", file=file)
        print(f"{'all':20}{sum(row.calls for row in self.figures.values()):10}{'':24}{total:9.2f} ms", file=file)


def _new_main() -> ModuleType:
    """Replace the module __main__, which is this one, by a module with the names that the interpreter starts with."""
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __loader__=BuiltinImporter)
    if "__annotations__" in sys.modules["__main__"].__dict__:  # until Python 3.13
        module.__dict__.update(__annotations__={})
    sys.modules["__main__"] = module
    return module


def _remove_first_path() -> None:
    """Remove the folder that the interpreter has put first in sys.path for `-m`, if it has: see `-P` and `-I`."""
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        with suppress(FileNotFoundError):  # the current folder has been removed: the interpreter has put none there
            os.getcwd()
            del sys.path[:1]


def _run_module(name: str, *, is_named: bool) -> None:
    """Run a module, or the __main__.py that sys.path begins with, as the interpreter does: by this function."""
    _new_main()
    runpy._run_module_as_main(name, is_named)  # type: ignore[attr-defined]


def _run_path(path: str) -> None:
    """Run a script, or the __main__.py of a folder or archive, as the module __main__.

    runpy.run_path() differs from the interpreter in `__file__` and `sys.argv[0]`.
    """
    full = _full_path(path)
    _remove_first_path()
    if pkgutil.get_importer(full) is not None:
        sys.path.insert(0, full)  # whatever the options are
        _run_module("__main__", is_named=False)
        return
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path.insert(0, _folder_of(full))
    try:
        with io.open_code(full) as file:
            contents = file.read()
    except OSError as error:
        message = f"can't open file {full!r}: [Errno {error.errno}] {error.strerror}"
        sys.stderr.write(f"{sys.orig_argv[0]}: {message}\n")
        sys.exit(2)
    is_compiled = full.endswith(".pyc") or (contents[:2] == MAGIC_NUMBER[:2] and os.path.isfile(full))
    loader: Any = (SourcelessFileLoader if is_compiled else SourceFileLoader)("__main__", full)
    code = loader.get_code("__main__") if is_compiled else loader.source_to_code(contents, full)
    module = _new_main()
    module.__dict__.update(__file__=full, __loader__=loader)
    if sys.version_info < (3, 15):
        module.__dict__["__cached__"] = None
    exec(code, module.__dict__)


def _full_path(path: str) -> str:
    """Return the path from the root, otherwise as it is."""
    if os.name == "nt":
        return os.path.abspath(path)
    try:
        if path in ("", ".") and sys.version_info >= (3, 11):
            return os.getcwd()
        return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    except FileNotFoundError:  # the current folder has been removed
        return path


def _folder_of(path: str) -> str:
    """Return the folder of a script, which may be a link, or a pipe that has no other path (/dev/fd/63)."""
    if os.name == "nt":
        return os.path.dirname(path)
    try:
        return os.path.dirname(os.path.realpath(path, strict=True))
    except OSError:
        with suppress(OSError):
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        return os.path.dirname(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a script or a module with the drop-in installed.

    Args:
        arguments (Sequence[str] | None): Of the command line; None: those of the process.

    Raises:
        SystemExit: As the program raises it, or for arguments that are not understood.
    """
    parser = argparse.ArgumentParser(prog="python -m uricodec.run", description=_DESCRIPTION)
    parser.add_argument("--profile", action="store_true", help="print calls and time saved, per function, at the end")
    parser.add_argument("-m", dest="is_module", action="store_true", help="run a module, as python -m does")
    parser.add_argument("program", help="the path of a script, or the name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    words = list(sys.argv[1:] if arguments is None else arguments)
    for i, word in enumerate(words):
        if word[:2] == "-m" or word[:1] != "-":
            words[i : i + 1] = ["-m", word[2:]] if word[:2] == "-m" and word != "-m" else [word]  # -mNAME
            break
    options = parser.parse_args(words)
    profile = Profile() if options.profile else None
    install_functions(rebind=True, wrap=profile.wrap if profile else None)
    sys.argv[:] = ["-m" if options.is_module else options.program, *options.arguments]
    try:
        if options.is_module:
            _run_module(options.program, is_named=True)
        else:
            _run_path(options.program)
    finally:
        if profile:
            profile.print(sys.stderr)


if __name__ == "__main__":
    main()
