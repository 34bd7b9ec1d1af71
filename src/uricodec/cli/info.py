"""`uricodec info`: what a bug report should say."""

import os
import sys

import uricodec


def run():
    """Print version, kernel tiers, Python, platform and location.

    Returns:
        int: 0

    >>> run()
    uricodec ...
    0
    """
    # platform.platform() would say more, but takes longer than all the rest.
    system, _, release, _, machine = os.uname() if hasattr(os, "uname") else (sys.platform, "", "", "", "")
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"uricodec {uricodec.__version__}")
    print(f"kernels:  {uricodec.cpu_tier()} (this CPU has: {', '.join(uricodec.cpu_tiers())})")
    print(f"python:   {sys.implementation.name} {python} ({sys.executable})")
    print(f"platform: {' '.join(filter(None, (system, release, machine)))}")
    print(f"location: {os.path.dirname(uricodec.__file__)}")
    return 0
