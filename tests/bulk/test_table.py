"""The table of operations, compared with what is not made from it: `bulk`, the core, the parser, files and pages."""

import inspect
import io
import pickle
import re
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from support.arrow_memory import Lent

from uricodec import bulk, typing
from uricodec.bulk._operations import OPERATIONS
from uricodec.cli.commands import COMMANDS
from uricodec.uri import _rows as _uri_operations
from uricodec.urn import _rows as _urn_rows

ROOT = Path(__file__).parents[2]
LINES = {row.command.line: row for row in OPERATIONS.values() if row.command}

every_operation = pytest.mark.parametrize("row", OPERATIONS.values(), ids=list(OPERATIONS))


def test_each_function_of_bulk_has_a_row():
    assert {name for name in bulk.__all__ if not isinstance(getattr(bulk, name), type)} == set(OPERATIONS)
    names = [function.name for row in OPERATIONS.values() for function in row.sql]
    assert len(names) == len(set(names))


@every_operation
def test_rows_are_pickled_by_name(row):
    """With the function, Spark would send what its module has, such as a random key."""
    bulk.fingerprint(["a"])
    assert pickle.loads(pickle.dumps(row)) is row


# --- bulk -------------------------------------------------------------------------------------------------------------


@every_operation
def test_signatures(row):
    shown = inspect.signature(getattr(bulk, row.name)).parameters
    names = ["errors", "invalid", "threads", "line_terminator", "output"]
    assert [*shown] == ["column", *(each.name for each in row.parameters), *names[: 5 if row.result == "text" else 4]]
    assert {*get_args(getattr(typing, shown["errors"].annotation))} == {*row.policies}
    for parameter in row.parameters:
        assert not parameter.choices or parameter.default in parameter.choices


@every_operation
def test_values_of_parameters(row):
    function = getattr(bulk, row.name)
    for parameter in row.parameters:
        for value in parameter.choices or parameter.examples:
            assert function([], **{**row.required, parameter.name: value}) == []
        if parameter.choices and True not in parameter.choices:
            with pytest.raises(ValueError, match=r"'nonsense'"):
                function([], **{**row.required, parameter.name: "nonsense"})


@every_operation
def test_sql(row):
    for function in row.sql:
        assert {*function.parameters, *function.fixed} <= {each.name for each in row.parameters} | {"errors"}
        assert function.fixed.get("errors", row.policies[0]) in row.policies


def test_fields_are_those_of_the_core():
    assert OPERATIONS["split_uri"].fields == OPERATIONS["split_iri"].fields == _uri_operations.COLUMNS
    assert OPERATIONS["split_urn"].fields == _urn_rows.FIELDS
    for row in OPERATIONS.values():
        assert row.result == "list" or bool(row.fields) == (row.result in {"diagnostic", "struct"})


@every_operation
def test_policies(row):
    """Those of the table are accepted, and others are a ValueError that lists them, whatever the rows are."""
    function, output = getattr(bulk, row.name), io.BytesIO
    function = partial(function, **row.required)
    lists = [lambda errors: function(["a:"], errors=errors), lambda errors: function(Lent([b"a:"], "u"), errors=errors)]
    lines = [lambda errors: function(b"a:\n", errors=errors)]
    columns = lists + lines
    if row.result == "text":
        columns = lists
        lines += [lambda errors: function(output(b"a:\n"), errors=errors, output=output())]
    for call in lists + lines:
        for errors in {"keep", "null", "replace", "ignore", None} - {*row.policies}:
            allowed = ", ".join(repr(each) for each in row.policies if each != "drop" or call not in columns)
            with pytest.raises(ValueError, match=f"^errors of {row.name} must be one of {allowed}, got {errors!r}$"):
                call(errors)
        for errors in {*row.policies} - {"raise", "drop"}:
            call(errors)
    for call in columns:
        with pytest.raises(ValueError, match=r"got 'drop': the length of a list or column must match$"):
            call("drop")
    assert function(["a:"]) == function(["a:"], errors=row.policies[0])


@pytest.mark.interop
def test_policies_of_objects():
    """The columns that become lists, and back."""
    pd = pytest.importorskip("pandas")
    for column in pd.Series(["a"], dtype=object), pd.Index(["a"]), pd.Series(["a"]).to_numpy(object):
        with pytest.raises(ValueError, match=r"^errors of check_urn must be one of 'keep', 'raise', got 'null'$"):
            bulk.check_urn(column, errors="null")


# --- the command line -------------------------------------------------------------------------------------------------

# Filters that are not an operation on columns.
OTHERS = {"extract", "dedup", "filter", "log"}


def option(name, flag):
    found = [option for option in COMMANDS[name].options if flag in option.flags]
    assert len(found) == 1, flag
    return found[0]


def test_each_filter_has_a_row():
    filters = {name for name, command in COMMANDS.items() if command.operand and command.operand.key == "files"}
    assert {line.split()[0] for line in LINES} == filters - OTHERS
    for name in filters - OTHERS:
        kinds = [option for option in COMMANDS[name].options if "--kind" in option.flags]
        known = {line.partition("--kind ")[2] for line in LINES if line.startswith(f"{name} ")}
        others = {"normalize": {"iri", "web"}, "check": {"auto", "web"}}.get(name, {"web"})
        assert not kinds or known >= {*kinds[0].choices} - others


@pytest.mark.parametrize("line", LINES)
def test_options(line):
    row, (name, *words) = LINES[line], line.split()
    for word in words:
        if word.startswith("--"):
            assert option(name, word)
    for parameter in row.parameters:
        values = option(name, row.command.options[parameter.name]).choices
        wanted = {each for each in parameter.choices if isinstance(each, str)}
        assert not wanted or wanted <= {*values}
    assert row.command.options.keys() == {each.name for each in row.parameters}
    if row.result != "diagnostic":  # `check` reports, whatever is wrong
        # Records of invalid rows say what is wrong: `split` keeps those.
        errors = {*row.policies} | ({"keep"} if row.result == "struct" else set())
        found = {*option(name, "--errors").choices}
        assert errors <= found if "--iri" in words else errors == found


# --- files and pages --------------------------------------------------------------------------------------------------


@every_operation
def test_page_and_libraries(row):
    page, name = ROOT / f"docs/{row.page}.md", (row.single or row.name).rpartition(".")[2]
    words = {*re.findall(r"\w+", page.read_text("utf-8"))}
    assert name in words, f"docs/{row.page}.md does not mention {name}"
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for library in row.needs:
        assert re.search(rf'"{library}[>;"]', project)


@every_operation
def test_reference_and_rows(row):
    table = pytest.importorskip("support.operations")
    found = [each for each in table.OPERATIONS if each.name == row.name]
    assert {(each.result, each.policies) for each in found} == {(row.result, row.policies)}
    assert row.rows in {each.rows for each in found} and (ROOT / f"tests/data/rows/{row.rows}.txt").exists()
    assert row.result not in {"list", "struct"} or {each.fields for each in found} == {row.fields}
    if row.command:
        line = tuple(row.command.line.split())
        assert all(each.command[: len(line)] == line for each in found)
