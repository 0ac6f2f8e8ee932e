"""The order in which a group's queues give requests back, beside oracles that say the rules again in plain lists.

What is compared is `native_pool/queues/request_queues.hpp` itself: random requests come and are taken, and the oracle
must name the same request every time.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Protocol

from poolpilot.native_pool import QueueRule, QueueSpec, RequestQueues

URGENCIES_MS = (1.0, 4.0, 4.0)
CLASSES = 3
REQUESTS = 200
MOST_BETWEEN_US = 1_500

FIGURE_3 = ("C1", "C2", "C3", "A1", "A2", "B1", "B2")
"""C1 is being served while the others come: its class goes on, then the highest, and that until it is empty."""


class Oracle(Protocol):
    """The rule of a discipline, said again."""

    def put(self, item: int, class_id: int, now_us: int) -> None:
        """A request has come."""

    def take(self, now_us: int) -> int:
        """The request that is served next."""


@dataclass
class JaiswalLine:
    """Dynamic priority: one line, in which a newcomer passes every j with u_j - u >= waited_j (Jaiswal)."""

    line: list[tuple[int, float, int]] = field(default_factory=list)

    def put(self, item: int, class_id: int, now_us: int) -> None:
        """Stands in front of the first that it passes."""
        urgency_us = URGENCIES_MS[class_id] * 1e3
        passed = (
            place
            for place, (_, other_us, since_us) in enumerate(self.line)
            if other_us - urgency_us >= now_us - since_us
        )
        self.line.insert(next(passed, len(self.line)), (item, urgency_us, now_us))

    def take(self, now_us: int) -> int:  # noqa: ARG002
        """The first of the line."""
        return self.line.pop(0)[0]


@dataclass
class LongestWaitingHead:
    """The Israeli queue: of the queues' heads the one that has waited longest, of two alike the higher queue's."""

    queues: tuple[list[tuple[int, int]], ...] = field(default_factory=lambda: tuple([] for _ in range(CLASSES)))

    def put(self, item: int, class_id: int, now_us: int) -> None:
        """Goes to the end of its queue."""
        self.queues[class_id].append((item, now_us))

    def take(self, now_us: int) -> int:
        """Looks at every head."""
        waits = {place: now_us - queue[0][1] for place, queue in enumerate(self.queues) if queue}
        longest = max(waits.values())
        return self.queues[next(place for place, wait in waits.items() if wait == longest)].pop(0)[0]


@dataclass
class StayWithTheClass:
    """Alternating priority: the class served last while it has something, else the highest that has."""

    queues: tuple[list[int], ...] = field(default_factory=lambda: tuple([] for _ in range(CLASSES)))
    last: int = 0

    def put(self, item: int, class_id: int, now_us: int) -> None:  # noqa: ARG002
        """Goes to the end of its queue."""
        self.queues[class_id].append(item)

    def take(self, now_us: int) -> int:  # noqa: ARG002
        """Changes the class only where it must."""
        if not self.queues[self.last]:
            self.last = min(place for place, queue in enumerate(self.queues) if queue)
        return self.queues[self.last].pop(0)


ORACLES: Mapping[str, Callable[[], Oracle]] = {
    "dynamic": JaiswalLine,
    "israeli": LongestWaitingHead,
    "alternating": StayWithTheClass,
}


def queues_of(discipline: str) -> RequestQueues:
    """One queue a class, in order of priority."""
    urgencies = URGENCIES_MS if discipline == "dynamic" else (0.0,) * CLASSES
    return RequestQueues(
        discipline=discipline,
        queues=[QueueSpec(urgency_ms=urgency_ms) for urgency_ms in urgencies],
        rules=[QueueRule(class_id=place, queue=place) for place in range(CLASSES)],
    )


def taken(discipline: str, seed: int) -> Iterator[tuple[int, int]]:
    """Random arrivals and services: what the queues and what the oracle give, service after service."""
    draw = random.Random(seed)
    queues, oracle = queues_of(discipline), ORACLES[discipline]()
    now_us, came, gone = 0, 0, 0
    while gone < REQUESTS:
        now_us += draw.choice((0, draw.randrange(MOST_BETWEEN_US)))
        if came < REQUESTS and (came == gone or draw.random() < 0.55):
            class_id = draw.randrange(CLASSES)
            queues.put(came, class_id=class_id, now_us=now_us)
            oracle.put(came, class_id, now_us)
            came += 1
        else:
            gone += 1
            yield queues.take(now_us=now_us), oracle.take(now_us)


def alike(discipline: str, sequences: int) -> int:
    """How many of the random sequences come out as the oracle says, to the last request."""
    return sum(all(ours == theirs for ours, theirs in taken(discipline, seed)) for seed in range(sequences))


def figure_3(arrivals: Sequence[str]) -> tuple[str, ...]:
    """The order of service where C1 is taken before the others come, in any order of theirs."""
    queues = queues_of("alternating")
    queues.put(0, class_id="ABC".index("C"), now_us=0)
    served = [("C1", *arrivals)[queues.take(now_us=0)]]
    for number, name in enumerate(arrivals, start=1):
        queues.put(number, class_id="ABC".index(name[0]), now_us=number)
    return (*served, *(("C1", *arrivals)[queues.take(now_us=100)] for _ in arrivals))


def figure_3_orders() -> Iterator[tuple[str, ...]]:
    """Every order in which the others can come, each class in its own."""
    for classes in sorted(set(permutations(name[0] for name in FIGURE_3[1:]))):
        names = {class_name: iter([one for one in FIGURE_3[1:] if one[0] == class_name]) for class_name in "ABC"}
        yield tuple(next(names[class_name]) for class_name in classes)


def order_rows(sequences: int) -> list[dict[str, Any]]:
    """Each oracle, and the third figure of Trub (priorities)."""
    rows = [
        {"discipline": name, "promise": f"random requests, {ORACLES[name].__name__}", "sequences": sequences,
         "alike": alike(name, sequences)}
        for name in ORACLES
    ]  # fmt: skip
    orders = list(figure_3_orders())
    same = sum(figure_3(arrivals) == FIGURE_3 for arrivals in orders)
    return [
        *rows,
        {"discipline": "alternating", "promise": "Trub's third figure", "sequences": len(orders), "alike": same},
    ]
