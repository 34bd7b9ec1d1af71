"""Build of the compiled modules. All other settings of the package are in pyproject.toml.

URICODEC_DEBUG=1 builds with debug information and all of Cython's checks, and without optimization. Otherwise debug
information is built only if CFLAGS contains -g.
"""

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
CORES = os.cpu_count() or 1

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
    flags = ["-O0", "-g"] if DEBUG else ["-O3"] if "-g" in os.environ.get("CFLAGS", "") else ["-O3", "-g0"]
    return Extension(
        ".".join(path.with_suffix("").relative_to("src").parts),
        [path.as_posix(), *([(SIMD / "dispatch.c").as_posix()] if is_kernels else [])],
        include_dirs=[SIMD.parent.as_posix()],
        depends=[header.as_posix() for header in sorted(SIMD.rglob("*.h"))] if is_kernels else [],
        extra_compile_args=[] if os.name == "nt" else flags,
    )


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


def compiled_extensions():
    """Return the extensions: with generated C sources if this command compiles them, else with Cython sources."""
    extensions = find_extensions()
    if not {"build", "build_ext", "bdist_wheel", "develop", "editable_wheel", "install"} & set(sys.argv):
        return extensions
    check_tools()
    from Cython.Build import cythonize

    return cythonize(extensions, build_dir="build/cython", nthreads=CORES, compiler_directives=DIRECTIVES)


if __name__ == "__main__":
    subprocess.run([sys.executable, "docs/make_stubs.py"], check=True)
    setup(options={"build_ext": {"parallel": CORES}}, ext_modules=compiled_extensions())
