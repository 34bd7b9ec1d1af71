"""What references raise: classes of the same names as those of `uricodec.errors`, by which tests compare them."""


class UriError(ValueError):
    """An invalid input: why it is, in words of the reference, and where."""

    def __init__(self, reason, input, offset):
        super().__init__(reason, input, offset)
        self.reason, self.input, self.offset = reason, input, offset


class UriSyntaxError(UriError):
    pass


class IriError(UriError):
    pass


class UrnError(UriError):
    pass
