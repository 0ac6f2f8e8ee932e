"""What is remembered of one server's tuner: its latest decisions, and how often it did what."""

import json
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from poolpilot.errors import StoreError
from poolpilot.serve.page.log_tail import LogTail
from poolpilot.serve.page.page_row import PageRow
from poolpilot.serve.tuner.decision_log import NAME, LoggedDecision
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.older_names import decision_in, observation_in

KEPT = 5000
"""Decisions; seven hours of windows of five seconds."""

LONGEST_NAME = 200
"""Characters."""

SILENT_S, SILENT_WINDOWS = 120.0, 4
"""Seconds without a decision, and windows, after both of which a tuner has ended or is stuck."""

MOST_SILENT_S = 86_400.0
"""Whatever the log says of its windows: what is told is a finite number."""


class ServerHistory:
    """Follows the log of one tuner.

    Args:
        key: By what the page asks for it: where the log lies below the folder that is served.
        folder: Where the log lies.

    Attributes:
        feed: Told anew when numbers of decisions begin anew.
        rows: The latest decisions, oldest first.
        entered: How often each state was entered since the oldest decision that was read; that what is in force
            comes back after a lost connection has ended a trial is no roll-back.
        entered_since: The same since the log was read to its end for the first time: what stood in it then is of
            tuners before, and no event of now.
        name: What the server is called.
        mode: What the tuner may do; nothing where its log does not tell.
        asked: The decision before which the predictor was last asked; None where it never was.
        lost_requests: Requests that trials have cost before the latest decision; negative where they gained.
        lost_lines: Decisions that a full disk kept out of the log.
        lost_lines_since: The same since the log was read to its end for the first time.
        unreadable: Lines that are no decision of this version.
        begun: Whether the log was read at all.
        problem: Why the log cannot be read now, as a sentence; nothing where it can.
    """

    def __init__(self, key: str, folder: Path) -> None:
        self.key = key
        self.begun, self.problem = False, ""
        self.entered_since: Counter[State] = Counter()
        self.lost_lines_since = 0
        self._folder = folder
        self._begin()

    def _begin(self) -> None:
        self.feed = secrets.token_hex(8)
        self.rows: deque[PageRow] = deque(maxlen=KEPT)
        self.entered: Counter[State] = Counter()
        self.name, self.mode = self.key[:LONGEST_NAME], ""
        self.asked: PageRow | None = None
        self.lost_requests, self.lost_lines, self.unreadable = 0.0, 0, 0
        self._lost_before = 0.0  # by the tuners that have ended
        self._window_s = 0.0
        self._at_s = 0.0
        self._numbered = 0
        self._caught_up = False
        self._tail = LogTail(self._folder)

    def follow(self) -> None:
        """Takes in what was decided since the last time.

        Raises:
            StoreError: The log cannot be read.
        """
        self.begun = True
        try:
            for line in self._tail.lines():
                self._take(line)
        except StoreError as error:
            self.problem = str(error)
            raise
        self.problem = ""
        if self._tail.overtaken:
            self.close()
            self._begin()
            self.follow()
        self._caught_up = self._tail.begun

    def close(self) -> None:
        """Lets go of the log."""
        self._tail.close()

    @property
    def latest(self) -> PageRow | None:
        """The latest decision."""
        return self.rows[-1] if self.rows else None

    @property
    def expected_gain(self) -> float | None:
        """What the predictor promised when it was last asked, as a share; None where it gave no number."""
        return None if self.asked is None else self.asked.expected_gain

    def silent_s(self) -> float | None:
        """Seconds since something was last written, by the clock of this host; None where the log is gone."""
        with suppress(OSError):
            return max(time.time() - (self._folder / NAME).stat().st_mtime, 0.0)
        return None

    def silent_after_s(self) -> float:
        """Seconds of silence after which the tuner has ended, or is stuck; windows may be long, and grow with knobs."""
        return min(max(SILENT_S, SILENT_WINDOWS * self._window_s), MOST_SILENT_S)

    def after(self, number: int, most: int) -> Sequence[PageRow]:
        """The first decisions after a number."""
        first = self.rows[0].number if self.rows else 0
        begin = max(number + 1 - first, 0)
        return list(islice(self.rows, begin, begin + most))

    def before(self, number: int | None, most: int) -> Sequence[PageRow]:
        """The last decisions before a number, oldest first; the latest ones where there is none."""
        first = self.rows[0].number if self.rows else 0
        end = len(self.rows) if number is None else min(max(number - first, 0), len(self.rows))
        return list(islice(self.rows, max(end - most, 0), end))

    def _take(self, line: bytes) -> None:
        try:
            values = json.loads(line)
            if "log" in values:
                self._take_head(values)
            else:
                self._take_decision(values)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.unreadable += 1

    def _take_head(self, values: dict[str, Any]) -> None:
        lost = _finite(values["memory"].get("lost_requests", 0.0))
        self.name = _shown(values["server"])
        self.mode = _shown(values.get("mode", ""))
        if lost == 0.0:  # another tuner begins; a file that is only the next one goes on from what was lost
            self._lost_before = self.lost_requests
        self.lost_requests = self._lost_before + lost

    def _take_decision(self, values: dict[str, Any]) -> None:
        logged = LoggedDecision(
            Observation.model_validate(observation_in(values)), Decision.model_validate(decision_in(values))
        )
        at_s = _finite(logged.observation.at_s)
        _finite(logged.observation.unix_s + logged.decision.most_lost)
        began = self.latest is not None and at_s < self._at_s
        row = PageRow.of(self._numbered + 1, logged, self.latest, began=began)
        if logged.observation.reading is not None:  # a server that is gone is looked for more often
            since_s = 0.0 if began or self.latest is None else at_s - self._at_s
            self._window_s = max(logged.observation.reading.seconds, since_s)
        self._numbered, self._at_s = row.number, at_s
        if logged.observation.proposal is not None:
            self.asked = row
        if "lost_requests" in values:
            self.lost_requests = self._lost_before + _finite(values["lost_requests"])
        self._count(row, int(values.get("lost_lines", 0)))
        self.rows.append(row)

    def _count(self, row: PageRow, lost_lines: int) -> None:
        """Counts what a decision that is not yet among the rows tells; what a tuner before has entered goes on."""
        goes_on = row.began and self.latest is not None and self.latest.state is row.state
        entered = row.entered and not row.lost_trial and not goes_on
        self.entered[row.state] += entered
        self.lost_lines += lost_lines
        if self._caught_up:
            self.entered_since[row.state] += entered
            self.lost_lines_since += lost_lines


def named_apart(histories: Sequence[ServerHistory]) -> list[tuple[str, ServerHistory]]:
    """Histories by the names of their servers; where several have one name, the key follows it."""
    names = Counter(each.name for each in histories)
    return [(each.name if names[each.name] == 1 else f"{each.name} ({each.key})", each) for each in histories]


def _shown(name: Any) -> str:
    """A name, cut where it is too long; JSON may escape half a character, which no answer could hold."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST_NAME]


def _finite(value: Any) -> float:
    """A number that a browser can read.

    Raises:
        ValueError: It is none.
    """
    if not math.isfinite(value):
        raise ValueError("a log of decisions holds finite numbers")
    return float(value)
