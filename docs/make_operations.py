"""Prints the table of operations in docs/columns.md: `python docs/make_operations.py`."""

import json

from uricodec._rows.registry import OPERATIONS, REQUIRED

HEADS = ["operation", "what it does with a row", "result", "parameters", "`errors=`, the default first"]
HEADS += ["functions of SQL", "command", "more"]


def code(texts):
    return ", ".join(f"`{text}`" for text in texts)


def given(name, value):
    """A parameter with a value, as Python has it."""
    return f"{name}={json.dumps(value) if isinstance(value, str) else value}"


def in_sql(function):
    """How SQL calls a function, and what its fixed arguments are."""
    fixed = [given(name, value) for name, value in function.fixed.items() if name != "errors"]
    call = f"`{function.name}({', '.join(('x', *function.parameters))})`"
    return f"{call} ({code(fixed)})" if fixed else call


def row_of(row):
    """The row of an operation. "drop" is left out: lists and columns do not have it."""
    return [
        code([row.name]),
        row.summary,
        f"{row.result}: {code(row.fields)}" if row.fields else row.result,
        code(each.name if each.default is REQUIRED else given(each.name, each.default) for each in row.parameters),
        code(policy for policy in row.policies if policy != "drop"),
        ", ".join(map(in_sql, row.sql)),
        code([row.command.line] if row.command else []),
        f"[{row.page}]({row.page}.md)",
    ]


def table():
    """The table."""
    rows = [HEADS, *map(row_of, OPERATIONS.values())]
    lines = ["".join(f"| {cell} " if cell else "| " for cell in row) for row in rows]
    return "|\n".join([lines[0], "|---" * len(HEADS), *lines[1:]]) + "|\n"


if __name__ == "__main__":
    print(table(), end="")
