"""Environments without optional packages: every name that needs one says what to type.

A subprocess blocks the import of all of them, and walks the names.
"""

import json
import subprocess
import sys

import pytest

from uricodec.bulk._operations import OPERATIONS
from uricodec.cli.commands import COMMANDS

# The packages of each extra.
EXTRAS = {
    "arrow": ["pyarrow"],
    "polars": ["polars"],
    "pandas": ["pandas", "pyarrow"],
    "duckdb": ["duckdb", "pyarrow"],
    "spark": ["pyspark", "pyarrow"],
    "domains": ["publicsuffixlist"],
    "compress": ["isal", "backports", "compression"],
}

BLOCKED = """
import contextlib, importlib, inspect, io, json, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Block())
found = {}

def call(name, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except ModuleNotFoundError as error:
        found[name] = str(error)
    except BaseException as error:
        found[name] = repr(error)
    else:
        found[name] = "no error"

def call_with_nothing(name, function):
    "With None for each argument that it requires."
    required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    named = {each.name: None for each in required if each.kind == each.KEYWORD_ONLY}
    call(name, function, *[None for each in required if each.kind == each.POSITIONAL_OR_KEYWORD], **named)
"""


def found_without(packages, code):
    """What the names of a walk do in a process without these packages."""
    text = f"BLOCKED = {packages!r}\n{BLOCKED}\n{code}\nprint(json.dumps(found))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ENGINES = """
for engine in "polars", "pandas", "duckdb", "spark":
    try:
        module = importlib.import_module(f"uricodec.integrations.{engine}")
    except ModuleNotFoundError as error:
        found[engine] = str(error)
        continue
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__ and not name.startswith("_"):
            call_with_nothing(f"{engine}.{name}", function)
"""


@pytest.mark.slow
def test_engines():
    """The modules of two of them cannot be imported, and no function of the others can be called."""
    found = found_without([package for packages in EXTRAS.values() for package in packages], ENGINES)
    assert len(found) > len(OPERATIONS)
    for name, said in found.items():
        engine = name.partition(".")[0]
        assert said == f"{EXTRAS[engine][0]} is not installed: pip install 'uricodec[{engine}]'", name
    found = found_without(["pyarrow"], ENGINES)
    for name, said in found.items():
        engine, _, function = name.partition(".")
        if function and said.endswith(("]'", "'pyarrow'")):  # if the engine is installed
            assert said.endswith(f" is not installed: pip install 'uricodec[{engine}]'"), name


@pytest.mark.slow
def test_parts_of_the_package():
    """Functions with the Public Suffix List, and those whose documentation says that they need a package."""
    code = """
from uricodec import bulk, dedup, logs, uri
from uricodec.bulk._operations import OPERATIONS

for name, operation in OPERATIONS.items():
    if any(parameter.name == "suffixes" for parameter in operation.parameters):
        call(f"uri.{name}", getattr(uri, name), "http://a.example/")
        call(f"bulk.{name}", getattr(bulk, name), [])
arguments = {"to_arrow": [b""], "unique_dataset": ["in", "url", "out"]}
named = {"to_arrow": {}, "unique_dataset": {"kind": "uri"}}
for module in bulk, dedup, logs, uri:
    for name in dir(module):
        if "pyarrow is not installed" in (getattr(module, name).__doc__ or ""):
            call(name, getattr(module, name), *arguments[name], **named[name])
call("SeenSet", dedup.SeenSet.build([], "uri").__arrow_c_stream__)
"""
    found = found_without(["publicsuffixlist", "pyarrow"], code)
    domains = "publicsuffixlist is not installed: pip install 'uricodec[domains]'"
    arrow = "pyarrow is not installed: pip install 'uricodec[arrow]'"
    suffixes = [f"{room}.{name}" for name in ("registrable_domain", "public_suffix") for room in ("uri", "bulk")]
    wanted = dict.fromkeys(suffixes, domains) | dict.fromkeys(["unique_dataset", "to_arrow", "SeenSet"], arrow)
    assert found == wanted


@pytest.mark.slow
def test_pandas_without_pyarrow():
    pytest.importorskip("pandas", reason="pandas is not installed")
    code = """
import pandas
from uricodec import bulk
call("category", bulk.quote, pandas.Series(["a"], dtype="category"))
"""
    assert found_without(["pyarrow"], code) == {"category": "pyarrow is not installed: pip install 'uricodec[pandas]'"}


@pytest.mark.slow
def test_command_line(tmp_path):
    """Each option of each command that needs a package."""
    (tmp_path / "list").write_bytes(b"a.example\n")
    (tmp_path / "in.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    lines = [["decode", "in.zst"]]
    for name, command in COMMANDS.items():
        required = ["--base", "http://a/"] if name == "resolve" else ["--kind", "uri"] if name == "dedup" else []
        required += ["--hosts", "list"] if name == "filter" else ["--drop", "x"] if name == "query" else []
        flags = {option.flag: option for option in command.options}
        if "--parquet" in flags:
            lines.append([name, *required, "--parquet", "-f", "url", "-o", "out", "in"])
        if "--get" in flags and name != "log":
            lines += [[name, "--get", f"{{{part}}}", "in"] for part in ("registrable_domain", "public_suffix")]
        lines += [
            [name, "--to", to, "-o", "out", "in"]
            for to in ("arrow", "parquet")
            if to in flags.get("--to", flags["--help"]).choices
        ]
    assert len(lines) > 15
    code = f"""
import os
from uricodec.cli import main
os.chdir({str(tmp_path)!r})
for line in {lines!r}:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(line)
    found[" ".join(line)] = [status, said.getvalue()]
"""
    found = found_without([package for packages in EXTRAS.values() for package in packages], code)
    for line, (status, said) in found.items():
        extra = "domains" if "{" in line else "compress" if "zst" in line else "arrow"
        assert status == (3 if extra == "compress" else 2), line
        assert said.startswith("uricodec: ") and f"pip install 'uricodec[{extra}]'" in said, line
