"""Build of the compiled modules. All other settings of the package are in pyproject.toml.

URICODEC_DEBUG=1 builds with debug information and all of Cython's checks, and without optimization. Otherwise debug
information is built only if CFLAGS contains -g. Without it, modules on Linux have no symbols, unless CC is set.
"""

import gc
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

SOURCE = Path("src/uricodec")
SIMD = SOURCE / "_base" / "simd"
ROOMS = ["_base", "_rows", "_codec", "_records", "parse", "uri", "iri", "urn", "logs", "dedup"]
DEBUG = os.environ.get("URICODEC_DEBUG") == "1"
SYMBOLS = DEBUG or "-g" in os.environ.get("CFLAGS", "")
CORES = os.cpu_count() or 1
LINUX = sys.platform == "linux"
STRIP = LINUX and not SYMBOLS and "CC" not in os.environ  # a compiler of the caller's: sanitizers need the symbols

# Modules that gain nothing measurable from -O3, since other modules run their loops or few bytes pass through them, are
# compiled for size, or with -O2 where single calls would take longer. All others are compiled with -O3.
FOR_SIZE = [
    "_codec._charsets",
    "_rows._arrow",
    "_rows._columns",
    "_rows._tasks",
    "dedup._order",
    "dedup._ranking",
    "dedup._sketch",
    "dedup._spill",
    "logs._filters",
    "logs._programs",
    "uri._relations",
    "uri._tuple_rows",
]
LEVEL_2 = [
    "_base._cython",
    "_rows._dictionaries",
    "_rows._tuples",
    "dedup._first_rows",
    "dedup._keys",
    "dedup._set_file",
    "parse._query",
    "parse._split",
    "uri._components",
    "uri._content",
    "uri._equivalence",
    "uri._resolve",
    "uri._with_query",
    "urn._parse",
]

# The functions and types of Cython that every module needs, once instead of in each. No module has memoryviews.
SHARED = SOURCE / "_base" / "_cython.c"

DIRECTIVES = {
    "language_level": 3,
    "binding": True,
    "cdivision": True,
    "freethreading_compatible": True,
    "auto_pickle": False,
    "autotestdict": False,
    "embedsignature": False,
    "wraparound": False,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
}


def find_extensions():
    """Return the compiled modules: all .pyx files of the rooms. Exit if a room, or the module of a stub, is missing."""
    extensions = []
    for room in ROOMS:
        modules = sorted(SOURCE.joinpath(room).glob("*.pyx"))
        if not modules:
            raise SystemExit(f"missing from {SOURCE / room}: all modules")
        for stub in sorted(SOURCE.joinpath(room).glob("*.pyi")):
            if not (stub.with_suffix(".pyx").exists() or stub.with_suffix(".py").exists()):
                raise SystemExit(f"missing from {SOURCE / room}: {stub.stem}.pyx")
        extensions.extend(extension_of(path) for path in modules)
    return extensions


def extension_of(path):
    """Return the extension for one .pyx file. Cython adds the headers that it names to its dependencies."""
    is_kernels = path.stem == "_kernels"
    sources = [path, SIMD / "dispatch.c"] if is_kernels else [path]
    name = name_of(path)
    return Extension(
        name,
        [source.as_posix() for source in sources],
        include_dirs=[SIMD.parent.as_posix()],
        depends=[header.as_posix() for header in sorted(SIMD.rglob("*.h"))] if is_kernels else [],
        extra_compile_args=compiler_flags(name.partition(".")[2]),
        extra_link_args=["-s"] if STRIP else [],
    )


def name_of(path):
    """Return the name of the module that a source file is compiled to."""
    return ".".join(path.with_suffix("").relative_to(SOURCE.parent).parts)


def compiler_flags(module):
    """Return the flags for a module, which is named without the package."""
    if os.name == "nt":
        return []
    if DEBUG:
        return ["-O0", "-g"]
    level = "-Os" if module in FOR_SIZE else "-O2" if module in LEVEL_2 else "-O3"
    return [level, *(["-fno-plt"] if LINUX else []), *([] if SYMBOLS else ["-g0"])]


def check_tools():
    """Exit, before anything else is compiled, if a C compiler or Python.h is missing."""
    from tempfile import TemporaryDirectory

    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    header = Path(sysconfig.get_path("include"), "Python.h")
    with TemporaryDirectory() as folder:
        test = Path(folder, "test.c")
        test.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        compiler = new_compiler()
        try:
            customize_compiler(compiler)
            compiler.compile([str(test)], output_dir=folder)
            missing = None if header.exists() else f"Python's headers ({header})"
        except Exception:  # its class depends on the version of setuptools
            missing = "a C compiler"
    if missing:
        raise SystemExit(
            f"uricodec: expected {missing}. Debian and Ubuntu: apt-get install gcc python3-dev; Fedora: dnf install gcc"
            " python3-devel; macOS: xcode-select --install; Windows: the C++ build tools of Visual Studio"
        )


def generate_sources(**options):
    """Return the extensions with generated C sources, those that take longest to compile first. Write these sources."""
    from Cython.Build import cythonize

    # Cython makes many objects and few of them are garbage: to look for it takes half of the time. Each module leaves
    # 15 MB to its process.
    gc.disable()
    extensions = cythonize(
        [*find_extensions(), extension_of(SHARED)],
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=name_of(SHARED),
        shared_utility_features_disabled=["MemoryView"],
        **options,
    )
    gc.enable()
    return sorted(extensions, key=lambda extension: -Path(extension.sources[0]).stat().st_size)


def compiled_extensions():
    """Return the extensions: with generated C sources if this command compiles them, else with Cython sources."""
    if not {"build", "build_ext", "bdist_wheel", "develop", "editable_wheel", "install"} & set(sys.argv):
        return find_extensions()
    check_tools()
    return generate_sources(nthreads=CORES)


if __name__ == "__main__":
    subprocess.run([sys.executable, "docs/make_stubs.py"], check=True)
    setup(options={"build_ext": {"parallel": CORES}}, ext_modules=compiled_extensions())
