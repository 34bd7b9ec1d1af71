"""Check an installed uricodec: `python -m uricodec.selftest`.

In a second, and with nothing but the package: all compiled modules are imported; then, on each kernel tier of this CPU,
the drop-in is compared with urllib.parse, on texts of all lengths up to a few vectors, and columns, URIs, IRIs, URNs,
logs and deduplication with answers that are known. It prints what it checked, and exits with 1 if anything differs.
"""

import importlib
import importlib.machinery
import os
import random
import sys
import urllib.parse
from collections.abc import Iterator
from typing import Any

import uricodec
from uricodec._base import _kernels

__all__: list[str] = []  # it is a command
_SUFFIXES = tuple(importlib.machinery.EXTENSION_SUFFIXES)


def __dir__() -> list[str]:
    return __all__


def _short(value: object) -> str:
    return f"{value!r:.200}"


def _import_compiled() -> list[str]:
    """Import all compiled modules, and return their names."""
    root = os.path.dirname(uricodec.__file__)
    names = set()
    for folder, _, files in os.walk(root):
        room = os.path.relpath(folder, os.path.dirname(root)).replace(os.sep, ".")
        names |= {f"{room}.{file.partition('.')[0]}" for file in files if file.endswith(_SUFFIXES)}
    for name in sorted(names):
        importlib.import_module(name)
    return sorted(names)


def _texts() -> Iterator[str]:
    """Yield texts with characters of 1 to 4 bytes and triplets, good and bad, across the ends of all vectors."""
    draw = random.Random(3986)
    pieces = [
        "a",
        "Z",
        "7",
        "-",
        "~",
        "/",
        "?",
        "&",
        "=",
        "+",
        " ",
        "%",
        "%2",
        "%41",
        "%c3%A9",
        "%fF",
        "%zz",
        "é",
        "€",
        "😀",
        "\0",
    ]
    for size in [*range(140), 255, 256, 257, 1000]:
        yield "".join(draw.choices(pieces, k=size))
        yield "abcdefgh" * (size // 8) + "z" * (size % 8)
        yield "é" * size


def _compare() -> int:
    """Compare the drop-in with urllib.parse. Return the number of calls."""
    from uricodec import parse

    theirs: Any = urllib.parse
    calls = 0
    for text in _texts():
        data = text.encode()
        for name, arguments in (
            ("quote", (text,)),
            ("quote", (data, b"")),
            ("quote_plus", (text, "/")),
            ("quote_from_bytes", (data,)),
            ("unquote", (text,)),
            ("unquote_plus", (text,)),
            ("unquote_to_bytes", (data,)),
            ("parse_qsl", (text, True)),
            ("urlsplit", ("http://host/" + text,)),
        ):
            expected, found = getattr(theirs, name)(*arguments), getattr(parse, name)(*arguments)
            if found != expected:
                raise AssertionError(f"{name}{_short(arguments)}: {_short(found)} instead of {_short(expected)}")
            calls += 1
    return calls


def _known() -> Iterator[tuple[str, object, object]]:
    """Yield (what is asked, what was found, what is right)."""
    from uricodec import bulk, dedup, iri, logs, uri, urn

    yield "percent_encode", uricodec.percent_encode("a b%"), "a%20b%25"
    yield "percent_decode", uricodec.percent_decode("%41%2F%ff" * 50), "A/%ff" * 50
    yield "uri.normalize", uri.normalize("HTTP://Example.org:80/%7Euser/../a", level="scheme"), "http://example.org/a"
    yield "uri.resolve", uri.resolve("http://a/b/c/d;p?q", "../g?y#s"), "http://a/b/g?y#s"
    yield "uri.check", getattr(uri.check("http://host/a b"), "offset", None), 13
    yield "uri.is_valid", uri.is_valid("http://[v1.a:b]/%zz"), False
    yield "iri.iri_to_uri", iri.iri_to_uri("http://example.org/r\u00e9sum\u00e9"), "http://example.org/r%C3%A9sum%C3%A9"
    yield "urn.normalize", urn.normalize("URN:Example:a%2f1"), "urn:example:a%2F1"
    yield "urn.equivalent", urn.equivalent("urn:example:a%2f", "URN:EXAMPLE:a%2F"), True
    values = ["http://h/%7e", "http://h/\u00e9", "%"] * 40
    yield "bulk.quote", bulk.quote(values), [urllib.parse.quote(value) for value in values]
    yield "bulk.unquote", bulk.unquote(values), [urllib.parse.unquote(value) for value in values]
    yield "bulk.is_valid_urn", bulk.is_valid_urn(["urn:isbn:0451450523", "urn:-:a"]), [True, False]
    yield "dedup.unique", dedup.unique(["urn:a1:b", "URN:A1:b", "urn:a1:c"], kind="urn"), ["urn:a1:b", "urn:a1:c"]
    line = b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a%20b?c=d HTTP/1.0" 200 2326\n'
    yield "logs.parse", [record.target for record in logs.parse(line)], ["/a%20b?c=d"]


def main() -> int:
    """Run all checks, print what they were, and return the exit code.

    Returns:
        int: 0, or 1 if a check fails.
    """
    print(f"uricodec {uricodec.__version__}, {sys.implementation.name} {sys.version.split()[0]}, {sys.platform}")
    print(f"{len(_import_compiled())} compiled modules of {os.path.dirname(uricodec.__file__)}")
    before, failed = uricodec.cpu_tier(), 0
    for tier in uricodec.cpu_tiers():
        _kernels.use_tier(tier)
        try:
            calls = _compare()
            known = list(_known())
            wrong = [
                f"{asked}: {_short(found)} instead of {_short(right)}"
                for asked, found, right in known
                if found != right
            ]
            if wrong:
                raise AssertionError("; ".join(wrong))
            print(f"tier {tier}: {calls} calls as urllib.parse, {len(known)} known answers: ok")
        except Exception as error:  # whatever it is, the other tiers are checked, too
            failed += 1
            print(f"tier {tier}: FAILED: {type(error).__name__}: {error}")
        finally:
            _kernels.use_tier(before)
    print("failed" if failed else "ok")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
