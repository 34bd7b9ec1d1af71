"""Prints the type stub of the methods and functions that hooks into engines make from the table of operations.

python docs/make_stubs.py >src/uricodec/integrations/_signatures.pyi
"""

import re

from uricodec import typing
from uricodec._rows.registry import OPERATIONS, REQUIRED

HEAD = '''"""Printed by docs/make_stubs.py: the operations, as type checkers see them in the hooks into engines."""

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any, Generic, TypeVar

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec.bulk import InvalidRows
'''
ERRORS = {
    "verdict": "VerdictErrors",
    "diagnostic": "DiagnosticErrors",
    "component": "ComponentErrors",
    "list": "ComponentErrors",
    "struct": "StructErrors",
    "fingerprint": "FingerprintErrors",
}
CLASSES = """
_Column = TypeVar("_Column")  # the type of a column in the engine
_Frame = TypeVar("_Frame")  # the type of columns of several fields
"""


def errors_of(operation):
    """The type of `errors`."""
    if operation.result == "struct" and "keep" in operation.policies:
        return "SplitErrors"
    return ERRORS.get(operation.result) or ("CodecErrors" if "replace" in operation.policies else "TextErrors")


def function(operation, first, options, returns, indent=""):
    """The stub of an operation, laid out as ruff does it."""
    own = [f"{each.name}: {each.type}{default(each.default)}" for each in operation.parameters]
    types = {"errors": errors_of(operation), "invalid": "InvalidRows", "threads": "int"}
    shared = [f"{option}: {types[option]} | None = None" for option in options]
    parameters = [first, *own, *(["*"] if shared else []), *shared]
    start, end = f"{indent}def {operation.name}(", f") -> {returns}: ..."
    layouts = [
        f"{start}{', '.join(parameters)}{end}",
        f"{start}\n{indent}    {', '.join(parameters)}\n{indent}{end}",
        f"{start}\n{''.join(f'{indent}    {each},{chr(10)}' for each in parameters)}{indent}{end}",
    ]
    return next((layout for layout in layouts if max(map(len, layout.splitlines())) <= 120), layouts[-1])


def default(value):
    """A default, as ruff writes it; nothing if there is none."""
    if value is REQUIRED:
        return ""
    return f' = "{value}"' if isinstance(value, str) else f" = {value!r}"


def stub():
    """The stub."""
    names = "".join(f'    "{name}",\n' for name in sorted(OPERATIONS))
    lines = [f"\n__all__ = [\n{names}]", CLASSES]
    for name, about, options in (
        ("ExpressionMethods", "Methods of an expression, which is evaluated later.", ["errors"]),
        ("ColumnMethods", "Methods of a column.", ["errors", "invalid", "threads"]),
    ):
        lines += [f"class {name}(Generic[_Column, _Frame]):", f'    """{about}"""\n']
        for operation in OPERATIONS.values():
            several = any("Sequence" in each.type for each in operation.parameters)
            returns = (
                "_Frame"
                if operation.fields and operation.result != "list"
                else "_Column | _Frame"
                if several
                else "_Column"
            )
            lines.append(function(operation, "self", options, returns, "    "))
        lines.append("")
    for operation in OPERATIONS.values():
        options = ["errors"] if operation.result in ("text", "component", "list", "struct", "fingerprint") else []
        lines.append(function(operation, "column: Any", options, "Any"))
    body = "\n".join(lines) + "\n"
    types = "".join(f"    {name},\n" for name in sorted(set(re.findall(r"\w+", body)) & set(dir(typing))))
    return f"{HEAD}from uricodec.typing import (\n{types})\nfrom uricodec.uri import Policy\n{body}"


if __name__ == "__main__":
    print(stub(), end="")
