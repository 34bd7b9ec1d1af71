"""What tests compare of a Diagnostic."""


def brief(found):
    """Return the code and the offset, as the reference implementations have them; None for None."""
    return found and found[:2]
