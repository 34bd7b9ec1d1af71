"""`uricodec completion`: scripts with which bash, zsh and fish complete command lines, made from the tables."""

import re

from uricodec.cli.commands import COMMANDS
from uricodec.cli.options import OPTIONS

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


def run(_plan, shell):
    """Print the script for a shell."""
    print(script(shell), end="")
    return 0


def script(shell):
    """Return the script for a shell: "bash", "zsh" or "fish"."""
    return {"bash": for_bash, "zsh": for_zsh, "fish": for_fish}[shell]()


def is_path(option):
    return option.value in {"FILE", "DIR"}


def words_of(command):
    """Return the choices of a command's operand."""
    return list(command.operand.choices) if command.operand else []


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def for_bash():
    first = [*COMMANDS, *OPTIONS["help"].flags, *OPTIONS["version"].flags]
    values, options = [], []
    for name, command in COMMANDS.items():
        flags = [flag for option in command.options for flag in option.flags]
        options.append(f"                        {name}) words={quoted(' '.join(flags))} ;;")
        for option in command.options:
            if option.flags and option.value:
                patterns = "|".join(quoted(f"{name} {flag}") for flag in option.flags)
                values.append(f"            {patterns}) words={quoted(' '.join(option.choices))} ;;")
        if words := words_of(command):
            values.append(f"            {quoted(f'{name} {name}')}) words={quoted(' '.join(words))} ;;")
    return BASH.format(commands=" ".join(first), values="\n".join(values), options="\n".join(options))


def for_zsh():
    listed, options = [], []
    for name, command in COMMANDS.items():
        listed.append("        " + quoted(f"{name}:{command.summary}"))
        specs = [spec for option in command.options if option.flags for spec in zsh_specs(option)]
        words = words_of(command)
        specs.append(quoted(f"*:value:({' '.join(words)})" if words else "*:file:_files"))
        lines = " \\\n                ".join(specs)
        options.append(f"        {name})\n            _arguments \\\n                {lines}\n            ;;")
    return ZSH.format(commands="\n".join(listed), options="\n".join(options))


def zsh_specs(option):
    """Yield the specifications of an option for _arguments, one for each of its names."""
    summary = re.sub(r"([\[\]:\\])", r"\\\1", option.short)
    value = ""
    if option.value:
        kind = "_files" if is_path(option) else f"({' '.join(option.choices)})" if option.choices else " "
        value = f":value:{kind}"
    star = "*" if option.repeats else ""
    group = f"({' '.join(option.flags)})" if len(option.flags) > 1 and not star else ""
    for flag in option.flags:
        yield quoted(f"{star}{group}{flag}[{summary}]{value}")


def for_fish():
    listed, options = [], []
    for name, command in COMMANDS.items():
        listed.append(f"complete -c uricodec -n __fish_use_subcommand -f -a {name} -d {fish_quoted(command.summary)}")
        here = f"complete -c uricodec -n '__fish_seen_subcommand_from {name}'"
        for option in command.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            value = "" if not option.value else " -r" if is_path(option) else " -x"
            if option.choices:
                value += f" -a {quoted(' '.join(option.choices))}"
            if flags:
                options.append(f"{here} {flags}{value} -d {fish_quoted(option.short)}")
        if words := words_of(command):
            options.append(f"{here} -f -a {quoted(' '.join(words))}")
    return FISH.format(commands="\n".join(listed), options="\n".join(options))


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
