"""The parser of the command line, made from the tables of commands and options."""

from uricodec.cli.commands import COMMANDS
from uricodec.cli.errors import CommandError

__all__ = ["find_command", "parse"]


def find_command(words):
    """Return the command that a command line begins with.

    Raises:
        CommandError: There is none.
    """
    name = words[0]
    if name in COMMANDS:
        return COMMANDS[name]
    if name.startswith("-"):
        flag = name.partition("=")[0] if name.startswith("--") else name[:2]
        owners = [each for each in COMMANDS.values() if any(flag in option.flags for option in each.options)]
        if owners:
            names = [each.name for each in owners]
            wanted = next((word for word in words if word in names), names[0])
            raise CommandError(f"expected a command before {name!r}, as in 'uricodec {wanted} {name}'", 2)
    what = "option" if name.startswith("-") else "command"
    hint = near(name, [*COMMANDS, "--help", "--version"]) or "'uricodec --help' lists the commands"
    raise CommandError(f"unknown {what} {name!r}", 2, hint)


def parse(command, words):
    """Return the values of a command's options.

    Options may stand before, between and after the operands, up to a "--".

    Args:
        command (Command): The command.
        words (list[str]): What follows its name on the command line.

    Returns:
        dict[str, Any]: The value of each option by its key. One that was not given has its default value, or False if
            it takes no value.

    Raises:
        CommandError: An option or operand is unknown, missing or invalid.
    """
    given, operands, unknown = take_options(command, words)
    if not (given.get("help") or given.get("version")):
        if unknown:
            reject_option(command, *unknown)
        take_operands(command, given, operands)
        for option in command.options:
            if option.value and option.key in given:
                given[option.key] = read(option, given[option.key])
        imply(command, given)
        for option in command.options:
            check(option, command, given)
    defaults = {option.key: option.default if option.value else False for option in command.options}
    return defaults | {key: value for key, value in given.items() if value is not None}


def take_options(command, words):
    """Return which options are given: True, or a list of the texts of their values.

    "--name=value", "--name value", "-nvalue", "-n=value" and "-n value" give a value, and "-ab" is "-a -b".

    Returns:
        tuple[dict[str, True | list[str]], list[str], tuple[str, str] | None]: They, by key; the operands; and the first
            unknown option, and the word it is in.
    """
    flags = {flag: option for option in command.options for flag in option.flags}
    given, operands, unknown, at = {}, [], None, 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        rest = word
        while rest:
            name, equals, value = rest.partition("=") if word.startswith("--") else (rest[:2], rest[2:], rest[2:])
            option, rest = flags.get(name), ""
            if option is None:
                unknown = unknown or (name, word)
            elif option.value:
                if not equals:
                    if at == len(words) or is_option(words[at], flags):
                        raise CommandError(f"{option.flag}: expected a value", 2, value_hint(option, words[at:], flags))
                    value = words[at]
                    at += 1
                elif not word.startswith("--"):
                    value = value.removeprefix("=") or value  # "-d=" is the delimiter "="
                given.setdefault(option.key, []).append(value)
            elif equals.startswith("="):
                raise CommandError(
                    f"{option.flag}: expected no value, got {value.removeprefix('=')!r}", 2, f"such as {option.flag}"
                )
            else:
                given[option.key] = True
                rest = f"-{value}" if value else ""
    return given, operands, unknown


def is_option(word, flags):
    """Return whether a word is an option where a value is expected. A value such as -2h is none."""
    return word.startswith("--") or word[:2] in flags


def value_hint(option, rest, flags):
    """Return how an option with its value is written, given the words after it: the first one may be the value."""
    word = rest[0] if rest else "--"
    if word != "--" and word.partition("=")[0] not in flags and word[:2] not in flags:
        try:
            option.read(word)
        except ValueError:
            pass
        else:
            return f"such as {option.flag}={word}"
    return f"such as {option.flag} {option.value}"


def take_operands(command, given, words):
    """Add the command's operands."""
    operand = command.operand
    if words and (operand is None or (len(words) > 1 and not operand.repeats)):
        raise CommandError(f"unexpected argument {words[-1]!r}", 2, see(command))
    if operand is not None and (words or operand.repeats):
        given[operand.key] = words


def read(option, value):
    """Return the value of an option, given its texts. Of two, neither is ignored: which is meant is not known."""
    if len(set(value)) > 1 and not option.repeats:
        hint = "put commas between them" if option.value in ("NAMES", "LIST", "FIELDS") else ""
        raise CommandError(f"{option.flag}: expected one value, got {len(set(value))}", 2, hint)
    try:
        return [option.read(text) for text in value] if option.repeats else option.read(value[0])
    except ValueError as error:
        raise CommandError(f"{option.flag}: {error}", 2) from None


def imply(command, given):
    """Add the values that options imply for others that were not given, and defaults that conditions are about."""
    for option in command.options:
        for condition, value in option.implied.items():
            if option.key not in given and holds(condition, given):
                given[option.key] = value
        if option.decides:
            given.setdefault(option.key, option.default)


def check(option, command, given):
    """Reject a value that is not among the choices, and combinations of options that contradict each other."""
    value = given.get(option.key)
    if value is None:
        if option.required and not any(holds(condition, given) for condition in option.implied):
            hint = f"choose from {', '.join(option.choices)}" if option.choices else see(command)
            raise CommandError(f"{option.flag} is required", 2, hint)
        return
    for condition in option.conflicts.split():
        if holds(condition, given):
            hint = option.hint or f"leave out {option.flag} or {shown(condition)}"
            raise CommandError(f"{option.flag}: not allowed with {shown(condition)}", 2, hint)
    needs = option.needs.split()
    if needs and not any(holds(condition, given) for condition in needs):
        wanted = " or ".join(map(shown, needs))
        raise CommandError(f"{option.flag}: not allowed without {wanted}", 2, f"add {wanted}")
    if option.choices:
        check_choice(option, value, given)


def check_choice(option, value, given):
    """Reject a value that is not among the choices, or not under a condition that holds."""
    choices, where = list(option.choices), ""
    for condition, some in option.only.items():
        if holds(condition, given):
            choices, where = some.split(), f" with {shown(condition)}"
    if not choices:
        raise CommandError(f"{option.flag}: not allowed{where}", 2, f"leave out {option.flag}")
    if value not in choices:
        message = f"{option.flag}: unknown value {value!r}{where}; choose from {', '.join(choices)}"
        allowing = [shown(condition) for condition, some in option.only.items() if value in some.split()]
        hint = f"{value} needs {' or '.join(allowing)}" if allowing else near(value, choices)
        raise CommandError(message, 2, hint)


def reject_option(command, name, word):
    """Raise the error for an option that the command does not have, in a word such as "-ab" or "--name=value"."""
    flags = [flag for option in command.options for flag in option.flags]
    whole = word.partition("=")[0]
    where = "" if whole == name else f" in {word!r}"
    raise CommandError(f"unknown option {name!r}{where}", 2, near(whole, flags) or see(command))


def holds(condition, given):
    """Return whether an option was given, or was given with a value: "--csv", "--kind=urn"."""
    name, _, value = condition.partition("=")
    found = given.get(name.lstrip("-").replace("-", "_"))
    return found == value if value else found is not None


def shown(condition):
    return condition.replace("=", " ")


# What others call a command, an option or a value.
SYNONYMS = {
    "decode": "unquote unescape urldecode percent-decode",
    "encode": "quote escape urlencode percent-encode",
    "requote": "fix repair",
    "normalize": "canonicalize canonicalise canonical clean",
    "check": "validate valid verify test lint",
    "split": "parse components urlsplit urlparse explode",
    "hosts": "host domain domains netloc",
    "resolve": "join urljoin absolute absolutize",
    "redact": "mask anonymize anonymise sanitize scrub censor",
    "query": "param params parameters with-query",
    "filter": "match block select allow",
    "extract": "find grep search urls links",
    "dedup": "unique uniq distinct deduplicate duplicates",
    "log": "logs access access-log",
    "info": "version about",
    "--to": "--format --json --jsonl --ndjson",
    "--threads": "--jobs --workers --parallel",
    "--delimiter": "--separator --sep",
    "--fields": "--columns",
    "--field": "--column",
    "--output": "--out",
    "uri": "url urls",
    "web": "http https",
    "jsonl": "json ndjson",
    "text": "txt",
}


def near(word, known):
    """Return a hint that names the most similar known word, or ""."""
    from difflib import get_close_matches

    same = [name for name in known if word.lower() in SYNONYMS.get(name, "").split()]
    found = same[:1] or get_close_matches(word, known, 1)
    return "".join(f"did you mean {word!r}?" for word in found)


def see(command):
    return f"see 'uricodec {command.name} --help'"
