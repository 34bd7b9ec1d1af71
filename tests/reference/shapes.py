"""The reference implementation of shapes of URLs: regular expressions on decoded segments."""

import re
from urllib.parse import unquote_to_bytes

EXTENSION = re.compile(rb"(?s)(.+?)((?:\.(?:[A-Za-z][A-Za-z0-9]{0,4}|[A-Za-z]{6,8})){0,2})")
CLASSES = {
    "int": rb"[0-9]+",
    "uuid": rb"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "date": rb"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "hex": rb"(?i)(?=.*[0-9])(?=.*[a-f])(([0-9a-f]{2}){4,}|[0-9a-f]{12,})",
}
EMAIL = re.compile(rb"[A-Za-z0-9.!#$%&'*+=?^_`|~-]{1,64}@(?![0-9]+x\.|[0-9]+\.[0-9])(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}")
TOKEN = re.compile(rb"(?=.*[0-9])[A-Za-z0-9_.~=:+-]{16,}")


def turns(stem):
    """How often the kind of bytes changes, unless a word ends there."""
    words = re.findall(rb"[A-Z]?[a-z]+(?=(.?))", stem, re.DOTALL)
    spelled = re.findall(rb"[A-Z]?[a-z]+", stem)
    found = sum(
        after.isupper() and (len(word) < 3 or not re.search(rb"(?i)[aeiouy]", word))
        for word, after in zip(spelled, words, strict=True)
    )
    return found + len(re.findall(rb"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])", stem))


def is_token(stem):
    longest = max(map(len, re.findall(rb"[A-Za-z0-9]*", stem)))
    needed = 4 if longest < 10 else 7
    return bool(TOKEN.fullmatch(stem)) and longest >= 7 and needed * turns(stem) >= len(stem)


def class_of(segment):
    """The class of a decoded segment, or None, and the size of its stem."""
    if b"@" in segment:
        return ("email" if EMAIL.fullmatch(segment) else None), len(segment)
    found = EXTENSION.fullmatch(segment)
    stem = found[1] if found else segment
    for name, expression in CLASSES.items():
        if re.fullmatch(expression, stem):
            return name, len(stem)
    return ("token" if is_token(stem) else None), len(stem)


TEXT = re.compile(rb"\{(?:int|uuid|date|hex|email|token)\}")


def shaped_segment(segment, is_decoded):
    decoded = segment if is_decoded else unquote_to_bytes(segment)
    name, size = class_of(decoded)
    if name:
        return b"{%s}%s" % (name.encode(), decoded[size:])
    # Braces that a level encoded.
    return decoded if TEXT.fullmatch(decoded[:size]) else segment


def shaped(path, is_decoded=False):
    """A path of bytes with the class of each segment."""
    return b"/".join(shaped_segment(segment, is_decoded) for segment in path.split(b"/"))
