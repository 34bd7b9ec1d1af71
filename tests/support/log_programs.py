"""The reference implementation of log formats (reference/log_formats.py) with programs that the package compiles."""

from functools import cache

from reference import log_formats
from reference.log_formats import DIRECTIVE, Field, Invalid, Json, Text, W3c  # noqa: F401 (tests take them from here)

from uricodec.logs import _formats


def field_of(step):
    return step if isinstance(step, bytes) else Field(*step)


@cache
def compiled(text):
    """The programs of a format string or preset, in the types of the reference."""
    found = []
    for program in _formats.compile_format(text):
        if isinstance(program, _formats.Text):
            found.append(Text(tuple(map(field_of, program.steps)), *program[1:]))
        elif isinstance(program, _formats.Json):
            found.append(Json(tuple((path, Field(*field)) for path, field in program.members), *program[1:]))
        else:
            found.append(W3c(*program))
    return found


def programs_of(format):
    return format if isinstance(format, dict) else compiled(format)


def record(line, format, *state, **options):
    return log_formats.record(line, programs_of(format), *state, **options)


def shown(values, format):
    return log_formats.shown(values, programs_of(format))
