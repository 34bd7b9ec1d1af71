"""What `uricodec log` can be told, and what its help says. This is imported when any command starts."""

import argparse
import os

from uricodec.cli.texts import CSV_SAFE

LOG = """\
Turn access logs into records. What the log has escaped is undone; the request
is split while it is percent-encoded; then path and query are decoded.

A record is one line: host, user, time (RFC 3339), method, target, path, query
(pairs of name and value), protocol, status, size, referer, agent.
Octets that are not UTF-8 stay triplets.
"""
LOG_EXAMPLES = """\
examples:
  uricodec log access.log                      JSON lines
  uricodec log --format iis --to csv u_ex25*.log -o requests.csv
  uricodec log --mask token,password --invalid-to bad.tsv access.log.gz

"""


def parameter_names(text):
    names = [name for name in text.split(",") if name]
    if any(len(os.fsencode(name)) > 255 for name in names):
        raise argparse.ArgumentTypeError("a name has more than 255 octets")
    return names


def add(log):
    """Add the options to the parser of the command."""
    log.add_argument(
        "--format",
        choices=["auto", "combined", "common", "nginx-json", "cloudfront", "iis", "alb"],
        default="auto",
        metavar="FORMAT",
        help="combined, common, nginx-json, cloudfront, iis or alb; auto (the default) looks at the first lines",
    )
    log.add_argument(
        "--to",
        choices=["jsonl", "csv", "arrow"],
        default="jsonl",
        help="write JSON lines (the default), CSV, or a stream of Arrow IPC (needs pyarrow)",
    )
    log.add_argument("--csv-safe", action="store_true", help=CSV_SAFE)
    log.add_argument(
        "--mask",
        type=parameter_names,
        default=[],
        metavar="NAMES",
        help="write '***' for the values of these query parameters, names with commas between them",
    )
    log.add_argument(
        "--flags",
        action="store_true",
        help="say what is suspicious: malformed, double-encoded, overlong-utf8, encoded-slash, dot-dot, nul",
    )
    log.add_argument(
        "--errors",
        choices=["keep", "replace"],
        default="keep",
        help="what to do with octets that are not UTF-8: keep them as triplets (the default) or replace them by U+FFFD",
    )
    log.add_argument(
        "--invalid-to",
        metavar="FILE",
        help="write lines that are no records here, each with input, line, place and code, as 'uricodec check' does",
    )
