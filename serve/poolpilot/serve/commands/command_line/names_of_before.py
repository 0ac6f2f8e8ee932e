"""Commands and flags of before 0.2.0: one sentence with what they are called today, for one release."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from poolpilot.env.program_settings import WITHDRAWN, is_constant, name_of_today, settings_within
from poolpilot.serve.commands.command_line.uses import CATALOGUE

COMMANDS_OF_BEFORE: Mapping[tuple[str, ...], str] = {
    ("calibrate",): "learn calibrate",
    ("collect",): "learn collect",
    ("config", "check"): "check --settings COMMAND",
    ("curves",): "learn curves",
    ("demo-mariadb",): "demo --mariadb",
    ("demo-production",): "demo --production",
    ("diagnose",): "check DSN",
    ("mariadb", "check"): "check DSN",
    ("mariadb", "grants"): "grants",
    ("predict",): "advise --windows FILE",
    ("promote",): "learn promote",
    ("records", "check"): "records --check FOLDER",
    ("records", "show"): "records FOLDER",
    ("records", "sql"): "records --sql QUERY FOLDER",
    ("search",): "climb --search",
    ("simulate",): "advise --simulate FILE",
    ("sweep",): "climb --sweep",
    ("train",): "learn train",
    ("version",): "--version",
}

FLAGS_OF_BEFORE: Mapping[tuple[str, str], str] = {
    ("advise", "--profile"): "--simulate",
    ("climb", "--cold"): "the default: leave it out",
    ("climb", "--list-settings"): "`poolpilot check --settings climb --defaults`",
    ("climb", "--settings"): "--config",
    ("climb", "--window"): "--period",
    ("evaluate", "--server"): "--workloads FOLDER, whose files each name a server",
    ("learn", "--no-track"): "--set track=false",
}
"""Those that are no setting of their name: what does the same today."""


def refusal_of_before(arguments: Sequence[str], program: Any) -> str | None:
    """The sentence for a line with a command or a flag of before; None for all others.

    Args:
        arguments: What stands behind `poolpilot`.
        program: The command as it is today, with its sub-commands.
    """
    for words, today in COMMANDS_OF_BEFORE.items():
        if tuple(arguments[: len(words)]) == words:
            return f"`poolpilot {' '.join(words)}` is called `poolpilot {today}` now"
    command, use = _command_of(arguments, program)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    flags = (word.partition("=")[0] for word in arguments if word.startswith("--"))
    return next(filter(None, (_flag_of_before(use, flag) for flag in flags if flag not in {*known, "--help"})), None)


def _command_of(arguments: Sequence[str], program: Any) -> tuple[Any, str]:
    """The command that a line names, and its name."""
    command = program
    names: list[str] = []
    for word in arguments:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
        names.append(word)
    return command, " ".join(names)


def _flag_of_before(command: str, flag: str) -> str | None:
    """The sentence for a flag that a command had before; None where it never had it."""
    if (today := FLAGS_OF_BEFORE.get((command, flag))) is not None:
        return f"the flag {flag} of `poolpilot {command}` is now {today}"
    switched_off = flag.startswith("--no-")
    name = flag[len("--no-" if switched_off else "--") :].replace("-", "_")
    name = name_of_today(name) or name
    if is_constant(f"{command}.{name}"):
        return f"the flag {flag} is a constant of the climber now: leave it out"
    uses = [use for use in CATALOGUE if command and use.startswith(command)]
    if not any(name in _settings_of(use) for use in uses):
        return f"the flag {flag} is no more: {WITHDRAWN[name]}" if name in WITHDRAWN else None
    value = "false" if switched_off else "VALUE"
    return f"the flag {flag} is a setting now: write --set {name}={value}, or {name} in the file of --config"


def _settings_of(use: str) -> Collection[str]:
    try:
        return settings_within(CATALOGUE[use].model())
    except ImportError:  # of an extra or the native module: the command itself says so
        return ()
