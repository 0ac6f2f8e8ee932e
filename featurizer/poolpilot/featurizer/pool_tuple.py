"""The pool tuple: one setting of all knobs that can change while a server serves."""

from dataclasses import dataclass
from typing import Any, Self

from poolpilot.errors import SettingError


@dataclass(frozen=True, slots=True, order=True)
class PoolTuple:
    """One setting of the pool; the first three fields are the *core* tuple.

    Attributes:
        pool_size: Number of thread groups (MariaDB: `thread_pool_size`).
        oversubscribe: Extra active threads a group tolerates (`thread_pool_oversubscribe`).
        timer_interval_ms: Tick of the timer that detects stalls (`thread_pool_stall_limit`).
        create_thread_on_wait: Whether a reported wait may wake or create a replacement.
        idle_timeout_s: Seconds after which a sleeping worker exits (`thread_pool_idle_timeout`).

    Examples:
        >>> stock = PoolTuple(pool_size=4, oversubscribe=3, timer_interval_ms=500)
        >>> print(stock, stock.with_core((16, 3, 10)))
        (4, 3, 500) (16, 3, 10)
        >>> stock.active_threads
        16
    """

    pool_size: int
    oversubscribe: int
    timer_interval_ms: int
    create_thread_on_wait: bool = True
    idle_timeout_s: float = 60.0

    @property
    def core(self) -> tuple[int, int, int]:
        """The (pool_size, oversubscribe, timer_interval_ms) triple."""
        return (self.pool_size, self.oversubscribe, self.timer_interval_ms)

    @property
    def active_threads(self) -> int:
        """Threads that may be at work at once; those that wait are replaced beyond it."""
        return self.pool_size * (1 + self.oversubscribe)

    def with_core(self, core: tuple[int, int, int]) -> Self:
        """Returns this tuple with another core."""
        return type(self)(*core, self.create_thread_on_wait, self.idle_timeout_s)

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields by name, fit for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Builds a tuple from named fields.

        Raises:
            SettingError: A field is unknown or one of the core fields is missing.
        """
        unknown = sorted(values.keys() - set(cls.__slots__))
        if unknown:
            raise SettingError(f"a configuration has no field {unknown[0]!r}")
        missing = [name for name in ("pool_size", "oversubscribe", "timer_interval_ms") if name not in values]
        if missing:
            raise SettingError(f"a configuration needs the field {missing[0]!r}")
        return cls(**values)

    def __str__(self) -> str:
        """The core as text."""
        return f"({self.pool_size}, {self.oversubscribe}, {self.timer_interval_ms})"
