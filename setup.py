"""Build of the compiled core. Everything that is not about compiling is in pyproject.toml."""

import os
from functools import reduce
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CORE, ROWS = "src/uricodec/_core", "src/uricodec/_rows"
DEBUG = os.environ.get("URICODEC_DEBUG") == "1"

# Listed, not globbed: a glob without sources would build a wheel without the core.
MODULES = [
    *["_kernels", "_utf8", "_percent", "_quote", "_triplets", "_query", "_split", "_join"],
    *["_fingerprint", "_log_fields", "_log_formats", "_log_records", "_log_columns"],
    *["_urn_grammar", "_urn_forms", "_urn", "_urn_find"],
    *["_uri_grammar", "_uri", "_uri_rows", "_uri_path", "_uri_schemes", "_ipv6", "_uri_forms", "_equivalence"],
    *["_resolve", "_iri_forms", "_iri", "_uri_marks", "_uri_operations"],
    *["_arrow", "_arrow_join", "_codec_rows"],
    *["_urn_rows", "_quoting", "_framing", "_names", "_table", "_cardinality", "_spill", "_first_rows"],
]
ROWS_MODULES = [
    *["_operation", "_engine", "_sinks", "_tasks", "_lines", "_dictionaries", "_values", "_columns", "_lists"],
    *["_identifiers", "_fields"],
]
SOURCES = {"_kernels": [f"{CORE}/simd/dispatch.c"]}  # besides the module itself

# Where there is no memory, Cython 3.3 gives back twice what a list has no room for, and what is no traceback.
NONE = "PY_VERSION_HEX < 0x030C0000 || local_tb ? local_tb : (local_tb = Py_None)"
MENDS = {
    "list, x);\n    Py_DECREF(x);": "list, x);\n    if (!result) Py_DECREF(x);",
    "    Py_XINCREF(local_tb);": f"    Py_XINCREF({NONE});",
}


def mend(modules):
    for path in {Path(source) for module in modules for source in module.sources if source.startswith("build")}:
        text = path.read_text(encoding="utf-8")
        mended = reduce(lambda text, wrong: text.replace(wrong, MENDS[wrong]), MENDS, text)
        if mended != text:
            path.write_text(mended, encoding="utf-8")
    return modules


ON, OFF = ["binding", "freethreading_compatible", "cdivision"], ["embedsignature", "auto_pickle", "autotestdict"]
FLAGS = {**dict.fromkeys(ON, True), **dict.fromkeys([*OFF, "wraparound"], False), "language_level": 3}
CHECKS = {"boundscheck": DEBUG, "initializedcheck": DEBUG}
extensions = [
    Extension(
        f"{folder.removeprefix('src/').replace('/', '.')}.{name}",
        [f"{folder}/{name}.pyx", *SOURCES.get(name, [])],
        include_dirs=[CORE],
        depends=[str(path) for path in Path(f"{CORE}/simd").rglob("*.h")],
        extra_compile_args=[] if os.name == "nt" else ["-O0", "-g"] if DEBUG else ["-O3"],
    )
    for folder, names in ((CORE, MODULES), (ROWS, ROWS_MODULES))
    for name in names
]

setup(
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=mend(cythonize(extensions, build_dir="build/cython", nthreads=0, compiler_directives=FLAGS | CHECKS)),
)
