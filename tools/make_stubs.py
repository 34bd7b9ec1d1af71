"""Writes the type stubs of what is made from the table of operations: `python tools/make_stubs.py`.

They are those of the parts of URLs for single values, and of the hooks into engines.
"""

import re
from pathlib import Path

from uricodec import typing
from uricodec.bulk._operation import REQUIRED
from uricodec.bulk._operations import OPERATIONS

SOURCE = Path(__file__).parent.parent / "src/uricodec"
HEAD = '"""Written by tools/make_stubs.py from the table of operations."""\n'
# What a stub may use: the last word is the name.
IMPORTS = """\
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from os import PathLike
from typing import Any
from typing import Generic
from typing import TypeVar
from typing import overload
from typing_extensions import Buffer
from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec.bulk._calls import InvalidRows
from uricodec._hosts.sets import HostSet, PrefixSet
from uricodec.uri._policies import Policy
"""
CLASSES = """
_Column = TypeVar("_Column")  # the type of a column in the engine
_Frame = TypeVar("_Frame")  # the type of columns of several fields
"""


def stub(names, body):
    """A stub: what it imports, its names, and what it declares."""
    words = {*re.findall(r"\w+", body)}
    imports = [line for line in IMPORTS.splitlines() if line.split()[-1] in words]
    imports += [f"from uricodec.typing import {name}" for name in typing.__all__ if name in words]
    return "\n".join([HEAD, *imports, "", f"__all__ = {sorted(names)!r}", body])


def given(each):
    """A parameter, with its default if it has one."""
    return f"{each.name}: {each.type}" + ("" if each.default is REQUIRED else f" = {each.default!r}")


def function(operation, first, shared, returns):
    """The declaration of an operation on a column."""
    parameters = [first, *map(given, operation.parameters), *(["*", *shared] if shared else [])]
    return f"def {operation.name}({', '.join(parameters)}) -> {returns}: ..."


def takes_several(operation):
    """Whether a parameter is one name or several, which give several results."""
    return any("Sequence" in each.type for each in operation.parameters)


def of_one(operation):
    """The overloads of the function for one value: a str or bytes, and one name or several."""
    required = [each for each in operation.parameters if each.default is REQUIRED]
    options = [each for each in operation.parameters if each.default is not REQUIRED]
    shared = ["*", *map(given, options), f'errors: {operation.errors_type} = "keep"']
    for names in ("str", "list[str] | tuple[str, ...]") if takes_several(operation) else ("",):
        for source, text in ("str", "str"), ("Buffer", "bytes"):
            own = [f"{each.name}: {names or each.type}" for each in required]
            item = f"tuple[{text}, {text}]" if operation.fields else text
            value = f"list[{item}]" if operation.result == "list" else text
            value = f"dict[str, {value} | None]" if "list" in names else value
            yield "@overload"
            yield f"def {operation.name}({', '.join([f'uri: {source}', *own, *shared])}) -> {value} | None: ..."


def stubs():
    """The stubs: path -> text."""
    parts = [each for each in OPERATIONS.values() if each.result in {"component", "list"} and each.single]
    domains = [each for each in parts if "publicsuffixlist" in each.needs]
    others = [each for each in parts if each not in domains]
    for path, some in ("_hosts/_suffixes.pyi", domains), ("uri/_values.pyi", others):
        lines = ["", "def __getattr__(name: str) -> Any: ...", *(line for each in some for line in of_one(each))]
        yield path, stub([each.name for each in some], "\n".join(lines) + "\n")

    common = ["invalid: InvalidRows | None = None", "threads: int | None = None"]
    lines = [CLASSES]
    for name, options in ("ExpressionMethods", ()), ("ColumnMethods", ("invalid", "threads")):
        lines += [f"class {name}(Generic[_Column, _Frame]):"]
        for each in OPERATIONS.values():
            has_fields = each.fields and each.result != "list"
            returns = "_Frame" if has_fields else "_Column | _Frame" if takes_several(each) else "_Column"
            shared = [f"errors: {each.errors_type} | None = None", *common[: len(options)]]
            lines.append("    " + function(each, "self", shared, returns))
    for each in OPERATIONS.values():
        shared = [] if each.result in {"verdict", "diagnostic"} else [f"errors: {each.errors_type} | None = None"]
        lines.append(function(each, "column: Any", shared, "Any"))
    yield "integrations/_signatures.pyi", stub(OPERATIONS, "\n".join(lines) + "\n")


if __name__ == "__main__":
    for name, text in stubs():
        SOURCE.joinpath(name).write_text(text, "utf-8")
