"""The reports of deduplication: the one table of them.

From a row follow the option of `uricodec dedup` and its help, what a run counts, and which rows are written, with which
column. It is apart from `dedup`, whose options are read without it.
"""

from collections import namedtuple

_Fields = namedtuple("_Fields", "option help details hint least column", defaults=("", "", 1, ""))


class Report(_Fields):
    """What is written of the identifiers.

    Attributes:
        option (str): The option that selects it; "": it is the default.
        help (str), details (str), hint (str): See Option of cli/options.py; the hint is for a conflict with the
            option of another report.
        least (int): Only identifiers that occur so often are written.
        column (str): The name of the column before each row with the number of occurrences; "": there is none.
    """

    __slots__ = ()

    @property
    def key(self):
        """The name of the option without its dashes."""
        return self.option.rpartition("--")[2]

    @property
    def counts(self):
        """Whether occurrences are counted, so that nothing can be written before all rows are read."""
        return self.column != "" or self.least > 1


# By the names in DedupReport of uricodec/typing.py, which costs too much start-up to be imported here.
REPORTS = {
    "unique": Report("", "write the first line with each identifier"),
    "counts": Report(
        "-c --count",
        "write the number of occurrences before each line",
        "A tab follows it. With --field, it is a field of its own, 'count' in the header; with --parquet, a first "
        "column 'count'.",
        column="count",
    ),
    "repeated": Report(
        "--repeated",
        "write only identifiers that occur more than once",
        hint="leave out --repeated: --count writes 1 for each identifier that occurs once",
        least=2,
    ),
}
