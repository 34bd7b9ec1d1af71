"""Compile all C of the package for systems that have wheels or may build them, link it, and run the kernels.

    python tools/cross.py              all targets; prints a table, and exits with 1 if any of it fails
    python tools/cross.py TARGET ...   such as musl-aarch64 (NEON, with qemu-user-static), windows-x64 (with Wine)

It needs the dependency group `cross`: zig cc (clang with all C libraries), Cython and setuptools. Warnings are errors.

- "compiled": each module, as Cython generates it, and our own C once more by itself with stricter warnings (PEDANTIC).
- "linked": each module is a shared library in which nothing is undefined but what Python's headers declare. These names
  are in a library of empty functions that stands for the interpreter. So what the C library lacks, or an atomic
  operation that the machine lacks, is found, but nothing that is linked here can be imported.
- "kernels ran": fuzz/random.c, which compares all kernels in C with naive ones, on the target: under qemu-user or
  Wine. "-" if there is nothing to run it with.

The headers are those of the Python at hand, with a pyconfig.h that is made from what the compiler says of the target:
sizes, byte order, threads, and whether it is Windows.

As a stand-in for Microsoft's compiler: clang in its mode for MSVC, with the branches of the headers that MSVC takes,
and everything that only GNU C has an error (AS_MSVC below).
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/cross"
SOURCE = ROOT / "src/uricodec"
BASE = SOURCE / "_base"

# Name: the target of zig, and what starts its programs.
TARGETS = {
    "linux-x86_64": ("x86_64-linux-gnu.2.28", None),
    "linux-aarch64": ("aarch64-linux-gnu.2.28", None),
    "linux-i686": ("x86-linux-gnu.2.28", None),
    "linux-armv7": ("arm-linux-gnueabihf.2.28", None),
    "linux-ppc64le": ("powerpc64le-linux-gnu.2.28", None),
    "linux-s390x": ("s390x-linux-gnu.2.28", None),
    "linux-riscv64": ("riscv64-linux-gnu.2.28", None),
    "musl-x86_64": ("x86_64-linux-musl", "qemu-x86_64-static -cpu max"),
    "musl-aarch64": ("aarch64-linux-musl", "qemu-aarch64-static"),
    "musl-i686": ("x86-linux-musl", "qemu-i386-static -cpu max"),
    "musl-armv7": ("arm-linux-musleabihf", "qemu-arm-static"),
    "musl-ppc64le": ("powerpc64le-linux-musl", "qemu-ppc64le-static"),
    "musl-s390x": ("s390x-linux-musl", "qemu-s390x-static"),
    "musl-riscv64": ("riscv64-linux-musl", "qemu-riscv64-static"),
    "macos-arm64": ("aarch64-macos.11.0", None),
    "macos-x86_64": ("x86_64-macos.11.0", None),
    "windows-x64": ("x86_64-windows-gnu", "wine64"),
    "windows-x86": ("x86-windows-gnu", None),
    "windows-arm64": ("aarch64-windows-gnu", None),
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
ZIG = [sys.executable, "-m", "ziglang", "cc"]
OWN = "".join(f'#include "simd/{name}"\n' for name in ("dispatch.c", "fingerprint.h", "atomic.h", "memory.h", "file.h"))

# For build_as_msvc: clang's own intrin.h has more for MSVC, which MinGW has already defined otherwise.
SHIM = """\
#ifndef _MSC_VER
#pragma clang diagnostic ignored "-Wgnu-include-next"
#include_next <intrin.h>
#endif
"""

# Makes clang for Windows see our C as Microsoft's compiler would; included first, with -fms-extensions, for which its
# keywords and intrinsics are known. The system's headers are read as they are. After them, the macros are those of
# MSVC, and what only GNU C has is an error: attributes, inline assembly, built-in functions, 128-bit integers. (The
# extensions in syntax are: -Wgnu, -Wvla.) Vector code needs no attribute in MSVC, so -mcpu allows all instructions.
AS_MSVC = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intrin.h>
#include <io.h>
#include <windows.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
static inline void uc_cpuidex(int r[4], int leaf, int subleaf) { __cpuid_count(leaf, subleaf, r[0], r[1], r[2], r[3]); }
#else
#include <arm_neon.h>
#endif
static inline void uc_barrier(void) { __asm__ volatile("" ::: "memory"); }

#undef _M_X64
#undef _M_IX86
#undef _M_ARM64
#if defined(__x86_64__)
#define _M_X64 100
#elif defined(__i386__)
#define _M_IX86 600
#else
#define _M_ARM64 1
#define _ARM64_BARRIER_ISH 0xB
#define __dmb(kind) __builtin_arm_dmb(kind)
#endif
#undef _ReadWriteBarrier
#define _ReadWriteBarrier() uc_barrier()
#undef __cpuidex
#define __cpuidex(r, leaf, subleaf) uc_cpuidex(r, leaf, subleaf)

/* Macros of MinGW for what are keywords and intrinsics. */
#undef __forceinline
#undef __declspec
#undef _BitScanForward

#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#undef __x86_64__
#undef __i386__
#undef __aarch64__
#undef __BYTE_ORDER__
#undef __SIZEOF_INT128__
#undef __clang__
#undef __GNUC__
#define _MSC_VER 1940
#define __attribute__(attributes) only_GNU_C_has_attributes
#define __asm__ only_GNU_C_has_inline_assembly
#pragma GCC poison __int128 typeof __typeof__ __builtin_expect __builtin_unreachable __builtin_prefetch
#pragma GCC poison __builtin_ctz __builtin_ctzl __builtin_ctzll __builtin_clz __builtin_clzl __builtin_clzll
#pragma GCC poison __builtin_popcount __builtin_popcountll __builtin_parityll __builtin_bswap32 __builtin_bswap64
#pragma GCC poison __builtin_add_overflow __builtin_mul_overflow __builtin_memcpy __builtin_assume_aligned
#pragma GCC poison __atomic_load_n __atomic_store_n __atomic_test_and_set __atomic_clear __atomic_fetch_add
"""

PYCONFIG = """\
/* From what the compiler says of the target: enough of pyconfig.h to compile, not to run. */
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


def generate_sources():
    """Return the C files of all modules. A build for this machine writes them."""
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=ROOT)
    sources = [ROOT / "build/cython/src/uricodec" / path.relative_to(SOURCE) for path in SOURCE.rglob("*.pyx")]
    return [*(path.with_suffix(".c") for path in sources), ROOT / "build/cython/src/uricodec/_base/_cython.c"]


def make_headers(name):
    """Return the headers of the Python at hand, with the target's pyconfig.h instead of its own."""
    copy = WORK / name / "include"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), copy)
    (copy / "pyconfig.h").write_text(PYCONFIG, encoding="utf-8")
    return copy


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


def build(name, sources, pool):
    """Return a row of the table, and the faults."""
    target, runner = TARGETS[name]
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    headers = make_headers(name)
    includes = ["-isystem", headers, "-I", BASE]
    windows, faults = name.startswith("windows"), []
    cc = [*ZIG, "-target", target]
    interpreter = folder / ("python3.dll" if windows else "libpython3.so")
    stub = write_interpreter(folder, headers)
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


def build_as_msvc(name):
    """Return what ran, and the faults, of our own C as Microsoft's compiler sees it."""
    target, cpu, runner = MSVC[name]
    folder, faults = WORK / f"{name}-msvc", []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "intrin.h").write_text(SHIM, encoding="utf-8")
    (folder / "own.c").write_text(OWN, encoding="utf-8")
    (folder / "as_msvc.h").write_text(AS_MSVC, encoding="utf-8")
    cc = [*ZIG, "-target", target, f"-mcpu={cpu}", "-fms-extensions", "-I", folder]
    cc += ["-include", folder / "as_msvc.h", "-Werror", "-Wall", "-Wextra", "-Wvla", "-Wgnu", "-Wno-unused-function"]
    command = [*cc, "-O0", "-g0", "-I", BASE, "-c", folder / "own.c", "-o", folder / "own.o"]
    ok = attempt(lambda: run(*command), faults, f"{name} as MSVC") is not None
    return ["yes" if ok else "no", "-", run_kernels(cc, runner, folder / "random", faults, f"{name} as MSVC")], faults


def main(names):
    if {*names} - {*TARGETS}:
        raise SystemExit(f"{__doc__}\nTargets: {' '.join(TARGETS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(WORK / "zig")
    sources = generate_sources()
    faults = []
    print("| target | compiled | linked | kernels ran |\n|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for name in names or TARGETS:
            row, found = build(name, sources, pool)
            print(f"| {' | '.join([name, *row])} |", flush=True)
            faults += found
    for name in [name for name in MSVC if name in (names or MSVC)]:
        row, found = build_as_msvc(name)
        print(f"| {' | '.join([name + ', own C as MSVC', *row])} |", flush=True)
        faults += found
    print(*faults, sep="\n\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
