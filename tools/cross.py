#!/usr/bin/env python3
"""Compiles all C of the package for every system that has wheels or may build them, links it, and runs the kernels.

    .ci/cross                      all targets; prints a table and exits with 1 if any of it fails
    .ci/cross windows-x64 ...      these alone
    .ci/cross --write ...          and writes their rows of the table in docs/reference/support.md, if nothing fails

The compiler is zig cc (clang with all C libraries), from .ci/requirements/qemu.txt. Warnings are errors.

- "compiled": each module, as Cython generates it, and our own C once more by itself with stricter warnings (PEDANTIC).
- "linked": each module is a shared library in which nothing is undefined but what Python's headers declare. These names
  are in a library of empty functions, made here, that stands for the interpreter. So what the C library lacks, or an
  atomic operation that the machine lacks, is found, but nothing that is linked here can be imported.
- "kernels ran": fuzz/random.c, which compares all kernels that are C with naive ones, on the target: under qemu-user or
  Wine. "-" if there is nothing to run it with. (The portable loops are Cython, and run in .ci/qemu.)

Headers of Python: Debian's for the architecture, if apt has them ("Debian" in the table). For the others there are none
to be had without that system, so these are the headers of the Python at hand, with a pyconfig.h that this script writes
from what the compiler says of the target ("generated"): sizes, byte order, threads, and whether it is Windows.

And as a stand-in for Microsoft's compiler, for which there is no license here: clang in its mode for MSVC, with the
branches of the headers that MSVC takes, and everything that only GNU C has an error (MSVC below).

PYTHON=.. selects the Python whose headers are taken; all that is written is in build/cross.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/cross"
PACKAGES = ROOT / ".ci/requirements/qemu.txt"
PAGE = ROOT / "docs/reference/support.md"
BASE = ROOT / "src/uricodec/_base"

# Name: the target of zig, the architecture of Debian, and what starts its programs.
TARGETS = {
    "linux-x86_64": ("x86_64-linux-gnu.2.28", "amd64", None),
    "linux-aarch64": ("aarch64-linux-gnu.2.28", "arm64", None),
    "linux-i686": ("x86-linux-gnu.2.28", "i386", None),
    "linux-armv7": ("arm-linux-gnueabihf.2.28", "armhf", None),
    "linux-ppc64le": ("powerpc64le-linux-gnu.2.28", "ppc64el", None),
    "linux-s390x": ("s390x-linux-gnu.2.28", "s390x", None),
    "linux-riscv64": ("riscv64-linux-gnu.2.28", None, None),
    "musl-x86_64": ("x86_64-linux-musl", None, "qemu-x86_64-static -cpu max"),
    "musl-aarch64": ("aarch64-linux-musl", None, "qemu-aarch64-static"),
    "musl-i686": ("x86-linux-musl", None, "qemu-i386-static -cpu max"),
    "musl-armv7": ("arm-linux-musleabihf", None, "qemu-arm-static"),
    "musl-ppc64le": ("powerpc64le-linux-musl", None, "qemu-ppc64le-static"),
    "musl-s390x": ("s390x-linux-musl", None, "qemu-s390x-static"),
    "musl-riscv64": ("riscv64-linux-musl", None, "qemu-riscv64-static"),
    "macos-arm64": ("aarch64-macos.11.0", None, None),
    "macos-x86_64": ("x86_64-macos.11.0", None, None),
    "windows-x64": ("x86_64-windows-gnu", None, "wine64"),
    "windows-x86": ("x86-windows-gnu", None, None),
    "windows-arm64": ("aarch64-windows-gnu", None, None),
}
MSVC = {
    "windows-x64": ("x86_64-windows-gnu", "icelake_server", "wine64"),
    "windows-x86": ("x86-windows-gnu", "haswell", None),
    "windows-arm64": ("aarch64-windows-gnu", "generic", None),
}

# No optimization: warnings do not depend on it here, and it takes half of the time.
COMMON = ["-O0", "-g0", "-Werror", "-Wall", "-Wextra", "-Wvla"]
# What Cython's C has in all modules, and is no fault of theirs.
CYTHON = [
    "-Wno-unused-parameter",  # slots of types have all parameters, whatever a type does with them
    "-Wno-missing-field-initializers",  # PyModuleDef, PyGetSetDef
    "-Wno-unused-function",  # helpers, some of which are for other versions of Python
]
# Our own C is by itself, so each warning is about a line of ours.
PEDANTIC = [
    *["-std=gnu11", "-Wpedantic", "-Wgnu", "-Wshadow", "-Wstrict-prototypes", "-Wpointer-arith"],
    *["-Wno-unused-function"],  # headers have functions for several modules
    *["-Wno-long-long", "-Wno-language-extension-token"],  # __int128, where the compiler says that it has it
]
INPUTS = 5000
OWN = "".join(f'#include "simd/{name}"\n' for name in ("dispatch.c", "fingerprint.h", "atomic.h", "memory.h", "file.h"))

# For build_as_msvc: clang's own intrin.h has more for MSVC, which MinGW has already defined otherwise.
SHIM = """\
#ifndef _MSC_VER
#pragma clang diagnostic ignored "-Wgnu-include-next"
#include_next <intrin.h>
#endif
"""

PYCONFIG = """\
/* Written by .ci/cross, from what the compiler says of the target: enough of pyconfig.h to compile, not to run. */
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF__BOOL 1
#define SIZEOF_OFF_T 8
#define SIZEOF_FPOS_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define ALIGNOF_LONG _Alignof(long)
#define ALIGNOF_SIZE_T _Alignof(size_t)
#define ALIGNOF_MAX_ALIGN_T _Alignof(max_align_t)
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define WITH_DOC_STRINGS 1
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORDS_BIGENDIAN 1
#define DOUBLE_IS_BIG_ENDIAN_IEEE754 1
#else
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
#endif
#if defined(_WIN32)
#define MS_WIN32 1
#define MS_WINDOWS 1
#if defined(_WIN64)
#define MS_WIN64 1
#endif
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#else
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1
#define _FILE_OFFSET_BITS 64
#define HAVE_SSIZE_T 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_PTHREAD_H 1
#define HAVE_BUILTIN_ATOMIC 1
#define HAVE_STD_ATOMIC 1
#define SIZEOF_PTHREAD_T __SIZEOF_POINTER__
#endif
"""
DECLARED = re.compile(r"\bPyAPI_(?:FUNC|DATA)\((?:[^()]|\([^()]*\))*\)\s*\**\s*(\w+)\s*[;(\[]")


class Failed(Exception):
    """A compiler's output."""


def run(*command, **options):
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Failed(text)
    return text


def make_tools():
    """Return the zig of an environment of its own, and its Python."""
    python = WORK / "tools" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(WORK / "tools", with_pip=True)
    run(python, "-m", "pip", "install", "-q", "--require-hashes", "-r", PACKAGES)
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(WORK / "zig")
    zig = run(python, "-c", "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name('zig'))").strip()
    return python, Path(zig)


def cythonize(python):
    """Return the C files of all modules."""
    code = """if True:
        import setup
        for each in setup.generate_sources(quiet=True):
            print(each.sources[0])"""
    lines = run(python, "-c", code, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}).split("\n")
    return [ROOT / line for line in lines if line.endswith(".c")]


def fetch_headers(architectures):
    """Return Debian's headers of Python for the architectures that apt has them for: their include directories.

    apt's own state stays as it is.
    """
    root = WORK / "debian"
    state, archives = root / "state", root / "archives"
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return {}
    if not archives.exists():
        (state / "lists/partial").mkdir(parents=True, exist_ok=True)
        (root / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
        (root / "status").touch()
        options = ["-q", "-o", f"Dir::State={state}", "-o", f"Dir::State::status={root / 'status'}"]
        options += ["-o", f"Dir::Cache={root / 'cache'}", "-o", "APT::Sandbox::User="]
        options += ["-o", "APT::Architecture=amd64", "-o", f"APT::Architectures={','.join(architectures)}"]
        subprocess.run(
            ["apt-get", *options, "update"], stdout=subprocess.DEVNULL, check=False
        )  # some sources have fewer
        text = run("apt-cache", *options, "show", "libpython3-dev:amd64")
        package = re.search(r"^Depends:.*\b(libpython3\.\d+-dev)\b", text, re.MULTILINE)[1]
        part = root / "archives.part"
        part.mkdir(exist_ok=True)
        for architecture in architectures:
            try:
                run("apt-get", *options, "download", f"{package}:{architecture}", cwd=part)
            except Failed as error:
                print(f"No {package} for {architecture}: {error}", file=sys.stderr)
        part.rename(archives)
    found = {}
    for archive in archives.glob("*.deb"):
        architecture = archive.stem.rpartition("_")[2]
        headers = root / architecture
        if not headers.exists():
            run("dpkg-deb", "--extract", archive, headers)
        python = next(headers.glob("usr/include/python3.*"))
        # The compiler has the headers of C; that of the architecture's pyconfig.h alone is not of it.
        include = root / f"include-{architecture}"
        for folder in headers.glob(f"usr/include/*-linux-gnu*/{python.name}"):
            shutil.copytree(folder, include / folder.parent.name / python.name, dirs_exist_ok=True)
        found[architecture] = [python, include]
    return found


def make_headers(name):
    """Return the headers of the Python at hand, with a pyconfig.h of ours before its own."""
    code = "import sysconfig; print(sysconfig.get_path('include'))"
    source = Path(run(os.environ.get("PYTHON", sys.executable), "-c", code).strip())
    copy = WORK / name / "include"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    (copy / "pyconfig.h").write_text(PYCONFIG, encoding="utf-8")
    return [copy]


def write_interpreter(folder, include):
    """Write a library in C that defines what the headers declare."""
    text = "\n".join(path.read_text("utf-8", "replace") for path in sorted(include.rglob("*.h")))
    export = "#if defined(_WIN32)\n#define EXPORT __declspec(dllexport)\n#else\n#define EXPORT\n#endif\n"
    names = sorted({*DECLARED.findall(text)})
    path = folder / "python3.c"  # which names the import library of Windows
    path.write_text(export + "".join(f"EXPORT void {name}(void) {{}}\n" for name in names), encoding="utf-8")
    return path


def attempt(function, faults, what):
    """Call a function; note its failure. Return what it returns, or None."""
    try:
        return function()
    except Failed as error:
        faults.append(f"{what}:\n{str(error)[:3000]}")
        return None


def build(zig, name, sources, headers, pool):
    """Return a row of the table, and the faults."""
    target, _, runner = TARGETS[name]
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    includes = [option for path in headers for option in ("-isystem", path)] + ["-I", BASE]
    windows, faults = name.startswith("windows"), []
    cc = [zig, "cc", "-target", target]
    interpreter = folder / ("python3.dll" if windows else "libpython3.so")
    stub = write_interpreter(folder, headers[0])
    run(*cc, "-O0", "-g0", "-w", "-fno-builtin", "-shared", stub, "-o", interpreter, cwd=folder)
    library = folder / "python3.lib" if windows else interpreter

    (folder / "own.c").write_text(OWN, encoding="utf-8")
    position = [] if windows else ["-fPIC"]
    own = [*cc, *COMMON, *PEDANTIC, *position, "-I", BASE, "-c", folder / "own.c", "-o", folder / "own.o"]
    attempt(lambda: run(*own), faults, f"{name}, our own C")
    dispatch = folder / "dispatch.o"
    run(*cc, "-O0", "-g0", *position, "-I", BASE, "-c", BASE / "simd/dispatch.c", "-o", dispatch)

    def compile_one(source):
        out = folder / f"{source.parent.name}.{source.stem}.o"
        command = [*cc, *COMMON, *CYTHON, *position, *includes, "-c", source, "-o", out]
        return attempt(lambda: run(*command), faults, f"{name}, {source.stem}") is not None and out

    objects = [out for out in pool.map(compile_one, sources) if out]

    def link_one(out):
        parts = [out, *([dispatch] if out.name == "_base._kernels.o" else []), library]
        options = ["-Wl,-z,defs"] if name.startswith(("linux", "musl")) else []
        command = [*cc, "-shared", *options, *parts, "-o", out.with_suffix(".dll" if windows else ".so")]
        return attempt(lambda: run(*command, cwd=folder), faults, f"{name}, linking {out.stem}") is not None

    linked = sum(pool.map(link_one, objects))
    row = [f"{len(objects)} of {len(sources)}", f"{linked} of {len(sources)}"]
    row.append(run_kernels([*cc, "-Werror", "-Wall"], runner, folder / "random", faults, name))
    return row, faults


def run_kernels(cc, runner, out, faults, name):
    """Return the tiers whose kernels ran; "-" if nothing here runs programs of the target."""
    program, *options = (runner or "-").split()
    found = shutil.which(program) or (f"/usr/lib/wine/{program}" if Path(f"/usr/lib/wine/{program}").exists() else None)
    if not found:
        return "-"
    out = out.with_suffix(".exe" if "wine" in program else "")
    cc = [*cc, "-O1", "-g0", *(["-static"] if name.startswith("musl") else []), ROOT / "fuzz/random.c", "-o", out]
    if attempt(lambda: run(*cc), faults, f"{name}, fuzz/random.c") is None:
        return "-"
    # Wine writes its settings into the home directory, and says much.
    env = os.environ | {"WINEPREFIX": str(WORK / "wine"), "WINEDEBUG": "-all"}
    text = attempt(lambda: run(found, *options, out, INPUTS, env=env), faults, f"{name}, kernels")
    return "-" if text is None else text.strip().splitlines()[-1].partition(":")[0]


def build_as_msvc(zig, name):
    """Return what ran, and the faults, of our own C as Microsoft's compiler sees it."""
    target, cpu, runner = MSVC[name]
    folder, faults = WORK / f"{name}-msvc", []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "intrin.h").write_text(SHIM, encoding="utf-8")
    (folder / "own.c").write_text(OWN, encoding="utf-8")
    cc = [zig, "cc", "-target", target, f"-mcpu={cpu}", "-fms-extensions", "-I", folder]
    cc += ["-include", ROOT / ".ci/as_msvc.h", "-Werror", "-Wall", "-Wextra", "-Wvla", "-Wgnu", "-Wno-unused-function"]
    command = [*cc, "-O0", "-g0", "-I", BASE, "-c", folder / "own.c", "-o", folder / "own.o"]
    ok = attempt(lambda: run(*command), faults, f"{name} as MSVC") is not None
    return ["yes" if ok else "no", "-", run_kernels(cc, runner, folder / "random", faults, f"{name} as MSVC")], faults


def write_rows(rows):
    """Write rows of the table into the page, in their order; those of other targets stay."""
    before, mark, rest = PAGE.read_text("utf-8").partition("<!-- .ci/cross -->\n")
    lines, end, after = rest.partition("<!-- end -->")
    head, rule, *old = lines.splitlines()
    found = {row.split(" | ")[0].removeprefix("| "): row for row in [*old, *rows]}
    names = [*TARGETS, *(f"{name}, own C as MSVC" for name in MSVC)]
    lines = "\n".join([head, rule, *(found[name] for name in names if name in found)])
    PAGE.write_text(f"{before}{mark}{lines}\n{end}{after}", encoding="utf-8")


def main(arguments):
    write = "--write" in arguments
    names = [name for name in arguments if name != "--write"] or [*TARGETS]
    if {*names} - {*TARGETS}:
        print(__doc__, "Targets: " + " ".join(TARGETS), sep="\n", file=sys.stderr)
        return 2
    WORK.mkdir(parents=True, exist_ok=True)
    python, zig = make_tools()
    sources = cythonize(python)
    debian = fetch_headers([architecture for _, architecture, _ in TARGETS.values() if architecture])
    table = ["| target | headers of Python | compiled | linked | kernels ran |", "|---|---|---|---|---|"]
    faults = []
    print(*table, sep="\n", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for name in names:
            headers = debian.get(TARGETS[name][1])
            row, new = build(zig, name, sources, headers or make_headers(name), pool)
            table.append("| " + " | ".join([name, "Debian" if headers else "generated", *row]) + " |")
            print(table[-1], flush=True)
            faults += new
    for name in [name for name in MSVC if name in names]:
        row, new = build_as_msvc(zig, name)
        table.append("| " + " | ".join([f"{name}, own C as MSVC", "none", *row]) + " |")
        print(table[-1], flush=True)
        faults += new
    print(*faults, sep="\n\n")
    if write and not faults:
        write_rows(table[2:])
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
