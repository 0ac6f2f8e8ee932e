"""A log of decisions replayed: the same looks under the same rules must lead to the same decisions.

Hours of the week are those of the host that replays: in another time zone they may let begin what they forbade.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from poolpilot.errors import StoreError
from poolpilot.serve.tuner.decision_log import RULES, lines_of, logged
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision
from poolpilot.serve.tuner.machine.memory import Memory

T = TypeVar("T")


def replayed(path: Path) -> Iterator[tuple[Decision, Decision]]:
    """Each decision of a file beside the one that is made of the same looks now.

    Raises:
        StoreError: The file cannot be read, is none of a tuner, or does not tell by which rules it was written.
    """
    lines = lines_of(path)
    if not lines:
        return
    head = lines[0]
    memory = _told(path, head, "memory", "what was remembered when it began", Memory.model_validate)
    rules = _told(path, head, "rules", "by which rules it was written", RULES.validate_python)
    for line in lines[1:]:
        written = logged(path, line)
        memory, decision = decide(memory, written.look, rules)
        yield written.decision, decision.model_copy(update={"routine": written.decision.routine})  # not told at first


def _told(path: Path, head: dict[str, Any], name: str, what: str, read: Callable[[Any], T]) -> T:
    try:
        return read(head[name])
    except (ValueError, KeyError) as error:
        raise StoreError(f"{path} does not tell {what}, so that nobody can replay it") from error
