"""Rules files of ClearURLs, read for `Policy.from_clearurls`.

A file has providers: sites, each with regular expressions for the names of query parameters to remove. The rules of
the provider for all URLs become names of a Policy: an expression is expanded to the names that it matches. What a
Policy has no place for is left out and counted: rules of sites, exceptions, and expressions that match more than names
and prefixes.

Source: https://docs.clearurls.xyz/1.27.3/specs/rules/
"""

from __future__ import annotations

import re
from json import loads
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

from uricodec._io.sources import open_soon
from uricodec.parse import unquote

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["read"]

_ALL_URLS = ".*"  # the urlPattern of the provider for all URLs
_LISTS = ("rules", "rawRules", "referralMarketing", "exceptions", "redirections")
_MOST = 1000  # names of an expression
_LONGEST = 500  # characters of an expression,
_TOTAL = 20_000  # and of all names that a part of it stands for: each character of the expression copies them
_CLASSES = {"d": digits, "w": ascii_letters + digits + "_"}
_TOKENS = re.compile(r"\(\?:|\[(?:[^\]\\]|\\.)+\]|\\.|.", re.DOTALL)

# What an expression matches: texts, each with whether any characters may follow.
_Matches = set[tuple[str, bool]]


def read(path: str | os.PathLike[str]) -> tuple[list[str], str]:
    """Return names of parameters, "*" at the end of prefixes, and what was left out, in words; "" if nothing was.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not a rules file.
    """
    names: set[str] = set()
    rules = unused = referrals = exceptions = others = sites = 0
    for provider in _providers(path):
        if provider["urlPattern"] != _ALL_URLS:
            sites += 1
            continue
        for rule in provider["rules"]:
            found = _names(rule)
            rules, unused = rules + 1, unused + (found is None)
            names.update(found or ())
        referrals += len(provider["referralMarketing"])
        exceptions += len(provider["exceptions"])
        others += len(provider["rawRules"]) + len(provider["redirections"]) + bool(provider["completeProvider"])
    counts = (
        (unused, f"{unused} of the {rules} rules for all URLs, which match more than names and prefixes"),
        (referrals, f"parameters of referral marketing ({referrals})"),
        (exceptions, f"exceptions to the rules for all URLs ({exceptions})"),
        (others, f"raw rules, redirections and blocks for all URLs ({others})"),
        (sites, f"the rules of {sites} providers for some URLs"),
    )
    return sorted(names), "; ".join(text for count, text in counts if count)


def _providers(path: Any) -> Iterable[dict[str, Any]]:
    """Return the providers of a file, with all their keys."""
    with open_soon(path) as file:
        data = file.read()
    try:
        providers = loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"invalid JSON in {str(path)!r}: {error}") from None
    providers = providers.get("providers") if isinstance(providers, dict) else None
    if not isinstance(providers, dict):
        raise ValueError(f"expected an object with the object 'providers' in {str(path)!r}")
    found = []
    for name, given in providers.items():
        # Keys with default values may be missing.
        provider = (
            {"completeProvider": False, **{key: [] for key in _LISTS}, **given} if isinstance(given, dict) else {}
        )
        lists = [provider.get(key) for key in _LISTS]
        if not isinstance(provider.get("urlPattern"), str) or not all(
            isinstance(items, list) and all(isinstance(item, str) for item in items) for items in lists
        ):
            raise ValueError(f"invalid provider {name!r} in {str(path)!r}")
        found.append(provider)
    return found


# --- expressions ------------------------------------------------------------------------------------------------------


class _OtherError(Exception):
    """The expression matches more than names and prefixes."""


def _names(expression: str) -> set[str] | None:
    """Return the names and prefixes that an expression matches; None if there are others.

    A class that repeats at the end becomes a prefix: "utm_[a-z]*" is "utm_*". Rules are written for encoded names, and
    those of a Policy are decoded: "%3F" is "?".

    >>> sorted(_names("(?:%3F)?fb_(?:source|ref)"))
    ['?fb_ref', '?fb_source', 'fb_ref', 'fb_source']
    """
    if len(expression) > _LONGEST:
        return None
    try:
        found = _alternatives(_TOKENS.findall(expression)[::-1], nested=False)
    except (_OtherError, RecursionError):
        return None
    found = {(unquote(text), open_end) for text, open_end in found}
    if any(not text or re.search("[&=#*]", text) or not text.isascii() for text, _ in found):
        return None
    return {text.lower() + "*" * open_end for text, open_end in found}


def _alternatives(tokens: list[str], nested: bool) -> _Matches:
    """Read sequences between "|" from the end of `tokens`, which has the first token last."""
    found: _Matches = set()
    sequence: _Matches = {("", False)}
    while tokens:
        token = tokens.pop()
        if token == ")" and nested:
            return found | sequence
        if token == "|":
            found |= sequence
            sequence = {("", False)}
        else:
            sequence = _joined(sequence, _repeated(token, tokens))
    if nested:
        raise _OtherError
    return found | sequence


def _joined(first: _Matches, second: _Matches) -> _Matches:
    if any(open_end for _, open_end in first) and any(text for text, _ in second):
        raise _OtherError
    if len(first) * len(second) > _MOST:
        raise _OtherError
    if sum(len(text) for text, _ in first) * len(second) > _TOTAL:
        raise _OtherError
    return {(text + more, open_end or more_open) for text, open_end in first for more, more_open in second}


def _repeated(token: str, tokens: list[str]) -> _Matches:
    """Read what a token begins, and the "?", "*" or "+" after it."""
    if token in ("(", "(?:"):
        found = _alternatives(tokens, nested=True)
        repeats = all(open_end for _, open_end in found)
    else:
        members = _members(token)
        found = {(member, False) for member in members}
        repeats = token[0] == "[" or token in (".", "\\d", "\\w")
    often = tokens.pop() if tokens and tokens[-1] in ("?", "*", "+") else ""
    if often and tokens and tokens[-1] == "?":  # as few as possible, which are the same names
        tokens.pop()
    if often in ("*", "+"):
        if not repeats:
            raise _OtherError
        found = found if token in ("(", "(?:") else {("", True)}
    elif token == ".":
        raise _OtherError
    return found | {("", False)} if often in ("?", "*") and ("", True) not in found else found


def _members(token: str) -> set[str]:
    """Return the characters that a token stands for."""
    if token[0] == "[" and len(token) > 1:
        return _class(token[1:-1])
    if token[0] == "\\" and len(token) > 1:
        if token[1] not in _CLASSES and token[1].isalnum():
            raise _OtherError
        return {*_CLASSES.get(token[1], token[1])}
    if token in "*+?{}^$()[]\\":
        raise _OtherError
    return {token}


def _class(text: str) -> set[str]:
    """Return the characters of a class: "a-z0-9_"."""
    if text[0] == "^":
        raise _OtherError
    found: set[str] = set()
    items = re.findall(r"\\.|.", text, re.DOTALL)
    while items:
        first = _members(items.pop(0)) if items[0][0] == "\\" else {items.pop(0)}
        if len(items) > 1 and items[0] == "-":
            last = _members(items[1]) if items[1][0] == "\\" else {items[1]}
            if len(first) > 1 or len(last) > 1 or not items[1].isascii():
                raise _OtherError
            found.update(map(chr, range(ord(first.pop()), ord(last.pop()) + 1)))
            del items[:2]
        found |= first
    return found
