"""Try a test suite with the drop-in: `pytest -p uricodec.pytest_plugin`.

The functions of urllib.parse are replaced before pytest imports what it tests, and in all modules that are loaded by
then: see `uricodec.install`.
"""

import pytest

from uricodec import install, uninstall

_reports: list[str] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Install the drop-in, before any conftest.py."""
    count = len(install(rebind=True).replaced)
    _reports.append(f"uricodec: {count} attributes replaced in urllib.parse and the modules that use it")


def pytest_report_header() -> list[str]:
    """Return the line of pytest's header that shows that the drop-in is installed."""
    return _reports


def pytest_unconfigure() -> None:
    """Put everything back."""
    uninstall()
