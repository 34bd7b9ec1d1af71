"""What a command line means: objects made of the values of its options, in one place.

    words -- parser.py --> values of options -- plan.py --> Plan, and values of the command's own options -- the command

What several commands share is in the Plan. Any other option is a parameter of the function that runs the command:
`uricodec redact --urls -o out` calls redact(plan, urls=True, ...), where plan.output is "out".
"""

from contextlib import nullcontext

from uricodec._io.files import tell
from uricodec.cli.errors import CommandError

__all__ = ["Plan", "Records", "plan_of"]


class Plan:
    """What commands share.

    Args:
        command (str): The name of the command.
        values (dict[str, Any]): The values of its options. What becomes part of the plan is removed.

    Attributes:
        command (str): As above.
        inputs (list[str]): The names of the inputs: at least one, perhaps "-".
        stdin (AbstractContextManager): What stands for standard input while the command runs, for --text.
        records (Records): Where values are in the input.
        parquet (bool): Whether inputs and output are Parquet files.
        output (str | None): The path of --output.
        to (str | None): The format of the output; None: that of the input, or as the command decides.
        limit, sample, seed, top (int | None): Which records are written.
        count (bool | tuple[str, ...]): Whether records are counted; for `log`, by these fields.
        get (str | None): The template of the output.
        private (bool): Whether the template's public suffixes include those of companies.
        agreed (dict[str, Any] | None): What `hosts` accepts: options of `uricodec.uri.agreed_host`.
        errors (str): How invalid lines are handled.
        invalid_to (str | None): The path of the report of invalid lines.
        stats (bool): Whether counts are written to standard error.
        max_line (int | None): The limit for the bytes of a line.
        threads (int | None): The number of threads; None: automatic.
        quiet (bool): Whether notes are left out.
        progress (bool | None): Whether progress is shown; None: as Meter decides.

    Raises:
        CommandError: A pattern matches no file, an input is a folder, there are both files and values, or two outputs
            are the same file.
    """

    def __init__(self, command, values):
        def take(key, default=None):
            return values.pop(key, default)

        self.command, self.quiet, self.parquet = command, take("quiet"), take("parquet", False)
        shown, hidden = take("progress"), take("no_progress")
        self.progress = False if self.quiet or hidden else shown or None
        self.records = Records(values) if "null_data" in values else Records({})
        self.output, self.to, self.get, self.count = take("output"), take("to"), take("get"), take("count") or False
        self.limit, self.sample, self.seed, self.top = take("limit"), take("sample"), take("seed"), take("top")
        self.private = take("private", False)
        self.agreed = {key: take(key) for key in AGREED} if command == "hosts" else None
        self.errors, self.invalid_to, self.stats = take("errors", "drop"), take("invalid_to"), take("stats", False)
        self.max_line, self.threads = take("max_line"), take("threads") or None
        self.inputs, self.stdin = self._inputs(take("files"), take("text"), take("recursive"))
        self._check_files(values)

    def _inputs(self, files, texts, recursive):
        if not (files or texts or recursive):
            return ["-"], nullcontext()
        from uricodec.cli import inputs

        if texts:
            if files or recursive:
                raise CommandError("--text: not allowed with FILE", 2, "leave out --text VALUE or FILE")
            return ["-"], inputs.Texts(texts, self.records.end)
        if self.parquet and self.command == "dedup":  # which writes a folder for each
            return files or ["-"], nullcontext()
        return inputs.expanded(self.command, files, recursive, self.output), nullcontext()

    def _check_files(self, values):
        """Reject two outputs that are the same file, and outputs that are an input; --output may be one."""
        written = {"--output": self.output, "--groups": values.get("groups"), "--invalid-to": self.invalid_to}
        if values.get("update"):
            written["--seen"] = values["seen"]
        if not any(written.values()):
            return
        from uricodec._io.writing import place_of

        taken = {}
        for flag, path in written.items():
            place = place_of(path) if path is not None or flag == "--output" else None
            if place in taken:
                raise CommandError(f"{taken[place]} and {flag} are the same file", 2, f"change {flag} FILE")
            if place:
                taken[place] = flag
        inputs = [*self.inputs, *(values.get("exclude") or []), *(values.get("only_in") or [])]
        for place in {place_of(name) for name in inputs if name != "-"} & taken.keys():
            if taken[place] != "--output":
                hint = f"give {taken[place]} another FILE"
                raise CommandError(f"{taken[place]} and an input are the same file", 2, hint)

    def thread_count(self):
        """Return the number of threads, chosen by the inputs if none is given."""
        from uricodec._io.workers import threads_for

        return self.threads or threads_for(self.inputs)

    def rejects(self):
        """Return the output for the report of invalid lines; without one, a context manager that yields None."""
        from uricodec._io.writing import Output

        return nullcontext() if self.invalid_to is None else Output(self.invalid_to)

    def note(self, text):
        """Write a remark to standard error, unless --quiet is given."""
        if not self.quiet:
            tell(f"uricodec: {text}\n")


# What `hosts` accepts.
AGREED = "schemes", "userinfo", "trailing_dot", "ports"


class Records:
    """Where values are in the input.

    Args:
        values (dict[str, Any]): The values of options. Those of records are removed.

    Attributes:
        form (str): "lines", "csv", "delimited" or "json".
        selected (list[str] | str | None): What --field or --json-field names: several, or with `dedup` one; None: all
            fields, or whole lines.
        end (bytes): The terminator of lines.
        delimiter (bytes | None): The byte between fields; None: the usual one.
        header (bool): Whether the first record of each input contains the names of fields.

    Raises:
        CommandError: The delimiter has another meaning in such records.
    """

    def __init__(self, values):
        fields, members, csv = (values.pop(key, None) for key in ("field", "json_field", "csv"))
        self.selected = fields if members is None else members
        self.form = "csv" if csv else "lines" if self.selected is None else "delimited" if members is None else "json"
        self.end = b"\0" if values.pop("null_data", False) else b"\n"
        self.delimiter, self.header = values.pop("delimiter", None), values.pop("header", False)
        if self.delimiter is None:
            return
        from uricodec._records.headers import is_delimiter

        if not is_delimiter(self.delimiter, self.form, self.end):
            from uricodec._io.reports import visible

            text = f"--delimiter: {visible(self.delimiter)!r} has another meaning in these records"
            raise CommandError(text, 2, "such as --delimiter ';'")

    def csv_delimiter(self):
        """Return the byte between fields of CSV; None: records are something else."""
        return (self.delimiter or b",") if self.form == "csv" else None


def plan_of(command, values):
    """Return the Plan of a command (Command), and the values of its own options by key, given those of all."""
    own = {key: value for key, value in values.items() if key not in {"help", "version", "color"}}
    return Plan(command.name, own), own
