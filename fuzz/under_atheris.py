"""One target under atheris, whose import instruments the package's Python modules: TARGET [libFuzzer options]."""

import importlib
import sys

import atheris

with atheris.instrument_imports(include=["uricodec"]):
    module = importlib.import_module(f"targets.{sys.argv[1]}")

atheris.Setup([sys.argv[0], *sys.argv[2:]], module.target)
atheris.Fuzz()
