"""Nanoseconds per row of the operations on many rows: calls of `bulk` and `dedup`, and commands over files of 200 MB.

    python benchmarks/rows.py                   all rows of the table
    python benchmarks/rows.py decode "URNs"     those whose names contain one of these texts
    python benchmarks/rows.py --list

Each figure is the median of several calls in one process after one that does not count: processor time, or wall time
where several threads work. Only public interfaces are called, so that the same file measures older builds, too:
`benchmarks/alternate OLD NEW` runs it on two of them in turns.

Rows are paths of corpus.py, 90 bytes on average ("English": 31), and URLs and URNs. The latter are made as well, unless
URICODEC_CORPORA names a folder with urls_mixed_repos.txt and urns_stream.txt (or the same with .xz).
"""

import argparse
import lzma
import os
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import corpus

COUNT = 1_000_000  # rows in memory
DISTINCT = 200_000  # of them: making a path takes longer than decoding a hundred
FILE_SIZE = 200 << 20
CALLS = 10_000  # of one row

# --- rows -------------------------------------------------------------------------------------------------------------

folder = Path()  # the folder for files of rows; main() sets it


def real(name):
    """Return the lines of a file of real data; none if it is missing."""
    path = Path(os.environ.get("URICODEC_CORPORA", ""), name)
    if "URICODEC_CORPORA" not in os.environ:
        return []
    if not path.exists():
        path = path.with_name(f"{name}.xz")
        if not path.exists():
            return []
    with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
        return file.read().decode("utf-8", "replace").splitlines()


def url(rng):
    """Return a URL of 70 bytes on average. One in four is not in normal form."""
    host = rng.choice(("www.example.org", "docs.example.com", "Example.ORG", "example.net:80", "dbpedia.example"))
    return f"{rng.choice(('http', 'https'))}://{host}{corpus.plain_path(rng)}{rng.choice(('', '', '#a', '?id=%7Ea'))}"


def sparse_url(rng):
    """Return a URL; one in three has one or two spaces, as triplets."""
    path = corpus.plain_path(rng).partition("?")[0]
    text = f"https://{rng.choice(('www', 'docs', 'cdn'))}.example.org{path}?id={rng.randrange(10**6)}"
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        place = rng.randrange(24, len(text))
        text = f"{text[:place]} {text[place:]}"
    return text.replace(" ", "%20")


@cache
def rows(kind):
    """Return COUNT rows, the same in every process."""
    rng = random.Random(kind)
    if kind == "urns":
        found = real("urns_stream.txt")[:COUNT] or list(chain.from_iterable(corpus.urns(COUNT, rng)))
    elif kind == "urls":
        found = real("urls_mixed_repos.txt") or [url(rng) for _ in range(DISTINCT)]
    else:
        make = {"paths": corpus.path, "english": corpus.plain_path, "sparse": sparse_url}[kind]
        found = [make(rng) for _ in range(DISTINCT)]
    found = (found * (COUNT // len(found) + 1))[:COUNT]
    return [str(row.encode(), "utf-8") for row in found]  # each an object of its own, side by side in memory


@cache
def lines(kind, end="\n"):
    return "".join(f"{row}{end}" for row in rows(kind)).encode()


@cache
def shuffled(kind):
    """Return the same objects in an order that defeats prefetching."""
    found = list(rows(kind))
    random.Random(1).shuffle(found)
    return found


@cache
def array(kind, layout="string"):
    import pyarrow as pa

    return pa.array(rows(kind), getattr(pa, layout)())


@cache
def series(kind):
    import pandas as pd

    return pd.Series(rows(kind), dtype=object)


FORMS = {
    "fields": "{0}\t{1}\t200\n",
    "csv": '{0},"{1}",200\n',
    "json": '{{"n":{0},"u":"{1}"}}\n',
    "lf": "{1}\n",
    "crlf": "{1}\r\n",
}


@cache
def file(kind, form="lf", size=FILE_SIZE):
    """Return the path of a file and its number of rows. Size 0: COUNT rows, none repeated."""
    path = folder / f"{kind}-{form}-{size}"
    text = "".join(FORMS[form].format(number, row) for number, row in enumerate(rows(kind))).encode()
    times = max(1, -(-size // len(text)))
    if not path.exists():
        with open(path, "wb") as output:
            for _ in range(times):
                output.write(text)
    return str(path), times * COUNT


# --- measurements -----------------------------------------------------------------------------------------------------


class Measurement(NamedTuple):
    """A measurement: `prepare` returns the call to measure and its number of rows."""

    prepare: Callable
    clock: Callable = process_time


def call(name, make, /, **options):
    """Return the measurement of an operation of bulk on the rows that `make` returns."""

    def prepare():
        from uricodec import bulk

        return partial(getattr(bulk, name), make(), **options), COUNT

    threads = options.get("threads", 1)
    return Measurement(prepare, process_time if threads == 1 else perf_counter)


def in_one_thread(name, make, /, **options):
    return call(name, make, **options, threads=1)


def one(name, make, /, **options):
    """Return the measurement of many calls with one row."""

    def prepare():
        from uricodec import bulk

        function, column = getattr(bulk, name), make()

        def calls():
            for _ in range(CALLS):
                function(column, **options)

        return calls, CALLS

    return Measurement(prepare)


def buffers(name, make, **options):
    """Return the measurement of a function that writes into a buffer, on pieces of 1 MiB of the lines `make` returns.

    The pieces are distinct, so that the CPU does not learn where their escapes are.
    """

    def prepare():
        import uricodec

        function, data, target = getattr(uricodec, name), memoryview(make()), bytearray(3 << 20)
        pieces = [data[start : start + (1 << 20)] for start in range(0, len(data), 1 << 20)]

        def calls():
            for piece in pieces:
                function(piece, target, **options)

        return calls, COUNT

    return Measurement(prepare)


def each(make):
    """Call `uricodec.uri.normalize` for each row of a list."""

    def prepare():
        from uricodec import uri

        column = make()
        return lambda: list(map(uri.normalize, column)), COUNT

    return Measurement(prepare)


def unique(make, **options):
    def prepare():
        from uricodec import dedup

        return partial(dedup.unique, make(), **options), COUNT

    return Measurement(prepare)


def neighbours(name, make):
    """Return the measurement of an operation on each row and the next one."""

    def prepare():
        from uricodec import bulk

        found = make()
        return partial(getattr(bulk, name), found[:-1], found[1:], threads=1), COUNT - 1

    return Measurement(prepare)


def command(arguments, kind, form="lf", size=FILE_SIZE):
    """Return the measurement of a command over a file, in this process. It writes to the standard output."""
    arguments = arguments.split()

    def prepare():
        from uricodec.cli import main

        path, count = file(kind, form, size)

        def run():
            status = main([*arguments, path])
            if status > 1:  # 1: there is invalid input
                raise SystemExit(f"status {status}: uricodec {' '.join(arguments)}")

        return run, count

    one_thread = "-j" not in arguments or arguments[arguments.index("-j") + 1] == "1"
    if "-j" not in arguments:
        arguments += ["-j", "1"]
    return Measurement(prepare, process_time if one_thread else perf_counter)


def lent(kind, end="\n"):
    return partial(lines, kind, end)


def spaced(kind):
    """Return a function that returns the lines with spaces instead of their triplets."""
    return lambda: lines(kind).replace(b"%20", b" ")


def column(kind, layout="string"):
    return partial(array, kind, layout)


def one_of(kind):
    """Return a column of one row."""
    return lambda: array(kind).slice(0, 1)


TABLE = {
    # URIs
    "normalize_uri, lines": in_one_thread("normalize_uri", lent("urls")),
    "normalize_uri, Arrow": in_one_thread("normalize_uri", column("urls")),
    "normalize_uri, list": call("normalize_uri", partial(rows, "urls")),
    "normalize_uri, list, shuffled": call("normalize_uri", partial(shuffled, "urls")),
    "normalize_uri, crawl, lines": in_one_thread("normalize_uri", lent("urls"), policy="crawl"),
    "normalize_uri, surt, lines": in_one_thread("normalize_uri", lent("urls"), policy="surt"),
    "normalize_uri, w3lib, lines": in_one_thread("normalize_uri", lent("urls"), policy="w3lib"),
    "uri.normalize, each of a list": each(partial(rows, "urls")),
    "uri.normalize, each of a list, shuffled": each(partial(shuffled, "urls")),
    "is_valid_uri, lines": in_one_thread("is_valid_uri", lent("urls")),
    "is_valid_uri, Arrow": in_one_thread("is_valid_uri", column("urls")),
    "split_uri, Arrow": in_one_thread("split_uri", column("urls")),
    "agreed_host, Arrow": in_one_thread("agreed_host", column("urls")),
    "host, Arrow": in_one_thread("host", column("urls")),
    "registrable_domain, Arrow": in_one_thread("registrable_domain", column("urls")),
    "query_value, Arrow": in_one_thread("query_value", column("urls"), name="q"),
    "query_value of three names, Arrow": in_one_thread("query_value", column("urls"), name=["q", "page", "id"]),
    "equivalent, Arrow": neighbours("equivalent", column("urls")),
    "relation, Arrow": neighbours("relation", column("urls")),
    "redact, Arrow": in_one_thread("redact", column("urls")),
    "redact, lines": in_one_thread("redact", lent("urls")),
    "redact, extended, Arrow": in_one_thread("redact", column("urls"), names="extended"),
    "redact_text, lines": in_one_thread("redact_text", lent("urls")),
    "redact_text, lines, English": in_one_thread("redact_text", lent("english")),
    "split_uri, list": call("split_uri", partial(rows, "urls")),
    "split_uri, pandas objects": call("split_uri", partial(series, "urls")),
    "command normalize --kind uri": command("normalize --kind uri", "urls"),
    "command redact": command("redact", "urls"),
    # fingerprints
    "fingerprint, urn, lines": in_one_thread("fingerprint", lent("urns"), kind="urn"),
    "fingerprint, urn, Arrow": in_one_thread("fingerprint", column("urns"), kind="urn"),
    "fingerprint, uri, lines": in_one_thread("fingerprint", lent("urls"), kind="uri"),
    "fingerprint, uri, Arrow": in_one_thread("fingerprint", column("urls"), kind="uri"),
    # CR LF
    "CR LF, unquote, lines": in_one_thread("unquote", lent("paths", "\r\n")),
    "CR LF, quote, lines": in_one_thread("quote", lent("paths", "\r\n")),
    "CR LF, normalize_urn, lines": in_one_thread("normalize_urn", lent("urns", "\r\n")),
    "CR LF, normalize_uri, lines": in_one_thread("normalize_uri", lent("urls", "\r\n")),
    "CR LF, command decode": command("decode", "paths", "crlf"),
    "CR LF, command encode": command("encode", "paths", "crlf"),
    "CR LF, command normalize --kind urn": command("normalize --kind urn", "urns", "crlf"),
    # percent-encoding, columns and lines
    "unquote, lines": in_one_thread("unquote", lent("paths")),
    "unquote, lines, 2 threads": call("unquote", lent("paths"), threads=2),
    "unquote, lines, English": in_one_thread("unquote", lent("english")),
    "unquote, Arrow": in_one_thread("unquote", column("paths")),
    "unquote, Arrow, 2 threads": call("unquote", column("paths"), threads=2),
    "unquote, Arrow, English": in_one_thread("unquote", column("english")),
    "unquote, views": in_one_thread("unquote", column("paths", "string_view")),
    "unquote, views, English": in_one_thread("unquote", column("english", "string_view")),
    "unquote, list": call("unquote", partial(rows, "paths")),
    "quote, lines": in_one_thread("quote", lent("paths")),
    "quote, lines, English": in_one_thread("quote", lent("english")),
    "quote, Arrow": in_one_thread("quote", column("paths")),
    "quote, Arrow, English": in_one_thread("quote", column("english")),
    "quote, views": in_one_thread("quote", column("paths", "string_view")),
    "requote, lines": in_one_thread("requote", lent("paths")),
    "requote, Arrow": in_one_thread("requote", column("paths")),
    "requote, views": in_one_thread("requote", column("paths", "string_view")),
    # percent-encoding, the command line
    "command decode": command("decode", "paths"),
    "command decode, English": command("decode", "english"),
    "command decode --stats": command("decode --stats", "paths"),
    "command decode --errors null": command("decode --errors null", "paths"),
    "command decode --errors drop": command("decode --errors drop", "paths"),
    "command decode -f 2": command("decode -f 2", "paths", "fields"),
    "command decode --csv -f 2": command("decode --csv -f 2", "paths", "csv"),
    "command encode -f 2": command("encode -f 2", "paths", "fields"),
    "command normalize --kind uri -f 2": command("normalize --kind uri -f 2", "urls", "fields"),
    "command normalize --production URI -f 2": command("normalize --kind uri --production URI -f 2", "urls", "fields"),
    "command normalize --kind urn -f 2": command("normalize --kind urn -f 2", "urns", "fields"),
    "command split --kind uri -f 2": command("split --kind uri -f 2", "urls", "fields"),
    "command split --kind uri --csv -f 2": command("split --kind uri --csv -f 2", "urls", "csv"),
    "command decode --json-field u": command("decode --json-field u", "paths", "json"),
    "command encode": command("encode", "paths"),
    "command encode, English": command("encode", "english"),
    "command requote": command("requote", "paths"),
    # buffers of 1 MiB. URICODEC_TIER selects the tier
    "unquote_into": buffers("unquote_into", lent("paths")),
    "unquote_into, English": buffers("unquote_into", lent("english")),
    "unquote_into, sparse URLs": buffers("unquote_into", lent("sparse")),
    "quote_into": buffers("quote_into", lent("paths")),
    "quote_into, sparse URLs": buffers("quote_into", spaced("sparse"), safe=":/?&=\n"),
    # URNs
    "normalize_urn, 8141, lines": in_one_thread("normalize_urn", lent("urns")),
    "normalize_urn, 8141, Arrow": in_one_thread("normalize_urn", column("urns")),
    "normalize_urn, namespace, lines": in_one_thread("normalize_urn", lent("urns"), level="namespace"),
    "normalize_urn, namespace, Arrow": in_one_thread("normalize_urn", column("urns"), level="namespace"),
    "normalize_urn, functional, lines": in_one_thread("normalize_urn", lent("urns"), level="functional"),
    "is_valid_urn, lines": in_one_thread("is_valid_urn", lent("urns")),
    "is_valid_urn, Arrow": in_one_thread("is_valid_urn", column("urns")),
    "command normalize --kind urn": command("normalize --kind urn", "urns"),
    "command normalize --kind urn --stats": command("normalize --kind urn --stats", "urns"),
    "command normalize --kind urn --level namespace": command("normalize --kind urn --level namespace", "urns"),
    "command normalize --kind urn --level functional": command("normalize --kind urn --level functional", "urns"),
    "command check --kind urn": command("check --kind urn", "urns"),
    # deduplication
    "command dedup -j 1": command("dedup --kind urn -j 1", "urns", size=0),
    "command dedup -j 2": command("dedup --kind urn -j 2", "urns", size=0),
    "command dedup --exact": command("dedup --kind urn --exact -j 1", "urns", size=0),
    "command dedup --kind uri": command("dedup --kind uri -j 1", "urls", size=0),
    "dedup.unique, urn, Arrow": unique(column("urns"), kind="urn"),
    "dedup.unique, uri, Arrow": unique(column("urls"), kind="uri"),
    "dedup.unique, urn, list": unique(partial(rows, "urns"), kind="urn"),
    "dedup.unique, urn, lines": unique(lent("urns"), kind="urn"),
    "dedup.unique, uri, scheme, lines": unique(lent("urls"), kind="uri", level="scheme"),
    "dedup.unique, uri, crawl, lines": unique(lent("urls"), kind="uri", policy="crawl"),
    # one row
    "one row, unquote, list": one("unquote", lambda: ["/caf%C3%A9"]),
    "one row, unquote, Arrow": one("unquote", one_of("paths")),
    "one row, normalize_urn, list": one("normalize_urn", lambda: ["URN:ISBN:0451450523"]),
    "one row, normalize_urn, Arrow": one("normalize_urn", one_of("urns")),
    "one row, normalize_uri, list": one("normalize_uri", lambda: ["HTTP://Example.org/a/../b"]),
}


def chosen(texts):
    """Return the names of measurements: a text selects the one of this name, otherwise all that contain it."""
    return [
        name for name in TABLE if not texts or any(name == text if text in TABLE else text in name for text in texts)
    ]


def measure(name, rounds=1):
    """Return the median nanoseconds per row of `rounds` calls."""
    measurement = TABLE[name]
    run, count = prepared(name)
    found = []
    for _ in range(rounds):
        start = measurement.clock()
        result = run()
        found.append((measurement.clock() - start) * 1e9 / count)
        del result  # freeing memory is not timed
    return found


@cache
def prepared(name):
    """Prepare a measurement. Return its call, made once already, and its number of rows."""
    run, count = TABLE[name].prepare()
    run()
    return run, count


@contextmanager
def quiet():
    """Discard the output of commands."""
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(nowhere)


def serve():
    """Read names from standard input, measure each, and write a figure for each."""
    import uricodec

    print(uricodec.__file__, flush=True)
    for line in sys.stdin:
        try:
            with quiet():
                found = measure(line.rstrip("\n"))[0]
        except (Exception, SystemExit) as error:
            found = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(found, flush=True)


def main():
    global folder  # noqa: PLW0603
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names of rows, or parts of names")
    parser.add_argument("--list", action="store_true", help="write the names")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", metavar="FOLDER", help="measure what standard input names, with files in a folder")
    arguments = parser.parse_args()
    names = chosen(arguments.rows)
    if arguments.list:
        print("\n".join(names))
    elif arguments.serve:
        folder = Path(arguments.serve)
        serve()
    else:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            for name in names:
                with quiet():
                    found = median(measure(name, arguments.rounds))
                print(f"{found:10.1f}  {name}", flush=True)


if __name__ == "__main__":
    main()
