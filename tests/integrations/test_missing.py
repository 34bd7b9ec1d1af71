"""An engine that is not installed: the error says what installs it."""

import importlib
import sys

import pytest

from uricodec.integrations import spark


@pytest.mark.parametrize("name", ["polars", "pandas"])
def test_the_module_of_an_engine(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"uricodec.integrations.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"{name} is not installed: pip install 'uricodec\[{name}\]'"):
        importlib.import_module(f"uricodec.integrations.{name}")


def test_functions_of_spark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'uricodec\[spark\]'"):
        spark.dedup(None, "url", kind="uri")
