"""The knobs of a server: which there are, and their ranges here and now."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Self

from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.untrusted import shown

STOCK_MAX_POOL_SIZE = 128
"""Largest pool size a running MariaDB accepts; more needs a restart."""

CORE_KNOBS = ("pool_size", "oversubscribe", "timer_interval_ms")
"""Knobs that every server has, else it has no pool to tune."""

STEP_FACTOR = 2.0
"""Most that a step of a tuner changes a knob, unless it is told otherwise."""

Ranges = tuple[tuple[str, float, float], ...]
"""Knobs by name with their smallest and largest values."""

MOST_CPUS = 4096
"""Largest number of processors that a server is taken to have."""

UNKNOWN_CPUS = (
    "the processors of the server are not known: it runs on another host or in a container, and nothing that it shows "
    f"tells their number; name it: --cpus N, N in 1..{MOST_CPUS}"
)
"""What is said where they are needed and nobody has named them."""

KNOWN_KNOBS = frozenset(field.name for field in fields(PoolTuple))
"""Knobs that a server may have."""

WHOLE_KNOBS = (*CORE_KNOBS, "create_thread_on_wait")
"""Knobs whose values are whole numbers."""

NUMBERS = (int, float)

NOT_VARIED: Mapping[str, int] = MappingProxyType({"oversubscribe": 3, "timer_interval_ms": 10})
"""Values of core knobs that a server lacks; the timer is short, so that no window is made to span its ticks."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One knob and its range.

    Attributes:
        name: Field of `PoolTuple` it sets.
        low: Smallest value allowed.
        high: Largest value allowed.
        default: Value of an untouched server.
        unit: Unit of the values, in words.
        restart_only: Whether a change needs a restart of the server.
        per_session: Whether each session holds its own value.
        in_wholes: Whether it takes whole numbers alone though others of its name take fractions. Not part of the JSON.
    """

    name: str
    low: float
    high: float
    default: float
    unit: str
    restart_only: bool = False
    per_session: bool = False
    in_wholes: bool = field(default=False, compare=False)

    def check(self, value: float) -> None:
        """Refuses a value outside the range.

        Raises:
            SettingError: The value is out of range, not finite, or a fraction where whole numbers are wanted.
        """
        if not self.low <= value <= self.high:
            raise SettingError(f"{self.name} is {value}, outside the allowed range {self._allowed}")
        if self.whole and int(value) != value:
            raise SettingError(f"{self.name} is {value}, but must be a whole number in {self._allowed}")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are values."""
        return self.name in WHOLE_KNOBS or self.in_wholes

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, fit for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "in_wholes"}

    @property
    def _allowed(self) -> str:
        return f"{self.low:g}..{self.high:g} ({self.unit})"

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Builds a knob from its named fields.

        Raises:
            SettingError: A field is missing, unknown, or no finite number; or the default is outside the range.
        """
        name = values.get("name") if isinstance(values, Mapping) else None
        if not isinstance(name, str) or name not in KNOWN_KNOBS:
            raise SettingError(f"a knob needs a name, one of {', '.join(sorted(KNOWN_KNOBS))}")
        try:
            knob = cls(**values)
        except TypeError as error:
            raise SettingError(f"knob {name} has a missing or unknown field: {error}") from error
        ends: tuple[tuple[str, object], ...] = (("low", knob.low), ("high", knob.high), ("default", knob.default))
        for end, value in ends:
            if isinstance(value, bool) or not isinstance(value, NUMBERS) or not math.isfinite(value):
                raise SettingError(f"{end} of knob {knob.name} is {value!r}, but must be a finite number")
        knob.check(knob.default)
        return knob


@dataclass(frozen=True, slots=True)
class KnobSpace:
    """The knobs of one server with their ranges, and the processors it may use.

    Attributes:
        processors: Processors the server may use (affinity and cgroup, not those of the machine); None where they
            cannot be seen and nobody has named them.
        knobs: Knobs by name.
        most_threads: Threads at work that a tuple may ask for at once, which is no range of a knob; None where nobody
            says. Known of a running server alone, and not part of the JSON.
        permits: Whether a tuple is of use to whoever asks, who may allow less than the server; None where all that the
            server takes is. Not part of the JSON: a service is told what it has named in vain.

    Examples:
        >>> knobs = KnobSpace.stock(cpus=4)
        >>> print(knobs.default_tuple(), knobs.allows(PoolTuple(200, 3, 500)))
        (4, 3, 500) False
    """

    processors: int | None
    knobs: Mapping[str, Knob]
    most_threads: int | None = field(default=None, compare=False)
    permits: Callable[[PoolTuple], bool] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_ranges(cls, processors: int | None, ranges: Ranges) -> Self:
        """Knobs of which nothing but the ranges is known; the smallest value stands for the default."""
        return cls(processors, {name: Knob(name, low, high, low, "") for name, low, high in ranges})

    @property
    def ranges(self) -> Ranges:
        """All that decides which tuples are allowed: what is kept for a server is kept under it."""
        return tuple((knob.name, knob.low, knob.high) for knob in self.knobs.values())

    @property
    def cpus(self) -> int:
        """The processors, for who cannot do without them.

        Raises:
            SettingError: They are not known; the text says how to name them.
        """
        if self.processors is None:
            raise SettingError(UNKNOWN_CPUS)
        return self.processors

    @classmethod
    def stock(cls, cpus: int, max_pool_size: int = STOCK_MAX_POOL_SIZE) -> Self:
        """The knobs of a stock MariaDB pool on `cpus` processors."""
        knobs = (
            Knob("pool_size", 1, max_pool_size, min(cpus, max_pool_size), "thread groups"),
            Knob("oversubscribe", 1, 1000, 3, "threads a group"),
            Knob("timer_interval_ms", 1, 3_600_000, 500, "milliseconds"),
            Knob("create_thread_on_wait", 0, 1, 1, "0 = no, 1 = yes"),
            Knob("idle_timeout_s", 0.01, 1e6, 60.0, "seconds"),
        )
        return cls(cpus, {knob.name: knob for knob in knobs})

    @classmethod
    def of(cls, cpus: int, *knobs: Knob) -> Self:
        """The knobs of one's own server; those of `PoolTuple` that it lacks are never varied.

        Args:
            cpus: Processors the server may use.
            *knobs: Its knobs, `pool_size` among them.

        Raises:
            SettingError: There is no `pool_size`, or a default lies outside its range.

        Examples:
            >>> KnobSpace.of(2, Knob("pool_size", 1, 32, 4, "workers")).default_tuple().pool_size
            4
        """
        space = cls(cpus, {knob.name: knob for knob in knobs})
        if "pool_size" not in space.knobs:
            raise SettingError(f"a pool needs the knob pool_size; there are {', '.join(space.knobs) or 'none'}")
        space.check(space.default_tuple())
        return space

    def default_tuple(self) -> PoolTuple:
        """The tuple of an untouched server."""
        values: dict[str, Any] = {**NOT_VARIED} | {
            name: int(knob.default) if name in WHOLE_KNOBS else knob.default for name, knob in self.knobs.items()
        }
        if "create_thread_on_wait" in values:
            values["create_thread_on_wait"] = bool(values["create_thread_on_wait"])
        return PoolTuple.from_dict(values)

    def check(self, pool_tuple: PoolTuple) -> None:
        """Refuses a tuple that the server would not accept.

        Raises:
            SettingError: A knob is outside its range; the text names the knob and the range.
        """
        for name, knob in self.knobs.items():
            knob.check(getattr(pool_tuple, name))

    def allows(self, pool_tuple: PoolTuple) -> bool:
        """Whether every knob of the tuple is inside its range."""
        try:
            self.check(pool_tuple)
        except SettingError:
            return False
        return True

    def has_threads_for(self, pool_tuple: PoolTuple) -> bool:
        """Whether there are the threads that a tuple may ask for at once, as far as is known."""
        return self.most_threads is None or pool_tuple.active_threads <= self.most_threads

    def leaves_alone(self, pool_tuple: PoolTuple) -> bool:
        """Whether the core knobs that the server lacks have their one value in a tuple."""
        return all(name in self.knobs or getattr(pool_tuple, name) == value for name, value in NOT_VARIED.items())

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, fit for JSON."""
        return {"cpus": self.processors, "knobs": [knob.as_dict() for knob in self.knobs.values()]}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Rebuilds a knob space from `as_dict`.

        Raises:
            SettingError: A field is missing or wrong, the processors are not known or out of their range, or one of
                the core knobs is not among the knobs.
        """
        cpus, listed = (values.get(name) if isinstance(values, Mapping) else None for name in ("cpus", "knobs"))
        if not isinstance(listed, list):
            raise SettingError("limits need 'cpus', the processors of the server, and 'knobs', a list of named ranges")
        knobs = {knob.name: knob for knob in map(Knob.from_dict, listed)}
        missing = [name for name in CORE_KNOBS if name not in knobs]
        if missing:
            raise SettingError(f"limits need the knob {missing[0]}")
        return cls(checked_cpus(cpus), knobs)


def checked_cpus(value: object) -> int:
    """The number of processors that somebody has named.

    Raises:
        SettingError: It is none; the text names the range.
    """
    if value is None:
        raise SettingError(
            f"'cpus', the processors of the server, a whole number in 1..{MOST_CPUS}, is not there: write it in, or "
            "measure again with --cpus N"
        )
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_CPUS:
        raise SettingError(f"'cpus' is {shown(value)}; a server has a whole number of processors in 1..{MOST_CPUS}")
    return value


def step_reach(now: int, factor: float = STEP_FACTOR) -> tuple[int, int]:
    """Least and greatest value that a step of at most a factor leads to; one of 1 is always allowed.

    Below a factor of two small numbers would never move otherwise.
    """
    return min(math.ceil(now / factor), now - 1), max(math.floor(now * factor), now + 1)
