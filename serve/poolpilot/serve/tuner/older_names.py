"""Names in logs of decisions and kept files of releases before 0.2.0: they are read, and never written."""

from collections.abc import Mapping
from typing import Any

OBSERVATION = "observation"

DECISION = {"verified": "incumbent"}
"""Names of what was decided: what each was called, and what it is called now."""

MEMORY = {
    **DECISION,
    "home": "initial",
    "homeward": "backward",
    "stood": "held_on",
    "check_home": "check_initial",
    "tries_s": "trials_s",
    "took_back": "was_rolled_back",
    "taken_back_under": "rolled_back_under",
}
"""The same of what was remembered, and of what a tuner is wary of."""

RULES = {"guard": {"tries_per_hour": "trials_per_hour"}, "pace": {"look_shift": "ratio_shift"}}
"""The same of the rules, by their part."""


def named_as_now(values: Any, names: Mapping[str, str]) -> Any:
    """What a file holds, by the names of today; what is no object stays as it is."""
    return {names.get(name, name): value for name, value in values.items()} if isinstance(values, dict) else values


def observation_in(line: Mapping[str, Any]) -> Any:
    """What the tuner was told, of a line of a log.

    Raises:
        KeyError: The line holds nothing of that.
    """
    return line[OBSERVATION] if OBSERVATION in line else line["look"]


def decision_in(line: Mapping[str, Any]) -> Any:
    """What it decided then, by the names of today.

    Raises:
        KeyError: The line holds nothing of that.
    """
    return named_as_now(line["decision"], DECISION)


def rules_named_as_now(rules: Any) -> Any:
    """The rules in the first line of a log, by the names of today."""
    if not isinstance(rules, dict):
        return rules
    return {name: named_as_now(value, RULES.get(name, {})) for name, value in rules.items()}
