"""A log of decisions replayed: the same observations under the same rules must lead to the same decisions.

Hours of the week are those of the host that replays: in another time zone they may let begin what they forbade.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from poolpilot.errors import StoreError
from poolpilot.serve.tuner.decision_log import FORMAT, RULES, lines_of, logged
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.older_names import MEMORY, named_as_now, rules_named_as_now

T = TypeVar("T")


def replayed(path: Path) -> Iterator[tuple[Decision, Decision]]:
    """Each decision of a file beside the one that is made of the same observations now.

    Raises:
        StoreError: The file cannot be read, is none of a tuner, or does not tell by which rules it was written.
    """
    lines = lines_of(path)
    if not lines:
        return
    head = lines[0]
    memory = _told(path, head, "memory", "what was remembered when it began", _memory)
    rules = _told(path, head, "rules", "by which rules it was written", _rules)
    for line in lines[1:]:
        written = logged(path, line)
        memory, decision = decide(memory, written.observation, rules)
        as_then: dict[str, Any] = {"routine": written.decision.routine}  # not told at first
        if head["log"] != FORMAT:  # its reasons have other words
            as_then["reason"] = written.decision.reason
        yield written.decision, decision.model_copy(update=as_then)


def _memory(values: Any) -> Memory:
    return Memory.model_validate(named_as_now(values, MEMORY))


def _rules(values: Any) -> Rules:
    return RULES.validate_python(rules_named_as_now(values))


def _told(path: Path, head: dict[str, Any], name: str, what: str, read: Callable[[Any], T]) -> T:
    try:
        return read(head[name])
    except (ValueError, KeyError) as error:
        raise StoreError(f"{path} does not tell {what}, so that nobody can replay it") from error
