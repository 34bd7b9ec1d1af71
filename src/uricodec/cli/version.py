"""`uricodec --version`, which needs nothing else of the command line."""

import sys

import uricodec


def show_version():
    """Print the version, the CPU tier and the version of Python. Return the exit status."""
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"uricodec {uricodec.__version__} (tier {uricodec.cpu_tier()}, {sys.implementation.name} {python})")
    if sys.stdout is not None:
        sys.stdout.flush()
    return 0
