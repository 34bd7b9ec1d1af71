"""`uricodec info`: the facts that a bug report needs."""

import os
import sys

import uricodec

# Dependencies and extras.
PACKAGES = ("idna", "isal", "backports.zstd", "publicsuffixlist", "pyarrow", "polars", "pandas", "duckdb", "pyspark")


def installed():
    """Return the packages of PACKAGES that are installed, with their versions.

    Their metadata is in folders NAME-VERSION.dist-info (importlib.metadata takes longer than all the rest).
    """
    found = {}
    for folder in filter(os.path.isdir, sys.path):
        for entry in os.listdir(folder):
            name, _, version = entry.removesuffix(".dist-info").partition("-")
            name = name.lower().replace("_", ".")
            if entry.endswith(".dist-info") and name in PACKAGES:
                found.setdefault(name, f"{name} {version}")
    return [found[name] for name in PACKAGES if name in found]


def run(_plan):
    """Print version, CPU tiers, build, Python, platform, packages and location.

    >>> run(None)
    uricodec ...
    0
    """
    # platform.platform() would tell more, but takes longer than all the rest.
    system, _, release, _, machine = os.uname() if hasattr(os, "uname") else (sys.platform, "", "", "", "")
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"uricodec {uricodec.__version__}")
    print(f"tier:     {uricodec.cpu_tier()} (this CPU has: {', '.join(uricodec.cpu_tiers())})")
    cython = type(uricodec.cpu_tier).__module__.removeprefix("_cython_").replace("_", ".")
    bits = sys.maxsize.bit_length() + 1
    tag = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"  # with "t" if it is free-threaded
    print(f"build:    Cython {cython}, {tag}, {bits} bits, {sys.byteorder}-endian")
    print(f"python:   {sys.implementation.name} {python} ({sys.executable})")
    print(f"platform: {' '.join(filter(None, (system, release, machine)))}")
    print(f"packages: {', '.join(installed()) or 'none'}")
    print(f"location: {os.path.dirname(uricodec.__file__)}")
    return 0
