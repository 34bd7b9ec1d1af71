"""`python -m uricodec`: the same as the command `uricodec`."""

import sys

from uricodec.cli import main

if __name__ == "__main__":
    sys.exit(main())
