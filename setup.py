"""Build of the compiled modules: each .pyx file below src is one. All other settings are in pyproject.toml.

URICODEC_DEBUG=1 builds with debug information and all of Cython's checks, and without optimization. Otherwise debug
information is built only if CFLAGS contains -g. Without it, modules on Linux have no symbols, unless CC is set.

Modules that gain nothing measurable from -O3, since other modules run their loops or few bytes pass through them, begin
with `# distutils: extra_compile_args=-Os`, or -O2 where single calls would take longer. MSVC has both options, too.
"""

import gc
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src/uricodec")
SIMD = SOURCE / "_base/simd"
# The functions and types of Cython that every module needs, once instead of in each. No module has memoryviews.
SHARED = SOURCE / "_base/_cython.c"
DEBUG = os.environ.get("URICODEC_DEBUG") == "1"
SYMBOLS = DEBUG or "-g" in os.environ.get("CFLAGS", "")
CYTHON = "build/cython"
CORES = os.cpu_count() or 1
REPOSITORY = "https://github.com/uricodec/uricodec"
RAW = "https://raw.githubusercontent.com/uricodec/uricodec/main"
LINUX = sys.platform == "linux"
STRIP = LINUX and not SYMBOLS and "CC" not in os.environ  # a compiler of the caller's: sanitizers need the symbols
FLAGS = [] if os.name == "nt" else ["-O3", *(["-fno-plt"] if LINUX else []), *([] if SYMBOLS else ["-g0"])]
DEBUG_FLAGS = ["-O0", "-g"] if DEBUG and os.name != "nt" else []
BUILT_WITH = repr([FLAGS, DEBUG_FLAGS, STRIP, *map(os.environ.get, ("CC", "CFLAGS", "LDFLAGS"))])
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


def name_of(path):
    """Return the name of the module that a source file is compiled to."""
    return ".".join(path.with_suffix("").relative_to(SOURCE.parent).parts)


def extension(path, *more, **options):
    """Return the extension for source files. Cython adds the headers that they name to its dependencies."""
    sources = [each.as_posix() for each in (path, *more)]
    link = ["-s"] if STRIP else []
    return Extension(name_of(path), sources, include_dirs=[SIMD.parent.as_posix()], extra_link_args=link, **options)


def modules():
    """Return the extensions, with Cython sources: those first that take long to compile."""
    kernels = SOURCE / "_base/_kernels.pyx"
    headers = [path.as_posix() for path in sorted(SIMD.rglob("*.h"))]
    first = [extension(kernels, SIMD / "dispatch.c", depends=headers), extension(SHARED, extra_compile_args=["-O2"])]
    others = sorted({*SOURCE.rglob("*.pyx")} - {kernels}, key=lambda path: (-path.stat().st_size, path))
    return [*first, *map(extension, others)]


class BuildModules(build_ext):
    """Writes the C sources, in processes, while modules are compiled; other commands, like sdist, do without."""

    def run(self):
        """Build all modules."""
        from Cython.Build import cythonize

        gc.disable()  # Cython makes many objects and little garbage: to look for it takes half of the time
        options = {"build_dir": CYTHON, "compiler_directives": DIRECTIVES}
        options |= {"shared_utility_qualified_name": name_of(SHARED)}
        options |= {"shared_utility_features_disabled": ["MemoryView"]}
        flags = Path(CYTHON, "flags")
        known = flags.exists() and flags.read_text("utf-8") == BUILT_WITH
        self.before = {each.name: Before(each) for each in self.extensions} if known else {}
        kernels, *others = self.extensions
        self.complete(kernels, cythonize([kernels], **options))  # and copy the headers, which others need
        flags.write_text(BUILT_WITH, "utf-8")
        with ProcessPoolExecutor(CORES, initializer=gc.disable) as pool:
            self.generated = {each.name: pool.submit(cythonize, [each], **options) for each in others}
            super(build_ext, self).run()  # setuptools' own would compile all again that pip has compiled in place

    def build_extension(self, extension):
        """Build a module, as soon as its source is there."""
        if extension.name in self.generated:
            self.complete(extension, self.generated[extension.name].result())
        super().build_extension(extension)

    def complete(self, extension, generated):
        """Give an extension what Cython returns: its C sources, and options in them."""
        vars(extension).update(vars(generated[0]))
        extension.extra_compile_args = [*FLAGS, *extension.extra_compile_args, *DEBUG_FLAGS]
        if extension.name in self.before:
            self.before[extension.name].keep_time()


class Before:
    """The C source of a module before Cython writes it.

    pip has a new Cython for each build, which is newer than all sources: it writes them again. One that is the same as
    before need not be compiled, if the flags are the same, too.
    """

    def __init__(self, extension):
        self.path = Path(CYTHON, extension.sources[0]).with_suffix(".c")
        exists = self.path.exists()
        self.text, self.time = (self.path.read_bytes(), self.path.stat().st_mtime_ns) if exists else (None, 0)

    def keep_time(self):
        """Give the source the time that it had, if it is the same."""
        if self.text is not None and self.path.read_bytes() == self.text:
            os.utime(self.path, ns=(self.time, self.time))


def long_description():
    """Return the README, with links that also work on the page of a package index."""
    text = Path("README.md").read_text("utf-8")
    text = re.sub(r"(!\[[^]]*\]\()(?=docs/)", rf"\1{RAW}/", text)
    return re.sub(r"(?<=\]\()(?=docs/|[A-Z]+\.md)", f"{REPOSITORY}/blob/main/", text)


if __name__ == "__main__":
    setup(
        long_description=long_description(),
        long_description_content_type="text/markdown",
        options={"build_ext": {"parallel": CORES}},
        ext_modules=modules(),
        cmdclass={"build_ext": BuildModules},
    )
