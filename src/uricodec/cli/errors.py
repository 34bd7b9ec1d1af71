"""The error that ends a command."""


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
        self.status = status
