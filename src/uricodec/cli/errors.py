"""The error that ends a command, what helps, and the page that explains it."""

import os

from uricodec._base.extras import need

__all__ = [
    "ERRORS_HINT",
    "LONG_HEADER_HINT",
    "LONG_HINT",
    "PAGES",
    "SITE",
    "UNCLOSED",
    "CommandError",
    "needs",
    "page_of",
    "with_link",
]

# What several commands say of records: what helps with invalid ones and long ones, and what is wrong with the last one.
ERRORS_HINT = "--errors drop skips invalid records, --invalid-to FILE lists them"
LONG_HINT = "; --max-line SIZE allows longer ones"
LONG_HEADER_HINT = "--max-line SIZE allows longer ones"
UNCLOSED = "the last record ends within quotes, which are not closed"

SITE = "https://uricodec.github.io/uricodec/"

# Where the documentation explains what an exit status is about, of a command or of all.
PAGES = {
    1: "guides/framing.html#how-invalid-input-is-handled",
    2: "reference/cli.html",
    3: "guides/framing.html#threads-and-files",
    ("normalize", 1): "reference/rules.html#codes",
    ("split", 1): "reference/rules.html#codes",
    ("resolve", 1): "reference/rules.html#codes",
    ("dedup", 1): "guides/dedup.html#which-lines-are-equivalent",
    ("dedup", 3): "guides/dedup.html#guarantees",
    ("log", 1): "guides/logs.html#what-is-not-a-record",
}


class CommandError(Exception):
    """A failure that ends the command.

    Args:
        message (str): One line for the user, without "uricodec: ".
        status (int): The exit status: 1 for invalid input, 2 for an invalid command line, 3 for a file.
        hint (str): What would help, such as another option; "" if nothing is known to.

    >>> str(CommandError("a.csv:7:1: unclosed quote", 1, "--errors drop skips such records"))
    'a.csv:7:1: unclosed quote\\n\\nhint: --errors drop skips such records'
    """

    def __init__(self, message, status, hint=""):
        super().__init__(f"{message}\n\nhint: {hint}" if hint else message)
        self.message, self.status, self.hint = message, status, hint


def needs(flag, extra, module):
    """Raise CommandError unless the module of an extra is installed, given the option that needs it."""
    try:
        need(extra, module)
    except ModuleNotFoundError as error:
        raise CommandError(f"{flag}: {error.name} is not installed", 2, f"pip install 'uricodec[{extra}]'") from None
    except ImportError as error:
        raise CommandError(f"{flag}: {module} cannot be imported: {error}", 2) from None


def page_of(command, status):
    """Return the address of the page that explains an error.

    Args:
        command (str | None): The command's name; None if there is none.
        status (int): The exit status.

    >>> page_of("log", 1)
    'https://uricodec.github.io/uricodec/guides/logs.html#what-is-not-a-record'
    """
    if status == 2 and command:
        return f"{SITE}commands/{command}.html"
    return SITE + PAGES.get((command, status), PAGES[status])


def with_link(message, command, status):
    """Return a message with a link to the page that explains it, unless URICODEC_NO_DOCS_LINKS is set.

    Args:
        message (str): The message, with its hint if it has one.
        command (str | None): The command's name; None if there is none.
        status (int): The exit status that the page is about.
    """
    if os.environ.get("URICODEC_NO_DOCS_LINKS"):
        return message
    return message + ("\n" if "\n\nhint: " in message else "\n\n") + f"see: {page_of(command, status)}"
