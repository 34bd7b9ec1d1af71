"""The operations: a module for each subject, a decorated function for each operation.

OPERATIONS is the table of all. Made from it: the methods for Polars and pandas, the functions for Spark and SQL; their
documentation and type stubs; the page docs/reference/operations.md; the calls that tests and the fuzz target make.
Compared with it, by tests/bulk/test_table.py: the parser of the command line.

An operation imports what only it needs when it is called.
"""

from uricodec.bulk._functions import OPERATIONS as OPERATIONS

# isort: off
# The order of the table and its pages.
from uricodec.bulk._operations import percent
from uricodec.bulk._operations import uri
from uricodec.bulk._operations import url
from uricodec.bulk._operations import hosts
from uricodec.bulk._operations import urn
from uricodec.bulk._operations import fingerprints

# isort: on
# The names of the functions, which `bulk` imports.
__all__: list[str] = []
__all__ += fingerprints.__all__
__all__ += hosts.__all__
__all__ += percent.__all__
__all__ += uri.__all__
__all__ += url.__all__
__all__ += urn.__all__
