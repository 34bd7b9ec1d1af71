"""Optional packages: what installs one that is missing."""


def need(extra: str, *modules: str) -> None:
    """Import modules of optional packages.

    Args:
        extra (str): The extra of this package that installs them.
        modules (str): Their names.

    Raises:
        ModuleNotFoundError: A package is not installed; the message says what to type.

    >>> need("arrow", "uricodec_of_tomorrow")
    Traceback (most recent call last):
    ModuleNotFoundError: uricodec_of_tomorrow is not installed: pip install 'uricodec[arrow]'
    """
    for module in modules:
        try:
            __import__(module)
        except ModuleNotFoundError as error:
            if error.name != module.partition(".")[0]:
                raise
            raise ModuleNotFoundError(
                f"{error.name} is not installed: pip install 'uricodec[{extra}]'", name=error.name
            ) from None
