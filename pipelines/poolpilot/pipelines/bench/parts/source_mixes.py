"""The mixes of Trub (priorities) on a machine of that size, simulated, and what the text says of them.

Trub (priorities) is in docs/references.md. Of its figures 6 to 8 only what the text says is known: `TOLD` has all of
it. The number of processors is not told: of `PROCESSORS` the one is taken with which the fit comes nearest. The pool is
stock, but for a listener that only listens.

What a statement costs follows from few numbers (`Costs`): processor time of a statement of three classes, and how long
one of the read-write class waits, which the pool is told of. The write-only class has no number of its own. By
sysbench's transactions (read only 16 statements, read write the same and 4 writes, write only the 4 writes between
BEGIN and COMMIT) it costs what the 4 writes add, and waits for all that a read-write transaction waits for. That is
the prediction for figure 7. `Rows` is an explanation of it, fitted to that figure itself: writers wait for the disk
under the lock of one of some rows, and whoever holds it pays for those who wait for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.parts.simulated_trial import simulated_window
from poolpilot.pipelines.bench.serving.two_queues import transactions_first, weighted_queues

PROCESSORS = (8, 16, 32, 72)
CONNECTIONS = 1024
"""Of each class."""

READ_ONLY_STATEMENTS, READ_WRITE_STATEMENTS, WRITE_ONLY_STATEMENTS, WRITES = 16, 20, 6, 4
"""Statements of a transaction of sysbench's classes, and how many of the latter two write."""

MACHINE = Machine(overhead_us=0.1, peek_us=0.0)
"""Costs of the pool are part of those of a statement."""

LISTENING = {"class_known": "peeked", "dedicated_listener": True}
SETTLE_S = 0.1
WINDOW_S = 0.2
VARIATION = 1.0
"""Of processor times and waits: exponential."""

FIGURES = {
    6: ("point_select", "read_write"),
    7: ("read_only", "write_only"),
    8: ("point_select", "read_only"),
}
"""Classes by figure; the weight is that of the second."""

Place = tuple[int, float | None]
"""A figure and a weight; None is Trub's "original" pool, where statements of transactions go first."""


@dataclass(frozen=True, slots=True)
class Told:
    """What Trub's text says.

    Attributes:
        figure: Number of the figure.
        weight: Weight of the mix's second class; None is the original pool.
        of: Which class, or both together.
        value: Statements a second, or how many times those of the original pool.
        over_original: Which of the two.
        fitted: Whether the costs are fitted to it; else it is predicted.
        words: How the text puts it.
    """

    figure: int
    weight: float | None
    of: Literal["first", "second", "total"]
    value: float
    over_original: bool
    fitted: bool
    words: str

    def found(self, rates: "Rates") -> float:
        """The same of simulated rates."""
        value = self._of(rates[self.figure, self.weight])
        return value / self._of(rates[self.figure, None]) if self.over_original else value

    def _of(self, pair: NDArray[np.float64]) -> float:
        return float({"first": pair[0], "second": pair[1], "total": pair.sum()}[self.of])

    @property
    def places(self) -> set[Place]:
        """What must be simulated for it."""
        return {(self.figure, self.weight), (self.figure, None)} if self.over_original else {(self.figure, self.weight)}


LIKE = 'like "original" at weight 1'
TOLD = (
    Told(6, None, "first", 30_800.0, False, True, "30800 a second"),
    Told(6, None, "second", 218_000.0, False, True, "218K"),
    Told(6, 0.8, "first", 51_300.0, False, True, "51300 a second, +67 %"),
    Told(6, 0.8, "second", 198_000.0, False, True, "198K, -9 %"),
    Told(8, 0.0, "total", 1.03, True, True, "ahead by about 3 %"),
    Told(8, 1.0, "second", 1.0, True, True, LIKE),
    Told(8, 1.0, "total", 1.0, True, True, LIKE),
    Told(8, 0.1, "total", 1.03, True, False, "ahead by about 3 %"),
    Told(7, 0.1, "first", 1.10, True, False, "better by 10 %"),
    Told(7, 0.1, "second", 1.05, True, False, "better by 5 %"),
    Told(7, 0.1, "total", 1.10, True, False, "better by 10 %"),
)
"""All numbers of the text, those at the weights 0, 0.2 ... 1 and of the original pool first."""

Rates = dict[Place, NDArray[np.float64]]
"""Statements a second of the first and the second class."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What is fitted, in microseconds; means.

    Attributes:
        point_select_us: Processor time of a point select.
        read_only_us: Processor time of a statement of a read-only transaction.
        read_write_us: Processor time of a statement of a read-write transaction.
        read_write_wait_us: How long such a statement waits.
    """

    point_select_us: float
    read_only_us: float
    read_write_us: float
    read_write_wait_us: float

    @property
    def write_only_us(self) -> float:
        """Processor time of a statement of a write-only transaction, by sysbench's composition."""
        writes_us = READ_WRITE_STATEMENTS * self.read_write_us - READ_ONLY_STATEMENTS * self.read_only_us
        ends_us = (WRITE_ONLY_STATEMENTS - WRITES) * self.point_select_us
        return max(writes_us + ends_us, 0.0) / WRITE_ONLY_STATEMENTS

    @property
    def write_only_wait_us(self) -> float:
        """How long such a statement waits."""
        return READ_WRITE_STATEMENTS * self.read_write_wait_us / WRITE_ONLY_STATEMENTS

    def classes(self) -> dict[str, RequestClass]:
        """The four classes by name."""
        return {
            "point_select": RequestClass("point_select", (_cpu(self.point_select_us),)),
            "read_only": RequestClass("read_only", (_cpu(self.read_only_us),)),
            "read_write": _writing("read_write", self.read_write_us, (_disk(self.read_write_wait_us),)),
            "write_only": _writing("write_only", self.write_only_us, (_disk(self.write_only_wait_us),)),
        }

    def as_dict(self) -> dict[str, float]:
        """The fields, fit for JSON, and what follows from them."""
        return {**asdict(self), "write_only_us": self.write_only_us, "write_only_wait_us": self.write_only_wait_us}


@dataclass(frozen=True, slots=True)
class Rows:
    """What writers wait for instead, in microseconds.

    Attributes:
        hold_us: How long a row is held for the disk.
        waiter_cost_us: Processor time that its holder pays for each who waits for it.
    """

    hold_us: float
    waiter_cost_us: float

    def write_only(self, costs: Costs) -> RequestClass:
        """A statement of the write-only class under the lock of one of `ROWS` rows."""
        acquire = Step("acquire", spread=ROWS, waiter_cost_us=self.waiter_cost_us, reported=True)
        within = (acquire, _disk(self.hold_us), Step("release", spread=ROWS))
        return _writing("write_only", costs.write_only_us, within)


ROWS = 64
"""As many as a program can name."""


def _cpu(us: float) -> Step:
    return Step("cpu", us=us, variation=VARIATION)


def _disk(us: float) -> Step:
    return Step("wait", us=us, variation=VARIATION, kind="disk_io", reported=True)


def _writing(name: str, us: float, between: tuple[Step, ...]) -> RequestClass:
    return RequestClass(name, (_cpu(us / 2), *between, _cpu(us / 2)))


def rates_of(place: Place, classes: Mapping[str, RequestClass], cpus: int, seed: int = 0) -> NDArray[np.float64]:
    """Simulated statements a second of the two classes of a figure, shape (2,).

    Args:
        place: Figure and weight.
        classes: The classes by name.
        cpus: Processors of the machine.
        seed: Seed of the load.
    """
    figure, weight = place
    names = FIGURES[figure]
    pair = tuple(classes[name] for name in names)
    load = Workload(f"figure {figure}", "source", pair, connections=2 * CONNECTIONS, cpus=cpus, seed=seed)
    discipline = transactions_first(names) if weight is None else weighted_queues(weight)
    window = simulated_window(load, {**discipline, **LISTENING}, SETTLE_S, WINDOW_S, MACHINE)
    return np.array([window.classes[name].throughput_per_s if name in window.classes else 0.0 for name in names])


def alone(one: RequestClass, cpus: int, seed: int = 0) -> float:
    """Simulated statements a second of a class that has the pool to itself: Trub's "standalone"."""
    load = Workload(one.name, "source", (one,), connections=CONNECTIONS, cpus=cpus, seed=seed)
    return simulated_window(load, {"dedicated_listener": True}, SETTLE_S, WINDOW_S, MACHINE).throughput_per_s


def distance(classes: Mapping[str, RequestClass], cpus: int, told: Sequence[Told]) -> float:
    """Sum of the squared logarithms of simulated over told."""
    places = sorted(set.union(*(one.places for one in told)), key=str)
    rates = {place: rates_of(place, classes, cpus) for place in places}
    return float(np.sum(np.square([np.log(max(one.found(rates), 1e-6) / one.value) for one in told])))


def fitted_costs(cpus: int, evaluations: int) -> tuple[Costs, float]:
    """The costs whose rates come nearest to what Trub says of the even weights, and how near.

    Args:
        cpus: Processors of the machine.
        evaluations: Sets of costs that are tried.
    """
    told = [one for one in TOLD if one.fitted]
    begin = [*(share * cpus for share in CPU_US_A_PROCESSOR), WAIT_US]
    found, nearest = _nearest(lambda costs: distance(Costs(*costs).classes(), cpus, told), begin, evaluations)
    return Costs(*found), nearest


def fitted_rows(costs: Costs, cpus: int, evaluations: int) -> Rows:
    """The rows with which figure 7 comes nearest to what Trub says of it; nothing is predicted by that.

    Args:
        costs: What the statements cost.
        cpus: Processors of the machine.
        evaluations: Sets of rows that are tried.
    """
    told = [one for one in TOLD if one.figure == 7]

    def loss(rows: list[float]) -> float:
        return distance({**costs.classes(), "write_only": Rows(*rows).write_only(costs)}, cpus, told)

    return Rows(*_nearest(loss, [*ROWS_BEGIN], evaluations)[0])


CPU_US_A_PROCESSOR = (3.76, 3.86, 3.79)
"""Where the search begins: processor time of the three classes on a machine of one processor."""

WAIT_US = 3700.0
ROWS_BEGIN = (2300.0, 10.0)


def _nearest(loss: Callable[[list[float]], float], begin: list[float], evaluations: int) -> tuple[list[float], float]:
    """Nelder and Mead on the logarithms."""
    start = np.log(begin)
    simplex = np.vstack([start, start + 0.05 * np.eye(len(start))])
    options = {"maxfev": evaluations, "initial_simplex": simplex, "xatol": 0.002, "fatol": 1e-6}
    found = minimize(lambda logs: loss(np.exp(logs).tolist()), start, method="Nelder-Mead", options=options)
    return np.exp(found.x).tolist(), float(found.fun)
