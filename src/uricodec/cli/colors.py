"""Colors in messages and help. Records never have any."""

import os

BOLD, RED, CYAN = "1", "1;31", "36"


def wanted(words):
    """Return the value of --color in a command line (list[str]), which may be invalid otherwise."""
    found = "auto"
    for i, word in enumerate(words):
        if word == "--":
            break
        if word.startswith("--color="):
            found = word.partition("=")[2]
        elif word == "--color" and i + 1 < len(words):
            found = words[i + 1]
    return found


def are_shown(when, stream):
    """Return whether what is written to a stream has colors.

    Args:
        when (str): "auto", "always" or "never".
        stream (TextIO | None): Standard output or error.

    >>> are_shown("always", None), are_shown("never", None), are_shown("auto", None)
    (True, False, False)
    """
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def painted(text, color):
    """Return a text in a color, the parameters of the control sequence SGR of ECMA-48 (section 8.3.117).

    >>> painted("hint", BOLD)
    '\\x1b[1mhint\\x1b[0m'
    """
    return f"\x1b[{color}m{text}\x1b[0m"


def in_help(text):
    """Return a help text with bold headings, and the names of options and commands in color."""
    import re

    text = re.sub(r"^(\S[^\n]*:)$|^(usage:)", lambda found: painted(found[0], BOLD), text, flags=re.MULTILINE)
    return re.sub(r"(?<=\s)--?[a-z][a-z-]*", lambda found: painted(found[0], CYAN), text)


def in_message(text):
    """Return a message that begins with "uricodec:", with that in red, and the words before a hint or link in bold."""
    import re

    text = re.sub(r"^(hint|see):", lambda found: painted(found[0], BOLD), text, flags=re.MULTILINE)
    return painted("uricodec:", RED) + text.removeprefix("uricodec:")
