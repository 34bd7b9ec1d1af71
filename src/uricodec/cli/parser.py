"""The parser of the command line, made from the tables of commands and options."""

import argparse
from itertools import pairwise

from uricodec.cli.commands import COMMANDS
from uricodec.cli.errors import CommandError
from uricodec.cli.options import OPTIONS

__all__ = ["find_command", "parse"]

MOST = 1000  # options of a command line: the time of argparse grows with the square of their number


def find_command(name):
    """Return the command with a name.

    Raises:
        CommandError: There is none.
    """
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        hint = near(name, [*COMMANDS, "--help", "--version"]) or "'uricodec --help' lists the commands"
        raise CommandError(f"unknown {what} {name!r}", 2, hint)
    return COMMANDS[name]


def parse(command, words):
    """Return the arguments of a command.

    Options may stand before, between and after the operands, up to a "--".

    Args:
        command (Command): The command.
        words (list[str]): What follows its name on the command line.

    Returns:
        argparse.Namespace: A value for each option of the table. Options that were not given have their default value;
            options of other commands are None, or False if they take no value.

    Raises:
        CommandError: An option or operand is unknown, missing or invalid, or there are more than MOST options.
    """
    end = words.index("--") if "--" in words else len(words)
    if sum(word.startswith("-") for word in words[:end]) > MOST:
        raise CommandError(f"expected at most {MOST} options", 2, "-r FOLDER or --text VALUE --text VALUE needs fewer")
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False, formatter_class=formatter)
    for option in command.options:
        if option.flags:
            action = "append" if option.value else "store_true"
            parser.add_argument(*option.flags, dest=option.key, action=action, default=None)
    try:
        arguments, rest = parser.parse_known_args(words[:end])
    except argparse.ArgumentError as error:
        hint = hint_for(command, error.argument_name, words[:end])
        raise CommandError(f"{error.argument_name}: {error.message}", 2, hint) from None
    arguments.command = command.name
    if arguments.help or arguments.version:
        return arguments
    for word in rest:
        if word.startswith("-") and word != "-":
            reject_option(command, word.partition("=")[0])
    take_operands(command, arguments, rest + words[end + 1 :])
    for option in command.options:
        if option.value and getattr(arguments, option.key) is not None:
            setattr(arguments, option.key, read(option, getattr(arguments, option.key)))
    imply(command, arguments)
    for option in command.options:
        check(option, command, arguments)
    own = {option.key for option in command.options}
    for option in [*command.options, *(option for option in OPTIONS.values() if option.key not in own)]:
        if getattr(arguments, option.key, None) is None:
            default = option.default if option in command.options else None
            setattr(arguments, option.key, default if option.value else False)
    return arguments


def formatter(prog):
    """Return what argparse uses to check options; without a width it would import shutil, which is slow."""
    return argparse.HelpFormatter(prog, width=79)


def take_operands(command, arguments, words):
    """Set the attribute of the command's operands."""
    operand = command.operand
    if words and (operand is None or (len(words) > 1 and not operand.repeats)):
        raise CommandError(f"unexpected argument {words[-1]!r}", 2, see(command))
    if operand is not None:
        setattr(arguments, operand.key, words if operand.repeats else words or None)


def read(option, value):
    """Return the value of an option, given its texts. Of two, neither is ignored: which is meant is not known."""
    if len(set(value)) > 1 and not option.repeats:
        hint = "put commas between them" if option.value in ("NAMES", "LIST", "FIELDS") else ""
        raise CommandError(f"{option.flag}: expected one value, got {len(set(value))}", 2, hint)
    try:
        return [option.read(text) for text in value] if option.repeats else option.read(value[0])
    except ValueError as error:
        raise CommandError(f"{option.flag}: {error}", 2) from None


def imply(command, arguments):
    """Set the values that options imply for others that were not given, and defaults that conditions are about."""
    for option in command.options:
        for condition, value in option.implied.items():
            if getattr(arguments, option.key) is None and holds(condition, arguments):
                setattr(arguments, option.key, value)
        if option.decides and getattr(arguments, option.key) is None:
            setattr(arguments, option.key, option.default)


def check(option, command, arguments):
    """Reject a value that is not among the choices, and combinations of options that contradict each other."""
    value = getattr(arguments, option.key)
    if value is None:
        if option.required and not any(holds(condition, arguments) for condition in option.implied):
            hint = f"choose from {', '.join(option.choices)}" if option.choices else see(command)
            raise CommandError(f"{option.flag} is required", 2, hint)
        return
    for condition in option.conflicts.split():
        if holds(condition, arguments):
            hint = option.hint or f"leave out {option.flag} or {shown(condition)}"
            raise CommandError(f"{option.flag}: not allowed with {shown(condition)}", 2, hint)
    needs = option.needs.split()
    if needs and not any(holds(condition, arguments) for condition in needs):
        wanted = " or ".join(map(shown, needs))
        raise CommandError(f"{option.flag}: not allowed without {wanted}", 2, f"add {wanted}")
    if option.choices:
        check_choice(option, value, arguments)


def check_choice(option, value, arguments):
    """Reject a value that is not among the choices, or not under a condition that holds."""
    choices, where = list(option.choices), ""
    for condition, some in option.only.items():
        if holds(condition, arguments):
            choices, where = some.split(), f" with {shown(condition)}"
    if not choices:
        raise CommandError(f"{option.flag}: not allowed{where}", 2, f"leave out {option.flag}")
    if value not in choices:
        message = f"{option.flag}: unknown value {value!r}{where}; choose from {', '.join(choices)}"
        allowing = [shown(condition) for condition, some in option.only.items() if value in some.split()]
        hint = f"{value} needs {' or '.join(allowing)}" if allowing else near(value, choices)
        raise CommandError(message, 2, hint)


def hint_for(command, names, words):
    """Return how an option is written, given its names as argparse shows them ("-o/--output"), and the command line."""
    known = [flag for option in command.options for flag in option.flags]
    for option in command.options:
        if "/".join(option.flags) == names:
            for word, value in pairwise(words):
                # Not an option, but a value such as -2h.
                if (
                    option.value
                    and word in option.flags
                    and value.startswith("-")
                    and value.partition("=")[0] not in known
                ):
                    return f"such as {option.flag}={value}"
            return f"such as {option.flag} {option.value}" if option.value else f"{option.flag} has no value"
    return see(command)


def reject_option(command, name):
    """Raise the error for an option that the command does not have."""
    flags = [flag for option in command.options for flag in option.flags]
    raise CommandError(f"unknown option {name!r}", 2, near(name, flags) or see(command))


def holds(condition, arguments):
    """Return whether an option was given, or was given with a value: "--csv", "--kind=urn"."""
    name, _, value = condition.partition("=")
    given = getattr(arguments, name.lstrip("-").replace("-", "_"), None)
    return given == value if value else given is not None


def shown(condition):
    return condition.replace("=", " ")


# What others call a value.
SYNONYMS = {
    "url": "uri",
    "urls": "uri",
    "http": "web",
    "https": "web",
    "json": "jsonl",
    "ndjson": "jsonl",
    "txt": "text",
}


def near(word, known):
    """Return a hint that names the most similar known word, or ""."""
    from difflib import get_close_matches

    same = SYNONYMS.get(word.lower())
    found = [same] if same in known else get_close_matches(word, known, 1)
    return "".join(f"did you mean {word!r}?" for word in found)


def see(command):
    return f"see 'uricodec {command.name} --help'"
