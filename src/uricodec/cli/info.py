"""`uricodec info`: the facts that a bug report needs."""

import os
import sys

import uricodec


def run(_arguments):
    """Print version, CPU tiers, Python, platform and location.

    >>> run(None)
    uricodec ...
    0
    """
    # platform.platform() would tell more, but takes longer than all the rest.
    system, _, release, _, machine = os.uname() if hasattr(os, "uname") else (sys.platform, "", "", "", "")
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"uricodec {uricodec.__version__}")
    print(f"tier:     {uricodec.cpu_tier()} (this CPU has: {', '.join(uricodec.cpu_tiers())})")
    print(f"python:   {sys.implementation.name} {python} ({sys.executable})")
    print(f"platform: {' '.join(filter(None, (system, release, machine)))}")
    print(f"location: {os.path.dirname(uricodec.__file__)}")
    return 0
