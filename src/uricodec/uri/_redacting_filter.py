"""Redaction of log messages: a filter for `logging`."""

import logging
from collections.abc import Collection, Mapping
from typing import Any

from uricodec.uri._redact import redact_text

__all__ = ["RedactingFilter"]

# The attributes that each record has; others come from `extra`.
_COMMON = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}

DEEPEST = 20  # containers within each other in `extra`


class RedactingFilter(logging.Filter):
    """A filter that redacts the URLs in log records, as `redact_text` does, and lets all records pass.

    It redacts the message with its %-arguments, text in `extra` and in its dicts, lists and tuples, tracebacks and
    stacks. Add it to handlers: a filter of a logger does not see the records of loggers below it.

    Args:
        names (str | Collection[str]): See `redact`.
        nested (bool): See `redact`.
        paths (str | Collection[str]): See `redact`.

    Raises:
        TypeError: If a name or a pattern is not a str.
        ValueError: See `redact`.

    >>> import logging, sys
    >>> from uricodec import uri
    >>> handler = logging.StreamHandler(sys.stdout)
    >>> handler.addFilter(uri.RedactingFilter(names="extended"))
    >>> logger = logging.Logger("app")
    >>> logger.addHandler(handler)
    >>> logger.warning("GET %s failed", "https://me:secret@a.example/?token=secret&page=2")
    GET https://REDACTED:REDACTED@a.example/?token=REDACTED&page=2 failed
    """

    def __init__(
        self, names: str | Collection[str] = "default", nested: bool = True, paths: str | Collection[str] = ()
    ) -> None:
        super().__init__()
        self.names: str | tuple[str, ...] = names if isinstance(names, str) else tuple(names)
        self.nested = nested
        self.paths: str | tuple[str, ...] = paths if isinstance(paths, str) else tuple(paths)
        self._redact("")  # raises for wrong names

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record in place; return True.

        Args:
            record (logging.LogRecord): The record.
        """
        if record.args:
            record.args = self._redact_arguments(record.args)
        try:
            message = record.getMessage()
        except Exception:
            # The handler reports it, with the message and the arguments.
            message = str(record.msg)
            redacted = self._redact(message)
            if redacted != message:
                record.msg = redacted
        else:
            redacted = self._redact(message)
            # Objects, and values that only the whole message shows: "?token=%s"
            if redacted != message:
                record.msg, record.args = redacted, None
        if record.exc_info and not record.exc_text:
            # What a Formatter would write, which it does not do again.
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = record.exc_text and self._redact(record.exc_text)
        record.stack_info = record.stack_info and self._redact(record.stack_info)
        for name in vars(record).keys() - _COMMON:
            setattr(record, name, self._redact_extra(getattr(record, name)))
        return True

    def _redact(self, text: str) -> str:
        return redact_text(text, self.names, self.nested, self.paths)

    def _redact_value(self, value: Any) -> Any:
        return redact_text(value, self.names, self.nested, self.paths) if isinstance(value, (str, bytes)) else value

    def _redact_extra(self, value: Any, outer: tuple[Any, ...] = ()) -> Any:
        # What contains itself, or is very deep, stays.
        if type(value) not in {dict, list, tuple} or len(outer) == DEEPEST or any(value is each for each in outer):
            return self._redact_value(value)
        if type(value) is dict:
            return {name: self._redact_extra(each, (*outer, value)) for name, each in value.items()}
        return type(value)(self._redact_extra(each, (*outer, value)) for each in value)

    def _redact_arguments(self, arguments: Any) -> Any:
        if isinstance(arguments, Mapping):
            return {name: self._redact_value(value) for name, value in arguments.items()}
        return tuple(map(self._redact_value, arguments))


RedactingFilter.__module__ = "uricodec.uri"
