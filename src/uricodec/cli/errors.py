"""What ends a command, besides files that fail."""


class CommandError(Exception):
    """A failure that ends the command: one line for the user.

    Args:
        message (str): The line, without "uricodec: ".
        status (int): The exit status: 1 for invalid input, 2 for options that mean nothing.

    >>> CommandError("line 7: lone surrogate", 1).status
    1
    """

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status
