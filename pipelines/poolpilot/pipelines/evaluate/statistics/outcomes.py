"""What a method chose in one case of an evaluation, and what there was to gain."""

from dataclasses import dataclass

from poolpilot.env.measurement.sweep import Core


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one method chose for one workload, seen from one starting tuple, and what that was worth.

    Attributes:
        workload_id: The workload.
        family: Its family.
        start: Name of the tuple in force in the first window the method saw.
        method: Name of the method.
        chosen: Core tuple it chose; the starting tuple where it abstained.
        value: J of the chosen tuple.
        regret: Share lost against the oracle.
        abstained: Whether it declined to choose.
        doubt: Width of the interval of its expected gain; None for a method that states none.
        replay: Which replay of the workload it was.
        judged_by_seen: Whether its choice is valued by the window it had seen of it, for want of another.
    """

    workload_id: str
    family: str
    start: str
    method: str
    chosen: Core
    value: float
    regret: float
    abstained: bool = False
    doubt: float | None = None
    replay: int = 0
    judged_by_seen: bool = False

    @property
    def case(self) -> tuple[str, str, int]:
        """What all methods have one outcome each of."""
        return self.workload_id, self.start, self.replay


@dataclass(frozen=True, slots=True)
class Headroom:
    """What could be gained over the single best static tuple under one workload.

    Attributes:
        sbs_value: J of the single best static configuration.
        oracle_value: J of the oracle.
        noise: Standard deviation of repeats of J.
    """

    sbs_value: float
    oracle_value: float
    noise: float

    @property
    def exceeds_noise(self) -> bool:
        """Whether the gain to be had is more than twice the noise."""
        return self.oracle_value - self.sbs_value > 2.0 * self.noise
