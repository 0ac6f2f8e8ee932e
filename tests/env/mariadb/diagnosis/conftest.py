"""A server of which a test says what it answers, and which keeps what it was asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from poolpilot.env.mariadb.session import Session
from poolpilot.errors import ServerError

Rows = Sequence[tuple[Any, ...]]


class ScriptedSession(Session):
    """Answers a statement by the first of its texts that the statement contains; refuses what has no answer.

    Args:
        answers: Part of a statement to its rows; for `named_rows` the first row holds the names.
    """

    def __init__(self, answers: Mapping[str, Rows]) -> None:
        self.answers = dict(answers)
        self.where = "db1:3307"
        self.asked: list[str] = []
        self.sent = Counter()

    def _answer(self, statement: str, values: Sequence[object] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        assert not values, "nothing here is asked with values"
        self.asked.append(statement)
        for part, rows in self.answers.items():
            if part in statement:
                return (list(rows[0]), list(rows[1:])) if part.startswith("SHOW") else ([], list(rows))
        raise ServerError(f"{self.where} refuses a statement")
