"""`uricodec completion`: what a shell has to know to complete a command line, read off the parsers."""

import argparse
import re

# The shell completes the names of files itself.
FILES = {"--output", "--invalid-to", "--against", "--groups", "--key-file", "--spill-dir"}

BASH = """\
# Completes command lines of uricodec. Load it with: eval "$(uricodec completion bash)"
_uricodec() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        words='{commands}'
    else
        case "${{COMP_WORDS[1]}} $before" in
{values}
            *)
                case "$word" in -*)
                    case "${{COMP_WORDS[1]}}" in
{options}
                    esac
                esac
                ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _uricodec uricodec
"""

ZSH = """\
#compdef uricodec
# Completes command lines of uricodec. Load it with: eval "$(uricodec completion zsh)"
_uricodec() {{
    local -a commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{options}
    esac
}}
if [ "$funcstack[1]" = _uricodec ]; then _uricodec "$@"; else compdef _uricodec uricodec; fi
"""

FISH = """\
# Completes command lines of uricodec. Load it with: uricodec completion fish | source
{commands}
{options}
"""


def run(arguments):
    """Print the script for a shell.

    Args:
        arguments (argparse.Namespace): With `shell`, and `parser`, that of the program.

    Returns:
        int: 0
    """
    print(script(arguments.shell, arguments.parser), end="")
    return 0


def commands_of(parser):
    """The commands of a program: name, (summary, parser)."""
    action = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    summaries = {each.dest: each.help for each in action._choices_actions}
    return {name: (summaries[name], command) for name, command in action.choices.items()}


def options_of(command):
    """The options of a command, and the values that each of them has: list of names, list of values."""
    for action in command._actions:
        if action.option_strings:
            yield action, values_of(action)


def values_of(action):
    """The words that an option, or an argument, may have as its value."""
    return list(getattr(action, "suggestions", None) or action.choices or [])


def words_of(command):
    """What may stand where a file could."""
    return [word for action in command._actions if not action.option_strings for word in values_of(action)]


def help_of(command, action):
    """The help text of an option, on one line."""
    return re.sub(r"\s+", " ", command._get_formatter()._expand_help(action))


def script(shell, parser):
    """The script for a shell.

    Args:
        shell (str): "bash", "zsh" or "fish".
        parser (argparse.ArgumentParser): That of the program.

    Returns:
        str: It.
    """
    return {"bash": for_bash, "zsh": for_zsh, "fish": for_fish}[shell](commands_of(parser))


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def for_bash(commands):
    values, options = [], []
    for name, (_, command) in commands.items():
        words = words_of(command)
        flags = []
        for action, choices in options_of(command):
            flags += action.option_strings
            if action.nargs != 0:
                patterns = "|".join(quoted(f"{name} {flag}") for flag in action.option_strings)
                values.append(f"            {patterns}) words={quoted(' '.join(choices))} ;;")
        options.append(f"                        {name}) words={quoted(' '.join(flags))} ;;")
        if words:
            values.append(f"            {quoted(f'{name} {name}')}) words={quoted(' '.join(words))} ;;")
    return BASH.format(commands=" ".join(commands), values="\n".join(values), options="\n".join(options))


def for_zsh(commands):
    listed, options = [], []
    for name, (summary, command) in commands.items():
        listed.append("        " + quoted(f"{name}:{summary}".replace("%%", "%")))
        specs = []
        for action, choices in options_of(command):
            said = re.sub(r"([\[\]:\\])", r"\\\1", help_of(command, action))
            value = ""
            if action.nargs != 0:
                kind = "_files" if FILES & set(action.option_strings) else f"({' '.join(choices)})" if choices else " "
                value = f":value:{kind}"
            names = action.option_strings
            group = f"({' '.join(names)})" if len(names) > 1 and not isinstance(action, argparse._AppendAction) else ""
            star = "*" if isinstance(action, argparse._AppendAction) else ""
            specs += [quoted(f"{star}{group}{flag}[{said}]{value}") for flag in names]
        words = words_of(command)
        specs.append(quoted(f"*:value:({' '.join(words)})" if words else "*:file:_files"))
        lines = " \\\n                ".join(specs)
        options.append(f"        {name})\n            _arguments \\\n                {lines}\n            ;;")
    return ZSH.format(commands="\n".join(listed), options="\n".join(options))


def for_fish(commands):
    listed, options = [], []
    for name, (summary, command) in commands.items():
        said = quoted(summary.replace("%%", "%")).replace("'\\''", "\\'")
        listed.append(f"complete -c uricodec -n __fish_use_subcommand -f -a {name} -d {said}")
        here = f"complete -c uricodec -n '__fish_seen_subcommand_from {name}'"
        for action, choices in options_of(command):
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in action.option_strings
            )
            said = "'" + help_of(command, action).replace("\\", "\\\\").replace("'", "\\'") + "'"
            value = "" if action.nargs == 0 else " -r" if FILES & set(action.option_strings) else " -x"
            if choices:
                value += f" -a {quoted(' '.join(choices))}"
            options.append(f"{here} {flags}{value} -d {said}")
        words = words_of(command)
        if words:
            options.append(f"{here} -f -a {quoted(' '.join(words))}")
    return FISH.format(commands="\n".join(listed), options="\n".join(options))
