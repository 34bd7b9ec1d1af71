"""The built-in presets, as presets.ini has them."""

import os
import re
from functools import cache

BUILT_IN = os.path.join(os.path.dirname(__file__), "presets.ini")


def sections(text: str) -> dict[str, dict[str, str]]:
    """Return the keys and values of each section of a text of the form of presets.ini; configparser takes longer.

    >>> sections("# a comment\\n[a]\\nrest = yes\\nformat =\\n    $client\\n    $time")
    {'a': {'rest': 'yes', 'format': '\\n$client\\n$time'}}
    """
    found: dict[str, dict[str, str]] = {}
    name = key = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            found[name] = {}
        elif line.startswith(" "):
            found[name][key] += "\n" + line.strip()
        elif line and not line.startswith("#"):
            key, _, value = map(str.strip, line.partition("="))
            found[name][key] = value
    return found


@cache
def built_in() -> dict[str, dict[str, str]]:
    """Return the sections of presets.ini."""
    with open(BUILT_IN, encoding="utf-8") as file:
        return sections(file.read())


@cache
def literals_of(name: str) -> list[list[bytes]]:
    """Return the literals that each line of text has in this order, of each variant of a preset; none for JSON.

    >>> literals_of("common")
    [[b'', b' - ', b' [', b'] "', b'" ', b' ', b'', b'']]
    """
    section = built_in()[name]
    if "dialect" in section:
        return [[]]
    if "notation" in section:
        return [[b"="] if section["notation"] == "logfmt" else [b":", b"\t", b":"]]
    texts = section.get("format", "").strip().splitlines()
    texts = [re.sub(" {2,}", " ", text.partition("$optional")[0]) for text in texts]  # any number of spaces
    return [re.split(rb"\$\{?\w+\}?", text.encode()) for text in texts]


@cache
def needs_of(name: str) -> list[bytes]:
    """Return the names of members, or keys, that only logs of a preset have, as their lines have them.

    >>> needs_of("echo"), needs_of("combined")
    ([b'"latency_human"'], [])
    >>> needs_of("slog")[-1]  # one that they do not have
    b'!"ts"'
    """
    section = built_in()[name]
    written = {"logfmt": "%s=", "ltsv": "%s:"}.get(section.get("notation", ""), '"%s"')
    needs = [need.rpartition("!") for need in section.get("needs", "").split()]
    return [(mark + written % need).encode() for _, mark, need in needs]


def preset_names() -> list[str]:
    """Return the names of the built-in presets.

    >>> "combined" in preset_names()
    True
    """
    return list(built_in())


def preset_descriptions() -> dict[str, str]:
    """Return the first sentence of the comment before each built-in preset: the server, and its documentation.

    >>> preset_descriptions()["caddy"]
    'Caddy 2, "log" directive, and "How Logging Works"'
    """
    found, comment = {}, ""
    with open(BUILT_IN, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        if line.startswith("#"):
            comment += line[1:]
        elif line.startswith("["):
            found[line.strip("[]")] = re.split(r"[.:;] ", comment.strip() + " ")[0]
        else:
            comment = ""
    return found
